/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Buffers in system memory whose samples are known.
 */
#pragma once

#include <gst/check/gstcheck.h>
#include <gst/video/video.h>

/* Noise of its own for each number, which is also its time in milliseconds. */
GstBuffer *noise_buffer(const GstVideoInfo *info, guint number);

/* Fails unless the samples are the same. */
void assert_same(GstBuffer *a, GstBuffer *b, const GstVideoInfo *info);
