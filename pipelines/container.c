/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "container.h"

#include <gst/gst.h>
#include <string.h>

#define H264 "x264enc speed-preset=veryfast pass=qual quantizer=20"
#define VP8 "vp8enc deadline=1 cpu-used=4 end-usage=cq cq-level=12 target-bitrate=40000000"

static const Container containers[] = {
    {".mp4", {"nvh264enc ! h264parse", H264}, "mp4mux", "text/x-raw", {"avenc_aac", "voaacenc"}},
    {".mkv", {"nvh264enc ! h264parse", H264}, "matroskamux", "text/x-raw; " CONTAINER_ASS, {"opusenc", "vorbisenc"}},
    {".webm", {VP8}, "webmmux", NULL, {"opusenc", "vorbisenc"}},
    {".ogv", {"theoraenc"}, "oggmux", NULL, {"vorbisenc"}},
    {".png", {"pngenc snapshot=true"}, NULL, NULL, {NULL}},
    {".jpg", {"jpegenc snapshot=true quality=90"}, NULL, NULL, {NULL}},
    {".jpeg", {"jpegenc snapshot=true quality=90"}, NULL, NULL, {NULL}},
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

const char *
container_encoder(const Container *container, const char *format)
{
  for (int i = 0; i < 2 && container->encoder[i]; i++)
    if (container_takes(container->encoder[i], format))
      return container->encoder[i];
  return NULL;
}
