/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * A row of taps times a column: the ring has rows that are filtered along x. Taps that are all alike, as a box has
 * them, are sums that slide.
 */
#include "cpu/cpu.h"

static void
enter(CpuWorker *worker, const CpuTile *tile, int t, int k, int y, float *to)
{
  const CpuSimd *simd = tile->frame->simd;
  const CpuTaps *taps = &tile->plane->term[t].taps[CNV_X];

  cnv_cpu_load_row(worker, tile, t, y, worker->line);
  if (taps->run.n)
    simd->row_by_sums(to, worker->line, cnv_cpu_samples(tile), taps);
  else
    simd->row(to, worker->line, cnv_cpu_samples(tile), taps);
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

static void
sum(CpuWorker *worker, const CpuTile *tile, int t, int y, const float *const *rows)
{
  const CpuTerm *term = &tile->plane->term[t];
  CpuTermState *state = &worker->term[t];
  int n = cnv_cpu_samples(tile);

  if (term->taps[CNV_Y].run.n)
    slide(tile, term, state, rows, y - tile->top, n);
  else
    tile->frame->simd->column(state->acc, tile->plane->acc_stride, rows, n, &term->taps[CNV_Y]);
}

static void
run(CpuWorker *worker, const CpuTile *tile)
{
  static const CpuRing ring = {.repeats = TRUE, .enter = enter, .sum = sum};

  cnv_cpu_ring_run(worker, tile, &ring);
}

const CpuMethod cnv_cpu_rows = {
    .name = "rows",
    .algorithm = CNV_ALGORITHM_SEPARABLE,
    .unit = 1,
    .cost = cnv_cpu_cost_of_taps,
    .shape = cnv_cpu_shape_rings,
    .run = run,
};
