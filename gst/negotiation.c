/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "negotiation.h"

#include "dispatch.h"
#include "frames.h"
#include "history.h"
#include "messages.h"

/* The kinds of memory that the pads can have: as the engine takes them or, before the start, as it would. */
static void
find_memory(GstCudaConvolve *self, gboolean *takes_device, gboolean *gives_device)
{
  const CnvBackend *backend;
  const char *name;

  GST_OBJECT_LOCK(self);
  name = gst_cuda_convolve_backend_name(self->settings.backend);
  backend = name ? cnv_backend_find(name) : cnv_backends[0];
  *takes_device = self->engine.session ? self->engine.takes_device : backend && backend->takes_device_memory;
  *gives_device = *takes_device && !self->no_device_output;
  GST_OBJECT_UNLOCK(self);
}

static GstCaps *
transform_caps(GstBaseTransform *trans, GstPadDirection direction, GstCaps *caps, GstCaps *filter)
{
  GstCudaConvolve *self = GST_CUDA_CONVOLVE_CAST(trans);
  gboolean takes, gives;
  GstCaps *result;

  find_memory(self, &takes, &gives);
  result = gst_cuda_convolve_caps_transform(caps, takes, direction == GST_PAD_SRC ? takes : gives);
  if (filter) {
    GstCaps *all = result;

    result = gst_caps_intersect_full(filter, all, GST_CAPS_INTERSECT_FIRST);
    gst_caps_unref(all);
  }
  GST_DEBUG_OBJECT(trans, "%" GST_PTR_FORMAT " becomes %" GST_PTR_FORMAT, caps, result);
  return result;
}

/* The same memory on both pads saves a copy, whichever one the peer prefers. */
static GstCaps *
fixate_caps(GstBaseTransform *trans, GstPadDirection direction, GstCaps *caps, GstCaps *othercaps)
{
  for (guint i = 0; i < gst_caps_get_size(othercaps); i++)
    if (gst_cuda_convolve_caps_in_device(othercaps, i) == gst_cuda_convolve_caps_in_device(caps, 0)) {
      GstCaps *same = gst_caps_copy_nth(othercaps, i);

      gst_caps_unref(othercaps);
      return gst_caps_fixate(same);
    }
  return gst_caps_fixate(othercaps);
}

static gboolean
set_caps(GstBaseTransform *trans, GstCaps *incaps, GstCaps *outcaps)
{
  GstCudaConvolve *self = GST_CUDA_CONVOLVE_CAST(trans);
  GstCudaConvolveCaps caps;
  GError *error = NULL;

  if (!gst_cuda_convolve_caps_read(&caps, incaps, outcaps, &error)) {
    gst_cuda_convolve_post(GST_ELEMENT(self), GST_MESSAGE_ERROR, error, "negotiating caps");
    return FALSE;
  }
  /* Downstream still has the old caps. Its flow return is not needed: the next frame gets it too. */
  gst_cuda_convolve_drain(self);
  gst_cuda_convolve_history_leave(self);
  self->caps = caps;
  self->in_flight.n = self->in_flight.n_wanted;
  gst_cuda_convolve_latency_set_rate(&self->latency, &caps.in_info);
  if (!gst_cuda_convolve_settle_plan(self))
    return FALSE;
  gst_cuda_convolve_update_latency(self);
  return TRUE;
}

static gboolean
get_unit_size(GstBaseTransform *trans, GstCaps *caps, gsize *size)
{
  GstVideoInfo info;

  if (!gst_video_info_from_caps(&info, caps))
    return FALSE;
  *size = GST_VIDEO_INFO_SIZE(&info);
  return TRUE;
}

void
gst_cuda_convolve_negotiation_class_init(GstBaseTransformClass *klass)
{
  klass->transform_caps = GST_DEBUG_FUNCPTR(transform_caps);
  klass->fixate_caps = GST_DEBUG_FUNCPTR(fixate_caps);
  klass->set_caps = GST_DEBUG_FUNCPTR(set_caps);
  klass->get_unit_size = GST_DEBUG_FUNCPTR(get_unit_size);
}
