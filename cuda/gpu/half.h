/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * f16 numbers on the host, for the fragments of taps that tensor cores take.
 */
#pragma once

#include <glib.h>

#include <math.h>

/* Rounds to f16, ties to even, for magnitudes below 65504. */
static inline guint16
cnv_to_half(double value)
{
  guint16 sign = signbit(value) ? 0x8000 : 0;
  double magnitude = fabs(value), mantissa;
  int exponent;

  if (magnitude == 0)
    return sign;
  mantissa = frexp(magnitude, &exponent); /* 0.5 to 1 */
  exponent = MAX(exponent, -13);          /* below that fewer bits are left */
  mantissa = rint(ldexp(magnitude, 11 - exponent));
  if (mantissa >= 2048) {
    mantissa /= 2;
    exponent++;
  }
  return sign | (mantissa < 1024 ? (guint16)mantissa : (guint16)((exponent + 14) << 10 | ((int)mantissa - 1024)));
}

static inline double
cnv_from_half(guint16 half)
{
  int exponent = half >> 10 & 31, mantissa = half & 1023;
  double magnitude = exponent ? ldexp(1024 + mantissa, exponent - 25) : ldexp(mantissa, -24);

  return half & 0x8000 ? -magnitude : magnitude;
}

/* What of a tap's value is its f16 number number `part`: 0, or 1 for what that leaves. */
static inline guint16
cnv_half_part(double value, int part)
{
  guint16 half = cnv_to_half(value);

  return part ? cnv_to_half(value - cnv_from_half(half)) : half;
}

/* What the first `parts` of these numbers add up to. */
static inline double
cnv_half_value(double value, int parts)
{
  double sum = 0;

  for (int part = 0; part < parts; part++)
    sum += cnv_from_half(cnv_half_part(value, part));
  return sum;
}
