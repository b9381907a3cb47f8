/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The taps of a filter on one plane, in double precision and not normalised. plan_planes.c rounds and stores them.
 */
#pragma once

#include <convolve/filter.h>

#include "plan/plane.h"

/* Fraction of the sum of the magnitudes of all taps. A sum of the taps that meet a sample, or a frame, counts as 0 up
 * to this, because engines add up in float32. */
#define CNV_FOUND_ZERO 1e-6

/* One convolution: a row and a column, whose outer product is the kernel, or a dense array. */
typedef struct {
  CnvTaps *axis[CNV_N_AXES]; /* each n x 1; NULL if the term is dense */
  CnvTaps *dense;            /* NULL if the term is separable */
  int anchor[CNV_N_AXES];    /* index of the tap on the output sample, 0..n-1 */
  int temporal_tap;          /* 3D kernel: index of the tap in time whose frame the term filters; else -1 */
} CnvKernelTerm;

/* The taps for one plane: the sum of a few convolutions or, for a gradient's magnitude, the root of the sum of the
 * squares of two. Not normalised. */
struct CnvKernel {
  int n_terms; /* 1..CNV_MAX_TERMS */
  CnvKernelTerm term[CNV_MAX_TERMS];
  gboolean magnitude;
  int cell[CNV_N_AXES], cell_step[CNV_N_AXES]; /* mosaic, in luma samples: size of a cell, and distance of the plane's
                                                  samples */
};

void cnv_kernel_clear(CnvKernel *kernel);

/* Return a sum over the taps of a term, or of all terms. measure: cnv_taps_sum or cnv_taps_magnitude. */
double cnv_term_total(const CnvKernelTerm *term, double (*measure)(const CnvTaps *taps));
double cnv_kernel_total(const CnvKernel *kernel, double (*measure)(const CnvTaps *taps));

/* Returns TRUE if the taps are a 3D kernel. */
static inline gboolean
cnv_filter_is_volume(const CnvFilter *filter)
{
  return filter->type == CNV_FILTER_CUSTOM && filter->kernel && filter->kernel->depth > 1;
}

/* Resolves the radius and sigma of each axis. Returns FALSE with CNV_ERROR_SETTINGS if the filter does not accept the
 * radius. */
gboolean cnv_filter_resolve(const CnvFilter *from, CnvResolvedFilter *filter, GError **error);

/* Computes the terms. A dense term that is a row times a column becomes separable. Returns FALSE with
 * CNV_ERROR_SETTINGS if the filter is not valid, for example beyond the limits of filter.h. */
gboolean cnv_filter_generate(const CnvFilter *filter, const int subsample[CNV_N_AXES], CnvKernel *kernel,
                             GError **error);

/* Replaces a kernel of one dense term by a few separable terms if these need fewer products. Their sum must equal the
 * kernel to within 1e-9 of the largest tap. A kernel with at most max_dense taps stays dense. */
void cnv_kernel_factor(CnvKernel *kernel, int max_dense);

/* Replaces several separable terms, with the anchor in the middle, by their sum as one dense term. Does nothing if that
 * exceeds `most` taps or CNV_DENSE_MAX rows or columns, or if the kernel is a magnitude. */
void cnv_kernel_merge(CnvKernel *kernel, int most);

/* Computes the taps in time; a filter without any gets one tap of weight 1. weight: factor of each frame, all 1 for a
 * 3D kernel that is not a 2D kernel times weights. anchor: index of the output's frame. Returns the number of taps, or
 * 0 with CNV_ERROR_SETTINGS. */
int cnv_filter_temporal_taps(const CnvFilter *filter, double weight[CNV_MAX_TEMPORAL_TAPS], int *anchor,
                             GError **error);

/* ---- taps.c: arithmetic on arrays of taps. Functions that return taps return new ones. ---- */

/* Moves taps that are one sample apart onto a grid with a distance of `step` samples (1, 2 or 4), about the anchor. A
 * tap at offset o moves to offset o/step, split linearly between its two neighbours there, which keeps the sum and the
 * first moment. flip: mirrors the taps about the anchor. anchor: index of the tap on the output sample along each axis,
 * before and after the call. If the step is above 1, it becomes the middle tap. */
CnvTaps *cnv_taps_gather(const CnvTaps *taps, const int step[CNV_N_AXES], gboolean flip, int anchor[CNV_N_AXES]);

/* Adds a point at column x, row y, split linearly among the four taps around it. */
void cnv_taps_add_point(CnvTaps *taps, double x, double y, double value);

/* Factors taps into outer products of a row and a column, exact to within 1e-9 of the largest tap. If there are several
 * products, their rows and columns are the singular vectors: orthogonal, and each row as long as its column. Returns
 * the number of products, at least 1, or 0 if it would exceed max_rank (up to CNV_MAX_TERMS). */
int cnv_taps_factor(const CnvTaps *taps, int max_rank, CnvTaps *row[], CnvTaps *column[]);

/* Returns TRUE if a volume is one of its frames times weights in time, to within 1e-9 of the largest tap. Stores the
 * index of that frame and a weight for each frame. */
gboolean cnv_taps_split_time(const CnvTaps *taps, double weight[], int *frame);

double cnv_taps_sum(const CnvTaps *taps);       /* of the first frame */
double cnv_taps_magnitude(const CnvTaps *taps); /* sum of the magnitudes of all taps */

/* Multiplies the taps of the first frame in place, and returns the taps. They must not be shared yet. */
CnvTaps *cnv_taps_scale(CnvTaps *taps, double factor);

/* Returns FALSE with CNV_ERROR_SETTINGS if a sum of magnitudes is outside the limits of CNV_TAPS_MAX. what: name of the
 * taps for the message. */
gboolean cnv_taps_check_magnitude(double magnitude, const char *what, GError **error);
