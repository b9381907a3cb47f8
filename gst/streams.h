/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Order between the session's work and that of other elements on CUDA memory, without a wait on the host: the session
 * works on the stream that the output's memory is in order on, or else the input's, and events order the two where they
 * are two. What has no stream (host memory, and all before GStreamer 1.24) has to be complete when it is handed on, and
 * then the host waits.
 */
#pragma once

#include "engine.h"

G_BEGIN_DECLS

/* Before and after the session starts what reads a buffer or writes another (NULL: a slot of the session's). Afterwards
 * both can be handed on: what happens to their memory next happens when the session is done with it. started: whether
 * that went well; the result is FALSE where it did not, and error is not set again. */
gboolean gst_cuda_convolve_streams_enter(GstCudaConvolveEngine *engine, GstBuffer *in, GstBuffer *out, GError **error);
gboolean gst_cuda_convolve_streams_leave(GstCudaConvolveEngine *engine, GstBuffer *in, GstBuffer *out, gboolean started,
                                         GError **error);

G_END_DECLS
