/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Access to taps by position, for the tests of filters.
 */
#pragma once

#include <math.h>
#include <string.h>

#include "plan/kernel.h"

#include "support/filter.h"
#include "support/suite.h"

static const int full_size[CNV_N_AXES] = {1, 1};

static inline CnvFilter
filter_of(CnvFilterType type, int radius)
{
  CnvFilter filter;

  test_filter_init(&filter);
  filter.type = type;
  filter.radius = radius;
  return filter;
}

static inline CnvFilter
custom(int width, int height, const double *values)
{
  CnvFilter filter = filter_of(CNV_FILTER_CUSTOM, -1);

  filter.kernel = cnv_taps_new(width, height, values);
  return filter;
}

static inline CnvKernel
generate(const CnvFilter *filter, const int subsample[CNV_N_AXES])
{
  GError *error = NULL;
  CnvKernel kernel;

  if (!cnv_filter_generate(filter, subsample, &kernel, &error))
    ck_abort_msg("no taps: %s", error->message);
  return kernel;
}

/* Returns the tap of an axis at an offset from the output sample. */
static inline double
axis_at(const CnvKernelTerm *term, int axis, int offset)
{
  const int i = offset + term->anchor[axis];

  return i >= 0 && i < term->axis[axis]->width ? term->axis[axis]->value[i] : 0;
}

static inline double
term_at(const CnvKernelTerm *term, int x, int y)
{
  const int i = x + term->anchor[CNV_X], j = y + term->anchor[CNV_Y];

  if (!term->dense)
    return axis_at(term, CNV_X, x) * axis_at(term, CNV_Y, y);
  return i >= 0 && i < term->dense->width && j >= 0 && j < term->dense->height
             ? term->dense->value[j * term->dense->width + i]
             : 0;
}

static inline double
kernel_at(const CnvKernel *kernel, int x, int y)
{
  double sum = 0;

  for (int t = 0; t < kernel->n_terms; t++)
    sum += term_at(&kernel->term[t], x, y);
  return sum;
}

/* Returns the sum of tap * x^px * y^py over offsets up to reach. */
static inline double
moment(const CnvKernel *kernel, int reach, int px, int py)
{
  double sum = 0;

  for (int y = -reach; y <= reach; y++)
    for (int x = -reach; x <= reach; x++)
      sum += kernel_at(kernel, x, y) * pow(x, px) * pow(y, py);
  return sum;
}

static inline void
assert_near(double found, double expected, double tolerance, const char *what, int x, int y)
{
  ck_assert_msg(fabs(found - expected) <= tolerance, "%s at %d, %d is %.15g, not %.15g", what, x, y, found, expected);
}

static inline void
assert_term(const CnvKernelTerm *term, int axis, int n, const double *expected)
{
  ck_assert_msg(!term->dense && term->axis[axis], "the kernel is not a row and a column");
  ck_assert_int_eq(term->axis[axis]->width, n);
  ck_assert_int_eq(term->axis[axis]->height, 1);
  ck_assert_int_eq(term->anchor[axis], (n - 1) / 2);
  for (int i = 0; i < n; i++)
    assert_near(term->axis[axis]->value[i], expected[i], 1e-12, "tap", i, 0);
}

static inline void
assert_axis(const CnvKernel *kernel, int axis, int n, const double *expected)
{
  ck_assert_int_eq(kernel->n_terms, 1);
  assert_term(&kernel->term[0], axis, n, expected);
}

/* Checks that the filter is rejected with CNV_ERROR_SETTINGS and a message that contains each of the words. */
static inline void
assert_refused(const CnvFilter *filter, const char *const *words)
{
  GError *error = NULL;
  CnvKernel kernel;

  ck_assert_msg(!cnv_filter_generate(filter, full_size, &kernel, &error), "taps were made, not: %s", words[0]);
  ck_assert(kernel.n_terms == 0 && !kernel.term[0].dense && !kernel.term[0].axis[CNV_X]); /* nothing to clear */
  ck_assert_msg(g_error_matches(error, CNV_ERROR, CNV_ERROR_SETTINGS), "%s", error->message);
  for (; *words; words++)
    ck_assert_msg(strstr(error->message, *words) != NULL, "no \"%s\" in: %s", *words, error->message);
  g_clear_error(&error);
}
