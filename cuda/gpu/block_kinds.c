/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The kinds with block jobs: float32, with taps in constant memory.
 */
#include "gpu/kinds.h"

#define POINTS CNV_POINT_WIDTH, CNV_POINT_HEIGHT, .block_x = CNV_POINT_WIDTH, .block_y = CNV_POINT_HEIGHT
#define COLUMNS                                                                                                        \
  CNV_COLUMNS_WIDTH, CNV_COLUMNS_HEIGHT / CNV_OUTPUTS, .block_x = CNV_COLUMNS_WIDTH, .block_y = CNV_COLUMNS_HEIGHT
#define ROWS CNV_ROWS_WIDTH / CNV_OUTPUTS, CNV_ROWS_HEIGHT, .block_x = CNV_ROWS_WIDTH, .block_y = CNV_ROWS_HEIGHT

/* Costs are fitted to times of separable, rounded up: 4K NV12 takes 178 us at r=8 and 787 us at r=128. P010 takes some
 * 10 us more, and each further frame over time 25 us more. tiled has not been timed on the present kernels, so kinds
 * with block jobs differ only by their products. The cost of naive is its reads of global memory. */
#define BASE 11.0
#define WIDE_SAMPLES 0.8
#define PRODUCT 0.13
#define FRAME 2.05
#define NAIVE_PRODUCT 1.0
#define CELLS 0.9 /* 4K NV12, 12.3 to 20 us */

static gboolean
fits_any(const CnvPlan *plan, const CnvPlane *plane, CnvNeeds *needs, GError **error)
{
  return TRUE;
}

static gboolean
fits_taps(const CnvPlan *plan, const CnvPlane *plane, CnvNeeds *needs, GError **error)
{
  return !plane->cell[CNV_X] || cnv_unsupported(error, "it needs taps, and mosaic and fill have none");
}

static gboolean
fits_separable(const CnvPlan *plan, const CnvPlane *plane, CnvNeeds *needs, GError **error)
{
  return fits_taps(plan, plane, needs, error) &&
         (cnv_plane_is_separable(plane) ||
          cnv_unsupported(error, "it needs taps that are a row times a column, or a sum of these"));
}

static gboolean
fits_cells(const CnvPlan *plan, const CnvPlane *plane, CnvNeeds *needs, GError **error)
{
  return plane->cell[CNV_X] || cnv_unsupported(error, "it only computes the cells of filter=mosaic and fill");
}

/* Returns the number of frames over time whose samples a term multiplies. */
static int
frames_of(const CnvPlan *plan, const CnvTerm *term)
{
  return term->temporal_tap < 0 ? plan->n_temporal_taps : 1;
}

static double
base_of(const CnvPlan *plan, const CnvPlane *plane)
{
  double base = BASE + (plane->component[0].bytes > 1 ? WIDE_SAMPLES : 0);

  for (int t = 0; t < plane->n_terms; t++)
    base += FRAME * (frames_of(plan, &plane->term[t]) - 1);
  return base;
}

/* Returns the products per sample if taps are applied one by one. */
static double
products_of_arrays(const CnvPlan *plan, const CnvPlane *plane)
{
  double products = 0;

  for (int t = 0; t < plane->n_terms; t++)
    products += frames_of(plan, &plane->term[t]) * plane->term[t].n[CNV_X] * plane->term[t].n[CNV_Y];
  return products;
}

static double
cost_of_naive(const CnvPlan *plan, const CnvPlane *plane, const CnvNeeds *needs, const CnvVariant *variant)
{
  double products = products_of_arrays(plan, plane);

  return base_of(plan, plane) + (products > 1 ? NAIVE_PRODUCT * products : 0);
}

static double
cost_of_tiled(const CnvPlan *plan, const CnvPlane *plane, const CnvNeeds *needs, const CnvVariant *variant)
{
  return base_of(plan, plane) + PRODUCT * products_of_arrays(plan, plane);
}

static double
cost_of_separable(const CnvPlan *plan, const CnvPlane *plane, const CnvNeeds *needs, const CnvVariant *variant)
{
  double products = 0;

  for (int t = 0; t < plane->n_terms; t++) {
    const CnvTerm *term = &plane->term[t];

    products += term->n[CNV_X] > 1 ? frames_of(plan, term) * term->n[CNV_X] : 0;
    products += term->n[CNV_Y] > 1 ? term->n[CNV_Y] : 0;
  }
  return base_of(plan, plane) + PRODUCT * products;
}

static double
cost_of_cells(const CnvPlan *plan, const CnvPlane *plane, const CnvNeeds *needs, const CnvVariant *variant)
{
  return CELLS;
}

const CnvKernelKind cnv_kind_stage_in = {"stage", CNV_ALGORITHM_AUTO, POINTS, .by_pixels = TRUE, .is_first = TRUE};
const CnvKernelKind cnv_kind_naive = {"naive", CNV_ALGORITHM_NAIVE, POINTS, .fits = fits_any, .cost = cost_of_naive};
const CnvKernelKind cnv_kind_mosaic = {"mosaic", CNV_ALGORITHM_MOSAIC, CNV_MOSAIC_THREADS,
                                       CNV_BLOCK_THREADS / CNV_MOSAIC_THREADS, .by_cells = TRUE};
const CnvKernelKind cnv_kind_cell_sums = {"cells", CNV_ALGORITHM_MOSAIC, CNV_BLOCK_THREADS,
                                          1,       .divides = TRUE,      .is_first = TRUE};
const CnvKernelKind cnv_kind_cells = {"cells",         CNV_ALGORITHM_MOSAIC, CNV_BLOCK_THREADS,    1,
                                      .divides = TRUE, .fits = fits_cells,   .cost = cost_of_cells};
const CnvKernelKind cnv_kind_texture_rows = {"texture", CNV_ALGORITHM_TEXTURE, POINTS, .by_terms = TRUE,
                                             .is_first = TRUE};
const CnvKernelKind cnv_kind_texture_columns = {"texture", CNV_ALGORITHM_TEXTURE, POINTS};
const CnvKernelKind cnv_kind_rows = {"separable", CNV_ALGORITHM_SEPARABLE, ROWS, .by_terms = TRUE, .is_first = TRUE};
const CnvKernelKind cnv_kind_columns = {"separable", CNV_ALGORITHM_SEPARABLE, COLUMNS, .fits = fits_separable,
                                        .cost = cost_of_separable};
const CnvKernelKind cnv_kind_tiled = {"tiled", CNV_ALGORITHM_TILED, COLUMNS, .fits = fits_taps, .cost = cost_of_tiled};
const CnvKernelKind cnv_kind_stage_out = {"stage", CNV_ALGORITHM_AUTO, POINTS, .by_pixels = TRUE};
