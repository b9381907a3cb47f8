/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gpu/kinds.h"

#define POINTS CNV_POINT_WIDTH, CNV_POINT_HEIGHT, .block_x = CNV_POINT_WIDTH, .block_y = CNV_POINT_HEIGHT
#define COLUMNS                                                                                                        \
  CNV_COLUMNS_WIDTH, CNV_COLUMNS_HEIGHT / CNV_OUTPUTS, .block_x = CNV_COLUMNS_WIDTH, .block_y = CNV_COLUMNS_HEIGHT
#define ROWS CNV_ROWS_WIDTH / CNV_OUTPUTS, CNV_ROWS_HEIGHT, .block_x = CNV_ROWS_WIDTH, .block_y = CNV_ROWS_HEIGHT

static const CnvKernelKind unit_kinds[CNV_N_KERNELS] = {
    [CNV_KERNEL_STAGE_IN] = {"stage_in", CNV_ALGORITHM_AUTO, POINTS, .by_pixels = TRUE},
    [CNV_KERNEL_NAIVE] = {"naive", CNV_ALGORITHM_NAIVE, POINTS},
    [CNV_KERNEL_TILED] = {"tiled", CNV_ALGORITHM_TILED, COLUMNS},
    [CNV_KERNEL_TEXTURE_ROWS] = {"texture_rows", CNV_ALGORITHM_TEXTURE, POINTS, .by_terms = TRUE},
    [CNV_KERNEL_TEXTURE_COLUMNS] = {"texture_columns", CNV_ALGORITHM_TEXTURE, POINTS},
    [CNV_KERNEL_ROWS] = {"rows", CNV_ALGORITHM_SEPARABLE, ROWS, .by_terms = TRUE},
    [CNV_KERNEL_COLUMNS] = {"columns", CNV_ALGORITHM_SEPARABLE, COLUMNS},
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
