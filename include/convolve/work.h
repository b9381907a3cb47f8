/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The work on one frame: a plan for all of it, or plans for regions of it while the rest is copied.
 *
 * Weights. A region's rectangle is in luma pixels and may lie partly or wholly outside the frame. In a plane subsampled
 * by s it covers every sample that it touches: from x/s rounded down to (x + width)/s rounded up. Samples inside have
 * weight 1. With f = feather / s, the d-th column outside (d = 1 next to the edge) has weight 1 - d / (f + 1), at least
 * 0, and rows likewise; a sample's weight t is the product of both.
 *
 * Each region's weight is then rounded to the nearest multiple of 1/255, halves up: to floor(255 t + 0.5 + 8/65536) /
 * 255. Without the 8/65536, the errors of float32 could round a half down. If regions overlap, the largest rounded
 * weight counts; among equal ones that of the higher plan, then that of rectangles, then that of the later region. With
 * invert the weight is 1 minus the largest, and plan 0 filters.
 *
 * Ellipses. The ellipse inscribed in the covered samples, of w x h, has the half axes a = (w - 1) / 2 and b = (h - 1) /
 * 2, to the middle of its outermost samples. The weight is 1 on it and inside, and 0 on the ellipse with the half axes
 * a + f + 1 and b + f + 1; in between it falls linearly along each ray from the centre, and is that of the rectangle
 * at most. (For a or b below 0.01 the inner ellipse has 0.01.)
 *
 * Masks. A mask of w x h cells is stretched over the region's rectangle. The weight at a sample's centre, in luma
 * pixels, is interpolated between the centres of the four nearest cells, in steps of 1/4096 of their distance, or
 * beyond the outermost ones is theirs; feather does not count. It is computed and rounded in integers: to floor(255 t +
 * 0.5) / 255. The weight is 0 outside the covered samples.
 *
 * Isolated regions. The filter of an isolated region reads nothing outside it. A rectangle is a window of its own, at
 * whose edge the border begins. For all other shapes, masks and everything but the regions (invert), the filter is a
 * normalised convolution (Knutsson and Westin 1993): taps are multiplied by the weight w of the sample that they find,
 * and scaled so that their sum stays the same: sum(taps) * sum(tap * w * x) / sum(tap * w). The result is then blended
 * by w as always. Samples of weight 0 count for nothing and stay as they are.
 *   - w is the region's own rounded weight, whatever other regions there are; with invert it is 1 minus the largest.
 *     Of merged regions (see Crowds) it is the largest.
 *   - Each plane has the weights of its own samples. In fields, w is that of the field. Over time, w of the output's
 *     frame weighs the samples of all frames.
 *   - Where the absolute value of sum(tap * w) is at most 1e-6 of what samples of weight 1 could give, the input's
 *     sample stays.
 *   - Beyond the frame's edge the border mode finds a sample, and its w. The constant colour has w = 1. Renormalize
 *     leaves missing samples out of both sums. If a rectangle is isolated beside other shapes, all in it has w = 1.
 *   - With CNV_ALPHA_PREMULTIPLY colours are weighted by w * alpha, and alpha by w.
 *   - A mosaic takes means weighted by w, in cells that begin at the region's corner or, with invert, the frame's. A
 *     fill reads nothing, so it stays the same.
 *   - Taps that add up to 0, and magnitudes, have no sum to keep: cnv_session_submit fails with CNV_ERROR_SETTINGS, and
 *     cnv_plan_can_isolate says so before.
 *   - An algorithm that cannot filter weighted samples is replaced by the fastest that can.
 *
 * Crowds. All of this holds exactly as long as the work takes less than CNV_CROWD_WORK times the work of the whole
 * frame, plus that of a few million samples. Otherwise planes are divided into cells of CNV_CELL_WIDTH x
 * CNV_CELL_HEIGHT samples (cuda/plan/regions/shape.h). A cell in which more than CNV_CROWD regions meet is filtered
 * whole, by the strongest plan among them. If several plans or isolated windows meet in a cell, the strongest of these
 * plans filters all of their regions there, without a window. If this still takes too much work, the strongest plan
 * filters all regions of the plane, without a window. No sample's weight becomes smaller. With invert, only the
 * CNV_CROWD strongest regions of a cell count, so that no sample's weight becomes smaller either. CnvSessionStats.crowd
 * reports it.
 *
 * Interlaced frames. Each field is filtered by itself, with its border where its own rows end. Row y of a plane is row
 * y/2 of field y % 2. A field's part of a rectangle is the rows of the field in the plane's part of it, and f down a
 * field is half as large.
 */
#pragma once

#include "temporal.h"

#define CNV_MAX_REGIONS 1024
#define CNV_MAX_PLANS 64

#define CNV_CROWD 8      /* regions of a cell that are weighed one by one, in a crowd */
#define CNV_CROWD_WORK 2 /* work on the whole frame that may be spent on regions one by one */

typedef struct {
  int x, y, width, height; /* luma pixels; empty where width or height is below 1 */
} CnvRect;

/* Weights as an image, which never changes and is shared by reference between threads. A session that gets the same
 * mask again does not upload it again. */
typedef struct CnvMask CnvMask;

/* Returns a mask (unref with cnv_mask_unref) of width x height cells, each 1..CNV_SIZE_MAX, with a copy of the weights:
 * row by row from `weights` on, `stride` bytes apart, 255 for 1. NULL where there is no memory for it. */
CnvMask *cnv_mask_new(int width, int height, int stride, const guint8 *weights);
CnvMask *cnv_mask_ref(CnvMask *mask);
void cnv_mask_unref(CnvMask *mask); /* NULL is allowed */
gsize cnv_mask_n_cells(const CnvMask *mask);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(CnvMask, cnv_mask_unref)

typedef struct {
  CnvRect rect;
  guint plan; /* index in CnvWork.plan */
  CnvShape shape;
  CnvMask *mask; /* of CNV_SHAPE_MASK, the caller's; else NULL. One frame's masks have 1 GiB in all at most. A region
                    beyond that, or for which there is no memory, is its rectangle, and with invert it has no weight. */
} CnvRegion;

/* The rectangle around all that has weight in a region, feather aside: the region's own, or a part of it around the
 * cells of a mask that are above 0. Width and height are 0 where no cell is. */
CnvRect cnv_region_box(const CnvRegion *region);

/* A plain value that the caller owns; plans and regions are only read, during cnv_session_submit. */
typedef struct {
  CnvPlan *const *plan; /* of one image, backend and filter, save for its radius and sigma; the strongest last */
  guint n_plans;        /* 1..CNV_MAX_PLANS */
  gboolean everything;  /* the whole frame by plan 0; below, only interlaced, temporal_tap and overlaps count */
  const CnvRegion *region;
  guint n_regions;   /* 0..CNV_MAX_REGIONS */
  gboolean invert;   /* filter everything but the regions */
  gboolean isolated; /* a region's filter reads nothing outside the region. If this is FALSE, regions of a mosaic still
                        read nothing outside their rectangle, and its cells begin at their corners */
  double feather;    /* luma pixels, 0..1024 */
  gboolean moved;    /* one region, not inverted: it is blended over the frame with its corner at target, cut off at the
                        frame's edge; at its old place the input is copied */
  int target_x, target_y;
  gboolean interlaced;
  /* Made by cnv_temporal_taps_make, the same for all plans; the input is a slot then. None: the input alone, with
   * weight 1, for plans of one frame. */
  const CnvTemporalTap *temporal_tap;
  guint n_temporal_taps;
  /* Other frames are in flight with this one. It goes between host and device in one piece: the others keep the bus
   * busy, and each piece costs the time of its start. The samples are the same either way. */
  gboolean overlaps;
} CnvWork;
