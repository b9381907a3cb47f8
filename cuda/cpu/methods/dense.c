/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Multiplies by each tap in two dimensions. The ring holds loaded rows.
 */
#include "cpu/cpu.h"

static void
enter(CpuWorker *worker, const CpuTile *tile, int t, int k, int y, float *to)
{
  cnv_cpu_load_row(worker, tile, t, y, to);
}

static void
sum(CpuWorker *worker, const CpuTile *tile, int t, int y, const float *const *rows)
{
  tile->frame->simd->dense(worker->term[t].acc, tile->plane->acc_stride, rows, cnv_cpu_samples(tile),
                           &tile->plane->term[t].taps[CNV_Y]);
}

static void
run(CpuWorker *worker, const CpuTile *tile)
{
  static const CpuRing ring = {.repeats = TRUE, .enter = enter, .sum = sum};

  cnv_cpu_ring_run(worker, tile, &ring);
}

const CpuMethod cnv_cpu_dense = {
    .name = "dense",
    .algorithms = 1 << CNV_ALGORITHM_TILED,
    .unit = 1,
    .cost = cnv_cpu_cost_of_taps,
    .shape = cnv_cpu_shape_rings,
    .run = run,
};
