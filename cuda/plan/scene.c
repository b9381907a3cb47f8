/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "plan/scene.h"

#include <math.h>

#include <convolve/status.h>

#include "plan/arith.h"
#include "plan/component.h"
#include "plan/plane.h"

#define LEAST_STEP 4 /* least distance of the grid's columns and rows, in pixels */

static void
find_luma(CnvScene *scene)
{
  const CnvImage *image = &scene->image;
  const double weights[] = {[CNV_ROLE_Y] = 1,
                            [CNV_ROLE_R] = image->kr,
                            [CNV_ROLE_G] = 1 - image->kr - image->kb,
                            [CNV_ROLE_B] = image->kb,
                            [CNV_ROLE_A] = 0};

  for (int p = 0; p < image->format->n_planes; p++)
    for (int c = 0; c < image->format->plane[p].channels; c++) {
      double weight = weights[image->format->plane[p].role[c]];

      if (weight <= 0)
        continue;
      scene->weight[scene->n_components] = weight;
      scene->component[scene->n_components++] = cnv_format_component(image->format, p, c);
    }
}

static int
step_of(int size)
{
  return MAX(cnv_divide_up(size, CNV_SCENE_STEPS), LEAST_STEP);
}

static int
rows_of(const CnvImage *image)
{
  return cnv_divide_up(image->height, step_of(image->height));
}

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
  find_luma(scene);
  for (int m = 0; m <= scene->component[scene->n_components - 1].plane; m++) /* luma is in the first planes of a
                                                                                format */
    cnv_layout_add(&scene->rows_layout, m, cnv_format_row_bytes(image->format, m, image->width), rows_of(image));
  scene->row_step = step_of(image->height);
  scene->pending = -1;
  return scene;
}

void
cnv_scene_measure(CnvScene *scene, guint slot, const CnvFrame *frame, int row_step)
{
  int step = step_of(scene->image.width), rows = rows_of(&scene->image);
  float *last = scene->luma;
  double sum = 0;

  for (int y = 0; y < rows; y++)
    for (int x = 0; x < scene->image.width; x += step, last++) {
      double luma = 0;

      for (int c = 0; c < scene->n_components; c++) {
        const CnvComponent *component = &scene->component[c];
        const guint8 *row =
            (const guint8 *)frame->data[component->plane] + (gint64)y * row_step * frame->stride[component->plane];

        luma += (double)cnv_component_get(row + component->offset + x * component->step, component, component->bytes) /
                ((1 << component->bits) - 1) * scene->weight[c];
      }
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
