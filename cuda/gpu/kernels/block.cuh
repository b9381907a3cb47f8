/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Shared by kernels with block jobs: a block's work, loads and stores of samples, borders and renormalize.
 *
 * A sample has one or two bytes, or is a float32 component of a staged plane. A row is a flat array of samples in
 * which neighbours of a channel are C apart. Coordinates are relative to the job's window, beyond which the border
 * lies; rows are those of the field.
 */
#pragma once

#include "gpu/kernels/arguments.h"

/* The taps, in constant memory. Each session has its own module, and so its own taps. */
extern "C" {
__constant__ float cnv_taps[CNV_CONSTANT_TAPS];
}

/* 2^23 + i has the integer i in its low bits. Fast kernels convert by this sum: conversion instructions run at an
 * eighth of the rate of additions or less. */
#define INTEGERS 8388608.0f

/* Waits for the launch before this one. Until one thread has called it, followed by a barrier, a block must not read
 * what that launch writes, nor write what it reads. */
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

/* Returns 1 / x to about 1 unit in the last place. */
__device__ static float
reciprocal(float x)
{
  float inverse;

  asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(inverse) : "f"(x));
  return inverse;
}

/* Returns x / channels for x >= 0. A division by a variable would dominate the time of kernels. */
__device__ static int
pixel_of(int x, int channels)
{
  return channels == 3 ? x / 3 : x >> channels / 2;
}

/* Returns the number of the last of n jobs that begins at or before the block. */
template <typename Job>
__device__ static int
find_job(const Job *jobs, int n)
{
  int low = 0, high = n - 1;

  while (low < high) {
    const int middle = (low + high + 1) / 2;

    if (__ldg(&jobs[middle].first_block) <= (int)blockIdx.x)
      low = middle;
    else
      high = middle - 1;
  }
  return low;
}

template <typename S>
__device__ static void
copy_words(S *to, const S *from, int thread, int threads)
{
  for (int i = thread; i < (int)(sizeof(S) / 4); i += threads)
    ((uint32_t *)to)[i] = __ldg((const uint32_t *)from + i);
}

/* Starts a kernel with block jobs: loads the block's job and finds the block's part of it. */
__device__ static void
load_job(CnvBlock &b, const CnvBlockArgs &l)
{
  const int thread = threadIdx.y * blockDim.x + threadIdx.x, threads = blockDim.x * blockDim.y;
  const CnvBlockJob *jobs = (const CnvBlockJob *)l.jobs, *from = jobs + find_job(jobs, l.n_jobs);
  const int block = blockIdx.x - from->first_block;

  let_next_launch_begin();
  copy_words(&b.a, (const CnvPlane *)l.planes + from->job.plan * CNV_MAX_PLANES + from->job.plane, thread, threads);
  copy_words(&b.job, &from->job, thread, threads);
  copy_words(&b.cells, &from->cells, thread, threads);
  __syncthreads();
  for (int k = thread; k < max(1, l.sources.n); k += threads) {
    b.sources.weight[k] = l.sources.n > 0 ? l.sources.weight[k] : 1.0f;
    b.sources.delta[k] = !b.a.plain ? k * l.staged_size : l.sources.n > 0 ? l.sources.delta[k] : 0;
  }
  if (thread == 0) {
    b.sources.n = max(1, l.sources.n);
    b.columns = from->columns;
    b.block_x = block % from->columns;
    b.block_y = block / from->columns;
    b.coverage = l.coverage;
    b.row_sums = (float *)l.sums + from->sums;
    b.sums_stride = from->sums_stride;
    b.sums_rows = from->sums_rows;
    cnv_block_locate_in(&b, &l);
  }
  wait_for_launch_before();
  __syncthreads();
}

/* ---- samples ---- */

__device__ static bool
inside(int first, int count, int n)
{
  return first >= 0 && first + count <= n;
}

/* Numbers that convert a sample to a value, in registers: shared memory would be read again after each store. */
struct Unpack {
  int shift;
  uint32_t mask;
  float offset;
};

__device__ static Unpack
unpack_of(const CnvPlane &a)
{
  return {a.component[0].shift, (1u << a.component[0].bits) - 1, INTEGERS + a.mid[0]};
}

/* Returns the value of a sample: its level minus mid. Staged planes have values already. */
template <typename T>
__device__ static float
value_of(T sample, const Unpack &u)
{
  return __uint_as_float(__float_as_uint(INTEGERS) | ((uint32_t)sample >> u.shift & u.mask)) - u.offset;
}

__device__ static float
value_of(float sample, const Unpack &)
{
  return sample;
}

/* Reads a sample through __ldg. The input is not written meanwhile, so the compiler may move loads ahead of stores to
 * shared memory, and they wait for DRAM together. */
template <typename T>
__device__ static T
load_sample(const T *at)
{
  return __ldg(at);
}

/* Returns the bits of a sample or word of 1, 2 or 4 bytes. */
__device__ static uint32_t
load_bits(uint64_t at, int bytes)
{
  return bytes == 1   ? load_sample((const uint8_t *)at)
         : bytes == 2 ? load_sample((const uint16_t *)at)
                      : load_sample((const uint32_t *)at);
}

__device__ static void
store_bits(uint64_t at, int bytes, uint32_t bits)
{
  if (bytes == 1)
    *(uint8_t *)at = (uint8_t)bits;
  else if (bytes == 2)
    *(uint16_t *)at = (uint16_t)bits;
  else
    *(uint32_t *)at = bits;
}

/* Returns the address of sample s of row y of the window. */
__device__ static uint64_t
input_at(const CnvBlock &b, int s, int y)
{
  return b.in + (int64_t)y * b.in_stride + (int64_t)s * b.bytes;
}

/* The sources that a term reads: `first` up to `last` - 1. */
struct Range {
  int first, last;
};

__device__ static Range
sources_of(const CnvBlock &b, const CnvTerm &t)
{
  return t.temporal_tap < 0 ? Range{0, b.sources.n} : Range{t.temporal_tap, t.temporal_tap + 1};
}

/* Returns the border value of a missing sample, summed over the input frames; 0 if renormalize leaves it out. */
__device__ static float
missing(const CnvBlock &b, const Range &r, int channel)
{
  float weight = 0;

  if (!cnv_border_has_value((CnvBorder)b.a.border))
    return 0;
  for (int i = r.first; i < r.last; i++)
    weight += b.sources.weight[i];
  return weight * b.a.border_value[channel];
}

/* Returns the value of a pixel's channel, summed over the input frames, with borders resolved. */
__device__ static float
fetch(const CnvBlock &b, const Range &r, int x, int y, int channel)
{
  const int ix = cnv_border_index((CnvBorder)b.a.border, x, b.width);
  const int iy = cnv_border_index((CnvBorder)b.a.border, y, b.height);
  float sum = 0;

  if (ix < 0 || iy < 0)
    return missing(b, r, channel);
  const uint64_t at = input_at(b, ix * b.a.channels + channel, iy);
  const Unpack unpack = unpack_of(b.a);
  for (int i = r.first; i < r.last; i++) {
    const uint32_t bits = load_bits(at + b.sources.delta[i], b.bytes);

    sum = fmaf(b.sources.weight[i], b.a.plain ? value_of(bits, unpack) : __uint_as_float(bits), sum);
  }
  return sum;
}

/* Numbers of a channel that convert sums to levels, in registers as well. */
struct Epilogue {
  bool absolute;
  float mid_bias, gain, fraction, lowest, highest;
  int base;
};

__device__ static Epilogue
epilogue_of(const CnvPlane &a, int channel)
{
  return {a.combine == CNV_COMBINE_ABSOLUTE,
          a.mid_bias[channel],
          a.gain[channel],
          a.fraction[channel],
          a.lowest[channel],
          a.highest[channel],
          a.base[channel]};
}

/* Converts a number between lowest and highest to a level. One rounding, ties to even: base is an even integer. */
__device__ static uint32_t
level_of(float value, const Epilogue &e)
{
  return __float2int_rn(value) + e.base;
}

/* Returns a sum times gain plus fraction, clamped: v of plan.h. */
__device__ static float
value_of_sum(float acc, const Epilogue &e)
{
  const float sum = e.absolute ? fabsf(acc + e.mid_bias) : acc;

  return fminf(fmaxf(fmaf(sum, e.gain, e.fraction), e.lowest), e.highest);
}

/* Blends v with the input's level by the region's weight. */
__device__ static float
blend(float value, float level, float weight, const Epilogue &e)
{
  return fmaf(1.0f - weight, level - (float)e.base - value, value);
}

/* Returns the weight of the job's pixel (px, py). */
__device__ static float
weight_at(const CnvBlock &b, int px, int py)
{
  if (b.job.coverage_pitch == 0)
    return 1.0f;
  return (float)__ldg(cnv_job_weights(&b.job, (const uint8_t *)b.coverage, b.job.x + px, b.job.y + py)) / 255.0f;
}

/* Returns the threshold over time of a plane of the format, as a fraction of full scale. */
__device__ static float
threshold_of(const CnvThresholds &thresholds, int plane)
{
  return thresholds.measured ? __ldcg((const float *)thresholds.measured + plane) : thresholds.given[plane];
}

/* ---- renormalize ---- */

/* Returns S/P of border.h. */
__device__ static float
restore_sum(float sum, float found, float epsilon)
{
  return fabsf(found) > epsilon ? sum / found : 0.0f;
}

/* Returns the sum of those taps of an axis that meet one of n samples, by prefix sums. first: index of the sample below
 * the first tap. */
__device__ static float
axis_found(unsigned taps, int n_taps, int first, int n)
{
  const int begin = max(0, -first), end = min(n_taps, n - first);
  const float *prefix = cnv_taps + taps + n_taps;

  return begin < end ? prefix[end] - prefix[begin] : 0.0f;
}

/* Returns S/P for one axis of separable taps; 1 if no sample is missing. */
__device__ static float
axis_factor(unsigned taps, int n_taps, float sum, float epsilon, int first, int n)
{
  return inside(first, n_taps, n) ? 1.0f : restore_sum(sum, axis_found(taps, n_taps, first, n), epsilon);
}

/* Returns the sum of the taps of a term that meet a sample. x, y: position of its first tap. */
__device__ static float
term_found(const CnvBlock &b, const CnvTerm &t, int x, int y)
{
  float found = 0;

  if (t.separable)
    return axis_found(t.taps[CNV_X], t.n[CNV_X], x, b.width) * axis_found(t.taps[CNV_Y], t.n[CNV_Y], y, b.height);
  for (int j = max(0, -y); j < min(t.n[CNV_Y], b.height - y); j++) {
    float row = 0;

    for (int i = max(0, -x); i < min(t.n[CNV_X], b.width - x); i++)
      row += cnv_taps[t.taps[CNV_X] + i * t.n[CNV_Y] + j];
    found += row;
  }
  return found;
}

/* Returns S/P for a single separable term, axis by axis. */
__device__ static float
separable_factor(const CnvBlock &b, const CnvTerm &t, int x, int y)
{
  return axis_factor(t.taps[CNV_X], t.n[CNV_X], t.sum[CNV_X], t.epsilon[CNV_X], x - t.anchor[CNV_X], b.width) *
         axis_factor(t.taps[CNV_Y], t.n[CNV_Y], t.sum[CNV_Y], t.epsilon[CNV_Y], y - t.anchor[CNV_Y], b.height);
}

/* Returns S/P for the sum of n terms. Terms of a 3D kernel are weighted by their frames. Terms of missing frames do
 * not count. */
__device__ static float
sum_factor(const CnvBlock &b, const CnvTerm *terms, int n, int x, int y)
{
  const bool over_time = b.a.joint && terms->temporal_tap >= 0;
  bool all = true;
  float found = 0, sum = 0;

  for (const CnvTerm *t = terms; t < terms + n; t++) {
    const int first_x = x - t->anchor[CNV_X], first_y = y - t->anchor[CNV_Y];
    const float weight = over_time ? b.sources.weight[t->temporal_tap] : 1.0f;

    if (weight == 0.0f)
      continue;
    all = all && inside(first_x, t->n[CNV_X], b.width) && inside(first_y, t->n[CNV_Y], b.height);
    found = fmaf(weight, term_found(b, *t, first_x, first_y), found);
    sum = fmaf(weight, t->sum[CNV_X] * t->sum[CNV_Y], sum);
  }
  if (all)
    return 1.0f;
  return restore_sum(b.a.joint && !over_time ? b.a.sum : sum, found, b.a.joint ? b.a.epsilon : terms->epsilon[CNV_X]);
}

/* Adds a term's sum at (x, y) of the window to the sum of the previous terms. */
__device__ static float
add_term(const CnvBlock &b, float total, float acc, const CnvTerm &t, int x, int y)
{
  if (cnv_border_renormalizes((CnvBorder)b.a.border) && !b.a.joint)
    acc *= t.separable ? separable_factor(b, t, x, y) : sum_factor(b, &t, 1, x, y);
  return b.a.combine == CNV_COMBINE_MAGNITUDE ? fmaf(acc, acc, total) : total + acc;
}

/* Returns the sum of all terms. */
__device__ static float
terms_epilogue(const CnvBlock &b, float total, int x, int y)
{
  if (cnv_border_renormalizes((CnvBorder)b.a.border) && b.a.joint)
    total *= sum_factor(b, b.a.term, b.a.n_terms, x, y);
  return b.a.combine == CNV_COMBINE_MAGNITUDE ? sqrtf(total) : total;
}

/* Stores n samples one below the other: sample s of row y of the job and those below it. Input: the sums of all terms,
 * `pitch` apart. Staged planes get the sums themselves, which stage_out converts. */
__device__ static void
store_samples(const CnvBlock &b, int s, int y, const float *sum, int pitch, int n)
{
  const int channel = s % b.a.channels, x = s / b.a.channels, bytes = b.bytes, shift = b.a.component[0].shift;
  const bool plain = b.a.plain, filtered = b.a.filtered >> channel & 1;
  const Epilogue e = epilogue_of(b.a, channel);
  const Unpack unpack = unpack_of(b.a);
  const int64_t in_stride = b.in_stride, out_stride = b.out_stride;
  uint64_t back = b.back + y * in_stride + (int64_t)s * bytes, out = b.out + y * out_stride + (int64_t)s * bytes;

#pragma unroll 1
  for (int k = 0; k < n; k++, back += in_stride, out += out_stride) {
    const float weight = weight_at(b, x, y + k);
    const float total = terms_epilogue(b, sum[k * pitch], b.x + x, b.y + y + k);
    uint32_t bits = __float_as_uint(total);

    if (weight == 0.0f)
      continue;
    if (plain && !filtered) {
      bits = load_bits(back, bytes);
    } else if (plain) {
      float value = value_of_sum(total, e);

      if (weight < 1.0f)
        value = blend(value, value_of(load_bits(back, bytes), unpack) + b.a.mid[0], weight, e);
      bits = level_of(value, e) << shift;
    }
    store_bits(out, bytes, bits);
  }
}
