/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * blur_ring: blur with so many rows of taps that a tile with all of its apron would fill shared memory. A block goes
 * down a strip; the input's rows come through a ring of stages of 16 rows, and results leave through two buffers of 16
 * rows.
 */
#pragma once

#include "gpu/kernels/blur.cuh"

#if __CUDA_ARCH__ >= 800

/* Starts the copy of a step's rows. */
__device__ static void
start_stage(const CnvTileArgs &l, const CnvTileJob &s, const TileBox &box, int bytes, int step, uint64_t *barriers)
{
#if CNV_BULK_COPIES
  const int slot = step % CNV_RING_STAGES;
  const uint32_t at = shared_address(barriers + slot);

  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(at), "r"(16 * box.pitch) : "memory");
  start_bulk_copy(shared_address(cnv_tiles) + slot * 16 * box.pitch, &l.map[s.pointers], box.x * bytes / 4,
                  box.y + 16 * step, s.job.field, 0, at);
#endif
}

/* Waits for a step's rows, and fills in what is missing. */
template <typename T>
__device__ static void
finish_stage(const TileParams &params, const TileBox &box, bool has_map, int step, uint64_t *barriers)
{
  const TileBox rows = {box.x, box.y + 16 * step, box.width, 16, box.pitch};
  uint8_t *tile = cnv_tiles + step % CNV_RING_STAGES * 16 * box.pitch;
  TilePart part = part_in_window(params, rows);

  if (!has_map)
    part = {};
#if CNV_BULK_COPIES
  if (has_map)
    wait_for_bulk_copies(barriers + step % CNV_RING_STAGES, step / CNV_RING_STAGES % 2);
#else
  part.x1 = whole_chunks<T>(rows, part);
  if (has_map)
    copy_chunks<T>(params, rows, part, tile, 0);
  asm volatile("cp.async.commit_group;\ncp.async.wait_group 0;" ::: "memory");
  __syncthreads();
#endif
  if (is_whole(rows, part))
    return;
  fill_tile<T>(params, rows, part, (T *)tile, 0, has_map);
#if CNV_BULK_COPIES
  /* The copy engine writes here next. */
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
#endif
}

template <typename T, int K_X, int K_Y, int M, int PARTS, bool SIMPLE, typename BX, typename BY>
__device__ static void
ring_rows(const CnvTileArgs &l, const TileParams &params, const BlurLane &lane, const TileBox &box,
          const TileOutput &at, uint8_t *out, uint64_t *barriers, const BX &band_x, const BY &band_y)
{
  constexpr int bytes = sizeof(T), width = 16 * CNV_TILE_WARPS * M, out_pitch = width * bytes + 16;
  const CnvTileJob &s = params.s;
  const bool has_map = l.maps >> s.pointers & 1;
  const int steps = (at.y_end - at.y + 15) / 16 + K_Y - 1;
  RowSums<M, PARTS> sums[K_Y];

  /* Row sums move up a place a step. Written out by turns, as in a tile, this loop would be longer than multiprocessors
   * keep instructions. */
#pragma unroll 1
  for (int step = 0; step < steps; step++) {
    const int y = (step - K_Y + 1) * 16, buffer = (y / 16 & 1) * 16 * out_pitch;

    __syncthreads();
    if (threadIdx.x == 0 && has_map && step > 0 && step - 1 + CNV_RING_STAGES < steps)
      start_stage(l, s, box, bytes, step - 1 + CNV_RING_STAGES, barriers);
    if (y > 0)
      store_tile<T, width>(params, {at.x, at.y + y - 16, at.y + y}, out + 16 * out_pitch - buffer, out_pitch);
    finish_stage<T>(params, box, has_map, step, barriers);
#pragma unroll
    for (int k = 0; k < K_Y - 1; k++)
      sums[k] = sums[k + 1];
    blur_step<T, K_X, K_Y, M, PARTS, SIMPLE>(l, s, lane, sums, K_Y - 1,
                                             lane.from + step % CNV_RING_STAGES * 16 * box.pitch, lane.from,
                                             lane.out + buffer, y, band_x, band_y);
  }
  __syncthreads();
  const int last = (steps - K_Y) * 16;
  store_tile<T, width>(params, {at.x, at.y + last, at.y_end}, out + (last / 16 & 1) * 16 * out_pitch, out_pitch);
}

/* As blur, of one frame. */
template <typename T, int K_X, int K_Y, int M, bool SPLIT>
__device__ static void
blur_ring(const CnvTileArgs &l)
{
  constexpr int bytes = sizeof(T), parts = 1 + SPLIT, width = 16 * CNV_TILE_WARPS * M;
  constexpr int lead = CNV_BLUR_LEAD(K_X), apron = CNV_TILE_APRON(lead * bytes);
  constexpr int pitch = CNV_TILE_PITCH(16 * bytes, width * bytes, lead * bytes), out_pitch = width * bytes + 16;
  constexpr TileShape shape = {width, width + 2 * apron / bytes, apron / bytes, CNV_BLUR_LEAD(K_Y), pitch};
  __shared__ TileParams params;
  __shared__ alignas(8) uint64_t barriers[CNV_RING_STAGES];
  __shared__ alignas(16) float factor[width + CNV_RING_ROWS];
  const int number = find_tile_job(l);

#if CNV_BULK_COPIES
  if (threadIdx.x < CNV_RING_STAGES)
    asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(shared_address(barriers + threadIdx.x)));
  asm volatile("fence.mbarrier_init.release.cluster;");
#endif
  let_next_launch_begin();
  load_tile_job<T>(params, l, number);
  const CnvTileJob &s = params.s;
  const int lane = threadIdx.x % 32, g = lane / 4, t = lane % 4, warp_x = threadIdx.x / 32 * 16 * M;
  const TileOutput at = tile_output(s, width);
  const TileBox box = tile_box(s, at, shape);
  const int steps = (at.y_end - at.y + 15) / 16 + K_Y - 1;
  const uint4 *words = (const uint4 *)((const uint32_t *)l.bands + s.bands) + lane;
  Bands<parts * K_X, false> band_x = {words};
  Bands<parts * K_Y, false> band_y = {words + parts * K_X * 32};
  uint8_t *out = cnv_tiles + CNV_RING_STAGES * 16 * pitch;
  const BlurLane lane_at = {cnv_tiles + g * pitch + apron + (warp_x - lead) * bytes + 4 * t * bytes,
                            out + g * out_pitch + (warp_x + 4 * t) * bytes, 0, factor + warp_x + 4 * t,
                            factor + width + g};

  if (threadIdx.x == 0) {
    wait_for_launch_before();
    for (int step = 0; step < min(CNV_RING_STAGES, steps) && l.maps >> s.pointers & 1; step++)
      start_stage(l, s, box, bytes, step, barriers);
  }
  if (s.renormalizes)
    find_factors(factor, s, at, width);
  if (!s.clamps && !s.renormalizes)
    ring_rows<T, K_X, K_Y, M, parts, true>(l, params, lane_at, box, at, out, barriers, band_x, band_y);
  else
    ring_rows<T, K_X, K_Y, M, parts, false>(l, params, lane_at, box, at, out, barriers, band_x, band_y);
}

#else

template <typename T, int K_X, int K_Y, int M, bool SPLIT>
__device__ static void
blur_ring(const CnvTileArgs &)
{
}

#endif
