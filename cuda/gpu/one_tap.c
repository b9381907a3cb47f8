/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The kind one_tap (one_tap.cuh): one tap per frame, in float32.
 */
#include "gpu/one_tap.h"

#include <math.h>

static const CnvVariant variants[] = {
    {"one_tap", .bytes = 1, .rows = 1, .terms = 1, .width = CNV_ONE_TAP_BYTES, .tile_rows = CNV_ONE_TAP_ROWS},
    {"one_tap", .bytes = 2, .rows = 1, .terms = 1, .width = CNV_ONE_TAP_BYTES / 2, .tile_rows = CNV_ONE_TAP_ROWS},
    {NULL}};

/* Returns the tap on the sample itself. */
static double
tap_of(const CnvPlan *plan, const CnvPlane *plane)
{
  return cnv_plan_tap(plan, &plane->term[0], 0, 0);
}

gboolean
cnv_one_tap_fits(const CnvPlan *plan, const CnvPlane *plane, CnvNeeds *needs, GError **error)
{
  const CnvTerm *term = &plane->term[0];

  if (!cnv_fit_samples(plane, error) || !cnv_fit_one_term(plan, plane, error))
    return FALSE;
  if (plane->n_terms == 0 || term->n[CNV_X] * term->n[CNV_Y] > 1)
    return cnv_unsupported(error, "it needs one tap per frame");
  if (!cnv_fit_levels(plane, fabs(tap_of(plan, plane)) * plan->temporal_magnitude, error))
    return FALSE;
  *needs = (CnvNeeds){.bytes = plane->component[0].bytes, .rows = 1, .terms = 1, .n_frames = plan->n_temporal_taps};
  return TRUE;
}

void
cnv_one_tap_set_job(CnvPlaneKernel *plane_kernel, GArray *words, const float *weight)
{
  CnvTileJob *job = &plane_kernel->tile_job;
  double unit = exp2(job->shift), tap = tap_of(plane_kernel->plan, plane_kernel->plane), sum = 0, mid;

  for (int i = 0; i < plane_kernel->needs.n_frames; i++)
    sum += weight[i];
  mid = sum * tap * job->mid;
  job->center = (float)tap;
  job->renormalizes = FALSE;
  job->offset = (float)(job->fraction + job->base - (job->combine == CNV_COMBINE_SUM ? job->gain * mid : 0));
  if (job->combine == CNV_COMBINE_ABSOLUTE)
    job->bias[0] = (float)((job->mid_bias - mid) * unit);
  job->gain = (float)(job->gain / unit);
}

/* Costs: 4K NV12, 3 frames 15.9 us, 5 22.0. */
static double
cost(const CnvPlan *plan, const CnvPlane *plane, const CnvNeeds *needs, const CnvVariant *variant)
{
  return 0.245 * (needs->n_frames + 1) + 0.4 * (needs->bytes - 1);
}

int
cnv_one_tap_rows(const CnvVariant *variant, const CnvNeeds *needs, int rows)
{
  return rows;
}

const CnvKernelKind cnv_kind_one_tap = {"one_tap",
                                        CNV_ALGORITHM_TENSOR,
                                        32 * CNV_ONE_TAP_WARPS,
                                        1,
                                        .capability = 80,
                                        .fits = cnv_one_tap_fits,
                                        .cost = cost,
                                        .variants = variants,
                                        .set_job = cnv_one_tap_set_job,
                                        .box_rows = cnv_one_tap_rows};
