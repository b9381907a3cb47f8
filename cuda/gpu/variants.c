/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gpu/kinds.h"

guint
cnv_kernel_shared_bytes(const CnvKernelKind *kind, const CnvVariant *variant, const CnvNeeds *needs, int rows)
{
  guint tile;
  int pitch;

  if (!kind->pitch)
    return 0;
  pitch = kind->pitch(variant, needs->bytes);
  if (variant->ring)
    return (guint)cnv_ring_bytes(needs->bytes, pitch, variant->k_x, cnv_ring_steps(needs), variant->ring,
                                 variant->digits);
  tile = CNV_TILE_BYTES((guint)pitch, (guint)kind->box_rows(variant, needs, rows));
  return (guint)needs->n_frames * tile + (guint)(rows * variant->width * needs->bytes);
}

const CnvVariant *
cnv_variant_find(const CnvKernelKind *kind, const CnvNeeds *needs)
{
  for (const CnvVariant *v = kind->variants; v->name; v++)
    if ((v->bytes == 0 || v->bytes == needs->bytes) && v->reach >= needs->reach && v->rows >= needs->rows &&
        v->terms == needs->terms && v->digits >= needs->digits && (!v->pixels || needs->pixels) &&
        (v->frames == 0 || v->frames == MIN(needs->n_frames, 2)) &&
        (v->pairs == 0 || needs->n_frames <= 2 * v->pairs) &&
        cnv_kernel_shared_bytes(kind, v, needs, CNV_TILE_STEP) <= kind->shared_max)
      return v;
  return NULL;
}
