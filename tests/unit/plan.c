/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Plans: the numbers in them, and rejected filters. On the CPU backend.
 */
#include <math.h>
#include <string.h>

#include "plan/plan.h"

#include "support/filter.h"
#include "support/suite.h"

static CnvImage
image_of(const char *format, int width, int height)
{
  return (CnvImage){cnv_format_find(format), width, height, 0.2126, 0.0722, FALSE};
}

static CnvFilter
filter_of(CnvFilterType type, int width, int height, const double *taps)
{
  CnvFilter filter;

  test_filter_init(&filter);
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

/* The sources of a plan may change or be freed; the plan does not change. */
START_TEST(test_owns_its_sources)
{
  static const double taps[] = {1, 2, 3};
  CnvFilter filter = filter_of(CNV_FILTER_CUSTOM, 3, 1, taps);
  CnvTaps *same = cnv_taps_new(3, 1, taps);
  CnvImage image = image_of("GRAY8", 10, 10);
  CnvPlan *plan = plan_of(&filter, &image);

  cnv_filter_clear(&filter);
  memset(&filter, 0x55, sizeof filter);
  memset(&image, 0x55, sizeof image);
  ck_assert(cnv_taps_equal(plan->filter.kernel, same) && plan->filter.type == CNV_FILTER_CUSTOM);
  ck_assert_ptr_eq(cnv_plan_ref(plan), plan);
  cnv_plan_unref(plan);
  ck_assert(cnv_taps_equal(plan->filter.kernel, same) && plan->filter.type == CNV_FILTER_CUSTOM);
  ck_assert(plan->image.format == cnv_format_find("GRAY8") && plan->image.width == 10 && plan->image.height == 10);
  cnv_plan_unref(plan);
  cnv_taps_unref(same);
}
END_TEST

/* A flat frame of value v gives gain * sum * (v - mid) + base + fraction. That must be scale * v + bias * full; for
 * chroma mid + scale * (v - mid), and for alpha v. */
static void
check_lane(const CnvPlan *plan, int p, int c, CnvRole role)
{
  const CnvFilter *f = &plan->filter;
  const CnvPlane *plane = &plan->plane[p];
  const gboolean chroma = role == CNV_ROLE_U || role == CNV_ROLE_V, alpha = role == CNV_ROLE_A;
  const int bits = cnv_format_depth(plan->image.format, role);
  const double through = (double)plane->gain[c] * plane->sum, scale = alpha ? 1 : f->scale;
  const double offset = (double)plane->base[c] + plane->fraction[c], bias = alpha ? 0 : f->bias;

  ck_assert_msg(fmod(plane->base[c], 2) == 0, "plane %d channel %d: base %g is odd", p, c, plane->base[c]);
  ck_assert_msg(fabs(plane->fraction[c]) <= 1, "plane %d channel %d: fraction %g", p, c, plane->fraction[c]);
  ck_assert(plane->mid[c] == 1 << (bits - 1) && plane->full[c] == (1 << bits) - 1);
  ck_assert(fabs(through - scale) < 1e-6 * fabs(scale));
  ck_assert(fabs(offset - (chroma ? plane->mid[c] : scale * plane->mid[c] + bias * plane->full[c])) < 1e-3);
}

static void
check_flat(const CnvPlan *plan)
{
  ck_assert_int_eq(plan->n_planes, plan->image.format->n_planes);
  for (int p = 0; p < plan->n_planes; p++)
    for (int c = 0; c < plan->plane[p].channels; c++)
      if (plan->plane[p].filtered >> c & 1)
        check_lane(plan, p, c, plan->image.format->plane[p].role[c]);
}

START_TEST(test_arithmetic)
{
  static const char *const formats[] = {"GRAY8",     "NV12", "RGBA", "P010_10LE", "I420_12LE",
                                        "GRAY16_LE", "AYUV", "UYVY", "RGB10A2_LE"};
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
        filter.alpha_mode = dense ? CNV_ALPHA_FILTER : CNV_ALPHA_COPY;
        plan = plan_of(&filter, &image);
        check_flat(plan);
        cnv_plan_unref(plan);
        cnv_filter_clear(&filter);
      }
}
END_TEST

/* If the sum of the taps is lost in rounding to float32, they are not divided by it. */
START_TEST(test_sum_lost)
{
  CnvFilter filter = filter_of(CNV_FILTER_CUSTOM, 2, 1, (const double[]){1, -1 + 3e-9});
  CnvImage image = image_of("GRAY8", 64, 48);
  CnvPlan *plan = plan_of(&filter, &image);

  ck_assert(plan->plane[0].gain[0] == 1 && plan->plane[0].base[0] == 0 && plan->plane[0].fraction[0] == 0);
  cnv_plan_unref(plan);
  cnv_filter_clear(&filter);
}
END_TEST

START_TEST(test_planes)
{
  CnvFilter filter = filter_of(CNV_FILTER_GAUSSIAN, 0, 0, NULL);
  CnvImage image = image_of("A420", 31, 17);
  CnvPlan *plan;

  filter.border = CNV_BORDER_RENORMALIZE; /* which uses prefix sums */
  plan = plan_of(&filter, &image);
  ck_assert_int_eq(plan->plane[0].width, 31);
  ck_assert_int_eq(plan->plane[1].width, 16);
  ck_assert_int_eq(plan->plane[1].height, 9);
  ck_assert_int_eq(plan->plane[1].sub_x, 1);
  ck_assert_int_eq(plan->plane[0].term[0].n[CNV_X], 17);
  ck_assert_int_eq(plan->plane[1].term[0].n[CNV_X], 9);
  ck_assert_int_eq(plan->plane[1].term[0].anchor[CNV_X], 4);
  ck_assert_int_eq(plan->plane[0].filtered, 1);
  ck_assert_int_eq(plan->plane[3].filtered, 0); /* alpha is copied */
  ck_assert_int_eq(plan->plane[3].copied, 1);
  ck_assert_int_ne(plan->plane[0].algorithm, CNV_ALGORITHM_AUTO);
  ck_assert_int_eq(plan->plane[3].algorithm, CNV_ALGORITHM_AUTO);
  for (int p = 0; p < 3; p++) {
    const CnvTerm *t = &plan->plane[p].term[0];
    const float *taps = plan->taps + t->taps[CNV_X], *sums = taps + t->n[CNV_X];

    ck_assert(t->separable && plan->plane[p].n_terms == 1 && plan->plane[p].plain);
    ck_assert(fabsf(plan->plane[p].sum - t->sum[CNV_X] * t->sum[CNV_Y]) < 1e-5f * plan->plane[p].sum);
    for (int i = 0; i < t->n[CNV_X]; i++)
      ck_assert(fabsf(sums[i + 1] - sums[i] - taps[i]) < 1e-6f);
    ck_assert(sums[0] == 0 && sums[t->n[CNV_X]] == t->sum[CNV_X]);
  }
  cnv_plan_unref(plan);
}
END_TEST

/* The plan stores equal taps once: for both axes, and for planes with the same subsampling. */
START_TEST(test_twins)
{
  CnvFilter filter = filter_of(CNV_FILTER_GAUSSIAN, 0, 0, NULL);
  CnvImage image = image_of("I420", 64, 48);
  CnvPlan *plan = plan_of(&filter, &image);

  ck_assert_uint_eq(plan->n_taps, 17 + 9);
  ck_assert_uint_eq(plan->plane[0].term[0].taps[CNV_X], plan->plane[0].term[0].taps[CNV_Y]);
  ck_assert_uint_eq(plan->plane[1].term[0].taps[CNV_X], plan->plane[2].term[0].taps[CNV_X]);
  ck_assert_uint_ne(plan->plane[0].term[0].taps[CNV_X], plan->plane[1].term[0].taps[CNV_X]);
  cnv_plan_unref(plan);
  filter.radius_axis[CNV_Y] = 2;
  plan = plan_of(&filter, &image);
  ck_assert_uint_eq(plan->n_taps, 17 + 5 + 9 + 3);
  cnv_plan_unref(plan);
}
END_TEST

START_TEST(test_lanes)
{
  static const struct {
    const char *format;
    int plane, channel;
    gboolean plain;
    CnvComponent component; /* plane, bytes, shift, bits, sub_x, sub_y, offset, step */
  } rows[] = {
      {"NV12", 0, 0, TRUE, {0, 1, 0, 8, 0, 0, 0, 1}},          {"NV12", 1, 1, TRUE, {1, 1, 0, 8, 0, 0, 1, 2}},
      {"P010_10LE", 1, 1, TRUE, {1, 2, 6, 10, 0, 0, 2, 4}},    {"I420_10LE", 2, 0, TRUE, {2, 2, 0, 10, 0, 0, 0, 2}},
      {"ARGB64", 0, 3, TRUE, {0, 2, 0, 16, 0, 0, 6, 8}},       {"RGBx", 0, 3, TRUE, {0, 1, 0, 8, 0, 0, 3, 4}},
      {"YUY2", 0, 0, FALSE, {0, 1, 0, 8, 0, 0, 0, 2}},         {"YUY2", 1, 1, FALSE, {0, 1, 0, 8, 0, 0, 3, 4}},
      {"UYVY", 0, 0, FALSE, {0, 1, 0, 8, 0, 0, 1, 2}},         {"UYVY", 1, 0, FALSE, {0, 1, 0, 8, 0, 0, 0, 4}},
      {"RGB10A2_LE", 0, 1, FALSE, {0, 4, 10, 10, 0, 0, 0, 4}}, {"BGR10A2_LE", 0, 3, FALSE, {0, 4, 30, 2, 0, 0, 0, 4}},
  };

  for (guint i = 0; i < G_N_ELEMENTS(rows); i++) {
    CnvFilter filter = filter_of(CNV_FILTER_GAUSSIAN, 0, 0, NULL);
    CnvImage image = image_of(rows[i].format, 9, 5);
    CnvPlan *plan = plan_of(&filter, &image);
    const CnvPlane *plane = &plan->plane[rows[i].plane];
    const CnvComponent *component = &plane->component[rows[i].channel], *wanted = &rows[i].component;

    ck_assert_msg(component->plane == wanted->plane && component->bytes == wanted->bytes &&
                      component->shift == wanted->shift && component->bits == wanted->bits &&
                      component->offset == wanted->offset && component->step == wanted->step && component->sub_x == 0 &&
                      component->sub_y == 0,
                  "%s plane %d channel %d", rows[i].format, rows[i].plane, rows[i].channel);
    ck_assert_int_eq(plane->plain, rows[i].plain);
    ck_assert_int_eq(plane->weight, -1);
    cnv_plan_unref(plan);
  }
}
END_TEST

START_TEST(test_chosen_planes)
{
  CnvFilter filter = filter_of(CNV_FILTER_GAUSSIAN, 0, 0, NULL);
  CnvImage rgba = image_of("BGRA", 20, 20), nv12 = image_of("NV12", 20, 20);
  CnvPlan *plan;

  filter.planes = CNV_PLANES_RED | CNV_PLANES_ALPHA;
  plan = plan_of(&filter, &rgba);
  ck_assert_int_eq(plan->plane[0].filtered, 1 << 2 | 1 << 3);
  ck_assert_int_eq(plan->plane[0].copied, 1 << 0 | 1 << 1);
  ck_assert(plan->plane[0].plain);
  cnv_plan_unref(plan);
  filter.planes = CNV_PLANES_CHROMA;
  plan = plan_of(&filter, &nv12);
  ck_assert(plan->plane[0].filtered == 0 && plan->plane[1].filtered == 3);
  ck_assert(!cnv_plan_is_identity(plan));
  cnv_plan_unref(plan);
  filter.planes = CNV_PLANES_RED;
  plan = plan_of(&filter, &nv12); /* the format has none of these planes */
  ck_assert(plan->plane[0].filtered == 0 && plan->plane[1].filtered == 0);
  ck_assert(cnv_plan_is_identity(plan));
  cnv_plan_unref(plan);
}
END_TEST

/* Chroma with its own taps is a plane of its own, in the same memory. */
START_TEST(test_packed_chroma)
{
  CnvFilter filter = filter_of(CNV_FILTER_GAUSSIAN, 0, 0, NULL);
  CnvImage image = image_of("AYUV", 20, 20);
  CnvPlan *plan = plan_of(&filter, &image);
  int written[CNV_MAX_CHANNELS] = {0};

  ck_assert(plan->n_planes == 1 && plan->plane[0].plain && plan->plane[0].filtered == 0xe);
  cnv_plan_unref(plan);
  filter.chroma_radius = 2;
  plan = plan_of(&filter, &image);
  ck_assert_int_eq(plan->n_planes, 2);
  for (int p = 0; p < 2; p++) {
    const CnvPlane *plane = &plan->plane[p];

    ck_assert(!plane->plain && (plane->filtered & plane->copied) == 0);
    for (int c = 0; c < plane->channels; c++) {
      const CnvComponent *component = &plane->component[c];
      const gboolean chroma = component->offset >= 2;

      ck_assert(component->plane == 0 && component->step == 4);
      written[component->offset] += (plane->filtered | plane->copied) >> c & 1;
      if (plane->filtered >> c & 1)
        ck_assert_int_eq(plane->term[0].n[CNV_X], chroma ? 5 : 17);
    }
  }
  for (int c = 0; c < CNV_MAX_CHANNELS; c++)
    ck_assert_msg(written[c] == 1, "channel %d is written by %d planes", c, written[c]);
  cnv_plan_unref(plan);
}
END_TEST

/* If chroma is not filtered, its radius need not be valid for the filter. The radius of luma must be valid in any case.
 */
START_TEST(test_chroma_left_alone)
{
  CnvFilter filter = filter_of(CNV_FILTER_LAPLACIAN, 0, 0, NULL);
  CnvImage image = image_of("NV12", 20, 20);

  filter.radius = 1;
  filter.chroma_radius = 0;
  ck_assert(cnv_plan_new(&filter, &image, CNV_ALGORITHM_AUTO, cnv_backend_find("cpu"), NULL) == NULL);
  filter.planes = CNV_PLANES_LUMA;
  cnv_plan_unref(plan_of(&filter, &image));
  filter.planes = CNV_PLANES_ALPHA;
  filter.radius = 4;
  ck_assert(cnv_plan_new(&filter, &image, CNV_ALGORITHM_AUTO, cnv_backend_find("cpu"), NULL) == NULL);
}
END_TEST

START_TEST(test_weights)
{
  CnvFilter filter = filter_of(CNV_FILTER_BOX, 0, 0, NULL);
  CnvImage rgba = image_of("RGBA", 20, 20), a420 = image_of("A420", 21, 21);
  const CnvPlane *plane;
  CnvPlan *plan;

  filter.alpha_mode = CNV_ALPHA_PREMULTIPLY;
  filter.border = CNV_BORDER_CONSTANT;
  filter.border_color = 0x40ff8000;
  plan = plan_of(&filter, &rgba);
  plane = &plan->plane[0];
  ck_assert(plane->weight == 3 && plane->filtered == 0xf && !plane->plain);
  ck_assert(plane->mid[3] == 0 && plane->mid[0] == 128 && plane->base[3] == 0 && plane->fraction[3] == 0);
  ck_assert(plane->border_value[3] == 64 && plane->border_value[0] == 64 * 127 && plane->border_value[2] == 64 * -128);
  cnv_plan_unref(plan);

  plan = plan_of(&filter, &a420);
  for (int p = 0; p < 3; p++) {
    plane = &plan->plane[p];
    ck_assert(plane->channels == 2 && plane->weight == 1 && plane->filtered == 1 && plane->copied == 0);
    ck_assert(plane->component[1].plane == 3 && plane->component[1].sub_x == (p > 0) &&
              plane->component[1].sub_y == (p > 0));
    ck_assert(plane->mid[1] == 0 && plane->full[1] == 255);
  }
  ck_assert_int_eq(plan->plane[3].filtered, 1);
  cnv_plan_unref(plan);
}
END_TEST

START_TEST(test_combine)
{
  static const double negative[] = {-1, -2, -1};
  CnvFilter filter = filter_of(CNV_FILTER_SOBEL, 0, 0, NULL);
  CnvImage image = image_of("NV12", 20, 20);
  CnvPlan *plan;

  filter.absolute = TRUE;
  plan = plan_of(&filter, &image);
  ck_assert(plan->plane[0].combine == CNV_COMBINE_MAGNITUDE && plan->plane[0].n_terms == 2);
  ck_assert(plan->plane[0].base[0] == 0 && plan->plane[0].fraction[0] == 0 && plan->plane[0].gain[0] == 1);
  for (int c = 0; c < 2; c++) /* chroma becomes neutral */
    ck_assert(plan->plane[1].gain[c] == 0 && plan->plane[1].base[c] + plan->plane[1].fraction[c] == 128);
  cnv_plan_unref(plan);

  filter = filter_of(CNV_FILTER_CUSTOM, 3, 1, negative);
  filter.absolute = TRUE;
  filter.scale = 2;
  plan = plan_of(&filter, &image);
  ck_assert_int_eq(plan->plane[0].combine, CNV_COMBINE_ABSOLUTE);
  ck_assert(plan->plane[0].sum == -4 && plan->plane[0].gain[0] == 0.5f && plan->plane[0].mid_bias[0] == -512);
  ck_assert(plan->plane[1].mid_bias[0] == 0 && plan->plane[1].base[0] == 128);
  cnv_plan_unref(plan);
  cnv_filter_clear(&filter);
}
END_TEST

/* Only if the algorithm supports rows and columns. */
START_TEST(test_low_rank)
{
  static const struct {
    CnvAlgorithm algorithm;
    gboolean factored;
  } rows[] = {{CNV_ALGORITHM_AUTO, TRUE},
              {CNV_ALGORITHM_NAIVE, FALSE},
              {CNV_ALGORITHM_TILED, FALSE},
              {CNV_ALGORITHM_SEPARABLE, TRUE}};
  CnvImage image = image_of("GRAY8", 20, 20);
  double taps[49];
  CnvFilter filter;

  for (int i = 0; i < 49; i++)
    taps[i] = (1 + i % 7) * (2 + i / 7) + (i % 7 == 3) * (i / 7 == 2);
  filter = filter_of(CNV_FILTER_CUSTOM, 7, 7, taps);
  for (guint i = 0; i < G_N_ELEMENTS(rows); i++) {
    CnvPlan *plan = cnv_plan_new(&filter, &image, rows[i].algorithm, cnv_backend_find("cpu"), NULL);

    ck_assert_msg(plan && plan->plane[0].n_terms == (rows[i].factored ? 2 : 1) &&
                      !plan->plane[0].term[0].separable == !rows[i].factored,
                  "algorithm %s", cnv_algorithm_nicks[rows[i].algorithm].nick);
    cnv_plan_unref(plan);
  }
  cnv_filter_clear(&filter);
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
      ck_assert_msg(plan->plane[p].border_value[0] + plan->plane[p].mid[0] == rows[i].expected[p],
                    "row %u, %s plane %d: %g, not %g", i, rows[i].format, p,
                    plan->plane[p].border_value[0] + plan->plane[p].mid[0], rows[i].expected[p]);
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
    int anchor; /* counted from 1; 0: the middle one */
  } rows[] = {
      {CNV_FILTER_IDENTITY, 0, 0, NULL, -1, 1, 0, TRUE},     {CNV_FILTER_IDENTITY, 0, 0, NULL, -1, 1.5, 0, FALSE},
      {CNV_FILTER_IDENTITY, 0, 0, NULL, -1, 1, 0.1, FALSE},  {CNV_FILTER_GAUSSIAN, 0, 0, NULL, 0, 1, 0, TRUE},
      {CNV_FILTER_GAUSSIAN, 0, 0, NULL, 1, 1, 0, FALSE},     {CNV_FILTER_BOX, 0, 0, NULL, 0, 1, 0, TRUE},
      {CNV_FILTER_CUSTOM, 1, 1, one, -1, 1, 0, TRUE},        {CNV_FILTER_CUSTOM, 3, 1, centre, -1, 1, 0, TRUE},
      {CNV_FILTER_CUSTOM, 3, 1, aside, -1, 1, 0, FALSE},     {CNV_FILTER_CUSTOM, 3, 3, square, -1, 1, 0, TRUE},
      {CNV_FILTER_CUSTOM, 1, 3, aside, -1, 1, 0, FALSE},     {CNV_FILTER_CUSTOM, 3, 1, aside, -1, 1, 0, TRUE, 1},
      {CNV_FILTER_CUSTOM, 3, 1, centre, -1, 1, 0, FALSE, 3},
  };

  for (guint i = 0; i < G_N_ELEMENTS(rows); i++) {
    CnvFilter filter = filter_of(rows[i].type, rows[i].width, rows[i].height, rows[i].taps);
    CnvImage image = image_of("NV12", 16, 16);
    CnvPlan *plan;

    filter.radius = rows[i].radius;
    filter.scale = rows[i].scale;
    filter.bias = rows[i].bias;
    filter.anchor[CNV_X] = rows[i].anchor - 1;
    plan = plan_of(&filter, &image);
    ck_assert_msg(cnv_plan_is_identity(plan) == rows[i].identity, "row %u", i);
    cnv_plan_unref(plan);
    cnv_filter_clear(&filter);
  }
}
END_TEST

/* The message contains the reason and the choices. */
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
  ck_assert(cnv_plan_new(&filter, &image, CNV_ALGORITHM_AUTO, cpu, NULL) == NULL); /* without an error pointer */
}
END_TEST

static void
expect_refusal(const CnvFilter *filter, const CnvImage *image, CnvAlgorithm algorithm, CnvErrorCode code,
               const char *says)
{
  GError *error = NULL;

  ck_assert(cnv_plan_new(filter, image, algorithm, cnv_backend_find("cpu"), &error) == NULL);
  ck_assert_msg(g_error_matches(error, CNV_ERROR, code) && strstr(error->message, says), "%s, without \"%s\"",
                error->message, says);
  g_clear_error(&error);
}

/* Taps with a sum of 0 cannot weight anything. Without alpha there are no weights. */
START_TEST(test_refused_weights)
{
  static const struct {
    CnvFilterType type;
    CnvGradient gradient;
  } rows[] = {{CNV_FILTER_LAPLACIAN, 0},
              {CNV_FILTER_LOG, 0},
              {CNV_FILTER_SOBEL, CNV_GRADIENT_MAGNITUDE},
              {CNV_FILTER_SCHARR, CNV_GRADIENT_X},
              {CNV_FILTER_PREWITT, CNV_GRADIENT_DIRECTIONAL}};
  CnvImage rgba = image_of("RGBA", 16, 16), nv12 = image_of("NV12", 16, 16), a420 = image_of("A420", 16, 16);

  for (guint i = 0; i < G_N_ELEMENTS(rows); i++) {
    CnvFilter filter = filter_of(rows[i].type, 0, 0, NULL);

    filter.gradient = rows[i].gradient;
    filter.angle = 30;
    filter.alpha_mode = CNV_ALPHA_PREMULTIPLY;
    expect_refusal(&filter, &rgba, CNV_ALGORITHM_AUTO, CNV_ERROR_SETTINGS, "alpha-mode=premultiply");
    expect_refusal(&filter, &a420, CNV_ALGORITHM_NAIVE, CNV_ERROR_SETTINGS, cnv_filter_info(rows[i].type)->nick.nick);
    cnv_plan_unref(plan_of(&filter, &nv12));
  }
}
END_TEST

START_TEST(test_refused_algorithms)
{
  static const CnvAlgorithm of_gpus[] = {CNV_ALGORITHM_TEXTURE, CNV_ALGORITHM_FUSED, CNV_ALGORITHM_TENSOR};
  CnvFilter filter = filter_of(CNV_FILTER_GAUSSIAN, 0, 0, NULL);
  CnvImage image = image_of("NV12", 16, 16);

  for (guint i = 0; i < G_N_ELEMENTS(of_gpus); i++)
    expect_refusal(&filter, &image, of_gpus[i], CNV_ERROR_UNSUPPORTED, "choices: auto, naive, tiled, separable");
  filter = filter_of(CNV_FILTER_MOTION, 0, 0, NULL);
  filter.angle = 45;
  expect_refusal(&filter, &image, CNV_ALGORITHM_SEPARABLE, CNV_ERROR_UNSUPPORTED, "choices: auto, naive, tiled");
  filter.angle = NAN;
  expect_refusal(&filter, &image, CNV_ALGORITHM_AUTO, CNV_ERROR_SETTINGS, "angle");
}
END_TEST

static void
add_tests(TCase *tcase)
{
  tcase_add_test(tcase, test_owns_its_sources);
  tcase_add_test(tcase, test_arithmetic);
  tcase_add_test(tcase, test_sum_lost);
  tcase_add_test(tcase, test_planes);
  tcase_add_test(tcase, test_twins);
  tcase_add_test(tcase, test_lanes);
  tcase_add_test(tcase, test_chosen_planes);
  tcase_add_test(tcase, test_packed_chroma);
  tcase_add_test(tcase, test_chroma_left_alone);
  tcase_add_test(tcase, test_weights);
  tcase_add_test(tcase, test_combine);
  tcase_add_test(tcase, test_low_rank);
  tcase_add_test(tcase, test_border_values);
  tcase_add_test(tcase, test_identity);
  tcase_add_test(tcase, test_refusals);
  tcase_add_test(tcase, test_refused_weights);
  tcase_add_test(tcase, test_refused_algorithms);
}

int
main(void)
{
  return test_main("plan", add_tests);
}
