/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * What run.c and privacy.c share: a pipeline with cudaconvolve in it, run from start to end. Call gst_init first.
 */
#pragma once

#include <gst/gst.h>

/* Makes a pipeline of arguments as gst-launch-1.0 takes them, ended by NULL. Returns NULL, with the reason on stderr,
 * where that fails or where no cudaconvolve is in it. */
GstElement *play_parse(const char **arguments);

/* The first cudaconvolve of the pipeline, unref after use; NULL where there is none. */
GstElement *play_filter(GstElement *pipeline);

/* Plays to the end, and shows progress, messages and statistics. Returns the exit status: 0 at the end of the stream, 1
 * on an error or where no frame came through. Once a process, for it watches SIGINT. */
int play(GstElement *pipeline);
