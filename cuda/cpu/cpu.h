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

/* Data that all tiles of a frame share. */
typedef struct {
  const CpuSimd *simd;
  CnvFrame in; /* results are composited over it; the only source if there are no taps in time */
  CnvFrame out;
  CnvFrame source[CNV_MAX_TEMPORAL_TAPS]; /* frame of each temporal tap */
  float weight[CNV_MAX_TEMPORAL_TAPS];    /* of each source; 0: the source is missing or has no effect */
  int n_sources;
  int center;                      /* number of the source that is `in` */
  float threshold[CNV_MAX_PLANES]; /* of each plane of the format, as a fraction of full scale */
  const guint8 *coverage;          /* of all jobs */
  const CnvJob *weights;           /* CnvJobs.weights */
} CpuFrame;

/* Size and tables of transformed tiles: fft.c. */
typedef struct {
  int columns, rows;        /* size of a transform, in complex numbers, with the apron; powers of two; columns 0: no
                               size fits */
  int width, height;        /* size of the output: samples in a row, a whole number of pixels, and rows of both
                               halves */
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
  float *spectrum;                /* fft: spectrum of the taps, one strip of columns after another */
} CpuTerm;

typedef struct CpuMethod CpuMethod;

/* A prepared plane. Arrays of samples are as long as a row of the widest tile, which begins at a whole pixel. */
typedef struct {
  const CnvPlan *plan;
  const CnvPlane *given; /* the plan's plane */
  const CnvPlane *from;  /* `given` or `own` */
  CnvPlane own;
  const CpuSimd *simd;
  const CpuMethod *method; /* the cheapest that fits; NULL: the plane is copied */
  const CpuMethod *large;  /* a method with by_job that costs less for large jobs; NULL: none */
  double products;         /* estimated time per pixel, in products */
  gboolean dense;          /* all terms are filtered by two-dimensional taps */
  gboolean small_tiles;    /* prepared for many regions, whose tiles are too small for running sums */

  /* Normalised convolution uses three planes. weighed: samples are multiplied by their weights as they are loaded, and
   * sums are multiplied by norms (CpuTile). of_weights: the samples are the weights, and tiles write norms. unweighed:
   * filters blocks in which all weights are 1. */
  gboolean weighed, of_weights, unweighed;

  /* Tiles. */
  int slots;         /* rows in all rings */
  int max_samples;   /* samples of a tile's row, at most, so that rows fit in cache */
  int widest;        /* samples in a row of the widest tile; 0: the plane needs no memory */
  int tallest;       /* rows of a tile that are filtered together; 0: all */
  int acc_rows;      /* rows of sums that are computed together */
  gsize acc_stride;  /* floats */
  gsize line_length; /* floats of a loaded row with its apron */
  /* Running sums restart at multiples of this column or row, so that results do not depend on the tiles; 0: they need
   * no restart. */
  int restart[CNV_N_AXES];
  CpuTerm term[CNV_MAX_TERMS];

  /* Samples in memory. */
  CpuSamples samples; /* of plain planes */
  float *mid_bias;
  guint8 *mask; /* bits of a plain row that the filter writes; NULL: all */

  /* Members of single methods. */
  gboolean summed;                        /* prefix sums: rings hold prefix sums of loaded rows */
  gboolean deep;                          /* prefix sums: in double */
  CpuDecimation decimation[CNV_N_AXES];   /* decimated: the taps */
  gsize results_stride, decimated_stride; /* floats of a row of results, and of a row decimated along x */
  float **decimated; /* rows of the decimated picture of a whole frame, one column of tiles after another; NULL: none */
  int decimated_width, decimated_rows; /* width of a column of tiles, in pixels, and its rows */
  CpuFixed fixed[CNV_N_AXES];          /* fixed point: the taps */
  gsize short_odd, short_stride;       /* 16-bit numbers from even samples to odd ones, and from row to row */
  CpuFft fft;
} CpuPlane;

typedef struct {
  const CpuFrame *frame;
  const CpuPlane *plane;
  const CpuMethod *method; /* method of the plane for this job */
  const CnvJob *job;
  int first, last; /* pixels first..last - 1 of each row */
  int top, bottom; /* rows top..bottom - 1 */
  /* Rows of a decimated picture, filtered along x. If threads share them, the first tiles compute the rows of the whole
   * frame (`decimates`; top and bottom are then numbers of these rows), and later tiles read them (`decimated`).
   * Otherwise both are NULL, and each tile computes its own rows. */
  float *const *decimates;
  const float *const *decimated;
  /* For a weighed plane and its plane of weights: 1 / filtered weight for each pixel of the job, row by row; 0 if the
   * weight is nearly 0. */
  float *norms;
} CpuTile;

/* The state of a term while a tile is filtered from top to bottom. */
typedef struct {
  float temporal_sum; /* sum of the weights of the temporal taps that the term uses */
  float *ring;
  const float **rows; /* addresses of the ring's rows, stored twice, so that successive rows form an array */
  int filled;         /* rows that have entered the ring */
  int previous;       /* row of the field that entered last; -1: a missing row */
  float *acc;
  float *entering;        /* prefix sums: the row that was added last */
  int entered;            /* its row of the field; -1: a missing row; G_MININT: none yet */
  CpuTapRange rows_found; /* renormalize: rows of taps that meet samples; sums and factor are for these rows */
  double *sums;           /* renormalize: prefix sums over columns of the taps in these rows */
  float *factor;          /* renormalize: factor of each sample of a row; joint terms use the first term's */
} CpuTermState;

/* The memory of a thread, laid out anew for each tile. */
typedef struct {
  guint8 *block;
  float *line;    /* a loaded row with its apron */
  float *scratch; /* a second row of that size */
  CpuTermState term[CNV_MAX_TERMS];
  int n_sums;              /* terms whose sums are still to be added up */
  gboolean scaled;         /* renormalize: some factor is not 1 */
  guint8 *unfiltered;      /* pixels of a row whose weights add up to 0, so that the input stays */
  gboolean has_unfiltered; /* `unfiltered` may mark pixels */
  guint8 *bytes;           /* normalised convolution: weights of a row's pixels */
  guint8 *spread;          /* normalised convolution: weights of a row's samples */
  float *enter, *leave;    /* running sums: rows of a band, of CNV_CPU_CHUNK samples, that enter and leave */
  float *down, *along;     /* states of the sums down all columns, and along the band's rows */
  float *turned, *squares; /* transposed sums down the columns; sums before they are transposed */
  gint16 *shorts;          /* fixed point: a loaded row with its apron, the ring, rows of sums; averages: sums */
  int *sources;            /* columns that the loaded row's pixels come from */
  float *partial;          /* decimated: rows that are partly decimated along y */
  float *results;          /* rows of results, interpolated along x */
  float *tile, *strip;     /* fft: bands of rows that are transformed, and a strip of columns */
  float *lines;            /* rows of samples of a band: of the upper half, then of the lower half */
  float *sums_of_terms;    /* products of spectra, added up over terms */
  float *averages;         /* threshold: rows of CNV_CPU_AVERAGE_STRIDE floats of each frame (average.c) */
  double *columns, *cells; /* mosaic: sums of columns of a cell, and of cells */
} CpuWorker;

/* Returns the first aligned address of a block that is CNV_CPU_ALIGNMENT larger than its contents. */
static inline guint8 *
cnv_cpu_aligned(guint8 *block)
{
  return block + (CNV_CPU_ALIGNMENT - (guintptr)block % CNV_CPU_ALIGNMENT) % CNV_CPU_ALIGNMENT;
}

/* Allocates parts of one block. Without a block it only counts their bytes. */
typedef struct {
  guint8 *block;
  gsize used;
} CpuArena;

/* A way to filter tiles, and a row of the table in methods.c. A plane gets the cheapest method of its algorithm that
 * fits. */
struct CpuMethod {
  const char *name;    /* in statistics */
  guint algorithms;    /* bits, 1 << CNV_ALGORITHM_SEPARABLE and so on */
  gboolean by_job;     /* used for each job in which it costs less than the plane's method */
  gboolean wide_tiles; /* not used for planes with small tiles */

  /* cost: returns the time to filter `rows` rows of `samples` samples, in units of `unit` products of a sample and a
   * tap. Before `fits` has run, it may return less. NULL: 1 per sample. */
  double unit;
  double (*cost)(const CpuPlane *plane, int samples, int rows);
  /* Returns TRUE if the method can filter the plane with enough precision, and computes the taps that it needs. The
   * plane's terms are already set. NULL: always TRUE. */
  gboolean (*fits)(CpuPlane *plane);
  /* Sets the rows of rings, `widest`, and `restart` or `tallest` if necessary. */
  void (*shape)(CpuPlane *plane);
  /* Sets the size of a job's tiles, in pixels. NULL: cnv_cpu_size_tiles. */
  void (*size)(const CpuPlane *plane, const CnvJob *job, int threads, int size[CNV_N_AXES]);
  /* Allocates the plane's arrays from the arena and, if the arena has a block, fills them. NULL: there are none. */
  void (*fill)(CpuPlane *plane, CpuArena *arena);
  /* Fills arrays that need a worker's memory, which is laid out for the plane. NULL: there are none. */
  void (*start)(CpuPlane *plane, CpuWorker *worker);
  /* Allocates the memory that a worker needs besides the states of terms. NULL: none. */
  void (*lay_out)(CpuWorker *worker, const CpuPlane *plane, CpuArena *arena);
  /* Filters a tile. The terms are started. */
  void (*run)(CpuWorker *worker, const CpuTile *tile);
};

/* Returns the column or row, at or before the first one of a tile, at which its running sums start. */
static inline int
cnv_cpu_origin(const CpuTile *tile, int axis)
{
  int at = axis == CNV_X ? tile->first : tile->top;

  return tile->plane->restart[axis] > 0 ? at - at % tile->plane->restart[axis] : at;
}

/* Returns the number of samples in a row of a tile. */
static inline int
cnv_cpu_samples(const CpuTile *tile)
{
  return (tile->last - tile->first) * tile->plane->from->channels;
}

/* Returns the number of samples in a row of a tile with the apron of term t. */
static inline int
cnv_cpu_line_samples(const CpuTile *tile, int t)
{
  return cnv_cpu_samples(tile) + (tile->plane->term[t].from->n[CNV_X] - 1) * tile->plane->from->channels;
}

/* Returns the temporal taps that a term uses. */
static inline CpuTapRange
cnv_cpu_temporal_taps(const CpuTile *tile, const CnvTerm *term)
{
  if (tile->plane->plan->not_time_separable && term->temporal_tap >= 0)
    return (CpuTapRange){term->temporal_tap, 1};
  return (CpuTapRange){0, tile->frame->n_sources};
}

/* Returns the sum of the weights of the temporal taps that a term uses. */
static inline double
cnv_cpu_temporal_sum(const CpuTile *tile, const CnvTerm *term)
{
  CpuTapRange taps = cnv_cpu_temporal_taps(tile, term);
  double sum = 0;

  for (int i = taps.first; i < taps.first + taps.n; i++)
    sum += tile->frame->weight[i];
  return sum;
}

/* Returns the column or row in the window that the border mode reads instead of column or row `at`, or -1 if it reads
 * none. */
static inline int
cnv_cpu_source(const CpuTile *tile, int axis, int at)
{
  const CnvJob *job = tile->job;
  int first = axis == CNV_X ? job->window_x : job->window_y;
  int size = axis == CNV_X ? job->window_width : job->window_height;
  int index = cnv_border_index(tile->plane->from->border, at - first, size);

  return index < 0 ? -1 : first + index;
}

/* Returns TRUE if sums are divided by sums of weights. A small sum of weights magnifies errors, so methods whose errors
 * do not shrink with the weights do not fit. */
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

/* Returns the job whose coverage has the weights of the samples that a tile of a weighed plane reads; NULL if all
 * weights are 1. */
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

/* Returns the taps of an axis that meet samples of the window for the output sample at `at`, which may be outside. */
static inline CpuTapRange
cnv_cpu_taps_found(const CnvTerm *term, const CnvJob *job, int axis, int at)
{
  int n = term->n[axis], size = axis == CNV_X ? job->window_width : job->window_height;
  int start = at - term->anchor[axis] - (axis == CNV_X ? job->window_x : job->window_y);
  int first = CLAMP(-start, 0, n);

  return (CpuTapRange){first, CLAMP(size - start, first, n) - first};
}

/* Returns the weights of the samples of n pixels: the weights of the pixels themselves, or a copy in `to`. */
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
  gboolean small_tiles; /* CpuPlane.small_tiles of all planes */
  CpuPlane *plane;      /* CNV_CPU_PLANES for each plan: its planes, then their planes of weights, then their unweighed
                           planes */
  CpuWorker *worker;    /* one per thread */
  guint8 *block;        /* all arrays of planes and workers */
  gsize block_size;
} CpuPrepared;

/* Returns TRUE if the planes are prepared for the work. */
gboolean cnv_cpu_is_prepared(const CpuPrepared *self, const CnvWork *work);

/* Prepares planes for the work, and references its plans. After CNV_ERROR_MEMORY no plans are prepared. */
gboolean cnv_cpu_prepare(CpuPrepared *self, const CnvWork *work, guint n_threads, GError **error);
void cnv_cpu_prepared_clear(CpuPrepared *self);

extern const CpuMethod cnv_cpu_rows; /* which `averages` uses for jobs with coverage */

/* Sets `method` and `large` of a plane whose terms are set: methods.c. */
void cnv_cpu_choose_methods(CpuPlane *plane);

/* ---- shape.c: sizes that methods share ---- */

/* Allocates n elements of `size` bytes. Returns NULL if the arena has no block. */
void *cnv_cpu_take(CpuArena *arena, gsize n, gsize size);

/* Returns the time that a method takes for `rows` rows of `samples` samples, in products. */
double cnv_cpu_cost(const CpuMethod *method, const CpuPlane *plane, int samples, int rows);

/* Returns the cost of multiplying by each tap: of both axes if the algorithm is separable, else in two dimensions. */
double cnv_cpu_cost_of_taps(const CpuPlane *plane, int samples, int rows);

/* Returns the method for a job of `rows` rows of `samples` samples. */
const CpuMethod *cnv_cpu_method_of(const CpuPlane *plane, int samples, int rows);

/* Sets term t, and the rows of a ring that filters any taps. */
void cnv_cpu_shape_term(CpuPlane *plane, int t);

/* Set `widest`: to about max_samples; so that `near` rows fit in cache; so that the rings of all terms fit in cache. */
void cnv_cpu_shape_width(CpuPlane *plane, int max_samples);
void cnv_cpu_shape_near(CpuPlane *plane, int near);
void cnv_cpu_shape_rings(CpuPlane *plane);

#define CNV_CPU_TILES_A_THREAD 4 /* least tiles per thread, so that one delayed thread does not delay the frame */

/* Computes the size of tiles, in pixels: as wide as `widest` permits, and enough tiles to keep all threads busy. */
void cnv_cpu_size_tiles(const CpuPlane *plane, const CnvJob *job, int threads, int size[CNV_N_AXES]);

/* Returns the run of equal taps of an axis, such as a box, if adding up its samples is faster than multiplying them;
 * else n is 0. */
CpuTapRange cnv_cpu_equal_taps(const float *taps, int n);

/* ---- taps that methods compute ---- */

/* Finds cosines for the taps of both axes, if they are exact enough for the plane's samples. Sets radius, omega and
 * weight of cosines. */
gboolean cnv_cpu_find_cosines(CpuPlane *plane);

/* Sets the other members of cosines. start: an array of 2 * CNV_CPU_COSINES for each of 2 * radius + 1 samples. */
void cnv_cpu_cosines_fill(CpuCosines *cosines, float *start);

/* Shortest and longest transforms, powers of two. */
#define CNV_CPU_FFT_SHORTEST 32
#define CNV_CPU_FFT_LONGEST 2048

/* Computes the factors for transforms of length n (CpuSimdTransform). */
#define CNV_CPU_FFT_TABLE(n) (2 * (gsize)(n)) /* most floats in a table */
void cnv_cpu_fft_table(float *table, int n);

/* ---- the work on a tile ---- */

#define CNV_CPU_TILE_MOST 8192 /* most pixels in a row of a tile that weighed.c divides into blocks */

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
  /* Computes row k of a term's ring from row y of the field. y: -1 for a missing row. */
  void (*enter)(CpuWorker *worker, const CpuTile *tile, int t, int k, int y, float *to);
  /* Computes a term's sums for CNV_CPU_ROWS rows of output from row y on. rows: of the ring, from the first row
   * needed. */
  void (*sum)(CpuWorker *worker, const CpuTile *tile, int t, int y, const float *const *rows);
} CpuRing;

void cnv_cpu_ring_run(CpuWorker *worker, const CpuTile *tile, const CpuRing *ring);

#define CNV_CPU_AHEAD 2 /* distance from the row that is loaded to the row that is prefetched */

/* Fetches pixels first to last - 1 of row y of the field into cache, if they are in the window but not its whole
 * row. */
void cnv_cpu_prefetch(const CpuTile *tile, int first, int last, int y);

/* Loads row y of the field with the apron of term t, and adds up the term's frames. y: -1 for a missing row. */
void cnv_cpu_load_row(CpuWorker *worker, const CpuTile *tile, int t, int y, float *row);

/* Loads pixels first to last - 1 of row y of a frame, which are in the window. */
void cnv_cpu_load_frame(const CpuWorker *worker, const CpuTile *tile, const CnvFrame *frame, int y, float *to);

/* Loads these pixels as the sum over frames, weighted with the plan's threshold (average.c). CpuWorker.averages has
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

/* The next three functions are for planes with one term. Checks whether each column outside the window repeats one
 * inside, so that it need not be loaded. If not, sets inside and end to all columns. */
void cnv_cpu_columns_choose(CpuColumns *columns);

/* Loads n rows of columns x to last - 1, from row y on, CNV_CPU_CHUNK floats apart. */
void cnv_cpu_columns_load(const CpuColumns *columns, float *to, int y, int n, int x, int last);

/* Copies columns that were not loaded from those that they repeat. values: of all columns, `size` floats each. */
void cnv_cpu_columns_repeat(const CpuColumns *columns, float *values, gsize size);

/* Combines row i of each term's sums into the sums of row y of a tile, and returns these. */
const float *cnv_cpu_combine(CpuWorker *worker, const CpuTile *tile, int y, int i);
/* Stores row y of a tile. Composites it by the coverage of the job. */
void cnv_cpu_store_row(CpuWorker *worker, const CpuTile *tile, int y, const float *acc);

/* Returns 0 or CNV_WEIGHT_ONE if all n weights are equal to it, else -1. */
int cnv_cpu_common_weight(const guint8 *weights, int n);

/* Stores a part of row `top` of a tile, from the tile's pixel number `from` on. weights: NULL if all are 1. */
void cnv_cpu_store_part(CpuWorker *worker, const CpuTile *part, int from, const float *acc, const guint8 *weights);

/* Computes the factors of CNV_BORDER_RENORMALIZE for row y of a tile, if they differ from those of the row before. All
 * rows between the borders have the same factors. */
void cnv_cpu_renormalize(CpuWorker *worker, const CpuTile *tile, int y);
