/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * separable: rows makes float32 row sums of each term, for all rows that the job's columns need, borders resolved;
 * columns makes samples of them.
 */
#pragma once

#include "gpu/kernels/block.cuh"

/* Index of pixel p in a row of shared memory: a hole after every 8, so that threads that start 8 pixels apart start in
 * different banks. */
__device__ static int
skewed(int p)
{
  return p + p / CNV_OUTPUTS;
}

/* Loads `pixels` pixels of row y from x on, channel by channel, into line[channel] after the slack, by `threads`
 * threads of which this is number `thread`. */
template <typename T, int C>
__device__ static void
load_line(float (*line)[CNV_ROWS_PITCH], const Block &b, const Range &range, int x, int y, int pixels, int thread,
          int threads)
{
  const int iy = cnv_border_index((CnvBorder)b.a.border, y, b.height);
  const Samples samples = samples_of<T>(b.a);

  if (iy >= 0 && inside_by_words(b, x, pixels)) {
    const uint64_t first = (uint64_t)(input_row<T>(b, iy) + x * C);
#pragma unroll 1
    for (int i = range.first; i < range.last; i++) {
      const T *from = (const T *)(first + source_delta(b, i));
      const float weight = source_weight(b, i);

#pragma unroll 4
      for (int w = thread; w < words_of<T>(pixels * C); w += threads)
        load_word<T>(from, pixels * C, w, samples, [=](int s, float value) {
          const unsigned from_slack = s + CNV_ROWS_SLACK * C;

          add_source(line[from_slack % C][skewed(from_slack / C)], i == range.first, weight, value);
        });
    }
  } else {
    for (int s = thread; s < pixels * C; s += threads)
      line[s % C][skewed(s / C + CNV_ROWS_SLACK)] = fetch<T>(b, range, C, x + s / C, y, s % C);
  }
}

/* rows: a warp takes 256 pixels of one channel of one row of a term's sums; the warps of a row load it together. Row v
 * of the sums is what tap 0 of the column of output row v takes. TIME: there may be several sources. */
template <typename T, int C, bool TIME>
__device__ static void
rows_of(const Block &b, const BlockCoord &at)
{
  constexpr int per_block = CNV_ROWS_PER_BLOCK(C), team = 32 * C;
  const CnvTerm &t = b.a.term[at.term];
  const int block_row = threadIdx.x / team, member = threadIdx.x % team, left = threadIdx.x % 32 * CNV_OUTPUTS;
  const int px0 = at.bx * CNV_ROWS_PIXELS, v = at.by * per_block + block_row;
  const bool here = block_row < per_block && v < b.job.height + t.n[CNV_Y] - 1;
  float(*line)[CNV_ROWS_PITCH] = (float(*)[CNV_ROWS_PITCH])cnv_shared + min(block_row, per_block - 1) * C;
  float *own = line[member / 32];
  const Range range = TIME ? sources_of(b, t) : Range{-1, 0};
  float acc[CNV_OUTPUTS] = {0};

  for (int i = 0; i < t.n[CNV_X]; i += CNV_ROWS_CHUNK) {
    const int taps = min(CNV_ROWS_CHUNK, t.n[CNV_X] - i);

    __syncthreads();
    if (here)
      load_line<T, C>(line, b, range, b.x + px0 - t.anchor[CNV_X] + i, b.y + v - t.anchor[CNV_Y],
                      CNV_ROWS_PIXELS + taps - 1, member, team);
    __syncthreads();
    slide<float>(acc, own + skewed(left + CNV_ROWS_SLACK), skewed, CNV_OUTPUTS + 1, cnv_taps + t.taps[CNV_X] + i, taps);
  }
  if (renormalizes(b) && !b.a.joint && !inside(b.x + px0 - t.anchor[CNV_X], CNV_ROWS_PIXELS + t.n[CNV_X] - 1, b.width))
    for (int k = 0; k < CNV_OUTPUTS; k++)
      acc[k] *= x_factor(b, t, b.x + px0 + left + k);

  float *sums = (float *)at.sums + b.sums[at.term] + (size_t)v * b.sums_stride + (size_t)px0 * C;
  const int samples = min(CNV_ROWS_PIXELS, b.job.width - px0) * C; /* the last four may end in the row's padding */
  if (C == 1) {
    for (int k = 0; k < CNV_OUTPUTS; k += 4)
      if (here && left + k < samples)
        __stwb((float4 *)(sums + left + k), make_float4(acc[k], acc[k + 1], acc[k + 2], acc[k + 3]));
    return;
  }
  /* Channels meet in shared memory, so that a warp stores neighbours together. */
  __syncthreads();
  for (int k = 0; k < CNV_OUTPUTS && here; k++)
    own[skewed(left + k)] = acc[k];
  __syncthreads();
  if (!here)
    return;
  for (int s = 4 * member; s < samples; s += 4 * team) {
    float value[4];

#pragma unroll
    for (int q = 0; q < 4; q++)
      value[q] = line[(s + q) % C][skewed((s + q) / C)];
    __stwb((float4 *)(sums + s), make_float4(value[0], value[1], value[2], value[3]));
  }
}

template <typename T, int C>
__device__ static void
rows(const Block &b, const BlockCoord &at)
{
  rows_of<T, C, true>(b, at);
}

/* The unsigned integer of twice the size. */
template <typename T> struct Pair;
template <> struct Pair<uint8_t> {
  typedef uint16_t type;
};
template <> struct Pair<uint16_t> {
  typedef uint32_t type;
};

/* Stores samples s, which is even, and s + 1 of row y, together where all rows' addresses allow. */
template <typename T, int C> struct StorePair {
  __device__ static void put(const Block &b, const BlockCoord &at, int s, int y, float2 acc)
  {
    typedef typename Pair<T>::type PairType;
    const T first = result<T>(b, C, s, y, acc.x), second = result<T>(b, C, s + 1, y, acc.y);
    T *out = (T *)(b.out + (int64_t)y * b.out_stride) + s;

    if (((b.out | b.out_stride) & (sizeof(PairType) - 1)) == 0) {
      *(PairType *)out = (PairType)(first | (uint32_t)second << (8 * sizeof(T) % 32));
    } else {
      out[0] = first;
      out[1] = second;
    }
  }
};
template <int C> struct StorePair<float, C> {
  __device__ static void put(const Block &b, const BlockCoord &at, int s, int y, float2 acc)
  {
    store_sample<float>(b, at, C, s, y, acc.x);
    store_sample<float>(b, at, C, s + 1, y, acc.y);
  }
};

/* add_term for magnitudes and renormalize, x's factor being in the row sums already. */
__device__ static float
add_column(const Block &b, float total, float acc, const CnvTerm &t, int y)
{
  const float part = renormalizes(b) && !b.a.joint ? acc * y_factor(b, t, y) : acc;

  return b.a.combine == CNV_COMBINE_MAGNITUDE ? fmaf(part, part, total) : total + part;
}

/* Loads the row sums that `taps` taps from number j on need for a block's outputs. */
__device__ static void
load_sums(const Block &b, const BlockCoord &at, int term, int s, int py0, int j, int taps)
{
  constexpr int pitch = CNV_COLUMNS_WIDTH / 2;
  float2 *tile = (float2 *)cnv_shared;
  const int last = b.job.height + b.a.term[term].n[CNV_Y] - 2,
            stride = b.sums_stride; /* of the sums: row, and floats */
  const float *sums = (const float *)at.sums + b.sums[term] + s;

  __syncthreads();
#pragma unroll 8
  for (int r = threadIdx.y; r < CNV_COLUMNS_HEIGHT + taps - 1; r += CNV_COLUMNS_HEIGHT / CNV_OUTPUTS)
    tile[r * pitch + threadIdx.x] = __ldg((const float2 *)(sums + min(py0 + j + r, last) * stride));
  __syncthreads();
}

/* Terms that are simply added up. */
__device__ static void
columns_summed(float2 (&total)[CNV_OUTPUTS], const Block &b, const BlockCoord &at, int s, int py0, int top)
{
  constexpr int pitch = CNV_COLUMNS_WIDTH / 2;
  const float2 *column = (const float2 *)cnv_shared + top * pitch + threadIdx.x;

#pragma unroll 1
  for (int term = 0; term < b.a.n_terms; term++) {
    const CnvTerm &t = b.a.term[term];

    for (int j = 0; j < t.n[CNV_Y]; j += CNV_COLUMNS_CHUNK) {
      const int taps = min(CNV_COLUMNS_CHUNK, t.n[CNV_Y] - j);

      load_sums(b, at, term, s, py0, j, taps);
      slide<float2>(
          total, column, [](int n) { return n * pitch; }, CNV_OUTPUTS * pitch, cnv_taps + t.taps[CNV_Y] + j, taps);
    }
  }
}

/* All others, the first or second of the thread's columns, by which registers suffice. */
__device__ static void
columns_combined(float (&total)[CNV_OUTPUTS], const Block &b, const BlockCoord &at, int s, int py0, int top, int which)
{
  constexpr int pitch = CNV_COLUMNS_WIDTH;
  const float *column = cnv_shared + top * pitch + 2 * threadIdx.x + which;

#pragma unroll 1
  for (int term = 0; term < b.a.n_terms; term++) {
    const CnvTerm &t = b.a.term[term];
    float acc[CNV_OUTPUTS] = {};

    for (int j = 0; j < t.n[CNV_Y]; j += CNV_COLUMNS_CHUNK) {
      const int taps = min(CNV_COLUMNS_CHUNK, t.n[CNV_Y] - j);

      load_sums(b, at, term, s, py0, j, taps);
      slide<float>(
          acc, column, [](int n) { return n * pitch; }, CNV_OUTPUTS * pitch, cnv_taps + t.taps[CNV_Y] + j, taps);
    }
#pragma unroll
    for (int k = 0; k < CNV_OUTPUTS; k++)
      total[k] = add_column(b, total[k], acc[k], t, b.y + py0 + top + k);
  }
}

/* Stores samples at the job's edges, or with weights: of one column, and of two. */
template <typename T, int C>
__device__ static void
store_column(const float (&total)[CNV_OUTPUTS], const Block &b, const BlockCoord &at, int s, int py0)
{
  const float *own = stash(total);

  if (s < b.job.width * C)
#pragma unroll 1
    for (int k = 0; k < CNV_OUTPUTS && py0 + k < b.job.height; k++)
      store_sample<T>(b, at, C, s, py0 + k, terms_epilogue(b, own[k], b.x + s / C, b.y + py0 + k));
}

template <typename T, int C>
__device__ static void
store_columns(const float2 (&total)[CNV_OUTPUTS], const Block &b, const BlockCoord &at, int s, int py0)
{
  const float *own = (const float *)stash(total);

#pragma unroll 1
  for (int k = 0; k < 2 * CNV_OUTPUTS && py0 + k / 2 < b.job.height; k++)
    if (s + k % 2 < b.job.width * C)
      store_sample<T>(b, at, C, s + k % 2, py0 + k / 2, own[k]);
}

/* columns where row sums need no more than adding up: a thread slides down two neighbouring columns. */
template <typename T, int C>
__device__ static void
simple_columns(const Block &b, const BlockCoord &at)
{
  const int s = at.bx * CNV_COLUMNS_WIDTH + 2 * threadIdx.x, py0 = at.by * CNV_COLUMNS_HEIGHT;
  const int top = threadIdx.y * CNV_OUTPUTS;
  float2 total[CNV_OUTPUTS] = {};

  columns_summed(total, b, at, s, py0, top);
  if (b.job.n_mask_rects == 0 && py0 + CNV_COLUMNS_HEIGHT <= b.job.height &&
      (at.bx + 1) * CNV_COLUMNS_WIDTH <= b.job.width * C) {
#pragma unroll
    for (int k = 0; k < CNV_OUTPUTS; k++)
      StorePair<T, C>::put(b, at, s, py0 + top + k, total[k]);
    return;
  }
  store_columns<T, C>(total, b, at, s, py0 + top);
}

/* columns: the same of all planes. */
template <typename T, int C>
__device__ static void
columns(const Block &b, const BlockCoord &at)
{
  const int s = at.bx * CNV_COLUMNS_WIDTH + 2 * threadIdx.x, py0 = at.by * CNV_COLUMNS_HEIGHT;
  const int top = threadIdx.y * CNV_OUTPUTS;

  if (!renormalizes(b) && b.a.combine != CNV_COMBINE_MAGNITUDE) {
    simple_columns<T, C>(b, at);
    return;
  }
#pragma unroll 1
  for (int which = 0; which < 2; which++) {
    float total[CNV_OUTPUTS] = {};

    columns_combined(total, b, at, s, py0, top, which);
    store_column<T, C>(total, b, at, s + which, py0 + top);
  }
}
