/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Planes made ready when the plans change, and the memory of threads that filter them: nothing is allocated for a
 * frame.
 */
#pragma once

#include "cpu/types.h"

G_BEGIN_DECLS

/* Zero before the first use. */
typedef struct {
  CnvPlan *plan[CNV_MAX_PLANS];
  guint n_plans;
  CpuPlane *plane;   /* CNV_MAX_PLANES of each plan */
  CpuWorker *worker; /* one a thread */
  guint8 *block;     /* of all arrays of planes and workers */
  gsize block_size;
} CpuPrepared;

/* Takes references of the plans. FALSE with CNV_ERROR_MEMORY, and then there are no plans. */
gboolean cnv_cpu_prepare(CpuPrepared *self, const CnvWork *work, guint n_threads, GError **error);
void cnv_cpu_prepared_clear(CpuPrepared *self);

/* Lays out a worker's memory for a plane. */
void cnv_cpu_worker_lay_out(CpuWorker *worker, const CpuPlane *plane);

/* Samples of a tile's row, of rows of so many: near what fits into cache, and much the same for all tiles. */
int cnv_cpu_tile_samples(const CpuPlane *plane, int samples);

G_END_DECLS
