/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gpu/scheduler.h"

#include "gpu/choice.h"
#include "gpu/passes.h"
#include "gpu/rectangles.h"
#include "gpu/tile_jobs.h"
#include "gpu/variants.h"
#include "plan/arith.h"

#include <string.h>

#define ARRAY_ALIGNMENT 256

#define FEW_JOBS                                                                                                       \
  2 /* of a plane that are worth a launch in place: of more, a launch looks at all tiles of the plane                  \
     */

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
      .copies = g_array_new(FALSE, FALSE, sizeof(CnvCopyJob)),
      .copy_numbers = g_array_new(FALSE, FALSE, sizeof(guint32)),
      .tile_kinds = g_byte_array_new(),
      .tile_places = g_array_new(FALSE, FALSE, sizeof(CnvTilePlace)),
      .cover_jobs = g_array_new(FALSE, FALSE, sizeof(CnvBlockJob)),
      .block_jobs = g_array_new(FALSE, FALSE, sizeof(CnvBlockJob)),
      .tile_jobs = g_array_new(FALSE, FALSE, sizeof(CnvTileJob)),
      .launches = g_array_new(FALSE, FALSE, sizeof(CnvLaunch)),
      .plan_arrays = g_byte_array_new(),
      .work_arrays = g_byte_array_new(),
  };
  cnv_jobs_init(&schedule->work);
}

void
cnv_schedule_clear(CnvSchedule *schedule)
{
  GArray *const arrays[] = {schedule->copies,   schedule->taps,          schedule->banks,       schedule->planes,
                            schedule->words,    schedule->plane_kernels, schedule->block_jobs,  schedule->tile_jobs,
                            schedule->launches, schedule->cover_jobs,    schedule->tile_places, schedule->copy_numbers};

  for (gsize i = 0; i < G_N_ELEMENTS(arrays); i++)
    g_array_unref(arrays[i]);
  g_ptr_array_unref(schedule->plans);
  g_byte_array_unref(schedule->plan_arrays);
  g_byte_array_unref(schedule->work_arrays);
  g_byte_array_unref(schedule->tile_kinds);
  cnv_jobs_clear(&schedule->work);
}

/* Begins a constant bank if the last one does not include all of the plane's taps. start: index of the plan's first
 * tap. */
static guint
find_bank(CnvSchedule *schedule, const CnvPlan *plan, const CnvPlane *plane, guint start)
{
  guint bank = g_array_index(schedule->banks, guint, schedule->banks->len - 1), range[2];

  cnv_fit_find_taps(plan, plane, range);
  if (plane->n_terms > 0 && (start + range[0] < bank || start + range[1] > bank + CNV_CONSTANT_TAPS)) {
    bank = start + range[0];
    g_array_append_val(schedule->banks, bank);
  }
  return bank;
}

/* Stores arrays of taps column by column, as constant memory has them. */
static void
transpose_taps(CnvSchedule *schedule, const CnvPlan *plan, const CnvTerm *term, guint start)
{
  const float *from = plan->taps + term->taps[0];
  float *to = &g_array_index(schedule->taps, float, start + term->taps[0]);

  for (int x = 0; x < term->n[CNV_X]; x++)
    for (int y = 0; y < term->n[CNV_Y]; y++)
      *to++ = from[y * term->n[CNV_X] + x];
}

/* Returns the plane with its taps as places in the bank. */
static CnvPlane
place_plane(CnvSchedule *schedule, const CnvPlan *plan, const CnvPlane *plane, guint start, guint bank)
{
  CnvPlane placed = *plane;

  for (int t = 0; t < plane->n_terms; t++) {
    if (!plane->term[t].separable)
      transpose_taps(schedule, plan, &plane->term[t], start);
    for (int axis = 0; axis < CNV_N_AXES; axis++)
      placed.term[t].taps[axis] += start - bank;
  }
  placed.plain &= plan->threshold == 0; /* block jobs then filter its staged averages */
  return placed;
}

/* Adopts the kernel that was chosen for the plane, if one variant serves this plane and those before it. */
static void
take_kernel(CnvSchedule *schedule, CnvPlaneKernel *plane_kernel)
{
  CnvKernelId kernel = plane_kernel->kernel;
  const CnvVariant *variant;
  CnvNeeds all;

  if (kernel == CNV_N_KERNELS)
    return;
  all = cnv_needs_join(&schedule->needs[kernel], &plane_kernel->needs);
  variant = cnv_variant_find(cnv_kernel_kind(kernel), &all);
  plane_kernel->kernel = variant ? kernel : CNV_N_KERNELS;
  for (CnvKernelId k = 0; k <= kernel && variant; k++)
    if (cnv_kernel_takes_part(kernel, k)) {
      schedule->needs[k] = all;
      schedule->variant[k] = cnv_variant_find(cnv_kernel_kind(k), &all);
    }
}

static void
add_plan(CnvSchedule *schedule, guint number, const CnvPlan *plan)
{
  CnvPlaneKernel *kernels = &g_array_index(schedule->plane_kernels, CnvPlaneKernel, number * CNV_MAX_PLANES);
  guint start = schedule->taps->len;

  g_ptr_array_add(schedule->plans, cnv_plan_ref((CnvPlan *)plan));
  g_array_append_vals(schedule->taps, plan->taps, plan->n_taps);
  for (int p = 0; p < CNV_MAX_PLANES; p++)
    kernels[p] = (CnvPlaneKernel){.plan = plan, .plane = &plan->plane[p], .kernel = CNV_N_KERNELS};
  cnv_choose_kinds(plan, schedule->has_windows, kernels);
  for (int p = 0; p < plan->n_planes; p++) {
    if (!plan->plane[p].filtered)
      continue;
    kernels[p].blocks = cnv_algorithm_has_tiles(plan->plane[p].algorithm) ? cnv_choose_blocks(plan, &plan->plane[p])
                                                                          : plan->plane[p].algorithm;
    kernels[p].bank = find_bank(schedule, plan, &plan->plane[p], start);
    g_array_index(schedule->planes, CnvPlane, number * CNV_MAX_PLANES + (guint)p) =
        place_plane(schedule, plan, &plan->plane[p], start, kernels[p].bank);
    take_kernel(schedule, &kernels[p]);
  }
}

/* Sets the plans. Returns FALSE if they and the kind of windows have not changed. */
static gboolean
set_plans(CnvSchedule *schedule, const CnvWork *work)
{
  GArray *arrays[] = {schedule->taps, schedule->banks, schedule->planes, schedule->plane_kernels};
  gboolean has_windows = work->interlaced || (work->isolated && !work->whole_frame);
  guint bank = 0;

  if (schedule->plans->len == work->n_plans && !has_windows == !schedule->has_windows &&
      memcmp(schedule->plans->pdata, work->plan, work->n_plans * sizeof(*work->plan)) == 0)
    return FALSE;
  for (gsize i = 0; i < G_N_ELEMENTS(arrays); i++)
    g_array_set_size(arrays[i], 0);
  g_ptr_array_set_size(schedule->plans, 0);
  schedule->has_windows = has_windows;
  memset(schedule->variant, 0, sizeof(schedule->variant));
  memset(schedule->needs, 0, sizeof(schedule->needs));
  g_array_set_size(schedule->planes, work->n_plans * CNV_MAX_PLANES);
  g_array_set_size(schedule->plane_kernels, work->n_plans * CNV_MAX_PLANES);
  g_array_append_val(schedule->banks, bank);
  for (guint i = 0; i < work->n_plans; i++)
    add_plan(schedule, i, work->plan[i]);
  return TRUE;
}

/* Appends an array for the GPU. Returns its first byte's offset. */
static gsize
add_array(GByteArray *arrays, const GArray *array)
{
  static const guint8 zeros[ARRAY_ALIGNMENT];
  gsize at;

  g_byte_array_append(arrays, zeros, (ARRAY_ALIGNMENT - arrays->len % ARRAY_ALIGNMENT) % ARRAY_ALIGNMENT);
  at = arrays->len;
  g_byte_array_append(arrays, (const guint8 *)array->data, array->len * g_array_get_element_size((GArray *)array));
  return at;
}

/* Sets integer weights: the largest of 16 bits whose sum times the unit is that of the weights, so that a flat frame
 * stays flat. */
static void
set_integers(CnvSources *sources)
{
  float largest = 0;

  for (int i = 0; i < sources->n; i++) {
    largest = MAX(largest, sources->weight[i]);
    sources->sum += sources->weight[i];
  }
  for (int i = 0; i < sources->n && largest > 0; i++) {
    guint32 integer = (guint32)(MAX(sources->weight[i], 0) / largest * G_MAXUINT16 + 0.5f);

    sources->integer[i / 2] |= integer << (i % 2 * 16);
    sources->integer_sum += integer;
  }
  sources->unit = sources->integer_sum ? sources->sum / (float)sources->integer_sum : 0;
}

/* Stores the weights of the work's frames, which are multiplied into taps over time, and makes tile jobs and words.
 * Returns FALSE if plans and weights have not changed. */
static gboolean
set_weights(CnvSchedule *schedule, const CnvWork *work)
{
  CnvSources sources = {.n = (int)work->n_temporal_taps};

  for (int i = 0; i < sources.n; i++)
    sources.weight[i] = work->temporal_tap[i].slot < 0 ? 0 : work->temporal_tap[i].weight;
  if (!schedule->has_new_plans && sources.n == schedule->sources.n &&
      memcmp(sources.weight, schedule->sources.weight, sizeof(sources.weight)) == 0)
    return FALSE;
  set_integers(&sources);
  schedule->sources = sources;
  g_array_set_size(schedule->words, 0);
  for (guint i = 0; i < schedule->planes->len; i++)
    cnv_tile_job_prepare(schedule, i);
  g_byte_array_set_size(schedule->plan_arrays, 0);
  schedule->planes_at = add_array(schedule->plan_arrays, schedule->planes);
  schedule->taps_at = add_array(schedule->plan_arrays, schedule->taps);
  schedule->words_at = add_array(schedule->plan_arrays, schedule->words);
  return TRUE;
}

/* Finds the planes of memory that jobs write completely: each field of an array of samples by one job. Whole jobs are
 * left to the search for their tiles. */
static void
find_written(CnvSchedule *schedule, int fields)
{
  int n_whole[CNV_MAX_PLANES] = {0};

  schedule->written = 0;
  schedule->beside = TRUE;
  for (int m = 0; m < CNV_MAX_PLANES; m++)
    schedule->kept[m].kinds = -1;
  for (guint i = 0; i < schedule->work.jobs->len; i++) {
    const CnvJob *job = &g_array_index(schedule->work.jobs, CnvJob, i);
    const CnvPlane *plane = cnv_schedule_plane_kernel(schedule, job)->plane;
    int rows = cnv_divide_up(plane->height - job->field, job->fields), memory = plane->component[0].plane;

    n_whole[memory] += !cnv_tile_jobs_are_staged(schedule, job) && job->width == plane->width && job->height == rows &&
                       job->coverage_pitch == 0 && job->move_x == 0 && job->move_y == 0;
    if (n_whole[memory] == MIN(fields, plane->height))
      schedule->written |= 1u << memory;
  }
  for (guint i = 0; i < schedule->work.jobs->len; i++) {
    const CnvJob *job = &g_array_index(schedule->work.jobs, CnvJob, i);
    const CnvPlane *plane = cnv_schedule_plane_kernel(schedule, job)->plane;

    schedule->beside &= cnv_tile_jobs_take(schedule, job) &&
                        cnv_tile_jobs_have_kinds(schedule, cnv_schedule_plane_kernel(schedule, job)->kernel) &&
                        (job->whole || schedule->written >> plane->component[0].plane & 1);
  }
}

/* Finds the copies of work in place: the rectangles of its jobs, or for a whole job its tiles (gpu/tile_jobs.c). */
static void
find_copies(CnvSchedule *schedule)
{
  g_array_set_size(schedule->copies, 0);
  schedule->copies_more = FALSE;
  g_array_set_size(schedule->copy_numbers, 0);
  for (guint i = 0; i < schedule->work.jobs->len && schedule->in_place; i++) {
    const CnvJob *job = &g_array_index(schedule->work.jobs, CnvJob, i);

    if (job->whole)
      continue;
    cnv_schedule_copy(schedule, job, job->x, job->y, job->width, job->height);
    schedule->copies_more |= job->coverage_pitch > 0 && (job->shared || !cnv_tile_jobs_take(schedule, job));
  }
}

/* Adds the coverage of jobs. That of whole jobs is added with their tiles. */
static void
cover_all(CnvSchedule *schedule, const GArray *jobs)
{
  for (guint i = 0; i < jobs->len; i++) {
    const CnvJob *job = &g_array_index(jobs, CnvJob, i);

    if (job->coverage_pitch > 0 && !job->whole && job->cover != CNV_COVER_MADE)
      cnv_schedule_cover(schedule, job, job->x, job->y, job->width, job->height);
  }
}

/* Collects the coverage that cover computes. */
static void
cover_jobs(CnvSchedule *schedule)
{
  g_array_set_size(schedule->cover_jobs, 0);
  g_byte_array_set_size(schedule->tile_kinds, 0);
  g_array_set_size(schedule->tile_places, 0);
  schedule->cover_blocks = 0;
  cover_all(schedule, schedule->work.weights);
  cover_all(schedule, schedule->work.jobs);
}

/* Returns the planes (bits) whose jobs may be whole, whatever their plan. */
static guint
planes_with_tiles(const CnvSchedule *schedule)
{
  CnvJob job = {
      .coverage_pitch = CNV_COVERAGE_ALIGNMENT, .coverage = 1, .width = 1, .height = 1, .fields = 1, .whole = TRUE};
  guint planes = 0;

  job.window_width = job.window_height = 1;
  for (job.plane = 0; job.plane < CNV_MAX_PLANES; job.plane++) {
    planes |= 1u << job.plane;
    for (job.plan = 0; job.plan < (int)schedule->plans->len; job.plan++)
      if (!cnv_tile_jobs_take(schedule, &job) ||
          !cnv_tile_jobs_have_kinds(schedule, cnv_schedule_plane_kernel(schedule, &job)->kernel))
        planes &= ~(1u << job.plane);
  }
  return planes;
}

static void
add_work_arrays(CnvSchedule *schedule)
{
  const CnvJobs *work = &schedule->work;
  GByteArray *to = schedule->work_arrays;

  g_byte_array_set_size(to, 0);
  schedule->block_jobs_at = add_array(to, schedule->block_jobs);
  schedule->tile_jobs_at = add_array(to, schedule->tile_jobs);
  schedule->copies_at = add_array(to, schedule->copies);
  schedule->copy_numbers_at = add_array(to, schedule->copy_numbers);
  schedule->tile_places_at = add_array(to, schedule->tile_places);
  schedule->tile_kinds_at = to->len;
  g_byte_array_append(to, schedule->tile_kinds->data, schedule->tile_kinds->len);
  schedule->cover_jobs_at = add_array(to, schedule->cover_jobs);
  if (schedule->cover_jobs->len == 0)
    return;
  schedule->grids_at = add_array(to, work->grids);
  schedule->cells_at = add_array(to, work->cells);
  schedule->lists_at = add_array(to, work->lists);
  schedule->shapes_at = add_array(to, work->shapes);
  schedule->places_at = add_array(to, work->places);
}

/* Returns TRUE if one launch can filter in place: all of its blocks must run at the same time, and have read before the
 * first one writes. */
static gboolean
runs_at_once(const CnvSchedule *schedule)
{
  const CnvLaunch *launch = &g_array_index(schedule->launches, CnvLaunch, 0);
  const CnvVariant *variant;

  if (!schedule->in_place || schedule->launches->len != 1 || schedule->sources.n > 0)
    return FALSE;
  variant = schedule->variant[launch->kernel];
  return variant && cnv_tile_jobs_have_kinds(schedule, launch->kernel);
}

gboolean
cnv_schedule_set_work(CnvSchedule *schedule, const CnvWork *work, gboolean in_place)
{
  int fields = work->interlaced ? 2 : 1;

  schedule->has_new_plans = set_plans(schedule, work);
  schedule->has_new_taps = set_weights(schedule, work);
  schedule->has_new_masks = FALSE;
  if (!schedule->has_new_taps && cnv_jobs_match(&schedule->work, work) && !in_place == !schedule->in_place)
    return FALSE;
  schedule->in_place = in_place;
  schedule->has_new_masks =
      cnv_jobs_make(&schedule->work, work, work->interlaced ? 0 : planes_with_tiles(schedule), in_place ? FEW_JOBS : 0);
  find_written(schedule, fields);
  find_copies(schedule);
  cover_jobs(schedule);
  cnv_schedule_make_launches(schedule, fields);
  schedule->beside &=
      !in_place && schedule->launches->len > 0 && schedule->written != (1u << work->plan[0]->layout.n_planes) - 1;
  schedule->at_once = runs_at_once(schedule);
  add_work_arrays(schedule);
  return TRUE;
}

const char *
cnv_schedule_method(const CnvSchedule *schedule, const CnvJob *job)
{
  const CnvPlaneKernel *plane_kernel = cnv_schedule_plane_kernel(schedule, job);
  const CnvKernelKind *kind;

  if (!cnv_tile_jobs_take(schedule, job))
    return cnv_algorithm_nicks[plane_kernel->blocks].nick;
  kind = cnv_kernel_kind(plane_kernel->kernel);
  return kind->method ? kind->method : kind->name;
}
