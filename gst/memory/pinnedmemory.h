/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Page-locked system memory as GStreamer allocates it. The engine copies to and from it at the speed of the bus. For
 * all other elements it is system memory.
 */
#pragma once

#include <convolve/backend.h>

#include "memory/devicememory.h"

/* Returns an allocator of the backend's page-locked memory, to be freed with gst_object_unref. Returns NULL if the
 * backend has none, or if there is no context. context: as in devicememory.h. The allocator and each memory hold a
 * reference to it, so memory may outlive the element and the session. If locking fails, the memory is plain, and a
 * warning is logged. Any thread. */
GstAllocator *gst_cuda_convolve_pinned_allocator_new(const CnvBackend *backend, struct _GstCudaContext *context);

/* Returns a GstVideoBufferPool of such memory, to be freed with gst_object_unref, or NULL like the function above. The
 * allocator itself is not proposed upstream, because an element that allocates each frame would lock each. Elements set
 * the allocator of the query on a pool, or none: this pool then keeps its own. */
GstBufferPool *gst_cuda_convolve_pinned_pool_new(const CnvBackend *backend, struct _GstCudaContext *context);
