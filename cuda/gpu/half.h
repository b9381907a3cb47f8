/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Taps as f16 numbers, and bands of them as the fragments that tensor cores take (mma.m16n8k16).
 *
 * f16 keeps 11 bits. Taps are scaled before they are rounded, by the scale of several that rounds them least, so that
 * taps which are small integers to each other stay exact; sums are scaled back. Where rounding would still show, a tap
 * is split in two f16 numbers, high and low part, which together are as good as float32.
 */
#pragma once

#include <glib.h>

#include <math.h>

#include "gpu/kernels/arguments.h"

G_BEGIN_DECLS

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

/* High part (0) or low part (1) of a split number. */
static inline guint16
cnv_half_part(double value, int part)
{
  guint16 half = cnv_to_half(value);

  return part ? cnv_to_half(value - cnv_from_half(half)) : half;
}

typedef struct {
  double *taps;
  guint n;
  double sum, magnitude, norm, largest; /* magnitude: sum of the magnitudes; norm: root of the sum of squares */
  gboolean is_signed;
  gboolean keeps_sum; /* the sum of the rounded taps is divided out again, so that a flat frame stays flat */
  double scale;
  double
      deviation; /* root of the sum of the squares of the errors, of taps that are not split; 0: as good as float32 */
} CnvHalfTaps;

/* Statistics; scale 1. Takes taps (g_new). */
void cnv_half_taps_init(CnvHalfTaps *half, double *taps, guint n);
void cnv_half_taps_clear(CnvHalfTaps *half);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(CnvHalfTaps, cnv_half_taps_clear)

/* Chooses scale and deviation. first: the power of two to try first; limit: the largest scale; trials: multiples of the
 * smallest tap's reciprocal that are tried, and powers of 2 between first and its double. */
void cnv_half_choose_scale(CnvHalfTaps *half, double first, double limit, int trials);

/* Factor from sums over rounded taps back to sums over taps. parts: 1, or 2 for split taps. */
double cnv_half_factor(const CnvHalfTaps *half, int parts);

#define CNV_BAND_SAMPLES (17 * CNV_TENSOR_K)

/* The scaled taps of 16 neighbouring outputs on the samples that they reach. */
typedef struct {
  double tap[CNV_TENSOR_K][CNV_BAND_SAMPLES];
} CnvBand;

/* Appends the words (guint32) of a band's fragments, operand A: k step after k step of 16 samples, high parts first. A
 * fragment has four words a lane, lane = 4g + t: rows g and g + 8, columns 2t and 2t + 8 and the next of each.
 * neighbours: rows g and g + 8 are outputs 2g and 2g + 1; quads: those four columns are samples 4t to 4t + 3. */
void cnv_band_append(const CnvBand *band, GArray *words, int k_steps, int parts, gboolean neighbours, gboolean quads);

G_END_DECLS
