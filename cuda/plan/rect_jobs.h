/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Cuts work into jobs, private to the engine.
 */
#pragma once

#include <convolve/work.h>

#include "plan/mask.h"

/* Replaces the contents of both arrays (of CnvRectJob and CnvMaskRect), which keep their memory, and the places of the
 * work's masks. Jobs of one plan, plane, field and layer do not overlap, each has at least one sample, and none is of a
 * plane that is only copied. Without everything and invert they cover little more than the regions. Work for the whole
 * frame is one job a plane and field; a crowd of regions gives a few jobs for each region and for each block of work.h.
 * Returns the most regions that met in an area where they were joined (work.h), or 0 where none were. */
guint cnv_rect_jobs_make(const CnvWork *work, CnvMaskBytes *bytes, GArray *jobs, GArray *masks);

/* The part of a frame's work, apart from its plans, that its jobs depend on: the next frame with the same part needs no
 * new jobs. */
typedef struct {
  CnvWork work;    /* its pointers are not used */
  GArray *regions; /* CnvRegion, of work (g_array_unref); NULL: there are no jobs yet */
} CnvWorkKey;

/* Masks are compared as pointers: the caller holds references to those of the key (CnvMaskBytes). */
gboolean cnv_work_key_matches(const CnvWorkKey *of, const CnvWork *work);
void cnv_work_key_set(CnvWorkKey *of, const CnvWork *work);
