/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Replaces analytics.c in a build without gstreamer-analytics-1.0, which came with GStreamer 1.24.
 */
#include "regions/analytics.h"

#include "messages.h"

const gboolean gst_cuda_convolve_analytics_are_read = FALSE;

/* The type has a name as soon as another part of the process registers it. */
static gboolean
has_relation_meta(GstBuffer *buffer)
{
  GType api = g_type_from_name("GstAnalyticsRelationMetaAPI");

  return api != 0 && gst_buffer_get_meta(buffer, api) != NULL;
}

void
gst_cuda_convolve_analytics_add(GstCudaConvolveRegions *regions, GstBuffer *buffer)
{
  if (has_relation_meta(buffer))
    gst_cuda_convolve_warn_once(
        regions->element, regions->posted,
        "frames have a GstAnalyticsRelationMeta, which this build cannot read: what a detector found %s; build "
        "the plugin with gstreamer-analytics-1.0 of GStreamer 1.24 or newer (libgstreamer-plugins-bad1.0-dev)",
        regions->roi->invert                              ? "is filtered too"
        : regions->roi->missing == CNV_ROI_MISSING_FILTER ? "stays visible in frames that have another region"
                                                          : "stays visible");
}
