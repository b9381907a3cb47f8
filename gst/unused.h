/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Settings that are without effect beside others, or on the frames that come.
 */
#pragma once

#include "settings.h"

/* Posts a message, with the remedy, for each property that is set and without effect: a warning at the start, and also
 * later if something stays in clear that was to be hidden, else an info. image, plan: those that the settings are in
 * force with. told: the set of messages that were posted; added to. */
void gst_cuda_convolve_report_unused(GstElement *element, const GstCudaConvolveSettings *settings,
                                     const CnvImage *image, const CnvPlan *plan, gboolean is_start, GHashTable *told);

/* Returns TRUE if roi-source=property has no rectangle or polygon in the frame, and no mask.
 * gst_cuda_convolve_report_unused reports it. */
gboolean gst_cuda_convolve_all_outside(const GstCudaConvolveRoi *roi, const CnvImage *image);

/* Lets gst_cuda_convolve_report_unused repeat its warning that the whole frame stays in clear, for other regions. */
void gst_cuda_convolve_repeat_clear(GstElement *element, GHashTable *told);

/* Returns a warning that names the rectangles and polygons which do not show in the frame, or NULL if all do. */
char *gst_cuda_convolve_name_outside(const GstCudaConvolveRoi *roi, const CnvImage *image);
