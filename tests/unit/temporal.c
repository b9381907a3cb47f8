/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Taps in time, and the frames that they use: compared with numbers computed by hand.
 */
#include "plan/plan.h"

#include "unit/filter_taps.h"

/* Frames that are not multiples of each other, with the sums 6, 0 and 5, none of which binary fractions represent
 * exactly. */
static const double not_time_separable[] = {1, 2, 3, 0, 0, 0, 3, 1, 1};
static const double solid_without_sum[] = {0.1, 0.2, -0.3, -0.7, 0.6, 0.1, 0.4, -0.1, -0.3};

static CnvFilter
timed(int n, const double *kernel_t, gboolean causal)
{
  CnvFilter filter;

  test_filter_init(&filter);
  filter.type = CNV_FILTER_IDENTITY;
  filter.causal = causal;
  filter.kernel_t = n ? cnv_taps_new(n, 1, kernel_t) : NULL;
  return filter;
}

static CnvFilter
volume_of(int width, int height, int depth, const double *values)
{
  CnvFilter filter;

  test_filter_init(&filter);
  filter.type = CNV_FILTER_CUSTOM;
  filter.kernel = cnv_taps_new_volume(width, height, depth, values);
  return filter;
}

/* Takes ownership of the filter. */
static void
assert_weights(CnvFilter filter, int n, const double *expected, int expected_anchor)
{
  double weight[CNV_MAX_TEMPORAL_TAPS];
  GError *error = NULL;
  int anchor = -1, found = cnv_filter_temporal_taps(&filter, weight, &anchor, &error);

  ck_assert_msg(found == n, "%d taps, not %d: %s", found, n, error ? error->message : "no error was set");
  ck_assert_int_eq(anchor, expected_anchor);
  for (int k = 0; k < n; k++)
    ck_assert_msg(fabs(weight[k] - expected[k]) < 1e-9, "tap %d is %.12g, not %.12g", k, weight[k], expected[k]);
  cnv_filter_clear(&filter);
}

/* Like assert_weights, if weights add up to 1: the expected ones are relative to the tap at the anchor. */
static void
assert_mean(CnvFilter filter, int n, const double *expected, int expected_anchor)
{
  double mean[CNV_MAX_TEMPORAL_TAPS], sum = 0;

  for (int k = 0; k < n; k++)
    sum += expected[k];
  for (int k = 0; k < n; k++)
    mean[k] = expected[k] / sum;
  assert_weights(filter, n, mean, expected_anchor);
}

START_TEST(test_no_taps_in_time)
{
  static const double one[] = {1};

  assert_weights(timed(0, NULL, FALSE), 1, one, 0);
  assert_weights(timed(0, NULL, TRUE), 1, one, 0);
}
END_TEST

START_TEST(test_gaussian)
{
  static const double automatic[] = {0.457833361771614, 1, 0.457833361771614}; /* sigma 0.8 */
  static const double unit[] = {0.135335283236613, 0.606530659712633, 1, 0.606530659712633, 0.135335283236613};
  CnvFilter filter = timed(0, NULL, FALSE);

  filter.temporal_radius = 1;
  assert_mean(filter, 3, automatic, 1);
  filter.causal = TRUE;
  assert_mean(filter, 2, automatic, 1);
  filter.temporal_radius = 2;
  filter.temporal_sigma = 1;
  assert_mean(filter, 3, unit, 2);
  filter.causal = FALSE;
  assert_mean(filter, 5, unit, 2);
}
END_TEST

START_TEST(test_listed)
{
  static const double taps[] = {1, -2, 3, 4}, flipped[] = {4, 3, -2, 1};
  CnvFilter filter = timed(4, taps, FALSE);

  filter.temporal_radius = 7; /* kernel-t overrides it */
  assert_weights(filter, 4, taps, 1);
  assert_weights(timed(4, taps, TRUE), 4, taps, 3);
  filter = timed(4, taps, FALSE);
  filter.type = CNV_FILTER_CUSTOM;
  filter.flip = TRUE;
  assert_weights(filter, 4, flipped, 1);
}
END_TEST

/* A 2D kernel times weights is detected. Weights are defined up to a factor, which the taps of the 2D kernel contain.
 */
START_TEST(test_volumes)
{
  static const double ones[] = {1, 1, 1}, product[] = {1, 2, 3, 6, -2, -4};
  double weight[CNV_MAX_TEMPORAL_TAPS];
  CnvFilter filter = volume_of(2, 1, 3, product);
  int anchor;

  assert_weights(volume_of(3, 1, 3, not_time_separable), 3, ones, 1);
  ck_assert_int_eq(cnv_filter_temporal_taps(&filter, weight, &anchor, NULL), 3);
  ck_assert(weight[0] != 0 && fabs(weight[1] / weight[0] - 3) < 1e-9 && fabs(weight[2] / weight[0] + 2) < 1e-9);
  filter.flip = TRUE;
  ck_assert_int_eq(cnv_filter_temporal_taps(&filter, weight, &anchor, NULL), 3);
  ck_assert(weight[2] != 0 && fabs(weight[1] / weight[2] - 3) < 1e-9 && fabs(weight[0] / weight[2] + 2) < 1e-9);
  cnv_filter_clear(&filter);
}
END_TEST

static void
assert_no_moments(CnvFilter filter, const char *word)
{
  double weight[CNV_MAX_TEMPORAL_TAPS];
  GError *error = NULL;
  int anchor, n = cnv_filter_temporal_taps(&filter, weight, &anchor, &error);

  ck_assert_msg(n == 0, "%d taps in time were made, not: %s", n, word);
  ck_assert_msg(g_error_matches(error, CNV_ERROR, CNV_ERROR_SETTINGS), "%s", error->message);
  ck_assert_msg(strstr(error->message, word) != NULL, "no \"%s\" in: %s", word, error->message);
  g_clear_error(&error);
  cnv_filter_clear(&filter);
}

START_TEST(test_refused)
{
  static const double nan_tap[] = {1, NAN, 1};
  CnvFilter filter = timed(0, NULL, FALSE);

  filter.temporal_radius = CNV_TEMPORAL_RADIUS_MAX + 1;
  assert_no_moments(filter, "16");
  filter.temporal_radius = -1;
  assert_no_moments(filter, "-1");
  assert_no_moments(timed(CNV_MAX_TEMPORAL_TAPS + 1, NULL, FALSE), "31");
  assert_no_moments(timed(3, nan_tap, FALSE), "finite");
  assert_no_moments(volume_of(2, 2, CNV_MAX_TEMPORAL_TAPS + 1, NULL), "31");
  filter = volume_of(3, 1, 3, not_time_separable);
  filter.kernel_t = cnv_taps_new(3, 1, not_time_separable);
  assert_no_moments(filter, "kernel-t");
  filter = volume_of(3, 1, 3, not_time_separable);
  filter.temporal_radius = 1;
  assert_no_moments(filter, "temporal-radius");
}
END_TEST

/* Takes ownership of the filter. */
static CnvPlan *
plan_of(CnvFilter filter)
{
  const CnvImage image = {cnv_format_find("GRAY8"), 16, 9, 0.2126, 0.0722, FALSE};
  GError *error = NULL;
  CnvPlan *plan = cnv_plan_new(&filter, &image, CNV_ALGORITHM_AUTO, cnv_backend_find("cpu"), &error);

  ck_assert_msg(plan != NULL, "no plan: %s", error ? error->message : "no error was set");
  cnv_filter_clear(&filter);
  return plan;
}

/* Taps in time are values, and copies have their own references to them. */
START_TEST(test_copy_in_time)
{
  static const double taps[] = {1, 2, 1, 4};
  CnvFilter a = filter_of(CNV_FILTER_BOX, 3), b;

  a.kernel_t = cnv_taps_new(4, 1, taps);
  cnv_filter_copy(&b, &a);
  cnv_filter_clear(&a);
  a = filter_of(CNV_FILTER_BOX, 3);
  ck_assert(!cnv_taps_equal(a.kernel_t, b.kernel_t));
  a.kernel_t = cnv_taps_new(4, 1, taps);
  ck_assert(cnv_taps_equal(a.kernel_t, b.kernel_t));
  cnv_filter_clear(&a);
  a = filter_of(CNV_FILTER_BOX, 3);
  a.kernel_t = cnv_taps_new_volume(1, 1, 4, taps);
  ck_assert(!cnv_taps_equal(a.kernel_t, b.kernel_t)); /* the same numbers in a different shape */
  cnv_filter_clear(&a);
  cnv_filter_clear(&b);
}
END_TEST

/* The terms of a 3D kernel are those of its frames, in their order; flip also reverses time. */
START_TEST(test_terms_of_frames)
{
  static const double taps[] = {1, 2, 3, 0, 0, 0, 3, 1, 5};
  CnvFilter filter = volume_of(3, 1, 3, taps);

  for (int flip = 0; flip < 2; flip++) {
    double found[3][3] = {{0}};
    CnvKernel kernel;

    filter.flip = flip;
    kernel = generate(&filter, full_size);
    for (int t = 0; t < kernel.n_terms; t++) {
      ck_assert(kernel.term[t].temporal_tap >= 0 && kernel.term[t].temporal_tap < 3);
      for (int x = 0; x < 3; x++)
        found[kernel.term[t].temporal_tap][x] += term_at(&kernel.term[t], x - 1, 0);
    }
    for (int i = 0; i < 9; i++)
      assert_near(found[i / 3][i % 3], taps[flip ? 8 - i : i], 1e-12, "tap", i % 3, i / 3);
    cnv_kernel_clear(&kernel);
  }
  cnv_filter_clear(&filter);
}
END_TEST

/* A 2D kernel times weights has the terms of the 2D kernel, for all frames. */
START_TEST(test_terms_of_a_picture)
{
  static const double taps[] = {1, 2, 1, 3, 6, 3, -2, -4, -2};
  CnvFilter filter = volume_of(3, 1, 3, taps);
  CnvKernel kernel;

  kernel = generate(&filter, full_size);
  ck_assert_int_eq(kernel.n_terms, 1);
  ck_assert_int_eq(kernel.term[0].temporal_tap, -1);
  assert_near(kernel_at(&kernel, 0, 0) / kernel_at(&kernel, 1, 0), 2, 1e-12, "share", 0, 0);
  cnv_kernel_clear(&kernel);
  cnv_filter_clear(&filter);
}
END_TEST

START_TEST(test_plans_in_time)
{
  static const double taps[] = {1, 2, 4}, one[] = {1};
  CnvPlan *plan = plan_of(timed(3, taps, TRUE));

  ck_assert(plan->n_temporal_taps == 3 && plan->center == 2 && !plan->not_time_separable && plan->weight[2] == 4);
  ck_assert(!cnv_plan_is_identity(plan));
  cnv_plan_unref(plan);
  plan = plan_of(timed(1, one, TRUE));
  ck_assert(plan->n_temporal_taps == 1 && plan->center == 0 && cnv_plan_is_identity(plan));
  cnv_plan_unref(plan);
  plan = plan_of(volume_of(3, 1, 3, not_time_separable));
  ck_assert(plan->not_time_separable && plan->n_temporal_taps == 3 && plan->center == 1);
  cnv_plan_unref(plan);
}
END_TEST

#define MAX_TAPS 5

/* slot: slot of the frame of each tap. expected: for each border the temporal taps, in any order unless the plan is not
 * separable in time. */
typedef struct {
  int slot[MAX_TAPS];
  struct {
    guint n;
    CnvTemporalTap temporal_tap[MAX_TAPS];
  } expected[CNV_TEMPORAL_REFLECT + 1];
} Row;

/* Compares weights by slot; each slot occurs once. */
static void
assert_each_slot(const CnvTemporalTap *temporal_tap, guint n, const CnvTemporalTap *expected, guint row, int border)
{
  for (guint i = 0; i < n; i++) {
    guint found = 0;

    for (guint k = 0; k < n; k++)
      found += temporal_tap[k].slot == expected[i].slot && fabs(temporal_tap[k].weight - expected[i].weight) < 1e-6;
    ck_assert_msg(found == 1, "row %u border %d: slot %d has not weight %g once", row, border, expected[i].slot,
                  expected[i].weight);
  }
}

static void
assert_in_order(const CnvTemporalTap *temporal_tap, guint n, const CnvTemporalTap *expected, guint row, int border)
{
  for (guint i = 0; i < n; i++)
    ck_assert_msg(temporal_tap[i].slot == expected[i].slot &&
                      (temporal_tap[i].slot < 0 || fabs(temporal_tap[i].weight - expected[i].weight) < 1e-6),
                  "row %u border %d: tap %u has slot %d with weight %g", row, border, i, temporal_tap[i].slot,
                  temporal_tap[i].weight);
}

/* Takes ownership of the filter. */
static void
assert_rows(CnvFilter filter, const Row *rows, guint n_rows)
{
  CnvPlan *plan = plan_of(filter);
  CnvTemporalTap temporal_tap[CNV_MAX_TEMPORAL_TAPS];

  for (guint r = 0; r < n_rows; r++)
    for (int border = 0; border <= CNV_TEMPORAL_REFLECT; border++) {
      const guint n = cnv_temporal_taps_make(plan, rows[r].slot, border, temporal_tap),
                  expected = rows[r].expected[border].n;

      ck_assert_msg(n == expected, "row %u border %d: %u moments, not %u", r, border, n, expected);
      if (plan->not_time_separable)
        assert_in_order(temporal_tap, n, rows[r].expected[border].temporal_tap, r, border);
      else
        assert_each_slot(temporal_tap, n, rows[r].expected[border].temporal_tap, r, border);
    }
  cnv_plan_unref(plan);
}

START_TEST(test_three_taps)
{
  static const double taps[] = {1, 2, 3};
  static const Row rows[] = {
      {{4, 5, 6}, {{3, {{4, 1}, {5, 2}, {6, 3}}}, {3, {{4, 1}, {5, 2}, {6, 3}}}, {3, {{4, 1}, {5, 2}, {6, 3}}}}},
      {{-1, 5, 6}, {{2, {{5, 2.4f}, {6, 3.6f}}}, {2, {{5, 3}, {6, 3}}}, {2, {{5, 3}, {6, 3}}}}},
      {{6, 0, -1}, {{2, {{6, 2}, {0, 4}}}, {2, {{6, 1}, {0, 5}}}, {2, {{6, 1}, {0, 5}}}}},
      {{-1, 5, -1}, {{1, {{5, 6}}}, {1, {{5, 6}}}, {1, {{5, 6}}}}},
  };

  assert_rows(timed(3, taps, FALSE), rows, G_N_ELEMENTS(rows));
}
END_TEST

START_TEST(test_five_taps)
{
  static const double taps[] = {1, 2, 3, 4, 5};
  static const Row rows[] = {
      {{-1, -1, 7, 8, 9},
       {{3, {{7, 3.75f}, {8, 5}, {9, 6.25f}}}, {3, {{7, 6}, {8, 4}, {9, 5}}}, {3, {{7, 5}, {8, 5}, {9, 5}}}}},
      {{-1, -1, 7, 8, -1}, {{2, {{7, 45 / 7.0f}, {8, 60 / 7.0f}}}, {2, {{7, 6}, {8, 9}}}, {2, {{7, 5}, {8, 10}}}}},
      {{1, 2, 3, -1, -1},
       {{3, {{1, 2.5f}, {2, 5}, {3, 7.5f}}}, {3, {{1, 1}, {2, 2}, {3, 12}}}, {3, {{1, 1}, {2, 7}, {3, 7}}}}},
  };

  assert_rows(timed(5, taps, FALSE), rows, G_N_ELEMENTS(rows));
}
END_TEST

/* The last tap is on the output frame; with two frames, the mirror goes back and forth. */
START_TEST(test_causal_taps)
{
  static const double taps[] = {1, 2, 3, 4, 5};
  static const Row rows[] = {
      {{-1, -1, -1, -1, 3}, {{1, {{3, 15}}}, {1, {{3, 15}}}, {1, {{3, 15}}}}},
      {{-1, -1, -1, 2, 3}, {{2, {{2, 20 / 3.0f}, {3, 25 / 3.0f}}}, {2, {{2, 10}, {3, 5}}}, {2, {{2, 7}, {3, 8}}}}},
  };

  assert_rows(timed(5, taps, TRUE), rows, G_N_ELEMENTS(rows));
}
END_TEST

/* Weights with a sum of 0 cannot be scaled: if the sum of all taps or of the remaining taps is 0, the factor is 0. */
START_TEST(test_sums_of_zero)
{
  static const double difference[] = {-1, 0, 1}, sharpened[] = {1, -1, 1}, tenths[] = {0.7, 0.1, 0.2, -0.3, 0.5};
  static const Row differences[] = {
      {{-1, 2, 3}, {{2, {{2, 0}, {3, 0}}}, {2, {{2, -1}, {3, 1}}}, {2, {{2, -1}, {3, 1}}}}},
      {{1, 2, 3}, {{3, {{1, -1}, {2, 0}, {3, 1}}}, {3, {{1, -1}, {2, 0}, {3, 1}}}, {3, {{1, -1}, {2, 0}, {3, 1}}}}},
  };
  static const Row nothing_found[] = {
      {{-1, 2, 3}, {{2, {{2, 0}, {3, 0}}}, {2, {{2, 0}, {3, 1}}}, {2, {{2, 0}, {3, 1}}}}}};
  static const Row nearly_nothing[] = {{{-1, 1, 2, 3, -1},
                                        {{3, {{1, 0}, {2, 0}, {3, 0}}},
                                         {3, {{1, 0.8f}, {2, 0.2f}, {3, 0.2f}}},
                                         {3, {{1, 0.8f}, {2, 0.2f}, {3, 0.2f}}}}}};

  assert_rows(timed(3, difference, FALSE), differences, G_N_ELEMENTS(differences));
  assert_rows(timed(3, sharpened, FALSE), nothing_found, G_N_ELEMENTS(nothing_found));
  assert_rows(timed(5, tenths, FALSE), nearly_nothing, G_N_ELEMENTS(nearly_nothing));
}
END_TEST

/* One per tap, in order, all with the same factor. */
START_TEST(test_solid)
{
  static const Row rows[] = {
      {{7, 8, 9}, {{3, {{7, 1}, {8, 1}, {9, 1}}}, {3, {{7, 1}, {8, 1}, {9, 1}}}, {3, {{7, 1}, {8, 1}, {9, 1}}}}},
      {{-1, 3, 4},
       {{3, {{-1, 0}, {3, 2.2f}, {4, 2.2f}}}, {3, {{3, 1}, {3, 1}, {4, 1}}}, {3, {{3, 1}, {3, 1}, {4, 1}}}}},
      {{-1, 3, -1}, {{3, {{-1, 0}, {3, 0}, {-1, 0}}}, {3, {{3, 1}, {3, 1}, {3, 1}}}, {3, {{3, 1}, {3, 1}, {3, 1}}}}},
  };
  static const Row without_sum[] = {
      {{-1, 3, 4}, {{3, {{-1, 0}, {3, 0}, {4, 0}}}, {3, {{3, 1}, {3, 1}, {4, 1}}}, {3, {{3, 1}, {3, 1}, {4, 1}}}}},
      {{7, 8, 9}, {{3, {{7, 1}, {8, 1}, {9, 1}}}, {3, {{7, 1}, {8, 1}, {9, 1}}}, {3, {{7, 1}, {8, 1}, {9, 1}}}}},
  };

  assert_rows(volume_of(3, 1, 3, not_time_separable), rows, G_N_ELEMENTS(rows));
  assert_rows(volume_of(3, 1, 3, solid_without_sum), without_sum, G_N_ELEMENTS(without_sum));
}
END_TEST

static void
add_tests(TCase *tcase)
{
  tcase_add_test(tcase, test_no_taps_in_time);
  tcase_add_test(tcase, test_gaussian);
  tcase_add_test(tcase, test_listed);
  tcase_add_test(tcase, test_volumes);
  tcase_add_test(tcase, test_refused);
  tcase_add_test(tcase, test_copy_in_time);
  tcase_add_test(tcase, test_terms_of_frames);
  tcase_add_test(tcase, test_terms_of_a_picture);
  tcase_add_test(tcase, test_plans_in_time);
  tcase_add_test(tcase, test_three_taps);
  tcase_add_test(tcase, test_five_taps);
  tcase_add_test(tcase, test_causal_taps);
  tcase_add_test(tcase, test_sums_of_zero);
  tcase_add_test(tcase, test_solid);
}

int
main(void)
{
  return test_main("temporal", add_tests);
}
