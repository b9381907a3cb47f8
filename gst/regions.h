/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The regions of one frame, as they are added.
 */
#pragma once

#include "mask.h"
#include "roi.h"

typedef struct {
  GstElement *element; /* for warnings, see messages.h */
  GHashTable *told;    /* likewise; the owner's */
  GArray *region;      /* CnvRegion, all by plan 0 */
  GArray *masks;       /* see mask.h */
  GArray *tracks;      /* of regions over time, see smooth.h */
  guint64 n_cells;     /* of the frame's masks */

  /* The search for a first region by roi-source=meta, since the start. */
  struct {
    gboolean has_begun, is_over; /* with a frame; with a region, or a warning that there is none */
    const char *type;            /* of the last meta, whether it counts or not; NULL: there was none */
    GstClockTime last, time;     /* of the last frame, or NONE; time that frames cover */
  } search;

  /* Of the frame, since begin. */
  const GstCudaConvolveRoi *roi;
  const CnvImage *image;
  char **types; /* those that count */
  gboolean all; /* every type */
} GstCudaConvolveRegions;

void gst_cuda_convolve_regions_init(GstCudaConvolveRegions *regions, GstElement *element, GHashTable *told);
void gst_cuda_convolve_regions_clear(GstCudaConvolveRegions *regions);

/* Releases what is kept from frame to frame: masks, and regions over time. */
void gst_cuda_convolve_regions_forget(GstCudaConvolveRegions *regions);

/* Empties the list, for a frame. */
void gst_cuda_convolve_regions_begin(GstCudaConvolveRegions *regions, const GstCudaConvolveRoi *roi,
                                     const CnvImage *image);
/* Makes the last region that the engine takes one around all further ones. */
void gst_cuda_convolve_regions_limit(GstCudaConvolveRegions *regions);

/* Returns TRUE if roi-types has the type of a meta, in upper or lower case, or every type. */
gboolean gst_cuda_convolve_regions_take_type(const GstCudaConvolveRegions *regions, const char *type);
/* Notes a meta that could be a region, whether roi-types and roi-confidence choose it or not. type: not copied. */
void gst_cuda_convolve_regions_note_meta(GstCudaConvolveRegions *regions, const char *type);

/* Adds a rectangle, or the ellipse in it: x, y, width, height in luma pixels, where it reaches the frame. */
void gst_cuda_convolve_regions_add_rect(GstCudaConvolveRegions *regions, const double rect[4]);
/* Adds a rectangle, or the ellipse in it, that is turned clockwise about its centre by finite radians. */
void gst_cuda_convolve_regions_add_turned(GstCudaConvolveRegions *regions, const double rect[4], double angle);
/* Adds a polygon, see polygon.h. If it cannot be drawn, it is the rectangle around it, like a mask. */
void gst_cuda_convolve_regions_add_polygon(GstCudaConvolveRegions *regions, GArray *points);
/* Adds a mask stretched over a rectangle. One that cannot be used is all of the rectangle, with what the mask would
 * grow by, or nothing with roi-invert. weight_of: as in mask.h. */
void gst_cuda_convolve_regions_add_mask(GstCudaConvolveRegions *regions, GstBuffer *mask, GBytes *weight_of,
                                        const double rect[4]);
