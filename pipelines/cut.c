/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "cut.h"

#include "play.h"

struct Cut {
  GstElement *pipeline;
  GstClockTime start, duration; /* duration: GST_CLOCK_TIME_NONE for up to the end */
  GstPad *pad;                  /* one of the held pads, for the seek */
  GstClockTime first;           /* of the frames, if there is no seek */
  gboolean ending;              /* the end was requested; used by one streaming thread */
};

Cut *
cut_new(GstElement *pipeline, double start, double duration)
{
  Cut *cut = g_new0(Cut, 1);

  cut->pipeline = pipeline;
  cut->start = (GstClockTime)(start * GST_SECOND + 0.5);
  cut->duration = duration > 0 ? (GstClockTime)(duration * GST_SECOND + 0.5) : GST_CLOCK_TIME_NONE;
  cut->first = GST_CLOCK_TIME_NONE;
  return cut;
}

void
cut_free(Cut *cut)
{
  g_clear_object(&cut->pad);
  g_free(cut);
}

/* ---- of a file */

typedef struct {
  gint flushed; /* atomic: the data now belongs to the part */
} Hold;

static GstPadProbeReturn
hold_data(GstPad *pad, GstPadProbeInfo *info, gpointer hold)
{
  return g_atomic_int_get(&((Hold *)hold)->flushed) ? GST_PAD_PROBE_REMOVE : GST_PAD_PROBE_OK;
}

/* Drops the flush of the seek: elements after the decoder have no data yet. */
static GstPadProbeReturn
drop_flush(GstPad *pad, GstPadProbeInfo *info, gpointer hold)
{
  GstEventType type = GST_EVENT_TYPE(GST_PAD_PROBE_INFO_EVENT(info));

  if (type != GST_EVENT_FLUSH_START && type != GST_EVENT_FLUSH_STOP)
    return GST_PAD_PROBE_OK;
  g_atomic_int_set(&((Hold *)hold)->flushed, TRUE);
  return GST_PAD_PROBE_DROP;
}

void
cut_hold(Cut *cut, GstPad *pad)
{
  Hold *hold = g_new0(Hold, 1);

  if (!cut->pad)
    cut->pad = gst_object_ref(pad);
  gst_pad_add_probe(pad, GST_PAD_PROBE_TYPE_EVENT_FLUSH, drop_flush, hold, g_free);
  gst_pad_add_probe(pad, GST_PAD_PROBE_TYPE_BLOCK | GST_PAD_PROBE_TYPE_BUFFER | GST_PAD_PROBE_TYPE_BUFFER_LIST,
                    hold_data, hold, NULL);
}

static void
fail(Cut *cut, char *text)
{
  GError *error = g_error_new_literal(GST_STREAM_ERROR, GST_STREAM_ERROR_FAILED, text);

  gst_element_post_message(cut->pipeline, gst_message_new_error(GST_OBJECT(cut->pipeline), error, NULL));
  g_error_free(error);
  g_free(text);
}

/* Returns TRUE if the pad can seek. Some demuxers accept a seek and only fail later. */
static gboolean
is_seekable(GstPad *pad)
{
  g_autoptr(GstQuery) query = gst_query_new_seeking(GST_FORMAT_TIME);
  gboolean seekable = TRUE;

  if (gst_pad_query(pad, query))
    gst_query_parse_seeking(query, NULL, &seekable, NULL, NULL);
  return seekable;
}

static gboolean
seek(gpointer user_data)
{
  Cut *cut = user_data;
  gboolean ends = GST_CLOCK_TIME_IS_VALID(cut->duration);
  gint64 length = 0;

  if (gst_pad_query_duration(cut->pad, GST_FORMAT_TIME, &length) && length > 0 && cut->start >= (GstClockTime)length)
    fail(cut, g_strdup_printf("START=%g is beyond the end of the file, which has %.1f s",
                              cut->start / (double)GST_SECOND, length / (double)GST_SECOND));
  else if (!is_seekable(cut->pad) ||
           !gst_pad_send_event(cut->pad,
                               gst_event_new_seek(1, GST_FORMAT_TIME, GST_SEEK_FLAG_FLUSH | GST_SEEK_FLAG_ACCURATE,
                                                  GST_SEEK_TYPE_SET, (gint64)cut->start,
                                                  ends ? GST_SEEK_TYPE_SET : GST_SEEK_TYPE_NONE,
                                                  ends ? (gint64)(cut->start + cut->duration) : -1)))
    fail(cut, g_strdup("START and DURATION need a file in which GStreamer can seek: a pipe or a stream is none"));
  return G_SOURCE_REMOVE;
}

void
cut_seek(Cut *cut)
{
  g_idle_add(seek, cut);
}

/* ---- of what has no end */

static GstPadProbeReturn
watch_time(GstPad *pad, GstPadProbeInfo *info, gpointer user_data)
{
  Cut *cut = user_data;
  GstClockTime time = GST_BUFFER_PTS(GST_PAD_PROBE_INFO_BUFFER(info));

  if (!GST_CLOCK_TIME_IS_VALID(time))
    return GST_PAD_PROBE_OK;
  if (!GST_CLOCK_TIME_IS_VALID(cut->first))
    cut->first = time;
  if (time < cut->first + cut->duration)
    return GST_PAD_PROBE_OK;
  if (!cut->ending)
    play_end_stream(cut->pipeline);
  cut->ending = TRUE;
  return GST_PAD_PROBE_DROP;
}

void
cut_end(Cut *cut, GstElement *filter)
{
  g_autoptr(GstPad) pad = gst_element_get_static_pad(filter, "sink");

  if (GST_CLOCK_TIME_IS_VALID(cut->duration))
    gst_pad_add_probe(pad, GST_PAD_PROBE_TYPE_BUFFER, watch_time, cut, NULL);
}
