/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Filters with taps that are piecewise constant down a column, such as those of a box or a disk. The ring holds prefix
 * sums of the columns of samples. Only their values at steps are used: rows in which a tap differs from the tap above
 * it. The taps of a box are a row times a column. The steps of the column are added up first, and the row filters the
 * results.
 *
 * Prefix sums of integers are exact, in float32 or, if they would become too large, in double. Results then do not
 * depend on the row in which they start. Steps of a dense kernel need not be exact, so their prefix sums start at fixed
 * rows.
 */
#include "cpu/cpu.h"

#include <math.h>

#include "plan/arith.h"

#define EXACT 16777216.0 /* float32 holds all integers up to here */
#define DISK_UNIT 64     /* taps of a disk are multiples of 1 / 64 */
#define SUMMED_LEAST 100 /* fewest dense taps */
#define RESTART 128      /* rows between starts of dense prefix sums: many relative to the taps */
#define BOX_RING 64      /* the ring of a box may be this many times as large as cache: few of its rows are read */
#define STEP_COST 2.5    /* of a step, in products */
#define SUM_COST 4       /* of a prefix sum, in products */

/* Returns tap y of column x or, for a row times a column, of the column. */
static double
tap_of(const CpuPlane *plane, const CnvTerm *term, int x, int y)
{
  if (y < 0 || y >= term->n[CNV_Y])
    return 0;
  return plane->dense ? cnv_plan_tap(plane->plan, term, x, y) : plane->plan->taps[term->taps[CNV_Y] + y];
}

/* Finds the steps of a term column by column, so that partial sums stay small. steps NULL: only counts them. */
static int
find_steps(const CpuPlane *plane, const CnvTerm *term, CpuStep *steps)
{
  int n = 0;

  for (int x = 0; x < (plane->dense ? term->n[CNV_X] : 1); x++)
    for (int y = 0; y <= term->n[CNV_Y]; y++) {
      double above = tap_of(plane, term, x, y - 1), here = tap_of(plane, term, x, y);

      if (above == here)
        continue;
      if (steps)
        steps[n] = (CpuStep){y, x * plane->from->channels, (float)(above - here)};
      n++;
    }
  return n;
}

/* Returns the least power of two, at most DISK_UNIT, that makes all taps of a column integers if they are multiplied by
 * it; 0: there is none. */
static int
find_unit(const CpuPlane *plane, const CnvTerm *term)
{
  int unit = 1;

  for (int y = 0; y < term->n[CNV_Y]; y++)
    while (unit <= DISK_UNIT && fmod(tap_of(plane, term, 0, y) * unit, 1) != 0)
      unit *= 2;
  return unit <= DISK_UNIT ? unit : 0;
}

/* Returns the largest magnitude of a sample as it is loaded. */
static double
largest_sample(const CpuPlane *plane)
{
  const CnvPlane *from = plane->from;
  double most = 0, weight = plane->weighed || from->covered ? CNV_WEIGHT_ONE : 1;

  for (int c = 0; c < from->channels; c++)
    most = MAX(most, MAX(from->full[c] + 1 - from->mid[c], from->mid[c]));
  if (from->weight >= 0 && from->component[from->weight].bytes > 0)
    weight *= from->full[from->weight];
  return most * weight;
}

/* Returns TRUE if samples are loaded as integers. */
static gboolean
has_integers(const CpuPlane *plane)
{
  const CnvPlane *from = plane->from;

  for (int c = 0; c < from->channels; c++) {
    if (from->component[c].sub_x || from->component[c].sub_y) /* means */
      return FALSE;
    if (cnv_border_has_value(from->border) && from->border_value[c] != rint(from->border_value[c]))
      return FALSE;
  }
  return plane->plan->n_temporal_taps == 1;
}

/* Returns the number of rows whose prefix sums, times taps that are multiples of 1 / unit, float32 holds exactly. */
static int
exact_rows(const CpuPlane *plane, int unit)
{
  return (int)MIN(EXACT / (unit * largest_sample(plane)), G_MAXINT / 2);
}

/* Returns the cost of steps and, for a row times a column, of prefix sums and of the filter along rows. */
static double
cost(const CpuPlane *plane, int samples, int rows)
{
  double products = 0;

  for (int t = 0; t < plane->from->n_terms; t++)
    products += plane->term[t].n_steps * STEP_COST + (plane->dense ? 0 : SUM_COST + plane->term[t].from->n[CNV_X]);
  return products * samples * rows;
}

static gboolean
fits(CpuPlane *plane)
{
  const CnvPlane *from = plane->from;
  int most = exact_rows(plane, DISK_UNIT);

  for (int t = 0; t < from->n_terms; t++)
    plane->term[t].n_steps = find_steps(plane, plane->term[t].from, NULL);
  if (!plane->dense)
    return TRUE;
  for (int t = 0; t < from->n_terms; t++)
    if (from->term[t].n[CNV_X] * from->term[t].n[CNV_Y] < SUMMED_LEAST || 3 * plane->term[t].slots > most)
      return FALSE;
  return !cnv_cpu_divides(plane) && plane->plan->n_temporal_taps == 1 && plane->slots < most;
}

/* Sets the fixed rows at which prefix sums start, for dense taps. */
static void
shape_dense(CpuPlane *plane)
{
  for (plane->restart[CNV_Y] = RESTART; plane->restart[CNV_Y] > exact_rows(plane, DISK_UNIT) - plane->slots;)
    plane->restart[CNV_Y] /= 2;
}

/* Sets the height of tiles for a row times a column: as high as float32 permits. If that is too low, sums are in
 * double. */
static void
shape_box(CpuPlane *plane)
{
  int most = G_MAXINT, slots = 0;

  for (int t = 0; t < plane->from->n_terms; t++) {
    int unit = find_unit(plane, plane->term[t].from);

    slots = MAX(slots, plane->term[t].slots);
    most = MIN(most, unit > 0 ? exact_rows(plane, unit) : 0);
  }
  plane->deep = !has_integers(plane) || most < 2 * slots;
  plane->tallest = plane->deep ? 0 : most - slots;
}

static void
shape(CpuPlane *plane)
{
  int near = 0;

  for (int t = 0; t < plane->from->n_terms; t++) {
    int slots = plane->term[t].slots++; /* one more for the sums above the first row */

    near += plane->dense ? slots : MAX(4 * CNV_CPU_ROWS, slots / BOX_RING);
  }
  cnv_cpu_shape_near(plane, near);
  plane->summed = TRUE;
  (plane->dense ? shape_dense : shape_box)(plane);
}

/* Divides the rows between two starts of prefix sums into tiles. */
static void
size_tiles(const CpuPlane *plane, const CnvJob *job, int threads, int size[CNV_N_AXES])
{
  int restart = plane->restart[CNV_Y];

  cnv_cpu_size_tiles(plane, job, threads, size);
  if (restart > 0)
    size[CNV_Y] = restart / cnv_divide_up(restart, size[CNV_Y]);
}

static void
fill(CpuPlane *plane, CpuArena *arena)
{
  for (int t = 0; t < plane->from->n_terms; t++) {
    CpuTerm *term = &plane->term[t];

    term->steps = cnv_cpu_take(arena, term->n_steps, sizeof(CpuStep));
    if (term->steps)
      find_steps(plane, term->from, term->steps);
  }
}

static void
lay_out(CpuWorker *worker, const CpuPlane *plane, CpuArena *arena)
{
  for (int t = 0; t < plane->from->n_terms; t++)
    worker->term[t].entering = cnv_cpu_take(arena, plane->line_length, sizeof(float));
}

/* ---- tiles ---- */

/* Adds row y of the field to the prefix sums above it. */
static void
add_row(CpuWorker *worker, const CpuTile *tile, int t, int y, float *to, const float *above)
{
  const CpuSimd *simd = tile->frame->simd;
  CpuTermState *state = &worker->term[t];
  int n = cnv_cpu_line_samples(tile, t);

  if (y != state->entered)
    cnv_cpu_load_row(worker, tile, t, y, state->entering);
  state->entered = y;
  if (tile->plane->deep)
    simd->accumulate_double((double *)to, (const double *)above, state->entering, n);
  else
    simd->accumulate(to, above, state->entering, n);
}

/* Computes the prefix sums above a tile's first row of taps. */
static void
start_sums(CpuWorker *worker, const CpuTile *tile, int t, float *to)
{
  const CpuTerm *term = &tile->plane->term[t];

  worker->term[t].entered = G_MININT;
  memset(to, 0, term->ring_stride * sizeof(float));
  for (int y = cnv_cpu_origin(tile, CNV_Y); y < tile->top; y++)
    add_row(worker, tile, t, cnv_cpu_source(tile, CNV_Y, y - term->from->anchor[CNV_Y]), to, to);
}

static void
enter(CpuWorker *worker, const CpuTile *tile, int t, int k, int y, float *to)
{
  const CpuTerm *term = &tile->plane->term[t];

  if (k == 0)
    start_sums(worker, tile, t, to);
  else
    add_row(worker, tile, t, y, to, worker->term[t].ring + (k - 1) % term->slots * term->ring_stride);
}

static void
sum(CpuWorker *worker, const CpuTile *tile, int t, int y, const float *const *rows)
{
  const CpuPlane *plane = tile->plane;
  const CpuSimd *simd = tile->frame->simd;
  const CpuTerm *term = &plane->term[t];
  int samples = cnv_cpu_samples(tile), n = plane->dense ? samples : cnv_cpu_line_samples(tile, t);
  float *acc = worker->term[t].acc;

  for (int i = 0; i < CNV_CPU_ROWS; i++, acc += plane->acc_stride) {
    float *to = plane->dense ? acc : worker->line;

    if (plane->deep)
      simd->steps_double(to, (const double *const *)rows + i, n, term->steps, term->n_steps);
    else
      simd->steps(to, rows + i, n, term->steps, term->n_steps);
    if (!plane->dense)
      simd->row(acc, to, samples, &term->taps[CNV_X]);
  }
}

static void
run(CpuWorker *worker, const CpuTile *tile)
{
  static const CpuRing ring = {.above = 1, .enter = enter, .sum = sum};

  cnv_cpu_ring_run(worker, tile, &ring);
}

const CpuMethod cnv_cpu_prefix_sum = {
    .name = "prefix-sum",
    .algorithms = 1 << CNV_ALGORITHM_SEPARABLE | 1 << CNV_ALGORITHM_TILED,
    .unit = 1,
    .cost = cost,
    .fits = fits,
    .shape = shape,
    .size = size_tiles,
    .fill = fill,
    .lay_out = lay_out,
    .run = run,
};
