/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Signs that a pipeline which reads local files makes progress. Without them the program could wait forever: decodebin
 * can ignore the error of a demuxer, and a source can block.
 */
#pragma once

#include <gst/gst.h>

/* Returns a number that changes if this process reads bytes, or uses a tenth of a second of CPU time. Without /proc
 * only CPU time counts. The call takes a few microseconds. */
guint64 stall_work(void);

/* Returns the file that a pipeline reads, to be freed with g_free. Returns NULL if it reads none, or also reads from
 * another source, such as a network, that may be silent for a while. */
char *stall_file(GstElement *pipeline);
