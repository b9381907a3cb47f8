/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * How pipelines/play.c makes live sources start and streams end: no order of threads blocks a pipeline.
 */
#include "play.h"

#include "support/suite.h"

#define WAIT (20 * GST_SECOND) /* until a pipeline counts as blocked */

/* ---- an element that needs a while to go to PLAYING ---- */

typedef GstBin SlowStart;
typedef GstBinClass SlowStartClass;

GType slow_start_get_type(void);

G_DEFINE_TYPE(SlowStart, slow_start, GST_TYPE_BIN)

static GstStateChangeReturn
change_state(GstElement *element, GstStateChange transition)
{
  if (transition == GST_STATE_CHANGE_PAUSED_TO_PLAYING)
    g_usleep(300000);
  return GST_ELEMENT_CLASS(slow_start_parent_class)->change_state(element, transition);
}

static void
slow_start_class_init(SlowStartClass *klass)
{
  GST_ELEMENT_CLASS(klass)->change_state = change_state;
}

static void
slow_start_init(SlowStart *self)
{
  GstElement *element = gst_element_factory_make("identity", NULL);
  GstPad *sink = gst_element_get_static_pad(element, "sink"), *source = gst_element_get_static_pad(element, "src");

  gst_bin_add(self, element);
  gst_element_add_pad(GST_ELEMENT(self), gst_ghost_pad_new("sink", sink));
  gst_element_add_pad(GST_ELEMENT(self), gst_ghost_pad_new("src", source));
  gst_object_unref(sink);
  gst_object_unref(source);
}

/* ---- */

static GstMessageType
wait_for(GstElement *pipeline, GstMessageType types)
{
  g_autoptr(GstBus) bus = gst_element_get_bus(pipeline);
  g_autoptr(GstMessage) message = gst_bus_timed_pop_filtered(bus, WAIT, types | GST_MESSAGE_ERROR);

  return message ? GST_MESSAGE_TYPE(message) : GST_MESSAGE_UNKNOWN;
}

static void
expect_end(GstElement *pipeline)
{
  GstMessageType type = wait_for(pipeline, GST_MESSAGE_EOS);

  fail_unless(type == GST_MESSAGE_EOS, "the pipeline ends with %s", gst_message_type_get_name(type));
  gst_element_set_state(pipeline, GST_STATE_NULL);
  gst_object_unref(pipeline);
}

/* A camera whose decoder is ready while the filter goes to PLAYING. The sink is in a bin, like that of a file. */
GST_START_TEST(test_live_source)
{
  GstElement *pipeline = gst_pipeline_new(NULL);
  GstElement *source = play_parse_source("videotestsrc is-live=true num-buffers=5 ! video/x-raw,framerate=50/1 "
                                         "! decodebin ! videoconvert");
  GstElement *filter = g_object_new(slow_start_get_type(), NULL);
  GstElement *output = gst_parse_bin_from_description("queue ! fakesink", TRUE, NULL);

  gst_bin_add_many(GST_BIN(pipeline), source, filter, output, NULL);
  fail_unless(gst_element_link_many(source, filter, output, NULL));
  gst_element_set_state(pipeline, GST_STATE_PLAYING);
  expect_end(pipeline);
}

GST_END_TEST;

/* The end is requested while the source waits for room, and the sink gets its first frame after that: the sink must go
 * to PLAYING although the source has not taken the event yet. */
GST_START_TEST(test_end_before_first_frame)
{
  GstElement *pipeline =
      gst_parse_launch("videotestsrc ! queue max-size-buffers=1 ! identity name=slow sleep-time=500000 "
                       "! fakesink",
                       NULL);
  gint64 start;

  gst_element_set_state(pipeline, GST_STATE_PLAYING);
  g_usleep(250000);
  start = g_get_monotonic_time();
  play_end_stream(pipeline);
  fail_unless(g_get_monotonic_time() - start < 200000, "the request waits for a frame");
  expect_end(pipeline);
}

GST_END_TEST;

static void
add_tests(TCase *tcase)
{
  tcase_set_timeout(tcase, 60);
  tcase_add_test(tcase, test_live_source);
  tcase_add_test(tcase, test_end_before_first_frame);
}

int
main(int argc, char **argv)
{
  gst_check_init(&argc, &argv);
  return test_main("play", add_tests);
}
