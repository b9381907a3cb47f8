/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Metadata of photos in .jpg and .png: EXIF and the colour profile. GStreamer's encoders drop both.
 */
#pragma once

#include <gst/video/video.h>

typedef struct Photo Photo;

/* Reads the metadata of a file or of a file: URI. Returns NULL if it is neither .jpg nor .png. Free with photo_free().
 */
Photo *photo_read(const char *input);
void photo_free(Photo *photo);

/* Returns the rotation of the photo, or GST_VIDEO_ORIENTATION_AUTO if it has none. */
GstVideoOrientationMethod photo_direction(const Photo *photo);

/* Writes the metadata into a complete .jpg or .png whose pixels have been rotated. Prints what happens to the location,
 * which is left out if `hides` is TRUE. Always leaves out notes of the manufacturer and the thumbnail of EXIF, which
 * may show the unfiltered photo. Returns FALSE, with the reason on stderr, if the file cannot be written. */
gboolean photo_write(const Photo *photo, const char *path, gboolean hides);
