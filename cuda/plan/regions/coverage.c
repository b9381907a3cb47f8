/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The weights of jobs, row by row: the same as cnv_cover_weight gives for each sample, but faster, since most samples
 * of a row lie inside a shape or outside it.
 */
#include <string.h>

#include "plan/regions/cutting.h"

CnvCover
cnv_jobs_cover(const CnvJobs *of)
{
  return (CnvCover){(const CnvGrid *)of->grids->data,       (const CnvCell *)of->cells->data,
                    (const uint16_t *)of->lists->data,      (const CnvPlaneShape *)of->shapes->data,
                    (const CnvMaskPlace *)of->places->data, of->mask_cells->data};
}

/* Sample by sample, from the left and from the right, up to where the weight is `most`: it is that in between. */
static void
weigh_convex(const CnvCover *cover, const CnvPlaneShape *s, int x, int n, int y, int most, guint8 *to)
{
  int first = 0, last = n;

  while (first < last && (to[first] = (guint8)cnv_shape_weight(cover, s, x + first, y)) < most)
    first++;
  while (last > first && (to[last - 1] = (guint8)cnv_shape_weight(cover, s, x + last - 1, y)) < most)
    last--;
  memset(to + first, most, last - first);
}

/* A row of n weights of a mask. Where a cell of the mask lies on each sample they are the cells. */
static void
weigh_mask(const CnvCover *cover, const CnvPlaneShape *s, int x, int n, int y, guint8 *to)
{
  const CnvMaskPlace *mask = cover->place + (s->shape - CNV_SHAPE_MASK);
  const gint64 one = G_GINT64_CONSTANT(1) << 32, at = mask->first_x + mask->step_x * (x - mask->x0);
  int row[2], column[2];

  if (mask->step_x == one && cnv_mask_cells(at, mask->cells_x, column) == 0 && at >= 0 &&
      column[0] + n <= mask->cells_x &&
      cnv_mask_cells(mask->first_y + mask->step_y * (y - mask->y0), mask->cells_y, row) == 0) {
    memcpy(to, cover->mask_cells + mask->cells + (gsize)row[0] * mask->cells_x + column[0], n);
    return;
  }
  for (int i = 0; i < n; i++)
    to[i] = (guint8)cnv_mask_weight(mask, cover->mask_cells, x + i, y);
}

/* A row of n weights of a shape. */
static void
weigh_shape(const CnvCover *cover, const CnvPlaneShape *s, int x, int n, int y, guint8 *to)
{
  CnvBox box = cnv_shape_box(s);
  int first = CLAMP(box.x0 - x, 0, n), last = CLAMP(box.x1 - x, first, n);

  memset(to, 0, first);
  memset(to + last, 0, n - last);
  if (y < box.y0 || y >= box.y1)
    memset(to + first, 0, last - first);
  else if (s->shape >= CNV_SHAPE_MASK)
    weigh_mask(cover, s, x + first, last - first, y, to + first);
  else
    weigh_convex(cover, s, x + first, last - first, y,
                 s->shape == CNV_SHAPE_RECTANGLE ? cnv_shape_weight(cover, s, s->x0, y) : CNV_WEIGHT_ONE, to + first);
}

/* A row of n weights of the cell's samples, at most a cell's width. */
static void
weigh_cell(const CnvCover *cover, const CnvGrid *grid, const CnvCell *cell, const CnvJob *job, int x, int n, int y,
           guint8 *to)
{
  guint8 weight[CNV_CELL_WIDTH], owned[CNV_CELL_WIDTH];

  memset(to, 0, n);
  for (int i = 0; i < cell->n; i++) {
    const CnvPlaneShape *s = cover->shape + cover->list[cell->first + i];
    gboolean own =
        grid->invert || job->cover == CNV_COVER_ALL || (cell->layer < 0 ? s->layer : cell->layer) == job->layer;

    weigh_shape(cover, s, x, n, y, i == 0 ? to : weight);
    if (i == 0)
      memset(owned, own, n);
    for (int k = 0; k < n && i > 0; k++)
      if (weight[k] > 0 && weight[k] >= to[k]) {
        to[k] = weight[k];
        owned[k] = own;
      }
  }
  for (int k = 0; k < n && cell->n > 0; k++)
    to[k] = grid->invert ? CNV_WEIGHT_ONE - to[k] : owned[k] ? to[k] : 0;
  if (cell->n == 0 && grid->invert)
    memset(to, CNV_WEIGHT_ONE, n);
}

void
cnv_coverage_row(const CnvCover *cover, const CnvJob *job, int y, guint8 *to)
{
  const CnvGrid *grid = cover->grid + job->grid;
  const CnvCell *row = cover->cell + grid->first_cell + y / CNV_CELL_HEIGHT * grid->columns;
  int aligned = job->x % CNV_COVERAGE_ALIGNMENT, end = job->x + job->width, next;

  memset(to, 0, aligned);
  to += aligned;
  if (job->cover >= CNV_COVER_SHAPE) {
    weigh_shape(cover, cover->shape + (job->cover - CNV_COVER_SHAPE), job->x, job->width, y, to);
    to += job->width;
    end = job->x;
  }
  for (int x = job->x; x < end; x = next) {
    next = MIN((x / CNV_CELL_WIDTH + 1) * CNV_CELL_WIDTH, end);
    weigh_cell(cover, grid, row + x / CNV_CELL_WIDTH, job, x, next - x, y, to);
    to += next - x;
  }
  memset(to, 0, job->coverage_pitch - aligned - job->width);
}
