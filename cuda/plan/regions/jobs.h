/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Divides the work on a frame into jobs. Private to the engines.
 *
 *   cutting.c   implements this header; rectangles around the cells that a layer filters
 *   shapes.c    the regions as shapes of a plane and field, and their layers
 *   cells.c     the cells of the field, each with the shapes that decide its weights
 *   coverage.c  the weights of jobs, computed on the host
 *   mask.c      masks: images of weights
 *
 * A layer is a plan or, if regions are isolated, a plan with the window and weights of one region. Each sample has one
 * layer, which filters it. Jobs of the same layer do not overlap. A job has coverage if some of its samples have a
 * weight below 1 or another layer.
 */
#pragma once

#include <convolve/work.h>

#include "plan/regions/shape.h"

/* The jobs of the work on a frame, and the arrays from which their weights are computed. The arrays keep their
 * memory from frame to frame. */
typedef struct {
  GArray *jobs;           /* CnvJob */
  GArray *weights;        /* CnvJob: their coverage has the weights of the samples that jobs read (CnvJob.weights) */
  GArray *grids;          /* CnvGrid */
  GArray *cells;          /* CnvCell */
  GArray *lists;          /* guint16: the shapes of each cell, cell after cell */
  GArray *shapes;         /* CnvPlaneShape */
  GArray *places;         /* CnvMaskPlace */
  GByteArray *mask_cells; /* of all masks, mask after mask */
  GPtrArray *masks;       /* CnvMask, with references: each mask of the work once */
  gsize coverage_size;    /* bytes of the coverage of all jobs */
  guint crowd;            /* most regions in a cell that is not filtered exactly (work.h); 0: all are exact */
  CnvWork work;           /* the work that gave the jobs; its pointers are not used. n_plans 0: no jobs yet */
  GArray *regions;        /* CnvRegion: copies of the work's regions */
  struct CnvCutting *cutting; /* state of cnv_jobs_make */
} CnvJobs;

void cnv_jobs_init(CnvJobs *jobs);
void cnv_jobs_clear(CnvJobs *jobs);

/* Returns TRUE if the jobs are valid for `work`, too. Plans are not compared: they must be the same as in
 * cnv_jobs_make. */
gboolean cnv_jobs_match(const CnvJobs *jobs, const CnvWork *work);

/* Makes the jobs of work. Jobs of the same plane, field and layer do not overlap. Each has at least one sample. Planes
 * that are only copied have none. Without whole_frame and invert, the jobs cover little more than the regions. Work on
 * the whole frame gives one job per plane and field. whole: bits of the planes that may get a single job with coverage
 * for the whole field (CnvJob.whole). They get it if there is only one layer, and if there would be more than
 * `max_jobs` jobs. Returns FALSE if the work has the same masks as the work before. */
gboolean cnv_jobs_make(CnvJobs *jobs, const CnvWork *work, guint whole, guint max_jobs);

/* Returns the arrays from which the jobs' weights are computed, in host memory. */
CnvCover cnv_jobs_cover(const CnvJobs *jobs);

/* Writes the coverage of row y of a job: to[0] is the aligned byte at or before the first pixel, and there are
 * coverage_pitch bytes. */
void cnv_coverage_row(const CnvCover *cover, const CnvJob *job, int y, guint8 *to);
