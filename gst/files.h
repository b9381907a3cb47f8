/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Files that properties name: reading them, and naming them in messages.
 */
#pragma once

#include <convolve/status.h>

/* The state of a file on disk. If two stamps are equal, the file did not change in between. */
typedef struct {
  guint64 device, inode, size;
  gint64 changed, modified; /* ns since 1970 */
  int error;                /* errno, if there is no such file; the other members are 0 then */
} GstCudaConvolveFileStamp;

/* Sets the stamp of a path, and follows links. */
void gst_cuda_convolve_file_stamp(const char *path, GstCudaConvolveFileStamp *stamp);
gboolean gst_cuda_convolve_file_stamps_equal(const GstCudaConvolveFileStamp *a, const GstCudaConvolveFileStamp *b);

/* Returns the *size bytes of a file, followed by a 0, to be freed; or NULL with CNV_ERROR_SETTINGS and a message that
 * begins with `property`=`path`. longest: most bytes allowed. kind: what the file should be, for the message: "a text
 * file of numbers". */
char *gst_cuda_convolve_file_read(const char *property, const char *path, gsize longest, const char *kind, gsize *size,
                                  GError **error);

/* Returns `property`=`path` in UTF-8, shortened for messages, to be freed. */
char *gst_cuda_convolve_file_name(const char *property, const char *path);
