/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The element over time: flat frames whose weighted means are exact, checked against what the properties say; scene
 * cuts; and what drains or drops waiting frames, at each place of a stream.
 */
#include <string.h>

#include <gst/controller/controller.h>

#include "element/flat.h"

/* ---- values ---- */

static const struct {
  const char *set[4];
  int now;
} mode_rows[] = {
    {{"filter=identity", "kernel-t=<1,2,1>"}, 1},
    {{"filter=custom", "kernel=<<<1>>,<<2>>,<<1>>>"}, 1},
    {{"filter=box", "radius=1", "kernel-t=<0.5,1,0.5>"}, 1},
    {{"filter=identity", "kernel-t=<1,2,1>", "temporal-mode=causal"}, 2},
    {{"filter=custom", "kernel=<<<1>>,<<2>>,<<1>>>", "temporal-mode=causal"}, 2},
};

/* As many frames come out as went in, each as soon as possible, with its own times and metas. */
GST_START_TEST(test_time_values)
{
  for (gsize r = 0; r < G_N_ELEMENTS(mode_rows); r++) {
    const Model model = {mode_rows[r].now, 0, N, -1};
    GstHarness *h = harness_with(BACKEND, "GRAY8", W, H, mode_rows[r].set);
    int late = model.now == 1;

    for (int i = 0; i < N; i++) {
      push_some(h, i, i + 1);
      if (i >= late)
        pull_model(h, &model, i - late, i - late + 1, mode_rows[r].set[1]);
      expect_none(h, mode_rows[r].set[1]);
    }
    end(h);
    pull_model(h, &model, N - late, N, mode_rows[r].set[1]);
    expect_none(h, mode_rows[r].set[1]);
    gst_harness_teardown(h);
  }
}
GST_END_TEST;

GST_START_TEST(test_time_single_frame)
{
  GstHarness *h = HARNESS(BACKEND, "GRAY8", W, H, "filter=identity", "temporal-radius=15");

  push_flat(h, 72, 0);
  expect_none(h, "before the end");
  end(h);
  pull_flat(h, 72, 0, "alone");
  expect_none(h, "at the end");
  gst_harness_teardown(h);
}
GST_END_TEST;

/* The only weight is on the frame two before. It shows what replaces the frames before the first. */
GST_START_TEST(test_time_borders)
{
  const struct {
    const char *set;
    int expected[3];
  } rows[] = {{"temporal-border=replicate", {24, 24, 24}}, {"temporal-border=reflect", {48, 24, 24}}};

  for (gsize r = 0; r < G_N_ELEMENTS(rows); r++) {
    GstHarness *h = HARNESS(BACKEND, "GRAY8", W, H, "filter=identity", "kernel-t=<1,0,0,0,0>", rows[r].set);

    push_flat(h, 24, 0);
    push_flat(h, 48, 1);
    push_flat(h, 96, 2);
    end(h);
    for (guint i = 0; i < 3; i++)
      pull_flat(h, rows[r].expected[i], i, rows[r].set);
    gst_harness_teardown(h);
  }
}
GST_END_TEST;

/* Without detection of cuts, frames beside a cut are mixed. */
GST_START_TEST(test_time_scene_cut)
{
  const struct {
    const char *set;
    int expected[6];
  } rows[] = {
      {"scene-change-threshold=0.5", {0, 0, 0, 240, 240, 240}},
      {"scene-change-threshold=0.95", {0, 0, 80, 160, 240, 240}},
      {"scene-change-threshold=0", {0, 0, 80, 160, 240, 240}},
  };

  for (gsize r = 0; r < G_N_ELEMENTS(rows); r++) {
    GstHarness *h = HARNESS(BACKEND, "GRAY8", W, H, "filter=identity", "kernel-t=<1,1,1>", rows[r].set);

    for (guint i = 0; i < 6; i++)
      push_flat(h, i < 3 ? 0 : 240, i);
    end(h);
    for (guint i = 0; i < 6; i++)
      pull_flat(h, rows[r].expected[i], i, rows[r].set);
    gst_harness_teardown(h);
  }
}
GST_END_TEST;

/* Luma or colours, at the place and depth of each format: black and white differ by nearly full scale. */
GST_START_TEST(test_time_scene_formats)
{
  static const char *const formats[] = {"I420",      "NV12", "P010_10LE", "I420_10LE", "YUY2",       "UYVY",
                                        "Y444_16LE", "BGRx", "ARGB",      "RGB",       "BGR10A2_LE", "GRAY16_LE"};

  for (gsize f = 0; f < G_N_ELEMENTS(formats); f++) {
    GstHarness *h =
        HARNESS(BACKEND, formats[f], 16, 8, "filter=identity", "kernel-t=<1,1,1>", "scene-change-threshold=0.9");
    GstBuffer *in[3], *out;
    GstVideoInfo info;

    gst_video_info_set_format(&info, gst_video_format_from_string(formats[f]), 16, 8);
    for (guint i = 0; i < 3; i++) {
      in[i] = gst_buffer_new_allocate(NULL, info.size, NULL);
      gst_buffer_memset(in[i], 0, i < 2 ? 0 : 0xff, -1);
      gst_harness_push(h, in[i]);
    }
    end(h);
    for (guint i = 0; i < 3; i++) {
      guint8 byte = 1;

      out = gst_harness_try_pull(h);
      fail_unless(out != NULL);
      gst_buffer_extract(out, 1, &byte, 1); /* in P010 the low byte holds no whole sample */
      fail_unless_equals_int(byte, strcmp(formats[f], "I420_10LE") == 0 && i == 2 ? 3 : i < 2 ? 0 : 0xff);
      gst_buffer_unref(out);
    }
    gst_harness_teardown(h);
  }
}
GST_END_TEST;

/* Waiting frames are gone after a change of state, and the next stream begins anew. */
GST_START_TEST(test_time_states)
{
  GstElement *element = make_element(BACKEND, NULL);
  const Model model = {1, 0, N, -1};

  SET(element, "filter=identity", "kernel-t=<1,2,1>");
  for (int i = 0; i < 3; i++) {
    GstHarness *h = harness_of(gst_object_ref(element), "GRAY8", W, H);

    push_some(h, 0, N);
    pull_model(h, &model, 0, N - 1, "states");
    expect_none(h, "states");
    gst_harness_teardown(h); /* sets the state to NULL */
  }
  gst_object_unref(element);
}
GST_END_TEST;

/* ---- drains ---- */

static void
push_eos(GstHarness *h)
{
  GstSegment segment;

  end(h);
  gst_segment_init(&segment, GST_FORMAT_TIME);
  fail_unless(gst_harness_push_event(h, gst_event_new_stream_start("another")));
  fail_unless(gst_harness_push_event(h, gst_event_new_segment(&segment)));
}

static void
push_segment(GstHarness *h)
{
  GstSegment segment;

  gst_segment_init(&segment, GST_FORMAT_TIME);
  segment.base = GST_SECOND;
  fail_unless(gst_harness_push_event(h, gst_event_new_segment(&segment)));
}

static void
push_caps(GstHarness *h)
{
  GstCaps *caps = gst_caps_from_string("video/x-raw,format=GRAY8,width=4,height=3,framerate=30/1");

  fail_unless(gst_harness_push_event(h, gst_event_new_caps(caps)));
  gst_caps_unref(caps);
}

static void
push_gap(GstHarness *h)
{
  fail_unless(gst_harness_push_event(h, gst_event_new_gap(0, FRAME_TIME)));
}

static void
push_segment_done(GstHarness *h)
{
  fail_unless(gst_harness_push_event(h, gst_event_new_segment_done(GST_FORMAT_TIME, FRAME_TIME)));
}

static void
push_still(GstHarness *h)
{
  fail_unless(gst_harness_push_event(h, gst_video_event_new_still_frame(TRUE)));
}

static const struct {
  const char *name;
  void (*push)(GstHarness *h);
  gboolean drops;
} drain_rows[] = {
    {"eos", push_eos, FALSE},    {"segment", push_segment, FALSE}, {"segment-done", push_segment_done, FALSE},
    {"caps", push_caps, FALSE},  {"gap", push_gap, FALSE},         {"still", push_still, FALSE},
    {"flush", push_flush, TRUE},
};

static void
check_drain(const char *backend, gsize row, int at)
{
  const char *name = drain_rows[row].name;
  GstHarness *h = HARNESS(backend, "GRAY8", W, H, "filter=identity", "kernel-t=<1,2,1>");
  Model model = {1, at, N, drain_rows[row].drops ? at - 1 : -1};

  push_some(h, 0, at);
  pull_model(h, &model, 0, at - 1, name);
  expect_none(h, name);
  drain_rows[row].push(h);
  pull_model(h, &model, MAX(at - 1, 0), at, name);
  expect_none(h, name);
  push_some(h, at, N);
  end(h);
  pull_model(h, &model, at, N, name);
  expect_none(h, name);
  gst_harness_teardown(h);
}

GST_START_TEST(test_time_drains)
{
  for (gsize row = 0; row < G_N_ELEMENTS(drain_rows); row++)
    for (int at = 0; at <= N; at++)
      check_drain(BACKEND, row, at);
}
GST_END_TEST;

GST_START_TEST(test_time_discont)
{
  for (int at = 1; at < N; at++) {
    GstHarness *h = HARNESS(BACKEND, "GRAY8", W, H, "filter=identity", "kernel-t=<1,2,1>");
    const Model model = {1, at, N, -1};

    for (int i = 0; i < N; i++) {
      GstBuffer *buffer = flat_buffer(values[i], i);

      gst_buffer_add_video_region_of_interest_meta(buffer, "face", i, 0, 1, 1);
      GST_BUFFER_OFFSET(buffer) = 100 + i;
      if (i == at)
        GST_BUFFER_FLAG_SET(buffer, GST_BUFFER_FLAG_DISCONT);
      fail_unless_equals_int(gst_harness_push(h, buffer), GST_FLOW_OK);
    }
    end(h);
    pull_model(h, &model, 0, N, "discont");
    expect_none(h, "discont");
    gst_harness_teardown(h);
  }
}
GST_END_TEST;

/* A change drains the waiting frames with the old filter, or takes effect at the next frame, with all frames around
 * it. */
GST_START_TEST(test_time_filter_change)
{
  for (int drains = 0; drains < 2; drains++)
    for (int at = 0; at < N; at++) {
      GstHarness *h = HARNESS(BACKEND, "GRAY8", W, H, "filter=identity", "kernel-t=<1,2,1>",
                              drains ? "drain-on-changes=true" : "drain-on-changes=false");
      const Model model = {1, drains ? at : 0, drains ? at : MAX(at - 1, 0), -1};

      push_some(h, 0, at);
      SET(h->element, "scale=0.5");
      push_some(h, at, N);
      end(h);
      pull_model(h, &model, 0, N, drains ? "drained" : "kept");
      expect_none(h, "change");
      gst_harness_teardown(h);
    }
}
GST_END_TEST;

/* More frames, fewer and none: no frame is lost, and all stay in order. */
GST_START_TEST(test_time_radius_changes)
{
  static const char *const sets[] = {"temporal-radius=1", "temporal-mode=causal",   "temporal-radius=3",
                                     "temporal-radius=0", "temporal-mode=centered", "temporal-radius=2"};

  for (int drains = 0; drains < 2; drains++) {
    GstHarness *h = HARNESS(BACKEND, "GRAY8", W, H, "filter=identity", "disable-passthrough=true",
                            drains ? "drain-on-changes=true" : "drain-on-changes=false");

    for (guint i = 0; i < 60; i++) {
      if (i % 7 == 3)
        SET(h->element, sets[i / 7 % G_N_ELEMENTS(sets)]);
      push_flat(h, 100, i);
    }
    end(h);
    for (guint i = 0; i < 60; i++)
      pull_flat(h, 100, i, "radius changes");
    expect_none(h, "radius changes");
    gst_harness_teardown(h);
  }
}
GST_END_TEST;

/* Controlled values are read at the time of the frame that is pushed. */
GST_START_TEST(test_time_controller)
{
  GstHarness *h = HARNESS(BACKEND, "GRAY8", W, H, "filter=identity", "kernel-t=<1,2,1>");
  GstControlSource *source = gst_interpolation_control_source_new();
  const Model model = {1, 0, 5, -1};

  g_object_set(source, "mode", GST_INTERPOLATION_MODE_NONE, NULL);
  gst_timed_value_control_source_set(GST_TIMED_VALUE_CONTROL_SOURCE(source), 0, 1);
  gst_timed_value_control_source_set(GST_TIMED_VALUE_CONTROL_SOURCE(source), 5 * FRAME_TIME, 0.5);
  gst_object_add_control_binding(GST_OBJECT(h->element),
                                 gst_direct_control_binding_new_absolute(GST_OBJECT(h->element), "scale", source));
  gst_object_unref(source);
  push_some(h, 0, N);
  end(h);
  pull_model(h, &model, 0, N, "controller");
  gst_harness_teardown(h);
}
GST_END_TEST;

void
add_time_tests(TCase *each)
{
  EACH(test_time_values);
  EACH(test_time_single_frame);
  EACH(test_time_borders);
  EACH(test_time_scene_cut);
  EACH(test_time_scene_formats);
  EACH(test_time_states);
  EACH(test_time_drains);
  EACH(test_time_discont);
  EACH(test_time_filter_change);
  EACH(test_time_radius_changes);
  EACH(test_time_controller);
}
