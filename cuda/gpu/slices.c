/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gpu/slices.h"
#include "plan/arith.h"

/* Bytes of a slice, at least. Its kernels, events and copies are some 4 us of launching; the bus, at some 54 GB/s on an
 * H200, takes more than twice that for so many bytes. */
#define SLICE_BYTES (512 * 1024)

/* Fewer slices save too little: so a frame below 2 MiB stays in one piece. */
#define SLICES_MIN 4

/* log2 of the rows of luma for one of the plane that has the fewest. */
static int
most_sub_y(const CnvFormat *format)
{
  int most = 0;

  for (int p = 0; p < format->n_planes; p++)
    most = MAX(most, format->plane[p].sub_y);
  return most;
}

/* End of slice k of n, in units. While the first is uploaded and the last downloaded nothing else is copied: so
 * they are as small as can be, and the others share the rest. */
static int
end_of(int k, int n, int units)
{
  return k == n - 1 ? units : 1 + (units - 2) * k / MAX(n - 2, 1);
}

static CnvSlices
cut(const CnvImage *image, int n)
{
  int unit = CNV_SLICE_ROWS << most_sub_y(image->format), units = cnv_divide_up(image->height, unit);
  CnvSlices slices = {.n = n < SLICES_MIN ? 1 : MIN(n, units), .single_launch = TRUE};

  for (int k = 0; k < slices.n; k++)
    slices.rows_uploaded[k] = slices.end[k] = MIN(end_of(k, slices.n, units) * unit, image->height);
  return slices;
}

CnvSlices
cnv_slices_of_image(const CnvImage *image)
{
  CnvLayout layout = cnv_layout_of(image);
  guint64 bytes = 0;

  for (int m = 0; m < layout.n_planes; m++)
    bytes += (guint64)layout.row_bytes[m] * layout.rows[m];
  return cut(image, (int)MIN(bytes / SLICE_BYTES, CNV_SLICES_MAX));
}

static gboolean
can_cut(const CnvWork *work)
{
  const CnvPlan *plan = work->plan[0];

  if (!work->everything || work->interlaced || work->n_temporal_taps > 0 || cnv_border_reads_far(plan->filter.border))
    return FALSE;
  for (int p = 0; p < plan->n_planes; p++)
    if (plan->plane[p].filtered && !plan->plane[p].plain)
      return FALSE;
  return TRUE;
}

/* Rows of luma whose samples the plane's taps reach from rows above `end`. Where a border mirrors, the first row
 * reaches as far down as taps lie above it. */
static int
reach_from(const CnvPlane *plane, int end)
{
  int rows = cnv_slice_rows(end, plane->sub_y), reached = rows;

  for (int t = 0; t < plane->n_terms; t++) {
    int above = plane->term[t].anchor[CNV_Y], below = plane->term[t].n[CNV_Y] - 1 - above;

    reached = MAX(reached, MAX(rows + below, above + 1));
  }
  if (plane->cell[CNV_Y])
    reached = rows + cnv_plane_extent(plane, 0, CNV_Y);
  return reached << plane->sub_y;
}

CnvSlices
cnv_slices_of_work(const CnvWork *work)
{
  const CnvPlan *plan = work->plan[0];
  CnvSlices slices = work->overlaps ? cut(&plan->image, 1) : cnv_slices_of_image(&plan->image);
  int unit = 1 << most_sub_y(plan->image.format);

  slices.single_launch = slices.n == 1 || !can_cut(work);
  for (int k = 0; k < slices.n && !slices.single_launch; k++) {
    for (int p = 0; p < plan->n_planes; p++)
      if (plan->plane[p].filtered)
        slices.rows_uploaded[k] = MAX(slices.rows_uploaded[k], reach_from(&plan->plane[p], slices.end[k]));
    slices.rows_uploaded[k] = MIN(cnv_divide_up(slices.rows_uploaded[k], unit) * unit, plan->image.height);
  }
  return slices;
}
