/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The schedule of a frame's kernels: a list of launches, and the arrays that they read on the GPU. Made on the host,
 * without the driver, when plans or regions change.
 *
 *   schedule.c    what follows from the plans: constant banks of taps, kernels and weights of each plane
 *   tile_jobs.c   tile jobs, for kernels that do a job in one launch
 *   passes.c      what follows from the work: block jobs and launches
 *
 * Constant memory may not hold the taps of all plans' planes at once: they are in constant banks, parts of these taps
 * of its size at most, which are named by their first tap, and of which one is loaded at a time. Row sums should not
 * outgrow the second-level cache by much: a bank's jobs are done in passes.
 */
#pragma once

#include "gpu/kinds.h"
#include "plan/regions/jobs.h"

typedef struct {
  CnvKernelId kernel;
  guint bank; /* whose taps it reads */
  guint blocks_x, shared_bytes;
  guint first, n; /* its block jobs, or its tile jobs */
  int tiles;      /* index of its list of tiles; -1: none */
  gboolean plain; /* tile jobs: none has coverage */
} CnvLaunch;

typedef struct {
  /* Made of the plans: */
  GPtrArray *plans;                         /* CnvPlan, with references */
  GArray *taps;                             /* float: of one plan after the other */
  GArray *banks;                            /* guint: first tap of each constant bank */
  GArray *planes;                           /* CnvPlane: plan * CNV_MAX_PLANES + plane */
  GArray *plane_kernels;                    /* CnvPlaneKernel, of each of planes; the tile jobs by set_weights */
  const CnvVariant *variant[CNV_N_KERNELS]; /* that does all planes of a kernel; NULL: no such plane */
  CnvNeeds needs[CNV_N_KERNELS];            /* of all these planes */
  gboolean has_windows;                     /* jobs are of fields, or of isolated regions */
  guint n_processors;                       /* of the GPU; the caller's to set before the work */

  /* Made of the work: */
  CnvSources sources; /* frames over time and their weights; where they lie is the launcher's to set */
  GArray *words;      /* guint32: taps for tensor cores */
  /* Arrays for the GPU, one after the other, and the place of each: planes, where the tests' stand-in driver finds them
   * by the address of the words; taps; words. */
  GByteArray *plan_arrays;
  gsize planes_at, taps_at, words_at;
  gboolean has_new_plans, has_new_taps; /* others than for the last work; plan_arrays are */
  CnvJobs work;
  guint written; /* bits: planes of memory of which jobs write all */
  struct {
    int kinds; /* index in tile_kinds; -1: none */
    int columns;
    guint32 tile_inverse[CNV_N_AXES]; /* as in CnvCopyPlane */
  } kept[CNV_MAX_PLANES];             /* by plane of memory: the tiles that no job writes, where that is known */
  gboolean beside;      /* no launch writes what is copied: it is copied after them, and at the same time */
  gboolean in_place;    /* as the caller asked: */
  gboolean at_once;     /* in place by one launch, whose blocks wait for each other; the caller clears it if it must */
  GArray *copies;       /* CnvCopyJob: the rectangles that all of these write; and the blocks */
  GArray *copy_numbers; /* guint32: of each of their blocks, the number of its copy */
  gboolean copies_more; /* the copies have samples that no job writes */
  GArray *block_jobs;   /* CnvBlockJob: of one launch after the other */
  GArray *tile_jobs;    /* CnvTileJob: likewise */
  GArray *launches;     /* CnvLaunch, in order */
  gint64 samples;       /* of all jobs */
  gsize sums_size;      /* bytes of row sums of the largest pass */
  gsize decimated_size; /* and of decimated samples */
  gboolean has_new_masks; /* others than for the last work */
  GArray *cover_jobs;     /* CnvBlockJob: the jobs with coverage, for cover; and its blocks */
  guint cover_blocks;
  GByteArray *work_arrays; /* likewise */
  GByteArray *tile_kinds;  /* CnvTileKind: of one job that is whole after the other, row by row */
  GArray *tile_places;     /* CnvTilePlace: of one launch after the other */
  gsize block_jobs_at, tile_jobs_at, tile_kinds_at, tile_places_at, copies_at, copy_numbers_at, cover_jobs_at, grids_at,
      cells_at, lists_at, shapes_at, places_at;
} CnvSchedule;

void cnv_schedule_init(CnvSchedule *schedule);
void cnv_schedule_clear(CnvSchedule *schedule);

/* Sets plans and work. in_place: the output is the input, so only regions are to be written. Returns FALSE if all
 * arrays are those that were made last time. */
gboolean cnv_schedule_set_work(CnvSchedule *schedule, const CnvWork *work, gboolean in_place);

/* The plane of a job, and how it is done. */
static inline const CnvPlaneKernel *
cnv_schedule_plane_kernel(const CnvSchedule *schedule, const CnvJob *job)
{
  return &g_array_index(schedule->plane_kernels, CnvPlaneKernel, job->plan * CNV_MAX_PLANES + job->plane);
}

/* Returns the name of the way in which a job is done, as in CnvSessionStats.method. */
const char *cnv_schedule_method(const CnvSchedule *schedule, const CnvJob *job);

/* Adds a rectangle of what a job writes to what is copied back in place. */
void cnv_schedule_copy(CnvSchedule *schedule, const CnvJob *job, int x, int y, int width, int height);

/* Adds a rectangle of a job's coverage to what cover makes. */
void cnv_schedule_cover(CnvSchedule *schedule, const CnvJob *job, int x, int y, int width, int height);
