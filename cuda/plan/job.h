/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Jobs: the rectangles into which the work on a frame is divided, for both engines. Plain C, because the CUDA kernels
 * include it.
 */
#pragma once

#include <stdint.h>

#include <convolve/border.h>

/* A rectangle of one plane and field that one plan filters. Coordinates are pixels of the plane and rows of the
 * field: row y of field f is row y * fields + f of the plane. */
typedef struct {
  int plan, plane;
  int field, fields; /* 0 of 1, or 0 or 1 of 2 */
  int x, y, width, height;
  int window_x, window_y, window_width, window_height; /* samples that may be read; the border begins outside */
  int move_x, move_y;                                  /* offset from the place filtered to the place written */
  int cells_x, cells_y;                                /* corner of a mosaic's first cell, at or before the window's
                                                          corner */
  int layer, grid;                                     /* source of its weights (regions/shape.h) */
  /* Coverage: the weights of the job's pixels, a byte each, 255 for weight 1, in one buffer for all jobs. coverage:
   * index of the byte of the job's first pixel, equal to job.x modulo CNV_COVERAGE_ALIGNMENT. coverage_pitch: bytes
   * from row to row, a multiple of CNV_COVERAGE_ALIGNMENT. If it is 0, the job has no coverage, and all its pixels
   * have weight 1. A row can be read from the aligned byte at or before its first pixel to the aligned end. Bytes
   * beside the job are 0. */
  uint64_t coverage;
  int coverage_pitch;
  int shared; /* with coverage: other jobs may write the pixels that have weight 0, so this job must not */
  int whole;  /* with coverage: the job writes all of the field, and copies the pixels that have weight 0 */
  /* Which weights the coverage has: CNV_COVER_MADE, CNV_COVER_OWN, CNV_COVER_ALL, or CNV_COVER_SHAPE plus the index
   * of a shape. */
  int cover;
  /* For normalised convolution: 1 + index of a job in CnvJobs.weights. The coverage of that job has the weights of
   * all pixels that the filter reads. If that job has no coverage, or `weights` is 0, they all have weight 1. */
  int weights;
} CnvJob;

#define CNV_COVER_MADE -1 /* part of the coverage of a job in CnvJobs.weights, computed with it */
#define CNV_COVER_OWN 0   /* weights of the pixels that the job's layer owns; 0 elsewhere */
#define CNV_COVER_ALL 1   /* the largest weight of all regions; with invert 1 minus that */
#define CNV_COVER_SHAPE 2 /* the weight of one shape */

#define CNV_COVERAGE_ALIGNMENT 16
#define CNV_WEIGHT_ONE 255

/* Returns the number of bytes in a row of coverage, including the bytes beside the job. */
CNV_HOST_DEVICE static inline int
cnv_coverage_bytes(const CnvJob *job)
{
  const int bytes = job->x % CNV_COVERAGE_ALIGNMENT + job->width + CNV_COVERAGE_ALIGNMENT - 1;

  return bytes - bytes % CNV_COVERAGE_ALIGNMENT;
}

/* Returns the address of the coverage of the job's pixel at column x of row y. The row's next pixels follow it. */
CNV_HOST_DEVICE static inline const uint8_t *
cnv_job_weights(const CnvJob *job, const uint8_t *coverage, int x, int y)
{
  return coverage + job->coverage + (int64_t)(y - job->y) * job->coverage_pitch + (x - job->x);
}

/* Returns the weight, 0..CNV_WEIGHT_ONE, of a pixel at column x of row y that a filter reads. weights: the job that
 * CnvJob.weights names. */
CNV_HOST_DEVICE static inline int
cnv_filter_weight(const CnvJob *weights, const uint8_t *coverage, int x, int y)
{
  if (weights->coverage_pitch == 0)
    return CNV_WEIGHT_ONE;
  if (x < weights->x || y < weights->y || x >= weights->x + weights->width || y >= weights->y + weights->height)
    return 0;
  return *cnv_job_weights(weights, coverage, x, y);
}
