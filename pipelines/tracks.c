/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "tracks.h"

#include <string.h>

/* ---- sound */

typedef struct {
  const char *takes, *parser, *gives;
} Parser;

static const Parser parsers[] = {
    {"audio/mpeg,mpegversion=4,stream-format=adts", "aacparse", "audio/mpeg,mpegversion=4,stream-format=raw"},
    {"audio/x-flac", "flacparse", "audio/x-flac"}, /* muxers need its headers in the caps */
};

/* Adds the caps that the parser accepts, if the muxer accepts its output. Removes them if the parser is not installed.
 */
static GstCaps *
with_parser(GstCaps *caps, const Parser *parser)
{
  g_autoptr(GstCaps) takes = gst_caps_from_string(parser->takes), gives = gst_caps_from_string(parser->gives);
  g_autoptr(GstElementFactory) factory = gst_element_factory_find(parser->parser);
  GstCaps *without;

  if (!gst_caps_can_intersect(caps, gives))
    return caps;
  if (factory)
    return gst_caps_merge(caps, g_steal_pointer(&takes));
  without = gst_caps_subtract(caps, takes);
  gst_caps_unref(caps);
  return without;
}

GstCaps *
tracks_sound(GstElement *mux)
{
  GstPadTemplate *template = gst_element_class_get_pad_template(GST_ELEMENT_GET_CLASS(mux), "audio_%u");
  GstCaps *caps = template ? gst_caps_make_writable(gst_pad_template_get_caps(template)) : gst_caps_new_empty();

  for (guint i = gst_caps_get_size(caps); i-- > 0;)
    if (gst_structure_has_name(gst_caps_get_structure(caps, i), "audio/x-raw"))
      gst_caps_remove_structure(caps, i);
  for (gsize i = 0; i < G_N_ELEMENTS(parsers); i++)
    caps = with_parser(caps, &parsers[i]);
  return caps;
}

const char *
tracks_parser(const GstCaps *caps)
{
  for (gsize i = 0; i < G_N_ELEMENTS(parsers); i++) {
    g_autoptr(GstCaps) takes = gst_caps_from_string(parsers[i].takes);

    if (gst_caps_can_intersect(caps, takes))
      return parsers[i].parser;
  }
  return NULL;
}

/* ---- subtitles */

gboolean
tracks_is_subtitle(const char *media_type)
{
  static const char *const prefixes[] = {"text/",
                                         "subtitle/",
                                         "subpicture/",
                                         "closedcaption/",
                                         "application/x-sub",
                                         "application/x-ssa",
                                         "application/x-ass",
                                         "application/x-usf",
                                         "application/x-teletext",
                                         "application/ttml"};

  for (gsize i = 0; i < G_N_ELEMENTS(prefixes); i++)
    if (g_str_has_prefix(media_type, prefixes[i]))
      return TRUE;
  return FALSE;
}

static gboolean
is_markup(const GstCaps *caps)
{
  return caps && g_strcmp0(gst_structure_get_string(gst_caps_get_structure(caps, 0), "format"), "pango-markup") == 0;
}

static char *
unescape(char *text)
{
  static const char *const entities[][2] = {{"&lt;", "<"},   {"&gt;", ">"},  {"&quot;", "\""},
                                            {"&apos;", "'"}, {"&#39;", "'"}, {"&amp;", "&"}};

  for (gsize i = 0; i < G_N_ELEMENTS(entities); i++) {
    g_auto(GStrv) parts = g_strsplit(text, entities[i][0], -1);

    g_free(text);
    text = g_strjoinv(entities[i][1], parts);
  }
  return text;
}

static GstBuffer *
without_markup(GstBuffer *buffer, gboolean plain)
{
  g_autoptr(GRegex) tags = g_regex_new("</?[A-Za-z][^>]*>", 0, 0, NULL);
  char *text;
  gsize size = gst_buffer_get_size(buffer);
  GstBuffer *done;

  text = g_malloc0(size + 1);
  gst_buffer_extract(buffer, 0, text, size);
  if (plain && g_utf8_validate(text, -1, NULL)) {
    char *stripped = g_regex_replace_literal(tags, text, -1, 0, "", 0, NULL);

    g_free(text);
    text = stripped;
  }
  text = unescape(text);
  done = gst_buffer_new_wrapped(text, strlen(text));
  gst_buffer_copy_into(done, buffer, GST_BUFFER_COPY_FLAGS | GST_BUFFER_COPY_TIMESTAMPS, 0, -1);
  return done;
}

/* Answers caps queries of the muxer, which would reject the markup. */
static GstPadProbeReturn
answer_query(GstQuery *query)
{
  g_autoptr(GstCaps) all = gst_caps_new_any();

  if (GST_QUERY_TYPE(query) == GST_QUERY_ACCEPT_CAPS)
    gst_query_set_accept_caps_result(query, TRUE);
  else if (GST_QUERY_TYPE(query) == GST_QUERY_CAPS)
    gst_query_set_caps_result(query, all);
  else
    return GST_PAD_PROBE_OK;
  return GST_PAD_PROBE_HANDLED;
}

typedef struct {
  gboolean plain, started;
} Text;

/* Pushes an empty subtitle at the start of the video: mp4mux shortens subtitles by the time of the first one. */
static void
start_at_once(GstPad *pad, GstClockTime first)
{
  g_autoptr(GstEvent) event = gst_pad_get_sticky_event(pad, GST_EVENT_SEGMENT, 0);
  const GstSegment *segment;
  GstBuffer *nothing;

  if (!event)
    return;
  gst_event_parse_segment(event, &segment);
  if (!GST_CLOCK_TIME_IS_VALID(first) || first <= segment->start)
    return;
  nothing = gst_buffer_new();
  GST_BUFFER_PTS(nothing) = segment->start;
  GST_BUFFER_DURATION(nothing) = first - segment->start;
  gst_pad_push(pad, nothing);
}

/* Converts text. The pad keeps the caps of the markup, and the muxer gets others. */
static GstPadProbeReturn
convert_text(GstPad *pad, GstPadProbeInfo *info, gpointer user_data)
{
  Text *text = user_data;
  g_autoptr(GstCaps) caps = gst_pad_get_current_caps(pad);

  if (info->type & GST_PAD_PROBE_TYPE_QUERY_DOWNSTREAM)
    return answer_query(GST_PAD_PROBE_INFO_QUERY(info));
  if (info->type & GST_PAD_PROBE_TYPE_BUFFER) {
    GstBuffer *buffer = GST_PAD_PROBE_INFO_BUFFER(info);

    if (text->plain && !text->started) {
      text->started = TRUE;
      start_at_once(pad, GST_BUFFER_PTS(buffer));
    }
    if (is_markup(caps)) {
      info->data = without_markup(buffer, text->plain);
      gst_buffer_unref(buffer);
    }
  } else if (is_markup(caps) && GST_EVENT_TYPE(GST_PAD_PROBE_INFO_EVENT(info)) == GST_EVENT_CAPS) {
    g_autoptr(GstCaps) utf8 = gst_caps_from_string("text/x-raw,format=utf8");

    gst_event_unref(GST_PAD_PROBE_INFO_EVENT(info));
    info->data = gst_event_new_caps(utf8);
  }
  return GST_PAD_PROBE_OK;
}

gboolean
tracks_link_subtitles(GstElement *subtitles, GstElement *mux, gboolean plain)
{
  g_autoptr(GstPad) source = gst_element_get_static_pad(subtitles, "src");
  g_autoptr(GstPad) sink = gst_element_request_pad_simple(mux, "subtitle_%u");
  Text *text;

  if (!source || !sink)
    return FALSE;
  text = g_new0(Text, 1);
  text->plain = plain;
  gst_pad_add_probe(
      source, GST_PAD_PROBE_TYPE_EVENT_DOWNSTREAM | GST_PAD_PROBE_TYPE_BUFFER | GST_PAD_PROBE_TYPE_QUERY_DOWNSTREAM,
      convert_text, text, g_free);
  /* Without a check, because the caps of the markup are not those that arrive. */
  return gst_element_link_pads_full(subtitles, "src", mux, GST_PAD_NAME(sink), GST_PAD_LINK_CHECK_NOTHING);
}
