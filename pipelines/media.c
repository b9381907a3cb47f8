/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <gst/video/video.h>
#include <string.h>

#include "check.h"
#include "container.h"
#include "cut.h"
#include "demo.h"
#include "media.h"
#include "mux.h"
#include "part.h"
#include "photo.h"
#include "play.h"
#include "tracks.h"
#include "truncated.h"

typedef struct {
  char *input, *picture, *still, *output, *format, *encoder, *codec;
  int frames, quality;    /* quality: -1 for the encoder's default */
  double start, duration; /* seconds; a duration of 0 is up to the end */
  gboolean window, wipe, hides;

  const Container *container;
  GstElement *pipeline, *filter; /* filter: all elements through which the video goes */
  Mux *mux;                      /* NULL if there is no muxer */
  Cut *cut;                      /* NULL: the whole input */
  Photo *photo;                  /* or NULL */
  Truncation *truncation;        /* NULL if there is no file */
  gint has_video;                /* atomic: there is a pad with video */
} Media;

/* ---- messages */

static gboolean
is_plain(const GstVideoInfo *info)
{
  return GST_VIDEO_INFO_IS_YUV(info) && GST_VIDEO_INFO_COMP_DEPTH(info, 0) == 8 && info->finfo->w_sub[1] == 1 &&
         info->finfo->h_sub[1] == 1;
}

static gboolean
is_caps_event(GstPadProbeInfo *info)
{
  return GST_EVENT_TYPE(GST_PAD_PROBE_INFO_EVENT(info)) == GST_EVENT_CAPS;
}

/* Prints the conversion. Called on the source pad of the converter before the filter. decoded: pad of the decoder,
 * which has the original caps. */
static GstPadProbeReturn
tell_conversion(GstPad *pad, GstPadProbeInfo *info, gpointer decoded)
{
  g_autoptr(GstCaps) caps = gst_pad_get_current_caps(decoded);
  GstVideoInfo from, to;
  GstCaps *converted;

  if (!is_caps_event(info) || !caps || !gst_video_info_from_caps(&from, caps))
    return GST_PAD_PROBE_OK;
  gst_event_parse_caps(GST_PAD_PROBE_INFO_EVENT(info), &converted);
  if (gst_video_info_from_caps(&to, converted) && GST_VIDEO_INFO_FORMAT(&from) != GST_VIDEO_INFO_FORMAT(&to))
    g_print("%s, which the filter does not support, is converted to %s\n", GST_VIDEO_INFO_NAME(&from),
            GST_VIDEO_INFO_NAME(&to));
  return GST_PAD_PROBE_OK;
}

/* Returns the 10-bit format with the same planes, or NULL if no encoder of the container accepts it. */
static const char *
deep_format(const Media *media, const GstVideoInfo *from)
{
  const char *format = "Y444_10LE";

  if (GST_VIDEO_INFO_IS_YUV(from) && from->finfo->w_sub[1] == 1)
    format = from->finfo->h_sub[1] == 1 ? "I420_10LE" : "I422_10LE";
  return container_encoder(media->container, media->codec, format) ? format : NULL;
}

/* Prints one sentence if the file cannot hold all bits or colours of the input, and how to keep them. */
static void
tell_loss(const Media *media, const GstVideoInfo *from)
{
  guint depth = GST_VIDEO_INFO_COMP_DEPTH(from, 0);
  GstVideoTransferFunction transfer = from->colorimetry.transfer;
  gboolean hdr = transfer == GST_VIDEO_TRANSFER_SMPTE2084 || transfer == GST_VIDEO_TRANSFER_ARIB_STD_B67;
  const char *deep = deep_format(media, from);

  if (!media->container->mux) {
    if (depth > 8 && !(GST_VIDEO_INFO_IS_GRAY(from) && container_takes(media->encoder, "GRAY16_BE")))
      g_print("%s of %u bit is written as 8 bit, the most that %s can hold here\n", GST_VIDEO_INFO_NAME(from), depth,
              media->container->suffix);
  } else if (depth <= 8)
    g_print("%s is written as 8 bit 4:2:0, which plays everywhere; FORMAT=... chooses another\n",
            GST_VIDEO_INFO_NAME(from));
  else
    g_print("%s of %u bit%s is written as 8 bit 4:2:0, which plays everywhere; %s%s keeps 10 bit\n",
            GST_VIDEO_INFO_NAME(from), depth, hdr ? ", which is HDR," : "",
            deep ? "FORMAT=" : "FORMAT=I420_10LE with an OUTPUT in .mkv", deep ? deep : "");
}

/* Crops one column or row if the subsampling of the format needs even sizes: encoders reject odd ones. */
static void
make_even(const Media *media, GstElement *crop, const GstVideoInfo *from)
{
  GstVideoFormat format = media->format ? gst_video_format_from_string(media->format) : GST_VIDEO_FORMAT_I420;
  const GstVideoFormatInfo *to = gst_video_format_get_info(format);
  int right = from->width % (1 << to->w_sub[1]), bottom = from->height % (1 << to->h_sub[1]);

  if (right || bottom)
    g_print("the size %dx%d is made even, because %s needs that\n", from->width, from->height,
            media->format ? media->format : "4:2:0");
  g_object_set(crop, "right", right, "bottom", bottom, NULL);
}

/* Called on the sink pad of the converter after the filter. */
static GstPadProbeReturn
prepare_output(GstPad *pad, GstPadProbeInfo *info, gpointer user_data)
{
  Media *media = user_data;
  g_autoptr(GstElement) crop = NULL;
  GstVideoInfo from;
  GstCaps *caps;

  if (!is_caps_event(info))
    return GST_PAD_PROBE_OK;
  gst_event_parse_caps(GST_PAD_PROBE_INFO_EVENT(info), &caps);
  if (!gst_video_info_from_caps(&from, caps))
    return GST_PAD_PROBE_OK;
  if ((!media->format || !media->container->mux) && !is_plain(&from))
    tell_loss(media, &from);
  crop = gst_bin_get_by_name(GST_BIN(media->pipeline), "even");
  if (crop)
    make_even(media, crop, &from);
  return GST_PAD_PROBE_OK;
}

/* ---- input */

static void
fail(Media *media, const char *text, const char *more)
{
  g_autoptr(GError) error = g_error_new_literal(GST_STREAM_ERROR, GST_STREAM_ERROR_FAILED, text);

  gst_bus_post(GST_ELEMENT_BUS(media->pipeline), gst_message_new_error(GST_OBJECT(media->pipeline), error, more));
}

static gboolean
link_to(GstPad *pad, GstElement *element)
{
  g_autoptr(GstPad) sink = gst_element_get_static_pad(element, "sink");

  return sink && GST_PAD_LINK_SUCCESSFUL(gst_pad_link(pad, sink));
}

/* Adds elements, written as for gst-launch-1.0, and links the pad to them. */
static GstElement *
add_behind(Media *media, GstPad *pad, const char *elements)
{
  GstElement *bin = gst_parse_bin_from_description(elements, TRUE, NULL);

  if (!bin)
    return NULL;
  gst_bin_add(GST_BIN(media->pipeline), bin);
  gst_element_sync_state_with_parent(bin);
  return link_to(pad, bin) ? bin : NULL;
}

/* Sink for unused streams: a decoder may wait for a stream that is not linked. */
#define NOWHERE "fakesink sync=false async=false"

static void
leave_out(Media *media, GstPad *pad, const char *stream)
{
  g_print("left out: %s\n", stream);
  add_behind(media, pad, NOWHERE);
}

/* Queue for the other streams, because video encoders hold back several seconds. */
#define QUEUE "queue max-size-buffers=0 max-size-bytes=0 max-size-time=30000000000"

static void
add_sound(Media *media, GstPad *pad, const GstCaps *caps, gboolean decoded)
{
  g_autofree char *elements = NULL, *more = NULL;
  g_autoptr(GstElement) mux = NULL;
  GstElement *bin;
  const char *encoder, *parser;

  if (media->window) {
    add_behind(media, pad, "queue ! audioconvert ! audioresample ! autoaudiosink");
    return;
  }
  if (!media->container->mux)
    return;
  encoder = container_first(media->container->sound_encoder);
  parser = decoded ? NULL : tracks_parser(caps);
  if (decoded)
    more = encoder ? g_strconcat(" ! audioconvert ! audioresample ! ", encoder, NULL) : NULL;
  else
    more = parser ? g_strconcat(" ! ", parser, NULL) : g_strdup("");
  elements = g_strconcat(QUEUE, more, NULL);
  mux = gst_bin_get_by_name(GST_BIN(media->pipeline), "mux");
  bin = more ? add_behind(media, pad, elements) : NULL;
  if (bin && gst_element_link(bin, mux))
    g_print("sound: %s\n", decoded ? "encoded again" : "copied");
  else
    fail(media, "the sound cannot be written to this type of file; set OUTPUT to a .mkv file", NULL);
}

/* Prints that subtitles are not written, and which file could hold them. */
static void
leave_out_subtitles(Media *media, const char *kind)
{
  gboolean text = g_str_has_prefix(kind, "text/") || strstr(CONTAINER_ASS, kind);

  if (!media->container || !media->container->mux)
    g_print("subtitles left out: only a video file can hold them\n");
  else if (text)
    g_print("subtitles left out: a %s file cannot hold them, use .mkv\n", media->container->suffix);
  else
    g_print("subtitles left out: a %s file cannot hold subtitles of type %s\n", media->container->suffix, kind);
}

static void
add_subtitles(Media *media, GstPad *pad, const GstCaps *caps, const char *kind)
{
  g_autoptr(GstElement) mux = gst_bin_get_by_name(GST_BIN(media->pipeline), "mux");
  g_autoptr(GstCaps) held = NULL;
  GstElement *bin;

  if (mux && media->container->subtitles)
    held = gst_caps_from_string(media->container->subtitles);
  if (!held || !gst_caps_can_intersect(caps, held)) {
    leave_out_subtitles(media, kind);
    add_behind(media, pad, NOWHERE);
    return;
  }
  bin = add_behind(media, pad, QUEUE);
  if (bin && tracks_link_subtitles(bin, mux, strcmp(media->container->suffix, ".mp4") == 0))
    g_print("subtitles: copied\n");
  else
    fail(media, "the subtitles cannot be written to this type of file; set OUTPUT to a .mkv file", NULL);
}

/* Returns TRUE and posts an error if a video is too small for the muxers. GStreamer would only say "not-negotiated". */
static gboolean
is_too_small(Media *media, const GstCaps *caps)
{
  const GstStructure *structure = gst_caps_get_structure(caps, 0);
  g_autofree char *text = NULL;
  int width, height, least;

  if (!media->container || !media->container->mux || !gst_structure_get_int(structure, "width", &width) ||
      !gst_structure_get_int(structure, "height", &height))
    return FALSE;
  least = strcmp(media->container->suffix, ".ogv") == 0 ? 2 : 16;
  if (MIN(width, height) >= least)
    return FALSE;
  text = g_strdup_printf(
      "a video of %dx%d is too small: %s needs at least %dx%d; set OUTPUT to a .png file for the first frame", width,
      height, media->container->suffix, least, least);
  fail(media, text, NULL);
  return TRUE;
}

static void
add_video(Media *media, GstPad *pad)
{
  g_autoptr(GstCaps) has = gst_pad_get_current_caps(pad), takes = NULL;
  g_autoptr(GstPad) sink = gst_element_get_static_pad(media->filter, "sink");
  GstElement *converter;

  if (gst_pad_is_linked(sink)) {
    leave_out(media, pad, "a second video stream");
    return;
  }
  if (!has || !gst_caps_features_is_equal(gst_caps_get_features(has, 0), GST_CAPS_FEATURES_MEMORY_SYSTEM_MEMORY)) {
    gst_clear_caps(&has);
    has = gst_pad_query_caps(pad, NULL);
  }
  takes = gst_pad_query_caps(sink, NULL);
  g_atomic_int_set(&media->has_video, TRUE);
  if (is_too_small(media, has))
    return;
  if (gst_caps_can_intersect(has, takes) && link_to(pad, media->filter))
    return;
  converter = add_behind(media, pad, "videoconvert");
  if (converter && gst_element_link(converter, media->filter)) {
    g_autoptr(GstPad) source = gst_element_get_static_pad(converter, "src");

    gst_pad_add_probe(source, GST_PAD_PROBE_TYPE_EVENT_DOWNSTREAM, tell_conversion, gst_object_ref(pad),
                      gst_object_unref);
  } else {
    fail(media, "the format of the video cannot be converted for the filter", NULL);
  }
}

static void
pad_added(GstElement *decoder, GstPad *pad, gpointer user_data)
{
  Media *media = user_data;
  g_autoptr(GstCaps) current = gst_pad_get_current_caps(pad), caps = current ? NULL : gst_pad_query_caps(pad, NULL);
  const GstCaps *has = current ? current : caps;
  const char *name = gst_structure_get_name(gst_caps_get_structure(has, 0));

  if (media->cut)
    cut_hold(media->cut, pad);
  if (g_str_has_prefix(name, "video/"))
    add_video(media, pad);
  else if (g_str_has_prefix(name, "audio/"))
    add_sound(media, pad, has, strcmp(name, "audio/x-raw") == 0);
  else if (tracks_is_subtitle(name))
    add_subtitles(media, pad, has, name);
  else
    leave_out(media, pad, name);
}

static void
no_more_pads(GstElement *decoder, gpointer user_data)
{
  Media *media = user_data;
  g_autofree char *text = NULL;

  if (g_atomic_int_get(&media->has_video)) {
    if (media->cut)
      cut_seek(media->cut);
    return;
  }
  text = g_strdup_printf("there is no video in %s, or none that this GStreamer can decode", media->input);
  fail(media, text, NULL);
}

/* Called for a stream that cannot be decoded. */
static void
unknown_type(GstElement *decoder, GstPad *pad, GstCaps *caps, gpointer user_data)
{
  const char *name = gst_structure_get_name(gst_caps_get_structure(caps, 0));

  if (tracks_is_subtitle(name))
    leave_out_subtitles(user_data, name);
}

/* Returns the caps of sound and subtitles that the container can hold without decoding them. */
static GstCaps *
caps_to_expose(Media *media, GstElement *decoder)
{
  GstCaps *caps = NULL;
  g_autoptr(GstElement) mux = gst_bin_get_by_name(GST_BIN(media->pipeline), "mux");

  g_object_get(decoder, "caps", &caps, NULL);
  if (mux)
    caps = gst_caps_merge(gst_caps_make_writable(caps), tracks_sound(mux));
  if (mux && media->container->subtitles)
    caps = gst_caps_merge(caps, gst_caps_from_string(media->container->subtitles));
  return caps;
}

static gboolean
add_input(Media *media)
{
  GstElement *decoder = gst_element_factory_make("uridecodebin", NULL);
  g_autofree char *uri = strstr(media->input, "://") ? g_strdup(media->input) : gst_filename_to_uri(media->input, NULL);
  g_autoptr(GstCaps) caps = NULL;

  if (!decoder || !uri)
    return FALSE;
  gst_bin_add(GST_BIN(media->pipeline), decoder);
  caps = caps_to_expose(media, decoder);
  g_object_set(decoder, "uri", uri, "caps", caps, NULL);
  media->truncation = truncation_watch(decoder);
  g_signal_connect(decoder, "pad-added", G_CALLBACK(pad_added), media);
  g_signal_connect(decoder, "unknown-type", G_CALLBACK(unknown_type), media);
  g_signal_connect(decoder, "no-more-pads", G_CALLBACK(no_more_pads), media);
  return TRUE;
}

static gboolean
add_picture(Media *media)
{
  g_autofree char *blank =
      g_strdup_printf("videotestsrc pattern=black num-buffers=%d "
                      "! video/x-raw,format=NV12,%s,framerate=30/1",
                      media->frames, media->still ? "width=640,height=480" : "width=1280,height=720");
  GstElement *bin = play_parse_source(media->picture ? media->picture : blank);
  g_autoptr(GstPad) pad = NULL;

  if (!bin)
    return FALSE;
  gst_bin_add(GST_BIN(media->pipeline), bin);
  pad = gst_element_get_static_pad(bin, "src");
  return (media->picture || demo_paint(pad, media->still)) && link_to(pad, media->filter);
}

/* ---- output */

/* Returns the elements that rotate the video. Phones leave the rotation to the player, but the file that is written is
 * rotated. */
static char *
describe_turn(Media *media)
{
  GstVideoOrientationMethod direction = GST_VIDEO_ORIENTATION_AUTO;

  gboolean is_video = media->container && media->container->mux;

  if (!container_exists("videoflip") || (is_video && media->format && !container_takes("videoflip", media->format)))
    return g_strdup("");
  if (media->photo)
    direction = photo_direction(media->photo);
  return g_strdup_printf(" ! videoflip video-direction=%d", direction);
}

/* Returns the elements after the filter. */
static char *
describe_output(Media *media)
{
  g_autofree char *turn = describe_turn(media);
  const char *even =
      container_takes("videocrop", media->format ? media->format : "I420") ? " ! videocrop name=even" : "";

  if (media->window)
    return g_strdup_printf("videoconvert%s ! videoconvert ! autovideosink", turn);
  if (!media->container->mux)
    return g_strdup_printf("videoconvert name=convert%s ! videoconvert ! %s ! filesink name=file", turn,
                           media->encoder);
  return g_strdup_printf(
      "videoconvert name=convert%s%s ! video/x-raw,format=%s ! %s ! %s name=mux ! filesink name=file", even, turn,
      media->format ? media->format : "(string){I420,NV12}", media->encoder, media->container->mux);
}

static gboolean
add_output(Media *media)
{
  g_autofree char *elements = NULL;
  g_autoptr(GError) error = NULL;
  g_autoptr(GstElement) converter = NULL, mux = NULL;
  GstElement *bin;

  if (media->container && !media->encoder)
    media->encoder = container_choose(media->container, media->codec, media->format, media->quality);
  if (media->container && !(media->encoder && container_fits(media->container, media->encoder, media->format)))
    return FALSE;
  elements = describe_output(media);
  bin = gst_parse_bin_from_description(elements, TRUE, &error);
  if (error) {
    g_printerr("the file cannot be written: %s\n", error->message);
    return FALSE;
  }
  gst_bin_add(GST_BIN(media->pipeline), bin);
  mux = gst_bin_get_by_name(GST_BIN(bin), "mux");
  if (mux)
    media->mux = mux_watch(mux, media->container->suffix, media->hides);
  converter = gst_bin_get_by_name(GST_BIN(bin), "convert");
  if (converter) {
    g_autoptr(GstPad) pad = gst_element_get_static_pad(converter, "sink");

    gst_pad_add_probe(pad, GST_PAD_PROBE_TYPE_EVENT_DOWNSTREAM, prepare_output, media, NULL);
  }
  return gst_element_link(media->filter, bin);
}

/* ---- the whole pipeline */

/* Returns a bin of the elements with a sink pad and a source pad, or NULL with the reason on stderr. */
static GstElement *
parse_filter(const char **arguments)
{
  g_autoptr(GError) error = NULL;
  GstElement *bin = gst_parse_launchv_full(arguments, NULL, GST_PARSE_FLAG_PLACE_IN_BIN, &error);

  if (error) {
    g_printerr("the pipeline cannot be built: %s\n", error->message);
    g_clear_object(&bin);
    return NULL;
  }
  for (int i = 0; i < 2 && GST_IS_BIN(bin); i++) {
    g_autoptr(GstPad) pad = gst_bin_find_unlinked_pad(GST_BIN(bin), i ? GST_PAD_SRC : GST_PAD_SINK);

    if (pad)
      gst_element_add_pad(bin, gst_ghost_pad_new(i ? "src" : "sink", pad));
  }
  return bin;
}

static gboolean
build(Media *media, const char **arguments)
{
  if (!media->input && !media->output && !media->window) {
    media->pipeline = play_parse(arguments);
    return media->pipeline != NULL;
  }
  media->container = media->output ? container_find(media->output) : NULL;
  if (media->output && !media->container) {
    g_printerr("%s: the name of a video must end in .mp4 .mkv .webm or .ogv, and of a picture in .png or .jpg\n",
               media->output);
    return FALSE;
  }
  media->window = !media->output;
  media->photo = media->input ? photo_read(media->input) : NULL;
  media->pipeline = gst_object_ref_sink(gst_pipeline_new(NULL));
  media->filter = parse_filter(arguments);
  if (!media->filter)
    return FALSE;
  gst_bin_add(GST_BIN(media->pipeline), media->filter);
  if (!add_output(media))
    return FALSE;
  if (media->mux && media->input)
    mux_read_place(media->mux, media->input);
  if (media->start > 0 || media->duration > 0)
    media->cut = cut_new(media->pipeline, media->start, media->duration);
  if (media->input)
    return add_input(media);
  if (media->cut)
    cut_end(media->cut, media->filter);
  return add_picture(media);
}

/* Returns the exit status. Does not report a truncated file for a picture of the first frame, which needs no more. */
static int
play_media(Media *media)
{
  gboolean whole = media->window || (media->container && media->container->mux);
  int status = play(media->pipeline);

  if (status == 0 && media->truncation && !media->cut && whole && !play_was_interrupted())
    truncation_report(media->truncation, media->input);
  return status;
}

/* Plays into a temporary file, and renames it if it is complete. Returns the exit status. */
static int
write_file(Media *media)
{
  g_autoptr(GstElement) file = gst_bin_get_by_name(GST_BIN(media->pipeline), "file");
  char *part = part_new(media->output);
  int status;

  if (!part)
    return 1;
  g_object_set(file, "location", part, NULL);
  status = play_media(media);
  if (status == 0 && media->mux)
    mux_stamp(media->mux, part);
  if (status == 0 && media->photo && !media->container->mux && !photo_write(media->photo, part, media->hides))
    status = 1;
  if (status == 0 && !part_keep(part, media->output))
    status = 1;
  part_free(part);
  if (status == 0)
    g_print("== written: %s\n", media->output);
  return status;
}

static int
run(Media *media, const char **arguments, MediaPrepare *prepare, gpointer user_data)
{
  g_autoptr(GstElement) filter = NULL;

  if (!check_part(media->start, media->duration, media->input != NULL) || !check_quality(media->quality))
    return 2;
  if (media->output && !check_output(media->input ? media->input : media->still, media->output))
    return 2;
  if (!check_settings(arguments) || !build(media, arguments))
    return 2;
  filter = play_filter(media->pipeline);
  if (!filter) {
    g_printerr("there is no cudaconvolve in the pipeline: add one\n");
    return 2;
  }
  if (media->wipe)
    demo_add_wipe(filter);
  if (prepare)
    prepare(filter, user_data);
  return media->output ? write_file(media) : play_media(media);
}

int
media_main(int argc, char **argv, gboolean hides, const GOptionEntry *options, MediaPrepare *prepare,
           gpointer user_data)
{
  Media media = {.frames = 300, .hides = hides, .quality = -1};
  const GOptionEntry entries[] = {
      {"input", 0, 0, G_OPTION_ARG_FILENAME, &media.input, "video to filter; by default a test picture", "FILE|URI"},
      {"picture", 0, 0, G_OPTION_ARG_STRING, &media.picture, "elements of the test picture, as for gst-launch-1.0",
       "ELEMENTS"},
      {"still", 0, 0, G_OPTION_ARG_FILENAME, &media.still, "photograph, over which the view moves", "FILE"},
      {"frames", 0, 0, G_OPTION_ARG_INT, &media.frames, "number of frames of the test picture", "N"},
      {"output", 0, 0, G_OPTION_ARG_FILENAME, &media.output, "file to write", "FILE"},
      {"window", 0, 0, G_OPTION_ARG_NONE, &media.window, "show the video in a window", NULL},
      {"format", 0, 0, G_OPTION_ARG_STRING, &media.format, "format of the file's samples, for example Y444_10LE",
       "FORMAT"},
      {"encoder", 0, 0, G_OPTION_ARG_STRING, &media.encoder, "encoder of the video", "ELEMENT"},
      {"codec", 0, 0, G_OPTION_ARG_STRING, &media.codec, "codec of the video: h264 h265 av1 or vp9", "CODEC"},
      {"quality", 0, 0, G_OPTION_ARG_INT, &media.quality, "quality of the video or picture, 0 to 100", "N"},
      {"start", 0, 0, G_OPTION_ARG_DOUBLE, &media.start, "start of the part of the input to filter", "SECONDS"},
      {"duration", 0, 0, G_OPTION_ARG_DOUBLE, &media.duration, "length of that part", "SECONDS"},
      {"wipe", 0, 0, G_OPTION_ARG_NONE, &media.wipe, "filter only the part to the right of a moving line", NULL},
      {NULL, 0, 0, G_OPTION_ARG_NONE, NULL, NULL, NULL},
  };
  g_autoptr(GOptionContext) context = g_option_context_new("[--] ELEMENT ! ELEMENT ...");
  g_autoptr(GError) error = NULL;
  int status = 2, first = 1;

  g_option_context_set_main_group(context, g_option_group_new("media", "", "", user_data, NULL));
  g_option_context_add_main_entries(context, entries, NULL);
  g_option_context_add_main_entries(context, play_options, NULL);
  if (options)
    g_option_context_add_main_entries(context, options, NULL);
  g_option_context_set_strict_posix(context, TRUE);
  if (!g_option_context_parse(context, &argc, &argv, &error))
    g_printerr("%s\n", error->message);
  else {
    if (argc > 1 && strcmp(argv[1], "--") == 0)
      first++;
    status = run(&media, (const char **)argv + first, prepare, user_data);
  }
  if (media.pipeline)
    gst_object_unref(media.pipeline);
  g_clear_pointer(&media.cut, cut_free);
  g_clear_pointer(&media.mux, mux_free);
  g_clear_pointer(&media.photo, photo_free);
  g_clear_pointer(&media.truncation, truncation_free);
  g_free(media.input);
  g_free(media.picture);
  g_free(media.still);
  g_free(media.output);
  g_free(media.format);
  g_free(media.encoder);
  g_free(media.codec);
  return status;
}
