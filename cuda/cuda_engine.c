/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The CUDA engine. A session owns a module, and with it constant memory for its own taps, a stream, and device buffers;
 * all live as long as frame size and device stay. A frame allocates nothing and waits for nothing but its own stream.
 */
#include <string.h>

#include "cuda_engine.h"
#include "cuda_strips.h"

/* Made by the build from kernels.cu. */
extern const unsigned char cnv_kernels_fatbin[];

/* Sample types of the kernels. */
typedef enum { TYPE_U8, TYPE_U16, TYPE_F32, N_TYPES } SampleType;
static const char *const type_name[N_TYPES] = {"u8", "u16", "f32"};

/* By CnvKernelKind: the kernel's name and the threads of a block. */
static const struct {
  const char *name;
  guint threads_x, threads_y;
} kernels[CNV_N_KERNELS] = {
    [CNV_KERNEL_STAGE_IN] = {"stage_in", CNV_POINT_WIDTH, CNV_POINT_HEIGHT},
    [CNV_KERNEL_NAIVE] = {"naive", CNV_POINT_WIDTH, CNV_POINT_HEIGHT},
    [CNV_KERNEL_TILED] = {"tiled", CNV_TILED_WIDTH, CNV_TILED_HEIGHT / CNV_OUTPUTS},
    [CNV_KERNEL_TEXTURE_ROWS] = {"texture_rows", CNV_POINT_WIDTH, CNV_POINT_HEIGHT},
    [CNV_KERNEL_TEXTURE_COLUMNS] = {"texture_columns", CNV_POINT_WIDTH, CNV_POINT_HEIGHT},
    [CNV_KERNEL_ROWS] = {"rows", CNV_ROWS_THREADS, 1},
    [CNV_KERNEL_COLUMNS] = {"columns", CNV_COLUMNS_WIDTH / 2, CNV_COLUMNS_HEIGHT / CNV_OUTPUTS},
    [CNV_KERNEL_FUSED] = {"fused", CNV_FUSED_THREADS, 1}, /* these three by their variants' names */
    [CNV_KERNEL_TENSOR] = {"tensor", 32 * CNV_STRIP_WARPS, 1},
    [CNV_KERNEL_DENSE] = {"dense", 32 * CNV_STRIP_WARPS, 1},
    [CNV_KERNEL_STAGE_OUT] = {"stage_out", CNV_POINT_WIDTH, CNV_POINT_HEIGHT},
};

/* Moments of a frame that are timed: before upload, kernels and download, and the end. */
enum { MARK_UPLOAD, MARK_COMPUTE, MARK_DOWNLOAD, MARK_END, N_MARKS };

/* One frame in so many carries the marks: an event costs about a microsecond of the GPU's time. */
#define TIMED_FRAME_EVERY 16

/* Texture objects kept for frames that come again: pools have few. */
#define N_TEXTURES 32

typedef struct {
  CUdeviceptr address;
  gsize size;
} DeviceBuffer;

/* Where the planes of a frame of the session's own lie in a device buffer. */
typedef struct {
  int pitch[CNV_MAX_PLANES];
  gsize offset[CNV_MAX_PLANES];
  gsize size;
} FrameLayout;

typedef struct {
  CUdeviceptr address;
  gsize size;
  SampleType type;
  CUtexObject object; /* 0: none */
  guint64 used;       /* when it was used last, by the count of uses */
} Texture;

typedef struct {
  CnvSession base;
  const CnvDriver *cu;
  CUcontext context;
  CUdevice device;
  gboolean owns_context;
  CUmodule module;
  CUfunction function[CNV_N_KERNELS][N_TYPES][CNV_MAX_CHANNELS + 1]; /* 0: of any number of channels; NULL until used */
  CUfunction copy;
  CUfunction strips[CNV_N_KERNELS]; /* of the table's variants, for the plans' samples */
  int n_processors;
  CUdeviceptr taps;
  CUstream stream;
  CUevent mark[N_MARKS];
  gboolean marking, marked; /* this frame is being timed; its marks wait to be read */
  double timed_us[N_MARKS - 1];
  guint64 n_timed, n_pending;
  CnvTable table;
  gboolean table_is_there; /* its block is on the device */
  int loaded_batch;        /* whose taps are in constant memory; -1 none */
  FrameLayout layout, staged;
  DeviceBuffer in, out, sums, block, all_taps, bands, staged_in, staged_out;
  DeviceBuffer history; /* slots, each laid out as slot_layout says */
  FrameLayout slot_layout;
  CnvImage history_image;
  CnvSources sources; /* of the frame that is being submitted; deltas in the history */
  guint stage;        /* number of the source that is being staged */
  gboolean busy;      /* something was started since the last wait */
  Texture texture[N_TEXTURES];
  guint64 n_texture_uses;
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

/* Whether all GPUs of the machine have the instructions of the tensor rung. */
static gboolean
have_tensor_cores(void)
{
  static gsize known; /* 1 yes, 2 no */

  if (g_once_init_enter(&known)) {
    const CnvDriver *cu = cnv_driver_get(NULL);
    int count = 0, major = 0, least = G_MAXINT;

    if (cu && cu->cuDeviceGetCount(&count) != CUDA_SUCCESS)
      count = 0;
    for (int i = 0; i < count; i++) {
      if (cu->cuDeviceGetAttribute(&major, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, i) != CUDA_SUCCESS)
        major = 0;
      least = MIN(least, major);
    }
    g_once_init_leave(&known, count > 0 && least >= 8 ? 1 : 2);
  }
  return known == 1;
}

static gboolean
cuda_can(CnvAlgorithm algorithm, const CnvPlan *plan, const CnvPlanePlan *plane, GError **error)
{
  guint n = cnv_table_taps_of(plan, plane);
  gboolean tensor = algorithm == CNV_ALGORITHM_TENSOR;

  if ((tensor || algorithm == CNV_ALGORITHM_FUSED) && !cnv_strips_fit(algorithm, plan, plane, error))
    return FALSE;
  if (tensor && !have_tensor_cores()) {
    g_set_error_literal(error, CNV_ERROR, CNV_ERROR_UNSUPPORTED,
                        "it takes GPUs of compute capability 8.0 (Ampere) or newer");
    return FALSE;
  }
  if (n <= CNV_CONSTANT_TAPS)
    return TRUE;
  g_set_error(error, CNV_ERROR, CNV_ERROR_UNSUPPORTED,
              "the filter takes %u numbers of constant memory, a GPU has %d: shorten the kernel or use backend=cpu", n,
              CNV_CONSTANT_TAPS);
  return FALSE;
}

static CnvAlgorithm
cuda_choose(const CnvPlan *plan, const CnvPlanePlan *plane)
{
  if (have_tensor_cores() && cnv_strips_fit(CNV_ALGORITHM_TENSOR, plan, plane, NULL))
    return CNV_ALGORITHM_TENSOR;
  if (cnv_strips_fit(CNV_ALGORITHM_FUSED, plan, plane, NULL))
    return CNV_ALGORITHM_FUSED;
  if (plan->n_moments == 1 && plane->n_terms == 1 && plane->term[0].n[CNV_X] * plane->term[0].n[CNV_Y] == 1)
    return CNV_ALGORITHM_NAIVE;
  return cnv_plane_is_separable(plane) ? CNV_ALGORITHM_SEPARABLE : CNV_ALGORITHM_TILED;
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
round_up(int value, int unit)
{
  return (value + unit - 1) / unit * unit;
}

static void
add_to_layout(FrameLayout *layout, int p, int row_bytes, int rows)
{
  layout->pitch[p] = round_up(row_bytes, 256);
  layout->offset[p] = layout->size;
  layout->size += (gsize)layout->pitch[p] * rows;
}

/* Frames in host memory have a twin on the device. */
static FrameLayout
frame_layout(const CnvImage *image)
{
  FrameLayout layout = {.size = 0};

  for (int m = 0; m < cnv_format_n_memories(image->format); m++)
    add_to_layout(&layout, m, cnv_format_row_bytes(image->format, m, image->width),
                  cnv_format_rows(image->format, m, image->height));
  return layout;
}

static FrameLayout
staged_layout(const CnvPlan *plan)
{
  FrameLayout layout = {.size = 0};

  for (int p = 0; p < plan->n_planes; p++)
    if (plan->plane[p].filtered && !plan->plane[p].plain)
      add_to_layout(&layout, p, cnv_table_staged_stride(&plan->plane[p]), plan->plane[p].height);
  return layout;
}

/* Of planes that are not staged. */
static SampleType
sample_type(const CudaSession *self)
{
  const CnvPlan *plan = g_ptr_array_index(self->table.plans, 0);

  return plan->image.format->sample_bytes == 1 ? TYPE_U8 : TYPE_U16;
}

static gboolean
upload(CudaSession *self, CUdeviceptr to, const void *from, gsize size, const char *doing, GError **error)
{
  return size == 0 || CHECK(self, cuMemcpyHtoDAsync(to, from, size, self->stream), doing, error);
}

/* The kernel for strips of that kind, where there are any. */
static gboolean
find_strips(CudaSession *self, CnvKernelKind kind, GError **error)
{
  const CnvKernelName *of = cnv_strips_kernel(&self->table, kind);
  g_autofree char *name = NULL;

  if (!of)
    return TRUE;
  name = g_strdup_printf("cnv_%s_%s_%s", of->kernel, type_name[sample_type(self)], of->suffix);
  return CHECK(self, cuModuleGetFunction(&self->strips[kind], self->module, name), name, error);
}

/* How many tiles of tensor the GPU does side by side. */
static gboolean
count_tiles(CudaSession *self, GError **error)
{
  int blocks = 0;

  if (!self->table.tensor)
    return TRUE;
  if (!CHECK(self,
             cuOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, self->strips[CNV_KERNEL_TENSOR], 32 * CNV_STRIP_WARPS,
                                                         0),
             "asking how many blocks fit", error))
    return FALSE;
  self->table.n_tiles = blocks * self->n_processors * CNV_STRIP_WARPS;
  return TRUE;
}

/* The kernels and the fragments for planes that are done by strips. */
static gboolean
set_strips(CudaSession *self, GError **error)
{
  const GArray *bands = self->table.bands;
  gsize size = bands->len * sizeof(guint32);

  for (CnvKernelKind kind = CNV_KERNEL_FUSED; kind <= CNV_KERNEL_DENSE; kind++)
    if (!find_strips(self, kind, error))
      return FALSE;
  return count_tiles(self, error) && reserve(self, &self->bands, size, error) &&
         upload(self, self->bands.address, bands->data, size, "uploading the bands", error);
}

/* Takes over new plans: their taps follow the frames before them on the stream, so no frame sees half of them. Where
 * there are several batches their taps wait on the device for their turn. */
static gboolean
set_plans(CudaSession *self, const CnvWork *work, GError **error)
{
  CnvTable *table = &self->table;
  gsize size;

  if (cnv_table_has_plans(table, work))
    return TRUE;
  cnv_table_set_plans(table, work);
  self->loaded_batch = -1;
  self->table_is_there = FALSE;
  self->layout = frame_layout(&work->plan[0]->image);
  self->staged = staged_layout(work->plan[0]);
  size = table->taps->len * sizeof(float);
  return reserve(self, &self->all_taps, size, error) &&
         upload(self, self->all_taps.address, table->taps->data, size, "uploading the taps", error) &&
         set_strips(self, error);
}

static gboolean
load_batch(CudaSession *self, guint batch, GError **error)
{
  const CnvBatch *b = &g_array_index(self->table.batches, CnvBatch, batch);

  if (self->loaded_batch == (int)batch)
    return TRUE;
  if (!CHECK(self,
             cuMemcpyDtoDAsync(self->taps, self->all_taps.address + b->first * sizeof(float), b->n * sizeof(float),
                               self->stream),
             "loading the taps", error))
    return FALSE;
  self->loaded_batch = (int)batch;
  return TRUE;
}

static gboolean
set_work(CudaSession *self, const CnvWork *work, GError **error)
{
  CnvTable *table = &self->table;

  if (!set_plans(self, work, error))
    return FALSE;
  if (cnv_table_set_work(table, work))
    self->table_is_there = FALSE;
  if (self->table_is_there && self->staged_in.size >= self->staged.size * MAX(work->n_moments, 1))
    return TRUE;
  if (!reserve(self, &self->sums, table->sums_size, error) ||
      !reserve(self, &self->staged_in, self->staged.size * MAX(work->n_moments, 1), error) ||
      !reserve(self, &self->staged_out, self->staged.size, error) ||
      !reserve(self, &self->block, table->block->len, error) ||
      !upload(self, self->block.address, table->block->data, table->block->len, "uploading the work", error))
    return FALSE;
  self->table_is_there = TRUE;
  return TRUE;
}

static gboolean
mark(CudaSession *self, int which, GError **error)
{
  return !self->marking || CHECK(self, cuEventRecord(self->mark[which], self->stream), "timing a frame", error);
}

static CUfunction
find_function(CudaSession *self, const CnvLaunch *l, SampleType type, GError **error)
{
  CUfunction *function = &self->function[l->kind][type][l->channels];
  g_autofree char *name = NULL;

  if (*function)
    return *function;
  name =
      g_strdup_printf("cnv_%s_%s%s%.0d", kernels[l->kind].name, type_name[type], l->channels ? "x" : "", l->channels);
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

static SampleType
type_of(const CudaSession *self, const CnvLaunch *l)
{
  return l->staged ? TYPE_F32 : sample_type(self);
}

/* Shared memory besides the block's work: what the most demanding plane of the plans asks. */
static guint
shared_bytes(const CudaSession *self, CnvKernelKind kind)
{
  guint bytes = 0;

  if (kind == CNV_KERNEL_ROWS)
    return sizeof(float) * CNV_ROWS_PITCH * CNV_ROWS_PER_BLOCK(1);
  if (kind != CNV_KERNEL_TILED && kind != CNV_KERNEL_COLUMNS)
    return 0;
  for (guint i = 0; i < self->table.planes->len; i++) {
    const CnvPlaneArgs *a = &g_array_index(self->table.planes, CnvPlaneArgs, i);

    for (int t = 0; t < a->n_terms; t++) {
      const CnvTermArgs *term = &a->term[t];
      guint tiled = CNV_TILED_PITCH(a->channels, term->chunk_x) * (CNV_TILED_HEIGHT + term->chunk_y - 1);
      guint columns = CNV_COLUMNS_WIDTH * (CNV_COLUMNS_HEIGHT + MIN(term->n_y, CNV_COLUMNS_CHUNK) - 1);

      bytes = MAX(bytes, sizeof(float) * (kind == CNV_KERNEL_TILED ? tiled : columns));
    }
  }
  return bytes;
}

/* Textures. */

static void
forget_texture(CudaSession *self, Texture *texture)
{
  if (texture->object)
    self->cu->cuTexObjectDestroy(texture->object);
  *texture = (Texture){0};
}

static gboolean
make_texture(CudaSession *self, Texture *texture, GError **error)
{
  static const CUarray_format formats[N_TYPES] = {CU_AD_FORMAT_UNSIGNED_INT8, CU_AD_FORMAT_UNSIGNED_INT16,
                                                  CU_AD_FORMAT_FLOAT};
  CUDA_RESOURCE_DESC resource = {.resType = CU_RESOURCE_TYPE_LINEAR};
  CUDA_TEXTURE_DESC description = {.flags = CU_TRSF_READ_AS_INTEGER};

  resource.res.linear.devPtr = texture->address;
  resource.res.linear.format = formats[texture->type];
  resource.res.linear.numChannels = 1;
  resource.res.linear.sizeInBytes = texture->size;
  return CHECK(self, cuTexObjectCreate(&texture->object, &resource, &description, NULL), "making a texture", error);
}

/* The one over that memory, or else the one that was not used for longest. */
static Texture *
pick_texture(CudaSession *self, const Texture *wanted)
{
  Texture *oldest = self->texture;

  for (int i = 0; i < N_TEXTURES; i++) {
    Texture *texture = &self->texture[i];

    if (texture->object && texture->address == wanted->address && texture->size == wanted->size &&
        texture->type == wanted->type)
      return texture;
    if (texture->used < oldest->used)
      oldest = texture;
  }
  return oldest;
}

/* The texture over some memory, made once as long as it is among the last N_TEXTURES. */
static gboolean
find_texture(CudaSession *self, CUdeviceptr address, gsize size, SampleType type, guint64 *object, GError **error)
{
  const Texture wanted = {address, size, type, 0, 0};
  Texture *texture = pick_texture(self, &wanted);

  if (texture->object && (texture->address != address || texture->size != size || texture->type != type)) {
    /* It may still be read from. */
    if (!CHECK(self, cuStreamSynchronize(self->stream), "changing a texture", error))
      return FALSE;
    forget_texture(self, texture);
  }
  if (!texture->object) {
    *texture = wanted;
    if (!make_texture(self, texture, error))
      return FALSE;
  }
  texture->used = ++self->n_texture_uses;
  *object = texture->object;
  return TRUE;
}

#define TEXTURE_ALIGNMENT 512 /* of its first byte, on every GPU so far */

/* Textures over the planes that the launch reads, and over the row sums. */
static gboolean
set_textures(CudaSession *self, const CnvLaunch *l, CnvLaunchArgs *args, const int rows[], GError **error)
{
  static const int sizes[N_TYPES] = {1, 2, 4};
  SampleType type = type_of(self, l);

  for (int p = 0; p < CNV_MAX_PLANES; p++) {
    guint64 start = args->in[p] / TEXTURE_ALIGNMENT * TEXTURE_ALIGNMENT, before = args->in[p] - start;

    if (!args->in[p] || rows[p] == 0)
      continue;
    /* Its last row is as long as the others, or ends with the memory. */
    if (!find_texture(self, start, before + (gsize)args->in_stride[p] * rows[p], type, &args->texture[p], error))
      return FALSE;
    args->texture_first[p] = (int)(before / sizes[type]);
  }
  return find_texture(self, self->sums.address, self->sums.size, TYPE_F32, &args->sums_texture, error);
}

/* Launches. */

#define SHARED_ALLOWED (40 * 1024) /* beside what a kernel has anyway */

static CnvLaunchArgs
launch_args(const CudaSession *self, const CnvLaunch *l, const CnvFrame *in, const CnvFrame *out)
{
  const CnvTable *table = &self->table;
  CUdeviceptr block = self->block.address;
  CnvLaunchArgs args = {.planes = block + table->planes_at,
                        .patches = block + table->patches_at,
                        .spots = block + table->spots_at,
                        .units = block + table->units_at + l->first_unit * sizeof(CnvUnit),
                        .n_units = (int)l->n_units,
                        .sums = self->sums.address};
  gboolean lanes = l->staged && l->kind != CNV_KERNEL_STAGE_IN && l->kind != CNV_KERNEL_STAGE_OUT;

  args.sources = self->sources;
  for (int i = 0; i < args.sources.n && lanes; i++)
    args.sources.delta[i] = i * (gint64)self->staged.size;
  for (int p = 0; p < CNV_MAX_PLANES; p++) {
    args.staged_in[p] = self->staged_in.address + self->stage * self->staged.size + self->staged.offset[p];
    args.staged_out[p] = self->staged_out.address + self->staged.offset[p];
    args.staged_stride[p] = self->staged.pitch[p];
    args.in[p] = lanes ? args.staged_in[p] : (guintptr)in->data[p];
    args.out[p] = lanes ? args.staged_out[p] : (guintptr)out->data[p];
    args.in_stride[p] = lanes ? args.staged_stride[p] : in->stride[p];
    args.out_stride[p] = lanes ? args.staged_stride[p] : out->stride[p];
  }
  return args;
}

/* Rows of each of the planes that a launch reads. */
static void
rows_of(const CudaSession *self, const CnvLaunch *l, int rows[CNV_MAX_PLANES])
{
  const CnvPlan *plan = g_ptr_array_index(self->table.plans, 0);
  const CnvImage *image = &plan->image;

  for (int p = 0; p < CNV_MAX_PLANES; p++) {
    gboolean is_plane =
        l->staged ? p < plan->n_planes && self->staged.pitch[p] > 0 : p < cnv_format_n_memories(image->format);

    rows[p] = !is_plane ? 0 : l->staged ? plan->plane[p].height : cnv_format_rows(image->format, p, image->height);
  }
}

static gboolean
run_units(CudaSession *self, const CnvLaunch *l, CUfunction function, const CnvFrame *in, const CnvFrame *out,
          GError **error)
{
  CnvLaunchArgs args = launch_args(self, l, in, out);
  gboolean texture = l->kind == CNV_KERNEL_TEXTURE_ROWS || l->kind == CNV_KERNEL_TEXTURE_COLUMNS;
  Size3 block = {kernels[l->kind].threads_x, kernels[l->kind].threads_y, 1};
  int rows[CNV_MAX_PLANES];

  rows_of(self, l, rows);
  return (!texture || set_textures(self, l, &args, rows, error)) &&
         launch(self, function, (Size3){l->n_blocks, 1, 1}, block, shared_bytes(self, l->kind), &args, error);
}

static gboolean
run_large(CudaSession *self, const CnvLaunch *l, CUfunction function, const CnvFrame *in, const CnvFrame *out,
          GError **error)
{
  const CnvPatchArgs *from = &g_array_index(self->table.patches, CnvPatchArgs, l->patch);
  Size3 block = {kernels[l->kind].threads_x, kernels[l->kind].threads_y, 1};
  CnvLargeArgs args = {
      .term = l->term, .sums = self->sums.address, .spots = self->block.address + self->table.spots_at};
  int m = from->pointers;

  args.block.a = g_array_index(self->table.planes, CnvPlaneArgs, from->plane_args);
  args.block.patch = from->patch;
  memcpy(args.block.sums, from->sums, sizeof(from->sums));
  args.block.sums_stride = from->sums_stride;
  cnv_block_locate(&args.block, (guintptr)in->data[m], in->stride[m], (guintptr)out->data[m], out->stride[m],
                   type_of(self, l) == TYPE_U8 ? 1 : 2);
  return launch(self, function, (Size3){l->blocks_x, l->blocks_y, 1}, block, shared_bytes(self, l->kind), &args, error);
}

/* More shared memory than 48 KiB has to be asked for. */
static gboolean
allow_shared(CudaSession *self, CUfunction function, guint bytes, GError **error)
{
  return bytes <= SHARED_ALLOWED ||
         CHECK(self, cuFuncSetAttribute(function, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, (int)bytes),
               "asking for shared memory", error);
}

static gboolean
run_strips(CudaSession *self, const CnvLaunch *l, const CnvFrame *in, const CnvFrame *out, GError **error)
{
  const CnvTable *table = &self->table;
  CUfunction function = self->strips[l->kind];
  CnvStripArgs args = {.strips = self->block.address + table->strips_at + l->first_strip * sizeof(CnvStrip),
                       .bands = self->bands.address,
                       .n_strips = (int)l->n_strips,
                       .sources = self->sources};

  for (int p = 0; p < CNV_MAX_PLANES; p++) {
    args.in[p] = (guintptr)in->data[p];
    args.out[p] = (guintptr)out->data[p];
    args.in_stride[p] = in->stride[p];
    args.out_stride[p] = out->stride[p];
  }
  for (guint i = 0; i < l->n_strips && l->n_strips <= CNV_STRIPS_INLINE; i++)
    args.strip[i] = g_array_index(table->strips, CnvStrip, l->first_strip + i);
  return allow_shared(self, function, l->shared_bytes, error) &&
         launch(self, function, (Size3){l->n_blocks, 1, 1}, (Size3){kernels[l->kind].threads_x, 1, 1}, l->shared_bytes,
                &args, error);
}

static gboolean
run_launch(CudaSession *self, const CnvLaunch *l, const CnvFrame *in, const CnvFrame *out, GError **error)
{
  if (l->n_strips > 0)
    return load_batch(self, l->batch, error) && run_strips(self, l, in, out, error);
  CUfunction function = find_function(self, l, type_of(self, l), error);

  if (!function || !load_batch(self, l->batch, error))
    return FALSE;
  return l->channels ? run_large(self, l, function, in, out, error) : run_units(self, l, function, in, out, error);
}

/* Copies the planes of memory whose bit is set, in one launch. */
static gboolean
copy_planes(CudaSession *self, const CnvImage *image, guint which, const CnvFrame *in, const CnvFrame *out,
            GError **error)
{
  CnvCopyArgs args;
  int n = 0, bytes = 0, rows = 0;

  for (int m = 0; m < cnv_format_n_memories(image->format); m++) {
    int row = cnv_format_row_bytes(image->format, m, image->width);
    int height = cnv_format_rows(image->format, m, image->height);

    if (!(which >> m & 1))
      continue;
    args.plane[n++] =
        (CnvCopyPlane){(guintptr)in->data[m], (guintptr)out->data[m], in->stride[m], out->stride[m], row, height};
    bytes = MAX(bytes, row);
    rows = MAX(rows, height);
  }
  if (n == 0)
    return TRUE;
  return launch(self, self->copy, (Size3){blocks(bytes, 32 * CNV_COPY_BYTES), blocks(rows, 8), n}, (Size3){32, 8, 1}, 0,
                &args, error);
}

/* The planes of memory that have samples which no kernel writes. */
static guint
copied_memories(const CnvWork *work)
{
  const CnvPlan *plan = work->plan[0];
  guint copied = ~0u;

  for (int p = 0; p < plan->n_planes && work->everything; p++)
    if (plan->plane[p].filtered && plan->plane[p].plain)
      copied &= ~(1u << plan->plane[p].lane[0].memory);
  return copied;
}

/* A slot of the history as a frame. */
static CnvFrame
slot_frame(const CudaSession *self, int slot)
{
  CnvFrame frame = {.memory = CNV_MEMORY_DEVICE};

  for (int p = 0; p < CNV_MAX_PLANES; p++) {
    frame.data[p] =
        (void *)(guintptr)(self->history.address + slot * self->slot_layout.size + self->slot_layout.offset[p]);
    frame.stride[p] = self->slot_layout.pitch[p];
  }
  return frame;
}

/* Every frame that counts has a staged form of its own; where one is missing another stands, with weight 0. */
static gboolean
stage_history(CudaSession *self, const CnvWork *work, const CnvLaunch *l, int now, const CnvFrame *out, GError **error)
{
  gboolean ok = TRUE;

  for (guint i = 0; i < work->n_moments && ok; i++) {
    CnvFrame in = slot_frame(self, work->moment[i].slot < 0 ? now : work->moment[i].slot);

    self->stage = i;
    ok = run_launch(self, l, &in, out, error);
  }
  self->stage = 0;
  return ok;
}

/* Settles which slots are added up. One that is missing counts for 0, wherever it is read. */
static void
set_sources(CudaSession *self, const CnvWork *work, const CnvFrame *in)
{
  self->sources.n = (int)work->n_moments;
  for (guint i = 0; i < work->n_moments; i++) {
    const CnvMoment *m = &work->moment[i];

    self->sources.weight[i] = m->slot < 0 ? 0 : m->weight;
    self->sources.delta[i] = m->slot < 0 ? 0 : (m->slot - in->slot) * (gint64)self->slot_layout.size;
  }
}

/* now: slot of the frame put out, where it is one. */
static gboolean
filter_frame(CudaSession *self, const CnvWork *work, int now, const CnvFrame *in, const CnvFrame *out, GError **error)
{
  if (!copy_planes(self, &work->plan[0]->image, copied_memories(work), in, out, error))
    return FALSE;
  for (guint i = 0; i < self->table.launches->len; i++) {
    const CnvLaunch *l = &g_array_index(self->table.launches, CnvLaunch, i);
    gboolean each = l->kind == CNV_KERNEL_STAGE_IN && work->n_moments > 0;

    if (each ? !stage_history(self, work, l, now, out, error) : !run_launch(self, l, in, out, error))
      return FALSE;
  }
  return TRUE;
}

/* Copies all planes between host and device; the driver stages host memory that is not page-locked. */
static gboolean
transfer(CudaSession *self, const CnvImage *image, const CnvFrame *from, const CnvFrame *to, guint64 *bytes,
         GError **error)
{
  gboolean up = from->memory == CNV_MEMORY_HOST;

  for (int p = 0; p < cnv_format_n_memories(image->format); p++) {
    CUDA_MEMCPY2D copy = {
        .srcMemoryType = up ? CU_MEMORYTYPE_HOST : CU_MEMORYTYPE_DEVICE,
        .dstMemoryType = up ? CU_MEMORYTYPE_DEVICE : CU_MEMORYTYPE_HOST,
        .srcPitch = from->stride[p],
        .dstPitch = to->stride[p],
        .WidthInBytes = cnv_format_row_bytes(image->format, p, image->width),
        .Height = cnv_format_rows(image->format, p, image->height),
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
  *on_device = frame->memory == CNV_MEMORY_HISTORY ? slot_frame(self, frame->slot) : *frame;
  if (on_device->memory == CNV_MEMORY_DEVICE)
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

/* Samples of several bytes are read as such. */
static gboolean
check_alignment(const CnvImage *image, const CnvFrame *frame, GError **error)
{
  int bytes = image->format->sample_bytes;

  for (int m = 0; m < cnv_format_n_memories(image->format) && frame->memory == CNV_MEMORY_DEVICE; m++) {
    guintptr either = (guintptr)frame->data[m] | (guintptr)frame->stride[m];

    if (either % bytes != 0) {
      g_set_error(error, CNV_ERROR, CNV_ERROR_UNSUPPORTED,
                  "plane %d of a %s frame in device memory has an address or a stride (%d) that is no multiple of %d: "
                  "allocate it aligned",
                  m, image->format->name, frame->stride[m], bytes);
      return FALSE;
    }
  }
  return TRUE;
}

static gboolean
submit_frame(CudaSession *self, const CnvWork *work, const CnvFrame *in, const CnvFrame *out, GError **error)
{
  const CnvImage *image = &work->plan[0]->image;
  CnvSessionStats *stats = &self->base.stats;
  CnvFrame from, to;

  if (!check_alignment(image, in, error) || !check_alignment(image, out, error) || !set_work(self, work, error) ||
      !device_frame(self, in, &self->in, &from, error) || !device_frame(self, out, &self->out, &to, error))
    return FALSE;
  set_sources(self, work, in);
  if (!mark(self, MARK_UPLOAD, error) ||
      (in->memory == CNV_MEMORY_HOST && !transfer(self, image, in, &from, &stats->bytes_uploaded, error)))
    return FALSE;
  if (!mark(self, MARK_COMPUTE, error) || !filter_frame(self, work, in->slot, &from, &to, error))
    return FALSE;
  if (!mark(self, MARK_DOWNLOAD, error) ||
      (out->memory == CNV_MEMORY_HOST && !transfer(self, image, &to, out, &stats->bytes_downloaded, error)))
    return FALSE;
  return mark(self, MARK_END, error);
}

static gboolean
cuda_submit(CnvSession *session, const CnvWork *work, const CnvFrame *in, const CnvFrame *out, GError **error)
{
  CudaSession *self = (CudaSession *)session;
  gboolean ok;

  if (!CHECK(self, cuCtxPushCurrent(self->context), "entering the CUDA context", error))
    return FALSE;
  self->marking = !self->marked && (session->stats.frames + self->n_pending) % TIMED_FRAME_EVERY == 0;
  ok = submit_frame(self, work, in, out, error);
  if (!ok) {
    /* What was started before the failure must be over before the caller takes its memory back. */
    self->cu->cuStreamSynchronize(self->stream);
    g_ptr_array_set_size(self->table.plans, 0);
  }
  self->marked |= self->marking && ok;
  self->n_pending += ok;
  self->busy |= ok;
  self->cu->cuCtxPopCurrent(NULL);
  return ok;
}

static gboolean
cuda_reserve(CnvSession *session, const CnvImage *image, guint n_slots, GError **error)
{
  CudaSession *self = (CudaSession *)session;
  gboolean ok;

  if (!CHECK(self, cuCtxPushCurrent(self->context), "entering the CUDA context", error))
    return FALSE;
  self->slot_layout = frame_layout(image);
  self->history_image = *image;
  if (n_slots == 0)
    free_buffer(self, &self->history);
  ok = reserve(self, &self->history, n_slots * self->slot_layout.size, error);
  self->cu->cuCtxPopCurrent(NULL);
  return ok;
}

static gboolean
cuda_keep(CnvSession *session, guint slot, const CnvFrame *frame, GError **error)
{
  CudaSession *self = (CudaSession *)session;
  CnvFrame to = slot_frame(self, (int)slot);
  gboolean ok;

  if (!CHECK(self, cuCtxPushCurrent(self->context), "entering the CUDA context", error))
    return FALSE;
  if (frame->memory == CNV_MEMORY_HOST)
    ok = transfer(self, &self->history_image, frame, &to, &session->stats.bytes_uploaded, error);
  else
    ok = copy_planes(self, &self->history_image, ~0u, frame, &to, error);
  self->busy = TRUE;
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

  if (!self->busy)
    return TRUE;
  if (!CHECK(self, cuCtxPushCurrent(self->context), "entering the CUDA context", error))
    return FALSE;
  ok = CHECK(self, cuStreamSynchronize(self->stream), "filtering a frame", error) && read_marks(self, error);
  self->cu->cuCtxPopCurrent(NULL);
  session->stats.frames += ok ? self->n_pending : 0;
  self->busy = FALSE;
  self->n_pending = 0;
  return ok;
}

static void
release(CudaSession *self)
{
  const CnvDriver *cu = self->cu;

  DeviceBuffer *buffers[] = {&self->in,    &self->out,       &self->sums,       &self->block,  &self->all_taps,
                             &self->bands, &self->staged_in, &self->staged_out, &self->history};

  for (int i = 0; i < N_TEXTURES; i++)
    forget_texture(self, &self->texture[i]);
  for (gsize i = 0; i < G_N_ELEMENTS(buffers); i++)
    free_buffer(self, buffers[i]);
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
  cnv_table_clear(&self->table);
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
      !CHECK(self, cuDeviceGetName(name, sizeof(name), self->device), "asking for the GPU's name", error) ||
      !CHECK(self, cuDeviceGetAttribute(&self->n_processors, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, self->device),
             "asking for the GPU's size", error))
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
  self->base = (CnvSession){.backend = &cnv_backend_cuda,
                            .submit = cuda_submit,
                            .reserve = cuda_reserve,
                            .keep = cuda_keep,
                            .wait = cuda_wait,
                            .close = cuda_close};
  self->cu = cnv_driver_get(NULL);
  cnv_table_init(&self->table);
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
    .dense_taps = 49, /* 4K NV12 on an H200: 7x7 119 us, two terms 146; NOTES.md */
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
  ok = copy_planes(self, &plan->image, ~0u, in, out, error);
  self->cu->cuCtxPopCurrent(NULL);
  return ok;
}
