/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * How much two frames differ: the mean difference of luma over a grid of samples.
 */
#include <math.h>

#include "gstcudaconvolve-private.h"

#define GRID 4 /* every so many columns and rows: a cut changes large areas, and a sixteenth of them tells as much */

typedef struct {
  CnvLane lane;
  double weight; /* in luma, where the lane's full scale is 1 */
} Channel;

static double
weight_of(const CnvImage *image, CnvRole role)
{
  switch (role) {
  case CNV_ROLE_Y:
    return 1;
  case CNV_ROLE_R:
    return image->kr;
  case CNV_ROLE_G:
    return 1 - image->kr - image->kb;
  case CNV_ROLE_B:
    return image->kb;
  default:
    return 0;
  }
}

/* The channels that luma is made of: one of them, or red, green and blue. */
static int
find_channels(const CnvImage *image, Channel channel[3])
{
  int n = 0;

  for (int p = 0; p < image->format->n_planes; p++)
    for (int c = 0; c < image->format->plane[p].channels && n < 3; c++)
      if (weight_of(image, image->format->plane[p].role[c]) > 0)
        channel[n++] =
            (Channel){cnv_format_lane(image->format, p, c), weight_of(image, image->format->plane[p].role[c])};
  return n;
}

static int
steps(int size)
{
  return (size + GRID - 1) / GRID;
}

static double
read_channel(const Channel *channel, const CnvFrame *grid, int row, int x)
{
  const CnvLane *lane = &channel->lane;
  const guint8 *at = (const guint8 *)grid->data[lane->memory] + (gint64)row * grid->stride[lane->memory] +
                     lane->offset + x * lane->step;
  guint32 word = lane->bytes == 1 ? *at : lane->bytes == 2 ? GST_READ_UINT16_LE(at) : GST_READ_UINT32_LE(at);
  guint32 full = (1u << lane->bits) - 1;

  return (double)(word >> lane->shift & full) / full * channel->weight;
}

/* Downloads the grid's rows, and nothing else, of the planes of memory that hold the channels. */
static gboolean
fetch_rows(GstCudaConvolve *self, const Channel *channel, int n, CnvFrame *grid, GError **error)
{
  const CnvImage *image = &self->image;
  gsize n_rows = steps(image->height), row = cnv_format_row_bytes(image->format, channel[0].lane.memory, image->width);
  guint8 *to;

  /* In order of their planes, which are of one size. */
  g_byte_array_set_size(self->history.rows, (channel[n - 1].lane.memory + 1) * row * n_rows);
  to = self->history.rows->data;
  for (int c = 0; c < n; c++) {
    int p = channel[c].lane.memory;

    if (c > 0 && p == channel[c - 1].lane.memory)
      continue;
    if (!gst_cuda_convolve_device_fetch(self->context, grid->data[p], grid->stride[p], row, n_rows, to, error))
      return FALSE;
    grid->data[p] = to;
    grid->stride[p] = (int)row;
    to += row * n_rows;
  }
  return TRUE;
}

/* The mean difference from the last frame, whose samples this one's replace; 0 where there was none. */
static double
measure(GstCudaConvolve *self, const Channel *channel, int n, const CnvFrame *grid)
{
  const int columns = steps(self->image.width), rows = steps(self->image.height);
  GArray *luma = self->history.luma;
  gboolean comparable = luma->len == (guint)(columns * rows);
  double sum = 0;

  g_array_set_size(luma, columns * rows);
  for (int y = 0; y < rows; y++)
    for (int x = 0; x < columns; x++) {
      float *last = &g_array_index(luma, float, y *columns + x);
      double value = 0;

      for (int c = 0; c < n; c++)
        value += read_channel(&channel[c], grid, y, x * GRID);
      sum += fabs(value - *last);
      *last = (float)value;
    }
  return comparable ? sum / (columns * rows) : 0;
}

gboolean
gst_cuda_convolve_find_cut(GstCudaConvolve *self, const CnvFrame *frame, gboolean *cut, GError **error)
{
  CnvFrame grid = *frame; /* row y of it is row GRID * y of the frame */
  Channel channel[3];
  int n = find_channels(&self->image, channel);

  *cut = FALSE;
  if (self->scene_change <= 0) {
    g_array_set_size(self->history.luma, 0);
    return TRUE;
  }
  for (int p = 0; p < cnv_format_n_memories(self->image.format); p++)
    grid.stride[p] *= GRID;
  if (frame->memory == CNV_MEMORY_DEVICE && !fetch_rows(self, channel, n, &grid, error))
    return FALSE;
  *cut = measure(self, channel, n, &grid) > self->scene_change;
  return TRUE;
}
