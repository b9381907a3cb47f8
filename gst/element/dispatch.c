/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "element/dispatch.h"

#include "element/frames.h"
#include "element/inflight.h"
#include "memory/devicememory.h"
#include "messages.h"
#include "time/history.h"

static GstBaseTransformClass *parent_class;

/* Pushes all frames that are in flight or waiting, and starts anew. Returns the flow return of downstream. */
static GstFlowReturn
drain(GstCudaConvolve *self)
{
  GstFlowReturn flow = gst_cuda_convolve_in_flight_wait(self, 0);
  GstFlowReturn history_flow = gst_cuda_convolve_history_drain(self);

  return flow == GST_FLOW_OK ? history_flow : flow;
}

void
gst_cuda_convolve_drop(GstCudaConvolve *self)
{
  gst_cuda_convolve_in_flight_flush(self);
  gst_cuda_convolve_in_flight_wait(self, 0);
  gst_cuda_convolve_history_forget(self);
}

/* ---- latency and position ---- */

/* If the caps have no frame rate, uses the longest duration so far as the time of a frame: live sinks drop frames that
 * come later than the reported latency. */
static void
learn_frame_time(GstCudaConvolve *self, GstBuffer *buffer)
{
  if (GST_VIDEO_INFO_FPS_N(&self->caps.in_info) <= 0 && GST_BUFFER_DURATION_IS_VALID(buffer))
    self->time.frame_time = MAX(self->time.frame_time, GST_BUFFER_DURATION(buffer));
}

/* Reports the latency of the plan in force, if it changed. Guards against overflow: caps can have one frame in 68
 * years, and buffers any duration. */
static void
update_latency(GstCudaConvolve *self)
{
  int center, n = cnv_plan_frames(self->recipe.plan, &center);
  guint n_ahead = n - 1 - center + gst_cuda_convolve_in_flight_max(self) - 1;
  GstClockTime frame_time = self->time.frame_time;
  GstClockTime latency = n_ahead > 0 && frame_time > G_MAXINT64 / n_ahead ? G_MAXINT64 : n_ahead * frame_time;

  if (latency == self->time.latency)
    return;
  GST_OBJECT_LOCK(self);
  self->time.latency = latency;
  GST_OBJECT_UNLOCK(self);
  gst_element_post_message(GST_ELEMENT(self), gst_message_new_latency(GST_OBJECT(self)));
}

static gboolean
query_latency(GstCudaConvolve *self, GstQuery *query)
{
  GstClockTime min, max, latency;
  gboolean live;

  if (!gst_pad_peer_query(GST_BASE_TRANSFORM_SINK_PAD(self), query))
    return FALSE;
  GST_OBJECT_LOCK(self);
  latency = self->time.latency;
  GST_OBJECT_UNLOCK(self);
  gst_query_parse_latency(query, &live, &min, &max);
  gst_query_set_latency(query, live, min + latency, GST_CLOCK_TIME_IS_VALID(max) ? max + latency : max);
  return TRUE;
}

/* Answers position queries for frames over time and in flight: the base class only knows the position of frames that it
 * pushes itself. */
static gboolean
query_position(GstCudaConvolve *self, GstQuery *query)
{
  const GstSegment *segment = &GST_BASE_TRANSFORM(self)->segment;
  GstClockTime position;
  GstFormat format;

  GST_OBJECT_LOCK(self);
  position = self->time.position;
  GST_OBJECT_UNLOCK(self);
  gst_query_parse_position(query, &format, NULL);
  if (format != GST_FORMAT_TIME || segment->format != GST_FORMAT_TIME || !GST_CLOCK_TIME_IS_VALID(position))
    return FALSE;
  gst_query_set_position(query, format, (gint64)gst_segment_to_stream_time(segment, GST_FORMAT_TIME, position));
  return TRUE;
}

static gboolean
query_context(GstCudaConvolve *self, GstQuery *query)
{
  g_autoptr(GstObject) context = NULL;

  GST_OBJECT_LOCK(self);
  if (self->engine.context)
    context = gst_object_ref(self->engine.context);
  GST_OBJECT_UNLOCK(self);
  return gst_cuda_convolve_device && gst_cuda_convolve_device->query(GST_ELEMENT(self), query, (gpointer)context);
}

static gboolean
answer_query(GstBaseTransform *trans, GstPadDirection direction, GstQuery *query)
{
  GstCudaConvolve *self = GST_CUDA_CONVOLVE_CAST(trans);
  GstQueryType type = GST_QUERY_TYPE(query);

  if (direction == GST_PAD_SINK && GST_QUERY_IS_SERIALIZED(query))
    gst_cuda_convolve_in_flight_wait(self, 0);
  if (direction == GST_PAD_SRC && type == GST_QUERY_LATENCY)
    return query_latency(self, query);
  return (direction == GST_PAD_SRC && type == GST_QUERY_POSITION && query_position(self, query)) ||
         (type == GST_QUERY_CONTEXT && query_context(self, query)) || parent_class->query(trans, direction, query);
}

/* ---- caps ---- */

static gboolean
set_caps(GstBaseTransform *trans, GstCaps *incaps, GstCaps *outcaps)
{
  GstCudaConvolve *self = GST_CUDA_CONVOLVE_CAST(trans);
  GstCudaConvolveCaps caps;
  GError *error = NULL;
  int fps;

  if (!gst_cuda_convolve_caps_read(&caps, incaps, outcaps, &error)) {
    gst_cuda_convolve_post(GST_ELEMENT(self), GST_MESSAGE_ERROR, error, "negotiating caps");
    return FALSE;
  }
  /* Downstream still has the old caps. The flow return is not needed, because the next frame gets the same. */
  drain(self);
  gst_cuda_convolve_history_leave(self);
  fps = GST_VIDEO_INFO_FPS_N(&caps.in_info);
  self->caps = caps;
  self->in_flight.n = self->in_flight.n_wanted;
  self->time.frame_time = fps > 0 ? gst_util_uint64_scale_int(GST_SECOND, GST_VIDEO_INFO_FPS_D(&caps.in_info), fps) : 0;
  if (!gst_cuda_convolve_settle_plan(self))
    return FALSE;
  update_latency(self);
  return TRUE;
}

/* ---- frames ---- */

/* is_discont: the base class will mark the next frame that it pushes as DISCONT. */
static GstFlowReturn
submit_input_buffer(GstBaseTransform *trans, gboolean is_discont, GstBuffer *input)
{
  GstCudaConvolve *self = GST_CUDA_CONVOLVE_CAST(trans);
  GstFlowReturn flow = GST_FLOW_OK;

  self->is_discont = is_discont;
  /* The allocation query, which the base class makes now, must not overtake frames. */
  if (gst_pad_needs_reconfigure(trans->srcpad))
    flow = gst_cuda_convolve_in_flight_wait(self, 0);
  if (flow != GST_FLOW_OK) {
    gst_buffer_unref(input);
    return flow;
  }
  flow = parent_class->submit_input_buffer(trans, is_discont, input);
  if (flow == GST_BASE_TRANSFORM_FLOW_DROPPED) {
    GST_OBJECT_LOCK(self);
    self->stats.dropped++;
    GST_OBJECT_UNLOCK(self);
  }
  return flow;
}

/* Updates the plan for a new frame, and puts the frame into the history if the plan needs it. */
static GstFlowReturn
accept(GstCudaConvolve *self, GstBuffer *buffer)
{
  gboolean holds = gst_cuda_convolve_has_history(self);
  GstFlowReturn flow = GST_FLOW_OK;

  if (holds && (GST_BUFFER_IS_DISCONT(buffer) ||
                gst_cuda_convolve_recipe_must_drain(&self->recipe, self->history.n_slots, TRUE))) {
    flow = drain(self);
    if (flow != GST_FLOW_OK)
      return flow;
    holds = FALSE;
  }
  if (!holds) {
    gst_cuda_convolve_sync_properties(self, buffer);
    if (!gst_cuda_convolve_settle_plan(self))
      return GST_FLOW_ERROR;
  }
  learn_frame_time(self, buffer);
  if (cnv_plan_frames(self->recipe.plan, NULL) == 1 && !holds) {
    gst_cuda_convolve_history_leave(self);
    gst_cuda_convolve_in_flight_settle(self);
    return GST_FLOW_OK;
  }
  flow = gst_cuda_convolve_in_flight_wait(self, 0);
  return flow == GST_FLOW_OK ? gst_cuda_convolve_history_push(self, buffer) : flow;
}

/* Takes ownership of the buffer. If the frame need not wait, stores the output in outbuf. */
static GstFlowReturn
dispatch(GstCudaConvolve *self, GstBuffer *buffer, GstBuffer **outbuf)
{
  GstBaseTransform *trans = GST_BASE_TRANSFORM(self);
  GstFlowReturn flow = accept(self, buffer);

  if (flow != GST_FLOW_OK || self->history.n_slots > 0) {
    gst_buffer_unref(buffer);
    return flow;
  }
  if (gst_cuda_convolve_in_flight_max(self) > 1)
    return gst_cuda_convolve_in_flight_submit(self, buffer, outbuf);
  trans->queued_buf = buffer;
  return parent_class->generate_output(trans, outbuf);
}

/* Called until it returns no buffer: several frames can be due if the new filter needs fewer frames ahead. */
static GstFlowReturn
generate_output(GstBaseTransform *trans, GstBuffer **outbuf)
{
  GstCudaConvolve *self = GST_CUDA_CONVOLVE_CAST(trans);
  GstBuffer *buffer = g_steal_pointer(&trans->queued_buf);
  GstFlowReturn flow = GST_FLOW_OK;

  gst_cuda_convolve_history_pop_events(self);
  if (buffer)
    flow = dispatch(self, buffer, outbuf);
  if (flow == GST_FLOW_OK && !*outbuf)
    flow = gst_cuda_convolve_history_pop(self, outbuf);
  update_latency(self);
  return flow;
}

/* ---- events ---- */

/* Returns TRUE if frames before the event must not wait for frames after it. */
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

static void
flush(GstCudaConvolve *self)
{
  gst_cuda_convolve_drop(self);
  gst_cuda_convolve_recipe_forget(&self->recipe);
  GST_OBJECT_LOCK(self);
  self->time.position = GST_CLOCK_TIME_NONE;
  GST_OBJECT_UNLOCK(self);
}

/* Caps drain in set_caps. All other events keep their place between the frames. */
static gboolean
sink_event(GstBaseTransform *trans, GstEvent *event)
{
  GstCudaConvolve *self = GST_CUDA_CONVOLVE_CAST(trans);

  if (GST_EVENT_TYPE(event) == GST_EVENT_FLUSH_START) {
    gst_cuda_convolve_in_flight_flush(self);
  } else if (GST_EVENT_TYPE(event) == GST_EVENT_FLUSH_STOP) {
    flush(self);
  } else if (drains(event)) {
    /* The flow return is not needed, because pushing the event ends in the same way. */
    drain(self);
    gst_cuda_convolve_finish_frames(self); /* there may be no later frame that reports their errors */
    if (GST_EVENT_TYPE(event) == GST_EVENT_EOS)
      gst_cuda_convolve_recipe_end(&self->recipe);
  } else if (GST_EVENT_IS_SERIALIZED(event) && GST_EVENT_TYPE(event) != GST_EVENT_CAPS &&
             (gst_cuda_convolve_in_flight_push_event(self, event) ||
              gst_cuda_convolve_history_push_event(self, event))) {
    return TRUE;
  }
  return parent_class->sink_event(trans, event);
}

/* With a filter over time, passes QoS events upstream, past the base class: it would drop late frames that other frames
 * need. */
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
gst_cuda_convolve_dispatch_class_init(GstBaseTransformClass *klass)
{
  parent_class = g_type_class_peek_parent(klass);
  klass->query = GST_DEBUG_FUNCPTR(answer_query);
  klass->set_caps = GST_DEBUG_FUNCPTR(set_caps);
  klass->submit_input_buffer = GST_DEBUG_FUNCPTR(submit_input_buffer);
  klass->generate_output = GST_DEBUG_FUNCPTR(generate_output);
  klass->sink_event = GST_DEBUG_FUNCPTR(sink_event);
  klass->src_event = GST_DEBUG_FUNCPTR(src_event);
}
