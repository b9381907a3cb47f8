/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Wide gaussians by auto on a GPU, which filters decimated samples. They keep the contract of the arithmetic, compared
 * with the oracle; they use this method and no other; and flat content stays flat.
 */
#include <gst/check/gstcheck.h>

#include <string.h>

#include "support/cases.h"

#define MOST_INEXACT 0.01 /* largest share of samples that differ; flat content has none */

typedef struct {
  const char *format;
  int width, height, radius;
  CnvBorder border;
  double scale;
  gboolean decimates;
  const TestRegions *parts; /* NULL: the whole frame */
  int other;                /* radius of plan 1; 0: there is only one plan */
  gboolean in_place, interlaced;
  CnvAlgorithm algorithm; /* AUTO or TENSOR */
} Row;

static const TestRegions two = {
    "two, with feather", 1, 2, {{{31, 45, 90, 111}, 0}, {{100, 80, 99, 33}, 0}}, .feather = 7};
static const TestRegions ellipse = {"an ellipse", 1, 1, {{{20, 31, 201, 160}, 0, CNV_SHAPE_ELLIPSE}}};
static const TestRegions inverted = {
    "an ellipse, inverted", 1, 1, {{{20, 31, 121, 160}, 0, CNV_SHAPE_ELLIPSE}}, .invert = TRUE};
/* An ellipse after the first tiles of three channels, which are 128 pixels wide. */
static const TestRegions far_ellipse = {"a far ellipse", 1, 1, {{{271, 83, 101, 110}, 0, CNV_SHAPE_ELLIPSE}}};
static const TestRegions moved = {"moved",       1, 1, {{{8, 6, 180, 176}, 0}}, .moved = TRUE, .target_x = 31,
                                  .target_y = 21};
static const TestRegions moved_soft = {
    "moved, with feather", 1, 1, {{{28, 26, 140, 136}, 0}}, .feather = 6, .moved = TRUE, .target_x = 51,
    .target_y = 41};
static const TestRegions isolated = {"isolated", 1, 1, {{{20, 31, 201, 160}, 0}}, .isolated = TRUE};
static const TestRegions isolated_ellipse = {
    "an isolated ellipse", 1, 1, {{{20, 31, 201, 160}, 0, CNV_SHAPE_ELLIPSE}}, .isolated = TRUE};
static const TestRegions of_plans = {
    "of two plans", 2, 2, {{{11, 15, 160, 161}, 0}, {{100, 60, 130, 140}, 1, CNV_SHAPE_ELLIPSE}}, .feather = 5};
/* More jobs than a launch can have in its arguments. */
static const TestRegions many = {"many of two plans",
                                 2,
                                 6,
                                 {{{3, 5, 61, 40}, 0},
                                  {{90, 7, 61, 40}, 0},
                                  {{180, 3, 60, 41}, 0},
                                  {{5, 90, 60, 40}, 1},
                                  {{91, 92, 61, 50}, 0},
                                  {{170, 101, 70, 40}, 1}}};

/* As `many`, but for longer taps, with which neighbours would become one job. */
static const TestRegions far_apart = {"far apart, of two plans",
                                      2,
                                      6,
                                      {{{3, 5, 61, 40}, 0},
                                       {{730, 7, 61, 40}, 0},
                                       {{5, 740, 60, 41}, 0},
                                       {{733, 738, 60, 40}, 0},
                                       {{11, 372, 61, 50}, 1},
                                       {{720, 381, 70, 40}, 1}}};

static const Row rows[] = {
    {"GRAY8", 261, 243, 40, CNV_BORDER_REPLICATE, 1, TRUE},
    {"GRAY8", 261, 243, 40, CNV_BORDER_CONSTANT, 1, TRUE, &two},
    {"GRAY8", 340, 301, 48, CNV_BORDER_REFLECT, 0.7, TRUE, &ellipse},
    {"GRAY8", 261, 243, 60, CNV_BORDER_REPLICATE, 1, TRUE, .algorithm = CNV_ALGORITHM_TENSOR},
    {"GRAY8", 1100, 1030, 200, CNV_BORDER_REPLICATE, 1, TRUE, .algorithm = CNV_ALGORITHM_TENSOR}, /* decimated twice */
    {"GRAY8", 700, 690, 24, CNV_BORDER_REPLICATE, 1, FALSE}, /* the kernel kind blur is faster */
    {"GRAY8", 261, 241, 40, CNV_BORDER_REPLICATE, 1, FALSE}, /* the frame is too small */
    {"NV12", 301, 283, 46, CNV_BORDER_WRAP, 1, TRUE},
    {"NV12", 420, 411, 64, CNV_BORDER_REPLICATE, 1, TRUE, &moved},
    /* The tiles of chroma have fewer rows than those of luma, on the stand-in driver and on a large GPU. */
    {"NV12", 420, 380, 46, CNV_BORDER_REPLICATE, 1, TRUE},
    {"NV12", 2560, 2300, 48, CNV_BORDER_REPLICATE, 1, TRUE},
    {"I420", 301, 283, 46, CNV_BORDER_REFLECT_101, 1, TRUE},
    {"RGB", 231, 217, 35, CNV_BORDER_REPLICATE, 1, TRUE},
    {"RGBA", 231, 217, 35, CNV_BORDER_REFLECT, 1, TRUE, &two},
    {"RGBA", 231, 217, 32, CNV_BORDER_CONSTANT, 1, TRUE},
    {"RGBA", 800, 790, 120, CNV_BORDER_REPLICATE, 1, TRUE}, /* decimated twice */
    {"ARGB", 281, 277, 45, CNV_BORDER_REPLICATE, 1, TRUE},
    {"GRAY8", 261, 243, 40, CNV_BORDER_RENORMALIZE, 1, FALSE},
    {"P010_10LE", 590, 583, 96, CNV_BORDER_REPLICATE, 1, TRUE},
    {"GRAY16_LE", 261, 243, 40, CNV_BORDER_REPLICATE, 1, FALSE},
    /* Tiles of weight 0 are copied. The width of RGB's tiles is no power of two. */
    {"RGB", 431, 217, 35, CNV_BORDER_REPLICATE, 1, TRUE, &far_ellipse},
    {"RGBA", 431, 217, 35, CNV_BORDER_REPLICATE, 1, TRUE, &far_ellipse},
    {"NV12", 431, 301, 46, CNV_BORDER_REPLICATE, 1, TRUE, &inverted},
    {"P010_10LE", 590, 583, 96, CNV_BORDER_REPLICATE, 1, TRUE, &far_ellipse},
    /* One or both plans are decimated. */
    {"GRAY8", 301, 291, 40, CNV_BORDER_REPLICATE, 1, TRUE, &of_plans, .other = 47},
    {"NV12", 301, 291, 46, CNV_BORDER_REFLECT, 1, TRUE, &of_plans, .other = 8},
    {"RGBA", 301, 291, 33, CNV_BORDER_REPLICATE, 1, TRUE, &of_plans, .other = 46},
    {"NV12", 301, 291, 46, CNV_BORDER_REPLICATE, 1, TRUE, &many, .other = 40},
    {"GRAY8", 301, 291, 48, CNV_BORDER_REPLICATE, 1, TRUE, &many, .other = 3},
    {"RGBA", 800, 790, 120, CNV_BORDER_REPLICATE, 1, TRUE, &far_apart, .other = 104}, /* decimated twice */
    /* In the input's memory. */
    {"GRAY8", 340, 301, 48, CNV_BORDER_REPLICATE, 1, TRUE, &ellipse, .in_place = TRUE},
    {"RGB", 431, 217, 35, CNV_BORDER_REPLICATE, 1, TRUE, &far_ellipse, .in_place = TRUE},
    {"RGBA", 231, 217, 35, CNV_BORDER_REFLECT, 1, TRUE, &two, .in_place = TRUE},
    {"NV12", 301, 291, 46, CNV_BORDER_REPLICATE, 1, TRUE, &of_plans, .other = 40, .in_place = TRUE},
    {"NV12", 301, 291, 46, CNV_BORDER_REPLICATE, 1, TRUE, &many, .other = 8, .in_place = TRUE},
    /* Windows may be smaller than the plane, so these are not decimated. */
    {"GRAY8", 261, 243, 40, CNV_BORDER_REPLICATE, 1, FALSE, &isolated},
    {"GRAY8", 261, 243, 40, CNV_BORDER_REPLICATE, 1, FALSE, &isolated_ellipse},
    {"NV12", 301, 283, 46, CNV_BORDER_REPLICATE, 1, FALSE, .interlaced = TRUE},
    /* Tiles cannot blend with samples of another place, so this is not decimated. */
    {"GRAY8", 261, 243, 40, CNV_BORDER_REPLICATE, 1, FALSE, &moved_soft},
};

/* Contents besides noise: dark noise, flat values, and a ramp, for which f16 numbers near 128 were too coarse. */
static guint
dark_value(gpointer data, int plane, int channel, int x, int y, guint full)
{
  return test_random(data) % (24 * (full + 1) / 256);
}

static guint
flat_value(gpointer data, int plane, int channel, int x, int y, guint full)
{
  return full * 3 / 4 + plane + channel;
}

static guint
ramp_value(gpointer data, int plane, int channel, int x, int y, guint full)
{
  return (guint)(x * 7 + y * 3 + plane + channel) * full / 255 / 16 % (full + 1);
}

typedef guint (*ValueAt)(gpointer data, int plane, int channel, int x, int y, guint full);

static const struct {
  const char *name;
  ValueAt value; /* NULL: noise */
} contents[] = {{"noise", NULL}, {"dark", dark_value}, {"flat", flat_value}, {"a ramp", ramp_value}};

/* Returns the share of samples that differ from the result of all taps. Only for samples of one byte. */
static double
inexact_share(CnvSession *session, const CnvFilter *filter, const CnvImage *image, CnvWork work, const TestFrame *in,
              const TestFrame *out)
{
  CnvPlan *plan = cnv_plan_new(filter, image, CNV_ALGORITHM_SEPARABLE, cnv_backend_find("cuda"), NULL);
  guint64 samples = 0, different = 0;
  TestFrame exact;
  TestRun run;

  ck_assert(plan != NULL);
  work.plan = &plan;
  test_frame_init(&exact, image->format, image->width, image->height, (TestLayout){64, 1, 7});
  test_run_init(&run, CNV_MEMORY_HOST, in, &exact);
  ck_assert(cnv_session_submit(session, &work, &run.from, &run.to, NULL) && cnv_session_wait(session, NULL));
  test_run_finish(&run);
  for (int p = 0; p < CNV_MAX_PLANES && in->plane[p].block; p++)
    for (int y = 0; y < out->plane[p].rows; y++) {
      const guint8 *one = out->plane[p].block + out->plane[p].start + (gsize)y * out->plane[p].stride;
      const guint8 *other = exact.plane[p].block + exact.plane[p].start + (gsize)y * exact.plane[p].stride;

      samples += out->plane[p].row_bytes;
      for (int x = 0; x < out->plane[p].row_bytes; x++)
        different += one[x] != other[x];
    }
  test_frame_clear(&exact);
  cnv_plan_unref(plan);
  return (double)different / samples;
}

/* Returns the work of a row. plan: has a second plan if the row has another radius. */
static CnvWork
work_of(const Row *row, CnvPlan *const *plan)
{
  CnvWork work = CNV_WORK_ALL(plan);

  work.interlaced = row->interlaced;
  work.n_plans = row->other ? 2 : 1;
  if (!row->parts)
    return work;
  work.whole_frame = FALSE;
  work.region = row->parts->region;
  work.n_regions = row->parts->n_regions;
  work.feather = row->parts->feather;
  work.invert = row->parts->invert;
  work.isolated = row->parts->isolated;
  work.moved = row->parts->moved;
  work.target_x = row->parts->target_x;
  work.target_y = row->parts->target_y;
  return work;
}

static CnvPlan *
plan_of(const Row *row, const CnvImage *image, int radius, CnvFilter *resolved)
{
  const TestFilter filter = {
      .name = "wide", .type = CNV_FILTER_GAUSSIAN, .radius_x = -1, .radius_y = -1, .scale = row->scale};
  GError *error = NULL;
  CnvPlan *plan;

  test_filter_make(&filter, radius, test_options.seed, resolved);
  resolved->border = row->border;
  resolved->border_color = 0xff3060c0;
  plan = cnv_plan_new(resolved, image, row->algorithm, cnv_backend_find("cuda"), &error);
  ck_assert_msg(plan != NULL, "%s, radius %d: %s", row->format, radius, error ? error->message : "");
  return plan;
}

static void
run_work(CnvSession *session, const Row *row, const CnvWork *work, const TestFrame *in, TestFrame *out,
         const char *what)
{
  GError *error = NULL;
  TestRun run;

  for (int m = 0; m < CNV_MAX_PLANES && row->in_place; m++)
    if (in->plane[m].block)
      memcpy(out->plane[m].block, in->plane[m].block, in->plane[m].size);
  test_run_init(&run, row->in_place ? CNV_MEMORY_DEVICE : CNV_MEMORY_HOST, in, out);
  ck_assert_msg(cnv_session_submit(session, work, row->in_place ? &run.to : &run.from, &run.to, &error) &&
                    cnv_session_wait(session, &error),
                "%s: %s", what, error ? error->message : "");
  test_run_finish(&run);
}

static void
run_row(CnvSession *session, const Row *row, guint content)
{
  const CnvImage image = {cnv_format_find(row->format), row->width, row->height, 0.2126, 0.0722, FALSE};
  g_autofree char *what =
      g_strdup_printf("%s %dx%d, radius %d, %s, %s%s", row->format, row->width, row->height, row->radius,
                      contents[content].name, row->parts ? row->parts->name : "all", row->in_place ? ", in place" : "");
  const TestLayout layout = {0, 0, 5}, other_layout = {64, 1, 7};
  gboolean keeps_flat = row->border != CNV_BORDER_CONSTANT && row->scale == 1;
  guint32 seed = test_options.seed + content;
  CnvFilter resolved[2];
  CnvPlan *plan[2] = {plan_of(row, &image, row->radius, &resolved[0])};
  CnvWork work = work_of(row, plan);
  TestFrame in, out;

  if (row->other)
    plan[1] = plan_of(row, &image, row->other, &resolved[1]);
  test_frame_init(&in, image.format, image.width, image.height, layout);
  test_frame_init(&out, image.format, image.width, image.height, row->in_place ? layout : other_layout);
  if (contents[content].value)
    test_frame_fill_with(&in, contents[content].value, &seed);
  else
    test_frame_fill(&in, TEST_NOISE, seed);
  run_work(session, row, &work, &in, &out, what);
  if (test_has_method(session->stats.method, "decimated") != row->decimates)
    test_fail("%s: by %s", what, session->stats.method[0]);
  test_output_check(&work, &in, &out, what);
  if (row->decimates && !row->other && strcmp(row->format, "P010_10LE") != 0) {
    double share = inexact_share(session, &resolved[0], &image, work, &in, &out);

    if (share > (contents[content].value == flat_value && keeps_flat ? 0 : MOST_INEXACT))
      test_fail("%s: %.2f percent of samples differ from those of all taps", what, 100 * share);
  }
  test_frame_clear(&in);
  test_frame_clear(&out);
  for (guint i = 0; i < work.n_plans; i++) {
    cnv_plan_unref(plan[i]);
    cnv_filter_clear(&resolved[i]);
  }
}

START_TEST(test_decimated)
{
  const CnvBackend *cuda = cnv_backend_find("cuda");
  const CnvSessionOptions options = {.device = 0};
  CnvSession *session = NULL;
  int step = test_options.extent == TEST_QUICK ? test_options.quick_step : 1;

  if (cuda && (!test_options.backend || strcmp(test_options.backend, "cuda") == 0) && cuda->probe(-1, NULL))
    session = cuda->open(&options, NULL);
  if (!session) {
    g_printerr("no GPU: no wide gaussians by decimated samples\n");
    return;
  }
  for (guint i = 0; i < G_N_ELEMENTS(rows) * G_N_ELEMENTS(contents); i++)
    if ((int)(i + i / G_N_ELEMENTS(contents)) % step == 0)
      run_row(session, &rows[i / G_N_ELEMENTS(contents)], i % G_N_ELEMENTS(contents));
  cnv_session_close(session);
  test_set_finish("gaussians by decimated samples");
}
END_TEST

TCase *
test_decimated_tcase(void)
{
  TCase *tcase = tcase_create("decimated");

  tcase_add_test(tcase, test_decimated);
  return tcase;
}
