/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The kind frames (frames.cuh): one tap a frame, in float32.
 */
#include <math.h>

#include "gpu/kinds.h"

static const CnvVariant variants[] = {
    {"frames", NULL, .rows = 1, .terms = 1, .width = CNV_TILE_WIDTH, .tile_rows = CNV_FRAMES_ROWS}, {NULL}};

/* The tap on the sample itself. */
static double
tap_of(const CnvPlan *plan, const CnvPlane *plane)
{
  return cnv_plan_tap(plan, &plane->term[0], 0, 0);
}

static gboolean
fits(const CnvPlan *plan, const CnvPlane *plane, CnvNeeds *needs, GError **error)
{
  const CnvTerm *term = &plane->term[0];

  if (!cnv_fit_samples(plane, error) || !cnv_fit_one_term(plan, plane, error))
    return FALSE;
  if (plane->n_terms == 0 || term->n[CNV_X] * term->n[CNV_Y] > 1)
    return cnv_fit_refuse(error, "it takes one tap a frame");
  if (!cnv_fit_levels(plane, fabs(tap_of(plan, plane)) * plan->temporal_magnitude, error))
    return FALSE;
  *needs = (CnvNeeds){.bytes = plane->component[0].bytes, .rows = 1, .terms = 1, .n_frames = cnv_fit_n_frames(plan)};
  return cnv_variant_find(&cnv_kind_frames, needs) ||
         cnv_fit_refuse(error, "%d frames are more than its tiles hold", needs->n_frames);
}

static void
set_job(CnvTileJob *job, GArray *words, const CnvPlan *plan, const CnvPlane *plane, const CnvVariant *variant,
        const CnvNeeds *needs, const float *weight)
{
  double unit = exp2(job->shift), sum = 0, mid;

  for (int i = 0; i < needs->n_frames; i++)
    sum += needs->n_frames > 1 ? weight[i] : 1;
  sum *= tap_of(plan, plane);
  mid = sum * job->mid;
  job->center = (float)tap_of(plan, plane);
  job->renormalizes = FALSE;
  job->offset = (float)(job->fraction + job->base - (job->combine == CNV_COMBINE_SUM ? job->gain * mid : 0));
  if (job->combine == CNV_COMBINE_ABSOLUTE)
    job->bias[0] = (float)((job->mid_bias - mid) * unit);
  job->gain = (float)(job->gain / unit);
}

static int
pitch(const CnvVariant *variant, int bytes)
{
  return variant->width * bytes;
}

static int
box_rows(const CnvVariant *variant, const CnvNeeds *needs, int rows)
{
  return rows;
}

const CnvKernelKind cnv_kind_frames = {"frames",
                                       CNV_ALGORITHM_TENSOR,
                                       32 * CNV_TILE_WARPS,
                                       1,
                                       .shared_max = CNV_SHARED_MAX,
                                       .variants = variants,
                                       .fits = fits,
                                       .set_job = set_job,
                                       .pitch = pitch,
                                       .box_rows = box_rows};
