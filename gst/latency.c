/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "latency.h"

void
gst_cuda_convolve_latency_set_rate(GstCudaConvolveLatency *self, const GstVideoInfo *info)
{
  const int n = GST_VIDEO_INFO_FPS_N(info), d = GST_VIDEO_INFO_FPS_D(info);

  self->frame_time = n > 0 ? gst_util_uint64_scale_int(GST_SECOND, d, n) : 0;
}

void
gst_cuda_convolve_latency_learn(GstCudaConvolveLatency *self, const GstVideoInfo *info, GstBuffer *buffer)
{
  GstClockTime duration = GST_BUFFER_DURATION(buffer);

  if (GST_VIDEO_INFO_FPS_N(info) <= 0 && GST_CLOCK_TIME_IS_VALID(duration))
    self->frame_time = MAX(self->frame_time, duration);
}

/* Caps can tell of a frame in 68 years, and buffers of any time. */
static GstClockTime
time_of_frames(guint n, GstClockTime frame_time)
{
  return n > 0 && frame_time > G_MAXINT64 / n ? G_MAXINT64 : n * frame_time;
}

void
gst_cuda_convolve_latency_update(GstCudaConvolveLatency *self, GstElement *element, guint n_frames)
{
  GstClockTime latency = time_of_frames(n_frames, self->frame_time);

  if (latency == self->latency)
    return;
  GST_OBJECT_LOCK(element);
  self->latency = latency;
  GST_OBJECT_UNLOCK(element);
  gst_element_post_message(element, gst_message_new_latency(GST_OBJECT(element)));
}

void
gst_cuda_convolve_latency_set_position(GstCudaConvolveLatency *self, GstBuffer *buffer)
{
  if (!GST_BUFFER_PTS_IS_VALID(buffer))
    return;
  self->position = GST_BUFFER_PTS(buffer);
  if (GST_BUFFER_DURATION_IS_VALID(buffer))
    self->position += GST_BUFFER_DURATION(buffer);
}

gboolean
gst_cuda_convolve_latency_query(GstCudaConvolveLatency *self, GstPad *sink_pad, GstQuery *query)
{
  GstObject *element = GST_OBJECT_PARENT(sink_pad);
  GstClockTime min, max, latency;
  gboolean live;

  if (!gst_pad_peer_query(sink_pad, query))
    return FALSE;
  GST_OBJECT_LOCK(element);
  latency = self->latency;
  GST_OBJECT_UNLOCK(element);
  gst_query_parse_latency(query, &live, &min, &max);
  gst_query_set_latency(query, live, min + latency, GST_CLOCK_TIME_IS_VALID(max) ? max + latency : max);
  return TRUE;
}

gboolean
gst_cuda_convolve_latency_query_position(GstCudaConvolveLatency *self, GstElement *element, const GstSegment *segment,
                                         GstQuery *query)
{
  GstClockTime position;
  GstFormat format;

  GST_OBJECT_LOCK(element);
  position = self->position;
  GST_OBJECT_UNLOCK(element);
  gst_query_parse_position(query, &format, NULL);
  if (format != GST_FORMAT_TIME || segment->format != GST_FORMAT_TIME || !GST_CLOCK_TIME_IS_VALID(position))
    return FALSE;
  gst_query_set_position(query, format, (gint64)gst_segment_to_stream_time(segment, GST_FORMAT_TIME, position));
  return TRUE;
}
