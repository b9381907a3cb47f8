/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gpu/fit.h"

#include <math.h>

#include "gpu/kernels/arguments.h"

#define FUSED(reach) {{"fused", #reach}, reach},
const CnvFusedVariant cnv_fused_variants[] = {CNV_FUSED_VARIANTS(FUSED){{"fused", "any"}, G_MAXINT}};

/* Sums that adding such a number rounds. */
#define LEVEL_MAX 2097152.0

/* fused counts in units of 2^-64 and 2^-149 of a level: taps and gains further from 1 than this would leave the range
 * of float32. */
#define FUSED_RANGE 1099511627776.0 /* 2^40 */

int
cnv_fit_first_lane(const CnvPlanPlane *plane)
{
  int c = 0;

  while (!(plane->filtered >> c & 1))
    c++;
  return c;
}

const float *
cnv_fit_axis(const CnvPlan *plan, const CnvPlanPlane *plane, CnvAxis axis)
{
  return plan->taps + plane->term[0].axis[axis];
}

double
cnv_fit_magnitude(const float *taps, int n)
{
  double sum = 0;

  for (int i = 0; i < n; i++)
    sum += fabs(taps[i]);
  return sum;
}

/* Whether all lanes that are filtered become levels in the same way. */
static gboolean
lanes_are_alike(const CnvPlanPlane *plane)
{
  int first = cnv_fit_first_lane(plane);

  for (int c = first; c < plane->channels; c++)
    if (plane->filtered >> c & 1 &&
        (plane->gain[c] != plane->gain[first] || plane->base[c] != plane->base[first] ||
         plane->fraction[c] != plane->fraction[first] || plane->mid_bias[c] != plane->mid_bias[first]))
      return FALSE;
  return TRUE;
}

const char *
cnv_fit_lanes(const CnvPlanPlane *plane)
{
  if (!plane->plain)
    return "it takes planes that are arrays of samples: no packed 4:2:2, no 10-bit words, no premultiplied alpha";
  if (!lanes_are_alike(plane) || (plane->channels == 3 && plane->copied))
    return "it takes channels that are filtered alike";
  return NULL;
}

const char *
cnv_fit_half(const CnvPlanPlane *plane)
{
  return plane->full[cnv_fit_first_lane(plane)] > 4095 ? "it takes samples of up to 12 bits" : NULL;
}

const char *
cnv_fit_one_term(const CnvPlan *plan, const CnvPlanPlane *plane)
{
  if (plane->n_terms > 1 || !plane->term[0].separable || plane->combine == CNV_COMBINE_MAGNITUDE)
    return "it takes one row times one column of taps";
  return plan->not_time_separable ? "it takes no 3D kernels" : NULL;
}

const char *
cnv_fit_levels(const CnvPlanPlane *plane, double magnitude)
{
  int c = cnv_fit_first_lane(plane);

  if (fabs(plane->gain[c]) * magnitude * plane->full[c] + fabs(plane->fraction[c]) > LEVEL_MAX)
    return "the filter makes sums too large for it";
  return NULL;
}

/* Not of 0, which is exact. */
static gboolean
is_in_range(double value)
{
  return value == 0 || (fabs(value) < FUSED_RANGE && fabs(value) > 1 / FUSED_RANGE);
}

static const char *
why_unsupported(const CnvPlan *plan, const CnvPlanPlane *plane)
{
  const CnvPlanTerm *set = &plane->term[0];
  const char *reason = cnv_fit_lanes(plane);

  if (!reason)
    reason = cnv_fit_one_term(plan, plane);
  if (reason)
    return reason;
  if (set->n[CNV_X] > CNV_FUSED_MAX_TAPS || set->n[CNV_Y] > CNV_FUSED_MAX_TAPS)
    return "it takes up to " G_STRINGIFY(CNV_FUSED_MAX_TAPS) " taps along an axis";
  if (!is_in_range(plane->gain[cnv_fit_first_lane(plane)]) || !is_in_range(plan->temporal_magnitude) ||
      !is_in_range(cnv_fit_magnitude(cnv_fit_axis(plan, plane, CNV_X), set->n[CNV_X])) ||
      !is_in_range(cnv_fit_magnitude(cnv_fit_axis(plan, plane, CNV_Y), set->n[CNV_Y])))
    return "the filter's taps are too large or too small for it";
  return NULL;
}

gboolean
cnv_fused_fit(const CnvPlan *plan, const CnvPlanPlane *plane, GError **error)
{
  const char *reason = why_unsupported(plan, plane);

  if (reason)
    g_set_error_literal(error, CNV_ERROR, CNV_ERROR_UNSUPPORTED, reason);
  return !reason;
}

int
cnv_fused_variant(const CnvPlanPlane *plane)
{
  const CnvPlanTerm *set = &plane->term[0];
  int x = cnv_fused_reach(set->n[CNV_X], set->anchor[CNV_X]);
  int y = cnv_fused_reach(set->n[CNV_Y], set->anchor[CNV_Y]), i = 0;

  while (cnv_fused_variants[i].reach < MAX(x, y))
    i++;
  return i;
}
