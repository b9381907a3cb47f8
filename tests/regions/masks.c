/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Regions that are not plain rectangles: masks from metas and files, ellipses, fractions of the frame, and regions that
 * a detector sometimes misses. As in regions.c, black becomes white, so that the output is the regions' weight times
 * 255.
 */
#include <math.h>
#include <string.h>

#include <glib/gstdio.h>

#include "element/element.h"

#define WIDTH 32
#define HEIGHT 24

/* ---- what is expected ---- */

typedef struct {
  int x, y, width, height; /* place in the frame */
  int columns, rows;       /* number of weights; 0: an ellipse */
  const guint8 *weights;   /* 255 for 1 */
  double feather;          /* for the ellipse */
} Shape;

static double
mask_at(const Shape *mask, int x, int y)
{
  double u = CLAMP((x + 0.5 - mask->x) * mask->columns / mask->width - 0.5, 0, mask->columns - 1);
  double v = CLAMP((y + 0.5 - mask->y) * mask->rows / mask->height - 0.5, 0, mask->rows - 1);
  int u0 = (int)u, v0 = (int)v, u1 = MIN(u0 + 1, mask->columns - 1), v1 = MIN(v0 + 1, mask->rows - 1);
  const guint8 *upper = mask->weights + v0 * mask->columns, *lower = mask->weights + v1 * mask->columns;
  double above = upper[u0] + (u - u0) * (upper[u1] - upper[u0]), below = lower[u0] + (u - u0) * (lower[u1] - lower[u0]);

  if (x < mask->x || y < mask->y || x >= mask->x + mask->width || y >= mask->y + mask->height)
    return 0;
  return (above + (v - v0) * (below - above)) / 255;
}

/* Returns the weight of an ellipse at a pixel, from distances along the ray from its centre: to the sample, to the
 * ellipse of weight 1 and to the ellipse of weight 0. */
static double
ellipse_at(const Shape *shape, int x, int y)
{
  double a = MAX((shape->width - 1) / 2.0, 0.01), b = MAX((shape->height - 1) / 2.0, 0.01), f = shape->feather + 1;
  double dx = x - shape->x - (shape->width - 1) / 2.0, dy = y - shape->y - (shape->height - 1) / 2.0;
  double away = hypot(dx, dy), inner = away / hypot(dx / a, dy / b), outer = away / hypot(dx / (a + f), dy / (b + f));

  return away == 0 ? 1 : CLAMP((outer - away) / (outer - inner), 0, 1);
}

/* Fails unless each pixel has the largest weight of the shapes. shapes: ends with one of width 0. slack: of 255. */
static void
expect_shapes(GstBuffer *buffer, const Shape *shapes, gboolean invert, double slack, const char *what)
{
  double weights[WIDTH * HEIGHT] = {0};
  guint8 pixels[WIDTH * HEIGHT];

  gst_buffer_extract(buffer, 0, pixels, sizeof(pixels));
  for (const Shape *s = shapes; s->width > 0; s++)
    for (int i = 0; i < WIDTH * HEIGHT; i++) {
      int x = i % WIDTH, y = i / WIDTH;

      weights[i] = MAX(weights[i], s->columns > 0 ? mask_at(s, x, y) : ellipse_at(s, x, y));
    }
  expect_weights(pixels, WIDTH, HEIGHT, weights, invert, slack, what);
}

/* ---- masks with metas ---- */

/* Returns a mask at an offset, in rows of an odd stride. */
static GstBuffer *
mask_buffer(int columns, int rows, const guint8 *weights)
{
  return packed_buffer(GST_VIDEO_FORMAT_GRAY8, columns, rows, weights, (gsize)columns, 13, columns + 5);
}

/* Adds a meta, and takes ownership of the mask, which may be NULL. */
static void
add_meta(GstBuffer *frame, const char *type, const Shape *place, GstBuffer *mask)
{
  GstVideoRegionOfInterestMeta *meta = gst_buffer_add_video_region_of_interest_meta(
      frame, type, (guint)place->x, (guint)place->y, (guint)place->width, (guint)place->height);

  if (!mask)
    return;
  gst_video_region_of_interest_meta_add_param(meta, gst_structure_new("mask", "buffer", GST_TYPE_BUFFER, mask, NULL));
  gst_buffer_unref(mask);
}

#define WHITE 255, 255, 255, 255
static const guint8 coarse[] = {0, 255, 128, 255, 64, 0};
static const guint8 full[] = {WHITE, WHITE, WHITE};
static const guint8 one[] = {255};

static const Shape masks[] = {
    {4, 3, 3, 2, 3, 2, coarse},      {4, 3, 12, 8, 3, 2, coarse}, {0, 0, WIDTH, HEIGHT, 3, 2, coarse},
    {20, 10, 40, 30, 3, 2, coarse},  {7, 5, 1, 1, 4, 3, full},    {3, 3, 20, 13, 1, 1, one},
    {0, 0, 1, HEIGHT, 3, 2, coarse}, {9, 9, 5, 3, 4, 3, full},
};

/* Each mask by itself, and then all at once. */
GST_START_TEST(test_mask_metas)
{
  for (int invert = 0; invert < 2; invert++) {
    GstHarness *h = HARNESS(BACKEND, "GRAY8", WIDTH, HEIGHT, NEGATIVE, "roi-source=meta", ROI_INVERT(invert));

    for (guint i = 0; i <= G_N_ELEMENTS(masks); i++) {
      GstBuffer *frame = black_frame(WIDTH, HEIGHT, i);
      Shape expected[G_N_ELEMENTS(masks) + 1] = {{0}};
      char *what = g_strdup_printf("mask %u, invert %d", i, invert);

      for (guint m = 0, n = 0; m < G_N_ELEMENTS(masks); m++)
        if (m == i || i == G_N_ELEMENTS(masks)) {
          add_meta(frame, "face", &masks[m], mask_buffer(masks[m].columns, masks[m].rows, masks[m].weights));
          expected[n++] = masks[m];
        }
      frame = gst_harness_push_and_pull(h, frame);
      expect_shapes(frame, expected, invert, 0.75, what);
      gst_buffer_unref(frame);
      g_free(what);
    }
    gst_harness_teardown(h);
  }
}
GST_END_TEST;

/* A mask, a rectangle and a region whose type does not count, on one frame. The weights of the mask of 16 bits are its
 * high bytes. */
GST_START_TEST(test_mask_beside_rectangle)
{
  GstHarness *h = HARNESS(BACKEND, "GRAY8", WIDTH, HEIGHT, NEGATIVE, "roi-source=meta", "roi-types=face");
  const guint8 wide[] = {0, 0, 9, 255, 3, 128, 7, 255, 1, 64, 255, 0};
  const Shape expected[] = {{4, 3, 12, 8, 3, 2, coarse}, {20, 2, 5, 9, 1, 1, one}, {0}};
  GstBuffer *frame = black_frame(WIDTH, HEIGHT, 0);

  add_meta(frame, "face", &expected[0], packed_buffer(GST_VIDEO_FORMAT_GRAY16_LE, 3, 2, wide, sizeof(wide) / 2, 3, 9));
  add_meta(frame, "face", &expected[1], NULL);
  add_meta(frame, "car", &masks[2], mask_buffer(3, 2, coarse));
  frame = gst_harness_push_and_pull(h, frame);
  expect_shapes(frame, expected, FALSE, 0.75, "both");
  gst_buffer_unref(frame);
  gst_harness_teardown(h);
}
GST_END_TEST;

/* A mask buffer that several frames share is not mistaken for the old mask after its place changes. */
GST_START_TEST(test_mask_that_stays)
{
  GstHarness *h = HARNESS(BACKEND, "GRAY8", WIDTH, HEIGHT, NEGATIVE, "roi-source=meta");
  GstBuffer *mask = mask_buffer(3, 2, coarse);
  Shape expected[] = {{4, 3, 12, 8, 3, 2, coarse}, {0}};

  for (guint i = 0; i < 6; i++) {
    GstBuffer *frame = black_frame(WIDTH, HEIGHT, i);

    expected[0].x = i < 3 ? 4 : 9;
    add_meta(frame, "face", &expected[0], gst_buffer_ref(mask));
    frame = gst_harness_push_and_pull(h, frame);
    expect_shapes(frame, expected, FALSE, 0.75, "stays");
    gst_buffer_unref(frame);
  }
  gst_buffer_unref(mask);
  gst_harness_teardown(h);
}
GST_END_TEST;

/* Each frame has another mask, while several frames are in flight or wait for others. Each keeps its own. */
GST_START_TEST(test_masks_of_many_frames)
{
  static const char *const ways[] = {"frames-in-flight=4", "temporal-radius=2", "frames-in-flight=1"};

  for (guint w = 0; w < G_N_ELEMENTS(ways); w++) {
    GstHarness *h = HARNESS(BACKEND, "GRAY8", WIDTH, HEIGHT, NEGATIVE, "roi-source=meta", ways[w]);
    guint8 weights[30][12];
    GstBuffer *out;
    guint n = 0;

    for (guint i = 0; i < G_N_ELEMENTS(weights); i++) {
      const Shape place = {(int)i % 7, (int)i % 5, 16, 12};
      GstBuffer *frame = black_frame(WIDTH, HEIGHT, i);

      for (guint c = 0; c < 12; c++)
        weights[i][c] = (guint8)((i * 37 + c * 91) % 256);
      if (i % 4 != 3)
        add_meta(frame, "face", &place, mask_buffer(4, 3, weights[i]));
      fail_unless_equals_int(gst_harness_push(h, frame), GST_FLOW_OK);
    }
    gst_harness_push_event(h, gst_event_new_eos());
    for (; n < G_N_ELEMENTS(weights) && (out = gst_harness_pull(h)); n++) {
      const Shape expected[] = {{(int)n % 7, (int)n % 5, n % 4 != 3 ? 16 : 0, 12, 4, 3, weights[n]}, {0}};
      char *what = g_strdup_printf("%s, frame %u", ways[w], n);

      expect_shapes(out, expected, FALSE, 0.75, what);
      gst_buffer_unref(out);
      g_free(what);
    }
    fail_unless_equals_int(n, G_N_ELEMENTS(weights));
    gst_harness_teardown(h);
  }
}
GST_END_TEST;

/* A mask with one sample per pixel. It expands by a part of the longer side of its place, and then the weight falls by
 * 255 / (feather + 1) per pixel, along x and along y. */
GST_START_TEST(test_mask_grows)
{
  static const struct {
    const char *set[2];
    double expand, feather;
  } rows[] = {{{"roi-feather=0"}, 0, 0},
              {{"roi-feather=4"}, 0, 4},
              {{"roi-feather=2.5", "roi-expand=0.5"}, 2, 2.5},
              {{"roi-expand=1"}, 4, 0}};
  static const guint8 weights[] = {255, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 255};

  for (guint i = 0; i < G_N_ELEMENTS(rows); i++) {
    GstHarness *h = HARNESS(BACKEND, "GRAY8", WIDTH, HEIGHT, NEGATIVE, "roi-source=meta");
    const Shape place = {12, 9, 4, 3};
    GstBuffer *frame = black_frame(WIDTH, HEIGHT, 0);
    guint8 pixels[WIDTH * HEIGHT];

    for (int s = 0; s < 2 && rows[i].set[s]; s++)
      SET(h->element, rows[i].set[s]);
    add_meta(frame, "face", &place, mask_buffer(4, 3, weights));
    frame = gst_harness_push_and_pull(h, frame);
    gst_buffer_extract(frame, 0, pixels, sizeof(pixels));
    for (int y = 0; y < HEIGHT; y++)
      for (int x = 0; x < WIDTH; x++) {
        int away = MIN(abs(x - 12) + abs(y - 9), abs(x - 15) + abs(y - 11));
        double expected = 255 * CLAMP(1 - (away - rows[i].expand) / (rows[i].feather + 1), 0, 1);

        fail_unless(fabs(pixels[y * WIDTH + x] - expected) < 1.01, "row %u: %d at (%d, %d) and not %g", i,
                    pixels[y * WIDTH + x], x, y, expected);
      }
    gst_buffer_unref(frame);
    gst_harness_teardown(h);
  }
}
GST_END_TEST;

/* ---- hostile masks ---- */

static const struct {
  GstVideoFormat format;
  guint width, height;
  gsize offset;
  int stride;
  gsize size;
  const char *message;
} hostile_rows[] = {
    {GST_VIDEO_FORMAT_GRAY8, 4, 3, 0, 4, 11, "does not hold 4x3 samples"},
    {GST_VIDEO_FORMAT_GRAY8, 4, 3, G_MAXSIZE, 4, 12, "does not hold"},
    {GST_VIDEO_FORMAT_GRAY8, 4, 3, 8, -4, 12, "does not hold"},
    {GST_VIDEO_FORMAT_GRAY8, 4, 3, 0, G_MAXINT, 12, "does not hold"},
    {GST_VIDEO_FORMAT_GRAY8, 4, 3, 0, 4, 1, "does not hold"},
    {GST_VIDEO_FORMAT_GRAY8, 0, 0, 0, 0, 12, "a mask of 0x0 samples"},
    {GST_VIDEO_FORMAT_GRAY8, 32768, 32768, 0, 32768, 12, "32768x32768 samples"},
    {GST_VIDEO_FORMAT_NV12, 4, 3, 0, 4, 100, "has no GstVideoMeta of GRAY8"},
    {GST_VIDEO_FORMAT_UNKNOWN, 0, 0, 0, 0, 12, "has no GstVideoMeta of GRAY8"}, /* no meta */
};

/* One warning, and the mask's whole rectangle is filtered; with roi-invert the whole frame. */
GST_START_TEST(test_hostile_masks)
{
  const Shape place = {4, 3, 12, 8, 1, 1, one};

  for (guint i = 0; i < G_N_ELEMENTS(hostile_rows); i++)
    for (int invert = 0; invert < 2; invert++) {
      const Shape expected[] = {{invert ? 0 : 4, 3, invert ? 0 : 12, 8, 1, 1, one}, {0}};
      GstBus *bus;
      GstHarness *h =
          WATCHED_HARNESS(&bus, BACKEND, "GRAY8", WIDTH, HEIGHT, NEGATIVE, "roi-source=meta", ROI_INVERT(invert));

      for (guint n = 0; n < 3; n++) {
        GstBuffer *frame = black_frame(WIDTH, HEIGHT, n),
                  *mask = gst_buffer_new_allocate(NULL, hostile_rows[i].size, NULL);

        if (hostile_rows[i].format != GST_VIDEO_FORMAT_UNKNOWN)
          gst_buffer_add_video_meta_full(mask, GST_VIDEO_FRAME_FLAG_NONE, hostile_rows[i].format, hostile_rows[i].width,
                                         hostile_rows[i].height, 1,
                                         (gsize[GST_VIDEO_MAX_PLANES]){hostile_rows[i].offset},
                                         (int[GST_VIDEO_MAX_PLANES]){hostile_rows[i].stride});
        add_meta(frame, "face", &place, mask);
        frame = gst_harness_push_and_pull(h, frame);
        expect_shapes(frame, expected, invert, 0.5, hostile_rows[i].message);
        gst_buffer_unref(frame);
      }
      fail_unless_equals_int(count_messages(bus, GST_MESSAGE_WARNING, hostile_rows[i].message), 1);
      free_watched_harness(h, bus);
    }
}
GST_END_TEST;

/* With places at the limits of a meta, the frame comes out in time, and is filtered wherever the meta covers it. */
GST_START_TEST(test_hostile_places)
{
  static const guint ends[] = {0, 3, G_MAXINT, (guint)G_MAXINT + 1, G_MAXUINT};
  const guint n = G_N_ELEMENTS(ends);
  GstHarness *h =
      HARNESS(BACKEND, "GRAY8", WIDTH, HEIGHT, NEGATIVE, "roi-source=meta", "roi-feather=3", "roi-expand=0.3");

  for (guint i = 0; i < n * n * n * n; i++) {
    const guint place[] = {ends[i % n], ends[i / n % n], ends[i / n / n % n], ends[i / n / n / n]};
    GstBuffer *frame = black_frame(WIDTH, HEIGHT, i), *mask = mask_buffer(4, 3, full);
    GstVideoRegionOfInterestMeta *meta =
        gst_buffer_add_video_region_of_interest_meta(frame, "face", place[0], place[1], place[2], place[3]);
    guint8 pixels[WIDTH * HEIGHT];

    gst_video_region_of_interest_meta_add_param(meta, gst_structure_new("mask", "buffer", GST_TYPE_BUFFER, mask, NULL));
    gst_buffer_unref(mask);
    frame = gst_harness_push_and_pull(h, frame);
    gst_buffer_extract(frame, 0, pixels, sizeof(pixels));
    for (guint y = 0; y < HEIGHT; y++)
      for (guint x = 0; x < WIDTH; x++)
        fail_unless(x < place[0] || y < place[1] || x - place[0] >= place[2] || y - place[1] >= place[3] ||
                        pixels[y * WIDTH + x] == 255,
                    "%u %u %u %u: %d at (%u, %u)", place[0], place[1], place[2], place[3], pixels[y * WIDTH + x], x, y);
    gst_buffer_unref(frame);
  }
  gst_harness_teardown(h);
}
GST_END_TEST;

/* More masks than there can be regions, and a mask of the largest width: all are covered. */
GST_START_TEST(test_many_and_large)
{
  GstHarness *h = HARNESS(BACKEND, "GRAY8", WIDTH, HEIGHT, NEGATIVE, "roi-source=meta");
  GstBuffer *frame = black_frame(WIDTH, HEIGHT, 0), *large = gst_buffer_new_allocate(NULL, 32768 * 64, NULL);
  const Shape last = {2, 20, 4, 3}, wide = {0, 0, WIDTH, 2};
  guint8 pixels[WIDTH * HEIGHT];

  gst_buffer_memset(large, 0, 255, -1);
  gst_buffer_add_video_meta(large, GST_VIDEO_FRAME_FLAG_NONE, GST_VIDEO_FORMAT_GRAY8, 32768, 64);
  add_meta(frame, "face", &wide, large);
  for (int i = 0; i < 3000; i++)
    add_meta(frame, "face", i == 2999 ? &last : &masks[7], mask_buffer(4, 3, full));
  frame = gst_harness_push_and_pull(h, frame);
  gst_buffer_extract(frame, 0, pixels, sizeof(pixels));
  for (int y = 0; y < HEIGHT; y++)
    for (int x = 0; x < WIDTH; x++)
      if (y < 2 || (x >= 9 && x < 14 && y >= 9 && y < 12) || (x >= 2 && x < 6 && y >= 20 && y < 23))
        fail_unless_equals_int(pixels[y * WIDTH + x], 255);
  gst_buffer_unref(frame);
  gst_harness_teardown(h);
}
GST_END_TEST;

/* ---- masks from files ---- */

/* Base64 of 3 x 2 pixels, 0 255 128 above 64 255 0. */
static const struct {
  const char *kind, *text;
} pictures[] = {
    {"PGM", "UDIgMyAyIDI1NSAwIDI1NSAxMjggNjQgMjU1IDAK"},
    {"grey PNG",
     "iVBORw0KGgoAAAANSUhEUgAAAAMAAAACCAAAAAC4HznGAAAAEElEQVR42mNg+N/A4PCfAQALQAK/gHETvgAAAABJRU5ErkJggg=="},
    {"PNG with alpha",
     "iVBORw0KGgoAAAANSUhEUgAAAAMAAAACCAYAAACddGYaAAAAHElEQVR42mNgYGD4DwQMDQ0NnAwODg5gDhBwAgCQcQpLkKt69wAA"
     "AABJRU5ErkJggg=="},
    {"PNG with a palette",
     "iVBORw0KGgoAAAANSUhEUgAAAAMAAAACCAMAAACqqpYoAAAADFBMVEUAAAD///+AgIBAQEB86+YvAAAAEElEQVR42mNgYGRi"
     "YGZkAAAAIwAI45lyHQAAAABJRU5ErkJggg=="},
    {"PNG of 16 bits",
     "iVBORw0KGgoAAAANSUhEUgAAAAMAAAACEAAAAADoj+WFAAAAFklEQVR42mNgYPj/v6GBwcHh/38GBgAnMgV91uy2mAAAAABJRU5E"
     "rkJggg=="},
    {"RGB PNG of 16 bits",
     "iVBORw0KGgoAAAANSUhEUgAAAAMAAAACEAIAAABChi0OAAAAIklEQVQImSXJMREAMBDDMPtKzPxJpcOv0gOAbdtUlao6uv77ew1+7jGR9gAAAABJ"
     "RU5ErkJggg=="},
    {"interlaced RGBA PNG of 16 bits",
     "iVBORw0KGgoAAAANSUhEUgAAAAMAAAACEAYAAAG644rPAAAAK0lEQVQImT3KMQ0AQBACwbWAI7xgBOd8c/l2MgBARNu2Edu2Rdi2HX24+gDcHRMt"
     "xkXhEAAAAABJRU5ErkJggg=="},
    {"interlaced grey PNG",
     "iVBORw0KGgoAAAANSUhEUgAAAAMAAAACCAAAAAHPGAlQAAAAEklEQVQImWNgYGhg+M/g8J8BAAtDAr/VW90uAAAAAElFTkSuQmCC"},
};
static const guint8 picture_weights[] = {0, 255, 128, 64, 255, 0};

static char *
write_picture(const guint8 *bytes, gsize size)
{
  char *path;
  int file = g_file_open_tmp("mask-XXXXXX", &path, NULL);

  fail_unless(file >= 0);
  g_close(file, NULL);
  fail_unless(g_file_set_contents(path, (const char *)bytes, (gssize)size, NULL));
  return path;
}

/* A mask covers the frame, counts beside a rectangle of roi, and is gone after the location is cleared. */
GST_START_TEST(test_mask_files)
{
  for (guint i = 0; i < G_N_ELEMENTS(pictures); i++) {
    GstHarness *h = HARNESS(BACKEND, "GRAY8", WIDTH, HEIGHT, NEGATIVE, "roi-source=property");
    const Shape expected[] = {{0, 0, WIDTH, HEIGHT, 3, 2, picture_weights}, {0}};
    const Shape both[] = {expected[0], {20, 15, 7, 5, 1, 1, one}, {0}};
    gsize size;
    g_autofree guint8 *bytes = g_base64_decode(pictures[i].text, &size);
    g_autofree char *path = write_picture(bytes, size), *back = NULL;
    GstBuffer *frame;

    g_object_set(h->element, "roi-mask-location", path, NULL);
    g_unlink(path);
    g_object_get(h->element, "roi-mask-location", &back, NULL);
    fail_unless_equals_string(back, path);
    for (guint n = 0; n < 3; n++) {
      frame = gst_harness_push_and_pull(h, black_frame(WIDTH, HEIGHT, n));
      expect_shapes(frame, n < 2 ? expected : both, FALSE, 0.75, pictures[i].kind);
      gst_buffer_unref(frame);
      if (n == 1)
        SET(h->element, "roi=<<20,15,7,5>>");
    }
    SET(h->element, "roi-mask-location=");
    frame = gst_harness_push_and_pull(h, black_frame(WIDTH, HEIGHT, 3));
    expect_shapes(frame, both + 1, FALSE, 0.75, pictures[i].kind);
    gst_buffer_unref(frame);
    gst_harness_teardown(h);
  }
}
GST_END_TEST;

/* A bad file is rejected when it is set, and the element does not start with it. Another value makes it start. */
GST_START_TEST(test_bad_mask_files)
{
  gsize size;
  g_autofree guint8 *png = g_base64_decode(pictures[1].text, &size);
  guint8 wrong[60];
  const struct {
    const guint8 *bytes;
    gsize size;
    const char *message;
  } rows[] = {
      {(const guint8 *)"", 0, ": neither a PGM (P2 or P5) nor a PNG: save it in one of these formats"},
      {(const guint8 *)"P2 2 2 255 1 2 3", 16, ": no value for column 2 of row 2, of 2x2 pixels"},
      {png, 24, ": this PNG is damaged (it ends early): save it again"},
      {png, 50, ": this PNG is damaged (it ends early): save it again"},
      {png, 7, ": neither a PGM"},
      {wrong, sizeof(wrong), ": this PNG is damaged (the checksum of its header is wrong): save it again"},
  };

  memcpy(wrong, png, sizeof(wrong));
  memset(wrong + 16, 0xff, 4);
  for (guint i = 0; i < G_N_ELEMENTS(rows); i++) {
    g_autofree char *path = write_picture(rows[i].bytes, rows[i].size);
    GstBus *bus;
    GstElement *element = make_element("cpu", &bus);

    SET(element, "roi-source=property");
    g_object_set(element, "roi-mask-location", path, NULL);
    fail_unless_equals_int(count_messages(bus, GST_MESSAGE_WARNING, rows[i].message), 1);
    fail_unless_equals_int(gst_element_set_state(element, GST_STATE_PAUSED), GST_STATE_CHANGE_FAILURE);
    fail_unless_equals_int(count_messages(bus, GST_MESSAGE_ERROR, path), 1);
    gst_element_set_state(element, GST_STATE_NULL);
    SET(element, "roi-mask-location=");
    fail_unless_equals_int(gst_element_set_state(element, GST_STATE_PAUSED), GST_STATE_CHANGE_SUCCESS);
    g_unlink(path);
    free_element(element, bus);
  }
}
GST_END_TEST;

/* ---- ellipses and fractions ---- */

GST_START_TEST(test_ellipses)
{
  static const struct {
    const char *set[5];
    Shape shapes[3];
    gboolean invert;
  } rows[] = {
      {{"roi-source=property", "roi=<<8,6,9,7>>"}, {{8, 6, 9, 7}}},
      {{"roi-source=property", "roi=<<8,6,10,4>>", "roi-feather=3"}, {{8, 6, 10, 4, .feather = 3}}},
      {{"roi-source=property", "roi=<<8,6,2,1>,<20,4,3,9>>"}, {{8, 6, 2, 1}, {20, 4, 3, 9}}},
      {{"roi-source=property", "roi=<<-5,-3,20,17>>", "roi-feather=2.5"}, {{-5, -3, 20, 17, .feather = 2.5}}},
      {{"roi-source=property", "roi=<<8,6,10,4>>", "roi-expand=0.5"}, {{3, 4, 20, 8}}},
      {{"roi-source=property", "roi=<<8,6,9,7>,<14,8,9,9>>", "roi-invert=true"}, {{8, 6, 9, 7}, {14, 8, 9, 9}}, TRUE},
  };

  for (guint i = 0; i < G_N_ELEMENTS(rows); i++) {
    GstHarness *h = HARNESS(BACKEND, "GRAY8", WIDTH, HEIGHT, NEGATIVE, "roi-shape=ellipse");
    char *what = g_strdup_printf("ellipse %u", i);
    GstBuffer *frame;

    set_all(h->element, rows[i].set);
    frame = gst_harness_push_and_pull(h, black_frame(WIDTH, HEIGHT, 0));
    expect_shapes(frame, rows[i].shapes, rows[i].invert, 0.75, what);
    gst_buffer_unref(frame);
    gst_harness_teardown(h);
    g_free(what);
  }
}
GST_END_TEST;

/* Fractions of the frame, rounded outwards. */
GST_START_TEST(test_fractions)
{
  static const struct {
    const char *roi;
    Shape shape;
  } rows[] = {
      {"roi=<<0,0,1,1>>", {0, 0, 32, 24, 1, 1, one}},
      {"roi=<<0.25,0.25,0.5,0.5>>", {8, 6, 16, 12, 1, 1, one}},
      {"roi=<<1/4,0.5,1/8,0.25>>", {8, 12, 4, 6, 1, 1, one}},
      {"roi=<<0.26,0.26,0.01,0.01>>", {8, 6, 1, 1, 1, 1, one}},
      {"roi=<<-0.5,0.1,1,0.2>>", {-16, 2, 32, 6, 1, 1, one}},
      {"roi=<<0.0001,0.5,0.0001,0.0001>>", {0, 12, 1, 1, 1, 1, one}},
  };

  for (guint i = 0; i < G_N_ELEMENTS(rows); i++) {
    GstHarness *h =
        HARNESS(BACKEND, "GRAY8", WIDTH, HEIGHT, NEGATIVE, "roi-source=property", rows[i].roi, "roi-units=fraction");
    GstBuffer *frame = gst_harness_push_and_pull(h, black_frame(WIDTH, HEIGHT, 0));

    expect_shapes(frame, (const Shape[]){rows[i].shape, {0}}, FALSE, 0.5, rows[i].roi);
    gst_buffer_unref(frame);
    gst_harness_teardown(h);
  }
}
GST_END_TEST;

/* ---- regions over time ---- */

#define FACE 6

static void
place_face(int frame, int *x, int *y)
{
  *x = 2 + frame % 40 * 3 / 5;
  *y = 15 - frame % 40 / 3;
}

/* A detector misses every third frame. No sample of the face is ever uncovered, also if frames wait for others, and the
 * same frames give the same picture. */
GST_START_TEST(test_every_third_missed)
{
  static const char *const ways[] = {"temporal-radius=0", "temporal-radius=2", "frames-in-flight=3"};
  static guint8 seen[40][WIDTH * HEIGHT];

  for (guint w = 0; w < 2 * G_N_ELEMENTS(ways); w++) {
    GstHarness *h = HARNESS(BACKEND, "GRAY8", WIDTH, HEIGHT, NEGATIVE, "roi-source=meta", "roi-smooth=2", ways[w / 2]);
    GstBuffer *out;
    guint n = 0;

    for (guint i = 0; i < 40; i++) {
      GstBuffer *frame = black_frame(WIDTH, HEIGHT, i);
      Shape place = {.width = FACE, .height = FACE};

      place_face((int)i, &place.x, &place.y);
      if (i % 3 != 2)
        add_meta(frame, "face", &place, NULL);
      fail_unless_equals_int(gst_harness_push(h, frame), GST_FLOW_OK);
    }
    gst_harness_push_event(h, gst_event_new_eos());
    for (; n < 40 && (out = gst_harness_pull(h)); n++) {
      guint8 pixels[WIDTH * HEIGHT];
      int x0, y0;

      gst_buffer_extract(out, 0, pixels, sizeof(pixels));
      gst_buffer_unref(out);
      place_face((int)n, &x0, &y0);
      for (int y = MAX(y0, 0); y < y0 + FACE; y++)
        for (int x = x0; x < MIN(x0 + FACE, WIDTH); x++)
          fail_unless(pixels[y * WIDTH + x] == 255, "%s: frame %u at (%d, %d)", ways[w / 2], n, x, y);
      fail_unless_equals_int(pixels[WIDTH - 1 + (HEIGHT - 1) * WIDTH], 0);
      if (w == 0)
        memcpy(seen[n], pixels, sizeof(pixels));
      fail_unless(memcmp(seen[n], pixels, sizeof(pixels)) == 0, "%s: frame %u is another picture", ways[w / 2], n);
    }
    fail_unless_equals_int(n, 40);
    gst_harness_teardown(h);
  }
}
GST_END_TEST;

/* After a flush and after new caps nothing of the earlier frames remains. A frame after a dropped one is like any
 * other. With roi-invert, regions that are kept do not grow. */
GST_START_TEST(test_smoothing_begins_anew)
{
  for (int what = 0; what < 5; what++) {
    GstHarness *h =
        HARNESS(BACKEND, "GRAY8", WIDTH, HEIGHT, NEGATIVE, "roi-source=meta", "roi-smooth=9", ROI_INVERT(what == 4));
    const Shape moved = {6, 5, 7, 7, 1, 1, one}, grown = {4, 3, 11, 11, 1, 1, one}, none = {0};
    const Shape expected[] = {what < 2 ? grown : what == 4 ? moved : none, none};
    GstBuffer *frame;

    for (guint i = 0; i < 2; i++) {
      const Shape place = {5 + (int)i, 4 + (int)i, 7, 7};

      frame = black_frame(WIDTH, HEIGHT, i);
      add_meta(frame, "face", &place, NULL);
      gst_buffer_unref(gst_harness_push_and_pull(h, frame));
    }
    frame = black_frame(WIDTH, HEIGHT, 2);
    if (what == 1)
      GST_BUFFER_FLAG_SET(frame, GST_BUFFER_FLAG_DISCONT);
    if (what == 2) {
      GstSegment segment;

      gst_segment_init(&segment, GST_FORMAT_TIME);
      gst_harness_push_event(h, gst_event_new_flush_start());
      gst_harness_push_event(h, gst_event_new_flush_stop(TRUE));
      gst_harness_push_event(h, gst_event_new_segment(&segment));
    }
    if (what == 3) {
      gst_harness_set_src_caps_str(h, "video/x-raw,format=GRAY8,width=16,height=16,framerate=25/1");
      gst_harness_set_src_caps_str(h, "video/x-raw,format=GRAY8,width=32,height=24,framerate=25/1");
    }
    frame = gst_harness_push_and_pull(h, frame);
    expect_shapes(frame, expected, what == 4, 0.5, "anew");
    gst_buffer_unref(frame);
    gst_harness_teardown(h);
  }
}
GST_END_TEST;

/* ---- metas downstream ---- */

/* Metas and their masks are the same downstream: on frames that are filtered in regions or as a whole, on frames that
 * wait for others, and on frames that one element uploads and another one downloads. */
GST_START_TEST(test_metas_stay)
{
  static const char *const ways[] = {
      "cudaconvolve roi-source=meta",
      "cudaconvolve roi-source=none",
      "cudaconvolve temporal-radius=1",
      "cudaconvolve roi-source=meta ! video/x-raw(memory:CUDAMemory) ! cudaconvolve ! "
      "capsfilter caps=video/x-raw",
  };

  for (guint w = 0; w < G_N_ELEMENTS(ways) - (strcmp(BACKEND, "cuda") != 0); w++) {
    GstHarness *h = gst_harness_new_parse(ways[w]);
    GstBuffer *frame = gst_buffer_new_allocate(NULL, 320 * 240 * 3 / 2, NULL), *mask = mask_buffer(3, 2, coarse);
    GstVideoRegionOfInterestMeta *meta;
    GstStructure *param;

    gst_harness_set_src_caps_str(h, "video/x-raw,format=NV12,width=320,height=240,framerate=25/1");
    gst_buffer_memset(frame, 0, 100, -1);
    stamp(frame, 0);
    add_meta(frame, "face", &masks[1], gst_buffer_ref(mask));
    add_meta(frame, "car", &masks[3], NULL);
    fail_unless_equals_int(gst_harness_push(h, frame), GST_FLOW_OK);
    gst_harness_push_event(h, gst_event_new_eos());
    frame = gst_harness_pull(h);
    fail_unless_equals_int(gst_buffer_get_n_meta(frame, GST_VIDEO_REGION_OF_INTEREST_META_API_TYPE), 2);
    meta = gst_buffer_get_video_region_of_interest_meta_id(frame, 0);
    fail_unless(meta && meta->x == 4 && meta->y == 3 && meta->w == 12 && meta->h == 8);
    fail_unless_equals_string(g_quark_to_string(meta->roi_type), "face");
    param = gst_video_region_of_interest_meta_get_param(meta, "mask");
    fail_unless(param && gst_value_get_buffer(gst_structure_get_value(param, "buffer")) == mask);
    gst_buffer_unref(frame);
    gst_buffer_unref(mask);
    gst_harness_teardown(h);
  }
}
GST_END_TEST;

void
add_mask_tests(TCase *once, TCase *each)
{
  EACH(test_mask_metas);
  EACH(test_mask_beside_rectangle);
  EACH(test_mask_that_stays);
  EACH(test_masks_of_many_frames);
  EACH(test_mask_grows);
  EACH(test_hostile_masks);
  EACH(test_hostile_places);
  EACH(test_many_and_large);
  EACH(test_mask_files);
  EACH(test_ellipses);
  EACH(test_fractions);
  EACH(test_every_third_missed);
  EACH(test_smoothing_begins_anew);
  EACH(test_metas_stay);
  tcase_add_test(once, test_bad_mask_files);
}
