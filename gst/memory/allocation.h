/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Buffer pools and metas, negotiated with downstream and upstream, and output buffers.
 */
#pragma once

#include "gstcudaconvolve-private.h"

/* Starts the pool of output buffers unless it is started. Its memory then uses the stream of the input. Returns FALSE
 * if that fails; the next output buffer then fails too, and posts the error. */
gboolean gst_cuda_convolve_start_pool(GstCudaConvolve *self, GstBuffer *input);

/* Allocates an output buffer with the times, flags and metas of `like`. Posts an error if there is no memory. */
GstFlowReturn gst_cuda_convolve_allocate_output(GstCudaConvolve *self, GstBuffer *like, GstBuffer **outbuf);

/* Returns TRUE if the pool limits the number of its buffers. pool: NULL is allowed. */
gboolean gst_cuda_convolve_pool_is_limited(GstBufferPool *pool);

void gst_cuda_convolve_allocation_class_init(GstBaseTransformClass *klass);
