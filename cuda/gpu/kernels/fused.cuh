/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * fused: both passes of separable taps of one term in one launch, in float32, from a tile with its apron in shared
 * memory (tile.cuh). A block moves down its tile by 16 rows at a time:
 *
 *   columns   a thread has four neighbouring samples and sums of eight rows: it adds each sample, as it is loaded, to
 *             all sums to which the sample contributes
 *   rows      sums pass through shared memory, where channels are separate; a thread computes eight neighbouring
 *             outputs of a channel, which overwrite rows of the tile that are no longer needed
 *
 * The taps of an axis are padded with zeros to groups of eight, plus one more tap.
 */
#pragma once

#include "gpu/kernels/tile.cuh"

#define FUSED_OUTPUTS 8 /* outputs of a thread along an axis; also taps of a group */
#define FUSED_TAPS (CNV_FUSED_MAX_TAPS + 15)

/* Pitch of sums between channels and between rows, in float4, so that the float4 that eight lanes read at once
 * (make_rows) are in different banks. FUSED_SUMS: the sums of all rows, followed by zeros for taps that are zeros. */
#define FUSED_CHANNEL_PITCH(channels) (CNV_FUSED_LOADED / 4 / (channels) + 1)
#define FUSED_ROW_PITCH(channels) (CNV_FUSED_LOADED / 4 + 4 + (channels) % 2)
#define FUSED_SUMS (CNV_FUSED_ROWS * FUSED_ROW_PITCH(1) + 8)

/* Samples and sums are scaled by 2^-64, and levels by 2^-149. So the bits of a level, as a float32, are the integer
 * itself (negative if the level is). The multiplication that computes it rounds once, ties to even. Samples of 16 bits
 * are used as stored, and so are 2^shift times as large. */
#define FUSED_INTEGERS 0x2b000000u /* as INTEGERS: + i is (2^23 + i) * 2^-64 */
#define FUSED_UNIT (1.0f / 4294967296.0f / 4294967296.0f)
#define FUSED_LEVEL (1.0f / 2097152.0f / 4294967296.0f / 4294967296.0f) /* 2^-85: sums to levels */

/* A block's numbers. Levels are base + gain * sum. Pixel 0 has the tile's first output. */
struct FusedNumbers {
  float offset;          /* offset of a sample's value */
  float start, mid_bias; /* in units of sums; start: the initial sum, for the fraction */
  float gain, base;
  uint32_t mask, full; /* bits of two samples of 16 bits, and of two levels */
  int shift;
  int channels, width; /* width: of the outputs, in samples */
  int skip;            /* samples of pixel 0 before the first output, if there are three channels */
  int missing;         /* samples of the sums' first pixel that are not in the tile */
  int first;           /* number of the first sum that pixel 0 reads, a multiple of four */
  int taps;            /* taps of a row, with zeros before them */
};

/* A block's shared memory, in addition to its tile. */
struct Fused {
  TileParams params;
  alignas(8) uint64_t barrier;
  FusedNumbers numbers;
  alignas(16) float taps_x[FUSED_TAPS], taps_y[FUSED_TAPS];
  float factor[CNV_FUSED_LOADED + CNV_FUSED_TILE_ROWS]; /* find_factors */
  float4 sums[FUSED_SUMS];
};

/* Eight numbers in shared memory, read by fours. */
struct alignas(16) FusedEight {
  float at[FUSED_OUTPUTS];
};

__device__ static FusedNumbers
fused_numbers(const CnvTileJob &s, int x, int width)
{
  const float step = (float)(1 << s.shift), gain = s.gain / step;
  const int base = s.base + (gain != 0.0f ? 0 : __float2int_rn(s.fraction));
  const int C = s.channels, lead = pixel_of(s.lead + C - 1, C), first = lead - s.term.anchor[CNV_X];
  FusedNumbers n;

  n.offset = (INTEGERS + s.mid * step) * FUSED_UNIT;
  n.start = gain != 0.0f ? s.fraction / gain * FUSED_UNIT : 0.0f;
  n.mid_bias = s.mid_bias * step * FUSED_UNIT;
  n.gain = gain * FUSED_LEVEL;
  n.base = base < 0 ? -__int_as_float(-base) : __int_as_float(base);
  n.full = (uint32_t)s.full_bits * 0x10001u;
  n.mask = n.full << s.shift;
  n.shift = s.shift;
  n.channels = C;
  n.width = width;
  n.skip = C == 3 ? x % 3 : 0;
  n.missing = lead * C - s.lead + n.skip;
  n.first = first & ~3;
  n.taps = s.term.n[CNV_X] + (first & 3);
  return n;
}

/* Stores an axis' taps, times a frame's weight, between zeros. zeros: number of zeros before them. */
__device__ static void
put_taps(float *taps, const CnvTerm &term, int axis, int zeros, float weight)
{
  for (int i = threadIdx.x; i < FUSED_TAPS; i += blockDim.x)
    taps[i] = i >= zeros && i < zeros + term.n[axis] ? weight * cnv_taps[term.taps[axis] + i - zeros] : 0.0f;
}

/* Fills in the block's shared memory, including the sums that no thread overwrites. */
__device__ static void
prepare(Fused &f, const TileOutput &at, int width)
{
  const CnvTileJob &s = f.params.s;
  const FusedNumbers n = fused_numbers(s, at.x, width);

  put_taps(f.taps_x, s.term, CNV_X, n.taps - s.term.n[CNV_X], 1.0f);
  put_taps(f.taps_y, s.term, CNV_Y, FUSED_OUTPUTS, 1.0f);
  for (int i = threadIdx.x; i < FUSED_SUMS; i += blockDim.x)
    f.sums[i] = {};
  if (threadIdx.x == 0)
    f.numbers = n;
  if (s.renormalizes)
    find_factors(f.factor, s, at, width);
}

/* Returns the value of a word's sample i. */
template <typename W>
__device__ static float
fused_value(const W &word, int i, const FusedNumbers &n)
{
  uint32_t bits;

  if constexpr (sizeof(W) == 4)
    bits = __byte_perm(word, FUSED_INTEGERS, 0x7440 + i);
  else
    bits = __byte_perm((i < 2 ? word.x : word.y) & n.mask, FUSED_INTEGERS, i % 2 ? 0x7432 : 0x7410);
  return __uint_as_float(bits) - n.offset;
}

/* Adds eight rows to sums: row i to sum j with the group's tap number i - j; taps[0] is number -8. FIRST, LAST: the
 * first or last group, whose taps are 0 for i < j or i > j. */
template <typename T, bool FIRST, bool LAST>
__device__ static void
add_group(float (&sum)[FUSED_OUTPUTS][4], const uint8_t *rows, const float *taps, const FusedNumbers &n)
{
  const FusedEight tap[2] = {((const FusedEight *)taps)[0], ((const FusedEight *)taps)[1]};

#pragma unroll
  for (int i = 0; i < FUSED_OUTPUTS; i++) {
    const auto word = *(const typename Word<T>::type *)(rows + i * CNV_FUSED_LOADED * (int)sizeof(T));

#pragma unroll
    for (int q = 0; q < 4; q++) {
      const float value = fused_value(word, q, n);

#pragma unroll
      for (int j = 0; j < FUSED_OUTPUTS; j++)
        if ((!FIRST || i >= j) && (!LAST || i <= j))
          sum[j][q] = fmaf(value, tap[i >= j].at[(FUSED_OUTPUTS + i - j) % FUSED_OUTPUTS], sum[j][q]);
    }
  }
}

/* Adds all rows of a frame that contribute to the sums. */
template <typename T>
__device__ static void
add_columns(float (&sum)[FUSED_OUTPUTS][4], const uint8_t *rows, const Fused &f)
{
  const int last = FUSED_OUTPUTS * CNV_FUSED_GROUPS(f.params.s.term.n[CNV_Y]);
  constexpr int pitch = CNV_FUSED_LOADED * sizeof(T);
  const FusedNumbers n = f.numbers;

  add_group<T, true, false>(sum, rows, f.taps_y, n);
#pragma unroll 1
  for (int i = FUSED_OUTPUTS; i < last; i += FUSED_OUTPUTS)
    add_group<T, false, false>(sum, rows + i * pitch, f.taps_y + i, n);
  if (last > 0)
    add_group<T, false, true>(sum, rows + last * pitch, f.taps_y + last, n);
}

/* Stores the sums of four samples of a row where make_rows reads them: from `row` and sample x of the tile on. */
__device__ static void
put_sums(Fused &f, const float (&sum)[FUSED_OUTPUTS][4], int x, int row)
{
  const int C = f.numbers.channels, pitch = 4 * FUSED_ROW_PITCH(C);
  float *to = (float *)f.sums + row * pitch;

  if (C == 1)
#pragma unroll
    for (int j = 0; j < FUSED_OUTPUTS; j++)
      *(float4 *)(to + j * pitch + x) = make_float4(sum[j][0], sum[j][1], sum[j][2], sum[j][3]);
  else
#pragma unroll
    for (int q = 0; q < 4; q++) {
      const int i = x + q + f.numbers.missing, pixel = pixel_of(i, C);

#pragma unroll
      for (int j = 0; j < FUSED_OUTPUTS; j++)
        to[j * pitch + (i - pixel * C) * 4 * FUSED_CHANNEL_PITCH(C) + pixel] = sum[j][q];
    }
}

/* Applies the taps of a row to eight neighbours of a channel, of which the first reads the sums from `from` on. */
__device__ static void
add_taps(float (&sum)[FUSED_OUTPUTS], const float *from, const float *taps, int n)
{
  const FusedEight *tap = (const FusedEight *)taps, *next = (const FusedEight *)from;
  FusedEight now = *next;

#pragma unroll 2
  for (; n > 1; n -= FUSED_OUTPUTS, tap++) {
    const FusedEight before = now, by = *tap;

    now = *++next;
#pragma unroll
    for (int k = 0; k < FUSED_OUTPUTS; k++)
#pragma unroll
      for (int i = 0; i < FUSED_OUTPUTS; i++)
        sum[i] = fmaf((i + k < FUSED_OUTPUTS ? before : now).at[(i + k) % FUSED_OUTPUTS], by.at[k], sum[i]);
  }
#pragma unroll
  for (int i = 0; i < FUSED_OUTPUTS; i++)
    sum[i] = fmaf(now.at[i], tap->at[0], sum[i]);
}

__device__ static int
fused_level(float sum, const FusedNumbers &n)
{
  return __float_as_int(fmaf(sum, n.gain, n.base));
}

/* Returns four sums as levels, in the order of memory. */
__device__ static void
pack_four(uint32_t &word, const float *sum, const FusedNumbers &n)
{
  word = pack_four(fused_level(sum[0], n), fused_level(sum[1], n), fused_level(sum[2], n), fused_level(sum[3], n));
}

__device__ static void
pack_four(uint2 &word, const float *sum, const FusedNumbers &n)
{
  word.x = __vminu2(pack_levels(fused_level(sum[0], n), fused_level(sum[1], n)), n.full) << n.shift;
  word.y = __vminu2(pack_levels(fused_level(sum[2], n), fused_level(sum[3], n)), n.full) << n.shift;
}

/* Stores the levels of eight sums into a row of the tile's outputs, from sample x on, clipped to the tile. */
template <typename T>
__device__ static void
put_eight(T *row, const float (&sum)[FUSED_OUTPUTS], const FusedNumbers &n, int x)
{
  struct alignas(FUSED_OUTPUTS * sizeof(T)) {
    typename Word<T>::type word[2];
  } eight;

  pack_four(eight.word[0], sum, n);
  pack_four(eight.word[1], sum + 4, n);
  if (n.channels == 1)
    *(decltype(eight) *)(row + x) = eight;
  else
#pragma unroll
    for (int i = 0; i < FUSED_OUTPUTS; i++, x += n.channels)
      if (x >= 0 && x < n.width)
        row[x] = (T)get_sample(eight.word[i / 4], i % 4);
}

/* Stores the levels of eight sums, blended with the input by coverage, into a row of outputs. y: row of the plane. */
template <typename T>
__device__ static void
blend_eight(const CnvTileArgs &l, const TileParams &params, T *row, const float (&sum)[FUSED_OUTPUTS],
            const FusedNumbers &n, int x, int y)
{
  constexpr float one_by_level = 0x1p127f, rest = 0x1p22f; /* their product is 2^149 */
  const CnvTileJob &s = params.s;
  const int C = n.channels, full = n.full & 0xffff, pixel = pixel_of(params.tile.at.x + x, C);
  const float gain = n.gain * one_by_level * rest, base = n.base * one_by_level * rest;
  const uint8_t *weights = cnv_job_weights(&s.job, (const uint8_t *)l.coverage, pixel, y);
  const T *in = (const T *)(params.in + (int64_t)y * params.in_stride) + params.tile.at.x;

#pragma unroll
  for (int i = 0; i < FUSED_OUTPUTS; i++, x += C) {
    if (x < 0 || x >= n.width || pixel + i < s.job.x || pixel + i >= s.job.x + s.job.width)
      continue;
    const int weight = __ldcg(weights + i);
    const T input = load_sample(in + x);
    const int level =
        blend_level(fmaf(sum[i], gain, base), (float)(input >> n.shift & full), (float)weight, 1.0f, (float)full);

    row[x] = weight > 0 ? (T)(level << n.shift) : input;
  }
}

/* Computes the outputs of 16 rows from row y of the tile on, up to row `end`. A lane computes eight pixels of a
 * channel; of eight lanes, four share one row, channel after channel, and four the next row. */
template <typename T>
__device__ static void
make_rows(const CnvTileArgs &l, const Fused &f, int y, int end)
{
  const CnvTileJob &s = f.params.s;
  const FusedNumbers n = f.numbers;
  const int C = n.channels, lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  const int units = (pixel_of(n.width - 1 + n.skip, C) / FUSED_OUTPUTS + 1) * C;
  const bool is_absolute = s.combine == CNV_COMBINE_ABSOLUTE, begins_at_0 = is_absolute || s.renormalizes;

  for (int unit = warp % 2 * 16 + lane / 8 * 4 + lane % 4; unit < units; unit += 32) {
    const int pixel = pixel_of(unit, C) * FUSED_OUTPUTS, channel = unit - pixel / FUSED_OUTPUTS * C;
    const int x = pixel * C + channel - n.skip;
    const float *from = (const float *)(f.sums + channel * FUSED_CHANNEL_PITCH(C)) + n.first + pixel;

#pragma unroll 1
    for (int row = warp / 2 * 2 + lane / 4 % 2; row < min(CNV_FUSED_ROWS, end - y); row += CNV_TILE_WARPS) {
      float sum[FUSED_OUTPUTS];

#pragma unroll
      for (int i = 0; i < FUSED_OUTPUTS; i++)
        sum[i] = begins_at_0 ? 0.0f : n.start;
      add_taps(sum, from + row * 4 * FUSED_ROW_PITCH(C), f.taps_x, n.taps);
      if (begins_at_0)
#pragma unroll
        for (int i = 0; i < FUSED_OUTPUTS; i++) {
          if (s.renormalizes)
            sum[i] *= f.factor[min(max(x + i * C, 0), n.width - 1)] * f.factor[n.width + y + row];
          sum[i] = (is_absolute ? fabsf(sum[i] + n.mid_bias) : sum[i]) + n.start;
        }
      T *to = (T *)cnv_tiles + (y + row) * CNV_FUSED_LOADED;
      if (s.blends)
        blend_eight(l, f.params, to, sum, n, x, f.params.tile.at.y + y + row);
      else
        put_eight(to, sum, n, x);
    }
  }
}

template <typename T>
__device__ static void
fused(const CnvTileArgs &l)
{
  constexpr int pitch = CNV_FUSED_LOADED * sizeof(T), threads = 32 * CNV_TILE_WARPS;
  constexpr TileShape shape = {CNV_FUSED_LOADED, -1, pitch, 0};
  __shared__ Fused f;

  begin_block<T>(l, shape, f.params, &f.barrier);
  const TileOutput &at = f.params.tile.at;
  const int width = CNV_FUSED_LOADED - 2 * f.params.tile.lead;
  const int frame_bytes = CNV_TILE_BYTES(pitch, f.params.tile.box_rows);
  const int x = threadIdx.x * 4 % CNV_FUSED_LOADED, row = threadIdx.x * 4 / CNV_FUSED_LOADED * FUSED_OUTPUTS;
  const CnvTerm &term = f.params.s.term;

  prepare(f, at, width);
  finish_tile<T>(l, f.params, shape, &f.barrier);
  __syncthreads();
#pragma unroll 1
  for (int y = 0; y < at.y_end - at.y; y += CNV_FUSED_ROWS) {
    const uint8_t *rows = cnv_tiles + (y + row) * pitch + x * sizeof(T);
    float sum[FUSED_OUTPUTS][4] = {};

#pragma unroll 1
    for (int i = 0; i < max(l.sources.n, 1); i++) {
      if (l.sources.n) {
        __syncthreads();
        put_taps(f.taps_y, term, CNV_Y, FUSED_OUTPUTS, l.sources.weight[i]);
        __syncthreads();
      }
      add_columns<T>(sum, rows + i * frame_bytes, f);
    }
    __syncthreads();
    put_sums(f, sum, x, row);
    __syncthreads();
    make_rows<T>(l, f, y, at.y_end - at.y);
  }
  __syncthreads();
  if (threadIdx.x % (pitch / 16) * 16 < width * (int)sizeof(T))
    store_results<T, CNV_FUSED_LOADED, threads>(
        l, f.params, at, threadIdx.x, [&](int row, int chunk) { return cnv_tiles + row * pitch + 16 * chunk; });
}
