/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Cuts the layers of an area into jobs (jobs.c tells the whole story).
 *
 * A layer is the masks of one plan, or of one isolated region. It is cut into bands of rows: between two neighbouring
 * edges the union of its rectangles covers the same columns in every row, and columns that are also covered below the
 * next edge go on as the same job. So a layer filters each sample once however many of its regions overlap, and a
 * single region is one job.
 */
#include <stdlib.h>

#include "plan/cutter.h"

/* More pieces of a layer than so many for each mask, and one, are dropped for one job around them all; so are pieces
 * that cost so many times as much as that job. */
#define PIECES_A_MASK 4
#define PIECES_COST_MAX 1.5

/* Samples by which a job is wider and higher, to stand for its overhead: its vectors are seldom full. */
#define JOB_MARGIN_X 80
#define JOB_MARGIN_Y 16

/* Costs a sample, where filtering one is 1. */
#define BLEND_COST 1    /* blending by the weight */
#define SHARE_COST 4    /* the same where jobs of several layers write */
#define WEIGHT_COST 0.5 /* weighing by one mask */

#define WEIGHT_SLACK 1e-5 /* float32 rounds weights by less */

/* ---- masks that matter in an area ---- */

/* TRUE if the mask's rounded weight is below the limit everywhere in the area. limit: in steps of 1/255. */
static gboolean
weighs_less(const CnvMaskRect *s, const CnvMaskRect *area, int limit)
{
  float weight = cnv_fade(CLAMP(s->x0, area->x0, area->x1 - 1), s->x0, s->x1, s->fade_x);

  weight *= cnv_fade(CLAMP(s->y0, area->y0, area->y1 - 1), s->y0, s->y1, s->fade_y);
  return cnv_weight_steps(weight + (float)WEIGHT_SLACK) < limit;
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
fades(const CnvMaskRect *s)
{
  return s->fade_x < 1 || s->fade_y < 1;
}

static gboolean
reaches(const Cutter *c, const CnvMaskRect *s, const CnvMaskRect *area)
{
  int x = fades(s) ? c->reach_x : 0, y = fades(s) ? c->reach_y : 0;

  return s->x0 - x < area->x1 && s->x1 + x > area->x0 && s->y0 - y < area->y1 && s->y1 + y > area->y0;
}

CnvMaskRect
cnv_cutter_reach(const Cutter *c, const CnvMaskRect *s, const CnvMaskRect *area)
{
  return clipped(s, fades(s) ? c->reach_x : 0, fades(s) ? c->reach_y : 0, area);
}

int
cnv_cutter_select(const Cutter *c, const guint16 *from, int n, const CnvMaskRect *area, guint16 *to)
{
  gboolean any_fades = c->reach_x > 0 || c->reach_y > 0;
  CnvMaskRect largest = {0};
  int count = 0, last = -1, limit;
  float least = 0;

  for (int i = 0; i < n; i++) {
    const CnvMaskRect *s = &c->mask[from[i]];
    CnvMaskRect near;

    if (!reaches(c, s, area))
      continue;
    to[count++] = from[i];
    if (!is_full(s))
      continue;
    near = nearest(s, area);
    if (size_of(&near) >= size_of(&largest)) {
      largest = near;
      last = from[i];
    }
    if (any_fades)
      least = larger_weight(s, area, least);
  }
  limit = cnv_weight_steps(MAX(0, least - (float)WEIGHT_SLACK));
  n = count;
  count = 0;
  for (int i = 0; i < n; i++) {
    const CnvMaskRect *s = &c->mask[to[i]];
    gboolean fades_sooner = s->fade_x >= largest.fade_x && s->fade_y >= largest.fade_y;
    CnvMaskRect shown = fades_sooner ? nearest(s, area) : cnv_cutter_reach(c, s, area);
    gboolean yields = to[i] < last || (to[i] > last && (s->layer == largest.layer || c->work->invert));

    if (!(any_fades && weighs_less(s, area, limit)) && !(yields && contains(&largest, &shown)))
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

/* Adds a job of the layer, unless none of its samples is filtered. It gets the masks of the area's list that matter in
 * it, or none where every sample is the layer's with weight 1. covered: the rectangle lies inside masks of the layer,
 * or with invert outside of all that are full. */
static void
add_job(Cutter *c, const Area *area, CnvMaskRect rect, gboolean covered)
{
  CnvJob job = c->job;
  const CnvMaskRect target = {-job.move_x, -job.move_y, c->field.x1 - job.move_x, c->field.y1 - job.move_y};
  int n;
  gboolean one_layer = TRUE, writes = job.invert, full = FALSE,
           all_full = covered && c->reach_x == 0 && c->reach_y == 0;

  rect = clipped(&rect, 0, 0, &target); /* a region that is moved is cut off where its target is outside the frame */
  if (is_empty(&rect))
    return;
  n = cnv_cutter_select(c, area->list, area->n, &rect, c->selected);
  for (int i = 0; i < n; i++) {
    const CnvMaskRect *s = &c->mask[c->selected[i]];

    writes |= s->layer == job.layer;
    one_layer &= s->layer == job.layer;
    full |= is_full(s) && contains(s, &rect);
    all_full &= is_full(s);
  }
  full |= all_full;
  if (!writes || (job.invert && n > 0 && full))
    return;
  job.x = rect.x0;
  job.y = rect.y0;
  job.width = rect.x1 - rect.x0;
  job.height = rect.y1 - rect.y0;
  job.first_mask_rect = (int)c->made->mask_rects->len;
  job.n_mask_rects = one_layer && full ? 0 : n;
  for (int i = 0; i < job.n_mask_rects; i++)
    g_array_append_val(c->made->mask_rects, c->mask[c->selected[i]]);
  g_array_append_val(c->made->jobs, job);
  c->cost += cnv_cutter_cost(c, &rect);
  if (job.n_mask_rects > 0)
    c->cost += size_of(&rect) * (job.n_mask_rects * WEIGHT_COST + (one_layer ? BLEND_COST : SHARE_COST));
}

/* ---- layers ---- */

/* By the first int: an edge, or a rectangle's left one. */
static int
compare_edges(const void *a, const void *b)
{
  return *(const int *)a - *(const int *)b;
}

void
cnv_cutter_add_piece(const Cutter *c, CnvMaskRect new)
{
  for (guint i = c->pieces->len; i-- > 0;) {
    CnvMaskRect *above = &g_array_index(c->pieces, CnvMaskRect, i);

    if (above->y1 == new.y0 && above->x0 == new.x0 && above->x1 == new.x1 && above->shape == new.shape) {
      above->y1 = new.y1;
      return;
    }
  }
  if (!is_empty(&new))
    g_array_append_val(c->pieces, new);
}

/* Adds the columns that the rectangles cover in the rows from top to bottom, or with invert do not cover. */
static void
add_band(Cutter *c, const CnvMaskRect *area, int n_rects, int top, int bottom)
{
  gboolean invert = c->work->invert;
  int from = area->x0, to = area->x0; /* columns covered */

  for (const CnvMaskRect *r = c->rect; r < c->rect + n_rects; r++) {
    if (top < r->y0 || top >= r->y1)
      continue;
    if (r->x0 > to) {
      cnv_cutter_add_piece(c, (CnvMaskRect){invert ? to : from, top, invert ? r->x0 : to, bottom});
      from = r->x0;
    }
    to = MAX(to, r->x1);
  }
  cnv_cutter_add_piece(c, (CnvMaskRect){invert ? to : from, top, invert ? area->x1 : to, bottom});
}

/* Cuts n rectangles, or with invert the rest of the area, into pieces. */
static void
cut_rects(Cutter *c, const CnvMaskRect *area, int n)
{
  int edge[2 * CNV_CROWD + 2] = {area->y0, area->y1}, n_edges = 2;

  qsort(c->rect, n, sizeof(CnvMaskRect), compare_edges);
  for (int i = 0; i < n; i++) {
    edge[n_edges++] = c->rect[i].y0;
    edge[n_edges++] = c->rect[i].y1;
  }
  qsort(edge, n_edges, sizeof(int), compare_edges);
  g_array_set_size(c->pieces, 0);
  for (int i = 0; i + 1 < n_edges; i++)
    add_band(c, area, n, edge[i], edge[i + 1]);
}

/* Cuts the layer of masks first to last - 1 of the area's list (with invert, of all of them) into jobs: pieces or,
 * where that is less work, one around them. */
static void
cut_layer(Cutter *c, const Area *area, int first, int last)
{
  gboolean invert = c->work->invert, few = last - first <= CNV_CROWD;
  int n = 0;
  CnvMaskRect around = {0};
  guint n_jobs = c->made->jobs->len, n_masks = c->made->mask_rects->len;
  double cost = c->cost, most;

  for (int i = first; i < last; i++) {
    const CnvMaskRect *s = &c->mask[area->list[i]];
    CnvMaskRect r = invert ? clipped(s, 0, 0, &area->rect) : cnv_cutter_reach(c, s, &area->rect);

    extend(&around, &r);
    if (few && !is_empty(&r) && (is_full(s) || !invert))
      c->rect[n++] = r;
  }
  if (invert)
    around = area->rect;
  most = PIECES_COST_MAX * (cnv_cutter_cost(c, &around) + size_of(&around) * area->n * WEIGHT_COST);
  if (few) {
    cut_rects(c, &area->rect, n);
    for (guint i = 0; i < c->pieces->len; i++)
      add_job(c, area, g_array_index(c->pieces, CnvMaskRect, i), TRUE);
    if (c->n <= CNV_CROWD ||
        (c->made->jobs->len - n_jobs <= (guint)(PIECES_A_MASK * (last - first) + 1) && c->cost - cost <= most))
      return;
    undo(c, n_jobs, n_masks, cost);
  }
  add_job(c, area, around, FALSE);
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
    const int index = area->list[first];
    const CnvMaskRect *region = &c->window[index], window = clipped(region, 0, 0, &c->field);

    if (c->exact && c->cost > c->budget)
      return;
    last = first + 1;
    while (last < area->n && c->mask[area->list[last]].layer == c->mask[index].layer)
      last++;
    c->job.layer = c->mask[index].layer;
    c->job.plan = c->plan[index];
    if (c->isolated) {
      c->job.cells_x = region->x0;
      c->job.cells_y = region->y0;
      c->job.window_x = window.x0;
      c->job.window_y = window.y0;
      c->job.window_width = window.x1 - window.x0;
      c->job.window_height = window.y1 - window.y0;
    }
    cut_layer(c, area, first, last);
  }
}
