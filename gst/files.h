/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Files that properties name: reading them, and naming them in messages.
 */
#pragma once

#include <convolve/status.h>

/* Returns the contents, followed by a 0, to be freed; or NULL with CNV_ERROR_SETTINGS and a message that begins with
 * `property`=`path`. longest: most bytes allowed. kind: what the file should be, for the message: "a text file of
 * numbers". */
char *gst_cuda_convolve_file_read(const char *property, const char *path, gsize longest, const char *kind, gsize *size,
                                  GError **error);

/* Returns `property`=`path` in UTF-8, shortened for messages, to be freed. */
char *gst_cuda_convolve_file_name(const char *property, const char *path);
