/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Compares every row of the format table with GStreamer's description of the format.
 */
#include <gst/video/video.h>

#include <convolve/format.h>

#include "support/frames.h"
#include "support/suite.h"

static const CnvRole yuv_roles[] = {CNV_ROLE_Y, CNV_ROLE_U, CNV_ROLE_V, CNV_ROLE_A};
static const CnvRole rgb_roles[] = {CNV_ROLE_R, CNV_ROLE_G, CNV_ROLE_B, CNV_ROLE_A};

static const CnvRole *
roles_of(const GstVideoFormatInfo *info)
{
  return GST_VIDEO_FORMAT_INFO_IS_RGB(info) ? rgb_roles : yuv_roles;
}

/* Return the place of a channel according to the table: plane of memory, and bytes to it in a pixel. */
static guint
memory_of(const CnvFormat *format, int p)
{
  return format->plane[p].step ? 0 : p;
}

static guint
offset_of(const CnvFormat *format, int p, int c)
{
  return format->plane[p].step ? format->plane[p].offset[c] : c * format->sample_bytes;
}

/* Returns FALSE if components share bytes in GStreamer's description, as in 32-bit words, Y210 and similar formats.
 * Only GStreamer's functions know their place, see test_pixels. */
static gboolean
tells_offsets(const GstVideoFormatInfo *info)
{
  for (guint i = 1; i < GST_VIDEO_FORMAT_INFO_N_COMPONENTS(info); i++)
    if (GST_VIDEO_FORMAT_INFO_PLANE(info, i) != GST_VIDEO_FORMAT_INFO_PLANE(info, 0) ||
        GST_VIDEO_FORMAT_INFO_POFFSET(info, i) != GST_VIDEO_FORMAT_INFO_POFFSET(info, 0))
      return TRUE;
  return GST_VIDEO_FORMAT_INFO_N_COMPONENTS(info) == 1;
}

/* Returns TRUE for the two formats that GStreamer calls neither little endian nor shifted, but packs as if they were.
 */
static gboolean
is_loosely_described(const CnvFormat *format)
{
  return strcmp(format->name, "Y210") == 0 || strcmp(format->name, "Y410") == 0;
}

/* Returns the component whose sample is channel c of plane p, or -1 if that is padding. GStreamer counts the offset in
 * bytes, but in samples for the second half of the chroma of P010 and P016. */
static int
component_at(const GstVideoFormatInfo *info, const CnvFormat *format, int p, int c)
{
  const guint at = offset_of(format, p, c);
  const gboolean in_samples = format->plane[p].channels == 2 && format->sample_bytes == 2;

  for (guint i = 0; i < GST_VIDEO_FORMAT_INFO_N_COMPONENTS(info); i++) {
    const guint found = GST_VIDEO_FORMAT_INFO_POFFSET(info, i);

    if (GST_VIDEO_FORMAT_INFO_PLANE(info, i) != memory_of(format, p))
      continue;
    if (tells_offsets(info) ? found == at || (in_samples && found == at / 2)
                            : roles_of(info)[i] == format->plane[p].role[c])
      return i;
  }
  return -1;
}

static void
check_channel(const GstVideoFormatInfo *info, const CnvFormat *format, int p, int c)
{
  const CnvPlaneFormat *plane = &format->plane[p];
  const CnvRole role = plane->role[c];
  const int i = component_at(info, format, p, c);

  if (i < 0) {
    ck_assert_msg(role == CNV_ROLE_PADDING, "%s plane %d channel %d holds nothing", format->name, p, c);
    return;
  }
  ck_assert_msg(role == roles_of(info)[i], "%s plane %d channel %d: role %d", format->name, p, c, role);
  ck_assert_int_eq(GST_VIDEO_FORMAT_INFO_DEPTH(info, i), cnv_format_depth(format, role));
  if (!is_loosely_described(format))
    ck_assert_int_eq(GST_VIDEO_FORMAT_INFO_SHIFT(info, i), format->shift);
  ck_assert_int_eq(GST_VIDEO_FORMAT_INFO_PSTRIDE(info, i),
                   plane->step ? plane->step : plane->channels * format->sample_bytes);
  ck_assert_int_eq(GST_VIDEO_FORMAT_INFO_W_SUB(info, i), plane->sub_x);
  ck_assert_int_eq(GST_VIDEO_FORMAT_INFO_H_SUB(info, i), plane->sub_y);
}

START_TEST(test_layouts)
{
  for (const CnvFormat *format = cnv_formats; format->name; format++) {
    const GstVideoFormatInfo *info = gst_video_format_get_info(gst_video_format_from_string(format->name));
    guint components = 0;

    ck_assert_msg(info && GST_VIDEO_FORMAT_INFO_FORMAT(info) != GST_VIDEO_FORMAT_UNKNOWN, "no format %s", format->name);
    ck_assert_msg(GST_VIDEO_FORMAT_INFO_IS_LE(info) || format->sample_bytes == 1 || is_loosely_described(format),
                  "%s is big endian", format->name);
    ck_assert_int_eq(GST_VIDEO_FORMAT_INFO_N_PLANES(info), cnv_format_n_frame_planes(format));
    for (int p = 0; p < format->n_planes; p++)
      for (int c = 0; c < format->plane[p].channels; c++) {
        check_channel(info, format, p, c);
        components += component_at(info, format, p, c) >= 0;
      }
    ck_assert_msg(components == GST_VIDEO_FORMAT_INFO_N_COMPONENTS(info), "%s: %u components found", format->name,
                  components);
  }
}
END_TEST

#define PACKED_WIDTH 8
#define PACKED_HEIGHT 2

/* Fills a frame with random colours, packed by GStreamer's own function for the format. It accepts A, R, G, B or A, Y,
 * U, V with 8 or 16 bits, and cuts them off. The colour changes every two by two pixels, so that U and V are equal in
 * all subsamplings. */
static void
pack_noise(const GstVideoFormatInfo *info, guint16 colour[][PACKED_WIDTH][4], TestFrame *frame, guint32 seed)
{
  const gboolean is_8_bits = GST_VIDEO_FORMAT_INFO_BITS(gst_video_format_get_info(info->unpack_format)) == 8;
  gpointer data[GST_VIDEO_MAX_PLANES] = {NULL};
  gint stride[GST_VIDEO_MAX_PLANES] = {0};
  CnvFrame view;

  test_frame_view(frame, &view);
  for (guint m = 0; m < GST_VIDEO_FORMAT_INFO_N_PLANES(info); m++) {
    data[m] = view.data[m];
    stride[m] = (gint)view.stride[m];
  }
  for (int y = 0; y < PACKED_HEIGHT; y++) {
    guint8 bytes[PACKED_WIDTH * 4];

    for (int i = 0; i < PACKED_WIDTH * 4; i++) {
      guint16 *value = &colour[y][i / 4][i % 4];

      *value = test_random(&seed) >> 8 & 0xffff;
      if (i % 4 > 1 && !GST_VIDEO_FORMAT_INFO_IS_RGB(info))
        *value = colour[0][i / 8 * 2][i % 4];
      bytes[i] = *value >> 8;
    }
    info->pack_func(info, GST_VIDEO_PACK_FLAG_NONE, is_8_bits ? (gpointer)bytes : (gpointer)colour[y], 0, data, stride,
                    GST_VIDEO_CHROMA_SITE_UNKNOWN, y, PACKED_WIDTH);
  }
}

static guint
check_packed(const CnvFormat *format, int p, int c, const TestFrame *frame, guint16 colour[][PACKED_WIDTH][4])
{
  static const guint8 place[] = {[CNV_ROLE_Y] = 1, [CNV_ROLE_U] = 2, [CNV_ROLE_V] = 3, [CNV_ROLE_R] = 1,
                                 [CNV_ROLE_G] = 2, [CNV_ROLE_B] = 3, [CNV_ROLE_A] = 0};
  const CnvPlaneFormat *plane = &format->plane[p];
  const CnvRole role = plane->role[c];
  guint checked = 0;

  for (int y = 0; role != CNV_ROLE_PADDING && y < PACKED_HEIGHT >> plane->sub_y; y++)
    for (int x = 0; x < PACKED_WIDTH >> plane->sub_x; x++, checked++) {
      const guint16 full = colour[y << plane->sub_y][x << plane->sub_x][place[role]];

      ck_assert_msg(test_frame_get(frame, p, c, x, y) == full >> (16 - cnv_format_depth(format, role)),
                    "%s plane %d channel %d at %d, %d: %d of 0x%04x", format->name, p, c, x, y,
                    test_frame_get(frame, p, c, x, y), full);
    }
  return checked;
}

/* Every sample, and every bit of a word, is where GStreamer packs it. */
START_TEST(test_pixels)
{
  for (const CnvFormat *format = cnv_formats; format->name; format++) {
    const GstVideoFormatInfo *info = gst_video_format_get_info(gst_video_format_from_string(format->name));
    guint16 colour[PACKED_HEIGHT][PACKED_WIDTH][4];
    guint checked = 0;
    TestFrame frame;

    test_frame_init(&frame, format, PACKED_WIDTH, PACKED_HEIGHT, (TestLayout){.guard = 64});
    pack_noise(info, colour, &frame, 20 + (guint32)(format - cnv_formats));
    for (int p = 0; p < format->n_planes; p++)
      for (int c = 0; c < format->plane[p].channels; c++)
        checked += check_packed(format, p, c, &frame, colour);
    ck_assert_uint_ge(checked, PACKED_WIDTH * PACKED_HEIGHT);
    test_frame_clear(&frame);
  }
}
END_TEST

START_TEST(test_plane_sizes)
{
  static const int sizes[] = {1, 2, 3, 4, 5, 16, 17, 1919, 1920, 32767, 32768};

  for (const CnvFormat *format = cnv_formats; format->name; format++) {
    const GstVideoFormatInfo *info = gst_video_format_get_info(gst_video_format_from_string(format->name));

    for (int p = 0; p < format->n_planes; p++)
      for (guint s = 0; s < G_N_ELEMENTS(sizes); s++) {
        const int i = component_at(info, format, p, format->plane[p].role[0] == CNV_ROLE_PADDING);

        ck_assert_int_eq(cnv_format_plane_width(format, p, sizes[s]),
                         GST_VIDEO_FORMAT_INFO_SCALE_WIDTH(info, i, sizes[s]));
        ck_assert_int_eq(cnv_format_plane_height(format, p, sizes[s]),
                         GST_VIDEO_FORMAT_INFO_SCALE_HEIGHT(info, i, sizes[s]));
      }
  }
}
END_TEST

/* A row ends with its last sample. That is within GStreamer's stride, by less than a pair of pixels. */
START_TEST(test_memories)
{
  static const int sizes[] = {1, 2, 3, 4, 5, 16, 17, 1919, 1920};
  static const struct {
    const char *format;
    int width, bytes;
  } rows[] = {{"YUY2", 3, 8},  {"YUY2", 4, 8},  {"YUY2", 1, 4},      {"UYVY", 3, 7},  {"UYVY", 4, 8},
              {"UYVY", 1, 3},  {"NV12", 3, 3},  {"P010_10LE", 3, 6}, {"RGB", 3, 9},   {"RGB10A2_LE", 3, 12},
              {"Y210", 3, 16}, {"Y210", 4, 16}, {"Y212_LE", 1, 8},   {"Y410", 3, 12}, {"Y412_LE", 3, 24}};

  for (guint i = 0; i < G_N_ELEMENTS(rows); i++)
    ck_assert_int_eq(cnv_format_row_bytes(cnv_format_find(rows[i].format), 0, rows[i].width), rows[i].bytes);
  for (const CnvFormat *format = cnv_formats; format->name; format++)
    for (guint s = 0; s < G_N_ELEMENTS(sizes); s++) {
      GstVideoInfo info;

      ck_assert(gst_video_info_set_format(&info, gst_video_format_from_string(format->name), sizes[s], sizes[s]));
      for (int m = 0; m < cnv_format_n_frame_planes(format); m++) {
        const int bytes = cnv_format_row_bytes(format, m, sizes[s]);

        ck_assert_int_le(bytes, GST_VIDEO_INFO_PLANE_STRIDE(&info, m));
        ck_assert_int_gt(bytes + 8, GST_VIDEO_INFO_PLANE_STRIDE(&info, m));
      }
    }
}
END_TEST

START_TEST(test_find)
{
  guint rows = 0;

  for (const CnvFormat *format = cnv_formats; format->name; format++, rows++)
    ck_assert_msg(cnv_format_find(format->name) == format, "%s is in the table twice", format->name);
  ck_assert_uint_gt(rows, 20);
  ck_assert(cnv_format_find("NV1") == NULL);
  ck_assert(cnv_format_find("") == NULL);
}
END_TEST

static void
add_tests(TCase *tcase)
{
  tcase_add_test(tcase, test_layouts);
  tcase_add_test(tcase, test_pixels);
  tcase_add_test(tcase, test_plane_sizes);
  tcase_add_test(tcase, test_memories);
  tcase_add_test(tcase, test_find);
}

int
main(void)
{
  return test_main("format", add_tests);
}
