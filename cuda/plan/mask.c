/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "plan/mask.h"

#include <math.h>
#include <string.h>

#include "plan/arith.h"

#define BYTES_MAX (1u << 30)

/* Cells along a block, whose least and largest weight are known. */
#define BLOCK 4

/* Samples of the smallest rectangles that masks are cut into. */
#define LEAST_WIDTH 64
#define LEAST_HEIGHT 32

struct CnvMask {
  gatomicrefcount refs;
  int width, height; /* cells */
  int columns;       /* blocks side by side */
  guint8 *weight;
  guint8 *least, *most; /* of each block */
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

CnvMask *
cnv_mask_new(int width, int height, int stride, const guint8 *weights)
{
  int columns = cnv_divide_up(width, BLOCK), rows = cnv_divide_up(height, BLOCK);
  gsize blocks = (gsize)columns * rows, cells = (gsize)width * height;
  CnvMask *mask = g_new(CnvMask, 1);

  *mask = (CnvMask){.width = width, .height = height, .columns = columns, .weight = g_try_malloc(cells + 2 * blocks)};
  if (!mask->weight) {
    g_free(mask);
    return NULL;
  }
  g_atomic_ref_count_init(&mask->refs);
  mask->least = mask->weight + cells;
  mask->most = mask->least + blocks;
  for (int y = 0; y < height; y++)
    memcpy(mask->weight + (gsize)y * width, weights + (gssize)y * stride, width);
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
  if (!mask || !g_atomic_ref_count_dec(&mask->refs))
    return;
  g_free(mask->weight);
  g_free(mask);
}

/* ---- the masks of a frame's work ---- */

CnvMaskBytes
cnv_mask_bytes_new(void)
{
  return (CnvMaskBytes){g_ptr_array_new_with_free_func((GDestroyNotify)cnv_mask_unref), g_byte_array_new(),
                        g_array_new(FALSE, FALSE, sizeof(CnvMaskPlace))};
}

void
cnv_mask_bytes_clear(CnvMaskBytes *of)
{
  g_clear_pointer(&of->masks, g_ptr_array_unref);
  g_clear_pointer(&of->bytes, g_byte_array_unref);
  g_clear_pointer(&of->places, g_array_unref);
}

static gsize
size_of(const CnvMask *mask)
{
  return (gsize)mask->width * mask->height;
}

gboolean
cnv_mask_bytes_set(CnvMaskBytes *of, const CnvWork *work)
{
  g_autoptr(GPtrArray) masks = g_ptr_array_new();
  guint n_regions = work->everything ? 0 : work->n_regions;
  gsize size = 0;

  for (guint i = 0; i < n_regions; i++) {
    CnvMask *mask = work->region[i].shape == CNV_SHAPE_MASK ? work->region[i].mask : NULL;

    if (!mask || size + size_of(mask) > BYTES_MAX || g_ptr_array_find(masks, mask, NULL))
      continue;
    g_ptr_array_add(masks, mask);
    size += size_of(mask);
  }
  if (masks->len == of->masks->len &&
      (masks->len == 0 || memcmp(masks->pdata, of->masks->pdata, masks->len * sizeof(gpointer)) == 0))
    return FALSE;
  for (guint i = 0; i < masks->len; i++)
    cnv_mask_ref(masks->pdata[i]);
  g_ptr_array_set_size(of->masks, 0);
  g_byte_array_set_size(of->bytes, 0);
  for (guint i = 0; i < masks->len; i++) {
    const CnvMask *mask = masks->pdata[i];

    g_ptr_array_add(of->masks, masks->pdata[i]);
    g_byte_array_append(of->bytes, mask->weight, (guint)size_of(mask));
  }
  return TRUE;
}

/* Cells of up to that many, in 2^-32. */
static gint64
in_units(double cells, int most)
{
  return (gint64)rint(CLAMP(cells, -1, most) * (G_GINT64_CONSTANT(1) << 32));
}

gboolean
cnv_mask_place(CnvMaskBytes *masks, const CnvRegion *region, const CnvPlane *plane, const CnvRectJob *job,
               CnvMaskRect *to)
{
  const CnvRect *rect = &region->rect;
  const CnvMask *mask = region->mask;
  double sx = 1 << plane->sub_x, sy = 1 << plane->sub_y, x = (to->x0 + 0.5) * sx;
  double y = ((double)to->y0 * job->fields + job->field + 0.5) * sy, cells_x, cells_y; /* cells_x, _y: of a pixel */
  CnvMaskPlace place;
  guint32 at = 0;
  guint i;

  for (i = 0; i < masks->masks->len && masks->masks->pdata[i] != mask; i++)
    at += (guint32)size_of(masks->masks->pdata[i]);
  if (i == masks->masks->len)
    return FALSE;
  cells_x = (double)mask->width / rect->width;
  cells_y = (double)mask->height / rect->height;
  place = (CnvMaskPlace){.cells = at,
                         .cells_x = mask->width,
                         .cells_y = mask->height,
                         .x0 = to->x0,
                         .y0 = to->y0,
                         .first_x = in_units((x - rect->x) * cells_x - 0.5, mask->width) + CNV_MASK_BIAS,
                         .first_y = in_units((y - rect->y) * cells_y - 0.5, mask->height) + CNV_MASK_BIAS,
                         .step_x = in_units(sx * cells_x, mask->width),
                         .step_y = in_units(sy * job->fields * cells_y, mask->height)};
  to->shape = CNV_SHAPE_MASK + (int)masks->places->len;
  g_array_append_val(masks->places, place);
  to->fade_x = to->fade_y = 1;
  return TRUE;
}

/* ---- parts of a mask ---- */

typedef enum { EMPTY, BETWEEN, FULL } Weighs;

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

static Weighs
weighs(const CnvMask *of, const CnvMaskPlace *mask, const CnvMaskRect *rect)
{
  guint8 least = 255, most = 0;
  int x[2], y[2];

  blocks_of(mask->first_x, mask->step_x, of->width, rect->x0 - mask->x0, rect->x1 - mask->x0, x);
  blocks_of(mask->first_y, mask->step_y, of->height, rect->y0 - mask->y0, rect->y1 - mask->y0, y);
  for (int row = y[0]; row <= y[1]; row++)
    for (int column = x[0]; column <= x[1]; column++) {
      least = MIN(least, of->least[row * of->columns + column]);
      most = MAX(most, of->most[row * of->columns + column]);
    }
  return most == 0 ? EMPTY : least == 255 ? FULL : BETWEEN;
}

/* Pieces of a mask while it is cut. */
typedef struct {
  int n, room; /* n beyond room: they do not fit */
  CnvMaskRect *piece;
  Weighs *weighs;
} Pieces;

/* Adds the run of blocks, as the rest of a piece that ends above it where that has the same columns. */
static void
add_run(Pieces *p, CnvMaskRect run, Weighs weighs)
{
  for (int i = MIN(p->n, p->room) - 1; i >= 0; i--)
    if (p->piece[i].y1 == run.y0 && p->piece[i].x0 == run.x0 && p->piece[i].x1 == run.x1 && p->weighs[i] == weighs) {
      p->piece[i].y1 = run.y1;
      return;
    }
  if (p->n < p->room) {
    p->piece[p->n] = run;
    p->weighs[p->n] = weighs;
  }
  p->n++;
}

static void
cut_band(Pieces *p, const CnvMask *of, const CnvMaskPlace *mask, CnvMaskRect band, int width)
{
  CnvMaskRect run = band;
  Weighs of_run = EMPTY;

  run.x1 = run.x0;
  for (int x = band.x0; x < band.x1 && p->n <= p->room; x += width) {
    CnvMaskRect block = band;
    Weighs here;

    block.x0 = x;
    block.x1 = MIN(x + width, band.x1);
    here = weighs(of, mask, &block);
    if (here != of_run) {
      if (of_run != EMPTY)
        add_run(p, run, of_run);
      run.x0 = x;
      of_run = here;
    }
    run.x1 = block.x1;
  }
  if (of_run != EMPTY)
    add_run(p, run, of_run);
}

int
cnv_mask_cut(const CnvMaskBytes *masks, const CnvRegion *region, const CnvMaskRect *rect, gboolean full, int room,
             CnvMaskRect *to)
{
  const CnvMaskPlace *place = &g_array_index(masks->places, CnvMaskPlace, rect->shape - CNV_SHAPE_MASK);
  g_autofree CnvMaskRect *piece = g_new(CnvMaskRect, room);
  g_autofree Weighs *weighs = g_new(Weighs, room);
  Pieces p = {room + 1, room, piece, weighs};
  int n = 0;

  for (int size = 1; p.n > room; size *= 2) {
    p.n = 0;
    for (int y = rect->y0; y < rect->y1 && p.n <= room; y += size * LEAST_HEIGHT) {
      CnvMaskRect band = *rect;

      band.y0 = y;
      band.y1 = MIN(y + size * LEAST_HEIGHT, rect->y1);
      cut_band(&p, region->mask, place, band, size * LEAST_WIDTH);
    }
  }
  for (int i = 0; i < p.n; i++) {
    if ((weighs[i] == FULL) != !!full)
      continue;
    to[n] = piece[i];
    to[n++].shape = full ? CNV_SHAPE_RECTANGLE : rect->shape;
  }
  return n;
}
