/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Every row of the format table against GStreamer's own description of the format.
 */
#include <gst/video/video.h>

#include <convolve/format.h>

#include "support/suite.h"

static const CnvRole yuv_roles[] = {CNV_ROLE_Y, CNV_ROLE_U, CNV_ROLE_V, CNV_ROLE_A};
static const CnvRole rgb_roles[] = {CNV_ROLE_R, CNV_ROLE_G, CNV_ROLE_B, CNV_ROLE_A};

static const CnvRole *
roles_of(const GstVideoFormatInfo *info)
{
  return GST_VIDEO_FORMAT_INFO_IS_RGB(info) ? rgb_roles : yuv_roles;
}

/* Where a channel is by the table: plane of memory, and bytes to it in a pixel. */
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

/* The component whose sample is channel c of plane p, or -1 where none is: then it is padding. GStreamer counts the
 * offset in bytes, but in samples for the second half of P010's and P016's chroma, and not at all within a 32-bit word.
 */
static int
component_at(const GstVideoFormatInfo *info, const CnvFormat *format, int p, int c)
{
  const guint at = offset_of(format, p, c);
  const gboolean in_samples = format->plane[p].channels == 2 && format->sample_bytes == 2;

  for (guint i = 0; i < GST_VIDEO_FORMAT_INFO_N_COMPONENTS(info); i++) {
    const guint found = GST_VIDEO_FORMAT_INFO_POFFSET(info, i);

    if (GST_VIDEO_FORMAT_INFO_PLANE(info, i) != memory_of(format, p))
      continue;
    if (format->sample_bytes == 4 ? roles_of(info)[i] == format->plane[p].role[c]
                                  : found == at || (in_samples && found == at / 2))
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
    ck_assert_msg(GST_VIDEO_FORMAT_INFO_IS_LE(info) || format->sample_bytes == 1, "%s is big endian", format->name);
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

/* The bits of a word are where GStreamer packs a pixel's full red, green, blue and alpha. */
START_TEST(test_words)
{
  static const CnvRole order[] = {CNV_ROLE_A, CNV_ROLE_R, CNV_ROLE_G, CNV_ROLE_B}; /* of ARGB64 */
  guint words = 0;

  for (const CnvFormat *format = cnv_formats; format->name; format++) {
    const GstVideoFormatInfo *info = gst_video_format_get_info(gst_video_format_from_string(format->name));

    for (int c = 0; format->sample_bytes == 4 && c < format->plane[0].channels; c++, words++) {
      const CnvRole role = format->plane[0].role[c];
      guint32 word = 0;
      gpointer data[GST_VIDEO_MAX_PLANES] = {&word};
      const gint stride[GST_VIDEO_MAX_PLANES] = {4};
      guint16 pixel[4];

      for (int i = 0; i < 4; i++)
        pixel[i] = order[i] == role ? 0xffff : 0;
      ck_assert_int_eq(info->unpack_format, GST_VIDEO_FORMAT_ARGB64);
      info->pack_func(info, GST_VIDEO_PACK_FLAG_NONE, pixel, sizeof pixel, data, stride, GST_VIDEO_CHROMA_SITE_UNKNOWN,
                      0, 1);
      ck_assert_uint_eq(GUINT32_FROM_LE(word), ((1u << cnv_format_depth(format, role)) - 1)
                                                   << format->plane[0].offset[c]);
    }
  }
  ck_assert_uint_eq(words, 8);
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

/* A row ends with its last sample, which is within GStreamer's stride, and short of it by less than a pair of pixels.
 */
START_TEST(test_memories)
{
  static const int sizes[] = {1, 2, 3, 4, 5, 16, 17, 1919, 1920};
  static const struct {
    const char *format;
    int width, bytes;
  } rows[] = {{"YUY2", 3, 8}, {"YUY2", 4, 8}, {"YUY2", 1, 4},      {"UYVY", 3, 7}, {"UYVY", 4, 8},
              {"UYVY", 1, 3}, {"NV12", 3, 3}, {"P010_10LE", 3, 6}, {"RGB", 3, 9},  {"RGB10A2_LE", 3, 12}};

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
  tcase_add_test(tcase, test_words);
  tcase_add_test(tcase, test_plane_sizes);
  tcase_add_test(tcase, test_memories);
  tcase_add_test(tcase, test_find);
}

int
main(void)
{
  return test_main("format", add_tests);
}
