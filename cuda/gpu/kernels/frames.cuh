/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * frames: each sample by itself, summed up over the frames of a history, in float32. Nothing beside it is read, so
 * there is no tile in shared memory: a warp makes 512 bytes of a row, each thread 16 of them.
 */
#pragma once

#include "gpu/kernels/tile.cuh"

/* Frames that a thread loads at once. */
#define FRAMES_BATCH 3

/* Numbers that make levels of sums, and where samples are, in registers. */
struct FramesPixels {
  uint32_t mask, magnitude; /* of two samples of 16 bits, those bits that are theirs; of a sum, those that stay */
  float center, gain, offset, bias;
  int full, shift;
};

/* The weight of frame k, and bytes from the frame that is `in` to it. */
__device__ static float
frame_weight(const CnvTileArgs &l, const FramesPixels &f, int k)
{
  return l.sources.n > 0 ? f.center * l.sources.weight[k] : f.center;
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
frames_level(float sum, const FramesPixels &f)
{
  return __float_as_int(fmaf(__uint_as_float(__float_as_uint(sum) & f.magnitude), f.gain, f.offset) *
                        __int_as_float(1));
}

/* A word of levels. */
__device__ static uint32_t
pack_sums(const float *sum, const FramesPixels &f, uint8_t)
{
  return pack_levels(frames_level(sum[0], f), frames_level(sum[1], f),
                     pack_levels(frames_level(sum[2], f), frames_level(sum[3], f), 0));
}

__device__ static uint32_t
pack_sums(const float *sum, const FramesPixels &f, uint16_t)
{
  return (uint32_t)(min(max(frames_level(sum[0], f), 0), f.full) << f.shift |
                    min(max(frames_level(sum[1], f), 0), f.full) << (f.shift + 16));
}

/* The outputs of 16 bytes. */
template <typename T>
__device__ static uint4
sum_frames(const CnvTileArgs &l, const FramesPixels &f, const char *in)
{
  constexpr int samples = 16 / sizeof(T);
  const int n = max(l.sources.n, 1);
  float sum[samples];
  uint32_t out[4];

#pragma unroll
  for (int i = 0; i < samples; i++)
    sum[i] = f.bias;
#pragma unroll 1
  for (int first = 0; first < n; first += FRAMES_BATCH) {
    uint32_t word[FRAMES_BATCH][4];

#pragma unroll
    for (int k = 0; k < FRAMES_BATCH; k++)
      if (first + k < n)
        *(uint4 *)word[k] = __ldg((const uint4 *)(in + frame_delta(l, first + k)));
#pragma unroll
    for (int k = 0; k < FRAMES_BATCH; k++)
      if (first + k < n)
#pragma unroll
        for (int i = 0; i < samples; i++)
          sum[i] = fmaf(unpack_sample(word[k], i, T(), f.mask), frame_weight(l, f, first + k), sum[i]);
  }
#pragma unroll
  for (int i = 0; i < 4; i++)
    out[i] = pack_sums(sum + i * samples / 4, f, T());
  return *(uint4 *)out;
}

/* The output of one sample. */
template <typename T>
__device__ static T
sum_sample(const CnvTileArgs &l, const FramesPixels &f, const T *in)
{
  float sum = f.bias;

  for (int k = 0; k < max(l.sources.n, 1); k++)
    sum = fmaf((float)(load_sample((const T *)((const char *)in + frame_delta(l, k))) & f.mask), frame_weight(l, f, k),
               sum);
  return (T)(min(max(frames_level(sum, f), 0), f.full) << f.shift);
}

template <typename T>
__device__ static void
make_frames(const CnvTileArgs &l, const CnvTileJob &s)
{
  constexpr int samples = 16 / sizeof(T);
  const FramesPixels f = {((uint32_t)s.full_bits << s.shift) * 0x10001u,
                          s.combine == CNV_COMBINE_ABSOLUTE ? 0x7fffffffu : ~0u,
                          s.center,
                          s.gain,
                          s.offset,
                          s.bias[0],
                          s.full_bits,
                          s.shift};
  const TileOutput at = tile_output(s, tile_row(s), 32 * samples);
  const int x = at.x + threadIdx.x % 32 * samples;
  const int x0 = max(x, s.job.x * s.channels), x1 = min(x + samples, (s.job.x + s.job.width) * s.channels);
  const uint4 copied = {s.copied_bits[0], s.copied_bits[sizeof(T) - 1], s.copied_bits[0], s.copied_bits[sizeof(T) - 1]};
  TileParams params;

  locate<T>(params, l, s);
  const bool by_chunks = x1 - x0 == samples && params.chunk_stores && l.maps >> s.pointers & 1;
  for (int y = at.y + threadIdx.x / 32; y < at.y_end; y += CNV_TILE_WARPS) {
    const T *in = (const T *)(params.in + (int64_t)y * params.in_stride);
    const T *back = (const T *)(params.back + (int64_t)y * params.in_stride);
    T *out = (T *)(params.out + (int64_t)y * params.out_stride);

    if (by_chunks) {
      uint4 now = sum_frames<T>(l, f, (const char *)(in + x));

      if (s.copied) {
        const uint4 kept = __ldg((const uint4 *)(back + x));

        now = {merge(kept.x, now.x, copied.x), merge(kept.y, now.y, copied.y), merge(kept.z, now.z, copied.z),
               merge(kept.w, now.w, copied.w)};
      }
      *(uint4 *)(out + x) = now;
    } else {
#pragma unroll 1
      for (int i = x0; i < x1; i++)
        out[i] = !s.copied || s.filtered >> (i % s.channels) & 1 ? sum_sample(l, f, in + i) : load_sample(back + i);
    }
  }
}

template <typename T>
__device__ static void
frames(const CnvTileArgs &l)
{
  const int number = find_tile_job(l);

  wait_for_launch_before();
  let_next_launch_begin();
  if (l.n_jobs <= CNV_TILE_JOBS_INLINE)
    make_frames<T>(l, l.job[number]);
  else
    make_frames<T>(l, ((const CnvTileJob *)l.jobs)[number]);
}
