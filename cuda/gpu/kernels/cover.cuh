/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * cover: computes the weights of jobs when regions change. A thread computes a word, the weights of four pixels; beside
 * a job's rows they are 0.
 */
#pragma once

#include "gpu/kernels/block.cuh"
#include "plan/regions/shape.h"

__device__ static void
cover(const CnvCoverArgs &l)
{
  const CnvBlockJob *jobs = (const CnvBlockJob *)l.jobs, *from = jobs + find_job(jobs, l.n_jobs);
  const CnvJob &job = from->job;
  const CnvCover arrays = {(const CnvGrid *)l.grids,       (const CnvCell *)l.cells,
                           (const uint16_t *)l.lists,      (const CnvPlaneShape *)l.shapes,
                           (const CnvMaskPlace *)l.places, (const uint8_t *)l.mask_cells};
  const int block = blockIdx.x - from->first_block, aligned = job.x % CNV_COVERAGE_ALIGNMENT;
  const int column = block % from->columns * CNV_COVER_WIDTH + threadIdx.x * 4;
  const int row = block / from->columns * CNV_COVER_HEIGHT + threadIdx.y;
  uint32_t word = 0;

  wait_for_launch_before();
  let_next_launch_begin();
  if (column >= cnv_coverage_bytes(&job) || row >= job.height)
    return;
#pragma unroll 1
  for (int i = 0; i < 4; i++) {
    const int x = column + i - aligned;

    if (x >= 0 && x < job.width)
      word |= (uint32_t)cnv_cover_weight(&arrays, &job, job.x + x, job.y + row) << 8 * i;
  }
  *(uint32_t *)(l.coverage + job.coverage - aligned + (int64_t)row * job.coverage_pitch + column) = word;
}
