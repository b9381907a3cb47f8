/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * From regions to jobs. A crowd of regions would give far more jobs than regions, each with all regions to weigh.
 * So an area with many of them, or with many layers over each other, is halved until few matter in each half: those
 * that others hide do not. If that comes to too much work for a frame, all is cut again, and in the least areas regions
 * are joined: that bounds the work whatever the regions are.
 */
#include <math.h>
#include <string.h>

#include "plan/cutter.h"
#include "plan/plan.h"
#include "plan/rect_jobs.h"

/* Far outside any frame, and far inside of int. */
#define FAR (1 << 24)

#define GOOD 2           /* an area is not halved where its jobs take less than so many times its own work */
#define LOOK_COST 40     /* of seeing whether a region matters in an area, in samples that are filtered */
#define BUDGET_LEAST 4e6 /* samples: a small frame is done in no time anyway */

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
static CnvMaskRect
make_spot(const Cutter *c, const CnvRect *rect, int layer)
{
  int sx = 1 << c->sub_x, sy = 1 << c->sub_y, field = c->job.field, fields = c->job.fields;
  int top = floor_div(rect->y, sy), bottom = ceil_div((gint64)rect->y + rect->height, sy);
  double feather = c->work->feather;

  return (CnvMaskRect){.x0 = floor_div(rect->x, sx),
                       .y0 = ceil_div(top - field, fields),
                       .x1 = ceil_div((gint64)rect->x + rect->width, sx),
                       .y1 = ceil_div(bottom - field, fields),
                       .layer = layer,
                       .fade_x = (float)(1 / (feather / sx + 1)),
                       .fade_y = (float)(1 / (feather / (sy * fields) + 1))};
}

/* What is left of the frame is not a rectangle, and so has no edge that a border could begin at. */
static gboolean
is_isolated(const CnvWork *work)
{
  return work->isolated && !work->invert;
}

/* Corner and size of what counts of a spot, in units of samples. */
static guint64
key_of(const Cutter *c, const CnvMaskRect *spot, int x, int y)
{
  const CnvMaskRect reached = {-c->reach_x, -c->reach_y, c->width + c->reach_x, c->height + c->reach_y};
  const CnvMaskRect s = nearest(spot, &reached);
  const int number[] = {s.x0 / x, (s.x1 - s.x0) / x, s.y0 / y, (s.y1 - s.y0) / y};
  guint64 key = 0;

  for (gsize i = 0; i < G_N_ELEMENTS(number); i++)
    key = key << 16 | (guint16)number[i];
  return key;
}

/* Where regions are joined, and fade out slowly: has a spot stand for the one that was collected last too, if both are
 * of one plan, or isolated, and their corners and sizes are so near that the fades hardly differ; a crowd in one corner
 * then is a few spots wherever it reaches. Returns whether there is such a one. */
static gboolean
join_near(Cutter *c)
{
  const CnvMaskRect *new = &c->spot[c->n];
  int x = c->reach_x / CNV_CROWD_FADE, y = c->reach_y / CNV_CROWD_FADE;

  if (c->exact || x < 2 || y < 2)
    return FALSE;
  c->key[c->n] = key_of(c, new, x, y);
  for (int i = 0; i < c->n; i++) {
    CnvMaskRect *old = &c->spot[i];

    if (c->key[i] != c->key[c->n] || (!is_isolated(c->work) && c->plan[i] != c->plan[c->n]))
      continue;
    c->plan[i] = c->plan[c->n]; /* the same or, of an isolated one, a later plan */
    c->crowd = MAX(c->crowd, 2);
    take_in(&c->window[i], &c->window[c->n]);
    if (!c->work->invert)
      take_in(old, new);
    else if (size_of(new) > size_of(old))
      *old = *new;
    return TRUE;
  }
  return FALSE;
}

/* All regions as spots, those of a later plan after those of an earlier one. An isolated region of which nothing lies
 * in the plane has nothing to read. */
static void
collect_spots(Cutter *c)
{
  const CnvWork *work = c->work;
  const CnvMaskRect field = whole_field(c);

  c->n = 0;
  for (guint plan = 0; plan < work->n_plans; plan++)
    for (guint i = 0; i < work->n_regions; i++) {
      const CnvRegion *region = &work->region[i];
      CnvMaskRect spot, inside;

      if (region->plan != plan || region->rect.width < 1 || region->rect.height < 1)
        continue;
      spot = make_spot(c, &region->rect, is_isolated(work) ? c->n : (int)plan);
      inside = clipped(&spot, 0, 0, &field);
      if (is_empty(&spot) || (is_isolated(work) && is_empty(&inside)))
        continue;
      c->plan[c->n] = (int)plan;
      c->window[c->n] = inside;
      c->spot[c->n] = spot;
      c->n += !join_near(c);
    }
}

/* ---- areas ---- */

static gboolean
has_layers(const Cutter *c, const Field *f)
{
  return f->n > 0 && !c->work->invert && c->spot[f->list[0]].layer != c->spot[f->list[f->n - 1]].layer;
}

/* The part of an area that a spot is in: of as many as there may be spots, in rows of four. */
static int
part_of(const CnvMaskRect *near, const CnvMaskRect *area)
{
  int x = CLAMP((near->x0 + near->x1) / 2, area->x0, area->x1 - 1) - area->x0;
  int y = CLAMP((near->y0 + near->y1) / 2, area->y0, area->y1 - 1) - area->y0;

  return y * (CNV_CROWD / 4) / (area->y1 - area->y0) * 4 + x * 4 / (area->x1 - area->x0);
}

/* Puts one spot in the place of those of a list whose nearest parts are in the same part of the area: a rectangle
 * around them, of the last one's layer and plan. It weighs at least as much as each. For the inverse, where to weigh
 * more is to filter less, that is the largest of them. Returns how many. */
static int
join_neighbours(Cutter *c, Field *f, guint16 *to)
{
  int part[CNV_MAX_REGIONS], last[CNV_CROWD], count = 0;
  CnvMaskRect joined[CNV_CROWD] = {{0}}, window[CNV_CROWD] = {{0}};

  for (int i = 0; i < f->n; i++) {
    CnvMaskRect near = nearest(&c->spot[f->list[i]], &f->area);
    int p = f->n <= CNV_CROWD ? i : part_of(&near, &f->area);

    part[i] = p;
    last[p] = i;
    if (c->work->invert && size_of(&near) > size_of(&joined[p]))
      joined[p] = near;
    else if (!c->work->invert)
      take_in(&joined[p], &near);
    take_in(&window[p], &c->window[f->list[i]]);
  }
  for (int i = 0; i < f->n; i++) {
    int p = part[i], k = c->n + count;

    if (last[p] != i)
      continue;
    c->spot[k] = c->spot[f->list[i]];
    c->spot[k].x0 = joined[p].x0;
    c->spot[k].y0 = joined[p].y0;
    c->spot[k].x1 = joined[p].x1;
    c->spot[k].y1 = joined[p].y1;
    c->plan[k] = c->plan[f->list[i]];
    c->window[k] = window[p];
    count++;
  }
  for (int i = 0; i < count; i++)
    to[i] = (guint16)(c->n + i);
  return count;
}

/* Has joined spots share the last one's layer and plan, and a window around all of theirs. */
static void
join_layers(Cutter *c, const Field *f)
{
  int last = f->list[f->n - 1];
  CnvMaskRect window = {0};

  for (int i = 0; i < f->n; i++)
    take_in(&window, &c->window[f->list[i]]);
  for (int i = 0; i < f->n; i++) {
    c->spot[f->list[i]].layer = c->spot[last].layer;
    c->plan[f->list[i]] = c->plan[last];
    c->window[f->list[i]] = window;
  }
}

/* The spots that matter in an area become few, of one layer, that hide no less. */
static void
join(Cutter *c, Field *f, guint16 *to)
{
  c->crowd = MAX(c->crowd, (guint)f->n);
  f->n = join_neighbours(c, f, to);
  f->list = to;
  if (!c->work->invert)
    join_layers(c, f);
}

static void cut_area(Cutter *c, const Field *around, CnvMaskRect area, int depth);

/* Along the axis that has more of the least. */
static void
halve(Cutter *c, const Field *f, int epsilon_x, int epsilon_y, int depth)
{
  CnvMaskRect a = f->area, b = f->area;

  if ((gint64)(a.x1 - a.x0) * epsilon_y >= (gint64)(a.y1 - a.y0) * epsilon_x)
    a.x1 = b.x0 = a.x0 + (a.x1 - a.x0) / 2;
  else
    a.y1 = b.y0 = a.y0 + (a.y1 - a.y0) / 2;
  cut_area(c, f, a, depth + 1);
  cut_area(c, f, b, depth + 1);
}

static void
cut_area(Cutter *c, const Field *around, CnvMaskRect area, int depth)
{
  guint16 *list = c->list[depth];
  Field f = {area, list, cnv_cutter_keep(c, around->list, around->n, &area, list)};
  int parts = c->exact ? 2 : 1;
  int epsilon_x = MAX(CNV_CROWD_WIDTH / parts, c->apron_x), epsilon_y = MAX(CNV_CROWD_HEIGHT / parts, c->apron_y);
  Mark before;
  gboolean least;

  c->cost += around->n * LOOK_COST;
  before = mark(c);
  if (c->exact && c->cost > c->budget)
    return;
  if (!c->work->invert)
    f.area = (CnvMaskRect){0};
  for (int i = 0; i < f.n && !c->work->invert; i++) {
    CnvMaskRect grown = clipped(&c->spot[list[i]], c->reach_x, c->reach_y, &area);

    take_in(&f.area, &grown);
  }
  least =
      depth + 1 == CNV_AREA_DEPTH || (f.area.x1 - f.area.x0 < 2 * epsilon_x && f.area.y1 - f.area.y0 < 2 * epsilon_y);
  if (least && !c->exact && (f.n > CNV_CROWD || has_layers(c, &f)))
    join(c, &f, list);
  if (f.n <= CNV_CROWD || least) {
    cnv_cutter_cut_layers(c, &f);
    if (least || c->cost - before.cost <= GOOD * cnv_cutter_cost(c, &f.area))
      return;
    undo(c, before);
  }
  halve(c, &f, epsilon_x, epsilon_y, depth);
}

/* ---- the work ---- */

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
  guint16 all[CNV_MAX_REGIONS];
  Field field = {whole_field(c), all, 0};

  c->reach_x = (int)ceil(work->feather / (1 << c->sub_x));
  c->reach_y = (int)ceil(work->feather / ((1 << c->sub_y) * c->job.fields));
  if (work->moved && work->n_regions > 0) {
    c->job.move_x = move_of(work->target_x, work->region[0].rect.x, c->sub_x);
    c->job.move_y = floor_div(move_of(work->target_y, work->region[0].rect.y, c->sub_y), c->job.fields);
  }
  collect_spots(c);
  for (; field.n < c->n; field.n++)
    all[field.n] = (guint16)field.n;
  cut_area(c, &field, field.area, 0);
}

static void
measure_aprons(Cutter *c, int plane)
{
  c->apron_x = c->apron_y = 0;
  for (guint i = 0; i < c->work->n_plans; i++) {
    const CnvPlanPlane *of = &c->work->plan[i]->plane[plane];

    for (int t = 0; t < of->n_terms; t++) {
      c->apron_x = MAX(c->apron_x, of->term[t].n[CNV_X] - 1);
      c->apron_y = MAX(c->apron_y, of->term[t].n[CNV_Y] - 1);
    }
  }
}

/* Cuts all planes, or until the budget is spent, which is set on the way. */
static void
cut_planes(Cutter *c)
{
  const CnvPlan *plan = c->work->plan[0];
  int fields = c->work->interlaced ? 2 : 1;

  g_array_set_size(c->jobs, 0);
  g_array_set_size(c->spots, 0);
  c->cost = 0;
  c->budget = BUDGET_LEAST;
  for (int p = 0; p < plan->n_planes; p++) {
    const CnvPlanPlane *plane = &plan->plane[p];

    c->sub_x = plane->sub_x;
    c->sub_y = plane->sub_y;
    measure_aprons(c, p);
    for (int field = 0; field < fields && plane->filtered; field++) {
      CnvMaskRect whole;

      c->width = plane->width;
      c->height = (plane->height - field + fields - 1) / fields;
      c->job = (CnvRectJob){.plane = p, .field = field, .fields = fields};
      c->job.width = c->job.window_width = c->width;
      c->job.height = c->job.window_height = c->height;
      if (c->height == 0)
        continue;
      whole = whole_field(c);
      c->budget += CNV_CROWD_WORK * cnv_cutter_cost(c, &whole);
      if (c->work->everything)
        g_array_append_val(c->jobs, c->job);
      else
        cut_field(c);
    }
  }
}

guint
cnv_rect_jobs_make(const CnvWork *work, GArray *jobs, GArray *spots)
{
  Cutter c = {.work = work, .jobs = jobs, .spots = spots, .exact = TRUE};

  cut_planes(&c);
  if (c.cost > c.budget) {
    c.exact = FALSE;
    cut_planes(&c);
  }
  return c.crowd;
}

static gboolean
same_regions(const CnvWorkKey *of, const CnvWork *work)
{
  const CnvWork *a = &of->work;

  return a->n_regions == work->n_regions && !a->invert == !work->invert && !a->isolated == !work->isolated &&
         a->feather == work->feather && !a->moved == !work->moved && a->target_x == work->target_x &&
         a->target_y == work->target_y &&
         (work->n_regions == 0 || memcmp(of->regions->data, work->region, work->n_regions * sizeof(CnvRegion)) == 0);
}

gboolean
cnv_rect_jobs_match(const CnvWorkKey *of, const CnvWork *work)
{
  return of->regions && !of->work.everything == !work->everything && !of->work.interlaced == !work->interlaced &&
         (work->everything || same_regions(of, work));
}

void
cnv_rect_jobs_set_of(CnvWorkKey *of, const CnvWork *work)
{
  if (!of->regions)
    of->regions = g_array_new(FALSE, FALSE, sizeof(CnvRegion));
  of->work = *work;
  g_array_set_size(of->regions, 0);
  if (!work->everything)
    g_array_append_vals(of->regions, work->region, work->n_regions);
}

void
cnv_rect_jobs_clear_of(CnvWorkKey *of)
{
  g_clear_pointer(&of->regions, g_array_unref);
}
