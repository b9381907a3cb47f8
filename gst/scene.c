/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * How much two frames differ: the mean difference of luma over a grid of samples.
 */
#include <math.h>

#include "gstcudaconvolve-private.h"

#define GRID 4 /* every so many columns and rows: a cut changes large areas, and a sixteenth of them tells as much */

/* Where a channel is in a mapped frame. */
typedef struct {
  const guint8 *data;
  int stride, step, bytes, shift; /* bytes: of the word that holds it, little endian */
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
make_channel(const CnvImage *image, const GstVideoFrame *frame, int p, int c)
{
  const CnvFormat *format = image->format;
  const CnvPlaneFormat *plane = &format->plane[p];
  int memory = plane->step ? 0 : p, bytes = format->sample_bytes;
  int depth = cnv_format_depth(format, plane->role[c]);
  Channel channel = {
      .data = GST_VIDEO_FRAME_PLANE_DATA(frame, memory),
      .stride = GST_VIDEO_FRAME_PLANE_STRIDE(frame, memory),
      .step = plane->step ? plane->step : plane->channels * bytes,
      .bytes = bytes,
      .shift = bytes == 4 ? plane->offset[c] : format->shift,
      .mask = (1u << depth) - 1,
      .weight = weight_of(image, plane->role[c]),
  };

  if (bytes != 4)
    channel.data += plane->step ? plane->offset[c] : c * bytes;
  return channel;
}

static double
read_channel(const Channel *channel, int x, int y)
{
  const guint8 *at = channel->data + (gint64)y * channel->stride + x * channel->step;
  guint32 word = channel->bytes == 1 ? *at : channel->bytes == 2 ? GST_READ_UINT16_LE(at) : GST_READ_UINT32_LE(at);

  return (double)(word >> channel->shift & channel->mask) / channel->mask * channel->weight;
}

/* The channels that luma is made of: one of them, or red, green and blue. */
static int
find_channels(const CnvImage *image, const GstVideoFrame *frame, Channel channel[3])
{
  int n = 0;

  for (int p = 0; p < image->format->n_planes; p++)
    for (int c = 0; c < image->format->plane[p].channels && n < 3; c++)
      if (weight_of(image, image->format->plane[p].role[c]) > 0)
        channel[n++] = make_channel(image, frame, p, c);
  return n;
}

gboolean
gst_cuda_convolve_scene_changed(const CnvImage *image, const GstVideoFrame *frame, double threshold, GArray *luma)
{
  guint n = (image->width + GRID - 1) / GRID * ((image->height + GRID - 1) / GRID), i = 0;
  gboolean comparable = luma->len == n;
  Channel channel[3];
  int n_channels = find_channels(image, frame, channel);
  double sum = 0;

  g_array_set_size(luma, n);
  for (int y = 0; y < image->height; y += GRID)
    for (int x = 0; x < image->width; x += GRID, i++) {
      double value = 0;

      for (int c = 0; c < n_channels; c++)
        value += read_channel(&channel[c], x, y);
      sum += fabs(value - g_array_index(luma, float, i));
      g_array_index(luma, float, i) = (float)value;
    }
  return comparable && sum / n > threshold;
}
