/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Runs a method on a tile, in the memory of a thread, and moves a ring of rows down it for each term.
 */
#include "cpu/cpu.h"

/* Fills a term's ring with its next row. Above and below the frame a row is often the same as the one before. */
static void
fill_ring(CpuWorker *worker, const CpuTile *tile, int t, const CpuRing *ring)
{
  const CpuTerm *term = &tile->plane->term[t];
  CpuTermState *state = &worker->term[t];
  int k = state->filled++, y = cnv_cpu_source(tile, CNV_Y, tile->top - term->from->anchor[CNV_Y] + k - ring->above);
  float *to = state->ring + k % term->slots * term->ring_stride;

  if (ring->repeats && k > 0 && y == state->previous)
    memcpy(to, state->ring + (k - 1) % term->slots * term->ring_stride, term->ring_stride * sizeof(float));
  else
    ring->enter(worker, tile, t, k, y, to);
  state->previous = y;
}

void
cnv_cpu_ring_run(CpuWorker *worker, const CpuTile *tile, const CpuRing *ring)
{
  for (int y = tile->top; y < tile->bottom; y += CNV_CPU_ROWS) {
    for (int t = 0; t < tile->plane->from->n_terms; t++) {
      const CpuTerm *term = &tile->plane->term[t];

      while (worker->term[t].filled < y - tile->top + term->slots)
        fill_ring(worker, tile, t, ring);
      ring->sum(worker, tile, t, y, worker->term[t].rows + (y - tile->top) % term->slots);
    }
    for (int i = 0; i < CNV_CPU_ROWS && y + i < tile->bottom; i++)
      cnv_cpu_store_row(worker, tile, y + i, cnv_cpu_combine(worker, tile, y + i, i));
  }
}

gsize
cnv_cpu_worker_lay_out(CpuWorker *worker, const CpuPlane *plane)
{
  CpuArena arena = {worker->block, 0};
  gsize samples = plane->widest;

  worker->line = cnv_cpu_take(&arena, plane->line_length, sizeof(float));
  worker->scratch = cnv_cpu_take(&arena, plane->line_length, sizeof(float));
  if (plane->weighed || plane->of_weights) {
    worker->bytes = cnv_cpu_take(&arena, MAX(plane->line_length, CNV_CPU_CHUNK), 1);
    worker->spread = cnv_cpu_take(&arena, MAX(plane->line_length, CNV_CPU_CHUNK), 1);
  }
  worker->unfiltered = cnv_cpu_take(&arena, samples, 1);
  if (plane->plan->threshold != 0)
    worker->averages = cnv_cpu_take(&arena, CNV_CPU_AVERAGE_ROWS(plane->plan->n_temporal_taps) * CNV_CPU_AVERAGE_STRIDE,
                                    sizeof(float));
  for (int t = 0; t < plane->from->n_terms; t++) {
    const CpuTerm *term = &plane->term[t];
    CpuTermState *state = &worker->term[t];

    state->ring = cnv_cpu_take(&arena, term->slots * term->ring_stride, sizeof(float));
    state->rows = cnv_cpu_take(&arena, 2 * term->slots, sizeof(float *));
    state->acc = cnv_cpu_take(&arena, plane->acc_rows * plane->acc_stride, sizeof(float));
    state->factor = cnv_cpu_take(&arena, samples, sizeof(float));
    state->sums = cnv_cpu_take(&arena, term->from->n[CNV_X] + 1, sizeof(double));
  }
  if (plane->method->lay_out)
    plane->method->lay_out(worker, plane, &arena);
  if (plane->large && plane->large->lay_out)
    plane->large->lay_out(worker, plane, &arena);
  return arena.used;
}

static void
start_terms(CpuWorker *worker, const CpuTile *tile)
{
  const CpuPlane *plane = tile->plane;

  cnv_cpu_worker_lay_out(worker, plane);
  worker->scaled = FALSE;
  worker->n_sums = plane->from->n_terms;
  for (int t = 0; t < plane->from->n_terms; t++) {
    CpuTermState *state = &worker->term[t];
    int slots = plane->term[t].slots;

    state->temporal_sum = (float)cnv_cpu_temporal_sum(tile, &plane->from->term[t]);
    state->filled = 0;
    state->previous = -1;
    state->rows_found = (CpuTapRange){-1, -1};
    for (int slot = 0; slot < 2 * slots; slot++)
      state->rows[slot] = state->ring + slot % slots * plane->term[t].ring_stride;
  }
}

void
cnv_cpu_tile_run(CpuWorker *worker, const CpuTile *tile)
{
  int rows = tile->plane->tallest > 0 ? tile->plane->tallest : tile->bottom - tile->top;
  CpuTile part = *tile;

  for (; part.top < tile->bottom; part.top = part.bottom) {
    part.bottom = MIN(part.top + rows, tile->bottom);
    if (tile->plane->widest > 0)
      start_terms(worker, &part);
    tile->method->run(worker, &part);
  }
}
