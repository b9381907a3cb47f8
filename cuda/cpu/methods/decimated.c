/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Filters with wide taps by a few taps on decimated samples (plan/decimated.h). Decimates down columns, then along
 * rows. Filters the decimated picture. Interpolates along rows, then down columns, with the weights of the decimation.
 * Decimated samples have fixed places in the plane, so results do not depend on tiles.
 */
#include "cpu/cpu.h"

#include "plan/arith.h"
#include "plan/decimated.h"

G_STATIC_ASSERT(CNV_CPU_DECIMATION_MAX == CNV_DECIMATED_STEP_MAX && CNV_CPU_SHARES == CNV_DECIMATED_SHARES);

#define RESULTS (2 * CNV_CPU_ROWS) /* rows of results that are kept, already interpolated along x */
#define WIDTH_MAX 4096             /* most samples of a tile's row: many, because aprons are wide, too */

/* Returns the number of the first result along an axis from which a tile's samples are interpolated. */
static int
first_result(const CpuTile *tile, int axis)
{
  return (axis == CNV_X ? tile->first : tile->top) / tile->plane->decimation[axis].step - 1;
}

/* Returns the number of results along x from which a tile's samples are interpolated. */
static int
count_results(const CpuTile *tile)
{
  return (tile->last - 1) / tile->plane->decimation[CNV_X].step + 3 - first_result(tile, CNV_X);
}

/* ---- decimation ---- */

static float *
partial_row(const CpuColumns *columns, int group)
{
  return columns->worker->partial + (guint)group % CNV_CPU_SHARES * columns->tile->plane->results_stride;
}

/* Adds `step` rows, from number step * group on, to the decimated rows to which they contribute. The decimated row
 * before number `group` is then complete. */
static void
decimate_group(const CpuColumns *columns, int group)
{
  const CpuTile *tile = columns->tile;
  const CpuDecimation *decimation = &tile->plane->decimation[CNV_Y];
  float *rows = columns->worker->enter;
  int channels = tile->plane->from->channels;
  int chunk = (CNV_CPU_CHUNK - CNV_CPU_BAND) / channels / CNV_CPU_DECIMATION_BLOCK * CNV_CPU_DECIMATION_BLOCK;

  for (int x = columns->inside; x < columns->end; x += chunk) {
    int last = MIN(x + chunk, columns->end);
    float *to[CNV_CPU_SHARES];

    for (int m = 0; m < CNV_CPU_SHARES; m++)
      to[m] = partial_row(columns, group + m - 1) + (gsize)(x - columns->first) * channels;
    cnv_cpu_columns_load(columns, rows, decimation->step * group, decimation->step, x, last);
    tile->frame->simd->wide->decimate(to, rows, CNV_CPU_CHUNK, (last - x) * channels, decimation);
  }
}

/* Decimates a row along x. Returns the result. */
static float *
decimate_along(const CpuColumns *columns, float *row)
{
  const CpuPlane *plane = columns->tile->plane;
  const CpuSimd *simd = columns->tile->frame->simd;
  const CpuDecimation *decimation = &plane->decimation[CNV_X];
  CpuWorker *worker = columns->worker;
  CpuStep step[CNV_CPU_SHARES * CNV_CPU_DECIMATION_MAX];
  const float *places[CNV_CPU_DECIMATION_MAX];
  int channels = plane->from->channels, n = count_results(columns->tile) + 2 * decimation->radius, n_steps = 0;

  cnv_cpu_columns_repeat(columns, row, channels);
  if (decimation->step == 1)
    return row + CNV_CPU_SHARES / 2 * channels;
  simd->wide->split(worker->turned, plane->decimated_stride, row, n + CNV_CPU_SHARES - 1, decimation->step, channels);
  for (int i = 0; i < decimation->step; i++) {
    places[i] = worker->turned + i * plane->decimated_stride;
    for (int m = 0; m < CNV_CPU_SHARES; m++)
      if (decimation->share[i][m] > 0)
        step[n_steps++] = (CpuStep){i, (CNV_CPU_SHARES - 1 - m) * channels, decimation->share[i][m]};
  }
  simd->steps(worker->along, places, n * channels, step, n_steps);
  return worker->along;
}

/* Computes row `row` of the decimated picture, filtered along x. first: FALSE if the last call computed the row
 * before. */
static void
make_decimated_row(const CpuColumns *columns, int row, gboolean first, float *to)
{
  const CpuTile *tile = columns->tile;
  const CpuDecimation *x = &tile->plane->decimation[CNV_X];
  int channels = tile->plane->from->channels;
  const CpuTaps taps = {x->tap + CNV_CPU_ROWS - 1, 2 * x->radius + 1, 1, channels};

  for (int group = first ? row - 2 : row + 1; group < row + 2; group++)
    decimate_group(columns, group);
  tile->frame->simd->row(to, decimate_along(columns, partial_row(columns, row)), count_results(tile) * channels, &taps);
}

/* Returns the rows of the decimated picture that rows of results need, from result `row` on. */
static const float *const *
decimated_rows(const CpuColumns *columns, int row)
{
  const CpuTile *tile = columns->tile;
  const CpuTerm *term = &tile->plane->term[0];
  CpuTermState *state = &columns->worker->term[0];
  int first = first_result(tile, CNV_Y), filled = row - first;

  if (tile->decimated)
    return tile->decimated + row + 1;
  for (; state->filled < filled + term->slots; state->filled++)
    make_decimated_row(columns, first - tile->plane->decimation[CNV_Y].radius + state->filled, state->filled == 0,
                       state->ring + state->filled % term->slots * term->ring_stride);
  return state->rows + filled % term->slots;
}

/* ---- results ---- */

static float *
result_row(const CpuColumns *columns, int row)
{
  int number = row - first_result(columns->tile, CNV_Y);

  return columns->worker->results + number % RESULTS * columns->tile->plane->results_stride;
}

/* Finds the steps that interpolate sample i from results: rows, or samples of one row that lie `apart` floats apart.
 * Returns their number. */
static int
find_interpolation(const CpuDecimation *decimation, int i, int apart, CpuStep *step)
{
  int n = 0;

  for (int m = 0; m < CNV_CPU_SHARES; m++)
    if (decimation->share[i][m] > 0)
      step[n++] = (CpuStep){apart ? 0 : m, m * apart, decimation->share[i][m] * (float)decimation->step};
  return n;
}

/* Interpolates along a row of results. */
static void
interpolate_along(const CpuColumns *columns, float *to, const float *results)
{
  const CpuPlane *plane = columns->tile->plane;
  const CpuSimd *simd = columns->tile->frame->simd;
  const CpuDecimation *decimation = &plane->decimation[CNV_X];
  float *turned = columns->worker->turned;
  int channels = plane->from->channels, n = count_results(columns->tile) - CNV_CPU_SHARES + 1;

  for (int i = 0; i < decimation->step; i++) {
    CpuStep step[CNV_CPU_SHARES];
    int n_steps = find_interpolation(decimation, i, channels, step);

    simd->steps(turned + i * plane->decimated_stride, &results, n * channels, step, n_steps);
  }
  simd->wide->join(to, turned, plane->decimated_stride, n, decimation->step, channels);
}

/* Interpolates row y of the tile and stores it. */
static void
store(const CpuColumns *columns, int y)
{
  const CpuTile *tile = columns->tile;
  const CpuDecimation *x = &tile->plane->decimation[CNV_X], *decimation = &tile->plane->decimation[CNV_Y];
  int before = tile->first - x->step * first_result(tile, CNV_X) - (x->step > 1 ? x->step : 0);
  const float *rows[CNV_CPU_SHARES];
  CpuStep step[CNV_CPU_SHARES];
  int n_steps = find_interpolation(decimation, y % decimation->step, 0, step);

  for (int m = 0; m < CNV_CPU_SHARES; m++)
    rows[m] = result_row(columns, y / decimation->step - 1 + m) + (gsize)before * tile->plane->from->channels;
  tile->frame->simd->steps(columns->worker->term[0].acc, rows, cnv_cpu_samples(tile), step, n_steps);
  cnv_cpu_store_row(columns->worker, tile, y, cnv_cpu_combine(columns->worker, tile, y, 0));
}

/* Computes CNV_CPU_ROWS rows of results from row `row` on. */
static void
make_results(const CpuColumns *columns, int row)
{
  const CpuPlane *plane = columns->tile->plane;
  const CpuDecimation *y = &plane->decimation[CNV_Y];
  const CpuTaps taps = {y->tap + CNV_CPU_ROWS - 1, 1, 2 * y->radius + 1};
  gboolean spread = plane->decimation[CNV_X].step > 1;
  float *to = spread ? columns->worker->squares : result_row(columns, row);

  columns->tile->frame->simd->column(to, spread ? plane->decimated_stride : plane->results_stride,
                                     decimated_rows(columns, row), count_results(columns->tile) * plane->from->channels,
                                     &taps);
  for (int i = 0; i < CNV_CPU_ROWS && spread; i++)
    interpolate_along(columns, result_row(columns, row + i), to + i * plane->decimated_stride);
}

/* ---- preparation ---- */

static void
fill(CpuDecimation *decimation, const CnvDecimatedTaps *taps)
{
  *decimation = (CpuDecimation){.step = taps->step, .radius = taps->radius};
  for (int i = 0; i <= 2 * taps->radius; i++)
    decimation->tap[CNV_CPU_ROWS - 1 + i] = (float)taps->tap[i];
  for (int i = 0; i < taps->step; i++)
    for (int m = 0; m < CNV_CPU_SHARES; m++)
      decimation->share[i][m] = (float)taps->share[i][m];
}

static gboolean
fits(CpuPlane *plane)
{
  const CnvPlane *from = plane->given; /* a weighed plane and its weights have the same taps */
  CnvDecimatedTaps taps[CNV_N_AXES];

  if (plane->plan->requested != CNV_ALGORITHM_AUTO || plane->dense || from->n_terms > 1 || plane->from->weight >= 0 ||
      from->combine != CNV_COMBINE_SUM || cnv_border_renormalizes(from->border) ||
      !cnv_decimated_find(plane->plan, from, cnv_cpu_divides(plane), taps))
    return FALSE;
  for (int axis = 0; axis < CNV_N_AXES; axis++)
    fill(&plane->decimation[axis], &taps[axis]);
  return TRUE;
}

/* ---- tiles ---- */

/* Returns the number of rows from -1 - radius on, as a tile at the top of the frame needs them. */
static int
count_decimated_rows(const CpuDecimation *y, int height)
{
  int results = (height - 1) / y->step + 2 + 1 + 1; /* from -1 on */

  return cnv_divide_up(results, CNV_CPU_ROWS) * CNV_CPU_ROWS + CNV_CPU_ROWS + 2 * y->radius;
}

/* Sets the sizes of rows: a row of a tile has room for one more decimated pixel at either end, for the apron, and for
 * the rest of a block. */
static void
shape(CpuPlane *plane)
{
  const CpuDecimation *x = &plane->decimation[CNV_X], *y = &plane->decimation[CNV_Y];
  int channels = plane->from->channels, pixels;

  plane->term[0].slots = 2 * y->radius + CNV_CPU_ROWS;
  plane->slots = plane->term[0].slots * y->step;
  cnv_cpu_shape_width(plane, WIDTH_MAX);
  pixels = plane->widest / channels / x->step + 2 * x->radius + 10;
  plane->decimated_stride = (gsize)cnv_divide_up(pixels * channels, CNV_CPU_BLOCK) * CNV_CPU_BLOCK + CNV_CPU_BLOCK;
  plane->results_stride = (gsize)pixels * channels * x->step + 2 * CNV_CPU_BLOCK;
  plane->decimated_width = plane->widest / channels;
  plane->decimated_rows = count_decimated_rows(y, plane->from->height);
}

static void
fill_picture(CpuPlane *plane, CpuArena *arena)
{
  gsize rows = (gsize)plane->decimated_rows * cnv_divide_up(plane->from->width, plane->decimated_width);
  float *block = cnv_cpu_take(arena, rows * plane->term[0].ring_stride, sizeof(float));

  plane->decimated = cnv_cpu_take(arena, rows, sizeof(float *));
  for (gsize i = 0; i < rows && arena->block; i++)
    plane->decimated[i] = block + i * plane->term[0].ring_stride;
}

static void
lay_out(CpuWorker *worker, const CpuPlane *plane, CpuArena *arena)
{
  worker->enter = cnv_cpu_take(arena, CNV_CPU_BAND * CNV_CPU_CHUNK, sizeof(float));
  worker->partial = cnv_cpu_take(arena, CNV_CPU_SHARES * plane->results_stride, sizeof(float));
  worker->results = cnv_cpu_take(arena, RESULTS * plane->results_stride, sizeof(float));
  worker->turned = cnv_cpu_take(arena, plane->decimation[CNV_X].step * plane->decimated_stride, sizeof(float));
  worker->along = cnv_cpu_take(arena, plane->decimated_stride, sizeof(float));
  worker->squares = cnv_cpu_take(arena, CNV_CPU_ROWS * plane->decimated_stride, sizeof(float));
}

static void
run(CpuWorker *worker, const CpuTile *tile)
{
  const CpuDecimation *x = &tile->plane->decimation[CNV_X], *y = &tile->plane->decimation[CNV_Y];
  int pixel = first_result(tile, CNV_X) - x->radius, n = count_results(tile) + 2 * x->radius, at = tile->top;
  CpuColumns columns = cnv_cpu_columns(worker, tile, x->step * (pixel - 2), x->step * (pixel + n + 1));

  cnv_cpu_columns_choose(&columns);
  memset(worker->partial, 0, CNV_CPU_SHARES * tile->plane->results_stride * sizeof(float));
  if (tile->decimates) {
    for (int i = tile->top; i < tile->bottom; i++)
      make_decimated_row(&columns, i - y->radius - 1, i == tile->top, tile->decimates[i]);
    return;
  }
  for (int row = first_result(tile, CNV_Y); at < tile->bottom; row += CNV_CPU_ROWS) {
    make_results(&columns, row);
    for (; at < tile->bottom && at / y->step + 2 < row + CNV_CPU_ROWS; at++)
      store(&columns, at);
  }
}

const CpuMethod cnv_cpu_decimated = {
    .name = "decimated",
    .algorithms = 1 << CNV_ALGORITHM_SEPARABLE,
    .wide_tiles = TRUE,
    .unit = 12,
    .fits = fits,
    .shape = shape,
    .fill = fill_picture,
    .lay_out = lay_out,
    .run = run,
};
