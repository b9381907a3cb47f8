/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * temporal-threshold: what a plan rejects, averages compared with the formula in float64, the same bits for any number
 * of threads, and the measurement of noise.
 */
#include <gst/check/gstcheck.h>

#include <math.h>
#include <string.h>

#include "plan/arith.h"
#include "plan/component.h"
#include "plan/layout.h"
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
  CnvFilter filter;
  CnvPlan *plan;

  test_filter_init(&filter);
  filter.temporal_threshold = 0.1;
  plan = cnv_plan_new(&filter, &image, CNV_ALGORITHM_AUTO, cpu, NULL); /* a single frame */
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
  CnvFrame from[FRAMES];
  CnvFilter filter;
  CnvPlan *plan;
  CnvWork work;

  test_filter_init(&filter);
  filter.type = CNV_FILTER_IDENTITY;
  filter.temporal_radius = CENTER;
  filter.temporal_threshold = threshold;
  plan = cnv_plan_new(&filter, &image, CNV_ALGORITHM_AUTO, session->backend, NULL);
  for (int k = 0; k < FRAMES; k++)
    from[k] = (CnvFrame){.data = {memory + (gsize)k * HEIGHT * stride}, .stride = {stride}};
  work = CNV_WORK_ALL(&plan);
  ck_assert(test_history_fill(session, plan, from, FRAMES, CNV_TEMPORAL_RENORMALIZE, &work, taps, NULL));
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

/* ---- 16-bit arithmetic: the method `averages` ---- */

#define MOST_FRAMES 7

typedef struct {
  const char *format, *simd;
  int width, height, radius, missing; /* missing: frames at the end of those that there should be */
  double threshold;
  TestLayout layout; /* of the output */
  CnvRect region;    /* empty: the whole frame */
  gboolean isolated; /* nothing outside the region is read */
} Narrow;

/* A run of a case: its frames, and what the engine says. */
typedef struct {
  const Narrow *given;
  TestFrame in[MOST_FRAMES], out;
  CnvTemporalTap taps[MOST_FRAMES];
  guint n_taps;
  CnvPlan *plan;
  gboolean plain; /* the instruction set has no 16-bit arithmetic */
} Run;

/* Fills a frame with a bright square that moves, and noise of about the threshold. */
typedef struct {
  double sigma;
  int frame;
  guint32 state;
} Clip;

static guint
clip_value(gpointer data, int plane, int channel, int x, int y, guint full)
{
  Clip *clip = data;
  const gboolean in = (x + 3 * clip->frame) / 9 % 3 == 0 && y / 4 % 2 == 0;

  return (guint)CLAMP(rint(((in ? 0.7 : 0.3 + 0.1 * channel) + clip->sigma * normal(&clip->state)) * full), 0, full);
}

/* Returns the result of the formula in float64; window: in samples of the plane. */
static double
narrow_average(const Run *r, int p, int c, int full, CnvRect window, int x, int y)
{
  const int center = r->given->radius;
  double sum = 0, weights = 0;

  for (guint k = 0; k < r->n_taps; k++) {
    const CnvTemporalTap *tap = &r->taps[k];
    double difference = 0, s;

    if (tap->slot < 0 || tap->weight == 0)
      continue;
    for (int i = 0; i < 9; i++) {
      const int column = CLAMP(x + i % 3 - 1, window.x, window.x + window.width - 1);
      const int row = CLAMP(y + i / 3 - 1, window.y, window.y + window.height - 1);

      difference +=
          test_frame_get(&r->in[tap->slot], p, c, column, row) - test_frame_get(&r->in[center], p, c, column, row);
    }
    s = CLAMP(1.5 - fabs(difference / 9) / (r->given->threshold * full), 0, 1);
    sum += tap->weight * s * s * (3 - 2 * s) * test_frame_get(&r->in[tap->slot], p, c, x, y);
    weights += tap->weight * s * s * (3 - 2 * s);
  }
  return sum / weights;
}

/* Compares a plane, and adds up samples and those that are not exact. */
static void
check_plane(const Run *r, int p, int counts[2])
{
  const Narrow *n = r->given;
  const CnvPlaneFormat *plane = &r->in[0].format->plane[p];
  const int full = (1 << r->in[0].format->depth) - 1, width = cnv_divide_up(n->width, 1 << plane->sub_x);
  const CnvRect all = {0, 0, width, cnv_divide_up(n->height, 1 << plane->sub_y)};
  const CnvRect region = n->region.width > 0 ? n->region : all, window = n->isolated ? region : all;

  for (int i = 0; i < all.width * all.height * plane->channels; i++) {
    const int c = i % plane->channels, x = i / plane->channels % width, y = i / plane->channels / width;
    const gboolean inside =
        x >= region.x && y >= region.y && x < region.x + region.width && y < region.y + region.height;
    const double found = test_frame_get(&r->out, p, c, x, y);
    double expected = test_frame_get(&r->in[n->radius], p, c, x, y);

    if (inside && r->plan->plane[p].filtered >> c & 1)
      expected = narrow_average(r, p, c, full, window, x, y);
    ck_assert_msg(fabs(found - expected) <= 1.5,
                  "%s, %s, %dx%d, threshold %g, plane %d, channel %d: %g, not %g at %d, %d", n->format, n->simd,
                  n->width, n->height, n->threshold, p, c, found, expected, x, y);
    counts[0]++;
    counts[1] += fabs(found - expected) > 0.5 + 1e-9;
  }
}

/* Filters the frames, and checks that 16-bit arithmetic did. */
static void
filter_narrow(Run *r)
{
  const Narrow *n = r->given;
  const CnvSessionOptions options = {.n_threads = 2, .simd = n->simd};
  const CnvImage image = {cnv_format_find(n->format), n->width, n->height, 0.2126, 0.0722, TRUE};
  const CnvRegion region = {.rect = n->region};
  const CnvFrame center = {.memory = CNV_MEMORY_HISTORY, .slot = n->radius};
  CnvSession *session = cnv_backend_find("cpu")->open(&options, NULL);
  int slot[MOST_FRAMES];
  CnvFilter filter;
  CnvFrame to;
  CnvWork work;

  test_filter_init(&filter);
  filter.type = CNV_FILTER_IDENTITY;
  filter.temporal_radius = n->radius;
  filter.temporal_threshold = n->threshold;
  r->plan = cnv_plan_new(&filter, &image, CNV_ALGORITHM_AUTO, session->backend, NULL);
  ck_assert(cnv_session_history_alloc(session, &image, MOST_FRAMES, NULL));
  for (int k = 0; k <= 2 * n->radius; k++) {
    CnvFrame from;

    slot[k] = k <= 2 * n->radius - n->missing ? k : -1;
    test_frame_view(&r->in[k], &from);
    ck_assert(cnv_session_history_push(session, (guint)k, &from, FALSE, NULL, NULL));
  }
  work = CNV_WORK_ALL(&r->plan);
  work.whole_frame = n->region.width == 0;
  work.region = &region;
  work.n_regions = !work.whole_frame;
  work.isolated = n->isolated;
  work.temporal_tap = r->taps;
  work.n_temporal_taps = r->n_taps = cnv_temporal_taps_make(r->plan, slot, CNV_TEMPORAL_RENORMALIZE, r->taps);
  test_frame_view(&r->out, &to);
  ck_assert(cnv_session_submit(session, &work, &center, &to, NULL));
  r->plain = strstr(session->device_name, "plain") != NULL;
  for (int p = 0; p < r->plan->n_planes; p++)
    ck_assert_msg(r->plain || g_str_equal(session->stats.method[p], "averages"), "%s, plane %d: the method is %s",
                  n->format, p, session->stats.method[p]);
  cnv_session_close(session);
}

static void
check_narrow(const Narrow *n, guint32 seed, int counts[2])
{
  const CnvFormat *format = cnv_format_find(n->format);
  Run r = {.given = n};
  char *stray;

  for (int k = 0; k <= 2 * n->radius; k++) {
    Clip clip = {n->threshold, k, seed + (guint32)k};

    test_frame_init(&r.in[k], format, n->width, n->height, (TestLayout){.guard = 64, .offset = k, .pad = 7 * k});
    test_frame_fill(&r.in[k], TEST_NOISE, seed);
    test_frame_fill_with(&r.in[k], clip_value, &clip);
  }
  test_frame_init(&r.out, format, n->width, n->height, n->layout);
  filter_narrow(&r);
  for (int p = 0; p < r.plan->n_planes; p++)
    check_plane(&r, p, counts);
  stray = test_frame_stray(&r.out);
  ck_assert_msg(!stray, "%s: %s", n->format, stray);
  cnv_plan_unref(r.plan);
  test_frame_clear(&r.out);
  for (int k = 0; k <= 2 * n->radius; k++)
    test_frame_clear(&r.in[k]);
}

static gboolean
has_simd(const char *name)
{
  CnvSession *session = cnv_backend_find("cpu")->open(&(CnvSessionOptions){.n_threads = 1, .simd = name}, NULL);
  const gboolean found = strstr(session->device_name, name) != NULL;

  cnv_session_close(session);
  return found;
}

/* Widths below and above those of vectors and of the parts of a row, odd sizes, all alignments of output and region,
 * all numbers of channels, and thresholds from a level to full scale. */
START_TEST(test_narrow)
{
  static const char *const formats[] = {"GRAY8", "NV12", "RGB", "RGBA", "I420_10LE", "P010_10LE"};
  static const char *const simds[] = {"plain", "neon", "avx2", "avx512"};
  static const int sizes[][2] = {{1, 1}, {2, 3}, {3, 2}, {31, 5}, {64, 4}, {67, 9}, {130, 7}, {331, 12}, {1403, 3}};
  static const double thresholds[] = {0.004, 0.03, 0.12, 0.5, 1};

  for (guint s = 0; s < G_N_ELEMENTS(simds); s++)
    for (guint f = 0; f < G_N_ELEMENTS(formats) && has_simd(simds[s]); f++) {
      const int bytes = cnv_format_find(formats[f])->sample_bytes;
      int counts[2] = {0};

      for (guint i = 0; i < 3 * G_N_ELEMENTS(sizes); i++) {
        const int *size = sizes[i % G_N_ELEMENTS(sizes)], at = (int)i % 7;
        Narrow n = {formats[f], simds[s], size[0], size[1], 1 + (int)i % 3, (int)i % 2};

        n.threshold = thresholds[i % G_N_ELEMENTS(thresholds)];
        n.layout = (TestLayout){.guard = 64, .offset = (int)i % 5 * bytes, .pad = (int)i % 4 * bytes};
        if (i >= G_N_ELEMENTS(sizes) && size[0] > 60 && !strchr("NIP", formats[f][0])) {
          n.region = (CnvRect){at, 1, size[0] - at - (int)i % 5, size[1] - 2};
          n.isolated = i % 2;
        }
        check_narrow(&n, i + 1, counts);
      }
      ck_assert_msg(counts[1] * 100 < counts[0], "%s, %s: %d of %d samples are not exact", formats[f], simds[s],
                    counts[1], counts[0]);
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

/* ---- engines ---- */

#define TIMES 17 /* outputs, more than CNV_NOISE_FRAMES */

/* An engine that filters the frames over and over, each time with another one in the middle. */
typedef struct {
  CnvSession *session;
  CnvPlan *plan;
  guint8 *out;
  CnvFrame frame; /* `out` */
} Engine;

static void
open_engine(Engine *engine, const char *name, const CnvFilter *filter, const CnvImage *image, const CnvLayout *layout,
            guint8 *memory)
{
  const CnvSessionOptions options = {.device = -1};

  engine->session = cnv_backend_find(name)->open(&options, NULL);
  engine->plan = cnv_plan_new(filter, image, CNV_ALGORITHM_AUTO, engine->session->backend, NULL);
  engine->out = g_malloc0(layout->size);
  engine->frame = cnv_layout_frame(layout, CNV_MEMORY_HOST, (guintptr)engine->out);
  ck_assert(cnv_session_history_alloc(engine->session, image, FRAMES, NULL));
  for (guint k = 0; k < FRAMES; k++) {
    const CnvFrame from = cnv_layout_frame(layout, CNV_MEMORY_HOST, (guintptr)memory + k * layout->size);

    ck_assert(cnv_session_history_push(engine->session, k, &from, FALSE, NULL, NULL));
  }
}

static void
filter_once(Engine *engine, int n)
{
  const CnvFrame in = {.memory = CNV_MEMORY_HISTORY, .slot = (CENTER + n) % FRAMES};
  CnvWork work = CNV_WORK_ALL(&engine->plan);
  CnvTemporalTap taps[FRAMES];
  int slot[FRAMES];

  for (int k = 0; k < FRAMES; k++)
    slot[k] = (k + n) % FRAMES;
  work.temporal_tap = taps;
  work.n_temporal_taps = cnv_temporal_taps_make(engine->plan, slot, CNV_TEMPORAL_RENORMALIZE, taps);
  ck_assert(cnv_session_submit(engine->session, &work, &in, &engine->frame, NULL));
  ck_assert(cnv_session_wait(engine->session, NULL));
}

/* Compares all samples of two engines. Padding and the parts of words without samples may differ. */
static void
compare_engines(const CnvImage *image, const Engine *a, const Engine *b, const char *what)
{
  int n = 0, inexact = 0;

  for (int p = 0; p < image->format->n_planes; p++) {
    CnvComponent component[CNV_MAX_CHANNELS];
    const int n_components = cnv_noise_components(image->format, p, component);
    const int width = cnv_format_plane_width(image->format, p, image->width);
    const int height = cnv_format_plane_height(image->format, p, image->height);

    for (int i = 0; i < n_components * width * height; i++) {
      const CnvComponent *c = &component[i % n_components];
      const gsize x = (gsize)(i / n_components % width), y = (gsize)(i / n_components / width);
      const gsize at = y * (gsize)a->frame.stride[c->plane] + x * c->step + c->offset;
      int difference;

      if (c->bytes == 0)
        continue;
      difference = abs(cnv_component_get((const guint8 *)a->frame.data[c->plane] + at, c, c->bytes) -
                       cnv_component_get((const guint8 *)b->frame.data[c->plane] + at, c, c->bytes));
      ck_assert_msg(difference <= 1, "%s: sample %d of plane %d differs by %d", what, i, p, difference);
      inexact += difference;
      n++;
    }
  }
  ck_assert_msg(n > 0 && inexact * 100 < n, "%s: %d of %d samples differ", what, inexact, n);
}

/* Fills frames with noise about gray, the same in all formats: bytes of which the upper three bits vary least. */
static void
fill_bytes(guint8 *memory, gsize bytes, guint32 *state)
{
  for (gsize i = 0; i < bytes; i++)
    memory[i] = (guint8)CLAMP(rint(100 + 6 * normal(state)), 0, 255);
}

static void
check_engines(const char *format, CnvFilterType type, double threshold)
{
  const CnvImage image = {cnv_format_find(format), 150, 70, 0.2126, 0.0722, FALSE};
  g_autofree char *what = g_strdup_printf("%s, filter %d, temporal-threshold=%g", format, type, threshold);
  const CnvLayout layout = cnv_layout_of(&image);
  Engine engine[2], *cpu = &engine[0], *cuda = &engine[1];
  CnvFilter filter;
  guint8 *memory;
  guint32 state = 8;

  memory = g_malloc(FRAMES * layout.size);
  fill_bytes(memory, FRAMES * layout.size, &state);
  test_filter_init(&filter);
  filter.type = type;
  filter.radius = 2;
  filter.temporal_radius = CENTER;
  filter.temporal_threshold = threshold;
  open_engine(cpu, "cpu", &filter, &image, &layout, memory);
  open_engine(cuda, "cuda", &filter, &image, &layout, memory);
  for (int n = 0; n < TIMES; n++) {
    float before[CNV_MAX_PLANES];

    memcpy(before, cpu->session->stats.threshold, sizeof(before));
    filter_once(cpu, n);
    filter_once(cuda, n);
    /* What the GPU has measured for a frame is known when the next one is submitted. */
    for (int p = 0; p < image.format->n_planes && n > 0; p++)
      ck_assert_msg(fabsf(cuda->session->stats.threshold[p] - before[p]) <= 1e-5f * before[p],
                    "%s: a threshold of %g instead of %g of plane %d", what, cuda->session->stats.threshold[p],
                    before[p], p);
    compare_engines(&image, cpu, cuda, what);
  }
  for (int p = 0; p < image.format->n_planes; p++)
    ck_assert_msg(cpu->session->stats.threshold[p] > 0, "%s: no threshold for plane %d", what, p);
  for (guint i = 0; i < G_N_ELEMENTS(engine); i++) {
    cnv_session_close(engine[i].session);
    cnv_plan_unref(engine[i].plan);
    g_free(engine[i].out);
  }
  g_free(memory);
}

/* Without a GPU this test is skipped; the stand-in for its driver runs it, too. */
START_TEST(test_engines)
{
  static const char *const formats[] = {"GRAY8", "NV12",      "I420",      "RGB",    "RGBA",
                                        "YUY2",  "GRAY16_LE", "P010_10LE", "ARGB64", "RGB10A2_LE"};
  const CnvBackend *cuda = cnv_backend_find("cuda");

  if (!cuda || !cuda->probe(0, NULL)) {
    g_print("no GPU: automatic thresholds of both engines are not compared\n");
    return;
  }
  for (guint i = 0; i < G_N_ELEMENTS(formats); i++) {
    check_engines(formats[i], CNV_FILTER_IDENTITY, -1);
    check_engines(formats[i], CNV_FILTER_GAUSSIAN, -1);
    check_engines(formats[i], CNV_FILTER_IDENTITY, 0.05);
  }
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
  tcase_add_test(tcase, test_narrow);
  tcase_add_test(tcase, test_still);
  tcase_add_test(tcase, test_engines);
  tcase_add_test(tcase, test_noise);
}

int
main(void)
{
  return test_main("averages", add_tests);
}
