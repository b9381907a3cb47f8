/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Negotiation of caps. A convolution keeps everything of the caps but the memory kind: where the pads differ in that,
 * the engine uploads or downloads.
 */
#pragma once

#include <gst/base/gstbasetransform.h>

G_BEGIN_DECLS

void gst_cuda_convolve_negotiation_class_init(GstBaseTransformClass *klass);

G_END_DECLS
