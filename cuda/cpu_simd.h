/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The vector loops of the CPU engine, as one table of functions for each instruction set. Between load and store a row
 * is a flat array of float32 samples; a pixel's channels are told apart only by the step between taps, so that one loop
 * serves every format.
 */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* The filters work on rows padded to a multiple of this many floats: what one pass keeps in registers at the widest
 * vectors. Buffers are padded to it; samples of a frame are never touched beyond their row. */
#define CNV_CPU_BLOCK 128

/* Output rows of one call of the dense filter: each input vector loaded serves so many. */
#define CNV_CPU_DENSE_ROWS 4

/* Rounds to an integer, ties to even, when added to a float32 below 2^22: 1.5 * 2^23. */
#define CNV_CPU_ROUND 12582912.0f

typedef struct {
  int shift, full; /* of the value in a sample, and 2^depth - 1 */
  float mid;
} CnvCpuSamples;

/* How sums become samples, sample by sample: clamp(rint(gain * acc + fraction) + base), round being CNV_CPU_ROUND +
 * base. A base is even, so that ties still go to even. */
typedef struct {
  const float *gain, *fraction, *round;
} CnvCpuOutput;

/* n counts samples. load, store and merge come for samples of 1 and of 2 bytes; they and the functions of acc take any
 * n and any alignment; row, column and dense round n up to CNV_CPU_BLOCK. */
typedef struct {
  const char *name; /* "avx2" */
  void (*load[2])(float *to, const void *from, int n, const CnvCpuSamples *samples);
  void (*store[2])(void *to, const float *acc, int n, const CnvCpuSamples *samples, const CnvCpuOutput *output);
  /* Takes the bits of from where those of mask are 0. */
  void (*merge[2])(void *to, const void *from, const void *mask, int n);

  void (*add)(float *acc, const float *more, int n);
  void (*add_weighed)(float *acc, const float *more, float weight, int n);
  void (*weigh)(float *acc, float weight, int n);
  void (*scale)(float *acc, const float *factor, int n);
  void (*absolute)(float *acc, const float *inner, int n);  /* |acc + inner| */
  void (*magnitude)(float *acc, const float *other, int n); /* root of the sum of squares */

  void (*row)(float *to, const float *from, int n, const float *taps, int n_taps, int step);
  void (*column)(float *to, const float *const *rows, int n, const float *taps, int n_taps);
  /* CNV_CPU_DENSE_ROWS rows of output, stride floats apart, from height + CNV_CPU_DENSE_ROWS - 1 rows. taps: height
   * rows of width, with CNV_CPU_DENSE_ROWS - 1 rows of zeros before and after them. */
  void (*dense)(float *to, gsize stride, const float *const *rows, int n, const float *taps, int width, int height,
                int step);
} CnvCpuSimd;

extern const CnvCpuSimd cnv_cpu_simd_plain;
extern const CnvCpuSimd cnv_cpu_simd_avx2;   /* x86-64 alone */
extern const CnvCpuSimd cnv_cpu_simd_avx512; /* x86-64 alone */

G_END_DECLS
