/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Coverage (plan/job.h) of 16 bytes of samples: a weight for each sample, as wide as the sample, so that weights fit in
 * the place of the samples' results.
 */
#pragma once

#include "gpu/kernels/tile_borders.cuh"

/* How the weights of 16 bytes of samples are loaded: as 16 bytes, as the 8 aligned bytes that contain them, or byte by
 * byte. */
enum WeightLoad { WEIGHTS_BY_16, WEIGHTS_BY_8, WEIGHTS_BY_1 };

/* Locates the weights of 16 bytes of samples, in every row of a job. */
struct WeightColumn {
  const uint8_t *at; /* address of a load in the job's first row; NULL: the job has none of these samples */
  int pitch;
  uint32_t select[4]; /* __byte_perm selectors: 8 loaded bytes to the weights of each word of samples */
};

/* Returns the column of the samples from x on. x must be a multiple of 16 bytes. */
template <typename T>
__device__ static WeightColumn
weight_column(const CnvTileArgs &l, const CnvTileJob &s, int x)
{
  constexpr int bytes = sizeof(T);
  const CnvJob &p = s.job;
  const int C = s.channels, pixel = pixel_of(x, C), skip = x - pixel * C;
  WeightColumn column = {};

  if (x + 16 / bytes <= p.x * C || x >= (p.x + p.width) * C)
    return column;
  column.at = cnv_job_weights(&p, (const uint8_t *)l.coverage, C == 3 ? pixel : pixel & ~7, p.y);
  column.pitch = p.coverage_pitch;
#pragma unroll
  for (int i = 0; i < 4; i++) {
    if (C == 3)
#pragma unroll
      for (int j = 0; j < 4; j++)
        column.select[i] |= (uint32_t)((skip + (4 * i + j) / bytes) / 3) << 4 * j;
    else
      column.select[i] =
          (C * bytes == 2 ? 0x1100u + 0x2222u * i : 0x1111u * (C * bytes == 4 ? i : i / 2)) + 0x1111u * (pixel & 7);
  }
  return column;
}

/* Returns the weights of a column in a row, counted from the job's first. */
template <typename T, WeightLoad BY>
__device__ static uint4
load_weights(const WeightColumn &column, int row)
{
  constexpr uint32_t mask = sizeof(T) == 1 ? 0xffffffffu : 0x00ff00ffu;
  const uint8_t *at = column.at + (int64_t)row * column.pitch;
  uint2 bytes = {};

  /* The previous kernel may have written the weights, so loads bypass the first-level cache. */
  if (BY == WEIGHTS_BY_16)
    return __ldcg((const uint4 *)at);
  if (BY == WEIGHTS_BY_8)
    bytes = __ldcg((const uint2 *)at);
  else
#pragma unroll
    for (int i = 0; i < (sizeof(T) == 1 ? 6 : 4); i++) /* up to that of the last sample */
      (i < 4 ? bytes.x : bytes.y) |= (uint32_t)__ldcg(at + min(i, (int)(column.select[3] >> 12))) << (8 * (i % 4));
  return make_uint4(
      __byte_perm(bytes.x, bytes.y, column.select[0]) & mask, __byte_perm(bytes.x, bytes.y, column.select[1]) & mask,
      __byte_perm(bytes.x, bytes.y, column.select[2]) & mask, __byte_perm(bytes.x, bytes.y, column.select[3]) & mask);
}

template <typename T>
__device__ static WeightLoad
weight_load(int channels)
{
  return channels == 3 ? WEIGHTS_BY_1 : channels * sizeof(T) == 1 ? WEIGHTS_BY_16 : WEIGHTS_BY_8;
}

/* Returns the weights of a column in a row, for any number of channels. */
template <typename T>
__device__ static uint4
load_weights(const WeightColumn &column, int row, int channels)
{
  const WeightLoad by = weight_load<T>(channels);

  if (sizeof(T) == 1 && by == WEIGHTS_BY_16)
    return load_weights<T, WEIGHTS_BY_16>(column, row);
  return by == WEIGHTS_BY_8 ? load_weights<T, WEIGHTS_BY_8>(column, row) : load_weights<T, WEIGHTS_BY_1>(column, row);
}

/* Returns sample i of 16 bytes, or its weight. */
template <typename T>
__device__ static uint32_t
sample_of_chunk(const uint4 &chunk, int i)
{
  const uint32_t word[4] = {chunk.x, chunk.y, chunk.z, chunk.w};

  return sizeof(T) == 1 ? word[i / 4] >> (8 * (i % 4)) & 0xff : word[i / 2 % 4] >> (16 * (i % 2)) & 0xffff;
}

/* Two samples, or their weights. */
template <typename T> struct Pair;
template <> struct Pair<uint8_t> {
  typedef uint16_t type;
};
template <> struct Pair<uint16_t> {
  typedef uint32_t type;
};

/* Returns two samples of the input at an even place, clipped to the job. */
template <typename T>
__device__ static typename Pair<T>::type
input_pair(const TileParams &params, int x, int y)
{
  typedef typename Pair<T>::type P;
  const CnvTileJob &s = params.s;
  const int x0 = s.job.x * s.channels, x1 = (s.job.x + s.job.width) * s.channels;
  const T *row = (const T *)(params.in + (int64_t)min(y, s.job.y + s.job.height - 1) * params.in_stride);

  if (params.chunk_stores && x >= x0 && x + 2 <= x1)
    return __ldg((const P *)(row + x));
  return (P)(load_sample(row + min(max(x, x0), x1 - 1)) | load_sample(row + min(max(x + 1, x0), x1 - 1))
                                                              << (8 * sizeof(T)));
}

/* Returns the stored number of sample i of a word, or of its weight. mask: the bits of two samples of 16 bits. */
template <typename T>
__device__ static float
number_of(uint32_t word, int i, uint32_t mask)
{
  const uint32_t integers = __float_as_uint(INTEGERS);

  return __uint_as_float(sizeof(T) == 1 ? __byte_perm(word, integers, 0x7440 + i)
                                        : __byte_perm(word & mask, integers, i % 2 ? 0x7432 : 0x7410)) -
         INTEGERS;
}

/* Clamps a value and blends it with the input's level. unit: of the input's sample. */
__device__ static int
blend_level(float value, float input, float weight, float unit, float full)
{
  const float level = input * unit, clamped = fminf(fmaxf(value, 0.0f), full);

  return nearest_level(fmaf(clamped - level, weight * (1.0f / 255.0f), level));
}

/* Returns true if a word of weights has a weight of 0. */
template <typename T>
__device__ static bool
has_zero(uint32_t weights)
{
  return (sizeof(T) == 1 ? __vcmpeq4(weights, 0) : __vcmpeq2(weights, 0)) != 0;
}

template <typename T>
__device__ static bool
chunk_has_zero(const uint4 &weights)
{
  return has_zero<T>(weights.x) || has_zero<T>(weights.y) || has_zero<T>(weights.z) || has_zero<T>(weights.w);
}

/* Returns 16 bytes of results, in which copied channels have the input's samples (CnvTileJob.copied_bits). */
template <typename T>
__device__ static uint4
merge_copied(const uint2 &copied, const uint4 &before, const uint4 &now)
{
  const uint32_t second = sizeof(T) == 1 ? copied.x : copied.y;

  return make_uint4(merge(before.x, now.x, copied.x), merge(before.y, now.y, second), merge(before.z, now.z, copied.x),
                    merge(before.w, now.w, second));
}

/* Stores 16 bytes of results, without samples of weight 0, which another job may write. */
template <typename T>
__device__ static void
store_weighed(const TileParams &params, const uint4 &now, const uint4 &weights, int x, int y)
{
  const CnvTileJob &s = params.s;
  T *to = (T *)(params.out + (int64_t)y * params.out_stride) + x;
  const T *back = (const T *)(params.back + (int64_t)y * params.in_stride) + x;

  if (params.chunk_stores && !chunk_has_zero<T>(weights)) {
    *(uint4 *)to = s.copied ? merge_copied<T>(*(const uint2 *)s.copied_bits, __ldg((const uint4 *)back), now) : now;
    return;
  }
#pragma unroll
  for (int i = 0; i < 16 / (int)sizeof(T); i++)
    if (sample_of_chunk<T>(weights, i))
      to[i] = s.copied && (s.copied_bits[i % 4 * (int)sizeof(T) / 4] >> (i * 8 * (int)sizeof(T) % 32) & 1)
                  ? load_sample(back + i)
                  : (T)sample_of_chunk<T>(now, i);
}
