/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The frames that a filter over time needs: their samples are in slots of the engine's session, here is what goes along
 * with them. Frames are numbered as they come; frame f is in slot f % n_slots.
 */
#pragma once

#include <convolve/work.h>
#include <gst/gst.h>

G_BEGIN_DECLS

typedef struct {
  GstBuffer *waiting; /* without memory: times, flags and metas of a frame that was not put out yet, else NULL */
  gboolean cut;       /* the scene changed before this frame */
} GstCudaConvolveKept;

/* A serialized event that came while frames waited. */
typedef struct {
  GstEvent *event;
  guint64 frame; /* number of the one that it goes before */
} GstCudaConvolveHeld;

typedef struct {
  guint n_slots;                             /* reserved in the session; 0: not in use */
  guint64 first;                             /* of the frames that can count, n_slots at most */
  guint64 out;                               /* the next to be put out */
  guint64 next;                              /* number of the next frame to come */
  GstCudaConvolveKept kept[CNV_MAX_MOMENTS]; /* by slot */
  GQueue held;                               /* GstCudaConvolveHeld, in order */
  CnvMoment moment[CNV_MAX_MOMENTS];         /* of the frame that is put out */
  GArray *luma;     /* float, 0..1: some samples of the last frame; empty where there is none to compare with */
  GByteArray *rows; /* room for some of a frame's that is in device memory */
} GstCudaConvolveHistory;

G_END_DECLS
