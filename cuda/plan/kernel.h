/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The taps that a filter has on one plane, in double precision and not normalised. plan_planes.c rounds and stores
 * them.
 */
#pragma once

#include <convolve/filter.h>

#include "plan/plane.h"

/* Sums of the taps that found a sample, or a frame, count as 0 up to this part of the sum of all magnitudes: engines
 * add them up in float32. */
#define CNV_FOUND_ZERO 1e-6

/* One convolution: either a row and a column (the kernel is their outer product), or dense. */
typedef struct {
  CnvTaps *axis[CNV_N_AXES]; /* each n x 1; NULL when dense */
  CnvTaps *dense;            /* NULL when separable */
  int anchor[CNV_N_AXES];    /* number of the tap on the output sample, 0..n-1 */
  int temporal_tap;          /* of a 3D kernel: number of the tap in time whose frame it is for; else -1 */
} CnvKernelTerm;

/* The taps for one plane: the sum of a few convolutions or, for a gradient's magnitude, the root of the sum of squares
 * of two. Not normalised. */
struct CnvKernel {
  int n_terms; /* 1..CNV_MAX_TERMS */
  CnvKernelTerm term[CNV_MAX_TERMS];
  gboolean magnitude;
  int cell[CNV_N_AXES], cell_step[CNV_N_AXES]; /* mosaic: luma samples of a cell, and from one sample to the next */
};

void cnv_kernel_clear(CnvKernel *kernel);

/* A sum over the taps of a term, and of all terms. of: cnv_taps_sum or cnv_taps_magnitude. */
double cnv_term_total(const CnvKernelTerm *term, double (*measure)(const CnvTaps *taps));
double cnv_kernel_total(const CnvKernel *kernel, double (*measure)(const CnvTaps *taps));

/* TRUE where the taps are a 3D kernel. */
static inline gboolean
cnv_filter_is_volume(const CnvFilter *filter)
{
  return filter->type == CNV_FILTER_CUSTOM && filter->kernel && filter->kernel->depth > 1;
}

/* Resolves the radius and sigma of each axis. Returns FALSE with CNV_ERROR_SETTINGS if the filter does not accept such a
 * radius. */
gboolean cnv_filter_resolve(const CnvFilter *from, CnvResolvedFilter *filter, GError **error);

/* Makes the terms; a dense one that is a row times a column becomes separable. Checks the limits of filter.h. */
gboolean cnv_filter_generate(const CnvFilter *filter, const int subsample[CNV_N_AXES], CnvKernel *kernel,
                             GError **error);

/* Replaces a kernel of one dense term by a few rows times columns, where it has so low a rank (singular values beyond
 * it are at most 1e-9 of the largest) that these take fewer products. One of at most max_dense taps stays. */
void cnv_kernel_factor(CnvKernel *kernel, int max_dense);

/* Replaces the several terms of a filter, rows times columns with the anchor in the middle, by their sum as one dense
 * term, where that has at most `most` taps and CNV_DENSE_MAX rows and columns. Not the terms of a magnitude. */
void cnv_kernel_merge(CnvKernel *kernel, int most);

/* Finds the taps in time; a filter without any has one of weight 1. weight: factor of each frame; all 1 for a 3D kernel
 * that is not a 2D one times weights. anchor: index of the output's frame. Returns the number of taps, or 0 with
 * CNV_ERROR_SETTINGS. */
int cnv_filter_temporal_taps(const CnvFilter *filter, double weight[CNV_MAX_TEMPORAL_TAPS], int *anchor,
                             GError **error);

/* ---- taps.c: arithmetic on arrays of taps. Functions that return taps return new ones. ---- */

/* Moves taps that lie one sample apart onto a grid of step samples (1, 2 or 4), about the anchor: a tap at offset o
 * goes to offset o/step, split linearly between its two neighbours there. Sum and first moment stay. flip: taps change
 * sides about the anchor. anchor: number of the tap on the output sample along each axis, before and after; after a
 * step above 1 it is the middle one. */
CnvTaps *cnv_taps_gather(const CnvTaps *taps, const int step[CNV_N_AXES], gboolean flip, int anchor[CNV_N_AXES]);

/* Adds a point at column x, row y, split linearly between the four taps around it. */
void cnv_taps_add_point(CnvTaps *taps, double x, double y, double value);

/* Takes taps apart into outer products of a row and a column, exact to within 1e-9 of the largest tap. Several are
 * orthogonal, with a row as long as its column: the singular vectors. Returns the number of products, at least 1; 0
 * where it would exceed max_rank (up to CNV_MAX_TERMS). */
int cnv_taps_factor(const CnvTaps *taps, int max_rank, CnvTaps *row[], CnvTaps *column[]);

/* TRUE where a volume is one of its frames times weights in time, to within 1e-9 of the largest tap; fills in the
 * number of that frame and a weight for each. */
gboolean cnv_taps_split_time(const CnvTaps *taps, double weight[], int *frame);

double cnv_taps_sum(const CnvTaps *taps);       /* of one frame */
double cnv_taps_magnitude(const CnvTaps *taps); /* sum of the taps' magnitudes */

/* Multiplies taps that are not shared yet, in place. */
CnvTaps *cnv_taps_scale(CnvTaps *taps, double factor);

/* FALSE with the error where a sum of magnitudes is beyond CNV_TAPS_MAX. what: the taps, for the message. */
gboolean cnv_taps_check_magnitude(double magnitude, const char *what, GError **error);
