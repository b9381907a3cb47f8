/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Separates the people in a frame from the background, with GStreamer's facedetect and grabcut.
 */
#pragma once

#include <gst/video/video.h>

#define MAX_FACES 16

typedef struct {
  int width, height;                 /* of the mask, which covers the whole frame */
  guint8 *mask;                      /* one byte per cell: 255 for a person, 0 for background; rows without gaps */
  GstVideoRectangle face[MAX_FACES]; /* of the last frame, in cells */
  int n_faces;
} Segmenter;

/* Returns a segmenter for frames of these caps in system memory, or NULL if facedetect or grabcut is missing. Free with
 * segmenter_free(). */
Segmenter *segmenter_new(GstCaps *caps);
void segmenter_free(Segmenter *segmenter);

/* Computes the mask of a frame. If the frame has no face, returns FALSE and leaves the mask unchanged. */
gboolean segmenter_run(Segmenter *segmenter, GstBuffer *frame);
