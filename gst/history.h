/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The frames that a filter over time needs: their samples are in slots of the engine's session, here is what goes along
 * with them. Frame f, as waiting.h numbers them, is in slot f % n_slots.
 */
#pragma once

#include <convolve/work.h>
#include <gst/gst.h>

G_BEGIN_DECLS

typedef struct {
  GstBuffer *waiting; /* without memory: times, flags and metas of a frame that was not put out yet, else NULL */
  gboolean cut;       /* the scene changed before this frame */
} GstCudaConvolveKept;

typedef struct {
  guint n_slots;                                      /* reserved in the session; 0: not in use */
  guint64 first;                                      /* of the frames that can count, n_slots at most */
  GstCudaConvolveKept kept[CNV_MAX_TEMPORAL_TAPS];    /* by slot */
  CnvTemporalTap temporal_tap[CNV_MAX_TEMPORAL_TAPS]; /* of the frame that is put out */
  float *luma;  /* 0..1: some samples of the last frame, room for the most that can be; NULL before the first */
  guint n_luma; /* 0: no frame to compare with */
  guint8 *rows; /* room for some of a frame's that is in device memory; or NULL */
  gsize rows_size;
} GstCudaConvolveHistory;

G_END_DECLS
