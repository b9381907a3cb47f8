/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * blur: a row times a column of taps as two products of banded matrices on the tensor cores, mma.m16n8k16 in f16 with
 * float32 sums. A warp goes down a tile, 16 samples times M wide, by 16 rows a step; nothing passes through shared
 * memory between the products:
 *
 *   rows     C[x][y] = sum over k of A[x][k] * I[k][y]
 *            A: the band of the row's taps; I: the image, 16 samples of 8 rows
 *   columns  D[y][x] = sum over k of B[y][k] * C[k][x]
 *            B: the band of the column's taps; row sums of 16 rows by 8 samples, as pairs of f16, are C as they stand
 *
 * Which sample is which k, and which output which row of A, is free (gpu/blur.c): so the four samples of a word are a
 * lane's two pairs of k, and its results are four neighbours of a row. A sample becomes 1024 + x by one instruction,
 * since that is what f16 0x6400 | x means; sums over A begin at -(1024 + mid) times the taps' sum, so that row sums are
 * about 0, where f16 is finest. Levels come out as 1024 + level, whose rounding to f16 is that to a level.
 *
 * SPLIT: taps and row sums are two f16 numbers each, together nearly as good as float32: for more than 8 bits, and taps
 * of both signs.
 */
#pragma once

#include <cuda_fp16.h>

#include "gpu/kernels/tile.cuh"

#if __CUDA_ARCH__ >= 800

__device__ static void
multiply(float (&sum)[4], const uint4 &a, uint32_t b0, uint32_t b1)
{
  asm("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, "
      "%3};"
      : "+f"(sum[0]), "+f"(sum[1]), "+f"(sum[2]), "+f"(sum[3])
      : "r"(a.x), "r"(a.y), "r"(a.z), "r"(a.w), "r"(b0), "r"(b1));
}

/* The same, of sums that all begin with one number. */
__device__ static void
multiply_first(float (&sum)[4], const uint4 &a, uint32_t b0, uint32_t b1, float first)
{
  asm("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%10, %10, %10, "
      "%10};"
      : "=f"(sum[0]), "=f"(sum[1]), "=f"(sum[2]), "=f"(sum[3])
      : "r"(a.x), "r"(a.y), "r"(a.z), "r"(a.w), "r"(b0), "r"(b1), "f"(first));
}

__device__ static uint32_t
halves_of(float low, float high)
{
  const __half2 pair = __floats2half2_rn(low, high);

  return *(const uint32_t *)&pair;
}

/* The part of two numbers that f16 leaves. */
__device__ static uint32_t
rest_of(uint32_t pair, float low, float high)
{
  const float2 taken = __half22float2(*(const __half2 *)&pair);

  return halves_of(low - taken.x, high - taken.y);
}

/* Four samples as two pairs of 1024 + x. */
__device__ static uint2
samples_of_word(uint32_t word, int, uint32_t)
{
  return make_uint2(__byte_perm(word, 0x64646464u, 0x4140), __byte_perm(word, 0x64646464u, 0x4342));
}

__device__ static uint2
samples_of_word(uint2 word, int shift, uint32_t mask)
{
  return make_uint2((word.x >> shift & mask) | 0x64006400u, (word.y >> shift & mask) | 0x64006400u);
}

/* Two pairs of 1024 + level, as four samples. */
__device__ static void
word_of_levels(uint32_t &word, uint32_t low, uint32_t high, int, uint32_t)
{
  word = __byte_perm(low, high, 0x6420);
}

__device__ static void
word_of_levels(uint2 &word, uint32_t low, uint32_t high, int shift, uint32_t mask)
{
  word = make_uint2((low & mask) << shift, (high & mask) << shift);
}

__device__ static uint32_t
clamp_levels(uint32_t pair, __half2 full)
{
  const __half2 clamped = __hmax2(__hmin2(*(const __half2 *)&pair, full), __float2half2_rn(1024.0f));

  return *(const uint32_t *)&clamped;
}

/* renormalize: the factors of a tile's samples along x, and behind them of its rows. */
__device__ static void
find_factors(float *factor, const CnvTileJob &s, const TileOutput &at, int width)
{
  const CnvTerm &t = s.term;

  for (int i = threadIdx.x; i < width + s.rows; i += blockDim.x)
    factor[i] = i < width ? axis_factor(t.taps[CNV_X], t.n[CNV_X], t.sum[CNV_X], t.epsilon[CNV_X],
                                        (at.x + i) / s.channels - s.job.window_x - t.anchor[CNV_X], s.job.window_width)
                          : axis_factor(t.taps[CNV_Y], t.n[CNV_Y], t.sum[CNV_Y], t.epsilon[CNV_Y],
                                        at.y + i - width - s.job.window_y - t.anchor[CNV_Y], s.job.window_height);
}

/* Fragments of bands: in registers, or read from memory each time where there are many. */
template <int N, bool KEPT> struct Bands {
  const uint4 *from;
  uint4 kept[KEPT ? N : 1];

  __device__ void load(const uint4 *at)
  {
    from = at;
    if (KEPT)
#pragma unroll
      for (int i = 0; i < N; i++)
        kept[KEPT ? i : 0] = __ldg(at + 32 * i);
  }

  __device__ uint4 operator[](int i) const
  {
    return KEPT ? kept[KEPT ? i : 0] : __ldg(from + 32 * i);
  }
};

/* The sums of 16 rows along x, from the lane's first word on, which begin with `first`: of 8 rows, of M groups of 16
 * samples. */
template <typename T, int K_X, int M, int PARTS, typename B>
__device__ static void
sum_rows(float (&sum)[2][M][4], const uint8_t *from, int pitch, const B &bands, int shift, uint32_t mask, float first)
{
  typedef typename Word<T>::type W;
  uint2 sample[2][M];

#pragma unroll
  for (int i = 0; i < 2 * (M - 1); i++)
    sample[i % 2][i / 2] =
        samples_of_word(*(const W *)(from + i % 2 * 8 * pitch + 16 * (i / 2) * (int)sizeof(T)), shift, mask);
  if (K_X > 5)
#pragma unroll
    for (int i = 0; i < 8 * M; i++)
      sum[i % 2][i / 2 % M][i / (2 * M)] = first;
#pragma unroll(K_X <= 5 ? K_X : 4)
  for (int k = 0; k < K_X; k++) {
    uint4 band[PARTS];

#pragma unroll
    for (int part = 0; part < PARTS; part++)
      band[part] = bands[part * K_X + k];
#pragma unroll
    for (int half = 0; half < 2; half++) {
      sample[half][M - 1] =
          samples_of_word(*(const W *)(from + half * 8 * pitch + 16 * (k + M - 1) * (int)sizeof(T)), shift, mask);
#pragma unroll
      for (int m = 0; m < M; m++) {
#pragma unroll
        for (int part = 0; part < PARTS; part++)
          if (K_X <= 5 && k + part == 0)
            multiply_first(sum[half][m], band[part], sample[half][m].x, sample[half][m].y, first);
          else
            multiply(sum[half][m], band[part], sample[half][m].x, sample[half][m].y);
        if (m > 0)
          sample[half][m - 1] = sample[half][m];
      }
    }
  }
}

/* Row sums of 16 rows by 16 samples times M as f16: by group, part, eight samples, and eight rows. */
template <int M, int PARTS> struct RowSums {
  uint32_t of[M][PARTS][2][2];
};

template <int M, int PARTS>
__device__ static void
pack_sums(RowSums<M, PARTS> &to, const float (&sum)[2][M][4])
{
#pragma unroll
  for (int m = 0; m < M; m++)
#pragma unroll
    for (int i = 0; i < 4; i++) {
      const int half = i / 2, eight = i % 2;
      const float low = sum[half][m][2 * eight], high = sum[half][m][2 * eight + 1];

      to.of[m][0][eight][half] = halves_of(low, high);
      if (PARTS > 1)
        to.of[m][PARTS - 1][eight][half] = rest_of(to.of[m][0][eight][half], low, high);
    }
}

/* Adds the taps of a column's 16 rows; the first of them begin with `first`. The product of both rests is left out. */
template <int M, int PARTS, typename B>
__device__ static void
add_columns(float (&sum)[2][4], const RowSums<M, PARTS> &sums, int m, const B &bands, int k, int k_y, float first)
{
#pragma unroll
  for (int eight = 0; eight < 2; eight++) {
    const uint32_t(&main)[2] = sums.of[m][0][eight], (&rest)[2] = sums.of[m][PARTS - 1][eight];

    if (k == 0)
      multiply_first(sum[eight], bands[k], main[0], main[1], first);
    else
      multiply(sum[eight], bands[k], main[0], main[1]);
    if (PARTS > 1) {
      multiply(sum[eight], bands[k], rest[0], rest[1]);
      multiply(sum[eight], bands[(PARTS - 1) * k_y + k], main[0], main[1]);
    }
  }
}

/* Adds the job's gain of the sample itself to four sums. */
__device__ static void
add_center(float (&low)[2], float (&high)[2], const uint2 &pairs, float center, float mid)
{
  const float2 a = __half22float2(*(const __half2 *)&pairs.x), b = __half22float2(*(const __half2 *)&pairs.y);

  low[0] = fmaf(a.x - mid, center, low[0]);
  low[1] = fmaf(a.y - mid, center, low[1]);
  high[0] = fmaf(b.x - mid, center, high[0]);
  high[1] = fmaf(b.y - mid, center, high[1]);
}

/* A lane's places in the tile and among the results, in shared memory, bytes from frame to frame, and the factors of
 * renormalize from the lane's first sample and row on. */
struct BlurLane {
  const uint8_t *from;
  uint8_t *out;
  int frame_bytes;
  const float *factor, *row_factor;
};

/* A step of 16 rows: their row sums become number u of the ring, and where that is complete, 16 rows of results are
 * made, the first of which is row y of the tile. rows, out: the lane's places in the step's first rows. SIMPLE: of one
 * frame, with levels that need no clamping, and no gain of the sample itself; the rest then does not fill the loop. */
template <typename T, int K_X, int K_Y, int M, int PARTS, bool SIMPLE, typename BX, typename BY>
__device__ static __forceinline__ void
blur_step(const CnvTileArgs &l, const CnvTileJob &s, const BlurLane &lane, RowSums<M, PARTS> (&sums)[K_Y], int u,
          const uint8_t *rows, const uint8_t *center_rows, uint8_t *out, int y, const BX &band_x, const BY &band_y)
{
  typedef typename Word<T>::type W;
  constexpr int bytes = sizeof(T), width = 16 * CNV_TILE_WARPS * M, lead = CNV_BLUR_LEAD(K_X);
  constexpr int pitch = CNV_TILE_PITCH(16 * bytes, width * bytes, lead * bytes), out_pitch = width * bytes + 16;
  const int n_frames = SIMPLE ? 0 : l.sources.n;
  const bool renormalizes = !SIMPLE && s.renormalizes;
  const float offset = s.offset, first_level = renormalizes ? 0.0f : offset;
  const uint32_t mask = (uint32_t)s.full_bits * 0x10001u;
  float row_sum[2][M][4] = {};

  if (n_frames == 0)
    sum_rows<T, K_X, M, PARTS>(row_sum, rows, pitch, band_x, s.shift, mask, s.first_sum);
#pragma unroll 1
  for (int f = 0; f < n_frames; f++) {
    const float weight = l.sources.weight[f];
    float part[2][M][4];

    sum_rows<T, K_X, M, PARTS>(part, rows + f * lane.frame_bytes, pitch, band_x, s.shift, mask, s.first_sum);
#pragma unroll
    for (int i = 0; i < 8 * M; i++)
      row_sum[i % 2][i / 2 % M][i / (2 * M)] =
          fmaf(weight, part[i % 2][i / 2 % M][i / (2 * M)], row_sum[i % 2][i / 2 % M][i / (2 * M)]);
  }
  pack_sums(sums[u], row_sum);
  if (y < 0)
    return;
#pragma unroll
  for (int m = 0; m < M; m++) {
    float level[2][4];

#pragma unroll
    for (int k = 0; k < K_Y; k++)
      add_columns(level, sums[(u + 1 + k) % K_Y], m, band_y, k, K_Y, first_level);
#pragma unroll
    for (int half = 0; half < 2; half++) {
      float low[2] = {level[0][2 * half], level[0][2 * half + 1]};
      float high[2] = {level[1][2 * half], level[1][2 * half + 1]};
      W word;

      if (!SIMPLE && s.center != 0)
        add_center(
            low, high,
            samples_of_word(*(const W *)(center_rows + 8 * half * pitch + (16 * m + lead) * bytes), s.shift, mask),
            s.center, 1024.0f + s.mid);
      if (renormalizes) {
        const float4 along = *(const float4 *)(lane.factor + 16 * m);
        const float row = lane.row_factor[y + 8 * half];

        low[0] = fmaf(low[0] * row, along.x, offset);
        low[1] = fmaf(low[1] * row, along.y, offset);
        high[0] = fmaf(high[0] * row, along.z, offset);
        high[1] = fmaf(high[1] * row, along.w, offset);
      }
      uint32_t pair = halves_of(low[0], low[1]), next = halves_of(high[0], high[1]);
      if (!SIMPLE) {
        const __half2 full = __float2half2_rn(1024.0f + s.full_bits);

        pair = clamp_levels(pair, full);
        next = clamp_levels(next, full);
      }
      word_of_levels(word, pair, next, s.shift, mask);
      *(W *)(out + 8 * half * out_pitch + 16 * m * bytes) = word;
    }
  }
}

/* A warp's way down a tile that is in shared memory as a whole. */
template <typename T, int K_X, int K_Y, int M, int PARTS, bool SIMPLE, typename BX, typename BY>
__device__ static void
blur_rows(const CnvTileArgs &l, const CnvTileJob &s, const BlurLane &lane, int n_rows, const BX &band_x,
          const BY &band_y)
{
  constexpr int bytes = sizeof(T), width = 16 * CNV_TILE_WARPS * M;
  constexpr int pitch = CNV_TILE_PITCH(16 * bytes, width * bytes, CNV_BLUR_LEAD(K_X) * bytes);
  constexpr int out_pitch = width * bytes + 16;
  const int steps = (n_rows + 15) / 16 + K_Y - 1;
  RowSums<M, PARTS> sums[K_Y];

  /* The ring of row sums is indexed by what is known at compile time, so its turns are written out. */
#pragma unroll 1
  for (int turn = 0; turn < steps; turn += K_Y) {
#pragma unroll
    for (int u = 0; u < K_Y; u++) {
      const int y = (turn + u - K_Y + 1) * 16;

      if (turn + u >= steps)
        break;
      blur_step<T, K_X, K_Y, M, PARTS, SIMPLE>(l, s, lane, sums, u, lane.from + (turn + u) * 16 * pitch,
                                               lane.from + (y + CNV_BLUR_LEAD(K_Y)) * pitch, lane.out + y * out_pitch,
                                               y, band_x, band_y);
    }
  }
}

/* K_X, K_Y: steps of 16 samples and of 16 rows that 16 outputs reach over; M: groups of 16 samples of a warp. */
template <typename T, int K_X, int K_Y, int M, bool SPLIT>
__device__ static void
blur(const CnvTileArgs &l)
{
  constexpr int bytes = sizeof(T), parts = 1 + SPLIT, width = 16 * CNV_TILE_WARPS * M;
  constexpr int lead = CNV_BLUR_LEAD(K_X), top = CNV_BLUR_LEAD(K_Y), apron = CNV_TILE_APRON(lead * bytes);
  constexpr int pitch = CNV_TILE_PITCH(16 * bytes, width * bytes, lead * bytes), out_pitch = width * bytes + 16;
  constexpr bool keeps = K_X + K_Y <= 10 && parts * (K_X + K_Y) <= 12;
  constexpr TileShape shape = {width, width + 2 * apron / bytes, apron / bytes, top, pitch};
  __shared__ TileParams params;
  __shared__ alignas(8) uint64_t barrier;
  __shared__ alignas(16) float factor[width + CNV_BLUR_ROWS];

  begin_block<T>(l, shape, params, &barrier);
  const CnvTileJob &s = params.s;
  const int lane = threadIdx.x % 32, g = lane / 4, t = lane % 4, warp_x = threadIdx.x / 32 * 16 * M;
  const int frame_bytes = CNV_TILE_BYTES(pitch, s.box_rows);
  const TileOutput at = tile_output(s, width);
  const uint4 *words = (const uint4 *)((const uint32_t *)l.bands + s.bands) + lane;
  Bands<parts * K_X, keeps> band_x;
  Bands<parts * K_Y, keeps> band_y;

  band_x.load(words);
  band_y.load(words + parts * K_X * 32);
  if (s.renormalizes)
    find_factors(factor, s, at, width);
  finish_tile<T>(l, params, tile_box(s, at, shape), &barrier);
  if (s.renormalizes)
    __syncthreads();
  uint8_t *out = cnv_tiles + max(l.sources.n, 1) * frame_bytes;
  const BlurLane lane_at = {cnv_tiles + g * pitch + apron + (warp_x - lead) * bytes + 4 * t * bytes,
                            out + g * out_pitch + (warp_x + 4 * t) * bytes, frame_bytes, factor + warp_x + 4 * t,
                            factor + width + g};
  if (l.sources.n == 0 && !s.clamps && !s.renormalizes && s.center == 0)
    blur_rows<T, K_X, K_Y, M, parts, true>(l, s, lane_at, at.y_end - at.y, band_x, band_y);
  else
    blur_rows<T, K_X, K_Y, M, parts, false>(l, s, lane_at, at.y_end - at.y, band_x, band_y);
  __syncthreads();
  store_tile<T, width>(params, at, out, out_pitch);
}

#else

template <typename T, int K_X, int K_Y, int M, bool SPLIT>
__device__ static void
blur(const CnvTileArgs &)
{
}

#endif
