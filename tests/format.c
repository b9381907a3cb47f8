/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Every row of the format table against GStreamer's own description of the format.
 */
#include <gst/video/video.h>

#include <convolve/format.h>

#include "suite.h"

static const CnvRole yuv_roles[] = {CNV_ROLE_Y, CNV_ROLE_U, CNV_ROLE_V, CNV_ROLE_A};
static const CnvRole rgb_roles[] = {CNV_ROLE_R, CNV_ROLE_G, CNV_ROLE_B, CNV_ROLE_A};

/* The component whose sample is channel c of plane p, or -1 where none is: then it is padding. GStreamer counts the
 * offset in bytes, but in samples for the second half of P010's and P016's chroma. */
static int
component_at(const GstVideoFormatInfo *info, const CnvFormat *format, int p, int c)
{
  const guint unit = format->plane[p].channels == 2 ? 1 : format->sample_bytes;

  for (guint i = 0; i < GST_VIDEO_FORMAT_INFO_N_COMPONENTS(info); i++)
    if (GST_VIDEO_FORMAT_INFO_PLANE(info, i) == (guint)p &&
        (GST_VIDEO_FORMAT_INFO_POFFSET(info, i) == c * unit ||
         GST_VIDEO_FORMAT_INFO_POFFSET(info, i) == c * (guint)format->sample_bytes))
      return i;
  return -1;
}

static void
check_channel(const GstVideoFormatInfo *info, const CnvFormat *format, int p, int c)
{
  const CnvPlaneFormat *plane = &format->plane[p];
  const CnvRole *roles = GST_VIDEO_FORMAT_INFO_IS_RGB(info) ? rgb_roles : yuv_roles;
  const int i = component_at(info, format, p, c);

  if (i < 0) {
    ck_assert_msg(plane->role[c] == CNV_ROLE_PADDING, "%s plane %d channel %d holds nothing", format->name, p, c);
    return;
  }
  ck_assert_msg(plane->role[c] == roles[i], "%s plane %d channel %d: role %d", format->name, p, c, plane->role[c]);
  ck_assert_int_eq(GST_VIDEO_FORMAT_INFO_DEPTH(info, i), format->depth);
  ck_assert_int_eq(GST_VIDEO_FORMAT_INFO_SHIFT(info, i), format->shift);
  ck_assert_int_eq(GST_VIDEO_FORMAT_INFO_PSTRIDE(info, i), plane->channels * format->sample_bytes);
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
    ck_assert_int_eq(GST_VIDEO_FORMAT_INFO_N_PLANES(info), format->n_planes);
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

START_TEST(test_plane_sizes)
{
  static const int sizes[] = {1, 2, 3, 4, 5, 16, 17, 1919, 1920, 32767, 32768};

  for (const CnvFormat *format = cnv_formats; format->name; format++) {
    const GstVideoFormatInfo *info = gst_video_format_get_info(gst_video_format_from_string(format->name));

    for (guint i = 0; i < GST_VIDEO_FORMAT_INFO_N_COMPONENTS(info); i++)
      for (guint s = 0; s < G_N_ELEMENTS(sizes); s++) {
        const int plane = GST_VIDEO_FORMAT_INFO_PLANE(info, i);

        ck_assert_int_eq(cnv_format_plane_width(format, plane, sizes[s]),
                         GST_VIDEO_FORMAT_INFO_SCALE_WIDTH(info, i, sizes[s]));
        ck_assert_int_eq(cnv_format_plane_height(format, plane, sizes[s]),
                         GST_VIDEO_FORMAT_INFO_SCALE_HEIGHT(info, i, sizes[s]));
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

static Suite *
format_suite(void)
{
  Suite *suite = suite_create("format");
  TCase *tcase = tcase_create("format");

  suite_add_tcase(suite, tcase);
  tcase_add_test(tcase, test_layouts);
  tcase_add_test(tcase, test_plane_sizes);
  tcase_add_test(tcase, test_find);
  return suite;
}

int
main(void)
{
  return test_suite_run(format_suite());
}
