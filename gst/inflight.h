/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Several frames in flight, where memory of the host is copied to or from a device: one is uploaded while the one
 * before it is downloaded. The streaming thread puts frames in, and the serialized events between them. A task of the
 * source pad, started with the first frame, waits for each and pushes it as soon as it is done. All but flush is called
 * by the streaming thread.
 */
#pragma once

#include "gstcudaconvolve-private.h"

void gst_cuda_convolve_in_flight_init(GstCudaConvolve *self);
void gst_cuda_convolve_in_flight_clear(GstCudaConvolve *self);

/* Settles how many frames are to be in flight, if that is open. Called with a frame: no element upstream holds a lock
 * then that it needs for the answer. */
void gst_cuda_convolve_in_flight_settle(GstCudaConvolve *self);

/* The number of frames that can be in flight by the plan, the caps and the engine in force: 1..CNV_IN_FLIGHT_MAX. */
guint gst_cuda_convolve_in_flight_max(const GstCudaConvolve *self);

/* Takes a frame that can be one of several. It is in flight afterwards or, with those before it pushed, in outbuf. */
GstFlowReturn gst_cuda_convolve_in_flight_submit(GstCudaConvolve *self, GstBuffer *in, GstBuffer **outbuf);

/* FALSE, and the event stays the caller's, where there is nothing that it would overtake. */
gboolean gst_cuda_convolve_in_flight_push_event(GstCudaConvolve *self, GstEvent *event);

/* Returns when at most n_left frames are in flight; with n_left of 0, or after a push that failed, when all frames and
 * events were pushed. The flow of that push is returned once. */
GstFlowReturn gst_cuda_convolve_in_flight_wait(GstCudaConvolve *self, guint n_left);

/* Has all frames in flight dropped, until the next wait. Any thread. */
void gst_cuda_convolve_in_flight_flush(GstCudaConvolve *self);
