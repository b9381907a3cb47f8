/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Tiles of a term of wide taps that few can stand for (plan/decimated.h). Rows are blended to one in so many, these
 * along their columns to one in so many, few taps filter the small picture, and the same weights blend its samples back
 * along rows, then down columns. Blended samples lie at places of the plane, so that tiles do not matter to the
 * results.
 */
#include "cpu/cpu.h"

#include "plan/arith.h"
#include "plan/decimated.h"

G_STATIC_ASSERT(CNV_CPU_COARSEST == CNV_DECIMATED_STEP_MAX && CNV_CPU_BLENDED == CNV_DECIMATED_SHARES);

#define RESULTS (2 * CNV_CPU_ROWS) /* rows that are kept, blended back along x */
#define WIDTH_MAX 4096             /* samples of a tile's row: aprons are wide, too */

/* Number of the first result along an axis that a tile's samples are blended from. */
static int
first_result(const CpuTile *tile, int axis)
{
  return (axis == CNV_X ? tile->first : tile->top) / tile->plane->few[axis].step - 1;
}

/* How many there are along x. */
static int
count_results(const CpuTile *tile)
{
  return (tile->last - 1) / tile->plane->few[CNV_X].step + 3 - first_result(tile, CNV_X);
}

/* ---- rows blended ---- */

static float *
blended_row(const CpuColumns *columns, int group)
{
  return columns->worker->blended + (guint)group % CNV_CPU_BLENDED * columns->tile->plane->coarse_stride;
}

/* Blends one more group of rows, step * group and on, with which blended row group - 1 is complete. */
static void
blend_group(const CpuColumns *columns, int group)
{
  const CpuTile *tile = columns->tile;
  const CpuCoarse *coarse = &tile->plane->few[CNV_Y];
  float *rows = columns->worker->enter;
  int channels = tile->plane->from->channels;
  int chunk = (CNV_CPU_CHUNK - CNV_CPU_BAND) / channels / CNV_CPU_BLENDED_BLOCK * CNV_CPU_BLENDED_BLOCK;

  for (int x = columns->inside; x < columns->end; x += chunk) {
    int last = MIN(x + chunk, columns->end);
    float *to[CNV_CPU_BLENDED];

    for (int m = 0; m < CNV_CPU_BLENDED; m++)
      to[m] = blended_row(columns, group + m - 1) + (gsize)(x - columns->first) * channels;
    cnv_cpu_columns_load(columns, rows, coarse->step * group, coarse->step, x, last);
    tile->frame->simd->wide->blend(to, rows, CNV_CPU_CHUNK, (last - x) * channels, coarse);
  }
}

/* Blends a row's samples along x. Returns them. */
static float *
blend_along(const CpuColumns *columns, float *row)
{
  const CpuPlane *plane = columns->tile->plane;
  const CpuSimd *simd = columns->tile->frame->simd;
  const CpuCoarse *coarse = &plane->few[CNV_X];
  CpuWorker *worker = columns->worker;
  CpuStep step[CNV_CPU_BLENDED * CNV_CPU_COARSEST];
  const float *places[CNV_CPU_COARSEST];
  int channels = plane->from->channels, n = count_results(columns->tile) + 2 * coarse->radius, n_steps = 0;

  cnv_cpu_columns_repeat(columns, row, channels);
  if (coarse->step == 1)
    return row + CNV_CPU_BLENDED / 2 * channels;
  simd->wide->split(worker->turned, plane->blended_stride, row, n + CNV_CPU_BLENDED - 1, coarse->step, channels);
  for (int i = 0; i < coarse->step; i++) {
    places[i] = worker->turned + i * plane->blended_stride;
    for (int m = 0; m < CNV_CPU_BLENDED; m++)
      if (coarse->blend[i][m] > 0)
        step[n_steps++] = (CpuStep){i, (CNV_CPU_BLENDED - 1 - m) * channels, coarse->blend[i][m]};
  }
  simd->steps(worker->along, places, n * channels, step, n_steps);
  return worker->along;
}

/* Row number `row` of the decimated picture: one that is blended and filtered along x. Each but the first is the next.
 */
static void
make_decimated_row(const CpuColumns *columns, int row, gboolean first, float *to)
{
  const CpuTile *tile = columns->tile;
  const CpuCoarse *x = &tile->plane->few[CNV_X];
  int channels = tile->plane->from->channels;
  const CpuTaps taps = {x->tap + CNV_CPU_ROWS - 1, 2 * x->radius + 1, 1, channels};

  for (int group = first ? row - 2 : row + 1; group < row + 2; group++)
    blend_group(columns, group);
  tile->frame->simd->row(to, blend_along(columns, blended_row(columns, row)), count_results(tile) * channels, &taps);
}

/* Rows of the decimated picture from the first on that results from number `row` on need. */
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
    make_decimated_row(columns, first - tile->plane->few[CNV_Y].radius + state->filled, state->filled == 0,
                       state->ring + state->filled % term->slots * term->ring_stride);
  return state->rows + filled % term->slots;
}

/* ---- results ---- */

static float *
result_row(const CpuColumns *columns, int row)
{
  int number = row - first_result(columns->tile, CNV_Y);

  return columns->worker->results + number % RESULTS * columns->tile->plane->coarse_stride;
}

/* Steps that blend results back to sample i: from rows, or from one row's samples `apart` floats apart. Returns how
 * many there are. */
static int
steps_back(const CpuCoarse *coarse, int i, int apart, CpuStep *step)
{
  int n = 0;

  for (int m = 0; m < CNV_CPU_BLENDED; m++)
    if (coarse->blend[i][m] > 0)
      step[n++] = (CpuStep){apart ? 0 : m, m * apart, coarse->blend[i][m] * (float)coarse->step};
  return n;
}

/* Blends a row of results back along x. */
static void
spread_along(const CpuColumns *columns, float *to, const float *results)
{
  const CpuPlane *plane = columns->tile->plane;
  const CpuSimd *simd = columns->tile->frame->simd;
  const CpuCoarse *coarse = &plane->few[CNV_X];
  float *turned = columns->worker->turned;
  int channels = plane->from->channels, n = count_results(columns->tile) - CNV_CPU_BLENDED + 1;

  for (int i = 0; i < coarse->step; i++) {
    CpuStep step[CNV_CPU_BLENDED];
    int n_steps = steps_back(coarse, i, channels, step);

    simd->steps(turned + i * plane->blended_stride, &results, n * channels, step, n_steps);
  }
  simd->wide->join(to, turned, plane->blended_stride, n, coarse->step, channels);
}

/* Makes and stores row y of the tile. */
static void
store(const CpuColumns *columns, int y)
{
  const CpuTile *tile = columns->tile;
  const CpuCoarse *x = &tile->plane->few[CNV_X], *coarse = &tile->plane->few[CNV_Y];
  int before = tile->first - x->step * first_result(tile, CNV_X) - (x->step > 1 ? x->step : 0);
  const float *rows[CNV_CPU_BLENDED];
  CpuStep step[CNV_CPU_BLENDED];
  int n_steps = steps_back(coarse, y % coarse->step, 0, step);

  for (int m = 0; m < CNV_CPU_BLENDED; m++)
    rows[m] = result_row(columns, y / coarse->step - 1 + m) + (gsize)before * tile->plane->from->channels;
  tile->frame->simd->steps(columns->worker->term[0].acc, rows, cnv_cpu_samples(tile), step, n_steps);
  cnv_cpu_store_row(columns->worker, tile, y, cnv_cpu_combine(columns->worker, tile, y, 0));
}

/* Makes rows of results from number `row` on. */
static void
make_results(const CpuColumns *columns, int row)
{
  const CpuPlane *plane = columns->tile->plane;
  const CpuCoarse *y = &plane->few[CNV_Y];
  const CpuTaps taps = {y->tap + CNV_CPU_ROWS - 1, 1, 2 * y->radius + 1};
  gboolean spread = plane->few[CNV_X].step > 1;
  float *to = spread ? columns->worker->squares : result_row(columns, row);

  columns->tile->frame->simd->column(to, spread ? plane->blended_stride : plane->coarse_stride,
                                     decimated_rows(columns, row), count_results(columns->tile) * plane->from->channels,
                                     &taps);
  for (int i = 0; i < CNV_CPU_ROWS && spread; i++)
    spread_along(columns, result_row(columns, row + i), to + i * plane->blended_stride);
}

/* ---- planes made ready ---- */

static void
fill(CpuCoarse *coarse, const CnvDecimatedTaps *taps)
{
  *coarse = (CpuCoarse){.step = taps->step, .radius = taps->radius};
  for (int i = 0; i <= 2 * taps->radius; i++)
    coarse->tap[CNV_CPU_ROWS - 1 + i] = (float)taps->tap[i];
  for (int i = 0; i < taps->step; i++)
    for (int m = 0; m < CNV_CPU_BLENDED; m++)
      coarse->blend[i][m] = (float)taps->share[i][m];
}

gboolean
cnv_cpu_find_coarse(CpuPlane *plane)
{
  const CnvPlane *from = plane->given; /* a weighed plane and its weights have the same taps */
  CnvDecimatedTaps taps[CNV_N_AXES];

  if (plane->plan->requested != CNV_ALGORITHM_AUTO || plane->dense || from->n_terms > 1 ||
      (plane->from->weight >= 0 && !plane->flat) || from->combine != CNV_COMBINE_SUM ||
      cnv_border_renormalizes(from->border) || !cnv_decimated_find(plane->plan, from, cnv_cpu_divides(plane), taps))
    return FALSE;
  for (int axis = 0; axis < CNV_N_AXES; axis++)
    fill(&plane->few[axis], &taps[axis]);
  return TRUE;
}

/* ---- tiles ---- */

/* From -1 - radius on, as for a tile that begins with the frame. */
static int
count_decimated_rows(const CpuCoarse *y, int height)
{
  int results = (height - 1) / y->step + 2 + 1 + 1; /* from -1 on */

  return cnv_divide_up(results, CNV_CPU_ROWS) * CNV_CPU_ROWS + CNV_CPU_ROWS + 2 * y->radius;
}

/* The rows of tiles: up to a blended pixel more at either end, what their apron takes, and a block that is filtered
 * beyond. */
static void
shape(CpuPlane *plane)
{
  const CpuCoarse *x = &plane->few[CNV_X], *y = &plane->few[CNV_Y];
  int channels = plane->from->channels, blended;

  plane->term[0].slots = 2 * y->radius + CNV_CPU_ROWS;
  plane->slots = plane->term[0].slots * y->step;
  cnv_cpu_shape_width(plane, WIDTH_MAX);
  blended = plane->widest / channels / x->step + 2 * x->radius + 10;
  plane->blended_stride = (gsize)cnv_divide_up(blended * channels, CNV_CPU_BLOCK) * CNV_CPU_BLOCK + CNV_CPU_BLOCK;
  plane->coarse_stride = (gsize)blended * channels * x->step + 2 * CNV_CPU_BLOCK;
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
  worker->blended = cnv_cpu_take(arena, CNV_CPU_BLENDED * plane->coarse_stride, sizeof(float));
  worker->results = cnv_cpu_take(arena, RESULTS * plane->coarse_stride, sizeof(float));
  worker->turned = cnv_cpu_take(arena, plane->few[CNV_X].step * plane->blended_stride, sizeof(float));
  worker->along = cnv_cpu_take(arena, plane->blended_stride, sizeof(float));
  worker->squares = cnv_cpu_take(arena, CNV_CPU_ROWS * plane->blended_stride, sizeof(float));
}

static void
run(CpuWorker *worker, const CpuTile *tile)
{
  const CpuCoarse *x = &tile->plane->few[CNV_X], *y = &tile->plane->few[CNV_Y];
  int blended = first_result(tile, CNV_X) - x->radius, n = count_results(tile) + 2 * x->radius, at = tile->top;
  CpuColumns columns = cnv_cpu_columns(worker, tile, x->step * (blended - 2), x->step * (blended + n + 1));

  cnv_cpu_columns_choose(&columns);
  memset(worker->blended, 0, CNV_CPU_BLENDED * tile->plane->coarse_stride * sizeof(float));
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
    .fits = cnv_cpu_find_coarse,
    .shape = shape,
    .fill = fill_picture,
    .lay_out = lay_out,
    .run = run,
};
