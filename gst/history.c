/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Time: frames are kept in the session until those that come after them have come too, and are then put out in their
 * order, each with the times and metas that it came with; events that came between them go out between them. Where the
 * plan has one tap in time nothing of this is in use, and the base class' way of a frame is taken.
 */
#include "gstcudaconvolve-private.h"

static GstBaseTransformClass *parent_class;

static GstCudaConvolveKept *
kept_of(GstCudaConvolve *self, guint64 frame)
{
  return &self->history.kept[frame % self->history.n_slots];
}

static guint
ahead(const GstCudaConvolve *self)
{
  return self->plan->n_moments - 1 - self->plan->now;
}

/* For the statistics. */
static void
count_history(GstCudaConvolve *self)
{
  GST_OBJECT_LOCK(self);
  self->n_history = (guint)(self->history.next - self->history.first);
  GST_OBJECT_UNLOCK(self);
}

/* ---- events ---- */

static gboolean
hold_event(GstCudaConvolve *self, GstEvent *event)
{
  GstCudaConvolveHeld *held = g_new(GstCudaConvolveHeld, 1);

  GST_DEBUG_OBJECT(self, "holding %" GST_PTR_FORMAT, event);
  *held = (GstCudaConvolveHeld){event, self->history.next};
  g_queue_push_tail(&self->history.held, held);
  return TRUE;
}

/* The next event that goes before a frame with that number or an earlier one, or NULL. */
static GstEvent *
pop_event(GstCudaConvolve *self, guint64 frame)
{
  GstCudaConvolveHeld *held = g_queue_peek_head(&self->history.held);
  GstEvent *event;

  if (!held || held->frame > frame)
    return NULL;
  event = held->event;
  g_free(g_queue_pop_head(&self->history.held));
  return event;
}

/* All frames before them have been put out. */
static void
push_due_events(GstCudaConvolve *self)
{
  GstEvent *event;

  while ((event = pop_event(self, self->history.out)))
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
gst_cuda_convolve_forget_history(GstCudaConvolve *self)
{
  GstCudaConvolveHistory *history = &self->history;
  GstEvent *event;

  while ((event = pop_event(self, G_MAXUINT64)))
    gst_event_unref(event);
  for (guint i = 0; i < G_N_ELEMENTS(history->kept); i++)
    gst_clear_buffer(&history->kept[i].waiting);
  g_array_set_size(history->luma, 0);
  history->first = history->out = history->next;
  count_history(self);
}

/* Also what the session holds, or held where it is gone. */
void
gst_cuda_convolve_leave_history(GstCudaConvolve *self)
{
  guint n_slots = self->history.n_slots;

  gst_cuda_convolve_forget_history(self);
  self->history.n_slots = 0;
  if (n_slots > 0 && self->session)
    cnv_session_reserve(self->session, &self->image, 0, NULL); /* a session that cannot even free says so at its next */
}

/* ---- latency ---- */

void
gst_cuda_convolve_update_latency(GstCudaConvolve *self)
{
  gboolean changed;

  GST_OBJECT_LOCK(self);
  changed = self->latency != ahead(self) * self->frame_time;
  self->latency = ahead(self) * self->frame_time;
  GST_OBJECT_UNLOCK(self);
  if (changed)
    gst_element_post_message(GST_ELEMENT(self), gst_message_new_latency(GST_OBJECT(self)));
}

/* The longest of them where the caps tell no rate: live sinks would drop what is later than was said. */
static void
learn_frame_time(GstCudaConvolve *self, GstBuffer *buffer)
{
  GstClockTime duration = GST_BUFFER_DURATION(buffer);

  if (GST_VIDEO_INFO_FPS_N(&self->in_info) > 0 || !GST_CLOCK_TIME_IS_VALID(duration) || duration <= self->frame_time)
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

/* ---- frames in ---- */

/* The ring for the plan in force. A larger one than it needs goes on being used. */
static gboolean
ensure_ring(GstCudaConvolve *self, GError **error)
{
  GstCudaConvolveHistory *history = &self->history;
  guint n = self->plan->n_moments;

  if (history->n_slots == n || (history->n_slots > n && history->next > history->first))
    return TRUE;
  gst_cuda_convolve_forget_history(self);
  history->n_slots = 0; /* a session that refuses has lost what it had */
  if (!cnv_session_reserve(self->session, &self->image, n, error))
    return FALSE;
  GST_DEBUG_OBJECT(self, "a history of %u frames", n);
  history->n_slots = n;
  /* What was late before must not make a hole now: -1 is the earliest time that the base class waits for no frame at.
   */
  gst_base_transform_update_qos(GST_BASE_TRANSFORM(self), 1, -1, 0);
  return TRUE;
}

static gboolean
keep_samples(GstCudaConvolve *self, GstBuffer *buffer, gboolean *cut, GError **error)
{
  return ensure_ring(self, error) &&
         gst_cuda_convolve_keep_buffer(self, buffer, (guint)(self->history.next % self->history.n_slots), cut, error);
}

/* An engine can be replaced as long as it holds nothing. */
static gboolean
keep_or_fall_back(GstCudaConvolve *self, GstBuffer *buffer, gboolean *cut)
{
  GstCudaConvolveHistory *history = &self->history;
  GError *error = NULL;
  gboolean ok = keep_samples(self, buffer, cut, &error);

  if (!ok && history->next == history->first && gst_cuda_convolve_fall_back(self, error)) {
    g_clear_error(&error);
    history->n_slots = 0; /* they were the other session's */
    ok = gst_cuda_convolve_settle_plan(self) && keep_samples(self, buffer, cut, &error);
  }
  if (error)
    gst_cuda_convolve_post(self, GST_MESSAGE_ERROR, error, "keeping a frame");
  g_clear_error(&error);
  return ok;
}

/* Takes a frame into the history; the buffer is not needed after that. */
static GstFlowReturn
keep(GstCudaConvolve *self, GstBuffer *buffer)
{
  GstBaseTransform *trans = GST_BASE_TRANSFORM(self);
  GstCudaConvolveHistory *history = &self->history;
  GstCudaConvolveKept *kept;
  gboolean cut = FALSE;

  if (!keep_or_fall_back(self, buffer, &cut))
    return GST_FLOW_ERROR;
  learn_frame_time(self, buffer);
  kept = kept_of(self, history->next);
  kept->cut = cut;
  kept->waiting = gst_buffer_new();
  GST_BASE_TRANSFORM_GET_CLASS(trans)->copy_metadata(trans, buffer, kept->waiting);
  history->next++;
  if (history->next - history->first > history->n_slots)
    history->first = history->next - history->n_slots;
  count_history(self);
  return GST_FLOW_OK;
}

/* ---- frames out ---- */

/* The slots around the frame to be put out, by the plan's taps in time; -1 before the first frame, behind the last and
 * beyond a cut. */
static void
find_slots(GstCudaConvolve *self, int slot[CNV_MAX_MOMENTS])
{
  GstCudaConvolveHistory *history = &self->history;
  int now = self->plan->now;
  guint64 frame = history->out;

  for (int i = 0; i < self->plan->n_moments; i++)
    slot[i] = -1;
  slot[now] = (int)(frame % history->n_slots);
  for (int i = now - 1; i >= 0 && frame > history->first && !kept_of(self, frame)->cut; i--)
    slot[i] = (int)(--frame % history->n_slots);
  frame = history->out;
  for (int i = now + 1; i < self->plan->n_moments && ++frame < history->next && !kept_of(self, frame)->cut; i++)
    slot[i] = (int)(frame % history->n_slots);
}

static GstFlowReturn
put_out(GstCudaConvolve *self, GstBuffer **outbuf)
{
  GstBaseTransform *trans = GST_BASE_TRANSFORM(self);
  GstCudaConvolveHistory *history = &self->history;
  GstBuffer *waiting = g_steal_pointer(&kept_of(self, history->out)->waiting);
  int slot[CNV_MAX_MOMENTS];
  GstFlowReturn flow;

  gst_cuda_convolve_make_work(self, waiting);
  find_slots(self, slot);
  self->work.moment = history->moment;
  self->work.n_moments = cnv_moments_make(self->plan, slot, self->temporal_border, history->moment);
  flow = parent_class->prepare_output_buffer(trans, waiting, outbuf);
  gst_buffer_unref(waiting);
  history->out++;
  if (flow != GST_FLOW_OK)
    return flow;
  if (gst_cuda_convolve_filter_kept(self, slot[self->plan->now], *outbuf))
    return GST_FLOW_OK;
  gst_clear_buffer(outbuf);
  return GST_FLOW_ERROR;
}

/* Puts the settings at the time of the frame to be put out in force, unless the frames that wait are to be put out with
 * the old ones. */
static gboolean
settle_for_next(GstCudaConvolve *self, gboolean *settle)
{
  gst_cuda_convolve_sync_properties(self, kept_of(self, self->history.out)->waiting);
  *settle = !gst_cuda_convolve_must_drain(self, self->history.n_slots, FALSE);
  return !*settle || gst_cuda_convolve_settle_plan(self);
}

GstFlowReturn
gst_cuda_convolve_drain(GstCudaConvolve *self)
{
  GstCudaConvolveHistory *history = &self->history;
  GstFlowReturn flow = GST_FLOW_OK;
  gboolean settle = history->out < history->next && !gst_cuda_convolve_must_drain(self, history->n_slots, TRUE);

  if (history->out < history->next)
    GST_DEBUG_OBJECT(self, "draining %u frames", (guint)(history->next - history->out));
  while (flow == GST_FLOW_OK && history->out < history->next) {
    GstBuffer *buffer = NULL;

    flow = settle && !settle_for_next(self, &settle) ? GST_FLOW_ERROR : put_out(self, &buffer);
    if (flow == GST_FLOW_OK)
      flow = gst_pad_push(GST_BASE_TRANSFORM_SRC_PAD(self), buffer);
    push_due_events(self);
  }
  history->out = history->next; /* where downstream takes no frame any more it is told of the events all the same */
  push_due_events(self);
  gst_cuda_convolve_forget_history(self);
  return flow;
}

/* ---- the base class ---- */

static gboolean
is_ready(const GstCudaConvolve *self)
{
  return self->history.out + ahead(self) < self->history.next;
}

static GstFlowReturn
take_in(GstCudaConvolve *self, GstBuffer *buffer)
{
  GstCudaConvolveHistory *history = &self->history;
  gboolean holds = history->next > history->first;

  if (holds && (GST_BUFFER_IS_DISCONT(buffer) || gst_cuda_convolve_must_drain(self, history->n_slots, TRUE))) {
    GstFlowReturn flow = gst_cuda_convolve_drain(self);

    if (flow != GST_FLOW_OK)
      return flow;
    holds = FALSE;
  }
  if (!holds) {
    gst_cuda_convolve_sync_properties(self, buffer);
    if (!gst_cuda_convolve_settle_plan(self))
      return GST_FLOW_ERROR;
    if (self->plan->n_moments == 1) {
      gst_cuda_convolve_leave_history(self);
      return GST_FLOW_OK;
    }
  }
  return keep(self, buffer);
}

/* Called until it gives no buffer: several frames can be due where the filter has come to look less far ahead. */
static GstFlowReturn
generate_output(GstBaseTransform *trans, GstBuffer **outbuf)
{
  GstCudaConvolve *self = GST_CUDA_CONVOLVE(trans);
  GstBuffer *buffer = g_steal_pointer(&trans->queued_buf);
  gboolean settle;

  push_due_events(self);
  if (buffer) {
    GstFlowReturn flow = take_in(self, buffer);

    if (flow == GST_FLOW_OK && self->history.n_slots == 0) {
      trans->queued_buf = buffer;
      return parent_class->generate_output(trans, outbuf);
    }
    gst_buffer_unref(buffer);
    if (flow != GST_FLOW_OK)
      return flow;
  }
  if (self->history.n_slots == 0 || !is_ready(self))
    return GST_FLOW_OK;
  if (!settle_for_next(self, &settle))
    return GST_FLOW_ERROR;
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
  GstCudaConvolve *self = GST_CUDA_CONVOLVE(trans);

  if (GST_EVENT_TYPE(event) == GST_EVENT_FLUSH_STOP) {
    flush_events(self);
    gst_cuda_convolve_forget_history(self);
  } else if (drains(event)) {
    /* What downstream says of the frames it says of the event too. */
    gst_cuda_convolve_drain(self);
    gst_cuda_convolve_finish_frames(self); /* no frame may come that could report what went wrong with them */
  } else if (GST_EVENT_IS_SERIALIZED(event) && GST_EVENT_TYPE(event) != GST_EVENT_CAPS &&
             self->history.out < self->history.next) {
    return hold_event(self, event);
  }
  return parent_class->sink_event(trans, event);
}

/* Frames that are late are filtered all the same where others need them: upstream alone is told. */
static gboolean
src_event(GstBaseTransform *trans, GstEvent *event)
{
  GstCudaConvolve *self = GST_CUDA_CONVOLVE(trans);
  gboolean over_time;

  GST_OBJECT_LOCK(self);
  over_time = self->shown && self->shown->n_moments > 1;
  GST_OBJECT_UNLOCK(self);
  if (over_time && GST_EVENT_TYPE(event) == GST_EVENT_QOS)
    return gst_pad_push_event(GST_BASE_TRANSFORM_SINK_PAD(trans), event);
  return parent_class->src_event(trans, event);
}

void
gst_cuda_convolve_history_class_init(GstBaseTransformClass *klass)
{
  parent_class = g_type_class_peek_parent(klass);
  klass->generate_output = GST_DEBUG_FUNCPTR(generate_output);
  klass->sink_event = GST_DEBUG_FUNCPTR(sink_event);
  klass->src_event = GST_DEBUG_FUNCPTR(src_event);
}
