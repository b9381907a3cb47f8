/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * What the programs beside it share: video and sound of a file, or a test picture, through cudaconvolve into a file or
 * a window. A program takes, in this order,
 *
 *   --input=FILE|URI    else a test picture: that of --picture=ELEMENTS, a view that moves over --still=FILE or a town
 *   --frames=N          of the last two
 *   --output=FILE       .mp4 .mkv .webm .ogv, with the sound; .png .jpg of the first frame; else a window
 *   --format=FORMAT     of the file's samples, like Y444_10LE; by default 8 bit 4:2:0, which plays everywhere
 *   --encoder=ELEMENT   in place of the usual one
 *   --codec=CODEC       h264 h265 av1 vp9, if the file can hold it and an encoder is installed
 *   --quality=N         0 (small file) to 100 (little loss), on the scale of the encoder
 *   --start=SECONDS --duration=SECONDS    the part of the input; a test picture or a camera has only a duration
 *   --wipe              only what is right of a line that moves is filtered
 *   --patience=SECONDS  without progress, after which a local file is given up: 10; 0: never
 *   --verbose           prints all statistics, not only where and how the filter ran
 *   [--] ELEMENT ! ...  through which the video goes, as for gst-launch-1.0; without input, output and window a whole
 *                       pipeline
 *
 * and what it adds itself. The file gets its name when it is complete. Until then it lies in a private folder beside
 * the output, see part.h, which is removed however the program ends.
 */
#pragma once

#include <gst/gst.h>

/* Prepares the first cudaconvolve of the pipeline before it starts. */
typedef void MediaPrepare(GstElement *filter, gpointer user_data);

/* Runs a program from start to end; options may be NULL, and so may prepare. A program that `hides` what is in a video
 * leaves out where it was recorded. Returns the exit status: 0 at the end of
 * the stream, 1 on an error or where no frame came through, 2 where nothing could start. */
int media_main(int argc, char **argv, gboolean hides, const GOptionEntry *options, MediaPrepare *prepare,
               gpointer user_data);
