/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "time/history.h"

#include "element/frames.h"
#include "memory/allocation.h"
#include "memory/streams.h"
#include "messages.h"

gboolean
gst_cuda_convolve_has_history(const GstCudaConvolve *self)
{
  return self->history.n_slots > 0 && self->history.next > self->history.first;
}

static gboolean
has_waiting(const GstCudaConvolve *self)
{
  return self->history.out < self->history.next;
}

/* Updates the statistics. */
static void
count_history(GstCudaConvolve *self)
{
  GST_OBJECT_LOCK(self);
  self->stats.n_history = (guint)(self->history.next - self->history.first);
  GST_OBJECT_UNLOCK(self);
}

/* Puts a reference to the buffer (NULL: none) into a slot. The session must no longer need the previous one. */
static void
set_kept(GstCudaConvolve *self, int slot, GstBuffer *buffer)
{
  GstBuffer **kept = &self->history.kept[slot];

  if (*kept)
    gst_cuda_convolve_streams_release(&self->engine, *kept);
  gst_buffer_replace(kept, buffer);
}

/* Pushes events, because a flushing pad keeps the sticky ones. */
void
gst_cuda_convolve_history_forget(GstCudaConvolve *self)
{
  GstMiniObject *item;

  while ((item = g_queue_pop_head(&self->history.waiting)))
    if (GST_IS_EVENT(item))
      gst_pad_push_event(GST_BASE_TRANSFORM_SRC_PAD(self), GST_EVENT(item));
    else
      gst_mini_object_unref(item);
  for (int slot = 0; slot < CNV_MAX_TEMPORAL_TAPS; slot++)
    set_kept(self, slot, NULL);
  self->history.first = self->history.out = self->history.next;
  count_history(self);
}

/* Also frees the memory of the session. If that fails, the next call of the session reports it. */
void
gst_cuda_convolve_history_leave(GstCudaConvolve *self)
{
  if (self->history.n_slots == 0)
    return;
  gst_cuda_convolve_history_forget(self);
  self->history.n_slots = 0;
  if (self->engine.session)
    cnv_session_history_alloc(self->engine.session, &self->caps.image, 0, NULL);
}

/* ---- events ---- */

gboolean
gst_cuda_convolve_history_push_event(GstCudaConvolve *self, GstEvent *event)
{
  if (!has_waiting(self))
    return FALSE;
  GST_DEBUG_OBJECT(self, "holding %" GST_PTR_FORMAT, event);
  g_queue_push_tail(&self->history.waiting, event);
  return TRUE;
}

void
gst_cuda_convolve_history_pop_events(GstCudaConvolve *self)
{
  GQueue *waiting = &self->history.waiting;

  while (!g_queue_is_empty(waiting) && GST_IS_EVENT(g_queue_peek_head(waiting)))
    gst_pad_push_event(GST_BASE_TRANSFORM_SRC_PAD(self), g_queue_pop_head(waiting));
}

/* ---- frames in ---- */

/* Allocates the ring for the plan in force. Keeps a larger one. */
static gboolean
ensure_ring(GstCudaConvolve *self, GError **error)
{
  guint n = (guint)cnv_plan_frames(self->recipe.plan, NULL);

  if (self->history.n_slots == n || (self->history.n_slots > n && gst_cuda_convolve_has_history(self)))
    return TRUE;
  gst_cuda_convolve_history_forget(self);
  self->history.n_slots = 0; /* a session that fails has lost its history */
  if (!cnv_session_history_alloc(self->engine.session, &self->caps.image, n, error))
    return FALSE;
  GST_DEBUG_OBJECT(self, "a history of %u frames", n);
  self->history.n_slots = n;
  /* Frames that were late so far must not leave a hole: at -1, the earliest time, the base class drops no frame. */
  gst_base_transform_update_qos(GST_BASE_TRANSFORM(self), 1, -1, 0);
  return TRUE;
}

/* Sets the work for a frame from the slots of the frames around it. */
static void
make_work(GstCudaConvolve *self, GstBuffer *buffer, const int slot[CNV_MAX_TEMPORAL_TAPS], gboolean is_next)
{
  gst_cuda_convolve_make_work(self, buffer, is_next);
  self->recipe.work.temporal_tap = self->history.temporal_tap;
  self->recipe.work.n_temporal_taps =
      cnv_temporal_taps_make(self->recipe.plan, slot, self->recipe.wanted.temporal_border, self->history.temporal_tap);
}

/* Filters the first frame at once, into a buffer that is dropped. If the engine fails later, when it holds several
 * frames, another engine would not have them. */
static gboolean
try_first(GstCudaConvolve *self, GstBuffer *buffer, int first, GError **error)
{
  int slot[CNV_MAX_TEMPORAL_TAPS], center, n = cnv_plan_frames(self->recipe.plan, &center);
  g_autoptr(GstBuffer) unseen = NULL;

  if (!gst_cuda_convolve_engine_may_fall_back(&self->engine))
    return TRUE;
  for (int i = 0; i < n; i++)
    slot[i] = i == center ? first : -1;
  make_work(self, buffer, slot, FALSE);
  if (gst_cuda_convolve_allocate_output(self, buffer, &unseen) != GST_FLOW_OK)
    return TRUE; /* not an error of the engine */
  return gst_cuda_convolve_run(self, NULL, unseen, first, error);
}

/* Returns TRUE if the session may read the memory of the buffer for as long as it needs the frame: a stream orders the
 * work on it, and its pool has more buffers for upstream. */
static gboolean
may_keep(const GstCudaConvolve *self, GstBuffer *buffer)
{
  return gst_cuda_convolve_streams_order(&self->engine, buffer) && buffer->pool &&
         !gst_cuda_convolve_pool_is_limited(buffer->pool);
}

static gboolean
fill_slot(GstCudaConvolve *self, int slot, GstBuffer *buffer, GError **error)
{
  GstCudaConvolveMap map;
  gboolean ok, kept = FALSE;

  if (!gst_cuda_convolve_map(&self->engine, &self->caps, buffer, NULL, &map, error))
    return FALSE;
  ok = gst_cuda_convolve_streams_enter(&self->engine, &map, error) &&
       cnv_session_history_push(self->engine.session, (guint)slot, &map.in, self->recipe.wanted.scene_change > 0,
                                may_keep(self, buffer) ? &kept : NULL, error);
  ok = gst_cuda_convolve_streams_leave(&self->engine, &map, ok, error);
  gst_cuda_convolve_unmap(&self->engine, &map);
  set_kept(self, slot, ok && kept ? buffer : NULL);
  return ok;
}

static gboolean
push_samples(GstCudaConvolve *self, GstBuffer *buffer, GError **error)
{
  int slot;

  if (!ensure_ring(self, error))
    return FALSE;
  slot = (int)(self->history.next % self->history.n_slots);
  return fill_slot(self, slot, buffer, error) && try_first(self, buffer, slot, error);
}

/* Replaces the engine if it fails and holds no frames yet. */
static gboolean
push_or_fall_back(GstCudaConvolve *self, GstBuffer *buffer)
{
  GError *error = NULL;
  gboolean ok = push_samples(self, buffer, &error);

  if (!ok && !gst_cuda_convolve_has_history(self) && gst_cuda_convolve_fall_back(self, &error)) {
    gst_cuda_convolve_history_leave(self);
    ok = push_samples(self, buffer, &error);
  }
  if (error)
    gst_cuda_convolve_post(GST_ELEMENT(self), GST_MESSAGE_ERROR, error, "keeping a frame");
  return ok;
}

GstFlowReturn
gst_cuda_convolve_history_push(GstCudaConvolve *self, GstBuffer *buffer)
{
  GstBaseTransform *trans = GST_BASE_TRANSFORM(self);
  GstBuffer *metadata;

  gst_cuda_convolve_start_pool(self, buffer);
  if (!push_or_fall_back(self, buffer))
    return GST_FLOW_ERROR;
  metadata = gst_buffer_new();
  GST_BASE_TRANSFORM_GET_CLASS(trans)->copy_metadata(trans, buffer, metadata);
  g_queue_push_tail(&self->history.waiting, metadata);
  self->history.next++;
  if (self->history.next - self->history.first > self->history.n_slots)
    self->history.first = self->history.next - self->history.n_slots;
  count_history(self);
  return GST_FLOW_OK;
}

/* ---- frames out ---- */

/* Finds the slots of the frames around the next output frame, as the taps in time need them. -1: before the first
 * frame, after the last, or beyond a cut. */
static gboolean
find_slots(GstCudaConvolve *self, int slot[CNV_MAX_TEMPORAL_TAPS], GError **error)
{
  double most = self->recipe.wanted.scene_change, change = 0;
  int center, n = cnv_plan_frames(self->recipe.plan, &center);

  for (int i = 0; i < n; i++)
    slot[i] = -1;
  slot[center] = (int)(self->history.out % self->history.n_slots);
  for (int side = -1; side <= 1; side += 2)
    for (int i = center + side; i >= 0 && i < n && slot[i - side] >= 0; i += side) {
      guint64 frame = self->history.out + (guint64)(i - center), later = MAX(frame, frame - (guint64)side);

      if (frame < self->history.first || frame >= self->history.next)
        break;
      if (most > 0 &&
          !cnv_session_history_change(self->engine.session, (guint)(later % self->history.n_slots), &change, error))
        return FALSE;
      slot[i] = change <= most ? (int)(frame % self->history.n_slots) : -1;
    }
  return TRUE;
}

static GstFlowReturn
filter_next(GstCudaConvolve *self, GstBuffer **outbuf)
{
  GstBuffer *metadata = g_queue_pop_head(&self->history.waiting);
  int slot[CNV_MAX_TEMPORAL_TAPS], center;
  GError *error = NULL;
  GstFlowReturn flow = GST_FLOW_OK;

  if (find_slots(self, slot, &error)) {
    make_work(self, metadata, slot, TRUE);
    flow = gst_cuda_convolve_allocate_output(self, metadata, outbuf);
  }
  gst_buffer_unref(metadata);
  self->history.out++;
  if (flow != GST_FLOW_OK)
    return flow;
  cnv_plan_frames(self->recipe.plan, &center);
  if (!error && gst_cuda_convolve_run(self, NULL, *outbuf, slot[center], &error)) {
    gst_cuda_convolve_count_frame(self, self->recipe.work.plan[0], self->recipe.work.n_regions, *outbuf);
    gst_cuda_convolve_read_session_stats(self);
    return GST_FLOW_OK;
  }
  gst_cuda_convolve_post(GST_ELEMENT(self), GST_MESSAGE_ERROR, error, "filtering a frame");
  gst_clear_buffer(outbuf);
  return GST_FLOW_ERROR;
}

/* Puts the settings at the time of the next frame in force. If the history must be drained first, sets *settle to
 * FALSE, and the old settings filter the frame. Returns FALSE if there is no plan. */
static gboolean
settle_for_next(GstCudaConvolve *self, gboolean *settle)
{
  gst_cuda_convolve_sync_properties(self, g_queue_peek_head(&self->history.waiting));
  *settle = !gst_cuda_convolve_recipe_must_drain(&self->recipe, self->history.n_slots, FALSE);
  return !*settle || gst_cuda_convolve_settle_plan(self);
}

/* Returns TRUE if all frames that the next output frame needs have arrived. */
static gboolean
is_ready(const GstCudaConvolve *self)
{
  int center, n = cnv_plan_frames(self->recipe.plan, &center);

  return self->history.out + (guint)(n - 1 - center) < self->history.next;
}

GstFlowReturn
gst_cuda_convolve_history_pop(GstCudaConvolve *self, GstBuffer **outbuf)
{
  gboolean settle;

  if (!has_waiting(self) || !is_ready(self))
    return GST_FLOW_OK;
  if (!settle_for_next(self, &settle))
    return GST_FLOW_ERROR;
  return is_ready(self) ? filter_next(self, outbuf) : GST_FLOW_OK;
}

GstFlowReturn
gst_cuda_convolve_history_drain(GstCudaConvolve *self)
{
  gboolean settle =
      has_waiting(self) && !gst_cuda_convolve_recipe_must_drain(&self->recipe, self->history.n_slots, TRUE);
  GstFlowReturn flow = GST_FLOW_OK;

  gst_cuda_convolve_history_pop_events(self);
  while (flow == GST_FLOW_OK && has_waiting(self)) {
    GstBuffer *buffer = NULL;

    flow = settle && !settle_for_next(self, &settle) ? GST_FLOW_ERROR : filter_next(self, &buffer);
    if (flow == GST_FLOW_OK)
      flow = gst_pad_push(GST_BASE_TRANSFORM_SRC_PAD(self), buffer);
    gst_cuda_convolve_history_pop_events(self);
  }
  gst_cuda_convolve_history_forget(self);
  return flow;
}
