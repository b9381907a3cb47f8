/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Questions to a plan that is made.
 */
#include <math.h>

#include "plan/plan.h"

gboolean
cnv_plane_is_separable(const CnvPlane *plane)
{
  for (int t = 0; t < plane->n_terms; t++)
    if (!plane->term[t].separable)
      return FALSE;
  return TRUE;
}

/* The factor that the plane's one term is, and TRUE, where it is nothing more. */
static gboolean
is_factor(const CnvPlan *plan, const CnvPlane *plane, double *factor)
{
  const CnvTerm *term = &plane->term[0];

  if (plane->n_terms > 1 || plane->combine != CNV_COMBINE_SUM)
    return FALSE;
  for (int y = 0; y < term->n[CNV_Y]; y++)
    for (int x = 0; x < term->n[CNV_X]; x++)
      if ((x != term->anchor[CNV_X] || y != term->anchor[CNV_Y]) && cnv_plan_tap(plan, term, x, y) != 0)
        return FALSE;
  *factor = cnv_plan_tap(plan, term, term->anchor[CNV_X], term->anchor[CNV_Y]);
  return TRUE;
}

static gboolean
plane_is_identity(const CnvPlan *plan, const CnvPlane *plane)
{
  double factor;

  if (!is_factor(plan, plane, &factor))
    return FALSE;
  for (int c = 0; c < plane->channels; c++) {
    if (!(plane->filtered >> c & 1))
      continue;
    /* Closer than half a level at full scale, so that rounding gives the input back. */
    if (fabs(factor * plane->gain[c] - 1) * plane->full[c] > 0.25 ||
        fabs((double)plane->base[c] + plane->fraction[c] - plane->mid[c]) > 0.125)
      return FALSE;
  }
  return TRUE;
}

gboolean
cnv_plan_is_identity(const CnvPlan *plan)
{
  if (plan->n_temporal_taps > 1)
    return FALSE;
  for (int p = 0; p < plan->n_planes; p++)
    if (plan->plane[p].filtered && !plane_is_identity(plan, &plan->plane[p]))
      return FALSE;
  return TRUE;
}

const CnvBackend *
cnv_plan_backend(const CnvPlan *plan)
{
  return plan->backend;
}

int
cnv_plan_frames(const CnvPlan *plan, int *center)
{
  if (center)
    *center = plan->center;
  return plan->n_temporal_taps;
}

void
cnv_plan_describe(const CnvPlan *plan, GString *algorithms, GString *taps, GString *terms)
{
  for (int p = 0; p < plan->n_planes; p++) {
    const CnvPlane *plane = &plan->plane[p];
    const char *comma = p > 0 ? "," : "";
    int n[CNV_N_AXES] = {1, 1}, n_terms = plane->filtered ? plane->n_terms : 0;

    for (int t = 0; t < n_terms; t++)
      for (int axis = 0; axis < CNV_N_AXES; axis++)
        n[axis] = MAX(n[axis], plane->term[t].n[axis]);
    g_string_append_printf(algorithms, "%s%s", comma,
                           plane->filtered ? cnv_algorithm_nicks[plane->algorithm].nick : "copy");
    g_string_append_printf(taps, "%s%dx%d", comma, n[CNV_X], n[CNV_Y]);
    g_string_append_printf(terms, "%s%d", comma, n_terms);
  }
}
