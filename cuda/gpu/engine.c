/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The CUDA engine. A session owns a module, and with it constant memory for its own taps, a stream, and device buffers;
 * all live as long as frame size and device stay. In the steady state a frame allocates nothing and waits for nothing
 * but its own stream.
 */
#include "gpu/choice.h"
#include "gpu/session.h"
#include "gpu/range.h"

/* Made by the build from kernels.cu. */
extern const unsigned char cnv_kernels_fatbin[];

/* One frame in so many carries the marks: an event costs about a microsecond of the GPU's time. */
#define TIMED_FRAME_EVERY 16

static gboolean
cuda_probe(int device, GError **error)
{
  const CnvDriver *cu = cnv_driver_get(error);
  int count = 0;

  if (!cu || !cnv_driver_check(cu, cu->cuDeviceGetCount(&count), "cuDeviceGetCount", "counting the GPUs", error))
    return FALSE;
  if (device < count)
    return TRUE;
  g_set_error(error, CNV_ERROR, CNV_ERROR_NO_DEVICE, "cuda-device-id %d: this machine has %d GPU%s, numbered from 0",
              device, count, count == 1 ? "" : "s");
  return FALSE;
}

static gboolean
filter_on_device(CudaSession *self, const CnvWork *work, const CnvFrame *in, const CnvFrame *out, GError **error)
{
  const CnvFrame *from = in->memory == CNV_MEMORY_HISTORY ? &self->history.frame[in->slot] : in;

  return cnv_cuda_filter(self, work, self->schedule.slices.n - 1, from, out, error);
}

static gboolean
submit_frame(CudaSession *self, const CnvWork *work, const CnvFrame *in, const CnvFrame *out, GError **error)
{
  const CnvImage *image = &work->plan[0]->image;
  gboolean uploads = in->memory == CNV_MEMORY_HOST, downloads = out->memory == CNV_MEMORY_HOST;

  if (!cnv_cuda_check_alignment(image, in, error) || !cnv_cuda_check_alignment(image, out, error) ||
      !cnv_cuda_set_work(self, work, uploads && downloads, error))
    return FALSE;
  self->base.stats.slices = self->schedule.slices.single_launch ? 1 : self->schedule.slices.n;
  return (uploads || downloads ? cnv_cuda_start_frame : filter_on_device)(self, work, in, out, error);
}

static gboolean
cuda_submit(CnvSession *session, const CnvWork *work, const CnvFrame *in, const CnvFrame *out, GError **error)
{
  CudaSession *self = (CudaSession *)session;
  gboolean due = session->n_submitted % TIMED_FRAME_EVERY == 0, ok;

  if (!CHECK(self, cuCtxPushCurrent(self->context), "entering the CUDA context", error))
    return FALSE;
  ok = !due || cnv_cuda_poll_times(self, error);
  cnv_cuda_frames_count(self, 0);
  self->marking = due && !self->marked;
  ok = ok && submit_frame(self, work, in, out, error);
  if (!ok) {
    /* All that was started before the failure must be over before the caller takes its memory back. */
    cnv_cuda_sync_streams(self);
    g_ptr_array_set_size(self->schedule.plans, 0);
    if (self->marking)
      self->marked = 0;
  }
  self->busy |= ok;
  self->cu->cuCtxPopCurrent(NULL);
  return ok;
}

/* All frames, also those in device memory. */
static gboolean
finish_all(CudaSession *self, GError **error)
{
  if (!CHECK(self, cuStreamSynchronize(self->stream), "filtering a frame", error) || !cnv_cuda_read_times(self, error))
    return FALSE;
  cnv_cuda_frames_count(self, self->base.n_submitted);
  return TRUE;
}

/* After a wait that fails no frame is good, their memory goes back to the caller, and no later frame is held back. */
static gboolean
cuda_wait(CnvSession *session, GError **error)
{
  CudaSession *self = (CudaSession *)session;
  guint64 done;
  gboolean ok;

  if (!self->busy)
    return TRUE;
  g_mutex_lock(&self->host.waiting);
  done = self->host.count.done;
  ok = CHECK(self, cuCtxPushCurrent(self->context), "entering the CUDA context", error);
  if (ok || cnv_driver_enter_at_last(self->cu, self->context)) {
    ok = ok && cnv_cuda_complete(self, G_MAXUINT64, error) && finish_all(self, error);
    if (!ok)
      cnv_cuda_sync_streams(self);
    self->cu->cuCtxPopCurrent(NULL);
  }
  if (!ok) {
    cnv_cuda_frames_forget(self, done, session->n_submitted);
    cnv_cuda_frames_count(self, 0);
    self->marked = 0;
  }
  self->busy = FALSE;
  g_mutex_unlock(&self->host.waiting);
  return ok;
}

/* Has one stream wait for what another has to do now. */
static gboolean
order_streams(CudaSession *self, CUstream first, CUstream then, GError **error)
{
  gboolean ok;

  if (first == then)
    return TRUE;
  if (!CHECK(self, cuCtxPushCurrent(self->context), "entering the CUDA context", error))
    return FALSE;
  ok = cnv_cuda_wait_for_stream(self, then, first, error);
  self->cu->cuCtxPopCurrent(NULL);
  return ok;
}

static gboolean
cuda_use_stream(CnvSession *session, void *stream, GError **error)
{
  CudaSession *self = (CudaSession *)session;
  CUstream next = stream ? stream : self->own_stream;

  if (self->busy && !order_streams(self, self->stream, next, error))
    return FALSE;
  g_mutex_lock(&self->host.lock);
  self->stream = next;
  g_mutex_unlock(&self->host.lock);
  return TRUE;
}

static gboolean
cuda_order(CnvSession *session, void *stream, gboolean first, GError **error)
{
  CudaSession *self = (CudaSession *)session;

  return first ? order_streams(self, stream, self->stream, error) : order_streams(self, self->stream, stream, error);
}

static void
release(CudaSession *self)
{
  const CnvDriver *cu = self->cu;

  CudaBuffer *buffers[] = {&self->scratch,     &self->sums,      &self->plan_arrays,
                           &self->work_arrays, &self->staged_in, &self->staged_out};

  cnv_cuda_forget_textures(self);
  for (gsize i = 0; i < G_N_ELEMENTS(buffers); i++)
    cnv_cuda_free(self, buffers[i]);
  cnv_cuda_frames_close(self);
  cnv_cuda_history_close(self);
  for (int m = 0; m < 2 * N_SPANS; m++)
    cnv_cuda_destroy_event(self, self->mark[m / 2][m % 2]);
  cnv_cuda_destroy_event(self, self->order);
  if (self->own_stream)
    cu->cuStreamDestroy(self->own_stream);
  if (self->module)
    cu->cuModuleUnload(self->module);
}

static void
cuda_close(CnvSession *session)
{
  CudaSession *self = (CudaSession *)session;

  if (self->context && cnv_driver_enter_at_last(self->cu, self->context)) {
    release(self);
    self->cu->cuCtxPopCurrent(NULL);
  }
  cnv_team_free(self->host.team);
  g_mutex_clear(&self->host.waiting);
  g_mutex_clear(&self->host.lock);
  if (self->owns_context)
    self->cu->cuDevicePrimaryCtxRelease(self->device);
  cnv_schedule_clear(&self->schedule);
  for (gsize i = 0; i < G_N_ELEMENTS(self->functions); i++)
    g_hash_table_unref(self->functions[i]);
  g_clear_pointer(&self->maps, g_hash_table_unref);
  g_free(session->device_name);
  g_free(self);
}

static gboolean
enter_context(CudaSession *self, const CnvSessionOptions *options, GError **error)
{
  self->context = options->context;
  if (!self->context) {
    if (!CHECK(self, cuDeviceGet(&self->device, MAX(options->device, 0)), "choosing the GPU", error) ||
        !CHECK(self, cuDevicePrimaryCtxRetain(&self->context, self->device), "opening the GPU", error))
      return FALSE;
    self->owns_context = TRUE;
  }
  return CHECK(self, cuCtxPushCurrent(self->context), "entering the CUDA context", error);
}

static gboolean
make_resources(CudaSession *self, GError **error)
{
  char name[128] = "";
  int n_processors = 0;
  gsize size;

  if (!CHECK(self, cuCtxGetDevice(&self->device), "asking for the GPU", error) ||
      !CHECK(self, cuDeviceGetName(name, sizeof(name), self->device), "asking for the GPU's name", error) ||
      !CHECK(self, cuDeviceGetAttribute(&n_processors, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, self->device),
             "asking for the GPU's size", error) ||
      !cnv_driver_capability(self->cu, self->device, &self->capability, error))
    return FALSE;
  self->schedule.n_processors = (guint)n_processors;
  self->base.device_name = g_strdup(name);
  if (!CHECK(self, cuModuleLoadData(&self->module, cnv_kernels_fatbin), "loading the kernels (" CNV_CUDA_ARCHS ")",
             error) ||
      !CHECK(self, cuModuleGetGlobal(&self->taps, &size, self->module, CNV_CONSTANT_SYMBOL), "finding the taps",
             error) ||
      !CHECK(self, cuModuleGetFunction(&self->copy, self->module, "cnv_copy"), "finding cnv_copy", error) ||
      !CHECK(self, cuStreamCreate(&self->own_stream, CU_STREAM_NON_BLOCKING), "making a stream", error) ||
      !CHECK(self, cuEventCreate(&self->order, CU_EVENT_DISABLE_TIMING), "making an event", error))
    return FALSE;
  self->stream = self->own_stream;
  for (int m = 0; m < 2 * N_SPANS; m++)
    if (!CHECK(self, cuEventCreate(&self->mark[m / 2][m % 2], CU_EVENT_DEFAULT), "making an event", error))
      return FALSE;
  return cnv_cuda_frames_open(self, error) && cnv_cuda_history_open(self, error);
}

static CnvSession *
cuda_open(const CnvSessionOptions *options, GError **error)
{
  extern const CnvBackend cnv_backend_cuda;
  CudaSession *self;
  gboolean ok;

  if (!cuda_probe(options->device, error))
    return NULL;
  self = g_new0(CudaSession, 1);
  self->base = (CnvSession){.backend = &cnv_backend_cuda,
                            .submit = cuda_submit,
                            .history_alloc = cnv_cuda_history_alloc,
                            .history_push = cnv_cuda_history_push,
                            .wait_for_rows = cnv_cuda_wait_for_rows,
                            .wait = cuda_wait,
                            .wait_for_frame = cnv_cuda_wait_for_frame,
                            .use_stream = cuda_use_stream,
                            .order = cuda_order,
                            .close = cuda_close};
  self->cu = cnv_driver_get(NULL);
  g_mutex_init(&self->host.waiting);
  g_mutex_init(&self->host.lock);
  cnv_schedule_init(&self->schedule);
  for (gsize i = 0; i < G_N_ELEMENTS(self->functions); i++)
    self->functions[i] = g_hash_table_new(NULL, NULL);
  ok = enter_context(self, options, error);
  if (ok) {
    ok = make_resources(self, error);
    self->cu->cuCtxPopCurrent(NULL);
  }
  if (ok)
    return &self->base;
  cuda_close(&self->base);
  return NULL;
}

extern const CnvBackend cnv_backend_cuda;
const CnvBackend cnv_backend_cuda = {
    .name = "cuda",
    .blurb = "An NVIDIA GPU, or an error",
    .takes_device_memory = TRUE,
    .max_in_flight = CNV_IN_FLIGHT_MAX,
    .dense_taps = 49, /* 4K NV12 on an H200: 7x7 119 us, two terms 146; NOTES.md */
    .probe = cuda_probe,
    .can = cnv_cuda_can,
    .choose = cnv_cuda_choose,
    .alloc_pinned = cnv_cuda_alloc_pinned,
    .free_pinned = cnv_cuda_free_pinned,
    .open = cuda_open,
};
