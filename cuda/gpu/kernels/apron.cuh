/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Shared by tiled and separable: tiles with their apron in shared memory, and threads that compute CNV_OUTPUTS samples,
 * one below the other.
 */
#pragma once

#include "gpu/kernels/block.cuh"

/* Loads that a thread has in flight at once. */
#define BATCH 6

/* Loads every `step`th of n values, from number `first` on, with one thread and in batches, and passes each to `put`.
 */
template <typename Load, typename Put>
__device__ static void
load_batches(int first, int n, int step, const Load &load, const Put &put)
{
  for (int i = first; i < n; i += BATCH * step) {
    float value[BATCH];

#pragma unroll
    for (int k = 0; k < BATCH; k++)
      value[k] = i + k * step < n ? load(i + k * step) : 0.0f;
#pragma unroll
    for (int k = 0; k < BATCH; k++)
      if (i + k * step < n)
        put(i + k * step, value[k]);
  }
}

/* Loads n samples of a row, of one source. FIRST: the source is the first; others are added to it. */
template <typename T, bool FIRST>
__device__ static void
load_row(float *to, uint64_t from, int n, float weight, const Unpack &unpack)
{
  load_batches(
      threadIdx.x, n, blockDim.x, [&](int x) { return weight * value_of(load_sample((const T *)from + x), unpack); },
      [&](int x, float value) { to[x] = FIRST ? value : to[x] + value; });
}

/* Loads n samples of a row, summed over all sources. */
template <typename T>
__device__ static void
load_sources(float *to, const CnvBlock &b, const Range &r, uint64_t from, int n, const Unpack &unpack)
{
  load_row<T, true>(to, from + b.sources.delta[r.first], n, b.sources.weight[r.first], unpack);
  for (int k = r.first + 1; k < r.last; k++)
    load_row<T, false>(to, from + b.sources.delta[k], n, b.sources.weight[k], unpack);
}

/* Loads size.y rows of size.x values into shared memory: the sample that tap (tap.x, tap.y) of a term reads for the
 * job's sample from.x of row from.y, and its neighbours. Threads of one threadIdx.y share rows. Samples outside the
 * window are found by the border mode, one by one. */
__device__ static void
load_tile(float *tile, const CnvBlock &b, const CnvTerm &t, int2 tap, int2 from, int2 size)
{
  const int C = b.a.channels, x = b.x - t.anchor[CNV_X] + tap.x, y = b.y - t.anchor[CNV_Y] + tap.y + from.y;
  const int first = x * C + from.x, x0 = min(max(-first, 0), size.x), x1 = max(x0, min(size.x, b.width * C - first));
  const int bytes = b.bytes, height = b.height, border = b.a.border;
  const Unpack unpack = unpack_of(b.a);
  const Range r = sources_of(b, t);

  __syncthreads();
  for (int i = threadIdx.y; i < size.y; i += blockDim.y) {
    const int row = cnv_border_index((CnvBorder)border, y + i, height);
    const uint64_t at = input_at(b, first + x0, row);
    float *to = tile + i * size.x;

    if (row >= 0 && bytes == 1)
      load_sources<uint8_t>(to + x0, b, r, at, x1 - x0, unpack);
    else if (row >= 0 && bytes == 2)
      load_sources<uint16_t>(to + x0, b, r, at, x1 - x0, unpack);
    else if (row >= 0)
      load_sources<float>(to + x0, b, r, at, x1 - x0, unpack);
    for (int j = threadIdx.x; j < size.x && (row < 0 || x1 - x0 < size.x); j += blockDim.x)
      if (row < 0 || j < x0 || j >= x1)
        to[j] = fetch(b, r, x + (from.x + j) / C, y + i, (from.x + j) % C);
  }
  __syncthreads();
}

/* Adds n taps to CNV_OUTPUTS outputs: output k reads value k + j with tap j. Each value is read once and stays in a
 * register while it is needed. */
__device__ static void
slide(float (&acc)[CNV_OUTPUTS], const float *column, int pitch, const float *taps, int n)
{
  float v[CNV_OUTPUTS];

#pragma unroll
  for (int k = 1; k < CNV_OUTPUTS; k++)
    v[k] = column[(k - 1) * pitch];
  column += (CNV_OUTPUTS - 1) * pitch;
#pragma unroll 8
  for (int j = 0; j < n; j++) {
#pragma unroll
    for (int k = 1; k < CNV_OUTPUTS; k++)
      v[k - 1] = v[k];
    v[CNV_OUTPUTS - 1] = column[j * pitch];
#pragma unroll
    for (int k = 0; k < CNV_OUTPUTS; k++)
      acc[k] = fmaf(v[k], taps[j], acc[k]);
  }
}

/* Stores the thread's outputs of sample s of the job, from row y on. They pass through the tile in shared memory, which
 * no thread reads any more. So the code that stores a sample exists once, not CNV_OUTPUTS times. */
__device__ static void
store_column(const CnvBlock &b, float *tile, const float (&total)[CNV_OUTPUTS], int s, int y)
{
  float *own = tile + threadIdx.y * CNV_OUTPUTS * blockDim.x + threadIdx.x;

  __syncthreads();
#pragma unroll
  for (int k = 0; k < CNV_OUTPUTS; k++)
    own[k * blockDim.x] = total[k];
  if (s < b.job.width * b.a.channels)
    store_samples(b, s, y, own, blockDim.x, min(CNV_OUTPUTS, b.job.height - y));
}
