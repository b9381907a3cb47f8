/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * tensor: both passes of separable taps as products of banded matrices on the tensor cores, mma.m16n8k16 in f16 with
 * float32 sums. A warp goes down a tile 16 * M samples wide by 8 rows a step, and nothing of it passes through shared
 * memory from one pass to the other:
 *
 *   rows      C[x][y] = sum over k of A[x][k] * B[k][y]: A the band of taps, B the image, 16 samples of 8 rows
 *   columns   D[x][y] = sum over k of C[x][k] * V[k][y]: the C of 16 rows, in f16, are the A of this product as they
 *             stand; V the band of the column's taps
 *
 * Which sample is which k, and which output which row of A, is free: four samples that a lane loads together are its
 * two pairs of k, and a lane's two rows of A are neighbours. Fragments of both bands come from the host
 * (cuda/gpu/tensor.c). Samples are taken less mid, which keeps f16 exact for them and nearly so for row sums.
 */
#pragma once

#include <cuda_fp16.h>

#include "gpu/kernels/tile_job.cuh"

/* One f16 number for a tap and a row sum; two; or one for a tap and two for a row sum, which is that of several frames
 * and so no integer even where nothing is filtered along x. */
enum { TENSOR_PLAIN, TENSOR_EXACT, TENSOR_TIME };

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
halves_of(const CnvTileJob &s)
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
pack_sums(Sums<false> &to, const float (&c)[4])
{
  to.first = as_bits(__floats2half2_rn(c[0], c[1]));
  to.second = as_bits(__floats2half2_rn(c[2], c[3]));
}

__device__ static void
pack_sums(Sums<true> &to, const float (&c)[4])
{
  pack_sums(static_cast<Sums<false> &>(to), c);
  to.first_rest = rest_of(to.first, c[0], c[1]);
  to.second_rest = rest_of(to.second, c[2], c[3]);
}

template <bool>
__device__ static void
multiply_sums(float (&d)[4], const Sums<false> &upper, const Sums<false> &lower, const uint2 &band, const uint2 &)
{
  multiply(d, make_uint4(upper.first, upper.second, lower.first, lower.second), band);
}

/* REST: of the band, too, there is a second number. */
template <bool REST>
__device__ static void
multiply_sums(float (&d)[4], const Sums<true> &upper, const Sums<true> &lower, const uint2 &band, const uint2 &rest)
{
  const uint4 sums = make_uint4(upper.first, upper.second, lower.first, lower.second);

  multiply(d, sums, band);
  if (REST)
    multiply(d, sums, rest);
  multiply(d, make_uint4(upper.first_rest, upper.second_rest, lower.first_rest, lower.second_rest), band);
}

/* Numbers that turn sums into levels. A copy in registers: shared memory is read again and again. */
struct Epilogue {
  float gain, offset, mid_bias;
  int full, shift;
  bool absolute;
};

__device__ static Epilogue
epilogue_of(const CnvTileJob &s)
{
  return {s.gain, s.fraction + (float)s.base, s.mid_bias, s.full_bits, s.shift, s.absolute != 0};
}

/* A sum to a level, not yet clamped. Times the smallest float32 it becomes a denormal number, rounded to nearest, ties
 * to even, whose bits are the level; those of negative ones are a negative integer. */
__device__ static int
to_level(float acc, const Epilogue &f)
{
  return __float_as_int(fmaf(acc, f.gain, f.offset) * __int_as_float(1));
}

/* Sums of the lane's samples 0 and 1 in rows 2t and 2t + 1 of eight, d as the product gives them, to the levels of four
 * neighbours of row g; t: lane % 4, g: lane / 4. */
__device__ static void
epilogue_word(uint32_t &word, const float (&d)[4], const Epilogue &f)
{
  word = transpose(
      pack_levels(to_level(d[0], f), to_level(d[2], f), pack_levels(to_level(d[1], f), to_level(d[3], f), 0)));
}

__device__ static uint32_t
pack_pair(float low, float high, const Epilogue &f)
{
  const uint32_t a = (uint32_t)min(max(to_level(low, f), 0), f.full);
  const uint32_t b = (uint32_t)min(max(to_level(high, f), 0), f.full);

  return (a | b << 16) << f.shift;
}

__device__ static void
epilogue_word(uint2 &word, const float (&d)[4], const Epilogue &f)
{
  const uint32_t even = transpose(pack_pair(d[0], d[1], f)), odd = transpose(pack_pair(d[2], d[3], f));

  word = make_uint2(__byte_perm(even, odd, 0x5410), __byte_perm(even, odd, 0x7632));
}

/* renormalize: the lane's samples are x and x + 1, of rows y and y + 1 of the field. */
__device__ static void
restore_sums(float (&d)[4], const CnvTileJob &s, int x, int y)
{
  float factor_x[2], factor_y[2];

  for (int i = 0; i < 2; i++) {
    const int pixel = (x + i) / s.channels - s.job.window_x;

    factor_x[i] = axis_factor(s.term.taps[CNV_X], s.term.n[CNV_X], s.term.sum[CNV_X], s.term.epsilon[CNV_X],
                              pixel - s.term.anchor[CNV_X], s.job.window_width);
    factor_y[i] = axis_factor(s.term.taps[CNV_Y], s.term.n[CNV_Y], s.term.sum[CNV_Y], s.term.epsilon[CNV_Y],
                              y + i - s.job.window_y - s.term.anchor[CNV_Y], s.job.window_height);
  }
  d[0] *= factor_x[0] * factor_y[0];
  d[1] *= factor_x[0] * factor_y[1];
  d[2] *= factor_x[1] * factor_y[0];
  d[3] *= factor_x[1] * factor_y[1];
}

/* Tile number `number` of a job: of those that are `groups` wide, or of the columns at its sides, group by group. */
__device__ static Tile
find_tile(const CnvTileJob &s, int number, int groups)
{
  const int columns = s.columns - s.left_columns - s.right_columns;
  const int tile_rows = (s.job.height + s.rows - 1) / s.rows, inner = columns * tile_rows;
  const int across = number < inner ? columns : (s.left_columns + s.right_columns) * groups;
  const int at = number < inner ? number : number - inner, row = at / max(across, 1), rest = at - row * across;
  const int y = s.job.y + row * s.rows, y_end = min(y + s.rows, s.job.y + s.job.height);

  if (number >= s.n_tiles)
    return {0, 0, 0, 0};
  if (number < inner)
    return {s.origin + (s.left_columns + rest) * groups * 16, y, y_end, groups};
  return {s.origin + (rest < s.left_columns * groups ? rest : rest + columns * groups) * 16, y, y_end, 1};
}

/* Number of the band for a group of 16 samples: 0 where all its taps find samples. */
__device__ static int
edge_band(const CnvTileJob &s, int group)
{
  const int at = min(group, s.n_groups - 1);

  return at < s.left_groups ? 1 + at : at >= s.right_group ? 1 + s.left_groups + at - s.right_group : 0;
}

/* A lane's input: four samples of each group of 16, in row number lane / 4 of a step's eight. EDGE: the tile
 * reaches out of the window. Taps on samples missing along x are then folded into the bands of the groups, and any
 * value may be read in their place; or they are filled in, where they have a value of their own. */
template <typename T, int WORDS, bool EDGE> struct Source {
  typedef typename Word<T>::type W;
  const TileParams &params;
  const char *from;    /* sample 0 in row 0 */
  const char *lane_at; /* the lane's first word of step 0, if all its rows are inside the window */
  int64_t step_bytes;  /* from step to step */
  int x;               /* the lane's first sample */
  int first_y;         /* first row of step 0, in the window */
  int window_y, rows, stride;
  bool fills;

  __device__ Source(const TileParams &params, int x, int y) : params(params)
  {
    this->x = x + threadIdx.x % 4 * 4;
    window_y = params.s.job.window_y;
    first_y = y - window_y;
    rows = params.s.job.window_height;
    stride = params.in_stride;
    from = (const char *)params.in;
    lane_at = from + (int64_t)(y + (int)(threadIdx.x % 32 / 4)) * stride + this->x * (int)sizeof(T);
    step_bytes = (int64_t)CNV_TENSOR_ROWS * stride;
    fills = cnv_border_has_value((CnvBorder)params.s.border) || cnv_border_renormalizes((CnvBorder)params.s.border);
  }

  __device__ void load(W (&word)[WORDS], int step, int64_t delta) const
  {
    const int y = first_y + step * CNV_TENSOR_ROWS, lane_y = y + threadIdx.x % 32 / 4 + window_y;
    const T *at = (const T *)(lane_at + delta + step * step_bytes);

    if (EDGE) {
      load_edge(word, row_of(params.s, lane_y), delta);
      return;
    }
    if (!inside(y, CNV_TENSOR_ROWS, rows))
      at = (const T *)(from + delta + (int64_t)max(row_of(params.s, lane_y), 0) * stride) + x;
#pragma unroll
    for (int i = 0; i + 1 < WORDS; i += 2)
      load_pair((const W *)(at + 16 * i + (threadIdx.x & 1) * 12), word[i], word[i + 1]);
    if (WORDS % 2)
      word[WORDS - 1] = __ldg((const W *)(at + 16 * (WORDS - 1)));
  }

  /* Brings pairs that were loaded into the lanes' order, and fills in rows that are missing: not where they are
   * loaded, since that would wait for them. */
  __device__ void unshuffle(W (&word)[WORDS], int step) const
  {
    const int y = first_y + step * CNV_TENSOR_ROWS;

    if (!EDGE && fills && !inside(y, CNV_TENSOR_ROWS, rows))
#pragma unroll
      for (int i = 0; i < WORDS; i++)
        if (!inside(y + threadIdx.x % 32 / 4, 1, rows))
          word[i] = missing_word<T>(params, 0);
#pragma unroll
    for (int i = 0; i + 1 < WORDS && !EDGE; i += 2)
      swap_words(word[i], word[i + 1]);
  }

  __device__ void load_edge(W (&word)[WORDS], int row, int64_t delta) const
  {
    const int first = params.window_x0 & ~3, last = (params.window_x1 - 1) & ~3;
    const T *at = (const T *)(from + delta + (int64_t)max(row, 0) * stride);

    /* A word that reaches beyond the window may reach beyond the memory. */
    if (!params.words || params.window_x1 % 4) {
      load_samples(word, at);
    } else {
#pragma unroll
      for (int i = 0; i < WORDS; i++)
        word[i] = __ldg((const W *)(at + min(max(x + 16 * i, first), last)));
    }
    if (fills && (row < 0 || x < params.window_x0 || x + 16 * WORDS > params.window_x1))
      fill(word, row);
  }

  /* The same from addresses that are no multiples of a word. */
  __device__ void load_samples(W (&word)[WORDS], const T *at) const
  {
#pragma unroll
    for (int i = 0; i < WORDS; i++) {
      word[i] = {};
#pragma unroll
      for (int k = 0; k < 4; k++)
        set_sample(word[i], k, load_sample(at + min(max(x + 16 * i + k, params.window_x0), params.window_x1 - 1)));
    }
  }

  __device__ void fill(W (&word)[WORDS], int row) const
  {
#pragma unroll
    for (int i = 0; i < WORDS; i++) {
      const int first = x + 16 * i;
      W there = {};

#pragma unroll
      for (int k = 0; k < 4; k++)
        if (row >= 0 && first + k >= params.window_x0 && first + k < params.window_x1)
          set_sample(there, k, sizeof(T) == 1 ? 0xff : 0xffff);
      word[i] = merge(word[i], missing_word<T>(params, first), there);
    }
  }
};

/* A lane's output: four samples of each group, in the same rows. MERGE: some channels are copied from the input. That
 * is known at compile time, since to wait for their samples would be to wait for all loads in flight, too.
 */
template <typename T, bool EDGE, bool MERGE> struct Target {
  typedef typename Word<T>::type W;
  const TileParams &params;
  uint64_t out, back;
  int x, y, y_end, out_stride, back_stride;
  bool cut; /* samples are left out of words, or words may not be stored */
  W mask;

  __device__ Target(const TileParams &params, const Tile &tile, int width) : params(params)
  {
    const CnvRectJob &p = params.s.job;
    const int lane = threadIdx.x % 32;

    x = tile.x + lane % 4 * 4;
    y = tile.y + lane / 4;
    y_end = tile.y_end;
    out_stride = params.out_stride;
    back_stride = params.in_stride;
    out = params.out + x * (int)sizeof(T) + (int64_t)y * out_stride;
    back = params.back + x * (int)sizeof(T) + (int64_t)y * back_stride;
    mask = filtered_mask<T>(params.s);
    cut = EDGE && !(params.word_stores && tile.x >= p.x * params.s.channels &&
                    tile.x + width <= (p.x + p.width) * params.s.channels);
  }

  /* Groups side by side, of one step. */
  template <int M> __device__ void store(W (&word)[M], int step) const
  {
    const int row = step * CNV_TENSOR_ROWS;
    W *to = (W *)(out + (int64_t)row * out_stride);

    if (EDGE && cut) {
#pragma unroll
      for (int m = 0; m < M && y + row < y_end; m++)
        store_samples<T>(params, x + 16 * m, y + row, word[m], mask);
      return;
    }
    if (MERGE && y + row < y_end)
      merge_all(word, (const W *)(back + (int64_t)row * back_stride));
#pragma unroll
    for (int m = 0; m + 1 < M; m += 2)
      swap_words(word[m], word[m + 1]);
    if (y + row >= y_end)
      return;
#pragma unroll
    for (int m = 0; m + 1 < M; m += 2)
      store_pair(to + 4 * m + (threadIdx.x & 1) * 3, word[m], word[m + 1]);
    if (M % 2)
      __stwb(to + 4 * (M - 1), word[M - 1]);
  }

  /* Takes the channels that are copied from the input. */
  template <int M> __device__ void merge_all(W (&word)[M], const W *back) const
  {
    W before[M];

#pragma unroll
    for (int m = 0; m < M; m++)
      before[m] = __ldg(back + 4 * m);
#pragma unroll
    for (int m = 0; m < M; m++)
      word[m] = merge(word[m], before[m], mask);
  }
};

/* Steps, or frames, whose samples are on their way while others are worked on. More of them cost more in registers than
 * they bring. */
#define TENSOR_AHEAD 2

template <typename T, int K_X, int K_Y, int M, int MODE, bool EDGE, bool MERGE>
__device__ static void
tensor_tile(const CnvTileArgs &l, const TileParams &params, const Tile &tile)
{
  constexpr bool exact = MODE == TENSOR_EXACT, time = MODE == TENSOR_TIME;
  constexpr int words = M + K_X - 1, window = 2 * K_Y, bands_x = K_X * (1 + exact), bands_y = K_Y * (1 + exact);
  constexpr bool keeps_x = K_X <= 3 && !exact, keeps_y = K_Y <= 5; /* bands that stay in registers */
  typedef typename Word<T>::type W;
  const CnvTileJob &s = params.s;
  const int lane = threadIdx.x % 32, n_sources = time ? l.sources.n : 1;
  const uint4 *band_x = (const uint4 *)((const uint32_t *)l.bands + s.bands) + lane;
  const uint2 *band_y = (const uint2 *)((const uint32_t *)l.bands + s.bands + bands_x * 32 * 4) + lane;
  uint4 a[keeps_x ? K_X : 1];
  uint2 v[keeps_y ? bands_y : 1];
  int band_of[M]; /* EDGE: of each group, from band_x on */
#pragma unroll
  for (int k = 0; k < bands_y && keeps_y; k++)
    v[k] = __ldg(band_y + 32 * k);
#pragma unroll
  for (int k = 0; k < K_X && keeps_x; k++)
    a[k] = __ldg(band_x + 32 * k);

#pragma unroll
  for (int m = 0; m < M; m++)
    band_of[m] =
        EDGE ? edge_band(s, tile.x / 16 + m) * bands_x * 32 + (edge_band(s, tile.x / 16 + m) ? bands_y * 16 : 0) : 0;

  const Halves halves = halves_of<T>(s);
  const Epilogue epilogue = epilogue_of(s);
  const Source<T, words, EDGE> source(params, tile.x - s.apron_left, tile.y - s.term.anchor[CNV_Y]);
  const Target<T, EDGE, MERGE> target(params, tile, 16 * M);
  const bool renormalizes = EDGE && cnv_border_renormalizes((CnvBorder)s.border);
  const int steps = (tile.y_end - tile.y + CNV_TENSOR_ROWS - 1) / CNV_TENSOR_ROWS + window - 1;
  Sums<MODE != TENSOR_PLAIN> sums[window][M];
  W staged_rows[TENSOR_AHEAD][words];

  const auto prefetch = [&](W(&word)[words], int step, int frame) {
    source.load(word, min(step, steps - 1), time ? l.sources.delta[min(frame, n_sources - 1)] : 0);
  };
  const auto filter_rows = [&](float(&c)[M][4], W(&word)[words], int step) {
    uint2 b[words];

    source.unshuffle(word, step);
#pragma unroll
    for (int w = 0; w < words; w++)
      b[w] = to_halves(word[w], halves);
#pragma unroll
    for (int k = 0; k < bands_x; k++) {
      const uint4 taps = keeps_x ? a[k % K_X] : __ldg(band_x + 32 * k);

#pragma unroll
      for (int m = 0; m < M; m++) {
        uint4 own = taps;

        if (EDGE && band_of[m])
          own = __ldg(band_x + band_of[m] + 32 * k);
        multiply(c[m], own, b[m + k % K_X]);
      }
    }
  };
#pragma unroll
  for (int i = 0; i < TENSOR_AHEAD; i++)
    prefetch(staged_rows[i], time ? 0 : i, time ? i : 0);

    /* Register arrays are indexed by what is known at compile time, so a window's steps are written out; frames are
     * taken in pairs. */
#pragma unroll 1
  for (int step = 0; step < steps; step += window) {
#pragma unroll
    for (int u = 0; u < window; u++) {
      if (step + u >= steps)
        return;
      const int row = step + u - window + 1; /* of outputs, by eight */
      float c[M][4] = {};

      if (time) {
#pragma unroll 1
        for (int i = 0; i < n_sources; i += 2) {
          const bool last = i + 2 >= n_sources;

#pragma unroll
          for (int k = 0; k < 2; k++) {
            const float weight = i + k < n_sources ? l.sources.weight[i + k] : 0.0f;
            float part[M][4] = {};

            filter_rows(part, staged_rows[k], step + u);
#pragma unroll
            for (int q = 0; q < 4 * M; q++)
              c[q / 4][q % 4] = fmaf(weight, part[q / 4][q % 4], c[q / 4][q % 4]);
            prefetch(staged_rows[k], step + u + last, last ? k : i + 2 + k);
          }
        }
      } else {
        filter_rows(c, staged_rows[u % TENSOR_AHEAD], step + u);
        prefetch(staged_rows[u % TENSOR_AHEAD], step + u + TENSOR_AHEAD, 0);
      }
#pragma unroll
      for (int m = 0; m < M; m++)
        pack_sums(sums[u % window][m], c[m]);
      if (row < 0)
        continue;
      float d[M][4] = {};
      W word[M];

#pragma unroll
      for (int k = 0; k < K_Y; k++) {
        const uint2 band = keeps_y ? v[k] : __ldg(band_y + 32 * k), rest = v[exact ? K_Y + k : 0];

#pragma unroll
        for (int m = 0; m < M; m++)
          multiply_sums<exact>(d[m], sums[(u + 1 + 2 * k) % window][m], sums[(u + 2 + 2 * k) % window][m], band, rest);
      }
      if (renormalizes)
#pragma unroll
        for (int m = 0; m < M; m++)
          restore_sums(d[m], s, tile.x + 16 * m + 2 * (lane / 4), tile.y + row * CNV_TENSOR_ROWS + 2 * (lane % 4));
      if (epilogue.absolute)
#pragma unroll
        for (int i = 0; i < 4 * M; i++)
          d[i / 4][i % 4] = fabsf(d[i / 4][i % 4] + epilogue.mid_bias);
#pragma unroll
      for (int m = 0; m < M; m++)
        epilogue_word(word[m], d[m], epilogue);
      target.store(word, row);
    }
  }
}

/* TRUE if every access is an aligned word inside the window in x, and missing rows need no values of their own. rows:
 * that the tile reads. */
template <int WORDS, int M>
__device__ static bool
is_inner(const TileParams &params, const Tile &tile, int rows)
{
  const CnvTileJob &s = params.s;
  const CnvRectJob &p = s.job;
  const int x = tile.x - s.apron_left, y = tile.y - s.term.anchor[CNV_Y];
  const bool fills = cnv_border_has_value((CnvBorder)s.border) || cnv_border_renormalizes((CnvBorder)s.border);

  return params.pairs && x >= params.window_x0 && x + 16 * WORDS <= params.window_x1 &&
         (!fills || (cnv_border_has_value((CnvBorder)s.border) && s.channels != 3) ||
          inside(y - p.window_y, rows, p.window_height)) &&
         tile.x >= p.x * s.channels && tile.x + 16 * M <= (p.x + p.width) * s.channels;
}

template <typename T, int K_X, int K_Y, int M, int MODE>
__device__ static void
tensor(const CnvTileArgs &l)
{
  constexpr int words = M + K_X - 1;
  __shared__ TileParams params;

  load_tile_job<T>(params, l);
  const Tile tile = find_tile(params.s, (blockIdx.x - params.s.first_block) * CNV_TILE_WARPS + threadIdx.x / 32, M);
  const int steps = (tile.y_end - tile.y + CNV_TENSOR_ROWS - 1) / CNV_TENSOR_ROWS + 2 * K_Y - 1;

  if (tile.groups == M && is_inner<words, M>(params, tile, steps * CNV_TENSOR_ROWS)) {
    if (params.s.copied)
      tensor_tile<T, K_X, K_Y, M, MODE, false, true>(l, params, tile);
    else
      tensor_tile<T, K_X, K_Y, M, MODE, false, false>(l, params, tile);
    return;
  }
#pragma unroll 1
  for (int m = 0; m < tile.groups; m++)
    tensor_tile<T, K_X, K_Y, 1, MODE, true, true>(l, params, {tile.x + 16 * m, tile.y, tile.y_end, 1});
}

#else

template <typename T, int K_X, int K_Y, int M, int MODE>
__device__ static void
tensor(const CnvTileArgs &)
{
}

#endif
