/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * One frame: its plan is settled once, when the output buffer is chosen, and then the frame is passed on or filtered.
 */
#include "gstcudaconvolve-private.h"

static GstBaseTransformClass *parent_class;

/* Makes the plan for a filter current, unless it is. */
static gboolean
use_filter(GstCudaConvolve *self, const CnvFilter *filter, CnvAlgorithm algorithm, GError **error)
{
  const CnvBackend *backend = self->session->backend;
  CnvPlan *plan, *old = self->plan;

  if (old && cnv_plan_matches(old, filter, &self->image, algorithm, backend))
    return TRUE;
  plan = cnv_plan_new(filter, &self->image, algorithm, backend, error);
  if (!plan)
    return FALSE;
  GST_DEBUG_OBJECT(self, "new plan: %s, %dx%d %s%s", cnv_filters[filter->type].nick.nick, self->image.width,
                   self->image.height, self->image.format->name, cnv_plan_is_identity(plan) ? ", identity" : "");
  GST_OBJECT_LOCK(self);
  self->plan = plan;
  GST_OBJECT_UNLOCK(self);
  cnv_plan_unref(old);
  return TRUE;
}

static void
forget_bad(GstCudaConvolve *self)
{
  if (self->has_bad)
    cnv_filter_clear(&self->bad);
  self->has_bad = FALSE;
}

void
gst_cuda_convolve_forget_plan(GstCudaConvolve *self)
{
  CnvPlan *old = self->plan;

  GST_OBJECT_LOCK(self);
  self->plan = NULL;
  GST_OBJECT_UNLOCK(self);
  cnv_plan_unref(old);
  forget_bad(self);
}

/* Settings that make no plan are reported once, not at each frame that they are in force. */
static gboolean
is_known_bad(GstCudaConvolve *self, const GstCudaConvolveSettings *wanted)
{
  return self->has_bad && self->bad_algorithm == (CnvAlgorithm)wanted->algorithm &&
         cnv_filter_equal(&self->bad, &wanted->filter);
}

static void
report_bad(GstCudaConvolve *self, const GstCudaConvolveSettings *wanted, const GError *error)
{
  forget_bad(self);
  self->has_bad = TRUE;
  cnv_filter_copy(&self->bad, &wanted->filter);
  self->bad_algorithm = wanted->algorithm;
  gst_cuda_convolve_post(self, self->plan ? GST_MESSAGE_WARNING : GST_MESSAGE_ERROR, error,
                         self->plan ? "changing the filter; it stays as it was" : "making a plan of the properties");
}

/* The filter that ran until now, for what may be a new format. */
static gboolean
keep_filter(GstCudaConvolve *self)
{
  GError *error = NULL;
  CnvPlan *old;
  gboolean ok;

  if (!self->plan)
    return FALSE;
  old = cnv_plan_ref(self->plan);
  ok = use_filter(self, &old->filter, old->requested, &error);
  cnv_plan_unref(old);
  if (!ok)
    gst_cuda_convolve_post(self, GST_MESSAGE_ERROR, error, "keeping the filter at new caps");
  g_clear_error(&error);
  return ok;
}

/* Makes the plan that the properties ask for current or, where there is none for them, goes on with the last filter. */
static gboolean
settle_plan(GstCudaConvolve *self)
{
  GstCudaConvolveSettings wanted;
  GError *error = NULL;
  gboolean ok;

  GST_OBJECT_LOCK(self);
  gst_cuda_convolve_settings_copy(&wanted, &self->settings);
  GST_OBJECT_UNLOCK(self);
  self->may_pass = !wanted.disable_passthrough;
  if (is_known_bad(self, &wanted)) {
    ok = keep_filter(self);
  } else if (use_filter(self, &wanted.filter, wanted.algorithm, &error)) {
    forget_bad(self);
    ok = TRUE;
  } else {
    report_bad(self, &wanted, error);
    g_error_free(error);
    ok = keep_filter(self);
  }
  gst_cuda_convolve_settings_clear(&wanted);
  return ok;
}

gboolean
gst_cuda_convolve_set_format(GstCudaConvolve *self, const GstVideoInfo *in, const GstVideoInfo *out)
{
  CnvImage *image = &self->image;

  self->in_info = *in;
  self->out_info = *out;
  image->format = cnv_format_find(gst_video_format_to_string(GST_VIDEO_INFO_FORMAT(in)));
  image->width = GST_VIDEO_INFO_WIDTH(in);
  image->height = GST_VIDEO_INFO_HEIGHT(in);
  image->full_range = in->colorimetry.range == GST_VIDEO_COLOR_RANGE_0_255;
  if (!gst_video_color_matrix_get_Kr_Kb(in->colorimetry.matrix, &image->kr, &image->kb)) {
    /* RGB needs none, and where nothing is said BT.601 is meant. */
    image->kr = 0.299;
    image->kb = 0.114;
  }
  g_return_val_if_fail(image->format, FALSE); /* the pad templates hold only formats of the table */
  forget_bad(self);
  return settle_plan(self);
}

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

/* TRUE where the input buffer itself can go out: by the taps, the memory and what downstream can read. */
static gboolean
passes(GstCudaConvolve *self, GstBuffer *buffer)
{
  return self->may_pass && self->same_memory && cnv_plan_is_identity(self->plan) &&
         (self->out_in_device || self->out_takes_meta || layout_is_plain(buffer, &self->in_info));
}

static void
sync_properties(GstBaseTransform *trans, GstBuffer *buffer)
{
  GstClockTime time = GST_CLOCK_TIME_NONE;

  if (trans->segment.format == GST_FORMAT_TIME)
    time = gst_segment_to_stream_time(&trans->segment, GST_FORMAT_TIME, GST_BUFFER_PTS(buffer));
  if (GST_CLOCK_TIME_IS_VALID(time))
    gst_object_sync_values(GST_OBJECT(trans), time);
}

static GstFlowReturn
prepare_output_buffer(GstBaseTransform *trans, GstBuffer *inbuf, GstBuffer **outbuf)
{
  GstCudaConvolve *self = GST_CUDA_CONVOLVE(trans);

  sync_properties(trans, inbuf);
  if (!settle_plan(self))
    return GST_FLOW_ERROR;
  if (passes(self, inbuf)) {
    GST_LOG_OBJECT(self, "identity: %" GST_PTR_FORMAT " goes through", inbuf);
    *outbuf = inbuf;
    return GST_FLOW_OK;
  }
  return parent_class->prepare_output_buffer(trans, inbuf, outbuf);
}

/* GStreamer maps a plane without asking whether its memory holds all rows. */
static gboolean
planes_fit(const GstVideoFrame *frame, const CnvImage *image)
{
  for (int p = 0; p < image->format->n_planes; p++) {
    const GstMapInfo *map = frame->meta ? &frame->map[p] : &frame->map[0];
    gint64 row = (gint64)cnv_format_plane_width(image->format, p, image->width) * image->format->plane[p].channels *
                 image->format->sample_bytes;
    gint64 rows_before_last = cnv_format_plane_height(image->format, p, image->height) - 1;
    gint64 start = (guint8 *)GST_VIDEO_FRAME_PLANE_DATA(frame, p) - map->data;

    if (start + rows_before_last * GST_VIDEO_FRAME_PLANE_STRIDE(frame, p) + row > (gint64)map->size)
      return FALSE;
  }
  return TRUE;
}

/* gst_video_frame_map takes a meta of other dimensions for a programming error. */
static gboolean
meta_fits(GstBuffer *buffer, const GstVideoInfo *info)
{
  GstVideoMeta *meta = gst_buffer_get_video_meta(buffer);

  return !meta || (meta->format == GST_VIDEO_INFO_FORMAT(info) && (int)meta->width >= GST_VIDEO_INFO_WIDTH(info) &&
                   (int)meta->height >= GST_VIDEO_INFO_HEIGHT(info));
}

/* Maps a buffer where the engine can use it in place: in device memory of the session's context, else in host memory,
 * wherever the buffer is. */
static gboolean
map_frame(GstCudaConvolve *self, GstBuffer *buffer, const GstVideoInfo *info, GstMapFlags flags, GstVideoFrame *frame,
          CnvFrame *planes)
{
  gboolean device =
      self->session->backend->takes_device_memory && gst_cuda_convolve_device_holds(buffer, self->context);
  const GstVideoInfo *layout = gst_buffer_get_video_meta(buffer) ? info : gst_cuda_convolve_device_layout(buffer, info);

  if (!meta_fits(buffer, info))
    return FALSE;
  if (!gst_video_frame_map(frame, layout, buffer, device ? flags | GST_MAP_CUDA : flags))
    return FALSE;
  if (!planes_fit(frame, &self->image)) {
    gst_video_frame_unmap(frame);
    return FALSE;
  }
  if (device)
    gst_cuda_convolve_device_sync(buffer);
  planes->memory = device ? CNV_MEMORY_DEVICE : CNV_MEMORY_HOST;
  for (int p = 0; p < self->image.format->n_planes; p++) {
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

static gboolean
filter_planes(GstCudaConvolve *self, const CnvFrame *in, const CnvFrame *out, GError **error)
{
  gboolean ok = cnv_session_submit(self->session, self->plan, in, out, error);

  /* Also after a failure something can be under way in the frames' memory. */
  return cnv_session_wait(self->session, ok ? error : NULL) && ok;
}

static gboolean
filter_buffer(GstCudaConvolve *self, GstBuffer *inbuf, GstBuffer *outbuf, GError **error)
{
  GstVideoFrame in_frame, out_frame;
  CnvFrame in, out;
  gboolean ok;

  if (!map_frame(self, inbuf, &self->in_info, GST_MAP_READ, &in_frame, &in))
    return map_failed(inbuf, &self->in_info, "An input", error);
  if (!map_frame(self, outbuf, &self->out_info, GST_MAP_WRITE, &out_frame, &out)) {
    gst_video_frame_unmap(&in_frame);
    return map_failed(outbuf, &self->out_info, "An output", error);
  }
  GST_LOG_OBJECT(self, "from %s to %s memory", in.memory == CNV_MEMORY_DEVICE ? "device" : "host",
                 out.memory == CNV_MEMORY_DEVICE ? "device" : "host");
  ok = filter_planes(self, &in, &out, error);
  gst_video_frame_unmap(&out_frame);
  gst_video_frame_unmap(&in_frame);
  return ok;
}

static gboolean
filter_or_fall_back(GstCudaConvolve *self, GstBuffer *inbuf, GstBuffer *outbuf)
{
  GError *error = NULL;
  gboolean ok = filter_buffer(self, inbuf, outbuf, &error);

  if (!ok && gst_cuda_convolve_fall_back(self, error)) {
    g_clear_error(&error);
    ok = settle_plan(self) && filter_buffer(self, inbuf, outbuf, &error);
  }
  if (error)
    gst_cuda_convolve_post(self, GST_MESSAGE_ERROR, error, "filtering a frame");
  g_clear_error(&error);
  return ok;
}

static GstFlowReturn
transform(GstBaseTransform *trans, GstBuffer *inbuf, GstBuffer *outbuf)
{
  GstCudaConvolve *self = GST_CUDA_CONVOLVE(trans);

  if (inbuf != outbuf && !filter_or_fall_back(self, inbuf, outbuf))
    return GST_FLOW_ERROR;
  GST_OBJECT_LOCK(self);
  self->frames++;
  self->stats = self->session->stats;
  GST_OBJECT_UNLOCK(self);
  return GST_FLOW_OK;
}

static GstFlowReturn
submit_input_buffer(GstBaseTransform *trans, gboolean is_discont, GstBuffer *input)
{
  GstCudaConvolve *self = GST_CUDA_CONVOLVE(trans);
  GstFlowReturn flow = parent_class->submit_input_buffer(trans, is_discont, input);

  if (flow == GST_BASE_TRANSFORM_FLOW_DROPPED) {
    GST_OBJECT_LOCK(self);
    self->dropped++;
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
