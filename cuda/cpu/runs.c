/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Runs of taps that are all alike along an axis, as a box has them: their sums hardly cost more for many taps than for
 * few.
 */
#include "cpu/cpu.h"

#include <string.h>

#define RUN_LEAST 16  /* taps; below it multiplying each is as fast */
#define RUN_OUTSIDE 2 /* taps at most outside it, each of which is multiplied */

CpuTapRange
cnv_cpu_run_of(const float *taps, int n)
{
  CpuTapRange longest = {0, 0};

  for (int first = 0, end; first < n; first = end) {
    end = first + 1;
    while (end < n && taps[end] == taps[first])
      end++;
    if (end - first > longest.n)
      longest = (CpuTapRange){first, end - first};
  }
  return longest.n >= RUN_LEAST && n - longest.n <= RUN_OUTSIDE ? longest : (CpuTapRange){0, 0};
}

void
cnv_cpu_slide(const CpuTile *tile, const CpuTerm *term, CpuTermState *state, const float *const *rows, int y, int n)
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
