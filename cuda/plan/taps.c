/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <math.h>
#include <string.h>

#include "plan/arith.h"
#include "plan/kernel.h"

CnvTaps *
cnv_taps_new_volume(int width, int height, int depth, const double *values)
{
  gsize bytes = sizeof(double) * width * height * depth;
  CnvTaps *taps = g_atomic_rc_box_alloc0(sizeof(CnvTaps) + bytes);

  taps->width = width;
  taps->height = height;
  taps->depth = depth;
  if (values)
    memcpy(taps->value, values, bytes);
  return taps;
}

CnvTaps *
cnv_taps_new(int width, int height, const double *values)
{
  return cnv_taps_new_volume(width, height, 1, values);
}

CnvTaps *
cnv_taps_ref(CnvTaps *taps)
{
  return g_atomic_rc_box_acquire(taps);
}

void
cnv_taps_unref(CnvTaps *taps)
{
  if (taps)
    g_atomic_rc_box_release(taps);
}

gboolean
cnv_taps_equal(const CnvTaps *a, const CnvTaps *b)
{
  if (a == b)
    return TRUE;
  if (!a || !b || a->width != b->width || a->height != b->height || a->depth != b->depth)
    return FALSE;
  return memcmp(a->value, b->value, sizeof(double) * a->width * a->height * a->depth) == 0;
}

double
cnv_taps_sum(const CnvTaps *taps)
{
  double sum = 0;

  for (int i = 0; i < taps->width * taps->height; i++)
    sum += taps->value[i];
  return sum;
}

double
cnv_taps_magnitude(const CnvTaps *taps)
{
  double sum = 0;

  for (int i = 0; i < taps->width * taps->height * taps->depth; i++)
    sum += fabs(taps->value[i]);
  return sum;
}

CnvTaps *
cnv_taps_scale(CnvTaps *taps, double factor)
{
  for (int i = 0; i < taps->width * taps->height; i++)
    taps->value[i] *= factor;
  return taps;
}

gboolean
cnv_taps_check_magnitude(double magnitude, const char *what, GError **error)
{
  if (magnitude == 0 || (magnitude >= 1 / CNV_TAPS_MAX && magnitude <= CNV_TAPS_MAX))
    return TRUE;
  return cnv_refuse(
      error,
      "%s: the magnitudes of the taps add up to %g, and %g to %g is possible: multiply all taps by one number, "
      "which normalize divides out again",
      what, magnitude, 1 / CNV_TAPS_MAX, CNV_TAPS_MAX);
}

gboolean
cnv_taps_check(const CnvTaps *taps, const char *what, GError **error)
{
  for (int i = 0; taps && i < taps->width * taps->height * taps->depth; i++)
    if (!isfinite(taps->value[i]))
      return cnv_refuse(error, "%s holds a tap that is not a finite number: correct it", what);
  return !taps || cnv_taps_check_magnitude(cnv_taps_magnitude(taps), what, error);
}

static int
largest_tap(const CnvTaps *taps)
{
  int largest = 0;

  for (int i = 1; i < taps->width * taps->height * taps->depth; i++)
    if (fabs(taps->value[i]) > fabs(taps->value[largest]))
      largest = i;
  return largest;
}

gboolean
cnv_taps_split_time(const CnvTaps *taps, double weight[], int *frame)
{
  const int area = taps->width * taps->height, pivot = largest_tap(taps);
  const double *base = taps->value + pivot / area * area;

  *frame = pivot / area;
  for (int k = 0; k < taps->depth; k++) {
    const double *at = taps->value + k * area;

    weight[k] = taps->value[pivot] != 0 ? at[pivot % area] / taps->value[pivot] : 0;
    for (int i = 0; i < area; i++)
      if (fabs(at[i] - weight[k] * base[i]) > 1e-9 * fabs(taps->value[pivot]))
        return FALSE;
  }
  return TRUE;
}

void
cnv_taps_add_point(CnvTaps *taps, double x, double y, double value)
{
  const double at[CNV_N_AXES] = {x, y};
  int first[CNV_N_AXES];
  double part[CNV_N_AXES];

  for (int axis = 0; axis < CNV_N_AXES; axis++) {
    const double nearest = rint(at[axis]);
    const double place = fabs(at[axis] - nearest) < 1e-9 ? nearest : at[axis]; /* only rounding moved it off the grid */

    first[axis] = (int)floor(place);
    part[axis] = place - first[axis];
  }
  for (int corner = 0; corner < 4; corner++) {
    const int i = first[CNV_X] + (corner & 1), j = first[CNV_Y] + (corner >> 1);
    const double weight = (corner & 1 ? part[CNV_X] : 1 - part[CNV_X]) * (corner >> 1 ? part[CNV_Y] : 1 - part[CNV_Y]);

    if (weight > 0)
      taps->value[j * taps->width + i] += weight * value;
  }
}

CnvTaps *
cnv_taps_gather(const CnvTaps *taps, const int step[CNV_N_AXES], gboolean flip, int anchor[CNV_N_AXES])
{
  const int old[CNV_N_AXES] = {anchor[CNV_X], anchor[CNV_Y]};
  int n[CNV_N_AXES] = {taps->width, taps->height};
  double scale[CNV_N_AXES];
  CnvTaps *out;

  for (int axis = 0; axis < CNV_N_AXES; axis++) {
    int after = n[axis] - 1 - old[axis];

    scale[axis] = (flip ? -1.0 : 1.0) / step[axis];
    if (flip && step[axis] == 1)
      anchor[axis] = after;
    if (step[axis] == 1)
      continue;
    anchor[axis] = cnv_divide_up(MAX(old[axis], after), step[axis]);
    n[axis] = 2 * anchor[axis] + 1;
  }
  out = cnv_taps_new(n[CNV_X], n[CNV_Y], NULL);
  for (int i = 0; i < taps->width * taps->height; i++)
    cnv_taps_add_point(out, (i % taps->width - old[CNV_X]) * scale[CNV_X] + anchor[CNV_X],
                       (i / taps->width - old[CNV_Y]) * scale[CNV_Y] + anchor[CNV_Y], taps->value[i]);
  return out;
}

/* Subtracts from rest the product of its row `at` and a column, after which all rows are orthogonal to that row. Stores
 * the row and the column. */
static void
take_product(CnvTaps *rest, int at, CnvTaps **row, CnvTaps **column)
{
  const int w = rest->width;
  double length;

  *row = cnv_taps_new(w, 1, rest->value + at * w);
  *column = cnv_taps_new(rest->height, 1, NULL);
  length = cnv_dot((*row)->value, (*row)->value, w);
  for (int j = 0; j < rest->height; j++) {
    double *line = rest->value + j * w, share = length != 0 ? cnv_dot(line, (*row)->value, w) / length : 0;

    (*column)->value[j] = share;
    for (int i = 0; i < w; i++)
      line[i] -= share * (*row)->value[i];
  }
}

/* Divides the row and multiplies the column by a factor, so that the product stays the same. */
static void
lengthen(CnvTaps *row, CnvTaps *column, double by)
{
  cnv_taps_scale(row, 1 / by);
  cnv_taps_scale(column, by);
}

static void
rotate(CnvTaps *p, CnvTaps *q, double c, double s)
{
  for (int i = 0; i < p->width; i++) {
    double from_p = p->value[i], from_q = q->value[i];

    p->value[i] = c * from_p - s * from_q;
    q->value[i] = s * from_p + c * from_q;
  }
}

/* Makes two columns orthogonal by a Jacobi rotation, and rotates their rows, which stay orthogonal. Returns FALSE if
 * the columns were orthogonal. */
static gboolean
make_orthogonal(CnvTaps *row[], CnvTaps *column[], int p, int q)
{
  const int n = column[p]->width;
  const double pp = cnv_dot(column[p]->value, column[p]->value, n), qq = cnv_dot(column[q]->value, column[q]->value, n);
  const double pq = cnv_dot(column[p]->value, column[q]->value, n), zeta = (qq - pp) / (2 * pq);
  const double t = copysign(1, zeta) / (fabs(zeta) + sqrt(1 + zeta * zeta)), c = 1 / sqrt(1 + t * t);

  if (fabs(pq) <= 1e-15 * sqrt(pp * qq))
    return FALSE;
  rotate(column[p], column[q], c, c * t);
  rotate(row[p], row[q], c, c * t);
  return TRUE;
}

/* Computes the singular value decomposition by one-sided Jacobi rotations. The rows from cnv_taps_factor are
 * orthogonal. At the end each row has the same norm as its column, so no product is larger than the sum. */
static void
balance(int rank, CnvTaps *row[], CnvTaps *column[])
{
  gboolean rotated = TRUE;

  for (int i = 0; i < rank; i++)
    lengthen(row[i], column[i], sqrt(cnv_dot(row[i]->value, row[i]->value, row[i]->width)));
  for (int sweep = 0; rotated && sweep < 30; sweep++) {
    rotated = FALSE;
    for (int p = 0; p < rank; p++)
      for (int q = p + 1; q < rank; q++)
        rotated |= make_orthogonal(row, column, p, q);
  }
  for (int i = 0; i < rank; i++)
    lengthen(row[i], column[i], 1 / sqrt(sqrt(cnv_dot(column[i]->value, column[i]->value, column[i]->width))));
}

/* Subtracts, in each step, the product along the row with the largest remaining tap. After as many steps as the rank,
 * nothing remains. */
int
cnv_taps_factor(const CnvTaps *taps, int max_rank, CnvTaps *row[], CnvTaps *column[])
{
  CnvTaps *rest = cnv_taps_new(taps->width, taps->height, taps->value);
  int pivot = largest_tap(rest), rank = 0;
  const double negligible = 1e-9 * fabs(rest->value[pivot]);
  gboolean done = FALSE;

  while (!done && rank < max_rank) {
    take_product(rest, pivot / rest->width, &row[rank], &column[rank]);
    rank++;
    pivot = largest_tap(rest);
    done = fabs(rest->value[pivot]) <= negligible;
  }
  cnv_taps_unref(rest);
  if (done && rank > 1)
    balance(rank, row, column);
  if (done)
    return rank;
  while (rank-- > 0) {
    g_clear_pointer(&row[rank], cnv_taps_unref);
    g_clear_pointer(&column[rank], cnv_taps_unref);
  }
  return 0;
}
