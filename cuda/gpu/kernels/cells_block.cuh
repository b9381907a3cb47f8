/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * A block of the kernel cells: its shared memory, and how it finds its cells. Pixels and rows that are read are
 * relative to the window, those that are written to the job.
 */
#pragma once

#include "gpu/kernels/block.cuh"

/* An edge between cells along x: the first pixel after it, as an input and as an output coordinate. */
struct CellEdge {
  int in, out;
};

/* A block's rows of a row of cells, as input and as output coordinates, and the number of rows of the cells. */
struct CellRows {
  int in0, in1, out0, out1, height;
};

/* A block's part of its job. */
struct CellsPart {
  int n_x, n_y;       /* cells */
  int left, out_left; /* first sample of the first 16 bytes, as input and as output coordinates */
  int samples, pitch; /* samples of 16 bytes, and of a row of the block */
  int slice, block;   /* block: number of the first slice's block in the job */
  uint32_t inverse;   /* 2^32 / (cells of a row * channels), rounded up; 0: that product is 1 */
  bool adds, blends;  /* adds: sums of samples, not means */
  bool in_groups;     /* each thread filters groups of cells in registers */
  bool wide;          /* 16 bytes have samples of at most two cells, so threads add to sums of cells, not of columns */
};

/* Shared memory of a block. */
struct CellsShared {
  CellsPart part;
  union {
    uint4 column[2 * CNV_BLOCK_THREADS]; /* sums of columns: 16 bits of samples of 8 bits, 32 bits of others */
    uint32_t sum[CNV_CELLS_SUMS];        /* sums of the turn's wide cells, by row, cell and channel */
  };
  alignas(16) float row[CNV_CELLS_CHUNK * CNV_BLOCK_THREADS]; /* outputs: samples; with weights, their values */
  CellEdge edge[CNV_CELLS_MAX + 1];
  CellRows rows[CNV_CELLS_MAX_ROWS];
};

/* A thread's place in a turn: its row of cells, its part of that row, and its 16 bytes. */
struct CellsPlace {
  int row, part, x;
};

/* The samples (bits) of a thread's 16 bytes that belong to each of two neighbouring cells, and the first cell. */
struct CellsShare {
  int cell;
  uint32_t left, right;
};

/* ---- the block ---- */

/* Return the first pixel or row of cell k: edge_in in the window, edge_out in the job. */
__device__ static int
edge_in(const CnvBlock &b, int axis, int k)
{
  return cnv_cell_edge(&b.a, &b.job, axis, k) - (axis == CNV_X ? b.job.window_x : b.job.window_y);
}

__device__ static int
edge_out(const CnvBlock &b, int axis, int k)
{
  if (k == b.cells.first[axis])
    return 0;
  if (k == b.cells.end[axis])
    return axis == CNV_X ? b.job.width : b.job.height;
  return cnv_cell_edge(&b.a, &b.job, axis, k) - (axis == CNV_X ? b.job.x : b.job.y);
}

/* Returns the range between two edges, or a block's slice of it. */
__device__ static int2
slice_of(const CnvBlock &b, int from, int to)
{
  if (b.cells.slices == 1)
    return make_int2(from, to);
  const int slice = b.block_y % b.cells.slices, share = (to - from + b.cells.slices - 1) / b.cells.slices;

  return make_int2(min(from + slice * share, to), min(from + (slice + 1) * share, to));
}

/* Returns the number of samples between the previous multiple of 16 bytes and the address; 0 if rows differ in that. */
__device__ static int
samples_after_chunk(uint64_t address, int stride, int bytes)
{
  return stride % CNV_CELLS_CHUNK ? 0 : (int)(address % CNV_CELLS_CHUNK) >> (bytes - 1);
}

/* Returns TRUE if small_cells.cuh filters the block: its first cell is whole and begins at a word, in input and output.
 */
__device__ static bool
is_small(const CnvBlock &b, const CellsPart &p, int x0)
{
  const int C = b.a.channels, unit = 4 * CNV_CELLS_GROUP_WORDS(b.a.cell[CNV_X]), shift = b.a.cell_shift[CNV_X];
  const int in = edge_in(b, CNV_X, x0), out = edge_out(b, CNV_X, x0), last = x0 + p.n_x;
  const int start = cnv_cell_start(&b.a, CNV_X, x0) + b.job.cells_x - b.job.window_x;
  const uint64_t at = input_at(b, in * C, 0) | b.in_stride | (uint64_t)((out * C - p.out_left) * b.bytes);

  return b.cells.group_cells && b.cells.slices == 1 && p.adds && !p.blends && start == in &&
         (x0 & ((1 << shift) - 1)) == 0 && at % unit == 0 &&
         edge_in(b, CNV_X, last) - in == edge_out(b, CNV_X, last) - out;
}

__device__ static CellsPart
find_part(const CnvBlock &b, int x0, int y0, bool only_sums)
{
  const CnvCellBlocks &blocks = b.cells;
  CellsPart p = {min(blocks.cells[CNV_X], blocks.end[CNV_X] - x0), min(blocks.cells[CNV_Y], blocks.end[CNV_Y] - y0)};
  const int channels = p.n_x * b.a.channels;

  p.left = edge_in(b, CNV_X, x0) * b.a.channels;
  p.left -= samples_after_chunk(input_at(b, p.left, 0), b.in_stride, b.bytes);
  p.out_left = edge_out(b, CNV_X, x0) * b.a.channels;
  p.out_left -= samples_after_chunk(b.out + (int64_t)p.out_left * b.bytes, b.out_stride, b.bytes);
  p.samples = CNV_CELLS_CHUNK >> (b.bytes - 1);
  p.pitch = blocks.threads_x * p.samples;
  p.slice = blocks.slices == 1 ? 0 : b.block_y % blocks.slices;
  p.block = (b.block_y - p.slice) * b.columns + b.block_x;
  p.inverse = channels > 1 ? 0xffffffffu / channels + 1 : 0;
  p.adds = cnv_cells_have_means(&b.a) && (blocks.slices == 1 || only_sums);
  p.blends = b.job.coverage_pitch > 0;
  p.in_groups = is_small(b, p, x0);
  p.wide = p.adds && !p.in_groups && blocks.wide && b.in_stride % CNV_CELLS_CHUNK == 0;
  return p;
}

/* Finds the block's cells. Called by all threads, which see the result afterwards. */
__device__ static CellsPlace
find_cells(CellsShared &m, const CnvBlock &b, bool only_sums)
{
  const CnvCellBlocks &blocks = b.cells;
  const int x0 = blocks.first[CNV_X] + b.block_x * blocks.cells[CNV_X];
  const int block_row = blocks.slices == 1 ? b.block_y : b.block_y / blocks.slices;
  const int y0 = blocks.first[CNV_Y] + block_row * blocks.cells[CNV_Y];
  const int slot = threadIdx.x / blocks.threads_x, row = slot / blocks.parts;

  for (int i = threadIdx.x; i <= blocks.cells[CNV_X]; i += CNV_BLOCK_THREADS) {
    const int k = min(x0 + i, blocks.end[CNV_X]);

    m.edge[i] = {edge_in(b, CNV_X, k), edge_out(b, CNV_X, k)};
  }
  for (int i = threadIdx.x; i < blocks.cells[CNV_Y]; i += CNV_BLOCK_THREADS) {
    const int k = min(y0 + i, blocks.end[CNV_Y] - 1), from = edge_in(b, CNV_Y, k), to = edge_in(b, CNV_Y, k + 1);
    const int2 in = slice_of(b, from, to), out = slice_of(b, edge_out(b, CNV_Y, k), edge_out(b, CNV_Y, k + 1));

    m.rows[i] = {in.x, in.y, out.x, out.y, to - from};
  }
  if (threadIdx.x == CNV_BLOCK_THREADS - 1)
    m.part = find_part(b, x0, y0, only_sums);
  for (int i = threadIdx.x; i < CNV_CELLS_SUMS && blocks.wide; i += CNV_BLOCK_THREADS)
    m.sum[i] = 0;
  __syncthreads();
  return {row, slot - row * blocks.parts, (int)threadIdx.x - slot * blocks.threads_x};
}

/* ---- means ---- */

/* Returns 1 / b for divide(). */
__device__ static float
inverse_of(float b)
{
  const float inverse = reciprocal(b);

  return fmaf(inverse, fmaf(-b, inverse, 1.0f), inverse);
}

/* Returns a / b with the bits of the compiler's division, without its tests for numbers far from 1. */
__device__ static float
divide(float a, float b, float inverse)
{
  float quotient = a * inverse;

  quotient = fmaf(inverse, fmaf(-b, quotient, a), quotient);
  return fmaf(inverse, fmaf(-b, quotient, a), quotient);
}

__device__ static float
divide(float a, float b)
{
  return divide(a, b, inverse_of(b));
}
