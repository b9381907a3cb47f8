/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Fourier transforms of CNV_CPU_BAND rows or columns side by side (simd.h), built once for each instruction set as
 * simd.c is. Each lane of a vector is a transform of its own, so that no butterfly needs a shuffle.
 *
 * forward is decimation in frequency: each pass of radix 4 makes four blocks of a quarter of the length, and blocks of
 * 4 or 8 numbers are transformed in registers. backward undoes these steps in reverse order, so that neither needs to
 * sort its numbers: only products lie between the two.
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

/* a + i b. */
static inline Complex
plus_turned(Complex a, Complex b)
{
  return (Complex){a.re - b.im, a.im + b.re};
}

/* a - i b. */
static inline Complex
minus_turned(Complex a, Complex b)
{
  return (Complex){a.re + b.im, a.im - b.re};
}

/* z times w[0] + i w[1]. */
static inline Complex
turn_by(Complex z, const float *w)
{
  return (Complex){z.re * w[0] - z.im * w[1], z.im * w[0] + z.re * w[1]};
}

/* z times w[0] - i w[1]. */
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

/* ---- passes over a block: w holds three factors for each number of a quarter ---- */

static void
pass_forward(float *block, int quarter, const float *w)
{
  gsize q = (gsize)quarter * STEP;

  for (int j = 0; j < quarter; j++, block += STEP, w += 6)
    for (float *at = block; at < block + CNV_CPU_BAND; at += LANES) {
      Complex a = load_number(at), b = load_number(at + q), c = load_number(at + 2 * q), d = load_number(at + 3 * q);
      Complex even = plus(a, c), odd = plus(b, d), e = minus(a, c), f = minus(b, d);

      store_number(at, plus(even, odd));
      store_number(at + q, turn_by(minus_turned(e, f), w));
      store_number(at + 2 * q, turn_by(minus(even, odd), w + 2));
      store_number(at + 3 * q, turn_by(plus_turned(e, f), w + 4));
    }
}

static void
pass_backward(float *block, int quarter, const float *w)
{
  gsize q = (gsize)quarter * STEP;

  for (int j = 0; j < quarter; j++, block += STEP, w += 6)
    for (float *at = block; at < block + CNV_CPU_BAND; at += LANES) {
      Complex a = load_number(at), b = turn_back_by(load_number(at + q), w);
      Complex c = turn_back_by(load_number(at + 2 * q), w + 2), d = turn_back_by(load_number(at + 3 * q), w + 4);
      Complex even = plus(a, c), odd = plus(b, d), e = minus(a, c), f = minus(b, d);

      store_number(at, plus(even, odd));
      store_number(at + q, plus_turned(e, f));
      store_number(at + 2 * q, minus(even, odd));
      store_number(at + 3 * q, minus_turned(e, f));
    }
}

/* ---- the smallest blocks, in registers; `back` is constant where these are called ---- */

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
  static const float one[2] = {ROOT_OF_HALF, -ROOT_OF_HALF}, three[2] = {-ROOT_OF_HALF, -ROOT_OF_HALF};
  Complex even[4] = {z[0], z[2], z[4], z[6]}, odd[4] = {z[1], z[3], z[5], z[7]}, zero = {{0}, {0}};

  transform_4(even, back);
  transform_4(odd, back);
  odd[1] = back ? turn_back_by(odd[1], one) : turn_by(odd[1], one);
  odd[2] = back ? plus_turned(zero, odd[2]) : minus_turned(zero, odd[2]);
  odd[3] = back ? turn_back_by(odd[3], three) : turn_by(odd[3], three);
  for (int i = 0; i < 4; i++) {
    z[i] = plus(even[i], odd[i]);
    z[i + 4] = minus(even[i], odd[i]);
  }
}

typedef enum { FORWARD, BACKWARD, BOTH } Way;

/* n is 4 or 8. BOTH: multiplies by factor between the ways. */
ALWAYS_INLINE void
transform_block(float *block, const float *factor, const int n, const Way way)
{
  for (int lane = 0; lane < CNV_CPU_BAND; lane += LANES) {
    Complex z[8];

    for (int i = 0; i < n; i++)
      z[i] = load_number(block + i * STEP + lane);
    if (way != BACKWARD)
      (n == 4 ? transform_4 : transform_8)(z, FALSE);
    for (int i = 0; i < n && way == BOTH; i++)
      z[i] = product(z[i], load_number(factor + i * STEP + lane));
    if (way != FORWARD)
      (n == 4 ? transform_4 : transform_8)(z, TRUE);
    for (int i = 0; i < n; i++)
      store_number(block + i * STEP + lane, z[i]);
  }
}

/* ---- whole transforms ---- */

ALWAYS_INLINE void
transform(float *numbers, const float *factor, int n, const float *table, const Way way,
          void (*quarters)(float *numbers, const float *factor, int n, const float *table))
{
  int quarter = n / 4;

  if (n == 4) {
    transform_block(numbers, factor, 4, way);
  } else if (n == 8) {
    transform_block(numbers, factor, 8, way);
  } else {
    if (way != BACKWARD)
      pass_forward(numbers, quarter, table);
    for (int i = 0; i < n; i += quarter)
      quarters(numbers + (gsize)i * STEP, way == BOTH ? factor + (gsize)i * STEP : NULL, quarter, table + 6 * quarter);
    if (way != FORWARD)
      pass_backward(numbers, quarter, table);
  }
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
