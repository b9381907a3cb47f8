/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "support/noise.h"

#include <string.h>

#include "support/frames.h"

GstBuffer *
noise_buffer(const GstVideoInfo *info, guint number)
{
  GstBuffer *buffer = gst_buffer_new_allocate(NULL, GST_VIDEO_INFO_SIZE(info), NULL);
  guint32 state = 99 + number;
  GstMapInfo map;

  ck_assert(gst_buffer_map(buffer, &map, GST_MAP_WRITE));
  for (gsize i = 0; i < map.size; i++)
    map.data[i] = test_random(&state) >> 16 & 255;
  gst_buffer_unmap(buffer, &map);
  GST_BUFFER_PTS(buffer) = number * GST_MSECOND;
  return buffer;
}

void
assert_same(GstBuffer *a, GstBuffer *b, const GstVideoInfo *info)
{
  GstVideoFrame x, y;

  ck_assert(gst_video_frame_map(&x, info, a, GST_MAP_READ) && gst_video_frame_map(&y, info, b, GST_MAP_READ));
  for (guint c = 0; c < GST_VIDEO_FRAME_N_COMPONENTS(&x); c++)
    for (int row = 0; row < GST_VIDEO_FRAME_COMP_HEIGHT(&x, c); row++)
      ck_assert(memcmp((guint8 *)GST_VIDEO_FRAME_COMP_DATA(&x, c) + row * GST_VIDEO_FRAME_COMP_STRIDE(&x, c),
                       (guint8 *)GST_VIDEO_FRAME_COMP_DATA(&y, c) + row * GST_VIDEO_FRAME_COMP_STRIDE(&y, c),
                       (GST_VIDEO_FRAME_COMP_WIDTH(&x, c) - 1) * GST_VIDEO_FRAME_COMP_PSTRIDE(&x, c) + 1) == 0);
  gst_video_frame_unmap(&y);
  gst_video_frame_unmap(&x);
}
