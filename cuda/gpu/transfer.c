/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gpu/range.h"
#include "gpu/session.h"

/* Four copy faster than the bus (one some 15 GB/s, an H200's bus 54); each is woken for each slice, which takes time
 * too. */
#define COPY_THREADS 4

/* ---- staging ---- */

/* The driver tells of an address whether memory there is its own or registered with it, whoever did that; of all other
 * memory it leaves the type as it is. */
static gboolean
is_locked(const CudaSession *self, const guint8 *address)
{
  CUpointer_attribute attribute = CU_POINTER_ATTRIBUTE_MEMORY_TYPE;
  CUmemorytype type = 0;
  void *value = &type;

  return self->cu->cuPointerGetAttributes(1, &attribute, &value, (guintptr)address) == CUDA_SUCCESS &&
         type == CU_MEMORYTYPE_HOST;
}

/* From each plane's first byte to its last. */
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

/* Without staging the driver copies from and to any memory by itself, one slice after the other. */
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
  if (!self->host.team) /* of the calling thread alone */
    self->host.team = cnv_team_new(1, NULL);
}

/* Finds the first row of a plane that slice k brings; returns how many there are. */
static int
find_rows(const Transfer *transfer, int m, int k, int *first)
{
  const int *luma = transfer->upload ? transfer->slices.rows_uploaded : transfer->slices.end;
  int sub_y = transfer->layout.sub_y[m];

  *first = k > 0 ? cnv_slice_rows(luma[k - 1], sub_y) : 0;
  return cnv_slice_rows(luma[k], sub_y) - *first;
}

static guint8 *
row_of(const CnvFrame *frame, int m, int y)
{
  return (guint8 *)frame->data[m] + (gsize)y * frame->stride[m];
}

void
cnv_cuda_transfer_copy_staged(CudaSession *self, const Transfer *transfer, int k)
{
  const CnvFrame *from = transfer->upload ? &transfer->host : &transfer->bus;
  const CnvFrame *to = transfer->upload ? &transfer->bus : &transfer->host;
  CnvRowsCopy copies[CNV_MAX_PLANES];

  if (!transfer->staged)
    return;
  for (int m = 0; m < transfer->layout.n_planes; m++) {
    int first, rows = find_rows(transfer, m, k, &first);

    copies[m] = (CnvRowsCopy){.to = row_of(to, m, first),
                              .from = row_of(from, m, first),
                              .to_stride = to->stride[m],
                              .from_stride = from->stride[m],
                              .row = transfer->layout.row_bytes[m],
                              .rows = rows};
  }
  cnv_copy_rows(self->host.team, copies, transfer->layout.n_planes);
}

/* ---- copies by the driver ---- */

static gboolean
start_plane(CudaSession *self, const Transfer *transfer, int m, int k, GError **error)
{
  const gboolean up = transfer->upload;
  const CnvFrame *from = up ? &transfer->bus : &transfer->device, *to = up ? &transfer->device : &transfer->bus;
  const char *doing = up ? "uploading a frame" : "downloading a frame";
  gsize from_stride = from->stride[m], to_stride = to->stride[m], row = transfer->layout.row_bytes[m], bytes;
  int first, rows = find_rows(transfer, m, k, &first);
  guint8 *source = row_of(from, m, first), *target = row_of(to, m, first);
  CUDA_MEMCPY2D copy;

  if (rows == 0)
    return TRUE;
  *(up ? &self->base.stats.bytes_uploaded : &self->base.stats.bytes_downloaded) += rows * row;
  /* If the strides are equal the bytes between the rows are copied, too: faster. Those of a caller's frame are not
   * written. */
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
cnv_cuda_transfer_slice(CudaSession *self, const Transfer *transfer, int k, GError **error)
{
  Span span = transfer->upload ? SPAN_UPLOAD : SPAN_DOWNLOAD;
  CNV_RANGE(transfer->upload ? "upload" : "download");

  if (transfer->layout.n_planes == 0)
    return TRUE;
  if (transfer->upload)
    cnv_cuda_transfer_copy_staged(self, transfer, k);
  /* A copy engine stays with a stream as long as that has copies. Frames that follow each other without a gap would
   * keep all other streams from the bus, other sessions' too: three out of four had 21 frames/s, one 3800. */
  if (transfer->upload && transfer->overlaps &&
      !CHECK(self, cuStreamSynchronize(self->host.up), "uploading a frame", error))
    return FALSE;
  if (k == 0 && !cnv_cuda_mark(self, span, 0, transfer->stream, error))
    return FALSE;
  for (int m = 0; m < transfer->layout.n_planes; m++)
    if (!start_plane(self, transfer, m, k, error))
      return FALSE;
  return k < transfer->slices.n - 1 || cnv_cuda_mark(self, span, 1, transfer->stream, error);
}
