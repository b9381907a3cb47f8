/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The frames of a filter over time. Their samples are in slots of the session, or in buffers that are kept for it;
 * their times, flags and metas are here. A frame is filtered when all frames that it needs have arrived. Its output
 * has the times and metas of the input. Frames are numbered as they arrive; frame f is in slot f % n_slots. Not used
 * if the plan needs only one frame.
 */
#pragma once

#include "gstcudaconvolve-private.h"

/* Returns TRUE if the history has frames, waiting or not. */
gboolean gst_cuda_convolve_has_history(const GstCudaConvolve *self);

/* Adds a frame to the history. The caller keeps its reference, and may drop it at once. Posts its errors. */
GstFlowReturn gst_cuda_convolve_history_push(GstCudaConvolve *self, GstBuffer *buffer);

/* Filters the next frame, if one waits and all frames that it needs have arrived. */
GstFlowReturn gst_cuda_convolve_history_pop(GstCudaConvolve *self, GstBuffer **outbuf);

/* Takes the event and returns TRUE if it must stay after waiting frames. Else returns FALSE. */
gboolean gst_cuda_convolve_history_push_event(GstCudaConvolve *self, GstEvent *event);

/* Pushes the events that have no waiting frame before them. */
void gst_cuda_convolve_history_pop_events(GstCudaConvolve *self);

/* Pushes all waiting frames, without the later frames that they would need, and starts anew. Returns the flow return of
 * downstream. */
GstFlowReturn gst_cuda_convolve_history_drain(GstCudaConvolve *self);

/* Drops all waiting frames, and pushes the events between them. history_leave also frees the history until a plan needs
 * one. */
void gst_cuda_convolve_history_forget(GstCudaConvolve *self);
void gst_cuda_convolve_history_leave(GstCudaConvolve *self);
