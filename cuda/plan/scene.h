/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The frames of a session's history, and how much each differs from the frame before it: the mean absolute difference
 * of luma over a grid of samples. A cut changes large areas, so a few samples are enough to find it. Pure arithmetic on
 * rows in host memory.
 */
#pragma once

#include <convolve/backend.h>

#include "plan/layout.h"
#include "plan/plane.h"

/* Most columns and most rows of the grid. */
#define CNV_SCENE_STEPS 256

typedef struct CnvScene {
  CnvImage image;
  CnvLayout layout;
  int n_components; /* components that add up to luma: luma itself, or red, green and blue */
  CnvComponent component[3];
  double weight[3];      /* in luma; full scale is 1 */
  CnvLayout rows_layout; /* planes of memory with luma, or red, green and blue; only the grid's rows */
  int row_step;          /* distance of the grid's rows in each plane; the first is row 0 */
  int pending;           /* slot of the frame whose rows the engine is still fetching; -1: none */
  gboolean has_luma;     /* FALSE: there is no measured frame to compare with */
  float luma[CNV_SCENE_STEPS * CNV_SCENE_STEPS]; /* of the frame measured last, 0..1 */
  double change[];                               /* one per slot */
} CnvScene;

/* Returns a scene for the frames of a history, to be freed with g_free, or NULL with CNV_ERROR_MEMORY. */
CnvScene *cnv_scene_new(const CnvImage *image, guint n_slots, GError **error);

/* Sets the slot's change to the difference from the frame measured last. frame: only the planes of rows_layout are
 * read. row_step: distance of the grid's rows in these planes. */
void cnv_scene_measure(CnvScene *scene, guint slot, const CnvFrame *frame, int row_step);

/* Sets the slot's change to 0. The next frame has no frame to compare with. */
void cnv_scene_skip(CnvScene *scene, guint slot);
