/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "element/frames.h"

#include "memory/allocation.h"
#include "memory/mapping.h"
#include "memory/streams.h"
#include "messages.h"

/* ---- settings ---- */

static GstClockTime
stream_time(GstCudaConvolve *self, GstBuffer *buffer)
{
  const GstSegment *segment = &GST_BASE_TRANSFORM(self)->segment;

  if (segment->format != GST_FORMAT_TIME)
    return GST_CLOCK_TIME_NONE;
  return gst_segment_to_stream_time(segment, GST_FORMAT_TIME, GST_BUFFER_PTS(buffer));
}

void
gst_cuda_convolve_sync_properties(GstCudaConvolve *self, GstBuffer *buffer)
{
  GstClockTime time = stream_time(self, buffer);

  if (GST_CLOCK_TIME_IS_VALID(time))
    gst_object_sync_values(GST_OBJECT(self), time);
}

void
gst_cuda_convolve_make_work(GstCudaConvolve *self, GstBuffer *buffer, gboolean is_next)
{
  gst_cuda_convolve_recipe_make_work(&self->recipe, buffer, stream_time(self, buffer), is_next);
}

/* Call with the object lock held. */
static void
set_stats_plan(GstCudaConvolve *self, CnvPlan *plan)
{
  if (plan == self->stats.plan)
    return;
  cnv_plan_unref(self->stats.plan);
  self->stats.plan = cnv_plan_ref(plan);
}

gboolean
gst_cuda_convolve_settle_plan(GstCudaConvolve *self)
{
  if (!gst_cuda_convolve_recipe_update(&self->recipe, self->engine.session->backend))
    return FALSE;
  GST_OBJECT_LOCK(self);
  set_stats_plan(self, self->recipe.plan);
  self->stats.image = self->recipe.image;
  GST_OBJECT_UNLOCK(self);
  return TRUE;
}

/* ---- the output buffer ---- */

/* Returns TRUE if downstream can read the input buffer as it is. */
static gboolean
suits_downstream(GstCudaConvolve *self, GstBuffer *buffer)
{
  return self->caps.same_memory && (self->caps.out_in_device || self->allocation.takes_meta ||
                                    gst_cuda_convolve_layout_is_plain(&self->caps, buffer));
}

/* Returns TRUE if the input can be filtered in its own memory. That must be device memory without another owner. The
 * first frame is excluded, because another engine may have to filter it again. So are pools with a limit: downstream
 * may hold many frames, and a decoder would run out of surfaces. */
static gboolean
suits_in_place(GstCudaConvolve *self, GstBuffer *buffer)
{
  return gst_cuda_convolve_recipe_changes_little(&self->recipe) && gst_cuda_convolve_engine_is_proven(&self->engine) &&
         cnv_session_can_in_place(self->engine.session, &self->recipe.work) &&
         gst_cuda_convolve_engine_holds(&self->engine, buffer) && gst_buffer_is_writable(buffer) &&
         gst_buffer_is_all_memory_writable(buffer) && !GST_MEMORY_IS_READONLY(gst_buffer_peek_memory(buffer, 0)) &&
         buffer->pool && !gst_cuda_convolve_pool_is_limited(buffer->pool) && suits_downstream(self, buffer);
}

/* Chooses the output buffer. The plan in force is already the one for the properties at the time of the buffer. */
static GstFlowReturn
prepare_output_buffer(GstBaseTransform *trans, GstBuffer *inbuf, GstBuffer **outbuf)
{
  GstCudaConvolve *self = GST_CUDA_CONVOLVE_CAST(trans);
  gboolean passes;

  gst_cuda_convolve_make_work(self, inbuf, TRUE);
  passes = !self->recipe.wanted.disable_passthrough && gst_cuda_convolve_recipe_leaves_frame(&self->recipe) &&
           suits_downstream(self, inbuf);
  self->in_place = !passes && suits_in_place(self, inbuf);
  if (!passes && !self->in_place)
    return gst_cuda_convolve_allocate_output(self, inbuf, outbuf);
  GST_LOG_OBJECT(self, "%s: %" GST_PTR_FORMAT, passes ? "unchanged" : "in place", inbuf);
  *outbuf = inbuf;
  return GST_FLOW_OK;
}

/* ---- the engine's work ---- */

gboolean
gst_cuda_convolve_run(GstCudaConvolve *self, GstBuffer *in, GstBuffer *out, int slot, GError **error)
{
  GstCudaConvolveMap map;
  gboolean ok;

  if (!gst_cuda_convolve_map(&self->engine, &self->caps, in, out, &map, error))
    return FALSE;
  if (!in)
    map.in = (CnvFrame){.memory = CNV_MEMORY_HISTORY, .slot = slot};
  ok = gst_cuda_convolve_streams_enter(&self->engine, &map, error) &&
       cnv_session_submit(self->engine.session, &self->recipe.work, &map.in, &map.out, error);
  ok = gst_cuda_convolve_streams_leave(&self->engine, &map, ok, error);
  gst_cuda_convolve_unmap(&self->engine, &map);
  return ok;
}

gboolean
gst_cuda_convolve_fall_back(GstCudaConvolve *self, GError **error)
{
  /* The GPU may still write to the output, if that is in its memory. */
  if (self->caps.out_in_device && cnv_session_is_lost(self->engine.session))
    return FALSE;
  if (!gst_cuda_convolve_engine_fall_back(&self->engine, GST_ELEMENT(self), *error))
    return FALSE;
  g_clear_error(error);
  return gst_cuda_convolve_settle_plan(self);
}

void
gst_cuda_convolve_count_frame(GstCudaConvolve *self, CnvPlan *plan, guint n_regions, GstBuffer *out)
{
  GstClockTime time = GST_BUFFER_PTS(out);

  if (GST_CLOCK_TIME_IS_VALID(time) && GST_BUFFER_DURATION_IS_VALID(out))
    time += GST_BUFFER_DURATION(out);
  GST_OBJECT_LOCK(self);
  self->stats.frames++;
  self->stats.n_regions = n_regions;
  set_stats_plan(self, plan);
  if (GST_CLOCK_TIME_IS_VALID(time))
    self->time.position = time;
  GST_OBJECT_UNLOCK(self);
}

void
gst_cuda_convolve_read_session_stats(GstCudaConvolve *self)
{
  guint crowd = self->engine.session->stats.crowd;

  GST_OBJECT_LOCK(self);
  self->stats.session = self->engine.session->stats;
  GST_OBJECT_UNLOCK(self);
  if (crowd > 0)
    gst_cuda_convolve_warn_once(
        GST_ELEMENT(self), self->recipe.posted,
        self->recipe.in_force.roi.invert
            ? "%u regions meet in one place, and leaving out each exactly would take more than %d times as long as "
              "filtering the whole frame: in blocks in which more than %d regions meet, the weaker ones are filtered "
              "too; merge regions upstream, choose fewer with roi-types, or lower roi-feather"
            : "%u regions meet in one place, and filtering each exactly would take more than %d times as long as "
              "filtering the whole frame: blocks in which more than %d regions meet are filtered completely, and the "
              "strongest filter is used for all regions that meet in a block, without roi-isolated; merge regions "
              "upstream, choose fewer with roi-types, lower roi-feather, or set roi-isolated=false or "
              "roi-strength=fixed",
        crowd, CNV_CROWD_WORK, CNV_CROWD);
}

void
gst_cuda_convolve_finish_frames(GstCudaConvolve *self)
{
  GError *error = NULL;

  if (!self->engine.session)
    return;
  if (!cnv_session_wait(self->engine.session, &error))
    gst_cuda_convolve_post(GST_ELEMENT(self), GST_MESSAGE_ERROR, error, "finishing the frames");
  gst_cuda_convolve_read_session_stats(self);
}

/* ---- the base class ---- */

static GstFlowReturn
transform(GstBaseTransform *trans, GstBuffer *inbuf, GstBuffer *outbuf)
{
  GstCudaConvolve *self = GST_CUDA_CONVOLVE_CAST(trans);
  gboolean ok = inbuf == outbuf && !self->in_place;
  GError *error = NULL;

  ok = ok || gst_cuda_convolve_run(self, inbuf, outbuf, 0, &error);
  if (!ok && gst_cuda_convolve_fall_back(self, &error)) {
    gst_cuda_convolve_make_work(self, inbuf, FALSE);
    ok = gst_cuda_convolve_run(self, inbuf, outbuf, 0, &error);
  }
  if (error)
    gst_cuda_convolve_post(GST_ELEMENT(self), GST_MESSAGE_ERROR, error, "filtering a frame");
  if (!ok)
    return GST_FLOW_ERROR;
  gst_cuda_convolve_count_frame(self, self->recipe.work.plan[0], self->recipe.work.n_regions, outbuf);
  gst_cuda_convolve_read_session_stats(self);
  return GST_FLOW_OK;
}

void
gst_cuda_convolve_frames_class_init(GstBaseTransformClass *klass)
{
  klass->prepare_output_buffer = GST_DEBUG_FUNCPTR(prepare_output_buffer);
  klass->transform = GST_DEBUG_FUNCPTR(transform);
}
