/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Numbers of noise.c and of thresholds over time that the CUDA kernels share. Plain C.
 */
#pragma once

#define CNV_NOISE_FRAMES 15 /* the noise is the median over this number of measurements */

/* The automatic threshold, in standard deviations of the noise: measured, see gst/time.md. */
#define CNV_NOISE_THRESHOLD 1.5

#define CNV_NOISE_BLOCK 8   /* pixels of a block's row, and its rows */
#define CNV_NOISE_BLOCKS 16 /* most blocks of a row, and of a column */

#define CNV_NOISE_STILL 4         /* one block in this number is expected to be still, */
#define CNV_NOISE_STILL_BIAS 1.18 /* and this is the noise by the noise of the block in that place among still ones */

/* The smallest threshold in levels: a frame whose samples differ at all then does not count. */
#define CNV_THRESHOLD_LEAST 1e-3
