/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "cpu/history.h"

#include "cpu/types.h"
#include "plan/arith.h"

/* Planes of a slot at an address; returns its size. Rows begin at cache lines, so that no two threads write one. */
static gsize
lay_out_slot(CnvFrame *slot, const CnvLayout *layout, guint8 *at)
{
  gsize used = 0;

  *slot = (CnvFrame){.memory = CNV_MEMORY_HOST};
  for (int m = 0; m < layout->n_planes; m++) {
    slot->data[m] = at + used;
    slot->stride[m] = cnv_divide_up(layout->row_bytes[m], CNV_CPU_ALIGNMENT) * CNV_CPU_ALIGNMENT;
    used += (gsize)slot->stride[m] * layout->rows[m];
  }
  return used;
}

void
cnv_cpu_history_clear(CpuHistory *self)
{
  g_clear_pointer(&self->slot, g_free);
  g_clear_pointer(&self->block, g_free);
}

gboolean
cnv_cpu_history_alloc(CpuHistory *self, const CnvImage *image, guint n_slots, GError **error)
{
  CnvLayout layout = cnv_layout_of(image);
  CnvFrame any;
  gsize size = lay_out_slot(&any, &layout, NULL), bytes = n_slots * size + CNV_CPU_ALIGNMENT;

  self->layout = layout;
  cnv_cpu_history_clear(self);
  if (n_slots == 0)
    return TRUE;
  self->block = g_try_malloc0(bytes);
  if (!self->block) {
    g_set_error(error, CNV_ERROR, CNV_ERROR_MEMORY,
                "no memory for %" G_GSIZE_FORMAT
                " bytes of history, %u frames of %dx%d %s: set a smaller temporal-radius or fewer taps in time",
                bytes, n_slots, image->width, image->height, image->format->name);
    return FALSE;
  }
  self->slot = g_new(CnvFrame, n_slots);
  for (guint i = 0; i < n_slots; i++)
    lay_out_slot(&self->slot[i], &layout, cnv_cpu_aligned(self->block) + i * size);
  return TRUE;
}

const CnvFrame *
cnv_cpu_history_frame(const CpuHistory *self, const CnvFrame *frame)
{
  return frame->memory == CNV_MEMORY_HISTORY ? &self->slot[frame->slot] : frame;
}
