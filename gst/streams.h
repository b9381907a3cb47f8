/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Order between the session's work and that of other elements on CUDA memory, without a wait on the host: the session
 * works on the stream that the output's memory is in order on, or else the input's, and events order the two where they
 * are two. Memory without a stream (host memory, and all before GStreamer 1.24) has to be complete when it is handed
 * on: then the host waits.
 */
#pragma once

#include "mapping.h"

/* Has a CUDA pool that is not started yet make memory for the stream of the buffer's: frames on one stream need no
 * events between them, and their kernels may overlap. */
void gst_cuda_convolve_streams_join(const GstCudaConvolveEngine *engine, GstBuffer *buffer, GstBufferPool *pool);

/* Called before and after the session starts work on a map's frames, of which one can be missing. Afterwards both can
 * be handed on: later work on their memory waits for the session's. started: FALSE if the start failed; then the result
 * is FALSE, and error is not set again. */
gboolean gst_cuda_convolve_streams_enter(GstCudaConvolveEngine *engine, const GstCudaConvolveMap *map, GError **error);
gboolean gst_cuda_convolve_streams_leave(GstCudaConvolveEngine *engine, const GstCudaConvolveMap *map, gboolean started,
                                         GError **error);

/* TRUE where a stream orders all work on the buffer's memory. */
gboolean gst_cuda_convolve_streams_order(const GstCudaConvolveEngine *engine, GstBuffer *buffer);

/* Later work on the memory of such a buffer, which was kept after its frame, waits for the session's. */
void gst_cuda_convolve_streams_release(GstCudaConvolveEngine *engine, GstBuffer *buffer);
