/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Samples of a job's window as float64 numbers, sums of taps over them, and what is stored: the arithmetic of
 * convolve/plan.h, one loop after the other.
 */
#pragma once

#include "device.h"
#include "gpu/kernels/arguments.h"

G_BEGIN_DECLS

/* A job that a launch works on: the kernels' own words for it, and what only the host has. */
typedef struct {
  const Op *op;
  const CnvBlock *block;
  int bytes;              /* of a sample: 1, 2, or 4 for float32 */
  const guint8 *coverage; /* of all jobs, if this one has coverage */
  const float *taps;      /* constant memory */
} Job;

/* The rows and samples that a number of taps around a job's samples find, borders resolved: row j, sample i is what
 * lies j - anchor_y rows and i - anchor_x pixels from the job's first. */
typedef struct {
  int rows, width; /* samples, over all channels */
  double *value;   /* g_free */
} Padded;

/* Pixels and rows around the job: left of it and above, and in all beyond its own. */
typedef struct {
  int left, above, columns, rows;
} Reach;

/* sources: first up to but without last; -1, 0: the input alone. */
Padded samples_pad(const Job *job, Reach reach, int first, int last);

/* Adds the products of a term's taps to acc, a number for each sample of the job. */
void samples_add_term(const Job *job, const CnvTerm *term, double *acc);

/* The sums of a term's rows alone: for each row that its columns take. g_free. */
double *samples_row_sums(const Job *job, const CnvTerm *term, int *rows);

/* What renormalize multiplies with. x, y: of the window. */
double samples_x_factor(const Job *job, const CnvTerm *term, int x);
double samples_y_factor(const Job *job, const CnvTerm *term, int y);

/* Joins the sums of terms, of which there is an array each, and stores the job. */
void samples_store_terms(const Job *job, double *const *term_sums);

/* Stores sums with the plane's combination in them already. */
void samples_store(const Job *job, const double *acc);
/* From samples_keep to samples_put_kept, what is stored is kept back: a launch in place reads all before it writes. */
void samples_keep(void);
void samples_put_kept(void);

/* Sum to level, as stored: with the channel's gain, clamped and rounded, ties to even. */
double samples_finish(const CnvPlane *plane, int channel, double acc);
guint samples_level(const CnvPlane *plane, int channel, double value);

G_END_DECLS
