/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gpu/schedule.h"

#include <string.h>

#include "gpu/strips.h"
#include "plan/rect_jobs.h"

/* Row sums of one round: what stays in the second-level cache of large GPUs. A single plane may take more. */
#define ROUND_FLOATS (10 * 1024 * 1024)

/* From so many samples on a frame takes longer than a launch for each of its large jobs. */
#define LARGE_SAMPLES (1024 * 1024)

#define SUMS_UNIT 64 /* floats: rows of sums begin at 256 bytes */

#define BLOCK_ALIGNMENT 256

G_STATIC_ASSERT(CNV_ARGS_TERMS == CNV_MAX_TERMS && CNV_ARGS_CHANNELS == CNV_MAX_CHANNELS &&
                CNV_ARGS_PLANES == CNV_MAX_PLANES);

void
cnv_schedule_init(CnvSchedule *table)
{
  *table = (CnvSchedule){
      .plans = g_ptr_array_new_with_free_func((GDestroyNotify)cnv_plan_unref),
      .taps = g_array_new(FALSE, FALSE, sizeof(float)),
      .batches = g_array_new(FALSE, FALSE, sizeof(CnvBatch)),
      .planes = g_array_new(FALSE, TRUE, sizeof(CnvPlaneArgs)),
      .batch_of = g_array_new(FALSE, TRUE, sizeof(guint)),
      .uncut = g_array_new(FALSE, FALSE, sizeof(CnvRectJob)),
      .spots = g_array_new(FALSE, FALSE, sizeof(CnvMaskRect)),
      .jobs = g_array_new(FALSE, FALSE, sizeof(CnvRectArgs)),
      .units = g_array_new(FALSE, FALSE, sizeof(CnvUnit)),
      .bands = g_array_new(FALSE, FALSE, sizeof(guint32)),
      .band_of = g_array_new(FALSE, TRUE, sizeof(CnvBandOf)),
      .strips = g_array_new(FALSE, FALSE, sizeof(CnvTileJob)),
      .launches = g_array_new(FALSE, FALSE, sizeof(CnvLaunch)),
      .block = g_byte_array_new(),
  };
}

void
cnv_schedule_clear(CnvSchedule *table)
{
  GArray **arrays[] = {&table->taps,  &table->batches, &table->planes, &table->batch_of,
                       &table->uncut, &table->spots,   &table->bands,  &table->band_of,
                       &table->jobs,  &table->units,   &table->strips, &table->launches};

  for (gsize i = 0; i < G_N_ELEMENTS(arrays); i++)
    g_clear_pointer(arrays[i], g_array_unref);
  g_clear_pointer(&table->plans, g_ptr_array_unref);
  g_clear_pointer(&table->block, g_byte_array_unref);
  cnv_rect_jobs_clear_of(&table->of);
}

static int
divide_up(int a, int b)
{
  return (a + b - 1) / b;
}

static int
round_up(int a, int unit)
{
  return divide_up(a, unit) * unit;
}

int
cnv_table_staged_stride(const CnvPlanPlane *plane)
{
  return round_up(plane->width * plane->channels * (int)sizeof(float), 256);
}

/* Floats of an axis or of a dense term in CnvPlan.taps. */
static guint
floats_of(const CnvPlan *plan, const CnvPlanTerm *set, int axis)
{
  if (!set->separable)
    return axis == CNV_X ? (guint)(set->n[CNV_X] * set->n[CNV_Y]) : 0;
  return plan->filter.border == CNV_BORDER_RENORMALIZE ? 2 * set->n[axis] + 1 : set->n[axis];
}

guint
cnv_table_taps_of(const CnvPlan *plan, const CnvPlanPlane *plane)
{
  guint n = 0;

  for (int i = 0; i < 2 * plane->n_terms; i++) {
    const CnvPlanTerm *set = &plane->term[i / 2];
    gboolean again = FALSE; /* an axis that is stored once for several */

    for (int k = 0; k < i && set->separable; k++)
      again |= plane->term[k / 2].separable && plane->term[k / 2].axis[k % 2] == set->axis[i % 2];
    n += again ? 0 : floats_of(plan, set, i % 2);
  }
  return n;
}

/* Plans. */

/* What of a plan's taps has a place in the batch already. */
typedef struct {
  const CnvPlan *plan;
  guint from, to;
} Placed;

/* The index in constant memory of rows of `width` floats of the plan from `from` on, added to the batch unless they are
 * there. They are stored column by column, as tiled takes them. */
static guint
place(CnvSchedule *table, CnvBatch *batch, GArray *placed, const CnvPlan *plan, guint from, int width, int rows)
{
  Placed new = {plan, from, batch->n};

  for (guint i = 0; i < placed->len; i++) {
    const Placed *p = &g_array_index(placed, Placed, i);

    if (p->plan == plan && p->from == from)
      return p->to;
  }
  for (int x = 0; x < width; x++)
    for (int y = 0; y < rows; y++)
      g_array_append_val(table->taps, plan->taps[from + y * width + x]);
  batch->n += width * rows;
  g_array_append_val(placed, new);
  return new.to;
}

/* Size of a chunk where n taps are taken in equal parts of at most `most`. */
static int
chunk_of(int n, int most)
{
  return divide_up(n, divide_up(n, most));
}

static CnvTermArgs
make_term(CnvSchedule *table, CnvBatch *batch, GArray *placed, const CnvPlan *plan, const CnvPlanPlane *plane, int t)
{
  const CnvPlanTerm *set = &plane->term[t];
  CnvTermArgs args = {.n_x = set->n[CNV_X],
                      .n_y = set->n[CNV_Y],
                      .anchor_x = set->anchor[CNV_X],
                      .anchor_y = set->anchor[CNV_Y],
                      .chunk_x = chunk_of(set->n[CNV_X], CNV_TILED_CHUNK_X(plane->channels)),
                      .chunk_y = chunk_of(set->n[CNV_Y], CNV_TILED_CHUNK_Y),
                      .separable = set->separable,
                      .temporal_tap = set->temporal_tap,
                      .sum_x = set->sum[CNV_X],
                      .sum_y = set->sum[CNV_Y],
                      .epsilon_x = set->epsilon[CNV_X],
                      .epsilon_y = set->epsilon[CNV_Y]};

  if (!set->separable) {
    args.taps_x = place(table, batch, placed, plan, set->dense, set->n[CNV_X], set->n[CNV_Y]);
  } else {
    args.taps_x = place(table, batch, placed, plan, set->axis[CNV_X], (int)floats_of(plan, set, CNV_X), 1);
    args.taps_y = place(table, batch, placed, plan, set->axis[CNV_Y], (int)floats_of(plan, set, CNV_Y), 1);
  }
  return args;
}

static void
set_lanes(CnvPlaneArgs *args, const CnvPlanPlane *plane)
{
  for (int c = 0; c < plane->channels; c++) {
    const CnvComponent *component = &plane->component[c];

    args->component[c] = (CnvComponentArgs){component->plane, component->bytes, component->shift,  component->bits,
                                            component->sub_x, component->sub_y, component->offset, component->step};
    args->mid[c] = plane->mid[c];
    args->gain[c] = plane->gain[c];
    args->mid_bias[c] = plane->mid_bias[c];
    args->base[c] = (int)plane->base[c];
    args->fraction[c] = plane->fraction[c];
    args->lowest[c] = -plane->base[c];
    args->highest[c] = plane->full[c] - plane->base[c];
    args->border_value[c] = plane->border[c];
  }
}

static CnvPlaneArgs
make_plane(CnvSchedule *table, CnvBatch *batch, GArray *placed, const CnvPlan *plan, const CnvPlanPlane *plane)
{
  CnvPlaneArgs args = {.n_terms = plane->n_terms,
                       .combine = plane->combine,
                       .joint = plane->n_terms > 1 && plane->combine != CNV_COMBINE_MAGNITUDE,
                       .alpha_norm = plane->alpha_norm,
                       .alpha_epsilon = plane->alpha_epsilon,
                       .sum = plane->sum,
                       .epsilon = plane->epsilon,
                       .channels = plane->channels,
                       .border = plan->filter.border,
                       .shift = plane->component[0].shift,
                       .full_bits = (int)plane->full[0],
                       .filtered = plane->filtered,
                       .copied = plane->copied,
                       .weight = plane->weight,
                       .width = plane->width,
                       .height = plane->height,
                       .image_width = plan->image.width,
                       .image_height = plan->image.height};

  for (int t = 0; t < plane->n_terms; t++)
    args.term[t] = make_term(table, batch, placed, plan, plane, t);
  set_lanes(&args, plane);
  return args;
}

gboolean
cnv_table_has_plans(const CnvSchedule *table, const CnvWork *work)
{
  if (table->plans->len != work->n_plans)
    return FALSE;
  for (guint i = 0; i < work->n_plans; i++)
    if (g_ptr_array_index(table->plans, i) != work->plan[i])
      return FALSE;
  return TRUE;
}

static void
forget_plans(CnvSchedule *table)
{
  GArray *arrays[] = {table->taps,  table->batches, table->planes,  table->batch_of,
                      table->bands, table->band_of, table->launches};

  for (gsize i = 0; i < G_N_ELEMENTS(arrays); i++)
    g_array_set_size(arrays[i], 0);
  g_ptr_array_set_size(table->plans, 0);
  table->is_plain = TRUE;
}

void
cnv_table_set_plans(CnvSchedule *table, const CnvWork *work)
{
  GArray *placed = g_array_new(FALSE, FALSE, sizeof(Placed));
  CnvBatch batch = {0, 0};

  forget_plans(table);
  g_array_set_size(table->planes, work->n_plans * CNV_MAX_PLANES);
  g_array_set_size(table->batch_of, work->n_plans * CNV_MAX_PLANES);
  for (guint i = 0; i < work->n_plans; i++) {
    CnvPlan *plan = work->plan[i];

    g_ptr_array_add(table->plans, cnv_plan_ref(plan));
    for (int p = 0; p < plan->n_planes; p++) {
      const CnvPlanPlane *plane = &plan->plane[p];
      guint index = i * CNV_MAX_PLANES + p;

      if (!plane->filtered)
        continue;
      if (batch.n + cnv_table_taps_of(plan, plane) > CNV_CONSTANT_TAPS) {
        g_array_append_val(table->batches, batch);
        batch = (CnvBatch){table->taps->len, 0};
        g_array_set_size(placed, 0);
      }
      g_array_index(table->planes, CnvPlaneArgs, index) = make_plane(table, &batch, placed, plan, plane);
      g_array_index(table->batch_of, guint, index) = table->batches->len;
      table->is_plain &= plane->plain;
    }
  }
  g_array_append_val(table->batches, batch);
  g_array_unref(placed);
  cnv_strips_set_plans(table);
}

/* Work. */

const CnvPlanPlane *
cnv_table_plane(const CnvSchedule *table, const CnvRectJob *job)
{
  const CnvPlan *plan = g_ptr_array_index(table->plans, job->plan);

  return &plan->plane[job->plane];
}

int
cnv_table_index(const CnvRectJob *job)
{
  return job->plan * CNV_MAX_PLANES + job->plane;
}

/* What a kernel takes of a job: how many samples or pixels one of its blocks makes, of how many. term: rows alone. */
static void
shape(CnvKernelKind kind, const CnvRectJob *job, const CnvPlanPlane *plane, int term, int of[2], int by[2])
{
  int samples = job->width * plane->channels, sums = job->height + plane->term[term].n[CNV_Y] - 1;

  of[0] = samples;
  of[1] = job->height;
  by[0] = CNV_POINT_WIDTH;
  by[1] = CNV_POINT_HEIGHT;
  switch (kind) {
  case CNV_KERNEL_TILED:
    of[0] = job->width;
    by[0] = CNV_TILED_WIDTH / plane->channels;
    by[1] = CNV_TILED_HEIGHT;
    break;
  case CNV_KERNEL_TEXTURE_ROWS:
    of[1] = sums;
    break;
  case CNV_KERNEL_ROWS:
    of[0] = job->width;
    of[1] = sums;
    by[0] = CNV_ROWS_PIXELS;
    by[1] = CNV_ROWS_PER_BLOCK(plane->channels);
    break;
  case CNV_KERNEL_COLUMNS:
    by[0] = CNV_COLUMNS_WIDTH;
    by[1] = CNV_COLUMNS_HEIGHT;
    break;
  case CNV_KERNEL_STAGE_IN:
  case CNV_KERNEL_STAGE_OUT:
    of[0] = job->width;
    break;
  default:
    break;
  }
}

static void
add_unit(CnvSchedule *table, CnvLaunch *launch, guint job, int term)
{
  const CnvRectJob *from = &g_array_index(table->jobs, CnvRectArgs, job).job;
  CnvUnit unit = {.job = (int)job, .term = term, .first_block = (int)launch->n_blocks};
  int of[2], by[2];

  shape(launch->kind, from, cnv_table_plane(table, from), term, of, by);
  unit.blocks_x = divide_up(of[0], by[0]);
  launch->n_blocks += (guint)unit.blocks_x * divide_up(of[1], by[1]);
  launch->n_units++;
  g_array_append_val(table->units, unit);
}

static gboolean
takes(CnvKernelKind kind, CnvAlgorithm algorithm)
{
  switch (kind) {
  case CNV_KERNEL_NAIVE:
    return algorithm == CNV_ALGORITHM_NAIVE;
  case CNV_KERNEL_TILED:
    return algorithm == CNV_ALGORITHM_TILED;
  case CNV_KERNEL_TEXTURE_ROWS:
  case CNV_KERNEL_TEXTURE_COLUMNS:
    return algorithm == CNV_ALGORITHM_TEXTURE;
  case CNV_KERNEL_ROWS:
  case CNV_KERNEL_COLUMNS:
    return algorithm == CNV_ALGORITHM_SEPARABLE;
  default:
    return TRUE; /* the stages */
  }
}

/* Jobs of a batch that are launched together. */
typedef struct {
  guint batch, first, last;
} Round;

/* TRUE where there are kernels made for the job: it is plain, much of large work, and needs no more than sums. A
 * slice goes by its plane, and so to the kernel that does the plane uncut. */
static gboolean
is_large(const CnvSchedule *table, const CnvRectJob *job, CnvKernelKind kind)
{
  const CnvPlan *plan = g_ptr_array_index(table->plans, job->plan);
  const CnvPlanPlane *plane = cnv_table_plane(table, job);
  gboolean made = kind == CNV_KERNEL_TILED || kind == CNV_KERNEL_ROWS || kind == CNV_KERNEL_COLUMNS;
  gboolean simple = plane->combine != CNV_COMBINE_MAGNITUDE && plan->filter.border != CNV_BORDER_RENORMALIZE;
  int height = table->slices.whole ? job->height : plane->height;

  return made && simple && table->large && plane->plain && table->one_source &&
         (gsize)job->width * height * plane->channels >= LARGE_SAMPLES / 8;
}

static void
add_large(CnvSchedule *table, CnvKernelKind kind, guint batch, guint job, int term)
{
  const CnvRectJob *from = &g_array_index(table->jobs, CnvRectArgs, job).job;
  const CnvPlanPlane *plane = cnv_table_plane(table, from);
  CnvLaunch launch = {.kind = kind, .batch = batch, .channels = plane->channels, .job = job, .term = term};
  int of[2], by[2];

  shape(kind, from, plane, term, of, by);
  launch.blocks_x = divide_up(of[0], by[0]);
  launch.blocks_y = divide_up(of[1], by[1]);
  g_array_append_val(table->launches, launch);
}

/* The launches of one kind for those of the round's jobs that it is for. */
static void
add_launch(CnvSchedule *table, CnvKernelKind kind, gboolean staged, Round round)
{
  CnvLaunch launch = {.kind = kind, .staged = staged, .batch = round.batch, .first_unit = table->units->len};
  gboolean stage = kind == CNV_KERNEL_STAGE_IN || kind == CNV_KERNEL_STAGE_OUT;
  gboolean by_term = kind == CNV_KERNEL_ROWS || kind == CNV_KERNEL_TEXTURE_ROWS;

  for (guint i = round.first; i < round.last; i++) {
    const CnvRectJob *job = &g_array_index(table->jobs, CnvRectArgs, i).job;
    const CnvPlanPlane *plane = cnv_table_plane(table, job);

    if (plane->plain == staged || !takes(kind, cnv_strips_algorithm(table, job)) ||
        (!stage && g_array_index(table->batch_of, guint, cnv_table_index(job)) != round.batch))
      continue;
    for (int t = 0; t < (by_term ? plane->n_terms : 1); t++) {
      if (is_large(table, job, kind))
        add_large(table, kind, round.batch, i, t);
      else
        add_unit(table, &launch, i, t);
    }
  }
  if (launch.n_units > 0)
    g_array_append_val(table->launches, launch);
}

static gboolean
has_sums(const CnvSchedule *table, const CnvRectJob *job)
{
  CnvAlgorithm algorithm = cnv_strips_algorithm(table, job);

  return algorithm == CNV_ALGORITHM_SEPARABLE || algorithm == CNV_ALGORITHM_TEXTURE;
}

/* Gives a job its row sums from *used floats on. */
static void
place_sums(CnvRectArgs *args, const CnvPlanPlane *plane, gsize *used)
{
  args->sums_stride = round_up(args->job.width * plane->channels, SUMS_UNIT);
  for (int t = 0; t < plane->n_terms; t++) {
    args->sums[t] = (uint32_t)*used;
    *used += (gsize)args->sums_stride * (args->job.height + plane->term[t].n[CNV_Y] - 1);
  }
}

/* Floats that place_sums would use. */
static gsize
sums_of(const CnvSchedule *table, const CnvRectJob *job)
{
  CnvRectArgs args = {.job = *job};
  gsize used = 0;

  if (has_sums(table, job))
    place_sums(&args, cnv_table_plane(table, job), &used);
  return used;
}

static void
add_filters(CnvSchedule *table, guint batch, guint first, guint last)
{
  Round round = {batch, first, last};

  for (int staged = 0; staged < (table->is_plain ? 1 : 2); staged++)
    for (CnvKernelKind kind = CNV_KERNEL_NAIVE; kind < CNV_KERNEL_FUSED; kind++)
      add_launch(table, kind, staged, round);
  cnv_strips_add(table, batch, first, last);
}

/* The launches of one batch for jobs first to last - 1, in rounds of jobs whose row sums fit. */
static void
add_batch(CnvSchedule *table, guint batch, guint first, guint last)
{
  gsize used = 0;

  for (guint i = first; i < last; i++) {
    CnvRectArgs *args = &g_array_index(table->jobs, CnvRectArgs, i);
    const CnvPlanPlane *plane = cnv_table_plane(table, &args->job);

    if (g_array_index(table->batch_of, guint, cnv_table_index(&args->job)) != batch || !has_sums(table, &args->job))
      continue;
    if (used > 0 && used + sums_of(table, &args->job) > ROUND_FLOATS) {
      add_filters(table, batch, first, i);
      first = i;
      used = 0;
    }
    place_sums(args, plane, &used);
    table->sums_size = MAX(table->sums_size, used * sizeof(float));
  }
  add_filters(table, batch, first, last);
}

/* Staged planes are staged whole. Returns how many jobs, behind those that are filtered, stand for that. */
static guint
add_whole_planes(CnvSchedule *table, int fields)
{
  const CnvPlan *plan = g_ptr_array_index(table->plans, 0);
  guint before = table->jobs->len;

  for (int p = 0; p < plan->n_planes; p++)
    for (int field = 0; field < fields && plan->plane[p].filtered && !plan->plane[p].plain; field++) {
      const CnvPlanPlane *plane = &plan->plane[p];
      CnvRectArgs args = {.job = {.plane = p, .field = field, .fields = fields, .width = plane->width},
                          .plane_args = p};

      args.job.height = divide_up(plane->height - field, fields);
      if (args.job.height > 0)
        g_array_append_val(table->jobs, args);
    }
  return table->jobs->len - before;
}

static void
add_job(CnvSchedule *table, const CnvRectJob *job)
{
  CnvRectArgs args = {.job = *job, .plane_args = cnv_table_index(job)};
  const CnvPlanPlane *plane = cnv_table_plane(table, job);

  args.pointers = plane->plain ? plane->component[0].plane : job->plane;
  g_array_append_val(table->jobs, args);
}

/* All jobs as they are, and what is large of them. */
static void
add_jobs(CnvSchedule *table)
{
  gsize samples = 0;

  for (guint i = 0; i < table->uncut->len; i++) {
    const CnvRectJob *job = &g_array_index(table->uncut, CnvRectJob, i);

    samples += (gsize)job->width * job->height * cnv_table_plane(table, job)->channels;
    if (table->slices.whole)
      add_job(table, job);
  }
  table->large = samples >= LARGE_SAMPLES;
}

static void
make_launches(CnvSchedule *table, int fields)
{
  guint n = table->jobs->len, whole;

  if (n == 0)
    return;
  whole = table->is_plain ? 0 : add_whole_planes(table, fields);
  if (whole > 0)
    add_launch(table, CNV_KERNEL_STAGE_IN, TRUE, (Round){0, n, n + whole});
  for (guint batch = 0; batch < table->batches->len; batch++)
    add_batch(table, batch, 0, n);
  if (whole > 0)
    add_launch(table, CNV_KERNEL_STAGE_OUT, TRUE, (Round){0, 0, n});
}

/* The rows of whole planes that a slice has. Where it reads beyond them, that is what lies in the frame. */
static void
make_slice(CnvSchedule *table, int k)
{
  guint before = table->jobs->len;

  for (guint i = 0; i < table->uncut->len; i++) {
    CnvRectJob job = g_array_index(table->uncut, CnvRectJob, i);
    int sub_y = cnv_table_plane(table, &job)->sub_y;

    job.y = k > 0 ? cnv_slice_rows(table->slices.end[k - 1], sub_y) : 0;
    job.height = cnv_slice_rows(table->slices.end[k], sub_y) - job.y;
    add_job(table, &job);
  }
  add_batch(table, 0, before, table->jobs->len);
  table->launches_to[k] = table->launches->len;
}

/* Constant memory holds one batch at a time, so that several would be loaded again for each slice. */
static void
set_slices(CnvSchedule *table, const CnvWork *work, gboolean cut)
{
  table->slices = cnv_slices_of_work(work);
  table->slices.whole |= !cut || table->batches->len > 1;
}

static void
make_all(CnvSchedule *table, const CnvWork *work)
{
  GArray *arrays[] = {table->jobs, table->units, table->strips, table->launches};

  for (gsize i = 0; i < G_N_ELEMENTS(arrays); i++)
    g_array_set_size(arrays[i], 0);
  table->sums_size = 0;
  add_jobs(table);
  if (table->slices.whole)
    make_launches(table, work->interlaced ? 2 : 1);
  for (int k = 0; k < table->slices.n && !table->slices.whole; k++)
    make_slice(table, k);
}

static gsize
add_array(GByteArray *block, const GArray *array)
{
  static const guint8 zeros[BLOCK_ALIGNMENT];
  gsize at;

  g_byte_array_append(block, zeros, (BLOCK_ALIGNMENT - block->len % BLOCK_ALIGNMENT) % BLOCK_ALIGNMENT);
  at = block->len;
  g_byte_array_append(block, (const guint8 *)array->data, array->len * g_array_get_element_size((GArray *)array));
  return at;
}

gboolean
cnv_table_set_work(CnvSchedule *table, const CnvWork *work, gboolean cut)
{
  gboolean one_source = work->n_temporal_taps == 0;

  if (table->launches->len > 0 && cnv_rect_jobs_match(&table->of, work) && one_source == table->one_source &&
      !work->overlaps == !table->of.work.overlaps && !cut == !table->cut)
    return FALSE;
  cnv_rect_jobs_set_of(&table->of, work);
  table->crowd = cnv_rect_jobs_make(work, table->uncut, table->spots);
  table->one_source = one_source;
  set_slices(table, work, cut);
  make_all(table, work);
  table->cut = cut;
  g_byte_array_set_size(table->block, 0);
  table->planes_at = add_array(table->block, table->planes);
  table->jobs_at = add_array(table->block, table->jobs);
  table->spots_at = add_array(table->block, table->spots);
  table->units_at = add_array(table->block, table->units);
  table->strips_at = add_array(table->block, table->strips);
  return TRUE;
}
