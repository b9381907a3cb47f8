/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * From the regions of a frame's work to jobs: rectangles that do not overlap within a layer, each filtered by one plan.
 *
 * Regions become masks, the rectangles of samples that they touch in one plane and field; one with a mask of its own
 * becomes several, cut by their weights (mask.c). A mask belongs to a layer: that of its plan and of those that weigh 1
 * throughout, or not, or where regions are isolated one of its own. The strongest mask comes last.
 *
 * An area is the field at first. Masks that decide no weight in it, because others hide them, are left out. Where few
 * are left, or cutting it costs little more than filtering it once, its layers are cut into jobs (cutter.c); else it is
 * halved, along its longer side, and each half is an area.
 *
 * The budget is CNV_CROWD_WORK times the work of the whole frame. A crowd of regions can give far more jobs than
 * regions, each with many masks to weigh. Cutting ends once the budget is spent, and all is cut again by other rules:
 * areas end at a smallest size, and in one that still has too many masks or several layers these are joined into few
 * masks of one layer. So the work is bounded whatever the regions are; work.h tells what it costs.
 */
#include <math.h>
#include <string.h>

#include "plan/arith.h"
#include "plan/cutter.h"
#include "plan/plan.h"

/* Far outside any frame, and far inside of int. */
#define FAR (1 << 24)

#define MAX_OVERHEAD 2 /* an area is halved where its jobs cost more than so many times its own work */
#define SELECT_COST 40 /* of testing one mask against an area, in samples that are filtered */
#define MIN_BUDGET 4e6 /* samples: a small frame is done in no time anyway */
#define PARTS_MAX 128  /* of a mask */

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

/* A mask over the samples of the plane's field that a rectangle touches. */
static CnvMaskRect
make_mask(const Cutter *c, const CnvRect *rect, int layer)
{
  int sx = 1 << c->sub_x, sy = 1 << c->sub_y, field = c->job.field, fields = c->job.fields;
  int top = floor_div(rect->y, sy), bottom = ceil_div((gint64)rect->y + rect->height, sy);
  double feather = c->work->feather;

  return (CnvMaskRect){.x0 = floor_div(rect->x, sx),
                       .y0 = ceil_div(top - field, fields),
                       .x1 = ceil_div((gint64)rect->x + rect->width, sx),
                       .y1 = ceil_div(bottom - field, fields),
                       .layer = layer,
                       .shape = CNV_SHAPE_RECTANGLE,
                       .fade_x = (float)(1 / (feather / sx + 1)),
                       .fade_y = (float)(1 / (feather / (sy * fields) + 1))};
}

/* With invert the filtered part is no rectangle, and so has no edge at which a border could begin. Cells of a mosaic
 * begin at each region's corner. */
static gboolean
is_isolated(const CnvWork *work)
{
  return !work->invert && (work->isolated || work->plan[0]->filter.type == CNV_FILTER_MOSAIC);
}

/* Corner and size of the part of a mask that counts, in units of x columns and y rows. */
static guint64
key_of(const Cutter *c, const CnvMaskRect *mask, int x, int y)
{
  const CnvMaskRect reached = {-c->reach_x, -c->reach_y, c->field.x1 + c->reach_x, c->field.y1 + c->reach_y};
  const CnvMaskRect s = nearest(mask, &reached);
  const int number[] = {s.x0 / x, (s.x1 - s.x0) / x, s.y0 / y, (s.y1 - s.y0) / y};
  guint64 key = 0;

  for (gsize i = 0; i < G_N_ELEMENTS(number); i++)
    key = key << 16 | (guint16)number[i];
  return key;
}

/* Makes a mask one of two that hides no less than both: the rectangle around them, which weighs at least as much as
 * each, or with invert, where a larger weight means less filtering, the larger of them; ellipses and parts of masks do
 * not count there. */
static void
absorb(const Cutter *c, CnvMaskRect *mask, const CnvMaskRect *other)
{
  if (!c->work->invert) {
    if (!is_empty(mask)) {
      mask->fade_x = MIN(mask->fade_x, other->fade_x);
      mask->fade_y = MIN(mask->fade_y, other->fade_y);
    }
    extend(mask, other);
    mask->shape = CNV_SHAPE_RECTANGLE;
  } else if (is_full(other) && size_of(other) > size_of(mask)) {
    *mask = *other;
  }
}

/* Joins the mask collected last to an earlier one of the same plan (or to any, where regions are isolated) whose corner
 * and size are so near that their fades hardly differ. Only where regions are joined at all and fade out slowly: a
 * crowd in one corner then is a few masks wherever it reaches. Returns TRUE where it was joined. */
static gboolean
join_near(Cutter *c)
{
  const CnvMaskRect *new = &c->mask[c->n];
  int x = c->reach_x / CNV_CROWD_FADE, y = c->reach_y / CNV_CROWD_FADE;

  if (c->exact || x < 2 || y < 2 || (c->work->invert && !is_full(new)))
    return FALSE;
  c->key[c->n] = key_of(c, new, x, y);
  for (int i = 0; i < c->n; i++) {
    if (c->key[i] != c->key[c->n] || (!c->isolated && c->plan[i] != c->plan[c->n]))
      continue;
    c->plan[i] = c->plan[c->n]; /* the same or, of an isolated one, a later plan */
    c->made->crowd = MAX(c->made->crowd, 2);
    extend(&c->window[i], &c->window[c->n]);
    absorb(c, &c->mask[i], new);
    return TRUE;
  }
  return FALSE;
}

/* Adds the masks of a region that weigh 1 throughout, or those that do not. An isolated region outside the plane has no
 * sample to read, and is left out. */
static void
collect_region(Cutter *c, const CnvRegion *region, gboolean full)
{
  CnvMaskRect mask = make_mask(c, &region->rect, c->isolated ? c->n : 2 * (int)region->plan + full), inside;
  CnvMaskRect *part = &c->mask[c->n];
  int n = 0;

  inside = clipped(&mask, 0, 0, &c->field);
  if (is_empty(&mask) || (c->isolated && is_empty(&inside)))
    return;
  if (region->shape == CNV_SHAPE_ELLIPSE)
    mask.shape = CNV_SHAPE_ELLIPSE;
  if (region->shape == CNV_SHAPE_MASK && cnv_mask_place(c, region, &inside))
    n = cnv_mask_cut(c, region, &inside, full, part);
  else if (is_full(&mask) == full && !(region->shape == CNV_SHAPE_MASK && c->work->invert))
    part[n++] = mask;
  for (int i = 0; i < n; i++) {
    CnvMaskRect next = part[i];

    c->plan[c->n] = (int)region->plan;
    c->window[c->n] = mask;
    c->mask[c->n] = next;
    c->n += !join_near(c);
  }
}

/* Collects all regions as masks, those of a later plan after those of an earlier one, and those that weigh 1 throughout
 * after others of the same plan. */
static void
collect_masks(Cutter *c)
{
  const CnvWork *work = c->work;

  c->n = 0;
  for (guint k = 0; k < 2 * work->n_plans; k++)
    for (guint i = 0; i < work->n_regions; i++) {
      const CnvRegion *region = &work->region[i];

      if (region->plan == k / 2 && region->rect.width > 0 && region->rect.height > 0)
        collect_region(c, region, k % 2);
    }
}

/* ---- areas ---- */

static gboolean
has_layers(const Cutter *c, const Area *area)
{
  return area->n > 0 && !c->work->invert && c->mask[area->list[0]].layer != c->mask[area->list[area->n - 1]].layer;
}

/* Number of the part of an area that holds the middle of a mask: CNV_CROWD parts, in rows of four. */
static int
part_of(const CnvMaskRect *near, const CnvMaskRect *area)
{
  int x = CLAMP((near->x0 + near->x1) / 2, area->x0, area->x1 - 1) - area->x0;
  int y = CLAMP((near->y0 + near->y1) / 2, area->y0, area->y1 - 1) - area->y0;

  return y * (CNV_CROWD / 4) / (area->y1 - area->y0) * 4 + x * 4 / (area->x1 - area->x0);
}

/* Joins the masks in each part of an area into one, all of the last one's layer and plan, with one window around
 * theirs.
 */
static void
join(Cutter *c, Area *area, guint16 *to)
{
  int last = area->list[area->n - 1], n = 0;
  CnvMaskRect joined[CNV_CROWD] = {{0}}, window = {0};

  for (int i = 0; i < area->n; i++) {
    CnvMaskRect near = nearest(&c->mask[area->list[i]], &area->rect);

    extend(&window, &c->window[area->list[i]]);
    absorb(c, &joined[area->n <= CNV_CROWD ? i : part_of(&near, &area->rect)], &near);
  }
  c->made->crowd = MAX(c->made->crowd, (guint)area->n);
  for (int i = 0; i < CNV_CROWD; i++) {
    if (is_empty(&joined[i]))
      continue;
    to[n] = (guint16)(c->n + n);
    c->mask[c->n + n] = joined[i];
    c->mask[c->n + n].layer = c->mask[last].layer;
    c->plan[c->n + n] = c->plan[last];
    c->window[c->n + n++] = window;
  }
  area->list = to;
  area->n = n;
}

static void cut_area(Cutter *c, const Area *around, CnvMaskRect rect);

/* Along the axis that has more of the smallest size. */
static void
halve(Cutter *c, const Area *area, int least_x, int least_y)
{
  CnvMaskRect a = area->rect, b = area->rect;

  if ((gint64)(a.x1 - a.x0) * least_y >= (gint64)(a.y1 - a.y0) * least_x)
    a.x1 = b.x0 = a.x0 + (a.x1 - a.x0) / 2;
  else
    a.y1 = b.y0 = a.y0 + (a.y1 - a.y0) / 2;
  cut_area(c, area, a);
  cut_area(c, area, b);
}

static void
cut_area(Cutter *c, const Area *around, CnvMaskRect rect)
{
  guint16 *list = g_newa(guint16, MAX(around->n, CNV_CROWD));
  Area area = {rect, list, cnv_cutter_select(c, around->list, around->n, &rect, list)};
  int parts = c->exact ? 2 : 1;
  int least_x = MAX(CNV_CROWD_WIDTH / parts, c->apron_x), least_y = MAX(CNV_CROWD_HEIGHT / parts, c->apron_y);
  guint n_jobs = c->made->jobs->len, n_masks = c->made->mask_rects->len;
  double cost = c->cost += around->n * SELECT_COST;
  gboolean least;

  if (c->exact && c->cost > c->budget)
    return;
  if (!c->work->invert)
    area.rect = (CnvMaskRect){0};
  for (int i = 0; i < area.n && !c->work->invert; i++) {
    CnvMaskRect reached = cnv_cutter_reach(c, &c->mask[list[i]], &rect);

    extend(&area.rect, &reached);
  }
  least = area.rect.x1 - area.rect.x0 < 2 * least_x && area.rect.y1 - area.rect.y0 < 2 * least_y;
  if (least && !c->exact && (area.n > CNV_CROWD || has_layers(c, &area)))
    join(c, &area, list);
  if (area.n <= CNV_CROWD || least) {
    cnv_cutter_cut_layers(c, &area);
    if (least || c->cost - cost <= MAX_OVERHEAD * cnv_cutter_cost(c, &area.rect))
      return;
    undo(c, n_jobs, n_masks, cost);
  }
  halve(c, &area, least_x, least_y);
}

/* ---- the work ---- */

/* Samples of the plane that a region is moved by along an axis. */
static int
move_of(int target, int from, int sub)
{
  return floor_div(target, 1 << sub) - floor_div(from, 1 << sub);
}

static void
cut_field(Cutter *c)
{
  const CnvWork *work = c->work;
  guint16 all[MAX_MASKS];
  Area field = {c->field, all, 0};

  c->reach_x = (int)ceil(work->feather / (1 << c->sub_x));
  c->reach_y = (int)ceil(work->feather / ((1 << c->sub_y) * c->job.fields));
  if (work->moved && work->n_regions > 0) {
    c->job.move_x = move_of(work->target_x, work->region[0].rect.x, c->sub_x);
    c->job.move_y = floor_div(move_of(work->target_y, work->region[0].rect.y, c->sub_y), c->job.fields);
  }
  collect_masks(c);
  for (; field.n < c->n; field.n++)
    all[field.n] = (guint16)field.n;
  cut_area(c, &field, c->field);
}

static void
measure_aprons(Cutter *c, int plane)
{
  c->apron_x = c->apron_y = 0;
  for (guint i = 0; i < c->work->n_plans; i++) {
    const CnvPlane *of = &c->work->plan[i]->plane[plane];

    for (int t = 0; t < of->n_terms; t++) {
      c->apron_x = MAX(c->apron_x, cnv_plane_extent(of, t, CNV_X) - 1);
      c->apron_y = MAX(c->apron_y, cnv_plane_extent(of, t, CNV_Y) - 1);
    }
  }
}

/* Cuts the planes one after the other and sets the budget on the way; ends early where it is spent. */
static void
cut_planes(Cutter *c)
{
  const CnvPlan *plan = c->work->plan[0];
  int fields = c->work->interlaced ? 2 : 1;

  g_array_set_size(c->made->jobs, 0);
  g_array_set_size(c->made->mask_rects, 0);
  g_array_set_size(c->made->places, 0);
  c->cost = 0;
  c->budget = MIN_BUDGET;
  for (int p = 0; p < plan->n_planes; p++) {
    const CnvPlane *plane = &plan->plane[p];

    c->sub_x = plane->sub_x;
    c->sub_y = plane->sub_y;
    measure_aprons(c, p);
    for (int field = 0; field < fields && plane->filtered; field++) {
      c->field = (CnvMaskRect){.x1 = plane->width, .y1 = cnv_divide_up(plane->height - field, fields)};
      c->job = (CnvJob){.plane = p, .field = field, .fields = fields};
      c->job.width = c->job.window_width = c->field.x1;
      c->job.height = c->job.window_height = c->field.y1;
      if (is_empty(&c->field))
        continue;
      c->budget += CNV_CROWD_WORK * cnv_cutter_cost(c, &c->field);
      if (c->work->everything)
        g_array_append_val(c->made->jobs, c->job);
      else
        cut_field(c);
    }
  }
}

/* Parts that each mask may be cut into. */
static guint
share_parts(const CnvWork *work)
{
  int n = 1;

  for (guint i = 0; i < work->n_regions && !work->everything; i++)
    n += work->region[i].shape == CNV_SHAPE_MASK;
  return CLAMP(MAX_MASK_PARTS / n, 1, PARTS_MAX);
}

void
cnv_jobs_init(CnvJobs *to)
{
  *to = (CnvJobs){.jobs = g_array_new(FALSE, FALSE, sizeof(CnvJob)),
                  .mask_rects = g_array_new(FALSE, FALSE, sizeof(CnvMaskRect)),
                  .places = g_array_new(FALSE, FALSE, sizeof(CnvMaskPlace)),
                  .cells = g_byte_array_new(),
                  .masks = g_ptr_array_new(),
                  .regions = g_array_new(FALSE, FALSE, sizeof(CnvRegion))};
}

void
cnv_jobs_clear(CnvJobs *of)
{
  g_array_unref(of->jobs);
  g_array_unref(of->mask_rects);
  g_array_unref(of->places);
  g_byte_array_unref(of->cells);
  g_ptr_array_unref(of->masks);
  g_array_unref(of->regions);
}

gboolean
cnv_jobs_make(CnvJobs *to, const CnvWork *work)
{
  g_autoptr(GArray) pieces = g_array_new(FALSE, FALSE, sizeof(CnvMaskRect));
  Cutter c = {.work = work,
              .made = to,
              .room = share_parts(work),
              .isolated = is_isolated(work),
              .exact = TRUE,
              .pieces = pieces};
  gboolean new_masks = cnv_mask_take_all(to, work);

  to->crowd = 0;
  to->work = *work;
  g_array_set_size(to->regions, 0);
  if (!work->everything)
    g_array_append_vals(to->regions, work->region, work->n_regions);
  cut_planes(&c);
  if (c.cost > c.budget) {
    c.exact = FALSE;
    cut_planes(&c);
  }
  return new_masks;
}

gboolean
cnv_jobs_match(const CnvJobs *of, const CnvWork *work)
{
  const CnvWork *a = &of->work;

  if (a->n_plans == 0 || !a->everything != !work->everything || !a->interlaced != !work->interlaced)
    return FALSE;
  return work->everything ||
         (a->n_regions == work->n_regions && !a->invert == !work->invert && !a->isolated == !work->isolated &&
          a->feather == work->feather && !a->moved == !work->moved && a->target_x == work->target_x &&
          a->target_y == work->target_y &&
          (work->n_regions == 0 || memcmp(of->regions->data, work->region, work->n_regions * sizeof(CnvRegion)) == 0));
}
