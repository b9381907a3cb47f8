/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Blocks of the kernel `cells`, which makes mosaics.
 */
#pragma once

#include "gpu/kernels/arguments.h"

/* Divides a job among blocks, of which the GPU has `fit` at once, at least 1: the job's share. Cells are divided into
 * slices if they are too few for that. Returns one with threads_x 0 if the kernel cannot do it: it takes plain samples,
 * and a row of a block must fit its threads. */
CnvCellBlocks cnv_cells_divide(const CnvPlane *plane, const CnvJob *job, int fit);

/* Blocks side by side, and one below the other. */
int cnv_cells_columns(const CnvCellBlocks *blocks);
int cnv_cells_rows(const CnvCellBlocks *blocks);

/* Numbers of 32 bits that the sums of a job take that is divided into slices; else 0. */
int cnv_cells_sums(const CnvCellBlocks *blocks, int channels);
