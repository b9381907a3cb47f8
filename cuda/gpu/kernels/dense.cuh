/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * dense: full-rank taps as products of banded matrices on the tensor cores, mma.m16n8k16 in f16 with float32 sums. For
 * each row j of taps
 *
 *     C[x][y] += sum over k of A_j[x][k] * B[k][y + j]
 *
 * with A_j the band of taps of row j, 16 outputs along x, and B the image, 16 samples along k and 8 rows. A block makes
 * CNV_DENSE_WIDTH samples of CNV_DENSE_CHUNK(r) rows at once, 2 x 2 warps of 64 samples and 8 * r rows, and goes down
 * its tile so. The samples with their apron are brought to shared memory as f16, less mid; there borders end and all
 * channels are alike, a tap's neighbour being `channels` samples away. B then is what ldmatrix gives, row j an address,
 * and what is read for one row serves all groups of 16 outputs that it reaches; where there are many rows, also row j +
 * 8, whose B of the 8 outputs above is the same. The samples of the next chunk, or frame, are on their way while one is
 * computed.
 *
 * Bands: from word s.bands of l.bands on, for each temporal tap, row of taps and term: the fragments of k steps 0 to K
 * - 1; split: and then those of the taps' low parts. A fragment is 16 bytes for each lane, in order of lanes:
 * words 0 to 3 are A[g][2t], A[g + 8][2t], A[g][2t + 8] and A[g + 8][2t + 8], each with its neighbour along k in the
 * upper half; t: lane % 4, g: lane / 4. k is the sample as it stands: k of step i is sample 16 * i + k - s.apron_left
 * from the group's first. Row i of A is output i in 16-bit samples; in 8-bit ones rows g and g + 8 are outputs 2g and
 * 2g + 1.
 *
 * Of CnvTileJob, with a meaning of its own here:
 *   columns, rows   of tiles; of a tile: CNV_DENSE_WIDTH samples, a multiple of CNV_DENSE_CHUNK(r) rows. A block a tile
 *   apron_left      a multiple of 8, from anchor_x * channels up to 16 * (K - 1)
 *   n_y             rows of taps that the bands have, those of zeros that CNV_DENSE_ROWS adds among them
 *   taps_x          words from the bands of a temporal tap to those of the next; 0: all frames have the same
 *   gain, mid_bias  those of the bands; base and fraction as ever
 * With two terms the sum is sqrt(first^2 + second^2). Of frames only those are read whose weight is not 0. Renormalize
 * is not done.
 */
#pragma once

#include "gpu/kernels/tensor.cuh"

#if __CUDA_ARCH__ >= 800

extern __shared__ uint4 cnv_dense_shared[];

/* Eight samples that stand side by side. */
template <typename T> struct Eight {
  typename Word<T>::type low, high;
};

/* Read once: they shall not drive the bands out of L1. */
__device__ static void
load_eight(Eight<uint8_t> &to, const char *from)
{
  asm("ld.global.nc.L1::no_allocate.v2.u32 {%0, %1}, [%2];" : "=r"(to.low), "=r"(to.high) : "l"(from));
}

__device__ static void
load_eight(Eight<uint16_t> &to, const char *from)
{
  asm("ld.global.nc.L1::no_allocate.v4.u32 {%0, %1, %2, %3}, [%4];"
      : "=r"(to.low.x), "=r"(to.low.y), "=r"(to.high.x), "=r"(to.high.y)
      : "l"(from));
}

/* Samples by 16 * words, 8 rows of them: B of so many steps. at: the lane's row of 16 bytes, in shared memory. */
template <int WORDS>
__device__ static void
read_samples(uint2 (&b)[WORDS], uint32_t at)
{
#pragma unroll
  for (int i = 0; i + 1 < WORDS; i += 2)
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(b[i].x), "=r"(b[i].y), "=r"(b[i + 1].x), "=r"(b[i + 1].y)
                 : "r"(at + 32 * i)
                 : "memory");
  if (WORDS % 2)
    asm volatile("ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%0, %1}, [%2];"
                 : "=r"(b[WORDS - 1].x), "=r"(b[WORDS - 1].y)
                 : "r"(at + 32 * (WORDS - 1))
                 : "memory");
}

/* The tile of a block, and the samples that it reads by eights. */
struct DenseTile {
  int x, y, y_end;
  int first_group,
      last_group;    /* groups of 8 samples, counted from lead before x, from the first up to without the last */
  bool eights;       /* addresses are multiples of 8 samples, or else of 4 */
  bool missing;      /* some rows are outside of the window, with values of their own */
  bool plain;        /* all that is read lies in the window and is read by eights */
  bool plain_stores; /* all that is written is filtered, and written by 16 bytes */
  const int *lines;  /* which row of the field stands for each */
};

/* Samples of a chunk on their way: groups that begin within the tile, one of 8 rows for each thread, and those at its
 * sides. Bits of there: which of them came. */
template <typename T, int K, int R> struct DenseHeld {
  static constexpr int passes = 2 * R + 1, sides = 2 * K - 2, side_rows = 32 * CNV_TILE_WARPS / sides;
  static constexpr int side_passes = (8 * passes + side_rows - 1) / side_rows;
  Eight<T> eight[passes + side_passes];
  uint32_t there;
};

/* A thread's group, of a row of the tile and what is beside it. */
struct DenseGroup {
  int group, row;   /* of the first pass */
  const char *from; /* its sample in row 0 of the field */
  bool inside;
};

template <typename T>
__device__ static DenseGroup
dense_group(const TileParams &params, const DenseTile &tile, int group, int row)
{
  return {group, row, (const char *)params.in + (int64_t)(tile.x - params.s.apron_left + 8 * group) * (int)sizeof(T),
          group >= tile.first_group && group < tile.last_group};
}

template <typename T>
__device__ static bool
load_group(Eight<T> &to, const DenseTile &tile, const DenseGroup &g, int stride, int line, int row, int rows,
           int64_t delta)
{
  typedef typename Word<T>::type W;

  if (row >= rows || !g.inside)
    return false;
  const int at = tile.lines[line + row];
  if (at < 0)
    return false;
  const char *from = g.from + delta + (int64_t)at * stride;
  if (tile.eights) {
    load_eight(to, from);
  } else {
    to.low = __ldg((const W *)from);
    to.high = __ldg((const W *)from + 1);
  }
  return true;
}

template <typename T>
__device__ static void
store_group(__half *to, const Eight<T> &eight, const Halves &halves, bool there = true)
{
  const uint2 low = to_halves(eight.low, halves), high = to_halves(eight.high, halves);

  if (there)
    *(uint4 *)to = make_uint4(low.x, low.y, high.x, high.y);
}

/* Loads samples. Made anew each time from shared memory: registers are for sums. */
template <typename T, int K, int R> struct DenseLoader {
  typedef DenseHeld<T, K, R> Held;
  static constexpr int pitch = CNV_DENSE_PITCH(K);
  const TileParams &params;
  const DenseTile tile;
  const int *column;
  __half *to;
  const Halves halves;
  const int stride;
  const DenseGroup main, side;

  __device__ DenseLoader(const TileParams &from, const DenseTile &shared_tile, const int *columns, __half *samples)
      : params(from), tile(shared_tile), column(columns), to(samples), halves(halves_of<T>(from.s)),
        stride(from.in_stride),
        main(dense_group<T>(from, tile, from.s.apron_left / 8 + threadIdx.x % 16, threadIdx.x / 16)),
        side(dense_group<T>(from, tile, beside(from.s.apron_left / 8, threadIdx.x % Held::sides),
                            threadIdx.x / Held::sides))
  {
  }

  __device__ static int beside(int lead, int number)
  {
    return number < lead ? number : number + CNV_DENSE_WIDTH / 8;
  }

  /* Starts loading the part of a chunk that is held in registers; line: its first. */
  __device__ void prefetch(Held &held, int line, int rows, int64_t delta) const
  {
    held.there = 0;
#pragma unroll
    for (int p = 0; p < Held::passes; p++)
      held.there |= (uint32_t)load_group<T>(held.eight[p], tile, main, stride, line, main.row + 8 * p, rows, delta)
                    << p;
#pragma unroll
    for (int p = 0; p < Held::side_passes; p++)
      held.there |= (uint32_t)load_group<T>(held.eight[Held::passes + p], tile, side, stride, line,
                                            side.row + Held::side_rows * p, rows, delta)
                    << (Held::passes + p);
  }

  __device__ void store(const Held &held) const
  {
#pragma unroll
    for (int p = 0; p < Held::passes; p++)
      if (held.there >> p & 1)
        store_group<T>(to + (main.row + 8 * p) * pitch + 8 * main.group, held.eight[p], halves);
#pragma unroll
    for (int p = 0; p < Held::side_passes; p++)
      if (held.there >> (Held::passes + p) & 1)
        store_group<T>(to + (side.row + Held::side_rows * p) * pitch + 8 * side.group, held.eight[Held::passes + p],
                       halves);
  }

  /* Brings rows from `first` on, so many threads apart, by BATCH of them at once. */
  template <int BATCH>
  __device__ void fetch(const DenseGroup &g, int first, int step, int line, int rows, int64_t delta) const
  {
#pragma unroll 1
    for (; first < rows; first += step * BATCH) {
      Eight<T> eight[BATCH];
      bool there[BATCH];

#pragma unroll
      for (int p = 0; p < BATCH; p++)
        there[p] = load_group<T>(eight[p], tile, g, stride, line, first + g.row + step * p, rows, delta);
#pragma unroll
      for (int p = 0; p < BATCH; p++)
        if (there[p])
          store_group<T>(to + (first + g.row + step * p) * pitch + 8 * g.group, eight[p], halves);
    }
  }

  /* All rows, or those beyond what is held. */
  __device__ void fetch_rows(bool held, int line, int rows, int64_t delta) const
  {
    if (held)
      fetch<2>(main, 8 * Held::passes, 8, line, rows, delta);
    else
      fetch<sizeof(T) == 1 ? 4 : 2>(main, 0, 8, line, rows, delta);
    fetch<K == 2 || sizeof(T) == 2 ? 2 : 4>(side, held ? Held::side_rows * Held::side_passes : 0, Held::side_rows, line,
                                            rows, delta);
  }

  /* Groups that do not lie in the window, or not as words, and rows that are missing: sample by sample. */
  __device__ void store_others(int line, int rows, int64_t delta) const
  {
    const int outside = tile.last_group - tile.first_group;
    const int groups = CNV_DENSE_GROUPS(K) - (tile.missing ? 0 : outside);

#pragma unroll 1
    for (int i = threadIdx.x; i < rows * groups; i += 32 * CNV_TILE_WARPS) {
      const int number = i / rows, row = i - number * rows, at = tile.lines[line + row];
      const int group = tile.missing || number < tile.first_group ? number : number + outside;
      const bool inside = group >= tile.first_group && group < tile.last_group;
      const int x = tile.x - params.s.apron_left + 8 * group;
      Eight<T> eight;

      if (at >= 0 && inside)
        continue;
      if (at < 0)
        eight = {missing_word<T>(params, x), missing_word<T>(params, x + 4)};
      else
        eight = {gather_word<T>(params, column + 8 * group, delta, at),
                 gather_word<T>(params, column + 8 * group + 4, delta, at)};
      store_group<T>(to + row * pitch + 8 * group, eight, halves);
    }
  }
};

/* The same for a plain tile, without tests but for the last row: what it takes is kept. */
template <typename T, int K, int R> struct DensePlain {
  typedef DenseHeld<T, K, R> Held;
  static constexpr int pitch = CNV_DENSE_PITCH(K);
  const char *main; /* the thread's first samples in the tile's first row */
  int side;         /* bytes from there to those at the tile's sides */
  __half *main_to, *side_to;

  __device__ DensePlain(const DenseLoader<T, K, R> &l, int first_row)
      : main(l.main.from + (int64_t)(first_row + l.main.row) * l.stride),
        side((int)(l.side.from - l.main.from) + (l.side.row - l.main.row) * l.stride),
        main_to(l.to + l.main.row * pitch + 8 * l.main.group), side_to(l.to + l.side.row * pitch + 8 * l.side.group)
  {
  }

  __device__ void prefetch(Held &held, int stride, int line, int rows, int64_t delta) const
  {
    const int64_t first = delta + (int64_t)line * stride;
    const int main_rows = rows - (int)(threadIdx.x / 16), side_rows = rows - (int)(threadIdx.x / Held::sides);

#pragma unroll
    for (int p = 0; p < Held::passes; p++)
      if (8 * p < main_rows)
        load_eight(held.eight[p], main + first + (int64_t)(8 * p) * stride);
#pragma unroll
    for (int p = 0; p < Held::side_passes; p++)
      if (Held::side_rows * p < side_rows)
        load_eight(held.eight[Held::passes + p], main + side + first + (int64_t)(Held::side_rows * p) * stride);
  }

  __device__ void store(const Held &held, const Halves &halves, int rows) const
  {
    const int main_rows = rows - (int)(threadIdx.x / 16), side_rows = rows - (int)(threadIdx.x / Held::sides);

#pragma unroll
    for (int p = 0; p < Held::passes; p++)
      store_group<T>(main_to + 8 * p * pitch, held.eight[p], halves, 8 * p < main_rows);
#pragma unroll
    for (int p = 0; p < Held::side_passes; p++)
      store_group<T>(side_to + Held::side_rows * p * pitch, held.eight[Held::passes + p], halves,
                     Held::side_rows * p < side_rows);
  }
};

/* Sums of a warp: 64 samples of 8 * R rows. */
template <int R, int TERMS> struct DenseSums {
  float c[TERMS][R][4][4];
};

/* Adds row after row of taps. bands: the lane's; at: of the lane's first row. */
template <int K, int R, int TERMS, bool EXACT>
__device__ static void
add_rows(DenseSums<R, TERMS> &sums, const uint4 *bands, uint32_t at, int rows)
{
  constexpr int parts = K * (1 + EXACT), pitch = 2 * CNV_DENSE_PITCH(K);

#pragma unroll 1
  for (int j = 0; j < rows; j++) {
    uint4 a[TERMS * parts];

#pragma unroll
    for (int i = 0; i < TERMS * parts; i++)
      a[i] = __ldg(bands + 32 * i);
#pragma unroll
    for (int r = 0; r < R; r++) {
      uint2 b[K + 3];

      read_samples(b, at + 8 * r * pitch);
#pragma unroll
      for (int i = 0; i < TERMS * parts; i++)
#pragma unroll
        for (int m = 0; m < 4; m++)
          multiply(sums.c[i / parts][r][m], a[i], b[m + i % K]);
    }
    bands += 32 * TERMS * parts;
    at += pitch;
  }
}

/* The same, 16 rows at a time. */
template <int K, int R>
__device__ static void
add_pairs(DenseSums<R, 1> &sums, const uint4 *bands, uint32_t at, int rows)
{
  constexpr int pitch = 2 * CNV_DENSE_PITCH(K);

#pragma unroll 1
  for (int j = 0; j < rows / 2; j++) {
    uint4 upper[K], lower[K];

#pragma unroll
    for (int k = 0; k < K; k++) {
      upper[k] = __ldg(bands + 32 * k);
      lower[k] = __ldg(bands + 32 * (8 * K + k));
    }
#pragma unroll
    for (int r = 0; r <= R; r++) {
      uint2 b[K + 3];

      read_samples(b, at + 8 * r * pitch);
#pragma unroll
      for (int k = 0; k < K; k++) {
#pragma unroll
        for (int m = 0; m < 4 && r < R; m++)
          multiply(sums.c[0][r][m], upper[k], b[m + k]);
#pragma unroll
        for (int m = 0; m < 4 && r > 0; m++)
          multiply(sums.c[0][r - 1][m], lower[k], b[m + k]);
      }
    }
    const int next = j % 8 == 7 ? 9 : 1;
    bands += 32 * K * next;
    at += pitch * next;
  }
}

/* Numbers that turn sums into levels. */
struct DenseEpilogue {
  float start;            /* what a sum begins with */
  float weight, mid_bias; /* absolute */
  float offset, gain, magic;
  int adjust;
};

__device__ static DenseEpilogue
find_epilogue(const CnvTileJob &s, int terms, float first_weight, float last_weight)
{
  const bool plain = terms == 1 && !s.absolute;
  const float offset = s.gain != 0.0f ? s.fraction / s.gain : 0.0f;
  DenseEpilogue f;

  f.start = plain && first_weight != 0.0f ? offset / first_weight : 0.0f;
  f.weight = last_weight;
  f.mid_bias = s.mid_bias;
  f.offset = offset;
  f.gain = plain ? s.gain * last_weight : s.gain;
  /* A fraction added here would be rounded before the sum is. */
  f.magic = f.gain != 0.0f ? SIGNED_INTEGERS : SIGNED_INTEGERS + s.fraction;
  f.adjust = s.base - __float_as_int(SIGNED_INTEGERS);
  return f;
}

__device__ static float
root(float square)
{
  float out;

  asm("sqrt.approx.f32 %0, %1;" : "=f"(out) : "f"(square));
  return out;
}

__device__ static int
dense_level(float acc, const DenseEpilogue &f)
{
  return __float_as_int(fmaf(acc, f.gain, f.magic)) + f.adjust;
}

__device__ static uint32_t
dense_pair(float low, float high, const DenseEpilogue &f, const CnvTileJob &s)
{
  uint32_t out;

  asm("cvt.pack.sat.u16.s32 %0, %1, %2;" : "=r"(out) : "r"(dense_level(high, f)), "r"(dense_level(low, f)));
  return __vminu2(out, s.full_bits * 0x10001u) << s.shift;
}

/* Levels as matrices of 16 bits of which a row is a sample of the group, or two, and a column one of 8 rows. */
__device__ static void
epilogue_group(uint32_t (&words)[1], const float (&d)[4], const DenseEpilogue &f, const CnvTileJob &)
{
  words[0] = pack_levels(dense_level(d[0], f), dense_level(d[2], f),
                         pack_levels(dense_level(d[1], f), dense_level(d[3], f), 0));
}

__device__ static void
epilogue_group(uint32_t (&words)[2], const float (&d)[4], const DenseEpilogue &f, const CnvTileJob &s)
{
  words[0] = dense_pair(d[0], d[1], f, s);
  words[1] = dense_pair(d[2], d[3], f, s);
}

/* Index of 16 bytes of 64 samples of 8 rows in shared memory: unit is their number in the row. No two lanes that come
 * together meet in a bank, neither along a row nor down a column. */
template <int UNITS>
__device__ static int
unit_in_row(int row, int unit)
{
  return row * UNITS + (unit ^ (UNITS == 4 ? row / 2 : row));
}

/* Four matrices, transposed, to units first to first + 3. */
template <int UNITS>
__device__ static void
store_matrices(uint4 *buffer, int first, uint32_t a, uint32_t b, uint32_t c, uint32_t d)
{
  const int lane = threadIdx.x % 32;

#if __CUDA_ARCH__ >= 900
  const uint4 *to = buffer + unit_in_row<UNITS>(lane % 8, first + lane / 8);

  asm volatile("stmatrix.sync.aligned.m8n8.x4.trans.shared.b16 [%0], {%1, %2, %3, %4};" ::"r"(
                   (uint32_t)__cvta_generic_to_shared(to)),
               "r"(a), "r"(b), "r"(c), "r"(d)
               : "memory");
#else
  const uint32_t words[4] = {a, b, c, d};

#pragma unroll
  for (int i = 0; i < 4; i++)
    ((uint32_t *)(buffer + unit_in_row<UNITS>(lane / 4, first + i)))[lane % 4] = transpose(words[i]);
#endif
}

/* The words of 16 bytes. */
__device__ static uint32_t
word_of(const uint4 &v, int i, uint8_t)
{
  return i < 2 ? (i < 1 ? v.x : v.y) : (i < 3 ? v.z : v.w);
}

__device__ static uint2
word_of(const uint4 &v, int i, uint16_t)
{
  return i < 1 ? make_uint2(v.x, v.y) : make_uint2(v.z, v.w);
}

__device__ static uint4
repeat(uint32_t word)
{
  return make_uint4(word, word, word, word);
}

__device__ static uint4
repeat(uint2 word)
{
  return make_uint4(word.x, word.y, word.x, word.y);
}

/* Stores 16 bytes of samples from x on, of row y. */
template <typename T>
__device__ static void
store_unit(const TileParams &params, int x, int y, const uint4 &v)
{
  constexpr int samples = 16 / sizeof(T);
  const CnvTileJob &s = params.s;
  const uint64_t places = params.out | params.out_stride | (s.copied ? params.back | params.in_stride : 0);
  const bool whole = (places & 15) == 0;
  const int x0 = s.job.x * s.channels, x1 = x0 + s.job.width * s.channels;

  if (whole && x >= x0 && x + samples <= x1) {
    uint4 *to = (uint4 *)(params.out + (int64_t)y * params.out_stride + (int64_t)x * sizeof(T));

    if (s.copied) {
      const uint4 back = __ldg((const uint4 *)(params.back + (int64_t)y * params.in_stride + (int64_t)x * sizeof(T)));
      const uint4 m = repeat(filtered_mask<T>(s));

      *to = make_uint4(merge(v.x, back.x, m.x), merge(v.y, back.y, m.y), merge(v.z, back.z, m.z),
                       merge(v.w, back.w, m.w));
    } else {
      *to = v;
    }
    return;
  }
#pragma unroll 1
  for (int i = 0; i < samples / 4; i++)
    if (x + 4 * i < x1)
      store_word<T>(params, x + 4 * i, y, word_of(v, i, T()), filtered_mask<T>(s));
}

/* Stores 64 samples of 8 rows; y: the first, of those before y_end. plain: as in DenseTile. */
template <typename T>
__device__ static void
store_sums(const TileParams &params, uint4 *buffer, const float (&c)[4][4], const DenseEpilogue &f, int x, int y,
           int y_end, bool plain)
{
  constexpr int units = 4 * sizeof(T);
  uint32_t words[4][sizeof(T)];

#pragma unroll
  for (int m = 0; m < 4; m++)
    epilogue_group(words[m], c[m], f, params.s);
  __syncwarp();
  if (sizeof(T) == 1) {
    store_matrices<units>(buffer, 0, words[0][0], words[1][0], words[2][0], words[3][0]);
  } else {
    constexpr int last = sizeof(T) - 1;

    store_matrices<units>(buffer, 0, words[0][0], words[0][last], words[1][0], words[1][last]);
    store_matrices<units>(buffer, 4, words[2][0], words[2][last], words[3][0], words[3][last]);
  }
  __syncwarp();
#pragma unroll
  for (int i = threadIdx.x % 32; i < 8 * units; i += 32) {
    const int row = i / units, unit = i % units;

    if (y + row >= y_end)
      continue;
    const uint4 v = buffer[unit_in_row<units>(row, unit)];
    if (plain)
      *(uint4 *)(params.out + (int64_t)(y + row) * params.out_stride + x * (int)sizeof(T) + 16 * unit) = v;
    else
      store_unit<T>(params, x + unit * (16 / (int)sizeof(T)), y + row, v);
  }
}

/* Combines terms, or takes the absolute value, in c[0]: before gain comes in. */
template <int R, int TERMS>
__device__ static void
combine_terms(DenseSums<R, TERMS> &sums, const DenseEpilogue &f)
{
#pragma unroll
  for (int r = 0; r < R; r++)
#pragma unroll
    for (int m = 0; m < 4; m++)
#pragma unroll
      for (int i = 0; i < 4; i++) {
        float &acc = sums.c[0][r][m][i];

        if (TERMS == 1)
          acc = fabsf(fmaf(acc, f.weight, f.mid_bias)) + f.offset;
        else
          acc = fmaf(root(fmaf(acc, acc, sums.c[TERMS - 1][r][m][i] * sums.c[TERMS - 1][r][m][i])), fabsf(f.weight),
                     f.offset);
      }
}

/* Begins a chunk's sums, or makes those of the frames before count in the weight of the next: the weight of the last
 * one is part of gain. */
template <int R, int TERMS>
__device__ static void
weigh_sums(DenseSums<R, TERMS> &sums, bool begin, float start, float factor)
{
  if (!begin && factor == 1.0f)
    return;
#pragma unroll
  for (int i = 0; i < TERMS * R * 16; i++) {
    float &acc = (&sums.c[0][0][0][0])[i];

    acc = begin ? start : acc * factor;
  }
}

__device__ static float
dense_weight(const CnvSources &sources, int i)
{
  return sources.n ? sources.weight[i] : 1.0f;
}

/* That of the last frame before number i that counts. */
__device__ static float
weight_before(const CnvSources &sources, int i)
{
  while (sources.weight[--i] == 0.0f)
    ;
  return sources.weight[i];
}

/* The first frame from number i on that counts; n: there is none. */
__device__ static int
next_source(const CnvSources &sources, int i)
{
  while (i < sources.n && sources.weight[i] == 0.0f)
    i++;
  return i;
}

/* Finds the block's tile, the rows that stand for its rows and, where not all lie inside, the samples for its samples
 * along x. */
template <int K>
__device__ static void
find_tile(DenseTile &tile, const TileParams &params, int *lines, int *column, int bytes)
{
  constexpr int groups = CNV_DENSE_GROUPS(K);
  const CnvTileJob &s = params.s;
  const CnvRectJob &p = s.job;
  const int number = blockIdx.x - s.first_block, row = number / s.columns;
  DenseTile t;

  t.x = s.origin + (number - row * s.columns) * CNV_DENSE_WIDTH;
  t.y = p.y + row * s.rows;
  t.y_end = min(t.y + s.rows, p.y + p.height);
  const int x = t.x - s.apron_left, y = t.y - s.term.anchor[CNV_Y], n = t.y_end - t.y + s.term.n[CNV_Y] - 1;
  t.first_group = params.words ? min(max(params.window_x0 - x + 7 >> 3, 0), groups) : groups;
  t.last_group = max(min(params.window_x1 - x >> 3, groups), t.first_group);
  t.eights = ((params.in | params.in_stride) & (8 * bytes - 1)) == 0;
  t.missing = cnv_border_has_value((CnvBorder)s.border) && (y < p.window_y || y + n > p.window_y + p.window_height);
  t.plain = t.eights && !t.missing && t.last_group - t.first_group == groups && y >= p.window_y &&
            y + n <= p.window_y + p.window_height;
  t.plain_stores = ((params.out | params.out_stride) & 15) == 0 && !s.copied && t.x >= p.x * s.channels &&
                   t.x + CNV_DENSE_WIDTH <= (p.x + p.width) * s.channels;
  t.lines = lines;
  for (int i = threadIdx.x; i < n; i += 32 * CNV_TILE_WARPS)
    lines[i] = row_of(s, y + i);
  if (t.last_group - t.first_group < groups)
    for (int i = threadIdx.x; i < 8 * groups; i += 32 * CNV_TILE_WARPS)
      column[i] = sample_of(s, x + i);
  if (threadIdx.x == 0)
    tile = t;
  __syncthreads();
}

/* Adds the products of one frame. at: of the warp's first sample. */
template <int K, int R, int TERMS, bool EXACT>
__device__ static void
add_frame(DenseSums<R, TERMS> &sums, const CnvTileArgs &l, const CnvTileJob &s, int source, uint32_t at)
{
  constexpr int row_fragments = TERMS * K * (1 + EXACT) * 32;
  const uint4 *bands =
      (const uint4 *)((const uint32_t *)l.bands + s.bands + (int64_t)source * s.term.taps[CNV_X]) + threadIdx.x % 32;
  const int pairs = CNV_DENSE_PAIRS(K, R, EXACT) ? s.term.n[CNV_Y] / 16 * 16 : 0;

  if constexpr (CNV_DENSE_PAIRS(K, R, EXACT))
    add_pairs<K, R>(sums, bands, at, pairs);
  add_rows<K, R, TERMS, EXACT>(sums, bands + pairs * row_fragments, at + pairs * 2 * CNV_DENSE_PITCH(K),
                               s.term.n[CNV_Y] - pairs);
}

template <typename T, int K, int R, int TERMS, bool EXACT>
__device__ static void
dense(const CnvTileArgs &l)
{
  constexpr int chunk = CNV_DENSE_CHUNK(R), pitch = CNV_DENSE_PITCH(K);
  constexpr bool ahead = R == 2 && TERMS == 1; /* registers for samples on their way */
  typedef DenseLoader<T, K, R> Loader;
  __shared__ TileParams params;
  __shared__ DenseTile tile;
  __shared__ DenseEpilogue epilogue;
  __shared__ uint4 buffers[CNV_TILE_WARPS][32 * sizeof(T)];
  __shared__ int column[8 * CNV_DENSE_GROUPS(K)];
  __half *samples = (__half *)cnv_dense_shared;
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, warp_x = warp % 2 * 64, warp_y = warp / 2 * 8 * R;
  /* If no frame counts, the first one stands for all, with weight 0. */
  const int n_sources = max(l.sources.n, 1), counts = next_source(l.sources, 0);
  const int first_source = counts < n_sources ? counts : 0;

  load_tile_job<T>(params, l);
  const CnvTileJob &s = params.s;
  if (threadIdx.x == 0) {
    int last = first_source;

    for (int i = first_source; i < n_sources; i = next_source(l.sources, i + 1))
      last = i;
    epilogue = find_epilogue(s, TERMS, dense_weight(l.sources, first_source), dense_weight(l.sources, last));
  }
  find_tile<K>(tile, params, (int *)(samples + pitch * (chunk + s.term.n[CNV_Y] - 1)), column, sizeof(T));

  /* A chunk of the tile, of one frame. */
  const auto rows_of = [&](int line) { return min(chunk, tile.y_end - tile.y - line) + params.s.term.n[CNV_Y] - 1; };
  const auto delta_of = [&](int i) { return l.sources.n ? l.sources.delta[i] : 0; };
  const auto height_of = [&]() { return tile.y_end - tile.y; };
  int line = 0, source = first_source;
  DenseSums<R, TERMS> sums;
  DenseHeld<T, K, R> held;

  const bool plain = ahead && tile.plain;
  const DensePlain<T, K, R> places(Loader(params, tile, column, samples), tile.y - s.term.anchor[CNV_Y]);

  if (plain)
    places.prefetch(held, params.in_stride, line, rows_of(line), delta_of(source));
  else if (ahead)
    Loader(params, tile, column, samples).prefetch(held, line, rows_of(line), delta_of(source));
  while (line < height_of()) {
    const int following = next_source(l.sources, source + 1);
    const bool last = following >= n_sources;
    const int next_line = last ? line + chunk : line, next = last ? first_source : following;

    if (plain && rows_of(line) <= 8 * Loader::Held::passes) {
      places.store(held, halves_of<T>(s), rows_of(line));
    } else {
      const Loader loader(params, tile, column, samples);

      if (plain)
        places.store(held, halves_of<T>(s), rows_of(line));
      else if (ahead)
        loader.store(held);
      loader.fetch_rows(ahead, line, rows_of(line), delta_of(source));
      if (tile.missing || tile.last_group - tile.first_group < CNV_DENSE_GROUPS(K))
        loader.store_others(line, rows_of(line), delta_of(source));
    }
    __syncthreads();
    if (next_line < height_of()) {
      if (plain)
        places.prefetch(held, params.in_stride, next_line, rows_of(next_line), delta_of(next));
      else if (ahead)
        Loader(params, tile, column, samples).prefetch(held, next_line, rows_of(next_line), delta_of(next));
    }

    if (line + warp_y < height_of()) {
      if (source == first_source)
        weigh_sums(sums, true, epilogue.start, 1.0f);
      else
        weigh_sums(sums, false, 0.0f, weight_before(l.sources, source) / dense_weight(l.sources, source));
      add_frame<K, R, TERMS, EXACT>(sums, l, s, source,
                                    (uint32_t)__cvta_generic_to_shared(samples) +
                                        2 * ((warp_y + lane % 8) * pitch + warp_x + lane / 8 * 8));
      if (last) {
        const DenseEpilogue f = epilogue;

        if (TERMS > 1 || s.absolute)
          combine_terms(sums, f);
#pragma unroll
        for (int r = 0; r < R; r++)
          store_sums<T>(params, buffers[warp], sums.c[0][r], f, tile.x + warp_x, tile.y + line + warp_y + 8 * r,
                        tile.y_end, tile.plain_stores);
      }
    }
    __syncthreads();
    source = next;
    line = next_line;
  }
}

#else

template <typename T, int K, int R, int TERMS, bool EXACT>
__device__ static void
dense(const CnvTileArgs &)
{
}

#endif
