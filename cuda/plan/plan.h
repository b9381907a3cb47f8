/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The contents of a plan, for engines. A plan never changes after it is made.
 *
 * Arithmetic, for every engine and algorithm. x is a sample's value minus mid, with mid = 2^(depth-1), because small
 * numbers keep float32 exact. Taps are float32. acc[t] is the sum of tap * x over term t, in float32 or better, never
 * rounded in between:
 *
 *     a   = sum of acc[t] | |sum of acc[t] + mid_bias| | sqrt(acc[0]^2 + acc[1]^2)     by `combine`
 *     v   = clamp(gain * a + fraction, -base, full - base)
 *     out = base + rint(v), or base + rint(v + (1 - w) * (in - base - v)) if a region's weight w is below 1 (work.h)
 *
 * rint rounds ties to even, and base is even, so a sample is rounded only once, to nearest, ties to even. gain is
 * scale, divided by the sum of the rounded taps if they are normalised. base + fraction is the constant part. For luma,
 * R, G and B, it is bias * full, plus the response to the mid that was subtracted. For chroma it is only mid, without
 * bias, so that chroma is filtered about neutral. Alpha has neither scale nor bias. With CNV_BORDER_RENORMALIZE acc is
 * first multiplied by S/P (border.h). A single separable term has one factor per axis, the sum of several terms has one
 * factor, and in a magnitude each term has its own.
 *
 * CNV_ALPHA_PREMULTIPLY: if a is a sample's alpha, the components of colours are a * x, and one more component, the
 * weight, is a. acc of a colour is then multiplied by alpha_norm / acc of the weight. If the magnitude of acc of the
 * weight is at most alpha_epsilon times full of alpha, v is the input's sample. The factor of renormalize cancels out.
 *
 * Normalised convolution (work.h) is the same with coverage instead of alpha, 255 for 1. cnv_plan_weighed returns its
 * plan. Its planes have only the filtered components and the weight. With CNV_ALPHA_PREMULTIPLY the weight of colours
 * is alpha times coverage, and alpha has a plane of its own.
 *
 * Over time: with taps in time, x is the sum over frames of weight * (value - mid) (CnvTemporalTap in temporal.h). A
 * term of a 3D kernel reads only its own frame. alpha_norm then includes the sum of the weights, but CnvPlane.sum adds
 * up only the taps along x and y. A single tap in time is part of gain. Border modes apply to each frame.
 *
 * With a threshold, a frame counts less at a sample at which it differs from the output's frame. For frames k with
 * values v[k] and weights w[k], and d[k] the mean of v[k] - v[center] over 3x3 samples about the sample:
 *
 *     r[k] = s^2 * (3 - 2 s), s = clamp(1.5 - |d[k]| / (threshold * full), 0, 1)
 *     x    = (sum of w[k]) * (sum of w[k] * r[k] * (v[k] - mid)) / (sum of w[k] * r[k])
 *
 * r is 1 up to half the threshold and 0 from 1.5 times the threshold on; it is 1 for the output's frame. The sample at
 * the edge replaces neighbours beyond the edge of the window or the field. Each channel has its own r. In normalised
 * convolution the mean is weighted by coverage.
 */
#pragma once

#include <convolve/backend.h>

#include "plan/cells.h"
#include "plan/layout.h"
#include "plan/noise_limits.h"

struct CnvPlan {
  gatomicrefcount refs;
  CnvFilter filter; /* the filter that the plan was made from */
  CnvImage image;
  CnvLayout layout; /* of a frame of that image */
  CnvAlgorithm requested;
  const CnvBackend *backend;
  gboolean is_weighed; /* TRUE: samples are weighted by coverage */
  CnvPlan *weighed;    /* the same plan for normalised convolution, made under a lock at the first request;
                          cannot_weigh: why there is none */
  GError *cannot_weigh;
  int n_temporal_taps;         /* number of taps in time, 1 if there are none */
  int center;                  /* index of the tap on the output's frame */
  gboolean not_time_separable; /* TRUE: a 3D kernel, each of whose terms has its own tap in time; FALSE: see weight */
  float weight[CNV_MAX_TEMPORAL_TAPS];
  double single_tap_gain; /* factor of a single tap in time, whose weight is stored as 1; else 1, also if normalised */
  double temporal_sum[CNV_MAX_TEMPORAL_TAPS]; /* 3D kernel: sum of the taps of each frame; else the taps in time */
  double temporal_magnitude;                  /* sum of the magnitudes of all these taps */
  double threshold; /* fraction of full scale; 0: none, or a single tap in time; below 0: from the noise */
  int n_planes;
  CnvPlane plane[CNV_MAX_PLANES]; /* the planes of the format, in order; cnv_plan_fill may split a plane */
  guint n_taps;                   /* number of floats in taps */
  float *taps;
};

/* Returns tap (x, y) of a term. */
static inline double
cnv_plan_tap(const CnvPlan *plan, const CnvTerm *term, int x, int y)
{
  if (!term->separable)
    return plan->taps[term->taps[0] + (gsize)y * term->n[CNV_X] + x];
  return (double)plan->taps[term->taps[CNV_X] + x] * plan->taps[term->taps[CNV_Y] + y];
}

/* Returns the number of samples along an axis that a term reads for an output sample. */
static inline int
cnv_plane_extent(const CnvPlane *plane, int term, int axis)
{
  return cnv_cells_have_means(plane) ? -(-plane->cell[axis] >> plane->cell_shift[axis]) : plane->term[term].n[axis];
}

/* Sets the planes and taps of a plan that has its filter, image and backend, but not the algorithms. */
gboolean cnv_plan_fill(CnvPlan *plan, GError **error);

/* Returns the plan for normalised convolution (work.h), which belongs to `plan`. This is plan itself if its filter has
 * no taps. Returns NULL with CNV_ERROR_SETTINGS if the taps have no sum to divide by. Any thread. */
CnvPlan *cnv_plan_weighed(const CnvPlan *plan, GError **error);

/* Returns TRUE if each of the plane's terms is a row times a column. */
gboolean cnv_plane_is_separable(const CnvPlane *plane);
