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

/* Bits of the planes that are not page-locked from their first byte to their last. */
static guint
unlocked_planes(const CudaSession *self, const CnvLayout *layout, const CnvFrame *frame)
{
  guint planes = 0;

  for (int m = 0; m < layout->n_planes; m++) {
    const guint8 *first = frame->data[m];
    const guint8 *last = first + (gsize)(layout->rows[m] - 1) * frame->stride[m] + layout->row_bytes[m] - 1;

    planes |= is_locked(self, first) && is_locked(self, last) ? 0 : 1u << m;
  }
  return planes;
}

static void
start_team(CudaSession *self)
{
  if (!self->host.team)
    self->host.team = cnv_team_new(MIN(g_get_num_processors(), COPY_THREADS), NULL);
  if (!self->host.team)
    self->host.team = cnv_team_new(1, NULL);
}

/* Without staging the driver copies from and to any memory by itself, one slice after the other. */
void
cnv_cuda_transfer_stage(CudaSession *self, Transfer *transfer)
{
  transfer->staged = unlocked_planes(self, &transfer->layout, &transfer->host);
  if (!transfer->staged)
    return;
  start_team(self);
  if (!cnv_cuda_reserve(self, &transfer->staging, TRUE, transfer->layout.size, NULL))
    transfer->staged = 0;
}

/* Sets the rows of a plane that slice k brings. */
static void
find_rows(const Transfer *transfer, int m, int k, int rows[2])
{
  const int *luma = transfer->upload ? transfer->slices.rows_uploaded : transfer->slices.end;
  int sub_y = transfer->layout.sub_y[m];

  rows[0] = k > 0 ? cnv_slice_rows(luma[k - 1], sub_y) : 0;
  rows[1] = cnv_slice_rows(luma[k], sub_y);
}

void
cnv_cuda_transfer_copy_staged(CudaSession *self, const Transfer *transfer, int k)
{
  CnvRowsCopy copies[CNV_MAX_PLANES];
  gboolean up = transfer->upload;
  int n = 0, rows[2];

  for (int m = 0; m < transfer->layout.n_planes; m++) {
    guint8 *frame, *staging;
    gsize stride = transfer->host.stride[m], pitch = transfer->layout.pitch[m];

    if (!(transfer->staged >> m & 1))
      continue;
    find_rows(transfer, m, k, rows);
    frame = (guint8 *)transfer->host.data[m] + rows[0] * stride;
    staging = (guint8 *)(guintptr)transfer->staging.address + transfer->layout.offset[m] + rows[0] * pitch;
    copies[n++] = (CnvRowsCopy){.to = up ? staging : frame,
                                .from = up ? frame : staging,
                                .to_stride = up ? pitch : stride,
                                .from_stride = up ? stride : pitch,
                                .row = transfer->layout.row_bytes[m],
                                .rows = rows[1] - rows[0]};
  }
  cnv_copy_rows(self->host.team, copies, n);
}

/* ---- copies by the driver ---- */

static gboolean
start_plane(CudaSession *self, const Transfer *transfer, int m, int k, GError **error)
{
  gboolean up = transfer->upload, staged = transfer->staged >> m & 1;
  const char *doing = up ? "uploading a frame" : "downloading a frame";
  gsize host_stride = staged ? transfer->layout.pitch[m] : transfer->host.stride[m];
  gsize device_stride = transfer->device.stride[m], row = transfer->layout.row_bytes[m], n;
  guint8 *host =
      staged ? (guint8 *)(guintptr)transfer->staging.address + transfer->layout.offset[m] : transfer->host.data[m];
  CUdeviceptr device = (guintptr)transfer->device.data[m];
  int rows[2];
  CUDA_MEMCPY2D copy;

  find_rows(transfer, m, k, rows);
  n = rows[1] - rows[0];
  if (n == 0)
    return TRUE;
  host += rows[0] * host_stride;
  device += rows[0] * device_stride;
  *(up ? &self->base.stats.bytes_uploaded : &self->base.stats.bytes_downloaded) += n * row;
  /* If the strides are equal the bytes between the rows are copied, too: faster. Those of a caller's frame are not
   * written. */
  if (host_stride == device_stride && (up || staged || host_stride == row)) {
    gsize bytes = (n - 1) * host_stride + row;

    return up ? CHECK(self, cuMemcpyHtoDAsync(device, host, bytes, transfer->stream), doing, error)
              : CHECK(self, cuMemcpyDtoHAsync(host, device, bytes, transfer->stream), doing, error);
  }
  copy = (CUDA_MEMCPY2D){.srcMemoryType = up ? CU_MEMORYTYPE_HOST : CU_MEMORYTYPE_DEVICE,
                         .srcHost = host,
                         .srcDevice = device,
                         .srcPitch = up ? host_stride : device_stride,
                         .dstMemoryType = up ? CU_MEMORYTYPE_DEVICE : CU_MEMORYTYPE_HOST,
                         .dstHost = host,
                         .dstDevice = device,
                         .dstPitch = up ? device_stride : host_stride,
                         .WidthInBytes = row,
                         .Height = n};
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
