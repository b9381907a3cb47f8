/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Both pads' caps as they were negotiated.
 */
#pragma once

#include <convolve/plan.h>
#include <gst/video/video.h>

G_BEGIN_DECLS

typedef struct {
  GstVideoInfo in_info, out_info;
  CnvImage image;
  gboolean same_memory, out_in_device; /* kinds of memory of the pads */
} GstCudaConvolveCaps;

G_END_DECLS
