/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * What the CUDA engine does with a frame, as arrays for the GPU and a list of launches; made on the host, without the
 * driver, when plans or regions change.
 *
 * Constant memory may not hold the taps of all plans' planes at once, and row sums should not outgrow the second-level
 * cache by much: so planes are taken in batches that share constant memory, and jobs of a batch in rounds.
 */
#pragma once

#include "plan/plan.h"

#include "gpu/bands.h"
#include "gpu/dense.h"
#include "gpu/slices.h"
#include "gpu/kernels/arguments.h"
#include "plan/rect_jobs.h"

G_BEGIN_DECLS

typedef enum {
  CNV_KERNEL_STAGE_IN,
  CNV_KERNEL_NAIVE,
  CNV_KERNEL_TILED,
  CNV_KERNEL_TEXTURE_ROWS,
  CNV_KERNEL_TEXTURE_COLUMNS,
  CNV_KERNEL_ROWS,
  CNV_KERNEL_COLUMNS,
  CNV_KERNEL_FUSED, /* these three by strips */
  CNV_KERNEL_TENSOR,
  CNV_KERNEL_DENSE,
  CNV_KERNEL_STAGE_OUT,
  CNV_N_KERNELS,
} CnvKernelKind;

typedef struct {
  CnvKernelKind kind;
  gboolean staged; /* it works on staged planes */
  guint batch;     /* whose taps it reads */
  guint first_unit, n_units, n_blocks;

  /* Or one term of one job, by a kernel made for its number of channels: */
  int channels; /* 0: it is not that */
  guint job;
  int term;
  guint blocks_x, blocks_y;

  /* Or strips: */
  guint first_strip, n_strips, shared_bytes;
} CnvLaunch;

/* Taps first to first + n - 1 of CnvSchedule.taps, in constant memory together. */
typedef struct {
  guint first, n;
} CnvBatch;

/* How strips of a plane are done, and where its bands are. */
typedef struct {
  CnvKernelKind kind; /* CNV_N_KERNELS: by no kernel for strips */
  CnvBands bands;     /* TENSOR */
  CnvDense dense;     /* DENSE */
  guint first;
  float gain;
} CnvBandOf;

typedef struct {
  /* By cnv_table_set_plans: */
  GPtrArray *plans;             /* CnvPlan, with references */
  GArray *taps;                 /* float */
  GArray *batches;              /* CnvBatch */
  GArray *planes;               /* CnvPlaneArgs: plan * CNV_MAX_PLANES + plane */
  GArray *batch_of;             /* guint, of each of planes */
  gboolean is_plain;            /* no plane is staged */
  GArray *bands;                /* guint32: fragments of all planes that the tensor rung takes */
  GArray *band_of;              /* CnvBandOf, of each of planes */
  const CnvFusedVariant *fused; /* the variant that does all planes of its kind; NULL: no such plane */
  const CnvTensorVariant *tensor;
  const CnvDenseVariant *dense;
  guint tensor_shared; /* bytes of shared memory that a block of it asks for */
  guint n_blocks;      /* of it, that the GPU does side by side; the caller's to set before the work */

  /* By cnv_table_set_work: */
  GArray *uncut, *spots;             /* CnvRectJob, CnvMaskRect: the work, not yet in slices */
  GArray *jobs;                      /* CnvRectArgs */
  GArray *units;                     /* CnvUnit */
  GArray *strips;                    /* CnvTileJob */
  GArray *launches;                  /* CnvLaunch, in order: those of slice 0, then of slice 1, ... */
  CnvSlices slices;                  /* of the frame; whole: all launches are for all of it */
  guint launches_to[CNV_SLICES_MAX]; /* not whole: how many launches there are up to a slice's last */
  gsize sums_size;                   /* bytes of row sums of the largest round */
  CnvWorkKey of;                     /* the work that all of this is made of; cut: as the caller asked */
  guint crowd;                       /* of cnv_rect_jobs_make */
  gboolean cut;
  gboolean one_source; /* no frames of a history are added up */
  gboolean large;      /* jobs of some size have launches of their own */

  /* All arrays for the GPU in one block, and where each begins. */
  GByteArray *block;
  gsize planes_at, jobs_at, spots_at, units_at, strips_at;
} CnvSchedule;

void cnv_schedule_init(CnvSchedule *table);
void cnv_schedule_clear(CnvSchedule *table);

/* TRUE where the plans are those that are set. */
gboolean cnv_table_has_plans(const CnvSchedule *table, const CnvWork *work);

/* The plane of a job, and its number in what is kept of each of planes. */
const CnvPlanPlane *cnv_table_plane(const CnvSchedule *table, const CnvRectJob *job);
int cnv_table_index(const CnvRectJob *job);

void cnv_table_set_plans(CnvSchedule *table, const CnvWork *work);

/* The plans of the work are set. cut: launches are made for slices, where the work allows it. Returns FALSE where the
 * block is the one that was made last time. */
gboolean cnv_table_set_work(CnvSchedule *table, const CnvWork *work, gboolean cut);

/* The floats of constant memory that a plane takes at most. */
guint cnv_table_taps_of(const CnvPlan *plan, const CnvPlanPlane *plane);

/* Bytes from row to row of a staged plane. */
int cnv_table_staged_stride(const CnvPlanPlane *plane);

G_END_DECLS
