/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The CUDA engine. A session owns a module, and with it constant memory for its own taps, a stream, and device buffers;
 * all live as long as frame size and device stay. A frame allocates nothing and waits for nothing but its own stream.
 */
#include <string.h>

#include "cuda_engine.h"
#include "kernels.h"

/* Made by the build from kernels.cu. */
extern const unsigned char cnv_kernels_fatbin[];

typedef enum { KERNEL_NAIVE, KERNEL_TILED, KERNEL_ROWS, KERNEL_COLUMNS, N_KERNELS } Kernel;
static const char *const kernel_name[N_KERNELS] = {"naive", "tiled", "rows", "columns"};

/* Moments of a frame that are timed: before upload, kernels and download, and the end. */
enum { MARK_UPLOAD, MARK_COMPUTE, MARK_DOWNLOAD, MARK_END, N_MARKS };

/* One frame in so many carries the marks: an event costs about a microsecond of the GPU's time. */
#define TIMED_FRAME_EVERY 16

typedef struct {
  CUdeviceptr address;
  gsize size;
} DeviceBuffer;

/* Where the planes of a host frame lie in a device buffer. */
typedef struct {
  int pitch[CNV_MAX_PLANES];
  gsize offset[CNV_MAX_PLANES];
  gsize size;
} FrameLayout;

typedef struct {
  CnvSession base;
  const CnvDriver *cu;
  CUcontext context;
  CUdevice device;
  gboolean owns_context;
  CUmodule module;
  CUfunction function[N_KERNELS][2][CNV_MAX_CHANNELS]; /* by sample bytes - 1 and channels - 1; NULL until used */
  CUfunction copy;
  CUdeviceptr taps;
  CUstream stream;
  CUevent mark[N_MARKS];
  gboolean marking, marked; /* this frame is being timed; its marks wait to be read */
  double timed_us[N_MARKS - 1];
  guint64 n_timed, n_pending;
  CnvPlan *plan; /* its taps are in constant memory */
  FrameLayout layout;
  DeviceBuffer in, out, sums;
} CudaSession;

#define CHECK(self, call, doing, error) cnv_driver_check((self)->cu, (self)->cu->call, doing, error)

static gboolean
cuda_probe(int device, GError **error)
{
  const CnvDriver *cu = cnv_driver_get(error);
  int count = 0;

  if (!cu || !cnv_driver_check(cu, cu->cuDeviceGetCount(&count), "counting the GPUs", error))
    return FALSE;
  if (device < count)
    return TRUE;
  g_set_error(error, CNV_ERROR, CNV_ERROR_NO_DEVICE, "cuda-device-id %d: this machine has %d GPU%s, numbered from 0",
              device, count, count == 1 ? "" : "s");
  return FALSE;
}

static gboolean
cuda_can(CnvAlgorithm algorithm, const CnvPlan *plan, const CnvPlanePlan *plane, GError **error)
{
  if (plan->n_taps > CNV_CONSTANT_TAPS) {
    g_set_error(error, CNV_ERROR, CNV_ERROR_UNSUPPORTED,
                "the filter takes %u numbers of constant memory, with the taps for chroma; a GPU has %d: shorten the "
                "kernel or use backend=cpu",
                plan->n_taps, CNV_CONSTANT_TAPS);
    return FALSE;
  }
  if (algorithm == CNV_ALGORITHM_SEPARABLE && !plane->taps.separable) {
    g_set_error(error, CNV_ERROR, CNV_ERROR_UNSUPPORTED, "the %dx%d taps are not a row times a column",
                plane->taps.n[CNV_X], plane->taps.n[CNV_Y]);
    return FALSE;
  }
  return TRUE;
}

static CnvAlgorithm
cuda_choose(const CnvPlan *plan, const CnvPlanePlan *plane)
{
  if (plane->taps.n[CNV_X] * plane->taps.n[CNV_Y] == 1)
    return CNV_ALGORITHM_NAIVE;
  return plane->taps.separable ? CNV_ALGORITHM_SEPARABLE : CNV_ALGORITHM_TILED;
}

static void
free_buffer(CudaSession *self, DeviceBuffer *buffer)
{
  if (buffer->address)
    self->cu->cuMemFree(buffer->address);
  *buffer = (DeviceBuffer){0};
}

/* Makes a buffer large enough; it only ever grows, so that changes back and forth cost nothing. */
static gboolean
reserve(CudaSession *self, DeviceBuffer *buffer, gsize size, GError **error)
{
  g_autofree char *doing = NULL;

  if (buffer->size >= size)
    return TRUE;
  free_buffer(self, buffer);
  doing = g_strdup_printf("allocating %" G_GSIZE_FORMAT " bytes on %s", size, self->base.device_name);
  if (!CHECK(self, cuMemAlloc(&buffer->address, size), doing, error))
    return FALSE;
  buffer->size = size;
  return TRUE;
}

static int
row_bytes(const CnvPlan *plan, int p)
{
  return plan->plane[p].width * plan->plane[p].channels * plan->image.format->sample_bytes;
}

static int
round_up(int value, int unit)
{
  return (value + unit - 1) / unit * unit;
}

static int
sums_stride(const CnvPlanePlan *plane)
{
  return round_up(plane->width * plane->channels, CNV_COLUMNS_WIDTH);
}

static FrameLayout
make_layout(const CnvPlan *plan)
{
  FrameLayout layout = {.size = 0};

  for (int p = 0; p < plan->image.format->n_planes; p++) {
    layout.pitch[p] = round_up(row_bytes(plan, p), 256);
    layout.offset[p] = layout.size;
    layout.size += (gsize)layout.pitch[p] * plan->plane[p].height;
  }
  return layout;
}

static gsize
sums_size(const CnvPlan *plan)
{
  gsize size = 0;

  for (int p = 0; p < plan->image.format->n_planes; p++) {
    const CnvPlanePlan *plane = &plan->plane[p];

    if (plane->algorithm == CNV_ALGORITHM_SEPARABLE)
      size = MAX(size, sizeof(float) * sums_stride(plane) * plane->height);
  }
  return size;
}

/* Takes over a new plan: its taps follow the frames before it on the stream, so no frame sees half of them. */
static gboolean
set_plan(CudaSession *self, CnvPlan *plan, GError **error)
{
  if (self->plan == plan)
    return TRUE;
  if (!reserve(self, &self->sums, sums_size(plan), error))
    return FALSE;
  g_clear_pointer(&self->plan, cnv_plan_unref);
  if (!CHECK(self, cuMemcpyHtoDAsync(self->taps, plan->taps, sizeof(float) * plan->n_taps, self->stream),
             "uploading the taps", error))
    return FALSE;
  self->plan = cnv_plan_ref(plan);
  self->layout = make_layout(plan);
  return TRUE;
}

static gboolean
mark(CudaSession *self, int which, GError **error)
{
  return !self->marking || CHECK(self, cuEventRecord(self->mark[which], self->stream), "timing a frame", error);
}

static CUfunction
find_function(CudaSession *self, Kernel kernel, int sample_bytes, int channels, GError **error)
{
  CUfunction *function = &self->function[kernel][sample_bytes - 1][channels - 1];
  char name[32];

  if (*function)
    return *function;
  g_snprintf(name, sizeof(name), "cnv_%s_u%dx%d", kernel_name[kernel], sample_bytes * 8, channels);
  return CHECK(self, cuModuleGetFunction(function, self->module, name), name, error) ? *function : NULL;
}

typedef struct {
  guint x, y, z;
} Size3;

static gboolean
launch(CudaSession *self, CUfunction function, Size3 grid, Size3 block, guint shared_bytes, void *args, GError **error)
{
  void *list[] = {args};

  return CHECK(self,
               cuLaunchKernel(function, grid.x, grid.y, grid.z, block.x, block.y, block.z, shared_bytes, self->stream,
                              list, NULL),
               "starting a kernel", error);
}

static guint
blocks(int size, int of)
{
  return (guint)((size + of - 1) / of);
}

/* Size of a chunk where n taps are taken in equal parts of at most `most`. */
static int
chunk_of(int n, int most)
{
  return (int)blocks(n, (int)blocks(n, most));
}

static gboolean
run_kernel(CudaSession *self, Kernel kernel, int sample_bytes, int channels, CnvKernelArgs *args, GError **error)
{
  CUfunction function = find_function(self, kernel, sample_bytes, channels, error);
  int samples = args->width * channels, width = args->width, height = args->height;
  guint shared = 0;
  Size3 grid, block;

  if (!function)
    return FALSE;
  switch (kernel) {
  case KERNEL_NAIVE:
    block = (Size3){32, 8, 1};
    grid = (Size3){blocks(samples, 32), blocks(height, 8), 1};
    break;
  case KERNEL_TILED:
    args->chunk_x = chunk_of(args->n_x, CNV_TILED_CHUNK_X(channels));
    args->chunk_y = chunk_of(args->n_y, CNV_TILED_CHUNK_Y);
    block = (Size3){CNV_TILED_WIDTH, CNV_TILED_HEIGHT / CNV_OUTPUTS, 1};
    grid = (Size3){blocks(width, CNV_TILED_WIDTH / channels), blocks(height, CNV_TILED_HEIGHT), 1};
    shared = sizeof(float) * CNV_TILED_PITCH(channels, args->chunk_x) * (CNV_TILED_HEIGHT + args->chunk_y - 1);
    break;
  case KERNEL_ROWS:
    args->chunk_x = chunk_of(args->n_x, CNV_ROWS_CHUNK);
    block = (Size3){32 * CNV_ROWS_PER_BLOCK(channels) * channels, 1, 1};
    grid = (Size3){blocks(width, CNV_ROWS_PIXELS), blocks(height, CNV_ROWS_PER_BLOCK(channels)), 1};
    break;
  default:
    args->chunk_y = chunk_of(args->n_y, CNV_COLUMNS_CHUNK);
    block = (Size3){CNV_COLUMNS_WIDTH / 2, CNV_COLUMNS_HEIGHT / CNV_OUTPUTS, 1};
    grid = (Size3){blocks(samples, CNV_COLUMNS_WIDTH), blocks(height, CNV_COLUMNS_HEIGHT), 1};
    shared = sizeof(float) * CNV_COLUMNS_WIDTH * (CNV_COLUMNS_HEIGHT + args->chunk_y - 1);
  }
  return launch(self, function, grid, block, shared, args, error);
}

static CnvKernelArgs
make_args(const CudaSession *self, const CnvPlan *plan, int p, const CnvFrame *in, const CnvFrame *out)
{
  const CnvPlanePlan *plane = &plan->plane[p];
  const CnvTapSet *taps = &plane->taps;
  CnvKernelArgs args = {
      .in = (guintptr)in->data[p],
      .out = (guintptr)out->data[p],
      .sums = self->sums.address,
      .in_stride = in->stride[p],
      .out_stride = out->stride[p],
      .sums_stride = sums_stride(plane),
      .width = plane->width,
      .height = plane->height,
      .n_x = taps->n[CNV_X],
      .n_y = taps->n[CNV_Y],
      .anchor_x = taps->anchor[CNV_X],
      .anchor_y = taps->anchor[CNV_Y],
      .separable = taps->separable,
      .taps_x = taps->separable ? taps->axis[CNV_X] : taps->dense,
      .taps_y = taps->axis[CNV_Y],
      .sum_x = taps->sum[CNV_X],
      .sum_y = taps->sum[CNV_Y],
      .least_x = taps->least[CNV_X],
      .least_y = taps->least[CNV_Y],
      .border = plan->filter.border,
      .shift = plan->image.format->shift,
      .filtered = plane->filtered,
      .full_bits = (int)plan->full,
      .mid = plan->mid,
      .gain = plane->gain,
  };

  for (int ch = 0; ch < plane->channels; ch++) {
    args.base[ch] = (int)plane->base[ch];
    args.fraction[ch] = plane->fraction[ch];
    args.lowest[ch] = -plane->base[ch];
    args.highest[ch] = plan->full - plane->base[ch];
    args.border_value[ch] = plane->border[ch];
  }
  return args;
}

static gboolean
filter_plane(CudaSession *self, const CnvPlan *plan, int p, const CnvFrame *in, const CnvFrame *out, GError **error)
{
  const CnvPlanePlan *plane = &plan->plane[p];
  int bytes = plan->image.format->sample_bytes;
  CnvKernelArgs args = make_args(self, plan, p, in, out);

  switch (plane->algorithm) {
  case CNV_ALGORITHM_SEPARABLE:
    return run_kernel(self, KERNEL_ROWS, bytes, plane->channels, &args, error) &&
           run_kernel(self, KERNEL_COLUMNS, bytes, plane->channels, &args, error);
  case CNV_ALGORITHM_TILED:
    return run_kernel(self, KERNEL_TILED, bytes, plane->channels, &args, error);
  default:
    return run_kernel(self, KERNEL_NAIVE, bytes, plane->channels, &args, error);
  }
}

/* Copies the planes whose bit is set, in one launch. */
static gboolean
copy_planes(CudaSession *self, const CnvPlan *plan, guint which, const CnvFrame *in, const CnvFrame *out,
            GError **error)
{
  CnvCopyArgs args;
  int n = 0, bytes = 0, rows = 0;

  for (int p = 0; p < plan->image.format->n_planes; p++) {
    if (!(which >> p & 1))
      continue;
    args.plane[n++] = (CnvCopyPlane){(guintptr)in->data[p], (guintptr)out->data[p], in->stride[p],
                                     out->stride[p],        row_bytes(plan, p),     plan->plane[p].height};
    bytes = MAX(bytes, row_bytes(plan, p));
    rows = MAX(rows, plan->plane[p].height);
  }
  if (n == 0)
    return TRUE;
  return launch(self, self->copy, (Size3){blocks(bytes, 32 * CNV_COPY_BYTES), blocks(rows, 8), n}, (Size3){32, 8, 1}, 0,
                &args, error);
}

static gboolean
filter_frame(CudaSession *self, const CnvPlan *plan, const CnvFrame *in, const CnvFrame *out, GError **error)
{
  guint copied = 0;

  for (int p = 0; p < plan->image.format->n_planes; p++) {
    if (!plan->plane[p].filtered)
      copied |= 1u << p;
    else if (!filter_plane(self, plan, p, in, out, error))
      return FALSE;
  }
  return copy_planes(self, plan, copied, in, out, error);
}

/* Copies all planes between host and device; the driver stages host memory that is not page-locked. */
static gboolean
transfer(CudaSession *self, const CnvPlan *plan, const CnvFrame *from, const CnvFrame *to, guint64 *bytes,
         GError **error)
{
  gboolean up = from->memory == CNV_MEMORY_HOST;

  for (int p = 0; p < plan->image.format->n_planes; p++) {
    CUDA_MEMCPY2D copy = {
        .srcMemoryType = up ? CU_MEMORYTYPE_HOST : CU_MEMORYTYPE_DEVICE,
        .dstMemoryType = up ? CU_MEMORYTYPE_DEVICE : CU_MEMORYTYPE_HOST,
        .srcPitch = from->stride[p],
        .dstPitch = to->stride[p],
        .WidthInBytes = row_bytes(plan, p),
        .Height = plan->plane[p].height,
    };

    if (up) {
      copy.srcHost = from->data[p];
      copy.dstDevice = (guintptr)to->data[p];
    } else {
      copy.srcDevice = (guintptr)from->data[p];
      copy.dstHost = to->data[p];
    }
    if (!CHECK(self, cuMemcpy2DAsync(&copy, self->stream), up ? "uploading a frame" : "downloading a frame", error))
      return FALSE;
    *bytes += (guint64)copy.WidthInBytes * copy.Height;
  }
  return TRUE;
}

/* The frame itself where it is on the device, else a frame in the session's own buffer. */
static gboolean
device_frame(CudaSession *self, const CnvFrame *frame, DeviceBuffer *buffer, CnvFrame *on_device, GError **error)
{
  *on_device = *frame;
  if (frame->memory == CNV_MEMORY_DEVICE)
    return TRUE;
  if (!reserve(self, buffer, self->layout.size, error))
    return FALSE;
  on_device->memory = CNV_MEMORY_DEVICE;
  for (int p = 0; p < CNV_MAX_PLANES; p++) {
    on_device->data[p] = (void *)(guintptr)(buffer->address + self->layout.offset[p]);
    on_device->stride[p] = self->layout.pitch[p];
  }
  return TRUE;
}

/* 16-bit samples are read as such. */
static gboolean
check_alignment(const CnvPlan *plan, const CnvFrame *frame, GError **error)
{
  for (int p = 0; p < plan->image.format->n_planes; p++) {
    guintptr either = (guintptr)frame->data[p] | (guintptr)frame->stride[p];

    if (frame->memory == CNV_MEMORY_DEVICE && either % plan->image.format->sample_bytes != 0) {
      g_set_error(error, CNV_ERROR, CNV_ERROR_UNSUPPORTED,
                  "plane %d of a %s frame in device memory has an odd address or stride (%d): allocate it aligned", p,
                  plan->image.format->name, frame->stride[p]);
      return FALSE;
    }
  }
  return TRUE;
}

static gboolean
submit_frame(CudaSession *self, CnvPlan *plan, const CnvFrame *in, const CnvFrame *out, GError **error)
{
  CnvFrame from, to;

  if (!check_alignment(plan, in, error) || !check_alignment(plan, out, error) || !set_plan(self, plan, error) ||
      !device_frame(self, in, &self->in, &from, error) || !device_frame(self, out, &self->out, &to, error))
    return FALSE;
  if (!mark(self, MARK_UPLOAD, error) ||
      (in->memory == CNV_MEMORY_HOST && !transfer(self, plan, in, &from, &self->base.stats.bytes_uploaded, error)))
    return FALSE;
  if (!mark(self, MARK_COMPUTE, error) || !filter_frame(self, plan, &from, &to, error))
    return FALSE;
  if (!mark(self, MARK_DOWNLOAD, error) ||
      (out->memory == CNV_MEMORY_HOST && !transfer(self, plan, &to, out, &self->base.stats.bytes_downloaded, error)))
    return FALSE;
  return mark(self, MARK_END, error);
}

static gboolean
cuda_submit(CnvSession *session, CnvPlan *plan, const CnvFrame *in, const CnvFrame *out, GError **error)
{
  CudaSession *self = (CudaSession *)session;
  gboolean ok;

  if (!CHECK(self, cuCtxPushCurrent(self->context), "entering the CUDA context", error))
    return FALSE;
  self->marking = !self->marked && (session->stats.frames + self->n_pending) % TIMED_FRAME_EVERY == 0;
  ok = submit_frame(self, plan, in, out, error);
  /* What was started before the failure must be over before the caller takes its memory back. */
  if (!ok)
    self->cu->cuStreamSynchronize(self->stream);
  self->marked |= self->marking && ok;
  self->n_pending += ok;
  self->cu->cuCtxPopCurrent(NULL);
  return ok;
}

/* Adds the times between the marks of the timed frame to the means. */
static gboolean
read_marks(CudaSession *self, GError **error)
{
  double *mean[N_MARKS - 1] = {&self->base.stats.upload_us, &self->base.stats.compute_us,
                               &self->base.stats.download_us};

  if (!self->marked)
    return TRUE;
  self->marked = FALSE;
  self->n_timed++;
  for (int m = 0; m < N_MARKS - 1; m++) {
    float ms;

    if (!CHECK(self, cuEventElapsedTime(&ms, self->mark[m], self->mark[m + 1]), "timing a frame", error))
      return FALSE;
    self->timed_us[m] += ms * 1000.0;
    *mean[m] = self->timed_us[m] / self->n_timed;
  }
  return TRUE;
}

static gboolean
cuda_wait(CnvSession *session, GError **error)
{
  CudaSession *self = (CudaSession *)session;
  gboolean ok;

  if (self->n_pending == 0)
    return TRUE;
  if (!CHECK(self, cuCtxPushCurrent(self->context), "entering the CUDA context", error))
    return FALSE;
  ok = CHECK(self, cuStreamSynchronize(self->stream), "filtering a frame", error) && read_marks(self, error);
  self->cu->cuCtxPopCurrent(NULL);
  session->stats.frames += ok ? self->n_pending : 0;
  self->n_pending = 0;
  return ok;
}

static void
release(CudaSession *self)
{
  const CnvDriver *cu = self->cu;

  free_buffer(self, &self->in);
  free_buffer(self, &self->out);
  free_buffer(self, &self->sums);
  for (int m = 0; m < N_MARKS; m++)
    if (self->mark[m])
      cu->cuEventDestroy(self->mark[m]);
  if (self->stream)
    cu->cuStreamDestroy(self->stream);
  if (self->module)
    cu->cuModuleUnload(self->module);
}

static void
cuda_close(CnvSession *session)
{
  CudaSession *self = (CudaSession *)session;

  if (self->context && self->cu->cuCtxPushCurrent(self->context) == CUDA_SUCCESS) {
    release(self);
    self->cu->cuCtxPopCurrent(NULL);
  }
  if (self->owns_context)
    self->cu->cuDevicePrimaryCtxRelease(self->device);
  g_clear_pointer(&self->plan, cnv_plan_unref);
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
  gsize size;

  if (!CHECK(self, cuCtxGetDevice(&self->device), "asking for the GPU", error) ||
      !CHECK(self, cuDeviceGetName(name, sizeof(name), self->device), "asking for the GPU's name", error))
    return FALSE;
  self->base.device_name = g_strdup(name);
  if (!CHECK(self, cuModuleLoadData(&self->module, cnv_kernels_fatbin), "loading the kernels (" CNV_CUDA_ARCHS ")",
             error) ||
      !CHECK(self, cuModuleGetGlobal(&self->taps, &size, self->module, CNV_CONSTANT_SYMBOL), "finding the taps",
             error) ||
      !CHECK(self, cuModuleGetFunction(&self->copy, self->module, "cnv_copy"), "finding cnv_copy", error) ||
      !CHECK(self, cuStreamCreate(&self->stream, CU_STREAM_NON_BLOCKING), "making a stream", error))
    return FALSE;
  for (int m = 0; m < N_MARKS; m++)
    if (!CHECK(self, cuEventCreate(&self->mark[m], CU_EVENT_DEFAULT), "making an event", error))
      return FALSE;
  return TRUE;
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
  self->base = (CnvSession){&cnv_backend_cuda, cuda_submit, cuda_wait, cuda_close, NULL, {0}};
  self->cu = cnv_driver_get(NULL);
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
    .probe = cuda_probe,
    .can = cuda_can,
    .choose = cuda_choose,
    .open = cuda_open,
};

CUstream
cnv_cuda_session_stream(CnvSession *session)
{
  return ((CudaSession *)session)->stream;
}

gboolean
cnv_cuda_session_copy(CnvSession *session, const CnvPlan *plan, const CnvFrame *in, const CnvFrame *out, GError **error)
{
  CudaSession *self = (CudaSession *)session;
  gboolean ok;

  if (!CHECK(self, cuCtxPushCurrent(self->context), "entering the CUDA context", error))
    return FALSE;
  ok = copy_planes(self, plan, ~0u, in, out, error);
  self->cu->cuCtxPopCurrent(NULL);
  return ok;
}
