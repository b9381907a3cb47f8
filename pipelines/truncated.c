/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "truncated.h"

#define MISSING_LEAST GST_SECOND /* files state durations that are some frames off */

struct Truncation {
  GMutex lock;      /* each stream has a thread of its own */
  GstClockTime end; /* the latest of all streams, in stream time */
  gint64 duration;  /* that the file states; 0: none */
};

/* Notes the end of a buffer. Streams that begin late or have edit lists end in stream time as the file states. */
static void
note_buffer(Truncation *truncation, GstPad *pad, const GstBuffer *buffer)
{
  g_autoptr(GstEvent) event = gst_pad_get_sticky_event(pad, GST_EVENT_SEGMENT, 0);
  const GstSegment *segment;
  guint64 time;

  if (!event || !GST_BUFFER_PTS_IS_VALID(buffer))
    return;
  gst_event_parse_segment(event, &segment);
  time = gst_segment_to_stream_time(segment, GST_FORMAT_TIME, GST_BUFFER_PTS(buffer));
  if (!GST_CLOCK_TIME_IS_VALID(time))
    return;
  if (GST_BUFFER_DURATION_IS_VALID(buffer))
    time += GST_BUFFER_DURATION(buffer);
  g_mutex_lock(&truncation->lock);
  truncation->end = MAX(truncation->end, time);
  g_mutex_unlock(&truncation->lock);
}

/* Demuxers that estimate a duration know most of it at the end. */
static void
note_duration(Truncation *truncation, GstPad *pad)
{
  gint64 duration;

  if (!gst_pad_query_duration(pad, GST_FORMAT_TIME, &duration))
    return;
  g_mutex_lock(&truncation->lock);
  truncation->duration = MAX(truncation->duration, duration);
  g_mutex_unlock(&truncation->lock);
}

static GstPadProbeReturn
follow(GstPad *pad, GstPadProbeInfo *info, gpointer truncation)
{
  if (info->type & GST_PAD_PROBE_TYPE_BUFFER)
    note_buffer(truncation, pad, GST_PAD_PROBE_INFO_BUFFER(info));
  else if (GST_EVENT_TYPE(GST_PAD_PROBE_INFO_EVENT(info)) == GST_EVENT_EOS)
    note_duration(truncation, pad);
  return GST_PAD_PROBE_OK;
}

static void
pad_added(GstElement *decoder, GstPad *pad, gpointer truncation)
{
  gst_pad_add_probe(pad, GST_PAD_PROBE_TYPE_BUFFER | GST_PAD_PROBE_TYPE_EVENT_DOWNSTREAM, follow, truncation, NULL);
}

Truncation *
truncation_watch(GstElement *decoder)
{
  Truncation *truncation = g_new0(Truncation, 1);

  g_mutex_init(&truncation->lock);
  g_signal_connect(decoder, "pad-added", G_CALLBACK(pad_added), truncation);
  return truncation;
}

void
truncation_free(Truncation *truncation)
{
  g_mutex_clear(&truncation->lock);
  g_free(truncation);
}

void
truncation_report(Truncation *truncation, const char *name)
{
  if (truncation->duration > 0 && truncation->end + MISSING_LEAST <= (GstClockTime)truncation->duration)
    g_printerr(
        "warning: '%s' ends at %.1f s, and states a duration of %.1f s: it is cut off or damaged, and the result "
        "ends there too\n",
        name, truncation->end / (double)GST_SECOND, truncation->duration / (double)GST_SECOND);
}
