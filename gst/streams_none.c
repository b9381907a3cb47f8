/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * streams.c where no memory has a stream: in a build without CUDA, or for GStreamer before 1.24.
 */
#include "streams.h"

void
gst_cuda_convolve_streams_join(const GstCudaConvolveEngine *engine, GstBuffer *buffer, GstBufferPool *pool)
{
}

gboolean
gst_cuda_convolve_streams_enter(GstCudaConvolveEngine *engine, const GstCudaConvolveMap *map, GError **error)
{
  return TRUE;
}

/* Also after a failure something can be in flight in the frames' memory. */
gboolean
gst_cuda_convolve_streams_leave(GstCudaConvolveEngine *engine, const GstCudaConvolveMap *map, gboolean started,
                                GError **error)
{
  return cnv_session_wait(engine->session, started ? error : NULL) && started;
}

gboolean
gst_cuda_convolve_streams_order(const GstCudaConvolveEngine *engine, GstBuffer *buffer)
{
  return FALSE;
}

void
gst_cuda_convolve_streams_release(GstCudaConvolveEngine *engine, GstBuffer *buffer)
{
}
