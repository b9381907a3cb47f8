/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * texture: separable through the texture unit without shared memory, a thread a sample in both passes. Its cache takes
 * the place of the tile. Kept as the comparison that the literature makes.
 */
#pragma once

#include "gpu/kernels/separable.cuh"

template <typename T> struct Texel;
template <> struct Texel<uint8_t> {
  typedef unsigned char type;
};
template <> struct Texel<uint16_t> {
  typedef unsigned short type;
};
template <> struct Texel<float> {
  typedef float type;
};

template <typename T>
__device__ static float
fetch_texel(const Block &b, uint64_t texture, int64_t index)
{
  return unpack<T>(bits_of(tex1Dfetch<typename Texel<T>::type>(texture, (int)index)), samples_of<T>(b.a));
}

/* One sample of the row sums of a term. */
template <typename T>
__device__ static void
texture_rows(const Block &b, const BlockCoord &at, const CnvLaunchArgs &l)
{
  const CnvTerm &t = b.a.term[at.term];
  const int C = b.a.channels, s = at.bx * CNV_POINT_WIDTH + threadIdx.x, v = at.by * CNV_POINT_HEIGHT + threadIdx.y;
  const int x = b.x + s / C, channel = s % C;
  const Range range = sources_of(b, t);
  float acc = 0;

  if (s >= b.job.width * C || v >= b.job.height + t.n[CNV_Y] - 1)
    return;
  const int iy = cnv_border_index((CnvBorder)b.a.border, b.y + v - t.anchor[CNV_Y], b.height);
  const uint64_t texture = pick(l.texture, at.pointers);
  const int64_t row = pick(l.texture_first, at.pointers) + b.texture_offset + (int64_t)iy * b.texture_stride + channel;

  for (int i = 0; i < t.n[CNV_X]; i++) {
    const int ix = cnv_border_index((CnvBorder)b.a.border, x - t.anchor[CNV_X] + i, b.width);
    /* The texture is over one frame; a history is read by plain loads, which take the same way on the chip. */
    const float value = b.sources.n > 0
                            ? fetch<T>(b, range, C, x - t.anchor[CNV_X] + i, b.y + v - t.anchor[CNV_Y], channel)
                        : ix < 0 || iy < 0 ? missing(b, range, channel)
                                           : fetch_texel<T>(b, texture, row + ix * C);

    acc = fmaf(cnv_taps[t.taps[CNV_X] + i], value, acc);
  }
  if (renormalizes(b) && !b.a.joint)
    acc *= x_factor(b, t, x);
  ((float *)at.sums)[b.sums[at.term] + (size_t)v * b.sums_stride + s] = acc;
}

template <typename T>
__device__ static void
texture_columns(const Block &b, const BlockCoord &at, const CnvLaunchArgs &l)
{
  const int C = b.a.channels, s = at.bx * CNV_POINT_WIDTH + threadIdx.x, py = at.by * CNV_POINT_HEIGHT + threadIdx.y,
            y = b.y + py;
  float total = 0;

  if (s >= b.job.width * C || py >= b.job.height)
    return;
  for (int i = 0; i < b.a.n_terms; i++) {
    const CnvTerm &t = b.a.term[i];
    const int first = (int)b.sums[i] + py * b.sums_stride + s;
    float acc = 0;

    for (int j = 0; j < t.n[CNV_Y]; j++)
      acc = fmaf(cnv_taps[t.taps[CNV_Y] + j], tex1Dfetch<float>(l.sums_texture, first + j * b.sums_stride), acc);
    total = add_column(b, total, acc, t, y);
  }
  store_sample<T>(b, at, C, s, py, terms_epilogue(b, total, b.x + s / C, y));
}
