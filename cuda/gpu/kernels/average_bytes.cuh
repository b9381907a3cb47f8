/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * average, for samples of 8 bits: the tiles of all frames are in shared memory. Sums over 3x3 samples are products of
 * the samples, as stored, with a table of 0 and 1 on the tensor cores (mma.m16n8k32), and add to minus the sum of the
 * output's frame. So a product gives the difference that decides a sample's weight. A thread has four samples side by
 * side, a word, in four rows:
 *
 *   D[i][j] = sum over k of A[i][k] * B[k][j]
 *             A: rows 0 to 7 are segments of 16 bytes of one row of the tile, a word per lane; rows 8 to 15 are the
 *             segments two rows below. Of 32 bytes, the first 16 are a segment, and the last 16 the segment of another
 *             row, or the words beside the segments of two rows
 *             B: 1 for bytes of the same channel in the three columns around sample j, else 0 (gpu/average.c)
 *             D: each lane gets the sums of two samples of its word
 *
 * Weights are float32, then rounded to integers of 16 bits, so that sums of weights, and of samples times weights, are
 * exact. The latter have 24 bits. They are halved before they become float32, so only their lowest bit is lost.
 */
#pragma once

#include "gpu/kernels/tile.cuh"

/* Rows of a thread; it reads one more above and below. */
#define AVERAGE_GROUP 4

/* Sum of the weights of all frames, before they are rounded to integers: rounded, it has 16 bits. */
#define AVERAGE_UNITS 65500.0f

/* Differences as integers d are the float32 numbers MIDDLE + d. */
#define AVERAGE_MIDDLE 12582912.0f

/* Operands A of a thread's products: words of its column in rows 0 to 5, and words beside segments. The registers of an
 * operand are neighbours, so words that two operands share are loaded twice. */
struct NearbyWords {
  uint32_t first[4];  /* rows 0, 2, 1, 3 */
  uint32_t second[4]; /* rows 2 and 4, words beside rows 2 or 3 and 4 or 5 */
  uint32_t third[4];  /* rows 3 and 5, words beside rows 0 or 1 and 2 or 3 */
};

/* Loads a word. Volatile, because the compiler would load words early and run out of registers. */
__device__ static uint32_t
load_shared(uint32_t at)
{
  uint32_t word;

  asm volatile("ld.volatile.shared.u32 %0, [%1];" : "=r"(word) : "r"(at));
  return word;
}

/* Returns the words from an address in shared memory on. beside: the address of the word beside the segment that this
 * lane provides. */
__device__ static NearbyWords
load_nearby(uint32_t at, uint32_t beside)
{
  constexpr int pitch = CNV_AVERAGE_PITCH;
  const auto row = [&](int y) { return load_shared(at + y * pitch); };
  const auto side = [&](int y) { return load_shared(beside + y * pitch); };

  return {{row(0), row(2), row(1), row(3)}, {row(2), row(4), side(2), side(4)}, {row(3), row(5), side(0), side(2)}};
}

/* Returns the word of output row i. */
__device__ static uint32_t
word_of_row(const NearbyWords &words, int i)
{
  return i == 0 ? words.first[2] : i == 1 ? words.first[1] : i == 2 ? words.first[3] : words.second[1];
}

/* Operands B for two samples of a word. */
struct NearbyTaps {
  uint2 rows;   /* for two rows of segments */
  uint2 first;  /* for a row of segments, and the words beside the first of two rows */
  uint2 both;   /* the same for the words beside both rows */
  uint2 second; /* the same for the words beside the second of two rows */
};

__device__ static NearbyTaps
load_nearby_taps(const uint4 *from)
{
  const uint4 a = __ldg(from), b = __ldg(from + 32);

  return {make_uint2(a.x, a.y), make_uint2(a.z, a.w), make_uint2(b.x, b.y), make_uint2(b.z, b.w)};
}

/* Returns taps of -1 in place of 1. */
__device__ static NearbyTaps
negate(const NearbyTaps &taps)
{
  const auto minus = [](uint2 a) { return make_uint2(a.x * 255, a.y * 255); };

  return {minus(taps.rows), minus(taps.first), minus(taps.both), minus(taps.second)};
}

__device__ static void
multiply_half(int (&sum)[4], uint32_t a0, uint32_t a1, uint32_t b)
{
  asm("mma.sync.aligned.m16n8k16.row.col.s32.u8.s8.s32 {%0, %1, %2, %3}, {%4, %5}, {%6}, {%0, %1, %2, %3};"
      : "+r"(sum[0]), "+r"(sum[1]), "+r"(sum[2]), "+r"(sum[3])
      : "r"(a0), "r"(a1), "r"(b));
}

/* Sets sum to first plus the sums over 3x3 of two samples in rows ODD and ODD + 2: numbers 0 and 1, 2 and 3. */
template <int ODD>
__device__ static void
add_nearby(int (&sum)[4], const NearbyWords &words, const NearbyTaps &taps, const int (&first)[4])
{
  if (ODD) {
    multiply_bytes_first(sum, words.second, taps.both, first);
    multiply_bytes(sum, words.third, taps.second);
    multiply_half(sum, words.first[2], words.first[3], taps.both.x);
  } else {
    multiply_bytes_first(sum, words.first, taps.rows, first);
    multiply_bytes(sum, words.second, taps.first);
    multiply_half(sum, words.third[2], words.third[3], taps.both.y);
  }
}

/* The sums of a thread's samples. */
struct ByteSums {
  uint32_t weight[AVERAGE_GROUP][2]; /* of two samples each, 16 bits each */
  /* Samples times weights: of the first of two samples, and of both. */
  uint32_t first[AVERAGE_GROUP][2], both[AVERAGE_GROUP][2];
};

/* Adds a word of samples with their weights, 16 bits each. */
__device__ static void
add_weighed(ByteSums &sums, int row, int pair, uint32_t word, uint32_t weights)
{
  const uint32_t even = word & 0x00ff00ffu;

  sums.weight[row][pair] += weights;
  sums.first[row][pair] =
      pair ? __dp2a_hi(weights, even, sums.first[row][pair]) : __dp2a_lo(weights, even, sums.first[row][pair]);
  sums.both[row][pair] =
      pair ? __dp2a_hi(weights, word, sums.both[row][pair]) : __dp2a_lo(weights, word, sums.both[row][pair]);
}

/* Returns the weight of a sample as an integer above the bits of 2^23. difference: the float32 number MIDDLE + d as
 * bits. scale: minus 1 / (9 * threshold), with two bits fewer, so that the product with MIDDLE is exact. */
__device__ static uint32_t
weight_of(int difference, float scale, float minus2, float plus3)
{
  const float far = fmaf(__int_as_float(difference), scale, -AVERAGE_MIDDLE * scale);
  const float s = __saturatef(1.5f - fabsf(far));

  return __float_as_uint(fmaf(s * s, fmaf(s, minus2, plus3), INTEGERS));
}

/* What all rows of a thread need. */
struct ByteTile {
  int frame_bytes;
  float scale;
  NearbyTaps taps[2];
};

/* Sums up all frames. at, beside: address of the thread's words of the first frame (load_nearby). */
__device__ static void
sum_bytes(ByteSums &sums, const CnvTileArgs &l, const ByteTile &tile, uint32_t at, uint32_t beside)
{
  const int n = l.sources.n, center = l.sources.center;
  const float unit = AVERAGE_UNITS / l.sources.sum;
  int own[2][2][4]; /* of rows 0 and 2, or 1 and 3; of two samples: MIDDLE minus their sums */

  {
    const NearbyWords words = load_nearby(at + center * tile.frame_bytes, beside + center * tile.frame_bytes);
    const uint32_t weight = __float_as_uint(fmaf(l.sources.weight[center], unit, INTEGERS)) & 0xffff;
    const int bits = __float_as_int(AVERAGE_MIDDLE), middle[4] = {bits, bits, bits, bits};

#pragma unroll
    for (int pair = 0; pair < 2; pair++) {
      const NearbyTaps minus = negate(tile.taps[pair]);

      add_nearby<0>(own[0][pair], words, minus, middle);
      add_nearby<1>(own[1][pair], words, minus, middle);
    }
#pragma unroll
    for (int i = 0; i < 2 * AVERAGE_GROUP; i++) {
      sums.weight[i / 2][i % 2] = 0;
      sums.first[i / 2][i % 2] = sums.both[i / 2][i % 2] = 0;
      add_weighed(sums, i / 2, i % 2, word_of_row(words, i / 2), weight * 0x10001u);
    }
  }
#pragma unroll 1
  for (int i = 0; i < n - 1; i++) {
    const int k = i + (i >= center);
    const float weight = l.sources.weight[k] * unit, minus2 = -2.0f * weight, plus3 = 3.0f * weight;
    const NearbyWords words = load_nearby(at + k * tile.frame_bytes, beside + k * tile.frame_bytes);

#pragma unroll
    for (int odd = 0; odd < 2; odd++)
#pragma unroll
      for (int pair = 0; pair < 2; pair++) {
        int d[4];

        if (odd)
          add_nearby<1>(d, words, tile.taps[pair], own[odd][pair]);
        else
          add_nearby<0>(d, words, tile.taps[pair], own[odd][pair]);
#pragma unroll
        for (int j = 0; j < 2; j++)
          add_weighed(sums, odd + 2 * j, pair, word_of_row(words, odd + 2 * j),
                      __byte_perm(weight_of(d[2 * j], tile.scale, minus2, plus3),
                                  weight_of(d[2 * j + 1], tile.scale, minus2, plus3), 0x5410));
      }
  }
}

/* Returns half of the average of sample i of row `row`. */
__device__ static float
half_average(const ByteSums &sums, int row, int i)
{
  const uint32_t first = sums.first[row][i / 2], value = i % 2 ? sums.both[row][i / 2] - first : first;
  const uint32_t weight = __byte_perm(sums.weight[row][i / 2], __float_as_uint(INTEGERS), i % 2 ? 0x7632 : 0x7610);
  const float inverse = reciprocal(__uint_as_float(weight) - INTEGERS);

  return (__uint_as_float((value >> 1) + __float_as_uint(INTEGERS)) - INTEGERS) * inverse;
}

/* Numbers that convert halves of averages to levels, in registers. ABSOLUTE: of the magnitude of a half times tap plus
 * bias. */
template <bool ABSOLUTE> struct ByteEpilogue {
  float tap, bias, gain, offset;

  __device__ ByteEpilogue(const CnvTileJob &s, float sum_of_weights)
  {
    tap = 2.0f * s.center * sum_of_weights;
    bias = s.bias[0];
    gain = ABSOLUTE ? s.gain : tap * s.gain;
    offset = s.offset;
  }

  __device__ float value(float half) const
  {
    return fmaf(ABSOLUTE ? fabsf(fmaf(half, tap, bias)) : half, gain, offset);
  }
};

/* Calls put(i, value) for each row i of a thread, with the values of its samples. */
template <bool ABSOLUTE, typename Put>
__device__ static void
put_values(const ByteSums &sums, const CnvTileArgs &l, const CnvTileJob &s, const Put &put)
{
  const ByteEpilogue<ABSOLUTE> epilogue(s, l.sources.sum);

#pragma unroll
  for (int i = 0; i < AVERAGE_GROUP; i++) {
    float value[4];

#pragma unroll
    for (int j = 0; j < 4; j++)
      value[j] = epilogue.value(half_average(sums, i, j));
    put(i, value);
  }
}

template <typename Put>
__device__ static void
put_values(const ByteSums &sums, const CnvTileArgs &l, const CnvTileJob &s, const Put &put)
{
  if (s.combine == CNV_COMBINE_SUM)
    put_values<false>(sums, l, s, put);
  else
    put_values<true>(sums, l, s, put);
}

__device__ static uint32_t
pack_values(const float (&value)[4])
{
  return pack_four(nearest_level(value[0]), nearest_level(value[1]), nearest_level(value[2]), nearest_level(value[3]));
}

__device__ static uint32_t
blend_values(const float (&value)[4], uint32_t input, uint32_t weights)
{
  const auto level = [&](int i) {
    return blend_level(value[i], number_of<uint8_t>(input, i, 0), number_of<uint8_t>(weights, i, 0), 1.0f, 255.0f);
  };

  return pack_four(level(0), level(1), level(2), level(3));
}

/* Filters a tile. */
template <bool BLENDS>
__device__ __forceinline__ static void
average_bytes(const CnvTileArgs &l)
{
  constexpr int apron = CNV_TILE_APRON(CNV_AVERAGE_SAMPLES), pitch = CNV_AVERAGE_PITCH, width = CNV_TILE_WIDTH;
  constexpr TileShape shape = {width + 2 * apron, apron, pitch, width};
  TileParams &params = block_params();
  uint64_t &barrier = block_barrier();

  begin_block<uint8_t, BLENDS>(l, shape, params, &barrier);
  const CnvTileJob &s = params.s;
  const auto &tile = params.tile;
  const uint4 *taps = (const uint4 *)((const uint32_t *)l.bands + tile.bands) + threadIdx.x % 32;
  ByteTile own;

  own.taps[0] = load_nearby_taps(taps);
  own.taps[1] = load_nearby_taps(taps + 64);
  const CnvTileKind kind = load_tile_weights<uint8_t, width, BLENDS>(l, params);
  if (kind == CNV_TILE_KEPT)
    return keep_tile<uint8_t, width>(l, params, &barrier);
  finish_tile<uint8_t, BLENDS>(l, params, shape, &barrier);
  const float threshold = fmaxf(threshold_of(l.thresholds, s.format_plane) * 255.0f, (float)CNV_THRESHOLD_LEAST);
  own.scale = __uint_as_float(__float_as_uint(-1.0f / (9.0f * threshold)) & ~3u);
  own.frame_bytes = CNV_TILE_BYTES(pitch, tile.box_rows);
  /* Words of inner tiles are stored at once, without a barrier. */
  const bool direct = tile.is_inner && (!BLENDS || kind != CNV_TILE_BLENDED) && s.combine == CNV_COMBINE_SUM;
#pragma unroll 1
  for (int y = threadIdx.x / 32 * AVERAGE_GROUP; y < tile.at.y_end - tile.at.y; y += CNV_TILE_WARPS * AVERAGE_GROUP) {
    int lane = threadIdx.x % 32;
    ByteSums sums;

    asm volatile("" : "+r"(lane)); /* computed before the loop, addresses would occupy registers */
    const uint32_t row = shared_address(cnv_tiles + tile.rows * width + apron) + y * pitch;
    sum_bytes(sums, l, own, row + 4 * lane, row + lane / 2 % 2 * pitch + lane / 4 * 16 + (lane % 2 ? 16 : -4));
    const auto to = [&](int i) { return (uint32_t *)(cnv_tiles + output_offset<width>(tile.rows, y + i, 4 * lane)); };
    if (direct) {
      const int stride = l.out.stride[tile.pointers] * tile.fields;
      char *out = (char *)l.out.address[tile.pointers] + (int64_t)tile.field * l.out.stride[tile.pointers] +
                  (int64_t)(tile.at.y + y) * stride + tile.at.x + 4 * lane;

      put_values<false>(sums, l, s, [&](int i, const float(&value)[4]) {
        *(uint32_t *)(out + (int64_t)i * stride) = pack_values(value);
      });
    } else if (BLENDS && kind == CNV_TILE_BLENDED) {
      put_values(sums, l, s, [&](int i, const float(&value)[4]) {
        *to(i) = blend_values(value, load_shared(row + 4 * lane + l.sources.center * own.frame_bytes + (i + 1) * pitch),
                              *to(i));
      });
    } else {
      put_values(sums, l, s, [&](int i, const float(&value)[4]) { *to(i) = pack_values(value); });
    }
  }
  if (direct)
    return;
  store_outputs<uint8_t, width, BLENDS>(l, params, shape);
}

__device__ __forceinline__ static void
average_bytes(const CnvTileArgs &l)
{
  if (l.plain)
    average_bytes<false>(l);
  else
    average_bytes<true>(l);
}
