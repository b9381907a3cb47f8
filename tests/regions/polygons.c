/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Polygons as regions. As in regions.c, black becomes white, so that the output is the regions' weight times 255. It is
 * compared with the share of points in each pixel that are inside.
 */
#include <math.h>
#include <string.h>
#include <time.h>

#include "element/element.h"
#include "support/inside.h"

#define WIDTH 32
#define HEIGHT 24
#define MARGIN 12 /* pixels around the frame from which a region can grow into it */
#define COLUMNS (WIDTH + 2 * MARGIN)
#define ROWS (HEIGHT + 2 * MARGIN)
#define MAX_POLYGONS 3
#define SAMPLES 32

/* Points in pixels. n 0 ends a list. */
typedef struct {
  double point[14];
  int n;
} Polygon;

typedef struct {
  Polygon polygon[MAX_POLYGONS + 1];
  double expand, feather; /* pixels */
  gboolean invert;
} Expected;

/* ---- what is expected ---- */

static double
area_at(const Polygon *polygon, int x, int y)
{
  return inside_part(polygon->point, polygon->n, x, y, SAMPLES);
}

/* Returns the weight of a polygon that grows: after `expand` pixels it falls from one pixel to the next, beside it or
 * above it. */
static double
grown_at(const Expected *expected, const double *areas, int x, int y)
{
  double lift = 1 + expected->expand / (expected->feather + 1), most = 0;

  for (int row = 0; row < ROWS; row++)
    for (int column = 0; column < COLUMNS; column++) {
      int away = abs(column - MARGIN - x) + abs(row - MARGIN - y);

      most = MAX(most, lift * areas[row * COLUMNS + column] - away / (expected->feather + 1));
    }
  return MIN(most, 1);
}

static void
add_weights(const Expected *expected, const Polygon *polygon, double weights[WIDTH * HEIGHT])
{
  double areas[COLUMNS * ROWS];
  gboolean grows = expected->expand + expected->feather > 0;

  for (int i = 0; i < COLUMNS * ROWS; i++)
    areas[i] = area_at(polygon, i % COLUMNS - MARGIN, i / COLUMNS - MARGIN);
  for (int y = 0; y < HEIGHT; y++)
    for (int x = 0; x < WIDTH; x++) {
      double weight = grows ? grown_at(expected, areas, x, y) : areas[(y + MARGIN) * COLUMNS + x + MARGIN];

      weights[y * WIDTH + x] = MAX(weights[y * WIDTH + x], weight);
    }
}

/* Pushes a black frame as frame i, and checks the weights of the output. */
static void
expect_polygons(GstHarness *h, guint i, const Expected *expected, const char *what)
{
  double weights[WIDTH * HEIGHT] = {0};
  guint8 pixels[WIDTH * HEIGHT];

  for (const Polygon *polygon = expected->polygon; polygon->n > 0; polygon++)
    add_weights(expected, polygon, weights);
  filter_gray(h, black_frame(WIDTH, HEIGHT, i), pixels, sizeof(pixels));
  expect_weights(pixels, WIDTH, HEIGHT, weights, expected->invert, 6, what);
}

/* ---- where ---- */

#define TRIANGLE                                                                                                       \
  {                                                                                                                    \
    {2, 3, 20, 5, 9, 21}, 3                                                                                            \
  }
/* Each side leads to the next point but one. */
#define STAR                                                                                                           \
  {                                                                                                                    \
    {16, 1, 23, 22, 5, 9, 27, 9, 9, 22}, 5                                                                             \
  }

static const struct {
  const char *set[5];
  Expected expected;
} place_rows[] = {
    {{"roi-polygons=<<2,3,20,5,9,21>>"}, {{TRIANGLE}}},
    {{"roi-polygons=<<9,21,20,5,2,3>>"}, {{TRIANGLE}}},
    {{"roi-polygons=<<2,3,6,3,6,8,2,8>>"}, {{{{2, 3, 6, 3, 6, 8, 2, 8}, 4}}}},
    {{"roi-polygons=<<2.5,3.25,6.5,3.25,6.5,8.75,2.5,8.75>>"}, {{{{2.5, 3.25, 6.5, 3.25, 6.5, 8.75, 2.5, 8.75}, 4}}}},
    {{"roi-polygons=<<16,1,23,22,5,9,27,9,9,22>>"}, {{STAR}}},
    {{"roi-polygons=<<16,1,23,22,5,9,27,9,9,22>>", "roi-invert=true"}, {{STAR}, 0, 0, TRUE}},
    {{"roi-polygons=<<2,3,20,5,9,21>,<16,1,23,22,5,9,27,9,9,22>>"}, {{TRIANGLE, STAR}}},
    {{"roi-polygons=<<2,3,20,5,9,21>>", "roi=<<14,10,9,4>>"}, {{TRIANGLE, {{14, 10, 23, 10, 23, 14, 14, 14}, 4}}}},
    /* partly outside, and far outside */
    {{"roi-polygons=<<-10,-10,20,2,-9,30>,<28,20,1000000,20,28,1000000>>"},
     {{{{-10, -10, 20, 2, -9, 30}, 3}, {{28, 20, 1e6, 20, 28, 1e6}, 3}}}},
    {{"roi-polygons=<<-1048576,-1048576,1048576,-1048576,1048576,1048576,-1048576,1048576>>"},
     {{{{-99, -99, 99, -99, 99, 99, -99, 99}, 4}}}},
    {{"roi-polygons=<<0.0625,0.125,0.625,1/4,0.25,0.875>>", "roi-units=fraction"}, {{{{2, 3, 20, 6, 8, 21}, 3}}}},
    {{"roi-polygons=<<-0.5,0,1.5,0,0.5,2>>", "roi-units=fraction"}, {{{{-16, 0, 48, 0, 16, 48}, 3}}}},
    /* grown by 0.1 of 20 pixels, or by all of 5, also if the polygon begins outside */
    {{"roi-polygons=<<4,8,24,8,24,14,4,14>>", "roi-expand=0.1"}, {{{{4, 8, 24, 8, 24, 14, 4, 14}, 4}}, 2}},
    {{"roi-polygons=<<-7,8,-2,8,-2,11,-7,11>>", "roi-expand=1"}, {{{{-7, 8, -2, 8, -2, 11, -7, 11}, 4}}, 5}},
    {{"roi-polygons=<<2,3,20,5,9,21>>", "roi-feather=4"}, {{TRIANGLE}, 0, 4}},
    {{"roi-polygons=<<2,3,20,5,9,21>>", "roi-feather=3", "roi-expand=0.25"}, {{TRIANGLE}, 4.5, 3}},
    {{"roi-polygons=<<-7,8,-2,8,-2,11,-7,11>>", "roi-feather=9"}, {{{{-7, 8, -2, 8, -2, 11, -7, 11}, 4}}, 0, 9}},
    {{"roi-polygons=<<8,6,14,6,14,10,8,10>>", "roi-target-x=20", "roi-target-y=1"},
     {{{{20, 1, 26, 1, 26, 5, 20, 5}, 4}}}},
    /* no area in the frame */
    {{"roi-polygons=<<40,0,50,0,45,9>,<1,1,20,20,9,9>>"}, {{{{0}, 0}}}},
    {{"roi-polygons=<<40,0,50,0,45,9>>", "roi-missing=filter"}, {{{{-9, -9, 99, -9, 99, 99, -9, 99}, 4}}}},
};

GST_START_TEST(test_polygon_places)
{
  for (gsize i = 0; i < G_N_ELEMENTS(place_rows); i++) {
    GstHarness *h = HARNESS(BACKEND, "GRAY8", WIDTH, HEIGHT, NEGATIVE, "roi-source=property");

    set_all(h->element, place_rows[i].set);
    for (guint n = 0; n < 2; n++)
      expect_polygons(h, n, &place_rows[i].expected, place_rows[i].set[0]);
    gst_harness_teardown(h);
  }
}
GST_END_TEST;

/* Every frame has other polygons, units or growth. A rejected value changes nothing. */
GST_START_TEST(test_polygons_change)
{
  static const struct {
    const char *set[3];
    Expected expected;
  } rows[] = {
      {{"roi-polygons=<<2,3,20,5,9,21>>"}, {{TRIANGLE}}},
      {{"roi-polygons=<<16,1,23,22,5,9,27,9,9,22>>"}, {{STAR}}},
      {{"roi-feather=3"}, {{STAR}, 0, 3}},
      {{"roi-polygons=<<1,2,3,4>>"}, {{STAR}, 0, 3}},
      {{"roi-polygons=<<0,0,0.5,0,0.5,1>>"}, {{STAR}, 0, 3}},
      {{"roi-units=fraction", "roi-feather=0"}, {{{{0, 0, 16, 0, 16, 24}, 3}}}},
      {{"roi-polygons=<>", "roi=<<0,0,0.5,1>>"}, {{{{0, 0, 16, 0, 16, 24, 0, 24}, 4}}}},
      {{"roi=<>", "roi-polygons=<<1,0,0,0,0,1>>"}, {{{{0, 0, 32, 0, 0, 24}, 3}}}},
  };
  GstHarness *h = HARNESS(BACKEND, "GRAY8", WIDTH, HEIGHT, NEGATIVE, "roi-source=property");

  for (guint i = 0; i < G_N_ELEMENTS(rows); i++) {
    set_all(h->element, rows[i].set);
    expect_polygons(h, i, &rows[i].expected, rows[i].set[0]);
  }
  gst_harness_teardown(h);
}
GST_END_TEST;

/* A blur: pixels outside do not change, and pixels inside are the mean of 3 x 3. */
GST_START_TEST(test_polygon_blur)
{
  GstHarness *h = HARNESS(BACKEND, "GRAY8", W, H, "filter=box", "radius=1", "roi-source=property",
                          "roi-polygons=<<0,0,2,0,2,3,0,3>>");
  guint8 expected[W * H];

  for (int i = 0; i < W * H; i++)
    expected[i] = i % W < 2 ? ramp_box[i] : ramp[i];
  expect_ramp(h, 0, expected);
  gst_harness_teardown(h);
}
GST_END_TEST;

/* A chroma sample, 228 and after filtering 28, is weighted by its own area, 2 x 2 pixels. If the polygon's last column
 * is half of it, at least that half counts. */
GST_START_TEST(test_polygon_chroma)
{
  GstHarness *h = HARNESS(BACKEND, "I420", 16, 8, NEGATIVE, "planes=chroma", "roi-source=property",
                          "roi-polygons=<<2,2,7,2,7,6,2,6>>");
  GstBuffer *buffer = gst_harness_create_buffer(h, 16 * 8 * 3 / 2);
  guint8 bytes[16 * 8 * 3 / 2];

  gst_buffer_memset(buffer, 0, 228, (gsize)-1);
  stamp(buffer, 0);
  buffer = gst_harness_push_and_pull(h, buffer);
  gst_buffer_extract(buffer, 0, bytes, sizeof(bytes));
  for (int y = 0; y < 4; y++)
    for (int x = 0; x < 8; x++) {
      double part = y >= 1 && y < 3 && x >= 1 && x < 4 ? (x == 3 ? 0.5 : 1) : 0;
      int got = bytes[16 * 8 + y * 8 + x];

      if (part == 0.5)
        fail_unless(got <= 228 - 100 + 1, "%d at (%d, %d)", got, x, y);
      else
        fail_unless(fabs(got - (228 - 200 * part)) < 2, "%d at (%d, %d) and not %g", got, x, y, 228 - 200 * part);
    }
  gst_buffer_unref(buffer);
  gst_harness_teardown(h);
}
GST_END_TEST;

/* All polygons together have at most 1024 points. */
GST_START_TEST(test_most_points)
{
  for (int n = 1024; n <= 1025; n++) {
    g_autoptr(GString) text = g_string_new("roi-polygons=<<");
    GstBus *bus;
    GstElement *element = make_element("cpu", &bus);

    for (int i = 0; i < n - 3; i++)
      g_string_append_printf(text, "%s%d,%d", i > 0 ? "," : "", (i * 37) % WIDTH, (i * 11) % HEIGHT);
    g_string_append(text, ">,<1,2,3,4,5,9>>");
    SET(element, "roi-source=property", text->str);
    fail_unless_equals_int(count_messages(bus, GST_MESSAGE_WARNING, "1025 points in all, and the limit is 1024"),
                           n == 1025);
    if (n == 1024) {
      GstHarness *h = harness_of(gst_object_ref(element), "GRAY8", WIDTH, HEIGHT);

      gst_buffer_unref(gst_harness_push_and_pull(h, black_frame(WIDTH, HEIGHT, 0)));
      fail_unless_equals_int(count_messages(bus, GST_MESSAGE_WARNING, ""), 0);
      gst_harness_teardown(h);
    }
    free_element(element, bus);
  }
}
GST_END_TEST;

/* More pixels than masks can have: each polygon becomes its rectangle, and one warning says so. */
GST_START_TEST(test_too_many_pixels)
{
  enum { SIDE = 4096 };
  g_autoptr(GString) text = g_string_new("roi-polygons=<");
  static guint8 pixels[SIDE * SIDE];
  GstBus *bus;
  GstElement *element = make_element("cpu", &bus);
  GstHarness *h;

  for (int i = 0; i < 6; i++)
    g_string_append_printf(text, "%s<0,0,%d,0,0,4096>", i > 0 ? "," : "", SIDE - i);
  g_string_append(text, ">");
  SET(element, NEGATIVE, "roi-source=property", text->str);
  h = harness_of(gst_object_ref(element), "GRAY8", SIDE, SIDE);
  filter_gray(h, black_frame(SIDE, SIDE, 0), pixels, sizeof(pixels));
  fail_unless_equals_int(pixels[10 * SIDE + 10], 255);
  fail_unless_equals_int(pixels[(SIDE - 10) * SIDE + SIDE - 10], 255);
  fail_unless_equals_int(count_messages(bus, GST_MESSAGE_WARNING, "the masks of a frame have"), 1);
  gst_harness_teardown(h);
  free_element(element, bus);
}
GST_END_TEST;

/* Limit of the CPU time of a 4K frame with a new polygon of 1024 points. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SECONDS_MOST 60
#else
#define SECONDS_MOST 2.5
#endif

/* Returns a polygon with points up to `reach` pixels outside the frame. comb: every other point is at the top. */
static char *
random_polygon(GRand *random, int reach, gboolean comb)
{
  GString *text = g_string_new("roi-polygons=<<");

  for (int i = 0; i < 1024; i++)
    g_string_append_printf(text, "%s%d,%d", i > 0 ? "," : "",
                           comb ? i * 3840 / 1024 : g_rand_int_range(random, -reach, 3840 + reach),
                           comb ? i % 2 * 2160 : g_rand_int_range(random, -reach, 2160 + reach));
  g_string_append(text, ">>");
  return g_string_free(text, FALSE);
}

/* Polygons with the largest number of points, whose sides cross each other all over the frame. Each frame has
 * others. */
GST_START_TEST(test_hostile_polygons)
{
  static const char *const more[] = {"roi-feather=0", "roi-feather=1024", "roi-expand=10", "roi-invert=true",
                                     "roi-isolated=true"};
  static const guint8 black[3840 * 2160];
  const int reaches[] = {0, 5000, 1 << 19};
  GRand *random = g_rand_new_with_seed(1024);

  for (guint i = 0; i < 4 * G_N_ELEMENTS(more); i++) {
    GstHarness *h = HARNESS("cpu", "GRAY8", 3840, 2160, "filter=box", "radius=2", "roi-source=property", more[i / 4]);

    for (guint f = 0; f < 2; f++) {
      g_autofree char *text = random_polygon(random, reaches[i % 4 % 3], i % 4 == 3);
      GstBuffer *frame = gray_buffer(3840, 2160, black, f);
      clock_t start = clock();

      SET(h->element, text);
      gst_buffer_unref(gst_harness_push_and_pull(h, frame));
      fail_unless(clock() - start < SECONDS_MOST * CLOCKS_PER_SEC, "%s, way %u: %.2f s", more[i / 4], i % 4,
                  (double)(clock() - start) / CLOCKS_PER_SEC);
    }
    gst_harness_teardown(h);
  }
  g_rand_free(random);
}
GST_END_TEST;

void
add_polygon_tests(TCase *once, TCase *each)
{
  tcase_add_test(once, test_most_points);
  tcase_add_test(once, test_hostile_polygons);
  tcase_add_test(once, test_too_many_pixels);
  EACH(test_polygon_places);
  EACH(test_polygons_change);
  EACH(test_polygon_blur);
  EACH(test_polygon_chroma);
}
