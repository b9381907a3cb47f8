/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Arithmetic on arrays of taps, private to the engine. Functions that return taps return new ones.
 */
#pragma once

#include <convolve/filter.h>

G_BEGIN_DECLS

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

/* ---- shapes.c: taps of known shapes, with an odd number along each axis and the anchor in the middle. step: luma
 * samples from one sample of the plane to the next, 1, 2 or 4. Radius and sigma are in luma samples. ---- */

CnvTaps *cnv_taps_single(double value);

/* Moves a row of taps one luma sample apart to the grid of a subsampled plane. Takes over `taps`. */
CnvTaps *cnv_taps_regrid(CnvTaps *taps, int step);

/* A row of 2 * radius + 1 equal taps; on a coarser grid the two outermost count for the part of a sample they cover. */
CnvTaps *cnv_taps_box(int radius, int step);
CnvTaps *cnv_taps_gaussian(int radius, double sigma, int step);

/* An ellipse whose semi-axes end where the outermost samples do. */
CnvTaps *cnv_taps_disk(const int radius[CNV_N_AXES], const int step[CNV_N_AXES]);

/* 2 * radius + 1 points on a line through the middle, one `step` (in samples of the plane) after the other, each split
 * between the four samples around it. reach: samples on each side along each axis. */
CnvTaps *cnv_taps_line(int radius, const double step[CNV_N_AXES], const int reach[CNV_N_AXES]);

/* Rows for derivatives: 1 2 1 and its powers; -1 0 1 smoothed by these; -r ... r; 1 -2 1 smoothed. */
CnvTaps *cnv_taps_binomial(int radius);
CnvTaps *cnv_taps_sobel(int radius);
CnvTaps *cnv_taps_prewitt(int radius);
CnvTaps *cnv_taps_laplacian(int radius);

/* The second derivative of a gaussian that sums to 1. What sampling and cutting off leave of its sum is taken off in
 * proportion to the gaussian. */
CnvTaps *cnv_taps_second_derivative(const CnvTaps *gaussian, double sigma, int step);

G_END_DECLS
