/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * decimate: computes one sample per step x step pixels (CnvDecimation), by two products with banded matrices, as in
 * blur. Samples of 8 bits are multiplied as stored, by mma.m16n8k32 in u8, because a spline's taps are integers. Other
 * samples are multiplied as f16, which is exact too. A warp computes row sums of 16 rows by 16 samples. These sums are
 * converted to f16 relative to the tile's middle pixel, so that smooth content has small numbers, and flat content is
 * exact. The second product, with the taps along y, gives the samples.
 *
 * Channels are separated as they are loaded. If a tile is narrower than 64 samples, warps share its rows, and their
 * sums are added up before they are stored.
 */
#pragma once

#include "gpu/kernels/blur.cuh"

/* Sums along rows for 16 samples by 8 rows; for samples of 8 bits, integers above the bits of 2^23. */
template <typename T> struct RowSums;
template <> struct RowSums<uint8_t> {
  int sum[4];

  /* unit: sum of the spline's taps. middle: the sample to which the sums are relative. */
  __device__ void begin(float, float)
  {
    sum[0] = sum[1] = sum[2] = sum[3] = __float_as_int(INTEGERS);
  }

  __device__ void add(const uint4 &a, const uint2 &b)
  {
    asm("mma.sync.aligned.m16n8k32.row.col.s32.u8.u8.s32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, "
        "%3};"
        : "+r"(sum[0]), "+r"(sum[1]), "+r"(sum[2]), "+r"(sum[3])
        : "r"(a.x), "r"(a.y), "r"(a.z), "r"(a.w), "r"(b.x), "r"(b.y));
  }

  __device__ float value(int i, float unit, float middle) const
  {
    return fmaf(__int_as_float(sum[i]), unit, -INTEGERS * unit - middle);
  }
};
template <> struct RowSums<uint16_t> {
  float sum[4];

  __device__ void begin(float unit, float middle)
  {
    sum[0] = sum[1] = sum[2] = sum[3] = -(1024.0f + middle) * unit;
  }

  __device__ void add(const uint4 &a, const uint2 &b)
  {
    multiply(sum, a, b.x, b.y);
  }

  __device__ float value(int i, float unit, float) const
  {
    return sum[i] * unit;
  }
};

/* Loads a lane's pixels of a step, eight of 8 bits or four of 16, channel by channel. */
template <int C>
__device__ static void
load_pixels(uint2 (&to)[C], const uint8_t *at, const SampleBits &, uint8_t)
{
  if constexpr (C == 1) {
    to[0] = *(const uint2 *)at;
  } else if constexpr (C == 2) {
    const uint4 w = *(const uint4 *)at;

    to[0] = make_uint2(__byte_perm(w.x, w.y, 0x6420), __byte_perm(w.z, w.w, 0x6420));
    to[1] = make_uint2(__byte_perm(w.x, w.y, 0x7531), __byte_perm(w.z, w.w, 0x7531));
  } else if constexpr (C == 3) {
    const uint2 a = *(const uint2 *)at, b = *(const uint2 *)(at + 8), c = *(const uint2 *)(at + 16);

    to[0] = make_uint2(__byte_perm(__byte_perm(a.x, a.y, 0x0630), b.x, 0x5210),
                       __byte_perm(__byte_perm(b.y, c.x, 0x0630), c.y, 0x5210));
    to[1] = make_uint2(__byte_perm(__byte_perm(a.x, a.y, 0x0741), b.x, 0x6210),
                       __byte_perm(__byte_perm(b.y, c.x, 0x0741), c.y, 0x6210));
    to[2] = make_uint2(__byte_perm(__byte_perm(a.x, a.y, 0x0052), b.x, 0x7410),
                       __byte_perm(__byte_perm(b.y, c.x, 0x0052), c.y, 0x7410));
  } else {
    uint32_t word[C][2];

#pragma unroll
    for (int i = 0; i < 2; i++) {
      const uint4 w = *(const uint4 *)(at + 16 * i);
      const uint32_t low = __byte_perm(w.x, w.y, 0x5140), next = __byte_perm(w.z, w.w, 0x5140);
      const uint32_t third = __byte_perm(w.x, w.y, 0x7362), last = __byte_perm(w.z, w.w, 0x7362);

      word[0][i] = __byte_perm(low, next, 0x5410);
      word[1][i] = __byte_perm(low, next, 0x7632);
      word[2][i] = __byte_perm(third, last, 0x5410);
      word[3][i] = __byte_perm(third, last, 0x7632);
    }
#pragma unroll
    for (int c = 0; c < C; c++)
      to[c] = make_uint2(word[c][0], word[c][1]);
  }
}

template <int C>
__device__ static void
load_pixels(uint2 (&to)[C], const uint8_t *at, const SampleBits &bits, uint16_t)
{
  if constexpr (C == 1) {
    to[0] = samples_of_word(*(const uint2 *)at, bits);
  } else {
    const uint4 w = *(const uint4 *)at;

    to[0] = samples_of_word(make_uint2(__byte_perm(w.x, w.y, 0x5410), __byte_perm(w.z, w.w, 0x5410)), bits);
    to[1] = samples_of_word(make_uint2(__byte_perm(w.x, w.y, 0x7632), __byte_perm(w.z, w.w, 0x7632)), bits);
  }
}

/* Groups of eight samples of a column that a warp computes. */
#define CNV_DECIMATE_COLUMNS (CNV_DECIMATE_ROWS / 8)

/* Computes a warp's part of a tile: the sums of 16 samples of the first N of C channels, relative to `middle`. */
template <typename T, int C, int N>
__device__ static void
decimate_rows(const CnvTileJob &s, float (&sum)[N][CNV_DECIMATE_COLUMNS][4], const float (&middle)[N])
{
  constexpr int bytes = sizeof(T), parts = bytes, unit = CNV_DECIMATE_UNIT(bytes);
  const CnvDecimation &d = s.decimation;
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, shares = CNV_TILE_WARPS / d.groups;
  const int shift_x = d.to.shift[CNV_X], shift_y = d.to.shift[CNV_Y], pitch = d.pitch;
  const int steps_x = CNV_DECIMATE_STEPS_X(bytes, 1 << shift_x), steps_y = CNV_DECIMATE_STEPS_Y(1 << shift_y);
  const uint4 *band_x = (const uint4 *)(cnv_tiles + d.bands_begin) + lane;
  const uint2 *band_y = (const uint2 *)(cnv_tiles + d.bands_begin + steps_x * 512) + lane;
  const uint8_t *from =
      cnv_tiles + lane / 4 * pitch + ((warp % d.groups) << (shift_x + 4)) * C * bytes + lane % 4 * 8 * C;
  const SampleBits bits = {s.shift, (uint32_t)s.full_bits * 0x10001u};
  const float unit_x = __int_as_float((127 - 3 * shift_x) << 23), units = (float)(1 << 3 * shift_x);
  const int n_steps = (s.box_rows + 15) / 16;

#pragma unroll 1
  for (int step = warp / d.groups; step < n_steps; step += shares) {
    RowSums<T> row[2][N];
    const uint8_t *at = from + step * 16 * pitch;

#pragma unroll
    for (int i = 0; i < 2 * N; i++)
      row[i / N][i % N].begin(units, middle[i % N]);
#pragma unroll 2
    for (int k = 0; k < steps_x; k++) {
      const uint4 band = band_x[32 * k];

#pragma unroll
      for (int half = 0; half < 2; half++) {
        uint2 pixels[C];

        load_pixels<C>(pixels, at + half * 8 * pitch + k * unit * C * bytes, bits, T());
#pragma unroll
        for (int c = 0; c < N; c++)
          row[half][c].add(band, pixels[c]);
      }
    }
    uint4 sums[N][parts];
#pragma unroll
    for (int c = 0; c < N; c++) {
      float low[4], high[4];
      uint4 packed[parts];

#pragma unroll
      for (int i = 0; i < 4; i++) {
        low[i] = row[0][c].value(i, unit_x, middle[c]);
        high[i] = row[1][c].value(i, unit_x, middle[c]);
      }
      pack_parts(packed, low, high);
#pragma unroll
      for (int part = 0; part < parts; part++) /* in the order of operand A */
        sums[c][part] = make_uint4(packed[part].x, packed[part].z, packed[part].y, packed[part].w);
    }
#pragma unroll
    for (int n = 0; n < CNV_DECIMATE_COLUMNS; n++) {
      const int place = step - (n << shift_y) / 2;

      if (place < 0 || place >= steps_y)
        continue;
      const uint2 taps = band_y[32 * place];
#pragma unroll
      for (int c = 0; c < N; c++)
#pragma unroll
        for (int part = 0; part < parts; part++)
          multiply(sum[c][n], sums[c][part], taps.x, taps.y);
    }
  }
}

/* Converts two sums relative to `middle` to numbers of a lattice (CnvLattice). */
template <typename T>
__device__ static uint32_t
numbers_of(float low, float high, float middle)
{
  constexpr float unit = 1 << CNV_DECIMATED_BITS(sizeof(T));
  const float first = fmaf(middle, unit, INTEGERS);
  const uint32_t a = __float_as_uint(fmaxf(fmaf(low, unit, first), INTEGERS));
  const uint32_t b = __float_as_uint(fmaxf(fmaf(high, unit, first), INTEGERS));

  return __byte_perm(a, b, 0x5410);
}

/* Adds up the warps' parts of a tile's samples and stores them, with the margins of rows. */
template <typename T, int N>
__device__ static void
store_decimated(const CnvTileArgs &l, const CnvTileJob &s, const float (&sum)[N][CNV_DECIMATE_COLUMNS][4],
                const float (&middle)[N], int column, int row)
{
  const CnvDecimation &d = s.decimation;
  const CnvLattice &to = d.to;
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, shares = CNV_TILE_WARPS / d.groups, width = 16 * d.groups;
  const int pitch = width + 4, rows = s.rows >> to.shift[CNV_Y];
  const int x = column * width, y = row * rows; /* relative to the first sample */
  const int last = min(width - 1, to.last[CNV_X] - to.first[CNV_X] - x);
  const int left = column == 0 ? CNV_DECIMATED_MARGIN / 8 : 0;
  const int chunks =
      left + (last < width - 1 || column == s.columns - 1 ? (to.pitch - CNV_DECIMATED_MARGIN - x) / 8 : width / 8);
  const int n_rows = min(rows, to.last[CNV_Y] - to.first[CNV_Y] + 1 - y);
  const int lanes = chunks <= 4 ? 4 : chunks <= 8 ? 8 : 16;
  float *sums = (float *)cnv_tiles;

#pragma unroll
  for (int c = 0; c < N; c++)
#pragma unroll
    for (int n = 0; n < CNV_DECIMATE_COLUMNS; n++) {
      float *at = sums + ((warp / d.groups * N + c) * CNV_DECIMATE_ROWS + 8 * n + lane % 4 * 2) * pitch +
                  16 * (warp % d.groups) + lane / 4;

      at[0] = sum[c][n][0];
      at[pitch] = sum[c][n][1];
      at[8] = sum[c][n][2];
      at[pitch + 8] = sum[c][n][3];
    }
  __syncthreads();
#pragma unroll 1
  for (int line = threadIdx.x / lanes; line < n_rows; line += blockDim.x / lanes)
#pragma unroll 1
    for (int i = threadIdx.x % lanes; i < chunks; i += lanes) {
      const int at_x = 8 * (i - left);
      uint16_t *out =
          (uint16_t *)l.decimated + to.at + (int64_t)(y + line) * to.pitch + CNV_DECIMATED_MARGIN + x + at_x;

#pragma unroll
      for (int c = 0; c < N; c++) {
        float value[8] = {};

#pragma unroll 1
        for (int share = 0; share < shares; share++) {
          const float *at = sums + ((share * N + c) * CNV_DECIMATE_ROWS + line) * pitch;

          if (at_x >= 0 && at_x + 7 <= last) {
            const float4 a = *(const float4 *)(at + at_x), b = *(const float4 *)(at + at_x + 4);
            const float some[8] = {a.x, a.y, a.z, a.w, b.x, b.y, b.z, b.w};

#pragma unroll
            for (int k = 0; k < 8; k++)
              value[k] += some[k];
          } else {
#pragma unroll
            for (int k = 0; k < 8; k++)
              value[k] += at[min(max(at_x + k, 0), last)];
          }
        }
        *(uint4 *)(out + (int64_t)c * to.plane) =
            make_uint4(numbers_of<T>(value[0], value[1], middle[c]), numbers_of<T>(value[2], value[3], middle[c]),
                       numbers_of<T>(value[4], value[5], middle[c]), numbers_of<T>(value[6], value[7], middle[c]));
      }
    }
}

/* Fills in the missing samples of a tile. Rarely needed, so the code is not inlined. */
template <typename T, int SAMPLES>
__device__ __noinline__ static void
complete_tile(const TileParams &params, const TileBox box, const TilePart part)
{
  fill_tile<T, SAMPLES>(params, box, part, (T *)cnv_tiles, 0);
}

/* Starts the copies of the tile with all threads. */
template <typename T>
__device__ static void
start_tile(const CnvTileArgs &l, const TileParams &params, const TileBox &box, uint64_t *barrier)
{
  if (!(l.maps >> params.s.pointers & 1))
    return;
#if CNV_BULK_COPIES
  const uint32_t at = shared_address(barrier);

  if (threadIdx.x == 0) {
    expect_bytes(at, box.pitch * params.s.box_rows);
    start_bulk_copy(shared_address(cnv_tiles), &l.map[params.s.pointers],
                    {box.x * (int)sizeof(T) / 4, params.s.job.field, box.y, 0}, at);
  }
#else
  copy_chunks<T>(params, box, loaded_part<T>(params, box, true), cnv_tiles, 0);
#endif
}

/* Waits for the tile, and completes it. All threads see it afterwards. */
template <typename T, int SAMPLES>
__device__ static void
complete(const CnvTileArgs &l, const TileParams &params, const TileBox &box, uint64_t *barrier)
{
  const bool has_map = l.maps >> params.s.pointers & 1;
  const TilePart part = loaded_part<T>(params, box, has_map);

  if (!is_whole(box, part))
    find_samples<SAMPLES, false>(params, box, part);
  wait_for_copies(); /* of samples and bands */
  __syncthreads();
#if CNV_BULK_COPIES
  if (has_map)
    wait_for_bulk_copies(barrier, 0);
#endif
  if (!is_whole(box, part))
    complete_tile<T, SAMPLES>(params, box, part);
}

template <typename T, int C, int N = C>
__device__ static void
decimate_tile(const CnvTileArgs &l, const TileParams &params, const TileBox &box, int column, int row)
{
  const CnvTileJob &s = params.s;
  const T *pixel = (const T *)(cnv_tiles + box.rows / 2 * box.pitch) + box.width / C / 2 * C;
  float sum[N][CNV_DECIMATE_COLUMNS][4] = {}, middle[N];

#pragma unroll
  for (int c = 0; c < N; c++)
    middle[c] = (float)(pixel[c] >> s.shift & s.full_bits);
  decimate_rows<T, C, N>(s, sum, middle);
  __syncthreads(); /* the sums reuse the tile's memory */
  store_decimated<T, N>(l, s, sum, middle, column, row);
}

/* Decimates a tile. WIDE: three or four channels, else one or two. */
template <typename T, bool WIDE>
__device__ static void
decimate(const CnvTileArgs &l)
{
  __shared__ TileParams params;
  __shared__ alignas(8) uint64_t barrier;

  load_tile_job<T>(params, l);
  const CnvTileJob &s = params.s;
  const CnvDecimation &d = s.decimation;
  const uint4 *words = (const uint4 *)((const uint32_t *)l.bands + s.bands);
  const int n_words = CNV_DECIMATE_STEPS_X((int)sizeof(T), 1 << d.to.shift[CNV_X]) * 32 +
                      CNV_DECIMATE_STEPS_Y(1 << d.to.shift[CNV_Y]) * 16;
  int column, row;

  cnv_tile_place(&s, (int)blockIdx.x, &column, &row);
  const int shift_x = d.to.shift[CNV_X], shift_y = d.to.shift[CNV_Y], step_y = 1 << shift_y;
  const int first_x = d.to.first[CNV_X] + column * 16 * d.groups;
  const int first_y = d.to.first[CNV_Y] + row * (s.rows >> shift_y);
  /* No sample needs pixels to the right of the last sample's. */
  const int width = CNV_DECIMATE_APRON + ((min(16 * d.groups, d.to.last[CNV_X] + 1 - first_x) + 1) << shift_x);
  const TileBox box = {(d.anchor + (first_x << shift_x) - CNV_DECIMATE_APRON) * s.channels,
                       s.job.y + (first_y << shift_y) - (step_y - 1),
                       width * s.channels,
                       min(s.box_rows, (d.to.last[CNV_Y] + 3 - first_y) * step_y - 2),
                       d.pitch,
                       0};

  if (threadIdx.x == 0) {
#if CNV_BULK_COPIES
    asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(shared_address(&barrier)));
    asm volatile("fence.mbarrier_init.release.cluster;");
#endif
    wait_for_launch_before();
  }
#if !CNV_BULK_COPIES
  __syncthreads();
#endif
  start_tile<T>(l, params, box, &barrier);
  let_next_launch_begin();
  for (int i = threadIdx.x; i < n_words; i += blockDim.x)
    copy_16(cnv_tiles + d.bands_begin + 16 * i, words + i);
  complete<T, CNV_DECIMATE_SAMPLES(WIDE)>(l, params, box, &barrier);
  if (WIDE && sizeof(T) == 1) {
    if (s.channels == 3)
      decimate_tile<uint8_t, 3>(l, params, box, column, row);
    else if (s.filtered == 7)
      decimate_tile<uint8_t, 4, 3>(l, params, box, column, row);
    else
      decimate_tile<uint8_t, 4>(l, params, box, column, row);
  } else if (s.channels == 1) {
    decimate_tile<T, 1>(l, params, box, column, row);
  } else {
    decimate_tile<T, 2>(l, params, box, column, row);
  }
}

/* Computes a coarse lattice from a finer one. The ratio of their steps is a power of two, and the taps are the spline's
 * for that ratio. Neighbouring lanes share the rows of a sample, so that their loads are in flight at once. The margins
 * of rows are computed in the same way. */
__device__ static void
decimate_again(const CnvTileArgs &l)
{
  const CnvTileJob &s = nth_job(l, find_tile_job(l));
  const CnvDecimation &d = s.decimation;
  const CnvLattice &from = d.from, &to = d.to;
  const float *tap = (const float *)l.bands + s.bands;
  const int shift_x = to.shift[CNV_X] - from.shift[CNV_X], shift_y = to.shift[CNV_Y] - from.shift[CNV_Y];
  const int n_x = (3 << shift_x) - 2, n_y = (3 << shift_y) - 2, rows = to.last[CNV_Y] - to.first[CNV_Y] + 1;
  const int lanes = CNV_DECIMATE_AGAIN_LANES(shift_y), lane = threadIdx.x % lanes;
  const int i = (((int)blockIdx.x - s.first_block) * (int)blockDim.x + threadIdx.x) / lanes;
  const int line = i / to.pitch, c = line / rows, at = i - line * to.pitch, y = to.first[CNV_Y] + line - c * rows;
  const int x = min(max(to.first[CNV_X] + at - CNV_DECIMATED_MARGIN, to.first[CNV_X]), to.last[CNV_X]);
  const bool has_number = c < s.channels && (s.filtered >> c & 1);
  float sum = 0;

  if (threadIdx.x == 0)
    wait_for_launch_before();
  let_next_launch_begin();
  __syncthreads();
  const uint16_t *plane = (const uint16_t *)l.decimated + from.at + (int64_t)(has_number ? c : 0) * from.plane;
#pragma unroll 1
  for (int j = has_number ? lane : n_y; j < n_y; j += lanes) {
    const int from_y = (y << shift_y) - (1 << shift_y) + 1 + j;
    const uint16_t *row =
        plane + (int64_t)(min(max(from_y, from.first[CNV_Y]), from.last[CNV_Y]) - from.first[CNV_Y]) * from.pitch +
        CNV_DECIMATED_MARGIN;
    float part = 0;

#pragma unroll 10
    for (int k = 0; k < n_x; k++) {
      const int from_x = (x << shift_x) - (1 << shift_x) + 1 + k;

      part += __ldg(tap + k) *
              (float)__ldcg(row + min(max(from_x, from.first[CNV_X]), from.last[CNV_X]) - from.first[CNV_X]);
    }
    sum += __ldg(tap + n_x + j) * part;
  }
  for (int other = lanes / 2; other > 0; other /= 2)
    sum += __shfl_xor_sync(0xffffffffu, sum, other);
  if (has_number && lane == 0)
    ((uint16_t *)l.decimated)[to.at + (int64_t)c * to.plane + (int64_t)(y - to.first[CNV_Y]) * to.pitch + at] =
        (uint16_t)__float2uint_rn(sum);
}
