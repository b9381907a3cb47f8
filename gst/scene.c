/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * How much two frames differ: the mean difference of luma over a grid of samples.
 */
#include <math.h>

#include "gstcudaconvolve-private.h"

#define GRID 4 /* every so many columns and rows: a cut changes large areas, and a sixteenth of them tells as much */

/* Where a channel is in a frame. */
typedef struct {
  int memory, offset, step, bytes, shift; /* bytes: of the word that holds it, little endian */
  guint mask;
  double weight; /* in luma, times a value of the mask's full scale */
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

static Channel
make_channel(const CnvImage *image, int p, int c)
{
  const CnvFormat *format = image->format;
  const CnvPlaneFormat *plane = &format->plane[p];
  int bytes = format->sample_bytes;
  int depth = cnv_format_depth(format, plane->role[c]);

  return (Channel){
      .memory = plane->step ? 0 : p,
      .offset = bytes == 4    ? 0
                : plane->step ? plane->offset[c]
                              : c * bytes,
      .step = plane->step ? plane->step : plane->channels * bytes,
      .bytes = bytes,
      .shift = bytes == 4 ? plane->offset[c] : format->shift,
      .mask = (1u << depth) - 1,
      .weight = weight_of(image, plane->role[c]),
  };
}

/* The channels that luma is made of: one of them, or red, green and blue. */
static int
find_channels(const CnvImage *image, Channel channel[3])
{
  int n = 0;

  for (int p = 0; p < image->format->n_planes; p++)
    for (int c = 0; c < image->format->plane[p].channels && n < 3; c++)
      if (weight_of(image, image->format->plane[p].role[c]) > 0)
        channel[n++] = make_channel(image, p, c);
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
  const guint8 *at = (const guint8 *)grid->data[channel->memory] + (gint64)row * grid->stride[channel->memory] +
                     channel->offset + x * channel->step;
  guint32 word = channel->bytes == 1 ? *at : channel->bytes == 2 ? GST_READ_UINT16_LE(at) : GST_READ_UINT32_LE(at);

  return (double)(word >> channel->shift & channel->mask) / channel->mask * channel->weight;
}

/* Downloads the grid's rows, and nothing else, of the planes of memory that hold the channels. */
static gboolean
fetch_rows(GstCudaConvolve *self, const Channel *channel, int n, CnvFrame *grid, GError **error)
{
  const CnvImage *image = &self->image;
  gsize n_rows = steps(image->height), row = cnv_format_row_bytes(image->format, channel[0].memory, image->width);
  guint8 *to;

  /* In order of their planes, which are of one size. */
  g_byte_array_set_size(self->history.rows, (channel[n - 1].memory + 1) * row * n_rows);
  to = self->history.rows->data;
  for (int c = 0; c < n; c++) {
    int p = channel[c].memory;

    if (c > 0 && p == channel[c - 1].memory)
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
