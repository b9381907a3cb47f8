/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gpu/tile_jobs.h"
#include "plan/arith.h"

/* Row sums of one pass: what stays in the second-level cache of large GPUs. A single plane may take more. */
#define PASS_FLOATS (10 * 1024 * 1024)

#define SUMS_UNIT 64 /* floats: rows of sums begin at 256 bytes */

#define BLOCK_ALIGNMENT 256

/* ---- launches of units ---- */

static void
add_unit(CnvSchedule *schedule, CnvLaunch *launch, guint job, int term)
{
  const CnvKernelKind *kind = cnv_kernel_kind(launch->kernel);
  const CnvRectJob *from = &g_array_index(schedule->jobs, CnvRectArgs, job).job;
  const CnvPlane *plane = cnv_schedule_plane(schedule, from);
  int width = kind->by_pixels ? from->width : from->width * plane->channels;
  int height = kind->by_terms ? from->height + plane->term[term].n[CNV_Y] - 1 : from->height;
  CnvUnit unit = {.job = (int)job,
                  .term = term,
                  .first_block = (int)launch->blocks_x,
                  .blocks_x = cnv_divide_up(width, kind->block_x)};

  launch->blocks_x += (guint)(unit.blocks_x * cnv_divide_up(height, kind->block_y));
  launch->n++;
  g_array_append_val(schedule->units, unit);
}

/* The algorithm by whose kernels a job is done. */
static CnvAlgorithm
algorithm_of(const CnvSchedule *schedule, const CnvRectJob *job)
{
  const CnvPlane *plane = cnv_schedule_plane(schedule, job);

  if (!cnv_algorithm_has_tiles(plane->algorithm) || cnv_tile_jobs_take(schedule, job))
    return plane->algorithm;
  return cnv_plane_is_separable(plane) ? CNV_ALGORITHM_SEPARABLE : CNV_ALGORITHM_TILED;
}

static gboolean
takes(const CnvSchedule *schedule, const CnvLaunch *launch, const CnvRectJob *job)
{
  CnvAlgorithm algorithm = cnv_kernel_kind(launch->kernel)->algorithm;

  if (algorithm == CNV_ALGORITHM_AUTO)
    return !cnv_schedule_plane(schedule, job)->plain;
  return algorithm == algorithm_of(schedule, job) && cnv_schedule_plane_kernel(schedule, job)->bank == launch->bank;
}

/* The launch of a kernel for those of jobs first to last - 1 that it is for. */
static void
add_launch(CnvSchedule *schedule, CnvKernelId kernel, guint bank, guint first, guint last)
{
  CnvLaunch launch = {.kernel = kernel, .bank = bank, .first = schedule->units->len};

  for (guint i = first; i < last; i++) {
    const CnvRectJob *job = &g_array_index(schedule->jobs, CnvRectArgs, i).job;
    int n_terms = cnv_kernel_kind(kernel)->by_terms ? cnv_schedule_plane(schedule, job)->n_terms : 1;

    for (int t = 0; t < n_terms && takes(schedule, &launch, job); t++)
      add_unit(schedule, &launch, i, t);
  }
  if (launch.n > 0)
    g_array_append_val(schedule->launches, launch);
}

/* ---- passes ---- */

static gboolean
has_sums(const CnvSchedule *schedule, const CnvRectJob *job)
{
  CnvAlgorithm algorithm = algorithm_of(schedule, job);

  return algorithm == CNV_ALGORITHM_SEPARABLE || algorithm == CNV_ALGORITHM_TEXTURE;
}

/* Gives a job its row sums from float number `first` on; returns the first behind them. */
static gsize
alloc_sums(CnvRectArgs *args, const CnvPlane *plane, gsize first)
{
  args->sums_stride = cnv_divide_up(args->job.width * plane->channels, SUMS_UNIT) * SUMS_UNIT;
  for (int t = 0; t < plane->n_terms; t++) {
    args->sums[t] = (uint32_t)first;
    first += (gsize)args->sums_stride * (args->job.height + plane->term[t].n[CNV_Y] - 1);
  }
  return first;
}

static void
add_pass(CnvSchedule *schedule, guint bank, guint first, guint last)
{
  for (CnvKernelId kernel = CNV_KERNEL_NAIVE; kernel < CNV_KERNEL_FUSED; kernel++)
    add_launch(schedule, kernel, bank, first, last);
  cnv_tile_jobs_add(schedule, bank, first, last);
}

/* The launches of one bank for jobs first to last - 1, in passes of jobs whose row sums fit. */
static void
add_bank(CnvSchedule *schedule, guint bank, guint first, guint last)
{
  gsize used = 0;

  for (guint i = first; i < last; i++) {
    CnvRectArgs *args = &g_array_index(schedule->jobs, CnvRectArgs, i);
    const CnvPlane *plane = cnv_schedule_plane(schedule, &args->job);

    if (cnv_schedule_plane_kernel(schedule, &args->job)->bank != bank || !has_sums(schedule, &args->job))
      continue;
    if (used > 0 && alloc_sums(args, plane, used) > PASS_FLOATS) {
      add_pass(schedule, bank, first, i);
      first = i;
      used = 0;
    }
    used = alloc_sums(args, plane, used);
    schedule->sums_size = MAX(schedule->sums_size, used * sizeof(float));
  }
  add_pass(schedule, bank, first, last);
}

/* ---- jobs ---- */

static void
add_job(CnvSchedule *schedule, const CnvRectJob *job)
{
  const CnvPlane *plane = cnv_schedule_plane(schedule, job);
  CnvRectArgs args = {.job = *job,
                      .plane_args = job->plan * CNV_MAX_PLANES + job->plane,
                      .pointers = plane->plain ? plane->component[0].plane : job->plane};

  g_array_append_val(schedule->jobs, args);
}

/* Jobs for all of the staged planes: samples around those that are filtered are read, too. Returns how many. */
static guint
add_staged_planes(CnvSchedule *schedule, int fields)
{
  const CnvPlan *plan = g_ptr_array_index(schedule->plans, 0);
  guint before = schedule->jobs->len;

  for (int p = 0; p < plan->n_planes; p++)
    for (int field = 0; field < fields && plan->plane[p].filtered && !plan->plane[p].plain; field++) {
      CnvRectJob job = {.plane = p,
                        .field = field,
                        .fields = fields,
                        .width = plan->plane[p].width,
                        .height = cnv_divide_up(plan->plane[p].height - field, fields)};

      if (job.height > 0)
        add_job(schedule, &job);
    }
  return schedule->jobs->len - before;
}

static void
make_frame(CnvSchedule *schedule, int fields)
{
  guint n = schedule->uncut->len, n_staged = 0;

  for (guint i = 0; i < n; i++)
    add_job(schedule, &g_array_index(schedule->uncut, CnvRectJob, i));
  if (n == 0)
    return;
  if (!schedule->is_plain)
    n_staged = add_staged_planes(schedule, fields);
  if (n_staged > 0)
    add_launch(schedule, CNV_KERNEL_STAGE_IN, 0, n, n + n_staged);
  for (guint bank = 0; bank < schedule->banks->len; bank++)
    add_bank(schedule, bank, 0, n);
  if (n_staged > 0)
    add_launch(schedule, CNV_KERNEL_STAGE_OUT, 0, 0, n);
}

/* The rows of whole planes that a slice has. Rows beyond them are read from the frame. */
static void
make_slice(CnvSchedule *schedule, int k)
{
  guint before = schedule->jobs->len;

  for (guint i = 0; i < schedule->uncut->len; i++) {
    CnvRectJob job = g_array_index(schedule->uncut, CnvRectJob, i);
    int sub_y = cnv_schedule_plane(schedule, &job)->sub_y;

    job.y = k > 0 ? cnv_slice_rows(schedule->slices.end[k - 1], sub_y) : 0;
    job.height = cnv_slice_rows(schedule->slices.end[k], sub_y) - job.y;
    add_job(schedule, &job);
  }
  add_bank(schedule, 0, before, schedule->jobs->len);
  schedule->launches_to[k] = schedule->launches->len;
}

static void
make_launches(CnvSchedule *schedule, const CnvWork *work)
{
  GArray *arrays[] = {schedule->jobs, schedule->units, schedule->tile_jobs, schedule->launches};

  for (gsize i = 0; i < G_N_ELEMENTS(arrays); i++)
    g_array_set_size(arrays[i], 0);
  schedule->sums_size = 0;
  if (schedule->slices.single_launch)
    make_frame(schedule, work->interlaced ? 2 : 1);
  for (int k = 0; k < schedule->slices.n && !schedule->slices.single_launch; k++)
    make_slice(schedule, k);
}

static gsize
add_array(GByteArray *block, const GArray *array)
{
  static const guint8 zeros[BLOCK_ALIGNMENT];
  gsize at;

  g_byte_array_append(block, zeros, (BLOCK_ALIGNMENT - block->len % BLOCK_ALIGNMENT) % BLOCK_ALIGNMENT);
  at = block->len;
  g_byte_array_append(block, (const guint8 *)array->data, array->len * g_array_get_element_size((GArray *)array));
  return at;
}

gboolean
cnv_schedule_set_work(CnvSchedule *schedule, const CnvWork *work, gboolean cut)
{
  gboolean new_weights = cnv_schedule_set_weights(schedule, work);

  if (!new_weights && cnv_work_key_matches(&schedule->of, work) && !work->overlaps == !schedule->of.work.overlaps &&
      !cut == !schedule->cut)
    return FALSE;
  cnv_work_key_set(&schedule->of, work);
  schedule->crowd = cnv_rect_jobs_make(work, schedule->uncut, schedule->mask_rects);
  schedule->cut = cut;
  schedule->slices = cnv_slices_of_work(work);
  /* Constant memory holds one bank at a time: several would be loaded again for each slice. */
  schedule->slices.single_launch |= !cut || schedule->banks->len > 1;
  make_launches(schedule, work);
  g_byte_array_set_size(schedule->block, 0);
  schedule->planes_at = add_array(schedule->block, schedule->planes);
  schedule->jobs_at = add_array(schedule->block, schedule->jobs);
  schedule->mask_rects_at = add_array(schedule->block, schedule->mask_rects);
  schedule->units_at = add_array(schedule->block, schedule->units);
  schedule->tile_jobs_at = add_array(schedule->block, schedule->tile_jobs);
  return TRUE;
}
