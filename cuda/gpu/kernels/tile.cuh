/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * A tile of the input with its apron in shared memory, and a tile of results on its way out: common to blur and dense.
 *
 * A tile is as wide as a block's outputs and what their taps reach on either side, in samples over all channels; its
 * rows lie CNV_TILE_PITCH apart. The copy engine brings it in one piece (compute capability 9.0), or the threads do,
 * 16 bytes at a time. Samples outside of the job's window are then filled in by the border mode, so that the arithmetic
 * knows no borders. Where a plane's rows do not lie on multiples of 16 bytes, all samples are filled in one by one.
 */
#pragma once

#include "gpu/kernels/tile_job.cuh"

#if __CUDA_ARCH__ >= 800

/* A tile in shared memory: so many samples and rows, from sample x of row y of the plane on. */
struct TileBox {
  int x, y, width, rows, pitch;
};

/* Samples and rows of a tile that are in shared memory: from x0 and y0 up to but without x1 and y1, relative to it. */
struct TilePart {
  int x0, y0, x1, y1;
};

__device__ static uint32_t
shared_address(const void *at)
{
  return (uint32_t)__cvta_generic_to_shared(at);
}

/* Frames that a launch before this one writes are read only after this. */
__device__ static void
wait_for_launch_before()
{
#if __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
}

__device__ static void
let_next_launch_begin()
{
#if __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.launch_dependents;");
#endif
}

#if __CUDA_ARCH__ >= 900

__device__ static void
start_bulk_copy(uint32_t to, const CnvTensorMap *map, int x, int y, int field, int slot, uint32_t barrier)
{
  asm volatile("cp.async.bulk.tensor.4d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3, "
               "%4, %5}], [%6];" ::"r"(to),
               "l"(map), "r"(x), "r"(field), "r"(y), "r"(slot), "r"(barrier)
               : "memory");
}

/* Starts the copies of the tile of each frame, by one thread. */
__device__ static void
start_bulk_copies(const CnvTileArgs &l, const CnvTileJob &s, const TileBox &box, int bytes, uint8_t *tile, int frame_bytes,
                  uint64_t *barrier)
{
  const int n = l.sources.n, x = box.x * bytes / 4, field = s.job.field;
  const uint32_t to = shared_address(tile), at = shared_address(barrier);
  const CnvTensorMap *map = &l.map[s.pointers];

  asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(at));
  asm volatile("fence.mbarrier_init.release.cluster;");
  wait_for_launch_before();
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(at),
               "r"(max(n, 1) * box.pitch * s.box_rows)
               : "memory");
  if (n == 0)
    start_bulk_copy(to, map, x, box.y, field, 0, at);
#pragma unroll 1
  for (int i = 0; i < n; i++)
    start_bulk_copy(to + i * frame_bytes, map, x, box.y, field, l.sources.slot[i], at);
}

__device__ static void
wait_for_bulk_copies(uint64_t *barrier)
{
  uint32_t done = 0;

  while (!done)
    asm volatile("{\n.reg .pred p;\nmbarrier.try_wait.parity.shared::cta.b64 p, [%1], 0;\nselp.u32 %0, 1, 0, p;\n}"
                 : "=r"(done)
                 : "r"(shared_address(barrier))
                 : "memory");
}

#endif

/* Starts the copies of a tile's chunks of 16 bytes, those that lie in the part. Its x are multiples of 16 bytes. */
template <typename T>
__device__ static void
copy_chunks(const TileParams &params, const TileBox &box, const TilePart &part, uint8_t *tile, int64_t delta)
{
  const int first = part.x0 * (int)sizeof(T) / 16, last = (part.x1 * (int)sizeof(T) + 15) / 16;
  const int lanes = last - first <= 16 ? 16 : 32, lane = threadIdx.x % lanes;
  const char *from = (const char *)(params.in + delta) + (int64_t)box.x * (int)sizeof(T);

  for (int y = part.y0 + threadIdx.x / lanes; y < part.y1; y += blockDim.x / lanes)
    for (int i = first + lane; i < last; i += lanes)
      asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(shared_address(tile + y * box.pitch + 16 * i)),
                   "l"(from + (int64_t)(box.y + y) * params.in_stride + 16 * i)
                   : "memory");
}

/* The sample that stands for sample x of row y of the tile, one that is not in the part. */
template <typename T>
__device__ static T
missing_sample(const TileParams &params, const TileBox &box, const TilePart &part, const T *tile, int64_t delta, int x,
               int row)
{
  const int at = sample_of(params.s, box.x + x), column = at - box.x, y = row - box.y;

  if (at < 0)
    return (T)get_sample(missing_word<T>(params, 0), -1 - at);
  if (row < 0)
    return (T)get_sample(missing_word<T>(params, 0), at % params.s.channels);
  if (column >= part.x0 && column < part.x1 && y >= part.y0 && y < part.y1)
    return tile[y * (box.pitch / (int)sizeof(T)) + column];
  return load_sample((const T *)(params.in + delta + (int64_t)row * params.in_stride) + at);
}

/* Fills in the samples of the tile that are not in the part. */
template <typename T>
__device__ static void
fill_missing(const TileParams &params, const TileBox &box, const TilePart &part, T *tile, int64_t delta)
{
  for (int y = threadIdx.x / 32; y < box.rows; y += blockDim.x / 32) {
    const int row = row_of(params.s, box.y + y);
    const int present = y >= part.y0 && y < part.y1 ? part.x1 - part.x0 : 0;

    for (int i = threadIdx.x % 32; i < box.width - present; i += 32) {
      const int x = present && i >= part.x0 ? i + present : i;

      tile[y * (box.pitch / (int)sizeof(T)) + x] = missing_sample<T>(params, box, part, tile, delta, x, row);
    }
  }
}

/* The part of the tile that lies in the job's window. */
__device__ static TilePart
part_in_window(const TileParams &params, const TileBox &box)
{
  const CnvRectJob &p = params.s.job;

  return {min(max(params.window_x0 - box.x, 0), box.width), min(max(p.window_y - box.y, 0), box.rows),
          min(max(params.window_x1 - box.x, 0), box.width),
          min(max(p.window_y + p.window_height - box.y, 0), box.rows)};
}

/* Brings in the tile of each frame; params are those of load_tile_job. All threads see it afterwards. */
template <typename T>
__device__ static void
load_tile(const CnvTileArgs &l, const TileParams &params, const TileBox &box, uint8_t *tile, int frame_bytes)
{
  __shared__ alignas(8) uint64_t barrier;
  const bool has_map = l.maps >> params.s.pointers & 1;
  TilePart part = part_in_window(params, box);

#if __CUDA_ARCH__ >= 900
  if (has_map) {
    if (threadIdx.x == 0)
      start_bulk_copies(l, params.s, box, sizeof(T), tile, frame_bytes, &barrier);
    let_next_launch_begin();
    __syncthreads();
    wait_for_bulk_copies(&barrier);
  } else {
    wait_for_launch_before();
    let_next_launch_begin();
    part = {};
  }
#else
  if (has_map) {
    part.x1 = max(part.x0, (box.x + part.x1) * (int)sizeof(T) / 16 * 16 / (int)sizeof(T) - box.x);
    for (int i = 0; i < max(l.sources.n, 1); i++)
      copy_chunks<T>(params, box, part, tile + i * frame_bytes, l.sources.n ? l.sources.delta[i] : 0);
    asm volatile("cp.async.commit_group;\ncp.async.wait_group 0;" ::: "memory");
    __syncthreads();
  } else {
    part = {};
  }
#endif
  if (part.x0 == 0 && part.y0 == 0 && part.x1 == box.width && part.y1 == box.rows)
    return;
  for (int i = 0; i < max(l.sources.n, 1); i++)
    fill_missing<T>(params, box, part, (T *)(tile + i * frame_bytes), l.sources.n ? l.sources.delta[i] : 0);
  __syncthreads();
}

/* The block's tile of outputs: the first sample and row, and the row behind the last. */
struct TileOutput {
  int x, y, y_end;
};

__device__ static TileOutput
tile_output(const CnvTileJob &s, int width)
{
  const int number = blockIdx.x - s.first_block, row = number / s.columns, y = s.job.y + row * s.rows;

  return {s.origin + (number - row * s.columns) * width, y, min(y + s.rows, s.job.y + s.job.height)};
}

/* The tile that outputs read, of `width` samples a row with `lead` samples and `top` rows before the outputs'. What
 * lies beyond the reach of the job's last sample is left out. */
__device__ static TileBox
tile_box(const CnvTileJob &s, const TileOutput &at, int lead, int width, int top, int pitch)
{
  const int last = (s.job.x + s.job.width) * s.channels + lead;

  return {at.x - lead, at.y - top, min(width, last - (at.x - lead)), s.box_rows - (at.y + s.rows - at.y_end), pitch};
}

/* Stores one row's 16 bytes of outputs, from sample x on, sample by sample: those of the job, and what was read where a
 * channel is copied. */
template <typename T>
__device__ static void
store_chunk(const TileParams &params, const T *from, int x, int y)
{
  const CnvTileJob &s = params.s;
  const int x0 = s.job.x * s.channels, x1 = x0 + s.job.width * s.channels;
  T *to = (T *)(params.out + (int64_t)y * params.out_stride);
  const T *back = (const T *)(params.back + (int64_t)y * params.in_stride);

  for (int i = max(x, x0); i < min(x + 16 / (int)sizeof(T), x1); i++)
    to[i] = !s.copied || s.filtered >> (i % s.channels) & 1 ? from[i - x] : load_sample(back + i);
}

/* Stores the outputs, which lie `pitch` bytes from row to row in shared memory. All threads have written theirs. */
template <typename T, int WIDTH>
__device__ static void
store_tile(const TileParams &params, const TileOutput &at, const uint8_t *out, int pitch)
{
  constexpr int samples = 16 / sizeof(T), chunks = WIDTH / samples;
  const CnvTileJob &s = params.s;
  const int chunk = threadIdx.x % chunks, x = at.x + chunk * samples, step = 32 * CNV_TILE_WARPS / chunks;
  const bool inside = x >= s.job.x * s.channels && x + samples <= (s.job.x + s.job.width) * s.channels;
  const uint8_t *from = out + 16 * chunk + threadIdx.x / chunks * pitch;
  int y = at.y + threadIdx.x / chunks;

  if (!(inside && params.chunk_stores && !s.copied)) {
    for (; y < at.y_end; y += step, from += step * pitch)
      store_chunk<T>(params, (const T *)from, x, y);
    return;
  }
  char *to = (char *)params.out + (int64_t)y * params.out_stride + (int64_t)x * (int)sizeof(T);
  const int64_t step_bytes = (int64_t)step * params.out_stride;
#pragma unroll 4
  for (; y < at.y_end; y += step, from += step * pitch, to += step_bytes)
    *(uint4 *)to = *(const uint4 *)from;
}

#endif
