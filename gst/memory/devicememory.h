/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Everything that needs GStreamer's CUDA library: the shared context, pools, mapping and streams. The other files only
 * know that a GstCudaContext is a GstObject. A stream is a GstCudaStream, held as GstMiniObject.
 */
#pragma once

#include <gst/gst.h>
#include <gst/video/video.h>

#define GST_CUDA_CONVOLVE_FEATURE_DEVICE "memory:CUDAMemory"

struct _GstCudaContext;

typedef struct {
  GstMapFlags map; /* GST_MAP_CUDA */

  /* Loads the library's CUDA functions, once per process. Returns FALSE if that fails. */
  gboolean (*init)(void);

  /* Finds or creates the pipeline's context for a device (-1: any), and stores it in *context. Keeps the context that
   * is there if it belongs to that device; the user may have chosen another device since. context: the place in
   * which set_context of the same element stores a context. */
  gboolean (*open)(GstElement *element, int device, struct _GstCudaContext **context, GError **error);
  gboolean (*set_context)(GstElement *element, GstContext *from, int device, struct _GstCudaContext **context);
  gboolean (*query)(GstElement *element, GstQuery *query, struct _GstCudaContext *context);
  gpointer (*handle)(struct _GstCudaContext *context); /* its CUcontext */

  GstBufferPool *(*pool_new)(struct _GstCudaContext *context);
  gboolean (*pool_fits)(GstBufferPool *pool, struct _GstCudaContext *context);

  /* Returns TRUE if the buffer is one CUDA memory of that context. It can then be used in place with GST_MAP_CUDA. */
  gboolean (*holds)(GstBuffer *buffer, struct _GstCudaContext *context);
  /* Returns the layout of a buffer without GstVideoMeta: that of its CUDA memory if it has one, else info. */
  const GstVideoInfo *(*layout)(GstBuffer *buffer, const GstVideoInfo *info);

  /* The members below are 0 before GStreamer 1.24, which has no streams. */
  guint unsynced; /* flag of memory on which work may still run */
  GstMiniObject *(*stream_of)(
      GstBuffer *buffer); /* stream that orders all work on the CUDA memory, without a reference; or NULL */
  gpointer (*stream_handle)(GstMiniObject *stream); /* its CUstream */
  void (*set_stream)(GstStructure *pool_config, GstMiniObject *stream);
  /* Sets the stream of a pool's memory. If the configuration has a stream, stores it in *stream. Else uses *stream,
   * which is created if it is NULL. */
  void (*share_stream)(GstStructure *pool_config, struct _GstCudaContext *context, GstMiniObject **stream);
} GstCudaConvolveDevice;

/* NULL in a build without CUDA: then no context opens, and no buffer is in device memory. */
extern const GstCudaConvolveDevice *const gst_cuda_convolve_device;
