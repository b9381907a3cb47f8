/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * tiled: all taps of a term at once over a tile in shared memory; a thread slides down a column of the tile. Separable
 * taps are taken as the dense kernel that they make.
 */
#pragma once

#include "gpu/kernels/apron.cuh"

/* Samples of a row, and rows, that a block loads beside those that it makes; more taps than reach so far are taken in
 * turns. */
#define TILED_APRON_X 32
#define TILED_APRON_Y 16

/* Adds to the thread's sums what `columns` columns of `rows` taps from tap (i, j) on make, their samples being in the
 * tile from `at` on. Sums of a column are added up apart, which keeps float32 exact enough for large kernels. */
__device__ static void
tiled_taps(float (&acc)[CNV_OUTPUTS], const Block &b, const CnvTerm &t, int2 tap, int2 taps, const float *at, int pitch)
{
  for (int i = tap.x; i < tap.x + taps.x; i++) {
    const unsigned column = t.separable ? t.taps[CNV_Y] : t.taps[CNV_X] + i * t.n[CNV_Y];
    const float weight = t.separable ? cnv_taps[t.taps[CNV_X] + i] : 1.0f;
    float part[CNV_OUTPUTS] = {};

    slide(part, at + (i - tap.x) * b.a.channels, pitch, cnv_taps + column + tap.y, taps.y);
#pragma unroll
    for (int k = 0; k < CNV_OUTPUTS; k++)
      acc[k] = fmaf(part[k], weight, acc[k]);
  }
}

template <typename T>
__device__ static void
tiled(const Block &b)
{
  __shared__ float tile[(CNV_COLUMNS_WIDTH + TILED_APRON_X) * (CNV_COLUMNS_HEIGHT + TILED_APRON_Y)];
  const int C = b.a.channels, chunk_x = 1 + TILED_APRON_X / C, chunk_y = 1 + TILED_APRON_Y;
  const int s0 = b.block_x * CNV_COLUMNS_WIDTH, width = min(CNV_COLUMNS_WIDTH, b.job.width * C - s0);
  const int y0 = b.block_y * CNV_COLUMNS_HEIGHT, height = min(CNV_COLUMNS_HEIGHT, b.job.height - y0);
  const int s = s0 + threadIdx.x, top = threadIdx.y * CNV_OUTPUTS;
  float total[CNV_OUTPUTS] = {};

#pragma unroll 1
  for (int n = 0; n < b.a.n_terms; n++) {
    const CnvTerm &t = b.a.term[n];
    float acc[CNV_OUTPUTS] = {};

    for (int j = 0; j < t.n[CNV_Y]; j += chunk_y)
      for (int i = 0; i < t.n[CNV_X]; i += chunk_x) {
        const int2 taps = {min(chunk_x, t.n[CNV_X] - i), min(chunk_y, t.n[CNV_Y] - j)};
        const int pitch = width + (taps.x - 1) * C;

        load_tile<T>(tile, b, t, {i, j}, {s0, y0}, {pitch, height + taps.y - 1});
        tiled_taps(acc, b, t, {i, j}, taps, tile + top * pitch + threadIdx.x, pitch);
      }
#pragma unroll
    for (int k = 0; k < CNV_OUTPUTS; k++)
      total[k] = add_term(b, total[k], acc[k], t, b.x + s / C, b.y + y0 + top + k);
  }
  store_column<T>(b, tile, total, s, y0 + top);
}
