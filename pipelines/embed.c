/* You should see a blurred rectangle, after one second the whole picture blurred more and more, and then the
 * statistics.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * cudaconvolve in your own program:  embed [FILE|URI]  plays the file, or a moving test picture of 3 seconds. Without a
 * display it does the same and shows nothing. Exit status: 0 at the end of the stream, 1 on an error. Set
 * GST_PLUGIN_PATH if the plugin is not installed. embed.py does the same.
 */
#include <gst/controller/controller.h>
#include <gst/gst.h>
#include <stdlib.h>

typedef struct {
  GstElement *pipeline, *filter;
  GMainLoop *loop;
  gboolean failed;
} App;

/* Adds an element to the pipeline. Returns NULL, with the fix on stderr, if no plugin has it. */
static GstElement *
make(App *app, const char *factory)
{
  GstElement *element = gst_element_factory_make(factory, NULL);

  if (element)
    gst_bin_add(GST_BIN(app->pipeline), element); /* the pipeline owns it from now on */
  else
    g_printerr("there is no element %s: install its plugin, or set GST_PLUGIN_PATH\n", factory);
  return element;
}

/* The streams of a file are only known after GStreamer has read its headers. The link fails for sound, which is not
 * played. */
static void
on_pad_added(GstElement *source, GstPad *pad, gpointer user_data)
{
  App *app = user_data;
  g_autoptr(GstPad) sink = gst_element_get_static_pad(app->filter, "sink");

  if (!gst_pad_is_linked(sink))
    gst_pad_link(pad, sink);
}

static gboolean
add_source(App *app, const char *input)
{
  GstElement *source = make(app, input ? "uridecodebin" : "videotestsrc");
  g_autofree char *uri = NULL;

  if (!source)
    return FALSE;
  if (!input) {
    g_object_set(source, "num-buffers", 90, "horizontal-speed", 2, NULL); /* 30 frames/s, unless caps say otherwise */
    return gst_element_link(source, app->filter);
  }
  uri = gst_uri_is_valid(input) ? g_strdup(input) : gst_filename_to_uri(input, NULL);
  g_object_set(source, "uri", uri, NULL);
  g_signal_connect(source, "pad-added", G_CALLBACK(on_pad_added), app);
  return TRUE;
}

/* source ! cudaconvolve ! videoconvert ! sink. Directly after a decoder, frames may stay in GPU memory up to
 * cudaconvolve. */
static gboolean
build(App *app, const char *input)
{
  gboolean display = g_getenv("DISPLAY") || g_getenv("WAYLAND_DISPLAY");
  GstElement *convert, *sink;

  app->pipeline = gst_pipeline_new(NULL);
  app->filter = make(app, "cudaconvolve");
  convert = make(app, "videoconvert");
  sink = make(app, display ? "autovideosink" : "fakesink");
  if (!app->filter || !convert || !sink)
    return FALSE;
  g_object_set(sink, "sync", TRUE, NULL); /* play at the speed of the video, because fakesink does not by itself */
  return add_source(app, input) && gst_element_link_many(app->filter, convert, sink, NULL);
}

/* Lets sigma grow from 1 to 8 in the first 3 seconds of the stream. The element reads the value at the time of each
 * frame, so it is exact to the frame. The controlled object owns the binding, and the binding owns the curve. */
static void
animate_sigma(App *app)
{
  GstControlSource *curve = gst_interpolation_control_source_new();
  GstTimedValueControlSource *points = GST_TIMED_VALUE_CONTROL_SOURCE(curve);

  g_object_set(curve, "mode", GST_INTERPOLATION_MODE_LINEAR, NULL);
  gst_timed_value_control_source_set(points, 0, 1.0);
  gst_timed_value_control_source_set(points, 3 * GST_SECOND, 8.0);
  /* "absolute": the points are values of sigma, not fractions of its range. */
  gst_object_add_control_binding(GST_OBJECT(app->filter),
                                 gst_direct_control_binding_new_absolute(GST_OBJECT(app->filter), "sigma", curve));
  gst_object_unref(curve);
}

/* Text is the easiest way to set enums, by their nicks, and arrays. The radius stays at its default, -1: it follows
 * sigma, for a box as for a gaussian. */
static void
choose_filter(App *app)
{
  gst_util_set_object_arg(G_OBJECT(app->filter), "filter", "box");
  g_object_set(app->filter, "roi-feather", 8.0, NULL);
  gst_util_set_object_arg(G_OBJECT(app->filter), "roi-source", "property");
  gst_util_set_object_arg(G_OBJECT(app->filter), "roi",
                          "<<80,60,160,120>>"); /* x, y, width and height of each rectangle */
}

/* Properties may be set from any thread while frames flow. Settings that have no effect afterwards, like roi here, may
 * stay: an INFO message names each. */
static gboolean
change_filter(gpointer user_data)
{
  App *app = user_data;

  gst_util_set_object_arg(G_OBJECT(app->filter), "filter", "gaussian");
  gst_util_set_object_arg(G_OBJECT(app->filter), "roi-source", "none");
  g_print("after one second: gaussian with a growing sigma\n");
  return G_SOURCE_REMOVE;
}

static gboolean
on_message(GstBus *bus, GstMessage *message, gpointer user_data)
{
  App *app = user_data;
  g_autoptr(GError) error = NULL;

  switch (GST_MESSAGE_TYPE(message)) {
  case GST_MESSAGE_ERROR:
    gst_message_parse_error(message, &error, NULL);
    g_printerr("error from %s: %s\n", GST_MESSAGE_SRC_NAME(message), error->message);
    app->failed = TRUE;
    g_main_loop_quit(app->loop);
    break;
  case GST_MESSAGE_WARNING: /* for example for a value that is not valid; the previous filter stays */
    gst_message_parse_warning(message, &error, NULL);
    g_printerr("warning from %s: %s\n", GST_MESSAGE_SRC_NAME(message), error->message);
    break;
  case GST_MESSAGE_INFO: /* for example why it runs on the CPU, or which settings have no effect */
    gst_message_parse_info(message, &error, NULL);
    g_print("info from %s: %s\n", GST_MESSAGE_SRC_NAME(message), error->message);
    break;
  case GST_MESSAGE_EOS:
    g_main_loop_quit(app->loop);
    break;
  default:
    break;
  }
  return G_SOURCE_CONTINUE;
}

static gboolean
print_field(GQuark field, const GValue *value, gpointer user_data)
{
  g_autofree char *text = g_strdup_value_contents(value);

  g_print("  %s: %s\n", g_quark_to_string(field), text);
  return TRUE;
}

static void
print_stats(App *app)
{
  g_autoptr(GstStructure) stats = NULL;

  g_object_get(app->filter, "stats", &stats, NULL);
  if (stats)
    gst_structure_foreach(stats, print_field, NULL);
}

static void
play(App *app)
{
  g_autoptr(GstBus) bus = gst_element_get_bus(app->pipeline);

  app->loop = g_main_loop_new(NULL, FALSE);
  gst_bus_add_watch(bus, on_message, app);
  g_timeout_add_seconds(1, change_filter, app);
  gst_element_set_state(app->pipeline, GST_STATE_PLAYING); /* if that fails, there is an error on the bus */
  g_main_loop_run(app->loop);
  gst_element_set_state(app->pipeline, GST_STATE_NULL);
  gst_bus_remove_watch(bus);
  g_main_loop_unref(app->loop);
}

int
main(int argc, char **argv)
{
  App app = {0};

  gst_init(&argc, &argv);
  app.failed = !build(&app, argc > 1 ? argv[1] : NULL);
  if (!app.failed) {
    choose_filter(&app);
    animate_sigma(&app);
    play(&app);
    print_stats(&app); /* they can be read until the next start */
  }
  gst_object_unref(app.pipeline);
  return app.failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
