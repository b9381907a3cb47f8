/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gpu/half.h"

/* Multiples of the smallest tap's reciprocal that are tried as a scale. */
#define SCALE_TRIALS 64

/* Taps below this part of the largest count as 0 for the smallest. */
#define SMALLEST_PART 1e-4

/* Errors up to this, relative to the taps, are those of float32. */
#define FLOAT_ERROR 2.4e-7

void
cnv_tap_list_init(CnvTapList *taps, double *value, guint n)
{
  *taps = (CnvTapList){.value = value, .n = n};
  for (guint i = 0; i < n; i++) {
    taps->sum += value[i];
    taps->magnitude += fabs(value[i]);
    taps->norm += value[i] * value[i];
    taps->largest = MAX(taps->largest, fabs(value[i]));
    taps->is_signed |= value[i] < 0;
  }
  taps->norm = sqrt(taps->norm);
}

void
cnv_tap_list_clear(CnvTapList *taps)
{
  g_clear_pointer(&taps->value, g_free);
}

/* The distance from an f16 number to the next one. */
static double
spacing(double value)
{
  int exponent;

  frexp(value, &exponent);
  return ldexp(1, MAX(exponent, -13) - 11);
}

/* Index of the tap that a step of its own spacing towards the sum changes least for the worse, among those whose
 * spacing is at most twice what is missing; n: none. */
static guint
find_step(const CnvTapList *taps, const double *exact, double missing)
{
  double best = G_MAXDOUBLE;
  guint found = taps->n;

  for (guint i = 0; i < taps->n; i++) {
    double step = copysign(spacing(taps->value[i]), missing), error = taps->value[i] - exact[i];
    double cost = ((error + step) * (error + step) - error * error) / fabs(step);

    if (fabs(missing - step) < fabs(missing) && cost < best) {
      best = cost;
      found = i;
    }
  }
  return found;
}

double
cnv_tap_list_round_to_half(CnvTapList *taps)
{
  g_autofree double *exact = g_memdup2(taps->value, taps->n * sizeof(double));
  double missing = taps->sum, error = 0;
  guint at;

  for (guint i = 0; i < taps->n; i++) {
    taps->value[i] = cnv_from_half(cnv_to_half(exact[i]));
    missing -= taps->value[i];
  }
  while ((at = find_step(taps, exact, missing)) < taps->n) {
    double step = copysign(spacing(taps->value[at]), missing);

    taps->value[at] += step;
    missing -= step;
  }
  for (guint i = 0; i < taps->n; i++)
    error += (taps->value[i] - exact[i]) * (taps->value[i] - exact[i]);
  return sqrt(error);
}

double
cnv_tap_list_scale_to_half(CnvTapList *taps, double factor)
{
  double sum = 0, error = 0;

  for (guint i = 0; i < taps->n; i++)
    sum += cnv_from_half(cnv_to_half(taps->value[i] * factor));
  for (guint i = 0; i < taps->n; i++) {
    double rounded = cnv_from_half(cnv_to_half(taps->value[i] * factor));
    double away = rounded * (sum != 0 ? taps->sum / sum : 1 / factor) - taps->value[i];

    error += away * away;
    taps->value[i] = rounded;
  }
  return sqrt(error);
}

static double
error_of(const CnvTapList *taps, double scale)
{
  double sum = 0;

  for (guint i = 0; i < taps->n; i++) {
    double error = rint(taps->value[i] * scale) / scale - taps->value[i];

    sum += error * error;
  }
  return sqrt(sum);
}

double
cnv_tap_list_integer_scale(const CnvTapList *taps, double largest, double *error)
{
  double smallest = taps->largest, best;

  if (taps->largest == 0) {
    *error = 0;
    return 1;
  }
  for (guint i = 0; i < taps->n; i++)
    if (fabs(taps->value[i]) > taps->largest * SMALLEST_PART)
      smallest = MIN(smallest, fabs(taps->value[i]));
  best = largest / taps->largest;
  *error = error_of(taps, best);
  for (int i = 1; i <= SCALE_TRIALS && i / smallest <= largest / taps->largest; i++) {
    double of = error_of(taps, i / smallest);

    if (of < *error || (of == *error && best == largest / taps->largest)) {
      *error = of;
      best = i / smallest;
    }
  }
  if (*error <= FLOAT_ERROR * taps->norm)
    *error = 0;
  return best;
}
