/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * A frame's work cut into jobs, private to the engines.
 */
#pragma once

#include <convolve/work.h>

#include "plan/job.h"

/* The jobs of a frame's work, and the masks that these read. All arrays keep their memory from frame to frame. */
typedef struct {
  GArray *jobs;       /* CnvJob */
  GArray *mask_rects; /* CnvMaskRect: of one job after the other */
  GArray *places;     /* CnvMaskPlace: of the regions' masks in planes and fields */
  GByteArray *cells;  /* of the masks, one behind the other */
  GPtrArray *masks;   /* CnvMask, with references: each mask of the work once */
  guint crowd;        /* the most regions that met in an area where they were joined (work.h); 0: none were */
  CnvWork work;       /* that the jobs are of; its pointers are not used. n_plans 0: there are no jobs yet */
  GArray *regions;    /* CnvRegion, of work */
} CnvJobs;

void cnv_jobs_init(CnvJobs *to);
void cnv_jobs_clear(CnvJobs *of);

/* TRUE where the jobs are those of the work, for the same plans and masks. */
gboolean cnv_jobs_match(const CnvJobs *of, const CnvWork *work);

/* Makes the jobs of work. Those of one plan, plane, field and layer do not overlap, each has at least one sample, and
 * none is of a plane that is only copied. Without everything and invert they cover little more than the regions. Work
 * for the whole frame is one job a plane and field; a crowd of regions gives a few jobs for each region and for each
 * block of work.h. FALSE where the masks are those of the work before. */
gboolean cnv_jobs_make(CnvJobs *to, const CnvWork *work);
