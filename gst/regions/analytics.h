/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Regions from GStreamer's analytics metas: boxes (1.24 and newer) and segmentation masks (1.26 and newer). A build
 * without them has analytics_none.c instead of analytics.c.
 */
#pragma once

#include "regions/region_list.h"

/* Returns TRUE if this build reads these metas. */
extern const gboolean gst_cuda_convolve_analytics_are_read;

/* Adds the regions of a GstAnalyticsRelationMeta that roi-types and roi-confidence choose. Returns NULL, or what to do
 * if the meta cannot be read. Any thread. */
const char *gst_cuda_convolve_analytics_add(GstCudaConvolveRegions *regions, GstMeta *meta);
