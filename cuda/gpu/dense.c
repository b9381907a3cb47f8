/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The kind dense (dense.cuh): taps of any rank as banded matrices for tensor cores, a row of taps a matrix, in f16.
 *
 * The terms of a sum become one kernel, their anchors lined up; the two of a magnitude stay apart. Of a 3D kernel each
 * frame has taps of its own.
 */
#include "gpu/half.h"
#include "gpu/kinds.h"

/* With up to so many rows of taps a kernel waits for memory, and the variant with few rows a warp is faster. */
#define FEW_ROWS 9

#define ROWS(k, r, terms, split) ((k) == 2 && (r) == 2 && (terms) == 1 && !(split) ? FEW_ROWS : G_MAXINT)
#define VARIANT(k, r, terms, split, blocks_u8, blocks_u16)                                                             \
  {"dense", #k "_" #r "_" #terms "_" #split, k, ROWS(k, r, terms, split), terms, split, .eights = r, .tiles = 1},
static const CnvVariant variants[] = {CNV_DENSE_VARIANTS(VARIANT){NULL}};

/* Chunks of rows in a tile: so the H200 did 4K frames fastest. */
#define CHUNKS 1

/* Bytes that a block may ask for on every GPU that has these instructions, beside its kernel's own: 99 KiB in all. */
#define SHARED_MAX (90 * 1024)

/* The largest tap becomes as much, or up to twice that: f16 then rounds those down to a thousandth of it as well as it
 * does the largest. */
#define SCALED_TAP 1024.0

#define SCALE_TRIALS 64

/* Sums begin with what a level begins with, over the first frame's weight: it must not leave float32. */
#define WEIGHTS_RATIO 1e12

static int
n_frames_of(const CnvPlan *plan)
{
  return plan->not_time_separable ? plan->n_temporal_taps : 1;
}

/* Lines the terms' anchors up; 16 * k - 15 samples are what k steps reach over. */
static CnvNeeds
measure(const CnvPlane *plane)
{
  CnvNeeds needs = {.terms = plane->combine == CNV_COMBINE_MAGNITUDE ? plane->n_terms : 1};
  int after_x = 0, after_y = 0;

  for (int t = 0; t < plane->n_terms; t++) {
    const CnvTerm *term = &plane->term[t];

    needs.anchor_x = MAX(needs.anchor_x, term->anchor[CNV_X]);
    needs.anchor_y = MAX(needs.anchor_y, term->anchor[CNV_Y]);
    after_x = MAX(after_x, term->n[CNV_X] - 1 - term->anchor[CNV_X]);
    after_y = MAX(after_y, term->n[CNV_Y] - 1 - term->anchor[CNV_Y]);
  }
  needs.n_x = needs.anchor_x + after_x + 1;
  needs.rows = needs.anchor_y + after_y + 1;
  needs.apron_left = (needs.anchor_x * plane->channels + 7) / 8 * 8;
  needs.reach = (needs.apron_left + after_x * plane->channels + 15) / CNV_TENSOR_K + 1;
  return needs;
}

static void
add_term(double *to, const CnvPlan *plan, const CnvTerm *term, const CnvNeeds *needs)
{
  int x0 = needs->anchor_x - term->anchor[CNV_X], y0 = needs->anchor_y - term->anchor[CNV_Y];

  for (int y = 0; y < term->n[CNV_Y]; y++)
    for (int x = 0; x < term->n[CNV_X]; x++)
      to[(y0 + y) * needs->n_x + x0 + x] += cnv_plan_tap(plan, term, x, y);
}

/* The taps of the plane: [frame][term][row][column]. */
static CnvHalfTaps
all_taps(const CnvPlan *plan, const CnvPlane *plane, const CnvNeeds *needs)
{
  int size = needs->n_x * needs->rows;
  guint n = (guint)(n_frames_of(plan) * needs->terms * size);
  double *taps = g_new0(double, n);
  CnvHalfTaps half;

  for (int frame = 0; frame < n_frames_of(plan); frame++)
    for (int t = 0; t < plane->n_terms; t++) {
      const CnvTerm *term = &plane->term[t];

      if (!plan->not_time_separable || term->temporal_tap < 0 || term->temporal_tap == frame)
        add_term(taps + (frame * needs->terms + (needs->terms > 1 ? t : 0)) * size, plan, term, needs);
    }
  cnv_half_taps_init(&half, taps, n);
  half.keeps_sum &= needs->terms == 1;
  return half;
}

static void
choose_scale(CnvHalfTaps *half)
{
  double first = half->largest > 0 ? exp2(floor(log2(SCALED_TAP / half->largest))) : 1;

  cnv_half_choose_scale(half, first, 2 * SCALED_TAP / half->largest, SCALE_TRIALS);
}

/* TRUE where the weights of frames, but those that are 0, do not differ too much. */
static gboolean
weights_fit(const CnvPlan *plan)
{
  double largest = 0;

  for (int i = 0; i < plan->n_temporal_taps; i++)
    largest = MAX(largest, fabs(plan->weight[i]));
  for (int i = 0; i < plan->n_temporal_taps; i++)
    if (plan->weight[i] != 0 && fabs(plan->weight[i]) * WEIGHTS_RATIO < largest)
      return FALSE;
  return TRUE;
}

/* Root of the sum of squares of the weights that samples get beside their taps. */
static double
deviation_over_time(const CnvPlan *plan)
{
  double sum = 0;

  for (int i = 0; i < plan->n_temporal_taps; i++)
    sum += (double)plan->weight[i] * plan->weight[i];
  return sqrt(sum);
}

static gboolean
refuse_size(const CnvPlane *plane, const CnvNeeds *needs, GError **error)
{
  return cnv_fit_refuse(error, "%dx%d taps%s and %d channels are more than its bands reach over", needs->n_x,
                        needs->rows, needs->terms > 1 ? " of two gradients" : "", plane->channels);
}

/* Rows of taps, with those of zeros that the variant takes along. */
static int
rows_of(const CnvVariant *variant, const CnvNeeds *needs)
{
  return CNV_DENSE_ROWS(variant->reach, variant->eights, variant->split, needs->rows);
}

static guint
shared_bytes(const CnvVariant *variant, const CnvNeeds *needs, int tile_rows)
{
  return CNV_DENSE_SHARED(variant->reach, variant->eights, rows_of(variant, needs), tile_rows);
}

static gboolean
fits(const CnvPlan *plan, const CnvPlane *plane, CnvNeeds *needs, GError **error)
{
  double magnitude = plan->not_time_separable ? 1 : MAX(plan->temporal_magnitude, 1);
  g_auto(CnvHalfTaps) half = {NULL};

  if (!cnv_fit_samples(plane, error) || !cnv_fit_half(plane, error))
    return FALSE;
  if (cnv_border_renormalizes(plan->filter.border))
    return cnv_fit_refuse(error, "of taps that are no row times a column it takes no border-mode=renormalize");
  if (!plan->not_time_separable && !weights_fit(plan))
    return cnv_fit_refuse(error, "the taps in time differ too much for it");
  *needs = measure(plane);
  /* Other planes may ask for the variant of these terms that asks for the most. */
  if (!cnv_variant_find(variants, needs) || CNV_DENSE_SHARED(5, 4, needs->rows + 15, CNV_DENSE_CHUNK(4)) > SHARED_MAX)
    return refuse_size(plane, needs, error);
  half = all_taps(plan, plane, needs);
  if (!cnv_fit_levels(plane, half.magnitude * magnitude, error))
    return FALSE;
  choose_scale(&half);
  needs->split = half.deviation > 0 &&
                 cnv_fit_needs_split(plane, half.is_signed,
                                     half.deviation * (plan->not_time_separable ? 1 : deviation_over_time(plan)));
  return cnv_variant_find(variants, needs) || refuse_size(plane, needs, error);
}

/* A row of taps; NULL: of zeros. */
static void
make_band(CnvBand *band, const double *taps, const CnvPlane *plane, const CnvNeeds *needs, double scale)
{
  int C = plane->channels;

  *band = (CnvBand){0};
  for (int out = 0; out < CNV_TENSOR_K && taps; out++)
    for (int i = 0; i < needs->n_x; i++)
      band->tap[out][out + needs->apron_left + (i - needs->anchor_x) * C] = taps[i] * scale;
}

static float
append_weights(GArray *words, const CnvPlan *plan, const CnvPlane *plane, const CnvVariant *variant,
               const CnvNeeds *needs)
{
  g_auto(CnvHalfTaps) half = all_taps(plan, plane, needs);
  int parts = 1 + variant->split;
  CnvBand band;

  choose_scale(&half);
  for (int frame = 0; frame < n_frames_of(plan); frame++)
    for (int j = 0; j < rows_of(variant, needs); j++)
      for (int term = 0; term < needs->terms; term++) {
        const double *row = half.taps + ((frame * needs->terms + term) * needs->rows + j) * needs->n_x;

        make_band(&band, j < needs->rows ? row : NULL, plane, needs, half.scale);
        cnv_band_append(&band, words, variant->reach, parts, plane->component[0].bytes == 1, FALSE);
      }
  return (float)(plane->gain[cnv_fit_first_channel(plane)] * cnv_half_factor(&half, parts));
}

static void
set_job(CnvTileJob *job, const CnvPlan *plan, const CnvVariant *variant, const CnvNeeds *needs)
{
  int words = rows_of(variant, needs) * needs->terms * (1 + variant->split) * variant->reach * 32 * 4;

  job->apron_left = needs->apron_left;
  job->term.n[CNV_X] = needs->n_x;
  job->term.n[CNV_Y] = rows_of(variant, needs);
  job->term.anchor[CNV_X] = needs->anchor_x;
  job->term.anchor[CNV_Y] = needs->anchor_y;
  job->term.taps[CNV_X] = plan->not_time_separable ? words : 0;
}

static int
tile_width(const CnvVariant *variant, const CnvTileJob *job)
{
  return CNV_DENSE_WIDTH;
}

static int
tile_rows(const CnvVariant *variant, int rows, int size)
{
  return CHUNKS * CNV_DENSE_CHUNK(variant->eights) * size;
}

const CnvKernelKind cnv_kind_dense = {"dense",
                                      CNV_ALGORITHM_TENSOR,
                                      32 * CNV_TILE_WARPS,
                                      1,
                                      .variants = variants,
                                      .fits = fits,
                                      .append_weights = append_weights,
                                      .set_job = set_job,
                                      .tile_width = tile_width,
                                      .tile_rows = tile_rows,
                                      .shared_bytes = shared_bytes};
