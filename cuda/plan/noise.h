/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The noise of each plane, from the differences of two frames in blocks that stay still. Pure arithmetic on frames in
 * host memory.
 */
#pragma once

#include <convolve/backend.h>

#define CNV_NOISE_FRAMES 15 /* the noise is the median over this number of measurements */

/* The automatic threshold, in standard deviations of the noise: measured, see gst/time.md. */
#define CNV_NOISE_THRESHOLD 1.5

/* Zero before the first measurement. */
typedef struct {
  guint n;                                       /* measurements so far */
  float sigma[CNV_MAX_PLANES][CNV_NOISE_FRAMES]; /* the latest ones, as a fraction of full scale */
} CnvNoise;

/* Measures the noise of each plane of the format from two frames of that image that are near in time. */
void cnv_noise_measure(CnvNoise *noise, const CnvImage *image, const CnvFrame *a, const CnvFrame *b);

/* Returns the standard deviation of a plane's noise, as a fraction of full scale; 0 before the first measurement. */
double cnv_noise_sigma(const CnvNoise *noise, int plane);
