/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gpu/range.h"
#include "gpu/session.h"

/* Threads of a copy through staging. Four copy faster than the bus (one some 15 GB/s, an H200's bus 54); waking each
 * takes time too. */
#define COPY_THREADS 4

/* ---- staging ---- */

/* Returns TRUE if the driver has allocated or registered the memory, whoever requested that. For all other memory the
 * driver leaves the type unchanged. */
static gboolean
is_locked(const CudaSession *self, const guint8 *address)
{
  CUpointer_attribute attribute = CU_POINTER_ATTRIBUTE_MEMORY_TYPE;
  CUmemorytype type = 0;
  void *value = &type;

  return self->cu->cuPointerGetAttributes(1, &attribute, &value, (guintptr)address) == CUDA_SUCCESS &&
         type == CU_MEMORYTYPE_HOST;
}

/* Returns TRUE if each plane is page-locked, from its first to its last byte. */
static gboolean
is_frame_locked(const CudaSession *self, const CnvLayout *layout, const CnvFrame *frame)
{
  for (int m = 0; m < layout->n_planes; m++) {
    const guint8 *first = frame->data[m];

    if (!is_locked(self, first) ||
        !is_locked(self, first + (gsize)(layout->rows[m] - 1) * frame->stride[m] + layout->row_bytes[m] - 1))
      return FALSE;
  }
  return TRUE;
}

/* Chooses between staging and a copy by the driver itself, which copies from and to any memory. */
void
cnv_cuda_transfer_stage(CudaSession *self, Transfer *transfer)
{
  const CnvLayout *layout = &transfer->layout;

  transfer->bus = transfer->host;
  if (is_frame_locked(self, layout, &transfer->host) ||
      !cnv_cuda_reserve(self, &transfer->staging, TRUE, layout->size, NULL))
    return;
  transfer->staged = TRUE;
  transfer->bus = cnv_layout_frame(layout, CNV_MEMORY_HOST, transfer->staging.address);
  if (!self->host.team)
    self->host.team = cnv_team_new(MIN(g_get_num_processors(), COPY_THREADS), NULL);
  if (!self->host.team) /* only the calling thread */
    self->host.team = cnv_team_new(1, NULL);
}

void
cnv_cuda_transfer_copy_staged(CudaSession *self, const Transfer *transfer)
{
  const CnvFrame *from = transfer->upload ? &transfer->host : &transfer->bus;
  const CnvFrame *to = transfer->upload ? &transfer->bus : &transfer->host;
  CnvRowsCopy copies[CNV_MAX_PLANES];

  if (!transfer->staged)
    return;
  for (int m = 0; m < transfer->layout.n_planes; m++)
    copies[m] = (CnvRowsCopy){.to = to->data[m],
                              .from = from->data[m],
                              .to_stride = to->stride[m],
                              .from_stride = from->stride[m],
                              .row = transfer->layout.row_bytes[m],
                              .rows = transfer->layout.rows[m]};
  cnv_copy_rows(self->host.team, copies, transfer->layout.n_planes);
}

/* ---- copies by the driver ---- */

static gboolean
start_plane(CudaSession *self, const Transfer *transfer, int m, GError **error)
{
  const gboolean up = transfer->upload;
  const CnvFrame *from = up ? &transfer->bus : &transfer->device, *to = up ? &transfer->device : &transfer->bus;
  const char *doing = up ? "uploading a frame" : "downloading a frame";
  gsize from_stride = from->stride[m], to_stride = to->stride[m], row = transfer->layout.row_bytes[m], bytes;
  gsize rows = (gsize)transfer->layout.rows[m];
  void *source = from->data[m], *target = to->data[m];
  CUDA_MEMCPY2D copy;

  *(up ? &self->base.stats.bytes_uploaded : &self->base.stats.bytes_downloaded) += rows * row;
  /* If the strides are equal, the bytes between the rows are copied too, which is faster. Bytes between the rows of a
   * caller's frame are never written. */
  if (from_stride == to_stride && (up || transfer->staged || to_stride == row)) {
    bytes = (rows - 1) * to_stride + row;
    return up ? CHECK(self, cuMemcpyHtoDAsync((guintptr)target, source, bytes, transfer->stream), doing, error)
              : CHECK(self, cuMemcpyDtoHAsync(target, (guintptr)source, bytes, transfer->stream), doing, error);
  }
  copy = (CUDA_MEMCPY2D){.srcMemoryType = up ? CU_MEMORYTYPE_HOST : CU_MEMORYTYPE_DEVICE,
                         .srcHost = source,
                         .srcDevice = (guintptr)source,
                         .srcPitch = from_stride,
                         .dstMemoryType = up ? CU_MEMORYTYPE_DEVICE : CU_MEMORYTYPE_HOST,
                         .dstHost = target,
                         .dstDevice = (guintptr)target,
                         .dstPitch = to_stride,
                         .WidthInBytes = row,
                         .Height = rows};
  return CHECK(self, cuMemcpy2DAsync(&copy, transfer->stream), doing, error);
}

gboolean
cnv_cuda_transfer_start(CudaSession *self, const Transfer *transfer, GError **error)
{
  Span span = transfer->upload ? SPAN_UPLOAD : SPAN_DOWNLOAD;
  CNV_RANGE(transfer->upload ? "upload" : "download");

  if (transfer->layout.n_planes == 0)
    return TRUE;
  if (transfer->upload)
    cnv_cuda_transfer_copy_staged(self, transfer);
  /* A copy engine stays with a stream as long as the stream has copies. Frames without a gap between them would keep
   * the bus from all other streams, including those of other sessions: three of four sessions had 21 frames/s, the
   * fourth had 3800. */
  if (transfer->upload && transfer->overlaps &&
      !CHECK(self, cuStreamSynchronize(self->host.up), "uploading a frame", error))
    return FALSE;
  if (!cnv_cuda_mark(self, span, 0, transfer->stream, error))
    return FALSE;
  for (int m = 0; m < transfer->layout.n_planes; m++)
    if (!start_plane(self, transfer, m, error))
      return FALSE;
  return cnv_cuda_mark(self, span, 1, transfer->stream, error);
}
