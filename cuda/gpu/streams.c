/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gpu/session.h"

gboolean
cnv_cuda_wait_for_stream(CudaSession *self, CUstream stream, CUstream other, GError **error)
{
  return stream == other || (CHECK(self, cuEventRecord(self->order, other), "marking a stream", error) &&
                             CHECK(self, cuStreamWaitEvent(stream, self->order, 0), "joining streams", error));
}

/* Falls back to waiting for the whole context, because the caller's stream handle may be invalid. */
void
cnv_cuda_sync_streams(CudaSession *self)
{
  CUstream streams[] = {self->host.up, NULL, self->host.down};
  gboolean ok = TRUE;

  g_mutex_lock(&self->host.lock);
  streams[1] = self->stream;
  g_mutex_unlock(&self->host.lock);
  for (gsize i = 0; i < G_N_ELEMENTS(streams); i++)
    ok &= self->cu->cuStreamSynchronize(streams[i]) == CUDA_SUCCESS;
  if (!ok && self->cu->cuCtxSynchronize() != CUDA_SUCCESS)
    g_atomic_int_set(&self->base.lost, TRUE);
}
