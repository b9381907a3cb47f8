/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * What a camera notes beside a photo, in .jpg and .png: EXIF and the colour profile. GStreamer's encoders drop both.
 */
#pragma once

#include <gst/video/video.h>

typedef struct Photo Photo;

/* Reads the notes of a file or of a file: URI. Returns NULL if it is neither .jpg nor .png. Free with photo_free(). */
Photo *photo_read(const char *input);
void photo_free(Photo *photo);

/* Returns how the photo is to be turned, or GST_VIDEO_ORIENTATION_AUTO if it does not say. */
GstVideoOrientationMethod photo_direction(const Photo *photo);

/* Puts the notes into a complete .jpg or .png of the photo, whose pixels have been turned, and says what becomes of the
 * location: it is left out if `hides` is TRUE. Notes of the maker and the small picture in EXIF are always left out, as
 * they may show the photo before the filter. Returns FALSE, with the reason on stderr, if the file cannot be written.
 */
gboolean photo_write(const Photo *photo, const char *path, gboolean hides);
