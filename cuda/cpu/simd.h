/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The vector loops of the CPU engine, as one table of functions for each instruction set. Between load and store a row
 * is a flat array of float32 samples; a pixel's channels are told apart only by the step between taps, so that one loop
 * serves every format.
 */
#pragma once

#include <glib.h>

#include "plan/rect_job.h"

G_BEGIN_DECLS

/* The filters work on rows padded to a multiple of this many floats: what one pass keeps in registers at the widest
 * vectors. Buffers are padded to it; samples of a frame are never touched beyond their row. */
#define CNV_CPU_BLOCK 128

/* Output rows of one call of the column or the dense filter: each input vector loaded serves so many. */
#define CNV_CPU_ROWS 4

/* Floats beyond a loaded row that a function may read: a vector. */
#define CNV_CPU_SLACK 16

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

/* Taps first to first + n - 1 of an axis, which are all alike. */
typedef struct {
  int first, n;
} CnvCpuRun;

/* n counts samples. load, store, blend and merge come for samples of 1 and of 2 bytes; they and the functions of acc
 * take any n and any alignment; row, column and dense round n up to CNV_CPU_BLOCK, row_by_sums to a vector. */
typedef struct {
  const char *name; /* "avx2" */
  void (*load[2])(float *to, const void *from, int n, const CnvCpuSamples *samples);
  void (*store[2])(void *to, const float *acc, int n, const CnvCpuSamples *samples, const CnvCpuOutput *output);
  /* The same blended with the input, each sample having its weight. */
  void (*blend[2])(void *to, const float *acc, const float *weight, const void *from, int n,
                   const CnvCpuSamples *samples, const CnvCpuOutput *output);
  /* Takes the bits of from where those of mask are 0. */
  void (*merge[2])(void *to, const void *from, const void *mask, int n);

  /* cnv_rect_job_weight of n pixels from (x, y) on, of a job that has spots. Both have room for n rounded up to a
   * vector. TRUE where a 0 may
   * be another job's sample; else it is the input's. */
  gboolean (*weigh_row)(float *weight, gint32 *owned_by_other, int n, int x, int y, const CnvRectJob *job,
                        const CnvMaskRect *spots);

  void (*add)(float *acc, const float *more, int n);
  void (*add_weighed)(float *acc, const float *more, float weight, int n);
  void (*weigh)(float *acc, float weight, int n);
  void (*scale)(float *acc, const float *factor, int n);
  void (*absolute)(float *acc, const float *mid_bias, int n); /* |acc + mid_bias| */
  void (*magnitude)(float *acc, const float *other, int n);   /* root of the sum of squares */

  void (*row)(float *to, const float *from, int n, const float *taps, int n_taps, int step);
  /* The same as row by sums of 1, 2, 4... samples, of which run's are made: what it takes grows with the logarithm of
   * their number. from holds n + (n_taps - 1) * step samples and CNV_CPU_SLACK numbers more, and is spoilt. */
  void (*row_by_sums)(float *to, float *from, int n, const float *taps, int n_taps, const CnvCpuRun *run, int step);
  /* A sum that slides down rows: to = weight * (sum + enter), and then sum += enter - leave. In double, so that it
   * holds what it would if it were made anew. */
  void (*slide)(float *to, double *sum, const float *enter, const float *leave, float weight, int n);
  /* CNV_CPU_ROWS rows of output, stride floats apart, from n_taps + CNV_CPU_ROWS - 1 rows. taps: with CNV_CPU_ROWS - 1
   * zeros after them. */
  void (*column)(float *to, gsize stride, const float *const *rows, int n, const float *taps, int n_taps);
  /* The same from height + CNV_CPU_ROWS - 1 rows. taps: height rows of width, with CNV_CPU_ROWS - 1 rows of zeros
   * before and after them. */
  void (*dense)(float *to, gsize stride, const float *const *rows, int n, const float *taps, int width, int height,
                int step);
} CnvCpuSimd;

extern const CnvCpuSimd cnv_cpu_simd_plain;  /* what any machine of the family has */
extern const CnvCpuSimd cnv_cpu_simd_neon;   /* the same where that is NEON: 64-bit ARM */
extern const CnvCpuSimd cnv_cpu_simd_avx2;   /* x86-64 alone */
extern const CnvCpuSimd cnv_cpu_simd_avx512; /* x86-64 alone */

G_END_DECLS
