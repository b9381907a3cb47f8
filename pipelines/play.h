/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Runs a pipeline with cudaconvolve from start to end. Call gst_init first.
 */
#pragma once

#include <gst/gst.h>

/* Makes a pipeline from arguments as for gst-launch-1.0, ended by NULL. Returns NULL, with the reason on stderr, if
 * that fails. */
GstElement *play_parse(const char **arguments);

/* Makes a bin from elements as for gst-launch-1.0, for example of a test picture or a camera. Its only pad is the
 * source pad of a queue after them, so they may end with a decoder whose pads appear later. Returns NULL, with the
 * reason on stderr, if that fails. */
GstElement *play_parse_source(const char *elements);

/* Returns the first cudaconvolve of the pipeline, to be unreferenced, or NULL if there is none. */
GstElement *play_filter(GstElement *pipeline);

/* Options of play(), for a GOptionContext. */
extern const GOptionEntry play_options[];

/* Returns TRUE if all statistics should be printed (--verbose). */
gboolean play_is_verbose(void);

/* Ends the stream of each source, so that files are completed. Returns at once. Each source gets the event in a thread of
 * its own, because it takes the event only after its current frame. It does not get it through the pipeline, which could
 * then not go to PLAYING meanwhile: a sink that waits for that would block the frame. */
void play_end_stream(GstElement *pipeline);

/* Returns TRUE if SIGINT has ended the stream. */
gboolean play_was_interrupted(void);

/* Plays to the end, and prints progress, messages and statistics. Returns the exit status: 0 at the end of the stream;
 * 1 on an error, if no frame came through, on SIGTERM or SIGHUP, or if a local file made no progress for a while (see
 * stall.h). Call it once per process, because it handles signals: SIGINT ends the stream, so that a file is completed.
 */
int play(GstElement *pipeline);
