/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The structures and functions that the files of the CPU engine share: prepared planes, tiles, the memory of a thread.
 */
#pragma once

#include "cpu/simd.h"
#include "plan/plan.h"
#include "plan/regions/jobs.h"

#define CNV_CPU_ALIGNMENT 64 /* a cache line, and the widest vector */

/* Row stride of a band, in floats: two bands fit in cache, plus one vector to avoid cache-set conflicts. */
#define CNV_CPU_CHUNK 528

/* Input of all tiles of a frame. */
typedef struct {
  const CpuSimd *simd;
  CnvFrame in; /* composited with the output; the source if there are no taps in time */
  CnvFrame out;
  CnvFrame source[CNV_MAX_TEMPORAL_TAPS]; /* of each temporal tap */
  float weight[CNV_MAX_TEMPORAL_TAPS];    /* of its samples; 0: there is no source, or it does not count */
  int n_sources;
  int center;                      /* number of the source that is `in` */
  float threshold[CNV_MAX_PLANES]; /* of each plane of the format, as a fraction of full scale */
  const guint8 *coverage;          /* of the jobs */
  const CnvJob *weights;           /* of CnvJobs */
} CpuFrame;

/* Size and tables of transformed tiles: fft.c. */
typedef struct {
  int columns, rows;        /* complex numbers, of samples with their apron; powers of two; columns 0: no size fits */
  int width, height;        /* output: samples of a row, in whole pixels; rows of both halves */
  gsize line;               /* row stride of samples before or after a transform, in floats */
  float *table[CNV_N_AXES]; /* factors of transforms along rows and columns */
} CpuFft;

/* A prepared term of a plane. */
typedef struct {
  const CnvTerm *from;
  int slots;                /* rows in the ring */
  gsize ring_stride;        /* floats */
  CpuTaps taps[CNV_N_AXES]; /* dense: all taps are in y */
  CpuStep *steps;           /* prefix sums: steps of the taps */
  int n_steps;
  CpuCosines cosines[CNV_N_AXES]; /* running sums: the taps */
  float *spectrum;                /* fft: of the taps, strip after strip of columns */
} CpuTerm;

typedef struct CpuMethod CpuMethod;

/* A prepared plane. Arrays of samples are as long as a row of the widest tile, which begins at a whole pixel. */
typedef struct {
  const CnvPlan *plan;
  const CnvPlane *given; /* the plan's */
  const CnvPlane *from;  /* the same, or `own` */
  CnvPlane own;
  const CpuSimd *simd;
  const CpuMethod *method; /* the cheapest that fits; NULL: the plane is copied */
  const CpuMethod *large;  /* by_job: cheaper for large jobs; NULL: none is */
  double products;         /* estimated time per pixel, in products */
  gboolean dense;          /* all terms as two-dimensional taps */
  gboolean small_tiles;    /* prepared for many regions, whose tiles are too small for running sums */

  /* Normalised convolution: three planes. Of the first one samples are loaded times their weights, and sums multiplied
   * by norms. The samples of the second one are the weights; its tiles write norms. The third one filters blocks whose
   * weights are all 1. */
  gboolean weighed, of_weights, unweighed;

  /* Tiles. */
  int slots;         /* rows in all rings */
  int max_samples;   /* of a tile's row, to fit in cache */
  int widest;        /* samples of a tile's row; 0: the plane needs no memory */
  int tallest;       /* rows of a tile that are filtered together; 0: all */
  int acc_rows;      /* rows of sums that are computed together */
  gsize acc_stride;  /* floats */
  gsize line_length; /* floats of a loaded row with its apron */
  /* Sums along an axis start anew at multiples of this column or row, so that results do not depend on tiles; 0: they
   * need not. */
  int restart[CNV_N_AXES];
  CpuTerm term[CNV_MAX_TERMS];

  /* Samples in memory. */
  CpuSamples samples; /* of plain planes */
  float *mid_bias;
  guint8 *mask; /* bits of a plain row that come from the filter; NULL: all */

  /* Of one method each. */
  gboolean summed;                        /* prefix sums: rings have prefix sums of loaded rows */
  gboolean deep;                          /* in double */
  CpuDecimation decimation[CNV_N_AXES];   /* decimated: the taps */
  gsize results_stride, decimated_stride; /* floats of a row of results, and of a row decimated along x */
  float **decimated; /* rows of the decimated picture of a whole frame, column of tiles after column; else NULL */
  int decimated_width, decimated_rows; /* pixels of a row of a column of tiles, and its rows */
  CpuFixed fixed[CNV_N_AXES];          /* fixed point: the taps */
  gsize short_odd, short_stride;       /* numbers from even samples to odd ones, and from row to row */
  CpuFft fft;
} CpuPlane;

typedef struct {
  const CpuFrame *frame;
  const CpuPlane *plane;
  const CpuMethod *method; /* of the plane, for this job */
  const CnvJob *job;
  int first, last; /* pixels of a row, up to last - 1 */
  int top, bottom; /* rows, up to bottom - 1 */
  /* Rows of a decimated picture, filtered along x. Each tile makes its own; or some tiles make those of the whole frame
   * first (`decimates`, of which top and bottom are numbers), and the others use them (`decimated`). */
  float *const *decimates;
  const float *const *decimated;
  /* Of a weighed plane and of its weights: 1 / filtered weight for each pixel of the job, row by row; 0 if the weight is
   * nearly 0. */
  float *norms;
} CpuTile;

/* The state of a term on its way down a tile. */
typedef struct {
  float temporal_sum; /* of the weights of the temporal taps that count for it */
  float *ring;
  const float **rows; /* the ring's rows twice over, so that successive rows are an array */
  int filled;         /* rows that have entered the ring */
  int previous;       /* row of the field that entered last, -1 for a missing one */
  float *acc;
  float *entering;        /* prefix sums: the row that was added last */
  int entered;            /* its row of the field, -1 for a missing one, G_MININT for none */
  CpuTapRange rows_found; /* renormalize: tap rows that find samples; factor and sums are for these */
  double *sums;           /* renormalize: prefix sums over columns of the taps in those rows */
  float *factor;          /* renormalize: of each sample of a row; terms that are added up use the first one's */
} CpuTermState;

/* The memory of a thread, laid out anew for each tile. */
typedef struct {
  guint8 *block;
  float *line;    /* a loaded row with its apron */
  float *scratch; /* another one */
  CpuTermState term[CNV_MAX_TERMS];
  int n_sums;              /* terms whose sums are still to be added up */
  gboolean scaled;         /* renormalize: some factor is not 1 */
  guint8 *unfiltered;      /* pixels of a row whose weights add up to 0, so that the input stays */
  gboolean has_unfiltered; /* there may be some */
  guint8 *bytes;           /* normalised convolution: weights of a row's pixels */
  guint8 *spread;          /* and of its samples */
  float *enter, *leave;    /* running sums: rows of a band, of CNV_CPU_CHUNK samples, that enter and leave */
  float *down, *along;     /* states of the sums down all columns, and along the band's rows */
  float *turned, *squares; /* transposed sums down the columns; sums before they are transposed */
  gint16 *shorts;          /* fixed point: a loaded row with its apron, the ring, rows of sums */
  int *sources;            /* columns that the loaded row's pixels come from */
  float *partial;          /* decimated: rows that are being decimated down columns */
  float *results;          /* rows of results, interpolated along x */
  float *tile, *strip;     /* fft: bands of rows that are transformed, and a strip of columns */
  float *lines;            /* rows of samples of a band: of the upper half, then of the lower half */
  float *sums_of_terms;    /* products so far, of several terms */
  float *averages;         /* threshold: rows of CNV_CPU_AVERAGE_STRIDE floats of each frame (average.c) */
  double *columns, *cells; /* mosaic: sums of columns of a cell, and of cells */
} CpuWorker;

/* Returns the first aligned address of a block that is CNV_CPU_ALIGNMENT larger than its contents. */
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

/* A way to filter tiles: a row of the table in methods.c. A plane gets the cheapest method of its algorithm that fits. */
struct CpuMethod {
  const char *name;    /* in statistics */
  guint algorithms;    /* bits, 1 << CNV_ALGORITHM_SEPARABLE and so on */
  gboolean by_job;     /* used for each job in which it costs less than the plane's method */
  gboolean wide_tiles; /* not for planes with small tiles */

  /* Returns the time for `rows` rows of `samples` samples, which `unit` converts to products of a sample and a tap.
   * Before `fits` it may return less. NULL: 1 per sample. */
  double unit;
  double (*cost)(const CpuPlane *plane, int samples, int rows);
  /* Returns TRUE if the method can filter the plane exactly enough, and finds the taps that it needs. The terms are set.
   * NULL: always TRUE. */
  gboolean (*fits)(CpuPlane *plane);
  /* Sets the rows of rings, `widest`, and `restart` or `tallest` if necessary. */
  void (*shape)(CpuPlane *plane);
  /* Sets the size of a job's tiles, in pixels. NULL: cnv_cpu_size_tiles. */
  void (*size)(const CpuPlane *plane, const CnvJob *job, int threads, int size[CNV_N_AXES]);
  /* Takes the plane's arrays from the arena and, if it has a block, fills them. NULL: there are none. */
  void (*fill)(CpuPlane *plane, CpuArena *arena);
  /* Fills arrays that need a worker's memory, which is laid out for the plane. NULL: there are none. */
  void (*start)(CpuPlane *plane, CpuWorker *worker);
  /* Takes the memory that a worker needs besides the states of terms. NULL: none. */
  void (*lay_out)(CpuWorker *worker, const CpuPlane *plane, CpuArena *arena);
  /* Filters a tile. The terms are started. */
  void (*run)(CpuWorker *worker, const CpuTile *tile);
};

/* Returns the column or row at which sums start that reach the first one of a tile. */
static inline int
cnv_cpu_origin(const CpuTile *tile, int axis)
{
  int at = axis == CNV_X ? tile->first : tile->top;

  return tile->plane->restart[axis] > 0 ? at - at % tile->plane->restart[axis] : at;
}

/* Returns the samples of a row of a tile. */
static inline int
cnv_cpu_samples(const CpuTile *tile)
{
  return (tile->last - tile->first) * tile->plane->from->channels;
}

/* Returns the samples of a row of a tile with the apron of term t. */
static inline int
cnv_cpu_line_samples(const CpuTile *tile, int t)
{
  return cnv_cpu_samples(tile) + (tile->plane->term[t].from->n[CNV_X] - 1) * tile->plane->from->channels;
}

/* Returns the temporal taps that count for a term. */
static inline CpuTapRange
cnv_cpu_temporal_taps(const CpuTile *tile, const CnvTerm *term)
{
  if (tile->plane->plan->not_time_separable && term->temporal_tap >= 0)
    return (CpuTapRange){term->temporal_tap, 1};
  return (CpuTapRange){0, tile->frame->n_sources};
}

/* Returns the sum of their weights. */
static inline double
cnv_cpu_temporal_sum(const CpuTile *tile, const CnvTerm *term)
{
  CpuTapRange taps = cnv_cpu_temporal_taps(tile, term);
  double sum = 0;

  for (int i = taps.first; i < taps.first + taps.n; i++)
    sum += tile->frame->weight[i];
  return sum;
}

/* Returns the column or row in the window that the border mode reads for the one at `at`, or -1 if it reads none. */
static inline int
cnv_cpu_source(const CpuTile *tile, int axis, int at)
{
  const CnvJob *job = tile->job;
  int first = axis == CNV_X ? job->window_x : job->window_y;
  int size = axis == CNV_X ? job->window_width : job->window_height;
  int index = cnv_border_index(tile->plane->from->border, at - first, size);

  return index < 0 ? -1 : first + index;
}

/* Returns TRUE if sums are divided by sums of weights. These may be small, so methods do not fit if their errors do not
 * shrink with them. */
static inline gboolean
cnv_cpu_divides(const CpuPlane *plane)
{
  return plane->from->weight >= 0 || plane->weighed || plane->of_weights;
}

/* Returns the norms of a tile's row. */
static inline float *
cnv_cpu_norms(const CpuTile *tile, int y)
{
  const CnvJob *job = tile->job;

  return tile->norms + (gsize)(y - job->y) * job->width + (tile->first - job->x);
}

/* Returns the weights of the samples that a tile of a weighed plane reads; NULL if all are 1. */
static inline const CnvJob *
cnv_cpu_weights(const CpuTile *tile)
{
  return tile->job->weights > 0 ? &tile->frame->weights[tile->job->weights - 1] : NULL;
}

/* Returns the weight of the sample at x, y of the window, of CNV_WEIGHT_ONE. weights: cnv_cpu_weights(tile). */
static inline int
cnv_cpu_weight_at(const CpuTile *tile, const CnvJob *weights, int x, int y)
{
  return weights ? cnv_filter_weight(weights, tile->frame->coverage, x, y) : CNV_WEIGHT_ONE;
}

/* Returns the taps of an axis that find samples of the window for the output sample at `at`, which may be outside. */
static inline CpuTapRange
cnv_cpu_taps_found(const CnvTerm *term, const CnvJob *job, int axis, int at)
{
  int n = term->n[axis], size = axis == CNV_X ? job->window_width : job->window_height;
  int start = at - term->anchor[axis] - (axis == CNV_X ? job->window_x : job->window_y);
  int first = CLAMP(-start, 0, n);

  return (CpuTapRange){first, CLAMP(size - start, first, n) - first};
}

/* Returns the weights of n pixels as those of their samples: the array itself, or a copy in `to`. */
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
  for (int i = 0; i < n && channels == 3; i++)
    to[3 * i] = to[3 * i + 1] = to[3 * i + 2] = weights[i];
  return to;
}

/* ---- prepare.c: planes, prepared when the plans change, and the memory of threads. Frames allocate nothing. ---- */

#define CNV_CPU_PLANES (3 * CNV_MAX_PLANES)

/* Zero before the first use. */
typedef struct {
  const CpuSimd *simd; /* set by the session */
  CnvPlan *plan[CNV_MAX_PLANS];
  guint n_plans;
  gboolean small_tiles; /* of planes */
  CpuPlane *plane;      /* CNV_CPU_PLANES for each plan: its planes, then their weights, then the same unweighed */
  CpuWorker *worker;    /* one per thread */
  guint8 *block;        /* all arrays of planes and workers */
  gsize block_size;
} CpuPrepared;

/* Returns TRUE if the planes are prepared for the work. */
gboolean cnv_cpu_is_prepared(const CpuPrepared *self, const CnvWork *work);

/* Prepares planes for the work, and takes references of its plans. On CNV_ERROR_MEMORY there are no plans. */
gboolean cnv_cpu_prepare(CpuPrepared *self, const CnvWork *work, guint n_threads, GError **error);
void cnv_cpu_prepared_clear(CpuPrepared *self);

/* Sets `method` and `large` of a plane whose terms are set: methods.c. */
void cnv_cpu_choose_methods(CpuPlane *plane);

/* ---- shape.c: sizes that methods share ---- */

/* Takes n elements of `size` bytes. NULL if the arena has no block. */
void *cnv_cpu_take(CpuArena *arena, gsize n, gsize size);

/* Returns the time that a method takes for `rows` rows of `samples` samples, in products. */
double cnv_cpu_cost(const CpuMethod *method, const CpuPlane *plane, int samples, int rows);

/* Returns the cost of multiplying by each tap: of both axes if the algorithm is separable, else in two dimensions. */
double cnv_cpu_cost_of_taps(const CpuPlane *plane, int samples, int rows);

/* Returns the method for a job of `rows` rows of `samples` samples. */
const CpuMethod *cnv_cpu_method_of(const CpuPlane *plane, int samples, int rows);

/* Sets term t, and the rows of a ring that filters any taps. */
void cnv_cpu_shape_term(CpuPlane *plane, int t);

/* Set `widest`: to about max_samples; so that `near` rows stay in cache; so that the rings of all terms do. */
void cnv_cpu_shape_width(CpuPlane *plane, int max_samples);
void cnv_cpu_shape_near(CpuPlane *plane, int near);
void cnv_cpu_shape_rings(CpuPlane *plane);

#define CNV_CPU_TILES_A_THREAD 4 /* at least, so that one delayed thread does not delay the frame */

/* Computes the size of tiles, in pixels: as wide as `widest` permits, and enough tiles to keep all threads busy. */
void cnv_cpu_size_tiles(const CpuPlane *plane, const CnvJob *job, int threads, int size[CNV_N_AXES]);

/* Returns the equal taps of an axis, as of a box, if adding them up is faster than multiplying; else n is 0. */
CpuTapRange cnv_cpu_equal_taps(const float *taps, int n);

/* ---- taps that methods make ---- */

/* Finds cosines for the taps of both axes, if they are exact enough for the plane's samples. Sets radius, omega and
 * weight of cosines. */
gboolean cnv_cpu_find_cosines(CpuPlane *plane);

/* Sets the rest. start: an array of 2 * CNV_CPU_COSINES for each of 2 * radius + 1 samples. */
void cnv_cpu_cosines_fill(CpuCosines *cosines, float *start);

/* Powers of two, the lengths of transforms. */
#define CNV_CPU_FFT_SHORTEST 32
#define CNV_CPU_FFT_LONGEST 2048

/* Computes the factors for transforms of length n (CpuSimdTransform). */
#define CNV_CPU_FFT_TABLE(n) (2 * (gsize)(n)) /* floats, at most */
void cnv_cpu_fft_table(float *table, int n);

/* ---- the work on a tile ---- */

#define CNV_CPU_TILE_MOST 8192 /* pixels of a row of a tile that weighed.c divides into blocks */

/* Filters a tile of a weighed plane or of its weights, block by block (weighed.c). has_blocks returns FALSE if the tile
 * must be filtered whole. */
void cnv_cpu_weighed_run(CpuWorker *worker, const CpuTile *tile);
gboolean cnv_cpu_weighed_has_blocks(const CpuTile *tile);

/* Lays out a worker's memory for a plane. Returns its size in bytes; without a block it only counts them. */
gsize cnv_cpu_worker_lay_out(CpuWorker *worker, const CpuPlane *plane);

/* Filters a tile by its method. */
void cnv_cpu_tile_run(CpuWorker *worker, const CpuTile *tile);

/* A ring of rows that moves down a tile, for each term. */
typedef struct {
  int above;        /* rows in the ring above that of the first tap */
  gboolean repeats; /* a row with the same source as the row before is copied from it */
  /* Makes row k of a term's ring from row y of the field; y: -1 for a missing one. */
  void (*enter)(CpuWorker *worker, const CpuTile *tile, int t, int k, int y, float *to);
  /* Makes a term's sums for CNV_CPU_ROWS rows of output from row y on. rows: of the ring, from the first one needed. */
  void (*sum)(CpuWorker *worker, const CpuTile *tile, int t, int y, const float *const *rows);
} CpuRing;

void cnv_cpu_ring_run(CpuWorker *worker, const CpuTile *tile, const CpuRing *ring);

#define CNV_CPU_AHEAD 2 /* rows from the one that is loaded to the one that is fetched into cache */

/* Fetches pixels first to last - 1 of row y of the field into cache, if they are a part of a row of the window. */
void cnv_cpu_prefetch(const CpuTile *tile, int first, int last, int y);

/* Loads row y of the field with the apron of term t, and adds up its frames. y: -1 for a missing one. */
void cnv_cpu_load_row(CpuWorker *worker, const CpuTile *tile, int t, int y, float *row);

/* Loads pixels first to last - 1 of row y of a frame, which are in the window. */
void cnv_cpu_load_frame(const CpuWorker *worker, const CpuTile *tile, const CnvFrame *frame, int y, float *to);

/* Loads the same pixels, as the sum over frames that are weighted by the plan's threshold (average.c). Its memory is
 * CNV_CPU_AVERAGE_ROWS(frames) rows. */
void cnv_cpu_average_row(const CpuWorker *worker, const CpuTile *tile, int y, float *to);
#define CNV_CPU_AVERAGE_ROWS(frames) (2 * (frames) + 2)
#define CNV_CPU_AVERAGE_STRIDE (CNV_CPU_AVERAGE + 2 * CNV_MAX_CHANNELS + 24) /* a multiple of a cache line */

/* Columns of pixels first to last - 1, of a tile and its apron; inside to end - 1 are in the window. */
typedef struct {
  CpuWorker *worker;
  const CpuTile *tile;
  int first, last;
  int inside, end;
} CpuColumns;

CpuColumns cnv_cpu_columns(CpuWorker *worker, const CpuTile *tile, int first, int last);

/* The next three are for planes with one term. Columns outside the window need not be loaded if each repeats one
 * inside; if not, this sets inside and end to all columns. */
void cnv_cpu_columns_choose(CpuColumns *columns);

/* Loads n rows of columns x to last - 1, from row y on, CNV_CPU_CHUNK floats apart. */
void cnv_cpu_columns_load(const CpuColumns *columns, float *to, int y, int n, int x, int last);

/* Copies columns that were not loaded from those that they repeat. values: of all columns, `size` floats each. */
void cnv_cpu_columns_repeat(const CpuColumns *columns, float *values, gsize size);

/* Combines number i of the rows of each term's sums to the sums of row y of a tile, and returns them. */
const float *cnv_cpu_combine(CpuWorker *worker, const CpuTile *tile, int y, int i);
/* Stores row y of a tile. Composites it by the coverage of the job. */
void cnv_cpu_store_row(CpuWorker *worker, const CpuTile *tile, int y, const float *acc);

/* Returns 0 or CNV_WEIGHT_ONE if n weights are all that, else -1. */
int cnv_cpu_common_weight(const guint8 *weights, int n);

/* Stores a part of row `top` of a tile, from the tile's pixel number `from` on. weights: NULL if all are 1. */
void cnv_cpu_store_part(CpuWorker *worker, const CpuTile *part, int from, const float *acc, const guint8 *weights);

/* CNV_BORDER_RENORMALIZE: computes the factors for row y of a tile, if they differ from those of the row before. Between
 * the borders they are equal. */
void cnv_cpu_renormalize(CpuWorker *worker, const CpuTile *tile, int y);
