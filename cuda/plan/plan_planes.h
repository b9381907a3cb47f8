/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The parts of making a plan, private to plan_make.c: its planes, and the taps on their way into it (plan_taps.c).
 */
#pragma once

#include "plan/kernel.h"
#include "plan/plan.h"

G_BEGIN_DECLS

/* Sums of taps that arithmetic needs in double, while the plan is made: of the taps as rounded to float32, for
 * normalising by these keeps a flat frame flat, and before that, to tell whether they cancel. */
typedef struct {
  double sum, magnitude, exact;
} CnvTapSums;

/* Stores the terms of a kernel as those of a plane whose border is known, and appends their taps (float). Returns the
 * sums of all of them together. */
CnvTapSums cnv_plane_store_taps(CnvPlane *plane, GArray *taps, const CnvKernel *kernel, gboolean absolute);

/* TRUE for taps that cancel, as they are or as rounded to float32, and so have no sum to divide by. */
gboolean cnv_tap_sums_cancel(CnvTapSums sums);

/* Takes over the filter's taps in time. temporal_sum then holds the weights alone, until the picture's taps are known.
 */
gboolean cnv_plan_fill_temporal_taps(CnvPlan *plan, GError **error);

/* Fills the planes and appends their taps; the algorithms are still to be chosen. */
gboolean cnv_plan_fill_planes(CnvPlan *plan, GArray *taps, GError **error);

G_END_DECLS
