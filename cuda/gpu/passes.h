/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Turns jobs into launches.
 */
#pragma once

#include "gpu/schedule.h"

/* Makes the schedule's block jobs, tile jobs and launches. fields: of a frame. */
void cnv_schedule_make_launches(CnvSchedule *schedule, int fields);
