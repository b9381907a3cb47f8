/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Several frames under way, where memory of the host is copied to or from a device: one is uploaded while the one
 * before it is downloaded. A frame is put out when as many as can be are under way with it, or none comes for a while
 * (idle.c); its buffers stay mapped until then.
 */
#include "allocation.h"
#include "frames.h"
#include "messages.h"
#include "streams.h"

/* One is uploaded, one filtered and one downloaded. Two reach 76 % of what the bus allows for 1080p NV12 on an H200,
 * three 92 %, four no more. */
#define FLIGHTS_AUTO 3

/* Once none came in time it is tried again after so many, for which the bus is not kept busy: else an application that
 * awaits each frame would lose the nap of idle.c each time. */
#define FRAMES_ALONE 64

static GstCudaConvolveFlight *
flight_of(GstCudaConvolve *self, guint64 frame)
{
  return &self->flight[frame % CNV_FLIGHTS_MAX];
}

/* Whether frames come at the pace of a clock. A source that does not tell could be. */
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

  return copies && cnv_plan_frames(self->recipe.plan, NULL) == 1 && self->engine.session->backend->flights > 1;
}

/* Asked with a frame: no element upstream holds a lock then that it needs for the answer. */
void
gst_cuda_convolve_settle_flights(GstCudaConvolve *self)
{
  if (self->flights > 0 || !can_overlap(self))
    return;
  self->flights = is_live(self) ? 1 : FLIGHTS_AUTO;
  GST_DEBUG_OBJECT(self, "%u frames under way", self->flights);
  gst_cuda_convolve_update_latency(self);
}

guint
gst_cuda_convolve_n_flights(const GstCudaConvolve *self)
{
  return can_overlap(self) ? CLAMP(self->flights, 1, self->engine.session->backend->flights) : 1;
}

gboolean
gst_cuda_convolve_has_flights(const GstCudaConvolve *self)
{
  return gst_cuda_convolve_waits(self) && self->history.n_slots == 0;
}

/* What the first frame shows to be impossible is found while another engine can still do it. A pool of so many buffers,
 * and no more, could run out of them. */
static gboolean
can_fly(GstCudaConvolve *self, GstBuffer *in, GstBuffer *out)
{
  return in != out && self->n_alone == 0 && self->engine.session->stats.frames > 0 &&
         !gst_cuda_convolve_pool_is_limited(in->pool) && !gst_cuda_convolve_pool_is_limited(out->pool) &&
         !(gst_cuda_convolve_engine_holds(&self->engine, in) && gst_cuda_convolve_engine_holds(&self->engine, out));
}

/* ---- in ---- */

/* Takes the output alone. Those before it are put out first. */
static GstFlowReturn
go_alone(GstCudaConvolve *self, GstBuffer *in, GstBuffer *out)
{
  GstBaseTransform *trans = GST_BASE_TRANSFORM(self);
  GstFlowReturn flow = gst_cuda_convolve_drain(self);

  return flow == GST_FLOW_OK ? GST_BASE_TRANSFORM_GET_CLASS(trans)->transform(trans, in, out) : flow;
}

static gboolean
take_off(GstCudaConvolve *self, GstCudaConvolveMapped *mapped, GstBuffer *in, GstBuffer *out, GError **error)
{
  if (!gst_cuda_convolve_map_both(&self->engine, &self->caps, in, out, mapped, error))
    return FALSE;
  if (gst_cuda_convolve_streams_enter(&self->engine, in, out, error) &&
      cnv_session_submit(self->engine.session, &self->recipe.work, &mapped->in.planes, &mapped->out.planes, error))
    return TRUE;
  gst_cuda_convolve_unmap_both(mapped);
  return FALSE;
}

/* Takes both buffers where it goes well. Else those before it are put out: they are good. */
static GstFlowReturn
go_with_others(GstCudaConvolve *self, GstBuffer *in, GstBuffer *out)
{
  GstCudaConvolveFlight *flight = flight_of(self, self->waiting.next);
  GError *error = NULL;

  self->recipe.work.overlaps = TRUE;
  if (take_off(self, &flight->mapped, in, out, &error)) {
    flight->in = in;
    flight->out = out;
    flight->plan = cnv_plan_ref(self->recipe.work.plan[0]);
    flight->n_regions = self->recipe.work.n_regions;
    flight->number = self->engine.session->n_submitted;
    self->waiting.next++;
    gst_cuda_convolve_watch(self);
    return GST_FLOW_OK;
  }
  gst_cuda_convolve_post(GST_ELEMENT(self), GST_MESSAGE_ERROR, error, "filtering a frame");
  gst_cuda_convolve_drain(self);
  return GST_FLOW_ERROR;
}

GstFlowReturn
gst_cuda_convolve_fly(GstCudaConvolve *self, GstBuffer *in, GstBuffer **outbuf)
{
  GstBaseTransform *trans = GST_BASE_TRANSFORM(self);
  GstBuffer *out = NULL;
  GstFlowReturn flow = GST_BASE_TRANSFORM_GET_CLASS(trans)->prepare_output_buffer(trans, in, &out);
  gboolean flies = flow == GST_FLOW_OK && can_fly(self, in, out);

  if (flies)
    flow = go_with_others(self, in, out);
  else if (flow == GST_FLOW_OK)
    flow = go_alone(self, in, out);
  self->n_alone -= self->n_alone > 0;
  if (flies && flow == GST_FLOW_OK)
    return GST_FLOW_OK;
  if (in != out)
    gst_buffer_unref(in);
  if (flow == GST_FLOW_OK)
    *outbuf = out;
  else
    gst_clear_buffer(&out);
  return flow;
}

/* ---- out ---- */

/* When the engine is done with it. Returns the output. */
static GstBuffer *
end_flight(GstCudaConvolveFlight *flight)
{
  gst_cuda_convolve_unmap_both(&flight->mapped);
  gst_clear_buffer(&flight->in);
  g_clear_pointer(&flight->plan, cnv_plan_unref);
  return g_steal_pointer(&flight->out);
}

GstFlowReturn
gst_cuda_convolve_put_out_flight(GstCudaConvolve *self, GstBuffer **outbuf)
{
  GstCudaConvolveFlight *flight = flight_of(self, self->waiting.out);
  GError *error = NULL;

  self->waiting.out++;
  if (cnv_session_wait_for_frame(self->engine.session, flight->number, &error)) {
    gst_cuda_convolve_count_frame(self, flight->plan, flight->n_regions);
    *outbuf = end_flight(flight);
    return GST_FLOW_OK;
  }
  gst_cuda_convolve_post(GST_ELEMENT(self), GST_MESSAGE_ERROR, error, "filtering a frame");
  gst_buffer_unref(end_flight(flight));
  gst_cuda_convolve_drop_flights(self); /* they failed with it */
  self->waiting.out = self->waiting.next;
  return GST_FLOW_ERROR;
}

void
gst_cuda_convolve_put_out_idle(GstCudaConvolve *self)
{
  self->n_alone = FRAMES_ALONE;
  gst_cuda_convolve_drain(self);
}

void
gst_cuda_convolve_drop_flights(GstCudaConvolve *self)
{
  gboolean waited = FALSE;

  for (int i = 0; i < CNV_FLIGHTS_MAX; i++) {
    if (!self->flight[i].in)
      continue;
    if (!waited)
      cnv_session_wait(self->engine.session, NULL); /* nobody sees these frames, nor what went wrong with them */
    waited = TRUE;
    gst_buffer_unref(end_flight(&self->flight[i]));
  }
}
