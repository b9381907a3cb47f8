/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * What a camera notes beside a photo.
 */
#pragma once

#include <gst/video/video.h>

/* How the photo is to be turned, or GST_VIDEO_ORIENTATION_AUTO where the file does not say. */
GstVideoOrientationMethod photo_direction(const char *path);
