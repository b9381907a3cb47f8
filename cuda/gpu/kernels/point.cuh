/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * naive: one thread per sample, directly from global memory. Each row of taps has its own sum, which keeps float32
 * exact enough for large kernels.
 */
#pragma once

#include "gpu/kernels/block.cuh"

/* Returns a term at one sample of the window. */
__device__ static float
sum_of_term(const CnvBlock &b, const CnvTerm &t, int x, int y, int channel)
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

/* Returns the mean of the cell of the job's sample (px, py). */
__device__ static float
mean_of_cell(const CnvBlock &b, int px, int py, int channel)
{
  const int column = cnv_cell_of(&b.a, &b.job, CNV_X, b.job.x + px),
            row = cnv_cell_of(&b.a, &b.job, CNV_Y, b.job.y + py);
  const int x0 = cnv_cell_edge(&b.a, &b.job, CNV_X, column), x1 = cnv_cell_edge(&b.a, &b.job, CNV_X, column + 1);
  const int y0 = cnv_cell_edge(&b.a, &b.job, CNV_Y, row), y1 = cnv_cell_edge(&b.a, &b.job, CNV_Y, row + 1);
  float sum = 0;

  for (int y = y0; y < y1; y++) {
    float of_row = 0;

    for (int x = x0; x < x1; x++)
      of_row += fetch(b, {0, b.sources.n}, x - b.job.window_x, y - b.job.window_y, channel);
    sum += of_row;
  }
  return sum / (float)((x1 - x0) * (y1 - y0));
}

__device__ static void
naive(const CnvBlock &b)
{
  const int C = b.a.channels, s = b.block_x * CNV_POINT_WIDTH + threadIdx.x;
  const int py = b.block_y * CNV_POINT_HEIGHT + threadIdx.y, x = b.x + s / C, y = b.y + py;
  float total = 0;

  if (s >= b.job.width * C || py >= b.job.height)
    return;
  const bool has_means = cnv_cells_have_means(&b.a);

  if (has_means)
    total = mean_of_cell(b, s / C, py, s % C);
  for (int t = 0; t < b.a.n_terms && !has_means; t++)
    total = add_term(b, total, sum_of_term(b, b.a.term[t], x, y, s % C), b.a.term[t], x, y);
  store_samples(b, s, py, &total, 0, 1);
}
