/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The structures and functions that the CPU engine's files share: planes made ready, tiles, and the memory of a thread.
 */
#pragma once

#include "cpu/simd.h"
#include "plan/plan.h"
#include "plan/regions/jobs.h"

#define CNV_CPU_ALIGNMENT 64 /* a cache line, and the widest vector */

/* Floats from row to row of a band that enters sums: so many that two bands fit into cache, and a vector more, so that
 * rows do not share its sets. */
#define CNV_CPU_CHUNK 528

/* Input of all tiles of a frame. */
typedef struct {
  const CpuSimd *simd;
  CnvFrame in; /* to be blended with, and the source where there are no taps in time */
  CnvFrame out;
  CnvFrame source[CNV_MAX_TEMPORAL_TAPS]; /* of each temporal tap */
  float weight[CNV_MAX_TEMPORAL_TAPS];    /* of its samples; 0: there is no source, or it does not count */
  int n_sources;
  const guint8 *coverage; /* of the jobs */
  const CnvJob *weights;  /* of CnvJobs */
} CpuFrame;

/* The tiles of a plane that are transformed, and how: fft.c. */
typedef struct {
  int columns, rows;        /* complex numbers, of samples with their apron; powers of two; columns 0: none fits */
  int width, height;        /* samples of output: of a row, in whole pixels, and in both halves down a column */
  gsize line;               /* floats from row to row of samples before or after a transform */
  float *table[CNV_N_AXES]; /* factors of transforms along rows and columns */
} CpuFft;

/* A term of a plane, made ready. */
typedef struct {
  const CnvTerm *from;
  int slots;                /* rows in the ring */
  gsize ring_stride;        /* floats */
  CpuTaps taps[CNV_N_AXES]; /* dense: those of y are all */
  CpuStep *steps;           /* prefix sums: those of the taps */
  int n_steps;
  CpuCosines cosines[CNV_N_AXES]; /* running sums: the taps */
  float *spectrum;                /* fft: of the taps, strip after strip of columns */
} CpuTerm;

typedef struct CpuMethod CpuMethod;

/* A plane of a plan, made ready. Arrays of samples are as long as the widest tile, which begins at a whole pixel. */
typedef struct {
  const CnvPlan *plan;
  const CnvPlane *given; /* the plan's */
  const CnvPlane *from;  /* it, or `own` */
  CnvPlane own;
  gboolean weighed;   /* normalised convolution: samples are loaded times their weights, and sums multiplied by norms */
  gboolean unweighed; /* such a plane where all weights are 1 */
  gboolean of_weights;  /* its samples are the weights of such a plane, and its tiles write norms */
  gboolean dense;       /* all terms as two-dimensional taps */
  gboolean summed;      /* rings have prefix sums of loaded rows */
  gboolean deep;        /* as double */
  int tallest;          /* rows of a tile that are filtered together; 0: all */
  gboolean small_tiles; /* made for many regions, whose tiles are too small for sums to slide */
  const CpuSimd *simd;
  const CpuMethod *method; /* the cheapest that fits; NULL: nothing filters the plane */
  const CpuMethod *large;  /* by_job: cheaper for jobs that are large enough; NULL: none is */
  /* Columns and rows, multiples of these, where sums that run along an axis begin anew, so that their last bits do not
   * depend on tiles. 0: none do. */
  int restart[CNV_N_AXES];
  CpuCoarse few[CNV_N_AXES];           /* decimated: the few taps that stand for the only term's */
  CpuFixed fixed[CNV_N_AXES];          /* in 16 bits: the taps */
  gsize short_odd, short_stride;       /* numbers from even samples to odd ones, and from row to row */
  gsize coarse_stride, blended_stride; /* floats of rows of columns, and of pixels blended along x */
  float *
      *decimated; /* decimated: rows of the decimated picture of a whole frame, for each column of tiles; else NULL */
  int decimated_width, decimated_rows; /* pixels of such a tile, and rows */
  CpuFft fft;                          /* of tiles of jobs that are large enough */
  double products;                     /* some, that a pixel takes */
  int slots;                           /* rows in all rings */
  int max_samples;                     /* of a tile's row, as fits into cache */
  int widest;        /* samples of a tile's row, as it is; 0: only the reference filters the plane, or nothing does */
  int acc_rows;      /* rows of sums at a time */
  gsize acc_stride;  /* floats */
  gsize line_length; /* floats of a loaded row with its apron */
  CpuTerm term[CNV_MAX_TERMS];
  CpuSamples samples; /* of plain and flat planes */
  gboolean flat; /* not plain only because coverage weighs its samples, which are an array: vector code does them, the
                    weight being one more channel. Most planes are `weighed` instead */
  int stored;    /* samples of a pixel there, of which the filtered ones begin with number first_stored */
  int first_stored;
  float *mid_bias;
  guint8 *mask; /* bits of a plain row that come from the filter; NULL: all */
} CpuPlane;

typedef struct {
  const CpuFrame *frame;
  const CpuPlane *plane;
  const CpuMethod *method; /* the plane's for the job */
  const CnvJob *job;
  int first, last; /* pixels of a row */
  int top, bottom; /* rows; last and bottom are one beyond */
  /* Rows of a decimated picture, filtered along x. Each tile makes its own, or some tiles first make those of a whole
   * frame (`decimates`; top and bottom are numbers of them), and others use them (`decimated`). */
  float *const *decimates;
  const float *const *decimated;
  /* Of a weighed plane and of its weights: for each pixel of the job, row by row, 1 divided by the filtered weight, or
   * 0 where that is nearly 0. */
  float *norms;
} CpuTile;

/* A term of a plane on its way down a tile. */
typedef struct {
  float temporal_sum; /* of the weights of the temporal taps that count for it */
  float *ring;
  const float **rows; /* the ring's rows twice over, so that any run of them is an array */
  int filled;         /* rows put into the ring so far */
  int previous;       /* row of the field that the last of them was, -1 for a missing one */
  float *acc;
  float *entering;        /* prefix sums: the last row that was added to them */
  gboolean has_entered;   /* there is one */
  CpuTapRange rows_found; /* renormalize: tap rows that factor is for */
  double *sums;           /* renormalize: prefix sums over columns of the taps in those rows */
  float *factor; /* renormalize: of each sample of a row; of terms that are added up the first one's is that of all */
} CpuTermState;

/* A thread's memory, laid out anew for each tile. */
typedef struct {
  guint8 *block;
  float *line;    /* separable: a loaded row with its apron */
  float *scratch; /* another one */
  float *flat;    /* flat: samples before they are weighed */
  float *means;   /* and the weighed sums divided by the sums of weights */
  guint8 *bytes;  /* and their weights */
  guint8 *spread; /* weighed: the weights of a row's samples */
  CpuTermState term[CNV_MAX_TERMS];
  int n_sums;               /* terms whose sums are still to be added up */
  float *enter, *leave;     /* running sums: rows of a band, of CNV_CPU_CHUNK samples, that enter and leave */
  float *down, *along;      /* sums of all columns, and of the band's rows */
  float *turned, *squares;  /* sums down the columns, and along rows, those of a column side by side */
  gint16 *shorts;           /* in 16 bits: a loaded row with its apron, the ring, rows of sums */
  int *sources;             /* of the loaded row's pixels */
  float *blended, *results; /* decimated: rows decimated down columns, and results interpolated along x */
  float *tile, *strip;      /* fft: bands of rows that are transformed, and a strip of columns */
  float *lines;             /* a band's rows of samples: of the upper half, then of the lower half */
  float *sums_of_terms;     /* products so far, of several terms */
  gboolean scaled;          /* renormalize: some factor is not 1 */
  double *columns, *cells;  /* mosaic: sums of columns of a cell, and of cells */
  guint8 *unfiltered;       /* pixels of a row whose weight component is 0, so that their input stands */
  gboolean has_unfiltered;  /* flat: there are some */
} CpuWorker;

/* The first aligned address of a block that is CNV_CPU_ALIGNMENT larger than its contents. */
static inline guint8 *
cnv_cpu_aligned(guint8 *block)
{
  return block + (CNV_CPU_ALIGNMENT - (guintptr)block % CNV_CPU_ALIGNMENT) % CNV_CPU_ALIGNMENT;
}

/* Hands out parts of one block; without a block it only counts. */
typedef struct {
  guint8 *block;
  gsize used;
} CpuArena;

/* A way to filter tiles: a row of the table in methods.c. A plane is filtered by the cheapest method of its algorithm
 * that fits. */
struct CpuMethod {
  const char *name;    /* that statistics report */
  guint algorithms;    /* bits */
  gboolean by_job;     /* chosen for each job if it costs less there than the plane's method */
  gboolean wide_tiles; /* not for planes with small tiles */

  /* The time for `rows` rows of `samples` samples, in units that take as long as so many products of a sample and a
   * tap. Before `fits` it may be less. NULL: one a sample. */
  double unit;
  double (*cost)(const CpuPlane *plane, int samples, int rows);
  /* Returns TRUE if the method can filter the plane, whose terms are set, exactly enough, and finds the taps that it
   * needs. NULL: it always can. */
  gboolean (*fits)(CpuPlane *plane);
  /* Sets the rows of rings, `widest`, and `restart` if sums begin anew. */
  void (*shape)(CpuPlane *plane);
  /* Sets the size of a job's tiles, in pixels. NULL: cnv_cpu_size_tiles. */
  void (*size)(const CpuPlane *plane, const CnvJob *job, int threads, int size[CNV_N_AXES]);
  /* Takes arrays of the plane from the arena and, if it has a block, fills them. NULL: there are none. */
  void (*fill)(CpuPlane *plane, CpuArena *arena);
  /* Fills arrays with the help of a worker's memory, laid out for the plane. NULL: there are none. */
  void (*start)(CpuPlane *plane, CpuWorker *worker);
  /* Takes what a worker needs beside the states of terms. NULL: nothing. */
  void (*lay_out)(CpuWorker *worker, const CpuPlane *plane, CpuArena *arena);
  /* Filters a tile, once its terms are started. */
  void (*run)(CpuWorker *worker, const CpuTile *tile);
};

/* Column or row where sums begin anew that reach a tile's first one. */
static inline int
cnv_cpu_origin(const CpuTile *tile, int axis)
{
  int at = axis == CNV_X ? tile->first : tile->top;

  return tile->plane->restart[axis] > 0 ? at - at % tile->plane->restart[axis] : at;
}

/* Samples of a row of a tile. */
static inline int
cnv_cpu_samples(const CpuTile *tile)
{
  return (tile->last - tile->first) * tile->plane->from->channels;
}

/* The same with the apron of term t. */
static inline int
cnv_cpu_line_samples(const CpuTile *tile, int t)
{
  return cnv_cpu_samples(tile) + (tile->plane->term[t].from->n[CNV_X] - 1) * tile->plane->from->channels;
}

/* The temporal taps that count for a term. */
static inline CpuTapRange
cnv_cpu_temporal_taps(const CpuTile *tile, const CnvTerm *term)
{
  if (tile->plane->plan->not_time_separable && term->temporal_tap >= 0)
    return (CpuTapRange){term->temporal_tap, 1};
  return (CpuTapRange){0, tile->frame->n_sources};
}

/* The sum of their weights. */
static inline double
cnv_cpu_temporal_sum(const CpuTile *tile, const CnvTerm *term)
{
  CpuTapRange taps = cnv_cpu_temporal_taps(tile, term);
  double sum = 0;

  for (int i = taps.first; i < taps.first + taps.n; i++)
    sum += tile->frame->weight[i];
  return sum;
}

/* Column or row of the pixel in the window that stands for the one at `at`, -1 where none does. */
static inline int
cnv_cpu_source(const CpuTile *tile, int axis, int at)
{
  const CnvJob *job = tile->job;
  int first = axis == CNV_X ? job->window_x : job->window_y;
  int size = axis == CNV_X ? job->window_width : job->window_height;
  int index = cnv_border_index(tile->plane->from->border, at - first, size);

  return index < 0 ? -1 : first + index;
}

/* TRUE if sums are divided by sums of weights, which may be small: forms whose errors do not shrink with them are out.
 */
static inline gboolean
cnv_cpu_divides(const CpuPlane *plane)
{
  return plane->from->weight >= 0 || plane->weighed || plane->of_weights;
}

/* The norms of a tile's row. */
static inline float *
cnv_cpu_norms(const CpuTile *tile, int y)
{
  const CnvJob *job = tile->job;

  return tile->norms + (gsize)(y - job->y) * job->width + (tile->first - job->x);
}

/* The weights of what a tile of a plan for normalised convolution reads; NULL: all are 1. */
static inline const CnvJob *
cnv_cpu_weights(const CpuTile *tile)
{
  return tile->job->weights > 0 ? &tile->frame->weights[tile->job->weights - 1] : NULL;
}

/* The taps of an axis that find a sample of a window for the output sample at `at`, which may lie outside of it. */
static inline CpuTapRange
cnv_cpu_taps_found(const CnvTerm *term, const CnvJob *job, int axis, int at)
{
  int n = term->n[axis], size = axis == CNV_X ? job->window_width : job->window_height;
  int start = at - term->anchor[axis] - (axis == CNV_X ? job->window_x : job->window_y);
  int first = CLAMP(-start, 0, n);

  return (CpuTapRange){first, CLAMP(size - start, first, n) - first};
}

/* The weights of n pixels as those of their samples: where they lie, or a copy. */
static inline const guint8 *
cnv_cpu_spread(guint8 *to, const guint8 *weights, int n, int channels)
{
  guint16 *pairs = (guint16 *)to;
  guint32 *fours = (guint32 *)to;

  if (channels == 1)
    return weights;
  for (int i = 0; i < n && channels == 2; i++)
    pairs[i] = (guint16)(weights[i] * 0x101);
  for (int i = 0; i < n && channels == 4; i++)
    fours[i] = weights[i] * 0x1010101u;
  for (int i = 0; i < 3 * n && channels == 3; i++)
    to[i] = weights[i / 3];
  return to;
}

/* ---- prepare.c: planes made ready when the plans change, and the memory of threads; nothing is allocated for a frame
 * ---- */

#define CNV_CPU_PLANES (3 * CNV_MAX_PLANES)

/* Zero before the first use. */
typedef struct {
  const CpuSimd *simd; /* set by the session */
  CnvPlan *plan[CNV_MAX_PLANS];
  guint n_plans;
  gboolean small_tiles; /* of planes */
  CpuPlane *plane;   /* CNV_CPU_PLANES of each plan: its own, the weights of each that is weighed, and it unweighed */
  CpuWorker *worker; /* one a thread */
  guint8 *block;     /* of all arrays of planes and workers */
  gsize block_size;
} CpuPrepared;

/* TRUE where planes are ready for the work. */
gboolean cnv_cpu_is_prepared(const CpuPrepared *self, const CnvWork *work);

/* Takes references of the plans. FALSE with CNV_ERROR_MEMORY, and then there are no plans. */
gboolean cnv_cpu_prepare(CpuPrepared *self, const CnvWork *work, guint n_threads, GError **error);
void cnv_cpu_prepared_clear(CpuPrepared *self);

/* Lays out a worker's memory for a plane. Returns the bytes that it takes; without a block it only counts them. */
gsize cnv_cpu_worker_lay_out(CpuWorker *worker, const CpuPlane *plane);

/* methods.c. Sets `method` and `large` of a plane whose terms are shaped. */
void cnv_cpu_choose_methods(CpuPlane *plane);

/* ---- shape.c: sizes that methods share ---- */

/* Takes n elements of `size` bytes. NULL if the arena has no block. */
void *cnv_cpu_take(CpuArena *arena, gsize n, gsize size);

/* Returns the time that a method takes for `rows` rows of `samples` samples, in products. */
double cnv_cpu_cost(const CpuMethod *method, const CpuPlane *plane, int samples, int rows);

/* The cost of multiplying by each tap: of both axes if the algorithm is separable, else in two dimensions. */
double cnv_cpu_cost_of_taps(const CpuPlane *plane, int samples, int rows);

/* Returns the method for a job of `rows` rows of `samples` samples. */
const CpuMethod *cnv_cpu_method_of(const CpuPlane *plane, int samples, int rows);

/* Sets `term`, and the rows of its ring, which filters any taps. */
void cnv_cpu_shape_term(CpuPlane *plane, int t);

/* Sets `widest`: to about max_samples, so that `near` rows stay in cache, or the rings of all terms. */
void cnv_cpu_shape_width(CpuPlane *plane, int max_samples);
void cnv_cpu_shape_near(CpuPlane *plane, int near);
void cnv_cpu_shape_rings(CpuPlane *plane);

/* Size of tiles: as wide as `widest` permits, and enough of them to keep all threads at work. */
void cnv_cpu_size_tiles(const CpuPlane *plane, const CnvJob *job, int threads, int size[CNV_N_AXES]);

/* The run of an axis that is worth summing, as a box has it; n 0: none. */
CpuTapRange cnv_cpu_run_of(const float *taps, int n);

/* ---- taps that methods make ---- */

/* Finds few taps for those of both axes (plan/decimated.h). Sets few. */
gboolean cnv_cpu_find_coarse(CpuPlane *plane);

/* Finds cosines for the taps of both axes, exact enough for the plane's samples. Sets cosines, all but what
 * cnv_cpu_cosines_fill sets. */
gboolean cnv_cpu_find_cosines(CpuPlane *plane);

/* start: 2 * CNV_CPU_COSINES for each of 2 * radius + 1 samples. */
void cnv_cpu_cosines_fill(CpuCosines *cosines, float *start);

/* Powers of two, the lengths of transforms. */
#define CNV_CPU_FFT_SHORTEST 32
#define CNV_CPU_FFT_LONGEST 2048

/* Computes the factors for transforms of length n (CpuSimdTransform). */
#define CNV_CPU_FFT_TABLE(n) (2 * (gsize)(n)) /* floats, at most */
void cnv_cpu_fft_table(float *table, int n);

/* Returns the functions of that instruction set if the machine has it, else of the best one. Without a name the best.
 */
const CpuSimd *cnv_cpu_choose_simd(const char *wanted);

/* ---- the work on a tile ---- */

#define CNV_CPU_TILE_MOST 8192 /* pixels of a row of a tile that is divided into blocks */

/* Filters a tile of a weighed plane or of its weights, block by block (weighed.c). FALSE from has_blocks: it has to be
 * run whole. */
void cnv_cpu_weighed_run(CpuWorker *worker, const CpuTile *tile);
gboolean cnv_cpu_weighed_has_blocks(const CpuTile *tile);

/* Filters a tile by its method. */
void cnv_cpu_tile_run(CpuWorker *worker, const CpuTile *tile);

/* How a ring of rows runs down a tile for each term. */
typedef struct {
  int above;        /* rows in the ring above that of the first tap */
  gboolean repeats; /* a row whose source is that of the row before is a copy of that */
  /* Makes row k of a term's ring, of row y of the field, -1 for a missing one. */
  void (*enter)(CpuWorker *worker, const CpuTile *tile, int t, int k, int y, float *to);
  /* Makes a term's sums for CNV_CPU_ROWS rows of output from row y on; rows: of the ring, from the first that counts.
   */
  void (*sum)(CpuWorker *worker, const CpuTile *tile, int t, int y, const float *const *rows);
} CpuRing;

void cnv_cpu_ring_run(CpuWorker *worker, const CpuTile *tile, const CpuRing *ring);

#define CNV_CPU_AHEAD 2 /* rows from the one that is loaded to the one that is fetched into cache */

/* Fetches pixels first to last - 1 of row y of the field into cache, if they are a part of a row of the window. */
void cnv_cpu_prefetch(const CpuTile *tile, int first, int last, int y);

/* Loads row y of the field with the apron of term t, its frames added up; y: -1 for a missing one. */
void cnv_cpu_load_row(CpuWorker *worker, const CpuTile *tile, int t, int y, float *row);

/* Columns of pixels first to last - 1, a tile's with their apron, of which inside to end - 1 lie in the window. */
typedef struct {
  CpuWorker *worker;
  const CpuTile *tile;
  int first, last;
  int inside, end;
} CpuColumns;

CpuColumns cnv_cpu_columns(CpuWorker *worker, const CpuTile *tile, int first, int last);

/* The next three are for a plane's only term. Columns beside the window need not be loaded where each repeats one
 * inside: makes inside and end all columns where not. */
void cnv_cpu_columns_choose(CpuColumns *columns);

/* Loads n rows of columns x to last - 1, from row y on, CNV_CPU_CHUNK floats apart. */
void cnv_cpu_columns_load(const CpuColumns *columns, float *to, int y, int n, int x, int last);

/* Fills in the columns that were not loaded, of `size` floats each; values are those of all columns. */
void cnv_cpu_columns_repeat(const CpuColumns *columns, float *values, gsize size);

/* One row of sums for row y of a tile, of number i of the rows of each term's sums. */
const float *cnv_cpu_combine(CpuWorker *worker, const CpuTile *tile, int y, int i);
void cnv_cpu_store_row(CpuWorker *worker, const CpuTile *tile, int y, const float *acc);

/* Returns 0 or CNV_WEIGHT_ONE if n weights are all that, else -1. */
int cnv_cpu_common_weight(const guint8 *weights, int n);

/* Stores a part of a tile's row: row `top`, from the tile's pixel number `from` on. weights: NULL if all are 1. */
void cnv_cpu_store_part(CpuWorker *worker, const CpuTile *part, int from, const float *acc, const guint8 *weights);

/* CNV_BORDER_RENORMALIZE: makes the factors for row y of a tile. All rows between the borders have the same, so that
 * they are seldom made. */
void cnv_cpu_renormalize(CpuWorker *worker, const CpuTile *tile, int y);
