/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * All that needs GStreamer's CUDA library: the shared context, pools, mapping, streams. Of a GstCudaContext the rest
 * knows that it is a GstObject; a stream is a GstCudaStream, held as GstMiniObject.
 */
#pragma once

#include <gst/gst.h>
#include <gst/video/video.h>

#define GST_CUDA_CONVOLVE_FEATURE_DEVICE "memory:CUDAMemory"

struct _GstCudaContext;

typedef struct {
  GstMapFlags map; /* GST_MAP_CUDA */

  /* Loads the library's CUDA side; once a process. FALSE where it cannot. */
  gboolean (*init)(void);

  /* Finds or makes the pipeline's context for a device (-1 any) and puts it at *context, unless one of that device is
   * there: it may have been set before the user chose another. context: where set_context of the same element
   * stores. */
  gboolean (*open)(GstElement *element, int device, struct _GstCudaContext **context, GError **error);
  gboolean (*set_context)(GstElement *element, GstContext *from, int device, struct _GstCudaContext **context);
  gboolean (*query)(GstElement *element, GstQuery *query, struct _GstCudaContext *context);
  gpointer (*handle)(struct _GstCudaContext *context); /* its CUcontext */

  GstBufferPool *(*pool_new)(struct _GstCudaContext *context);
  gboolean (*pool_fits)(GstBufferPool *pool, struct _GstCudaContext *context);

  /* TRUE where the buffer is one CUDA memory of that context, which then can be used in place with GST_MAP_CUDA. */
  gboolean (*holds)(GstBuffer *buffer, struct _GstCudaContext *context);
  /* Strides and offsets of a buffer that has no GstVideoMeta: those of the CUDA memory that it holds, else info. */
  const GstVideoInfo *(*layout)(GstBuffer *buffer, const GstVideoInfo *info);

  /* All of these are 0 before GStreamer 1.24, which has no streams. */
  guint unsynced;                                   /* flag of a memory on which work goes on */
  GstMiniObject *(*stream_of)(GstBuffer *buffer);   /* that orders all work on CUDA memory, not referenced; or NULL */
  gpointer (*stream_handle)(GstMiniObject *stream); /* its CUstream */
  void (*set_stream)(GstStructure *pool_config, GstMiniObject *stream);
  /* Gives a pool's memory a stream: its configuration's, which becomes *stream, or else *stream, made if it is NULL. */
  void (*share_stream)(GstStructure *pool_config, struct _GstCudaContext *context, GstMiniObject **stream);
} GstCudaConvolveDevice;

/* NULL in a build without CUDA, in which no context opens and no buffer is in device memory. */
extern const GstCudaConvolveDevice *const gst_cuda_convolve_device;
