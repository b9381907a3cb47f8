/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Shared by kernels that filter a job in one launch (fused, blur, dense): a block's job and its outputs, samples by
 * fours, and borders. Coordinates are samples of a row of the plane, over all channels, and rows of the field.
 */
#pragma once

#include "gpu/kernels/block.cuh"

/* The block's tile of outputs: its first sample and row, and the row after the last. */
struct TileOutput {
  int x, y, y_end;
};

/* A block's tile and its job, in shared memory. An inner tile has only the head of its job, unless the job
 * renormalizes or blends. Addresses point to sample 0 of row 0 of the field, and include moves. */
struct TileParams {
  CnvTileJob s;
  struct {
    TileOutput at;
    int rows, box_rows, top, lead, pointers, field, fields; /* from CnvTileJob, or from the kernel's TileShape */
    int n_rows;                                             /* rows of taps */
    uint32_t bands;
    bool renormalizes, is_inner;
    bool has_weights; /* the copy engine loads the weights */
    int kind;         /* CnvTileKind */
  } tile;
  uint64_t in, back, out;
  int in_stride, out_stride;
  int window_x0, window_x1;       /* range of samples that may be read */
  int chunk_stores;               /* rows of the output begin at multiples of 16 bytes */
  alignas(8) uint32_t missing[6]; /* three words: four missing samples, by the channel of the first */
};

/* Shared memory that both forms of a kernel use, because a launch runs only one of them: the block's tile and job, the
 * barrier of its copies, and factors of samples and rows. */
__device__ static TileParams &
block_params()
{
  __shared__ TileParams params;

  return params;
}

__device__ static uint64_t &
block_barrier()
{
  __shared__ alignas(8) uint64_t barrier;

  return barrier;
}

template <int N> __device__ static float (&block_factors())[N]
{
  __shared__ alignas(16) float factors[N];

  return factors;
}

/* Four samples side by side. */
template <typename T> struct Word;
template <> struct Word<uint8_t> {
  typedef uint32_t type;
};
template <> struct Word<uint16_t> {
  typedef uint2 type;
};

__device__ static void
set_sample(uint32_t &word, int i, uint32_t sample)
{
  word |= sample << (8 * i);
}

__device__ static void
set_sample(uint2 &word, int i, uint32_t sample)
{
  (i < 2 ? word.x : word.y) |= sample << (16 * (i & 1));
}

__device__ static uint32_t
get_sample(uint32_t word, int i)
{
  return word >> (8 * i) & 0xff;
}

__device__ static uint32_t
get_sample(uint2 word, int i)
{
  return (i < 2 ? word.x : word.y) >> (16 * (i & 1)) & 0xffff;
}

__device__ static uint32_t
merge(uint32_t a, uint32_t b, uint32_t mask)
{
  return (a & mask) | (b & ~mask);
}

__device__ static uint2
merge(uint2 a, uint2 b, uint2 mask)
{
  return make_uint2(merge(a.x, b.x, mask.x), merge(a.y, b.y, mask.y));
}

/* Clamps two levels to 8 bits and packs them, with the 16 bits of `above` above them. */
__device__ static uint32_t
pack_levels(int low, int high, uint32_t above)
{
#if __CUDA_ARCH__ >= 720
  uint32_t out;

  asm("cvt.pack.sat.u8.s32.b32 %0, %1, %2, %3;" : "=r"(out) : "r"(high), "r"(low), "r"(above));
  return out;
#else
  return above << 16 | min(max(high, 0), 255) << 8 | min(max(low, 0), 255);
#endif
}

/* Clamps two levels to 16 bits and packs them. */
__device__ static uint32_t
pack_levels(int low, int high)
{
#if __CUDA_ARCH__ >= 720
  uint32_t out;

  asm("cvt.pack.sat.u16.s32 %0, %1, %2;" : "=r"(out) : "r"(high), "r"(low));
  return out;
#else
  return (uint32_t)min(max(high, 0), 65535) << 16 | min(max(low, 0), 65535);
#endif
}

/* Clamps four levels to 8 bits and packs them. */
__device__ static uint32_t
pack_four(int first, int second, int third, int fourth)
{
  return pack_levels(first, second, pack_levels(third, fourth, 0));
}

/* Returns the level of a value, not yet clamped. The value times the smallest float32 is a denormal number, rounded to
 * nearest, ties to even, and its bits are the level. A negative value gives a negative integer. */
__device__ static int
nearest_level(float value)
{
  return __float_as_int(value * __int_as_float(1));
}

/* Returns four missing samples, as they would be in memory, of channel `first` and the next ones; for renormalize,
 * samples that count as 0. */
template <typename T>
__device__ static typename Word<T>::type
make_missing(const CnvTileJob &s, int first)
{
  typename Word<T>::type word = {};

  for (int i = 0; i < 4; i++) {
    const float value = cnv_border_has_value((CnvBorder)s.border) ? s.border_value[(first + i) % s.channels] : 0.0f;

    set_sample(word, i, (uint32_t)(value + s.mid) << s.shift);
  }
  return word;
}

/* Returns the index of the block's job in the launch. */
__device__ static int
find_tile_job(const CnvTileArgs &l)
{
  const bool is_inner = (int)blockIdx.x >= l.inner_block[0];
  int number = 0;

  if (l.n_jobs > CNV_TILE_JOBS_INLINE)
    return __ldg((const int *)((const CnvTileJob *)l.jobs + l.n_jobs) + blockIdx.x);
#pragma unroll
  for (int i = 1; i < CNV_TILE_JOBS_INLINE; i++)
    number += (is_inner ? l.inner_block[i] : l.first_block[i]) <= (int)blockIdx.x;
  return number;
}

/* Returns a job of the launch. */
__device__ static const CnvTileJob &
nth_job(const CnvTileArgs &l, int number)
{
  return (l.n_jobs <= CNV_TILE_JOBS_INLINE ? l.job : (const CnvTileJob *)l.jobs)[number];
}

/* Sets the addresses and their alignments. */
template <typename T>
__device__ static void
locate(TileParams &params, const CnvTileArgs &l, const CnvTileJob &s)
{
  const CnvJob &p = s.job;
  const int C = s.channels, in_stride = l.in.stride[s.pointers], out_stride = l.out.stride[s.pointers];
  const int in_step = in_stride * p.fields, out_step = out_stride * p.fields;
  const int64_t move = (int64_t)p.move_x * C * sizeof(T);
  const uint64_t in = l.in.address[s.pointers] + (int64_t)p.field * in_stride;
  const uint64_t back = in + (int64_t)p.move_y * in_step + move;
  const uint64_t out = l.out.address[s.pointers] + (int64_t)p.field * out_stride + (int64_t)p.move_y * out_step + move;

  params.in_stride = in_step;
  params.out_stride = out_step;
  params.in = in;
  params.back = back;
  params.out = out;
  params.window_x0 = p.window_x * C;
  params.window_x1 = (p.window_x + p.window_width) * C;
  params.chunk_stores = ((out | out_step) & 15) == 0 && (!(s.copied || s.blends) || ((back | in_step) & 15) == 0);
}

/* Copies a job with one warp, whose loads are in flight at once. */
__device__ static void
copy_job(CnvTileJob &to, const CnvTileJob &from, int lane)
{
  constexpr int n = sizeof(CnvTileJob) / 4, turns = (n + 31) / 32;
  uint32_t word[turns];

#pragma unroll
  for (int i = 0; i < turns; i++)
    word[i] = 32 * i + lane < n ? ((const uint32_t *)&from)[32 * i + lane] : 0;
#pragma unroll
  for (int i = 0; i < turns; i++)
    if (32 * i + lane < n)
      ((uint32_t *)&to)[32 * i + lane] = word[i];
}

/* Copies the job and computes derived numbers; each warp but the first does a part. All threads see them after a
 * barrier. */
template <typename T>
__device__ static void
set_params(TileParams &params, const CnvTileArgs &l, const CnvTileJob &s)
{
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;

  if (warp == 1)
    copy_job(params.s, s, lane);
  else if (warp == 2 && lane == 0)
    locate<T>(params, l, s);
  else if (warp == 3 && lane < 3)
    ((typename Word<T>::type *)params.missing)[lane] = make_missing<T>(s, lane);
}

/* Loads the block's job for all threads. */
template <typename T>
__device__ static void
load_tile_job(TileParams &params, const CnvTileArgs &l)
{
  const int number = find_tile_job(l);

  if (l.n_jobs <= CNV_TILE_JOBS_INLINE)
    set_params<T>(params, l, l.job[number]);
  else
    set_params<T>(params, l, ((const CnvTileJob *)l.jobs)[number]);
  __syncthreads();
}

/* Returns the row that replaces row y, which may be outside of the window; -1 for none. */
__device__ static int
row_of(const CnvTileJob &s, int y)
{
  const int at = cnv_border_index((CnvBorder)s.border, y - s.job.window_y, s.job.window_height);

  return at < 0 ? -1 : at + s.job.window_y;
}

/* Returns the sample that replaces sample x; -1 - channel for none. */
__device__ static int
sample_of(const CnvTileJob &s, int x)
{
  const int pixel = x >= 0 ? x / s.channels : -((s.channels - 1 - x) / s.channels), channel = x - pixel * s.channels;
  const int at = cnv_border_index((CnvBorder)s.border, pixel - s.job.window_x, s.job.window_width);

  return at < 0 ? -1 - channel : (at + s.job.window_x) * s.channels + channel;
}

/* Returns the values of four missing samples from x on. x may be negative. */
template <typename T>
__device__ static typename Word<T>::type
missing_word(const TileParams &params, int x)
{
  const typename Word<T>::type *missing = (const typename Word<T>::type *)params.missing;

  return missing[params.s.channels == 3 ? (unsigned)(x + 3 * 1024) % 3 : 0];
}
