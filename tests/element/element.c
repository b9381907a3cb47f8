/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The element in a GstHarness: helpers for all its tests, caps, pixels computed by hand, strides, formats. Tests that
 * filter run on the CPU, and on a GPU if there is one.
 */
#include <math.h>
#include <string.h>

#include "element/element.h"

const char *backends[2] = {"cpu"};
int n_backends = 1;

gboolean
have_gpu(void)
{
  const CnvBackend *cuda = cnv_backend_find("cuda");

  return cuda && cuda->probe(-1, NULL);
}

/* ---- elements, harnesses, buses ---- */

void
set_all(GstElement *element, const char *const *set)
{
  for (; *set; set++) {
    char **pair = g_strsplit(*set, "=", 2);

    gst_util_set_object_arg(G_OBJECT(element), pair[0], pair[1]);
    g_strfreev(pair);
  }
}

GstElement *
make_element(const char *backend, GstBus **bus)
{
  GstElement *element = gst_object_ref_sink(gst_element_factory_make("cudaconvolve", NULL));

  fail_unless(element != NULL);
  gst_util_set_object_arg(G_OBJECT(element), "backend", backend);
  if (bus) {
    *bus = gst_bus_new();
    gst_element_set_bus(element, *bus);
  }
  return element;
}

GstHarness *
harness_of(GstElement *element, const char *format, int width, int height)
{
  GstHarness *h = gst_harness_new_with_element(element, "sink", "src");
  char *caps = g_strdup_printf("video/x-raw,format=%s,width=%d,height=%d,framerate=25/1", format, width, height);

  gst_object_unref(element);
  gst_harness_set_src_caps_str(h, caps);
  g_free(caps);
  return h;
}

GstHarness *
watched_harness(GstBus **bus, const char *backend, const char *format, int width, int height, const char *const *set)
{
  GstElement *element = make_element(backend, bus);

  set_all(element, set);
  return harness_of(element, format, width, height);
}

GstHarness *
harness_with(const char *backend, const char *format, int width, int height, const char *const *set)
{
  return watched_harness(NULL, backend, format, width, height, set);
}

void
free_watched_harness(GstHarness *h, GstBus *bus)
{
  GstElement *element = gst_object_ref(h->element);

  gst_harness_teardown(h);
  free_element(element, bus);
}

static void
check_words(GstMessage *message, const char *fragment)
{
  GError *error = NULL;

  if (GST_MESSAGE_TYPE(message) == GST_MESSAGE_ERROR)
    gst_message_parse_error(message, &error, NULL);
  else if (GST_MESSAGE_TYPE(message) == GST_MESSAGE_WARNING)
    gst_message_parse_warning(message, &error, NULL);
  else
    gst_message_parse_info(message, &error, NULL);
  fail_unless(strstr(error->message, fragment) != NULL, "'%s' lacks '%s'", error->message, fragment);
  g_error_free(error);
}

int
count_messages(GstBus *bus, GstMessageType type, const char *fragment)
{
  GstMessage *message;
  int n = 0;

  /* gst_bus_pop_filtered frees other messages while it locks the bus. If a message has the last reference to a pad, the
   * pad posts a message as it is freed, and waits forever. */
  while ((message = gst_bus_pop(bus))) {
    if (GST_MESSAGE_TYPE(message) & type) {
      check_words(message, fragment);
      n++;
    }
    gst_message_unref(message);
  }
  return n;
}

void
free_element(GstElement *element, GstBus *bus)
{
  gst_element_set_state(element, GST_STATE_NULL);
  gst_element_set_bus(element, NULL);
  gst_bus_set_flushing(bus, TRUE);
  gst_object_unref(bus);
  gst_object_unref(element);
}

char *
read_back(GstElement *element, const char *name)
{
  GParamSpec *spec = g_object_class_find_property(G_OBJECT_GET_CLASS(element), name);
  GRegex *types = g_regex_new("\\((int|double|array)\\)", 0, 0, NULL);
  GValue value = G_VALUE_INIT;
  char *text, *plain;

  fail_unless(spec != NULL, "no property %s", name);
  g_value_init(&value, spec->value_type);
  g_object_get_property(G_OBJECT(element), name, &value);
  text = G_VALUE_HOLDS_FLAGS(&value) ? g_strdup_printf("0x%x", g_value_get_flags(&value)) : gst_value_serialize(&value);
  plain = text ? g_regex_replace(types, text, -1, 0, "", 0, NULL) : NULL;
  g_value_unset(&value);
  g_regex_unref(types);
  g_free(text);
  return plain;
}

void
check_string(const GstStructure *stats, const char *field, const char *expected)
{
  fail_unless_equals_string(gst_structure_get_string(stats, field), expected);
}

/* ---- frames ---- */

void
stamp(GstBuffer *buffer, guint i)
{
  GST_BUFFER_PTS(buffer) = i * FRAME_TIME;
  GST_BUFFER_DURATION(buffer) = FRAME_TIME;
}

GstBuffer *
gray_buffer(int width, int height, const guint8 *pixels, guint i)
{
  GstVideoInfo info;
  GstVideoFrame frame;
  GstBuffer *buffer;

  gst_video_info_set_format(&info, GST_VIDEO_FORMAT_GRAY8, width, height);
  buffer = gst_buffer_new_allocate(NULL, info.size, NULL);
  gst_video_frame_map(&frame, &info, buffer, GST_MAP_WRITE);
  for (int y = 0; y < height; y++)
    memcpy((guint8 *)frame.data[0] + y * GST_VIDEO_FRAME_PLANE_STRIDE(&frame, 0), pixels + y * width, width);
  gst_video_frame_unmap(&frame);
  stamp(buffer, i);
  return buffer;
}

GstBuffer *
black_frame(int width, int height, guint i)
{
  g_autofree guint8 *black = g_malloc0((gsize)width * (gsize)height);

  return gray_buffer(width, height, black, i);
}

void
filter_gray(GstHarness *h, GstBuffer *frame, guint8 *pixels, gsize size)
{
  frame = gst_harness_push_and_pull(h, frame);
  gst_buffer_extract(frame, 0, pixels, size);
  gst_buffer_unref(frame);
}

void
expect_weights(const guint8 *pixels, int width, int height, const double *weights, gboolean invert, double slack,
               const char *what)
{
  for (int i = 0; i < width * height; i++) {
    double expected = 255 * (invert ? 1 - weights[i] : weights[i]);

    fail_unless(fabs(pixels[i] - expected) < slack, "%s: %d at (%d, %d) and not %g", what, pixels[i], i % width,
                i / width, expected);
  }
}

gboolean
gray_equals(GstBuffer *buffer, int width, int height, const guint8 *expected)
{
  GstVideoInfo info;
  GstVideoFrame frame;
  gboolean equal = TRUE;

  gst_video_info_set_format(&info, GST_VIDEO_FORMAT_GRAY8, width, height);
  fail_unless(gst_video_frame_map(&frame, &info, buffer, GST_MAP_READ));
  for (int y = 0; y < height; y++)
    equal &=
        memcmp((guint8 *)frame.data[0] + y * GST_VIDEO_FRAME_PLANE_STRIDE(&frame, 0), expected + y * width, width) == 0;
  gst_video_frame_unmap(&frame);
  return equal;
}

const guint8 ramp[W * H] = {0, 9, 18, 27, 36, 45, 54, 63, 72, 81, 90, 99};
const guint8 ramp_box[W * H] = {15, 21, 30, 36, 39, 45, 54, 60, 63, 69, 78, 84};

GstBuffer *
push_ramp(GstHarness *h, guint i)
{
  GstBuffer *out = gst_harness_push_and_pull(h, gray_buffer(W, H, ramp, i));

  fail_unless(out != NULL);
  fail_unless_equals_uint64(GST_BUFFER_PTS(out), i * FRAME_TIME);
  return out;
}

void
expect_ramp(GstHarness *h, guint i, const guint8 *expected)
{
  GstBuffer *out = push_ramp(h, i);

  fail_unless(gray_equals(out, W, H, expected), "frame %u is not as expected", i);
  gst_buffer_unref(out);
}

/* Writes or compares one sample of flat_frame: channel c of a pixel of plane p. */
static gboolean
flat_sample(const CnvFormat *format, int p, int c, guint8 *pixel, gboolean fill)
{
  const CnvPlaneFormat *plane = &format->plane[p];
  int depth = cnv_format_depth(format, plane->role[c]), bytes = format->sample_bytes;
  guint value8 = (61u + 40 * p + 50 * c) & 255;
  guint32 value = depth < 8 ? value8 >> (8 - depth) : (value8 << (depth - 8)) + 1, word = 0, mask;
  int shift = bytes == 4 ? plane->offset[c] : format->shift;
  guint8 *at = pixel + (bytes == 4 ? 0 : plane->step ? plane->offset[c] : c * bytes);

  /* All words are little endian. A 32-bit word also has other channels. */
  for (int i = 0; i < bytes; i++)
    word |= (guint32)at[i] << 8 * i;
  mask = bytes == 4 ? ((1u << depth) - 1) << shift : 0xffffffff;
  if (!fill)
    return (word & mask) == value << shift;
  word = (word & ~mask) | value << shift;
  for (int i = 0; i < bytes; i++)
    at[i] = word >> 8 * i & 0xff;
  return TRUE;
}

gboolean
flat_frame(const CnvFormat *format, const GstVideoInfo *info, GstBuffer *buffer, gboolean fill)
{
  GstVideoFrame frame;
  gboolean equal = TRUE;

  fail_unless(gst_video_frame_map(&frame, info, buffer, fill ? GST_MAP_WRITE : GST_MAP_READ));
  fail_unless_equals_int(GST_VIDEO_FRAME_N_PLANES(&frame), cnv_format_n_frame_planes(format));
  for (int p = 0; p < format->n_planes; p++) {
    const CnvPlaneFormat *plane = &format->plane[p];
    int memory = plane->step ? 0 : p, step = plane->step ? plane->step : plane->channels * format->sample_bytes;

    for (int y = 0; y < cnv_format_plane_height(format, p, info->height); y++)
      for (int x = 0; x < cnv_format_plane_width(format, p, info->width); x++)
        for (int c = 0; c < plane->channels; c++)
          equal &=
              flat_sample(format, p, c, (guint8 *)frame.data[memory] + y * frame.info.stride[memory] + x * step, fill);
  }
  gst_video_frame_unmap(&frame);
  return equal;
}

GstBuffer *
packed_buffer(GstVideoFormat format, int width, int height, const guint8 *bytes, gsize row, gsize offset, int stride)
{
  gsize offsets[GST_VIDEO_MAX_PLANES] = {offset};
  int strides[GST_VIDEO_MAX_PLANES] = {stride};
  GstBuffer *buffer = gst_buffer_new_allocate(NULL, offset + height * stride, NULL);

  gst_buffer_memset(buffer, 0, 0xee, -1);
  for (int y = 0; y < height; y++)
    gst_buffer_fill(buffer, offset + y * stride, bytes + y * row, row);
  gst_buffer_add_video_meta_full(buffer, GST_VIDEO_FRAME_FLAG_NONE, format, width, height, 1, offsets, strides);
  stamp(buffer, 0);
  return buffer;
}

GstBuffer *
strided_ramp(gsize offset, int stride)
{
  return packed_buffer(GST_VIDEO_FORMAT_GRAY8, W, H, ramp, W, offset, stride);
}

/* ---- caps ---- */

static void
check_formats(GstCaps *caps, guint structure, gboolean device)
{
  const GValue *formats = gst_structure_get_value(gst_caps_get_structure(caps, structure), "format");
  guint release = GST_VERSION_MAJOR * 100 + GST_VERSION_MINOR, n = 0;

  for (const CnvFormat *format = cnv_formats; format->name; format++) {
    GValue name = G_VALUE_INIT;

    if (device && (format->device_since == 0 || format->device_since > release))
      continue;
    if (gst_video_format_from_string(format->name) == GST_VIDEO_FORMAT_UNKNOWN)
      continue;
    g_value_init(&name, G_TYPE_STRING);
    g_value_set_static_string(&name, format->name);
    fail_unless(gst_value_is_subset(&name, formats), "%s is missing", format->name);
    g_value_unset(&name);
    n++;
  }
  fail_unless_equals_int(gst_value_list_get_size(formats), n);
}

GST_START_TEST(test_template_caps)
{
  GstElement *element = make_element("auto", NULL);
  const char *pads[] = {"sink", "src"};

  for (int i = 0; i < 2; i++) {
    GstPadTemplate *template = gst_element_get_pad_template(element, pads[i]);
    GstCaps *caps = gst_pad_template_get_caps(template);

    fail_unless_equals_int(gst_caps_get_size(caps), have_gpu() ? 2 : 1);
    check_formats(caps, gst_caps_get_size(caps) - 1, FALSE);
    if (have_gpu()) {
      fail_unless(gst_caps_features_contains(gst_caps_get_features(caps, 0), DEVICE));
      check_formats(caps, 0, TRUE);
    }
    gst_caps_unref(caps);
  }
  gst_object_unref(element);
}
GST_END_TEST;

/* The CPU supports only system memory. The GPU supports both kinds. */
GST_START_TEST(test_caps_query)
{
  GstHarness *h = HARNESS(BACKEND, "GRAY8", W, H, "radius=1");
  gboolean cuda = strcmp(BACKEND, "cuda") == 0;
  GstPad *sink = gst_element_get_static_pad(h->element, "sink");
  GstCaps *device = gst_caps_from_string("video/x-raw(" DEVICE "),format=NV12,width=64,height=48,framerate=25/1");
  GstCaps *caps = gst_pad_query_caps(sink, NULL);

  fail_unless_equals_int(gst_pad_query_accept_caps(sink, device), cuda);
  fail_unless_equals_int(gst_caps_get_size(caps), cuda ? 2 : 1);
  gst_caps_unref(caps);
  gst_caps_unref(device);
  gst_object_unref(sink);
  gst_harness_teardown(h);
}
GST_END_TEST;

/* ---- pixels ---- */

static const struct {
  const char *set[6];
  guint8 expected[W * H];
} pixel_rows[] = {
    {{"filter=identity", "disable-passthrough=true"}, {0, 9, 18, 27, 36, 45, 54, 63, 72, 81, 90, 99}},
    {{"filter=box", "radius=1"}, {15, 21, 30, 36, 39, 45, 54, 60, 63, 69, 78, 84}},
    {{"filter=box", "radius=1", "radius-y=0"}, {3, 9, 18, 24, 39, 45, 54, 60, 75, 81, 90, 96}},
    {{"filter=box", "radius=1", "radius-x=0"}, {12, 21, 30, 39, 36, 45, 54, 63, 60, 69, 78, 87}},
    /* at the left edge (0 + 2*0 + 9) / 4, at the right one (18 + 2*27 + 27) / 4 */
    {{"filter=custom", "kernel=<1,2,1>"}, {2, 9, 18, 25, 38, 45, 54, 61, 74, 81, 90, 97}},
    {{"filter=custom", "kernel-x=<1/4,0.5,(float)0.25>"}, {2, 9, 18, 25, 38, 45, 54, 61, 74, 81, 90, 97}},
    {{"filter=custom", "kernel-y=<1,0,0>"}, {0, 9, 18, 27, 0, 9, 18, 27, 36, 45, 54, 63}},
    /* taps lie on the image as written: this one reads the sample to the right */
    {{"filter=custom", "kernel=<<0,0,0>,<0,0,1>,<0,0,0>>"}, {9, 18, 27, 27, 45, 54, 63, 63, 81, 90, 99, 99}},
    {{"filter=custom", "kernel=<0,0,1>", "border-mode=constant", "border-color=0xffffffff"},
     {9, 18, 27, 255, 45, 54, 63, 255, 81, 90, 99, 255}},
    {{"filter=custom", "kernel=<0,0,1>", "border-mode=wrap"}, {9, 18, 27, 0, 45, 54, 63, 36, 81, 90, 99, 72}},
    {{"filter=custom", "kernel=<0,0,1>", "border-mode=reflect-101"}, {9, 18, 27, 18, 45, 54, 63, 54, 81, 90, 99, 90}},
    /* v / 2 + 63.75 */
    {{"filter=identity", "scale=0.5", "bias=0.25"}, {64, 68, 73, 77, 82, 86, 91, 95, 100, 104, 109, 113}},
    {{"filter=custom", "kernel=<2>", "normalize=false"}, {0, 18, 36, 54, 72, 90, 108, 126, 144, 162, 180, 198}},
    /* the derivatives of the ramp are 4 * 2 * 9 = 72 and 4 * 2 * 36 = 288 inside, half of that at the edges */
    {{"filter=sobel", "gradient=x", "scale=0.125"}, {4, 9, 9, 4, 4, 9, 9, 4, 4, 9, 9, 4}},
    {{"filter=sobel", "gradient=y", "scale=0.125"}, {18, 18, 18, 18, 36, 36, 36, 36, 18, 18, 18, 18}},
    {{"filter=custom", "kernel=<1,-1>", "normalize=false"}, {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}},
    {{"filter=custom", "kernel=<1,-1>", "normalize=false", "absolute=true"}, {9, 9, 9, 0, 9, 9, 9, 0, 9, 9, 9, 0}},
    {{"filter=custom", "kernel=<0,0,1>", "anchor-x=2"}, {0, 9, 18, 27, 36, 45, 54, 63, 72, 81, 90, 99}},
    {{"filter=custom", "kernel=<0,0,1>", "flip-kernel=true"}, {0, 0, 9, 18, 36, 36, 45, 54, 72, 72, 81, 90}},
    {{"filter=custom", "kernel=<0,0,1>", "planes=chroma+alpha"}, {0, 9, 18, 27, 36, 45, 54, 63, 72, 81, 90, 99}},
    /* cells of 3x3, the second one cut off, and cells of 4x1 */
    {{"filter=mosaic", "radius=1"}, {45, 45, 45, 63, 45, 45, 45, 63, 45, 45, 45, 63}},
    {{"filter=mosaic", "radius=2", "radius-y=0", "scale=2"}, {27, 27, 27, 27, 99, 99, 99, 99, 171, 171, 171, 171}},
    {{"filter=mosaic", "radius=1", "roi-source=property", "roi=<<2,1,9,9>>"},
     {0, 9, 18, 27, 36, 45, 76, 76, 72, 81, 76, 76}},
    {{"filter=mosaic", "radius=1", "roi-source=property", "roi=<<-1,-2,9,4>>"},
     {4, 4, 22, 22, 40, 40, 58, 58, 72, 81, 90, 99}},
    {{"filter=fill", "fill-color=0xffffffff", "scale=0.5"},
     {255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255}},
    {{"filter=fill", "roi-source=property", "roi=<<1,1,2,9>>"}, {0, 9, 18, 27, 36, 0, 0, 63, 72, 0, 0, 99}},
    {{"filter=box", "radius=1", "algorithm=naive"}, {15, 21, 30, 36, 39, 45, 54, 60, 63, 69, 78, 84}},
};

GST_START_TEST(test_pixels)
{
  for (gsize i = 0; i < G_N_ELEMENTS(pixel_rows); i++) {
    GstHarness *h = harness_with(BACKEND, "GRAY8", W, H, pixel_rows[i].set);
    GstBuffer *out = push_ramp(h, 0);

    fail_unless(gray_equals(out, W, H, pixel_rows[i].expected), "%s: %s %s", BACKEND, pixel_rows[i].set[0],
                pixel_rows[i].set[1]);
    gst_buffer_unref(out);
    gst_harness_teardown(h);
  }
}
GST_END_TEST;

GST_START_TEST(test_strides)
{
  const struct {
    gsize offset;
    int stride;
  } rows[] = {{0, 4}, {3, 7}, {1, 129}, {5, 5}};
  GstHarness *h = HARNESS(BACKEND, "GRAY8", W, H, "filter=box", "radius=1");

  for (gsize i = 0; i < G_N_ELEMENTS(rows); i++) {
    GstBuffer *out = gst_harness_push_and_pull(h, strided_ramp(rows[i].offset, rows[i].stride));

    fail_unless(gray_equals(out, W, H, ramp_box), "offset %d, stride %d", (int)rows[i].offset, rows[i].stride);
    gst_buffer_unref(out);
  }
  gst_harness_teardown(h);
}
GST_END_TEST;

GST_START_TEST(test_all_formats_flat)
{
  const int width = 37, height = 23;

  for (const CnvFormat *format = cnv_formats; format->name; format++) {
    GstHarness *h;
    GstVideoInfo info;
    GstBuffer *buffer, *out;

    if (gst_video_format_from_string(format->name) == GST_VIDEO_FORMAT_UNKNOWN)
      continue;
    h = HARNESS(BACKEND, format->name, width, height, "radius=5");
    gst_video_info_set_format(&info, gst_video_format_from_string(format->name), width, height);
    buffer = gst_buffer_new_allocate(NULL, info.size, NULL);
    flat_frame(format, &info, buffer, TRUE);
    out = gst_harness_push_and_pull(h, gst_buffer_ref(buffer));
    fail_unless(out != NULL && out != buffer, "%s", format->name);
    fail_unless(flat_frame(format, &info, out, FALSE), "%s did not stay flat on %s", format->name, BACKEND);
    gst_buffer_unref(out);
    gst_buffer_unref(buffer);
    gst_harness_teardown(h);
  }
}
GST_END_TEST;

static Suite *
element_suite(void)
{
  Suite *suite = suite_create("element");
  TCase *once = tcase_create("once"), *each = tcase_create("each backend");

  if (have_gpu())
    backends[n_backends++] = "cuda";
  else
    g_print("SKIPPED on a GPU: there is none, or this build has no CUDA; the same tests run on the CPU\n");
  suite_add_tcase(suite, once);
  suite_add_tcase(suite, each);
  tcase_add_test(once, test_template_caps);
  EACH(test_caps_query);
  EACH(test_pixels);
  EACH(test_strides);
  EACH(test_all_formats_flat);
  add_live_tests(each);
  add_error_tests(once, each);
  add_preset_tests(once);
  add_unused_tests(once);
  add_format_tests(once, each);
  add_hostile_tests(once, each);
  add_analytics_tests(each);
  add_isolated_tests(once, each);
  add_kernelfile_tests(once);
  add_mask_limit_tests(once, each);
  add_mask_tests(once, each);
  add_polygon_tests(once, each);
  add_zone_tests(once, each);
  add_region_tests(once, each);
  add_time_tests(each);
  add_turned_tests(each);
  add_waiting_tests(each);
  return suite;
}

int
main(int argc, char **argv)
{
  /* A CUDA context does not survive the fork that check makes for each test. */
  g_setenv("CK_FORK", "no", FALSE);
  gst_check_init(&argc, &argv);
  return gst_check_run_suite(element_suite(), "element", __FILE__);
}
