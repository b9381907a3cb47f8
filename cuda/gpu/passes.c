/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gpu/passes.h"

#include "gpu/cells.h"
#include "gpu/decimated.h"
#include "gpu/tile_jobs.h"
#include "plan/arith.h"

/* Most row sums of one pass, in floats: they stay in the second-level cache of large GPUs. A single plane may need
 * more. */
#define PASS_FLOATS (10 * 1024 * 1024)

#define SUMS_UNIT 64 /* floats: rows of sums begin at 256 bytes */

/* ---- block jobs ---- */

static gint64
samples_of(const CnvSchedule *schedule, const CnvJob *job)
{
  return (gint64)job->width * job->height * cnv_schedule_plane_kernel(schedule, job)->plane->channels;
}

/* Returns the number of blocks of `cells` that the GPU runs at once for this job, if all jobs share the GPU in
 * proportion to their samples; at least 1. */
static int
blocks_that_fit(const CnvSchedule *schedule, const CnvJob *job)
{
  gint64 blocks = CNV_CELLS_BLOCKS * (gint64)schedule->n_processors;

  return (int)CLAMP(blocks * samples_of(schedule, job) / MAX(schedule->samples, 1), 1, MAX(blocks, 1));
}

/* Returns the job with its row sums, if its kernels have any, from float number *sums on. Sets *sums to the float after
 * them. */
static CnvBlockJob
make_block_job(const CnvSchedule *schedule, const CnvJob *job, gsize *sums)
{
  const CnvPlaneKernel *plane_kernel = cnv_schedule_plane_kernel(schedule, job);
  const CnvPlane *plane = plane_kernel->plane;
  CnvBlockJob block_job = {.job = *job, .sums = (guint32)*sums};
  int n_y = 1;

  for (int t = 0; t < plane->n_terms; t++)
    n_y = MAX(n_y, plane->term[t].n[CNV_Y]);
  block_job.sums_stride = cnv_divide_up(job->width * plane->channels, SUMS_UNIT) * SUMS_UNIT;
  block_job.sums_rows = cnv_divide_up(job->height + n_y - 1, CNV_ROWS_HEIGHT) * CNV_ROWS_HEIGHT;
  if (plane_kernel->blocks == CNV_ALGORITHM_SEPARABLE || plane_kernel->blocks == CNV_ALGORITHM_TEXTURE)
    *sums += (gsize)block_job.sums_stride * block_job.sums_rows * plane->n_terms;
  if (plane_kernel->blocks == CNV_ALGORITHM_MOSAIC && schedule->sources.n == 0)
    block_job.cells = cnv_cells_divide(plane, job, blocks_that_fit(schedule, job));
  if (block_job.cells.threads_x > 0)
    *sums += (gsize)cnv_cells_sums(&block_job.cells, plane->channels);
  return block_job;
}

/* Assigns the launch's next blocks to the job. */
static void
add_block_job(CnvSchedule *schedule, CnvLaunch *launch, CnvBlockJob job)
{
  const CnvKernelKind *kind = cnv_kernel_kind(launch->kernel);
  const CnvPlane *plane =
      &g_array_index(schedule->planes, CnvPlane, job.job.plan * CNV_MAX_PLANES + job.job.plane); /* as the GPU has it */
  int width = kind->by_pixels ? job.job.width : job.job.width * plane->channels;
  int height = kind->by_terms ? job.sums_rows * plane->n_terms : job.job.height, rows;

  job.first_block = (int)launch->blocks_x;
  if (kind->divides) {
    job.columns = cnv_cells_columns(&job.cells);
    rows = cnv_cells_rows(&job.cells);
  } else if (kind->by_cells) {
    job.columns = cnv_mosaic_blocks(plane, &job.job, CNV_X);
    rows = cnv_mosaic_blocks(plane, &job.job, CNV_Y);
  } else {
    job.columns = cnv_divide_up(width, kind->block_x);
    rows = cnv_divide_up(height, kind->block_y);
  }
  launch->blocks_x += (guint)(job.columns * rows);
  g_array_append_val(schedule->block_jobs, job);
}

/* ---- launches ---- */

/* Returns TRUE if the launch filters the job's cells. Three kernels make mosaics. */
static gboolean
takes_cells(const CnvLaunch *launch, const CnvBlockJob *job)
{
  switch (launch->kernel) {
  case CNV_KERNEL_MOSAIC:
    return job->cells.threads_x == 0;
  case CNV_KERNEL_CELL_SUMS:
    return job->cells.slices > 1;
  case CNV_KERNEL_CELLS:
    return job->cells.threads_x > 0;
  default:
    return TRUE;
  }
}

static gboolean
takes(const CnvSchedule *schedule, const CnvLaunch *launch, const CnvJob *job)
{
  const CnvPlaneKernel *plane_kernel = cnv_schedule_plane_kernel(schedule, job);
  CnvAlgorithm algorithm = cnv_kernel_kind(launch->kernel)->algorithm;

  if (launch->kernel == CNV_KERNEL_STAGE_IN)
    return schedule->averages || !plane_kernel->plane->plain;
  if (launch->kernel == CNV_KERNEL_STAGE_OUT)
    return cnv_tile_jobs_are_staged(schedule, job);
  if (plane_kernel->bank != launch->bank)
    return FALSE;
  if (!cnv_tile_jobs_take(schedule, job))
    return plane_kernel->blocks == algorithm && !cnv_kernel_kind(launch->kernel)->variants;
  return cnv_kernel_takes_part(plane_kernel->kernel, launch->kernel);
}

/* Adds the launch of a kernel for the jobs that it filters. */
static void
add_launch(CnvSchedule *schedule, CnvKernelId kernel, guint bank, const CnvJob *jobs, guint n)
{
  const CnvKernelKind *kind = cnv_kernel_kind(kernel);
  GArray *array = kind->variants ? schedule->tile_jobs : schedule->block_jobs;
  CnvLaunch launch = {.kernel = kernel, .bank = bank, .first = array->len};
  gsize sums = 0, decimated = 0;

  for (guint i = 0; i < n; i++) {
    if (!takes(schedule, &launch, &jobs[i]))
      continue;
    if (cnv_kernel_takes_part(CNV_KERNEL_INTERPOLATE, kernel)) {
      cnv_decimated_add(schedule, kernel, cnv_schedule_plane_kernel(schedule, &jobs[i]), &jobs[i], &decimated);
    } else if (kind->variants) {
      cnv_tile_jobs_add(schedule, &jobs[i]);
    } else {
      CnvBlockJob block_job = make_block_job(schedule, &jobs[i], &sums);

      if (kernel == CNV_KERNEL_STAGE_IN)
        schedule->staged |= 1u << jobs[i].plane;
      if (takes_cells(&launch, &block_job))
        add_block_job(schedule, &launch, block_job);
    }
  }
  if (kind->by_terms || kind->divides)
    schedule->sums_size = MAX(schedule->sums_size, sums * sizeof(float));
  launch.n = array->len - launch.first;
  if (launch.n == 0)
    return;
  if (kind->variants)
    cnv_tile_jobs_cut(schedule, &launch);
  if (launch.blocks_x > 0)
    g_array_append_val(schedule->launches, launch);
}

static void
add_pass(CnvSchedule *schedule, guint bank, const CnvJob *jobs, guint n)
{
  for (CnvKernelId kernel = CNV_KERNEL_NAIVE; kernel < CNV_KERNEL_STAGE_OUT; kernel++)
    add_launch(schedule, kernel, bank, jobs, n);
}

/* Adds the launches of one bank for the jobs, in passes of jobs whose row sums fit. */
static void
add_bank(CnvSchedule *schedule, guint bank, const CnvJob *jobs, guint n)
{
  guint first = 0;
  gsize used = 0;

  for (guint i = 0; i < n; i++) {
    gsize sums = 0;

    if (cnv_schedule_plane_kernel(schedule, &jobs[i])->bank != bank || cnv_tile_jobs_take(schedule, &jobs[i]))
      continue;
    make_block_job(schedule, &jobs[i], &sums);
    if (used > 0 && used + sums > PASS_FLOATS) {
      add_pass(schedule, bank, jobs + first, i - first);
      first = i;
      used = 0;
    }
    used += sums;
  }
  add_pass(schedule, bank, jobs + first, n - first);
}

/* Adds the launches of all banks for the jobs. */
static void
add_banks(CnvSchedule *schedule, const CnvJob *jobs, guint n)
{
  for (guint i = 0; i < schedule->banks->len; i++)
    add_bank(schedule, g_array_index(schedule->banks, guint, i), jobs, n);
}

/* ---- the frame ---- */

/* Stages all of each plane that is not plain, because filters also read samples around those that they filter. */
static void
add_staging(CnvSchedule *schedule, int fields)
{
  const CnvPlan *plan = g_ptr_array_index(schedule->plans, 0);
  CnvJob jobs[2 * CNV_MAX_PLANES];
  guint n = 0;

  for (int i = 0; i < plan->n_planes * fields; i++) {
    const CnvPlane *plane = &plan->plane[i / fields];
    int field = i % fields, rows = cnv_divide_up(plane->height - field, fields);

    if (plane->filtered && rows > 0)
      jobs[n++] =
          (CnvJob){.plane = i / fields, .field = field, .fields = fields, .width = plane->width, .height = rows};
  }
  add_launch(schedule, CNV_KERNEL_STAGE_IN, 0, jobs, n);
}

/* Adds normalised convolution by tile jobs. staged: set for each job of CnvJobs.weights that has other jobs. */
static void
add_weighed_tiles(CnvSchedule *schedule, gboolean *staged)
{
  const GArray *jobs = schedule->work.jobs;
  g_autoptr(GArray) tiles = g_array_new(FALSE, FALSE, sizeof(CnvJob));

  for (guint i = 0; i < jobs->len; i++) {
    const CnvJob *job = &g_array_index(jobs, CnvJob, i);

    if (cnv_tile_jobs_take(schedule, job))
      g_array_append_vals(tiles, job, 1);
    else
      staged[job->weights - 1] = TRUE;
  }
  add_banks(schedule, (const CnvJob *)tiles->data, tiles->len);
}

/* Adds all other normalised convolution: layers are staged with their weights and filtered one after the other, in
 * rounds of one layer per plane and field. */
static void
make_rounds(CnvSchedule *schedule)
{
  const GArray *jobs = schedule->work.jobs, *weights = schedule->work.weights;
  const CnvJob *weight_job = (const CnvJob *)weights->data;
  g_autoptr(GArray) staged = g_array_new(FALSE, FALSE, sizeof(CnvJob));
  g_autoptr(GArray) filtered = g_array_new(FALSE, FALSE, sizeof(CnvJob));
  g_autofree guint *round = g_new0(guint, weights->len);
  g_autofree gboolean *is_staged = g_new0(gboolean, weights->len);
  guint rounds = 0;

  for (guint i = 0; i < weights->len; i++) {
    if (i > 0 && weight_job[i].plane == weight_job[i - 1].plane && weight_job[i].field == weight_job[i - 1].field)
      round[i] = round[i - 1] + 1;
    rounds = MAX(rounds, round[i] + 1);
  }
  add_weighed_tiles(schedule, is_staged);
  for (guint r = 0; r < rounds; r++) {
    g_array_set_size(staged, 0);
    g_array_set_size(filtered, 0);
    for (guint i = 0; i < weights->len; i++)
      if (round[i] == r && is_staged[i])
        g_array_append_val(staged, weight_job[i]);
    for (guint i = 0; i < jobs->len; i++) {
      const CnvJob *job = &g_array_index(jobs, CnvJob, i);

      if (round[job->weights - 1] == r && is_staged[job->weights - 1])
        g_array_append_vals(filtered, job, 1);
    }
    add_launch(schedule, CNV_KERNEL_STAGE_IN, 0, (const CnvJob *)staged->data, staged->len);
    add_banks(schedule, (const CnvJob *)filtered->data, filtered->len);
    add_launch(schedule, CNV_KERNEL_STAGE_OUT, 0, (const CnvJob *)filtered->data, filtered->len);
  }
}

static gboolean
shares_window(const CnvJob *a, const CnvJob *b)
{
  return a->window_x == b->window_x && a->window_y == b->window_y && a->window_width == b->window_width &&
         a->window_height == b->window_height;
}

static gboolean
windows_meet(const CnvJob *a, const CnvJob *b)
{
  return a->window_x < b->window_x + b->window_width && b->window_x < a->window_x + a->window_width &&
         a->window_y < b->window_y + b->window_height && b->window_y < a->window_y + a->window_height;
}

/* Adds the job's window to those that a round stages, unless it is there. Returns FALSE if it meets another one of the
 * plane and field: averages depend on the window, in which the neighbours of a sample lie. */
static gboolean
stage_window(GArray *windows, const CnvJob *job)
{
  CnvJob window = {.plane = job->plane,
                   .field = job->field,
                   .fields = job->fields,
                   .x = job->window_x,
                   .y = job->window_y,
                   .width = job->window_width,
                   .height = job->window_height,
                   .window_x = job->window_x,
                   .window_y = job->window_y,
                   .window_width = job->window_width,
                   .window_height = job->window_height};

  for (guint i = 0; i < windows->len; i++) {
    const CnvJob *other = &g_array_index(windows, CnvJob, i);

    if (other->plane != job->plane || other->field != job->field)
      continue;
    if (shares_window(other, job))
      return TRUE;
    if (windows_meet(other, job))
      return FALSE;
  }
  g_array_append_val(windows, window);
  return TRUE;
}

/* Adds filters of averages over time: jobs are staged by their windows and filtered, in rounds of windows that do not
 * meet. */
static void
make_averages(CnvSchedule *schedule, const CnvJob *jobs, guint n)
{
  g_autoptr(GArray) left = g_array_new(FALSE, FALSE, sizeof(CnvJob)), now = g_array_new(FALSE, FALSE, sizeof(CnvJob));
  g_autoptr(GArray) windows = g_array_new(FALSE, FALSE, sizeof(CnvJob));

  for (guint i = 0; i < n; i++)
    g_array_append_vals(cnv_tile_jobs_are_staged(schedule, &jobs[i]) ? left : now, &jobs[i], 1);
  add_banks(schedule, (const CnvJob *)now->data, now->len);
  while (left->len > 0) {
    guint n_left = 0;

    g_array_set_size(now, 0);
    g_array_set_size(windows, 0);
    for (guint i = 0; i < left->len; i++) {
      const CnvJob job = g_array_index(left, CnvJob, i);

      if (stage_window(windows, &job))
        g_array_append_val(now, job);
      else
        g_array_index(left, CnvJob, n_left++) = job;
    }
    g_array_set_size(left, n_left);
    add_launch(schedule, CNV_KERNEL_STAGE_IN, 0, (const CnvJob *)windows->data, windows->len);
    add_banks(schedule, (const CnvJob *)now->data, now->len);
    add_launch(schedule, CNV_KERNEL_STAGE_OUT, 0, (const CnvJob *)now->data, now->len);
  }
}

static void
make_frame(CnvSchedule *schedule, int fields)
{
  const CnvJob *jobs = (const CnvJob *)schedule->work.jobs->data;
  guint n = schedule->work.jobs->len;

  if (n == 0)
    return;
  if (schedule->work.weights->len > 0) {
    make_rounds(schedule);
    return;
  }
  if (schedule->averages) {
    make_averages(schedule, jobs, n);
    return;
  }
  add_staging(schedule, fields);
  add_banks(schedule, jobs, n);
  add_launch(schedule, CNV_KERNEL_STAGE_OUT, 0, jobs, n);
}

void
cnv_schedule_make_launches(CnvSchedule *schedule, int fields)
{
  GArray *arrays[] = {schedule->block_jobs, schedule->tile_jobs, schedule->launches};

  for (gsize i = 0; i < G_N_ELEMENTS(arrays); i++)
    g_array_set_size(arrays[i], 0);
  schedule->sums_size = schedule->decimated_size = 0;
  schedule->staged = 0;
  schedule->averages = ((const CnvPlan *)g_ptr_array_index(schedule->plans, 0))->threshold != 0;
  schedule->samples = 0;
  for (guint i = 0; i < schedule->work.jobs->len; i++)
    schedule->samples += samples_of(schedule, &g_array_index(schedule->work.jobs, CnvJob, i));
  make_frame(schedule, fields);
}
