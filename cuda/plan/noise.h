/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The noise of each plane, from the differences of two frames in blocks that stay still. Pure arithmetic on frames in
 * host memory.
 */
#pragma once

#include <convolve/backend.h>

#include "plan/noise_limits.h"
#include "plan/plane.h"

/* Zero before the first measurement. */
typedef struct {
  guint n;                                       /* measurements so far */
  float sigma[CNV_MAX_PLANES][CNV_NOISE_FRAMES]; /* the latest ones, as a fraction of full scale */
} CnvNoise;

/* Finds the components of plane p of a format whose noise is measured. Others have bytes 0. Returns the number of all. */
int cnv_noise_components(const CnvFormat *format, int p, CnvComponent component[CNV_MAX_CHANNELS]);

/* Returns the noise of n components of width x height pixels, as a fraction of full scale. */
float cnv_noise_of(const CnvComponent *component, int n, int width, int height, const CnvFrame *a, const CnvFrame *b);

/* Measures the noise of each plane of the format from two frames of that image that are near in time. */
void cnv_noise_measure(CnvNoise *noise, const CnvImage *image, const CnvFrame *a, const CnvFrame *b);

/* Returns the standard deviation of a plane's noise, as a fraction of full scale; 0 before the first measurement. */
double cnv_noise_sigma(const CnvNoise *noise, int plane);
