/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Makes a plan from filter, format and size, and answers questions about it.
 */
#include "plan/plan.h"

#include <math.h>

const CnvNick cnv_algorithm_nicks[] = {
    {CNV_ALGORITHM_AUTO, "auto", "The fastest that can do the work"},
    {CNV_ALGORITHM_NAIVE, "naive", "One thread per sample, straight from memory; on the CPU the plain reference"},
    {CNV_ALGORITHM_TILED, "tiled", "All taps in one pass, from a tile with its apron in fast memory"},
    {CNV_ALGORITHM_TEXTURE, "texture", "A row pass and a column pass through the texture unit, without shared memory"},
    {CNV_ALGORITHM_SEPARABLE, "separable",
     "A row pass and a column pass, for kernels that are sums of a few separable ones"},
    {CNV_ALGORITHM_FUSED, "fused", "A row pass and a column pass in one launch, with row results on chip in float32"},
    {CNV_ALGORITHM_TENSOR, "tensor",
     "One launch on tensor cores, for samples of up to 12 bits, and blurs of up to 16 bits"},
    {CNV_ALGORITHM_MOSAIC, "mosaic", "One colour per cell, only for filter=mosaic and filter=fill"},
    {0, NULL, NULL},
};

gboolean
cnv_plane_is_separable(const CnvPlane *plane)
{
  for (int t = 0; t < plane->n_terms; t++)
    if (!plane->term[t].separable)
      return FALSE;
  return TRUE;
}

static gboolean
can_run(CnvAlgorithm algorithm, const CnvPlan *plan, const CnvPlane *plane, GError **error)
{
  gboolean needs_separable = algorithm == CNV_ALGORITHM_SEPARABLE || algorithm == CNV_ALGORITHM_TEXTURE;

  for (int t = 0; t < plane->n_terms && needs_separable; t++)
    if (!plane->term[t].separable)
      return cnv_unsupported(error, "the %dx%d taps are not a row times a column, nor the sum of up to %d of these",
                             plane->term[t].n[CNV_X], plane->term[t].n[CNV_Y], CNV_MAX_RANK);
  if (plane->cell[CNV_X] ? algorithm != CNV_ALGORITHM_MOSAIC && algorithm != CNV_ALGORITHM_NAIVE
                         : algorithm == CNV_ALGORITHM_MOSAIC)
    return cnv_unsupported(error, "%s",
                           plane->cell[CNV_X] ? "it needs taps, and mosaic and fill have none"
                                              : "it only computes the cells of filter=mosaic and fill");
  return plan->backend->can(algorithm, plan, plane, error);
}

/* Sets the error for a plane that the requested algorithm cannot filter: the cause, and the algorithms that can. */
static void
refuse_algorithm(const CnvPlan *plan, const CnvPlane *plane, const GError *cause, GError **error)
{
  g_autoptr(GString) choices = g_string_new("auto");

  for (const CnvNick *nick = cnv_algorithm_nicks + 1; nick->nick; nick++)
    if (can_run(nick->value, plan, plane, NULL))
      g_string_append_printf(choices, ", %s", nick->nick);
  g_set_error(error, CNV_ERROR, cause->code, "algorithm=%s on %s: %s; choices: %s",
              cnv_algorithm_nicks[plan->requested].nick, plan->backend->name, cause->message, choices->str);
}

static gboolean
choose_algorithms(CnvPlan *plan, GError **error)
{
  for (int p = 0; p < plan->n_planes; p++) {
    CnvPlane *plane = &plan->plane[p];
    g_autoptr(GError) cause = NULL;

    if (!plane->filtered)
      continue;
    plane->algorithm = plan->requested == CNV_ALGORITHM_AUTO ? plan->backend->choose(plan, plane) : plan->requested;
    if (plan->is_weighed && !can_run(plane->algorithm, plan, plane, NULL))
      plane->algorithm = plan->backend->choose(plan, plane); /* isolated shapes must work with any requested
                                                                algorithm */
    if (!can_run(plane->algorithm, plan, plane, &cause)) {
      refuse_algorithm(plan, plane, cause, error);
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
  return cnv_refuse(error, "a frame of %dx%d is outside 1x1 to %dx%d: scale or crop it first", image->width,
                    image->height, CNV_SIZE_MAX, CNV_SIZE_MAX);
}

static CnvPlan *
make_plan(const CnvFilter *filter, const CnvImage *image, CnvAlgorithm requested, const CnvBackend *backend,
          gboolean is_weighed, GError **error)
{
  CnvPlan *plan = g_new0(CnvPlan, 1);

  g_atomic_ref_count_init(&plan->refs);
  cnv_filter_copy(&plan->filter, filter);
  plan->image = *image;
  plan->layout = cnv_layout_of(image);
  plan->requested = requested;
  plan->backend = backend;
  plan->is_weighed = is_weighed;
  if (!cnv_plan_fill(plan, error) || !choose_algorithms(plan, error)) {
    cnv_plan_unref(plan);
    return NULL;
  }
  return plan;
}

CnvPlan *
cnv_plan_new(const CnvFilter *filter, const CnvImage *image, CnvAlgorithm requested, const CnvBackend *backend,
             GError **error)
{
  return check_size(image, error) ? make_plan(filter, image, requested, backend, FALSE, error) : NULL;
}

CnvPlan *
cnv_plan_weighed(const CnvPlan *plan, GError **error)
{
  static GMutex lock;
  CnvPlan *self = (CnvPlan *)plan; /* only this function changes a plan, under a lock */

  if (plan->is_weighed || plan->filter.type == CNV_FILTER_FILL)
    return self;
  g_mutex_lock(&lock);
  if (!plan->weighed && !plan->cannot_weigh)
    self->weighed = make_plan(&plan->filter, &plan->image, plan->requested, plan->backend, TRUE, &self->cannot_weigh);
  g_mutex_unlock(&lock);
  if (!plan->weighed && error)
    *error = g_error_copy(plan->cannot_weigh);
  return plan->weighed;
}

gboolean
cnv_plan_can_isolate(const CnvPlan *plan, GError **error)
{
  return cnv_plan_weighed(plan, error) != NULL;
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
  cnv_plan_unref(plan->weighed);
  g_clear_error(&plan->cannot_weigh);
  cnv_filter_clear(&plan->filter);
  g_free(plan->taps);
  g_free(plan);
}

/* ---- queries ---- */

/* Returns TRUE if the plane's filter is a multiplication by a factor, and stores that factor. */
static gboolean
is_factor(const CnvPlan *plan, const CnvPlane *plane, double *factor)
{
  const CnvTerm *term = &plane->term[0];

  if (plane->n_terms > 1 || plane->combine != CNV_COMBINE_SUM)
    return FALSE;
  for (int axis = 0; axis < CNV_N_AXES; axis++)
    if (plane->cell[axis] > 1 << plane->cell_shift[axis])
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
    /* The deviation is less than half a level at full scale, so rounding gives the input again. */
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
        n[axis] = MAX(n[axis], cnv_plane_extent(plane, t, axis));
    g_string_append_printf(algorithms, "%s%s", comma,
                           plane->filtered ? cnv_algorithm_nicks[plane->algorithm].nick : "copy");
    g_string_append_printf(taps, "%s%dx%d", comma, n[CNV_X], n[CNV_Y]);
    g_string_append_printf(terms, "%s%d", comma, n_terms);
  }
}
