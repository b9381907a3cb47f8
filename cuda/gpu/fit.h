/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Kernels with tile jobs: their variants, what planes need, and the checks that several kinds share. A check returns
 * TRUE, or FALSE with the reason (CNV_ERROR_UNSUPPORTED).
 */
#pragma once

#include "plan/plan.h"

/* A variant of a kernel with tile jobs: the same code for another size. */
typedef struct {
  const char *name; /* name of the kernel without cnv_ */
  int bytes;        /* bytes of a sample */
  int reach;        /* most samples that taps reach to either side */
  int rows;         /* most rows of taps; blur: most rows that taps reach above and below */
  int terms;        /* terms whose sums are kept apart */
  int digits;       /* numbers that a sum is made of; blur: of f16; dense: of integers; 0: float32 */
  int k_x, k_y;     /* blur, dense: steps along each axis */
  int kept_rows;    /* dense: rows of taps that it always has; 0: any number */
  int pairs;        /* dense: most pairs of frames that a step filters together; 0: one frame after the other */
  int ring;         /* blur: a round of a ring has this number times 16 rows; 0: no ring, but tiles */
  int frames;       /* 1: only one frame; 2: two or more; 0: any number */
  int channels;     /* decimate, interpolate: most channels; 0: any number */
  gboolean pixels;  /* blur: for words of four channels, one of which is copied; only plain levels */
  gboolean deep;    /* blur: for samples of 11 to 16 bits; only plain levels */
  gboolean weighed; /* blur: normalised convolution (convolve/work.h), only of whole jobs */
  int width;        /* samples of a tile's width; 0: fused: the pitch minus what taps reach */
  int pitch;        /* bytes from row to row in shared memory; 0: no tile is there. If width is not 0, the results
                       follow the tile */
  int tile_rows;    /* rows of a tile, if that makes enough tiles for the whole GPU */
  int blocks;       /* blur, dense: blocks that should fit a multiprocessor */
} CnvVariant;

/* What a plane needs of a kernel with tile jobs. */
typedef struct {
  int bytes, reach, rows, terms, digits; /* as in CnvVariant; terms 0: these needs are empty (cnv_needs_join) */
  int n_frames;                          /* frames over time; 1: only one */
  gboolean pixels, deep, weighed;        /* blur: as in CnvVariant */
  int n_x, anchor_x, anchor_y;           /* dense */
  int channels, step; /* decimate, interpolate; step: pixels of a decimated sample, on the finer axis */
} CnvNeeds;

/* Returns the number of steps of 16 rows that 16 outputs of a ring read. */
int cnv_ring_steps(const CnvNeeds *needs);

/* Returns the needs that a variant for both planes must meet. */
CnvNeeds cnv_needs_join(const CnvNeeds *a, const CnvNeeds *b);

/* Returns the plane as an array of samples in memory. This is `plane` itself, except in normalised convolution: then it
 * is `samples`, filled in without the weight and with the copied channels. It is not plain if other planes of the plan
 * write the same memory. */
const CnvPlane *cnv_fit_plane(const CnvPlan *plan, const CnvPlane *plane, CnvPlane *samples);

/* Checks that the plane is an array of samples whose filtered channels share taps and levels. */
gboolean cnv_fit_samples(const CnvPlane *plane, GError **error);

/* Checks that the plane has one row times one column of taps, the same for all frames. */
gboolean cnv_fit_one_term(const CnvPlan *plan, const CnvPlane *plane, GError **error);

/* Checks that sums can be rounded by adding a number near 2^23. magnitude: sum of the magnitudes of the taps of all
 * frames. */
gboolean cnv_fit_levels(const CnvPlane *plane, double magnitude, GError **error);

/* Returns TRUE if fewer than one sample of noise in a hundred differs by one level from the float32 result. error: of a
 * sum, as root mean square, for samples of standard deviation 1. */
gboolean cnv_fit_error(const CnvPlane *plane, double error, gboolean is_signed);

/* Returns the number of pixels or rows that the term's taps reach to either side. */
int cnv_fit_reach(const CnvTerm *term, int axis);

/* Returns the first filtered channel. All other filtered channels have the same gain, base and so on
 * (cnv_fit_samples). */
int cnv_fit_first_channel(const CnvPlane *plane);

/* Finds the plane's taps in CnvPlan.taps. range: the index of the first tap, and the index after the last. */
void cnv_fit_find_taps(const CnvPlan *plan, const CnvPlane *plane, guint range[2]);
