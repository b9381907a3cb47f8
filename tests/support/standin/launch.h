/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * A launch as its kernel's code sees it, and what the sources that do jobs share.
 *
 * What a job's outputs are follows from its plane and from the taps in constant memory: no kernel's own way to the
 * numbers is followed. Jobs of kinds that only prepare another launch (row sums, sums of cells, decimated samples)
 * leave marks in memory, which those that depend on them look for.
 */
#pragma once

#include "gpu/kinds.h"
#include "samples.h"

G_BEGIN_DECLS

typedef struct {
  const char *name;
  CnvKernelId id;            /* of kernels with jobs */
  const CnvVariant *variant; /* of kernels with tile jobs: of several with the kernel's name, the first */
  const Op *op;
  const LaunchSize *size;
  const void *args;
  const float *taps; /* constant memory */
} KernelRun;

void blocks_run(const KernelRun *run);   /* with CnvBlockArgs */
void blocks_cover(const KernelRun *run); /* with CnvCoverArgs */
void tiles_run(const KernelRun *run);    /* with CnvTileArgs */

/* Writes a mark on n numbers of so many bytes, or if `writes` is FALSE reports any that do not have it. The mark is that
 * of the job, its plane, and a number `part`. what: the numbers are. */
void launch_mark(const KernelRun *run, guint64 address, gsize n, gsize bytes, const CnvJob *job, int part,
                 gboolean writes, const char *what);

G_END_DECLS
