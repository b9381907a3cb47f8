/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * one_tap: each sample by itself, summed up over the frames of a history, in float32. Nothing beside it is read, so
 * there is no tile in shared memory: a warp makes 512 bytes of a row, each thread 16 of them.
 */
#pragma once

#include "gpu/kernels/tile.cuh"

/* Bits of two samples of 16 bits that are theirs. */
__device__ static uint32_t
mask_of(const CnvTileJob &s)
{
  return ((uint32_t)s.full_bits << s.shift) * 0x10001u;
}

/* The weight of frame k, and bytes from the frame that is `in` to it. */
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

/* Sample i of 16 bytes. */
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

/* A sum's level, not yet clamped (dense_level). */
__device__ static int
one_tap_level(float sum, const CnvTileJob &s)
{
  return __float_as_int(fmaf(s.combine == CNV_COMBINE_ABSOLUTE ? fabsf(sum) : sum, s.gain, s.offset) *
                        __int_as_float(1));
}

/* A word of levels. */
__device__ static uint32_t
pack_sums(const float *sum, const CnvTileJob &s, uint8_t)
{
  return pack_levels(one_tap_level(sum[0], s), one_tap_level(sum[1], s),
                     pack_levels(one_tap_level(sum[2], s), one_tap_level(sum[3], s), 0));
}

__device__ static uint32_t
pack_sums(const float *sum, const CnvTileJob &s, uint16_t)
{
  return (uint32_t)(min(max(one_tap_level(sum[0], s), 0), s.full_bits) << s.shift |
                    min(max(one_tap_level(sum[1], s), 0), s.full_bits) << (s.shift + 16));
}

/* Adds N frames from number `first` on, whose loads are under way at once. */
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

/* The outputs of 16 bytes. */
template <typename T>
__device__ static uint4
sum_frames(const CnvTileArgs &l, const CnvTileJob &s, const char *in)
{
  constexpr int samples = 16 / sizeof(T);
  const int n = max(l.sources.n, 1);
  float sum[samples];
  uint32_t out[4];
  int k = 0;

#pragma unroll
  for (int i = 0; i < samples; i++)
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
#pragma unroll
  for (int i = 0; i < 4; i++)
    out[i] = pack_sums(sum + i * samples / 4, s, T());
  return *(uint4 *)out;
}

/* The output of one sample. */
template <typename T>
__device__ static T
sum_sample(const CnvTileArgs &l, const CnvTileJob &s, const T *in)
{
  float sum = s.bias[0];

  for (int k = 0; k < max(l.sources.n, 1); k++)
    sum = fmaf((float)(load_sample((const T *)((const char *)in + frame_delta(l, k))) & mask_of(s)),
               frame_weight(l, s, k), sum);
  return (T)(min(max(one_tap_level(sum, s), 0), s.full_bits) << s.shift);
}

template <typename T>
__device__ static void
make_one_tap(const CnvTileArgs &l, const CnvTileJob &s)
{
  constexpr int samples = 16 / sizeof(T);
  const TileOutput at = tile_output(s, 32 * samples);
  const int x = at.x + threadIdx.x % 32 * samples;
  const int x0 = max(x, s.job.x * s.channels), x1 = min(x + samples, (s.job.x + s.job.width) * s.channels);
  const uint4 copied = {s.copied_bits[0], s.copied_bits[sizeof(T) - 1], s.copied_bits[0], s.copied_bits[sizeof(T) - 1]};
  TileParams params;

  locate<T>(params, l, s);
  const bool by_chunks = x1 - x0 == samples && params.chunk_stores && l.maps >> s.pointers & 1;
  for (int y = at.y + threadIdx.x / 32; y < at.y_end; y += CNV_ONE_TAP_WARPS) {
    const T *in = (const T *)(params.in + (int64_t)y * params.in_stride);
    const T *back = (const T *)(params.back + (int64_t)y * params.in_stride);
    T *out = (T *)(params.out + (int64_t)y * params.out_stride);

    if (by_chunks) {
      uint4 now = sum_frames<T>(l, s, (const char *)(in + x));

      if (s.copied) {
        const uint4 kept = __ldg((const uint4 *)(back + x));

        now = {merge(kept.x, now.x, copied.x), merge(kept.y, now.y, copied.y), merge(kept.z, now.z, copied.z),
               merge(kept.w, now.w, copied.w)};
      }
      *(uint4 *)(out + x) = now;
    } else {
#pragma unroll 1
      for (int i = x0; i < x1; i++)
        out[i] = !s.copied || s.filtered >> (i % s.channels) & 1 ? sum_sample(l, s, in + i) : load_sample(back + i);
    }
  }
}

template <typename T>
__device__ static void
one_tap(const CnvTileArgs &l)
{
  const int number = find_tile_job(l);

  wait_for_launch_before();
  let_next_launch_begin();
  if (l.n_jobs <= CNV_TILE_JOBS_INLINE)
    make_one_tap<T>(l, l.job[number]);
  else
    make_one_tap<T>(l, ((const CnvTileJob *)l.jobs)[number]);
}
