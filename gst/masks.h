/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Masks that the engine was given, kept as long as frames have them: one that stays is neither read again nor, since it
 * is the same CnvMask, uploaded again.
 */
#pragma once

#include "mask.h"

/* All that a mask is made of. */
typedef struct {
  GstBuffer *buffer;         /* either that, */
  GBytes *weight_of;         /* with the weight of each value or NULL, */
  GstCudaConvolveMask *file; /* or this */
  GstCudaConvolveMaskPlace place;
} GstCudaConvolveMaskSource;

/* An empty list, to be freed by g_array_unref. */
GArray *gst_cuda_convolve_masks_new(void);
/* Begins a frame: masks that the last one did not have are freed. */
void gst_cuda_convolve_masks_next(GArray *masks);

/* The region of a mask, as the list holds it, and the part of it that has weight: see gst_cuda_convolve_mask_grow.
 * FALSE with the reason where it cannot be read. */
gboolean gst_cuda_convolve_masks_get(GArray *masks, const GstCudaConvolveMaskSource *source, CnvRegion *region,
                                     CnvRect *box, GError **error);
