/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <gst/video/video.h>
#include <math.h>
#include <string.h>

#include "demo.h"
#include "scene.h"

#define SECONDS_A_WIPE 6
#define LINE_WIDTH 4 /* of the wipe, in pixels */

typedef struct {
  Scene *scene; /* of the first frame's size */
} Town;

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
paint_town(GstPad *pad, GstPadProbeInfo *info, gpointer user_data)
{
  Town *town = user_data;
  GstVideoFrame frame;

  if (!map_frame(pad, info, &frame))
    return GST_PAD_PROBE_OK;
  if (!town->scene)
    town->scene = scene_new(GST_VIDEO_FRAME_WIDTH(&frame), GST_VIDEO_FRAME_HEIGHT(&frame));
  scene_draw(town->scene, &frame, GST_BUFFER_PTS(frame.buffer));
  gst_video_frame_unmap(&frame);
  return GST_PAD_PROBE_OK;
}

static void
free_town(gpointer user_data)
{
  Town *town = user_data;

  g_clear_pointer(&town->scene, scene_free);
  g_free(town);
}

void
demo_paint_town(GstPad *pad)
{
  gst_pad_add_probe(pad, GST_PAD_PROBE_TYPE_BUFFER, paint_town, g_new0(Town, 1), free_town);
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
