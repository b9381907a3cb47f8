/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "memory/devicememory.h"

#include <gst/cuda/gstcudabufferpool.h>
#include <gst/cuda/gstcudacontext.h>
#include <gst/cuda/gstcudaloader.h>
#include <gst/cuda/gstcudamemory.h>
#include <gst/cuda/gstcudautils.h>

static gboolean
init(void)
{
  if (!gst_cuda_load_library())
    return FALSE;
  gst_cuda_memory_init_once();
  return TRUE;
}

static gboolean
open_context(GstElement *element, int device, GstCudaContext **context, GError **error)
{
  guint ordinal = 0;

  if (*context)
    g_object_get(*context, "cuda-device-id", &ordinal, NULL);
  if (*context && device >= 0 && (int)ordinal != device)
    gst_clear_object(context);
  if (init() && gst_cuda_ensure_element_context(element, device, context))
    return TRUE;
  g_set_error(error, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_OPEN_READ_WRITE,
              "no CUDA context could be created for cuda-device-id=%d: run with GST_DEBUG=cuda*:4 for the driver's "
              "reason, or set backend=cpu",
              device);
  return FALSE;
}

static gboolean
pool_fits(GstBufferPool *pool, GstCudaContext *context)
{
  return GST_IS_CUDA_BUFFER_POOL(pool) && GST_CUDA_BUFFER_POOL(pool)->context == context;
}

/* Returns the CUDA memory of a buffer that consists of only that, else NULL. */
static GstCudaMemory *
only_memory(GstBuffer *buffer)
{
  GstMemory *memory = gst_buffer_n_memory(buffer) == 1 ? gst_buffer_peek_memory(buffer, 0) : NULL;

  return gst_is_cuda_memory(memory) ? GST_CUDA_MEMORY_CAST(memory) : NULL;
}

static gboolean
holds(GstBuffer *buffer, GstCudaContext *context)
{
  GstCudaMemory *memory = only_memory(buffer);

  return memory && memory->context == context;
}

static const GstVideoInfo *
layout(GstBuffer *buffer, const GstVideoInfo *info)
{
  GstCudaMemory *memory = only_memory(buffer);

  if (!memory || GST_VIDEO_INFO_FORMAT(&memory->info) != GST_VIDEO_INFO_FORMAT(info) ||
      GST_VIDEO_INFO_WIDTH(&memory->info) != GST_VIDEO_INFO_WIDTH(info) ||
      GST_VIDEO_INFO_HEIGHT(&memory->info) != GST_VIDEO_INFO_HEIGHT(info))
    return info;
  return &memory->info;
}

#if GST_CHECK_VERSION(1, 24, 0)
static GstMiniObject *
stream_of(GstBuffer *buffer)
{
  return (GstMiniObject *)gst_cuda_memory_get_stream(GST_CUDA_MEMORY_CAST(gst_buffer_peek_memory(buffer, 0)));
}

static gpointer
stream_handle(GstMiniObject *stream)
{
  return gst_cuda_stream_get_handle((GstCudaStream *)stream);
}

static void
set_stream(GstStructure *pool_config, GstMiniObject *stream)
{
  gst_buffer_pool_config_set_cuda_stream(pool_config, (GstCudaStream *)stream);
}

static void
share_stream(GstStructure *pool_config, GstCudaContext *context, GstMiniObject **stream)
{
  GstCudaStream *own = gst_buffer_pool_config_get_cuda_stream(pool_config);

  if (own) {
    gst_mini_object_replace(stream, GST_MINI_OBJECT_CAST(own));
    gst_cuda_stream_unref(own);
    return;
  }
  if (!*stream)
    *stream = (GstMiniObject *)gst_cuda_stream_new(context);
  if (*stream)
    set_stream(pool_config, *stream);
}
#endif

static const GstCudaConvolveDevice functions = {
    .map = GST_MAP_CUDA,
    .init = init,
    .open = open_context,
    .set_context = gst_cuda_handle_set_context,
    .query = gst_cuda_handle_context_query,
    .handle = gst_cuda_context_get_handle,
    .pool_new = gst_cuda_buffer_pool_new,
    .pool_fits = pool_fits,
    .holds = holds,
    .layout = layout,
#if GST_CHECK_VERSION(1, 24, 0)
    .unsynced = GST_CUDA_MEMORY_TRANSFER_NEED_SYNC,
    .stream_of = stream_of,
    .stream_handle = stream_handle,
    .set_stream = set_stream,
    .share_stream = share_stream,
#endif
};

const GstCudaConvolveDevice *const gst_cuda_convolve_device = &functions;
