/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Taps for decimated samples (plan/decimated.h): the effective taps of each output, in float64, are near the requested
 * ones. Their error is the one that the plan states, and within the contract.
 */
#include <math.h>
#include <string.h>

#include "plan/decimated.h"
#include "plan/plan.h"
#include "support/plan.h"
#include "support/suite.h"

#define REACH 1600 /* samples to either side of an output */

static CnvPlan *
gaussian(const char *format, int radius, int width, int height, CnvAlgorithm requested)
{
  CnvFilter filter;
  CnvPlan *plan;

  test_filter_init(&filter);
  filter.type = CNV_FILTER_GAUSSIAN;
  filter.radius = radius;
  filter.border = CNV_BORDER_REPLICATE;
  plan = test_plan_new(&filter, CNV_ALGORITHM_AUTO, format, width, height);
  plan->requested = requested;
  cnv_filter_clear(&filter);
  return plan;
}

/* Computes the spline of three boxes by its definition. */
static void
make_spline(double *spline, int step)
{
  int n = 1;

  spline[0] = 1;
  for (int box = 0; box < 3; box++, n += step - 1) {
    double wider[3 * CNV_DECIMATED_PLACES_MAX] = {0};

    for (int i = 0; i < n; i++)
      for (int k = 0; k < step; k++)
        wider[i + k] += spline[i];
    memcpy(spline, wider, (gsize)(n + step - 1) * sizeof(double));
  }
}

START_TEST(test_spline)
{
  for (int step = 2; step <= CNV_DECIMATED_PLACES_MAX; step *= 2) {
    double spline[3 * CNV_DECIMATED_PLACES_MAX];

    make_spline(spline, step);
    for (int i = 0; i < 3 * step - 2; i++)
      ck_assert_int_eq(cnv_decimated_spline(step, i), (int)spline[i]);
    ck_assert_int_eq(cnv_decimated_spline(step, 3 * step - 2), 0);
  }
}
END_TEST

/* Measures the taps of a place. error: the sum of the errors' squares and the sum of their magnitudes. moved: how far
 * the output is from its place, in samples. */
static void
measure(const CnvDecimatedPlaces *places, int place, const float *tap, int n, double error[2], double *moved)
{
  static double response[2 * REACH + 1];
  double spline[3 * CNV_DECIMATED_PLACES_MAX], sum = 0, cube = pow(places->step, 3);

  make_spline(spline, places->step);
  memset(response, 0, sizeof response);
  for (int q = -places->radius; q <= places->radius; q++)
    for (int i = 0; i < 3 * places->step - 2; i++)
      response[REACH + places->step * q - (places->step - 1) + i - place] +=
          places->tap[place][q + places->radius] * spline[i] / cube;
  for (int i = 0; i < n; i++)
    sum += (double)tap[i];
  error[0] = error[1] = *moved = 0;
  for (int k = -REACH; k <= REACH; k++) {
    double left = response[REACH + k] - (abs(k) <= n / 2 ? (double)tap[k + n / 2] / sum : 0);

    error[0] += left * left;
    error[1] += fabs(left);
    *moved += k * response[REACH + k];
  }
}

/* Checks the taps that a plan finds for its first plane. */
static void
check(const char *format, int radius, int width, int height, int most)
{
  CnvPlan *plan = gaussian(format, radius, width, height, CNV_ALGORITHM_TENSOR);
  const CnvPlane *plane = &plan->plane[0];
  const CnvTerm *term = &plane->term[0];
  const float *tap = plan->taps + term->taps[CNV_X];
  CnvDecimatedPlaces *places = g_new(CnvDecimatedPlaces, CNV_N_AXES);
  double square = 0, total = 0, of_taps = 0, sum = 0;

  ck_assert_msg(cnv_decimated_find_places(plan, plane, most, places), "%s, radius %d: no taps", format, radius);
  for (int place = 0; place < places->step; place++) {
    double error[2], moved, of_place = 0;

    measure(places, place, tap, term->n[CNV_X], error, &moved);
    for (int i = 0; i <= 2 * places->radius; i++)
      of_place += places->tap[place][i];
    ck_assert_msg(fabs(of_place - 1) < 1e-12, "radius %d, place %d: sum %.15g", radius, place, of_place);
    ck_assert_msg(fabs(moved) < 0.001 * places->step, "radius %d, place %d: outputs lie %g away", radius, place, moved);
    square += error[0] / places->step;
    total = MAX(total, error[1]);
  }
  ck_assert_msg(fabs(sqrt(square) - sqrt(places->square)) < 1e-9 && fabs(total - places->total) < 1e-9,
                "%s, radius %d, step %d: errors of %g and %g, not of %g and %g", format, radius, places->step,
                sqrt(square), total, sqrt(places->square), places->total);
  for (int i = 0; i < term->n[CNV_X]; i++)
    sum += (double)tap[i];
  for (int i = 0; i < term->n[CNV_X]; i++)
    of_taps += pow((double)tap[i] / sum, 2);
  /* The root mean square error of noise of all levels, filtered along both axes. */
  ck_assert_msg(sqrt(2 * square) * sqrt(of_taps) * plane->full[0] / sqrt(12) <= 0.007,
                "%s, radius %d: too large errors of noise", format, radius);
  ck_assert_msg(total * plane->full[0] < 0.9, "%s, radius %d: too large an error", format, radius);
  g_free(places);
  cnv_plan_unref(plan);
}

START_TEST(test_places)
{
  static const int radii[] = {24, 33, 48, 64, 90, 128, 200, 256, 400, 512};

  for (guint i = 0; i < G_N_ELEMENTS(radii); i++)
    check("GRAY8", radii[i], 2100, 2100, 25);
  check("Y444_10LE", 128, 1100, 1100, 57);
  check("Y444_10LE", 256, 1100, 1100, 57);
}
END_TEST

/* A plane that is small for its taps uses all of them, because its levels are nearly equal. With auto, so does a plane
 * in which wide taps leave too little contrast. */
START_TEST(test_limits)
{
  static const struct {
    const char *format;
    int radius, width, height;
    CnvAlgorithm requested;
    gboolean found;
  } rows[] = {
      {"GRAY8", 64, 258, 257, CNV_ALGORITHM_TENSOR, FALSE},     {"GRAY8", 64, 258, 258, CNV_ALGORITHM_TENSOR, TRUE},
      {"GRAY8", 64, 387, 386, CNV_ALGORITHM_AUTO, FALSE},       {"GRAY8", 64, 386, 387, CNV_ALGORITHM_AUTO, FALSE},
      {"GRAY8", 64, 387, 387, CNV_ALGORITHM_AUTO, TRUE},        {"GRAY8", 128, 3840, 2160, CNV_ALGORITHM_AUTO, TRUE},
      {"GRAY8", 256, 3840, 2160, CNV_ALGORITHM_AUTO, FALSE},    {"GRAY8", 256, 3840, 2160, CNV_ALGORITHM_TENSOR, TRUE},
      {"Y444_10LE", 256, 3840, 2160, CNV_ALGORITHM_AUTO, TRUE},
  };
  CnvDecimatedPlaces *places = g_new(CnvDecimatedPlaces, CNV_N_AXES);

  for (guint i = 0; i < G_N_ELEMENTS(rows); i++) {
    CnvPlan *plan = gaussian(rows[i].format, rows[i].radius, rows[i].width, rows[i].height, rows[i].requested);
    int most = plan->plane[0].component[0].bytes == 1 ? 25 : 57;

    ck_assert_msg(!cnv_decimated_find_places(plan, &plan->plane[0], most, places) == !rows[i].found, "row %u", i);
    cnv_plan_unref(plan);
  }
  g_free(places);
}
END_TEST

static void
add_tests(TCase *tcase)
{
  tcase_add_test(tcase, test_spline);
  tcase_add_test(tcase, test_places);
  tcase_add_test(tcase, test_limits);
}

int
main(void)
{
  return test_main("decimated", add_tests);
}
