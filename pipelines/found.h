/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * How often a detector finds what it looks for, and whether what it finds comes and goes.
 */
#pragma once

#include <gst/video/video.h>

typedef struct {
  int frames, with, fewer; /* with any; with some, but fewer than the frame before */
  int came, went;          /* boxes without one in the same place in the frame before, and in the one after */
  GArray *latest;          /* of GstVideoRectangle, of the frame before; NULL at first. found_clear() frees it */
} Found;

/* Counts a frame with n boxes. Boxes that overlap in successive frames are one thing that moves. */
void found_add(Found *found, const GstVideoRectangle *box, guint n);

/* Says in one sentence in how many frames `things` were found, and how many percent of the detail is left in the
 * filtered area; `left` below 0 stands for not measured. Then expresses doubt if one came or went. `otherwise` is what
 * happened if there was none in the whole video. */
void found_print(const Found *found, const char *thing, const char *things, double left, const char *area,
                 const char *otherwise);

void found_clear(Found *found);
