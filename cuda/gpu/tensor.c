/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The kind tensor (tensor.cuh, ring.cuh): separable taps as banded matrices for tensor cores, in f16.
 *
 * Along x the band of 16 outputs holds their taps on the samples that they reach. Where missing samples stand for
 * others, as borders say, the groups of outputs that miss some have bands of their own, in which those others get the
 * taps. Along y one band serves all rows, since a missing row is loaded as another. Taps are scaled so that row sums
 * stay in f16's range.
 */
#include <convolve/border.h>

#include "gpu/half.h"
#include "gpu/kinds.h"

#define ROWS(k_y) (CNV_TENSOR_K * (k_y)-CNV_TENSOR_ROWS + 1) /* of taps, that k steps along y reach over */
#define VARIANT(name, k_x, k_y, m, ...)                                                                                \
  {name, #k_x "x" #k_y, k_x, ROWS(k_y), 1, .groups = m, .tiles = CNV_TILE_WARPS, __VA_ARGS__},
#define RING(name, k_x, k_y, m, ...) {name, #k_x, k_x, ROWS(k_y), 1, .groups = m, .tiles = 1, __VA_ARGS__},
#define PLAIN_STEPS(k_x, k_y, m, blocks) VARIANT("tensor", k_x, k_y, m, .split = FALSE)
#define SPLIT_STEPS(k_x, k_y, m, blocks) VARIANT("tensor_exact", k_x, k_y, m, .split = TRUE)
#define TIME_STEPS(k_x, k_y, m, blocks) VARIANT("tensor_time", k_x, k_y, m, .over_time = TRUE)
#define PLAIN_RING(k_x, m, blocks) RING("tensor_ring", k_x, CNV_RING_K_Y, m, .split = FALSE)
#define SPLIT_RING(k_x, m, blocks) RING("tensor_ring_exact", k_x, CNV_RING_EXACT_K_Y, m, .split = TRUE)
static const CnvVariant variants[] = {
    CNV_TENSOR_VARIANTS(PLAIN_STEPS) CNV_TENSOR_RING_VARIANTS(PLAIN_RING) CNV_TENSOR_EXACT_VARIANTS(SPLIT_STEPS)
        CNV_TENSOR_RING_EXACT_VARIANTS(SPLIT_RING) CNV_TENSOR_TIME_VARIANTS(TIME_STEPS){NULL}};

/* Scaled taps of an axis add up, without their signs, to this at most: row sums of 12 bits less mid then stay below
 * 2048 * 31, in f16's range. */
#define SCALED_SUM 31.0

/* Sum of the weights of frames, at most: 31 * 128 * 16 is below 65504. */
#define WEIGHTS_MAX 16.0

/* Integers that the smallest tap may become. */
#define SCALE_TRIALS 8

/* Mean error of rounding to f16, relative to the deviation of what is rounded: 2^-12 at most, three quarters of the
 * binade in the mean. */
#define HALF_ERROR 1.9e-4

/* A block makes one tile, with row sums in a ring in shared memory. */
static gboolean
has_ring(const CnvVariant *variant)
{
  return variant->tiles == 1;
}

/* An axis of the plane's only term, with its scale. */
static CnvHalfTaps
axis_taps(const CnvPlan *plan, const CnvPlane *plane, CnvAxis axis)
{
  const float *from = cnv_fit_axis(plan, plane, axis);
  guint n = (guint)plane->term[0].n[axis];
  double *taps = g_new(double, n), room;
  CnvHalfTaps half;

  for (guint i = 0; i < n; i++)
    taps[i] = from[i];
  cnv_half_taps_init(&half, taps, n);
  room = half.magnitude > 0 ? SCALED_SUM / half.magnitude : 1;
  cnv_half_choose_scale(&half, exp2(floor(log2(room))), room, SCALE_TRIALS);
  return half;
}

static gboolean
needs_split(const CnvPlan *plan, const CnvPlane *plane)
{
  g_auto(CnvHalfTaps) x = axis_taps(plan, plane, CNV_X), y = axis_taps(plan, plane, CNV_Y);
  double of_sums = plane->term[0].n[CNV_X] > 1 ? HALF_ERROR * x.norm * y.norm : 0;
  double deviation = hypot(hypot(x.deviation * y.norm, x.norm * y.deviation), of_sums);

  return cnv_fit_needs_split(plane, x.is_signed || y.is_signed, deviation * MAX(plan->temporal_magnitude, 1));
}

/* TRUE where missing samples have values of their own, rather than those of others. */
static gboolean
fills(const CnvPlan *plan)
{
  return cnv_border_has_value(plan->filter.border) || cnv_border_renormalizes(plan->filter.border);
}

#define INNER -1 /* the number of a group that misses no samples */

/* The band of a group of 16 samples of the plane along x. FALSE where what stands for a missing sample lies
 * out of its reach. */
static gboolean
make_band(CnvBand *band, const CnvPlan *plan, const CnvPlane *plane, int group, const CnvNeeds *needs, double scale)
{
  const CnvTerm *term = &plane->term[0];
  const float *taps = cnv_fit_axis(plan, plane, CNV_X);
  int C = plane->channels, first = group * CNV_TENSOR_K;

  *band = (CnvBand){0};
  for (int out = 0; out < CNV_TENSOR_K; out++)
    for (int i = 0; i < term->n[CNV_X]; i++) {
      int at = out + (i - term->anchor[CNV_X]) * C, pixel = (first + out) / C;

      if (group != INNER && pixel >= plane->width)
        continue; /* no output */
      if (group != INNER)
        at = cnv_border_index(plan->filter.border, pixel + i - term->anchor[CNV_X], plane->width) * C +
             (first + out) % C - first;
      at += needs->apron_left;
      if (at < 0 || at >= needs->reach * CNV_TENSOR_K)
        return FALSE;
      band->tap[out][at] += taps[i] * scale;
    }
  return TRUE;
}

/* The next group with a band of its own, from `group` on. */
static int
next_edge(const CnvNeeds *needs, int group)
{
  return group < needs->left_groups ? group : MAX(group, needs->right_group);
}

static void
find_edges(const CnvPlan *plan, const CnvPlane *plane, CnvNeeds *needs)
{
  const CnvTerm *term = &plane->term[0];
  int width = plane->width * plane->channels, right = term->n[CNV_X] - 1 - term->anchor[CNV_X];
  int inner = width - 15 - right * plane->channels; /* groups that begin before it find all on their right */

  needs->n_groups = (width + CNV_TENSOR_K - 1) / CNV_TENSOR_K;
  needs->right_group = needs->n_groups;
  if (fills(plan))
    return;
  needs->left_groups = MIN((needs->apron_left + CNV_TENSOR_K - 1) / CNV_TENSOR_K, needs->n_groups);
  needs->right_group = inner <= 0
                           ? needs->left_groups
                           : CLAMP((inner + CNV_TENSOR_K - 1) / CNV_TENSOR_K, needs->left_groups, needs->n_groups);
}

static gboolean
edges_fit(const CnvPlan *plan, const CnvPlane *plane, const CnvNeeds *needs)
{
  CnvBand band;

  for (int g = next_edge(needs, 0); g < needs->n_groups; g = next_edge(needs, g + 1))
    if (!make_band(&band, plan, plane, g, needs, 1))
      return FALSE;
  return TRUE;
}

/* TRUE where sums over frames stay in the range of f16, also where frames are missing and the others' weights are
 * scaled. */
static gboolean
weights_fit(const CnvPlan *plan)
{
  for (int i = 0; i < plan->n_temporal_taps; i++)
    if (plan->weight[i] < 0)
      return FALSE;
  return plan->temporal_magnitude <= WEIGHTS_MAX && plan->temporal_magnitude >= 1 / WEIGHTS_MAX;
}

static gboolean
fits(const CnvPlan *plan, const CnvPlane *plane, CnvNeeds *needs, GError **error)
{
  const CnvTerm *term = &plane->term[0];
  int C = plane->channels, after = term->n[CNV_X] - 1 - term->anchor[CNV_X];

  if (!cnv_fit_samples(plane, error) || !cnv_fit_half(plane, error) || !cnv_fit_one_term(plan, plane, error))
    return FALSE;
  if (cnv_border_reads_far(plan->filter.border))
    return cnv_fit_refuse(error, "it takes no border-mode=%s", cnv_border_nicks[plan->filter.border].nick);
  if (!cnv_fit_levels(plane,
                      cnv_fit_magnitude(plan, plane, CNV_X) * cnv_fit_magnitude(plan, plane, CNV_Y) *
                          MAX(plan->temporal_magnitude, 1),
                      error))
    return FALSE;
  *needs = (CnvNeeds){.rows = term->n[CNV_Y], .terms = 1, .over_time = plan->n_temporal_taps > 1};
  /* As long as either side of the taps: what stands for a missing sample is then among those loaded. */
  needs->apron_left = (MAX(term->anchor[CNV_X], after) * C + 7) / 8 * 8;
  needs->reach = (needs->apron_left + after * C + 15) / CNV_TENSOR_K + 1;
  needs->split = needs_split(plan, plane);
  find_edges(plan, plane, needs);
  if (needs->over_time && (needs->split || !weights_fit(plan)))
    return cnv_fit_refuse(
        error, "over time it takes 8 bits, taps that are not negative and weights of frames that add up to 1/%g to %g",
        WEIGHTS_MAX, WEIGHTS_MAX);
  if (!cnv_variant_find(variants, needs) || !edges_fit(plan, plane, needs))
    return cnv_fit_refuse(error, "%d taps along x, %d along y and %d channels are more than its bands reach over",
                          term->n[CNV_X], term->n[CNV_Y], C);
  return TRUE;
}

/* The band along y, as operand B of the column pass: pairs of k are rows 2t and 2t + 1, then 2t + 8 and 2t + 9; column
 * g is output row g. With a ring it is for 16 rows of outputs, of which a lane has the first eight's pairs first. */
static void
append_y(GArray *words, const CnvHalfTaps *y, const CnvVariant *variant)
{
  int pairs = has_ring(variant) ? 4 : 2;
  int k_steps = has_ring(variant) ? CNV_RING_STEPS((int)y->n) : (variant->rows + CNV_TENSOR_ROWS) / CNV_TENSOR_K;

  for (int part = 0; part <= variant->split; part++)
    for (int i = 0; i < k_steps * 32 * pairs; i++) {
      int k = i / (32 * pairs), lane = i / pairs % 32, row = lane / 4 + i % pairs / 2 * 8;
      int at = CNV_TENSOR_K * k + lane % 4 * 2 + i % 2 * 8 - row;
      guint32 word = 0;

      for (int j = 0; j < 2; j++)
        if (at + j >= 0 && at + j < (int)y->n)
          word |= (guint32)cnv_half_part(y->taps[at + j] * y->scale, part) << (16 * j);
      g_array_append_val(words, word);
    }
}

static float
append_weights(GArray *words, const CnvPlan *plan, const CnvPlane *plane, const CnvVariant *variant,
               const CnvNeeds *needs)
{
  g_auto(CnvHalfTaps) x = axis_taps(plan, plane, CNV_X), y = axis_taps(plan, plane, CNV_Y);
  CnvBand band;

  make_band(&band, plan, plane, INNER, needs, x.scale);
  cnv_band_append(&band, words, variant->reach, 1 + variant->split, TRUE, TRUE);
  append_y(words, &y, variant);
  for (int g = next_edge(needs, 0); g < needs->n_groups; g = next_edge(needs, g + 1)) {
    make_band(&band, plan, plane, g, needs, x.scale);
    cnv_band_append(&band, words, variant->reach, 1 + variant->split, TRUE, TRUE);
  }
  return (float)(plane->gain[cnv_fit_first_channel(plane)] * cnv_half_factor(&x, 1 + variant->split) *
                 cnv_half_factor(&y, 1 + variant->split));
}

static void
set_job(CnvTileJob *job, const CnvPlan *plan, const CnvVariant *variant, const CnvNeeds *needs)
{
  job->apron_left = needs->apron_left;
  job->left_groups = needs->left_groups;
  job->right_group = needs->right_group;
  job->n_groups = needs->n_groups;
}

static int
tile_width(const CnvVariant *variant, const CnvTileJob *job)
{
  return CNV_TENSOR_K * variant->groups;
}

/* Rows of a tile whose warps go down so many steps: with a ring, less the rows that taps reach. */
static int
tile_rows(const CnvVariant *variant, int rows, int steps)
{
  return has_ring(variant) ? CNV_TENSOR_K * (CNV_TILE_WARPS * steps - CNV_RING_STEPS(rows) + 1)
                           : CNV_TENSOR_ROWS * steps;
}

/* TRUE where a tile reads or writes beyond the window or the job. */
static gboolean
is_at_side(const CnvTileJob *job, const CnvVariant *variant, int column)
{
  const CnvRectJob *p = &job->job;
  int C = job->channels, groups = variant->groups, x = job->origin + column * groups * CNV_TENSOR_K;
  int read = x - job->apron_left, groups_read = groups + variant->reach - 1;

  return x < p->x * C || x + groups * CNV_TENSOR_K > (p->x + p->width) * C || read < p->window_x * C ||
         read + groups_read * CNV_TENSOR_K > (p->window_x + p->window_width) * C;
}

static void
count_side_columns(CnvTileJob *job, const CnvVariant *variant)
{
  job->left_columns = job->right_columns = 0;
  while (job->left_columns < job->columns && is_at_side(job, variant, job->left_columns))
    job->left_columns++;
  while (job->left_columns + job->right_columns < job->columns &&
         is_at_side(job, variant, job->columns - 1 - job->right_columns))
    job->right_columns++;
}

static guint
shared_bytes(const CnvVariant *variant, const CnvNeeds *needs, int tile_rows)
{
  int k_y = (needs->rows + CNV_TENSOR_ROWS - 2) / CNV_TENSOR_K + 1;

  return has_ring(variant)
             ? CNV_RING_SHARED(variant->reach, CNV_RING_STEPS(ROWS(k_y)), variant->groups, 1 + variant->split)
             : 0;
}

const CnvKernelKind cnv_kind_tensor = {"tensor",
                                       CNV_ALGORITHM_TENSOR,
                                       32 * CNV_TILE_WARPS,
                                       1,
                                       .variants = variants,
                                       .fits = fits,
                                       .append_weights = append_weights,
                                       .set_job = set_job,
                                       .tile_width = tile_width,
                                       .tile_rows = tile_rows,
                                       .low_tiles = TRUE,
                                       .count_side_columns = count_side_columns,
                                       .shared_bytes = shared_bytes};
