/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * temporal-threshold: what a plan rejects, averages compared with the formula in float64, the same bits for any number
 * of threads, and the measurement of noise.
 */
#include <gst/check/gstcheck.h>

#include <math.h>
#include <string.h>

#include "plan/noise.h"
#include "plan/plan.h"
#include "support/filter.h"
#include "support/frames.h"
#include "support/suite.h"

#define WIDTH 331
#define HEIGHT 203
#define FRAMES 7
#define CENTER 3

/* Returns a normal deviate. */
static double
normal(guint32 *state)
{
  double sum = 0;

  for (int i = 0; i < 12; i++)
    sum += (test_random(state) >> 8) / 16777216.0;
  return sum - 6;
}

static CnvImage
gray(const char *format)
{
  return (CnvImage){cnv_format_find(format), WIDTH, HEIGHT, 0.2126, 0.0722, TRUE};
}

/* ---- plans ---- */

static void
assert_refused(const CnvFilter *filter, const char *format, const CnvBackend *backend, const char *word)
{
  const CnvImage image = gray(format);
  GError *error = NULL;

  ck_assert(!cnv_plan_new(filter, &image, CNV_ALGORITHM_AUTO, backend, &error));
  ck_assert_msg(strstr(error->message, "temporal-threshold=0.1") && strstr(error->message, "temporal-threshold=0,") &&
                    strstr(error->message, word),
                "the message does not name the setting, %s and the fix: %s", word, error->message);
  g_error_free(error);
}

START_TEST(test_refusals)
{
  const CnvBackend *cpu = cnv_backend_find("cpu");
  const CnvImage image = gray("GRAY8");
  CnvBackend other = *cpu;
  CnvFilter filter;
  CnvPlan *plan;

  other.name = "cuda";
  other.weighs_frames = FALSE;
  test_filter_init(&filter);
  filter.temporal_threshold = 0.1;
  plan = cnv_plan_new(&filter, &image, CNV_ALGORITHM_AUTO, &other, NULL); /* a single frame */
  ck_assert(plan && plan->threshold == 0);
  cnv_plan_unref(plan);
  filter.kernel_t = cnv_taps_new(3, 1, (double[]){-1, 3, 1});
  assert_refused(&filter, "GRAY8", cpu, "tap 0 is -1");
  cnv_filter_clear(&filter);
  filter.kernel_t = cnv_taps_new(3, 1, (double[]){1, 0, 1});
  assert_refused(&filter, "GRAY8", cpu, "tap 1 is 0");
  cnv_filter_clear(&filter);
  filter.temporal_radius = 1;
  filter.alpha_mode = CNV_ALPHA_PREMULTIPLY;
  assert_refused(&filter, "RGBA", cpu, "alpha-mode");
  filter.alpha_mode = CNV_ALPHA_COPY;
  assert_refused(&filter, "GRAY8", &other, "backend=cpu");
  filter.temporal_radius = 0;
  filter.type = CNV_FILTER_CUSTOM;
  filter.kernel = cnv_taps_new_volume(2, 1, 2, (double[]){1, 2, 3, 4});
  assert_refused(&filter, "GRAY8", cpu, "kernel-t");
  cnv_filter_clear(&filter);
}
END_TEST

/* ---- averages ---- */

typedef struct {
  const char *format;
  int bytes, full;
  double threshold, sigma; /* of the noise, in levels of 8 bits */
} Row;

static const Row rows[] = {
    {"GRAY8", 1, 255, 0.03, 10},       {"GRAY8", 1, 255, 0.1, 10},       {"GRAY8", 1, 255, 0.004, 2},
    {"GRAY8", 1, 255, 0.5, 40},        {"GRAY8", 1, 255, 1, 60},         {"GRAY16_LE", 2, 65535, 0.03, 10},
    {"GRAY16_LE", 2, 65535, 0.005, 2}, {"GRAY16_LE", 2, 65535, 0.4, 60},
};

/* Fills frames of noise about a bright square that moves. */
static void
fill_frames(const Row *row, guint8 *memory, guint32 *state)
{
  for (int k = 0; k < FRAMES; k++)
    for (int i = 0; i < WIDTH * HEIGHT; i++) {
      gboolean in = i % WIDTH / 40 == k && i / WIDTH / 60 == 1;
      double value = ((in ? 180 : 90) + row->sigma * normal(state)) * row->full / 255;
      guint sample = (guint)CLAMP(rint(value), 0, row->full);
      gsize at = (gsize)k * WIDTH * HEIGHT + i;

      if (row->bytes == 1)
        memory[at] = (guint8)sample;
      else
        ((guint16 *)memory)[at] = GUINT16_TO_LE((guint16)sample);
    }
}

static double
sample_of(const Row *row, const guint8 *memory, int k, int x, int y)
{
  gsize at = ((gsize)k * HEIGHT + CLAMP(y, 0, HEIGHT - 1)) * WIDTH + CLAMP(x, 0, WIDTH - 1);

  return row->bytes == 1 ? memory[at] : GUINT16_FROM_LE(((const guint16 *)memory)[at]);
}

/* The formula of gst/time.md. */
static double
average_of(const Row *row, const guint8 *memory, const double *weight, int x, int y)
{
  double sum = 0, weights = 0;

  for (int k = 0; k < FRAMES; k++) {
    double difference = 0, s;

    for (int i = 0; i < 9; i++)
      difference += sample_of(row, memory, k, x + i % 3 - 1, y + i / 3 - 1) -
                    sample_of(row, memory, CENTER, x + i % 3 - 1, y + i / 3 - 1);
    s = 1.5 - fabs(difference / 9) / (row->threshold * row->full);
    s = s < 0 ? 0 : s > 1 ? 1 : s;
    sum += weight[k] * s * s * (3 - 2 * s) * sample_of(row, memory, k, x, y);
    weights += weight[k] * s * s * (3 - 2 * s);
  }
  return sum / weights;
}

/* Filters the middle frame of FRAMES. */
static void
run(const Row *row, double threshold, const char *simd, guint threads, guint8 *memory, guint8 *out)
{
  const CnvSessionOptions options = {.n_threads = threads, .simd = simd};
  const CnvImage image = gray(row->format);
  const int stride = WIDTH * row->bytes;
  CnvSession *session = cnv_backend_find("cpu")->open(&options, NULL);
  CnvFrame to = {.data = {out}, .stride = {stride}}, center = {.memory = CNV_MEMORY_HISTORY, .slot = CENTER};
  CnvTemporalTap taps[FRAMES];
  int slot[FRAMES];
  CnvFilter filter;
  CnvPlan *plan;
  CnvWork work;

  test_filter_init(&filter);
  filter.type = CNV_FILTER_IDENTITY;
  filter.temporal_radius = CENTER;
  filter.temporal_threshold = threshold;
  plan = cnv_plan_new(&filter, &image, CNV_ALGORITHM_AUTO, session->backend, NULL);
  ck_assert(cnv_session_history_alloc(session, &image, FRAMES, NULL));
  for (int k = 0; k < FRAMES; k++) {
    CnvFrame from = {.data = {memory + (gsize)k * HEIGHT * stride}, .stride = {stride}};

    slot[k] = k;
    ck_assert(cnv_session_history_push(session, (guint)k, &from, FALSE, NULL, NULL));
  }
  work = CNV_WORK_ALL(&plan);
  work.temporal_tap = taps;
  work.n_temporal_taps = cnv_temporal_taps_make(plan, slot, CNV_TEMPORAL_RENORMALIZE, taps);
  ck_assert(cnv_session_submit(session, &work, &center, &to, NULL));
  if (threshold >= 0)
    ck_assert(fabs(session->stats.threshold[0] - threshold) < 1e-6);
  else
    ck_assert_msg(fabs(session->stats.threshold[0] * 255 - CNV_NOISE_THRESHOLD * row->sigma) < 0.2 * row->sigma,
                  "%s: a threshold of %g levels for noise of %g", row->format, session->stats.threshold[0] * 255,
                  row->sigma);
  cnv_session_close(session);
  cnv_plan_unref(plan);
}

static void
make_weights(double weight[FRAMES])
{
  const double sigma = 0.3 * (CENTER - 1) + 0.8;

  for (int k = 0; k < FRAMES; k++)
    weight[k] = exp(-0.5 * (k - CENTER) * (k - CENTER) / (sigma * sigma));
}

static void
check_row(const Row *row, guint8 *memory, const char *simd)
{
  const gsize bytes = (gsize)WIDTH * HEIGHT * row->bytes;
  guint8 *out = g_malloc(bytes), *other = g_malloc(bytes);
  double weight[FRAMES];
  int inexact = 0;

  make_weights(weight);
  run(row, row->threshold, simd, 1, memory, out);
  for (int y = 0; y < HEIGHT; y++)
    for (int x = 0; x < WIDTH; x++) {
      double expected = average_of(row, memory, weight, x, y), found = sample_of(row, out, 0, x, y);

      ck_assert_msg(fabs(found - expected) <= 1.5, "%s, %s: %g instead of %g at %d, %d", row->format, simd, found,
                    expected, x, y);
      inexact += fabs(found - expected) > 0.5 + 1e-9;
    }
  ck_assert_msg(inexact * 100 < WIDTH * HEIGHT, "%s, %s, threshold %g: %d of %d samples are not exact", row->format,
                simd, row->threshold, inexact, WIDTH * HEIGHT);
  for (guint threads = 2; threads <= 5; threads++) {
    run(row, row->threshold, simd, threads, memory, other);
    ck_assert_msg(memcmp(out, other, bytes) == 0, "%s, %s: other bits with %u threads", row->format, simd, threads);
  }
  g_free(out);
  g_free(other);
}

START_TEST(test_exactness)
{
  static const char *const simds[] = {"plain", "neon", "avx2", "avx512"};
  guint32 state = 5;

  for (guint r = 0; r < G_N_ELEMENTS(rows); r++) {
    guint8 *memory = g_malloc((gsize)FRAMES * WIDTH * HEIGHT * rows[r].bytes);

    fill_frames(&rows[r], memory, &state);
    for (guint i = 0; i < G_N_ELEMENTS(simds); i++)
      check_row(&rows[r], memory, simds[i]);
    g_free(memory);
  }
}
END_TEST

/* Noise far below the threshold: the plain mean, to within 1. */
START_TEST(test_still)
{
  const Row row = {"GRAY8", 1, 255, 0.4, 5};
  const gsize bytes = (gsize)WIDTH * HEIGHT;
  guint8 *memory = g_malloc(FRAMES * bytes), *mean = g_malloc(bytes), *out = g_malloc(bytes);
  guint32 state = 6;

  for (gsize i = 0; i < FRAMES * bytes; i++)
    memory[i] = (guint8)rint(100 + 5 * normal(&state));
  run(&row, 0, NULL, 2, memory, mean);
  run(&row, row.threshold, NULL, 2, memory, out);
  for (gsize i = 0; i < bytes; i++)
    ck_assert_int_le(abs(mean[i] - out[i]), 1);
  run(&row, -1, NULL, 2, memory, out);
  g_free(memory);
  g_free(mean);
  g_free(out);
}
END_TEST

/* ---- noise ---- */

/* Measures noise of sigma levels on a slope, of which a part of the rows moves. */
static double
measured(double sigma, double moving, gboolean cut)
{
  const CnvImage image = gray("GRAY8");
  guint8 *memory = g_malloc(2 * WIDTH * HEIGHT);
  CnvNoise noise = {0};
  guint32 state = 7;

  for (int n = 0; n < 5; n++) {
    CnvFrame frame[2];

    for (int k = 0; k < 2; k++) {
      frame[k] = (CnvFrame){.data = {memory + k * WIDTH * HEIGHT}, .stride = {WIDTH}};
      for (int i = 0; i < WIDTH * HEIGHT; i++) {
        int x = i % WIDTH + (i / WIDTH < moving * HEIGHT ? 5 * k : 0);
        double value = 60 + (x * 7919 % 61) * (i / WIDTH < moving * HEIGHT) + i % WIDTH % 16;

        if (cut && n == 2 && k == 1) /* another picture */
          value = 60 + i * 7919 % 127;
        memory[k * WIDTH * HEIGHT + i] = (guint8)rint(value + sigma * normal(&state));
      }
    }
    cnv_noise_measure(&noise, &image, &frame[0], &frame[1]);
  }
  g_free(memory);
  return cnv_noise_sigma(&noise, 0) * 255;
}

START_TEST(test_noise)
{
  const CnvNoise none = {0};

  ck_assert(cnv_noise_sigma(&none, 0) == 0);
  for (int i = 0; i < 4; i++) {
    const double sigma = (const double[]){1, 2, 5, 12}[i];

    ck_assert_msg(fabs(measured(sigma, 0, FALSE) / sigma - 1) < 0.1, "%g", measured(sigma, 0, FALSE));
    ck_assert_msg(fabs(measured(sigma, 0, TRUE) / sigma - 1) < 0.1, "a cut: %g", measured(sigma, 0, TRUE));
    ck_assert_msg(fabs(measured(sigma, 0.5, FALSE) / sigma - 1) < 0.25, "motion: %g", measured(sigma, 0.5, FALSE));
  }
  ck_assert(measured(0, 0, FALSE) == 0);
  ck_assert(measured(0, 0.15, FALSE) == 0);
}
END_TEST

static void
add_tests(TCase *tcase)
{
  tcase_add_test(tcase, test_refusals);
  tcase_add_test(tcase, test_exactness);
  tcase_add_test(tcase, test_still);
  tcase_add_test(tcase, test_noise);
}

int
main(void)
{
  return test_main("averages", add_tests);
}
