/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * separable: rows computes float32 row sums of each term, for all rows that the job's columns need, with borders
 * resolved; columns computes samples from them.
 *
 * Taps are added up some at a time, and then these sums. Many equal samples, as beyond an edge, would round one long sum
 * in the same direction each time: with 1025 equal taps it was 8e-4 levels off.
 */
#pragma once

#include "gpu/kernels/apron.cuh"

/* Samples of a row, and row sums of a column, that a block loads beside its outputs. Taps that reach further are
 * applied in several turns. */
#define ROWS_APRON 128
#define COLUMNS_APRON 40

/* Returns the shared memory of either pass. */
__device__ static float *
separable_tile()
{
  constexpr int rows = (CNV_ROWS_WIDTH + ROWS_APRON) * CNV_ROWS_HEIGHT;
  constexpr int columns = CNV_COLUMNS_WIDTH * (CNV_COLUMNS_HEIGHT + COLUMNS_APRON);
  __shared__ float tile[rows > columns ? rows : columns];

  return tile;
}

/* Returns row v of a term's sums, which tap 0 of the column reads for output row v. */
__device__ static float *
sums_row(const CnvBlock &b, int term, int v)
{
  return b.row_sums + ((size_t)term * b.sums_rows + v) * b.sums_stride;
}

/* rows: a warp computes a row of one term's sums, a thread every 32nd of them. */
__device__ static void
rows(const CnvBlock &b)
{
  float *tile = separable_tile();
  const int term = b.block_y * CNV_ROWS_HEIGHT / b.sums_rows, v0 = b.block_y * CNV_ROWS_HEIGHT % b.sums_rows;
  const CnvTerm &t = b.a.term[term];
  const int C = b.a.channels, chunk = 1 + ROWS_APRON / C, lane = threadIdx.x, row = threadIdx.y;
  const int s0 = b.block_x * CNV_ROWS_WIDTH, width = min(CNV_ROWS_WIDTH, b.job.width * C - s0);
  const int height = min(CNV_ROWS_HEIGHT, b.job.height + t.n[CNV_Y] - 1 - v0);
  float acc[CNV_OUTPUTS] = {};

  for (int i = 0; i < t.n[CNV_X]; i += chunk) {
    const int taps = min(chunk, t.n[CNV_X] - i), pitch = width + (taps - 1) * C;
    const float *line = tile + row * pitch + lane;

    float part[CNV_OUTPUTS] = {};

    load_tile(tile, b, t, {i, 0}, {s0, v0}, {pitch, height});
    for (int j = 0; j < taps; j++)
#pragma unroll
      for (int k = 0; k < CNV_OUTPUTS; k++)
        part[k] = fmaf(line[j * C + 32 * k], cnv_taps[t.taps[CNV_X] + i + j], part[k]);
#pragma unroll
    for (int k = 0; k < CNV_OUTPUTS; k++)
      acc[k] += part[k];
  }
  float *to = sums_row(b, term, v0 + row) + s0 + lane;
#pragma unroll
  for (int k = 0; k < CNV_OUTPUTS; k++)
    if (lane + 32 * k < width && row < height)
      to[32 * k] = acc[k];
}

/* columns: a thread moves down a column of each term's row sums. */
__device__ static void
columns(const CnvBlock &b)
{
  float *tile = separable_tile();
  const int s = b.block_x * CNV_COLUMNS_WIDTH + threadIdx.x, C = b.a.channels;
  const int y0 = b.block_y * CNV_COLUMNS_HEIGHT, top = threadIdx.y * CNV_OUTPUTS;
  float total[CNV_OUTPUTS] = {};

#pragma unroll 1
  for (int i = 0; i < b.a.n_terms; i++) {
    const CnvTerm &t = b.a.term[i];
    float acc[CNV_OUTPUTS] = {};

    for (int j = 0; j < t.n[CNV_Y]; j += 1 + COLUMNS_APRON) {
      const int taps = min(1 + COLUMNS_APRON, t.n[CNV_Y] - j);
      const int height = min(CNV_COLUMNS_HEIGHT, b.job.height - y0) + taps - 1;

      const float *from = sums_row(b, i, y0 + j) + min(s, b.job.width * C - 1);
      const int stride = b.sums_stride;
      float part[CNV_OUTPUTS] = {};

      __syncthreads();
      load_batches(
          threadIdx.y, height, blockDim.y, [&](int v) { return __ldg(from + (size_t)v * stride); },
          [&](int v, float value) { tile[v * CNV_COLUMNS_WIDTH + threadIdx.x] = value; });
      __syncthreads();
      slide(part, tile + top * CNV_COLUMNS_WIDTH + threadIdx.x, CNV_COLUMNS_WIDTH, cnv_taps + t.taps[CNV_Y] + j, taps);
#pragma unroll
      for (int k = 0; k < CNV_OUTPUTS; k++)
        acc[k] += part[k];
    }
#pragma unroll
    for (int k = 0; k < CNV_OUTPUTS; k++)
      total[k] = add_term(b, total[k], acc[k], t, b.x + s / C, b.y + y0 + top + k);
  }
  store_column(b, tile, total, s, y0 + top);
}
