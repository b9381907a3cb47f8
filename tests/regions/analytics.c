/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Regions from GStreamer's analytics metas: boxes (1.24) and segmentation masks (1.26). As in regions.c, black becomes
 * white, so that the output is the regions' weight times 255.
 */
#include "config.h"

#include "element/element.h"

#ifdef HAVE_ANALYTICS

#include <gst/analytics/analytics.h>
#include <math.h>
#include <string.h>

#define WIDTH 32
#define HEIGHT 24

static GstBuffer *
frame_with_meta(GstAnalyticsRelationMeta **meta, guint i)
{
  GstBuffer *buffer = black_frame(WIDTH, HEIGHT, i);

  *meta = gst_buffer_add_analytics_relation_meta(buffer);
  return buffer;
}

/* ---- boxes ---- */

typedef struct {
  const char *label; /* NULL: no quark; a width of 0 ends the list */
  int x, y, width, height;
  float confidence;
} Found;

static void
add_boxes(GstAnalyticsRelationMeta *meta, const Found *found)
{
  GstAnalyticsODMtd od;

  for (; found->width != 0; found++)
    fail_unless(gst_analytics_relation_meta_add_od_mtd(meta, found->label ? g_quark_from_string(found->label) : 0,
                                                       found->x, found->y, found->width, found->height,
                                                       found->confidence, &od));
}

/* Fails unless exactly the boxes in `bits` are filtered. */
static void
expect_boxes(const guint8 *pixels, const Found *found, guint bits, guint row)
{
  for (int y = 0; y < HEIGHT; y++)
    for (int x = 0; x < WIDTH; x++) {
      gboolean inside = FALSE;

      for (guint i = 0; found[i].width != 0; i++)
        inside = inside || (bits & 1u << i && x >= found[i].x && y >= found[i].y && x - found[i].x < found[i].width &&
                            y - found[i].y < found[i].height);
      fail_unless(pixels[y * WIDTH + x] == (inside ? 255 : 0), "row %u: %d at (%d, %d)", row, pixels[y * WIDTH + x], x,
                  y);
    }
}

static const Found faces[] = {
    {"face", 2, 3, 5, 6, 0.9f},
    {"Plate", 12, 3, 6, 4, 0.5f},
    {"face", 20, 15, 40, 3, 0.2f},
    {NULL, 1, 18, 4, 4, NAN},
    {"", 8, 18, 4, 4, INFINITY},
    {"face", 14, 18, 3, 3, -INFINITY},
    {"car", 20, 9, 1, 1, -1.0f},
    {"face", 27, 2, -4, 3, 1},
    {"face", G_MAXINT, 2, G_MAXINT, 3, 1},
    {"face", G_MININT, 22, G_MAXINT, 2, 1},
    {"car", -3, 10, 6, 3, 1.5f},
    {NULL, 0, 0, 0, 0, 0},
};
#define DRAWN ~(1u << 7 | 1u << 8 | 1u << 9)

GST_START_TEST(test_boxes)
{
  static const struct {
    const char *set[2];
    guint bits;
  } rows[] = {
      {{NULL}, ~0u},
      {{"roi-types=face"}, 1u << 0 | 1u << 2 | 1u << 5},
      {{"roi-types= plate ,car"}, 1u << 1 | 1u << 6 | 1u << 10},
      {{"roi-confidence=0.5"}, 1u << 0 | 1u << 1 | 1u << 4 | 1u << 10},
      {{"roi-confidence=0.51"}, 1u << 0 | 1u << 4 | 1u << 10},
      {{"roi-confidence=1"}, 1u << 4 | 1u << 10},
      {{"roi-confidence=0.1", "roi-types=face"}, 1u << 0 | 1u << 2},
      {{"roi-types=none"}, 0},
  };

  for (guint i = 0; i < G_N_ELEMENTS(rows); i++) {
    GstHarness *h = HARNESS(BACKEND, "GRAY8", WIDTH, HEIGHT, NEGATIVE, "roi-source=meta");
    GstAnalyticsRelationMeta *meta;
    GstBuffer *frame = frame_with_meta(&meta, 0);
    guint8 pixels[WIDTH * HEIGHT];

    for (int s = 0; s < 2 && rows[i].set[s]; s++)
      SET(h->element, rows[i].set[s]);
    add_boxes(meta, faces);
    filter_gray(h, frame, pixels, sizeof(pixels));
    expect_boxes(pixels, faces, rows[i].bits & DRAWN, i);
    gst_harness_teardown(h);
  }
}
GST_END_TEST;

/* More boxes than there can be regions: all are covered, and one message says how. */
GST_START_TEST(test_many_boxes)
{
  GstAnalyticsRelationMetaInitParams params = {10000, 10000 * 80};
  GstBus *bus;
  GstHarness *h = WATCHED_HARNESS(&bus, BACKEND, "GRAY8", WIDTH, HEIGHT, NEGATIVE, "roi-source=meta", "roi-smooth=3");

  for (guint n = 0; n < 2; n++) {
    GstAnalyticsRelationMeta *meta;
    GstBuffer *frame = frame_with_meta(&meta, n);
    guint8 pixels[WIDTH * HEIGHT];

    gst_buffer_remove_meta(frame, (GstMeta *)meta);
    meta = gst_buffer_add_analytics_relation_meta_full(frame, &params);
    for (int i = 0; i < 10000; i++)
      add_boxes(meta, (const Found[]){{"dot", i == 9999 ? 30 : i % 7, i == 9999 ? 20 : i % 5, 2, 2, 1}, {NULL}});
    filter_gray(h, frame, pixels, sizeof(pixels));
    for (int y = 0; y < HEIGHT; y++)
      for (int x = 0; x < WIDTH; x++)
        if ((x < 8 && y < 6) || (x >= 30 && y >= 20 && y < 22))
          fail_unless_equals_int(pixels[y * WIDTH + x], 255);
  }
  fail_unless_equals_int(count_messages(bus, GST_MESSAGE_WARNING, "a frame has more than 1024 regions"), 1);
  free_watched_harness(h, bus);
}
GST_END_TEST;

#if GST_CHECK_VERSION(1, 26, 0)

/* ---- segmentation ---- */

/* Numbers of regions: 0 is the background, 12 and 7 are strawberries, 31 is a leaf. */
static const guint8 numbers[] = {0, 12, 12, 0, 7, 31, 0, 7, 31, 31, 200, 0};
static guint region_ids[] = {0, 12, 7, 31};

typedef struct {
  GstVideoFormat format;
  int x, y;
  guint width, height; /* in the frame, of the 4 x 3 numbers */
  gboolean classified;
} Segments;

static void
add_segments(GstAnalyticsRelationMeta *meta, const Segments *segments)
{
  static const char *const labels[] = {"background", "Strawberry", "strawberry", "leaf"};
  gsize bytes = segments->format == GST_VIDEO_FORMAT_GRAY8 ? 1 : 2;
  guint8 wide[sizeof(numbers) * 2] = {0};
  GQuark quarks[G_N_ELEMENTS(labels)];
  float levels[G_N_ELEMENTS(labels)];
  GstAnalyticsSegmentationMtd masks;
  GstAnalyticsClsMtd classes;

  for (guint i = 0; i < G_N_ELEMENTS(numbers); i++)
    wide[i * bytes + (segments->format == GST_VIDEO_FORMAT_GRAY16_BE)] = numbers[i];
  fail_unless(gst_analytics_relation_meta_add_segmentation_mtd(
      meta, packed_buffer(segments->format, 4, 3, wide, 4 * bytes, 7, 4 * (int)bytes + 3),
      GST_SEGMENTATION_TYPE_INSTANCE, G_N_ELEMENTS(region_ids), region_ids, segments->x, segments->y, segments->width,
      segments->height, &masks));
  if (!segments->classified)
    return;
  for (guint i = 0; i < G_N_ELEMENTS(labels); i++) {
    quarks[i] = g_quark_from_string(labels[i]);
    levels[i] = -1;
  }
  fail_unless(gst_analytics_relation_meta_add_cls_mtd(meta, G_N_ELEMENTS(labels), levels, quarks, &classes));
  fail_unless(gst_analytics_relation_meta_set_relation(meta, GST_ANALYTICS_REL_TYPE_RELATE_TO, masks.id, classes.id));
}

/* Checks the weights in the middle of the pixels that each number covers, where its neighbours have no effect. counted:
 * # for numbers that are filtered. */
static void
expect_segments(const guint8 *pixels, const Segments *segments, const char *counted, gboolean invert, guint row)
{
  int width = segments->width ? (int)segments->width : WIDTH, height = segments->width ? (int)segments->height : HEIGHT;

  for (int y = 0; y < 3; y++)
    for (int x = 0; x < 4; x++) {
      int px = segments->x + (2 * x + 1) * width / 8, py = segments->y + (2 * y + 1) * height / 6;
      gboolean counts = counted[4 * y + x] == '#';
      guint8 expected = counts != invert ? 255 : 0;

      if (px >= 0 && px < WIDTH && py >= 0 && py < HEIGHT)
        fail_unless(abs(pixels[py * WIDTH + px] - expected) < 65, "row %u: %d at (%d, %d)", row,
                    pixels[py * WIDTH + px], px, py);
    }
  if (segments->width)
    fail_unless_equals_int(pixels[(HEIGHT - 1) * WIDTH + WIDTH - 1], invert ? 255 : 0);
}

GST_START_TEST(test_segments)
{
  static const struct {
    const char *set;
    Segments segments;
    const char *counted; /* #: filtered; .: not */
  } rows[] = {
      {"roi-types=", {GST_VIDEO_FORMAT_GRAY8, 4, 2, 16, 12, FALSE}, ".##.##.####."},
      {"roi-types=", {GST_VIDEO_FORMAT_GRAY8, 4, 2, 16, 12, TRUE}, ".##.##.####."},
      {"roi-types=all", {GST_VIDEO_FORMAT_GRAY16_LE, 4, 2, 16, 12, TRUE}, ".##.##.####."},
      {"roi-types=12", {GST_VIDEO_FORMAT_GRAY8, 4, 2, 16, 12, FALSE}, ".##........."},
      {"roi-types=12,31", {GST_VIDEO_FORMAT_GRAY16_BE, 4, 2, 16, 12, FALSE}, ".##..#..##.."},
      {"roi-types=200", {GST_VIDEO_FORMAT_GRAY8, 4, 2, 16, 12, TRUE}, "..........#."},
      {"roi-types=strawberry", {GST_VIDEO_FORMAT_GRAY8, 4, 2, 16, 12, TRUE}, ".##.#..#...."},
      {"roi-types=strawberry", {GST_VIDEO_FORMAT_GRAY8, 4, 2, 16, 12, FALSE}, "............"},
      {"roi-types=leaf,7", {GST_VIDEO_FORMAT_GRAY16_LE, 4, 2, 16, 12, TRUE}, "....##.###.."},
      {"roi-types=background", {GST_VIDEO_FORMAT_GRAY8, 4, 2, 16, 12, TRUE}, "#..#..#....#"},
      {"roi-types=0", {GST_VIDEO_FORMAT_GRAY8, 4, 2, 16, 12, FALSE}, "#..#..#....#"},
      {"roi-types=all,0", {GST_VIDEO_FORMAT_GRAY8, 4, 2, 16, 12, FALSE}, "############"},
      {"roi-types=256,-1,1e1,12x", {GST_VIDEO_FORMAT_GRAY8, 4, 2, 16, 12, FALSE}, "............"},
      {"roi-types=", {GST_VIDEO_FORMAT_GRAY8, 0, 0, 0, 0, FALSE}, ".##.##.####."},
      {"roi-types=", {GST_VIDEO_FORMAT_GRAY8, -8, -6, 32, 24, FALSE}, ".##.##.####."},
  };

  for (guint i = 0; i < 2 * G_N_ELEMENTS(rows); i++) {
    gboolean invert = i % 2 > 0;
    GstHarness *h =
        HARNESS(BACKEND, "GRAY8", WIDTH, HEIGHT, NEGATIVE, "roi-source=meta", rows[i / 2].set, ROI_INVERT(invert));
    GstAnalyticsRelationMeta *meta;
    GstBuffer *frame = frame_with_meta(&meta, 0);
    guint8 pixels[WIDTH * HEIGHT];

    add_segments(meta, &rows[i / 2].segments);
    filter_gray(h, frame, pixels, sizeof(pixels));
    expect_segments(pixels, &rows[i / 2].segments, rows[i / 2].counted, invert, i / 2);
    gst_harness_teardown(h);
  }
}
GST_END_TEST;

/* The label of a box that the masks are related to counts for all of them, except for the background. */
GST_START_TEST(test_segments_of_a_box)
{
  for (int face = 0; face < 2; face++) {
    GstHarness *h =
        HARNESS(BACKEND, "GRAY8", WIDTH, HEIGHT, NEGATIVE, "roi-source=meta", "roi-types=face", "roi-confidence=0.5");
    const Segments segments = {GST_VIDEO_FORMAT_GRAY8, 4, 2, 16, 12};
    GstAnalyticsRelationMeta *meta;
    GstBuffer *frame = frame_with_meta(&meta, 0);
    guint8 pixels[WIDTH * HEIGHT];

    add_segments(meta, &segments);
    add_boxes(meta, (const Found[]){{face ? "face" : "car", 4, 2, 16, 12, 0.1f}, {NULL}});
    fail_unless(gst_analytics_relation_meta_set_relation(meta, GST_ANALYTICS_REL_TYPE_RELATE_TO, 0, 1));
    filter_gray(h, frame, pixels, sizeof(pixels));
    expect_segments(pixels, &segments, face ? ".##.##.###.." : "............", FALSE, (guint)face);
    gst_harness_teardown(h);
  }
}
GST_END_TEST;

/* Boxes, masks and the older metas on one frame. */
GST_START_TEST(test_all_kinds)
{
  GstHarness *h = HARNESS(BACKEND, "GRAY8", WIDTH, HEIGHT, NEGATIVE, "roi-source=meta", "roi-types=face,12");
  const Segments segments = {GST_VIDEO_FORMAT_GRAY8, 0, 0, 16, 12};
  const Found found[] = {{"face", 20, 2, 5, 6, 1}, {"car", 20, 12, 5, 6, 1}, {NULL}};
  GstAnalyticsRelationMeta *meta;
  GstBuffer *frame = frame_with_meta(&meta, 0);
  guint8 pixels[WIDTH * HEIGHT];

  add_segments(meta, &segments);
  add_boxes(meta, found);
  gst_buffer_add_video_region_of_interest_meta(frame, "face", 3, 15, 6, 5);
  filter_gray(h, frame, pixels, sizeof(pixels));
  expect_segments(pixels, &segments, ".##.........", FALSE, 0);
  for (int y = 0; y < HEIGHT; y++)
    for (int x = 0; x < WIDTH; x++)
      if (x >= 16 || y >= 12)
        fail_unless((pixels[y * WIDTH + x] == 255) ==
                        ((x >= 20 && x < 25 && y >= 2 && y < 8) || (x >= 3 && x < 9 && y >= 15 && y < 20)),
                    "%d at (%d, %d)", pixels[y * WIDTH + x], x, y);
  gst_harness_teardown(h);
}
GST_END_TEST;

/* ---- hostile segmentation ---- */

/* Metas whose contents became wrong after they were added: one warning, and everything that the masks cover is
 * filtered. */
GST_START_TEST(test_hostile_segments)
{
  static const struct {
    guint width, height;
    gsize offset;
    int stride;
    const char *message; /* NULL: the meta is still right */
  } rows[] = {
      {4, 3, 0, 7, NULL},
      {4, 3, 1000, 7, "does not hold 4x3 samples at offset 1000"},
      {4, 3, G_MAXSIZE - 6, 7, "does not hold"},
      {4, 3, 7, -7, "does not hold"},
      {4, 3, 7, G_MAXINT, "does not hold"},
      {0, 0, 7, 7, "a mask of 0x0 samples"},
      {G_MAXUINT, 3, 7, 7, "a mask of 4294967295x3 samples"},
      {32768, 2, 7, 32768, "does not hold"},
  };

  for (guint i = 0; i < G_N_ELEMENTS(rows); i++) {
    GstBus *bus;
    GstHarness *h = WATCHED_HARNESS(&bus, BACKEND, "GRAY8", WIDTH, HEIGHT, NEGATIVE, "roi-source=meta");

    for (guint n = 0; n < 2; n++) {
      const Segments segments = {GST_VIDEO_FORMAT_GRAY8, 4, 2, 16, 12};
      GstAnalyticsRelationMeta *meta;
      GstBuffer *frame = frame_with_meta(&meta, n), *mask;
      GstAnalyticsSegmentationMtd mtd;
      GstVideoMeta *layout;
      guint8 pixels[WIDTH * HEIGHT];

      add_segments(meta, &segments);
      fail_unless(gst_analytics_relation_meta_get_segmentation_mtd(meta, 0, &mtd));
      mask = gst_analytics_segmentation_mtd_get_mask(&mtd, NULL, NULL, NULL, NULL);
      layout = gst_buffer_get_video_meta(mask);
      layout->width = rows[i].width;
      layout->height = rows[i].height;
      layout->offset[0] = rows[i].offset;
      layout->stride[0] = rows[i].stride;
      gst_buffer_unref(mask);
      filter_gray(h, frame, pixels, sizeof(pixels));
      for (int y = 2; y < 14 && rows[i].message; y++)
        for (int x = 4; x < 20; x++)
          fail_unless_equals_int(pixels[y * WIDTH + x], 255);
    }
    fail_unless_equals_int(count_messages(bus, GST_MESSAGE_WARNING, rows[i].message ? rows[i].message : ""),
                           rows[i].message != NULL);
    free_watched_harness(h, bus);
  }
}
GST_END_TEST;

/* Places at the limits of integers, no region at all, numbers that no sample can have, and one byte of memory. */
GST_START_TEST(test_odd_segments)
{
  static const int starts[] = {G_MININT, -1, 0, G_MAXINT};
  static const guint sizes[] = {1, G_MAXINT, G_MAXUINT};
  guint odd_ids[] = {G_MAXUINT, 256, 1};
  GstHarness *h =
      HARNESS(BACKEND, "GRAY8", WIDTH, HEIGHT, NEGATIVE, "roi-source=meta", "roi-feather=2", "roi-smooth=1");

  for (guint i = 0; i < 4 * 4 * 3 * 3; i++) {
    GstAnalyticsRelationMeta *meta;
    GstBuffer *frame = frame_with_meta(&meta, i), *mask = gst_buffer_new_allocate(NULL, 1, NULL);
    GstAnalyticsSegmentationMtd mtd;
    guint8 pixels[WIDTH * HEIGHT];

    gst_buffer_memset(mask, 0, 1, 1);
    gst_buffer_add_video_meta(mask, GST_VIDEO_FRAME_FLAG_NONE, GST_VIDEO_FORMAT_GRAY8, 1, 1);
    fail_unless(gst_analytics_relation_meta_add_segmentation_mtd(
        meta, mask, GST_SEGMENTATION_TYPE_SEMANTIC, i % 2 ? 3 : 0, odd_ids, starts[i % 4], starts[i / 4 % 4],
        sizes[i / 16 % 3], sizes[i / 48], &mtd));
    filter_gray(h, frame, pixels, sizeof(pixels));
  }
  gst_harness_teardown(h);
}
GST_END_TEST;

/* 65536 regions, the most that a mask of 16 bits can have, each with a label; and boxes that are related to them. */
#define MANY 65536

static GstBuffer *
crowded_frame(guint n_boxes, guint n_frame)
{
  static guint ids[MANY];
  static GQuark quarks[MANY];
  static float levels[MANY];
  GstAnalyticsRelationMetaInitParams params = {n_boxes + 2, MANY * 16 + n_boxes * 80};
  guint8 wide[sizeof(numbers) * 2] = {0};
  GstAnalyticsRelationMeta *meta;
  GstBuffer *frame = frame_with_meta(&meta, n_frame);
  GstAnalyticsSegmentationMtd masks;
  GstAnalyticsClsMtd classes;

  gst_buffer_remove_meta(frame, (GstMeta *)meta);
  meta = gst_buffer_add_analytics_relation_meta_full(frame, &params);
  for (guint i = 0; i < MANY; i++) {
    ids[i] = i;
    quarks[i] = g_quark_from_string(i == 12 || i == 7 ? "strawberry" : "leaf");
  }
  for (guint i = 0; i < G_N_ELEMENTS(numbers); i++)
    wide[2 * i] = numbers[i];
  fail_unless(gst_analytics_relation_meta_add_segmentation_mtd(
      meta, packed_buffer(GST_VIDEO_FORMAT_GRAY16_LE, 4, 3, wide, 8, 7, 11), GST_SEGMENTATION_TYPE_INSTANCE, MANY, ids,
      4, 2, 16, 12, &masks));
  fail_unless(gst_analytics_relation_meta_add_cls_mtd(meta, MANY, levels, quarks, &classes));
  fail_unless(gst_analytics_relation_meta_set_relation(meta, GST_ANALYTICS_REL_TYPE_RELATE_TO, masks.id, classes.id));
  for (guint i = 0; i < n_boxes; i++) {
    add_boxes(meta, (const Found[]){{"tree", 4, 2, 16, 12, 0.1f}, {NULL}});
    fail_unless(gst_analytics_relation_meta_set_relation(meta, GST_ANALYTICS_REL_TYPE_RELATE_TO, masks.id, 2 + i));
  }
  return frame;
}

/* Returns the microseconds of the fastest of three frames. */
static gint64
time_of_crowd(const char *types, guint n_boxes, const char *counted)
{
  GstHarness *h = HARNESS("cpu", "GRAY8", WIDTH, HEIGHT, NEGATIVE, "roi-source=meta", "roi-confidence=0.5", types);
  const Segments segments = {GST_VIDEO_FORMAT_GRAY16_LE, 4, 2, 16, 12};
  gint64 fastest = G_MAXINT64;

  for (guint i = 0; i < 3; i++) {
    GstBuffer *frame = crowded_frame(n_boxes, i);
    gint64 start = g_get_monotonic_time();
    guint8 pixels[WIDTH * HEIGHT];

    filter_gray(h, frame, pixels, sizeof(pixels));
    fastest = MIN(fastest, g_get_monotonic_time() - start);
    expect_segments(pixels, &segments, counted, FALSE, n_boxes);
  }
  gst_harness_teardown(h);
  return fastest;
}

/* Each label is read once, and related metas are not read again for each region: 500 of them cost about as much as
 * one. */
GST_START_TEST(test_time_of_labels)
{
  static const struct {
    const char *types, *counted;
  } rows[] = {
      {"roi-types=strawberry", ".##.#..#...."}, {"roi-types=tree", ".##.##.####."}, {"roi-types=all", ".##.##.####."}};

  for (guint i = 0; i < G_N_ELEMENTS(rows); i++) {
    gint64 one = time_of_crowd(rows[i].types, 1, rows[i].counted),
           many = time_of_crowd(rows[i].types, 500, rows[i].counted);

    g_print("%s: %d us with one box, %d us with 500\n", rows[i].types, (int)one, (int)many);
    fail_unless(many < 10 * one + 20000, "%s: 500 boxes take %d us and one takes %d", rows[i].types, (int)many,
                (int)one);
  }
}
GST_END_TEST;

#endif

/* ---- downstream ---- */

/* Metas are the same downstream: on frames that are filtered in regions or as a whole, on frames that wait for others,
 * and on frames that one element uploads and another one downloads. */
GST_START_TEST(test_metas_stay)
{
  static const char *const ways[] = {
      "cudaconvolve roi-source=meta",
      "cudaconvolve roi-source=none",
      "cudaconvolve temporal-radius=1",
      "cudaconvolve roi-source=meta ! video/x-raw(memory:CUDAMemory) ! cudaconvolve ! capsfilter caps=video/x-raw",
  };

  for (guint w = 0; w < G_N_ELEMENTS(ways) - (strcmp(BACKEND, "cuda") != 0); w++) {
    GstHarness *h = gst_harness_new_parse(ways[w]);
    const Found found[] = {{"face", 3, 4, 5, 6, 0.25f}, {"car", 20, 12, 500, 600, 1}, {NULL}};
    GstBuffer *frame = gst_buffer_new_allocate(NULL, 320 * 240 * 3 / 2, NULL);
    GstAnalyticsRelationMeta *meta = gst_buffer_add_analytics_relation_meta(frame);
    GstAnalyticsODMtd od;
    int x, y, width, height;
    float confidence;
#if GST_CHECK_VERSION(1, 26, 0)
    const Segments segments = {GST_VIDEO_FORMAT_GRAY8, 4, 2, 16, 12};
    GstAnalyticsSegmentationMtd mtd;
    guint mask_width, mask_height;
    GstBuffer *mask, *same;
#endif

    gst_harness_set_src_caps_str(h, "video/x-raw,format=NV12,width=320,height=240,framerate=25/1");
    gst_buffer_memset(frame, 0, 100, -1);
    stamp(frame, 0);
    add_boxes(meta, found);
#if GST_CHECK_VERSION(1, 26, 0)
    add_segments(meta, &segments);
    fail_unless(gst_analytics_relation_meta_get_segmentation_mtd(meta, 2, &mtd));
    mask = gst_analytics_segmentation_mtd_get_mask(&mtd, NULL, NULL, NULL, NULL);
#endif
    fail_unless_equals_int(gst_harness_push(h, frame), GST_FLOW_OK);
    gst_harness_push_event(h, gst_event_new_eos());
    frame = gst_harness_pull(h);
    meta = gst_buffer_get_analytics_relation_meta(frame);
    fail_unless(meta != NULL);
    for (guint i = 0; i < 2; i++) {
      fail_unless(gst_analytics_relation_meta_get_od_mtd(meta, i, &od));
      fail_unless(gst_analytics_od_mtd_get_location(&od, &x, &y, &width, &height, &confidence));
      fail_unless(x == found[i].x && y == found[i].y && width == found[i].width && height == found[i].height &&
                  confidence == found[i].confidence);
      fail_unless_equals_string(g_quark_to_string(gst_analytics_od_mtd_get_obj_type(&od)), found[i].label);
    }
#if GST_CHECK_VERSION(1, 26, 0)
    fail_unless(gst_analytics_relation_meta_get_segmentation_mtd(meta, 2, &mtd));
    same = gst_analytics_segmentation_mtd_get_mask(&mtd, &x, &y, &mask_width, &mask_height);
    fail_unless(same == mask && x == 4 && y == 2 && mask_width == 16 && mask_height == 12);
    fail_unless_equals_int(gst_analytics_segmentation_mtd_get_region_count(&mtd), 4);
    gst_buffer_unref(mask);
    gst_buffer_unref(same);
#endif
    gst_buffer_unref(frame);
    gst_harness_teardown(h);
  }
}
GST_END_TEST;

void
add_analytics_tests(TCase *each)
{
  EACH(test_boxes);
  EACH(test_many_boxes);
  EACH(test_metas_stay);
#if GST_CHECK_VERSION(1, 26, 0)
  EACH(test_segments);
  EACH(test_segments_of_a_box);
  EACH(test_all_kinds);
  EACH(test_hostile_segments);
  EACH(test_odd_segments);
  tcase_add_test(each, test_time_of_labels);
#else
  g_print("SKIPPED: segmentation masks, GStreamer 1.26 has them\n");
#endif
}

#else

#define API "GstAnalyticsRelationMetaAPI"

static gboolean
init_meta(GstMeta *meta, gpointer params, GstBuffer *buffer)
{
  return TRUE;
}

/* Adds a meta like a detector's, under the name by which the element knows it. */
static void
add_relation_meta(GstBuffer *buffer)
{
  static const char *const tags[] = {NULL};
  static const GstMetaInfo *info = NULL;

  if (!info)
    info = gst_meta_register(gst_meta_api_type_register(API, (const char **)tags), "TestAnalyticsRelationMeta",
                             sizeof(GstMeta), init_meta, NULL, NULL);
  gst_buffer_add_meta(buffer, info, NULL);
}

/* Pushes two frames without the meta and two with it. Returns the number of warnings. Each must have the words. */
static int
warnings_with(const char *source, const char *invert, const char *words)
{
  GstBus *bus;
  GstElement *element = make_element("cpu", &bus);
  GstHarness *h;
  int n;

  SET(element, source, invert);
  h = harness_of(gst_object_ref(element), "GRAY8", W, H);
  for (guint i = 0; i < 4; i++) {
    GstBuffer *frame = gray_buffer(W, H, ramp, i);

    fail_unless_equals_int(count_messages(bus, GST_MESSAGE_WARNING, ""), 0);
    if (i >= 2)
      add_relation_meta(frame);
    gst_buffer_unref(gst_harness_push_and_pull(h, frame));
    if (i == 2)
      n = count_messages(bus, GST_MESSAGE_WARNING, words);
  }
  gst_harness_teardown(h);
  fail_unless_equals_int(count_messages(bus, GST_MESSAGE_WARNING, ""), 0);
  free_element(element, bus);
  return n;
}

GST_START_TEST(test_meta_that_is_not_read)
{
  static const char words[] = "GstAnalyticsRelationMeta, which cannot be read: what a detector found ";
  g_autofree char *clear = g_strconcat(words, "stays visible; build the plugin with gstreamer-analytics-1.0", NULL);
  g_autofree char *filtered = g_strconcat(words, "is filtered too; build", NULL);
  g_autofree char *partly = g_strconcat(words, "stays visible in frames that have another region; build", NULL);

  fail_unless_equals_int(warnings_with("roi-source=meta", "roi-invert=false", clear), 1);
  fail_unless_equals_int(warnings_with("roi-source=meta", "roi-invert=true", filtered), 1);
  fail_unless_equals_int(warnings_with("roi-source=meta", "roi-missing=filter", partly), 1);
  fail_unless_equals_int(warnings_with("roi-source=none", "roi-invert=false", ""), 0);
}
GST_END_TEST;

void
add_analytics_tests(TCase *each)
{
  g_print("SKIPPED: analytics metas, this build has no gstreamer-analytics-1.0 of GStreamer 1.24 or newer\n");
  tcase_add_test(each, test_meta_that_is_not_read);
}

#endif
