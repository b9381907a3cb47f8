/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "memory/allocation.h"

#include <gst/video/gstvideopool.h>

#include "memory/devicememory.h"
#include "memory/pinnedmemory.h"
#include "memory/streams.h"
#include "messages.h"

static GstBaseTransformClass *parent_class;

/* ---- output buffers ---- */

gboolean
gst_cuda_convolve_pool_is_limited(GstBufferPool *pool)
{
  g_autoptr(GstStructure) config = pool ? gst_buffer_pool_get_config(pool) : NULL;
  guint max = 1;

  if (config)
    gst_buffer_pool_config_get_params(config, NULL, NULL, NULL, &max);
  return config && max > 0;
}

static void
post_no_output(GstCudaConvolve *self, guint size)
{
  const GstVideoInfo *info = &self->caps.out_info;
  GError *error = g_error_new(GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_NO_SPACE_LEFT,
                              "No output buffer of %u bytes of %s memory could be allocated for a %dx%d %s frame: free "
                              "memory, use smaller frames, or queue fewer frames downstream",
                              size, self->caps.out_in_device ? "CUDA" : "system", GST_VIDEO_INFO_WIDTH(info),
                              GST_VIDEO_INFO_HEIGHT(info), gst_video_format_to_string(GST_VIDEO_INFO_FORMAT(info)));

  gst_cuda_convolve_post(GST_ELEMENT(self), GST_MESSAGE_ERROR, error, "allocating an output buffer");
}

/* Starts the pool only once, because its owner may have stopped it since. */
gboolean
gst_cuda_convolve_start_pool(GstCudaConvolve *self, GstBuffer *input)
{
  g_autoptr(GstBufferPool) pool = NULL;

  if (self->allocation.pool_started)
    return TRUE;
  pool = gst_base_transform_get_buffer_pool(GST_BASE_TRANSFORM(self));
  if (pool && self->allocation.own_pool)
    gst_cuda_convolve_streams_join(&self->engine, input, pool);
  self->allocation.pool_started = !pool || gst_buffer_pool_set_active(pool, TRUE);
  return self->allocation.pool_started;
}

static GstFlowReturn
get_output(GstCudaConvolve *self, GstBuffer *like, GstBuffer **outbuf)
{
  return gst_cuda_convolve_start_pool(self, like)
             ? parent_class->prepare_output_buffer(GST_BASE_TRANSFORM(self), like, outbuf)
             : GST_FLOW_ERROR;
}

/* Before the first frame, changes the output to system memory if downstream accepts that. Returns TRUE if it did. */
static gboolean
leave_device_memory(GstCudaConvolve *self)
{
  GstBaseTransform *trans = GST_BASE_TRANSFORM(self);
  GError *info;

  if (!self->caps.out_in_device || gst_cuda_convolve_engine_is_proven(&self->engine) || self->history.n_slots > 0)
    return FALSE;
  GST_OBJECT_LOCK(self);
  self->no_device_output = TRUE;
  GST_OBJECT_UNLOCK(self);
  gst_base_transform_reconfigure_src(trans);
  if (!gst_base_transform_reconfigure(trans) || self->caps.out_in_device)
    return FALSE;
  info = g_error_new_literal(GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_NO_SPACE_LEFT,
                             "no output buffer could be allocated in CUDA memory: frames go out in system memory");
  gst_cuda_convolve_post(GST_ELEMENT(self), GST_MESSAGE_INFO, info, "allocating an output buffer");
  return TRUE;
}

/* Posts an error if there is no buffer, because the base class does not. */
GstFlowReturn
gst_cuda_convolve_allocate_output(GstCudaConvolve *self, GstBuffer *like, GstBuffer **outbuf)
{
  GstFlowReturn flow = get_output(self, like, outbuf);

  if (flow == GST_FLOW_ERROR && leave_device_memory(self))
    flow = get_output(self, like, outbuf);
  if (flow == GST_FLOW_ERROR)
    post_no_output(self, (guint)GST_VIDEO_INFO_SIZE(&self->caps.out_info));
  return flow;
}

/* ---- pools ---- */

/* A pool and its sizes, as in an allocation query. */
typedef struct {
  GstBufferPool *pool;
  guint size, min, max;
} PoolChoice;

/* Configures the pool, and updates the size: only a configured pool knows the real size of its CUDA memory. */
static gboolean
configure(GstCudaConvolve *self, PoolChoice *choice, GstCaps *caps, gboolean video_meta)
{
  GstBufferPool *pool = choice->pool;
  GstStructure *config = gst_buffer_pool_get_config(pool);

  gst_buffer_pool_config_set_params(config, caps, choice->size, choice->min, choice->max);
  if (gst_cuda_convolve_caps_in_device(caps, 0) && gst_cuda_convolve_device->share_stream)
    gst_cuda_convolve_device->share_stream(config, self->engine.context, &self->engine.pool_stream);
  if (video_meta && gst_buffer_pool_has_option(pool, GST_BUFFER_POOL_OPTION_VIDEO_META))
    gst_buffer_pool_config_add_option(config, GST_BUFFER_POOL_OPTION_VIDEO_META);
  if (!gst_buffer_pool_set_config(pool, config)) {
    config = gst_buffer_pool_get_config(pool);
    if (!gst_buffer_pool_config_validate_params(config, caps, choice->size, choice->min, choice->max)) {
      gst_structure_free(config);
      return FALSE;
    }
    /* If the pool changed the configuration, its version is accepted. */
    if (!gst_buffer_pool_set_config(pool, config))
      return FALSE;
  }
  config = gst_buffer_pool_get_config(pool);
  gst_buffer_pool_config_get_params(config, NULL, &choice->size, NULL, NULL);
  gst_structure_free(config);
  return TRUE;
}

/* Returns a new pool of CUDA memory, or of page-locked system memory. NULL: the engine needs no special memory. */
static GstBufferPool *
own_pool(GstCudaConvolve *self, gboolean device)
{
  if (device)
    return gst_cuda_convolve_device->pool_new(self->engine.context);
  return self->engine.session ? gst_cuda_convolve_pinned_pool_new(self->engine.session->backend, self->engine.context)
                              : NULL;
}

/* Uses downstream's pool if it has the right memory, else makes one. Returns FALSE if there is no memory. */
static gboolean
choose_pool(GstCudaConvolve *self, GstCaps *caps, PoolChoice *choice)
{
  choice->size = MAX(choice->size, GST_VIDEO_INFO_SIZE(&self->caps.out_info));
  if (choice->pool && self->caps.out_in_device &&
      !gst_cuda_convolve_device->pool_fits(choice->pool, self->engine.context))
    gst_clear_object(&choice->pool);
  if (choice->pool && !configure(self, choice, caps, self->allocation.takes_meta))
    gst_clear_object(&choice->pool);
  self->allocation.own_pool = !choice->pool;
  if (choice->pool)
    return TRUE;
  choice->max = 0; /* the limit was that of downstream's pool */
  choice->pool = own_pool(self, self->caps.out_in_device);
  if (!choice->pool)
    choice->pool = gst_video_buffer_pool_new();
  return configure(self, choice, caps, self->allocation.takes_meta);
}

/* Puts page-locked memory into the query if downstream's pool is a plain one without an allocator: the base class
 * passes the query's allocator to the pool. */
static void
choose_allocator(GstCudaConvolve *self, GstQuery *query, GstBufferPool *pool)
{
  gboolean named = gst_query_get_n_allocation_params(query) > 0;
  gboolean plain = G_OBJECT_TYPE(pool) == GST_TYPE_BUFFER_POOL || G_OBJECT_TYPE(pool) == GST_TYPE_VIDEO_BUFFER_POOL;
  g_autoptr(GstAllocator) allocator = NULL;
  GstAllocationParams params;

  gst_allocation_params_init(&params);
  if (named)
    gst_query_parse_nth_allocation_param(query, 0, &allocator, &params);
  if (!allocator && !self->caps.out_in_device && plain && self->engine.session)
    allocator = gst_cuda_convolve_pinned_allocator_new(self->engine.session->backend, self->engine.context);
  if (allocator && named)
    gst_query_set_nth_allocation_param(query, 0, allocator, &params);
  else if (allocator)
    gst_query_add_allocation_param(query, allocator, &params);
}

static gboolean
decide_allocation(GstBaseTransform *trans, GstQuery *query)
{
  GstCudaConvolve *self = GST_CUDA_CONVOLVE_CAST(trans);
  gboolean offered = gst_query_get_n_allocation_pools(query) > 0, ok;
  PoolChoice choice = {NULL};
  GstCaps *caps;

  gst_query_parse_allocation(query, &caps, NULL);
  self->allocation.takes_meta = gst_query_find_allocation_meta(query, GST_VIDEO_META_API_TYPE, NULL);
  if (offered)
    gst_query_parse_nth_allocation_pool(query, 0, &choice.pool, &choice.size, &choice.min, &choice.max);
  self->allocation.pool_started = FALSE;
  ok = choose_pool(self, caps, &choice);
  if (!ok)
    post_no_output(self, choice.size);
  else if (offered)
    gst_query_set_nth_allocation_pool(query, 0, choice.pool, choice.size, choice.min, choice.max);
  else
    gst_query_add_allocation_pool(query, choice.pool, choice.size, choice.min, choice.max);
  if (ok)
    choose_allocator(self, query, choice.pool);
  gst_object_unref(choice.pool);
  return ok && parent_class->decide_allocation(trans, query);
}

/* Adds a pool of suitable memory to a query from upstream. */
static gboolean
propose_pool(GstCudaConvolve *self, GstQuery *query, GstCaps *caps)
{
  PoolChoice choice = {NULL};
  GstVideoInfo info;
  gboolean ok;

  if (!gst_video_info_from_caps(&info, caps))
    return FALSE;
  choice.pool = own_pool(self, gst_cuda_convolve_caps_in_device(caps, 0));
  if (!choice.pool)
    return TRUE;
  choice.size = GST_VIDEO_INFO_SIZE(&info);
  ok = configure(self, &choice, caps, TRUE);
  if (ok)
    gst_query_add_allocation_pool(query, choice.pool, choice.size, 0, 0);
  gst_object_unref(choice.pool);
  return ok;
}

static gboolean
propose_allocation(GstBaseTransform *trans, GstQuery *decide_query, GstQuery *query)
{
  GstCudaConvolve *self = GST_CUDA_CONVOLVE_CAST(trans);
  gboolean need_pool;
  GstCaps *caps;

  /* decide_query is NULL in passthrough: the base class would then propose downstream's pools and memory. */
  if (decide_query && !parent_class->propose_allocation(trans, decide_query, query))
    return FALSE;
  gst_query_parse_allocation(query, &caps, &need_pool);
  if (!caps)
    return FALSE;
  if (need_pool && self->engine.context && !propose_pool(self, query, caps))
    return FALSE;
  gst_query_add_allocation_meta(query, GST_VIDEO_META_API_TYPE, NULL);
  return TRUE;
}

/* ---- metas ---- */

/* Lets upstream use the metas that downstream supports, because all metas pass through. The exception is an overlay:
 * downstream would draw it on top of the filtered picture. Drawn upstream it is filtered, as the order of the pipeline
 * says. */
static gboolean
filter_meta(GstBaseTransform *trans, GstQuery *query, GType api, const GstStructure *params)
{
  return api != GST_VIDEO_OVERLAY_COMPOSITION_META_API_TYPE;
}

/* Returns TRUE for metas that describe the memory of a buffer, or keep other memory alive, such as that of a decoder.
 */
static gboolean
is_of_memory(GType api)
{
  return api == GST_VIDEO_META_API_TYPE || api == GST_PARENT_BUFFER_META_API_TYPE ||
         gst_meta_api_type_has_tag(api, g_quark_from_static_string(GST_META_TAG_MEMORY_STR)) ||
         gst_meta_api_type_has_tag(api, g_quark_from_static_string("memory-reference"));
}

/* Copies metas, because a filtered frame shows the same things in the same places as its input. */
static gboolean
transform_meta(GstBaseTransform *trans, GstBuffer *outbuf, GstMeta *meta, GstBuffer *inbuf)
{
  return !is_of_memory(meta->info->api);
}

void
gst_cuda_convolve_allocation_class_init(GstBaseTransformClass *klass)
{
  parent_class = g_type_class_peek_parent(klass);
  klass->decide_allocation = GST_DEBUG_FUNCPTR(decide_allocation);
  klass->propose_allocation = GST_DEBUG_FUNCPTR(propose_allocation);
  klass->filter_meta = GST_DEBUG_FUNCPTR(filter_meta);
  klass->transform_meta = GST_DEBUG_FUNCPTR(transform_meta);
}
