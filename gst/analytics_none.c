/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * analytics.c of a build with a GStreamer older than 1.24.
 */
#include "analytics.h"

const gboolean gst_cuda_convolve_analytics_are_read = FALSE;

void
gst_cuda_convolve_analytics_add(GstCudaConvolveRegions *regions, GstBuffer *buffer)
{
}
