/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Packed formats, planes and interlaced frames through the element: a few samples, computed by hand.
 */
#include <string.h>

#include "element/element.h"

static void
expect_bytes(GstBuffer *buffer, GstVideoFormat format, int width, int height, const guint8 *bytes, gsize row)
{
  GstVideoInfo info;
  GstVideoFrame frame;

  gst_video_info_set_format(&info, format, width, height);
  fail_unless(gst_video_frame_map(&frame, &info, buffer, GST_MAP_READ));
  for (int y = 0; y < height; y++)
    for (gsize i = 0; i < row; i++)
      fail_unless_equals_int(((guint8 *)frame.data[0])[y * frame.info.stride[0] + i], bytes[y * row + i]);
  gst_video_frame_unmap(&frame);
}

/* Two rows of 4:2:2. The kernel replaces each sample by its right neighbour. */
static const guint8 yuy2[] = {10, 100, 20, 60, 30, 120, 40, 80, 50, 140, 60, 160, 70, 180, 80, 200};

static const struct {
  const char *set[3];
  guint8 expected[16];
} yuy2_rows[] = {
    {{"chroma-mode=same"}, {20, 120, 30, 80, 40, 120, 40, 80, 60, 180, 70, 200, 80, 180, 80, 200}},
    {{"planes=luma"}, {20, 100, 30, 60, 40, 120, 40, 80, 60, 140, 70, 160, 80, 180, 80, 200}},
    {{"planes=chroma", "chroma-mode=same"}, {10, 120, 20, 80, 30, 120, 40, 80, 50, 180, 60, 200, 70, 180, 80, 200}},
};

GST_START_TEST(test_packed_422)
{
  const struct {
    gsize offset;
    int stride;
  } layouts[] = {{0, 8}, {3, 27}};

  for (gsize i = 0; i < G_N_ELEMENTS(yuy2_rows); i++)
    for (gsize l = 0; l < G_N_ELEMENTS(layouts); l++) {
      GstHarness *h = HARNESS(BACKEND, "YUY2", 4, 2, "filter=custom", "kernel=<0,0,1>");
      GstBuffer *in = packed_buffer(GST_VIDEO_FORMAT_YUY2, 4, 2, yuy2, 8, layouts[l].offset, layouts[l].stride);
      GstBuffer *out;

      set_all(h->element, yuy2_rows[i].set);
      out = gst_harness_push_and_pull(h, in);
      expect_bytes(out, GST_VIDEO_FORMAT_YUY2, 4, 2, yuy2_rows[i].expected, 8);
      gst_buffer_unref(out);
      gst_harness_teardown(h);
    }
}
GST_END_TEST;

static void
put_word(guint8 *at, guint red, guint green, guint blue, guint alpha)
{
  GST_WRITE_UINT32_LE(at, red | green << 10 | blue << 20 | alpha << 30);
}

/* Colours move to the left. Alpha stays, unless it is filtered, too. */
GST_START_TEST(test_10_bit_words)
{
  for (int filter_alpha = 0; filter_alpha < 2; filter_alpha++) {
    GstHarness *h = HARNESS(BACKEND, "RGB10A2_LE", 3, 1, "filter=custom", "kernel=<0,0,1>");
    guint8 in[12], expected[12];
    GstBuffer *out;

    if (filter_alpha)
      SET(h->element, "alpha-mode=filter");
    for (int x = 0; x < 3; x++) {
      int from = MIN(x + 1, 2);

      put_word(in + 4 * x, 100 + x, 1000 + x, 511 * x, 3 - x);
      put_word(expected + 4 * x, 100 + from, 1000 + from, 511 * from, 3 - (filter_alpha ? from : x));
    }
    out = gst_harness_push_and_pull(h, packed_buffer(GST_VIDEO_FORMAT_RGB10A2_LE, 3, 1, in, 12, 0, 12));
    expect_bytes(out, GST_VIDEO_FORMAT_RGB10A2_LE, 3, 1, expected, 12);
    gst_buffer_unref(out);
    gst_harness_teardown(h);
  }
}
GST_END_TEST;

/* Chroma with a radius of its own: luma keeps its bytes, and a single sample of U spreads over 3x3. */
GST_START_TEST(test_chroma_radius)
{
  GstHarness *h = HARNESS(BACKEND, "I420", 8, 8, "filter=box", "radius=0", "chroma-radius=1");
  GstBuffer *buffer = gst_buffer_new_allocate(NULL, 96, NULL);
  guint8 single_tap_gain = 128 + 90, bytes[96];

  gst_buffer_memset(buffer, 0, 77, 64);
  gst_buffer_memset(buffer, 64, 128, 32);
  gst_buffer_fill(buffer, 64 + 5, &single_tap_gain, 1); /* column 1, row 1 of U's 4x4 */
  buffer = gst_harness_push_and_pull(h, buffer);
  gst_buffer_extract(buffer, 0, bytes, sizeof(bytes));
  for (int i = 0; i < 96; i++) {
    int x = (i - 64) % 4, y = (i - 64) / 4;

    fail_unless_equals_int(bytes[i], i < 64 ? 77 : x < 3 && y < 3 ? 138 : 128);
  }
  gst_buffer_unref(buffer);
  gst_harness_teardown(h);
}
GST_END_TEST;

/* ---- interlaced ---- */

#define ROWS 6
/* One field has 0 and the other 240, except for the top row of the first and the bottom row of the second. */
static const guint8 comb[2 * ROWS] = {30, 30, 240, 240, 0, 0, 240, 240, 0, 0, 180, 180};
/* The means of three rows of a field, with its edge repeated: (30+30+0)/3, (30+0+0)/3, 0; 240, (240+240+180)/3, 200. */
static const guint8 comb_fields[2 * ROWS] = {20, 20, 240, 240, 10, 10, 220, 220, 0, 0, 200, 200};
/* The means of three rows of the frame. */
static const guint8 comb_frame[2 * ROWS] = {100, 100, 90, 90, 160, 160, 80, 80, 140, 140, 120, 120};

static const struct {
  const char *format;
  gboolean flag;
  const guint8 *expected;
} comb_rows[] = {
    {"GRAY8", FALSE, comb_frame},
    {"GRAY8,interlace-mode=progressive", TRUE, comb_frame},
    {"GRAY8,interlace-mode=interleaved", FALSE, comb_fields},
    {"GRAY8,interlace-mode=interleaved,field-order=bottom-field-first", TRUE, comb_fields},
    {"GRAY8,interlace-mode=mixed", TRUE, comb_fields},
    {"GRAY8,interlace-mode=mixed", FALSE, comb_frame},
};

GST_START_TEST(test_interlaced)
{
  for (gsize i = 0; i < G_N_ELEMENTS(comb_rows); i++) {
    GstElement *element = make_element(BACKEND, NULL);
    GstBuffer *buffer = gray_buffer(2, ROWS, comb, 0);
    GstHarness *h;
    GstCaps *caps;

    SET(element, "filter=box", "radius=1");
    h = harness_of(element, comb_rows[i].format, 2, ROWS);
    if (comb_rows[i].flag)
      GST_BUFFER_FLAG_SET(buffer, GST_VIDEO_BUFFER_FLAG_INTERLACED);
    buffer = gst_harness_push_and_pull(h, buffer);
    fail_unless(gray_equals(buffer, 2, ROWS, comb_rows[i].expected), "%s", comb_rows[i].format);
    fail_unless_equals_int(GST_BUFFER_FLAG_IS_SET(buffer, GST_VIDEO_BUFFER_FLAG_INTERLACED), comb_rows[i].flag);
    caps = gst_pad_get_current_caps(h->sinkpad);
    if (strchr(comb_rows[i].format, '='))
      fail_unless(
          strstr(comb_rows[i].format, gst_structure_get_string(gst_caps_get_structure(caps, 0), "interlace-mode")));
    gst_caps_unref(caps);
    gst_buffer_unref(buffer);
    gst_harness_teardown(h);
  }
}
GST_END_TEST;

/* Fields as two views of a buffer are rejected with a message. */
GST_START_TEST(test_fields_mode)
{
  GstBus *bus;
  GstElement *element = make_element("cpu", &bus);
  GstHarness *h = harness_of(gst_object_ref(element), "GRAY8", W, H);
  GstCaps *caps =
      gst_caps_from_string("video/x-raw,format=GRAY8,width=4,height=4,framerate=25/1,interlace-mode=fields");

  gst_harness_push_event(h, gst_event_new_caps(caps));
  fail_unless_equals_int(gst_harness_push(h, gst_buffer_new_allocate(NULL, 16, NULL)), GST_FLOW_NOT_NEGOTIATED);
  fail_unless(count_messages(bus, GST_MESSAGE_ERROR, "interlace-mode=fields") > 0);
  gst_caps_unref(caps);
  gst_harness_teardown(h);
  free_element(element, bus);
}
GST_END_TEST;

void
add_format_tests(TCase *once, TCase *each)
{
  EACH(test_packed_422);
  EACH(test_10_bit_words);
  EACH(test_chroma_radius);
  EACH(test_interlaced);
  tcase_add_test(once, test_fields_mode);
}
