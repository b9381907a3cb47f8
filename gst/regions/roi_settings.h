/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Regions of interest: the values of the `roi` properties.
 */
#pragma once

#include <convolve/work.h>
#include <gst/gst.h>

#include "regions/zones.h"

/* Part of GstCudaConvolveSettings. */
typedef struct {
  int source;          /* CNV_ROI_NONE: all other members are unused */
  GArray *rects;       /* for source property: shared, never changed after it is set; NULL: none. See values.h */
  GPtrArray *polygons; /* for source property, like rects: arrays as in polygon.h */
  int units;           /* of rects and polygons: CNV_ROI_PIXELS or CNV_ROI_FRACTION of the frame */
  GstBuffer *mask;     /* for source property, stretched over the frame; NULL: none. See maskfile.h */
  GstCudaConvolveZones *zones; /* for source property, see zones.h; NULL: none */
  int shape;                   /* of rectangles of rects and metas: CNV_SHAPE_RECTANGLE or CNV_SHAPE_ELLIPSE */
  char *types;                 /* of metas and zones: comma-separated; NULL or empty: all */
  double confidence;           /* for source meta, like smooth: least confidence of boxes that have one; 0: all boxes */
  guint smooth;                /* frames for which a region is kept without a detection */
  int missing;                 /* what to do with a frame without regions: CNV_ROI_MISSING_COPY or _FILTER */
  gboolean invert, isolated;
  double expand;          /* fraction of a region's size added on each side */
  double feather;         /* luma pixels */
  int strength;           /* CNV_ROI_FIXED or CNV_ROI_RELATIVE */
  double relative_size;   /* radius as a fraction of a region's longer side */
  int target_x, target_y; /* luma pixels; -1: stays in place */
} GstCudaConvolveRoi;

/* Returns FALSE with CNV_ERROR_SETTINGS if the settings contradict each other or the filter. */
gboolean gst_cuda_convolve_roi_check(const GstCudaConvolveRoi *roi, const CnvFilter *filter, GError **error);

/* Returns FALSE with CNV_ERROR_SETTINGS if the plan cannot filter the regions isolated. Masks of metas are known
 * only with their frame; filtering that frame fails then. */
gboolean gst_cuda_convolve_roi_check_plan(const GstCudaConvolveRoi *roi, const CnvPlan *plan, GError **error);

/* Returns TRUE if the properties ask for regions that are not rectangles. */
gboolean gst_cuda_convolve_roi_has_shapes(const GstCudaConvolveRoi *roi);

/* Return the number of rectangles of the property, and one of them in luma pixels of the frame: x, y, width, height. */
guint gst_cuda_convolve_roi_n_rects(const GstCudaConvolveRoi *roi);
void gst_cuda_convolve_roi_rect(const GstCudaConvolveRoi *roi, guint i, const CnvImage *image, double rect[4]);

/* Return the number of polygons of the property, and a new array with the points of one of them in luma pixels of
 * the frame. */
guint gst_cuda_convolve_roi_n_polygons(const GstCudaConvolveRoi *roi);
GArray *gst_cuda_convolve_roi_polygon(const GstCudaConvolveRoi *roi, guint i, const CnvImage *image);

/* Returns TRUE if roi-types does not exclude the type of a zone. */
gboolean gst_cuda_convolve_roi_takes_zone(const GstCudaConvolveRoi *roi, const GstCudaConvolveZone *zone);
/* Return, in luma pixels of the frame, a new array with the points of a zone that is a polygon, or the rectangle of
 * another zone. */
GArray *gst_cuda_convolve_roi_zone_points(const GstCudaConvolveZone *zone, const CnvImage *image);
void gst_cuda_convolve_roi_zone_rect(const GstCudaConvolveZone *zone, const CnvImage *image, double rect[4]);

/* Returns the types of roi-types, to be freed with g_strfreev. Sets *all if the property includes every type: it is
 * empty, or contains "all". */
char **gst_cuda_convolve_roi_types(const GstCudaConvolveRoi *roi, gboolean *all);
/* Returns TRUE if a list of types contains a type, in upper or lower case. */
gboolean gst_cuda_convolve_types_hold(char **types, const char *type);

/* Extends a rectangle to the one around it and another. */
void gst_cuda_convolve_rect_join(CnvRect *to, const CnvRect *with);
