/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Taps of known shapes. All functions return new taps, with an odd number along each axis and the anchor in the middle.
 * step: luma samples from one sample of the plane to the next, 1, 2 or 4. Radius and sigma are in luma samples.
 */
#pragma once

#include <convolve/filter.h>

G_BEGIN_DECLS

CnvTaps *cnv_taps_single(double value);
CnvTaps *cnv_taps_scaled(const CnvTaps *taps, double factor);

/* Moves a row of taps one luma sample apart to the grid of a subsampled plane. Takes over `taps`. */
CnvTaps *cnv_taps_regrid(CnvTaps *taps, int step);

/* A row of 2 * radius + 1 equal taps; on a coarser grid the two outermost count for the part of a sample they cover.
 * sigma is not used. */
CnvTaps *cnv_taps_box(int radius, double sigma, int step);
CnvTaps *cnv_taps_gaussian(int radius, double sigma, int step);

/* An ellipse whose semi-axes end where the outermost samples do. */
CnvTaps *cnv_taps_disk(const int radius[CNV_N_AXES], const int step[CNV_N_AXES]);

/* 2 * radius + 1 points on a line through the middle, one `step` (in samples of the plane) after the other, each split
 * between the four samples around it. reach: samples on each side along each axis. */
CnvTaps *cnv_taps_line(int radius, const double step[CNV_N_AXES], const int reach[CNV_N_AXES]);

/* Rows for derivatives: 1 2 1 and its powers; -1 0 1 smoothed by these; 3 10 3; a box; -r ... r; 1 -2 1 smoothed. */
CnvTaps *cnv_taps_binomial(int radius);
CnvTaps *cnv_taps_sobel(int radius);
CnvTaps *cnv_taps_scharr_smooth(int radius);
CnvTaps *cnv_taps_prewitt_smooth(int radius);
CnvTaps *cnv_taps_prewitt(int radius);
CnvTaps *cnv_taps_laplacian(int radius);

/* The second derivative of a gaussian that sums to 1. What sampling and cutting off leave of its sum is taken off in
 * proportion to the gaussian. */
CnvTaps *cnv_taps_second_derivative(const CnvTaps *gaussian, double sigma, int step);

G_END_DECLS
