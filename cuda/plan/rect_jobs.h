/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Cuts work into jobs, private to the engine.
 */
#pragma once

#include <convolve/work.h>

#include "plan/rect_job.h"

G_BEGIN_DECLS

/* Replaces the contents of both arrays (of CnvRectJob and CnvMaskRect), which keep their memory. Jobs of one plan,
 * plane, field and layer do not overlap, each has at least one sample, and none is of a plane that is only copied.
 * Without everything and invert they cover little more than the regions. Work for the whole frame gives one job a
 * plane and field, and a crowd of regions no more than a few for each region, and for each block of work.h. Returns how
 * many regions met at most in an area where they were joined (see work.h), or 0 where none were. */
guint cnv_rect_jobs_make(const CnvWork *work, GArray *jobs, GArray *spots);

/* What jobs depend on, apart from the plans: of two frames with the same the second needs no new ones. */
typedef struct {
  CnvWork work;    /* what it points to is not used */
  GArray *regions; /* CnvRegion, of work; NULL: there are no jobs yet */
} CnvWorkKey;

gboolean cnv_rect_jobs_match(const CnvWorkKey *of, const CnvWork *work);
void cnv_rect_jobs_set_of(CnvWorkKey *of, const CnvWork *work);
void cnv_rect_jobs_clear_of(CnvWorkKey *of);

G_END_DECLS
