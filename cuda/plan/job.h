/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Jobs: the rectangles that a frame's work is cut into, for both engines. Plain C, read by the CUDA kernels too.
 */
#pragma once

#include <stdint.h>

#include <convolve/border.h>

/* A rectangle of one plane and field to be filtered by one plan. Coordinates are pixels of the plane and rows of the
 * field: row y of field f lies in row y * fields + f of the plane. */
typedef struct {
  int plan, plane;
  int field, fields; /* 0 of 1, or 0 or 1 of 2 */
  int x, y, width, height;
  int window_x, window_y, window_width, window_height; /* samples that may be read; the border begins outside */
  int move_x, move_y;                                  /* from the place filtered to the place written */
  int cells_x, cells_y; /* corner of the first cell of a mosaic, at or before the window's */
  int layer, grid;      /* that its weights are of (regions/shape.h) */
  /* Coverage: a byte for each pixel, 255 for weight 1, in the coverage of the frame's work. coverage: index of the byte
   * of the job's first pixel, equal to job.x modulo CNV_COVERAGE_ALIGNMENT. coverage_pitch: bytes from row to row, a
   * multiple of that; 0: the job has no coverage, and weight 1 throughout. Rows are readable from the aligned byte at
   * or before the first to the aligned end; bytes beside the job are 0. */
  uint64_t coverage;
  int coverage_pitch;
  int shared; /* with coverage: other jobs may write the pixels that have weight 0; this one must not */
  int whole;  /* with coverage: the job writes all of the field, and copies the pixels that have weight 0 */
  /* What the coverage is of: CNV_COVER_OWN, CNV_COVER_ALL or, from CNV_COVER_SHAPE on, the shape of that number.
   * CNV_COVER_MADE: it is a part of another job's, with which it is made. */
  int cover;
  /* Of a plan for normalised convolution: 1 + index in the work's list of weights. That is a job which has the coverage
   * of all pixels that the filter reads, or no coverage if all of them have weight 1. 0: they have. */
  int weights;
} CnvJob;

#define CNV_COVER_MADE -1
#define CNV_COVER_OWN 0 /* the pixels that the job's layer owns */
#define CNV_COVER_ALL 1 /* the largest weight; with invert 1 minus that */
#define CNV_COVER_SHAPE 2

#define CNV_COVERAGE_ALIGNMENT 16
#define CNV_WEIGHT_ONE 255

/* Bytes of a row of coverage with those beside the job. */
CNV_HOST_DEVICE static inline int
cnv_coverage_bytes(const CnvJob *job)
{
  const int bytes = job->x % CNV_COVERAGE_ALIGNMENT + job->width + CNV_COVERAGE_ALIGNMENT - 1;

  return bytes - bytes % CNV_COVERAGE_ALIGNMENT;
}

/* The coverage of the job's pixel at column x of row y, and of those after it. */
CNV_HOST_DEVICE static inline const uint8_t *
cnv_job_weights(const CnvJob *job, const uint8_t *coverage, int x, int y)
{
  return coverage + job->coverage + (int64_t)(y - job->y) * job->coverage_pitch + (x - job->x);
}

/* Weight of the pixel at column x of row y for a filter, of CNV_WEIGHT_ONE. weights: of its job. */
CNV_HOST_DEVICE static inline int
cnv_filter_weight(const CnvJob *weights, const uint8_t *coverage, int x, int y)
{
  if (weights->coverage_pitch == 0)
    return CNV_WEIGHT_ONE;
  if (x < weights->x || y < weights->y || x >= weights->x + weights->width || y >= weights->y + weights->height)
    return 0;
  return *cnv_job_weights(weights, coverage, x, y);
}
