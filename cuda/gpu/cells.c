/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gpu/cells.h"

#include <string.h>

#include "plan/arith.h"
#include "plan/plan.h"

/* Widest row of a block that is tried, in bytes. */
#define ROW_BYTES 2048
#define ROW_WIDTHS 12
#define SMALL_BYTES 768 /* least width with small cells */

/* Fixed cost of a block before its first turn, and of each turn, in rows of samples that a thread adds up. */
#define BLOCK_COST 18
#define TURN_COST 9

/* Returns the size of the largest cells along an axis, in pixels or rows. */
static int
cell_size(const CnvPlane *plane, const CnvJob *job, int axis)
{
  int shift = plane->cell_shift[axis], window = axis == CNV_X ? job->window_width : job->window_height;

  return MIN((plane->cell[axis] + (1 << shift) - 1) >> shift, window);
}

/* Returns the largest width of a block of n cells of the job, in pixels read or written. */
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

/* Returns the number of cells side by side after which a cell begins at a multiple of 16 bytes again. */
static int
aligned_cells(const CnvPlane *plane, int pixel)
{
  int n = 1;

  while (n * pixel % CNV_CELLS_CHUNK != 0)
    n *= 2;
  return n << plane->cell_shift[CNV_X];
}

/* Returns the number of cells in a thread's group of small cells, or 0 if the kernel has no code for such a group. */
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

/* Finds cells and threads of a block along x. row_bytes: upper bound of a block's row, unless the block has one cell.
 */
static void
divide_columns(const CnvPlane *plane, const CnvJob *job, CnvCellBlocks *blocks, int row_bytes)
{
  int pixel = plane->channels * plane->component[0].bytes, all = blocks->end[CNV_X] - blocks->first[CNV_X];
  int bytes = cell_size(plane, job, CNV_X) * pixel, aligned = aligned_cells(plane, pixel), most, n;

  most = CLAMP(row_bytes / bytes, 1, CNV_CELLS_MAX);
  if (most < aligned)
    aligned = 1;
  most -= most % aligned;
  n = cnv_divide_up(all, cnv_divide_up(all, most));
  blocks->cells[CNV_X] = MIN(cnv_divide_up(n, aligned) * aligned, all);
  blocks->threads_x = cnv_divide_up(widest(plane, job, blocks, blocks->cells[CNV_X]) * pixel + 15, CNV_CELLS_CHUNK);
}

/* Returns the cost of the rows of blocks that a multiprocessor runs one after the other, including the bytes that they
 * waste. fit: blocks that the GPU runs at once. */
static guint64
cost_of(const CnvPlane *plane, const CnvJob *job, const CnvCellBlocks *blocks, int fit)
{
  int columns = cnv_cells_columns(blocks), height = cell_size(plane, job, CNV_Y), turns, rows;

  turns = cnv_divide_up(blocks->cells[CNV_Y], blocks->turn);
  rows = cnv_divide_up(height, blocks->parts);
  if (blocks->group_cells) {
    turns = cnv_divide_up(cnv_divide_up(blocks->cells[CNV_X], blocks->group_cells) * blocks->cells[CNV_Y],
                          CNV_BLOCK_THREADS);
    rows = height;
  }
  return (guint64)cnv_divide_up(columns * cnv_cells_rows(blocks), fit) * columns * blocks->threads_x *
         (BLOCK_COST + turns * (TURN_COST + rows));
}

/* Sets the rows of cells of a block: `turns` times `turn`, as far as shared memory allows. */
static void
set_rows(const CnvPlane *plane, const CnvJob *job, CnvCellBlocks *blocks, int turn, int turns)
{
  int slots = CNV_BLOCK_THREADS / blocks->threads_x;
  int most = blocks->group_cells ? MIN(4 * slots, CNV_CELLS_MAX_ROWS) : CNV_CELLS_MAX_ROWS;

  blocks->turn = turn;
  blocks->parts = MIN(slots / turn, cell_size(plane, job, CNV_Y));
  blocks->cells[CNV_Y] = turn * CLAMP(turns, 1, MAX(most / turn, 1));
}

/* Finds the rows of cells of a block, and the parts into which they are divided. Returns their cost. */
static guint64
divide_rows(const CnvPlane *plane, const CnvJob *job, CnvCellBlocks *blocks, int fit)
{
  int slots = CNV_BLOCK_THREADS / blocks->threads_x, height = cell_size(plane, job, CNV_Y);
  int all = blocks->end[CNV_Y] - blocks->first[CNV_Y], columns = cnv_cells_columns(blocks), most;
  CnvCellBlocks best = *blocks;
  guint64 least = G_MAXUINT64;

  most = MIN(slots / MIN(slots, cnv_divide_up(height, CNV_CELLS_BATCH)), CNV_CELLS_MAX_ROWS);
  if (blocks->wide)
    most = MIN(most, MAX(CNV_CELLS_SUMS / (blocks->cells[CNV_X] * plane->channels), 1));
  /* few or many rows of cells per turn; one turn, or as many turns as let all blocks fit */
  for (int i = 0; i < 4; i++) {
    int turn = i < 2 ? most : CLAMP(all * columns / fit, 1, most);
    guint64 cost;

    set_rows(plane, job, blocks, turn, i % 2 ? cnv_divide_up(all, MAX(fit / columns, 1) * turn) : 1);
    cost = cost_of(plane, job, blocks, fit);
    if (cost <= least) {
      best = *blocks;
      least = cost;
    }
  }
  *blocks = best;
  return least;
}

/* Divides cells into slices if there are too few cells. */
static void
divide_cells(const CnvPlane *plane, const CnvJob *job, CnvCellBlocks *blocks, int fit)
{
  int height = cell_size(plane, job, CNV_Y), n = cnv_cells_columns(blocks) * cnv_cells_rows(blocks);
  int rows = blocks->parts * CNV_CELLS_BATCH; /* rows that a block's threads load at once */

  if (blocks->cells[CNV_X] > 1 || blocks->cells[CNV_Y] > 1)
    return;
  blocks->slices = CLAMP(MIN(fit / n, height / rows), 1, height);
}

CnvCellBlocks
cnv_cells_divide(const CnvPlane *plane, const CnvJob *job, int fit)
{
  CnvCellBlocks blocks = {.slices = 1}, best = {.threads_x = 0};
  int pixel = plane->channels * plane->component[0].bytes, width = ROW_BYTES, columns_of_thread, n = 0;
  guint64 least = G_MAXUINT64;

  if (!plane->plain || plane->cell[CNV_X] == 0)
    return best;
  blocks.first[CNV_X] = cnv_cell_of(plane, job, CNV_X, job->x);
  blocks.first[CNV_Y] = cnv_cell_of(plane, job, CNV_Y, job->y);
  blocks.end[CNV_X] = cnv_cell_of(plane, job, CNV_X, job->x + job->width - 1) + 1;
  blocks.end[CNV_Y] = cnv_cell_of(plane, job, CNV_Y, job->y + job->height - 1) + 1;
  blocks.group_cells = cells_of_group(plane);
  blocks.wide = (plane->cell[CNV_X] >> plane->cell_shift[CNV_X]) * pixel >= CNV_CELLS_CHUNK && plane->channels != 3;
  for (int i = 0; i < ROW_WIDTHS && n != 1; i++, width = i % 2 ? width / 4 * 3 : width / 3 * 2) {
    guint64 cost;

    if (blocks.group_cells && width < SMALL_BYTES)
      break;
    divide_columns(plane, job, &blocks, width);
    if (n == blocks.cells[CNV_X] || blocks.threads_x > CNV_BLOCK_THREADS)
      continue;
    n = blocks.cells[CNV_X];
    cost = divide_rows(plane, job, &blocks, fit);
    if (cost < least) {
      best = blocks;
      least = cost;
    }
  }
  if (best.threads_x == 0)
    return best;
  divide_cells(plane, job, &best, fit);
  columns_of_thread = cell_size(plane, job, CNV_X) * (best.wide ? 1 : best.parts);
  while (8 << best.lanes_shift < columns_of_thread && best.lanes_shift < 5)
    best.lanes_shift++;
  return best;
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
