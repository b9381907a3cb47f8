/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Order between the session's work and that of other elements on CUDA memory, without a wait on the host: the session
 * works on the stream that the output's memory is in order on, or else the input's, and events order the two where they
 * are two. What has no stream (host memory, and all before GStreamer 1.24) has to be complete when it is handed on, and
 * then the host waits.
 */
#include "gstcudaconvolve-private.h"

gboolean
gst_cuda_convolve_is_in_device(GstCudaConvolve *self, GstBuffer *buffer)
{
  return self->engine.session->backend->takes_device_memory &&
         gst_cuda_convolve_device_holds(buffer, self->engine.context);
}

static GstMiniObject *
stream_of(GstCudaConvolve *self, GstBuffer *buffer)
{
  return buffer && gst_cuda_convolve_is_in_device(self, buffer) ? gst_cuda_convolve_device_stream(buffer) : NULL;
}

/* NULL: the session's own. */
static gboolean
use_stream(GstCudaConvolve *self, GstMiniObject *stream, GError **error)
{
  if (stream == self->engine.stream)
    return TRUE;
  if (!cnv_session_use_stream(self->engine.session, gst_cuda_convolve_device_stream_handle(stream), error))
    return FALSE;
  GST_LOG_OBJECT(self, "working on %s stream", stream ? "the memory's" : "the session's");
  gst_mini_object_replace(&self->engine.stream, stream);
  return TRUE;
}

gboolean
gst_cuda_convolve_enter_streams(GstCudaConvolve *self, GstBuffer *in, GstBuffer *out, GError **error)
{
  GstMiniObject *from = stream_of(self, in), *to = stream_of(self, out);

  if (!use_stream(self, to ? to : from, error))
    return FALSE;
  return !from || from == self->engine.stream ||
         cnv_session_wait_for_stream(self->engine.session, gst_cuda_convolve_device_stream_handle(from), error);
}

/* Who uses an input's memory next, or takes it back, does so after the session has read it. */
static gboolean
protect(GstCudaConvolve *self, GstBuffer *buffer, GstMiniObject *stream, GError **error)
{
  if (stream != self->engine.stream &&
      !cnv_session_signal_stream(self->engine.session, gst_cuda_convolve_device_stream_handle(stream), error))
    return FALSE;
  gst_cuda_convolve_device_set_pending(buffer);
  return TRUE;
}

gboolean
gst_cuda_convolve_leave_streams(GstCudaConvolve *self, GstBuffer *in, GstBuffer *out, gboolean started, GError **error)
{
  GstMiniObject *from = stream_of(self, in), *to = stream_of(self, out);
  /* What the first frame shows to be impossible is found while another engine can still do it. */
  gboolean in_order = started && (!in || from) && (!out || to) && self->engine.session->stats.frames > 0;

  if (in_order && (!from || protect(self, in, from, error)) && (!to || protect(self, out, to, error)))
    return TRUE;
  /* Also after a failure something can be under way in the frames' memory. */
  return cnv_session_wait(self->engine.session, started && !in_order ? error : NULL) && started && !in_order;
}

void
gst_cuda_convolve_finish_frames(GstCudaConvolve *self)
{
  GError *error = NULL;

  if (!self->engine.session)
    return;
  if (!cnv_session_wait(self->engine.session, &error))
    gst_cuda_convolve_post(GST_ELEMENT(self), GST_MESSAGE_ERROR, error, "finishing the frames");
  GST_OBJECT_LOCK(self);
  self->stats.session = self->engine.session->stats;
  GST_OBJECT_UNLOCK(self);
}

void
gst_cuda_convolve_forget_streams(GstCudaConvolve *self)
{
  gst_mini_object_replace(&self->engine.stream, NULL);
  gst_mini_object_replace(&self->engine.pool_stream, NULL);
}
