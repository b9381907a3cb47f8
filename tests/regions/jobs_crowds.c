/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Jobs of many overlapping regions: their work is bounded, and no part of a region is missing.
 */
#include "regions/jobs.h"

#include "support/crowds.h"
#include "support/masks.h"
#include "support/plan.h"
#include "support/weights.h"

/* Bounds for a crowd of CNV_MAX_REGIONS in a frame, in samples of all planes: filtered samples, and samples weighed by
 * one region. */
#define FILTERED_MOST 3
#define WEIGHED_MOST 15
#define PATCHES_MOST (8 * CNV_MAX_REGIONS)

/* The memory for many isolated regions is bounded. */
START_TEST(test_weights_of_many)
{
  static CnvRegion region[CNV_MAX_REGIONS];
  CnvPlan *plain = test_plan_default("GRAY8", 1920, 1080), *plan = cnv_plan_weighed(plain, NULL);
  CnvWork work = {&plan, 1, .region = region, .n_regions = CNV_MAX_REGIONS, .isolated = TRUE};
  CnvJobs c;

  for (int i = 0; i < CNV_MAX_REGIONS; i++)
    region[i] = (CnvRegion){{i % 40, i / 40, 1860, 1040}, 0, CNV_SHAPE_ELLIPSE};
  c = test_cut(&work);
  ck_assert_uint_gt(c.crowd, 0);
  ck_assert_uint_lt(c.coverage_size, 20 * 1920 * 1080);
  cnv_jobs_clear(&c);
  cnv_plan_unref(plain);
}
END_TEST

/* Returns the region that owns a sample without feather, or -1. */
static int
owner_of(const CnvWork *work, const CnvPlane *plane, int x, int y, int field)
{
  int owner = -1;

  for (guint i = 0; i < work->n_regions; i++)
    if (region_weight(work, plane, &work->region[i], x, y, field, work->interlaced ? 2 : 1) >= 1 &&
        (owner < 0 || work->region[i].plan >= work->region[owner].plan))
      owner = (int)i;
  return owner;
}

/* No sample has a smaller weight than it should, a weaker plan, or a window that begins within its region. If no
 * regions were joined, everything is exact. */
static void
check_crowd_sample(const CnvWork *work, const CnvJobs *c, int plane, int field, int x, int y)
{
  const CnvPlane *target = &work->plan[0]->plane[plane];
  int owner, steps;
  const CnvJob *p = test_job_at(c, plane, field, x, y, &steps);
  double weight = steps / 255.0, should = 0;

  for (guint i = 0; i < work->n_regions; i++)
    should = MAX(should, region_weight(work, target, &work->region[i], x, y, field, work->interlaced ? 2 : 1));
  if (work->invert)
    should = 1 - should;
  ck_assert_msg(weight >= should - WEIGHT_SLACK, "plane %d, %d, %d: weight %g, not %g", plane, x, y, weight, should);
  ck_assert_msg(c->crowd > 0 || weight <= should + WEIGHT_SLACK, "plane %d, %d, %d: weight %g, not %g", plane, x, y,
                weight, should);
  if (!p || work->invert || work->feather > 0)
    return;
  owner = owner_of(work, target, x, y, field);
  ck_assert(owner >= 0 || c->crowd > 0);
  if (owner < 0)
    return;
  ck_assert_int_ge(p->plan, (int)work->region[owner].plan);
  ck_assert(c->crowd > 0 || p->plan == (int)work->region[owner].plan);
  if (work->isolated && c->crowd == 0)
    ck_assert_int_eq(p->window_x, MAX(0, work->region[owner].rect.x >> target->sub_x));
  ck_assert(p->window_x <= x && p->window_y <= y && x < p->window_x + p->window_width &&
            y < p->window_y + p->window_height);
}

/* Checks the work of the jobs, as a multiple of the work of the whole frame. */
static void
check_bounds(const CnvWork *work, const CnvJobs *c, const char *what)
{
  double whole = 0, filtered = pixels_of(c), weighed = 0;

  for (int p = 0; p < work->plan[0]->n_planes; p++)
    whole += (double)work->plan[0]->plane[p].width * work->plan[0]->plane[p].height;
  for (guint i = 0; i < c->cells->len; i++)
    weighed += (double)CNV_CELL_WIDTH * CNV_CELL_HEIGHT * g_array_index(c->cells, CnvCell, i).n;
  ck_assert_msg(filtered <= FILTERED_MOST * whole, "%s: %.1f frames are filtered", what, filtered / whole);
  ck_assert_msg(weighed <= WEIGHED_MOST * whole, "%s: %.1f frames are weighed", what, weighed / whole);
  ck_assert_msg(c->jobs->len <= PATCHES_MOST, "%s: %u jobs", what, c->jobs->len);
}

static void
check_crowd(const CnvWork *work, const char *what)
{
  CnvJobs c = test_cut(work);

  check_bounds(work, &c, what);
  check_jobs(work, &c);
  for (int p = 0; p < work->plan[0]->n_planes; p++)
    for (int field = 0; field < (work->interlaced ? 2 : 1); field++) {
      const CnvPlane *plane = &work->plan[0]->plane[p];

      for (int y = field; y < plane->height / (work->interlaced ? 2 : 1); y += 71)
        for (int x = field; x < plane->width; x += 83)
          check_crowd_sample(work, &c, p, field, x, y);
    }
  cnv_jobs_clear(&c);
}

/* Crowds of regions of every kind: their work is bounded, and no part is missing. */
START_TEST(test_crowds)
{
  static const double feathers[] = {0, 8, 1024};
  CnvPlan *plan = test_plan_default("NV12", 1920, 1080), *plans[CROWD_PLANS];
  CnvRegion region[CNV_MAX_REGIONS];
  g_autoptr(CnvMask) mask = test_mask_new();

  for (int i = 0; i < CROWD_PLANS; i++)
    plans[i] = plan;
  for (guint kind = 0; kind < 16; kind++)
    for (guint f = 0; f < G_N_ELEMENTS(feathers); f++) {
      CnvWork work = {plans, kind & 1 ? CROWD_PLANS : 1, .region = region, .n_regions = CNV_MAX_REGIONS};
      char *what;

      work.isolated = kind & 2;
      work.invert = kind & 4;
      work.interlaced = kind & 8;
      work.feather = feathers[f];
      if (work.invert && (work.isolated || work.n_plans > 1))
        continue;
      what = g_strdup_printf("%s, %u plans, isolated %d, invert %d, interlaced %d, feather %g", crowd_names[_i],
                             work.n_plans, work.isolated, work.invert, work.interlaced, work.feather);
      crowd_make(region, CNV_MAX_REGIONS, _i, work.n_plans, 1920, 1080);
      for (guint i = 0; i < CNV_MAX_REGIONS && f == 1; i++) {
        region[i].shape = (CnvShape)(i % 3);
        region[i].mask = mask;
      }
      check_crowd(&work, what);
      g_free(what);
    }
  cnv_plan_unref(plan);
}
END_TEST

/* Distant regions, each with a border that is wider than the frame: they are filtered together, and that is reported.
 */
START_TEST(test_far_windows)
{
  CnvRegion region[60];
  CnvFilter filter;
  CnvPlan *plan;
  CnvJobs c;

  test_filter_init(&filter);
  filter.radius = CNV_RADIUS_MAX;
  plan = test_plan_new(&filter, CNV_ALGORITHM_AUTO, "GRAY8", 1280, 720);
  for (int i = 0; i < (int)G_N_ELEMENTS(region); i++)
    region[i] = (CnvRegion){{i % 10 * 128 + 50, i / 10 * 64 + 20, 20, 20}};
  for (int isolated = 0; isolated < 2; isolated++) {
    const CnvWork work = {&plan, 1, .region = region, .n_regions = G_N_ELEMENTS(region), .isolated = isolated};

    c = test_cut(&work);
    ck_assert_uint_eq(c.crowd, isolated ? G_N_ELEMENTS(region) : 0);
    for (int y = 0; y < 720; y += 3)
      for (int x = 0; x < 1280; x += 3)
        check_sample(&work, &c, 0, 0, x, y);
    cnv_jobs_clear(&c);
  }
  cnv_plan_unref(plan);
}
END_TEST

void
add_crowd_tests(TCase *tcase)
{
  tcase_add_test(tcase, test_weights_of_many);
  tcase_add_test(tcase, test_far_windows);
  tcase_add_loop_test(tcase, test_crowds, 0, N_CROWDS);
}
