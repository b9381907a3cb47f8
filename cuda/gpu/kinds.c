/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gpu/kinds.h"

#define EACH(n)                                                                                                        \
  {                                                                                                                    \
    n, n, n, n                                                                                                         \
  }
#define POINTS CNV_POINT_WIDTH, CNV_POINT_HEIGHT, .block_x = EACH(CNV_POINT_WIDTH), .block_y = EACH(CNV_POINT_HEIGHT)

static guint
tiled_floats(const CnvPlane *plane, const CnvTerm *term)
{
  return CNV_TILED_PITCH(plane->channels, cnv_tiled_chunk(term->n[CNV_X], CNV_TILED_CHUNK_X(plane->channels))) *
         (CNV_TILED_HEIGHT + cnv_tiled_chunk(term->n[CNV_Y], CNV_TILED_CHUNK_Y) - 1);
}

static guint
rows_floats(const CnvPlane *plane, const CnvTerm *term)
{
  return CNV_ROWS_PITCH * CNV_ROWS_PER_BLOCK(1);
}

static guint
columns_floats(const CnvPlane *plane, const CnvTerm *term)
{
  return CNV_COLUMNS_WIDTH * (CNV_COLUMNS_HEIGHT + MIN(term->n[CNV_Y], CNV_COLUMNS_CHUNK) - 1);
}

static const CnvKernelKind unit_kinds[CNV_N_KERNELS] = {
    [CNV_KERNEL_STAGE_IN] = {"stage_in", CNV_ALGORITHM_AUTO, POINTS, .by_pixels = TRUE},
    [CNV_KERNEL_NAIVE] = {"naive", CNV_ALGORITHM_NAIVE, POINTS},
    [CNV_KERNEL_TILED] = {"tiled", CNV_ALGORITHM_TILED, CNV_TILED_WIDTH, CNV_TILED_HEIGHT / CNV_OUTPUTS,
                          .block_x = {CNV_TILED_WIDTH, CNV_TILED_WIDTH / 2, CNV_TILED_WIDTH / 3, CNV_TILED_WIDTH / 4},
                          .block_y = EACH(CNV_TILED_HEIGHT), .by_pixels = TRUE, .by_channels = TRUE,
                          .unit_floats = tiled_floats},
    [CNV_KERNEL_TEXTURE_ROWS] = {"texture_rows", CNV_ALGORITHM_TEXTURE, POINTS, .by_terms = TRUE},
    [CNV_KERNEL_TEXTURE_COLUMNS] = {"texture_columns", CNV_ALGORITHM_TEXTURE, POINTS},
    [CNV_KERNEL_ROWS] = {"rows", CNV_ALGORITHM_SEPARABLE, CNV_ROWS_THREADS, 1, .block_x = EACH(CNV_ROWS_PIXELS),
                         .block_y = {CNV_ROWS_PER_BLOCK(1), CNV_ROWS_PER_BLOCK(2), CNV_ROWS_PER_BLOCK(3),
                                     CNV_ROWS_PER_BLOCK(4)},
                         .by_pixels = TRUE, .by_terms = TRUE, .by_channels = TRUE, .unit_floats = rows_floats},
    [CNV_KERNEL_COLUMNS] = {"columns", CNV_ALGORITHM_SEPARABLE, CNV_COLUMNS_WIDTH / 2, CNV_COLUMNS_HEIGHT / CNV_OUTPUTS,
                            .block_x = EACH(CNV_COLUMNS_WIDTH), .block_y = EACH(CNV_COLUMNS_HEIGHT),
                            .by_channels = TRUE, .unit_floats = columns_floats},
    [CNV_KERNEL_STAGE_OUT] = {"stage_out", CNV_ALGORITHM_AUTO, POINTS, .by_pixels = TRUE},
};

const CnvKernelKind *
cnv_kernel_kind(CnvKernelId kernel)
{
  static const CnvKernelKind *const with_tiles[CNV_N_KERNELS] = {[CNV_KERNEL_FUSED] = &cnv_kind_fused,
                                                                 [CNV_KERNEL_TENSOR] = &cnv_kind_tensor,
                                                                 [CNV_KERNEL_DENSE] = &cnv_kind_dense};

  return with_tiles[kernel] ? with_tiles[kernel] : &unit_kinds[kernel];
}

CnvKernelId
cnv_kernel_with_tiles(CnvAlgorithm algorithm, const CnvPlan *plan, const CnvPlane *plane)
{
  if (algorithm == CNV_ALGORITHM_FUSED)
    return CNV_KERNEL_FUSED;
  if (algorithm == CNV_ALGORITHM_TENSOR)
    return cnv_fit_has_one_term(plan, plane) ? CNV_KERNEL_TENSOR : CNV_KERNEL_DENSE;
  return CNV_N_KERNELS;
}

gboolean
cnv_kernel_fits(CnvAlgorithm algorithm, const CnvPlan *plan, const CnvPlane *plane, GError **error)
{
  CnvKernelId kernel = cnv_kernel_with_tiles(algorithm, plan, plane);
  CnvNeeds needs;

  return kernel == CNV_N_KERNELS || cnv_kernel_kind(kernel)->fits(plan, plane, &needs, error);
}
