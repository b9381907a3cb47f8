/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * What the CPU engine keeps of earlier frames. A slot is planes of memory like those of any frame, so that a slot is
 * read, copied and blended by the same code; all slots lie in one block. Threads copy a frame into it as they copy what
 * a filter leaves alone.
 */
#include "cpu/tile.h"

void
cnv_cpu_cut_copy(const CpuSession *self, GArray *tiles, const CnvImage *image, int memory)
{
  int height = cnv_format_rows(image->format, memory, image->height);
  int rows = MAX(CNV_CPU_COPIED_ROWS, cnv_cpu_divide_up(height, (int)self->n_threads * CNV_CPU_TILES_A_THREAD));

  for (int top = 0; top < height; top += rows) {
    CpuTile tile = {.run = cnv_cpu_copy_tile,
                    .memory = memory,
                    .last = cnv_format_row_bytes(image->format, memory, image->width),
                    .top = top,
                    .bottom = MIN(top + rows, height)};

    g_array_append_val(tiles, tile);
  }
}

/* Rows begin at cache lines, so that no two threads write one. */
static int
slot_stride(const CnvImage *image, int memory)
{
  int row = cnv_format_row_bytes(image->format, memory, image->width);

  return cnv_cpu_divide_up(row, CNV_CPU_ALIGNMENT) * CNV_CPU_ALIGNMENT;
}

static gsize
slot_bytes(const CnvImage *image)
{
  gsize bytes = 0;

  for (int m = 0; m < cnv_format_n_frame_planes(image->format); m++)
    bytes += (gsize)slot_stride(image, m) * cnv_format_rows(image->format, m, image->height);
  return bytes;
}

static CnvFrame
place_slot(const CnvImage *image, guint8 *at)
{
  CnvFrame slot = {.memory = CNV_MEMORY_HOST};

  for (int m = 0; m < cnv_format_n_frame_planes(image->format); m++) {
    slot.data[m] = at;
    slot.stride[m] = slot_stride(image, m);
    at += (gsize)slot.stride[m] * cnv_format_rows(image->format, m, image->height);
  }
  return slot;
}

void
cnv_cpu_forget_history(CpuSession *self)
{
  g_clear_pointer(&self->slots, g_free);
  g_clear_pointer(&self->slot_memory, g_free);
  g_array_set_size(self->keeps, 0);
}

gboolean
cnv_cpu_reserve(CnvSession *base, const CnvImage *image, guint n_slots, GError **error)
{
  CpuSession *self = (CpuSession *)base;
  gsize bytes = n_slots * slot_bytes(image) + CNV_CPU_ALIGNMENT;
  guint8 *first;

  cnv_cpu_forget_history(self);
  if (n_slots == 0)
    return TRUE;
  self->slot_memory = g_try_malloc0(bytes);
  if (!self->slot_memory) {
    g_set_error(error, CNV_ERROR, CNV_ERROR_MEMORY,
                "no memory for %" G_GSIZE_FORMAT
                " bytes of history, %u frames of %dx%d %s: set a smaller temporal-radius or fewer taps in time",
                bytes, n_slots, image->width, image->height, image->format->name);
    return FALSE;
  }
  first = self->slot_memory + (CNV_CPU_ALIGNMENT - (guintptr)self->slot_memory % CNV_CPU_ALIGNMENT) % CNV_CPU_ALIGNMENT;
  self->slots = g_new(CnvFrame, n_slots);
  for (guint i = 0; i < n_slots; i++)
    self->slots[i] = place_slot(image, first + i * slot_bytes(image));
  for (int m = 0; m < cnv_format_n_frame_planes(image->format); m++)
    cnv_cpu_cut_copy(self, self->keeps, image, m);
  return TRUE;
}

static const CnvFrame *
planes_of(const CpuSession *self, const CnvFrame *frame)
{
  return frame->memory == CNV_MEMORY_HISTORY ? &self->slots[frame->slot] : frame;
}

gboolean
cnv_cpu_keep(CnvSession *base, guint slot, const CnvFrame *frame, GError **error)
{
  CpuSession *self = (CpuSession *)base;

  if (planes_of(self, frame) == &self->slots[slot])
    return TRUE;
  self->in = *planes_of(self, frame);
  self->out = self->slots[slot];
  cnv_cpu_run(self, self->keeps, 0, self->keeps->len);
  return TRUE;
}

void
cnv_cpu_follow_history(CpuSession *self, const CnvWork *work, const CnvFrame *in)
{
  self->in = *planes_of(self, in);
  self->n_temporal_taps = work->n_temporal_taps ? work->n_temporal_taps : 1;
  self->temporal_tap[0] = (CpuTemporalTap){&self->in, 1};
  for (guint i = 0; i < work->n_temporal_taps; i++) {
    const CnvTemporalTap *from = &work->temporal_tap[i];
    gboolean counts = from->slot >= 0 && from->weight != 0;

    self->temporal_tap[i] = (CpuTemporalTap){counts ? &self->slots[from->slot] : NULL, from->weight};
  }
}
