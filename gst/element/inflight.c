/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "element/inflight.h"

#include "element/frames.h"
#include "memory/allocation.h"
#include "memory/mapping.h"
#include "memory/streams.h"
#include "messages.h"

/* One frame is uploaded, one filtered and one downloaded. For 1080p NV12 on an H200, two frames in flight reach 76 % of
 * what the bus allows, three 92 %, and four no more. */
#define FRAMES_AUTO 3

/* A frame in flight, or an event after the frames before it. Buffers stay mapped until the engine is done with them. */
typedef struct {
  GstEvent *event; /* or NULL: then the members below describe a frame */
  GstBuffer *in, *out;
  GstCudaConvolveMap map;
  guint64 number; /* number of the frame in the session */
  CnvPlan *plan;  /* for the statistics, like the members below */
  guint n_regions;
} Item;

/* ---- how many ---- */

/* Returns TRUE if the frames come at the pace of a clock. A source that does not answer could be live. */
static gboolean
is_live(GstCudaConvolve *self)
{
  g_autoptr(GstQuery) query = gst_query_new_latency();
  gboolean live = TRUE;

  if (gst_pad_peer_query(GST_BASE_TRANSFORM_SINK_PAD(self), query))
    gst_query_parse_latency(query, &live, NULL, NULL);
  return live;
}

static gboolean
can_overlap(const GstCudaConvolve *self)
{
  gboolean copies = !self->caps.same_memory || !self->caps.out_in_device;

  return copies && cnv_plan_frames(self->recipe.plan, NULL) == 1 && self->engine.session->backend->max_in_flight > 1;
}

void
gst_cuda_convolve_in_flight_settle(GstCudaConvolve *self)
{
  if (self->in_flight.n > 0 || !can_overlap(self))
    return;
  self->in_flight.n = is_live(self) ? 1 : FRAMES_AUTO;
  GST_DEBUG_OBJECT(self, "%u frames in flight", self->in_flight.n);
}

guint
gst_cuda_convolve_in_flight_max(const GstCudaConvolve *self)
{
  return can_overlap(self) ? CLAMP(self->in_flight.n, 1, self->engine.session->backend->max_in_flight) : 1;
}

/* Returns FALSE for frames that must not overlap with others: the first frame, because another engine may have to
 * filter it again; buffers of pools with a limit, which could run out; frames that the base class marks as DISCONT,
 * because it must push these itself; and frames that need no copy to or from the device. */
static gboolean
can_be_async(GstCudaConvolve *self, GstBuffer *in, GstBuffer *out)
{
  return in != out && gst_cuda_convolve_engine_is_proven(&self->engine) && !self->is_discont &&
         !gst_cuda_convolve_pool_is_limited(in->pool) && !gst_cuda_convolve_pool_is_limited(out->pool) &&
         !(gst_cuda_convolve_engine_holds(&self->engine, in) && gst_cuda_convolve_engine_holds(&self->engine, out));
}

/* ---- out ---- */

/* Waits for a frame and frees it. Returns its output buffer, or NULL if the frame failed or is not wanted. Errors of
 * unwanted frames are not posted. */
static GstBuffer *
finish(GstCudaConvolve *self, Item *frame, gboolean wanted)
{
  GstBuffer *out = NULL;
  GError *error = NULL;

  if (cnv_session_wait_for_frame(self->engine.session, frame->number, &error) && wanted) {
    gst_cuda_convolve_count_frame(self, frame->plan, frame->n_regions, frame->out);
    out = gst_buffer_ref(frame->out);
  }
  gst_cuda_convolve_unmap(&self->engine, &frame->map);
  gst_buffer_unref(frame->in);
  gst_buffer_unref(frame->out);
  cnv_plan_unref(frame->plan);
  g_free(frame);
  if (error && wanted)
    gst_cuda_convolve_post(GST_ELEMENT(self), GST_MESSAGE_ERROR, error, "filtering a frame");
  else
    g_clear_error(&error);
  return out;
}

static GstFlowReturn
push(GstCudaConvolve *self, Item *item, gboolean wanted)
{
  GstPad *pad = GST_BASE_TRANSFORM_SRC_PAD(self);
  GstBuffer *buffer;

  if (item->event) {
    gst_pad_push_event(pad, item->event);
    g_free(item);
    return GST_FLOW_OK;
  }
  buffer = finish(self, item, wanted);
  g_mutex_lock(&self->in_flight.lock);
  self->in_flight.n_frames--;
  g_cond_broadcast(&self->in_flight.changed);
  g_mutex_unlock(&self->in_flight.lock);
  return buffer ? gst_pad_push(pad, buffer) : GST_FLOW_ERROR;
}

/* The task. Pushes events even if frames are no longer pushed, because a flushing pad keeps the sticky ones. */
static void
push_first(gpointer data)
{
  GstCudaConvolve *self = data;
  GstFlowReturn flow;
  Item *item;

  g_mutex_lock(&self->in_flight.lock);
  while (self->in_flight.active && g_queue_is_empty(&self->in_flight.items))
    g_cond_wait(&self->in_flight.changed, &self->in_flight.lock);
  item = g_queue_peek_head(&self->in_flight.items);
  flow = self->in_flight.flow;
  g_mutex_unlock(&self->in_flight.lock);
  if (!item) {
    gst_pad_pause_task(GST_BASE_TRANSFORM_SRC_PAD(self));
    return;
  }
  flow = push(self, item, flow == GST_FLOW_OK);
  g_mutex_lock(&self->in_flight.lock);
  g_queue_pop_head(&self->in_flight.items);
  if (self->in_flight.flow == GST_FLOW_OK)
    self->in_flight.flow = flow;
  if (g_queue_is_empty(&self->in_flight.items))
    g_cond_broadcast(&self->in_flight.changed);
  g_mutex_unlock(&self->in_flight.lock);
}

/* ---- in ---- */

/* Appends an item. Returns FALSE, and the caller keeps the item, if the pad is not active or if an event has nothing to
 * wait for. */
static gboolean
append(GstCudaConvolve *self, Item *item)
{
  gboolean taken;

  g_mutex_lock(&self->in_flight.lock);
  taken = self->in_flight.active && !(item->event && g_queue_is_empty(&self->in_flight.items));
  if (taken) {
    g_queue_push_tail(&self->in_flight.items, item);
    self->in_flight.n_frames += item->event == NULL;
    if (self->in_flight.items.length == 1)
      g_cond_broadcast(&self->in_flight.changed);
    gst_pad_start_task(GST_BASE_TRANSFORM_SRC_PAD(self), push_first, self, NULL); /* does nothing if it runs */
  }
  g_mutex_unlock(&self->in_flight.lock);
  return taken;
}

gboolean
gst_cuda_convolve_in_flight_push_event(GstCudaConvolve *self, GstEvent *event)
{
  Item *item = g_new0(Item, 1);

  item->event = event;
  if (append(self, item))
    return TRUE;
  g_free(item);
  return FALSE;
}

static gboolean
start(GstCudaConvolve *self, Item *frame, GError **error)
{
  if (!gst_cuda_convolve_map(&self->engine, &self->caps, frame->in, frame->out, &frame->map, error))
    return FALSE;
  self->recipe.work.overlaps = TRUE;
  if (gst_cuda_convolve_streams_enter(&self->engine, &frame->map, error) &&
      cnv_session_submit(self->engine.session, &self->recipe.work, &frame->map.in, &frame->map.out, error))
    return TRUE;
  gst_cuda_convolve_unmap(&self->engine, &frame->map);
  return FALSE;
}

/* Takes ownership of both buffers. If it fails, pushes the frames before this one, which are valid. */
static GstFlowReturn
submit_async(GstCudaConvolve *self, GstBuffer *in, GstBuffer *out)
{
  Item *frame = g_new(Item, 1);
  GError *error = NULL;

  *frame = (Item){.in = in, .out = out};
  if (!start(self, frame, &error)) {
    gst_cuda_convolve_post(GST_ELEMENT(self), GST_MESSAGE_ERROR, error, "filtering a frame");
    g_free(frame);
    gst_buffer_unref(in);
    gst_buffer_unref(out);
    gst_cuda_convolve_in_flight_wait(self, 0);
    return GST_FLOW_ERROR;
  }
  frame->number = self->engine.session->n_submitted;
  frame->plan = cnv_plan_ref(self->recipe.work.plan[0]);
  frame->n_regions = self->recipe.work.n_regions;
  gst_cuda_convolve_read_session_stats(self);
  if (append(self, frame))
    return GST_FLOW_OK;
  finish(self, frame, FALSE);
  return GST_FLOW_FLUSHING;
}

GstFlowReturn
gst_cuda_convolve_in_flight_submit(GstCudaConvolve *self, GstBuffer *in, GstBuffer **outbuf)
{
  GstBaseTransform *trans = GST_BASE_TRANSFORM(self);
  GstBaseTransformClass *klass = GST_BASE_TRANSFORM_GET_CLASS(trans);
  GstFlowReturn flow = gst_cuda_convolve_in_flight_wait(self, gst_cuda_convolve_in_flight_max(self) - 1);
  GstBuffer *out = NULL;

  if (flow == GST_FLOW_OK)
    flow = klass->prepare_output_buffer(trans, in, &out);
  if (flow == GST_FLOW_OK && can_be_async(self, in, out))
    return submit_async(self, in, out);
  if (flow == GST_FLOW_OK)
    flow = gst_cuda_convolve_in_flight_wait(self, 0);
  if (flow == GST_FLOW_OK)
    flow = klass->transform(trans, in, out);
  if (in != out)
    gst_buffer_unref(in);
  if (flow == GST_FLOW_OK)
    *outbuf = out;
  else
    gst_clear_buffer(&out);
  return flow;
}

/* ---- waiting ---- */

GstFlowReturn
gst_cuda_convolve_in_flight_wait(GstCudaConvolve *self, guint n_left)
{
  GstFlowReturn flow;

  g_mutex_lock(&self->in_flight.lock);
  while (n_left == 0 || self->in_flight.flow != GST_FLOW_OK ? !g_queue_is_empty(&self->in_flight.items)
                                                            : self->in_flight.n_frames > n_left)
    g_cond_wait(&self->in_flight.changed, &self->in_flight.lock);
  flow = self->in_flight.flow;
  self->in_flight.flow = GST_FLOW_OK;
  g_mutex_unlock(&self->in_flight.lock);
  return flow;
}

void
gst_cuda_convolve_in_flight_flush(GstCudaConvolve *self)
{
  g_mutex_lock(&self->in_flight.lock);
  self->in_flight.flow = GST_FLOW_FLUSHING;
  g_cond_broadcast(&self->in_flight.changed);
  g_mutex_unlock(&self->in_flight.lock);
}

/* ---- the source pad ---- */

/* A pad that is not active has no task and no frames in flight. */
static gboolean
activate_src(GstPad *pad, GstObject *parent, GstPadMode mode, gboolean active)
{
  GstCudaConvolve *self = GST_CUDA_CONVOLVE_CAST(parent);

  if (mode == GST_PAD_MODE_PUSH) {
    g_mutex_lock(&self->in_flight.lock);
    self->in_flight.active = active;
    g_mutex_unlock(&self->in_flight.lock);
    gst_cuda_convolve_in_flight_flush(self);
    gst_cuda_convolve_in_flight_wait(self, 0);
    gst_pad_stop_task(pad);
  }
  return self->in_flight.activate_src(pad, parent, mode, active);
}

void
gst_cuda_convolve_in_flight_init(GstCudaConvolve *self)
{
  GstPad *pad = GST_BASE_TRANSFORM_SRC_PAD(self);

  g_mutex_init(&self->in_flight.lock);
  g_cond_init(&self->in_flight.changed);
  g_queue_init(&self->in_flight.items);
  self->in_flight.activate_src = GST_PAD_ACTIVATEMODEFUNC(pad);
  gst_pad_set_activatemode_function(pad, activate_src);
}

void
gst_cuda_convolve_in_flight_clear(GstCudaConvolve *self)
{
  g_mutex_clear(&self->in_flight.lock);
  g_cond_clear(&self->in_flight.changed);
}
