/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Plans and work on the device: uploaded when they change, between the frames on the stream.
 */
#include "gpu/session.h"

/* Layout of the planes that are staged as float32; the others are left out. */
static CnvLayout
staged_layout(const CnvPlan *plan)
{
  CnvLayout layout = {.size = 0};

  for (int p = 0; p < plan->n_planes; p++)
    if (plan->plane[p].filtered && !plan->plane[p].plain)
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

/* Taps follow the frames before them on the stream, so no frame sees half of them. Where there are several constant
 * banks they wait on the device for their turn. If it fails the caller forgets the plans. */
gboolean
cnv_cuda_set_work(CudaSession *self, const CnvWork *work, gboolean cut, GError **error)
{
  CnvSchedule *schedule = &self->schedule;
  const CnvPlan *plan = work->plan[0];

  if (cnv_schedule_set_plans(schedule, work)) {
    self->loaded_bank = -1;
    self->layout = plan->layout;
    self->staged = staged_layout(plan);
  }
  if (!cnv_schedule_set_work(schedule, work, cut))
    return TRUE;
  self->base.stats.crowd = MAX(self->base.stats.crowd, schedule->crowd);
  /* As many staged frames as there can be: all that is allocated is with the first. */
  return (!schedule->has_new_taps ||
          upload(self, schedule->plan_arrays, &self->plan_arrays, "uploading the taps", error)) &&
         cnv_cuda_reserve(self, &self->sums, FALSE, schedule->sums_size, error) &&
         cnv_cuda_reserve(self, &self->staged_in, FALSE, self->staged.size * (guint)plan->n_temporal_taps, error) &&
         cnv_cuda_reserve(self, &self->staged_out, FALSE, self->staged.size, error) &&
         upload(self, schedule->work_arrays, &self->work_arrays, "uploading the work", error);
}
