/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Regions of interest. Most tests turn black into white (scale -1, bias 1) on a black frame, so that the output is the
 * regions' weight times 255. They compare it with weights computed here from the distance to each rectangle.
 */
#include <string.h>

#include "element/element.h"

#define WIDTH 32
#define HEIGHT 24
#define MAX_RECTS 3

typedef struct {
  const char *type; /* of a meta; NULL ends the list */
  guint x, y, width, height;
} Meta;

/* Corners, in doubles, so that huge numbers do not overflow. The lower right corner is outside the box. All 0 ends the
 * list. */
typedef struct {
  double left, top, right, bottom;
} Box;

static GstBuffer *
frame_with(const Meta *metas, guint i)
{
  GstBuffer *buffer = black_frame(WIDTH, HEIGHT, i);

  for (; metas->type; metas++)
    gst_buffer_add_video_region_of_interest_meta(buffer, metas->type, metas->x, metas->y, metas->width, metas->height);
  return buffer;
}

/* Returns the weight of a sample at its distance from an edge, along one axis. */
static double
fade(double at, double from, double to, double feather)
{
  double away = MAX(MAX(from - at, at - to + 1), 0);

  return MAX(1 - away / (feather + 1), 0);
}

static double
weight_at(const Box *boxes, double feather, int x, int y)
{
  double largest = 0;

  for (; boxes->right > boxes->left; boxes++)
    largest = MAX(largest, fade(x, boxes->left, boxes->right, feather) * fade(y, boxes->top, boxes->bottom, feather));
  return largest;
}

static void
expect_boxes(GstBuffer *buffer, const Box *boxes, double feather, gboolean invert, const char *what)
{
  double weights[WIDTH * HEIGHT];
  guint8 pixels[WIDTH * HEIGHT];

  gst_buffer_extract(buffer, 0, pixels, sizeof(pixels));
  for (int i = 0; i < WIDTH * HEIGHT; i++)
    weights[i] = weight_at(boxes, feather, i % WIDTH, i / WIDTH);
  expect_weights(pixels, WIDTH, HEIGHT, weights, invert, 0.501, what);
}

static int
count_metas(GstBuffer *buffer)
{
  gpointer state = NULL;
  int n = 0;

  while (gst_buffer_iterate_meta_filtered(buffer, &state, GST_VIDEO_REGION_OF_INTEREST_META_API_TYPE))
    n++;
  return n;
}

/* ---- places ---- */

static const struct {
  const char *set[6];
  Meta metas[MAX_RECTS + 1];
  Box boxes[MAX_RECTS + 1];
  double feather;
  gboolean invert;
} place_rows[] = {
    {{"roi-source=property", "roi=<<2,3,4,5>>"}, {{NULL}}, {{2, 3, 6, 8}}},
    {{"roi-source=property", "roi=<<2,3,4,5>,<4,4,20,3>>"}, {{NULL}}, {{2, 3, 6, 8}, {4, 4, 24, 7}}},
    {{"roi-source=property", "roi=<<-3,-2,5,5>,<30,20,100,100>,<-9,5,9,5>>"},
     {{NULL}},
     {{0, 0, 2, 3}, {30, 20, 32, 24}}},
    /* metas count only with roi-source=meta, and the property only with roi-source=property */
    {{"roi-source=property", "roi=<<2,3,4,5>>"}, {{"face", 9, 9, 9, 9}}, {{2, 3, 6, 8}}},
    {{"roi-source=meta", "roi=<<2,3,4,5>>"}, {{"face", 9, 9, 9, 9}}, {{9, 9, 18, 18}}},
    {{"roi-source=meta"}, {{"face", 1, 1, 4, 4}, {"car", 9, 9, 9, 9}}, {{1, 1, 5, 5}, {9, 9, 18, 18}}},
    {{"roi-source=meta", "roi-types=face"}, {{"face", 1, 1, 4, 4}, {"car", 9, 9, 9, 9}}, {{1, 1, 5, 5}}},
    {{"roi-source=meta", "roi-types=fac"}, {{"face", 1, 1, 4, 4}, {"fac", 9, 9, 9, 9}}, {{9, 9, 18, 18}}},
    {{"roi-source=meta", "roi-types= plate , car,"},
     {{"face", 1, 1, 4, 4}, {"car", 9, 9, 9, 9}, {"plate", 20, 2, 3, 3}},
     {{9, 9, 18, 18}, {20, 2, 23, 5}}},
    {{"roi-source=meta", "roi-types=Face,CAR"},
     {{"face", 1, 1, 4, 4}, {"Car", 9, 9, 9, 9}},
     {{1, 1, 5, 5}, {9, 9, 18, 18}}},
    {{"roi-source=meta", "roi-types=ALL"}, {{"face", 1, 1, 4, 4}}, {{1, 1, 5, 5}}},
    {{"roi-source=meta", "roi-types=all"}, {{"face", 1, 1, 4, 4}, {"car", 9, 9, 9, 9}}, {{1, 1, 5, 5}, {9, 9, 18, 18}}},
    {{"roi-source=meta", "roi-types= "}, {{"face", 1, 1, 4, 4}}, {{1, 1, 5, 5}}},
    {{"roi-source=meta"}, {{"face", 5, 6, G_MAXUINT, G_MAXUINT}, {"face", 1, 1, 0, 9}}, {{5, 6, 1e9, 1e9}}},
    {{"roi-source=meta", "roi-expand=10"}, {{"face", G_MAXUINT, 5, G_MAXUINT, 1}}, {{0, 0, 1e9, 16}}},
    {{"roi-source=meta", "roi-expand=0.5"}, {{"face", 8, 6, 6, 4}}, {{5, 4, 17, 12}}},
    /* half a pixel counts as a whole one; 0.07 of 100 pixels are 7 pixels, although doubles cannot hold 0.07 exactly */
    {{"roi-source=meta", "roi-expand=0.25"}, {{"face", 8, 6, 2, 2}}, {{7, 5, 11, 9}}},
    {{"roi-source=meta", "roi-expand=0.07"}, {{"face", 10, 10, 100, 100}}, {{3, 3, 1e9, 1e9}}},
    {{"roi-source=meta", "roi-feather=3"}, {{"face", 8, 6, 6, 4}}, {{8, 6, 14, 10}}, 3},
    {{"roi-source=meta", "roi-feather=2.5"},
     {{"a", 8, 6, 6, 4}, {"b", 16, 9, 3, 3}},
     {{8, 6, 14, 10}, {16, 9, 19, 12}},
     2.5},
    /* the feather reaches into the frame from outside */
    {{"roi-source=property", "roi-feather=5", "roi=<<-9,4,7,4>>"}, {{NULL}}, {{-9, 4, -2, 8}}, 5},
    {{"roi-source=meta", "roi-invert=true"},
     {{"face", 8, 6, 6, 4}, {"car", 9, 9, 9, 9}},
     {{8, 6, 14, 10}, {9, 9, 18, 18}},
     0,
     TRUE},
    {{"roi-source=meta", "roi-invert=true", "roi-feather=4"}, {{"face", 8, 6, 6, 4}}, {{8, 6, 14, 10}}, 4, TRUE},
    {{"roi-source=meta", "roi-invert=true"}, {{NULL}}, {{0}}, 0, TRUE},
    {{"roi-source=meta", "roi-target-x=20", "roi-target-y=1"}, {{"face", 8, 6, 6, 4}}, {{20, 1, 26, 5}}},
    {{"roi-source=meta", "roi-target-x=30", "roi-target-y=22"}, {{"face", 8, 6, 6, 4}}, {{30, 22, 32, 24}}},
    {{"roi-source=meta", "roi-isolated=true"}, {{"face", 8, 6, 6, 4}}, {{8, 6, 14, 10}}},
    /* a target has no effect without a source */
    {{"roi-source=none", "roi-target-x=20"}, {{"face", 8, 6, 6, 4}}, {{0, 0, 32, 24}}},
};

GST_START_TEST(test_places)
{
  for (gsize i = 0; i < G_N_ELEMENTS(place_rows); i++) {
    GstHarness *h = HARNESS(BACKEND, "GRAY8", WIDTH, HEIGHT, NEGATIVE);
    GstBuffer *in = frame_with(place_rows[i].metas, 0), *out;
    char *what = g_strdup_printf("row %u, %s", (guint)i, place_rows[i].set[1] ? place_rows[i].set[1] : "");

    set_all(h->element, place_rows[i].set);
    out = gst_harness_push_and_pull(h, gst_buffer_ref(in));
    fail_unless(out != in, "%s", what);
    expect_boxes(out, place_rows[i].boxes, place_rows[i].feather, place_rows[i].invert, what);
    fail_unless_equals_int(count_metas(out), count_metas(in));
    gst_buffer_unref(out);
    gst_buffer_unref(in);
    gst_harness_teardown(h);
    g_free(what);
  }
}
GST_END_TEST;

/* ---- from frame to frame ---- */

/* Each frame has other regions, and sometimes none: then it passes through unchanged. */
GST_START_TEST(test_moving_regions)
{
  GstHarness *h = HARNESS(BACKEND, "GRAY8", WIDTH, HEIGHT, NEGATIVE, "roi-source=meta");

  for (guint i = 0; i < 20; i++) {
    Meta metas[] = {
        {i % 5 == 3 ? NULL : "face", i, i / 2, 3 + i % 4, 5}, {i % 2 ? "face" : NULL, 20 - i, 3, 2, i + 1}, {NULL}};
    Box boxes[3] = {{0}};
    GstBuffer *in, *out;

    for (int r = 0; metas[r].type; r++)
      boxes[r] = (Box){metas[r].x, metas[r].y, metas[r].x + metas[r].width, metas[r].y + metas[r].height};
    in = frame_with(metas, i);
    out = gst_harness_push_and_pull(h, gst_buffer_ref(in));
    fail_unless_equals_int(out == in, metas[0].type == NULL);
    expect_boxes(out, boxes, 0, FALSE, "moving");
    gst_buffer_unref(out);
    gst_buffer_unref(in);
  }
  gst_harness_teardown(h);
}
GST_END_TEST;

static const struct {
  const char *set[4];
  Meta metas[2];
  gboolean passes;
} pass_rows[] = {
    {{"filter=box"}, {{NULL}}, TRUE},
    {{"filter=box"}, {{"face", 1, 1, 3, 3}}, FALSE},
    {{"filter=box"}, {{"face", 1, 1, 0, 3}}, TRUE},
    {{"filter=box"}, {{"face", 200, 1, 3, 3}}, TRUE},
    {{"filter=box", "roi-types=car"}, {{"face", 1, 1, 3, 3}}, TRUE},
    {{"filter=box", "disable-passthrough=true"}, {{NULL}}, FALSE},
    {{"filter=box", "roi-invert=true"}, {{NULL}}, FALSE},
    {{"filter=mosaic"}, {{"face", 1, 1, 3, 3}}, FALSE},
    {{"filter=mosaic", "radius=0"}, {{"face", 1, 1, 3, 3}}, TRUE},
    {{"filter=fill"}, {{"face", 1, 1, 3, 3}}, FALSE},
    {{"filter=identity"}, {{"face", 1, 1, 3, 3}}, TRUE},
    {{"filter=identity", "roi-invert=true"}, {{"face", 1, 1, 3, 3}}, TRUE},
    {{"filter=identity", "roi-target-x=4", "roi-target-y=4"}, {{"face", 1, 1, 3, 3}}, FALSE},
    {{"filter=identity", "roi-target-x=4", "roi-target-y=4"}, {{NULL}}, TRUE},
    /* the radius follows from the region's size, not from the setting of 0 */
    {{"radius=0", "roi-strength=relative"}, {{"face", 1, 1, 8, 8}}, FALSE},
};

GST_START_TEST(test_nothing_to_do)
{
  for (gsize i = 0; i < G_N_ELEMENTS(pass_rows); i++) {
    GstHarness *h = HARNESS(BACKEND, "GRAY8", WIDTH, HEIGHT, "roi-source=meta");
    GstBuffer *in = frame_with(pass_rows[i].metas, 0), *out;

    set_all(h->element, pass_rows[i].set);
    out = gst_harness_push_and_pull(h, gst_buffer_ref(in));
    fail_unless(pass_rows[i].passes == (out == in), "row %u", (guint)i);
    expect_boxes(out, &(Box){0}, 0, FALSE, "nothing");
    gst_buffer_unref(out);
    gst_buffer_unref(in);
    gst_harness_teardown(h);
  }
}
GST_END_TEST;

/* One warning, and everything is covered. */
GST_START_TEST(test_too_many_regions)
{
  for (int invert = 0; invert < 2; invert++) {
    GstBus *bus;
    GstHarness *h =
        WATCHED_HARNESS(&bus, BACKEND, "GRAY8", WIDTH, HEIGHT, NEGATIVE, "roi-source=meta", ROI_INVERT(invert));

    for (guint i = 0; i < 2; i++) {
      GstBuffer *buffer = frame_with(&(Meta){NULL}, i);
      Box seen[] = {{3, 2, 4, 3}, {invert ? 0 : 20, 10, invert ? 0 : 26, 12}, {0}};

      for (int r = 0; r < CNV_MAX_REGIONS - 1; r++)
        gst_buffer_add_video_region_of_interest_meta(buffer, "dot", 3, 2, 1, 1);
      if (invert)
        gst_buffer_add_video_region_of_interest_meta(buffer, "dot", 3, 2, 1, 1);
      gst_buffer_add_video_region_of_interest_meta(buffer, "dot", 20, 10, 1, 1);
      gst_buffer_add_video_region_of_interest_meta(buffer, "dot", 25, 11, 1, 1);
      buffer = gst_harness_push_and_pull(h, buffer);
      expect_boxes(buffer, seen, 0, invert, "too many");
      gst_buffer_unref(buffer);
    }
    fail_unless_equals_int(count_messages(bus, GST_MESSAGE_WARNING, "a frame has more than 1024 regions: "), 1);
    free_watched_harness(h, bus);
  }
}
GST_END_TEST;

/* Too much work: regions within regions, each isolated. One warning, and everything is covered; no warning for a few
 * regions. */
GST_START_TEST(test_crowd)
{
  static guint8 pixels[1920 * 1080];
  static const guint numbers[] = {1, CNV_MAX_REGIONS, CNV_MAX_REGIONS};
  GstBus *bus;
  GstHarness *h = WATCHED_HARNESS(&bus, "cpu", "GRAY8", 1920, 1080, NEGATIVE, "roi-source=meta", "roi-isolated=true",
                                  "roi-feather=100");

  for (guint i = 0; i < G_N_ELEMENTS(numbers); i++) {
    GstBuffer *buffer = black_frame(1920, 1080, i);

    for (guint r = 0; r < numbers[i]; r++)
      gst_buffer_add_video_region_of_interest_meta(buffer, "face", 200 + r / 3, 120 + r / 3, 1000 - r / 2, 840 - r / 2);
    buffer = gst_harness_push_and_pull(h, buffer);
    gst_buffer_extract(buffer, 0, pixels, sizeof(pixels));
    gst_buffer_unref(buffer);
    for (int y = 120; y < 960; y++)
      for (int x = 200; x < 1200; x++)
        fail_unless(pixels[y * 1920 + x] == 255, "%u regions: %d at (%d, %d)", numbers[i], pixels[y * 1920 + x], x, y);
    fail_unless_equals_int(pixels[G_N_ELEMENTS(pixels) - 1], 0);
    fail_unless_equals_int(
        count_messages(bus, GST_MESSAGE_WARNING, "regions meet in one place, and filtering each exactly"), i == 1);
  }
  free_watched_harness(h, bus);
}
GST_END_TEST;

GST_START_TEST(test_one_target_for_many)
{
  const Meta metas[] = {{"face", 8, 6, 6, 4}, {"face", 1, 1, 2, 2}, {NULL}};
  const Box boxes[] = {{20, 12, 26, 16}, {0}};
  GstBus *bus;
  GstHarness *h = WATCHED_HARNESS(&bus, BACKEND, "GRAY8", WIDTH, HEIGHT, NEGATIVE, "roi-source=meta", "roi-target-x=20",
                                  "roi-target-y=12");

  for (guint i = 0; i < 3; i++) {
    GstBuffer *out = gst_harness_push_and_pull(h, frame_with(metas, i));

    expect_boxes(out, boxes, 0, FALSE, "target");
    gst_buffer_unref(out);
  }
  fail_unless_equals_int(count_messages(bus, GST_MESSAGE_WARNING, "a frame has 2 regions, and roi-target-x=20"), 1);
  free_watched_harness(h, bus);
}
GST_END_TEST;

/* ---- what is read ---- */

/* 100 inside the rectangle, 200 around it. Isolated, it reads nothing of the surroundings. At the corner of a plain
 * region 4 of 9 samples are inside, (4 * 100 + 5 * 200) / 9 = 155.6; beside it 6 of 9, 133.3. */
GST_START_TEST(test_isolated)
{
  GstHarness *h =
      HARNESS(BACKEND, "GRAY8", WIDTH, HEIGHT, "filter=box", "radius=1", "roi-source=property", "roi=<<8,6,6,4>>");

  for (int isolated = 0; isolated < 2; isolated++) {
    guint8 pixels[WIDTH * HEIGHT];
    GstBuffer *buffer;

    for (int i = 0; i < WIDTH * HEIGHT; i++)
      pixels[i] = weight_at((const Box[]){{8, 6, 14, 10}, {0}}, 0, i % WIDTH, i / WIDTH) > 0 ? 100 : 200;
    g_object_set(h->element, "roi-isolated", isolated, NULL);
    buffer = gst_harness_push_and_pull(h, gray_buffer(WIDTH, HEIGHT, pixels, isolated));
    gst_buffer_extract(buffer, 0, pixels, sizeof(pixels));
    fail_unless_equals_int(pixels[6 * WIDTH + 8], isolated ? 100 : 156);
    fail_unless_equals_int(pixels[6 * WIDTH + 9], isolated ? 100 : 133);
    fail_unless_equals_int(pixels[7 * WIDTH + 9], 100);
    fail_unless_equals_int(pixels[5 * WIDTH + 8], 200);
    gst_buffer_unref(buffer);
  }
  gst_harness_teardown(h);
}
GST_END_TEST;

/* ---- strength by size ---- */

#define WIDE 2100
#define TALL 60
static const struct {
  guint x, y, width, height;
} sizes[] = {{2060, 20, 20, 20}, {20, 5, 2000, 40}};

/* Returns a frame that is grey, with stripes from top to bottom at both regions, five per region. */
static GstBuffer *
striped_frame(guint i)
{
  guint8 *pixels = g_malloc(WIDE * TALL);
  GstBuffer *buffer;

  memset(pixels, 128, WIDE * TALL);
  for (gsize s = 0; s < G_N_ELEMENTS(sizes); s++)
    for (guint x = 0; x < sizes[s].width; x++)
      for (int y = 0; y < TALL; y++)
        pixels[y * WIDE + sizes[s].x + x] = x * 10 / sizes[s].width % 2 ? 255 : 0;
  buffer = gray_buffer(WIDE, TALL, pixels, i);
  for (gsize s = 0; s < G_N_ELEMENTS(sizes); s++)
    gst_buffer_add_video_region_of_interest_meta(buffer, "face", sizes[s].x, sizes[s].y, sizes[s].width,
                                                 sizes[s].height);
  g_free(pixels);
  return buffer;
}

/* Returns the range of values in the middle half of a region's middle row, of 255. */
static int
contrast(GstBuffer *buffer, gsize s)
{
  GstVideoInfo info;
  GstVideoFrame frame;
  const guint8 *row;
  int low = 255, high = 0;

  gst_video_info_set_format(&info, GST_VIDEO_FORMAT_GRAY8, WIDE, TALL);
  fail_unless(gst_video_frame_map(&frame, &info, buffer, GST_MAP_READ));
  row = (guint8 *)frame.data[0] + (sizes[s].y + sizes[s].height / 2) * frame.info.stride[0] + sizes[s].x;
  for (guint x = sizes[s].width / 4; x < sizes[s].width * 3 / 4; x++) {
    low = MIN(low, row[x]);
    high = MAX(high, row[x]);
  }
  gst_video_frame_unmap(&frame);
  return high - low;
}

/* A radius that hides the small pattern leaves the big one visible. A radius that follows the size hides both. */
GST_START_TEST(test_relative_strength)
{
  GstHarness *h = HARNESS(BACKEND, "GRAY8", WIDE, TALL, "radius=4", "sigma=2", "roi-source=meta");
  GstBuffer *out = gst_harness_push_and_pull(h, striped_frame(0));
  GstStructure *stats;
  guint regions;

  fail_unless(contrast(out, 0) < 20 && contrast(out, 1) > 250, "%d %d", contrast(out, 0), contrast(out, 1));
  gst_buffer_unref(out);
  SET(h->element, "roi-strength=relative");
  for (guint i = 1; i < 3; i++) {
    out = gst_harness_push_and_pull(h, striped_frame(i));
    fail_unless(contrast(out, 0) < 20 && contrast(out, 1) < 20, "%d %d", contrast(out, 0), contrast(out, 1));
    fail_unless_equals_int(count_metas(out), 2);
    gst_buffer_unref(out);
  }
  g_object_get(h->element, "stats", &stats, NULL);
  fail_unless(gst_structure_get_uint(stats, "regions", &regions) && regions == 2);
  check_string(stats, "taps", "9x9"); /* taps of the smallest region */
  gst_structure_free(stats);
  gst_harness_teardown(h);
}
GST_END_TEST;

/* A frame without regions is filtered as a whole, after roi-smooth keeps none. By default it does not change. */
GST_START_TEST(test_missing)
{
  static const Meta face[] = {{"face", 4, 5, 6, 7}, {NULL}}, plate[] = {{"plate", 4, 5, 6, 7}, {NULL}},
                    none[] = {{NULL}};
  static const Box one[] = {{4, 5, 10, 12}, {0}}, grown[] = {{3, 4, 11, 13}, {0}}, all[] = {{0, 0, WIDTH, HEIGHT}, {0}};
  static const Box nothing[] = {{0}};
  const struct {
    const char *set;
    const Meta *metas;
    const Box *expected;
  } rows[] = {
      {"roi-missing=filter", face, one},   {"roi-types=face", plate, all},    {"roi-types=face", none, all},
      {"roi-missing=copy", none, nothing}, {"roi-missing=filter", face, one}, {"roi-smooth=1", face, one},
      {"roi-smooth=1", none, grown},       {"roi-smooth=1", none, all},       {"roi-missing=copy", none, nothing},
  };
  GstHarness *h = HARNESS(BACKEND, "GRAY8", WIDTH, HEIGHT, NEGATIVE, "roi-source=meta");

  for (guint i = 0; i < G_N_ELEMENTS(rows); i++) {
    g_autofree char *what = g_strdup_printf("row %u", i);
    GstBuffer *out;

    SET(h->element, rows[i].set);
    out = gst_harness_push_and_pull(h, frame_with(rows[i].metas, i));
    expect_boxes(out, rows[i].expected, 0, FALSE, what);
    gst_buffer_unref(out);
  }
  gst_harness_teardown(h);
}
GST_END_TEST;

/* A frame is also filtered as a whole if the rectangles of the property are outside it, if a region would be placed
 * elsewhere, and with roi-invert, which filters it in any case. */
GST_START_TEST(test_missing_elsewhere)
{
  static const Meta none[] = {{NULL}};
  static const Box all[] = {{0, 0, WIDTH, HEIGHT}, {0}};
  static const char *const ways[][4] = {{"roi-source=property", "roi=<<99,99,5,5>>"},
                                        {"roi-source=property", "roi=<<32,3,5,5>>"},
                                        {"roi-source=property", "roi=<<3,-5,5,5>>"},
                                        {"roi-source=property", "roi=<<3,27,5,5>>", "roi-feather=3"},
                                        {"roi-source=meta", "roi-target-x=3", "roi-target-y=4"},
                                        {"roi-source=meta", "roi-feather=3", "roi-isolated=true"},
                                        {"roi-source=meta", "roi-invert=true"}};

  for (gsize w = 0; w < G_N_ELEMENTS(ways); w++) {
    GstHarness *h = HARNESS(BACKEND, "GRAY8", WIDTH, HEIGHT, NEGATIVE, "roi-missing=filter");
    GstBuffer *out;

    set_all(h->element, ways[w]);
    out = gst_harness_push_and_pull(h, frame_with(none, 0));
    expect_boxes(out, all, 0, FALSE, ways[w][1]);
    gst_buffer_unref(out);
    gst_harness_teardown(h);
  }
}
GST_END_TEST;

/* With roi-strength=relative the whole frame is filtered as strongly as a region of its size. */
GST_START_TEST(test_missing_relative)
{
  static const Meta none[] = {{NULL}};
  GstHarness *h = HARNESS(BACKEND, "GRAY8", WIDTH, HEIGHT, "filter=box", "radius=1", "roi-source=meta",
                          "roi-missing=filter", "roi-strength=relative", "roi-relative-size=0.25");
  GstStructure *stats;

  gst_buffer_unref(gst_harness_push_and_pull(h, frame_with(none, 0)));
  g_object_get(h->element, "stats", &stats, NULL);
  check_string(stats, "taps", "17x17");
  gst_structure_free(stats);
  gst_harness_teardown(h);
}
GST_END_TEST;

/* The radius is a fraction of the longer side, rounded up to 1..8, and above 8 to four steps per octave. */
GST_START_TEST(test_relative_radius)
{
  const struct {
    guint width, height;
    const char *set, *taps;
  } rows[] = {
      {1, 1, "filter=box", "3x3"},          {5, 4, "filter=box", "3x3"},
      {5, 6, "filter=box", "5x5"},          {41, 2, "filter=box", "21x21"},
      {2, 41, "filter=box", "21x21"},       {84, 2, "filter=box", "41x41"},
      {700, 9, "filter=box", "321x321"},    {10000, 9, "filter=box", "1025x1025"},
      {10000, 9, "filter=disk", "127x127"}, {10, 10, "roi-expand=0.5", "9x9"},
      {10, 10, "radius-x=0", "5x5"},        {10, 10, "roi-relative-size=1", "21x21"},
      {41, 2, "filter=mosaic", "21x21"},    {100, 200, "filter=mosaic", "81x81"},
  };

  for (gsize i = 0; i < G_N_ELEMENTS(rows); i++) {
    GstHarness *h = HARNESS("cpu", "GRAY8", WIDTH, HEIGHT, "roi-source=meta", "roi-strength=relative", rows[i].set);
    const Meta metas[] = {{"face", 1, 1, rows[i].width, rows[i].height}, {NULL}};
    GstStructure *stats;

    gst_buffer_unref(gst_harness_push_and_pull(h, frame_with(metas, 0)));
    g_object_get(h->element, "stats", &stats, NULL);
    check_string(stats, "taps", rows[i].taps);
    gst_structure_free(stats);
    gst_harness_teardown(h);
  }
}
GST_END_TEST;

/* A disk reaches less far than a gaussian, and a slanted line less far than one along a row. The largest possible
 * radius is used, and one warning says so. */
GST_START_TEST(test_relative_limit)
{
  static const struct {
    const char *filter, *angle, *message;
  } rows[] = {{"filter=motion", "angle=30", "a region needs radius 224: "},
              {"filter=disk", "angle=0", "a region of 1000x1000 needs radius 200, and the limit of filter=disk is 63"}};
  const Meta metas[] = {{"face", 1, 1, 1000, 1000}, {NULL}};

  for (guint i = 0; i < G_N_ELEMENTS(rows); i++) {
    GstBus *bus;
    GstHarness *h = WATCHED_HARNESS(&bus, "cpu", "GRAY8", WIDTH, HEIGHT, rows[i].filter, rows[i].angle,
                                    "roi-source=meta", "roi-strength=relative");

    for (guint n = 0; n < 3; n++)
      gst_buffer_unref(gst_harness_push_and_pull(h, frame_with(metas, n)));
    fail_unless_equals_int(count_messages(bus, GST_MESSAGE_WARNING, rows[i].message), 1);
    free_watched_harness(h, bus);
  }
}
GST_END_TEST;

/* ---- frames without regions ---- */

static const struct {
  const char *set[3];
  Meta meta;      /* of all frames */
  guint at, step; /* at: frame that has a region; step: number of frames from one to the next */
  int after;      /* frames before the warning comes; 0: at the end of the stream, -1: never */
  const char *message;
} none_rows[] = {
    {{"roi-source=meta"}, {NULL}, 999, 1, 126, "finds no region in the first 5 s: nothing is filtered, and the whole"},
    {{"roi-source=meta"}, {NULL}, 999, 1, 126, "put a detector that attaches GstVideoRegion"},
    {{"roi-source=meta", "roi-invert=true"},
     {NULL},
     999,
     1,
     126,
     "with roi-invert=true the whole picture is filtered;"},
    {{"roi-source=meta", "roi-types=face"},
     {"car", 1, 1, 3, 3},
     999,
     1,
     126,
     "there are metas, the last of type \"car\", but roi-types=face or roi-confidence=0 excludes them, or they lie"},
    {{"roi-source=meta", "roi-smooth=3"},
     {"car", 99, 99, 3, 3},
     999,
     1,
     126,
     "or they lie outside the frame: change these"},
    {{"roi-source=meta"}, {NULL}, 999, 100, 6, "finds no region in the first 5 s"}, /* a gap counts as a second */
    {{"roi-source=meta"}, {NULL}, 999, 0, 0, "finds no region in the whole stream: nothing is filtered"},
    {{"roi-source=meta"}, {NULL}, 120, 1, -1, ""},
    {{"roi-source=meta"}, {NULL}, 0, 1, -1, ""},
    {{"roi-source=meta", "temporal-radius=2"}, {NULL}, 999, 1, 128, "finds no region in the first 5 s"},
    {{"roi-source=none"}, {NULL}, 999, 1, -1, ""},
};

GST_START_TEST(test_no_regions)
{
  GstBus *bus;
  const Meta metas[] = {none_rows[__i__].meta, {NULL}};
  int warned = 0;
  GstHarness *h = watched_harness(&bus, "cpu", "GRAY8", WIDTH, HEIGHT, none_rows[__i__].set);

  for (int i = 0; i < 140; i++) {
    GstBuffer *frame = frame_with(metas, (guint)i * none_rows[__i__].step);

    if ((guint)i == none_rows[__i__].at)
      gst_buffer_add_video_region_of_interest_meta(frame, "face", 1, 1, 3, 3);
    fail_unless_equals_int(gst_harness_push(h, frame), GST_FLOW_OK);
    if (count_messages(bus, GST_MESSAGE_WARNING, none_rows[__i__].message) > 0) {
      fail_unless_equals_int(warned, 0);
      warned = i + 1;
    }
  }
  fail_unless_equals_int(warned, MAX(none_rows[__i__].after, 0));
  gst_harness_push_event(h, gst_event_new_eos());
  fail_unless_equals_int(count_messages(bus, GST_MESSAGE_WARNING, none_rows[__i__].message),
                         none_rows[__i__].after == 0 ? 1 : 0);
  free_watched_harness(h, bus);
}
GST_END_TEST;

void
add_region_tests(TCase *once, TCase *each)
{
  EACH(test_places);
  EACH(test_moving_regions);
  EACH(test_nothing_to_do);
  EACH(test_too_many_regions);
  EACH(test_one_target_for_many);
  EACH(test_isolated);
  EACH(test_relative_strength);
  EACH(test_missing);
  EACH(test_missing_elsewhere);
  EACH(test_missing_relative);
  tcase_add_loop_test(once, test_no_regions, 0, G_N_ELEMENTS(none_rows));
  tcase_add_test(once, test_crowd);
  tcase_add_test(once, test_relative_radius);
  tcase_add_test(once, test_relative_limit);
}
