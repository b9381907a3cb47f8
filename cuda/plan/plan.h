/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The inside of a plan: what engines read. It never changes once it is made.
 *
 * Arithmetic, for every engine and algorithm. With x a sample's value minus mid (mid = 2^(depth-1); small numbers keep
 * float32 exact), taps in float32, and acc[t] the sum of tap * x over term t, in float32 or better, never rounded in
 * between:
 *
 *     a   = sum of acc[t] | |sum of acc[t] + mid_bias| | sqrt(acc[0]^2 + acc[1]^2)     by CnvCombine
 *     v   = clamp(gain * a + fraction, -base, full - base)
 *     out = base + rint(v), or base + rint(v + (1 - w) * (in - base - v)) where a region's weight w is below 1 (work.h)
 *
 * rint rounds ties to even, and base is even, so that the whole is one rounding to nearest, ties to even. gain holds
 * scale and the normalisation by the sum of the rounded taps; base + fraction the rest: bias * full and the mid that
 * was taken off for luma, R, G and B; just mid for chroma (no bias), which so is filtered about neutral. Alpha takes
 * neither scale nor bias. With CNV_BORDER_RENORMALIZE acc is first multiplied by S/P (border.h): for one separable term
 * one factor an axis, for several that are added up one factor for their sum, for a magnitude each term has its own.
 *
 * CNV_ALPHA_PREMULTIPLY: with a a sample's alpha, the lanes of colours hold a * x and one more component, the weight,
 * holds a; acc of a colour is then multiplied by alpha_norm / acc of the weight or, where that is at most alpha_epsilon
 * * full of alpha either way, v is the input's sample; renormalize's factor cancels there.
 *
 * Over time: with taps in time x is the sum over frames of weight * (value - mid) (work.h: CnvTemporalTap), of all of
 * them or, for a term of a 3D kernel, of its own frame. alpha_norm holds the sum of weights too, sum that of the
 * picture alone. A lone tap in time is part of gain. Borders in the picture are those of each frame.
 */
#pragma once

#include <convolve/backend.h>

G_BEGIN_DECLS

/* Taps of a term, of one or more planes. Float32 values stand in CnvPlan.taps. An axis of n taps is stored as its n
 * taps and, for renormalize alone, n + 1 prefix sums (0, t0, t0+t1, ...); equal axes are stored once; dense taps
 * as height rows of width, no sums. */
typedef struct {
  gboolean separable;
  int n[CNV_N_AXES];         /* taps along x and y, at least 1 */
  int anchor[CNV_N_AXES];    /* index of the tap on the output sample */
  guint axis[CNV_N_AXES];    /* separable: index of the first tap in CnvPlan.taps */
  guint dense;               /* not separable: the same */
  int temporal_tap;          /* of CnvKernelTerm */
  float sum[CNV_N_AXES];     /* separable: sum of the float32 taps; not separable: sum[0] of all, sum[1] 1 */
  float epsilon[CNV_N_AXES]; /* likewise: 1e-6 of the sum of magnitudes; renormalize takes a sum found up to it for 0 */
} CnvPlanTerm;

typedef enum { CNV_COMBINE_SUM, CNV_COMBINE_ABSOLUTE, CNV_COMBINE_MAGNITUDE } CnvCombine;

struct CnvPlanPlane {
  int width, height;   /* pixels of this plane */
  guint8 sub_x, sub_y; /* log2 of the luma pixels, along each axis, that one of them stands for */
  guint8 channels;     /* 1..4 lanes */
  guint8 filtered;     /* bit c: component c is filtered */
  guint8
      copied; /* bit c: component c is copied from the input. Neither: it is not written. filtered 0: all is copied */
  gboolean plain; /* the lanes are side by side, with nothing between them, of 1 or 2 bytes; none is a weight, each is
                     filtered or copied, mid and full are the same for all: what engines are fast at */
  int weight;     /* number of the component that holds alpha as the others' weight; -1 none */
  CnvComponent component[CNV_MAX_CHANNELS];
  CnvAlgorithm algorithm; /* never AUTO; unset (AUTO) where filtered is 0 */
  CnvCombine combine;
  int n_terms;
  CnvPlanTerm term[CNV_MAX_TERMS];
  float alpha_norm, alpha_epsilon; /* sum and epsilon with the weights in time, for premultiply */
  float sum, epsilon;              /* of all terms added up, for renormalize and weights: as in CnvPlanTerm */
  float mid[CNV_MAX_CHANNELS], full[CNV_MAX_CHANNELS]; /* mid 0 for a weight */
  float gain[CNV_MAX_CHANNELS];
  float base[CNV_MAX_CHANNELS]; /* even integers, at most 2^20 either way */
  float fraction[CNV_MAX_CHANNELS];
  float mid_bias[CNV_MAX_CHANNELS]; /* CNV_COMBINE_ABSOLUTE: the mid that was taken off, times the taps' sum */
  float border[CNV_MAX_CHANNELS];   /* CNV_BORDER_CONSTANT: what a component holds of a missing sample */
};

struct CnvPlan {
  gatomicrefcount refs;
  CnvFilter filter; /* what it was made from */
  CnvImage image;
  CnvAlgorithm requested;
  const CnvBackend *backend;
  int n_temporal_taps;         /* taps in time, 1 where there are none */
  int center;                  /* number of the one for the frame that is put out */
  gboolean not_time_separable; /* a 3D kernel whose terms have temporal taps of their own; else weights */
  float weight[CNV_MAX_TEMPORAL_TAPS];
  double single_tap_gain; /* of a single tap in time, whose weight then is 1: what else multiplies the sum */
  double temporal_sum[CNV_MAX_TEMPORAL_TAPS]; /* of the taps of each temporal tap together, on luma */
  double temporal_magnitude;                  /* sum of the magnitudes of all these taps */
  int n_planes;
  CnvPlanPlane plane[CNV_MAX_PLANES]; /* mostly those of the format, in order; see CnvPlaneFormat */
  guint n_taps;                       /* floats in taps */
  float *taps;
};

/* Tap (x, y) of a term. */
static inline double
cnv_plan_tap(const CnvPlan *plan, const CnvPlanTerm *term, int x, int y)
{
  if (!term->separable)
    return plan->taps[term->dense + (gsize)y * term->n[CNV_X] + x];
  return (double)plan->taps[term->axis[CNV_X] + x] * plan->taps[term->axis[CNV_Y] + y];
}

/* TRUE where each of the plane's terms is a row times a column. */
gboolean cnv_plane_is_separable(const CnvPlanPlane *plane);

G_END_DECLS
