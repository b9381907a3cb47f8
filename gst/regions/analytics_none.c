/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Replaces analytics.c in a build without gstreamer-analytics-1.0, which came with GStreamer 1.24.
 */
#include "regions/analytics.h"

const gboolean gst_cuda_convolve_analytics_are_read = FALSE;

const char *
gst_cuda_convolve_analytics_add(GstCudaConvolveRegions *regions, GstMeta *meta)
{
  return "build the plugin with gstreamer-analytics-1.0 of GStreamer 1.24 or newer (libgstreamer-plugins-bad1.0-dev)";
}
