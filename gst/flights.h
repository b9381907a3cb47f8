/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Frames under way: the engine works on them while others come. Frame f, as waiting.h numbers them, has flight
 * f % CNV_FLIGHTS_MAX.
 */
#pragma once

#include "mapping.h"

G_BEGIN_DECLS

typedef struct {
  GstBuffer *in, *out; /* NULL: no frame */
  GstCudaConvolveMapped mapped;
  guint64 number; /* in the session */
  CnvPlan *plan;  /* for the statistics, like what follows */
  guint n_regions;
} GstCudaConvolveFlight;

G_END_DECLS
