/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Taps in time: the taps of a filter, and the frames of the history that they read.
 */
#include <math.h>

#include "plan/kernel.h"
#include "plan/plan.h"

const CnvNick cnv_temporal_border_nicks[] = {
    {CNV_TEMPORAL_RENORMALIZE, "renormalize",
     "Missing frames are left out; the remaining taps are scaled to the same sum"},
    {CNV_TEMPORAL_REPLICATE, "replicate", "aaaa|abcd|dddd: the first or last frame is repeated"},
    {CNV_TEMPORAL_REFLECT, "reflect", "dcba|abcd|dcba: mirrored, with the first or last frame repeated"},
    {0, NULL, NULL},
};

/* Stores the taps in time of a 3D kernel or kernel-t. Returns their number, or 0 with an error. */
static int
given_taps(const CnvFilter *filter, double weight[CNV_MAX_TEMPORAL_TAPS], GError **error)
{
  const gboolean volume = cnv_filter_is_volume(filter);
  const int n = volume ? filter->kernel->depth : filter->kernel_t->width;
  double given[CNV_MAX_TEMPORAL_TAPS];
  int frame;

  if (volume && (filter->kernel_t || filter->temporal_radius > 0))
    return cnv_refuse(error, "kernel has %d frames and %s is set too: a 3D kernel has its own taps in time; set %s", n,
                      filter->kernel_t ? "kernel-t" : "temporal-radius",
                      filter->kernel_t ? "kernel-t to <>" : "temporal-radius to 0");
  if (n > CNV_MAX_TEMPORAL_TAPS)
    return cnv_refuse(error, "%d taps in time exceed %d: shorten the kernel in time", n, CNV_MAX_TEMPORAL_TAPS);
  if (!volume && !cnv_taps_check(filter->kernel_t, "kernel-t", error))
    return 0;
  if (volume && !cnv_taps_split_time(filter->kernel, given, &frame))
    for (int k = 0; k < n; k++)
      given[k] = 1;
  for (int k = 0; k < n; k++) {
    int from = filter->flip ? n - 1 - k : k;

    weight[k] = volume ? given[from] : filter->kernel_t->value[from];
  }
  return n;
}

static int
gaussian_taps(const CnvFilter *filter, double weight[CNV_MAX_TEMPORAL_TAPS], GError **error)
{
  const int r = filter->temporal_radius, n = filter->causal ? r + 1 : 2 * r + 1;
  const double sigma = filter->temporal_sigma > 0 ? filter->temporal_sigma : 0.3 * (r - 1) + 0.8;
  double sum = 0;

  if (r < 0 || r > CNV_TEMPORAL_RADIUS_MAX || !isfinite(sigma))
    return cnv_refuse(error, "temporal-radius %d, temporal-sigma %g: set a radius of 0 to %d", r, sigma,
                      CNV_TEMPORAL_RADIUS_MAX);
  for (int k = 0; k < n; k++)
    sum += weight[k] = r == 0 ? 1 : exp(-0.5 * (k - r) * (k - r) / (sigma * sigma));
  /* The weights are normalised here, so that they keep the strength of a derivative in the picture, whose taps have no
   * sum to divide by. */
  for (int k = 0; k < n; k++)
    weight[k] /= sum;
  return n;
}

int
cnv_filter_temporal_taps(const CnvFilter *filter, double weight[CNV_MAX_TEMPORAL_TAPS], int *anchor, GError **error)
{
  const gboolean given = cnv_filter_is_volume(filter) || filter->kernel_t;
  int n = given ? given_taps(filter, weight, error) : gaussian_taps(filter, weight, error);

  if (n > 0 && filter->type == CNV_FILTER_FILL) { /* fill reads no frame */
    weight[0] = 1;
    n = 1;
  }
  *anchor = filter->causal ? n - 1 : (n - 1) / 2;
  return n;
}

/* Adds a weight to the tap of a slot, or appends a tap. Returns the number of taps. */
static guint
add_frame(CnvTemporalTap *temporal_tap, guint n, int slot, double weight)
{
  for (guint i = 0; i < n; i++)
    if (temporal_tap[i].slot == slot) {
      temporal_tap[i].weight += (float)weight;
      return n;
    }
  temporal_tap[n] = (CnvTemporalTap){slot, (float)weight};
  return n + 1;
}

guint
cnv_temporal_taps_make(const CnvPlan *plan, const int *slot, CnvTemporalBorder border, CnvTemporalTap *temporal_tap)
{
  static const CnvBorder borders[] = {[CNV_TEMPORAL_RENORMALIZE] = CNV_BORDER_RENORMALIZE,
                                      [CNV_TEMPORAL_REPLICATE] = CNV_BORDER_REPLICATE,
                                      [CNV_TEMPORAL_REFLECT] = CNV_BORDER_REFLECT};
  int first = 0, last = plan->n_temporal_taps - 1;
  double all = 0, found = 0, scale = 1;
  guint n = 0;

  g_return_val_if_fail(slot[plan->center] >= 0, 0);
  while (slot[first] < 0)
    first++;
  while (slot[last] < 0)
    last--;
  for (int k = 0; k < plan->n_temporal_taps; k++) {
    all += plan->temporal_sum[k];
    found += k >= first && k <= last ? plan->temporal_sum[k] : 0;
  }
  if (border == CNV_TEMPORAL_RENORMALIZE && last - first + 1 < plan->n_temporal_taps)
    scale = fabs(found) > CNV_FOUND_ZERO * plan->temporal_magnitude ? all / found : 0;
  for (int k = 0; k < plan->n_temporal_taps; k++) {
    int from = cnv_border_index(borders[border], k - first, last - first + 1); /* index from the first frame that
                                                                                  exists */

    if (plan->not_time_separable)
      temporal_tap[n++] = (CnvTemporalTap){from < 0 ? -1 : slot[first + from], (float)scale};
    else if (from >= 0)
      n = add_frame(temporal_tap, n, slot[first + from], plan->weight[k] * scale);
  }
  return n;
}
