/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Frames, caps, events and queries as they come: each frame is passed on at once, is one of several in flight
 * (inflight.h), or waits in the history for those that come after it (history.h). What ends frames that wait drains or
 * drops them; other serialized events go out between them.
 */
#pragma once

#include "gstcudaconvolve-private.h"

/* Drops all frames in flight or waiting, and the events between them. */
void gst_cuda_convolve_drop(GstCudaConvolve *self);

void gst_cuda_convolve_dispatch_class_init(GstBaseTransformClass *klass);
