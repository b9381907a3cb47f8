/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Frames that wait for others in a filter over time: events between them, latency, lateness, statistics.
 */
#include "element/flat.h"

/* ---- events between frames ---- */

static void
push_marks(GstHarness *h)
{
  GstTagList *tags = gst_tag_list_new(GST_TAG_TITLE, "between", NULL);

  fail_unless(gst_harness_push_event(h, gst_event_new_tag(tags)));
  fail_unless(
      gst_harness_push_event(h, gst_event_new_custom(GST_EVENT_CUSTOM_DOWNSTREAM, gst_structure_new_empty("mark"))));
}

/* Appends the number of a frame, or the name of a mark. */
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

/* Appends the numbers from..to - 1, and the marks before frame `at`. */
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

/* Events stay between the frames between which they came, and the frames are filtered as if there were no events. */
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

/* A flush drops a waiting frame with the events that belong only to it. Sticky events are sent with the next frame. */
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

/* Frames that downstream reports as late are still used for other frames. */
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
add_waiting_tests(TCase *each)
{
  EACH(test_time_events);
  EACH(test_time_events_flushed);
  EACH(test_time_latency);
  EACH(test_time_qos);
  EACH(test_time_stats);
}
