/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * tiled: all taps of a term at once, over a tile in shared memory; a thread moves down a column of the tile. Separable
 * taps are applied as the dense kernel that is their product.
 */
#pragma once

#include "gpu/kernels/apron.cuh"

/* Samples of a row, and rows, that a block loads beside its outputs. Taps that reach further are applied in several
 * turns. */
#define TILED_APRON_X 32
#define TILED_APRON_Y 16

/* Adds the products of the taps from `tap` on, as many as the apron permits, to the thread's sums. Each column of taps
 * has its own sum, which keeps float32 exact enough for large kernels. */
__device__ static void
add_taps(float (&acc)[CNV_OUTPUTS], float *tile, const CnvBlock &b, const CnvTerm &t, int2 tap)
{
  const int C = b.a.channels, s0 = b.block_x * CNV_COLUMNS_WIDTH, y0 = b.block_y * CNV_COLUMNS_HEIGHT;
  const int columns = min(1 + TILED_APRON_X / C, t.n[CNV_X] - tap.x), rows = min(1 + TILED_APRON_Y, t.n[CNV_Y] - tap.y);
  const int pitch = min(CNV_COLUMNS_WIDTH, b.job.width * C - s0) + (columns - 1) * C;
  const int height = min(CNV_COLUMNS_HEIGHT, b.job.height - y0) + rows - 1;
  const float *at = tile + threadIdx.y * CNV_OUTPUTS * pitch + threadIdx.x;

  load_tile(tile, b, t, tap, {s0, y0}, {pitch, height});
#pragma unroll 1
  for (int i = tap.x; i < tap.x + columns; i++, at += C) {
    const unsigned column = t.separable ? t.taps[CNV_Y] : t.taps[CNV_X] + i * t.n[CNV_Y];
    const float weight = t.separable ? cnv_taps[t.taps[CNV_X] + i] : 1.0f;
    float part[CNV_OUTPUTS] = {};

    slide(part, at, pitch, cnv_taps + column + tap.y, rows);
#pragma unroll
    for (int k = 0; k < CNV_OUTPUTS; k++)
      acc[k] = fmaf(part[k], weight, acc[k]);
  }
}

__device__ static void
tiled(const CnvBlock &b)
{
  __shared__ float tile[(CNV_COLUMNS_WIDTH + TILED_APRON_X) * (CNV_COLUMNS_HEIGHT + TILED_APRON_Y)];
  const int s = b.block_x * CNV_COLUMNS_WIDTH + threadIdx.x, C = b.a.channels;
  const int y = b.block_y * CNV_COLUMNS_HEIGHT + threadIdx.y * CNV_OUTPUTS;
  float total[CNV_OUTPUTS] = {};

#pragma unroll 1
  for (int n = 0; n < b.a.n_terms; n++) {
    const CnvTerm &t = b.a.term[n];

    /* Each turn of rows of taps has its own sum too, so that each sum rounds less. The two terms of a gradient, which
     * are squared, fit into one turn. */
    for (int j = 0; j < t.n[CNV_Y]; j += 1 + TILED_APRON_Y) {
      float acc[CNV_OUTPUTS] = {};

      for (int i = 0; i < t.n[CNV_X]; i += 1 + TILED_APRON_X / C)
        add_taps(acc, tile, b, t, {i, j});
#pragma unroll
      for (int k = 0; k < CNV_OUTPUTS; k++)
        total[k] = add_term(b, total[k], acc[k], t, b.x + s / C, b.y + y + k);
    }
  }
  store_column(b, tile, total, s, y);
}
