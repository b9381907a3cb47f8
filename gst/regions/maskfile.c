/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "regions/maskfile.h"

#include "files.h"
#include "regions/pngfile.h"

#define PROPERTY "roi-mask-location"
#define LONGEST_FILE (1u << 29) /* bytes */
#define KIND "a PGM or PNG file"

#define PATH g_quark_from_static_string("cudaconvolve-path")

/* ---- PGM ---- */

/* Reads a number, and moves *at past it. Returns FALSE if there is none. Numbers above G_MAXUINT32 are read as
 * G_MAXUINT32. */
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

/* Reads a pixel of a binary file, and moves *at past it: one byte, or two with the more significant byte first. */
static gboolean
read_bytes(const char **at, const char *end, int n, guint *number)
{
  if (end - *at < n)
    return FALSE;
  for (*number = 0; n > 0; n--)
    *number = *number << 8 | (guint8) * (*at)++;
  return TRUE;
}

static gboolean
read_pgm_head(const char *bytes, const char **at, const char *end, const char *name, guint *width, guint *height,
              guint *white, GError **error)
{
  g_autofree char *what = g_strdup_printf("%s: a picture", name);

  if (!g_str_has_prefix(bytes, "P2") && !g_str_has_prefix(bytes, "P5"))
    return cnv_refuse(error, "%s: neither a PGM (P2 or P5) nor a PNG: save it in one of these formats", name);
  *at += 2;
  if (!read_number(at, end, width) || !read_number(at, end, height) || !read_number(at, end, white) || *white < 1 ||
      *white > G_MAXUINT16)
    return cnv_refuse(error,
                      "%s: the header is wrong: a PGM begins with %.2s, width, height and the value of white, 1 to "
                      "65535",
                      name, bytes);
  return gst_cuda_convolve_mask_check_size(what, *width, *height, error);
}

static guint8 *
read_pgm(const char *bytes, gsize size, const char *name, guint *width, guint *height, GError **error)
{
  gboolean plain = g_str_has_prefix(bytes, "P2"), ok = TRUE; /* plain: numbers are text */
  const char *at = bytes, *end = bytes + size;
  guint white, value;
  guint8 *weights;

  if (!read_pgm_head(bytes, &at, end, name, width, height, &white, error))
    return NULL;
  at += !plain; /* one space before binary values */
  weights = gst_cuda_convolve_mask_alloc(name, *width, *height, error);
  for (guint y = 0; ok && weights && y < *height; y++)
    for (guint x = 0; ok && x < *width; x++) {
      if (!(plain ? read_number(&at, end, &value) : read_bytes(&at, end, white > G_MAXUINT8 ? 2 : 1, &value)))
        ok = cnv_refuse(error,
                        "%s: no value for column %u of row %u, of %ux%u pixels: the file ends early or is damaged; "
                        "save it again",
                        name, x + 1, y + 1, *width, *height);
      else if (value > white)
        ok = cnv_refuse(error, "%s: column %u of row %u is %u, above the file's value of white, %u: save it again",
                        name, x + 1, y + 1, value, white);
      else
        weights[(gsize)y * *width + x] = (guint8)((value * 255 + white / 2) / white);
    }
  return ok ? weights : (g_free(weights), NULL);
}

/* ---- files ---- */

GstBuffer *
gst_cuda_convolve_mask_parse(const char *bytes, gsize size, const char *path, GError **error)
{
  g_autofree char *name = gst_cuda_convolve_file_name(PROPERTY, path);
  guint width, height;
  guint8 *weights;
  GstBuffer *mask;

  if (gst_cuda_convolve_png_begins(bytes, size))
    weights = gst_cuda_convolve_png_read(bytes, size, name, &width, &height, error);
  else
    weights = read_pgm(bytes, size, name, &width, &height, error);
  if (!weights)
    return NULL;
  mask = gst_cuda_convolve_mask_new(width, height, weights);
  gst_mini_object_set_qdata(GST_MINI_OBJECT(mask), PATH, g_strdup(path), g_free);
  return mask;
}

const char *
gst_cuda_convolve_mask_path(GstBuffer *mask)
{
  return gst_mini_object_get_qdata(GST_MINI_OBJECT(mask), PATH);
}

GstBuffer *
gst_cuda_convolve_mask_load(const char *path, GError **error)
{
  gsize size;
  g_autofree char *bytes = gst_cuda_convolve_file_read(PROPERTY, path, LONGEST_FILE, KIND, &size, error);

  return bytes ? gst_cuda_convolve_mask_parse(bytes, size, path, error) : NULL;
}
