/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * A photograph, and a view that moves over it and comes nearer and goes: a video in which everything moves.
 */
#pragma once

#include <gst/video/video.h>

typedef struct Still Still;

/* Reads a picture file. Returns NULL, with the reason on stderr, where that fails. Free with still_free(). */
Still *still_new(const char *path);
void still_free(Still *still);

/* Fills an NV12 frame with the view at a time of the stream. */
void still_draw(const Still *still, GstVideoFrame *frame, GstClockTime time);
