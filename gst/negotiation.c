/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Caps, memory kinds and allocation. A convolution keeps everything of the caps but the memory kind: where the pads
 * differ in that, the engine uploads or downloads.
 */
#include <gst/video/gstvideopool.h>

#include "gstcudaconvolve-private.h"
#include "pinnedmemory.h"

#define DEVICE GST_CUDA_CONVOLVE_FEATURE_DEVICE
#define SYSTEM GST_CAPS_FEATURE_MEMORY_SYSTEM_MEMORY
#define PIXEL_BYTES_MAX 8 /* 4 samples of 2 bytes */
#define GST_RELEASE (GST_VERSION_MAJOR * 100 + GST_VERSION_MINOR)

static GstBaseTransformClass *parent_class;

/* One structure with all formats that GStreamer has in that kind of memory. */
static GstCaps *
caps_of_memory(gboolean device)
{
  GValue formats = G_VALUE_INIT;
  GstCaps *caps =
      gst_caps_new_simple("video/x-raw", "width", GST_TYPE_INT_RANGE, 1, CNV_SIZE_MAX, "height", GST_TYPE_INT_RANGE, 1,
                          CNV_SIZE_MAX, "framerate", GST_TYPE_FRACTION_RANGE, 0, 1, G_MAXINT, 1, NULL);

  g_value_init(&formats, GST_TYPE_LIST);
  for (const CnvFormat *format = cnv_formats; format->name; format++) {
    GValue name = G_VALUE_INIT;

    if (gst_video_format_from_string(format->name) == GST_VIDEO_FORMAT_UNKNOWN)
      continue;
    if (device && (format->device_since == 0 || format->device_since > GST_RELEASE))
      continue;
    g_value_init(&name, G_TYPE_STRING);
    g_value_set_static_string(&name, format->name);
    gst_value_list_append_and_take_value(&formats, &name);
  }
  gst_caps_set_value(caps, "format", &formats);
  g_value_unset(&formats);
  if (device)
    gst_caps_set_features_simple(caps, gst_caps_features_new(DEVICE, NULL));
  return caps;
}

GstCaps *
gst_cuda_convolve_template_caps(gboolean with_device)
{
  GstCaps *caps = with_device ? caps_of_memory(TRUE) : gst_caps_new_empty();

  gst_caps_append(caps, caps_of_memory(FALSE));
  return caps;
}

static gboolean
gives_device(GstCudaConvolve *self)
{
  gboolean gives;

  GST_OBJECT_LOCK(self);
  gives = !self->no_device_output;
  GST_OBJECT_UNLOCK(self);
  return gives;
}

static gboolean
takes_device(GstCudaConvolve *self)
{
  const char *name;
  const CnvBackend *backend;
  gboolean takes;

  GST_OBJECT_LOCK(self);
  name = gst_cuda_convolve_backend_name(self->settings.backend);
  backend = name ? cnv_backend_find(name) : cnv_backends[0];
  takes = self->engine.session ? self->engine.takes_device : backend && backend->takes_device_memory;
  GST_OBJECT_UNLOCK(self);
  return takes;
}

static gboolean
in_device(const GstCaps *caps, guint i)
{
  const GstCapsFeatures *features = gst_caps_get_features(caps, i);

  return features && gst_caps_features_contains(features, DEVICE);
}

/* Adds the structures of caps that are in a kind of memory, as they would be in another kind. Takes and returns to. */
static GstCaps *
merge_as(GstCaps *to, const GstCaps *caps, const char *from_memory, const char *to_memory)
{
  GstCapsFeatures *wanted = gst_caps_features_new(from_memory, NULL);

  for (guint i = 0; i < gst_caps_get_size(caps); i++) {
    GstCapsFeatures *features = gst_caps_get_features(caps, i);

    if (gst_caps_features_is_any(features) || gst_caps_features_is_equal(features, wanted))
      to = gst_caps_merge_structure_full(to, gst_structure_copy(gst_caps_get_structure(caps, i)),
                                         gst_caps_features_new(to_memory, NULL));
  }
  gst_caps_features_free(wanted);
  return to;
}

/* The same memory comes first. */
static GstCaps *
transform_caps(GstBaseTransform *trans, GstPadDirection direction, GstCaps *caps, GstCaps *filter)
{
  GstCudaConvolve *self = GST_CUDA_CONVOLVE(trans);
  gboolean device = takes_device(self), to_device = device && (direction == GST_PAD_SRC || gives_device(self));
  GstCaps *result = gst_caps_new_empty();

  if (to_device)
    result = merge_as(result, caps, DEVICE, DEVICE);
  result = merge_as(result, caps, SYSTEM, SYSTEM);
  if (device)
    result = merge_as(result, caps, DEVICE, SYSTEM);
  if (to_device)
    result = merge_as(result, caps, SYSTEM, DEVICE);
  if (filter) {
    GstCaps *all = result;

    result = gst_caps_intersect_full(filter, all, GST_CAPS_INTERSECT_FIRST);
    gst_caps_unref(all);
  }
  GST_DEBUG_OBJECT(trans, "%" GST_PTR_FORMAT " becomes %" GST_PTR_FORMAT, caps, result);
  return result;
}

/* Only the memory is open, and a peer's order of it does not count: staying in the same one saves a copy. */
static GstCaps *
fixate_caps(GstBaseTransform *trans, GstPadDirection direction, GstCaps *caps, GstCaps *othercaps)
{
  for (guint i = 0; i < gst_caps_get_size(othercaps); i++)
    if (in_device(othercaps, i) == in_device(caps, 0)) {
      GstCaps *same = gst_caps_copy_nth(othercaps, i);

      gst_caps_unref(othercaps);
      return gst_caps_fixate(same);
    }
  return gst_caps_fixate(othercaps);
}

/* Sizes of buffers in pools are counted in 32 bits, and GStreamer knows no frame much larger than that. */
static gboolean
read_caps(GstCudaConvolve *self, const GstCaps *caps, GstVideoInfo *info)
{
  const GstStructure *structure = gst_caps_get_structure(caps, 0);
  int width = 0, height = 0;

  if (gst_video_info_from_caps(info, caps) && GST_VIDEO_INFO_SIZE(info) <= G_MAXUINT)
    return TRUE;
  gst_structure_get(structure, "width", G_TYPE_INT, &width, "height", G_TYPE_INT, &height, NULL);
  if (width > 0 && (guint64)width * MAX(height, 0) >= G_MAXUINT / PIXEL_BYTES_MAX)
    GST_ELEMENT_ERROR(self, STREAM, FORMAT,
                      ("A frame of %dx%d %s takes 4 GiB or more, and buffers hold less: scale or crop it first", width,
                       height, gst_structure_get_string(structure, "format")),
                      ("%" GST_PTR_FORMAT, caps));
  else
    GST_ELEMENT_ERROR(self, STREAM, FORMAT, ("Caps that are no video: correct the caps filter upstream"),
                      ("%" GST_PTR_FORMAT, caps));
  return FALSE;
}

static gboolean
set_caps(GstBaseTransform *trans, GstCaps *incaps, GstCaps *outcaps)
{
  GstCudaConvolve *self = GST_CUDA_CONVOLVE(trans);
  GstVideoInfo in, out;

  if (!read_caps(self, incaps, &in) || !read_caps(self, outcaps, &out))
    return FALSE;
  if (GST_VIDEO_INFO_INTERLACE_MODE(&in) == GST_VIDEO_INTERLACE_MODE_FIELDS) {
    GST_ELEMENT_ERROR(self, STREAM, FORMAT,
                      ("interlace-mode=fields, with the fields as views of a buffer, is not taken: progressive, "
                       "interleaved and mixed are; put interlace or deinterlace before"),
                      ("%" GST_PTR_FORMAT, incaps));
    return FALSE;
  }
  /* Downstream still has the old caps. What it says of the frames it says again of the next. */
  gst_cuda_convolve_drain(self);
  gst_cuda_convolve_leave_history(self);
  self->caps.same_memory = in_device(incaps, 0) == in_device(outcaps, 0);
  self->caps.out_in_device = in_device(outcaps, 0);
  self->flights = self->flights_wanted;
  return gst_cuda_convolve_set_format(self, &in, &out);
}

static gboolean
get_unit_size(GstBaseTransform *trans, GstCaps *caps, gsize *size)
{
  GstVideoInfo info;

  if (!gst_video_info_from_caps(&info, caps))
    return FALSE;
  *size = GST_VIDEO_INFO_SIZE(&info);
  return TRUE;
}

/* The pool's real size is that of its CUDA memory, which it knows only once configured. */
static gboolean
configure(GstCudaConvolve *self, GstBufferPool *pool, GstCaps *caps, guint *size, guint min, guint max,
          gboolean video_meta)
{
  GstStructure *config = gst_buffer_pool_get_config(pool);

  gst_buffer_pool_config_set_params(config, caps, *size, min, max);
  if (in_device(caps, 0))
    gst_cuda_convolve_device_share_stream(config, self->engine.context, &self->engine.pool_stream);
  if (video_meta && gst_buffer_pool_has_option(pool, GST_BUFFER_POOL_OPTION_VIDEO_META))
    gst_buffer_pool_config_add_option(config, GST_BUFFER_POOL_OPTION_VIDEO_META);
  if (!gst_buffer_pool_set_config(pool, config)) {
    config = gst_buffer_pool_get_config(pool);
    if (!gst_buffer_pool_config_validate_params(config, caps, *size, min, max)) {
      gst_structure_free(config);
      return FALSE;
    }
    /* The pool's own idea of the configuration will do. */
    if (!gst_buffer_pool_set_config(pool, config))
      return FALSE;
  }
  config = gst_buffer_pool_get_config(pool);
  gst_buffer_pool_config_get_params(config, NULL, size, NULL, NULL);
  gst_structure_free(config);
  return TRUE;
}

/* Of CUDA memory, or page-locked system memory. NULL where the engine has none, so that any pool will do. */
static GstBufferPool *
own_pool(GstCudaConvolve *self, gboolean device)
{
  if (device)
    return gst_cuda_convolve_device_pool_new(self->engine.context);
  return self->engine.session ? gst_cuda_convolve_pinned_pool_new(self->engine.session->backend, self->engine.context)
                              : NULL;
}

/* What an allocation query says about a pool. */
typedef struct {
  GstBufferPool *pool;
  guint size, min, max;
} PoolChoice;

/* Takes downstream's pool where it is one for our memory, else makes one. FALSE where there is no memory for it. */
static gboolean
choose_pool(GstCudaConvolve *self, GstCaps *caps, PoolChoice *choice)
{
  choice->size = MAX(choice->size, GST_VIDEO_INFO_SIZE(&self->caps.out_info));
  if (choice->pool && self->caps.out_in_device &&
      !gst_cuda_convolve_device_pool_fits(choice->pool, self->engine.context))
    gst_clear_object(&choice->pool);
  if (choice->pool &&
      !configure(self, choice->pool, caps, &choice->size, choice->min, choice->max, self->allocation.takes_meta))
    gst_clear_object(&choice->pool);
  if (choice->pool)
    return TRUE;
  choice->max = 0; /* the limit was the other pool's */
  choice->pool = own_pool(self, self->caps.out_in_device);
  if (!choice->pool)
    choice->pool = gst_video_buffer_pool_new();
  return configure(self, choice->pool, caps, &choice->size, choice->min, choice->max, self->allocation.takes_meta);
}

/* Names page-locked memory for output buffers where downstream names no memory, and offers a pool that has no way of
 * its own to allocate: the base class gives a pool what is named. */
static void
choose_allocator(GstCudaConvolve *self, GstQuery *query, GstBufferPool *pool)
{
  gboolean named = gst_query_get_n_allocation_params(query) > 0;
  gboolean plain = G_OBJECT_TYPE(pool) == GST_TYPE_BUFFER_POOL || G_OBJECT_TYPE(pool) == GST_TYPE_VIDEO_BUFFER_POOL;
  GstAllocator *allocator = NULL;
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
  gst_clear_object(&allocator);
}

static gboolean
decide_allocation(GstBaseTransform *trans, GstQuery *query)
{
  GstCudaConvolve *self = GST_CUDA_CONVOLVE(trans);
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
    gst_cuda_convolve_post_no_output(self, choice.size);
  else if (offered)
    gst_query_set_nth_allocation_pool(query, 0, choice.pool, choice.size, choice.min, choice.max);
  else
    gst_query_add_allocation_pool(query, choice.pool, choice.size, choice.min, choice.max);
  if (ok)
    choose_allocator(self, query, choice.pool);
  gst_object_unref(choice.pool);
  return ok && parent_class->decide_allocation(trans, query);
}

/* Adds a pool of memory that suits the engine to a query from upstream. */
static gboolean
propose_pool(GstCudaConvolve *self, GstQuery *query, GstCaps *caps)
{
  GstBufferPool *pool;
  GstVideoInfo info;
  gboolean ok;
  guint size;

  if (!gst_video_info_from_caps(&info, caps))
    return FALSE;
  pool = own_pool(self, in_device(caps, 0));
  if (!pool)
    return TRUE;
  size = GST_VIDEO_INFO_SIZE(&info);
  ok = configure(self, pool, caps, &size, 0, 0, TRUE);
  if (ok)
    gst_query_add_allocation_pool(query, pool, size, 0, 0);
  gst_object_unref(pool);
  return ok;
}

static gboolean
propose_allocation(GstBaseTransform *trans, GstQuery *decide_query, GstQuery *query)
{
  GstCudaConvolve *self = GST_CUDA_CONVOLVE(trans);
  gboolean need_pool;
  GstCaps *caps;

  /* Without decide_query the base class would ask downstream for buffers, of its kind of memory. */
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

/* Which metas of downstream upstream may use: all that pass through here. An overlay would then be drawn on top of the
 * filtered picture; drawn upstream it is part of what is filtered, as the pipeline's order says. */
static gboolean
filter_meta(GstBaseTransform *trans, GstQuery *query, GType api, const GstStructure *params)
{
  return api != GST_VIDEO_OVERLAY_COMPOSITION_META_API_TYPE;
}

/* Metas that speak of a buffer's memory, and ones that keep other memory alive, a decoder's surface for example. */
static gboolean
is_of_memory(GType api)
{
  return api == GST_VIDEO_META_API_TYPE || api == GST_PARENT_BUFFER_META_API_TYPE ||
         gst_meta_api_type_has_tag(api, g_quark_from_static_string(GST_META_TAG_MEMORY_STR)) ||
         gst_meta_api_type_has_tag(api, g_quark_from_static_string("memory-reference"));
}

/* Each filtered frame shows what the input shows, in its place: what is said of one is true of the other. */
static gboolean
transform_meta(GstBaseTransform *trans, GstBuffer *outbuf, GstMeta *meta, GstBuffer *inbuf)
{
  return !is_of_memory(meta->info->api);
}

void
gst_cuda_convolve_negotiation_class_init(GstBaseTransformClass *klass)
{
  parent_class = g_type_class_peek_parent(klass);
  klass->transform_caps = GST_DEBUG_FUNCPTR(transform_caps);
  klass->fixate_caps = GST_DEBUG_FUNCPTR(fixate_caps);
  klass->set_caps = GST_DEBUG_FUNCPTR(set_caps);
  klass->get_unit_size = GST_DEBUG_FUNCPTR(get_unit_size);
  klass->decide_allocation = GST_DEBUG_FUNCPTR(decide_allocation);
  klass->propose_allocation = GST_DEBUG_FUNCPTR(propose_allocation);
  klass->filter_meta = GST_DEBUG_FUNCPTR(filter_meta);
  klass->transform_meta = GST_DEBUG_FUNCPTR(transform_meta);
}
