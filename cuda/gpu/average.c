/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The kind average (average.cuh): one tap per frame, weighted by the differences of frames (temporal-threshold).
 */
#include "gpu/one_tap.h"

static const CnvVariant variants[] = {
    {"average", .bytes = 1, .rows = 1, .terms = 1, .width = CNV_AVERAGE_WIDTH, .tile_rows = CNV_AVERAGE_ROWS},
    {"average", .bytes = 2, .rows = 1, .terms = 1, .width = CNV_AVERAGE_WIDTH, .tile_rows = CNV_AVERAGE_ROWS},
    {NULL}};

static void
set_job(CnvPlaneKernel *plane_kernel, GArray *words, const float *weight)
{
  cnv_one_tap_set_job(plane_kernel, words, weight);
  plane_kernel->tile_job.format_plane = plane_kernel->plane->format_plane;
}

/* Costs: 4K NV12, 3 frames 49 us, 5 67, 7 85; P010, 3 frames 70. */
static double
cost(const CnvPlan *plan, const CnvPlane *plane, const CnvNeeds *needs, const CnvVariant *variant)
{
  return (1.6 + 0.7 * needs->n_frames) * (1 + 0.43 * (needs->bytes - 1));
}

const CnvKernelKind cnv_kind_average = {
    "average",          CNV_ALGORITHM_TENSOR, 32 * CNV_AVERAGE_WARPS,      1,
    .capability = 80,   .averages = TRUE,     .fits = cnv_one_tap_fits,    .cost = cost,
    .set_job = set_job, .variants = variants, .box_rows = cnv_one_tap_rows};
