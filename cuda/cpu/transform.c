/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Fourier transforms of CNV_CPU_BAND rows or columns side by side (simd.h), compiled once for each instruction set,
 * like simd.c. Each lane of a vector is a transform of its own, so that no butterfly needs a shuffle.
 *
 * forward is decimation in frequency: each pass cuts a block into 4 or 8 parts, down to blocks of 8 numbers. backward
 * undoes these passes in reverse order, so neither has to sort its numbers: between the two, numbers are only
 * multiplied. Parts are transformed one after the other, so that they stay in cache.
 */
#include "cpu/simd.h"
#include "cpu/vector.h"

#define STEP (2 * CNV_CPU_BAND) /* floats from number to number */
#define ROOT_OF_HALF 0.70710678118654752440f

typedef struct {
  Vector re, im;
} Complex;

static inline Complex
load_number(const float *from)
{
  return (Complex){load_vector(from), load_vector(from + CNV_CPU_BAND)};
}

static inline void
store_number(float *to, Complex z)
{
  store_vector(to, z.re);
  store_vector(to + CNV_CPU_BAND, z.im);
}

static inline Complex
plus(Complex a, Complex b)
{
  return (Complex){a.re + b.re, a.im + b.im};
}

static inline Complex
minus(Complex a, Complex b)
{
  return (Complex){a.re - b.re, a.im - b.im};
}

/* Returns a + i b. */
static inline Complex
plus_turned(Complex a, Complex b)
{
  return (Complex){a.re - b.im, a.im + b.re};
}

/* Returns a - i b. */
static inline Complex
minus_turned(Complex a, Complex b)
{
  return (Complex){a.re + b.im, a.im - b.re};
}

/* Returns z times w[0] + i w[1]. */
static inline Complex
turn_by(Complex z, const float *w)
{
  return (Complex){z.re * w[0] - z.im * w[1], z.im * w[0] + z.re * w[1]};
}

/* Returns z times w[0] - i w[1]. */
static inline Complex
turn_back_by(Complex z, const float *w)
{
  return (Complex){z.re * w[0] + z.im * w[1], z.im * w[0] - z.re * w[1]};
}

static inline Complex
product(Complex a, Complex b)
{
  return (Complex){a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
}

/* ---- 4 or 8 numbers in registers; `back` is constant in each call ---- */

ALWAYS_INLINE void
transform_4(Complex z[4], const gboolean back)
{
  Complex even = plus(z[0], z[2]), odd = plus(z[1], z[3]), e = minus(z[0], z[2]), f = minus(z[1], z[3]);

  z[0] = plus(even, odd);
  z[1] = back ? plus_turned(e, f) : minus_turned(e, f);
  z[2] = minus(even, odd);
  z[3] = back ? minus_turned(e, f) : plus_turned(e, f);
}

ALWAYS_INLINE void
transform_8(Complex z[8], const gboolean back)
{
  Complex even[4] = {z[0], z[2], z[4], z[6]}, odd[4] = {z[1], z[3], z[5], z[7]}, one, three;

  transform_4(even, back);
  transform_4(odd, back);
  one = back ? plus_turned(odd[1], odd[1]) : minus_turned(odd[1], odd[1]);
  three = back ? minus_turned(odd[3], odd[3]) : plus_turned(odd[3], odd[3]);
  one = (Complex){ROOT_OF_HALF * one.re, ROOT_OF_HALF * one.im};
  three = (Complex){ROOT_OF_HALF * three.re, ROOT_OF_HALF * three.im};
  z[0] = plus(even[0], odd[0]);
  z[1] = plus(even[1], one);
  z[2] = back ? plus_turned(even[2], odd[2]) : minus_turned(even[2], odd[2]);
  z[3] = minus(even[3], three);
  z[4] = minus(even[0], odd[0]);
  z[5] = minus(even[1], one);
  z[6] = back ? minus_turned(even[2], odd[2]) : plus_turned(even[2], odd[2]);
  z[7] = plus(even[3], three);
}

ALWAYS_INLINE void
transform_few(Complex *z, const int n, const gboolean back)
{
  if (n == 4)
    transform_4(z, back);
  else
    transform_8(z, back);
}

/* ---- passes over a block ---- */

typedef enum { FORWARD, BACKWARD, BOTH } Way;

/* Transforms, for each j, number j of all parts of the block. w: factors of all parts except the first, whose factor is
 * 1. */
ALWAYS_INLINE void
pass(float *block, int part, const float *w, const int radix, const Way way)
{
  gsize stride = (gsize)part * STEP;

  for (int j = 0; j < part; j++, block += STEP, w += 2 * (radix - 1))
    for (float *at = block; at < block + CNV_CPU_BAND; at += LANES) {
      Complex z[8];

      for (int i = 0; i < radix; i++)
        z[i] = load_number(at + i * stride);
      for (int i = 1; i < radix && way == BACKWARD; i++)
        z[i] = turn_back_by(z[i], w + 2 * i - 2);
      transform_few(z, radix, way == BACKWARD);
      for (int i = 1; i < radix && way == FORWARD; i++)
        z[i] = turn_by(z[i], w + 2 * i - 2);
      for (int i = 0; i < radix; i++)
        store_number(at + i * stride, z[i]);
    }
}

/* Transforms a block of 8 numbers. BOTH: multiplies by factor between the two transforms. */
ALWAYS_INLINE void
last_pass(float *block, const float *factor, const Way way)
{
  for (int lane = 0; lane < CNV_CPU_BAND; lane += LANES) {
    Complex z[8];

    for (int i = 0; i < 8; i++)
      z[i] = load_number(block + i * STEP + lane);
    if (way != BACKWARD)
      transform_8(z, FALSE);
    for (int i = 0; i < 8 && way == BOTH; i++)
      z[i] = product(z[i], load_number(factor + i * STEP + lane));
    if (way != FORWARD)
      transform_8(z, TRUE);
    for (int i = 0; i < 8; i++)
      store_number(block + i * STEP + lane, z[i]);
  }
}

static void
pass_forward(float *block, int n, const float *w)
{
  if (CNV_CPU_RADIX(n) == 4)
    pass(block, n / 4, w, 4, FORWARD);
  else
    pass(block, n / 8, w, 8, FORWARD);
}

static void
pass_backward(float *block, int n, const float *w)
{
  if (CNV_CPU_RADIX(n) == 4)
    pass(block, n / 4, w, 4, BACKWARD);
  else
    pass(block, n / 8, w, 8, BACKWARD);
}

/* ---- whole transforms ---- */

/* Transforms a block. parts: the calling function, which transforms the parts into which a pass divides the block. */
ALWAYS_INLINE void
transform(float *block, const float *factor, int n, const float *table, const Way way,
          void (*parts)(float *block, const float *factor, int n, const float *table))
{
  int radix = CNV_CPU_RADIX(n), part = n / radix;
  const float *rest = table + 2 * (radix - 1) * part;

  if (n == 8) {
    last_pass(block, factor, way);
    return;
  }
  if (way != BACKWARD)
    pass_forward(block, n, table);
  for (int i = 0; i < n; i += part)
    parts(block + (gsize)i * STEP, way == BOTH ? factor + (gsize)i * STEP : NULL, part, rest);
  if (way != FORWARD)
    pass_backward(block, n, table);
}

static void
forward(float *numbers, const float *factor, int n, const float *table)
{
  transform(numbers, factor, n, table, FORWARD, forward);
}

static void
backward(float *numbers, const float *factor, int n, const float *table)
{
  transform(numbers, factor, n, table, BACKWARD, backward);
}

static void
convolve(float *numbers, const float *factor, int n, const float *table)
{
  transform(numbers, factor, n, table, BOTH, convolve);
}

const CpuSimdTransform G_PASTE(cnv_cpu_transform_, CNV_SIMD) = {
    .forward = forward,
    .backward = backward,
    .convolve = convolve,
};
