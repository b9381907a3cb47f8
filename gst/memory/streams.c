/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "memory/streams.h"

#include "memory/devicememory.h"
#include "messages.h"

/* Returns the stream that orders all work on the memory of a buffer, without a reference; NULL if it has none. */
static GstMiniObject *
stream_of(GstBuffer *buffer, gboolean in_device)
{
  return buffer && in_device && gst_cuda_convolve_device->stream_of ? gst_cuda_convolve_device->stream_of(buffer)
                                                                    : NULL;
}

static GstMiniObject *
stream_in(const GstCudaConvolveMap *map)
{
  return stream_of(map->in_frame.buffer, map->in.memory == CNV_MEMORY_DEVICE);
}

static GstMiniObject *
stream_out(const GstCudaConvolveMap *map)
{
  return stream_of(map->out_frame.buffer, map->out.memory == CNV_MEMORY_DEVICE);
}

void
gst_cuda_convolve_streams_join(const GstCudaConvolveEngine *engine, GstBuffer *buffer, GstBufferPool *pool)
{
  GstMiniObject *stream = stream_of(buffer, gst_cuda_convolve_engine_holds(engine, buffer));
  GstStructure *config;

  if (!stream || stream == engine->pool_stream || !gst_cuda_convolve_device->pool_fits(pool, engine->context))
    return;
  config = gst_buffer_pool_get_config(pool);
  gst_cuda_convolve_device->set_stream(config, stream);
  gst_buffer_pool_set_config(pool, config);
}

/* Makes the session use a stream. NULL: its own stream. */
static gboolean
use_stream(GstCudaConvolveEngine *engine, GstMiniObject *stream, GError **error)
{
  if (stream == engine->stream)
    return TRUE;
  if (!cnv_session_use_stream(engine->session, gst_cuda_convolve_device->stream_handle(stream), error))
    return FALSE;
  GST_LOG("working on %s stream", stream ? "the memory's" : "the session's");
  gst_mini_object_replace(&engine->stream, stream);
  return TRUE;
}

gboolean
gst_cuda_convolve_streams_enter(GstCudaConvolveEngine *engine, const GstCudaConvolveMap *map, GError **error)
{
  GstMiniObject *from = stream_in(map), *to = stream_out(map);

  if (!use_stream(engine, to ? to : from, error))
    return FALSE;
  return !from || from == engine->stream ||
         cnv_session_wait_for_stream(engine->session, gst_cuda_convolve_device->stream_handle(from), error);
}

/* Makes later users of the memory wait until the session is done with it. */
static gboolean
protect(GstCudaConvolveEngine *engine, GstBuffer *buffer, GstMiniObject *stream, GError **error)
{
  GstMemory *memory = gst_buffer_peek_memory(buffer, 0);

  if (stream != engine->stream &&
      !cnv_session_signal_stream(engine->session, gst_cuda_convolve_device->stream_handle(stream), error))
    return FALSE;
  /* The memory may be shared with other threads, so the flag is only written if it is not set. */
  if (!GST_MEMORY_FLAG_IS_SET(memory, gst_cuda_convolve_device->unsynced))
    g_atomic_int_or(&GST_MINI_OBJECT_FLAGS(memory), gst_cuda_convolve_device->unsynced);
  return TRUE;
}

gboolean
gst_cuda_convolve_streams_order(const GstCudaConvolveEngine *engine, GstBuffer *buffer)
{
  return stream_of(buffer, gst_cuda_convolve_engine_holds(engine, buffer)) != NULL;
}

void
gst_cuda_convolve_streams_release(GstCudaConvolveEngine *engine, GstBuffer *buffer)
{
  if (!engine->session || protect(engine, buffer, stream_of(buffer, TRUE), NULL))
    return;
  cnv_session_wait(engine->session, NULL);
  gst_cuda_convolve_keep_lost(engine, buffer);
}

gboolean
gst_cuda_convolve_streams_leave(GstCudaConvolveEngine *engine, const GstCudaConvolveMap *map, gboolean started,
                                GError **error)
{
  GstMiniObject *from = stream_in(map), *to = stream_out(map);
  GstBuffer *in = map->in_frame.buffer, *out = map->out_frame.buffer;
  /* The host waits for the first frame, so that another engine can still filter it again. */
  gboolean in_order = started && (!in || from) && (!out || to) && gst_cuda_convolve_engine_is_proven(engine);

  if (in_order && (!from || protect(engine, in, from, error)) && (!to || protect(engine, out, to, error)))
    return TRUE;
  /* Waits even after a failure, because work may be in flight in the memory of the frames. */
  return cnv_session_wait(engine->session, started && !in_order ? error : NULL) && started && !in_order;
}
