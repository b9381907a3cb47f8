/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Kernels with tile jobs: their variants, what planes need, and the checks that several kinds share. A check returns
 * TRUE, or FALSE with the reason (CNV_ERROR_UNSUPPORTED).
 */
#pragma once

#include "plan/plan.h"

/* A variant of a kernel with tile jobs: the same code for another size. */
typedef struct {
  const char *name;  /* the kernel's, without cnv_ */
  const char *plain; /* that of the kernel for launches without coverage; NULL: the same */
  int bytes;         /* of a sample */
  int reach;         /* samples to either side that taps reach to at most */
  int rows;          /* of taps, at most; blur: rows above and below */
  int terms;         /* whose sums it keeps apart */
  int digits;        /* numbers that a sum is made of: blur: of f16; dense: of integers; 0: float32 */
  int k_x, k_y;      /* blur, dense: steps along either axis */
  int kept_rows;     /* dense: rows of taps that it always has; 0: any number */
  int pairs;         /* dense: of frames, at most, that a step takes together; 0: it takes frames one after the other */
  int ring;          /* blur: by so many times 16 rows a round; 0: tiles as a whole */
  int frames;        /* 1: one alone; 2: two and more; 0: any number */
  int channels;      /* decimate, interpolate: at most; 0: any number */
  gboolean pixels;   /* blur: it takes words of four channels, one of which is copied, and plain levels alone */
  gboolean deep;     /* blur: it takes samples of 11 to 16 bits, and plain levels alone */
  gboolean weighed;  /* blur: normalised convolution (convolve/work.h), of jobs that are whole */
  int width;         /* samples of a tile's width; 0: fused: what taps leave of the pitch */
  int pitch;     /* bytes from row to row in shared memory, where results lie behind a tile that has a width; 0: nothing
                    lies there */
  int tile_rows; /* rows of a tile, where there are enough of them for all of the GPU */
  int blocks;    /* blur, dense: that should fit a multiprocessor */
} CnvVariant;

/* A plane's demands on a kernel with tile jobs. */
typedef struct {
  int bytes, reach, rows, terms, digits; /* as in CnvVariant; terms 0: none yet */
  int n_frames;                          /* over time; 1: no others */
  gboolean pixels, deep, weighed;        /* blur: as in CnvVariant */
  int n_x, anchor_x, anchor_y;           /* dense */
  int channels, step; /* decimate, interpolate; step: pixels of a decimated sample, on the finer axis */
} CnvNeeds;

/* Returns the steps of 16 rows that 16 outputs read. */
int cnv_ring_steps(const CnvNeeds *needs);

/* Returns the needs of both, for a variant that they share. */
CnvNeeds cnv_needs_join(const CnvNeeds *a, const CnvNeeds *b);

/* Returns the plane as its samples lie in memory. In normalised convolution this is `samples`, without the weight and
 * with the channels that are copied, and it is not plain if other planes of the plan write the same memory. Otherwise
 * it is `plane`. */
const CnvPlane *cnv_fit_plane(const CnvPlan *plan, const CnvPlane *plane, CnvPlane *samples);

/* Checks that the plane is an array of samples whose filtered channels share taps and levels. */
gboolean cnv_fit_samples(const CnvPlane *plane, GError **error);

/* Checks for one row times one column of taps, the same for all frames. */
gboolean cnv_fit_one_term(const CnvPlan *plan, const CnvPlane *plane, GError **error);

/* Checks that sums can be rounded by adding a number near 2^23. magnitude: sum of the magnitudes of the taps, over time
 * too. */
gboolean cnv_fit_levels(const CnvPlane *plane, double magnitude, GError **error);

/* Returns TRUE if fewer than one sample of noise in a hundred differs by one level from the float32 result. error: of a
 * level, as root mean square, for samples of deviation 1. */
gboolean cnv_fit_error(const CnvPlane *plane, double error, gboolean is_signed);

/* Returns the pixels or rows that the term's taps reach to either side. */
int cnv_fit_reach(const CnvTerm *term, int axis);

/* Returns the first channel that is filtered; all other filtered ones become levels in the same way. */
int cnv_fit_first_channel(const CnvPlane *plane);

/* Finds the plane's taps in CnvPlan.taps: the index of the first, and one more than that of the last. */
void cnv_fit_find_taps(const CnvPlan *plan, const CnvPlane *plane, guint range[2]);
