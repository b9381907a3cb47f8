/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The history: frames in device memory, and rows of them that the host measures (plan/scene.h). All frames have one
 * layout, so that planes of two frames are as far apart as their first bytes. A frame that has this layout is kept
 * without a copy.
 */
#include <string.h>

#include "gpu/range.h"
#include "gpu/session.h"

gboolean
cnv_cuda_history_alloc(CnvSession *session, guint n_slots, GError **error)
{
  CudaSession *self = (CudaSession *)session;

  if (!CHECK(self, cuCtxPushCurrent(self->context), "entering the CUDA context", error))
    return FALSE;
  if (n_slots == 0)
    cnv_cuda_free(self, &self->history.slots);
  self->cu->cuCtxPopCurrent(NULL);
  self->noise.n = 0;
  g_free(self->history.frame);
  self->history.frame = g_new0(CnvFrame, n_slots);
  self->history.layout.size = 0;
  return TRUE;
}

/* Sets the history's layout to that of a frame, if the copy engine supports it. */
static void
adopt_layout(CnvLayout *layout, const CnvFrame *frame)
{
  CnvLayout like = *layout;

  like.size = 0;
  for (int m = 0; m < layout->n_planes; m++) {
    gint64 offset = (gint64)((guintptr)frame->data[m] - (guintptr)frame->data[0]), stride = frame->stride[m];

    if (offset < 0 || offset % 16 || stride % 16 || offset > (gint64)(2 * layout->size) ||
        stride > 2 * layout->pitch[m])
      return;
    like.offset[m] = (gsize)offset;
    like.pitch[m] = (int)stride;
    like.size = MAX(like.size, (gsize)(offset + stride * layout->rows[m]));
  }
  like.size = (like.size + CNV_SOURCE_STEP - 1) / CNV_SOURCE_STEP * CNV_SOURCE_STEP;
  *layout = like;
}

/* Returns TRUE if the frame can be read in its own memory. */
static gboolean
can_keep(const CnvLayout *layout, const CnvFrame *frame)
{
  const CnvFrame like = cnv_layout_frame(layout, CNV_MEMORY_DEVICE, (guintptr)frame->data[0]);

  return frame->memory == CNV_MEMORY_DEVICE && (guintptr)frame->data[0] % CNV_SOURCE_STEP == 0 &&
         memcmp(like.data, frame->data, sizeof(void *) * layout->n_planes) == 0 &&
         memcmp(like.stride, frame->stride, sizeof(int) * layout->n_planes) == 0;
}

static gboolean
upload_frame(CudaSession *self, const CnvFrame *frame, const CnvFrame *to, GError **error)
{
  Transfer *transfer = &self->history.upload;

  /* The upload of the previous frame may still read staging. */
  if (!CHECK(self, cuEventSynchronize(self->history.unstaged), "waiting for an upload", error))
    return FALSE;
  *transfer = (Transfer){.upload = TRUE,
                         .layout = self->history.layout,
                         .host = *frame,
                         .device = *to,
                         .staging = transfer->staging,
                         .stream = self->stream};
  cnv_cuda_transfer_stage(self, transfer);
  if (!cnv_cuda_transfer_start(self, transfer, error))
    return FALSE;
  return !transfer->staged ||
         CHECK(self, cuEventRecord(self->history.unstaged, transfer->stream), "marking an upload", error);
}

/* Starts the download of the rows of a frame in device memory. */
static gboolean
download_rows(CudaSession *self, const CnvFrame *frame, GError **error)
{
  const CnvScene *scene = self->base.scene;
  const CnvLayout *layout = &scene->rows_layout;
  CudaBuffer *rows = &self->history.rows;

  /* Downloads that nobody waited for may still be in progress. */
  if (rows->size < layout->size &&
      !CHECK(self, cuEventSynchronize(self->history.rows_done), "downloading rows of a frame", error))
    return FALSE;
  if (!cnv_cuda_reserve(self, rows, TRUE, layout->size, error))
    return FALSE;
  for (int m = 0; m < layout->n_planes; m++) {
    const CUDA_MEMCPY2D copy = {.srcMemoryType = CU_MEMORYTYPE_DEVICE,
                                .srcDevice = (guintptr)frame->data[m],
                                .srcPitch = (gsize)frame->stride[m] * scene->row_step,
                                .dstMemoryType = CU_MEMORYTYPE_HOST,
                                .dstHost = (guint8 *)(guintptr)rows->address + layout->offset[m],
                                .dstPitch = layout->pitch[m],
                                .WidthInBytes = layout->row_bytes[m],
                                .Height = layout->rows[m]};

    if (!CHECK(self, cuMemcpy2DAsync(&copy, self->stream), "downloading rows of a frame to look for a cut", error))
      return FALSE;
  }
  return CHECK(self, cuEventRecord(self->history.rows_done, self->stream), "marking a download", error);
}

/* Copies a frame into the slot's own memory. */
static gboolean
copy_frame(CudaSession *self, guint slot, const CnvFrame *frame, GError **error)
{
  const CnvLayout *layout = &self->history.layout;
  CnvFrame *to = &self->history.frame[slot];

  if (!cnv_cuda_reserve(self, &self->history.slots, FALSE, self->base.n_slots * layout->size, error))
    return FALSE;
  *to = cnv_layout_frame(layout, CNV_MEMORY_DEVICE, self->history.slots.address + slot * layout->size);
  return frame->memory == CNV_MEMORY_HOST ? upload_frame(self, frame, to, error)
                                          : cnv_cuda_copy_planes(self, layout, frame, to, error);
}

gboolean
cnv_cuda_history_push(CnvSession *session, guint slot, const CnvFrame *frame, gboolean fetch_rows, gboolean *kept,
                      GError **error)
{
  CudaSession *self = (CudaSession *)session;
  CnvLayout *layout = &self->history.layout;
  gboolean ok;
  CNV_RANGE("keep");

  if (!CHECK(self, cuCtxPushCurrent(self->context), "entering the CUDA context", error))
    return FALSE;
  if (layout->size == 0) {
    *layout = session->scene->layout;
    if (kept && frame->memory == CNV_MEMORY_DEVICE)
      adopt_layout(layout, frame);
  }
  ok = !fetch_rows || download_rows(self, frame, error);
  if (kept && can_keep(layout, frame)) {
    self->history.frame[slot] = *frame;
    *kept = TRUE;
  } else {
    ok = ok && copy_frame(self, slot, frame, error);
  }
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
  ok = CHECK(self, cuEventSynchronize(self->history.rows_done), "downloading rows of a frame to look for a cut", error);
  self->cu->cuCtxPopCurrent(NULL);
  *rows = cnv_layout_frame(&session->scene->rows_layout, CNV_MEMORY_HOST, self->history.rows.address);
  return ok;
}
