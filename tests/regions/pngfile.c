/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * PNG files (gst/regions/pngfile.c): every colour type and depth, interlaced or not, with every filter, written here
 * from known samples; and damaged files.
 */
#include <math.h>
#include <string.h>

#include <gio/gio.h>

#include <convolve/status.h>

#include "regions/pngfile.h"
#include "support/suite.h"

#define MAX_SIZE 16   /* columns and rows */
#define HEADER_END 33 /* first byte after the signature and the header chunk */

typedef struct {
  guint color, depth, width, height;
  gboolean interlaced;
} Kind;

static const struct {
  guint color, channels, depths;
} kinds[] = {{0, 1, 1 | 2 | 4 | 8 | 16}, {2, 3, 8 | 16}, {3, 1, 1 | 2 | 4 | 8}, {4, 2, 8 | 16}, {6, 4, 8 | 16}};

static guint
channels_of(const Kind *kind)
{
  for (gsize i = 0; i < G_N_ELEMENTS(kinds); i++)
    if (kinds[i].color == kind->color)
      return kinds[i].channels;
  return 0;
}

/* Returns a sample of the picture: noise with some black and white. */
static guint
sample(const Kind *kind, guint x, guint y, guint channel)
{
  guint32 noise = (x * 8 + channel + y * 1024 + 1) * 2654435761u;
  guint most = (1u << kind->depth) - 1;

  if (x % 4 == 1)
    return y % 2 ? most : 0;
  return (noise >> 13) & most;
}

/* Returns a colour of the palette. */
static guint
color_of(guint i, guint channel)
{
  return i < 2 ? 255 * i : (i * 89 + channel * 61) % 256;
}

/* ---- the writer ---- */

static void
add_chunk(GByteArray *file, const char *type, const guint8 *data, gsize size)
{
  guint32 crc = G_MAXUINT32, length = GUINT32_TO_BE((guint32)size);
  guint first;

  g_byte_array_append(file, (const guint8 *)&length, 4);
  first = file->len;
  g_byte_array_append(file, (const guint8 *)type, 4);
  if (size > 0)
    g_byte_array_append(file, data, (guint)size);
  for (guint i = first; i < file->len; i++)
    for (int bit = 0; bit < 8; bit++)
      crc = (crc >> 1) ^ (((crc ^ (file->data[i] >> bit)) & 1) * 0xedb88320u);
  crc = GUINT32_TO_BE(~crc);
  g_byte_array_append(file, (const guint8 *)&crc, 4);
}

static void
put_bits(guint8 *row, gsize at, guint value, guint n)
{
  for (guint bit = 0; bit < n; bit++, at++)
    if (value >> (n - 1 - bit) & 1)
      row[at / 8] |= (guint8)(0x80 >> at % 8);
}

static int
prediction(guint filter, int left, int up, int corner)
{
  int p = left + up - corner, a = abs(p - left), b = abs(p - up), c = abs(p - corner);

  switch (filter) {
  case 1:
    return left;
  case 2:
    return up;
  case 3:
    return (left + up) >> 1;
  case 4:
    return a <= b && a <= c ? left : b <= c ? up : corner;
  default:
    return 0;
  }
}

/* Appends the rows of a pass, each with a different filter. */
static void
add_pass(GByteArray *data, const Kind *kind, guint x0, guint y0, guint step_x, guint step_y)
{
  guint8 above[MAX_SIZE * 8] = {0};
  guint n_channels = channels_of(kind), bits = kind->depth * n_channels, step = MAX(bits / 8, 1);
  guint columns = kind->width > x0 ? (kind->width - x0 - 1) / step_x + 1 : 0;
  guint n = (columns * bits + 7) / 8;

  for (guint y = y0; columns > 0 && y < kind->height; y += step_y) {
    guint8 row[MAX_SIZE * 8] = {0}, out[MAX_SIZE * 8], filter = (guint8)((y / step_y + 4) % 5);

    for (guint x = 0; x < columns; x++)
      for (guint c = 0; c < n_channels; c++)
        put_bits(row, (gsize)x * bits + (gsize)c * kind->depth, sample(kind, x0 + x * step_x, y, c), kind->depth);
    for (guint i = 0; i < n; i++)
      out[i] =
          (guint8)(row[i] - prediction(filter, i < step ? 0 : row[i - step], above[i], i < step ? 0 : above[i - step]));
    g_byte_array_append(data, &filter, 1);
    g_byte_array_append(data, out, n);
    memcpy(above, row, sizeof(above));
  }
}

static GByteArray *
rows_of(const Kind *kind)
{
  GByteArray *data = g_byte_array_new();

  if (!kind->interlaced)
    add_pass(data, kind, 0, 0, 1, 1);
  else
    for (guint pass = 0; pass < 7; pass++) /* Adam7, as in the standard */
      add_pass(data, kind, (const guint[]){0, 4, 0, 2, 0, 1, 0}[pass], (const guint[]){0, 0, 4, 0, 2, 0, 1}[pass],
               (const guint[]){8, 8, 4, 4, 2, 2, 1}[pass], (const guint[]){8, 8, 8, 4, 4, 2, 2}[pass]);
  return data;
}

/* Appends short chunks of pixels, so that a row spans several, and chunks that the reader ignores. */
static void
add_pixels(GByteArray *file, const GByteArray *rows)
{
  g_autoptr(GConverter) deflater = G_CONVERTER(g_zlib_compressor_new(G_ZLIB_COMPRESSOR_FORMAT_ZLIB, 9));
  guint8 packed[8 * MAX_SIZE * MAX_SIZE * 2 + 1000];
  gsize read, n;

  ck_assert_int_eq(g_converter_convert(deflater, rows->data, rows->len, packed, sizeof(packed),
                                       G_CONVERTER_INPUT_AT_END, &read, &n, NULL),
                   G_CONVERTER_FINISHED);
  for (gsize at = 0; at < n; at += 23)
    add_chunk(file, "IDAT", packed + at, MIN(23, n - at));
}

static GByteArray *
write_png(const Kind *kind)
{
  GByteArray *file = g_byte_array_new(), *rows = rows_of(kind);
  guint8 palette[256][3];
  const guint8 header[] = {0,
                           0,
                           0,
                           (guint8)kind->width,
                           0,
                           0,
                           0,
                           (guint8)kind->height,
                           (guint8)kind->depth,
                           (guint8)kind->color,
                           0,
                           0,
                           (guint8)kind->interlaced};

  for (guint i = 0; i < 256; i++)
    for (guint c = 0; c < 3; c++)
      palette[i][c] = (guint8)color_of(i, c);
  g_byte_array_append(file, (const guint8 *)"\x89PNG\r\n\x1a\n", 8);
  add_chunk(file, "IHDR", header, sizeof(header));
  add_chunk(file, "gAMA", (const guint8 *)"\0\0\xb1\x8f", 4);
  if (kind->color == 3)
    add_chunk(file, "PLTE", palette[0], 3u << kind->depth);
  if (kind->color == 3)
    add_chunk(file, "tRNS", (const guint8 *)"\0", 1);
  add_pixels(file, rows);
  add_chunk(file, "tEXt", (const guint8 *)"a\0b", 3);
  add_chunk(file, "IEND", NULL, 0);
  g_byte_array_unref(rows);
  return file;
}

/* ---- right files ---- */

static double
expected_weight(const Kind *kind, guint x, guint y)
{
  double most = (1u << kind->depth) - 1, rgb[3];
  guint first = sample(kind, x, y, 0);

  for (guint c = 0; c < 3; c++)
    rgb[c] = kind->color == 3        ? color_of(first, c) / 255.0
             : channels_of(kind) < 3 ? first / most
                                     : sample(kind, x, y, c) / most;
  return 255 * (0.299 * rgb[0] + 0.587 * rgb[1] + 0.114 * rgb[2]);
}

static void
check_kind(const Kind *kind)
{
  g_autoptr(GByteArray) file = write_png(kind);
  g_autoptr(GError) error = NULL;
  guint width = 0, height = 0;
  g_autofree guint8 *weights =
      gst_cuda_convolve_png_read((const char *)file->data, file->len, "a name", &width, &height, &error);

  ck_assert_msg(weights != NULL, "colour type %u of %u bits, %ux%u, interlaced %d: %s", kind->color, kind->depth,
                kind->width, kind->height, kind->interlaced, error ? error->message : "");
  ck_assert(width == kind->width && height == kind->height);
  for (guint y = 0; y < height; y++)
    for (guint x = 0; x < width; x++)
      ck_assert_msg(fabs(weights[y * width + x] - expected_weight(kind, x, y)) < 0.501,
                    "colour type %u of %u bits, %ux%u, interlaced %d: %d at (%u, %u) and not %g", kind->color,
                    kind->depth, width, height, kind->interlaced, weights[y * width + x], x, y,
                    expected_weight(kind, x, y));
}

/* Sizes with passes without pixels, and with rows that end within a byte. */
GST_START_TEST(test_all_kinds)
{
  static const guint sizes[][2] = {{1, 1}, {3, 2}, {2, 5}, {8, 8}, {13, 11}, {16, 16}};
  int n = 0;

  for (gsize k = 0; k < G_N_ELEMENTS(kinds); k++)
    for (guint depth = 1; depth <= 16; depth *= 2)
      for (gsize s = 0; s < G_N_ELEMENTS(sizes) && (kinds[k].depths & depth); s++)
        for (int interlaced = 0; interlaced < 2; interlaced++, n++)
          check_kind(&(Kind){kinds[k].color, depth, sizes[s][0], sizes[s][1], interlaced});
  ck_assert_int_eq(n, 15 * 6 * 2);
}
GST_END_TEST;

/* ---- wrong files ---- */

/* A truncated file is rejected, unless only the end after the pixels is missing. A file with a changed byte is rejected
 * or has the same weights: all damage is detected. */
GST_START_TEST(test_damage)
{
  static const Kind damaged[] = {{0, 8, 9, 5}, {3, 4, 7, 6, TRUE}, {6, 16, 4, 3}};

  for (gsize k = 0; k < G_N_ELEMENTS(damaged); k++) {
    g_autoptr(GByteArray) file = write_png(&damaged[k]);
    guint width, height, cells = damaged[k].width * damaged[k].height;
    g_autofree guint8 *right =
        gst_cuda_convolve_png_read((const char *)file->data, file->len, "a name", &width, &height, NULL);

    ck_assert(right != NULL);
    for (gsize i = 8; i < file->len; i++)
      for (int change = 0; change < 9; change++) { /* each bit, and truncation here */
        g_autofree char *bytes = g_memdup2(file->data, change < 8 ? file->len : i);
        g_autoptr(GError) error = NULL;
        g_autofree guint8 *weights = NULL;

        if (change < 8)
          bytes[i] = (char)(bytes[i] ^ 1 << change);
        weights = gst_cuda_convolve_png_read(bytes, change < 8 ? file->len : i, "a name", &width, &height, &error);
        ck_assert((weights == NULL) == (error != NULL));
        ck_assert(!error || g_str_has_prefix(error->message, "a name: "));
        ck_assert_msg(!weights || (width * height == cells && memcmp(weights, right, cells) == 0),
                      "kind %d, byte %d, change %d", (int)k, (int)i, change);
        ck_assert_msg(!weights || change < 8 || i >= file->len - 12 - 15, "kind %d, end at byte %d", (int)k, (int)i);
      }
  }
}
GST_END_TEST;

/* Headers that are consistent, but describe impossible pictures. */
GST_START_TEST(test_headers)
{
  static const struct {
    guint8 header[13];
    const char *message;
  } rows[] = {
      {{0, 0, 0, 1, 0, 0, 0, 1, 3, 0}, "colour type 0 with 3 bits does not exist"},
      {{0, 0, 0, 1, 0, 0, 0, 1, 16, 3}, "colour type 3 with 16 bits does not exist"},
      {{0, 0, 0, 1, 0, 0, 0, 1, 4, 2}, "colour type 2 with 4 bits does not exist"},
      {{0, 0, 0, 1, 0, 0, 0, 1, 8, 1}, "colour type 1 with 8 bits does not exist"},
      {{0, 0, 0, 1, 0, 0, 0, 1, 0, 0}, "colour type 0 with 0 bits does not exist"},
      {{0, 0, 0, 1, 0, 0, 0, 1, 8, 0, 1}, "compression 1, filter 0 and interlace 0, and the only values are 0, 0 and"},
      {{0, 0, 0, 1, 0, 0, 0, 1, 8, 0, 0, 0, 2}, "compression 0, filter 0 and interlace 2"},
      {{0, 0, 0, 0, 0, 0, 0, 1, 8, 0}, "a picture of 0x1 samples, and masks have 1 to 32768"},
      {{255, 255, 255, 255, 0, 0, 0, 2, 8, 0}, "a picture of 4294967295x2 samples"},
      {{0, 0, 128, 0, 0, 0, 128, 0, 16, 6}, "a picture of 32768x32768 samples"},
      {{0, 0, 32, 0, 0, 0, 32, 0, 16, 6}, "it ends early"},
      {{0, 0, 0, 1, 0, 0, 0, 1, 8, 3}, "a pixel has colour 0 in a palette of 0"},
  };

  for (gsize i = 0; i < G_N_ELEMENTS(rows); i++) {
    g_autoptr(GByteArray) file = g_byte_array_new(), pixels = g_byte_array_new();
    g_autoptr(GError) error = NULL;
    guint width, height;

    g_byte_array_append(pixels, (const guint8 *)"\0\0", 2);
    g_byte_array_append(file, (const guint8 *)"\x89PNG\r\n\x1a\n", 8);
    add_chunk(file, "IHDR", rows[i].header, sizeof(rows[i].header));
    add_pixels(file, pixels);
    add_chunk(file, "IEND", NULL, 0);
    ck_assert(!gst_cuda_convolve_png_read((const char *)file->data, file->len, "a name", &width, &height, &error));
    ck_assert(g_error_matches(error, CNV_ERROR, CNV_ERROR_SETTINGS));
    ck_assert_msg(strstr(error->message, rows[i].message) != NULL, "row %d: %s", (int)i, error->message);
  }
}
GST_END_TEST;

/* A palette that is not a whole number of colours, or that has too many colours, is rejected before it is read. */
GST_START_TEST(test_palettes)
{
  static const Kind kind = {3, 8, 1, 1};
  static const guint sizes[] = {1, 4, 3 * 256 + 1, 3 * 257, 1 << 20};
  static const guint8 colors[1 << 20];

  for (gsize i = 0; i < G_N_ELEMENTS(sizes); i++) {
    g_autoptr(GByteArray) file = write_png(&kind), chunk = g_byte_array_new();
    g_autofree char *message = g_strdup_printf("its palette has %u bytes, not 3 for each of", sizes[i]);
    g_autoptr(GError) error = NULL;
    guint width, height;

    add_chunk(chunk, "PLTE", colors, sizes[i]);
    g_byte_array_append(chunk, file->data + HEADER_END, file->len - HEADER_END);
    g_byte_array_set_size(file, HEADER_END);
    g_byte_array_append(file, chunk->data, chunk->len);
    ck_assert(!gst_cuda_convolve_png_read((const char *)file->data, file->len, "a name", &width, &height, &error));
    ck_assert_msg(strstr(error->message, message) != NULL, "%u bytes: %s", sizes[i], error->message);
  }
}
GST_END_TEST;

static void
add_tests(TCase *tcase)
{
  tcase_add_test(tcase, test_all_kinds);
  tcase_add_test(tcase, test_damage);
  tcase_add_test(tcase, test_headers);
  tcase_add_test(tcase, test_palettes);
}

int
main(void)
{
  return test_main("pngfile", add_tests);
}
