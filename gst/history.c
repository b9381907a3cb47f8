/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Time: frames are kept in the session until those that come after them have come too, and are then put out, each with
 * the times and metas that it came with. Where the plan has one tap in time nothing of this is in use.
 */
#include "allocation.h"
#include "frames.h"
#include "messages.h"

static GstBuffer **
waiting_of(GstCudaConvolve *self, guint64 frame)
{
  return &self->history.waiting[frame % self->history.n_slots];
}

gboolean
gst_cuda_convolve_has_history(const GstCudaConvolve *self)
{
  return self->history.n_slots > 0 && self->waiting.next > self->history.first;
}

/* For the statistics. */
static void
count_history(GstCudaConvolve *self)
{
  GST_OBJECT_LOCK(self);
  self->stats.n_history = (guint)(self->waiting.next - self->history.first);
  GST_OBJECT_UNLOCK(self);
}

void
gst_cuda_convolve_forget_history(GstCudaConvolve *self)
{
  GstCudaConvolveHistory *history = &self->history;

  for (guint i = 0; i < G_N_ELEMENTS(history->waiting); i++)
    gst_clear_buffer(&history->waiting[i]);
  history->first = self->waiting.next;
  count_history(self);
}

/* Also what the session holds, or held where it is gone. */
void
gst_cuda_convolve_leave_history(GstCudaConvolve *self)
{
  guint n_slots = self->history.n_slots;

  gst_cuda_convolve_forget_history(self);
  self->history.n_slots = 0;
  if (n_slots > 0 && self->engine.session)
    cnv_session_history_alloc(self->engine.session, &self->caps.image, 0,
                              NULL); /* a session that cannot even free says so at its next */
}

/* ---- frames in ---- */

/* The ring for the plan in force. A larger one than it needs goes on being used. */
static gboolean
ensure_ring(GstCudaConvolve *self, GError **error)
{
  GstCudaConvolveHistory *history = &self->history;
  guint n = (guint)cnv_plan_frames(self->recipe.plan, NULL);

  if (history->n_slots == n || (history->n_slots > n && gst_cuda_convolve_has_history(self)))
    return TRUE;
  gst_cuda_convolve_forget_history(self);
  history->n_slots = 0; /* a session that refuses has lost what it had */
  if (!cnv_session_history_alloc(self->engine.session, &self->caps.image, n, error))
    return FALSE;
  GST_DEBUG_OBJECT(self, "a history of %u frames", n);
  history->n_slots = n;
  /* What was late before must not make a hole now: -1 is the earliest time that the base class waits for no frame at.
   */
  gst_base_transform_update_qos(GST_BASE_TRANSFORM(self), 1, -1, 0);
  return TRUE;
}

/* Sets the work for the frame in slot[now]. */
static void
make_work(GstCudaConvolve *self, GstBuffer *buffer, const int slot[CNV_MAX_TEMPORAL_TAPS])
{
  gst_cuda_convolve_make_work(self, buffer);
  self->recipe.work.temporal_tap = self->history.temporal_tap;
  self->recipe.work.n_temporal_taps =
      cnv_temporal_taps_make(self->recipe.plan, slot, self->recipe.wanted.temporal_border, self->history.temporal_tap);
}

/* Several frames are held before the first is put out, and an engine that stands in would not have them. So the first
 * is filtered at once, into a buffer that nobody sees. */
static gboolean
try_first(GstCudaConvolve *self, GstBuffer *buffer, int first, GError **error)
{
  int slot[CNV_MAX_TEMPORAL_TAPS];
  GstBuffer *unseen = NULL;
  int center, n = cnv_plan_frames(self->recipe.plan, &center);
  gboolean ok;

  if (!gst_cuda_convolve_engine_may_fall_back(&self->engine))
    return TRUE;
  for (int i = 0; i < n; i++)
    slot[i] = i == center ? first : -1;
  make_work(self, buffer, slot);
  if (gst_cuda_convolve_allocate_output(self, buffer, &unseen) != GST_FLOW_OK)
    return TRUE; /* which no engine can help */
  ok = gst_cuda_convolve_filter_slot(self, first, unseen, error);
  gst_buffer_unref(unseen);
  return ok;
}

static gboolean
keep_samples(GstCudaConvolve *self, GstBuffer *buffer, GError **error)
{
  int slot;

  if (!ensure_ring(self, error))
    return FALSE;
  slot = (int)(self->waiting.next % self->history.n_slots);
  return gst_cuda_convolve_keep_buffer(self, buffer, (guint)slot, error) && try_first(self, buffer, slot, error);
}

/* An engine can be replaced as long as it holds nothing. */
static gboolean
keep_or_fall_back(GstCudaConvolve *self, GstBuffer *buffer)
{
  GstCudaConvolveHistory *history = &self->history;
  GError *error = NULL;
  gboolean ok = keep_samples(self, buffer, &error);

  if (!ok && !gst_cuda_convolve_has_history(self) &&
      gst_cuda_convolve_engine_fall_back(&self->engine, GST_ELEMENT(self), error)) {
    g_clear_error(&error);
    history->n_slots = 0; /* they were the other session's */
    ok = gst_cuda_convolve_settle_plan(self) && keep_samples(self, buffer, &error);
  }
  if (error)
    gst_cuda_convolve_post(GST_ELEMENT(self), GST_MESSAGE_ERROR, error, "keeping a frame");
  return ok;
}

GstFlowReturn
gst_cuda_convolve_keep(GstCudaConvolve *self, GstBuffer *buffer)
{
  GstBaseTransform *trans = GST_BASE_TRANSFORM(self);
  GstCudaConvolveHistory *history = &self->history;
  GstBuffer **waiting;

  if (!keep_or_fall_back(self, buffer))
    return GST_FLOW_ERROR;
  waiting = waiting_of(self, self->waiting.next);
  *waiting = gst_buffer_new();
  GST_BASE_TRANSFORM_GET_CLASS(trans)->copy_metadata(trans, buffer, *waiting);
  self->waiting.next++;
  if (self->waiting.next - history->first > history->n_slots)
    history->first = self->waiting.next - history->n_slots;
  count_history(self);
  return GST_FLOW_OK;
}

/* ---- frames out ---- */

/* Sets *slot to that of a frame whose neighbour counts, the later one of the two or not; -1 beyond a cut. */
static gboolean
find_slot(GstCudaConvolve *self, guint64 frame, guint64 later, int *slot, GError **error)
{
  guint n = self->history.n_slots;
  double change = 0;

  if (self->recipe.wanted.scene_change > 0 &&
      !cnv_session_history_change(self->engine.session, (guint)(later % n), &change, error))
    return FALSE;
  *slot = change <= self->recipe.wanted.scene_change ? (int)(frame % n) : -1;
  return TRUE;
}

/* The slots around the frame to be put out, by the plan's taps in time; -1 before the first frame, behind the last and
 * beyond a cut. */
static gboolean
find_slots(GstCudaConvolve *self, int slot[CNV_MAX_TEMPORAL_TAPS], GError **error)
{
  GstCudaConvolveHistory *history = &self->history;
  int center, n = cnv_plan_frames(self->recipe.plan, &center);
  guint64 frame = self->waiting.out;

  for (int i = 0; i < n; i++)
    slot[i] = -1;
  slot[center] = (int)(frame % history->n_slots);
  for (int i = center - 1; i >= 0 && slot[i + 1] >= 0 && frame > history->first; i--, frame--)
    if (!find_slot(self, frame - 1, frame, &slot[i], error))
      return FALSE;
  frame = self->waiting.out + 1;
  for (int i = center + 1; i < n && slot[i - 1] >= 0 && frame < self->waiting.next; i++, frame++)
    if (!find_slot(self, frame, frame, &slot[i], error))
      return FALSE;
  return TRUE;
}

GstFlowReturn
gst_cuda_convolve_put_out_kept(GstCudaConvolve *self, GstBuffer **outbuf)
{
  GstBuffer *waiting = g_steal_pointer(waiting_of(self, self->waiting.out));
  int slot[CNV_MAX_TEMPORAL_TAPS], center;
  GError *error = NULL;
  GstFlowReturn flow = GST_FLOW_OK;

  if (find_slots(self, slot, &error)) {
    make_work(self, waiting, slot);
    flow = gst_cuda_convolve_allocate_output(self, waiting, outbuf);
  }
  gst_buffer_unref(waiting);
  self->waiting.out++;
  if (flow != GST_FLOW_OK)
    return flow;
  cnv_plan_frames(self->recipe.plan, &center);
  if (!error && gst_cuda_convolve_filter_slot(self, slot[center], *outbuf, &error)) {
    gst_cuda_convolve_count_frame(self, self->recipe.work.plan[0], self->recipe.work.n_regions);
    return GST_FLOW_OK;
  }
  gst_cuda_convolve_post(GST_ELEMENT(self), GST_MESSAGE_ERROR, error, "filtering a frame");
  gst_clear_buffer(outbuf);
  return GST_FLOW_ERROR;
}

gboolean
gst_cuda_convolve_settle_for_kept(GstCudaConvolve *self, gboolean *settle)
{
  gst_cuda_convolve_sync_properties(self, *waiting_of(self, self->waiting.out));
  *settle = !gst_cuda_convolve_must_drain(self, self->history.n_slots, FALSE);
  return !*settle || gst_cuda_convolve_settle_plan(self);
}
