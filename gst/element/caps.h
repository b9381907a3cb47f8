/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The caps that the pads can have, and the caps that were negotiated.
 */
#pragma once

#include <convolve/plan.h>
#include <gst/video/video.h>

/* The negotiated caps of both pads. */
typedef struct {
  GstVideoInfo in_info, out_info;
  CnvImage image;
  gboolean same_memory, out_in_device; /* same_memory: both pads have the same kind of memory */
} GstCudaConvolveCaps;

/* Returns all formats in system memory and, if with_device, in CUDA memory, which comes first. */
GstCaps *gst_cuda_convolve_caps_template(gboolean with_device);

/* Returns the caps of one pad that follow from the caps of the other, the same kind of memory first. from_device: the
 * pad of `caps` supports CUDA memory. to_device: the other pad does. */
GstCaps *gst_cuda_convolve_caps_transform(const GstCaps *caps, gboolean from_device, gboolean to_device);

/* Returns TRUE if structure i of the caps is in CUDA memory. */
gboolean gst_cuda_convolve_caps_in_device(const GstCaps *caps, guint i);

/* Returns FALSE with GST_STREAM_ERROR_FORMAT if the caps are not supported. */
gboolean gst_cuda_convolve_caps_read(GstCudaConvolveCaps *caps, const GstCaps *incaps, const GstCaps *outcaps,
                                     GError **error);
