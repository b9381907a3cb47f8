/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gpu/kinds.h"

#define ADDRESS(id, row) &cnv_kind_##row,

const CnvKernelKind *
cnv_kernel_kind(CnvKernelId kernel)
{
  static const CnvKernelKind *const kinds[] = {CNV_KINDS(ADDRESS)};

  return kinds[kernel];
}

gboolean
cnv_algorithm_has_tiles(CnvAlgorithm algorithm)
{
  for (CnvKernelId k = 0; k < CNV_N_KERNELS; k++)
    if (cnv_kernel_kind(k)->algorithm == algorithm && cnv_kernel_kind(k)->variants)
      return TRUE;
  return FALSE;
}

gboolean
cnv_kernel_takes_part(CnvKernelId kernel, CnvKernelId launched)
{
  CnvKernelId first = cnv_kernel_kind(kernel)->first;

  return launched <= kernel && launched >= (first ? first : kernel);
}
