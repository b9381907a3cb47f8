/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Masks as picture files: PGM, plain or binary, and PNG, of which the luma is read. White is weight 1, black 0.
 */
#pragma once

#include "mask.h"

/* Both return NULL with CNV_ERROR_SETTINGS and a message that names the file, the reason and the remedy. bytes: a
 * file's contents, with a 0 after their size. */
GstBuffer *gst_cuda_convolve_mask_load(const char *path, GError **error);
GstBuffer *gst_cuda_convolve_mask_parse(const char *bytes, gsize size, const char *path, GError **error);

/* Returns the path of the file from which a mask was loaded. */
const char *gst_cuda_convolve_mask_path(GstBuffer *mask);
