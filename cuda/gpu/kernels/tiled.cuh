/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * tiled: all taps of a term at once over a tile in shared memory; a thread slides down a column of the tile. Separable
 * taps are taken as the dense kernel that they make.
 */
#pragma once

#include "gpu/kernels/block.cuh"

/* Loads the samples of `pixels` x `rows` pixels from (x, y) on, into rows of `pitch` floats; around them is slack. */
template <typename T, int C>
__device__ static void
load_tile(float *tile, int pitch, const Block &b, const Range &range, int x, int y, int pixels, int rows)
{
  const int thread = threadIdx.y * blockDim.x + threadIdx.x, component = thread % 32, warp = thread / 32;
  const int warps = blockDim.x * blockDim.y / 32, n = pixels * C, stride = b.in_stride;
  const Samples samples = samples_of<T>(b.a);
  const uint64_t first = b.in + (int64_t)y * stride + (int64_t)x * C * sizeof(T);

  if (inside_by_words(b, x, pixels) && inside(y, rows, b.height)) {
#pragma unroll 1
    for (int i = range.first; i < range.last; i++) {
      const uint64_t from = first + source_delta(b, i);
      const float weight = source_weight(b, i);

      for (int w = component; w < words_of<T>(n); w += 32) {
#pragma unroll 4
        for (int r = warp; r < rows; r += warps)
          load_word<T>((const T *)(from + (int64_t)r * stride), n, w, samples,
                       [=](int s, float value) { add_source(tile[r * pitch + s], i == range.first, weight, value); });
      }
    }
  } else {
    for (int r = warp; r < rows; r += warps)
      for (int s = component; s < n; s += 32)
        tile[r * pitch + s] = fetch<T>(b, range, C, x + s / C, y + r, s % C);
  }
}

/* Adds a term to the outputs of the thread: those of sample `column` of the tile, from row `top` on. */
template <typename T, int C, bool TIME>
__device__ static void
tiled_term(float (&acc)[CNV_OUTPUTS], const Block &b, const CnvTerm &t, int x0, int y0, int column, int top)
{
  constexpr int tile_pixels = CNV_TILED_WIDTH / C;
  const int chunk_x = cnv_tiled_chunk(t.n[CNV_X], CNV_TILED_CHUNK_X(C));
  const int chunk_y = cnv_tiled_chunk(t.n[CNV_Y], CNV_TILED_CHUNK_Y), pitch = CNV_TILED_PITCH(C, chunk_x);
  float *tile = cnv_shared + CNV_TILED_SLACK;
  const Range range = TIME ? sources_of(b, t) : Range{-1, 0};

  for (int j = 0; j < t.n[CNV_Y]; j += chunk_y) {
    const int rows = min(chunk_y, t.n[CNV_Y] - j);

    for (int i = 0; i < t.n[CNV_X]; i += chunk_x) {
      const int columns = min(chunk_x, t.n[CNV_X] - i);

      __syncthreads();
      load_tile<T, C>(tile, pitch, b, range, x0 - t.anchor[CNV_X] + i, y0 - t.anchor[CNV_Y] + j,
                      tile_pixels + columns - 1, CNV_TILED_HEIGHT + rows - 1);
      __syncthreads();
      for (int c = 0; c < columns; c++) {
        const unsigned taps = t.separable ? t.taps[CNV_Y] + j : t.taps[CNV_X] + (i + c) * t.n[CNV_Y] + j;
        const float weight = t.separable ? cnv_taps[t.taps[CNV_X] + i + c] : 1.0f;
        float part[CNV_OUTPUTS] = {0};

        slide<float>(
            part, tile + top * pitch + column + c * C, [=](int n) { return n * pitch; }, CNV_OUTPUTS * pitch,
            cnv_taps + taps, rows);
        for (int k = 0; k < CNV_OUTPUTS; k++)
          acc[k] = fmaf(part[k], weight, acc[k]);
      }
    }
  }
}

/* add_term for the outputs of a thread, the first at (x, y) of the window. */
__device__ static void
add_tile(float (&total)[CNV_OUTPUTS], const float (&acc)[CNV_OUTPUTS], const Block &b, const CnvTerm &t, int x, int y)
{
  const bool each = renormalizes(b) && !b.a.joint, squares = b.a.combine == CNV_COMBINE_MAGNITUDE;
  const bool all = finds_all(b, t, x, y) && finds_all(b, t, x, y + CNV_OUTPUTS - 1);

#pragma unroll
  for (int k = 0; k < CNV_OUTPUTS; k++) {
    const float part = each && !all ? acc[k] * term_factor(b, t, x, y + k) : acc[k];

    total[k] = squares ? fmaf(part, part, total[k]) : total[k] + part;
  }
}

/* SIMPLE: the terms need no more than adding up, and there is one source. */
template <typename T, int C, bool SIMPLE>
__device__ static void
tiled_of(const Block &b, const BlockCoord &at)
{
  constexpr int tile_pixels = CNV_TILED_WIDTH / C;
  const int px0 = at.bx * tile_pixels, py0 = at.by * CNV_TILED_HEIGHT, top = threadIdx.y * CNV_OUTPUTS;
  const int column = min((int)threadIdx.x, tile_pixels * C - 1), px = px0 + column / C;
  float total[CNV_OUTPUTS] = {0};

#pragma unroll 1
  for (int t = 0; t < b.a.n_terms; t++) {
    if (SIMPLE) {
      tiled_term<T, C, !SIMPLE>(total, b, b.a.term[t], b.x + px0, b.y + py0, column, top);
    } else {
      float acc[CNV_OUTPUTS] = {0};

      tiled_term<T, C, !SIMPLE>(acc, b, b.a.term[t], b.x + px0, b.y + py0, column, top);
      add_tile(total, acc, b, b.a.term[t], b.x + px, b.y + py0 + top);
    }
  }
  if (SIMPLE && b.job.n_mask_rects == 0 && py0 + CNV_TILED_HEIGHT <= b.job.height) {
    if (threadIdx.x < tile_pixels * C && px < b.job.width)
#pragma unroll
      for (int k = 0; k < CNV_OUTPUTS; k++)
        ((T *)(b.out + (int64_t)(py0 + top + k) * b.out_stride))[px0 * C + column] =
            result<T>(b, C, px0 * C + column, py0 + top + k, total[k]);
    return;
  }
  const float *own = stash(total);
  if (threadIdx.x >= tile_pixels * C || px >= b.job.width)
    return;
#pragma unroll 1
  for (int k = 0; k < CNV_OUTPUTS && py0 + top + k < b.job.height; k++) {
    const int py = py0 + top + k;

    store_sample<T>(b, at, C, px0 * C + column, py, SIMPLE ? own[k] : terms_epilogue(b, own[k], b.x + px, b.y + py));
  }
}

template <typename T, int C>
__device__ static void
tiled(const Block &b, const BlockCoord &at)
{
  tiled_of<T, C, false>(b, at);
}
