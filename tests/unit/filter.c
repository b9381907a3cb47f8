/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Filters as values, and operations on the taps of any filter.
 */
#include <convolve/work.h>

#include "unit/filter_taps.h"

START_TEST(test_defaults)
{
  CnvFilter filter;
  CnvKernel kernel;

  test_filter_init(&filter);
  ck_assert_int_eq(filter.type, CNV_FILTER_GAUSSIAN);
  ck_assert_int_eq(filter.border, CNV_BORDER_REPLICATE);
  ck_assert_uint_eq(filter.border_color, 0xff000000);
  ck_assert(filter.amount == 1 && filter.angle == 0 && filter.anchor[CNV_X] == -1 && filter.anchor[CNV_Y] == -1);
  ck_assert(filter.planes == CNV_PLANES_COLOR && filter.chroma_radius == -1 && filter.chroma_sigma == 0);
  ck_assert(!filter.flip && !filter.absolute);
  ck_assert(filter.temporal_radius == 0 && filter.temporal_sigma == 0 && !filter.kernel_t && !filter.causal);
  ck_assert(filter.normalize && filter.scale == 1 && filter.bias == 0 && filter.truncate == 3);
  ck_assert(!filter.kernel && !filter.kernel_axis[CNV_X] && !filter.kernel_axis[CNV_Y]);
  kernel = generate(&filter, full_size);
  ck_assert_int_eq(kernel.term[0].axis[CNV_X]->width, 17);
  ck_assert_int_eq(kernel.term[0].axis[CNV_Y]->width, 17);
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
      {-1, -1, 0, 0, 3, {8, 8}, {2.9, 2.9}}, /* neither is set */
      {3, -1, 0, 0, 3, {3, 3}, {1.4, 1.4}},  /* OpenCV's rule */
      {1, -1, 0, 0, 3, {1, 1}, {0.8, 0.8}},
      {-1, -1, 2, 0, 3, {6, 6}, {2, 2}},       /* from sigma */
      {-1, -1, 2.1, 0, 3, {7, 7}, {2.1, 2.1}}, /* rounded up */
      {-1, -1, 2, 0, 4, {8, 8}, {2, 2}},       /* truncate */
      {5, -1, 2, 0, 3, {5, 5}, {2, 2}},        /* an explicit radius wins */
      {5, 2, 0, 0, 3, {2, 5}, {1.1, 2}},       /* one axis differs */
      {5, 0, 0, 0, 3, {0, 5}, {0.5, 2}},       /* one axis is not filtered */
      {-1, -1, 1, 3, 3, {9, 3}, {3, 1}},       /* sigma of one axis */
      {-1, -1, 0, 3, 3, {9, 8}, {3, 2.9}},
      {-1, 4, 1, 0, 3, {4, 3}, {1, 1}},
      {-1, -1, 256, 0, 3, {768, 768}, {256, 256}}, /* beyond the limit; rejected only when taps are made */
  };

  for (guint i = 0; i < G_N_ELEMENTS(rows); i++) {
    CnvFilter filter;

    test_filter_init(&filter);
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

/* Filters with tabulated taps have no sigma: a sigma that was set for a blur before does not make them too large. */
START_TEST(test_sigma_and_apertures)
{
  static const CnvFilterType types[] = {CNV_FILTER_SOBEL, CNV_FILTER_SCHARR, CNV_FILTER_PREWITT, CNV_FILTER_LAPLACIAN,
                                        CNV_FILTER_EMBOSS};

  for (guint i = 0; i < G_N_ELEMENTS(types); i++) {
    CnvFilter filter;
    CnvKernel kernel;

    test_filter_init(&filter);
    filter.type = types[i];
    filter.sigma = 20;
    ck_assert_int_eq(cnv_filter_radius(&filter, CNV_X), 1);
    ck_assert(cnv_filter_generate(&filter, (const int[]){1, 1}, &kernel, NULL));
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
    double scale = kernel.term[0].axis[CNV_Y]->value[0];

    for (int k = 0; k < kernel.term[0].axis[CNV_X]->width; k++)
      kernel.term[0].axis[CNV_X]->value[k] *= scale;
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

    ck_assert_msg((kernel.term[0].dense == NULL) == rows[i].separable, "kernel %u", i);
    for (int k = 0; k < 9; k++)
      assert_near(kernel_at(&kernel, k % 3 - 1, k / 3 - 1), rows[i].taps[k], 1e-12, "tap", k, i);
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

  test_filter_init(&filter);
  filter.type = CNV_FILTER_CUSTOM;
  filter.kernel_axis[CNV_X] = cnv_taps_new(4, 1, x);
  kernel = generate(&filter, full_size);
  assert_axis(&kernel, CNV_X, 4, x);
  assert_axis(&kernel, CNV_Y, 1, one);
  cnv_kernel_clear(&kernel);
  cnv_filter_clear(&filter);
}
END_TEST

static CnvTaps *
random_sum(GRand *random, int rank, int width, int height)
{
  CnvTaps *taps = cnv_taps_new(width, height, NULL);

  for (int t = 0; t < rank; t++) {
    double row[128], column[128], size = pow(10, -2 * t); /* the last terms matter, too */

    for (int i = 0; i < width; i++)
      row[i] = g_rand_double_range(random, -1, 1);
    for (int j = 0; j < height; j++)
      column[j] = g_rand_double_range(random, -1, 1);
    for (int k = 0; k < width * height; k++)
      taps->value[k] += size * row[k % width] * column[k / width];
  }
  return taps;
}

static double
product(const CnvTaps *a, const CnvTaps *b)
{
  double sum = 0;

  for (int i = 0; i < a->width; i++)
    sum += a->value[i] * b->value[i];
  return sum;
}

/* Rows and columns are singular vectors, and each row has the norm of its column. */
static void
assert_balanced(const CnvKernel *kernel)
{
  for (int t = 0; t < kernel->n_terms; t++) {
    CnvTaps *const *term = kernel->term[t].axis;
    const double length = product(term[CNV_X], term[CNV_X]);

    assert_near(product(term[CNV_Y], term[CNV_Y]) / length, 1, 1e-9, "length", t, t);
    for (int u = 0; u < t; u++)
      for (int axis = 0; axis < CNV_N_AXES; axis++)
        assert_near(product(term[axis], kernel->term[u].axis[axis]), 0,
                    1e-9 * sqrt(length * product(kernel->term[u].axis[CNV_X], kernel->term[u].axis[CNV_X])), "product",
                    t, u);
  }
}

START_TEST(test_rank)
{
  static const int sizes[][2] = {{3, 3}, {4, 4}, {5, 5}, {9, 9}, {12, 8}, {31, 5}, {10, 127}, {127, 127}};
  GRand *random = g_rand_new_with_seed(3);

  for (guint i = 0; i < G_N_ELEMENTS(sizes); i++)
    for (int rank = 1; rank <= 5; rank++) {
      const int w = sizes[i][0], h = sizes[i][1];
      const gboolean worth = MIN(rank, MIN(w, h)) * (w + h) < w * h && rank <= CNV_MAX_RANK;
      CnvFilter filter = custom(1, 1, NULL);
      CnvKernel kernel;
      double largest = 0;

      cnv_taps_unref(filter.kernel);
      filter.kernel = random_sum(random, rank, w, h);
      filter.anchor[CNV_X] = 2;
      kernel = generate(&filter, full_size);
      ck_assert((kernel.term[0].dense == NULL) == (rank == 1));
      cnv_kernel_factor(&kernel, 0);
      ck_assert_msg((kernel.term[0].dense == NULL) == (rank == 1 || worth), "%dx%d of rank %d", w, h, rank);
      ck_assert_int_eq(kernel.n_terms, worth ? rank : 1);
      for (int t = 0; t < kernel.n_terms; t++)
        ck_assert(kernel.term[t].anchor[CNV_X] == 2 && kernel.term[t].anchor[CNV_Y] == (h - 1) / 2);
      for (int k = 0; k < w * h; k++)
        largest = fmax(largest, fabs(filter.kernel->value[k]));
      for (int k = 0; k < w * h; k++)
        assert_near(kernel_at(&kernel, k % w - 2, k / w - (h - 1) / 2), filter.kernel->value[k], 1e-9 * largest, "tap",
                    k, rank);
      if (rank > 1 && worth)
        assert_balanced(&kernel);
      cnv_kernel_clear(&kernel);
      cnv_filter_clear(&filter);
    }
  g_rand_free(random);
}
END_TEST

/* Merged terms are the same kernel, within the given limits. */
START_TEST(test_merge)
{
  static const struct {
    CnvFilterType type;
    int radius, side;
  } rows[] = {{CNV_FILTER_SHARPEN, -1, 3}, {CNV_FILTER_UNSHARP, 2, 5}, {CNV_FILTER_LAPLACIAN, 2, 5},
              {CNV_FILTER_LOG, 5, 11},     {CNV_FILTER_EMBOSS, 1, 3},  {CNV_FILTER_UNSHARP, 63, 127}};

  for (guint i = 0; i < G_N_ELEMENTS(rows); i++) {
    int taps = rows[i].side * rows[i].side, reach = rows[i].side / 2 + 1;
    CnvKernel terms, merged;
    CnvFilter filter;

    test_filter_init(&filter);
    filter.type = rows[i].type;
    filter.radius = rows[i].radius;
    filter.angle = 30;
    ck_assert(cnv_filter_generate(&filter, (const int[]){1, 1}, &terms, NULL));
    ck_assert(cnv_filter_generate(&filter, (const int[]){1, 1}, &merged, NULL));
    cnv_kernel_merge(&merged, taps - 1);
    ck_assert_int_eq(merged.n_terms, terms.n_terms);
    cnv_kernel_merge(&merged, taps);
    ck_assert_int_eq(merged.n_terms, 1);
    ck_assert_int_eq(merged.term[0].dense->width, rows[i].side);
    for (int y = -reach; y <= reach; y++)
      for (int x = -reach; x <= reach; x++)
        assert_near(kernel_at(&merged, x, y), kernel_at(&terms, x, y), 1e-14, "the merged tap", x, y);
    cnv_kernel_clear(&merged);
    cnv_kernel_clear(&terms);
  }
}
END_TEST

/* A magnitude is not a sum, and terms larger than CNV_DENSE_MAX are not merged. */
START_TEST(test_no_merge)
{
  static const struct {
    CnvFilterType type;
    int radius;
  } rows[] = {{CNV_FILTER_SOBEL, 1}, {CNV_FILTER_UNSHARP, 64}};

  for (guint i = 0; i < G_N_ELEMENTS(rows); i++) {
    CnvKernel kernel;
    CnvFilter filter;

    test_filter_init(&filter);
    filter.type = rows[i].type;
    filter.radius = rows[i].radius;
    ck_assert(cnv_filter_generate(&filter, (const int[]){1, 1}, &kernel, NULL));
    cnv_kernel_merge(&kernel, G_MAXINT);
    ck_assert_int_eq(kernel.n_terms, 2);
    cnv_kernel_clear(&kernel);
  }
}
END_TEST

/* The tap at the anchor is on the output sample, with the others around it. flip swaps the sides. */
START_TEST(test_anchor_and_flip)
{
  static const int rows[][5] = {/* anchor, flip, resulting anchor */
                                {-1, -1, FALSE, 1, 1},
                                {0, 2, FALSE, 0, 2},
                                {3, 0, FALSE, 3, 0},
                                {-1, -1, TRUE, 2, 1},
                                {0, 2, TRUE, 3, 0}};
  static const double taps[] = {1, 2, 3, 4, 5, 7, 6, 8, 10, 9, 12, 11};

  for (guint i = 0; i < G_N_ELEMENTS(rows); i++) {
    const int ax = rows[i][0] < 0 ? 1 : rows[i][0], ay = rows[i][1] < 0 ? 1 : rows[i][1];
    CnvFilter filter = custom(4, 3, taps);
    CnvKernel kernel;

    filter.anchor[CNV_X] = rows[i][0];
    filter.anchor[CNV_Y] = rows[i][1];
    filter.flip = rows[i][2];
    kernel = generate(&filter, full_size);
    ck_assert_int_eq(kernel.term[0].anchor[CNV_X], rows[i][3]);
    ck_assert_int_eq(kernel.term[0].anchor[CNV_Y], rows[i][4]);
    for (int k = 0; k < 12; k++) {
      const int side = filter.flip ? -1 : 1;

      ck_assert(kernel_at(&kernel, side * (k % 4 - ax), side * (k / 4 - ay)) == taps[k]);
    }
    cnv_kernel_clear(&kernel);

    /* Gathering keeps the sum and the first moment, about an anchor in the middle. */
    kernel = generate(&filter, (const int[]){2, 4});
    ck_assert_int_eq(kernel.term[0].dense->width, 2 * kernel.term[0].anchor[CNV_X] + 1);
    ck_assert_int_eq(kernel.term[0].dense->height, 2 * kernel.term[0].anchor[CNV_Y] + 1);
    double sum = 0, first_x = 0, first_y = 0;
    for (int k = 0; k < 12; k++) {
      sum += taps[k];
      first_x += taps[k] * (k % 4 - ax) / (filter.flip ? -2.0 : 2.0);
      first_y += taps[k] * (k / 4 - ay) / (filter.flip ? -4.0 : 4.0);
    }
    assert_near(moment(&kernel, 4, 0, 0), sum, 1e-12, "sum", i, 0);
    assert_near(moment(&kernel, 4, 1, 0), first_x, 1e-12, "moment", i, 0);
    assert_near(moment(&kernel, 4, 0, 1), first_y, 1e-12, "moment", i, 1);
    cnv_kernel_clear(&kernel);
    cnv_filter_clear(&filter);
  }
}
END_TEST

START_TEST(test_anchor_of_axes)
{
  static const double x[] = {1, 2, 3, 4}, y[] = {5, 6, 7};

  for (int flip = 0; flip < 2; flip++) {
    CnvFilter filter = filter_of(CNV_FILTER_CUSTOM, -1);
    CnvKernel kernel;

    filter.kernel_axis[CNV_X] = cnv_taps_new(4, 1, x);
    filter.kernel_axis[CNV_Y] = cnv_taps_new(3, 1, y);
    filter.anchor[CNV_X] = 0;
    filter.anchor[CNV_Y] = 2;
    filter.flip = flip;
    kernel = generate(&filter, full_size);
    for (int k = 0; k < 12; k++)
      ck_assert(kernel_at(&kernel, flip ? -(k % 4) : k % 4, flip ? 2 - k / 4 : k / 4 - 2) == x[k % 4] * y[k / 4]);
    cnv_kernel_clear(&kernel);
    kernel = generate(&filter, (const int[]){2, 2});
    ck_assert_int_eq(kernel.term[0].axis[CNV_X]->width, 5);
    ck_assert_int_eq(kernel.term[0].anchor[CNV_X], 2);
    assert_near(axis_at(&kernel.term[0], CNV_X, flip ? -1 : 1), 2 / 2. + 3 + 4 / 2., 1e-12, "tap", 1, 0);
    cnv_kernel_clear(&kernel);
    cnv_filter_clear(&filter);
  }
}
END_TEST

START_TEST(test_limits_of_numbers)
{
  static const struct {
    gsize offset;
    double value;
    const char *words[4];
  } rows[] = {
      {offsetof(CnvFilter, amount), -0.5, {"amount -0.5", "0..100"}},
      {offsetof(CnvFilter, amount), 100.5, {"amount 100.5", "0..100"}},
      {offsetof(CnvFilter, amount), NAN, {"amount nan", "0..100"}},
      {offsetof(CnvFilter, angle), INFINITY, {"angle inf"}},
      {offsetof(CnvFilter, angle), NAN, {"angle nan"}},
      {offsetof(CnvFilter, scale), 2e6, {"scale 2e+06", "1e+06"}},
      {offsetof(CnvFilter, bias), -1001, {"bias -1001", "-1000..1000"}},
  };

  for (guint i = 0; i < G_N_ELEMENTS(rows); i++) {
    CnvFilter filter = filter_of(CNV_FILTER_SHARPEN, -1);

    G_STRUCT_MEMBER(double, &filter, rows[i].offset) = rows[i].value;
    assert_refused(&filter, rows[i].words);
  }
}
END_TEST

START_TEST(test_limits_of_custom)
{
  CnvFilter filter = custom(2 * CNV_RADIUS_MAX + 2, 1, NULL);

  filter.kernel->value[0] = 1;
  assert_refused(&filter, (const char *[]){"1026", "1025", "shorten", NULL});
  cnv_filter_clear(&filter);

  filter = custom(CNV_DENSE_MAX + 1, 2, NULL);
  filter.kernel->value[0] = filter.kernel->value[CNV_DENSE_MAX + 2] = 1;
  assert_refused(&filter, (const char *[]){"128", "127", "shorten", NULL});
  cnv_filter_clear(&filter);

  filter = custom(3, 1, (const double[]){1, NAN, 1});
  assert_refused(&filter, (const char *[]){"finite", NULL});
  cnv_filter_clear(&filter);

  filter = custom(1, 1, (const double[]){1});
  filter.kernel_axis[CNV_Y] = cnv_taps_new(1, 1, (const double[]){1});
  assert_refused(&filter, (const char *[]){"kernel-x", "kernel-y", NULL}); /* both kinds of kernels */
  cnv_filter_clear(&filter);

  filter = custom(3, 1, (const double[]){1, 2, 1});
  filter.anchor[CNV_X] = 3;
  assert_refused(&filter, (const char *[]){"anchor-x 3", "0..2", "-1", NULL});
  filter.anchor[CNV_X] = -2;
  assert_refused(&filter, (const char *[]){"anchor-x -2", "0..2", NULL});
  filter.anchor[CNV_X] = 0;
  filter.anchor[CNV_Y] = 1;
  assert_refused(&filter, (const char *[]){"anchor-y 1", "0..0", NULL});
  cnv_filter_clear(&filter);

  filter = filter_of(CNV_FILTER_CUSTOM, -1);
  filter.kernel_axis[CNV_Y] = cnv_taps_new(3, 1, (const double[]){1, 2, 1});
  filter.anchor[CNV_X] = 1; /* there is only one tap along x */
  assert_refused(&filter, (const char *[]){"anchor-x 1", "0..0", NULL});
  cnv_filter_clear(&filter);
}
END_TEST

START_TEST(test_copy)
{
  static const double taps[] = {1, 2, 1};
  CnvFilter a = custom(3, 1, taps), b = custom(3, 1, taps), copy;

  ck_assert(cnv_taps_equal(a.kernel, b.kernel)); /* by value, not by address */
  cnv_filter_copy(&copy, &a);
  cnv_filter_clear(&a);
  ck_assert(cnv_taps_equal(copy.kernel, b.kernel)); /* the copy has its own reference */
  cnv_taps_unref(copy.kernel);
  copy.kernel = cnv_taps_new(1, 3, taps); /* the same numbers in a different shape */
  ck_assert(!cnv_taps_equal(copy.kernel, b.kernel));
  cnv_filter_clear(&copy);
  cnv_filter_clear(&b);
}
END_TEST

/* Tables for properties are complete, in the order of their enums, and have each nick once. */
START_TEST(test_tables)
{
  static const struct {
    const CnvNick *nicks;
    int n;
  } tables[] = {{cnv_border_nicks, CNV_N_BORDERS},
                {cnv_gradient_nicks, CNV_GRADIENT_DIRECTIONAL + 1},
                {cnv_chroma_mode_nicks, CNV_CHROMA_SAME + 1},
                {cnv_alpha_mode_nicks, CNV_ALPHA_PREMULTIPLY + 1},
                {cnv_temporal_border_nicks, CNV_TEMPORAL_REFLECT + 1}};
  int n;

  for (guint i = 0; i < G_N_ELEMENTS(tables); i++) {
    for (n = 0; tables[i].nicks[n].nick; n++) {
      ck_assert_msg(tables[i].nicks[n].value == n && tables[i].nicks[n].blurb, "table %u entry %d", i, n);
      for (int k = 0; k < n; k++)
        ck_assert_str_ne(tables[i].nicks[n].nick, tables[i].nicks[k].nick);
    }
    ck_assert_int_eq(n, tables[i].n);
  }
  for (n = 0; cnv_filters[n].nick.nick; n++) {
    const CnvFilterInfo *info = &cnv_filters[n];

    ck_assert_msg(cnv_filter_info(info->nick.value) == info && info->nick.blurb && info->generate, "filter %d", n);
    ck_assert(info->default_radius <= info->max_radius && info->max_radius <= CNV_RADIUS_MAX);
    ck_assert((info->default_radius > 0) == (info->max_radius > 0));
    for (int k = 0; k < n; k++)
      ck_assert_str_ne(info->nick.nick, cnv_filters[k].nick.nick);
  }
  for (int value = 0; value < n; value++) /* the rows have the values 0 to n - 1 */
    ck_assert_msg(cnv_filter_info((CnvFilterType)value)->nick.nick, "no row has the value %d", value);
  ck_assert_int_gt(n, CNV_FILTER_CUSTOM);
}
END_TEST

START_TEST(test_planes)
{
  static const struct {
    const char *nick;
    guint value;
  } rows[] = {{"luma", 1},   {"chroma", 2}, {"alpha", 4},    {"red", 8},
              {"green", 16}, {"blue", 32},  {"color", 0x3b}, {"all", 0x3f}};

  for (guint i = 0; i < G_N_ELEMENTS(rows); i++) {
    ck_assert_str_eq(cnv_planes_nicks[i].nick, rows[i].nick);
    ck_assert_uint_eq(cnv_planes_nicks[i].value, rows[i].value);
    ck_assert(cnv_planes_nicks[i].blurb != NULL);
  }
  ck_assert(cnv_planes_nicks[G_N_ELEMENTS(rows)].nick == NULL);
}
END_TEST

static void
add_tests(TCase *tcase)
{
  tcase_add_test(tcase, test_defaults);
  tcase_add_test(tcase, test_radius_and_sigma);
  tcase_add_test(tcase, test_sigma_and_apertures);
  tcase_add_test(tcase, test_custom_on_chroma);
  tcase_add_test(tcase, test_separability);
  tcase_add_test(tcase, test_custom_axes);
  tcase_add_test(tcase, test_rank);
  tcase_add_test(tcase, test_merge);
  tcase_add_test(tcase, test_no_merge);
  tcase_add_test(tcase, test_anchor_and_flip);
  tcase_add_test(tcase, test_anchor_of_axes);
  tcase_add_test(tcase, test_limits_of_numbers);
  tcase_add_test(tcase, test_limits_of_custom);
  tcase_add_test(tcase, test_copy);
  tcase_add_test(tcase, test_tables);
  tcase_add_test(tcase, test_planes);
}

int
main(void)
{
  return test_main("filter", add_tests);
}
