/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Kernels with block jobs: each job has some of the launch's blocks.
 */
#include <string.h>

#include "launch.h"
#include "plan/component.h"
#include "plan/regions/shape.h"

/* A job of a launch. */
typedef struct {
  Job job;
  CnvBlock block;
  const CnvBlockJob *from;
  const CnvBlockArgs *launch;
} BlockJob;

static const void *
read_array(const KernelRun *run, guint64 address, gsize size)
{
  return standin_access(run->op, address, size, FALSE, run->name);
}

/* Accesses the job's coverage. Returns the coverage of all jobs, or NULL. */
static const guint8 *
find_coverage(const KernelRun *run, guint64 coverage, const CnvJob *job, gboolean writes)
{
  gsize first = job->coverage - job->x % CNV_COVERAGE_ALIGNMENT;
  gsize size = (gsize)job->coverage_pitch * (job->height - 1) + (gsize)cnv_coverage_bytes(job);
  const guint8 *at = standin_access(run->op, coverage + first, size, writes, run->name);

  return at ? at - first : NULL;
}

void
blocks_cover(const KernelRun *run)
{
  const CnvCoverArgs *l = run->args;
  const CnvBlockJob *jobs = read_array(run, l->jobs, l->n_jobs * sizeof(CnvBlockJob));
  const CnvCover cover = {read_array(run, l->grids, sizeof(CnvGrid)),
                          read_array(run, l->cells, sizeof(CnvCell)),
                          read_array(run, l->lists, sizeof(guint16)),
                          read_array(run, l->shapes, sizeof(CnvPlaneShape)),
                          l->places ? read_array(run, l->places, sizeof(CnvMaskPlace)) : NULL,
                          l->places ? read_array(run, l->mask_cells, 1) : NULL};

  for (int i = 0; jobs && cover.grid && cover.cell && cover.list && cover.shape && i < l->n_jobs; i++) {
    const CnvJob *job = &jobs[i].job;
    int end = i + 1 < l->n_jobs ? jobs[i + 1].first_block : (int)run->size->grid[0];
    int rows = (end - jobs[i].first_block) / jobs[i].columns * CNV_COVER_HEIGHT;
    guint8 *to = (guint8 *)find_coverage(run, l->coverage, job, TRUE);

    if (jobs[i].columns * CNV_COVER_WIDTH < cnv_coverage_bytes(job) || rows < job->height)
      standin_report("cnv_cover: the blocks of a job do not cover it");
    for (int y = 0; to && y < job->height; y++) {
      guint8 *row = to + job->coverage - job->x % CNV_COVERAGE_ALIGNMENT + (gsize)y * job->coverage_pitch;

      memset(row, 0, cnv_coverage_bytes(job));
      for (int x = 0; x < job->width; x++)
        row[job->x % CNV_COVERAGE_ALIGNMENT + x] = (guint8)cnv_cover_weight(&cover, job, job->x + x, job->y + y);
    }
  }
}

/* Computes along each axis what a block makes (samples, pixels or cells), and how many of them the job has. */
static void
expect_size(const KernelRun *run, const BlockJob *opened, int by[2], int extent[2])
{
  const CnvKernelKind *kind = cnv_kernel_kind(run->id);
  const CnvCellBlocks *cells = &opened->from->cells;
  const CnvJob *job = &opened->block.job;

  for (int axis = 0; axis < CNV_N_AXES; axis++) {
    by[axis] = kind->divides ? cells->cells[axis] : kind->by_cells ? 1 : axis == CNV_X ? kind->block_x : kind->block_y;
    extent[axis] = kind->divides    ? cells->end[axis] - cells->first[axis]
                   : kind->by_cells ? cnv_mosaic_blocks(&opened->block.a, job, axis)
                   : axis == CNV_X  ? job->width * (kind->by_pixels ? 1 : opened->block.a.channels)
                   : kind->by_terms ? opened->from->sums_rows * opened->block.a.n_terms
                                    : job->height;
  }
}

/* Checks that a job's blocks reach its ends. As they are side by side, each sample is then made once. */
static void
check_blocks(const KernelRun *run, const BlockJob *opened, int n_blocks)
{
  const CnvKernelKind *kind = cnv_kernel_kind(run->id);
  int by[2], extent[2], x = opened->from->columns, y = x > 0 ? n_blocks / x : 0;

  expect_size(run, opened, by, extent);
  if (kind->divides)
    y /= MAX(opened->from->cells.slices, 1);
  if (x < 1 || n_blocks % x != 0 || run->size->block[0] != kind->threads_x || run->size->block[1] != kind->threads_y)
    standin_report("%s: a job of %d blocks has %d a row, of %u x %u threads", run->name, n_blocks, x,
                   run->size->block[0], run->size->block[1]);
  if (x * by[0] < extent[0] || y * by[1] < extent[1] || (x - 1) * by[0] >= extent[0] || (y - 1) * by[1] >= extent[1])
    standin_report("%s: %d x %d blocks of %d x %d for %d x %d samples", run->name, x, y, by[0], by[1], extent[0],
                   extent[1]);
}

static gboolean
open_job(const KernelRun *run, const CnvBlockJob *from, BlockJob *opened)
{
  const CnvBlockArgs *l = run->args;
  gsize index = (gsize)from->job.plan * CNV_MAX_PLANES + from->job.plane;
  const CnvPlane *plane = read_array(run, l->planes + index * sizeof(CnvPlane), sizeof(CnvPlane));

  if (!plane)
    return FALSE;
  *opened = (BlockJob){.from = from, .launch = l};
  opened->block.a = *plane;
  opened->block.job = from->job;
  opened->block.sources = l->sources;
  for (int i = 0; i < l->sources.n && !plane->plain; i++)
    opened->block.sources.delta[i] = i * l->staged_size;
  cnv_block_locate_in(&opened->block, l);
  return TRUE;
}

/* ---- mosaic ---- */

/* A cell: pixels and rows of the padded samples. */
typedef struct {
  int x, end_x, y, end_y;
} Cell;

static Cell
cell_at(const CnvBlock *b, Reach reach, int x, int y)
{
  const CnvJob *job = &b->job;
  const int column = cnv_cell_of(&b->a, job, CNV_X, job->x + x), row = cnv_cell_of(&b->a, job, CNV_Y, job->y + y);
  const int from_x = job->x - reach.left, from_y = job->y - reach.above;

  return (Cell){cnv_cell_edge(&b->a, job, CNV_X, column) - from_x,
                cnv_cell_edge(&b->a, job, CNV_X, column + 1) - from_x, cnv_cell_edge(&b->a, job, CNV_Y, row) - from_y,
                cnv_cell_edge(&b->a, job, CNV_Y, row + 1) - from_y};
}

static double
cell_mean(const CnvBlock *b, const Padded *from, int channel, Cell cell)
{
  double sum = 0;

  for (int y = cell.y; y < cell.end_y; y++)
    for (int x = cell.x; x < cell.end_x; x++)
      sum += from->value[(gsize)y * from->width + x * b->a.channels + channel];
  return sum / ((cell.end_x - cell.x) * (cell.end_y - cell.y));
}

/* Sets the job's samples to the means of their cells. A sample in its neighbour's cell copies the neighbour's mean. */
static void
set_means(const CnvBlock *b, const Padded *from, Reach reach, double *acc)
{
  const int C = b->a.channels, row = b->job.width * C;
  Cell *above = g_new0(Cell, b->job.width); /* cells of the row above, and of this row so far */

  for (int i = 0; i < row * b->job.height; i++) {
    const int x = i % row / C, channel = i % C;
    const Cell cell = cell_at(b, reach, x, i / row);

    if (i >= row && memcmp(&above[x], &cell, sizeof cell) == 0)
      acc[i] = acc[i - row];
    else if (x > 0 && memcmp(&above[x - 1], &cell, sizeof cell) == 0)
      acc[i] = acc[i - C];
    else
      acc[i] = cell_mean(b, from, channel, cell);
    if (channel == C - 1)
      above[x] = cell;
  }
  g_free(above);
}

/* Returns how far the job's first and last cells reach beyond it. */
static Reach
cells_reach(const CnvBlock *b)
{
  const CnvJob *job = &b->job;
  int end_x = job->x + job->width, end_y = job->y + job->height;
  int x0 = cnv_cell_edge(&b->a, job, CNV_X, cnv_cell_of(&b->a, job, CNV_X, job->x));
  int y0 = cnv_cell_edge(&b->a, job, CNV_Y, cnv_cell_of(&b->a, job, CNV_Y, job->y));
  int x1 = cnv_cell_edge(&b->a, job, CNV_X, cnv_cell_of(&b->a, job, CNV_X, end_x - 1) + 1);
  int y1 = cnv_cell_edge(&b->a, job, CNV_Y, cnv_cell_of(&b->a, job, CNV_Y, end_y - 1) + 1);
  Reach reach = {MAX(job->x - x0, 0), MAX(job->y - y0, 0), 0, 0};

  reach.columns = reach.left + MAX(x1 - end_x, 0);
  reach.rows = reach.above + MAX(y1 - end_y, 0);
  return reach;
}

static void
mosaic_job(const BlockJob *opened)
{
  const CnvBlock *b = &opened->block;
  int n = b->job.width * b->a.channels * b->job.height, sources = b->sources.n;
  g_autofree double *acc = g_new0(double, n);

  if (cnv_cells_have_means(&b->a)) {
    Reach reach = cells_reach(b);
    Padded from = samples_pad(&opened->job, reach, sources ? 0 : -1, sources);

    set_means(b, &from, reach, acc);
    g_free(from.value);
  }
  samples_store(&opened->job, acc);
}

/* Reports a row of a block that has more chunks of 16 bytes than the block has threads for. width, stride: in bytes. */
static void
check_threads(const KernelRun *run, const CnvCellBlocks *cells, guint64 address, int stride, int width)
{
  int before = stride % CNV_CELLS_CHUNK ? 0 : (int)(address % CNV_CELLS_CHUNK);

  if (before + width > cells->threads_x * CNV_CELLS_CHUNK)
    standin_report("%s: %d threads for %d bytes, %d after a multiple of %d", run->name, cells->threads_x, width, before,
                   CNV_CELLS_CHUNK);
}

/* Checks that the kernel's threads and shared memory suffice for the division of the job. */
static void
check_cells(const KernelRun *run, const BlockJob *opened)
{
  const CnvBlock *b = &opened->block;
  const CnvCellBlocks *cells = &opened->from->cells;
  const CnvJob *job = &b->job;
  int turn = CNV_BLOCK_THREADS / MAX(cells->threads_x * cells->parts, 1), pixel = b->a.channels * b->bytes;

  if (cells->turn < 1 || cells->turn > turn || cells->parts < 1 || cells->slices < 1 ||
      cells->cells[CNV_X] > CNV_CELLS_MAX || cells->cells[CNV_Y] > CNV_CELLS_MAX_ROWS ||
      (cells->slices > 1 && cells->cells[CNV_Y] > 1) ||
      (cells->group_cells && cells->threads_x * cells->cells[CNV_Y] > 4 * CNV_BLOCK_THREADS) ||
      (cells->wide && cells->turn * cells->cells[CNV_X] * b->a.channels > CNV_CELLS_SUMS) || cells->lanes_shift > 5 ||
      b->sources.n > 0 || !b->a.plain)
    standin_report("%s: blocks of %d x %d cells, %d threads, %d parts, %d slices", run->name, cells->cells[CNV_X],
                   cells->cells[CNV_Y], cells->threads_x, cells->parts, cells->slices);
  for (int k = cells->first[CNV_X], end; k < cells->end[CNV_X]; k = end) {
    int x = cnv_cell_edge(&b->a, job, CNV_X, k), x1;
    guint64 in = b->in + (guint64)((x - job->window_x) * pixel), out = b->out;

    end = MIN(k + cells->cells[CNV_X], cells->end[CNV_X]);
    x1 = cnv_cell_edge(&b->a, job, CNV_X, end);
    check_threads(run, cells, in, b->in_stride, (x1 - x) * pixel);
    x = k == cells->first[CNV_X] ? job->x : x;
    x1 = end == cells->end[CNV_X] ? job->x + job->width : x1;
    check_threads(run, cells, out + (guint64)((x - job->x) * pixel), b->out_stride, (x1 - x) * pixel);
  }
}

/* ---- sums that one launch makes for another ---- */

static void
sums_of_cells(const KernelRun *run, const BlockJob *opened, gboolean writes)
{
  const CnvCellBlocks *cells = &opened->from->cells;
  gsize n = (gsize)opened->from->columns * (gsize)(cells->end[CNV_Y] - cells->first[CNV_Y]) * (gsize)cells->slices *
            (gsize)(cells->cells[CNV_X] * opened->block.a.channels);

  launch_mark(run, opened->launch->sums + opened->from->sums * sizeof(float), n, sizeof(guint32), &opened->from->job, 0,
              writes, "sum of a slice of a cell");
}

/* Marks the row sums of all terms, or looks for the marks. */
static void
sums_of_rows(const KernelRun *run, const BlockJob *opened, gboolean writes)
{
  const CnvBlockJob *from = opened->from;
  const CnvPlane *a = &opened->block.a;
  gsize n = (gsize)from->sums_rows * (gsize)from->sums_stride;

  for (int t = 0; t < a->n_terms; t++) {
    if (from->sums_stride < from->job.width * a->channels ||
        from->sums_rows < from->job.height + a->term[t].n[CNV_Y] - 1 || !a->term[t].separable)
      standin_report("%s: %d rows of %d sums for term %d", run->name, from->sums_rows, from->sums_stride, t);
    launch_mark(run, opened->launch->sums + (from->sums + (gsize)t * n) * sizeof(float), n, sizeof(float), &from->job,
                t, writes, "row sum");
  }
}

/* Checks that a texture begins at `start` and contains the sample at `last`. */
static void
check_texture(const KernelRun *run, guint64 object, guint64 start, guint64 last, int bytes)
{
  guint64 address = 0;
  gsize size = 0;

  if (!standin_texture(object, &address, &size) || address != start || last < start || last - start + bytes > size)
    standin_report("%s: the texture is none of the samples that are to be read", run->name);
}

static void
check_textures(const KernelRun *run, const BlockJob *opened)
{
  const CnvBlock *b = &opened->block;
  const CnvBlockArgs *l = opened->launch;
  int m = b->a.component[0].plane;

  if (!l->is_first)
    check_texture(run, l->sums_texture, l->sums, l->sums + opened->from->sums * sizeof(float), sizeof(float));
  else if (b->sources.n == 0 && b->a.plain)
    check_texture(run, l->texture[m], l->texture_start[m], b->in, b->bytes);
}

/* ---- samples ---- */

static void
sum_job(const BlockJob *opened)
{
  const CnvBlock *b = &opened->block;
  gsize n = (gsize)b->job.width * b->a.channels * b->job.height;
  double *sums[CNV_MAX_TERMS];

  for (int t = 0; t < b->a.n_terms; t++) {
    sums[t] = g_new0(double, n);
    samples_add_term(&opened->job, &b->a.term[t], sums[t]);
  }
  samples_store_terms(&opened->job, sums);
  for (int t = 0; t < b->a.n_terms; t++)
    g_free(sums[t]);
}

/* Marks the sums of kinds that make only sums, and returns TRUE for them. For other kinds, looks for the sums that they
 * need. */
static gboolean
only_sums(const KernelRun *run, const BlockJob *opened)
{
  const CnvKernelKind *kind = cnv_kernel_kind(run->id);
  gboolean by_rows = kind->algorithm == CNV_ALGORITHM_SEPARABLE || kind->algorithm == CNV_ALGORITHM_TEXTURE;
  gboolean writes = kind->by_terms || opened->launch->is_first;

  if (kind->algorithm == CNV_ALGORITHM_TEXTURE)
    check_textures(run, opened);
  if (by_rows)
    sums_of_rows(run, opened, writes);
  if (kind->divides)
    check_cells(run, opened);
  if (kind->divides && cnv_cells_have_means(&opened->block.a) && opened->from->cells.slices > 1)
    sums_of_cells(run, opened, writes);
  return writes;
}

/* ---- staged planes ---- */

/* Accesses the samples of component c for the job's pixels, moved by (move_x, move_y), in the frame that is `delta`
 * bytes after the launch's, and stores their plane's host pointer in `frame`. Returns FALSE if the access is not
 * allowed. */
static gboolean
open_component(const KernelRun *run, const BlockJob *opened, int c, int move_x, int move_y, gboolean write,
               gint64 delta, CnvFrame *frame)
{
  const CnvBlockArgs *l = opened->launch;
  const CnvPlane *a = &opened->block.a;
  const CnvComponent *component = &a->component[c];
  const CnvJob *job = &opened->block.job;
  int m = component->plane, stride = (write ? &l->out : &l->in)->stride[m];
  int field_rows = (a->image_height - job->field + job->fields - 1) / job->fields;
  int x0 = (job->x + move_x) << component->sub_x, x1 = (job->x + move_x + job->width) << component->sub_x;
  int y0 = (job->y + move_y) << component->sub_y, y1 = (job->y + move_y + job->height) << component->sub_y;
  gint64 at;
  guint8 *memory;

  if (component->sub_x + component->sub_y > 0) {
    x1 = MIN(x1, a->image_width);
    y1 = MIN(y1, field_rows);
  }
  at = (gint64)(y0 * job->fields + job->field) * stride + (gint64)x0 * component->step + component->offset;
  memory = standin_access_rows(run->op, (write ? &l->out : &l->in)->address[m] + at + (guint64)delta, stride,
                               (gsize)(x1 - x0 - 1) * component->step + component->bytes,
                               (y1 - y0 - 1) * job->fields + 1, write, run->name);
  frame->data[m] = memory ? memory - at : NULL;
  frame->stride[m] = stride;
  return memory != NULL;
}

/* Returns the weight of a pixel: alpha, the job's coverage, or their product. */
static double
stage_weight(const BlockJob *opened, const CnvFrame *frame, int x, int y)
{
  const CnvPlane *a = &opened->block.a;
  const CnvJob *job = &opened->block.job;
  double weight = a->component[a->weight].bytes ? cnv_component_value(frame, a, a->weight, job, x, y) : 1;

  if (!a->covered)
    return weight;
  return weight * (opened->job.coverage ? *cnv_job_weights(job, opened->job.coverage, x, y) : CNV_WEIGHT_ONE);
}

/* Returns the value of component c of a pixel, averaged over the sources. frames: these. */
static double
average_of(const BlockJob *opened, const CnvFrame *frames, double threshold, int c, int x, int y)
{
  const CnvPlane *a = &opened->block.a;
  const CnvJob *job = &opened->block.job;
  const CnvSources *sources = &opened->launch->sources;
  double sum = 0, found = 0;

  for (int k = 0; k < sources->n; k++) {
    double difference = 0, weights = 0, close;

    for (int i = 0; i < 9; i++) {
      int column = CLAMP(x + i % 3 - 1, job->window_x, job->window_x + job->window_width - 1);
      int row = CLAMP(y + i / 3 - 1, job->window_y, job->window_y + job->window_height - 1);
      double weight = a->covered ? cnv_filter_weight(job, opened->job.coverage, column, row) : 1;

      difference += weight * (cnv_component_value(&frames[k], a, c, job, column, row) -
                              cnv_component_value(&frames[sources->center], a, c, job, column, row));
      weights += weight;
    }
    close = sources->weight[k] * samples_closeness(difference, weights, threshold * a->full[c]);
    sum += close * (cnv_component_value(&frames[k], a, c, job, x, y) - a->mid[c]);
    found += close;
  }
  return sum / found;
}

static double
staged_value(const BlockJob *opened, const CnvFrame *frames, const float *thresholds, int c, int x, int y)
{
  const CnvPlane *a = &opened->block.a;
  double weight = a->weight < 0 ? 1 : stage_weight(opened, frames, x, y);

  if (c == a->weight)
    return weight;
  if (opened->launch->averages)
    return weight * average_of(opened, frames, thresholds[a->format_plane], c, x, y);
  return weight * (cnv_component_value(frames, a, c, &opened->block.job, x, y) - a->mid[c]);
}

static void
stage_in_job(const KernelRun *run, const BlockJob *opened)
{
  const CnvPlane *a = &opened->block.a;
  const CnvJob *job = &opened->block.job;
  const CnvBlockArgs *l = opened->launch;
  int C = a->channels, stride = l->staged_in.stride[job->plane], n = l->averages ? l->sources.n : 1;
  g_autofree float *thresholds = samples_thresholds(run->op, &l->thresholds);
  CnvFrame frames[CNV_ARGS_SOURCES] = {{0}};

  if (l->averages && l->sources.delta[l->sources.center] != 0)
    standin_report("%s: frame %d of a history is not the output's", run->name, l->sources.center);
  for (int k = 0; k < n; k++)
    for (int c = 0; c < C; c++)
      if (a->component[c].bytes > 0 &&
          !open_component(run, opened, c, 0, 0, FALSE, l->averages ? l->sources.delta[k] : 0, &frames[k]))
        return;
  for (int y = job->y; y < job->y + job->height && thresholds; y++) {
    guint64 row = l->staged_in.address[job->plane] + (gint64)(y * job->fields + job->field) * stride;
    float *to = (float *)standin_access(run->op, row + (gint64)job->x * C * sizeof(float),
                                        (gsize)job->width * C * sizeof(float), TRUE, run->name);

    for (int i = 0; to && i < job->width * C; i++)
      to[i] = (float)staged_value(opened, frames, thresholds, i % C, job->x + i / C, y);
  }
}

/* The memory of a job of stage_out. */
typedef struct {
  CnvFrame in, back, out; /* input at the job; input and output at the job's target */
} Staged;

static guint
component_level(const BlockJob *opened, const Staged *s, int c, const float *acc, int x, int y, double weight)
{
  const CnvPlane *a = &opened->block.a;
  const CnvJob *job = &opened->block.job;
  double value = samples_finish(a, c, acc[c]);
  double back = cnv_component_value(&s->back, a, c, job, x + job->move_x, y + job->move_y);

  if (a->weight >= 0 && c != a->weight) {
    double alpha = acc[a->weight];
    gboolean clear = ABS(alpha) <= a->alpha_epsilon * a->full[a->weight];

    value = clear ? cnv_component_value(&s->in, a, c, job, x, y) - a->base[c]
                  : samples_finish(a, c, acc[c] * (a->alpha_norm / alpha));
  }
  return samples_level(a, c, value + (1 - weight) * (back - a->base[c] - value));
}

static void
put_pixel(const BlockJob *opened, const Staged *s, const float *acc, int x, int y)
{
  const CnvPlane *a = &opened->block.a;
  const CnvJob *job = &opened->block.job;
  double weight = opened->job.coverage ? *cnv_job_weights(job, opened->job.coverage, x, y) / 255.0 : 1;
  int to_x = x + job->move_x, to_y = y + job->move_y;

  for (int c = 0; c < a->channels && weight != 0; c++) {
    const CnvComponent *component = &a->component[c];
    guint8 *to = cnv_component_at(&s->out, component, job, to_x, to_y);

    if (a->filtered >> c & 1)
      cnv_component_put(to, component, component->bytes, (int)component_level(opened, s, c, acc, x, y, weight));
  }
}

static void
stage_out_job(const KernelRun *run, const BlockJob *opened)
{
  const CnvPlane *a = &opened->block.a;
  const CnvJob *job = &opened->block.job;
  const CnvBlockArgs *l = opened->launch;
  int C = a->channels, stride = l->staged_out.stride[job->plane];
  Staged s = {0};

  for (int c = 0; c < C; c++)
    if (((a->filtered >> c & 1) || a->component[c].bytes == 4) &&
        (!open_component(run, opened, c, 0, 0, FALSE, 0, &s.in) ||
         !open_component(run, opened, c, job->move_x, job->move_y, FALSE, 0, &s.back) ||
         !open_component(run, opened, c, job->move_x, job->move_y, TRUE, 0, &s.out)))
      return;
  for (int y = job->y; y < job->y + job->height; y++) {
    guint64 row = l->staged_out.address[job->plane] + (gint64)(y * job->fields + job->field) * stride;
    const float *acc = (const float *)standin_access(run->op, row + (gint64)job->x * C * sizeof(float),
                                                     (gsize)job->width * C * sizeof(float), FALSE, run->name);

    for (int x = 0; acc && x < job->width; x++)
      put_pixel(opened, &s, acc + x * C, job->x + x, y);
  }
}

static void
run_job(const KernelRun *run, const BlockJob *opened)
{
  if (run->id == CNV_KERNEL_STAGE_IN)
    stage_in_job(run, opened);
  else if (run->id == CNV_KERNEL_STAGE_OUT)
    stage_out_job(run, opened);
  else if (only_sums(run, opened))
    return;
  else if (cnv_cells_have_means(&opened->block.a))
    mosaic_job(opened);
  else
    sum_job(opened);
}

void
blocks_run(const KernelRun *run)
{
  const CnvBlockArgs *l = run->args;
  const CnvBlockJob *jobs = read_array(run, l->jobs, l->n_jobs * sizeof(CnvBlockJob));

  if (jobs && jobs[0].first_block != 0)
    standin_report("%s: the first job begins with block %d", run->name, jobs[0].first_block);
  for (int i = 0; jobs && i < l->n_jobs; i++) {
    int end = i + 1 < l->n_jobs ? jobs[i + 1].first_block : (int)run->size->grid[0];
    BlockJob opened;

    if (!open_job(run, &jobs[i], &opened))
      continue;
    opened.job = (Job){.op = run->op, .block = &opened.block, .bytes = opened.block.bytes, .taps = run->taps};
    if (jobs[i].job.coverage_pitch > 0)
      opened.job.coverage = find_coverage(run, l->coverage, &jobs[i].job, FALSE);
    check_blocks(run, &opened, end - jobs[i].first_block);
    run_job(run, &opened);
  }
}
