/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The weight of a sample, computed from the shapes of its cell: the same code on host and device. Plain C.
 *
 * Host and device compute the same weights to the bit. Compilers may fuse a product and a sum, which rounds once
 * instead of twice, so float32 code here adds nothing to a product. A bias keeps results near a tie from being rounded
 * up on the host and down on the device.
 */
#pragma once

#include <math.h>
#include <stdint.h>

#include "plan/job.h"

/* The size of a cell, in samples of a plane's field. */
#define CNV_CELL_WIDTH 128
#define CNV_CELL_HEIGHT 64

/* Interpolation steps from one mask cell to the next. */
#define CNV_MASK_UNIT 4096u

/* Added to positions in masks, in 2^-32 cells: many positions lie exactly on a step, and rounding must not move them
 * off it. */
#define CNV_MASK_BIAS 5872

/* A region in one plane and field. Samples from (x0, y0) up to, but not including, (x1, y1) have the weight of the
 * shape. For CNV_SHAPE_RECTANGLE that is 1. */
typedef struct {
  int x0, y0, x1, y1;
  float reach_x, reach_y; /* f + 1 of work.h: distance of the first sample outside that has no weight; 1 for masks */
  float fade_x, fade_y;   /* 1 / reach */
  int shape;              /* CnvShape; CNV_SHAPE_MASK + i: the mask at place i */
  int layer;              /* jobs of this layer filter the samples that the shape owns */
} CnvPlaneShape;

/* A mask over a region in one plane and field. cells: index of its first cell among the cells of all masks. first_x,
 * first_y: position in the mask of the sample (x0, y0). step_x, step_y: from sample to sample. Positions and steps are
 * in 2^-32 cells, and whole numbers are the centres of cells. */
typedef struct {
  uint64_t cells;
  int cells_x, cells_y;
  int x0, y0;
  int64_t first_x, first_y, step_x, step_y;
} CnvMaskPlace;

/* A cell of a plane's field, and the shapes that may decide its weights, from the weakest to the strongest. */
typedef struct {
  uint32_t first; /* index in CnvCover.list */
  int n;
  int layer;  /* owner of all samples that have weight; -1: each shape's own layer */
  int weight; /* of all samples, if there is only one layer: 0 or CNV_WEIGHT_ONE; -1: they differ */
} CnvCell;

/* The cells of a plane's field, row by row. */
typedef struct {
  int columns;
  int invert;
  uint32_t first_cell;
} CnvGrid;

/* The arrays from which the weights of a frame's work are computed, in the memory of host or device. */
typedef struct {
  const CnvGrid *grid;
  const CnvCell *cell;
  const uint16_t *list; /* indices of shapes */
  const CnvPlaneShape *shape;
  const CnvMaskPlace *place;
  const uint8_t *mask_cells;
} CnvCover;

/* Returns the multiple of 1/255 that is nearest to a weight of 0..1. Halves, and weights that float32 cannot
 * distinguish from halves, are rounded up. */
CNV_HOST_DEVICE static inline int
cnv_weight_byte(float weight)
{
  return ((int)(weight * (255 * 65536.0f)) + 32768 + 8) >> 16;
}

CNV_HOST_DEVICE static inline float
cnv_fade(int at, int from, int to, float reach, float fade)
{
  const int away = at < from ? from - at : at >= to ? at - to + 1 : 0;
  const float left = reach - (float)away;

  return away == 0 ? 1.0f : left > 0 ? left * fade : 0.0f;
}

/* Returns the length of the vector (x, y). Components above 2^10 count as 2^10. */
CNV_HOST_DEVICE static inline float
cnv_length(float x, float y)
{
  const float unit = 1 << 20, most = 1 << 10;
  const int64_t across = (int64_t)((x < -most ? -most : x > most ? most : x) * unit);
  const int64_t down = (int64_t)((y < -most ? -most : y > most ? most : y) * unit);

  return sqrtf((float)(across * across + down * down)) / unit;
}

/* Returns the half axis, along x or y, of the ellipse inside which the weight is 1. */
CNV_HOST_DEVICE static inline float
cnv_half_axis(int from, int to)
{
  return 0.5f * (float)(to - 1 - from);
}

/* Returns the weight of an ellipse at a sample (work.h), without the limit of its rectangle. If the sample is at
 * distance 1 from the centre, its ray meets the inner ellipse at 1 / inner and the outer ellipse at 1 / outer. */
CNV_HOST_DEVICE static inline float
cnv_ellipse_weight(const CnvPlaneShape *s, int x, int y)
{
  const float half_x = cnv_half_axis(s->x0, s->x1), half_y = cnv_half_axis(s->y0, s->y1);
  const float from_x = (float)(x - s->x0) - half_x, from_y = (float)(y - s->y0) - half_y;
  const float inner =
      cnv_length(from_x / (half_x > 0.01f ? half_x : 0.01f), from_y / (half_y > 0.01f ? half_y : 0.01f));
  float outer;

  if (inner <= 1.0f)
    return 1.0f;
  outer = cnv_length(from_x / (half_x + s->reach_x), from_y / (half_y + s->reach_y));
  return outer < 1.0f ? inner * (1.0f - outer) / (inner - outer) : 0.0f;
}

/* Finds the two cells beside a position along an axis. Returns the position between them, 0 at the first and
 * CNV_MASK_UNIT at the second. at: in 2^-32 cells. */
CNV_HOST_DEVICE static inline uint32_t
cnv_mask_cells(int64_t at, int cells, int cell[2])
{
  const int64_t last = (int64_t)(cells - 1) << 32;

  at = at < 0 ? 0 : at > last ? last : at;
  cell[0] = (int)(at >> 32);
  cell[1] = cell[0] + 1 < cells ? cell[0] + 1 : cell[0];
  return (uint32_t)at / (uint32_t)((1ull << 32) / CNV_MASK_UNIT);
}

/* Returns the weight of a mask at a sample inside it, 0..255. */
CNV_HOST_DEVICE static inline int
cnv_mask_weight(const CnvMaskPlace *mask, const uint8_t *cells, int x, int y)
{
  int column[2], row[2];
  const uint32_t along = cnv_mask_cells(mask->first_x + mask->step_x * (x - mask->x0), mask->cells_x, column);
  const uint32_t down = cnv_mask_cells(mask->first_y + mask->step_y * (y - mask->y0), mask->cells_y, row);
  uint32_t across[2];

  for (int i = 0; i < 2; i++) {
    const uint8_t *cell_row = cells + mask->cells + (int64_t)row[i] * mask->cells_x;

    across[i] = cell_row[column[0]] * (CNV_MASK_UNIT - along) + cell_row[column[1]] * along;
  }
  return (int)((across[0] * (CNV_MASK_UNIT - down) + across[1] * down + CNV_MASK_UNIT * CNV_MASK_UNIT / 2) /
               (CNV_MASK_UNIT * CNV_MASK_UNIT));
}

/* Returns the weight of a shape at a sample, 0..255. */
CNV_HOST_DEVICE static inline int
cnv_shape_weight(const CnvCover *cover, const CnvPlaneShape *s, int x, int y)
{
  const float around =
      cnv_fade(x, s->x0, s->x1, s->reach_x, s->fade_x) * cnv_fade(y, s->y0, s->y1, s->reach_y, s->fade_y);
  float ellipse;

  if (s->shape == CNV_SHAPE_RECTANGLE || around <= 0.0f)
    return cnv_weight_byte(around);
  if (s->shape >= CNV_SHAPE_MASK)
    return cnv_mask_weight(cover->place + (s->shape - CNV_SHAPE_MASK), cover->mask_cells, x, y);
  ellipse = cnv_ellipse_weight(s, x, y);
  return cnv_weight_byte(ellipse < around ? ellipse : around);
}

/* Returns the weight of the sample at (x, y) for a job with coverage, 0..255. With CNV_COVER_OWN it is 0 if another
 * layer owns the sample. */
CNV_HOST_DEVICE static inline int
cnv_cover_weight(const CnvCover *cover, const CnvJob *job, int x, int y)
{
  const CnvGrid *grid = cover->grid + job->grid;
  const CnvCell *cell = cover->cell + grid->first_cell + y / CNV_CELL_HEIGHT * grid->columns + x / CNV_CELL_WIDTH;
  int largest = 0, owner = job->layer;

  if (job->cover >= CNV_COVER_SHAPE)
    return cnv_shape_weight(cover, cover->shape + (job->cover - CNV_COVER_SHAPE), x, y);
  for (int i = 0; i < cell->n; i++) {
    const CnvPlaneShape *s = cover->shape + cover->list[cell->first + i];
    const int weight = cnv_shape_weight(cover, s, x, y);

    if (weight > 0 && weight >= largest) {
      largest = weight;
      owner = s->layer;
    }
  }
  if (grid->invert)
    return CNV_WEIGHT_ONE - largest;
  return job->cover == CNV_COVER_ALL || (cell->layer < 0 ? owner : cell->layer) == job->layer ? largest : 0;
}
