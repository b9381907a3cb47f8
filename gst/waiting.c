/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Frames that wait: in a history, for those that come after them (history.c), or under way (flights.c). They are put
 * out in their order, events that came between them go out between them, and what ends them drains or drops them. Where
 * none is to wait the base class' way of a frame is taken.
 */
#include "frames.h"
#include "messages.h"

static GstBaseTransformClass *parent_class;

gboolean
gst_cuda_convolve_waits(const GstCudaConvolve *self)
{
  return self->waiting.out < self->waiting.next;
}

/* Else frames that wait are under way. */
static gboolean
is_over_time(const GstCudaConvolve *self)
{
  return self->history.n_slots > 0;
}

/* Frames that have to come after one before it is put out. */
static guint
ahead(const GstCudaConvolve *self)
{
  int center, n = cnv_plan_frames(self->recipe.plan, &center);

  return n - 1 - center + gst_cuda_convolve_n_flights(self) - 1;
}

/* ---- events ---- */

static gboolean
hold_event(GstCudaConvolve *self, GstEvent *event)
{
  GstCudaConvolveHeld *held = g_new(GstCudaConvolveHeld, 1);

  GST_DEBUG_OBJECT(self, "holding %" GST_PTR_FORMAT, event);
  *held = (GstCudaConvolveHeld){event, self->waiting.next};
  g_queue_push_tail(&self->waiting.held, held);
  return TRUE;
}

/* The next event that goes before a frame with that number or an earlier one, or NULL. */
static GstEvent *
pop_event(GstCudaConvolve *self, guint64 frame)
{
  GstCudaConvolveHeld *held = g_queue_peek_head(&self->waiting.held);
  GstEvent *event;

  if (!held || held->frame > frame)
    return NULL;
  event = held->event;
  g_free(g_queue_pop_head(&self->waiting.held));
  return event;
}

/* All frames before them have been put out. */
static void
push_due_events(GstCudaConvolve *self)
{
  GstEvent *event;

  while ((event = pop_event(self, self->waiting.out)))
    parent_class->sink_event(GST_BASE_TRANSFORM(self), event);
}

/* A flush drops frames, and of the events those that are of these frames; what the pad goes on to stand for stays. */
static void
flush_events(GstCudaConvolve *self)
{
  GstEvent *event;

  while ((event = pop_event(self, G_MAXUINT64))) {
    if (GST_EVENT_IS_STICKY(event))
      gst_pad_store_sticky_event(GST_BASE_TRANSFORM_SRC_PAD(self), event);
    gst_event_unref(event);
  }
}

void
gst_cuda_convolve_drop_waiting(GstCudaConvolve *self)
{
  GstEvent *event;

  while ((event = pop_event(self, G_MAXUINT64)))
    gst_event_unref(event);
  gst_cuda_convolve_drop_flights(self);
  self->waiting.out = self->waiting.next;
  gst_cuda_convolve_forget_history(self);
}

/* ---- latency ---- */

/* Caps can tell of a frame in 68 years, and buffers of any time. */
static GstClockTime
time_of_frames(guint n, GstClockTime frame_time)
{
  return n > 0 && frame_time > G_MAXINT64 / n ? G_MAXINT64 : n * frame_time;
}

void
gst_cuda_convolve_update_latency(GstCudaConvolve *self)
{
  GstClockTime latency = time_of_frames(ahead(self), self->frame_time);
  gboolean changed;

  GST_OBJECT_LOCK(self);
  changed = self->latency != latency;
  self->latency = latency;
  GST_OBJECT_UNLOCK(self);
  if (changed)
    gst_element_post_message(GST_ELEMENT(self), gst_message_new_latency(GST_OBJECT(self)));
}

/* The longest of them where the caps tell no rate: live sinks would drop what is later than was said. */
static void
learn_frame_time(GstCudaConvolve *self, GstBuffer *buffer)
{
  GstClockTime duration = GST_BUFFER_DURATION(buffer);

  if (GST_VIDEO_INFO_FPS_N(&self->caps.in_info) > 0 || !GST_CLOCK_TIME_IS_VALID(duration) ||
      duration <= self->frame_time)
    return;
  self->frame_time = duration;
  gst_cuda_convolve_update_latency(self);
}

gboolean
gst_cuda_convolve_answer_latency(GstCudaConvolve *self, GstQuery *query)
{
  GstClockTime min, max, latency;
  gboolean live;

  if (!gst_pad_peer_query(GST_BASE_TRANSFORM_SINK_PAD(self), query))
    return FALSE;
  GST_OBJECT_LOCK(self);
  latency = self->latency;
  GST_OBJECT_UNLOCK(self);
  gst_query_parse_latency(query, &live, &min, &max);
  gst_query_set_latency(query, live, min + latency, GST_CLOCK_TIME_IS_VALID(max) ? max + latency : max);
  return TRUE;
}

/* ---- frames out ---- */

/* The next of those that wait. */
static GstFlowReturn
put_out(GstCudaConvolve *self, GstBuffer **outbuf)
{
  return is_over_time(self) ? gst_cuda_convolve_put_out_kept(self, outbuf)
                            : gst_cuda_convolve_put_out_flight(self, outbuf);
}

GstFlowReturn
gst_cuda_convolve_drain(GstCudaConvolve *self)
{
  gboolean settle = gst_cuda_convolve_waits(self) && is_over_time(self) &&
                    !gst_cuda_convolve_must_drain(self, self->history.n_slots, TRUE);
  GstFlowReturn flow = GST_FLOW_OK;

  if (gst_cuda_convolve_waits(self))
    GST_DEBUG_OBJECT(self, "draining %u frames", (guint)(self->waiting.next - self->waiting.out));
  while (flow == GST_FLOW_OK && gst_cuda_convolve_waits(self)) {
    GstBuffer *buffer = NULL;

    flow = settle && !gst_cuda_convolve_settle_for_kept(self, &settle) ? GST_FLOW_ERROR : put_out(self, &buffer);
    if (flow == GST_FLOW_OK)
      flow = gst_pad_push(GST_BASE_TRANSFORM_SRC_PAD(self), buffer);
    push_due_events(self);
  }
  gst_cuda_convolve_drop_flights(self);
  /* Where downstream takes no frame any more it is told of the events all the same. */
  self->waiting.out = self->waiting.next;
  push_due_events(self);
  gst_cuda_convolve_forget_history(self);
  return flow;
}

/* ---- the base class ---- */

static gboolean
is_ready(const GstCudaConvolve *self)
{
  return self->waiting.out + ahead(self) < self->waiting.next;
}

static GstFlowReturn
take_in(GstCudaConvolve *self, GstBuffer *buffer)
{
  gboolean holds = gst_cuda_convolve_has_history(self);
  GstFlowReturn flow = GST_FLOW_OK;

  if (holds && (GST_BUFFER_IS_DISCONT(buffer) || gst_cuda_convolve_must_drain(self, self->history.n_slots, TRUE))) {
    flow = gst_cuda_convolve_drain(self);
    if (flow != GST_FLOW_OK)
      return flow;
    holds = FALSE;
  }
  if (!holds) {
    gst_cuda_convolve_sync_properties(self, buffer);
    if (!gst_cuda_convolve_settle_plan(self))
      return GST_FLOW_ERROR;
    gst_cuda_convolve_update_latency(self);
  }
  learn_frame_time(self, buffer);
  if (cnv_plan_frames(self->recipe.plan, NULL) == 1 && !holds) {
    gst_cuda_convolve_leave_history(self);
    return GST_FLOW_OK;
  }
  if (!is_over_time(self))
    flow = gst_cuda_convolve_drain(self); /* frames under way */
  return flow == GST_FLOW_OK ? gst_cuda_convolve_keep(self, buffer) : flow;
}

/* The frame is kept, or under way, or in outbuf then. Takes the buffer. */
static GstFlowReturn
take_further(GstCudaConvolve *self, GstBuffer *buffer, GstBuffer **outbuf)
{
  GstBaseTransform *trans = GST_BASE_TRANSFORM(self);
  GstFlowReturn flow = take_in(self, buffer);

  if (flow != GST_FLOW_OK || is_over_time(self)) {
    gst_buffer_unref(buffer);
    return flow;
  }
  gst_cuda_convolve_settle_flights(self);
  if (gst_cuda_convolve_n_flights(self) > 1)
    return gst_cuda_convolve_fly(self, buffer, outbuf);
  trans->queued_buf = buffer;
  flow = parent_class->generate_output(trans, outbuf);
  gst_cuda_convolve_update_latency(self); /* another engine may have taken over */
  return flow;
}

/* Called until it gives no buffer: several frames can be due where the filter has come to look less far ahead. */
static GstFlowReturn
generate_output(GstBaseTransform *trans, GstBuffer **outbuf)
{
  GstCudaConvolve *self = GST_CUDA_CONVOLVE_CAST(trans);
  GstBuffer *buffer = g_steal_pointer(&trans->queued_buf);
  GstFlowReturn flow = GST_FLOW_OK;
  gboolean settle;

  push_due_events(self);
  if (buffer)
    flow = take_further(self, buffer, outbuf);
  if (flow != GST_FLOW_OK || *outbuf || !gst_cuda_convolve_waits(self) || !is_ready(self))
    return flow;
  if (is_over_time(self) && !gst_cuda_convolve_settle_for_kept(self, &settle))
    return GST_FLOW_ERROR;
  gst_cuda_convolve_update_latency(self);
  return is_ready(self) ? put_out(self, outbuf) : GST_FLOW_OK;
}

/* Whether frames before an event are not to wait for those behind it. */
static gboolean
drains(GstEvent *event)
{
  gboolean still;

  switch (GST_EVENT_TYPE(event)) {
  case GST_EVENT_STREAM_START:
  case GST_EVENT_SEGMENT:
  case GST_EVENT_SEGMENT_DONE:
  case GST_EVENT_GAP:
  case GST_EVENT_EOS:
    return TRUE;
  case GST_EVENT_CUSTOM_DOWNSTREAM:
    return gst_video_event_parse_still_frame(event, &still) && still;
  default:
    return FALSE;
  }
}

/* Caps drain where they are set. All other events keep their place between the frames. */
static gboolean
sink_event(GstBaseTransform *trans, GstEvent *event)
{
  GstCudaConvolve *self = GST_CUDA_CONVOLVE_CAST(trans);

  if (GST_EVENT_TYPE(event) == GST_EVENT_FLUSH_STOP) {
    flush_events(self);
    gst_cuda_convolve_drop_waiting(self);
  } else if (drains(event)) {
    /* What downstream says of the frames it says of the event too. */
    gst_cuda_convolve_drain(self);
    gst_cuda_convolve_finish_frames(self); /* no frame may come that could report what went wrong with them */
  } else if (GST_EVENT_IS_SERIALIZED(event) && GST_EVENT_TYPE(event) != GST_EVENT_CAPS &&
             gst_cuda_convolve_waits(self)) {
    return hold_event(self, event);
  }
  return parent_class->sink_event(trans, event);
}

/* Frames that are late are filtered all the same where others need them: upstream alone is told. */
static gboolean
src_event(GstBaseTransform *trans, GstEvent *event)
{
  GstCudaConvolve *self = GST_CUDA_CONVOLVE_CAST(trans);
  gboolean over_time;

  GST_OBJECT_LOCK(self);
  over_time = self->stats.plan && cnv_plan_frames(self->stats.plan, NULL) > 1;
  GST_OBJECT_UNLOCK(self);
  if (over_time && GST_EVENT_TYPE(event) == GST_EVENT_QOS)
    return gst_pad_push_event(GST_BASE_TRANSFORM_SINK_PAD(trans), event);
  return parent_class->src_event(trans, event);
}

void
gst_cuda_convolve_waiting_class_init(GstBaseTransformClass *klass)
{
  parent_class = g_type_class_peek_parent(klass);
  klass->generate_output = GST_DEBUG_FUNCPTR(generate_output);
  klass->sink_event = GST_DEBUG_FUNCPTR(sink_event);
  klass->src_event = GST_DEBUG_FUNCPTR(src_event);
}
