/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * A tile of the input with its apron in shared memory, and a tile of results: shared by fused, blur and dense.
 *
 * A tile is as wide as a block's outputs plus the samples on each side that their taps reach, counted over all
 * channels; its row pitch is CNV_TILE_PITCH. The copy engine loads it in one piece (compute capability 9.0), or the
 * threads load it, 16 bytes at a time. Then samples outside the job's window are filled in by the border mode, so that
 * the arithmetic meets no borders. If a plane's rows do not begin at multiples of 16 bytes, all samples are filled in
 * one by one.
 *
 * An inner tile lies inside the window with all its samples, and inside the job with all its outputs. The copy engine
 * stores inner tiles, and threads store all other tiles. The host computes which tiles are inner (gpu/tile_jobs.c).
 */
#pragma once

#include "gpu/kernels/coverage.cuh"

/* Returns the tile at a column and row of a job's tiles of that width. */
__device__ static TileOutput
tile_output(const CnvTileJob &s, int width, int column, int row)
{
  const int y = s.job.y + row * s.rows;
  return {s.origin + column * width, y, min(y + s.rows, s.job.y + s.job.height)};
}

/* Returns the block's tile, in a launch without a list. */
__device__ static TileOutput
tile_output(const CnvTileJob &s, int width)
{
  int column, row;

  cnv_tile_place(&s, (int)blockIdx.x, &column, &row);
  return tile_output(s, width, column, row);
}

/* Computes the factors of renormalize: first for a tile's samples along x, then for its rows. */
__device__ static void
find_factors(float *factor, const CnvTileJob &s, const TileOutput &at, int width)
{
  const CnvTerm &t = s.term;

  for (int i = threadIdx.x; i < width + s.rows; i += blockDim.x)
    factor[i] = i < width ? axis_factor(t.taps[CNV_X], t.n[CNV_X], t.sum[CNV_X], t.epsilon[CNV_X],
                                        (at.x + i) / s.channels - s.job.window_x - t.anchor[CNV_X], s.job.window_width)
                          : axis_factor(t.taps[CNV_Y], t.n[CNV_Y], t.sum[CNV_Y], t.epsilon[CNV_Y],
                                        at.y + i - width - s.job.window_y - t.anchor[CNV_Y], s.job.window_height);
}

/* The tiles of a kernel: samples of a row, samples before its outputs (-1: those of the job), bytes from row to row,
 * and bytes of a row of outputs. */
struct TileShape {
  int width, lead, pitch, output_bytes;
};

__device__ static uint32_t
shared_address(const void *at)
{
  return (uint32_t)__cvta_generic_to_shared(at);
}

#if CNV_BULK_COPIES

/* Starts a bulk copy of a box. from: word, field, row, step of the source. */
__device__ static void
start_bulk_copy(uint32_t to, const CnvTensorMap *map, const int4 &from, uint32_t barrier)
{
  asm volatile("cp.async.bulk.tensor.4d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3, "
               "%4, %5}], [%6];" ::"r"(to),
               "l"(map), "r"(from.x), "r"(from.y), "r"(from.z), "r"(from.w), "r"(barrier)
               : "memory");
}

/* Makes the barrier's next phase end after `bytes` have arrived. */
__device__ static void
expect_bytes(uint32_t barrier, int bytes)
{
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(barrier), "r"(bytes) : "memory");
}

/* Starts the copies of the block's tile of each frame, and of the tile's weights. Weights go to the place of the
 * results or, if WEIGHED, after the tile with its apron. */
template <bool BLENDS, bool WEIGHED, typename Tile>
__device__ static void
start_bulk_copies(const CnvTileArgs &l, const Tile &tile, const TileShape &shape, int bytes, uint64_t *barrier)
{
  const int n = l.sources.n, frame_bytes = CNV_TILE_BYTES(shape.pitch, tile.box_rows);
  const int word = (tile.at.x - tile.lead) * bytes / 4, y = tile.at.y - tile.top;
  const uint32_t to = shared_address(cnv_tiles + tile.rows * shape.output_bytes), at = shared_address(barrier);
  const CnvTensorMap *map = &l.map[tile.pointers];

  asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(at));
  asm volatile("fence.mbarrier_init.release.cluster;");
  wait_for_launch_before();
  expect_bytes(at, max(n, 1) * shape.pitch * tile.box_rows + (!BLENDS || !tile.has_weights ? 0
                                                              : WEIGHED                    ? shape.pitch * tile.box_rows
                                                                        : tile.rows * shape.output_bytes));
  if (n == 0)
    start_bulk_copy(to, map, {word, tile.field, y, 0}, at);
#pragma unroll 1
  for (int i = 0; i < n; i++)
    start_bulk_copy(to + i * frame_bytes, map,
                    {word, tile.field, y, (int)((l.sources.delta[i] - l.sources.first) / CNV_SOURCE_STEP)}, at);
  if (WEIGHED && tile.has_weights)
    start_bulk_copy(to + frame_bytes, &l.cover_map[tile.pointers], {word, 0, y, 0}, at);
  else if (BLENDS && tile.has_weights)
    for (int i = 0; i < shape.output_bytes; i += CNV_TILE_OUT_BOX(shape.output_bytes))
      start_bulk_copy(shared_address(cnv_tiles + i * tile.rows), &l.cover_map[tile.pointers],
                      {(tile.at.x + i) / 4, 0, tile.at.y, 0}, at);
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

/* Starts the copy of a box of results to the plane. */
__device__ static void
store_box(const CnvTensorMap *map, int x, int y, int field, const uint8_t *from)
{
  asm volatile("cp.async.bulk.tensor.4d.global.shared::cta.tile.bulk_group [%0, {%1, %2, %3, %4}], [%5];" ::"l"(map),
               "r"(x), "r"(field), "r"(y), "r"(0), "r"(shared_address(from))
               : "memory");
}

#endif

#if __CUDA_ARCH__ >= 800
/* Sets sum to first plus products of unsigned and signed bytes. */
__device__ static void
multiply_bytes_first(int (&sum)[4], const uint32_t (&a)[4], uint2 b, const int (&first)[4])
{
  asm("mma.sync.aligned.m16n8k32.row.col.s32.u8.s8.s32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%10, %11, %12, "
      "%13};"
      : "=r"(sum[0]), "=r"(sum[1]), "=r"(sum[2]), "=r"(sum[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b.x), "r"(b.y), "r"(first[0]), "r"(first[1]), "r"(first[2]),
        "r"(first[3]));
}

__device__ static void
multiply_bytes(int (&sum)[4], const uint32_t (&a)[4], uint2 b)
{
  const int first[4] = {sum[0], sum[1], sum[2], sum[3]};

  multiply_bytes_first(sum, a, b, first);
}
#endif

/* Loads a lane's words of N fragments of taps, of 32 lanes each. */
template <int N, typename W>
__device__ static void
load_words(W *to, const W *from)
{
#pragma unroll
  for (int i = 0; i < N; i++)
    to[i] = __ldg(from + 32 * i);
}

/* Starts a copy of 16 bytes. Before compute capability 8.0, which has no instruction for that, copies them at once. */
__device__ static void
copy_16(void *to, const void *from)
{
#if __CUDA_ARCH__ >= 800
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(shared_address(to)), "l"(from) : "memory");
#else
  *(uint4 *)to = __ldg((const uint4 *)from);
#endif
}

/* Waits for this thread's copies. */
__device__ static void
wait_for_copies()
{
#if __CUDA_ARCH__ >= 800
  asm volatile("cp.async.commit_group;\ncp.async.wait_group 0;" ::: "memory");
#endif
}

/* Starts the copies of all chunks of 16 bytes of a tile that have samples of `part`. */
template <typename T>
__device__ static void
copy_chunks(const TileParams &params, const TileBox &box, const TilePart &part, uint8_t *tile, int64_t delta)
{
  const int first = part.x0 * (int)sizeof(T) / 16, last = (part.x1 * (int)sizeof(T) + 15) / 16;
  const int lanes = last - first <= 16 ? 16 : 32, lane = threadIdx.x % lanes;
  const char *from = (const char *)(params.in + delta) + (int64_t)box.x * (int)sizeof(T);

  for (int y = part.y0 + threadIdx.x / lanes; y < part.y1; y += blockDim.x / lanes)
    for (int i = first + lane; i < last; i += lanes)
      copy_16(tile + y * box.pitch + 16 * i, from + (int64_t)(box.y + y) * params.in_stride + 16 * i);
}

__device__ static TileBox
tile_box(const TileParams &params, const TileShape &shape)
{
  const CnvTileJob &s = params.s;
  const TileOutput &at = params.tile.at;
  const int lead = params.tile.lead, last = (s.job.x + s.job.width) * s.channels + lead, x = at.x - lead;

  return {x,
          at.y - s.top,
          min(shape.width, last - x),
          s.box_rows - (at.y + s.rows - at.y_end),
          shape.pitch,
          s.rows * shape.output_bytes};
}

/* Finds the block's tile, and starts its copies before any other wait. Called by one thread. BLENDS: the launch may
 * have a list of tiles, with `place` for this block. */
template <bool BLENDS, bool WEIGHED>
__device__ static void
begin_tile(const CnvTileArgs &l, const CnvTileJob &s, const TileShape &shape, int bytes, const CnvTilePlace &place,
           TileParams &params, uint64_t *barrier)
{
  const int lead = shape.lead < 0 ? s.lead : shape.lead, width = shape.width - 2 * lead;
  const bool has_map = l.maps >> s.pointers & 1;
  const TileOutput at = BLENDS && l.tiles ? tile_output(s, width, place.column, place.row) : tile_output(s, width);
  decltype(params.tile) tile = {at,
                                s.rows,
                                s.box_rows,
                                s.top,
                                lead,
                                s.pointers,
                                s.job.field,
                                s.job.fields,
                                s.term.n[CNV_Y],
                                s.bands,
                                s.renormalizes != 0,
                                false,
                                false,
                                (int)place.kind};

#if CNV_BULK_COPIES
  const auto is_inner = [&] {
    return has_map && (l.out_maps >> s.pointers & 1) && at.x >= s.inner_x0 && at.x < s.inner_x1 && at.y >= s.inner_y0 &&
           at.y < s.inner_y1;
  };
  tile.has_weights = BLENDS && place.kind == CNV_TILE_BLENDED && l.cover_maps >> s.pointers & 1 && has_map &&
                     tile.n_rows > 0 && (!WEIGHED || is_inner());
  if (has_map && tile.n_rows > 0)
    start_bulk_copies<BLENDS, WEIGHED>(l, tile, shape, bytes, barrier);
  else
    wait_for_launch_before();
  tile.is_inner = is_inner();
#else
  wait_for_launch_before();
#endif
  params.tile = tile;
}

/* Finds the number of the block's job, and its tile if the launch has a list. */
template <bool BLENDS>
__device__ static CnvTilePlace
find_place(const CnvTileArgs &l)
{
  CnvTilePlace place = {};

  if (BLENDS && l.tiles) {
    const uint2 words = __ldg((const uint2 *)l.tiles + blockIdx.x);

    memcpy(&place, &words, sizeof(place));
    return place;
  }
  place.job = find_tile_job(l);
  place.kind = CNV_TILE_UNKNOWN;
  return place;
}

/* Starts a kernel; called by all threads, which have the block's tile and job afterwards. BLENDS: jobs may have
 * coverage. WEIGHED: the kernel weighs samples. */
template <typename T, bool BLENDS = true, bool WEIGHED = false>
__device__ static void
begin_block(const CnvTileArgs &l, const TileShape &shape, TileParams &params, uint64_t *barrier)
{
  const CnvTilePlace place = find_place<BLENDS>(l);
  const int number = place.job;
  const bool is_inline = l.n_jobs <= CNV_TILE_JOBS_INLINE;
  const CnvTileJob &s = nth_job(l, number);

  if (threadIdx.x == 0 && is_inline)
    begin_tile<BLENDS, WEIGHED>(l, l.job[number], shape, sizeof(T), place, params, barrier);
  else if (threadIdx.x == 0)
    begin_tile<BLENDS, WEIGHED>(l, s, shape, sizeof(T), place, params, barrier);
  if (!BLENDS || !l.leads || threadIdx.x == 0) /* thread 0 has waited for the previous launch */
    let_next_launch_begin();
  if (threadIdx.x - 32 < CNV_TILE_JOB_HEAD)
    ((uint32_t *)&params.s)[threadIdx.x - 32] = ((const uint32_t *)&s)[threadIdx.x - 32];
  __syncthreads();
  if (params.tile.is_inner && !params.tile.renormalizes &&
      (!BLENDS || !params.s.blends || params.tile.kind == CNV_TILE_FILTERED || params.tile.has_weights))
    return;
  set_params<T>(params, l, s);
  __syncthreads();
}

/* Fills in the missing samples of the tile of each frame (fill_tile). */
template <typename T, int SAMPLES, bool PIXELS>
__device__ static void
fill_frames(const CnvTileArgs &l, const TileParams &params, const TileBox &box, const TilePart &part)
{
  const int n = max(l.sources.n, 1), frame_bytes = CNV_TILE_BYTES(box.pitch, params.s.box_rows);

  for (int i = 0; i < n && !is_whole(box, part); i++)
    fill_tile<T, SAMPLES, PIXELS>(params, box, part, (T *)(cnv_tiles + box.begin + i * frame_bytes),
                                  l.sources.n ? l.sources.delta[i] : 0);
}

/* Counts this block as one that has read its tile, if the launch filters in place. Not inlined, because its registers
 * would make some kernels spill. */
__device__ __noinline__ static void
count_reader(const CnvTileArgs &l)
{
  if (l.readers && threadIdx.x == 0)
    asm volatile("red.release.gpu.global.add.u32 [%0], 1;" ::"l"(l.readers) : "memory");
}

/* Waits until all blocks have read their tiles, if the launch filters in place. Thread 0 waits; a barrier must follow.
 * All blocks run at the same time, so this takes microseconds. If a tool such as a debugger keeps some blocks from
 * running, the wait ends after CNV_READERS_CLOCKS. Then samples near other tiles may be filtered twice, which is better
 * than a wait without end.
 */
__device__ static void
wait_for_readers(const CnvTileArgs &l)
{
  const long long begin = clock64();
  uint32_t n;

  if (l.readers && threadIdx.x == 0)
    do
      asm volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(n) : "l"(l.readers) : "memory");
    while ((int32_t)(n - l.all_readers) < 0 && clock64() - begin < CNV_READERS_CLOCKS);
}

/* find_samples for blur_pixels. Not inlined, because its registers would make that spill. */
template <int SAMPLES>
__device__ __noinline__ static void
find_pixels(const TileParams &params, const TileBox box, const TilePart part)
{
  find_samples<SAMPLES, true>(params, box, part);
}

/* Waits for the tile of each frame, and fills in the missing samples of a tile at an edge. All threads see it
 * afterwards. */
template <typename T, int SAMPLES, bool PIXELS>
__device__ static void
bring_tile(const CnvTileArgs &l, const TileParams &params, const TileShape &shape, uint64_t *barrier)
{
  if (params.tile.n_rows == 0)
    return;
#if CNV_BULK_COPIES
  if (params.tile.is_inner)
    return wait_for_bulk_copies(barrier, 0);
#endif
  const bool has_map = l.maps >> params.tile.pointers & 1;
  const TileBox box = tile_box(params, shape);
  const TilePart part = loaded_part<T>(params, box, has_map);
#if !CNV_BULK_COPIES
  for (int i = 0; i < max(l.sources.n, 1) && has_map; i++)
    copy_chunks<T>(params, box, part, cnv_tiles + box.begin + i * CNV_TILE_BYTES(box.pitch, params.s.box_rows),
                   l.sources.n ? l.sources.delta[i] : 0);
#endif
  if (PIXELS && !is_whole(box, part))
    find_pixels<SAMPLES>(params, box, part);
  else if (!is_whole(box, part))
    find_samples<SAMPLES, PIXELS>(params, box, part);
#if CNV_BULK_COPIES
  if (has_map)
    wait_for_bulk_copies(barrier, 0);
#else
  wait_for_copies();
  __syncthreads();
#endif
  fill_frames<T, SAMPLES, PIXELS>(l, params, box, part);
}

/* Waits for the tile as bring_tile does. Then other blocks may write the samples that this block has read. */
template <typename T, bool BLENDS = false, int SAMPLES = CNV_TILE_SAMPLES, bool PIXELS = false>
__device__ static void
finish_tile(const CnvTileArgs &l, const TileParams &params, const TileShape &shape, uint64_t *barrier)
{
  bring_tile<T, SAMPLES, PIXELS>(l, params, shape, barrier);
  if (BLENDS)
    count_reader(l);
}

/* Stores 16 bytes of outputs of row y, from sample x on, sample by sample. Stores only samples of the job, and the
 * input's samples in copied channels. */
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

/* Returns the offset of a byte of a row in a tile of results. Results are in boxes of at most 128 bytes of all rows;
 * within each row of a box, 16-byte chunks are permuted as the copy engine expects (swizzle). The chunks that a warp
 * stores at once are then in different banks. */
template <int ROW_BYTES>
__device__ static int
output_offset(int rows, int row, int byte)
{
  constexpr int box = CNV_TILE_OUT_BOX(ROW_BYTES);
  const int turn = box == 128 ? row & 7 : row >> 1 & 3;

  return byte / box * box * rows + row * box + (((byte % box / 16) ^ turn) * 16) + byte % 16;
}

/* Stores the outputs with THREADS threads, after all threads have written theirs to shared memory. thread: the number
 * of this one. chunk_at: returns the address of 16 bytes of a row of outputs in shared memory. */
template <typename T, int WIDTH, int THREADS, typename ChunkAt>
__device__ static void
store_tile(const TileParams &params, const TileOutput &at, int thread, const ChunkAt &chunk_at)
{
  typedef typename Word<T>::type W;
  constexpr int samples = 16 / sizeof(T), chunks = WIDTH / samples, words = samples / 4, step = THREADS / chunks;
  const CnvTileJob &s = params.s;
  const int chunk = thread % chunks, x = at.x + chunk * samples, rows = at.y_end - at.y;
  const bool inside = x >= s.job.x * s.channels && x + samples <= (s.job.x + s.job.width) * s.channels;
  int row = thread / chunks;

  if (!(inside && params.chunk_stores)) {
    for (; row < rows; row += step)
      store_chunk<T>(params, (const T *)chunk_at(row, chunk), x, at.y + row);
    return;
  }
  char *to = (char *)params.out + (int64_t)(at.y + row) * params.out_stride + (int64_t)x * (int)sizeof(T);
  const char *back = (const char *)params.back + (int64_t)(at.y + row) * params.in_stride + (int64_t)x * (int)sizeof(T);
  const int64_t step_bytes = (int64_t)step * params.out_stride, back_bytes = (int64_t)step * params.in_stride;
  if (!s.copied) {
#pragma unroll 4
    for (; row < rows; row += step, to += step_bytes)
      *(uint4 *)to = *(const uint4 *)chunk_at(row, chunk);
    return;
  }
  const W copied = *(const W *)s.copied_bits;
#pragma unroll 4
  for (; row < rows; row += step, to += step_bytes, back += back_bytes) {
    uint4 now = *(const uint4 *)chunk_at(row, chunk), before = __ldg((const uint4 *)back);
    W *word = (W *)&now, *kept = (W *)&before;

#pragma unroll
    for (int i = 0; i < words; i++)
      word[i] = merge(kept[i], word[i], copied);
    *(uint4 *)to = now;
  }
}

/* Stores the outputs as store_tile does. If other jobs write the same pixels, stores only outputs of weights above
 * 0. */
template <typename T, int WIDTH, int THREADS, typename ChunkAt>
__device__ static void
store_results(const CnvTileArgs &l, const TileParams &params, const TileOutput &at, int thread, const ChunkAt &chunk_at)
{
  constexpr int samples = 16 / sizeof(T), chunks = WIDTH / samples;
  const CnvTileJob &s = params.s;

  if (!s.job.shared)
    return store_tile<T, WIDTH, THREADS>(params, at, thread, chunk_at);
  const int chunk = thread % chunks, x = at.x + chunk * samples;
  const WeightColumn column = weight_column<T>(l, s, x);
  if (!column.at)
    return;
#pragma unroll 1
  for (int row = thread / chunks; row < at.y_end - at.y; row += THREADS / chunks)
    store_weighed<T>(params, *(const uint4 *)chunk_at(row, chunk),
                     load_weights<T>(column, at.y - s.job.y + row, s.channels), x, at.y + row);
}

/* Stores the weights of the block's tile to the place of its results (output_offset), with all threads. Clears `none`
 * if this thread's weights are not all 0, and `whole` if they are not all 1. */
template <typename T, int WIDTH, WeightLoad BY>
__device__ static void
put_weights(const TileParams &params, const WeightColumn &column, bool &none, bool &whole)
{
  constexpr int row_bytes = WIDTH * sizeof(T), chunks = row_bytes / 16, step = 32 * CNV_TILE_WARPS / chunks, batch = 4;
  constexpr uint32_t one = sizeof(T) == 1 ? 0xffffffffu : 0x00ff00ffu;
  const TileOutput &at = params.tile.at;
  const int chunk = threadIdx.x % chunks, rows = at.y_end - at.y, y = at.y - params.s.job.y;

#pragma unroll 1
  for (int first = threadIdx.x / chunks; first < rows; first += batch * step) {
    uint4 weights[batch];

#pragma unroll
    for (int i = 0; i < batch; i++)
      if (first + i * step < rows)
        weights[i] = load_weights<T, BY>(column, y + first + i * step);
#pragma unroll
    for (int i = 0; i < batch; i++)
      if (first + i * step < rows) {
        const uint4 &w = weights[i];

        none &= (w.x | w.y | w.z | w.w) == 0;
        whole &= (w.x & w.y & w.z & w.w) == one;
        *(uint4 *)(cnv_tiles + output_offset<row_bytes>(params.tile.rows, first + i * step, 16 * chunk)) = w;
      }
  }
}

/* Copies the weights of one channel of 8 bits to the place of the results, without examining them. */
template <int WIDTH>
__device__ static void
copy_weights(const TileParams &params, const WeightColumn &column)
{
  constexpr int chunks = WIDTH / 16, step = 32 * CNV_TILE_WARPS / chunks;
  const TileOutput &at = params.tile.at;
  const int chunk = threadIdx.x % chunks, rows = at.y_end - at.y;
  const uint8_t *from = column.at + (int64_t)(at.y - params.s.job.y) * column.pitch;

#pragma unroll 1
  for (int row = threadIdx.x / chunks; row < rows; row += step)
    copy_16(cnv_tiles + output_offset<WIDTH>(params.tile.rows, row, 16 * chunk), from + (int64_t)row * column.pitch);
  wait_for_copies();
}

/* Loads the weights of the block's tile (put_weights), if its job has any, and returns the kind of the tile. */
template <typename T, int WIDTH, bool BLENDS>
__device__ static CnvTileKind
load_tile_weights(const CnvTileArgs &l, const TileParams &params)
{
  constexpr int samples = 16 / sizeof(T);
  const CnvTileJob &s = params.s;
  bool none = true, whole = true;

  if (!BLENDS || !s.blends || params.tile.kind == CNV_TILE_FILTERED)
    return CNV_TILE_FILTERED;
  if (params.tile.has_weights)
    return CNV_TILE_BLENDED;
  const WeightColumn column = weight_column<T>(l, s, params.tile.at.x + threadIdx.x % (WIDTH / samples) * samples);
  const WeightLoad by = weight_load<T>(s.channels);
  if (!column.at)
    ;
  else if (sizeof(T) == 1 && by == WEIGHTS_BY_16 && params.tile.kind == CNV_TILE_BLENDED)
    copy_weights<WIDTH>(params, column);
  else if (sizeof(T) == 1 && by == WEIGHTS_BY_16)
    put_weights<T, WIDTH, WEIGHTS_BY_16>(params, column, none, whole);
  else if (by == WEIGHTS_BY_8)
    put_weights<T, WIDTH, WEIGHTS_BY_8>(params, column, none, whole);
  else
    put_weights<T, WIDTH, WEIGHTS_BY_1>(params, column, none, whole);
  if (params.tile.kind == CNV_TILE_BLENDED) {
    __syncthreads();
    return CNV_TILE_BLENDED;
  }
  none = __syncthreads_and(none);
  whole = __syncthreads_and(whole);
  return none ? CNV_TILE_KEPT : whole ? CNV_TILE_FILTERED : CNV_TILE_BLENDED;
}

/* Stores the input's samples with THREADS threads, unless other jobs may write them. */
template <typename T, int WIDTH, int THREADS>
__device__ static void
keep_input(const TileParams &params, const TileOutput &at, int thread)
{
  constexpr int samples = 16 / sizeof(T), chunks = WIDTH / samples, step = THREADS / chunks;
  const CnvTileJob &s = params.s;
  const int x = at.x + thread % chunks * samples, y = at.y + thread / chunks;
  const int x0 = max(x, s.job.x * s.channels), x1 = min(x + samples, (s.job.x + s.job.width) * s.channels);
  const T *from = (const T *)(params.back + (int64_t)y * params.in_stride);
  T *to = (T *)(params.out + (int64_t)y * params.out_stride);

  if (s.job.shared)
    return;
  if (x1 - x0 == samples && params.chunk_stores) {
    const char *chunk = (const char *)(from + x);
    char *to_chunk = (char *)(to + x);

#pragma unroll 4
    for (int row = y; row < at.y_end; row += step) {
      *(uint4 *)to_chunk = __ldg((const uint4 *)chunk);
      chunk += (int64_t)step * params.in_stride;
      to_chunk += (int64_t)step * params.out_stride;
    }
    return;
  }
#pragma unroll 1
  for (int row = y; row < at.y_end; row += step) {
#pragma unroll 1
    for (int i = x0; i < x1; i++)
      to[i] = load_sample(from + i);
    from = (const T *)((const char *)from + (int64_t)step * params.in_stride);
    to = (T *)((char *)to + (int64_t)step * params.out_stride);
  }
}

/* Ends a block whose tile is CNV_TILE_KEPT; called by all threads. */
template <typename T, int WIDTH>
__device__ static void
keep_tile(const CnvTileArgs &l, const TileParams &params, uint64_t *barrier)
{
  keep_input<T, WIDTH, 32 * CNV_TILE_WARPS>(params, params.tile.at, threadIdx.x);
#if CNV_BULK_COPIES
  /* The copy engine still writes to the block's memory. */
  if (params.tile.n_rows > 0 && l.maps >> params.tile.pointers & 1)
    wait_for_bulk_copies(barrier, 0);
#endif
  count_reader(l);
}

/* Stores the copied channels of the input's tile among the outputs, with all threads. */
template <typename T, int WIDTH>
__device__ static void
copy_channels(const TileParams &params, const TileShape &shape)
{
  constexpr int row_bytes = WIDTH * sizeof(T), chunks = row_bytes / 16;
  const int rows = params.tile.rows;
  const uint2 copied = *(const uint2 *)params.s.copied_bits;
  const uint8_t *tile =
      cnv_tiles + rows * row_bytes + params.tile.top * shape.pitch + params.tile.lead * (int)sizeof(T);

#pragma unroll 2
  for (int i = threadIdx.x; i < rows * chunks; i += blockDim.x) {
    uint4 *to = (uint4 *)(cnv_tiles + output_offset<row_bytes>(rows, i / chunks, i % chunks * 16));
    const uint4 now = *to, before = *(const uint4 *)(tile + i / chunks * shape.pitch + i % chunks * 16);

    *to = merge_copied<T>(copied, before, now);
  }
}

/* Stores the block's tile of outputs (output_offset), with all threads. COPIES: outputs of inner tiles still lack the
 * copied channels. */
template <typename T, int WIDTH, bool BLENDS, bool COPIES = true>
__device__ static void
store_outputs(const CnvTileArgs &l, const TileParams &params, const TileShape &shape)
{
  constexpr int row_bytes = WIDTH * sizeof(T), box = CNV_TILE_OUT_BOX(row_bytes);

  if (BLENDS)
    wait_for_readers(l);
#if CNV_BULK_COPIES
  if (params.tile.is_inner) {
    if (COPIES && (params.s.copied_bits[0] | params.s.copied_bits[1])) {
      __syncthreads();
      copy_channels<T, WIDTH>(params, shape);
    }
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    __syncthreads();
    if (threadIdx.x > 0)
      return;
#pragma unroll
    for (int i = 0; i < row_bytes / box; i++)
      store_box(&l.out_map[params.tile.pointers], (params.tile.at.x * (int)sizeof(T) + i * box) / 4, params.tile.at.y,
                params.tile.field, cnv_tiles + i * box * params.tile.rows);
    asm volatile("cp.async.bulk.commit_group;\ncp.async.bulk.wait_group.read 0;" ::: "memory");
    return;
  }
#endif
  __syncthreads();
  const auto chunk_at = [&](int row, int chunk) {
    return cnv_tiles + output_offset<row_bytes>(params.tile.rows, row, 16 * chunk);
  };
  if (BLENDS)
    store_results<T, WIDTH, 32 * CNV_TILE_WARPS>(l, params, params.tile.at, threadIdx.x, chunk_at);
  else
    store_tile<T, WIDTH, 32 * CNV_TILE_WARPS>(params, params.tile.at, threadIdx.x, chunk_at);
}
