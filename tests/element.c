/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The element in a GstHarness: caps, pixels by hand, live changes, metas, passthrough, renegotiation, errors. Tests
 * that compute run on the CPU, and on a GPU where there is one.
 */
#include <string.h>

#include <convolve/backend.h>
#include <gst/check/gstcheck.h>
#include <gst/check/gstharness.h>
#include <gst/controller/controller.h>
#include <gst/video/video.h>

#define DEVICE "memory:CUDAMemory"
#define FRAME_TIME (40 * GST_MSECOND)

/* What the tests with a loop index run on. */
static const char *backends[2] = {"cpu"};
static int n_backends = 1;
#define BACKEND backends[__i__]

static gboolean
have_gpu(void)
{
  const CnvBackend *cuda = cnv_backend_find("cuda");

  return cuda && cuda->probe(-1, NULL);
}

/* ---- elements, harnesses, buses ---- */

/* set: "name=value", NULL at the end. */
static void
set_all(GstElement *element, const char *const *set)
{
  for (; *set; set++) {
    char **pair = g_strsplit(*set, "=", 2);

    gst_util_set_object_arg(G_OBJECT(element), pair[0], pair[1]);
    g_strfreev(pair);
  }
}

#define SET(element, ...) set_all(element, (const char *const[]){__VA_ARGS__, NULL})

static GstElement *
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

/* Takes the element. */
static GstHarness *
harness_of(GstElement *element, const char *format, int width, int height)
{
  GstHarness *h = gst_harness_new_with_element(element, "sink", "src");
  char *caps = g_strdup_printf("video/x-raw,format=%s,width=%d,height=%d,framerate=25/1", format, width, height);

  gst_object_unref(element);
  gst_harness_set_src_caps_str(h, caps);
  g_free(caps);
  return h;
}

/* Ends with the properties, NULL at the end. */
#define HARNESS(backend, format, width, height, ...)                                                                   \
  harness_with(backend, format, width, height, (const char *const[]){__VA_ARGS__, NULL})

static GstHarness *
harness_with(const char *backend, const char *format, int width, int height, const char *const *set)
{
  GstElement *element = make_element(backend, NULL);

  set_all(element, set);
  return harness_of(element, format, width, height);
}

/* Pops the messages of a type, fails unless each has the fragment, and returns how many there were. */
static int
count_messages(GstBus *bus, GstMessageType type, const char *fragment)
{
  GstMessage *message;
  int n = 0;

  while ((message = gst_bus_pop_filtered(bus, type))) {
    GError *error = NULL;

    if (type == GST_MESSAGE_ERROR)
      gst_message_parse_error(message, &error, NULL);
    else if (type == GST_MESSAGE_WARNING)
      gst_message_parse_warning(message, &error, NULL);
    else
      gst_message_parse_info(message, &error, NULL);
    fail_unless(strstr(error->message, fragment) != NULL, "'%s' lacks '%s'", error->message, fragment);
    g_error_free(error);
    gst_message_unref(message);
    n++;
  }
  return n;
}

static void
free_element(GstElement *element, GstBus *bus)
{
  gst_element_set_state(element, GST_STATE_NULL);
  gst_element_set_bus(element, NULL);
  gst_bus_set_flushing(bus, TRUE);
  gst_object_unref(bus);
  gst_object_unref(element);
}

/* ---- frames ---- */

static void
stamp(GstBuffer *buffer, guint i)
{
  GST_BUFFER_PTS(buffer) = i * FRAME_TIME;
  GST_BUFFER_DURATION(buffer) = FRAME_TIME;
}

static GstBuffer *
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

static gboolean
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

/* A ramp, its mean over 3x3 samples with the edge repeated, and the same along x alone, each worked out by hand: with
 * v = 9x + 36y the mean adds 3 at the left and top edge's steps and takes as much at the right and bottom. */
#define W 4
#define H 3
static const guint8 ramp[] = {0, 9, 18, 27, 36, 45, 54, 63, 72, 81, 90, 99};
static const guint8 ramp_box[] = {15, 21, 30, 36, 39, 45, 54, 60, 63, 69, 78, 84};

static GstBuffer *
push_ramp(GstHarness *h, guint i)
{
  GstBuffer *out = gst_harness_push_and_pull(h, gray_buffer(W, H, ramp, i));

  fail_unless(out != NULL);
  fail_unless_equals_uint64(GST_BUFFER_PTS(out), i * FRAME_TIME);
  return out;
}

static void
expect_ramp(GstHarness *h, guint i, const guint8 *expected)
{
  GstBuffer *out = push_ramp(h, i);

  fail_unless(gray_equals(out, W, H, expected), "frame %u is not as expected", i);
  gst_buffer_unref(out);
}

/* Fills each channel of each plane with a value of its own, or compares with that. */
static gboolean
flat_frame(const CnvFormat *format, const GstVideoInfo *info, GstBuffer *buffer, gboolean fill)
{
  GstVideoFrame frame;
  gboolean equal = TRUE;

  fail_unless(gst_video_frame_map(&frame, info, buffer, fill ? GST_MAP_WRITE : GST_MAP_READ));
  fail_unless_equals_int(GST_VIDEO_FRAME_N_PLANES(&frame), format->n_planes);
  for (int p = 0; p < format->n_planes; p++) {
    int n = cnv_format_plane_width(format, p, info->width) * format->plane[p].channels;

    for (int y = 0; y < cnv_format_plane_height(format, p, info->height); y++)
      for (int i = 0; i < n; i++) {
        guint8 *at = (guint8 *)frame.data[p] + y * frame.info.stride[p] + i * format->sample_bytes;
        guint value = (((61u + 40 * p + 50 * (i % format->plane[p].channels)) & 255) << (format->depth - 8)) + 1;

        if (!fill)
          equal &= (format->sample_bytes == 1 ? *at : GST_READ_UINT16_LE(at)) == value << format->shift;
        else if (format->sample_bytes == 1)
          *at = value;
        else
          GST_WRITE_UINT16_LE(at, value << format->shift);
      }
  }
  gst_video_frame_unmap(&frame);
  return equal;
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

/* The CPU takes and gives system memory alone; the GPU both, the input's own first. */
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
    /* taps lie on the image as written: this one takes the sample to the right */
    {{"filter=custom", "kernel=<<0,0,0>,<0,0,1>,<0,0,0>>"}, {9, 18, 27, 27, 45, 54, 63, 63, 81, 90, 99, 99}},
    {{"filter=custom", "kernel=<0,0,1>", "border-mode=constant", "border-color=0xffffffff"},
     {9, 18, 27, 255, 45, 54, 63, 255, 81, 90, 99, 255}},
    {{"filter=custom", "kernel=<0,0,1>", "border-mode=wrap"}, {9, 18, 27, 0, 45, 54, 63, 36, 81, 90, 99, 72}},
    {{"filter=custom", "kernel=<0,0,1>", "border-mode=reflect-101"}, {9, 18, 27, 18, 45, 54, 63, 54, 81, 90, 99, 90}},
    /* v / 2 + 63.75 */
    {{"filter=identity", "scale=0.5", "bias=0.25"}, {64, 68, 73, 77, 82, 86, 91, 95, 100, 104, 109, 113}},
    {{"filter=custom", "kernel=<2>", "normalize=false"}, {0, 18, 36, 54, 72, 90, 108, 126, 144, 162, 180, 198}},
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

/* The ramp behind an offset, in rows of an odd stride. */
static GstBuffer *
strided_ramp(gsize offset, int stride)
{
  gsize offsets[GST_VIDEO_MAX_PLANES] = {offset};
  int strides[GST_VIDEO_MAX_PLANES] = {stride};
  GstBuffer *buffer = gst_buffer_new_allocate(NULL, offset + H * stride, NULL);

  gst_buffer_memset(buffer, 0, 0xee, -1);
  for (int y = 0; y < H; y++)
    gst_buffer_fill(buffer, offset + y * stride, ramp + y * W, W);
  gst_buffer_add_video_meta_full(buffer, GST_VIDEO_FRAME_FLAG_NONE, GST_VIDEO_FORMAT_GRAY8, W, H, 1, offsets, strides);
  stamp(buffer, 0);
  return buffer;
}

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

/* A buffer whose planes reach beyond its end is an error, not a crash. */
GST_START_TEST(test_short_buffers)
{
  for (int i = 0; i < 2; i++) {
    GstBus *bus;
    GstElement *element = make_element(BACKEND, &bus);
    GstHarness *h;
    GstBuffer *buffer = i == 0 ? gst_buffer_new_allocate(NULL, 5, NULL) : strided_ramp(3, 7);

    if (i == 1)
      gst_buffer_set_size(buffer, 3 + 2 * 7 + W - 1);
    gst_object_ref(element);
    h = harness_of(element, "GRAY8", W, H);
    fail_unless_equals_int(gst_harness_push(h, buffer), GST_FLOW_ERROR);
    fail_unless_equals_int(count_messages(bus, GST_MESSAGE_ERROR, "4x3 GRAY8 frame"), 1);
    gst_harness_teardown(h);
    free_element(element, bus);
  }
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

/* ---- changes while playing ---- */

GST_START_TEST(test_live_changes)
{
  GstHarness *h = HARNESS(BACKEND, "GRAY8", W, H, "filter=box", "radius=1");

  expect_ramp(h, 0, ramp_box);
  SET(h->element, "radius=0");
  expect_ramp(h, 1, ramp);
  SET(h->element, "kernel=<<1,1,1>,<1,1,1>,<1,1,1>>", "filter=custom");
  expect_ramp(h, 2, ramp_box);
  SET(h->element, "kernel=<0,1,0>");
  expect_ramp(h, 3, ramp);
  SET(h->element, "filter=box", "radius=1", "kernel=<>");
  expect_ramp(h, 4, ramp_box);
  gst_harness_teardown(h);
}
GST_END_TEST;

GST_START_TEST(test_controller)
{
  GstHarness *h = HARNESS(BACKEND, "GRAY8", W, H, "filter=box");
  GstControlSource *source = gst_interpolation_control_source_new();
  GstTimedValueControlSource *timed = GST_TIMED_VALUE_CONTROL_SOURCE(source);

  g_object_set(source, "mode", GST_INTERPOLATION_MODE_NONE, NULL);
  gst_timed_value_control_source_set(timed, 0, 0);
  gst_timed_value_control_source_set(timed, 5 * FRAME_TIME, 1);
  gst_timed_value_control_source_set(timed, 9 * FRAME_TIME, 0);
  gst_object_add_control_binding(GST_OBJECT(h->element),
                                 gst_direct_control_binding_new_absolute(GST_OBJECT(h->element), "radius", source));
  gst_object_unref(source);
  for (guint i = 0; i < 12; i++)
    expect_ramp(h, i, i >= 5 && i < 9 ? ramp_box : ramp);
  gst_harness_teardown(h);
}
GST_END_TEST;

static gpointer
toggle_radius(gpointer user_data)
{
  GstElement *element = user_data;

  for (int i = 0; i < 2000; i++)
    g_object_set(element, "radius", i & 1, NULL);
  return NULL;
}

/* Changes from another thread: each frame is wholly the one or the other. */
GST_START_TEST(test_changes_from_a_thread)
{
  GstHarness *h = HARNESS(BACKEND, "GRAY8", W, H, "filter=box", "radius=1");
  GThread *thread = g_thread_new("toggle", toggle_radius, h->element);

  for (guint i = 0; i < 200; i++) {
    GstBuffer *out = push_ramp(h, i);

    fail_unless(gray_equals(out, W, H, ramp) || gray_equals(out, W, H, ramp_box), "frame %u is a mixture", i);
    gst_buffer_unref(out);
  }
  g_thread_join(thread);
  gst_harness_teardown(h);
}
GST_END_TEST;

/* While playing, settings that cannot be are told once and the last filter goes on; also at new caps. */
GST_START_TEST(test_bad_change_keeps_filter)
{
  GstBus *bus;
  GstElement *element = make_element(BACKEND, &bus);
  GstHarness *h;

  SET(element, "filter=box", "radius=1");
  gst_object_ref(element);
  h = harness_of(element, "GRAY8", W, H);
  expect_ramp(h, 0, ramp_box);
  SET(element, "filter=custom");
  for (guint i = 1; i < 4; i++)
    expect_ramp(h, i, ramp_box);
  fail_unless_equals_int(count_messages(bus, GST_MESSAGE_WARNING, "has no taps"), 1);
  SET(element, "kernel=<1,x>");
  fail_unless_equals_int(count_messages(bus, GST_MESSAGE_WARNING, "tap 2 is x"), 1);
  expect_ramp(h, 4, ramp_box);
  SET(element, "kernel=<1>");
  expect_ramp(h, 5, ramp);
  fail_unless_equals_int(count_messages(bus, GST_MESSAGE_WARNING | GST_MESSAGE_ERROR, ""), 0);
  gst_harness_teardown(h);
  free_element(element, bus);
}
GST_END_TEST;

/* ---- what goes along with a frame ---- */

static GstBuffer *
decorated_ramp(void)
{
  GstBuffer *buffer = gray_buffer(W, H, ramp, 7);
  GstVideoRegionOfInterestMeta *roi = gst_buffer_add_video_region_of_interest_meta(buffer, "face", 1, 1, 2, 1);
  GstVideoCropMeta *crop = gst_buffer_add_video_crop_meta(buffer);
  GstCaps *reference = gst_caps_new_empty_simple("timestamp/x-test");

  gst_video_region_of_interest_meta_add_param(roi,
                                              gst_structure_new("detection", "confidence", G_TYPE_DOUBLE, 0.5, NULL));
  crop->x = 1;
  crop->width = 2;
  crop->height = 3;
  gst_buffer_add_reference_timestamp_meta(buffer, reference, 42, GST_CLOCK_TIME_NONE);
  gst_caps_unref(reference);
  GST_BUFFER_DTS(buffer) = 6 * FRAME_TIME;
  GST_BUFFER_OFFSET(buffer) = 123;
  GST_BUFFER_OFFSET_END(buffer) = 124;
  GST_BUFFER_FLAG_SET(buffer, GST_BUFFER_FLAG_MARKER | GST_BUFFER_FLAG_GAP | GST_BUFFER_FLAG_DELTA_UNIT);
  return buffer;
}

static void
check_metas(GstBuffer *out)
{
  GstVideoRegionOfInterestMeta *roi =
      (GstVideoRegionOfInterestMeta *)gst_buffer_get_meta(out, GST_VIDEO_REGION_OF_INTEREST_META_API_TYPE);
  GstVideoCropMeta *crop = gst_buffer_get_video_crop_meta(out);
  GstReferenceTimestampMeta *reference = gst_buffer_get_reference_timestamp_meta(out, NULL);
  GstStructure *param;
  double confidence;

  fail_unless(roi && crop && reference);
  fail_unless_equals_string(g_quark_to_string(roi->roi_type), "face");
  fail_unless(roi->x == 1 && roi->y == 1 && roi->w == 2 && roi->h == 1);
  param = gst_video_region_of_interest_meta_get_param(roi, "detection");
  fail_unless(param && gst_structure_get_double(param, "confidence", &confidence) && confidence == 0.5);
  fail_unless(crop->x == 1 && crop->y == 0 && crop->width == 2 && crop->height == 3);
  fail_unless_equals_uint64(reference->timestamp, 42);
}

GST_START_TEST(test_metas_and_times)
{
  GstHarness *h = HARNESS(BACKEND, "GRAY8", W, H, "filter=box", "radius=1");
  GstBuffer *in = decorated_ramp(), *out;
  GstBufferFlags flags = GST_BUFFER_FLAG_MARKER | GST_BUFFER_FLAG_GAP | GST_BUFFER_FLAG_DELTA_UNIT;

  expect_ramp(h, 6, ramp_box);
  out = gst_harness_push_and_pull(h, gst_buffer_ref(in));
  fail_unless(out != in && gray_equals(out, W, H, ramp_box));
  check_metas(out);
  fail_unless_equals_uint64(GST_BUFFER_PTS(out), 7 * FRAME_TIME);
  fail_unless_equals_uint64(GST_BUFFER_DTS(out), 6 * FRAME_TIME);
  fail_unless_equals_uint64(GST_BUFFER_DURATION(out), FRAME_TIME);
  fail_unless_equals_uint64(GST_BUFFER_OFFSET(out), 123);
  fail_unless_equals_uint64(GST_BUFFER_OFFSET_END(out), 124);
  fail_unless_equals_int(GST_BUFFER_FLAGS(out) & flags, flags);
  fail_if(GST_BUFFER_FLAG_IS_SET(out, GST_BUFFER_FLAG_DISCONT));
  gst_buffer_unref(out);
  gst_buffer_unref(in);
  gst_harness_teardown(h);
}
GST_END_TEST;

/* ---- passthrough ---- */

static void
check_passes(GstHarness *h, GstBuffer *in, gboolean passes)
{
  GstBuffer *out = gst_harness_push_and_pull(h, gst_buffer_ref(in));

  fail_unless_equals_int(out == in, passes);
  fail_unless(gray_equals(out, W, H, ramp));
  gst_buffer_unref(out);
  gst_buffer_unref(in);
}

GST_START_TEST(test_passthrough)
{
  GstHarness *h = HARNESS(BACKEND, "GRAY8", W, H, "filter=identity");

  check_passes(h, gray_buffer(W, H, ramp, 0), TRUE);
  SET(h->element, "disable-passthrough=true");
  check_passes(h, gray_buffer(W, H, ramp, 1), FALSE);
  SET(h->element, "disable-passthrough=false", "filter=custom", "kernel=<0,4,0>");
  check_passes(h, gray_buffer(W, H, ramp, 2), TRUE);
  SET(h->element, "filter=gaussian", "radius=0");
  check_passes(h, gray_buffer(W, H, ramp, 3), TRUE);
  SET(h->element, "radius=1");
  gst_buffer_unref(push_ramp(h, 4));
  gst_harness_teardown(h);
}
GST_END_TEST;

/* Strides that downstream cannot read are straightened, those that it can are passed on. */
GST_START_TEST(test_passthrough_strides)
{
  for (int reads_meta = 0; reads_meta < 2; reads_meta++) {
    GstElement *element = make_element(BACKEND, NULL);
    GstHarness *h = gst_harness_new_with_element(element, "sink", "src");

    gst_object_unref(element);
    SET(h->element, "filter=identity");
    if (reads_meta)
      gst_harness_add_propose_allocation_meta(h, GST_VIDEO_META_API_TYPE, NULL);
    gst_harness_set_src_caps_str(h, "video/x-raw,format=GRAY8,width=4,height=3,framerate=25/1");
    check_passes(h, strided_ramp(3, 7), reads_meta);
    gst_harness_teardown(h);
  }
}
GST_END_TEST;

/* ---- streams ---- */

GST_START_TEST(test_renegotiation)
{
  const struct {
    const char *format;
    int width, height;
  } rows[] = {{"NV12", 64, 48}, {"NV12", 33, 17}, {"RGBA", 33, 17}, {"P010_10LE", 64, 48}, {"GRAY8", 1, 1}};
  GstHarness *h = HARNESS(BACKEND, "GRAY8", W, H, "filter=box", "radius=1");

  expect_ramp(h, 0, ramp_box);
  for (gsize i = 0; i < G_N_ELEMENTS(rows); i++) {
    const CnvFormat *format = cnv_format_find(rows[i].format);
    char *caps = g_strdup_printf("video/x-raw,format=%s,width=%d,height=%d,framerate=25/1", rows[i].format,
                                 rows[i].width, rows[i].height);
    GstVideoInfo info;
    GstBuffer *out;

    gst_harness_set_src_caps_str(h, caps);
    gst_video_info_set_format(&info, gst_video_format_from_string(rows[i].format), rows[i].width, rows[i].height);
    out = gst_buffer_new_allocate(NULL, info.size, NULL);
    flat_frame(format, &info, out, TRUE);
    out = gst_harness_push_and_pull(h, out);
    fail_unless(flat_frame(format, &info, out, FALSE), "%s", caps);
    gst_buffer_unref(out);
    g_free(caps);
  }
  gst_harness_set_src_caps_str(h, "video/x-raw,format=GRAY8,width=4,height=3,framerate=25/1");
  expect_ramp(h, 9, ramp_box);
  gst_harness_teardown(h);
}
GST_END_TEST;

GST_START_TEST(test_state_cycles)
{
  GstElement *element = make_element(BACKEND, NULL);

  SET(element, "filter=box", "radius=1");
  for (int i = 0; i < 4; i++) {
    GstHarness *h = harness_of(gst_object_ref(element), "GRAY8", W, H);

    expect_ramp(h, 0, ramp_box);
    expect_ramp(h, 1, ramp_box);
    gst_harness_teardown(h); /* to NULL */
  }
  gst_object_unref(element);
}
GST_END_TEST;

GST_START_TEST(test_flush_and_eos)
{
  GstHarness *h = HARNESS(BACKEND, "GRAY8", W, H, "filter=box", "radius=1");
  GstEvent *event;
  GstSegment segment;
  gboolean eos = FALSE;

  expect_ramp(h, 0, ramp_box);
  fail_unless(gst_harness_push_event(h, gst_event_new_flush_start()));
  fail_unless(gst_harness_push_event(h, gst_event_new_flush_stop(TRUE)));
  gst_segment_init(&segment, GST_FORMAT_TIME);
  fail_unless(gst_harness_push_event(h, gst_event_new_segment(&segment)));
  expect_ramp(h, 1, ramp_box);
  fail_unless(gst_harness_push_event(h, gst_event_new_eos()));
  while ((event = gst_harness_try_pull_event(h))) {
    eos |= GST_EVENT_TYPE(event) == GST_EVENT_EOS;
    gst_event_unref(event);
  }
  fail_unless(eos);
  gst_harness_teardown(h);
}
GST_END_TEST;

/* As many frames out as in, in their order, over changes of all kinds. */
GST_START_TEST(test_no_frame_lost)
{
  GstHarness *h = HARNESS(BACKEND, "NV12", 64, 48, "radius=3");
  GstVideoInfo info;

  gst_video_info_set_format(&info, GST_VIDEO_FORMAT_NV12, 64, 48);
  for (guint i = 0; i < 60; i++) {
    GstBuffer *buffer = gst_buffer_new_allocate(NULL, info.size, NULL);

    gst_buffer_memset(buffer, 0, i, -1);
    stamp(buffer, i);
    g_object_set(h->element, "radius", i % 5, "disable-passthrough", i % 20 < 10, NULL);
    fail_unless_equals_int(gst_harness_push(h, buffer), GST_FLOW_OK);
  }
  for (guint i = 0; i < 60; i++) {
    GstBuffer *out = gst_harness_pull(h);

    fail_unless_equals_uint64(GST_BUFFER_PTS(out), i * FRAME_TIME);
    gst_buffer_unref(out);
  }
  fail_unless(gst_harness_try_pull(h) == NULL);
  gst_harness_teardown(h);
}
GST_END_TEST;

static void
check_string(const GstStructure *stats, const char *field, const char *expected)
{
  fail_unless_equals_string(gst_structure_get_string(stats, field), expected);
}

GST_START_TEST(test_stats)
{
  GstHarness *h = HARNESS(BACKEND, "NV12", 64, 48, "radius=8", "algorithm=naive");
  gboolean cuda = strcmp(BACKEND, "cuda") == 0;
  GstStructure *stats;
  guint64 frames, dropped, up, down;
  double compute;

  for (guint i = 0; i < 3; i++) {
    GstBuffer *buffer = gst_buffer_new_allocate(NULL, 64 * 48 * 3 / 2, NULL);

    gst_buffer_memset(buffer, 0, 100, -1);
    gst_buffer_unref(gst_harness_push_and_pull(h, buffer));
  }
  g_object_get(h->element, "stats", &stats, NULL);
  fail_unless(gst_structure_get(stats, "frames", G_TYPE_UINT64, &frames, "dropped", G_TYPE_UINT64, &dropped,
                                "compute-time-us", G_TYPE_DOUBLE, &compute, "bytes-uploaded", G_TYPE_UINT64, &up,
                                "bytes-downloaded", G_TYPE_UINT64, &down, NULL));
  fail_unless_equals_uint64(frames, 3);
  fail_unless_equals_uint64(dropped, 0);
  fail_unless(compute > 0);
  fail_unless_equals_uint64(up, cuda ? 3 * 64 * 48 * 3 / 2 : 0);
  fail_unless_equals_uint64(down, up);
  check_string(stats, "backend", BACKEND);
  check_string(stats, "algorithm", "naive,naive");
  check_string(stats, "taps", "17x17,9x9");
  fail_unless(gst_structure_get_string(stats, "device")[0] != 0);
  gst_structure_free(stats);
  gst_harness_teardown(h);
}
GST_END_TEST;

/* ---- errors ---- */

static const struct {
  const char *set[4];
  int warnings; /* on the bus when set */
  const char *fragment;
} bad_rows[] = {
    {{"kernel=<<1,2>,<3>>"}, 1, "row 2 has 1 taps and row 1 has 2"},
    {{"kernel=<<1,2>,3>"}, 1, "entry 2 is not a row"},
    {{"kernel=<1,x>"}, 1, "tap 2 is x, not a finite number"},
    {{"kernel=<true>"}, 1, "tap 1 is true, not a finite number"},
    {{"kernel=<nan>"}, 1, "not a finite number"},
    {{"kernel=<<1,2>,<inf,1>>"}, 1, "row 2, tap 1 is inf"},
    {{"kernel=<<>>"}, 1, "row 1 is empty"},
    {{"kernel=<<<1>>>"}, 1, "not supported yet"},
    {{"kernel-x=<<1,2>>"}, 1, "kernel-x: an array of arrays"},
    {{"kernel-y=<a>"}, 1, "kernel-y: row 1, tap 1 is a"},
    {{"filter=custom"}, 0, "has no taps"},
    {{"filter=custom", "kernel=<>"}, 0, "has no taps"},
    {{"filter=custom", "kernel=<1>", "kernel-x=<1>"}, 0, "both kernel and kernel-x"},
    {{"sigma=200", "truncate=16"}, 0, "exceeds 512"},
};

GST_START_TEST(test_bad_properties)
{
  GstBus *bus;
  GstElement *element = make_element("cpu", &bus);

  set_all(element, bad_rows[__i__].set);
  fail_unless_equals_int(count_messages(bus, GST_MESSAGE_WARNING, bad_rows[__i__].fragment), bad_rows[__i__].warnings);
  fail_unless_equals_int(gst_element_set_state(element, GST_STATE_PAUSED), GST_STATE_CHANGE_FAILURE);
  fail_unless_equals_int(count_messages(bus, GST_MESSAGE_ERROR, bad_rows[__i__].fragment), 1);
  /* A good value makes up for it. */
  gst_element_set_state(element, GST_STATE_NULL);
  SET(element, "filter=box", "sigma=0", "kernel=<1,2,1>", "kernel-x=<>", "kernel-y=<>");
  fail_unless_equals_int(gst_element_set_state(element, GST_STATE_PAUSED), GST_STATE_CHANGE_SUCCESS);
  free_element(element, bus);
}
GST_END_TEST;

static char *
ones(int n)
{
  GString *text = g_string_new("kernel=<1");

  for (int i = 1; i < n; i++)
    g_string_append(text, ",1");
  g_string_append_c(text, '>');
  return g_string_free(text, FALSE);
}

GST_START_TEST(test_long_kernels)
{
  GstBus *bus;
  GstElement *element = make_element("cpu", &bus);
  char *longest = ones(2 * CNV_RADIUS_MAX + 1), *longer = ones(2 * CNV_RADIUS_MAX + 2);
  GValue kernel = G_VALUE_INIT;

  SET(element, longest);
  fail_unless_equals_int(count_messages(bus, GST_MESSAGE_WARNING, ""), 0);
  SET(element, longer);
  fail_unless_equals_int(count_messages(bus, GST_MESSAGE_WARNING, "at most 1025x1025"), 1);
  g_value_init(&kernel, GST_TYPE_ARRAY);
  g_object_get_property(G_OBJECT(element), "kernel", &kernel);
  fail_unless_equals_int(gst_value_array_get_size(&kernel), 1025);
  g_value_unset(&kernel);
  g_free(longest);
  g_free(longer);
  free_element(element, bus);
}
GST_END_TEST;

/* What is set is what is read back, as doubles. */
GST_START_TEST(test_kernel_values)
{
  const char *rows[][2] = {
      {"<1,2,1>", "<(double)1,(double)2,(double)1>"},
      {"<<1,0.5>,<1/4,-3>>", "<<(double)1,(double)0.5>,<(double)0.25,(double)-3>>"},
      {"<>", "<>"},
  };
  GstElement *element = make_element("cpu", NULL);

  for (gsize i = 0; i < G_N_ELEMENTS(rows); i++) {
    GValue kernel = G_VALUE_INIT, expected = G_VALUE_INIT;
    char *text = g_strdup(rows[i][1]); /* the parser writes into it */

    g_value_init(&kernel, GST_TYPE_ARRAY);
    g_value_init(&expected, GST_TYPE_ARRAY);
    fail_unless(gst_value_deserialize(&expected, text));
    g_free(text);
    SET(element, "kernel=<5>");
    gst_util_set_object_arg(G_OBJECT(element), "kernel", rows[i][0]);
    g_object_get_property(G_OBJECT(element), "kernel", &kernel);
    fail_unless_equals_int(gst_value_compare(&kernel, &expected), GST_VALUE_EQUAL);
    g_value_unset(&kernel);
    g_value_unset(&expected);
  }
  gst_object_unref(element);
}
GST_END_TEST;

/* Each enum property has the engine's rows, so that what is added there shows up here. */
GST_START_TEST(test_enums)
{
  GstElement *element = make_element("cpu", NULL);

  for (const CnvFilterInfo *row = cnv_filters; row->nick.nick; row++) {
    int value;

    gst_util_set_object_arg(G_OBJECT(element), "filter", row->nick.nick);
    g_object_get(element, "filter", &value, NULL);
    fail_unless_equals_int(value, row->nick.value);
  }
  gst_object_unref(element);
}
GST_END_TEST;

GST_START_TEST(test_cuda_without_gpu)
{
  GstBus *bus;
  GstElement *element;

  if (have_gpu()) {
    g_print("SKIPPED: test_cuda_without_gpu, this machine has a GPU\n");
    return;
  }
  element = make_element("cuda", &bus);
  fail_unless_equals_int(gst_element_set_state(element, GST_STATE_PAUSED), GST_STATE_CHANGE_FAILURE);
  fail_unless_equals_int(count_messages(bus, GST_MESSAGE_ERROR, "backend=cuda cannot run: "), 1);
  free_element(element, bus);
}
GST_END_TEST;

GST_START_TEST(test_auto_backend)
{
  GstBus *bus;
  GstElement *element = make_element("auto", &bus);
  GstHarness *h;
  GstStructure *stats;

  SET(element, "filter=box", "radius=1");
  h = harness_of(gst_object_ref(element), "GRAY8", W, H);
  for (guint i = 0; i < 3; i++)
    expect_ramp(h, i, ramp_box);
  fail_unless_equals_int(count_messages(bus, GST_MESSAGE_INFO, "backend=auto runs on the cpu: "), have_gpu() ? 0 : 1);
  g_object_get(element, "stats", &stats, NULL);
  check_string(stats, "backend", have_gpu() ? "cuda" : "cpu");
  gst_structure_free(stats);
  gst_harness_teardown(h);
  free_element(element, bus);
}
GST_END_TEST;

#define EACH(test) tcase_add_loop_test(each, test, 0, n_backends)

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
  tcase_add_test(once, test_template_caps);
  tcase_add_loop_test(once, test_bad_properties, 0, G_N_ELEMENTS(bad_rows));
  tcase_add_test(once, test_long_kernels);
  tcase_add_test(once, test_kernel_values);
  tcase_add_test(once, test_enums);
  tcase_add_test(once, test_cuda_without_gpu);
  tcase_add_test(once, test_auto_backend);
  suite_add_tcase(suite, each);
  EACH(test_caps_query);
  EACH(test_pixels);
  EACH(test_strides);
  EACH(test_short_buffers);
  EACH(test_live_changes);
  EACH(test_all_formats_flat);
  EACH(test_controller);
  EACH(test_changes_from_a_thread);
  EACH(test_passthrough);
  EACH(test_bad_change_keeps_filter);
  EACH(test_renegotiation);
  EACH(test_passthrough_strides);
  EACH(test_state_cycles);
  EACH(test_metas_and_times);
  EACH(test_flush_and_eos);
  EACH(test_no_frame_lost);
  EACH(test_stats);
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
