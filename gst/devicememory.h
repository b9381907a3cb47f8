/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * All that needs GStreamer's CUDA library: the shared context, pools, mapping. A context is a GstCudaContext, held as
 * GstObject. A build without CUDA has devicememory_none.c in place of devicememory.c.
 */
#pragma once

#include <gst/gst.h>
#include <gst/video/video.h>

#define GST_CUDA_CONVOLVE_FEATURE_DEVICE "memory:CUDAMemory"

/* GST_MAP_CUDA; 0 without CUDA. */
extern const GstMapFlags gst_cuda_convolve_device_map;

/* Loads the library's CUDA side; once a process. FALSE where it cannot. */
gboolean gst_cuda_convolve_device_init(void);

/* Finds or makes the pipeline's context for a device (-1 any) and puts it at *context, unless one of that device is
 * there: it may have been set before the user chose another. context: where gst_cuda_convolve_device_set_context of the
 * same element stores. */
gboolean gst_cuda_convolve_device_open(GstElement *element, int device, GstObject **context, GError **error);
void gst_cuda_convolve_device_set_context(GstElement *element, GstContext *from, int device, GstObject **context);
gboolean gst_cuda_convolve_device_query(GstElement *element, GstQuery *query, GstObject *context);

/* The context's CUcontext. */
gpointer gst_cuda_convolve_device_handle(GstObject *context);

GstBufferPool *gst_cuda_convolve_device_pool_new(GstObject *context);
gboolean gst_cuda_convolve_device_pool_fits(GstBufferPool *pool, GstObject *context);

/* TRUE where the buffer is one CUDA memory of that context, which then can be used in place with GST_MAP_CUDA. */
gboolean gst_cuda_convolve_device_holds(GstBuffer *buffer, GstObject *context);

/* Strides and offsets of a buffer that has no GstVideoMeta: those of the CUDA memory that it holds, else info. */
const GstVideoInfo *gst_cuda_convolve_device_layout(GstBuffer *buffer, const GstVideoInfo *info);

/* Gives the memory of a CUDA pool a stream (GstCudaStream): its configuration's, which becomes *stream, or else
 * *stream, made if it is NULL. Before GStreamer 1.24 there are no streams. */
void gst_cuda_convolve_device_share_stream(GstStructure *pool_config, GstObject *context, GstMiniObject **stream);
