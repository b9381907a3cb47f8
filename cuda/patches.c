/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * From regions to patches. For each plane, field and layer the rectangles are swept from top to bottom: between two
 * neighbouring edges the union of their columns is the same all the way down, and what does not change from one such
 * slab to the next goes on as one patch. So each sample is filtered once however many regions overlap there, and a
 * lone region is one patch.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "patches.h"

/* Far outside any frame, and far inside of int. */
#define FAR (1 << 24)

typedef struct {
  int x0, x1;
} Interval;

typedef struct {
  Interval columns;
  int from; /* the row that it began in */
} Open;

/* One plane and field of the work that is being cut. */
typedef struct {
  const CnvWork *work;
  GArray *patches, *spots;
  CnvPatch patch; /* what all patches of this plane, field and layer have in common */
  int sub_x, sub_y;
  int width, height; /* of the field */
  int reach_x, reach_y;
  int n;
  CnvSpot spot[CNV_MAX_REGIONS];     /* by precedence */
  guint plan[CNV_MAX_REGIONS];       /* of each */
  CnvSpot rect[CNV_MAX_REGIONS];     /* of the layer, clipped, by their left edge */
  int edge[2 * CNV_MAX_REGIONS + 2]; /* rows where a rectangle begins or ends */
  Open open[CNV_MAX_REGIONS + 1];    /* by their left edge */
  Open next[CNV_MAX_REGIONS + 1];
  Interval now[CNV_MAX_REGIONS + 1];
} Cutter;

static int
floor_div(gint64 a, int b)
{
  gint64 q = a / b - (a % b < 0);

  return (int)CLAMP(q, -FAR, FAR);
}

static int
ceil_div(gint64 a, int b)
{
  return -floor_div(-a, b);
}

/* The samples of the plane's field that a rectangle touches. */
static CnvSpot
make_spot(const Cutter *c, const CnvRect *rect, int layer)
{
  int sx = 1 << c->sub_x, sy = 1 << c->sub_y, field = c->patch.field, fields = c->patch.fields;
  int top = floor_div(rect->y, sy), bottom = ceil_div((gint64)rect->y + rect->height, sy);
  double feather = c->work->feather;

  return (CnvSpot){.x0 = floor_div(rect->x, sx),
                   .y0 = ceil_div(top - field, fields),
                   .x1 = ceil_div((gint64)rect->x + rect->width, sx),
                   .y1 = ceil_div(bottom - field, fields),
                   .layer = layer,
                   .fade_x = (float)(1 / (feather / sx + 1)),
                   .fade_y = (float)(1 / (feather / (sy * fields) + 1))};
}

static gboolean
is_empty(const CnvSpot *s)
{
  return s->x0 >= s->x1 || s->y0 >= s->y1;
}

static CnvSpot
clipped(const Cutter *c, const CnvSpot *s, int reach_x, int reach_y)
{
  CnvSpot to = *s;

  to.x0 = CLAMP(s->x0 - reach_x, 0, c->width);
  to.x1 = CLAMP(s->x1 + reach_x, 0, c->width);
  to.y0 = CLAMP(s->y0 - reach_y, 0, c->height);
  to.y1 = CLAMP(s->y1 + reach_y, 0, c->height);
  return to;
}

/* What is left of the frame is not a rectangle, and so has no edge that a border could begin at. */
static gboolean
is_isolated(const CnvWork *work)
{
  return work->isolated && !work->invert;
}

/* All regions as spots, those of a later plan after those of an earlier one. An isolated region of which nothing lies
 * in the plane has nothing to read. */
static void
collect_spots(Cutter *c)
{
  const CnvWork *work = c->work;

  c->n = 0;
  for (guint plan = 0; plan < work->n_plans; plan++)
    for (guint i = 0; i < work->n_regions; i++) {
      const CnvRegion *region = &work->region[i];
      CnvSpot spot, inside;

      if (region->plan != plan || region->rect.width < 1 || region->rect.height < 1)
        continue;
      spot = make_spot(c, &region->rect, is_isolated(work) ? c->n : (int)plan);
      inside = clipped(c, &spot, 0, 0);
      if (is_empty(&spot) || (is_isolated(work) && is_empty(&inside)))
        continue;
      c->plan[c->n] = plan;
      c->spot[c->n++] = spot;
    }
}

static gboolean
overlap(const CnvSpot *a, const CnvSpot *b)
{
  return a->x0 < b->x1 && b->x0 < a->x1 && a->y0 < b->y1 && b->y0 < a->y1;
}

/* Lists the spots that matter in a patch; none where all of it is the layer's with the weight 1. */
static void
add_spots(Cutter *c, CnvPatch *patch)
{
  const CnvSpot area = {patch->x, patch->y, patch->x + patch->width, patch->y + patch->height};
  gboolean solid = c->reach_x == 0 && c->reach_y == 0;

  patch->first_spot = (int)c->spots->len;
  for (int i = 0; i < c->n; i++) {
    CnvSpot grown = clipped(c, &c->spot[i], c->reach_x, c->reach_y);

    if (!overlap(&grown, &area))
      continue;
    solid &= c->spot[i].layer == patch->layer;
    g_array_append_val(c->spots, c->spot[i]);
  }
  if (solid && !patch->invert)
    g_array_set_size(c->spots, patch->first_spot);
  patch->n_spots = (int)c->spots->len - patch->first_spot;
}

/* What goes elsewhere is cut off where that is outside. */
static gboolean
cut_to_target(const Cutter *c, CnvPatch *patch)
{
  int left = MAX(patch->x, -patch->move_x), right = MIN(patch->x + patch->width, c->width - patch->move_x);
  int top = MAX(patch->y, -patch->move_y), bottom = MIN(patch->y + patch->height, c->height - patch->move_y);

  patch->x = left;
  patch->y = top;
  patch->width = right - left;
  patch->height = bottom - top;
  return left < right && top < bottom;
}

static void
emit(Cutter *c, const Open *open, int bottom)
{
  CnvPatch patch = c->patch;

  patch.x = open->columns.x0;
  patch.y = open->from;
  patch.width = open->columns.x1 - open->columns.x0;
  patch.height = bottom - open->from;
  if (!cut_to_target(c, &patch))
    return;
  add_spots(c, &patch);
  g_array_append_val(c->patches, patch);
}

/* The columns that the first n rectangles take, or leave, in row y. Returns how many intervals. */
static int
columns_at(Cutter *c, int n, int y)
{
  int count = 0, free = 0;

  for (int i = 0; i < n; i++) {
    const CnvSpot *r = &c->rect[i];

    if (y < r->y0 || y >= r->y1)
      continue;
    if (c->patch.invert) {
      if (r->x0 > free)
        c->now[count++] = (Interval){free, r->x0};
      free = MAX(free, r->x1);
    } else if (count > 0 && r->x0 <= c->now[count - 1].x1) {
      c->now[count - 1].x1 = MAX(c->now[count - 1].x1, r->x1);
    } else {
      c->now[count++] = (Interval){r->x0, r->x1};
    }
  }
  if (c->patch.invert && free < c->width)
    c->now[count++] = (Interval){free, c->width};
  return count;
}

/* Goes on in row y with `count` intervals: open ones that are among them stay open, others end here. */
static int
advance(Cutter *c, int n_open, int count, int y)
{
  int at = 0;

  for (int i = 0; i < count; i++) {
    while (at < n_open && c->open[at].columns.x0 < c->now[i].x0)
      emit(c, &c->open[at++], y);
    c->next[i] = (Open){c->now[i], y};
    if (at < n_open && c->open[at].columns.x0 == c->now[i].x0 && c->open[at].columns.x1 == c->now[i].x1)
      c->next[i].from = c->open[at++].from;
  }
  while (at < n_open)
    emit(c, &c->open[at++], y);
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
  return ((const CnvSpot *)a)->x0 - ((const CnvSpot *)b)->x0;
}

/* Cuts n rectangles, or what they leave of the plane. */
static void
sweep(Cutter *c, int n)
{
  int n_edges = 0, n_open = 0;

  qsort(c->rect, n, sizeof(CnvSpot), compare_left_edges);
  for (int i = 0; i < n; i++) {
    c->edge[n_edges++] = c->rect[i].y0;
    c->edge[n_edges++] = c->rect[i].y1;
  }
  c->edge[n_edges++] = 0;
  c->edge[n_edges++] = c->height;
  qsort(c->edge, n_edges, sizeof(int), compare_ints);
  for (int i = 0; i < n_edges && c->edge[i] < c->height; i++)
    if (i == 0 || c->edge[i] != c->edge[i - 1])
      n_open = advance(c, n_open, columns_at(c, n, c->edge[i]), c->edge[i]);
  advance(c, n_open, 0, c->height);
}

/* Cuts the spots of a layer, or for the inverse all of them. */
static void
cut_layer(Cutter *c, int layer, guint plan)
{
  gboolean invert = c->work->invert;
  int n = 0;

  c->patch.layer = layer;
  c->patch.plan = (int)plan;
  c->patch.invert = invert;
  for (int i = 0; i < c->n; i++) {
    CnvSpot r = clipped(c, &c->spot[i], invert ? 0 : c->reach_x, invert ? 0 : c->reach_y);

    if ((invert || c->spot[i].layer == layer) && !is_empty(&r))
      c->rect[n++] = r;
  }
  sweep(c, n);
}

static void
cut_layers(Cutter *c)
{
  const CnvWork *work = c->work;

  if (work->invert) {
    cut_layer(c, -1, 0);
    return;
  }
  for (int i = 0; i < c->n; i++) {
    if (i > 0 && c->spot[i].layer == c->spot[i - 1].layer)
      continue;
    if (is_isolated(work)) {
      CnvSpot window = clipped(c, &c->spot[i], 0, 0);

      c->patch.window_x = window.x0;
      c->patch.window_y = window.y0;
      c->patch.window_width = window.x1 - window.x0;
      c->patch.window_height = window.y1 - window.y0;
    }
    cut_layer(c, c->spot[i].layer, c->plan[i]);
  }
}

/* Along an axis, in samples of the plane. */
static int
move_of(int target, int from, int sub)
{
  return floor_div(target, 1 << sub) - floor_div(from, 1 << sub);
}

static void
cut_field(Cutter *c)
{
  const CnvWork *work = c->work;

  c->reach_x = (int)ceil(work->feather / (1 << c->sub_x));
  c->reach_y = (int)ceil(work->feather / ((1 << c->sub_y) * c->patch.fields));
  if (work->moved && work->n_regions > 0) {
    c->patch.move_x = move_of(work->target_x, work->region[0].rect.x, c->sub_x);
    c->patch.move_y = floor_div(move_of(work->target_y, work->region[0].rect.y, c->sub_y), c->patch.fields);
  }
  collect_spots(c);
  cut_layers(c);
}

void
cnv_patches_make(const CnvWork *work, GArray *patches, GArray *spots)
{
  const CnvPlan *plan = work->plan[0];
  Cutter c = {.work = work, .patches = patches, .spots = spots};
  int fields = work->interlaced ? 2 : 1;

  g_array_set_size(patches, 0);
  g_array_set_size(spots, 0);
  for (int p = 0; p < plan->n_planes; p++) {
    const CnvPlanePlan *plane = &plan->plane[p];

    c.sub_x = plane->sub_x;
    c.sub_y = plane->sub_y;
    for (int field = 0; field < fields && plane->filtered; field++) {
      c.width = plane->width;
      c.height = (plane->height - field + fields - 1) / fields;
      c.patch = (CnvPatch){.plane = p, .field = field, .fields = fields};
      c.patch.width = c.patch.window_width = c.width;
      c.patch.height = c.patch.window_height = c.height;
      if (c.height == 0)
        continue;
      if (work->everything)
        g_array_append_val(patches, c.patch);
      else
        cut_field(&c);
    }
  }
}

static gboolean
same_regions(const CnvPatchesOf *of, const CnvWork *work)
{
  const CnvWork *a = &of->work;

  return a->n_regions == work->n_regions && !a->invert == !work->invert && !a->isolated == !work->isolated &&
         a->feather == work->feather && !a->moved == !work->moved && a->target_x == work->target_x &&
         a->target_y == work->target_y &&
         (work->n_regions == 0 || memcmp(of->regions->data, work->region, work->n_regions * sizeof(CnvRegion)) == 0);
}

gboolean
cnv_patches_are_of(const CnvPatchesOf *of, const CnvWork *work)
{
  return of->regions && !of->work.everything == !work->everything && !of->work.interlaced == !work->interlaced &&
         (work->everything || same_regions(of, work));
}

void
cnv_patches_set_of(CnvPatchesOf *of, const CnvWork *work)
{
  if (!of->regions)
    of->regions = g_array_new(FALSE, FALSE, sizeof(CnvRegion));
  of->work = *work;
  g_array_set_size(of->regions, 0);
  if (!work->everything)
    g_array_append_vals(of->regions, work->region, work->n_regions);
}

void
cnv_patches_clear_of(CnvPatchesOf *of)
{
  g_clear_pointer(&of->regions, g_array_unref);
}
