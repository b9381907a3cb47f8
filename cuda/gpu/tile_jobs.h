/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Tile jobs of a schedule: for kernels that do a job in one launch. One variant of a kernel does all planes of the work
 * that are its own, so that they share a launch; a plane that it cannot do along with the others, and jobs that ask for
 * more than tile jobs know, go to kernels with units.
 */
#pragma once

#include "gpu/schedule.h"

G_BEGIN_DECLS

/* TRUE where the job is done by the kernel with tile jobs that its plane has. */
gboolean cnv_tile_jobs_take(const CnvSchedule *schedule, const CnvRectJob *job);

/* Makes the tile job of a plane of the schedule, by its index, and appends its taps to the words. */
void cnv_tile_job_prepare(CnvSchedule *schedule, guint index);

/* Appends the launches for jobs first to last - 1, of one bank. */
void cnv_tile_jobs_add(CnvSchedule *schedule, guint bank, guint first, guint last);

G_END_DECLS
