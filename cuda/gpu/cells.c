/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gpu/cells.h"

#include <string.h>

#include "plan/arith.h"
#include "plan/plan.h"

/* Bytes of a row of a block, at most: narrower blocks waste bytes at their edges, and wider ones leave fewer rows of
 * cells to a turn. Bytes of samples that a block should read: blocks that read less spend their time on finding their
 * cells. */
#define ROW_BYTES 1024
#define BLOCK_BYTES 24576

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

/* Returns the cells of a thread's group of small cells; 0 if the kernel has no code for such a group. */
static int
cells_of_group(const CnvPlane *plane)
{
  int n = plane->cell[CNV_X], C = plane->channels, shift = plane->cell_shift[CNV_X], bytes = plane->component[0].bytes;
  gboolean single = C == 1 && shift <= (bytes == 1 ? 1 : 0);

  if (n < 3 || n % 2 == 0 || MAX(n, plane->cell[CNV_Y]) > CNV_CELLS_GROUP_MAX)
    return 0;
  if (single || (C == 2 && shift == 1) || (C == 4 && shift == 0 && bytes == 1))
    return (4 * CNV_CELLS_GROUP_WORDS(n) / bytes << shift) / C;
  return 0;
}

/* Finds cells and threads of a block along x. row_bytes: that a row of a block has, at most, if it has two cells. */
static void
divide_columns(const CnvPlane *plane, const CnvJob *job, CnvCellBlocks *blocks, int row_bytes)
{
  int pixel = plane->channels * plane->component[0].bytes, all = blocks->end[CNV_X] - blocks->first[CNV_X];
  int bytes = cell_size(plane, job, CNV_X) * pixel, aligned = aligned_cells(plane, pixel);
  int most = MIN(row_bytes / bytes, BLOCK_BYTES / (bytes * cell_size(plane, job, CNV_Y))), n;

  most = CLAMP(most, 1, CNV_CELLS_MAX);
  if (most < aligned)
    aligned = 1;
  most -= most % aligned;
  n = cnv_divide_up(all, cnv_divide_up(all, most));
  blocks->cells[CNV_X] = MIN(cnv_divide_up(n, aligned) * aligned, all);
  blocks->threads_x = cnv_divide_up(widest(plane, job, blocks, blocks->cells[CNV_X]) * pixel + 15, CNV_CELLS_CHUNK);
}

/* Finds rows of cells of a block, and the parts into which they are divided. least: blocks. Returns TRUE if blocks are
 * that many. */
static gboolean
divide_rows(const CnvPlane *plane, const CnvJob *job, CnvCellBlocks *blocks, int least)
{
  int slots = CNV_BLOCK_THREADS / blocks->threads_x, height = cell_size(plane, job, CNV_Y);
  int all = blocks->end[CNV_Y] - blocks->first[CNV_Y], columns = cnv_cells_columns(blocks), turn, rows;

  turn = MIN(slots / MIN(slots, cnv_divide_up(height, CNV_CELLS_BATCH)), CNV_CELLS_MAX_ROWS);
  if (blocks->wide)
    turn = MIN(turn, MAX(CNV_CELLS_SUMS / (blocks->cells[CNV_X] * plane->channels), 1));
  turn = CLAMP(all * columns / least, 1, turn);
  rows = BLOCK_BYTES / (blocks->threads_x * CNV_CELLS_CHUNK * height);
  rows = CLAMP(MIN(rows, all * columns / least), 1, CNV_CELLS_MAX_ROWS);
  if (blocks->small) {
    int one = CNV_BLOCK_THREADS / cnv_divide_up(blocks->cells[CNV_X], blocks->small); /* rows of one group per thread */

    rows = MIN(rows, 4 * slots); /* a block's rows of outputs must fit its shared memory */
    rows -= rows > one ? rows % MAX(one, 1) : 0;
    turn = MIN(turn, rows);
  }
  blocks->turn = turn;
  blocks->parts = MIN(slots / turn, height);
  blocks->cells[CNV_Y] = blocks->small ? rows : MAX(rows / turn, 1) * turn;
  return columns * cnv_divide_up(all, blocks->cells[CNV_Y]) >= least;
}

/* Divides cells into slices, if there are too few of them for `least` blocks. */
static void
divide_cells(const CnvPlane *plane, const CnvJob *job, CnvCellBlocks *blocks, int least)
{
  int height = cell_size(plane, job, CNV_Y), n = cnv_cells_columns(blocks) * cnv_cells_rows(blocks);
  int rows = blocks->parts * CNV_CELLS_BATCH; /* that a block's threads load at once */

  if (blocks->cells[CNV_X] > 1 || blocks->cells[CNV_Y] > 1)
    return;
  blocks->slices = CLAMP(MIN(least / n, height / rows), 1, height);
}

CnvCellBlocks
cnv_cells_divide(const CnvPlane *plane, const CnvJob *job, int least)
{
  CnvCellBlocks blocks = {.slices = 1};
  int pixel = plane->channels * plane->component[0].bytes, width = ROW_BYTES, columns_of_thread;

  if (!plane->plain || plane->cell[CNV_X] == 0)
    return blocks;
  blocks.first[CNV_X] = cnv_cell_of(plane, job, CNV_X, job->x);
  blocks.first[CNV_Y] = cnv_cell_of(plane, job, CNV_Y, job->y);
  blocks.end[CNV_X] = cnv_cell_of(plane, job, CNV_X, job->x + job->width - 1) + 1;
  blocks.end[CNV_Y] = cnv_cell_of(plane, job, CNV_Y, job->y + job->height - 1) + 1;
  blocks.small = cells_of_group(plane);
  blocks.wide = (plane->cell[CNV_X] >> plane->cell_shift[CNV_X]) * pixel >= CNV_CELLS_CHUNK && plane->channels != 3;
  divide_columns(plane, job, &blocks, width);
  if (blocks.threads_x > CNV_BLOCK_THREADS)
    return (CnvCellBlocks){.threads_x = 0};
  while (!divide_rows(plane, job, &blocks, least) && blocks.cells[CNV_X] > 1 &&
         blocks.parts < cell_size(plane, job, CNV_Y))
    divide_columns(plane, job, &blocks, width /= 2);
  divide_cells(plane, job, &blocks, least);
  columns_of_thread = cell_size(plane, job, CNV_X) * (blocks.wide ? 1 : blocks.parts);
  while (8 << blocks.lanes_shift < columns_of_thread && blocks.lanes_shift < 5)
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
