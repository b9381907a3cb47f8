/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The list of engines, and the front door of a session: it checks what callers hand in, engines trust it.
 */
#include "config.h"

#include <string.h>

#include <convolve/backend.h>

extern const CnvBackend cnv_backend_cpu;
#ifdef HAVE_CUDA
extern const CnvBackend cnv_backend_cuda;
#endif

const CnvBackend *const cnv_backends[] = {
#ifdef HAVE_CUDA
    &cnv_backend_cuda,
#endif
    &cnv_backend_cpu,
    NULL,
};

const CnvBackend *
cnv_backend_find(const char *name)
{
  for (int i = 0; cnv_backends[i]; i++)
    if (strcmp(cnv_backends[i]->name, name) == 0)
      return cnv_backends[i];
  return NULL;
}

CnvSession *
cnv_session_open(const CnvBackend *backend, const CnvSessionOptions *options, GError **error)
{
  return backend->open(options, error);
}

gboolean
cnv_session_submit(CnvSession *session, CnvPlan *plan, const CnvFrame *in, const CnvFrame *out, GError **error)
{
  const CnvFormat *format = plan->image.format;

  g_return_val_if_fail(plan->backend == session->backend, FALSE);
  for (int p = 0; p < format->n_planes; p++) {
    int row = plan->plane[p].width * plan->plane[p].channels * format->sample_bytes;

    if (!in->data[p] || !out->data[p] || in->stride[p] < row || out->stride[p] < row) {
      g_set_error(error, CNV_ERROR, CNV_ERROR_SETTINGS,
                  "plane %d of a %dx%d %s frame has strides %d and %d: a row takes %d bytes", p, plan->image.width,
                  plan->image.height, format->name, in->stride[p], out->stride[p], row);
      return FALSE;
    }
  }
  return session->submit(session, plan, in, out, error);
}

gboolean
cnv_session_wait(CnvSession *session, GError **error)
{
  return session->wait(session, error);
}

void
cnv_session_close(CnvSession *session)
{
  if (!session)
    return;
  session->wait(session, NULL);
  session->close(session);
}
