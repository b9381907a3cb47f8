/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Regions that cannot be right, in the largest number, on the CPU engine with a small stack. Frames are filtered by one
 * thread and by three with the same bits, and jobs stay within the frame and within limits. Work that is the same from
 * frame to frame is planned once.
 */
#include <string.h>

#include <convolve/backend.h>

#include "plan/plan.h"
#include "plan/regions/jobs.h"

#include "support/crowds.h"
#include "support/filter.h"
#include "support/frames.h"
#include "support/suite.h"

#define PLANS 3
#define N_MASKS 4
#define FAR (1 << 24)
#define JOBS_MOST (12 * CNV_MAX_REGIONS)
#define SECONDS_MOST 2 /* per frame, which takes a few milliseconds */
#define ROUNDS 150

#define N_SESSIONS 2

static const guint threads[N_SESSIONS] = {1, 3};

/* Sessions with their plans and frames of one size. */
typedef struct {
  CnvSession *session[N_SESSIONS];
  guint by_threads; /* number of frames that several threads filtered; for little work the engine uses one */
  CnvPlan *plan[PLANS];
  TestFrame in, out;
  CnvMask *mask[N_MASKS];
  CnvJobs jobs;
  CnvRegion region[CNV_MAX_REGIONS];
} Trial;

static Trial *
trial_new(const char *format, int width, int height, CnvFilterType type)
{
  static const int masks[N_MASKS][2] = {{1, 1}, {CNV_SIZE_MAX, 1}, {1, CNV_SIZE_MAX}, {300, 200}};
  const CnvImage image = {cnv_format_find(format), width, height, 0.2126, 0.0722, FALSE};
  g_autofree guint8 *cells = g_malloc(300 * 200);
  Trial *t = g_new0(Trial, 1);

  for (int i = 0; i < 300 * 200; i++)
    cells[i] = (guint8)(i * 37 >> 4);
  for (int i = 0; i < N_MASKS; i++)
    t->mask[i] = cnv_mask_new(masks[i][0], masks[i][1], masks[i][0], cells);
  for (int i = 0; i < PLANS; i++) {
    CnvFilter filter;

    test_filter_init(&filter);
    filter.type = type;
    filter.radius = type == CNV_FILTER_SOBEL ? 1 : 2 * i + 2;
    t->plan[i] = cnv_plan_new(&filter, &image, CNV_ALGORITHM_AUTO, cnv_backend_find("cpu"), NULL);
    ck_assert(t->plan[i] != NULL);
  }
  for (int i = 0; i < N_SESSIONS; i++)
    t->session[i] = cnv_backend_find("cpu")->open(&(CnvSessionOptions){.n_threads = threads[i]}, NULL);
  test_frame_init(&t->in, image.format, width, height, (TestLayout){64, 0, 5});
  test_frame_init(&t->out, image.format, width, height, (TestLayout){64, 0, 5});
  test_frame_fill(&t->in, TEST_NOISE, 1);
  cnv_jobs_init(&t->jobs);
  return t;
}

static void
trial_free(Trial *t)
{
  cnv_jobs_clear(&t->jobs);
  for (int i = 0; i < N_SESSIONS; i++)
    cnv_session_close(t->session[i]);
  for (int i = 0; i < PLANS; i++)
    cnv_plan_unref(t->plan[i]);
  for (int i = 0; i < N_MASKS; i++)
    cnv_mask_unref(t->mask[i]);
  test_frame_clear(&t->in);
  test_frame_clear(&t->out);
  g_free(t);
}

static void
check_jobs(Trial *t, const CnvWork *work, const char *what)
{
  cnv_jobs_make(&t->jobs, work, 0, 0);
  ck_assert_msg(t->jobs.jobs->len <= JOBS_MOST, "%s: %u jobs", what, t->jobs.jobs->len);
  for (guint i = 0; i < t->jobs.jobs->len; i++) {
    const CnvJob *p = &g_array_index(t->jobs.jobs, CnvJob, i);
    const CnvPlane *plane = &work->plan[0]->plane[p->plane];
    int rows = (plane->height - p->field + p->fields - 1) / p->fields;

    if (p->width < 1 || p->height < 1 || p->x < 0 || p->y < 0 || p->x + p->width > plane->width ||
        p->y + p->height > rows || p->x + p->move_x < 0 || p->x + p->move_x + p->width > plane->width ||
        p->y + p->move_y < 0 || p->y + p->move_y + p->height > rows || p->window_x < 0 || p->window_y < 0 ||
        p->window_width < 1 || p->window_height < 1 || p->window_x + p->window_width > plane->width ||
        p->window_y + p->window_height > rows)
      ck_abort_msg("%s: job of %dx%d at %d, %d", what, p->width, p->height, p->x, p->y);
  }
}

/* Filters the frame. Returns a checksum of the output. */
static guint64
run(Trial *t, CnvSession *session, const CnvWork *work, const char *what)
{
  gint64 start = g_get_monotonic_time();
  GError *error = NULL;
  char *stray;
  CnvFrame in, out;

  test_frame_view(&t->in, &in);
  test_frame_view(&t->out, &out);
  if (!cnv_session_submit(session, work, &in, &out, &error) || !cnv_session_wait(session, &error))
    ck_abort_msg("%s: %s", what, error->message);
  stray = test_frame_stray(&t->out);
  if (stray)
    ck_abort_msg("%s: %s", what, stray);
#if defined(__OPTIMIZE__) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
  if (g_get_monotonic_time() - start > SECONDS_MOST * G_USEC_PER_SEC)
    ck_abort_msg("%s: it took %.1f s", what, (double)(g_get_monotonic_time() - start) / G_USEC_PER_SEC);
#else
  (void)start;
#endif
  return test_frame_hash(&t->out);
}

static void
submit(Trial *t, const CnvWork *work, const char *what)
{
  guint64 hash;

  check_jobs(t, work, what);
  hash = run(t, t->session[0], work, what);
  for (int i = 1; i < N_SESSIONS; i++) {
    ck_assert_msg(run(t, t->session[i], work, what) == hash, "%s: %u threads make another frame", what, threads[i]);
    t->by_threads += t->session[i]->stats.threads == threads[i];
  }
}

static const struct {
  const char *format;
  int width, height;
  CnvFilterType type;
} sizes[] = {{"NV12", 641, 359, CNV_FILTER_GAUSSIAN}, {"RGBA", 130, 66, CNV_FILTER_BOX},
             {"GRAY8", 1, 1, CNV_FILTER_GAUSSIAN},    {"GRAY8", CNV_SIZE_MAX, 1, CNV_FILTER_GAUSSIAN},
             {"I420", 1, 4000, CNV_FILTER_SOBEL},     {"NV12", 259, 131, CNV_FILTER_MOSAIC}};

/* Crowds of all kinds and shapes, with all widths of feather. */
START_TEST(test_crowds)
{
  static const double feathers[] = {0, 0.5, 31, 1024};
  Trial *t = trial_new(sizes[_i].format, sizes[_i].width, sizes[_i].height, sizes[_i].type);
  CnvWork work = {t->plan, PLANS, .region = t->region, .n_regions = CNV_MAX_REGIONS};

  for (CrowdShape crowd = 0; crowd < N_CROWDS; crowd++)
    for (guint kind = 0; kind < 8; kind++) {
      g_autofree char *what = g_strdup_printf("%s %dx%d, %s, kind %u", sizes[_i].format, sizes[_i].width,
                                              sizes[_i].height, crowd_names[crowd], kind);

      work.n_plans = kind & 1 || kind == 6 ? 1 : PLANS;
      work.isolated = kind < 4 && kind & 2 && cnv_plan_can_isolate(t->plan[0], NULL);
      work.invert = kind == 6;
      work.interlaced = kind & 4;
      work.feather = feathers[(kind + crowd) % G_N_ELEMENTS(feathers)];
      crowd_make(t->region, CNV_MAX_REGIONS, crowd, work.n_plans, MAX(sizes[_i].width, 8), MAX(sizes[_i].height, 8));
      for (guint i = 0; i < CNV_MAX_REGIONS && kind % 3; i++) {
        t->region[i].shape = (CnvShape)(i % (kind % 3 + 1));
        t->region[i].mask = t->region[i].shape == CNV_SHAPE_MASK ? t->mask[i / 3 % N_MASKS] : NULL;
      }
      submit(t, &work, what);
    }
  ck_assert_msg(_i > 0 || t->by_threads > N_CROWDS, "%u frames by several threads", t->by_threads);
  trial_free(t);
}
END_TEST

/* Rectangles and targets at any place that an int can name. */
START_TEST(test_anywhere)
{
  Trial *t = trial_new(sizes[_i].format, sizes[_i].width, sizes[_i].height, sizes[_i].type);
  const int at[] = {
      G_MININT, G_MININT + 1,        -FAR - 1,         -FAR,         -40000, -2,      -1,           0,       1,
      5,        sizes[_i].width - 1, sizes[_i].height, CNV_SIZE_MAX, FAR,    FAR + 1, G_MAXINT - 1, G_MAXINT};
  const int extent[] = {G_MININT, -1, 0, 1, 2, 3, 100, sizes[_i].width, CNV_SIZE_MAX, FAR, FAR + 1, G_MAXINT};
  GRand *random = g_rand_new_with_seed(16777216);

  for (int round = 0; round < ROUNDS; round++) {
    CnvWork work = {t->plan, PLANS, .region = t->region, .moved = round % 3 == 0};
    g_autofree char *what =
        g_strdup_printf("%s %dx%d, round %d", sizes[_i].format, sizes[_i].width, sizes[_i].height, round);

    work.n_regions = work.moved ? 1 : round % 10 == 1 ? CNV_MAX_REGIONS : 20;
    work.invert = round % 7 == 2 && !work.moved;
    work.n_plans = work.invert ? 1 : PLANS;
    work.isolated = round % 2 && !work.invert && cnv_plan_can_isolate(t->plan[0], NULL);
    work.interlaced = round % 5 == 4;
    work.feather = (const double[]){0, 1, 1024}[round % 3];
    work.target_x = at[g_rand_int_range(random, 0, G_N_ELEMENTS(at))];
    work.target_y = at[g_rand_int_range(random, 0, G_N_ELEMENTS(at))];
    for (guint i = 0; i < work.n_regions; i++) {
      CnvRegion *r = &t->region[i];

      *r = (CnvRegion){.plan = g_rand_int_range(random, 0, work.n_plans), .shape = g_rand_int_range(random, 0, 3)};
      r->rect.x = at[g_rand_int_range(random, 0, G_N_ELEMENTS(at))];
      r->rect.y = at[g_rand_int_range(random, 0, G_N_ELEMENTS(at))];
      r->rect.width = extent[g_rand_int_range(random, 0, G_N_ELEMENTS(extent))];
      r->rect.height = extent[g_rand_int_range(random, 0, G_N_ELEMENTS(extent))];
      if (r->shape == CNV_SHAPE_MASK)
        r->mask = t->mask[g_rand_int_range(random, 0, N_MASKS)];
    }
    submit(t, &work, what);
  }
  g_rand_free(random);
  trial_free(t);
}
END_TEST

/* Jobs and weights are computed once for frames with the same regions, and again if one of the regions changes. */
START_TEST(test_same_work)
{
  Trial *t = trial_new("NV12", 641, 359, CNV_FILTER_GAUSSIAN);
  CnvWork work = {t->plan, PLANS, .region = t->region, .n_regions = 3, .feather = 4};

  t->region[0] = (CnvRegion){{10, 10, 100, 80}, 0, CNV_SHAPE_ELLIPSE};
  t->region[1] = (CnvRegion){{200, 50, 100, 80}, 1, CNV_SHAPE_MASK, t->mask[3]};
  t->region[2] = (CnvRegion){{250, 90, 100, 80}, 2};
  for (guint i = 0; i < 9; i++) {
    t->region[0].rect.x = i < 5 ? 10 : 12;
    t->region[1].mask = t->mask[i < 7 ? 3 : 0];
    submit(t, &work, "the same");
    ck_assert_uint_eq(t->session[0]->stats.planned, i < 5 ? 1 : i < 7 ? 2 : 3);
  }
  trial_free(t);
}
END_TEST

static void
add_tests(TCase *tcase)
{
  tcase_set_timeout(tcase, 300);
  tcase_add_loop_test(tcase, test_crowds, 0, G_N_ELEMENTS(sizes));
  tcase_add_loop_test(tcase, test_anywhere, 0, G_N_ELEMENTS(sizes));
  tcase_add_test(tcase, test_same_work);
}

int
main(void)
{
  return test_main_on_small_stack("regions_hostile", add_tests);
}
