/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * What cutting one frame's work has at hand, private to it: rect_jobs.c divides the work into areas, cutter.c cuts the
 * layers of an area into jobs.
 */
#pragma once

#include <convolve/work.h>

#include "plan/rect_job.h"

G_BEGIN_DECLS

#define CNV_AREA_DEPTH 22 /* of areas within areas: planes of up to 2^10 least ones along each axis, and the plane */

typedef struct {
  int x0, x1;
} Interval;

typedef struct {
  Interval columns;
  int from; /* the row that it began in */
} Open;

/* One plane and field of the work that is being cut. Lists of spots are of indices in ascending order, which is that of
 * precedence. */
typedef struct {
  const CnvWork *work;
  GArray *jobs, *spots;
  gboolean exact;      /* regions are not joined, and cutting ends beyond the budget */
  double cost, budget; /* samples read, and what stands for other work, of all planes */
  guint crowd;         /* the most regions in an area where they were joined */
  CnvRectJob job;      /* what all jobs of this plane, field and layer have in common */
  int sub_x, sub_y;
  int width, height; /* of the field */
  int reach_x, reach_y;
  int apron_x, apron_y; /* of the widest filter, both sides together */
  int n;
  CnvMaskRect spot[CNV_MAX_REGIONS + CNV_CROWD]; /* by precedence; those beyond n are joined ones of the area at hand */
  int plan[CNV_MAX_REGIONS + CNV_CROWD];         /* of each */
  guint64 key[CNV_MAX_REGIONS];                  /* joined: where it is, roughly */
  CnvMaskRect window[CNV_MAX_REGIONS + CNV_CROWD]; /* isolated: what each may read */
  guint16 list[CNV_AREA_DEPTH][CNV_MAX_REGIONS];   /* that matter in the area at hand and in those around it */
  guint16 kept[CNV_MAX_REGIONS];                   /* that matter in a job */
  CnvMaskRect rect[CNV_CROWD];                     /* that are swept, clipped, by their left edge */
  int edge[2 * CNV_CROWD + 2];                     /* rows where a rectangle begins or ends */
  Open open[CNV_CROWD + 1];                        /* by their left edge */
  Open next[CNV_CROWD + 1];
  Interval now[CNV_CROWD + 1];
} Cutter;

/* What is swept: an area, and the spots that matter there, for jobs. */
typedef struct {
  CnvMaskRect area;
  const guint16 *list;
  int n;
} Field;

static inline gboolean
is_empty(const CnvMaskRect *s)
{
  return s->x0 >= s->x1 || s->y0 >= s->y1;
}

/* A spot's part of an area, with what lies around it within reach. */
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

static inline CnvMaskRect
whole_field(const Cutter *c)
{
  return (CnvMaskRect){0, 0, c->width, c->height};
}

/* Grows an area so that it contains another, unless that is empty. */
static inline void
take_in(CnvMaskRect *area, const CnvMaskRect *other)
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

/* A spot that weighs as much everywhere in the area, and is no larger than that takes. */
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

typedef struct {
  guint jobs, spots;
  double cost;
} Mark;

static inline Mark
mark(const Cutter *c)
{
  return (Mark){c->jobs->len, c->spots->len, c->cost};
}

static inline void
undo(Cutter *c, Mark to)
{
  g_array_set_size(c->jobs, to.jobs);
  g_array_set_size(c->spots, to.spots);
  c->cost = to.cost;
}

/* Of an area that is filtered once. */
double cnv_cutter_cost(const Cutter *c, const CnvMaskRect *area);

/* Takes over those of a list that may count somewhere in the area. Left out are, beside those that do not reach it, the
 * ones within the largest that it takes precedence over, and those that weigh less than another at its least. Returns
 * how many. */
int cnv_cutter_keep(const Cutter *c, const guint16 *from, int n, const CnvMaskRect *area, guint16 *to);

/* Cuts the layers that a list has, which is all of what counts in an area. Ends early where the budget is spent. */
void cnv_cutter_cut_layers(Cutter *c, const Field *f);

G_END_DECLS
