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
  asm("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, "
      "%3};"
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

/* What makes levels of sums, in registers: what lies in shared memory is read again and again. */
struct Finish {
  float gain, fraction, inner;
  int base, full, shift;
  bool absolute;
};

__device__ static Finish
finish_of(const CnvStrip &s)
{
  return {s.gain, s.fraction, s.inner, s.base - __float_as_int(SIGNED_INTEGERS), s.full_bits, s.shift, s.absolute != 0};
}

/* A sum to a level, not yet clamped: as level_of. */
__device__ static int
to_level(float acc, const Finish &f)
{
  return __float_as_int(fmaf(acc, f.gain, f.fraction) + SIGNED_INTEGERS) + f.base;
}

/* Two levels clamped and packed above the 16 bits of `above`. */
__device__ static uint32_t
pack_levels(int low, int high, uint32_t above)
{
  uint32_t out;

  asm("cvt.pack.sat.u8.s32.b32 %0, %1, %2, %3;" : "=r"(out) : "r"(high), "r"(low), "r"(above));
  return out;
}

/* Sums of the lane's samples 0 and 1 in rows 2t and 2t + 1 of eight, d as the product gives them, to the levels of four
 * neighbours of row g; t: lane % 4, g: lane / 4. */
__device__ static void
finish_word(uint32_t &word, const float (&d)[4], const Finish &f)
{
  word = transpose(pack_levels(to_level(d[0], f), to_level(d[2], f),
                               pack_levels(to_level(d[1], f), to_level(d[3], f), 0)));
}

__device__ static uint32_t
pack_pair(float low, float high, const Finish &f)
{
  const uint32_t a = (uint32_t)min(max(to_level(low, f), 0), f.full);
  const uint32_t b = (uint32_t)min(max(to_level(high, f), 0), f.full);

  return (a | b << 16) << f.shift;
}

__device__ static void
finish_word(uint2 &word, const float (&d)[4], const Finish &f)
{
  const uint32_t even = transpose(pack_pair(d[0], d[1], f)), odd = transpose(pack_pair(d[2], d[3], f));

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

/* A fragment of taps times the weight of a frame. */
__device__ static uint4
weigh(const uint4 &a, __half2 weight)
{
  return make_uint4(as_bits(__hmul2(as_halves(a.x), weight)), as_bits(__hmul2(as_halves(a.y), weight)),
                    as_bits(__hmul2(as_halves(a.z), weight)), as_bits(__hmul2(as_halves(a.w), weight)));
}

/* Where the lane reads: four samples of each group of 16, in row number lane / 4 of a step's eight. EDGE: what they are
 * is looked up, for steps and groups that reach out of the window. */
template <typename T, int WORDS, bool EDGE> struct Source {
  typedef typename Word<T>::type W;
  const Sheet &sheet;
  const char *from; /* the lane's first word in row 0 */
  int x, y;         /* first sample, and the lane's row, of step 0 */
  int stride;
  uint32_t inside; /* bit i: group i lies in the window */
  const int *column;

  __device__ Source(const Sheet &sheet, int x, int y, int *column) : sheet(sheet), x(x), column(column)
  {
    const int lane = threadIdx.x % 32;

    this->y = y + lane / 4;
    stride = sheet.in_stride;
    from = (const char *)sheet.in + (x + lane % 4 * 4) * (int)sizeof(T);
    inside = 0;
    if (EDGE) {
      for (int i = 0; i < WORDS && sheet.words; i++)
        inside |= (uint32_t)(x + 16 * i >= sheet.window_x0 && x + 16 * i + 16 <= sheet.window_x1) << i;
      for (int i = lane; i < 16 * WORDS; i += 32)
        column[i] = sample_of(sheet.s, x + i);
      __syncwarp();
    }
  }

  __device__ void load(W (&word)[WORDS], int step, int64_t delta) const
  {
    const int row = y + step * CNV_TENSOR_ROWS;

    if (EDGE) {
      load_edge(word, row, delta);
      return;
    }
    const char *at = from + delta + (int64_t)row * stride;
#pragma unroll
    for (int i = 0; i < WORDS; i++)
      word[i] = __ldg((const W *)(at + 16 * i * sizeof(T)));
  }

  __device__ void load_edge(W (&word)[WORDS], int y, int64_t delta) const
  {
    const int t = threadIdx.x % 4, row = row_of(sheet.s, y);
    const char *at = from + delta + (int64_t)row * stride;

#pragma unroll
    for (int i = 0; i < WORDS; i++)
      if (row < 0)
        word[i] = missing_word<T>(sheet.s, x + 16 * i + 4 * t);
      else if (inside >> i & 1)
        word[i] = __ldg((const W *)(at + 16 * i * sizeof(T)));
      else
        word[i] = gather_word<T>(sheet, column + 16 * i + 4 * t, delta, row);
  }
};

/* Where the lane writes: four samples of each group, in the same rows. */
template <typename T, bool EDGE> struct Target {
  typedef typename Word<T>::type W;
  const Sheet &sheet;
  const Tile &tile;
  uint64_t out, back;
  int x, y, out_stride, back_stride;
  bool merges;
  W mask;

  __device__ Target(const Sheet &sheet, const Tile &tile) : sheet(sheet), tile(tile)
  {
    const int lane = threadIdx.x % 32;

    x = tile.x + lane % 4 * 4;
    y = tile.y + lane / 4;
    out_stride = sheet.out_stride;
    back_stride = sheet.in_stride;
    out = sheet.out + x * (int)sizeof(T) + (int64_t)y * out_stride;
    back = sheet.back + x * (int)sizeof(T) + (int64_t)y * back_stride;
    merges = sheet.s.copied != 0;
    mask = filtered_mask<T>(sheet.s);
  }

  __device__ W before(int m, int step) const
  {
    if (!EDGE && merges)
      return __ldg((const W *)(back + (int64_t)step * CNV_TENSOR_ROWS * back_stride) + 4 * m);
    return {};
  }

  __device__ void store(int m, int step, W word, W before) const
  {
    if (!EDGE)
      ((W *)(out + (int64_t)step * CNV_TENSOR_ROWS * out_stride))[4 * m] = merges ? merge(word, before, mask) : word;
    else if (y + step * CNV_TENSOR_ROWS < tile.y_end)
      store_word<T>(sheet, x + 16 * m, y + step * CNV_TENSOR_ROWS, word, mask);
  }
};

enum { TENSOR_PLAIN, TENSOR_EXACT, TENSOR_TIME };

/* Steps whose samples are ordered ahead of their use; divides 2 * K_Y, so that no register needs to be moved. */
#define TENSOR_AHEAD 2

template <typename T, int K_X, int K_Y, int M, int MODE, bool EDGE>
__device__ static void
tensor_tile(const CnvStripArgs &l, const Sheet &sheet, const Tile &tile, int *column)
{
  constexpr bool exact = MODE == TENSOR_EXACT, time = MODE == TENSOR_TIME;
  constexpr int words = M + K_X - 1, window = 2 * K_Y, bands_x = K_X * (1 + exact), bands_y = K_Y * (1 + exact);
  constexpr bool keep = K_X <= 3 && !exact; /* the row's band stays in registers */
  typedef typename Word<T>::type W;
  const CnvStrip &s = sheet.s;
  const int lane = threadIdx.x % 32, n_sources = time ? l.sources.n : 1;
  const uint4 *band_x = (const uint4 *)((const uint32_t *)l.bands + s.bands) + lane;
  const uint2 *band_y = (const uint2 *)((const uint32_t *)l.bands + s.bands + bands_x * 32 * 4) + lane;
  uint4 a[keep ? K_X : 1];
  uint2 v[bands_y];
#pragma unroll
  for (int k = 0; k < bands_y; k++)
    v[k] = __ldg(band_y + 32 * k);
#pragma unroll
  for (int k = 0; k < K_X && keep; k++)
    a[k] = __ldg(band_x + 32 * k);

  const Halves halves = halves_of<T>(s);
  const Finish finish = finish_of(s);
  const Source<T, words, EDGE> source(sheet, tile.x - s.lead, tile.y - s.anchor_y, column);
  const Target<T, EDGE> target(sheet, tile);
  const bool renormalizes = EDGE && s.border == CNV_BORDER_RENORMALIZE;
  const int steps = (tile.y_end - tile.y + CNV_TENSOR_ROWS - 1) / CNV_TENSOR_ROWS + window - 1;
  Sums<exact> sums[window][M];
  W ahead[TENSOR_AHEAD][words];
  int ordered_step = 0, ordered_source = 0;

  const auto order = [&](W(&word)[words]) {
    if (ordered_step < steps)
      source.load(word, ordered_step, time ? l.sources.delta[ordered_source] : 0);
    if (++ordered_source == n_sources) {
      ordered_source = 0;
      ordered_step++;
    }
  };
#pragma unroll
  for (int i = 0; i < TENSOR_AHEAD; i++)
    order(ahead[i]);

#pragma unroll 1
  for (int step = 0; step < steps; step += window) {
#pragma unroll
    for (int u = 0; u < window; u++) {
      if (step + u >= steps)
        return;
      const int row = step + u - window + 1; /* of outputs, by eight */
      float c[M][4] = {};
      W before[M];

#pragma unroll
      for (int m = 0; m < M; m++)
        before[m] = row >= 0 ? target.before(m, row) : W{};
#pragma unroll 1
      for (int i = 0; i < n_sources; i++) {
        uint2 b[words];

#pragma unroll
        for (int w = 0; w < words; w++) {
          b[w] = to_halves(ahead[0][w], halves);
#pragma unroll
          for (int k = 1; k < TENSOR_AHEAD; k++)
            ahead[k - 1][w] = ahead[k][w];
        }
        order(ahead[TENSOR_AHEAD - 1]);
#pragma unroll
        for (int k = 0; k < bands_x; k++) {
          uint4 taps = keep ? a[k % K_X] : __ldg(band_x + 32 * k);

          if (time)
            taps = weigh(taps, __float2half2_rn(l.sources.weight[i]));
#pragma unroll
          for (int m = 0; m < M; m++)
            multiply(c[m], taps, b[m + k % K_X]);
        }
      }
#pragma unroll
      for (int m = 0; m < M; m++)
        keep_sums(sums[u][m], c[m]);
      if (row < 0)
        continue;
#pragma unroll
      for (int m = 0; m < M; m++) {
        float d[4] = {};
        W word;

#pragma unroll
        for (int k = 0; k < K_Y; k++)
          multiply_sums(d, sums[(u + 1 + 2 * k) % window][m], sums[(u + 2 + 2 * k) % window][m], v[k],
                        v[exact ? K_Y + k : 0]);
        if (renormalizes)
          restore_sums(d, s, tile.x + 16 * m + 2 * (lane / 4), tile.y + row * CNV_TENSOR_ROWS + 2 * (lane % 4));
        if (finish.absolute)
          for (int i = 0; i < 4; i++)
            d[i] = fabsf(d[i] + finish.inner);
        finish_word(word, d, finish);
        target.store(m, row, word, before[m]);
      }
    }
  }
}

/* Whether a tile reads and writes nothing but what is there, in words. */
template <int WORDS, int M, int WINDOW>
__device__ static bool
is_inner(const Sheet &sheet, const Tile &tile)
{
  const CnvStrip &s = sheet.s;
  const CnvPatch &p = s.patch;
  const int x = tile.x - s.lead, y = tile.y - s.anchor_y;
  const int rows = tile.y_end - tile.y + (WINDOW - 1) * CNV_TENSOR_ROWS;

  return sheet.words && sheet.word_stores && (tile.y_end - tile.y) % CNV_TENSOR_ROWS == 0 && x >= sheet.window_x0 &&
         x + 16 * WORDS <= sheet.window_x1 && inside(y - p.window_y, rows, p.window_height) &&
         tile.x >= p.x * s.channels && tile.x + 16 * M <= (p.x + p.width) * s.channels;
}

template <typename T, int K_X, int K_Y, int M, int MODE>
__device__ static void
tensor(const CnvStripArgs &l)
{
  constexpr int words = M + K_X - 1;
  __shared__ Sheet sheet;
  __shared__ int column[CNV_STRIP_WARPS][words * 16];
  const Tile tile = enter_strip<T>(sheet, l, M);

  if (!tile.here)
    return;
  if (is_inner<words, M, 2 * K_Y>(sheet, tile))
    tensor_tile<T, K_X, K_Y, M, MODE, false>(l, sheet, tile, NULL);
  else
    tensor_tile<T, K_X, K_Y, M, MODE, true>(l, sheet, tile, column[threadIdx.x / 32]);
}

#else

template <typename T, int K_X, int K_Y, int M, int MODE>
__device__ static void
tensor(const CnvStripArgs &)
{
}

#endif
