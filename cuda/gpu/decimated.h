/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Jobs of decimate, decimate_again and interpolate. A job of a plane whose kernel is interpolate is in a launch of each
 * of these kernels. All three compute the same places in the session's memory of decimated samples.
 */
#pragma once

#include "gpu/schedule.h"

/* Appends the tile job of a job of the plane, for one of the kernels. *at: number of decimated samples that the
 * launch's jobs occupy so far. */
void cnv_decimated_add(CnvSchedule *schedule, CnvKernelId kernel, const CnvPlaneKernel *plane_kernel,
                       const CnvJob *from, gsize *at);

/* Cuts the launch's jobs into tiles (for decimate_again, blocks), and sets their shared memory. */
void cnv_decimated_cut(CnvSchedule *schedule, CnvLaunch *launch);
