/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * A pipeline with cudaconvolve in it, run from start to end. Call gst_init first.
 */
#pragma once

#include <gst/gst.h>

/* Makes a pipeline of arguments as gst-launch-1.0 takes them, ended by NULL. Returns NULL, with the reason on stderr,
 * where that fails. */
GstElement *play_parse(const char **arguments);

/* Makes a bin of elements as gst-launch-1.0 takes them, such as a test picture or a camera. Its one pad is the source
 * pad of a queue behind them, so they may end with a decoder whose pads come later. Returns NULL, with the reason on
 * stderr, where that fails. */
GstElement *play_parse_source(const char *elements);

/* The first cudaconvolve of the pipeline, unref after use; NULL where there is none. */
GstElement *play_filter(GstElement *pipeline);

/* Options of play(), for a GOptionContext: what each does is in its text. */
extern const GOptionEntry play_options[];

/* Returns TRUE if all statistics are to be printed (--verbose). */
gboolean play_is_verbose(void);

/* Returns TRUE if SIGINT has ended the stream. */
gboolean play_was_interrupted(void);

/* Plays to the end, and shows progress, messages and statistics. Returns the exit status: 0 at the end of the stream, 1
 * on an error, if no frame came through, on SIGTERM or SIGHUP, or if a local file made no progress for a while (see
 * stall.h). Once a process, for it watches signals: SIGINT ends the stream, so that a file is completed. */
int play(GstElement *pipeline);
