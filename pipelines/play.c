/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Shows progress each second, readable messages, and at the end which device ran the filter.
 */
#include <glib-unix.h>
#include <signal.h>
#include <string.h>

#include "play.h"
#include "stall.h"

#define STOP_US (2 * G_USEC_PER_SEC) /* time to stop after a failure: a blocked source never stops */

static int patience = 10;
static gboolean verbose;
static gboolean was_interrupted;

const GOptionEntry play_options[] = {
    {"patience", 0, 0, G_OPTION_ARG_INT, &patience,
     "give up on a file after this many seconds without progress; 0: never", "SECONDS"},
    {"verbose", 0, 0, G_OPTION_ARG_NONE, &verbose, "print all statistics", NULL},
    {NULL, 0, 0, G_OPTION_ARG_NONE, NULL, NULL, NULL},
};

gboolean
play_is_verbose(void)
{
  return verbose;
}

gboolean
play_was_interrupted(void)
{
  return was_interrupted;
}

typedef struct {
  GstElement *pipeline;
  GMainLoop *loop;
  GThread *starter;   /* sets the state to PLAYING, because a source may block in that */
  GAsyncQueue *done;  /* gets an entry when the pipeline has stopped */
  gint started, live; /* atomic */
  gboolean failed, stopping;
  gint frames;        /* atomic: frames that left the first cudaconvolve */
  gint64 first, last; /* monotonic times of the first and the last frame; read after the end of the stream */
  gint shown;         /* frames at the last line of progress */
  gint messages;      /* number of messages on the bus */
  guint64 signs;      /* value at the last line of progress, see is_stalled() */
  int quiet_s;        /* seconds since `signs` changed */
} Run;

static GstPadProbeReturn
count_frame(GstPad *pad, GstPadProbeInfo *info, gpointer user_data)
{
  Run *run = user_data;

  run->last = g_get_monotonic_time();
  if (g_atomic_int_add(&run->frames, 1) == 0)
    run->first = run->last;
  return GST_PAD_PROBE_OK;
}

/* Called each second, so the time in which this process was stopped does not count. There are messages for each new
 * element and pad, and the position advances while a sink waits for the time of a frame. */
static gboolean
is_stalled(Run *run, gint64 position)
{
  guint64 signs = stall_work() + g_atomic_int_get(&run->frames) + run->messages + position;

  run->quiet_s = signs == run->signs ? run->quiet_s + 1 : 0;
  run->signs = signs;
  return patience > 0 && run->quiet_s >= patience;
}

/* Ends the run if its file is stalled. */
static void
give_up(Run *run)
{
  g_autofree char *file = stall_file(run->pipeline);

  if (!file)
    return;
  g_print("error: no data, stream or frame came from '%s' for %d s; it may be truncated or damaged (PATIENCE=%d waits "
          "longer)\n",
          file, run->quiet_s, 6 * patience);
  run->failed = TRUE;
  g_main_loop_quit(run->loop);
}

static gboolean
show_progress(gpointer user_data)
{
  Run *run = user_data;
  gint frames = g_atomic_int_get(&run->frames);
  gint64 position = 0, duration = 0;

  g_print("%8d frames, %4d frames/s", frames, frames - run->shown);
  if (gst_element_query_position(run->pipeline, GST_FORMAT_TIME, &position)) {
    g_print(", at %.1f s", position / (double)GST_SECOND);
    if (gst_element_query_duration(run->pipeline, GST_FORMAT_TIME, &duration) && duration > 0)
      g_print(" of %.1f s", duration / (double)GST_SECOND);
  }
  g_print("\n");
  run->shown = frames;
  if (is_stalled(run, position))
    give_up(run);
  return G_SOURCE_CONTINUE;
}

/* Ends with a failure at once, so that no unfinished file is left. */
static gboolean
terminated(gpointer user_data)
{
  Run *run = user_data;

  run->failed = run->stopping = TRUE;
  g_main_loop_quit(run->loop);
  return G_SOURCE_CONTINUE;
}

static void
end_source(GstElement *source, gpointer user_data)
{
  gst_element_send_event(source, gst_event_new_eos());
}

static void
call_end_source(const GValue *item, gpointer user_data)
{
  gst_element_call_async(g_value_get_object(item), end_source, NULL, NULL);
}

void
play_end_stream(GstElement *pipeline)
{
  g_autoptr(GstIterator) sources = gst_bin_iterate_sources(GST_BIN(pipeline));

  while (gst_iterator_foreach(sources, call_end_source, NULL) == GST_ITERATOR_RESYNC)
    gst_iterator_resync(sources);
}

/* Ctrl-C ends the stream, so that the file is completed. A second Ctrl-C ends at once. So does one before the start,
 * which could not wait for the end of the stream. Frames of a live source can come before its start returns. */
static gboolean
interrupted(gpointer user_data)
{
  Run *run = user_data;

  if (run->stopping || !(g_atomic_int_get(&run->started) || g_atomic_int_get(&run->frames)))
    return terminated(run);
  run->stopping = was_interrupted = TRUE;
  play_end_stream(run->pipeline);
  return G_SOURCE_CONTINUE;
}

/* Prints a message. The first line of the details is a place in the source of GStreamer, which is not printed. */
static void
show_message(GstMessage *message)
{
  g_autoptr(GError) error = NULL;
  g_autofree char *details = NULL;
  const char *kind = gst_message_type_get_name(GST_MESSAGE_TYPE(message)), *more;

  if (GST_MESSAGE_TYPE(message) == GST_MESSAGE_ERROR)
    gst_message_parse_error(message, &error, &details);
  else if (GST_MESSAGE_TYPE(message) == GST_MESSAGE_WARNING)
    gst_message_parse_warning(message, &error, &details);
  else
    gst_message_parse_info(message, &error, &details);
  more = details ? strchr(details, '\n') : NULL;
  if (!more || strcmp(more + 1, error->message) == 0)
    more = "";
  g_print("%s from %s: %s%s\n", kind, GST_MESSAGE_SRC_NAME(message), error->message, more);
  if (g_error_matches(error, GST_CORE_ERROR, GST_CORE_ERROR_MISSING_PLUGIN))
    g_print("the packages gstreamer1.0-plugins-bad and gstreamer1.0-libav have more decoders\n");
}

/* Pauses while the buffer of a network source fills. */
static void
follow_buffering(Run *run, GstMessage *message)
{
  gint percent = 100;

  gst_message_parse_buffering(message, &percent);
  if (!g_atomic_int_get(&run->live))
    gst_element_set_state(run->pipeline, percent < 100 ? GST_STATE_PAUSED : GST_STATE_PLAYING);
}

static gboolean
on_message(GstBus *bus, GstMessage *message, gpointer user_data)
{
  Run *run = user_data;

  run->messages++;
  switch (GST_MESSAGE_TYPE(message)) {
  case GST_MESSAGE_ERROR:
    run->failed = TRUE;
    show_message(message);
    g_main_loop_quit(run->loop);
    break;
  case GST_MESSAGE_WARNING:
  case GST_MESSAGE_INFO:
    show_message(message);
    break;
  case GST_MESSAGE_EOS:
    g_main_loop_quit(run->loop);
    break;
  case GST_MESSAGE_BUFFERING:
    follow_buffering(run, message);
    break;
  case GST_MESSAGE_LATENCY:
    gst_bin_recalculate_latency(GST_BIN(run->pipeline));
    break;
  default:
    break;
  }
  return G_SOURCE_CONTINUE;
}

/* Prints a field of the statistics: backend, device and algorithm, or with --verbose all of them. */
static gboolean
show_field(GQuark field, const GValue *value, gpointer user_data)
{
  static const char *const usual[] = {"backend", "device", "algorithm", NULL};
  g_autofree char *text = NULL;

  if (!verbose && !g_strv_contains(usual, g_quark_to_string(field)))
    return TRUE;
  if (G_VALUE_HOLDS_STRING(value))
    text = g_value_dup_string(value);
  else if (G_VALUE_HOLDS_DOUBLE(value))
    text = g_strdup_printf("%.1f", g_value_get_double(value));
  else
    text = gst_value_serialize(value);
  g_print("    %-20s %s\n", g_quark_to_string(field), text ? text : "-");
  return TRUE;
}

static void
show_stats(const GValue *item, gpointer user_data)
{
  GstElement *element = g_value_get_object(item);
  g_autoptr(GstStructure) stats = NULL;

  g_object_get(element, "stats", &stats, NULL);
  g_print("%s:\n", GST_ELEMENT_NAME(element));
  if (stats)
    gst_structure_foreach(stats, show_field, NULL);
}

static void
count_frames_of(Run *run, GstElement *element)
{
  g_autoptr(GstPad) pad = gst_element_get_static_pad(element, "src");

  gst_pad_add_probe(pad, GST_PAD_PROBE_TYPE_BUFFER, count_frame, run, NULL);
}

static void
show_result(Run *run)
{
  g_autoptr(GstIterator) all = gst_bin_iterate_all_by_element_factory_name(GST_BIN(run->pipeline), "cudaconvolve");
  double seconds = (run->last - run->first) / (double)G_USEC_PER_SEC;

  if (run->frames == 0) {
    if (!run->failed)
      g_print("no video frame came out of the filter\n");
    return;
  }
  g_print("%d frame%s in %.1f s", run->frames, run->frames == 1 ? "" : "s", seconds);
  if (run->frames > 1 && seconds > 0)
    g_print(": %.1f frames/s", (run->frames - 1) / seconds);
  g_print("\n");
  gst_iterator_foreach(all, show_stats, NULL);
}

GstElement *
play_parse(const char **arguments)
{
  g_autoptr(GError) error = NULL;
  g_autoptr(GstElement) pipeline = gst_parse_launchv(arguments, &error);

  if (error) {
    g_printerr("the pipeline cannot be built: %s\n", error->message);
    return NULL;
  }
  return g_steal_pointer(&pipeline);
}

GstElement *
play_parse_source(const char *elements)
{
  g_autofree char *text = g_strconcat(elements, " ! queue name=last-of-source", NULL);
  g_autoptr(GError) error = NULL;
  GstElement *bin = gst_parse_bin_from_description(text, FALSE, &error);
  g_autoptr(GstElement) last = NULL;
  g_autoptr(GstPad) pad = NULL;

  if (!bin) {
    g_printerr("the test picture or camera cannot be used: %s\n", error->message);
    return NULL;
  }
  last = gst_bin_get_by_name(GST_BIN(bin), "last-of-source");
  pad = gst_element_get_static_pad(last, "src");
  gst_element_add_pad(bin, gst_ghost_pad_new("src", pad));
  /* The bin waits for its own decoder. Otherwise the pipeline would wait too, and GStreamer 1.22 does not tell it about
   * the end of that wait if the source is live and the decoder is ready while the filter starts. The file's sink then
   * blocks at its first buffer. */
  g_object_set(bin, "async-handling", TRUE, NULL);
  return bin;
}

GstElement *
play_filter(GstElement *pipeline)
{
  g_autoptr(GstIterator) all = NULL;
  g_auto(GValue) first = G_VALUE_INIT;

  if (!GST_IS_BIN(pipeline))
    return NULL;
  all = gst_bin_iterate_all_by_element_factory_name(GST_BIN(pipeline), "cudaconvolve");
  return gst_iterator_next(all, &first) == GST_ITERATOR_OK ? g_value_dup_object(&first) : NULL;
}

/* If this fails, there is an error on the bus, which ends the loop. */
static gpointer
start(gpointer user_data)
{
  Run *run = user_data;
  GstStateChangeReturn change = gst_element_set_state(run->pipeline, GST_STATE_PLAYING);

  g_atomic_int_set(&run->live, change == GST_STATE_CHANGE_NO_PREROLL);
  g_atomic_int_set(&run->started, TRUE);
  return NULL;
}

static gpointer
stop(gpointer user_data)
{
  Run *run = user_data;

  g_thread_join(run->starter);
  gst_element_set_state(run->pipeline, GST_STATE_NULL);
  g_async_queue_push(run->done, run);
  return NULL;
}

/* Returns the exit status. A pipeline that is blocked forever is not freed. */
static int
finish(Run *run)
{
  g_autoptr(GThread) stopper = g_thread_new("stop", stop, run);
  gboolean stopped =
      (run->failed ? g_async_queue_timeout_pop(run->done, STOP_US) : g_async_queue_pop(run->done)) != NULL;
  int status = run->failed || run->frames == 0;

  show_result(run); /* the statistics can be read until the next start */
  g_main_loop_unref(run->loop);
  if (stopped) {
    g_thread_join(g_steal_pointer(&stopper));
    g_async_queue_unref(run->done);
    g_free(run);
  } else {
    gst_object_ref(run->pipeline);
  }
  return status;
}

/* Returns TRUE if nohup or a similar program made this process ignore the signal. */
static gboolean
is_ignored(int number)
{
  struct sigaction action;

  return sigaction(number, NULL, &action) == 0 && action.sa_handler == SIG_IGN;
}

int
play(GstElement *pipeline)
{
  Run *run = g_new0(Run, 1);
  g_autoptr(GstBus) bus = gst_element_get_bus(pipeline);
  g_autoptr(GstElement) filter = play_filter(pipeline);

  run->pipeline = pipeline;
  run->loop = g_main_loop_new(NULL, FALSE);
  run->done = g_async_queue_new();
  count_frames_of(run, filter);
  gst_bus_add_watch(bus, on_message, run);
  g_unix_signal_add(SIGINT, interrupted, run);
  g_unix_signal_add(SIGTERM, terminated, run);
  if (!is_ignored(SIGHUP))
    g_unix_signal_add(SIGHUP, terminated, run);
  g_timeout_add_seconds(1, show_progress, run);
  run->starter = g_thread_new("start", start, run);
  g_main_loop_run(run->loop);
  gst_bus_remove_watch(bus);
  return finish(run);
}
