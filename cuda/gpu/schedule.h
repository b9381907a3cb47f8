/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The schedule of a frame's kernels: a list of launches, and the arrays that they read on the GPU. Made on the host,
 * without the driver, when plans or regions change.
 *
 *   scheduler.c    what follows from the plans: constant banks of taps, kernels and weights of each plane
 *   passes.c       what follows from the work: block jobs and launches
 *   tile_jobs.c    tile jobs, for kernels that do a job in one launch
 *   rectangles.c   rectangles that are copied back in place, and those whose coverage is computed
 *
 * Constant memory may be too small for the taps of all plans. They are divided into constant banks, each at most as
 * large as constant memory and named by its first tap. One bank is loaded at a time. The jobs of a bank are divided
 * into passes, so that their row sums do not exceed the second-level cache by much.
 */
#pragma once

#include "gpu/kinds.h"
#include "plan/regions/jobs.h"

typedef struct {
  CnvKernelId kernel;
  guint bank; /* constant bank that it reads */
  guint blocks_x, shared_bytes;
  guint first, n; /* its block jobs, or its tile jobs */
  int tiles;      /* index of its list of tiles; -1: none */
  gboolean plain; /* none of its tile jobs has coverage or renormalizes */
} CnvLaunch;

typedef struct {
  /* Follow from the plans: */
  GPtrArray *plans;      /* CnvPlan, with references */
  GArray *taps;          /* float: the taps of one plan after the other */
  GArray *banks;         /* guint: first tap of each constant bank */
  GArray *planes;        /* CnvPlane: plan * CNV_MAX_PLANES + plane */
  GArray *plane_kernels; /* CnvPlaneKernel, for each element of planes; set_weights fills in the tile jobs */
  const CnvVariant *variant[CNV_N_KERNELS]; /* variant for all planes of a kernel; NULL: no such plane */
  CnvNeeds needs[CNV_N_KERNELS];            /* joined needs of these planes */
  gboolean has_windows;                     /* jobs are of fields, or of isolated regions */
  /* Of the GPU; the caller sets both before the work: multiprocessors, and bytes of shared memory of each. */
  guint n_processors, processor_shared;

  /* Follow from the work: */
  CnvSources sources; /* frames over time and their weights; the launcher sets the addresses */
  GArray *words;      /* guint32: taps for tensor cores */
  /* Arrays for the GPU, one after the other, and the place of each: planes, where the tests' stand-in driver finds them
   * by the address of the words; taps; words. */
  GByteArray *plan_arrays;
  gsize planes_at, taps_at, words_at;
  gboolean has_new_plans, has_new_taps; /* plans or plan_arrays differ from those of the last work */
  CnvJobs work;
  guint written; /* bits: planes of memory that jobs write completely */
  struct {
    int kinds; /* index in tile_kinds; -1: none */
    int columns;
    guint32 tile_inverse[CNV_N_AXES]; /* as in CnvCopyPlane */
  } kept[CNV_MAX_PLANES];             /* by plane of memory: the tiles that no job writes, if known */
  gboolean beside;      /* no launch writes the kept tiles, so their copy is launched last and runs at the same time */
  gboolean in_place;    /* as requested by the caller */
  gboolean at_once;     /* in place by one launch whose blocks wait for each other; the caller may clear it */
  GArray *copies;       /* CnvCopyJob: the rectangles that the jobs write */
  GArray *copy_numbers; /* guint32: for each block of copy_jobs, the index of its copy */
  gboolean copies_more; /* the copies include samples that no job writes */
  GArray *block_jobs;   /* CnvBlockJob: those of one launch after the other */
  GArray *tile_jobs;    /* CnvTileJob: those of one launch after the other */
  GArray *launches;     /* CnvLaunch, in order */
  gint64 samples;       /* samples of all jobs */
  gsize sums_size;      /* bytes of row sums of the largest pass */
  gsize decimated_size; /* bytes of decimated samples */
  guint staged;         /* bits: planes of the plans that have a staged form */
  gboolean averages;    /* stage_in averages frames (CnvBlockArgs.averages) */
  gboolean has_new_masks; /* the masks differ from those of the last work */
  GArray *cover_jobs;     /* CnvBlockJob: the jobs with coverage, for the kernel cover; cover_blocks: its blocks */
  guint cover_blocks;
  GByteArray *work_arrays; /* like plan_arrays, for the work */
  GByteArray *tile_kinds;  /* CnvTileKind: those of one whole job after the other, row by row */
  GArray *tile_places;     /* CnvTilePlace: those of one launch after the other */
  gsize block_jobs_at, tile_jobs_at, tile_kinds_at, tile_places_at, copies_at, copy_numbers_at, cover_jobs_at, grids_at,
      cells_at, lists_at, shapes_at, places_at;
} CnvSchedule;

/* Returns the plane of a job and its kernels. */
static inline const CnvPlaneKernel *
cnv_schedule_plane_kernel(const CnvSchedule *schedule, const CnvJob *job)
{
  return &g_array_index(schedule->plane_kernels, CnvPlaneKernel, job->plan * CNV_MAX_PLANES + job->plane);
}
