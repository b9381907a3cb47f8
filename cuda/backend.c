/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The functions of a session. They check what callers pass, so that engines need not.
 */
#include "plan/plan.h"
#include "plan/scene.h"

/* Returns FALSE with CNV_ERROR_SETTINGS if a plane of memory has no address or its rows overlap. side: "input" or
 * "output". */
static gboolean
check_frame(const CnvImage *image, const CnvLayout *layout, const CnvFrame *frame, const char *side, GError **error)
{
  for (int m = 0; m < layout->n_planes; m++)
    if (!frame->data[m] || frame->stride[m] < layout->row_bytes[m])
      return cnv_refuse(error,
                        "plane %d of the %s, a %dx%d %s frame, %s stride %d, and a row has %d bytes: set an address, "
                        "and a stride of at least that many bytes",
                        m, side, image->width, image->height, image->format->name,
                        frame->data[m] ? "has" : "has no address and", frame->stride[m], layout->row_bytes[m]);
  return TRUE;
}

/* Returns TRUE if the regions are isolated by normalised convolution (work.h). */
static gboolean
is_weighed(const CnvWork *work)
{
  gboolean is_weighed = work->invert;

  for (guint i = 0; i < work->n_regions && work->isolated && !work->whole_frame && !is_weighed; i++)
    is_weighed = work->region[i].shape != CNV_SHAPE_RECTANGLE;
  return is_weighed && work->isolated && !work->whole_frame;
}

gboolean
cnv_session_can_in_place(const CnvSession *session, const CnvWork *work)
{
  const CnvPlan *plan = work->plan[0];
  gboolean whole = TRUE; /* all filtered planes are arrays of whole samples */

  for (int p = 0; p < plan->n_planes; p++)
    whole &= !plan->plane[p].filtered || plan->plane[p].plain;
  return whole && !is_weighed(work) && session->backend->takes_device_memory && !work->whole_frame && !work->invert &&
         !work->moved && work->n_temporal_taps == 0;
}

gboolean
cnv_session_is_lost(const CnvSession *session)
{
  return g_atomic_int_get(&session->lost);
}

static gboolean
check_not_lost(const CnvSession *session, GError **error)
{
  if (cnv_session_is_lost(session))
    g_set_error(error, CNV_ERROR, CNV_ERROR_DEVICE,
                "waiting for %s failed, so it accepts no more frames; stop the pipeline and start it again",
                session->device_name);
  return !cnv_session_is_lost(session);
}

/* Submits the work with its plans or, for isolated regions that need it, with the plans for normalised convolution. */
static gboolean
submit(CnvSession *session, const CnvWork *work, const CnvFrame *in, const CnvFrame *out, GError **error)
{
  CnvPlan *weighed[CNV_MAX_PLANS];
  CnvWork of_weighed = *work;

  if (!is_weighed(work))
    return session->submit(session, work, in, out, error);
  for (guint i = 0; i < work->n_plans; i++) {
    weighed[i] = cnv_plan_weighed(work->plan[i], error);
    if (!weighed[i])
      return FALSE;
  }
  of_weighed.plan = weighed;
  return session->submit(session, &of_weighed, in, out, error);
}

gboolean
cnv_session_submit(CnvSession *session, const CnvWork *work, const CnvFrame *in, const CnvFrame *out, GError **error)
{
  const CnvImage *image = &work->plan[0]->image;
  const CnvLayout *layout = &work->plan[0]->layout;

  g_return_val_if_fail(work->n_plans >= 1 && work->n_plans <= CNV_MAX_PLANS, FALSE);
  g_return_val_if_fail(work->whole_frame || work->n_regions <= CNV_MAX_REGIONS, FALSE);
  for (guint i = 0; i < work->n_plans; i++)
    g_return_val_if_fail(work->plan[i]->backend == session->backend, FALSE);
  g_return_val_if_fail(work->n_temporal_taps > 0 || work->plan[0]->n_temporal_taps == 1, FALSE);
  g_return_val_if_fail(work->n_temporal_taps == 0 || in->memory == CNV_MEMORY_HISTORY, FALSE);
  g_return_val_if_fail(in->memory != CNV_MEMORY_HISTORY || (guint)in->slot < session->n_slots, FALSE);
  g_return_val_if_fail(
      in->memory != CNV_MEMORY_DEVICE || in->data[0] != out->data[0] || cnv_session_can_in_place(session, work), FALSE);
  for (guint i = 0; i < work->n_temporal_taps; i++)
    g_return_val_if_fail(work->temporal_tap[i].slot < (int)session->n_slots, FALSE);
  if (!check_not_lost(session, error) ||
      (in->memory != CNV_MEMORY_HISTORY && !check_frame(image, layout, in, "input", error)) ||
      !check_frame(image, layout, out, "output", error) || !submit(session, work, in, out, error))
    return FALSE;
  session->n_submitted++;
  return TRUE;
}

gboolean
cnv_session_history_alloc(CnvSession *session, const CnvImage *image, guint n_slots, GError **error)
{
  session->n_slots = 0;
  g_clear_pointer(&session->scene, g_free);
  if (n_slots > 0 && !(session->scene = cnv_scene_new(image, n_slots, error)))
    return FALSE;
  if (!session->history_alloc(session, n_slots, error))
    return FALSE;
  session->n_slots = n_slots;
  return TRUE;
}

/* Measures the frame whose rows the engine is still fetching, if any. */
static gboolean
finish_measuring(CnvSession *session, GError **error)
{
  CnvScene *scene = session->scene;
  int slot = scene->pending;
  CnvFrame rows;

  if (slot < 0)
    return TRUE;
  scene->pending = -1;
  if (!session->wait_for_rows(session, &rows, error))
    return FALSE;
  cnv_scene_measure(scene, (guint)slot, &rows, 1);
  return TRUE;
}

gboolean
cnv_session_history_push(CnvSession *session, guint slot, const CnvFrame *frame, gboolean measured, gboolean *kept,
                         GError **error)
{
  gboolean fetches = measured && frame->memory == CNV_MEMORY_DEVICE;
  CnvScene *scene = session->scene;

  g_return_val_if_fail(slot < session->n_slots && frame->memory != CNV_MEMORY_HISTORY, FALSE);
  if (kept)
    *kept = FALSE;
  if (!check_not_lost(session, error) || !check_frame(&scene->image, &scene->layout, frame, "input", error) ||
      !finish_measuring(session, error) || !session->history_push(session, slot, frame, fetches, kept, error))
    return FALSE;
  if (fetches)
    scene->pending = (int)slot;
  else if (measured) /* an upload that the engine started continues meanwhile */
    cnv_scene_measure(scene, slot, frame, scene->row_step);
  else
    cnv_scene_skip(scene, slot);
  return TRUE;
}

gboolean
cnv_session_history_change(CnvSession *session, guint slot, double *change, GError **error)
{
  g_return_val_if_fail(slot < session->n_slots, FALSE);
  if (session->scene->pending == (int)slot && !finish_measuring(session, error))
    return FALSE;
  *change = session->scene->change[slot];
  return TRUE;
}

gboolean
cnv_session_wait(CnvSession *session, GError **error)
{
  return session->wait(session, error);
}

gboolean
cnv_session_wait_for_frame(CnvSession *session, guint64 number, GError **error)
{
  return !session->wait_for_frame || session->wait_for_frame(session, number, error);
}

gboolean
cnv_session_use_stream(CnvSession *session, void *stream, GError **error)
{
  return !session->use_stream || session->use_stream(session, stream, error);
}

gboolean
cnv_session_wait_for_stream(CnvSession *session, void *stream, GError **error)
{
  return !session->order || session->order(session, stream, TRUE, error);
}

gboolean
cnv_session_signal_stream(CnvSession *session, void *stream, GError **error)
{
  return !session->order || session->order(session, stream, FALSE, error);
}

void
cnv_session_close(CnvSession *session)
{
  if (!session)
    return;
  session->wait(session, NULL);
  g_free(session->scene);
  session->close(session);
}
