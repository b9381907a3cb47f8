/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * blur: filters with a row times a column of taps, as two products with banded matrices on the tensor cores
 * (mma.m16n8k16: f16, with float32 sums). A warp computes 16 * M samples side by side, and moves down a tile by 16 rows
 * per step. Row sums stay in registers between the two products:
 *
 *   rows     C[x][y] = sum over k of A[x][k] * I[k][y]
 *            A: the band of the row's taps; I: the image, 16 samples of 8 rows
 *   columns  D[y][x] = sum over k of B[y][k] * C[k][x]
 *            B: the band of the column's taps; C: row sums of 16 rows by 8 samples. A lane's row sums, rounded to pairs
 *            of f16, already have the layout of this operand
 *
 * The numbers k of samples, and the rows of A of outputs, may be assigned in any order (gpu/blur.c). They are assigned
 * so that the four samples of a word are a lane's two pairs of k. A lane's results are then four neighbours of a row.
 *
 * One instruction converts a sample x to 1024 + x, because the f16 number with the bits 0x6400 | x is 1024 + x. Sums
 * over A begin at -(1024 + mid) times the sum of the taps, so that row sums are about 0, where f16 is finest. The
 * second product gives 1024 + level. There the step of f16 is 1, so rounding to f16 rounds to a level.
 *
 * SPLIT: each tap and each row sum is two f16 numbers, together nearly as precise as float32. This is for samples of
 * more than 8 bits, and for taps of both signs.
 *
 * Over time, the weighted sums of all frames' samples first replace the samples.
 */
#pragma once

#include "gpu/kernels/blur_samples.cuh"

/* Sets sum to a * b + first, of fragments of matrices. */
__device__ static void
multiply_first(float (&sum)[4], const uint4 &a, uint32_t b0, uint32_t b1, const float4 &first)
{
  asm("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%10, %11, %12, "
      "%13};"
      : "=f"(sum[0]), "=f"(sum[1]), "=f"(sum[2]), "=f"(sum[3])
      : "r"(a.x), "r"(a.y), "r"(a.z), "r"(a.w), "r"(b0), "r"(b1), "f"(first.x), "f"(first.y), "f"(first.z),
        "f"(first.w));
}

__device__ static void
multiply(float (&sum)[4], const uint4 &a, uint32_t b0, uint32_t b1)
{
  const float4 first = {sum[0], sum[1], sum[2], sum[3]};

  multiply_first(sum, a, b0, b1, first);
}

/* Packs two pairs of 1024 + level into a word of four samples. */
__device__ static void
word_of_levels(uint32_t &word, uint32_t low, uint32_t high, const SampleBits &)
{
  word = __byte_perm(low, high, 0x6420);
}

__device__ static void
word_of_levels(uint2 &word, uint32_t low, uint32_t high, const SampleBits &bits)
{
  word = make_uint2((low & bits.mask) << bits.shift, (high & bits.mask) << bits.shift);
}

__device__ static uint32_t
clamp_levels(uint32_t pair, __half2 full)
{
  const __half2 clamped = __hmax2(__hmin2(*(const __half2 *)&pair, full), __float2half2_rn(1024.0f));

  return *(const uint32_t *)&clamped;
}

/* The fragments of a band: in registers if KEPT, else read from memory at each use. */
template <int N, bool KEPT> struct Bands {
  const uint4 *from;
  uint4 kept[KEPT ? N : 1];

  __device__ void load(const uint4 *at)
  {
    from = at;
    load_words<KEPT ? N : 0>(kept, at);
  }

  __device__ uint4 operator[](int i) const
  {
    return KEPT ? kept[KEPT ? i : 0] : __ldg(from + 32 * i);
  }
};

/* The fragments of a band, read from memory at each use. */
struct BandsInMemory {
  const uint4 *from;

  __device__ uint4 operator[](int i) const
  {
    return from[32 * i];
  }
};

/* Keeps a number in a register. Otherwise the compiler computes it again in each turn of a loop. */
__device__ static void
keep(int &number)
{
  asm volatile("" : "+r"(number));
}

/* Computes the row sums of two times eight rows, for M groups of 16 samples. from: the byte of the lane's first word.
 */
template <typename T, int K_X, int M, int PARTS, typename S, typename B>
__device__ static void
sum_rows(float (&sum)[2][M][4], int from, int pitch, const B &bands, const S &samples, const float4 &first)
{
#pragma unroll
  for (int half = 0; half < 2; half++) {
    const uint8_t *row = cnv_tiles + samples.row(from + half * 8 * pitch);
    uint2 sample[M][S::parts];

#pragma unroll
    for (int m = 0; m < M - 1; m++)
      samples.load(sample[m], row + 16 * m * (int)sizeof(T));
#pragma unroll
    for (int k = 0; k < K_X; k++) {
      samples.load(sample[M - 1], row + 16 * (k + M - 1) * (int)sizeof(T));
#pragma unroll
      for (int m = 0; m < M; m++) {
        if (k == 0)
          multiply_first(sum[half][m], bands[0], sample[m][0].x, sample[m][0].y, first);
        else
          multiply(sum[half][m], bands[k], sample[m][0].x, sample[m][0].y);
        if (PARTS > 1)
          multiply(sum[half][m], bands[(PARTS - 1) * K_X + k], sample[m][0].x, sample[m][0].y);
        if (S::parts > 1)
          multiply(sum[half][m], bands[k], sample[m][S::parts - 1].x, sample[m][S::parts - 1].y);
#pragma unroll
        for (int part = 0; part < S::parts && m > 0; part++)
          sample[m - (m > 0)][part] = sample[m][part];
      }
    }
  }
}

/* Rounds a lane's row sums of 16 rows by 16 samples to f16: x and y have the first eight samples, of eight rows each; z
 * and w have the other eight. A second part has the rests after rounding. */
template <int PARTS>
__device__ static void
pack_parts(uint4 (&to)[PARTS], const float (&low)[4], const float (&high)[4])
{
  to[0] = make_uint4(halves_of(low[0], low[1]), halves_of(high[0], high[1]), halves_of(low[2], low[3]),
                     halves_of(high[2], high[3]));
  if (PARTS > 1)
    to[PARTS - 1] = make_uint4(rest_of(to[0].x, low[0], low[1]), rest_of(to[0].y, high[0], high[1]),
                               rest_of(to[0].z, low[2], low[3]), rest_of(to[0].w, high[2], high[3]));
}

/* Adds the products of a column's taps with 16 rows of row sums to levels of two times eight samples. BEGINS: levels
 * begin at `first`. The product of the rests of both is omitted. */
template <int PARTS, bool BEGINS>
__device__ static void
add_columns(float (&level)[2][4], const uint4 (&sums)[PARTS], const uint4 (&band)[PARTS], const float4 &first)
{
  const uint4 &main = sums[0], &rest = sums[PARTS - 1], &band_rest = band[PARTS - 1];

  if (BEGINS) {
    multiply_first(level[0], band[0], main.x, main.y, first);
    multiply_first(level[1], band[0], main.z, main.w, first);
  } else {
    multiply(level[0], band[0], main.x, main.y);
    multiply(level[1], band[0], main.z, main.w);
  }
  if (PARTS > 1) {
    multiply(level[0], band[0], rest.x, rest.y);
    multiply(level[1], band[0], rest.z, rest.w);
    multiply(level[0], band_rest, main.x, main.y);
    multiply(level[1], band_rest, main.z, main.w);
  }
}

/* Adds the tap on the sample itself, `center`, to four sums. pairs: the samples as 1024 + x; mid: 1024 + the job's mid.
 */
__device__ static void
add_center(float (&low)[2], float (&high)[2], const uint2 &pairs, float center, float mid)
{
  const float2 a = __half22float2(*(const __half2 *)&pairs.x), b = __half22float2(*(const __half2 *)&pairs.y);

  low[0] = fmaf(a.x - mid, center, low[0]);
  low[1] = fmaf(a.y - mid, center, low[1]);
  high[0] = fmaf(b.x - mid, center, high[0]);
  high[1] = fmaf(b.y - mid, center, high[1]);
}

/* What the loop over rows does in addition to converting sums to levels. Each mode is compiled separately, so its loop
 * has only the instructions that it needs. */
enum BlurMode {
  BLUR_PLAIN,       /* nothing */
  BLUR_BLEND,       /* blends by weights */
  BLUR_SHARP,       /* clamps, and adds the tap on the sample itself */
  BLUR_RENORMALIZE, /* as BLUR_SHARP, and renormalizes */
  BLUR_ALL          /* all of these */
};

/* Blends two levels with the input by weights. All are 1024 + x. */
__device__ static void
blend_pair(float (&level)[2], uint32_t input, uint32_t weights)
{
  constexpr float unit = 1.0f / 255.0f;
  const float2 own = __half22float2(*(const __half2 *)&input), weight = __half22float2(*(const __half2 *)&weights);

  level[0] = fmaf(level[0] - own.x, fmaf(weight.x, unit, -1024.0f * unit), own.x);
  level[1] = fmaf(level[1] - own.y, fmaf(weight.y, unit, -1024.0f * unit), own.y);
}

/* Added to a level for blend_sums. */
#define BLENDED_SUM (32768.0f + 71.0f / 256.0f)

/* Blends four levels of 8 bits with the input by weights, in integers:
 *
 *   The float32 number 32768 + 71/256 + level has 256 * level + 71 in its lower 16 bits, and 71 in its upper byte. This
 *   byte, and the input's level above it, form a second number of 16 bits, 256 * input + 71.
 *   dp2a multiplies the two by weight and 255 - weight, and adds them to `rounded`, which removes 71 * 255 and adds
 *   32768 to round. The unit is now 1/65280.
 *   x + x / 256 divides by 65280 and leaves the result in bits 16 to 23.
 *
 * This takes 22 instructions; float32 took 29. level: includes BLENDED_SUM. */
__device__ static uint32_t
blend_sums(const float (&level)[4], uint32_t input, uint32_t weights)
{
  const uint32_t others = ~weights, rounded = 32768 - 71 * 255;
  const uint32_t pair[2] = {__byte_perm(weights, others, 0x5140), __byte_perm(weights, others, 0x7362)};
  uint32_t sum[4];

#pragma unroll
  for (int i = 0; i < 4; i++) {
    const uint32_t bits = __float_as_uint(level[i]);

    sum[i] = i % 2 ? __dp2a_hi(__byte_perm(bits, input, 0x4310 + 0x1000 * i), pair[i / 2], rounded)
                   : __dp2a_lo(__byte_perm(bits, input, 0x4310 + 0x1000 * i), pair[i / 2], rounded);
    sum[i] += sum[i] >> 8;
  }
  return __byte_perm(__byte_perm(sum[0], sum[1], 0x0062), __byte_perm(sum[2], sum[3], 0x0062), 0x5410);
}

/* Blends as blend_sums does. level: 1024 + level. */
__device__ static uint32_t
blend_bytes(const float (&level)[4], uint32_t input, uint32_t weights)
{
  float sum[4];

#pragma unroll
  for (int i = 0; i < 4; i++)
    sum[i] = level[i] + (BLENDED_SUM - 1024.0f);
  return blend_sums(sum, input, weights);
}

/* Blends samples of 8 bits, and returns true; false for other samples. word: has the weights, then the results. */
__device__ static bool
blend_word(uint32_t &word, const float (&low)[2], const float (&high)[2], uint32_t input)
{
  const float level[4] = {low[0], low[1], high[0], high[1]};

  word = blend_bytes(level, input, word);
  return true;
}

__device__ static bool
blend_word(uint2 &, const float (&)[2], const float (&)[2], uint2)
{
  return false;
}

__device__ static bool
is_plain(const CnvTileJob &s)
{
  return !s.clamps && !s.renormalizes && s.center == 0;
}

/* The factors of renormalize, from the lane's first sample and row on. */
struct Factors {
  const float *along, *row;
};

/* Converts levels of 16 rows by 16 samples to a lane's words of samples, of rows g and g + 8. center: returns the
 * input's word at one of these rows. blends: blends by the weights that `word` has. */
template <typename T, BlurMode MODE, typename W, typename Center>
__device__ static void
levels_to_words(W (&word)[2], const float (&level)[2][4], const CnvTileJob &s, const Factors &factors,
                const SampleBits &bits, bool blends, const Center &center)
{
#pragma unroll
  for (int half = 0; half < 2; half++) {
    float low[2] = {level[0][2 * half], level[0][2 * half + 1]};
    float high[2] = {level[1][2 * half], level[1][2 * half + 1]};
    const W weight = word[half];
    W own = {};

    if (MODE >= BLUR_SHARP && s.center != 0)
      add_center(low, high, samples_of_word(center(half), bits), s.center, 1024.0f + s.mid);
    if (MODE >= BLUR_RENORMALIZE && s.renormalizes) {
      const float4 along = *(const float4 *)factors.along;
      const float row = factors.row[8 * half];

      low[0] = fmaf(low[0] * row, along.x, s.offset);
      low[1] = fmaf(low[1] * row, along.y, s.offset);
      high[0] = fmaf(high[0] * row, along.z, s.offset);
      high[1] = fmaf(high[1] * row, along.w, s.offset);
    }
    if (MODE == BLUR_BLEND && blend_word(word[half], low, high, center(half)))
      continue;
    if (blends) {
      own = center(half);
      const uint2 input = samples_of_word(own, bits), weights = pairs_of_weights(weight);
      const float most = 1024.0f + s.full_bits;

#pragma unroll
      for (int i = 0; i < 2 && MODE == BLUR_ALL; i++) {
        low[i] = fminf(fmaxf(low[i], 1024.0f), most);
        high[i] = fminf(fmaxf(high[i], 1024.0f), most);
      }
      blend_pair(low, input.x, weights.x);
      blend_pair(high, input.y, weights.y);
    }
    uint32_t pair = halves_of(low[0], low[1]), next = halves_of(high[0], high[1]);
    if (MODE >= BLUR_SHARP) {
      const __half2 full = __float2half2_rn(1024.0f + s.full_bits);

      pair = clamp_levels(pair, full);
      next = clamp_levels(next, full);
    }
    word_of_levels(word[half], pair, next, bits);
    if (blends)
      keep_other_bits(word[half], own, weight, bits);
  }
}

/* Computes levels from row sums and the taps of a column. sums: a ring of row sums, the topmost at index `first`. */
template <int K_Y, int M, int PARTS, typename B>
__device__ static void
sum_columns(float (&level)[2][4], const uint4 (&sums)[K_Y][M][PARTS], int first, int m, const B &bands,
            const float4 &first_level)
{
#pragma unroll
  for (int k = 0; k < K_Y; k++) {
    uint4 band[PARTS];

#pragma unroll
    for (int part = 0; part < PARTS; part++)
      band[part] = bands[part * K_Y + k];
    if (k == 0)
      add_columns<PARTS, true>(level, sums[first % K_Y][m], band, first_level);
    else
      add_columns<PARTS, false>(level, sums[(first + k) % K_Y][m], band, first_level);
  }
}

/* A lane's place in a tile: byte offsets in shared memory of its first sample and its first result; rows of results; x,
 * y: its first output in the plane. */
struct BlurLane {
  int from, out, n_rows, x, y;
  Factors factors;
};

/* Returns four samples of the input from an output's place on. Samples outside the job are copies of its nearest one.
 */
template <typename T>
__device__ static typename Word<T>::type
input_word(const TileParams &params, int x, int y)
{
  const CnvTileJob &s = params.s;
  const T *row = (const T *)(params.in + (int64_t)min(y, s.job.y + s.job.height - 1) * params.in_stride);
  typename Word<T>::type word = {};

  if (s.blends && params.chunk_stores && x >= s.job.x * s.channels && x + 4 <= (s.job.x + s.job.width) * s.channels)
    return __ldg((const typename Word<T>::type *)(row + x));
  for (int i = 0; i < 4; i++)
    set_sample(word, i,
               load_sample(row + min(max(x + i, s.job.x * s.channels), (s.job.x + s.job.width) * s.channels - 1)));
  return word;
}

/* Moves a warp down a tile of WIDTH samples, by 16 rows per step. Each step puts the row sums of 16 rows into a ring of
 * K_Y, and computes 16 rows of results from the ring. */
template <typename T, int K_X, int K_Y, int M, int WIDTH, int PARTS, BlurMode MODE, bool BLENDS, typename S,
          typename BX, typename BY>
__device__ static void
blur_rows(const TileParams &params, BlurLane lane, const S &samples, const BX &band_x, const BY &band_y)
{
  typedef typename Word<T>::type W;
  constexpr int bytes = sizeof(T), lead = CNV_BLUR_LEAD(K_X);
  constexpr int pitch = CNV_TILE_PITCH(16 * bytes, WIDTH * bytes, lead * bytes), box = CNV_TILE_OUT_BOX(WIDTH * bytes);
  const CnvTileJob &s = params.s;
  const SampleBits bits = {s.shift, (uint32_t)s.full_bits * 0x10001u};
  const float4 first_sum = *(const float4 *)s.first_sum, first_level = *(const float4 *)s.first_level;
  const bool blends = MODE == BLUR_BLEND || (BLENDS && MODE == BLUR_ALL && s.blends);
  int steps = (lane.n_rows + 15) / 16 + K_Y - 1;
  uint4 sums[K_Y][M][PARTS];

  keep(lane.from);
  keep(lane.out);
  keep(steps);
  /* The turns are unrolled, because indices of registers must be known at compile time. */
#pragma unroll 1
  for (int turn = 0; turn < steps; turn += K_Y) {
#pragma unroll
    for (int u = 0; u < K_Y; u++) {
      const int step = turn + u, y = (step - K_Y + 1) * 16;
      float row_sum[2][M][4];

      if (step >= steps)
        break;
      const int rows = lane.from + step * 16 * pitch;
      sum_rows<T, K_X, M, PARTS>(row_sum, rows, pitch, band_x, samples, first_sum);
#pragma unroll
      for (int m = 0; m < M; m++)
        pack_parts(sums[u][m], row_sum[0][m], row_sum[1][m]);
      if (y < 0)
        continue;
#pragma unroll
      for (int m = 0; m < M; m++) {
        uint8_t *out = cnv_tiles + (lane.out ^ 16 * m * bytes) + y * box;
        const uint8_t *center =
            cnv_tiles + rows + (CNV_BLUR_LEAD(K_Y) - 16 * (K_Y - 1)) * pitch + (16 * m + lead) * bytes;
        float level[2][4];
        W word[2] = {};

        sum_columns(level, sums, u + 1, m, band_y, first_level);
        if (blends) {
          word[0] = *(const W *)out;
          word[1] = *(const W *)(out + 8 * box);
        }
        levels_to_words<T, MODE>(word, level, s, {lane.factors.along + 16 * m, lane.factors.row + y}, bits, blends,
                                 [&](int half) {
                                   return S::over_time ? input_word<T>(params, lane.x + 16 * m, lane.y + y + 8 * half)
                                                       : *(const W *)(center + 8 * half * pitch);
                                 });
        *(W *)out = word[0];
        *(W *)(out + 8 * box) = word[1];
      }
    }
  }
}

/* Filters a tile. K_X, K_Y: steps of 16 samples and of 16 rows that 16 outputs read. M: groups of 16 samples that a
 * warp computes side by side. BLENDS: jobs may have coverage or renormalize. With the code to renormalize in both
 * forms, variant 2x2 would spill registers. */
template <typename T, int K_X, int K_Y, int M, bool SPLIT, bool OVER_TIME, bool BLENDS>
__device__ static void
blur(const CnvTileArgs &l)
{
  constexpr int bytes = sizeof(T), parts = 1 + SPLIT, width = 16 * CNV_TILE_WARPS * M;
  constexpr int lead = CNV_BLUR_LEAD(K_X), apron = CNV_TILE_APRON(lead * bytes);
  constexpr int pitch = CNV_TILE_PITCH(16 * bytes, width * bytes, lead * bytes);
  constexpr bool keeps = K_X + K_Y <= 10 && parts * (K_X + K_Y) <= 12;
  constexpr TileShape shape = {width + 2 * apron / bytes, apron / bytes, pitch, width * bytes};
  TileParams &params = block_params();
  uint64_t &barrier = block_barrier();
  float(&factor)[width + CNV_BLUR_ROWS] = block_factors<width + CNV_BLUR_ROWS>();

  begin_block<T, BLENDS>(l, shape, params, &barrier);
  const CnvTileJob &s = params.s;
  const auto &tile = params.tile;
  const uint4 *words = (const uint4 *)((const uint32_t *)l.bands + tile.bands) + threadIdx.x % 32;
  Bands<parts * K_X, keeps> band_x;
  Bands<parts * K_Y, keeps> band_y;

  band_y.load(words);
  band_x.load(words + parts * K_Y * 32);
  const CnvTileKind kind = load_tile_weights<T, width, BLENDS>(l, params);
  if (kind == CNV_TILE_KEPT)
    return keep_tile<T, width>(l, params, &barrier);
  if (BLENDS && tile.renormalizes)
    find_factors(factor, s, tile.at, width);
  finish_tile<T, BLENDS>(l, params, shape, &barrier);
  const int lane = threadIdx.x % 32, g = lane / 4, t = lane % 4, warp_x = threadIdx.x / 32 * 16 * M;
  const int frame_bytes = CNV_TILE_BYTES(pitch, tile.box_rows);
  const Samples<T> samples = {{s.shift, (uint32_t)s.full_bits * 0x10001u}};
  const int first = tile.rows * width * bytes + apron + (warp_x - lead) * bytes + 4 * t * bytes;
  BlurLane at = {first + (g + tile.top - CNV_BLUR_LEAD(K_Y)) * pitch,
                 output_offset<width * bytes>(tile.rows, g, (warp_x + 4 * t) * bytes),
                 tile.at.y_end - tile.at.y,
                 tile.at.x + warp_x + 4 * t,
                 tile.at.y + g,
                 {factor + warp_x + 4 * t, factor + width + g}};
  /* Computed again, because `words` would occupy registers while a tile is filled. */
  const BandsInMemory all_y = {(const uint4 *)((const uint32_t *)l.bands + tile.bands) + lane};
  const BandsInMemory all_x = {all_y.from + parts * K_Y * 32};
  if (BLENDS && tile.renormalizes)
    __syncthreads();
  if (OVER_TIME) {
    sum_frames<T>(l, s, cnv_tiles + tile.rows * width * bytes, frame_bytes);
    const SamplesOverTime<T> sums = {frame_bytes, first, first + (tile.box_rows - 1) * pitch};

    if (kind == CNV_TILE_FILTERED)
      blur_rows<T, K_X, K_Y, M, width, parts, BLUR_RENORMALIZE, BLENDS>(params, at, sums, band_x, band_y);
    else
      blur_rows<T, K_X, K_Y, M, width, parts, BLUR_ALL, BLENDS>(params, at, sums, all_x, all_y);
  } else if (is_plain(s) && kind == CNV_TILE_FILTERED) {
    blur_rows<T, K_X, K_Y, M, width, parts, BLUR_PLAIN, BLENDS>(params, at, samples, band_x, band_y);
  } else if (BLENDS && is_plain(s)) {
    if constexpr (K_X + K_Y > 6) /* with more fragments in registers fewer blocks would fit */
      blur_rows<T, K_X, K_Y, M, width, parts, BLUR_BLEND, BLENDS>(params, at, samples, all_x, all_y);
    else
      blur_rows<T, K_X, K_Y, M, width, parts, BLUR_BLEND, BLENDS>(params, at, samples, band_x, band_y);
  } else if (!BLENDS || (!tile.renormalizes && kind == CNV_TILE_FILTERED)) {
    blur_rows<T, K_X, K_Y, M, width, parts, BLUR_SHARP, BLENDS>(params, at, samples, all_x, all_y);
  } else {
    const int first_out = at.out;

#pragma unroll 1
    for (int m = 0; m < M; m++, at.from += 16 * bytes, at.factors.along += 16) {
      at.out = first_out ^ 16 * m * bytes;
      blur_rows<T, K_X, K_Y, 1, width, parts, BLUR_ALL, BLENDS>(params, at, samples, band_x, band_y);
    }
  }
  store_outputs<T, width, BLENDS>(l, params, shape);
}
