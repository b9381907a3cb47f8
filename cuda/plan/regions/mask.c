/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Masks: images of weights, for both engines one behind the other in one array; and their parts in a plane.
 */
#include <math.h>
#include <string.h>

#include "plan/arith.h"
#include "plan/cutter.h"

#define BYTES_MAX (1u << 30)

/* Cells along a block, whose least and largest weight are known. */
#define BLOCK 4

/* Samples of the smallest rectangles that masks are cut into. */
#define LEAST_WIDTH 64
#define LEAST_HEIGHT 32

struct CnvMask {
  gatomicrefcount refs;
  int width, height;            /* cells */
  int columns;                  /* blocks side by side */
  int left, right, top, bottom; /* first and last column and row with weight; right below left: none */
  guint8 *least, *most;         /* of each block */
  guint8 weight[];              /* followed by these */
};

static void
measure_block(CnvMask *mask, int column, int row)
{
  int right = MIN((column + 1) * BLOCK, mask->width), bottom = MIN((row + 1) * BLOCK, mask->height);
  guint8 least = 255, most = 0;

  for (int y = row * BLOCK; y < bottom; y++)
    for (int x = column * BLOCK; x < right; x++) {
      guint8 weight = mask->weight[(gsize)y * mask->width + x];

      least = MIN(least, weight);
      most = MAX(most, weight);
    }
  mask->least[row * mask->columns + column] = least;
  mask->most[row * mask->columns + column] = most;
}

static void
measure_row(CnvMask *mask, int y)
{
  const guint8 *row = mask->weight + (gsize)y * mask->width;
  int first = 0, last = mask->width - 1;

  while (first <= last && row[first] == 0)
    first++;
  while (last > first && row[last] == 0)
    last--;
  if (first > last)
    return;
  mask->left = MIN(mask->left, first);
  mask->right = MAX(mask->right, last);
  mask->top = MIN(mask->top, y);
  mask->bottom = y;
}

CnvMask *
cnv_mask_new(int width, int height, int stride, const guint8 *weights)
{
  int columns = cnv_divide_up(width, BLOCK), rows = cnv_divide_up(height, BLOCK);
  gsize blocks = (gsize)columns * rows, cells = (gsize)width * height;
  CnvMask *mask = g_try_malloc(sizeof(CnvMask) + cells + 2 * blocks);

  if (!mask)
    return NULL;
  *mask = (CnvMask){.width = width, .height = height, .columns = columns, .left = width, .right = -1, .top = height};
  g_atomic_ref_count_init(&mask->refs);
  mask->least = mask->weight + cells;
  mask->most = mask->least + blocks;
  for (int y = 0; y < height; y++) {
    memcpy(mask->weight + (gsize)y * width, weights + (gssize)y * stride, width);
    measure_row(mask, y);
  }
  for (int row = 0; row < rows; row++)
    for (int column = 0; column < columns; column++)
      measure_block(mask, column, row);
  return mask;
}

CnvMask *
cnv_mask_ref(CnvMask *mask)
{
  g_atomic_ref_count_inc(&mask->refs);
  return mask;
}

void
cnv_mask_unref(CnvMask *mask)
{
  if (mask && g_atomic_ref_count_dec(&mask->refs))
    g_free(mask);
}

/* Moves an edge from a rectangle's to that of the pixels that interpolation reaches from cells first..last. */
static void
box_axis(int first, int last, double pixel, int size, int *at, int *extent)
{
  int start = MAX((int)floor((first - 0.5) * pixel), 0), end = MIN((int)ceil((last + 1.5) * pixel), size);

  *at += start;
  *extent = end - start;
}

CnvRect
cnv_region_box(const CnvRegion *region)
{
  const CnvRect *rect = &region->rect;
  const CnvMask *mask = region->mask;
  CnvRect box = *rect;

  if (region->shape != CNV_SHAPE_MASK)
    return box;
  if (mask->right < mask->left)
    return (CnvRect){rect->x, rect->y, 0, 0};
  box_axis(mask->left, mask->right, (double)rect->width / mask->width, rect->width, &box.x, &box.width);
  box_axis(mask->top, mask->bottom, (double)rect->height / mask->height, rect->height, &box.y, &box.height);
  return box;
}

/* ---- the masks of a frame's work ---- */

gsize
cnv_mask_n_cells(const CnvMask *mask)
{
  return (gsize)mask->width * mask->height;
}

/* Makes room for cells whose old contents do not count. */
static gboolean
reserve(CnvJobs *to, gsize size)
{
  guint8 *memory;

  if (size > to->cells->len) {
    g_byte_array_unref(to->cells);
    memory = g_try_malloc(size);
    to->cells = memory ? g_byte_array_new_take(memory, size) : g_byte_array_new();
  }
  if (size <= to->cells->len)
    g_byte_array_set_size(to->cells, (guint)size);
  return size == to->cells->len;
}

gboolean
cnv_mask_take_all(CnvJobs *to, const CnvWork *work)
{
  g_autoptr(GPtrArray) masks = g_ptr_array_new_with_free_func((GDestroyNotify)cnv_mask_unref);
  guint n_regions = work->everything ? 0 : work->n_regions;
  gsize size = 0;
  guint8 *at;

  for (guint i = 0; i < n_regions; i++) {
    CnvMask *mask = work->region[i].shape == CNV_SHAPE_MASK ? work->region[i].mask : NULL;

    if (!mask || size + cnv_mask_n_cells(mask) > BYTES_MAX || g_ptr_array_find(masks, mask, NULL))
      continue;
    g_ptr_array_add(masks, cnv_mask_ref(mask));
    size += cnv_mask_n_cells(mask);
  }
  if (masks->len == to->masks->len &&
      (masks->len == 0 || memcmp(masks->pdata, to->masks->pdata, masks->len * sizeof(gpointer)) == 0))
    return FALSE;
  if (!reserve(to, size))
    g_ptr_array_set_size(masks, 0);
  at = to->cells->data;
  for (guint i = 0; i < masks->len; i++) {
    const CnvMask *mask = masks->pdata[i];

    memcpy(at, mask->weight, cnv_mask_n_cells(mask));
    at += cnv_mask_n_cells(mask);
  }
  g_ptr_array_unref(to->masks);
  to->masks = g_steal_pointer(&masks);
  return TRUE;
}

/* Cells of up to that many, in 2^-32. */
static gint64
in_units(double cells, int most)
{
  return (gint64)rint(CLAMP(cells, -1, most) * (G_GINT64_CONSTANT(1) << 32));
}

gboolean
cnv_mask_place(Cutter *c, const CnvRegion *region, CnvMaskRect *to)
{
  const CnvRect *rect = &region->rect;
  const CnvMask *mask = region->mask;
  const GPtrArray *masks = c->made->masks;
  double sx = 1 << c->sub_x, sy = 1 << c->sub_y, x = (to->x0 + 0.5) * sx;
  double y = ((double)to->y0 * c->job.fields + c->job.field + 0.5) * sy;
  double cells_x = (double)mask->width / rect->width, cells_y = (double)mask->height / rect->height; /* of a pixel */
  CnvMaskPlace place;
  guint32 at = 0;
  guint i;

  for (i = 0; i < masks->len && masks->pdata[i] != mask; i++)
    at += (guint32)cnv_mask_n_cells(masks->pdata[i]);
  if (i == masks->len)
    return FALSE;
  place = (CnvMaskPlace){.cells = at,
                         .cells_x = mask->width,
                         .cells_y = mask->height,
                         .x0 = to->x0,
                         .y0 = to->y0,
                         .first_x = in_units((x - rect->x) * cells_x - 0.5, mask->width) + CNV_MASK_BIAS,
                         .first_y = in_units((y - rect->y) * cells_y - 0.5, mask->height) + CNV_MASK_BIAS,
                         .step_x = in_units(sx * cells_x, mask->width),
                         .step_y = in_units(sy * c->job.fields * cells_y, mask->height)};
  to->shape = CNV_SHAPE_MASK + (int)c->made->places->len;
  g_array_append_val(c->made->places, place);
  to->fade_x = to->fade_y = 1;
  return TRUE;
}

/* ---- parts of a mask ---- */

#define EMPTY (-1) /* shape of a part that weighs 0 throughout */

/* First and last block of the cells that samples from..to - 1 after the first take their weights from. */
static void
blocks_of(gint64 first, gint64 step, int cells, int from, int to, int block[2])
{
  int cell[2];

  cnv_mask_cells(first + step * from, cells, cell);
  block[0] = cell[0] / BLOCK;
  cnv_mask_cells(first + step * (to - 1), cells, cell);
  block[1] = cell[1] / BLOCK;
}

/* The shape of a part of a mask: a rectangle where it weighs 1 throughout, the mask where its weights lie between. */
static int
shape_of(const CnvMask *of, const CnvMaskPlace *mask, const CnvMaskRect *part)
{
  guint8 least = 255, most = 0;
  int x[2], y[2];

  blocks_of(mask->first_x, mask->step_x, of->width, part->x0 - mask->x0, part->x1 - mask->x0, x);
  blocks_of(mask->first_y, mask->step_y, of->height, part->y0 - mask->y0, part->y1 - mask->y0, y);
  for (int row = y[0]; row <= y[1]; row++)
    for (int column = x[0]; column <= x[1]; column++) {
      least = MIN(least, of->least[row * of->columns + column]);
      most = MAX(most, of->most[row * of->columns + column]);
    }
  return most == 0 ? EMPTY : least == 255 ? CNV_SHAPE_RECTANGLE : part->shape;
}

/* Adds the runs of a band, of blocks of that width, to the pieces; some where they are more than there is room for. */
static void
cut_band(const Cutter *c, const CnvMask *of, const CnvMaskPlace *mask, CnvMaskRect band, int width)
{
  CnvMaskRect run = {.shape = EMPTY};

  for (int x = band.x0; x < band.x1 && c->pieces->len <= c->room; x += width) {
    CnvMaskRect block = band;

    block.x0 = x;
    block.x1 = MIN(x + width, band.x1);
    block.shape = shape_of(of, mask, &block);
    if (block.shape != run.shape) {
      if (run.shape != EMPTY)
        cnv_cutter_add_piece(c, run);
      run = block;
    }
    run.x1 = block.x1;
  }
  if (run.shape != EMPTY)
    cnv_cutter_add_piece(c, run);
}

int
cnv_mask_cut(const Cutter *c, const CnvRegion *region, const CnvMaskRect *rect, gboolean full, CnvMaskRect *to)
{
  const CnvMaskPlace *place = &g_array_index(c->made->places, CnvMaskPlace, rect->shape - CNV_SHAPE_MASK);
  int n = 0;

  for (int size = 1; size == 1 || c->pieces->len > c->room; size *= 2) {
    g_array_set_size(c->pieces, 0);
    for (int y = rect->y0; y < rect->y1 && c->pieces->len <= c->room; y += size * LEAST_HEIGHT) {
      CnvMaskRect band = *rect;

      band.y0 = y;
      band.y1 = MIN(y + size * LEAST_HEIGHT, rect->y1);
      cut_band(c, region->mask, place, band, size * LEAST_WIDTH);
    }
  }
  for (guint i = 0; i < c->pieces->len; i++)
    if (is_full(&g_array_index(c->pieces, CnvMaskRect, i)) == full)
      to[n++] = g_array_index(c->pieces, CnvMaskRect, i);
  return n;
}
