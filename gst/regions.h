/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The roi properties: what the user asked for about regions of interest, a plain value. How it becomes a frame's work
 * is in regions.c.
 */
#pragma once

#include <convolve/work.h>

G_BEGIN_DECLS

typedef enum {
  GST_CUDA_CONVOLVE_ROI_NONE,
  GST_CUDA_CONVOLVE_ROI_PROPERTY,
  GST_CUDA_CONVOLVE_ROI_META,
} GstCudaConvolveRoiSource;

typedef enum { GST_CUDA_CONVOLVE_ROI_FIXED, GST_CUDA_CONVOLVE_ROI_RELATIVE } GstCudaConvolveRoiStrength;

/* Copied and cleared by the functions below. */
typedef struct {
  int source;    /* GstCudaConvolveRoiSource; with none all the rest means nothing */
  GArray *rects; /* of CnvRect, for source property: shared, never changed once set; NULL none */
  char *types;   /* for source meta: comma-separated, NULL or empty for all */
  gboolean invert, isolated;
  double expand;          /* fraction of a rectangle's size added on each side */
  double feather;         /* luma pixels */
  int strength;           /* GstCudaConvolveRoiStrength */
  double relative_size;   /* radius as a fraction of a rectangle's longer side */
  int target_x, target_y; /* luma pixels; -1 stays in its place */
} GstCudaConvolveRoi;

#define GST_CUDA_CONVOLVE_ROI_DEFAULT ((GstCudaConvolveRoi){.relative_size = 0.2, .target_x = -1, .target_y = -1})

/* to: uninitialised */
void gst_cuda_convolve_roi_copy(GstCudaConvolveRoi *to, const GstCudaConvolveRoi *from);
void gst_cuda_convolve_roi_clear(GstCudaConvolveRoi *roi);
gboolean gst_cuda_convolve_roi_equal(const GstCudaConvolveRoi *a, const GstCudaConvolveRoi *b);

/* FALSE with CNV_ERROR_SETTINGS where the settings contradict each other or the filter. */
gboolean gst_cuda_convolve_roi_check(const GstCudaConvolveRoi *roi, const CnvFilter *filter, GError **error);

G_END_DECLS
