/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Kernel kinds: the ways to filter on a GPU, a row of a table each. The choice of an algorithm, the schedule, the
 * launcher and tests walk that table.
 *
 * Kinds differ in what a block is given. Of units it takes one: a job, or a term of it, of any plane, with taps in
 * constant memory. Of tile jobs it makes tiles of a job that is done in one launch.
 *
 * To add a kind: its row in a source of its own, and its line in kinds.c.
 */
#pragma once

#include "gpu/fit.h"
#include "gpu/kernels/arguments.h"

G_BEGIN_DECLS

/* In the order of their launches. */
typedef enum {
  CNV_KERNEL_STAGE_IN,
  CNV_KERNEL_NAIVE,
  CNV_KERNEL_TILED,
  CNV_KERNEL_TEXTURE_ROWS,
  CNV_KERNEL_TEXTURE_COLUMNS,
  CNV_KERNEL_ROWS,
  CNV_KERNEL_COLUMNS,
  CNV_KERNEL_FUSED, /* the first with tile jobs */
  CNV_KERNEL_TENSOR,
  CNV_KERNEL_DENSE,
  CNV_KERNEL_STAGE_OUT,
  CNV_N_KERNELS,
} CnvKernelId;

typedef struct {
  const char *name;
  CnvAlgorithm algorithm; /* whose jobs it does; AUTO: those of all, before and after them */
  guint threads_x, threads_y;

  /* Kinds with units. */
  int block_x, block_y; /* samples and rows that a block makes */
  gboolean by_pixels;   /* pixels and rows */
  gboolean by_terms;    /* a unit is the row sums of one term of a job */

  /* Kinds with tile jobs: */
  const CnvVariant *variants; /* from small to large, up to one without a name; NULL: it has units */
  /* FALSE with the reason (CNV_ERROR_UNSUPPORTED) where it cannot do the plane. */
  gboolean (*fits)(const CnvPlan *plan, const CnvPlane *plane, CnvNeeds *needs, GError **error);
  /* Appends the plane's taps (guint32 words) as the variant takes them; returns the gain for their sums. NULL: taps are
   * in constant memory. */
  float (*append_weights)(GArray *words, const CnvPlan *plan, const CnvPlane *plane, const CnvVariant *variant,
                          const CnvNeeds *needs);
  /* Fills in what the kind's own job has beyond the plane's numbers; NULL: nothing. */
  void (*set_job)(CnvTileJob *job, const CnvPlan *plan, const CnvVariant *variant, const CnvNeeds *needs);
  /* Samples of a tile's width. */
  int (*tile_width)(const CnvVariant *variant, const CnvTileJob *job);
  /* Rows of a tile of that size, from 1 on, where taps reach over so many rows; below 1: too small a size. */
  int (*tile_rows)(const CnvVariant *variant, int rows, int size);
  gboolean low_tiles; /* tiles are as low as lets the GPU do all of a launch side by side, else of size 1 */
  /* Counts the columns of tiles at the job's sides that are done by groups of 16 samples; NULL: none. */
  void (*count_side_columns)(CnvTileJob *job, const CnvVariant *variant);
  /* Bytes that a launch asks for; NULL: none. tile_rows: at most. */
  guint (*shared_bytes)(const CnvVariant *variant, const CnvNeeds *needs, int tile_rows);
} CnvKernelKind;

extern const CnvKernelKind cnv_kind_fused, cnv_kind_tensor, cnv_kind_dense;

const CnvKernelKind *cnv_kernel_kind(CnvKernelId kernel);

/* The kind with tile jobs that does the plane by that algorithm; CNV_N_KERNELS: it is none of theirs. */
CnvKernelId cnv_kernel_with_tiles(CnvAlgorithm algorithm, const CnvPlan *plan, const CnvPlane *plane);

/* FALSE with the reason (CNV_ERROR_UNSUPPORTED) where the algorithm is one with tile jobs and cannot do the plane. */
gboolean cnv_kernel_fits(CnvAlgorithm algorithm, const CnvPlan *plan, const CnvPlane *plane, GError **error);

G_END_DECLS
