/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The cells of a plane's field. A shape is added to all cells that it reaches, the strongest shape first. Once a shape
 * has weight 1 in the whole cell, weaker shapes have no effect there and are not added. A cell's shapes determine its
 * pieces: the part of it that each layer filters, and whether that part needs coverage.
 */
#include "plan/arith.h"
#include "plan/regions/cutting.h"

/* Most shapes that are added to a cell, by CnvCut. */
static const int shapes_max[CNV_N_CUTS] = {CNV_MAX_REGIONS, CNV_CROWD, CNV_CROWD};

#define WEIGHT_COST 0.25 /* cost of computing the weight of one shape at a sample, relative to filtering the sample */

static CnvCellShapes *
cell_shapes(const CnvCutting *c, int column, int row)
{
  return &g_array_index(c->cell_shapes, CnvCellShapes, row * c->grid.columns + column);
}

static const CnvPlaneShape *
shape_of(const CnvCutting *c, const CnvEntry *entry)
{
  return &g_array_index(c->jobs->shapes, CnvPlaneShape, entry->shape);
}

static const CnvEntry *
entry_of(const CnvCutting *c, int entry)
{
  return &g_array_index(c->entries, CnvEntry, entry);
}

/* Returns TRUE if the point lies in an ellipse around the middle of the shape. */
static gboolean
is_in_ellipse(const CnvPlaneShape *s, double x, double y, double half_x, double half_y)
{
  double from_x = (x - 0.5 * ((double)s->x0 + s->x1 - 1)) / MAX(half_x, 0.01);
  double from_y = (y - 0.5 * ((double)s->y0 + s->y1 - 1)) / MAX(half_y, 0.01);

  return from_x * from_x + from_y * from_y < 1;
}

/* Returns which weights an ellipse has in a box. They are all 1 if they are 1 at the corners. They are all 0 if the
 * weight is 0 at the point of the box that is nearest to the ellipse's middle. Scaling an axis turns the ellipse into a
 * circle without changing which point is nearest. */
static CnvTouch
touch_of_ellipse(const CnvPlaneShape *s, const CnvBox *box)
{
  double half_x = cnv_half_axis(s->x0, s->x1), half_y = cnv_half_axis(s->y0, s->y1);
  double near_x = CLAMP(0.5 * ((double)s->x0 + s->x1 - 1), box->x0, box->x1 - 1);
  double near_y = CLAMP(0.5 * ((double)s->y0 + s->y1 - 1), box->y0, box->y1 - 1);

  if (!is_in_ellipse(s, near_x, near_y, half_x + s->reach_x + 0.01, half_y + s->reach_y + 0.01))
    return CNV_OUTSIDE;
  for (int i = 0; i < 4; i++)
    if (!is_in_ellipse(s, i % 2 ? box->x0 : box->x1 - 1, i / 2 ? box->y0 : box->y1 - 1, half_x, half_y))
      return CNV_SOFT;
  return CNV_INSIDE;
}

static CnvTouch
touch_of(const CnvCutting *c, const CnvPlaneShape *s, const CnvBox *cell)
{
  CnvBox reached = cnv_shape_box(s), met = cnv_box_intersect(&reached, cell);

  if (cnv_box_is_empty(&met))
    return CNV_OUTSIDE;
  if (s->shape == CNV_SHAPE_ELLIPSE)
    return touch_of_ellipse(s, cell);
  if (s->shape >= CNV_SHAPE_MASK) {
    CnvTouch touch = cnv_mask_touch(c, s, &met);

    return touch == CNV_INSIDE && cnv_box_area(&met) < cnv_box_area(cell) ? CNV_SOFT : touch;
  }
  return s->x0 <= cell->x0 && s->y0 <= cell->y0 && s->x1 >= cell->x1 && s->y1 >= cell->y1 ? CNV_INSIDE : CNV_SOFT;
}

/* Adds a shape to a cell. It is weaker than all shapes that the cell has. */
static void
add_to_cell(CnvCutting *c, guint16 number, int column, int row)
{
  CnvCellShapes *to = cell_shapes(c, column, row);
  const CnvPlaneShape *s = &g_array_index(c->jobs->shapes, CnvPlaneShape, number);
  CnvBox cell = cnv_cutting_cell(c, column, row);
  CnvEntry entry = {number, to->first};
  CnvTouch touch;

  if (c->cut == CNV_CUT_EXACT && c->cost > c->budget)
    return; /* everything will be cut again by simpler rules */
  to->met += to->crowded;
  if (to->closed)
    return;
  touch = touch_of(c, s, &cell);
  if (touch == CNV_OUTSIDE)
    return;
  to->met++;
  if (to->n == shapes_max[c->cut]) {
    to->crowded = to->closed = TRUE;
    return;
  }
  to->first = (int)c->entries->len;
  to->n++;
  to->inside = to->closed = touch == CNV_INSIDE;
  c->cost += WEIGHT_COST * cnv_box_area(&cell);
  g_array_append_val(c->entries, entry);
}

static void
add_shape(CnvCutting *c, const CnvPlaneShape *s)
{
  CnvBox reached = cnv_shape_box(s), field = cnv_cutting_field(c);
  CnvBox met = cnv_box_intersect(&reached, &field);
  guint16 number = (guint16)c->jobs->shapes->len;

  g_array_append_val(c->jobs->shapes, *s);
  for (int row = met.y0 / CNV_CELL_HEIGHT; row * CNV_CELL_HEIGHT < met.y1; row++)
    for (int column = met.x0 / CNV_CELL_WIDTH; column * CNV_CELL_WIDTH < met.x1; column++)
      add_to_cell(c, number, column, row);
}

/* ---- from shapes to lists and pieces ---- */

static CnvLayer *
layer_of(const CnvCutting *c, int layer)
{
  return &g_array_index(c->layers, CnvLayer, layer);
}

/* Returns the layer of the strongest plan among the cell's shapes, without a window. It is the plan of the strongest
 * shape, because shapes are sorted by plan first. */
static int
strongest_layer(const CnvCutting *c, const CnvCellShapes *from)
{
  const CnvEntry *entry = entry_of(c, from->first);

  while (entry->next >= 0)
    entry = entry_of(c, entry->next);
  return layer_of(c, shape_of(c, entry)->layer)->plan;
}

static gboolean
has_one_layer(const CnvCutting *c, const CnvCellShapes *from)
{
  const CnvEntry *first = entry_of(c, from->first);

  for (const CnvEntry *e = first; e->next >= 0; e = entry_of(c, e->next))
    if (shape_of(c, e)->layer != shape_of(c, entry_of(c, e->next))->layer)
      return FALSE;
  return TRUE;
}

static void
add_piece(CnvCutting *c, int column, int row, int layer, const CnvBox *box, gboolean soft)
{
  CnvPiece piece = {layer, row, column, *box, soft};

  if (!cnv_box_is_empty(box))
    g_array_append_val(c->pieces, piece);
}

/* Adds the piece of a cell around the shapes of one layer, or with layer -1 around all shapes. as: the layer that
 * filters the piece. The piece needs no coverage if there is only one such shape, and it is a hard rectangle and the
 * cell's strongest shape. */
static void
add_layer_piece(CnvCutting *c, int column, int row, const CnvCellShapes *from, int layer, int as)
{
  CnvBox cell = cnv_cutting_cell(c, column, row), around = {0};
  gboolean hard = FALSE;
  int n = 0;

  for (int at = from->first; at >= 0; at = entry_of(c, at)->next) {
    const CnvPlaneShape *s = shape_of(c, entry_of(c, at));
    CnvBox reached = cnv_shape_box(s), met = cnv_box_intersect(&reached, &cell);

    if (layer >= 0 && s->layer != layer)
      continue;
    around = n++ == 0 ? met : cnv_box_unite(&around, &met);
    hard = cnv_shape_is_hard(s) && entry_of(c, at)->next < 0;
  }
  add_piece(c, column, row, as, &around, n != 1 || !hard);
}

/* Adds the pieces of a cell in which several layers meet. */
static void
add_layer_pieces(CnvCutting *c, int column, int row, const CnvCellShapes *from)
{
  for (int at = from->first; at >= 0; at = entry_of(c, at)->next) {
    int layer = shape_of(c, entry_of(c, at))->layer, before = from->first;

    while (before != at && shape_of(c, entry_of(c, before))->layer != layer)
      before = entry_of(c, before)->next;
    if (before == at)
      add_layer_piece(c, column, row, from, layer, layer);
  }
}

static void
add_pieces(CnvCutting *c, int column, int row, const CnvCellShapes *from, int owner)
{
  CnvBox cell = cnv_cutting_cell(c, column, row);
  gboolean one_layer;

  if (c->work->invert) {
    if (!from->inside)
      add_piece(c, column, row, 0, &cell, from->n > 0);
    return;
  }
  one_layer = owner >= 0 || has_one_layer(c, from);
  if (from->crowded || (from->inside && one_layer))
    add_piece(c, column, row, owner >= 0 ? owner : shape_of(c, entry_of(c, from->first))->layer, &cell, FALSE);
  else if (one_layer)
    add_layer_piece(c, column, row, from, -1, owner >= 0 ? owner : shape_of(c, entry_of(c, from->first))->layer);
  else
    add_layer_pieces(c, column, row, from);
}

/* Makes a cell with its list of shapes, from the weakest to the strongest, and adds its pieces. The list of a crowded
 * cell is one rectangle around the field, which the strongest layer filters. With invert the list has only the
 * strongest shapes. Leaving out the weaker ones filters no sample less. */
static void
finish_cell(CnvCutting *c, int column, int row, int strongest)
{
  const CnvCellShapes *from = cell_shapes(c, column, row);
  CnvCell cell = {.first = c->jobs->lists->len, .layer = -1, .weight = -1};

  if (!c->work->invert) {
    if (c->cut == CNV_CUT_WHOLE)
      cell.layer = strongest;
    else if (from->crowded || (c->cut == CNV_CUT_SIMPLE && !has_one_layer(c, from)))
      cell.layer = strongest_layer(c, from);
  }
  if (from->crowded)
    c->jobs->crowd = MAX(c->jobs->crowd, (guint)from->met);
  else if (cell.layer >= 0 && c->cut == CNV_CUT_SIMPLE)
    c->jobs->crowd = MAX(c->jobs->crowd, (guint)from->n);
  if (from->crowded && !c->work->invert) {
    guint16 all = (guint16)(c->jobs->shapes->len - 1);

    g_array_append_val(c->jobs->lists, all);
  } else {
    for (int at = from->first; at >= 0; at = entry_of(c, at)->next)
      g_array_append_val(c->jobs->lists, entry_of(c, at)->shape);
  }
  cell.n = (int)(c->jobs->lists->len - cell.first);
  if (from->n == 0 || from->inside || (from->crowded && !c->work->invert))
    cell.weight = (from->n == 0) == (c->work->invert != FALSE) ? CNV_WEIGHT_ONE : 0;
  g_array_index(c->jobs->cells, CnvCell, c->grid.first_cell + (guint)(row * c->grid.columns + column)) = cell;
  add_pieces(c, column, row, from, cell.layer);
}

static void
start_grid(CnvCutting *c)
{
  const CnvCellShapes empty = {.first = -1};
  const CnvCell outside = {.layer = -1};
  guint n;

  c->grid = (CnvGrid){
      .columns = cnv_divide_up(c->width, CNV_CELL_WIDTH), .invert = c->work->invert, .first_cell = c->jobs->cells->len};
  c->rows = cnv_divide_up(c->height, CNV_CELL_HEIGHT);
  c->job.grid = (int)c->jobs->grids->len;
  g_array_append_val(c->jobs->grids, c->grid);
  g_array_set_size(c->entries, 0);
  g_array_set_size(c->pieces, 0);
  n = (guint)(c->grid.columns * c->rows);
  g_array_set_size(c->cell_shapes, n);
  g_array_set_size(c->jobs->cells, c->grid.first_cell + n);
  for (guint i = 0; i < n; i++) {
    g_array_index(c->cell_shapes, CnvCellShapes, i) = empty;
    g_array_index(c->jobs->cells, CnvCell, c->grid.first_cell + i) = outside;
  }
}

void
cnv_cutting_make_cells(CnvCutting *c)
{
  CnvPlaneShape s = {.x1 = c->width, .y1 = c->height, .reach_x = 1, .reach_y = 1, .fade_x = 1, .fade_y = 1};
  CnvBox field = cnv_cutting_field(c);
  CnvPlaneShape all = s;
  int strongest = 0, n = 0;
  gboolean one_layer = TRUE; /* all shapes have the layer of the strongest plan, without a window */

  start_grid(c);
  g_array_set_size(c->layers, 0);
  for (int plan = 0; plan < (int)c->work->n_plans; plan++) {
    CnvLayer layer = {plan, field, 0, 0, CNV_COVER_ALL};

    g_array_append_val(c->layers, layer);
  }
  for (guint i = c->order->len; i-- > 0;)
    if (cnv_cutting_shape(c, g_array_index(c->order, guint16, i), &s)) {
      strongest = MAX(strongest, layer_of(c, s.layer)->plan);
      one_layer &= s.layer == strongest;
      n++;
      add_shape(c, &s);
    }
  if (c->cut == CNV_CUT_WHOLE && !one_layer)
    c->jobs->crowd = MAX(c->jobs->crowd, (guint)n);
  g_array_append_val(c->jobs->shapes, all);
  for (int row = 0; row < c->rows; row++)
    for (int column = 0; column < c->grid.columns; column++)
      if (c->work->invert || cell_shapes(c, column, row)->n > 0)
        finish_cell(c, column, row, strongest);
}
