/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Computes the weights of jobs row by row. They equal cnv_cover_weight at each sample but are computed faster, because
 * most samples of a row are entirely inside or outside a shape.
 */
#include <string.h>

#include "plan/regions/cutting.h"

CnvCover
cnv_jobs_cover(const CnvJobs *jobs)
{
  return (CnvCover){(const CnvGrid *)jobs->grids->data,       (const CnvCell *)jobs->cells->data,
                    (const uint16_t *)jobs->lists->data,      (const CnvPlaneShape *)jobs->shapes->data,
                    (const CnvMaskPlace *)jobs->places->data, jobs->mask_cells->data};
}

/* Computes the weights of n samples to the left or right of a rectangle. down: the fade along y in this row. */
static void
weigh_fade(const CnvPlaneShape *s, int x, int n, float down, guint8 *to)
{
  for (int i = 0; i < n; i++)
    to[i] = (guint8)cnv_weight_byte(cnv_fade(x + i, s->x0, s->x1, s->reach_x, s->fade_x) * down);
}

static void
weigh_rectangle(const CnvPlaneShape *s, int x, int n, int y, guint8 *to)
{
  const float down = cnv_fade(y, s->y0, s->y1, s->reach_y, s->fade_y);
  int first = CLAMP(s->x0 - x, 0, n), last = CLAMP(s->x1 - x, first, n);

  weigh_fade(s, x, first, down, to);
  memset(to + first, cnv_weight_byte(down), (guint)(last - first));
  weigh_fade(s, x + last, n - last, down, to + last);
}

/* Computes weights one by one, from the left and from the right, until they are 1. All samples in between have
 * weight 1. */
static void
weigh_ellipse(const CnvCover *cover, const CnvPlaneShape *s, int x, int n, int y, guint8 *to)
{
  int first = 0, last = n;

  while (first < last && (to[first] = (guint8)cnv_shape_weight(cover, s, x + first, y)) < CNV_WEIGHT_ONE)
    first++;
  while (last > first && (to[last - 1] = (guint8)cnv_shape_weight(cover, s, x + last - 1, y)) < CNV_WEIGHT_ONE)
    last--;
  if (first < last)
    memset(to + first, CNV_WEIGHT_ONE, last - first);
}

/* Most mask cells of a row that are interpolated vertically at once, before the horizontal interpolation: enough for a
 * row of a cell at two mask cells per sample. */
#define BLENDED (2 * CNV_CELL_WIDTH + 2)

/* Interpolates n cells vertically, between two rows. With 16-bit factors, compilers vectorise the loop on any
 * machine. */
static void
blend_down(guint32 *restrict to, const guint8 *restrict above, const guint8 *restrict below, int n, guint32 down)
{
  const gint16 upper = (gint16)(CNV_MASK_UNIT - down), lower = (gint16)down;

  for (int i = 0; i < n; i++)
    to[i] = (guint32)((gint16)above[i] * upper + (gint16)below[i] * lower);
}

/* Interpolates n weights horizontally from cells that blend_down has interpolated. step: distance of two samples, in
 * cells. */
static inline __attribute__((always_inline)) void
blend_along(guint8 *restrict to, const guint32 *restrict blended, int n, const int step, guint32 along)
{
  for (int i = 0; i < n; i++)
    to[i] = (guint8)((blended[step * i] * (CNV_MASK_UNIT - along) + blended[step * i + 1] * along +
                      CNV_MASK_UNIT * CNV_MASK_UNIT / 2) /
                     (CNV_MASK_UNIT * CNV_MASK_UNIT));
}

/* Computes the weights of n samples of a row, at most CNV_CELL_WIDTH, from a mask. They are equal to cnv_mask_weight,
 * but are interpolated vertically first. If the samples lie on the centres of consecutive cells, their weights are
 * copies of the cells. */
static void
weigh_mask(const CnvCover *cover, const CnvPlaneShape *s, int x, int n, int y, guint8 *to)
{
  const CnvMaskPlace *mask = cover->place + (s->shape - CNV_SHAPE_MASK);
  const guint8 *cells = cover->mask_cells + mask->cells, *above, *below;
  const gint64 one = G_GINT64_CONSTANT(1) << 32, at = mask->first_x + mask->step_x * (x - mask->x0);
  int row[2], first[2], last[2], column[2];
  guint32 down = cnv_mask_cells(mask->first_y + mask->step_y * (y - mask->y0), mask->cells_y, row);
  guint32 along = cnv_mask_cells(at, mask->cells_x, first), blended[BLENDED];

  cnv_mask_cells(at + mask->step_x * (n - 1), mask->cells_x, last);
  above = cells + (gsize)row[0] * mask->cells_x;
  below = cells + (gsize)row[1] * mask->cells_x;
  if (mask->step_x == one && along == 0 && down == 0 && at >= 0 && first[0] + n <= mask->cells_x) {
    memcpy(to, above + first[0], n);
    return;
  }
  blend_down(blended, above + first[0], below + first[0], MIN(last[1] - first[0] + 1, BLENDED), down);
  if (at >= 0 && last[0] + 1 < mask->cells_x && (mask->step_x == one || mask->step_x == 2 * one)) {
    if (mask->step_x == one)
      blend_along(to, blended, n, 1, along);
    else
      blend_along(to, blended, n, 2, along);
    return;
  }
  for (int i = 0; i < n; i++) {
    along = cnv_mask_cells(at + mask->step_x * i, mask->cells_x, column);
    if (column[1] - first[0] < BLENDED)
      to[i] = (guint8)((blended[column[0] - first[0]] * (CNV_MASK_UNIT - along) +
                        blended[column[1] - first[0]] * along + CNV_MASK_UNIT * CNV_MASK_UNIT / 2) /
                       (CNV_MASK_UNIT * CNV_MASK_UNIT));
    else
      to[i] = (guint8)cnv_mask_weight(mask, cover->mask_cells, x + i, y);
  }
}

/* Computes the weights of n samples of a row, which all lie in the shape's box. */
static void
weigh_shape(const CnvCover *cover, const CnvPlaneShape *s, int x, int n, int y, guint8 *to)
{
  if (s->shape >= CNV_SHAPE_MASK)
    for (int from = 0; from < n; from += CNV_CELL_WIDTH)
      weigh_mask(cover, s, x + from, MIN(CNV_CELL_WIDTH, n - from), y, to + from);
  else if (s->shape == CNV_SHAPE_ELLIPSE)
    weigh_ellipse(cover, s, x, n, y, to);
  else
    weigh_rectangle(s, x, n, y, to);
}

/* Finds the samples first..last - 1 of a row of n that lie in the shape's box. Returns FALSE if there are none. */
static gboolean
find_reached(const CnvPlaneShape *s, int x, int n, int y, int *first, int *last)
{
  CnvBox box = cnv_shape_box(s);

  *first = CLAMP(box.x0 - x, 0, n);
  *last = CLAMP(box.x1 - x, *first, n);
  return *first < *last && cnv_fade(y, s->y0, s->y1, s->reach_y, s->fade_y) > 0;
}

/* Replaces n weights by the weights of a stronger shape if these are at least as large and above 0. owned: 255 for
 * samples that the job's layer owns. own: 255 if it owns the shape's samples. */
static void
merge(const guint8 *weight, guint8 own, int n, guint8 *to, guint8 *owned)
{
  for (int k = 0; k < n; k++) {
    gboolean counts = weight[k] > 0 && weight[k] >= to[k];

    to[k] = counts ? weight[k] : to[k];
    owned[k] = counts ? own : owned[k];
  }
}

/* Computes the weights of n samples of a row of the cell. n is at most a cell's width. */
static void
weigh_cell(const CnvCover *cover, const CnvGrid *grid, const CnvCell *cell, const CnvJob *job, int x, int n, int y,
           guint8 *to)
{
  guint8 weight[CNV_CELL_WIDTH], owned[CNV_CELL_WIDTH] = {0};
  const guint8 flip = grid->invert ? CNV_WEIGHT_ONE : 0;

  memset(to, 0, n);
  for (int i = 0; i < cell->n; i++) {
    const CnvPlaneShape *s = cover->shape + cover->list[cell->first + i];
    gboolean owns =
        grid->invert || job->cover == CNV_COVER_ALL || (cell->layer < 0 ? s->layer : cell->layer) == job->layer;
    guint8 own = owns ? 255 : 0;
    int first, last;

    if (!find_reached(s, x, n, y, &first, &last))
      continue;
    weigh_shape(cover, s, x + first, last - first, y, i == 0 ? to + first : weight);
    if (i == 0)
      memset(owned + first, own, last - first);
    else
      merge(weight, own, last - first, to + first, owned + first);
  }
  for (int k = 0; k < n; k++)
    to[k] = (guint8)((to[k] & owned[k]) ^ flip); /* 255 - weight with invert */
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
    const CnvPlaneShape *s = cover->shape + (job->cover - CNV_COVER_SHAPE);
    int first, last;

    memset(to, 0, job->width);
    if (find_reached(s, job->x, job->width, y, &first, &last))
      weigh_shape(cover, s, job->x + first, last - first, y, to + first);
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
