/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Parts of frames, compared with the oracle: regions of every kind, and fields.
 */
#include <gst/check/gstcheck.h>

#include "support/cases.h"

/* For frames of 61x47 pixels. Coordinates are odd and even, so that regions cut through chroma samples. */
#define WIDTH 61
#define HEIGHT 47

static const TestRegions rows[] = {
    {"one", 1, 1, {{{10, 8, 20, 16}, 0}}},
    {"odd", 1, 1, {{{7, 5, 13, 9}, 0}}},
    {"all of the frame", 1, 1, {{{0, 0, WIDTH, HEIGHT}, 0}}},
    {"more than the frame", 1, 1, {{{-9, -20, 300, 200}, 0}}},
    {"much more", 1, 2, {{{G_MININT, G_MININT + 5, G_MAXINT, G_MAXINT}, 0}, {{3, 3, G_MAXINT, G_MAXINT}, 0}}},
    {"a pixel each", 1, 4, {{{0, 0, 1, 1}, 0}, {{60, 46, 1, 1}, 0}, {{21, 20, 1, 1}, 0}, {{32, 33, 1, 1}, 0}}},
    {"none", 1, 0},
    {"empty ones", 1, 3, {{{5, 5, 0, 9}, 0}, {{20, 9, 5, -3}, 0}, {{8, 8, -1, 4}, 0}}},
    {"outside", 1, 3, {{{-30, 4, 20, 20}, 0}, {{70, 40, 9, 9}, 0}, {{20, 47, 8, 8}, 0}}},
    {"partly outside", 1, 2, {{{-7, -9, 20, 23}, 0}, {{50, 40, 90, 17}, 0}}},
    {"overlapping", 1, 3, {{{5, 5, 20, 20}, 0}, {{15, 12, 25, 9}, 0}, {{18, 3, 4, 40}, 0}}},
    {"touching", 1, 4, {{{8, 6, 9, 10}, 0}, {{17, 6, 11, 10}, 0}, {{8, 16, 20, 7}, 0}, {{28, 23, 9, 9}, 0}}},
    {"one within another", 2, 2, {{{20, 15, 9, 9}, 1}, {{4, 4, 50, 40}, 0}}},
    {"plans overlap", 4, 4, {{{5, 5, 30, 20}, 3}, {{15, 12, 25, 19}, 0}, {{18, 3, 14, 40}, 1}, {{20, 10, 3, 30}, 2}}},
    {"hidden plan", 3, 3, {{{9, 9, 12, 12}, 0}, {{8, 8, 20, 20}, 2}, {{10, 12, 40, 5}, 1}}},
    {"many", 3, 0, .n_random = 300},
    {"feather", 1, 2, {{{20, 13, 9, 12}, 0}, {{40, 30, 5, 5}, 0}}, .feather = 7},
    {"feather of less than a pixel", 1, 1, {{{11, 9, 20, 17}, 0}}, .feather = 0.4},
    {"feather from outside", 1, 2, {{{-12, 10, 10, 10}, 0}, {{64, 20, 5, 30}, 0}}, .feather = 9.5},
    {"feather over all", 1, 1, {{{30, 20, 3, 3}, 0}}, .feather = 1024},
    {"feathers of plans", 3, 3, {{{8, 8, 12, 12}, 1}, {{30, 12, 15, 20}, 0}, {{22, 26, 9, 9}, 2}}, .feather = 7},
    {"many with feather", 3, 0, .n_random = 40, .feather = 2.5},
    {"invert", 1, 3, {{{8, 7, 20, 20}, 0}, {{20, 20, 20, 12}, 0}, {{55, -3, 30, 20}, 0}}, .invert = TRUE},
    {"invert none", 1, 1, {{{9, 9, 0, 0}, 0}}, .invert = TRUE},
    {"invert all", 2, 1, {{{-1, -1, 100, 100}, 1}}, .invert = TRUE},
    {"invert with feather", 2, 2, {{{15, 9, 14, 14}, 1}, {{30, 20, 14, 14}, 0}}, .invert = TRUE, .feather = 5},
    {"invert many", 1, 0, .n_random = 120, .invert = TRUE},
    {"invert isolated", 1, 1, {{{8, 7, 20, 20}, 0}}, .invert = TRUE, .isolated = TRUE},
    {"isolated", 1, 1, {{{11, 6, 21, 18}, 0}}, .isolated = TRUE},
    {"isolated pixel", 1, 2, {{{11, 7, 1, 1}, 0}, {{40, 30, 2, 1}, 0}}, .isolated = TRUE},
    {"isolated, overlapping",
     2,
     3,
     {{{5, 5, 20, 20}, 1}, {{15, 12, 25, 19}, 0}, {{10, 10, 9, 9}, 1}},
     .isolated = TRUE},
    {"isolated, partly outside", 1, 2, {{{-7, -9, 20, 23}, 0}, {{50, 40, 90, 17}, 0}}, .isolated = TRUE},
    {"isolated with feather",
     2,
     3,
     {{{12, 10, 9, 9}, 0}, {{30, 22, 14, 9}, 1}, {{-20, 5, 17, 30}, 0}},
     .isolated = TRUE,
     .feather = 6},
    {"isolated, many", 2, 0, .n_random = 60, .isolated = TRUE},
    {"crowd", 1, 0, .n_random = 600},
    {"crowd of plans", 4, 0, .n_random = 200},
    {"crowd with feather", 1, 0, .n_random = 600, .feather = 3},
    {"crowd of plans with feather", 4, 0, .n_random = 200, .feather = 3},
    {"crowd, inverted", 1, 0, .n_random = 400, .feather = 1, .invert = TRUE},
    {"crowd, isolated with feather", 4, 0, .n_random = 50, .isolated = TRUE, .feather = 3},
    {"crowd, isolated", 4, 0, .n_random = 100, .isolated = TRUE},
    {"crowd of large ones",
     4,
     6,
     {{{3, 3, 40, 30}, 0},
      {{5, 9, 40, 30}, 1},
      {{13, 2, 40, 38}, 2},
      {{2, 8, 52, 30}, 3},
      {{8, 5, 30, 40}, 1},
      {{20, 10, 40, 30}, 0}},
     .n_random = 60,
     .isolated = TRUE},
    {"moved", 1, 1, {{{8, 6, 20, 16}, 0}}, .moved = TRUE, .target_x = 30, .target_y = 20},
    {"moved by odd steps", 1, 1, {{{8, 6, 21, 15}, 0}}, .moved = TRUE, .target_x = 13, .target_y = 9},
    {"moved partly outside", 1, 1, {{{8, 6, 20, 16}, 0}}, .moved = TRUE, .target_x = 50, .target_y = 40},
    {"moved outside", 1, 1, {{{8, 6, 20, 16}, 0}}, .moved = TRUE, .target_x = 61, .target_y = 0},
    {"moved from outside", 1, 1, {{{-8, -6, 20, 16}, 0}}, .moved = TRUE, .target_x = 20, .target_y = 11},
    {"moved with feather", 1, 1, {{{20, 16, 11, 9}, 0}}, .feather = 4, .moved = TRUE, .target_x = 3, .target_y = 2},
    {"ellipse", 1, 1, {{{7, 5, 33, 21}, 0, CNV_SHAPE_ELLIPSE}}},
    {"ellipses with feather",
     2,
     3,
     {{{7, 5, 23, 21}, 0, CNV_SHAPE_ELLIPSE},
      {{30, -9, 50, 40}, 1, CNV_SHAPE_ELLIPSE},
      {{20, 30, 1, 4}, 0, CNV_SHAPE_ELLIPSE}},
     .feather = 5.5},
    {"ellipse, inverted", 1, 1, {{{4, 4, 52, 38}, 0, CNV_SHAPE_ELLIPSE}}, .feather = 3, .invert = TRUE},
    {"ellipse and rectangle", 2, 2, {{{4, 4, 40, 38}, 0, CNV_SHAPE_ELLIPSE}, {{20, 9, 40, 20}, 1}}, .isolated = TRUE},
    {"ellipse, moved", 1, 1, {{{8, 6, 20, 16}, 0, CNV_SHAPE_ELLIPSE}}, .moved = TRUE, .target_x = 30, .target_y = 20},
    {"mask", 1, 1, {{{0, 0, WIDTH, HEIGHT}, 0, CNV_SHAPE_MASK}}},
    {"mask, inverted", 1, 1, {{{0, 0, WIDTH, HEIGHT}, 0, CNV_SHAPE_MASK}}, .invert = TRUE},
    {"mask beyond the frame", 1, 1, {{{-31, -20, 2 * WIDTH, 3 * HEIGHT}, 0, CNV_SHAPE_MASK}}, .feather = 3},
    {"mask, ellipse and rectangle",
     3,
     3,
     {{{3, 4, 40, 30}, 1, CNV_SHAPE_MASK}, {{20, 9, 30, 20}, 0, CNV_SHAPE_ELLIPSE}, {{30, 30, 20, 9}, 2}},
     .feather = 2},
    {"masks that overlap",
     2,
     2,
     {{{3, 4, 40, 30}, 1, CNV_SHAPE_MASK}, {{13, 9, 40, 36}, 0, CNV_SHAPE_MASK}},
     .isolated = TRUE},
    {"mask, moved", 1, 1, {{{8, 6, 20, 16}, 0, CNV_SHAPE_MASK}}, .moved = TRUE, .target_x = 30, .target_y = 20},
    {"small ones of any shape", 3, 0, .n_random = 30, .any_shape = TRUE, .feather = 2},
    {"small ones of any shape, inverted", 1, 0, .n_random = 30, .any_shape = TRUE, .feather = 2, .invert = TRUE},
    {"isolated ellipses with feather",
     2,
     3,
     {{{7, 5, 33, 21}, 0, CNV_SHAPE_ELLIPSE},
      {{30, -9, 50, 40}, 1, CNV_SHAPE_ELLIPSE},
      {{20, 30, 9, 14}, 0, CNV_SHAPE_ELLIPSE}},
     .isolated = TRUE,
     .feather = 4},
    {"isolated ellipses that overlap",
     2,
     3,
     {{{7, 5, 33, 31}, 0, CNV_SHAPE_ELLIPSE},
      {{20, 9, 35, 30}, 1, CNV_SHAPE_ELLIPSE},
      {{20, 20, 39, 24}, 0, CNV_SHAPE_ELLIPSE}},
     .isolated = TRUE},
    {"isolated mask", 1, 1, {{{0, 0, WIDTH, HEIGHT}, 0, CNV_SHAPE_MASK}}, .isolated = TRUE},
    {"isolated mask beyond the frame",
     1,
     1,
     {{{-31, -20, 2 * WIDTH, 3 * HEIGHT}, 0, CNV_SHAPE_MASK}},
     .isolated = TRUE},
    {"isolated mask, inverted", 1, 1, {{{0, 0, WIDTH, HEIGHT}, 0, CNV_SHAPE_MASK}}, .isolated = TRUE, .invert = TRUE},
    {"isolated mask, ellipse and rectangle",
     3,
     3,
     {{{3, 4, 40, 30}, 1, CNV_SHAPE_MASK}, {{20, 9, 30, 20}, 0, CNV_SHAPE_ELLIPSE}, {{30, 30, 20, 9}, 2}},
     .isolated = TRUE,
     .feather = 2},
    {"isolated, inverted with feather",
     1,
     3,
     {{{8, 7, 20, 20}, 0}, {{20, 20, 20, 12}, 0, CNV_SHAPE_ELLIPSE}, {{55, -3, 30, 20}, 0}},
     .isolated = TRUE,
     .invert = TRUE,
     .feather = 3},
    {"isolated, small ones of any shape", 3, 0, .n_random = 30, .any_shape = TRUE, .feather = 2, .isolated = TRUE},
    {"isolated ellipse, moved",
     1,
     1,
     {{{8, 6, 20, 16}, 0, CNV_SHAPE_ELLIPSE}},
     .isolated = TRUE,
     .moved = TRUE,
     .target_x = 30,
     .target_y = 20},
    {"moved, isolated", 1, 1, {{{9, 7, 16, 20}, 0}}, .feather = 2, .isolated = TRUE, .moved = TRUE, .target_x = 31},
};

START_TEST(test_regions)
{
  static const char *const formats[] = {"NV12", "RGBA", "GRAY16_LE", "YUY2", "P010_10LE"};
  static const char *const filters[] = {"gaussian", "gaussian-contrast", "dense-3x3", "sharpen", "axes-flip-anchor"};

  for (guint i = 0; i < G_N_ELEMENTS(rows); i++)
    for (guint f = 0; f < G_N_ELEMENTS(formats); f++)
      for (int border = (i + f) % 2; border < CNV_N_BORDERS; border += 2) {
        TestCase c = test_case_base(filters[(i + f + border) % G_N_ELEMENTS(filters)], formats[f], WIDTH, HEIGHT);

        c.border = border;
        c.color = 0xff3060c0;
        c.regions = &rows[i];
        test_case_run(&c);
      }
  test_set_finish("regions");
}
END_TEST

/* The taps are so long that the CPU uses running sums. */
START_TEST(test_regions_of_wide_blurs)
{
  static const char *const formats[] = {"NV12", "RGBA", "GRAY16_LE", "UYVY", "GRAY8"};

  for (guint i = 0; i < G_N_ELEMENTS(rows); i++)
    for (guint f = 0; f < G_N_ELEMENTS(formats); f++) {
      TestCase c = test_case_base("gaussian", formats[f], WIDTH, HEIGHT);

      c.radius = f % 2 ? 15 : 30;
      c.border = (i + f) % CNV_N_BORDERS;
      c.color = 0xff3060c0;
      c.interlaced = (i + f) % 3 == 0;
      c.regions = &rows[i];
      test_case_run(&c);
    }
  test_set_finish("regions of wide blurs");
}
END_TEST

/* Each kind of plane once with regions: weights, words, gradients, planes that are not filtered. */
START_TEST(test_regions_of_kinds)
{
  static const struct {
    const char *filter, *format;
    CnvAlphaMode alpha_mode;
    guint planes;
  } kinds[] = {
      {"gaussian", "A420", CNV_ALPHA_PREMULTIPLY, 0},
      {"gaussian", "RGBA", CNV_ALPHA_PREMULTIPLY, 0},
      {"dense-3x3", "AYUV", CNV_ALPHA_FILTER, 0},
      {"sobel", "RGB10A2_LE", CNV_ALPHA_COPY, 0},
      {"box", "UYVY", CNV_ALPHA_COPY, CNV_PLANES_LUMA},
      {"box", "I420_10LE", CNV_ALPHA_COPY, CNV_PLANES_CHROMA},
      {"sobel", "Y42B", CNV_ALPHA_COPY, 0},
      {"disk", "ARGB64", CNV_ALPHA_PREMULTIPLY, 0},
      {"box", "RGBx", CNV_ALPHA_COPY, CNV_PLANES_RED},
  };

  for (guint k = 0; k < G_N_ELEMENTS(kinds); k++)
    for (guint i = k % 3; i < G_N_ELEMENTS(rows); i += 3) {
      TestCase c = test_case_base(kinds[k].filter, kinds[k].format, WIDTH, HEIGHT);

      c.border = (i + k) % CNV_N_BORDERS;
      c.pattern = kinds[k].alpha_mode == CNV_ALPHA_PREMULTIPLY && i % 2 ? TEST_HOLES : TEST_NOISE;
      c.alpha_mode = kinds[k].alpha_mode;
      c.planes = kinds[k].planes;
      c.regions = &rows[i];
      test_case_run(&c);
    }
  test_set_finish("regions of kinds");
}
END_TEST

/* Cells of one colour, which begin at the corner of each region. */
START_TEST(test_regions_of_cells)
{
  static const struct {
    const char *filter, *format;
    CnvAlphaMode alpha_mode;
    int radius;
  } kinds[] = {
      {"mosaic", "NV12", CNV_ALPHA_COPY, 3},        {"mosaic", "NV12", CNV_ALPHA_COPY, 30},
      {"mosaic", "RGBA", CNV_ALPHA_COPY, 1},        {"mosaic", "RGBA", CNV_ALPHA_PREMULTIPLY, 5},
      {"mosaic-5x1", "I420_10LE", CNV_ALPHA_COPY},  {"mosaic-contrast", "UYVY", CNV_ALPHA_COPY, 4},
      {"mosaic", "A420", CNV_ALPHA_PREMULTIPLY, 2}, {"mosaic", "RGB", CNV_ALPHA_COPY, 8},
      {"mosaic", "GRAY16_LE", CNV_ALPHA_COPY, 6},   {"fill", "NV12", CNV_ALPHA_COPY},
      {"fill", "RGBA", CNV_ALPHA_PREMULTIPLY},      {"fill", "P010_10LE", CNV_ALPHA_COPY},
      {"fill", "RGB10A2_LE", CNV_ALPHA_FILTER},     {"fill", "YUY2", CNV_ALPHA_COPY},
  };

  for (guint i = 0; i < G_N_ELEMENTS(rows); i++)
    for (guint k = 0; k < G_N_ELEMENTS(kinds); k++) {
      TestCase c = test_case_base(kinds[k].filter, kinds[k].format, WIDTH, HEIGHT);

      if (rows[i].n_random > 100 && !rows[i].invert)
        continue; /* regions that are merged, see Crowds in work.h */
      c.radius = kinds[k].radius;
      c.border = (i + k) % CNV_N_BORDERS;
      c.color = 0xc03060c0;
      c.pattern = kinds[k].alpha_mode == CNV_ALPHA_PREMULTIPLY && i % 2 ? TEST_HOLES : TEST_NOISE;
      c.alpha_mode = kinds[k].alpha_mode;
      c.interlaced = i % 5 == 3;
      c.regions = &rows[i];
      test_case_run(&c);
    }
  test_set_finish("regions of cells");
}
END_TEST

START_TEST(test_fields)
{
  static const char *const formats[] = {"NV12", "GRAY8", "RGB", "A420", "YUY2", "I420_10LE", "Y42B"};
  static const char *const filters[] = {"gaussian", "dense-5x5", "unsharp", "axes-flip-anchor"};
  static const int heights[] = {1, 2, 3, 5, 6, 27, 48};

  for (guint f = 0; f < G_N_ELEMENTS(formats); f++)
    for (guint h = 0; h < G_N_ELEMENTS(heights); h++)
      for (guint k = 0; k < G_N_ELEMENTS(filters); k++) {
        TestCase c = test_case_base(filters[k], formats[f], 37, heights[h]);

        c.border = (f + h + k) % CNV_N_BORDERS;
        c.alpha_mode = h % 2 ? CNV_ALPHA_PREMULTIPLY : CNV_ALPHA_COPY;
        c.interlaced = TRUE;
        test_case_run(&c);
      }
  test_set_finish("fields");
}
END_TEST

START_TEST(test_regions_of_fields)
{
  static const char *const formats[] = {"NV12", "RGBA", "UYVY"};

  for (guint i = 0; i < G_N_ELEMENTS(rows); i++)
    for (guint f = 0; f < G_N_ELEMENTS(formats); f++) {
      TestCase c = test_case_base(i % 2 ? "gaussian" : "dense-3x3", formats[f], WIDTH, HEIGHT);

      c.border = (i + f) % CNV_N_BORDERS;
      c.interlaced = TRUE;
      c.regions = &rows[i];
      test_case_run(&c);
    }
  test_set_finish("regions of fields");
}
END_TEST

/* Work on a whole frame ignores the regions in its structure. */
START_TEST(test_everything)
{
  static CnvRegion region = {{3, 3, 9, 9}, 0};

  for (guint i = 0; i < test_variants->len; i++) {
    TestVariant *v = &g_array_index(test_variants, TestVariant, i);
    TestCase c = test_case_base("gaussian", "NV12", WIDTH, HEIGHT);
    CnvFilter filter;
    CnvImage image;
    CnvWork work;
    TestFrame in, out;
    TestRun run;
    CnvPlan *plan;

    test_filter_make(c.filter, c.radius, test_options.seed, &filter);
    test_image_make(&c, &image);
    plan = cnv_plan_new(&filter, &image, v->algorithm, v->backend, NULL);
    cnv_filter_clear(&filter);
    if (!plan)
      continue;
    work = (CnvWork){&plan, 1, TRUE, &region, 1, TRUE, TRUE, 9, TRUE, 7, 8, FALSE};
    test_frame_init(&in, image.format, c.width, c.height, (TestLayout){0, 2, 4});
    test_frame_init(&out, image.format, c.width, c.height, (TestLayout){64, 6, 2});
    test_frame_fill(&in, TEST_NOISE, test_options.seed);
    test_run_init(&run, v->memory, &in, &out);
    ck_assert(cnv_session_submit(v->session, &work, &run.from, &run.to, NULL) && cnv_session_wait(v->session, NULL));
    test_run_finish(&run);
    test_output_check(&work, &in, &out, "all of a frame, and regions that do not count");
    test_frame_clear(&in);
    test_frame_clear(&out);
    cnv_plan_unref(plan);
  }
  test_set_finish("everything");
}
END_TEST

/* Isolated shapes on frames of many tiles. Each shape leaves weights in memory that the next one must not read. */
START_TEST(test_isolated_tiles)
{
  static const TestRegions shapes[] = {
      {"soft", 1, 1, {{{0, 0, 400, 220}, 0, CNV_SHAPE_MASK}}, .isolated = TRUE},
      {"small", 1, 1, {{{260, 30, 70, 50}, 0, CNV_SHAPE_ELLIPSE}}, .isolated = TRUE},
      {"hole", 1, 1, {{{130, 60, 120, 90}, 0, CNV_SHAPE_ELLIPSE}}, .isolated = TRUE, .invert = TRUE},
      {"hole with feather", 1, 1, {{{90, 130, 20, 9}, 0}}, .isolated = TRUE, .invert = TRUE, .feather = 9},
      {"corner", 1, 1, {{{-90, -60, 200, 110}, 0, CNV_SHAPE_ELLIPSE}}, .isolated = TRUE, .feather = 5},
      {"two shapes",
       1,
       2,
       {{{10, 9, 90, 70}, 0, CNV_SHAPE_ELLIPSE}, {{300, 140, 80, 70}, 0, CNV_SHAPE_MASK}},
       .isolated = TRUE},
  };
  static const struct {
    const char *format;
    int radius;
  } kinds[] = {{"GRAY8", 4}, {"NV12", 8}, {"I420", 12}, {"NV12", 16}, {"GRAY8", 24}, {"GRAY8", 40},
               {"NV12", 48}, {"RGB", 2},  {"RGBA", 2},  {"RGBA", 4},  {"RGB", 8},    {"RGB", 16}};

  for (guint k = 0; k < G_N_ELEMENTS(kinds); k++)
    for (guint i = 0; i < G_N_ELEMENTS(shapes); i++) {
      TestCase c = test_case_base("gaussian", kinds[k].format, 400, 220);

      c.radius = kinds[k].radius;
      c.border = (i + k) % CNV_N_BORDERS;
      c.color = 0xff3060c0;
      if ((i + k) % 3 > 0) /* else at odd addresses, which the copy engine does not support */
        c.in = c.out = (TestLayout){.joined = TRUE};
      c.regions = &shapes[i];
      test_case_run(&c);
    }
  test_set_finish("isolated tiles");
}
END_TEST

TCase *
test_parts_tcase(void)
{
  TCase *tcase = tcase_create("parts");

  tcase_add_test(tcase, test_regions);
  tcase_add_test(tcase, test_regions_of_wide_blurs);
  tcase_add_test(tcase, test_regions_of_kinds);
  tcase_add_test(tcase, test_regions_of_cells);
  tcase_add_test(tcase, test_fields);
  tcase_add_test(tcase, test_regions_of_fields);
  tcase_add_test(tcase, test_everything);
  tcase_add_test(tcase, test_isolated_tiles);
  return tcase;
}
