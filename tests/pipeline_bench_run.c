/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "pipeline_bench.h"

#include <gst/app/app.h>
#include <gst/video/video.h>
#include <sys/resource.h>

#include "ring_source.h"

#define CONTEXT "gst.cuda.context" /* GST_CUDA_CONTEXT_TYPE, whose header a build without CUDA lacks */
#define GROUP 60                   /* encoded frames, from one that refers to no other */
#define PATIENCE (60 * GST_SECOND)

/* ---- pipelines ---- */

static GstElement *
parse(const char *description, const PipelineFeed *feed, GError **error)
{
  GstElement *pipeline = gst_parse_launch(description, error), *source;

  if (*error) {
    gst_clear_object(&pipeline);
    return NULL;
  }
  if (feed->context)
    gst_element_set_context(pipeline, feed->context);
  source = gst_bin_get_by_name(GST_BIN(pipeline), "source");
  if (source) {
    ring_source_set(source, feed->caps, feed->ring);
    gst_object_unref(source);
  }
  return pipeline;
}

/* FALSE with the reason where there was another end than that of the stream. */
static gboolean
await_end(GstElement *pipeline, GError **error)
{
  GstBus *bus = gst_element_get_bus(pipeline);
  GstMessage *message = gst_bus_timed_pop_filtered(bus, PATIENCE, GST_MESSAGE_EOS | GST_MESSAGE_ERROR);
  gboolean right = message && GST_MESSAGE_TYPE(message) == GST_MESSAGE_EOS;

  if (!message)
    g_set_error(error, GST_STREAM_ERROR, GST_STREAM_ERROR_FAILED, "no end of the stream after %d s",
                (int)(PATIENCE / GST_SECOND));
  else if (!right) {
    gst_message_parse_error(message, error, NULL);
    g_prefix_error(error, "%s: ", GST_MESSAGE_SRC_NAME(message));
  }
  g_clear_pointer(&message, gst_message_unref);
  gst_object_unref(bus);
  return right;
}

/* ---- what is sent ---- */

static GstCaps *
raw_caps(const PipelineCase *c)
{
  return gst_caps_new_simple("video/x-raw", "format", G_TYPE_STRING, c->format, "width", G_TYPE_INT, c->width, "height",
                             G_TYPE_INT, c->height, "framerate", GST_TYPE_FRACTION, 30, 1, NULL);
}

/* Fills caps, ring and context with what comes out of the appsink of a pipeline, to its end. */
static gboolean
collect(PipelineFeed *feed, GstElement *pipeline, GError **error)
{
  GstElement *sink = gst_bin_get_by_name(GST_BIN(pipeline), "sink");
  GPtrArray *ring = g_ptr_array_new_with_free_func((GDestroyNotify)gst_buffer_unref);
  GstSample *sample;
  gboolean right;

  gst_element_set_state(pipeline, GST_STATE_PLAYING);
  while ((sample = gst_app_sink_try_pull_sample(GST_APP_SINK(sink), PATIENCE))) {
    gst_caps_replace(&feed->caps, gst_sample_get_caps(sample));
    g_ptr_array_add(ring, gst_buffer_ref(gst_sample_get_buffer(sample)));
    gst_sample_unref(sample);
  }
  right = await_end(pipeline, error);
  feed->context = gst_element_get_context(pipeline, CONTEXT);
  gst_element_set_state(pipeline, GST_STATE_NULL);
  g_clear_pointer(&feed->ring, g_ptr_array_unref);
  feed->ring = ring;
  gst_object_unref(sink);
  return right;
}

/* The ring is in system memory before, and in CUDA memory after. */
static gboolean
upload(PipelineFeed *feed, GError **error)
{
  GstElement *pipeline = parse("ringsource name=source ! cudaupload ! video/x-raw(memory:CUDAMemory) "
                               "! appsink name=sink sync=false",
                               feed, error),
             *source;
  gboolean right;

  if (!pipeline)
    return FALSE;
  source = gst_bin_get_by_name(GST_BIN(pipeline), "source");
  ring_source_stop_after(source, RING_SIZE, 0);
  gst_object_unref(source);
  right = collect(feed, pipeline, error);
  gst_object_unref(pipeline);
  return right;
}

/* A closed group of frames with all headers, so that it can follow on itself. */
static gboolean
encode(PipelineFeed *feed, GError **error)
{
  char *caps = gst_caps_to_string(feed->caps);
  char *text =
      g_strdup_printf("videotestsrc num-buffers=%d horizontal-speed=8 ! %s "
                      "! x264enc speed-preset=ultrafast bframes=0 key-int-max=%d ! h264parse config-interval=-1 "
                      "! video/x-h264,stream-format=byte-stream,alignment=au ! appsink name=sink sync=false",
                      GROUP, caps, GROUP);
  GstElement *pipeline = parse(text, feed, error);
  gboolean right = pipeline && collect(feed, pipeline, error);

  gst_clear_object(&pipeline);
  g_free(text);
  g_free(caps);
  return right;
}

gboolean
pipeline_feed_init(PipelineFeed *feed, const PipelineCase *c, GError **error)
{
  GstVideoInfo info;

  *feed = (PipelineFeed){.caps = raw_caps(c)};
  if (!gst_video_info_from_caps(&info, feed->caps))
    g_error("%s is no format", c->format);
  if (c->path->feed == FEED_PLAIN || c->path->feed == FEED_UPLOADED)
    feed->ring = ring_new(info.size);
  if (c->path->feed == FEED_UPLOADED)
    return upload(feed, error);
  return c->path->feed != FEED_ENCODED || encode(feed, error);
}

void
pipeline_feed_clear(PipelineFeed *feed)
{
  gst_clear_caps(&feed->caps);
  g_clear_pointer(&feed->ring, g_ptr_array_unref);
  g_clear_pointer(&feed->context, gst_context_unref);
}

/* ---- measuring ---- */

typedef struct {
  gint64 clock, cpu; /* microseconds */
} Moment;

/* Written by the thread that brings the sink its frames, read when the stream has ended. */
typedef struct {
  const PipelineEffort *effort;
  GstElement *source, *sink;
  guint64 received, first; /* the latter: received when the clock starts */
  gint64 arrival;          /* of the first frame */
  Moment start, stop;
} Meter;

static gint64
microseconds(struct timeval time)
{
  return time.tv_sec * G_USEC_PER_SEC + time.tv_usec;
}

/* When the GPU is done with that frame, and so with all before it: mapping waits for what is pending. */
static Moment
moment(GstBuffer *buffer)
{
  struct rusage usage;
  GstMapInfo map;

  if (gst_buffer_map(buffer, &map, GST_MAP_READ))
    gst_buffer_unmap(buffer, &map);
  getrusage(RUSAGE_SELF, &usage);
  return (Moment){g_get_monotonic_time(), microseconds(usage.ru_utime) + microseconds(usage.ru_stime)};
}

static void
count(Meter *meter, GstBuffer *buffer)
{
  const PipelineEffort *effort = meter->effort;

  if (meter->received++ == 0)
    meter->arrival = g_get_monotonic_time();
  if (meter->first > 0 || meter->received < effort->warm_frames ||
      g_get_monotonic_time() - meter->arrival < effort->warm_us)
    return;
  meter->first = meter->received;
  ring_source_stop_after(meter->source, effort->frames, effort->frames > 0 ? 0 : effort->budget_us);
  meter->start = moment(buffer);
}

static void
finish(Meter *meter)
{
  GstSample *last = NULL;

  g_object_get(meter->sink, "last-sample", &last, NULL);
  if (last) {
    meter->stop = moment(gst_sample_get_buffer(last));
    gst_sample_unref(last);
  }
}

static GstPadProbeReturn
on_data(GstPad *pad, GstPadProbeInfo *info, gpointer user_data)
{
  if (GST_PAD_PROBE_INFO_TYPE(info) & GST_PAD_PROBE_TYPE_BUFFER)
    count(user_data, GST_PAD_PROBE_INFO_BUFFER(info));
  else if (GST_EVENT_TYPE(GST_PAD_PROBE_INFO_EVENT(info)) == GST_EVENT_EOS)
    finish(user_data);
  return GST_PAD_PROBE_OK;
}

static gboolean
read_meter(const Meter *meter, PipelineTime *time, GError **error)
{
  const guint64 sent = ring_source_sent(meter->source);
  const double seconds = (meter->stop.clock - meter->start.clock) / 1e6;

  if (meter->received != sent || meter->first == 0 || meter->received == meter->first) {
    g_set_error(error, GST_STREAM_ERROR, GST_STREAM_ERROR_FAILED,
                "%" G_GUINT64_FORMAT " frames were sent and %" G_GUINT64_FORMAT " came out, %" G_GUINT64_FORMAT
                " of them in the warm-up",
                sent, meter->received, meter->first);
    return FALSE;
  }
  time->frames = meter->received - meter->first;
  time->per_s = time->frames / seconds;
  time->cpu_us = (meter->stop.cpu - meter->start.cpu) / (double)time->frames;
  return TRUE;
}

static gboolean
run(GstElement *pipeline, const PipelineEffort *effort, PipelineTime *time, GError **error)
{
  Meter meter = {.effort = effort,
                 .source = gst_bin_get_by_name(GST_BIN(pipeline), "source"),
                 .sink = gst_bin_get_by_name(GST_BIN(pipeline), "sink")};
  GstPad *pad = gst_element_get_static_pad(meter.sink, "sink");
  gboolean right;

  gst_pad_add_probe(pad, GST_PAD_PROBE_TYPE_BUFFER | GST_PAD_PROBE_TYPE_EVENT_DOWNSTREAM, on_data, &meter, NULL);
  gst_element_set_state(pipeline, GST_STATE_PLAYING);
  right = await_end(pipeline, error) && read_meter(&meter, time, error);
  gst_element_set_state(pipeline, GST_STATE_NULL);
  gst_object_unref(pad);
  gst_object_unref(meter.source);
  gst_object_unref(meter.sink);
  return right;
}

gboolean
pipeline_measure(const PipelineCase *c, const PipelineFeed *feed, const char *filter, const PipelineEffort *effort,
                 PipelineTime *time, GstStructure **stats, GError **error)
{
  char *text = g_strdup_printf("ringsource name=source ! %s%sfakesink name=sink", c->path->before, filter);
  GstElement *pipeline = parse(text, feed, error), *element;
  gboolean right = pipeline && run(pipeline, effort, time, error);

  if (right && stats) {
    element = gst_bin_get_by_name(GST_BIN(pipeline), "filter");
    g_object_get(element, "stats", stats, NULL); /* they stay until the next start */
    gst_object_unref(element);
  }
  if (!right)
    g_prefix_error(error, "%s: ", text);
  gst_clear_object(&pipeline);
  g_free(text);
  return right;
}
