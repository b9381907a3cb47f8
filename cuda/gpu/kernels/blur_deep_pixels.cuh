/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * blur_deep of pixels of four channels, one of which is copied from the input, as blur_pixels does it: a lane loads
 * four pixels of a row, and separates the other three channels. Results are joined to pixels before they are stored.
 */
#pragma once

#include "gpu/kernels/blur_deep.cuh"
#include "gpu/kernels/blur_pixels.cuh"

/* How __byte_perm takes two pixels, of two words each, apart and together. The channels that are filtered are counted
 * from 0 on: the first is in a pixel's first word, the last in its second. */
struct DeepPixels {
  uint32_t pair[CNV_PIXEL_LEVELS]; /* selectors of a channel of two pixels, from the words that have it */
  bool middle_is_first;            /* channel 1 is in the first word */
  uint32_t first[2], second[2];    /* selectors of the words of each of the two pixels (join_deep) */
};

__device__ static DeepPixels
deep_pixels(const uint32_t *copied_bits)
{
  constexpr uint32_t low = 0x5410, high = 0x7632;
  const int copied = copied_bits[0] ? copied_bits[0] >> 16 != 0 : 2 + (copied_bits[1] >> 16 != 0);
  DeepPixels p = {{copied == 0 ? high : low, copied <= 1 ? low : high, copied == 3 ? low : high}, copied >= 2};

#pragma unroll
  for (int i = 0; i < 2; i++) {
    p.first[i] = copied == 0 ? (i ? 0x3254 : 0x1054) : copied == 1 ? (i ? 0x7632 : 0x7610) : i ? high : low;
    p.second[i] = copied == 3 ? (i ? 0x7632 : 0x7610) : copied == 2 ? (i ? 0x3254 : 0x1054) : i ? 0x3276 : 0x1054;
  }
  return p;
}

/* Returns channel c of two pixels. */
__device__ static uint32_t
pair_of(const uint4 &pixels, int c, const DeepPixels &p)
{
  const bool first = c == 0 || (c == 1 && p.middle_is_first);

  return __byte_perm(first ? pixels.x : pixels.y, first ? pixels.z : pixels.w, p.pair[c]);
}

/* Returns two pixels. pair: their three filtered channels; input: pixels that have the copied channel. */
__device__ static uint4
join_deep(uint32_t pair0, uint32_t pair1, uint32_t pair2, const uint4 &input, const DeepPixels &p)
{
  const bool first = p.middle_is_first;

  return make_uint4(__byte_perm(pair0, first ? pair1 : input.x, p.first[0]),
                    __byte_perm(pair2, first ? input.y : pair1, p.second[0]),
                    __byte_perm(pair0, first ? pair1 : input.z, p.first[1]),
                    __byte_perm(pair2, first ? input.w : pair1, p.second[1]));
}

/* Computes row sums of 16 rows by 16 pixels for each channel, as sum_deep_rows does. from: the lane's first pixel. */
template <int K_X>
__device__ static void
sum_deep_pixels(uint4 (&sums)[CNV_PIXEL_LEVELS][2], const uint8_t *from, int pitch, const Bands<2 * K_X, true> &bands,
                const DeepPixels &pixels, const DeepBits &bits, const float4 &first_main, const float4 &first_rest)
{
  constexpr uint32_t low_mask = (CNV_DEEP_UNIT - 1) * 0x10001u, ones = 0x64006400u;

#pragma unroll
  for (int half = 0; half < 2; half++) {
    float main[CNV_PIXEL_LEVELS][4], rest[CNV_PIXEL_LEVELS][4];

#pragma unroll
    for (int k = 0; k < K_X; k++) {
      const uint4 *at = (const uint4 *)(from + half * 8 * pitch + 128 * k);
      const uint4 pixel[2] = {at[0], at[1]};

#pragma unroll
      for (int c = 0; c < CNV_PIXEL_LEVELS; c++) {
        const uint32_t a = pair_of(pixel[0], c, pixels), b = pair_of(pixel[1], c, pixels);
        const uint2 high = {(a >> bits.high & bits.high_mask) | ones, (b >> bits.high & bits.high_mask) | ones};
        const uint2 low = {(a >> bits.low & low_mask) | ones, (b >> bits.low & low_mask) | ones};

        if (k == 0) {
          multiply_first(main[c], bands[0], high.x, high.y, first_main);
          multiply_first(rest[c], bands[0], low.x, low.y, first_rest);
        } else {
          multiply(main[c], bands[k], high.x, high.y);
          multiply(rest[c], bands[k], low.x, low.y);
        }
        multiply(rest[c], bands[K_X + k], high.x, high.y);
      }
    }
#pragma unroll
    for (int c = 0; c < CNV_PIXEL_LEVELS; c++)
      pack_deep_sums(sums[c], half, main[c], rest[c]);
  }
}

/* Moves a warp, which computes 16 pixels side by side, down a tile as blur_rows does. row, byte: the place of the
 * lane's first pixels among the outputs. */
template <bool BLEND, int K_X, int K_Y>
__device__ static void
blur_deep_pixel_rows(const TileParams &params, int row, int byte, const Bands<2 * K_X, true> &band_x,
                     const Bands<2 * K_Y, true> &band_y)
{
  constexpr int lead = 8 * CNV_BLUR_LEAD(K_X), width = 2 * CNV_PIXEL_WIDTH, pitch = CNV_TILE_PITCH(16, width, lead);
  const CnvTileJob &s = params.s;
  const auto &tile = params.tile;
  const uint8_t *first = cnv_tiles + tile.rows * width + (row + tile.top) * pitch + byte;
  const uint8_t *from = first - CNV_BLUR_LEAD(K_Y) * pitch, *center = first + lead;
  uint8_t *out = cnv_tiles + output_offset<width>(tile.rows, row, byte);
  /* 16 bytes further on, after the permutation of chunks */
  const int next = output_offset<width>(tile.rows, row, byte + 16) - output_offset<width>(tile.rows, row, byte);
  const DeepPixels pixels = deep_pixels(s.copied_bits);
  const DeepBits bits = deep_bits(s);
  const float4 first_main = *(const float4 *)s.first_sum, first_rest = *(const float4 *)s.first_level;
  const float round = CNV_DEEP_ROUND + s.mid;
  const int steps = (tile.at.y_end - tile.at.y + 15) / 16 + K_Y - 1;
  uint4 sums[K_Y][CNV_PIXEL_LEVELS][2];

#pragma unroll 1
  for (int turn = 0; turn < steps; turn += K_Y) {
#pragma unroll
    for (int u = 0; u < K_Y; u++) {
      const int step = turn + u, y = (step - K_Y + 1) * 16;
      uint2 pair[2][CNV_PIXEL_LEVELS];

      if (step >= steps)
        break;
      sum_deep_pixels<K_X>(sums[u], from + step * 16 * pitch, pitch, band_x, pixels, bits, first_main, first_rest);
      if (y < 0)
        continue;
#pragma unroll
      for (int c = 0; c < CNV_PIXEL_LEVELS; c++) {
        float level[2][4];

        sum_deep_columns(level, sums, u + 1, c, band_y);
#pragma unroll
        for (int half = 0; half < 2; half++) {
          const uint4 *input = (const uint4 *)(center + (y + 8 * half) * pitch);
          const uint8_t *at = out + (y + 8 * half) * 128;
          float low[2] = {level[0][2 * half], level[0][2 * half + 1]};
          float high[2] = {level[1][2 * half], level[1][2 * half + 1]};
          uint2 weights = {}, own = {};

          if (BLEND) {
            weights = {pair_of(*(const uint4 *)at, c, pixels), pair_of(*(const uint4 *)(at + next), c, pixels)};
            own = {pair_of(input[0], c, pixels), pair_of(input[1], c, pixels)};
            blend_deep(low, own.x, weights.x, s);
            blend_deep(high, own.y, weights.y, s);
          }
          pair[half][c] = {deep_samples(low[0], low[1], round, s.shift),
                           deep_samples(high[0], high[1], round, s.shift)};
          if (BLEND)
            keep_other_bits(pair[half][c], own, weights, {s.shift, (uint32_t)s.full_bits * 0x10001u});
        }
      }
#pragma unroll
      for (int half = 0; half < 2; half++) {
        const uint4 *input = (const uint4 *)(center + (y + 8 * half) * pitch);
        uint8_t *at = out + (y + 8 * half) * 128;

        *(uint4 *)at = join_deep(pair[half][0].x, pair[half][1].x, pair[half][2].x, input[0], pixels);
        *(uint4 *)(at + next) = join_deep(pair[half][0].y, pair[half][1].y, pair[half][2].y, input[1], pixels);
      }
    }
  }
}

template <int K_X, int K_Y>
__device__ static void
blur_deep_pixels(const CnvTileArgs &l)
{
  constexpr int lead = 4 * CNV_BLUR_LEAD(K_X), width = CNV_PIXEL_WIDTH, pitch = CNV_TILE_PITCH(16, 2 * width, 2 * lead);
  constexpr TileShape shape = {width + 2 * lead, lead, pitch, 2 * width};
  __shared__ TileParams params;
  __shared__ alignas(8) uint64_t barrier;

  begin_block<uint16_t, true>(l, shape, params, &barrier);
  const auto &tile = params.tile;
  const int lane = threadIdx.x % 32, byte = threadIdx.x / 32 * 128 + lane % 4 * 32;
  const uint4 *words = (const uint4 *)((const uint32_t *)l.bands + tile.bands) + lane;
  Bands<2 * K_X, true> band_x;
  Bands<2 * K_Y, true> band_y;

  band_y.load(words);
  band_x.load(words + 2 * K_Y * 32);
  const CnvTileKind kind = load_tile_weights<uint16_t, width, true>(l, params);
  if (kind == CNV_TILE_KEPT)
    return keep_tile<uint16_t, width>(l, params, &barrier);
  finish_tile<uint16_t, true, width + 2 * lead, true>(l, params, shape, &barrier);
  if (kind == CNV_TILE_FILTERED)
    blur_deep_pixel_rows<false, K_X, K_Y>(params, lane / 4, byte, band_x, band_y);
  else
    blur_deep_pixel_rows<true, K_X, K_Y>(params, lane / 4, byte, band_x, band_y);
  store_outputs<uint16_t, width, true, false>(l, params, shape);
}
