/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gpu/session.h"
#include "gpu/range.h"

/* Four copy faster than the bus (one some 15 GB/s, an H200's bus 54); each is woken for each slice, which takes time
 * too. */
#define COPY_THREADS 4

/* A frame's way between host and device, in slices. Planes whose bit is set lie in staging on it, laid out there as on
 * the device. */
typedef struct {
  const CnvImage *image;
  const CnvFrame *host;
  CnvFrame device;
  FrameLayout layout;
  CudaStaging *staging;
  guint staged;
  const CnvSlices *slices;
  CUstream stream;
  gboolean timed;
  gboolean overlaps; /* with those of other frames */
} Transfer;

/* A frame under way. */
typedef struct {
  const CnvWork *work;
  CnvFrame from, to; /* on the device */
  int slot;          /* of from, where it is one */
  gboolean uploads, downloads;
  Transfer up, down;
  CudaFlight *flight;
} FrameTransfer;

void *
cnv_cuda_alloc_pinned(void *context, gsize size)
{
  const CnvDriver *cu = cnv_driver_get(NULL);
  void *memory = NULL;

  if (!cu || cu->cuCtxPushCurrent(context) != CUDA_SUCCESS)
    return NULL;
  if (cu->cuMemHostAlloc(&memory, size, CU_MEMHOSTALLOC_PORTABLE) != CUDA_SUCCESS)
    memory = NULL;
  cu->cuCtxPopCurrent(NULL);
  return memory;
}

void
cnv_cuda_free_pinned(void *context, void *memory)
{
  const CnvDriver *cu = cnv_driver_get(NULL);

  if (!cnv_driver_enter_at_last(cu, context))
    return;
  cu->cuMemFreeHost(memory);
  cu->cuCtxPopCurrent(NULL);
}

gboolean
cnv_cuda_follow(CudaSession *self, CUstream after, CUstream before, GError **error)
{
  return after == before || (CHECK(self, cuEventRecord(self->order, before), "marking a stream", error) &&
                             CHECK(self, cuStreamWaitEvent(after, self->order, 0), "joining streams", error));
}

/* ---- which memory is page-locked ---- */

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

/* Bits of the planes that are not, from their first byte to their last. */
static guint
unlocked_planes(const CudaSession *self, const CnvImage *image, const CnvFrame *frame)
{
  guint planes = 0;

  for (int m = 0; m < cnv_format_n_frame_planes(image->format); m++) {
    const guint8 *first = frame->data[m];
    gsize to_last_row = (gsize)(cnv_format_rows(image->format, m, image->height) - 1) * frame->stride[m];
    const guint8 *last = first + to_last_row + cnv_format_row_bytes(image->format, m, image->width) - 1;

    planes |= is_locked(self, first) && is_locked(self, last) ? 0 : 1u << m;
  }
  return planes;
}

static void
free_staging(CudaSession *self, CudaStaging *staging)
{
  if (staging->memory)
    self->cu->cuMemFreeHost(staging->memory);
  *staging = (CudaStaging){NULL, 0};
}

/* It only ever grows. FALSE where so much cannot be locked. */
static gboolean
reserve_staging(CudaSession *self, CudaStaging *staging, gsize size)
{
  void *memory;

  if (!self->host.team)
    self->host.team = cnv_team_new(MIN(g_get_num_processors(), COPY_THREADS), NULL);
  if (!self->host.team)
    self->host.team = cnv_team_new(1, NULL);
  if (staging->size >= size)
    return TRUE;
  free_staging(self, staging);
  if (self->cu->cuMemHostAlloc(&memory, size, CU_MEMHOSTALLOC_PORTABLE) != CUDA_SUCCESS)
    return FALSE;
  *staging = (CudaStaging){memory, size};
  return TRUE;
}

/* Without staging the driver copies from and to any memory by itself, one slice after the other. */
static void
find_way(CudaSession *self, Transfer *way)
{
  way->layout = cnv_cuda_frame_layout(way->image);
  way->staged = unlocked_planes(self, way->image, way->host);
  if (way->staged && !reserve_staging(self, way->staging, way->layout.size))
    way->staged = 0;
}

/* ---- copies ---- */

/* Rows of a plane of memory up to a row of luma. */
static int
rows_to(const CnvImage *image, int m, int luma_rows)
{
  return cnv_format_rows(image->format, m, luma_rows);
}

/* The rows of a plane that slice k of an upload, or else of a download, brings. */
static void
find_rows(const Transfer *way, gboolean up, int m, int k, int rows[2])
{
  const int *luma = up ? way->slices->there : way->slices->end;

  rows[0] = k > 0 ? rows_to(way->image, m, luma[k - 1]) : 0;
  rows[1] = rows_to(way->image, m, luma[k]);
}

/* Copies what is staged of slice k between the frame's memory and staging. */
static void
copy_staged(CudaSession *self, const Transfer *way, gboolean up, int k)
{
  CnvRowsCopy copies[CNV_MAX_PLANES];
  int n = 0, rows[2];

  for (int m = 0; m < cnv_format_n_frame_planes(way->image->format); m++) {
    guint8 *frame, *staging;
    gsize stride = way->host->stride[m], pitch = way->layout.pitch[m];

    if (!(way->staged >> m & 1))
      continue;
    find_rows(way, up, m, k, rows);
    frame = (guint8 *)way->host->data[m] + rows[0] * stride;
    staging = way->staging->memory + way->layout.offset[m] + rows[0] * pitch;
    copies[n++] = (CnvRowsCopy){.to = up ? staging : frame,
                                .from = up ? frame : staging,
                                .to_stride = up ? pitch : stride,
                                .from_stride = up ? stride : pitch,
                                .row = cnv_format_row_bytes(way->image->format, m, way->image->width),
                                .rows = rows[1] - rows[0]};
  }
  cnv_copy_rows(self->host.team, copies, n);
}

/* Rows in page-locked memory and on the device. */
typedef struct {
  void *host;
  CUdeviceptr device;
  gsize host_stride, device_stride;
  gsize row; /* bytes of each */
  gsize rows;
} RowsPair;

/* Where both sides are alike what lies between the rows is copied, too. */
static gboolean
start_block(CudaSession *self, gboolean up, const RowsPair *p, CUstream stream, GError **error)
{
  gsize size = (p->rows - 1) * p->host_stride + p->row;

  return up ? CHECK(self, cuMemcpyHtoDAsync(p->device, p->host, size, stream), "uploading a frame", error)
            : CHECK(self, cuMemcpyDtoHAsync(p->host, p->device, size, stream), "downloading a frame", error);
}

static gboolean
start_rows(CudaSession *self, gboolean up, const RowsPair *p, CUstream stream, GError **error)
{
  CUDA_MEMCPY2D copy = {.srcMemoryType = up ? CU_MEMORYTYPE_HOST : CU_MEMORYTYPE_DEVICE,
                        .srcHost = p->host,
                        .srcDevice = p->device,
                        .srcPitch = up ? p->host_stride : p->device_stride,
                        .dstMemoryType = up ? CU_MEMORYTYPE_DEVICE : CU_MEMORYTYPE_HOST,
                        .dstHost = p->host,
                        .dstDevice = p->device,
                        .dstPitch = up ? p->device_stride : p->host_stride,
                        .WidthInBytes = p->row,
                        .Height = p->rows};

  return CHECK(self, cuMemcpy2DAsync(&copy, stream), up ? "uploading a frame" : "downloading a frame", error);
}

/* Starts the transfer of a plane's part of slice k. What lies between the rows of a frame in the host is read, never
 * written. */
static gboolean
start_plane(CudaSession *self, const Transfer *way, gboolean up, int m, int k, GError **error)
{
  gboolean staged = way->staged >> m & 1, alike;
  RowsPair pair = {.host_stride = staged ? (gsize)way->layout.pitch[m] : (gsize)way->host->stride[m],
                   .device_stride = way->device.stride[m],
                   .row = cnv_format_row_bytes(way->image->format, m, way->image->width)};
  int rows[2];

  find_rows(way, up, m, k, rows);
  pair.rows = rows[1] - rows[0];
  if (pair.rows == 0)
    return TRUE;
  pair.host = (guint8 *)(staged ? way->staging->memory + way->layout.offset[m] : way->host->data[m]) +
              rows[0] * pair.host_stride;
  pair.device = (guintptr)way->device.data[m] + rows[0] * pair.device_stride;
  *(up ? &self->base.stats.bytes_uploaded : &self->base.stats.bytes_downloaded) += pair.rows * pair.row;
  alike = pair.host_stride == pair.device_stride && (up || staged || pair.host_stride == pair.row);
  return (alike ? start_block : start_rows)(self, up, &pair, way->stream, error);
}

static gboolean
start_planes(CudaSession *self, const Transfer *way, gboolean up, int k, GError **error)
{
  Span span = up ? SPAN_UPLOAD : SPAN_DOWNLOAD;

  if (way->timed && k == 0 && !cnv_cuda_mark(self, span, 0, way->stream, error))
    return FALSE;
  for (int m = 0; m < cnv_format_n_frame_planes(way->image->format); m++)
    if (!start_plane(self, way, up, m, k, error))
      return FALSE;
  return !way->timed || k < way->slices->n - 1 || cnv_cuda_mark(self, span, 1, way->stream, error);
}

/* ---- uploads ---- */

/* A copy engine stays with a stream as long as that has copies. Frames that follow each other without a gap would keep
 * all other streams from the bus, other sessions' too: three out of four had 21 frames/s, one 3800. */
static gboolean
sync_previous_upload(CudaSession *self, GError **error)
{
  return CHECK(self, cuStreamSynchronize(self->host.up), "uploading a frame", error);
}

static gboolean
upload_slice(CudaSession *self, const Transfer *way, int k, GError **error)
{
  CNV_RANGE("upload");

  copy_staged(self, way, TRUE, k);
  return (!way->overlaps || sync_previous_upload(self, error)) && start_planes(self, way, TRUE, k, error);
}

gboolean
cnv_cuda_upload_frame(CudaSession *self, const CnvImage *image, const CnvFrame *frame, const CnvFrame *to,
                      GError **error)
{
  CnvSlices slices = cnv_slices_of_image(image);
  Transfer way = {.image = image,
                  .host = frame,
                  .device = *to,
                  .staging = &self->host.kept,
                  .slices = &slices,
                  .stream = self->stream};

  /* The frame before may still be on its way out of staging. */
  if (!CHECK(self, cuEventSynchronize(self->host.unstaged), "waiting for an upload", error))
    return FALSE;
  find_way(self, &way);
  for (int k = 0; k < slices.n; k++)
    if (!upload_slice(self, &way, k, error))
      return FALSE;
  return !way.staged || CHECK(self, cuEventRecord(self->host.unstaged, way.stream), "marking an upload", error);
}

/* ---- downloads ---- */

static gboolean
download_slice(CudaSession *self, const FrameTransfer *p, int k, GError **error)
{
  CNV_RANGE("download");

  return start_planes(self, &p->down, FALSE, k, error) &&
         (!p->down.staged ||
          CHECK(self, cuEventRecord(p->flight->landed[k], p->down.stream), "marking a download", error));
}

/* Returns when all slices are in the frame's memory. */
static gboolean
complete_slices(CudaSession *self, CudaFlight *flight, GError **error)
{
  const PendingDownload *pending = &flight->pending;
  const Transfer way = {.image = &pending->image,
                        .host = &pending->out,
                        .layout = cnv_cuda_frame_layout(&pending->image),
                        .staging = &flight->staged_out,
                        .staged = pending->planes,
                        .slices = &pending->slices};

  for (int k = 0; k < pending->slices.n; k++) {
    if (!CHECK(self, cuEventSynchronize(flight->landed[k]), "filtering a frame", error))
      return FALSE;
    copy_staged(self, &way, FALSE, k);
  }
  return TRUE;
}

/* ---- frames under way ---- */

/* NULL: no frame up to that number is in flight. */
static CudaFlight *
oldest_flight(CudaSession *self, guint64 number)
{
  CudaFlight *oldest = NULL;

  g_mutex_lock(&self->host.lock);
  for (CudaFlight *f = self->host.flight; f < self->host.flight + CNV_FLIGHTS_MAX; f++)
    if (f->frame > 0 && f->frame <= number && (!oldest || f->frame < oldest->frame))
      oldest = f;
  g_mutex_unlock(&self->host.lock);
  return oldest;
}

static void
set_done(CudaSession *self, CudaFlight *flight)
{
  g_mutex_lock(&self->host.lock);
  self->host.n_done = MAX(self->host.n_done, flight->frame);
  flight->frame = 0;
  g_mutex_unlock(&self->host.lock);
}

static gboolean
complete(CudaSession *self, CudaFlight *flight, GError **error)
{
  if ((flight->pending.planes && !complete_slices(self, flight, error)) ||
      !CHECK(self, cuEventSynchronize(flight->done), "filtering a frame", error))
    return FALSE;
  set_done(self, flight);
  return TRUE;
}

static gboolean
check_not_lost(CudaSession *self, guint64 number, GError **error)
{
  gboolean lost;

  g_mutex_lock(&self->host.lock);
  lost = number <= self->host.last_lost;
  g_mutex_unlock(&self->host.lock);
  if (lost)
    g_set_error_literal(error, CNV_ERROR, CNV_ERROR_DEVICE, "the frame was lost with one before it that failed");
  return !lost;
}

gboolean
cnv_cuda_complete(CudaSession *self, guint64 number, GError **error)
{
  CudaFlight *oldest;

  while ((oldest = oldest_flight(self, number)))
    if (!complete(self, oldest, error))
      return FALSE;
  return TRUE;
}

gboolean
cnv_cuda_wait_for_frame(CnvSession *session, guint64 number, GError **error)
{
  CudaSession *self = (CudaSession *)session;
  gboolean ok = TRUE;

  g_mutex_lock(&self->host.waiting);
  if (oldest_flight(self, number)) {
    ok = CHECK(self, cuCtxPushCurrent(self->context), "entering the CUDA context", error);
    if (ok || cnv_driver_enter_at_last(self->cu, self->context)) {
      ok = ok && cnv_cuda_complete(self, number, error);
      if (!ok)
        cnv_cuda_host_settle(self);
      self->cu->cuCtxPopCurrent(NULL);
    }
    if (!ok)
      cnv_cuda_host_forget(self, G_MAXUINT64, 0);
  }
  g_mutex_unlock(&self->host.waiting);
  return ok && check_not_lost(self, number, error);
}

static gboolean
make_events(CudaSession *self, CudaFlight *flight, GError **error)
{
  for (int k = 0; k < CNV_SLICES_MAX; k++)
    if (!flight->landed[k] &&
        !CHECK(self, cuEventCreate(&flight->landed[k], CU_EVENT_DISABLE_TIMING), "making an event", error))
      return FALSE;
  return flight->done || CHECK(self, cuEventCreate(&flight->done, CU_EVENT_DISABLE_TIMING), "making an event", error);
}

static CudaFlight *
free_flight(CudaSession *self)
{
  CudaFlight *flight = self->host.flight;

  g_mutex_lock(&self->host.lock);
  while (flight < self->host.flight + CNV_FLIGHTS_MAX && flight->frame > 0)
    flight++;
  g_mutex_unlock(&self->host.lock);
  return flight < self->host.flight + CNV_FLIGHTS_MAX ? flight : NULL;
}

/* NULL where it could not be made. */
static CudaFlight *
find_flight(CudaSession *self, GError **error)
{
  CudaFlight *flight = free_flight(self);
  gboolean ok = TRUE;

  if (!flight) {
    g_mutex_lock(&self->host.waiting);
    flight = oldest_flight(self, G_MAXUINT64);
    ok = !flight || complete(self, flight, error);
    g_mutex_unlock(&self->host.waiting);
    flight = free_flight(self);
  }
  return ok && make_events(self, flight, error) ? flight : NULL;
}

/* ---- a frame ---- */

static gboolean
filter_whole(CudaSession *self, const FrameTransfer *p, GError **error)
{
  int n = self->table.slices.n;

  for (int k = 0; k < n && p->uploads; k++)
    if (!upload_slice(self, &p->up, k, error))
      return FALSE;
  if (!cnv_cuda_follow(self, self->stream, p->up.stream, error) ||
      !cnv_cuda_mark(self, SPAN_COMPUTE, 0, self->stream, error) ||
      !cnv_cuda_filter_frame(self, p->work, p->slot, &p->from, &p->to, error) ||
      !cnv_cuda_mark(self, SPAN_COMPUTE, 1, self->stream, error) ||
      !cnv_cuda_follow(self, p->down.stream, self->stream, error))
    return FALSE;
  for (int k = 0; k < n && p->downloads; k++)
    if (!download_slice(self, p, k, error))
      return FALSE;
  return TRUE;
}

static gboolean
filter_slices(CudaSession *self, const FrameTransfer *p, GError **error)
{
  int n = self->table.slices.n;

  for (int k = 0; k < n; k++)
    if (!upload_slice(self, &p->up, k, error) || !cnv_cuda_follow(self, self->stream, p->up.stream, error) ||
        (k == 0 && !cnv_cuda_mark(self, SPAN_COMPUTE, 0, self->stream, error)) ||
        !cnv_cuda_filter_slice(self, p->work, k, &p->from, &p->to, error) ||
        (k == n - 1 && !cnv_cuda_mark(self, SPAN_COMPUTE, 1, self->stream, error)) ||
        !cnv_cuda_follow(self, p->down.stream, self->stream, error) || !download_slice(self, p, k, error))
      return FALSE;
  return TRUE;
}

/* In slices, planes that no kernel writes are downloaded from where they were uploaded to. */
static CnvFrame
filtered_frame(const CudaSession *self, const CnvWork *work, const CnvFrame *from, const CnvFrame *to)
{
  guint copied = self->table.slices.whole ? 0 : cnv_cuda_copied_memories(work);
  CnvFrame frame = *to;

  for (int m = 0; m < CNV_MAX_PLANES; m++)
    if (copied >> m & 1) {
      frame.data[m] = from->data[m];
      frame.stride[m] = from->stride[m];
    }
  return frame;
}

/* stream: for what overlaps. One slice of a frame that is alone goes to the session's, like all else. */
static Transfer
make_way(CudaSession *self, const CnvWork *work, const CnvFrame *host, CnvFrame device, CudaStaging *staging,
         CUstream stream)
{
  const CnvSlices *slices = &self->table.slices;
  gboolean overlaps = slices->n > 1 || oldest_flight(self, G_MAXUINT64);
  Transfer way = {.image = &work->plan[0]->image,
                  .host = host,
                  .device = device,
                  .staging = staging,
                  .slices = slices,
                  .stream = host->memory == CNV_MEMORY_HOST && overlaps ? stream : self->stream,
                  .timed = TRUE,
                  .overlaps = work->overlaps};

  if (host->memory == CNV_MEMORY_HOST)
    find_way(self, &way);
  return way;
}

/* Starts it. `in` goes by the stream for uploads as soon as it can: nothing under way touches its twin. */
static gboolean
start(CudaSession *self, const CnvWork *work, const CnvFrame *in, const CnvFrame *out, CudaFlight *flight,
      GError **error)
{
  CudaHost *host = &self->host;
  FrameTransfer p = {.work = work,
                     .slot = in->slot,
                     .uploads = in->memory == CNV_MEMORY_HOST,
                     .downloads = out->memory == CNV_MEMORY_HOST,
                     .flight = flight};
  CnvFrame filtered;

  if (!cnv_cuda_device_frame(self, in, &flight->in, &p.from, error) ||
      !cnv_cuda_device_frame(self, out, &flight->out, &p.to, error))
    return FALSE;
  filtered = filtered_frame(self, work, &p.from, &p.to);
  p.up = make_way(self, work, in, p.from, &flight->staged_in, host->up);
  p.down = make_way(self, work, out, filtered, &flight->staged_out, host->down);
  flight->pending = (PendingDownload){*out, *p.down.image, *p.down.slices, p.down.staged};
  return (self->table.slices.whole ? filter_whole : filter_slices)(self, &p, error) &&
         CHECK(self, cuEventRecord(flight->done, p.down.stream), "marking a frame", error);
}

gboolean
cnv_cuda_run_host(CudaSession *self, const CnvWork *work, const CnvFrame *in, const CnvFrame *out, GError **error)
{
  CudaFlight *flight = find_flight(self, error);

  if (!flight || !start(self, work, in, out, flight, error))
    return FALSE;
  g_mutex_lock(&self->host.lock);
  flight->frame = self->base.n_submitted + 1;
  g_mutex_unlock(&self->host.lock);
  return TRUE;
}

/* ---- the session ---- */

gboolean
cnv_cuda_host_open(CudaSession *self, GError **error)
{
  CudaHost *host = &self->host;

  if (!CHECK(self, cuStreamCreate(&host->up, CU_STREAM_NON_BLOCKING), "making a stream", error) ||
      !CHECK(self, cuStreamCreate(&host->down, CU_STREAM_NON_BLOCKING), "making a stream", error) ||
      !CHECK(self, cuEventCreate(&host->unstaged, CU_EVENT_DISABLE_TIMING), "making an event", error))
    return FALSE;
  return TRUE;
}

void
cnv_cuda_host_settle(CudaSession *self)
{
  CUstream stream;

  g_mutex_lock(&self->host.lock);
  stream = self->stream;
  g_mutex_unlock(&self->host.lock);
  self->cu->cuStreamSynchronize(self->host.up);
  self->cu->cuStreamSynchronize(stream);
  self->cu->cuStreamSynchronize(self->host.down);
}

void
cnv_cuda_host_count(CudaSession *self, guint64 number)
{
  CudaHost *host = &self->host;

  g_mutex_lock(&host->lock);
  host->n_done = MAX(host->n_done, number);
  self->base.stats.frames = host->n_done - host->n_lost;
  g_mutex_unlock(&host->lock);
}

void
cnv_cuda_host_forget(CudaSession *self, guint64 done, guint64 number)
{
  CudaHost *host = &self->host;

  g_mutex_lock(&host->lock);
  for (CudaFlight *f = host->flight; f < host->flight + CNV_FLIGHTS_MAX; f++) {
    number = MAX(number, f->frame);
    f->frame = 0;
  }
  done = MIN(done, host->n_done);
  if (number > done) {
    host->n_lost += number - done;
    host->n_done = host->last_lost = number;
  }
  g_mutex_unlock(&host->lock);
}

static void
destroy_event(CudaSession *self, CUevent event)
{
  if (event)
    self->cu->cuEventDestroy(event);
}

static void
close_flight(CudaSession *self, CudaFlight *flight)
{
  cnv_cuda_free(self, &flight->in);
  cnv_cuda_free(self, &flight->out);
  free_staging(self, &flight->staged_in);
  free_staging(self, &flight->staged_out);
  destroy_event(self, flight->done);
  for (int k = 0; k < CNV_SLICES_MAX; k++)
    destroy_event(self, flight->landed[k]);
}

void
cnv_cuda_host_close(CudaSession *self)
{
  CudaHost *host = &self->host;

  for (int i = 0; i < CNV_FLIGHTS_MAX; i++)
    close_flight(self, &host->flight[i]);
  free_staging(self, &host->kept);
  destroy_event(self, host->unstaged);
  if (host->up)
    self->cu->cuStreamDestroy(host->up);
  if (host->down)
    self->cu->cuStreamDestroy(host->down);
}
