/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Tiles of a term of wide taps that few can stand for (coarse_taps.c). Rows are blended to one in so many, these along
 * their columns to one in so many, few taps filter the small picture, and the same weights blend its samples back along
 * rows, then down columns. Blended samples lie at places of the plane, so that tiles do not matter to the results.
 */
#include "cpu/cpu.h"

#include "plan/arith.h"

#define RESULTS (2 * CNV_CPU_ROWS) /* rows that are kept, blended back along x */

/* A tile on its way. */
typedef struct {
  CpuWorker *worker;
  const CpuTile *tile;
  const CpuCoarse *coarse; /* of each axis */
  int channels;
  int first[CNV_N_AXES]; /* blended samples: those of the first results */
  int n;                 /* results along x */
  CpuColumns columns;
  gsize stride, blended_stride; /* floats from row to row of columns, and of pixels blended along x */
  int group;                    /* rows step * group and on are blended next */
} Coarsen;

/* ---- rows blended ---- */

static float *
blended_row(const Coarsen *c, int group)
{
  return c->worker->blended + (guint)group % CNV_CPU_BLENDED * c->stride;
}

/* Blends one more group of rows, with which blended row group - 1 is complete. */
static void
blend_group(Coarsen *c)
{
  const CpuCoarse *coarse = &c->coarse[CNV_Y];
  CpuColumns *columns = &c->columns;
  int chunk = (CNV_CPU_CHUNK - CNV_CPU_BAND) / c->channels / CNV_CPU_BLENDED_BLOCK * CNV_CPU_BLENDED_BLOCK;

  for (int x = columns->first; x < columns->last; x += chunk) {
    int last = MIN(x + chunk, columns->last);
    float *to[CNV_CPU_BLENDED];

    for (int m = 0; m < CNV_CPU_BLENDED; m++)
      to[m] = blended_row(c, c->group + m - 1) + (gsize)x * c->channels;
    cnv_cpu_columns_load(columns, c->worker->enter, coarse->step * c->group, coarse->step, x, last);
    c->tile->frame->simd->coarse->blend(to, c->worker->enter, CNV_CPU_CHUNK, (last - x) * c->channels, coarse);
  }
  c->group++;
}

/* Blends a row's samples along x. Returns them. */
static const float *
blend_along(const Coarsen *c, float *row)
{
  const CpuSimd *simd = c->tile->frame->simd;
  const CpuCoarse *coarse = &c->coarse[CNV_X];
  CpuStep step[CNV_CPU_BLENDED * CNV_CPU_COARSEST];
  const float *places[CNV_CPU_COARSEST];
  int n = c->n + 2 * coarse->radius, n_steps = 0;

  cnv_cpu_columns_repeat(&c->columns, row, c->channels);
  if (coarse->step == 1)
    return row + CNV_CPU_BLENDED / 2 * c->channels;
  simd->coarse->split(c->worker->turned, c->blended_stride, row, n + CNV_CPU_BLENDED - 1, coarse->step, c->channels);
  for (int i = 0; i < coarse->step; i++) {
    places[i] = c->worker->turned + i * c->blended_stride;
    for (int m = 0; m < CNV_CPU_BLENDED; m++)
      if (coarse->blend[i][m] > 0)
        step[n_steps++] = (CpuStep){i, (CNV_CPU_BLENDED - 1 - m) * c->channels, coarse->blend[i][m]};
  }
  simd->steps(c->worker->along, places, n * c->channels, step, n_steps);
  return c->worker->along;
}

/* Row number `row` of the small picture: one that is blended and filtered along x. Each is the next. */
static void
make_small_row(Coarsen *c, int row, float *to)
{
  const CpuCoarse *x = &c->coarse[CNV_X];
  const CpuTaps taps = {x->tap + CNV_CPU_ROWS - 1, 2 * x->radius + 1, 1, c->channels};

  while (c->group < row + 2)
    blend_group(c);
  c->tile->frame->simd->row(to, blend_along(c, blended_row(c, row)), c->n * c->channels, &taps);
}

/* Rows of the small picture from the first on that results from number `row` on need. */
static const float *const *
small_rows(Coarsen *c, CpuTermState *state, int row)
{
  const CpuPlane *plane = c->tile->plane;
  int filled = row - c->first[CNV_Y], slots = plane->term[0].slots;

  if (c->tile->small == CNV_CPU_SMALL_USED)
    return (const float *const *)plane->small + c->tile->first / plane->small_width * plane->small_rows + row + 1;
  for (; state->filled < filled + slots; state->filled++)
    make_small_row(c, c->first[CNV_Y] - c->coarse[CNV_Y].radius + state->filled,
                   state->ring + state->filled % slots * plane->term[0].ring_stride);
  return state->rows + filled % slots;
}

/* ---- results ---- */

static float *
result_row(const Coarsen *c, int row)
{
  return c->worker->results + (row - c->first[CNV_Y]) % RESULTS * c->stride;
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
spread_along(const Coarsen *c, float *to, const float *results)
{
  const CpuSimd *simd = c->tile->frame->simd;
  const CpuCoarse *coarse = &c->coarse[CNV_X];
  int n = c->n - CNV_CPU_BLENDED + 1;

  for (int i = 0; i < coarse->step; i++) {
    CpuStep step[CNV_CPU_BLENDED];
    int n_steps = steps_back(coarse, i, c->channels, step);

    simd->steps(c->worker->turned + i * c->blended_stride, &results, n * c->channels, step, n_steps);
  }
  simd->coarse->join(to, c->worker->turned, c->blended_stride, n, coarse->step, c->channels);
}

/* Makes and stores row y of the tile. */
static void
store(const Coarsen *c, int y)
{
  const CpuTile *tile = c->tile;
  const CpuCoarse *x = &c->coarse[CNV_X], *coarse = &c->coarse[CNV_Y];
  int before = tile->first - x->step * c->first[CNV_X] - (x->step > 1 ? x->step : 0);
  const float *rows[CNV_CPU_BLENDED];
  CpuStep step[CNV_CPU_BLENDED];
  int n_steps = steps_back(coarse, y % coarse->step, 0, step);

  for (int m = 0; m < CNV_CPU_BLENDED; m++)
    rows[m] = result_row(c, y / coarse->step - 1 + m) + (gsize)before * c->channels;
  tile->frame->simd->steps(c->worker->term[0].acc, rows, cnv_cpu_samples(tile), step, n_steps);
  cnv_cpu_store_row(c->worker, tile, y, cnv_cpu_combine(c->worker, tile, y, 0));
}

/* Makes rows of results from number `row` on. */
static void
make_results(Coarsen *c, CpuTermState *state, int row)
{
  const CpuCoarse *y = &c->coarse[CNV_Y];
  const CpuTaps taps = {y->tap + CNV_CPU_ROWS - 1, 1, 2 * y->radius + 1};
  gboolean spread = c->coarse[CNV_X].step > 1;
  float *to = spread ? c->worker->squares : result_row(c, row);

  c->tile->frame->simd->column(to, spread ? c->blended_stride : c->stride, small_rows(c, state, row),
                               c->n * c->channels, &taps);
  for (int i = 0; i < CNV_CPU_ROWS && spread; i++)
    spread_along(c, result_row(c, row + i), to + i * c->blended_stride);
}

/* ---- tiles ---- */

/* From -1 - radius on, as for a tile that begins with the frame. */
int
cnv_cpu_small_rows(const CpuCoarse *y, int height)
{
  int results = (height - 1) / y->step + 2 + 1 + 1; /* from -1 on */

  return cnv_divide_up(results, CNV_CPU_ROWS) * CNV_CPU_ROWS + CNV_CPU_ROWS + 2 * y->radius;
}

static void
make_small_rows(Coarsen *c)
{
  const CpuTile *tile = c->tile;
  float **rows = tile->plane->small + tile->first / tile->plane->small_width * tile->plane->small_rows;
  int before = c->coarse[CNV_Y].radius + 1;

  c->group = tile->top - before - 2;
  for (int i = tile->top; i < tile->bottom; i++)
    make_small_row(c, i - before, rows[i]);
}

void
cnv_cpu_coarsen(CpuWorker *worker, const CpuTile *tile)
{
  const CpuPlane *plane = tile->plane;
  const CpuCoarse *x = &plane->few[CNV_X], *y = &plane->few[CNV_Y];
  int left = tile->first / x->step - 1, top = tile->top / y->step - 1;
  Coarsen c = {worker, tile, plane->few, plane->from->channels, {left, top}, (tile->last - 1) / x->step + 3 - left};
  int at = tile->top;

  c.stride = plane->coarse_stride;
  c.blended_stride = plane->blended_stride;
  c.group = top - y->radius - 2;
  c.columns = (CpuColumns){worker, tile, x->step * (left - x->radius - 2), x->step * (c.n + 2 * x->radius + 3)};
  cnv_cpu_columns_choose(&c.columns);
  memset(worker->blended, 0, CNV_CPU_BLENDED * c.stride * sizeof(float));
  if (tile->small == CNV_CPU_SMALL_MADE) {
    make_small_rows(&c);
    return;
  }
  for (int row = top; at < tile->bottom; row += CNV_CPU_ROWS) {
    make_results(&c, &worker->term[0], row);
    for (; at < tile->bottom && at / y->step + 2 < row + CNV_CPU_ROWS; at++)
      store(&c, at);
  }
}
