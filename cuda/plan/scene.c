/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "plan/scene.h"

#include <math.h>

#include <convolve/status.h>

#include "plan/component.h"
#include "plan/plane.h"

#define LEAST_STEP 4 /* pixels from column to column, and row to row */

typedef struct {
  CnvComponent component;
  double weight; /* in luma, where the component's full scale is 1 */
} Channel;

CnvScene *
cnv_scene_new(const CnvImage *image, guint n_slots, GError **error)
{
  gsize bytes = sizeof(CnvScene) + n_slots * sizeof(double);
  CnvScene *scene = g_try_malloc0(bytes);

  if (!scene) {
    g_set_error(error, CNV_ERROR, CNV_ERROR_MEMORY,
                "no memory for %" G_GSIZE_FORMAT " bytes to look for cuts between frames: free memory", bytes);
    return NULL;
  }
  scene->image = *image;
  scene->layout = cnv_layout_of(image);
  scene->pending = -1;
  return scene;
}

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
    for (int c = 0; c < image->format->plane[p].channels && n < 3; c++) {
      double weight = weight_of(image, image->format->plane[p].role[c]);

      if (weight > 0)
        channel[n++] = (Channel){cnv_format_component(image->format, p, c), weight};
    }
  return n;
}

guint
cnv_scene_planes(const CnvImage *image)
{
  Channel channel[3];
  guint planes = 0;

  for (int c = find_channels(image, channel) - 1; c >= 0; c--)
    planes |= 1u << channel[c].component.plane;
  return planes;
}

static int
step_of(int size)
{
  return MAX((size + CNV_SCENE_STEPS - 1) / CNV_SCENE_STEPS, LEAST_STEP);
}

int
cnv_scene_row_step(const CnvImage *image)
{
  return step_of(image->height);
}

int
cnv_scene_rows(const CnvImage *image)
{
  return (image->height + step_of(image->height) - 1) / step_of(image->height);
}

static double
luma_at(const Channel *channel, int n, const CnvFrame *frame, gint64 row, int x)
{
  double luma = 0;

  for (int c = 0; c < n; c++) {
    const CnvComponent *component = &channel[c].component;
    const guint8 *line = (const guint8 *)frame->data[component->plane] + row * frame->stride[component->plane];
    const guint8 *at = line + component->offset + x * component->step;
    int full = (1 << component->bits) - 1;

    luma += (double)cnv_component_get(at, component, component->bytes) / full * channel[c].weight;
  }
  return luma;
}

void
cnv_scene_measure(CnvScene *scene, guint slot, const CnvFrame *frame, int row_step)
{
  int step = step_of(scene->image.width), rows = cnv_scene_rows(&scene->image);
  float *last = scene->luma;
  double sum = 0;
  Channel channel[3];
  int n = find_channels(&scene->image, channel);

  for (int y = 0; y < rows; y++)
    for (int x = 0; x < scene->image.width; x += step, last++) {
      double luma = luma_at(channel, n, frame, (gint64)y * row_step, x);

      sum += scene->has_luma ? fabs(luma - *last) : 0;
      *last = (float)luma;
    }
  scene->has_luma = TRUE;
  scene->change[slot] = sum / (double)(last - scene->luma);
}

void
cnv_scene_skip(CnvScene *scene, guint slot)
{
  scene->has_luma = FALSE;
  scene->change[slot] = 0;
}
