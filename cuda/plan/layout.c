/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "plan/layout.h"

#include "plan/arith.h"

void
cnv_layout_add(CnvLayout *layout, int p, int row_bytes, int rows)
{
  layout->n_planes = p + 1;
  layout->row_bytes[p] = row_bytes;
  layout->rows[p] = rows;
  layout->pitch[p] = cnv_divide_up(row_bytes, 256) * 256;
  layout->offset[p] = layout->size;
  layout->size += (gsize)layout->pitch[p] * rows;
}

CnvLayout
cnv_layout_of(const CnvImage *image)
{
  CnvLayout layout = {.size = 0};

  for (int m = 0; m < cnv_format_n_frame_planes(image->format); m++) {
    cnv_layout_add(&layout, m, cnv_format_row_bytes(image->format, m, image->width),
                   cnv_format_plane_height(image->format, m, image->height));
    layout.sub_y[m] = image->format->plane[m].sub_y;
  }
  return layout;
}

CnvFrame
cnv_layout_frame(const CnvLayout *layout, CnvMemory memory, guintptr address)
{
  CnvFrame frame = {.memory = memory};

  for (int m = 0; m < layout->n_planes; m++) {
    frame.data[m] = (void *)(address + layout->offset[m]);
    frame.stride[m] = layout->pitch[m];
  }
  return frame;
}
