/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Masks (gst/regions/mask.c, gst/regions/maskfile.c): valid, invalid and hostile PGM files; buffers with wrong metas;
 * growing masks, compared with an independent computation; and files and masks for which there is no memory.
 */
#include <math.h>
#include <string.h>
#include <unistd.h>

#include <glib/gstdio.h>

#include "regions/maskfile.h"
#include "support/memory.h"
#include "support/suite.h"

/* ---- PGM ---- */

static const struct {
  const char *text;
  gssize size; /* -1: up to the first 0 */
  int width, height;
  guint8 weights[6];
} good_files[] = {
    {"P2 3 2 255 0 1 2 253 254 255", -1, 3, 2, {0, 1, 2, 253, 254, 255}},
    {"P2\n# drawn by hand\n2 # columns\n2\n#\n15\n0 5\n10 15\n", -1, 2, 2, {0, 85, 170, 255}},
    {"P2 2 1 1 0 1", -1, 2, 1, {0, 255}},
    {"P2\r\n2 1\r\n65535\r\n32768 65535\r\n", -1, 2, 1, {128, 255}},
    {"P5 3 2 255\n#\n\xff\x01\x02\x00", 17, 3, 2, {'#', '\n', 255, 1, 2, 0}},
    {"P5\n3 1\n127\n\x00\x40\x7f", 14, 3, 1, {0, 129, 255}},
    {"P5 2 1 65535\n\x80\x00\xff\xff", 17, 2, 1, {128, 255}},
    {"P5 1 1 255\n\x07 and more that no one reads", -1, 1, 1, {7}},
};

GST_START_TEST(test_good_files)
{
  for (gsize i = 0; i < G_N_ELEMENTS(good_files); i++) {
    gsize size = good_files[i].size < 0 ? strlen(good_files[i].text) : (gsize)good_files[i].size;
    GError *error = NULL;
    g_autoptr(GstBuffer) mask = gst_cuda_convolve_mask_parse(good_files[i].text, size, "a name", &error);
    g_autofree guint8 *weights = NULL;

    ck_assert_msg(mask != NULL, "file %d: %s", (int)i, error ? error->message : "");
    ck_assert_int_eq((int)gst_buffer_get_video_meta(mask)->width, good_files[i].width);
    ck_assert_int_eq((int)gst_buffer_get_video_meta(mask)->height, good_files[i].height);
    ck_assert_str_eq(gst_cuda_convolve_mask_path(mask), "a name");
    weights = gst_cuda_convolve_mask_read(mask, NULL, NULL);
    ck_assert(weights != NULL);
    ck_assert_msg(memcmp(weights, good_files[i].weights, (gsize)good_files[i].width * (gsize)good_files[i].height) == 0,
                  "file %d", (int)i);
  }
}
GST_END_TEST;

static const struct {
  const char *text, *message;
} bad_files[] = {
    {"", "neither a PGM"},
    {"P", "neither a PGM"},
    {"P6 1 1 255 abc", "neither a PGM"},
    {"GIF89a", "neither a PGM"},
    {"P2", "a PGM begins with P2, width, height"},
    {"P5 2", "a PGM begins with P5, width, height"},
    {"P2 # 2 2 255", "a PGM begins with P2"},
    {"P2 2 2 x", "a PGM begins with P2"},
    {"P2 -2 2 255", "a PGM begins with P2"},
    {"P2 2 2 0 0", "the value of white, 1 to 65535"},
    {"P2 2 2 65536 0", "the value of white, 1 to 65535"},
    {"P2 2 2 99999999999999999999 0", "the value of white, 1 to 65535"},
    {"P2 0 2 255", "a picture of 0x2 samples, and masks have 1 to 32768"},
    {"P2 2 32769 255", "a picture of 2x32769 samples"},
    {"P5 32768 32768 255\n", "a picture of 32768x32768 samples, and masks have"},
    {"P5 18446744073709551617 1 255\n", "a picture of 4294967295x1 samples"},
    {"P2 2 2 255 0 1 2", "no value for column 2 of row 2, of 2x2 pixels: the file ends early or is damaged"},
    {"P5 3 1 255\nab", "no value for column 3 of row 1"},
    {"P5 2 1 65535\n\1\1\1", "no value for column 2 of row 1"},
    {"P5 8000 8000 255\nab", "no value for column 3 of row 1"},
    {"P5 1 1 255", "no value for column 1 of row 1"},
    {"P2 2 1 7 7 8", "column 2 of row 1 is 8, above the file's value of white, 7"},
};

/* Each message names the file, and repeats nothing that could be secret. */
GST_START_TEST(test_bad_files)
{
  for (gsize i = 0; i < G_N_ELEMENTS(bad_files); i++) {
    GError *error = NULL;

    ck_assert(!gst_cuda_convolve_mask_parse(bad_files[i].text, strlen(bad_files[i].text), "a name", &error));
    ck_assert_msg(g_error_matches(error, CNV_ERROR, CNV_ERROR_SETTINGS), "file %d", (int)i);
    ck_assert_msg(strstr(error->message, bad_files[i].message) != NULL, "file %d: %s", (int)i, error->message);
    ck_assert_msg(g_str_has_prefix(error->message, "roi-mask-location=a name: "), "file %d: %s", (int)i,
                  error->message);
    g_clear_error(&error);
  }
}
GST_END_TEST;

/* A truncated text, or a text with any byte changed, is a mask or an error. */
GST_START_TEST(test_damaged_files)
{
  static const char *const texts[] = {"P2 # a\n3 2 255\n0 1 2\n253 254 255\n", "P5\n3 2 255\nabcdef"};

  for (gsize t = 0; t < G_N_ELEMENTS(texts); t++)
    for (gsize i = 0; i < strlen(texts[t]); i++)
      for (int byte = -1; byte < 256; byte++) {
        g_autofree char *text = g_strndup(texts[t], byte < 0 ? i : strlen(texts[t]));
        g_autoptr(GError) error = NULL;
        g_autoptr(GstBuffer) mask = NULL;

        if (byte >= 0)
          text[i] = (char)byte;
        mask = gst_cuda_convolve_mask_parse(text, byte < 0 ? i : strlen(texts[t]), "a name", &error);
        ck_assert((mask == NULL) == (error != NULL));
        ck_assert(!error || g_utf8_validate(error->message, -1, NULL));
      }
}
GST_END_TEST;

/* ---- buffers ---- */

static GstBuffer *
buffer_of(GstVideoFormat format, guint width, guint height, gsize offset, int stride, gsize size)
{
  GstBuffer *buffer = gst_buffer_new_allocate(NULL, size, NULL);
  guint8 *bytes = g_malloc(size + 1);

  for (gsize i = 0; i < size; i++)
    bytes[i] = (guint8)(i * 7);
  gst_buffer_fill(buffer, 0, bytes, size);
  g_free(bytes);
  gst_buffer_add_video_meta_full(buffer, GST_VIDEO_FRAME_FLAG_NONE, format, width, height, 1,
                                 (gsize[GST_VIDEO_MAX_PLANES]){offset}, (int[GST_VIDEO_MAX_PLANES]){stride});
  return buffer;
}

static const struct {
  GstVideoFormat format;
  guint width, height;
  gsize offset;
  int stride;
  gsize size;
  const char *message; /* NULL: it is valid */
} buffer_rows[] = {
    {GST_VIDEO_FORMAT_GRAY8, 4, 3, 0, 4, 12, NULL},
    {GST_VIDEO_FORMAT_GRAY8, 4, 3, 5, 7, 23, NULL},
    {GST_VIDEO_FORMAT_GRAY16_LE, 2, 3, 1, 5, 15, NULL},
    {GST_VIDEO_FORMAT_GRAY16_BE, 2, 3, 0, 4, 12, NULL},
    {GST_VIDEO_FORMAT_GRAY8, 32768, 1, 0, 32768, 32768, NULL},
    {GST_VIDEO_FORMAT_GRAY8, 1, 32768, 0, 1, 32768, NULL},
    {GST_VIDEO_FORMAT_GRAY8, 1, 1, 0, G_MAXINT, 1, NULL},
    {GST_VIDEO_FORMAT_GRAY8, 4, 3, 0, 4, 11, "does not hold 4x3 samples at offset 0 and stride 4"},
    {GST_VIDEO_FORMAT_GRAY8, 4, 3, 1, 4, 12, "does not hold"},
    {GST_VIDEO_FORMAT_GRAY8, 4, 3, 0, 3, 12, "does not hold"},
    {GST_VIDEO_FORMAT_GRAY8, 4, 3, 0, 0, 12, "does not hold"},
    {GST_VIDEO_FORMAT_GRAY8, 4, 3, 8, -4, 12, "does not hold"},
    {GST_VIDEO_FORMAT_GRAY8, 4, 3, 0, G_MAXINT, 12, "does not hold"},
    {GST_VIDEO_FORMAT_GRAY8, 4, 3, 0, G_MININT, 12, "does not hold"},
    {GST_VIDEO_FORMAT_GRAY8, 4, 3, 12, 4, 12, "does not hold"},
    {GST_VIDEO_FORMAT_GRAY8, 4, 3, G_MAXSIZE, 4, 12, "does not hold"},
    {GST_VIDEO_FORMAT_GRAY8, 4, 3, G_MAXSIZE - 3, 4, 12, "does not hold"},
    {GST_VIDEO_FORMAT_GRAY8, 4, 3, 0, 4, 0, "does not hold"},
    {GST_VIDEO_FORMAT_GRAY8, 1, 2, 0, 1, 1, "does not hold"},
    {GST_VIDEO_FORMAT_GRAY16_LE, 4, 3, 0, 4, 24, "does not hold"},
    {GST_VIDEO_FORMAT_GRAY8, 0, 0, 0, 4, 12, "a mask of 0x0 samples, and masks have 1 to 32768"},
    {GST_VIDEO_FORMAT_GRAY8, 0, 3, 0, 4, 12, "a mask of 0x3 samples"},
    {GST_VIDEO_FORMAT_GRAY8, 32769, 1, 0, 32769, 40000, "a mask of 32769x1 samples"},
    {GST_VIDEO_FORMAT_GRAY8, 32768, 32768, 0, 32768, 12, "a mask of 32768x32768 samples"},
    {GST_VIDEO_FORMAT_GRAY8, G_MAXUINT, G_MAXUINT, 0, 4, 12, "a mask of 4294967295x4294967295 samples"},
    {GST_VIDEO_FORMAT_NV12, 4, 3, 0, 4, 100, "has no GstVideoMeta of GRAY8"},
    {GST_VIDEO_FORMAT_UNKNOWN, 4, 3, 0, 4, 100, "has no GstVideoMeta of GRAY8"},
};

GST_START_TEST(test_buffers)
{
  g_autofree guint8 *table = g_malloc(1 << 16);

  for (int value = 0; value < 1 << 16; value++)
    table[value] = (guint8)(value % 251);
  for (gsize i = 0; i < G_N_ELEMENTS(buffer_rows); i++)
    for (int mapped = 0; mapped < 2; mapped++) {
      gboolean wide = buffer_rows[i].format != GST_VIDEO_FORMAT_GRAY8,
               big = buffer_rows[i].format == GST_VIDEO_FORMAT_GRAY16_BE;
      GstBuffer *buffer = buffer_of(buffer_rows[i].format, buffer_rows[i].width, buffer_rows[i].height,
                                    buffer_rows[i].offset, buffer_rows[i].stride, buffer_rows[i].size);
      GBytes *weight_of = mapped ? g_bytes_new(table, wide ? 1 << 16 : 1 << 8) : NULL;
      GError *error = NULL;
      g_autofree guint8 *weights = gst_cuda_convolve_mask_read(buffer, weight_of, &error);

      ck_assert_msg((weights != NULL) == (buffer_rows[i].message == NULL), "row %d: %s", (int)i,
                    error ? error->message : "");
      ck_assert_msg(!error || strstr(error->message, buffer_rows[i].message), "row %d: %s", (int)i, error->message);
      for (guint y = 0; weights && y < buffer_rows[i].height; y++)
        for (guint x = 0; x < buffer_rows[i].width; x++) {
          gsize at = buffer_rows[i].offset + y * (gsize)buffer_rows[i].stride + x * (wide ? 2u : 1u);
          guint first = (guint8)(at * 7), second = (guint8)((at + 1) * 7);
          guint value = !wide ? first : big ? first << 8 | second : second << 8 | first;
          int expected = mapped ? table[value] : (guint8)(wide ? value >> 8 : value);

          ck_assert_msg(weights[y * buffer_rows[i].width + x] == expected, "row %d at (%u, %u)", (int)i, x, y);
        }
      g_clear_error(&error);
      g_clear_pointer(&weight_of, g_bytes_unref);
      gst_buffer_unref(buffer);
    }
}
GST_END_TEST;

/* ---- growing ---- */

static const struct {
  CnvRect rect; /* the rectangle over which a mask of 6 x 4 cells is stretched, in a frame of 200 x 100 */
  double expand, feather;
  CnvRect grown;
  int cells[4]; /* cells added on the left, above, on the right and below */
} grow_rows[] = {
    {{60, 40, 6, 4}, 0, 0, {60, 40, 6, 4}, {0, 0, 0, 0}},    {{60, 40, 6, 4}, 0, 3, {57, 37, 12, 10}, {3, 3, 3, 3}},
    {{60, 40, 6, 4}, 2, 0, {58, 38, 10, 8}, {2, 2, 2, 2}},   {{60, 40, 6, 4}, 2, 1.5, {56, 36, 14, 12}, {4, 4, 4, 4}},
    {{60, 40, 24, 8}, 0, 5, {52, 34, 40, 20}, {2, 3, 2, 3}}, {{0, 0, 200, 100}, 5, 40, {0, 0, 200, 100}, {0, 0, 0, 0}},
    {{0, 40, 24, 60}, 0, 5, {0, 25, 32, 75}, {0, 1, 2, 0}},  {{60, 40, 4, 3}, 0, 1, {59, 38, 6, 7}, {2, 2, 2, 2}},
};

static double
expected_weight(const guint8 *weights, int x, int y, const double pixel[2], const double by[2])
{
  double most = 0;

  for (int v = 0; v < 4; v++)
    for (int u = 0; u < 6; u++) {
      double away = abs(u - x) * pixel[0] + abs(v - y) * pixel[1];

      if (weights[6 * v + u] > 0)
        most = MAX(most, weights[6 * v + u] * (1 + by[0] / (by[1] + 1)) - 255 * away / (by[1] + 1));
    }
  return CLAMP(most, 0, 255);
}

/* The contents of the engine's mask are private. So this compares its box with that of the computed weights, for masks
 * with one white cell at each place, and for a white mask. */
GST_START_TEST(test_growing)
{
  for (gsize i = 0; i < G_N_ELEMENTS(grow_rows); i++)
    for (int cell = 0; cell < 25; cell++) {
      const CnvRect from = grow_rows[i].rect;
      const double pixel[] = {from.width / 6.0, from.height / 4.0}, by[] = {grow_rows[i].expand, grow_rows[i].feather};
      guint8 weights[24] = {0};
      GstCudaConvolveMask mask = {NULL, NULL, from, 200, 100, by[0], by[1]};
      CnvRect box, rect;
      GError *error = NULL;
      int left = 100, right = -100, top = 100, bottom = -100;
      const int *cells = grow_rows[i].cells;
      double px, py;

      for (int c = 0; c < 24; c++)
        weights[c] = c == cell || cell == 24 ? 255 : 0;
      mask.buffer = gst_cuda_convolve_mask_new(6, 4, g_memdup2(weights, sizeof(weights)));
      ck_assert_msg(gst_cuda_convolve_mask_place(&mask, &error), "%s", error ? error->message : "");
      box = cnv_region_box(&mask.region);
      rect = mask.region.rect;
      ck_assert_msg(memcmp(&rect, &grow_rows[i].grown, sizeof(rect)) == 0, "row %d: %d %d %d %d", (int)i, rect.x,
                    rect.y, rect.width, rect.height);
      for (int y = -cells[1]; y < 4 + cells[3]; y++)
        for (int x = -cells[0]; x < 6 + cells[2]; x++)
          if (expected_weight(weights, x, y, pixel, by) >= 0.5) {
            left = MIN(left, x);
            right = MAX(right, x);
            top = MIN(top, y);
            bottom = MAX(bottom, y);
          }
      px = (double)rect.width / (6 + cells[0] + cells[2]);
      py = (double)rect.height / (4 + cells[1] + cells[3]);
      left = rect.x + MAX((int)floor((left + cells[0] - 0.5) * px), 0);
      top = rect.y + MAX((int)floor((top + cells[1] - 0.5) * py), 0);
      right = rect.x + MIN((int)ceil((right + cells[0] + 1.5) * px), rect.width);
      bottom = rect.y + MIN((int)ceil((bottom + cells[1] + 1.5) * py), rect.height);
      ck_assert_msg(box.x == left && box.y == top && box.x + box.width == right && box.y + box.height == bottom,
                    "row %d, cell %d: %d %d %dx%d and not %d %d %dx%d", (int)i, cell, box.x, box.y, box.width,
                    box.height, left, top, right - left, bottom - top);
      cnv_mask_unref(mask.region.mask);
      gst_buffer_unref(mask.buffer);
    }
}
GST_END_TEST;

/* Black masks have no box. A mask that is finer than pixels does not grow by its own samples. Nothing is added far
 * outside the frame. Masks that are too large after growing are rejected. */
GST_START_TEST(test_ends_of_growing)
{
  g_autoptr(GstBuffer) fine = gst_cuda_convolve_mask_new(32768, 1, g_malloc0(32768));
  g_autoptr(GstBuffer) large = gst_cuda_convolve_mask_new(8000, 8000, g_malloc0(8000 * 8000));
  GstCudaConvolveMask mask = {fine, NULL, {900, 500, 1, 1}, 2000, 1000};
  g_autoptr(GError) error = NULL;
  CnvRect box;

  for (mask.feather = 0; mask.feather <= 1024; mask.feather += 1024) {
    ck_assert_msg(gst_cuda_convolve_mask_place(&mask, &error), "%s", error ? error->message : "");
    box = cnv_region_box(&mask.region);
    ck_assert(box.width == 0 && box.height == 0);
    ck_assert_uint_le(cnv_mask_n_cells(mask.region.mask), mask.feather > 0 ? 2003 * 1003 : 32768);
    cnv_mask_unref(mask.region.mask);
  }
  mask = (GstCudaConvolveMask){large, NULL, {2000, 2000, 8000, 8000}, 20000, 20000, 0, 1024};
  ck_assert(!gst_cuda_convolve_mask_place(&mask, &error));
  ck_assert_msg(strstr(error->message, "a mask with its roi-feather and roi-expand of 10048x10048 samples") != NULL,
                "%s", error->message);
}
GST_END_TEST;

/* ---- memory ---- */

static char *
write_file(const char *head, gsize size)
{
  char *path;
  int file = g_file_open_tmp("mask-XXXXXX", &path, NULL);

  ck_assert(file >= 0 && write(file, head, strlen(head)) == (gssize)strlen(head));
  ck_assert(ftruncate(file, (off_t)size) == 0);
  g_close(file, NULL);
  return path;
}

#ifdef CAN_LIMIT_MEMORY

static void
expect_no_memory(gpointer result, GError **error)
{
  ck_assert(!result);
  ck_assert_msg(g_error_matches(*error, CNV_ERROR, CNV_ERROR_SETTINGS) && strstr((*error)->message, "no memory for"),
                "%s", (*error)->message);
  g_clear_error(error);
}

/* Files and metas that promise large masks are rejected if there is no memory. */
GST_START_TEST(test_no_memory)
{
  g_autofree char *large = write_file("P5 8000 8000 255\n", 500 << 20),
                  *truncated = write_file("P5 8000 8000 255\n", 99);
  g_autoptr(GstBuffer) buffer = gst_cuda_convolve_mask_new(8000, 8000, g_malloc0(8000 * 8000));
  GstCudaConvolveMask mask = {buffer, NULL, {10, 10, 8000, 8000}, 8100, 8100, 0, 4};
  GError *error = NULL;

  ck_assert(limit_memory(40 << 20));
  expect_no_memory(gst_cuda_convolve_mask_load(large, &error), &error);
  expect_no_memory(gst_cuda_convolve_mask_load(truncated, &error), &error);
  expect_no_memory(gst_cuda_convolve_mask_read(buffer, NULL, &error), &error);
  expect_no_memory(GINT_TO_POINTER(gst_cuda_convolve_mask_place(&mask, &error)), &error);
  ck_assert(limit_memory(100 << 20));
  expect_no_memory(GINT_TO_POINTER(gst_cuda_convolve_mask_place(&mask, &error)), &error);
  ck_assert(limit_memory(ALL_MEMORY));
  ck_assert(gst_cuda_convolve_mask_place(&mask, &error));
  cnv_mask_unref(mask.region.mask);
  g_unlink(large);
  g_unlink(truncated);
}
GST_END_TEST;

#endif

static guint64
bytes_read(void)
{
  g_autofree char *text = NULL;

  return g_file_get_contents("/proc/self/io", &text, NULL, NULL)
             ? g_ascii_strtoull(strstr(text, "rchar:") + 6, NULL, 10)
             : 0;
}

/* A file is read once; a file that is too large is not read. */
GST_START_TEST(test_read_once)
{
  static const struct {
    const char *head;
    gsize size, most;
  } rows[] = {{"P5 2000 2000 255\n", 2000 * 2000 + 17, 4100000},
              {"\x89PNG\r\n\x1a\n", 3000000, 3100000},
              {"P5 2 2 255\n", (gsize)600 << 20, 100000}};

  for (gsize i = 0; i < G_N_ELEMENTS(rows); i++) {
    g_autofree char *path = write_file(rows[i].head, rows[i].size);
    guint64 before = bytes_read();
    GstBuffer *mask = gst_cuda_convolve_mask_load(path, NULL);

    ck_assert_uint_le(bytes_read() - before, rows[i].most);
    ck_assert((mask != NULL) == (i == 0));
    g_unlink(path);
    gst_clear_buffer(&mask);
  }
}
GST_END_TEST;

static void
add_tests(TCase *tcase)
{
  tcase_add_test(tcase, test_good_files);
  tcase_add_test(tcase, test_bad_files);
  tcase_add_test(tcase, test_damaged_files);
  tcase_add_test(tcase, test_buffers);
  tcase_add_test(tcase, test_growing);
  tcase_add_test(tcase, test_ends_of_growing);
#ifdef CAN_LIMIT_MEMORY
  tcase_add_test(tcase, test_no_memory);
#endif
  tcase_add_test(tcase, test_read_once);
}

int
main(int argc, char **argv)
{
  gst_init(&argc, &argv);
  return test_main("maskfile", add_tests);
}
