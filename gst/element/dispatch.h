/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Incoming frames, caps, events and queries. A frame is pushed at once, is one of several in flight (inflight.h), or
 * waits in the history for later frames (history.h). Events that end a run of frames drain or drop the waiting frames.
 * Other serialized events are pushed between them.
 */
#pragma once

#include "gstcudaconvolve-private.h"

/* Drops all frames in flight or waiting, and the events between them. */
void gst_cuda_convolve_drop(GstCudaConvolve *self);

void gst_cuda_convolve_dispatch_class_init(GstBaseTransformClass *klass);
