/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * mosaic: a block makes whole cells, row of cells after row of cells, each in two turns: sums of the cells' columns,
 * and of these the cells' means; then the means to every sample. A thread takes four samples of a row at a time, as one
 * word where they lie so.
 */
#pragma once

#include "gpu/kernels/block.cuh"

#define MOSAIC_SAMPLES (4 * CNV_MOSAIC_THREADS) /* of a row that all threads of a row take */
#define MOSAIC_ROWS (CNV_BLOCK_THREADS / CNV_MOSAIC_THREADS)

/* Shared memory of a block. */
struct Mosaic {
  float column[MOSAIC_ROWS][MOSAIC_SAMPLES]; /* sums of every fourth row */
  float cell[MOSAIC_SAMPLES];                /* sums, by cell and channel */
  uint32_t bits[MOSAIC_SAMPLES];             /* to be stored in each sample of a row */
};

/* A row of cells: cells from first up to but without last, by number; pixels and rows of the window. */
struct CellRow {
  int first, last, x0, x1, y0, y1;
};

/* Four samples side by side, as words. */
template <typename T> struct Four {
  uint32_t word[sizeof(T)];
};

template <typename T>
__device__ static Four<T>
load_four(uint64_t at)
{
  Four<T> four;

  if constexpr (sizeof(T) == 1) {
    four.word[0] = __ldg((const uint32_t *)at);
  } else if constexpr (sizeof(T) == 2) {
    const uint2 words = __ldg((const uint2 *)at);

    four.word[0] = words.x;
    four.word[1] = words.y;
  } else {
    const uint4 words = __ldg((const uint4 *)at);

    four.word[0] = words.x;
    four.word[1] = words.y;
    four.word[2] = words.z;
    four.word[3] = words.w;
  }
  return four;
}

template <typename T>
__device__ static void
store_four(uint64_t at, const Four<T> &four)
{
  if constexpr (sizeof(T) == 1)
    *(uint32_t *)at = four.word[0];
  else if constexpr (sizeof(T) == 2)
    *(uint2 *)at = {four.word[0], four.word[1]};
  else
    *(uint4 *)at = {four.word[0], four.word[1], four.word[2], four.word[3]};
}

/* The bits of sample k. */
template <typename T>
__device__ static uint32_t
bits_of(const Four<T> &four, int k)
{
  constexpr int per_word = 4 / sizeof(T);

  return four.word[k / per_word] >> 8 * sizeof(T) * (k % per_word) & 0xffffffffu >> (32 - 8 * sizeof(T));
}

/* Samples from the multiple of four at or before an address up to it. */
template <typename T>
__device__ static int
samples_before(uint64_t address)
{
  return (int)(address % (4 * sizeof(T)) / sizeof(T));
}

/* ---- sums ---- */

/* Sums of samples: levels are added up as integers. */
template <typename T> struct Sum {
  uint32_t sum[4] = {};

  __device__ void add(int k, uint32_t bits, const Unpack &u)
  {
    sum[k] += sizeof(T) == 1 ? bits : bits >> u.shift & u.mask;
  }

  __device__ float value(int k, int rows, float mid) const
  {
    return (float)((int)sum[k] - rows * (int)mid);
  }
};

template <> struct Sum<float> {
  float sum[4] = {};

  __device__ void add(int k, uint32_t bits, const Unpack &)
  {
    sum[k] += __uint_as_float(bits);
  }

  __device__ float value(int k, int, float) const
  {
    return sum[k];
  }
};

/* Adds up, over a source, the thread's rows of samples s to s + 3 of the window, of which those from `from` up to but
 * without `to` lie in cells. */
template <typename T>
__device__ static Sum<T>
sum_rows(const Block &b, const CellRow &row, int64_t delta, int s, int from, int to)
{
  const Unpack u = unpack_of(b.a);
  const int y0 = row.y0 + threadIdx.y, y1 = row.y1;
  const int64_t stride = (int64_t)b.in_stride * MOSAIC_ROWS;
  uint64_t at = input_at(b, s, y0) + delta;
  Sum<T> sum;

  if (from == 0 && to == 4 && ((uint64_t)b.in_stride | at) % (4 * sizeof(T)) == 0) {
#pragma unroll 8
    for (int y = y0; y < y1; y += MOSAIC_ROWS, at += stride) {
      const Four<T> four = load_four<T>(at);

#pragma unroll
      for (int k = 0; k < 4; k++)
        sum.add(k, bits_of(four, k), u);
    }
    return sum;
  }
#pragma unroll 1
  for (int y = y0; y < y1; y += MOSAIC_ROWS, at += stride)
#pragma unroll
    for (int k = 0; k < 4; k++)
      if (k >= from && k < to)
        sum.add(k, load_bits(at + k * sizeof(T), sizeof(T)), u);
  return sum;
}

/* The sums of columns of MOSAIC_SAMPLES samples from number s of the window on, all sources added up. */
template <typename T>
__device__ static void
sum_columns(Mosaic &m, const Block &b, const CellRow &row, int s)
{
  const int C = b.a.channels, own = s + 4 * threadIdx.x;
  const int from = max(row.x0 * C - own, 0), to = min(row.x1 * C - own, 4);
  const int rows = max(0, (row.y1 - row.y0 - (int)threadIdx.y + MOSAIC_ROWS - 1) / MOSAIC_ROWS);
  float total[4] = {};

#pragma unroll 1
  for (int i = 0; i < b.sources.n && from < to; i++) {
    const Sum<T> sum = sum_rows<T>(b, row, b.sources.delta[i], own, from, to);

#pragma unroll
    for (int k = 0; k < 4; k++)
      total[k] = k >= from && k < to ? fmaf(b.sources.weight[i], sum.value(k, rows, b.a.mid[0]), total[k]) : 0.0f;
  }
  *(float4 *)&m.column[threadIdx.y][4 * threadIdx.x] = {total[0], total[1], total[2], total[3]};
}

/* Adds these to the sums of their cells, each channel of a cell by a few lanes of a warp. */
__device__ static void
add_columns(Mosaic &m, const Block &b, const CellRow &row, int s)
{
  const int C = b.a.channels, thread = threadIdx.y * CNV_MOSAIC_THREADS + threadIdx.x;
  const int s0 = max(s, row.x0 * C), s1 = min(s + MOSAIC_SAMPLES, row.x1 * C);
  const int first = cnv_cell_of(&b.a, &b.job, CNV_X, b.job.window_x + s0 / C);
  const int n = (cnv_cell_of(&b.a, &b.job, CNV_X, b.job.window_x + (s1 - 1) / C) - first + 1) * C;
  int lanes = 1;

  while (lanes < 32 && lanes * 8 << b.a.cell_shift[CNV_X] < b.a.cell[CNV_X])
    lanes *= 2;
  for (int base = 0; base < n; base += CNV_BLOCK_THREADS / lanes) {
    const int number = base + thread / lanes, k = first + number / C, c = number % C;
    float sum = 0;

    if (number < n) {
      const int begin = max(s0, (cnv_cell_edge(&b.a, &b.job, CNV_X, k) - b.job.window_x) * C);
      const int end = min(s1, (cnv_cell_edge(&b.a, &b.job, CNV_X, k + 1) - b.job.window_x) * C);

      for (int i = begin + (c + C - begin % C) % C + thread % lanes * C; i < end; i += lanes * C)
#pragma unroll
        for (int r = 0; r < MOSAIC_ROWS; r++)
          sum += m.column[r][i - s];
    }
    for (int lane = lanes / 2; lane > 0; lane /= 2)
      sum += __shfl_xor_sync(0xffffffffu, sum, lane);
    if (number < n && thread % lanes == 0)
      m.cell[(k - row.first) * C + c] += sum;
  }
}

/* ---- samples ---- */

/* What a thread stores in its rows: samples s to s + 3 of the job, of which those from `from` up to but without `to`
 * are the block's. */
template <typename T>
__device__ static void
store_rows(const Mosaic &m, const Block &b, int index, int s, int from, int to, int y0, int y1)
{
  const int C = b.a.channels;
  const int64_t in_stride = b.in_stride, out_stride = b.out_stride;
  uint64_t out = b.out + y0 * out_stride + (int64_t)s * (int)sizeof(T);
  uint64_t back = b.back + y0 * in_stride + (int64_t)s * (int)sizeof(T);
  const uint64_t places = out | (uint64_t)out_stride;
  uint32_t copied[4];
  Four<T> four = {}, mask = {};
  bool copies = false;

#pragma unroll
  for (int k = 0; k < 4; k++) {
    constexpr int per_word = 4 / sizeof(T);
    const int shift = 8 * sizeof(T) * (k % per_word);

    copied[k] = b.a.plain && !(b.a.filtered >> (s + 4 * C + k) % C & 1);
    copies = copies || copied[k];
    four.word[k / per_word] |= (copied[k] ? 0 : m.bits[index + k]) << shift;
    mask.word[k / per_word] |= (copied[k] ? 0xffffffffu >> (32 - 8 * sizeof(T)) : 0) << shift;
  }
  if (from == 0 && to == 4 && (places | (copies ? back | (uint64_t)in_stride : 0)) % (4 * sizeof(T)) == 0) {
#pragma unroll 4
    for (int y = y0; y < y1; y++, out += out_stride, back += in_stride) {
      Four<T> stored = four;

      if (copies) {
        const Four<T> input = load_four<T>(back);

#pragma unroll
        for (int i = 0; i < (int)sizeof(T); i++)
          stored.word[i] |= input.word[i] & mask.word[i];
      }
      store_four(out, stored);
    }
    return;
  }
#pragma unroll 1
  for (int y = y0; y < y1; y++, out += out_stride, back += in_stride)
#pragma unroll
    for (int k = 0; k < 4; k++)
      if (k >= from && k < to)
        store_bits(out + k * sizeof(T), sizeof(T),
                   copied[k] ? load_bits(back + k * sizeof(T), sizeof(T)) : bits_of(four, k));
}

/* The mean that sample s of the job's rows takes. */
__device__ static float
mean_at(const Mosaic &m, const Block &b, const CellRow &row, int s)
{
  const int C = b.a.channels, k = cnv_cell_of(&b.a, &b.job, CNV_X, b.job.x + s / C);
  const int columns = cnv_cell_edge(&b.a, &b.job, CNV_X, k + 1) - cnv_cell_edge(&b.a, &b.job, CNV_X, k);

  return m.cell[(k - row.first) * C + s % C] / (float)(columns * (row.y1 - row.y0));
}

/* Stores samples s0 to s1 - 1 of rows y0 to y1 - 1 of the job. */
template <typename T>
__device__ static void
store_cells(Mosaic &m, const Block &b, const CellRow &row, int s0, int s1, int y0, int y1)
{
  const int C = b.a.channels, thread = threadIdx.y * CNV_MOSAIC_THREADS + threadIdx.x;
  const int share = (y1 - y0 + MOSAIC_ROWS - 1) / MOSAIC_ROWS;
  const int own_y0 = min(y0 + (int)threadIdx.y * share, y1), own_y1 = min(own_y0 + share, y1);

  for (int s = s0 - samples_before<T>(b.out + (int64_t)s0 * (int)sizeof(T)); s < s1; s += MOSAIC_SAMPLES) {
    const int own = s + 4 * threadIdx.x, from = max(s0 - own, 0), to = min(s1 - own, 4);

    if (s + thread >= s0 && s + thread < s1) {
      const float mean = mean_at(m, b, row, s + thread);
      const Epilogue e = epilogue_of(b.a, (s + thread) % C);

      m.bits[thread] = b.a.plain && b.job.n_mask_rects == 0
                           ? level_of(value_of_sum(mean, e), e) << b.a.component[0].shift
                           : __float_as_uint(mean);
    }
    __syncthreads();
    if (from < to && b.job.n_mask_rects == 0)
      store_rows<T>(m, b, 4 * threadIdx.x, own, from, to, own_y0, own_y1);
    for (int k = from; k < to && b.job.n_mask_rects > 0; k++)
      store_samples(b, own + k, own_y0, (const float *)&m.bits[4 * threadIdx.x + k], 0, own_y1 - own_y0);
    __syncthreads();
  }
}

/* ---- cells ---- */

template <typename T>
__device__ static void
make_row(Mosaic &m, const Block &b, CellRow row, int k)
{
  const CnvRectJob &job = b.job;
  const int C = b.a.channels, thread = threadIdx.y * CNV_MOSAIC_THREADS + threadIdx.x;
  const int first_x = cnv_cell_of(&b.a, &job, CNV_X, job.x), first_y = cnv_cell_of(&b.a, &job, CNV_Y, job.y);
  const int last_x = cnv_cell_of(&b.a, &job, CNV_X, job.x + job.width - 1);
  const int last_y = cnv_cell_of(&b.a, &job, CNV_Y, job.y + job.height - 1);

  const int end = cnv_cells_have_means(&b.a) ? row.x1 * C : -MOSAIC_SAMPLES;

  row.y0 = cnv_cell_edge(&b.a, &job, CNV_Y, k) - job.window_y;
  row.y1 = cnv_cell_edge(&b.a, &job, CNV_Y, k + 1) - job.window_y;
  m.cell[thread] = 0;
  for (int s = row.x0 * C - samples_before<T>(input_at(b, row.x0 * C, 0)); s < end; s += MOSAIC_SAMPLES) {
    __syncthreads();
    sum_columns<T>(m, b, row, s);
    __syncthreads();
    add_columns(m, b, row, s);
  }
  __syncthreads();
  store_cells<T>(m, b, row, row.first == first_x ? 0 : (row.x0 - b.x) * C,
                 row.last > last_x ? job.width * C : (row.x1 - b.x) * C, k == first_y ? 0 : row.y0 - b.y,
                 k == last_y ? job.height : row.y1 - b.y);
}

template <typename T>
__device__ static void
make_cells(Mosaic &m, const Block &b)
{
  const CnvRectJob &job = b.job;
  const int n_x = cnv_mosaic_cells(&b.a, CNV_X), n_y = cnv_mosaic_cells(&b.a, CNV_Y);
  const int first = cnv_cell_of(&b.a, &job, CNV_Y, job.y) + b.block_y * n_y;
  const int last = min(first + n_y, cnv_cell_of(&b.a, &job, CNV_Y, job.y + job.height - 1) + 1);
  CellRow row = {cnv_cell_of(&b.a, &job, CNV_X, job.x) + b.block_x * n_x};

  row.last = min(row.first + n_x, cnv_cell_of(&b.a, &job, CNV_X, job.x + job.width - 1) + 1);
  row.x0 = cnv_cell_edge(&b.a, &job, CNV_X, row.first) - job.window_x;
  row.x1 = cnv_cell_edge(&b.a, &job, CNV_X, row.last) - job.window_x;
  for (int k = first; k < last; k++)
    make_row<T>(m, b, row, k);
}

__device__ static void
mosaic(const Block &b)
{
  __shared__ Mosaic m;

  if (b.bytes == 1)
    make_cells<uint8_t>(m, b);
  else if (b.bytes == 2)
    make_cells<uint16_t>(m, b);
  else
    make_cells<float>(m, b);
}
