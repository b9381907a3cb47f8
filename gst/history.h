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

/* TRUE where the session may read the buffer's memory as long as the frame counts: it is ordered by a stream, and its
 * pool has others for upstream meanwhile. */
gboolean gst_cuda_convolve_history_may_keep(const GstCudaConvolve *self, GstBuffer *buffer);

/* Keeps a reference to the buffer (NULL: none) in a slot, in place of the one there, which the session needs no more.
 */
void gst_cuda_convolve_history_set_kept(GstCudaConvolve *self, int slot, GstBuffer *buffer);

/* Drops them, and pushes the events between them. leave: also has no history until a plan asks for one. */
void gst_cuda_convolve_history_forget(GstCudaConvolve *self);
void gst_cuda_convolve_history_leave(GstCudaConvolve *self);
