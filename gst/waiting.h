/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Frames that wait to be put out. They are numbered as they come.
 */
#pragma once

#include <gst/gst.h>

G_BEGIN_DECLS

/* A serialized event that came while frames waited. */
typedef struct {
  GstEvent *event;
  guint64 frame; /* number of the one that it goes before */
} GstCudaConvolveHeld;

typedef struct {
  guint64 out;  /* number of the next frame to be put out */
  guint64 next; /* of the next to come */
  GQueue held;  /* GstCudaConvolveHeld, in order */
} GstCudaConvolveWaiting;

G_END_DECLS
