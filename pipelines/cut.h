/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * A part of the input, by time. Of a file, streams are held until all of them are known; then one exact seek leads to
 * the part. Nothing after the decoder sees that, and the part begins at time 0. A test picture or a camera ends after
 * the duration.
 */
#pragma once

#include <gst/gst.h>

typedef struct Cut Cut;

/* Returns the part from `start` on, in seconds, of this duration; 0 is up to the end. Free with cut_free() when the
 * pipeline has stopped. */
Cut *cut_new(GstElement *pipeline, double start, double duration);

/* Holds the data of a decoder's source pad until cut_seek() has led to the part. */
void cut_hold(Cut *cut, GstPad *pad);

/* Seeks, soon and in the main loop. Posts an error if GStreamer cannot seek in the input or it has ended before. */
void cut_seek(Cut *cut);

/* Ends the stream when the duration of frames has reached the filter. */
void cut_end(Cut *cut, GstElement *filter);

void cut_free(Cut *cut);
