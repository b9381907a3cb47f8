/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The element over time: flat frames whose weighted means are exact, worked out here by the words of the properties;
 * what drains or drops the frames that wait, at each place of a stream; order, times, metas, latency, scene cuts.
 */
#include <string.h>

#include <gst/controller/controller.h>

#include "element.h"

#define N 12 /* frames of a stream */

/* Multiples of 24: means with the weights 1, 2, 1 and any of them missing are exact, halved too. */
static const guint8 values[N] = {0, 24, 120, 48, 192, 72, 240, 96, 0, 168, 216, 24};

/* What a stream is filtered with, and what the frame with a number must be: -1 for one that is not put out. */
typedef struct {
  int now;     /* number of the weight of the frame itself: 1 centered, 2 causal */
  int cut;     /* frames before this one and from it on know nothing of each other; 0 or N: all do */
  int halved;  /* from this one on the result is halved */
  int missing; /* number of the frame that is not put out, or -1 */
} Model;

static int
model_value(const Model *model, int frame)
{
  static const int weight[3] = {1, 2, 1};
  int sum = 0, weights = 0;

  for (int i = 0; i < 3; i++) {
    int other = frame + i - model->now;

    if (other < 0 || other >= N || (other < model->cut) != (frame < model->cut))
      continue;
    sum += weight[i] * values[other];
    weights += weight[i];
  }
  return sum / weights / (frame >= model->halved ? 2 : 1);
}

static GstBuffer *
flat_buffer(guint8 value, guint i)
{
  guint8 pixels[W * H];

  memset(pixels, value, sizeof(pixels));
  return gray_buffer(W, H, pixels, i);
}

static void
push_flat(GstHarness *h, guint8 value, guint i)
{
  GstBuffer *buffer = flat_buffer(value, i);

  gst_buffer_add_video_region_of_interest_meta(buffer, "face", i, 0, 1, 1);
  GST_BUFFER_OFFSET(buffer) = 100 + i;
  fail_unless_equals_int(gst_harness_push(h, gst_buffer_ref(buffer)), GST_FLOW_OK);
  ASSERT_MINI_OBJECT_REFCOUNT(buffer, "input", 1); /* nobody holds it until its turn */
  gst_buffer_unref(buffer);
}

static void
push_some(GstHarness *h, int from, int to)
{
  for (int i = from; i < to; i++)
    push_flat(h, values[i], i);
}

/* The next frame is that with this number, and flat. */
static void
pull_flat(GstHarness *h, int value, guint i, const char *what)
{
  GstBuffer *out = gst_harness_try_pull(h);
  GstVideoRegionOfInterestMeta *roi;
  guint8 pixels[W * H], got = 0;

  fail_unless(out != NULL, "%s: frame %u did not come", what, i);
  gst_buffer_extract(out, 0, &got, 1);
  memset(pixels, value, sizeof(pixels));
  fail_unless_equals_uint64(GST_BUFFER_PTS(out), i * FRAME_TIME);
  fail_unless(gray_equals(out, W, H, pixels), "%s: frame %u is %d, not %d", what, i, got, value);
  fail_unless_equals_uint64(GST_BUFFER_DURATION(out), FRAME_TIME);
  fail_unless_equals_uint64(GST_BUFFER_OFFSET(out), 100 + i);
  roi = gst_buffer_get_video_region_of_interest_meta_id(out, 0);
  fail_unless(roi && roi->x == i);
  gst_buffer_unref(out);
}

static void
pull_model(GstHarness *h, const Model *model, int from, int to, const char *what)
{
  for (int i = from; i < to; i++)
    if (i != model->missing)
      pull_flat(h, model_value(model, i), i, what);
}

static void
expect_none(GstHarness *h, const char *what)
{
  fail_unless_equals_int(gst_harness_buffers_in_queue(h), 0);
  fail_unless(gst_harness_try_pull(h) == NULL, "%s: a frame too many", what);
}

static void
end(GstHarness *h)
{
  fail_unless(gst_harness_push_event(h, gst_event_new_eos()));
}

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

/* As many frames out as in, each as soon as it can be, with its own times and metas. */
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

/* The only weight is that of the frame two before: what stands for it before the first. */
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

/* Without looking for cuts the frames beside one are mixed. */
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

/* A format's luma, or its colours, at the place and depth of each format: black and white differ by nearly full scale.
 */
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

/* Frames that wait are gone after a change of state, and the next stream begins anew. */
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
    gst_harness_teardown(h); /* to NULL */
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

static void
push_flush(GstHarness *h)
{
  GstSegment segment;

  fail_unless(gst_harness_push_event(h, gst_event_new_flush_start()));
  fail_unless(gst_harness_push_event(h, gst_event_new_flush_stop(TRUE)));
  gst_segment_init(&segment, GST_FORMAT_TIME);
  fail_unless(gst_harness_push_event(h, gst_event_new_segment(&segment)));
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

/* A change drains what waits with the old filter, or takes effect at the next frame with all frames around it. */
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

/* Other numbers of frames, more and fewer and none: none is lost, all in their order. */
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

/* Controlled values are those of the time of the frame that is put out. */
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

/* ---- events between frames ---- */

static void
push_marks(GstHarness *h)
{
  GstTagList *tags = gst_tag_list_new(GST_TAG_TITLE, "between", NULL);

  fail_unless(gst_harness_push_event(h, gst_event_new_tag(tags)));
  fail_unless(
      gst_harness_push_event(h, gst_event_new_custom(GST_EVENT_CUSTOM_DOWNSTREAM, gst_structure_new_empty("mark"))));
}

/* Frames by their numbers, and the marks by their names. */
static GstPadProbeReturn
note_order(GstPad *pad, GstPadProbeInfo *info, gpointer order)
{
  if (GST_PAD_PROBE_INFO_TYPE(info) & GST_PAD_PROBE_TYPE_BUFFER) {
    g_string_append_printf(order, "%d ", (int)(GST_BUFFER_PTS(GST_PAD_PROBE_INFO_BUFFER(info)) / FRAME_TIME));
  } else {
    GstEventType type = GST_EVENT_TYPE(GST_PAD_PROBE_INFO_EVENT(info));

    if (type == GST_EVENT_TAG || type == GST_EVENT_CUSTOM_DOWNSTREAM)
      g_string_append_printf(order, "%s ", gst_event_type_get_name(type));
  }
  return GST_PAD_PROBE_OK;
}

static GstHarness *
harness_with_order(const char *backend, GString *order, const char *set)
{
  GstHarness *h = HARNESS(backend, "GRAY8", W, H, "filter=identity", "kernel-t=<1,2,1>", set);

  gst_pad_add_probe(h->sinkpad, GST_PAD_PROBE_TYPE_BUFFER | GST_PAD_PROBE_TYPE_EVENT_DOWNSTREAM, note_order, order,
                    NULL);
  return h;
}

/* The frames with these numbers, the marks before frame `at`. */
static void
append_expected(GString *expected, int from, int to, int at)
{
  for (int i = from; i <= to; i++) {
    if (i == at)
      g_string_append(expected, "tag custom-downstream ");
    if (i < to)
      g_string_append_printf(expected, "%d ", i);
  }
}

/* They stay between the frames that they came between, and these are filtered as if there were none. */
GST_START_TEST(test_time_events)
{
  static const char *const modes[] = {"temporal-mode=centered", "temporal-mode=causal"};

  for (int mode = 0; mode < 2; mode++)
    for (int at = 0; at <= N; at++) {
      GString *order = g_string_new(NULL), *expected = g_string_new(NULL);
      GstHarness *h = harness_with_order(BACKEND, order, modes[mode]);
      const Model model = {1 + mode, 0, N, -1};

      push_some(h, 0, at);
      push_marks(h);
      push_some(h, at, N);
      end(h);
      append_expected(expected, 0, N, at);
      fail_unless_equals_string(order->str, expected->str);
      pull_model(h, &model, 0, N, modes[mode]);
      expect_none(h, modes[mode]);
      gst_harness_teardown(h);
      g_string_free(order, TRUE);
      g_string_free(expected, TRUE);
    }
}
GST_END_TEST;

/* With the frame that a flush drops what is of it alone goes; what is sticky is told with the next. */
GST_START_TEST(test_time_events_flushed)
{
  GString *order = g_string_new(NULL), *expected = g_string_new("0 1 tag ");
  GstHarness *h = harness_with_order(BACKEND, order, "temporal-mode=centered");

  push_some(h, 0, 3);
  push_marks(h);
  fail_unless_equals_string(order->str, "0 1 ");
  push_flush(h);
  push_some(h, 3, N);
  push_marks(h); /* dropped with the element */
  append_expected(expected, 3, N - 1, -1);
  fail_unless_equals_string(order->str, expected->str);
  gst_harness_teardown(h);
  g_string_free(order, TRUE);
  g_string_free(expected, TRUE);
}
GST_END_TEST;

/* ---- latency, lateness, statistics ---- */

static int
count_latency_messages(GstBus *bus)
{
  GstMessage *message;
  int n = 0;

  for (; (message = gst_bus_pop_filtered(bus, GST_MESSAGE_LATENCY)); n++)
    gst_message_unref(message);
  return n;
}

GST_START_TEST(test_time_latency)
{
  GstBus *bus;
  GstElement *element = make_element(BACKEND, &bus);
  GstHarness *h;

  SET(element, "filter=identity", "temporal-radius=3");
  h = harness_of(gst_object_ref(element), "GRAY8", W, H);
  gst_harness_set_upstream_latency(h, 5 * GST_MSECOND);
  fail_unless_equals_uint64(gst_harness_query_latency(h), 3 * FRAME_TIME + 5 * GST_MSECOND);
  fail_unless_equals_int(count_latency_messages(bus), 1);
  SET(element, "temporal-mode=causal");
  push_flat(h, 9, 0);
  fail_unless_equals_uint64(gst_harness_query_latency(h), 5 * GST_MSECOND);
  fail_unless_equals_int(count_latency_messages(bus), 1);
  SET(element, "temporal-mode=centered", "temporal-radius=1");
  gst_harness_set_src_caps_str(h, "video/x-raw,format=GRAY8,width=4,height=3,framerate=0/1");
  fail_unless_equals_uint64(gst_harness_query_latency(h), 5 * GST_MSECOND);
  push_flat(h, 9, 1);
  fail_unless_equals_uint64(gst_harness_query_latency(h), FRAME_TIME + 5 * GST_MSECOND);
  fail_unless_equals_int(count_latency_messages(bus), 1);
  gst_harness_teardown(h);
  free_element(element, bus);
}
GST_END_TEST;

/* Frames that are late by downstream's word are there for the others. */
GST_START_TEST(test_time_qos)
{
  GstHarness *h = HARNESS(BACKEND, "GRAY8", W, H, "filter=identity", "kernel-t=<1,2,1>");
  const Model model = {1, 0, N, -1};

  gst_harness_push_upstream_event(h, gst_event_new_qos(GST_QOS_TYPE_UNDERFLOW, 2, FRAME_TIME, FRAME_TIME));
  push_some(h, 0, 4);
  gst_harness_push_upstream_event(h, gst_event_new_qos(GST_QOS_TYPE_UNDERFLOW, 2, GST_SECOND, 4 * FRAME_TIME));
  push_some(h, 4, N);
  end(h);
  pull_model(h, &model, 0, N, "qos");
  expect_none(h, "qos");
  gst_harness_teardown(h);
}
GST_END_TEST;

static guint
frames_held(GstElement *element)
{
  GstStructure *stats;
  guint held = 99;

  g_object_get(element, "stats", &stats, NULL);
  fail_unless(gst_structure_get_uint(stats, "history", &held));
  gst_structure_free(stats);
  return held;
}

GST_START_TEST(test_time_stats)
{
  static const guint held[] = {1, 2, 3, 4, 5, 5, 5};
  GstHarness *h = HARNESS(BACKEND, "GRAY8", W, H, "filter=identity", "temporal-radius=2");

  fail_unless_equals_int(frames_held(h->element), 0);
  for (guint i = 0; i < G_N_ELEMENTS(held); i++) {
    push_flat(h, 72, i);
    fail_unless_equals_int(frames_held(h->element), held[i]);
  }
  end(h);
  fail_unless_equals_int(frames_held(h->element), 0);
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
  EACH(test_time_events);
  EACH(test_time_events_flushed);
  EACH(test_time_latency);
  EACH(test_time_qos);
  EACH(test_time_stats);
}
