/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * mosaic: a block makes whole cells, row of cells after row of cells, each in two turns: sums of the cells' columns,
 * and of these the cells' means; then the means to every sample. A thread takes a word of 32 bits of a row at a time.
 */
#pragma once

#include "gpu/kernels/block.cuh"

#define MOSAIC_ROWS (CNV_BLOCK_THREADS / CNV_MOSAIC_THREADS)

/* Cells along an axis: their numbers, the pixels that they have of the window, and those of the job that take their
 * means, at its edges also beyond the window. */
struct Cells {
  int first, end, x0, x1, out0, out1;
};

/* Shared memory of a block; arrays are for the samples that a row of threads takes. */
struct Mosaic {
  Cells x, rows, y;                             /* y: the one of rows that is made */
  float column[MOSAIC_ROWS][CNV_BLOCK_THREADS]; /* sums of every fourth row */
  float cell[CNV_BLOCK_THREADS];                /* sums, by cell and channel */
  uint32_t bits[CNV_BLOCK_THREADS];             /* to be stored */
};

/* The samples of a word from number `from` up to but without `to`. */
struct Part {
  int from, to;
};

template <typename T> constexpr int SAMPLES = 4 / sizeof(T);

/* Sample k of a word, and a word of it alone. */
template <typename T>
__device__ static uint32_t
sample_of(uint32_t word, int k)
{
  return word >> 8 * sizeof(T) * k & 0xffffffffu >> (32 - 8 * sizeof(T));
}

template <typename T>
__device__ static uint32_t
word_of(uint32_t sample, int k)
{
  return sample << 8 * sizeof(T) * k;
}

/* Samples from the word that an address lies in up to it. */
template <typename T>
__device__ static int
samples_before(uint64_t address)
{
  return (int)(address % 4 / sizeof(T));
}

/* ---- sums: those of levels are integers, and become values where they end ---- */

__device__ static void
add_sample(uint32_t &sum, uint32_t bits, const Unpack &u)
{
  sum += bits >> u.shift & u.mask;
}

__device__ static void
add_sample(float &sum, uint32_t bits, const Unpack &)
{
  sum += __uint_as_float(bits);
}

__device__ static float
value_of_rows(uint32_t sum, int rows, float mid)
{
  return (float)((int)sum - rows * (int)mid);
}

__device__ static float
value_of_rows(float sum, int, float)
{
  return sum;
}

/* Adds up the thread's rows, from y on, of the word that begins with sample s. */
template <typename T, typename S>
__device__ static void
sum_rows(S (&sum)[SAMPLES<T>], const CnvBlock &b, uint64_t at, int y, int y1, Part part)
{
  const Unpack u = unpack_of(b.a);
  const int64_t stride = (int64_t)b.in_stride * MOSAIC_ROWS;

  if (part.from == 0 && part.to == SAMPLES<T> && (b.in_stride | at) % 4 == 0) {
#pragma unroll 8
    for (; y < y1; y += MOSAIC_ROWS, at += stride) {
      const uint32_t word = __ldg((const uint32_t *)at);

#pragma unroll
      for (int k = 0; k < SAMPLES<T>; k++)
        add_sample(sum[k], sample_of<T>(word, k), u);
    }
    return;
  }
#pragma unroll 1
  for (; y < y1; y += MOSAIC_ROWS, at += stride)
#pragma unroll
    for (int k = 0; k < SAMPLES<T>; k++)
      if (k >= part.from && k < part.to)
        add_sample(sum[k], load_bits(at + k * sizeof(T), sizeof(T)), u);
}

/* Makes the sums of columns from sample s of the window on, all sources added up. */
template <typename T, typename S>
__device__ static void
sum_columns(Mosaic &m, const CnvBlock &b, int s)
{
  const int C = b.a.channels, own = s + SAMPLES<T> * threadIdx.x, y = m.y.x0 + threadIdx.y;
  const int rows = (m.y.x1 - y + MOSAIC_ROWS - 1) / MOSAIC_ROWS;
  const Part part = {max(m.x.x0 * C - own, 0), min(m.x.x1 * C - own, SAMPLES<T>)};
  float total[SAMPLES<T>] = {};

#pragma unroll 1
  for (int i = 0; i < b.sources.n && part.from < part.to && rows > 0; i++) {
    S sum[SAMPLES<T>] = {};

    sum_rows<T>(sum, b, input_at(b, own, y) + b.sources.delta[i], y, m.y.x1, part);
#pragma unroll
    for (int k = 0; k < SAMPLES<T>; k++)
      total[k] = fmaf(b.sources.weight[i], value_of_rows(sum[k], rows, b.a.mid[0]), total[k]);
  }
#pragma unroll
  for (int k = 0; k < SAMPLES<T>; k++)
    m.column[threadIdx.y][SAMPLES<T> * threadIdx.x + k] = total[k];
}

/* Adds the columns of samples s0 up to but without s1 to the sums of their cells, each channel of a cell by a few lanes
 * of a warp. s: sample of the first column. */
__device__ static void
add_columns(Mosaic &m, const CnvBlock &b, int s, int s0, int s1)
{
  const int C = b.a.channels, x = b.job.window_x, thread = threadIdx.y * CNV_MOSAIC_THREADS + threadIdx.x;
  const int n = (m.x.end - m.x.first) * C;
  int shift = 0;

  while (shift < 5 && 8 << (shift + b.a.cell_shift[CNV_X]) < b.a.cell[CNV_X])
    shift++;
  for (int base = 0; base < n; base += CNV_BLOCK_THREADS >> shift) {
    const int number = base + (thread >> shift), k = m.x.first + pixel_of(number, C);
    const int c = number - (k - m.x.first) * C, lane = thread & ((1 << shift) - 1);
    const int begin = max(s0, (cnv_cell_edge(&b.a, &b.job, CNV_X, k) - x) * C);
    const int end = number < n ? min(s1, (cnv_cell_edge(&b.a, &b.job, CNV_X, k + 1) - x) * C) : begin;
    float sum = 0;

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

/* Stores rows y0 to y1 - 1 of the word that begins with sample s of the job. bits: of its samples. */
template <typename T>
__device__ static void
store_rows(const CnvBlock &b, const uint32_t *bits, int s, Part part, int y0, int y1)
{
  const int C = b.a.channels;
  const int64_t in_stride = b.in_stride, out_stride = b.out_stride, x = (int64_t)s * (int)sizeof(T);
  uint64_t out = b.out + y0 * out_stride + x, back = b.back + y0 * in_stride + x;
  const bool copies = b.a.plain && b.a.filtered != (1u << C) - 1;
  uint32_t word = 0, copied = 0; /* ones where the input is copied */

#pragma unroll
  for (int k = 0; k < SAMPLES<T>; k++)
    if (k >= part.from && k < part.to && copies && !(b.a.filtered >> (s + k - pixel_of(s + k, C) * C) & 1))
      copied |= word_of<T>(sample_of<T>(0xffffffffu, 0), k);
    else if (k >= part.from && k < part.to)
      word |= word_of<T>(bits[k], k);
  if (part.from == 0 && part.to == SAMPLES<T> && (out | out_stride | (copied ? back | in_stride : 0)) % 4 == 0) {
#pragma unroll 4
    for (int y = y0; y < y1; y++, out += out_stride, back += in_stride)
      *(uint32_t *)out = word | (copied ? __ldg((const uint32_t *)back) & copied : 0);
    return;
  }
#pragma unroll 1
  for (int y = y0; y < y1; y++, out += out_stride, back += in_stride)
#pragma unroll
    for (int k = 0; k < SAMPLES<T>; k++)
      if (k >= part.from && k < part.to)
        store_bits(out + k * sizeof(T), sizeof(T),
                   sample_of<T>(copied, k) ? load_bits(back + k * sizeof(T), sizeof(T)) : sample_of<T>(word, k));
}

/* Stores a mean in sample s of rows y0 to y1 - 1 of a job that has weights. */
template <typename T>
__device__ static void
store_weighted(const CnvBlock &b, float mean, int s, int y0, int y1)
{
  const int C = b.a.channels, shift = b.a.component[0].shift;
  const Epilogue e = epilogue_of(b.a, s % C);
  const float value = value_of_sum(mean, e);
  const Unpack u = unpack_of(b.a);

#pragma unroll 1
  for (int y = y0; y < y1; y++) {
    const float weight = weight_at(b, s / C, y);
    const uint64_t back = b.back + (int64_t)y * b.in_stride + (int64_t)s * (int)sizeof(T);
    uint32_t bits = __float_as_uint(mean);

    if (weight == 0.0f)
      continue;
    if (b.a.plain) {
      bits = load_bits(back, sizeof(T));
      if (b.a.filtered >> s % C & 1)
        bits = level_of(blend(value, (float)(bits >> u.shift & u.mask), weight, e), e) << shift;
    }
    store_bits(b.out + (int64_t)y * b.out_stride + (int64_t)s * (int)sizeof(T), sizeof(T), bits);
  }
}

/* The bits that sample s of the job's rows takes: a level or, where more is to be done with it, the mean. */
__device__ static uint32_t
bits_at(const Mosaic &m, const CnvBlock &b, int s)
{
  const int C = b.a.channels, x = pixel_of(s, C), c = s - x * C;
  const int k = cnv_cell_of(&b.a, &b.job, CNV_X, b.job.x + x);
  const int columns = cnv_cell_edge(&b.a, &b.job, CNV_X, k + 1) - cnv_cell_edge(&b.a, &b.job, CNV_X, k);
  const float mean = m.cell[(k - m.x.first) * C + c] / (float)(columns * (m.y.x1 - m.y.x0));
  const Epilogue e = epilogue_of(b.a, c);

  if (!b.a.plain || b.job.coverage_pitch > 0)
    return __float_as_uint(mean);
  return level_of(value_of_sum(mean, e), e) << b.a.component[0].shift;
}

/* Stores the row of cells. */
template <typename T>
__device__ static void
store_cells(Mosaic &m, const CnvBlock &b)
{
  const int thread = threadIdx.y * CNV_MOSAIC_THREADS + threadIdx.x, i = SAMPLES<T> * threadIdx.x;
  const int share = (m.y.out1 - m.y.out0 + MOSAIC_ROWS - 1) / MOSAIC_ROWS;
  const int y0 = min(m.y.out0 + (int)threadIdx.y * share, m.y.out1), y1 = min(y0 + share, m.y.out1);
  const int s0 = m.x.out0 * b.a.channels, s1 = m.x.out1 * b.a.channels;

  for (int s = s0 - samples_before<T>(b.out + (int64_t)s0 * (int)sizeof(T)); s < s1;
       s += CNV_MOSAIC_THREADS * SAMPLES<T>) {
    const Part part = {max(s0 - s - i, 0), min(s1 - s - i, SAMPLES<T>)};

    if (s + thread >= s0 && s + thread < s1)
      m.bits[thread] = bits_at(m, b, s + thread);
    __syncthreads();
    if (part.from < part.to && b.job.coverage_pitch == 0)
      store_rows<T>(b, m.bits + i, s + i, part, y0, y1);
#pragma unroll 1
    for (int k = part.from; k < part.to && b.job.coverage_pitch > 0; k++)
      store_weighted<T>(b, __uint_as_float(m.bits[i + k]), s + i + k, y0, y1);
    __syncthreads();
  }
}

/* ---- cells ---- */

template <typename T, typename S>
__device__ static void
sum_cells(Mosaic &m, const CnvBlock &b)
{
  const int s0 = m.x.x0 * b.a.channels, s1 = cnv_cells_have_means(&b.a) ? m.x.x1 * b.a.channels : 0;
  const int width = CNV_MOSAIC_THREADS * SAMPLES<T>;

  m.cell[threadIdx.y * CNV_MOSAIC_THREADS + threadIdx.x] = 0;
  for (int s = s0 - samples_before<T>(input_at(b, s0, 0)); s < s1; s += width) {
    __syncthreads();
    sum_columns<T, S>(m, b, s);
    __syncthreads();
    add_columns(m, b, s, max(s, s0), min(s + width, s1));
  }
}

/* At most n cells of the job from number `first` on. */
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

template <typename T, typename S>
__device__ static void
make_cells(Mosaic &m, const CnvBlock &b)
{
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
    sum_cells<T, S>(m, b);
    __syncthreads();
    store_cells<T>(m, b);
  }
}

__device__ static void
mosaic(const CnvBlock &b)
{
  __shared__ Mosaic m;

  if (b.bytes == 1)
    make_cells<uint8_t, uint32_t>(m, b);
  else if (b.bytes == 2)
    make_cells<uint16_t, uint32_t>(m, b);
  else
    make_cells<float, float>(m, b);
}
