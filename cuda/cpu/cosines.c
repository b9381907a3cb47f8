/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Approximates taps by a sum of cosines, after Sugimoto and Kamata, "Efficient constant-time Gaussian filter with
 * sliding DCT/DST-1", and others. The period may be longer than the taps, so the sum need not fade at their ends, and a
 * few cosines are enough for a truncated gaussian.
 */
#include "cpu/cpu.h"

#include <math.h>

#include "plan/arith.h"

#define TAPS_LEAST 27 /* multiplying by fewer taps is as fast */
#define TERMS (CNV_CPU_COSINES + 1)
#define PERIOD_FROM 0.9 /* range and steps of the search for the longest period, in lengths of the taps */
#define PERIOD_TO 2.2
#define PERIOD_STEP 0.1
#define PERIOD_FINE 0.02
#define SEARCH_ROWS 40 /* the search compares about this many taps */
#define WEIGHT_MOST 8  /* largest weight of a cosine, relative to the largest tap: larger ones cancel each other */

/* Largest root mean square error on noise along one axis, in levels, before the other axis smooths it. Five cosines
 * approximate a gaussian to 1e-7 to 3e-7: at 16 bits, at most 0.07 of a level. Four cosines leave up to 5 levels. */
#define COSINES_ERROR 1.2e-4
#define COSINES_ERROR_DEEP 0.02 /* for more than 10 bits */
#define COSINES_GAIN_MOST 1.5   /* beyond it running sums are not exact enough */

/* A least squares fit to the upper half of the taps by orthogonal columns. Tap k > 0 counts twice. */
typedef struct {
  int rows; /* number of taps compared */
  int step; /* distance of these taps */
  double column[TERMS][CNV_RADIUS_MAX + 1];
  double rest[CNV_RADIUS_MAX + 1]; /* the taps minus the fit */
  double upper[TERMS][TERMS];      /* triangular matrix from columns to cosines */
  double weight[TERMS];
} Fit;

/* Subtracts the component along a column of length 1, and returns it. */
static double
take_off(double *from, const double *column, int n)
{
  double part = cnv_dot(from, column, n);

  for (int i = 0; i < n; i++)
    from[i] -= part * column[i];
  return part;
}

/* Fits cosines to the taps. Returns the norm of the rest. */
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
    for (int i = 0; i < t; i++) /* again, to remove rounding errors */
      f->upper[i][t] += take_off(column, f->column[i], f->rows);
    length = f->upper[t][t] = sqrt(cnv_dot(column, column, f->rows));
    for (int k = 0; k < f->rows; k++)
      column[k] /= length;
    f->weight[t] = take_off(f->rest, column, f->rows);
  }
  return sqrt(cnv_dot(f->rest, f->rest, f->rows));
}

/* Returns the best period in a range. */
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

/* Converts the weights of columns to those of cosines. Returns the largest. */
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

/* Searches for the best period for n taps. Returns TRUE, with weights and omega, if the rest is within tolerance. */
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

/* Finds cosines for n taps of an axis. tolerance: largest norm of the rest. Returns FALSE if the taps do not
 * qualify. */
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

  if (from->n_terms > 1 || cnv_cpu_divides(plane) || term->taps[CNV_X].equal.n || term->taps[CNV_Y].equal.n)
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
