/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Filters one frame: puts the settings at its time in force, decides on its work when the output buffer is chosen, and
 * then passes the frame on or filters it.
 */
#pragma once

#include "gstcudaconvolve-private.h"

/* Sets controlled properties to their values at the time of a buffer. */
void gst_cuda_convolve_sync_properties(GstCudaConvolve *self, GstBuffer *buffer);
/* Updates the recipe for the engine in force. Returns FALSE if there is no plan. */
gboolean gst_cuda_convolve_settle_plan(GstCudaConvolve *self);

/* Sets the recipe's work for a buffer; see recipe.h. */
void gst_cuda_convolve_make_work(GstCudaConvolve *self, GstBuffer *buffer, gboolean is_next);

/* Filters a frame by the work of the recipe. in: NULL for the frame in slot `slot` of the session. */
gboolean gst_cuda_convolve_run(GstCudaConvolve *self, GstBuffer *in, GstBuffer *out, int slot, GError **error);

/* Replaces an engine that failed, and frees the error, if that is allowed. The history of the old session is lost. */
gboolean gst_cuda_convolve_fall_back(GstCudaConvolve *self, GError **error);

/* Counts a finished frame, for the statistics. plan, n_regions: those of the frame. Any thread. */
void gst_cuda_convolve_count_frame(GstCudaConvolve *self, CnvPlan *plan, guint n_regions, GstBuffer *out);
/* Updates the session's part of the statistics, after a frame was submitted. */
void gst_cuda_convolve_read_session_stats(GstCudaConvolve *self);
/* Waits for all submitted frames, and posts their errors. */
void gst_cuda_convolve_finish_frames(GstCudaConvolve *self);

void gst_cuda_convolve_frames_class_init(GstBaseTransformClass *klass);
