/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * How much two frames differ: the mean difference of luma over a grid of samples.
 */
#include <math.h>

#include "gstcudaconvolve-private.h"

/* Of a frame's columns and rows every fourth counts, and no more than so many: a cut changes large areas, of which
 * these tell as much. */
#define LEAST_STEP 4
#define MOST_STEPS 256

/* The samples that count. */
typedef struct {
  int columns, rows;
  int step; /* from column to column, in pixels */
  const guint8 *data[CNV_MAX_PLANES];
  gint64 stride[CNV_MAX_PLANES]; /* from row to row of the grid, in bytes */
} Grid;

typedef struct {
  CnvComponent component;
  double weight; /* in luma, where the component's full scale is 1 */
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
            (Channel){cnv_format_component(image->format, p, c), weight_of(image, image->format->plane[p].role[c])};
  return n;
}

/* From one column or row that counts to the next. */
static int
step_of(int size)
{
  return MAX((size + MOST_STEPS - 1) / MOST_STEPS, LEAST_STEP);
}

static int
n_steps(int size)
{
  return (size + step_of(size) - 1) / step_of(size);
}

static Grid
grid_of(const CnvImage *image, const CnvFrame *frame)
{
  Grid grid = {n_steps(image->width), n_steps(image->height), step_of(image->width)};

  for (int p = 0; p < cnv_format_n_frame_planes(image->format); p++) {
    grid.data[p] = frame->data[p];
    grid.stride[p] = (gint64)frame->stride[p] * step_of(image->height);
  }
  return grid;
}

/* Little endian, at any address. */
static guint32
read_word(const guint8 *at, int bytes)
{
  guint32 word = 0;

  for (int i = 0; i < bytes; i++)
    word |= (guint32)at[i] << 8 * i;
  return word;
}

static double
read_channel(const Channel *channel, const Grid *grid, int row, int column)
{
  const CnvComponent *component = &channel->component;
  const guint8 *at = grid->data[component->plane] + row * grid->stride[component->plane] + component->offset +
                     column * grid->step * component->step;
  guint32 full = (1u << component->bits) - 1;

  return (double)(read_word(at, component->bytes) >> component->shift & full) / full * channel->weight;
}

static gboolean
refuse_bytes(gsize bytes, GError **error)
{
  g_set_error(error, CNV_ERROR, CNV_ERROR_MEMORY,
              "no memory for %" G_GSIZE_FORMAT
              " bytes of samples to look for cuts in: free memory, or set scene-change-threshold to 0",
              bytes);
  return FALSE;
}

/* Room for a grid's rows. */
static gboolean
reserve_rows(GstCudaConvolveHistory *history, gsize bytes, GError **error)
{
  if (history->rows_size >= bytes)
    return TRUE;
  g_free(history->rows);
  history->rows = g_try_malloc(bytes);
  history->rows_size = history->rows ? bytes : 0;
  return history->rows || refuse_bytes(bytes, error);
}

/* Downloads the grid's rows, and nothing else, of the planes of memory that hold the channels. */
static gboolean
fetch_rows(GstCudaConvolve *self, const Channel *channel, int n, Grid *grid, GError **error)
{
  gsize row = cnv_format_row_bytes(self->caps.image.format, channel[0].component.plane, self->caps.image.width);
  gsize plane = row * grid->rows; /* they are of one size, in order */
  guint8 *to;

  if (!reserve_rows(&self->history, (channel[n - 1].component.plane + 1) * plane, error))
    return FALSE;
  to = self->history.rows;
  for (int c = 0; c < n; c++) {
    int p = channel[c].component.plane;

    if (c > 0 && p == channel[c - 1].component.plane)
      continue;
    if (!gst_cuda_convolve_device_fetch(self->engine.context, grid->data[p], (gsize)grid->stride[p], row, grid->rows,
                                        to, error))
      return FALSE;
    grid->data[p] = to;
    grid->stride[p] = (gint64)row;
    to += plane;
  }
  return TRUE;
}

/* The mean difference from the last frame, whose samples this one's replace; 0 where there was none. */
static double
measure(GstCudaConvolveHistory *history, const Channel *channel, int n, const Grid *grid)
{
  const guint n_samples = (guint)(grid->columns * grid->rows);
  gboolean comparable = history->n_luma == n_samples;
  float *last = history->luma;
  double sum = 0;

  for (int y = 0; y < grid->rows; y++)
    for (int x = 0; x < grid->columns; x++, last++) {
      double value = 0;

      for (int c = 0; c < n; c++)
        value += read_channel(&channel[c], grid, y, x);
      sum += comparable ? fabs(value - *last) : 0;
      *last = (float)value;
    }
  history->n_luma = n_samples;
  return sum / n_samples;
}

gboolean
gst_cuda_convolve_find_cut(GstCudaConvolve *self, const CnvFrame *frame, gboolean *cut, GError **error)
{
  GstCudaConvolveHistory *history = &self->history;
  Grid grid = grid_of(&self->caps.image, frame);
  Channel channel[3];
  int n = find_channels(&self->caps.image, channel);

  *cut = FALSE;
  if (self->recipe.scene_change <= 0) {
    history->n_luma = 0;
    return TRUE;
  }
  if (!history->luma)
    history->luma = g_try_new(float, MOST_STEPS *MOST_STEPS);
  if (!history->luma)
    return refuse_bytes(sizeof(float) * MOST_STEPS * MOST_STEPS, error);
  if (frame->memory == CNV_MEMORY_DEVICE && !fetch_rows(self, channel, n, &grid, error))
    return FALSE;
  *cut = measure(history, channel, n, &grid) > self->recipe.scene_change;
  return TRUE;
}
