/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Loads samples of a tile as pairs of f16, the operands of blur: of one frame, or sums over time.
 */
#pragma once

#include <cuda_fp16.h>

#include "gpu/kernels/tile.cuh"

__device__ static uint32_t
halves_of(float low, float high)
{
  const __half2 pair = __floats2half2_rn(low, high);

  return *(const uint32_t *)&pair;
}

/* Returns the rests of two numbers after rounding to f16. pair: the rounded numbers. */
__device__ static uint32_t
rest_of(uint32_t pair, float low, float high)
{
  const float2 taken = __half22float2(*(const __half2 *)&pair);

  return halves_of(low - taken.x, high - taken.y);
}

/* The position of the level in a sample of 16 bits: the shift, and a mask for two levels. */
struct SampleBits {
  int shift;
  uint32_t mask;
};

/* Returns four samples as two pairs of 1024 + x. */
__device__ static uint2
samples_of_word(uint32_t word, const SampleBits &)
{
  return make_uint2(__byte_perm(word, 0x64646464u, 0x4140), __byte_perm(word, 0x64646464u, 0x4342));
}

__device__ static uint2
samples_of_word(uint2 word, const SampleBits &bits)
{
  return make_uint2((word.x >> bits.shift & bits.mask) | 0x64006400u, (word.y >> bits.shift & bits.mask) | 0x64006400u);
}

/* Returns four weights as two pairs of 1024 + x. */
__device__ static uint2
pairs_of_weights(uint32_t word)
{
  return samples_of_word(word, {});
}

__device__ static uint2
pairs_of_weights(uint2 word)
{
  return make_uint2(word.x | 0x64006400u, word.y | 0x64006400u);
}

/* Copies the input's bits that have no level into samples of weight 0, so that these equal the input. */
__device__ static void
keep_other_bits(uint32_t &, uint32_t, uint32_t, const SampleBits &)
{
}

__device__ static void
keep_other_bits(uint2 &word, uint2 input, uint2 weights, const SampleBits &bits)
{
  const uint32_t other = ~(bits.mask << bits.shift);

  word.x |= input.x & other & __vcmpeq2(weights.x, 0);
  word.y |= input.y & other & __vcmpeq2(weights.y, 0);
}

/* Loads samples of one frame: a word becomes two pairs of 1024 + x. */
template <typename T> struct Samples {
  static constexpr int parts = 1;
  static constexpr bool over_time = false;
  SampleBits bits;

  __device__ int row(int from) const
  {
    return from;
  }

  __device__ void load(uint2 (&sample)[1], const uint8_t *at) const
  {
    sample[0] = samples_of_word(*(const typename Word<T>::type *)at, bits);
  }
};

/* Loads sums over time (sum_frames), which are relative to mid. For samples of 16 bits, a second part has the rests
 * after rounding to f16. */
template <typename T> struct SamplesOverTime {
  static constexpr int parts = sizeof(T);
  static constexpr bool over_time = true;
  int frame_bytes, first, last; /* first, last: the lane's first byte in the tile's first row and in its last */

  /* Rows beyond the tile have taps of 0. They are not read, because their bytes may be NaN. */
  __device__ int row(int from) const
  {
    return min(max(from, first), last);
  }

  __device__ void load(uint2 (&sample)[parts], const uint8_t *at) const
  {
    if (parts == 1) {
      sample[0] = make_uint2(*(const uint32_t *)at, *(const uint32_t *)(at + frame_bytes));
    } else {
      sample[0] = *(const uint2 *)at;
      sample[parts - 1] = *(const uint2 *)(at + frame_bytes);
    }
  }
};

/* Adds 16 bytes of samples of two frames to their sums. weights: two integers of 16 bits, one per frame. */
__device__ static void
add_frames(uint32_t (&sum)[16], const uint4 &first, const uint4 &second, uint32_t weights, const SampleBits &)
{
  const uint32_t a[4] = {first.x, first.y, first.z, first.w}, b[4] = {second.x, second.y, second.z, second.w};

#pragma unroll
  for (int i = 0; i < 8; i++) {
    const uint32_t bytes = __byte_perm(a[i / 2], b[i / 2], i % 2 ? 0x7362 : 0x5140);

    sum[2 * i] = __dp2a_lo(weights, bytes, sum[2 * i]);
    sum[2 * i + 1] = __dp2a_hi(weights, bytes, sum[2 * i + 1]);
  }
}

__device__ static void
add_frames(uint32_t (&sum)[8], const uint4 &first, const uint4 &second, uint32_t weights, const SampleBits &bits)
{
  const uint32_t a[4] = {first.x, first.y, first.z, first.w}, b[4] = {second.x, second.y, second.z, second.w};
  const uint32_t bytes = __byte_perm(weights, 0, 0x3120); /* the lower bytes of both weights, then the upper ones */

#pragma unroll
  for (int i = 0; i < 8; i++) {
    const uint32_t pair =
        __byte_perm(a[i / 2] >> bits.shift & bits.mask, b[i / 2] >> bits.shift & bits.mask, i % 2 ? 0x7632 : 0x5410);

    sum[i] = __dp2a_lo(pair, bytes, sum[i]) + 256 * __dp2a_hi(pair, bytes, 0u);
  }
}

/* Returns the words that replace word i of 16 bytes in the tiles of the first frame (x) and of the second frame (y). 8
 * bits: the two pairs of four sums; 16 bits: a pair of sums, and their rests after rounding. */
__device__ static uint2
pack_over_time(const float *sum, uint8_t, int i)
{
  return make_uint2(halves_of(sum[4 * i], sum[4 * i + 1]), halves_of(sum[4 * i + 2], sum[4 * i + 3]));
}

__device__ static uint2
pack_over_time(const float *sum, uint16_t, int i)
{
  const uint32_t main = halves_of(sum[2 * i], sum[2 * i + 1]);

  return make_uint2(main, rest_of(main, sum[2 * i], sum[2 * i + 1]));
}

/* Replaces the first two frames of a tile by the weighted sums of all frames' samples, relative to mid
 * (SamplesOverTime). Called by all threads, each for bytes of its own; all see the sums afterwards. */
template <typename T>
__device__ static void
sum_frames(const CnvTileArgs &l, const CnvTileJob &s, uint8_t *tile, int frame_bytes)
{
  constexpr int n_samples = 16 / sizeof(T);
  const SampleBits bits = {s.shift, (uint32_t)s.full_bits * 0x10001u};
  const uint32_t first = 0u - (uint32_t)s.mid * l.sources.integer_sum;
  const float unit = l.sources.unit;
  const int n = l.sources.n;

#pragma unroll 1
  for (int i = 16 * threadIdx.x; i < frame_bytes; i += 16 * blockDim.x) {
    const uint8_t *at = tile + i;
    uint32_t sum[n_samples];
    float value[n_samples];
    uint2 pair[4];

#pragma unroll
    for (int k = 0; k < n_samples; k++)
      sum[k] = first;
#pragma unroll 1
    for (int f = 0; f < n; f += 2, at += 2 * frame_bytes)
      add_frames(sum, *(const uint4 *)at, *(const uint4 *)(f + 1 < n ? at + frame_bytes : at), l.sources.integer[f / 2],
                 bits);
#pragma unroll
    for (int k = 0; k < n_samples; k++)
      value[k] = (float)(int)sum[k] * unit;
#pragma unroll
    for (int k = 0; k < 4; k++)
      pair[k] = pack_over_time(value, T(), k);
    *(uint4 *)(tile + i) = make_uint4(pair[0].x, pair[1].x, pair[2].x, pair[3].x);
    *(uint4 *)(tile + frame_bytes + i) = make_uint4(pair[0].y, pair[1].y, pair[2].y, pair[3].y);
  }
  __syncthreads();
}
