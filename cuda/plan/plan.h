/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The inside of a plan: what engines read. It never changes once it is made.
 *
 * Arithmetic, for every engine and algorithm. With x a sample's value minus mid (mid = 2^(depth-1); small numbers keep
 * float32 exact), taps in float32, and acc[t] the sum of tap * x over term t, in float32 or better, never rounded in
 * between:
 *
 *     a   = sum of acc[t] | |sum of acc[t] + mid_bias| | sqrt(acc[0]^2 + acc[1]^2)     by `combine`
 *     v   = clamp(gain * a + fraction, -base, full - base)
 *     out = base + rint(v), or base + rint(v + (1 - w) * (in - base - v)) where a region's weight w is below 1 (work.h)
 *
 * rint rounds ties to even, and base is even, so that the whole is one rounding to nearest, ties to even. gain holds
 * scale and the normalisation by the sum of the rounded taps; base + fraction the rest: bias * full and the mid that
 * was taken off for luma, R, G and B; just mid for chroma (no bias), which so is filtered about neutral. Alpha takes
 * neither scale nor bias. With CNV_BORDER_RENORMALIZE acc is first multiplied by S/P (border.h): for one separable term
 * one factor an axis, for several that are added up one factor for their sum, for a magnitude each term has its own.
 *
 * CNV_ALPHA_PREMULTIPLY: with a a sample's alpha, the components of colours hold a * x and one more, the weight, holds
 * a; acc of a colour is then multiplied by alpha_norm / acc of the weight or, where that is at most alpha_epsilon times
 * full of alpha either way, v is the input's sample; renormalize's factor cancels there.
 *
 * Normalised convolution (work.h) is the same with coverage in alpha's place, 255 for 1: the plan that cnv_plan_weighed
 * returns. Its planes have only the components that are filtered, and the weight. With CNV_ALPHA_PREMULTIPLY the weight
 * of colours is alpha times coverage, and alpha has a plane of its own.
 *
 * Over time: with taps in time x is the sum over frames of weight * (value - mid) (work.h: CnvTemporalTap), of all of
 * them or, for a term of a 3D kernel, of its own frame. alpha_norm holds the sum of weights too, sum that of the
 * picture alone. A lone tap in time is part of gain. Borders in the picture are those of each frame.
 */
#pragma once

#include <convolve/backend.h>

#include "plan/cells.h"
#include "plan/layout.h"

struct CnvPlan {
  gatomicrefcount refs;
  CnvFilter filter; /* what it was made from */
  CnvImage image;
  CnvLayout layout; /* of a frame of that image */
  CnvAlgorithm requested;
  const CnvBackend *backend;
  gboolean is_weighed; /* samples are weighed by coverage */
  CnvPlan *weighed;    /* the same plan that does so, once it was asked for, with a lock; or why there is none */
  GError *cannot_weigh;
  int n_temporal_taps;         /* taps in time, 1 where there are none */
  int center;                  /* index among them of the output's frame */
  gboolean not_time_separable; /* a 3D kernel whose terms have temporal taps of their own; else weights */
  float weight[CNV_MAX_TEMPORAL_TAPS];
  double single_tap_gain; /* of a single tap in time, whose weight then is 1: what else multiplies the sum */
  double temporal_sum[CNV_MAX_TEMPORAL_TAPS]; /* of the taps of each temporal tap together, on luma */
  double temporal_magnitude;                  /* sum of the magnitudes of all these taps */
  int n_planes;
  CnvPlane plane[CNV_MAX_PLANES]; /* mostly those of the format, in order; see CnvPlaneFormat */
  guint n_taps;                   /* floats in taps */
  float *taps;
};

/* Tap (x, y) of a term. */
static inline double
cnv_plan_tap(const CnvPlan *plan, const CnvTerm *term, int x, int y)
{
  if (!term->separable)
    return plan->taps[term->taps[0] + (gsize)y * term->n[CNV_X] + x];
  return (double)plan->taps[term->taps[CNV_X] + x] * plan->taps[term->taps[CNV_Y] + y];
}

/* Samples along an axis that an output sample of a term is made of. */
static inline int
cnv_plane_extent(const CnvPlane *plane, int term, int axis)
{
  return cnv_cells_have_means(plane) ? -(-plane->cell[axis] >> plane->cell_shift[axis]) : plane->term[term].n[axis];
}

/* Fills in the planes and taps of a plan that has its filter, image and backend; the algorithms are still to be chosen.
 */
gboolean cnv_plan_fill(CnvPlan *plan, GError **error);

/* Returns the plan for normalised convolution (work.h), which belongs to `plan`: plan itself if its filter has no taps.
 * NULL with CNV_ERROR_SETTINGS if its taps have no sum to divide by. Any thread. */
CnvPlan *cnv_plan_weighed(const CnvPlan *plan, GError **error);

/* TRUE where each of the plane's terms is a row times a column. */
gboolean cnv_plane_is_separable(const CnvPlane *plane);
