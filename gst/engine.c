/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Which engine runs. backend=auto takes the first of the engine's list that opens, and says why where that is not the
 * GPU.
 */
#include "gstcudaconvolve-private.h"

/* A context that came for another device than the one that the user wants by now. */
static void
drop_wrong_context(GstCudaConvolve *self, int device)
{
  if (self->engine.context && device >= 0 && gst_cuda_convolve_device_ordinal(self->engine.context) != device)
    gst_clear_object(&self->engine.context);
}

static CnvSession *
open_one(GstCudaConvolve *self, const CnvBackend *backend, const GstCudaConvolveSettings *settings, GError **error)
{
  CnvSessionOptions options = {.device = settings->device, .n_threads = settings->n_threads};

  GST_DEBUG_OBJECT(self, "trying %s", backend->name);
  if (!backend->probe(settings->device, error))
    return NULL;
  if (backend->takes_device_memory) {
    drop_wrong_context(self, settings->device);
    if (!gst_cuda_convolve_device_open(GST_ELEMENT(self), settings->device, &self->engine.context, error))
      return NULL;
    options.context = gst_cuda_convolve_device_handle(self->engine.context);
    options.device = gst_cuda_convolve_device_ordinal(self->engine.context);
  }
  return cnv_session_open(backend, &options, error);
}

static void
adopt(GstCudaConvolve *self, CnvSession *session)
{
  GST_INFO_OBJECT(self, "running on %s", session->device_name);
  GST_OBJECT_LOCK(self);
  self->engine.session = session;
  /* After a fall-back CUDA memory that was negotiated goes on being taken, through its host map. */
  self->engine.takes_device |= session->backend->takes_device_memory;
  g_free(self->engine.device_name);
  self->engine.device_name = g_strdup(session->device_name);
  GST_OBJECT_UNLOCK(self);
}

/* Opens the first of a list that can. reason: why the first of them could not, NULL where it could. */
static gboolean
open_first(GstCudaConvolve *self, const CnvBackend *const *list, const GstCudaConvolveSettings *settings,
           GError **reason)
{
  for (; *list; list++) {
    GError *error = NULL;
    CnvSession *session = open_one(self, *list, settings, &error);

    if (session) {
      adopt(self, session);
      return TRUE;
    }
    GST_INFO_OBJECT(self, "%s cannot run: %s", (*list)->name, error->message);
    if (*reason)
      g_error_free(error);
    else
      *reason = error;
  }
  return FALSE;
}

static void
announce(GstCudaConvolve *self, const GError *reason)
{
  gst_cuda_convolve_post(GST_ELEMENT(self), GST_MESSAGE_INFO,
                         g_error_new(reason->domain, reason->code, "backend=auto runs on the %s: %s",
                                     self->engine.session->backend->name, reason->message),
                         "choosing the backend");
}

static GError *
no_cuda_error(void)
{
  return g_error_new_literal(CNV_ERROR, CNV_ERROR_NO_DEVICE,
                             "this build of cudaconvolve has no CUDA: build it with -Dcuda=enabled");
}

static gboolean
open_automatic(GstCudaConvolve *self, const GstCudaConvolveSettings *settings, GError **error)
{
  GError *reason = cnv_backend_find("cuda") ? NULL : no_cuda_error();

  if (!open_first(self, cnv_backends, settings, &reason)) {
    g_propagate_error(error, reason);
    return FALSE;
  }
  if (reason)
    announce(self, reason);
  g_clear_error(&reason);
  return TRUE;
}

gboolean
gst_cuda_convolve_open(GstCudaConvolve *self, const GstCudaConvolveSettings *settings, GError **error)
{
  const char *name = gst_cuda_convolve_backend_name(settings->backend);
  const CnvBackend *list[] = {name ? cnv_backend_find(name) : NULL, NULL};
  GError *reason = NULL;

  if (!name)
    return open_automatic(self, settings, error);
  if (!list[0])
    reason = no_cuda_error();
  else if (open_first(self, list, settings, &reason))
    return TRUE;
  g_set_error(error, reason->domain, reason->code, "backend=%s cannot run: %s; backend=auto or cpu runs without", name,
              reason->message);
  g_error_free(reason);
  return FALSE;
}

static gboolean
is_of_device(const GError *error)
{
  return error->domain == CNV_ERROR &&
         (error->code == CNV_ERROR_NO_DEVICE || error->code == CNV_ERROR_MEMORY || error->code == CNV_ERROR_DEVICE);
}

/* Where the user chose no engine, the engines behind the one that runs. */
static const CnvBackend *const *
backends_left(GstCudaConvolve *self)
{
  const CnvBackend *const *next = cnv_backends;
  gboolean is_chosen;

  GST_OBJECT_LOCK(self);
  is_chosen = gst_cuda_convolve_backend_name(self->settings.backend) != NULL;
  GST_OBJECT_UNLOCK(self);
  while (*next != self->engine.session->backend)
    next++;
  return is_chosen || !next[1] ? NULL : next + 1;
}

gboolean
gst_cuda_convolve_may_fall_back(GstCudaConvolve *self)
{
  return self->engine.session->stats.frames == 0 && backends_left(self);
}

gboolean
gst_cuda_convolve_fall_back(GstCudaConvolve *self, const GError *error)
{
  CnvSession *failed = self->engine.session;
  GstCudaConvolveSettings settings;
  GError *reason;
  gboolean ok;

  if (!is_of_device(error) || !gst_cuda_convolve_may_fall_back(self))
    return FALSE;
  GST_OBJECT_LOCK(self);
  gst_cuda_convolve_settings_copy(&settings, &self->settings);
  GST_OBJECT_UNLOCK(self);
  reason = g_error_copy(error);
  ok = open_first(self, backends_left(self), &settings, &reason);
  if (ok) {
    cnv_session_close(failed);
    gst_cuda_convolve_forget_streams(self);
    announce(self, reason);
  }
  g_error_free(reason);
  gst_cuda_convolve_settings_clear(&settings);
  return ok;
}

void
gst_cuda_convolve_close(GstCudaConvolve *self)
{
  CnvSession *session = self->engine.session;
  GstObject *context;

  GST_OBJECT_LOCK(self);
  self->engine.session = NULL;
  self->engine.takes_device = FALSE;
  context = g_steal_pointer(&self->engine.context);
  GST_OBJECT_UNLOCK(self);
  cnv_session_close(session);
  gst_cuda_convolve_forget_streams(self);
  gst_clear_object(&context);
}
