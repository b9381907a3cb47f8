/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Planes that are not plain arrays of samples (packed 4:2:2, 10-bit RGB in words, colours weighted by alpha) go through
 * a staged form: float32 lanes side by side, which the other kernels filter like any samples. stage_in makes it of a
 * frame, stage_out makes samples of the filtered lanes.
 */
#pragma once

#include "gpu/kernels/block.cuh"

__device__ static uint32_t
lane_mask(const CnvLaneArgs &lane)
{
  return (1u << lane.bits) - 1;
}

/* All bits that are read at once for a pixel of a lane. */
__device__ static uint32_t
load_raw(uint64_t pixel, const CnvLaneArgs &lane)
{
  const uint64_t from = pixel + lane.offset;

  return lane.bytes == 1 ? *(const uint8_t *)from : lane.bytes == 2 ? *(const uint16_t *)from : *(const uint32_t *)from;
}

__device__ static uint64_t
lane_pixel(const uint64_t (&base)[CNV_ARGS_PLANES], const int (&stride)[CNV_ARGS_PLANES], const CnvLaneArgs &lane,
           int64_t x, int64_t y)
{
  return pick(base, lane.memory) + y * pick(stride, lane.memory) + x * lane.step;
}

__device__ static float
lane_value(uint64_t pixel, const CnvLaneArgs &lane)
{
  return (float)(load_raw(pixel, lane) >> lane.shift & lane_mask(lane));
}

/* The mean over the pixels of a full-size plane that one of a subsampled plane stands for, all in one field. */
__device__ static float
lane_mean(const Block &b, const CnvLaunchArgs &l, const CnvLaneArgs &lane, int x, int y)
{
  const int x0 = x << lane.sub_x, x1 = min(x0 + (1 << lane.sub_x), b.a.image_width);
  const int field = b.patch.field, fields = b.patch.fields;
  const int rows = (b.a.image_height - field + fields - 1) / fields;
  const int y0 = y << lane.sub_y, y1 = min(y0 + (1 << lane.sub_y), rows);
  float sum = 0;

  for (int iy = y0; iy < y1; iy++)
    for (int ix = x0; ix < x1; ix++)
      sum += lane_value(lane_pixel(l.in, l.in_stride, lane, ix, iy * fields + field), lane);
  return sum / (float)((x1 - x0) * (y1 - y0));
}

/* A thread a pixel of a patch that is the whole plane or field. */
__device__ static void
stage_in(const Block &b, const Place &at, const CnvLaunchArgs &l)
{
  const int x = at.bx * CNV_POINT_WIDTH + threadIdx.x, y = at.by * CNV_POINT_HEIGHT + threadIdx.y, p = b.patch.plane;

  if (x >= b.patch.width || y >= b.patch.height)
    return;
  const int64_t row = (int64_t)y * b.patch.fields + b.patch.field;
  float *to = (float *)(pick(l.staged_in, p) + row * pick(l.staged_stride, p)) + x * b.a.channels;
  const float weight = b.a.weight < 0 ? 1.0f : lane_mean(b, l, b.a.lane[b.a.weight], x, y);

  for (int c = 0; c < b.a.channels; c++) {
    const CnvLaneArgs &lane = b.a.lane[c];

    to[c] = c == b.a.weight ? weight
                            : weight * (lane_value(lane_pixel(l.in, l.in_stride, lane, x, row), lane) - b.a.mid[c]);
  }
}

/* What lane c becomes of its sum, as a level. own: the input's level there, which stays where all is transparent; back:
 * that at the place written. */
__device__ static uint32_t
lane_level(const Block &b, const float *acc, int c, float own, float back, float weight)
{
  float value = finish(acc[c], c, b.a);

  if (b.a.weight >= 0 && c != b.a.weight) {
    const float alpha = acc[b.a.weight];
    const bool clear = fabsf(alpha) <= b.a.whole_least * (float)lane_mask(b.a.lane[b.a.weight]);

    value = clear ? own - (float)b.a.base[c] : finish(acc[c] * (b.a.whole / alpha), c, b.a);
  }
  return level_of(blend(value, back, weight, c, b.a), c, b.a);
}

/* A thread a pixel of the patch. */
__device__ static void
stage_out(const Block &b, const Place &at, const CnvLaunchArgs &l)
{
  const int px = at.bx * CNV_POINT_WIDTH + threadIdx.x, py = at.by * CNV_POINT_HEIGHT + threadIdx.y;
  const CnvPatch &patch = b.patch;

  if (px >= patch.width || py >= patch.height)
    return;
  const float weight = weight_at(b, at, px, py);
  if (weight == 0.0f)
    return;
  const int64_t row = (int64_t)(patch.y + py) * patch.fields + patch.field, x = patch.x + px;
  const int64_t to_row = row + (int64_t)patch.move_y * patch.fields, to_x = x + patch.move_x;
  const float *acc =
      (const float *)(pick(l.staged_out, patch.plane) + row * pick(l.staged_stride, patch.plane)) + x * b.a.channels;
  uint32_t word = 0;

  for (int c = 0; c < b.a.channels; c++) {
    const CnvLaneArgs &lane = b.a.lane[c];
    uint64_t to = lane_pixel(l.out, l.out_stride, lane, to_x, to_row) + lane.offset;

    if (lane.bytes == 4 && c == 0)
      word = load_raw(lane_pixel(l.in, l.in_stride, lane, to_x, to_row), lane);
    if (!(b.a.filtered >> c & 1))
      continue;
    const float own = lane_value(lane_pixel(l.in, l.in_stride, lane, x, row), lane);
    const float back = lane_value(lane_pixel(l.in, l.in_stride, lane, to_x, to_row), lane);
    const uint32_t level = lane_level(b, acc, c, own, back, weight) << lane.shift;

    if (lane.bytes == 1)
      *(uint8_t *)to = (uint8_t)level;
    else if (lane.bytes == 2)
      *(uint16_t *)to = (uint16_t)level;
    else
      word = (word & ~(lane_mask(lane) << lane.shift)) | level;
  }
  if (b.a.lane[0].bytes == 4)
    *(uint32_t *)lane_pixel(l.out, l.out_stride, b.a.lane[0], to_x, to_row) = word;
}
