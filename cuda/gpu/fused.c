/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The kind fused (fused.cuh): both passes of separable taps in float32, with taps in constant memory.
 */
#include <math.h>

#include "gpu/variants.h"

/* fused counts in units of 2^-64 and 2^-149 of a level: taps and gains further from 1 than this would leave the range
 * of float32. */
#define RANGE 1099511627776.0 /* 2^40 */

/* Most samples that taps reach to either side; a tile's outputs are the rest of its width. */
#define REACH_MAX 96

#define FUSED(bits)                                                                                                    \
  {                                                                                                                    \
    "fused_u" #bits, .bytes = (bits) / 8, .reach = REACH_MAX, .rows = G_MAXINT, .terms = 1,                            \
                     .pitch = CNV_FUSED_LOADED * (bits) / 8, .tile_rows = CNV_FUSED_TILE_ROWS                          \
  }
static const CnvVariant variants[] = {FUSED(8), FUSED(16), {NULL}};

/* Returns TRUE if a value is in the range of fused. 0 is, and it is exact. */
static gboolean
is_in_range(double value)
{
  return value == 0 || (fabs(value) < RANGE && fabs(value) > 1 / RANGE);
}

/* Returns the sum of the magnitudes along an axis of the plane's only term. */
static double
magnitude_of(const CnvPlan *plan, const CnvPlane *plane, int axis)
{
  const float *taps = plan->taps + plane->term[0].taps[axis];
  double sum = 0;

  for (int i = 0; i < plane->term[0].n[axis]; i++)
    sum += fabs(taps[i]);
  return sum;
}

static gboolean
fits(const CnvPlan *plan, const CnvPlane *plane, CnvNeeds *needs, GError **error)
{
  const CnvTerm *set = &plane->term[0];

  if (!cnv_fit_samples(plane, error) || !cnv_fit_one_term(plan, plane, error))
    return FALSE;
  if (!is_in_range(plane->gain[cnv_fit_first_channel(plane)]) || !is_in_range(plan->temporal_magnitude) ||
      !is_in_range(magnitude_of(plan, plane, CNV_X)) || !is_in_range(magnitude_of(plan, plane, CNV_Y)))
    return cnv_unsupported(error, "the filter's taps are too large or too small for it");
  *needs = (CnvNeeds){.bytes = plane->component[0].bytes,
                      .reach = cnv_fit_reach(set, CNV_X) * plane->channels,
                      .rows = set->n[CNV_Y],
                      .terms = 1,
                      .n_frames = plan->n_temporal_taps};
  return (set->n[CNV_X] <= CNV_FUSED_MAX_TAPS && set->n[CNV_Y] <= CNV_FUSED_MAX_TAPS &&
          cnv_variant_find(&cnv_kind_fused, needs)) ||
         cnv_unsupported(error, "%dx%d taps, %d channels and %d frames are more than its tiles hold", set->n[CNV_X],
                         set->n[CNV_Y], plane->channels, needs->n_frames);
}

static void
set_job(CnvPlaneKernel *plane_kernel, GArray *words, const float *weight)
{
  CnvTileJob *job = &plane_kernel->tile_job;
  int bytes = cnv_fit_reach(&job->term, CNV_X) * job->channels * plane_kernel->needs.bytes;

  job->top = job->term.anchor[CNV_Y];
  job->lead = CNV_TILE_APRON(bytes) / plane_kernel->needs.bytes;
}

/* Returns a cost by the number of groups of eight taps along each axis. 4K GRAY8: 1 group takes 24.0 us, 2 32.4, 4
 * 47.8, 8 89.5; GRAY16 2.6 more. 4K NV12, r=0: 3 frames take 36.5, 5 54.9. */
static double
cost(const CnvPlan *plan, const CnvPlane *plane, const CnvNeeds *needs, const CnvVariant *variant)
{
  const CnvTerm *term = &plane->term[0];

  return 1.6 + 0.55 * (CNV_FUSED_GROUPS(term->n[CNV_X]) + CNV_FUSED_GROUPS(term->n[CNV_Y])) +
         0.7 * (needs->n_frames - 1) + 0.3 * (needs->bytes - 1);
}

static int
box_rows(const CnvVariant *variant, const CnvNeeds *needs, int rows)
{
  return rows + 8 * CNV_FUSED_GROUPS(needs->rows);
}

const CnvKernelKind cnv_kind_fused = {"fused",
                                      CNV_ALGORITHM_FUSED,
                                      32 * CNV_TILE_WARPS,
                                      1,
                                      .capability = 70,
                                      .fits = fits,
                                      .cost = cost,
                                      .shared_max = CNV_SHARED_MAX_FUSED,
                                      .shared_over_time = 40 * 1024,
                                      .variants = variants,
                                      .set_job = set_job,
                                      .box_rows = box_rows};
