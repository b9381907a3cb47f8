/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Filters as values, and the taps made from them.
 */
#include <math.h>
#include <string.h>

#include <convolve/filter.h>

#include "suite.h"

static const int full_size[CNV_N_AXES] = {1, 1};

static CnvKernel
generate(const CnvFilter *filter, const int subsample[CNV_N_AXES])
{
  GError *error = NULL;
  CnvKernel kernel;

  if (!cnv_filter_generate(filter, subsample, &kernel, &error))
    ck_abort_msg("no taps: %s", error->message);
  return kernel;
}

static CnvFilter
custom(int width, int height, const double *values)
{
  CnvFilter filter;

  cnv_filter_init(&filter);
  filter.type = CNV_FILTER_CUSTOM;
  filter.kernel = cnv_taps_new(width, height, values);
  return filter;
}

static void
assert_axis(const CnvKernel *kernel, CnvAxis axis, int n, const double *expected)
{
  ck_assert_msg(!kernel->dense && kernel->axis[axis], "the kernel is not a row and a column");
  ck_assert_int_eq(kernel->axis[axis]->width, n);
  ck_assert_int_eq(kernel->axis[axis]->height, 1);
  for (int i = 0; i < n; i++)
    ck_assert_msg(fabs(kernel->axis[axis]->value[i] - expected[i]) < 1e-12, "tap %d is %.15g, not %.15g", i,
                  kernel->axis[axis]->value[i], expected[i]);
}

/* Refused, as settings, with each of the words in the message. */
static void
assert_refused(const CnvFilter *filter, const char *const *words)
{
  GError *error = NULL;
  CnvKernel kernel;

  ck_assert_msg(!cnv_filter_generate(filter, full_size, &kernel, &error), "taps were made");
  ck_assert_msg(g_error_matches(error, CNV_ERROR, CNV_ERROR_SETTINGS), "%s", error->message);
  for (; *words; words++)
    ck_assert_msg(strstr(error->message, *words) != NULL, "no \"%s\" in: %s", *words, error->message);
  g_clear_error(&error);
}

START_TEST(test_defaults)
{
  CnvFilter filter;
  CnvKernel kernel;

  cnv_filter_init(&filter);
  ck_assert_int_eq(filter.type, CNV_FILTER_GAUSSIAN);
  ck_assert_int_eq(filter.border, CNV_BORDER_REPLICATE);
  ck_assert_uint_eq(filter.border_color, 0xff000000);
  ck_assert(filter.normalize && filter.scale == 1 && filter.bias == 0 && filter.truncate == 3);
  ck_assert(!filter.kernel && !filter.kernel_axis[CNV_X] && !filter.kernel_axis[CNV_Y]);
  kernel = generate(&filter, full_size);
  ck_assert_int_eq(kernel.axis[CNV_X]->width, 17);
  ck_assert_int_eq(kernel.axis[CNV_Y]->width, 17);
  cnv_kernel_clear(&kernel);
}
END_TEST

START_TEST(test_radius_and_sigma)
{
  static const struct {
    int radius, radius_x;
    double sigma, sigma_x, truncate;
    int expected_radius[CNV_N_AXES];
    double expected_sigma[CNV_N_AXES];
  } rows[] = {
      {-1, -1, 0, 0, 3, {8, 8}, {2.9, 2.9}}, /* neither set */
      {3, -1, 0, 0, 3, {3, 3}, {1.4, 1.4}},  /* OpenCV's rule */
      {1, -1, 0, 0, 3, {1, 1}, {0.8, 0.8}},
      {-1, -1, 2, 0, 3, {6, 6}, {2, 2}},       /* from sigma */
      {-1, -1, 2.1, 0, 3, {7, 7}, {2.1, 2.1}}, /* rounded up */
      {-1, -1, 2, 0, 4, {8, 8}, {2, 2}},       /* truncate */
      {5, -1, 2, 0, 3, {5, 5}, {2, 2}},        /* a radius that is set wins */
      {5, 2, 0, 0, 3, {2, 5}, {1.1, 2}},       /* one axis apart */
      {5, 0, 0, 0, 3, {0, 5}, {0.5, 2}},       /* an axis left alone */
      {-1, -1, 1, 3, 3, {9, 3}, {3, 1}},       /* sigma of one axis */
      {-1, -1, 0, 3, 3, {9, 8}, {3, 2.9}},
      {-1, 4, 1, 0, 3, {4, 3}, {1, 1}},
      {-1, -1, 256, 0, 3, {768, 768}, {256, 256}}, /* beyond the limit; refused only when taps are made */
  };

  for (guint i = 0; i < G_N_ELEMENTS(rows); i++) {
    CnvFilter filter;

    cnv_filter_init(&filter);
    filter.radius = rows[i].radius;
    filter.radius_axis[CNV_X] = rows[i].radius_x;
    filter.sigma = rows[i].sigma;
    filter.sigma_axis[CNV_X] = rows[i].sigma_x;
    filter.truncate = rows[i].truncate;
    for (int axis = 0; axis < CNV_N_AXES; axis++) {
      ck_assert_msg(cnv_filter_radius(&filter, axis) == rows[i].expected_radius[axis], "row %u axis %d: radius %d", i,
                    axis, cnv_filter_radius(&filter, axis));
      ck_assert_msg(fabs(cnv_filter_sigma(&filter, axis) - rows[i].expected_sigma[axis]) < 1e-12,
                    "row %u axis %d: sigma %g", i, axis, cnv_filter_sigma(&filter, axis));
    }
  }
}
END_TEST

START_TEST(test_gaussian)
{
  static const int radii[] = {1, 2, 8, 100, 512};

  for (guint i = 0; i < G_N_ELEMENTS(radii); i++) {
    const int r = radii[i];
    CnvFilter filter;
    CnvKernel kernel;

    cnv_filter_init(&filter);
    filter.radius = r;
    kernel = generate(&filter, full_size);
    for (int axis = 0; axis < CNV_N_AXES; axis++) {
      const CnvTaps *taps = kernel.axis[axis];
      const double sigma = 0.3 * (r - 1) + 0.8;

      ck_assert_int_eq(taps->width, 2 * r + 1);
      for (int k = 1; k <= r; k++) {
        ck_assert(taps->value[r + k] == taps->value[r - k]);
        ck_assert(taps->value[r + k] < taps->value[r + k - 1]);
        ck_assert(fabs(taps->value[r + k] / taps->value[r] - exp(-k * k / (2 * sigma * sigma))) < 1e-12);
      }
    }
    cnv_kernel_clear(&kernel);
  }
}
END_TEST

/* On halved chroma a blur keeps its width in luma samples: sigma halves, the radius is rounded up. */
START_TEST(test_gaussian_on_chroma)
{
  CnvFilter filter;
  CnvKernel luma, chroma;

  cnv_filter_init(&filter);
  filter.radius = 5;
  luma = generate(&filter, full_size);
  chroma = generate(&filter, (const int[]){2, 1});
  ck_assert_int_eq(chroma.axis[CNV_X]->width, 2 * 3 + 1);
  ck_assert_int_eq(chroma.axis[CNV_Y]->width, 2 * 5 + 1);
  for (int k = 0; k <= 2; k++)
    ck_assert(fabs(chroma.axis[CNV_X]->value[3 + k] / chroma.axis[CNV_X]->value[3] -
                   luma.axis[CNV_X]->value[5 + 2 * k] / luma.axis[CNV_X]->value[5]) < 1e-12);
  cnv_kernel_clear(&luma);
  cnv_kernel_clear(&chroma);
}
END_TEST

START_TEST(test_box)
{
  static const double ones[] = {1, 1, 1, 1, 1, 1, 1};
  static const struct {
    int radius, subsample, n;
    double taps[7];
  } rows[] = {
      {3, 1, 7, {1, 1, 1, 1, 1, 1, 1}},
      {3, 2, 5, {0.25, 1, 1, 1, 0.25}},
      {2, 2, 3, {0.75, 1, 0.75}},
      {1, 2, 3, {0.25, 1, 0.25}},
      {0, 2, 1, {1}},
      {1, 4, 1, {1}},
      {3, 4, 3, {0.375, 1, 0.375}},
  };

  for (guint i = 0; i < G_N_ELEMENTS(rows); i++) {
    CnvFilter filter;
    CnvKernel kernel;

    cnv_filter_init(&filter);
    filter.type = CNV_FILTER_BOX;
    filter.radius = rows[i].radius;
    kernel = generate(&filter, (const int[]){rows[i].subsample, 1});
    assert_axis(&kernel, CNV_X, rows[i].n, rows[i].taps);
    assert_axis(&kernel, CNV_Y, 2 * rows[i].radius + 1, ones);
    cnv_kernel_clear(&kernel);
  }
}
END_TEST

START_TEST(test_custom_on_chroma)
{
  static const double row[] = {1, 2, 1}, even[] = {4, 8}, wide[] = {1, 0, 0, 0, 6, 0, 0, 0, 1};
  static const struct {
    int n, subsample, expected_n;
    const double *taps;
    double expected[7];
  } rows[] = {
      {3, 2, 3, row, {0.5, 3, 0.5}},    {2, 2, 3, even, {0, 8, 4}}, {2, 4, 3, even, {0, 10, 2}},
      {9, 2, 5, wide, {1, 0, 6, 0, 1}}, {9, 4, 3, wide, {1, 6, 1}},
  };

  for (guint i = 0; i < G_N_ELEMENTS(rows); i++) {
    CnvFilter filter = custom(rows[i].n, 1, rows[i].taps);
    CnvKernel kernel = generate(&filter, (const int[]){rows[i].subsample, 1});
    double scale = kernel.axis[CNV_Y]->value[0];

    for (int k = 0; k < kernel.axis[CNV_X]->width; k++)
      kernel.axis[CNV_X]->value[k] *= scale;
    assert_axis(&kernel, CNV_X, rows[i].expected_n, rows[i].expected);
    cnv_kernel_clear(&kernel);
    cnv_filter_clear(&filter);
  }
}
END_TEST

START_TEST(test_separability)
{
  static const double sobel[] = {-1, 0, 1, -2, 0, 2, -1, 0, 1}, plus[] = {0, 1, 0, 1, 4, 1, 0, 1, 0};
  static const double almost[] = {1, 2, 1, 2, 4.0001, 2, 1, 2, 1};
  static const struct {
    const double *taps;
    gboolean separable;
  } rows[] = {{sobel, TRUE}, {plus, FALSE}, {almost, FALSE}};

  for (guint i = 0; i < G_N_ELEMENTS(rows); i++) {
    CnvFilter filter = custom(3, 3, rows[i].taps);
    CnvKernel kernel = generate(&filter, full_size);

    ck_assert_msg((kernel.dense == NULL) == rows[i].separable, "kernel %u", i);
    for (int k = 0; k < 9; k++) {
      double tap =
          kernel.dense ? kernel.dense->value[k] : kernel.axis[CNV_X]->value[k % 3] * kernel.axis[CNV_Y]->value[k / 3];

      ck_assert_msg(fabs(tap - rows[i].taps[k]) < 1e-12, "kernel %u tap %d is %g", i, k, tap);
    }
    cnv_kernel_clear(&kernel);
    cnv_filter_clear(&filter);
  }
}
END_TEST

START_TEST(test_custom_axes)
{
  static const double x[] = {1, 2, 3, 4}, one[] = {1};
  CnvFilter filter;
  CnvKernel kernel;

  cnv_filter_init(&filter);
  filter.type = CNV_FILTER_CUSTOM;
  filter.kernel_axis[CNV_X] = cnv_taps_new(4, 1, x);
  kernel = generate(&filter, full_size);
  assert_axis(&kernel, CNV_X, 4, x);
  assert_axis(&kernel, CNV_Y, 1, one);
  cnv_kernel_clear(&kernel);
  cnv_filter_clear(&filter);
}
END_TEST

START_TEST(test_limits)
{
  CnvFilter filter = custom(1, 1, NULL);

  cnv_filter_clear(&filter);
  assert_refused(&filter, (const char *[]){"kernel", NULL}); /* custom without taps */

  cnv_filter_init(&filter);
  filter.radius = CNV_RADIUS_MAX + 1;
  assert_refused(&filter, (const char *[]){"513", "512", NULL});
  filter.radius = -1;
  filter.sigma = 200;
  assert_refused(&filter, (const char *[]){"600", "512", "sigma", "truncate", NULL});

  filter = custom(2 * CNV_RADIUS_MAX + 2, 1, NULL);
  filter.kernel->value[0] = 1;
  assert_refused(&filter, (const char *[]){"1026", "1025", NULL});
  cnv_filter_clear(&filter);

  filter = custom(CNV_DENSE_MAX + 1, 2, NULL);
  filter.kernel->value[0] = filter.kernel->value[CNV_DENSE_MAX + 2] = 1;
  assert_refused(&filter, (const char *[]){"128", "127", NULL});
  cnv_filter_clear(&filter);

  filter = custom(3, 1, (const double[]){1, NAN, 1});
  assert_refused(&filter, (const char *[]){"finite", NULL});
  cnv_filter_clear(&filter);

  filter = custom(1, 1, (const double[]){1});
  filter.kernel_axis[CNV_Y] = cnv_taps_new(1, 1, (const double[]){1});
  assert_refused(&filter, (const char *[]){"kernel-x", "kernel-y", NULL}); /* both ways at once */
  cnv_filter_clear(&filter);
}
END_TEST

START_TEST(test_equal_and_copy)
{
  static const double taps[] = {1, 2, 1};
  CnvFilter a = custom(3, 1, taps), b = custom(3, 1, taps), copy;

  ck_assert(cnv_filter_equal(&a, &b)); /* by the taps' values, not their addresses */
  cnv_filter_copy(&copy, &a);
  cnv_filter_clear(&a);
  ck_assert(cnv_filter_equal(&copy, &b)); /* the copy has its own reference */
  copy.sigma_axis[CNV_Y] = 1;
  ck_assert(!cnv_filter_equal(&copy, &b));
  copy.sigma_axis[CNV_Y] = 0;
  copy.border = CNV_BORDER_WRAP;
  ck_assert(!cnv_filter_equal(&copy, &b));
  copy.border = b.border;
  cnv_taps_unref(copy.kernel);
  copy.kernel = cnv_taps_new(1, 3, taps); /* same numbers, another shape */
  ck_assert(!cnv_filter_equal(&copy, &b));
  cnv_filter_clear(&copy);
  cnv_filter_clear(&b);
}
END_TEST

/* Tables that properties are made from are complete and in the order of their enums. */
START_TEST(test_tables)
{
  int n = 0;

  for (; cnv_filters[n].nick.nick; n++)
    ck_assert_msg(cnv_filters[n].nick.value == n && cnv_filters[n].nick.blurb && cnv_filters[n].generate, "filter %d",
                  n);
  ck_assert_int_eq(n, CNV_FILTER_CUSTOM + 1);
  for (n = 0; cnv_border_nicks[n].nick; n++)
    ck_assert_msg(cnv_border_nicks[n].value == n && cnv_border_nicks[n].blurb, "border %d", n);
  ck_assert_int_eq(n, CNV_BORDER_RENORMALIZE + 1);
}
END_TEST

static Suite *
filter_suite(void)
{
  Suite *suite = suite_create("filter");
  TCase *tcase = tcase_create("filter");

  suite_add_tcase(suite, tcase);
  tcase_add_test(tcase, test_defaults);
  tcase_add_test(tcase, test_radius_and_sigma);
  tcase_add_test(tcase, test_gaussian);
  tcase_add_test(tcase, test_gaussian_on_chroma);
  tcase_add_test(tcase, test_box);
  tcase_add_test(tcase, test_custom_on_chroma);
  tcase_add_test(tcase, test_separability);
  tcase_add_test(tcase, test_custom_axes);
  tcase_add_test(tcase, test_limits);
  tcase_add_test(tcase, test_equal_and_copy);
  tcase_add_test(tcase, test_tables);
  return suite;
}

int
main(void)
{
  return test_suite_run(filter_suite());
}
