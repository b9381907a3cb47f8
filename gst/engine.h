/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The engine that runs: its session, and the CUDA context and streams that the session works in.
 */
#pragma once

#include <convolve/backend.h>
#include <gst/gst.h>

G_BEGIN_DECLS

typedef struct {
  CnvSession *session;        /* from start to stop. This and what follows, but for streams, under the object lock */
  GstObject *context;         /* GstCudaContext, or NULL */
  gboolean takes_device;      /* with a session: CUDA memory can be negotiated */
  char *device_name;          /* of the last session */
  GstMiniObject *stream;      /* GstCudaStream that the session works on; NULL: its own */
  GstMiniObject *pool_stream; /* stream of the memory of our pools; NULL: no such pool yet, or before 1.24 */
} GstCudaConvolveEngine;

G_END_DECLS
