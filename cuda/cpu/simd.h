/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The vector loops of the CPU engine: a table of functions for each instruction set. Between load and store a row is a
 * flat array of float32 samples. Only the distance between taps depends on the channels of a pixel, so one loop serves
 * every format.
 */
#pragma once

#include <glib.h>

#include <convolve/filter.h>

#include "plan/job.h"

/* Filters work on rows padded to a multiple of this many floats: what one pass holds in registers at the widest
 * vectors. Buffers are padded to it; samples of a frame are never touched beyond their row. */
#define CNV_CPU_BLOCK 128

/* Output rows of one call of the column or the dense filter: each loaded input vector serves all of them. */
#define CNV_CPU_ROWS 4

/* Floats beyond a loaded row that a function may read: a vector. */
#define CNV_CPU_SLACK 16

/* Rows or columns that are processed side by side: the lanes of the widest vector. */
#define CNV_CPU_BAND 16
#define CNV_CPU_SQUARE (CNV_CPU_BAND * CNV_CPU_BAND)

/* Cosines that taps are made of, beside a constant. */
#define CNV_CPU_COSINES 5
#define CNV_CPU_COSINES_STATE ((2 * CNV_CPU_COSINES + 3) * CNV_CPU_BAND)

/* Rounds to an integer, ties to even, when added to a float32 below 2^22: 1.5 * 2^23. */
#define CNV_CPU_ROUND 12582912.0f

/* For functions that become one loop for each value of their constant arguments; compilers do not inline large ones by
 * themselves. */
#define ALWAYS_INLINE static inline __attribute__((always_inline))

/* How samples become numbers, value - mid, and sums become samples, clamp(rint(gain * acc + fraction) + base). round is
 * CNV_CPU_ROUND + base; a base is even, so that ties still go to even. Arrays have a number for each sample of a row. */
typedef struct {
  int bytes, shift, full; /* of a sample, 1 or 2; of the value in it; 2^depth - 1 */
  float mid;
  float *gain, *fraction, *round;
} CpuSamples;

/* Taps first to first + n - 1 of an axis. */
typedef struct {
  int first, n;
} CpuTapRange;

/* Taps of an axis, or of a dense kernel. */
typedef struct {
  const float *tap; /* dense: height rows of width. Dense taps and columns have CNV_CPU_ROWS - 1 rows of zeros before
                          and after them */
  int width, height;
  int channels;      /* floats from tap to tap along a row */
  CpuTapRange equal; /* taps of an axis that are equal, to be added up instead of multiplied one by one; n 0: none */
} CpuTaps;

/* A tap that differs from the one above it: multiply the prefix sum in `row`, `at` floats from its first, by weight. */
typedef struct {
  int row, at;
  float weight;
} CpuStep;

/* Limits of CpuDecimation, and the floats that are decimated at once. */
#define CNV_CPU_DECIMATION_MAX 16
#define CNV_CPU_SHARES 4
#define CNV_CPU_DECIMATION_BLOCK 64
#define CNV_CPU_DECIMATED_TAPS 81

/* Taps of an axis as few taps for decimated samples. Decimated sample q lies on sample step * q. */
typedef struct {
  int step;                                                   /* 0: there are no such taps */
  int radius;                                                 /* of the few taps */
  float tap[CNV_CPU_DECIMATED_TAPS + 2 * (CNV_CPU_ROWS - 1)]; /* with zeros before and after them */
  /* Weight of sample step * q + i in decimated sample q - 1 + m; times step: of that one's result in the sample's. */
  float share[CNV_CPU_DECIMATION_MAX][CNV_CPU_SHARES];
} CpuDecimation;

/* Symmetric taps as a constant and cosines. With f the samples and R the radius, the weighted sum
 * C(x) = sum of w * cos(omega * k) * f(x + k) over |k| <= R is updated by
 *
 *     D(x + 1) = D(x) - kappa * C(x) + alpha * ((f(x+R+1) - f(x+R)) - (f(x-R) - f(x-R-1))) + gamma * (f(x+R) + f(x-R))
 *     C(x + 1) = C(x) + D(x + 1)
 *
 * kappa = 2 - 2 cos omega and gamma are small, and by themselves exact to float32, so that errors do not grow faster
 * than those of a sum. */
typedef struct {
  int radius;                                /* of the taps */
  double omega, weight[CNV_CPU_COSINES + 1]; /* of the constant, and of cosines of omega, 2 omega and so on */
  float constant;                            /* this and the arrays below follow from them */
  float kappa[CNV_CPU_COSINES], alpha[CNV_CPU_COSINES], gamma[CNV_CPU_COSINES];
  const float *start; /* weights of each of the 2 * radius + 1 samples in each C, then in each D */
} CpuCosines;

/* A walk of running sums: n steps down rows or along columns, for n_blocks blocks of CNV_CPU_BAND sums side by side.
 * Blocks of samples lie side by side, too. */
typedef struct {
  float *to;                 /* of the first step */
  gsize to_stride, to_block; /* floats from step to step, and from block to block */
  const float *enter;        /* samples R + 1 after each sum; for `start`, those of the first sums */
  const float *leave;        /* samples R before it */
  gsize stride;              /* of these two: floats from step to step */
  int n, n_blocks;
} CpuSlide;

/* The loops of wide taps. A block's state is CNV_CPU_COSINES_STATE floats, 0 at first. */
typedef struct {
  /* Adds samples to sums that start; the first of them is number `first` of all. */
  void (*start)(float *state, const CpuSlide *slide, int first, const CpuCosines *cosines);
  /* Stores the sums of the current place, then moves on by one sample, n times. */
  void (*slide)(float *state, const CpuSlide *slide, const CpuCosines *cosines);
  /* Transposes CNV_CPU_BAND rows of as many floats. */
  void (*transpose)(float *to, gsize to_stride, const float *from, gsize from_stride);

  /* Adds `step` rows, stride floats apart, to the CNV_CPU_SHARES rows for which they count; the last of these starts
   * with them. n is rounded up to CNV_CPU_DECIMATION_BLOCK. */
  void (*decimate)(float *const *to, const float *from, gsize stride, int n, const CpuDecimation *decimation);
  /* Splits n * step pixels into `step` rows of n, stride floats apart: pixel i goes to row i % step. join: the
   * reverse. */
  void (*split)(float *to, gsize stride, const float *from, int n, int step, int channels);
  void (*join)(float *to, const float *from, gsize stride, int n, int step, int channels);
} CpuSimdWide;

/* Parts that a transform of length n, a power of two, cuts it into: 8 if that leaves 8 * 4^i. */
#define CNV_CPU_RADIX(n) ((n)&0x55555555 ? 8 : 4)

/* Fourier transforms of CNV_CPU_BAND rows or columns side by side, in place. Number i of all of them is CNV_CPU_BAND
 * real parts, from 2 * CNV_CPU_BAND * i on, followed by the imaginary parts. n is a power of two, 32 or more; table is
 * cnv_cpu_fft_table's for n. */
typedef struct {
  /* Computes for each k the sum of z[i] * exp(-2 pi i k / n) and stores it at place(k, n), which is k if n is 8, else
   * k % radix * (n / radix) + place(k / radix, n / radix). factor is not read. */
  void (*forward)(float *numbers, const float *factor, int n, const float *table);
  /* Computes n times the numbers from what forward computes, in that order. */
  void (*backward)(float *numbers, const float *factor, int n, const float *table);
  /* Does both, and multiplies by n factors of each transform between them, which are in the same order. */
  void (*convolve)(float *numbers, const float *factor, int n, const float *table);
} CpuSimdTransform;

/* Symmetric taps in 16 bits, from the middle one on, which is halved. */
#define CNV_CPU_FIXED_RADIUS 20 /* beyond it decimated taps are faster */
typedef struct {
  int radius, channels; /* channels: samples from tap to tap along a row */
  gint16 tap[CNV_CPU_FIXED_RADIUS + 1];
} CpuFixed;

/* A sample of 0..255 in 16 bits: 64 units per level, relative to the middle, so that 256 per level still fit. */
#define CNV_CPU_FIXED_MIDDLE (255 * 32)
#define CNV_CPU_FIXED_OF(value) ((value)*64 - CNV_CPU_FIXED_MIDDLE)

/* The even samples of a row are stored apart from the odd ones, `odd` numbers before them: loading and storing bytes
 * then needs no shuffle, and a loaded vector serves two outputs. Up to this many numbers before and after each half may
 * be read and written. */
#define CNV_CPU_FIXED_BLOCK 128

/* The loops of 16 bits. n counts samples; for column, numbers of one half, rounded up to a vector. load NULL: this
 * instruction set has none. */
typedef struct {
  void (*load)(gint16 *to, gsize odd, const guint8 *from, int n);
  /* from: the first output's sample, an even one. */
  void (*row)(gint16 *to, const gint16 *from, gsize odd, int n, const CpuFixed *taps);
  /* Makes CNV_CPU_ROWS rows, stride numbers apart, of 256 units per level from 2 * radius more rows: numbers from
   * `first` on. */
  void (*column)(gint16 *to, gsize stride, const gint16 *const *rows, gsize first, int n, const CpuFixed *taps);
  /* The same for both halves, rounded to bytes. Rows of output may coincide. */
  void (*column_to_bytes)(guint8 *const *to, const gint16 *const *rows, gsize odd, int n, const CpuFixed *taps);
  /* Rounds a row that column made and composites it over the input. weight: of each sample, of 255. */
  void (*composite)(guint8 *to, const gint16 *sums, gsize odd, const guint8 *weight, const guint8 *from, int n);
} CpuSimdFixed;

/* Samples of a row that are averaged over time at once, so that the rows of several frames fit in cache. */
#define CNV_CPU_AVERAGE 512

/* The least threshold in levels that is used: a frame whose samples differ at all does not count. */
#define CNV_CPU_LEAST_THRESHOLD 1e-3

/* A part of a row of several frames, to be averaged with weights by their differences from one of them (plan.h). */
typedef struct {
  int n, center; /* frames, and the one that the others are compared with */
  int channels;
  float weight[CNV_MAX_TEMPORAL_TAPS];
  const float *value[CNV_MAX_TEMPORAL_TAPS];
  const float *column[CNV_MAX_TEMPORAL_TAPS]; /* sums over three rows, from one pixel before the first on */
  const float *scale;                         /* 1 / threshold of the difference of two sums over 3x3, of each sample */
} CpuAverage;

/* The most that a sample may be to be averaged in 16 bits: sums over 3x3 samples and their differences fit. */
#define CNV_CPU_NARROW_FULL 1023

/* Samples of a row that are averaged in 16 bits at once: the rows of 7 frames and their sums fit in cache. */
#define CNV_CPU_NARROW_AVERAGE 640

/* A part of a row of several frames, to be averaged in 16 bits. Frame 0 is the one that the others are compared with.
 * With d the difference of two sums over 3x3, a frame has the weight
 *
 *     a = max(min(|d|, most) * step, half), p = max(fall - a, 0)
 *     (p * p / 2^15) * (a * weight / 2^16) / 2^15
 *
 * In units of about 2^15 for 1, p is s of plan.h and 2 a is 3 - 2 s. half is 0.5, fall 1.5, and step the reciprocal of
 * the threshold. The sum of all weights is below 2^16. */
typedef struct {
  int n; /* frames besides frame 0: an even number, the last one may have weight 0 */
  int channels, bytes, shift, full;
  guint16 half, fall, step, most;
  guint16 weight[CNV_MAX_TEMPORAL_TAPS + 1]; /* of frame 0 at most 2^15 - 1, and not multiplied */
  const guint8 *value[CNV_MAX_TEMPORAL_TAPS + 1];
  gssize ahead;                                    /* bytes from a value to the one that is fetched into cache */
  const gint16 *column[CNV_MAX_TEMPORAL_TAPS + 1]; /* from one pixel before the first on */
  gsize odd;
} CpuNarrowAverage;

/* Rows of several frames to be summed: three of four, and the next three of them. */
typedef struct {
  int n; /* frames */
  int bytes, shift, full;
  const guint8 *row[CNV_MAX_TEMPORAL_TAPS + 1][4];
  gsize frame, next; /* numbers from sums to those of the next frame, and of the next three rows */
  gsize odd;         /* and, if samples have 1 byte, from even samples to odd ones */
} CpuColumnSums;

/* The loops that average over time. n counts samples. columns, average_narrow NULL: this instruction set has none. */
typedef struct {
  /* n is rounded up to CNV_CPU_SLACK. */
  void (*average)(float *to, const CpuAverage *average, int n);
  /* Sums n samples, an even number, from number `from` of each row on. Up to a vector more is written after each half. */
  void (*columns)(gint16 *to, const CpuColumnSums *sums, int from, int n);
  void (*average_narrow)(guint8 *to, const CpuNarrowAverage *average, int n);
} CpuSimdTime;

/* The loops of one instruction set. n counts samples. row, column, dense and steps round n up to CNV_CPU_BLOCK, the
 * others take any n; none needs an alignment. */
typedef struct {
  const char *name; /* "avx2" */
  void (*load)(float *to, const void *from, int n, const CpuSamples *samples);
  /* Loads samples times their weights. */
  void (*load_weighed)(float *to, const void *from, const guint8 *weights, int n, const CpuSamples *samples);
  void (*store)(void *to, const float *acc, int n, const CpuSamples *samples);
  /* Composites over the input by the weight of each sample, of CNV_WEIGHT_ONE. */
  void (*composite)(void *to, const float *acc, const guint8 *weight, const void *from, int n,
                    const CpuSamples *samples);
  /* Takes the bits of from where those of mask are 0, in n bytes. */
  void (*merge)(void *to, const void *from, const void *mask, int n);

  /* Normalised convolution of n pixels. norms: norm divided by each sum of weights, or 0 if that is at most `least`.
   * divide: multiplies pixels by their norms. Returns TRUE if a norm is 0. */
  void (*norms)(float *to, const float *from, int n, float norm, float least);
  gboolean (*divide)(float *acc, const float *norms, int n, int channels);

  void (*add_scaled)(float *acc, const float *more, float factor, int n);
  void (*scale)(float *acc, float factor, int n);
  void (*multiply)(float *acc, const float *factor, int n);
  void (*absolute)(float *acc, const float *mid_bias, int n); /* |acc + mid_bias| */
  void (*magnitude)(float *acc, const float *other, int n);   /* root of the sum of squares */

  /* Filters along a row. Equal taps are added up as sums of 1, 2, 4... samples: the time grows with the logarithm of
   * their number. from holds n + (width - 1) * channels samples and CNV_CPU_SLACK numbers more, and is overwritten. */
  void (*row)(float *to, float *from, int n, const CpuTaps *taps);
  /* The next row of prefix sums: to = above + row. to may be above. */
  void (*accumulate)(float *to, const float *above, const float *row, int n);
  void (*accumulate_double)(double *to, const double *above, const float *row, int n);
  /* CNV_CPU_ROWS rows of output, stride floats apart, from height + CNV_CPU_ROWS - 1 rows. */
  void (*column)(float *to, gsize stride, const float *const *rows, int n, const CpuTaps *taps);
  void (*dense)(float *to, gsize stride, const float *const *rows, int n, const CpuTaps *taps);
  /* One row of output by the steps of taps. rows: prefix sums, beginning with the row above the first tap. */
  void (*steps)(float *to, const float *const *rows, int n, const CpuStep *steps, int n_steps);
  void (*steps_double)(float *to, const double *const *rows, int n, const CpuStep *steps, int n_steps);
  const CpuSimdWide *wide;
  const CpuSimdFixed *fixed;
  const CpuSimdTransform *transform;
  const CpuSimdTime *time;
} CpuSimd;

extern const CpuSimd cnv_cpu_simd_plain;  /* for any machine of the family */
extern const CpuSimd cnv_cpu_simd_neon;   /* the same source on 64-bit ARM, where all machines have NEON */
extern const CpuSimd cnv_cpu_simd_avx2;   /* x86-64 only */
extern const CpuSimd cnv_cpu_simd_avx512; /* x86-64 only */

/* Returns the set of that name if the machine has it, else the best one. NULL: the best one. */
const CpuSimd *cnv_cpu_choose_simd(const char *wanted);

extern const CpuSimdWide cnv_cpu_wide_plain, cnv_cpu_wide_neon, cnv_cpu_wide_avx2, cnv_cpu_wide_avx512;
extern const CpuSimdFixed cnv_cpu_fixed_plain, cnv_cpu_fixed_neon, cnv_cpu_fixed_avx2, cnv_cpu_fixed_avx512;
extern const CpuSimdTime cnv_cpu_time_plain, cnv_cpu_time_neon, cnv_cpu_time_avx2, cnv_cpu_time_avx512;
extern const CpuSimdTransform cnv_cpu_transform_plain, cnv_cpu_transform_neon, cnv_cpu_transform_avx2,
    cnv_cpu_transform_avx512;
