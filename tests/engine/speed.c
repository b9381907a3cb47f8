/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * A lower bound of the CPU engine's speed: a frame may take a certain multiple of the time of memcpy for its bytes, in
 * the same run, on one thread, in that thread's processor time. The limits are far beyond noise. They catch vector code
 * that is not chosen any more, taps that are multiplied out, and planes that fall back to the reference.
 */
#include <gst/check/gstcheck.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "plan/plan.h"
#include "support/filter.h"
#include "support/frames.h"
#include "support/suite.h"

#define WIDTH 1920
#define HEIGHT 1080
#define REPEATS 9
#define SKIP 77

#if !defined(__OPTIMIZE__) || defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define IS_FIT FALSE /* such a build is not timed */
#else
#define IS_FIT TRUE
#endif
#define HOPELESS_US 1e6 /* limit of a frame, which usually takes some 5000 */

/* typical: the median of several runs on two busy cores of an AMD EPYC with AVX-512; AVX2 took up to 1.7 times as long
 * there, SSE2 2.6 times, and the reference hundreds of times. The last row has twice the time of the second, as on
 * another machine with AVX2. limit: 4 times typical. */
static const struct {
  const char *format;
  CnvFilterType type;
  int radius;
  double typical, limit; /* in multiples of memcpy */
  int temporal_radius;   /* with an automatic threshold */
} rows[] = {
    {"GRAY8", CNV_FILTER_GAUSSIAN, 8, 30, 120, 0}, {"NV12", CNV_FILTER_GAUSSIAN, 8, 26, 104, 0},
    {"GRAY8", CNV_FILTER_BOX, 16, 28, 112, 0},     {"GRAY8", CNV_FILTER_CUSTOM, 1, 33, 132, 0},
    {"NV12", CNV_FILTER_IDENTITY, 0, 52, 208, 3},
};

/* Returns the engine's fastest instruction set on this machine. */
static const char *
best_set(void)
{
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq") &&
      __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("fma"))
    return "avx512";
  return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") ? "avx2" : "plain";
#elif defined(__aarch64__)
  return "neon";
#else
  return "plain";
#endif
}

static double
thread_us(void)
{
  struct timespec now;

  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return now.tv_sec * 1e6 + now.tv_nsec / 1e3;
}

static int
by_value(const void *a, const void *b)
{
  const double x = *(const double *)a, y = *(const double *)b;

  return (x > y) - (x < y);
}

static double
median(double *values)
{
  qsort(values, REPEATS, sizeof *values, by_value);
  return values[REPEATS / 2];
}

static void
make_filter(CnvFilter *filter, int row)
{
  static const double taps[] = {1, 3, 2, 4, 9, 1, 2, 5, 3}; /* no row times a column, nor the sum of two */

  test_filter_init(filter);
  filter->type = rows[row].type;
  filter->temporal_radius = rows[row].temporal_radius;
  filter->temporal_threshold = rows[row].temporal_radius ? -1 : 0;
  if (filter->type == CNV_FILTER_CUSTOM)
    filter->kernel = cnv_taps_new(3, 3, taps);
  else
    filter->radius = rows[row].radius;
}

static CnvPlan *
make_plan(int row, int width, int height)
{
  const CnvImage image = {cnv_format_find(rows[row].format), width, height, 0.2126, 0.0722, FALSE};
  CnvFilter filter;
  CnvPlan *plan;

  make_filter(&filter, row);
  plan = cnv_plan_new(&filter, &image, CNV_ALGORITHM_AUTO, cnv_backend_find("cpu"), NULL);
  ck_assert(plan != NULL);
  cnv_filter_clear(&filter);
  return plan;
}

static void
copy(const TestFrame *in, TestFrame *out)
{
  for (int m = 0; m < CNV_MAX_PLANES && in->plane[m].block; m++)
    memcpy(out->plane[m].block, in->plane[m].block, in->plane[m].size);
}

/* Gives the session a history of frames of noise, of which `taps` are averaged. Returns their middle. */
static CnvFrame
fill_history(CnvSession *session, const CnvPlan *plan, CnvWork *work, CnvTemporalTap taps[CNV_MAX_TEMPORAL_TAPS])
{
  TestFrame frame[CNV_MAX_TEMPORAL_TAPS];
  CnvFrame view[CNV_MAX_TEMPORAL_TAPS];

  for (int k = 0; k < plan->n_temporal_taps; k++) {
    test_frame_init(&frame[k], plan->image.format, plan->image.width, plan->image.height, (TestLayout){0, 0, 0});
    test_frame_fill(&frame[k], TEST_NOISE, (guint32)k + 2);
    test_frame_view(&frame[k], &view[k]);
  }
  ck_assert(test_history_fill(session, plan, view, plan->n_temporal_taps, CNV_TEMPORAL_RENORMALIZE, work, taps, NULL));
  for (int k = 0; k < plan->n_temporal_taps; k++)
    test_frame_clear(&frame[k]);
  return (CnvFrame){.memory = CNV_MEMORY_HISTORY, .slot = plan->center};
}

/* Returns the time of filtering divided by the time of copying. They alternate, so that disturbances slow both. */
static double
ratio_of(CnvSession *session, CnvPlan *plan)
{
  CnvWork work = CNV_WORK_ALL(&plan);
  CnvTemporalTap taps[CNV_MAX_TEMPORAL_TAPS];
  double filtering[REPEATS], copying[REPEATS];
  TestFrame in, out;
  CnvFrame from, to;

  test_frame_init(&in, plan->image.format, plan->image.width, plan->image.height, (TestLayout){0, 0, 0});
  test_frame_init(&out, plan->image.format, plan->image.width, plan->image.height, (TestLayout){0, 0, 0});
  test_frame_fill(&in, TEST_NOISE, 1);
  test_frame_view(&in, &from);
  test_frame_view(&out, &to);
  if (plan->n_temporal_taps > 1)
    from = fill_history(session, plan, &work, taps);
  for (int i = -1; i < REPEATS; i++) { /* the first one does not count */
    const double start = thread_us();
    double middle;

    ck_assert(cnv_session_submit(session, &work, &from, &to, NULL) && cnv_session_wait(session, NULL));
    middle = thread_us();
    ck_assert_msg(middle - start < HOPELESS_US, "a frame took %.1f s", (middle - start) / 1e6);
    copy(&in, &out);
    filtering[MAX(i, 0)] = middle - start;
    copying[MAX(i, 0)] = thread_us() - middle;
  }
  test_frame_clear(&in);
  test_frame_clear(&out);
  return median(filtering) / median(copying);
}

static CnvSession *
open_session(guint n_threads)
{
  const CnvSessionOptions options = {.device = -1, .n_threads = n_threads};

  return cnv_backend_find("cpu")->open(&options, NULL);
}

/* Checks that the fastest instruction set is used. The limits below are too wide to distinguish them. */
START_TEST(test_instruction_set)
{
  CnvSession *session = open_session(1);

  ck_assert_msg(g_str_has_suffix(session->device_name, best_set()), "%s: this machine has %s", session->device_name,
                best_set());
  cnv_session_close(session);
}
END_TEST

/* Checks the number of threads. Waking other threads takes as long as a small frame. */
START_TEST(test_threads)
{
  static const struct {
    int width, height;
    guint threads;
  } sizes[] = {{64, 64, 1}, {WIDTH, HEIGHT, 3}, {160, 120, 1}};
  CnvSession *session = open_session(3);

  for (guint i = 0; i < G_N_ELEMENTS(sizes); i++) {
    CnvPlan *plan = make_plan(0, sizes[i].width, sizes[i].height);

    ratio_of(session, plan);
    ck_assert_uint_eq(session->stats.threads, sizes[i].threads);
    cnv_plan_unref(plan);
  }
  cnv_session_close(session);
}
END_TEST

START_TEST(test_floor)
{
  CnvSession *session = open_session(1);
  CnvPlan *plan = make_plan(_i, WIDTH, HEIGHT);
  const char *format = rows[_i].format, *filter = cnv_filter_info(rows[_i].type)->nick.nick;
  const double ratio = ratio_of(session, plan), limit = rows[_i].limit;

  printf("%-5s %-8s radius %2d, temporal radius %d: %.0f times memcpy; %.0f is usual, %.0f the limit\n", format, filter,
         rows[_i].radius, rows[_i].temporal_radius, ratio, rows[_i].typical, limit);
  fflush(stdout);
  ck_assert_msg(ratio <= limit, "%s, %s, %s: %.0f times as long as memcpy, the limit is %.0f", session->device_name,
                format, filter, ratio, limit);
  cnv_plan_unref(plan);
  cnv_session_close(session);
}
END_TEST

static void
add_tests(TCase *tcase)
{
  tcase_add_test(tcase, test_instruction_set);
  tcase_add_test(tcase, test_threads);
  tcase_add_loop_test(tcase, test_floor, 0, G_N_ELEMENTS(rows));
}

int
main(void)
{
  if (!IS_FIT) {
    puts("SKIPPED: this build is not optimised, or has a sanitizer in it");
    return SKIP;
  }
  return test_main("speed", add_tests);
}
