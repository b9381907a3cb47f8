/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gpu/half.h"

/* Multiples of the smallest tap's reciprocal that are tried as the scale. */
#define SCALE_TRIALS 64

/* Smaller taps, relative to the largest, are ignored in the search for the smallest. */
#define SMALLEST_PART 1e-4

/* Largest relative error of the taps that can come from float32 itself. */
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

/* Returns the distance from an f16 number to the next one. */
static double
spacing(double value)
{
  int exponent;

  frexp(value, &exponent);
  return ldexp(1, MAX(exponent, -13) - 11);
}

/* Returns the index of the tap for which a step of its own spacing towards the sum adds least to the squared error,
 * relative to the step. Only taps whose spacing is below twice the missing sum count. Returns n if there is none. off:
 * errors of the taps. */
static guint
find_step(const double *step, const double *off, guint n, double missing)
{
  double best = G_MAXDOUBLE, sign = copysign(1, missing);
  guint found = n;

  for (guint i = 0; i < n; i++)
    if (step[i] < 2 * fabs(missing) && step[i] + 2 * sign * off[i] < best) {
      best = step[i] + 2 * sign * off[i];
      found = i;
    }
  return found;
}

double
cnv_tap_list_round_to_half(CnvTapList *taps)
{
  g_autofree double *step = g_new(double, taps->n), *off = g_new(double, taps->n);
  double missing = taps->sum, error = 0;
  guint at;

  for (guint i = 0; i < taps->n; i++) {
    double exact = taps->value[i];

    taps->value[i] = cnv_from_half(cnv_to_half(exact));
    step[i] = spacing(taps->value[i]);
    off[i] = taps->value[i] - exact;
    missing -= taps->value[i];
  }
  while ((at = find_step(step, off, taps->n, missing)) < taps->n) {
    double by = copysign(step[at], missing);

    taps->value[at] += by;
    off[at] += by;
    step[at] = spacing(taps->value[at]);
    missing -= by;
  }
  for (guint i = 0; i < taps->n; i++)
    error += off[i] * off[i];
  return sqrt(error);
}

/* Returns the index of the tap with the largest rest in the direction of the missing sum. Only taps whose step is below
 * twice the missing sum count. Returns n if there is none. */
static guint
find_rest(const double *value, const double *rest, guint n, double grid, double missing)
{
  double sign = copysign(1, missing);
  guint found = n;

  for (guint i = 0; i < n; i++)
    if (MAX(grid, spacing(value[i])) < 2 * fabs(missing) && (found == n || sign * rest[i] > sign * rest[found]))
      found = i;
  return found;
}

void
cnv_tap_list_split(const CnvTapList *taps, double grid, double unit, guint16 *multiple, guint16 *rest)
{
  g_autofree double *value = g_new(double, taps->n), *left = g_new(double, taps->n);
  g_autofree gboolean *done = g_new0(gboolean, taps->n);
  double missing = taps->sum, carry = 0;

  for (guint i = 0; i < taps->n; i++) {
    value[i] = cnv_from_half(cnv_to_half(rint(taps->value[i] / grid) * grid));
    left[i] = taps->value[i] - value[i];
    missing -= value[i];
  }
  for (guint i; (i = find_rest(value, left, taps->n, grid, missing)) < taps->n;) {
    double step = copysign(MAX(grid, spacing(value[i])), missing);

    value[i] += step;
    left[i] -= step;
    missing -= step;
  }
  /* The rounding error of a tap's rest is carried to the next smaller rest, whose f16 numbers are closer together. */
  for (guint k = 0; k < taps->n; k++) {
    guint at = taps->n;
    double wanted;

    for (guint i = 0; i < taps->n; i++)
      if (!done[i] && (at == taps->n || fabs(left[i]) > fabs(left[at])))
        at = i;
    done[at] = TRUE;
    wanted = left[at] + carry;
    multiple[at] = cnv_to_half(value[at]);
    rest[at] = cnv_to_half(wanted * unit);
    carry = wanted - cnv_from_half(rest[at]) / unit;
  }
}

double
cnv_tap_list_scale_to_half(CnvTapList *taps, double factor)
{
  g_autofree double *exact = g_memdup2(taps->value, taps->n * sizeof(double));
  double sum = 0, back, error = 0;

  for (guint i = 0; i < taps->n; i++) {
    taps->value[i] = cnv_from_half(cnv_to_half(exact[i] * factor));
    sum += taps->value[i];
  }
  back = sum != 0 ? taps->sum / sum : 1 / factor;
  for (guint i = 0; i < taps->n; i++)
    error += (taps->value[i] * back - exact[i]) * (taps->value[i] * back - exact[i]);
  return sqrt(error);
}

/* Returns the sum of the squares of the errors of the taps, rounded to integers after multiplying by a scale. Stops as
 * soon as the sum is larger than `most`. */
static double
sum_squares(const CnvTapList *taps, double scale, double most)
{
  double sum = 0;

  for (guint i = 0; i < taps->n && sum <= most; i++) {
    double error = rint(taps->value[i] * scale) / scale - taps->value[i];

    sum += error * error;
  }
  return sum;
}

double
cnv_tap_list_integer_scale(const CnvTapList *taps, double largest, double *error)
{
  double smallest = taps->largest, first = largest / taps->largest, best = first, least;

  *error = 0;
  if (taps->largest == 0)
    return 1;
  for (guint i = 0; i < taps->n; i++)
    if (fabs(taps->value[i]) > taps->largest * SMALLEST_PART)
      smallest = MIN(smallest, fabs(taps->value[i]));
  least = sum_squares(taps, best, G_MAXDOUBLE);
  for (int i = 1; i <= SCALE_TRIALS && i / smallest <= first && (least > 0 || best == first); i++) {
    double squares = sum_squares(taps, i / smallest, least);

    if (squares < least || (squares == least && best == first)) {
      least = squares;
      best = i / smallest;
    }
  }
  if (sqrt(least) > FLOAT_ERROR * taps->norm)
    *error = sqrt(least);
  return best;
}
