/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * interpolate: computes outputs from decimated samples (CnvDecimation). Each position of an output between samples has
 * its own taps, which combine the filter with the interpolation. So each axis is one product with a banded matrix, as
 * in blur. A warp computes 16 pixels of each channel side by side, or 32 of one channel, and moves down a tile by 16
 * rows at a time.
 *
 * Samples are converted to f16 relative to the window's middle sample, which is rounded to a level. So smooth content
 * has small numbers, and flat content is exact. Registers hold row sums of four times eight rows of samples, which 16
 * rows of outputs read. Row sums of samples of more than 8 bits are two f16 numbers.
 */
#pragma once

#include "gpu/kernels/blur.cuh"

/* Sizes for C channels, of which only the first N are computed. */
template <typename T, int C, int N> struct Interpolate {
  static constexpr int bytes = sizeof(T), parts = bytes, pixels = CNV_INTERPOLATE_PIXELS(C), width = pixels * C;
  static constexpr int row_bytes = width * bytes;
  static constexpr int groups = CNV_INTERPOLATE_WINDOW(bytes) / 8, steps = groups / 2; /* of eight rows of samples */
  /* Groups of 16 pixels that a warp computes at a time, along a row or over channels; and those that have their own
   * positions. */
  static constexpr int bands = C == 1 && bytes == 1 ? 2 : 1, lines = C == 1 ? bands : N;
  static constexpr int fragments = steps * parts; /* fragments of a position */
  static constexpr int turns = pixels / 16 / CNV_TILE_WARPS / bands;
};

/* A tile's window in shared memory. */
struct InterpolateWindow {
  const __half *at;
  int pitch, plane, rows; /* pitch, plane: f16 numbers from row to row, and from channel to channel */
  const float4 *first;    /* start value of the levels of each channel */
};

/* Computes the row sums of rows 8 * group to 8 * group + 7 of samples. */
template <typename I>
__device__ static void
sum_window(uint32_t (&to)[I::lines][I::parts][2], const InterpolateWindow &window, const int (&begin)[I::bands],
           const uint4 *const (&band)[I::bands], int group)
{
  const int lane = threadIdx.x % 32, row = min(8 * group + lane / 4, window.rows - 1);
  const __half *rows = window.at + row * window.pitch + lane % 4 * 2;

#pragma unroll
  for (int i = 0; i < I::lines; i++) {
    const int b = I::bands > 1 ? i : 0;
    const __half *at = rows + (I::bands > 1 ? 0 : i * I::parts) * window.plane + begin[b];
    float sum[4] = {};

#pragma unroll
    for (int k = 0; k < I::steps; k++) {
      const uint32_t b0 = *(const uint32_t *)(at + 16 * k), b1 = *(const uint32_t *)(at + 16 * k + 8);
      const uint4 taps = band[b][32 * k];

      multiply(sum, taps, b0, b1);
      if (I::parts > 1) {
        const __half *rest = at + window.plane + 16 * k;

        multiply(sum, band[b][32 * (I::steps + k)], b0, b1);
        multiply(sum, taps, *(const uint32_t *)rest, *(const uint32_t *)(rest + 8));
      }
    }
    to[i][0][0] = halves_of(sum[0], sum[1]);
    to[i][0][1] = halves_of(sum[2], sum[3]);
    if (I::parts > 1) {
      to[i][I::parts - 1][0] = rest_of(to[i][0][0], sum[0], sum[1]);
      to[i][I::parts - 1][1] = rest_of(to[i][0][1], sum[2], sum[3]);
    }
  }
}

/* Computes 16 rows of outputs of the warp's lines. */
template <typename I>
__device__ static void
sum_samples(float (&level)[I::lines][2][4], const uint32_t (&sums)[I::groups][I::lines][I::parts][2],
            const uint4 *bands, const float4 *first)
{
#pragma unroll
  for (int k = 0; k < I::steps; k++) {
    const uint4 band = bands[32 * k], rest = bands[32 * ((I::parts - 1) * I::steps + k)];

#pragma unroll
    for (int i = 0; i < I::lines; i++)
#pragma unroll
      for (int half = 0; half < 2; half++) {
        const uint32_t b0 = sums[2 * k][i][0][half], b1 = sums[2 * k + 1][i][0][half];

        if (k == 0)
          multiply_first(level[i][half], band, b0, b1, first[I::bands > 1 ? 0 : i]);
        else
          multiply(level[i][half], band, b0, b1);
        if (I::parts > 1) {
          multiply(level[i][half], rest, b0, b1);
          multiply(level[i][half], band, sums[2 * k][i][I::parts - 1][half], sums[2 * k + 1][i][I::parts - 1][half]);
        }
      }
  }
}

/* Returns a lane's level of sample i of the 4 * C samples that it has in a row: four neighbouring pixels. */
template <int C, int LINES>
__device__ static float
level_of_sample(const float (&level)[LINES][2][4], int i, int half)
{
  const int pixel = i / C;

  return i % C < LINES ? level[i % C < LINES ? i % C : 0][pixel / 2][2 * half + pixel % 2] : 1024.0f;
}

/* Stores levels as samples. Depending on MODE they are also clamped, blended and scaled, and channels are copied. */
template <typename T, int C, BlurMode MODE, typename I>
__device__ static void
store_levels(const TileParams &params, const float (&level)[I::lines][2][4], int pixel, int row, bool blends,
             bool merges)
{
  typedef typename Word<T>::type W;
  const CnvTileJob &s = params.s;
  const SampleBits bits = {s.shift, (uint32_t)s.full_bits * 0x10001u};
  const int lane = threadIdx.x % 32, x = (pixel + lane % 4 * 4) * C;

#pragma unroll
  for (int w = 0; w < (C == 1 ? I::lines : C); w++) {
    const int first = C == 1 ? x + 16 * w : x + 4 * w;
    uint8_t *out = cnv_tiles + output_offset<I::row_bytes>(params.tile.rows, row, first * I::bytes);
    W word[2] = {};
    float four[2][4];

#pragma unroll
    for (int i = 0; i < 8; i++) {
      const int half = i / 4, at = i % 4;

      four[at / 2][2 * half + at % 2] = C == 1 ? level[w % I::lines][at / 2][2 * half + at % 2]
                                               : level_of_sample<C, I::lines>(level, 4 * w + at, half);
    }
    if (blends)
#pragma unroll
      for (int half = 0; half < 2; half++)
        word[half] = *(const W *)(out + 8 * half * CNV_TILE_OUT_BOX(I::row_bytes));
    const auto own = [&](int half) {
      return input_word<T>(params, params.tile.at.x + first, params.tile.at.y + row + 8 * half);
    };
    levels_to_words<T, MODE>(word, four, s, {}, bits, blends, own);
#pragma unroll
    for (int half = 0; half < 2; half++) {
      uint8_t *to = out + 8 * half * CNV_TILE_OUT_BOX(I::row_bytes);

      if (C > 1 && merges)
        word[half] = merge(blends ? own(half) : *(const W *)to, word[half], *(const W *)s.copied_bits);
      *(W *)to = word[half];
    }
  }
}

template <typename T, int C, BlurMode MODE, typename I>
__device__ static void
interpolate_rows(const TileParams &params, const InterpolateWindow &window, const int (&begin)[I::bands],
                 const uint4 *const (&band)[I::bands], const uint4 *first_bands, int pixel, bool blends, bool merges)
{
  const CnvTileJob &s = params.s;
  const int places = cnv_interpolate_places(s.decimation.from.shift[CNV_Y], params.tile.rows);
  const int lane = threadIdx.x % 32, n_rows = params.tile.at.y_end - params.tile.at.y;
  uint32_t sums[I::groups][I::lines][I::parts][2];

#pragma unroll
  for (int group = 0; group < I::groups; group++)
    sum_window<I>(sums[group], window, begin, band, group);
#pragma unroll 1
  for (int row = 0, group = I::groups; row < n_rows; group++) {
    const uint4 *bands = first_bands;

#pragma unroll 1
    for (int place = 0; place < places && row < n_rows; place++, row += 16, bands += 32 * I::fragments) {
      float level[I::lines][2][4];

      sum_samples<I>(level, sums, bands, window.first);
      store_levels<T, C, MODE, I>(params, level, pixel, row + lane / 4, blends, merges);
    }
    if (row >= n_rows)
      break;
      /* Moves on by eight rows of samples. */
#pragma unroll
    for (int g = 0; g + 1 < I::groups; g++)
#pragma unroll
      for (int i = 0; i < I::lines * I::parts * 2; i++)
        sums[g][i / I::parts / 2][i / 2 % I::parts][i % 2] = sums[g + 1][i / I::parts / 2][i / 2 % I::parts][i % 2];
    sum_window<I>(sums[I::groups - 1], window, begin, band, group);
  }
}

/* Converts eight numbers of a lattice to f16 samples relative to a level. offset: minus that level, minus 2^23 times
 * the unit of a number. For samples of more than 8 bits, stores the rests after rounding `plane` numbers further on.
 */
template <typename T>
__device__ static void
put_samples(__half *to, const uint4 &numbers, float offset, int plane)
{
  constexpr float unit = 1.0f / (1 << CNV_DECIMATED_BITS(sizeof(T)));
  const uint32_t pair[4] = {numbers.x, numbers.y, numbers.z, numbers.w};
  uint32_t samples[4], rest[4];

#pragma unroll
  for (int i = 0; i < 4; i++) {
    const float low = fmaf(__uint_as_float(__byte_perm(pair[i], 0x4b00, 0x5410)), unit, offset);
    const float high = fmaf(__uint_as_float(__byte_perm(pair[i], 0x4b00, 0x5432)), unit, offset);

    samples[i] = halves_of(low, high);
    if (sizeof(T) > 1)
      rest[i] = rest_of(samples[i], low, high);
  }
  *(uint4 *)to = make_uint4(samples[0], samples[1], samples[2], samples[3]);
  if (sizeof(T) > 1)
    *(uint4 *)(to + plane) = make_uint4(rest[0], rest[1], rest[2], rest[3]);
}

/* A place of the lattice: a number of a row, and the row. */
struct LatticePlace {
  int at, row;
};

__device__ static const uint16_t *
row_of_lattice(const CnvTileArgs &l, const CnvLattice &from, int channel, int row)
{
  return (const uint16_t *)l.decimated + from.at + (int64_t)channel * from.plane +
         (int64_t)min(max(row - from.first[CNV_Y], 0), from.last[CNV_Y] - from.first[CNV_Y]) * from.pitch;
}

/* Returns the level to which a tile's samples of a channel are relative: the sample in the middle of those that the
 * tile reads. Samples that differ more from this level are coarser as f16. */
template <typename T>
__device__ static float
middle_level(const CnvTileArgs &l, const CnvLattice &from, const LatticePlace &middle, int channel)
{
  constexpr int bits = CNV_DECIMATED_BITS(sizeof(T));
  const uint16_t *row = row_of_lattice(l, from, channel, middle.row);

  return (float)((__ldcg(row + min(middle.at, from.pitch - 1)) + (1 << bits) / 2) >> bits);
}

/* Loads the window, 16 bytes at a time, with several loads in flight at once. */
template <typename T, int N>
__device__ static void
load_window(const CnvTileArgs &l, const CnvTileJob &s, __half *to, const InterpolateWindow &window,
            const LatticePlace &place, const float (&middle)[N])
{
  constexpr int parts = sizeof(T), batch = parts > 1 ? 3 - N : N == 1 ? 4 : N == 2 ? 2 : 1;
  constexpr float unit = 1.0f / (1 << CNV_DECIMATED_BITS(sizeof(T)));
  const CnvLattice &from = s.decimation.from;
  const int chunks = window.pitch / 8, lanes = chunks <= 8 ? 8 : 16, step = blockDim.x / lanes;

#pragma unroll 1
  for (int chunk = threadIdx.x % lanes; chunk < chunks; chunk += lanes) {
    const int at = min(place.at + 8 * chunk, from.pitch - 8);

#pragma unroll 1
    for (int y = threadIdx.x / lanes; y < window.rows; y += batch * step) {
      uint4 numbers[batch][N];

#pragma unroll
      for (int i = 0; i < batch; i++) {
        const uint16_t *row = row_of_lattice(l, from, 0, place.row + min(y + i * step, window.rows - 1)) + at;

#pragma unroll
        for (int c = 0; c < N; c++)
          numbers[i][c] = __ldcg((const uint4 *)(row + (int64_t)c * from.plane));
      }
#pragma unroll
      for (int i = 0; i < batch; i++)
        if (y + i * step < window.rows)
#pragma unroll
          for (int c = 0; c < N; c++)
            put_samples<T>(to + c * parts * window.plane + (y + i * step) * window.pitch + 8 * chunk, numbers[i][c],
                           fmaf(-INTEGERS, unit, -middle[c]), window.plane);
    }
  }
}

/* Copies the input's samples to the tile of results, for the copied channels. */
template <typename T, int WIDTH>
__device__ static void
put_input(const TileParams &params)
{
  constexpr int samples = 16 / sizeof(T), chunks = WIDTH / samples, row_bytes = WIDTH * sizeof(T);
  const TileOutput &at = params.tile.at;
  const int chunk = threadIdx.x % chunks, rows = params.tile.rows, n_rows = at.y_end - at.y, stride = params.in_stride;
  const char *from = (const char *)params.back + (int64_t)at.y * stride + (int64_t)(at.x + chunk * samples) * sizeof(T);

  if constexpr (32 * CNV_TILE_WARPS % chunks != 0) {
#pragma unroll 1
    for (int i = threadIdx.x; i < n_rows * chunks; i += blockDim.x)
      copy_16(cnv_tiles + output_offset<row_bytes>(rows, i / chunks, i % chunks * 16),
              from + (int64_t)(i / chunks) * stride + (i % chunks - chunk) * 16);
  } else {
#pragma unroll 4
    for (int y = threadIdx.x / chunks; y < n_rows; y += 32 * CNV_TILE_WARPS / chunks)
      copy_16(cnv_tiles + output_offset<row_bytes>(rows, y, chunk * 16), from + (int64_t)y * stride);
  }
}

template <typename T, int C, int N = C>
__device__ static void
interpolate_tile(const CnvTileArgs &l, TileParams &params, float4 *first)
{
  typedef Interpolate<T, C, N> I;
  const CnvTileJob &s = params.s;
  const CnvDecimation &d = s.decimation;
  const CnvLattice &from = d.from;
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, shift = from.shift[CNV_X];
  const int left = params.tile.at.x / C - d.anchor, top = params.tile.at.y - s.job.y;
  const int at = (left >> shift) + d.lead[CNV_X] - from.first[CNV_X] + CNV_DECIMATED_MARGIN;
  const int places = CNV_INTERPOLATE_PLACES_X(shift), all_y = CNV_INTERPOLATE_PLACES_Y(from.shift[CNV_Y]);
  const int n_y = cnv_interpolate_places(from.shift[CNV_Y], params.tile.rows);
  const uint4 *words = (const uint4 *)((const uint32_t *)l.bands + s.bands);
  uint4 *bands_y = (uint4 *)(cnv_tiles + I::row_bytes * params.tile.rows), *bands_x = bands_y + n_y * I::fragments * 32;
  __half *to = (__half *)(bands_x + places * I::fragments * 32);
  const int pitch = cnv_interpolate_pitch(C, I::bytes, shift), rows = cnv_interpolate_rows(&d, params.tile.rows);
  const InterpolateWindow window = {to, pitch, rows * pitch, rows, first};
  const LatticePlace place = {at & ~7, (top >> from.shift[CNV_Y]) + d.lead[CNV_Y]};
  const LatticePlace center = {at + (((I::pixels - 1) >> shift) + d.n[CNV_X]) / 2, place.row + rows / 2};
  float middle[N];

  for (int i = threadIdx.x; i < n_y * I::fragments * 32; i += blockDim.x)
    copy_16(bands_y + i, words + i);
  for (int i = threadIdx.x; i < places * I::fragments * 32; i += blockDim.x)
    copy_16(bands_x + i, words + (all_y + (at & 1) * places) * I::fragments * 32 + i);
#pragma unroll
  for (int c = 0; c < N; c++)
    middle[c] = middle_level<T>(l, from, center, c);
  load_window<T, N>(l, s, to, window, place, middle);
#pragma unroll
  for (int c = 0; c < N; c++)
    if ((int)threadIdx.x == c) {
      const float level = fmaf(d.gain, middle[c] - s.mid, s.offset);

      first[c] = make_float4(level, level, level, level);
    }
  const CnvTileKind kind = load_tile_weights<T, I::width, true>(l, params);
  if (kind == CNV_TILE_KEPT) {
    keep_input<T, I::width, 32 * CNV_TILE_WARPS>(params, params.tile.at, threadIdx.x);
    wait_for_copies();
    return;
  }
  const bool blends = kind == CNV_TILE_BLENDED, merges = s.copied && params.tile.is_inner;
  if (C > 1 && merges && !blends)
    put_input<T, I::width>(params);
  wait_for_copies();
  __syncthreads();
#pragma unroll 1
  for (int turn = 0; turn < I::turns; turn++) {
    const int group = (turn * CNV_TILE_WARPS + warp) * I::bands;
    const uint4 *band[I::bands];
    int begin[I::bands];

#pragma unroll
    for (int b = 0; b < I::bands; b++) {
      begin[b] = (at & 6) + ((16 * (group + b)) >> shift & ~1);
      band[b] = bands_x + ((group + b) & (places - 1)) * I::fragments * 32 + lane;
    }
    if (!s.clamps && !blends)
      interpolate_rows<T, C, BLUR_PLAIN, I>(params, window, begin, band, bands_y + lane, 16 * group, false, merges);
    else
      interpolate_rows<T, C, BLUR_ALL, I>(params, window, begin, band, bands_y + lane, 16 * group, blends, merges);
  }
  store_outputs<T, I::width, true, false>(l, params, {});
}

/* Finds the tile of a block, and its job with all derived numbers. */
template <typename T>
__device__ static void
begin_interpolate(const CnvTileArgs &l, TileParams &params)
{
  const CnvTilePlace place = find_place<true>(l);
  const bool is_inline = l.n_jobs <= CNV_TILE_JOBS_INLINE;
  const CnvTileJob &s = (is_inline ? l.job : (const CnvTileJob *)l.jobs)[place.job];

  if (threadIdx.x == 0) {
    const int width = CNV_INTERPOLATE_WIDTH(s.channels);
    const TileOutput at = l.tiles ? tile_output(s, width, place.column, place.row) : tile_output(s, width);

    params.tile = {at,           s.rows,          0,       0,     0,     s.pointers, s.job.field,
                   s.job.fields, s.term.n[CNV_Y], s.bands, false, false, false,      (int)place.kind};
#if CNV_BULK_COPIES
    /* Copied channels are loaded 16 bytes at a time. */
    params.tile.is_inner = (!s.copied || l.maps >> s.pointers & 1) && (l.out_maps >> s.pointers & 1) &&
                           at.x >= s.inner_x0 && at.x < s.inner_x1 && at.y >= s.inner_y0 && at.y < s.inner_y1;
#endif
    wait_for_launch_before();
  }
  if (!l.leads || threadIdx.x == 0) /* thread 0 has waited for the previous launch */
    let_next_launch_begin();
  set_params<T>(params, l, s);
  __syncthreads();
}

/* Filters a tile. PIXELS: samples of 8 bits with three or four channels; else one or two channels. */
template <typename T, bool PIXELS>
__device__ static void
interpolate(const CnvTileArgs &l)
{
  __shared__ TileParams params;
  __shared__ float4 first[4];

  begin_interpolate<T>(l, params);
  if constexpr (PIXELS) {
    if (params.s.channels == 3)
      interpolate_tile<T, 3>(l, params, first);
    else if (params.s.filtered == 7)
      interpolate_tile<T, 4, 3>(l, params, first);
    else
      interpolate_tile<T, 4>(l, params, first);
  } else {
    if (params.s.channels == 1)
      interpolate_tile<T, 1>(l, params, first);
    else
      interpolate_tile<T, 2>(l, params, first);
  }
}
