/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * From a frame's work to jobs, private to the engines.
 *
 *   shapes.c    the regions as shapes of a plane and field, and their layers
 *   cells.c     the cells of the field, each with the shapes that decide weights in it
 *   jobs.c      rectangles around the cells that a layer filters
 *   coverage.c  the weights of jobs, on the host
 *   mask.c      masks: images of weights
 *
 * A layer is what a sample is filtered by: a plan and, with isolated regions, the window and weights of one region.
 * Each layer's jobs do not overlap. A job has coverage if some of its samples have a weight below 1 or belong to
 * another layer.
 */
#pragma once

#include <convolve/work.h>

#include "plan/regions/shape.h"

/* The jobs of a frame's work, and all that their weights are made of. The arrays keep their memory from frame to
 * frame. */
typedef struct {
  GArray *jobs;               /* CnvJob */
  GArray *weights;            /* CnvJob: the weights of what jobs read (CnvJob.weights) */
  GArray *grids;              /* CnvGrid */
  GArray *cells;              /* CnvCell */
  GArray *lists;              /* guint16: the shapes of one cell after the other */
  GArray *shapes;             /* CnvPlaneShape */
  GArray *places;             /* CnvMaskPlace */
  GByteArray *mask_cells;     /* of all masks, one mask after the other */
  GPtrArray *masks;           /* CnvMask, with references: each mask of the work once */
  gsize coverage_size;        /* bytes of the coverage of all jobs */
  guint crowd;                /* regions that met where they are not filtered exactly (work.h), the most; 0: all are */
  CnvWork work;               /* that the jobs are of; its pointers are not used. n_plans 0: there are no jobs yet */
  GArray *regions;            /* CnvRegion, of work */
  struct CnvCutting *cutting; /* used while jobs are made */
} CnvJobs;

void cnv_jobs_init(CnvJobs *to);
void cnv_jobs_clear(CnvJobs *of);

/* TRUE if the jobs are those of the work, for the same plans and masks. */
gboolean cnv_jobs_match(const CnvJobs *of, const CnvWork *work);

/* Makes the jobs of work. Those of one plane, field and layer do not overlap, each has at least one sample, and none is
 * of a plane that is only copied. Without everything and invert they cover little more than the regions. Work for the
 * whole frame is one job per plane and field. whole: bits of the planes for which one job with coverage for all of the
 * field (CnvJob.whole) is to be made, if there is only one layer and there would be more than `few` jobs. FALSE if the
 * masks are those of the work before. */
gboolean cnv_jobs_make(CnvJobs *to, const CnvWork *work, guint whole, guint few);

/* The arrays of the jobs' weights, in host memory. */
CnvCover cnv_jobs_cover(const CnvJobs *of);

/* Writes the coverage of row y of a job: to[0] is the aligned byte at or before the first pixel, and there are
 * coverage_pitch bytes. */
void cnv_coverage_row(const CnvCover *cover, const CnvJob *job, int y, guint8 *to);
