/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gpu/cells.h"

#include <string.h>

#include "plan/arith.h"
#include "plan/plan.h"

/* Bytes of a row of a block: narrower blocks waste bytes at their edges, and wider ones leave fewer rows of cells to a
 * turn. Bytes of samples that a block should read: blocks that read less spend their time on finding their cells. */
#define ROW_BYTES 1024
#define BLOCK_BYTES 32768

/* Cells of more bytes are divided into slices. */
#define SLICED_BYTES 65536

/* Blocks for each multiprocessor, at least, before blocks do more than one turn. */
#define LEAST_BLOCKS 2

/* Pixels or rows of the largest cells, at most. */
static int
cell_size(const CnvPlane *plane, const CnvJob *job, int axis)
{
  int shift = plane->cell_shift[axis], window = axis == CNV_X ? job->window_width : job->window_height;

  return MIN((plane->cell[axis] + (1 << shift) - 1) >> shift, window);
}

/* Pixels of a job, read or written, that the widest of its blocks of n cells has. */
static int
widest(const CnvPlane *plane, const CnvJob *job, const CnvCellBlocks *blocks, int n)
{
  int first = blocks->first[CNV_X], last = blocks->end[CNV_X], most = 0;

  for (int k = first, end; k < last; k = end) {
    int from = cnv_cell_edge(plane, job, CNV_X, k), to;

    end = MIN(k + n, last);
    to = cnv_cell_edge(plane, job, CNV_X, end);
    most = MAX(most, to - from);
    if (k == first)
      from = job->x;
    if (end == last)
      to = job->x + job->width;
    most = MAX(most, to - from);
  }
  return most;
}

/* Cells side by side that begin at a multiple of 16 bytes if the first one does. */
static int
aligned_cells(const CnvPlane *plane, int pixel)
{
  int n = 1;

  while (n * pixel % CNV_CELLS_CHUNK != 0)
    n *= 2;
  return n << plane->cell_shift[CNV_X];
}

/* Finds cells and threads of a block along x. */
static void
divide_columns(const CnvPlane *plane, const CnvJob *job, CnvCellBlocks *blocks)
{
  int pixel = plane->channels * plane->component[0].bytes, all = blocks->end[CNV_X] - blocks->first[CNV_X];
  int bytes = cell_size(plane, job, CNV_X) * pixel, aligned = aligned_cells(plane, pixel);
  int most = MIN(ROW_BYTES / bytes, BLOCK_BYTES / (bytes * cell_size(plane, job, CNV_Y))), n;

  most = CLAMP(most, 1, CNV_CELLS_MAX);
  if (most < aligned)
    aligned = 1;
  most -= most % aligned;
  n = cnv_divide_up(all, cnv_divide_up(all, most));
  blocks->cells[CNV_X] = MIN(cnv_divide_up(n, aligned) * aligned, all);
  blocks->threads_x = cnv_divide_up(widest(plane, job, blocks, blocks->cells[CNV_X]) * pixel + 15, CNV_CELLS_CHUNK);
}

/* Finds rows of cells of a block, and the parts or slices into which they are divided. */
static void
divide_rows(const CnvPlane *plane, const CnvJob *job, CnvCellBlocks *blocks, int n_processors)
{
  int slots = CNV_BLOCK_THREADS / blocks->threads_x, height = cell_size(plane, job, CNV_Y), columns, turn;
  int all = blocks->end[CNV_Y] - blocks->first[CNV_Y], bytes = blocks->threads_x * CNV_CELLS_CHUNK * height, turns;

  blocks->slices = bytes > SLICED_BYTES ? MIN(cnv_divide_up(bytes, BLOCK_BYTES), height) : 1;
  height = cnv_divide_up(height, blocks->slices);
  turn = blocks->slices > 1 ? 1 : slots / MIN(slots, cnv_divide_up(height, CNV_CELLS_BATCH));
  turn = MIN(turn, CNV_CELLS_MAX_ROWS);
  blocks->parts = slots / turn;
  blocks->turn = turn;
  columns = cnv_cells_columns(blocks);
  turns = blocks->slices > 1 ? 1 : MIN(BLOCK_BYTES / (bytes * turn), CNV_CELLS_MAX_ROWS / turn);
  while (turns > 1 && columns * cnv_divide_up(all, turn * turns) < LEAST_BLOCKS * n_processors)
    turns--;
  blocks->cells[CNV_Y] = turn * MAX(turns, 1);
}

CnvCellBlocks
cnv_cells_divide(const CnvPlane *plane, const CnvJob *job, int n_processors)
{
  CnvCellBlocks blocks = {.threads_x = 0};

  if (!plane->plain || plane->cell[CNV_X] == 0)
    return blocks;
  blocks.first[CNV_X] = cnv_cell_of(plane, job, CNV_X, job->x);
  blocks.first[CNV_Y] = cnv_cell_of(plane, job, CNV_Y, job->y);
  blocks.end[CNV_X] = cnv_cell_of(plane, job, CNV_X, job->x + job->width - 1) + 1;
  blocks.end[CNV_Y] = cnv_cell_of(plane, job, CNV_Y, job->y + job->height - 1) + 1;
  divide_columns(plane, job, &blocks);
  if (blocks.threads_x > CNV_BLOCK_THREADS)
    return (CnvCellBlocks){.threads_x = 0};
  divide_rows(plane, job, &blocks, n_processors);
  while (8 << blocks.lanes_shift < cell_size(plane, job, CNV_X) * blocks.parts && blocks.lanes_shift < 5)
    blocks.lanes_shift++;
  return blocks;
}

int
cnv_cells_columns(const CnvCellBlocks *blocks)
{
  return cnv_divide_up(blocks->end[CNV_X] - blocks->first[CNV_X], blocks->cells[CNV_X]);
}

int
cnv_cells_rows(const CnvCellBlocks *blocks)
{
  return cnv_divide_up(blocks->end[CNV_Y] - blocks->first[CNV_Y], blocks->cells[CNV_Y]) * blocks->slices;
}

int
cnv_cells_sums(const CnvCellBlocks *blocks, int channels)
{
  return blocks->slices == 1 ? 0 : cnv_cells_columns(blocks) * cnv_cells_rows(blocks) * blocks->cells[CNV_X] * channels;
}
