/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Taps as numbers for tensor cores: f16, pairs of f16, and integers.
 */
#pragma once

#include <glib.h>

#include <math.h>

/* Rounds to f16, ties to even. For magnitudes below 65504. */
static inline guint16
cnv_to_half(double value)
{
  guint16 sign = signbit(value) ? 0x8000 : 0;
  double magnitude = fabs(value), mantissa;
  int exponent;

  if (magnitude == 0)
    return sign;
  mantissa = frexp(magnitude, &exponent); /* 0.5 to 1 */
  exponent = MAX(exponent, -13);          /* below that a denormal has fewer bits */
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

/* Returns the high part (0) or the low part (1) of a number that is split into two f16 numbers. */
static inline guint16
cnv_half_part(double value, int part)
{
  guint16 half = cnv_to_half(value);

  return part ? cnv_to_half(value - cnv_from_half(half)) : half;
}

/* Taps of a filter, or of one axis of it. */
typedef struct {
  double *value;
  guint n;
  double sum, magnitude, norm, largest; /* magnitude: sum of the magnitudes; norm: root of the sum of squares */
  gboolean is_signed;
} CnvTapList;

/* Computes the statistics of n taps, and owns `value` (g_new) from then on. */
void cnv_tap_list_init(CnvTapList *taps, double *value, guint n);
void cnv_tap_list_clear(CnvTapList *taps);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(CnvTapList, cnv_tap_list_clear)

/* Rounds taps times a factor to f16 numbers of the same sum. Returns the root of the sum of the squared errors. */
double cnv_tap_list_scale_to_half(CnvTapList *taps, double factor);

/* Rounds taps to f16 numbers whose sum is as near to the sum of the taps as f16 allows. A flat frame then stays flat,
 * and all shades stay equally far apart. Returns the root of the sum of the squared errors. */
double cnv_tap_list_round_to_half(CnvTapList *taps);

/* Splits each tap into two f16 numbers: a multiple of `grid`, and the rest times `unit`. The sum of the multiples is as
 * near as possible to the sum of the taps. */
void cnv_tap_list_split(const CnvTapList *taps, double grid, double unit, guint16 *multiple, guint16 *rest);

/* Returns the factor that makes taps integers of at most `largest` with the smallest rounding error. error: set to the
 * root of the sum of the squared errors of the taps; 0: as exact as float32. */
double cnv_tap_list_integer_scale(const CnvTapList *taps, double largest, double *error);
