/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Tile jobs of a schedule: for kernels that do a job in one launch. One variant of a kernel does all planes of the work
 * that are its own, so that they share a launch; a plane that it cannot do along with the others, and jobs that ask for
 * more than tile jobs know, go to kernels with block jobs.
 */
#pragma once

#include "gpu/schedule.h"

G_BEGIN_DECLS

/* TRUE where the job is done by the kernel with tile jobs that its plane has. */
gboolean cnv_tile_jobs_take(const CnvSchedule *schedule, const CnvRectJob *job);

/* Makes the tile job of a plane of the schedule, by its index, and appends its taps to the words. */
void cnv_tile_job_prepare(CnvSchedule *schedule, guint index);

/* Appends the tile job of a job, not yet cut. */
void cnv_tile_jobs_add(CnvSchedule *schedule, const CnvRectJob *job);

/* Cuts the launch's jobs into tiles, and so settles its blocks and their shared memory. */
void cnv_tile_jobs_cut(CnvSchedule *schedule, CnvLaunch *launch);

G_END_DECLS
