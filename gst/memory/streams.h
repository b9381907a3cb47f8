/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Order between the work of the session and of other elements on CUDA memory, without a wait on the host. The session
 * works on the stream of the output's memory, or else of the input's. If these are two streams, events order them.
 * Memory without a stream (host memory, and all memory before GStreamer 1.24) must be complete when it is passed on,
 * so the host waits.
 */
#pragma once

#include "memory/mapping.h"

/* Makes a CUDA pool that is not started yet use the stream of the buffer: frames on one stream need no events between
 * them, and their kernels may overlap. */
void gst_cuda_convolve_streams_join(const GstCudaConvolveEngine *engine, GstBuffer *buffer, GstBufferPool *pool);

/* Call before and after the session starts work on the frames of a map, one of which can be missing. Afterwards both
 * can be passed on: later work on their memory waits for the session. started: FALSE if the start failed. The result is
 * then FALSE, and *error is not set again. */
gboolean gst_cuda_convolve_streams_enter(GstCudaConvolveEngine *engine, const GstCudaConvolveMap *map, GError **error);
gboolean gst_cuda_convolve_streams_leave(GstCudaConvolveEngine *engine, const GstCudaConvolveMap *map, gboolean started,
                                         GError **error);

/* Returns TRUE if a stream orders all work on the memory of the buffer. */
gboolean gst_cuda_convolve_streams_order(const GstCudaConvolveEngine *engine, GstBuffer *buffer);

/* Makes later work on the memory of a kept buffer wait for the session. */
void gst_cuda_convolve_streams_release(GstCudaConvolveEngine *engine, GstBuffer *buffer);
