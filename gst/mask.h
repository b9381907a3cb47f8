/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Masks: buffers of GRAY8 or GRAY16 with a GstVideoMeta, from metas or read from files, and as the engine takes them.
 */
#pragma once

#include <convolve/work.h>
#include <gst/video/video.h>

/* Samples that a mask can have, and those that all masks of a frame can have, with what they grow by. */
#define GST_CUDA_CONVOLVE_MASK_CELLS (1 << 26)

/* FALSE with the reason where no mask can have that size. what: how the message begins. */
gboolean gst_cuda_convolve_mask_check_size(const char *what, guint64 width, guint64 height, GError **error);

/* Returns memory for that many weights, to be freed; NULL with the reason. name: how the message begins. */
guint8 *gst_cuda_convolve_mask_alloc(const char *name, guint width, guint height, GError **error);

/* A mask of GRAY8. weights: of its cells, row by row, 255 for 1; taken over. */
GstBuffer *gst_cuda_convolve_mask_new(guint width, guint height, guint8 *weights);

/* Number of values that a cell of a buffer can have; 0: it is no mask. */
guint gst_cuda_convolve_mask_n_values(GstBuffer *buffer);

/* The weights of a mask's cells, row by row, to be freed. weight_of: the weight of each value, or NULL where the values
 * are weights. NULL with the reason where the meta promises more than the buffer's memory holds. */
guint8 *gst_cuda_convolve_mask_read(GstBuffer *buffer, GBytes *weight_of, GError **error);

/* A mask in a frame: all that its region is made of, and the region. */
typedef struct {
  GstBuffer *buffer;             /* or NULL */
  GBytes *weight_of;             /* or NULL */
  CnvRect rect;                  /* that it is stretched over */
  int frame_width, frame_height; /* luma pixels, like the following */
  double expand, feather;
  gboolean invert; /* what has weight is not filtered */
  GArray *polygon; /* in place of a buffer, see polygon.h: its cells are the pixels of `rect` */
  CnvRegion region;
  gboolean used; /* by this frame, in a list of masks */
} GstCudaConvolveMask;

/* Makes the region, with the engine's mask, to be unreferenced, and the rectangle: both are larger where it grows by
 * `expand` pixels, beyond which it fades over `feather` pixels, along x and then along y, inside the frame. A mask that
 * grows and has two or more samples to a pixel is reduced first: the largest counts, with `invert` the smallest, so
 * that no pixel is filtered less. FALSE with the reason. */
gboolean gst_cuda_convolve_mask_place(GstCudaConvolveMask *mask, GError **error);

/* A list of masks, empty, to be freed by g_array_unref. They are kept as long as frames have them: one that stays is
 * neither read again nor, since it is the same CnvMask, uploaded again. */
GArray *gst_cuda_convolve_masks_new(void);
/* Begins a frame: masks that the last one did not have are freed. */
void gst_cuda_convolve_masks_next(GArray *masks);
/* Sets the region, whose references the list keeps, and adds the mask's samples to the frame's count. Returns FALSE
 * with the reason. */
gboolean gst_cuda_convolve_masks_get(GArray *masks, GstCudaConvolveMask *mask, guint64 *n_cells, GError **error);
