/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The CPU engine's session, its planes made ready, and the tiles that threads take: engine.c makes them, tile.c runs
 * them.
 */
#pragma once

#include "cpu/engine.h"
#include "cpu/simd.h"
#include "plan/rect_jobs.h"
#include "team.h"

G_BEGIN_DECLS

#define CNV_CPU_TILES_A_THREAD 4 /* so that a thread that is held up does not hold up the frame */
#define CNV_CPU_COPIED_ROWS 16   /* of a tile at least */
#define CNV_CPU_ALIGNMENT 64     /* a cache line, and the widest vector */

typedef struct CpuSession CpuSession;
typedef struct CpuPlane CpuPlane;
typedef struct CpuWorker CpuWorker;
typedef struct CpuTile CpuTile;

struct CpuTile {
  void (*run)(CpuSession *self, CpuWorker *worker, const CpuTile *tile);
  const CpuPlane *plane; /* of a copy: NULL */
  const CnvRectJob *job; /* likewise */
  int memory;            /* of a copy: the plane of memory */
  int first, last;       /* pixels of a row; of a copy: bytes */
  int top, bottom;       /* rows; last and bottom are one beyond */
};

/* What runs down a tile for one term. */
typedef struct {
  CpuTemporalTaps temporal_taps; /* what it is filled from, */
  float share;                   /* and the sum of their weights */
  float *ring;
  const float **rows; /* the ring's rows twice over, so that any run of them is an array */
  int filled;         /* rows put into the ring so far */
  int previous;       /* row of the field that the last of them was, -1 for a missing one */
  float *acc;
  float *factor;   /* renormalize: of each sample of a row; for terms that are added up, the first term's serves all */
  double *sums;    /* renormalize: prefix sums over columns of the taps present */
  double *sliding; /* of a run down the rows: the sums of the next row of output, without the row that enters them */
  CnvCpuSpan span; /* tap rows that factor is for */
} CpuStream;

struct CpuWorker {
  float *line;  /* separable: a loaded row with its apron */
  float *frame; /* the same of one frame, to be added */
  CpuStream term[CNV_MAX_TERMS];
  gboolean scaled;        /* some factor is not 1 */
  float *weight;          /* of each pixel of a row */
  gint32 *owned_by_other; /* pixels of a row that another layer has */
  guint8 *kept;           /* pixels of a row whose weight component is 0, so that their input stands */
};

/* A term of a plane, made ready. */
typedef struct {
  const CnvPlanTerm *set;
  int slots;                 /* rows in the ring */
  gsize ring_stride;         /* floats */
  float *dense, *column;     /* taps with zeros about them, see simd.h; one of them */
  CnvCpuRun run[CNV_N_AXES]; /* that is summed rather than weighed tap by tap; n 0: none */
  double *sums[CNV_N_AXES];  /* separable: prefix sums of the taps, in double */
  double sum;                /* of all taps */
} CpuTerm;

/* A plane of a plan, made ready. Arrays of samples are as long as the widest tile, which begins at a whole pixel. */
struct CpuPlane {
  const CnvPlan *plan;
  const CnvPlanPlane *from;
  void (*run)(CpuSession *self, CpuWorker *worker, const CpuTile *tile);
  gboolean dense;    /* all terms as two-dimensional taps */
  int rows;          /* of output, a step down the tile */
  int slots;         /* rows in all rings */
  int room;          /* samples that a tile's row should have at most */
  int widest;        /* samples that a tile's row may have */
  gsize acc_stride;  /* floats */
  gsize line_length; /* floats of a loaded row with its apron */
  CpuTerm term[CNV_MAX_TERMS];
  CnvCpuSamples samples; /* of plain planes */
  float *gain, *fraction, *round, *mid_bias;
  guint8 *mask; /* bits of a plain row that come from the filter; NULL: all */
};

struct CpuSession {
  CnvSession base;
  const CnvCpuSimd *simd;
  guint n_threads; /* with the caller's */
  CnvTeam *team;

  CnvPlan *plan[CNV_MAX_PLANS];
  guint n_plans;
  CnvWorkKey of;     /* the work that the tiles are for */
  CpuPlane *plane;   /* CNV_MAX_PLANES of each plan */
  CpuWorker *worker; /* one a thread */
  guint8 *memory;    /* of all arrays of planes and workers */
  gsize memory_size;

  GArray *jobs, *spots; /* of CnvRectJob and CnvMaskRect */
  GArray *tiles;        /* of CpuTile, copies first */
  guint n_copies;

  CnvFrame *slots;     /* the history; each with planes of host memory */
  guint8 *slot_memory; /* of all of them */
  GArray *keeps;       /* of CpuTile: the copy of a frame into a slot */

  CnvFrame in, out;
  CpuTemporalTap temporal_tap[CNV_MAX_TEMPORAL_TAPS];
  guint n_temporal_taps;

  const GArray *running; /* of CpuTile, of which threads take those from first on */
  guint first;
};

static inline int
cnv_cpu_divide_up(int a, int b)
{
  return (a + b - 1) / b;
}

/* Runs tiles first to end - 1 by all threads and waits for them. */
void cnv_cpu_run(CpuSession *self, const GArray *tiles, guint first, guint end);

/* history.c: adds the tiles that copy a plane of memory. */
void cnv_cpu_cut_copy(const CpuSession *self, GArray *tiles, const CnvImage *image, int memory);

/* What CnvSession has of the same name; and that the session holds no slots any more. */
gboolean cnv_cpu_reserve(CnvSession *base, const CnvImage *image, guint n_slots, GError **error);
gboolean cnv_cpu_keep(CnvSession *base, guint slot, const CnvFrame *frame, GError **error);
void cnv_cpu_forget_history(CpuSession *self);

/* Sets the input and the temporal taps of a frame's work. */
void cnv_cpu_follow_history(CpuSession *self, const CnvWork *work, const CnvFrame *in);

/* runs.c: the run of an axis that is worth summing. */
CnvCpuRun cnv_cpu_run_of(const float *taps, int n);

/* Sums of a term that has a run down the rows, for number y of the tile's rows and those after it, all plane->rows of
 * them, in order from 0 on. rows: as for CnvCpuSimd.column. */
void cnv_cpu_slide(const CnvCpuSimd *simd, const CpuPlane *plane, const CpuTerm *term, CpuStream *stream,
                   const float *const *rows, int y, int n);

/* What CpuTile.run is: copies, the reference, and everything else. */
void cnv_cpu_copy_tile(CpuSession *self, CpuWorker *worker, const CpuTile *tile);
void cnv_cpu_naive_tile(CpuSession *self, CpuWorker *worker, const CpuTile *tile);
void cnv_cpu_filter_tile(CpuSession *self, CpuWorker *worker, const CpuTile *tile);

G_END_DECLS
