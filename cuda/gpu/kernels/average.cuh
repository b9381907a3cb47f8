/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * average: averages frames over time, weighted at each sample by their differences from the output's frame
 * (plan/plan.h), for plain planes and a single tap per frame. A thread has CNV_AVERAGE_SAMPLES samples side by side in a
 * few rows, with their sums in registers, and adds one frame after the other. Lanes of a warp exchange sums of columns.
 * The first and the last lane only provide them.
 *
 * Samples of 8 bits are pairs of f16 numbers, relative to 128. Sums over 3x3 of these, up to 1152, are exact.
 */
#pragma once

#include <cuda_fp16.h>

#include "gpu/kernels/one_tap.cuh"

/* Two samples of a row, two apart. */
template <typename T> struct PairOf;
template <> struct PairOf<uint8_t> {
  typedef __half2 type;
};
template <> struct PairOf<uint16_t> {
  typedef float2 type;
};

__device__ static __half2
half2_of(uint32_t bits)
{
  return *(__half2 *)&bits;
}

__device__ static uint32_t
bits_of(__half2 pair)
{
  return *(uint32_t *)&pair;
}

__device__ static __half2
add(__half2 a, __half2 b)
{
  return __hadd2(a, b);
}

__device__ static float2
add(float2 a, float2 b)
{
  return make_float2(a.x + b.x, a.y + b.y);
}

/* Returns the magnitudes of a - b. */
__device__ static float2
distance(__half2 a, __half2 b)
{
  return __half22float2(__habs2(__hsub2(a, b)));
}

__device__ static float2
distance(float2 a, float2 b)
{
  return make_float2(fabsf(a.x - b.x), fabsf(a.y - b.y));
}

__device__ static float2
floats_of(__half2 a)
{
  return __half22float2(a);
}

__device__ static float2
floats_of(float2 a)
{
  return a;
}

/* Returns the second number of a and the first one of b. */
__device__ static __half2
between(__half2 a, __half2 b)
{
  return half2_of(__byte_perm(bits_of(a), bits_of(b), 0x5432));
}

__device__ static float2
between(float2 a, float2 b)
{
  return make_float2(a.y, b.x);
}

/* Return a pair of the lane before, and of the lane after. */
__device__ static __half2
before(__half2 a)
{
  return __shfl_up_sync(0xffffffffu, a, 1);
}

__device__ static float2
before(float2 a)
{
  return make_float2(__shfl_up_sync(0xffffffffu, a.x, 1), __shfl_up_sync(0xffffffffu, a.y, 1));
}

__device__ static __half2
after(__half2 a)
{
  return __shfl_down_sync(0xffffffffu, a, 1);
}

__device__ static float2
after(float2 a)
{
  return make_float2(__shfl_down_sync(0xffffffffu, a.x, 1), __shfl_down_sync(0xffffffffu, a.y, 1));
}

/* Four samples side by side: the first and third, and the second and fourth. */
template <typename Pair> struct Four {
  Pair even, odd;
};

/* Returns samples as numbers: levels minus 128 at 8 bits, else samples as stored. */
__device__ static Four<__half2>
numbers_of(uint32_t word, uint32_t)
{
  const __half2 middle = half2_of(0xe480e480u); /* -1024 - 128 */

  return {__hadd2(half2_of(__byte_perm(word, 0x64646464u, 0x4240)), middle),
          __hadd2(half2_of(__byte_perm(word, 0x64646464u, 0x4341)), middle)};
}

__device__ static Four<float2>
numbers_of(uint2 word, uint32_t mask)
{
  const uint32_t words[4] = {word.x, word.y};

  return {{unpack_sample(words, 0, uint16_t(), mask), unpack_sample(words, 2, uint16_t(), mask)},
          {unpack_sample(words, 1, uint16_t(), mask), unpack_sample(words, 3, uint16_t(), mask)}};
}

template <typename Pair>
__device__ static Four<Pair>
add(const Four<Pair> &a, const Four<Pair> &b)
{
  return {add(a.even, b.even), add(a.odd, b.odd)};
}

/* Adds up a pixel and its neighbours, C samples apart, from sums of columns. */
template <int C, typename Pair>
__device__ static Four<Pair>
sum_neighbours(const Four<Pair> &a)
{
  if (C == 1) {
    const Pair sum = add(a.even, a.odd);

    return {add(sum, between(before(a.odd), a.odd)), add(sum, between(a.even, after(a.even)))};
  }
  if (C == 2)
    return {add(a.even, add(between(before(a.even), a.even), between(a.even, after(a.even)))),
            add(a.odd, add(between(before(a.odd), a.odd), between(a.odd, after(a.odd))))};
  if (C == 3)
    return {add(a.even, add(before(a.odd), between(a.odd, after(a.odd)))),
            add(a.odd, add(after(a.even), between(before(a.even), a.even)))};
  return {add(a.even, add(before(a.even), after(a.even))), add(a.odd, add(before(a.odd), after(a.odd)))};
}

/* Rows of a thread: as many as its registers have sums for. It reads one more above and below. */
template <typename T> struct RowsOf {
  static constexpr int n = sizeof(T) == 1 ? 4 : 2, read = n + 2;
};

/* A thread's part of a tile, in registers. The job is in shared memory. */
struct AverageTile {
  int in_stride;
  int x;              /* the thread's first sample; in the first lane it may lie outside the plane */
  float scale;        /* 1 / (9 * threshold) */
  float gain, offset; /* from averages to levels */
  bool inner_x;       /* the warp's samples are words in the window */
  bool whole_x;       /* the thread's samples are a word of the job */
};

/* Returns the sum of the weights in time. */
__device__ static float
sum_weights(const CnvTileArgs &l)
{
  float sum = 0;

#pragma unroll 1
  for (int k = 0; k < l.sources.n; k++)
    sum += l.sources.weight[k];
  return sum;
}

/* What replaces samples outside the window: for each of a thread's samples the one of the nearest pixel, relative to the
 * thread's first; and the range of rows. */
struct AverageEdges {
  int from[CNV_AVERAGE_SAMPLES], first_row, last_row;
};

template <int C>
__device__ static AverageEdges
find_edges(const CnvTileJob &s, int x)
{
  const int first = s.job.window_x * C, end = (s.job.window_x + s.job.window_width) * C;
  AverageEdges edges;

#pragma unroll
  for (int i = 0; i < CNV_AVERAGE_SAMPLES; i++) {
    const unsigned channel = (unsigned)(x + i + C * CNV_AVERAGE_SAMPLES) % C; /* x is at least -CNV_AVERAGE_SAMPLES */

    edges.from[i] = (x + i < first ? first + channel : x + i >= end ? end - C + channel : x + i) - x;
  }
  edges.first_row = s.job.window_y;
  edges.last_row = s.job.window_y + s.job.window_height - 1;
  return edges;
}

/* Loads the thread's rows of the frame that is `delta` bytes after the output's. above: address of the first row in the
 * output's frame; y: its number. INNER: all rows are aligned words inside the window. */
template <typename T, bool INNER, int N>
__device__ static void
load_rows(typename Word<T>::type (&word)[N], const AverageTile &tile, const AverageEdges &edges, const char *above,
          int y, int64_t delta)
{
  const char *at = above + delta;

#pragma unroll
  for (int i = 0; i < N; i++) {
    if (INNER) {
      word[i] = __ldg((const typename Word<T>::type *)at);
      at += tile.in_stride;
      continue;
    }
    const T *row = (const T *)(at + (int64_t)(min(max(y + i, edges.first_row), edges.last_row) - y) * tile.in_stride);
    word[i] = {};
#pragma unroll
    for (int j = 0; j < CNV_AVERAGE_SAMPLES; j++)
      set_sample(word[i], j, load_sample(row + edges.from[j]));
  }
}

/* Returns the sums over 3x3 samples of row i. */
template <int C, typename Pair, int N>
__device__ static Four<Pair>
sum_around(const Four<Pair> (&number)[N], int i)
{
  return sum_neighbours<C>(add(add(number[i], number[i + 1]), number[i + 2]));
}

/* The sums of a thread's rows: of weights, and of samples times weights. The order of samples is that of Four. */
template <int ROWS> struct AverageSums {
  float weight[ROWS][CNV_AVERAGE_SAMPLES], value[ROWS][CNV_AVERAGE_SAMPLES];
};

/* Adds two samples of a frame. distance: of their sums over 3x3. */
__device__ static void
add_close(float *weights, float *values, float2 distance, float2 value, float scale, float weight)
{
  const float distances[2] = {distance.x, distance.y}, samples[2] = {value.x, value.y};

#pragma unroll
  for (int i = 0; i < 2; i++) {
    const float s = __saturatef(fmaf(distances[i], -scale, 1.5f));
    const float close = s * s * fmaf(s, -2.0f * weight, 3.0f * weight);

    weights[i] += close;
    values[i] = fmaf(close, samples[i], values[i]);
  }
}

/* Sums up all frames for the rows of a thread, of which row y is the one above. */
template <typename T, int C, bool INNER>
__device__ static void
average_frames(AverageSums<RowsOf<T>::n> &sums, const CnvTileArgs &l, const CnvTileJob &s, const AverageTile &tile,
               const char *above, int y)
{
  typedef typename PairOf<T>::type Pair;
  constexpr int rows = RowsOf<T>::n, read = RowsOf<T>::read;
  const AverageEdges edges = INNER ? AverageEdges{} : find_edges<C>(s, tile.x);
  const uint32_t mask = sizeof(T) == 1 ? 0 : mask_of(s);
  const int n = l.sources.n, center = l.sources.center;
  const float center_weight = l.sources.weight[center];
  typename Word<T>::type word[read], next[read];
  Four<Pair> number[read], own[rows];
  int k = center == 0 ? 1 : 0;

  load_rows<T, INNER>(word, tile, edges, above, y, 0);
  if (INNER && k < n)
    load_rows<T, INNER>(next, tile, edges, above, y, l.sources.delta[k]);
#pragma unroll
  for (int i = 0; i < read; i++)
    number[i] = numbers_of(word[i], mask);
#pragma unroll
  for (int i = 0; i < rows; i++) {
    const float2 even = floats_of(number[i + 1].even), odd = floats_of(number[i + 1].odd);
    const float values[CNV_AVERAGE_SAMPLES] = {even.x, even.y, odd.x, odd.y};

    own[i] = sum_around<C>(number, i);
#pragma unroll
    for (int j = 0; j < CNV_AVERAGE_SAMPLES; j++) {
      sums.weight[i][j] = center_weight;
      sums.value[i][j] = center_weight * values[j];
    }
  }
#pragma unroll 1
  while (k < n) {
    const float weight = l.sources.weight[k];

    if (!INNER)
      load_rows<T, INNER>(next, tile, edges, above, y, l.sources.delta[k]);
#pragma unroll
    for (int i = 0; i < read; i++)
      number[i] = numbers_of(next[i], mask);
    k += k + 1 == center ? 2 : 1;
    if (INNER && k < n) /* the loads of the next frame are in flight meanwhile */
      load_rows<T, INNER>(next, tile, edges, above, y, l.sources.delta[k]);
#pragma unroll
    for (int i = 0; i < rows; i++) {
      const Four<Pair> sum = sum_around<C>(number, i);

      add_close(&sums.weight[i][0], &sums.value[i][0], distance(sum.even, own[i].even), floats_of(number[i + 1].even),
                tile.scale, weight);
      add_close(&sums.weight[i][2], &sums.value[i][2], distance(sum.odd, own[i].odd), floats_of(number[i + 1].odd),
                tile.scale, weight);
    }
  }
}

/* Stores four outputs of row y one by one. averages: relative to 0. */
template <typename T>
__device__ static void
store_one_by_one(const CnvTileArgs &l, const TileParams &params, int x, int y, float4 averages)
{
  const CnvTileJob &s = params.s;
  const CnvJob &job = s.job;
  const T *back = (const T *)(params.back + (int64_t)y * params.in_stride);
  T *out = (T *)(params.out + (int64_t)y * params.out_stride);
  const float average[CNV_AVERAGE_SAMPLES] = {averages.x, averages.y, averages.z, averages.w};
  const float tap = s.center * sum_weights(l);

#pragma unroll
  for (int i = 0; i < CNV_AVERAGE_SAMPLES; i++) {
    const int at = x + i;
    const float sum = fmaf(average[i], tap, s.bias[0]);
    int weight = 255;

    if (at < job.x * s.channels || at >= (job.x + job.width) * s.channels)
      continue;
    if (s.blends)
      weight = __ldcg(cnv_job_weights(&job, (const uint8_t *)l.coverage, pixel_of(at, s.channels), y));
    if (weight == 0 && job.shared)
      continue;
    const T input = load_sample(back + at);
    const float level = (float)(input >> s.shift & s.full_bits);
    if (weight == 0 || (s.copied && !(s.filtered >> (at % s.channels) & 1)))
      out[at] = input;
    else if (weight < 255)
      out[at] = (T)(blend_level(one_tap_value(sum, s), level, (float)weight, 1.0f, (float)s.full_bits) << s.shift);
    else
      out[at] = (T)(min(max(one_tap_level(sum, s), 0), s.full_bits) << s.shift);
  }
}

/* Returns the level of an average, not yet clamped. */
__device__ static int
average_level(float average, const AverageTile &tile)
{
  return __float_as_int(fmaf(average, tile.gain, tile.offset) * __int_as_float(1));
}

/* Returns the levels of four averages as they are stored. */
__device__ static uint32_t
pack_averages(float4 average, const AverageTile &tile, const CnvTileJob &, uint8_t)
{
  return pack_levels(average_level(average.x, tile), average_level(average.y, tile),
                     pack_levels(average_level(average.z, tile), average_level(average.w, tile), 0));
}

__device__ static uint32_t
pack_two(float low, float high, const AverageTile &tile, const CnvTileJob &s)
{
  return (uint32_t)min(max(average_level(low, tile), 0), s.full_bits) << s.shift |
         (uint32_t)min(max(average_level(high, tile), 0), s.full_bits) << (s.shift + 16);
}

__device__ static uint2
pack_averages(float4 average, const AverageTile &tile, const CnvTileJob &s, uint16_t)
{
  return make_uint2(pack_two(average.x, average.y, tile, s), pack_two(average.z, average.w, tile, s));
}

__device__ static uint32_t
merge_copied(uint32_t word, uint32_t input, const CnvTileJob &s)
{
  return merge(input, word, s.copied_bits[0]);
}

__device__ static uint2
merge_copied(uint2 word, uint2 input, const CnvTileJob &s)
{
  return merge(input, word, make_uint2(s.copied_bits[0], s.copied_bits[1]));
}

/* Returns the averages of row i of a thread, relative to 128 at 8 bits. */
template <int ROWS>
__device__ static float4
averages_of(const AverageSums<ROWS> &sums, int i)
{
  const float(&value)[CNV_AVERAGE_SAMPLES] = sums.value[i], (&weight)[CNV_AVERAGE_SAMPLES] = sums.weight[i];

  return make_float4(__fdividef(value[0], weight[0]), __fdividef(value[2], weight[2]), /* the order of Four */
                     __fdividef(value[1], weight[1]), __fdividef(value[3], weight[3]));
}

/* Stores the thread's samples of rows y + 1 to y + rows, as far as they are before end. above: as in load_rows. */
template <typename T>
__device__ static void
store_rows(const AverageSums<RowsOf<T>::n> &sums, const CnvTileArgs &l, const TileParams &params,
           const AverageTile &tile, const char *above, int y, int end)
{
  const float middle = sizeof(T) == 1 ? 128.0f : 0.0f;
  const CnvTileJob &s = params.s;

  if (tile.whole_x) {
    char *out = (char *)params.out + (int64_t)(y + 1) * params.out_stride + tile.x * (int)sizeof(T);
    const int out_stride = params.out_stride;
    const bool copies = s.copied;

#pragma unroll
    for (int i = 0; i < RowsOf<T>::n; i++) {
      typename Word<T>::type word = pack_averages(averages_of(sums, i), tile, s, T());

      if (copies)
        word =
            merge_copied(word, __ldg((const typename Word<T>::type *)(above + (int64_t)(i + 1) * tile.in_stride)), s);
      if (y + 1 + i < end)
        *(typename Word<T>::type *)(out + (int64_t)i * out_stride) = word;
    }
    return;
  }
#pragma unroll
  for (int i = 0; i < RowsOf<T>::n; i++) {
    const float4 averages = averages_of(sums, i);

    if (y + 1 + i < end)
      store_one_by_one<T>(
          l, params, tile.x, y + 1 + i,
          make_float4(averages.x + middle, averages.y + middle, averages.z + middle, averages.w + middle));
  }
}

/* Filters the rows of a tile that a thread has, for planes of C channels. */
template <typename T, int C>
__device__ __forceinline__ static void
average_rows(const CnvTileArgs &l, const TileParams &params, const TileOutput &at)
{
  constexpr int rows = RowsOf<T>::n;
  const CnvTileJob &s = params.s;
  const int lane = threadIdx.x % 32, first_x = at.x - CNV_AVERAGE_SAMPLES, window_y = s.job.window_y;
  const int window_end = window_y + s.job.window_height;
  const float unit = (float)(1 << s.shift), full = (float)s.full_bits;
  const float threshold = fmaxf(threshold_of(l.thresholds, s.format_plane) * full, (float)CNV_THRESHOLD_LEAST);
  const bool moved = s.job.move_x != 0 || s.job.move_y != 0;
  AverageTile tile;

  tile.in_stride = params.in_stride;
  tile.x = first_x + lane * CNV_AVERAGE_SAMPLES;
  tile.scale = 1.0f / (9.0f * unit * threshold);
  tile.gain = s.center * sum_weights(l) * s.gain;
  tile.offset = fmaf(sizeof(T) == 1 ? 128.0f : 0.0f, tile.gain, s.offset);
  tile.inner_x = (l.maps >> s.pointers & 1) && first_x >= params.window_x0 &&
                 first_x + 32 * CNV_AVERAGE_SAMPLES <= params.window_x1;
  tile.whole_x = params.chunk_stores && tile.x >= s.job.x * C &&
                 tile.x + CNV_AVERAGE_SAMPLES <= (s.job.x + s.job.width) * C && s.combine == CNV_COMBINE_SUM &&
                 !s.blends && !(s.copied && moved);
#pragma unroll 1
  for (int y = at.y + threadIdx.x / 32 * rows - 1; y + 1 < at.y_end; y += CNV_AVERAGE_WARPS * rows) {
    const char *above = (const char *)params.in + (int64_t)y * tile.in_stride + tile.x * (int)sizeof(T);
    AverageSums<rows> sums;

    if (tile.inner_x && y >= window_y && y + RowsOf<T>::read <= window_end)
      average_frames<T, C, true>(sums, l, s, tile, above, y);
    else
      average_frames<T, C, false>(sums, l, s, tile, above, y);
    if (lane > 0 && lane < 31)
      store_rows<T>(sums, l, params, tile, above, y, at.y_end);
  }
}

template <typename T>
__device__ __forceinline__ static void
average_job(const CnvTileArgs &l)
{
  TileParams &params = block_params();

  load_tile_job<T>(params, l);
  const TileOutput at = tile_output(params.s, CNV_AVERAGE_WIDTH);
  if (params.s.channels == 1)
    average_rows<T, 1>(l, params, at);
  else if (params.s.channels == 2)
    average_rows<T, 2>(l, params, at);
  else if (params.s.channels == 3)
    average_rows<T, 3>(l, params, at);
  else
    average_rows<T, 4>(l, params, at);
}

__device__ __forceinline__ static void
average(const CnvTileArgs &l)
{
  const int number = find_tile_job(l);

  wait_for_launch_before();
  let_next_launch_begin();
  const int full =
      l.n_jobs <= CNV_TILE_JOBS_INLINE ? l.job[number].full_bits : ((const CnvTileJob *)l.jobs)[number].full_bits;
  if (full > 255)
    average_job<uint16_t>(l);
  else
    average_job<uint8_t>(l);
}
