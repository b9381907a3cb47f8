/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * naive: a thread a sample, straight from global memory. Row sums are added up apart, which keeps float32 exact enough
 * for large kernels.
 */
#pragma once

#include "gpu/kernels/block.cuh"

/* A term at one sample of the window. */
__device__ static float
sum_of_term(const Block &b, const CnvTerm &t, int x, int y, int channel)
{
  const Range r = sources_of(b, t);
  const int step = t.separable ? 1 : t.n[CNV_Y];
  float acc = 0;

  for (int j = 0; j < t.n[CNV_Y]; j++) {
    const float *taps = cnv_taps + t.taps[CNV_X] + (t.separable ? 0 : j);
    float row = 0;

    for (int i = 0; i < t.n[CNV_X]; i++)
      row = fmaf(taps[i * step], fetch(b, r, x - t.anchor[CNV_X] + i, y - t.anchor[CNV_Y] + j, channel), row);
    acc = t.separable ? fmaf(cnv_taps[t.taps[CNV_Y] + j], row, acc) : acc + row;
  }
  return acc;
}

__device__ static void
naive(const Block &b)
{
  const int C = b.a.channels, s = b.block_x * CNV_POINT_WIDTH + threadIdx.x;
  const int py = b.block_y * CNV_POINT_HEIGHT + threadIdx.y, x = b.x + s / C, y = b.y + py;
  float total = 0;

  if (s >= b.job.width * C || py >= b.job.height)
    return;
  for (int t = 0; t < b.a.n_terms; t++)
    total = add_term(b, total, sum_of_term(b, b.a.term[t], x, y, s % C), b.a.term[t], x, y);
  store_samples(b, s, py, &total, 0, 1);
}
