/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Buffers as frames of the engine. A buffer that does not hold a frame of the caps is refused; any other is mapped
 * where the engine can use it: in device memory of its context, or else in host memory.
 */
#pragma once

#include "caps.h"
#include "engine.h"

/* A frame's input and output, of which one can be missing. */
typedef struct {
  GstVideoFrame in_frame, out_frame;
  CnvFrame in, out;
} GstCudaConvolveMap;

/* Maps buffers that the caller keeps: an input, an output, both, or one buffer as both. FALSE with
 * GST_STREAM_ERROR_FORMAT, and none is mapped, where one does not hold a frame of its pad's caps. */
gboolean gst_cuda_convolve_map(const GstCudaConvolveEngine *engine, const GstCudaConvolveCaps *caps, GstBuffer *in,
                               GstBuffer *out, GstCudaConvolveMap *map, GError **error);
/* Keeps the buffer's memory until the process ends, so that nobody reuses or frees it, if the session is lost. */
void gst_cuda_convolve_keep_lost(const GstCudaConvolveEngine *engine, GstBuffer *buffer);
/* Unmaps what is mapped, and keeps its memory if the session is lost. */
void gst_cuda_convolve_unmap(const GstCudaConvolveEngine *engine, GstCudaConvolveMap *map);

/* TRUE where the input buffer's planes lie as the caps alone tell. */
gboolean gst_cuda_convolve_layout_is_plain(const GstCudaConvolveCaps *caps, GstBuffer *buffer);
