/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * What the benchmark times, and whether that is right.
 */
#include "plan/plan.h"
#include "bench/bench.h"

#define WIDTH 128 /* of the frames that are checked */
#define HEIGHT 72

#define UHD(format, filter, ...)                                                                                       \
  {                                                                                                                    \
    format, 3840, 2160, filter, __VA_ARGS__                                                                            \
  }

const BenchCase bench_cases[] = {
    UHD("NV12", "gaussian", 1),
    UHD("NV12", "gaussian", 2),
    UHD("NV12", "gaussian", 3),
    UHD("NV12", "gaussian", 4),
    UHD("NV12", "gaussian", 8),
    UHD("NV12", "gaussian", 16),
    UHD("NV12", "gaussian", 32),
    UHD("NV12", "gaussian", 48),
    UHD("NV12", "gaussian", 64),
    UHD("NV12", "gaussian", 128),
    UHD("GRAY8", "gaussian", 1),
    UHD("GRAY8", "gaussian", 2),
    UHD("GRAY8", "gaussian", 3),
    UHD("GRAY8", "gaussian", 4),
    UHD("GRAY8", "gaussian", 7),
    UHD("GRAY8", "gaussian", 8),
    UHD("GRAY8", "gaussian", 15),
    UHD("GRAY8", "gaussian", 16),
    UHD("GRAY8", "gaussian", 32),
    UHD("GRAY16_LE", "gaussian", 2),
    UHD("GRAY16_LE", "gaussian", 8),
    UHD("GRAY16_LE", "gaussian", 16),
    UHD("GRAY16_LE", "gaussian", 24),
    UHD("GRAY16_LE", "gaussian", 32),
    UHD("GRAY16_LE", "gaussian", 48),
    UHD("RGBA", "gaussian", 1),
    UHD("RGBA", "gaussian", 2),
    UHD("RGBA", "gaussian", 3),
    UHD("RGBA", "gaussian", 4),
    UHD("RGBA", "gaussian", 8),
    UHD("RGBA", "gaussian", 32),
    UHD("P010_10LE", "gaussian", 2),
    UHD("P010_10LE", "gaussian", 8),
    UHD("P010_10LE", "gaussian", 16),
    UHD("P010_10LE", "gaussian", 64),
    {"GRAY8", 1920, 1080, "gaussian", 8},
    {"NV12", 640, 360, "gaussian", 8},
    UHD("NV12", "dense-3x3", 0),
    UHD("NV12", "dense-5x5", 0),
    UHD("NV12", "dense-7x7", 0),
    UHD("NV12", "dense-17x17", 0),
    UHD("NV12", "dense-31x31", 0),
    UHD("GRAY8", "dense-3x3", 0),
    UHD("GRAY8", "dense-5x5", 0),
    UHD("GRAY8", "dense-7x7", 0),
    UHD("GRAY8", "dense-17x17", 0),
    UHD("GRAY8", "dense-31x31", 0),
    UHD("NV12", "sharpen", 0),
    UHD("NV12", "unsharp", 2),
    UHD("NV12", "unsharp", 8),
    UHD("NV12", "sobel", 1),
    UHD("NV12", "gaussian", 8, .region = 200),
    UHD("NV12", "identity", 0, .time = 1),
    UHD("NV12", "identity", 0, .time = 2),
    UHD("NV12", "gaussian", 2, .time = 2),
    UHD("NV12", "dense-3x3", 0, .depth = 3),
    UHD("NV12", "dense-5x5", 0, .depth = 5),
    {NULL},
};

int
bench_case_frames(const BenchCase *c)
{
  return MAX(c->depth, 2 * c->time + 1);
}

char *
bench_case_name(const BenchCase *c)
{
  GString *name = g_string_new(NULL);

  g_string_printf(name, "%s %dx%d %s", c->format, c->width, c->height, c->filter);
  if (c->radius > 0)
    g_string_append_printf(name, " r=%d", c->radius);
  if (c->region > 0)
    g_string_append_printf(name, ", region %dx%d", c->region, c->region);
  if (bench_case_frames(c) > 1)
    g_string_append_printf(name, ", %d frames", bench_case_frames(c));
  return g_string_free(name, FALSE);
}

static TestCase
small_case(const BenchCase *c)
{
  static const TestRegions square = {"a square", 1, 1, {{{50, 30, 20, 20}, 0}}};

  return (TestCase){.filter = test_filter_find(c->filter),
                    .radius = c->radius,
                    .format = c->format,
                    .width = WIDTH,
                    .height = HEIGHT,
                    .border = CNV_BORDER_REPLICATE,
                    .pattern = TEST_NOISE,
                    .out = {.guard = 64},
                    .regions = c->region ? &square : NULL};
}

/* Frames of taps by turns as they are and turned round, so that they are no multiples of each other. */
static void
make_volume(CnvFilter *filter, int depth)
{
  CnvTaps *flat = filter->kernel;
  const int n = flat->width * flat->height;

  filter->kernel = cnv_taps_new_volume(flat->width, flat->height, depth, NULL);
  for (int i = 0; i < depth * n; i++)
    filter->kernel->value[i] = i / n % 2 == 1 ? flat->value[n - 1 - i % n] : flat->value[i % n];
  cnv_taps_unref(flat);
}

static CnvPlan *
make_plan(const BenchCase *c, int width, int height, const CnvBackend *backend, CnvAlgorithm algorithm)
{
  TestCase test = small_case(c);
  CnvFilter filter;
  CnvImage image;
  CnvPlan *plan;

  test.width = width;
  test.height = height;
  test_image_make(&test, &image);
  test_filter_make(test.filter, test.radius, test_options.seed, &filter);
  filter.border = CNV_BORDER_REPLICATE;
  filter.temporal_radius = c->time;
  if (c->depth > 0)
    make_volume(&filter, c->depth);
  plan = cnv_plan_new(&filter, &image, algorithm, backend, NULL);
  cnv_filter_clear(&filter);
  return plan;
}

CnvPlan *
bench_case_plan(const BenchCase *c, const CnvBackend *backend, CnvAlgorithm algorithm, double max_products)
{
  CnvPlan *plan = make_plan(c, c->width, c->height, backend, algorithm);

  if (plan && !c->region && test_plan_products(plan) * (c->depth > 0 ? 1 : plan->n_temporal_taps) > max_products)
    g_clear_pointer(&plan, cnv_plan_unref);
  return plan;
}

/* All frames of the clip are kept, and the one that all of them count for is put out. */
static gboolean
submit_clip(CnvSession *session, CnvPlan *plan, TestRun *run, GError **error)
{
  const CnvFrame in = {.memory = CNV_MEMORY_HISTORY, .slot = plan->center};
  CnvTemporalTap temporal_tap[CNV_MAX_TEMPORAL_TAPS];
  int slot[CNV_MAX_TEMPORAL_TAPS];
  CnvWork work = CNV_WORK_ALL(&plan);

  if (!cnv_session_history_alloc(session, &plan->image, plan->n_temporal_taps, error))
    return FALSE;
  for (int k = 0; k < plan->n_temporal_taps; k++) {
    slot[k] = k;
    if (!cnv_session_history_push(session, k, &run[k].from, FALSE, error))
      return FALSE;
  }
  work.temporal_tap = temporal_tap;
  work.n_temporal_taps = cnv_temporal_taps_make(plan, slot, CNV_TEMPORAL_REPLICATE, temporal_tap);
  return cnv_session_submit(session, &work, &in, &run[0].to, error) && cnv_session_wait(session, error);
}

static void
run_clip(const BenchCase *c, const TestVariant *v, CnvPlan *plan)
{
  const TestLayout plain = {0, 0, 0}, guarded = {64, 0, 0};
  const CnvWork work = CNV_WORK_ALL(&plan);
  const int n = plan->n_temporal_taps;
  char *variant = test_variant_name(v), *name = bench_case_name(c);
  char *what = g_strdup_printf("%s, %s", variant, name);
  TestFrame in[CNV_MAX_TEMPORAL_TAPS], out;
  TestRun run[CNV_MAX_TEMPORAL_TAPS];
  CnvFrame view[CNV_MAX_TEMPORAL_TAPS];
  const OracleClip clip = {.frame = view, .end = n, .now = plan->center, .border = CNV_TEMPORAL_REPLICATE};
  GError *error = NULL;

  test_frame_init(&out, plan->image.format, WIDTH, HEIGHT, guarded);
  for (int k = 0; k < n; k++) {
    test_frame_init(&in[k], plan->image.format, WIDTH, HEIGHT, plain);
    test_frame_fill(&in[k], TEST_NOISE, test_options.seed + k);
    test_frame_view(&in[k], &view[k]);
    test_run_init(&run[k], v->memory, &in[k], &out);
  }
  if (!submit_clip(v->session, plan, run, &error))
    test_fail("%s: %s", what, error->message);
  for (int k = n - 1; k >= 0; k--) /* the first one last: its output counts */
    test_run_finish(&run[k]);
  if (!error)
    test_clip_check(&work, &clip, &in[plan->center], &out, what);
  cnv_session_history_alloc(v->session, &plan->image, 0, NULL);
  for (int k = 0; k < n; k++)
    test_frame_clear(&in[k]);
  test_frame_clear(&out);
  g_clear_error(&error);
  g_free(what);
  g_free(name);
  g_free(variant);
}

static void
check_clip(const BenchCase *c)
{
  for (guint i = 0; i < test_variants->len; i++) {
    const TestVariant *v = &g_array_index(test_variants, TestVariant, i);
    CnvPlan *plan = make_plan(c, WIDTH, HEIGHT, v->backend, v->algorithm);

    if (plan)
      run_clip(c, v, plan);
    cnv_plan_unref(plan);
  }
}

guint
bench_case_check(const BenchCase *c)
{
  TestCase test = small_case(c);
  char *name = bench_case_name(c);
  guint failures;

  if (bench_case_frames(c) > 1)
    check_clip(c);
  else
    test_case_run(&test);
  failures = test_cases_finish(name);
  g_free(name);
  return failures;
}
