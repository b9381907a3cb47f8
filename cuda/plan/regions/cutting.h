/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The state while the work on a frame is cut into jobs, private to this folder. It is on the heap and is reused for the
 * next frame.
 */
#pragma once

#include "plan/plan.h"
#include "plan/regions/jobs.h"

/* A coordinate far outside any frame, and far within the range of int. */
#define CNV_FAR (1 << 24)

/* Samples from (x0, y0) up to, but not including, (x1, y1). */
typedef struct {
  int x0, y0, x1, y1;
} CnvBox;

/* A plan, the window that it may read, and the corner of a mosaic's first cell. */
typedef struct {
  int plan;
  CnvBox window;
  int cells_x, cells_y;
  int cover; /* weights of the samples that the filter reads, as in CnvJob.cover; CNV_COVER_OWN: all have weight 1 */
} CnvLayer;

/* A cell while shapes are added to it, from the strongest to the weakest. */
typedef struct {
  int n, first;     /* number of shapes; entry of the shape added last, -1: none */
  int met;          /* number of shapes that reach it, added or not */
  gboolean closed;  /* no weaker shapes are added */
  gboolean inside;  /* the shape added last has weight 1 in the whole cell */
  gboolean crowded; /* more shapes reach it than may be added */
} CnvCellShapes;

typedef struct {
  guint16 shape;
  int next; /* entry of the cell's next stronger shape; -1: none */
} CnvEntry;

/* The part of a cell that a layer filters. */
typedef struct {
  int layer, row, column;
  CnvBox box;
  gboolean soft;  /* it needs coverage */
  gboolean whole; /* CnvJob.whole */
} CnvPiece;

/* How exactly regions are cut. Each level is tried if the level before costs too much. */
typedef enum {
  CNV_CUT_EXACT,  /* all shapes count */
  CNV_CUT_SIMPLE, /* in a cell, at most CNV_CROWD shapes count, and only the strongest plan */
  CNV_CUT_WHOLE,  /* as CNV_CUT_SIMPLE, but one job per plane and field, by the strongest plan */
  CNV_N_CUTS
} CnvCut;

typedef struct CnvCutting {
  const CnvWork *work;
  CnvJobs *jobs;
  CnvCut cut;
  gboolean isolated;     /* each region is a layer */
  guint whole, max_jobs; /* as in cnv_jobs_make */
  gboolean is_weighed;   /* the plans are for normalised convolution */
  double cost, budget;   /* of all planes so far, and its limit; filtering a sample costs 1 */
  GArray *order;         /* guint16: indices of regions, from the weakest to the strongest */
  GPtrArray *placed;     /* CnvMask of each element of jobs->places */

  /* The current plane and field: */
  CnvJob job; /* members that are equal in all jobs */
  int sub_x, sub_y;
  int width, height;
  int apron_x, apron_y; /* samples that the widest filter reads beside a job, sum of both sides */
  CnvBox reach;         /* most samples that a filter reads beside a job, on each side */
  CnvGrid grid;
  int rows;            /* of cells */
  GArray *layers;      /* CnvLayer: one per plan with the field as window, then one per isolated region */
  GArray *cell_shapes; /* CnvCellShapes */
  GArray *entries;     /* CnvEntry */
  GArray *pieces;      /* CnvPiece */
  GArray *joined;      /* CnvPiece: joined into rectangles */
  GArray *column_jobs; /* int: the layer's last job in each column of cells; -1: none */
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

/* Returns the box around two boxes that are not empty. */
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

/* Returns the box of the whole field. */
static inline CnvBox
cnv_cutting_field(const CnvCutting *c)
{
  return (CnvBox){0, 0, c->width, c->height};
}

/* Returns the box of the cell at a column and row of cells. */
static inline CnvBox
cnv_cutting_cell(const CnvCutting *c, int column, int row)
{
  CnvBox cell = {.x0 = column * CNV_CELL_WIDTH, .y0 = row * CNV_CELL_HEIGHT};

  cell.x1 = MIN(cell.x0 + CNV_CELL_WIDTH, c->width);
  cell.y1 = MIN(cell.y0 + CNV_CELL_HEIGHT, c->height);
  return cell;
}

/* Returns the box outside which a shape has no weight. */
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

/* Sorts the regions by strength (shapes.c). */
void cnv_cutting_sort(CnvCutting *c);

/* Makes the shape of a region in the plane and field, and its layer if regions are isolated (shapes.c). Returns FALSE
 * if the region has no weight there. */
gboolean cnv_cutting_shape(CnvCutting *c, guint region, CnvPlaneShape *shape);

/* Makes the grid of the field, adds the shapes of the regions to its cells, and finds the pieces (cells.c). */
void cnv_cutting_make_cells(CnvCutting *c);

/* Copies the masks of the work (mask.c). Returns FALSE if `to` has the same masks already. */
gboolean cnv_masks_take(CnvJobs *to, const CnvWork *work);

/* Gives a shape the weights of a region's mask (mask.c). The shape is the part of the region's rectangle in the field.
 * Returns FALSE if cnv_masks_take did not copy the mask. */
gboolean cnv_mask_place(CnvCutting *c, const CnvRegion *region, CnvPlaneShape *shape);

/* The weights of a shape in a box: all 0, mixed, or all 1. */
typedef enum { CNV_OUTSIDE, CNV_SOFT, CNV_INSIDE } CnvTouch;

/* Returns which weights a mask has in a box of the shape's samples (mask.c). */
CnvTouch cnv_mask_touch(const CnvCutting *c, const CnvPlaneShape *shape, const CnvBox *box);
