/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Buffers as frames of the engine. A buffer that does not hold a frame of the caps is rejected. All others are mapped
 * in device memory of the context if the engine can use that, else in host memory.
 */
#pragma once

#include "element/caps.h"
#include "element/engine.h"

/* The mapped input and output of a frame; one of them can be missing. */
typedef struct {
  GstVideoFrame in_frame, out_frame;
  CnvFrame in, out;
} GstCudaConvolveMap;

/* Maps an input, an output, both, or one buffer as both. The caller keeps the buffers. Returns FALSE with
 * GST_STREAM_ERROR_FORMAT, and maps none, if one does not hold a frame of the caps of its pad. */
gboolean gst_cuda_convolve_map(const GstCudaConvolveEngine *engine, const GstCudaConvolveCaps *caps, GstBuffer *in,
                               GstBuffer *out, GstCudaConvolveMap *map, GError **error);
/* If the session is lost, keeps the memory of the buffer until the process ends, so that nobody frees or reuses it. */
void gst_cuda_convolve_keep_lost(const GstCudaConvolveEngine *engine, GstBuffer *buffer);
/* Unmaps the buffers, and keeps their memory if the session is lost. */
void gst_cuda_convolve_unmap(const GstCudaConvolveEngine *engine, GstCudaConvolveMap *map);

/* Returns TRUE if the planes of the input buffer lie as the caps say. */
gboolean gst_cuda_convolve_layout_is_plain(const GstCudaConvolveCaps *caps, GstBuffer *buffer);
