/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * What passes from the host (cuda_engine.c) to the kernels (kernels.cu): plain C, read by both compilers.
 */
#pragma once

#include <stdint.h>

/* Constant memory of a module is 64 KiB; kernel arguments are elsewhere. */
#define CNV_CONSTANT_TAPS 16384
#define CNV_CONSTANT_SYMBOL "cnv_taps"

/* Kernels are called cnv_<kernel>_u<bits>x<channels>; see the end of kernels.cu. */

/* tiled: a block makes 64 x 64 samples; taps are taken in chunks, so that shared memory never exceeds 48 KiB. */
#define CNV_TILED_WIDTH 64 /* samples, a multiple of the channels below: 63 for 3 channels */
#define CNV_TILED_HEIGHT 64
#define CNV_TILED_CHUNK_X(channels) ((channels) == 1 ? 32 : (channels) == 2 ? 24 : 14)
#define CNV_TILED_CHUNK_Y 32
#define CNV_TILED_SLACK 4 /* floats on either side of a row of the tile */
#define CNV_TILED_PITCH(channels, chunk_x)                                                                             \
  ((CNV_TILED_WIDTH / (channels) + (chunk_x)-1) * (channels) + 2 * CNV_TILED_SLACK)

/* rows: a warp makes 256 pixels of one channel of one row. */
#define CNV_ROWS_PIXELS 256
#define CNV_ROWS_CHUNK 128
#define CNV_ROWS_SLACK 8 /* pixels on either side, a multiple of CNV_OUTPUTS */
#define CNV_ROWS_PER_BLOCK(channels) ((channels) == 1 ? 8 : (channels) == 2 ? 4 : 2)

/* columns: a block makes 64 x 64 samples. */
#define CNV_COLUMNS_WIDTH 64
#define CNV_COLUMNS_HEIGHT 64
#define CNV_COLUMNS_CHUNK 64

/* Outputs that a thread makes one after the other, sliding over the samples in registers. */
#define CNV_OUTPUTS 8

typedef struct {
  uint64_t in, out;          /* device addresses of the plane's first sample */
  uint64_t sums;             /* separable: float32 row sums, height rows of sums_stride floats, 256-byte aligned */
  int in_stride, out_stride; /* bytes */
  int sums_stride;           /* floats, a multiple of CNV_COLUMNS_WIDTH */
  int width, height;         /* pixels */
  int n_x, n_y, anchor_x, anchor_y;
  int chunk_x, chunk_y; /* taps taken at once, equal parts of n_x and n_y */
  int separable;
  uint32_t taps_x, taps_y; /* index in constant memory; dense: taps_x */
  float sum_x, sum_y;      /* of the taps, and which sums found by renormalize count as 0 */
  float least_x, least_y;
  int border;        /* CnvBorder */
  int shift;         /* of the value in a 16-bit sample */
  uint32_t filtered; /* bit c: channel c is filtered, else copied */
  int full_bits;     /* 2^depth - 1 */
  float mid, gain;
  int base[4];       /* an output is base + rint(gain * acc + fraction), the latter within lowest and highest, which */
  float fraction[4]; /* are what gives 0 and full; all far below 2^22 */
  float lowest[4], highest[4];
  float border_value[4];
} CnvKernelArgs;

typedef struct {
  uint64_t in, out;
  int in_stride, out_stride; /* bytes */
  int bytes, rows;           /* to copy: bytes of a row, rows */
} CnvCopyPlane;

/* copy: blockIdx.z is the plane. */
typedef struct {
  CnvCopyPlane plane[4];
} CnvCopyArgs;

/* A copy thread moves 16 bytes where addresses allow. Threads of a block: 32 x 8. */
#define CNV_COPY_BYTES 16
