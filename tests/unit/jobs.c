/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Jobs: that they take in each sample as often as they should, with the weight that the regions give it, and nothing
 * beside; over random work and a few pieces of it worked out by hand.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "plan/plan.h"

#include "support/crowds.h"
#include "support/masks.h"
#include "support/filter.h"
#include "support/suite.h"
#include "support/weights.h"

#define REGIONS 9
#define ROUNDS 400
#define LARGE_REGIONS 24
#define LARGE_ROUNDS 2000
#define LARGE_SAMPLES 300
#define LARGE_SECONDS 10
#define WEIGHT_SLACK                                                                                                   \
  (0.5 / 255 + 1e-3) /* weights are rounded; masks are interpolated in 4096 steps from cell to cell */

/* Bounds for a crowd of CNV_MAX_REGIONS in a frame, in samples of all planes: filtered, and weighed by one region. */
#define FILTERED_MOST 3
#define WEIGHED_MOST 15
#define PATCHES_MOST (8 * CNV_MAX_REGIONS)

static CnvPlan *
plan_of(const char *format, int width, int height, guint planes)
{
  const CnvImage image = {cnv_format_find(format), width, height, 0.2126, 0.0722, FALSE};
  CnvFilter filter;
  CnvPlan *plan;

  test_filter_init(&filter);
  filter.planes = planes;
  plan = cnv_plan_new(&filter, &image, CNV_ALGORITHM_NAIVE, cnv_backend_find("cpu"), NULL);
  ck_assert(plan != NULL);
  return plan;
}

static CnvJobs
cut(const CnvWork *work)
{
  CnvJobs c;

  cnv_jobs_init(&c);
  cnv_jobs_make(&c, work, 0, 0);
  return c;
}

/* Along one axis; at and the rectangle's ends in samples of the plane and field. */
static double
fade(int at, double from, double to, double feather)
{
  const double away = at < from ? from - at : at >= to ? at - to + 1 : 0;

  return MAX(0, 1 - away / (feather + 1));
}

/* Along the ray from the centre through a point, from the inner ellipse of half axes a (weight 1) to the outer one of
 * half axes a + f (weight 0). */
static double
ellipse_weight(const double at[2], const double a[2], const double f[2])
{
  const double inner = 1 / hypot(at[0] / MAX(a[0], 0.01), at[1] / MAX(a[1], 0.01));
  const double outer = 1 / hypot(at[0] / (a[0] + f[0]), at[1] / (a[1] + f[1]));

  return inner >= 1 ? 1 : MAX(0, (outer - 1) / (outer - inner));
}

/* Between the cells' centres. */
static double
mask_weight(double u, double v)
{
  const int x = (int)CLAMP(floor(u), 0, TEST_MASK_X - 1), y = (int)CLAMP(floor(v), 0, TEST_MASK_Y - 1);
  const int right = MIN(x + 1, TEST_MASK_X - 1), below = MIN(y + 1, TEST_MASK_Y - 1);
  const double along = CLAMP(u - x, 0, 1), down = CLAMP(v - y, 0, 1);
  const double above = (1 - along) * test_mask_cell(x, y) + along * test_mask_cell(right, y);

  return ((1 - down) * above + down * ((1 - along) * test_mask_cell(x, below) + along * test_mask_cell(right, below))) /
         255;
}

/* The weight of a region at a sample, from its definition. */
static double
region_weight(const CnvWork *work, const CnvPlane *plane, const CnvRegion *region, int x, int y, int field, int fields)
{
  const CnvRect *r = &region->rect;
  const double sx = 1 << plane->sub_x, sy = 1 << plane->sub_y;
  const double left = floor(r->x / sx), right = ceil((r->x + r->width) / sx);
  const double top = ceil((floor(r->y / sy) - field) / fields);
  const double bottom = ceil((ceil((r->y + r->height) / sy) - field) / fields);
  double box;

  if (r->width < 1 || r->height < 1 || top >= bottom)
    return 0;
  box = fade(x, left, right, work->feather / sx) * fade(y, top, bottom, work->feather / sy / fields);
  if (region->shape == CNV_SHAPE_ELLIPSE)
    return MIN(box, ellipse_weight((double[]){x - (left + right - 1) / 2, y - (top + bottom - 1) / 2},
                                   (double[]){(right - left - 1) / 2, (bottom - top - 1) / 2},
                                   (double[]){work->feather / sx + 1, work->feather / sy / fields + 1}));
  if (region->shape == CNV_SHAPE_MASK)
    return x < left || x >= right || y < top || y >= bottom
               ? 0
               : mask_weight(((x + 0.5) * sx - r->x) * TEST_MASK_X / r->width - 0.5,
                             ((y * fields + field + 0.5) * sy - r->y) * TEST_MASK_Y / r->height - 0.5);
  return box;
}

/* The one job that writes a sample, and how much it weighs there; NULL and 0 where none does. */
static const CnvJob *
job_at(const CnvJobs *c, int plane, int field, int x, int y, double *weight)
{
  const CnvJob *found = NULL;

  *weight = 0;
  for (guint i = 0; i < c->jobs->len; i++) {
    const CnvJob *p = &g_array_index(c->jobs, CnvJob, i);
    double here;

    if (p->plane != plane || p->field != field || !test_job_contains(p, x, y))
      continue;
    here = test_job_weight(c, p, x, y) / 255.0;
    ck_assert_msg(here <= 0 || !found, "plane %d field %d: two jobs write %d, %d", plane, field, x, y);
    if (here > 0) {
      found = p;
      *weight = here;
    }
  }
  return found;
}

static void
check_sample(const CnvWork *work, const CnvJobs *c, int plane, int field, int x, int y)
{
  const CnvPlane *p = &work->plan[0]->plane[plane];
  double largest = 0, weight;

  job_at(c, plane, field, x, y, &weight);
  for (guint i = 0; i < work->n_regions; i++)
    largest = MAX(largest, region_weight(work, p, &work->region[i], x, y, field, work->interlaced ? 2 : 1));
  if (work->invert)
    largest = 1 - largest;
  ck_assert_msg(fabs(weight - largest) < WEIGHT_SLACK, "plane %d field %d, %d, %d: weight %g, not %g", plane, field, x,
                y, weight, largest);
}

static void
check_job(const CnvWork *work, const CnvJob *p)
{
  const CnvPlane *plane = &work->plan[0]->plane[p->plane];
  const int rows = (plane->height - p->field + p->fields - 1) / p->fields;

  ck_assert(p->width >= 1 && p->height >= 1 && p->x >= 0 && p->y >= 0);
  ck_assert(p->x + p->width <= plane->width && p->y + p->height <= rows);
  ck_assert(p->x + p->move_x >= 0 && p->x + p->width + p->move_x <= plane->width);
  ck_assert(p->y + p->move_y >= 0 && p->y + p->height + p->move_y <= rows);
  ck_assert(p->window_width >= 1 && p->window_x >= 0 && p->window_x + p->window_width <= plane->width);
  ck_assert(p->window_height >= 1 && p->window_y >= 0 && p->window_y + p->window_height <= rows);
  ck_assert(p->plan >= 0 && p->plan < (int)work->n_plans);
}

static void
check_disjoint(const CnvJobs *c, const char *what)
{
  for (guint i = 0; i < c->jobs->len; i++)
    for (guint j = 0; j < i; j++) {
      const CnvJob *p = &g_array_index(c->jobs, CnvJob, i), *q = &g_array_index(c->jobs, CnvJob, j);
      const gboolean apart =
          p->x >= q->x + q->width || q->x >= p->x + p->width || p->y >= q->y + q->height || q->y >= p->y + p->height;

      if (!apart && p->plane == q->plane && p->field == q->field && p->layer == q->layer)
        ck_abort_msg("%s, layer %d: %dx%d at %d, %d and %dx%d at %d, %d", what, p->layer, p->width, p->height, p->x,
                     p->y, q->width, q->height, q->x, q->y);
    }
}

/* The coverage by rows is that sample by sample, and 0 beside the job. */
static void
check_rows(const CnvJobs *c)
{
  const CnvCover cover = cnv_jobs_cover(c);

  for (guint i = 0; i < c->jobs->len; i++) {
    const CnvJob *p = &g_array_index(c->jobs, CnvJob, i);
    const int before = p->x % CNV_COVERAGE_ALIGNMENT;
    g_autofree guint8 *row = g_malloc(p->coverage_pitch);

    for (int y = 0; y < p->height && p->coverage_pitch > 0; y++) {
      cnv_coverage_row(&cover, p, p->y + y, row);
      for (int x = 0; x < p->coverage_pitch; x++) {
        const int at = x - before,
                  weight = at < 0 || at >= p->width ? 0 : cnv_cover_weight(&cover, p, p->x + at, p->y + y);

        if (row[x] != weight)
          ck_abort_msg("job %u, %d of row %d: %d, not %d", i, x, y, row[x], weight);
      }
    }
  }
}

static void
check_work(const CnvWork *work)
{
  const int fields = work->interlaced ? 2 : 1;
  CnvJobs c = cut(work);

  for (guint i = 0; i < c.jobs->len; i++)
    check_job(work, &g_array_index(c.jobs, CnvJob, i));
  check_disjoint(&c, "jobs");
  check_rows(&c);
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
        plan_of(formats[round % 3], g_rand_int_range(random, 1, 40), g_rand_int_range(random, 1, 30), CNV_PLANES_COLOR);
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

/* FALSE if a region has no sample in the plane's field: if it is isolated it has nothing to read, and no weight. */
static gboolean
has_samples(const CnvPlane *plane, const CnvRect *r, int field, int fields)
{
  const double sx = 1 << plane->sub_x, sy = 1 << plane->sub_y;
  const double top = ceil((floor(r->y / sy) - field) / fields);
  const double bottom = ceil((ceil((r->y + r->height) / sy) - field) / fields);
  const int rows = (plane->height - field + fields - 1) / fields;

  return floor(r->x / sx) < plane->width && ceil((r->x + r->width) / sx) > 0 && top < rows && bottom > 0;
}

/* As check_sample; also that the sample is filtered by the plan and in the window of the region that owns it, unless
 * rounding may decide which one does. */
static void
check_owner(const CnvWork *work, const CnvJobs *c, int plane, int field, int x, int y, guint32 seed)
{
  const CnvPlane *of = &work->plan[0]->plane[plane];
  double largest = 0, weights[LARGE_REGIONS], weight;
  const CnvJob *job = job_at(c, plane, field, x, y, &weight);
  const CnvRegion *owner = NULL;
  const int fields = work->interlaced ? 2 : 1;
  gboolean open = FALSE;

  for (guint i = 0; i < work->n_regions; i++) {
    const CnvRegion *region = &work->region[i];

    weights[i] = work->isolated && !has_samples(of, &region->rect, field, fields)
                     ? 0
                     : region_weight(work, of, region, x, y, field, fields);
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
  if (work->isolated && job->window_x != MAX(0, owner->rect.x >> of->sub_x))
    ck_abort_msg("seed %u, plane %d field %d, %d, %d: window at %d, not %d", seed, plane, field, x, y, job->window_x,
                 owner->rect.x >> of->sub_x);
}

static CnvRegion
random_region(GRand *random, int width, int height, gboolean any_shape, CnvMask *mask)
{
  int most = g_rand_int_range(random, 0, 4) ? MAX(width / 4, 2) : 2 * width; /* a few are large */

  return (CnvRegion){{g_rand_int_range(random, -100, width + 20), g_rand_int_range(random, -100, height + 20),
                      g_rand_int_range(random, 1, most), g_rand_int_range(random, 1, most)},
                     (guint)g_rand_int_range(random, 0, 3),
                     (CnvShape)g_rand_int_range(random, 0, any_shape ? 3 : 1),
                     mask};
}

/* Frames of at least 3x3 cells, looked at here and there; other ones at each run. */
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
    CnvPlan *plan = plan_of(formats[seed % 3], width, height, CNV_PLANES_COLOR), *plans[3] = {plan, plan, plan};
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
    c = cut(&work);
    for (guint i = 0; i < c.jobs->len; i++)
      check_job(&work, &g_array_index(c.jobs, CnvJob, i));
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
  CnvPlan *plan = plan_of("I420", 31, 17, CNV_PLANES_LUMA);
  CnvRegion region = {{3, 3, 4, 4}, 0};
  CnvWork work = CNV_WORK_ALL(&plan);
  const CnvJob *p;
  CnvJobs c;

  work.region = &region;
  work.n_regions = 1;
  work.interlaced = TRUE;
  c = cut(&work); /* chroma is copied, and the region does not count */
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

static double
pixels_of(const CnvJobs *c)
{
  double pixels = 0;

  for (guint i = 0; i < c->jobs->len; i++) {
    const CnvJob *p = &g_array_index(c->jobs, CnvJob, i);

    pixels += (double)p->width * p->height;
  }
  return pixels;
}

/* Regions far from each other cost what they cover with their feather, and no more. */
START_TEST(test_thrift)
{
  CnvPlan *plan = plan_of("GRAY8", 1920, 1080, CNV_PLANES_COLOR);
  CnvRegion region[12];
  CnvWork work = {&plan, 1, .region = region, .n_regions = G_N_ELEMENTS(region)};

  for (int shape = CNV_SHAPE_RECTANGLE; shape <= CNV_SHAPE_ELLIPSE; shape++)
    for (int feather = 0; feather <= 10; feather += 10) {
      CnvJobs c;

      for (int i = 0; i < (int)G_N_ELEMENTS(region); i++)
        region[i] = (CnvRegion){{i % 4 * 450 + 37, i / 4 * 350 + 51, 60, 60}, 0, (CnvShape)shape};
      work.feather = feather;
      c = cut(&work);
      ck_assert_uint_eq(c.jobs->len, G_N_ELEMENTS(region));
      ck_assert(pixels_of(&c) == G_N_ELEMENTS(region) * (60.0 + 2 * feather) * (60 + 2 * feather));
      for (guint i = 0; i < c.jobs->len; i++)
        ck_assert_int_eq(g_array_index(c.jobs, CnvJob, i).coverage_pitch > 0, shape == CNV_SHAPE_ELLIPSE || feather);
      cnv_jobs_clear(&c);
    }
  cnv_plan_unref(plan);
}
END_TEST

/* A disc as a mask costs little more than what it covers. */
START_TEST(test_mask)
{
  const int width = 1600, height = 1200, cells_x = 200, cells_y = 100;
  g_autofree guint8 *cells = g_malloc0(cells_x * cells_y);
  CnvPlan *plan = plan_of("GRAY8", width, height, CNV_PLANES_COLOR);
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
    c = cut(&work);
    for (guint k = 0; k < c.jobs->len; k++)
      check_job(&work, &g_array_index(c.jobs, CnvJob, k));
    check_disjoint(&c, "jobs");
    ck_assert_uint_eq(c.crowd, 0);
    if (work.invert)
      disc = (double)width * height - disc;
    ck_assert_msg(pixels_of(&c) < 1.5 * disc, "%g of %g are filtered", pixels_of(&c), disc);
    if (work.invert)
      disc = (double)width * height - disc;
    for (int y = 0; y < height; y += 3)
      for (int x = y % 3; x < width; x += 3) {
        double weight;
        double from = hypot(x + 0.5 - width / 2.0, y + 0.5 - height / 2.0);
        gboolean rect = work.n_regions > 1 && x >= 100 && x < 150 && y >= 100 && y < 140;
        double expected = from < 500 || rect ? 1 : 0;

        job_at(&c, 0, 0, x, y, &weight);
        if (fabs(from - 500) > 25)
          ck_assert_msg(weight == (work.invert ? 1 - expected : expected), "%d, %d: weight %g", x, y, weight);
      }
    cnv_jobs_clear(&c);
  }
  cnv_mask_unref(regions[0].mask);
  cnv_plan_unref(plan);
}
END_TEST

/* A lone region is one job a plane; chroma takes in every sample that it touches. */
START_TEST(test_lone_region)
{
  CnvPlan *plan = plan_of("NV12", 64, 48, CNV_PLANES_COLOR);
  CnvRegion region = {{7, 9, 12, 6}, 0};
  CnvWork work = {&plan, 1, .region = &region, .n_regions = 1};
  CnvJobs c = cut(&work);
  const CnvJob *p = (const CnvJob *)c.jobs->data;

  ck_assert_uint_eq(c.jobs->len, 2);
  ck_assert(p[0].x == 7 && p[0].y == 9 && p[0].width == 12 && p[0].height == 6 && p[0].coverage_pitch == 0);
  ck_assert(p[1].x == 3 && p[1].y == 4 && p[1].width == 7 && p[1].height == 4 && p[1].coverage_pitch == 0);
  ck_assert(p[0].window_width == 64 && p[1].window_height == 24);
  cnv_jobs_clear(&c);
  work.isolated = TRUE;
  c = cut(&work);
  p = (const CnvJob *)c.jobs->data;
  ck_assert(p[1].window_x == 3 && p[1].window_y == 4 && p[1].window_width == 7 && p[1].window_height == 4);
  cnv_jobs_clear(&c);
  work.isolated = FALSE;
  work.moved = TRUE;
  work.target_x = 58;
  work.target_y = 0;
  c = cut(&work); /* what would go beyond the right edge is cut off */
  p = (const CnvJob *)c.jobs->data;
  ck_assert(p[0].x == 7 && p[0].move_x == 51 && p[0].move_y == -9 && p[0].width == 6 && p[0].height == 6);
  ck_assert(p[1].x == 3 && p[1].move_x == 26 && p[1].move_y == -4 && p[1].width == 3 && p[1].height == 4);
  cnv_jobs_clear(&c);
  cnv_plan_unref(plan);
}
END_TEST

/* The weights of what a job reads, as the host makes them row by row, are those of each sample, and reach as far as the
 * taps. Returns them. */
static const CnvJob *
check_weights(const CnvJobs *c, const CnvJob *job, const CnvPlan *plan)
{
  const CnvJob *w = &g_array_index(c->weights, CnvJob, job->weights - 1);
  const CnvTerm *term = &plan->plane[job->plane].term[0];
  const CnvCover cover = cnv_jobs_cover(c);
  int right = MIN(job->x + job->width + term->n[CNV_X] - 1 - term->anchor[CNV_X], job->window_x + job->window_width);
  int bottom = MIN(job->y + job->height + term->n[CNV_Y] - 1 - term->anchor[CNV_Y], job->window_y + job->window_height);
  guint8 *row = g_malloc(w->coverage_pitch);

  ck_assert(w->plane == job->plane && w->field == job->field && w->layer == job->layer);
  ck_assert(w->x <= MAX(job->x - term->anchor[CNV_X], job->window_x) && w->x + w->width >= right);
  ck_assert(w->y <= MAX(job->y - term->anchor[CNV_Y], job->window_y) && w->y + w->height >= bottom);
  for (int y = w->y; y < w->y + w->height && w->coverage_pitch > 0; y++) {
    cnv_coverage_row(&cover, w, y, row);
    for (int x = w->x; x < w->x + w->width; x++)
      ck_assert_int_eq(row[w->x % CNV_COVERAGE_ALIGNMENT + x - w->x], cnv_cover_weight(&cover, w, x, y));
  }
  g_free(row);
  return w;
}

/* Isolated regions: an ellipse sees its own samples, those that another region owns too; a rectangle has a window. */
START_TEST(test_weights)
{
  CnvPlan *plain = plan_of("NV12", 320, 200, CNV_PLANES_COLOR), *plan = cnv_plan_weighed(plain, NULL);
  const CnvRegion regions[] = {
      {{20, 30, 120, 90}, 0, CNV_SHAPE_ELLIPSE}, {{80, 40, 100, 110}, 0, CNV_SHAPE_ELLIPSE}, {{250, 3, 40, 40}, 0}};
  CnvWork work = {&plan, 1, .region = regions, .n_regions = 3, .isolated = TRUE, .feather = 5};

  ck_assert(plan != plain && plan == cnv_plan_weighed(plain, NULL) && cnv_plan_weighed(plan, NULL) == plan);
  for (int part = 0; part < 3; part++) {
    CnvJobs c;
    int seen = 0;

    work.invert = part == 1;
    work.interlaced = part == 2;
    c = cut(&work);
    for (guint i = 0; i < c.jobs->len; i++) {
      const CnvJob *job = &g_array_index(c.jobs, CnvJob, i), *w = check_weights(&c, job, plan);
      const CnvCover cover = cnv_jobs_cover(&c);

      if (job->plane == 0 && !work.interlaced && w->coverage_pitch > 0) /* a sample that is in both ellipses */
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

/* Many regions that each see nothing but themselves do not take memory without end. */
START_TEST(test_weights_of_many)
{
  static CnvRegion region[CNV_MAX_REGIONS];
  CnvPlan *plain = plan_of("GRAY8", 1920, 1080, CNV_PLANES_COLOR), *plan = cnv_plan_weighed(plain, NULL);
  CnvWork work = {&plan, 1, .region = region, .n_regions = CNV_MAX_REGIONS, .isolated = TRUE};
  CnvJobs c;

  for (int i = 0; i < CNV_MAX_REGIONS; i++)
    region[i] = (CnvRegion){{i % 40, i / 40, 1860, 1040}, 0, CNV_SHAPE_ELLIPSE};
  c = cut(&work);
  ck_assert_uint_gt(c.crowd, 0);
  ck_assert_uint_lt(c.coverage_size, 20 * 1920 * 1080);
  cnv_jobs_clear(&c);
  cnv_plan_unref(plain);
}
END_TEST

/* As many as there can be, far outside too, and the arrays used again. */
START_TEST(test_many)
{
  static CnvRegion region[CNV_MAX_REGIONS];
  CnvPlan *plan = plan_of("GRAY8", 1280, 960, CNV_PLANES_COLOR);
  CnvWork work = {&plan, 1, .region = region, .n_regions = CNV_MAX_REGIONS};
  guint n_jobs = 0;
  CnvJobs c;

  for (int i = 0; i < CNV_MAX_REGIONS; i++)
    region[i] = (CnvRegion){{i % 32 * 40, i / 32 * 30, 20, 14}, 0};
  region[0].rect = (CnvRect){G_MININT, G_MININT, G_MAXINT, G_MAXINT};
  c = cut(&work);
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

/* Each thing that jobs depend on tells frames apart, and nothing else does. */
START_TEST(test_same)
{
  const CnvRegion region[] = {{{10, 10, 30, 20}, 0}, {{5, 30, 30, 20}, 1}}, moved[] = {region[0], {{5, 31, 30, 20}, 1}};
  const CnvRegion of_one_plan[] = {region[0], {{5, 30, 30, 20}, 0}}, copied[] = {region[0], region[1]};
  CnvPlan *plan = plan_of("GRAY8", 64, 64, CNV_PLANES_COLOR), *const plans[] = {plan, plan};
  const CnvWork base = {plans, 2, .region = region, .n_regions = 2, .feather = 1, .target_x = 3, .target_y = 4};
  CnvWork other[] = {base, base, base, base, base, base, base, base, base, base, base}, same[] = {base, base, base};
  CnvWork all = {plans, 2, .everything = TRUE, .region = region, .n_regions = 2}, none = CNV_WORK_ALL(&plan);
  CnvWork empty = {plans, 2};
  CnvJobs of;

  cnv_jobs_init(&of);
  ck_assert(!cnv_jobs_match(&of, &base));
  other[0].everything = TRUE;
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
    cnv_jobs_make(&of, &base, 0, 0);
    for (guint s = 0; s < G_N_ELEMENTS(same); s++)
      ck_assert(cnv_jobs_match(&of, &same[s]));
    ck_assert_msg(!cnv_jobs_match(&of, &other[i]), "other %u", i);
    cnv_jobs_make(&of, &other[i], 0, 0);
    ck_assert_msg(!cnv_jobs_match(&of, &base), "base after other %u", i);
  }
  cnv_jobs_make(&of, &all, 0, 0);
  ck_assert(cnv_jobs_match(&of, &none));
  cnv_jobs_make(&of, &empty, 0, 0);
  ck_assert(cnv_jobs_match(&of, &empty) && !cnv_jobs_match(&of, &none));
  cnv_jobs_clear(&of);
  cnv_plan_unref(plan);
}
END_TEST

/* The region that counts at a sample, -1 for none; without feather. */
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

/* No sample weighs less than it should, nor has a weaker plan or a window that begins within its region; where no
 * regions were joined all is as it should be. */
static void
check_crowd_sample(const CnvWork *work, const CnvJobs *c, int plane, int field, int x, int y)
{
  const CnvPlane *of = &work->plan[0]->plane[plane];
  double weight, should = 0;
  const CnvJob *p = job_at(c, plane, field, x, y, &weight);
  int owner;

  for (guint i = 0; i < work->n_regions; i++)
    should = MAX(should, region_weight(work, of, &work->region[i], x, y, field, work->interlaced ? 2 : 1));
  if (work->invert)
    should = 1 - should;
  ck_assert_msg(weight >= should - WEIGHT_SLACK, "plane %d, %d, %d: weight %g, not %g", plane, x, y, weight, should);
  ck_assert_msg(c->crowd > 0 || weight <= should + WEIGHT_SLACK, "plane %d, %d, %d: weight %g, not %g", plane, x, y,
                weight, should);
  if (!p || work->invert || work->feather > 0)
    return;
  owner = owner_of(work, of, x, y, field);
  ck_assert(owner >= 0 || c->crowd > 0);
  if (owner < 0)
    return;
  ck_assert_int_ge(p->plan, (int)work->region[owner].plan);
  ck_assert(c->crowd > 0 || p->plan == (int)work->region[owner].plan);
  if (work->isolated && c->crowd == 0)
    ck_assert_int_eq(p->window_x, MAX(0, work->region[owner].rect.x >> of->sub_x));
  ck_assert(p->window_x <= x && p->window_y <= y && x < p->window_x + p->window_width &&
            y < p->window_y + p->window_height);
}

/* The work that jobs are, in the whole frame's. */
static void
check_bounds(const CnvWork *work, const CnvJobs *c, const char *what)
{
  double whole = 0, filtered = 0, weighed = 0;

  for (int p = 0; p < work->plan[0]->n_planes; p++)
    whole += (double)work->plan[0]->plane[p].width * work->plan[0]->plane[p].height;
  for (guint i = 0; i < c->jobs->len; i++) {
    const CnvJob *p = &g_array_index(c->jobs, CnvJob, i);

    filtered += (double)p->width * p->height;
  }
  for (guint i = 0; i < c->cells->len; i++)
    weighed += (double)CNV_CELL_WIDTH * CNV_CELL_HEIGHT * g_array_index(c->cells, CnvCell, i).n;
  ck_assert_msg(filtered <= FILTERED_MOST * whole, "%s: %.1f frames are filtered", what, filtered / whole);
  ck_assert_msg(weighed <= WEIGHED_MOST * whole, "%s: %.1f frames are weighed", what, weighed / whole);
  ck_assert_msg(c->jobs->len <= PATCHES_MOST, "%s: %u jobs", what, c->jobs->len);
}

static void
check_crowd(const CnvWork *work, const char *what)
{
  CnvJobs c = cut(work);

  check_bounds(work, &c, what);
  for (guint i = 0; i < c.jobs->len; i++)
    check_job(work, &g_array_index(c.jobs, CnvJob, i));
  for (int p = 0; p < work->plan[0]->n_planes; p++)
    for (int field = 0; field < (work->interlaced ? 2 : 1); field++) {
      const CnvPlane *plane = &work->plan[0]->plane[p];

      for (int y = field; y < plane->height / (work->interlaced ? 2 : 1); y += 71)
        for (int x = field; x < plane->width; x += 83)
          check_crowd_sample(work, &c, p, field, x, y);
    }
  cnv_jobs_clear(&c);
}

/* Crowds of regions of every kind: their work stays within bounds, and nothing of them is left out. */
START_TEST(test_crowds)
{
  static const double feathers[] = {0, 8, 1024};
  CnvPlan *plan = plan_of("NV12", 1920, 1080, CNV_PLANES_COLOR), *plans[CROWD_PLANS];
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

/* Far from each other, but each with a border of its own that is wider than the frame: they are filtered together, and
 * that is reported. */
START_TEST(test_far_windows)
{
  const CnvImage image = {cnv_format_find("GRAY8"), 1280, 720, 0.2126, 0.0722, FALSE};
  CnvRegion region[60];
  CnvFilter filter;
  CnvPlan *plan;
  CnvJobs c;

  test_filter_init(&filter);
  filter.radius = CNV_RADIUS_MAX;
  plan = cnv_plan_new(&filter, &image, CNV_ALGORITHM_AUTO, cnv_backend_find("cpu"), NULL);
  ck_assert(plan != NULL);
  for (int i = 0; i < (int)G_N_ELEMENTS(region); i++)
    region[i] = (CnvRegion){{i % 10 * 128 + 50, i / 10 * 64 + 20, 20, 20}};
  for (int isolated = 0; isolated < 2; isolated++) {
    const CnvWork work = {&plan, 1, .region = region, .n_regions = G_N_ELEMENTS(region), .isolated = isolated};

    c = cut(&work);
    ck_assert_uint_eq(c.crowd, isolated ? G_N_ELEMENTS(region) : 0);
    for (int y = 0; y < 720; y += 3)
      for (int x = 0; x < 1280; x += 3)
        check_sample(&work, &c, 0, 0, x, y);
    cnv_jobs_clear(&c);
  }
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
  tcase_add_test(tcase, test_weights_of_many);
  tcase_add_test(tcase, test_many);
  tcase_add_test(tcase, test_same);
  tcase_add_test(tcase, test_far_windows);
  tcase_add_loop_test(tcase, test_crowds, 0, N_CROWDS);
}

int
main(void)
{
  return test_main_on_small_stack("jobs", add_tests);
}
