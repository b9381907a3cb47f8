/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * A frame's work cut into rectangles that do not overlap, for both engines; and how much a sample of one counts. The
 * structures are plain C, read by the CUDA kernels too.
 */
#pragma once

#include <convolve/border.h>

/* A region in one plane and field: samples from (x0, y0) up to but without (x1, y1) weigh 1. */
typedef struct {
  int x0, y0, x1, y1;
  int layer;            /* which jobs may write it */
  float fade_x, fade_y; /* what a step away takes off its weight: 1 / (f + 1) of work.h */
} CnvMaskRect;

/* A rectangle of one plane and field to be filtered by one plan. Coordinates are pixels of the plane and rows of the
 * field: row y of field f lies in row y * fields + f of the plane. */
typedef struct {
  int plan, plane;
  int field, fields; /* 0 of 1, or 0 or 1 of 2 */
  int x, y, width, height;
  int window_x, window_y, window_width, window_height; /* what is read; the border lies outside of it */
  int move_x, move_y;                                  /* from the place filtered to the place written */
  int layer, invert;
  int first_spot, n_mask_rects; /* in order of precedence, the last first in a tie; none: all of it weighs 1 */
} CnvRectJob;

CNV_HOST_DEVICE static inline float
cnv_fade(int at, int from, int to, float fade)
{
  int away = at < from ? from - at : at >= to ? at - to + 1 : 0;
  float weight = 1.0f - (float)away * fade;

  return weight > 0.0f ? weight : 0.0f;
}

/* The weight of the sample at (x, y) in a job that has spots; 0 where it is another job's. */
CNV_HOST_DEVICE static inline float
cnv_rect_job_weight(const CnvRectJob *job, const CnvMaskRect *spots, int x, int y)
{
  float largest = 0.0f;
  int owner = job->layer;

  for (int i = 0; i < job->n_mask_rects; i++) {
    const CnvMaskRect *spot = spots + job->first_spot + i;
    float weight = cnv_fade(x, spot->x0, spot->x1, spot->fade_x) * cnv_fade(y, spot->y0, spot->y1, spot->fade_y);

    if (weight > 0.0f && weight >= largest) {
      largest = weight;
      owner = spot->layer;
    }
  }
  if (job->invert)
    return 1.0f - largest;
  return owner == job->layer ? largest : 0.0f;
}
