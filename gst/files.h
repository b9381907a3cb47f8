/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Files that properties name: read whole, and named in messages.
 */
#pragma once

#include <convolve/status.h>

/* Returns the contents with a 0 behind them, to be freed; or NULL with CNV_ERROR_SETTINGS and a message that begins
 * with `property`=`path`. longest: bytes that it may have. kind: "a text file of numbers", for the message. */
char *gst_cuda_convolve_file_read(const char *property, const char *path, gsize longest, const char *kind, gsize *size,
                                  GError **error);

/* `property`=`path` as a message can hold it, to be freed: properties take megabytes. */
char *gst_cuda_convolve_file_name(const char *property, const char *path);
