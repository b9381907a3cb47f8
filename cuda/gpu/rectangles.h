/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Rectangles of a schedule's jobs.
 */
#pragma once

#include "gpu/schedule.h"

/* Adds a rectangle of a job's outputs to the list of rectangles that are copied back in place. */
void cnv_schedule_copy(CnvSchedule *schedule, const CnvJob *job, int x, int y, int width, int height);

/* Adds a rectangle of a job's coverage to the list of rectangles that the kernel cover computes. */
void cnv_schedule_cover(CnvSchedule *schedule, const CnvJob *job, int x, int y, int width, int height);
