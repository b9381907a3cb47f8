/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Cuts the layers of an area into jobs (rect_jobs.c tells the whole story).
 *
 * A layer is the masks of one plan, or of one isolated region. It is swept from top to bottom: between two neighbouring
 * edges the union of its rectangles covers the same columns in every row, and an interval of columns that is also
 * covered below the next edge goes on as the same job. So a layer filters each sample once however many of its regions
 * overlap, and a single region is one job.
 */
#include <stdlib.h>
#include <string.h>

#include "plan/cutter.h"

/* A sweep that gives more jobs than so many for each mask, and one, is dropped for one job around them all; so is one
 * that costs so many times as much as that job. */
#define JOBS_A_MASK 4
#define SWEEP_COST_MAX 1.5

/* Samples by which a job is wider and higher, to stand for its overhead: its vectors are seldom full. */
#define JOB_MARGIN_X 80
#define JOB_MARGIN_Y 16

/* Costs a sample, where filtering one is 1. */
#define BLEND_COST 1    /* blending by the weight */
#define SHARE_COST 4    /* the same where jobs of several layers write */
#define WEIGHT_COST 0.5 /* weighing by one mask */

#define WEIGHT_SLACK 1e-5 /* float32 rounds weights by less */

/* ---- masks that matter in an area ---- */

/* TRUE where the mask weighs less than the limit everywhere in the area. */
static gboolean
weighs_less(const CnvMaskRect *s, const CnvMaskRect *area, float limit)
{
  float across = cnv_fade(CLAMP(s->x0, area->x0, area->x1 - 1), s->x0, s->x1, s->fade_x);

  return across < limit || across * cnv_fade(CLAMP(s->y0, area->y0, area->y1 - 1), s->y0, s->y1, s->fade_y) < limit;
}

/* The larger one of `least` and of the smallest weight that the mask has in the area. */
static float
larger_weight(const CnvMaskRect *s, const CnvMaskRect *area, float least)
{
  float across = MIN(cnv_fade(area->x0, s->x0, s->x1, s->fade_x), cnv_fade(area->x1 - 1, s->x0, s->x1, s->fade_x));

  if (across <= least)
    return least;
  return MAX(least, across * MIN(cnv_fade(area->y0, s->y0, s->y1, s->fade_y),
                                 cnv_fade(area->y1 - 1, s->y0, s->y1, s->fade_y)));
}

static gboolean
reaches(const Cutter *c, const CnvMaskRect *s, const CnvMaskRect *area)
{
  return s->x0 - c->reach_x < area->x1 && s->x1 + c->reach_x > area->x0 && s->y0 - c->reach_y < area->y1 &&
         s->y1 + c->reach_y > area->y0;
}

int
cnv_cutter_select(const Cutter *c, const guint16 *from, int n, const CnvMaskRect *area, guint16 *to)
{
  gboolean fades = c->reach_x > 0 || c->reach_y > 0;
  CnvMaskRect largest = {0};
  int count = 0, last = -1;
  float least = 0;

  for (int i = 0; i < n; i++) {
    const CnvMaskRect *s = &c->mask[from[i]];
    CnvMaskRect near;

    if (!reaches(c, s, area))
      continue;
    to[count++] = from[i];
    near = nearest(s, area);
    if (size_of(&near) >= size_of(&largest)) {
      largest = near;
      last = from[i];
    }
    if (fades)
      least = larger_weight(s, area, least);
  }
  n = count;
  count = 0;
  for (int i = 0; i < n; i++) {
    const CnvMaskRect *s = &c->mask[to[i]];
    gboolean hidden = to[i] < last || (to[i] > last && (s->layer == largest.layer || c->work->invert));
    CnvMaskRect near;

    if (fades && weighs_less(s, area, least - (float)WEIGHT_SLACK))
      continue;
    near = nearest(s, area);
    if (hidden && contains(&largest, &near))
      continue;
    to[count++] = to[i];
  }
  return count;
}

/* ---- jobs ---- */

double
cnv_cutter_cost(const Cutter *c, const CnvMaskRect *area)
{
  return (double)(area->x1 - area->x0 + c->apron_x + JOB_MARGIN_X) * (area->y1 - area->y0 + c->apron_y + JOB_MARGIN_Y);
}

/* A region that is moved is cut off where its target is outside the frame. */
static void
cut_to_target(const Cutter *c, CnvMaskRect *area)
{
  area->x0 = MAX(area->x0, -c->job.move_x);
  area->y0 = MAX(area->y0, -c->job.move_y);
  area->x1 = MIN(area->x1, c->width - c->job.move_x);
  area->y1 = MIN(area->y1, c->height - c->job.move_y);
}

/* Adds a job of the layer, unless none of its samples is filtered. It gets the masks of the area's list that matter in
 * it, or none where every sample is the layer's with weight 1. covered: the rectangle lies inside masks of the layer,
 * or with invert outside of all. */
static void
add_job(Cutter *c, const Area *area, CnvMaskRect rect, gboolean covered)
{
  CnvRectJob job = c->job;
  int n;
  gboolean one_layer = TRUE, writes = job.invert, full = covered && c->reach_x == 0 && c->reach_y == 0;

  cut_to_target(c, &rect);
  if (is_empty(&rect))
    return;
  n = cnv_cutter_select(c, area->list, area->n, &rect, c->selected);
  for (int i = 0; i < n; i++) {
    const CnvMaskRect *s = &c->mask[c->selected[i]];

    writes |= s->layer == job.layer;
    one_layer &= s->layer == job.layer;
    full |= contains(s, &rect);
  }
  if (!writes || (job.invert && n > 0 && full))
    return;
  job.x = rect.x0;
  job.y = rect.y0;
  job.width = rect.x1 - rect.x0;
  job.height = rect.y1 - rect.y0;
  job.first_mask_rect = (int)c->masks->len;
  job.n_mask_rects = one_layer && full ? 0 : n;
  for (int i = 0; i < job.n_mask_rects; i++)
    g_array_append_val(c->masks, c->mask[c->selected[i]]);
  g_array_append_val(c->jobs, job);
  c->cost += cnv_cutter_cost(c, &rect);
  if (job.n_mask_rects > 0)
    c->cost += size_of(&rect) * (job.n_mask_rects * WEIGHT_COST + (one_layer ? BLEND_COST : SHARE_COST));
}

/* ---- the sweep ---- */

static void
end_job(Cutter *c, const Area *area, const OpenJob *open, int bottom)
{
  add_job(c, area, (CnvMaskRect){open->columns.x0, open->from, open->columns.x1, bottom}, TRUE);
}

/* Finds the columns that the first n rectangles cover in row y of the area, or with invert do not cover. Returns the
 * number of intervals. */
static int
columns_of_row(Cutter *c, const CnvMaskRect *area, int n, int y)
{
  int count = 0, free = area->x0;

  for (int i = 0; i < n; i++) {
    const CnvMaskRect *r = &c->rect[i];

    if (y < r->y0 || y >= r->y1)
      continue;
    if (c->job.invert) {
      if (r->x0 > free)
        c->columns[count++] = (Interval){free, r->x0};
      free = MAX(free, r->x1);
    } else if (count > 0 && r->x0 <= c->columns[count - 1].x1) {
      c->columns[count - 1].x1 = MAX(c->columns[count - 1].x1, r->x1);
    } else {
      c->columns[count++] = (Interval){r->x0, r->x1};
    }
  }
  if (c->job.invert && free < area->x1)
    c->columns[count++] = (Interval){free, area->x1};
  return count;
}

/* Goes on in row y with `count` intervals: open jobs whose columns are among them go on, the others end here. Returns
 * the number of open jobs. */
static int
next_row(Cutter *c, const Area *area, int n_open, int count, int y)
{
  int at = 0;

  for (int i = 0; i < count; i++) {
    while (at < n_open && c->open[at].columns.x0 < c->columns[i].x0)
      end_job(c, area, &c->open[at++], y);
    c->next[i] = (OpenJob){c->columns[i], y};
    if (at < n_open && c->open[at].columns.x0 == c->columns[i].x0 && c->open[at].columns.x1 == c->columns[i].x1)
      c->next[i].from = c->open[at++].from;
  }
  while (at < n_open)
    end_job(c, area, &c->open[at++], y);
  memcpy(c->open, c->next, sizeof(OpenJob) * count);
  return count;
}

static int
compare_ints(const void *a, const void *b)
{
  return *(const int *)a - *(const int *)b;
}

static int
compare_left_edges(const void *a, const void *b)
{
  return ((const CnvMaskRect *)a)->x0 - ((const CnvMaskRect *)b)->x0;
}

/* Cuts n rectangles, or with invert the rest of the area. */
static void
sweep(Cutter *c, const Area *area, int n)
{
  int n_edges = 0, n_open = 0;

  qsort(c->rect, n, sizeof(CnvMaskRect), compare_left_edges);
  for (int i = 0; i < n; i++) {
    c->edge[n_edges++] = c->rect[i].y0;
    c->edge[n_edges++] = c->rect[i].y1;
  }
  c->edge[n_edges++] = area->rect.y0;
  c->edge[n_edges++] = area->rect.y1;
  qsort(c->edge, n_edges, sizeof(int), compare_ints);
  for (int i = 0; i < n_edges && c->edge[i] < area->rect.y1; i++)
    if (i == 0 || c->edge[i] != c->edge[i - 1])
      n_open = next_row(c, area, n_open, columns_of_row(c, &area->rect, n, c->edge[i]), c->edge[i]);
  next_row(c, area, n_open, 0, area->rect.y1);
}

/* Cuts the layer of masks first to last - 1 of the area's list (with invert, of all of them) into the jobs of a sweep
 * or, where that is less work, one job around them. */
static void
cut_layer(Cutter *c, const Area *area, int first, int last)
{
  gboolean invert = c->work->invert;
  int n = 0, most = JOBS_A_MASK * (last - first) + 1;
  CnvMaskRect around = {0};
  Mark before = mark(c);
  double cost;

  for (int i = first; i < last; i++) {
    CnvMaskRect r = clipped(&c->mask[area->list[i]], invert ? 0 : c->reach_x, invert ? 0 : c->reach_y, &area->rect);

    extend(&around, &r);
    if (last - first <= CNV_CROWD && !is_empty(&r))
      c->rect[n++] = r;
  }
  if (invert)
    around = area->rect;
  cost = cnv_cutter_cost(c, &around) + size_of(&around) * area->n * WEIGHT_COST;
  if (last - first <= CNV_CROWD) {
    sweep(c, area, n);
    if (c->n <= CNV_CROWD ||
        (c->jobs->len - before.jobs <= (guint)most && c->cost - before.cost <= SWEEP_COST_MAX * cost))
      return;
    undo(c, before);
  }
  add_job(c, area, around, FALSE);
}

/* Makes the layer of a mask that of the jobs from now on. */
static void
set_layer(Cutter *c, int index)
{
  const CnvMaskRect *window = &c->window[index];

  c->job.layer = c->mask[index].layer;
  c->job.plan = c->plan[index];
  if (!c->work->isolated)
    return;
  c->job.window_x = window->x0;
  c->job.window_y = window->y0;
  c->job.window_width = window->x1 - window->x0;
  c->job.window_height = window->y1 - window->y0;
}

void
cnv_cutter_cut_layers(Cutter *c, const Area *area)
{
  if (c->work->invert) {
    c->job.layer = -1;
    c->job.invert = TRUE;
    cut_layer(c, area, 0, area->n);
    return;
  }
  for (int first = 0, last; first < area->n; first = last) {
    if (c->exact && c->cost > c->budget)
      return;
    last = first + 1;
    while (last < area->n && c->mask[area->list[last]].layer == c->mask[area->list[first]].layer)
      last++;
    set_layer(c, area->list[first]);
    cut_layer(c, area, first, last);
  }
}
