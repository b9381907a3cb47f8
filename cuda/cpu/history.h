/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Earlier frames of a session on the CPU. A slot has planes like those of any frame, so that it is read, copied and
 * blended by the same code; all slots lie in one block.
 */
#pragma once

#include <convolve/backend.h>

#include "plan/layout.h"

G_BEGIN_DECLS

/* Zero before the first use. */
typedef struct {
  CnvLayout layout; /* of the frames */
  CnvFrame *slot;
  guint8 *block; /* of all of them */
} CpuHistory;

/* Makes n_slots slots, with zeros in them; earlier ones are lost. FALSE with CNV_ERROR_MEMORY, and then there are none.
 */
gboolean cnv_cpu_history_alloc(CpuHistory *self, const CnvImage *image, guint n_slots, GError **error);
void cnv_cpu_history_clear(CpuHistory *self);

/* The frame itself, or the slot that it names. */
const CnvFrame *cnv_cpu_history_frame(const CpuHistory *self, const CnvFrame *frame);

G_END_DECLS
