/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Common part of the programs in this folder: passes video and sound of a file, or a test picture, through cudaconvolve
 * into a file or a window. The programs have these options, in this order, and options of their own:
 *
 *   --input=FILE|URI    by default a test picture: --picture=ELEMENTS, or a view that moves over --still=FILE or a town
 *   --frames=N          number of frames of the view
 *   --output=FILE       .mp4 .mkv .webm .ogv with the sound; .png .jpg for the first frame; by default a window
 *   --format=FORMAT     format of the file's samples, such as Y444_10LE; by default 8-bit 4:2:0, which plays everywhere
 *   --encoder=ELEMENT   encoder, by default the usual one for the file
 *   --codec=CODEC       h264 h265 av1 vp9, if the file can hold it and an encoder is installed
 *   --quality=N         0 (smallest file) to 100 (best), on the scale of the encoder
 *   --start=SECONDS --duration=SECONDS    the part of the input; a test picture or a camera only has a duration
 *   --wipe              filter only the part to the right of a moving line
 *   --patience=SECONDS  give up on a local file after this time without progress; default 10; 0: never
 *   --verbose           print all statistics
 *   [--] ELEMENT ! ...  the filter, as for gst-launch-1.0; without input, output and window a whole pipeline
 *
 * The file gets its name when it is complete. Until then it is in a private folder next to the output (see part.h),
 * which is removed however the program ends.
 */
#pragma once

#include <gst/gst.h>

/* Prepares the first cudaconvolve of the pipeline, before the start. */
typedef void MediaPrepare(GstElement *filter, gpointer user_data);

/* Runs a program from start to end. options, prepare: NULL is allowed. hides: the program hides something in the video,
 * so it also leaves out the location of the recording. Returns the exit status: 0 at the end of the stream, 1 on an
 * error or if no frame came through, 2 if the pipeline could not start. */
int media_main(int argc, char **argv, gboolean hides, const GOptionEntry *options, MediaPrepare *prepare,
               gpointer user_data);
