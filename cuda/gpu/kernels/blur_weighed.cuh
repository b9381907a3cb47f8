/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Normalised convolution (convolve/work.h). Like blur.cuh, but each sample minus mid is multiplied by its weight w, and
 * two sums are computed with the taps: N of these products, and D of the weights. The level is mid + N / D, blended by
 * the sample's own weight. The tile of weights has the tile's apron, and follows the tile in shared memory.
 *
 * The f16 number whose bits are a weight w is w / 2^24, exact although below the normal range. The f16 number 0x7400 |
 * x is 16384 + 16 x. So a product is (x - mid) * w / 2^20, rounded to 11 bits. Row sums of products are in the range of
 * f16 without a factor. Row sums of weights are multiplied by 2^28. If all weights are 0, both sums are 0.
 */
#pragma once

#include "gpu/kernels/blur.cuh"

/* Source and target of the weights of a tile's samples. A sample outside the window has the weight of the sample that
 * the border mode finds. A sample of the border colour has weight 1, and a missing one 0. */
struct TileWeights {
  TileBox box;
  uint8_t *to;
  const uint8_t *from; /* of pixel 0 of row 0 */
  uint32_t missing;    /* four weights */
};

/* Stores the weights of 16 samples, number `chunk` of each row, in the thread's rows of the tile. All these samples are
 * in the job's window. */
template <WeightLoad BY>
__device__ static void
put_weight_chunks(const CnvTileArgs &l, const TileParams &params, const TileWeights &w, int chunk)
{
  constexpr int batch = 6, step = 32 * CNV_TILE_WARPS / 16;
  const WeightColumn column = weight_column<uint8_t>(l, params.s, w.box.x + 16 * chunk);

#pragma unroll 1
  for (int first = threadIdx.x / 16; first < w.box.rows; first += batch * step) {
    uint4 weights[batch];
    int row[batch];

#pragma unroll
    for (int i = 0; i < batch; i++)
      row[i] = row_of(params.s, w.box.y + min(first + i * step, w.box.rows - 1));
#pragma unroll
    for (int i = 0; i < batch; i++)
      weights[i] = load_weights<uint8_t, BY>(column, max(row[i], 0));
#pragma unroll
    for (int i = 0; i < batch; i++)
      if (first + i * step < w.box.rows)
        *(uint4 *)(w.to + (first + i * step) * w.box.pitch + 16 * chunk) =
            row[i] < 0 ? make_uint4(w.missing, w.missing, w.missing, w.missing) : weights[i];
  }
}

/* Stores the weights of all other samples: those before chunk `left`, and those from chunk `right` on. */
__device__ static void
put_weight_words(const TileParams &params, const TileWeights &w, int left, int right)
{
  const CnvTileJob &s = params.s;
  const int n = 4 * left + (w.box.width + 3) / 4 - 4 * right;

#pragma unroll 1
  for (int i = threadIdx.x; i < n * w.box.rows; i += 32 * CNV_TILE_WARPS) {
    const int y = i / n, k = i - y * n, x = 4 * (k < 4 * left ? k : k - 4 * left + 4 * right);
    const int row = row_of(s, w.box.y + y);
    const uint8_t *weights = w.from + (int64_t)row * s.job.coverage_pitch;
    uint32_t word = w.missing;

    if (row >= 0) {
      word = 0;
#pragma unroll
      for (int j = 0; j < 4; j++) {
        const int at = sample_of(s, w.box.x + x + j);

        word |= (at < 0 ? w.missing & 0xff : (uint32_t)__ldcg(weights + at / s.channels)) << (8 * j);
      }
    }
    *(uint32_t *)(w.to + y * w.box.pitch + x) = word;
  }
}

/* Stores the weights of the tile's samples after the tile. Called by all threads. */
__device__ static void
put_tile_weights(const CnvTileArgs &l, const TileParams &params, const TileShape &shape)
{
  const CnvTileJob &s = params.s;
  const TileBox box = tile_box(params, shape);
  const TileWeights w = {box, cnv_tiles + box.begin + CNV_TILE_BYTES(box.pitch, s.box_rows),
                         cnv_job_weights(&s.job, (const uint8_t *)l.coverage, 0, 0),
                         cnv_border_has_value((CnvBorder)s.border) ? 0x01010101u * CNV_WEIGHT_ONE : 0};
  const int left = max(params.window_x0 - box.x + 15, 0) / 16;
  const int right = max(min(params.window_x1 - box.x, box.width) / 16, left), chunk = threadIdx.x % 16;

  if (chunk < left || chunk >= right)
    ;
  else if (s.channels == 1)
    put_weight_chunks<WEIGHTS_BY_16>(l, params, w, chunk);
  else if (s.channels == 3)
    put_weight_chunks<WEIGHTS_BY_1>(l, params, w, chunk);
  else
    put_weight_chunks<WEIGHTS_BY_8>(l, params, w, chunk);
  put_weight_words(params, w, left, right);
}

/* Four samples as operands: two pairs of products, and two pairs of weights. */
struct WeighedWord {
  uint2 product, weight;
};

__device__ static uint32_t
weigh_pair(uint32_t samples, uint32_t weights, __half2 taken_off)
{
  const __half2 product = __hmul2(__hsub2(*(const __half2 *)&samples, taken_off), *(const __half2 *)&weights);

  return *(const uint32_t *)&product;
}

__device__ static WeighedWord
weigh_word(const uint8_t *at, int frame_bytes, __half2 taken_off)
{
  const uint32_t samples = *(const uint32_t *)at, weights = *(const uint32_t *)(at + frame_bytes);
  WeighedWord word;

  word.weight = make_uint2(__byte_perm(weights, 0, 0x4140), __byte_perm(weights, 0, 0x4342));
  word.product = make_uint2(weigh_pair(__byte_perm(samples, 0x74747474u, 0x4140), word.weight.x, taken_off),
                            weigh_pair(__byte_perm(samples, 0x74747474u, 0x4342), word.weight.y, taken_off));
  return word;
}

/* Computes sums along rows like sum_rows, of products and of weights, for eight rows. */
template <int K_X, int M, typename B>
__device__ static void
sum_weighed_rows(float (&products)[M][4], float (&weights)[M][4], const uint8_t *row, int frame_bytes, const B &bands,
                 __half2 taken_off)
{
  constexpr float4 zero = {0, 0, 0, 0};
  WeighedWord word[M];

#pragma unroll
  for (int m = 0; m < M - 1; m++)
    word[m] = weigh_word(row + 16 * m, frame_bytes, taken_off);
#pragma unroll
  for (int k = 0; k < K_X; k++) {
    const uint4 band = bands[k];

    word[M - 1] = weigh_word(row + 16 * (k + M - 1), frame_bytes, taken_off);
#pragma unroll
    for (int m = 0; m < M; m++) {
      if (k == 0) {
        multiply_first(products[m], band, word[m].product.x, word[m].product.y, zero);
        multiply_first(weights[m], band, word[m].weight.x, word[m].weight.y, zero);
      } else {
        multiply(products[m], band, word[m].product.x, word[m].product.y);
        multiply(weights[m], band, word[m].weight.x, word[m].weight.y);
      }
      if (m > 0)
        word[m - (m > 0)] = word[m];
    }
  }
#pragma unroll
  for (int m = 0; m < M; m++)
#pragma unroll
    for (int i = 0; i < 4; i++)
      weights[m][i] *= 268435456.0f;
}

/* Returns BLENDED_SUM + the level of two sums; any level if both are 0. */
__device__ static float
weighed_level(float product, float weight, float gain, float fraction)
{
  return fmaf(__saturatef(fmaf(product * reciprocal(weight), gain, fraction)), 255.0f, BLENDED_SUM);
}

/* Moves a warp down a tile as blur_rows does. */
template <int K_X, int K_Y, int M, int WIDTH, typename BX, typename BY>
__device__ static void
blur_weighed_rows(const CnvTileJob &s, BlurLane lane, int frame_bytes, const BX &band_x, const BY &band_y)
{
  constexpr int lead = CNV_BLUR_LEAD(K_X), pitch = CNV_TILE_PITCH(16, WIDTH, lead), box = CNV_TILE_OUT_BOX(WIDTH);
  constexpr float4 zero = {0, 0, 0, 0};
  const __half2 taken_off = __float2half2_rn(16384.0f + 16.0f * s.mid);
  const float gain = s.gain, fraction = s.fraction;
  int steps = (lane.n_rows + 15) / 16 + K_Y - 1;
  uint4 products[K_Y][M][1], weights[K_Y][M][1];

  keep(lane.from);
  keep(lane.out);
  keep(steps);
#pragma unroll 1
  for (int turn = 0; turn < steps; turn += K_Y) {
#pragma unroll
    for (int u = 0; u < K_Y; u++) {
      const int step = turn + u, y = (step - K_Y + 1) * 16, rows = lane.from + step * 16 * pitch;
      float row_products[2][M][4], row_weights[2][M][4];

      if (step >= steps)
        break;
#pragma unroll
      for (int half = 0; half < 2; half++)
        sum_weighed_rows<K_X, M>(row_products[half], row_weights[half], cnv_tiles + rows + half * 8 * pitch,
                                 frame_bytes, band_x, taken_off);
#pragma unroll
      for (int m = 0; m < M; m++) {
        pack_parts(products[u][m], row_products[0][m], row_products[1][m]);
        pack_parts(weights[u][m], row_weights[0][m], row_weights[1][m]);
      }
      if (y < 0)
        continue;
#pragma unroll
      for (int m = 0; m < M; m++) {
        uint8_t *out = cnv_tiles + (lane.out ^ 16 * m) + y * box;
        const uint8_t *center = cnv_tiles + rows + (CNV_BLUR_LEAD(K_Y) - 16 * (K_Y - 1)) * pitch + 16 * m + lead;
        float product[2][4], weight[2][4];

        sum_columns(product, products, u + 1, m, band_y, zero);
        sum_columns(weight, weights, u + 1, m, band_y, zero);
#pragma unroll
        for (int half = 0; half < 2; half++) {
          const uint8_t *own = center + 8 * half * pitch;
          float level[4];

#pragma unroll
          for (int i = 0; i < 4; i++)
            level[i] = weighed_level(product[i / 2][2 * half + i % 2], weight[i / 2][2 * half + i % 2], gain, fraction);
          *(uint32_t *)(out + 8 * half * box) =
              blend_sums(level, *(const uint32_t *)own, *(const uint32_t *)(own + frame_bytes));
        }
      }
    }
  }
}

/* Computes the results of a tile in shared memory. Its kind is CNV_TILE_BLENDED or, if all weights that its results
 * depend on are 1, CNV_TILE_FILTERED. Such a tile is filtered as by blur. */
template <int K>
__device__ static void
weigh_tile(const CnvTileArgs &l, const TileParams &params)
{
  constexpr int M = 2, width = CNV_WEIGHED_WIDTH, lead = CNV_BLUR_LEAD(K), apron = CNV_TILE_APRON(lead);
  constexpr int pitch = CNV_TILE_PITCH(16, width, lead);
  constexpr bool keeps = K <= 3;
  const auto &tile = params.tile;
  const int lane = threadIdx.x % 32, g = lane / 4, t = lane % 4, warp_x = threadIdx.x / 32 * 16 * M;
  const uint4 *words = (const uint4 *)((const uint32_t *)l.bands + tile.bands) + lane;
  const int first = tile.rows * width + apron + warp_x - lead + 4 * t;
  const BlurLane at = {first + (g + tile.top - lead) * pitch,
                       output_offset<width>(tile.rows, g, warp_x + 4 * t),
                       tile.at.y_end - tile.at.y,
                       tile.at.x + warp_x + 4 * t,
                       tile.at.y + g,
                       {NULL, NULL}};
  Bands<K, keeps> band_x, band_y;

  band_y.load(words);
  band_x.load(words + K * 32);
  if (tile.kind == CNV_TILE_FILTERED)
    blur_rows<uint8_t, K, K, M, width, 1, BLUR_PLAIN, true>(params, at, Samples<uint8_t>{}, band_x, band_y);
  else
    blur_weighed_rows<K, K, M, width>(params.s, at, CNV_TILE_BYTES(pitch, tile.box_rows), band_x, band_y);
}

/* Filters a tile by normalised convolution. K: steps along either axis. The kernel for 3 also filters jobs of 2, whose
 * tiles have rows of the same length. */
template <int K>
__device__ static void
blur_weighed(const CnvTileArgs &l)
{
  constexpr int width = CNV_WEIGHED_WIDTH, apron = CNV_TILE_APRON(CNV_BLUR_LEAD(K));
  constexpr TileShape shape = {width + 2 * apron, apron, CNV_TILE_PITCH(16, width, CNV_BLUR_LEAD(K)), width};
  __shared__ TileParams params;
  __shared__ alignas(8) uint64_t barrier;

  begin_block<uint8_t, true, true>(l, shape, params, &barrier);
  if (params.tile.kind == CNV_TILE_BLENDED && !params.tile.has_weights) {
    put_tile_weights(l, params, shape);
    __syncthreads();
  }
  finish_tile<uint8_t, true>(l, params, shape, &barrier);
  if (K == 3 && params.s.steps_y == 2)
    weigh_tile<K == 3 ? 2 : K>(l, params);
  else
    weigh_tile<K>(l, params);
  store_outputs<uint8_t, width, true>(l, params, shape);
}
