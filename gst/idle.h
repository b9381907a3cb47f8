/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The thread that puts frames out which wait for others that do not come.
 */
#pragma once

#include <gst/gst.h>

G_BEGIN_DECLS

typedef struct {
  GThread *thread; /* NULL until a frame waits; not a streaming thread */
  GMutex lock;     /* of what follows */
  GCond changed;
  gboolean frames_wait; /* as long as nobody has seen that none does: written with the stream's lock, too */
  gboolean ends;
} GstCudaConvolveIdle;

G_END_DECLS
