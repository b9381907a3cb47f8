/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The work of one thread on one tile. For each term a ring of rows runs down it, of row-filtered ones for separable
 * taps, of loaded ones for dense taps; then the terms' sums become one, and that becomes samples. Rows of plain planes
 * are read and written by vector code, others component by component.
 */
#include "cpu/cpu.h"

#include <math.h>

#include "plan/component.h"

static int
samples_of(const CpuTile *tile)
{
  return (tile->last - tile->first) * tile->plane->from->channels;
}

/* ---- from samples to sums ---- */

/* Fills a term's ring with its next row. Below and above a plane the same row often comes again, and is then not
 * filtered again. */
static void
fill_ring(CpuWorker *worker, const CpuTile *tile, int t)
{
  const CpuSimd *simd = tile->frame->simd;
  const CpuTerm *term = &tile->plane->term[t];
  const CpuTaps *taps = &term->taps[CNV_X];
  CpuTermState *state = &worker->term[t];
  int k = state->filled++, y = cnv_cpu_source(tile, CNV_Y, tile->top - term->from->anchor[CNV_Y] + k);
  int n = samples_of(tile);
  float *to = state->ring + k % term->slots * term->ring_stride;

  if (k > 0 && y == state->previous) {
    memcpy(to, state->ring + (k - 1) % term->slots * term->ring_stride, term->ring_stride * sizeof(float));
  } else if (tile->plane->dense) {
    cnv_cpu_load_row(worker, tile, t, y, to);
  } else {
    cnv_cpu_load_row(worker, tile, t, y, worker->line);
    if (taps->run.n)
      simd->row_by_sums(to, worker->line, n, taps);
    else
      simd->row(to, worker->line, n, taps);
  }
  state->previous = y;
}

/* Sums of a term that has a run down the rows, for CNV_CPU_ROWS rows of a tile from number y on, in order from 0 on.
 * They hardly cost more for many taps than for few. rows: as for CpuSimd.column; n: samples of a row. */
static void
slide(const CpuTile *tile, const CpuTerm *term, CpuTermState *state, const float *const *rows, int y, int n)
{
  const CpuSimd *simd = tile->frame->simd;
  CpuTapRange run = term->taps[CNV_Y].run;
  const float *tap = term->taps[CNV_Y].tap;
  float *acc = state->acc;

  if (y == 0) {
    memset(state->sliding, 0, n * sizeof(double));
    for (int k = run.first; k < run.first + run.n - 1; k++)
      for (int i = 0; i < n; i++)
        state->sliding[i] += rows[k][i];
  }
  for (int row = 0; row < CNV_CPU_ROWS; row++, rows++, acc += tile->plane->acc_stride) {
    simd->slide(acc, state->sliding, rows[run.first + run.n - 1], rows[run.first], tap[run.first], n);
    for (int k = 0; k < run.first; k++)
      simd->add_scaled(acc, rows[k], tap[k], n);
    for (int k = run.first + run.n; k < term->taps[CNV_Y].height; k++)
      simd->add_scaled(acc, rows[k], tap[k], n);
  }
}

/* Sums of term t for the next CNV_CPU_ROWS rows of output. */
static void
filter_term(CpuWorker *worker, const CpuTile *tile, int t, int y)
{
  const CpuSimd *simd = tile->frame->simd;
  const CpuPlane *plane = tile->plane;
  const CpuTerm *term = &plane->term[t];
  const CpuTaps *taps = &term->taps[CNV_Y];
  CpuTermState *state = &worker->term[t];
  const float *const *rows = state->rows + (y - tile->top) % term->slots;

  while (state->filled < y - tile->top + term->slots)
    fill_ring(worker, tile, t);
  if (taps->run.n)
    slide(tile, term, state, rows, y - tile->top, samples_of(tile));
  else
    (plane->dense ? simd->dense : simd->column)(state->acc, plane->acc_stride, rows, samples_of(tile), taps);
}

/* Colours become means weighted by alpha; where there is none, the pixel is marked. */
static void
divide_by_weight(CpuWorker *worker, const CpuTile *tile, float *acc)
{
  const CnvPlane *plane = tile->plane->from;
  int channels = plane->channels, w = plane->weight;
  float epsilon = plane->alpha_epsilon * plane->full[w], norm = plane->alpha_norm;
  guint8 *unfiltered = worker->unfiltered;

  for (int i = 0; i < tile->last - tile->first; i++, acc += channels) {
    float weight = acc[w], factor = norm / weight;

    unfiltered[i] = fabsf(weight) <= epsilon;
    if (unfiltered[i])
      continue;
    for (int c = 0; c < channels; c++)
      acc[c] *= factor;
    acc[w] = weight;
  }
}

/* a of plan.h for row number i of those that filter_term made. */
static const float *
combine(CpuWorker *worker, const CpuTile *tile, int y, int i)
{
  const CpuPlane *plane = tile->plane;
  const CpuSimd *simd = tile->frame->simd;
  gboolean magnitude = plane->from->combine == CNV_COMBINE_MAGNITUDE;
  gsize row = i * plane->acc_stride;
  float *acc = worker->term[0].acc + row;
  int n = samples_of(tile);

  if (cnv_border_renormalizes(plane->from->border))
    cnv_cpu_renormalize(worker, tile, y);
  for (int t = 1; t < plane->from->n_terms && !magnitude; t++)
    simd->add_scaled(acc, worker->term[t].acc + row, 1, n);
  if (plane->from->weight >= 0 && !magnitude)
    divide_by_weight(worker, tile, acc);
  for (int t = 0; worker->scaled && t < (magnitude ? 2 : 1); t++)
    simd->multiply(worker->term[t].acc + row, worker->term[t].factor, n);
  if (magnitude)
    simd->magnitude(acc, worker->term[1].acc + row, n);
  if (plane->from->combine == CNV_COMBINE_ABSOLUTE)
    simd->absolute(acc, plane->mid_bias, n);
  return acc;
}

/* ---- from sums to samples ---- */

/* A component of pixels that stand in a row. */
typedef struct {
  const float *acc;         /* of the component of the first pixel */
  const float *weight;      /* of each pixel; NULL: all 1 */
  const guint8 *unfiltered; /* pixels whose input stands; NULL: none */
  const guint8 *source;     /* input where it is filtered */
  const guint8 *in;         /* input where it is written */
  guint8 *out;
} Samples;

static inline void
store_component(const Samples samples, int n, const CnvPlane *plane, int c, int bytes)
{
  const CnvComponent component = plane->component[c];
  int channels = plane->channels, step = component.step;
  float base = plane->base[c], low = plane->lowest[c], high = plane->highest[c];
  float gain = plane->gain[c], fraction = plane->fraction[c];

  for (int i = 0; i < n; i++) {
    float v = gain * samples.acc[i * channels] + fraction;

    v = v > low ? v : low;
    v = v < high ? v : high;
    if (samples.unfiltered && samples.unfiltered[i])
      v = (float)cnv_component_get(samples.source + i * step, &component, bytes) - base;
    if (samples.weight)
      v += (1 - samples.weight[i]) * ((float)cnv_component_get(samples.in + i * step, &component, bytes) - base - v);
    cnv_component_put(samples.out + i * step, &component, bytes, (int)(v + (CNV_CPU_ROUND + base) - CNV_CPU_ROUND));
  }
}

/* Stores row y of a tile. weight: of each pixel, NULL where all are 1. */
static void
store_components(const CpuTile *tile, int y, const float *acc, const float *weight, const guint8 *unfiltered)
{
  const CpuFrame *frame = tile->frame;
  const CnvPlane *plane = tile->plane->from;
  const CnvRectJob *job = tile->job;
  int x = tile->first, to_x = x + job->move_x, to_y = y + job->move_y, n = tile->last - x;

  for (int c = 0; c < plane->channels; c++) {
    const CnvComponent *component = &plane->component[c];
    Samples samples = {.acc = acc + c,
                       .weight = weight,
                       .unfiltered = plane->weight >= 0 && c != plane->weight ? unfiltered : NULL,
                       .source = cnv_component_at(&frame->in, component, job, x, y),
                       .in = cnv_component_at(&frame->in, component, job, to_x, to_y),
                       .out = cnv_component_at(&frame->out, component, job, to_x, to_y)};

    if (!(plane->filtered >> c & 1))
      continue;
    if (component->bytes == 1)
      store_component(samples, n, plane, c, 1);
    else if (component->bytes == 2)
      store_component(samples, n, plane, c, 2);
    else
      store_component(samples, n, plane, c, 4);
  }
}

/* The weight of each sample, of n pixels. */
static const float *
sample_weights(const CpuWorker *worker, const float *weight, int n, int channels)
{
  float *to = worker->scratch;

  if (channels == 1)
    return weight;
  for (int i = 0; i < n; i++)
    for (int c = 0; c < channels; c++)
      *to++ = weight[i];
  return worker->scratch;
}

static void
store_plain(const CpuWorker *worker, const CpuTile *tile, int y, const float *acc, const float *weight)
{
  const CpuSimd *simd = tile->frame->simd;
  const CpuPlane *plane = tile->plane;
  const CnvComponent *component = &plane->from->component[0];
  const CnvRectJob *job = tile->job;
  int channels = plane->from->channels, pixels = tile->last - tile->first, n = pixels * channels;
  int x = tile->first + job->move_x, to_y = y + job->move_y;
  const guint8 *in = cnv_component_at(&tile->frame->in, component, job, x, to_y);
  guint8 *to = cnv_component_at(&tile->frame->out, component, job, x, to_y);

  if (weight)
    simd->blend(to, acc, sample_weights(worker, weight, pixels, channels), in, n, &plane->samples);
  else
    simd->store(to, acc, n, &plane->samples);
  if (plane->mask)
    simd->merge(to, in, plane->mask, n * component->bytes);
}

static gboolean
is_between(float weight)
{
  return weight < 1 && weight > 0;
}

/* Stores a row: runs of pixels that weigh 1, 0 or something between; or, where nobody else writes what weighs 0, all as
 * if it weighed something between. */
static void
store_row(CpuWorker *worker, const CpuTile *tile, int y, const float *acc)
{
  gboolean plain = tile->plane->from->plain, weighed = tile->job->n_mask_rects > 0, shared = FALSE;
  int n = tile->last - tile->first;
  float *weight = worker->weight;

  if (weighed)
    shared = tile->frame->simd->weigh_row(weight, tile->first, y, n, tile->job, tile->frame->masks, tile->frame->cells);
  if (plain && !shared) {
    store_plain(worker, tile, y, acc, weighed ? weight : NULL);
    return;
  }
  for (int from = 0, end; from < n; from = end) {
    const float *sums = acc + from * tile->plane->from->channels;
    CpuTile part = *tile;

    end = weighed ? from + 1 : n;
    while (end < n && (is_between(weight[from]) ? is_between(weight[end]) : weight[end] == weight[from]))
      end++;
    if (weighed && weight[from] <= 0)
      continue;
    part.first = tile->first + from;
    part.last = tile->first + end;
    if (plain)
      store_plain(worker, &part, y, sums, weighed && weight[from] < 1 ? weight + from : NULL);
    else
      store_components(&part, y, sums, weighed && weight[from] < 1 ? weight + from : NULL, worker->unfiltered + from);
  }
}

/* ---- the tile ---- */

static void
start_terms(CpuWorker *worker, const CpuTile *tile)
{
  const CpuPlane *plane = tile->plane;

  cnv_cpu_worker_lay_out(worker, plane);
  worker->scaled = FALSE;
  for (int t = 0; t < plane->from->n_terms; t++) {
    CpuTermState *state = &worker->term[t];
    int slots = plane->term[t].slots;

    state->temporal_taps = cnv_cpu_temporal_taps(tile, &plane->from->term[t]);
    state->temporal_sum = (float)cnv_cpu_temporal_sum(tile, &plane->from->term[t]);
    state->filled = 0;
    state->previous = -1;
    state->rows_found = (CpuTapRange){-1, -1};
    for (int slot = 0; slot < 2 * slots; slot++)
      state->rows[slot] = state->ring + slot % slots * plane->term[t].ring_stride;
  }
}

static void
run_mosaic(CpuWorker *worker, const CpuTile *tile)
{
  for (int y = tile->top; y < tile->bottom;) {
    int end = cnv_cpu_mosaic_means(worker, tile, y);
    const float *acc = combine(worker, tile, y, 0);

    for (; y < end; y++)
      store_row(worker, tile, y, acc);
  }
}

void
cnv_cpu_tile_run(CpuWorker *worker, const CpuTile *tile)
{
  const CpuPlane *plane = tile->plane;

  if (plane->from->algorithm == CNV_ALGORITHM_NAIVE) {
    cnv_cpu_naive(tile);
    return;
  }
  start_terms(worker, tile);
  if (plane->from->cell[CNV_X]) {
    run_mosaic(worker, tile);
    return;
  }
  for (int y = tile->top; y < tile->bottom; y += CNV_CPU_ROWS) {
    for (int t = 0; t < plane->from->n_terms; t++)
      filter_term(worker, tile, t, y);
    for (int i = 0; i < CNV_CPU_ROWS && y + i < tile->bottom; i++)
      store_row(worker, tile, y + i, combine(worker, tile, y + i, i));
  }
}
