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

/* Aligned as the copy engine takes it. */
extern __shared__ __align__(128) uint8_t cnv_tiles[];

/* A tile in shared memory: so many samples and rows, from sample x of row y of the plane on; bytes from row to row. */
struct TileBox {
  int x, y, width, rows, pitch;
};

/* Samples and rows of a tile that are in shared memory: from x0 and y0 up to but without x1 and y1, relative to it. */
struct TilePart {
  int x0, y0, x1, y1;
};

/* The block's tile of outputs: the first sample and row, and the row behind the last. */
struct TileOutput {
  int x, y, y_end;
};

__device__ static TileOutput
tile_output(const CnvTileJob &s, int width)
{
  const int number = (int)blockIdx.x - s.first_block, row = number / s.columns, y = s.job.y + row * s.rows;

  return {s.origin + (number - row * s.columns) * width, y, min(y + s.rows, s.job.y + s.job.height)};
}

__device__ static uint32_t
shared_address(const void *at)
{
  return (uint32_t)__cvta_generic_to_shared(at);
}

/* What a launch before this one writes is read, and what it reads is written, only after this by one of the threads and
 * a barrier. */
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

#if CNV_BULK_COPIES

__device__ static void
start_bulk_copy(uint32_t to, const CnvTensorMap *map, int x, int y, int field, int slot, uint32_t barrier)
{
  asm volatile("cp.async.bulk.tensor.4d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3, "
               "%4, %5}], [%6];" ::"r"(to),
               "l"(map), "r"(x), "r"(field), "r"(y), "r"(slot), "r"(barrier)
               : "memory");
}

/* Starts the copies of the tile of each frame. */
__device__ static void
start_bulk_copies(const CnvTileArgs &l, const CnvTileJob &s, const TileBox &box, int bytes, int frame_bytes,
                  uint64_t *barrier)
{
  const int n = l.sources.n, x = box.x * bytes / 4, field = s.job.field;
  const uint32_t to = shared_address(cnv_tiles), at = shared_address(barrier);
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
wait_for_bulk_copies(uint64_t *barrier, int phase)
{
  uint32_t done = 0;

  while (!done)
    asm volatile("{\n.reg .pred p;\nmbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2;\nselp.u32 %0, 1, 0, p;\n}"
                 : "=r"(done)
                 : "r"(shared_address(barrier)), "r"(phase)
                 : "memory");
}

#endif

/* Starts the copies of a tile's chunks of 16 bytes that hold samples of the part. */
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

/* The sample at index `at` (sample_of) of a row of the plane (row_of), either of which may be missing. x: its place. */
template <typename T>
__device__ static T
sample_at(const TileParams &params, int64_t delta, int at, int row, int x)
{
  const int C = params.s.channels, channel = at < 0 ? -1 - at : (x % C + C) % C;

  if (at < 0 || row < 0)
    return (T)get_sample(missing_word<T>(params, 0), channel);
  return load_sample((const T *)(params.in + delta + (int64_t)row * params.in_stride) + at);
}

/* Fills in what is missing to either side of the part, in its rows. */
template <typename T>
__device__ static void
fill_sides(const TileParams &params, const TileBox &box, const TilePart &part, T *tile, int64_t delta)
{
  const int present = part.x1 - part.x0, pitch = box.pitch / (int)sizeof(T);

  for (int i = threadIdx.x % 32; i < box.width - present; i += 32) {
    const int x = i < part.x0 ? i : i + present, at = sample_of(params.s, box.x + x), from = at - box.x;
    const bool is_here = at >= 0 && from >= part.x0 && from < part.x1;

#pragma unroll 4
    for (int y = part.y0 + threadIdx.x / 32; y < part.y1; y += CNV_TILE_WARPS)
      tile[y * pitch + x] = is_here ? tile[y * pitch + from] : sample_at<T>(params, delta, at, box.y + y, box.x + x);
  }
}

/* Fills in the rows above and below the part, whose own rows are whole: from the tile, or from the plane, 16 bytes at a
 * time where they lie on multiples of that. */
template <typename T>
__device__ static void
fill_rows(const TileParams &params, const TileBox &box, const TilePart &part, T *tile, int64_t delta, bool has_map)
{
  constexpr int samples = 16 / sizeof(T);
  const int lane = threadIdx.x % 32, pitch = box.pitch / (int)sizeof(T);

  for (int y = threadIdx.x / 32; y < box.rows; y += CNV_TILE_WARPS) {
    const int row = row_of(params.s, box.y + y), from = row - box.y;

    if (y >= part.y0 && y < part.y1)
      continue;
    if (row >= 0 && from >= part.y0 && from < part.y1) {
      for (int i = lane; i < box.pitch / 16; i += 32)
        ((uint4 *)(tile + y * pitch))[i] = ((const uint4 *)(tile + from * pitch))[i];
      continue;
    }
    const T *plane = (const T *)(params.in + delta + (int64_t)row * params.in_stride) + box.x;
    for (int i = lane * samples; i < box.width; i += 32 * samples) {
      if (has_map && row >= 0 && i >= part.x0 && i + samples <= part.x1) {
        *(uint4 *)(tile + y * pitch + i) = __ldg((const uint4 *)(plane + i));
        continue;
      }
      for (int x = i; x < min(i + samples, box.width); x++)
        tile[y * pitch + x] = sample_at<T>(params, delta, sample_of(params.s, box.x + x), row, box.x + x);
    }
  }
}

__device__ static bool
is_whole(const TileBox &box, const TilePart &part)
{
  return part.x0 == 0 && part.x1 == box.width && part.y0 == 0 && part.y1 == box.rows;
}

/* Fills in what is missing of a tile. All threads see it afterwards. */
template <typename T>
__device__ static void
fill_tile(const TileParams &params, const TileBox &box, const TilePart &part, T *tile, int64_t delta, bool has_map)
{
  fill_sides<T>(params, box, part, tile, delta);
  __syncthreads();
  fill_rows<T>(params, box, part, tile, delta, has_map);
  __syncthreads();
}

/* The part's end along x, without the samples whose 16 bytes reach beyond it. */
template <typename T>
__device__ static int
whole_chunks(const TileBox &box, const TilePart &part)
{
  return max(part.x0, (box.x + part.x1) * (int)sizeof(T) / 16 * 16 / (int)sizeof(T) - box.x);
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

/* Tiles of a kernel: samples of a row and those before its outputs, rows above (-1: as the job's taps have them), and
 * bytes from row to row. */
struct TileShape {
  int output_width, width, lead, top, pitch;
};

__device__ static TileBox
tile_box(const CnvTileJob &s, const TileOutput &at, const TileShape &shape)
{
  const int last = (s.job.x + s.job.width) * s.channels + shape.lead, x = at.x - shape.lead;
  const int top = shape.top < 0 ? s.term.anchor[CNV_Y] : shape.top;

  return {x, at.y - top, min(shape.width, last - x), s.box_rows - (at.y + s.rows - at.y_end), shape.pitch};
}

/* FALSE where no tap of the job is other than 0: nothing is read then. */
__device__ static bool
reads(const CnvTileJob &s)
{
  return s.term.n[CNV_Y] > 0;
}

/* The beginning of a kernel: starts the copies of the block's tile of each frame, before anything else is waited for.
 * By one thread. */
__device__ static void
begin_tile(const CnvTileArgs &l, const CnvTileJob &s, const TileShape &shape, int bytes, uint64_t *barrier)
{
#if CNV_BULK_COPIES
  if (reads(s) && l.maps >> s.pointers & 1) {
    start_bulk_copies(l, s, tile_box(s, tile_output(s, shape.output_width), shape), bytes,
                      CNV_TILE_BYTES(shape.pitch, s.box_rows), barrier);
    return;
  }
#endif
  wait_for_launch_before();
}

/* The same by all threads, which then have the block's job: TileParams, as load_tile_job fills them in. */
template <typename T>
__device__ static void
begin_block(const CnvTileArgs &l, const TileShape &shape, TileParams &params, uint64_t *barrier)
{
  const int number = find_tile_job(l);

  if (threadIdx.x == 0) {
    if (l.n_jobs <= CNV_TILE_JOBS_INLINE)
      begin_tile(l, l.job[number], shape, sizeof(T), barrier);
    else
      begin_tile(l, ((const CnvTileJob *)l.jobs)[number], shape, sizeof(T), barrier);
  }
  let_next_launch_begin();
  load_tile_job<T>(params, l, number);
}

/* Waits for the tile of each frame, and fills in what is missing. All threads see it afterwards. */
template <typename T>
__device__ static void
finish_tile(const CnvTileArgs &l, const TileParams &params, const TileBox &box, uint64_t *barrier)
{
  const bool has_map = l.maps >> params.s.pointers & 1;
  const int n = max(l.sources.n, 1), frame_bytes = CNV_TILE_BYTES(box.pitch, params.s.box_rows);
  TilePart part = part_in_window(params, box);

  if (!reads(params.s))
    return;
  if (!has_map)
    part = {};
#if CNV_BULK_COPIES
  if (has_map)
    wait_for_bulk_copies(barrier, 0);
#else
  part.x1 = whole_chunks<T>(box, part);
  for (int i = 0; i < n && has_map; i++)
    copy_chunks<T>(params, box, part, cnv_tiles + i * frame_bytes, l.sources.n ? l.sources.delta[i] : 0);
  asm volatile("cp.async.commit_group;\ncp.async.wait_group 0;" ::: "memory");
  __syncthreads();
#endif
  for (int i = 0; i < n && !is_whole(box, part); i++)
    fill_tile<T>(params, box, part, (T *)(cnv_tiles + i * frame_bytes), l.sources.n ? l.sources.delta[i] : 0, has_map);
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
  typedef typename Word<T>::type W;
  constexpr int samples = 16 / sizeof(T), chunks = WIDTH / samples, words = samples / 4;
  const CnvTileJob &s = params.s;
  const int chunk = threadIdx.x % chunks, x = at.x + chunk * samples, step = 32 * CNV_TILE_WARPS / chunks;
  const bool inside = x >= s.job.x * s.channels && x + samples <= (s.job.x + s.job.width) * s.channels;
  const uint8_t *from = out + 16 * chunk + threadIdx.x / chunks * pitch;
  int y = at.y + threadIdx.x / chunks;

  if (!(inside && params.chunk_stores)) {
    for (; y < at.y_end; y += step, from += step * pitch)
      store_chunk<T>(params, (const T *)from, x, y);
    return;
  }
  char *to = (char *)params.out + (int64_t)y * params.out_stride + (int64_t)x * (int)sizeof(T);
  const char *back = (const char *)params.back + (int64_t)y * params.in_stride + (int64_t)x * (int)sizeof(T);
  const int64_t step_bytes = (int64_t)step * params.out_stride, back_bytes = (int64_t)step * params.in_stride;
  if (!s.copied) {
#pragma unroll 4
    for (; y < at.y_end; y += step, from += step * pitch, to += step_bytes)
      *(uint4 *)to = *(const uint4 *)from;
    return;
  }
  const W mask = filtered_mask<T>(s);
#pragma unroll 4
  for (; y < at.y_end; y += step, from += step * pitch, to += step_bytes, back += back_bytes) {
    uint4 now = *(const uint4 *)from, before = __ldg((const uint4 *)back);
    W *word = (W *)&now, *kept = (W *)&before;

#pragma unroll
    for (int i = 0; i < words; i++)
      word[i] = merge(word[i], kept[i], mask);
    *(uint4 *)to = now;
  }
}

#endif
