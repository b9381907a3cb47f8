/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Rows of a frame in device memory that the host measures, see plan/scene.h: downloaded in order with the session's
 * stream, and waited for by an event of their own.
 */
#include "gpu/session.h"

static gboolean
reserve_rows(CudaSession *self, gsize size, GError **error)
{
  if (!self->rows_done &&
      !CHECK(self, cuEventCreate(&self->rows_done, CU_EVENT_DISABLE_TIMING), "making an event", error))
    return FALSE;
  if (self->rows.size >= size)
    return TRUE;
  /* Rows that nobody asked for may still be on their way. */
  if (!CHECK(self, cuEventSynchronize(self->rows_done), "downloading rows of a frame", error))
    return FALSE;
  return cnv_cuda_reserve_pinned(self, &self->rows, size, "page-locking memory to look for cuts", error);
}

static gboolean
start_rows(CudaSession *self, const CnvFrame *frame, GError **error)
{
  const CnvImage *image = &self->base.scene->image;
  const CnvLayout layout = cnv_scene_rows_layout(image);

  if (!reserve_rows(self, layout.size, error))
    return FALSE;
  for (int m = 0; m < layout.n_planes; m++) {
    const CUDA_MEMCPY2D copy = {.srcMemoryType = CU_MEMORYTYPE_DEVICE,
                                .srcDevice = (guintptr)frame->data[m],
                                .srcPitch = (gsize)frame->stride[m] * cnv_scene_row_step(image),
                                .dstMemoryType = CU_MEMORYTYPE_HOST,
                                .dstHost = self->rows.memory + layout.offset[m],
                                .dstPitch = layout.pitch[m],
                                .WidthInBytes = layout.row_bytes[m],
                                .Height = layout.rows[m]};

    if (!CHECK(self, cuMemcpy2DAsync(&copy, self->stream), "downloading rows of a frame to look for a cut", error))
      return FALSE;
  }
  return CHECK(self, cuEventRecord(self->rows_done, self->stream), "marking a download", error);
}

gboolean
cnv_cuda_fetch_rows(CnvSession *session, const CnvFrame *frame, GError **error)
{
  CudaSession *self = (CudaSession *)session;
  gboolean ok;

  if (!CHECK(self, cuCtxPushCurrent(self->context), "entering the CUDA context", error))
    return FALSE;
  ok = start_rows(self, frame, error);
  self->busy = TRUE;
  self->cu->cuCtxPopCurrent(NULL);
  return ok;
}

gboolean
cnv_cuda_wait_for_rows(CnvSession *session, CnvFrame *rows, GError **error)
{
  CudaSession *self = (CudaSession *)session;
  const CnvLayout layout = cnv_scene_rows_layout(&session->scene->image);
  gboolean ok;

  if (!CHECK(self, cuCtxPushCurrent(self->context), "entering the CUDA context", error))
    return FALSE;
  ok = CHECK(self, cuEventSynchronize(self->rows_done), "downloading rows of a frame to look for a cut", error);
  self->cu->cuCtxPopCurrent(NULL);
  *rows = cnv_layout_frame(&layout, CNV_MEMORY_HOST, (guintptr)self->rows.memory);
  return ok;
}

void
cnv_cuda_free_rows(CudaSession *self)
{
  cnv_cuda_free_pinned_buffer(self, &self->rows);
  if (self->rows_done)
    self->cu->cuEventDestroy(self->rows_done);
}
