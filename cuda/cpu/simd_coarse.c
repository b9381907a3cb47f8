/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Samples blended to fewer (simd.h), by vectors; built once for each instruction set as simd.c is.
 */
#include "cpu/simd.h"
#include "cpu/vector.h"

#define BLENDED_VECTORS (VECTOR_BYTES == 64 ? 4 : 2) /* by CNV_CPU_BLENDED sums: half of the registers */

G_STATIC_ASSERT(CNV_CPU_BLENDED_BLOCK % (LANES * BLENDED_VECTORS) == 0);

static void
blend(float *const *to, const float *from, gsize stride, int n, const CpuCoarse *coarse)
{
  for (int x = 0; x < n; x += BLENDED_VECTORS * LANES) {
    Vector acc[CNV_CPU_BLENDED][BLENDED_VECTORS];

    for (int m = 0; m < CNV_CPU_BLENDED; m++)
      for (int v = 0; v < BLENDED_VECTORS; v++)
        acc[m][v] = m < CNV_CPU_BLENDED - 1 ? load_vector(to[m] + x + v * LANES) : (Vector){0};
    for (int i = 0; i < coarse->step; i++)
      for (int v = 0; v < BLENDED_VECTORS; v++) {
        Vector in = load_vector(from + i * stride + x + v * LANES);

        for (int m = 0; m < CNV_CPU_BLENDED; m++)
          acc[m][v] += coarse->blend[i][m] * in;
      }
    for (int m = 0; m < CNV_CPU_BLENDED; m++)
      for (int v = 0; v < BLENDED_VECTORS; v++)
        store_vector(to[m] + x + v * LANES, acc[m][v]);
  }
}
ALWAYS_INLINE void
split_by(float *restrict to, gsize stride, const float *restrict from, int n, const int step, const int channels)
{
  for (int i = 0; i < n; i++)
    for (int place = 0; place < step; place++)
      for (int c = 0; c < channels; c++)
        to[place * stride + i * channels + c] = from[(i * step + place) * channels + c];
}

ALWAYS_INLINE void
join_by(float *restrict to, const float *restrict from, gsize stride, int n, const int step, const int channels)
{
  for (int i = 0; i < n; i++)
    for (int place = 0; place < step; place++)
      for (int c = 0; c < channels; c++)
        to[(i * step + place) * channels + c] = from[place * stride + i * channels + c];
}

static void
split(float *to, gsize stride, const float *from, int n, int step, int channels)
{
  if (channels == 1 && step == 2)
    split_by(to, stride, from, n, 2, 1);
  else if (channels == 1 && step == 4)
    split_by(to, stride, from, n, 4, 1);
  else if (channels == 1)
    split_by(to, stride, from, n, step, 1);
  else if (channels == 2)
    split_by(to, stride, from, n, step, 2);
  else if (channels == 3)
    split_by(to, stride, from, n, step, 3);
  else
    split_by(to, stride, from, n, step, 4);
}

static void
join(float *to, const float *from, gsize stride, int n, int step, int channels)
{
  if (channels == 1 && step == 2)
    join_by(to, from, stride, n, 2, 1);
  else if (channels == 1 && step == 4)
    join_by(to, from, stride, n, 4, 1);
  else if (channels == 1)
    join_by(to, from, stride, n, step, 1);
  else if (channels == 2)
    join_by(to, from, stride, n, step, 2);
  else if (channels == 3)
    join_by(to, from, stride, n, step, 3);
  else
    join_by(to, from, stride, n, step, 4);
}

const CpuSimdCoarse G_PASTE(cnv_cpu_coarse_, CNV_SIMD) = {.blend = blend, .split = split, .join = join};
