/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Turns pieces of cells into jobs. The pieces of a layer are joined into a rectangle if it costs no more than separate
 * jobs: first neighbours in a row of cells, then the result with the jobs above it.
 *
 * The budget is CNV_CROWD_WORK times the work on the whole frame, plus MIN_BUDGET. If the jobs cost more, everything is
 * cut again by simpler rules (CnvCut). With the last of them, the jobs cost about as much as the whole frame.
 */
#include <math.h>
#include <string.h>

#include "plan/arith.h"
#include "plan/regions/cutting.h"

/* The overhead of a job, as samples added to its width and height: its vectors are seldom full. */
#define JOB_MARGIN_X 80
#define JOB_MARGIN_Y 16

/* Costs, relative to filtering a sample without coverage. */
#define WEIGHTS_COST 0.5 /* the weight of a sample that a filter reads */
#define SOFT_COST 1.15   /* filtering a sample with coverage */
#define MIN_BUDGET 4e6   /* any work that costs less than this is fast enough */

/* ---- rectangles ---- */

/* Returns the cost of filtering a box as one job. */
static double
cost_of(const CnvCutting *c, const CnvBox *box, gboolean soft)
{
  return (double)(box->x1 - box->x0 + c->apron_x + JOB_MARGIN_X) * (box->y1 - box->y0 + c->apron_y + JOB_MARGIN_Y) *
         (soft ? SOFT_COST : 1);
}

/* Returns the union of two pieces or jobs. If both have weight 1 throughout and form a rectangle, it needs no
 * coverage. */
static CnvPiece
unite(const CnvPiece *a, const CnvPiece *b)
{
  const CnvBox *p = &a->box, *q = &b->box;
  gboolean beside = p->y0 == q->y0 && p->y1 == q->y1 && p->x1 == q->x0;
  gboolean below = p->x0 == q->x0 && p->x1 == q->x1 && p->y1 == q->y0;
  CnvPiece to = *a;

  to.box = cnv_box_unite(p, q);
  to.row = b->row;
  to.soft = a->soft || b->soft || !(beside || below);
  return to;
}

/* Returns TRUE if one job for both costs no more than two jobs. united: set to the union. */
static gboolean
saves(const CnvCutting *c, const CnvPiece *a, const CnvPiece *b, CnvPiece *united)
{
  *united = unite(a, b);
  return cost_of(c, &united->box, united->soft) <= cost_of(c, &a->box, a->soft) + cost_of(c, &b->box, b->soft);
}

static int *
column_job(const CnvCutting *c, int column)
{
  return &g_array_index(c->column_jobs, int, column);
}

/* Returns TRUE if a job may grow to a box without meeting another job of its layer. Jobs are made from the top down,
 * so the last job in a column is the lowest there. */
static gboolean
may_grow(const CnvCutting *c, const CnvPiece *jobs, int job, const CnvBox *box)
{
  for (int column = box->x0 / CNV_CELL_WIDTH; column * CNV_CELL_WIDTH < box->x1; column++) {
    int last = *column_job(c, column);

    if (last >= 0 && last != job && jobs[last].box.y1 > jobs[job].box.y0)
      return FALSE;
  }
  return TRUE;
}

/* Adds a run of pieces to the layer's jobs: joins it to a job above, or appends a job. next: the column in which the
 * next run of the row begins. Jobs of a layer share no cell, so may_grow checks only one job per column. */
static void
add_run(CnvCutting *c, GArray *jobs, const CnvPiece *run, int next)
{
  int columns[] = {run->box.x0 / CNV_CELL_WIDTH, (run->box.x1 - 1) / CNV_CELL_WIDTH}, job = -1;

  for (int column = columns[0]; column <= columns[1]; column++) {
    int above = *column_job(c, column);
    CnvPiece united, *all = (CnvPiece *)jobs->data;

    if (above < 0 || above == job || all[above].row == run->row)
      continue;
    job = above;
    if (!saves(c, &all[above], run, &united) || (united.box.x1 - 1) / CNV_CELL_WIDTH >= next ||
        !may_grow(c, all, above, &united.box))
      continue;
    all[above] = united;
    for (int i = united.box.x0 / CNV_CELL_WIDTH; i * CNV_CELL_WIDTH < united.box.x1; i++)
      *column_job(c, i) = above;
    return;
  }
  job = (int)jobs->len;
  g_array_append_val(jobs, *run);
  for (int column = columns[0]; column <= columns[1]; column++)
    *column_job(c, column) = job;
}

/* Joins neighbours among n pieces of a row of cells. alike: only if both need coverage, or the result needs none.
 * Returns the number of pieces left. */
static guint
join_row(const CnvCutting *c, CnvPiece *piece, guint n, gboolean alike)
{
  guint last = 0;

  for (guint i = 1; i < n; i++) {
    CnvPiece united;
    gboolean joins = saves(c, &piece[last], &piece[i], &united);

    if (joins && !(alike && united.soft && !(piece[last].soft && piece[i].soft)))
      piece[last] = united;
    else
      piece[++last] = piece[i];
  }
  return last + 1;
}

/* Joins the pieces of one layer. They are in the order of the cells. */
static void
join_layer(CnvCutting *c, GArray *jobs, CnvPiece *piece, guint n)
{
  guint end, left;

  g_array_set_size(c->column_jobs, c->grid.columns);
  memset(c->column_jobs->data, 0xff, c->grid.columns * sizeof(int));
  for (guint i = 0; i < n; i = end) {
    for (end = i + 1; end < n && piece[end].row == piece[i].row;)
      end++;
    left = join_row(c, piece + i, end - i, TRUE);
    left = join_row(c, piece + i, left, FALSE);
    for (guint k = i; k < i + left; k++)
      add_run(c, jobs, &piece[k], k + 1 < i + left ? piece[k + 1].box.x0 / CNV_CELL_WIDTH : G_MAXINT);
  }
}

static int
compare_layers(gconstpointer a, gconstpointer b)
{
  const CnvPiece *p = a, *q = b;

  if (p->layer != q->layer)
    return p->layer < q->layer ? -1 : 1;
  if (p->row != q->row)
    return p->row < q->row ? -1 : 1;
  return p->column < q->column ? -1 : p->column > q->column;
}

/* Joins the pieces of each layer into rectangles. With CNV_CUT_WHOLE there is one layer, and all its pieces become one
 * rectangle. */
static void
join_pieces(CnvCutting *c, GArray *jobs)
{
  CnvPiece *piece = (CnvPiece *)c->pieces->data;
  guint n = c->pieces->len, end;

  g_array_set_size(jobs, 0);
  if (c->cut == CNV_CUT_WHOLE && n > 0) {
    for (guint i = 1; i < n; i++) {
      piece[0].box = cnv_box_unite(&piece[0].box, &piece[i].box);
      piece[0].soft = TRUE;
    }
    g_array_append_val(jobs, piece[0]);
    return;
  }
  for (guint i = 1; i < n; i++)
    if (piece[i].layer != piece[0].layer) {
      g_array_sort(c->pieces, compare_layers);
      break;
    }
  for (guint i = 0; i < n; i = end) {
    for (end = i + 1; end < n && piece[end].layer == piece[i].layer;)
      end++;
    join_layer(c, jobs, piece + i, end - i);
  }
}

/* ---- jobs ---- */

/* Returns the number of samples of the plane by which a region moves along an axis. */
static int
move_of(int target, int from, int sub)
{
  gint64 move = (gint64)(target >> sub) - (from >> sub);

  return (int)CLAMP(move, -CNV_FAR, CNV_FAR);
}

/* Returns the job of a layer for a box. */
static CnvJob
layer_job(const CnvCutting *c, int layer, const CnvBox *box)
{
  const CnvBox *window = &g_array_index(c->layers, CnvLayer, layer).window;
  CnvJob job = c->job;

  job.plan = g_array_index(c->layers, CnvLayer, layer).plan;
  job.layer = layer;
  job.x = box->x0;
  job.y = box->y0;
  job.width = box->x1 - box->x0;
  job.height = box->y1 - box->y0;
  job.window_x = window->x0;
  job.window_y = window->y0;
  job.window_width = window->x1 - window->x0;
  job.window_height = window->y1 - window->y0;
  return job;
}

/* Allocates the coverage of a job in the buffer of all jobs. */
static void
cover_job(CnvCutting *c, CnvJob *job)
{
  job->coverage = c->jobs->coverage_size + (guint)job->x % CNV_COVERAGE_ALIGNMENT;
  job->coverage_pitch = cnv_coverage_bytes(job);
  c->jobs->coverage_size += (gsize)job->coverage_pitch * job->height;
}

/* Makes a job use the coverage in `weights`, which is for the samples that it reads. With invert, and if the job is
 * whole, the samples that it writes have the same weights.
 */
static void
share_coverage(CnvJob *job, const CnvJob *weights)
{
  job->cover = CNV_COVER_MADE;
  job->coverage_pitch = weights->coverage_pitch;
  job->coverage = weights->coverage + (guint64)(job->y - weights->y) * weights->coverage_pitch + (job->x - weights->x);
}

/* Adds the job of a rectangle without the part that would be written outside the field. weights: CnvJob.weights. */
static void
add_job(CnvCutting *c, const CnvPiece *from, int weights)
{
  const CnvLayer *layer = &g_array_index(c->layers, CnvLayer, from->layer);
  int x = -c->job.move_x, y = -c->job.move_y;
  const CnvBox target = {x, y, c->width + x, c->height + y};
  CnvBox box = cnv_box_intersect(&from->box, &target);
  CnvJob job = layer_job(c, from->layer, &box);

  if (cnv_box_is_empty(&box))
    return;
  job.cells_x = layer->cells_x;
  job.cells_y = layer->cells_y;
  job.whole = from->whole;
  job.weights = weights;
  if (from->soft && weights > 0 && (c->work->invert || from->whole))
    share_coverage(&job, &g_array_index(c->jobs->weights, CnvJob, weights - 1));
  else if (from->soft)
    cover_job(c, &job);
  c->cost += cost_of(c, &box, from->soft);
  g_array_append_val(c->jobs->jobs, job);
}

/* Extends from..to to the samples along an axis that the filter reads, inside the window. far: outside the window
 * the border mode may read any sample, so the filter reads the whole window. */
static void
reach_along(int window0, int window1, int before, int after, gboolean far, int *from, int *to)
{
  *from = CLAMP(*from, window0, window1 - 1) - before;
  *to = CLAMP(*to, *from + before + 1, window1) + after;
  if (far && (*from < window0 || *to > window1)) {
    *from = window0;
    *to = window1;
  }
  *from = MAX(*from, window0);
  *to = MIN(*to, window1);
}

/* Adds a job with the weights of the samples that a layer reads to filter a box. Returns the layer's CnvJob.weights. */
static int
add_weights(CnvCutting *c, const CnvPiece *from, const CnvBox *box)
{
  const CnvLayer *layer = &g_array_index(c->layers, CnvLayer, from->layer);
  const CnvBox *window = &layer->window;
  CnvBorder border = (CnvBorder)c->work->plan[0]->plane[c->job.plane].border;
  gboolean far = border != CNV_BORDER_REPLICATE && border != CNV_BORDER_CONSTANT && border != CNV_BORDER_RENORMALIZE;
  CnvBox read = *box;
  CnvJob weights;

  reach_along(window->x0, window->x1, c->reach.x0, c->reach.x1, far, &read.x0, &read.x1);
  reach_along(window->y0, window->y1, c->reach.y0, c->reach.y1, far, &read.y0, &read.y1);
  weights = layer_job(c, from->layer, &read);
  weights.cover = layer->cover;
  weights.whole = from->whole;
  if (layer->cover != CNV_COVER_OWN)
    cover_job(c, &weights);
  c->cost += WEIGHTS_COST * cnv_box_area(&read);
  g_array_append_val(c->jobs->weights, weights);
  return (int)c->jobs->weights->len;
}

/* Adds the jobs of all joined pieces. They are in the order of their layers. */
static void
add_jobs(CnvCutting *c)
{
  const CnvPiece *pieces = (const CnvPiece *)c->joined->data;
  guint n = c->joined->len, end;

  for (guint i = 0; i < n; i = end) {
    CnvBox box = pieces[i].box;
    int weights = 0;

    for (end = i + 1; end < n && pieces[end].layer == pieces[i].layer; end++)
      box = cnv_box_unite(&box, &pieces[end].box);
    if (c->is_weighed)
      weights = add_weights(c, &pieces[i], &box);
    for (; i < end; i++)
      add_job(c, &pieces[i], weights);
  }
}

/* Marks the jobs with coverage that meet a job of another layer in a cell (CnvJob.shared). */
static void
find_shared(CnvCutting *c, guint first)
{
  CnvJob *jobs = (CnvJob *)c->jobs->jobs->data;

  memset(c->cell_shapes->data, 0, c->cell_shapes->len * sizeof(CnvCellShapes));
  for (guint i = first; i < c->jobs->jobs->len; i++)
    for (int row = jobs[i].y / CNV_CELL_HEIGHT; row * CNV_CELL_HEIGHT < jobs[i].y + jobs[i].height; row++)
      for (int x = jobs[i].x / CNV_CELL_WIDTH; x * CNV_CELL_WIDTH < jobs[i].x + jobs[i].width; x++) {
        CnvCellShapes *cell = &g_array_index(c->cell_shapes, CnvCellShapes, row * c->grid.columns + x);

        if (cell->n > 0 && jobs[cell->first].layer != jobs[i].layer) {
          jobs[cell->first].shared = jobs[cell->first].coverage_pitch > 0;
          jobs[i].shared = jobs[i].coverage_pitch > 0;
        }
        cell->n++;
        cell->first = (int)i;
      }
}

/* Replaces more than `max_jobs` jobs of one layer by one job with coverage for the whole field, unless the first job is
 * the whole field without coverage. */
static void
make_whole(CnvCutting *c, GArray *jobs)
{
  CnvPiece *all = (CnvPiece *)jobs->data;

  for (guint i = 1; i < jobs->len; i++)
    if (all[i].layer != all[0].layer)
      return;
  if (c->is_weighed && jobs->len > 0 && g_array_index(c->layers, CnvLayer, all[0].layer).cover == CNV_COVER_OWN)
    return;
  if (jobs->len <= c->max_jobs || (!all[0].soft && cnv_box_area(&all[0].box) == (double)c->width * c->height))
    return;
  all[0].box = cnv_cutting_field(c);
  all[0].soft = all[0].whole = TRUE;
  g_array_set_size(jobs, 1);
}

static void
cut_field(CnvCutting *c)
{
  const CnvWork *work = c->work;
  guint first = c->jobs->jobs->len;

  if (work->moved && work->n_regions > 0) {
    c->job.move_x = move_of(work->target_x, work->region[0].rect.x, c->sub_x);
    c->job.move_y = move_of(work->target_y, work->region[0].rect.y, c->sub_y);
    if (c->job.fields == 2) /* a shift rounds down */
      c->job.move_y >>= 1;
  }
  cnv_cutting_make_cells(c);
  join_pieces(c, c->joined);
  if (c->whole >> c->job.plane & 1)
    make_whole(c, c->joined);
  add_jobs(c);
  if (c->layers->len > 1)
    find_shared(c, first);
}

static void
measure_aprons(CnvCutting *c, int plane)
{
  c->apron_x = c->apron_y = 0;
  c->reach = (CnvBox){0};
  for (guint i = 0; i < c->work->n_plans; i++) {
    const CnvPlane *filtered = &c->work->plan[i]->plane[plane];

    for (int t = 0; t < filtered->n_terms; t++) {
      int x = cnv_plane_extent(filtered, t, CNV_X) - 1, y = cnv_plane_extent(filtered, t, CNV_Y) - 1;
      int before_x = filtered->cell[CNV_X] ? 0 : filtered->term[t].anchor[CNV_X];
      int before_y = filtered->cell[CNV_Y] ? 0 : filtered->term[t].anchor[CNV_Y];

      c->apron_x = MAX(c->apron_x, x);
      c->apron_y = MAX(c->apron_y, y);
      c->reach.x0 = MAX(c->reach.x0, filtered->cell[CNV_X] ? x : before_x);
      c->reach.y0 = MAX(c->reach.y0, filtered->cell[CNV_Y] ? y : before_y);
      c->reach.x1 = MAX(c->reach.x1, x - before_x);
      c->reach.y1 = MAX(c->reach.y1, y - before_y);
    }
  }
}

static void
clear_jobs(CnvJobs *jobs)
{
  GArray *arrays[] = {jobs->jobs, jobs->grids, jobs->cells, jobs->lists, jobs->shapes, jobs->places, jobs->weights};

  for (gsize i = 0; i < G_N_ELEMENTS(arrays); i++)
    g_array_set_size(arrays[i], 0);
  jobs->coverage_size = 0;
  jobs->crowd = 0;
}

/* Cuts each plane. reckons: only adds up the cost of the whole frame, to find the budget. */
static void
cut_planes(CnvCutting *c, gboolean reckons)
{
  const CnvPlan *plan = c->work->plan[0];
  int fields = c->work->interlaced ? 2 : 1;

  clear_jobs(c->jobs);
  g_ptr_array_set_size(c->placed, 0);
  c->cost = 0;
  for (int p = 0; p < plan->n_planes; p++) {
    const CnvPlane *plane = &plan->plane[p];

    c->sub_x = plane->sub_x;
    c->sub_y = plane->sub_y;
    measure_aprons(c, p);
    for (int field = 0; field < fields && plane->filtered; field++) {
      CnvBox all = {.x1 = plane->width, .y1 = cnv_divide_up(plane->height - field, fields)};

      c->width = all.x1;
      c->height = all.y1;
      c->job = (CnvJob){.plane = p, .field = field, .fields = fields, .width = all.x1, .height = all.y1};
      c->job.window_width = all.x1;
      c->job.window_height = all.y1;
      if (cnv_box_is_empty(&all))
        continue;
      if (reckons)
        c->cost += cost_of(c, &all, FALSE);
      else if (c->work->whole_frame)
        g_array_append_val(c->jobs->jobs, c->job);
      else
        cut_field(c);
    }
  }
}

/* Returns TRUE if each region is a layer. With invert the filtered part is one layer. A mosaic's regions are layers
 * because its cells begin at each region's corner. */
static gboolean
is_isolated(const CnvWork *work)
{
  return !work->invert && (work->isolated || work->plan[0]->filter.type == CNV_FILTER_MOSAIC);
}

/* ---- functions of jobs.h ---- */

void
cnv_jobs_init(CnvJobs *to)
{
  CnvCutting *c = g_new0(CnvCutting, 1);

  *to = (CnvJobs){.jobs = g_array_new(FALSE, FALSE, sizeof(CnvJob)),
                  .weights = g_array_new(FALSE, FALSE, sizeof(CnvJob)),
                  .grids = g_array_new(FALSE, FALSE, sizeof(CnvGrid)),
                  .cells = g_array_new(FALSE, FALSE, sizeof(CnvCell)),
                  .lists = g_array_new(FALSE, FALSE, sizeof(guint16)),
                  .shapes = g_array_new(FALSE, FALSE, sizeof(CnvPlaneShape)),
                  .places = g_array_new(FALSE, FALSE, sizeof(CnvMaskPlace)),
                  .mask_cells = g_byte_array_new(),
                  .masks = g_ptr_array_new(),
                  .regions = g_array_new(FALSE, FALSE, sizeof(CnvRegion)),
                  .cutting = c};
  c->jobs = to;
  c->order = g_array_new(FALSE, FALSE, sizeof(guint16));
  c->placed = g_ptr_array_new();
  c->layers = g_array_new(FALSE, FALSE, sizeof(CnvLayer));
  c->cell_shapes = g_array_new(FALSE, FALSE, sizeof(CnvCellShapes));
  c->entries = g_array_new(FALSE, FALSE, sizeof(CnvEntry));
  c->pieces = g_array_new(FALSE, FALSE, sizeof(CnvPiece));
  c->joined = g_array_new(FALSE, FALSE, sizeof(CnvPiece));
  c->column_jobs = g_array_new(FALSE, FALSE, sizeof(int));
}

void
cnv_jobs_clear(CnvJobs *jobs)
{
  CnvCutting *c = jobs->cutting;
  GArray *arrays[] = {jobs->jobs,   jobs->grids,   jobs->cells,   jobs->lists,    jobs->shapes,
                      jobs->places, jobs->regions, jobs->weights, c->order,       c->cell_shapes,
                      c->layers,    c->entries,    c->pieces,     c->column_jobs, c->joined};

  for (gsize i = 0; i < G_N_ELEMENTS(arrays); i++)
    g_array_unref(arrays[i]);
  g_ptr_array_unref(c->placed);
  g_free(c);
  g_byte_array_unref(jobs->mask_cells);
  g_ptr_array_unref(jobs->masks);
}

gboolean
cnv_jobs_make(CnvJobs *jobs, const CnvWork *work, guint whole, guint max_jobs)
{
  CnvCutting *c = jobs->cutting;
  gboolean new_masks = cnv_masks_take(jobs, work);

  jobs->work = *work;
  g_array_set_size(jobs->regions, 0);
  if (!work->whole_frame)
    g_array_append_vals(jobs->regions, work->region, work->n_regions);
  c->jobs = jobs;
  c->work = work;
  c->isolated = is_isolated(work);
  c->is_weighed = work->plan[0]->is_weighed && !work->whole_frame;
  c->whole = work->moved || (c->isolated && !c->is_weighed) ? 0 : whole;
  c->max_jobs = max_jobs;
  if (!work->whole_frame)
    cnv_cutting_sort(c);
  cut_planes(c, TRUE);
  c->budget = MIN_BUDGET + CNV_CROWD_WORK * c->cost;
  for (c->cut = CNV_CUT_EXACT; c->cut < CNV_N_CUTS; c->cut++) {
    cut_planes(c, FALSE);
    if (c->cost <= c->budget)
      break;
  }
  return new_masks;
}

gboolean
cnv_jobs_match(const CnvJobs *jobs, const CnvWork *work)
{
  const CnvWork *a = &jobs->work;

  if (a->n_plans == 0 || !a->whole_frame != !work->whole_frame || !a->interlaced != !work->interlaced)
    return FALSE;
  return work->whole_frame ||
         (a->n_regions == work->n_regions && !a->invert == !work->invert && !a->isolated == !work->isolated &&
          a->feather == work->feather && !a->moved == !work->moved && a->target_x == work->target_x &&
          a->target_y == work->target_y &&
          (work->n_regions == 0 ||
           memcmp(jobs->regions->data, work->region, work->n_regions * sizeof(CnvRegion)) == 0));
}
