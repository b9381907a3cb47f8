/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * mosaic: filters what `cells` cannot: staged planes, several frames, and cells too wide for it. A block filters whole
 * cells, one row of cells after the other, in two steps: first sums of columns, and from these the means; then it
 * stores the means to all samples. A thread handles one sample of a row at a time.
 */
#pragma once

#include "gpu/kernels/block.cuh"

#define MOSAIC_ROWS (CNV_BLOCK_THREADS / CNV_MOSAIC_THREADS)

/* Cells along an axis: their numbers, their pixels in the window, and the pixels of the job that get their means, at
 * its edges also beyond the window. */
struct Cells {
  int first, end, x0, x1, out0, out1;
};

/* Shared memory of a block. */
struct Mosaic {
  Cells x, rows, y;                              /* y: the current row of cells */
  float column[MOSAIC_ROWS][CNV_MOSAIC_THREADS]; /* sums of every fourth row */
  float cell[CNV_BLOCK_THREADS];                 /* sums, by cell and channel */
};

/* ---- sums ---- */

/* Computes the sums of columns for samples s to s1 - 1 of the window, over all sources; at most one sample per thread
 * of a row. */
__device__ static void
sum_columns(Mosaic &m, const CnvBlock &b, int s, int s1)
{
  const int own = s + threadIdx.x, plain = b.a.plain;
  const int64_t stride = (int64_t)b.in_stride * MOSAIC_ROWS;
  const Unpack u = unpack_of(b.a);
  float total = 0;

#pragma unroll 1
  for (int i = 0; i < b.sources.n && own < s1; i++) {
    uint64_t at = input_at(b, own, m.y.x0 + threadIdx.y) + b.sources.delta[i];
    float sum = 0;

#pragma unroll 2
    for (int y = m.y.x0 + threadIdx.y; y < m.y.x1; y += MOSAIC_ROWS, at += stride) {
      const uint32_t bits = load_bits(at, b.bytes);

      sum += plain ? value_of(bits, u) : __uint_as_float(bits);
    }
    total = fmaf(b.sources.weight[i], sum, total);
  }
  m.column[threadIdx.y][threadIdx.x] = total;
}

/* Adds the columns of samples s to s1 - 1 to the sums of their cells; a few lanes of a warp share each channel of a
 * cell. */
__device__ static void
add_columns(Mosaic &m, const CnvBlock &b, int s, int s1)
{
  const int C = b.a.channels, x = b.job.window_x, thread = threadIdx.y * CNV_MOSAIC_THREADS + threadIdx.x;
  const int n = (m.x.end - m.x.first) * C;
  int shift = 0;

  while (shift < 5 && 8 << (shift + b.a.cell_shift[CNV_X]) < b.a.cell[CNV_X])
    shift++;
  for (int base = 0; base < n; base += CNV_BLOCK_THREADS >> shift) {
    const int number = base + (thread >> shift), k = m.x.first + pixel_of(number, C);
    const int c = number - (k - m.x.first) * C, lane = thread & ((1 << shift) - 1);
    const int begin = max(s, (cnv_cell_edge(&b.a, &b.job, CNV_X, k) - x) * C);
    const int end = number < n ? min(s1, (cnv_cell_edge(&b.a, &b.job, CNV_X, k + 1) - x) * C) : begin;
    float sum = 0;

#pragma unroll 1
    for (int i = (pixel_of(begin - c + C - 1, C) + lane) * C + c; i < end; i += C << shift)
#pragma unroll
      for (int r = 0; r < MOSAIC_ROWS; r++)
        sum += m.column[r][i - s];
    for (int other = 1 << shift >> 1; other > 0; other >>= 1)
      sum += __shfl_xor_sync(0xffffffffu, sum, other);
    if (number < n && lane == 0)
      m.cell[number] += sum;
  }
}

/* ---- samples ---- */

/* Stores the mean of its cell in sample s of rows y0 to y1 - 1 of the job. */
__device__ static void
store_mean(const Mosaic &m, const CnvBlock &b, int s, int y0, int y1)
{
  const int C = b.a.channels, x = pixel_of(s, C), c = s - x * C, bytes = b.bytes, shift = b.a.component[0].shift;
  const int k = cnv_cell_of(&b.a, &b.job, CNV_X, b.job.x + x);
  const int columns = cnv_cell_edge(&b.a, &b.job, CNV_X, k + 1) - cnv_cell_edge(&b.a, &b.job, CNV_X, k);
  const float mean = m.cell[(k - m.x.first) * C + c] / (float)(columns * (m.y.x1 - m.y.x0));
  const Epilogue e = epilogue_of(b.a, c);
  const Unpack u = unpack_of(b.a);
  const float value = value_of_sum(mean, e);
  const bool plain = b.a.plain, copies = plain && !(b.a.filtered >> c & 1), blends = b.job.coverage_pitch > 0;
  const int64_t in_stride = b.in_stride, out_stride = b.out_stride;
  uint64_t out = b.out + y0 * out_stride + (int64_t)s * bytes, back = b.back + y0 * in_stride + (int64_t)s * bytes;
  const uint32_t bits = plain ? level_of(value, e) << shift : __float_as_uint(mean);

#pragma unroll 1
  for (int y = y0; y < y1; y++, out += out_stride, back += in_stride) {
    const float weight = blends ? weight_at(b, x, y) : 1.0f;
    const uint32_t before = copies || (plain && blends) ? load_bits(back, bytes) : 0;

    if (weight > 0)
      store_bits(out, bytes,
                 copies            ? before
                 : plain && blends ? level_of(blend(value, value_of(before, u) + b.a.mid[0], weight, e), e) << shift
                                   : bits);
  }
}

/* Stores the row of cells. */
__device__ static void
store_cells(const Mosaic &m, const CnvBlock &b)
{
  const int share = (m.y.out1 - m.y.out0 + MOSAIC_ROWS - 1) / MOSAIC_ROWS;
  const int y0 = min(m.y.out0 + (int)threadIdx.y * share, m.y.out1), y1 = min(y0 + share, m.y.out1);

#pragma unroll 1
  for (int s = m.x.out0 * b.a.channels + threadIdx.x; s < m.x.out1 * b.a.channels; s += CNV_MOSAIC_THREADS)
    store_mean(m, b, s, y0, y1);
}

/* ---- cells ---- */

__device__ static void
sum_cells(Mosaic &m, const CnvBlock &b)
{
  const int s0 = m.x.x0 * b.a.channels, s1 = cnv_cells_have_means(&b.a) ? m.x.x1 * b.a.channels : 0;

  m.cell[threadIdx.y * CNV_MOSAIC_THREADS + threadIdx.x] = 0;
  for (int s = s0; s < s1; s += CNV_MOSAIC_THREADS) {
    __syncthreads();
    sum_columns(m, b, s, s1);
    __syncthreads();
    add_columns(m, b, s, min(s + CNV_MOSAIC_THREADS, s1));
  }
}

/* Returns at most n cells of the job, from number `first` on. */
__device__ static Cells
find_cells(const CnvBlock &b, int axis, int first, int n)
{
  const int at = axis == CNV_X ? b.job.x : b.job.y, size = axis == CNV_X ? b.job.width : b.job.height;
  const int window = axis == CNV_X ? b.job.window_x : b.job.window_y;
  const int last = cnv_cell_of(&b.a, &b.job, axis, at + size - 1);
  Cells cells = {first, min(first + n, last + 1)};

  cells.x0 = cnv_cell_edge(&b.a, &b.job, axis, first) - window;
  cells.x1 = cnv_cell_edge(&b.a, &b.job, axis, cells.end) - window;
  cells.out0 = first == cnv_cell_of(&b.a, &b.job, axis, at) ? 0 : cells.x0 + window - at;
  cells.out1 = cells.end > last ? size : cells.x1 + window - at;
  return cells;
}

__device__ static void
mosaic(const CnvBlock &b)
{
  __shared__ Mosaic m;
  const bool is_first = threadIdx.x + threadIdx.y == 0;

  if (is_first) {
    const int n_x = cnv_mosaic_cells(&b.a, CNV_X), n_y = cnv_mosaic_cells(&b.a, CNV_Y);

    m.x = find_cells(b, CNV_X, cnv_cell_of(&b.a, &b.job, CNV_X, b.job.x) + b.block_x * n_x, n_x);
    m.rows = find_cells(b, CNV_Y, cnv_cell_of(&b.a, &b.job, CNV_Y, b.job.y) + b.block_y * n_y, n_y);
  }
  __syncthreads();
  for (int k = m.rows.first; k < m.rows.end; k++) {
    if (is_first)
      m.y = find_cells(b, CNV_Y, k, 1);
    __syncthreads();
    sum_cells(m, b);
    __syncthreads();
    store_cells(m, b);
    __syncthreads();
  }
}
