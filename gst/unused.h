/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Settings that are without effect beside others, or on the frames that come.
 */
#pragma once

#include "settings.h"

/* Posts a warning, with the remedy, for each property that is set and without effect. image, plan: those that the
 * settings are in force with. told: the slots of properties that have been warned of; added to. */
void gst_cuda_convolve_warn_of_unused(GstElement *element, const GstCudaConvolveSettings *settings,
                                      const CnvImage *image, const CnvPlan *plan, GHashTable *told);
