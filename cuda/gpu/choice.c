/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gpu/choice.h"

#include "gpu/driver.h"
#include "gpu/variants.h"

#include <string.h>

/* Microseconds that an additional launch must save. A launch costs 3.8 (4K GRAY8, NV12 and RGBA take 8.6, 11.0 and 22.9
 * at r=8, for 8.3, 12.4 and 33.2 million samples), and estimates are rough. So planes share a kind, and with it a
 * launch, unless two kinds are clearly faster. */
#define LAUNCH 10

/* Millions of luma samples of the frame for which kinds are compared: the choice does not depend on a frame's size. */
#define LUMA (3840 * 2160 / 1e6)

static const struct {
  int capability;
  const char *name;
} generations[] = {{70, "7.0 (Volta)"}, {80, "8.0 (Ampere)"}};

static int
least_capability(void)
{
  const CnvDriver *cu = cnv_driver_get(NULL);

  return cu ? cu->capability : 0;
}

/* Returns the number of floats of constant memory that the plane's taps occupy. */
static guint
count_taps(const CnvPlan *plan, const CnvPlane *plane)
{
  guint range[2];

  cnv_fit_find_taps(plan, plane, range);
  return range[1] - range[0];
}

static gboolean
has_capability(const CnvKernelKind *kind, int capability, GError **error)
{
  if (capability >= kind->capability)
    return TRUE;
  for (gsize i = 0; i < G_N_ELEMENTS(generations); i++)
    if (generations[i].capability == kind->capability)
      return cnv_unsupported(error, "it needs a GPU of compute capability %s or newer", generations[i].name);
  return cnv_unsupported(error, "it needs a GPU of compute capability %d.%d or newer", kind->capability / 10,
                         kind->capability % 10);
}

/* Returns TRUE if a kind fits the plane, and stores what the plane needs of it; else FALSE with the reason. */
static gboolean
kind_fits(const CnvKernelKind *kind, const CnvPlan *plan, const CnvPlane *plane, CnvNeeds *needs, GError **error)
{
  if (kind->variants && !kind->averages != (plan->threshold == 0))
    return kind->averages ? cnv_unsupported(error, "it needs temporal-threshold")
                          : cnv_unsupported(error, "it does not support temporal-threshold with this filter");
  return kind->fits(plan, plane, needs, error);
}

/* Returns TRUE if a kind of the algorithm fits, else FALSE with the reason why the last kind does not. */
static gboolean
has_kind(CnvAlgorithm algorithm, int capability, const CnvPlan *plan, const CnvPlane *plane, GError **error)
{
  g_autoptr(GError) cause = NULL;
  gboolean is_none = TRUE;
  CnvNeeds needs;

  for (CnvKernelId k = 0; k < CNV_N_KERNELS; k++) {
    const CnvKernelKind *kind = cnv_kernel_kind(k);

    if (kind->algorithm != algorithm || !kind->fits)
      continue;
    g_clear_error(&cause);
    if (kind_fits(kind, plan, plane, &needs, &cause))
      return has_capability(kind, capability, error);
    is_none = FALSE;
  }
  if (cause)
    g_propagate_error(error, g_steal_pointer(&cause));
  return is_none;
}

gboolean
cnv_cuda_can_at(int capability, CnvAlgorithm algorithm, const CnvPlan *plan, const CnvPlane *plane, GError **error)
{
  guint n = count_taps(plan, plane);

  if (!has_kind(algorithm, capability, plan, plane, error))
    return FALSE;
  return n <= CNV_CONSTANT_TAPS ||
         cnv_unsupported(error,
                         "the filter needs %u numbers of constant memory, a GPU has %d: shorten the kernel or use "
                         "backend=cpu",
                         n, CNV_CONSTANT_TAPS);
}

/* Returns the cost of the kind if it filters only this plane, or G_MAXDOUBLE if it does not fit. Stores the plane's
 * needs. */
static double
cost_alone(const CnvKernelKind *kind, const CnvPlan *plan, const CnvPlane *plane, CnvNeeds *needs)
{
  if (!kind->cost || !kind_fits(kind, plan, plane, needs, NULL))
    return G_MAXDOUBLE;
  return kind->cost(plan, plane, needs, kind->variants ? cnv_variant_find(kind, needs) : NULL);
}

/* Returns the cheapest of the kinds with block jobs, and of those with tile jobs up to a capability; capability 0
 * excludes tile jobs, for callers that rely on the exactness of float32. */
static const CnvKernelKind *
cheapest(int capability, const CnvPlan *plan, const CnvPlane *plane)
{
  const CnvKernelKind *best = NULL;
  double least = G_MAXDOUBLE;
  CnvNeeds needs;

  for (CnvKernelId k = 0; k < CNV_N_KERNELS; k++) {
    const CnvKernelKind *kind = cnv_kernel_kind(k);
    double cost;

    if (kind->variants && (capability < kind->capability ||
                           (plan->requested != CNV_ALGORITHM_AUTO && plan->requested != kind->algorithm)))
      continue;
    cost = cost_alone(kind, plan, plane, &needs);
    if (cost < least) {
      best = kind;
      least = cost;
    }
  }
  return best;
}

CnvAlgorithm
cnv_cuda_choose_at(int capability, const CnvPlan *plan, const CnvPlane *plane)
{
  return cheapest(count_taps(plan, plane) <= CNV_CONSTANT_TAPS ? capability : 0, plan, plane)->algorithm;
}

CnvAlgorithm
cnv_choose_blocks(const CnvPlan *plan, const CnvPlane *plane)
{
  return cheapest(0, plan, plane)->algorithm;
}

gboolean
cnv_cuda_can(CnvAlgorithm algorithm, const CnvPlan *plan, const CnvPlane *plane, GError **error)
{
  return cnv_cuda_can_at(least_capability(), algorithm, plan, plane, error);
}

CnvAlgorithm
cnv_cuda_choose(const CnvPlan *plan, const CnvPlane *plane)
{
  return cnv_cuda_choose_at(least_capability(), plan, plane);
}

/* ---- kinds ---- */

/* A search: the planes of a plan, the kinds that fit each, and the best choice so far. */
typedef struct {
  const CnvPlan *plan;
  CnvNeeds needs[CNV_MAX_PLANES][CNV_N_KERNELS];
  guint32 fits[CNV_MAX_PLANES]; /* bit k: kind k */
  CnvKernelId chosen[CNV_MAX_PLANES], best[CNV_MAX_PLANES];
  double least;
} Options;

static void
find_options(Options *o, int p, gboolean has_windows)
{
  const CnvPlane *plane = &o->plan->plane[p];

  for (CnvKernelId k = 0; k < CNV_N_KERNELS && plane->filtered; k++) {
    const CnvKernelKind *kind = cnv_kernel_kind(k);

    if (kind->variants && kind->algorithm == plane->algorithm && !(has_windows && kind->whole_windows) &&
        cost_alone(kind, o->plan, plane, &o->needs[p][k]) < G_MAXDOUBLE)
      o->fits[p] |= 1u << k;
  }
}

/* Returns the time of the frame in microseconds with this choice of kinds. A plane gets block jobs if no variant
 * filters it together with the planes before it. */
static double
cost_of_choice(const Options *o)
{
  const CnvVariant *variant[CNV_N_KERNELS] = {NULL};
  CnvNeeds needs[CNV_N_KERNELS] = {{0}}, unused;
  double cost = 0;

  for (int p = 0; p < o->plan->n_planes; p++) {
    CnvKernelId k = o->chosen[p];
    CnvNeeds all;

    if (k == CNV_N_KERNELS)
      continue;
    all = cnv_needs_join(&needs[k], &o->needs[p][k]);
    if (!cnv_variant_find(cnv_kernel_kind(k), &all))
      continue;
    cost += variant[k] ? 0 : LAUNCH;
    needs[k] = all;
    variant[k] = cnv_variant_find(cnv_kernel_kind(k), &all);
  }
  for (int p = 0; p < o->plan->n_planes; p++) {
    const CnvPlane *plane = &o->plan->plane[p];
    double samples = LUMA * plane->channels / (1 << (plane->sub_x + plane->sub_y));
    CnvKernelId k = o->chosen[p];
    CnvNeeds all;

    if (k == CNV_N_KERNELS)
      continue;
    all = cnv_needs_join(&needs[k], &o->needs[p][k]);
    cost += samples * (cnv_variant_find(cnv_kernel_kind(k), &all)
                           ? cnv_kernel_kind(k)->cost(o->plan, plane, &o->needs[p][k], variant[k])
                           : cost_alone(cheapest(0, o->plan, plane), o->plan, plane, &unused));
  }
  return cost;
}

/* Tries all kinds for the planes from p on. */
static void
try_kinds(Options *o, int p)
{
  double cost;

  if (p < o->plan->n_planes && o->fits[p]) {
    for (CnvKernelId k = 0; k < CNV_N_KERNELS; k++)
      if (o->fits[p] >> k & 1) {
        o->chosen[p] = k;
        try_kinds(o, p + 1);
      }
    return;
  }
  if (p < o->plan->n_planes) {
    o->chosen[p] = CNV_N_KERNELS;
    try_kinds(o, p + 1);
    return;
  }
  cost = cost_of_choice(o);
  if (cost < o->least) {
    o->least = cost;
    memcpy(o->best, o->chosen, sizeof(o->best));
  }
}

void
cnv_choose_kinds(const CnvPlan *plan, gboolean has_windows, CnvPlaneKernel chosen[CNV_MAX_PLANES])
{
  Options o = {.plan = plan, .least = G_MAXDOUBLE};

  for (int p = 0; p < plan->n_planes; p++)
    find_options(&o, p, has_windows);
  try_kinds(&o, 0);
  for (int p = 0; p < plan->n_planes; p++) {
    chosen[p].kernel = o.best[p];
    if (o.best[p] < CNV_N_KERNELS)
      chosen[p].needs = o.needs[p][o.best[p]];
  }
}
