/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * One frame: the settings at its time come into force, its work is decided once, when the output buffer is chosen, and
 * then the frame is passed on or filtered.
 */
#pragma once

#include "gstcudaconvolve-private.h"

/* Gives controlled properties their values at a buffer's time. */
void gst_cuda_convolve_sync_properties(GstCudaConvolve *self, GstBuffer *buffer);
/* Updates the recipe for the engine in force. */
gboolean gst_cuda_convolve_settle_plan(GstCudaConvolve *self);

/* Filters a frame by the work that was made for it. in: NULL for the frame in a slot of the session's. */
gboolean gst_cuda_convolve_run(GstCudaConvolve *self, GstBuffer *in, GstBuffer *out, int slot, GError **error);

/* Replaces an engine that failed and frees the error, where both may be. The history is that of the other session. */
gboolean gst_cuda_convolve_fall_back(GstCudaConvolve *self, GError **error);

/* Counts a frame that is done, filtered by that plan in so many regions. Any thread. */
void gst_cuda_convolve_count_frame(GstCudaConvolve *self, CnvPlan *plan, guint n_regions, GstBuffer *out);
/* Brings the session's part of the statistics up to date, when a frame was submitted. */
void gst_cuda_convolve_read_session_stats(GstCudaConvolve *self);
/* Waits for all frames that were started, and posts what went wrong with them. */
void gst_cuda_convolve_finish_frames(GstCudaConvolve *self);

void gst_cuda_convolve_frames_class_init(GstBaseTransformClass *klass);
