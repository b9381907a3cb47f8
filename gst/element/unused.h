/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Finds settings that have no effect, because of other settings or of the frames.
 */
#pragma once

#include "properties/settings.h"

/* Posts a message with the fix for each property that is set and has no effect. It is a WARNING at the start, and also
 * later if something stays visible that should be hidden; else an INFO. image, plan: those in force with the settings.
 * posted: set of the posted messages, which is extended. */
void gst_cuda_convolve_report_unused(GstElement *element, const GstCudaConvolveSettings *settings,
                                     const CnvImage *image, const CnvPlan *plan, gboolean is_start, GHashTable *posted);

/* Returns a field for each property, set or not, that has no effect with the other settings. Its text is the reason.
 * element: only its class is used. */
GstStructure *gst_cuda_convolve_list_unused(GstElement *element, const GstCudaConvolveSettings *settings,
                                            const CnvImage *image, const CnvPlan *plan);

/* Returns a field for each property that is automatic now (-1 or 0), with the value in force. */
GstStructure *gst_cuda_convolve_list_effective(const GstCudaConvolveSettings *settings);

/* Returns TRUE if roi-source=property has no rectangle or polygon in the frame, and no mask.
 * gst_cuda_convolve_report_unused reports it. */
gboolean gst_cuda_convolve_all_outside(const GstCudaConvolveRoi *roi, const CnvImage *image);

/* Allows gst_cuda_convolve_report_unused to repeat, for other regions, its warning that the whole frame stays visible.
 */
void gst_cuda_convolve_repeat_clear(GstElement *element, GHashTable *posted);

/* Returns a warning that names the rectangles and polygons that are not visible in the frame, or NULL if all are. */
char *gst_cuda_convolve_name_outside(const GstCudaConvolveRoi *roi, const CnvImage *image);
