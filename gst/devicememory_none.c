/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * devicememory.c of a build without CUDA: no context opens, no buffer is in device memory.
 */
#include "devicememory.h"

const GstMapFlags gst_cuda_convolve_device_map = 0;

gboolean
gst_cuda_convolve_device_init(void)
{
  return FALSE;
}

gboolean
gst_cuda_convolve_device_open(GstElement *element, int device, GstObject **context, GError **error)
{
  g_set_error_literal(error, GST_LIBRARY_ERROR, GST_LIBRARY_ERROR_INIT, "this build has no CUDA");
  return FALSE;
}

void
gst_cuda_convolve_device_set_context(GstElement *element, GstContext *from, int device, GstObject **context)
{
}

gboolean
gst_cuda_convolve_device_query(GstElement *element, GstQuery *query, GstObject *context)
{
  return FALSE;
}

gpointer
gst_cuda_convolve_device_handle(GstObject *context)
{
  return NULL;
}

GstBufferPool *
gst_cuda_convolve_device_pool_new(GstObject *context)
{
  return NULL;
}

gboolean
gst_cuda_convolve_device_pool_fits(GstBufferPool *pool, GstObject *context)
{
  return FALSE;
}

gboolean
gst_cuda_convolve_device_holds(GstBuffer *buffer, GstObject *context)
{
  return FALSE;
}

const GstVideoInfo *
gst_cuda_convolve_device_layout(GstBuffer *buffer, const GstVideoInfo *info)
{
  return info;
}

void
gst_cuda_convolve_device_share_stream(GstStructure *pool_config, GstObject *context, GstMiniObject **stream)
{
}
