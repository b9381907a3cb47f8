/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The work of one thread on one tile. For each term a ring of rows runs down it, of row-filtered ones for separable
 * taps, of loaded ones for dense taps.
 */
#include "cpu/cpu.h"

/* The sums above a tile's first row of taps. */
static void
start_sums(CpuWorker *worker, const CpuTile *tile, int t, float *to)
{
  const CnvTerm *term = tile->plane->term[t].from;
  int n = cnv_cpu_samples(tile) + (term->n[CNV_X] - 1) * tile->plane->from->channels;

  memset(to, 0, tile->plane->term[t].ring_stride * sizeof(float));
  for (int y = cnv_cpu_origin(tile, CNV_Y); y < tile->top; y++) {
    cnv_cpu_load_row(worker, tile, t, cnv_cpu_source(tile, CNV_Y, y - term->anchor[CNV_Y]), worker->line);
    tile->frame->simd->add_scaled(to, worker->line, 1, n);
  }
}

/* The next row of a ring of sums: those of the row before and one more row. */
static void
sum_row(CpuWorker *worker, const CpuTile *tile, int t, int k, float *to)
{
  const CpuTerm *term = &tile->plane->term[t];
  const float *before = worker->term[t].ring + (k + term->slots - 1) % term->slots * term->ring_stride;
  int y = tile->top - term->from->anchor[CNV_Y] + k - 1;

  if (k == 0) {
    start_sums(worker, tile, t, to);
    return;
  }
  cnv_cpu_load_row(worker, tile, t, cnv_cpu_source(tile, CNV_Y, y), to);
  tile->frame->simd->add_scaled(to, before, 1, (int)term->ring_stride);
}

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
  int n = cnv_cpu_samples(tile);
  float *to = state->ring + k % term->slots * term->ring_stride;

  if (tile->plane->summed) {
    sum_row(worker, tile, t, k, to);
  } else if (k > 0 && y == state->previous) {
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
    slide(tile, term, state, rows, y - tile->top, cnv_cpu_samples(tile));
  else if (plane->summed)
    for (int i = 0; i < CNV_CPU_ROWS; i++)
      simd->steps(state->acc + i * plane->acc_stride, rows + i, cnv_cpu_samples(tile), term->steps, term->n_steps);
  else
    (plane->dense ? simd->dense : simd->column)(state->acc, plane->acc_stride, rows, cnv_cpu_samples(tile), taps);
}

static void
start_terms(CpuWorker *worker, const CpuTile *tile)
{
  const CpuPlane *plane = tile->plane;

  cnv_cpu_worker_lay_out(worker, plane);
  worker->scaled = FALSE;
  for (int t = 0; t < plane->from->n_terms; t++) {
    CpuTermState *state = &worker->term[t];
    int slots = plane->term[t].slots;

    state->temporal_sum = plane->of_weights ? 1 : (float)cnv_cpu_temporal_sum(tile, &plane->from->term[t]);
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
    const float *acc = cnv_cpu_combine(worker, tile, y, 0);

    for (; y < end; y++)
      cnv_cpu_store_row(worker, tile, y, acc);
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
  if (plane->in_16_bits) {
    cnv_cpu_fix(worker, tile);
    return;
  }
  if (plane->coarse) {
    cnv_cpu_coarsen(worker, tile);
    return;
  }
  if (tile->middle) {
    cnv_cpu_fft_run(worker, tile);
    return;
  }
  if (plane->sliding) {
    cnv_cpu_slide(worker, tile);
    return;
  }
  for (int y = tile->top; y < tile->bottom; y += CNV_CPU_ROWS) {
    for (int t = 0; t < plane->from->n_terms; t++)
      filter_term(worker, tile, t, y);
    for (int i = 0; i < CNV_CPU_ROWS && y + i < tile->bottom; i++)
      cnv_cpu_store_row(worker, tile, y + i, cnv_cpu_combine(worker, tile, y + i, i));
  }
}
