/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * A part of the input, by time. Streams of a file are held until all of them are known; then one exact seek leads to
 * the part. Elements after the decoder do not see the seek, and the part begins at time 0. A test picture or a camera
 * ends after the duration.
 */
#pragma once

#include <gst/gst.h>

typedef struct Cut Cut;

/* Returns the part that begins at `start` and has this duration, in seconds; 0 is up to the end. Free with cut_free()
 * when the pipeline has stopped. */
Cut *cut_new(GstElement *pipeline, double start, double duration);

/* Holds the data of a decoder's source pad until cut_seek() has led to the part. */
void cut_hold(Cut *cut, GstPad *pad);

/* Seeks soon, in the main loop. Posts an error if GStreamer cannot seek in the input, or if the input ends before the
 * part. */
void cut_seek(Cut *cut);

/* Ends the stream when frames of the duration have reached the filter. */
void cut_end(Cut *cut, GstElement *filter);

void cut_free(Cut *cut);
