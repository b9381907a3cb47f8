/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The engine that runs: opening it, and falling back to the next one. backend=auto uses the first engine of the list
 * that opens, and posts the reason if that is not the GPU.
 */
#pragma once

#include "memory/devicememory.h"
#include "properties/settings.h"

/* Written with the object lock of the element, except for the streams, which belong to the streaming thread. */
typedef struct {
  CnvSession *session;             /* from start to stop */
  struct _GstCudaContext *context; /* or NULL */
  gboolean takes_device;           /* valid if there is a session: CUDA memory can be negotiated */
  char *device_name;               /* of the last session */
  const CnvBackend *const *left;   /* engines left to try; NULL: the user chose the engine */
  CnvSessionOptions options;       /* since the start */
  GstMiniObject *stream;           /* GstCudaStream on which the session works; NULL: its own */
  GstMiniObject *pool_stream;      /* stream of our pools' memory; NULL: no such pool yet, or GStreamer before 1.24 */
} GstCudaConvolveEngine;

/* Opens an engine, and posts an INFO message if backend=auto does not use the GPU. Returns FALSE with the reason if no
 * engine opens. */
gboolean gst_cuda_convolve_engine_open(GstCudaConvolveEngine *engine, GstElement *element,
                                       const GstCudaConvolveSettings *settings, GError **error);

/* Returns TRUE if the session has completed a frame. It is then no longer replaced after a failure. */
gboolean gst_cuda_convolve_engine_is_proven(const GstCudaConvolveEngine *engine);

/* Returns TRUE if an engine that fails now may be replaced: the user chose none, it is not proven, and another one is
 * left. */
gboolean gst_cuda_convolve_engine_may_fall_back(const GstCudaConvolveEngine *engine);

/* Replaces an engine that failed with `error` by the next one of the list. Returns FALSE if that is not allowed. */
gboolean gst_cuda_convolve_engine_fall_back(GstCudaConvolveEngine *engine, GstElement *element, const GError *error);

void gst_cuda_convolve_engine_close(GstCudaConvolveEngine *engine, GstElement *element);

/* Returns TRUE if the session can use the memory of the buffer in place, as CUDA memory. */
gboolean gst_cuda_convolve_engine_holds(const GstCudaConvolveEngine *engine, GstBuffer *buffer);
