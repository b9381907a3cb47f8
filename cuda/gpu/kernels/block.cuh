/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Common to all kernels: a block's work, samples read and written, borders and renormalize.
 *
 * T is the sample type: uint8_t, uint16_t, or float for the components of a staged plane. A row is a flat array of
 * samples in which neighbours of a channel are C apart. Coordinates are relative to the job's window, beyond which the
 * border lies; rows are those of the field.
 */
#pragma once

#include "gpu/kernels/arguments.h"

/* The taps: constant memory of this instance's own module. */
extern "C" {
__constant__ float cnv_taps[CNV_CONSTANT_TAPS];
}

extern __shared__ float cnv_shared[];

/* Values of CnvCombine. */

/* Conversions between integers and float32 run at an eighth of the rate of additions or less, so both ways go through a
 * number whose low bits are the integer: 2^23 + i for i from 0 on, and 1.5 * 2^23 + i, which rounds to nearest, ties to
 * even, for i of either sign. */
#define INTEGERS 8388608.0f
#define SIGNED_INTEGERS 12582912.0f

/* A block's job: in shared memory, or among the kernel's arguments. */
typedef CnvBlock Block;

/* The block's part of the job. */
struct BlockCoord {
  int bx, by, term;
  uint64_t sums, mask_rects; /* of the launch */
  int pointers;              /* of the job */
};

/* An entry of an array among the kernel's arguments: chosen by comparison, since an index known only at run time would
 * move the arguments to local memory. */
template <typename V>
__device__ static V
pick(const V (&array)[CNV_MAX_PLANES], int i)
{
  return i < 2 ? (i < 1 ? array[0] : array[1]) : (i < 3 ? array[2] : array[3]);
}

/* The last unit that begins at or before the block. */
__device__ static CnvUnit
find_unit(const CnvLaunchArgs &l)
{
  const CnvUnit *units = (const CnvUnit *)l.units;
  int low = 0, high = l.n_units - 1;

  while (low < high) {
    const int middle = (low + high + 1) / 2;

    if (__ldg(&units[middle].first_block) <= (int)blockIdx.x)
      low = middle;
    else
      high = middle - 1;
  }
  return units[low];
}

template <typename S>
__device__ static void
copy_words(S *to, const S *from, int thread, int threads)
{
  for (int i = thread; i < (int)(sizeof(S) / 4); i += threads)
    ((uint32_t *)to)[i] = __ldg((const uint32_t *)from + i);
}

/* The beginning of kernels that work on units: loads the block's job and finds its part of it. */
template <typename T>
__device__ static BlockCoord
load_job(Block &b, const CnvLaunchArgs &l)
{
  const int thread = threadIdx.y * blockDim.x + threadIdx.x, threads = blockDim.x * blockDim.y;
  const CnvUnit unit = find_unit(l);
  const CnvRectArgs *from = (const CnvRectArgs *)l.jobs + unit.job;
  const int block = blockIdx.x - unit.first_block, by = block / unit.blocks_x;

  copy_words(&b.a, (const CnvPlane *)l.planes + __ldg(&from->plane_args), thread, threads);
  copy_words(&b.job, &from->job, thread, threads);
  for (int i = thread; i < l.sources.n; i += threads) {
    b.sources.weight[i] = l.sources.weight[i];
    b.sources.delta[i] = l.sources.delta[i];
  }
  __syncthreads();
  if (thread == 0) {
    const int i = from->pointers;

    for (int t = 0; t < CNV_MAX_TERMS; t++)
      b.sums[t] = from->sums[t];
    b.sums_stride = from->sums_stride;
    b.sources.n = l.sources.n;
    cnv_block_locate(&b, pick(l.in, i), pick(l.in_stride, i), pick(l.out, i), pick(l.out_stride, i), sizeof(T));
  }
  __syncthreads();
  return {block - by * unit.blocks_x, by, unit.term, l.sums, l.mask_rects, __ldg(&from->pointers)};
}

/* Conversion of samples to values. A copy in registers: shared memory is read again after every store there. */
struct Samples {
  uint32_t mask;
  int shift;
  float offset;
};

template <typename T>
__device__ static Samples
samples_of(const CnvPlane &a)
{
  return {sizeof(T) == 1 ? 0xff : (1u << a.component[0].bits) - 1, sizeof(T) == 2 ? a.component[0].shift : 0,
          INTEGERS + a.mid[0]};
}

template <typename T>
__device__ static float
unpack(uint32_t sample, const Samples &samples)
{
  return __uint_as_float(__float_as_uint(INTEGERS) | (sample >> samples.shift & samples.mask)) - samples.offset;
}

template <>
__device__ float
unpack<uint8_t>(uint32_t sample, const Samples &samples)
{
  return __uint_as_float(__float_as_uint(INTEGERS) | (sample & 0xff)) - samples.offset;
}

template <>
__device__ float
unpack<float>(uint32_t sample, const Samples &samples)
{
  return __uint_as_float(sample);
}

/* A number between lowest and highest to a level. One rounding, ties to even: base is an even integer. */
__device__ static uint32_t
level_of(float value, int channel, const CnvPlane &a)
{
  return __float_as_uint(value + SIGNED_INTEGERS) - __float_as_uint(SIGNED_INTEGERS) + a.base[channel];
}

/* A sum with gain and fraction, clamped: v of plan.h. */
__device__ static float
epilogue(float acc, int channel, const CnvPlane &a)
{
  const float sum = a.combine == CNV_COMBINE_ABSOLUTE ? fabsf(acc + a.mid_bias[channel]) : acc;

  return fminf(fmaxf(fmaf(sum, a.gain[channel], a.fraction[channel]), a.lowest[channel]), a.highest[channel]);
}

/* Between v and the input's level, by the region's weight. */
__device__ static float
blend(float value, float level, float weight, int channel, const CnvPlane &a)
{
  return fmaf(1.0f - weight, level - (float)a.base[channel] - value, value);
}

/* Samples are read through __ldg: the input is not written meanwhile, and so loads may be moved ahead of stores to
 * shared memory and wait for DRAM together. */
template <typename T>
__device__ static T
load_sample(const T *at)
{
  return __ldg(at);
}

template <typename T>
__device__ static const T *
input_row(const Block &b, int y)
{
  return (const T *)(b.in + (int64_t)y * b.in_stride);
}

template <typename T>
__device__ static uint32_t
bits_of(T sample)
{
  return sample;
}

template <>
__device__ uint32_t
bits_of<float>(float sample)
{
  return __float_as_uint(sample);
}

/* The sources that a term reads: from first up to but without last. Of `in` alone the first is number -1. */
struct Range {
  int first, last;
};

__device__ static Range
sources_of(const Block &b, const CnvTerm &t)
{
  if (b.sources.n == 0)
    return {-1, 0};
  return t.temporal_tap < 0 ? Range{0, b.sources.n} : Range{t.temporal_tap, t.temporal_tap + 1};
}

__device__ static float
source_weight(const Block &b, int source)
{
  return source < 0 ? 1.0f : b.sources.weight[source];
}

__device__ static int64_t
source_delta(const Block &b, int source)
{
  return source < 0 ? 0 : b.sources.delta[source];
}

/* Border value of a missing sample, summed over the input frames. */
__device__ static float
missing(const Block &b, const Range &r, int channel)
{
  float weight = 0;

  if (!cnv_border_has_value((CnvBorder)b.a.border))
    return 0;
  for (int i = r.first; i < r.last; i++)
    weight += source_weight(b, i);
  return weight * b.a.border_value[channel];
}

/* Value of a pixel's channel, summed over the input frames, borders resolved; 0 where renormalize leaves it out. */
template <typename T>
__device__ static float
fetch(const Block &b, const Range &r, int C, int x, int y, int channel)
{
  const int ix = cnv_border_index((CnvBorder)b.a.border, x, b.width);
  const int iy = cnv_border_index((CnvBorder)b.a.border, y, b.height);
  float sum = 0;

  if (ix < 0 || iy < 0)
    return missing(b, r, channel);
  const uint64_t at = (uint64_t)(input_row<T>(b, iy) + ix * C + channel);
  for (int i = r.first; i < r.last; i++)
    sum +=
        source_weight(b, i) * unpack<T>(bits_of(load_sample((const T *)(at + source_delta(b, i)))), samples_of<T>(b.a));
  return sum;
}

/* Weight of the job's sample (px, py); 1 in a job without mask rectangles. */
__device__ static float
weight_at(const Block &b, const BlockCoord &at, int px, int py)
{
  if (b.job.n_mask_rects == 0)
    return 1.0f;
  return cnv_rect_job_weight(&b.job, (const CnvMaskRect *)at.mask_rects, b.job.x + px, b.job.y + py);
}

/* Sample s of row y of the job where its weight is 1: filtered, or copied. */
template <typename T>
__device__ static T
result(const Block &b, int C, int s, int y, float acc)
{
  const int channel = C == 1 ? 0 : s % C;

  if (C > 1 && !(b.a.filtered >> channel & 1))
    return load_sample((const T *)(b.back + (int64_t)y * b.back_stride) + s);
  const uint32_t level = level_of(epilogue(acc, channel, b.a), channel, b.a);
  return (T)(sizeof(T) == 1 ? level : level << b.a.component[0].shift);
}

/* Stores one sample of the job, by its weight. Staged planes get the sum, of which stage_out makes the sample. */
template <typename T>
__device__ static void
store_sample(const Block &b, const BlockCoord &at, int C, int s, int y, float acc)
{
  const int channel = C == 1 ? 0 : s % C;
  T *to = (T *)(b.out + (int64_t)y * b.out_stride) + s;
  const float weight = weight_at(b, at, s / C, y);

  if (weight == 0.0f)
    return;
  if (weight == 1.0f || !(b.a.filtered >> channel & 1)) {
    *to = result<T>(b, C, s, y, acc);
    return;
  }
  const uint32_t back = load_sample((const T *)(b.back + (int64_t)y * b.back_stride) + s);
  const float level = unpack<T>(back, samples_of<T>(b.a)) + b.a.mid[0];
  const uint32_t out = level_of(blend(epilogue(acc, channel, b.a), level, weight, channel, b.a), channel, b.a);
  *to = (T)(sizeof(T) == 1 ? out : out << b.a.component[0].shift);
}

template <>
__device__ void
store_sample<float>(const Block &b, const BlockCoord &at, int C, int s, int y, float acc)
{
  if (weight_at(b, at, s / C, y) != 0.0f)
    ((float *)(b.out + (int64_t)y * b.out_stride))[s] = acc;
}

__device__ static bool
inside(int first, int count, int n)
{
  return first >= 0 && first + count <= n;
}

/* Taps that find a sample when their first lies on index `first` of n samples: from begin, up to but without end. */
struct Present {
  int begin, end;
};

__device__ static Present
present(int first, int taps, int n)
{
  return {max(0, -first), max(0, min(taps, n - first))};
}

/* S/P of border.h. */
__device__ static float
restore_sum(float sum, float found, float epsilon)
{
  return fabsf(found) > epsilon ? sum / found : 0.0f;
}

/* The sum of an axis' taps that find a sample, by its prefix sums. */
__device__ static float
axis_found(unsigned taps, int n_taps, int first, int n)
{
  const Present p = present(first, n_taps, n);
  const float *prefix = cnv_taps + taps + n_taps;

  return p.begin >= p.end ? 0.0f : prefix[p.end] - prefix[p.begin];
}

/* S/P for one axis of separable taps; 1 where none is missing. */
__device__ static float
axis_factor(unsigned taps, int n_taps, float sum, float epsilon, int first, int n)
{
  if (inside(first, n_taps, n))
    return 1.0f;
  return restore_sum(sum, axis_found(taps, n_taps, first, n), epsilon);
}

__device__ static float
x_factor(const Block &b, const CnvTerm &t, int x)
{
  return axis_factor(t.taps[CNV_X], t.n[CNV_X], t.sum[CNV_X], t.epsilon[CNV_X], x - t.anchor[CNV_X], b.width);
}

__device__ static float
y_factor(const Block &b, const CnvTerm &t, int y)
{
  return axis_factor(t.taps[CNV_Y], t.n[CNV_Y], t.sum[CNV_Y], t.epsilon[CNV_Y], y - t.anchor[CNV_Y], b.height);
}

/* The sum of the taps of a term that find a sample. */
__device__ static float
term_found(const Block &b, const CnvTerm &t, int x, int y)
{
  const int first_x = x - t.anchor[CNV_X], first_y = y - t.anchor[CNV_Y];
  const Present px = present(first_x, t.n[CNV_X], b.width), py = present(first_y, t.n[CNV_Y], b.height);
  float found = 0;

  if (t.separable)
    return axis_found(t.taps[CNV_X], t.n[CNV_X], first_x, b.width) *
           axis_found(t.taps[CNV_Y], t.n[CNV_Y], first_y, b.height);
  for (int j = py.begin; j < py.end; j++) {
    float row = 0;

    for (int i = px.begin; i < px.end; i++)
      row += cnv_taps[t.taps[CNV_X] + i * t.n[CNV_Y] + j];
    found += row;
  }
  return found;
}

__device__ static bool
finds_all(const Block &b, const CnvTerm &t, int x, int y)
{
  return inside(x - t.anchor[CNV_X], t.n[CNV_X], b.width) && inside(y - t.anchor[CNV_Y], t.n[CNV_Y], b.height);
}

/* Factor of renormalize for a term that stands alone: one of a magnitude, or the only one. */
__device__ static float
term_factor(const Block &b, const CnvTerm &t, int x, int y)
{
  if (finds_all(b, t, x, y))
    return 1.0f;
  return t.separable ? x_factor(b, t, x) * y_factor(b, t, y)
                     : restore_sum(t.sum[CNV_X], term_found(b, t, x, y), t.epsilon[CNV_X]);
}

/* The same for the sum of several terms. Those of a 3D kernel count by the weights of their frames, and those whose
 * frame is missing not at all. */
__device__ static float
joint_factor(const Block &b, int x, int y)
{
  bool all = true;
  float found = 0, sum = 0;

  for (int i = 0; i < b.a.n_terms; i++) {
    const CnvTerm &t = b.a.term[i];
    const float weight = t.temporal_tap < 0 || b.sources.n == 0 ? 1.0f : b.sources.weight[t.temporal_tap];

    if (weight == 0.0f)
      continue;
    all = all && finds_all(b, t, x, y);
    found = fmaf(weight, term_found(b, t, x, y), found);
    sum = fmaf(weight, t.separable ? t.sum[CNV_X] * t.sum[CNV_Y] : t.sum[CNV_X], sum);
  }
  return all ? 1.0f : restore_sum(b.a.term[0].temporal_tap < 0 ? b.a.sum : sum, found, b.a.epsilon);
}

__device__ static bool
renormalizes(const Block &b)
{
  return cnv_border_renormalizes((CnvBorder)b.a.border);
}

/* Adds a term's sum at (x, y) of the window to those of the terms before it. */
__device__ static float
add_term(const Block &b, float total, float acc, const CnvTerm &t, int x, int y)
{
  if (renormalizes(b) && !b.a.joint)
    acc *= term_factor(b, t, x, y);
  return b.a.combine == CNV_COMBINE_MAGNITUDE ? fmaf(acc, acc, total) : total + acc;
}

/* The sum of all terms. */
__device__ static float
terms_epilogue(const Block &b, float total, int x, int y)
{
  if (renormalizes(b) && b.a.joint)
    total *= joint_factor(b, x, y);
  return b.a.combine == CNV_COMBINE_MAGNITUDE ? sqrtf(total) : total;
}

__device__ static float
multiply_add(float v, float t, float acc)
{
  return fmaf(v, t, acc);
}

__device__ static float2
multiply_add(float2 v, float t, float2 acc)
{
  return make_float2(fmaf(v.x, t, acc.x), fmaf(v.y, t, acc.y));
}

/* Adds n taps to CNV_OUTPUTS neighbouring outputs. Output k takes value number k + j with tap j; each value is read
 * once and kept in registers while it slides past. V: float, or float2 for two columns at once. Value number i lies at
 * offset(i) from src, and so again from src + group for the next CNV_OUTPUTS. */
template <typename V, typename Offset>
__device__ static void
slide(V (&acc)[CNV_OUTPUTS], const V *src, Offset offset, int group, const float *taps, int n)
{
  V v[CNV_OUTPUTS];

#pragma unroll
  for (int k = 0; k < CNV_OUTPUTS - 1; k++)
    v[k] = src[offset(k)];
  while (n > 0) {
#pragma unroll
    for (int j = 0; j < CNV_OUTPUTS; j++) {
      if (j < n) {
        float t = taps[j];

        v[(j + CNV_OUTPUTS - 1) % CNV_OUTPUTS] = src[offset(j + CNV_OUTPUTS - 1)];
#pragma unroll
        for (int k = 0; k < CNV_OUTPUTS; k++)
          acc[k] = multiply_add(v[(j + k) % CNV_OUTPUTS], t, acc[k]);
      }
    }
    n -= CNV_OUTPUTS;
    src += group;
    taps += CNV_OUTPUTS;
  }
}

/* Samples are loaded by aligned words of 32 bits where a line allows: a word may reach 3 bytes past it on either side,
 * and with 4 more pixels there it stays inside the row. Samples past the line are stored as well, into slack that
 * shared memory has on both sides, which costs less than to tell them apart. */
__device__ static bool
inside_by_words(const Block &b, int x, int pixels)
{
  return inside(x - 4, pixels + 8, b.width);
}

/* Hands the samples of word number w of a line to put(s, value), s being -3 to samples + 2. Does nothing past the last.
 */
template <typename T, typename Put>
__device__ static void
load_word(const T *line, int n, int w, const Samples &samples, Put put)
{
  constexpr int per_word = 4 / sizeof(T);
  const int skipped = (int)((uint64_t)line & 3) / (int)sizeof(T); /* samples of the first word before the line */

  if (w * per_word >= skipped + n)
    return;
  const uint32_t word = __ldg((const uint32_t *)(line - skipped) + w);
#pragma unroll
  for (int i = 0; i < per_word; i++)
    put(w * per_word + i - skipped, unpack<T>(word >> (i * 8 * (int)sizeof(T) % 32), samples));
}

/* Adds one input frame's value to a float in shared memory. */
__device__ static void
add_source(float &slot, bool first, float weight, float value)
{
  slot = first ? weight * value : fmaf(weight, value, slot);
}

/* Words that a line of so many samples can touch, wherever it begins. */
template <typename T>
__device__ static int
words_of(int samples)
{
  constexpr int per_word = 4 / sizeof(T);

  return (samples + 2 * (per_word - 1)) / per_word;
}

/* Puts a thread's outputs into shared memory of its own, so that rare paths store them by a loop rather than by code
 * written out eight times. */
template <typename V>
__device__ static V *
stash(const V (&total)[CNV_OUTPUTS])
{
  V *own = (V *)cnv_shared + CNV_OUTPUTS * (threadIdx.y * blockDim.x + threadIdx.x);

  __syncthreads();
#pragma unroll
  for (int k = 0; k < CNV_OUTPUTS; k++)
    own[k] = total[k];
  return own;
}
