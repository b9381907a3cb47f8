/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * People in a frame, told from what is behind them, by GStreamer's facedetect and grabcut.
 */
#pragma once

#include <gst/video/video.h>

#define MAX_FACES 16

typedef struct {
  int width, height;                 /* of the mask, which lies over the whole frame */
  guint8 *mask;                      /* a byte a cell: 255 for a person, 0 for what is behind; rows without gaps */
  GstVideoRectangle face[MAX_FACES]; /* of the latest frame, in cells */
  int n_faces;
} Segmenter;

/* For frames of these caps, in system memory. Returns NULL where there is no facedetect or no grabcut. Free with
 * segmenter_free(). */
Segmenter *segmenter_new(GstCaps *caps);
void segmenter_free(Segmenter *segmenter);

/* Makes the mask of a frame. Returns FALSE, and leaves the mask as it was, where there is no face in it. */
gboolean segmenter_run(Segmenter *segmenter, GstBuffer *frame);
