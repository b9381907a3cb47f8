/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Composites a row of sums over the input by the coverage of its job.
 */
#include "cpu/cpu.h"

/* Pixels of a row whose weights are compared at once. */
#define RUN 32

int
cnv_cpu_common_weight(const guint8 *weights, int n)
{
  guint64 least = G_MAXUINT64, most = 0, eight;

  for (; n >= (int)sizeof eight; n -= (int)sizeof eight, weights += sizeof eight) {
    memcpy(&eight, weights, sizeof eight);
    least &= eight;
    most |= eight;
  }
  for (; n > 0; n--, weights++) {
    least &= *weights == CNV_WEIGHT_ONE ? G_MAXUINT64 : 0;
    most |= *weights;
  }
  return most == 0 ? 0 : least == G_MAXUINT64 ? CNV_WEIGHT_ONE : -1;
}

/* Stores the pixels of a run that have a weight above 0. */
static void
store_weighted(CpuWorker *worker, const CpuTile *run, int from, const float *acc, const guint8 *weights)
{
  int n = run->last - run->first;
  CpuTile part = *run;

  for (int first = 0, end; first < n; first = end) {
    for (end = first + 1; end < n && (weights[end] == 0) == (weights[first] == 0);)
      end++;
    if (weights[first] == 0)
      continue;
    part.first = run->first + first;
    part.last = run->first + end;
    cnv_cpu_store_part(worker, &part, from + first, acc + first * run->plane->from->channels, weights + first);
  }
}

void
cnv_cpu_store_row(CpuWorker *worker, const CpuTile *tile, int y, const float *acc)
{
  int n = tile->last - tile->first, channels = tile->plane->from->channels;
  const CnvFormat *format = tile->plane->plan->image.format;
  /* Pixels of weight 0 must not be stored if another job may write them, or if they have padding bits: the copy kept
   * those, and a store would clear them. */
  gboolean leave_out = tile->job->shared || format->depth < 8 * format->sample_bytes;
  const guint8 *weights;
  CpuTile part = *tile;

  if (tile->plane->of_weights) {
    const CnvPlane *given = tile->plane->given;

    tile->frame->simd->norms(cnv_cpu_norms(tile, y), acc, n, given->alpha_norm, given->alpha_epsilon * CNV_WEIGHT_ONE);
    return;
  }
  part.top = y;
  if (tile->job->coverage_pitch == 0) {
    cnv_cpu_store_part(worker, &part, 0, acc, NULL);
    return;
  }
  weights = cnv_job_weights(tile->job, tile->frame->coverage, tile->first, y);
  for (int from = 0, end; from < n; from = end) {
    int weight = cnv_cpu_common_weight(weights + from, MIN(RUN, n - from));

    for (end = from + RUN; end < n && cnv_cpu_common_weight(weights + end, MIN(RUN, n - end)) == weight;)
      end += RUN;
    end = MIN(end, n);
    part.first = tile->first + from;
    part.last = tile->first + end;
    if (weight == CNV_WEIGHT_ONE)
      cnv_cpu_store_part(worker, &part, from, acc + from * channels, NULL);
    else if (weight != 0 && leave_out)
      store_weighted(worker, &part, from, acc + from * channels, weights + from);
    else if (weight != 0)
      cnv_cpu_store_part(worker, &part, from, acc + from * channels, weights + from);
  }
}
