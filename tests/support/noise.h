/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Buffers in system memory with known samples.
 */
#pragma once

#include <gst/check/gstcheck.h>
#include <gst/video/video.h>

/* Returns a buffer of noise that depends on number. Its timestamp is number milliseconds. */
GstBuffer *noise_buffer(const GstVideoInfo *info, guint number);

/* Fails the test unless the samples of both buffers are equal. */
void assert_same(GstBuffer *a, GstBuffer *b, const GstVideoInfo *info);
