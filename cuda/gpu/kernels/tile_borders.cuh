/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Fills in, by the border mode, the samples of a tile in shared memory that are not in the job's window or that no copy
 * has loaded. So the arithmetic meets no borders.
 */
#pragma once

#include "gpu/kernels/tile_job.cuh"

/* Aligned for the copy engine: a tile of results, if the kernel has one, and the input's tiles of each frame. */
extern __shared__ __align__(1024) uint8_t cnv_tiles[];

/* A tile in shared memory: byte offset of its beginning; samples and rows, from sample x of row y of the plane on;
 * bytes from row to row. */
struct TileBox {
  int x, y, width, rows, pitch, begin;
};

/* Samples and rows of a tile that are in shared memory: x0 to x1 - 1 and y0 to y1 - 1, relative to the tile. */
struct TilePart {
  int x0, y0, x1, y1;
};

/* Returns the value of missing sample x. */
template <typename T>
__device__ static T
missing_sample(const TileParams &params, int x)
{
  const int C = params.s.channels;

  return (T)get_sample(missing_word<T>(params, 0), (x % C + C) % C);
}

/* Returns the number of lanes that share a row of n items. The block's other threads handle other rows. */
__device__ static int
lanes_for(int n)
{
  return n <= 8 ? 8 : n <= 16 ? 16 : 32;
}

/* Fills in the part's columns of the rows above and below it, 16 bytes at a time. The source is the replacing row of
 * the tile or, if the tile lacks it, of the plane. */
template <typename T>
__device__ static void
fill_rows(const TileParams &params, const TileBox &box, const TilePart &part, T *tile, int64_t delta)
{
  constexpr int samples = 16 / sizeof(T);
  const int present = part.y1 - part.y0, first = part.x0 / samples, chunks = (part.x1 + samples - 1) / samples - first;
  const int lanes = lanes_for(chunks);

  for (int j = threadIdx.x / lanes; j < box.rows - present; j += blockDim.x / lanes) {
    const int y = j < part.y0 ? j : j + present, row = row_of(params.s, box.y + y);
    const T *plane = (const T *)(params.in + delta + (int64_t)row * params.in_stride) + box.x;

    for (int chunk = threadIdx.x % lanes; chunk < chunks; chunk += lanes) {
      const int i = (first + chunk) * samples, from = row - box.y, pitch = box.pitch / (int)sizeof(T);
      T *to = tile + y * pitch;

      if (row >= 0 && from >= part.y0 && from < part.y1)
        *(uint4 *)(to + i) = *(const uint4 *)(tile + from * pitch + i);
      else if (row >= 0 && i >= part.x0 && i + samples <= part.x1)
        *(uint4 *)(to + i) = __ldg((const uint4 *)(plane + i));
      else
        for (int x = max(i, part.x0); x < min(i + samples, part.x1); x++)
          to[x] = row >= 0 ? load_sample(plane + x) : missing_sample<T>(params, box.x + x);
    }
  }
}

/* Words of four samples that are not entirely in the part: those before `left`, and those from `right` on, of `all`. */
struct TileSides {
  int left, right, all;
};

__device__ static TileSides
sides_of(const TileBox &box, const TilePart &part)
{
  const int left = (part.x0 + 3) / 4;

  return {left, max(part.x1 / 4, left), (box.width + 3) / 4};
}

/* Returns where find_samples stores what it finds, for rows of at most SAMPLES samples. */
template <int SAMPLES, bool PIXELS>
__device__ static int *
found_samples()
{
  __shared__ alignas(16) int samples[PIXELS ? SAMPLES / 4 : SAMPLES];

  return samples;
}

/* Finds the samples of the plane that replace those of a tile's row (sample_of), for the words that fill_sides fills
 * in. PIXELS: four samples are a pixel, and only the first of them is stored. Called by all threads, which see the
 * result after a barrier. It reads no sample, so it can run while copies load the tile. */
template <int SAMPLES, bool PIXELS>
__device__ static void
find_samples(const TileParams &params, const TileBox &box, const TilePart &part)
{
  constexpr int step = PIXELS ? 4 : 1;
  int *samples = found_samples<SAMPLES, PIXELS>();
  const TileSides sides = sides_of(box, part);
  const int left = sides.left * 4 / step, present = (sides.right - sides.left) * 4 / step;

  for (int i = threadIdx.x; i < sides.all * 4 / step - present; i += blockDim.x) {
    const int x = i < left ? i : i + present;

    samples[x] = sample_of(params.s, box.x + step * x);
  }
}

/* Returns four of the samples that find_samples found, from sample x of the row on. A missing pixel's samples are -1 to
 * -4. */
template <bool PIXELS>
__device__ static int4
samples_at(const int *samples, int x)
{
  if (!PIXELS)
    return *(const int4 *)(samples + x);
  const int first = samples[x / 4], step = first < 0 ? -1 : 1;
  return {first, first + step, first + 2 * step, first + 3 * step};
}

__device__ static bool
is_in_part(const TileBox &box, const TilePart &part, int at)
{
  return at >= 0 && at - box.x >= part.x0 && at - box.x < part.x1;
}

/* Returns sample `at` (sample_of) of a row: the tile's, else the plane's (NULL: none), else the missing value. */
template <typename T>
__device__ static T
find_sample(const TileParams &params, const TileBox &box, const TilePart &part, const T *row_of_tile,
            const T *row_of_plane, int at)
{
  const T *from = row_of_plane + at;

  if (at < 0 || !row_of_plane)
    from = (const T *)params.missing + (at < 0 ? -1 - at : at % params.s.channels);
  if (is_in_part(box, part, at))
    from = row_of_tile + at - box.x;
  return *from;
}

/* Stores N samples of a row, from x on, except those in the part, which other threads read meanwhile. */
template <typename T, int N>
__device__ static void
store_outside(const TilePart &part, T *row_of_tile, int x, const T (&sample)[N])
{
#pragma unroll
  for (int k = 0; k < N; k++)
    if (x + k < part.x0 || x + k >= part.x1)
      row_of_tile[x + k] = sample[k];
}

/* Fills in the samples to either side of the part, in all rows, four at a time. */
template <typename T, bool PIXELS>
__device__ static void
fill_sides(const TileParams &params, const TileBox &box, const TilePart &part, const int *samples, T *tile,
           int64_t delta)
{
  const TileSides sides = sides_of(box, part);
  const int present = sides.right - sides.left, pitch = box.pitch / (int)sizeof(T);
  const int lanes = lanes_for(sides.all - present), step = blockDim.x / lanes;

  for (int i = threadIdx.x % lanes; i < sides.all - present; i += lanes) {
    const int x = 4 * (i < sides.left ? i : i + present);
    const int4 at = samples_at<PIXELS>(samples, x);

    if (is_in_part(box, part, at.x) && is_in_part(box, part, at.y) && is_in_part(box, part, at.z) &&
        is_in_part(box, part, at.w)) {
#pragma unroll 2
      for (int y = threadIdx.x / lanes; y < box.rows; y += step) {
        const T *from = tile + y * pitch - box.x;
        const T sample[4] = {from[at.x], from[at.y], from[at.z], from[at.w]};

        store_outside(part, tile + y * pitch, x, sample);
      }
      continue;
    }
#pragma unroll 1
    for (int y = threadIdx.x / lanes; y < box.rows; y += step) {
      const int row = row_of(params.s, box.y + y);
      const T *plane = row < 0 ? NULL : (const T *)(params.in + delta + (int64_t)row * params.in_stride);
      T *to = tile + y * pitch;

#pragma unroll 1
      for (int k = 0; k < 4; k += 2) {
        const T sample[2] = {find_sample<T>(params, box, part, to, plane, k ? at.z : at.x),
                             find_sample<T>(params, box, part, to, plane, k ? at.w : at.y)};

        store_outside(part, to, x + k, sample);
      }
    }
  }
}

__device__ static bool
is_whole(const TileBox &box, const TilePart &part)
{
  return part.x0 == 0 && part.x1 == box.width && part.y0 == 0 && part.y1 == box.rows;
}

/* Fills in all missing samples of a tile, after find_samples. All threads see them afterwards. */
template <typename T, int SAMPLES, bool PIXELS = false>
__device__ static void
fill_tile(const TileParams &params, const TileBox &box, const TilePart &part, T *tile, int64_t delta)
{
  fill_rows<T>(params, box, part, tile, delta);
  __syncthreads();
  fill_sides<T, PIXELS>(params, box, part, found_samples<SAMPLES, PIXELS>(), tile, delta);
  __syncthreads();
}

/* Returns the part's end along x, without samples whose 16 bytes extend beyond it. */
template <typename T>
__device__ static int
whole_chunks(const TileBox &box, const TilePart &part)
{
  return max(part.x0, (box.x + part.x1) * (int)sizeof(T) / 16 * 16 / (int)sizeof(T) - box.x);
}

/* Returns the part of the tile that lies in the job's window. */
__device__ static TilePart
part_in_window(const TileParams &params, const TileBox &box)
{
  const CnvJob &p = params.s.job;

  return {min(max(params.window_x0 - box.x, 0), box.width), min(max(p.window_y - box.y, 0), box.rows),
          min(max(params.window_x1 - box.x, 0), box.width),
          min(max(p.window_y + p.window_height - box.y, 0), box.rows)};
}

/* Returns the part of a tile that copies load. has_map: there are copies. */
template <typename T>
__device__ static TilePart
loaded_part(const TileParams &params, const TileBox &box, bool has_map)
{
  TilePart part = part_in_window(params, box);

#if !CNV_BULK_COPIES
  part.x1 = whole_chunks<T>(box, part);
#endif
  return has_map ? part : TilePart{};
}
