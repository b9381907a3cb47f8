/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Truncated files: their streams end before the duration that the file states. Demuxers report that as a normal end of
 * the stream.
 */
#pragma once

#include <gst/gst.h>

typedef struct Truncation Truncation;

/* Watches all streams of a decodebin or uridecodebin. Free with truncation_free() after the pipeline has stopped. */
Truncation *truncation_watch(GstElement *decoder);
void truncation_free(Truncation *truncation);

/* Prints a warning on stderr if all streams of the file `name` ended a second or more before its duration. Never warns
 * for .avi, .ogv and .ts, because GStreamer computes their duration from the data that is there. */
void truncation_report(Truncation *truncation, const char *name);
