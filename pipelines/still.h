/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * A photograph, and a view that moves over it and zooms: a video in which everything moves.
 */
#pragma once

#include <gst/video/video.h>

typedef struct Still Still;

/* Reads a picture file. Returns NULL, with the reason on stderr, if that fails. Free with still_free(). */
Still *still_new(const char *path);
void still_free(Still *still);

/* Draws the view at a time of the stream into an NV12 frame. */
void still_draw(const Still *still, GstVideoFrame *frame, GstClockTime time);
