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
  guint n_slots; /* reserved in the session; 0: not in use */
  guint64 first; /* of the frames that can count, n_slots at most */
  /* By slot, without memory: times, flags and metas of a frame that was not put out yet; else NULL. */
  GstBuffer *waiting[CNV_MAX_TEMPORAL_TAPS];
  CnvTemporalTap temporal_tap[CNV_MAX_TEMPORAL_TAPS]; /* of the frame that is put out */
} GstCudaConvolveHistory;

G_END_DECLS
