/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Tile jobs, for kernels that do a job in one launch. One variant of a kernel does all planes of the work that it is
 * for, so that they share a launch. Planes that it cannot do together with the others, and jobs that blend elsewhere
 * than where they filter, go to kernels with block jobs.
 */
#pragma once

#include "gpu/schedule.h"

/* TRUE where the job is done by the kernel with tile jobs that its plane has. */
gboolean cnv_tile_jobs_take(const CnvSchedule *schedule, const CnvJob *job);

/* Makes the tile job of a plane of the schedule, by its index, and appends its taps to the words. */
void cnv_tile_job_prepare(CnvSchedule *schedule, guint index);

/* Appends the tile job of a job, not yet cut. */
void cnv_tile_jobs_add(CnvSchedule *schedule, const CnvJob *job);

/* Cuts the launch's jobs into tiles, and so settles its blocks and their shared memory; finds the kinds of the tiles of
 * jobs that are whole, and adds their coverage to what cover makes. */
void cnv_tile_jobs_cut(CnvSchedule *schedule, CnvLaunch *launch);

/* TRUE if the kernel takes a list of tiles, and so jobs that are whole. */
gboolean cnv_tile_jobs_have_kinds(const CnvSchedule *schedule, CnvKernelId kernel);
