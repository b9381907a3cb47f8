/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Frames, events and queries as they come: each frame is passed on at once, is one of several in flight (inflight.h),
 * or waits in the history for those that come after it (history.h). What ends frames that wait drains or drops them;
 * other serialized events go out between them.
 */
#pragma once

#include "gstcudaconvolve-private.h"

/* Pushes all frames in flight or waiting, and starts anew. Returns what downstream said. */
GstFlowReturn gst_cuda_convolve_drain(GstCudaConvolve *self);

/* Drops them, and the events between them. */
void gst_cuda_convolve_drop(GstCudaConvolve *self);

/* Reports the latency of the plan in force, if it is another than before. */
void gst_cuda_convolve_update_latency(GstCudaConvolve *self);

/* TRUE if it is answered. */
gboolean gst_cuda_convolve_answer_query(GstCudaConvolve *self, GstPadDirection direction, GstQuery *query);

void gst_cuda_convolve_dispatch_class_init(GstBaseTransformClass *klass);
