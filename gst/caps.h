/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The caps that the pads can have, and those that were negotiated.
 */
#pragma once

#include <convolve/plan.h>
#include <gst/video/video.h>

/* Both pads' caps as they were negotiated. */
typedef struct {
  GstVideoInfo in_info, out_info;
  CnvImage image;
  gboolean same_memory, out_in_device; /* kinds of memory of the pads */
} GstCudaConvolveCaps;

/* All formats in system memory and, with_device, in CUDA memory, which comes first. */
GstCaps *gst_cuda_convolve_caps_template(gboolean with_device);

/* Caps of one pad as the other can have them: the same memory first. from_device, to_device: that pad and the other
 * take CUDA memory. */
GstCaps *gst_cuda_convolve_caps_transform(const GstCaps *caps, gboolean from_device, gboolean to_device);

/* TRUE where structure i of caps is of CUDA memory. */
gboolean gst_cuda_convolve_caps_in_device(const GstCaps *caps, guint i);

/* FALSE with GST_STREAM_ERROR_FORMAT where they cannot be taken. */
gboolean gst_cuda_convolve_caps_read(GstCudaConvolveCaps *caps, const GstCaps *incaps, const GstCaps *outcaps,
                                     GError **error);
