/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Plans and work on the device: uploaded when they change, between the frames on the stream.
 */
#include "gpu/session.h"

/* cnv_<variant>_<type>_<suffix>, cnv_<variant>_<type> where there is but one, or else cnv_<kernel>. */
static char *
function_name(const CnvKernelKind *kind, const CnvVariant *variant, gboolean is_u16)
{
  const char *type = is_u16 ? "u16" : "u8";

  if (variant && variant->suffix)
    return g_strdup_printf("cnv_%s_%s_%s", variant->name, type, variant->suffix);
  return variant ? g_strdup_printf("cnv_%s_%s", variant->name, type) : g_strdup_printf("cnv_%s", kind->name);
}

CUfunction
cnv_cuda_find_function(CudaSession *self, const CnvLaunch *l, GError **error)
{
  const CnvKernelKind *kind = cnv_kernel_kind(l->kernel);
  const CnvVariant *variant = self->schedule.variant[l->kernel];
  const CnvPlan *plan = g_ptr_array_index(self->schedule.plans, 0);
  gboolean is_u16 = plan->image.format->sample_bytes > 1;
  gconstpointer key = variant ? (gconstpointer)variant : kind;
  CUfunction function = g_hash_table_lookup(self->functions[is_u16], key);
  g_autofree char *name = NULL;

  if (function)
    return function;
  name = function_name(kind, variant, is_u16);
  if (!CHECK(self, cuModuleGetFunction(&function, self->module, name), name, error) ||
      (variant &&
       !CHECK(self,
              cuFuncSetAttribute(function, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, (int)kind->shared_max),
              "asking for shared memory", error)))
    return NULL;
  g_hash_table_insert(self->functions[is_u16], (gpointer)key, function);
  return function;
}

static gboolean
upload(CudaSession *self, const GByteArray *arrays, CudaBuffer *to, const char *doing, GError **error)
{
  return cnv_cuda_reserve(self, to, arrays->len, error) &&
         (arrays->len == 0 ||
          CHECK(self, cuMemcpyHtoDAsync(to->address, arrays->data, arrays->len, self->stream), doing, error));
}

/* Takes over new plans. */
static void
set_plans(CudaSession *self, const CnvWork *work)
{
  CnvSchedule *schedule = &self->schedule;

  if (cnv_schedule_has_plans(schedule, work))
    return;
  schedule->n_processors = (guint)self->n_processors;
  cnv_schedule_set_plans(schedule, work);
  self->loaded_bank = -1;
  self->is_uploaded = FALSE;
  self->layout = work->plan[0]->layout;
  self->staged = cnv_cuda_staged_layout(work->plan[0]);
}

/* Taps follow the frames before them on the stream, so no frame sees half of them. Where there are several constant
 * banks they wait on the device for their turn. */
static gboolean
upload_taps(CudaSession *self, GError **error)
{
  if (self->schedule.has_new_taps &&
      !upload(self, self->schedule.plan_arrays, &self->plan_arrays, "uploading the taps", error))
    return FALSE;
  self->schedule.has_new_taps = FALSE;
  return TRUE;
}

gboolean
cnv_cuda_load_bank(CudaSession *self, guint bank, GError **error)
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

gboolean
cnv_cuda_set_work(CudaSession *self, const CnvWork *work, gboolean cut, GError **error)
{
  CnvSchedule *schedule = &self->schedule;
  /* As many frames as there can be: all that is allocated is with the first. */
  guint n_frames = (guint)work->plan[0]->n_temporal_taps;

  set_plans(self, work);
  if (cnv_schedule_set_work(schedule, work, cut))
    self->is_uploaded = FALSE;
  if (!upload_taps(self, error))
    return FALSE;
  self->base.stats.crowd = MAX(self->base.stats.crowd, schedule->crowd);
  if (self->is_uploaded && self->staged_in.size >= self->staged.size * n_frames)
    return TRUE;
  if (!cnv_cuda_reserve(self, &self->sums, schedule->sums_size, error) ||
      !cnv_cuda_reserve(self, &self->staged_in, self->staged.size * n_frames, error) ||
      !cnv_cuda_reserve(self, &self->staged_out, self->staged.size, error) ||
      !upload(self, schedule->work_arrays, &self->work_arrays, "uploading the work", error))
    return FALSE;
  self->is_uploaded = TRUE;
  return TRUE;
}
