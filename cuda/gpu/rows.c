/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Rows of a frame in device memory that the host measures, see plan/scene.h: downloaded in order with the session's
 * stream, and waited for by an event of their own.
 */
#include "gpu/session.h"

/* Places the rows of the planes side by side in memory; NULL: only returns the size of all. */
static gsize
find_rows(const CnvImage *image, guint8 *memory, CnvFrame *rows)
{
  guint planes = cnv_scene_planes(image);
  gsize size = 0;

  *rows = (CnvFrame){.memory = CNV_MEMORY_HOST};
  for (int m = 0; m < CNV_MAX_PLANES; m++) {
    if (!(planes >> m & 1))
      continue;
    rows->data[m] = memory ? memory + size : NULL;
    rows->stride[m] = cnv_format_row_bytes(image->format, m, image->width);
    size += (gsize)rows->stride[m] * cnv_scene_rows(image);
  }
  return size;
}

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
  CnvFrame rows;
  gsize size = find_rows(image, NULL, &rows);

  if (!reserve_rows(self, size, error))
    return FALSE;
  find_rows(image, self->rows.memory, &rows);
  for (int m = 0; m < CNV_MAX_PLANES; m++) {
    const CUDA_MEMCPY2D copy = {.srcMemoryType = CU_MEMORYTYPE_DEVICE,
                                .srcDevice = (guintptr)frame->data[m],
                                .srcPitch = (gsize)frame->stride[m] * cnv_scene_row_step(image),
                                .dstMemoryType = CU_MEMORYTYPE_HOST,
                                .dstHost = rows.data[m],
                                .dstPitch = rows.stride[m],
                                .WidthInBytes = rows.stride[m],
                                .Height = cnv_scene_rows(image)};

    if (rows.data[m] &&
        !CHECK(self, cuMemcpy2DAsync(&copy, self->stream), "downloading rows of a frame to look for a cut", error))
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
  gboolean ok;

  if (!CHECK(self, cuCtxPushCurrent(self->context), "entering the CUDA context", error))
    return FALSE;
  ok = CHECK(self, cuEventSynchronize(self->rows_done), "downloading rows of a frame to look for a cut", error);
  self->cu->cuCtxPopCurrent(NULL);
  find_rows(&session->scene->image, self->rows.memory, rows);
  return ok;
}

void
cnv_cuda_free_rows(CudaSession *self)
{
  cnv_cuda_free_pinned_buffer(self, &self->rows);
  if (self->rows_done)
    self->cu->cuEventDestroy(self->rows_done);
}
