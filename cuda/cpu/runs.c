/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Taps that are all alike along an axis, as a box has them: sums that hardly cost more for many taps than for few.
 */
#include "cpu/tile.h"

#define RUN_LEAST 16  /* taps; below it weighing each is as fast */
#define RUN_OUTSIDE 2 /* taps at most outside it, which are weighed each */

CnvCpuRun
cnv_cpu_run_of(const float *taps, int n)
{
  CnvCpuRun longest = {0, 0};

  for (int first = 0, end; first < n; first = end) {
    end = first + 1;
    while (end < n && taps[end] == taps[first])
      end++;
    if (end - first > longest.n)
      longest = (CnvCpuRun){first, end - first};
  }
  return longest.n >= RUN_LEAST && n - longest.n <= RUN_OUTSIDE ? longest : (CnvCpuRun){0, 0};
}

/* The sums as they are before the first row of output. */
static void
start_sums(double *sum, const float *const *rows, int n_rows, int n)
{
  memset(sum, 0, n * sizeof(double));
  for (int k = 0; k < n_rows; k++)
    for (int i = 0; i < n; i++)
      sum[i] += rows[k][i];
}

void
cnv_cpu_slide(const CnvCpuSimd *simd, const CpuPlane *plane, const CpuTerm *term, CpuStream *stream,
              const float *const *rows, int y, int n)
{
  CnvCpuRun run = term->run[CNV_Y];
  const float *taps = plane->plan->taps + term->set->axis[CNV_Y];
  float *acc = stream->acc;

  if (y == 0)
    start_sums(stream->sliding, rows + run.first, run.n - 1, n);
  for (int i = 0; i < plane->rows; i++, rows++, acc += plane->acc_stride) {
    simd->slide(acc, stream->sliding, rows[run.first + run.n - 1], rows[run.first], taps[run.first], n);
    for (int t = 0; t < run.first; t++)
      simd->add_weighed(acc, rows[t], taps[t], n);
    for (int t = run.first + run.n; t < term->set->n[CNV_Y]; t++)
      simd->add_weighed(acc, rows[t], taps[t], n);
  }
}
