/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The frames of a session's history, and how much each differs from the one before it: the mean absolute difference of
 * luma over a grid of samples. A cut changes large areas, of which few samples tell as much as all. Pure arithmetic on
 * rows in host memory.
 */
#pragma once

#include <convolve/backend.h>

#include "plan/layout.h"
#include "plan/plane.h"

/* Most columns, and rows, of the grid. */
#define CNV_SCENE_STEPS 256

typedef struct CnvScene {
  CnvImage image;
  CnvLayout layout;
  int n_components; /* that luma is made of: it alone, or red, green and blue */
  CnvComponent component[3];
  double weight[3];      /* in luma, full scale being 1 */
  CnvLayout rows_layout; /* planes of memory with luma, or red, green and blue, each with the grid's rows alone */
  int row_step;          /* the grid's rows in all planes: 0, and each so many further */
  int pending;           /* slot of the frame whose rows the engine is still fetching; -1: none */
  gboolean has_luma;     /* FALSE: there is no frame to compare with */
  float luma[CNV_SCENE_STEPS * CNV_SCENE_STEPS]; /* 0..1, of the frame measured last */
  double change[];                               /* by slot */
} CnvScene;

/* Returns a scene (g_free) for the frames of a history, or NULL with CNV_ERROR_MEMORY. */
CnvScene *cnv_scene_new(const CnvImage *image, guint n_slots, GError **error);

/* Sets the slot's change to the difference from the last frame measured. row_step: from one row of the grid to the next
 * in the frame's planes, of which those of rows_layout alone are read. */
void cnv_scene_measure(CnvScene *scene, guint slot, const CnvFrame *frame, int row_step);

/* The next frame has none to compare with, and this slot's did not change. */
void cnv_scene_skip(CnvScene *scene, guint slot);
