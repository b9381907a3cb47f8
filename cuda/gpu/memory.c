/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Buffers in device memory and in page-locked memory, and frames in device memory.
 */
#include "gpu/session.h"

void
cnv_cuda_free(CudaSession *self, CudaBuffer *buffer)
{
  if (buffer->address && self->busy)
    cnv_cuda_sync_streams(self);
  if (buffer->address && !cnv_session_is_lost(&self->base)) {
    if (buffer->pinned)
      self->cu->cuMemFreeHost((void *)(guintptr)buffer->address);
    else
      self->cu->cuMemFree(buffer->address);
  }
  *buffer = (CudaBuffer){0};
}

gboolean
cnv_cuda_reserve(CudaSession *self, CudaBuffer *buffer, gboolean pinned, gsize size, GError **error)
{
  g_autofree char *doing = NULL;
  void *memory = NULL;
  CUdeviceptr address;

  if (buffer->size >= size)
    return TRUE;
  cnv_cuda_free(self, buffer);
  doing = g_strdup_printf("allocating %" G_GSIZE_FORMAT " bytes %s %s", size, pinned ? "page-locked for" : "on",
                          self->base.device_name);
  if (pinned ? !CHECK(self, cuMemHostAlloc(&memory, size, CU_MEMHOSTALLOC_PORTABLE), doing, error)
             : !CHECK(self, cuMemAlloc(&address, size), doing, error))
    return FALSE;
  *buffer = (CudaBuffer){pinned ? (guintptr)memory : address, size, pinned};
  return TRUE;
}

gboolean
cnv_cuda_device_frame(CudaSession *self, const CnvFrame *frame, CudaBuffer *buffer, CnvFrame *on_device, GError **error)
{
  *on_device = frame->memory == CNV_MEMORY_HISTORY ? self->history.frame[frame->slot] : *frame;
  if (on_device->memory == CNV_MEMORY_DEVICE)
    return TRUE;
  if (!cnv_cuda_reserve(self, buffer, FALSE, self->layout.size, error))
    return FALSE;
  *on_device = cnv_layout_frame(&self->layout, CNV_MEMORY_DEVICE, buffer->address);
  return TRUE;
}
