/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Turns settings, image and buffer into the work of the engine. Holds the plan in force, plans for other radii, and
 * the regions of a frame. Only the streaming thread uses it.
 */
#pragma once

#include "element/caps.h"
#include "properties/settings.h"
#include "regions/region_list.h"

typedef struct {
  GstElement *element;                 /* its object lock protects *live; it posts the messages */
  const GstCudaConvolveSettings *live; /* owned by the caller, like element and caps */
  const GstCudaConvolveCaps *caps;

  GstCudaConvolveSettings wanted;   /* copy of *live at the last update */
  gboolean rejected;                /* there is no plan for `wanted`, and that was reported */
  GstCudaConvolveSettings in_force; /* settings of the plan; only filter, algorithm and roi are used */
  CnvPlan *plan;                    /* NULL before the first caps */
  CnvImage image;                   /* of the last update, like backend */
  const CnvBackend *backend;
  CnvPlan *radius_plan[CNV_RADIUS_MAX + 1]; /* plans for the sizes of regions, made after `plan`; or NULL */
  GHashTable *posted;                       /* messages that were posted since the start: see messages.h and unused.h */
  gboolean is_running;                      /* a frame has arrived since the start */
  char *outside;                            /* warning about regions outside the frame at the last update; NULL: none */

  /* For the current frame. */
  CnvWork work;
  GstCudaConvolveRegions regions; /* the regions of `work` */
  CnvPlan *plans[CNV_MAX_PLANS];  /* the plans of `work`, without references */
} GstCudaConvolveRecipe;

void gst_cuda_convolve_recipe_init(GstCudaConvolveRecipe *recipe, GstElement *element,
                                   const GstCudaConvolveSettings *live, const GstCudaConvolveCaps *caps);
void gst_cuda_convolve_recipe_clear(GstCudaConvolveRecipe *recipe);

/* Puts the live settings in force for the caps and a backend. If there is no plan for them, keeps the last ones. Posts
 * its errors. Returns FALSE if there is no plan at all. */
gboolean gst_cuda_convolve_recipe_update(GstCudaConvolveRecipe *recipe, const CnvBackend *backend);

/* Returns TRUE if the frames in a history of n_slots must be pushed before the live settings come into force. That is
 * always so if the history is too small for the new filter. It is also so for any other change of the filter, if the
 * user wants that (drain-on-changes) and a frame is arriving. */
gboolean gst_cuda_convolve_recipe_must_drain(const GstCudaConvolveRecipe *recipe, guint n_slots, gboolean arriving);

/* Sets the work for a buffer, by the settings in force. time: stream time of the buffer, or NONE if unknown. is_next:
 * TRUE once per frame, in the order of frames; FALSE for further calls with the same frame. */
void gst_cuda_convolve_recipe_make_work(GstCudaConvolveRecipe *recipe, GstBuffer *buffer, GstClockTime time,
                                        gboolean is_next);
/* Warns if the stream ended without any region from metas. */
void gst_cuda_convolve_recipe_end(GstCudaConvolveRecipe *recipe);
/* Forgets previous frames, and releases their masks. */
void gst_cuda_convolve_recipe_forget(GstCudaConvolveRecipe *recipe);
/* Returns TRUE if the work changes no sample. */
gboolean gst_cuda_convolve_recipe_leaves_frame(const GstCudaConvolveRecipe *recipe);
/* Returns TRUE if the work changes only a small part of the frame, so that it should not copy the rest. */
gboolean gst_cuda_convolve_recipe_changes_little(const GstCudaConvolveRecipe *recipe);
