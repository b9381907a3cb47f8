/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * A plan: everything derived from filter, format and size, settled once, per plane. Immutable, shared by reference
 * between threads, replaced whole when any of its sources changes.
 *
 * Arithmetic, for every engine and algorithm. With x a sample's value minus mid (mid = 2^(depth-1); small numbers keep
 * float32 exact), taps in float32, and acc the sum of tap * x, in float32 or better, never rounded in between:
 *
 *     out = clamp(base + rint(gain * acc + fraction), 0, full)
 *
 * rint rounds ties to even, and base is even, so that the whole is one rounding to nearest, ties to even. gain holds
 * scale and the normalisation by the sum of the rounded taps; base + fraction the rest: bias * full and the mid that
 * was taken off for luma, R, G and B; just mid for chroma (no bias), which so is filtered about neutral. With
 * CNV_BORDER_RENORMALIZE acc is first multiplied by S/P (border.h), for separable taps one factor an axis.
 */
#pragma once

#include "filter.h"
#include "format.h"

G_BEGIN_DECLS

#define CNV_SIZE_MAX 32768 /* width and height of a frame */

typedef enum {
  CNV_ALGORITHM_AUTO,
  CNV_ALGORITHM_NAIVE,
  CNV_ALGORITHM_TILED,
  CNV_ALGORITHM_SEPARABLE,
} CnvAlgorithm;

/* All of CnvAlgorithm in its order, for properties and messages. */
extern const CnvNick cnv_algorithm_nicks[];

/* The frames that a plan is for. */
typedef struct {
  const CnvFormat *format;
  int width, height;   /* luma pixels, 1..CNV_SIZE_MAX */
  double kr, kb;       /* luma coefficients of the YUV matrix, for the border colour: 0.2126 and 0.0722 for BT.709 */
  gboolean full_range; /* 0..full rather than 16..235 (16..240) scaled to the depth, for YUV and grey */
} CnvImage;

/* Taps of one or more planes. Float32 values stand in CnvPlan.taps. An axis of n taps is stored as its n taps and then
 * n + 1 prefix sums (0, t0, t0+t1, ...), which renormalize needs; dense taps as height rows of width, no sums. */
typedef struct {
  gboolean separable;
  int n[CNV_N_AXES];       /* taps along x and y, at least 1 */
  int anchor[CNV_N_AXES];  /* index of the tap on the output sample */
  guint axis[CNV_N_AXES];  /* separable: index of the first tap in CnvPlan.taps */
  guint dense;             /* not separable: the same */
  float sum[CNV_N_AXES];   /* separable: sum of the float32 taps; not separable: sum[0] of all, sum[1] 1 */
  float least[CNV_N_AXES]; /* likewise: 1e-6 of the sum of magnitudes; renormalize takes a sum found up to it for 0 */
} CnvTapSet;

typedef struct {
  int width, height;      /* pixels of this plane */
  guint8 channels;        /* 1..4 interleaved samples a pixel */
  guint8 filtered;        /* bit c: channel c is filtered, else copied from the input; 0: the whole plane is copied */
  CnvAlgorithm algorithm; /* never AUTO; unset (AUTO) where filtered is 0 */
  CnvTapSet taps;
  float gain;
  float base[CNV_MAX_CHANNELS]; /* even integers, at most 2^20 either way */
  float fraction[CNV_MAX_CHANNELS];
  float border[CNV_MAX_CHANNELS]; /* CNV_BORDER_CONSTANT: value of a missing sample, minus mid */
} CnvPlanePlan;

typedef struct CnvBackend CnvBackend;

typedef struct {
  gatomicrefcount refs;
  CnvFilter filter; /* what it was made from */
  CnvImage image;
  CnvAlgorithm requested;
  const CnvBackend *backend;
  float mid, full; /* 2^(depth-1), 2^depth - 1 */
  CnvPlanePlan plane[CNV_MAX_PLANES];
  guint n_taps; /* floats in taps */
  float *taps;
} CnvPlan;

/* Returns a plan (unref with cnv_plan_unref), or NULL with CNV_ERROR_SETTINGS, or CNV_ERROR_UNSUPPORTED where the
 * requested algorithm cannot do it: the message then names the reason and the choices. */
CnvPlan *cnv_plan_new(const CnvFilter *filter, const CnvImage *image, CnvAlgorithm requested, const CnvBackend *backend,
                      GError **error);
CnvPlan *cnv_plan_ref(CnvPlan *plan);
void cnv_plan_unref(CnvPlan *plan); /* NULL is allowed */

/* TRUE where the same sources would make the same plan. */
gboolean cnv_plan_matches(const CnvPlan *plan, const CnvFilter *filter, const CnvImage *image, CnvAlgorithm requested,
                          const CnvBackend *backend);

/* TRUE where output equals input by the taps themselves: one tap, gain 1, no offset on every filtered channel. */
gboolean cnv_plan_is_identity(const CnvPlan *plan);

G_END_DECLS
