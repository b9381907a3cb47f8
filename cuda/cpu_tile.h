/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The CPU engine's session, its planes made ready, and the tiles that threads take: cpu.c makes them, cpu_tile.c runs
 * them.
 */
#pragma once

#include "cpu.h"
#include "cpu_simd.h"

G_BEGIN_DECLS

typedef struct CpuSession CpuSession;
typedef struct CpuPlane CpuPlane;

typedef struct {
  const CpuPlane *plane;
  int index;       /* of the plane */
  int first, last; /* samples of a row */
  int top, bottom; /* rows; last and bottom are one beyond */
} CpuTile;

typedef struct {
  float *line; /* separable: a loaded row with its apron */
  float *ring;
  const float **rows; /* the ring's rows twice over, so that any run of them is an array */
  float *acc;
  float *gain;     /* dense and renormalize: the gains of one output row */
  double *sums;    /* dense and renormalize: prefix sums over columns of the taps present */
  CnvCpuSpan span; /* tap rows that gain is for */
} CpuWorker;

/* A plane of the plan, made ready. */
struct CpuPlane {
  const CnvPlanePlan *plan;
  void (*run)(CpuSession *self, CpuWorker *worker, const CpuTile *tile);
  int samples;       /* of a row */
  int rows;          /* of output, a step down the tile */
  int slots;         /* rows in the ring */
  int tile;          /* samples of a tile's row, a multiple of the channels */
  gsize acc_stride;  /* floats */
  gsize line_length; /* floats of a loaded row with its apron */
  gsize ring_stride; /* floats */
  int *column;       /* pixel that stands for each from -anchor on, or -1 */
  float *dense;      /* taps between rows of zeros, see cpu_simd.h */
  double dense_sum;
  float *gain, *fraction, *round; /* of each sample of a row */
  float *row_gain;                /* of each row */
  guint8 *mask;                   /* bits of a row that come from the filter; NULL: all */
};

struct CpuSession {
  CnvSession base;
  const CnvCpuSimd *simd;
  guint n_threads; /* with the caller's */
  GThreadPool *pool;
  GMutex lock;
  GCond done;
  guint pending; /* threads at work, under lock */

  CnvPlan *plan;
  CnvCpuSamples format;
  CpuPlane plane[CNV_MAX_PLANES];
  CpuWorker *worker; /* one a thread */
  GArray *tiles;
  guint8 *memory; /* of all arrays of planes and workers */

  CnvFrame in, out;
  int next; /* tile to take, atomic */
};

/* What CpuPlane.run is: planes that are copied, the reference, and everything else. */
void cnv_cpu_copy_tile(CpuSession *self, CpuWorker *worker, const CpuTile *tile);
void cnv_cpu_naive_tile(CpuSession *self, CpuWorker *worker, const CpuTile *tile);
void cnv_cpu_filter_tile(CpuSession *self, CpuWorker *worker, const CpuTile *tile);

G_END_DECLS
