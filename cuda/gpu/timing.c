/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Times one frame in 16, by events.
 */
#include "gpu/session.h"

gboolean
cnv_cuda_mark(CudaSession *self, Span span, int end, CUstream stream, GError **error)
{
  if (!self->marking)
    return TRUE;
  self->marked |= 1u << span;
  return CHECK(self, cuEventRecord(self->mark[span][end], stream), "timing a frame", error);
}

gboolean
cnv_cuda_read_times(CudaSession *self, GError **error)
{
  double *mean[N_SPANS] = {&self->base.stats.upload_us, &self->base.stats.compute_us, &self->base.stats.download_us};
  guint marked = self->marked;

  for (int m = 0; m < N_SPANS; m++) {
    CUresult result = marked >> m & 1 ? self->cu->cuEventQuery(self->mark[m][1]) : CUDA_SUCCESS;

    if (result == CUDA_ERROR_NOT_READY)
      return TRUE;
    if (!cnv_driver_check(self->cu, result, "cuEventQuery", "filtering a frame", error))
      return FALSE;
  }
  self->marked = 0;
  self->n_timed += marked != 0;
  for (int m = 0; m < N_SPANS && marked; m++) {
    float ms = 0;

    if (marked >> m & 1 &&
        !CHECK(self, cuEventElapsedTime(&ms, self->mark[m][0], self->mark[m][1]), "timing a frame", error))
      return FALSE;
    *mean[m] += (ms * 1000.0 - *mean[m]) / self->n_timed;
  }
  return TRUE;
}
