/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "masks.h"

#include <string.h>

typedef struct {
  GstCudaConvolveMaskSource source; /* with references */
  CnvRegion region;                 /* likewise */
  CnvRect box;
  gboolean used; /* by this frame */
} Entry;

static void
clear(gpointer data)
{
  Entry *entry = data;

  gst_clear_buffer(&entry->source.buffer);
  g_clear_pointer(&entry->source.weight_of, g_bytes_unref);
  g_clear_pointer(&entry->source.file, gst_cuda_convolve_mask_unref);
  g_clear_pointer(&entry->region.mask, cnv_mask_unref);
}

GArray *
gst_cuda_convolve_masks_new(void)
{
  GArray *masks = g_array_new(FALSE, FALSE, sizeof(Entry));

  g_array_set_clear_func(masks, clear);
  return masks;
}

void
gst_cuda_convolve_masks_next(GArray *masks)
{
  for (guint i = masks->len; i-- > 0;)
    if (!g_array_index(masks, Entry, i).used)
      g_array_remove_index_fast(masks, i);
    else
      g_array_index(masks, Entry, i).used = FALSE;
}

static gboolean
is_same_place(const GstCudaConvolveMaskPlace *a, const GstCudaConvolveMaskPlace *b)
{
  return memcmp(&a->rect, &b->rect, sizeof(CnvRect)) == 0 && a->frame_width == b->frame_width &&
         a->frame_height == b->frame_height && a->expand == b->expand && a->feather == b->feather;
}

static gboolean
is_same(const GstCudaConvolveMaskSource *a, const GstCudaConvolveMaskSource *b)
{
  return a->buffer == b->buffer && a->file == b->file && is_same_place(&a->place, &b->place) &&
         (a->weight_of == NULL) == (b->weight_of == NULL) &&
         (!a->weight_of || g_bytes_equal(a->weight_of, b->weight_of));
}

/* Appends the mask. FALSE with the reason, and nothing is appended. */
static gboolean
make(GArray *masks, const GstCudaConvolveMaskSource *source, GError **error)
{
  g_autoptr(GstCudaConvolveMask) read = NULL;
  Entry entry = {.source = *source};

  read = source->file ? gst_cuda_convolve_mask_ref(source->file)
                      : gst_cuda_convolve_mask_read(source->buffer, source->weight_of, error);
  if (!read || !gst_cuda_convolve_mask_place(read, &source->place, &entry.region, &entry.box, error))
    return FALSE;
  if (source->file)
    gst_cuda_convolve_mask_ref(source->file);
  else
    gst_buffer_ref(source->buffer);
  if (source->weight_of)
    g_bytes_ref(source->weight_of);
  g_array_append_val(masks, entry);
  return TRUE;
}

gboolean
gst_cuda_convolve_masks_get(GArray *masks, const GstCudaConvolveMaskSource *source, CnvRegion *region, CnvRect *box,
                            GError **error)
{
  Entry *entry;
  guint i = 0;

  while (i < masks->len && !is_same(&g_array_index(masks, Entry, i).source, source))
    i++;
  if (i == masks->len && !make(masks, source, error))
    return FALSE;
  entry = &g_array_index(masks, Entry, i);
  entry->used = TRUE;
  *region = entry->region;
  *box = entry->box;
  return TRUE;
}
