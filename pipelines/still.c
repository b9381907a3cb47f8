/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <math.h>

#include "still.h"

struct Still {
  GstSample *sample; /* owns the frame */
  GstVideoFrame frame;
};

/* The visible part of the picture, in its pixels. */
typedef struct {
  double left, top, pixel; /* pixel: size of a pixel of the frame */
} View;

static GstSample *
decode(const char *path)
{
  g_autoptr(GstElement) pipeline = gst_parse_launch(
      "filesrc name=file ! decodebin ! videoconvert ! video/x-raw,format=Y444 ! fakesink name=end", NULL);
  g_autoptr(GstElement) file = pipeline ? gst_bin_get_by_name(GST_BIN(pipeline), "file") : NULL;
  g_autoptr(GstElement) end = pipeline ? gst_bin_get_by_name(GST_BIN(pipeline), "end") : NULL;
  GstSample *sample = NULL;

  if (!file || !end)
    return NULL;
  g_object_set(file, "location", path, NULL);
  gst_element_set_state(pipeline, GST_STATE_PAUSED);
  if (gst_element_get_state(pipeline, NULL, NULL, 20 * GST_SECOND) == GST_STATE_CHANGE_SUCCESS)
    g_object_get(end, "last-sample", &sample, NULL);
  gst_element_set_state(pipeline, GST_STATE_NULL);
  return sample;
}

Still *
still_new(const char *path)
{
  Still *still = g_new0(Still, 1);
  GstVideoInfo info;

  still->sample = decode(path);
  if (still->sample && gst_video_info_from_caps(&info, gst_sample_get_caps(still->sample)) &&
      gst_video_frame_map(&still->frame, &info, gst_sample_get_buffer(still->sample), GST_MAP_READ))
    return still;
  g_printerr("%s is not a picture that can be read\n", path);
  g_clear_pointer(&still->sample, gst_sample_unref);
  g_free(still);
  return NULL;
}

void
still_free(Still *still)
{
  gst_video_frame_unmap(&still->frame);
  gst_sample_unref(still->sample);
  g_free(still);
}

/* Returns the view at a time. Its size is 0.72 to 0.98 of the largest that fits into the picture. It stays in the upper
 * part of the picture, where faces are. */
static View
view_at(const GstVideoFrame *picture, const GstVideoFrame *frame, GstClockTime time)
{
  double turns = 2 * G_PI * (double)time / GST_SECOND;
  double width = GST_VIDEO_FRAME_WIDTH(picture), height = GST_VIDEO_FRAME_HEIGHT(picture);
  double fitting = fmin(width / GST_VIDEO_FRAME_WIDTH(frame), height / GST_VIDEO_FRAME_HEIGHT(frame));
  View view = {.pixel = fitting * (0.85 + 0.13 * cos(turns / 7))};

  view.left = (width - view.pixel * GST_VIDEO_FRAME_WIDTH(frame)) * (0.5 + 0.4 * sin(turns / 5));
  view.top = (height - view.pixel * GST_VIDEO_FRAME_HEIGHT(frame)) * (0.2 + 0.15 * sin(turns / 4));
  return view;
}

/* Interpolates between the four nearest pixels. */
static guint8
look(const GstVideoFrame *picture, int plane, double x, double y)
{
  int left = CLAMP((int)x, 0, GST_VIDEO_FRAME_WIDTH(picture) - 2);
  int top = CLAMP((int)y, 0, GST_VIDEO_FRAME_HEIGHT(picture) - 2),
      stride = GST_VIDEO_FRAME_PLANE_STRIDE(picture, plane);
  double u = CLAMP(x - left, 0, 1), v = CLAMP(y - top, 0, 1);
  const guint8 *at = (const guint8 *)GST_VIDEO_FRAME_PLANE_DATA(picture, plane) + (gsize)top * stride + left;

  return (guint8)((at[0] * (1 - u) + at[1] * u) * (1 - v) + (at[stride] * (1 - u) + at[stride + 1] * u) * v + 0.5);
}

void
still_draw(const Still *still, GstVideoFrame *frame, GstClockTime time)
{
  View view = view_at(&still->frame, frame, time);

  for (int c = 0; c < 3; c++) {
    double step = view.pixel * (c ? 2 : 1);

    for (int y = 0; y < GST_VIDEO_FRAME_COMP_HEIGHT(frame, c); y++) {
      guint8 *row = (guint8 *)GST_VIDEO_FRAME_COMP_DATA(frame, c) + (gsize)y * GST_VIDEO_FRAME_COMP_STRIDE(frame, c);

      for (int x = 0; x < GST_VIDEO_FRAME_COMP_WIDTH(frame, c); x++)
        row[x * GST_VIDEO_FRAME_COMP_PSTRIDE(frame, c)] =
            look(&still->frame, c, view.left + (x + 0.5) * step - 0.5, view.top + (y + 0.5) * step - 0.5);
    }
  }
}
