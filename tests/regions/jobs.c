/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Jobs cover each sample as often as they should, with the weight of its regions, and nothing else. Checked with
 * random work and some work computed by hand.
 */
#include "regions/jobs.h"

#include <math.h>
#include <stdio.h>

#include "support/masks.h"
#include "support/plan.h"
#include "support/suite.h"
#include "support/weights.h"

#define REGIONS 9
#define ROUNDS 400
#define LARGE_REGIONS 24
#define LARGE_ROUNDS 2000
#define LARGE_SAMPLES 300
#define LARGE_SECONDS 10

static void
check_work(const CnvWork *work)
{
  const int fields = work->interlaced ? 2 : 1;
  CnvJobs c = test_cut(work);

  check_jobs(work, &c);
  check_disjoint(&c, "jobs");
  for (guint i = 0; i < c.jobs->len; i++)
    check_coverage(&c, &g_array_index(c.jobs, CnvJob, i));
  for (int p = 0; p < work->plan[0]->n_planes; p++)
    for (int field = 0; field < fields; field++) {
      const CnvPlane *plane = &work->plan[0]->plane[p];

      for (int y = 0; y < (plane->height - field + fields - 1) / fields; y++)
        for (int x = 0; x < plane->width; x++)
          check_sample(work, &c, p, field, x, y);
    }
  cnv_jobs_clear(&c);
}

START_TEST(test_random)
{
  static const char *const formats[] = {"NV12", "GRAY8", "Y42B"};
  static const double feathers[] = {0, 0, 1, 2.5, 9};
  GRand *random = g_rand_new_with_seed(20240607);
  g_autoptr(CnvMask) mask = test_mask_new();
  CnvRegion region[REGIONS];

  for (int round = 0; round < ROUNDS; round++) {
    CnvPlan *plan =
        test_plan_default(formats[round % 3], g_rand_int_range(random, 1, 40), g_rand_int_range(random, 1, 30));
    CnvPlan *plans[3] = {plan, plan, plan};
    CnvWork work = {plans, 3, .region = region, .n_regions = g_rand_int_range(random, 0, REGIONS + 1)};

    for (guint i = 0; i < work.n_regions; i++)
      region[i] = (CnvRegion){{g_rand_int_range(random, -9, 40), g_rand_int_range(random, -9, 30),
                               g_rand_int_range(random, -1, 25), g_rand_int_range(random, -1, 20)},
                              g_rand_int_range(random, 0, 3),
                              (CnvShape)g_rand_int_range(random, 0, round % 2 ? 3 : 1),
                              mask};
    work.feather = feathers[round % 5];
    work.interlaced = g_rand_boolean(random);
    work.invert = round % 4 == 0;
    check_work(&work);
    cnv_plan_unref(plan);
  }
  g_rand_free(random);
}
END_TEST

static gboolean
is_stronger(const CnvRegion *a, const CnvRegion *b)
{
  return a->plan != b->plan ? a->plan > b->plan : a->shape == CNV_SHAPE_RECTANGLE || b->shape != CNV_SHAPE_RECTANGLE;
}

/* Returns FALSE if a region has no sample in a field of the plane. If it is isolated, it then has no weight. */
static gboolean
has_samples(const CnvPlane *plane, const CnvRect *r, int field, int fields)
{
  const double sx = 1 << plane->sub_x, sy = 1 << plane->sub_y;
  const double top = ceil((floor(r->y / sy) - field) / fields);
  const double bottom = ceil((ceil((r->y + r->height) / sy) - field) / fields);
  const int rows = (plane->height - field + fields - 1) / fields;

  return floor(r->x / sx) < plane->width && ceil((r->x + r->width) / sx) > 0 && top < rows && bottom > 0;
}

/* Like check_sample. Also checks that the plan and the window of the owning region filter the sample, unless rounding
 * may decide which region that is. */
static void
check_owner(const CnvWork *work, const CnvJobs *c, int plane, int field, int x, int y, guint32 seed)
{
  const CnvPlane *target = &work->plan[0]->plane[plane];
  int steps;
  const CnvJob *job = test_job_at(c, plane, field, x, y, &steps);
  double largest = 0, weights[LARGE_REGIONS], weight = steps / 255.0;
  const CnvRegion *owner = NULL;
  const int fields = work->interlaced ? 2 : 1;
  gboolean open = FALSE;

  for (guint i = 0; i < work->n_regions; i++) {
    const CnvRegion *region = &work->region[i];

    weights[i] = work->isolated && !has_samples(target, &region->rect, field, fields)
                     ? 0
                     : region_weight(work, target, region, x, y, field, fields);
    if (weights[i] > largest || (owner && weights[i] == largest && is_stronger(region, owner)))
      owner = region;
    largest = MAX(largest, weights[i]);
  }
  if (fabs(weight - (work->invert ? 1 - largest : largest)) >= WEIGHT_SLACK)
    ck_abort_msg("seed %u, plane %d field %d, %d, %d: weight %g, not %g", seed, plane, field, x, y, weight, largest);
  for (guint i = 0; i < work->n_regions; i++)
    open |= &work->region[i] != owner && weights[i] > largest - 2 * WEIGHT_SLACK && weights[i] < 1;
  if (!job || work->invert || largest < 2 * WEIGHT_SLACK || open)
    return;
  if (job->plan != (int)owner->plan)
    ck_abort_msg("seed %u, plane %d field %d, %d, %d: plan %d, not %u", seed, plane, field, x, y, job->plan,
                 owner->plan);
  if (work->isolated && job->window_x != MAX(0, owner->rect.x >> target->sub_x))
    ck_abort_msg("seed %u, plane %d field %d, %d, %d: window at %d, not %d", seed, plane, field, x, y, job->window_x,
                 owner->rect.x >> target->sub_x);
}

static CnvRegion
random_region(GRand *random, int width, int height, gboolean any_shape, CnvMask *mask)
{
  int most = g_rand_int_range(random, 0, 4) ? MAX(width / 4, 2) : 2 * width; /* some are large */

  return (CnvRegion){{g_rand_int_range(random, -100, width + 20), g_rand_int_range(random, -100, height + 20),
                      g_rand_int_range(random, 1, most), g_rand_int_range(random, 1, most)},
                     (guint)g_rand_int_range(random, 0, 3),
                     (CnvShape)g_rand_int_range(random, 0, any_shape ? 3 : 1),
                     mask};
}

/* Frames of at least 3x3 cells, checked at some samples, which differ in each run. */
START_TEST(test_random_large)
{
  static const char *const formats[] = {"NV12", "GRAY8", "Y42B"};
  static const double feathers[] = {0, 0, 1, 30.5, 9, 150};
  static const guint32 known_seeds[] = {1235911246, 3961335734}; /* jobs of one layer overlapped */
  const char *given = g_getenv("CNV_SEED");
  gint64 end = g_get_monotonic_time() + LARGE_SECONDS * G_USEC_PER_SEC;
  g_autoptr(CnvMask) mask = test_mask_new();
  CnvRegion region[LARGE_REGIONS];
  guint n_exact = 0, round;

  for (round = 0; round < LARGE_ROUNDS && (round < 20 || g_get_monotonic_time() < end); round++) {
    guint32 seed = given                               ? (guint32)g_ascii_strtoull(given, NULL, 10) + round
                   : round < G_N_ELEMENTS(known_seeds) ? known_seeds[round]
                                                       : g_random_int();
    GRand *random = g_rand_new_with_seed(seed);
    int width = g_rand_int_range(random, 2 * CNV_CELL_WIDTH + 1, 900);
    int height = g_rand_int_range(random, 2 * CNV_CELL_HEIGHT + 1, 500);
    CnvPlan *plan = test_plan_default(formats[seed % 3], width, height), *plans[3] = {plan, plan, plan};
    CnvWork work = {plans, 3, .region = region, .n_regions = g_rand_int_range(random, 1, LARGE_REGIONS + 1)};
    gboolean any_shape = g_rand_boolean(random);
    g_autofree char *what = g_strdup_printf("seed %u", seed);
    CnvJobs c;

    for (guint i = 0; i < work.n_regions; i++)
      region[i] = random_region(random, width, height, any_shape, mask);
    work.feather = feathers[g_rand_int_range(random, 0, G_N_ELEMENTS(feathers))];
    work.interlaced = g_rand_boolean(random);
    work.invert = g_rand_int_range(random, 0, 4) == 0;
    work.isolated = !work.invert && g_rand_boolean(random);
    c = test_cut(&work);
    check_jobs(&work, &c);
    check_disjoint(&c, what);
    n_exact += c.crowd == 0;
    for (int i = 0; i < LARGE_SAMPLES && c.crowd == 0; i++) {
      int p = g_rand_int_range(random, 0, plan->n_planes), field = work.interlaced ? g_rand_int_range(random, 0, 2) : 0;
      const CnvPlane *plane = &plan->plane[p];

      check_owner(&work, &c, p, field, g_rand_int_range(random, 0, plane->width),
                  g_rand_int_range(random, 0, plane->height / (work.interlaced ? 2 : 1)), seed);
    }
    cnv_jobs_clear(&c);
    cnv_plan_unref(plan);
    g_rand_free(random);
  }
  printf("%u of %u frames were cut exactly\n", n_exact, round);
  ck_assert_uint_ge(n_exact, round * 9 / 10);
}
END_TEST

START_TEST(test_everything)
{
  CnvRegion region = {{3, 3, 4, 4}, 0};
  CnvFilter filter;
  const CnvJob *p;
  CnvPlan *plan;
  CnvWork work = CNV_WORK_ALL(&plan);
  CnvJobs c;

  test_filter_init(&filter);
  filter.planes = CNV_PLANES_LUMA;
  plan = test_plan_new(&filter, CNV_ALGORITHM_NAIVE, "I420", 31, 17);
  work.region = &region;
  work.n_regions = 1;
  work.interlaced = TRUE;
  c = test_cut(&work); /* chroma is copied, and the region has no effect */
  ck_assert_uint_eq(c.jobs->len, 2);
  for (int field = 0; field < 2; field++) {
    p = &g_array_index(c.jobs, CnvJob, field);
    ck_assert(p->plane == 0 && p->field == field && p->fields == 2 && p->x == 0 && p->y == 0 && p->coverage_pitch == 0);
    ck_assert(p->width == 31 && p->height == 9 - field && p->window_width == 31 && p->window_height == 9 - field);
  }
  cnv_jobs_clear(&c);
  cnv_plan_unref(plan);
}
END_TEST

/* Distant regions cost as much as the area that they cover with their feather, and no more. */
START_TEST(test_thrift)
{
  CnvPlan *plan = test_plan_default("GRAY8", 1920, 1080);
  CnvRegion region[12];
  CnvWork work = {&plan, 1, .region = region, .n_regions = G_N_ELEMENTS(region)};

  for (int shape = CNV_SHAPE_RECTANGLE; shape <= CNV_SHAPE_ELLIPSE; shape++)
    for (int feather = 0; feather <= 10; feather += 10) {
      CnvJobs c;

      for (int i = 0; i < (int)G_N_ELEMENTS(region); i++)
        region[i] = (CnvRegion){{i % 4 * 450 + 37, i / 4 * 350 + 51, 60, 60}, 0, (CnvShape)shape};
      work.feather = feather;
      c = test_cut(&work);
      ck_assert_uint_eq(c.jobs->len, G_N_ELEMENTS(region));
      ck_assert(pixels_of(&c) == G_N_ELEMENTS(region) * (60.0 + 2 * feather) * (60 + 2 * feather));
      for (guint i = 0; i < c.jobs->len; i++)
        ck_assert_int_eq(g_array_index(c.jobs, CnvJob, i).coverage_pitch > 0, shape == CNV_SHAPE_ELLIPSE || feather);
      cnv_jobs_clear(&c);
    }
  cnv_plan_unref(plan);
}
END_TEST

/* A disc as a mask costs little more than the area that it covers. */
START_TEST(test_mask)
{
  const int width = 1600, height = 1200, cells_x = 200, cells_y = 100;
  g_autofree guint8 *cells = g_malloc0(cells_x * cells_y);
  CnvPlan *plan = test_plan_default("GRAY8", width, height);
  CnvRegion regions[] = {{{0, 0, width, height}, 0, CNV_SHAPE_MASK}, {{100, 100, 50, 40}, 0}};
  CnvWork work = {&plan, 1, .region = regions, .n_regions = 1};
  double disc = G_PI * 500 * 500;
  CnvJobs c;

  for (int i = 0; i < cells_x * cells_y; i++)
    cells[i] = hypot((i % cells_x + 0.5) / cells_x * width - width / 2.0,
                     (i / cells_x + 0.5) / cells_y * height - height / 2.0) < 500
                   ? 255
                   : 0;
  regions[0].mask = cnv_mask_new(cells_x, cells_y, cells_x, cells);
  for (int i = 0; i < 3; i++) {
    work.invert = i == 1;
    work.n_regions = i == 2 ? 2 : 1;
    c = test_cut(&work);
    check_jobs(&work, &c);
    check_disjoint(&c, "jobs");
    ck_assert_uint_eq(c.crowd, 0);
    if (work.invert)
      disc = (double)width * height - disc;
    ck_assert_msg(pixels_of(&c) < 1.5 * disc, "%g of %g are filtered", pixels_of(&c), disc);
    if (work.invert)
      disc = (double)width * height - disc;
    for (int y = 0; y < height; y += 3)
      for (int x = y % 3; x < width; x += 3) {
        double from = hypot(x + 0.5 - width / 2.0, y + 0.5 - height / 2.0);
        gboolean rect = work.n_regions > 1 && x >= 100 && x < 150 && y >= 100 && y < 140;
        gboolean filtered = (from < 500 || rect) != work.invert;
        int weight;

        test_job_at(&c, 0, 0, x, y, &weight);
        if (fabs(from - 500) > 25)
          ck_assert_msg(weight == (filtered ? CNV_WEIGHT_ONE : 0), "%d, %d: weight %d/255", x, y, weight);
      }
    cnv_jobs_clear(&c);
  }
  cnv_mask_unref(regions[0].mask);
  cnv_plan_unref(plan);
}
END_TEST

/* A single region is one job per plane; chroma includes every sample that it touches. */
START_TEST(test_lone_region)
{
  CnvPlan *plan = test_plan_default("NV12", 64, 48);
  CnvRegion region = {{7, 9, 12, 6}, 0};
  CnvWork work = {&plan, 1, .region = &region, .n_regions = 1};
  CnvJobs c = test_cut(&work);
  const CnvJob *p = (const CnvJob *)c.jobs->data;

  ck_assert_uint_eq(c.jobs->len, 2);
  ck_assert(p[0].x == 7 && p[0].y == 9 && p[0].width == 12 && p[0].height == 6 && p[0].coverage_pitch == 0);
  ck_assert(p[1].x == 3 && p[1].y == 4 && p[1].width == 7 && p[1].height == 4 && p[1].coverage_pitch == 0);
  ck_assert(p[0].window_width == 64 && p[1].window_height == 24);
  cnv_jobs_clear(&c);
  work.isolated = TRUE;
  c = test_cut(&work);
  p = (const CnvJob *)c.jobs->data;
  ck_assert(p[1].window_x == 3 && p[1].window_y == 4 && p[1].window_width == 7 && p[1].window_height == 4);
  cnv_jobs_clear(&c);
  work.isolated = FALSE;
  work.moved = TRUE;
  work.target_x = 58;
  work.target_y = 0;
  c = test_cut(&work); /* the part beyond the right edge is cut off */
  p = (const CnvJob *)c.jobs->data;
  ck_assert(p[0].x == 7 && p[0].move_x == 51 && p[0].move_y == -9 && p[0].width == 6 && p[0].height == 6);
  ck_assert(p[1].x == 3 && p[1].move_x == 26 && p[1].move_y == -4 && p[1].width == 3 && p[1].height == 4);
  cnv_jobs_clear(&c);
  cnv_plan_unref(plan);
}
END_TEST

/* Checks the weights of the samples that a job reads: computed row by row on the host, they equal those of each sample,
 * and reach as far as the taps. Returns the job. */
static const CnvJob *
check_weights(const CnvJobs *c, const CnvJob *job, const CnvPlan *plan)
{
  const CnvJob *w = &g_array_index(c->weights, CnvJob, job->weights - 1);
  const CnvTerm *term = &plan->plane[job->plane].term[0];
  int right = MIN(job->x + job->width + term->n[CNV_X] - 1 - term->anchor[CNV_X], job->window_x + job->window_width);
  int bottom = MIN(job->y + job->height + term->n[CNV_Y] - 1 - term->anchor[CNV_Y], job->window_y + job->window_height);

  ck_assert(w->plane == job->plane && w->field == job->field && w->layer == job->layer);
  ck_assert(w->x <= MAX(job->x - term->anchor[CNV_X], job->window_x) && w->x + w->width >= right);
  ck_assert(w->y <= MAX(job->y - term->anchor[CNV_Y], job->window_y) && w->y + w->height >= bottom);
  check_coverage(c, w);
  return w;
}

/* Isolated regions: an ellipse reads its own samples, even if another region owns them; a rectangle has a window. */
START_TEST(test_weights)
{
  CnvPlan *plain = test_plan_default("NV12", 320, 200), *plan = cnv_plan_weighed(plain, NULL);
  const CnvRegion regions[] = {
      {{20, 30, 120, 90}, 0, CNV_SHAPE_ELLIPSE}, {{80, 40, 100, 110}, 0, CNV_SHAPE_ELLIPSE}, {{250, 3, 40, 40}, 0}};
  CnvWork work = {&plan, 1, .region = regions, .n_regions = 3, .isolated = TRUE, .feather = 5};

  ck_assert(plan != plain && plan == cnv_plan_weighed(plain, NULL) && cnv_plan_weighed(plan, NULL) == plan);
  for (int part = 0; part < 3; part++) {
    CnvJobs c;
    int seen = 0;

    work.invert = part == 1;
    work.interlaced = part == 2;
    c = test_cut(&work);
    for (guint i = 0; i < c.jobs->len; i++) {
      const CnvJob *job = &g_array_index(c.jobs, CnvJob, i), *w = check_weights(&c, job, plan);
      const CnvCover cover = cnv_jobs_cover(&c);

      if (job->plane == 0 && !work.interlaced && w->coverage_pitch > 0) /* a sample in both ellipses */
        seen |= cnv_cover_weight(&cover, w, 110, 80) == (work.invert ? 0 : CNV_WEIGHT_ONE) ? 1 << w->cover : 0;
    }
    if (part == 0)
      ck_assert_msg(__builtin_popcount(seen) == 2 && seen >= 1 << CNV_COVER_SHAPE, "%#x", seen);
    else
      ck_assert_int_eq(seen, part == 1 ? 1 << CNV_COVER_ALL : 0);
    cnv_jobs_clear(&c);
  }
  cnv_plan_unref(plain);
}
END_TEST

/* The largest number of regions, some far outside, with reused arrays. */
START_TEST(test_many)
{
  static CnvRegion region[CNV_MAX_REGIONS];
  CnvPlan *plan = test_plan_default("GRAY8", 1280, 960);
  CnvWork work = {&plan, 1, .region = region, .n_regions = CNV_MAX_REGIONS};
  guint n_jobs = 0;
  CnvJobs c;

  for (int i = 0; i < CNV_MAX_REGIONS; i++)
    region[i] = (CnvRegion){{i % 32 * 40, i / 32 * 30, 20, 14}, 0};
  region[0].rect = (CnvRect){G_MININT, G_MININT, G_MAXINT, G_MAXINT};
  c = test_cut(&work);
  for (int again = 0; again < 2; again++) {
    ck_assert(c.jobs->len > 0 && (again == 0 || c.jobs->len == n_jobs));
    ck_assert(pixels_of(&c) <= 1280 * 960);
    ck_assert_uint_eq(c.crowd, 0);
    n_jobs = c.jobs->len;
    cnv_jobs_make(&c, &work, 0, 0);
  }
  cnv_jobs_clear(&c);
  cnv_plan_unref(plan);
}
END_TEST

/* Frames differ if and only if something that jobs depend on differs. */
START_TEST(test_same)
{
  const CnvRegion region[] = {{{10, 10, 30, 20}, 0}, {{5, 30, 30, 20}, 1}}, moved[] = {region[0], {{5, 31, 30, 20}, 1}};
  const CnvRegion of_one_plan[] = {region[0], {{5, 30, 30, 20}, 0}}, copied[] = {region[0], region[1]};
  CnvPlan *plan = test_plan_default("GRAY8", 64, 64), *const plans[] = {plan, plan};
  const CnvWork base = {plans, 2, .region = region, .n_regions = 2, .feather = 1, .target_x = 3, .target_y = 4};
  CnvWork other[] = {base, base, base, base, base, base, base, base, base, base, base}, same[] = {base, base, base};
  CnvWork all = {plans, 2, .whole_frame = TRUE, .region = region, .n_regions = 2}, none = CNV_WORK_ALL(&plan);
  CnvWork empty = {plans, 2};
  CnvJobs jobs;

  cnv_jobs_init(&jobs);
  ck_assert(!cnv_jobs_match(&jobs, &base));
  other[0].whole_frame = TRUE;
  other[1].interlaced = TRUE;
  other[2].invert = TRUE;
  other[3].isolated = TRUE;
  other[4].feather = 2;
  other[5].moved = TRUE;
  other[6].target_x = 4;
  other[7].target_y = 3;
  other[8].n_regions = 1;
  other[9].region = moved;
  other[10].region = of_one_plan;
  same[1].region = copied;
  same[2].overlaps = TRUE;
  for (guint i = 0; i < G_N_ELEMENTS(other); i++) {
    cnv_jobs_make(&jobs, &base, 0, 0);
    for (guint s = 0; s < G_N_ELEMENTS(same); s++)
      ck_assert(cnv_jobs_match(&jobs, &same[s]));
    ck_assert_msg(!cnv_jobs_match(&jobs, &other[i]), "other %u", i);
    cnv_jobs_make(&jobs, &other[i], 0, 0);
    ck_assert_msg(!cnv_jobs_match(&jobs, &base), "base after other %u", i);
  }
  cnv_jobs_make(&jobs, &all, 0, 0);
  ck_assert(cnv_jobs_match(&jobs, &none));
  cnv_jobs_make(&jobs, &empty, 0, 0);
  ck_assert(cnv_jobs_match(&jobs, &empty) && !cnv_jobs_match(&jobs, &none));
  cnv_jobs_clear(&jobs);
  cnv_plan_unref(plan);
}
END_TEST

static void
add_tests(TCase *tcase)
{
  tcase_add_test(tcase, test_random);
  tcase_add_test(tcase, test_random_large);
  tcase_add_test(tcase, test_everything);
  tcase_add_test(tcase, test_thrift);
  tcase_add_test(tcase, test_mask);
  tcase_add_test(tcase, test_lone_region);
  tcase_add_test(tcase, test_weights);
  tcase_add_test(tcase, test_many);
  tcase_add_test(tcase, test_same);
  add_crowd_tests(tcase);
}

int
main(void)
{
  return test_main_on_small_stack("jobs", add_tests);
}
