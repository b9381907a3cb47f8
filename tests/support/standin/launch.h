/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * A launch as its kernel's code sees it, and what blocks.c and tiles.c share.
 *
 * A job's outputs are computed from its plane and the taps in constant memory, not in the way of the kernel. Jobs that
 * only prepare another launch (row sums, sums of cells, decimated samples) leave marks in memory. Jobs that depend on
 * them look for the marks.
 */
#pragma once

#include "gpu/kinds.h"
#include "samples.h"

G_BEGIN_DECLS

typedef struct {
  const char *name;
  CnvKernelId id;            /* of kernels with jobs */
  const CnvVariant *variant; /* of kernels with tile jobs: the first variant with the name */
  const Op *op;
  const LaunchSize *size;
  const void *args;
  const float *taps; /* constant memory */
} KernelRun;

void blocks_run(const KernelRun *run);   /* with CnvBlockArgs */
void blocks_cover(const KernelRun *run); /* with CnvCoverArgs */
void tiles_run(const KernelRun *run);    /* with CnvTileArgs */

/* Writes a mark to n numbers of `bytes` bytes each or, if `writes` is FALSE, reports numbers that do not have it. The
 * mark depends on the job, its plane and `part`. what: names a number in reports. */
void launch_mark(const KernelRun *run, guint64 address, gsize n, gsize bytes, const CnvJob *job, int part,
                 gboolean writes, const char *what);

G_END_DECLS
