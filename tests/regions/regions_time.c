/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Frames with the largest number of regions, in shapes that are hard to cut, take at most MOST times as long as the
 * whole frame with the strongest of their filters: on the CPU engine, in the same run. Other tests limit the time of
 * regions in daily use.
 */
#include <stdio.h>
#include <string.h>
#include <time.h>

#include <convolve/backend.h>

#include "plan/regions/jobs.h"

#include "support/crowds.h"
#include "support/filter.h"
#include "support/suite.h"

#define WIDTH 1920
#define HEIGHT 1080
#define N_ROWS 7
#define MOST 12
#define TRIES 20      /* noise only makes a time longer */
#define WHOLE_TRIES 3 /* of the whole frame, before any regions */

#define PLANNINGS 500
/* Limits of an optimized build, with room for slow and busy machines. Measured on two cores of an EPYC: 29 us, and 1.22
 * to 1.39 times the whole frame at best; on the host of an H200: 95 us, and 1.51 times. */
#define PLANNING_US 150
#define SOFT_MOST 1.8
#define SOFT_TRIES 500

typedef struct {
  const char *name;
  guint n_plans;
  gboolean isolated, invert, interlaced, moved;
  double feather;
} Mode;

static const Mode modes[] = {
    {"plain", 1},
    {"interlaced", 1, .interlaced = TRUE},
    {"feather", 1, .feather = 8},
    {"wide feather", 1, .feather = 1024},
    {"interlaced, feather", 1, .interlaced = TRUE, .feather = 64},
    {"invert", 1, .invert = TRUE},
    {"invert, feather", 1, .invert = TRUE, .feather = 40},
    {"isolated", 1, .isolated = TRUE},
    {"isolated, feather", 1, .isolated = TRUE, .feather = 40},
    {"isolated, interlaced", 1, .isolated = TRUE, .interlaced = TRUE},
    {"relative", CROWD_PLANS},
    {"relative, feather", CROWD_PLANS, .feather = 40},
    {"relative, isolated", CROWD_PLANS, .isolated = TRUE},
    {"relative, isolated, feather", CROWD_PLANS, .isolated = TRUE, .feather = 1024},
    {"target", 1, .moved = TRUE},
};

/* A frame of noise, and a frame for the output. */
typedef struct {
  guint8 *memory;
  CnvFrame in, out;
} Frames;

static Frames
frames_new(const CnvImage *image)
{
  gsize size = (gsize)image->width * image->height * 4;
  Frames f = {g_malloc(2 * size), {.memory = CNV_MEMORY_HOST}, {.memory = CNV_MEMORY_HOST}};
  gboolean packed = strcmp(image->format->name, "RGBA") == 0;

  for (gsize i = 0; i < 2 * size; i++)
    f.memory[i] = (guint8)(i * 2654435761u >> 13);
  for (int p = 0; p < 2; p++) {
    gsize at = p * (gsize)image->width * image->height;

    f.in.data[p] = f.memory + at;
    f.out.data[p] = f.memory + size + at;
    f.in.stride[p] = f.out.stride[p] = image->width * (packed ? 4 : 1);
  }
  return f;
}

static double
run_once(CnvSession *session, const CnvWork *work, const Frames *f)
{
  const clock_t start = clock();

  ck_assert(cnv_session_submit(session, work, &f->in, &f->out, NULL) && cnv_session_wait(session, NULL));
  return (double)(clock() - start) / CLOCKS_PER_SEC;
}

static CnvPlan *
plan_of(const CnvImage *image, CnvFilterType type, int radius, CnvAlgorithm algorithm)
{
  CnvFilter filter;
  CnvPlan *plan;

  test_filter_init(&filter);
  filter.type = type;
  filter.radius = radius;
  plan = cnv_plan_new(&filter, image, algorithm, cnv_backend_find("cpu"), NULL);
  ck_assert(plan != NULL);
  return plan;
}

/* Returns the time of the work divided by the time of the whole frame, each at its best. all: the time of the whole
 * frame, measured for other modes. If that is too little, both are measured in turn, since the machine may be busier
 * now. The regions always differ from those of the frame before. */
static double
ratio_of(CnvSession *const session[2], const CnvWork *work, CnvRegion *region, const CnvWork *whole, double all,
         const Frames *f)
{
  double part = run_once(session[1], work, f);

  if (part > MOST * all)
    all = part = G_MAXDOUBLE;
  for (int i = 0; i < TRIES && (all == G_MAXDOUBLE || part > MOST * all); i++) {
    all = MIN(all, run_once(session[0], whole, f));
    region[0].rect.x ^= 1;
    part = MIN(part, run_once(session[1], work, f));
  }
  printf("%.4f s of processor, the whole frame %.4f: %.1f times\n", part, all, part / all);
  return part / all;
}

/* Checks the time of a mode. all: the least time of the whole frame so far, without and with fields. */
static void
check_mode(CnvSession *const session[2], const Mode *mode, CrowdShape shape, CnvPlan *const *plans, double all[2],
           const Frames *f)
{
  static CnvRegion region[CNV_MAX_REGIONS];
  CnvWork work = {plans + CROWD_PLANS - mode->n_plans, mode->n_plans, .region = region};
  CnvWork whole = CNV_WORK_ALL(plans + CROWD_PLANS);
  double ratio;

  work.n_regions = mode->moved ? 1 : CNV_MAX_REGIONS;
  work.isolated = mode->isolated;
  work.invert = mode->invert;
  work.interlaced = whole.interlaced = mode->interlaced;
  for (int i = 0; i < WHOLE_TRIES && shape == 0; i++)
    all[mode->interlaced] = MIN(all[mode->interlaced], run_once(session[0], &whole, f));
  work.feather = mode->feather;
  work.moved = mode->moved;
  crowd_make(region, CNV_MAX_REGIONS, shape, mode->n_plans, WIDTH, HEIGHT);
  printf("%s, %s: ", mode->name, crowd_names[shape]);
  ratio = ratio_of(session, &work, region, &whole, all[mode->interlaced], f);
  ck_assert_msg(ratio <= MOST, "%s, %s: %.1f times the whole frame", mode->name, crowd_names[shape], ratio);
}

/* Checks the times of all modes. The radii of plans for relative strength follow sizes. The whole frame has the largest
 * radius, in float32, since auto's faster methods for gaussians gain little on small pieces. */
static void
check_modes(const char *format, CnvFilterType type, int radius)
{
  const CnvImage image = {cnv_format_find(format), WIDTH, HEIGHT, 0.2126, 0.0722, FALSE};
  CnvSession *session[2]; /* two, so that each keeps its plans */
  Frames f = frames_new(&image);
  CnvPlan *plan[CROWD_PLANS + 1];
  double all[2] = {G_MAXDOUBLE, G_MAXDOUBLE};

  for (int i = 0; i < CROWD_PLANS; i++)
    plan[i] = plan_of(&image, type, MAX(1, radius * (i + 1) / CROWD_PLANS), CNV_ALGORITHM_AUTO);
  plan[CROWD_PLANS] =
      plan_of(&image, type, radius, type == CNV_FILTER_GAUSSIAN ? CNV_ALGORITHM_SEPARABLE : CNV_ALGORITHM_AUTO);
  for (int i = 0; i < 2; i++)
    session[i] = cnv_backend_find("cpu")->open(&(CnvSessionOptions){.n_threads = 1}, NULL);
  printf("%s, %s, radius %d\n", format, cnv_filter_info(type)->nick.nick, radius);
  for (guint m = 0; m < G_N_ELEMENTS(modes); m++)
    for (CrowdShape shape = 0; shape < N_CROWDS; shape++)
      check_mode(session, &modes[m], shape, plan, all, &f);
  for (guint i = 0; i < G_N_ELEMENTS(plan); i++)
    cnv_plan_unref(plan[i]);
  for (int i = 0; i < 2; i++)
    cnv_session_close(session[i]);
  g_free(f.memory);
}

START_TEST(test_time)
{
  static const struct {
    const char *format;
    CnvFilterType type;
    int radius;
  } rows[N_ROWS] = {{"NV12", CNV_FILTER_GAUSSIAN, 1},  {"NV12", CNV_FILTER_GAUSSIAN, 8},
                    {"NV12", CNV_FILTER_GAUSSIAN, 64}, {"NV12", CNV_FILTER_BOX, 64},
                    {"RGBA", CNV_FILTER_GAUSSIAN, 1},  {"RGBA", CNV_FILTER_GAUSSIAN, 64},
                    {"NV12", CNV_FILTER_MOSAIC, 1}};

  check_modes(rows[_i].format, rows[_i].type, rows[_i].radius);
}
END_TEST

static double
microseconds(clockid_t clock)
{
  struct timespec time;

  clock_gettime(clock, &time);
  return (double)time.tv_sec * 1e6 + (double)time.tv_nsec / 1e3;
}

/* The best time for the jobs of 64 moving ellipses at 4K, in processor time of the thread. */
START_TEST(test_planning)
{
  const CnvImage image = {cnv_format_find("NV12"), 3840, 2160, 0.2126, 0.0722, FALSE};
  CnvPlan *plan = plan_of(&image, CNV_FILTER_GAUSSIAN, 8, CNV_ALGORITHM_AUTO);
  CnvRegion region[64];
  CnvWork work = {&plan, 1, .region = region, .n_regions = G_N_ELEMENTS(region)};
  double least = G_MAXDOUBLE;
  CnvJobs jobs;

  cnv_jobs_init(&jobs);
  for (int i = 0; i < PLANNINGS; i++) {
    double start;

    for (int r = 0; r < (int)G_N_ELEMENTS(region); r++)
      region[r] = (CnvRegion){{r % 8 * 470 + 3 * i % 250, r / 8 * 260 + i % 100, 100, 120}, 0, CNV_SHAPE_ELLIPSE};
    start = microseconds(CLOCK_THREAD_CPUTIME_ID);
    cnv_jobs_make(&jobs, &work, 0, 0);
    least = MIN(least, microseconds(CLOCK_THREAD_CPUTIME_ID) - start);
    ck_assert_uint_gt(jobs.jobs->len, 0);
  }
  printf("64 ellipses at 4K: %.1f us, %u jobs\n", least, jobs.jobs->len);
#ifdef __OPTIMIZE__
  ck_assert_msg(least <= PLANNING_US, "64 ellipses at 4K: %.1f us", least);
#endif
  cnv_jobs_clear(&jobs);
  cnv_plan_unref(plan);
}
END_TEST

/* A mask over the whole frame, nowhere 0 or 1, takes little longer than the whole frame without it: the best times, as
 * the sum of both threads. */
START_TEST(test_soft_mask)
{
  const CnvImage image = {cnv_format_find("NV12"), WIDTH, HEIGHT, 0.2126, 0.0722, FALSE};
  CnvPlan *plan = plan_of(&image, CNV_FILTER_GAUSSIAN, 8, CNV_ALGORITHM_AUTO);
  g_autofree guint8 *cells = g_malloc(WIDTH * HEIGHT);
  CnvRegion region = {{0, 0, WIDTH, HEIGHT}, 0, CNV_SHAPE_MASK};
  CnvWork work[] = {CNV_WORK_ALL(&plan), {&plan, 1, .region = &region, .n_regions = 1}};
  CnvSession *session[2];
  Frames f = frames_new(&image);
  double least[] = {G_MAXDOUBLE, G_MAXDOUBLE};

  for (int i = 0; i < WIDTH * HEIGHT; i++)
    cells[i] = (guint8)(1 + i * 7 % 254);
  region.mask = cnv_mask_new(WIDTH, HEIGHT, WIDTH, cells);
  for (int i = 0; i < 2; i++)
    session[i] = cnv_backend_find("cpu")->open(&(CnvSessionOptions){.n_threads = 2}, NULL);
  for (int try = 0; try < SOFT_TRIES && (try < 20 || least[1] > SOFT_MOST * least[0]); try++)
    for (int i = 0; i < 2; i++) {
      double start = microseconds(CLOCK_PROCESS_CPUTIME_ID);

      ck_assert(cnv_session_submit(session[i], &work[i], &f.in, &f.out, NULL));
      least[i] = MIN(least[i], microseconds(CLOCK_PROCESS_CPUTIME_ID) - start);
    }
  printf("a soft mask: %.0f us, the whole frame %.0f: %.2f times\n", least[1], least[0], least[1] / least[0]);
#ifdef __OPTIMIZE__
  ck_assert_msg(least[1] <= SOFT_MOST * least[0], "a soft mask takes %.2f times the whole frame", least[1] / least[0]);
#endif
  for (int i = 0; i < 2; i++)
    cnv_session_close(session[i]);
  cnv_mask_unref(region.mask);
  cnv_plan_unref(plan);
  g_free(f.memory);
}
END_TEST

/* Returns a weight of noise, never 0 or 255. */
static guint8
soft_weight(int x, int y)
{
  return (guint8)(1 + ((guint32)(y * WIDTH + x) * 2654435761u >> 16) % 254);
}

/* Returns the weight of a person: an ellipse with a soft edge of some 8 pixels. */
static guint8
person_weight(int x, int y)
{
  double dx = (x - WIDTH / 2) / 300.0, dy = (y - 600) / 450.0;

  return (guint8)(255 * CLAMP((1.1 - dx * dx - dy * dy) * 20, 0, 1));
}

/* Isolated masks: the best times, as the sum of both threads. Measured on two cores of an EPYC: noise takes 1.8 to 4.7
 * times as long as the plain blur, a person and the background up to 3.0. With the weight filtered for every frame they
 * took up to 7 and 5.9. */
static const struct {
  const char *name;
  guint8 (*weight)(int x, int y);
  gboolean invert;
  double most;
} isolated_masks[] = {{"noise", soft_weight, FALSE, 6},
                      {"a person", person_weight, FALSE, 4},
                      {"the background", person_weight, TRUE, 4}};

static const char *const isolated_formats[] = {"NV12", "RGBA", "GRAY8"};
static const int isolated_radii[] = {8, 16, 48};

static void
check_isolated(const char *format, int radius, guint m, const CnvMask *mask)
{
  const CnvImage image = {cnv_format_find(format), WIDTH, HEIGHT, 0.2126, 0.0722, FALSE};
  CnvPlan *plan = plan_of(&image, CNV_FILTER_GAUSSIAN, radius, CNV_ALGORITHM_AUTO);
  CnvRegion region = {{0, 0, WIDTH, HEIGHT}, 0, CNV_SHAPE_MASK, .mask = (CnvMask *)mask};
  CnvWork work[] = {
      CNV_WORK_ALL(&plan),
      {&plan, 1, .region = &region, .n_regions = 1, .isolated = TRUE, .invert = isolated_masks[m].invert}};
  CnvSession *session[2];
  Frames f = frames_new(&image);
  double least[] = {G_MAXDOUBLE, G_MAXDOUBLE}, most = isolated_masks[m].most;

  for (int i = 0; i < 2; i++) {
    session[i] = cnv_backend_find("cpu")->open(&(CnvSessionOptions){.n_threads = 2}, NULL);
    ck_assert(cnv_session_submit(session[i], &work[i], &f.in, &f.out, NULL)); /* computes what is kept for the mask */
  }
  for (int try = 0; try < SOFT_TRIES && (try < 10 || least[1] > most * least[0]); try++)
    for (int i = 0; i < 2; i++)
      least[i] = MIN(least[i], run_once(session[i], &work[i], &f));
  printf("isolated, %s, %s, radius %d: %.1f times the plain blur\n", isolated_masks[m].name, format, radius,
         least[1] / least[0]);
#ifdef __OPTIMIZE__
  ck_assert_msg(least[1] <= most * least[0], "isolated, %s, %s, radius %d: %.1f times the plain blur",
                isolated_masks[m].name, format, radius, least[1] / least[0]);
#endif
  for (int i = 0; i < 2; i++)
    cnv_session_close(session[i]);
  cnv_plan_unref(plan);
  g_free(f.memory);
}

START_TEST(test_isolated_masks)
{
  g_autofree guint8 *cells = g_malloc(WIDTH * HEIGHT);
  CnvMask *mask;

  for (int i = 0; i < WIDTH * HEIGHT; i++)
    cells[i] = isolated_masks[_i].weight(i % WIDTH, i / WIDTH);
  mask = cnv_mask_new(WIDTH, HEIGHT, WIDTH, cells);
  for (guint i = 0; i < G_N_ELEMENTS(isolated_formats); i++)
    for (guint r = 0; r < G_N_ELEMENTS(isolated_radii); r++)
      check_isolated(isolated_formats[i], isolated_radii[r], (guint)_i, mask);
  cnv_mask_unref(mask);
}
END_TEST

static void
add_tests(TCase *tcase)
{
  tcase_add_test(tcase, test_planning);
  tcase_add_test(tcase, test_soft_mask);
  tcase_add_loop_test(tcase, test_isolated_masks, 0, G_N_ELEMENTS(isolated_masks));
  tcase_set_timeout(tcase, 300);
  tcase_add_loop_test(tcase, test_time, 0, N_ROWS);
}

int
main(void)
{
  return test_main("regions_time", add_tests);
}
