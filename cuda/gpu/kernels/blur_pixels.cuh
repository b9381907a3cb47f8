/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * blur of words of four channels, one of which is copied from the input. A lane loads four pixels of a row, and
 * separates the other three channels into fragments of their own. So a band of taps has no gaps, which it would have
 * between interleaved channels. Results are joined to words before they are stored. Levels are plain (is_plain).
 *
 * Row g of a fragment's eight rows is row pixel_row(g) of the tile. So eight lanes, which read or write 16 bytes each
 * at once, use different banks.
 */
#pragma once

#include "gpu/kernels/blur.cuh"

#define CNV_PIXEL_LEVELS 3 /* channels that are filtered */

/* Selectors of __byte_perm for words in which one byte is copied. */
struct PixelBytes {
  uint32_t ones;                   /* replaces the copied byte by 0x64, the upper byte of the f16 number 1024 */
  uint32_t pair[CNV_PIXEL_LEVELS]; /* a channel of two pixels as 1024 + x; the second pixel has the byte 0x64 */
  uint32_t word;                   /* three levels, and the copied byte of a second word */
};

__device__ static PixelBytes
pixel_bytes(uint32_t copied_bits)
{
  const int copied = __ffs(copied_bits) / 8, at = 4 * copied;
  const uint32_t below = (1u << at) - 1, other = 4 + copied;
  PixelBytes bytes = {(0x3210u & ~(15u << at)) | 4u << at, {}, (0x210u & below) | other << at | (0x210u & ~below) << 4};

#pragma unroll
  for (int i = 0; i < CNV_PIXEL_LEVELS; i++)
    bytes.pair[i] = (i + (i >= copied)) * 0x101u + 0x400u + other * 0x1010u;
  return bytes;
}

__device__ static int
pixel_row(int row)
{
  return row / 2 + row % 2 * 4;
}

/* Computes row sums of 16 rows by 16 pixels for each channel, packed as by pack_parts. from: the lane's first pixel. */
template <int K_X>
__device__ static void
sum_pixels(uint4 (&sums)[CNV_PIXEL_LEVELS][1], const uint8_t *from, int pitch, const Bands<K_X, true> &bands,
           const PixelBytes &bytes, const float4 &first)
{
  float sum[CNV_PIXEL_LEVELS][2][4];

#pragma unroll
  for (int half = 0; half < 2; half++)
#pragma unroll
    for (int k = 0; k < K_X; k++) {
      const uint4 pixels = *(const uint4 *)(from + half * 8 * pitch + 64 * k);
      const uint32_t second = __byte_perm(pixels.y, 0x64646464u, bytes.ones);
      const uint32_t fourth = __byte_perm(pixels.w, 0x64646464u, bytes.ones);

#pragma unroll
      for (int c = 0; c < CNV_PIXEL_LEVELS; c++) {
        const uint32_t low = __byte_perm(pixels.x, second, bytes.pair[c]);
        const uint32_t high = __byte_perm(pixels.z, fourth, bytes.pair[c]);

        if (k == 0)
          multiply_first(sum[c][half], bands[0], low, high, first);
        else
          multiply(sum[c][half], bands[k], low, high);
      }
    }
#pragma unroll
  for (int c = 0; c < CNV_PIXEL_LEVELS; c++)
    pack_parts(sums[c], sum[c][0], sum[c][1]);
}

/* Returns a lane's four pixels. level: two pairs of 1024 + level for each channel; input: the pixels that have the
 * copied channel. */
__device__ static uint4
join_channels(const uint2 (&level)[CNV_PIXEL_LEVELS], const uint4 &input, const PixelBytes &bytes)
{
  const uint32_t low = __byte_perm(level[0].x, level[1].x, 0x6240), high = __byte_perm(level[0].y, level[1].y, 0x6240);

  return make_uint4(__byte_perm(__byte_perm(low, level[2].x, 0x7410), input.x, bytes.word),
                    __byte_perm(__byte_perm(low, level[2].x, 0x7632), input.y, bytes.word),
                    __byte_perm(__byte_perm(high, level[2].y, 0x7410), input.z, bytes.word),
                    __byte_perm(__byte_perm(high, level[2].y, 0x7632), input.w, bytes.word));
}

/* Blends the levels of one channel of four pixels with the input. All bytes of a pixel's word are its weight. */
__device__ static void
blend_channel(float (&low)[2], float (&high)[2], int channel, const uint4 &input, const uint4 &weights,
              const PixelBytes &bytes)
{
  const uint32_t second = __byte_perm(input.y, 0x64646464u, bytes.ones);
  const uint32_t fourth = __byte_perm(input.w, 0x64646464u, bytes.ones);

  blend_pair(low, __byte_perm(input.x, second, bytes.pair[channel]),
             (__byte_perm(weights.x, weights.y, 0x4400) & 0x00ff00ffu) | 0x64006400u);
  blend_pair(high, __byte_perm(input.z, fourth, bytes.pair[channel]),
             (__byte_perm(weights.z, weights.w, 0x4400) & 0x00ff00ffu) | 0x64006400u);
}

/* Moves a warp, which computes 16 pixels side by side, down a tile as blur_rows does. row, byte: the place of the
 * lane's first pixels among the outputs. */
template <bool BLEND, int K_X, int K_Y>
__device__ static void
blur_pixel_rows(const TileParams &params, int row, int byte, const Bands<K_X, true> &band_x,
                const Bands<K_Y, true> &band_y)
{
  constexpr int lead = 4 * CNV_BLUR_LEAD(K_X), width = CNV_PIXEL_WIDTH, pitch = CNV_TILE_PITCH(16, width, lead);
  const CnvTileJob &s = params.s;
  const auto &tile = params.tile;
  const uint8_t *first = cnv_tiles + tile.rows * width + (row + tile.top) * pitch + byte;
  const uint8_t *from = first - CNV_BLUR_LEAD(K_Y) * pitch, *center = first + lead;
  uint8_t *out = cnv_tiles + output_offset<width>(tile.rows, row, byte);
  const PixelBytes bytes = pixel_bytes(s.copied_bits[0]);
  const float4 first_sum = *(const float4 *)s.first_sum, first_level = *(const float4 *)s.first_level;
  const int steps = (tile.at.y_end - tile.at.y + 15) / 16 + K_Y - 1;
  uint4 sums[K_Y][CNV_PIXEL_LEVELS][1];

#pragma unroll 1
  for (int turn = 0; turn < steps; turn += K_Y) {
#pragma unroll
    for (int u = 0; u < K_Y; u++) {
      const int step = turn + u, y = (step - K_Y + 1) * 16;
      uint2 level[2][CNV_PIXEL_LEVELS];

      if (step >= steps)
        break;
      sum_pixels(sums[u], from + step * 16 * pitch, pitch, band_x, bytes, first_sum);
      if (y < 0)
        continue;
#pragma unroll
      for (int c = 0; c < CNV_PIXEL_LEVELS; c++) {
        float sum[2][4];

        sum_columns(sum, sums, u + 1, c, band_y, first_level);
#pragma unroll
        for (int half = 0; half < 2; half++) {
          const int at = y + 8 * half;
          float low[2] = {sum[0][2 * half], sum[0][2 * half + 1]}, high[2] = {sum[1][2 * half], sum[1][2 * half + 1]};

          if (BLEND)
            blend_channel(low, high, c, *(const uint4 *)(center + at * pitch), *(const uint4 *)(out + at * 128), bytes);
          level[half][c] = make_uint2(halves_of(low[0], low[1]), halves_of(high[0], high[1]));
        }
      }
#pragma unroll
      for (int half = 0; half < 2; half++) {
        const int at = y + 8 * half;

        *(uint4 *)(out + at * 128) = join_channels(level[half], *(const uint4 *)(center + at * pitch), bytes);
      }
    }
  }
}

template <int K_X, int K_Y, bool BLENDS>
__device__ static void
blur_pixels(const CnvTileArgs &l)
{
  constexpr int lead = 4 * CNV_BLUR_LEAD(K_X), width = CNV_PIXEL_WIDTH, pitch = CNV_TILE_PITCH(16, width, lead);
  constexpr TileShape shape = {width + 2 * lead, lead, pitch, width};
  TileParams &params = block_params();
  uint64_t &barrier = block_barrier();

  begin_block<uint8_t, BLENDS>(l, shape, params, &barrier);
  const auto &tile = params.tile;
  const int lane = threadIdx.x % 32, row = pixel_row(lane / 4), byte = threadIdx.x / 32 * 64 + lane % 4 * 16;
  const uint4 *words = (const uint4 *)((const uint32_t *)l.bands + tile.bands) + lane;
  Bands<K_X, true> band_x;
  Bands<K_Y, true> band_y;

  band_y.load(words);
  band_x.load(words + K_Y * 32);
  const CnvTileKind kind = load_tile_weights<uint8_t, width, BLENDS>(l, params);
  if (kind == CNV_TILE_KEPT)
    return keep_tile<uint8_t, width>(l, params, &barrier);
  finish_tile<uint8_t, BLENDS, width + 2 * lead, true>(l, params, shape, &barrier);
  if (kind == CNV_TILE_FILTERED)
    blur_pixel_rows<false>(params, row, byte, band_x, band_y);
  else
    blur_pixel_rows<true>(params, row, byte, band_x, band_y);
  store_outputs<uint8_t, width, BLENDS, false>(l, params, shape);
}
