/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Kernel kinds: the ways to filter on a GPU, a row of a table each. The choice of an algorithm, the schedule, the
 * launcher and tests walk that table.
 *
 * Kinds with block jobs do any plane, with taps in constant memory; of a job each block makes a rectangle. Kinds with
 * tile jobs do a job in one launch.
 *
 * To add a kind: its row in a source of its own, and its line in kinds.c.
 */
#pragma once

#include "gpu/fit.h"
#include "gpu/kernels/arguments.h"

/* In the order of their launches. */
typedef enum {
  CNV_KERNEL_STAGE_IN,
  CNV_KERNEL_NAIVE,
  CNV_KERNEL_MOSAIC,
  CNV_KERNEL_CELL_SUMS, /* cells, before CELLS: the sums of slices */
  CNV_KERNEL_CELLS,
  CNV_KERNEL_TILED,
  CNV_KERNEL_TEXTURE_ROWS,
  CNV_KERNEL_TEXTURE_COLUMNS,
  CNV_KERNEL_ROWS,
  CNV_KERNEL_COLUMNS,
  CNV_KERNEL_FUSED, /* the first with tile jobs */
  CNV_KERNEL_ONE_TAP,
  CNV_KERNEL_BLUR,
  CNV_KERNEL_DENSE,
  CNV_KERNEL_DECIMATE, /* for the jobs of interpolate */
  CNV_KERNEL_DECIMATE_AGAIN,
  CNV_KERNEL_INTERPOLATE,
  CNV_KERNEL_STAGE_OUT,
  CNV_N_KERNELS,
} CnvKernelId;

/* Returns TRUE for the kernels that do a plane whose kernel is interpolate. */
static inline gboolean
cnv_kernel_is_decimated(CnvKernelId kernel)
{
  return kernel >= CNV_KERNEL_DECIMATE && kernel <= CNV_KERNEL_INTERPOLATE;
}

/* A plane, and how it is done. */
typedef struct {
  const CnvPlan *plan;
  const CnvPlane *plane;
  guint bank;             /* of taps in constant memory */
  CnvKernelId kernel;     /* with tile jobs; CNV_N_KERNELS: none */
  CnvNeeds needs, shared; /* shared: with the same plane of other plans, whose tiles come by the same tensor map */
  const CnvVariant *variant;
  CnvTileJob tile_job;               /* of all of the plane, not yet cut into tiles */
  guint decimate_words, again_words; /* interpolate: the first words of taps for decimate and decimate_again */
} CnvPlaneKernel;

typedef struct {
  const char *name;
  CnvAlgorithm algorithm; /* whose jobs it does; AUTO: those of all, before and after them */
  guint threads_x, threads_y;

  /* Kinds with block jobs. */
  int block_x, block_y; /* samples and rows that a block makes */
  gboolean by_pixels;   /* pixels and rows */
  gboolean by_cells;    /* cells of a mosaic, as cnv_mosaic_blocks counts them */
  gboolean divides;     /* cells of a mosaic, as gpu/cells.c divides them */
  gboolean by_terms;    /* it makes the row sums of all terms, one below the other */

  /* Kinds with tile jobs: */
  guint shared_max;       /* bytes that a block may ask for */
  guint shared_over_time; /* of tiles of several frames, at most, as far as 16 rows fit: several blocks are faster */
  const CnvVariant *variants; /* from small to large, up to one without a name; NULL: it has block jobs */
  /* FALSE with the reason (CNV_ERROR_UNSUPPORTED) where it cannot do the plane. */
  gboolean (*fits)(const CnvPlan *plan, const CnvPlane *plane, CnvNeeds *needs, GError **error);
  /* Fills in the tile job's numbers, which has the plane's, and appends its taps (guint32 words) as the variant takes
   * them. weight: of each frame over time. */
  void (*set_job)(CnvPlaneKernel *of, GArray *words, const float *weight);
  /* Rows of a tile with its apron, or of a stage of a ring. rows: of a tile's outputs. */
  int (*box_rows)(const CnvVariant *variant, const CnvNeeds *needs, int rows);
} CnvKernelKind;

extern const CnvKernelKind cnv_kind_fused, cnv_kind_one_tap, cnv_kind_blur, cnv_kind_dense, cnv_kind_decimate,
    cnv_kind_decimate_again, cnv_kind_interpolate;

/* Bytes of shared memory that a block may ask for, without its kernel's own (tests/unit/kernel_resources.py): on every
 * GPU that has tensor cores, 99 KiB in all, and for fused from compute capability 7.0 on, 64 KiB. */
#define CNV_SHARED_MAX (99 * 1024 - 4096)
#define CNV_SHARED_MAX_FUSED (64 * 1024 - 22528)

/* The least rows of a tile, and what they differ by. */
#define CNV_TILE_STEP 16

const CnvKernelKind *cnv_kernel_kind(CnvKernelId kernel);

/* TRUE for algorithms whose kernels have tile jobs. */
gboolean cnv_algorithm_has_tiles(CnvAlgorithm algorithm);

/* The kind with tile jobs that does the plane by its algorithm, and what the plane needs of it; CNV_N_KERNELS: none,
 * with the reason (CNV_ERROR_UNSUPPORTED) where the algorithm has such kinds. has_windows: jobs may have windows
 * smaller than the plane, of which decimated samples would not be exact enough. */
CnvKernelId cnv_kernel_with_tiles(CnvAlgorithm algorithm, const CnvPlan *plan, const CnvPlane *plane,
                                  gboolean has_windows, CnvNeeds *needs, GError **error);

/* Bytes of shared memory that tiles of so many rows of outputs take of a launch. */
guint cnv_kernel_shared_bytes(const CnvKernelKind *kind, const CnvVariant *variant, const CnvNeeds *needs, int rows);

/* The smallest variant of a kind for these needs, or NULL. */
const CnvVariant *cnv_variant_find(const CnvKernelKind *kind, const CnvNeeds *needs);
