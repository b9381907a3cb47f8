/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Files that are cut off: their streams end before the time that the file states as its duration. Demuxers take that
 * for the end of the stream, and report nothing.
 */
#pragma once

#include <gst/gst.h>

typedef struct Truncation Truncation;

/* Watches all streams that a decodebin or uridecodebin exposes. Free with truncation_free() after the pipeline has
 * stopped. */
Truncation *truncation_watch(GstElement *decoder);
void truncation_free(Truncation *truncation);

/* Prints a warning on stderr if all streams of the file `name` have ended a second or more before its duration. For
 * .avi, .ogv and .ts there is none, as GStreamer computes their duration from the data that is there. */
void truncation_report(Truncation *truncation, const char *name);
