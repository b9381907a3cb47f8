/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * blur of samples of 11 to 16 bits whose levels are plain (is_plain). A sample is split into two f16 numbers: its lower
 * 6 bits, and the bits above them. A tap is also split into two: a multiple of 2^-13 along x or 2^-14 along y, and the
 * rest. There are two sums:
 *
 *   main   upper bits times multiples: integers below 2^24 in units of the multiples, so float32 is exact
 *   rest   lower bits times multiples, plus upper bits times rests: so small that the errors of float32 do not matter
 *
 * The product of lower bits and rests is omitted. A row sum is main * CNV_DEEP_UNIT + rest, about 0. It is split into
 * two f16 numbers again: a multiple of CNV_DEEP_ROW_UNIT, and the rest. A single float32 sum would not be exact enough,
 * because tensor cores do not round: they truncate toward 0.
 */
#pragma once

#include "gpu/kernels/blur.cuh"

/* If this is added to a float32 number, the lower bits of the sum are the nearest integer. */
#define CNV_DEEP_ROUND 12582912.0f

/* The position of the value in the 16 bits of a job's samples. */
struct DeepBits {
  int low, high;      /* shifts to the lower 6 bits, and to those above */
  uint32_t high_mask; /* of two samples */
};

__device__ static DeepBits
deep_bits(const CnvTileJob &s)
{
  return {s.shift, s.shift + CNV_DEEP_BITS, ((uint32_t)s.full_bits >> CNV_DEEP_BITS) * 0x10001u};
}

/* Loads four samples as pairs of 1024 + x: their upper bits, and their lower bits. */
__device__ static void
load_deep(uint2 &high, uint2 &low, const uint8_t *at, const DeepBits &bits)
{
  constexpr uint32_t low_mask = (CNV_DEEP_UNIT - 1) * 0x10001u;
  const uint2 word = *(const uint2 *)at;

  high = make_uint2((word.x >> bits.high & bits.high_mask) | 0x64006400u,
                    (word.y >> bits.high & bits.high_mask) | 0x64006400u);
  low = make_uint2((word.x >> bits.low & low_mask) | 0x64006400u, (word.y >> bits.low & low_mask) | 0x64006400u);
}

/* Splits two row sums into f16 numbers: multiples of CNV_DEEP_ROW_UNIT, in that unit, and the rests. */
__device__ static void
pack_deep(uint32_t &main, uint32_t &rest, const float (&sum)[2])
{
  constexpr float unit = CNV_DEEP_ROW_UNIT;
  const float x = fmaf(sum[0], 1.0f / unit, CNV_DEEP_ROUND) - CNV_DEEP_ROUND;
  const float y = fmaf(sum[1], 1.0f / unit, CNV_DEEP_ROUND) - CNV_DEEP_ROUND;

  main = halves_of(x, y);
  rest = halves_of(fmaf(x, -unit, sum[0]), fmaf(y, -unit, sum[1]));
}

/* Packs half of the row sums of 16 samples, main and rest, in the order of pack_parts. */
__device__ static void
pack_deep_sums(uint4 (&sums)[2], int half, const float (&main)[4], const float (&rest)[4])
{
  float sum[4];

#pragma unroll
  for (int i = 0; i < 4; i++)
    sum[i] = fmaf(main[i], (float)CNV_DEEP_UNIT, rest[i]);
  const float low_rows[2] = {sum[0], sum[1]}, high_rows[2] = {sum[2], sum[3]};
  pack_deep(half ? sums[0].y : sums[0].x, half ? sums[1].y : sums[1].x, low_rows);
  pack_deep(half ? sums[0].w : sums[0].z, half ? sums[1].w : sums[1].z, high_rows);
}

/* Computes row sums of 16 rows by M times 16 samples, main and rest, in the order of pack_parts. from: byte of the
 * lane's first word in the tile. */
template <int K_X, int M, typename B>
__device__ static void
sum_deep_rows(uint4 (&sums)[M][2], int from, int pitch, const B &bands, const DeepBits &bits, const float4 &first_main,
              const float4 &first_rest)
{
#pragma unroll
  for (int half = 0; half < 2; half++) {
    const uint8_t *row = cnv_tiles + from + half * 8 * pitch;
    float main[M][4], rest[M][4];
    uint2 high[M], low[M];

#pragma unroll
    for (int m = 0; m < M - 1; m++)
      load_deep(high[m], low[m], row + 32 * m, bits);
#pragma unroll
    for (int k = 0; k < K_X; k++) {
      load_deep(high[M - 1], low[M - 1], row + 32 * (k + M - 1), bits);
#pragma unroll
      for (int m = 0; m < M; m++) {
        if (k == 0) {
          multiply_first(main[m], bands[0], high[m].x, high[m].y, first_main);
          multiply_first(rest[m], bands[0], low[m].x, low[m].y, first_rest);
        } else {
          multiply(main[m], bands[k], high[m].x, high[m].y);
          multiply(rest[m], bands[k], low[m].x, low[m].y);
        }
        multiply(rest[m], bands[K_X + k], high[m].x, high[m].y);
        if (m > 0) {
          high[m - (m > 0)] = high[m];
          low[m - (m > 0)] = low[m];
        }
      }
    }
#pragma unroll
    for (int m = 0; m < M; m++)
      pack_deep_sums(sums[m], half, main[m], rest[m]);
  }
}

/* Computes levels as sum_columns does, but relative to mid. */
template <int K_Y, int M, typename B>
__device__ static void
sum_deep_columns(float (&level)[2][4], const uint4 (&sums)[K_Y][M][2], int first, int m, const B &bands)
{
  const float4 zero = {};
  float main[2][4], rest[2][4];

#pragma unroll
  for (int k = 0; k < K_Y; k++) {
    const uint4 &high = sums[(first + k) % K_Y][m][0], &low = sums[(first + k) % K_Y][m][1];
    const uint4 band = bands[k], band_rest = bands[K_Y + k];

    if (k == 0) {
      multiply_first(main[0], band, high.x, high.y, zero);
      multiply_first(main[1], band, high.z, high.w, zero);
      multiply_first(rest[0], band, low.x, low.y, zero);
      multiply_first(rest[1], band, low.z, low.w, zero);
    } else {
      multiply(main[0], band, high.x, high.y);
      multiply(main[1], band, high.z, high.w);
      multiply(rest[0], band, low.x, low.y);
      multiply(rest[1], band, low.z, low.w);
    }
    multiply(rest[0], band_rest, high.x, high.y);
    multiply(rest[1], band_rest, high.z, high.w);
  }
#pragma unroll
  for (int i = 0; i < 8; i++)
    level[i / 4][i % 4] = fmaf(main[i / 4][i % 4], (float)CNV_DEEP_ROW_UNIT, rest[i / 4][i % 4]);
}

/* Blends two levels with the input by their weights. Levels are relative to mid. */
__device__ static void
blend_deep(float (&level)[2], uint32_t input, uint32_t weights, const CnvTileJob &s)
{
#pragma unroll
  for (int i = 0; i < 2; i++) {
    const float own = (float)(int)(input >> (16 * i + s.shift) & s.full_bits) - s.mid;

    level[i] = fmaf(level[i] - own, (float)(weights >> 16 * i & 0xffff) * (1.0f / 255.0f), own);
  }
}

/* Rounds two levels relative to mid to samples. round: CNV_DEEP_ROUND + mid. */
__device__ static uint32_t
deep_samples(float low, float high, float round, int shift)
{
  return __byte_perm(__float_as_uint(low + round), __float_as_uint(high + round), 0x5410) << shift;
}

/* Moves a warp down a tile as blur_rows does. from, to: bytes in shared memory of the lane's first sample and its first
 * result. BLEND: the place of the results has the weights, 16 bits each. */
template <bool BLEND, int K_X, int K_Y, int M, int WIDTH, typename BX, typename BY>
__device__ static void
blur_deep_rows(const TileParams &params, int from, int to, const BX &band_x, const BY &band_y)
{
  constexpr int lead = CNV_BLUR_LEAD(K_X), pitch = CNV_TILE_PITCH(32, WIDTH * 2, lead * 2);
  constexpr int box = CNV_TILE_OUT_BOX(WIDTH * 2);
  const CnvTileJob &s = params.s;
  const DeepBits bits = deep_bits(s);
  const float4 first_main = *(const float4 *)s.first_sum, first_rest = *(const float4 *)s.first_level;
  const float round = CNV_DEEP_ROUND + s.mid;
  int steps = (params.tile.at.y_end - params.tile.at.y + 15) / 16 + K_Y - 1;
  uint4 sums[K_Y][M][2];

  keep(from);
  keep(to);
  keep(steps);
#pragma unroll 1
  for (int turn = 0; turn < steps; turn += K_Y) {
#pragma unroll
    for (int u = 0; u < K_Y; u++) {
      const int step = turn + u, y = (step - K_Y + 1) * 16, rows = from + step * 16 * pitch;

      if (step >= steps)
        break;
      sum_deep_rows<K_X, M>(sums[u], rows, pitch, band_x, bits, first_main, first_rest);
      if (y < 0)
        continue;
#pragma unroll
      for (int m = 0; m < M; m++) {
        uint8_t *out = cnv_tiles + (to ^ 32 * m) + y * box;
        const uint8_t *center = cnv_tiles + rows + (CNV_BLUR_LEAD(K_Y) - 16 * (K_Y - 1)) * pitch + 2 * (16 * m + lead);
        float level[2][4];

        sum_deep_columns(level, sums, u + 1, m, band_y);
#pragma unroll
        for (int half = 0; half < 2; half++) {
          float low[2] = {level[0][2 * half], level[0][2 * half + 1]};
          float high[2] = {level[1][2 * half], level[1][2 * half + 1]};
          uint2 *word = (uint2 *)(out + 8 * half * box), weights = {}, input = {};

          if (BLEND) {
            weights = *word;
            input = *(const uint2 *)(center + 8 * half * pitch);
            blend_deep(low, input.x, weights.x, s);
            blend_deep(high, input.y, weights.y, s);
          }
          uint2 samples = {deep_samples(low[0], low[1], round, s.shift),
                           deep_samples(high[0], high[1], round, s.shift)};
          if (BLEND)
            keep_other_bits(samples, input, weights, {s.shift, (uint32_t)s.full_bits * 0x10001u});
          *word = samples;
        }
      }
    }
  }
}

/* Filters one frame. blur explains the template parameters. */
template <int K_X, int K_Y, int M, bool BLENDS>
__device__ static void
blur_deep(const CnvTileArgs &l)
{
  constexpr int width = 16 * CNV_TILE_WARPS * M, lead = CNV_BLUR_LEAD(K_X), apron = CNV_TILE_APRON(lead * 2);
  constexpr int pitch = CNV_TILE_PITCH(32, width * 2, lead * 2);
  constexpr bool keeps = K_X + K_Y <= 6;
  constexpr TileShape shape = {width + apron, apron / 2, pitch, width * 2};
  __shared__ TileParams params;
  __shared__ alignas(8) uint64_t barrier;

  begin_block<uint16_t, BLENDS>(l, shape, params, &barrier);
  const auto &tile = params.tile;
  const int lane = threadIdx.x % 32, g = lane / 4, t = lane % 4, x = threadIdx.x / 32 * 16 * M + 4 * t;
  const uint4 *words = (const uint4 *)((const uint32_t *)l.bands + tile.bands) + lane;
  Bands<2 * K_X, keeps> band_x;
  Bands<2 * K_Y, keeps> band_y;

  band_y.load(words);
  band_x.load(words + 2 * K_Y * 32);
  const CnvTileKind kind = load_tile_weights<uint16_t, width, BLENDS>(l, params);
  if (kind == CNV_TILE_KEPT)
    return keep_tile<uint16_t, width>(l, params, &barrier);
  finish_tile<uint16_t, BLENDS>(l, params, shape, &barrier);
  const int from = tile.rows * width * 2 + apron + 2 * (x - lead) + (g + tile.top - CNV_BLUR_LEAD(K_Y)) * pitch;
  const int to = output_offset<width * 2>(tile.rows, g, 2 * x);
  if (kind == CNV_TILE_FILTERED)
    blur_deep_rows<false, K_X, K_Y, M, width>(params, from, to, band_x, band_y);
  else
    blur_deep_rows<true, K_X, K_Y, M, width>(params, from, to, band_x, band_y);
  store_outputs<uint16_t, width, BLENDS>(l, params, shape);
}
