/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * dense: filters with taps of any rank on the tensor cores, in integers, so sums are exact. mma.m16n8k32 multiplies
 * samples, as stored in memory, by digits of taps. A tap is digit[0] * 256^(D-1) + ... + digit[D-1]; digits are from
 * -128 to 127. A sample of 16 bits is two digits itself, so with taps of two digits there are sums for three powers of
 * 256 (gpu/dense.c).
 *
 *   S[y][x] = sum over rows of taps j, and over k, of I[y + j][k] * B[j][k][x]
 *             I: the image, 16 rows of a window (operand A); B: the taps of a row on the bytes that 8 outputs read
 *
 * Rows of taps, of all frames one after the other, are multiplied in pairs. The two windows of a pair have K times 32
 * bytes. A lane's words of A are words of the tile. If a window serves two products, their outputs are ordered so that
 * a lane has four neighbours. Each frame over time has its own taps. So has each of the two terms of a magnitude, and
 * the sums of these terms stay separate.
 *
 * Small kernels over time use dense_over_time instead: operand A is 16 windows of one row side by side, of one frame
 * and of the next. It is multiplied by each row of taps in turn, and the sums of the outputs stay in registers.
 */
#pragma once

#include "gpu/kernels/tile.cuh"

/* Adds the products of two rows of taps to a warp's sums of 16 rows by N times 8 outputs. from: the lane's first word
 * of the tile; the second row of taps reads `second_row` bytes further on. */
template <typename T, int K, int N, int TERMS, int D, int PRODUCTS>
__device__ static void
add_taps(int (&sums)[N][TERMS][D][4], const uint8_t *from, int pitch, int second_row, uint32_t mask,
         const uint2 (&taps)[K][TERMS][D][PRODUCTS])
{
  /* In units of 8 bytes: the distance between windows, and the length of all windows. */
  constexpr int bytes = sizeof(T), windows = N / PRODUCTS, step = PRODUCTS * bytes;
  constexpr int units = (windows - 1) * step + 2 * K - 1;
  uint32_t word[2][units][2];

#pragma unroll
  for (int i = 0; i < 4 * units; i++) {
    const int row = i / units / 2, unit = i / 2 % units, half = i % 2;

    word[row][unit][half] = *(const uint32_t *)(from + row * second_row + 8 * half * pitch + 8 * unit);
    if (bytes > 1)
      word[row][unit][half] &= mask;
  }
#pragma unroll
  for (int i = 0; i < K * windows; i++) {
    const int k = i / windows, w = i % windows, first = 2 * k, second = first + 1;
    const uint32_t(&low)[2] = word[first / K][w * step + first % K * 2];
    const uint32_t(&high)[2] = word[second / K][w * step + second % K * 2];
    const uint32_t a[4] = {low[0], low[1], high[0], high[1]};

#pragma unroll
    for (int j = 0; j < TERMS * D * PRODUCTS; j++) {
      const int term = j / PRODUCTS / D, digit = j / PRODUCTS % D, n = j % PRODUCTS;

      multiply_bytes(sums[w * PRODUCTS + n][term][digit], a, taps[k][term][digit][n]);
    }
  }
}

/* Numbers that convert sums to levels, in registers. */
struct DenseEpilogue {
  float gain, offset, bias[2];
  int full, shift;
};

template <int D>
__device__ static float
total_of(const int (&digit)[D][4], int i)
{
  if (D == 1)
    return (float)digit[0][i];
  if (D == 2)
    return (float)(digit[0][i] * 256 + digit[D - 1][i]);
  return fmaf((float)(digit[0][i] * 256 + digit[D > 1][i]), 256.0f, (float)digit[D - 1][i]);
}

/* Added to the squares of a magnitude, since square_root does not accept 0. */
#define LEAST_SQUARE 1e-30f

/* Returns the square root, rounded to nearest as by sqrtf, without the special cases of sqrtf and their branch. */
__device__ static float
square_root(float x)
{
  float inverse;

  asm("rsqrt.approx.ftz.f32 %0, %1;" : "=f"(inverse) : "f"(x));
  const float root = x * inverse;
  return fmaf(fmaf(-root, root, x), 0.5f * inverse, root);
}

/* Returns the value of output i of a lane's four, in levels, not yet clamped. */
template <bool ABSOLUTE, int TERMS, int D>
__device__ static float
dense_value(const int (&sums)[TERMS][D][4], const DenseEpilogue &f, int i)
{
  float sum = total_of(sums[0], i);

  if (TERMS == 2) {
    const float first = sum + f.bias[0], second = total_of(sums[TERMS - 1], i) + f.bias[1];

    sum = square_root(fmaf(first, first, fmaf(second, second, LEAST_SQUARE)));
  } else if (ABSOLUTE) {
    sum = fabsf(sum + f.bias[0]);
  }
  return fmaf(sum, f.gain, f.offset);
}

/* Returns the level of output i, not yet clamped. */
template <bool ABSOLUTE, int TERMS, int D>
__device__ static int
dense_level(const int (&sums)[TERMS][D][4], const DenseEpilogue &f, int i)
{
  return nearest_level(dense_value<ABSOLUTE>(sums, f, i));
}

__device__ static void
put_levels(uint8_t *to, int first, int second, const DenseEpilogue &)
{
  *(uint16_t *)to = (uint16_t)pack_levels(first, second, 0);
}

__device__ static void
put_levels(uint16_t *to, int first, int second, const DenseEpilogue &f)
{
  first = min(max(first, 0), f.full) << f.shift;
  second = min(max(second, 0), f.full) << f.shift;
  *(uint32_t *)to = (uint32_t)(first | second << 16);
}

/* Returns the values of a lane's four outputs. The compiler must compute all of them here: keeping the sums instead
 * would need more registers. */
template <int TERMS, int D>
__device__ static void
dense_values(float (&value)[4], const int (&sums)[TERMS][D][4], const DenseEpilogue &f, bool absolute)
{
#pragma unroll
  for (int i = 0; i < 4; i++) {
    value[i] = TERMS == 1 && absolute ? dense_value<true>(sums, f, i) : dense_value<false>(sums, f, i);
    asm volatile("" : "+f"(value[i]));
  }
}

/* Blends the levels of two neighbours with the input's samples. to: has their weights, then the results. */
template <typename T>
__device__ static void
put_blended(T *to, const float *value, const DenseEpilogue &f, typename Pair<T>::type input)
{
  const uint32_t weights = *(const typename Pair<T>::type *)to, mask = ((uint32_t)f.full << f.shift) * 0x10001u;
  const float unit = sizeof(T) == 1 ? 1.0f : 1.0f / (float)(1 << f.shift), full = (float)f.full;
  int level[2];

#pragma unroll
  for (int i = 0; i < 2; i++)
    level[i] = blend_level(value[i], number_of<T>(input, i, mask), number_of<T>(weights, i, 0xffffffffu), unit, full);
  put_levels(to, level[0], level[1], f);
  if (sizeof(T) > 1) /* samples of weight 0 also keep their bits that carry no value */
    *(typename Pair<T>::type *)to |= input & ~mask & __vcmpeq2(weights, 0);
}

/* Stores the lane's results of 16 rows to shared memory, the first of them at byte `to` (output_offset). PRODUCTS: per
 * window. */
template <typename T, int PRODUCTS, bool ABSOLUTE, int N, int TERMS, int D>
__device__ static void
put_sums(const int (&sums)[N][TERMS][D][4], const DenseEpilogue &f, int to)
{
#pragma unroll
  for (int i = 0; i < N; i++) {
    const int byte = (i / PRODUCTS * 8 * PRODUCTS + i % PRODUCTS * 2) * (int)sizeof(T);
    uint8_t *at = cnv_tiles + (to ^ byte / 16 * 16) + byte % 16;

#pragma unroll
    for (int half = 0; half < 2; half++)
      put_levels((T *)(at + 8 * 128 * half), dense_level<ABSOLUTE>(sums[i], f, 2 * half),
                 dense_level<ABSOLUTE>(sums[i], f, 2 * half + 1), f);
  }
}

/* Blends the lane's results with the input by weights. input: returns two samples of either half, by their byte offset
 * from the lane's first. */
template <typename T, int PRODUCTS, int N, int TERMS, int D, typename Input>
__device__ static void
blend_sums(const int (&sums)[N][TERMS][D][4], const DenseEpilogue &f, bool absolute, int to, const Input &input)
{
#pragma unroll
  for (int i = 0; i < N; i++) {
    const int byte = (i / PRODUCTS * 8 * PRODUCTS + i % PRODUCTS * 2) * (int)sizeof(T);
    uint8_t *at = cnv_tiles + (to ^ byte / 16 * 16) + byte % 16;
    float value[4];

    dense_values(value, sums[i], f, absolute);
#pragma unroll
    for (int half = 0; half < 2; half++)
      put_blended((T *)(at + 8 * 128 * half), value + 2 * half, f, input(byte, half));
  }
}

/* Filters a tile. ROWS: rows of taps whose words stay in registers; 0: any number, from memory. COLUMNS: samples side
 * by side per warp.
 */
template <typename T, int K, int TERMS, int D, int ROWS, int COLUMNS, bool BLENDS>
__device__ static void
dense(const CnvTileArgs &l)
{
  constexpr int bytes = sizeof(T), products = CNV_DENSE_PRODUCTS(bytes, K);
  constexpr int pair_words = 32 * CNV_DENSE_FRAGMENTS(bytes, K, TERMS, D);
  constexpr int lead = CNV_DENSE_LEAD(bytes, K), apron = CNV_TILE_APRON(lead * bytes);
  constexpr int pitch = CNV_TILE_PITCH(16, CNV_TILE_WIDTH * bytes, lead * bytes);
  constexpr int row_bytes = CNV_TILE_WIDTH * bytes;
  constexpr TileShape shape = {CNV_TILE_WIDTH + 2 * apron / bytes, apron / bytes, pitch, row_bytes};
  /* Warps side by side. All other warps filter the rows below. */
  constexpr int warps_x = CNV_TILE_WIDTH / COLUMNS, step = 16 * CNV_TILE_WARPS / warps_x;
  TileParams &params = block_params();
  uint64_t &barrier = block_barrier();

  begin_block<T, BLENDS>(l, shape, params, &barrier);
  const CnvTileJob &s = params.s;
  const auto &tile = params.tile;
  const int lane = threadIdx.x % 32, g = lane / 4, t = lane % 4, warp = threadIdx.x / 32;
  const int x = warp % warps_x * COLUMNS, n_rows = tile.n_rows, all_rows = max(l.sources.n, 1) * n_rows;
  const int frame_bytes = CNV_TILE_BYTES(pitch, tile.box_rows);
  const uint32_t mask = ((uint32_t)s.full_bits << s.shift) * 0x10001u;
  const uint2 *taps = (const uint2 *)((const uint32_t *)l.bands + tile.bands) + lane;
  uint2 kept[ROWS ? ROWS / 2 : 1][K][TERMS][D][products];

#pragma unroll
  for (int j = 0; j < ROWS / 2; j++)
    load_words<pair_words / 32>(&kept[j][0][0][0][0], taps + j * pair_words);
  const CnvTileKind kind = load_tile_weights<T, CNV_TILE_WIDTH, BLENDS>(l, params);
  if (kind == CNV_TILE_KEPT)
    return keep_tile<T, CNV_TILE_WIDTH>(l, params, &barrier);
  finish_tile<T, BLENDS>(l, params, shape, &barrier);
  const uint8_t *from = cnv_tiles + tile.rows * row_bytes + g * pitch + apron + (x - lead) * bytes + 4 * t;
  const int to = output_offset<row_bytes>(tile.rows, g, (x + 2 * products * t) * bytes);
#pragma unroll 1
  for (int y = warp / warps_x * 16; y < tile.at.y_end - tile.at.y; y += step) {
    int sums[COLUMNS / 8][TERMS][D][4] = {};
    const uint8_t *row = from + y * pitch;
    int nth = 0;
    /* Returns the byte offset of the row of taps `rows` further on, which may be in another frame. */
    const auto next = [&](int rows) {
      nth = nth + rows < n_rows ? nth + rows : 0;
      return nth ? rows * pitch : frame_bytes - (n_rows - rows) * pitch;
    };

#pragma unroll
    for (int j = 0; j < ROWS; j += 2)
      add_taps<T>(sums, row + j * pitch, pitch, pitch, mask, kept[j / 2]);
#pragma unroll 1
    for (int i = 0; i < (ROWS ? 0 : all_rows); i += 2) {
      /* Windows that serve two products have an even number of rows. */
      const int second = products > 1 ? pitch : next(1);

      load_words<pair_words / 32>(&kept[0][0][0][0][0], taps + i / 2 * pair_words);
      add_taps<T>(sums, row, pitch, products > 1 || i + 1 < all_rows ? second : 0, mask, kept[0]);
      row += products > 1 ? next(2) : second + next(1);
    }
    const DenseEpilogue epilogue = {s.gain, s.offset, {s.bias[0], s.bias[1]}, s.full_bits, s.shift};
    if (kind == CNV_TILE_BLENDED)
      blend_sums<T, products>(sums, epilogue, s.combine == CNV_COMBINE_ABSOLUTE, to + y * 128, [&](int byte, int half) {
        const int first = x + 2 * products * t;

        /* Without taps shared memory has no samples; with several frames it has the samples of each. */
        return n_rows == 0 || l.sources.n > 0
                   ? input_pair<T>(params, tile.at.x + first + byte / bytes, tile.at.y + y + g + 8 * half)
                   : *(const typename Pair<T>::type *)(cnv_tiles + tile.rows * row_bytes +
                                                       (tile.top + y + g + 8 * half) * pitch + apron + first * bytes +
                                                       byte);
      });
    else if (TERMS == 1 && s.combine == CNV_COMBINE_ABSOLUTE)
      put_sums<T, products, true>(sums, epilogue, to + y * 128);
    else
      put_sums<T, products, false>(sums, epilogue, to + y * 128);
  }
  store_outputs<T, CNV_TILE_WIDTH, BLENDS>(l, params, shape);
}

/* ---- over time ---- */

/* Rows of outputs that a warp computes at a time. */
#define CNV_DENSE_GROUP 4

/* Returns the sums over the first USED pairs of frames for GROUP rows of 128 outputs. frame: the lane's first word of
 * each frame; y: byte offset of the first row. */
template <int USED, int GROUP, int ROWS, int PAIRS>
__device__ static void
sum_taps_of_frames(int (&sums)[GROUP][1][2][4], const uint8_t *const (&frame)[2 * PAIRS], int y,
                   const uint2 (&taps)[ROWS][PAIRS][2])
{
#pragma unroll
  for (int row = 0; row < GROUP + ROWS - 1; row++)
#pragma unroll
    for (int pair = 0; pair < USED; pair++) {
      uint32_t a[4];

#pragma unroll
      for (int i = 0; i < 4; i++)
        a[i] = *(const uint32_t *)(frame[2 * pair + i / 2] + y + row * CNV_DENSE_PITCH_OVER_TIME + i % 2 * 64);
#pragma unroll
      for (int i = 0; i < 2 * GROUP; i++) {
        const int out = i / 2, j = row - out;

        if (j >= 0 && j < ROWS)
          multiply_bytes(sums[out][0][i % 2], a, taps[j][pair][i % 2]);
      }
    }
}

/* Stores these sums as levels to shared memory, the first at byte `to` (output_offset). */
template <bool ABSOLUTE>
__device__ static void
put_rows(const int (&sums)[CNV_DENSE_GROUP][1][2][4], const DenseEpilogue &f, int to)
{
#pragma unroll
  for (int i = 0; i < 2 * CNV_DENSE_GROUP; i++) {
    const int row = i / 2, half = i % 2;

    put_levels(cnv_tiles + (to ^ (row + 4 * half) * 16) + row * 128, dense_level<ABSOLUTE>(sums[row], f, 2 * half),
               dense_level<ABSOLUTE>(sums[row], f, 2 * half + 1), f);
  }
}

/* Blends one row of results by weights: more rows would need too many registers. x, y: the lane's first output. */
__device__ static void
blend_row(const int (&sums)[1][1][2][4], const DenseEpilogue &f, bool absolute, int to, const TileParams &params, int x,
          int y)
{
  float value[4];

  dense_values(value, sums[0], f, absolute);
#pragma unroll
  for (int half = 0; half < 2; half++)
    put_blended(cnv_tiles + (to ^ 64 * half), value + 2 * half, f, input_pair<uint8_t>(params, x + 64 * half, y));
}

/* Filters with up to ROWS rows of taps and PAIRS pairs of frames. An odd frame is paired with itself, with taps of 0.
 */
template <int ROWS, int PAIRS, bool BLENDS>
__device__ static void
dense_over_time(const CnvTileArgs &l)
{
  constexpr int lead = CNV_DENSE_LEAD(1, 1), apron = CNV_TILE_APRON(lead), pitch = CNV_DENSE_PITCH_OVER_TIME;
  constexpr TileShape shape = {CNV_TILE_WIDTH + 2 * apron, apron, pitch, CNV_TILE_WIDTH};
  TileParams &params = block_params();
  uint64_t &barrier = block_barrier();

  begin_block<uint8_t, BLENDS>(l, shape, params, &barrier);
  const CnvTileJob &s = params.s;
  const auto &tile = params.tile;
  const int lane = threadIdx.x % 32, g = lane / 4, t = lane % 4, first = threadIdx.x / 32 * CNV_DENSE_GROUP;
  const uint2 *words = (const uint2 *)((const uint32_t *)l.bands + tile.bands) + lane;
  uint2 taps[ROWS][PAIRS][2];
  const uint8_t *frame[2 * PAIRS];

  load_words<ROWS * PAIRS * 2>(&taps[0][0][0], words);
  const CnvTileKind kind = load_tile_weights<uint8_t, CNV_TILE_WIDTH, BLENDS>(l, params);
  if (kind == CNV_TILE_KEPT)
    return keep_tile<uint8_t, CNV_TILE_WIDTH>(l, params, &barrier);
  finish_tile<uint8_t, BLENDS>(l, params, shape, &barrier);
#pragma unroll
  for (int i = 0; i < 2 * PAIRS; i++)
    frame[i] = cnv_tiles + tile.rows * CNV_TILE_WIDTH +
               min(i, max(l.sources.n, 1) - 1) * CNV_TILE_BYTES(pitch, tile.box_rows) + apron - lead + 8 * g + 4 * t;
#pragma unroll 1
  for (int y = threadIdx.x / 32; kind == CNV_TILE_BLENDED && y < tile.at.y_end - tile.at.y; y += CNV_TILE_WARPS) {
    const DenseEpilogue epilogue = {s.gain, s.offset, {s.bias[0]}, s.full_bits, s.shift};
    int sums[1][1][2][4] = {};

    sum_taps_of_frames<PAIRS>(sums, frame, y * pitch, taps);
    blend_row(sums, epilogue, s.combine == CNV_COMBINE_ABSOLUTE,
              output_offset<CNV_TILE_WIDTH>(tile.rows, y, 8 * g + 2 * t), params, tile.at.x + 8 * g + 2 * t,
              tile.at.y + y);
  }
#pragma unroll 1
  for (int y = first; kind != CNV_TILE_BLENDED && y < tile.at.y_end - tile.at.y;
       y += CNV_TILE_WARPS * CNV_DENSE_GROUP) {
    const DenseEpilogue epilogue = {s.gain, s.offset, {s.bias[0]}, s.full_bits, s.shift};
    const int to = output_offset<CNV_TILE_WIDTH>(tile.rows, y, 8 * g + 2 * t);
    int sums[CNV_DENSE_GROUP][1][2][4] = {};

    if (PAIRS == 2 || l.sources.n > 4)
      sum_taps_of_frames<PAIRS>(sums, frame, y * pitch, taps);
    else if (l.sources.n > 2)
      sum_taps_of_frames<2>(sums, frame, y * pitch, taps);
    else
      sum_taps_of_frames<1>(sums, frame, y * pitch, taps);
    if (s.combine == CNV_COMBINE_ABSOLUTE)
      put_rows<true>(sums, epilogue, to);
    else
      put_rows<false>(sums, epilogue, to);
  }
  store_outputs<uint8_t, CNV_TILE_WIDTH, BLENDS>(l, params, shape);
}
