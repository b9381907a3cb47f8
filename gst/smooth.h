/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Regions over time: one that a detector misses stays for some frames, and grows by what it moved, so that what it hid
 * stays hidden. Plain functions over a frame's regions.
 */
#pragma once

#include <convolve/work.h>

/* Regions that were seen, in a list to be freed by g_array_unref. */
GArray *gst_cuda_convolve_tracks_new(void);

/* Follows the regions (CnvRegion) to the next frame. Those of up to n_frames frames ago are kept: their masks as long
 * as they have GST_CUDA_CONVOLVE_MASK_CELLS samples together, and beyond that rectangles in their place. */
void gst_cuda_convolve_tracks_follow(GArray *tracks, const GArray *region, guint n_frames);

/* Appends the regions that were not among the last frame's. Each has grown on every side, for each frame since then, by
 * as much as its edges moved a frame when it was last seen and by a pixel: as a rectangle if it moved. A mask that did
 * not is as it was. Without `grow` all are, and rectangles in place of masks are left out. */
void gst_cuda_convolve_tracks_append(const GArray *tracks, GArray *region, gboolean grow);
