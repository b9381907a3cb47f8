/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gpu/decimated.h"

#define POINTS CNV_POINT_WIDTH, CNV_POINT_HEIGHT, .block_x = CNV_POINT_WIDTH, .block_y = CNV_POINT_HEIGHT
#define COLUMNS                                                                                                        \
  CNV_COLUMNS_WIDTH, CNV_COLUMNS_HEIGHT / CNV_OUTPUTS, .block_x = CNV_COLUMNS_WIDTH, .block_y = CNV_COLUMNS_HEIGHT
#define ROWS CNV_ROWS_WIDTH / CNV_OUTPUTS, CNV_ROWS_HEIGHT, .block_x = CNV_ROWS_WIDTH, .block_y = CNV_ROWS_HEIGHT

static const CnvKernelKind with_blocks[CNV_N_KERNELS] = {
    [CNV_KERNEL_STAGE_IN] = {"stage_in", CNV_ALGORITHM_AUTO, POINTS, .by_pixels = TRUE},
    [CNV_KERNEL_NAIVE] = {"naive", CNV_ALGORITHM_NAIVE, POINTS},
    [CNV_KERNEL_MOSAIC] = {"mosaic", CNV_ALGORITHM_MOSAIC, CNV_MOSAIC_THREADS, CNV_BLOCK_THREADS / CNV_MOSAIC_THREADS,
                           .by_cells = TRUE},
    [CNV_KERNEL_CELL_SUMS] = {"cells", CNV_ALGORITHM_MOSAIC, CNV_BLOCK_THREADS, 1, .divides = TRUE},
    [CNV_KERNEL_CELLS] = {"cells", CNV_ALGORITHM_MOSAIC, CNV_BLOCK_THREADS, 1, .divides = TRUE},
    [CNV_KERNEL_TILED] = {"tiled", CNV_ALGORITHM_TILED, COLUMNS},
    [CNV_KERNEL_TEXTURE_ROWS] = {"texture", CNV_ALGORITHM_TEXTURE, POINTS, .by_terms = TRUE},
    [CNV_KERNEL_TEXTURE_COLUMNS] = {"texture", CNV_ALGORITHM_TEXTURE, POINTS},
    [CNV_KERNEL_ROWS] = {"rows", CNV_ALGORITHM_SEPARABLE, ROWS, .by_terms = TRUE},
    [CNV_KERNEL_COLUMNS] = {"columns", CNV_ALGORITHM_SEPARABLE, COLUMNS},
    [CNV_KERNEL_STAGE_OUT] = {"stage_out", CNV_ALGORITHM_AUTO, POINTS, .by_pixels = TRUE},
};

const CnvKernelKind *
cnv_kernel_kind(CnvKernelId kernel)
{
  static const CnvKernelKind *const with_tiles[CNV_N_KERNELS] = {[CNV_KERNEL_FUSED] = &cnv_kind_fused,
                                                                 [CNV_KERNEL_ONE_TAP] = &cnv_kind_one_tap,
                                                                 [CNV_KERNEL_BLUR] = &cnv_kind_blur,
                                                                 [CNV_KERNEL_DENSE] = &cnv_kind_dense,
                                                                 [CNV_KERNEL_DECIMATE] = &cnv_kind_decimate,
                                                                 [CNV_KERNEL_DECIMATE_AGAIN] = &cnv_kind_decimate_again,
                                                                 [CNV_KERNEL_INTERPOLATE] = &cnv_kind_interpolate};

  return with_tiles[kernel] ? with_tiles[kernel] : &with_blocks[kernel];
}

gboolean
cnv_algorithm_has_tiles(CnvAlgorithm algorithm)
{
  return algorithm == CNV_ALGORITHM_FUSED || algorithm == CNV_ALGORITHM_TENSOR;
}

/* Rows of taps up to which dense takes less time than blur with split numbers, for samples of 8 bits; over time where
 * frames fill the pairs that it takes. Finds what the plane needs of dense. */
#define DENSE_ROWS 7

static gboolean
is_small(const CnvPlan *plan, const CnvPlane *plane, const CnvNeeds *blur, CnvNeeds *dense)
{
  return blur->bytes == 1 && 2 * blur->rows + 1 <= DENSE_ROWS && cnv_kind_dense.fits(plan, plane, dense, NULL) &&
         (dense->n_frames == 1 || (dense->n_frames + 1) / 2 == cnv_variant_find(&cnv_kind_dense, dense)->pairs);
}

/* TRUE where blur would split numbers for some plane, or does not take it, and all others have so few rows of taps that
 * dense is better: planes share a kernel, and so a launch, wherever they can. */
static gboolean
prefers_dense(const CnvPlan *plan)
{
  gboolean prefers = FALSE;

  for (int p = 0; p < plan->n_planes; p++) {
    CnvNeeds needs, dense;

    if (!plan->plane[p].filtered)
      continue;
    if (!cnv_kind_blur.fits(plan, &plan->plane[p], &needs, NULL))
      prefers = TRUE;
    else if (!is_small(plan, &plan->plane[p], &needs, &dense))
      return FALSE;
    else
      prefers |= needs.digits > 1;
  }
  return prefers;
}

/* TRUE where every plane that is filtered has one tap a frame; all need the same then. */
static gboolean
has_single_taps(const CnvPlan *plan, CnvNeeds *needs)
{
  for (int p = 0; p < plan->n_planes; p++)
    if (plan->plane[p].filtered && !cnv_kind_one_tap.fits(plan, &plan->plane[p], needs, NULL))
      return FALSE;
  return TRUE;
}

CnvKernelId
cnv_kernel_with_tiles(CnvAlgorithm algorithm, const CnvPlan *plan, const CnvPlane *plane, gboolean has_windows,
                      CnvNeeds *needs, GError **error)
{
  CnvNeeds blur;

  if (algorithm == CNV_ALGORITHM_FUSED)
    return cnv_kind_fused.fits(plan, plane, needs, error) ? CNV_KERNEL_FUSED : CNV_N_KERNELS;
  if (algorithm != CNV_ALGORITHM_TENSOR)
    return CNV_N_KERNELS;
  if (has_single_taps(plan, needs))
    return CNV_KERNEL_ONE_TAP;
  if (!has_windows && cnv_decimated_suits(plan) && cnv_kind_interpolate.fits(plan, plane, needs, NULL))
    return CNV_KERNEL_INTERPOLATE;
  if (cnv_kind_blur.fits(plan, plane, &blur, NULL) && !(is_small(plan, plane, &blur, needs) && prefers_dense(plan))) {
    *needs = blur;
    return CNV_KERNEL_BLUR;
  }
  return cnv_kind_dense.fits(plan, plane, needs, error) ? CNV_KERNEL_DENSE : CNV_N_KERNELS;
}

guint
cnv_kernel_shared_bytes(const CnvKernelKind *kind, const CnvVariant *variant, const CnvNeeds *needs, int rows)
{
  guint tile;

  if (!variant->pitch)
    return 0;
  if (variant->ring)
    return (guint)cnv_ring_bytes(needs->bytes, variant->pitch, variant->k_x, cnv_ring_steps(needs), variant->ring,
                                 variant->digits);
  tile = CNV_TILE_BYTES((guint)variant->pitch, (guint)kind->box_rows(variant, needs, rows));
  return (guint)(needs->n_frames + (variant->weighed ? 1 : 0)) * tile + (guint)(rows * variant->width * needs->bytes);
}

const CnvVariant *
cnv_variant_find(const CnvKernelKind *kind, const CnvNeeds *needs)
{
  for (const CnvVariant *v = kind->variants; v->name; v++)
    if (v->bytes == needs->bytes && v->reach >= needs->reach && v->rows >= needs->rows && v->terms == needs->terms &&
        v->digits >= needs->digits && (!v->pixels || needs->pixels) && !v->weighed == !needs->weighed &&
        (v->frames == 0 || v->frames == MIN(needs->n_frames, 2)) &&
        (v->channels == 0 || v->channels >= needs->channels) && (v->pairs == 0 || needs->n_frames <= 2 * v->pairs) &&
        cnv_kernel_shared_bytes(kind, v, needs, CNV_TILE_STEP) <= kind->shared_max)
      return v;
  return NULL;
}
