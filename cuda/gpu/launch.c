/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Launches the kernels of a frame.
 */
#include <string.h>

#include "gpu/session.h"
#include "gpu/range.h"
#include "plan/arith.h"

/* Returns the launch's kernel, set up to use as much shared memory as a block can have. */
static CUfunction
find_function(CudaSession *self, const CnvLaunch *l, GError **error)
{
  const CnvKernelKind *kind = cnv_kernel_kind(l->kernel);
  const CnvVariant *variant = self->schedule.variant[l->kernel];
  const char *key = variant ? variant->name : kind->name;
  CUfunction function = g_hash_table_lookup(self->functions, key);
  g_autofree char *name = NULL;

  if (function)
    return function;
  name = g_strconcat("cnv_", key, NULL);
  if (!CHECK(self, cuModuleGetFunction(&function, self->module, name), name, error) ||
      (variant &&
       !CHECK(self,
              cuFuncSetAttribute(function, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, (int)kind->shared_max),
              "asking for shared memory", error)))
    return NULL;
  g_hash_table_insert(self->functions, (gpointer)key, function);
  return function;
}

/* Loads a bank of taps into constant memory, unless it is there already. */
static gboolean
load_bank(CudaSession *self, guint bank, GError **error)
{
  CUdeviceptr from = self->plan_arrays.address + self->schedule.taps_at + bank * sizeof(float);
  gsize size = MIN(self->schedule.taps->len - bank, CNV_CONSTANT_TAPS) * sizeof(float);

  if (self->loaded_bank == (int)bank)
    return TRUE;
  if (!CHECK(self, cuMemcpyDtoDAsync(self->taps, from, size, self->stream), "loading the taps", error))
    return FALSE;
  self->loaded_bank = (int)bank;
  return TRUE;
}

static gboolean
start_launch(CudaSession *self, const CnvLaunch *l, void *args, GError **error)
{
  const CnvKernelKind *kind = cnv_kernel_kind(l->kernel);
  const CUlaunchConfig config = {.gridDimX = l->blocks_x,
                                 .gridDimY = 1,
                                 .gridDimZ = 1,
                                 .blockDimX = kind->threads_x,
                                 .blockDimY = kind->threads_y,
                                 .blockDimZ = 1,
                                 .sharedMemBytes = l->shared_bytes};
  CUfunction function = find_function(self, l, error);

  return function && cnv_cuda_start(self, function, config, args, error);
}

/* Copies n rectangles, if any. */
static gboolean
launch_copy(CudaSession *self, CnvCopyArgs *args, int n, GError **error)
{
  CUlaunchConfig config = {.gridDimZ = (guint)n, .blockDimX = 32, .blockDimY = 8, .blockDimZ = 1};
  int bytes = 0, rows = 0;

  for (int i = 0; i < n; i++) {
    bytes = MAX(bytes, args->plane[i].bytes);
    rows = MAX(rows, args->plane[i].rows);
  }
  config.gridDimX = (guint)cnv_divide_up(bytes, 32 * CNV_COPY_BYTES);
  config.gridDimY = (guint)cnv_divide_up(rows, 8);
  return n == 0 || cnv_cuda_start(self, self->copy, config, args, error);
}

static CnvCopyPlane
plane_copy(const CnvLayout *layout, int m, const CnvFrame *in, const CnvFrame *out)
{
  return (CnvCopyPlane){.in = (guintptr)in->data[m],
                        .out = (guintptr)out->data[m],
                        .in_stride = in->stride[m],
                        .out_stride = out->stride[m],
                        .bytes = layout->row_bytes[m],
                        .rows = layout->rows[m]};
}

gboolean
cnv_cuda_copy_planes(CudaSession *self, const CnvLayout *layout, const CnvFrame *in, const CnvFrame *out,
                     GError **error)
{
  CnvCopyArgs args = {.beside = FALSE};

  for (int m = 0; m < layout->n_planes; m++)
    args.plane[m] = plane_copy(layout, m, in, out);
  return launch_copy(self, &args, layout->n_planes, error);
}

/* Copies the parts that no job writes, if there are any. */
static gboolean
copy_rest(CudaSession *self, const CnvFrame *in, const CnvFrame *out, GError **error)
{
  const CnvSchedule *schedule = &self->schedule;
  CnvCopyArgs args = {.beside = schedule->beside};
  int n = 0;

  for (int m = 0; m < self->layout.n_planes; m++) {
    CnvCopyPlane plane = plane_copy(&self->layout, m, in, out);

    if (schedule->written >> m & 1)
      continue;
    if (schedule->kept[m].kinds >= 0) {
      plane.kinds = self->work_arrays.address + schedule->tile_kinds_at + (guint)schedule->kept[m].kinds;
      memcpy(plane.tile_inverse, schedule->kept[m].tile_inverse, sizeof(plane.tile_inverse));
      plane.columns = schedule->kept[m].columns;
    }
    args.plane[n++] = plane;
  }
  return launch_copy(self, &args, n, error);
}

/* Returns the frames that a launch of kernels with block jobs adds up. Averages are a single staged frame, whose weight
 * is the sum of all: missing samples have it, too. */
static CnvSources
block_sources(const CnvSchedule *schedule, const CnvLaunch *l)
{
  if (!schedule->averages || l->kernel == CNV_KERNEL_STAGE_IN)
    return schedule->sources;
  return (CnvSources){.n = 1, .weight = {schedule->sources.sum}};
}

static CnvBlockArgs
block_args(const CudaSession *self, const CnvLaunch *l, guint source, const CnvFrame *in, const CnvFrame *out)
{
  const CnvSchedule *schedule = &self->schedule;
  CUdeviceptr arrays = self->work_arrays.address;
  CnvFrame staged_in =
      cnv_layout_frame(&self->staged, CNV_MEMORY_DEVICE, self->staged_in.address + source * self->staged.size);
  CnvFrame staged_out = cnv_layout_frame(&self->staged, CNV_MEMORY_DEVICE, self->staged_out.address);

  return (CnvBlockArgs){.planes = self->plan_arrays.address + schedule->planes_at,
                        .jobs = arrays + schedule->block_jobs_at + l->first * sizeof(CnvBlockJob),
                        .coverage = self->coverage.address,
                        .n_jobs = (int)l->n,
                        .sums = self->sums.address,
                        .sources = block_sources(schedule, l),
                        .averages = schedule->averages,
                        .thresholds = self->noise.threshold,
                        .in = cnv_cuda_planes_of(in),
                        .out = cnv_cuda_planes_of(out),
                        .staged_in = cnv_cuda_planes_of(&staged_in),
                        .staged_out = cnv_cuda_planes_of(&staged_out),
                        .staged_size = (gint64)self->staged.size,
                        .is_first = cnv_kernel_kind(l->kernel)->is_first};
}

gboolean
cnv_cuda_cover(CudaSession *self, GError **error)
{
  const CnvSchedule *schedule = &self->schedule;
  CUdeviceptr arrays = self->work_arrays.address;
  CnvCoverArgs args = {.jobs = arrays + schedule->cover_jobs_at,
                       .grids = arrays + schedule->grids_at,
                       .cells = arrays + schedule->cells_at,
                       .lists = arrays + schedule->lists_at,
                       .shapes = arrays + schedule->shapes_at,
                       .places = schedule->work.places->len > 0 ? arrays + schedule->places_at : 0,
                       .mask_cells = self->mask_cells.address,
                       .coverage = self->coverage.address,
                       .n_jobs = (int)schedule->cover_jobs->len};
  CUlaunchConfig config = {.gridDimX = schedule->cover_blocks,
                           .gridDimY = 1,
                           .gridDimZ = 1,
                           .blockDimX = 32,
                           .blockDimY = CNV_COVER_HEIGHT,
                           .blockDimZ = 1};

  return args.n_jobs == 0 || cnv_cuda_start(self, self->cover, config, &args, error);
}

static gboolean
run_block_jobs(CudaSession *self, const CnvLaunch *l, guint source, const CnvFrame *in, const CnvFrame *out,
               GError **error)
{
  CnvBlockArgs args = block_args(self, l, source, in, out);

  return (cnv_kernel_kind(l->kernel)->algorithm != CNV_ALGORITHM_TEXTURE ||
          cnv_cuda_set_textures(self, &args, error)) &&
         start_launch(self, l, &args, error);
}

static CnvTileArgs
tile_args(CudaSession *self, const CnvLaunch *l, const CnvFrame *in, const CnvFrame *out)
{
  const CnvSchedule *schedule = &self->schedule;
  CnvTileArgs args;

  args.jobs = self->work_arrays.address + schedule->tile_jobs_at + l->first * sizeof(CnvTileJob);
  args.bands = self->plan_arrays.address + schedule->words_at;
  args.coverage = self->coverage.address;
  args.decimated = self->decimated.address;
  args.tiles =
      l->tiles < 0 ? 0 : self->work_arrays.address + schedule->tile_places_at + (guint)l->tiles * sizeof(CnvTilePlace);
  args.leads = schedule->beside;
  args.plain = l->plain && !schedule->at_once;
  args.readers = 0;
  args.n_jobs = (int)l->n;
  args.sources = schedule->sources;
  args.thresholds = self->noise.threshold;
  args.in = cnv_cuda_planes_of(in);
  args.out = cnv_cuda_planes_of(out);
  for (guint i = 0; i < CNV_TILE_JOBS_INLINE; i++)
    args.first_block[i] = args.inner_block[i] = G_MAXINT;
  for (guint i = 0; i < l->n && l->n <= CNV_TILE_JOBS_INLINE; i++) {
    args.job[i] = g_array_index(schedule->tile_jobs, CnvTileJob, l->first + i);
    args.first_block[i] = args.job[i].first_block;
    args.inner_block[i] = args.job[i].inner_block;
  }
  cnv_cuda_set_maps(self, l, in, out, &args);
  return args;
}

static gboolean
run_tile_jobs(CudaSession *self, const CnvLaunch *l, const CnvFrame *in, const CnvFrame *out, GError **error)
{
  CnvTileArgs args = tile_args(self, l, in, out);

  return start_launch(self, l, &args, error);
}

/* GPUs on which a session filters in place by one launch, a bit each. Two such launches must not run at the same time:
 * the waiting blocks of each could keep those of the other from starting. */
static guint taken_devices;

static gboolean
take_device(CudaSession *self)
{
  guint bit = 1u << self->device % 32;
  int shared = 1;

  /* With MPS, launches of other processes run at the same time as ours. Older drivers do not report MPS. */
  if (!self->has_device && self->capability >= 90 &&
      self->cu->cuDeviceGetAttribute(&shared, CU_DEVICE_ATTRIBUTE_MPS, self->device) == CUDA_SUCCESS && !shared)
    self->has_device = !(g_atomic_int_or(&taken_devices, bit) & bit);
  return self->has_device;
}

void
cnv_cuda_give_device_back(CudaSession *self)
{
  if (self->has_device)
    g_atomic_int_and(&taken_devices, ~(1u << self->device % 32));
  self->has_device = FALSE;
}

static gboolean
make_readers(CudaSession *self, GError **error)
{
  static const guint32 none = 0;

  if (self->readers.size > 0)
    return TRUE;
  self->n_readers = 0;
  if (!cnv_cuda_reserve(self, &self->readers, FALSE, sizeof(none), error))
    return FALSE;
  if (CHECK(self, cuMemcpyHtoDAsync(self->readers.address, &none, sizeof(none), self->stream),
            "clearing a count of blocks", error))
    return TRUE;
  cnv_cuda_free(self, &self->readers);
  return FALSE;
}

gboolean
cnv_cuda_prepare_at_once(CudaSession *self, GError **error)
{
  CnvSchedule *schedule = &self->schedule;
  const CnvLaunch *l = &g_array_index(schedule->launches, CnvLaunch, 0);
  CUfunction function;
  int fitting = 0;

  schedule->at_once &= take_device(self);
  if (!schedule->at_once)
    return TRUE;
  if (!make_readers(self, error) || !(function = find_function(self, l, error)) ||
      !CHECK(self,
             cuOccupancyMaxActiveBlocksPerMultiprocessor(&fitting, function, (int)cnv_kernel_kind(l->kernel)->threads_x,
                                                         l->shared_bytes),
             "counting the blocks that fit", error))
    return FALSE;
  schedule->at_once = l->blocks_x <= schedule->n_processors * (guint)fitting;
  return TRUE;
}

/* Filters a frame in place by one launch. */
static gboolean
filter_at_once(CudaSession *self, const CnvFrame *frame, GError **error)
{
  const CnvLaunch *l = &g_array_index(self->schedule.launches, CnvLaunch, 0);
  CnvTileArgs args = tile_args(self, l, frame, frame);

  args.readers = self->readers.address;
  args.all_readers = self->n_readers + l->blocks_x;
  if (!load_bank(self, l->bank, error) || !start_launch(self, l, &args, error))
    return FALSE;
  self->n_readers += l->blocks_x;
  return TRUE;
}

/* Returns a frame over time. A missing frame is replaced by another one with weight 0. */
static const CnvFrame *
source_frame(const CudaSession *self, const CnvTemporalTap *tap, const CnvFrame *in)
{
  return tap->slot < 0 ? in : &self->history.frame[tap->slot];
}

/* Finds the addresses of the frames that are added up, and the output's frame among them. */
static void
locate_sources(CudaSession *self, const CnvWork *work, const CnvFrame *in)
{
  CnvSources *sources = &self->schedule.sources;

  sources->first = 0;
  sources->center = 0;
  for (int i = 0; i < sources->n; i++) {
    const CnvFrame *frame = source_frame(self, &work->temporal_tap[i], in);

    sources->delta[i] = (gint64)((guintptr)frame->data[0] - (guintptr)in->data[0]);
    sources->first = MIN(sources->first, sources->delta[i]);
    if (work->temporal_tap[i].slot >= 0 && sources->delta[i] == 0)
      sources->center = i;
  }
}

/* Every frame with a weight has its own staged form, unless frames are averaged. */
static gboolean
run_launch(CudaSession *self, const CnvWork *work, const CnvLaunch *l, const CnvFrame *in, const CnvFrame *out,
           GError **error)
{
  guint n_staged = l->kernel == CNV_KERNEL_STAGE_IN && !self->schedule.averages ? work->n_temporal_taps : 0;
  gboolean ok = load_bank(self, l->bank, error);

  if (ok && cnv_kernel_kind(l->kernel)->variants)
    return run_tile_jobs(self, l, in, out, error);
  if (ok && n_staged == 0)
    return run_block_jobs(self, l, 0, in, out, error);
  for (guint i = 0; i < n_staged && ok; i++)
    ok = run_block_jobs(self, l, i, source_frame(self, &work->temporal_tap[i], in), out, error);
  return ok;
}

static gboolean
run_launches(CudaSession *self, const CnvWork *work, const CnvFrame *in, const CnvFrame *out, GError **error)
{
  const CnvSchedule *schedule = &self->schedule;
  gboolean ok = TRUE;

  for (guint i = 0; i < schedule->launches->len && ok; i++)
    ok = run_launch(self, work, &g_array_index(schedule->launches, CnvLaunch, i), in, out, error);
  return ok;
}

/* Copies the rectangles that the work writes from one frame to the other. */
static gboolean
copy_jobs(CudaSession *self, const CnvFrame *from, const CnvFrame *to, GError **error)
{
  const CnvSchedule *schedule = &self->schedule;
  CnvCopyJobsArgs args = {.jobs = self->work_arrays.address + schedule->copies_at,
                          .blocks = self->work_arrays.address + schedule->copy_numbers_at,
                          .in = cnv_cuda_planes_of(from),
                          .out = cnv_cuda_planes_of(to)};
  CUlaunchConfig config = {.gridDimX = schedule->copy_numbers->len,
                           .gridDimY = 1,
                           .gridDimZ = 1,
                           .blockDimX = 32,
                           .blockDimY = 8,
                           .blockDimZ = 1};

  return schedule->copies->len == 0 || cnv_cuda_start(self, self->copy_jobs, config, &args, error);
}

/* In place, unless one launch does it, the jobs write to a scratch frame, which is copied back after the last one,
 * because until then jobs read the samples around them. Samples of their rectangles that no job writes are copied to
 * the scratch frame first. */
static gboolean
filter(CudaSession *self, const CnvWork *work, const CnvFrame *in, const CnvFrame *out, GError **error)
{
  const CnvFrame on_host = {.memory = CNV_MEMORY_HOST};
  const CnvSchedule *schedule = &self->schedule;
  gboolean in_place = schedule->in_place;
  CnvFrame to = *out;

  if (schedule->at_once)
    return filter_at_once(self, out, error);
  if (in_place && (!cnv_cuda_device_frame(self, &on_host, &self->scratch, &to, error) ||
                   (schedule->copies_more && !copy_jobs(self, in, &to, error))))
    return FALSE;
  if (!in_place && !schedule->beside && !copy_rest(self, in, out, error))
    return FALSE;
  return run_launches(self, work, in, &to, error) &&
         (in_place || !schedule->beside || copy_rest(self, in, out, error)) &&
         (!in_place || copy_jobs(self, &to, out, error));
}

gboolean
cnv_cuda_filter(CudaSession *self, const CnvWork *work, const CnvFrame *in, const CnvFrame *out, GError **error)
{
  CNV_RANGE("compute");

  locate_sources(self, work, in);
  return cnv_cuda_mark(self, SPAN_COMPUTE, 0, self->stream, error) &&
         cnv_cuda_set_thresholds(self, work->plan[0], in, error) && filter(self, work, in, out, error) &&
         cnv_cuda_mark(self, SPAN_COMPUTE, 1, self->stream, error);
}
