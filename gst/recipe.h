/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Settings and a buffer to what is done to it: the plan in force, plans by radius, rectangles.
 */
#pragma once

#include "settings.h"

G_BEGIN_DECLS

/* A plan for regions of one size. */
typedef struct {
  int radius;
  CnvPlan *plan;
} GstCudaConvolveRadiusPlan;

typedef struct {
  /* In force, the last that could be. */
  CnvPlan *plan; /* of the filter as it is set; NULL before the first caps */
  GstCudaConvolveRoi roi;
  gboolean has_rejected; /* rejected made no plan, which was reported */
  GstCudaConvolveSettings rejected;
  guint warned; /* since the start */
  CnvTemporalBorder temporal_border;
  double scene_change;
  gboolean may_pass; /* where nothing would change, the input goes out untouched */

  /* This frame. */
  CnvWork work;
  GArray *regions;               /* CnvRegion, those of work */
  CnvPlan *plans[CNV_MAX_PLANS]; /* likewise, not referenced */
  GArray *radius_plans; /* GstCudaConvolveRadiusPlan, by radius: made since the plan was, for sizes of regions */
} GstCudaConvolveRecipe;

G_END_DECLS
