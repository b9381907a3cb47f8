/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * A frame's work cut into jobs, for both engines: rectangles, and the masks that give the weight of each sample. Plain
 * C, read by the CUDA kernels too.
 */
#pragma once

#include <math.h>
#include <stdint.h>

#include <convolve/border.h>

/* A region, or a part of one, in one plane and field: samples from (x0, y0) up to but without (x1, y1) have the weight
 * of its shape, 1 for a rectangle. */
typedef struct {
  int x0, y0, x1, y1;
  int layer;            /* of the jobs that may write its samples */
  float fade_x, fade_y; /* loss of weight for each sample outside: 1 / (f + 1) of work.h; a mask's is 1 */
  int shape;            /* CnvShape */
  /* A mask: index of its first cell among the bytes of all masks, columns and rows of cells, and the cell at the sample
   * (x, y), first + step * (x, y), where whole numbers are cells' centres. */
  uint32_t cells;
  int cells_x, cells_y;
  float first_x, first_y, step_x, step_y;
} CnvMaskRect;

/* A rectangle of one plane and field to be filtered by one plan. Coordinates are pixels of the plane and rows of the
 * field: row y of field f lies in row y * fields + f of the plane. */
typedef struct {
  int plan, plane;
  int field, fields; /* 0 of 1, or 0 or 1 of 2 */
  int x, y, width, height;
  int window_x, window_y, window_width, window_height; /* samples that may be read; the border begins outside */
  int move_x, move_y;                                  /* from the place filtered to the place written */
  int layer, invert;
  int first_mask_rect, n_mask_rects; /* the last wins a tie; none: weight 1 throughout */
} CnvRectJob;

CNV_HOST_DEVICE static inline float
cnv_fade(int at, int from, int to, float fade)
{
  int away = at < from ? from - at : at >= to ? at - to + 1 : 0;
  float weight = 1.0f - (float)away * fade;

  return weight > 0.0f ? weight : 0.0f;
}

/* Weight of an ellipse at a sample (work.h). With the point's distance from the centre as 1, the inner ellipse lies on
 * its ray at 1 / inner, the outer one at 1 / outer. */
CNV_HOST_DEVICE static inline float
cnv_ellipse_weight(const CnvMaskRect *mask, int x, int y)
{
  float half_x = 0.5f * (float)(mask->x1 - 1 - mask->x0), half_y = 0.5f * (float)(mask->y1 - 1 - mask->y0);
  float from_x = (float)(x - mask->x0) - half_x, from_y = (float)(y - mask->y0) - half_y;
  float a = half_x > 0.01f ? half_x : 0.01f, b = half_y > 0.01f ? half_y : 0.01f;
  float inner_x = from_x / a, inner_y = from_y / b;
  float outer_x = from_x / (a + 1.0f / mask->fade_x), outer_y = from_y / (b + 1.0f / mask->fade_y);
  float inner = sqrtf(inner_x * inner_x + inner_y * inner_y), outer = sqrtf(outer_x * outer_x + outer_y * outer_y);

  if (inner <= 1.0f)
    return 1.0f;
  return outer < 1.0f ? inner * (1.0f - outer) / (inner - outer) : 0.0f;
}

/* The cells beside a place along an axis, and how far it lies from the first to the second. */
CNV_HOST_DEVICE static inline float
cnv_mask_cells(float at, int cells, int cell[2])
{
  float last = (float)(cells - 1);

  at = at > 0.0f ? at : 0.0f;
  at = at < last ? at : last;
  cell[0] = (int)at;
  cell[1] = cell[0] + 1 < cells ? cell[0] + 1 : cell[0];
  return at - (float)cell[0];
}

/* Weight of a mask at a sample inside it. */
CNV_HOST_DEVICE static inline float
cnv_mask_weight(const CnvMaskRect *mask, const uint8_t *cells, int x, int y)
{
  int column[2], row[2];
  float along = cnv_mask_cells(mask->first_x + mask->step_x * (float)x, mask->cells_x, column);
  float down = cnv_mask_cells(mask->first_y + mask->step_y * (float)y, mask->cells_y, row);
  float across[2];

  for (int i = 0; i < 2; i++) {
    const uint8_t *of = cells + mask->cells + (int64_t)row[i] * mask->cells_x;

    across[i] = (float)of[column[0]] + along * ((float)of[column[1]] - (float)of[column[0]]);
  }
  return (across[0] + down * (across[1] - across[0])) / 255.0f;
}

/* cells: of all masks. */
CNV_HOST_DEVICE static inline float
cnv_mask_rect_weight(const CnvMaskRect *mask, const uint8_t *cells, int x, int y)
{
  if (mask->shape == CNV_SHAPE_ELLIPSE)
    return cnv_ellipse_weight(mask, x, y);
  if (mask->shape == CNV_SHAPE_MASK && x >= mask->x0 && x < mask->x1 && y >= mask->y0 && y < mask->y1)
    return cnv_mask_weight(mask, cells, x, y);
  return mask->shape == CNV_SHAPE_MASK
             ? 0.0f
             : cnv_fade(x, mask->x0, mask->x1, mask->fade_x) * cnv_fade(y, mask->y0, mask->y1, mask->fade_y);
}

/* Weight of the sample at (x, y) in a job that has masks; 0 where the sample is another layer's. */
CNV_HOST_DEVICE static inline float
cnv_rect_job_weight(const CnvRectJob *job, const CnvMaskRect *masks, const uint8_t *cells, int x, int y)
{
  float largest = 0.0f;
  int owner = job->layer;

  for (int i = 0; i < job->n_mask_rects; i++) {
    const CnvMaskRect *mask = masks + job->first_mask_rect + i;
    float weight = cnv_mask_rect_weight(mask, cells, x, y);

    if (weight > 0.0f && weight >= largest) {
      largest = weight;
      owner = mask->layer;
    }
  }
  if (job->invert)
    return 1.0f - largest;
  return owner == job->layer ? largest : 0.0f;
}
