/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The cells of a mosaic, each filled with one colour, for host and device. They are laid out in luma samples from a
 * corner. Along an axis, cell k of a plane has the samples whose centre is in cell k of luma, so that the cells of all
 * planes coincide. Cells are cut off at the window's edge, and the nearest cell continues beyond it.
 */
#pragma once

#include "plan/plane.h"
#include "plan/job.h"

/* Returns TRUE if the plane is a mosaic whose output depends on the input's samples. The output of a fill does not. */
CNV_HOST_DEVICE static inline int
cnv_cells_have_means(const CnvPlane *plane)
{
  int counts = plane->weight >= 0;

  for (int c = 0; c < plane->channels; c++)
    counts |= (plane->filtered >> c & 1) && plane->gain[c] != 0;
  return counts && plane->cell[CNV_X] > 0;
}

/* Returns the number of samples from the corner to the first sample of cell k. */
CNV_HOST_DEVICE static inline int
cnv_cell_start(const CnvPlane *plane, int axis, int k)
{
  const int shift = plane->cell_shift[axis];

  return (2 * k * plane->cell[axis] + (1 << shift) - 1) >> (shift + 1);
}

/* Returns the index of the cell that sets the value of a job's sample. at: column or row of the sample. */
CNV_HOST_DEVICE static inline int
cnv_cell_of(const CnvPlane *plane, const CnvJob *job, int axis, int at)
{
  const int from = axis == CNV_X ? job->window_x : job->window_y;
  const int size = axis == CNV_X ? job->window_width : job->window_height;
  const int inside = at < from ? from : at >= from + size ? from + size - 1 : at;

  return ((2 * (inside - (axis == CNV_X ? job->cells_x : job->cells_y)) + 1) << plane->cell_shift[axis]) /
         (2 * plane->cell[axis]);
}

/* Returns the first sample in the mean of a job's cell k, limited to the window. Cell k ends where the next one
 * begins. */
CNV_HOST_DEVICE static inline int
cnv_cell_edge(const CnvPlane *plane, const CnvJob *job, int axis, int k)
{
  const int from = axis == CNV_X ? job->window_x : job->window_y;
  const int end = from + (axis == CNV_X ? job->window_width : job->window_height);
  const int at = (axis == CNV_X ? job->cells_x : job->cells_y) + cnv_cell_start(plane, axis, k);

  return at < from ? from : at > end ? end : at;
}
