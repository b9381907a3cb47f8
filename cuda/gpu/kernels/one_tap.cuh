/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * one_tap: each sample summed over the frames of a history, in float32. No neighbours are read, so there is no tile in
 * shared memory: a warp filters 512 bytes of a row, each thread 16 of them.
 */
#pragma once

#include "gpu/kernels/tile.cuh"

/* Returns the bits of two samples of 16 bits that carry their values. */
__device__ static uint32_t
mask_of(const CnvTileJob &s)
{
  return ((uint32_t)s.full_bits << s.shift) * 0x10001u;
}

/* Returns the weight of frame k, and its distance in bytes from the frame that is `in`. */
__device__ static float
frame_weight(const CnvTileArgs &l, const CnvTileJob &s, int k)
{
  return l.sources.n > 0 ? s.center * l.sources.weight[k] : s.center;
}

__device__ static int64_t
frame_delta(const CnvTileArgs &l, int k)
{
  return l.sources.n > 0 ? l.sources.delta[k] : 0;
}

/* Returns sample i of 16 bytes. */
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

/* Return a sum's value in levels, and its level, not yet clamped (nearest_level). */
__device__ static float
one_tap_value(float sum, const CnvTileJob &s)
{
  return fmaf(s.combine == CNV_COMBINE_ABSOLUTE ? fabsf(sum) : sum, s.gain, s.offset);
}

__device__ static int
one_tap_level(float sum, const CnvTileJob &s)
{
  return nearest_level(one_tap_value(sum, s));
}

/* Packs a word of levels. */
__device__ static uint32_t
pack_sums(const float *sum, const CnvTileJob &s, uint8_t)
{
  return pack_four(one_tap_level(sum[0], s), one_tap_level(sum[1], s), one_tap_level(sum[2], s),
                   one_tap_level(sum[3], s));
}

__device__ static uint32_t
pack_sums(const float *sum, const CnvTileJob &s, uint16_t)
{
  return (uint32_t)(min(max(one_tap_level(sum[0], s), 0), s.full_bits) << s.shift |
                    min(max(one_tap_level(sum[1], s), 0), s.full_bits) << (s.shift + 16));
}

/* Adds N frames from number `first` on, whose loads are in flight at once. */
template <typename T, int N, int SAMPLES>
__device__ static void
add_frames(float (&sum)[SAMPLES], const CnvTileArgs &l, const CnvTileJob &s, const char *in, int first)
{
  uint32_t word[N][4];
  float weight[N];

#pragma unroll
  for (int k = 0; k < N; k++) {
    *(uint4 *)word[k] = __ldg((const uint4 *)(in + frame_delta(l, first + k)));
    weight[k] = frame_weight(l, s, first + k);
  }
  const uint32_t mask = mask_of(s);
#pragma unroll
  for (int k = 0; k < N; k++)
#pragma unroll
    for (int i = 0; i < SAMPLES; i++)
      sum[i] = fmaf(unpack_sample(word[k], i, T(), mask), weight[k], sum[i]);
}

/* Returns the sums of 16 bytes of samples. */
template <typename T, int SAMPLES>
__device__ static void
sum_frames(float (&sum)[SAMPLES], const CnvTileArgs &l, const CnvTileJob &s, const char *in)
{
  const int n = max(l.sources.n, 1);
  int k = 0;

#pragma unroll
  for (int i = 0; i < SAMPLES; i++)
    sum[i] = s.bias[0];
#pragma unroll 1
  for (; k + 5 <= n; k += 5)
    add_frames<T, 5>(sum, l, s, in, k);
  if (k + 3 <= n) {
    add_frames<T, 3>(sum, l, s, in, k);
    k += 3;
  }
#pragma unroll 1
  for (; k < n; k++)
    add_frames<T, 1>(sum, l, s, in, k);
}

/* Returns the outputs of 16 bytes. */
template <typename T, int SAMPLES>
__device__ static uint4
pack_chunk(const float (&sum)[SAMPLES], const CnvTileJob &s)
{
  alignas(16) uint32_t out[4];

#pragma unroll
  for (int i = 0; i < 4; i++)
    out[i] = pack_sums(sum + i * SAMPLES / 4, s, T());
  return *(uint4 *)out;
}

/* Returns 16 bytes of outputs, blended with the input's samples by weights. */
template <typename T, int SAMPLES>
__device__ static uint4
blend_chunk(const float (&sum)[SAMPLES], const CnvTileJob &s, const uint4 &input, const uint4 &weights)
{
  constexpr int of_word = SAMPLES / 4;
  const uint32_t from[4] = {input.x, input.y, input.z, input.w};
  const uint32_t weight[4] = {weights.x, weights.y, weights.z, weights.w}, mask = mask_of(s);
  const float unit = sizeof(T) == 1 ? 1.0f : 1.0f / (float)(1 << s.shift);
  alignas(16) uint32_t out[4];

#pragma unroll
  for (int i = 0; i < 4; i++) {
    int level[of_word];

#pragma unroll
    for (int j = 0; j < of_word; j++)
      level[j] = blend_level(one_tap_value(sum[i * of_word + j], s), number_of<T>(from[i], j, mask),
                             number_of<T>(weight[i], j, 0xffffffffu), unit, (float)s.full_bits);
    if (sizeof(T) == 1)
      out[i] = pack_four(level[0], level[1], level[of_word - 2], level[of_word - 1]);
    else /* samples of weight 0 also keep their bits that carry no value */
      out[i] = (uint32_t)(level[0] | level[1] << 16) << s.shift | (from[i] & ~mask & __vcmpeq2(weight[i], 0));
  }
  return *(uint4 *)out;
}

/* Stores the outputs of 16 bytes of a job with coverage, from their sums. back: the input's samples there. */
template <typename T, int SAMPLES>
__device__ static void
store_blended(const float (&sum)[SAMPLES], const CnvTileArgs &l, const CnvTileJob &s, const T *back, T *out, int x,
              int y)
{
  int column = x;

  asm volatile("" : "+r"(column)); /* computed before the loop over rows, this would occupy registers there */
  const uint4 weights = load_weights<T>(weight_column<T>(l, s, column), y - s.job.y, s.channels);
  const uint4 kept = __ldg((const uint4 *)(back + x));
  const uint2 copied = {s.copied_bits[0], s.copied_bits[1]};

  *(uint4 *)(out + x) = merge_copied<T>(copied, kept, blend_chunk<T>(sum, s, kept, weights));
}

/* Returns the sum of one sample. */
template <typename T>
__device__ static float
sum_sample(const CnvTileArgs &l, const CnvTileJob &s, const T *in)
{
  float sum = s.bias[0];

  for (int k = 0; k < max(l.sources.n, 1); k++)
    sum = fmaf((float)(load_sample((const T *)((const char *)in + frame_delta(l, k))) & mask_of(s)),
               frame_weight(l, s, k), sum);
  return sum;
}

/* Returns the output of one sample. */
template <typename T>
__device__ static T
make_sample(const CnvTileArgs &l, const CnvTileJob &s, const T *in)
{
  return (T)(min(max(one_tap_level(sum_sample(l, s, in), s), 0), s.full_bits) << s.shift);
}

/* Returns an output, blended with the input's sample by a weight of up to 255. */
template <typename T>
__device__ static T
blend_sample(const CnvTileArgs &l, const CnvTileJob &s, const T *in, int weight)
{
  const float level = (float)(load_sample(in) >> s.shift & s.full_bits);

  if (weight == 0)
    return load_sample(in);
  return (T)(blend_level(one_tap_value(sum_sample(l, s, in), s), level, (float)weight, 1.0f, (float)s.full_bits)
             << s.shift);
}

template <typename T>
__device__ static void
make_one_tap(const CnvTileArgs &l, const CnvTileJob &s)
{
  constexpr int samples = 16 / sizeof(T);
  const TileOutput at = tile_output(s, 32 * samples);
  const int x = at.x + threadIdx.x % 32 * samples;
  TileParams params;

  locate<T>(params, l, s);
  const bool by_chunks = x >= s.job.x * s.channels && x + samples <= (s.job.x + s.job.width) * s.channels &&
                         params.chunk_stores && l.maps >> s.pointers & 1 && !s.job.shared;
  for (int y = at.y + threadIdx.x / 32; y < at.y_end; y += CNV_ONE_TAP_WARPS) {
    const T *in = (const T *)(params.in + (int64_t)y * params.in_stride);
    const T *back = (const T *)(params.back + (int64_t)y * params.in_stride);
    T *out = (T *)(params.out + (int64_t)y * params.out_stride);

    if (by_chunks) {
      float sum[samples];

      sum_frames<T>(sum, l, s, (const char *)(in + x));
      if (s.blends) {
        store_blended<T>(sum, l, s, back, out, x, y);
        continue;
      }
      const uint4 now = pack_chunk<T>(sum, s);
      const uint2 copied = {s.copied_bits[0], s.copied_bits[1]};
      *(uint4 *)(out + x) = s.copied ? merge_copied<T>(copied, __ldg((const uint4 *)(back + x)), now) : now;
    } else {
      int first = x;

      asm volatile("" : "+r"(first)); /* as in store_blended */
      const int x0 = max(first, s.job.x * s.channels), x1 = min(first + samples, (s.job.x + s.job.width) * s.channels);
#pragma unroll 1
      for (int i = x0; i < x1; i++) {
        const int weight =
            s.blends ? __ldcg(cnv_job_weights(&s.job, (const uint8_t *)l.coverage, pixel_of(i, s.channels), y)) : 255;

        if (weight == 0 && s.job.shared)
          continue;
        if (s.copied && !(s.filtered >> (i % s.channels) & 1))
          out[i] = load_sample(back + i);
        else
          out[i] = s.blends ? blend_sample(l, s, in + i, weight) : make_sample(l, s, in + i);
      }
    }
  }
}

__device__ static void
one_tap(const CnvTileArgs &l)
{
  const CnvTileJob &s = nth_job(l, find_tile_job(l));

  wait_for_launch_before();
  let_next_launch_begin();
  if (s.full_bits <= 255)
    make_one_tap<uint8_t>(l, s);
  else
    make_one_tap<uint16_t>(l, s);
}
