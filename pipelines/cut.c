/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "cut.h"

#define MISSING_LEAST GST_SECOND /* files state durations that are some frames off */

struct Cut {
  GMutex lock;      /* each stream has a thread of its own */
  GstClockTime end; /* the latest of all streams, in stream time */
  gint64 duration;  /* that the file states; 0: none */
};

/* Notes the end of a buffer. Streams that begin late or have edit lists end in stream time as the file states. */
static void
note_buffer(Cut *cut, GstPad *pad, const GstBuffer *buffer)
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
  g_mutex_lock(&cut->lock);
  cut->end = MAX(cut->end, time);
  g_mutex_unlock(&cut->lock);
}

/* Demuxers that estimate a duration know most of it at the end. */
static void
note_duration(Cut *cut, GstPad *pad)
{
  gint64 duration;

  if (!gst_pad_query_duration(pad, GST_FORMAT_TIME, &duration))
    return;
  g_mutex_lock(&cut->lock);
  cut->duration = MAX(cut->duration, duration);
  g_mutex_unlock(&cut->lock);
}

static GstPadProbeReturn
follow(GstPad *pad, GstPadProbeInfo *info, gpointer cut)
{
  if (info->type & GST_PAD_PROBE_TYPE_BUFFER)
    note_buffer(cut, pad, GST_PAD_PROBE_INFO_BUFFER(info));
  else if (GST_EVENT_TYPE(GST_PAD_PROBE_INFO_EVENT(info)) == GST_EVENT_EOS)
    note_duration(cut, pad);
  return GST_PAD_PROBE_OK;
}

static void
pad_added(GstElement *decoder, GstPad *pad, gpointer cut)
{
  gst_pad_add_probe(pad, GST_PAD_PROBE_TYPE_BUFFER | GST_PAD_PROBE_TYPE_EVENT_DOWNSTREAM, follow, cut, NULL);
}

Cut *
cut_watch(GstElement *decoder)
{
  Cut *cut = g_new0(Cut, 1);

  g_mutex_init(&cut->lock);
  g_signal_connect(decoder, "pad-added", G_CALLBACK(pad_added), cut);
  return cut;
}

void
cut_free(Cut *cut)
{
  g_mutex_clear(&cut->lock);
  g_free(cut);
}

void
cut_report(Cut *cut, const char *name)
{
  if (cut->duration > 0 && cut->end + MISSING_LEAST <= (GstClockTime)cut->duration)
    g_printerr(
        "warning: '%s' ends at %.1f s, and states a duration of %.1f s: it is cut off or damaged, and the result "
        "ends there too\n",
        name, cut->end / (double)GST_SECOND, cut->duration / (double)GST_SECOND);
}
