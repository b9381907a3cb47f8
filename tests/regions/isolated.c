/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Isolated regions: a magenta person in front of a green background. Neither gets colour from the other.
 */
#include <glib/gstdio.h>

#include "element/element.h"

#define WIDTH 48
#define HEIGHT 32

typedef struct {
  guint8 r, g, b;
} Pixel;

static const Pixel magenta = {255, 0, 255};

/* Returns TRUE in the person, which is an ellipse. */
static gboolean
is_person(int x, int y)
{
  double dx = (x + 0.5 - WIDTH / 2.0) / 9, dy = (y + 0.5 - HEIGHT / 2.0) / 13;

  return dx * dx + dy * dy < 1;
}

static Pixel
pixel_of_scene(int x, int y)
{
  return is_person(x, y) ? magenta : (Pixel){0, (guint8)(40 + 37 * x % 199), 0};
}

static char *
write_mask(void)
{
  char *path = g_build_filename(g_get_tmp_dir(), "cudaconvolve-isolated.pgm", NULL);
  g_autoptr(GString) text = g_string_new(NULL);

  g_string_printf(text, "P5 %d %d 255\n", WIDTH, HEIGHT);
  for (int i = 0; i < WIDTH * HEIGHT; i++)
    g_string_append_c(text, is_person(i % WIDTH, i / WIDTH) ? (char)255 : 0);
  fail_unless(g_file_set_contents(path, text->str, (gssize)text->len, NULL));
  return path;
}

/* Filters the scene with the mask of the person, or of the background with invert. */
static void
filter(const char *backend, gboolean invert, gboolean isolated, Pixel pixels[WIDTH * HEIGHT])
{
  g_autofree char *path = write_mask();
  GstHarness *h = HARNESS(backend, "RGB", WIDTH, HEIGHT, "radius=8", "sigma=4", "roi-source=property");
  GstBuffer *buffer;

  g_object_set(h->element, "roi-mask-location", path, "roi-invert", invert, "roi-isolated", isolated, NULL);
  g_remove(path);
  for (int i = 0; i < WIDTH * HEIGHT; i++)
    pixels[i] = pixel_of_scene(i % WIDTH, i / WIDTH);
  buffer = packed_buffer(GST_VIDEO_FORMAT_RGB, WIDTH, HEIGHT, &pixels[0].r, 3 * WIDTH, 0, 3 * WIDTH);
  buffer = gst_harness_push_and_pull(h, buffer);
  gst_buffer_extract(buffer, 0, pixels, WIDTH * HEIGHT * sizeof(Pixel));
  gst_buffer_unref(buffer);
  gst_harness_teardown(h);
}

static gboolean
same_pixel(Pixel a, Pixel b)
{
  return a.r == b.r && a.g == b.g && a.b == b.b;
}

/* The background is blurred: it has no trace of magenta, and the person keeps every bit. Without roi-isolated, the
 * background has magenta. */
GST_START_TEST(test_background_without_halo)
{
  for (int isolated = 0; isolated < 2; isolated++) {
    Pixel pixels[WIDTH * HEIGHT];
    int n_magenta = 0, n_changed = 0;

    filter(BACKEND, TRUE, isolated, pixels);
    for (int i = 0; i < WIDTH * HEIGHT; i++) {
      Pixel before = pixel_of_scene(i % WIDTH, i / WIDTH);

      if (is_person(i % WIDTH, i / WIDTH)) {
        fail_unless(same_pixel(pixels[i], magenta), "pixel %d of the person has changed", i);
        continue;
      }
      n_magenta += pixels[i].r > 0 || pixels[i].b > 0;
      n_changed += !same_pixel(pixels[i], before);
    }
    fail_unless(isolated ? n_magenta == 0 : n_magenta > 100, "%d pixels are magenta", n_magenta);
    fail_unless(n_changed > WIDTH * HEIGHT / 2, "%d pixels have changed", n_changed);
  }
}
GST_END_TEST;

/* The person is blurred. It has one colour, so that an isolated blur changes nothing. */
GST_START_TEST(test_person_without_background)
{
  for (int isolated = 0; isolated < 2; isolated++) {
    Pixel pixels[WIDTH * HEIGHT];
    int n_changed = 0;

    filter(BACKEND, FALSE, isolated, pixels);
    for (int i = 0; i < WIDTH * HEIGHT; i++)
      n_changed += !same_pixel(pixels[i], pixel_of_scene(i % WIDTH, i / WIDTH));
    fail_unless(isolated ? n_changed == 0 : n_changed > 100, "%d pixels have changed", n_changed);
  }
}
GST_END_TEST;

/* A box of 3 samples along x, computed by hand: an ellipse of 3x1 at column 4 of 10 20 30 ... reads only its own
 * samples. At each of its ends the box meets two of them. */
GST_START_TEST(test_isolated_ellipse)
{
  static const guint8 row[] = {10, 20, 30, 40, 50, 60, 100, 80, 90, 100};
  static const guint8 expected[] = {10, 20, 30, 40, 55, 70, 80, 80, 90, 100};
  GstHarness *h = HARNESS(BACKEND, "GRAY8", 10, 1, "filter=box", "radius-x=1", "radius-y=0", "roi-source=property",
                          "roi-shape=ellipse", "roi-isolated=true", "roi=<<4,0,3,1>>");
  GstBuffer *buffer = gst_harness_push_and_pull(h, gray_buffer(10, 1, row, 0));

  fail_unless(gray_equals(buffer, 10, 1, expected));
  gst_buffer_unref(buffer);
  gst_harness_teardown(h);
}
GST_END_TEST;

static const struct {
  const char *set[6], *message;
} without_sum[] = {
    {{"filter=sobel", "roi-source=meta", "roi-isolated=true", "roi-invert=true"},
     "the taps of filter=sobel have no sum, because its result is a magnitude: set roi-isolated=false"},
    {{"filter=laplacian", "roi-source=meta", "roi-isolated=true", "roi-shape=ellipse"},
     "the taps of filter=laplacian add up to 0: set roi-isolated=false"},
    {{"filter=log", "roi-source=property", "roi-isolated=true", "roi-polygons=<<0,0,4,0,4,3>>"},
     "the taps of filter=log add up to 0: set roi-isolated=false"},
    {{"filter=laplacian", "roi-source=property", "roi-isolated=true", "roi=<<0,0,4,3>>"}, NULL},
    {{"filter=fill", "roi-source=property", "roi-isolated=true", "roi=<<0,0,4,3>>", "roi-invert=true"}, NULL},
};

/* Taps without a sum are rejected if isolation needs one: the taps that remain are scaled to that sum. */
GST_START_TEST(test_taps_without_sum)
{
  GstBus *bus;
  GstHarness *h = watched_harness(&bus, "cpu", "GRAY8", W, H, without_sum[__i__].set);
  gboolean refused = without_sum[__i__].message != NULL;

  fail_unless_equals_int(gst_harness_push(h, gray_buffer(W, H, ramp, 0)) != GST_FLOW_OK, refused);
  fail_unless_equals_int(count_messages(bus, GST_MESSAGE_ERROR, refused ? without_sum[__i__].message : ""), refused);
  free_watched_harness(h, bus);
}
GST_END_TEST;

/* The meta of any frame may have a mask. Taps without a sum then fail, and the message has the fix. */
GST_START_TEST(test_mask_that_cannot_be_isolated)
{
  GstBus *bus;
  GstHarness *h =
      WATCHED_HARNESS(&bus, BACKEND, "GRAY8", W, H, "filter=laplacian", "roi-source=meta", "roi-isolated=true");
  GstBuffer *frame, *mask = gst_buffer_new_allocate(NULL, 16, NULL);
  GstVideoRegionOfInterestMeta *meta;

  gst_buffer_unref(push_ramp(h, 0));
  frame = gray_buffer(W, H, ramp, 1);
  meta = gst_buffer_add_video_region_of_interest_meta(frame, "face", 0, 0, 4, 3);
  gst_buffer_memset(mask, 0, 255, 16);
  gst_buffer_add_video_meta(mask, GST_VIDEO_FRAME_FLAG_NONE, GST_VIDEO_FORMAT_GRAY8, 4, 4);
  gst_video_region_of_interest_meta_add_param(meta, gst_structure_new("mask", "buffer", GST_TYPE_BUFFER, mask, NULL));
  gst_buffer_unref(mask);
  fail_unless_equals_int(gst_harness_push(h, frame), GST_FLOW_ERROR);
  fail_unless_equals_int(count_messages(bus, GST_MESSAGE_ERROR, "add up to 0: set roi-isolated=false"), 1);
  free_watched_harness(h, bus);
}
GST_END_TEST;

void
add_isolated_tests(TCase *once, TCase *each)
{
  tcase_add_loop_test(once, test_taps_without_sum, 0, G_N_ELEMENTS(without_sum));
  EACH(test_background_without_halo);
  EACH(test_person_without_background);
  EACH(test_isolated_ellipse);
  EACH(test_mask_that_cannot_be_isolated);
}
