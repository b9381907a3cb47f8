/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The work on one frame: one plan for the whole frame, or plans for regions of it while the rest is copied.
 *
 * Weights. A region's rectangle is in luma pixels and may lie partly or wholly outside the frame. In a plane subsampled
 * by s it covers every sample that it touches: from x/s rounded down to (x + width)/s rounded up. Samples inside have
 * weight 1. With f = feather / s, the d-th column outside (d = 1 next to the edge) has weight 1 - d / (f + 1), at least
 * 0. Rows have weights likewise. A sample's weight t is the product of the weights of its column and row.
 *
 * Each region's weight is then rounded to the nearest multiple of 1/255, halves up: to floor(255 t + 0.5 + 8/65536) /
 * 255. Without the 8/65536, the errors of float32 could round a half down. If regions overlap, the largest rounded
 * weight counts. Among equal weights, the region with the higher plan counts, then a rectangle, then the later region.
 * With invert the weight is 1 minus the largest, and plan 0 filters.
 *
 * Ellipses. An ellipse is inscribed in the covered samples, of w x h. Its half axes reach the middle of the outermost
 * samples: a = (w - 1) / 2 and b = (h - 1) / 2. The weight is 1 on it and inside, and 0 on the ellipse with the half
 * axes a + f + 1 and b + f + 1. In between it falls linearly along each ray from the centre. It is never above the
 * weight of the rectangle. Half axes of the inner ellipse below 0.01 count as 0.01.
 *
 * Masks. A mask of w x h cells is stretched over the region's rectangle. The weight at a sample's centre, in luma
 * pixels, is interpolated between the centres of the four nearest cells, in steps of 1/4096 of their distance. Beyond
 * the outermost centres it is the weight of the outermost cells. Feather has no effect. The weight is computed and
 * rounded in integers: to floor(255 t + 0.5) / 255. It is 0 outside the covered samples.
 *
 * Isolated regions. The filter of an isolated region reads nothing outside it. A rectangle has a window of its own, and
 * the border begins at the window's edge. For all other shapes, and with invert, the filter is a normalised convolution
 * (Knutsson and Westin 1993): each tap is multiplied by the weight w of the sample x that it meets. Then all taps are
 * scaled so that their sum stays the same: sum(taps) * sum(tap * w * x) / sum(tap * w). The result is blended by w as
 * usual. Samples of weight 0 have no effect and stay unchanged.
 *   - w is the region's own rounded weight, regardless of other regions; with invert it is 1 minus the largest weight.
 *     For merged regions (see Crowds) it is their largest weight.
 *   - Each plane, and each field, has the weights of its own samples. Over time, w of the output's frame weighs the
 *     samples of all frames.
 *   - If the absolute value of sum(tap * w) is at most 1e-6 of what samples of weight 1 could give, the input's sample
 *     stays.
 *   - Beyond the frame's edge the border mode finds a sample, and its w. The constant colour has w = 1. Renormalize
 *     leaves missing samples out of both sums. A rectangle that is isolated beside other shapes has w = 1 throughout.
 *   - With CNV_ALPHA_PREMULTIPLY colours are weighted by w * alpha, and alpha by w.
 *   - A mosaic computes means weighted by w, in cells that begin at the region's corner or, with invert, the frame's. A
 *     fill reads no samples, so isolation does not change it.
 *   - Taps that add up to 0, and magnitudes, have no sum to keep: cnv_session_submit fails with CNV_ERROR_SETTINGS, and
 *     cnv_plan_can_isolate says so before.
 *   - An algorithm that cannot filter weighted samples is replaced by the fastest that can.
 *
 * Crowds. All of this holds exactly while the work costs less than CNV_CROWD_WORK times the work on the whole frame,
 * plus the work on a few million samples. Otherwise planes are divided into cells of CNV_CELL_WIDTH x CNV_CELL_HEIGHT
 * samples (cuda/plan/regions/shape.h). A cell in which more than CNV_CROWD regions meet is filtered whole, by the
 * strongest plan among them. If several plans or isolated windows meet in a cell, the strongest of these plans filters
 * all of their regions there, without a window. If this still costs too much, the strongest plan filters all regions of
 * the plane, without a window. No sample's weight becomes smaller. With invert, only the CNV_CROWD strongest regions of
 * a cell count, so that no sample's weight becomes smaller either. CnvSessionStats.crowd reports such cells.
 *
 * Interlaced frames. Each field is filtered by itself, with its border where its own rows end. Row y of a plane is row
 * y/2 of field y % 2. A rectangle covers the field's rows among the rows that it covers in the plane. Along y, f is
 * half as large in a field.
 */
#pragma once

#include "temporal.h"

#define CNV_MAX_REGIONS 1024
#define CNV_MAX_PLANS 64

#define CNV_CROWD 8      /* most regions of a cell that are weighed one by one in a crowd */
#define CNV_CROWD_WORK 2 /* most work on separate regions, as a multiple of the work on the whole frame */

typedef struct {
  int x, y, width, height; /* luma pixels; empty if width or height is below 1 */
} CnvRect;

/* An image of weights. It never changes, so threads may share references to it. A session uploads the same mask only
 * once. */
typedef struct CnvMask CnvMask;

/* Returns a new mask, to be freed with cnv_mask_unref, or NULL if there is no memory. width, height: in cells, each
 * 1..CNV_SIZE_MAX. weights: one byte per cell, 255 for weight 1, in rows `stride` bytes apart; copied. */
CnvMask *cnv_mask_new(int width, int height, int stride, const guint8 *weights);
CnvMask *cnv_mask_ref(CnvMask *mask);
void cnv_mask_unref(CnvMask *mask); /* NULL is allowed */

/* Returns width times height. */
gsize cnv_mask_n_cells(const CnvMask *mask);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(CnvMask, cnv_mask_unref)

/* A region to filter. */
typedef struct {
  CnvRect rect;
  guint plan; /* index in CnvWork.plan */
  CnvShape shape;
  CnvMask *mask; /* for CNV_SHAPE_MASK, owned by the caller; else NULL. The masks of a frame have at most 1 GiB. If a
                    mask exceeds that, or if there is no memory for it, its region is filtered as a rectangle; with
                    invert it has no weight */
} CnvRegion;

/* Returns the rectangle around the part of a region that has weight, without feather: the region's rectangle, or for
 * a mask the part of it around the cells above 0. Width and height are 0 if there are no such cells. */
CnvRect cnv_region_box(const CnvRegion *region);

/* The work on one frame: a plain value that the caller owns. cnv_session_submit only reads it, its plans and its
 * regions. */
typedef struct {
  CnvPlan *const *plan; /* plans for the same image, backend and filter, except radius and sigma; the strongest last */
  guint n_plans;        /* 1..CNV_MAX_PLANS */
  gboolean whole_frame; /* filter the whole frame by plan 0; of the members below, only interlaced, temporal_tap,
                           n_temporal_taps and overlaps are used */
  const CnvRegion *region;
  guint n_regions;   /* 0..CNV_MAX_REGIONS */
  gboolean invert;   /* filter everything except the regions */
  gboolean isolated; /* the filter of a region reads nothing outside it. If FALSE, a mosaic still reads nothing outside
                        a region's rectangle, and its cells still begin at the rectangle's corner */
  double feather;    /* luma pixels, 0..1024 */
  gboolean moved;    /* for one region without invert: it is blended over the frame with its corner at target_x and
                        target_y, and cut off at the frame's edge. At its old place the input is copied */
  int target_x, target_y;
  gboolean interlaced;
  /* From cnv_temporal_taps_make, the same for all plans; the input must then be a slot of the history. For plans of one
   * frame n_temporal_taps may be 0: then the input has weight 1. */
  const CnvTemporalTap *temporal_tap;
  guint n_temporal_taps;
  /* TRUE if other frames are in flight with this one: the upload then waits for the upload before it, so that other
   * sessions get their share of the bus. The samples are the same either way. */
  gboolean overlaps;
} CnvWork;
