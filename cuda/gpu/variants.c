/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gpu/variants.h"

guint
cnv_kernel_shared_bytes(const CnvKernelKind *kind, const CnvVariant *variant, const CnvNeeds *needs, int rows)
{
  guint tile;

  if (!variant->pitch)
    return 0;
  if (variant->ring)
    return (guint)cnv_ring_bytes(needs->bytes, variant->pitch, variant->k_x, cnv_ring_steps(needs), variant->ring,
                                 variant->digits);
  tile = CNV_TILE_BYTES((guint)variant->pitch, (guint)kind->box_rows(variant, needs, rows));
  return (guint)(needs->n_frames + (variant->weighed ? 1 : 0)) * tile + (guint)(rows * variant->width * needs->bytes);
}

const CnvVariant *
cnv_variant_find(const CnvKernelKind *kind, const CnvNeeds *needs)
{
  for (const CnvVariant *v = kind->variants; v->name; v++)
    if (v->bytes == needs->bytes && v->reach >= needs->reach && v->rows >= needs->rows && v->terms == needs->terms &&
        v->digits >= needs->digits && (!v->pixels || needs->pixels) && !v->deep == !needs->deep &&
        !v->weighed == !needs->weighed && (v->frames == 0 || v->frames == MIN(needs->n_frames, 2)) &&
        (v->channels == 0 || v->channels >= needs->channels) && (v->pairs == 0 || needs->n_frames <= 2 * v->pairs) &&
        cnv_kernel_shared_bytes(kind, v, needs, CNV_TILE_STEP) <= kind->shared_max)
      return v;
  return NULL;
}
