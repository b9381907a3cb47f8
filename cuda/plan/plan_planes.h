/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The planes of a plan while it is made, private to plan_make.c.
 */
#pragma once

#include "plan/kernel.h"
#include "plan/plan.h"

G_BEGIN_DECLS

/* Takes over the filter's taps in time. temporal_sum then holds the weights alone, until the picture's taps are known.
 */
gboolean cnv_plan_fill_temporal_taps(CnvPlan *plan, GError **error);

/* Fills the planes and appends their taps; the algorithms are still to be chosen. */
gboolean cnv_plan_fill_planes(CnvPlan *plan, GArray *taps, GError **error);

G_END_DECLS
