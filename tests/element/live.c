/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The element over many frames: changes while playing, data that belong to a frame, passthrough, renegotiation, states,
 * flush and EOS, statistics.
 */
#include <string.h>

#include <gst/base/gstbasetransform.h>
#include <gst/controller/controller.h>

#include "element/element.h"

/* ---- changes while playing ---- */

GST_START_TEST(test_live_changes)
{
  static const guint8 cells[W * H] = {45, 45, 45, 63, 45, 45, 45, 63, 45, 45, 45, 63};
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
  SET(h->element, "filter=mosaic", "radius=0");
  expect_ramp(h, 5, ramp);
  SET(h->element, "radius=1");
  expect_ramp(h, 6, cells);
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

/* Changes from another thread: each frame has one of the filters throughout. */
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

/* On the CPU nothing can overlap, so each frame comes out at once. */
GST_START_TEST(test_frames_in_flight)
{
  GstHarness *h = HARNESS("cpu", "GRAY8", W, H, "filter=box", "radius=1", "frames-in-flight=8");
  guint n;

  g_object_get(h->element, "frames-in-flight", &n, NULL);
  fail_unless_equals_int(n, 8);
  for (guint i = 0; i < 10; i++)
    expect_ramp(h, i, ramp_box);
  fail_unless_equals_uint64(gst_harness_query_latency(h), 0);
  gst_harness_teardown(h);
}
GST_END_TEST;

/* ---- data that belong to a frame ---- */

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
  fail_unless(out != in && gray_equals(out, W, H, ramp_box)); /* the whole frame, whatever the crop */
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

/* Returns TRUE if the class copies the meta. It is asked directly, because the base class does not ask it about metas
 * of memory. */
static gboolean
class_copies(GstHarness *h, GstBuffer *in, GstBuffer *out, GType api)
{
  GstBaseTransform *trans = GST_BASE_TRANSFORM_CAST(h->element);

  return GST_BASE_TRANSFORM_GET_CLASS(trans)->transform_meta(trans, out, gst_buffer_get_meta(in, api), in);
}

/* A filtered frame does not keep the input's memory alive. */
GST_START_TEST(test_parent_stays_behind)
{
  GstHarness *h = HARNESS(BACKEND, "GRAY8", W, H, "filter=box", "radius=1");
  GstBuffer *parent = gst_buffer_new(), *in = gray_buffer(W, H, ramp, 0), *out;

  gst_buffer_add_parent_buffer_meta(in, parent);
  gst_buffer_add_video_region_of_interest_meta(in, "face", 1, 1, 2, 1);
  out = gst_harness_push_and_pull(h, gst_buffer_ref(in));
  fail_unless(out != in && gray_equals(out, W, H, ramp_box));
  fail_unless(gst_buffer_get_parent_buffer_meta(out) == NULL);
  fail_if(class_copies(h, in, out, GST_PARENT_BUFFER_META_API_TYPE));
  fail_unless(gst_buffer_get_meta(out, GST_VIDEO_REGION_OF_INTEREST_META_API_TYPE) != NULL);
  fail_unless(class_copies(h, in, out, GST_VIDEO_REGION_OF_INTEREST_META_API_TYPE));
  gst_buffer_unref(in);
  ASSERT_MINI_OBJECT_REFCOUNT(parent, "parent", 1);
  gst_buffer_unref(out);
  gst_buffer_unref(parent);
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

/* Strides that downstream cannot read are replaced by plain ones; others are passed on. */
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
    gst_harness_teardown(h); /* sets the state to NULL */
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

/* As many frames come out as went in, in their order, despite changes of all kinds. */
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

/* Sets another filter, radius, border and kernel, all of them valid. */
static void
change_at_random(GstElement *element, GRand *rng)
{
  const char *kernels[] = {"<1,2,1>", "<0,1,0>", "<<1,2>,<3,4>>", "<<0,-1,0>,<-1,5,-1>,<0,-1,0>>"};
  int filter = g_rand_int_range(rng, CNV_FILTER_IDENTITY, CNV_FILTER_CUSTOM + 1);
  int most = cnv_filter_info(filter)->max_radius, radius = most < 20 ? MIN(1, most) : g_rand_int_range(rng, -1, 20);
  int border = g_rand_int_range(rng, CNV_BORDER_CONSTANT, CNV_N_BORDERS);

  gst_util_set_object_arg(G_OBJECT(element), "kernel", kernels[g_rand_int_range(rng, 0, G_N_ELEMENTS(kernels))]);
  g_object_set(element, "filter", filter, "radius", radius, "border-mode", border, NULL);
}

static void
check_stamp(GstBuffer *buffer, guint i)
{
  fail_unless_equals_uint64(GST_BUFFER_PTS(buffer), i * FRAME_TIME);
  fail_unless_equals_uint64(GST_BUFFER_DTS(buffer), i * FRAME_TIME + 1);
  fail_unless_equals_uint64(GST_BUFFER_DURATION(buffer), FRAME_TIME);
}

/* 9 frames go in and come out, with their times, whatever changes in between. */
GST_START_TEST(test_random_changes)
{
  GstBus *bus;
  GstElement *element = make_element(BACKEND, &bus);
  GstHarness *h = harness_of(gst_object_ref(element), "GRAY8", W, H);
  GRand *rng = g_rand_new_with_seed(9);

  for (guint i = 0; i < 9; i++) {
    GstBuffer *buffer = gray_buffer(W, H, ramp, i * i); /* not at a constant rate */

    GST_BUFFER_DTS(buffer) = i * i * FRAME_TIME + 1;
    change_at_random(element, rng);
    fail_unless_equals_int(gst_harness_push(h, buffer), GST_FLOW_OK);
  }
  fail_unless_equals_int(gst_harness_buffers_in_queue(h), 9);
  for (guint i = 0; i < 9; i++) {
    GstBuffer *out = gst_harness_pull(h);

    check_stamp(out, i * i);
    gst_buffer_unref(out);
  }
  /* No change is rejected. The only warnings are that some filters have no kernel, no radius or no border. */
  fail_unless_equals_int(count_messages(bus, GST_MESSAGE_WARNING, " has no effect: "), 3);
  g_rand_free(rng);
  gst_harness_teardown(h);
  free_element(element, bus);
}
GST_END_TEST;

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
  check_string(stats, "terms", "1,1");
  fail_unless(gst_structure_get_string(stats, "device")[0] != 0);
  gst_structure_free(stats);
  gst_harness_teardown(h);
}
GST_END_TEST;

void
add_live_tests(TCase *each)
{
  EACH(test_live_changes);
  EACH(test_controller);
  EACH(test_changes_from_a_thread);
  EACH(test_frames_in_flight);
  EACH(test_metas_and_times);
  EACH(test_parent_stays_behind);
  EACH(test_passthrough);
  EACH(test_passthrough_strides);
  EACH(test_renegotiation);
  EACH(test_state_cycles);
  EACH(test_flush_and_eos);
  EACH(test_no_frame_lost);
  EACH(test_random_changes);
  EACH(test_stats);
}
