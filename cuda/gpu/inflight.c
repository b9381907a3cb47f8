/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gpu/session.h"

/* ---- counting ---- */

void
cnv_cuda_frames_count(CudaSession *self, guint64 number)
{
  g_mutex_lock(&self->host.lock);
  self->host.count.done = MAX(self->host.count.done, number);
  self->base.stats.frames = self->host.count.done - self->host.count.n_lost;
  g_mutex_unlock(&self->host.lock);
}

/* Marks all frames in flight as lost, and those after `done` and up to `number`. */
static void
forget_frames(CudaSession *self, guint64 done, guint64 number)
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

/* ---- out ---- */

/* Returns the frame with the lowest number from least to most, or NULL. Free frames have number 0. */
static FrameInFlight *
find_frame(CudaSession *self, guint64 least, guint64 most)
{
  FrameInFlight *found = NULL;

  g_mutex_lock(&self->host.lock);
  for (FrameInFlight *f = self->host.frames; f < self->host.frames + CNV_IN_FLIGHT_MAX; f++)
    if (f->number >= least && f->number <= most && (!found || f->number < found->number))
      found = f;
  g_mutex_unlock(&self->host.lock);
  return found;
}

/* Waits for a frame and copies it from staging memory to its own memory. Call with host.waiting held. */
static gboolean
complete(CudaSession *self, FrameInFlight *frame, GError **error)
{
  if (!CHECK(self, cuEventSynchronize(frame->done), "filtering a frame", error))
    return FALSE;
  cnv_cuda_transfer_copy_staged(self, &frame->down);
  g_mutex_lock(&self->host.lock);
  self->host.count.done = MAX(self->host.count.done, frame->number);
  frame->number = 0;
  g_mutex_unlock(&self->host.lock);
  return TRUE;
}

/* Waits for the frames up to a number; all: for everything that was started. Call with host.waiting held. */
static gboolean
wait_for(CudaSession *self, guint64 number, gboolean all, GError **error)
{
  guint64 done = all ? self->host.count.done : G_MAXUINT64;
  gboolean ok = CHECK(self, cuCtxPushCurrent(self->context), "entering the CUDA context", error);
  FrameInFlight *frame;

  if (ok || cnv_driver_enter_at_last(self->cu, self->context)) {
    while (ok && (frame = find_frame(self, 1, number)))
      ok = complete(self, frame, error);
    if (ok && all)
      ok = CHECK(self, cuStreamSynchronize(self->stream), "filtering a frame", error) &&
           cnv_cuda_read_times(self, error);
    if (!ok)
      cnv_cuda_sync_streams(self);
    self->cu->cuCtxPopCurrent(NULL);
  } else {
    g_atomic_int_set(&self->base.lost, TRUE);
  }
  if (!ok)
    forget_frames(self, done, all ? self->base.n_submitted : 0);
  return ok;
}

gboolean
cnv_cuda_wait_for_frame(CnvSession *session, guint64 number, GError **error)
{
  CudaSession *self = (CudaSession *)session;
  gboolean ok, lost;

  g_mutex_lock(&self->host.waiting);
  ok = !find_frame(self, 1, number) || wait_for(self, number, FALSE, error);
  g_mutex_unlock(&self->host.waiting);
  g_mutex_lock(&self->host.lock);
  lost = number <= self->host.count.last_lost;
  g_mutex_unlock(&self->host.lock);
  if (ok && lost)
    g_set_error_literal(error, CNV_ERROR, CNV_ERROR_DEVICE, "the frame was lost because an earlier frame failed");
  return ok && !lost;
}

/* Waits for all frames. If that fails, all frames in flight are lost, their memory goes back to the caller, and no
 * later frame waits for them. */
gboolean
cnv_cuda_wait(CnvSession *session, GError **error)
{
  CudaSession *self = (CudaSession *)session;
  gboolean ok;

  if (!self->busy)
    return TRUE;
  g_mutex_lock(&self->host.waiting);
  ok = wait_for(self, G_MAXUINT64, TRUE, error);
  cnv_cuda_frames_count(self, ok ? session->n_submitted : 0);
  if (!ok)
    self->marked = 0;
  self->busy = FALSE;
  g_mutex_unlock(&self->host.waiting);
  return ok;
}

/* ---- in ---- */

/* Returns a free frame with its event, or NULL if none could be freed. */
static FrameInFlight *
next_frame(CudaSession *self, GError **error)
{
  FrameInFlight *frame = find_frame(self, 0, 0);
  gboolean ok = TRUE;

  if (!frame) {
    g_mutex_lock(&self->host.waiting);
    frame = find_frame(self, 1, G_MAXUINT64);
    ok = !frame || complete(self, frame, error);
    g_mutex_unlock(&self->host.waiting);
    frame = find_frame(self, 0, 0);
  }
  if (ok && !frame->done)
    ok = CHECK(self, cuEventCreate(&frame->done, CU_EVENT_DISABLE_TIMING), "making an event", error);
  return ok ? frame : NULL;
}

/* Uploads, filters and downloads a frame. A frame in device memory is not copied. */
static gboolean
run(CudaSession *self, const CnvWork *work, const FrameInFlight *frame, GError **error)
{
  return cnv_cuda_transfer_start(self, &frame->up, error) &&
         cnv_cuda_wait_for_stream(self, self->stream, frame->up.stream, error) &&
         cnv_cuda_filter(self, work, &frame->from, &frame->to, error) &&
         cnv_cuda_wait_for_stream(self, frame->down.stream, self->stream, error) &&
         cnv_cuda_transfer_start(self, &frame->down, error);
}

/* Describes a frame's upload or download. If no other frame is in flight, it is on the session's stream; else uploads
 * and downloads have streams of their own. */
static void
set_transfer(CudaSession *self, Transfer *transfer, gboolean upload, const CnvWork *work, const CnvFrame *host,
             const CnvFrame *device)
{
  *transfer = (Transfer){.upload = upload, .staging = transfer->staging, .stream = self->stream};
  if (host->memory != CNV_MEMORY_HOST)
    return;
  transfer->layout = self->layout;
  transfer->host = *host;
  transfer->device = *device;
  transfer->overlaps = work->overlaps;
  if (find_frame(self, 1, G_MAXUINT64))
    transfer->stream = upload ? self->host.up : self->host.down;
  cnv_cuda_transfer_stage(self, transfer);
}

/* Starts a frame. `in` is uploaded as soon as its stream reaches the copy, because nothing in flight uses that memory
 * on the device. */
gboolean
cnv_cuda_start_frame(CudaSession *self, const CnvWork *work, const CnvFrame *in, const CnvFrame *out, GError **error)
{
  FrameInFlight *frame = next_frame(self, error);

  if (!frame || !cnv_cuda_device_frame(self, in, &frame->in, &frame->from, error) ||
      !cnv_cuda_device_frame(self, out, &frame->out, &frame->to, error))
    return FALSE;
  set_transfer(self, &frame->up, TRUE, work, in, &frame->from);
  set_transfer(self, &frame->down, FALSE, work, out, &frame->to);
  if (!run(self, work, frame, error) ||
      !CHECK(self, cuEventRecord(frame->done, frame->down.stream), "marking a frame", error))
    return FALSE;
  g_mutex_lock(&self->host.lock);
  frame->number = self->base.n_submitted + 1;
  g_mutex_unlock(&self->host.lock);
  return TRUE;
}

void
cnv_cuda_frames_close(CudaSession *self)
{
  for (FrameInFlight *f = self->host.frames; f < self->host.frames + CNV_IN_FLIGHT_MAX; f++) {
    CudaBuffer *buffers[] = {&f->in, &f->out, &f->up.staging, &f->down.staging};

    for (gsize i = 0; i < G_N_ELEMENTS(buffers); i++)
      cnv_cuda_free(self, buffers[i]);
    if (f->done)
      self->cu->cuEventDestroy(f->done);
  }
}
