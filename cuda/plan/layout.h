/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The planes of memory of a frame: their sizes, and their places if the engine allocates them as one block.
 */
#pragma once

#include <convolve/backend.h>

typedef struct {
  int n_planes;
  int row_bytes[CNV_MAX_PLANES]; /* bytes from a row's first sample to its last */
  int rows[CNV_MAX_PLANES];
  int sub_y[CNV_MAX_PLANES];    /* log2 of the rows of luma per row */
  int pitch[CNV_MAX_PLANES];    /* bytes from row to row in a block, a multiple of 256 */
  gsize offset[CNV_MAX_PLANES]; /* from the start of a block to the plane */
  gsize size;                   /* bytes of a block */
} CnvLayout;

CnvLayout cnv_layout_of(const CnvImage *image);

/* Adds plane p to the block. */
void cnv_layout_add(CnvLayout *layout, int p, int row_bytes, int rows);

/* Returns the frame in a block at a host or device address. */
CnvFrame cnv_layout_frame(const CnvLayout *layout, CnvMemory memory, guintptr address);
