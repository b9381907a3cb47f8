/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gpu/rectangles.h"

#include "plan/arith.h"

void
cnv_schedule_copy(CnvSchedule *schedule, const CnvJob *job, int x, int y, int width, int height)
{
  const CnvPlane *plane = cnv_schedule_plane_kernel(schedule, job)->plane;
  int sample = plane->channels * plane->component[0].bytes;
  CnvCopyJob copy = {.plane = plane->component[0].plane,
                     .x = x * sample,
                     .y = y * job->fields + job->field,
                     .bytes = width * sample,
                     .rows = height,
                     .step = job->fields,
                     .first_block = (int)schedule->copy_numbers->len};

  copy.columns = cnv_divide_up(copy.bytes + CNV_COPY_BYTES - 1, 32 * CNV_COPY_BYTES);
  for (int i = 0; i < copy.columns * cnv_divide_up(height, 8); i++)
    g_array_append_val(schedule->copy_numbers, schedule->copies->len);
  g_array_append_val(schedule->copies, copy);
}

void
cnv_schedule_cover(CnvSchedule *schedule, const CnvJob *job, int x, int y, int width, int height)
{
  CnvBlockJob part = {.job = *job, .first_block = (int)schedule->cover_blocks};

  part.job.coverage += (guint64)(y - job->y) * (guint)job->coverage_pitch + (guint64)(x - job->x);
  part.job.x = x;
  part.job.y = y;
  part.job.width = width;
  part.job.height = height;
  part.columns = cnv_divide_up(cnv_coverage_bytes(&part.job), CNV_COVER_WIDTH);
  schedule->cover_blocks += (guint)(part.columns * cnv_divide_up(height, CNV_COVER_HEIGHT));
  g_array_append_val(schedule->cover_jobs, part);
}
