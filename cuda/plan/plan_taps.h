/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Taps on their way into a plan, private to the engine.
 */
#pragma once

#include "plan/kernel.h"
#include "plan/plane.h"

G_BEGIN_DECLS

/* Sums of taps that arithmetic needs in double, while the plan is made: of the taps as rounded to float32, for
 * normalising by these keeps a flat frame flat, and before that, to tell whether they cancel. */
typedef struct {
  double sum, magnitude, exact;
} CnvTapSums;

/* The plan's taps as they grow. */
typedef struct {
  GArray *taps;    /* of float */
  gboolean prefix; /* axes are followed by their prefix sums */
} CnvTapStore;

/* Stores the terms of a kernel as those of a plane. Returns the sums of all of them together. */
CnvTapSums cnv_tap_store_add(const CnvTapStore *store, CnvPlane *plane, const CnvKernel *kernel, gboolean absolute);

/* TRUE for taps that cancel, as they are or as rounded to float32, and so have no sum to divide by. */
gboolean cnv_tap_sums_cancel(CnvTapSums sums);

G_END_DECLS
