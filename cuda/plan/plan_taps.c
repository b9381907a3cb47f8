/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "plan/plan_planes.h"

#include <math.h>

/* Sum of taps at or below this part of the sum of their magnitudes counts as 0. */
#define SUM_ZERO 1e-9

/* The same part for sums of the taps that found a sample under renormalize, which engines add up in float32. */
#define FOUND_ZERO 1e-6

/* Index of an axis with these taps that one of the plane's terms up to `last` has already, or -1. */
static int
find_axis(const GArray *taps, const CnvPlane *plane, const CnvTerm *last, const CnvTaps *from)
{
  for (const CnvTerm *term = plane->term; term <= last; term++)
    for (int axis = 0; axis < CNV_N_AXES && term->separable; axis++) {
      int k = 0;

      if (term->n[axis] != from->width)
        continue;
      while (k < from->width && g_array_index(taps, float, term->taps[axis] + k) == (float)from->value[k])
        k++;
      if (k == from->width)
        return (int)term->taps[axis];
    }
  return -1;
}

/* Appends taps and, for renormalize, those of an axis as prefix sums too. Returns the index of the first. */
static guint
append(GArray *taps, const CnvTaps *from, gboolean prefix)
{
  guint first = taps->len;
  int n = from->width * from->height;
  double sum = 0;

  for (int i = 0; i < n; i++) {
    float f = (float)from->value[i];

    g_array_append_val(taps, f);
  }
  for (int i = 0; i <= n && prefix; i++) {
    float f = (float)sum;

    g_array_append_val(taps, f);
    sum += i < n ? (float)from->value[i] : 0;
  }
  return first;
}

static CnvTapSums
sums_of(const CnvTaps *taps)
{
  CnvTapSums sums = {0, 0, 0};

  for (int i = 0; i < taps->width * taps->height; i++) {
    double t = (float)taps->value[i];

    sums.sum += t;
    sums.magnitude += fabs(t);
    sums.exact += taps->value[i];
  }
  return sums;
}

gboolean
cnv_tap_sums_cancel(CnvTapSums sums)
{
  return sums.sum == 0 || fabs(sums.exact) <= SUM_ZERO * sums.magnitude;
}

static CnvTapSums
store_axis(GArray *taps, const CnvPlane *plane, CnvTerm *term, CnvAxis axis, const CnvKernelTerm *from)
{
  int found = find_axis(taps, plane, term, from->axis[axis]);
  CnvTapSums sums = sums_of(from->axis[axis]);

  term->n[axis] = from->axis[axis]->width;
  term->anchor[axis] = from->anchor[axis];
  term->taps[axis] = found >= 0 ? (guint)found : append(taps, from->axis[axis], cnv_border_renormalizes(plane->border));
  term->sum[axis] = (float)sums.sum;
  term->epsilon[axis] = (float)(FOUND_ZERO * sums.magnitude);
  return sums;
}

static CnvTapSums
store_dense(GArray *taps, CnvTerm *term, const CnvKernelTerm *from)
{
  CnvTapSums sums = sums_of(from->dense);

  term->n[CNV_X] = from->dense->width;
  term->n[CNV_Y] = from->dense->height;
  for (int axis = 0; axis < CNV_N_AXES; axis++)
    term->anchor[axis] = from->anchor[axis];
  term->taps[0] = append(taps, from->dense, FALSE);
  term->sum[0] = (float)sums.sum;
  term->epsilon[0] = (float)(FOUND_ZERO * sums.magnitude);
  term->sum[1] = 1;
  return sums;
}

/* Makes a term of a plane, after those before it. */
static CnvTapSums
store_term(GArray *taps, const CnvPlane *plane, CnvTerm *term, const CnvKernelTerm *from)
{
  CnvTapSums x, y;

  *term = (CnvTerm){.temporal_tap = from->temporal_tap};
  if (from->dense)
    return store_dense(taps, term, from);
  x = store_axis(taps, plane, term, CNV_X, from);
  term->separable = TRUE; /* now the term's own row is found, too */
  y = store_axis(taps, plane, term, CNV_Y, from);
  return (CnvTapSums){x.sum * y.sum, x.magnitude * y.magnitude, x.exact * y.exact};
}

CnvTapSums
cnv_plane_store_taps(CnvPlane *plane, GArray *taps, const CnvKernel *kernel, gboolean absolute)
{
  CnvTapSums all = {0, 0, 0};

  plane->n_terms = kernel->n_terms;
  plane->joint = kernel->n_terms > 1 && !kernel->magnitude;
  plane->combine = kernel->magnitude ? CNV_COMBINE_MAGNITUDE : absolute ? CNV_COMBINE_ABSOLUTE : CNV_COMBINE_SUM;
  for (int t = 0; t < kernel->n_terms; t++) {
    CnvTapSums sums = store_term(taps, plane, &plane->term[t], &kernel->term[t]);

    all.sum += sums.sum;
    all.magnitude += sums.magnitude;
    all.exact += sums.exact;
  }
  plane->sum = (float)all.sum;
  plane->epsilon = (float)(FOUND_ZERO * all.magnitude);
  return all;
}
