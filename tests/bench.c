/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The benchmark: over a table of cases, each backend and algorithm is first checked on a smaller frame, then timed on
 * frames back to back, beside a copy of the same frames in the same run. GPU frames lie in device memory and rotate
 * over more of it than any L2 cache holds, so that each is read from DRAM and written there.
 */
#include "bench.h"

#include <stdio.h>
#include <stdlib.h>

#include "cases.h"
#include "oracle.h"

#define PAIRS_MIN 16
#define ROTATING_BYTES 200e6
#define BATCH_MIN 64 /* frames between two events, on a GPU */
#define REPEATS_MAX 21
#define REPEATS_MIN 3
#define MEASURE_US 2e6       /* after so long, the fewest repeats do */
#define CPU_PRODUCTS_MAX 3e9 /* a frame of more is left out on the CPU: it takes seconds */
#define CPU_NAIVE_MAX 2e8    /* likewise, of the plain reference */
#define GPU_PRODUCTS_MAX 4e9 /* likewise: some milliseconds */

typedef struct {
  const char *format;
  int width, height;
  const char *filter;
  int radius;      /* of generated filters */
  int region;      /* side of the square in the middle that is filtered while the rest is copied; 0: the whole frame */
  int time;        /* temporal radius; each frame is also kept in the history, as it is in a pipeline */
  gboolean volume; /* the kernel has 3 frames of its own taps */
} BenchCase;

#define UHD(format, filter, ...)                                                                                       \
  {                                                                                                                    \
    format, 3840, 2160, filter, __VA_ARGS__                                                                            \
  }

static const BenchCase bench_cases[] = {
    UHD("GRAY8", "gaussian", 1),      UHD("GRAY8", "gaussian", 2),
    UHD("GRAY8", "gaussian", 4),      UHD("GRAY8", "gaussian", 8),
    UHD("GRAY8", "gaussian", 16),     UHD("GRAY8", "gaussian", 32),
    UHD("NV12", "gaussian", 1),       UHD("NV12", "gaussian", 2),
    UHD("NV12", "gaussian", 4),       UHD("NV12", "gaussian", 8),
    UHD("NV12", "gaussian", 16),      UHD("NV12", "gaussian", 32),
    UHD("NV12", "gaussian", 64),      UHD("RGBA", "gaussian", 8),
    UHD("P010_10LE", "gaussian", 8),  {"GRAY8", 1920, 1080, "gaussian", 8},
    UHD("NV12", "dense-3x3", 0),      UHD("NV12", "dense-5x5", 0),
    UHD("NV12", "dense-7x7", 0),      UHD("NV12", "dense-17x17", 0),
    UHD("NV12", "dense-31x31", 0),    UHD("NV12", "sharpen", 0),
    UHD("NV12", "unsharp", 2),        UHD("NV12", "unsharp", 8),
    UHD("NV12", "sobel", 1),          {"NV12", 3840, 2160, "gaussian", 8, 200},
    UHD("NV12", "identity", 0, 0, 1), UHD("NV12", "identity", 0, 0, 2),
    UHD("NV12", "gaussian", 2, 0, 2), UHD("NV12", "dense-3x3", 0, 0, 0, TRUE),
};

typedef struct {
  double median, min, max; /* microseconds a frame */
  int repeats;
} Timing;

/* Rotating pairs of frames for one format and size. The host has one pair, the device as many as it takes. */
typedef struct {
  const TestVariant *variant;
  TestFrame in, out;
  gsize bytes; /* of one frame's samples */
  int n_pairs;
  TestRun *pair;
  CnvRegion region;
} Frames;

static gsize
frame_bytes(const TestFrame *frame)
{
  gsize bytes = 0;

  for (int i = 0; i < oracle_n_memories(frame->format); i++)
    bytes += (gsize)frame->plane[i].row_bytes * frame->plane[i].rows;
  return bytes;
}

static void
frames_init(Frames *f, const BenchCase *c, const TestVariant *v)
{
  const TestLayout layout = {0, 0, 0};

  f->variant = v;
  f->region = (CnvRegion){{(c->width - c->region) / 2, (c->height - c->region) / 2, c->region, c->region}, 0};
  test_frame_init(&f->in, cnv_format_find(c->format), c->width, c->height, layout);
  test_frame_init(&f->out, cnv_format_find(c->format), c->width, c->height, layout);
  test_frame_fill(&f->in, TEST_NOISE, test_options.seed);
  f->bytes = frame_bytes(&f->in);
  f->n_pairs = v->memory == CNV_MEMORY_DEVICE ? MAX(PAIRS_MIN, (int)(ROTATING_BYTES / (2.0 * f->bytes)) + 1) : 1;
  f->pair = g_new0(TestRun, f->n_pairs);
  for (int i = 0; i < f->n_pairs; i++)
    test_run_init(&f->pair[i], v->memory, &f->in, &f->out);
}

static void
frames_clear(Frames *f)
{
  for (int i = 0; i < f->n_pairs; i++)
    test_run_finish(&f->pair[i]);
  g_free(f->pair);
  test_frame_clear(&f->in);
  test_frame_clear(&f->out);
}

/* Keeps the frame as number i of a stream and puts it out, the last of those that count. */
static gboolean
submit_in_time(const Frames *f, CnvPlan *plan, const TestRun *pair, int i, GError **error)
{
  const int n = plan->n_moments;
  CnvMoment moment[CNV_MAX_MOMENTS];
  CnvWork work = CNV_WORK_ALL(&plan);
  CnvFrame in = {.memory = CNV_MEMORY_HISTORY, .slot = i % n};
  int slot[CNV_MAX_MOMENTS];

  for (int k = 0; k < n; k++)
    slot[k] = (i + 1 + k) % n;
  work.moment = moment;
  work.n_moments = cnv_moments_make(plan, slot, CNV_TEMPORAL_REPLICATE, moment);
  return cnv_session_keep(f->variant->session, i % n, &pair->from, error) &&
         cnv_session_submit(f->variant->session, &work, &in, &pair->to, error);
}

/* Frames of one batch, back to back; plan is filtered with, or copied by. */
static double
batch_us(const Frames *f, CnvPlan *plan, gboolean copy, int count)
{
  CnvSession *session = f->variant->session;
  const CnvWork work = {
      .plan = &plan, .n_plans = 1, .everything = f->region.rect.width == 0, .region = &f->region, .n_regions = 1};
  GError *error = NULL;

  test_timer_start(session);
  for (int i = 0; i < count && !error; i++) {
    const TestRun *pair = &f->pair[i % f->n_pairs];

    if (copy)
      test_copy(session, plan, &pair->from, &pair->to, &error);
    else if (plan->n_moments > 1)
      submit_in_time(f, plan, pair, i, &error);
    else
      cnv_session_submit(session, &work, &pair->from, &pair->to, &error);
  }
  if (error)
    g_error("%s: %s", session->backend->name, error->message);
  return test_timer_stop(session) / count;
}

static int
by_value(const void *a, const void *b)
{
  const double x = *(const double *)a, y = *(const double *)b;

  return (x > y) - (x < y);
}

static Timing
measure(const Frames *f, CnvPlan *plan, gboolean copy)
{
  const int count = f->variant->memory == CNV_MEMORY_DEVICE ? MAX(BATCH_MIN, f->n_pairs) : 1;
  double us[REPEATS_MAX], spent = 0;
  int n = 0;

  batch_us(f, plan, copy, count); /* clocks and caches warm up */
  while (n < REPEATS_MIN || (n < REPEATS_MAX && spent < MEASURE_US)) {
    us[n] = batch_us(f, plan, copy, count);
    spent += us[n++] * count;
  }
  cnv_session_wait(f->variant->session, NULL);
  qsort(us, n, sizeof *us, by_value);
  return (Timing){us[n / 2], us[0], us[n - 1], n};
}

static TestCase
small_case(const BenchCase *c)
{
  static const TestRegions square = {"a square", 1, 1, {{{50, 30, 20, 20}, 0}}};

  return (TestCase){.filter = test_filter_find(c->filter),
                    .radius = c->radius,
                    .format = c->format,
                    .width = 128,
                    .height = 72,
                    .border = CNV_BORDER_REPLICATE,
                    .pattern = TEST_NOISE,
                    .out = {.guard = 64},
                    .regions = c->region ? &square : NULL};
}

static double
products_max(const TestVariant *v)
{
  if (v->memory == CNV_MEMORY_DEVICE)
    return GPU_PRODUCTS_MAX;
  return v->algorithm == CNV_ALGORITHM_NAIVE ? CPU_NAIVE_MAX : CPU_PRODUCTS_MAX;
}

/* Three frames of taps that are no multiples of each other: the kernel, turned round, and again. */
static void
make_volume(CnvFilter *filter)
{
  CnvTaps *flat = filter->kernel;
  const int n = flat->width * flat->height;

  filter->kernel = cnv_taps_new_volume(flat->width, flat->height, 3, NULL);
  for (int i = 0; i < 3 * n; i++)
    filter->kernel->value[i] = i / n == 1 ? flat->value[n - 1 - i % n] : flat->value[i % n];
  cnv_taps_unref(flat);
}

/* NULL where the algorithm cannot, or the CPU would take too long. */
static CnvPlan *
bench_plan(const BenchCase *c, const TestVariant *v)
{
  TestCase test = small_case(c);
  CnvFilter filter;
  CnvImage image;
  CnvPlan *plan;

  test.width = c->width;
  test.height = c->height;
  test_image_make(&test, &image);
  test_filter_make(test.filter, test.radius, test_options.seed, &filter);
  filter.temporal_radius = c->time;
  if (c->volume)
    make_volume(&filter);
  plan = cnv_plan_new(&filter, &image, v->algorithm, v->backend, NULL);
  cnv_filter_clear(&filter);
  if (plan && !c->region && test_plan_products(plan) > products_max(v))
    g_clear_pointer(&plan, cnv_plan_unref);
  return plan;
}

static void
print_row(FILE *csv, const BenchCase *c, const Frames *f, const char *algorithm, Timing t, double copy_us)
{
  const double gigabytes = 2.0 * f->bytes / t.median / 1e3;
  const int n_frames = c->volume ? 3 : 2 * c->time + 1;

  printf("%-5s %-10s %-10s %4dx%-4d %-12s %3d %6d %6d %11.1f %11.1f %11.1f %8.1f %7.2f %4d\n",
         f->variant->backend->name, algorithm, c->format, c->width, c->height, c->filter, c->radius, c->region,
         n_frames, t.median, t.min, t.max, gigabytes, t.median / copy_us, t.repeats);
  fflush(stdout);
  if (csv)
    fprintf(csv, "%s,%s,%s,%d,%d,%s,%d,%d,%d,%.2f,%.2f,%.2f,%" G_GSIZE_FORMAT ",%.1f,%.3f,%d\n",
            f->variant->backend->name, algorithm, c->format, c->width, c->height, c->filter, c->radius, c->region,
            n_frames, t.median, t.min, t.max, 2 * f->bytes, gigabytes, t.median / copy_us, t.repeats);
}

static void
bench_case(const BenchCase *c, CnvMemory memory, const CnvBackend *backend, FILE *csv)
{
  double copy_us = 0;
  Frames frames;

  for (guint i = 0; i < test_variants->len; i++) {
    const TestVariant *v = &g_array_index(test_variants, TestVariant, i);
    CnvPlan *plan = v->backend == backend && v->memory == memory ? bench_plan(c, v) : NULL;

    if (!plan)
      continue;
    frames_init(&frames, c, v);
    if (plan->n_moments > 1 && !cnv_session_reserve(v->session, &plan->image, plan->n_moments, NULL))
      g_error("no room for %d frames", plan->n_moments);
    if (copy_us == 0) {
      Timing copy = measure(&frames, plan, TRUE);

      copy_us = copy.median;
      print_row(csv, c, &frames, "copy", copy, copy_us);
    }
    print_row(csv, c, &frames, cnv_algorithm_nicks[v->algorithm].nick, measure(&frames, plan, FALSE), copy_us);
    frames_clear(&frames);
    cnv_session_reserve(v->session, &plan->image, 0, NULL);
    cnv_plan_unref(plan);
  }
}

static guint
check_small(void)
{
  for (guint i = 0; i < G_N_ELEMENTS(bench_cases); i++) {
    TestCase c = small_case(&bench_cases[i]);

    test_case_run(&c);
  }
  return test_cases_finish("benchmark's cases");
}

int
test_bench(const char *output)
{
  FILE *csv = output ? fopen(output, "w") : NULL;
  guint failures;

  if (output && !csv) {
    perror(output);
    return EXIT_FAILURE;
  }
  failures = check_small();
  if (csv)
    fputs("backend,algorithm,format,width,height,filter,radius,region,frames,us_median,us_min,us_max,bytes,gb_per_s,"
          "times_copy,"
          "repeats\n",
          csv);
  printf("%-5s %-10s %-10s %-9s %-12s %3s %6s %6s %11s %11s %11s %8s %7s %4s\n", "on", "algorithm", "format", "size",
         "filter", "r", "region", "frames", "us median", "us min", "us max", "GB/s", "x copy", "n");
  for (int b = 0; cnv_backends[b] && !failures; b++)
    for (guint i = 0; i < G_N_ELEMENTS(bench_cases); i++)
      bench_case(&bench_cases[i], cnv_backends[b]->takes_device_memory ? CNV_MEMORY_DEVICE : CNV_MEMORY_HOST,
                 cnv_backends[b], csv);
  if (csv)
    fclose(csv);
  return failures ? EXIT_FAILURE : EXIT_SUCCESS;
}
