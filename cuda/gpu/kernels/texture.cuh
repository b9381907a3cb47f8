/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * texture: does what separable does, through the texture unit and without shared memory, with one thread per sample in
 * both passes. The unit's cache replaces the tile. Kept for comparison with the literature.
 */
#pragma once

#include "gpu/kernels/separable.cuh"

/* Number of products that are added up before their sum is added to all others (separable.cuh). */
#define TEXTURE_TAPS 64

/* Computes one sample of the row sums of a term. */
__device__ static void
texture_rows(const CnvBlock &b, const CnvBlockArgs &l)
{
  const int row_of_all = b.block_y * CNV_POINT_HEIGHT + threadIdx.y;
  const int term = row_of_all / b.sums_rows, v = row_of_all % b.sums_rows;
  const CnvTerm &t = b.a.term[term];
  const int C = b.a.channels, s = b.block_x * CNV_POINT_WIDTH + threadIdx.x;
  const int x = b.x + s / C - t.anchor[CNV_X], y = b.y + v - t.anchor[CNV_Y], channel = s % C;
  const Range range = sources_of(b, t);
  const Unpack unpack = unpack_of(b.a);
  float acc = 0, part = 0;

  if (s >= b.job.width * C || v >= b.job.height + t.n[CNV_Y] - 1)
    return;
  const int iy = cnv_border_index((CnvBorder)b.a.border, y, b.height);
  const int m = b.a.component[0].plane;
  const int row = (int)(input_at(b, channel, iy) - l.texture_start[m]) / b.bytes;

  for (int i = 0; i < t.n[CNV_X]; i++) {
    const int ix = cnv_border_index((CnvBorder)b.a.border, x + i, b.width);
    /* The texture has only one frame. A history and staged planes are read by plain loads, which use the same path on
     * the chip. */
    const bool in_texture = l.sources.n == 0 && b.a.plain && ix >= 0 && iy >= 0;

    part = fmaf(cnv_taps[t.taps[CNV_X] + i],
                in_texture ? value_of(tex1Dfetch<unsigned>(l.texture[m], row + ix * C), unpack)
                           : fetch(b, range, x + i, y, channel),
                part);
    if (i % TEXTURE_TAPS == TEXTURE_TAPS - 1) {
      acc += part;
      part = 0;
    }
  }
  sums_row(b, term, v)[s] = acc + part;
}

__device__ static void
texture_columns(const CnvBlock &b, const CnvBlockArgs &l)
{
  const int s = b.block_x * CNV_POINT_WIDTH + threadIdx.x, y = b.block_y * CNV_POINT_HEIGHT + threadIdx.y;
  const int x = b.x + s / b.a.channels;
  float total = 0;

  if (s >= b.job.width * b.a.channels || y >= b.job.height)
    return;
  for (int i = 0; i < b.a.n_terms; i++) {
    const CnvTerm &t = b.a.term[i];
    const int first = (int)(sums_row(b, i, y) - (float *)l.sums) + s;
    float acc = 0, part = 0;

    for (int j = 0; j < t.n[CNV_Y]; j++) {
      part = fmaf(cnv_taps[t.taps[CNV_Y] + j], tex1Dfetch<float>(l.sums_texture, first + j * b.sums_stride), part);
      if (j % TEXTURE_TAPS == TEXTURE_TAPS - 1) {
        acc += part;
        part = 0;
      }
    }
    total = add_term(b, total, acc + part, t, x, b.y + y);
  }
  store_samples(b, s, y, &total, 0, 1);
}
