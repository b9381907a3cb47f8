/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Masks: buffers of GRAY8 or GRAY16 with a GstVideoMeta, from metas or files, and their conversion to the engine's
 * masks.
 */
#pragma once

#include <convolve/work.h>
#include <gst/video/video.h>

/* Most samples of a mask, and of all masks of a frame together, before and after they grow. */
#define GST_CUDA_CONVOLVE_MASK_CELLS (1 << 26)

/* Returns FALSE with an error if a mask cannot have that size. what: begins the message. */
gboolean gst_cuda_convolve_mask_check_size(const char *what, guint64 width, guint64 height, GError **error);

/* Returns memory for width * height weights, to be freed; NULL with an error. name: begins the message. */
guint8 *gst_cuda_convolve_mask_alloc(const char *name, guint width, guint height, GError **error);

/* Returns a mask of GRAY8. weights: its samples, row by row, 255 for 1; the mask takes ownership. */
GstBuffer *gst_cuda_convolve_mask_new(guint width, guint height, guint8 *weights);

/* Returns the number of values that a sample of a buffer can have; 0 if the buffer is not a mask. */
guint gst_cuda_convolve_mask_n_values(GstBuffer *buffer);

/* Returns the weights of a mask's samples, row by row, to be freed. weight_of: the weight of each value; NULL if the
 * values are weights. Returns NULL with an error if the meta promises more than the buffer's memory holds. */
guint8 *gst_cuda_convolve_mask_read(GstBuffer *buffer, GBytes *weight_of, GError **error);

/* A mask in a frame: the sources of its region, and the region. */
typedef struct {
  GstBuffer *buffer;             /* or NULL */
  GBytes *weight_of;             /* or NULL */
  CnvRect rect;                  /* the mask is stretched over it */
  int frame_width, frame_height; /* luma pixels, like expand and feather */
  double expand, feather;
  gboolean invert; /* pixels with weight are not filtered */
  GArray *polygon; /* instead of a buffer, see polygon.h: has a sample per pixel of `rect` */
  CnvRegion region;
  gboolean used; /* by this frame; for the list of masks */
} GstCudaConvolveMask;

/* Makes the region with the engine's mask, which the caller unreferences. If the mask grows, its rectangle does too:
 * by `expand` pixels, then by `feather` pixels over which it fades, along x and then along y, inside the frame. A
 * growing mask with two or more samples per pixel is reduced first. The largest sample counts, with `invert` the
 * smallest, so that no pixel is filtered less. Returns FALSE with an error. */
gboolean gst_cuda_convolve_mask_place(GstCudaConvolveMask *mask, GError **error);

/* Returns an empty list of masks, to be freed by g_array_unref. Masks are kept as long as frames have them. A mask
 * that stays is not read again, and because it is the same CnvMask, it is not uploaded again. */
GArray *gst_cuda_convolve_masks_new(void);
/* Begins a frame: frees the masks that the last frame did not have. */
void gst_cuda_convolve_masks_next(GArray *masks);
/* Sets the mask's region, whose references the list keeps, and adds the mask's samples to *n_cells. Returns FALSE
 * with an error. */
gboolean gst_cuda_convolve_masks_get(GArray *masks, GstCudaConvolveMask *mask, guint64 *n_cells, GError **error);
