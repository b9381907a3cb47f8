/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Settings, image and buffer to the engine's work: the plan in force, plans by radius, and the regions of a frame. Used
 * by the streaming thread.
 */
#pragma once

#include "caps.h"
#include "regions.h"
#include "settings.h"

typedef struct {
  GstElement *element; /* whose object lock the live settings are under, and whose messages are posted */
  const GstCudaConvolveSettings *live; /* these three are the owner's */
  const GstCudaConvolveCaps *caps;

  GstCudaConvolveSettings wanted;   /* at the last update */
  gboolean rejected;                /* wanted made no plan, and that was reported */
  GstCudaConvolveSettings in_force; /* those of the plan; of its members only the filter, algorithm and roi count */
  CnvPlan *plan;                    /* NULL before the first caps */
  CnvImage image;                   /* like the backend, of the last update */
  const CnvBackend *backend;
  CnvPlan *radius_plan[CNV_RADIUS_MAX + 1]; /* made since the plan was, for sizes of regions; or NULL */
  GHashTable *told;                         /* messages since the start: see messages.h and unused.h */
  gboolean is_running;                      /* a frame has come since the start */
  char *outside; /* warning of rectangles outside the frame at the last update; NULL: there are none */

  /* Members for this frame. */
  CnvWork work;
  GstCudaConvolveRegions regions; /* those of work */
  CnvPlan *plans[CNV_MAX_PLANS];  /* likewise, not referenced */
} GstCudaConvolveRecipe;

void gst_cuda_convolve_recipe_init(GstCudaConvolveRecipe *recipe, GstElement *element,
                                   const GstCudaConvolveSettings *live, const GstCudaConvolveCaps *caps);
void gst_cuda_convolve_recipe_clear(GstCudaConvolveRecipe *recipe);

/* Puts the live settings in force for the caps and a backend or, where no plan can be made of them, goes on with the
 * last ones. Posts its errors; FALSE where there is no plan at all. */
gboolean gst_cuda_convolve_recipe_update(GstCudaConvolveRecipe *recipe, const CnvBackend *backend);

/* TRUE if frames that wait in a history of n_slots have to leave before the live settings come into force: always for a
 * number of frames that the history cannot give, and for any other filter if the user wants that and a frame is
 * arriving. */
gboolean gst_cuda_convolve_recipe_must_drain(const GstCudaConvolveRecipe *recipe, guint n_slots, gboolean arriving);

/* Sets the work for a buffer, by what is in force. is_next: each frame has it once, in the order of frames; all other
 * calls are for the same frame again. */
void gst_cuda_convolve_recipe_make_work(GstCudaConvolveRecipe *recipe, GstBuffer *buffer, gboolean is_next);
/* Warns if the stream ends without a region that was to come from metas. */
void gst_cuda_convolve_recipe_end(GstCudaConvolveRecipe *recipe);
/* Forgets the frames before, and releases their masks. */
void gst_cuda_convolve_recipe_forget(GstCudaConvolveRecipe *recipe);
/* TRUE where the work leaves every sample as it is. */
gboolean gst_cuda_convolve_recipe_leaves_frame(const GstCudaConvolveRecipe *recipe);
/* TRUE where the work changes a small part of the frame, so that the rest is better not copied. */
gboolean gst_cuda_convolve_recipe_changes_little(const GstCudaConvolveRecipe *recipe);
