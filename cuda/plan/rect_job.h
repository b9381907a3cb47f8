/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * A frame's work cut into jobs, for both engines: rectangles, and the masks that give the weight of each sample. Plain
 * C, read by the CUDA kernels too.
 */
#pragma once

#include <convolve/border.h>

/* A region in one plane and field: samples from (x0, y0) up to but without (x1, y1) have weight 1. */
typedef struct {
  int x0, y0, x1, y1;
  int layer;            /* of the jobs that may write its samples */
  float fade_x, fade_y; /* loss of weight for each sample outside: 1 / (f + 1) of work.h */
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

/* Weight of the sample at (x, y) in a job that has masks; 0 where the sample is another layer's. */
CNV_HOST_DEVICE static inline float
cnv_rect_job_weight(const CnvRectJob *job, const CnvMaskRect *masks, int x, int y)
{
  float largest = 0.0f;
  int owner = job->layer;

  for (int i = 0; i < job->n_mask_rects; i++) {
    const CnvMaskRect *mask = masks + job->first_mask_rect + i;
    float weight = cnv_fade(x, mask->x0, mask->x1, mask->fade_x) * cnv_fade(y, mask->y0, mask->y1, mask->fade_y);

    if (weight > 0.0f && weight >= largest) {
      largest = weight;
      owner = mask->layer;
    }
  }
  if (job->invert)
    return 1.0f - largest;
  return owner == job->layer ? largest : 0.0f;
}
