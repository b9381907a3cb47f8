/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "element/engine.h"

#include "messages.h"

static CnvSession *
open_one(GstCudaConvolveEngine *engine, GstElement *element, const CnvBackend *backend, GError **error)
{
  CnvSessionOptions options = engine->options;

  GST_DEBUG_OBJECT(element, "trying %s", backend->name);
  if (!backend->probe(options.device, error))
    return NULL;
  if (backend->takes_device_memory) {
    if (!gst_cuda_convolve_device->open(element, options.device, &engine->context, error))
      return NULL;
    options.context = gst_cuda_convolve_device->handle(engine->context);
  }
  return backend->open(&options, error);
}

static void
adopt(GstCudaConvolveEngine *engine, GstElement *element, CnvSession *session)
{
  GST_INFO_OBJECT(element, "running on %s", session->device_name);
  GST_OBJECT_LOCK(element);
  engine->session = session;
  /* After a fall-back, the CUDA memory that was negotiated is still accepted, through its host mapping. */
  engine->takes_device |= session->backend->takes_device_memory;
  g_free(engine->device_name);
  engine->device_name = g_strdup(session->device_name);
  GST_OBJECT_UNLOCK(element);
}

/* Opens the first engine of the list that works. Stores the error of the first failure in *reason, unless *reason is
 * set. */
static gboolean
open_first(GstCudaConvolveEngine *engine, GstElement *element, const CnvBackend *const *list, GError **reason)
{
  for (; *list; list++) {
    GError *error = NULL;
    CnvSession *session = open_one(engine, element, *list, &error);

    if (session) {
      adopt(engine, element, session);
      engine->left = list + 1;
      return TRUE;
    }
    GST_INFO_OBJECT(element, "%s cannot run: %s", (*list)->name, error->message);
    if (*reason)
      g_error_free(error);
    else
      *reason = error;
  }
  return FALSE;
}

static void
announce(GstCudaConvolveEngine *engine, GstElement *element, const GError *reason)
{
  gst_cuda_convolve_post(element, GST_MESSAGE_INFO,
                         g_error_new(reason->domain, reason->code, "backend=auto runs on the %s: %s",
                                     engine->session->backend->name, reason->message),
                         "choosing the backend");
}

gboolean
gst_cuda_convolve_engine_open(GstCudaConvolveEngine *engine, GstElement *element,
                              const GstCudaConvolveSettings *settings, GError **error)
{
  const char *name = gst_cuda_convolve_backend_name(settings->backend);
  const CnvBackend *named[] = {name ? cnv_backend_find(name) : NULL, NULL};
  g_autoptr(GError) reason = NULL;
  gboolean ok;

  engine->options = (CnvSessionOptions){.device = settings->device, .n_threads = settings->n_threads};
  if (name ? !named[0] : !cnv_backend_find("cuda"))
    g_set_error_literal(&reason, CNV_ERROR, CNV_ERROR_NO_DEVICE,
                        "this build of cudaconvolve has no CUDA: build it with -Dcuda=enabled");
  ok = open_first(engine, element, name ? named : cnv_backends, &reason);
  if (name)
    engine->left = NULL;
  if (ok && reason)
    announce(engine, element, reason);
  else if (!ok && name)
    g_set_error(error, reason->domain, reason->code,
                "backend=%s cannot run: %s; set backend=auto or backend=cpu to run without it", name, reason->message);
  else if (!ok)
    g_propagate_error(error, g_steal_pointer(&reason));
  return ok;
}

gboolean
gst_cuda_convolve_engine_is_proven(const GstCudaConvolveEngine *engine)
{
  return engine->session->stats.frames > 0;
}

gboolean
gst_cuda_convolve_engine_may_fall_back(const GstCudaConvolveEngine *engine)
{
  return engine->left && *engine->left && !gst_cuda_convolve_engine_is_proven(engine);
}

static void
forget_streams(GstCudaConvolveEngine *engine)
{
  gst_mini_object_replace(&engine->stream, NULL);
  gst_mini_object_replace(&engine->pool_stream, NULL);
}

gboolean
gst_cuda_convolve_engine_fall_back(GstCudaConvolveEngine *engine, GstElement *element, const GError *error)
{
  CnvSession *failed = engine->session;
  g_autoptr(GError) reason = NULL;
  gboolean ok;

  /* Only errors of the device are worth another engine. They are the last ones of CnvErrorCode. */
  if (error->domain != CNV_ERROR || error->code < CNV_ERROR_NO_DEVICE ||
      !gst_cuda_convolve_engine_may_fall_back(engine))
    return FALSE;
  reason = g_error_copy(error);
  ok = open_first(engine, element, engine->left, &reason);
  if (ok) {
    cnv_session_close(failed);
    forget_streams(engine);
    announce(engine, element, reason);
  }
  return ok;
}

void
gst_cuda_convolve_engine_close(GstCudaConvolveEngine *engine, GstElement *element)
{
  CnvSession *session = engine->session;
  struct _GstCudaContext *context;

  GST_OBJECT_LOCK(element);
  engine->session = NULL;
  engine->takes_device = FALSE;
  context = g_steal_pointer(&engine->context);
  GST_OBJECT_UNLOCK(element);
  cnv_session_close(session);
  forget_streams(engine);
  gst_clear_object(&context);
}

gboolean
gst_cuda_convolve_engine_holds(const GstCudaConvolveEngine *engine, GstBuffer *buffer)
{
  return engine->session->backend->takes_device_memory && gst_cuda_convolve_device->holds(buffer, engine->context);
}
