/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "memory/pinnedmemory.h"

#include <gst/video/gstvideopool.h>
#include <string.h>

#include "messages.h"

G_DECLARE_FINAL_TYPE(GstCudaConvolvePinnedAllocator, gst_cuda_convolve_pinned_allocator, GST,
                     CUDA_CONVOLVE_PINNED_ALLOCATOR, GstAllocator)

struct _GstCudaConvolvePinnedAllocator {
  GstAllocator parent;
  const CnvBackend *backend;
  struct _GstCudaContext *context;
};

G_DEFINE_TYPE(GstCudaConvolvePinnedAllocator, gst_cuda_convolve_pinned_allocator, GST_TYPE_ALLOCATOR)

typedef struct {
  GstCudaConvolvePinnedAllocator *allocator;
  guint8 *data;
} Block;

static void
free_block(gpointer data)
{
  Block *block = data;

  block->allocator->backend->free_pinned(gst_cuda_convolve_device->handle(block->allocator->context), block->data);
  gst_object_unref(block->allocator);
  g_free(block);
}

/* The memory is system memory for GStreamer: buffers can share it, and copies of it are not page-locked. */
static GstMemory *
alloc(GstAllocator *allocator, gsize size, GstAllocationParams *params)
{
  GstCudaConvolvePinnedAllocator *self = (GstCudaConvolvePinnedAllocator *)allocator;
  gsize align = params->align | gst_memory_alignment, offset;
  gsize max_size = size + params->prefix + params->padding + align;
  guint8 *data = self->backend->alloc_pinned(gst_cuda_convolve_device->handle(self->context), max_size);
  Block *block;

  if (!data) {
    GST_WARNING_OBJECT(allocator,
                       "%" G_GSIZE_FORMAT " bytes cannot be page-locked: frames in this memory are copied once more",
                       max_size);
    return gst_allocator_alloc(NULL, size, params);
  }
  offset = (((guintptr)data + params->prefix + align) & ~align) - (guintptr)data;
  if (params->flags & GST_MEMORY_FLAG_ZERO_PREFIXED)
    memset(data, 0, offset);
  if (params->flags & GST_MEMORY_FLAG_ZERO_PADDED)
    memset(data + offset + size, 0, max_size - offset - size);
  block = g_new(Block, 1);
  *block = (Block){gst_object_ref(self), data};
  return gst_memory_new_wrapped(params->flags, data, max_size, offset, size, block, free_block);
}

static void
finalize(GObject *object)
{
  gst_clear_object(&((GstCudaConvolvePinnedAllocator *)object)->context);
  G_OBJECT_CLASS(gst_cuda_convolve_pinned_allocator_parent_class)->finalize(object);
}

static void
gst_cuda_convolve_pinned_allocator_class_init(GstCudaConvolvePinnedAllocatorClass *klass)
{
  G_OBJECT_CLASS(klass)->finalize = finalize;
  GST_ALLOCATOR_CLASS(klass)->alloc = alloc;
}

static void
gst_cuda_convolve_pinned_allocator_init(GstCudaConvolvePinnedAllocator *self)
{
  GST_ALLOCATOR(self)->mem_type = GST_ALLOCATOR_SYSMEM;
}

GstAllocator *
gst_cuda_convolve_pinned_allocator_new(const CnvBackend *backend, struct _GstCudaContext *context)
{
  GstCudaConvolvePinnedAllocator *self;

  if (!context || !backend->alloc_pinned)
    return NULL;
  self = g_object_new(gst_cuda_convolve_pinned_allocator_get_type(), NULL);
  gst_object_ref_sink(self);
  self->backend = backend;
  self->context = gst_object_ref(context);
  return GST_ALLOCATOR(self);
}

/* ---- the pool ---- */

G_DECLARE_FINAL_TYPE(GstCudaConvolvePinnedPool, gst_cuda_convolve_pinned_pool, GST, CUDA_CONVOLVE_PINNED_POOL,
                     GstVideoBufferPool)

struct _GstCudaConvolvePinnedPool {
  GstVideoBufferPool parent;
  GstAllocator *allocator;
};

G_DEFINE_TYPE(GstCudaConvolvePinnedPool, gst_cuda_convolve_pinned_pool, GST_TYPE_VIDEO_BUFFER_POOL)

static gboolean
pool_set_config(GstBufferPool *pool, GstStructure *config)
{
  GstAllocator *allocator = NULL;
  GstAllocationParams params;

  if (gst_buffer_pool_config_get_allocator(config, &allocator, &params) && !allocator)
    gst_buffer_pool_config_set_allocator(config, ((GstCudaConvolvePinnedPool *)pool)->allocator, &params);
  return GST_BUFFER_POOL_CLASS(gst_cuda_convolve_pinned_pool_parent_class)->set_config(pool, config);
}

static void
pool_finalize(GObject *object)
{
  gst_clear_object(&((GstCudaConvolvePinnedPool *)object)->allocator);
  G_OBJECT_CLASS(gst_cuda_convolve_pinned_pool_parent_class)->finalize(object);
}

static void
gst_cuda_convolve_pinned_pool_class_init(GstCudaConvolvePinnedPoolClass *klass)
{
  G_OBJECT_CLASS(klass)->finalize = pool_finalize;
  GST_BUFFER_POOL_CLASS(klass)->set_config = pool_set_config;
}

static void
gst_cuda_convolve_pinned_pool_init(GstCudaConvolvePinnedPool *self)
{
}

GstBufferPool *
gst_cuda_convolve_pinned_pool_new(const CnvBackend *backend, struct _GstCudaContext *context)
{
  GstAllocator *allocator = gst_cuda_convolve_pinned_allocator_new(backend, context);
  GstCudaConvolvePinnedPool *self;

  if (!allocator)
    return NULL;
  self = g_object_new(gst_cuda_convolve_pinned_pool_get_type(), NULL);
  gst_object_ref_sink(self);
  self->allocator = allocator;
  return GST_BUFFER_POOL(self);
}
