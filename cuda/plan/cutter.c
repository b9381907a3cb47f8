/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The layers of an area, cut into jobs. A layer's rectangles are swept from top to bottom: between two neighbouring
 * edges the union of their columns is the same all the way down, and what does not change from one such slab to the
 * next goes on as one job. So each sample is filtered once by a layer however many of its regions overlap there, and
 * a lone region is one job.
 */
#include <stdlib.h>
#include <string.h>

#include "plan/cutter.h"

#define PATCHES_A_SPOT 4  /* of a sweep, and one more; else one job does it */
#define SOLID 1.5         /* times the work of one job that has to weigh, that those of the sweep may be */
#define PATCH_MARGIN_X 80 /* samples that stand for the overhead of a job; its vectors are seldom full */
#define PATCH_MARGIN_Y 16
#define BLEND_COST 1      /* of blending a sample by its weight, in samples that are filtered, */
#define SHARE_COST 4      /* of the same where jobs of several layers write, */
#define WEIGHT_COST 0.5   /* and of weighing one by a spot */
#define WEIGHT_SLACK 1e-5 /* float32 rounds weights by less */

/* ---- what matters in an area ---- */

/* The largest that a spot weighs in an area is less than a limit. */
static gboolean
weighs_less(const CnvMaskRect *s, const CnvMaskRect *area, float limit)
{
  float across = cnv_fade(CLAMP(s->x0, area->x0, area->x1 - 1), s->x0, s->x1, s->fade_x);

  return across < limit || across * cnv_fade(CLAMP(s->y0, area->y0, area->y1 - 1), s->y0, s->y1, s->fade_y) < limit;
}

/* The larger one of a weight and of the smallest that a spot weighs in an area. */
static float
larger_least(const CnvMaskRect *s, const CnvMaskRect *area, float least)
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
cnv_cutter_keep(const Cutter *c, const guint16 *from, int n, const CnvMaskRect *area, guint16 *to)
{
  gboolean fades = c->reach_x > 0 || c->reach_y > 0;
  CnvMaskRect largest = {0};
  int count = 0, last = -1;
  float least = 0;

  for (int i = 0; i < n; i++) {
    const CnvMaskRect *s = &c->spot[from[i]];
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
      least = larger_least(s, area, least);
  }
  n = count;
  count = 0;
  for (int i = 0; i < n; i++) {
    const CnvMaskRect *s = &c->spot[to[i]];
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
  return (double)(area->x1 - area->x0 + c->apron_x + PATCH_MARGIN_X) *
         (area->y1 - area->y0 + c->apron_y + PATCH_MARGIN_Y);
}

/* What goes elsewhere is cut off where that is outside. */
static void
cut_to_target(const Cutter *c, CnvMaskRect *area)
{
  area->x0 = MAX(area->x0, -c->job.move_x);
  area->y0 = MAX(area->y0, -c->job.move_y);
  area->x1 = MIN(area->x1, c->width - c->job.move_x);
  area->y1 = MIN(area->y1, c->height - c->job.move_y);
}

/* Adds a job of the layer with those of a list that matter in it; no spots where all of it is the layer's with the
 * weight 1. covered: it lies in spots of the layer, or with invert in none. */
static void
emit(Cutter *c, const guint16 *list, int n, CnvMaskRect area, gboolean covered)
{
  CnvRectJob job = c->job;
  gboolean alone = TRUE, any = job.invert, all = covered && c->reach_x == 0 && c->reach_y == 0;

  cut_to_target(c, &area);
  if (is_empty(&area))
    return;
  n = cnv_cutter_keep(c, list, n, &area, c->kept);
  for (int i = 0; i < n; i++) {
    const CnvMaskRect *s = &c->spot[c->kept[i]];

    any |= s->layer == job.layer;
    alone &= s->layer == job.layer;
    all |= contains(s, &area);
  }
  if (!any || (job.invert && n > 0 && all))
    return;
  job.x = area.x0;
  job.y = area.y0;
  job.width = area.x1 - area.x0;
  job.height = area.y1 - area.y0;
  job.first_spot = (int)c->spots->len;
  job.n_mask_rects = alone && all ? 0 : n;
  for (int i = 0; i < job.n_mask_rects; i++)
    g_array_append_val(c->spots, c->spot[c->kept[i]]);
  g_array_append_val(c->jobs, job);
  c->cost += cnv_cutter_cost(c, &area);
  if (job.n_mask_rects > 0)
    c->cost += size_of(&area) * (job.n_mask_rects * WEIGHT_COST + (alone ? BLEND_COST : SHARE_COST));
}

/* ---- the sweep ---- */

static void
end_open(Cutter *c, const Field *f, const Open *open, int bottom)
{
  emit(c, f->list, f->n, (CnvMaskRect){open->columns.x0, open->from, open->columns.x1, bottom}, TRUE);
}

/* The columns that the first n rectangles take, or leave, in row y of the area. Returns how many intervals. */
static int
columns_at(Cutter *c, const CnvMaskRect *area, int n, int y)
{
  int count = 0, free = area->x0;

  for (int i = 0; i < n; i++) {
    const CnvMaskRect *r = &c->rect[i];

    if (y < r->y0 || y >= r->y1)
      continue;
    if (c->job.invert) {
      if (r->x0 > free)
        c->now[count++] = (Interval){free, r->x0};
      free = MAX(free, r->x1);
    } else if (count > 0 && r->x0 <= c->now[count - 1].x1) {
      c->now[count - 1].x1 = MAX(c->now[count - 1].x1, r->x1);
    } else {
      c->now[count++] = (Interval){r->x0, r->x1};
    }
  }
  if (c->job.invert && free < area->x1)
    c->now[count++] = (Interval){free, area->x1};
  return count;
}

/* Goes on in row y with `count` intervals: open ones that are among them stay open, others end here. */
static int
advance(Cutter *c, const Field *f, int n_open, int count, int y)
{
  int at = 0;

  for (int i = 0; i < count; i++) {
    while (at < n_open && c->open[at].columns.x0 < c->now[i].x0)
      end_open(c, f, &c->open[at++], y);
    c->next[i] = (Open){c->now[i], y};
    if (at < n_open && c->open[at].columns.x0 == c->now[i].x0 && c->open[at].columns.x1 == c->now[i].x1)
      c->next[i].from = c->open[at++].from;
  }
  while (at < n_open)
    end_open(c, f, &c->open[at++], y);
  memcpy(c->open, c->next, sizeof(Open) * count);
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

/* Cuts n rectangles, or what they leave of the area. */
static void
sweep(Cutter *c, const Field *f, int n)
{
  int n_edges = 0, n_open = 0;

  qsort(c->rect, n, sizeof(CnvMaskRect), compare_left_edges);
  for (int i = 0; i < n; i++) {
    c->edge[n_edges++] = c->rect[i].y0;
    c->edge[n_edges++] = c->rect[i].y1;
  }
  c->edge[n_edges++] = f->area.y0;
  c->edge[n_edges++] = f->area.y1;
  qsort(c->edge, n_edges, sizeof(int), compare_ints);
  for (int i = 0; i < n_edges && c->edge[i] < f->area.y1; i++)
    if (i == 0 || c->edge[i] != c->edge[i - 1])
      n_open = advance(c, f, n_open, columns_at(c, &f->area, n, c->edge[i]), c->edge[i]);
  advance(c, f, n_open, 0, f->area.y1);
}

/* Cuts the layer of spots first to last - 1 of a list, or for the inverse of all of them: in the jobs of a sweep or,
 * where that is less work, in one around them. */
static void
cut_layer(Cutter *c, const Field *f, int first, int last)
{
  gboolean invert = c->work->invert;
  int n = 0, most = PATCHES_A_SPOT * (last - first) + 1;
  CnvMaskRect around = {0};
  Mark before = mark(c);
  double cost;

  for (int i = first; i < last; i++) {
    CnvMaskRect r = clipped(&c->spot[f->list[i]], invert ? 0 : c->reach_x, invert ? 0 : c->reach_y, &f->area);

    take_in(&around, &r);
    if (last - first <= CNV_CROWD && !is_empty(&r))
      c->rect[n++] = r;
  }
  if (invert)
    around = f->area;
  cost = cnv_cutter_cost(c, &around) + size_of(&around) * f->n * WEIGHT_COST;
  if (last - first <= CNV_CROWD) {
    sweep(c, f, n);
    if (c->n <= CNV_CROWD || (c->jobs->len - before.jobs <= (guint)most && c->cost - before.cost <= SOLID * cost))
      return;
    undo(c, before);
  }
  emit(c, f->list, f->n, around, FALSE);
}

/* Has the jobs from now on be of the layer of a spot. */
static void
set_layer(Cutter *c, int index)
{
  const CnvMaskRect *window = &c->window[index];

  c->job.layer = c->spot[index].layer;
  c->job.plan = c->plan[index];
  if (!c->work->isolated)
    return;
  c->job.window_x = window->x0;
  c->job.window_y = window->y0;
  c->job.window_width = window->x1 - window->x0;
  c->job.window_height = window->y1 - window->y0;
}

void
cnv_cutter_cut_layers(Cutter *c, const Field *f)
{
  if (c->work->invert) {
    c->job.layer = -1;
    c->job.invert = TRUE;
    cut_layer(c, f, 0, f->n);
    return;
  }
  for (int first = 0, last; first < f->n; first = last) {
    if (c->exact && c->cost > c->budget)
      return;
    last = first + 1;
    while (last < f->n && c->spot[f->list[last]].layer == c->spot[f->list[first]].layer)
      last++;
    set_layer(c, f->list[first]);
    cut_layer(c, f, first, last);
  }
}
