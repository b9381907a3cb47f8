/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gpu/tile_jobs.h"

#include <string.h>

/* Tile jobs know no weights of regions. Where missing samples stand for others, tensor has their taps in bands for the
 * plane's sides, not for a window's. */
gboolean
cnv_tile_jobs_take(const CnvSchedule *schedule, const CnvRectJob *job)
{
  const CnvPlaneKernel *of = cnv_schedule_plane_kernel(schedule, job);
  const CnvNeeds *needs = &of->needs;
  gboolean has_side_bands = needs->right_group < needs->n_groups || needs->left_groups > 0;
  gboolean full_width = job->window_x == 0 && job->window_width == cnv_schedule_plane(schedule, job)->width;

  return of->kernel != CNV_N_KERNELS && job->n_mask_rects == 0 && (full_width || !has_side_bands);
}

/* The numbers that all kinds take. */
static CnvTileJob
make_job(const CnvSchedule *schedule, const CnvRectArgs *from)
{
  const CnvPlane *plane = &g_array_index(schedule->planes, CnvPlane, from->plane_args);
  int c = cnv_fit_first_channel(cnv_schedule_plane(schedule, &from->job)), first = from->job.x * plane->channels;
  CnvTileJob job = {.job = from->job,
                    .pointers = from->pointers,
                    .origin = first - first % CNV_TENSOR_K,
                    .channels = plane->channels,
                    .border = plane->border,
                    .filtered = plane->filtered,
                    .copied = plane->copied,
                    .shift = plane->component[0].shift,
                    .full_bits = (int)plane->full[0],
                    .absolute = plane->combine == CNV_COMBINE_ABSOLUTE,
                    .term = plane->term[0],
                    .mid = plane->mid[c],
                    .mid_bias = plane->mid_bias[c],
                    .gain = plane->gain[c],
                    .fraction = plane->fraction[c],
                    .base = plane->base[c]};

  memcpy(job.border_value, plane->border_value, sizeof(job.border_value));
  return job;
}

static void
add_job(CnvSchedule *schedule, const CnvRectArgs *from)
{
  const CnvPlaneKernel *of = cnv_schedule_plane_kernel(schedule, &from->job);
  const CnvKernelKind *kind = cnv_kernel_kind(of->kernel);
  CnvTileJob job = make_job(schedule, from);

  if (kind->append_weights) {
    job.bands = of->weights;
    job.mid_bias = of->gain != 0 ? job.mid_bias * (job.gain / of->gain) : 0; /* in the units of sums */
    job.gain = of->gain;
  }
  if (kind->set_job)
    kind->set_job(&job, g_ptr_array_index(schedule->plans, from->job.plan), schedule->variant[of->kernel], &of->needs);
  g_array_append_val(schedule->tile_jobs, job);
}

/* Cuts a job into tiles of so many rows; returns how many blocks there are. */
static int
cut_job(CnvTileJob *job, const CnvKernelKind *kind, const CnvVariant *variant, int rows)
{
  int last = (job->job.x + job->job.width) * job->channels, width = kind->tile_width(variant, job), sides, more;

  job->rows = rows;
  job->columns = (last - job->origin + width - 1) / width;
  if (kind->count_side_columns)
    kind->count_side_columns(job, variant);
  sides = job->left_columns + job->right_columns;
  more = sides > 0 ? sides * (variant->groups - 1) : 0;
  job->n_tiles = (job->columns + more) * ((job->job.height + rows - 1) / rows);
  return (job->n_tiles + variant->tiles - 1) / variant->tiles;
}

/* Cuts the launch's jobs, the highest of which has so many rows, the longest taps `rows` rows. */
static void
cut_launch(CnvSchedule *schedule, CnvLaunch *launch, int highest, int rows)
{
  const CnvKernelKind *kind = cnv_kernel_kind(launch->kernel);
  const CnvVariant *variant = schedule->variant[launch->kernel];
  int tile_rows = 0;

  for (int size = 1; tile_rows < highest; size++) {
    tile_rows = kind->tile_rows(variant, rows, size);
    if (tile_rows <= 0)
      continue;
    launch->blocks_x = 0;
    for (guint i = launch->first; i < launch->first + launch->n; i++) {
      CnvTileJob *job = &g_array_index(schedule->tile_jobs, CnvTileJob, i);

      job->first_block = (int)launch->blocks_x;
      launch->blocks_x += (guint)cut_job(job, kind, variant, tile_rows);
    }
    if (!kind->low_tiles || launch->blocks_x <= schedule->blocks_at_once)
      break;
  }
  if (kind->shared_bytes)
    launch->shared_bytes = kind->shared_bytes(variant, &schedule->needs[launch->kernel], tile_rows);
}

static void
add_launch(CnvSchedule *schedule, CnvKernelId kernel, guint bank, guint first, guint last)
{
  CnvLaunch launch = {.kernel = kernel, .bank = bank, .first = schedule->tile_jobs->len};
  int highest = 0, rows = 0;

  for (guint i = first; i < last; i++) {
    const CnvRectArgs *from = &g_array_index(schedule->jobs, CnvRectArgs, i);
    const CnvPlaneKernel *of = cnv_schedule_plane_kernel(schedule, &from->job);

    if (of->kernel != kernel || of->bank != bank || !cnv_tile_jobs_take(schedule, &from->job))
      continue;
    add_job(schedule, from);
    highest = MAX(highest, from->job.height);
    rows = MAX(rows, g_array_index(schedule->tile_jobs, CnvTileJob, launch.first + launch.n).term.n[CNV_Y]);
    launch.n++;
  }
  if (launch.n == 0)
    return;
  cut_launch(schedule, &launch, highest, rows);
  g_array_append_val(schedule->launches, launch);
}

void
cnv_tile_jobs_add(CnvSchedule *schedule, guint bank, guint first, guint last)
{
  for (CnvKernelId kernel = CNV_KERNEL_FUSED; kernel <= CNV_KERNEL_DENSE; kernel++)
    add_launch(schedule, kernel, bank, first, last);
}
