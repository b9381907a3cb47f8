/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gpu/half.h"

/* Taps below this part of the largest count as 0 for the smallest. */
#define SMALLEST_PART 1e-4

/* Errors up to this, relative to the taps, are those of float32. */
#define FLOAT_ERROR 2.4e-7

void
cnv_half_taps_init(CnvHalfTaps *half, double *taps, guint n)
{
  *half = (CnvHalfTaps){.taps = taps, .n = n, .scale = 1};
  for (guint i = 0; i < n; i++) {
    half->sum += taps[i];
    half->magnitude += fabs(taps[i]);
    half->norm += taps[i] * taps[i];
    half->largest = MAX(half->largest, fabs(taps[i]));
    half->is_signed |= taps[i] < 0;
  }
  half->norm = sqrt(half->norm);
  half->keeps_sum = fabs(half->sum) > 0.5 * half->magnitude;
}

void
cnv_half_taps_clear(CnvHalfTaps *half)
{
  g_clear_pointer(&half->taps, g_free);
}

static double
value_of(double tap, int parts)
{
  return cnv_from_half(cnv_half_part(tap, 0)) + (parts > 1 ? cnv_from_half(cnv_half_part(tap, 1)) : 0);
}

static double
factor_of(const CnvHalfTaps *half, double scale, int parts)
{
  double rounded = 0;

  if (!half->keeps_sum)
    return 1 / scale;
  for (guint i = 0; i < half->n; i++)
    rounded += value_of(half->taps[i] * scale, parts);
  return half->sum / rounded;
}

double
cnv_half_factor(const CnvHalfTaps *half, int parts)
{
  return factor_of(half, half->scale, parts);
}

static double
deviation_of(const CnvHalfTaps *half, double scale)
{
  double factor = factor_of(half, scale, 1), sum = 0;

  for (guint i = 0; i < half->n; i++) {
    double error = value_of(half->taps[i] * scale, 1) * factor - half->taps[i];

    sum += error * error;
  }
  return sqrt(sum);
}

static void
try_scale(CnvHalfTaps *half, double scale)
{
  double deviation = deviation_of(half, scale);

  if (deviation < half->deviation) {
    half->scale = scale;
    half->deviation = deviation;
  }
}

void
cnv_half_choose_scale(CnvHalfTaps *half, double first, double limit, int trials)
{
  double smallest = half->largest, good = FLOAT_ERROR * half->norm;

  for (guint i = 0; i < half->n; i++)
    if (fabs(half->taps[i]) > half->largest * SMALLEST_PART)
      smallest = MIN(smallest, fabs(half->taps[i]));
  half->scale = first;
  half->deviation = deviation_of(half, first);
  for (int i = 1; i <= 2 * trials && half->deviation > good; i++) {
    double scale = i <= trials ? i / smallest : first * exp2((i - trials - 1) / (double)trials);

    if (scale <= limit)
      try_scale(half, scale);
  }
  if (half->deviation <= good)
    half->deviation = 0;
}

void
cnv_band_append(const CnvBand *band, GArray *words, int k_steps, int parts, gboolean neighbours, gboolean quads)
{
  for (int part = 0; part < parts; part++)
    for (int i = 0; i < k_steps * 32 * 4; i++) {
      int lane = i / 4 % 32, g = lane / 4, t = lane % 4, right = i % 4 / 2, lower = i % 2;
      int output = neighbours ? 2 * g + lower : g + 8 * lower;
      int sample = CNV_TENSOR_K * (i / 128) + (quads ? 4 * t + 2 * right : 2 * t + 8 * right);
      const double *tap = &band->tap[output][sample];
      guint32 word = cnv_half_part(tap[0], part) | (guint32)cnv_half_part(tap[1], part) << 16;

      g_array_append_val(words, word);
    }
}
