/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * interpolate: outputs of decimated samples (CnvDecimation). Each place of an output between samples has taps of its
 * own, by which few taps and interpolation are one product of banded matrices along either axis, as blur has them: a
 * warp makes 16 pixels of each channel side by side, or 32 of one channel, and goes down a tile by 16 rows.
 *
 * Row sums of eight rows of samples lie in registers, four times that in all; 16 rows of outputs reach over these.
 */
#pragma once

#include "gpu/kernels/blur.cuh"

template <typename T, int C> struct Interpolate {
  static constexpr int bytes = sizeof(T), parts = bytes, pixels = CNV_INTERPOLATE_PIXELS(C), width = pixels * C;
  static constexpr int row_bytes = width * bytes, out_bytes = row_bytes * CNV_INTERPOLATE_ROWS;
  static constexpr int groups = CNV_INTERPOLATE_WINDOW(bytes) / 8, steps = groups / 2; /* of eight rows of samples */
  /* Times 16 pixels that a warp makes at a time: of a row, or channels; and those with places of their own. */
  static constexpr int bands = C == 1 && bytes == 1 ? 2 : 1, lines = C == 1 ? bands : C;
  static constexpr int fragments = steps * parts; /* of a place */
  static constexpr int turns = pixels / 16 / CNV_TILE_WARPS / bands;
};

/* Where a tile's window lies: halves of shared memory and numbers of a row, and of the warp's first sample. */
struct InterpolateWindow {
  const __half *at;
  int pitch, plane, rows;
};

/* Row sums of eight rows of samples, from number 8 * group on. */
template <typename I>
__device__ static void
sum_window(uint32_t (&to)[I::lines][I::parts][2], const InterpolateWindow &window, const int (&begin)[I::bands],
           const uint4 (&band)[I::bands][I::fragments], int group)
{
  const int lane = threadIdx.x % 32, row = min(8 * group + lane / 4, window.rows - 1);

#pragma unroll
  for (int i = 0; i < I::lines; i++) {
    const int b = I::bands > 1 ? i : 0;
    const __half *at =
        window.at + (I::bands > 1 ? 0 : i * I::parts) * window.plane + row * window.pitch + begin[b] + lane % 4 * 2;
    float sum[4] = {};

#pragma unroll
    for (int k = 0; k < I::steps; k++) {
      const uint32_t b0 = *(const uint32_t *)(at + 16 * k), b1 = *(const uint32_t *)(at + 16 * k + 8);

      multiply(sum, band[b][k], b0, b1);
      if (I::parts > 1) {
        const __half *rest = at + window.plane + 16 * k;

        multiply(sum, band[b][(I::parts - 1) * I::steps + k], b0, b1);
        multiply(sum, band[b][k], *(const uint32_t *)rest, *(const uint32_t *)(rest + 8));
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

/* 16 rows of outputs of the warp's lines. */
template <typename I>
__device__ static void
sum_samples(float (&level)[I::lines][2][4], const uint32_t (&sums)[I::groups][I::lines][I::parts][2],
            const uint4 *bands, const float4 &first)
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
          multiply_first(level[i][half], band, b0, b1, first);
        else
          multiply(level[i][half], band, b0, b1);
        if (I::parts > 1) {
          multiply(level[i][half], rest, b0, b1);
          multiply(level[i][half], band, sums[2 * k][i][I::parts - 1][half], sums[2 * k + 1][i][I::parts - 1][half]);
        }
      }
  }
}

/* A lane's level of sample i of the 4 * C that it has in a row: pixels are neighbours, and so are their channels. */
template <typename T, int C>
__device__ static float
level_of_sample(const float (&level)[Interpolate<T, C>::lines][2][4], int i, int half)
{
  const int pixel = i / C;

  return level[i % C][pixel / 2][2 * half + pixel % 2];
}

/* What becomes of levels: they are stored as samples; or clamped, blended and scaled too, and channels are copied. */
template <typename T, int C, BlurMode MODE>
__device__ static void
store_levels(const TileParams &params, const float (&level)[Interpolate<T, C>::lines][2][4], int pixel, int row,
             const float *factor, bool blends, bool merges)
{
  typedef Interpolate<T, C> I;
  typedef typename Word<T>::type W;
  const CnvTileJob &s = params.s;
  const SampleBits bits = {s.shift, (uint32_t)s.full_bits * 0x10001u};
  const int lane = threadIdx.x % 32, x = (pixel + lane % 4 * 4) * C;

#pragma unroll
  for (int w = 0; w < I::lines; w++) {
    const int first = C == 1 ? x + 16 * w : x + 4 * w;
    uint8_t *out = cnv_tiles + output_offset<I::row_bytes>(CNV_INTERPOLATE_ROWS, row, first * I::bytes);
    W word[2] = {};
    float four[2][4];

#pragma unroll
    for (int i = 0; i < 8; i++) {
      const int half = i / 4, at = i % 4;

      four[at / 2][2 * half + at % 2] =
          C == 1 ? level[w][at / 2][2 * half + at % 2] : level_of_sample<T, C>(level, 4 * w + at, half);
    }
    if (blends)
#pragma unroll
      for (int half = 0; half < 2; half++)
        word[half] = *(const W *)(out + 8 * half * CNV_TILE_OUT_BOX(I::row_bytes));
    const auto own = [&](int half) {
      return input_word<T>(params, params.tile.at.x + first, params.tile.at.y + row + 8 * half);
    };
    levels_to_words<T, MODE>(word, four, s, {factor + first, factor + I::width + row}, bits, blends, own);
#pragma unroll
    for (int half = 0; half < 2; half++) {
      uint8_t *to = out + 8 * half * CNV_TILE_OUT_BOX(I::row_bytes);

      if (C > 1 && merges)
        word[half] = merge(blends ? own(half) : *(const W *)to, word[half], *(const W *)s.copied_bits);
      *(W *)to = word[half];
    }
  }
}

template <typename T, int C, BlurMode MODE>
__device__ static void
interpolate_rows(const TileParams &params, const InterpolateWindow &window,
                 const int (&begin)[Interpolate<T, C>::bands],
                 const uint4 (&band)[Interpolate<T, C>::bands][Interpolate<T, C>::fragments], int pixel,
                 const float *factor, bool blends, bool merges)
{
  typedef Interpolate<T, C> I;
  const CnvTileJob &s = params.s;
  const int n = s.decimation.from.shift[CNV_Y], places = CNV_INTERPOLATE_PLACES_Y(n);
  const int lane = threadIdx.x % 32, n_rows = params.tile.at.y_end - params.tile.at.y;
  const float4 first = *(const float4 *)s.first_level;
  uint32_t sums[I::groups][I::lines][I::parts][2];

#pragma unroll
  for (int group = 0; group < I::groups; group++)
    sum_window<I>(sums[group], window, begin, band, group);
#pragma unroll 1
  for (int row = 0, group = I::groups; row < n_rows; group++) {
    const uint4 *bands = (const uint4 *)(cnv_tiles + I::out_bytes) + lane;

#pragma unroll 1
    for (int place = 0; place < places && row < n_rows; place++, row += 16, bands += 32 * I::fragments) {
      float level[I::lines][2][4];

      sum_samples<I>(level, sums, bands, first);
      store_levels<T, C, MODE>(params, level, pixel, row + lane / 4, factor, blends, merges);
    }
    if (row >= n_rows)
      break;
      /* Eight rows of samples on. */
#pragma unroll
    for (int g = 0; g + 1 < I::groups; g++)
#pragma unroll
      for (int i = 0; i < I::lines * I::parts * 2; i++)
        sums[g][i / I::parts / 2][i / 2 % I::parts][i % 2] = sums[g + 1][i / I::parts / 2][i / 2 % I::parts][i % 2];
    sum_window<I>(sums[I::groups - 1], window, begin, band, group);
  }
}

/* Starts the copies of the window's numbers. at: of its first number, in a row. */
template <typename T, int C>
__device__ static void
copy_window(const CnvTileArgs &l, const CnvTileJob &s, __half *to, const InterpolateWindow &window, int at, int row)
{
  const CnvDecimation &d = s.decimation;
  const CnvLattice &from = d.from;
  const int chunks = window.pitch / 8, most = from.pitch / 8 - 1, last = from.last[CNV_Y] - from.first[CNV_Y];
  const int lanes = chunks <= 8 ? 8 : 16, lane = threadIdx.x % lanes;
  const uint16_t *plane = (const uint16_t *)l.decimated + from.at;

#pragma unroll 1
  for (int c = 0; c < C * (int)sizeof(T); c++, plane += from.plane) {
    if (C > 1 && !(s.filtered >> c / (int)sizeof(T) & 1))
      continue;
#pragma unroll 1
    for (int y = threadIdx.x / lanes; y < window.rows; y += blockDim.x / lanes) {
      const uint16_t *line = plane + (int64_t)min(max(row + y - from.first[CNV_Y], 0), last) * from.pitch;

      for (int chunk = lane; chunk < chunks; chunk += lanes)
        copy_16(to + c * window.plane + y * window.pitch + 8 * chunk, line + 8 * min(at / 8 + chunk, most));
    }
  }
}

/* Puts the input's samples where results go, which take the copied channels from there. */
template <typename T, int WIDTH>
__device__ static void
put_input(const TileParams &params)
{
  constexpr int samples = 16 / sizeof(T), chunks = WIDTH / samples;
  const TileOutput &at = params.tile.at;

#pragma unroll 1
  for (int i = threadIdx.x; i < (at.y_end - at.y) * chunks; i += blockDim.x)
    copy_16(cnv_tiles + output_offset<WIDTH * sizeof(T)>(CNV_INTERPOLATE_ROWS, i / chunks, i % chunks * 16),
            (const char *)params.back + (int64_t)(at.y + i / chunks) * params.in_stride +
                (int64_t)(at.x + i % chunks * samples) * sizeof(T));
}

template <typename T, int C>
__device__ static void
interpolate_tile(const CnvTileArgs &l, TileParams &params, float *factor)
{
  typedef Interpolate<T, C> I;
  const CnvTileJob &s = params.s;
  const CnvDecimation &d = s.decimation;
  const CnvLattice &from = d.from;
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, shift = from.shift[CNV_X];
  const int left = params.tile.at.x / C - d.anchor, top = params.tile.at.y - s.job.y;
  const int at = (left >> shift) + d.lead[CNV_X] - from.first[CNV_X] + CNV_DECIMATED_MARGIN;
  const int places = CNV_INTERPOLATE_PLACES_X(shift), n_y = CNV_INTERPOLATE_PLACES_Y(from.shift[CNV_Y]);
  const uint4 *words = (const uint4 *)((const uint32_t *)l.bands + s.bands);
  const uint4 *bands_x = words + n_y * I::fragments * 32 + (at & 1) * places * I::fragments * 32 + lane;
  __half *to = (__half *)(cnv_tiles + I::out_bytes + n_y * I::fragments * 512);
  const int pitch = cnv_interpolate_pitch(C, I::bytes, shift), rows = cnv_interpolate_rows(&d);
  const InterpolateWindow window = {to, pitch, rows * pitch, rows};

  for (int i = threadIdx.x; i < n_y * I::fragments * 32; i += blockDim.x)
    copy_16(cnv_tiles + I::out_bytes + 16 * i, words + i);
  copy_window<T, C>(l, s, to, window, at & ~7, (top >> from.shift[CNV_Y]) + d.lead[CNV_Y]);
  const CnvTileKind kind = load_tile_weights<T, I::width>(l, params);
  if (kind == CNV_TILE_KEPT) {
    keep_input<T, I::width, 32 * CNV_TILE_WARPS>(params, params.tile.at, threadIdx.x);
    wait_for_copies();
    return;
  }
  const bool blends = kind == CNV_TILE_BLENDED, merges = s.copied && params.tile.is_inner;
  if (C > 1 && merges && !blends)
    put_input<T, I::width>(params);
  if (s.renormalizes)
    find_factors(factor, s, params.tile.at, I::width);
  wait_for_copies();
  __syncthreads();
#pragma unroll 1
  for (int turn = 0; turn < I::turns; turn++) {
    const int group = (turn * CNV_TILE_WARPS + warp) * I::bands;
    uint4 band[I::bands][I::fragments];
    int begin[I::bands];

#pragma unroll
    for (int b = 0; b < I::bands; b++) {
      begin[b] = (at & 6) + ((16 * (group + b)) >> shift & ~1);
      load_words<I::fragments>(band[b], bands_x + ((group + b) & (places - 1)) * I::fragments * 32);
    }
    if (is_plain(s) && !blends)
      interpolate_rows<T, C, BLUR_PLAIN>(params, window, begin, band, 16 * group, factor, false, merges);
    else
      interpolate_rows<T, C, BLUR_ALL>(params, window, begin, band, 16 * group, factor, blends, merges);
  }
  store_outputs<T, I::width, false>(l, params, {});
}

/* The tile of a block, and its job with all that is worked out of it. */
template <typename T>
__device__ static void
begin_interpolate(const CnvTileArgs &l, TileParams &params, int width)
{
  const CnvTilePlace place = find_place(l);
  const bool is_inline = l.n_jobs <= CNV_TILE_JOBS_INLINE;
  const CnvTileJob &s = (is_inline ? l.job : (const CnvTileJob *)l.jobs)[place.job];

  if (threadIdx.x == 0) {
    const TileOutput at = l.tiles ? tile_output(s, width, place.column, place.row) : tile_output(s, width);
    decltype(params.tile) tile = {
        at,    s.rows,         0, 0, 0, s.pointers, s.job.field, s.term.n[CNV_Y], s.bands, s.renormalizes != 0,
        false, (int)place.kind};

#if CNV_BULK_COPIES
    /* Copied channels come by 16 bytes. */
    tile.is_inner = (!s.copied || l.maps >> s.pointers & 1) && (l.out_maps >> s.pointers & 1) && at.x >= s.inner_x0 &&
                    at.x < s.inner_x1 && at.y >= s.inner_y0 && at.y < s.inner_y1;
#endif
    params.tile = tile;
    wait_for_launch_before();
  }
  if (!l.leads || threadIdx.x == 0) /* which has waited for the launch before */
    let_next_launch_begin();
  set_params<T>(params, l, s);
  __syncthreads();
}

/* PIXELS: channels of a pixel, of 8 bits; 0: one or two. */
template <typename T, int CHANNELS>
__device__ static void
interpolate(const CnvTileArgs &l)
{
  constexpr int most = CHANNELS == 3 ? 3 * 128 : CHANNELS == 4 ? 4 * 64 : 128;
  __shared__ TileParams params;
  __shared__ alignas(16) float factor[most + CNV_INTERPOLATE_ROWS];

  begin_interpolate<T>(l, params, most);
  if constexpr (CHANNELS > 0) {
    interpolate_tile<T, CHANNELS>(l, params, factor);
  } else {
    if (params.s.channels == 1)
      interpolate_tile<T, 1>(l, params, factor);
    else
      interpolate_tile<T, 2>(l, params, factor);
  }
}
