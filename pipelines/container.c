/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "container.h"

#include <gst/gst.h>
#include <string.h>

/* Of one codec the encoders on GPUs come first. */
static const Encoder encoders[] = {
    {"h264", "nvh264enc", "", "rc-mode=constqp qp-const=%d", 51, 0, "h264parse"},
    {"h264", "x264enc speed-preset=veryfast pass=qual", "quantizer=20", "quantizer=%d", 50, 1, NULL},
    {"h265", "nvh265enc", "", "rc-mode=constqp qp-const=%d", 51, 0, "h265parse"},
    {"h265", "x265enc speed-preset=veryfast", "qp=24", "qp=%d", 51, 1, "h265parse"},
    {"av1", "av1enc cpu-used=8 row-mt=true end-usage=q", "min-quantizer=28 max-quantizer=28",
     "min-quantizer=%1$d max-quantizer=%1$d", 63, 1, "av1parse"},
    {"vp9", "vp9enc deadline=1 cpu-used=6 row-mt=true target-bitrate=40000000", "min-quantizer=24 max-quantizer=24",
     "min-quantizer=%1$d max-quantizer=%1$d", 63, 1, NULL},
    {"vp8", "vp8enc deadline=1 cpu-used=4 target-bitrate=40000000", "end-usage=cq cq-level=12",
     "min-quantizer=%1$d max-quantizer=%1$d", 63, 1, NULL},
    {"theora", "theoraenc", "", "quality=%d", 0, 63, NULL},
    {"png", "pngenc snapshot=true", "", NULL, 0, 0, NULL},
    {"jpeg", "jpegenc snapshot=true", "quality=90", "quality=%d", 0, 100, NULL},
};

static const Container containers[] = {
    {".mp4", {"h264", "h265", "av1"}, "mp4mux", "text/x-raw", {"avenc_aac", "voaacenc"}},
    {".mkv", {"h264", "h265", "av1", "vp9"}, "matroskamux", "text/x-raw; " CONTAINER_ASS, {"opusenc", "vorbisenc"}},
    {".webm", {"vp8", "vp9", "av1"}, "webmmux", NULL, {"opusenc", "vorbisenc"}},
    {".ogv", {"theora"}, "oggmux", NULL, {"vorbisenc"}},
    {".png", {"png"}, NULL, NULL, {NULL}},
    {".jpg", {"jpeg"}, NULL, NULL, {NULL}},
    {".jpeg", {"jpeg"}, NULL, NULL, {NULL}},
};

const Container *
container_find(const char *output)
{
  g_autofree char *name = g_ascii_strdown(output, -1);

  for (gsize i = 0; i < G_N_ELEMENTS(containers); i++)
    if (g_str_has_suffix(name, containers[i].suffix))
      return &containers[i];
  return NULL;
}

static GstElementFactory *
find_factory(const char *elements)
{
  g_autofree char *name = g_strndup(elements, strcspn(elements, " "));

  return gst_element_factory_find(name);
}

gboolean
container_exists(const char *elements)
{
  g_autoptr(GstElementFactory) factory = find_factory(elements);

  return factory != NULL;
}

gboolean
container_takes(const char *elements, const char *format)
{
  g_autofree char *caps_text = g_strdup_printf("video/x-raw(ANY),format=%s", format);
  g_autoptr(GstCaps) caps = gst_caps_from_string(caps_text);
  g_autoptr(GstElementFactory) factory = find_factory(elements);

  return caps && factory && gst_element_factory_can_sink_any_caps(factory, caps);
}

const char *
container_first(const char *const elements[2])
{
  for (int i = 0; i < 2 && elements[i]; i++)
    if (container_exists(elements[i]))
      return elements[i];
  return NULL;
}

static char *
list_codecs(const Container *container)
{
  GString *text = g_string_new(NULL);

  for (gsize i = 0; i < G_N_ELEMENTS(container->codec) && container->codec[i]; i++)
    g_string_append_printf(text, "%s%s", i ? " " : "", container->codec[i]);
  return g_string_free(text, FALSE);
}

static gboolean
holds(const Container *container, const char *codec)
{
  for (gsize i = 0; i < G_N_ELEMENTS(container->codec) && container->codec[i]; i++)
    if (strcmp(container->codec[i], codec) == 0)
      return TRUE;
  return FALSE;
}

const Encoder *
container_encoder(const Container *container, const char *codec, const char *format)
{
  if (!codec)
    codec = container->codec[0];
  if (!holds(container, codec))
    return NULL;
  for (gsize i = 0; i < G_N_ELEMENTS(encoders); i++)
    if (strcmp(encoders[i].codec, codec) == 0 && container_exists(encoders[i].element) &&
        (!format || container_takes(encoders[i].element, format)))
      return &encoders[i];
  return NULL;
}

/* Returns the encoder's elements, or NULL if it has no quality. */
static char *
describe(const Encoder *encoder, int quality)
{
  g_autofree char *setting = NULL;

  if (quality < 0)
    setting = g_strdup(encoder->usual);
  else if (encoder->quality)
    setting = g_strdup_printf(encoder->quality, encoder->worst + (encoder->best - encoder->worst) * quality / 100);
  else
    return NULL;
  return g_strconcat(encoder->element, setting[0] ? " " : "", setting, encoder->parser ? " ! " : "", encoder->parser,
                     NULL);
}

static void
tell_lack(const Container *container, const char *codec)
{
  g_autofree char *codecs = list_codecs(container);

  if (!holds(container, codec))
    g_printerr("CODEC=%s cannot be: %s holds %s\n", codec, container->suffix, codecs);
  else
    g_printerr("there is no encoder of %s for %s here; gstreamer1.0-plugins-good, -ugly and -bad have encoders of %s\n",
               codec, container->suffix, codecs);
}

char *
container_choose(const Container *container, const char *codec, const char *format, int quality)
{
  const Encoder *encoder = container_encoder(container, codec, format);
  char *elements;

  if (!encoder)
    encoder = container_encoder(container, codec, NULL);
  if (!encoder) {
    tell_lack(container, codec ? codec : container->codec[0]);
    return NULL;
  }
  elements = describe(encoder, quality);
  if (!elements)
    g_printerr("QUALITY=%d cannot be: %s loses nothing\n", quality, container->suffix);
  return elements;
}

gboolean
container_fits(const Container *container, const char *elements, const char *format)
{
  if (!format || !container->mux || container_takes(elements, format))
    return TRUE;
  g_printerr("FORMAT=%s cannot be: %.*s does not take it, see gst-inspect-1.0\n", format, (int)strcspn(elements, " "),
             elements);
  return FALSE;
}
