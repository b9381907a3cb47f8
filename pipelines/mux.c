/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "mux.h"

#include <glib/gstdio.h>
#include <stdio.h>
#include <string.h>

#include "check.h"

struct Mux {
  GstElement *element;
  char *suffix;
  gboolean hides;
  GMutex lock; /* protects the members below: each stream has a thread */
  gboolean warned;
  GDateTime *created;
};

static gboolean
is_mp4(const Mux *mux)
{
  return strcmp(mux->suffix, ".mp4") == 0;
}

/* ---- boxes of .mp4 and .mov: a length, a type, and the rest; lengths of 64 bits are after the type */

static gboolean
is_one_of(const guint8 *type, const char *types)
{
  for (; *types; types += 4)
    if (memcmp(type, types, 4) == 0)
      return TRUE;
  return FALSE;
}

/* Reads the header of a box. Returns FALSE at the end, and if the box is longer than the data. */
static gboolean
next_box(const guint8 *data, guint64 size, guint64 *length, guint64 *head)
{
  if (size < 8)
    return FALSE;
  *length = GST_READ_UINT32_BE(data);
  *head = 8;
  if (*length == 1 && size >= 16) {
    *length = GST_READ_UINT64_BE(data + 8);
    *head = 16;
  }
  if (*length == 0)
    *length = size; /* the box reaches to the end */
  return *length >= *head && *length <= size;
}

/* ---- location */

static void
find_location(const GstTagList *tags, const char *tag, gpointer found)
{
  *(gboolean *)found |= g_str_has_prefix(tag, "geo-location-");
}

gboolean
mux_has_location(const GstTagList *tags)
{
  gboolean found = FALSE;

  gst_tag_list_foreach(tags, find_location, &found);
  return found;
}

void
mux_drop_location(GstTagList *tags)
{
  for (int i = gst_tag_list_n_tags(tags); i-- > 0;) {
    const char *tag = gst_tag_list_nth_tag_name(tags, (guint)i);

    if (g_str_has_prefix(tag, "geo-location-") || strcmp(tag, GST_TAG_EXTENDED_COMMENT) == 0 ||
        strcmp(tag, "private-qt-tag") == 0)
      gst_tag_list_remove_tag(tags, tag);
  }
}

void
mux_tell_location(gboolean hides, gboolean holds, const char *suffix)
{
  if (hides)
    g_print("location: left out, so that the file does not say where it was recorded\n");
  else if (holds)
    g_print("location: kept; privacy.sh and faces.sh leave it out\n");
  else
    g_print("location: left out, because %s cannot hold it\n", suffix);
}

/* Prints once what happens to the location: all streams have the same. */
static void
tell_once(Mux *mux)
{
  if (!mux->warned)
    mux_tell_location(mux->hides, is_mp4(mux), mux->suffix);
  mux->warned = TRUE;
}

/* ---- the place in headers of .mp4 and .mov */

/* ISO 6709, in degrees: +48.1373+011.5755/ or +48.1373+011.5755+520/, optionally with the name of a reference system.
 */
#define PLACE "([+-][0-9]{2}(?:\\.[0-9]+)?)([+-][0-9]{3}(?:\\.[0-9]+)?)([+-][0-9]+(?:\\.[0-9]+)?)?(?:CRS[0-9A-Z_]*)?/"

static void
take_place(Mux *mux, const char *headers, gsize size)
{
  g_autoptr(GRegex) regex = g_regex_new(PLACE, G_REGEX_RAW, 0, NULL);
  g_autoptr(GMatchInfo) match = NULL;
  g_autoptr(GstTagList) tags = gst_tag_list_new_empty();
  const char *const names[] = {GST_TAG_GEO_LOCATION_LATITUDE, GST_TAG_GEO_LOCATION_LONGITUDE,
                               GST_TAG_GEO_LOCATION_ELEVATION};

  if (!g_regex_match_full(regex, headers, (gssize)size, 0, 0, &match, NULL))
    return;
  for (int i = 0; i < 3; i++) {
    g_autofree char *number = g_match_info_fetch(match, i + 1);

    if (number && number[0])
      gst_tag_list_add(tags, GST_TAG_MERGE_REPLACE, names[i], g_ascii_strtod(number, NULL), NULL);
  }
  tell_once(mux);
  if (!mux->hides && GST_IS_TAG_SETTER(mux->element))
    gst_tag_setter_merge_tags(GST_TAG_SETTER(mux->element), tags, GST_TAG_MERGE_REPLACE);
}

void
mux_read_place(Mux *mux, const char *input)
{
  g_autoptr(GMappedFile) file = check_map_input(input);
  const guint8 *data = file ? (const guint8 *)g_mapped_file_get_contents(file) : NULL;
  guint64 size = file ? g_mapped_file_get_length(file) : 0, length, head;

  for (; next_box(data, size, &length, &head); data += length, size -= length)
    if (is_one_of(data + 4, "moov"))
      take_place(mux, (const char *)data + head, length - head);
}

/* ---- events */

static void
note_creation(Mux *mux, const GstTagList *tags)
{
  g_autoptr(GstDateTime) time = NULL;

  if (mux->created || !gst_tag_list_get_date_time(tags, GST_TAG_DATE_TIME, &time))
    return;
  mux->created = gst_date_time_to_g_date_time(time); /* NULL if there is only a date */
  if (mux->created && g_object_class_find_property(G_OBJECT_GET_CLASS(mux->element), "creation-time"))
    g_object_set(mux->element, "creation-time", mux->created, NULL);
}

static GstEvent *
take_tags(Mux *mux, GstEvent *event)
{
  GstTagList *tags;
  GstEvent *taken = event;

  gst_event_parse_tag(event, &tags);
  g_mutex_lock(&mux->lock);
  note_creation(mux, tags);
  if (mux_has_location(tags))
    tell_once(mux);
  g_mutex_unlock(&mux->lock);
  if (mux->hides) {
    tags = gst_tag_list_copy(tags);
    mux_drop_location(tags);
    taken = gst_event_new_tag(tags);
    gst_event_unref(event);
  }
  return taken;
}

/* Removes the end of a segment. Muxers drop packets beyond it, and the last packet of sound often is. */
static GstEvent *
open_segment(GstEvent *event)
{
  GstEvent *open = event;
  GstSegment segment;

  gst_event_copy_segment(event, &segment);
  if (segment.format == GST_FORMAT_TIME && GST_CLOCK_TIME_IS_VALID(segment.stop)) {
    segment.stop = GST_CLOCK_TIME_NONE;
    open = gst_event_new_segment(&segment);
    gst_event_set_seqnum(open, gst_event_get_seqnum(event));
    gst_event_unref(event);
  }
  return open;
}

static void
watch_event(Mux *mux, GstPadProbeInfo *info)
{
  GstEvent *event = GST_PAD_PROBE_INFO_EVENT(info);

  if (GST_EVENT_TYPE(event) == GST_EVENT_TAG)
    info->data = take_tags(mux, event);
  else if (GST_EVENT_TYPE(event) == GST_EVENT_SEGMENT)
    info->data = open_segment(event);
}

typedef struct {
  Mux *mux;
  GstClockTime time; /* time of the previous packet of sound */
} Stream;

/* Sets a missing duration, as packets from Matroska can have. The last packet of an .mp4 would otherwise not be played.
 * Uses the time since the previous packet. */
static GstBuffer *
add_duration(Stream *stream, GstBuffer *packet)
{
  GstClockTime before = stream->time, time = GST_BUFFER_PTS(packet);

  stream->time = time;
  if (GST_BUFFER_DURATION_IS_VALID(packet) || !GST_CLOCK_TIME_IS_VALID(before) || !GST_CLOCK_TIME_IS_VALID(time) ||
      time <= before)
    return packet;
  packet = gst_buffer_make_writable(packet);
  GST_BUFFER_DURATION(packet) = time - before;
  return packet;
}

/* Returns TRUE for headers of Ogg, which have no time. mp4mux rejects them, and gets them from the caps. */
static gboolean
is_header(const GstBuffer *packet)
{
  return GST_BUFFER_FLAG_IS_SET(packet, GST_BUFFER_FLAG_HEADER) && !GST_BUFFER_PTS_IS_VALID(packet);
}

static GstPadProbeReturn
watch_stream(GstPad *pad, GstPadProbeInfo *info, gpointer user_data)
{
  Stream *stream = user_data;

  if (info->type & GST_PAD_PROBE_TYPE_EVENT_DOWNSTREAM)
    watch_event(stream->mux, info);
  else if (is_mp4(stream->mux) && is_header(GST_PAD_PROBE_INFO_BUFFER(info)))
    return GST_PAD_PROBE_DROP;
  else if (g_str_has_prefix(GST_PAD_NAME(pad), "audio"))
    info->data = add_duration(stream, GST_PAD_PROBE_INFO_BUFFER(info));
  return GST_PAD_PROBE_OK;
}

static void
watch_pad(GstElement *element, GstPad *pad, gpointer user_data)
{
  Stream *stream;

  if (!GST_PAD_IS_SINK(pad))
    return;
  stream = g_new(Stream, 1);
  *stream = (Stream){user_data, GST_CLOCK_TIME_NONE};
  gst_pad_add_probe(pad, GST_PAD_PROBE_TYPE_EVENT_DOWNSTREAM | GST_PAD_PROBE_TYPE_BUFFER, watch_stream, stream, g_free);
}

static gboolean
watch_existing(GstElement *element, GstPad *pad, gpointer user_data)
{
  watch_pad(element, pad, user_data);
  return TRUE;
}

Mux *
mux_watch(GstElement *element, const char *suffix, gboolean hides)
{
  Mux *mux = g_new0(Mux, 1);

  mux->element = gst_object_ref(element);
  mux->suffix = g_strdup(suffix);
  mux->hides = hides;
  g_mutex_init(&mux->lock);
  gst_element_foreach_sink_pad(element, watch_existing, mux);
  g_signal_connect(element, "pad-added", G_CALLBACK(watch_pad), mux);
  return mux;
}

void
mux_free(Mux *mux)
{
  gst_object_unref(mux->element);
  g_clear_pointer(&mux->created, g_date_time_unref);
  g_mutex_clear(&mux->lock);
  g_free(mux->suffix);
  g_free(mux);
}

/* ---- the time of creation in .mp4 */

#define FROM_1904_TO_1970 G_GINT64_CONSTANT(2082844800)

typedef struct {
  FILE *file;
  const guint8 *start; /* contents of the file */
  guint64 time;        /* creation time in seconds since 1904 */
} Stamp;

/* Writes the time into a header. It begins with version and flags; the time follows, in 64 bits for version 1. */
static void
stamp_header(const Stamp *stamp, const guint8 *header)
{
  guint8 bytes[8];
  gsize n = header[0] == 1 ? 8 : 4;

  if (n == 4 && stamp->time > G_MAXUINT32)
    return;
  GST_WRITE_UINT64_BE(bytes, stamp->time);
  if (fseeko(stamp->file, header + 4 - stamp->start, SEEK_SET) == 0)
    fwrite(bytes + 8 - n, 1, n, stamp->file);
}

/* Finds the headers of the file and of its tracks, which are nested boxes. */
static void
stamp_boxes(const Stamp *stamp, const guint8 *data, guint64 size)
{
  guint64 length, head;

  for (; next_box(data, size, &length, &head); data += length, size -= length)
    if (is_one_of(data + 4, "moovtrakmdia"))
      stamp_boxes(stamp, data + head, length - head);
    else if (length >= head + 12 && is_one_of(data + 4, "mvhdtkhdmdhd"))
      stamp_header(stamp, data + head);
}

void
mux_stamp(const Mux *mux, const char *path)
{
  g_autoptr(GMappedFile) map = NULL;
  Stamp stamp = {0};

  if (!mux->created || !is_mp4(mux) || g_date_time_to_unix(mux->created) < -FROM_1904_TO_1970)
    return;
  stamp.time = (guint64)(g_date_time_to_unix(mux->created) + FROM_1904_TO_1970);
  map = g_mapped_file_new(path, FALSE, NULL);
  stamp.file = g_fopen(path, "r+b");
  if (map && stamp.file) {
    stamp.start = (const guint8 *)g_mapped_file_get_contents(map);
    stamp_boxes(&stamp, stamp.start, g_mapped_file_get_length(map));
  }
  if (stamp.file)
    fclose(stamp.file);
}
