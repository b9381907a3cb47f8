/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gpu/session.h"

/* ---- streams ---- */

gboolean
cnv_cuda_wait_for_stream(CudaSession *self, CUstream stream, CUstream other, GError **error)
{
  return stream == other || (CHECK(self, cuEventRecord(self->order, other), "marking a stream", error) &&
                             CHECK(self, cuStreamWaitEvent(stream, self->order, 0), "joining streams", error));
}

void
cnv_cuda_sync_streams(CudaSession *self)
{
  CUstream stream;

  g_mutex_lock(&self->host.lock);
  stream = self->stream;
  g_mutex_unlock(&self->host.lock);
  self->cu->cuStreamSynchronize(self->host.up);
  self->cu->cuStreamSynchronize(stream);
  self->cu->cuStreamSynchronize(self->host.down);
}

/* ---- counting ---- */

static void
set_done(CudaSession *self, FrameInFlight *frame)
{
  g_mutex_lock(&self->host.lock);
  self->host.count.done = MAX(self->host.count.done, frame->number);
  frame->number = 0;
  g_mutex_unlock(&self->host.lock);
}

void
cnv_cuda_frames_count(CudaSession *self, guint64 number)
{
  g_mutex_lock(&self->host.lock);
  self->host.count.done = MAX(self->host.count.done, number);
  self->base.stats.frames = self->host.count.done - self->host.count.n_lost;
  g_mutex_unlock(&self->host.lock);
}

void
cnv_cuda_frames_forget(CudaSession *self, guint64 done, guint64 number)
{
  g_mutex_lock(&self->host.lock);
  for (FrameInFlight *f = self->host.frames; f < self->host.frames + CNV_IN_FLIGHT_MAX; f++) {
    number = MAX(number, f->number);
    f->number = 0;
  }
  done = MIN(done, self->host.count.done);
  if (number > done) {
    self->host.count.n_lost += number - done;
    self->host.count.done = self->host.count.last_lost = number;
  }
  g_mutex_unlock(&self->host.lock);
}

static gboolean
check_not_lost(CudaSession *self, guint64 number, GError **error)
{
  gboolean lost;

  g_mutex_lock(&self->host.lock);
  lost = number <= self->host.count.last_lost;
  g_mutex_unlock(&self->host.lock);
  if (lost)
    g_set_error_literal(error, CNV_ERROR, CNV_ERROR_DEVICE, "the frame was lost with one before it that failed");
  return !lost;
}

/* ---- out ---- */

/* NULL: no frame up to that number is in flight. */
static FrameInFlight *
oldest_frame(CudaSession *self, guint64 number)
{
  FrameInFlight *oldest = NULL;

  g_mutex_lock(&self->host.lock);
  for (FrameInFlight *f = self->host.frames; f < self->host.frames + CNV_IN_FLIGHT_MAX; f++)
    if (f->number > 0 && f->number <= number && (!oldest || f->number < oldest->number))
      oldest = f;
  g_mutex_unlock(&self->host.lock);
  return oldest;
}

/* Brings what is staged to the frame's own memory, slice by slice. */
static gboolean
complete(CudaSession *self, FrameInFlight *frame, GError **error)
{
  const Transfer *down = &frame->down;

  for (int k = 0; k < down->slices.n && down->staged; k++) {
    if (!CHECK(self, cuEventSynchronize(frame->downloaded[k]), "filtering a frame", error))
      return FALSE;
    cnv_cuda_transfer_copy_staged(self, down, k);
  }
  if (!CHECK(self, cuEventSynchronize(frame->done), "filtering a frame", error))
    return FALSE;
  set_done(self, frame);
  return TRUE;
}

gboolean
cnv_cuda_complete(CudaSession *self, guint64 number, GError **error)
{
  FrameInFlight *oldest;

  while ((oldest = oldest_frame(self, number)))
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
  if (oldest_frame(self, number)) {
    ok = CHECK(self, cuCtxPushCurrent(self->context), "entering the CUDA context", error);
    if (ok || cnv_driver_enter_at_last(self->cu, self->context)) {
      ok = ok && cnv_cuda_complete(self, number, error);
      if (!ok)
        cnv_cuda_sync_streams(self);
      self->cu->cuCtxPopCurrent(NULL);
    }
    if (!ok)
      cnv_cuda_frames_forget(self, G_MAXUINT64, 0);
  }
  g_mutex_unlock(&self->host.waiting);
  return ok && check_not_lost(self, number, error);
}

/* ---- in ---- */

static gboolean
make_events(CudaSession *self, FrameInFlight *frame, GError **error)
{
  for (int k = 0; k < CNV_SLICES_MAX; k++)
    if (!frame->downloaded[k] &&
        !CHECK(self, cuEventCreate(&frame->downloaded[k], CU_EVENT_DISABLE_TIMING), "making an event", error))
      return FALSE;
  return frame->done || CHECK(self, cuEventCreate(&frame->done, CU_EVENT_DISABLE_TIMING), "making an event", error);
}

static FrameInFlight *
find_free(CudaSession *self)
{
  FrameInFlight *frame = self->host.frames;

  g_mutex_lock(&self->host.lock);
  while (frame < self->host.frames + CNV_IN_FLIGHT_MAX && frame->number > 0)
    frame++;
  g_mutex_unlock(&self->host.lock);
  return frame < self->host.frames + CNV_IN_FLIGHT_MAX ? frame : NULL;
}

/* NULL where it could not be made. */
static FrameInFlight *
next_frame(CudaSession *self, GError **error)
{
  FrameInFlight *frame = find_free(self);
  gboolean ok = TRUE;

  if (!frame) {
    g_mutex_lock(&self->host.waiting);
    frame = oldest_frame(self, G_MAXUINT64);
    ok = !frame || complete(self, frame, error);
    g_mutex_unlock(&self->host.waiting);
    frame = find_free(self);
  }
  return ok && make_events(self, frame, error) ? frame : NULL;
}

static gboolean
download_slice(CudaSession *self, const FrameInFlight *frame, int k, GError **error)
{
  const Transfer *down = &frame->down;

  return cnv_cuda_transfer_slice(self, down, k, error) &&
         (!down->staged || CHECK(self, cuEventRecord(frame->downloaded[k], down->stream), "marking a download", error));
}

/* A side that is in device memory has no slices to copy. Where kernels run once they do so between the last slice's
 * upload and the first one's download. */
static gboolean
run(CudaSession *self, const CnvWork *work, FrameInFlight *frame, GError **error)
{
  CUstream up = frame->up.stream, down = frame->down.stream;
  gboolean once = self->schedule.slices.single_launch;
  int n = self->schedule.slices.n, n_down = 0;

  for (int k = 0; k < n; k++) {
    if (!cnv_cuda_transfer_slice(self, &frame->up, k, error))
      return FALSE;
    if (once && k < n - 1)
      continue;
    if (!cnv_cuda_wait_for_stream(self, self->stream, up, error) ||
        !cnv_cuda_filter(self, work, k, &frame->from, &frame->to, error) ||
        !cnv_cuda_wait_for_stream(self, down, self->stream, error))
      return FALSE;
    for (; n_down <= k; n_down++)
      if (!download_slice(self, frame, n_down, error))
        return FALSE;
  }
  return TRUE;
}

/* In slices, planes that no kernel writes are downloaded from where they were uploaded to. */
static CnvFrame
filtered_frame(const CudaSession *self, const CnvWork *work, const FrameInFlight *frame)
{
  guint copied = self->schedule.slices.single_launch ? 0 : cnv_cuda_copied_memories(work);
  CnvFrame filtered = frame->to;

  for (int m = 0; m < CNV_MAX_PLANES; m++)
    if (copied >> m & 1) {
      filtered.data[m] = frame->from.data[m];
      filtered.stride[m] = frame->from.stride[m];
    }
  return filtered;
}

/* One slice of a frame that is alone goes by the session's stream, like all else; else uploads and downloads have their
 * own. */
static void
set_transfer(CudaSession *self, Transfer *transfer, gboolean upload, const CnvWork *work, const CnvFrame *host,
             const CnvFrame *device)
{
  const CnvSlices *slices = &self->schedule.slices;
  gboolean overlaps = slices->n > 1 || oldest_frame(self, G_MAXUINT64);

  *transfer = (Transfer){.upload = upload, .staging = transfer->staging, .stream = self->stream};
  if (host->memory != CNV_MEMORY_HOST)
    return;
  transfer->layout = work->plan[0]->layout;
  transfer->host = *host;
  transfer->device = *device;
  transfer->slices = *slices;
  transfer->timed = TRUE;
  transfer->overlaps = work->overlaps;
  if (overlaps)
    transfer->stream = upload ? self->host.up : self->host.down;
  cnv_cuda_transfer_stage(self, transfer);
}

/* `in` is uploaded as soon as its stream gets to it: nothing in flight touches its memory on the device. */
static gboolean
start(CudaSession *self, const CnvWork *work, const CnvFrame *in, const CnvFrame *out, FrameInFlight *frame,
      GError **error)
{
  CnvFrame filtered;

  if (!cnv_cuda_device_frame(self, in, &frame->in, &frame->from, error) ||
      !cnv_cuda_device_frame(self, out, &frame->out, &frame->to, error))
    return FALSE;
  filtered = filtered_frame(self, work, frame);
  set_transfer(self, &frame->up, TRUE, work, in, &frame->from);
  set_transfer(self, &frame->down, FALSE, work, out, &filtered);
  return run(self, work, frame, error) &&
         CHECK(self, cuEventRecord(frame->done, frame->down.stream), "marking a frame", error);
}

gboolean
cnv_cuda_start_frame(CudaSession *self, const CnvWork *work, const CnvFrame *in, const CnvFrame *out, GError **error)
{
  FrameInFlight *frame = next_frame(self, error);

  if (!frame || !start(self, work, in, out, frame, error))
    return FALSE;
  g_mutex_lock(&self->host.lock);
  frame->number = self->base.n_submitted + 1;
  g_mutex_unlock(&self->host.lock);
  return TRUE;
}

/* ---- the session ---- */

gboolean
cnv_cuda_frames_open(CudaSession *self, GError **error)
{
  return CHECK(self, cuStreamCreate(&self->host.up, CU_STREAM_NON_BLOCKING), "making a stream", error) &&
         CHECK(self, cuStreamCreate(&self->host.down, CU_STREAM_NON_BLOCKING), "making a stream", error);
}

void
cnv_cuda_destroy_event(CudaSession *self, CUevent event)
{
  if (event)
    self->cu->cuEventDestroy(event);
}

static void
free_frame(CudaSession *self, FrameInFlight *frame)
{
  cnv_cuda_free(self, &frame->in);
  cnv_cuda_free(self, &frame->out);
  cnv_cuda_free(self, &frame->up.staging);
  cnv_cuda_free(self, &frame->down.staging);
  cnv_cuda_destroy_event(self, frame->done);
  for (int k = 0; k < CNV_SLICES_MAX; k++)
    cnv_cuda_destroy_event(self, frame->downloaded[k]);
}

void
cnv_cuda_frames_close(CudaSession *self)
{
  for (int i = 0; i < CNV_IN_FLIGHT_MAX; i++)
    free_frame(self, &self->host.frames[i]);
  if (self->host.up)
    self->cu->cuStreamDestroy(self->host.up);
  if (self->host.down)
    self->cu->cuStreamDestroy(self->host.down);
}
