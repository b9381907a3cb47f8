/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Masks as picture files: PGM, plain or binary, and PNG, whose luma counts. White is weight 1, black 0.
 */
#pragma once

#include "mask.h"

/* Both return NULL with CNV_ERROR_SETTINGS and a message that names the file, the reason and the remedy. bytes: a
 * file's contents, with a 0 after their size. */
GstBuffer *gst_cuda_convolve_mask_load(const char *path, GError **error);
GstBuffer *gst_cuda_convolve_mask_parse(const char *bytes, gsize size, const char *path, GError **error);

/* The path of the file that a mask was loaded from. */
const char *gst_cuda_convolve_mask_path(GstBuffer *mask);
