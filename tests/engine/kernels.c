/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Every available backend and algorithm, compared with the oracle: sets of cases over formats, borders, radii, sizes,
 * filters, inputs, addresses, planes and alpha; then regions and fields (kernels_parts.c), clips (kernels_time.c),
 * plans that change, and sessions side by side (sessions.c). convolve-bench times the same algorithms. The sets run in
 * this process, because a CUDA context does not survive a fork.
 */
#include <gst/check/gstcheck.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/cases.h"
#include "support/suite.h"
#include "cpu/cpu.h"

#define SKIP 77

static const char *const common_formats[] = {"GRAY8", "NV12", "RGBA", "P010_10LE", "RGB", "GRAY16_LE"};

typedef struct {
  int width, height;
} Size;

static const TestLayout plain = {0, 0, 0};

static TestCase
base_case(const char *filter, const char *format, Size size)
{
  return test_case_base(filter, format, size.width, size.height);
}

void
test_set_finish(const char *set)
{
  guint failures = test_cases_finish(set);

  ck_assert_msg(failures == 0, "set %s: %u mismatches, see above", set, failures);
}

START_TEST(test_borders_by_radius)
{
  static const int radii[] = {0, 1, 2, 3, 8, 15, 16, 17, 64};
  static const Size sizes[] = {{1, 1}, {1, 19}, {23, 1}, {5, 3}, {33, 17}};

  for (guint f = 0; f < G_N_ELEMENTS(common_formats); f++)
    for (guint s = 0; s < G_N_ELEMENTS(sizes); s++)
      for (guint r = 0; r < G_N_ELEMENTS(radii); r++)
        for (int border = 0; border < CNV_N_BORDERS; border++) {
          TestCase c = base_case("gaussian", common_formats[f], sizes[s]);

          c.radius = radii[r];
          c.border = border;
          test_case_run(&c);
        }
  test_set_finish("borders by radius");
}
END_TEST

START_TEST(test_formats)
{
  static const char *const filters[] = {"gaussian", "box", "identity", "half", "gaussian-contrast", "dense-3x3"};
  static const Size sizes[] = {{37, 23}, {1, 1}, {64, 48}};

  for (const CnvFormat *format = cnv_formats; format->name; format++)
    for (guint f = 0; f < G_N_ELEMENTS(filters); f++)
      for (guint s = 0; s < G_N_ELEMENTS(sizes); s++) {
        TestCase c = base_case(filters[f], format->name, sizes[s]);

        c.border = (f + s) % CNV_N_BORDERS;
        c.color = 0xff3060c0;
        test_case_run(&c);
      }
  test_set_finish("formats");
}
END_TEST

START_TEST(test_all_filters)
{
  static const char *const formats[] = {"GRAY8", "NV12", "RGBA", "P010_10LE"};

  for (const TestFilter *row = test_filters; row->name; row++)
    for (guint f = 0; f < G_N_ELEMENTS(formats); f++)
      for (int border = 0; border < CNV_N_BORDERS; border++) {
        TestCase c = base_case(row->name, formats[f], (Size){41, 27});

        c.border = border;
        test_case_run(&c);
      }
  test_set_finish("filters");
}
END_TEST

/* The cases that convolve-bench times, on smaller frames. */
START_TEST(test_timed)
{
  GArray *cases = test_timed_cases();

  for (guint i = 0; i < cases->len; i++) {
    TestCase c = g_array_index(cases, TestCase, i);

    c.width = 128;
    c.height = 72;
    c.square = MIN(c.square, 20);
    test_case_run(&c);
  }
  g_array_unref(cases);
  test_set_finish("timed");
}
END_TEST

START_TEST(test_sizes)
{
  static const Size sizes[] = {{127, 65}, {640, 360}, {2051, 3}, {3, 1030}, {256, 64}};
  static const char *const filters[] = {"gaussian", "dense-5x5"};

  for (guint f = 0; f < G_N_ELEMENTS(common_formats); f++)
    for (guint s = 0; s < G_N_ELEMENTS(sizes); s++)
      for (guint k = 0; k < G_N_ELEMENTS(filters); k++)
        for (int border = s == 1 ? CNV_N_BORDERS - 1 : 0; border < CNV_N_BORDERS; border++) {
          TestCase c = base_case(filters[k], common_formats[f], sizes[s]);

          c.border = border;
          c.in = s == 4 ? plain : c.in; /* rows without a gap, at an aligned address */
          test_case_run(&c);
        }
  test_set_finish("sizes");
}
END_TEST

START_TEST(test_patterns)
{
  static const char *const formats[] = {"GRAY8", "NV12", "BGRA", "P010_10LE", "I420_10LE", "GRAY16_LE"};
  static const char *const filters[] = {"gaussian",         "box",   "row-binomial", "dense-5x5", "dense-signed",
                                        "dense-derivative", "sobel", "sharpen"};

  for (guint f = 0; f < G_N_ELEMENTS(formats); f++)
    for (guint k = 0; k < G_N_ELEMENTS(filters); k++)
      for (int pattern = 0; pattern < TEST_N_PATTERNS; pattern++)
        for (int border = 0; border < CNV_N_BORDERS; border++) {
          TestCase c = base_case(filters[k], formats[f], (Size){29, 31});

          c.radius = 1 + 7 * (border % 2);
          c.pattern = pattern;
          c.border = border;
          test_case_run(&c);
        }
  test_set_finish("patterns");
}
END_TEST

START_TEST(test_addresses)
{
  static const char *const formats[] = {"GRAY8", "NV12", "RGB", "RGBA", "P010_10LE", "UYVY", "BGR10A2_LE"};
  static const int pads[] = {0, 1, 2, 3, 13, 64};

  for (guint f = 0; f < G_N_ELEMENTS(formats); f++)
    for (int offset = 0; offset < 17; offset++)
      for (guint p = 0; p < G_N_ELEMENTS(pads); p++) {
        TestCase c = base_case("gaussian", formats[f], (Size){150, 9});

        c.in = (TestLayout){0, offset, pads[p]};
        c.out = (TestLayout){64, 16 - offset, pads[(p + offset) % G_N_ELEMENTS(pads)]};
        test_case_run(&c);
      }
  test_set_finish("addresses");
}
END_TEST

START_TEST(test_long_taps)
{
  static const Size sizes[] = {{9, 5}, {300, 2}, {127, 65}};
  static const int radii[] = {100, 200, 512};
  static const char *const formats[] = {"GRAY8", "NV12", "GRAY16_LE"};

  for (guint f = 0; f < G_N_ELEMENTS(formats); f++)
    for (guint s = 0; s < G_N_ELEMENTS(sizes); s++)
      for (guint r = 0; r < G_N_ELEMENTS(radii); r++)
        for (int border = 0; border < CNV_N_BORDERS; border++) {
          TestCase c = base_case(r % 2 ? "box" : "gaussian", formats[f], sizes[s]);

          c.radius = radii[r];
          c.border = border;
          test_case_run(&c);
        }
  test_set_finish("long taps");
}
END_TEST

/* Runs a case and checks whether the CPU's variant of an algorithm used a method. Transforms are left out. */
static void
run_by(const TestCase *c, CnvAlgorithm algorithm, const char *method, gboolean expected)
{
  const TestVariant *v = test_cpu_variant(algorithm);
  guint runs = v ? v->runs : 0;

  test_case_run(c);
  if (v && v->runs > runs && !test_has_method(v->method, "fft"))
    ck_assert_msg(test_has_method(v->method, method) == expected, "%s %s, radius %d: first plane by %s", c->format,
                  c->filter->name, c->radius, v->method[0]);
}

/* Boxes by prefix sums, in float32 and in double. Their numbers of taps are near powers of two, and on coarser planes
 * the outermost taps differ. */
START_TEST(test_runs)
{
  static const int radii[] = {7, 8, 9, 15, 16, 31, 32, 127, 255, 256, 512};
  static const char *const formats[] = {"GRAY8", "NV12", "RGB", "RGBA", "YUY2", "P010_10LE", "GRAY16_LE"};
  static const Size sizes[] = {{9, 5}, {531, 21}, {130, 67}};

  for (guint f = 0; f < G_N_ELEMENTS(formats); f++)
    for (guint s = 0; s < G_N_ELEMENTS(sizes); s++)
      for (guint r = 0; r < G_N_ELEMENTS(radii); r++) {
        TestCase c = base_case("box", formats[f], sizes[s]);

        c.radius = radii[r];
        c.border = (f + s + r) % CNV_N_BORDERS;
        c.pattern = (s + r) % TEST_N_PATTERNS;
        c.alpha_mode = r % 2 ? CNV_ALPHA_PREMULTIPLY : CNV_ALPHA_COPY;
        run_by(&c, CNV_ALGORITHM_SEPARABLE, "prefix-sum", TRUE);
      }
  test_set_finish("runs");
}
END_TEST

START_TEST(test_equal_taps)
{
  float taps[20];

  for (int i = 0; i < 20; i++)
    taps[i] = i == 0 || i == 19 ? 0.5f : 1;
  for (int first = 0; first < 2; first++)
    for (int end = 19; end <= 20; end++) {
      CpuTapRange equal = cnv_cpu_equal_taps(taps + first, end - first);

      ck_assert_int_eq(equal.first, 1 - first);
      ck_assert_int_eq(equal.n, 18);
    }
  ck_assert_int_eq(cnv_cpu_equal_taps(taps + 1, 4).n, 0);
  taps[9] = 2;
  ck_assert_int_eq(cnv_cpu_equal_taps(taps, 20).n, 0);
}
END_TEST

/* The radii at which running sums begin, and the radii of sigma 5, 20 and 80. Long rows and columns show errors that
 * add up. */
START_TEST(test_sliding)
{
  static const int radii[] = {12, 13, 15, 65, 265};
  static const Size sizes[] = {{1, 1}, {19, 1}, {1, 19}, {61, 47}, {2051, 3}, {3, 1030}, {300, 18}, {15, 16}};
  static const char *const formats[] = {"GRAY8", "NV12",      "RGB",       "RGBA",       "YUY2",  "P010_10LE",
                                        "AYUV",  "I420_12LE", "GRAY16_LE", "RGB10A2_LE", "ARGB64"};
  static const TestPattern patterns[] = {TEST_NOISE, TEST_IMPULSE, TEST_FLAT, TEST_NOISE, TEST_HOLES};
  guint number = 0;

  for (guint f = 0; f < G_N_ELEMENTS(formats); f++)
    for (guint s = 0; s < G_N_ELEMENTS(sizes); s++)
      for (guint r = 0; r < G_N_ELEMENTS(radii); r++, number++) {
        TestCase c = base_case("gaussian", formats[f], sizes[s]);

        c.radius = radii[r];
        c.border = number % CNV_N_BORDERS;
        c.pattern = patterns[number % G_N_ELEMENTS(patterns)];
        c.color = 0xff3060c0;
        c.chroma_same = TRUE;
        c.alpha_mode = f % 2 ? CNV_ALPHA_FILTER : CNV_ALPHA_COPY;
        run_by(&c, CNV_ALGORITHM_SEPARABLE, "running-sum", c.radius > 12);
      }
  test_set_finish("sliding");
}
END_TEST

/* Disks by prefix sums of columns, except for samples of 16 bits. */
START_TEST(test_disks)
{
  static const int radii[] = {5, 8, 15, 31};
  static const Size sizes[] = {{1, 1}, {19, 1}, {1, 19}, {61, 47}, {700, 3}, {3, 1030}, {130, 18}};
  static const char *const formats[] = {"GRAY8", "NV12", "RGB", "RGBA", "YUY2", "I420_10LE", "AYUV", "GRAY16_LE"};
  guint number = 0;

  for (guint f = 0; f < G_N_ELEMENTS(formats); f++)
    for (guint s = 0; s < G_N_ELEMENTS(sizes); s++)
      for (guint r = 0; r < G_N_ELEMENTS(radii); r++, number++) {
        TestCase c = base_case("disk", formats[f], sizes[s]);

        c.radius = radii[r];
        c.border = number % CNV_N_BORDERS;
        c.pattern = number % TEST_N_PATTERNS;
        c.color = 0xff3060c0;
        c.alpha_mode = CNV_ALPHA_FILTER;
        run_by(&c, CNV_ALGORITHM_TILED, "prefix-sum", c.radius > 5 && strcmp(c.format, "GRAY16_LE") != 0);
      }
  test_set_finish("disks");
}
END_TEST

START_TEST(test_border_colors)
{
  static const guint32 colors[] = {0xffffffff, 0xffff0000, 0xff00ff00, 0xff0000ff, 0x00123456};
  static const char *const formats[] = {"GRAY8", "NV21", "I420_10LE", "BGRA", "AYUV", "GBR", "P016_LE"};

  for (guint f = 0; f < G_N_ELEMENTS(formats); f++)
    for (guint i = 0; i < G_N_ELEMENTS(colors); i++)
      for (int full_range = 0; full_range < 2; full_range++) {
        TestCase c = base_case("box", formats[f], (Size){11, 7});

        c.border = CNV_BORDER_CONSTANT;
        c.color = colors[i];
        c.full_range = full_range;
        test_case_run(&c);
      }
  test_set_finish("border colours");
}
END_TEST

START_TEST(test_absolute)
{
  static const char *const filters[] = {"row-negative", "axes-signed", "dense-signed", "dense-derivative",
                                        "sobel-x",      "emboss",      "rank-2",       "half"};
  static const char *const formats[] = {"NV12", "AYUV", "P010_10LE", "GRAY16_LE", "YUY2"};

  for (guint k = 0; k < G_N_ELEMENTS(filters); k++)
    for (guint f = 0; f < G_N_ELEMENTS(formats); f++)
      for (int border = 0; border < CNV_N_BORDERS; border++) {
        TestCase c = base_case(filters[k], formats[f], (Size){33, 21});

        c.border = border;
        c.absolute = TRUE;
        c.alpha_mode = border % 2 ? CNV_ALPHA_FILTER : CNV_ALPHA_COPY;
        test_case_run(&c);
      }
  test_set_finish("absolute");
}
END_TEST

START_TEST(test_planes)
{
  static const guint planes[] = {CNV_PLANES_LUMA,
                                 CNV_PLANES_CHROMA,
                                 CNV_PLANES_ALPHA,
                                 CNV_PLANES_RED | CNV_PLANES_BLUE,
                                 CNV_PLANES_GREEN,
                                 CNV_PLANES_ALL,
                                 CNV_PLANES_LUMA | CNV_PLANES_ALPHA};
  static const char *const filters[] = {"gaussian", "sobel", "rank-2"};

  for (const CnvFormat *format = cnv_formats; format->name; format++)
    for (guint i = 0; i < G_N_ELEMENTS(planes); i++) {
      TestCase c = base_case(filters[(i + format->n_planes) % G_N_ELEMENTS(filters)], format->name, (Size){35, 18});

      c.planes = planes[i];
      c.border = i % CNV_N_BORDERS;
      test_case_run(&c);
    }
  test_set_finish("planes");
}
END_TEST

START_TEST(test_chroma)
{
  static const char *const formats[] = {"NV12", "I420_10LE", "Y42B", "A420", "AYUV", "VUYA", "Y444", "UYVY", "Y410"};
  static const char *const filters[] = {"gaussian", "box", "unsharp", "rank-2", "emboss-120"};
  static const struct {
    gboolean same;
    gboolean set;
    int radius;
    double sigma;
  } rows[] = {
      {TRUE, FALSE, -1, 0}, {FALSE, TRUE, 1, 0}, {FALSE, TRUE, 0, 0}, {TRUE, TRUE, 2, 1.9}, {FALSE, TRUE, -1, 1.1}};

  for (guint f = 0; f < G_N_ELEMENTS(formats); f++)
    for (guint i = 0; i < G_N_ELEMENTS(rows); i++)
      for (guint k = 0; k < (rows[i].set ? 2 : G_N_ELEMENTS(filters)); k++) {
        TestCase c = base_case(filters[k], formats[f], (Size){39, 25});

        c.chroma_same = rows[i].same;
        c.chroma_set = rows[i].set;
        c.chroma_radius = rows[i].radius;
        c.chroma_sigma = rows[i].sigma;
        c.border = (f + i) % CNV_N_BORDERS;
        c.alpha_mode = k % 2 ? CNV_ALPHA_PREMULTIPLY : CNV_ALPHA_FILTER;
        test_case_run(&c);
      }
  test_set_finish("chroma");
}
END_TEST

/* Colours weighted by alpha; and alpha filtered like the colours, but without scale and bias. */
START_TEST(test_alpha)
{
  static const char *const formats[] = {"RGBA", "ARGB64", "AYUV", "A420", "GBRA", "RGB10A2_LE", "ABGR"};
  static const char *const filters[] = {"gaussian", "gaussian-contrast", "dense-5x5",       "dense-3x3", "rank-2",
                                        "disk",     "sharpen",           "row-anchor-first"};
  static const TestPattern patterns[] = {TEST_HOLES, TEST_NOISE, TEST_IMPULSE, TEST_FLAT};

  for (guint f = 0; f < G_N_ELEMENTS(formats); f++)
    for (guint k = 0; k < G_N_ELEMENTS(filters); k++)
      for (int border = 0; border < CNV_N_BORDERS; border++)
        for (int mode = CNV_ALPHA_FILTER; mode <= CNV_ALPHA_PREMULTIPLY; mode++) {
          TestCase c = base_case(filters[k], formats[f], (Size){37, 29});

          c.border = border;
          c.pattern = patterns[(border + k) % G_N_ELEMENTS(patterns)];
          c.color = border % 2 ? 0x60e04080 : 0x804080ff;
          c.alpha_mode = mode;
          test_case_run(&c);
        }
  test_set_finish("alpha");
}
END_TEST

/* Cells of one colour: all formats, sizes and radii, with some cells larger than the frame. */
START_TEST(test_cells)
{
  static const char *const filters[] = {"mosaic", "mosaic", "fill", "mosaic-5x1", "mosaic-0x4", "mosaic-contrast"};
  static const Size sizes[] = {{37, 23}, {1, 1}, {301, 70}, {64, 48}, {2, 133}};
  static const int radii[] = {0, 1, 2, 3, 8, 20, 63, 512};
  static const guint planes[] = {0, CNV_PLANES_LUMA | CNV_PLANES_RED, CNV_PLANES_CHROMA | CNV_PLANES_GREEN,
                                 CNV_PLANES_ALL};
  guint n = 0;

  for (const CnvFormat *format = cnv_formats; format->name; format++)
    for (guint i = 0; i < 2; i++)
      for (guint f = 0; f < G_N_ELEMENTS(filters); f++, n++) {
        TestCase c = base_case(filters[f], format->name, sizes[(n + n / 5) % G_N_ELEMENTS(sizes)]);

        c.radius = radii[n % G_N_ELEMENTS(radii)];
        c.border = n % CNV_N_BORDERS;
        c.color = 0x90e04080;
        c.full_range = n % 2;
        c.pattern = n / 2 % 3 ? TEST_NOISE : TEST_HOLES;
        c.planes = planes[n / 3 % G_N_ELEMENTS(planes)];
        c.chroma_same = n % 5 == 0;
        c.chroma_set = n % 7 == 0;
        c.chroma_radius = 2;
        c.alpha_mode = n / 5 % (CNV_ALPHA_PREMULTIPLY + 1);
        c.absolute = n % 9 == 0;
        c.interlaced = n % 4 == 0;
        c.temporal_radius = f < 2 && n % 11 == 0;
        if (c.temporal_radius > 0) {
          c.in = plain;
          c.out = (TestLayout){64, 0, 0};
        }
        test_case_run(&c);
      }
  test_set_finish("cells");
}
END_TEST

static Suite *
kernels_suite(void)
{
  Suite *suite = suite_create("kernels");
  TCase *cases = tcase_create("cases"), *wide = tcase_create("wide");

  tcase_add_test(cases, test_borders_by_radius);
  tcase_add_test(cases, test_formats);
  tcase_add_test(cases, test_all_filters);
  tcase_add_test(cases, test_timed);
  tcase_add_test(cases, test_sizes);
  tcase_add_test(cases, test_patterns);
  tcase_add_test(cases, test_addresses);
  tcase_add_test(cases, test_long_taps);
  tcase_add_test(cases, test_runs);
  tcase_add_test(cases, test_equal_taps);
  tcase_add_test(cases, test_border_colors);
  tcase_add_test(cases, test_absolute);
  tcase_add_test(cases, test_planes);
  tcase_add_test(cases, test_chroma);
  tcase_add_test(cases, test_alpha);
  tcase_add_test(cases, test_cells);
  tcase_add_test(wide, test_sliding);
  tcase_add_test(wide, test_disks);
  suite_add_tcase(suite, cases);
  suite_add_tcase(suite, wide);
  suite_add_tcase(suite, test_fft_tcase());
  suite_add_tcase(suite, test_parts_tcase());
  suite_add_tcase(suite, test_time_tcase());
  suite_add_tcase(suite, test_sessions_tcase());
  suite_add_tcase(suite, test_changes_tcase());
  suite_add_tcase(suite, test_cuts_tcase());
  suite_add_tcase(suite, test_gaussians_tcase());
  suite_add_tcase(suite, test_decimated_tcase());
  return suite;
}

/* Returns FALSE if the machine lacks the requested instruction set. Engines then use their best one. */
static gboolean
has_wanted_simd(void)
{
  for (guint i = 0; test_options.simd && i < test_variants->len; i++)
    if (!g_str_has_suffix(g_array_index(test_variants, TestVariant, i).session->device_name, test_options.simd))
      return FALSE;
  return TRUE;
}

int
main(int argc, char **argv)
{
  gboolean quick = FALSE, full = FALSE;
  char *backend = NULL, *simd = NULL;
  const GOptionEntry entries[] = {
      {"quick", 0, 0, G_OPTION_ARG_NONE, &quick, "Few and small cases, for compute-sanitizer", NULL},
      {"full", 0, 0, G_OPTION_ARG_NONE, &full, "Slow algorithms on large cases, too", NULL},
      {"backend", 0, 0, G_OPTION_ARG_STRING, &backend, "Only that one, cuda or cpu", "NAME"},
      {"simd", 0, 0, G_OPTION_ARG_STRING, &simd, "Instruction set of the CPU engine", "NAME"},
      {NULL},
  };
  GOptionContext *context = g_option_context_new(NULL);
  GError *error = NULL;
  int status;

  g_option_context_add_main_entries(context, entries, NULL);
  if (!g_option_context_parse(context, &argc, &argv, &error)) {
    fprintf(stderr, "%s\n", error->message);
    return EXIT_FAILURE;
  }
  g_option_context_free(context);
  test_options_read();
  test_options.extent = quick ? TEST_QUICK : full ? TEST_FULL : TEST_NORMAL;
  test_options.backend = backend;
  test_options.simd = simd;
  if (!test_variants_open()) {
    puts("SKIPPED: no such backend is here");
    return SKIP;
  }
  if (!has_wanted_simd()) {
    printf("SKIPPED: this machine has no %s\n", simd);
    return SKIP;
  }
  printf("CNV_SEED=%u\n", test_options.seed);
  status = test_suite_run_in_process(kernels_suite());
  test_variants_close();
  g_free(backend);
  g_free(simd);
  return status;
}
