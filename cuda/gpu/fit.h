/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * What the kernels that do a job in one launch (fused, tensor) ask of a plane, and the variants of fused.
 */
#pragma once

#include "plan/plan.h"

G_BEGIN_DECLS

/* Standard deviation of noise over the whole range, for full 1, and the mean error of a sum, in levels, that makes
 * fewer than one sample in a hundred differ: as many as the mean error itself, with room to spare. */
#define CNV_NOISE_DEVIATION 0.2887
#define CNV_MEAN_ERROR_MAX 0.007

/* Of a variant of a kernel: cnv_tensor_exact_u8_2x2 has the kernel tensor_exact and the suffix 2x2. */
typedef struct {
  const char *kernel, *suffix;
} CnvKernelName;

/* A variant of fused. */
typedef struct {
  CnvKernelName name;
  int reach; /* cnv_fused_reach, at most */
} CnvFusedVariant;

/* From small to large, the last for any reach. */
extern const CnvFusedVariant cnv_fused_variants[];

/* The functions below return why such a kernel cannot do the plane, or NULL. */

/* Of its samples and lanes. */
const char *cnv_fit_lanes(const CnvPlanPlane *plane);

/* Of more bits than f16 holds exactly, once mid is taken off. */
const char *cnv_fit_half(const CnvPlanPlane *plane);

/* Of taps that are not one row times one column, or not the same for all frames. */
const char *cnv_fit_one_term(const CnvPlan *plan, const CnvPlanPlane *plane);

/* Of sums that are rounded by adding a number near 2^23. magnitude: sum of those of the taps, over time too. */
const char *cnv_fit_levels(const CnvPlanPlane *plane, double magnitude);

/* The first component that is filtered; all others become levels in the same way. */
int cnv_fit_first_lane(const CnvPlanPlane *plane);

/* The number, in a plan's taps, of an axis of a separable plane's only term; and what their magnitudes add up to. */
const float *cnv_fit_axis(const CnvPlan *plan, const CnvPlanPlane *plane, CnvAxis axis);
double cnv_fit_magnitude(const float *taps, int n);

/* Returns FALSE with the reason (CNV_ERROR_UNSUPPORTED) where fused cannot do the plane. */
gboolean cnv_fused_fit(const CnvPlan *plan, const CnvPlanPlane *plane, GError **error);

/* Number, in cnv_fused_variants, of the smallest that does the plane. */
int cnv_fused_variant(const CnvPlanPlane *plane);

G_END_DECLS
