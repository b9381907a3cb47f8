/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Taps as a sum of cosines, after Sugimoto and Kamata, "Efficient constant-time Gaussian filter with sliding
 * DCT/DST-1", and others. Their periods are longer than the taps, so that few cosines make a truncated gaussian: the
 * sum need not fade where the taps end.
 */
#include "cpu/cpu.h"

#include <math.h>

#include "plan/arith.h"

#define TAPS_LEAST 27 /* below it multiplying each is as fast */
#define TERMS (CNV_CPU_COSINES + 1)
#define PERIOD_FROM 0.9 /* the longest cosine's, by the number of taps */
#define PERIOD_TO 2.2
#define PERIOD_STEP 0.1
#define PERIOD_FINE 0.02
#define SEARCH_ROWS 40 /* taps that the search for it looks at */
#define WEIGHT_MOST 8  /* times the largest tap: beyond it cosines cancel each other */

/* Errors that taps as cosines may make along one axis, before the other smoothes them: levels, as a mean over noise.
 * Five cosines leave 1e-7 to 3e-7 of a gaussian: of 16 bits 0.03 of a level at worst. */
#define COSINES_ERROR 1.2e-4
#define COSINES_ERROR_DEEP 0.02 /* of more than 10 bits */
#define COSINES_GAIN_MOST 1.5   /* beyond it sums that slide are not exact enough */

/* A least squares fit to the upper half of the taps by orthogonal columns. Tap k > 0 counts twice. */
typedef struct {
  int rows; /* taps that are looked at */
  int step; /* from each to the next */
  double column[TERMS][CNV_RADIUS_MAX + 1];
  double rest[CNV_RADIUS_MAX + 1]; /* of the taps */
  double upper[TERMS][TERMS];      /* from columns to cosines */
  double weight[TERMS];
} Fit;

/* Takes the part along a column of length 1 off. Returns how much that was. */
static double
take_off(double *from, const double *column, int n)
{
  double part = cnv_dot(from, column, n);

  for (int i = 0; i < n; i++)
    from[i] -= part * column[i];
  return part;
}

/* Returns the norm of what is left of the taps. */
static double
fit(Fit *f, const float *middle, double omega)
{
  for (int k = 0; k < f->rows; k++) {
    double twice = k ? G_SQRT2 : 1, once = cos(omega * k * f->step), here = 1, before = once;

    f->rest[k] = middle[k * f->step] * twice;
    for (int t = 0; t < TERMS; t++) {
      double next = 2 * once * here - before;

      f->column[t][k] = here * twice;
      before = here;
      here = next;
    }
  }
  for (int t = 0; t < TERMS; t++) {
    double *column = f->column[t], length;

    for (int i = 0; i < t; i++)
      f->upper[i][t] = take_off(column, f->column[i], f->rows);
    for (int i = 0; i < t; i++) /* again, for rounding */
      f->upper[i][t] += take_off(column, f->column[i], f->rows);
    length = f->upper[t][t] = sqrt(cnv_dot(column, column, f->rows));
    for (int k = 0; k < f->rows; k++)
      column[k] /= length;
    f->weight[t] = take_off(f->rest, column, f->rows);
  }
  return sqrt(cnv_dot(f->rest, f->rest, f->rows));
}

/* The best period in a range. */
static double
best_period(Fit *f, const float *middle, int n, double from, double to, double step)
{
  double best = from, least = G_MAXDOUBLE;

  for (double period = from; period <= to; period += step) {
    double rest = fit(f, middle, 2 * G_PI / (period * n));

    if (rest < least) {
      least = rest;
      best = period;
    }
  }
  return best;
}

/* Weights of columns become those of cosines. Returns the largest. */
static double
solve(Fit *f)
{
  double largest = 0;

  for (int t = TERMS - 1; t >= 0; t--) {
    for (int i = t + 1; i < TERMS; i++)
      f->weight[t] -= f->upper[t][i] * f->weight[i];
    f->weight[t] /= f->upper[t][t];
    largest = MAX(largest, fabs(f->weight[t]));
  }
  return largest;
}

/* TRUE with the fit's weights and omega where the n taps are such a sum. */
static gboolean
search(Fit *f, const float *middle, int n, double tolerance, double *omega)
{
  double period;

  f->step = MAX(n / 2 / SEARCH_ROWS, 1);
  f->rows = n / 2 / f->step + 1;
  period = best_period(f, middle, n, PERIOD_FROM, PERIOD_TO, PERIOD_STEP);
  period = best_period(f, middle, n, period - PERIOD_STEP, period + PERIOD_STEP, PERIOD_FINE);
  *omega = 2 * G_PI / (period * n);
  f->step = 1;
  f->rows = n / 2 + 1;
  return fit(f, middle, *omega) <= tolerance && solve(f) <= WEIGHT_MOST * fabs(middle[0]);
}

/* n taps of an axis as cosines, but for a rest of that norm. */
static gboolean
find(CpuCosines *cosines, const float *taps, int n, double tolerance)
{
  Fit f;

  for (int i = 0; i < n / 2; i++)
    if (taps[i] != taps[n - 1 - i])
      return FALSE;
  if (n < TAPS_LEAST || n % 2 == 0 || !search(&f, taps + n / 2, n, tolerance, &cosines->omega))
    return FALSE;
  cosines->radius = n / 2;
  memcpy(cosines->weight, f.weight, sizeof cosines->weight);
  return TRUE;
}

void
cnv_cpu_cosines_fill(CpuCosines *cosines, float *start)
{
  int radius = cosines->radius;

  cosines->constant = (float)cosines->weight[0];
  cosines->start = start;
  for (int i = 0; i < CNV_CPU_COSINES; i++) {
    double weight = cosines->weight[i + 1], omega = cosines->omega * (i + 1);

    cosines->kappa[i] = (float)(4 * sin(omega / 2) * sin(omega / 2));
    cosines->alpha[i] = (float)(weight * cos(omega * radius));
    cosines->gamma[i] = (float)(weight * (cos(omega * radius) - cos(omega * (radius + 1))));
    for (int k = -radius; k <= radius; k++) {
      float *at = start + (gsize)(k + radius) * 2 * CNV_CPU_COSINES + i;
      double next = k < radius ? cos(omega * (k + 1)) : 0;

      at[0] = (float)(weight * cos(omega * k));
      at[CNV_CPU_COSINES] = (float)(weight * (cos(omega * k) - next));
    }
  }
}

gboolean
cnv_cpu_find_cosines(CpuPlane *plane)
{
  const CnvPlane *from = plane->from;
  CpuTerm *term = &plane->term[0];
  double size[CNV_N_AXES] = {0, 0}, gain = 0, error = from->full[0] > 1023 ? COSINES_ERROR_DEEP : COSINES_ERROR;

  if (from->n_terms > 1 || cnv_cpu_divides(plane) || term->taps[CNV_X].run.n || term->taps[CNV_Y].run.n)
    return FALSE;
  for (int c = 0; c < from->channels; c++)
    gain = MAX(gain, fabs(from->gain[c]));
  for (int axis = 0; axis < CNV_N_AXES; axis++)
    for (int i = 0; i < term->from->n[axis]; i++)
      size[axis] += fabs(plane->plan->taps[term->from->taps[axis] + i]);
  if (gain == 0 || gain * size[CNV_X] * size[CNV_Y] > COSINES_GAIN_MOST)
    return FALSE;
  for (int axis = 0; axis < CNV_N_AXES; axis++) {
    double noise = from->full[0] / sqrt(12) * gain * size[CNV_N_AXES - 1 - axis];

    if (axis > 0 && term->from->taps[axis] == term->from->taps[0]) /* equal axes are stored once */
      term->cosines[axis] = term->cosines[0];
    else if (!find(&term->cosines[axis], plane->plan->taps + term->from->taps[axis], term->from->n[axis],
                   error / noise))
      return FALSE;
  }
  return TRUE;
}
