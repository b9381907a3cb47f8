/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The CUDA engine. A session owns a module, and with it constant memory for its own taps, a stream, and device buffers;
 * all live as long as frame size and device stay the same. In the steady state a frame allocates nothing and waits only
 * for its own stream.
 */
#include <string.h>

#include "gpu/choice.h"
#include "gpu/scheduler.h"
#include "gpu/session.h"

/* The build makes it from kernels.cu. */
extern const unsigned char cnv_kernels_fatbin[];

extern const CnvBackend cnv_backend_cuda;

/* Times one frame in 16: an event costs about a microsecond of GPU time. */
#define TIMED_FRAME_EVERY 16

static gboolean
cuda_probe(int device, GError **error)
{
  const CnvDriver *cu = cnv_driver_get(error);

  if (cu && device >= cu->n_devices)
    g_set_error(error, CNV_ERROR, CNV_ERROR_NO_DEVICE, "cuda-device-id %d: this machine has %d GPU%s, numbered from 0",
                device, cu->n_devices, cu->n_devices == 1 ? "" : "s");
  return cu && device < cu->n_devices;
}

/* Returns TRUE if addresses and strides are multiples of the samples' size, as kernels read them. */
static gboolean
check_alignment(const CnvImage *image, const CnvFrame *frame, GError **error)
{
  int bytes = image->format->sample_bytes;

  for (int m = 0; m < cnv_format_n_frame_planes(image->format) && frame->memory == CNV_MEMORY_DEVICE; m++) {
    guintptr either = (guintptr)frame->data[m] | (guintptr)frame->stride[m];

    if (either % bytes != 0)
      return cnv_unsupported(
          error,
          "plane %d of a %s frame in device memory has an address or a stride (%d) that is not a multiple of %d: "
          "allocate it aligned",
          m, image->format->name, frame->stride[m], bytes);
  }
  return TRUE;
}

/* Returns the layout of the planes (bits) that are staged as float32, without the other planes. */
static CnvLayout
staged_layout(const CnvPlan *plan, guint staged)
{
  CnvLayout layout = {.size = 0};

  for (int p = 0; p < plan->n_planes; p++)
    if (staged >> p & 1)
      cnv_layout_add(&layout, p, plan->plane[p].width * plan->plane[p].channels * (int)sizeof(float),
                     plan->plane[p].height);
  return layout;
}

static gboolean
upload(CudaSession *self, const GByteArray *arrays, CudaBuffer *to, const char *doing, GError **error)
{
  return cnv_cuda_reserve(self, to, FALSE, arrays->len, error) &&
         (arrays->len == 0 ||
          CHECK(self, cuMemcpyHtoDAsync(to->address, arrays->data, arrays->len, self->stream), doing, error));
}

/* Stores the names of the methods that filter the largest job of each plane (CnvSessionStats). */
static void
name_methods(CudaSession *self)
{
  const CnvSchedule *schedule = &self->schedule;
  gint64 largest[CNV_MAX_PLANES] = {0};

  memset(self->base.stats.method, 0, sizeof(self->base.stats.method));
  for (guint i = 0; i < schedule->work.jobs->len; i++) {
    const CnvJob *job = &g_array_index(schedule->work.jobs, CnvJob, i);
    gint64 size = (gint64)job->width * job->height;

    if (size > largest[job->plane]) {
      largest[job->plane] = size;
      self->base.stats.method[job->plane] = cnv_schedule_method(schedule, job);
    }
  }
}

/* Sets plans and work if they changed. New taps follow earlier frames on the stream, so no frame sees half of them.
 * With several constant banks, taps wait in device memory until their bank is loaded. After a failure the caller
 * forgets the plans. */
static gboolean
set_work(CudaSession *self, const CnvWork *work, gboolean in_place, GError **error)
{
  CnvSchedule *schedule = &self->schedule;
  const CnvPlan *plan = work->plan[0];

  if (!cnv_schedule_set_work(schedule, work, in_place))
    return TRUE;
  if (schedule->has_new_plans) {
    self->loaded_bank = -1;
    self->layout = plan->layout;
  }
  self->staged = staged_layout(plan, schedule->staged);
  name_methods(self);
  self->base.stats.planned++;
  self->base.stats.crowd = MAX(self->base.stats.crowd, schedule->work.crowd);
  /* For the largest possible number of staged frames, so that only the first call allocates. Averages over time are
   * one. */
  return (!schedule->has_new_taps ||
          upload(self, schedule->plan_arrays, &self->plan_arrays, "uploading the taps", error)) &&
         (!schedule->has_new_masks ||
          upload(self, schedule->work.mask_cells, &self->mask_cells, "uploading the masks", error)) &&
         cnv_cuda_reserve(self, &self->sums, FALSE, schedule->sums_size, error) &&
         cnv_cuda_reserve(self, &self->decimated, FALSE, schedule->decimated_size, error) &&
         cnv_cuda_reserve(self, &self->staged_in, FALSE,
                          self->staged.size * (schedule->averages ? 1 : (guint)plan->n_temporal_taps), error) &&
         cnv_cuda_reserve(self, &self->staged_out, FALSE, self->staged.size, error) &&
         cnv_cuda_reserve(self, &self->coverage, FALSE, schedule->work.coverage_size, error) &&
         cnv_cuda_prepare_at_once(self, error) &&
         upload(self, schedule->work_arrays, &self->work_arrays, "uploading the work", error) &&
         cnv_cuda_cover(self, error);
}

static gboolean
submit_frame(CudaSession *self, const CnvWork *work, const CnvFrame *in, const CnvFrame *out, GError **error)
{
  const CnvImage *image = &work->plan[0]->image;
  gboolean uploads = in->memory == CNV_MEMORY_HOST, downloads = out->memory == CNV_MEMORY_HOST;
  const CnvFrame *from = in->memory == CNV_MEMORY_HISTORY ? &self->history.frame[in->slot] : in;

  if (!check_alignment(image, in, error) || !check_alignment(image, out, error) ||
      !set_work(self, work, !uploads && !downloads && from->data[0] == out->data[0], error))
    return FALSE;
  if (uploads || downloads)
    return cnv_cuda_start_frame(self, work, in, out, error);
  return cnv_cuda_filter(self, work, from, out, error);
}

static gboolean
cuda_submit(CnvSession *session, const CnvWork *work, const CnvFrame *in, const CnvFrame *out, GError **error)
{
  CudaSession *self = (CudaSession *)session;
  gboolean due = session->n_submitted % TIMED_FRAME_EVERY == 0, ok;

  if (!CHECK(self, cuCtxPushCurrent(self->context), "entering the CUDA context", error))
    return FALSE;
  ok = !due || cnv_cuda_read_times(self, error);
  cnv_cuda_frames_count(self, 0);
  self->marking = due && !self->marked;
  ok = ok && submit_frame(self, work, in, out, error);
  if (!ok) {
    /* The work that was started before the failure must be over before the caller reuses its memory. */
    cnv_cuda_sync_streams(self);
    g_ptr_array_set_size(self->schedule.plans, 0);
    g_ptr_array_set_size(self->schedule.work.masks, 0);
    if (self->marking)
      self->marked = 0;
  }
  self->marking = FALSE;
  self->busy |= ok;
  self->cu->cuCtxPopCurrent(NULL);
  return ok;
}

/* Lets one stream wait for the work that is now queued on another. */
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

/* The driver keeps streams and events until they are no longer in use. */
static void
release(CudaSession *self)
{
  CudaBuffer *buffers[] = {
      &self->scratch,     &self->readers,    &self->sums,          &self->decimated,    &self->plan_arrays,
      &self->work_arrays, &self->mask_cells, &self->coverage,      &self->staged_in,    &self->staged_out,
      &self->noise.state, &self->noise.seen, &self->history.slots, &self->history.rows, &self->history.upload.staging};
  const CUevent events[] = {self->order, self->history.unstaged, self->history.rows_done};
  const CUstream streams[] = {self->own_stream, self->host.up, self->host.down};

  if (!cnv_session_is_lost(&self->base))
    cnv_cuda_forget_textures(self);
  cnv_cuda_give_device_back(self);
  for (gsize i = 0; i < G_N_ELEMENTS(buffers); i++)
    cnv_cuda_free(self, buffers[i]);
  cnv_cuda_frames_close(self);
  for (int m = 0; m < 2 * N_SPANS; m++)
    if (self->mark[m / 2][m % 2])
      self->cu->cuEventDestroy(self->mark[m / 2][m % 2]);
  for (gsize i = 0; i < G_N_ELEMENTS(events); i++)
    if (events[i])
      self->cu->cuEventDestroy(events[i]);
  for (gsize i = 0; i < G_N_ELEMENTS(streams); i++)
    if (streams[i])
      self->cu->cuStreamDestroy(streams[i]);
  if (self->module && !cnv_session_is_lost(&self->base))
    self->cu->cuModuleUnload(self->module);
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
  g_hash_table_unref(self->functions);
  g_clear_pointer(&self->maps, g_hash_table_unref);
  g_free(self->history.frame);
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
  CUstream *streams[] = {&self->own_stream, &self->host.up, &self->host.down};
  CUevent *events[] = {&self->order, &self->history.unstaged, &self->history.rows_done};
  char name[128] = "";
  int n_processors = 0, shared = 0;
  gsize size;

  if (!CHECK(self, cuCtxGetDevice(&self->device), "asking for the GPU", error) ||
      !CHECK(self, cuDeviceGetName(name, sizeof(name), self->device), "asking for the GPU's name", error) ||
      !CHECK(self, cuDeviceGetAttribute(&n_processors, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, self->device),
             "asking for the GPU's size", error) ||
      !CHECK(self,
             cuDeviceGetAttribute(&shared, CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR, self->device),
             "asking for the GPU's shared memory", error) ||
      !cnv_driver_capability(self->cu, self->device, &self->capability, error))
    return FALSE;
  self->schedule.n_processors = (guint)n_processors;
  self->schedule.processor_shared = (guint)shared;
  self->base.device_name = g_strdup(name);
  if (!CHECK(self, cuModuleLoadData(&self->module, cnv_kernels_fatbin), "loading the kernels (" CNV_CUDA_ARCHS ")",
             error) ||
      !CHECK(self, cuModuleGetGlobal(&self->taps, &size, self->module, CNV_CONSTANT_SYMBOL), "finding the taps",
             error) ||
      !CHECK(self, cuModuleGetFunction(&self->copy, self->module, "cnv_copy"), "finding cnv_copy", error) ||
      !CHECK(self, cuModuleGetFunction(&self->copy_jobs, self->module, "cnv_copy_jobs"), "finding cnv_copy_jobs",
             error) ||
      !CHECK(self, cuModuleGetFunction(&self->measure_noise, self->module, "cnv_noise"), "finding cnv_noise", error) ||
      !CHECK(self, cuModuleGetFunction(&self->cover, self->module, "cnv_cover"), "finding cnv_cover", error))
    return FALSE;
  for (gsize i = 0; i < G_N_ELEMENTS(streams); i++)
    if (!CHECK(self, cuStreamCreate(streams[i], CU_STREAM_NON_BLOCKING), "making a stream", error))
      return FALSE;
  for (gsize i = 0; i < G_N_ELEMENTS(events); i++)
    if (!CHECK(self, cuEventCreate(events[i], CU_EVENT_DISABLE_TIMING), "making an event", error))
      return FALSE;
  for (int m = 0; m < 2 * N_SPANS; m++)
    if (!CHECK(self, cuEventCreate(&self->mark[m / 2][m % 2], CU_EVENT_DEFAULT), "making an event", error))
      return FALSE;
  self->stream = self->own_stream;
  return TRUE;
}

static CnvSession *
cuda_open(const CnvSessionOptions *options, GError **error)
{
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
                            .wait = cnv_cuda_wait,
                            .wait_for_frame = cnv_cuda_wait_for_frame,
                            .use_stream = cuda_use_stream,
                            .order = cuda_order,
                            .close = cuda_close};
  self->cu = cnv_driver_get(NULL);
  g_mutex_init(&self->host.waiting);
  g_mutex_init(&self->host.lock);
  cnv_schedule_init(&self->schedule);
  self->functions = g_hash_table_new(NULL, NULL);
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

static void *
cuda_alloc_pinned(void *context, gsize size)
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

static void
cuda_free_pinned(void *context, void *memory)
{
  const CnvDriver *cu = cnv_driver_get(NULL);

  if (!cnv_driver_enter_at_last(cu, context))
    return;
  cu->cuMemFreeHost(memory);
  cu->cuCtxPopCurrent(NULL);
}

const CnvBackend cnv_backend_cuda = {
    .name = "cuda",
    .blurb = "An NVIDIA GPU, or an error",
    .takes_device_memory = TRUE,
    .max_in_flight = CNV_IN_FLIGHT_MAX,
    .dense_taps = 49, /* 4K NV12 on an H200: 7x7 119 us, two terms 146; NOTES.md */
    .probe = cuda_probe,
    .can = cnv_cuda_can,
    .choose = cnv_cuda_choose,
    .alloc_pinned = cuda_alloc_pinned,
    .free_pinned = cuda_free_pinned,
    .open = cuda_open,
};
