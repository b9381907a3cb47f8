/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Kernels with tile jobs: their variants, what planes need of them, and the checks that several of them make of a
 * plane. A check returns TRUE, or FALSE with the reason (CNV_ERROR_UNSUPPORTED).
 */
#pragma once

#include "plan/plan.h"

G_BEGIN_DECLS

/* A size of a kernel with tile jobs: cnv_tensor_exact_u8_2x2 has the name tensor_exact and the suffix 2x2. */
typedef struct {
  const char *name, *suffix;
  int reach;                 /* along x, at most. fused: pixels to either side; tensor, dense: k steps of 16 samples */
  int rows;                  /* of taps, at most */
  int terms;                 /* whose sums it keeps apart */
  gboolean split, over_time; /* taps are two f16 numbers each; frames are added up by their weights */
  int groups;                /* tensor: of 16 samples, side by side in a warp's tile */
  int eights;                /* dense: of rows, in a warp's part of the tile */
  int tiles;                 /* of a block */
} CnvVariant;

/* A plane's demands on a kernel with tile jobs. */
typedef struct {
  int reach, rows, terms; /* as in CnvVariant; reach 0: none yet */
  gboolean split, over_time;

  int apron_left;                         /* tensor, dense: of CnvTileJob, as what follows */
  int n_x, anchor_x, anchor_y;            /* dense */
  int left_groups, right_group, n_groups; /* tensor */
} CnvNeeds;

/* The smallest variant for these needs, or NULL. */
const CnvVariant *cnv_variant_find(const CnvVariant *variants, const CnvNeeds *needs);

/* The needs of both, for a variant that they share. */
CnvNeeds cnv_needs_join(const CnvNeeds *a, const CnvNeeds *b);

/* Sets the error; FALSE. */
gboolean cnv_fit_refuse(GError **error, const char *format, ...) G_GNUC_PRINTF(2, 3);

/* An array of samples, whose filtered channels become levels alike. */
gboolean cnv_fit_samples(const CnvPlane *plane, GError **error);

/* Samples that f16 holds, less mid. */
gboolean cnv_fit_half(const CnvPlane *plane, GError **error);

/* One row times one column of taps, the same for all frames. */
gboolean cnv_fit_one_term(const CnvPlan *plan, const CnvPlane *plane, GError **error);

/* Sums that are rounded by adding a number near 2^23. magnitude: sum of those of the taps, over time too. */
gboolean cnv_fit_levels(const CnvPlane *plane, double magnitude, GError **error);

/* TRUE for one row times one column of taps, the same for all frames. */
gboolean cnv_fit_has_one_term(const CnvPlan *plan, const CnvPlane *plane);

/* TRUE where taps of one f16 number each would break the contract on noise: levels that are off by one, rounded
 * otherwise than float32, in fewer than one sample of a hundred. deviation: of a sum's error, for samples of deviation
 * 1. */
gboolean cnv_fit_needs_split(const CnvPlane *plane, gboolean is_signed, double deviation);

/* The first channel that is filtered; all others become levels in the same way. */
int cnv_fit_first_channel(const CnvPlane *plane);

/* An axis of a separable plane's only term, as it is in the plan's taps. */
const float *cnv_fit_axis(const CnvPlan *plan, const CnvPlane *plane, CnvAxis axis);

double cnv_fit_magnitude(const CnvPlan *plan, const CnvPlane *plane, CnvAxis axis);

G_END_DECLS
