/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Boxes of GstAnalyticsODMtd that are rotated about their centre (GStreamer 1.26). As in regions.c, black becomes
 * white, so that the output is the regions' weight times 255. It is compared with the share of points in each pixel
 * that are inside.
 */
#include "config.h"

#include "element/element.h"
#include "support/inside.h"

#if defined(HAVE_ANALYTICS) && GST_CHECK_VERSION(1, 26, 0)

#include <gst/analytics/analytics.h>
#include <math.h>

#define WIDTH 32
#define HEIGHT 24

/* Computes x and y of the corners of a box that is rotated clockwise. */
static void
make_corners(double x, double y, double width, double height, double angle, double corners[8])
{
  static const double at[] = {-0.5, -0.5, 0.5, -0.5, 0.5, 0.5, -0.5, 0.5};

  for (int i = 0; i < 4; i++) {
    double right = at[2 * i] * width, down = at[2 * i + 1] * height;

    corners[2 * i] = x + width / 2 + right * cos(angle) - down * sin(angle);
    corners[2 * i + 1] = y + height / 2 + right * sin(angle) + down * cos(angle);
  }
}

/* Fails unless the weight of each pixel is the part of it that is inside. */
static void
expect_turned(const guint8 *pixels, const double corners[8], gboolean invert, const char *what)
{
  double weights[WIDTH * HEIGHT];

  for (int i = 0; i < WIDTH * HEIGHT; i++)
    weights[i] = inside_part(corners, 4, i % WIDTH, i / WIDTH, 32);
  expect_weights(pixels, WIDTH, HEIGHT, weights, invert, 6, what);
}

static GstBuffer *
turned_frame(int x, int y, int width, int height, float angle, guint i)
{
  GstBuffer *frame = black_frame(WIDTH, HEIGHT, i);
  GstAnalyticsRelationMeta *meta = gst_buffer_add_analytics_relation_meta(frame);
  GstAnalyticsODMtd od;

  fail_unless(gst_analytics_relation_meta_add_oriented_od_mtd(meta, 0, x, y, width, height, angle, 1, &od));
  return frame;
}

/* A rotated box is hidden, and its surroundings are not. It grows by a fraction of its own sides. */
GST_START_TEST(test_turned_boxes)
{
  static const float angles[] = {0.001f, 0.3f, -0.5f, 1.5707963f, 2, 3.1415927f, -100, 1e30f};

  for (guint i = 0; i < 3 * G_N_ELEMENTS(angles); i++) {
    float angle = angles[i / 3];
    double grow = i % 3 == 1 ? 0.25 : 0, corners[8];
    g_autofree char *what = g_strdup_printf("%g, way %u", angle, i % 3);
    GstHarness *h = HARNESS(BACKEND, "GRAY8", WIDTH, HEIGHT, NEGATIVE, "roi-source=meta",
                            i % 3 == 1   ? "roi-expand=0.25"
                            : i % 3 == 2 ? "roi-invert=true"
                                         : "roi-expand=0");
    guint8 pixels[WIDTH * HEIGHT];

    make_corners(9 - 12 * grow, 8 - 5 * grow, 12 + 24 * grow, 5 + 10 * grow, angle, corners);
    filter_gray(h, turned_frame(9, 8, 12, 5, angle, 0), pixels, sizeof(pixels));
    expect_turned(pixels, corners, i % 3 == 2, what);
    gst_harness_teardown(h);
  }
}
GST_END_TEST;

/* The inscribed ellipse rotates with its box, and the feather is outside. */
GST_START_TEST(test_turned_shapes)
{
  for (int i = 0; i < 20; i++) {
    float angle = 0.31f * (float)(i + 1);
    GstHarness *h = HARNESS(BACKEND, "GRAY8", WIDTH, HEIGHT, NEGATIVE, "roi-source=meta", "roi-feather=3",
                            i % 2 ? "roi-shape=ellipse" : "roi-shape=rectangle");
    guint8 pixels[WIDTH * HEIGHT];

    filter_gray(h, turned_frame(9, 8, 12, 5, angle, 0), pixels, sizeof(pixels));
    for (int y = 0; y < HEIGHT; y++)
      for (int x = 0; x < WIDTH; x++) {
        double dx = x + 0.5 - 15, dy = y + 0.5 - 10.5;
        double along = fabs(dx * cos(angle) + dy * sin(angle)), across = fabs(dy * cos(angle) - dx * sin(angle));
        gboolean inside = i % 2 ? hypot(along / 6, across / 2.5) < 0.7 : along < 5.2 && across < 1.7;
        int pixel = pixels[y * WIDTH + x];

        fail_unless(!inside || pixel == 255, "%g: %d at (%d, %d), which is inside", angle, pixel, x, y);
        fail_unless((along < 6 + 4.8 && across < 2.5 + 4.8) || pixel == 0, "%g: %d at (%d, %d), which is outside",
                    angle, pixel, x, y);
        if (i % 2 == 0 && along < 5 && across > 2.5 + 0.8 && across < 2.5 + 1.5)
          fail_unless(pixel > 40 && pixel < 255, "%g: %d at (%d, %d), which fades", angle, pixel, x, y);
      }
    gst_harness_teardown(h);
  }
}
GST_END_TEST;

/* With roi-smooth a rotated box that stays is kept as it is, and one that moves is kept as a rectangle around it. */
GST_START_TEST(test_turned_boxes_missed)
{
  GstHarness *h = HARNESS(BACKEND, "GRAY8", WIDTH, HEIGHT, NEGATIVE, "roi-source=meta", "roi-smooth=2");
  guint8 pixels[WIDTH * HEIGHT];
  double corners[8];
  guint n = 0;

  make_corners(9, 8, 12, 5, 0.5f, corners);
  for (; n < 3; n++) {
    filter_gray(h, n == 0 ? turned_frame(9, 8, 12, 5, 0.5f, n) : black_frame(WIDTH, HEIGHT, n), pixels, sizeof(pixels));
    expect_turned(pixels, corners, FALSE, "missed");
  }
  for (int step = 0; step < 4; step++, n++) {
    filter_gray(h, step < 3 ? turned_frame(3 + 3 * step, 8, 12, 5, 0.5f, n) : black_frame(WIDTH, HEIGHT, n), pixels,
                sizeof(pixels));
    make_corners(3 + 3 * step, 8, 12, 5, 0.5f, corners);
    for (int i = 0; i < WIDTH * HEIGHT; i++)
      fail_unless(inside_part(corners, 4, i % WIDTH, i / WIDTH, 8) < 1 || pixels[i] >= 254, "step %d: %d at (%d, %d)",
                  step, pixels[i], i % WIDTH, i / WIDTH);
  }
  gst_harness_teardown(h);
}
GST_END_TEST;

/* Boxes at the limits of integers. */
GST_START_TEST(test_hostile_turns)
{
  static const struct {
    int x, y, width, height;
    int filled; /* 1: the frame is in the box; 0: it is not; -1: either */
  } rows[] = {
      {-G_MAXINT / 2, -G_MAXINT / 2, G_MAXINT, G_MAXINT, 1},
      {G_MAXINT, G_MAXINT, 5, 5, 0},
      {G_MININT, G_MININT, 5, 5, 0},
      {5, 5, -5, 5, 0},
      {5, 5, 0, 5, 0},
      {-G_MAXINT / 2, 5, G_MAXINT, 1, -1},
  };

  for (guint i = 0; i < 2 * G_N_ELEMENTS(rows); i++) {
    GstHarness *h = HARNESS(BACKEND, "GRAY8", WIDTH, HEIGHT, NEGATIVE, "roi-source=meta",
                            i % 2 ? "roi-feather=1024" : "roi-expand=10");
    guint8 pixels[WIDTH * HEIGHT];

    filter_gray(h, turned_frame(rows[i / 2].x, rows[i / 2].y, rows[i / 2].width, rows[i / 2].height, 0.7f, 0), pixels,
                sizeof(pixels));
    for (int p = 0; p < WIDTH * HEIGHT && rows[i / 2].filled >= 0; p++)
      fail_unless(pixels[p] == 255 * rows[i / 2].filled, "row %u: %d", i, pixels[p]);
    gst_harness_teardown(h);
  }
}
GST_END_TEST;

/* If the angle is not a number, everything is hidden that the box could cover at any angle. */
GST_START_TEST(test_box_without_angle)
{
  static const float angles[] = {NAN, INFINITY, -INFINITY};

  for (guint i = 0; i < G_N_ELEMENTS(angles); i++) {
    GstHarness *h = HARNESS(BACKEND, "GRAY8", WIDTH, HEIGHT, NEGATIVE, "roi-source=meta");
    guint8 pixels[WIDTH * HEIGHT];

    filter_gray(h, turned_frame(12, 9, 8, 6, angles[i], 0), pixels, sizeof(pixels));
    for (int y = 0; y < HEIGHT; y++)
      for (int x = 0; x < WIDTH; x++)
        fail_unless((pixels[y * WIDTH + x] == 255) == (x >= 11 && x < 21 && y >= 7 && y < 17), "%d at (%d, %d)",
                    pixels[y * WIDTH + x], x, y);
    gst_harness_teardown(h);
  }
}
GST_END_TEST;

void
add_turned_tests(TCase *each)
{
  EACH(test_turned_boxes);
  EACH(test_turned_shapes);
  EACH(test_turned_boxes_missed);
  EACH(test_hostile_turns);
  EACH(test_box_without_angle);
}

#else

void
add_turned_tests(TCase *each)
{
  g_print("SKIPPED: rotated boxes, this build has no gstreamer-analytics-1.0 of GStreamer 1.26 or newer\n");
}

#endif
