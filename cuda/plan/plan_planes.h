/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The parts of making a plan that concern its planes, private to plan_make.c.
 */
#pragma once

#include "plan/plan.h"
#include "plan/plan_taps.h"

G_BEGIN_DECLS

/* Takes over the filter's taps in time. temporal_sum then holds the weights alone, until the picture's taps are known.
 */
gboolean cnv_plan_fill_temporal_taps(CnvPlan *plan, GError **error);

/* Fills the planes and stores their taps; the algorithms are still to be chosen. */
gboolean cnv_plan_fill_planes(CnvPlan *plan, const CnvTapStore *store, GError **error);

G_END_DECLS
