/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * dense: taps of any rank on the tensor cores, in integers, which is exact: mma.m16n8k32 multiplies samples as they lie
 * in memory by digits of taps. A tap is digit[0] * 256^(D-1) + ... + digit[D-1], each from -128 to 127; a sample of 16
 * bits is two bytes, which are digits themselves, so that its sums by powers of 256 are those of three numbers
 * (gpu/dense.c).
 *
 *   S[y][x] = sum over rows of taps j and k of I[y + j][k] * B[j][k][x]: A the image, 16 rows of 32 bytes, B the taps
 * of a row on the bytes that 8 outputs reach
 *
 * A lane's words of A are words of the tile. The outputs of two products are ordered so that a lane has four
 * neighbours. Each frame over time has taps of its own; so have the two terms of a magnitude, whose sums stay apart.
 */
#pragma once

#include "gpu/kernels/tile.cuh"

#if __CUDA_ARCH__ >= 800

__device__ static void
multiply_bytes(int (&sum)[4], const uint32_t (&a)[4], uint32_t b0, uint32_t b1)
{
  asm("mma.sync.aligned.m16n8k32.row.col.s32.u8.s8.s32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
      : "+r"(sum[0]), "+r"(sum[1]), "+r"(sum[2]), "+r"(sum[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}

/* The same of 16 bytes. */
__device__ static void
multiply_bytes(int (&sum)[4], const uint32_t (&a)[2], uint32_t b)
{
  asm("mma.sync.aligned.m16n8k16.row.col.s32.u8.s8.s32 {%0, %1, %2, %3}, {%4, %5}, {%6}, {%0, %1, %2, %3};"
      : "+r"(sum[0]), "+r"(sum[1]), "+r"(sum[2]), "+r"(sum[3])
      : "r"(a[0]), "r"(a[1]), "r"(b));
}

/* Words that taps of so many steps of 16 bytes have of each lane: for two steps at once, of each term and digit. */
#define DENSE_WORDS(k, terms, digits) (((k) + 1) / 2 * (terms) * (digits))

/* Sums of a warp's 16 rows by 32 samples: by half of 16 samples, term, digit, and four samples each of two products. */
template <int TERMS, int D> struct DenseSums {
  int of[2][TERMS][D][2][4];
};

/* Adds a row of taps; from: the lane's first word of the tile. */
template <typename T, int K, int TERMS, int D>
__device__ static void
add_taps(DenseSums<TERMS, D> &sums, const uint8_t *from, int pitch, uint32_t mask,
         const uint4 (&taps)[DENSE_WORDS(K, TERMS, D)])
{
  constexpr int bytes = sizeof(T), words = bytes + K;
  uint32_t word[words][2];

#pragma unroll
  for (int i = 0; i < words; i++)
#pragma unroll
    for (int half = 0; half < 2; half++) {
      word[i][half] = *(const uint32_t *)(from + 8 * half * pitch + 16 * i);
      if (bytes > 1)
        word[i][half] &= mask;
    }
#pragma unroll
  for (int i = 0; i < DENSE_WORDS(K, TERMS, D); i++) {
    const int k = i / (TERMS * D), term = i / D % TERMS, digit = i % D;

#pragma unroll
    for (int b = 0; b < 2; b++) {
      const int first = b * bytes + 2 * k;

      if (2 * k + 1 == K) {
        multiply_bytes(sums.of[b][term][digit][0], word[first], taps[i].x);
        multiply_bytes(sums.of[b][term][digit][1], word[first], taps[i].z);
        continue;
      }
      const uint32_t a[4] = {word[first][0], word[first][1], word[first + 1][0], word[first + 1][1]};

      multiply_bytes(sums.of[b][term][digit][0], a, taps[i].x, taps[i].y);
      multiply_bytes(sums.of[b][term][digit][1], a, taps[i].z, taps[i].w);
    }
  }
}

/* Numbers that turn sums into levels, in registers. */
struct DenseEpilogue {
  float gain, offset, bias[2];
  int full, shift;
};

template <int TERMS, int D>
__device__ static float
total_of(const DenseSums<TERMS, D> &sums, int b, int term, int i, int k)
{
  const int(&digit)[D][2][4] = sums.of[b][term];

  if (D == 1)
    return (float)digit[0][i][k];
  if (D == 2)
    return (float)(digit[0][i][k] * 256 + digit[D - 1][i][k]);
  return fmaf((float)(digit[0][i][k] * 256 + digit[D > 1][i][k]), 256.0f, (float)digit[D - 1][i][k]);
}

/* Output k of product i, not yet clamped. Times the smallest float32 it becomes a denormal number, rounded to nearest,
 * ties to even, whose bits are the level; those of negative ones are a negative integer. */
template <bool ABSOLUTE, int TERMS, int D>
__device__ static int
dense_level(const DenseSums<TERMS, D> &sums, const DenseEpilogue &f, int b, int i, int k)
{
  float sum = total_of(sums, b, 0, i, k);

  if (TERMS == 2) {
    const float first = sum + f.bias[0], second = total_of(sums, b, TERMS - 1, i, k) + f.bias[1];

    sum = sqrtf(fmaf(first, first, second * second));
  } else if (ABSOLUTE) {
    sum = fabsf(sum + f.bias[0]);
  }
  return __float_as_int(fmaf(sum, f.gain, f.offset) * __int_as_float(1));
}

template <bool ABSOLUTE, int TERMS, int D>
__device__ static void
dense_word(uint32_t &word, const DenseSums<TERMS, D> &sums, const DenseEpilogue &f, int b, int half)
{
  int level[4];

#pragma unroll
  for (int i = 0; i < 4; i++)
    level[i] = dense_level<ABSOLUTE>(sums, f, b, i / 2, 2 * half + i % 2);
  word = pack_levels(level[0], level[1], pack_levels(level[2], level[3], 0));
}

template <bool ABSOLUTE, int TERMS, int D>
__device__ static void
dense_word(uint2 &word, const DenseSums<TERMS, D> &sums, const DenseEpilogue &f, int b, int half)
{
  uint32_t level[4];

#pragma unroll
  for (int i = 0; i < 4; i++)
    level[i] = (uint32_t)min(max(dense_level<ABSOLUTE>(sums, f, b, i / 2, 2 * half + i % 2), 0), f.full) << f.shift;
  word = make_uint2(level[0] | level[1] << 16, level[2] | level[3] << 16);
}

/* Stores the lane's results of 16 rows to shared memory. */
template <typename T, bool ABSOLUTE, int TERMS, int D>
__device__ static void
put_words(const DenseSums<TERMS, D> &sums, const DenseEpilogue &f, uint8_t *to, int pitch)
{
#pragma unroll
  for (int i = 0; i < 4; i++) {
    typename Word<T>::type word;

    dense_word<ABSOLUTE>(word, sums, f, i / 2, i % 2);
    *(typename Word<T>::type *)(to + 8 * (i % 2) * pitch + 16 * (i / 2) * (int)sizeof(T)) = word;
  }
}

/* The taps of a row, as add_taps takes them. */
template <int N>
__device__ static void
load_taps(uint4 (&taps)[N], const uint4 *from)
{
#pragma unroll
  for (int i = 0; i < N; i++)
    taps[i] = __ldg(from + 32 * i);
}

/* ROWS: rows of taps whose words stay in registers; 0: any number. */
template <typename T, int K, int TERMS, int D, int ROWS>
__device__ static void
dense(const CnvTileArgs &l)
{
  constexpr int bytes = sizeof(T), n_words = DENSE_WORDS(K, TERMS, D);
  constexpr int lead = CNV_DENSE_LEAD(bytes, K), apron = CNV_TILE_APRON(lead * bytes);
  constexpr int pitch = CNV_TILE_PITCH(16, CNV_TILE_WIDTH * bytes, lead * bytes),
                out_pitch = CNV_TILE_WIDTH * bytes + 16;
  constexpr TileShape shape = {CNV_TILE_WIDTH, CNV_TILE_WIDTH + 2 * apron / bytes, apron / bytes, -1, pitch};
  __shared__ TileParams params;
  __shared__ alignas(8) uint64_t barrier;

  begin_block<T>(l, shape, params, &barrier);
  const CnvTileJob &s = params.s;
  const int lane = threadIdx.x % 32, g = lane / 4, t = lane % 4, warp_x = threadIdx.x / 32 * 32;
  const int n_rows = ROWS ? ROWS : s.term.n[CNV_Y], frame_bytes = CNV_TILE_BYTES(pitch, s.box_rows);
  const int n_frames = max(l.sources.n, 1);
  const TileOutput at = tile_output(s, CNV_TILE_WIDTH);
  const TileBox box = tile_box(s, at, shape);
  uint8_t *out = cnv_tiles + n_frames * frame_bytes;
  const DenseEpilogue epilogue = {s.gain, s.offset, {s.bias[0], s.bias[1]}, s.full_bits, s.shift};
  const bool absolute = TERMS == 1 && s.combine == CNV_COMBINE_ABSOLUTE;
  const uint32_t mask = ((uint32_t)s.full_bits << s.shift) * 0x10001u;
  const uint4 *taps = (const uint4 *)((const uint32_t *)l.bands + s.bands) + lane;
  uint4 kept[ROWS ? ROWS : 2][n_words];

#pragma unroll
  for (int j = 0; j < ROWS; j++)
    load_taps(kept[j], taps + j * n_words * 32);
  finish_tile<T>(l, params, box, &barrier);
  const uint8_t *warp_at = cnv_tiles + g * pitch + apron + (warp_x - lead) * bytes + 4 * t;
#pragma unroll 1
  for (int y = 0; y < at.y_end - at.y; y += 16) {
    DenseSums<TERMS, D> sums = {};

#pragma unroll 1
    for (int i = 0; i < (reads(s) ? n_frames : 0); i++) {
      const uint8_t *from = warp_at + i * frame_bytes + y * pitch;

      if (ROWS) {
#pragma unroll
        for (int j = 0; j < ROWS; j++)
          add_taps<T, K, TERMS, D>(sums, from + j * pitch, pitch, mask, kept[j]);
        continue;
      }
      /* The next row's taps are on their way while one row is added. */
      const uint4 *next = taps + (int64_t)i * n_rows * n_words * 32;
      load_taps(kept[0], next);
#pragma unroll 1
      for (int j = 0; j < n_rows; j += 2) {
        load_taps(kept[1], next + min(j + 1, n_rows - 1) * n_words * 32);
        add_taps<T, K, TERMS, D>(sums, from + j * pitch, pitch, mask, kept[0]);
        if (j + 1 == n_rows)
          break;
        load_taps(kept[0], next + min(j + 2, n_rows - 1) * n_words * 32);
        add_taps<T, K, TERMS, D>(sums, from + (j + 1) * pitch, pitch, mask, kept[1]);
      }
    }
    uint8_t *to = out + (y + g) * out_pitch + (warp_x + 4 * t) * bytes;
    if (absolute)
      put_words<T, true>(sums, epilogue, to, out_pitch);
    else
      put_words<T, false>(sums, epilogue, to, out_pitch);
  }
  __syncthreads();
  store_tile<T, CNV_TILE_WIDTH, 32 * CNV_TILE_WARPS>(params, at, out, out_pitch, threadIdx.x);
}

#else

template <typename T, int K, int TERMS, int D, int ROWS>
__device__ static void
dense(const CnvTileArgs &)
{
}

#endif
