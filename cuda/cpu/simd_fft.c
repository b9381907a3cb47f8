/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The loops between transforms (fft.c), built once for each instruction set as simd.c is. Compilers make vectors of
 * them.
 */
#include "cpu/simd.h"

static void
join(float *restrict to, const float *restrict real, const float *restrict imaginary, int n)
{
  for (int i = 0; i < n; i++) {
    to[2 * i] = real[i];
    to[2 * i + 1] = imaginary[i];
  }
}

static void
part(float *restrict to, const float *restrict from, int n)
{
  for (int i = 0; i < n; i++)
    to[i] = from[2 * i];
}

static void
multiply(float *restrict to, const float *restrict factor, int n)
{
  for (int i = 0; i < 2 * n; i += 2) {
    float real = to[i], imaginary = to[i + 1];

    to[i] = real * factor[i] - imaginary * factor[i + 1];
    to[i + 1] = real * factor[i + 1] + imaginary * factor[i];
  }
}

const CpuSimdFft G_PASTE(cnv_cpu_fft_, CNV_SIMD) = {.join = join, .part = part, .multiply = multiply};
