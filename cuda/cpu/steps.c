/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Dense taps as steps: down a column of a disk's taps most are alike, so that with sums of all rows of samples so far
 * at hand only those count that differ from the tap above them.
 */
#include "cpu/cpu.h"

#define SUM_MOST 524288  /* of a column, twice: 64 times as much is exact in float32 */
#define SUMMED_LEAST 100 /* dense taps */
#define RESTART 128      /* rows: few beside those that a tile makes, many beside those of the taps */

/* By the column, so that sums stay small. */
int
cnv_cpu_steps_of(const CnvPlan *plan, const CnvTerm *term, int channels, CpuStep *steps)
{
  int n = 0, height = term->n[CNV_Y];

  for (int x = 0; x < term->n[CNV_X]; x++)
    for (int y = 0; y <= height; y++) {
      double above = y > 0 ? cnv_plan_tap(plan, term, x, y - 1) : 0,
             here = y < height ? cnv_plan_tap(plan, term, x, y) : 0;

      if (above == here)
        continue;
      if (steps)
        steps[n] = (CpuStep){y, x * channels, (float)(above - here)};
      n++;
    }
  return n;
}

gboolean
cnv_cpu_find_steps(CpuPlane *plane)
{
  const CnvPlane *from = plane->from;
  int most_rows = (int)(SUM_MOST / (from->full[0] + 1));

  if (!plane->dense || cnv_cpu_divides(plane) || plane->plan->n_temporal_taps > 1)
    return FALSE;
  for (int t = 0; t < from->n_terms; t++) {
    CpuTerm *term = &plane->term[t];
    int taps = from->term[t].n[CNV_X] * from->term[t].n[CNV_Y];

    term->n_steps = cnv_cpu_steps_of(plane->plan, term->from, from->channels, NULL);
    if (taps < SUMMED_LEAST || CNV_CPU_STEP_PRODUCTS * term->n_steps > taps || 3 * term->slots > most_rows)
      return FALSE;
  }
  for (plane->restart[CNV_Y] = RESTART; plane->restart[CNV_Y] > most_rows - plane->slots;)
    plane->restart[CNV_Y] /= 2;
  return plane->restart[CNV_Y] > 0;
}
