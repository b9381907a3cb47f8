/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The state of cutting one frame's work into jobs, private to this folder. It lies on the heap and is used again.
 */
#pragma once

#include "plan/plan.h"
#include "plan/regions/jobs.h"

/* Far outside any frame, and far inside of int. */
#define CNV_FAR (1 << 24)

/* Samples from (x0, y0) up to but without (x1, y1). */
typedef struct {
  int x0, y0, x1, y1;
} CnvBox;

/* A plan, the window that it may read, and where the cells of a mosaic begin. */
typedef struct {
  int plan;
  CnvBox window;
  int cells_x, cells_y;
  int cover; /* that weighs what the filter reads, as in CnvJob; CNV_COVER_OWN: all has weight 1 */
} CnvLayer;

/* A cell while shapes are added to it, from the strongest to the weakest. */
typedef struct {
  int n, first;     /* shapes, and the entry of the one added last; -1: none */
  int met;          /* shapes that reach it, also those that were not added */
  gboolean closed;  /* weaker shapes decide nothing, or do not count */
  gboolean inside;  /* the shape added last has weight 1 in all of it */
  gboolean crowded; /* it has more shapes than count */
} CnvCellShapes;

typedef struct {
  guint16 shape;
  int next; /* entry of the next stronger one; -1: none */
} CnvEntry;

/* The part of a cell that a layer filters. */
typedef struct {
  int layer, row, column;
  CnvBox box;
  gboolean soft;  /* not all of it has weight 1 */
  gboolean whole; /* CnvJob.whole */
} CnvPiece;

/* How much counts. Each level is tried if the one before costs too much. */
typedef enum {
  CNV_CUT_EXACT,  /* everything */
  CNV_CUT_SIMPLE, /* few shapes in a cell, and its strongest plan */
  CNV_CUT_WHOLE,  /* the same, and one job of the strongest plan for each plane and field */
  CNV_N_CUTS
} CnvCut;

typedef struct CnvCutting {
  const CnvWork *work;
  CnvJobs *made;
  CnvCut cut;
  gboolean isolated;   /* each region is a layer */
  guint whole, few;    /* as in cnv_jobs_make */
  gboolean is_weighed; /* the plans are for normalised convolution */
  double cost, budget; /* of all planes so far, in samples that are filtered; other work is counted as so many */
  GArray *order;       /* guint16: regions from the weakest to the strongest */
  GPtrArray *placed;   /* CnvMask of each of made->places */

  /* Of the plane and field at hand. */
  CnvJob job; /* the members that all jobs have in common */
  int sub_x, sub_y;
  int width, height;
  int apron_x, apron_y; /* samples that the widest filter reads around a job, both sides together */
  CnvBox reach;         /* and of each side, at most */
  CnvGrid grid;
  int rows;            /* of cells */
  GArray *layers;      /* CnvLayer: of each plan in a window of all the field, then of isolated regions */
  GArray *cell_shapes; /* CnvCellShapes */
  GArray *entries;     /* CnvEntry */
  GArray *pieces;      /* CnvPiece */
  GArray *joined;      /* CnvPiece: rectangles of several */
  GArray *column_jobs; /* int: by column, the last job of the layer there; -1: none */
} CnvCutting;

static inline gboolean
cnv_box_is_empty(const CnvBox *b)
{
  return b->x0 >= b->x1 || b->y0 >= b->y1;
}

static inline CnvBox
cnv_box_intersect(const CnvBox *a, const CnvBox *b)
{
  return (CnvBox){MAX(a->x0, b->x0), MAX(a->y0, b->y0), MIN(a->x1, b->x1), MIN(a->y1, b->y1)};
}

/* The box around two, of which neither is empty. */
static inline CnvBox
cnv_box_unite(const CnvBox *a, const CnvBox *b)
{
  return (CnvBox){MIN(a->x0, b->x0), MIN(a->y0, b->y0), MAX(a->x1, b->x1), MAX(a->y1, b->y1)};
}

static inline double
cnv_box_area(const CnvBox *b)
{
  return (double)(b->x1 - b->x0) * (b->y1 - b->y0);
}

/* All of the plane's field. */
static inline CnvBox
cnv_cutting_field(const CnvCutting *c)
{
  return (CnvBox){0, 0, c->width, c->height};
}

/* The cell at a column and row of cells. */
static inline CnvBox
cnv_cutting_cell(const CnvCutting *c, int column, int row)
{
  CnvBox cell = {.x0 = column * CNV_CELL_WIDTH, .y0 = row * CNV_CELL_HEIGHT};

  cell.x1 = MIN(cell.x0 + CNV_CELL_WIDTH, c->width);
  cell.y1 = MIN(cell.y0 + CNV_CELL_HEIGHT, c->height);
  return cell;
}

/* The samples in which a shape may have a weight. */
static inline CnvBox
cnv_shape_box(const CnvPlaneShape *s)
{
  int x = (int)ceilf(s->reach_x) - 1, y = (int)ceilf(s->reach_y) - 1;

  return (CnvBox){s->x0 - x, s->y0 - y, s->x1 + x, s->y1 + y};
}

static inline gboolean
cnv_shape_is_hard(const CnvPlaneShape *s)
{
  return s->shape == CNV_SHAPE_RECTANGLE && s->reach_x == 1 && s->reach_y == 1;
}

/* shapes.c: puts the regions in order. */
void cnv_cutting_sort(CnvCutting *c);

/* shapes.c: makes the shape of a region in the plane and field, and its layer. FALSE if it has no weight there. */
gboolean cnv_cutting_shape(CnvCutting *c, guint region, CnvPlaneShape *shape);

/* cells.c: makes the grid of the plane's field, gives its cells the shapes of the regions, and finds the pieces. */
void cnv_cutting_make_cells(CnvCutting *c);

/* mask.c: takes over the masks of the work. FALSE if it has them already. */
gboolean cnv_masks_take(CnvJobs *to, const CnvWork *work);

/* mask.c: makes the shape, which is the part of a region's rectangle in the field, one of the region's mask. FALSE if
 * that is not among the work's. */
gboolean cnv_mask_place(CnvCutting *c, const CnvRegion *region, CnvPlaneShape *shape);

typedef enum { CNV_OUTSIDE, CNV_SOFT, CNV_INSIDE } CnvTouch;

/* mask.c: how a mask meets a box of the shape's samples. */
CnvTouch cnv_mask_touch(const CnvCutting *c, const CnvPlaneShape *shape, const CnvBox *box);
