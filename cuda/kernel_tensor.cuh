/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * tensor: both passes of separable taps as products of banded matrices on the tensor cores, mma.m16n8k16 in f16 with
 * float32 sums. A warp goes down a strip of 16 * M samples by 8 rows a step, and nothing of it passes through shared
 * memory from one pass to the other:
 *
 *   rows      C[x][y] = sum over k of A[x][k] * B[k][y]: A the band of taps, B the image, 16 samples of 8 rows
 *   columns   D[x][y] = sum over k of C[x][k] * V[k][y]: the C of 16 rows, in f16, are the A of this product as they
 *             stand; V the band of the column's taps
 *
 * Which sample is which k, and which output which row of A, is free: four samples that a lane loads together are its
 * two pairs of k, and a lane's two rows of A are neighbours. Fragments of both bands come from the host
 * (cuda_bands.c). Samples are taken less mid, which keeps f16 exact for them and nearly so for row sums.
 */
#pragma once

#include <cuda_fp16.h>

#include "kernel_strip.cuh"

#if __CUDA_ARCH__ >= 800

__device__ static void
multiply(float (&c)[4], const uint4 &a, const uint2 &b)
{
  asm("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
      : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
      : "r"(a.x), "r"(a.y), "r"(a.z), "r"(a.w), "r"(b.x), "r"(b.y));
}

/* Element [i][j], j being 2 * (lane % 4) and the next, to [j][i]: pairs of 16 bits. */
__device__ static uint32_t
transpose(uint32_t pair)
{
  uint32_t out;

  asm volatile("movmatrix.sync.aligned.m8n8.trans.b16 %0, %1;" : "=r"(out) : "r"(pair));
  return out;
}

template <typename W>
__device__ static void
copy_async(W *to, const void *from)
{
  asm volatile("cp.async.ca.shared.global [%0], [%1], %2;" ::"r"((uint32_t)__cvta_generic_to_shared(to)), "l"(from),
               "n"(sizeof(W))
               : "memory");
}

__device__ static uint32_t
as_bits(__half2 h)
{
  return *(uint32_t *)&h;
}

__device__ static __half2
as_halves(uint32_t bits)
{
  return *(__half2 *)&bits;
}

/* 1024 + i for i below 1024, in each half. */
#define HALF_INTEGERS 0x64006400u

/* Four samples less mid, as the two registers of B. */
struct Halves {
  __half2 offset; /* 1024 + mid, of 16 bits a quarter of mid */
  uint32_t mask;
  int shift;
};

template <typename T>
__device__ static Halves
halves_of(const CnvStrip &s)
{
  return {__float2half2_rn(1024.0f + (sizeof(T) == 1 ? s.mid : s.mid / 4)), (uint32_t)s.full_bits * 0x10001u, s.shift};
}

__device__ static uint2
to_halves(uint32_t word, const Halves &h)
{
  return make_uint2(as_bits(__hsub2(as_halves(__byte_perm(word, HALF_INTEGERS, 0x7170)), h.offset)),
                    as_bits(__hsub2(as_halves(__byte_perm(word, HALF_INTEGERS, 0x7372)), h.offset)));
}

/* Up to 12 bits: the upper ten, times 4, and the others. */
__device__ static uint32_t
to_halves_16(uint32_t pair, const Halves &h)
{
  const uint32_t value = pair >> h.shift & h.mask;
  const __half2 upper = __hsub2(as_halves((value >> 2 & 0x03ff03ffu) | HALF_INTEGERS), h.offset);
  const __half2 lower = __hsub2(as_halves((value & 0x00030003u) | HALF_INTEGERS), __float2half2_rn(1024.0f));

  return as_bits(__hfma2(upper, __float2half2_rn(4.0f), lower));
}

__device__ static uint2
to_halves(uint2 word, const Halves &h)
{
  return make_uint2(to_halves_16(word.x, h), to_halves_16(word.y, h));
}

/* Row sums of 16 samples and 8 rows as half of an A of the column pass; and what f16 leaves of them. */
template <bool EXACT> struct Sums {
  uint32_t first, second; /* the lane's two samples */
};
template <> struct Sums<true> : Sums<false> {
  uint32_t first_rest, second_rest;
};

__device__ static uint32_t
rest_of(uint32_t pair, float a, float b)
{
  const float2 taken = __half22float2(as_halves(pair));

  return as_bits(__floats2half2_rn(a - taken.x, b - taken.y));
}

__device__ static void
keep_sums(Sums<false> &to, const float (&c)[4])
{
  to.first = as_bits(__floats2half2_rn(c[0], c[1]));
  to.second = as_bits(__floats2half2_rn(c[2], c[3]));
}

__device__ static void
keep_sums(Sums<true> &to, const float (&c)[4])
{
  keep_sums(static_cast<Sums<false> &>(to), c);
  to.first_rest = rest_of(to.first, c[0], c[1]);
  to.second_rest = rest_of(to.second, c[2], c[3]);
}

__device__ static void
multiply_sums(float (&d)[4], const Sums<false> &upper, const Sums<false> &lower, const uint2 &band, const uint2 &)
{
  multiply(d, make_uint4(upper.first, upper.second, lower.first, lower.second), band);
}

__device__ static void
multiply_sums(float (&d)[4], const Sums<true> &upper, const Sums<true> &lower, const uint2 &band, const uint2 &rest)
{
  const uint4 sums = make_uint4(upper.first, upper.second, lower.first, lower.second);

  multiply(d, sums, band);
  multiply(d, sums, rest);
  multiply(d, make_uint4(upper.first_rest, upper.second_rest, lower.first_rest, lower.second_rest), band);
}

/* A sum to a level, not yet clamped: as level_of. */
__device__ static int
to_level(float acc, const CnvStrip &s)
{
  const float sum = s.absolute ? fabsf(acc + s.inner) : acc;

  return __float_as_int(fmaf(sum, s.gain, s.fraction + SIGNED_INTEGERS)) + (s.base - __float_as_int(SIGNED_INTEGERS));
}

/* Two levels clamped and packed above the 16 bits of `above`. */
__device__ static uint32_t
pack_levels(int low, int high, uint32_t above)
{
  uint32_t out;

  asm("cvt.pack.sat.u8.s32.b32 %0, %1, %2, %3;" : "=r"(out) : "r"(high), "r"(low), "r"(above));
  return out;
}

/* Levels of the lane's samples 0 and 1 in rows 2t and 2t + 1 of eight, d as the product gives them, to four neighbours
 * of row g; t: lane % 4, g: lane / 4. */
__device__ static void
finish_word(uint32_t &word, const float (&d)[4], const CnvStrip &s)
{
  word = transpose(pack_levels(to_level(d[0], s), to_level(d[2], s),
                               pack_levels(to_level(d[1], s), to_level(d[3], s), 0)));
}

__device__ static uint32_t
pack_pair(float low, float high, const CnvStrip &s)
{
  const uint32_t a = (uint32_t)min(max(to_level(low, s), 0), s.full_bits) << s.shift;
  const uint32_t b = (uint32_t)min(max(to_level(high, s), 0), s.full_bits) << s.shift;

  return a | b << 16;
}

__device__ static void
finish_word(uint2 &word, const float (&d)[4], const CnvStrip &s)
{
  const uint32_t even = transpose(pack_pair(d[0], d[1], s)), odd = transpose(pack_pair(d[2], d[3], s));

  word = make_uint2(__byte_perm(even, odd, 0x5410), __byte_perm(even, odd, 0x7632));
}

/* renormalize: the lane's samples are x and x + 1, of rows y and y + 1 of the field. */
__device__ static void
restore_sums(float (&d)[4], const CnvStrip &s, int x, int y)
{
  float factor_x[2], factor_y[2];

  for (int i = 0; i < 2; i++) {
    const int pixel = (x + i) / s.channels - s.patch.window_x;

    factor_x[i] = axis_factor(s.taps_x, s.n_x, s.sum_x, s.least_x, pixel - s.anchor_x, s.patch.window_width);
    factor_y[i] =
        axis_factor(s.taps_y, s.n_y, s.sum_y, s.least_y, y + i - s.patch.window_y - s.anchor_y, s.patch.window_height);
  }
  d[0] *= factor_x[0] * factor_y[0];
  d[1] *= factor_x[0] * factor_y[1];
  d[2] *= factor_x[1] * factor_y[0];
  d[3] *= factor_x[1] * factor_y[1];
}

/* A warp's samples on their way: each lane reads what it ordered itself, so nothing needs to be awaited together. */
template <typename T, int WORDS> struct Stages {
  typename Word<T>::type word[CNV_STRIP_WARPS][CNV_TENSOR_STAGES][WORDS][32];
  int column[CNV_STRIP_WARPS][WORDS * 16]; /* what stands for each sample along x, where not all are inside */
};

/* Orders the samples of a step: 8 rows from y on. inside: bit i, group i of 16 lies inside of the window. */
template <typename T, int WORDS>
__device__ static void
order_samples(Stages<T, WORDS> &stages, int slot, const Sheet &sheet, uint32_t inside, int x, int y, int64_t delta)
{
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, t = lane % 4, row = row_of(sheet.s, y + lane / 4);
  const char *from = (const char *)(sheet.in + delta + (int64_t)row * sheet.in_stride) + (x + 4 * t) * (int)sizeof(T);

#pragma unroll
  for (int i = 0; i < WORDS; i++) {
    typename Word<T>::type *to = &stages.word[warp][slot][i][lane];

    if (row < 0)
      *to = missing_word<T>(sheet.s, x + 16 * i + 4 * t);
    else if (inside >> i & 1)
      copy_async(to, from + 16 * i * sizeof(T));
    else
      *to = gather_word<T>(sheet, &stages.column[warp][16 * i + 4 * t], delta, row);
  }
}

/* The bits of order_samples; fills in column where one is 0. */
template <typename T, int WORDS>
__device__ static uint32_t
look_inside(Stages<T, WORDS> &stages, const Sheet &sheet, int x)
{
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  uint32_t bits = 0;

  for (int i = 0; i < WORDS && sheet.words; i++)
    bits |= (uint32_t)(x + 16 * i >= sheet.window_x0 && x + 16 * i + 16 <= sheet.window_x1) << i;
  if (bits != (1u << WORDS) - 1)
    for (int i = lane; i < 16 * WORDS; i += 32)
      stages.column[warp][i] = sample_of(sheet.s, x + i);
  __syncwarp();
  return bits;
}

/* A fragment of taps times the weight of a frame. */
__device__ static uint4
weigh(const uint4 &a, __half2 weight)
{
  return make_uint4(as_bits(__hmul2(as_halves(a.x), weight)), as_bits(__hmul2(as_halves(a.y), weight)),
                    as_bits(__hmul2(as_halves(a.z), weight)), as_bits(__hmul2(as_halves(a.w), weight)));
}

template <typename T, int K_X, int K_Y, int M, bool EXACT>
__device__ static void
tensor(const CnvStripArgs &l)
{
  constexpr int words = M + K_X - 1, window = 2 * K_Y, bands_x = K_X * (1 + EXACT);
  constexpr bool keep = K_X <= 3 && !EXACT; /* the row's band stays in registers */
  typedef typename Word<T>::type W;
  __shared__ Sheet sheet;
  __shared__ Stages<T, words> stages;
  const Tile tile = enter_strip<T>(sheet, l, M);
  const CnvStrip &s = sheet.s;
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, n_sources = max(l.sources.n, 1);

  if (!tile.here)
    return;
  const uint4 *band_x = (const uint4 *)((const uint32_t *)l.bands + s.bands) + lane;
  const uint2 *band_y = (const uint2 *)((const uint32_t *)l.bands + s.bands + bands_x * 32 * 4) + lane;
  uint4 a[keep ? K_X : 1];
  uint2 v[K_Y * (1 + EXACT)];
#pragma unroll
  for (int k = 0; k < K_Y * (1 + EXACT); k++)
    v[k] = __ldg(band_y + 32 * k);
#pragma unroll
  for (int k = 0; k < K_X && keep; k++)
    a[k] = __ldg(band_x + 32 * k);

  const Halves halves = halves_of<T>(s);
  const W mask = filtered_mask<T>(s);
  const int x = tile.x - s.lead, first = tile.y - s.anchor_y;
  const int steps = (tile.y_end - tile.y + CNV_TENSOR_ROWS - 1) / CNV_TENSOR_ROWS + window - 1;
  const uint32_t inside = look_inside(stages, sheet, x);
  Sums<EXACT> sums[window][M];
  int step_ordered = 0, source_ordered = 0, slot = 0;

  const auto order = [&](int to) {
    if (step_ordered < steps) {
      const int64_t delta = l.sources.n ? l.sources.delta[source_ordered] : 0;

      order_samples(stages, to, sheet, inside, x, first + step_ordered * CNV_TENSOR_ROWS, delta);
    }
    asm volatile("cp.async.commit_group;" ::: "memory");
    if (++source_ordered == n_sources) {
      source_ordered = 0;
      step_ordered++;
    }
  };
  for (int i = 0; i < CNV_TENSOR_STAGES - 1; i++)
    order(i);

  for (int step = 0; step < steps; step += window) {
#pragma unroll
    for (int u = 0; u < window; u++) {
      if (step + u >= steps)
        return;
      float c[M][4] = {};

#pragma unroll 1
      for (int source = 0; source < n_sources; source++) {
        uint2 b[words];

        order((slot + CNV_TENSOR_STAGES - 1) % CNV_TENSOR_STAGES);
        asm volatile("cp.async.wait_group %0;" ::"n"(CNV_TENSOR_STAGES - 1) : "memory");
#pragma unroll
        for (int i = 0; i < words; i++)
          b[i] = to_halves(stages.word[warp][slot][i][lane], halves);
        slot = (slot + 1) % CNV_TENSOR_STAGES;
#pragma unroll
        for (int k = 0; k < bands_x; k++) {
          uint4 taps = keep ? a[k % K_X] : __ldg(band_x + 32 * k);

          if (l.sources.n)
            taps = weigh(taps, __float2half2_rn(l.sources.weight[source]));
#pragma unroll
          for (int m = 0; m < M; m++)
            multiply(c[m], taps, b[m + k % K_X]);
        }
      }
#pragma unroll
      for (int m = 0; m < M; m++)
        keep_sums(sums[u][m], c[m]);
      if (step + u < window - 1)
        continue;
      const int y = tile.y + (step + u - window + 1) * CNV_TENSOR_ROWS;
#pragma unroll
      for (int m = 0; m < M; m++) {
        const int to_x = tile.x + 16 * m;
        float d[4] = {};
        W word;

#pragma unroll
        for (int k = 0; k < K_Y; k++)
          multiply_sums(d, sums[(u + 1 + 2 * k) % window][m], sums[(u + 2 + 2 * k) % window][m], v[k],
                        v[EXACT ? K_Y + k : 0]);
        if (s.border == CNV_BORDER_RENORMALIZE)
          restore_sums(d, s, to_x + 2 * (lane / 4), y + 2 * (lane % 4));
        finish_word(word, d, s);
        if (y + lane / 4 < tile.y_end)
          store_word<T>(sheet, to_x + 4 * (lane % 4), y + lane / 4, word, mask);
      }
    }
  }
}

#else

template <typename T, int K_X, int K_Y, int M, bool EXACT>
__device__ static void
tensor(const CnvStripArgs &)
{
}

#endif
