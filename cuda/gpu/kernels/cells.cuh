/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * cells: mosaic of one frame's plain samples. A block filters whole cells, some rows of cells per turn. Each thread
 * adds up the columns of 16 bytes. Then a few lanes add up the columns of a cell, and write its mean into a row of
 * outputs. Then each thread stores 16 bytes of that row to the rows of the cell.
 *
 * Cells that are too large for one block are divided into slices of some rows. A first launch computes the sums of each
 * slice, a second one adds these up and stores the means.
 *
 * small_cells.cuh filters small cells, if the alignment of rows permits it.
 */
#pragma once

#include "gpu/kernels/small_cells.cuh"

/* The type of a column's sum. */
template <typename T> struct ColumnSum;
template <> struct ColumnSum<uint8_t> {
  typedef uint16_t type;
};
template <> struct ColumnSum<uint16_t> {
  typedef uint32_t type;
};

/* ---- sums of columns ---- */

/* Returns a bit of 1 for each of the samples `from` to `to` - 1 of 16 bytes. */
__device__ static uint32_t
bits_between(int from, int to)
{
  return (1u << min(max(to, 0), CNV_CELLS_CHUNK)) - (1u << min(max(from, 0), CNV_CELLS_CHUNK));
}

/* Finds the cells to which the thread's 16 bytes belong. */
__device__ static CellsShare
find_share(const CellsShared &m, const CnvBlock &b, int s)
{
  const int C = b.a.channels, x0 = b.cells.first[CNV_X] + b.block_x * b.cells.cells[CNV_X];
  const int k = cnv_cell_of(&b.a, &b.job, CNV_X, pixel_of(max(s, 0), C) + b.job.window_x) - x0;
  const int cell = min(max(k, 0), m.part.n_x - 1), last = min(cell + 2, m.part.n_x);
  const int begin = m.edge[cell].in * C - s, middle = m.edge[cell + 1].in * C - s, end = m.edge[last].in * C - s;

  return {cell, bits_between(begin, middle), bits_between(middle, end)};
}

/* Adds 16 bytes of samples to sums. For samples of 8 bits, sums 2 * i and 2 * i + 1 are two numbers of 16 bits each:
 * for the even and for the odd samples of word i. */
template <typename T>
__device__ static void
add_chunk(uint32_t (&sum)[8], const uint4 &chunk, uint32_t mask)
{
  const uint32_t word[4] = {chunk.x, chunk.y, chunk.z, chunk.w};

#pragma unroll
  for (int i = 0; i < 4; i++) {
    sum[2 * i] += sizeof(T) == 1 ? word[i] & 0x00ff00ffu : word[i] & mask;
    sum[2 * i + 1] += sizeof(T) == 1 ? __byte_perm(word[i], 0, 0x4341) : word[i] >> 16 & mask;
  }
}

/* Adds n rows, but at most CNV_CELLS_BATCH, to sums. Their loads are in flight at once. */
template <typename T>
__device__ static void
add_rows(uint32_t (&sum)[8], uint64_t at, int64_t step, int n, uint32_t mask)
{
  constexpr int smallest = 3; /* the smallest cells have no more */
  uint4 chunk[CNV_CELLS_BATCH];

#pragma unroll
  for (int i = 0; i < CNV_CELLS_BATCH; i++, at += step)
    chunk[i] = i < n ? __ldg((const uint4 *)at) : make_uint4(0, 0, 0, 0);
#pragma unroll
  for (int i = 0; i < smallest; i++)
    add_chunk<T>(sum, chunk[i], mask);
  if (n > smallest)
#pragma unroll
    for (int i = smallest; i < CNV_CELLS_BATCH; i++)
      add_chunk<T>(sum, chunk[i], mask);
}

/* Loads the first bytes of a chunk. Later bytes may be outside the frame's memory. */
__device__ static uint4
load_part(uint64_t at, int bytes)
{
  alignas(16) uint32_t word[4] = {};

#pragma unroll
  for (int i = 0; i < CNV_CELLS_CHUNK; i++)
    if (i < bytes)
      word[i / 4] |= (uint32_t)__ldg((const uint8_t *)at + i) << 8 * (i % 4);
  return *(const uint4 *)word;
}

/* Adds sums of columns to the sums of their cells. Sample i of a chunk has the channel of sample i % 4. */
template <typename T>
__device__ static void
add_to_cells(CellsShared &m, const CnvBlock &b, const uint32_t (&sum)[8], int row, int s)
{
  const int C = b.a.channels;
  const CellsShare share = find_share(m, b, s);
  uint32_t *sums = m.sum + (row * m.part.n_x + share.cell) * C;
  uint32_t left[4] = {}, right[4] = {};

#pragma unroll
  for (int i = 0; i < CNV_CELLS_CHUNK / (int)sizeof(T); i++) {
    const uint32_t pair = sum[sizeof(T) == 1 ? i / 4 * 2 + i % 2 : i];
    const uint32_t own = sizeof(T) == 2 ? pair >> b.a.component[0].shift : i & 2 ? pair >> 16 : pair & 0xffff;

    if (share.left >> i & 1)
      left[i % 4] += own;
    if (share.right >> i & 1)
      right[i % 4] += own;
  }
#pragma unroll
  for (int i = 0; i < 4; i++) {
    const int c = (s + i) & (C - 1);

    if (C < 4 && i < 2) {
      left[i] += left[i + 2];
      right[i] += right[i + 2];
    }
    if (C == 1 && i == 0) {
      left[0] += left[1] + left[3];
      right[0] += right[1] + right[3];
    }
    if (i < C && share.left)
      atomicAdd(sums + c, left[i]);
    if (i < C && share.right)
      atomicAdd(sums + C + c, right[i]);
  }
}

/* Computes the sums of the thread's columns over its part of a row of cells. */
template <typename T>
__device__ static void
sum_columns(CellsShared &m, const CnvBlock &b, const CellsPlace &place, const CellRows &rows)
{
  const CellsPart &p = m.part;
  const int s = p.left + place.x * p.samples, parts = b.cells.parts, shift = b.a.component[0].shift;
  const uint32_t mask = ((1u << b.a.component[0].bits) - 1) << shift;
  const int64_t step = (int64_t)b.in_stride * parts;
  uint64_t at = input_at(b, s, rows.in0 + place.part);
  int n = s < m.edge[p.n_x].in * b.a.channels ? (rows.in1 - rows.in0 - place.part + parts - 1) / parts : 0;
  alignas(16) uint32_t sum[8] = {};

  const int bytes = (b.job.window_width * b.a.channels - s) * (int)sizeof(T); /* up to the window's edge */

  if (bytes < CNV_CELLS_CHUNK)
#pragma unroll 1
    for (; n > 0; n--, at += step)
      add_chunk<T>(sum, load_part(at, bytes), mask);
#pragma unroll 1
  for (; n > 0; n -= CNV_CELLS_BATCH, at += CNV_CELLS_BATCH * step)
    add_rows<T>(sum, at, step, n, mask);
  if (p.wide) {
    add_to_cells<T>(m, b, sum, place.row, s);
    return;
  }
#pragma unroll
  for (int i = 0; i < 8; i += 2) {
    const uint32_t even = sum[i], odd = sum[i + 1];

    sum[i] = sizeof(T) == 1 ? __byte_perm(even, odd, 0x5410) : even >> shift;
    sum[i + 1] = sizeof(T) == 1 ? __byte_perm(even, odd, 0x7632) : odd >> shift;
  }
  uint4 *column = m.column + 2 * threadIdx.x;
  column[0] = *(const uint4 *)sum;
  column[1] = *(const uint4 *)(sum + 4);
}

/* Computes the sums of all threads' columns sample by sample, for rows that do not begin at multiples of 16 bytes. */
__device__ static void
sum_single_columns(CellsShared &m, const CnvBlock &b, int first_row, int n_rows)
{
  const CellsPart &p = m.part;
  const int parts = b.cells.parts, n = n_rows * parts * p.pitch, width = m.edge[p.n_x].in * b.a.channels - p.left;

#pragma unroll 1
  for (int i = threadIdx.x; i < n; i += CNV_BLOCK_THREADS) {
    const int slot = i / p.pitch, s = i - slot * p.pitch, row = slot / parts;
    const CellRows &rows = m.rows[first_row + row];
    uint32_t sum = 0;

#pragma unroll 1
    for (int y = rows.in0 + slot - row * parts; s < width && y < rows.in1; y += parts)
      sum += load_bits(input_at(b, p.left + s, y), b.bytes) >> b.a.component[0].shift &
             ((1u << b.a.component[0].bits) - 1);
    if (b.bytes == 1)
      ((uint16_t *)m.column)[i] = (uint16_t)sum;
    else
      ((uint32_t *)m.column)[i] = sum;
  }
}

/* ---- means ---- */

/* Returns the sum of columns `from` to `to` - 1, over all parts. */
template <typename T>
__device__ static uint32_t
add_columns(const CellsShared &m, int parts, int pitch, int from, int to, int step)
{
  const typename ColumnSum<T>::type *column = (const typename ColumnSum<T>::type *)m.column;
  uint32_t sum = 0;

#pragma unroll 1
  for (int part = 0; part < parts; part++, column += pitch)
#pragma unroll 2
    for (int i = from; i < to; i += step)
      sum += column[i];
  return sum;
}

/* Returns the lane's share of the sums of all slices. at: index of the first slice's sums. */
__device__ static int64_t
add_slices(const uint32_t *at, int slices, int step, int lane, int lanes)
{
  int64_t sum = 0;

#pragma unroll 2
  for (int i = lane; i < slices; i += lanes)
    sum += __ldcg(at + i * step);
  return sum;
}

/* Writes the means of the turn's cells into rows of outputs or, if only_sums, their sums to memory. */
__device__ static void
make_means(CellsShared &m, const CnvBlock &b, int first_row, int n_rows, bool only_sums)
{
  const CellsPart &p = m.part;
  const int C = b.a.channels, shift = b.cells.lanes_shift, lane = threadIdx.x & ((1 << shift) - 1);
  const int of_row = p.n_x * C, total = n_rows * of_row, step = C << shift, parts = b.cells.parts;
  const int of_block = b.cells.cells[CNV_X] * C, of_slice = of_block * b.columns;
  const bool has_means = cnv_cells_have_means(&b.a), adds_slices = b.cells.slices > 1 && !only_sums;
  uint32_t *sums = (uint32_t *)b.row_sums + p.block * of_block;

#pragma unroll 1
  for (int base = 0; base < total << shift; base += CNV_BLOCK_THREADS) {
    const bool valid = base + (int)threadIdx.x < total << shift;
    const int number = valid ? (base + threadIdx.x) >> shift : 0,
              row = p.inverse ? __umulhi(number, p.inverse) : number;
    const int rest = number - row * of_row;
    const int cell = pixel_of(rest, C), c = rest - cell * C;
    const CellEdge from = m.edge[cell], to = m.edge[cell + 1];
    const int count = (to.in - from.in) * m.rows[first_row + row].height, mids = (int)b.a.mid[c] * count;
    const Epilogue e = epilogue_of(b.a, c);
    float sum = 0;

    if (adds_slices && has_means) {
      int64_t own = add_slices(sums + number, b.cells.slices, of_slice, lane, 1 << shift);

      for (int other = 1 << shift >> 1; other > 0; other >>= 1)
        own += __shfl_xor_sync(0xffffffffu, own, other);
      sum = (float)(own - (int64_t)(int)b.a.mid[c] * count);
    } else if (has_means) {
      const int begin = row * parts * p.pitch - p.left + c, first = begin + from.in * C + lane * C;
      const int end = begin + to.in * C - c;
      uint32_t own = p.wide         ? m.sum[number]
                     : b.bytes == 1 ? add_columns<uint8_t>(m, parts, p.pitch, first, end, step)
                                    : add_columns<uint16_t>(m, parts, p.pitch, first, end, step);

      for (int other = p.wide ? 0 : 1 << shift >> 1; other > 0; other >>= 1)
        own += __shfl_xor_sync(0xffffffffu, own, other);
      sum = (float)(int)(own - (uint32_t)mids);
      if (only_sums && valid && lane == 0)
        sums[p.slice * of_slice + number] = own;
    }
    if (only_sums || !valid)
      continue;
    const float value = value_of_sum(divide(sum, (float)count), e);
    const uint32_t bits = level_of(value, e) << b.a.component[0].shift;
    const int begin = row * p.pitch - p.out_left, end = begin + to.out * C;
#pragma unroll 1
    for (int i = begin + (from.out + lane) * C + c; i < end; i += step)
      if (p.blends)
        m.row[i] = value;
      else if (b.bytes == 1)
        ((uint8_t *)m.row)[i] = (uint8_t)bits;
      else
        ((uint16_t *)m.row)[i] = (uint16_t)bits;
  }
}

/* ---- outputs ---- */

/* Returns a mask of the samples of 16 bytes that are copied from the input. c: the first sample's channel. */
__device__ static uint4
copied_mask(const CnvBlock &b, int c)
{
  const uint32_t kept = ~b.a.filtered;
  alignas(16) uint32_t word[4] = {};

#pragma unroll
  for (int i = 0; i < CNV_CELLS_CHUNK; i++) {
    if (kept >> c & 1)
      word[i / 4] |= 0xffu << 8 * (i % 4);
    if (b.bytes == 1 || i % 2)
      c = c + 1 == b.a.channels ? 0 : c + 1;
  }
  return *(const uint4 *)word;
}

/* Stores samples begin to end - 1 of 16 bytes to a row. s: the first of the 16 bytes' samples; from: the 16 bytes, in
 * shared memory. */
__device__ static void
store_samples_of_chunk(const CnvBlock &b, const uint8_t *from, uint64_t out, uint64_t back, int s, int begin, int end)
{
  const int bytes = b.bytes, C = b.a.channels;
  const bool words = b.a.filtered == (1u << C) - 1 && (out & 3) == 0;

#pragma unroll 1
  for (int i = begin * bytes, n; i < end * bytes; i += n) {
    const int at = s + i / bytes;

    n = words && i % 4 == 0 && i + 4 <= end * bytes ? 4 : bytes;
    if (n == 4)
      *(uint32_t *)(out + i) = *(const uint32_t *)(from + i);
    else if (b.a.filtered >> (at - pixel_of(at, C) * C) & 1)
      store_bits(out + i, n, n == 1 ? from[i] : *(const uint16_t *)(from + i));
    else
      store_bits(out + i, n, load_bits(back + i, n));
  }
}

/* Bytes `begin` to `end` - 1 of 16, which are stored. */
struct ChunkPart {
  int begin, end;

  __device__ bool is_whole() const
  {
    return begin == 0 && end == CNV_CELLS_CHUNK;
  }
  /* Returns TRUE if the bytes include the first or the last one of the 16. */
  __device__ bool is_at_end() const
  {
    return begin == 0 || end == CNV_CELLS_CHUNK;
  }
  __device__ bool has_word(int i) const
  {
    return begin <= 4 * i && 4 * i + 4 <= end;
  }
};

__device__ static void
store_words(uint64_t out, const uint4 &chunk, const ChunkPart &part)
{
  const uint32_t word[4] = {chunk.x, chunk.y, chunk.z, chunk.w};

#pragma unroll
  for (int i = 0; i < 4; i++)
    if (part.has_word(i))
      *(uint32_t *)(out + 4 * i) = word[i];
}

/* Part of a chunk of 16 bytes, at its beginning or its end: at most one number each of 8, 4, 2 and 1 bytes. */
struct ChunkNumbers {
  uint32_t bytes; /* of the part; its bits 8, 4, 2 and 1 say which numbers there are */
  int at[4];
  uint2 eight;
  uint32_t four;
  uint16_t two;
  uint8_t one;

  /* from: the 16 bytes, in shared memory */
  __device__ ChunkNumbers(const uint8_t *from, const ChunkPart &part)
  {
    const int begin = part.begin, end = part.end;

    bytes = end - begin;
    at[0] = begin ? 8 : 0;
    at[1] = begin ? begin + 3 & 12 : end & 8;
    at[2] = begin ? begin + 1 & 14 : end & 12;
    at[3] = begin ? begin : end & 14;
    eight = *(const uint2 *)(from + at[0]);
    four = *(const uint32_t *)(from + at[1]);
    two = *(const uint16_t *)(from + at[2]);
    one = from[at[3]];
  }

  __device__ void store(uint64_t out) const
  {
    if (bytes & 8)
      *(uint2 *)(out + at[0]) = eight;
    if (bytes & 4)
      *(uint32_t *)(out + at[1]) = four;
    if (bytes & 2)
      *(uint16_t *)(out + at[2]) = two;
    if (bytes & 1)
      *(uint8_t *)(out + at[3]) = one;
  }
};

/* Selects each bit from a if the bit of mask is 1, else from b. */
__device__ static uint4
select_bits(const uint4 &mask, const uint4 &a, const uint4 &b)
{
  return make_uint4((a.x & mask.x) | (b.x & ~mask.x), (a.y & mask.y) | (b.y & ~mask.y),
                    (a.z & mask.z) | (b.z & ~mask.z), (a.w & mask.w) | (b.w & ~mask.w));
}

/* Stores the thread's 16 bytes to its rows of the job. */
__device__ static void
store_chunks(const CellsShared &m, const CnvBlock &b, const CellsPlace &place, const CellRows &rows)
{
  const CellsPart &p = m.part;
  const int C = b.a.channels, s = p.out_left + place.x * p.samples, parts = b.cells.parts;
  const int begin = max(m.edge[0].out * C - s, 0), end = min(m.edge[p.n_x].out * C - s, p.samples);
  const int64_t out_step = (int64_t)b.out_stride * parts, back_step = (int64_t)b.in_stride * parts;
  const bool copies = b.a.filtered != (1u << C) - 1;
  const ChunkPart part = {begin * b.bytes, end * b.bytes};
  const bool whole = part.is_whole();
  const uint8_t *from = (const uint8_t *)m.row + CNV_CELLS_CHUNK * (place.row * b.cells.threads_x + place.x);
  int y = rows.out0 + place.part;
  uint64_t out = b.out + (int64_t)y * b.out_stride + (int64_t)s * b.bytes;
  uint64_t back = b.back + (int64_t)y * b.in_stride + (int64_t)s * b.bytes;

  if (begin >= end)
    return;
  if (((out | b.out_stride | (copies ? back | b.in_stride : 0)) & 15) != 0 || !part.is_at_end() ||
      (copies && (part.begin | part.end) & 3)) {
#pragma unroll 1
    for (; y < rows.out1; y += parts, out += out_step, back += back_step)
      store_samples_of_chunk(b, from, out, back, s, begin, end);
    return;
  }
  const uint4 chunk = *(const uint4 *)from;
  if (!copies && whole) {
#pragma unroll 4
    for (; y < rows.out1; y += parts, out += out_step)
      *(uint4 *)out = chunk;
    return;
  }
  if (!copies) {
    const ChunkNumbers numbers(from, part);

#pragma unroll 4
    for (; y < rows.out1; y += parts, out += out_step)
      numbers.store(out);
    return;
  }
  const uint4 copied = copied_mask(b, s - pixel_of(s, C) * C);
#pragma unroll 4
  for (; y < rows.out1; y += parts, out += out_step, back += back_step) {
    const uint4 kept = whole ? __ldg((const uint4 *)back) : load_part(back, part.end);
    const uint4 stored = select_bits(copied, kept, chunk);

    if (whole)
      *(uint4 *)out = stored;
    else
      store_words(out, stored, part);
  }
}

/* Stores a row of cells of a job with weights, one warp per row of samples. Samples of weight 0 are not written. */
__device__ static void
blend_rows(const CellsShared &m, const CnvBlock &b, const CellRows &rows, const float *row)
{
  constexpr int batch = 2;
  const int C = b.a.channels, bytes = b.bytes, lane = threadIdx.x % 32;
  const int s0 = m.edge[0].out * C + lane, s1 = m.edge[m.part.n_x].out * C;
  const uint32_t shift = b.a.component[0].shift, mask = (1u << b.a.component[0].bits) - 1;

#pragma unroll 1
  for (int y = rows.out0 + (int)threadIdx.x / 32; y < rows.out1; y += CNV_BLOCK_THREADS / 32) {
    const uint8_t *weights = cnv_job_weights(&b.job, (const uint8_t *)b.coverage, b.job.x, b.job.y + y);
    const uint64_t back = b.back + (int64_t)y * b.in_stride, out = b.out + (int64_t)y * b.out_stride;

#pragma unroll 1
    for (int s = s0; s < s1; s += 32 * batch) {
      uint32_t weight[batch], own[batch];

#pragma unroll
      for (int i = 0; i < batch; i++) {
        const int at = min(s + 32 * i, s1 - 1);

        weight[i] = __ldcg(weights + pixel_of(at, C));
        own[i] = load_bits(back + at * bytes, bytes);
      }
#pragma unroll
      for (int i = 0; i < batch; i++) {
        const int at = s + 32 * i, c = at - pixel_of(at, C) * C;

        if (at >= s1 || weight[i] == 0)
          continue;
        const Epilogue e = epilogue_of(b.a, c);
        const float value =
            blend(row[at], (float)(own[i] >> shift & mask), divide((float)weight[i], (float)CNV_WEIGHT_ONE), e);
        store_bits(out + at * bytes, bytes, b.a.filtered >> c & 1 ? level_of(value, e) << shift : own[i]);
      }
    }
  }
}

/* Writes the turn's outputs into rows, or sums of slices to memory. Includes a barrier, so that all threads see the
 * rows. */
__device__ static void
make_rows(CellsShared &m, const CnvBlock &b, const CellsPlace &place, int first, int n, bool only_sums)
{
  if (m.part.in_groups) {
    make_small_cells(m, b, first, n);
    __syncthreads();
    return;
  }
  if (m.part.adds && b.in_stride % CNV_CELLS_CHUNK != 0)
    sum_single_columns(m, b, first, n);
  else if (m.part.adds && place.row < n && b.bytes == 1)
    sum_columns<uint8_t>(m, b, place, m.rows[first + place.row]);
  else if (m.part.adds && place.row < n)
    sum_columns<uint16_t>(m, b, place, m.rows[first + place.row]);
  __syncthreads();
  make_means(m, b, first, n, only_sums);
  __syncthreads();
}

__device__ static void
cells(const CnvBlock &b, bool only_sums)
{
  __shared__ CellsShared m;
  const CellsPlace place = find_cells(m, b, only_sums);
  const int turn = m.part.in_groups ? m.part.n_y : b.cells.turn,
            slots = CNV_BLOCK_THREADS / (b.cells.threads_x * b.cells.parts);

#pragma unroll 1
  for (int first = 0; first < m.part.n_y; first += turn) {
    const int n = min(turn, m.part.n_y - first);

    make_rows(m, b, place, first, n, only_sums);
    if (only_sums)
      return; /* slices are of one row of cells */
    for (int i = threadIdx.x; i < CNV_CELLS_SUMS && m.part.wide && first + n < m.part.n_y; i += CNV_BLOCK_THREADS)
      m.sum[i] = 0;
    for (int row = 0; row < n && m.part.blends; row++)
      blend_rows(m, b, m.rows[first + row], m.row + row * m.part.pitch - m.part.out_left);
#pragma unroll 1
    for (int row = place.row; row < n && place.row < slots && !m.part.blends; row += slots)
      store_chunks(m, b, {row, place.part, place.x}, m.rows[first + row]);
    if (m.part.wide && first + n < m.part.n_y)
      __syncthreads();
  }
}
