/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * What of a schedule follows from the work of a frame: see schedule.h.
 */
#pragma once

#include "gpu/schedule.h"

G_BEGIN_DECLS

/* The plans of the work are set. cut: launches are made for slices, where the work allows it. Returns FALSE where the
 * block is the one that was made last time. */
gboolean cnv_schedule_set_work(CnvSchedule *schedule, const CnvWork *work, gboolean cut);

G_END_DECLS
