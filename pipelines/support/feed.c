/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "support/feed.h"

#include <gst/app/app.h>
#include <gst/video/video.h>

#include "support/ring_source.h"

#define CONTEXT "gst.cuda.context" /* GST_CUDA_CONTEXT_TYPE; a build without CUDA lacks its header */
#define GROUP 60                   /* encoded frames in a group that begins with a key frame */
#define PATIENCE (60 * GST_SECOND)

/* ---- pipelines ---- */

void
feed_set_source(const Feed *feed, GstElement *source)
{
  ring_source_set(source, feed->caps, feed->ring);
}

void
feed_set_context(const Feed *feed, GstElement *pipeline)
{
  if (feed->context)
    gst_element_set_context(pipeline, feed->context);
}

GstElement *
feed_parse(const Feed *feed, const char *description, GError **error)
{
  GstElement *pipeline = gst_parse_launch(description, error), *source;

  if (*error) {
    gst_clear_object(&pipeline);
    return NULL;
  }
  feed_set_context(feed, pipeline);
  source = gst_bin_get_by_name(GST_BIN(pipeline), "source");
  if (source) {
    feed_set_source(feed, source);
    gst_object_unref(source);
  }
  return pipeline;
}

gboolean
feed_await_end(GstElement *pipeline, GError **error)
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

/* ---- frames to send ---- */

GstCaps *
feed_caps(const char *format, int width, int height)
{
  return gst_caps_new_simple("video/x-raw", "format", G_TYPE_STRING, format, "width", G_TYPE_INT, width, "height",
                             G_TYPE_INT, height, "framerate", GST_TYPE_FRACTION, 30, 1, NULL);
}

void
feed_set_plain(Feed *feed)
{
  GstVideoInfo info;

  if (!gst_video_info_from_caps(&info, feed->caps))
    g_error("these caps are no video");
  feed->ring = ring_new(info.size);
}

/* Fills caps, ring and context with the output of the appsink of a pipeline, up to its end. */
static gboolean
collect(Feed *feed, GstElement *pipeline, GError **error)
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
  right = feed_await_end(pipeline, error);
  feed->context = gst_element_get_context(pipeline, CONTEXT);
  gst_element_set_state(pipeline, GST_STATE_NULL);
  g_clear_pointer(&feed->ring, g_ptr_array_unref);
  feed->ring = ring;
  gst_object_unref(sink);
  return right;
}

/* The element passes frames on unchanged, in memory of the pool that it proposes, with a stream if there is one. */
gboolean
feed_upload(Feed *feed, int gpu, GError **error)
{
  char *text = g_strdup_printf("ringsource name=source ! cudaupload cuda-device-id=%d ! video/x-raw(memory:CUDAMemory) "
                               "! cudaconvolve filter=identity cuda-device-id=%d ! video/x-raw(memory:CUDAMemory) "
                               "! appsink name=sink sync=false",
                               gpu, gpu);
  GstElement *pipeline = feed_parse(feed, text, error), *source;
  gboolean right = FALSE;

  if (pipeline) {
    source = gst_bin_get_by_name(GST_BIN(pipeline), "source");
    ring_source_stop_after(source, RING_SIZE, 0);
    gst_object_unref(source);
    right = collect(feed, pipeline, error);
    gst_object_unref(pipeline);
  }
  g_free(text);
  return right;
}

/* Makes a closed group of frames with all headers, so that it can be repeated. */
gboolean
feed_encode(Feed *feed, const char *encoder, GError **error)
{
  char *caps = gst_caps_to_string(feed->caps);
  char *text = g_strdup_printf("videotestsrc num-buffers=%d horizontal-speed=8 ! %s "
                               "! %s key-int-max=%d ! h264parse config-interval=-1 "
                               "! video/x-h264,stream-format=byte-stream,alignment=au ! appsink name=sink sync=false",
                               GROUP, caps, encoder, GROUP);
  GstElement *pipeline = feed_parse(feed, text, error);
  gboolean right = pipeline && collect(feed, pipeline, error);

  gst_clear_object(&pipeline);
  g_free(text);
  g_free(caps);
  return right;
}

void
feed_clear(Feed *feed)
{
  gst_clear_caps(&feed->caps);
  g_clear_pointer(&feed->ring, g_ptr_array_unref);
  g_clear_pointer(&feed->context, gst_context_unref);
}
