/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Dense kernels on both sides of the size from which the CPU engine uses Fourier transforms, compared with the oracle.
 * They must be used from there on, and not before. Then frames of several tiles, by several numbers of threads, which
 * must have the same bits.
 */
#include <gst/check/gstcheck.h>

#include <string.h>

#include "plan/plan.h"
#include "support/cases.h"

#define POSITIVE(width, height) CNV_FILTER_CUSTOM, TAPS_POSITIVE, width, height, FALSE, -1, -1, 0, 1, 0
#define SIGNED(width, height) CNV_FILTER_CUSTOM, TAPS_SIGNED, width, height, FALSE, -1, -1, 0, 1, 0
#define ZERO_SUM(width, height) CNV_FILTER_CUSTOM, TAPS_ZERO_SUM, width, height, FALSE, -1, -1, 0, 1, 0.5

typedef enum { ANY, BY_TAPS, BY_FFT } Way;

static const struct {
  TestFilter filter;
  Way large; /* how the largest frames are filtered, up to 8 bits */
} kernels[] = {
    {{"dense-9x9", POSITIVE(9, 9)}, BY_TAPS},
    {{"dense-11x11", POSITIVE(11, 11)}, BY_TAPS},
    {{"dense-21x21", POSITIVE(21, 21)}, BY_FFT},
    {{"dense-31x31", POSITIVE(31, 31)}, BY_FFT},
    {{"dense-24x40-anchor", SIGNED(24, 40), .anchor_x = 24, .anchor_y = 3}, ANY},
    {{"dense-40x18-flip", ZERO_SUM(40, 18), .anchor_x = 2, .flip = TRUE}, ANY},
    {{"disk", CNV_FILTER_DISK, TAPS_NONE, 0, 0, FALSE, -1, -1, 0, 1, 0, .terms = -1, .radius = 20}, ANY},
    {{"motion-30", CNV_FILTER_MOTION, TAPS_NONE, 0, 0, FALSE, -1, -1, 0, 1, 0, .terms = -1, .radius = 40, .angle = 30},
     ANY},
};
static const TestFilter widest = {"dense-127x127", POSITIVE(127, 127)};

static void
run_case(const TestCase *c, Way way)
{
  const TestVariant *v = test_cpu_variant(CNV_ALGORITHM_TILED);
  guint runs = v ? v->runs : 0;

  test_case_run(c);
  if (way != ANY && v && v->runs > runs)
    ck_assert_msg(test_has_method(v->method, "fft") == (way == BY_FFT), "%s %dx%d %s: first plane by %s", c->format,
                  c->width, c->height, c->filter->name, v->method[0]);
}

START_TEST(test_fft)
{
  static const struct {
    int width, height;
    gboolean large;
  } sizes[] = {{131, 117, TRUE}, {423, 37, FALSE}, {27, 340, FALSE}, {61, 47, FALSE}, {19, 23, FALSE}, {1, 1, FALSE}};
  static const char *const formats[] = {"GRAY8",     "NV12", "RGB",       "RGBA",      "YUY2",   "I420_10LE",
                                        "P010_10LE", "AYUV", "GRAY16_LE", "I420_12LE", "ARGB64", "RGB10A2_LE"};
  guint number = 0;

  for (guint k = 0; k < G_N_ELEMENTS(kernels); k++)
    for (guint f = 0; f < G_N_ELEMENTS(formats); f++)
      for (guint s = 0; s < G_N_ELEMENTS(sizes); s++, number++) {
        TestCase c = test_case_base("identity", formats[f], sizes[s].width, sizes[s].height);

        if (f > 0 && number % 5)
          continue;
        c.filter = &kernels[k].filter;
        c.border = number % CNV_N_BORDERS;
        c.pattern = number % 3 ? (number / 7) % TEST_N_PATTERNS : TEST_NOISE;
        c.color = 0xff3060c0;
        c.chroma_same = TRUE;
        c.alpha_mode = c.filter->taps == TAPS_ZERO_SUM || number % 3 ? CNV_ALPHA_FILTER : CNV_ALPHA_PREMULTIPLY;
        c.interlaced = number % 5 == 4;
        c.absolute = number % 11 == 10;
        run_case(&c, strcmp(formats[f], "GRAY8") == 0 && sizes[s].large ? kernels[k].large : ANY);
      }
  test_set_finish("fft");
}
END_TEST

START_TEST(test_fft_widest)
{
  static const char *const formats[] = {"GRAY8", "GRAY16_LE"};

  for (guint f = 0; f < G_N_ELEMENTS(formats); f++)
    for (int border = 0; border < CNV_N_BORDERS; border++)
      for (int pattern = border % 3; pattern < TEST_N_PATTERNS; pattern += 3) {
        TestCase c = test_case_base("identity", formats[f], 49 - border, 31);

        c.filter = &widest;
        c.border = border;
        c.pattern = pattern;
        run_case(&c, BY_FFT);
      }
  test_set_finish("fft, the widest kernel");
}
END_TEST

/* Filters over time, with one kernel or with one per frame, and regions. Small regions are not transformed. */
START_TEST(test_fft_parts)
{
  static const char *const formats[] = {"GRAY8", "RGB", "GRAY16_LE"};

  for (guint f = 0; f < G_N_ELEMENTS(formats); f++)
    for (int border = 0; border < CNV_N_BORDERS; border++) {
      TestCase c = test_case_base("identity", formats[f], 133, 67);

      c.filter = &kernels[3].filter;
      c.border = border;
      c.temporal_radius = 1;
      run_case(&c, BY_FFT);
      c.temporal_radius = 0;
      c.depth = 3;
      run_case(&c, BY_FFT);
      c.depth = 0;
      c.square = 90 - 70 * (border % 2);
      c.shape = f < 2 ? border % 3 : CNV_SHAPE_RECTANGLE;
      run_case(&c, border % 2 ? ANY : BY_FFT);
    }
  test_set_finish("fft, frames and regions");
}
END_TEST

/* Filters a frame with n_threads threads. Returns the hash of the output; with one thread, also checks the output. */
static guint64
run_threads(CnvPlan *plan, const TestFrame *in, guint n_threads)
{
  const CnvSessionOptions options = {.device = -1, .n_threads = n_threads, .simd = test_options.simd};
  const CnvWork work = CNV_WORK_ALL(&plan);
  CnvSession *session = cnv_backend_find("cpu")->open(&options, NULL);
  TestFrame out;
  CnvFrame from, to;
  guint64 hash;

  ck_assert(session != NULL);
  test_frame_init(&out, plan->image.format, plan->image.width, plan->image.height, (TestLayout){64, 4, 8});
  test_frame_view(in, &from);
  test_frame_view(&out, &to);
  ck_assert(cnv_session_submit(session, &work, &from, &to, NULL));
  ck_assert(cnv_session_wait(session, NULL));
  ck_assert_str_eq(session->stats.method[0], "fft");
  ck_assert_uint_eq(session->stats.threads, n_threads);
  if (n_threads == 1)
    test_output_check(&work, in, &out, "threads of transforms");
  hash = test_frame_hash(&out);
  cnv_session_close(session);
  test_frame_clear(&out);
  return hash;
}

START_TEST(test_fft_threads)
{
  static const struct {
    const TestFilter *filter;
    const char *format;
    int width, height;
  } frames[] = {{&kernels[3].filter, "GRAY8", 521, 211},
                {&kernels[3].filter, "RGB", 211, 209},
                {&kernels[3].filter, "GRAY16_LE", 400, 250},
                {&widest, "GRAY8", 141, 300}};

  for (guint i = 0; i < G_N_ELEMENTS(frames) && test_options.extent != TEST_QUICK; i++) {
    TestCase c = test_case_base("identity", frames[i].format, frames[i].width, frames[i].height);
    CnvFilter filter;
    CnvImage image;
    CnvPlan *plan;
    TestFrame in;
    guint64 hash;

    c.filter = frames[i].filter;
    test_case_filter(&c, 0, test_options.seed, &filter);
    test_image_make(&c, &image);
    plan = cnv_plan_new(&filter, &image, CNV_ALGORITHM_AUTO, cnv_backend_find("cpu"), NULL);
    test_frame_init(&in, image.format, image.width, image.height, (TestLayout){0, 8, 4});
    test_frame_fill(&in, TEST_NOISE, test_options.seed + i);
    hash = run_threads(plan, &in, 1);
    for (guint n = 2; n <= 3; n++)
      ck_assert_msg(run_threads(plan, &in, n) == hash, "%s %s: %u threads make another frame", c.filter->name, c.format,
                    n);
    test_frame_clear(&in);
    cnv_plan_unref(plan);
    cnv_filter_clear(&filter);
  }
  test_set_finish("fft by threads");
}
END_TEST

TCase *
test_fft_tcase(void)
{
  TCase *tcase = tcase_create("fft");

  tcase_add_test(tcase, test_fft);
  tcase_add_test(tcase, test_fft_widest);
  tcase_add_test(tcase, test_fft_parts);
  tcase_add_test(tcase, test_fft_threads);
  return tcase;
}
