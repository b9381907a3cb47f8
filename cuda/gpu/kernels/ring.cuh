/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * tensor for many rows of taps: the products of tensor.cuh, with row sums in shared memory. There a warp keeps
 * them in registers, which the code must name one by one; here they lie in a ring, so that the column pass is a loop
 * and the number of rows is free. The warps of a block work one below the other on one tile and share the ring: each
 * adds the sums of 16 rows of samples, and takes those of all the rows that 16 rows of outputs reach.
 *
 * Sums of 16 rows are an A of the column pass as it stands, and serve both halves of the outputs, whose bands differ.
 */
#pragma once

#include "gpu/kernels/tensor.cuh"

#if __CUDA_ARCH__ >= 800

/* Sums of two times 8 rows as A; and what f16 leaves of them. */
__device__ static void
store_sums(uint4 *to, const Sums<false> &upper, const Sums<false> &lower)
{
  *to = make_uint4(upper.first, upper.second, lower.first, lower.second);
}

__device__ static void
store_sums(uint4 *to, const Sums<true> &upper, const Sums<true> &lower)
{
  store_sums(to, static_cast<const Sums<false> &>(upper), static_cast<const Sums<false> &>(lower));
  to[32] = make_uint4(upper.first_rest, upper.second_rest, lower.first_rest, lower.second_rest);
}

/* d[h]: of 8 rows of outputs. */
template <int M>
__device__ static void
multiply_both(float (&d)[2][M][4], int m, const uint4 &sums, const uint4 &band)
{
  multiply(d[0][m], sums, make_uint2(band.x, band.y));
  multiply(d[1][m], sums, make_uint2(band.z, band.w));
}

/* Bands that are multiplied with again and again: a load from global memory would wait for those of samples before it.
 */
__device__ static void
copy_bands(uint4 *to, const uint4 *from, int n)
{
  for (int i = threadIdx.x; i < n; i += blockDim.x)
    to[i] = __ldg(from + i);
}

/* shared: CNV_RING_SHARED bytes: bands along x, bands along y, the ring. */
template <typename T, int K_X, int M, bool EXACT, bool EDGE, bool MERGE>
__device__ static void
ring_tile(const CnvTileArgs &l, const TileParams &params, const Tile &tile, uint4 *shared)
{
  constexpr int words = M + K_X - 1, parts = 1 + EXACT, all_x = parts * K_X * 32;
  constexpr int both = K_X <= 5 ? 2 : 1; /* halves of 16 rows at a time, as registers allow */
  typedef typename Word<T>::type W;
  const CnvTileJob &s = params.s;
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  const int n_k = CNV_RING_STEPS(s.term.n[CNV_Y]), slots = CNV_RING_SLOTS(n_k), all_y = parts * n_k * 32;
  const int blocks = (tile.y_end - tile.y + 15) / 16, last = blocks + n_k - 1; /* of outputs, of samples */
  const int edge = EDGE ? edge_band(s, tile.x / 16) : 0;
  const uint4 *bands = (const uint4 *)((const uint32_t *)l.bands + s.bands);
  const uint4 *band_x = shared + lane, *band_y = band_x + all_x;
  uint4 *ring = shared + all_x + all_y + lane;
  const Halves halves = halves_of<T>(s);
  const Epilogue epilogue = epilogue_of(s);
  const Source<T, words, EDGE> source(params, tile.x - s.apron_left, tile.y - s.term.anchor[CNV_Y]);
  const Target<T, EDGE, MERGE> target(params, tile, 16 * M);
  const bool renormalizes = EDGE && cnv_border_renormalizes((CnvBorder)s.border);
  int store_slot = warp, load_slot = (warp - n_k + 1 + slots) % slots; /* slots */
  W staged_rows[2][words];

  const auto prefetch = [&](int block) {
#pragma unroll
    for (int h = 0; h < 2; h++)
      source.load(staged_rows[h], min(2 * block + h, 2 * last - 1), 0);
  };
  prefetch(warp);
  __syncthreads(); /* of the tile before */
  copy_bands(shared, bands + (edge ? edge * all_x + all_y : 0), all_x);
  copy_bands(shared + all_x, bands + all_x, all_y);
  __syncthreads();
#pragma unroll 1
  for (int block = warp; block - warp < last; block += CNV_TILE_WARPS) {
    const int out = block - n_k + 1;
    float c[2][M][4] = {};

#pragma unroll
    for (int h0 = 0; h0 < 2; h0 += both) {
      uint2 b[both][words];

#pragma unroll
      for (int h = 0; h < both; h++) {
        source.unshuffle(staged_rows[h0 + h], min(2 * block + h0 + h, 2 * last - 1));
#pragma unroll
        for (int w = 0; w < words; w++)
          b[h][w] = to_halves(staged_rows[h0 + h][w], halves);
      }
      if (both == 2)
        prefetch(block + CNV_TILE_WARPS);
#pragma unroll
      for (int k = 0; k < parts * K_X; k++) {
        const uint4 taps = band_x[32 * k];

#pragma unroll
        for (int i = 0; i < both * M; i++)
          multiply(c[h0 + i % both][i / both], taps, b[i % both][i / both + k % K_X]);
      }
    }
    if (both == 1)
      prefetch(block + CNV_TILE_WARPS);
#pragma unroll
    for (int m = 0; m < M; m++) {
      Sums<EXACT> upper, lower;

      pack_sums(upper, c[0][m]);
      pack_sums(lower, c[1][m]);
      store_sums(ring + (store_slot * M + m) * parts * 32, upper, lower);
    }
    int at = load_slot;
    store_slot =
        store_slot + CNV_TILE_WARPS < slots ? store_slot + CNV_TILE_WARPS : store_slot + CNV_TILE_WARPS - slots;
    load_slot = load_slot + CNV_TILE_WARPS < slots ? load_slot + CNV_TILE_WARPS : load_slot + CNV_TILE_WARPS - slots;
    __syncthreads();
    if (out < 0 || out >= blocks)
      continue;
    float d[2][M][4] = {};

#pragma unroll 1
    for (int k = 0; k < n_k; k++) {
      const uint4 band = band_y[32 * k], rest = band_y[EXACT ? 32 * (n_k + k) : 0];
      const uint4 *sums = ring + at * M * parts * 32;

#pragma unroll
      for (int m = 0; m < M; m++) {
        multiply_both(d, m, sums[m * parts * 32], band);
        if (EXACT) {
          multiply_both(d, m, sums[m * parts * 32], rest);
          multiply_both(d, m, sums[(m * parts + 1) * 32], band);
        }
      }
      at = at + 1 < slots ? at + 1 : 0;
    }
#pragma unroll
    for (int h = 0; h < 2; h++) {
      const int row = 2 * out + h; /* of outputs, by eight */
      W word[M];

#pragma unroll
      for (int m = 0; m < M; m++) {
        if (renormalizes)
          restore_sums(d[h][m], s, tile.x + 16 * m + 2 * (lane / 4), tile.y + row * CNV_TENSOR_ROWS + 2 * (lane % 4));
        if (epilogue.absolute)
#pragma unroll
          for (int i = 0; i < 4; i++)
            d[h][m][i] = fabsf(d[h][m][i] + epilogue.mid_bias);
        epilogue_word(word[m], d[h][m], epilogue);
      }
      target.store(word, row);
    }
  }
}

template <typename T, int K_X, int M, bool EXACT>
__device__ static void
tensor_ring(const CnvTileArgs &l)
{
  extern __shared__ uint4 shared[];
  __shared__ TileParams params;

  load_tile_job<T>(params, l);
  const Tile tile = find_tile(params.s, blockIdx.x - params.s.first_block, M);
  const int rows = ((tile.y_end - tile.y + 15) / 16 + CNV_RING_STEPS(params.s.term.n[CNV_Y]) - 1) * 16;

  if (tile.groups == M && is_inner<M + K_X - 1, M>(params, tile, rows)) {
    if (params.s.copied)
      ring_tile<T, K_X, M, EXACT, false, true>(l, params, tile, shared);
    else
      ring_tile<T, K_X, M, EXACT, false, false>(l, params, tile, shared);
    return;
  }
#pragma unroll 1
  for (int m = 0; m < tile.groups; m++)
    ring_tile<T, K_X, 1, EXACT, true, true>(l, params, {tile.x + 16 * m, tile.y, tile.y_end, 1}, shared);
}

#else

template <typename T, int K_X, int M, bool EXACT>
__device__ static void
tensor_ring(const CnvTileArgs &)
{
}

#endif
