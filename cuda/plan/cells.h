/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The cells of a mosaic, each of one colour, for host and device. They are laid out in luma samples from a corner;
 * along an axis cell k of a plane has the samples whose centre lies in cell k of luma, so that the cells of all planes
 * coincide. Those at the window's edge are cut off there, and beyond it the nearest one goes on.
 */
#pragma once

#include "plan/plane.h"
#include "plan/job.h"

/* FALSE where samples do not count, as those under a fill. */
CNV_HOST_DEVICE static inline int
cnv_cells_have_means(const CnvPlane *plane)
{
  int counts = plane->weight >= 0;

  for (int c = 0; c < plane->channels; c++)
    counts |= (plane->filtered >> c & 1) && plane->gain[c] != 0;
  return counts && plane->cell[CNV_X] > 0;
}

/* Samples from the corner to the first one of cell k. */
CNV_HOST_DEVICE static inline int
cnv_cell_start(const CnvPlane *plane, int axis, int k)
{
  const int shift = plane->cell_shift[axis];

  return (2 * k * plane->cell[axis] + (1 << shift) - 1) >> (shift + 1);
}

/* Number of the cell that a job takes the value of a sample from. */
CNV_HOST_DEVICE static inline int
cnv_cell_of(const CnvPlane *plane, const CnvJob *job, int axis, int at)
{
  const int from = axis == CNV_X ? job->window_x : job->window_y;
  const int size = axis == CNV_X ? job->window_width : job->window_height;
  const int inside = at < from ? from : at >= from + size ? from + size - 1 : at;

  return ((2 * (inside - (axis == CNV_X ? job->cells_x : job->cells_y)) + 1) << plane->cell_shift[axis]) /
         (2 * plane->cell[axis]);
}

/* The first sample of cell k of a job that it takes the mean of; of the last one's end, k + 1. */
CNV_HOST_DEVICE static inline int
cnv_cell_edge(const CnvPlane *plane, const CnvJob *job, int axis, int k)
{
  const int from = axis == CNV_X ? job->window_x : job->window_y;
  const int end = from + (axis == CNV_X ? job->window_width : job->window_height);
  const int at = (axis == CNV_X ? job->cells_x : job->cells_y) + cnv_cell_start(plane, axis, k);

  return at < from ? from : at > end ? end : at;
}
