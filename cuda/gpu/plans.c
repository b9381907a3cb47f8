/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * What of the plans and the work is on the device: uploaded when it changes, between the frames on the stream.
 */
#include "gpu/session.h"
#include "gpu/strips.h"

const char *const cnv_cuda_type_name[N_TYPES] = {"u8", "u16", "f32"};

SampleType
cnv_cuda_sample_type(const CudaSession *self)
{
  const CnvPlan *plan = g_ptr_array_index(self->table.plans, 0);

  return plan->image.format->sample_bytes == 1 ? TYPE_U8 : TYPE_U16;
}

/* The kernel for strips of that kind, where there are any. */
static gboolean
find_strips(CudaSession *self, CnvKernelKind kind, GError **error)
{
  const CnvKernelName *of = cnv_strips_kernel(&self->table, kind);
  g_autofree char *name = NULL;

  if (!of)
    return TRUE;
  self->shared_allowed[kind] = 0;
  name = g_strdup_printf("cnv_%s_%s_%s", of->kernel, cnv_cuda_type_name[cnv_cuda_sample_type(self)], of->suffix);
  return CHECK(self, cuModuleGetFunction(&self->strips[kind], self->module, name), name, error);
}

/* How many blocks of tensor the GPU does side by side. */
static gboolean
count_blocks(CudaSession *self, GError **error)
{
  int blocks = 0;

  if (!self->table.tensor)
    return TRUE;
  if (!cnv_cuda_allow_shared(self, CNV_KERNEL_TENSOR, self->table.tensor_shared, error) ||
      !CHECK(self,
             cuOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, self->strips[CNV_KERNEL_TENSOR], 32 * CNV_STRIP_WARPS,
                                                         self->table.tensor_shared),
             "asking how many blocks fit", error))
    return FALSE;
  self->table.n_blocks = blocks * self->n_processors;
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
  return count_blocks(self, error) && cnv_cuda_reserve(self, &self->bands, size, error) &&
         cnv_cuda_upload(self, self->bands.address, bands->data, size, "uploading the bands", error);
}

/* Takes over new plans: their taps follow the frames before them on the stream, so no frame sees half of them. Where
 * there are several batches their taps wait on the device for their turn. */
static gboolean
set_plans(CudaSession *self, const CnvWork *work, GError **error)
{
  CnvSchedule *table = &self->table;
  gsize size;

  if (cnv_table_has_plans(table, work))
    return TRUE;
  cnv_table_set_plans(table, work);
  self->loaded_batch = -1;
  self->table_is_there = FALSE;
  self->layout = cnv_cuda_frame_layout(&work->plan[0]->image);
  self->staged = cnv_cuda_staged_layout(work->plan[0]);
  size = table->taps->len * sizeof(float);
  return cnv_cuda_reserve(self, &self->all_taps, size, error) &&
         cnv_cuda_upload(self, self->all_taps.address, table->taps->data, size, "uploading the taps", error) &&
         set_strips(self, error);
}

gboolean
cnv_cuda_load_batch(CudaSession *self, guint batch, GError **error)
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

gboolean
cnv_cuda_set_work(CudaSession *self, const CnvWork *work, gboolean cut, GError **error)
{
  CnvSchedule *table = &self->table;
  /* As many frames as there can be: all that is allocated is with the first. */
  guint n_frames = (guint)work->plan[0]->n_temporal_taps;

  if (!set_plans(self, work, error))
    return FALSE;
  if (cnv_table_set_work(table, work, cut))
    self->table_is_there = FALSE;
  self->base.stats.crowd = MAX(self->base.stats.crowd, table->crowd);
  if (self->table_is_there && self->staged_in.size >= self->staged.size * n_frames)
    return TRUE;
  if (!cnv_cuda_reserve(self, &self->sums, table->sums_size, error) ||
      !cnv_cuda_reserve(self, &self->staged_in, self->staged.size * n_frames, error) ||
      !cnv_cuda_reserve(self, &self->staged_out, self->staged.size, error) ||
      !cnv_cuda_reserve(self, &self->block, table->block->len, error) ||
      !cnv_cuda_upload(self, self->block.address, table->block->data, table->block->len, "uploading the work", error))
    return FALSE;
  self->table_is_there = TRUE;
  return TRUE;
}
