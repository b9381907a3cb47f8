/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * A pipeline with cudaconvolve in it, run from start to end. Call gst_init first.
 */
#pragma once

#include <gst/gst.h>

/* Makes a pipeline of arguments as gst-launch-1.0 takes them, ended by NULL. Returns NULL, with the reason on stderr,
 * where that fails. */
GstElement *play_parse(const char **arguments);

/* The first cudaconvolve of the pipeline, unref after use; NULL where there is none. */
GstElement *play_filter(GstElement *pipeline);

/* Plays to the end, and shows progress, messages and statistics. Returns the exit status: 0 at the end of the stream, 1
 * on an error, where no frame came through, or when it was told to end by SIGTERM or SIGHUP. Once a process, for it
 * watches signals: SIGINT ends the stream, so that a file is completed. */
int play(GstElement *pipeline);
