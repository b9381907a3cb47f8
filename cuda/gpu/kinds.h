/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Kernel kinds: the ways to filter on a GPU, one row of a table each. The choice of algorithms and kinds, the schedule,
 * the launcher and the tests walk that table.
 *
 * Kinds with block jobs filter any plane, with taps in constant memory; each block computes a rectangle of a job. Kinds
 * with tile jobs filter a job in one launch.
 *
 * To add a kind, write its row in a source of its own, and add its line to CNV_KINDS.
 */
#pragma once

#include "gpu/fit.h"
#include "gpu/kernels/arguments.h"

/* All kinds in the order of their launches: identifier, and row (cnv_kind_ROW). If two kinds cost the same, the first
 * one is chosen. If none fits, the error message has the reason of the last one. */
#define CNV_KINDS(K)                                                                                                   \
  K(STAGE_IN, stage_in)                                                                                                \
  K(NAIVE, naive)                                                                                                      \
  K(MOSAIC, mosaic)                                                                                                    \
  K(CELL_SUMS, cell_sums) /* the sums of slices, before CELLS */                                                       \
  K(CELLS, cells)                                                                                                      \
  K(TEXTURE_ROWS, texture_rows)                                                                                        \
  K(TEXTURE_COLUMNS, texture_columns)                                                                                  \
  K(ROWS, rows)                                                                                                        \
  K(COLUMNS, columns)                                                                                                  \
  K(TILED, tiled)                                                                                                      \
  K(FUSED, fused)                                                                                                      \
  K(ONE_TAP, one_tap)                                                                                                  \
  K(AVERAGE, average)                                                                                                  \
  K(DECIMATE, decimate)                                                                                                \
  K(DECIMATE_AGAIN, decimate_again)                                                                                    \
  K(INTERPOLATE, interpolate)                                                                                          \
  K(BLUR, blur)                                                                                                        \
  K(DENSE, dense)                                                                                                      \
  K(STAGE_OUT, stage_out)

#define CNV_KIND_ID(id, row) CNV_KERNEL_##id,
typedef enum { CNV_KINDS(CNV_KIND_ID) CNV_N_KERNELS } CnvKernelId;

/* A plane and the kernels that filter it. */
typedef struct {
  const CnvPlan *plan;
  const CnvPlane *plane;
  guint bank;             /* the plane's bank of taps in constant memory */
  CnvAlgorithm blocks;    /* algorithm whose block jobs filter what tile jobs do not */
  CnvKernelId kernel;     /* the plane's kind with tile jobs; CNV_N_KERNELS: none */
  CnvNeeds needs, shared; /* shared: joined with the same plane of other plans, which shares its tensor map */
  const CnvVariant *variant;
  CnvTileJob tile_job;               /* of the whole plane, not yet cut into tiles */
  guint decimate_words, again_words; /* interpolate: the first words of taps for decimate and decimate_again */
} CnvPlaneKernel;

typedef struct {
  const char *name;
  CnvAlgorithm algorithm; /* the algorithm whose jobs it filters; AUTO: stages the jobs of all algorithms */
  guint threads_x, threads_y;
  int capability; /* lowest compute capability, ten times the major number plus the minor one; 0: any */

  /* The choice. fits and cost are NULL for kinds that are never chosen themselves, but are launched with another kind
   * or when the user sets their algorithm.
   *
   * fits returns TRUE if the kind can filter the plane, and stores what the plane needs of it; else FALSE with the
   * reason (CNV_ERROR_UNSUPPORTED). */
  gboolean (*fits)(const CnvPlan *plan, const CnvPlane *plane, CnvNeeds *needs, GError **error);
  /* Returns the estimated time to filter a plane that fits, without the fixed time of a launch: microseconds per
   * million samples of a large frame on an H200. Constants are fitted to the figures of ../README.md and ../NOTES.md;
   * errors are about 10 %. needs: the plane's. variant: the variant that filters it, perhaps together with other
   * planes; NULL: the kind has no variants. */
  double (*cost)(const CnvPlan *plan, const CnvPlane *plane, const CnvNeeds *needs, const CnvVariant *variant);

  /* Kinds with block jobs. */
  int block_x, block_y; /* samples and rows that a block computes */
  gboolean by_pixels;   /* block_x counts pixels */
  gboolean by_cells;    /* a block computes cells of a mosaic, as cnv_mosaic_blocks counts them */
  gboolean divides;     /* a block computes cells of a mosaic, as gpu/cells.c divides them */
  gboolean by_terms;    /* computes the row sums of all terms, one term after the other */
  /* The first of two kinds that share a kernel. It computes the sums of slices (cells) or rows (texture) for the second,
   * or loads samples (stage) that the second stores. */
  gboolean is_first;

  /* Kinds with tile jobs: */
  guint shared_max;           /* bytes of shared memory per block */
  guint shared_over_time;     /* for tiles of several frames: less, so that several blocks fit; 16 rows may exceed it */
  const CnvVariant *variants; /* from small to large, ended by one without a name; NULL: the kind has block jobs */
  gboolean averages;          /* weighs frames by their differences; kinds with tile jobs do either that or not */
  gboolean whole_windows;     /* needs jobs whose window is the plane */
  gboolean lists_tiles;       /* reads a list of tiles, so it can filter whole jobs; rings do not */
  CnvKernelId first;          /* its planes are filtered by all launches from this kind to its own; 0: only its own */
  const char *method;         /* CnvSessionStats.method; NULL: the name */
  /* Fills in the numbers of the tile job that only this kind has, and appends its taps (guint32 words) in the variant's
   * order. weight: of each frame over time. */
  void (*set_job)(CnvPlaneKernel *plane_kernel, GArray *words, const float *weight);
  /* Returns the rows of a tile with its apron, or of a stage of a ring. rows: of a tile's outputs. */
  int (*box_rows)(const CnvVariant *variant, const CnvNeeds *needs, int rows);
} CnvKernelKind;

#define CNV_KIND_ROW(id, row) extern const CnvKernelKind cnv_kind_##row;
CNV_KINDS(CNV_KIND_ROW)

/* Most bytes of shared memory of a block, not counting those that its kernel declares itself
 * (tests/unit/kernel_resources.py). The limit for both is 99 KiB on every GPU that has tensor cores, and 64 KiB for
 * fused, which needs only compute capability 7.0. */
#define CNV_SHARED_MAX (99 * 1024 - 4096)
#define CNV_SHARED_MAX_FUSED (64 * 1024 - 22528)

/* The fewest rows of a tile; larger tiles have a multiple of them. */
#define CNV_TILE_STEP 16

const CnvKernelKind *cnv_kernel_kind(CnvKernelId kernel);

/* Returns TRUE for algorithms whose kernels have tile jobs. */
gboolean cnv_algorithm_has_tiles(CnvAlgorithm algorithm);

/* Returns TRUE if a plane whose kernel is `kernel` takes part in launches of `launched`. */
gboolean cnv_kernel_takes_part(CnvKernelId kernel, CnvKernelId launched);
