/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "maskfile.h"

#include <string.h>

#include "files.h"

#define PROPERTY "roi-mask-location"
#define LONGEST_FILE (1u << 29) /* bytes */
#define KIND "a PGM or PNG file"
#define PNG_MAGIC "\x89PNG\r\n\x1a\n"
#define PNG_HEADER 24 /* bytes, up to the height */
#define DECODE_TIME (10 * GST_SECOND)

#define PATH g_quark_from_static_string("cudaconvolve-path")

static GstBuffer *
with_path(GstBuffer *mask, const char *path)
{
  gst_mini_object_set_qdata(GST_MINI_OBJECT(mask), PATH, g_strdup(path), g_free);
  return mask;
}

const char *
gst_cuda_convolve_mask_path(GstBuffer *mask)
{
  return gst_mini_object_get_qdata(GST_MINI_OBJECT(mask), PATH);
}

/* ---- PGM ---- */

/* Moves *at behind the next number; FALSE where none comes. Larger ones than anything here needs are G_MAXUINT32. */
static gboolean
read_number(const char **at, const char *end, guint *number)
{
  guint64 value = 0;
  const char *first;

  while (*at < end && (g_ascii_isspace(**at) || **at == '#'))
    if (*(*at)++ == '#')
      while (*at < end && **at != '\n' && **at != '\r')
        (*at)++;
  for (first = *at; *at < end && g_ascii_isdigit(**at); (*at)++)
    value = MIN(value * 10 + (guint)(**at - '0'), G_MAXUINT32);
  *number = (guint)value;
  return *at > first;
}

/* Likewise of a binary file's pixel: one byte, or two with the larger one first. */
static gboolean
read_bytes(const char **at, const char *end, int n, guint *number)
{
  if (end - *at < n)
    return FALSE;
  for (*number = 0; n > 0; n--)
    *number = *number << 8 | (guint8) * (*at)++;
  return TRUE;
}

GstBuffer *
gst_cuda_convolve_mask_parse(const char *bytes, gsize size, const char *path, GError **error)
{
  g_autofree char *name = gst_cuda_convolve_file_name(PROPERTY, path);
  g_autofree char *what = g_strdup_printf("%s: a picture", name);
  gboolean plain = g_str_has_prefix(bytes, "P2"), ok; /* plain: numbers are written out */
  const char *at = bytes + 2, *end = bytes + size;
  guint width, height, white, value;
  g_autofree guint8 *weights = NULL;

  if (!plain && !g_str_has_prefix(bytes, "P5"))
    ok = cnv_refuse(error, "%s: neither a PGM (P2 or P5) nor a PNG: save it as one of them", name);
  else if (!read_number(&at, end, &width) || !read_number(&at, end, &height) || !read_number(&at, end, &white) ||
           white < 1 || white > G_MAXUINT16)
    ok = cnv_refuse(error, "%s: a PGM begins with %.2s, width, height and the value of white, 1 to 65535", name, bytes);
  else
    ok = gst_cuda_convolve_mask_check_size(what, width, height, error);
  if (!ok)
    return NULL;
  at += !plain; /* the one space before binary values */
  weights = g_malloc((gsize)width * height);
  for (guint y = 0; ok && y < height; y++)
    for (guint x = 0; ok && x < width; x++) {
      if (!(plain ? read_number(&at, end, &value) : read_bytes(&at, end, white > G_MAXUINT8 ? 2 : 1, &value)))
        ok = cnv_refuse(error,
                        "%s: no value for column %u of row %u, of %ux%u pixels: the file ends early or is damaged; "
                        "save it again",
                        name, x + 1, y + 1, width, height);
      else if (value > white)
        ok = cnv_refuse(error, "%s: column %u of row %u is %u, and the file says that %u is white", name, x + 1, y + 1,
                        value, white);
      else
        weights[(gsize)y * width + x] = (guint8)((value * 255 + white / 2) / white);
    }
  return ok ? with_path(gst_cuda_convolve_mask_new(width, height, g_steal_pointer(&weights)), path) : NULL;
}

/* ---- PNG ---- */

/* FALSE with the package that an element is missing from. */
static gboolean
check_elements(const char *name, GError **error)
{
  static const struct {
    const char *element, *package;
  } needed[] = {{"filesrc", "libgstreamer1.0-0"},
                {"pngdec", "gstreamer1.0-plugins-good"},
                {"videoconvert", "gstreamer1.0-plugins-base"},
                {"appsink", "gstreamer1.0-plugins-base"}};

  for (guint i = 0; i < G_N_ELEMENTS(needed); i++) {
    g_autoptr(GstElementFactory) factory = gst_element_factory_find(needed[i].element);

    if (!factory)
      return cnv_refuse(error,
                        "%s: a PNG needs GStreamer's element %s, which is missing: install %s, or "
                        "save the mask as PGM",
                        name, needed[i].element, needed[i].package);
  }
  return TRUE;
}

/* A mask of its own memory; NULL where it is not one of width x height. */
static GstBuffer *
mask_of(GstSample *sample, guint width, guint height)
{
  GstVideoInfo info;
  GstBuffer *mask;

  if (!sample || !gst_video_info_from_caps(&info, gst_sample_get_caps(sample)) || (guint)info.width != width ||
      (guint)info.height != height)
    return NULL;
  mask = gst_buffer_copy_deep(gst_sample_get_buffer(sample));
  if (!gst_buffer_get_video_meta(mask))
    gst_buffer_add_video_meta_full(mask, GST_VIDEO_FRAME_FLAG_NONE, GST_VIDEO_FORMAT_GRAY8, width, height, 1,
                                   info.offset, info.stride);
  return mask;
}

/* The first error that was posted, or a general one. */
static void
refuse_picture(const char *name, GstElement *pipeline, GError **error)
{
  g_autoptr(GstBus) bus = gst_element_get_bus(pipeline);
  g_autoptr(GstMessage) message = gst_bus_pop_filtered(bus, GST_MESSAGE_ERROR);
  g_autoptr(GError) posted = NULL;

  if (message)
    gst_message_parse_error(message, &posted, NULL);
  g_set_error(error, CNV_ERROR, CNV_ERROR_SETTINGS, "%s: this PNG cannot be decoded (%s): save it again", name,
              posted ? posted->message : "it ends early");
}

/* The sink has no library of its own here: it is called by its signals. */
static GstBuffer *
decode(const char *path, const char *name, guint width, guint height, GError **error)
{
  g_autoptr(GstElement) pipeline = gst_parse_launch("filesrc name=file ! pngdec ! videoconvert ! "
                                                    "video/x-raw,format=GRAY8 ! appsink name=sink sync=false",
                                                    NULL);
  g_autoptr(GstElement) file = gst_bin_get_by_name(GST_BIN(pipeline), "file");
  g_autoptr(GstElement) sink = gst_bin_get_by_name(GST_BIN(pipeline), "sink");
  g_autoptr(GstSample) sample = NULL;
  GstBuffer *mask;

  g_object_set(file, "location", path, NULL);
  gst_element_set_state(pipeline, GST_STATE_PAUSED);
  g_signal_emit_by_name(sink, "try-pull-preroll", DECODE_TIME, &sample);
  mask = mask_of(sample, width, height);
  if (!mask)
    refuse_picture(name, pipeline, error);
  gst_element_set_state(pipeline, GST_STATE_NULL);
  return mask ? with_path(mask, path) : NULL;
}

/* The size is known before anything is decoded: a PNG of a few bytes can have gigabytes of pixels. */
static GstBuffer *
load_png(const char *path, const char *header, GError **error)
{
  g_autofree char *name = gst_cuda_convolve_file_name(PROPERTY, path);
  g_autofree char *what = g_strdup_printf("%s: a picture", name);
  guint32 width = GST_READ_UINT32_BE(header + PNG_HEADER - 8), height = GST_READ_UINT32_BE(header + PNG_HEADER - 4);

  if (!gst_cuda_convolve_mask_check_size(what, width, height, error) || !check_elements(name, error))
    return NULL;
  return decode(path, name, width, height, error);
}

GstBuffer *
gst_cuda_convolve_mask_load(const char *path, GError **error)
{
  gsize size;
  g_autofree char *text = gst_cuda_convolve_file_read(PROPERTY, path, LONGEST_FILE, KIND, &size, error);

  if (!text)
    return NULL;
  if (size >= PNG_HEADER && memcmp(text, PNG_MAGIC, strlen(PNG_MAGIC)) == 0)
    return load_png(path, text, error);
  return gst_cuda_convolve_mask_parse(text, size, path, error);
}
