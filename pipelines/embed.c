/* You should see a blurred rectangle, after a second all of the picture blurred more and more, and then the statistics.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * cudaconvolve inside a program of your own:  embed [FILE|URI]  plays that, or a moving test picture of 3 seconds.
 * Where there is no display nothing is shown, all else is the same. Exit status: 0 at the end of the stream, 1 on an
 * error. The plugin is found by GST_PLUGIN_PATH, or where it is installed. embed.py does the same.
 */
#include <gst/controller/controller.h>
#include <gst/gst.h>
#include <stdlib.h>

typedef struct {
  GstElement *pipeline, *filter;
  GMainLoop *loop;
  gboolean failed;
} App;

/* NULL, with what to do about it, where no plugin has that element. */
static GstElement *
make(App *app, const char *factory)
{
  GstElement *element = gst_element_factory_make(factory, NULL);

  if (element)
    gst_bin_add(GST_BIN(app->pipeline), element); /* which owns it from here on */
  else
    g_printerr("there is no element %s: install its plugin, or set GST_PLUGIN_PATH\n", factory);
  return element;
}

/* A file's streams are known only when it has been looked at. The link fails for sound, which stays unplayed. */
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
    g_object_set(source, "num-buffers", 90, "horizontal-speed", 2, NULL); /* 30 a second, unless caps say otherwise */
    return gst_element_link(source, app->filter);
  }
  uri = gst_uri_is_valid(input) ? g_strdup(input) : gst_filename_to_uri(input, NULL);
  g_object_set(source, "uri", uri, NULL);
  g_signal_connect(source, "pad-added", G_CALLBACK(on_pad_added), app);
  return TRUE;
}

/* source ! cudaconvolve ! videoconvert ! sink. Straight behind a decoder, frames may stay in GPU memory up to here. */
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
  g_object_set(sink, "sync", TRUE, NULL); /* at the speed of the video, which fakesink does not keep by itself */
  return add_source(app, input) && gst_element_link_many(app->filter, convert, sink, NULL);
}

/* Sigma grows from 1 to 8 in the first 3 seconds of the stream and stays there. The element asks for the value at each
 * frame's time, so it is exact to the frame. The controlled object holds the binding, the binding the curve. */
static void
animate_sigma(App *app)
{
  GstControlSource *curve = gst_interpolation_control_source_new();
  GstTimedValueControlSource *points = GST_TIMED_VALUE_CONTROL_SOURCE(curve);

  g_object_set(curve, "mode", GST_INTERPOLATION_MODE_LINEAR, NULL);
  gst_timed_value_control_source_set(points, 0, 1.0);
  gst_timed_value_control_source_set(points, 3 * GST_SECOND, 8.0);
  /* "absolute": the points are sigmas, and not parts of the property's range. */
  gst_object_add_control_binding(GST_OBJECT(app->filter),
                                 gst_direct_control_binding_new_absolute(GST_OBJECT(app->filter), "sigma", curve));
  gst_object_unref(curve);
}

/* Enums by their names and arrays as in a pipeline are easiest set by text. The radius stays at its default, -1: it
 * follows sigma, for a box as for a gaussian. */
static void
choose_filter(App *app)
{
  gst_util_set_object_arg(G_OBJECT(app->filter), "filter", "box");
  g_object_set(app->filter, "roi-feather", 8.0, NULL);
  gst_util_set_object_arg(G_OBJECT(app->filter), "roi-source", "property");
  gst_util_set_object_arg(G_OBJECT(app->filter), "roi", "<<80,60,160,120>>"); /* x, y, width, height of each */
}

/* Properties may be set from any thread while frames flow. Settings that then have no effect, as roi here, may stay: an
 * INFO message names each. */
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
  case GST_MESSAGE_WARNING: /* as for a property that cannot be; the filter before it stays */
    gst_message_parse_warning(message, &error, NULL);
    g_printerr("warning from %s: %s\n", GST_MESSAGE_SRC_NAME(message), error->message);
    break;
  case GST_MESSAGE_INFO: /* why it runs on the CPU, where it does, and settings without effect */
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
  gst_element_set_state(app->pipeline, GST_STATE_PLAYING); /* where that fails, an error is on the bus */
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
    print_stats(&app); /* they stay until the next start */
  }
  gst_object_unref(app.pipeline);
  return app.failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
