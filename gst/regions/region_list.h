/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The list of a frame's regions, and functions that add to it.
 */
#pragma once

#include "regions/mask.h"
#include "regions/roi_settings.h"

typedef struct {
  GstElement *element; /* element and posted: for warnings, see messages.h */
  GHashTable *posted;  /* owned by the caller */
  GArray *region;      /* CnvRegion, all with plan 0 */
  GArray *masks;       /* see mask.h */
  GArray *tracks;      /* regions over time, see tracks.h */
  guint64 n_cells;     /* of the frame's masks */

  /* The search for a first region with roi-source=meta, since the start. */
  struct {
    gboolean has_begun, is_over; /* a frame came; a region was found, or a warning given */
    const char *type;            /* of the last meta, chosen or not; NULL: no meta yet */
    GstClockTime last, time;     /* PTS of the last frame, or NONE; sum of the time between frames */
  } search;

  /* The current frame, since gst_cuda_convolve_regions_begin. */
  const GstCudaConvolveRoi *roi;
  const CnvImage *image;
  char **types; /* types of roi-types */
  gboolean all; /* roi-types includes every type */
} GstCudaConvolveRegions;

void gst_cuda_convolve_regions_init(GstCudaConvolveRegions *regions, GstElement *element, GHashTable *posted);
void gst_cuda_convolve_regions_clear(GstCudaConvolveRegions *regions);

/* Releases the masks and tracks that are kept from frame to frame. */
void gst_cuda_convolve_regions_forget(GstCudaConvolveRegions *regions);

/* Empties the list, to begin a frame. */
void gst_cuda_convolve_regions_begin(GstCudaConvolveRegions *regions, const GstCudaConvolveRoi *roi,
                                     const CnvImage *image);
/* Limits the list to CNV_MAX_REGIONS. The last of them becomes a rectangle around itself and all further ones; with
 * roi-invert the further ones are dropped. */
void gst_cuda_convolve_regions_limit(GstCudaConvolveRegions *regions);

/* Returns TRUE if roi-types includes the type of a meta, in upper or lower case, or every type. */
gboolean gst_cuda_convolve_regions_take_type(const GstCudaConvolveRegions *regions, const char *type);
/* Notes a meta that could be a region, whether roi-types and roi-confidence choose it or not. type: not copied. */
void gst_cuda_convolve_regions_note_meta(GstCudaConvolveRegions *regions, const char *type);

/* Adds a rectangle, or the ellipse in it, if it reaches the frame. rect: x, y, width, height in luma pixels. shape:
 * CNV_SHAPE_RECTANGLE or CNV_SHAPE_ELLIPSE. */
void gst_cuda_convolve_regions_add_rect(GstCudaConvolveRegions *regions, const double rect[4], CnvShape shape);
/* Adds a rectangle, or with roi-shape the ellipse in it, turned clockwise about its centre. angle: radians, finite. */
void gst_cuda_convolve_regions_add_turned(GstCudaConvolveRegions *regions, const double rect[4], double angle);
/* Adds a polygon, see polygon.h. If it cannot be drawn, adds the rectangle around it, like add_mask. */
void gst_cuda_convolve_regions_add_polygon(GstCudaConvolveRegions *regions, GArray *points);
/* Adds a mask stretched over a rectangle. If the mask cannot be used, adds the whole rectangle, expanded as the mask
 * would be; with roi-invert adds nothing. weight_of: as in mask.h. */
void gst_cuda_convolve_regions_add_mask(GstCudaConvolveRegions *regions, GstBuffer *mask, GBytes *weight_of,
                                        const double rect[4]);
