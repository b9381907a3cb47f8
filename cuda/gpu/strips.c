/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gpu/strips.h"

#include <string.h>

/* Rows of a tile of fused, and chunks of one of dense: by both the H200 did 4K frames fastest, or as fast. */
#define FUSED_ROWS CNV_FUSED_STEP
#define DENSE_CHUNKS 1

gboolean
cnv_strips_fit(CnvAlgorithm algorithm, const CnvPlan *plan, const CnvPlanPlane *plane, GError **error)
{
  CnvBands bands;
  CnvDense dense;

  if (algorithm == CNV_ALGORITHM_FUSED)
    return cnv_fused_fit(plan, plane, error);
  if (cnv_dense_is_for(plan, plane))
    return cnv_dense_fit(plan, plane, &dense, error);
  return cnv_bands_fit(plan, plane, &bands, error);
}

/* CNV_N_KERNELS: none that works on strips. */
static CnvKernelKind
kind_of(const CnvPlan *plan, const CnvPlanPlane *plane)
{
  if (plane->filtered && plane->algorithm == CNV_ALGORITHM_FUSED)
    return CNV_KERNEL_FUSED;
  if (!plane->filtered || plane->algorithm != CNV_ALGORITHM_TENSOR)
    return CNV_N_KERNELS;
  return cnv_dense_is_for(plan, plane) ? CNV_KERNEL_DENSE : CNV_KERNEL_TENSOR;
}

const CnvKernelName *
cnv_strips_kernel(const CnvSchedule *table, CnvKernelKind kind)
{
  switch (kind) {
  case CNV_KERNEL_FUSED:
    return table->fused ? &table->fused->name : NULL;
  case CNV_KERNEL_TENSOR:
    return table->tensor ? &table->tensor->name : NULL;
  case CNV_KERNEL_DENSE:
    return table->dense ? &table->dense->name : NULL;
  default:
    return NULL;
  }
}

/* What the planes taken so far ask of each kind's variant together. */
typedef struct {
  CnvBands bands;
  CnvDense dense;
} Asked;

static gboolean
take_bands(CnvSchedule *table, Asked *asked, const CnvPlan *plan, const CnvPlanPlane *plane, CnvBandOf *of)
{
  CnvBands all;
  const CnvTensorVariant *variant;

  if (!cnv_bands_fit(plan, plane, &of->bands, NULL))
    return FALSE;
  all = table->tensor ? cnv_bands_join(asked->bands, of->bands) : of->bands;
  variant = cnv_bands_variant(&all);
  if (!variant)
    return FALSE;
  asked->bands = all;
  table->tensor = variant;
  table->tensor_shared = cnv_bands_shared_bytes(variant, &all);
  return TRUE;
}

static gboolean
take_dense(CnvSchedule *table, Asked *asked, const CnvPlan *plan, const CnvPlanPlane *plane, CnvBandOf *of)
{
  CnvDense all;
  const CnvDenseVariant *variant;

  if (!cnv_dense_fit(plan, plane, &of->dense, NULL))
    return FALSE;
  all = table->dense ? cnv_dense_join(asked->dense, of->dense) : of->dense;
  variant = cnv_dense_variant(&all);
  if (!variant)
    return FALSE;
  asked->dense = all;
  table->dense = variant;
  return TRUE;
}

static gboolean
take_fused(CnvSchedule *table, const CnvPlanPlane *plane)
{
  const CnvFusedVariant *variant = &cnv_fused_variants[cnv_fused_variant(plane)];

  if (!table->fused || table->fused->reach < variant->reach)
    table->fused = variant;
  return TRUE;
}

/* Whether a variant takes the plane along with those before it. */
static gboolean
take(CnvSchedule *table, Asked *asked, const CnvPlan *plan, const CnvPlanPlane *plane, CnvBandOf *of)
{
  switch (of->kind) {
  case CNV_KERNEL_FUSED:
    return take_fused(table, plane);
  case CNV_KERNEL_TENSOR:
    return take_bands(table, asked, plan, plane, of);
  case CNV_KERNEL_DENSE:
    return take_dense(table, asked, plan, plane, of);
  default:
    return FALSE;
  }
}

void
cnv_strips_set_plans(CnvSchedule *table)
{
  Asked asked = {.bands = {.mode = CNV_TENSOR_PLAIN}};

  table->fused = NULL;
  table->tensor = NULL;
  table->dense = NULL;
  g_array_set_size(table->band_of, table->planes->len);
  for (int pass = 0; pass < 2; pass++)
    for (guint i = 0; i < table->planes->len; i++) {
      const CnvPlan *plan = g_ptr_array_index(table->plans, i / CNV_MAX_PLANES);
      const CnvPlanPlane *plane = &plan->plane[i % CNV_MAX_PLANES];
      CnvBandOf *of = &g_array_index(table->band_of, CnvBandOf, i);

      if (pass == 0) {
        of->kind = kind_of(plan, plane);
        if (!take(table, &asked, plan, plane, of))
          of->kind = CNV_N_KERNELS;
      } else if (of->kind == CNV_KERNEL_TENSOR) {
        of->first = cnv_bands_append(table->bands, plan, plane, table->tensor, &of->bands, &of->gain);
      } else if (of->kind == CNV_KERNEL_DENSE) {
        of->first = cnv_dense_append(table->bands, plan, plane, table->dense, &of->dense, &of->gain);
      }
    }
}

/* Strips know no weights of regions, nor does tensor borders of values from within but those of the plane, which its
 * bands have. */
static gboolean
takes_job(const CnvBandOf *of, const CnvPlanPlane *plane, const CnvRectJob *job)
{
  gboolean folds = of->bands.right_group < of->bands.n_groups || of->bands.left_groups > 0;
  gboolean whole = job->window_x == 0 && job->window_width == plane->width;

  return of->kind != CNV_N_KERNELS && job->n_mask_rects == 0 && (of->kind != CNV_KERNEL_TENSOR || whole || !folds);
}

CnvAlgorithm
cnv_strips_algorithm(const CnvSchedule *table, const CnvRectJob *job)
{
  const CnvPlanPlane *plane = cnv_table_plane(table, job);
  const CnvBandOf *of = &g_array_index(table->band_of, CnvBandOf, cnv_table_index(job));
  gboolean strips = plane->algorithm == CNV_ALGORITHM_FUSED || plane->algorithm == CNV_ALGORITHM_TENSOR;

  if (!strips || takes_job(of, plane, job))
    return plane->algorithm;
  return cnv_plane_is_separable(plane) ? CNV_ALGORITHM_SEPARABLE : CNV_ALGORITHM_TILED;
}

/* What is the same for all kinds. */
static CnvTileJob
make_strip(const CnvSchedule *table, guint job)
{
  const CnvRectArgs *from = &g_array_index(table->jobs, CnvRectArgs, job);
  const CnvPlaneArgs *plane = &g_array_index(table->planes, CnvPlaneArgs, from->plane_args);
  const CnvTermArgs *term = &plane->term[0];
  int c = cnv_fit_first_lane(cnv_table_plane(table, &from->job)), first = from->job.x * plane->channels;
  CnvTileJob strip = {.job = from->job,
                      .pointers = from->pointers,
                      .origin = first - first % CNV_TENSOR_STEP,
                      .channels = plane->channels,
                      .border = plane->border,
                      .filtered = plane->filtered,
                      .copied = plane->copied,
                      .shift = plane->shift,
                      .full_bits = plane->full_bits,
                      .absolute = plane->combine == CNV_COMBINE_ABSOLUTE,
                      .n_x = term->n_x,
                      .n_y = term->n_y,
                      .anchor_x = term->anchor_x,
                      .anchor_y = term->anchor_y,
                      .taps_x = term->taps_x,
                      .taps_y = term->taps_y,
                      .sum_x = term->sum_x,
                      .sum_y = term->sum_y,
                      .epsilon_x = term->epsilon_x,
                      .epsilon_y = term->epsilon_y,
                      .mid = plane->mid[c],
                      .mid_bias = plane->mid_bias[c],
                      .gain = plane->gain[c],
                      .fraction = plane->fraction[c],
                      .base = plane->base[c]};

  memcpy(strip.border_value, plane->border_value, sizeof(strip.border_value));
  return strip;
}

/* Gain and what sums are compared with, in the units of bands. */
static void
set_bands(CnvTileJob *strip, const CnvBandOf *of)
{
  strip->bands = of->first;
  strip->mid_bias = of->gain != 0 ? strip->mid_bias * (strip->gain / of->gain) : 0;
  strip->gain = of->gain;
}

static void
finish_strip(const CnvSchedule *table, CnvTileJob *strip, const CnvBandOf *of, const CnvPlan *plan)
{
  const CnvDense *dense = &of->dense;

  if (of->kind == CNV_KERNEL_FUSED)
    return;
  set_bands(strip, of);
  if (of->kind == CNV_KERNEL_TENSOR) {
    strip->lead = of->bands.lead;
    strip->left_groups = of->bands.left_groups;
    strip->right_group = of->bands.right_group;
    strip->n_groups = of->bands.n_groups;
    return;
  }
  strip->lead = dense->lead;
  strip->n_x = dense->n_x;
  strip->n_y = cnv_dense_rows(table->dense, dense);
  strip->anchor_x = dense->anchor_x;
  strip->anchor_y = dense->anchor_y;
  strip->taps_x = plan->not_time_separable ? cnv_dense_words(table->dense, dense) : 0;
}

/* Samples of a tile's width. */
static int
tile_width(const CnvSchedule *table, CnvKernelKind kind, const CnvTileJob *strip)
{
  if (kind == CNV_KERNEL_DENSE)
    return CNV_DENSE_WIDTH;
  if (kind == CNV_KERNEL_TENSOR)
    return CNV_TENSOR_STEP * table->tensor->groups;
  return table->fused->reach == G_MAXINT ? CNV_FUSED_ANY_WIDTH(strip->n_x, strip->anchor_x, strip->channels)
                                         : CNV_FUSED_WIDTH(table->fused->reach, strip->channels);
}

/* Whether a tile of tensor reads or writes beyond the window or the job. */
static gboolean
is_at_side(const CnvSchedule *table, const CnvTileJob *strip, int column)
{
  const CnvRectJob *p = &strip->job;
  int C = strip->channels, groups = table->tensor->groups, x = strip->origin + column * groups * CNV_TENSOR_STEP;
  int read = x - strip->lead, words = groups + table->tensor->k_x - 1;

  return x < p->x * C || x + groups * CNV_TENSOR_STEP > (p->x + p->width) * C || read < p->window_x * C ||
         read + words * CNV_TENSOR_STEP > (p->window_x + p->window_width) * C;
}

static void
find_side_columns(const CnvSchedule *table, CnvTileJob *strip)
{
  strip->left_columns = strip->right_columns = 0;
  while (strip->left_columns < strip->columns && is_at_side(table, strip, strip->left_columns))
    strip->left_columns++;
  while (strip->left_columns + strip->right_columns < strip->columns &&
         is_at_side(table, strip, strip->columns - 1 - strip->right_columns))
    strip->right_columns++;
}

static int
count_tiles(const CnvSchedule *table, const CnvTileJob *strip)
{
  int sides = strip->left_columns + strip->right_columns, more = sides > 0 ? table->tensor->groups - 1 : 0;

  return (strip->columns + sides * more) * ((strip->job.height + strip->rows - 1) / strip->rows);
}

/* Cuts strips into tiles of so many rows, so many of them a block; returns how many blocks there are. */
static guint
cut_strips(CnvSchedule *table, const CnvLaunch *launch, int rows, int tiles)
{
  guint blocks = 0;

  for (guint i = launch->first_strip; i < launch->first_strip + launch->n_strips; i++) {
    CnvTileJob *strip = &g_array_index(table->strips, CnvTileJob, i);
    int last = (strip->job.x + strip->job.width) * strip->channels;
    int width = tile_width(table, launch->kind, strip);

    strip->rows = rows;
    strip->columns = (last - strip->origin + width - 1) / width;
    if (launch->kind == CNV_KERNEL_TENSOR)
      find_side_columns(table, strip);
    strip->n_tiles = count_tiles(table, strip);
    strip->first_block = (int)blocks;
    blocks += (guint)(strip->n_tiles + tiles - 1) / tiles;
  }
  return blocks;
}

/* The most rows that bands of a launch have, and that its jobs have. */
static int
most_rows(const CnvSchedule *table, const CnvLaunch *launch, int *tallest)
{
  int most = 0;

  *tallest = 0;
  for (guint i = launch->first_strip; i < launch->first_strip + launch->n_strips; i++) {
    const CnvTileJob *strip = &g_array_index(table->strips, CnvTileJob, i);

    most = MAX(most, strip->n_y);
    *tallest = MAX(*tallest, strip->job.height);
  }
  return most;
}

/* The rows of tiles of tensor where warps go down `steps` times: with a ring, what is left after the rows that taps
 * reach. */
static int
tensor_rows(const CnvTensorVariant *variant, int steps, int n_y)
{
  return variant->ring ? CNV_TENSOR_STEP * (CNV_STRIP_WARPS * steps - CNV_RING_STEPS(n_y) + 1)
                       : CNV_TENSOR_ROWS * steps;
}

/* Tiles of tensor are as low as lets the GPU do all of them at once, and no higher than a job. */
static void
cut_tensor(CnvSchedule *table, CnvLaunch *launch)
{
  int tallest, n_y = most_rows(table, launch, &tallest), rows = 0;

  for (int steps = 1; rows < tallest; steps++) {
    rows = tensor_rows(table->tensor, steps, n_y);
    if (rows <= 0)
      continue;
    launch->n_blocks = cut_strips(table, launch, rows, table->tensor->ring ? 1 : CNV_STRIP_WARPS);
    if (launch->n_blocks <= table->n_blocks)
      break;
  }
  launch->shared_bytes = table->tensor_shared;
}

static void
cut_launch(CnvSchedule *table, CnvLaunch *launch)
{
  int rows, tallest;

  switch (launch->kind) {
  case CNV_KERNEL_FUSED:
    launch->n_blocks = cut_strips(table, launch, FUSED_ROWS, 1);
    break;
  case CNV_KERNEL_DENSE:
    rows = DENSE_CHUNKS * CNV_DENSE_CHUNK(table->dense->r);
    launch->n_blocks = cut_strips(table, launch, rows, 1);
    launch->shared_bytes = cnv_dense_shared_bytes(table->dense, most_rows(table, launch, &tallest), rows);
    break;
  default:
    cut_tensor(table, launch);
  }
}

static void
add_kind(CnvSchedule *table, CnvKernelKind kind, guint batch, guint first, guint last)
{
  CnvLaunch launch = {.kind = kind, .batch = batch, .first_strip = table->strips->len};

  for (guint i = first; i < last; i++) {
    const CnvRectJob *job = &g_array_index(table->jobs, CnvRectArgs, i).job;
    const CnvPlan *plan = g_ptr_array_index(table->plans, job->plan);
    const CnvBandOf *of = &g_array_index(table->band_of, CnvBandOf, cnv_table_index(job));
    CnvTileJob strip;

    if (of->kind != kind || !takes_job(of, cnv_table_plane(table, job), job) ||
        g_array_index(table->batch_of, guint, cnv_table_index(job)) != batch)
      continue;
    strip = make_strip(table, i);
    finish_strip(table, &strip, of, plan);
    g_array_append_val(table->strips, strip);
    launch.n_strips++;
  }
  if (launch.n_strips == 0)
    return;
  cut_launch(table, &launch);
  g_array_append_val(table->launches, launch);
}

void
cnv_strips_add(CnvSchedule *table, guint batch, guint first, guint last)
{
  for (CnvKernelKind kind = CNV_KERNEL_FUSED; kind <= CNV_KERNEL_DENSE; kind++)
    add_kind(table, kind, batch, first, last);
}
