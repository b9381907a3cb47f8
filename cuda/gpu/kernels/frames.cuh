/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * frames: each sample by itself, summed up over the frames of a history, in float32. Nothing beside it is read, so a
 * tile has no apron.
 */
#pragma once

#include "gpu/kernels/tile.cuh"

/* Sample i of 16 bytes. mask: of words of two samples, the bits that are theirs. */
__device__ static float
unpack_sample(const uint32_t (&word)[4], int i, uint8_t, uint32_t)
{
  return __uint_as_float(__byte_perm(word[i / 4], __float_as_uint(INTEGERS), 0x7650 + i % 4)) - INTEGERS;
}

__device__ static float
unpack_sample(const uint32_t (&word)[4], int i, uint16_t, uint32_t mask)
{
  return __uint_as_float(__byte_perm(word[i / 2] & mask, __float_as_uint(INTEGERS), i % 2 ? 0x7632 : 0x7610)) -
         INTEGERS;
}

/* 16 bytes of levels. */
__device__ static void
pack_samples(uint32_t (&word)[4], const int (&level)[16], int, int)
{
#pragma unroll
  for (int i = 0; i < 4; i++)
    word[i] = pack_levels(level[4 * i], level[4 * i + 1], pack_levels(level[4 * i + 2], level[4 * i + 3], 0));
}

__device__ static void
pack_samples(uint32_t (&word)[4], const int (&level)[8], int full, int shift)
{
#pragma unroll
  for (int i = 0; i < 4; i++)
    word[i] =
        (uint32_t)(min(max(level[2 * i], 0), full) << shift | min(max(level[2 * i + 1], 0), full) << (shift + 16));
}

template <typename T>
__device__ static void
frames(const CnvTileArgs &l)
{
  constexpr int row_bytes = CNV_TILE_WIDTH * sizeof(T), samples = 16 / sizeof(T);
  constexpr TileShape shape = {CNV_TILE_WIDTH, 0, row_bytes, row_bytes};
  __shared__ TileParams params;
  __shared__ alignas(8) uint64_t barrier;

  begin_block<T>(l, shape, params, &barrier);
  const CnvTileJob &s = params.s;
  const int rows = params.tile.rows, n = max(l.sources.n, 1), bytes = rows * row_bytes;
  const uint32_t mask = ((uint32_t)s.full_bits << s.shift) * 0x10001u;
  const uint32_t magnitude = s.combine == CNV_COMBINE_ABSOLUTE ? 0x7fffffffu : ~0u;
  const float center = s.center, gain = s.gain, offset = s.offset, bias = s.bias[0];
  const int full = s.full_bits, shift = s.shift;

  finish_tile<T>(l, params, shape, &barrier);
#pragma unroll 1
  for (int at = 16 * threadIdx.x; at < bytes; at += 16 * blockDim.x) {
    float sum[samples];
    int level[samples];
    uint32_t word[4];

#pragma unroll
    for (int i = 0; i < samples; i++)
      sum[i] = bias;
#pragma unroll 1
    for (int k = 0; k < n; k++) {
      const float weight = l.sources.n > 0 ? center * l.sources.weight[k] : center;

      *(uint4 *)word = *(const uint4 *)(cnv_tiles + (k + 1) * bytes + at);
#pragma unroll
      for (int i = 0; i < samples; i++)
        sum[i] = fmaf(unpack_sample(word, i, T(), mask), weight, sum[i]);
    }
#pragma unroll
    for (int i = 0; i < samples; i++)
      level[i] =
          __float_as_int(fmaf(__uint_as_float(__float_as_uint(sum[i]) & magnitude), gain, offset) * __int_as_float(1));
    pack_samples(word, level, full, shift);
    *(uint4 *)(cnv_tiles + output_offset<row_bytes>(rows, at / row_bytes, at % row_bytes)) = *(const uint4 *)word;
  }
  store_outputs<T, CNV_TILE_WIDTH>(l, params, shape);
}
