/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Buffers as frames of the engine. A buffer that does not hold a frame of the caps is refused; any other is mapped
 * where the engine can use it: in device memory of its context, or else in host memory.
 */
#pragma once

#include "caps.h"
#include "engine.h"

G_BEGIN_DECLS

typedef struct {
  GstVideoFrame frame;
  CnvFrame planes;
} GstCudaConvolveMap;

/* A frame's input and output. */
typedef struct {
  GstCudaConvolveMap in, out;
} GstCudaConvolveMapped;

/* Maps an output (flags GST_MAP_WRITE) or an input (other flags). FALSE with GST_STREAM_ERROR_FORMAT where it does not
 * hold a frame of its pad's caps. */
gboolean gst_cuda_convolve_map(const GstCudaConvolveEngine *engine, const GstCudaConvolveCaps *caps, GstBuffer *buffer,
                               GstMapFlags flags, GstCudaConvolveMap *map, GError **error);
void gst_cuda_convolve_unmap(GstCudaConvolveMap *map);

/* Maps both buffers, which can be the same one, or none with the reason. */
gboolean gst_cuda_convolve_map_both(const GstCudaConvolveEngine *engine, const GstCudaConvolveCaps *caps, GstBuffer *in,
                                    GstBuffer *out, GstCudaConvolveMapped *mapped, GError **error);
void gst_cuda_convolve_unmap_both(GstCudaConvolveMapped *mapped);

/* TRUE where the input buffer's planes lie as the caps alone tell. */
gboolean gst_cuda_convolve_layout_is_plain(const GstCudaConvolveCaps *caps, GstBuffer *buffer);

G_END_DECLS
