/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Several frames in flight, if host memory is copied to or from a device: one frame is uploaded while the one before
 * it is downloaded. The streaming thread appends frames, and the serialized events between them. A task of the source
 * pad, started with the first frame, waits for each frame and pushes it as soon as it is done. Only the streaming
 * thread may call these functions, except for flush.
 */
#pragma once

#include "gstcudaconvolve-private.h"

void gst_cuda_convolve_in_flight_init(GstCudaConvolve *self);
void gst_cuda_convolve_in_flight_clear(GstCudaConvolve *self);

/* Decides how many frames may be in flight, unless that is already decided. Call it while a frame arrives: upstream
 * elements then hold no lock that they need to answer the latency query. */
void gst_cuda_convolve_in_flight_settle(GstCudaConvolve *self);

/* Returns how many frames may be in flight with the plan, the caps and the engine in force: 1..CNV_IN_FLIGHT_MAX. */
guint gst_cuda_convolve_in_flight_max(const GstCudaConvolve *self);

/* Submits a frame. Afterwards it is in flight or, after all frames before it were pushed, in outbuf. */
GstFlowReturn gst_cuda_convolve_in_flight_submit(GstCudaConvolve *self, GstBuffer *in, GstBuffer **outbuf);

/* Appends an event. Returns FALSE, and the caller keeps the event, if there is no frame that it would overtake. */
gboolean gst_cuda_convolve_in_flight_push_event(GstCudaConvolve *self, GstEvent *event);

/* Returns when at most n_left frames are in flight. With n_left of 0, or after a failed push, returns when all frames
 * and events were pushed. Returns the flow return of a failed push once. */
GstFlowReturn gst_cuda_convolve_in_flight_wait(GstCudaConvolve *self, guint n_left);

/* Drops all frames in flight, until the next wait. Any thread. */
void gst_cuda_convolve_in_flight_flush(GstCudaConvolve *self);
