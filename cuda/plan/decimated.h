/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Wide filters on decimated samples, for both engines. A spline decimates samples to one in `step`, a few taps filter
 * the decimated samples, and the results are interpolated. The errors can be computed from the taps.
 *
 * The CPU engine filters first and interpolates afterwards, with CnvDecimatedTaps. The CUDA engine does both at once,
 * with CnvDecimatedPlaces.
 */
#pragma once

#include "plan/plan.h"

/* Limits of CnvDecimatedTaps: the largest step, the decimated samples to which a sample contributes, and the most
 * taps. */
#define CNV_DECIMATED_STEP_MAX 16
#define CNV_DECIMATED_SHARES 4
#define CNV_DECIMATED_TAPS 81

/* Taps on decimated samples that replace the taps of an axis. Decimated sample q is centred on sample step * q. */
typedef struct {
  int step, radius; /* radius: of the taps on decimated samples; step 1: the original taps */
  double tap[CNV_DECIMATED_TAPS];
  /* Weight of sample step * q + i in decimated sample q - 1 + m. The same number times step is the weight of the
   * filtered decimated sample in output sample step * q + i. */
  double share[CNV_DECIMATED_STEP_MAX][CNV_DECIMATED_SHARES];
} CnvDecimatedTaps;

/* Finds the fewest taps along both axes that keep the contract of plan.h. plane: with one term, and without
 * renormalize. divides: sums are divided by sums of weights, which may be small. Returns FALSE if there are no such
 * taps. */
gboolean cnv_decimated_find(const CnvPlan *plan, const CnvPlane *plane, gboolean divides,
                            CnvDecimatedTaps taps[CNV_N_AXES]);

/* Limits of CnvDecimatedPlaces: the largest step, and the most decimated samples that an output reads. */
#define CNV_DECIMATED_PLACES_MAX 64
#define CNV_DECIMATED_PLACE_TAPS 57

/* Taps on decimated samples that replace the taps of an axis. There is one set for each place of an output between two
 * decimated samples. Decimated sample q is the sum of the samples from step * q - (step - 1) on, times the taps of a
 * spline (cnv_decimated_spline). Output step * q + i is the sum of decimated samples q - radius to q + radius, times
 * the taps of place i. */
typedef struct {
  int step, radius;
  double tap[CNV_DECIMATED_PLACES_MAX][CNV_DECIMATED_PLACE_TAPS]; /* the taps of each place add up to 1 */
  double square, total; /* errors, if the taps add up to 1. square: sum of squares, mean over places; total: sum of
                           magnitudes at the worst place */
} CnvDecimatedPlaces;

/* Returns tap i of the convolution of three boxes of `step` samples, which has 3 * step - 2 taps, times step^3: an
 * integer. */
int cnv_decimated_spline(int step, int i);

/* Finds the taps for a step that come nearest to n taps. step: 2..CNV_DECIMATED_PLACES_MAX. most: the most decimated
 * samples per output, an odd number up to CNV_DECIMATED_PLACE_TAPS. */
void cnv_decimated_fit(const float *tap, int n, int step, int most, CnvDecimatedPlaces *to);

/* Finds the taps with the largest steps along both axes, under the conditions of cnv_decimated_find. They leave part of
 * the contract's tolerance for the engine's own errors. With algorithm auto, rejects taps so wide that errors depend on
 * the content. Returns FALSE if no taps qualify. most: as in cnv_decimated_fit. */
gboolean cnv_decimated_find_places(const CnvPlan *plan, const CnvPlane *plane, int most,
                                   CnvDecimatedPlaces to[CNV_N_AXES]);
