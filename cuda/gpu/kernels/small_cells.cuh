/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Small cells of the kernel cells, of 3, 5 or 7 luma samples along x. A thread filters a group of cells whose rows are
 * whole words: their sums, means and a row of outputs stay in registers. The compiler knows which sample of the group
 * belongs to which cell.
 */
#pragma once

#include "gpu/kernels/cells_block.cuh"

/* Samples of type T, C channels, 1 << S luma samples per pixel, N luma samples per cell. */
template <typename T, int C, int S, int N> struct CellGroup {
  static constexpr int words = CNV_CELLS_GROUP_WORDS(N) * N; /* words of a row */
  static constexpr int of_word = 4 / (int)sizeof(T);         /* samples of a word */
  static constexpr int cells = (words * of_word / C << S) / N;
  static constexpr int batch = N > 6 ? 2 : 3; /* rows whose samples a thread loads at once */

  __device__ static constexpr int start(int cell) /* returns a cell's first pixel */
  {
    return (2 * cell * N + (1 << S) - 1) >> (S + 1);
  }
  __device__ static constexpr int item(int sample) /* returns a sample's cell and channel as one index */
  {
    return ((2 * (sample / C) + 1) << S) / (2 * N) * C + sample % C;
  }
  /* Returns a word with a byte of 1 for each sample that belongs to the item. */
  __device__ static constexpr uint32_t weights(int word, int which)
  {
    uint32_t ones = 0;

    for (int i = 0; i < of_word; i++)
      ones |= item(word * of_word + i) == which ? 1u << 8 * i : 0;
    return ones;
  }
};

/* A thread's group of cells. */
struct CellGroupRows {
  uint64_t at;          /* address of the first row */
  int bytes, n, height; /* bytes of a row, fewer at the window's right edge; rows of the window; rows of a cell */
};

/* Loads a row of a group; words beyond the window's edge are 0. */
template <class G>
__device__ static void
load_group_row(uint32_t (&word)[G::words], uint64_t at, int bytes)
{
  if (bytes < 4 * G::words) { /* bytes after them may be outside the frame's memory */
#pragma unroll
    for (int i = 0; i < G::words; i++) {
      word[i] = 0;
      if (4 * i + 4 <= bytes)
        word[i] = __ldg((const uint32_t *)(at + 4 * i));
      else
#pragma unroll
        for (int k = 0; k < 3; k++)
          word[i] |= 4 * i + k < bytes ? (uint32_t)__ldg((const uint8_t *)at + 4 * i + k) << 8 * k : 0;
    }
    return;
  }
  if (G::words % 2 == 0) {
#pragma unroll
    for (int i = 0; i < G::words; i += 2) {
      const uint2 pair = __ldg((const uint2 *)(at + 4 * i));

      word[i] = pair.x;
      word[i + 1] = pair.y;
    }
  } else {
#pragma unroll
    for (int i = 0; i < G::words; i++)
      word[i] = __ldg((const uint32_t *)(at + 4 * i));
  }
}

/* Adds up the samples of each cell and channel. */
template <typename T, class G, int ITEMS>
__device__ static void
sum_group(uint32_t (&sum)[ITEMS], const CnvBlock &b, const CellGroupRows &rows)
{
  const int shift = b.a.component[0].shift;
  const uint32_t mask = ((1u << b.a.component[0].bits) - 1) << shift;
  uint64_t at = rows.at;

#pragma unroll 1
  for (int n = rows.n; n > 0; n -= G::batch) {
    uint32_t word[G::batch][G::words];

#pragma unroll
    for (int y = 0; y < G::batch; y++, at += b.in_stride)
      load_group_row<G>(word[y], at, y < n ? rows.bytes : 0);
#pragma unroll
    for (int y = 0; y < G::batch; y++)
#pragma unroll
      for (int i = 0; i < G::words; i++)
#pragma unroll
        for (int k = 0; k < ITEMS; k++)
          if (G::weights(i, k) != 0)
            sum[k] = sizeof(T) == 1 ? __dp4a(word[y][i], G::weights(i, k), sum[k])
                                    : __dp2a_lo(word[y][i] & (mask | mask << 16), G::weights(i, k), sum[k]);
  }
#pragma unroll
  for (int k = 0; k < ITEMS && sizeof(T) == 2; k++)
    sum[k] >>= shift;
}

/* Converts sums to samples. WHOLE: the window's edge cuts off none of the cells. */
template <bool WHOLE, int C, class G, int ITEMS>
__device__ static void
make_group_samples(uint32_t (&sum)[ITEMS], const CnvBlock &b, const CellGroupRows &rows)
{
  constexpr float integers = 1.5f * INTEGERS; /* also rounds negative numbers */
  const int pixels = rows.bytes / (C * 4 / G::of_word), shift = b.a.component[0].shift;

#pragma unroll
  for (int c = 0; c < C; c++) {
    const Epilogue e = epilogue_of(b.a, c);
    const int mid = (int)b.a.mid[c];

#pragma unroll
    for (int k = 0; k < G::cells; k++) {
      const int width = G::start(k + 1) - G::start(k);
      const int count = (WHOLE ? width : max(min(pixels - G::start(k), width), 1)) * rows.height;
      const float own = __uint_as_float(__float_as_uint(INTEGERS) | sum[k * C + c]) - (INTEGERS + (float)(mid * count));
      const float value = value_of_sum(divide(own, (float)count), e);

      sum[k * C + c] = (__float_as_uint(value + integers) - __float_as_uint(integers) + e.base) << shift;
    }
  }
}

/* Filters group number `group` of a row of cells. row: its outputs. */
template <typename T, int C, int S, int N>
__device__ static void
make_group(const CellsShared &m, const CnvBlock &b, const CellRows &rows, uint8_t *row, int group)
{
  typedef CellGroup<T, C, S, N> G;
  constexpr int items = G::cells * C;
  const int s = m.edge[0].in * C, at = group * 4 * G::words;
  const int bytes = min((m.edge[m.part.n_x].in * C - s) * (int)sizeof(T) - at, 4 * G::words);
  const CellGroupRows group_rows = {input_at(b, s, rows.in0) + at, bytes, rows.in1 - rows.in0, rows.height};
  uint32_t sum[items] = {};

  sum_group<T, G>(sum, b, group_rows);
  if (bytes == 4 * G::words)
    make_group_samples<true, C, G>(sum, b, group_rows);
  else
    make_group_samples<false, C, G>(sum, b, group_rows);
#pragma unroll
  for (int i = 0; i < G::words; i++) {
    const int first = i * G::of_word;
    const uint32_t low = __byte_perm(sum[G::item(first)], sum[G::item(first + 1)], sizeof(T) == 1 ? 0x0040 : 0x5410);
    const uint32_t high = sizeof(T) == 1 ? __byte_perm(sum[G::item(first + 2)], sum[G::item(first + 3)], 0x0040) : 0;

    if (4 * i < bytes)
      *(uint32_t *)(row + at + 4 * i) = sizeof(T) == 1 ? __byte_perm(low, high, 0x5410) : low;
  }
}

/* Computes the rows of outputs of n rows of cells; each thread handles some groups. */
template <typename T, int C, int S, int N>
__device__ static void
make_groups(CellsShared &m, const CnvBlock &b, int first_row, int n)
{
  const int groups = (m.part.n_x + CellGroup<T, C, S, N>::cells - 1) / CellGroup<T, C, S, N>::cells;
  uint8_t *out = (uint8_t *)m.row + (m.edge[0].out * C - m.part.out_left) * (int)sizeof(T);

#pragma unroll 1
  for (int i = threadIdx.x; i < n * groups; i += CNV_BLOCK_THREADS) {
    const int row = i / groups;

    make_group<T, C, S, N>(m, b, m.rows[first_row + row], out + row * b.cells.threads_x * CNV_CELLS_CHUNK,
                           i - row * groups);
  }
}

template <typename T, int C, int S>
__device__ static void
make_groups(CellsShared &m, const CnvBlock &b, int first_row, int n)
{
  switch (b.a.cell[CNV_X]) {
  case 3:
    make_groups<T, C, S, 3>(m, b, first_row, n);
    break;
  case 5:
    make_groups<T, C, S, 5>(m, b, first_row, n);
    break;
  default:
    make_groups<T, C, S, 7>(m, b, first_row, n);
  }
}

/* Calls the code for the plane's samples. cells_of_group in gpu/cells.c has accepted them. */
__device__ static void
make_small_cells(CellsShared &m, const CnvBlock &b, int first_row, int n)
{
  const int C = b.a.channels, shift = b.a.cell_shift[CNV_X];

  if (b.bytes == 1 && C == 1 && shift == 0)
    make_groups<uint8_t, 1, 0>(m, b, first_row, n);
  else if (b.bytes == 1 && C == 1)
    make_groups<uint8_t, 1, 1>(m, b, first_row, n);
  else if (b.bytes == 1 && C == 2)
    make_groups<uint8_t, 2, 1>(m, b, first_row, n);
  else if (b.bytes == 1)
    make_groups<uint8_t, 4, 0>(m, b, first_row, n);
  else if (C == 1)
    make_groups<uint16_t, 1, 0>(m, b, first_row, n);
  else
    make_groups<uint16_t, 2, 1>(m, b, first_row, n);
}
