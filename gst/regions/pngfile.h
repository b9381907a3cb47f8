/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * PNG files as weights: every colour type and depth, interlaced or not.
 */
#pragma once

#include <glib.h>

/* Returns TRUE if a file has the signature of PNG. */
gboolean gst_cuda_convolve_png_begins(const char *bytes, gsize size);

/* Returns the luma of each pixel, row by row, 255 for white, to be freed; or NULL with CNV_ERROR_SETTINGS. Ignores
 * alpha, gamma and colour profiles. name: beginning of messages. Checks the size before it decodes anything, because a
 * PNG of a few bytes can have gigabytes of pixels. */
guint8 *gst_cuda_convolve_png_read(const char *bytes, gsize size, const char *name, guint *width, guint *height,
                                   GError **error);
