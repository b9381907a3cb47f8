/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The plan in force: that of the properties where it can be made, else the last one.
 */
#include "gstcudaconvolve-private.h"

/* Makes the plan for a filter current, unless it is. */
static gboolean
use_filter(GstCudaConvolve *self, const CnvFilter *filter, CnvAlgorithm algorithm, GError **error)
{
  const CnvBackend *backend = self->engine.session->backend;
  CnvPlan *plan;

  if (self->recipe.plan && cnv_plan_matches(self->recipe.plan, filter, &self->caps.image, algorithm, backend))
    return TRUE;
  plan = cnv_plan_new(filter, &self->caps.image, algorithm, backend, error);
  if (!plan)
    return FALSE;
  GST_DEBUG_OBJECT(self, "new plan: %s, %dx%d %s%s", cnv_filters[filter->type].nick.nick, self->caps.image.width,
                   self->caps.image.height, self->caps.image.format->name,
                   cnv_plan_is_identity(plan) ? ", identity" : "");
  gst_cuda_convolve_forget_steps(self);
  cnv_plan_unref(self->recipe.plan);
  self->recipe.plan = plan;
  GST_OBJECT_LOCK(self);
  gst_cuda_convolve_stats_set_plan(&self->stats, plan);
  GST_OBJECT_UNLOCK(self);
  return TRUE;
}

static void
forget_rejected(GstCudaConvolve *self)
{
  if (self->recipe.has_rejected)
    gst_cuda_convolve_settings_clear(&self->recipe.rejected);
  self->recipe.has_rejected = FALSE;
}

void
gst_cuda_convolve_forget_plan(GstCudaConvolve *self)
{
  gst_cuda_convolve_forget_steps(self);
  g_clear_pointer(&self->recipe.plan, cnv_plan_unref);
  gst_cuda_convolve_roi_clear(&self->recipe.roi);
  self->recipe.roi = GST_CUDA_CONVOLVE_ROI_DEFAULT;
  GST_OBJECT_LOCK(self);
  gst_cuda_convolve_stats_set_plan(&self->stats, NULL);
  GST_OBJECT_UNLOCK(self);
  forget_rejected(self);
}

/* Settings that make no plan are reported once, not at each frame that they are in force. */
static gboolean
is_rejected(GstCudaConvolve *self, const GstCudaConvolveSettings *wanted)
{
  return self->recipe.has_rejected && self->recipe.rejected.algorithm == wanted->algorithm &&
         cnv_filter_equal(&self->recipe.rejected.filter, &wanted->filter) &&
         gst_cuda_convolve_roi_equal(&self->recipe.rejected.roi, &wanted->roi);
}

static void
report_rejected(GstCudaConvolve *self, const GstCudaConvolveSettings *wanted, GError *error)
{
  forget_rejected(self);
  self->recipe.has_rejected = TRUE;
  gst_cuda_convolve_settings_copy(&self->recipe.rejected, wanted);
  gst_cuda_convolve_post(GST_ELEMENT(self), self->recipe.plan ? GST_MESSAGE_WARNING : GST_MESSAGE_ERROR, error,
                         self->recipe.plan ? "changing the filter; it stays as it was"
                                           : "making a plan of the properties");
}

/* The filter that ran until now, for what may be a new format. */
static gboolean
keep_filter(GstCudaConvolve *self)
{
  GError *error = NULL;
  CnvPlan *old;
  gboolean ok;

  if (!self->recipe.plan)
    return FALSE;
  old = cnv_plan_ref(self->recipe.plan);
  ok = use_filter(self, cnv_plan_filter(old), cnv_plan_requested(old), &error);
  cnv_plan_unref(old);
  if (!ok)
    gst_cuda_convolve_post(GST_ELEMENT(self), GST_MESSAGE_ERROR, error, "keeping the filter at new caps");
  return ok;
}

/* Puts settings in force, or leaves all as it was. */
static gboolean
use_settings(GstCudaConvolve *self, const GstCudaConvolveSettings *wanted, GError **error)
{
  if (!gst_cuda_convolve_roi_check(&wanted->roi, &wanted->filter, error) ||
      !use_filter(self, &wanted->filter, wanted->algorithm, error))
    return FALSE;
  gst_cuda_convolve_roi_clear(&self->recipe.roi);
  gst_cuda_convolve_roi_copy(&self->recipe.roi, &wanted->roi);
  return TRUE;
}

gboolean
gst_cuda_convolve_settle_plan(GstCudaConvolve *self)
{
  GstCudaConvolveSettings wanted;
  GError *error = NULL;
  gboolean ok;

  GST_OBJECT_LOCK(self);
  gst_cuda_convolve_settings_copy(&wanted, &self->settings);
  GST_OBJECT_UNLOCK(self);
  self->recipe.may_pass = !wanted.disable_passthrough;
  self->recipe.temporal_border = wanted.temporal_border;
  self->recipe.scene_change = wanted.scene_change;
  if (is_rejected(self, &wanted)) {
    ok = keep_filter(self);
  } else if (use_settings(self, &wanted, &error)) {
    forget_rejected(self);
    ok = TRUE;
  } else {
    report_rejected(self, &wanted, error);
    ok = keep_filter(self);
  }
  gst_cuda_convolve_settings_clear(&wanted);
  if (ok)
    gst_cuda_convolve_update_latency(self);
  return ok;
}

gboolean
gst_cuda_convolve_must_drain(GstCudaConvolve *self, guint n_slots, gboolean arriving)
{
  const GstCudaConvolveSettings *wanted = &self->settings;
  const CnvPlan *plan = self->recipe.plan;
  gboolean must = FALSE;
  int n;

  GST_OBJECT_LOCK(self);
  if (!cnv_plan_matches(plan, &wanted->filter, &self->caps.image, wanted->algorithm, self->engine.session->backend) &&
      !is_rejected(self, wanted)) {
    /* Of a filter that cannot be, which the next frame reports, the old one stays. */
    n = cnv_filter_frames(&wanted->filter);
    must = n > 0 && ((arriving && wanted->drain_on_change) || n == 1 || n > (int)n_slots);
  }
  GST_OBJECT_UNLOCK(self);
  return must;
}

gboolean
gst_cuda_convolve_set_format(GstCudaConvolve *self, const GstVideoInfo *in, const GstVideoInfo *out)
{
  CnvImage *image = &self->caps.image;

  self->caps.in_info = *in;
  self->caps.out_info = *out;
  image->format = cnv_format_find(gst_video_format_to_string(GST_VIDEO_INFO_FORMAT(in)));
  image->width = GST_VIDEO_INFO_WIDTH(in);
  image->height = GST_VIDEO_INFO_HEIGHT(in);
  image->full_range = in->colorimetry.range == GST_VIDEO_COLOR_RANGE_0_255;
  if (!gst_video_color_matrix_get_Kr_Kb(in->colorimetry.matrix, &image->kr, &image->kb)) {
    /* RGB needs none, and where nothing is said BT.601 is meant. */
    image->kr = 0.299;
    image->kb = 0.114;
  }
  self->frame_time = GST_VIDEO_INFO_FPS_N(in) > 0
                         ? gst_util_uint64_scale_int(GST_SECOND, GST_VIDEO_INFO_FPS_D(in), GST_VIDEO_INFO_FPS_N(in))
                         : 0;
  g_return_val_if_fail(image->format, FALSE); /* the pad templates hold only formats of the table */
  forget_rejected(self);
  return gst_cuda_convolve_settle_plan(self);
}
