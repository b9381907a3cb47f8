/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The state of cutting one frame's work, private to jobs.c, which divides a plane into areas, to mask.c, which
 * cuts masks into parts, and to cutter.c, which cuts the layers of an area into jobs.
 */
#pragma once

#include "plan/regions/jobs.h"

/* Parts of masks, at most: together with the regions that are none. */
#define MAX_MASK_PARTS CNV_MAX_REGIONS
#define MAX_MASKS (CNV_MAX_REGIONS + MAX_MASK_PARTS)

/* An area, and the indices of the masks that matter in it. Masks are in order of precedence, the strongest last, and so
 * are all lists of their indices. */
typedef struct {
  CnvMaskRect rect;
  const guint16 *list;
  int n;
} Area;

/* One plane and field of the work that is being cut. */
typedef struct {
  const CnvWork *work;
  CnvJobs *made;
  guint room;          /* parts that a mask may be cut into */
  gboolean isolated;   /* each mask has a layer and a window of its own */
  gboolean exact;      /* regions are not joined, and cutting ends beyond the budget */
  double cost, budget; /* of all planes so far, in samples that are filtered; other work is counted as so many */
  CnvJob job;          /* the members that all jobs of this plane, field and layer have in common */
  int sub_x, sub_y;
  CnvMaskRect field;           /* all of it, from 0, 0 on */
  int reach_x, reach_y;        /* samples that a feather goes beyond a region */
  int apron_x, apron_y;        /* of the widest filter, both sides together */
  CnvMaskRect rect[CNV_CROWD]; /* to be cut, clipped to the area, by their left edge */
  GArray *pieces;              /* CnvMaskRect: that these, or a mask, are cut into */
  int n;
  CnvMaskRect mask[MAX_MASKS + CNV_CROWD];   /* n of regions, then those joined in the area at hand */
  int plan[MAX_MASKS + CNV_CROWD];           /* of each mask */
  CnvMaskRect window[MAX_MASKS + CNV_CROWD]; /* isolated: each mask's filter reads what of it is in the field */
  guint64 key[MAX_MASKS];                    /* not exact: corner and size of each mask, rounded */
  guint16 selected[MAX_MASKS];               /* masks of the job that is added */
} Cutter;

static inline gboolean
is_empty(const CnvMaskRect *s)
{
  return s->x0 >= s->x1 || s->y0 >= s->y1;
}

/* The part of an area within reach of a rectangle. */
static inline CnvMaskRect
clipped(const CnvMaskRect *s, int reach_x, int reach_y, const CnvMaskRect *area)
{
  CnvMaskRect to = *s;

  to.x0 = CLAMP(s->x0 - reach_x, area->x0, area->x1);
  to.x1 = CLAMP(s->x1 + reach_x, area->x0, area->x1);
  to.y0 = CLAMP(s->y0 - reach_y, area->y0, area->y1);
  to.y1 = CLAMP(s->y1 + reach_y, area->y0, area->y1);
  return to;
}

/* Grows an area so that it contains another, unless that is empty. */
static inline void
extend(CnvMaskRect *area, const CnvMaskRect *other)
{
  if (is_empty(other))
    return;
  if (is_empty(area)) {
    *area = *other;
    return;
  }
  area->x0 = MIN(area->x0, other->x0);
  area->y0 = MIN(area->y0, other->y0);
  area->x1 = MAX(area->x1, other->x1);
  area->y1 = MAX(area->y1, other->y1);
}

/* TRUE where all samples of its rectangle weigh 1. */
static inline gboolean
is_full(const CnvMaskRect *s)
{
  return s->shape == CNV_SHAPE_RECTANGLE;
}

static inline gboolean
contains(const CnvMaskRect *a, const CnvMaskRect *b)
{
  return a->x0 <= b->x0 && a->y0 <= b->y0 && a->x1 >= b->x1 && a->y1 >= b->y1;
}

static inline double
size_of(const CnvMaskRect *s)
{
  return (double)(s->x1 - s->x0) * (s->y1 - s->y0);
}

/* The smallest mask that weighs as much as this one everywhere in the area. */
static inline CnvMaskRect
nearest(const CnvMaskRect *s, const CnvMaskRect *area)
{
  CnvMaskRect to = *s;

  to.x0 = MIN(MAX(s->x0, area->x0), s->x1 - 1);
  to.y0 = MIN(MAX(s->y0, area->y0), s->y1 - 1);
  to.x1 = MAX(MIN(s->x1, area->x1), s->x0 + 1);
  to.y1 = MAX(MIN(s->y1, area->y1), s->y0 + 1);
  return to;
}

/* Takes back all jobs and masks beyond so many. */
static inline void
undo(Cutter *c, guint n_jobs, guint n_masks, double cost)
{
  g_array_set_size(c->made->jobs, n_jobs);
  g_array_set_size(c->made->mask_rects, n_masks);
  c->cost = cost;
}

/* mask.c: takes over the masks of the work. FALSE where they are those that it had. */
gboolean cnv_mask_take_all(CnvJobs *to, const CnvWork *work);

/* mask.c: makes a rectangle in the plane and field at hand one of its region's mask. FALSE where that is not among the
 * work's. */
gboolean cnv_mask_place(Cutter *c, const CnvRegion *region, CnvMaskRect *to);

/* mask.c: cuts a rectangle with its region's mask into parts: those of weight 1 throughout, or those of weight between,
 * which stay masks; what weighs 0 is left out. Adds at most c->room of both kinds together, at least 1; the more room,
 * the closer they follow the mask. Returns the number added. */
int cnv_mask_cut(const Cutter *c, const CnvRegion *region, const CnvMaskRect *rect, gboolean full, CnvMaskRect *to);

/* The part of an area where a mask may have a weight. */
CnvMaskRect cnv_cutter_reach(const Cutter *c, const CnvMaskRect *s, const CnvMaskRect *area);

/* Cost of filtering every sample of an area once. */
double cnv_cutter_cost(const Cutter *c, const CnvMaskRect *area);

/* Selects the masks of a list that may decide a weight somewhere in the area, and returns how many these are. The
 * others do not reach it, lie inside the largest rectangle and yield to it, or weigh less than the smallest weight of
 * another. */
int cnv_cutter_select(const Cutter *c, const guint16 *from, int n, const CnvMaskRect *area, guint16 *to);

/* Adds a rectangle to the pieces, as the rest of one that ends above it where that has the same columns and shape. */
void cnv_cutter_add_piece(const Cutter *c, CnvMaskRect new);

/* Cuts each layer of an area into jobs. Ends early where the budget is spent. */
void cnv_cutter_cut_layers(Cutter *c, const Area *area);
