/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Wide taps decimated, for both engines: a spline decimates samples to one in `step`, few taps filter these, and the
 * results are interpolated. How exact that is follows from the taps.
 *
 * The CPU engine filters and interpolates one after the other, by CnvDecimatedTaps. The CUDA engine does both at once,
 * by CnvDecimatedPlaces.
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
 * plan.h. divides: sums are divided by sums of weights, which may be small. Returns FALSE if there are none. */
gboolean cnv_decimated_find(const CnvPlan *plan, const CnvPlane *plane, gboolean divides,
                            CnvDecimatedTaps taps[CNV_N_AXES]);

/* The largest step of CnvDecimatedPlaces, and the decimated samples that an output takes, at most. */
#define CNV_DECIMATED_PLACES_MAX 64
#define CNV_DECIMATED_PLACE_TAPS 57

/* Taps of an axis as taps for decimated samples, of which each place between two of these has its own. Decimated sample
 * q is the sum of samples step * q - (step - 1) and on times the taps of a spline (cnv_decimated_spline); output
 * step * q + i is that of decimated samples q - radius to q + radius times the taps of place i. */
typedef struct {
  int step, radius;
  double tap[CNV_DECIMATED_PLACES_MAX][CNV_DECIMATED_PLACE_TAPS]; /* of a place they add up to 1 */
  double square, total; /* of errors of taps whose sum is 1: sum of squares, the mean over places, and sum of sizes at
                           the worst one */
} CnvDecimatedPlaces;

/* Tap i of the spline of three boxes of `step` samples, 3 * step - 2 taps, times step^3: an integer. */
int cnv_decimated_spline(int step, int i);

/* Finds the taps of a step, 2 and up to CNV_DECIMATED_PLACES_MAX, that are nearest to n taps: of at most `most`
 * decimated samples, an odd number up to CNV_DECIMATED_PLACE_TAPS. */
void cnv_decimated_fit(const float *tap, int n, int step, int most, CnvDecimatedPlaces *to);

/* Finds taps of the largest steps along both axes, under the same conditions, that keep the contract with some room for
 * an engine's own errors; for auto none that are so wide that this depends on the content. Returns FALSE if there are
 * none. */
gboolean cnv_decimated_find_places(const CnvPlan *plan, const CnvPlane *plane, int most,
                                   CnvDecimatedPlaces to[CNV_N_AXES]);
