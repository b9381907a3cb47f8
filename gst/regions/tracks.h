/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Regions over time: a region that a detector misses is kept for some frames, and grows by its movement, so that what
 * it hid stays hidden. Plain functions over a frame's regions.
 */
#pragma once

#include <convolve/work.h>

/* Returns an empty list of tracks, to be freed by g_array_unref. A track is a region that was seen in some frames. */
GArray *gst_cuda_convolve_tracks_new(void);

/* Follows the regions (CnvRegion) to the next frame. Regions that were last seen up to n_frames frames ago are kept.
 * Their masks are kept up to GST_CUDA_CONVOLVE_MASK_CELLS samples together; further ones become rectangles. */
void gst_cuda_convolve_tracks_follow(GArray *tracks, const GArray *region, guint n_frames);

/* Appends the regions that the last frame did not have. For each frame since a region was seen, every side has grown
 * by a pixel and by the speed of its edges when it was last seen. A region that moved is a rectangle then; a mask
 * that did not move is unchanged. Without `grow` all regions are unchanged, and rectangles that replace masks are
 * left out. */
void gst_cuda_convolve_tracks_append(const GArray *tracks, GArray *region, gboolean grow);
