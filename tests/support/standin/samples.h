/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Reads samples of a job's window as float64, computes sums of taps, and stores levels: the arithmetic of
 * convolve/plan.h in plain loops.
 */
#pragma once

#include "device.h"
#include "gpu/kernels/arguments.h"

G_BEGIN_DECLS

/* A job of a launch: the kernels' structure for it, and what only the stand-in has. */
typedef struct {
  const Op *op;
  const CnvBlock *block;
  int bytes;              /* of a sample: 1, 2, or 4 for float32 */
  const guint8 *coverage; /* of all jobs, if this one has coverage */
  const float *taps;      /* constant memory */
} Job;

/* The samples of a job and around it that taps read, with the border mode applied. Row j, pixel i is j - above rows and
 * i - left pixels from the job's first one (Reach). */
typedef struct {
  int rows, width; /* samples, over all channels */
  double *value;   /* free with g_free */
} Padded;

/* Pixels left of a job and rows above it, and columns and rows to add to its width and height. */
typedef struct {
  int left, above, columns, rows;
} Reach;

/* Reads the sum of the sources from `first` up to, but without, `last`, times their weights. -1, 0: only the input. */
Padded samples_pad(const Job *job, Reach reach, int first, int last);

/* The thresholds over time of a launch: NULL if their memory cannot be read. Free with g_free. */
float *samples_thresholds(const Op *op, const CnvThresholds *thresholds);

/* Returns the weight of a frame that differs by this sum over 3x3 samples: of samples times weights, which add up to
 * `weights`. threshold: in levels. */
double samples_closeness(double difference, double weights, double threshold);

/* Stores the averages over time of the job's samples. threshold: a fraction of full scale. */
void samples_average(const Job *job, double threshold, double *acc);

/* Adds the products of a term's taps to acc, a number for each sample of the job. */
void samples_add_term(const Job *job, const CnvTerm *term, double *acc);

/* Returns a term's row sums, for each row that its column of taps reads. Free with g_free. */
double *samples_row_sums(const Job *job, const CnvTerm *term, int *rows);

/* Return the factor by which renormalize multiplies sums at a place. x, y: in the window. */
double samples_x_factor(const Job *job, const CnvTerm *term, int x);
double samples_y_factor(const Job *job, const CnvTerm *term, int y);

/* Combines the sums of all terms, one array per term, and stores the job. */
void samples_store_terms(const Job *job, double *const *term_sums);

/* Stores the job, from sums that are already combined. */
void samples_store(const Job *job, const double *acc);
/* Samples that are stored after samples_keep are only written by samples_put_kept: a launch in place reads all samples
 * before it writes any. */
void samples_keep(void);
void samples_put_kept(void);

/* Turn a sum into a level. samples_finish applies the channel's gain and clamps; samples_level rounds, ties to even,
 * and adds the base. */
double samples_finish(const CnvPlane *plane, int channel, double acc);
guint samples_level(const CnvPlane *plane, int channel, double value);

G_END_DECLS
