/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Compares the weights of regions with their definition in work.h, computed here in float64. Each is the nearest
 * multiple of 1/255, with halves rounded up. Among regions of equal weight, the higher plan counts. Checks of single
 * samples call ck_abort_msg, because ck_assert writes to a file each time.
 */
#include <math.h>
#include <stdio.h>

#include "support/plan.h"
#include "support/suite.h"
#include "support/weights.h"

#define WIDTH 97
#define HEIGHT 83
#define ROUNDS 1000
#define UNIT (1 / 65536.0) /* 255 times a weight is rounded up at a half, and at up to 8 units less */

static const double feathers[] = {0, 0.5, 1, 2, 3, 9, 16.5, 50};

/* The multiples of 1/255 that a weight may have: two if 255 times the weight is too close to the rounding limit. */
typedef struct {
  int least, most;
  gboolean half;
} Steps;

static guint n_halves, n_near, n_between;

/* Returns the possible steps of a weight. error: error of float32 in 255 times the weight. */
static Steps
steps_of(double weight, double error)
{
  const double scaled = 255 * weight, up = 0.5 + 8 * UNIT;

  return (Steps){(int)floor(scaled + up - error), (int)MIN(255, floor(scaled + up + error)),
                 fabs(scaled - floor(scaled) - 0.5) < 1e-9};
}

/* Returns the weight along an axis. */
static double
ramp(int at, int from, int to, double feather)
{
  const int away = MAX(MAX(from - at, at - (to - 1)), 0);

  return MAX(0, 1 - away / (feather + 1));
}

/* Returns the steps between the inner ellipse, which the ray from the centre to (x, y) meets at `inner` of its length,
 * and the outer one. Errors of float32 are about 2e-6 of the distance of the ellipses from the centre. */
static Steps
ellipse_steps(double x, double y, double a, double b, double feather_x, double feather_y)
{
  const double inner = 1 / hypot(x / MAX(a, 0.01), y / MAX(b, 0.01));
  const double outer = 1 / hypot(x / (a + feather_x + 1), y / (b + feather_y + 1));
  double error;

  if (inner >= 1)
    return (Steps){255, 255, FALSE};
  error = 255 * 2e-6 * outer / (outer - inner);
  error += inner < 1e-3 ? 0.07 : 0; /* distances above 1024 are limited */
  return outer <= 1 ? (Steps){0, 0, FALSE} : steps_of((outer - 1) / (outer - inner), error);
}

/* Returns the steps of a region at a sample. plane: 0, or 1 for chroma with half the width and height. */
static Steps
region_steps(const CnvRegion *region, double feather, int plane, int x, int y)
{
  const CnvRect *r = &region->rect;
  const int s = 1 << plane, left = r->x / s, right = (r->x + r->width + s - 1) / s, top = r->y / s,
            bottom = (r->y + r->height + s - 1) / s;
  const double f = feather / s;
  const Steps box = steps_of(ramp(x, left, right, f) * ramp(y, top, bottom, f), 4 * UNIT);
  Steps ellipse;

  if (region->shape == CNV_SHAPE_RECTANGLE)
    return box;
  ellipse = ellipse_steps(x - (left + right - 1) / 2.0, y - (top + bottom - 1) / 2.0, (right - left - 1) / 2.0,
                          (bottom - top - 1) / 2.0, f, f);
  return (Steps){MIN(box.least, ellipse.least), MIN(box.most, ellipse.most), FALSE};
}

/* Returns the weight of a sample in the jobs, in steps. Stores the plan that filters it in *plan, or -1. */
static int
job_steps(const CnvJobs *c, int plane, int x, int y, int *plan)
{
  int steps;
  const CnvJob *job = test_job_at(c, plane, 0, x, y, &steps);

  *plan = job ? job->plan : -1;
  return steps;
}

static CnvRegion
random_region(GRand *random, guint plan, gboolean any_shape)
{
  const CnvRect rect = {g_rand_int_range(random, 0, WIDTH), g_rand_int_range(random, 0, HEIGHT),
                        g_rand_int_range(random, 1, 60), g_rand_int_range(random, 1, 60)};

  return (CnvRegion){rect, plan, any_shape && g_rand_boolean(random) ? CNV_SHAPE_ELLIPSE : CNV_SHAPE_RECTANGLE};
}

static double
random_feather(GRand *random, int round)
{
  return round % 3 ? feathers[round % G_N_ELEMENTS(feathers)] : g_rand_double_range(random, 0, 40);
}

static void
check_round(const CnvWork *work, int plane)
{
  CnvJobs c = test_cut(work);
  int plan;

  for (int y = 0; y < work->plan[0]->plane[plane].height; y++)
    for (int x = 0; x < work->plan[0]->plane[plane].width; x++) {
      const Steps should = region_steps(work->region, work->feather, plane, x, y);
      const int steps = job_steps(&c, plane, x, y, &plan);

      if (steps < should.least || steps > should.most || should.most > should.least + 1)
        ck_abort_msg("shape %d at %d, %d, %dx%d, feather %g, plane %d, sample %d, %d: weight %d/255, not %d to %d",
                     work->region->shape, work->region->rect.x, work->region->rect.y, work->region->rect.width,
                     work->region->rect.height, work->feather, plane, x, y, steps, should.least, should.most);
      n_halves += should.half;
      n_near += should.least != should.most;
      n_between += steps > 0 && steps < 255;
    }
  cnv_jobs_clear(&c);
}

/* No weight is more than one step off. Only weights near a half may be off, but not exact halves. */
START_TEST(test_rounding)
{
  GRand *random = g_rand_new_with_seed(255);
  CnvPlan *plan = test_plan_default("NV12", WIDTH, HEIGHT);

  for (int round = 0; round < ROUNDS; round++) {
    const CnvRegion region = random_region(random, 0, TRUE);
    const CnvWork work = {&plan, 1, .region = &region, .n_regions = 1, .feather = random_feather(random, round)};

    for (int plane = 0; plane < 2; plane++)
      check_round(&work, plane);
  }
  printf("%u weights between 0 and 1: %u are halves, %u near to one\n", n_between, n_halves, n_near);
  ck_assert_uint_gt(n_halves, 1000);
  ck_assert_uint_lt(n_near, n_between / 100);
  cnv_plan_unref(plan);
  g_rand_free(random);
}
END_TEST

/* Checks the luma of work with a region of plan 1 and then one of plan 0. Returns the number of samples to which both
 * give the same weight below 1. */
static guint
check_ties(const CnvWork *work)
{
  const CnvPlane *luma = &work->plan[0]->plane[0];
  CnvJobs c = test_cut(work);
  guint n_ties = 0;

  for (int i = 0; i < luma->width * luma->height; i++) {
    const int x = i % luma->width, y = i / luma->width;
    const Steps high = region_steps(&work->region[0], work->feather, 0, x, y),
                low = region_steps(&work->region[1], work->feather, 0, x, y);
    int owner, steps = job_steps(&c, 0, x, y, &owner);

    if (steps < MAX(high.least, low.least) || steps > MAX(high.most, low.most))
      ck_abort_msg("%d, %d: weight %d, not the larger one of %d and %d", x, y, steps, high.least, low.least);
    if (high.least != high.most || low.least != low.most || steps == 0)
      continue;
    if (owner != (high.least >= low.least))
      ck_abort_msg("%d, %d: plan %d filters, weights %d and %d", x, y, owner, low.least, high.least);
    n_ties += high.least == low.least && steps < 255;
  }
  cnv_jobs_clear(&c);
  return n_ties;
}

/* The largest rounded weight counts. If only rounding makes regions equal, the higher plan filters, even if the region
 * of the lower plan has more weight before rounding everywhere, as in frames with few samples. */
START_TEST(test_ties)
{
  GRand *random = g_rand_new_with_seed(510);
  guint n_ties[2] = {0, 0};

  for (int is_tiny = 0; is_tiny < 2; is_tiny++) {
    CnvPlan *plan = is_tiny ? test_plan_default("GRAY8", 2, 2) : test_plan_default("GRAY8", WIDTH, HEIGHT),
            *plans[] = {plan, plan};

    for (int round = 0; round < (is_tiny ? 20 * ROUNDS : ROUNDS); round++) {
      const CnvRegion region[] = {random_region(random, 1, TRUE), random_region(random, 0, TRUE)};
      const double feather = is_tiny ? g_rand_double_range(random, 100, 1000) : random_feather(random, round);
      const CnvWork work = {plans, 2, .region = region, .n_regions = 2, .feather = feather};

      n_ties[is_tiny] += check_ties(&work);
    }
    cnv_plan_unref(plan);
  }
  printf("%u ties, %u in small frames\n", n_ties[0], n_ties[1]);
  ck_assert_uint_gt(n_ties[0], 1000);
  ck_assert_uint_gt(n_ties[1], 1000);
  g_rand_free(random);
}
END_TEST

/* Each mask cell, and each interpolation between two cells, is rounded in integers. */
START_TEST(test_mask_rounding)
{
  enum { STEPS = 64 }; /* samples per cell */
  guint8 cells[256];
  CnvPlan *plan = test_plan_default("GRAY8", 256 * STEPS, 1);
  CnvRegion region = {{0, 0, 256 * STEPS, 1}, 0, CNV_SHAPE_MASK};
  CnvWork work = {&plan, 1, .region = &region, .n_regions = 1};
  CnvJobs c;
  int owner;

  for (int i = 0; i < 256; i++)
    cells[i] = (guint8)(i * 91);
  region.mask = cnv_mask_new(256, 1, 256, cells);
  c = test_cut(&work);
  for (int x = 0; x < 256 * STEPS; x++) {
    /* In half steps, so that centres of samples are integers: 2 x + 1 from the left, and STEPS from there to a centre.
     */
    const int at = CLAMP(2 * x + 1 - STEPS, 0, 255 * 2 * STEPS), cell = at / (2 * STEPS), share = at % (2 * STEPS);
    const int sum = cells[cell] * (2 * STEPS - share) + cells[MIN(cell + 1, 255)] * share;

    ck_assert_int_eq(job_steps(&c, 0, x, 0, &owner), (sum + STEPS) / (2 * STEPS));
  }
  cnv_jobs_clear(&c);
  cnv_mask_unref(region.mask);
  cnv_plan_unref(plan);
}
END_TEST

static void
add_tests(TCase *tcase)
{
  tcase_add_test(tcase, test_rounding);
  tcase_add_test(tcase, test_ties);
  tcase_add_test(tcase, test_mask_rounding);
}

int
main(void)
{
  return test_main("region_weights", add_tests);
}
