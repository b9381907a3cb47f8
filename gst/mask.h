/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Masks as they come, from a file or in a buffer, and as the engine takes them.
 */
#pragma once

#include <convolve/work.h>
#include <gst/video/video.h>

#define GST_CUDA_CONVOLVE_MASK_CELLS (1 << 26) /* that a mask can have */

/* Weights that never change, shared by reference. */
typedef struct {
  char *path;        /* of the file that they were read from, or NULL */
  int width, height; /* cells, 1..CNV_SIZE_MAX */
  GBytes *weights;   /* a byte a cell, row by row; 255 is weight 1 */
} GstCudaConvolveMask;

/* Takes the weights. */
GstCudaConvolveMask *gst_cuda_convolve_mask_new(const char *path, int width, int height, guint8 *weights);
GstCudaConvolveMask *gst_cuda_convolve_mask_ref(GstCudaConvolveMask *mask);
void gst_cuda_convolve_mask_unref(GstCudaConvolveMask *mask);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(GstCudaConvolveMask, gst_cuda_convolve_mask_unref)

/* FALSE with the reason where no mask can have that size. what: how the message begins. */
gboolean gst_cuda_convolve_mask_check_size(const char *what, guint64 width, guint64 height, GError **error);

/* Number of values that a cell of a GRAY8 or GRAY16 buffer with a GstVideoMeta can have; 0: it is no mask. */
guint gst_cuda_convolve_mask_n_values(GstBuffer *buffer);
/* Reads such a buffer. weight_of: the weight of each value, or NULL where the values are weights. NULL with the reason
 * where the meta promises more than the buffer's memory holds. */
GstCudaConvolveMask *gst_cuda_convolve_mask_read(GstBuffer *buffer, GBytes *weight_of, GError **error);

/* A place in a frame that a mask is stretched over, and by what it grows there. */
typedef struct {
  CnvRect rect;
  int frame_width, frame_height; /* luma pixels, like the following */
  double expand, feather;
} GstCudaConvolveMaskPlace;

/* Makes the region of a mask at a place: with the engine's mask, to be unreferenced, and the rectangle, both larger
 * where it grows by `expand` pixels, beyond which it fades over `feather` pixels, along x and then along y, inside the
 * frame. box: the part of the rectangle that has weight, empty where none has. FALSE with the reason. */
gboolean gst_cuda_convolve_mask_place(const GstCudaConvolveMask *mask, const GstCudaConvolveMaskPlace *place,
                                      CnvRegion *region, CnvRect *box, GError **error);
