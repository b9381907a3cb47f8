/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Wide taps decimated, for both engines: a spline decimates samples to one in `step`, few taps filter these, and the
 * results are interpolated. How exact that is follows from the taps.
 */
#pragma once

#include "plan/plan.h"

/* The largest step, the decimated samples that a sample counts for, and the most taps for decimated samples. */
#define CNV_DECIMATED_STEP_MAX 16
#define CNV_DECIMATED_SHARES 4
#define CNV_DECIMATED_TAPS 81

/* Taps of an axis as few taps for decimated samples. Decimated sample q lies on sample step * q. */
typedef struct {
  int step, radius; /* of the few taps; step 1: the taps themselves */
  double tap[CNV_DECIMATED_TAPS];
  /* Weight of sample step * q + i in decimated sample q - 1 + m; times step: of that one's result in the sample's. */
  double share[CNV_DECIMATED_STEP_MAX][CNV_DECIMATED_SHARES];
} CnvDecimatedTaps;

/* Finds the fewest taps along both axes, of a plane with one term and without renormalize, that keep the contract of
 * plan.h. Returns FALSE if there are none. */
gboolean cnv_decimated_find(const CnvPlan *plan, const CnvPlane *plane, CnvDecimatedTaps taps[CNV_N_AXES]);
