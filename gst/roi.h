/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Regions of interest: the values of the roi properties, and the rectangles of a frame that follow from them.
 */
#pragma once

#include <convolve/work.h>
#include <gst/gst.h>

/* Part of GstCudaConvolveSettings. */
typedef struct {
  int source;    /* CNV_ROI_NONE: the rest is not used */
  GArray *rects; /* of CnvRect, for source property: shared, never changed once set; NULL none */
  char *types;   /* for source meta: comma-separated, NULL or empty for all */
  gboolean invert, isolated;
  double expand;          /* fraction of a rectangle's size added on each side */
  double feather;         /* luma pixels */
  int strength;           /* CNV_ROI_FIXED or CNV_ROI_RELATIVE */
  double relative_size;   /* radius as a fraction of a rectangle's longer side */
  int target_x, target_y; /* luma pixels; -1 stays in its place */
} GstCudaConvolveRoi;

/* FALSE with CNV_ERROR_SETTINGS where the settings contradict each other or the filter. */
gboolean gst_cuda_convolve_roi_check(const GstCudaConvolveRoi *roi, const CnvFilter *filter, GError **error);

/* Fills an array of CnvRegion, all by plan 0, from the property or the buffer's metas. element and told: for
 * warnings, see messages.h. */
void gst_cuda_convolve_roi_collect(const GstCudaConvolveRoi *roi, GstBuffer *buffer, const CnvImage *image,
                                   GArray *regions, GstElement *element, GHashTable *told);
