/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gpu/tile_jobs.h"
#include "plan/arith.h"

#include <string.h>

#define ARRAY_ALIGNMENT 256

void
cnv_schedule_init(CnvSchedule *schedule)
{
  *schedule = (CnvSchedule){
      .plans = g_ptr_array_new_with_free_func((GDestroyNotify)cnv_plan_unref),
      .taps = g_array_new(FALSE, FALSE, sizeof(float)),
      .banks = g_array_new(FALSE, FALSE, sizeof(guint)),
      .planes = g_array_new(FALSE, TRUE, sizeof(CnvPlane)),
      .plane_kernels = g_array_new(FALSE, TRUE, sizeof(CnvPlaneKernel)),
      .words = g_array_new(FALSE, FALSE, sizeof(guint32)),
      .jobs = g_array_new(FALSE, FALSE, sizeof(CnvRectJob)),
      .mask_rects = g_array_new(FALSE, FALSE, sizeof(CnvMaskRect)),
      .block_jobs = g_array_new(FALSE, FALSE, sizeof(CnvBlockJob)),
      .tile_jobs = g_array_new(FALSE, FALSE, sizeof(CnvTileJob)),
      .launches = g_array_new(FALSE, FALSE, sizeof(CnvLaunch)),
      .plan_arrays = g_byte_array_new(),
      .work_arrays = g_byte_array_new(),
  };
}

void
cnv_schedule_clear(CnvSchedule *schedule)
{
  GArray **arrays[] = {&schedule->taps,      &schedule->banks,      &schedule->planes,     &schedule->plane_kernels,
                       &schedule->jobs,      &schedule->mask_rects, &schedule->block_jobs, &schedule->words,
                       &schedule->tile_jobs, &schedule->launches};

  for (gsize i = 0; i < G_N_ELEMENTS(arrays); i++)
    g_clear_pointer(arrays[i], g_array_unref);
  g_clear_pointer(&schedule->plans, g_ptr_array_unref);
  g_clear_pointer(&schedule->plan_arrays, g_byte_array_unref);
  g_clear_pointer(&schedule->work_arrays, g_byte_array_unref);
  cnv_work_key_clear(&schedule->of);
}

/* Floats of an axis or of a dense term in CnvPlan.taps. */
static guint
floats_of(const CnvPlan *plan, const CnvTerm *set, int axis)
{
  if (!set->separable)
    return axis == CNV_X ? (guint)(set->n[CNV_X] * set->n[CNV_Y]) : 0;
  return cnv_border_renormalizes(plan->filter.border) ? 2 * set->n[axis] + 1 : set->n[axis];
}

guint
cnv_schedule_taps_of(const CnvPlan *plan, const CnvPlane *plane)
{
  guint n = 0;

  for (int i = 0; i < 2 * plane->n_terms; i++) {
    const CnvTerm *set = &plane->term[i / 2];
    gboolean again = FALSE; /* an axis that is stored once for several */

    for (int k = 0; k < i && set->separable; k++)
      again |= plane->term[k / 2].separable && plane->term[k / 2].taps[k % 2] == set->taps[i % 2];
    n += again ? 0 : floats_of(plan, set, i % 2);
  }
  return n;
}

/* The index in the constant bank that is being filled of a plan's `rows` rows of `width` taps from `from` on; adds
 * them, column by column, unless the bank has them. slots: index in the bank by address of a plan's first tap. */
static guint
alloc_taps(CnvSchedule *schedule, GHashTable *slots, const CnvPlan *plan, guint from, int width, int rows)
{
  float *taps = plan->taps + from;
  gpointer slot;

  if (g_hash_table_lookup_extended(slots, taps, NULL, &slot))
    return GPOINTER_TO_UINT(slot);
  slot = GUINT_TO_POINTER(schedule->taps->len - g_array_index(schedule->banks, guint, schedule->banks->len - 1));
  for (int x = 0; x < width; x++)
    for (int y = 0; y < rows; y++)
      g_array_append_val(schedule->taps, taps[y * width + x]);
  g_hash_table_insert(slots, taps, slot);
  return GPOINTER_TO_UINT(slot);
}

/* The plane of a plan with its taps in the constant bank. */
static CnvPlane
place_plane(CnvSchedule *schedule, GHashTable *slots, const CnvPlan *plan, const CnvPlane *plane)
{
  CnvPlane placed = *plane;

  for (int t = 0; t < plane->n_terms; t++) {
    CnvTerm *term = &placed.term[t];

    if (!term->separable)
      term->taps[0] = alloc_taps(schedule, slots, plan, term->taps[0], term->n[CNV_X], term->n[CNV_Y]);
    for (int axis = 0; axis < CNV_N_AXES && term->separable; axis++)
      term->taps[axis] = alloc_taps(schedule, slots, plan, term->taps[axis], (int)floats_of(plan, term, axis), 1);
  }
  return placed;
}

gboolean
cnv_schedule_has_plans(const CnvSchedule *schedule, const CnvWork *work)
{
  if (schedule->plans->len != work->n_plans)
    return FALSE;
  for (guint i = 0; i < work->n_plans; i++)
    if (g_ptr_array_index(schedule->plans, i) != work->plan[i])
      return FALSE;
  return TRUE;
}

static void
forget_plans(CnvSchedule *schedule)
{
  GArray *arrays[] = {schedule->taps, schedule->banks, schedule->planes, schedule->plane_kernels, schedule->words};

  for (gsize i = 0; i < G_N_ELEMENTS(arrays); i++)
    g_array_set_size(arrays[i], 0);
  g_ptr_array_set_size(schedule->plans, 0);
  cnv_work_key_clear(&schedule->of);
  memset(schedule->variant, 0, sizeof(schedule->variant));
  memset(schedule->needs, 0, sizeof(schedule->needs));
}

/* Chooses the plane's kernel with tile jobs, if any: where its variant serves this plane along with those before it. */
static void
choose_kernel(CnvSchedule *schedule, const CnvPlan *plan, const CnvPlane *plane, CnvPlaneKernel *of)
{
  CnvKernelId kernel = cnv_kernel_with_tiles(plane->algorithm, plan, plane, &of->needs, NULL);
  const CnvVariant *variant;
  CnvNeeds all;

  of->kernel = CNV_N_KERNELS;
  if (kernel == CNV_N_KERNELS)
    return;
  all = cnv_needs_join(&schedule->needs[kernel], &of->needs);
  variant = cnv_variant_find(cnv_kernel_kind(kernel), &all);
  if (!variant)
    return;
  of->kernel = kernel;
  schedule->needs[kernel] = all;
  schedule->variant[kernel] = variant;
}

gsize
cnv_schedule_add_array(GByteArray *arrays, const GArray *array)
{
  static const guint8 zeros[ARRAY_ALIGNMENT];
  gsize at;

  g_byte_array_append(arrays, zeros, (ARRAY_ALIGNMENT - arrays->len % ARRAY_ALIGNMENT) % ARRAY_ALIGNMENT);
  at = arrays->len;
  g_byte_array_append(arrays, (const guint8 *)array->data, array->len * g_array_get_element_size((GArray *)array));
  return at;
}

gboolean
cnv_schedule_set_weights(CnvSchedule *schedule, const CnvWork *work)
{
  float weight[CNV_MAX_TEMPORAL_TAPS] = {0};
  int n = (int)work->n_temporal_taps;

  for (int i = 0; i < n; i++)
    weight[i] = work->temporal_tap[i].slot < 0 ? 0 : work->temporal_tap[i].weight;
  if (n == schedule->n_weights && memcmp(weight, schedule->weight, sizeof(weight)) == 0)
    return FALSE;
  schedule->n_weights = n;
  memcpy(schedule->weight, weight, sizeof(weight));
  g_array_set_size(schedule->words, 0);
  for (guint i = 0; i < schedule->planes->len; i++)
    cnv_tile_job_prepare(schedule, i);
  g_byte_array_set_size(schedule->plan_arrays, 0);
  schedule->taps_at = cnv_schedule_add_array(schedule->plan_arrays, schedule->taps);
  schedule->planes_at = cnv_schedule_add_array(schedule->plan_arrays, schedule->planes);
  schedule->words_at = cnv_schedule_add_array(schedule->plan_arrays, schedule->words);
  schedule->has_new_taps = TRUE;
  return TRUE;
}

static void
begin_bank(CnvSchedule *schedule, GHashTable *slots)
{
  g_array_append_val(schedule->banks, schedule->taps->len);
  g_hash_table_remove_all(slots);
}

static void
add_plane(CnvSchedule *schedule, GHashTable *slots, const CnvPlan *plan, const CnvPlane *plane, guint index)
{
  CnvPlaneKernel *of = &g_array_index(schedule->plane_kernels, CnvPlaneKernel, index);
  guint first = g_array_index(schedule->banks, guint, schedule->banks->len - 1);

  if (schedule->taps->len - first + cnv_schedule_taps_of(plan, plane) > CNV_CONSTANT_TAPS)
    begin_bank(schedule, slots);
  g_array_index(schedule->planes, CnvPlane, index) = place_plane(schedule, slots, plan, plane);
  of->bank = schedule->banks->len - 1;
  choose_kernel(schedule, plan, plane, of);
}

void
cnv_schedule_set_plans(CnvSchedule *schedule, const CnvWork *work)
{
  GHashTable *slots = g_hash_table_new(NULL, NULL);
  guint n = work->n_plans * CNV_MAX_PLANES;

  forget_plans(schedule);
  g_array_set_size(schedule->planes, n);
  g_array_set_size(schedule->plane_kernels, n);
  begin_bank(schedule, slots);
  for (guint i = 0; i < work->n_plans; i++)
    g_ptr_array_add(schedule->plans, cnv_plan_ref(work->plan[i]));
  for (guint i = 0; i < n; i++) {
    const CnvPlan *plan = work->plan[i / CNV_MAX_PLANES];
    const CnvPlane *plane = &plan->plane[i % CNV_MAX_PLANES];

    g_array_index(schedule->plane_kernels, CnvPlaneKernel, i).kernel = CNV_N_KERNELS;
    if ((int)(i % CNV_MAX_PLANES) < plan->n_planes && plane->filtered)
      add_plane(schedule, slots, plan, plane, i);
  }
  schedule->n_weights = -1;
  g_hash_table_unref(slots);
}

guint
cnv_schedule_bank_size(const CnvSchedule *schedule, guint bank)
{
  const guint *first = &g_array_index(schedule->banks, guint, bank);

  return (bank + 1 < schedule->banks->len ? first[1] : schedule->taps->len) - first[0];
}

const CnvPlane *
cnv_schedule_plane(const CnvSchedule *schedule, const CnvRectJob *job)
{
  const CnvPlan *plan = g_ptr_array_index(schedule->plans, job->plan);

  return &plan->plane[job->plane];
}

const CnvPlaneKernel *
cnv_schedule_plane_kernel(const CnvSchedule *schedule, const CnvRectJob *job)
{
  return &g_array_index(schedule->plane_kernels, CnvPlaneKernel, job->plan * CNV_MAX_PLANES + job->plane);
}
