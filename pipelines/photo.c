/* SPDX-License-Identifier: LGPL-2.1-or-later */
#define _GNU_SOURCE /* memmem */
#include "photo.h"

#include <gst/tag/tag.h>
#include <string.h>

/* Not every decoder of JPEG reads EXIF: jpegdec leaves it to jpegparse, which is in another package. */
#define EXIF "Exif\0"

GstVideoOrientationMethod
photo_direction(const char *path)
{
  GstVideoOrientationMethod direction = GST_VIDEO_ORIENTATION_AUTO;
  /* To open a pipe would wait for its writer. */
  g_autoptr(GMappedFile) file = g_file_test(path, G_FILE_TEST_IS_REGULAR) ? g_mapped_file_new(path, FALSE, NULL) : NULL;
  g_autoptr(GstBuffer) buffer = NULL;
  g_autoptr(GstTagList) tags = NULL;
  const char *data, *exif;
  gsize size;

  if (!file || g_mapped_file_get_length(file) < sizeof EXIF)
    return direction;
  data = g_mapped_file_get_contents(file);
  size = MIN(g_mapped_file_get_length(file), G_MAXUINT16); /* it is in a segment at the beginning, of 64 KiB at most */
  exif = memcmp(data, "\xff\xd8", 2) == 0 ? memmem(data, size, EXIF, sizeof EXIF) : NULL;
  if (!exif)
    return direction;
  exif += sizeof EXIF;
  buffer = gst_buffer_new_memdup(exif, data + size - exif);
  tags = gst_tag_list_from_exif_buffer_with_tiff_header(buffer);
  if (tags)
    gst_video_orientation_from_tag(tags, &direction);
  return direction;
}
