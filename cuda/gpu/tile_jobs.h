/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Tile jobs, for kernels that filter a job in one launch. One variant of a kernel filters all of its planes of the
 * work, so that they share a launch. Planes that it cannot filter together with the others, and jobs that blend at
 * another place than they filter, go to kernels with block jobs.
 */
#pragma once

#include "gpu/schedule.h"

/* Returns TRUE if the kernel with tile jobs of its plane filters the job. */
gboolean cnv_tile_jobs_take(const CnvSchedule *schedule, const CnvJob *job);

/* Returns TRUE if the job filters the staged form of its plane: floats instead of samples. */
gboolean cnv_tile_jobs_are_staged(const CnvSchedule *schedule, const CnvJob *job);

/* Makes the tile job of a plane of the schedule, by its index, and appends its taps to the words. */
void cnv_tile_job_prepare(CnvSchedule *schedule, guint index);

/* Appends the tile job of a job, not yet cut. */
void cnv_tile_jobs_add(CnvSchedule *schedule, const CnvJob *job);

/* Cuts the launch's jobs into tiles, and sets its blocks and their shared memory. Finds the kinds of the tiles of whole
 * jobs, and adds their coverage to what cover computes. */
void cnv_tile_jobs_cut(CnvSchedule *schedule, CnvLaunch *launch);

/* Returns TRUE if the kernel reads a list of tiles, and so filters whole jobs. */
gboolean cnv_tile_jobs_have_kinds(const CnvSchedule *schedule, CnvKernelId kernel);
