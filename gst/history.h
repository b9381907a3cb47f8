/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The frames that a filter over time needs: their samples are in slots of the engine's session, or in buffers kept for
 * it, their times, flags and metas here. A frame is filtered when those that it needs have come, and leaves with the
 * times and metas that it came with. Frames are numbered as they come; frame f is in slot f % n_slots. Not in use where
 * the plan takes one frame.
 */
#pragma once

#include "gstcudaconvolve-private.h"

/* TRUE if it has frames, waiting or not. */
gboolean gst_cuda_convolve_has_history(const GstCudaConvolve *self);

/* Takes a frame into the history; the caller need not keep the buffer. Posts its errors. */
GstFlowReturn gst_cuda_convolve_history_push(GstCudaConvolve *self, GstBuffer *buffer);

/* Filters the next frame, if one waits and all that it needs have come. */
GstFlowReturn gst_cuda_convolve_history_pop(GstCudaConvolve *self, GstBuffer **outbuf);

/* TRUE: it took the event, which is to stay behind frames that wait. */
gboolean gst_cuda_convolve_history_push_event(GstCudaConvolve *self, GstEvent *event);

/* Pushes the events that no frame is before any more. */
void gst_cuda_convolve_history_pop_events(GstCudaConvolve *self);

/* Pushes all frames that wait, with those behind missing, and starts anew. Returns what downstream said. */
GstFlowReturn gst_cuda_convolve_history_drain(GstCudaConvolve *self);

/* Drops them, and pushes the events between them. leave: also has no history until a plan asks for one. */
void gst_cuda_convolve_history_forget(GstCudaConvolve *self);
void gst_cuda_convolve_history_leave(GstCudaConvolve *self);
