/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Makes a schedule.
 */
#pragma once

#include "gpu/schedule.h"

void cnv_schedule_init(CnvSchedule *schedule);
void cnv_schedule_clear(CnvSchedule *schedule);

/* Sets plans and work. in_place: the output is the input, so only regions are written. Returns FALSE if no array
 * has changed since the last call. */
gboolean cnv_schedule_set_work(CnvSchedule *schedule, const CnvWork *work, gboolean in_place);

/* Returns the name of the method that filters a job, as in CnvSessionStats.method. */
const char *cnv_schedule_method(const CnvSchedule *schedule, const CnvJob *job);
