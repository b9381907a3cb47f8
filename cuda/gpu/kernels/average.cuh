/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * average: averages frames over time, weighted at each sample by their differences from the output's frame
 * (plan/plan.h), for plain planes and a single tap per frame. This file filters samples of 16 bits; average_bytes.cuh
 * filters samples of 8 bits. A thread averages CNV_AVERAGE_SAMPLES samples side by side in a few rows. It keeps their
 * sums in registers and adds one frame after the other. Lanes of a warp exchange sums of columns. The first and the
 * last lane only provide them.
 */
#pragma once

#include "gpu/kernels/one_tap.cuh"

__device__ static float2
add(float2 a, float2 b)
{
  return make_float2(a.x + b.x, a.y + b.y);
}

/* Returns the magnitudes of a - b. */
__device__ static float2
distance(float2 a, float2 b)
{
  return make_float2(fabsf(a.x - b.x), fabsf(a.y - b.y));
}

/* Returns the second number of a and the first one of b. */
__device__ static float2
between(float2 a, float2 b)
{
  return make_float2(a.y, b.x);
}

/* Return a pair of the lane before, and of the lane after. */
__device__ static float2
before(float2 a)
{
  return make_float2(__shfl_up_sync(0xffffffffu, a.x, 1), __shfl_up_sync(0xffffffffu, a.y, 1));
}

__device__ static float2
after(float2 a)
{
  return make_float2(__shfl_down_sync(0xffffffffu, a.x, 1), __shfl_down_sync(0xffffffffu, a.y, 1));
}

/* Four samples side by side: the first and third, and the second and fourth. */
struct Four {
  float2 even, odd;
};

/* Converts four stored samples to numbers. */
__device__ static Four
numbers_of(uint2 word, uint32_t mask)
{
  const uint32_t words[4] = {word.x, word.y};

  return {{unpack_sample(words, 0, uint16_t(), mask), unpack_sample(words, 2, uint16_t(), mask)},
          {unpack_sample(words, 1, uint16_t(), mask), unpack_sample(words, 3, uint16_t(), mask)}};
}

__device__ static Four
add(const Four &a, const Four &b)
{
  return {add(a.even, b.even), add(a.odd, b.odd)};
}

/* Adds up a pixel and its neighbours, C samples apart, from sums of columns. */
template <int C>
__device__ static Four
sum_neighbours(const Four &a)
{
  if (C == 1) {
    const float2 sum = add(a.even, a.odd);

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
#define AVERAGE_ROWS 2
#define AVERAGE_READ (AVERAGE_ROWS + 2)

/* A thread's part of a tile, in registers. The job is in shared memory. */
struct AverageTile {
  int in_stride;
  int x;              /* the thread's first sample; in the first lane it may lie outside the plane */
  float scale;        /* 1 / (9 * threshold) */
  float gain, offset; /* from averages to levels */
  bool inner_x;       /* the warp's samples are words in the window */
  bool whole_x;       /* the thread's samples are a word of the job */
};

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
template <bool INNER>
__device__ static void
load_rows(uint2 (&word)[AVERAGE_READ], const AverageTile &tile, const AverageEdges &edges, const char *above, int y,
          int64_t delta)
{
  const char *at = above + delta;

#pragma unroll
  for (int i = 0; i < AVERAGE_READ; i++) {
    if (INNER) {
      word[i] = __ldg((const uint2 *)at);
      at += tile.in_stride;
      continue;
    }
    const uint16_t *row =
        (const uint16_t *)(at + (int64_t)(min(max(y + i, edges.first_row), edges.last_row) - y) * tile.in_stride);
    word[i] = {};
#pragma unroll
    for (int j = 0; j < CNV_AVERAGE_SAMPLES; j++)
      set_sample(word[i], j, load_sample(row + edges.from[j]));
  }
}

/* Returns the sums over 3x3 samples of row i. */
template <int C>
__device__ static Four
sum_around(const Four (&number)[AVERAGE_READ], int i)
{
  return sum_neighbours<C>(add(add(number[i], number[i + 1]), number[i + 2]));
}

/* The sums of a thread's rows: of weights, and of samples times weights. The order of samples is that of Four. */
struct AverageSums {
  float weight[AVERAGE_ROWS][CNV_AVERAGE_SAMPLES], value[AVERAGE_ROWS][CNV_AVERAGE_SAMPLES];
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
template <int C, bool INNER>
__device__ static void
average_frames(AverageSums &sums, const CnvTileArgs &l, const CnvTileJob &s, const AverageTile &tile, const char *above,
               int y)
{
  const AverageEdges edges = INNER ? AverageEdges{} : find_edges<C>(s, tile.x);
  const uint32_t mask = mask_of(s);
  const int n = l.sources.n, center = l.sources.center;
  const float center_weight = l.sources.weight[center];
  uint2 word[AVERAGE_READ], next[AVERAGE_READ];
  Four number[AVERAGE_READ], own[AVERAGE_ROWS];
  int k = center == 0 ? 1 : 0;

  load_rows<INNER>(word, tile, edges, above, y, 0);
  if (INNER && k < n)
    load_rows<INNER>(next, tile, edges, above, y, l.sources.delta[k]);
#pragma unroll
  for (int i = 0; i < AVERAGE_READ; i++)
    number[i] = numbers_of(word[i], mask);
#pragma unroll
  for (int i = 0; i < AVERAGE_ROWS; i++) {
    const float2 even = number[i + 1].even, odd = number[i + 1].odd;
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
      load_rows<INNER>(next, tile, edges, above, y, l.sources.delta[k]);
#pragma unroll
    for (int i = 0; i < AVERAGE_READ; i++)
      number[i] = numbers_of(next[i], mask);
    k += k + 1 == center ? 2 : 1;
    if (INNER && k < n) /* the loads of the next frame are in flight meanwhile */
      load_rows<INNER>(next, tile, edges, above, y, l.sources.delta[k]);
#pragma unroll
    for (int i = 0; i < AVERAGE_ROWS; i++) {
      const Four sum = sum_around<C>(number, i);

      add_close(&sums.weight[i][0], &sums.value[i][0], distance(sum.even, own[i].even), number[i + 1].even, tile.scale,
                weight);
      add_close(&sums.weight[i][2], &sums.value[i][2], distance(sum.odd, own[i].odd), number[i + 1].odd, tile.scale,
                weight);
    }
  }
}

/* Stores four outputs of row y one by one. */
__device__ static void
store_one_by_one(const CnvTileArgs &l, const TileParams &params, int x, int y, float4 averages)
{
  const CnvTileJob &s = params.s;
  const CnvJob &job = s.job;
  const uint16_t *back = (const uint16_t *)(params.back + (int64_t)y * params.in_stride);
  uint16_t *out = (uint16_t *)(params.out + (int64_t)y * params.out_stride);
  const float average[CNV_AVERAGE_SAMPLES] = {averages.x, averages.y, averages.z, averages.w};
  const float tap = s.center * l.sources.sum;

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
    const uint16_t input = load_sample(back + at);
    const float level = (float)(input >> s.shift & s.full_bits);
    if (weight == 0 || (s.copied && !(s.filtered >> (at % s.channels) & 1)))
      out[at] = input;
    else if (weight < 255)
      out[at] =
          (uint16_t)(blend_level(one_tap_value(sum, s), level, (float)weight, 1.0f, (float)s.full_bits) << s.shift);
    else
      out[at] = (uint16_t)(min(max(one_tap_level(sum, s), 0), s.full_bits) << s.shift);
  }
}

/* Returns the level of an average, not yet clamped. */
__device__ static int
average_level(float average, const AverageTile &tile)
{
  return nearest_level(fmaf(average, tile.gain, tile.offset));
}

/* Return the levels of two or four averages as they are stored. */
__device__ static uint32_t
pack_two(float low, float high, const AverageTile &tile, const CnvTileJob &s)
{
  return (uint32_t)min(max(average_level(low, tile), 0), s.full_bits) << s.shift |
         (uint32_t)min(max(average_level(high, tile), 0), s.full_bits) << (s.shift + 16);
}

__device__ static uint2
pack_averages(float4 average, const AverageTile &tile, const CnvTileJob &s)
{
  return make_uint2(pack_two(average.x, average.y, tile, s), pack_two(average.z, average.w, tile, s));
}

/* Returns the averages of row i of a thread. */
__device__ static float4
averages_of(const AverageSums &sums, int i)
{
  const float(&value)[CNV_AVERAGE_SAMPLES] = sums.value[i], (&weight)[CNV_AVERAGE_SAMPLES] = sums.weight[i];

  return make_float4(__fdividef(value[0], weight[0]), __fdividef(value[2], weight[2]), /* the order of Four */
                     __fdividef(value[1], weight[1]), __fdividef(value[3], weight[3]));
}

/* Stores the thread's samples of rows y + 1 to y + rows, as far as they are before end. above: as in load_rows. */
__device__ static void
store_rows(const AverageSums &sums, const CnvTileArgs &l, const TileParams &params, const AverageTile &tile,
           const char *above, int y, int end)
{
  const CnvTileJob &s = params.s;

  if (tile.whole_x) {
    char *out = (char *)params.out + (int64_t)(y + 1) * params.out_stride + tile.x * (int)sizeof(uint16_t);
    const int out_stride = params.out_stride;
    const bool copies = s.copied;

#pragma unroll
    for (int i = 0; i < AVERAGE_ROWS; i++) {
      uint2 word = pack_averages(averages_of(sums, i), tile, s);

      if (copies)
        word = merge(__ldg((const uint2 *)(above + (int64_t)(i + 1) * tile.in_stride)), word,
                     make_uint2(s.copied_bits[0], s.copied_bits[1]));
      if (y + 1 + i < end)
        *(uint2 *)(out + (int64_t)i * out_stride) = word;
    }
    return;
  }
#pragma unroll
  for (int i = 0; i < AVERAGE_ROWS; i++) {
    if (y + 1 + i < end)
      store_one_by_one(l, params, tile.x, y + 1 + i, averages_of(sums, i));
  }
}

/* Filters the rows of a tile that a thread has, for planes of C channels. */
template <int C>
__device__ __forceinline__ static void
average_rows(const CnvTileArgs &l, const TileParams &params, const TileOutput &at)
{
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
  tile.gain = s.center * l.sources.sum * s.gain;
  tile.offset = s.offset;
  tile.inner_x = (l.maps >> s.pointers & 1) && first_x >= params.window_x0 &&
                 first_x + 32 * CNV_AVERAGE_SAMPLES <= params.window_x1;
  tile.whole_x = params.chunk_stores && tile.x >= s.job.x * C &&
                 tile.x + CNV_AVERAGE_SAMPLES <= (s.job.x + s.job.width) * C && s.combine == CNV_COMBINE_SUM &&
                 !s.blends && !(s.copied && moved);
#pragma unroll 1
  for (int y = at.y + threadIdx.x / 32 * AVERAGE_ROWS - 1; y + 1 < at.y_end; y += CNV_TILE_WARPS * AVERAGE_ROWS) {
    const char *above = (const char *)params.in + (int64_t)y * tile.in_stride + tile.x * (int)sizeof(uint16_t);
    AverageSums sums;

    if (tile.inner_x && y >= window_y && y + AVERAGE_READ <= window_end)
      average_frames<C, true>(sums, l, s, tile, above, y);
    else
      average_frames<C, false>(sums, l, s, tile, above, y);
    if (lane > 0 && lane < 31)
      store_rows(sums, l, params, tile, above, y, at.y_end);
  }
}

__device__ __forceinline__ static void
average_words(const CnvTileArgs &l)
{
  TileParams &params = block_params();

  wait_for_launch_before();
  let_next_launch_begin();
  load_tile_job<uint16_t>(params, l);
  const TileOutput at = tile_output(params.s, CNV_AVERAGE_WIDTH);
  if (params.s.channels == 1)
    average_rows<1>(l, params, at);
  else if (params.s.channels == 2)
    average_rows<2>(l, params, at);
  else if (params.s.channels == 3)
    average_rows<3>(l, params, at);
  else
    average_rows<4>(l, params, at);
}
