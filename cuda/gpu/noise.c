/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Thresholds over time. A kernel measures the noise and computes the thresholds that follow from it; the host never
 * waits for them.
 */
#include <string.h>

#include "gpu/session.h"
#include "plan/noise.h"

/* Makes the state of the noise, with counts of 0. */
static gboolean
make_state(CudaSession *self, GError **error)
{
  static const CnvNoiseState none;

  if (self->noise.state.size > 0)
    return TRUE;
  if (!cnv_cuda_reserve(self, &self->noise.seen, TRUE, sizeof(none.threshold), error) ||
      !cnv_cuda_reserve(self, &self->noise.state, FALSE, sizeof(none), error))
    return FALSE;
  memset((void *)(guintptr)self->noise.seen.address, 0, sizeof(none.threshold)); /* until the first measurement ends */
  if (CHECK(self, cuMemcpyHtoDAsync(self->noise.state.address, &none, sizeof(none), self->stream),
            "clearing the state of the noise", error))
    return TRUE;
  cnv_cuda_free(self, &self->noise.state);
  return FALSE;
}

/* Measures the noise from the output's frame and the frame before it, or else after it. There is none beyond a cut. */
static gboolean
measure(CudaSession *self, const CnvImage *image, const CnvFrame *in, GError **error)
{
  const CnvSources *sources = &self->schedule.sources;
  const int other = sources->center + (sources->center > 0 ? -1 : 1);
  const CUlaunchConfig config = {.gridDimX = CNV_NOISE_BLOCKS,
                                 .gridDimY = (guint)image->format->n_planes,
                                 .gridDimZ = 1,
                                 .blockDimX = CNV_NOISE_THREADS,
                                 .blockDimY = 1,
                                 .blockDimZ = 1};
  CnvNoiseArgs args = {.in = cnv_cuda_planes_of(in), .n = (int)self->noise.n};

  if (sources->n < 2 || sources->weight[other] == 0)
    return TRUE;
  if (!make_state(self, error))
    return FALSE;
  for (int p = 0; p < image->format->n_planes; p++) {
    CnvNoisePlane *plane = &args.plane[p];

    plane->width = cnv_format_plane_width(image->format, p, image->width);
    plane->height = cnv_format_plane_height(image->format, p, image->height);
    plane->channels = cnv_noise_components(image->format, p, plane->component);
  }
  args.delta = sources->delta[other];
  args.state = self->noise.state.address;
  args.seen = self->noise.seen.address;
  if (!cnv_cuda_start(self, self->measure_noise, config, &args, error))
    return FALSE;
  /* Only the slot of the next measurement depends on the number, once there are enough. */
  if (++self->noise.n == 2 * CNV_NOISE_FRAMES)
    self->noise.n = CNV_NOISE_FRAMES;
  return TRUE;
}

gboolean
cnv_cuda_set_thresholds(CudaSession *self, const CnvPlan *plan, const CnvFrame *in, GError **error)
{
  CnvThresholds *threshold = &self->noise.threshold;
  gboolean is_measured = plan->threshold < 0;

  if (is_measured && !measure(self, &plan->image, in, error))
    return FALSE;
  is_measured = is_measured && self->noise.n > 0; /* 0 before the first measurement */
  threshold->measured = is_measured ? self->noise.state.address + G_STRUCT_OFFSET(CnvNoiseState, threshold) : 0;
  for (int p = 0; p < CNV_MAX_PLANES; p++) {
    threshold->given[p] = (float)MAX(plan->threshold, 0);
    self->base.stats.threshold[p] =
        is_measured ? ((const float *)(guintptr)self->noise.seen.address)[p] : threshold->given[p];
  }
  return TRUE;
}
