/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "memory/mapping.h"

#include "memory/devicememory.h"
#include "messages.h"

static const GstVideoInfo *
layout_of(GstBuffer *buffer, const GstVideoInfo *info)
{
  return gst_cuda_convolve_device && !gst_buffer_get_video_meta(buffer) ? gst_cuda_convolve_device->layout(buffer, info)
                                                                        : info;
}

gboolean
gst_cuda_convolve_layout_is_plain(const GstCudaConvolveCaps *caps, GstBuffer *buffer)
{
  const GstVideoInfo *info = &caps->in_info;
  GstVideoMeta *meta = gst_buffer_get_video_meta(buffer);

  if (!meta)
    return layout_of(buffer, info) == info;
  for (guint p = 0; p < GST_VIDEO_INFO_N_PLANES(info); p++)
    if (meta->offset[p] != GST_VIDEO_INFO_PLANE_OFFSET(info, p) ||
        meta->stride[p] != GST_VIDEO_INFO_PLANE_STRIDE(info, p))
      return FALSE;
  return TRUE;
}

/* Checks that the memory holds all rows of each plane. GStreamer maps a plane without checking that. */
static gboolean
planes_fit(const GstVideoFrame *frame, const CnvImage *image)
{
  for (int p = 0; p < cnv_format_n_frame_planes(image->format); p++) {
    const GstMapInfo *map = frame->meta ? &frame->map[p] : &frame->map[0];
    gint64 row = cnv_format_row_bytes(image->format, p, image->width);
    gint64 rows_before_last = cnv_format_plane_height(image->format, p, image->height) - 1;
    gint64 start = (guint8 *)GST_VIDEO_FRAME_PLANE_DATA(frame, p) - map->data;
    gint64 stride = GST_VIDEO_FRAME_PLANE_STRIDE(frame, p);

    if (start < 0 || stride < row || start + rows_before_last * stride + row > (gint64)map->size)
      return FALSE;
  }
  return TRUE;
}

/* Checks the GstVideoMeta. gst_video_frame_map would log a critical error for other dimensions, and maps as many planes
 * as the meta has. */
static gboolean
meta_fits(GstBuffer *buffer, const GstVideoInfo *info)
{
  GstVideoMeta *meta = gst_buffer_get_video_meta(buffer);

  return !meta || (meta->format == GST_VIDEO_INFO_FORMAT(info) && (int)meta->width >= GST_VIDEO_INFO_WIDTH(info) &&
                   (int)meta->height >= GST_VIDEO_INFO_HEIGHT(info) && meta->n_planes == GST_VIDEO_INFO_N_PLANES(info));
}

/* Maps a buffer without taking a reference, because the caller holds one. */
static gboolean
map_side(const GstCudaConvolveEngine *engine, const GstCudaConvolveCaps *caps, GstBuffer *buffer, GstMapFlags flags,
         GstVideoFrame *frame, CnvFrame *planes)
{
  const GstVideoInfo *info = flags == GST_MAP_WRITE ? &caps->out_info : &caps->in_info;
  gboolean device = gst_cuda_convolve_engine_holds(engine, buffer), mapped;

  GST_LOG("%s in %s memory", flags == GST_MAP_WRITE ? "output" : "input", device ? "device" : "host");
  flags |= GST_VIDEO_FRAME_MAP_FLAG_NO_REF | (device ? gst_cuda_convolve_device->map : 0);
  mapped = meta_fits(buffer, info) && gst_video_frame_map(frame, layout_of(buffer, info), buffer, flags);
  if (!mapped || !planes_fit(frame, &caps->image)) {
    if (mapped)
      gst_video_frame_unmap(frame);
    frame->buffer = NULL;
    return FALSE;
  }
  planes->memory = device ? CNV_MEMORY_DEVICE : CNV_MEMORY_HOST;
  for (int p = 0; p < cnv_format_n_frame_planes(caps->image.format); p++) {
    planes->data[p] = GST_VIDEO_FRAME_PLANE_DATA(frame, p);
    planes->stride[p] = GST_VIDEO_FRAME_PLANE_STRIDE(frame, p);
  }
  return TRUE;
}

gboolean
gst_cuda_convolve_map(const GstCudaConvolveEngine *engine, const GstCudaConvolveCaps *caps, GstBuffer *in,
                      GstBuffer *out, GstCudaConvolveMap *map, GError **error)
{
  GstBuffer *bad = NULL;

  map->in_frame.buffer = map->out_frame.buffer = NULL;
  map->in.memory = map->out.memory = CNV_MEMORY_HOST; /* also if this side is missing */
  if (in && !map_side(engine, caps, in, in == out ? GST_MAP_READWRITE : GST_MAP_READ, &map->in_frame, &map->in))
    bad = in;
  else if (in == out)
    map->out = map->in;
  else if (out && !map_side(engine, caps, out, GST_MAP_WRITE, &map->out_frame, &map->out))
    bad = out;
  if (!bad)
    return TRUE;
  gst_cuda_convolve_unmap(engine, map);
  g_set_error(error, GST_STREAM_ERROR, GST_STREAM_ERROR_FORMAT,
              "An %s buffer of %" G_GSIZE_FORMAT " bytes does not hold or give access to a %dx%d %s frame: correct "
              "its size, its GstVideoMeta or the caps",
              bad == in ? "input" : "output", gst_buffer_get_size(bad), caps->image.width, caps->image.height,
              caps->image.format->name);
  return FALSE;
}

/* With a second owner, the memory is copied before somebody writes to it, and no pool takes its buffer back. */
void
gst_cuda_convolve_keep_lost(const GstCudaConvolveEngine *engine, GstBuffer *buffer)
{
  for (guint i = 0; cnv_session_is_lost(engine->session) && i < gst_buffer_n_memory(buffer); i++)
    gst_memory_lock(gst_memory_ref(gst_buffer_peek_memory(buffer, i)), GST_LOCK_FLAG_EXCLUSIVE);
}

static void
unmap_side(const GstCudaConvolveEngine *engine, GstVideoFrame *frame)
{
  if (!frame->buffer)
    return;
  gst_video_frame_unmap(frame);
  gst_cuda_convolve_keep_lost(engine, frame->buffer);
}

void
gst_cuda_convolve_unmap(const GstCudaConvolveEngine *engine, GstCudaConvolveMap *map)
{
  unmap_side(engine, &map->out_frame);
  unmap_side(engine, &map->in_frame);
}
