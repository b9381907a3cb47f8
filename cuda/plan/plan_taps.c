/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "plan/plan_planes.h"

#include <math.h>
#include <string.h>

/* Sum of taps at or below this part of the sum of their magnitudes counts as 0. */
#define SUM_ZERO 1e-9

/* The same part for sums of the taps that found a sample under renormalize, which engines add up in float32. */
#define FOUND_ZERO 1e-6

/* The index of the first of n floats that are in the store already as an axis, or -1. axes: the sets to look in. */
static int
find_axis(const CnvTapStore *store, const CnvTaps *from, const CnvTerm *sets, int n_sets)
{
  for (int i = 0; i < 2 * n_sets; i++) {
    const CnvTerm *set = &sets[i / 2];
    int axis = i % 2, k = 0;

    if (!set->separable || set->n[axis] != from->width)
      continue;
    while (k < from->width && g_array_index(store->taps, float, set->taps[axis] + k) == (float)from->value[k])
      k++;
    if (k == from->width)
      return (int)set->taps[axis];
  }
  return -1;
}

/* Appends the taps and returns the index of the first. */
static guint
append(const CnvTapStore *store, const CnvTaps *from)
{
  guint first = store->taps->len;

  for (int i = 0; i < from->width * from->height; i++) {
    float f = (float)from->value[i];

    g_array_append_val(store->taps, f);
  }
  return first;
}

static void
append_prefix_sums(const CnvTapStore *store, const CnvTaps *from)
{
  double sum = 0;

  for (int i = 0; i <= from->width; i++) {
    float f = (float)sum;

    g_array_append_val(store->taps, f);
    if (i < from->width)
      sum += (float)from->value[i];
  }
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

/* earlier: sets of the same plane, of which one may have the same axis. */
static CnvTapSums
store_axis(const CnvTapStore *store, CnvTerm *set, CnvAxis axis, const CnvKernelTerm *from, const CnvTerm *earlier,
           int n_earlier)
{
  const CnvTaps *taps = from->axis[axis];
  int found = find_axis(store, taps, earlier, n_earlier);
  CnvTapSums sums = sums_of(taps);

  set->n[axis] = taps->width;
  set->anchor[axis] = from->anchor[axis];
  if (found >= 0) {
    set->taps[axis] = (guint)found;
  } else {
    set->taps[axis] = append(store, taps);
    if (store->prefix)
      append_prefix_sums(store, taps);
  }
  set->sum[axis] = (float)sums.sum;
  set->epsilon[axis] = (float)(FOUND_ZERO * sums.magnitude);
  return sums;
}

static CnvTapSums
store_dense(const CnvTapStore *store, CnvTerm *set, const CnvKernelTerm *from)
{
  const CnvTaps *taps = from->dense;
  CnvTapSums sums = sums_of(taps);

  set->n[CNV_X] = taps->width;
  set->n[CNV_Y] = taps->height;
  for (int axis = 0; axis < CNV_N_AXES; axis++)
    set->anchor[axis] = from->anchor[axis];
  set->taps[0] = append(store, taps);
  set->sum[0] = (float)sums.sum;
  set->epsilon[0] = (float)(FOUND_ZERO * sums.magnitude);
  set->sum[1] = 1;
  return sums;
}

/* Makes term t of a plane, after those before it. */
static CnvTapSums
store_term(const CnvTapStore *store, CnvPlane *plane, int t, const CnvKernelTerm *from)
{
  CnvTerm *set = &plane->term[t];
  CnvTapSums x, y;

  memset(set, 0, sizeof(*set));
  set->temporal_tap = from->temporal_tap;
  if (from->dense)
    return store_dense(store, set, from);
  /* An axis that equals the set's own other one is found only once the set is marked. */
  x = store_axis(store, set, CNV_X, from, plane->term, t);
  set->separable = TRUE;
  set->n[CNV_Y] = 0;
  y = store_axis(store, set, CNV_Y, from, plane->term, t + 1);
  return (CnvTapSums){x.sum * y.sum, x.magnitude * y.magnitude, x.exact * y.exact};
}

CnvTapSums
cnv_tap_store_add(const CnvTapStore *store, CnvPlane *plane, const CnvKernel *kernel, gboolean absolute)
{
  CnvTapSums all = {0, 0, 0};

  plane->n_terms = kernel->n_terms;
  plane->joint = kernel->n_terms > 1 && !kernel->magnitude;
  plane->combine = kernel->magnitude ? CNV_COMBINE_MAGNITUDE : absolute ? CNV_COMBINE_ABSOLUTE : CNV_COMBINE_SUM;
  for (int t = 0; t < kernel->n_terms; t++) {
    CnvTapSums sums = store_term(store, plane, t, &kernel->term[t]);

    all.sum += sums.sum;
    all.magnitude += sums.magnitude;
    all.exact += sums.exact;
  }
  plane->sum = (float)all.sum;
  plane->epsilon = (float)(FOUND_ZERO * all.magnitude);
  return all;
}
