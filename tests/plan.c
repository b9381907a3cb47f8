/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Plans: what they are compared by, the numbers settled in them, and what is refused. On the CPU backend.
 */
#include <math.h>
#include <string.h>

#include <convolve/backend.h>

#include "suite.h"

static CnvImage
image_of(const char *format, int width, int height)
{
  return (CnvImage){cnv_format_find(format), width, height, 0.2126, 0.0722, FALSE};
}

static CnvFilter
filter_of(CnvFilterType type, int width, int height, const double *taps)
{
  CnvFilter filter;

  cnv_filter_init(&filter);
  filter.type = type;
  filter.kernel = taps ? cnv_taps_new(width, height, taps) : NULL;
  return filter;
}

static CnvPlan *
plan_of(const CnvFilter *filter, const CnvImage *image)
{
  GError *error = NULL;
  CnvPlan *plan = cnv_plan_new(filter, image, CNV_ALGORITHM_AUTO, cnv_backend_find("cpu"), &error);

  ck_assert_msg(plan != NULL, "no plan: %s", error ? error->message : "no error was set");
  return plan;
}

START_TEST(test_matches)
{
  const CnvBackend *cpu = cnv_backend_find("cpu");
  CnvFilter filter = filter_of(CNV_FILTER_GAUSSIAN, 0, 0, NULL);
  CnvImage image = image_of("NV12", 64, 48), other;
  CnvPlan *plan = plan_of(&filter, &image);

  ck_assert(cnv_plan_matches(plan, &filter, &image, CNV_ALGORITHM_AUTO, cpu));
  ck_assert(!cnv_plan_matches(plan, &filter, &image, CNV_ALGORITHM_NAIVE, cpu));
  ck_assert(!cnv_plan_matches(plan, &filter, &image, CNV_ALGORITHM_AUTO, NULL));
  other = image_of("NV21", 64, 48);
  ck_assert(!cnv_plan_matches(plan, &filter, &other, CNV_ALGORITHM_AUTO, cpu));
  other = image_of("NV12", 64, 47);
  ck_assert(!cnv_plan_matches(plan, &filter, &other, CNV_ALGORITHM_AUTO, cpu));
  other = image;
  other.full_range = TRUE;
  ck_assert(!cnv_plan_matches(plan, &filter, &other, CNV_ALGORITHM_AUTO, cpu));
  other = image;
  other.kr = 0.299;
  ck_assert(!cnv_plan_matches(plan, &filter, &other, CNV_ALGORITHM_AUTO, cpu));
  filter.bias = 0.25;
  ck_assert(!cnv_plan_matches(plan, &filter, &image, CNV_ALGORITHM_AUTO, cpu));
  cnv_plan_unref(plan);
}
END_TEST

/* What a plan was made from may change or go; the plan stays. */
START_TEST(test_owns_its_sources)
{
  static const double taps[] = {1, 2, 3};
  CnvFilter filter = filter_of(CNV_FILTER_CUSTOM, 3, 1, taps), same;
  CnvImage image = image_of("GRAY8", 10, 10);
  CnvPlan *plan = plan_of(&filter, &image);

  cnv_filter_copy(&same, &filter);
  cnv_filter_clear(&filter);
  memset(&filter, 0x55, sizeof filter);
  ck_assert(cnv_plan_matches(plan, &same, &image, CNV_ALGORITHM_AUTO, plan->backend));
  ck_assert_ptr_eq(cnv_plan_ref(plan), plan);
  cnv_plan_unref(plan);
  ck_assert(cnv_plan_matches(plan, &same, &image, CNV_ALGORITHM_AUTO, plan->backend));
  cnv_plan_unref(plan);
  cnv_filter_clear(&same);
}
END_TEST

/* A flat frame of value v gives gain * sum * (v - mid) + base + fraction: that must be scale * v + bias * full, and for
 * chroma mid + scale * (v - mid). */
static void
check_flat(const CnvPlan *plan)
{
  const CnvFilter *f = &plan->filter;

  for (int p = 0; p < plan->image.format->n_planes; p++) {
    const CnvPlanePlan *plane = &plan->plane[p];
    const double through = (double)plane->gain * plane->taps.sum[CNV_X] * plane->taps.sum[CNV_Y];

    for (int c = 0; c < plane->channels; c++) {
      const double offset = (double)plane->base[c] + plane->fraction[c];
      const guint role = plan->image.format->plane[p].role[c];
      const gboolean chroma = role == CNV_ROLE_U || role == CNV_ROLE_V;

      if (!(plane->filtered >> c & 1))
        continue;
      ck_assert_msg(fmod(plane->base[c], 2) == 0, "plane %d channel %d: base %g is odd", p, c, plane->base[c]);
      ck_assert_msg(fabs(plane->fraction[c]) <= 1, "plane %d channel %d: fraction %g", p, c, plane->fraction[c]);
      ck_assert(fabs(through - f->scale) < 1e-6 * fabs(f->scale));
      ck_assert(fabs(offset - (chroma ? plan->mid : f->scale * plan->mid + f->bias * plan->full)) < 1e-3);
    }
  }
}

START_TEST(test_arithmetic)
{
  static const char *const formats[] = {"GRAY8", "NV12", "RGBA", "P010_10LE", "I420_12LE", "GRAY16_LE", "AYUV"};
  static const double taps[] = {0.1, 0.7, 0.3, 1.9, 0.2, 0.6};
  static const double scales[] = {1, 0.5, -2.25}, biases[] = {0, 0.5, -0.3};

  for (guint f = 0; f < G_N_ELEMENTS(formats); f++)
    for (guint s = 0; s < G_N_ELEMENTS(scales); s++)
      for (int dense = 0; dense < 2; dense++) {
        CnvFilter filter =
            dense ? filter_of(CNV_FILTER_CUSTOM, 3, 2, taps) : filter_of(CNV_FILTER_GAUSSIAN, 0, 0, NULL);
        CnvImage image = image_of(formats[f], 31, 17);
        CnvPlan *plan;

        filter.scale = scales[s];
        filter.bias = biases[s];
        plan = plan_of(&filter, &image);
        check_flat(plan);
        cnv_plan_unref(plan);
        cnv_filter_clear(&filter);
      }
}
END_TEST

START_TEST(test_planes)
{
  CnvFilter filter = filter_of(CNV_FILTER_GAUSSIAN, 0, 0, NULL);
  CnvImage image = image_of("A420", 31, 17);
  CnvPlan *plan = plan_of(&filter, &image);

  ck_assert_int_eq(plan->plane[0].width, 31);
  ck_assert_int_eq(plan->plane[1].width, 16);
  ck_assert_int_eq(plan->plane[1].height, 9);
  ck_assert_int_eq(plan->plane[0].taps.n[CNV_X], 17);
  ck_assert_int_eq(plan->plane[1].taps.n[CNV_X], 9);
  ck_assert_int_eq(plan->plane[1].taps.anchor[CNV_X], 4);
  ck_assert_int_eq(plan->plane[0].filtered, 1);
  ck_assert_int_eq(plan->plane[3].filtered, 0); /* alpha is copied */
  ck_assert_int_ne(plan->plane[0].algorithm, CNV_ALGORITHM_AUTO);
  ck_assert_int_eq(plan->plane[3].algorithm, CNV_ALGORITHM_AUTO);
  for (int p = 0; p < 3; p++) {
    const CnvTapSet *t = &plan->plane[p].taps;
    const float *taps = plan->taps + t->axis[CNV_X], *sums = taps + t->n[CNV_X];

    for (int i = 0; i < t->n[CNV_X]; i++)
      ck_assert(fabsf(sums[i + 1] - sums[i] - taps[i]) < 1e-6f);
    ck_assert(sums[0] == 0 && sums[t->n[CNV_X]] == t->sum[CNV_X]);
  }
  cnv_plan_unref(plan);
}
END_TEST

START_TEST(test_border_values)
{
  static const struct {
    const char *format;
    guint32 color;
    gboolean full_range;
    double expected[3]; /* Y U V, or R G B in the format's order */
  } rows[] = {
      {"I420", 0xff000000, FALSE, {16, 128, 128}},
      {"I420", 0xffffffff, FALSE, {235, 128, 128}},
      {"I420", 0xff000000, TRUE, {0, 128, 128}},
      {"I420", 0xff0000ff, FALSE, {32, 240, 118}},
      {"I420", 0xffff0000, FALSE, {63, 102, 240}},
      {"I420", 0xff0000ff, TRUE, {18, 255, 116}},
      {"I420_10LE", 0xffffffff, FALSE, {940, 512, 512}},
      {"I420_10LE", 0xff0000ff, FALSE, {127, 960, 471}},
      {"Y444_16LE", 0xffffffff, FALSE, {60160, 32768, 32768}},
      {"RGBP", 0xff204080, FALSE, {32, 64, 128}},
  };

  for (guint i = 0; i < G_N_ELEMENTS(rows); i++) {
    CnvFilter filter = filter_of(CNV_FILTER_BOX, 0, 0, NULL);
    CnvImage image = image_of(rows[i].format, 8, 8);
    CnvPlan *plan;

    filter.border = CNV_BORDER_CONSTANT;
    filter.border_color = rows[i].color;
    image.full_range = rows[i].full_range;
    plan = plan_of(&filter, &image);
    for (int p = 0; p < 3; p++)
      ck_assert_msg(plan->plane[p].border[0] + plan->mid == rows[i].expected[p], "row %u, %s plane %d: %g, not %g", i,
                    rows[i].format, p, plan->plane[p].border[0] + plan->mid, rows[i].expected[p]);
    cnv_plan_unref(plan);
  }
}
END_TEST

START_TEST(test_identity)
{
  static const double one[] = {1}, centre[] = {0, 5, 0}, aside[] = {5, 0, 0}, square[] = {0, 0, 0, 0, 2, 0, 0, 0, 0};
  static const struct {
    CnvFilterType type;
    int width, height;
    const double *taps;
    int radius;
    double scale, bias;
    gboolean identity;
  } rows[] = {
      {CNV_FILTER_IDENTITY, 0, 0, NULL, -1, 1, 0, TRUE},    {CNV_FILTER_IDENTITY, 0, 0, NULL, -1, 1.5, 0, FALSE},
      {CNV_FILTER_IDENTITY, 0, 0, NULL, -1, 1, 0.1, FALSE}, {CNV_FILTER_GAUSSIAN, 0, 0, NULL, 0, 1, 0, TRUE},
      {CNV_FILTER_GAUSSIAN, 0, 0, NULL, 1, 1, 0, FALSE},    {CNV_FILTER_BOX, 0, 0, NULL, 0, 1, 0, TRUE},
      {CNV_FILTER_CUSTOM, 1, 1, one, -1, 1, 0, TRUE},       {CNV_FILTER_CUSTOM, 3, 1, centre, -1, 1, 0, TRUE},
      {CNV_FILTER_CUSTOM, 3, 1, aside, -1, 1, 0, FALSE},    {CNV_FILTER_CUSTOM, 3, 3, square, -1, 1, 0, TRUE},
      {CNV_FILTER_CUSTOM, 1, 3, aside, -1, 1, 0, FALSE},
  };

  for (guint i = 0; i < G_N_ELEMENTS(rows); i++) {
    CnvFilter filter = filter_of(rows[i].type, rows[i].width, rows[i].height, rows[i].taps);
    CnvImage image = image_of("NV12", 16, 16);
    CnvPlan *plan;

    filter.radius = rows[i].radius;
    filter.scale = rows[i].scale;
    filter.bias = rows[i].bias;
    plan = plan_of(&filter, &image);
    ck_assert_msg(cnv_plan_is_identity(plan) == rows[i].identity, "row %u", i);
    cnv_plan_unref(plan);
    cnv_filter_clear(&filter);
  }
}
END_TEST

/* The reason and the choices are in the message. */
START_TEST(test_refusals)
{
  static const double dense[] = {1, 0, 0, 0, 1, 0, 0, 0, 1};
  const CnvBackend *cpu = cnv_backend_find("cpu");
  CnvFilter filter = filter_of(CNV_FILTER_CUSTOM, 3, 3, dense);
  CnvImage image = image_of("NV12", 16, 16);
  GError *error = NULL;

  ck_assert(cnv_plan_new(&filter, &image, CNV_ALGORITHM_SEPARABLE, cpu, &error) == NULL);
  ck_assert(g_error_matches(error, CNV_ERROR, CNV_ERROR_UNSUPPORTED));
  ck_assert_msg(strstr(error->message, "separable") && strstr(error->message, "3x3") &&
                    strstr(error->message, "choices: auto, naive"),
                "%s", error->message);
  g_clear_error(&error);
  cnv_filter_clear(&filter);

  filter = filter_of(CNV_FILTER_CUSTOM, 0, 0, NULL);
  ck_assert(cnv_plan_new(&filter, &image, CNV_ALGORITHM_AUTO, cpu, &error) == NULL);
  ck_assert(g_error_matches(error, CNV_ERROR, CNV_ERROR_SETTINGS));
  g_clear_error(&error);

  filter = filter_of(CNV_FILTER_BOX, 0, 0, NULL);
  image.width = CNV_SIZE_MAX + 1;
  ck_assert(cnv_plan_new(&filter, &image, CNV_ALGORITHM_AUTO, cpu, &error) == NULL);
  ck_assert_msg(strstr(error->message, "32769") && strstr(error->message, "32768"), "%s", error->message);
  g_clear_error(&error);
  ck_assert(cnv_plan_new(&filter, &image, CNV_ALGORITHM_AUTO, cpu, NULL) == NULL); /* nobody asks why */
}
END_TEST

static Suite *
plan_suite(void)
{
  Suite *suite = suite_create("plan");
  TCase *tcase = tcase_create("plan");

  suite_add_tcase(suite, tcase);
  tcase_add_test(tcase, test_matches);
  tcase_add_test(tcase, test_owns_its_sources);
  tcase_add_test(tcase, test_arithmetic);
  tcase_add_test(tcase, test_planes);
  tcase_add_test(tcase, test_border_values);
  tcase_add_test(tcase, test_identity);
  tcase_add_test(tcase, test_refusals);
  return suite;
}

int
main(void)
{
  return test_suite_run(plan_suite());
}
