/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * PNG files as weights: every colour type and depth, interlaced or not.
 */
#pragma once

#include <glib.h>

/* Returns TRUE if a file begins as a PNG does. */
gboolean gst_cuda_convolve_png_begins(const char *bytes, gsize size);

/* Returns the luma of each pixel, row by row, to be freed: 255 is white. Alpha, gamma and colour profiles do not count.
 * NULL with CNV_ERROR_SETTINGS. name: how messages begin. The size is checked before anything is decoded, because a PNG
 * of a few bytes can have gigabytes of pixels. */
guint8 *gst_cuda_convolve_png_read(const char *bytes, gsize size, const char *name, guint *width, guint *height,
                                   GError **error);
