/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "bench/pipeline_bench.h"

#include <gst/video/video.h>
#include <sys/resource.h>

#include "support/ring_source.h"

gboolean
pipeline_feed_init(Feed *feed, const PipelineCase *c, GError **error)
{
  *feed = (Feed){.caps = feed_caps(c->format, c->width, c->height)};
  switch (c->path->feed) {
  case FEED_PLAIN:
    feed_set_plain(feed);
    return TRUE;
  case FEED_UPLOADED:
    feed_set_plain(feed);
    return feed_upload(feed, -1, error);
  case FEED_ENCODED:
    return feed_encode(feed, "x264enc speed-preset=ultrafast bframes=0", error);
  default:
    return TRUE;
  }
}

/* ---- measuring ---- */

typedef struct {
  gint64 clock, cpu; /* microseconds */
} Stamp;

/* Written by the thread that delivers frames to the sink, read after the stream has ended. */
typedef struct {
  const PipelineEffort *effort;
  GstElement *source, *sink;
  guint64 received, first; /* first: received when the clock starts */
  gint64 arrival;          /* of the first frame */
  Stamp start, stop;
} Meter;

static gint64
microseconds(struct timeval time)
{
  return time.tv_sec * G_USEC_PER_SEC + time.tv_usec;
}

/* Returns the time when the GPU is done with the frame, and so with all before it: mapping waits for pending work. */
static Stamp
stamp(GstBuffer *buffer)
{
  struct rusage usage;
  GstMapInfo map;

  if (gst_buffer_map(buffer, &map, GST_MAP_READ))
    gst_buffer_unmap(buffer, &map);
  getrusage(RUSAGE_SELF, &usage);
  return (Stamp){g_get_monotonic_time(), microseconds(usage.ru_utime) + microseconds(usage.ru_stime)};
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
  meter->start = stamp(buffer);
}

static void
finish(Meter *meter)
{
  GstSample *last = NULL;

  g_object_get(meter->sink, "last-sample", &last, NULL);
  if (last) {
    meter->stop = stamp(gst_sample_get_buffer(last));
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
  right = feed_await_end(pipeline, error) && read_meter(&meter, time, error);
  gst_element_set_state(pipeline, GST_STATE_NULL);
  gst_object_unref(pad);
  gst_object_unref(meter.source);
  gst_object_unref(meter.sink);
  return right;
}

gboolean
pipeline_measure(const PipelineCase *c, const Feed *feed, const char *filter, const PipelineEffort *effort,
                 PipelineTime *time, GstStructure **stats, GError **error)
{
  char *text = g_strdup_printf("ringsource name=source ! %s%sfakesink name=sink", c->path->before, filter);
  GstElement *pipeline = feed_parse(feed, text, error), *element;
  gboolean right = pipeline && run(pipeline, effort, time, error);

  if (right && stats) {
    element = gst_bin_get_by_name(GST_BIN(pipeline), "filter");
    g_object_get(element, "stats", stats, NULL); /* valid until the next start */
    gst_object_unref(element);
  }
  if (!right)
    g_prefix_error(error, "%s: ", text);
  gst_clear_object(&pipeline);
  g_free(text);
  return right;
}
