/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Several frames in flight, where memory of the host is copied to or from a device: one is uploaded while the one
 * before it is downloaded.
 */
#pragma once

#include "gstcudaconvolve-private.h"

G_BEGIN_DECLS

void gst_cuda_convolve_in_flight_init(GstCudaConvolve *self);

/* Settles how many frames are to be in flight, if that is open. Called with a frame: no element upstream holds a lock
 * then that it needs for the answer. */
void gst_cuda_convolve_settle_frames_in_flight(GstCudaConvolve *self);

/* The number of frames that can be in flight by the plan, the caps and the engine in force: 1..CNV_IN_FLIGHT_MAX. */
guint gst_cuda_convolve_frames_in_flight(const GstCudaConvolve *self);

/* Takes a frame that can be one of several. It is in flight afterwards or, with those before it pushed, in outbuf. */
GstFlowReturn gst_cuda_convolve_submit(GstCudaConvolve *self, GstBuffer *in, GstBuffer **outbuf);

G_END_DECLS
