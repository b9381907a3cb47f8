/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The taps of each filter.
 */
#include "unit/filter_taps.h"

START_TEST(test_gaussian)
{
  static const int radii[] = {1, 2, 8, 100, 512};

  for (guint i = 0; i < G_N_ELEMENTS(radii); i++) {
    const int r = radii[i];
    CnvFilter filter;
    CnvKernel kernel;

    test_filter_init(&filter);
    filter.radius = r;
    kernel = generate(&filter, full_size);
    for (int axis = 0; axis < CNV_N_AXES; axis++) {
      const CnvTaps *taps = kernel.term[0].axis[axis];
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

  test_filter_init(&filter);
  filter.radius = 5;
  luma = generate(&filter, full_size);
  chroma = generate(&filter, (const int[]){2, 1});
  ck_assert_int_eq(chroma.term[0].axis[CNV_X]->width, 2 * 3 + 1);
  ck_assert_int_eq(chroma.term[0].axis[CNV_Y]->width, 2 * 5 + 1);
  for (int k = 0; k <= 2; k++)
    ck_assert(fabs(chroma.term[0].axis[CNV_X]->value[3 + k] / chroma.term[0].axis[CNV_X]->value[3] -
                   luma.term[0].axis[CNV_X]->value[5 + 2 * k] / luma.term[0].axis[CNV_X]->value[5]) < 1e-12);
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

    test_filter_init(&filter);
    filter.type = CNV_FILTER_BOX;
    filter.radius = rows[i].radius;
    kernel = generate(&filter, (const int[]){rows[i].subsample, 1});
    assert_axis(&kernel, CNV_X, rows[i].n, rows[i].taps);
    assert_axis(&kernel, CNV_Y, 2 * rows[i].radius + 1, ones);
    cnv_kernel_clear(&kernel);
  }
}
END_TEST

/* The arrays are those of the literature. */
START_TEST(test_derivatives)
{
  static const struct {
    CnvFilterType type;
    int radius;
    double derivative[7], smooth[7];
  } rows[] = {
      {CNV_FILTER_SOBEL, -1, {-1, 0, 1}, {1, 2, 1}},
      {CNV_FILTER_SOBEL, 2, {-1, -2, 0, 2, 1}, {1, 4, 6, 4, 1}},
      {CNV_FILTER_SOBEL, 3, {-1, -4, -5, 0, 5, 4, 1}, {1, 6, 15, 20, 15, 6, 1}},
      {CNV_FILTER_SCHARR, -1, {-1, 0, 1}, {3, 10, 3}},
      {CNV_FILTER_PREWITT, -1, {-1, 0, 1}, {1, 1, 1}},
      {CNV_FILTER_PREWITT, 3, {-3, -2, -1, 0, 1, 2, 3}, {1, 1, 1, 1, 1, 1, 1}},
  };

  for (guint i = 0; i < G_N_ELEMENTS(rows); i++) {
    CnvFilter filter = filter_of(rows[i].type, rows[i].radius);
    const int n = 2 * cnv_filter_radius(&filter, CNV_X) + 1;
    CnvKernel kernel = generate(&filter, full_size);

    ck_assert(kernel.magnitude && kernel.n_terms == 2);
    for (int axis = 0; axis < CNV_N_AXES; axis++) {
      assert_term(&kernel.term[axis], axis, n, rows[i].derivative);
      assert_term(&kernel.term[axis], 1 - axis, n, rows[i].smooth);
    }
    cnv_kernel_clear(&kernel);
    for (int axis = 0; axis < CNV_N_AXES; axis++) {
      filter.gradient = axis == CNV_X ? CNV_GRADIENT_X : CNV_GRADIENT_Y;
      kernel = generate(&filter, full_size);
      ck_assert(!kernel.magnitude);
      assert_axis(&kernel, axis, n, rows[i].derivative);
      assert_axis(&kernel, 1 - axis, n, rows[i].smooth);
      cnv_kernel_clear(&kernel);
    }
  }
}
END_TEST

START_TEST(test_directional)
{
  static const struct {
    double angle, x, y;
    int n_terms;
  } rows[] = {{0, 1, 0, 1},
              {90, 0, 1, 1},
              {180, -1, 0, 1},
              {-450, 0, -1, 1},
              {45, M_SQRT1_2, M_SQRT1_2, 2},
              {150, -0.86602540378443865, 0.5, 2}};
  static const double sobel[] = {-1, 0, 1, -2, 0, 2, -1, 0, 1};

  for (guint i = 0; i < G_N_ELEMENTS(rows); i++) {
    CnvFilter filter = filter_of(CNV_FILTER_SOBEL, -1);
    CnvKernel kernel;

    filter.gradient = CNV_GRADIENT_DIRECTIONAL;
    filter.angle = rows[i].angle;
    kernel = generate(&filter, full_size);
    ck_assert_int_eq(kernel.n_terms, rows[i].n_terms);
    ck_assert(!kernel.magnitude);
    for (int y = 0; y < 3; y++)
      for (int x = 0; x < 3; x++)
        assert_near(kernel_at(&kernel, x - 1, y - 1), rows[i].x * sobel[3 * y + x] + rows[i].y * sobel[3 * x + y],
                    1e-12, "directional", x, y);
    cnv_kernel_clear(&kernel);
  }
}
END_TEST

/* Compares filters of several terms with whole arrays. */
START_TEST(test_sums_of_terms)
{
  static const double laplacian_3[] = {0, 1, 0, 1, -4, 1, 0, 1, 0};
  static const double laplacian_5[] = {2, 4, 4, 4, 2, 4, 0, -8, 0, 4, 4, -8, -24, -8, 4, 4, 0, -8, 0, 4, 2, 4, 4, 4, 2};
  static const double sharpen[] = {0, -1, 0, -1, 5, -1, 0, -1, 0}, half[] = {0, -0.5, 0, -0.5, 3, -0.5, 0, -0.5, 0};
  static const double halved[] = {0, -0.5, 0, -0.5, 3, -0.5, 0, -0.5, 0}, one[] = {0, 0, 0, 0, 1, 0, 0, 0, 0};
  static const double right[] = {-1 / 3., 0, 1 / 3., -1 / 3., 1, 1 / 3., -1 / 3., 0, 1 / 3.};
  static const double up[] = {2 / 3., 2 / 3., 2 / 3., 0, 1, 0, -2 / 3., -2 / 3., -2 / 3.};
  static const struct {
    CnvFilterType type;
    int radius;
    double amount, angle;
    int step, n;
    const double *expected;
  } rows[] = {
      {CNV_FILTER_LAPLACIAN, -1, 1, 0, 1, 3, laplacian_3},
      {CNV_FILTER_LAPLACIAN, 2, 1, 0, 1, 5, laplacian_5},
      {CNV_FILTER_SHARPEN, -1, 1, 0, 1, 3, sharpen},
      {CNV_FILTER_SHARPEN, 300, 0.5, 0, 1, 3, half},
      {CNV_FILTER_SHARPEN, -1, 1, 0, 2, 3, halved},
      {CNV_FILTER_SHARPEN, -1, 0, 0, 1, 3, one},
      {CNV_FILTER_EMBOSS, -1, 1, 0, 1, 3, right},
      {CNV_FILTER_EMBOSS, -1, 2, 270, 1, 3, up},
      {CNV_FILTER_EMBOSS, 3, 0, 30, 1, 3, one},
      {CNV_FILTER_UNSHARP, 3, 0, 0, 1, 3, one},
  };

  for (guint i = 0; i < G_N_ELEMENTS(rows); i++) {
    CnvFilter filter = filter_of(rows[i].type, rows[i].radius);
    const int r = rows[i].n / 2;
    CnvKernel kernel;

    filter.amount = rows[i].amount;
    filter.angle = rows[i].angle;
    kernel = generate(&filter, (const int[]){rows[i].step, rows[i].step});
    for (int y = -r - 1; y <= r + 1; y++)
      for (int x = -r - 1; x <= r + 1; x++) {
        const gboolean within = ABS(x) <= r && ABS(y) <= r;

        assert_near(kernel_at(&kernel, x, y), within ? rows[i].expected[(y + r) * rows[i].n + x + r] : 0, 1e-12,
                    cnv_filter_info(rows[i].type)->nick.nick, x, y);
      }
    if (rows[i].expected == one)
      ck_assert_int_eq(kernel.n_terms, 1); /* so that the plan knows that it changes nothing */
    cnv_kernel_clear(&kernel);
  }
}
END_TEST

/* Checks sum and moments, which determine the result for a flat, a sloping and a curved picture. On a coarser grid a
 * step is longer. */
START_TEST(test_moments)
{
  static const struct {
    CnvFilterType type;
    int radius;
    double sigma, amount, sum, slope, curve, tolerance; /* tap, tap * x, tap * x * x */
  } rows[] = {
      {CNV_FILTER_SHARPEN, -1, 0, 0.7, 1, 0, -1.4, 1e-12},
      {CNV_FILTER_LAPLACIAN, 1, 0, 1, 0, 0, 2, 1e-12},
      {CNV_FILTER_LOG, 24, 4, 1, 0, 0, 2, 1e-4},
      {CNV_FILTER_UNSHARP, 40, 5, 1.5, 1, 0, -1.5 * 25, 1e-4},
      {CNV_FILTER_EMBOSS, 1, 0, 1.5, 1, 1.5 * 2 * 0.8, 0, 1e-12},
      {CNV_FILTER_EMBOSS, 3, 0, 1, 1, 28 / 6. * 0.8, 0, 1e-12},
  };

  for (guint i = 0; i < G_N_ELEMENTS(rows); i++)
    for (int step = 1; step <= 4; step *= 2) {
      const int reach = 41;
      CnvFilter filter = filter_of(rows[i].type, rows[i].radius);
      CnvKernel kernel;

      filter.sigma = rows[i].sigma;
      filter.amount = rows[i].amount;
      filter.angle = acos(0.8) * 180 / G_PI;
      kernel = generate(&filter, (const int[]){step, 1});
      assert_near(moment(&kernel, reach, 0, 0), rows[i].sum, 1e-9, "sum", i, step);
      assert_near(moment(&kernel, reach, 1, 0) * step, rows[i].slope, 1e-9, "slope", i, step);
      assert_near(moment(&kernel, reach, 0, 1), rows[i].slope * 0.75, 1e-9, "slope down", i, step);
      assert_near(moment(&kernel, reach, 0, 2), rows[i].curve, rows[i].tolerance, "curve down", i, step);
      if (rows[i].type == CNV_FILTER_LOG || rows[i].type == CNV_FILTER_UNSHARP)
        assert_near(moment(&kernel, reach, 2, 0) * step * step, rows[i].curve, rows[i].tolerance, "curve", i, step);
      cnv_kernel_clear(&kernel);
    }
}
END_TEST

/* Along an unfiltered axis, log has no derivative. */
START_TEST(test_log_of_one_axis)
{
  CnvFilter filter = filter_of(CNV_FILTER_LOG, 6);
  CnvKernel kernel;

  filter.radius_axis[CNV_X] = 0;
  kernel = generate(&filter, full_size);
  ck_assert_int_eq(kernel.n_terms, 1);
  assert_axis(&kernel, CNV_X, 1, (const double[]){1});
  ck_assert_int_eq(kernel.term[0].axis[CNV_Y]->width, 13);
  ck_assert(kernel_at(&kernel, 0, 0) < 0 && kernel_at(&kernel, 0, 4) > 0);
  cnv_kernel_clear(&kernel);
}
END_TEST

/* Compares with counted points, 64 in the cell of each sample. */
START_TEST(test_disk)
{
  static const int rows[][4] = {{1, 1, 1, 1}, {8, 8, 1, 1}, {8, 8, 2, 2}, {9, 3, 2, 1}, {2, 7, 4, 1}, {63, 63, 1, 1}};

  for (guint i = 0; i < G_N_ELEMENTS(rows); i++) {
    const double rx = rows[i][0] + 0.5, ry = rows[i][1] + 0.5;
    const int sx = rows[i][2], sy = rows[i][3];
    CnvFilter filter = filter_of(CNV_FILTER_DISK, rows[i][0]);
    CnvKernel kernel;
    double area = 0;

    filter.radius_axis[CNV_Y] = rows[i][1];
    kernel = generate(&filter, rows[i] + 2);
    ck_assert_int_eq(kernel.n_terms, 1);
    for (int y = -64; y <= 64; y++)
      for (int x = -64; x <= 64; x++) {
        int inside = 0;

        for (int point = 0; point < 64; point++) {
          double px = (x + (point % 8 - 3.5) / 8) * sx / rx, py = (y + (point / 8 - 3.5) / 8) * sy / ry;

          inside += px * px + py * py < 1;
        }
        assert_near(kernel_at(&kernel, x, y), inside / 64.0, 1e-12, "disk", x, y);
        area += kernel_at(&kernel, x, y) * sx * sy;
      }
    assert_near(area / (G_PI * rx * ry), 1, 0.02, "area", i, 0);
    cnv_kernel_clear(&kernel);
  }
}
END_TEST

/* An axis with radius 0 is not filtered. */
START_TEST(test_flat_disk)
{
  CnvFilter filter = filter_of(CNV_FILTER_DISK, 3);
  CnvKernel kernel;

  filter.radius_axis[CNV_Y] = 0;
  kernel = generate(&filter, (const int[]){2, 1});
  assert_axis(&kernel, CNV_X, 5, (const double[]){0.25, 1, 1, 1, 0.25});
  assert_axis(&kernel, CNV_Y, 1, (const double[]){1});
  cnv_kernel_clear(&kernel);
}
END_TEST

/* Compares with the sum over points, weighted by a hat function about each tap. */
START_TEST(test_motion)
{
  static const double angles[] = {0, 45, 30, 90, 180, 270, -90, 100, 3600.5};
  static const int steps[][CNV_N_AXES] = {{1, 1}, {2, 1}, {2, 2}, {4, 1}};

  for (guint i = 0; i < G_N_ELEMENTS(angles); i++)
    for (guint k = 0; k < G_N_ELEMENTS(steps); k++) {
      const int r = 5;
      const double cx = cos(angles[i] * G_PI / 180) / steps[k][CNV_X],
                   cy = sin(angles[i] * G_PI / 180) / steps[k][CNV_Y];
      CnvFilter filter = filter_of(CNV_FILTER_MOTION, r);
      CnvKernel kernel;

      filter.angle = angles[i];
      filter.radius_axis[CNV_X] = 1; /* motion ignores the radius of an axis */
      kernel = generate(&filter, steps[k]);
      ck_assert_int_eq(kernel.n_terms, 1);
      ck_assert((kernel.term[0].dense == NULL) == (fmod(angles[i], 90) == 0));
      for (int y = -r - 1; y <= r + 1; y++)
        for (int x = -r - 1; x <= r + 1; x++) {
          double expected = 0;

          for (int t = -r; t <= r; t++)
            expected += fmax(1 - fabs(x - t * cx), 0) * fmax(1 - fabs(y - t * cy), 0);
          assert_near(kernel_at(&kernel, x, y), expected, 1e-8, "motion", x, y);
        }
      cnv_kernel_clear(&kernel);
    }
}
END_TEST

/* Along an axis the kernel is exactly a row or a column of any length. Otherwise it is no larger than its taps need. */
START_TEST(test_size_of_motion)
{
  CnvFilter filter = filter_of(CNV_FILTER_MOTION, CNV_RADIUS_MAX);

  for (int quarter = -4; quarter <= 5; quarter++) {
    const int axis = quarter % 2 == 0 ? CNV_X : CNV_Y;
    CnvKernel kernel;

    filter.angle = 90 * quarter;
    kernel = generate(&filter, full_size);
    ck_assert_int_eq(kernel.term[0].axis[axis]->width, 2 * CNV_RADIUS_MAX + 1);
    ck_assert_int_eq(kernel.term[0].axis[1 - axis]->width, 1);
    for (int i = -CNV_RADIUS_MAX; i <= CNV_RADIUS_MAX; i++)
      ck_assert(axis_at(&kernel.term[0], axis, i) * axis_at(&kernel.term[0], 1 - axis, 0) == 1);
    cnv_kernel_clear(&kernel);
  }
  filter.radius = 89; /* 62.9 along each axis */
  filter.angle = 45;
  CnvKernel kernel = generate(&filter, full_size);
  ck_assert_int_eq(kernel.term[0].dense->width, CNV_DENSE_MAX);
  ck_assert_int_eq(kernel.term[0].dense->height, CNV_DENSE_MAX);
  cnv_kernel_clear(&kernel);
  filter.radius = 4;
  filter.angle = 60; /* 2 across, 3.46 down */
  kernel = generate(&filter, full_size);
  ck_assert_int_eq(kernel.term[0].dense->width, 5);
  ck_assert_int_eq(kernel.term[0].dense->height, 9);
  cnv_kernel_clear(&kernel);
}
END_TEST

/* Each message names the value, the limit and the fix. */
START_TEST(test_limits)
{
  static const struct {
    CnvFilterType type;
    int radius, radius_x;
    double sigma;
    const char *words[6];
  } rows[] = {
      {CNV_FILTER_GAUSSIAN, 513, -1, 0, {"gaussian", "513", "512", "lower"}},
      {CNV_FILTER_GAUSSIAN, -1, -1, 200, {"gaussian", "600", "512", "sigma", "truncate"}},
      {CNV_FILTER_GAUSSIAN, -1, -1, 1e300, {"gaussian", "512", "sigma", "truncate"}},
      {CNV_FILTER_BOX, -1, 513, 0, {"box", "513", "512", "along x"}},
      {CNV_FILTER_UNSHARP, 600, -1, 0, {"unsharp", "600", "512"}},
      {CNV_FILTER_LOG, 600, -1, 0, {"log", "600", "512"}},
      {CNV_FILTER_LOG, 0, -1, 0, {"log", "no tap but 0", "at least 1"}},
      {CNV_FILTER_DISK, 64, -1, 0, {"disk", "64", "63"}},
      {CNV_FILTER_DISK, 64, 0, 0, {"disk", "64", "63", "along y"}},
      {CNV_FILTER_MOTION, 513, -1, 0, {"motion", "513", "512"}},
      {CNV_FILTER_SOBEL, 4, -1, 0, {"sobel", "4", "3", "lower"}},
      {CNV_FILTER_SOBEL, 0, -1, 0, {"sobel", "radius 0", "1..3"}},
      {CNV_FILTER_SOBEL, 2, 1, 0, {"sobel", "radius 1 along x", "2 along y", "equal", "1..3"}},
      {CNV_FILTER_SCHARR, 2, -1, 0, {"scharr", "2", "1", "lower"}},
      {CNV_FILTER_PREWITT, 4, -1, 0, {"prewitt", "4", "3"}},
      {CNV_FILTER_LAPLACIAN, 0, -1, 0, {"laplacian", "radius 0", "1..3"}},
      {CNV_FILTER_LAPLACIAN, 4, -1, 0, {"laplacian", "4", "3"}},
      {CNV_FILTER_EMBOSS, 4, -1, 0, {"emboss", "4", "3"}},
      {CNV_FILTER_CUSTOM, -1, -1, 0, {"custom", "no taps", "kernel"}},
  };

  for (guint i = 0; i < G_N_ELEMENTS(rows); i++) {
    CnvFilter filter = filter_of(rows[i].type, rows[i].radius);

    filter.radius_axis[CNV_X] = rows[i].radius_x;
    filter.sigma = rows[i].sigma;
    assert_refused(&filter, rows[i].words);
  }
}
END_TEST

START_TEST(test_limits_of_motion)
{
  CnvFilter filter = filter_of(CNV_FILTER_MOTION, 100);

  filter.angle = 30;
  assert_refused(&filter, (const char *[]){"motion", "100", "angle 30", "87", "along x", "63", "127", "90", NULL});
  filter.angle = 100;
  assert_refused(&filter, (const char *[]){"along y", "99", "63", NULL});
}
END_TEST

static double
least_tap(const CnvTaps *taps)
{
  double least = INFINITY;

  for (int i = 0; i < taps->width * taps->height; i++)
    least = fmin(least, taps->value[i]);
  return least;
}

/* Checks that the taps have the properties in the filter's row. Not for custom, whose taps are the user's. */
static void
check_group(const CnvFilterInfo *info, const CnvKernel *kernel)
{
  const double sum = cnv_kernel_total(kernel, cnv_taps_sum), all = cnv_kernel_total(kernel, cnv_taps_magnitude);
  gboolean positive = TRUE;

  for (int t = 0; t < kernel->n_terms; t++) {
    const CnvKernelTerm *term = &kernel->term[t];

    positive &= term->dense ? least_tap(term->dense) >= 0
                            : least_tap(term->axis[CNV_X]) >= 0 && least_tap(term->axis[CNV_Y]) >= 0;
  }
  if (info->nick.value == CNV_FILTER_CUSTOM)
    return;
  ck_assert_msg(info->is_positive == positive, "%s is positive", info->nick.nick);
  ck_assert_msg(info->sums_to_0 == (fabs(sum) < 1e-9 * all), "%s adds up to %g", info->nick.nick, sum);
  ck_assert_msg(info->is_gradient == kernel->magnitude, "%s is a gradient", info->nick.nick);
}

/* Every filter makes finite taps from the defaults, with a limited number of terms, on every grid. */
START_TEST(test_all_filters)
{
  static const int steps[][CNV_N_AXES] = {{1, 1}, {2, 1}, {2, 2}, {4, 1}, {4, 4}};

  for (const CnvFilterInfo *info = cnv_filters; info->nick.nick; info++)
    for (guint k = 0; k < (info->is_gradient ? 1 : G_N_ELEMENTS(steps)); k++) {
      CnvFilter filter = filter_of(info->nick.value, -1);
      CnvKernel kernel;

      if (info->nick.value == CNV_FILTER_CUSTOM)
        filter.kernel = cnv_taps_new(2, 2, (const double[]){1, 2, 3, 4});
      filter.angle = 20;
      ck_assert_int_eq(cnv_filter_radius(&filter, CNV_X), info->default_radius);
      kernel = generate(&filter, steps[k]);
      ck_assert(kernel.n_terms >= 1 && kernel.n_terms <= CNV_MAX_TERMS);
      check_group(info, &kernel);
      for (int t = 0; t < kernel.n_terms; t++) {
        const CnvKernelTerm *term = &kernel.term[t];

        ck_assert((term->dense == NULL) == (term->axis[CNV_X] && term->axis[CNV_Y]));
        for (int axis = 0; axis < CNV_N_AXES; axis++) {
          const int n = term->axis[axis] ? term->axis[axis]->width
                        : axis == CNV_X  ? term->dense->width
                                         : term->dense->height;

          ck_assert(term->anchor[axis] >= 0 && term->anchor[axis] < n);
        }
      }
      ck_assert_msg(isfinite(moment(&kernel, 20, 1, 1)), "%s", info->nick.nick);
      cnv_kernel_clear(&kernel);
      ck_assert_int_eq(kernel.n_terms, 0);
      cnv_filter_clear(&filter);
    }
}
END_TEST

static gboolean
kernels_equal(const CnvKernel *a, const CnvKernel *b)
{
  gboolean equal = a->n_terms == b->n_terms && a->magnitude == b->magnitude;

  for (int t = 0; equal && t < a->n_terms; t++)
    equal = cnv_taps_equal(a->term[t].dense, b->term[t].dense) &&
            cnv_taps_equal(a->term[t].axis[CNV_X], b->term[t].axis[CNV_X]) &&
            cnv_taps_equal(a->term[t].axis[CNV_Y], b->term[t].axis[CNV_Y]);
  return equal;
}

/* A number changes the taps of the filters that name it, and of no others. sigma does so beside a radius, and angle
 * with a directional gradient. */
START_TEST(test_named_properties)
{
  static const char *const names[] = {"amount", "angle", "gradient", "sigma"};

  for (const CnvFilterInfo *info = cnv_filters; info->nick.nick; info++)
    for (guint i = 0; i < G_N_ELEMENTS(names); i++) {
      CnvFilter filter = filter_of(info->nick.value, info->default_radius), changed;
      CnvKernel kernel, other;

      filter.angle = 20;
      filter.gradient = CNV_GRADIENT_DIRECTIONAL;
      if (info->nick.value == CNV_FILTER_CUSTOM)
        filter.kernel = cnv_taps_new(2, 2, (const double[]){1, 2, 3, 4});
      changed = filter;
      changed.amount += i == 0 ? 1 : 0;
      changed.angle += i == 1 ? 50 : 0;
      changed.gradient = i == 2 ? CNV_GRADIENT_X : filter.gradient;
      changed.sigma += i == 3 ? 1.7 : 0;
      kernel = generate(&filter, full_size);
      other = generate(&changed, full_size);
      ck_assert_msg(kernels_equal(&kernel, &other) != cnv_filter_uses(filter.type, names[i]), "%s of %s", names[i],
                    info->nick.nick);
      cnv_kernel_clear(&kernel);
      cnv_kernel_clear(&other);
      cnv_filter_clear(&filter);
    }
}
END_TEST

static void
add_tests(TCase *tcase)
{
  tcase_add_test(tcase, test_gaussian);
  tcase_add_test(tcase, test_gaussian_on_chroma);
  tcase_add_test(tcase, test_box);
  tcase_add_test(tcase, test_derivatives);
  tcase_add_test(tcase, test_directional);
  tcase_add_test(tcase, test_sums_of_terms);
  tcase_add_test(tcase, test_moments);
  tcase_add_test(tcase, test_log_of_one_axis);
  tcase_add_test(tcase, test_disk);
  tcase_add_test(tcase, test_flat_disk);
  tcase_add_test(tcase, test_motion);
  tcase_add_test(tcase, test_size_of_motion);
  tcase_add_test(tcase, test_limits);
  tcase_add_test(tcase, test_limits_of_motion);
  tcase_add_test(tcase, test_all_filters);
  tcase_add_test(tcase, test_named_properties);
}

int
main(void)
{
  return test_main("filter_kinds", add_tests);
}
