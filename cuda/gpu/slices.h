/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * A frame in host memory, cut into slices of rows, of the full width, so that one is filtered while the next is
 * uploaded and the one before it downloaded; made on the host, without the driver.
 */
#pragma once

#include "plan/plan.h"

#define CNV_SLICES_MAX 8

/* Rows of each plane that a slice is a multiple of, the last apart: whole tiles of every kernel (columns and tiled have
 * 64, dense up to 64, fused 32, tensor 8), so that each sample is made by the arithmetic of an uncut frame. */
#define CNV_SLICE_ROWS 64

typedef struct {
  int n;                             /* 1..CNV_SLICES_MAX */
  gboolean single_launch;            /* only copies are cut: kernels run once, between uploads and downloads */
  int rows_uploaded[CNV_SLICES_MAX]; /* rows of luma from the frame's top that a slice's kernels need */
  int end[CNV_SLICES_MAX];           /* rows of luma from the frame's top to its end; both rise to the image's height */
} CnvSlices;

/* For copies. */
CnvSlices cnv_slices_of_image(const CnvImage *image);

/* For all of a frame's way. One where other frames overlap with it. Whole where a slice would wait for rows far away,
 * or for other work than filtering planes one by one: under border-mode=wrap, and for staged planes, fields, regions
 * and frames over time. */
CnvSlices cnv_slices_of_work(const CnvWork *work);

/* The rows of a plane from its top to a slice's end. */
static inline int
cnv_slice_rows(int luma_rows, int sub_y)
{
  return (luma_rows + (1 << sub_y) - 1) >> sub_y;
}
