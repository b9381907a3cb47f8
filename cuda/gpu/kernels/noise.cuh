/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * noise: measures the noise of each plane between two frames of a history, as plan/noise.c does, and computes the
 * thresholds from it. A block of threads measures a row of blocks of samples, since the loads of one multiprocessor
 * would take longer. The last one to finish in a plane ranks what all have found.
 */
#pragma once

#include "gpu/kernels/block.cuh"

/* Threads of a block: the first ones measure a block of a component each; all of them rank. */
#define NOISE_MEASURING (CNV_NOISE_BLOCKS * CNV_MAX_CHANNELS)
#define NOISE_RANKING (CNV_NOISE_FOUND / CNV_MAX_CHANNELS)

/* Returns the standard deviation of the noise of one frame, in levels. sum: the magnitudes of the differences of the
 * two frames, filtered by 1 -2 1 times 1 -2 1, over the inner samples of a block. */
__device__ static float
noise_deviation(int sum)
{
  return 0.886226925f * (float)sum / (6.0f * (CNV_NOISE_BLOCK - 2) * (CNV_NOISE_BLOCK - 2)); /* sqrt(pi) / 2 */
}

/* Returns the noise of a block of a component, from its first sample in each frame: a fraction of full scale,
 * CNV_NOISE_EQUAL or CNV_NOISE_UNKNOWN. T: the word that has the component. */
template <typename T>
__device__ static float
measure_block(const CnvComponent &component, const char *a, const char *b, int stride)
{
  const int full = (1 << component.bits) - 1, step = component.step, shift = component.shift;
  int second[3][CNV_NOISE_BLOCK - 2]; /* of the last three rows: 1 -2 1 along the row */
  int sum = 0, least = full, most = 0;
  bool differs = false;

#pragma unroll
  for (int y = 0; y < CNV_NOISE_BLOCK; y++) {
    int difference[CNV_NOISE_BLOCK];

#pragma unroll
    for (int x = 0; x < CNV_NOISE_BLOCK; x++) {
      const int64_t at = (int64_t)y * stride + x * step;
      const int value = (int)(load_sample((const T *)(a + at)) >> shift) & full;
      const int other = (int)(load_sample((const T *)(b + at)) >> shift) & full;

      least = min(least, min(value, other));
      most = max(most, max(value, other));
      difference[x] = value - other;
      differs = differs || value != other;
    }
#pragma unroll
    for (int x = 0; x < CNV_NOISE_BLOCK - 2; x++) {
      second[y % 3][x] = difference[x] - 2 * difference[x + 1] + difference[x + 2];
      if (y >= 2)
        sum += abs(second[y % 3][x] - 2 * second[(y + 2) % 3][x] + second[(y + 1) % 3][x]);
    }
  }
  if (!differs)
    return CNV_NOISE_EQUAL;
  return least > 0 && most < full ? noise_deviation(sum) / (float)full : CNV_NOISE_UNKNOWN; /* clipped noise is smaller
                                                                                               */
}

/* Measures block `column` of row `row` of component c. */
__device__ static float
measure(const CnvNoiseArgs &l, const CnvNoisePlane &plane, int c, int column, int row)
{
  const int columns = min(plane.width / CNV_NOISE_BLOCK, CNV_NOISE_BLOCKS);
  const int rows = min(plane.height / CNV_NOISE_BLOCK, CNV_NOISE_BLOCKS);

  if (column >= columns || row >= rows || c >= plane.channels || plane.component[c].bytes == 0)
    return CNV_NOISE_UNKNOWN;
  const CnvComponent &component = plane.component[c];
  const int64_t x = (int64_t)(plane.width - CNV_NOISE_BLOCK) * (2 * column + 1) / (2 * columns);
  const int64_t y = (int64_t)(plane.height - CNV_NOISE_BLOCK) * (2 * row + 1) / (2 * rows);
  const int stride = l.in.stride[component.plane];
  const char *a = (const char *)l.in.address[component.plane] + y * stride + x * component.step + component.offset;

  return component.bytes == 1   ? measure_block<uint8_t>(component, a, a + l.delta, stride)
         : component.bytes == 2 ? measure_block<uint16_t>(component, a, a + l.delta, stride)
                                : measure_block<uint32_t>(component, a, a + l.delta, stride);
}

/* Counts, with all threads of the block, the numbers for which `is` holds, of which each thread has n. */
template <typename Is>
__device__ static int
count_found(const float (&number)[CNV_MAX_CHANNELS], int n, const Is &is)
{
  int count = 0;

#pragma unroll
  for (int i = 0; i < CNV_MAX_CHANNELS; i++)
    if (i < n)
      count += __syncthreads_count(is(number[i]));
  return count;
}

/* Returns number k, in ascending order, of those numbers that are at least 0. */
__device__ static float
find_ranked(const float (&number)[CNV_MAX_CHANNELS], int n, int k)
{
  uint32_t found = 0;

  for (uint32_t bit = 1u << 29; bit; bit >>= 1) { /* bits of numbers from 0 to 1 are in the order of the numbers */
    const float most = __uint_as_float(found | bit);

    if (count_found(number, n, [&](float x) { return x >= 0 && x < most; }) <= k)
      found |= bit;
  }
  return __uint_as_float(found);
}

/* Stores the measurement of plane p and the threshold, from what the blocks have found. */
__device__ static void
rank(const CnvNoiseArgs &l, int p)
{
  __shared__ float latest[CNV_NOISE_FRAMES];
  CnvNoiseState *state = (CnvNoiseState *)l.state;
  const int n_frames = min(l.n + 1, CNV_NOISE_FRAMES), thread = threadIdx.x, slot = l.n % CNV_NOISE_FRAMES;
  const int channels = l.plane[p].channels;
  float number[CNV_MAX_CHANNELS], sigma = 0;

#pragma unroll
  for (int i = 0; i < CNV_MAX_CHANNELS; i++)
    number[i] = __ldcg(&state->found[p][i * NOISE_RANKING + thread]);
  const int n = count_found(number, channels, [](float x) { return x >= 0; });
  const int n_equal = count_found(number, channels, [](float x) { return x == CNV_NOISE_EQUAL; });
  /* Motion only makes blocks differ more, so the small differences count. If most blocks do not differ at all, there is
   * no noise, and the others move. */
  if (n > 0 && n * CNV_NOISE_STILL >= n + n_equal)
    sigma = find_ranked(number, channels, n / CNV_NOISE_STILL) * (float)CNV_NOISE_STILL_BIAS;
  if (thread < n_frames)
    latest[thread] = thread == slot ? sigma : __ldcg(&state->sigma[p][thread]);
  __syncthreads();
  if (thread >= n_frames)
    return;
  const float own = latest[thread];
  int before = 0; /* numbers before this one in ascending order */
  for (int i = 0; i < n_frames; i++)
    before += latest[i] < own || (latest[i] == own && i < thread);
  if (thread == slot)
    state->sigma[p][slot] = sigma;
  if (before == n_frames / 2) {
    state->threshold[p] = (float)CNV_NOISE_THRESHOLD * own;
    ((volatile float *)l.seen)[p] = state->threshold[p];
  }
}

__device__ static void
noise(const CnvNoiseArgs &l)
{
  __shared__ bool is_last;
  CnvNoiseState *state = (CnvNoiseState *)l.state;
  const int p = blockIdx.y, row = blockIdx.x, thread = threadIdx.x;
  const int column = thread % CNV_NOISE_BLOCKS, c = thread / CNV_NOISE_BLOCKS;

  let_next_launch_begin();
  wait_for_launch_before();
  if (thread < NOISE_MEASURING)
    state->found[p][c * NOISE_RANKING + row * CNV_NOISE_BLOCKS + column] = measure(l, l.plane[p], c, column, row);
  __threadfence();
  __syncthreads();
  if (thread == 0)
    is_last = atomicInc(&state->done[p], CNV_NOISE_BLOCKS - 1) == CNV_NOISE_BLOCKS - 1;
  __syncthreads();
  if (is_last) {
    __threadfence();
    rank(l, p);
  }
}
