/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Regions as shapes of one plane and field, in order of strength: if several shapes have the same weight at a sample,
 * the last one owns it.
 */
#include <math.h>

#include "plan/regions/cutting.h"

static int
floor_div(gint64 a, int b)
{
  gint64 q = a / b - (a % b < 0);

  return (int)CLAMP(q, -CNV_FAR, CNV_FAR);
}

static int
ceil_div(gint64 a, int b)
{
  return -floor_div(-a, b);
}

void
cnv_cutting_sort(CnvCutting *c)
{
  const CnvWork *work = c->work;

  g_array_set_size(c->order, 0);
  for (guint plan = 0; plan < work->n_plans; plan++)
    for (int rectangles = 0; rectangles < 2; rectangles++)
      for (guint i = 0; i < work->n_regions; i++) {
        const CnvRegion *region = &work->region[i];
        guint16 number = (guint16)i;

        if (region->plan == plan && (region->shape == CNV_SHAPE_RECTANGLE) == rectangles && region->rect.width > 0 &&
            region->rect.height > 0)
          g_array_append_val(c->order, number);
      }
}

/* Returns the shape of the samples of the plane's field that a region's rectangle touches. */
static CnvPlaneShape
place(const CnvCutting *c, const CnvRegion *region)
{
  const CnvRect *rect = &region->rect;
  int sx = 1 << c->sub_x, sy = 1 << c->sub_y, field = c->job.field, fields = c->job.fields;
  int top = floor_div(rect->y, sy), bottom = ceil_div((gint64)rect->y + rect->height, sy);
  double reach_x = c->work->feather / sx + 1, reach_y = c->work->feather / (sy * fields) + 1;

  return (CnvPlaneShape){.x0 = floor_div(rect->x, sx),
                         .y0 = ceil_div(top - field, fields),
                         .x1 = ceil_div((gint64)rect->x + rect->width, sx),
                         .y1 = ceil_div(bottom - field, fields),
                         .reach_x = (float)reach_x,
                         .reach_y = (float)reach_y,
                         .fade_x = (float)(1 / reach_x),
                         .fade_y = (float)(1 / reach_y),
                         .shape = region->shape == CNV_SHAPE_ELLIPSE ? CNV_SHAPE_ELLIPSE : CNV_SHAPE_RECTANGLE,
                         .layer = c->work->invert ? 0 : (int)region->plan};
}

/* Adds the layer of an isolated region, and returns its index. rect: the region's rectangle. inside: the part of it
 * in the field, which is its window. In a normalised convolution, weights decide what shapes other than rectangles
 * read, and their window is the field. Only a mosaic still has the rectangle as its window, because that is where
 * its cells are. */
static int
add_layer(CnvCutting *c, guint plan, const CnvPlaneShape *shape, const CnvBox *rect, const CnvBox *inside)
{
  gboolean weighed = c->is_weighed && shape->shape != CNV_SHAPE_RECTANGLE;
  gboolean mosaic = c->work->plan[0]->filter.type == CNV_FILTER_MOSAIC;
  CnvLayer layer = {(int)plan, weighed && !mosaic ? cnv_cutting_field(c) : *inside, rect->x0, rect->y0,
                    weighed ? CNV_COVER_SHAPE + (int)c->jobs->shapes->len : CNV_COVER_OWN};

  g_array_append_val(c->layers, layer);
  return (int)c->layers->len - 1;
}

gboolean
cnv_cutting_shape(CnvCutting *c, guint region, CnvPlaneShape *shape)
{
  const CnvRegion *from = &c->work->region[region];
  CnvPlaneShape placed = place(c, from), whole = placed;
  CnvBox rect = {placed.x0, placed.y0, placed.x1, placed.y1}, field = cnv_cutting_field(c);
  CnvBox inside = cnv_box_intersect(&rect, &field), reached = cnv_shape_box(&placed);

  reached = cnv_box_intersect(&reached, &field);
  /* An isolated region outside the plane has no sample to read. */
  if (cnv_box_is_empty(&rect) || cnv_box_is_empty(c->isolated ? &inside : &reached))
    return FALSE;
  if (from->shape == CNV_SHAPE_MASK && !cnv_box_is_empty(&inside)) {
    placed.x0 = inside.x0;
    placed.y0 = inside.y0;
    placed.x1 = inside.x1;
    placed.y1 = inside.y1;
    placed.reach_x = placed.reach_y = placed.fade_x = placed.fade_y = 1;
    if (!cnv_mask_place(c, from, &placed)) {
      if (c->work->invert)
        return FALSE;
      placed = whole;
    }
  } else if (from->shape == CNV_SHAPE_MASK) {
    return FALSE;
  }
  if (c->isolated)
    placed.layer = add_layer(c, from->plan, &placed, &rect, &inside);
  *shape = placed;
  return TRUE;
}
