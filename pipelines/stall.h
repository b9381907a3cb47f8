/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Signs that a pipeline which reads local files does something. Without them it would wait forever: decodebin can
 * swallow the error of a demuxer, and a source can block.
 */
#pragma once

#include <gst/gst.h>

/* Returns a number that changes if this process reads bytes, or computes for a tenth of a second. Without /proc only
 * computing counts. It costs a few microseconds. */
guint64 stall_work(void);

/* Returns the file that a pipeline reads, g_free after use; NULL if it reads none, or also reads from somewhere else,
 * such as a network, which may be silent for a while. */
char *stall_file(GstElement *pipeline);
