/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Planes that are not plain arrays of samples (packed 4:2:2, 10-bit RGB in words, colours weighted by alpha, samples
 * weighted by coverage) have a staged form: float32 components side by side, which the other kernels filter like any
 * samples. stage_in computes it from a frame; stage_out converts the filtered components to samples.
 */
#pragma once

#include "gpu/kernels/block.cuh"

__device__ static uint32_t
component_mask(const CnvComponent &component)
{
  return (1u << component.bits) - 1;
}

__device__ static uint64_t
component_at(const CnvAddresses &planes, const CnvComponent &component, int64_t x, int64_t row)
{
  const int m = component.plane;

  return planes.address[m] + row * planes.stride[m] + x * component.step + component.offset;
}

/* Returns the level of a component, of the input or of the frame `delta` bytes after it. */
__device__ static float
input_level(const CnvBlockArgs &l, const CnvComponent &component, int64_t x, int64_t row, int64_t delta = 0)
{
  const uint32_t word = load_bits(component_at(l.in, component, x, row) + delta, component.bytes);

  return (float)(word >> component.shift & component_mask(component));
}

/* Returns the mean over those pixels of a full-size plane that correspond to one pixel of a subsampled plane, in one
 * field. */
__device__ static float
mean_level(const CnvBlock &b, const CnvBlockArgs &l, const CnvComponent &component, int x, int y)
{
  const int x0 = x << component.sub_x, x1 = min(x0 + (1 << component.sub_x), b.a.image_width);
  const int field = b.job.field, fields = b.job.fields;
  const int rows = (b.a.image_height - field + fields - 1) / fields;
  const int y0 = y << component.sub_y, y1 = min(y0 + (1 << component.sub_y), rows);
  float sum = 0;

  for (int iy = y0; iy < y1; iy++)
    for (int ix = x0; ix < x1; ix++)
      sum += input_level(l, component, ix, iy * fields + field);
  return sum / (float)((x1 - x0) * (y1 - y0));
}

/* Returns the weight of a pixel of the job: alpha, the job's coverage, or both. */
__device__ static float
stage_weight(const CnvBlock &b, const CnvBlockArgs &l, int px, int py)
{
  const CnvComponent &component = b.a.component[b.a.weight];
  const float alpha = component.bytes ? mean_level(b, l, component, b.job.x + px, b.job.y + py) : 1.0f;

  if (!b.a.covered)
    return alpha;
  if (b.job.coverage_pitch == 0)
    return alpha * CNV_WEIGHT_ONE;
  return alpha * __ldcg(cnv_job_weights(&b.job, (const uint8_t *)b.coverage, b.job.x + px, b.job.y + py));
}

/* Returns the coverage of a pixel of the window for a filter that weighs samples, else 1. */
__device__ static float
coverage_at(const CnvBlock &b, int x, int y)
{
  const CnvJob &job = b.job;

  if (!b.a.covered)
    return 1.0f;
  if (job.coverage_pitch == 0)
    return CNV_WEIGHT_ONE;
  if (x < job.x || y < job.y || x >= job.x + job.width || y >= job.y + job.height)
    return 0.0f;
  return __ldcg(cnv_job_weights(&job, (const uint8_t *)b.coverage, x, y));
}

/* Returns the value of component c of a pixel, averaged over time with a threshold (plan/plan.h), without the
 * sum of the weights. */
__device__ static float
average_value(const CnvBlock &b, const CnvBlockArgs &l, int c, int x, int y)
{
  const CnvComponent &component = b.a.component[c];
  const CnvJob &job = b.job;
  const CnvSources &sources = l.sources;
  const float threshold = threshold_of(l.thresholds, b.a.format_plane) * b.a.full[c];
  float weight[9], own[9], weights = 0, found = 0, sum = 0;
  int columns[3];
  int64_t rows[3];

#pragma unroll
  for (int i = 0; i < 3; i++) {
    const int row = min(max(y + i - 1, job.window_y), job.window_y + job.window_height - 1);

    columns[i] = min(max(x + i - 1, job.window_x), job.window_x + job.window_width - 1);
    rows[i] = (int64_t)row * job.fields + job.field;
  }
#pragma unroll
  for (int i = 0; i < 9; i++) {
    weight[i] = coverage_at(b, columns[i % 3], (int)(rows[i / 3] / job.fields));
    own[i] = input_level(l, component, columns[i % 3], rows[i / 3]);
    weights += weight[i];
  }
  const float scale = weights > 0 ? 1.0f / (weights * fmaxf(threshold, (float)CNV_THRESHOLD_LEAST)) : 0.0f;
#pragma unroll 1
  for (int k = 0; k < sources.n; k++) {
    float difference = 0, level = own[4];

#pragma unroll
    for (int i = 0; i < 9; i++) {
      const float other = input_level(l, component, columns[i % 3], rows[i / 3], sources.delta[k]);

      difference = fmaf(weight[i], other - own[i], difference);
      level = i == 4 ? other : level;
    }
    const float s = __saturatef(fmaf(fabsf(difference), -scale, 1.5f));
    const float close = sources.weight[k] * s * s * fmaf(s, -2.0f, 3.0f);

    found += close;
    sum = fmaf(close, level - b.a.mid[c], sum);
  }
  return sum / found;
}

/* stage_in: one thread per pixel. The job contains all pixels that are read: the whole plane or field, or those with
 * weights (CnvJob.weights). */
__device__ static void
stage_in(const CnvBlock &b, const CnvBlockArgs &l)
{
  const int px = b.block_x * CNV_POINT_WIDTH + threadIdx.x, py = b.block_y * CNV_POINT_HEIGHT + threadIdx.y;

  if (px >= b.job.width || py >= b.job.height)
    return;
  const int x = b.job.x + px, y = b.job.y + py;
  const int64_t row = (int64_t)y * b.job.fields + b.job.field;
  float *to = (float *)(l.staged_in.address[b.job.plane] + row * l.staged_in.stride[b.job.plane]) + x * b.a.channels;
  const float weight = b.a.weight < 0 ? 1.0f : stage_weight(b, l, px, py);

  for (int c = 0; c < b.a.channels; c++) {
    if (c == b.a.weight)
      to[c] = weight;
    else
      to[c] =
          weight * (l.averages ? average_value(b, l, c, x, y) : input_level(l, b.a.component[c], x, row) - b.a.mid[c]);
  }
}

/* Returns the level of component c from its sum. own: the input's level there, kept if all is transparent; back: the
 * input's level at the place of the output. */
__device__ static uint32_t
output_level(const CnvBlock &b, const float *acc, int c, float own, float back, float weight)
{
  const Epilogue e = epilogue_of(b.a, c);
  float value = value_of_sum(acc[c], e);

  if (b.a.weight >= 0 && c != b.a.weight) {
    const float alpha = acc[b.a.weight];
    const bool clear = fabsf(alpha) <= b.a.alpha_epsilon * b.a.full[b.a.weight];

    value = clear ? own - (float)e.base : value_of_sum(acc[c] * (b.a.alpha_norm / alpha), e);
  }
  return level_of(blend(value, back, weight, e), e);
}

/* stage_out: one thread per pixel of the job. */
__device__ static void
stage_out(const CnvBlock &b, const CnvBlockArgs &l)
{
  const int px = b.block_x * CNV_POINT_WIDTH + threadIdx.x, py = b.block_y * CNV_POINT_HEIGHT + threadIdx.y;
  const CnvJob &job = b.job;

  if (px >= job.width || py >= job.height)
    return;
  const float weight = weight_at(b, px, py);
  if (weight == 0.0f)
    return;
  const int64_t row = (int64_t)(job.y + py) * job.fields + job.field, x = job.x + px;
  const int64_t to_row = row + (int64_t)job.move_y * job.fields, to_x = x + job.move_x;
  const float *acc =
      (const float *)(l.staged_out.address[job.plane] + row * l.staged_out.stride[job.plane]) + x * b.a.channels;
  uint32_t word = 0, changes = 0; /* a word of several components */

  for (int c = 0; c < b.a.channels; c++) {
    const CnvComponent &component = b.a.component[c];
    const uint64_t to = component_at(l.out, component, to_x, to_row);

    if (component.bytes == 4 && c == 0)
      word = load_bits(component_at(l.in, component, to_x, to_row), 4);
    if (!(b.a.filtered >> c & 1))
      continue;
    const float own = input_level(l, component, x, row), back = input_level(l, component, to_x, to_row);
    const uint32_t level = output_level(b, acc, c, own, back, weight) << component.shift;

    if (component.bytes == 4)
      changes |= (word ^ level) & component_mask(component) << component.shift;
    else
      store_bits(to, component.bytes, level);
  }
  /* The other bits of the word are a copy of the input's; another plane may change them at the same time. */
  if (b.a.component[0].bytes == 4)
    atomicXor((uint32_t *)component_at(l.out, b.a.component[0], to_x, to_row), changes);
}
