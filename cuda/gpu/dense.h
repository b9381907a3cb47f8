/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Taps that are not one row times one column, as the banded matrices of the dense kernel (dense.cuh): whether
 * they fit, which variant takes them, and the fragments. The terms of a sum become one kernel, their anchors lined up;
 * the two of a magnitude stay apart. Of a 3D kernel each frame has taps of its own.
 *
 * Taps are scaled to what f16 rounds least. Where that would show they are two numbers each (exact).
 */
#pragma once

#include "gpu/fit.h"

G_BEGIN_DECLS

/* A variant of the kernel. */
typedef struct {
  CnvKernelName name;
  int k, r, terms, exact; /* of CNV_DENSE_VARIANTS */
} CnvDenseVariant;

/* Ends with a suffix of NULL. */
extern const CnvDenseVariant cnv_dense_variants[];

/* What a plane asks of a variant. */
typedef struct {
  int n_x, n_y, anchor_x, anchor_y; /* of the taps once they are one kernel */
  int lead;                         /* of CnvTileJob */
  int k, terms, exact;              /* k: at least */
} CnvDense;

/* Whether the plane is the dense kernel's business: it has more than one row times one column. */
gboolean cnv_dense_is_for(const CnvPlan *plan, const CnvPlanPlane *plane);

/* Returns FALSE with the reason (CNV_ERROR_UNSUPPORTED) where the kernel cannot do such a plane. */
gboolean cnv_dense_fit(const CnvPlan *plan, const CnvPlanPlane *plane, CnvDense *dense, GError **error);

/* The variant that takes all that either asks for; of different terms there is none. */
CnvDense cnv_dense_join(CnvDense a, CnvDense b);

/* The smallest variant, or NULL. */
const CnvDenseVariant *cnv_dense_variant(const CnvDense *dense);

/* Rows of taps that the bands have, and words of the bands of one frame. */
int cnv_dense_rows(const CnvDenseVariant *variant, const CnvDense *dense);
guint cnv_dense_words(const CnvDenseVariant *variant, const CnvDense *dense);

/* Bytes of shared memory that tiles of so many rows take. n_y: the most rows that bands have. */
guint cnv_dense_shared_bytes(const CnvDenseVariant *variant, int n_y, int rows);

/* The taps of the plane as the bands have them: [frame][term][row][column], unscaled; g_free. */
double *cnv_dense_taps(const CnvPlan *plan, const CnvPlanPlane *plane, const CnvDense *dense);

/* Appends the fragments of a plane (guint32 words) and returns the index of the first; gain: that of the plane's
 * filtered lanes, for sums that the fragments give. */
guint cnv_dense_append(GArray *words, const CnvPlan *plan, const CnvPlanPlane *plane, const CnvDenseVariant *variant,
                       const CnvDense *dense, float *gain);

G_END_DECLS
