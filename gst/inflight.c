/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "inflight.h"

#include "allocation.h"
#include "frames.h"
#include "mapping.h"
#include "messages.h"
#include "streams.h"

/* One is uploaded, one filtered and one downloaded. Two reach 76 % of what the bus allows for 1080p NV12 on an H200,
 * three 92 %, four no more. */
#define FRAMES_AUTO 3

/* A frame in flight. Its buffers stay mapped until the engine is done with it. */
typedef struct {
  GstBuffer *in, *out;
  GstCudaConvolveMapped mapped;
  guint64 number; /* in the session */
  CnvPlan *plan;  /* for the statistics, like what follows */
  guint n_regions;
} Frame;

/* TRUE if frames come at the pace of a clock. A source that does not tell could be live. */
static gboolean
is_live(GstCudaConvolve *self)
{
  GstQuery *query = gst_query_new_latency();
  gboolean live = TRUE;

  if (gst_pad_peer_query(GST_BASE_TRANSFORM_SINK_PAD(self), query))
    gst_query_parse_latency(query, &live, NULL, NULL);
  gst_query_unref(query);
  return live;
}

static gboolean
can_overlap(const GstCudaConvolve *self)
{
  gboolean copies = !self->caps.same_memory || !self->caps.out_in_device;

  return copies && cnv_plan_frames(self->recipe.plan, NULL) == 1 && self->engine.session->backend->max_in_flight > 1;
}

void
gst_cuda_convolve_settle_frames_in_flight(GstCudaConvolve *self)
{
  if (self->in_flight.n > 0 || !can_overlap(self))
    return;
  self->in_flight.n = is_live(self) ? 1 : FRAMES_AUTO;
  GST_DEBUG_OBJECT(self, "%u frames in flight", self->in_flight.n);
}

guint
gst_cuda_convolve_frames_in_flight(const GstCudaConvolve *self)
{
  return can_overlap(self) ? CLAMP(self->in_flight.n, 1, self->engine.session->backend->max_in_flight) : 1;
}

/* The first frame is done alone, while another engine can still take over. A pool of so many buffers, and no more,
 * could run out of them. The base class marks a frame as DISCONT when it pushes it itself. */
static gboolean
can_be_async(GstCudaConvolve *self, GstBuffer *in, GstBuffer *out)
{
  return in != out && gst_cuda_convolve_engine_is_proven(&self->engine) && !self->is_discont &&
         !gst_cuda_convolve_pool_is_limited(in->pool) && !gst_cuda_convolve_pool_is_limited(out->pool) &&
         !(gst_cuda_convolve_engine_holds(&self->engine, in) && gst_cuda_convolve_engine_holds(&self->engine, out));
}

/* ---- out ---- */

static void
free_frame(Frame *frame)
{
  gst_cuda_convolve_unmap_both(&frame->mapped);
  gst_buffer_unref(frame->in);
  gst_clear_buffer(&frame->out);
  cnv_plan_unref(frame->plan);
  g_free(frame);
}

/* GstCudaConvolveFinish. Of frames that are not wanted nobody sees what went wrong with them either. */
static GstBuffer *
finish(gpointer owner, gpointer data, gboolean wanted)
{
  GstCudaConvolve *self = owner;
  GstBuffer *out = NULL;
  GError *error = NULL;
  Frame *frame = data;

  if (cnv_session_wait_for_frame(self->engine.session, frame->number, &error) && wanted) {
    gst_cuda_convolve_count_frame(self, frame->plan, frame->n_regions, frame->out);
    out = g_steal_pointer(&frame->out);
  }
  free_frame(frame);
  if (error && wanted)
    gst_cuda_convolve_post(GST_ELEMENT(self), GST_MESSAGE_ERROR, error, "filtering a frame");
  else
    g_clear_error(&error);
  return out;
}

void
gst_cuda_convolve_in_flight_init(GstCudaConvolve *self)
{
  gst_cuda_convolve_queue_init(&self->in_flight.queue, GST_BASE_TRANSFORM_SRC_PAD(self), self, finish);
}

/* ---- in ---- */

/* Those before it are pushed first. */
static GstFlowReturn
submit_sync(GstCudaConvolve *self, GstBuffer *in, GstBuffer *out)
{
  GstBaseTransform *trans = GST_BASE_TRANSFORM(self);
  GstFlowReturn flow = gst_cuda_convolve_queue_wait(&self->in_flight.queue, 0);

  return flow == GST_FLOW_OK ? GST_BASE_TRANSFORM_GET_CLASS(trans)->transform(trans, in, out) : flow;
}

static gboolean
start(GstCudaConvolve *self, GstBuffer *in, GstBuffer *out, GstCudaConvolveMapped *mapped, GError **error)
{
  if (!gst_cuda_convolve_map_both(&self->engine, &self->caps, in, out, mapped, error))
    return FALSE;
  self->recipe.work.overlaps = TRUE;
  if (gst_cuda_convolve_streams_enter(&self->engine, in, out, error) &&
      cnv_session_submit(self->engine.session, &self->recipe.work, &mapped->in.planes, &mapped->out.planes, error))
    return TRUE;
  gst_cuda_convolve_unmap_both(mapped);
  return FALSE;
}

/* Takes both buffers. If it fails those before it are pushed: they are good. */
static GstFlowReturn
submit_async(GstCudaConvolve *self, GstBuffer *in, GstBuffer *out)
{
  Frame *frame = g_new(Frame, 1);
  GError *error = NULL;

  if (!start(self, in, out, &frame->mapped, &error)) {
    gst_cuda_convolve_post(GST_ELEMENT(self), GST_MESSAGE_ERROR, error, "filtering a frame");
    g_free(frame);
    gst_buffer_unref(in);
    gst_buffer_unref(out);
    gst_cuda_convolve_queue_wait(&self->in_flight.queue, 0);
    return GST_FLOW_ERROR;
  }
  frame->in = in;
  frame->out = out;
  frame->number = self->engine.session->n_submitted;
  frame->plan = cnv_plan_ref(self->recipe.work.plan[0]);
  frame->n_regions = self->recipe.work.n_regions;
  gst_cuda_convolve_read_session_stats(self);
  if (gst_cuda_convolve_queue_push(&self->in_flight.queue, frame))
    return GST_FLOW_OK;
  finish(self, frame, FALSE);
  return GST_FLOW_FLUSHING;
}

GstFlowReturn
gst_cuda_convolve_submit(GstCudaConvolve *self, GstBuffer *in, GstBuffer **outbuf)
{
  GstBaseTransform *trans = GST_BASE_TRANSFORM(self);
  GstFlowReturn flow =
      gst_cuda_convolve_queue_wait(&self->in_flight.queue, gst_cuda_convolve_frames_in_flight(self) - 1);
  GstBuffer *out = NULL;

  if (flow == GST_FLOW_OK)
    flow = GST_BASE_TRANSFORM_GET_CLASS(trans)->prepare_output_buffer(trans, in, &out);
  if (flow == GST_FLOW_OK && can_be_async(self, in, out))
    return submit_async(self, in, out);
  if (flow == GST_FLOW_OK)
    flow = submit_sync(self, in, out);
  if (in != out)
    gst_buffer_unref(in);
  if (flow == GST_FLOW_OK)
    *outbuf = out;
  else
    gst_clear_buffer(&out);
  return flow;
}
