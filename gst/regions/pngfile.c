/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Does not use GStreamer's pngdec: the one of 1.22 decodes 16-bit RGB wrongly, and setting a property cannot wait for
 * a pipeline.
 */
#include "regions/pngfile.h"

#include <string.h>

#include <gio/gio.h>

#include "regions/mask.h"

#define MAGIC "\x89PNG\r\n\x1a\n"
#define MAGIC_SIZE 8
#define CHUNK_HEAD 8 /* bytes: length and type */
#define CHUNK_CRC 4
#define HEADER_SIZE 13
#define LUMA_RED 299 /* BT.601, in thousandths */
#define LUMA_GREEN 587
#define LUMA_BLUE 114

enum { GREY = 0, RGB = 2, PALETTE = 3, GREY_ALPHA = 4, RGB_ALPHA = 6 }; /* colour types */

typedef struct {
  guint32 type;
  const guint8 *data;
  gsize size;
} Chunk;

typedef struct {
  const guint8 *at, *end; /* rest of the file, from the next chunk on */
  const char *name;
  guint width, height;
  guint depth, color, channels; /* bits per sample, colour type, samples per pixel */
  gboolean interlaced;
  guint8 palette[256]; /* luma of each colour */
  guint n_colors;
  GConverter *inflater;
  gboolean finished; /* all pixels are inflated, and their checksum is correct */
  Chunk idat;        /* rest of the current chunk of pixels */
  GError **error;
} Reader;

/* A pass over the picture: its first column and row, and the steps to the next ones. */
typedef struct {
  guint x, y, step_x, step_y;
} Pass;

static const Pass whole[] = {{0, 0, 1, 1}};
static const Pass adam7[] = {{0, 0, 8, 8}, {4, 0, 8, 8}, {0, 4, 4, 8}, {2, 0, 4, 4},
                             {0, 2, 2, 4}, {1, 0, 2, 2}, {0, 1, 1, 2}};

#define damaged(reader, format, ...)                                                                                   \
  cnv_refuse((reader)->error, "%s: this PNG is damaged (" format "): save it again", (reader)->name, ##__VA_ARGS__)

/* ---- chunks ---- */

#define TYPE(a, b, c, d) ((guint32)(a) << 24 | (guint32)(b) << 16 | (guint32)(c) << 8 | (guint32)(d))
#define IHDR TYPE('I', 'H', 'D', 'R')
#define PLTE TYPE('P', 'L', 'T', 'E')
#define IDAT TYPE('I', 'D', 'A', 'T')

static guint32
read32(const guint8 *bytes)
{
  return TYPE(bytes[0], bytes[1], bytes[2], bytes[3]);
}

static guint32
crc_of(const guint8 *bytes, gsize size)
{
  guint32 crc = G_MAXUINT32;

  for (gsize i = 0; i < size; i++) {
    crc ^= bytes[i];
    for (int bit = 0; bit < 8; bit++)
      crc = crc >> 1 ^ (crc & 1 ? 0xedb88320 : 0);
  }
  return ~crc;
}

static gboolean
next_chunk(Reader *reader, Chunk *chunk)
{
  gsize left = (gsize)(reader->end - reader->at);

  if (left < CHUNK_HEAD + CHUNK_CRC || read32(reader->at) > left - CHUNK_HEAD - CHUNK_CRC)
    return damaged(reader, "it ends early");
  *chunk = (Chunk){read32(reader->at + 4), reader->at + CHUNK_HEAD, read32(reader->at)};
  reader->at += CHUNK_HEAD + chunk->size + CHUNK_CRC;
  return TRUE;
}

/* Checks the CRC of a header or palette. Pixels have a checksum that zlib checks. */
static gboolean
check_crc(const Reader *reader, const Chunk *chunk)
{
  return crc_of(chunk->data - 4, chunk->size + 4) == read32(chunk->data + chunk->size) ||
         damaged(reader, "the checksum of its %s is wrong", chunk->type == IHDR ? "header" : "palette");
}

/* ---- what comes before the pixels ---- */

static gboolean
check_kind(Reader *reader)
{
  static const struct {
    guint color, channels, depths; /* depths: sum of the allowed bits per sample */
  } kinds[] = {{GREY, 1, 1 | 2 | 4 | 8 | 16},
               {RGB, 3, 8 | 16},
               {PALETTE, 1, 1 | 2 | 4 | 8},
               {GREY_ALPHA, 2, 8 | 16},
               {RGB_ALPHA, 4, 8 | 16}};
  guint depth = reader->depth;

  for (gsize i = 0; i < G_N_ELEMENTS(kinds); i++)
    if (kinds[i].color == reader->color && (depth & (depth - 1)) == 0 && (kinds[i].depths & depth)) {
      reader->channels = kinds[i].channels;
      return TRUE;
    }
  return damaged(reader, "colour type %u with %u bits does not exist", reader->color, depth);
}

static gboolean
read_header(Reader *reader)
{
  g_autofree char *what = g_strdup_printf("%s: a picture", reader->name);
  Chunk chunk;

  if (!next_chunk(reader, &chunk))
    return FALSE;
  if (chunk.type != IHDR || chunk.size != HEADER_SIZE)
    return damaged(reader, "it does not begin with its header");
  reader->width = read32(chunk.data);
  reader->height = read32(chunk.data + 4);
  reader->depth = chunk.data[8];
  reader->color = chunk.data[9];
  reader->interlaced = chunk.data[12] == 1;
  if (!check_crc(reader, &chunk) || !check_kind(reader))
    return FALSE;
  if (chunk.data[10] != 0 || chunk.data[11] != 0 || chunk.data[12] > 1)
    return damaged(reader,
                   "its header has compression %u, filter %u and interlace %u, and the only values are 0, 0 and 0 or 1",
                   chunk.data[10], chunk.data[11], chunk.data[12]);
  return gst_cuda_convolve_mask_check_size(what, reader->width, reader->height, reader->error);
}

static guint8
luma_of(guint64 red, guint64 green, guint64 blue, guint64 white)
{
  return (guint8)(((LUMA_RED * red + LUMA_GREEN * green + LUMA_BLUE * blue) * 255 + 500 * white) / (1000 * white));
}

/* Reads chunks up to the first one of pixels. */
static gboolean
read_palette(Reader *reader)
{
  Chunk chunk;

  for (;;) {
    if (!next_chunk(reader, &chunk))
      return FALSE;
    if (chunk.type == IDAT)
      break;
    if (chunk.type != PLTE || reader->color != PALETTE)
      continue;
    reader->n_colors = (guint)MIN(chunk.size / 3, G_N_ELEMENTS(reader->palette));
    if (chunk.size != 3 * reader->n_colors)
      return damaged(reader, "its palette has %" G_GSIZE_FORMAT " bytes, not 3 for each of at most 256 colours",
                     chunk.size);
    if (!check_crc(reader, &chunk))
      return FALSE;
    for (guint i = 0; i < reader->n_colors; i++)
      reader->palette[i] = luma_of(chunk.data[3 * i], chunk.data[3 * i + 1], chunk.data[3 * i + 2], 255);
  }
  reader->idat = chunk;
  return TRUE;
}

/* ---- rows ---- */

/* Inflates at most n bytes, perhaps none, and stores the number in *written. */
static gboolean
inflate_some(Reader *reader, guint8 *to, gsize n, gsize *written)
{
  g_autoptr(GError) error = NULL;
  GConverterResult result;
  gsize read;

  while (reader->idat.size == 0) {
    if (!next_chunk(reader, &reader->idat))
      return FALSE;
    if (reader->idat.type != IDAT)
      return damaged(reader, "it ends early");
  }
  result = g_converter_convert(reader->inflater, reader->idat.data, reader->idat.size, to, n, G_CONVERTER_NO_FLAGS,
                               &read, written, &error);
  if (result == G_CONVERTER_ERROR)
    return damaged(reader, "%s", error->message);
  reader->idat.data += read;
  reader->idat.size -= read;
  reader->finished = result == G_CONVERTER_FINISHED;
  return TRUE;
}

static gboolean
inflate(Reader *reader, guint8 *to, gsize n)
{
  gsize written;

  for (; n > 0; n -= written, to += written) {
    if (reader->finished)
      return damaged(reader, "it ends early");
    if (!inflate_some(reader, to, n, &written))
      return FALSE;
  }
  return TRUE;
}

/* Reads up to the checksum of the pixels, which zlib checks. */
static gboolean
check_sum(Reader *reader)
{
  gsize written;
  guint8 rest;

  while (!reader->finished) {
    if (!inflate_some(reader, &rest, 1, &written))
      return FALSE;
    if (written > 0)
      return damaged(reader, "it has more pixels than %ux%u", reader->width, reader->height);
  }
  return TRUE;
}

static guint8
paeth(int left, int up, int corner)
{
  int by_left = abs(up - corner), by_up = abs(left - corner), by_corner = abs(left + up - 2 * corner);

  return (guint8)(by_left <= by_up && by_left <= by_corner ? left : by_up <= by_corner ? up : corner);
}

/* Undoes the filter of a row. above: the previous row, or zeros. step: bytes to the pixel on the left. */
static gboolean
unfilter(guint filter, guint8 *row, const guint8 *above, gsize n, gsize step)
{
  if (filter > 4)
    return FALSE;
  for (gsize i = 0; filter > 0 && i < n; i++) {
    guint8 left = i < step ? 0 : row[i - step], corner = i < step ? 0 : above[i - step];

    row[i] = (guint8)(row[i] + (filter == 1   ? left
                                : filter == 2 ? above[i]
                                : filter == 3 ? (left + above[i]) / 2
                                              : paeth(left, above[i], corner)));
  }
  return TRUE;
}

static guint
sample_of(const guint8 *row, gsize i, guint depth)
{
  if (depth == 16)
    return (guint)row[2 * i] << 8 | row[2 * i + 1];
  return row[i * depth / 8] >> (8 - depth - i * depth % 8) & ((1u << depth) - 1);
}

/* Writes the weights of a row's n pixels, `step` apart. */
static gboolean
weigh_row(const Reader *reader, const guint8 *row, guint8 *to, guint n, guint step)
{
  guint white = (1u << reader->depth) - 1;

  for (gsize x = 0; x < n; x++, to += step) {
    gsize i = x * reader->channels;
    guint first = sample_of(row, i, reader->depth);

    if (reader->color == PALETTE && first >= reader->n_colors)
      return damaged(reader, "a pixel has colour %u in a palette of %u", first, reader->n_colors);
    *to = reader->color == PALETTE ? reader->palette[first]
          : reader->channels <= 2
              ? luma_of(first, first, first, white)
              : luma_of(first, sample_of(row, i + 1, reader->depth), sample_of(row, i + 2, reader->depth), white);
  }
  return TRUE;
}

/* Reads a pass. rows: buffers for a row and the one above it, each after a byte for the filter. */
static gboolean
read_pass(Reader *reader, const Pass *pass, guint8 *rows[2], guint8 *weights)
{
  guint bits = reader->channels * reader->depth;
  guint columns = reader->width > pass->x ? (reader->width - pass->x + pass->step_x - 1) / pass->step_x : 0;
  gsize size = ((gsize)columns * bits + 7) / 8;

  memset(rows[1], 0, size + 1);
  for (guint y = pass->y, n = 0; columns > 0 && y < reader->height; y += pass->step_y, n++) {
    guint8 *row = rows[n % 2], *above = rows[(n + 1) % 2];

    if (!inflate(reader, row, size + 1))
      return FALSE;
    if (!unfilter(row[0], row + 1, above + 1, size, MAX(bits / 8, 1)))
      return damaged(reader, "row %u has filter %u, and the only values are 0 to 4", y, row[0]);
    if (!weigh_row(reader, row + 1, weights + (gsize)y * reader->width + pass->x, columns, pass->step_x))
      return FALSE;
  }
  return TRUE;
}

static gboolean
read_pixels(Reader *reader, guint8 *weights)
{
  gsize row = ((gsize)reader->width * reader->channels * reader->depth + 7) / 8 + 1;
  g_autofree guint8 *rows = g_malloc(2 * row); /* 512 KiB at most */
  const Pass *passes = reader->interlaced ? adam7 : whole;
  gsize n = reader->interlaced ? G_N_ELEMENTS(adam7) : G_N_ELEMENTS(whole);

  for (gsize i = 0; i < n; i++)
    if (!read_pass(reader, &passes[i], (guint8 *[]){rows, rows + row}, weights))
      return FALSE;
  return check_sum(reader);
}

gboolean
gst_cuda_convolve_png_begins(const char *bytes, gsize size)
{
  return size >= MAGIC_SIZE && memcmp(bytes, MAGIC, MAGIC_SIZE) == 0;
}

guint8 *
gst_cuda_convolve_png_read(const char *bytes, gsize size, const char *name, guint *width, guint *height, GError **error)
{
  g_autoptr(GConverter) inflater = G_CONVERTER(g_zlib_decompressor_new(G_ZLIB_COMPRESSOR_FORMAT_ZLIB));
  Reader reader = {.name = name, .inflater = inflater, .error = error};
  guint8 *weights;

  reader.at = (const guint8 *)bytes + MAGIC_SIZE;
  reader.end = (const guint8 *)bytes + size;
  if (!read_header(&reader) || !read_palette(&reader))
    return NULL;
  *width = reader.width;
  *height = reader.height;
  weights = gst_cuda_convolve_mask_alloc(name, reader.width, reader.height, error);
  if (weights && !read_pixels(&reader, weights))
    g_clear_pointer(&weights, g_free);
  return weights;
}
