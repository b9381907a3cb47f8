/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The work of decimate, decimate_again and interpolate: a job of a plane whose kernel is interpolate is in a launch of
 * each, and all find the same places in the session's memory for decimated samples.
 */
#pragma once

#include "gpu/schedule.h"

/* Appends the tile job of a job of the plane, for one of the kernels. *at: numbers of decimated samples that the
 * launch's jobs so far take. */
void cnv_decimated_add(CnvSchedule *schedule, CnvKernelId kernel, const CnvPlaneKernel *of, const CnvJob *from,
                       gsize *at);

/* Cuts the launch's jobs into tiles, which for decimate_again are blocks, and settles their shared memory. */
void cnv_decimated_cut(CnvSchedule *schedule, CnvLaunch *launch);
