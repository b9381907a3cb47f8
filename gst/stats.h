/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The read-only property stats. Everything here is called with the element's object lock.
 */
#pragma once

#include <convolve/backend.h>
#include <gst/gst.h>

G_BEGIN_DECLS

typedef struct {
  guint64 frames, dropped; /* since the start */
  CnvPlan *plan;           /* of the last frame; NULL before the first caps */
  guint n_regions;         /* of the last frame */
  guint n_history;         /* frames held */
  CnvSessionStats session; /* after the last frame */
} GstCudaConvolveStats;

void gst_cuda_convolve_stats_clear(GstCudaConvolveStats *stats);
void gst_cuda_convolve_stats_set_plan(GstCudaConvolveStats *stats, CnvPlan *plan);

/* A structure that the caller owns. device_name: NULL for none. */
GstStructure *gst_cuda_convolve_stats_to_structure(const GstCudaConvolveStats *stats, const char *device_name);

G_END_DECLS
