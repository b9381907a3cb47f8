/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Choice of the engine that runs: opening it, falling back to the next one. backend=auto takes the first of the
 * engine's list that opens, and says why where that is not the GPU.
 */
#pragma once

#include "devicememory.h"
#include "settings.h"

/* Members are written with the element's object lock, except for the streams, which are the streaming thread's. */
typedef struct {
  CnvSession *session;             /* from start to stop */
  struct _GstCudaContext *context; /* or NULL */
  gboolean takes_device;           /* with a session: CUDA memory can be negotiated */
  char *device_name;               /* of the last session */
  const CnvBackend *const *left;   /* list of the engines behind it; NULL: the user chose it */
  CnvSessionOptions options;       /* since the start */
  GstMiniObject *stream;           /* GstCudaStream that the session works on; NULL: its own */
  GstMiniObject *pool_stream;      /* stream of the memory of our pools; NULL: no such pool yet, or before 1.24 */
} GstCudaConvolveEngine;

/* FALSE with the reason where no engine could be opened; an automatic choice is announced. */
gboolean gst_cuda_convolve_engine_open(GstCudaConvolveEngine *engine, GstElement *element,
                                       const GstCudaConvolveSettings *settings, GError **error);

/* TRUE once the session has done a frame: it works, and is not replaced any more. */
gboolean gst_cuda_convolve_engine_is_proven(const GstCudaConvolveEngine *engine);

/* TRUE where an engine that fails now could be replaced: the user chose none, it is not proven, and another is left. */
gboolean gst_cuda_convolve_engine_may_fall_back(const GstCudaConvolveEngine *engine);

/* Replaces an engine that failed with error by the next in the list. FALSE if that may not be. */
gboolean gst_cuda_convolve_engine_fall_back(GstCudaConvolveEngine *engine, GstElement *element, const GError *error);

void gst_cuda_convolve_engine_close(GstCudaConvolveEngine *engine, GstElement *element);

/* TRUE where the session can use the buffer's memory in place, as CUDA memory. */
gboolean gst_cuda_convolve_engine_holds(const GstCudaConvolveEngine *engine, GstBuffer *buffer);
