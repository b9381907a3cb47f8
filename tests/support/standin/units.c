/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Kernels that work on units: a launch's blocks are shared out among jobs, or terms of jobs.
 */
#include <string.h>

#include "kernels_of.h"
#include "plan/component.h"

/* What a unit of a launch is about. */
typedef struct {
  Job job;
  CnvBlock block;
  int term, pointers;
  guint blocks_x, blocks_y;
  const CnvLaunchArgs *launch;
} Unit;

typedef void (*UnitFunc)(const KernelRun *run, const Unit *unit);

static const void *
read_array(const KernelRun *run, guint64 address, gsize size)
{
  return standin_access(run->op, address, size, FALSE, run->name);
}

static void
find_mask_rects(const KernelRun *run, Unit *unit)
{
  const CnvRectJob *job = &unit->block.job;
  gsize first = job->first_mask_rect * sizeof(CnvMaskRect);

  if (job->n_mask_rects == 0)
    return;
  /* cnv_rect_job_weight counts from the array's beginning. */
  unit->job.mask_rects = read_array(run, unit->launch->mask_rects + first, job->n_mask_rects * sizeof(CnvMaskRect));
  if (unit->job.mask_rects)
    unit->job.mask_rects -= job->first_mask_rect;
}

/* Samples or pixels that a block makes, and how many of them there are. */
static void
expect_size(const KernelRun *run, const Unit *unit, int by[2], int of[2])
{
  const CnvRectJob *job = &unit->block.job;
  int C = unit->block.a.channels, sums = job->height + unit->block.a.term[unit->term].n[CNV_Y] - 1;
  gboolean rows = strstr(run->name, "_rows") != NULL;

  by[0] = CNV_POINT_WIDTH;
  by[1] = CNV_POINT_HEIGHT;
  of[0] = job->width * (strstr(run->name, "stage") ? 1 : C);
  of[1] = rows ? sums : job->height;
  if (strstr(run->name, "tiled") || strstr(run->name, "cnv_columns")) {
    by[0] = CNV_COLUMNS_WIDTH;
    by[1] = CNV_COLUMNS_HEIGHT;
  } else if (strstr(run->name, "cnv_rows")) {
    by[0] = CNV_ROWS_WIDTH;
    by[1] = CNV_ROWS_HEIGHT;
  }
}

/* Blocks of a unit lie side by side: they make each sample once where they reach far enough. */
static void
check_blocks(const KernelRun *run, const Unit *unit)
{
  int by[2], of[2];

  expect_size(run, unit, by, of);
  if ((int)unit->blocks_x * by[0] < of[0] || (int)unit->blocks_y * by[1] < of[1] ||
      ((int)unit->blocks_x - 1) * by[0] >= of[0] || ((int)unit->blocks_y - 1) * by[1] >= of[1])
    standin_report("%s: %u x %u blocks of %d x %d for %d x %d samples", run->name, unit->blocks_x, unit->blocks_y,
                   by[0], by[1], of[0], of[1]);
}

static gboolean
open_unit(const KernelRun *run, const CnvUnit *from, guint n_blocks, Unit *unit)
{
  const CnvLaunchArgs *l = run->args;
  const CnvRectArgs *job = read_array(run, l->jobs + from->job * sizeof(CnvRectArgs), sizeof(CnvRectArgs));
  const CnvPlane *plane =
      job ? read_array(run, l->planes + job->plane_args * sizeof(CnvPlane), sizeof(CnvPlane)) : NULL;
  int p;

  if (!plane)
    return FALSE;
  p = job->pointers;
  *unit = (Unit){.term = from->term, .pointers = p, .launch = l};
  unit->block.a = *plane;
  unit->block.job = job->job;
  unit->block.sources = l->sources;
  memcpy(unit->block.sums, job->sums, sizeof(job->sums));
  unit->block.sums_stride = job->sums_stride;
  cnv_block_locate(&unit->block, l->in[p], l->in_stride[p], l->out[p], l->out_stride[p], run->variant.bytes);
  unit->blocks_x = from->blocks_x;
  unit->blocks_y = from->blocks_x > 0 ? n_blocks / from->blocks_x : 0;
  if (from->blocks_x < 1 || n_blocks % from->blocks_x != 0)
    standin_report("%s: a unit of %u blocks has %d a row", run->name, n_blocks, from->blocks_x);
  return TRUE;
}

static void
run_units(const KernelRun *run, UnitFunc func)
{
  const CnvLaunchArgs *l = run->args;
  const CnvUnit *units = read_array(run, l->units, l->n_units * sizeof(CnvUnit));

  if (units && units[0].first_block != 0)
    standin_report("%s: the first unit begins with block %d", run->name, units[0].first_block);
  for (int i = 0; units && i < l->n_units; i++) {
    int end = i + 1 < l->n_units ? units[i + 1].first_block : (int)run->size->grid[0];
    Unit unit;

    if (!open_unit(run, &units[i], (guint)(end - units[i].first_block), &unit))
      continue;
    unit.job = (Job){.op = run->op, .block = &unit.block, .bytes = run->variant.bytes, .taps = run->taps};
    find_mask_rects(run, &unit);
    check_blocks(run, &unit);
    func(run, &unit);
  }
}

/* ---- kernels ---- */

static void
sum_unit(const KernelRun *run, const Unit *unit)
{
  const CnvBlock *b = &unit->block;
  gsize n = (gsize)b->job.width * b->a.channels * b->job.height;
  double *sums[CNV_MAX_TERMS];

  for (int t = 0; t < b->a.n_terms; t++) {
    sums[t] = g_new0(double, n);
    samples_add_term(&unit->job, &b->a.term[t], sums[t]);
  }
  samples_store_terms(&unit->job, sums);
  for (int t = 0; t < b->a.n_terms; t++)
    g_free(sums[t]);
}

/* A texture over the samples from `start` on, up to that at `last`. */
static void
check_texture(const KernelRun *run, guint64 object, guint64 start, guint64 last)
{
  guint64 address = 0;
  gsize size = 0;

  if (!standin_texture(object, &address, &size) || address != start || last < start ||
      last - start + run->variant.bytes > size)
    standin_report("%s: the texture is none of the samples that are to be read", run->name);
}

/* Where a term's row sums lie. */
static guint64
sums_at(const Unit *unit, int term)
{
  return unit->launch->sums + unit->block.sums[term] * sizeof(float);
}

static void
row_unit(const KernelRun *run, const Unit *unit)
{
  const CnvBlock *b = &unit->block;
  const CnvLaunchArgs *l = unit->launch;
  const CnvTerm *t = &b->a.term[unit->term];
  int width = b->job.width * b->a.channels, rows;
  g_autofree double *sums = NULL;
  gsize stride = b->sums_stride * sizeof(float);
  guint8 *to, *written;

  if (strstr(run->name, "texture") && b->sources.n == 0)
    check_texture(run, l->texture[unit->pointers], l->texture_start[unit->pointers], b->in);
  if (!t->separable) {
    standin_report("%s: a term that is no row times a column", run->name);
    return;
  }
  sums = samples_row_sums(&unit->job, t, &rows);
  to = standin_access_rows(run->op, sums_at(unit, unit->term), stride, width * sizeof(float), rows, TRUE, run->name);
  written = standin_written(sums_at(unit, unit->term));
  for (int v = 0; to && v < rows; v++)
    for (int s = 0; s < width; s++) {
      float sum = (float)sums[(gsize)v * width + s];

      memcpy(to + v * stride + s * sizeof(float), &sum, sizeof(float));
      if (written[v * stride + s * sizeof(float)]++)
        standin_report("%s writes a row sum twice", run->name);
    }
}

static double *
add_columns(const KernelRun *run, const Unit *unit, int term)
{
  const CnvBlock *b = &unit->block;
  const CnvTerm *t = &b->a.term[term];
  int width = b->job.width * b->a.channels, rows = b->job.height + t->n[CNV_Y] - 1;
  gsize stride = b->sums_stride * sizeof(float);
  const guint8 *from =
      standin_access_rows(run->op, sums_at(unit, term), stride, width * sizeof(float), rows, FALSE, run->name);
  double *acc = g_new0(double, (gsize)width * b->job.height);

  for (int y = 0; from && y < b->job.height; y++)
    for (int j = 0; j < t->n[CNV_Y]; j++)
      for (int s = 0; s < width; s++)
        acc[(gsize)y * width + s] +=
            (double)unit->job.taps[t->taps[CNV_Y] + j] * ((const float *)(from + (y + j) * stride))[s];
  return acc;
}

static void
column_unit(const KernelRun *run, const Unit *unit)
{
  const CnvBlock *b = &unit->block;
  double *sums[CNV_MAX_TERMS];

  if (strstr(run->name, "texture"))
    check_texture(run, unit->launch->sums_texture, unit->launch->sums, sums_at(unit, 0));
  for (int t = 0; t < b->a.n_terms; t++)
    sums[t] = add_columns(run, unit, t);
  samples_store_terms(&unit->job, sums);
  for (int t = 0; t < b->a.n_terms; t++)
    g_free(sums[t]);
}

void
units_sums(const KernelRun *run)
{
  run_units(run, sum_unit);
}

void
units_rows(const KernelRun *run)
{
  run_units(run, row_unit);
}

void
units_columns(const KernelRun *run)
{
  run_units(run, column_unit);
}

/* ---- staged planes ---- */

static guint
lane_mask(const CnvComponent *component)
{
  return component->bits == 32 ? ~0u : (1u << component->bits) - 1;
}

/* A lane's samples in columns x0 to x0 + columns - 1 and rows y0 and on, as the host reads them; NULL where it may not.
 * Returned as where column 0 of row 0 would be. */
static guint8 *
open_lane(const KernelRun *run, const CnvComponent *component, const guint64 *base, const int *stride, int x0,
          int columns, int y0, int rows, gboolean write)
{
  gint64 at = (gint64)y0 * stride[component->plane] + (gint64)x0 * component->step + component->offset;
  guint8 *memory =
      standin_access_rows(run->op, base[component->plane] + at, stride[component->plane],
                          (gsize)(columns - 1) * component->step + component->bytes, rows, write, run->name);

  return memory ? memory - at : NULL;
}

static double
lane_value(const guint8 *lane_at, const CnvComponent *component, int stride, int x, int y)
{
  const guint8 *at = lane_at + (gint64)y * stride + (gint64)x * component->step + component->offset;

  return cnv_component_word(at, component->bytes) >> component->shift & lane_mask(component);
}

/* The mean over the pixels, all in one field, that a pixel of a subsampled plane stands for. */
static double
lane_mean(const KernelRun *run, const Unit *unit, const CnvComponent *component, int x, int y)
{
  const CnvLaunchArgs *l = unit->launch;
  const CnvPlane *a = &unit->block.a;
  int fields = unit->block.job.fields, field = unit->block.job.field;
  int x0 = x << component->sub_x, x1 = MIN(x0 + (1 << component->sub_x), a->image_width);
  int y0 = y << component->sub_y,
      y1 = MIN(y0 + (1 << component->sub_y), (a->image_height - field + fields - 1) / fields);
  const guint8 *at = open_lane(run, component, l->in, l->in_stride, x0, x1 - x0, y0 * fields + field,
                               (y1 - y0 - 1) * fields + 1, FALSE);
  double sum = 0;

  for (int iy = y0; at && iy < y1; iy++)
    for (int ix = x0; ix < x1; ix++)
      sum += lane_value(at, component, l->in_stride[component->plane], ix, iy * fields + field);
  return sum / ((x1 - x0) * (y1 - y0));
}

static void
stage_in_row(const KernelRun *run, const Unit *unit, const guint8 *const *lanes, int y)
{
  const CnvBlock *b = &unit->block;
  const CnvLaunchArgs *l = unit->launch;
  int p = b->job.plane, C = b->a.channels, row = y * b->job.fields + b->job.field;
  float *to = (float *)standin_access(run->op, l->staged_in[p] + (gint64)row * l->staged_stride[p],
                                      (gsize)b->job.width * C * sizeof(float), TRUE, run->name);

  for (int x = 0; to && x < b->job.width; x++) {
    double weight = b->a.weight < 0 ? 1 : lane_mean(run, unit, &b->a.component[b->a.weight], x, y);

    for (int c = 0; c < C; c++) {
      const CnvComponent *component = &b->a.component[c];

      if (c == b->a.weight)
        to[x * C + c] = (float)weight;
      else
        to[x * C + c] =
            (float)(weight * (lane_value(lanes[c], component, l->in_stride[component->plane], x, row) - b->a.mid[c]));
    }
  }
}

static gboolean
open_lanes(const KernelRun *run, const Unit *unit, const guint64 *base, const int *stride, int move_x, int move_y,
           gboolean write, guint8 *lanes[CNV_MAX_CHANNELS])
{
  const CnvRectJob *job = &unit->block.job;
  int row = (job->y + move_y) * job->fields + job->field;

  for (int c = 0; c < unit->block.a.channels; c++) {
    const CnvComponent *component = &unit->block.a.component[c];
    gboolean is_used =
        write ? (unit->block.a.filtered >> c & 1) || component->bytes == 4
              : c != unit->block.a.weight || component->sub_x + component->sub_y == 0; /* else by lane_mean */

    if (!is_used)
      continue;
    lanes[c] = open_lane(run, component, base, stride, job->x + move_x, job->width, row,
                         (job->height - 1) * job->fields + 1, write);
    if (!lanes[c])
      return FALSE;
  }
  return TRUE;
}

static void
stage_in_unit(const KernelRun *run, const Unit *unit)
{
  guint8 *lanes[CNV_MAX_CHANNELS] = {NULL};

  if (!open_lanes(run, unit, unit->launch->in, unit->launch->in_stride, 0, 0, FALSE, lanes))
    return;
  for (int y = 0; y < unit->block.job.height; y++)
    stage_in_row(run, unit, (const guint8 *const *)lanes, y);
}

/* A pixel on its way out. */
typedef struct {
  const float *acc;
  int x, row, to_x, to_row;
  double weight;
  guint8 *to[CNV_MAX_CHANNELS];
  const guint8 *own[CNV_MAX_CHANNELS], *back[CNV_MAX_CHANNELS];
} Pixel;

static guint
lane_level(const Unit *unit, const Pixel *p, int c, double own, double back)
{
  const CnvPlane *a = &unit->block.a;
  double value = samples_finish(a, c, p->acc[c]);

  if (a->weight >= 0 && c != a->weight) {
    double alpha = p->acc[a->weight];
    gboolean clear = ABS(alpha) <= a->alpha_epsilon * (double)lane_mask(&a->component[a->weight]);

    value = clear ? own - a->base[c] : samples_finish(a, c, p->acc[c] * (a->alpha_norm / alpha));
  }
  value += (1 - p->weight) * (back - a->base[c] - value);
  return samples_level(a, c, value);
}

static void
put_pixel(const KernelRun *run, const Unit *unit, const Pixel *p)
{
  const CnvPlane *a = &unit->block.a;
  const CnvLaunchArgs *l = unit->launch;
  guint word = 0;

  for (int c = 0; c < a->channels; c++) {
    const CnvComponent *component = &a->component[c];
    int in_stride = l->in_stride[component->plane], out_stride = l->out_stride[component->plane];
    gint64 at = (gint64)p->to_row * out_stride + (gint64)p->to_x * component->step + component->offset;
    guint level;
    guint16 half;

    if (component->bytes == 4 && c == 0)
      word = cnv_component_word(
          p->back[c] + (gint64)p->to_row * in_stride + (gint64)p->to_x * component->step + component->offset, 4);
    if (!(a->filtered >> c & 1))
      continue;
    level = lane_level(unit, p, c, lane_value(p->own[c], component, in_stride, p->x, p->row),
                       lane_value(p->back[c], component, in_stride, p->to_x, p->to_row))
            << component->shift;
    half = (guint16)level;
    if (component->bytes == 1)
      p->to[c][at] = (guint8)level;
    else if (component->bytes == 2)
      memcpy(p->to[c] + at, &half, 2);
    else
      word = (word & ~(lane_mask(component) << component->shift)) | level;
  }
  if (a->component[0].bytes == 4)
    memcpy(p->to[0] + (gint64)p->to_row * l->out_stride[a->component[0].plane] +
               (gint64)p->to_x * a->component[0].step + a->component[0].offset,
           &word, 4);
}

static void
stage_out_unit(const KernelRun *run, const Unit *unit)
{
  const CnvBlock *b = &unit->block;
  const CnvRectJob *job = &b->job;
  const CnvLaunchArgs *l = unit->launch;
  int C = b->a.channels, p = job->plane;
  guint8 *to[CNV_MAX_CHANNELS] = {NULL}, *own[CNV_MAX_CHANNELS] = {NULL}, *back[CNV_MAX_CHANNELS] = {NULL};

  if (!open_lanes(run, unit, l->out, l->out_stride, job->move_x, job->move_y, TRUE, to) ||
      !open_lanes(run, unit, l->in, l->in_stride, 0, 0, FALSE, own) ||
      !open_lanes(run, unit, l->in, l->in_stride, job->move_x, job->move_y, FALSE, back))
    return;
  for (int y = 0; y < job->height; y++) {
    Pixel pixel = {.row = (job->y + y) * job->fields + job->field};
    const float *acc = (const float *)standin_access(
        run->op, l->staged_out[p] + (gint64)pixel.row * l->staged_stride[p] + (gint64)job->x * C * sizeof(float),
        (gsize)job->width * C * sizeof(float), FALSE, run->name);

    memcpy(pixel.to, to, sizeof(to));
    memcpy(pixel.own, own, sizeof(own));
    memcpy(pixel.back, back, sizeof(back));
    pixel.to_row = pixel.row + job->move_y * job->fields;
    for (int x = 0; acc && x < job->width; x++) {
      pixel.acc = acc + x * C;
      pixel.x = job->x + x;
      pixel.to_x = pixel.x + job->move_x;
      pixel.weight = job->n_mask_rects ? cnv_rect_job_weight(job, unit->job.mask_rects, pixel.x, job->y + y) : 1;
      if (pixel.weight != 0)
        put_pixel(run, unit, &pixel);
    }
  }
}

void
units_stage_in(const KernelRun *run)
{
  run_units(run, stage_in_unit);
}

void
units_stage_out(const KernelRun *run)
{
  run_units(run, stage_out_unit);
}
