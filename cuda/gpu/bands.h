/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Separable taps as the banded matrices of the tensor rung (tensor.cuh): whether they fit, which variant of the
 * kernel takes them, and the fragments, as f16 pairs in the order in which lanes load them.
 *
 * Taps are scaled to what f16 rounds least, by which taps that are small integers to each other stay exact, and so that
 * neither they nor row sums leave f16's range. What they add up to once rounded is divided out again. In an exact
 * variant each tap and each row sum is two numbers, which leaves the errors of float32.
 */
#pragma once

#include "gpu/fit.h"

G_BEGIN_DECLS

typedef enum { CNV_TENSOR_PLAIN, CNV_TENSOR_SPLIT, CNV_TENSOR_TIME } CnvTensorMode;

/* A variant of the kernel. */
typedef struct {
  CnvKernelName name;
  int k_x, k_y, groups;
  CnvTensorMode mode;
  gboolean ring; /* ring.cuh: a block makes a tile, and k_y is the most */
} CnvTensorVariant;

/* Of each mode from small to large; ends with a suffix of NULL. */
extern const CnvTensorVariant cnv_tensor_variants[];

/* What a plane asks of a variant. */
typedef struct {
  int k_x, k_y;                                 /* k steps, at least */
  int lead, left_groups, right_group, n_groups; /* of CnvTileJob */
  CnvTensorMode mode;
} CnvBands;

/* Returns FALSE with the reason (CNV_ERROR_UNSUPPORTED) where the rung cannot do the plane. */
gboolean cnv_bands_fit(const CnvPlan *plan, const CnvPlanPlane *plane, CnvBands *bands, GError **error);

/* The variant that takes all that either asks for. */
CnvBands cnv_bands_join(CnvBands a, CnvBands b);

/* The smallest variant, or NULL. */
const CnvTensorVariant *cnv_bands_variant(const CnvBands *bands);

/* Bytes of shared memory that a launch asks for, of planes that ask for no more than bands. */
guint cnv_bands_shared_bytes(const CnvTensorVariant *variant, const CnvBands *bands);

/* Appends the fragments of a plane (guint32 words) and returns the index of the first; gain: that of the plane's
 * filtered lanes, for sums that the fragments give. */
guint cnv_bands_append(GArray *words, const CnvPlan *plan, const CnvPlanPlane *plane, const CnvTensorVariant *variant,
                       const CnvBands *bands, float *gain);

G_END_DECLS
