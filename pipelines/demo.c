/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <gst/video/video.h>
#include <math.h>
#include <string.h>

#include "demo.h"
#include "scene.h"
#include "still.h"

#define SECONDS_A_WIPE 6
#define LINE_WIDTH 4 /* of the wipe, in pixels */

typedef struct {
  Still *still;
  Scene *scene; /* without a still; of the first frame's size */
} View;

static gboolean
map_frame(GstPad *pad, GstPadProbeInfo *info, GstVideoFrame *frame)
{
  g_autoptr(GstCaps) caps = gst_pad_get_current_caps(pad);
  GstVideoInfo video;

  info->data = gst_buffer_make_writable(GST_PAD_PROBE_INFO_BUFFER(info));
  return caps && gst_video_info_from_caps(&video, caps) &&
         gst_video_frame_map(frame, &video, GST_PAD_PROBE_INFO_BUFFER(info), GST_MAP_READWRITE);
}

static GstPadProbeReturn
paint_view(GstPad *pad, GstPadProbeInfo *info, gpointer user_data)
{
  View *view = user_data;
  GstVideoFrame frame;

  if (!map_frame(pad, info, &frame))
    return GST_PAD_PROBE_OK;
  if (view->still) {
    still_draw(view->still, &frame, GST_BUFFER_PTS(frame.buffer));
  } else {
    if (!view->scene)
      view->scene = scene_new(GST_VIDEO_FRAME_WIDTH(&frame), GST_VIDEO_FRAME_HEIGHT(&frame));
    scene_draw(view->scene, &frame, GST_BUFFER_PTS(frame.buffer));
  }
  gst_video_frame_unmap(&frame);
  if (view->scene)
    scene_mark_plates(view->scene, GST_PAD_PROBE_INFO_BUFFER(info), GST_BUFFER_PTS(GST_PAD_PROBE_INFO_BUFFER(info)));
  return GST_PAD_PROBE_OK;
}

static void
free_view(gpointer user_data)
{
  View *view = user_data;

  g_clear_pointer(&view->scene, scene_free);
  g_clear_pointer(&view->still, still_free);
  g_free(view);
}

gboolean
demo_paint(GstPad *pad, const char *picture)
{
  View view = {.still = picture ? still_new(picture) : NULL};

  if (picture && !view.still)
    return FALSE;
  gst_pad_add_probe(pad, GST_PAD_PROBE_TYPE_BUFFER, paint_view, g_memdup2(&view, sizeof view), free_view);
  return TRUE;
}

static int
wipe_column(GstClockTime time, int width)
{
  return (int)(width * (0.5 - 0.4 * cos(2 * G_PI * (double)time / GST_SECOND / SECONDS_A_WIPE))) / 2 * 2;
}

static GstPadProbeReturn
move_region(GstPad *pad, GstPadProbeInfo *info, gpointer filter)
{
  g_autoptr(GstCaps) caps = gst_pad_get_current_caps(pad);
  g_autofree char *region = NULL;
  GstVideoInfo video;
  int left;

  if (!caps || !gst_video_info_from_caps(&video, caps))
    return GST_PAD_PROBE_OK;
  left = wipe_column(GST_BUFFER_PTS(GST_PAD_PROBE_INFO_BUFFER(info)), video.width);
  region = g_strdup_printf("<<%d,0,%d,%d>>", left, video.width - left, video.height);
  gst_util_set_object_arg(filter, "roi", region);
  return GST_PAD_PROBE_OK;
}

static GstPadProbeReturn
draw_line(GstPad *pad, GstPadProbeInfo *info, gpointer user_data)
{
  GstVideoFrame frame;

  if (!map_frame(pad, info, &frame))
    return GST_PAD_PROBE_OK;
  if (GST_VIDEO_FRAME_N_PLANES(&frame) > 1 && GST_VIDEO_FRAME_COMP_DEPTH(&frame, 0) == 8) {
    guint8 *luma = GST_VIDEO_FRAME_PLANE_DATA(&frame, 0);
    int left = wipe_column(GST_BUFFER_PTS(frame.buffer), GST_VIDEO_FRAME_WIDTH(&frame));
    int width = MIN(LINE_WIDTH, GST_VIDEO_FRAME_WIDTH(&frame) - left);

    for (int y = 0; y < GST_VIDEO_FRAME_HEIGHT(&frame); y++)
      memset(luma + (gsize)y * GST_VIDEO_FRAME_PLANE_STRIDE(&frame, 0) + left, 235, width);
  }
  gst_video_frame_unmap(&frame);
  return GST_PAD_PROBE_OK;
}

void
demo_add_wipe(GstElement *filter)
{
  g_autoptr(GstPad) sink = gst_element_get_static_pad(filter, "sink"),
                    source = gst_element_get_static_pad(filter, "src");

  gst_util_set_object_arg(G_OBJECT(filter), "roi-source", "property");
  gst_util_set_object_arg(G_OBJECT(filter), "roi", "<<0,0,2,2>>"); /* until the first frame comes */
  gst_pad_add_probe(sink, GST_PAD_PROBE_TYPE_BUFFER, move_region, filter, NULL);
  gst_pad_add_probe(source, GST_PAD_PROBE_TYPE_BUFFER, draw_line, NULL, NULL);
  g_print("left of the line that moves: the picture as it is; right of it: filtered\n");
}
