/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * What masks cost: the limit on their samples, including those that they grow by; time and memory of frames that come
 * near it; what is hidden beyond it; and that a stopped element keeps no mask.
 */
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "element/element.h"

/* Limits of the CPU time of a frame, in seconds, and of its peak memory, in MiB. Sanitizers need more, and keep freed
 * memory. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SANITIZED 1
#define SECONDS_MAX 60
#define MIB_MAX 4000
#else
#define SANITIZED 0
#define SECONDS_MAX 2.5
#define MIB_MAX 400
#endif

/* Returns a mask that is white everywhere. */
static GstBuffer *
mask_of(guint columns, guint rows)
{
  GstBuffer *mask = gst_buffer_new_allocate(NULL, (gsize)columns * rows, NULL);

  gst_buffer_memset(mask, 0, 255, -1);
  gst_buffer_add_video_meta(mask, GST_VIDEO_FRAME_FLAG_NONE, GST_VIDEO_FORMAT_GRAY8, columns, rows);
  return mask;
}

static void
add_mask(GstBuffer *frame, guint x, guint y, guint width, guint height, GstBuffer *mask)
{
  GstVideoRegionOfInterestMeta *meta = gst_buffer_add_video_region_of_interest_meta(frame, "face", x, y, width, height);

  gst_video_region_of_interest_meta_add_param(meta, gst_structure_new("mask", "buffer", GST_TYPE_BUFFER, mask, NULL));
}

/* ---- time and memory ---- */

static double
cpu_seconds(void)
{
  struct timespec time;

  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

/* Returns the peak memory of the process since the last call with `reset`, in MiB. */
static double
peak_mib(gboolean reset)
{
  g_autofree char *text = NULL;
  FILE *clear = reset ? fopen("/proc/self/clear_refs", "w") : NULL;
  const char *line;

  if (clear) {
    fputs("5", clear);
    fclose(clear);
  }
  if (!g_file_get_contents("/proc/self/status", &text, NULL, NULL) || !(line = strstr(text, "VmHWM:")))
    return 0;
  return g_ascii_strtod(line + strlen("VmHWM:"), NULL) / 1024;
}

/* Returns the number of warnings that have the fragment. There may be others. */
static int
n_warnings(GstBus *bus, const char *fragment)
{
  GstMessage *message;
  int n = 0;

  while ((message = gst_bus_pop_filtered(bus, GST_MESSAGE_WARNING))) {
    g_autoptr(GError) error = NULL;

    gst_message_parse_warning(message, &error, NULL);
    n += strstr(error->message, fragment) != NULL;
    gst_message_unref(message);
  }
  return n;
}

typedef struct {
  const char *grow;
  int width, height;      /* of the frame */
  guint n, columns, rows; /* number of masks, and samples of each */
  guint x_size, y_size;   /* size of its place, in pixels */
  gboolean is_refused;    /* some of the masks are rejected */
} Load;

static const Load loads[] = {
    {"roi-feather=60", 640, 360, 64, 256, 256, 8, 8},
    {"roi-feather=60", 640, 360, 1024, 256, 255, 8, 8},
    {"roi-feather=60", 640, 360, 1, 8192, 8192, 600, 300},
    {"roi-feather=1024", 640, 360, 64, 1024, 1024, 16, 16},
    {"roi-feather=1024", 4096, 4096, 3, 4000, 4000, 4000, 4000},
    {"roi-feather=100", 1920, 1080, 60, 1280, 800, 1280, 800, TRUE},
    {"roi-expand=10", 4096, 4096, 100, 64, 64, 64, 64, TRUE},
};

/* Each mask hides its whole place, and the frame stays within the limits of time and memory. */
GST_START_TEST(test_what_masks_cost)
{
  static guint8 white[4096];

  memset(white, 255, sizeof(white));
  for (guint l = 0; l < G_N_ELEMENTS(loads); l++) {
    const Load *load = &loads[l];
    g_autoptr(GstBuffer) mask = mask_of(load->columns, load->rows);
    GstBus *bus;
    GstHarness *h =
        WATCHED_HARNESS(&bus, "cpu", "GRAY8", load->width, load->height, NEGATIVE, "roi-source=meta", load->grow);
    GstBuffer *frame = black_frame(load->width, load->height, 0);
    double seconds, mib;
    GstMapInfo map;

    for (guint i = 0; i < load->n; i++)
      add_mask(frame, i * 7 % ((guint)load->width - load->x_size), i * 11 % ((guint)load->height - load->y_size),
               load->x_size, load->y_size, mask);
    mib = peak_mib(TRUE);
    seconds = cpu_seconds();
    frame = gst_harness_push_and_pull(h, frame);
    seconds = cpu_seconds() - seconds;
    mib = peak_mib(FALSE) - mib;
    gst_buffer_map(frame, &map, GST_MAP_READ);
    for (guint i = 0; i < load->n; i++)
      for (guint y = 0; y < load->y_size; y++)
        fail_unless(memcmp(map.data + (i * 11 % ((guint)load->height - load->y_size) + y) * (guint)load->width +
                               i * 7 % ((guint)load->width - load->x_size),
                           white, load->x_size) == 0,
                    "load %u: mask %u is not all hidden", l, i);
    gst_buffer_unmap(frame, &map);
    gst_buffer_unref(frame);
    fail_unless(seconds < SECONDS_MAX, "load %u: %.2f s of CPU time", l, seconds);
    fail_unless(mib < MIB_MAX, "load %u: %.0f MiB", l, mib);
    fail_unless_equals_int(n_warnings(bus, "the masks of a frame have"), load->is_refused);
    free_watched_harness(h, bus);
  }
}
GST_END_TEST;

/* ---- what is hidden ---- */

#define WIDTH 64
#define HEIGHT 48

/* A mask of 4 x 4 samples per pixel, one of which is white, fades like that whole pixel. With roi-invert the black
 * samples of each pixel count, so that everything is filtered. */
GST_START_TEST(test_fine_mask_grows)
{
  for (int invert = 0; invert < 2; invert++)
    for (guint cell = 0; cell < 64 * 32; cell += 61) {
      GstHarness *h =
          HARNESS(BACKEND, "GRAY8", WIDTH, HEIGHT, NEGATIVE, "roi-source=meta", "roi-feather=4", ROI_INVERT(invert));
      g_autoptr(GstBuffer) mask = mask_of(64, 32);
      GstBuffer *frame = black_frame(WIDTH, HEIGHT, 0);
      int at_x = 20 + (int)cell % 64 / 4, at_y = 10 + (int)cell / 64 / 4;
      guint8 pixels[WIDTH * HEIGHT];

      gst_buffer_memset(mask, 0, 0, -1);
      gst_buffer_memset(mask, cell, 255, 1);
      add_mask(frame, 20, 10, 16, 8, mask);
      frame = gst_harness_push_and_pull(h, frame);
      gst_buffer_extract(frame, 0, pixels, sizeof(pixels));
      for (int y = 0; y < HEIGHT; y++)
        for (int x = 0; x < WIDTH; x++) {
          double weight = MAX(1 - (abs(x - at_x) + abs(y - at_y)) / 5.0, 0), expected = invert ? 255 : 255 * weight;

          fail_unless(ABS(pixels[y * WIDTH + x] - expected) < 1.01, "sample %u, invert %d: %d at (%d, %d) and not %g",
                      cell, invert, pixels[y * WIDTH + x], x, y, expected);
        }
      gst_buffer_unref(frame);
      gst_harness_teardown(h);
    }
}
GST_END_TEST;

/* A mask that cannot be used is replaced by everything that it could hide, whatever roi-shape says about rectangles. */
GST_START_TEST(test_in_place_of_a_mask)
{
  GstHarness *h =
      HARNESS(BACKEND, "GRAY8", WIDTH, HEIGHT, NEGATIVE, "roi-source=meta", "roi-shape=ellipse", "roi-expand=0.5");
  GstBuffer *frame = black_frame(WIDTH, HEIGHT, 0), *mask = gst_buffer_new_allocate(NULL, 9, NULL);
  guint8 pixels[WIDTH * HEIGHT];

  add_mask(frame, 30, 16, 4, 12, mask);
  gst_buffer_unref(mask);
  frame = gst_harness_push_and_pull(h, frame);
  gst_buffer_extract(frame, 0, pixels, sizeof(pixels));
  for (int y = 0; y < HEIGHT; y++)
    for (int x = 0; x < WIDTH; x++)
      fail_unless_equals_int(pixels[y * WIDTH + x], x >= 24 && x < 40 && y >= 10 && y < 34 ? 255 : 0);
  gst_buffer_unref(frame);
  gst_harness_teardown(h);
}
GST_END_TEST;

/* roi-expand reaches into the frame from a place outside it. */
GST_START_TEST(test_expands_into_the_frame)
{
  GstHarness *h = HARNESS(BACKEND, "GRAY8", WIDTH, HEIGHT, NEGATIVE, "roi-source=meta", "roi-expand=1");
  GstBuffer *frame = black_frame(WIDTH, HEIGHT, 0), *mask = mask_of(30, 10);
  guint8 pixels[WIDTH * HEIGHT];

  add_mask(frame, WIDTH + 10, 16, 30, 10, mask);
  gst_buffer_unref(mask);
  frame = gst_harness_push_and_pull(h, frame);
  gst_buffer_extract(frame, 0, pixels, sizeof(pixels));
  fail_unless_equals_int(pixels[20 * WIDTH + WIDTH - 1], 255);
  fail_unless_equals_int(pixels[20 * WIDTH + WIDTH - 25], 0);
  gst_buffer_unref(frame);
  gst_harness_teardown(h);
}
GST_END_TEST;

/* ---- what is kept ---- */

static void
count_down(gpointer n, GstMiniObject *buffer)
{
  --*(int *)n;
}

static GstBuffer *
frame_with_mask(guint i, guint size, int *n_alive)
{
  GstBuffer *frame = black_frame(WIDTH, HEIGHT, i), *mask = mask_of(size, size);

  gst_mini_object_weak_ref(GST_MINI_OBJECT(mask), count_down, n_alive);
  ++*n_alive;
  add_mask(frame, 5 + i, 4, 20, 20, mask);
  gst_buffer_unref(mask);
  return frame;
}

/* An element keeps no mask after it was stopped, without regions, or after a flush. */
GST_START_TEST(test_masks_are_released)
{
  for (int how = 0; how < 3; how++) {
    GstElement *element = make_element(BACKEND, NULL);
    GstHarness *h;
    int n_alive = 0;

    SET(element, NEGATIVE, "roi-source=meta", "roi-smooth=9");
    h = harness_of(gst_object_ref(element), "GRAY8", WIDTH, HEIGHT);
    for (guint i = 0; i < 3; i++)
      gst_buffer_unref(gst_harness_push_and_pull(h, frame_with_mask(i, 16, &n_alive)));
    if (how == 0) {
      fail_unless_equals_int(gst_element_set_state(element, GST_STATE_NULL), GST_STATE_CHANGE_SUCCESS);
    } else if (how == 1) {
      SET(element, "roi-source=none");
      gst_buffer_unref(gst_harness_push_and_pull(h, black_frame(WIDTH, HEIGHT, 3)));
    } else {
      gst_harness_push_event(h, gst_event_new_flush_start());
      gst_harness_push_event(h, gst_event_new_flush_stop(TRUE));
    }
    fail_unless(n_alive == 0, "way %d: %d masks are held", how, n_alive);
    gst_harness_teardown(h);
    gst_object_unref(element);
  }
}
GST_END_TEST;

/* Masks of 16 MiB, each at another place and kept for 300 frames, use the memory of a few, and none after the element
 * is stopped. Their places stay hidden. */
GST_START_TEST(test_kept_masks)
{
  GstElement *element = make_element("cpu", NULL);
  GstHarness *h;
  double mib, before;

  SET(element, NEGATIVE, "roi-source=meta", "roi-smooth=300");
  h = harness_of(gst_object_ref(element), "GRAY8", 1024, 64);
  before = peak_mib(TRUE);
  for (guint i = 0; i < 30; i++) {
    GstBuffer *frame = black_frame(1024, 64, i), *mask = mask_of(4096, 4096);
    guint8 *pixels = g_malloc(1024 * 64);

    add_mask(frame, i * 30, 10, 8, 8, mask);
    gst_buffer_unref(mask);
    frame = gst_harness_push_and_pull(h, frame);
    gst_buffer_extract(frame, 0, pixels, 1024 * 64);
    for (guint seen = 0; seen <= i; seen++)
      fail_unless_equals_int(pixels[14 * 1024 + seen * 30 + 4], 255);
    g_free(pixels);
    gst_buffer_unref(frame);
  }
  mib = peak_mib(TRUE) - before;
  fail_unless(mib < MIB_MAX, "%.0f MiB", mib);
  fail_unless_equals_int(gst_element_set_state(element, GST_STATE_NULL), GST_STATE_CHANGE_SUCCESS);
  peak_mib(TRUE);
  mib = peak_mib(FALSE) - before;
  fail_unless(SANITIZED || mib < 12, "%.0f MiB are left in a stopped element", mib);
  gst_harness_teardown(h);
  gst_object_unref(element);
}
GST_END_TEST;

void
add_mask_limit_tests(TCase *once, TCase *each)
{
  EACH(test_fine_mask_grows);
  EACH(test_in_place_of_a_mask);
  EACH(test_expands_into_the_frame);
  EACH(test_masks_are_released);
  tcase_add_test(once, test_what_masks_cost);
  tcase_add_test(once, test_kept_masks);
}
