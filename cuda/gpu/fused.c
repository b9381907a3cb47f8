/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The kind fused (fused.cuh): both passes of separable taps in float32, taps in constant memory.
 */
#include <math.h>

#include "gpu/kinds.h"

/* fused counts in units of 2^-64 and 2^-149 of a level: taps and gains further from 1 than this would leave the range
 * of float32. */
#define RANGE 1099511627776.0 /* 2^40 */

#define VARIANT(of, suffix) {"fused", suffix, .reach = of, .rows = G_MAXINT, .terms = 1, .tile_rows = CNV_FUSED_ROWS},
#define UP_TO(reach) VARIANT(reach, #reach)
static const CnvVariant variants[] = {CNV_FUSED_VARIANTS(UP_TO) VARIANT(G_MAXINT, "any"){NULL}};

/* 0, which is exact, is in range. */
static gboolean
is_in_range(double value)
{
  return value == 0 || (fabs(value) < RANGE && fabs(value) > 1 / RANGE);
}

static gboolean
fits(const CnvPlan *plan, const CnvPlane *plane, CnvNeeds *needs, GError **error)
{
  const CnvTerm *set = &plane->term[0];

  if (!cnv_fit_samples(plane, error) || !cnv_fit_one_term(plan, plane, error))
    return FALSE;
  if (set->n[CNV_X] > CNV_FUSED_MAX_TAPS || set->n[CNV_Y] > CNV_FUSED_MAX_TAPS)
    return cnv_fit_refuse(error, "it takes up to " G_STRINGIFY(CNV_FUSED_MAX_TAPS) " taps along an axis");
  if (!is_in_range(plane->gain[cnv_fit_first_channel(plane)]) || !is_in_range(plan->temporal_magnitude) ||
      !is_in_range(cnv_fit_magnitude(plan, plane, CNV_X)) || !is_in_range(cnv_fit_magnitude(plan, plane, CNV_Y)))
    return cnv_fit_refuse(error, "the filter's taps are too large or too small for it");
  *needs = (CnvNeeds){.reach = MAX(cnv_fused_reach(set->n[CNV_X], set->anchor[CNV_X]),
                                   cnv_fused_reach(set->n[CNV_Y], set->anchor[CNV_Y])),
                      .terms = 1,
                      .n_frames = 1};
  return TRUE;
}

static int
tile_width(const CnvVariant *variant, const CnvTileJob *job)
{
  return variant->reach == G_MAXINT ? CNV_FUSED_ANY_WIDTH(job->term.n[CNV_X], job->term.anchor[CNV_X], job->channels)
                                    : CNV_FUSED_WIDTH(variant->reach, job->channels);
}

const CnvKernelKind cnv_kind_fused = {"fused",      CNV_ALGORITHM_FUSED,     CNV_FUSED_THREADS, 1, .variants = variants,
                                      .fits = fits, .tile_width = tile_width};
