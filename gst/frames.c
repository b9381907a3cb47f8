/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * One frame: what is done to it is settled once, when the output buffer is chosen, and then it is passed on or
 * filtered.
 */
#include "gstcudaconvolve-private.h"

static GstBaseTransformClass *parent_class;

/* TRUE where the buffer's planes lie as the caps alone tell. */
static gboolean
layout_is_plain(GstBuffer *buffer, const GstVideoInfo *info)
{
  GstVideoMeta *meta = gst_buffer_get_video_meta(buffer);

  if (!meta)
    return gst_cuda_convolve_device_layout(buffer, info) == info;
  for (guint p = 0; p < GST_VIDEO_INFO_N_PLANES(info); p++)
    if (meta->offset[p] != GST_VIDEO_INFO_PLANE_OFFSET(info, p) ||
        meta->stride[p] != GST_VIDEO_INFO_PLANE_STRIDE(info, p))
      return FALSE;
  return TRUE;
}

/* TRUE where the input buffer itself can go out: by the work, the memory and what downstream can read. */
static gboolean
passes(GstCudaConvolve *self, GstBuffer *buffer)
{
  return self->recipe.may_pass && self->caps.same_memory && gst_cuda_convolve_leaves_frame(self) &&
         (self->caps.out_in_device || self->allocation.takes_meta || layout_is_plain(buffer, &self->caps.in_info));
}

void
gst_cuda_convolve_sync_properties(GstCudaConvolve *self, GstBuffer *buffer)
{
  GstBaseTransform *trans = GST_BASE_TRANSFORM(self);
  GstClockTime time = GST_CLOCK_TIME_NONE;

  if (trans->segment.format == GST_FORMAT_TIME)
    time = gst_segment_to_stream_time(&trans->segment, GST_FORMAT_TIME, GST_BUFFER_PTS(buffer));
  if (GST_CLOCK_TIME_IS_VALID(time))
    gst_object_sync_values(GST_OBJECT(trans), time);
}

gboolean
gst_cuda_convolve_pool_is_limited(GstBufferPool *pool)
{
  GstStructure *config;
  guint max = 1;

  if (!pool)
    return FALSE;
  config = gst_buffer_pool_get_config(pool);
  gst_buffer_pool_config_get_params(config, NULL, NULL, NULL, &max);
  gst_structure_free(config);
  return max > 0;
}

/* TRUE where the input can be filtered in its own memory: it is in the device's, nobody else has it, and it is not the
 * first frame, for which another engine may have to stand in. Downstream may hold as many as it likes: a decoder's
 * surfaces, or a pool of a few buffers, would run out. */
static gboolean
suits_in_place(GstCudaConvolve *self, GstBuffer *buffer)
{
  return self->caps.same_memory && gst_cuda_convolve_changes_little(self) && self->engine.session->stats.frames > 0 &&
         cnv_session_can_in_place(self->engine.session, &self->recipe.work) &&
         gst_cuda_convolve_is_in_device(self, buffer) && gst_buffer_is_writable(buffer) &&
         gst_buffer_is_all_memory_writable(buffer) && !GST_MEMORY_IS_READONLY(gst_buffer_peek_memory(buffer, 0)) &&
         buffer->pool && !gst_cuda_convolve_pool_is_limited(buffer->pool) &&
         (self->caps.out_in_device || self->allocation.takes_meta || layout_is_plain(buffer, &self->caps.in_info));
}

void
gst_cuda_convolve_post_no_output(GstCudaConvolve *self, guint size)
{
  const GstVideoInfo *info = &self->caps.out_info;
  GError *error = g_error_new(GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_NO_SPACE_LEFT,
                              "No output buffer of %u bytes of %s memory could be allocated for a %dx%d %s frame: free "
                              "memory, or lower the size of frames or how many of them are queued downstream",
                              size, self->caps.out_in_device ? "CUDA" : "system", GST_VIDEO_INFO_WIDTH(info),
                              GST_VIDEO_INFO_HEIGHT(info), gst_video_format_to_string(GST_VIDEO_INFO_FORMAT(info)));

  gst_cuda_convolve_post(GST_ELEMENT(self), GST_MESSAGE_ERROR, error, "allocating an output buffer");
}

/* A pool is started once: its owner may have stopped it since. */
static gboolean
start_pool(GstCudaConvolve *self)
{
  GstBufferPool *pool = gst_base_transform_get_buffer_pool(GST_BASE_TRANSFORM(self));
  gboolean ok = !pool || gst_buffer_pool_set_active(pool, TRUE);

  gst_clear_object(&pool);
  return ok;
}

static GstFlowReturn
get_output(GstCudaConvolve *self, GstBuffer *like, GstBuffer **outbuf)
{
  self->allocation.pool_started = self->allocation.pool_started || start_pool(self);
  return self->allocation.pool_started ? parent_class->prepare_output_buffer(GST_BASE_TRANSFORM(self), like, outbuf)
                                       : GST_FLOW_ERROR;
}

/* Before the first frame output in CUDA memory can become output in system memory, where downstream takes that too. */
static gboolean
leave_device_memory(GstCudaConvolve *self)
{
  GstBaseTransform *trans = GST_BASE_TRANSFORM(self);
  GError *info;

  if (!self->caps.out_in_device || self->engine.session->stats.frames > 0 || self->history.n_slots > 0)
    return FALSE;
  GST_OBJECT_LOCK(self);
  self->no_device_output = TRUE;
  GST_OBJECT_UNLOCK(self);
  gst_base_transform_reconfigure_src(trans);
  if (!gst_base_transform_reconfigure(trans) || self->caps.out_in_device)
    return FALSE;
  info = g_error_new_literal(GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_NO_SPACE_LEFT,
                             "no output buffer could be allocated in CUDA memory: frames go out in system memory");
  gst_cuda_convolve_post(GST_ELEMENT(self), GST_MESSAGE_INFO, info, "allocating an output buffer");
  return TRUE;
}

/* The base class says nothing of a buffer that it does not get, and of a pool that does not start only that. */
GstFlowReturn
gst_cuda_convolve_allocate_output(GstCudaConvolve *self, GstBuffer *like, GstBuffer **outbuf)
{
  GstFlowReturn flow = get_output(self, like, outbuf);

  if (flow == GST_FLOW_ERROR && leave_device_memory(self))
    flow = get_output(self, like, outbuf);
  if (flow == GST_FLOW_ERROR)
    gst_cuda_convolve_post_no_output(self, (guint)GST_VIDEO_INFO_SIZE(&self->caps.out_info));
  return flow;
}

/* The plan in force is that of the properties at the buffer's time: see waiting.c. */
static GstFlowReturn
prepare_output_buffer(GstBaseTransform *trans, GstBuffer *inbuf, GstBuffer **outbuf)
{
  GstCudaConvolve *self = GST_CUDA_CONVOLVE(trans);

  gst_cuda_convolve_make_work(self, inbuf);
  self->in_place = FALSE;
  if (passes(self, inbuf)) {
    GST_LOG_OBJECT(self, "unchanged: %" GST_PTR_FORMAT " goes through", inbuf);
    *outbuf = inbuf;
    return GST_FLOW_OK;
  }
  self->in_place = suits_in_place(self, inbuf);
  if (self->in_place) {
    *outbuf = inbuf;
    return GST_FLOW_OK;
  }
  return gst_cuda_convolve_allocate_output(self, inbuf, outbuf);
}

/* GStreamer maps a plane without asking whether its memory holds all rows, or where the rows before its first lie. */
static gboolean
planes_fit(const GstVideoFrame *frame, const CnvImage *image)
{
  for (int p = 0; p < cnv_format_n_frame_planes(image->format); p++) {
    const GstMapInfo *map = frame->meta ? &frame->map[p] : &frame->map[0];
    gint64 row = cnv_format_row_bytes(image->format, p, image->width);
    gint64 rows_before_last = cnv_format_rows(image->format, p, image->height) - 1;
    gint64 start = (guint8 *)GST_VIDEO_FRAME_PLANE_DATA(frame, p) - map->data;
    gint64 stride = GST_VIDEO_FRAME_PLANE_STRIDE(frame, p);

    if (start < 0 || stride < row || start + rows_before_last * stride + row > (gint64)map->size)
      return FALSE;
  }
  return TRUE;
}

/* gst_video_frame_map takes a meta of other dimensions for a programming error, and maps as many planes as it says. */
static gboolean
meta_fits(GstBuffer *buffer, const GstVideoInfo *info)
{
  GstVideoMeta *meta = gst_buffer_get_video_meta(buffer);

  return !meta || (meta->format == GST_VIDEO_INFO_FORMAT(info) && (int)meta->width >= GST_VIDEO_INFO_WIDTH(info) &&
                   (int)meta->height >= GST_VIDEO_INFO_HEIGHT(info) && meta->n_planes == GST_VIDEO_INFO_N_PLANES(info));
}

/* Maps a buffer where the engine can use it in place: in device memory of the session's context, else in host memory,
 * wherever the buffer is. */
static gboolean
map_frame(GstCudaConvolve *self, GstBuffer *buffer, const GstVideoInfo *info, GstMapFlags flags, GstVideoFrame *frame,
          CnvFrame *planes)
{
  gboolean device = gst_cuda_convolve_is_in_device(self, buffer);
  const GstVideoInfo *layout = gst_buffer_get_video_meta(buffer) ? info : gst_cuda_convolve_device_layout(buffer, info);

  if (!meta_fits(buffer, info))
    return FALSE;
  if (!gst_video_frame_map(frame, layout, buffer, device ? flags | GST_MAP_CUDA : flags))
    return FALSE;
  if (!planes_fit(frame, &self->caps.image)) {
    gst_video_frame_unmap(frame);
    return FALSE;
  }
  planes->memory = device ? CNV_MEMORY_DEVICE : CNV_MEMORY_HOST;
  for (int p = 0; p < cnv_format_n_frame_planes(self->caps.image.format); p++) {
    planes->data[p] = GST_VIDEO_FRAME_PLANE_DATA(frame, p);
    planes->stride[p] = GST_VIDEO_FRAME_PLANE_STRIDE(frame, p);
  }
  return TRUE;
}

static gboolean
map_failed(GstBuffer *buffer, const GstVideoInfo *info, const char *side, GError **error)
{
  g_set_error(error, GST_STREAM_ERROR, GST_STREAM_ERROR_FORMAT,
              "%s buffer of %" G_GSIZE_FORMAT " bytes does not hold or give access to a %dx%d %s frame: correct its "
              "size, its GstVideoMeta or the caps",
              side, gst_buffer_get_size(buffer), GST_VIDEO_INFO_WIDTH(info), GST_VIDEO_INFO_HEIGHT(info),
              gst_video_format_to_string(GST_VIDEO_INFO_FORMAT(info)));
  return FALSE;
}

/* inbuf: NULL where the input is a slot. */
static gboolean
filter_planes(GstCudaConvolve *self, GstBuffer *inbuf, const CnvFrame *in, GstBuffer *outbuf, const CnvFrame *out,
              GError **error)
{
  gboolean ok = gst_cuda_convolve_enter_streams(self, inbuf, outbuf, error) &&
                cnv_session_submit(self->engine.session, &self->recipe.work, in, out, error);

  return gst_cuda_convolve_leave_streams(self, inbuf, outbuf, ok, error);
}

gboolean
gst_cuda_convolve_map_both(GstCudaConvolve *self, GstBuffer *inbuf, GstBuffer *outbuf, GstCudaConvolveMapped *mapped,
                           GError **error)
{
  if (!map_frame(self, inbuf, &self->caps.in_info, GST_MAP_READ, &mapped->in_frame, &mapped->in))
    return map_failed(inbuf, &self->caps.in_info, "An input", error);
  if (!map_frame(self, outbuf, &self->caps.out_info, GST_MAP_WRITE, &mapped->out_frame, &mapped->out)) {
    gst_video_frame_unmap(&mapped->in_frame);
    return map_failed(outbuf, &self->caps.out_info, "An output", error);
  }
  GST_LOG_OBJECT(self, "from %s to %s memory", mapped->in.memory == CNV_MEMORY_DEVICE ? "device" : "host",
                 mapped->out.memory == CNV_MEMORY_DEVICE ? "device" : "host");
  return TRUE;
}

void
gst_cuda_convolve_unmap_both(GstCudaConvolveMapped *mapped)
{
  gst_video_frame_unmap(&mapped->out_frame);
  gst_video_frame_unmap(&mapped->in_frame);
}

static gboolean
filter_buffer(GstCudaConvolve *self, GstBuffer *inbuf, GstBuffer *outbuf, GError **error)
{
  GstCudaConvolveMapped mapped;
  gboolean ok;

  if (!gst_cuda_convolve_map_both(self, inbuf, outbuf, &mapped, error))
    return FALSE;
  ok = filter_planes(self, inbuf, &mapped.in, outbuf, &mapped.out, error);
  gst_cuda_convolve_unmap_both(&mapped);
  return ok;
}

static gboolean
filter_in_place(GstCudaConvolve *self, GstBuffer *buffer, GError **error)
{
  GstVideoFrame frame;
  CnvFrame planes;
  gboolean ok;

  if (!map_frame(self, buffer, &self->caps.in_info, GST_MAP_READWRITE, &frame, &planes))
    return map_failed(buffer, &self->caps.in_info, "An input", error);
  GST_LOG_OBJECT(self, "in place");
  ok = filter_planes(self, buffer, &planes, buffer, &planes, error);
  gst_video_frame_unmap(&frame);
  return ok;
}

static gboolean
filter_or_fall_back(GstCudaConvolve *self, GstBuffer *inbuf, GstBuffer *outbuf)
{
  GError *error = NULL;
  gboolean ok = self->in_place ? filter_in_place(self, inbuf, &error) : filter_buffer(self, inbuf, outbuf, &error);

  if (!ok && gst_cuda_convolve_fall_back(self, error)) {
    g_clear_error(&error);
    ok = gst_cuda_convolve_settle_plan(self);
    if (ok) {
      gst_cuda_convolve_make_work(self, inbuf);
      ok = filter_buffer(self, inbuf, outbuf, &error);
    }
  }
  if (error)
    gst_cuda_convolve_post(GST_ELEMENT(self), GST_MESSAGE_ERROR, error, "filtering a frame");
  return ok;
}

void
gst_cuda_convolve_count_frame(GstCudaConvolve *self, CnvPlan *plan, guint n_regions)
{
  GST_OBJECT_LOCK(self);
  self->stats.frames++;
  self->stats.session = self->engine.session->stats;
  self->stats.n_regions = n_regions;
  gst_cuda_convolve_stats_set_plan(&self->stats, plan);
  GST_OBJECT_UNLOCK(self);
  gst_cuda_convolve_warn_of_crowd(self);
}

gboolean
gst_cuda_convolve_keep_buffer(GstCudaConvolve *self, GstBuffer *buffer, guint slot, GError **error)
{
  GstVideoFrame frame;
  CnvFrame planes;
  gboolean ok;

  if (!map_frame(self, buffer, &self->caps.in_info, GST_MAP_READ, &frame, &planes))
    return map_failed(buffer, &self->caps.in_info, "An input", error);
  ok = gst_cuda_convolve_enter_streams(self, buffer, NULL, error) &&
       cnv_session_history_push(self->engine.session, slot, &planes, self->recipe.scene_change > 0, error);
  ok = gst_cuda_convolve_leave_streams(self, buffer, NULL, ok, error);
  gst_video_frame_unmap(&frame);
  return ok;
}

gboolean
gst_cuda_convolve_filter_slot(GstCudaConvolve *self, int slot, GstBuffer *outbuf, GError **error)
{
  CnvFrame in = {.memory = CNV_MEMORY_HISTORY, .slot = slot}, out;
  GstVideoFrame frame;
  gboolean ok;

  if (!map_frame(self, outbuf, &self->caps.out_info, GST_MAP_WRITE, &frame, &out))
    return map_failed(outbuf, &self->caps.out_info, "An output", error);
  ok = filter_planes(self, NULL, &in, outbuf, &out, error);
  gst_video_frame_unmap(&frame);
  return ok;
}

static GstFlowReturn
transform(GstBaseTransform *trans, GstBuffer *inbuf, GstBuffer *outbuf)
{
  GstCudaConvolve *self = GST_CUDA_CONVOLVE(trans);

  if ((self->in_place || inbuf != outbuf) && !filter_or_fall_back(self, inbuf, outbuf))
    return GST_FLOW_ERROR;
  gst_cuda_convolve_count_frame(self, self->recipe.work.plan[0], self->recipe.work.n_regions);
  return GST_FLOW_OK;
}

static GstFlowReturn
submit_input_buffer(GstBaseTransform *trans, gboolean is_discont, GstBuffer *input)
{
  GstCudaConvolve *self = GST_CUDA_CONVOLVE(trans);
  GstFlowReturn flow = parent_class->submit_input_buffer(trans, is_discont, input);

  if (flow == GST_BASE_TRANSFORM_FLOW_DROPPED) {
    GST_OBJECT_LOCK(self);
    self->stats.dropped++;
    GST_OBJECT_UNLOCK(self);
  }
  return flow;
}

void
gst_cuda_convolve_frames_class_init(GstBaseTransformClass *klass)
{
  parent_class = g_type_class_peek_parent(klass);
  klass->submit_input_buffer = GST_DEBUG_FUNCPTR(submit_input_buffer);
  klass->prepare_output_buffer = GST_DEBUG_FUNCPTR(prepare_output_buffer);
  klass->transform = GST_DEBUG_FUNCPTR(transform);
}
