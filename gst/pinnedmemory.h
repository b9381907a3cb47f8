/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Page-locked system memory as GStreamer allocates it: the engine copies to and from it at the speed of the bus. It is
 * system memory to everybody else.
 */
#pragma once

#include <convolve/backend.h>

#include "devicememory.h"

/* Returns an allocator over the backend's page-locked memory (gst_object_unref), or NULL where the backend has none or
 * there is no context. context: as in devicememory.h; the allocator, and each memory for itself, holds a reference, so
 * that memory may outlive element and session. Where locking fails the memory is plain, and a warning is logged. Any
 * thread. */
GstAllocator *gst_cuda_convolve_pinned_allocator_new(const CnvBackend *backend, struct _GstCudaContext *context);

/* Returns a GstVideoBufferPool that takes such memory (gst_object_unref), or NULL likewise. The allocator
 * itself is not offered to others: an element that allocates frame by frame would lock each. Elements give a pool that
 * they are offered the allocator that the query names, or none: this pool then keeps its own. */
GstBufferPool *gst_cuda_convolve_pinned_pool_new(const CnvBackend *backend, struct _GstCudaContext *context);
