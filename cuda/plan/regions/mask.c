/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Masks: images of weights. Both engines have the cells of all masks in one array, mask after mask. Each place says
 * which part of a mask lies in a plane and field.
 */
#include <math.h>
#include <string.h>

#include "plan/arith.h"
#include "plan/regions/cutting.h"

#define BYTES_MAX (1u << 30)

/* The side of a block, in cells. The smallest and largest weight of each block are known. */
#define BLOCK 4

struct CnvMask {
  gatomicrefcount refs;
  int width, height;            /* cells */
  int columns;                  /* blocks side by side */
  int left, right, top, bottom; /* first and last column and row with weights above 0; right < left: none */
  guint8 *least, *most;         /* of each block */
  guint8 weight[];              /* of each cell; the arrays least and most follow */
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

/* Reduces a rectangle along an axis to the pixels that interpolation reaches from the cells first..last. pixel:
 * pixels per cell. */
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

/* Allocates memory for the cells of all masks, and may discard the old ones. Returns FALSE if there is no memory. */
static gboolean
reserve(CnvJobs *to, gsize size)
{
  guint8 *memory;

  if (size > to->mask_cells->len) {
    g_byte_array_unref(to->mask_cells);
    memory = g_try_malloc(size);
    to->mask_cells = memory ? g_byte_array_new_take(memory, size) : g_byte_array_new();
  }
  if (size <= to->mask_cells->len)
    g_byte_array_set_size(to->mask_cells, (guint)size);
  return size == to->mask_cells->len;
}

gboolean
cnv_masks_take(CnvJobs *to, const CnvWork *work)
{
  g_autoptr(GPtrArray) masks = g_ptr_array_new_with_free_func((GDestroyNotify)cnv_mask_unref);
  guint n_regions = work->whole_frame ? 0 : work->n_regions;
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
  at = to->mask_cells->data;
  for (guint i = 0; i < masks->len; i++) {
    const CnvMask *mask = masks->pdata[i];

    memcpy(at, mask->weight, cnv_mask_n_cells(mask));
    at += cnv_mask_n_cells(mask);
  }
  g_ptr_array_unref(to->masks);
  to->masks = g_steal_pointer(&masks);
  return TRUE;
}

/* Converts a number of cells, limited to -1..most, to units of 2^-32 cells. */
static gint64
in_units(double cells, int most)
{
  return (gint64)rint(CLAMP(cells, -1, most) * (G_GINT64_CONSTANT(1) << 32));
}

gboolean
cnv_mask_place(CnvCutting *c, const CnvRegion *region, CnvPlaneShape *shape)
{
  const CnvRect *rect = &region->rect;
  const CnvMask *mask = region->mask;
  const GPtrArray *masks = c->jobs->masks;
  double sx = 1 << c->sub_x, sy = 1 << c->sub_y, x = (shape->x0 + 0.5) * sx;
  double y = ((double)shape->y0 * c->job.fields + c->job.field + 0.5) * sy;
  double cells_x = (double)mask->width / rect->width, cells_y = (double)mask->height / rect->height; /* per pixel */
  CnvMaskPlace place;
  guint64 at = 0;
  guint i;

  for (i = 0; i < masks->len && masks->pdata[i] != mask; i++)
    at += cnv_mask_n_cells(masks->pdata[i]);
  if (i == masks->len)
    return FALSE;
  place = (CnvMaskPlace){.cells = at,
                         .cells_x = mask->width,
                         .cells_y = mask->height,
                         .x0 = shape->x0,
                         .y0 = shape->y0,
                         .first_x = in_units((x - rect->x) * cells_x - 0.5, mask->width) + CNV_MASK_BIAS,
                         .first_y = in_units((y - rect->y) * cells_y - 0.5, mask->height) + CNV_MASK_BIAS,
                         .step_x = in_units(sx * cells_x, mask->width),
                         .step_y = in_units(sy * c->job.fields * cells_y, mask->height)};
  shape->shape = CNV_SHAPE_MASK + (int)c->jobs->places->len;
  g_array_append_val(c->jobs->places, place);
  g_ptr_array_add(c->placed, region->mask);
  return TRUE;
}

/* Finds the first and last block of the mask cells from which the weights of samples from..to - 1 are interpolated.
 * Samples are counted from the first one of the place. */
static void
blocks_of(gint64 first, gint64 step, int cells, int from, int to, int block[2])
{
  int cell[2];

  cnv_mask_cells(first + step * from, cells, cell);
  block[0] = cell[0] / BLOCK;
  cnv_mask_cells(first + step * (to - 1), cells, cell);
  block[1] = cell[1] / BLOCK;
}

CnvTouch
cnv_mask_touch(const CnvCutting *c, const CnvPlaneShape *shape, const CnvBox *box)
{
  const CnvMaskPlace *place = &g_array_index(c->jobs->places, CnvMaskPlace, shape->shape - CNV_SHAPE_MASK);
  const CnvMask *mask = c->placed->pdata[shape->shape - CNV_SHAPE_MASK];
  guint8 least = 255, most = 0;
  int x[2], y[2];

  blocks_of(place->first_x, place->step_x, mask->width, box->x0 - place->x0, box->x1 - place->x0, x);
  blocks_of(place->first_y, place->step_y, mask->height, box->y0 - place->y0, box->y1 - place->y0, y);
  for (int row = y[0]; row <= y[1]; row++)
    for (int column = x[0]; column <= x[1]; column++) {
      least = MIN(least, mask->least[row * mask->columns + column]);
      most = MAX(most, mask->most[row * mask->columns + column]);
    }
  return most == 0 ? CNV_OUTSIDE : least == 255 ? CNV_INSIDE : CNV_SOFT;
}
