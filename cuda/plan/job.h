/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * A frame's work cut into jobs, for both engines: rectangles, and the masks that give the weight of each sample. Plain
 * C, read by the CUDA kernels too.
 */
#pragma once

#include <math.h>
#include <stdint.h>

#include <convolve/border.h>

/* Steps between the centres of two cells, by which weights are interpolated. */
#define CNV_MASK_UNIT 4096u

/* Added to places in masks, in 2^-32 cells: places at whole steps are many, and stay at theirs however they are
 * rounded. */
#define CNV_MASK_BIAS 5872

/* Weights are rounded to steps of 1/255 in units of 2^-16 steps. A half is rounded up, and so is what is up to 8 units
 * less: float32 is off by at most 4. */
#define CNV_WEIGHT_BITS 16
#define CNV_WEIGHT_UNIT 65536.0f
#define CNV_WEIGHT_ROUNDING (32768 + 8)

/* A region, or a part of one, in one plane and field: samples from (x0, y0) up to but without (x1, y1) have the weight
 * of its shape, 1 for a rectangle. */
typedef struct {
  int x0, y0, x1, y1;
  int layer;            /* of the jobs that may write its samples */
  float fade_x, fade_y; /* loss of weight for each sample outside: 1 / (f + 1) of work.h; a mask's is 1 */
  int shape;            /* CnvShape; CNV_SHAPE_MASK and more: a mask at that place */
} CnvMaskRect;

/* A mask over a region in one plane and field: index of its first cell among those of all masks, columns and rows of
 * cells, and the cell at the sample (x0, y0) and from sample to sample, in 2^-32; whole numbers are cells' centres. */
typedef struct {
  uint32_t cells;
  int cells_x, cells_y;
  int x0, y0;
  int64_t first_x, first_y, step_x, step_y;
} CnvMaskPlace;

/* The masks of a frame's work: of their places and of the cells of all of them, one behind the other, too. */
typedef struct {
  const CnvMaskRect *rect;
  const CnvMaskPlace *place;
  const uint8_t *cells;
} CnvMasks;

/* A rectangle of one plane and field to be filtered by one plan. Coordinates are pixels of the plane and rows of the
 * field: row y of field f lies in row y * fields + f of the plane. */
typedef struct {
  int plan, plane;
  int field, fields; /* 0 of 1, or 0 or 1 of 2 */
  int x, y, width, height;
  int window_x, window_y, window_width, window_height; /* samples that may be read; the border begins outside */
  int move_x, move_y;                                  /* from the place filtered to the place written */
  int cells_x, cells_y; /* corner of the first cell of a mosaic, at or before the window's */
  int layer, invert;
  int first_mask_rect, n_mask_rects; /* the last wins a tie; none: weight 1 throughout */
  /* Coverage: a byte for each pixel, 255 for weight 1, in the coverage of the frame's work. coverage: index of the byte
   * of the job's first pixel, equal to job.x modulo CNV_COVERAGE_ALIGNMENT. coverage_pitch: bytes from row to row, a
   * multiple of that; 0: the job has no coverage, and weight 1 throughout. Rows are readable from the aligned byte at
   * or before the first to the aligned end; bytes beside the job are 0. */
  uint64_t coverage;
  int coverage_pitch;
  int shared; /* with coverage: other jobs may write the pixels that have weight 0; this one must not */
} CnvJob;

#define CNV_COVERAGE_ALIGNMENT 16

/* The coverage of the job's pixel at column x of row y. */
CNV_HOST_DEVICE static inline const uint8_t *
cnv_job_weights(const CnvJob *job, const uint8_t *coverage, int x, int y)
{
  return coverage + job->coverage + (int64_t)(y - job->y) * job->coverage_pitch + (x - job->x);
}

CNV_HOST_DEVICE static inline float
cnv_fade(int at, int from, int to, float fade)
{
  int away = at < from ? from - at : at >= to ? at - to + 1 : 0;
  float weight = 1.0f - (float)away * fade;

  return weight > 0.0f ? weight : 0.0f;
}

/* Rounds a weight of 0..1 to steps of 1/255 (work.h). */
CNV_HOST_DEVICE static inline int
cnv_weight_steps(float weight)
{
  return (int)(((uint32_t)(weight * (255 * CNV_WEIGHT_UNIT)) + CNV_WEIGHT_ROUNDING) >> CNV_WEIGHT_BITS);
}

/* Several jobs find out by weights which of them writes a sample: each has to find the same ones, to the bit. So
 * sums of products, which compilers round once or twice as they like, are sums of integers here. */

/* Length of the vector (x, y), each at most 2^10 for this. */
CNV_HOST_DEVICE static inline float
cnv_length(float x, float y)
{
  const float unit = 1 << 20, most = 1 << 10;
  int64_t across = (int64_t)((x < -most ? -most : x > most ? most : x) * unit);
  int64_t down = (int64_t)((y < -most ? -most : y > most ? most : y) * unit);

  return sqrtf((float)(across * across + down * down)) / unit;
}

/* Weight of an ellipse at a sample (work.h), save for what its rectangle limits it to. With the point's distance from
 * the centre as 1, the inner ellipse lies on its ray at 1 / inner, the outer one at 1 / outer. */
CNV_HOST_DEVICE static inline float
cnv_ellipse_weight(const CnvMaskRect *mask, int x, int y)
{
  float half_x = 0.5f * (float)(mask->x1 - 1 - mask->x0), half_y = 0.5f * (float)(mask->y1 - 1 - mask->y0);
  float from_x = (float)(x - mask->x0) - half_x, from_y = (float)(y - mask->y0) - half_y;
  float inner = cnv_length(from_x / (half_x > 0.01f ? half_x : 0.01f), from_y / (half_y > 0.01f ? half_y : 0.01f));
  float outer = cnv_length(from_x / (half_x + 1.0f / mask->fade_x), from_y / (half_y + 1.0f / mask->fade_y));

  if (inner <= 1.0f)
    return 1.0f;
  return outer < 1.0f ? inner * (1.0f - outer) / (inner - outer) : 0.0f;
}

/* The cells beside a place along an axis, and how far it lies from the first to the second, of CNV_MASK_UNIT. at: in
 * 2^-32. */
CNV_HOST_DEVICE static inline uint32_t
cnv_mask_cells(int64_t at, int cells, int cell[2])
{
  const int64_t last = (int64_t)(cells - 1) << 32;

  at = at < 0 ? 0 : at > last ? last : at;
  cell[0] = (int)(at >> 32);
  cell[1] = cell[0] + 1 < cells ? cell[0] + 1 : cell[0];
  return (uint32_t)at / (uint32_t)((1ull << 32) / CNV_MASK_UNIT);
}

/* Weight of a mask at a sample inside it, in steps of 1/255. */
CNV_HOST_DEVICE static inline int
cnv_mask_steps(const CnvMaskPlace *mask, const uint8_t *cells, int x, int y)
{
  int column[2], row[2];
  uint32_t along = cnv_mask_cells(mask->first_x + mask->step_x * (x - mask->x0), mask->cells_x, column);
  uint32_t down = cnv_mask_cells(mask->first_y + mask->step_y * (y - mask->y0), mask->cells_y, row);
  uint32_t across[2];

  for (int i = 0; i < 2; i++) {
    const uint8_t *of = cells + mask->cells + (int64_t)row[i] * mask->cells_x;

    across[i] = of[column[0]] * (CNV_MASK_UNIT - along) + of[column[1]] * along;
  }
  return (int)((across[0] * (CNV_MASK_UNIT - down) + across[1] * down + CNV_MASK_UNIT * CNV_MASK_UNIT / 2) /
               (CNV_MASK_UNIT * CNV_MASK_UNIT));
}

/* Weight of one of the masks, in steps of 1/255. */
CNV_HOST_DEVICE static inline int
cnv_mask_rect_steps(const CnvMasks *masks, const CnvMaskRect *mask, int x, int y)
{
  float around = cnv_fade(x, mask->x0, mask->x1, mask->fade_x) * cnv_fade(y, mask->y0, mask->y1, mask->fade_y), shape;

  if (mask->shape == CNV_SHAPE_RECTANGLE || around <= 0.0f)
    return cnv_weight_steps(around);
  if (mask->shape != CNV_SHAPE_ELLIPSE) /* whose fades are 1: around is, too */
    return cnv_mask_steps(masks->place + (mask->shape - CNV_SHAPE_MASK), masks->cells, x, y);
  shape = cnv_ellipse_weight(mask, x, y);
  return cnv_weight_steps(shape < around ? shape : around);
}

/* Weight of the sample at (x, y) in a job that has masks, in steps of 1/255; 0 where the sample is another layer's. */
CNV_HOST_DEVICE static inline int
cnv_job_steps(const CnvJob *job, const CnvMasks *masks, int x, int y)
{
  int largest = 0, owner = job->layer;

  for (int i = 0; i < job->n_mask_rects; i++) {
    const CnvMaskRect *mask = masks->rect + job->first_mask_rect + i;
    int steps = cnv_mask_rect_steps(masks, mask, x, y);

    if (steps > 0 && steps >= largest) {
      largest = steps;
      owner = mask->layer;
    }
  }
  if (job->invert)
    return 255 - largest;
  return owner == job->layer ? largest : 0;
}

CNV_HOST_DEVICE static inline float
cnv_job_weight(const CnvJob *job, const CnvMasks *masks, int x, int y)
{
  return (float)cnv_job_steps(job, masks, x, y) / 255.0f;
}
