/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Common to tiled and separable: tiles with their apron in shared memory, and threads that make CNV_OUTPUTS samples one
 * below the other.
 */
#pragma once

#include "gpu/kernels/block.cuh"

/* Fills the tile from samples in the window, of which `first` is the address of the first. */
template <typename T>
__device__ static void
load_inside(float *tile, const Block &b, const Range &r, uint64_t first, int2 size)
{
  const int thread = threadIdx.y * blockDim.x + threadIdx.x, threads = blockDim.x * blockDim.y;

  for (int k = r.first; k < r.last; k++) {
    const float weight = b.sources.weight[k];

#pragma unroll 4
    for (int i = thread; i < size.x * size.y; i += threads) {
      const T *row = (const T *)(first + b.sources.delta[k] + i / size.x * b.in_stride);
      const float value = weight * value_of(load_sample(row + i % size.x), b.a);

      tile[i] = k == r.first ? value : tile[i] + value;
    }
  }
}

/* Loads size.y rows of size.x values into shared memory: what tap (tap.x, tap.y) of a term takes for the job's sample
 * from.x of row from.y, and what lies beside it. A tile inside of the window is loaded without a thought for borders.
 */
__device__ static void
load_tile(float *tile, const Block &b, const CnvTerm &t, int2 tap, int2 from, int2 size)
{
  const int C = b.a.channels, x = b.x - t.anchor[CNV_X] + tap.x, y = b.y - t.anchor[CNV_Y] + tap.y + from.y;
  const int thread = threadIdx.y * blockDim.x + threadIdx.x, threads = blockDim.x * blockDim.y;
  const Range r = sources_of(b, t);

  __syncthreads();
  if (inside(x * C + from.x, size.x, b.width * C) && inside(y, size.y, b.height)) {
    const uint64_t first = input_at(b, x * C + from.x, y);

    if (b.bytes == 1)
      load_inside<uint8_t>(tile, b, r, first, size);
    else if (b.bytes == 2)
      load_inside<uint16_t>(tile, b, r, first, size);
    else
      load_inside<float>(tile, b, r, first, size);
  } else {
    for (int i = thread; i < size.x * size.y; i += threads) {
      const int s = from.x + i % size.x;

      tile[i] = fetch(b, r, x + s / C, y + i / size.x, s % C);
    }
  }
  __syncthreads();
}

/* Adds n taps to CNV_OUTPUTS outputs: number k takes value number k + j with tap j. Each value is read once and kept in
 * a register while it slides past. */
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

/* Stores the thread's outputs, of sample s of the job, from row y on. They go through the tile in shared memory, which
 * all threads are done with: so the code that stores a sample stands once, not CNV_OUTPUTS times. */
__device__ static void
store_column(const Block &b, float *tile, const float (&total)[CNV_OUTPUTS], int s, int y)
{
  float *own = tile + threadIdx.y * CNV_OUTPUTS * blockDim.x + threadIdx.x;

  __syncthreads();
#pragma unroll
  for (int k = 0; k < CNV_OUTPUTS; k++)
    own[k * blockDim.x] = total[k];
  if (s >= b.job.width * b.a.channels)
    return;
#pragma unroll 1
  for (int k = 0; k < CNV_OUTPUTS && y + k < b.job.height; k++)
    store_sample(b, s, y + k, terms_epilogue(b, own[k * blockDim.x], b.x + s / b.a.channels, b.y + y + k));
}
