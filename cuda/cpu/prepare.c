/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Prepares planes when the plans change, and allocates the memory of threads.
 */
#include "cpu/cpu.h"

#include "plan/arith.h"

#define PRODUCTS_ANYWAY 10 /* the time to load and store a sample, in products */
#define SMALL_REGIONS 8    /* with more regions, tiles are too small for running sums */

/* ---- shapes ---- */

/* Returns TRUE if the samples of a plane weighed by coverage are an array: all samples of each pixel, or three of
 * four. */
static gboolean
is_array(const CpuPlane *plane)
{
  const CnvPlane *from = plane->from;
  const CnvComponent *first = &from->component[0];
  int n = from->channels - 1, stored = first->step / MAX(first->bytes, 1);

  if (!from->covered || from->component[from->weight].bytes > 0 || first->bytes > 2)
    return FALSE;
  if (stored != n && !(stored == 4 && n == 3))
    return FALSE;
  for (int c = 0; c < n; c++)
    if (from->component[c].offset != first->offset + c * first->bytes)
      return FALSE;
  if (first->offset / first->bytes + n > stored)
    return FALSE;
  for (int p = 0; p < plane->plan->n_planes && stored == 4; p++) { /* the fourth is copied, which must not overwrite
                                                                      results */
    const CnvPlane *other = &plane->plan->plane[p];

    if (other != from && other->filtered && other->component[0].plane == first->plane)
      return FALSE;
  }
  return TRUE;
}

/* Turns such a plane into a plain one whose channels are all samples of a pixel. They are multiplied by weights as they
 * are loaded. */
static void
weigh_apart(CpuPlane *plane)
{
  const CnvPlane *from = plane->from;
  CnvPlane *own = &plane->own;
  int skipped = from->component[0].offset / from->component[0].bytes;

  *own = *from;
  own->plain = TRUE;
  own->covered = own->filtered = own->copied = 0;
  own->weight = -1;
  own->channels = from->component[0].step / from->component[0].bytes;
  for (int c = 0; c < own->channels; c++) {
    gboolean filtered = c >= skipped && c < skipped + from->channels - 1;
    int source = filtered ? c - skipped : 0;

    *(filtered ? &own->filtered : &own->copied) |= 1u << c;
    own->component[c] = from->component[source];
    own->component[c].offset = (guint16)(from->component[0].offset + (c - skipped) * from->component[0].bytes);
    own->mid[c] = from->mid[source];
    own->full[c] = from->full[source];
    own->gain[c] = from->gain[source];
    own->fraction[c] = from->fraction[source];
    own->base[c] = from->base[source];
    own->lowest[c] = from->lowest[source];
    own->highest[c] = from->highest[source];
    own->mid_bias[c] = from->mid_bias[source];
    own->border_value[c] = from->border_value[source];
  }
  plane->from = own;
  plane->weighed = !plane->unweighed;
}

/* Makes the plane of the weights of a weighed plane. */
static void
make_weights(CpuPlane *plane)
{
  const CnvPlane *given = plane->given;
  CnvPlane *own = &plane->own;

  *own = *given;
  own->plain = FALSE;
  own->covered = 0;
  own->weight = -1;
  own->channels = own->filtered = 1;
  own->copied = 0;
  own->combine = CNV_COMBINE_SUM;
  own->component[0] = (CnvComponent){.bytes = 1, .bits = 8, .step = 1};
  own->mid[0] = 0;
  own->border_value[0] = given->border_value[given->weight];
  plane->from = own;
}

static void
shape_rows(CpuPlane *plane)
{
  plane->acc_stride = cnv_divide_up(plane->widest, CNV_CPU_BLOCK) * CNV_CPU_BLOCK;
  for (int t = 0; t < plane->from->n_terms; t++) {
    CpuTerm *term = &plane->term[t];
    int apron = (term->from->n[CNV_X] - 1) * plane->from->channels;
    gsize line = (gsize)cnv_divide_up((int)plane->acc_stride + apron, CNV_CPU_BLOCK) * CNV_CPU_BLOCK + CNV_CPU_SLACK;
    gsize row = plane->decimated_stride         ? plane->decimated_stride
                : plane->dense || plane->summed ? line
                                                : plane->acc_stride;

    row *= plane->deep ? 2 : 1;
    plane->line_length = MAX(plane->line_length, line);
    /* One cache line more, so that the rows of a column do not share cache sets. */
    term->ring_stride = (row + CNV_CPU_ALIGNMENT - 1) / CNV_CPU_ALIGNMENT * CNV_CPU_ALIGNMENT + CNV_CPU_ALIGNMENT +
                        CNV_CPU_ALIGNMENT / sizeof(float);
  }
}

static void
shape_plane(const CpuPrepared *self, CpuPlane *plane, const CnvPlan *plan, const CnvPlane *from)
{
  gboolean naive = from->algorithm == CNV_ALGORITHM_NAIVE; /* reads any format */

  plane->given = plane->from = from;
  plane->plan = plan;
  plane->simd = self->simd;
  plane->small_tiles = self->small_tiles;
  plane->max_samples = from->width * from->channels;
  plane->acc_rows = CNV_CPU_ROWS;
  if (!from->filtered)
    return;
  plane->dense = from->algorithm == CNV_ALGORITHM_TILED;
  if (plane->of_weights)
    make_weights(plane);
  else if (!naive && is_array(plane))
    weigh_apart(plane);
  for (int t = 0; t < plane->from->n_terms; t++)
    cnv_cpu_shape_term(plane, t);
  cnv_cpu_choose_methods(plane);
  plane->method->shape(plane);
  if (plane->large)
    plane->large->shape(plane);
  plane->products = (PRODUCTS_ANYWAY + cnv_cpu_cost(plane->method, plane, 1, 1)) * plane->from->channels;
  shape_rows(plane);
}

/* Shapes a plane and, if it is weighed, the plane of its weights and the unweighed plane. */
static void
shape_planes(const CpuPrepared *self, CpuPlane *plane, const CnvPlan *plan, int p)
{
  plane[CNV_MAX_PLANES].of_weights = TRUE;
  plane[2 * CNV_MAX_PLANES].unweighed = TRUE;
  for (int i = 0; i == 0 || (i < 3 && plane->weighed); i++)
    shape_plane(self, &plane[i * CNV_MAX_PLANES], plan, &plan->plane[p]);
}

/* ---- arrays of planes ---- */

/* Stores the taps along y, or all dense taps, with rows of zeros before and after them. */
static void
fill_taps(const CpuPlane *plane, CpuTerm *term, CpuArena *arena)
{
  const CnvTerm *from = term->from;
  int width = plane->dense ? from->n[CNV_X] : 1, zeros = CNV_CPU_ROWS - 1;
  float *to = cnv_cpu_take(arena, (gsize)width * (from->n[CNV_Y] + 2 * zeros), sizeof(float));

  if (!to)
    return;
  to += zeros * width;
  term->taps[CNV_Y].tap = to;
  for (int y = 0; y < from->n[CNV_Y]; y++)
    for (int x = 0; x < width; x++)
      *to++ = plane->dense ? (float)cnv_plan_tap(plane->plan, from, x, y) : plane->plan->taps[from->taps[CNV_Y] + y];
}

static void
fill_samples(CpuPlane *plane)
{
  const CnvPlane *from = plane->from;
  const CnvComponent *component = &from->component[0];

  for (int i = 0; i < plane->widest; i++) {
    int c = i % from->channels;

    plane->samples.gain[i] = from->gain[c];
    plane->samples.fraction[i] = from->fraction[c];
    plane->samples.round[i] = CNV_CPU_ROUND + from->base[c];
    plane->mid_bias[i] = from->mid_bias[c];
    if (plane->mask)
      memset(plane->mask + i * component->bytes, from->filtered >> c & 1 ? 255 : 0, component->bytes);
  }
}

static void
fill_plane(CpuPlane *plane, CpuArena *arena)
{
  const CnvPlane *from = plane->from;
  const CnvComponent *component = &from->component[0];
  gsize n = plane->widest;

  for (int t = 0; t < from->n_terms; t++)
    fill_taps(plane, &plane->term[t], arena);
  plane->samples = (CpuSamples){component->bytes, component->shift, (1 << component->bits) - 1, from->mid[0]};
  plane->samples.gain = cnv_cpu_take(arena, n, sizeof(float));
  plane->samples.fraction = cnv_cpu_take(arena, n, sizeof(float));
  plane->samples.round = cnv_cpu_take(arena, n, sizeof(float));
  plane->mid_bias = cnv_cpu_take(arena, n, sizeof(float));
  if (from->plain && from->filtered != (1u << from->channels) - 1)
    plane->mask = cnv_cpu_take(arena, n, component->bytes);
  if (plane->method->fill)
    plane->method->fill(plane, arena);
  if (plane->large && plane->large->fill)
    plane->large->fill(plane, arena);
  if (arena->block)
    fill_samples(plane);
}

/* ---- preparation ---- */

/* Lays out a block, and returns its size. Without a block it only computes the size. */
static gsize
fill(CpuPrepared *self, guint n_threads, guint8 *block)
{
  CpuArena arena = {block, 0};
  gsize most = 0;

  for (guint p = 0; p < self->n_plans * CNV_CPU_PLANES; p++)
    if (self->plane[p].widest > 0) {
      gsize bytes = cnv_cpu_worker_lay_out(&(CpuWorker){0}, &self->plane[p]);

      fill_plane(&self->plane[p], &arena);
      most = MAX(most, bytes);
    }
  for (guint i = 0; i < n_threads; i++)
    self->worker[i].block = cnv_cpu_take(&arena, most, 1);
  return arena.used;
}

static gboolean
allocate(CpuPrepared *self, guint n_threads, GError **error)
{
  gsize bytes = fill(self, n_threads, NULL) + CNV_CPU_ALIGNMENT;

  if (bytes > self->block_size) {
    g_free(self->block);
    self->block = g_try_malloc(bytes);
    self->block_size = self->block ? bytes : 0;
  }
  if (!self->block) {
    g_set_error(error, CNV_ERROR, CNV_ERROR_MEMORY,
                "no memory for %" G_GSIZE_FORMAT
                " bytes of rows for %u threads: set fewer with n-threads, or a smaller radius",
                bytes, n_threads);
    return FALSE;
  }
  /* Rows are filtered in whole blocks, so memory beyond their samples is read. It has no effect on results. */
  memset(self->block, 0, bytes);
  fill(self, n_threads, cnv_cpu_aligned(self->block));
  return TRUE;
}

static void
forget_plans(CpuPrepared *self)
{
  for (guint i = 0; i < self->n_plans; i++)
    cnv_plan_unref(self->plan[i]);
  self->n_plans = 0;
}

/* Returns TRUE if the work has many regions, whose tiles are too small for running sums. */
static gboolean
has_small_tiles(const CnvWork *work)
{
  return !work->whole_frame && work->n_regions > SMALL_REGIONS;
}

gboolean
cnv_cpu_is_prepared(const CpuPrepared *self, const CnvWork *work)
{
  return self->n_plans == work->n_plans && memcmp(self->plan, work->plan, work->n_plans * sizeof(CnvPlan *)) == 0 &&
         self->small_tiles == has_small_tiles(work);
}

gboolean
cnv_cpu_prepare(CpuPrepared *self, const CnvWork *work, guint n_threads, GError **error)
{
  for (guint i = 0; i < work->n_plans; i++)
    cnv_plan_ref(work->plan[i]);
  forget_plans(self);
  self->n_plans = work->n_plans;
  self->small_tiles = has_small_tiles(work);
  memcpy(self->plan, work->plan, work->n_plans * sizeof(CnvPlan *));
  g_free(self->plane);
  self->plane = g_new0(CpuPlane, self->n_plans * CNV_CPU_PLANES);
  if (!self->worker)
    self->worker = g_new0(CpuWorker, n_threads);
  for (guint i = 0; i < self->n_plans; i++)
    for (int p = 0; p < self->plan[i]->n_planes; p++)
      shape_planes(self, &self->plane[i * CNV_CPU_PLANES + p], self->plan[i], p);
  if (!allocate(self, n_threads, error)) {
    forget_plans(self);
    return FALSE;
  }
  for (guint p = 0; p < self->n_plans * CNV_CPU_PLANES; p++)
    if (self->plane[p].large && self->plane[p].large->start) {
      cnv_cpu_worker_lay_out(&self->worker[0], &self->plane[p]);
      self->plane[p].large->start(&self->plane[p], &self->worker[0]);
    }
  return TRUE;
}

void
cnv_cpu_prepared_clear(CpuPrepared *self)
{
  forget_plans(self);
  g_free(self->block);
  g_free(self->plane);
  g_free(self->worker);
}
