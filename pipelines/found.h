/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * How often a detector finds its objects, and whether they come and go.
 */
#pragma once

#include <gst/video/video.h>

typedef struct {
  int frames, with, fewer; /* all; with at least one; with at least one, but fewer than the previous frame */
  int came, went;          /* boxes without a match in the previous frame, and in the next one */
  GArray *latest;          /* of GstVideoRectangle, of the previous frame; NULL at first. found_clear() frees it */
} Found;

/* Counts a frame with n boxes. Boxes that overlap in successive frames are the same object, which moves. */
void found_add(Found *found, const GstVideoRectangle *box, guint n);

/* Prints one sentence: in how many frames `things` were found, and what percentage of the detail is left in the
 * filtered area. left: below 0 if not measured. Then prints a warning if one came or went. otherwise: what happened if
 * the whole video has none. */
void found_print(const Found *found, const char *thing, const char *things, double left, const char *area,
                 const char *otherwise);

void found_clear(Found *found);
