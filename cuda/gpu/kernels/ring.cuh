/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * blur_ring: blur with many rows of taps. A tile with its whole apron would fill shared memory, and its row sums would
 * fill the registers. A block moves down a strip of 64 samples, by BLOCKS times 16 rows per round. First it computes
 * row sums into a ring in shared memory. Each warp computes 16 rows of the round, over all or half of the width. Then
 * the products along y read the ring, while the next round's rows are loaded. Each warp computes two times 16 rows of
 * outputs, so that one read serves both.
 */
#pragma once

#include "gpu/kernels/blur.cuh"

/* Sizes. Shared memory holds a round's rows, row sums, taps along y and x, and outputs of each warp (cnv_ring_bytes).
 */
template <typename T, int K_X, int BLOCKS, int PARTS> struct Ring {
  static constexpr int bytes = sizeof(T), lead = CNV_BLUR_LEAD(K_X), apron = CNV_TILE_APRON(lead * bytes);
  static constexpr int pitch = CNV_TILE_PITCH(16 * bytes, CNV_RING_WIDTH *bytes, lead *bytes);
  static constexpr int groups = CNV_RING_WIDTH / 16, rows = 16 * BLOCKS;
  static constexpr int row_groups = groups * BLOCKS / CNV_TILE_WARPS, column_groups = row_groups / 2;
  static constexpr int tile_bytes = CNV_TILE_BYTES(pitch, rows), slot = groups * PARTS * 32; /* in uint4 */
  static constexpr int out_width = 16 * column_groups, out_pitch = out_width * bytes + 16;
};

/* Starts the copies of a round's rows, if there is such a round. Called by all threads. */
template <typename T, typename R>
__device__ static void
start_round(const CnvTileArgs &l, const TileParams &params, const TileBox &box, int round, int rounds,
            uint64_t *barrier)
{
  const bool has_map = round < rounds && l.maps >> params.s.pointers & 1;
  const TileBox rows = {box.x, box.y + round * R::rows, box.width, R::rows, R::pitch, 0};

#if CNV_BULK_COPIES
  const uint32_t at = shared_address(barrier);

  if (threadIdx.x == 0 && has_map) {
    expect_bytes(at, R::rows * R::pitch);
    start_bulk_copy(shared_address(cnv_tiles), &l.map[params.s.pointers],
                    {rows.x * R::bytes / 4, params.s.job.field, rows.y, 0}, at);
  }
#else
  const TilePart part = loaded_part<T>(params, rows, true);

  if (has_map)
    copy_chunks<T>(params, rows, part, cnv_tiles, 0);
  asm volatile("cp.async.commit_group;" ::: "memory");
#endif
}

/* Waits for a round's rows, and fills in missing samples. n_rows: rows that are needed. */
template <typename T, typename R>
__device__ static void
finish_round(const CnvTileArgs &l, const TileParams &params, const TileBox &box, int round, int n_rows,
             uint64_t *barrier)
{
  const bool has_map = l.maps >> params.s.pointers & 1;
  const TileBox rows = {box.x, box.y + round * R::rows, box.width, max(min(n_rows, R::rows), 0), R::pitch, 0};
  const TilePart part = loaded_part<T>(params, rows, has_map);

  if (!is_whole(rows, part))
    find_samples<CNV_TILE_SAMPLES, false>(params, rows, part);
#if CNV_BULK_COPIES
  if (has_map)
    wait_for_bulk_copies(barrier, round % 2);
  if (is_whole(rows, part))
    return;
#else
  asm volatile("cp.async.wait_group 0;" ::: "memory");
  __syncthreads();
#endif
  fill_frames<T, CNV_TILE_SAMPLES, false>(l, params, rows, part);
#if CNV_BULK_COPIES
  /* The copy engine writes here next. */
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
#endif
}

/* Computes the sums of a warp's 16 rows by `row_groups` groups into the ring. from: byte of the lane's first word. */
template <typename T, int K_X, int PARTS, typename R>
__device__ static void
put_row_sums(uint4 *to, int from, const BandsInMemory &band_x, const SampleBits &bits, const float4 &first)
{
  float sum[2][R::row_groups][4];

  sum_rows<T, K_X, R::row_groups, PARTS>(sum, from, R::pitch, band_x, Samples<T>{bits}, first);
#pragma unroll
  for (int m = 0; m < R::row_groups; m++) {
    uint4 packed[PARTS];

    pack_parts(packed, sum[0][m], sum[1][m]);
#pragma unroll
    for (int part = 0; part < PARTS; part++)
      to[(m * PARTS + part) * 32] = packed[part];
  }
}

/* Adds one fragment of taps along y. from: the row sums that it multiplies. */
template <int PARTS, bool BEGINS, typename R>
__device__ static void
add_slot(float (&level)[R::column_groups][2][4], const uint4 *from, const uint4 (&band)[PARTS], const float4 &first)
{
#pragma unroll
  for (int m = 0; m < R::column_groups; m++) {
    uint4 sums[PARTS];

#pragma unroll
    for (int part = 0; part < PARTS; part++)
      sums[part] = from[(m * PARTS + part) * 32];
    add_columns<PARTS, BEGINS>(level[m], sums, band, first);
  }
}

template <int PARTS>
__device__ static void
load_band(uint4 (&band)[PARTS], const BandsInMemory &bands, int steps, int k)
{
#pragma unroll
  for (int part = 0; part < PARTS; part++)
    band[part] = bands[part * steps + k];
}

/* A lane's view of the ring of row sums in shared memory. */
struct RingSums {
  const uint4 *begin, *end;
};

/* Adds all taps along y for two times 16 rows of levels. The second 16 rows read the row sums that the first ones read
 * one fragment earlier. from: the first row sums. */
template <int PARTS, typename R>
__device__ static void
add_ring(float (&level)[2][R::column_groups][2][4], const RingSums &ring, const uint4 *from, int steps,
         const BandsInMemory &bands, const float4 &first)
{
  uint4 band[2][PARTS];

  const auto next = [&]() {
    from += R::slot;
    if (from >= ring.end)
      from = ring.begin;
  };
  load_band(band[0], bands, steps, 0);
  add_slot<PARTS, true, R>(level[0], from, band[0], first);
  next();
  load_band(band[1], bands, steps, 1);
  add_slot<PARTS, false, R>(level[0], from, band[1], first);
  add_slot<PARTS, true, R>(level[1], from, band[0], first);
#pragma unroll 1
  for (int k = 2;; k += 2) {
    next();
    if (k == steps) {
      add_slot<PARTS, false, R>(level[1], from, band[1], first);
      return;
    }
    load_band(band[0], bands, steps, k);
    add_slot<PARTS, false, R>(level[0], from, band[0], first);
    add_slot<PARTS, false, R>(level[1], from, band[1], first);
    next();
    if (k + 1 == steps) {
      add_slot<PARTS, false, R>(level[1], from, band[0], first);
      return;
    }
    load_band(band[1], bands, steps, k + 1);
    add_slot<PARTS, false, R>(level[0], from, band[1], first);
    add_slot<PARTS, false, R>(level[1], from, band[0], first);
  }
}

/* Loads the weights of a warp's results to the place of the results, if the job has any, and returns the kind of the
 * tile. */
template <typename T, typename R>
__device__ static CnvTileKind
load_warp_weights(const CnvTileArgs &l, const TileParams &params, const TileOutput &at, int lane, uint8_t *out)
{
  constexpr int samples = 16 / sizeof(T), chunks = R::out_width / samples;
  constexpr uint32_t one = sizeof(T) == 1 ? 0xffffffffu : 0x00ff00ffu;
  const CnvTileJob &s = params.s;
  const int chunk = lane % chunks;
  bool none = true, whole = true;

  if (!s.blends)
    return CNV_TILE_FILTERED;
  const WeightColumn column = weight_column<T>(l, s, at.x + chunk * samples);
#pragma unroll 1
  for (int row = lane / chunks; column.at && row < at.y_end - at.y; row += 32 / chunks) {
    const uint4 w = load_weights<T>(column, at.y - s.job.y + row, s.channels);

    none &= (w.x | w.y | w.z | w.w) == 0;
    whole &= (w.x & w.y & w.z & w.w) == one;
    *(uint4 *)(out + row * R::out_pitch + 16 * chunk) = w;
  }
  none = __all_sync(0xffffffffu, none);
  whole = __all_sync(0xffffffffu, whole);
  __syncwarp();
  return none ? CNV_TILE_KEPT : whole ? CNV_TILE_FILTERED : CNV_TILE_BLENDED;
}

template <typename T, int K_X, int BLOCKS, int PARTS, BlurMode MODE>
__device__ static void
ring_rows(const CnvTileArgs &l, const TileParams &params, const TileBox &box, const TileOutput &at, const float *factor,
          uint64_t *barrier)
{
  typedef Ring<T, K_X, BLOCKS, PARTS> R;
  typedef typename Word<T>::type W;
  const CnvTileJob &s = params.s;
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, g = lane / 4, t = lane % 4, steps = s.steps_y;
  /* Rounds before the first results, and in all. */
  const int late = (steps + BLOCKS - 2) / BLOCKS, rounds = (at.y_end - at.y + R::rows - 1) / R::rows + late;
  const int n_in = (at.y_end - at.y + 15) / 16 + steps - 1;
  const int row_block = warp % BLOCKS, row_group = warp / BLOCKS * R::row_groups;
  const int pair = warp % (BLOCKS / 2) * 2, column_group = warp / (BLOCKS / 2) * R::column_groups;
  const SampleBits bits = {s.shift, (uint32_t)s.full_bits * 0x10001u};
  const float4 first_sum = *(const float4 *)s.first_sum, first_level = *(const float4 *)s.first_level;
  uint4 *ring = (uint4 *)(cnv_tiles + R::tile_bytes) + lane;
  uint4 *ring_end = ring + CNV_RING_SLOTS(steps, BLOCKS) * R::slot, *put = ring + row_block * R::slot;
  const uint4 *take = ring + pair * R::slot;
  const BandsInMemory band_y = {ring_end}, band_x = {ring_end + steps * PARTS * 32};
  uint8_t *out = (uint8_t *)(ring_end - lane + (K_X + steps) * PARTS * 32) + warp * 32 * R::out_pitch;
  const int from = (row_block * 16 + g) * R::pitch + R::apron + (16 * row_group - R::lead + 4 * t) * R::bytes;
  const int x = 16 * column_group + 4 * t;

#pragma unroll 1
  for (int round = 0; round < rounds; round++) {
    const int y = (round - late) * R::rows + 16 * pair;
    float level[2][R::column_groups][2][4];

    finish_round<T, R>(l, params, box, round, n_in * 16 - round * R::rows, barrier);
    if (round > 0)
      __syncthreads(); /* the ring's oldest rows have been read */
    if (round * BLOCKS + row_block < n_in)
      put_row_sums<T, K_X, PARTS, R>(put + row_group * PARTS * 32, from, band_x, bits, first_sum);
    put = put + BLOCKS * R::slot < ring_end ? put + BLOCKS * R::slot : ring + row_block * R::slot;
    __syncthreads();
    start_round<T, R>(l, params, box, round + 1, rounds, barrier);
    if (round < late)
      continue;
    const TileOutput mine = {at.x + 16 * column_group, at.y + y, min(at.y + y + 32, at.y_end)};
    const CnvTileKind kind = MODE == BLUR_ALL && mine.y < mine.y_end
                                 ? load_warp_weights<T, R>(l, params, mine, lane, out)
                                 : CNV_TILE_FILTERED;
    if (kind == CNV_TILE_KEPT) {
      keep_input<T, R::out_width, 32>(params, mine, lane);
    } else if (mine.y < mine.y_end) {
      add_ring<PARTS, R>(level, {ring + column_group * PARTS * 32, ring_end + column_group * PARTS * 32},
                         take + column_group * PARTS * 32, steps, band_y, first_level);
#pragma unroll
      for (int i = 0; i < 2 * R::column_groups; i++) {
        const int m = i / 2, h = i % 2, row = y + 16 * h + g;
        uint8_t *to = out + (16 * h + g) * R::out_pitch + (16 * m + 4 * t) * R::bytes;
        W word[2] = {};

        for (int half = 0; half < 2 && kind == CNV_TILE_BLENDED; half++)
          word[half] = *(const W *)(to + 8 * half * R::out_pitch);
        levels_to_words<T, MODE>(
            word, level[h][m], s, {factor + x + 16 * m, factor + CNV_RING_WIDTH + row}, bits, kind == CNV_TILE_BLENDED,
            [&](int half) { return input_word<T>(params, at.x + x + 16 * m, at.y + row + 8 * half); });
        for (int half = 0; half < 2; half++)
          *(W *)(to + 8 * half * R::out_pitch) = word[half];
      }
      __syncwarp();
      store_results<T, R::out_width, 32>(l, params, mine, lane,
                                         [&](int row, int chunk) { return out + row * R::out_pitch + 16 * chunk; });
      __syncwarp();
    }
    take = take + BLOCKS * R::slot < ring_end ? take + BLOCKS * R::slot : ring + pair * R::slot;
  }
}

/* Filters like blur, one frame, with any number of rows of taps. */
template <typename T, int K_X, int BLOCKS, bool SPLIT>
__device__ static void
blur_ring(const CnvTileArgs &l)
{
  constexpr int parts = 1 + SPLIT;
  typedef Ring<T, K_X, BLOCKS, parts> R;
  __shared__ TileParams params;
  __shared__ alignas(8) uint64_t barrier;
  __shared__ alignas(16) float factor[CNV_RING_WIDTH + CNV_RING_ROWS];

#if CNV_BULK_COPIES
  if (threadIdx.x == 0)
    asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(shared_address(&barrier)));
  asm volatile("fence.mbarrier_init.release.cluster;");
#endif
  if (threadIdx.x == 0)
    wait_for_launch_before();
  let_next_launch_begin();
  load_tile_job<T>(params, l);
  const CnvTileJob &s = params.s;
  const TileOutput at = tile_output(s, CNV_RING_WIDTH);
  const int steps = s.steps_y, n_slots = CNV_RING_SLOTS(steps, BLOCKS), x = at.x - R::apron / R::bytes;
  const int last = (s.job.x + s.job.width) * s.channels + R::apron / R::bytes;
  const TileBox box = {x, at.y - CNV_BLUR_LEAD(steps), min(CNV_RING_WIDTH + 2 * R::apron / R::bytes, last - x), 0, 0,
                       0};
  const uint4 *words = (const uint4 *)((const uint32_t *)l.bands + s.bands);
  uint4 *bands = (uint4 *)(cnv_tiles + R::tile_bytes) + n_slots * R::slot;

  for (int i = threadIdx.x; i < (K_X + steps) * parts * 32; i += blockDim.x)
    copy_16(bands + i, words + i);
  asm volatile("cp.async.commit_group;" ::: "memory");
  start_round<T, R>(l, params, box, 0, 1, &barrier);
  if (s.renormalizes)
    find_factors(factor, s, at, CNV_RING_WIDTH);
  asm volatile("cp.async.wait_all;" ::: "memory");
  __syncthreads();
  if (is_plain(s) && !s.blends)
    ring_rows<T, K_X, BLOCKS, parts, BLUR_PLAIN>(l, params, box, at, factor, &barrier);
  else
    ring_rows<T, K_X, BLOCKS, parts, BLUR_ALL>(l, params, box, at, factor, &barrier);
}
