/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The regions of a frame, from properties and metas.
 */
#pragma once

#include "regions/region_list.h"

/* Lists the regions of a buffer. time: its stream time, or NONE if unknown, for zones. is_next: TRUE if it is the next
 * frame, to which the tracks move on; FALSE if it is the same frame again. */
void gst_cuda_convolve_collect(GstCudaConvolveRegions *regions, const GstCudaConvolveRoi *roi, const CnvImage *image,
                               GstBuffer *buffer, GstClockTime time, gboolean is_next);

/* Warns at the end of the stream if roi-source=meta found no region in any frame. */
void gst_cuda_convolve_collect_end(GstCudaConvolveRegions *regions);
