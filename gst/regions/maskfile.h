/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Masks as picture files: PGM, plain or binary, and PNG. Weights are the luma: white is 1, black 0.
 */
#pragma once

#include "regions/mask.h"

/* Return NULL with CNV_ERROR_SETTINGS and a message that names the file, the reason and the fix. bytes: contents of a
 * file of `size` bytes, followed by a 0. */
GstBuffer *gst_cuda_convolve_mask_load(const char *path, GError **error);
GstBuffer *gst_cuda_convolve_mask_parse(const char *bytes, gsize size, const char *path, GError **error);

/* Returns the path of the file from which a mask was loaded. */
const char *gst_cuda_convolve_mask_path(GstBuffer *mask);
