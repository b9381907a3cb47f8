/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * From filter, format and size to a plan.
 */
#include "plan/plan_planes.h"

const CnvNick cnv_algorithm_nicks[] = {
    {CNV_ALGORITHM_AUTO, "auto", "The fastest that can do the work"},
    {CNV_ALGORITHM_NAIVE, "naive", "A thread a sample, straight from memory; on the CPU the plain reference"},
    {CNV_ALGORITHM_TILED, "tiled", "A tile with its apron in fast memory, all taps at once"},
    {CNV_ALGORITHM_TEXTURE, "texture", "A row pass and a column pass through the texture unit, no shared memory"},
    {CNV_ALGORITHM_SEPARABLE, "separable", "A row pass and a column pass, for taps that are a few rows times columns"},
    {CNV_ALGORITHM_FUSED, "fused", "Both passes in one launch, row results kept on chip, float32"},
    {CNV_ALGORITHM_TENSOR, "tensor", "All in one launch as banded matrices on tensor cores, up to 12 bits"},
    {0, NULL, NULL},
};

/* TRUE for algorithms whose terms are all rows times columns. */
static gboolean
needs_separable(CnvAlgorithm algorithm)
{
  return algorithm == CNV_ALGORITHM_SEPARABLE || algorithm == CNV_ALGORITHM_TEXTURE;
}

static gboolean
can_run(CnvAlgorithm algorithm, const CnvPlan *plan, const CnvPlane *plane, GError **error)
{
  for (int t = 0; t < plane->n_terms && needs_separable(algorithm); t++)
    if (!plane->term[t].separable) {
      g_set_error(error, CNV_ERROR, CNV_ERROR_UNSUPPORTED,
                  "the %dx%d taps are no row times a column, nor the sum of up to %d of these", plane->term[t].n[CNV_X],
                  plane->term[t].n[CNV_Y], CNV_MAX_RANK);
      return FALSE;
    }
  return plan->backend->can(algorithm, plan, plane, error);
}

/* Adds the algorithms that can do it to a refusal. */
static void
add_choices(const CnvPlan *plan, const CnvPlane *plane, GError **error)
{
  GString *choices = g_string_new("auto");

  for (const CnvNick *nick = cnv_algorithm_nicks + 1; nick->nick; nick++)
    if (can_run(nick->value, plan, plane, NULL))
      g_string_append_printf(choices, ", %s", nick->nick);
  g_prefix_error(error, "algorithm=%s on %s: ", cnv_algorithm_nicks[plan->requested].nick, plan->backend->name);
  if (error && *error) {
    char *message = g_strdup_printf("%s; choices: %s", (*error)->message, choices->str);

    g_free((*error)->message);
    (*error)->message = message;
  }
  g_string_free(choices, TRUE);
}

static gboolean
choose_algorithms(CnvPlan *plan, GError **error)
{
  for (int p = 0; p < plan->n_planes; p++) {
    CnvPlane *plane = &plan->plane[p];

    if (!plane->filtered)
      continue;
    if (plan->requested == CNV_ALGORITHM_AUTO)
      plane->algorithm = plan->backend->choose(plan, plane);
    else
      plane->algorithm = plan->requested;
    if (!can_run(plane->algorithm, plan, plane, error)) {
      add_choices(plan, plane, error);
      return FALSE;
    }
  }
  return TRUE;
}

static gboolean
check_size(const CnvImage *image, GError **error)
{
  if (image->width >= 1 && image->height >= 1 && image->width <= CNV_SIZE_MAX && image->height <= CNV_SIZE_MAX)
    return TRUE;
  g_set_error(error, CNV_ERROR, CNV_ERROR_SETTINGS, "a frame of %dx%d is outside 1x1 to %dx%d: scale or crop it first",
              image->width, image->height, CNV_SIZE_MAX, CNV_SIZE_MAX);
  return FALSE;
}

CnvPlan *
cnv_plan_new(const CnvFilter *filter, const CnvImage *image, CnvAlgorithm requested, const CnvBackend *backend,
             GError **error)
{
  CnvPlan *plan;
  CnvTapStore store;
  gboolean ok;

  if (!check_size(image, error))
    return NULL;
  plan = g_new0(CnvPlan, 1);
  g_atomic_ref_count_init(&plan->refs);
  cnv_filter_copy(&plan->filter, filter);
  plan->image = *image;
  plan->layout = cnv_layout_of(image);
  plan->requested = requested;
  plan->backend = backend;

  store = (CnvTapStore){g_array_new(FALSE, FALSE, sizeof(float)), cnv_border_renormalizes(filter->border)};
  ok = cnv_plan_fill_temporal_taps(plan, error) && cnv_plan_fill_planes(plan, &store, error);
  plan->n_taps = store.taps->len;
  plan->taps = (float *)g_array_free(store.taps, FALSE);
  if (!ok || !choose_algorithms(plan, error)) {
    cnv_plan_unref(plan);
    return NULL;
  }
  return plan;
}

CnvPlan *
cnv_plan_ref(CnvPlan *plan)
{
  g_atomic_ref_count_inc(&plan->refs);
  return plan;
}

void
cnv_plan_unref(CnvPlan *plan)
{
  if (!plan || !g_atomic_ref_count_dec(&plan->refs))
    return;
  cnv_filter_clear(&plan->filter);
  g_free(plan->taps);
  g_free(plan);
}
