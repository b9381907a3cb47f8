/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Blocks of the kernel `cells`, which makes mosaics.
 */
#pragma once

#include "gpu/kernels/arguments.h"

/* Divides a job among blocks. fit: blocks that the GPU runs at once for this job, at least 1. If there are fewer cells,
 * they are divided into slices. Returns threads_x 0 if the kernel cannot filter the job: it needs plain samples, and a
 * row of a block must fit its threads. */
CnvCellBlocks cnv_cells_divide(const CnvPlane *plane, const CnvJob *job, int fit);

/* Return the number of columns and rows of blocks. */
int cnv_cells_columns(const CnvCellBlocks *blocks);
int cnv_cells_rows(const CnvCellBlocks *blocks);

/* Returns the number of 32-bit sums that a job divided into slices needs; 0 for other jobs. */
int cnv_cells_sums(const CnvCellBlocks *blocks, int channels);
