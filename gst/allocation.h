/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Buffer pools and metas, chosen from downstream's and proposed upstream, and output buffers.
 */
#pragma once

#include "gstcudaconvolve-private.h"

/* Starts the pool of output buffers, unless it is started: its memory is then in order with the input's. Where it
 * cannot be, so will the next output buffer, which reports it. */
gboolean gst_cuda_convolve_start_pool(GstCudaConvolve *self, GstBuffer *input);

/* A buffer with the times, flags and metas of another. Posts where there is no memory for it. */
GstFlowReturn gst_cuda_convolve_allocate_output(GstCudaConvolve *self, GstBuffer *like, GstBuffer **outbuf);

/* TRUE if the pool (or NULL) has a largest number of buffers. */
gboolean gst_cuda_convolve_pool_is_limited(GstBufferPool *pool);

void gst_cuda_convolve_allocation_class_init(GstBaseTransformClass *klass);
