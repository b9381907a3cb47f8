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

/* Rows of buffers are padded to a multiple of this many floats, which one pass of a filter holds in registers with the
 * widest vectors. Samples of a frame are never read or written beyond their row. */
#define CNV_CPU_BLOCK 128

/* Output rows of one call of the column or the dense filter: each loaded input vector serves all of them. */
#define CNV_CPU_ROWS 4

/* Floats beyond a loaded row that a function may read: a vector. */
#define CNV_CPU_SLACK 16

/* Rows or columns that are processed side by side: the lanes of the widest vector. */
#define CNV_CPU_BAND 16
#define CNV_CPU_SQUARE (CNV_CPU_BAND * CNV_CPU_BAND)

/* Number of cosines that approximate taps, in addition to a constant. */
#define CNV_CPU_COSINES 5
#define CNV_CPU_COSINES_STATE ((2 * CNV_CPU_COSINES + 3) * CNV_CPU_BAND)

/* Rounds to an integer, ties to even, when added to a float32 below 2^22: 1.5 * 2^23. */
#define CNV_CPU_ROUND 12582912.0f

/* For functions that become one loop for each value of their constant arguments; compilers do not inline large ones by
 * themselves. */
#define ALWAYS_INLINE static inline __attribute__((always_inline))

/* Converts samples to numbers: value - mid. Converts sums to samples: clamp(rint(gain * acc + fraction) + base). round
 * is CNV_CPU_ROUND + base. A base is even, so that ties still go to even. Arrays have a number for each sample of a
 * row. */
typedef struct {
  int bytes, shift, full; /* bytes of a sample, 1 or 2; position of the value's lowest bit; 2^depth - 1 */
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
  CpuTapRange equal; /* equal taps of an axis, whose samples are added up and then multiplied once; n 0: none */
} CpuTaps;

/* A tap that differs from the one above it: multiply the prefix sum in `row`, `at` floats from its first, by weight. */
typedef struct {
  int row, at;
  float weight;
} CpuStep;

/* Limits of CpuDecimation, and the number of floats that are decimated at once. */
#define CNV_CPU_DECIMATION_MAX 16
#define CNV_CPU_SHARES 4
#define CNV_CPU_DECIMATION_BLOCK 64
#define CNV_CPU_DECIMATED_TAPS 81

/* Taps on decimated samples that replace the taps of an axis. Decimated sample q is centred on sample step * q. */
typedef struct {
  int step;                                                   /* 0: there are no such taps */
  int radius;                                                 /* of the taps on decimated samples */
  float tap[CNV_CPU_DECIMATED_TAPS + 2 * (CNV_CPU_ROWS - 1)]; /* with zeros before and after them */
  /* Weight of sample step * q + i in decimated sample q - 1 + m. Times step, it is the weight of the filtered decimated
   * sample in output sample step * q + i. */
  float share[CNV_CPU_DECIMATION_MAX][CNV_CPU_SHARES];
} CpuDecimation;

/* Symmetric taps as a constant and cosines. With f the samples and R the radius, the weighted sum C(x) = sum of w *
 * cos(omega * k) * f(x + k) over |k| <= R is updated by
 *
 *     D(x + 1) = D(x) - kappa * C(x) + alpha * ((f(x+R+1) - f(x+R)) - (f(x-R) - f(x-R-1))) + gamma * (f(x+R) + f(x-R))
 *     C(x + 1) = C(x) + D(x + 1)
 *
 * kappa = 2 - 2 cos omega and gamma are small, and each has the full precision of float32. So errors grow no faster
 * than those of a plain sum. */
typedef struct {
  int radius;                                /* of the taps */
  double omega, weight[CNV_CPU_COSINES + 1]; /* of the constant, and of cosines of omega, 2 omega and so on */
  float constant;                            /* this and the members below are computed from omega and weight */
  float kappa[CNV_CPU_COSINES], alpha[CNV_CPU_COSINES], gamma[CNV_CPU_COSINES];
  const float *start; /* weights of each of the 2 * radius + 1 samples in each C, then in each D */
} CpuCosines;

/* n steps of running sums down rows or along columns, for n_blocks adjacent blocks of CNV_CPU_BAND sums. Blocks of
 * samples are adjacent, too. */
typedef struct {
  float *to;                 /* result of the first step */
  gsize to_stride, to_block; /* floats from step to step, and from block to block */
  const float *enter;        /* samples R + 1 after each sum; for `start`, samples of the first sums */
  const float *leave;        /* samples R before each sum */
  gsize stride;              /* of enter and leave: floats from step to step */
  int n, n_blocks;
} CpuSlide;

/* The loops of wide taps. A block's state is CNV_CPU_COSINES_STATE floats, 0 at first. */
typedef struct {
  /* Adds n samples to the first sums. first: number of the first of these samples in the sums. */
  void (*start)(float *state, const CpuSlide *slide, int first, const CpuCosines *cosines);
  /* Stores the current sums, then moves on by one sample, n times. */
  void (*slide)(float *state, const CpuSlide *slide, const CpuCosines *cosines);
  /* Transposes CNV_CPU_BAND rows of CNV_CPU_BAND floats. */
  void (*transpose)(float *to, gsize to_stride, const float *from, gsize from_stride);

  /* Adds `step` rows, stride floats apart, to the CNV_CPU_SHARES decimated rows to which they contribute. The last of
   * these is overwritten, because the rows are its first. n is rounded up to CNV_CPU_DECIMATION_BLOCK. */
  void (*decimate)(float *const *to, const float *from, gsize stride, int n, const CpuDecimation *decimation);
  /* Splits n * step pixels into `step` rows of n, stride floats apart: pixel i goes to row i % step. join: the
   * reverse. */
  void (*split)(float *to, gsize stride, const float *from, int n, int step, int channels);
  void (*join)(float *to, const float *from, gsize stride, int n, int step, int channels);
} CpuSimdWide;

/* Number of parts into which a transform of length n, a power of two, is divided: 8 if parts of length 8 * 4^i remain,
 * else 4. */
#define CNV_CPU_RADIX(n) ((n)&0x55555555 ? 8 : 4)

/* Fourier transforms of CNV_CPU_BAND adjacent rows or columns, in place. A number of all transforms is 2 * CNV_CPU_BAND
 * floats: the real parts, then the imaginary parts. n is a power of two, 32 or more. table: from cnv_cpu_fft_table for
 * n. */
typedef struct {
  /* Computes for each k the sum of z[i] * exp(-2 pi i k / n), and stores it at place(k, n). place(k, n) is k if n is 8,
   * else k % radix * (n / radix) + place(k / radix, n / radix). factor is not read. */
  void (*forward)(float *numbers, const float *factor, int n, const float *table);
  /* Reverses forward, times n. Reads numbers in the order in which forward stores them. */
  void (*backward)(float *numbers, const float *factor, int n, const float *table);
  /* Runs forward, multiplies by n factors of each transform, which are in the order of forward, and runs backward. */
  void (*convolve)(float *numbers, const float *factor, int n, const float *table);
} CpuSimdTransform;

/* Symmetric taps in 16 bits, from the middle tap on. The middle tap is halved. */
#define CNV_CPU_FIXED_RADIUS 20 /* largest radius: beyond it decimated taps are faster */
typedef struct {
  int radius, channels; /* channels: samples from tap to tap along a row */
  gint16 tap[CNV_CPU_FIXED_RADIUS + 1];
} CpuFixed;

/* A sample of 0..255 in 16 bits: 64 units per level, relative to the middle. Results of columns have 256 units per
 * level and still fit. */
#define CNV_CPU_FIXED_MIDDLE (255 * 32)
#define CNV_CPU_FIXED_OF(value) ((value)*64 - CNV_CPU_FIXED_MIDDLE)

/* Numbers before and after each half of a row that may be read and written. One half holds the even samples. The odd
 * samples follow `odd` numbers later. Loading and storing bytes then needs no shuffle, and a loaded vector serves two
 * outputs. */
#define CNV_CPU_FIXED_BLOCK 128

/* The loops on 16-bit numbers. n counts samples; for column, it counts numbers of one half, rounded up to a vector.
 * load is NULL if the instruction set has no such loops. */
typedef struct {
  void (*load)(gint16 *to, gsize odd, const guint8 *from, int n);
  /* from: the first output's sample, an even one. */
  void (*row)(gint16 *to, const gint16 *from, gsize odd, int n, const CpuFixed *taps);
  /* Computes CNV_CPU_ROWS rows, stride numbers apart, from 2 * radius more input rows: n numbers of each, from `first`
   * on. Results have 256 units per level. */
  void (*column)(gint16 *to, gsize stride, const gint16 *const *rows, gsize first, int n, const CpuFixed *taps);
  /* Filters columns of both halves and rounds to bytes. Rows of output may coincide. */
  void (*column_to_bytes)(guint8 *const *to, const gint16 *const *rows, gsize odd, int n, const CpuFixed *taps);
  /* Rounds a row that column made and composites it over the input. weight: of each sample, 255 for 1. */
  void (*composite)(guint8 *to, const gint16 *sums, gsize odd, const guint8 *weight, const guint8 *from, int n);
} CpuSimdFixed;

/* Samples of a row that are averaged over time at once, so that the rows of several frames fit in cache. */
#define CNV_CPU_AVERAGE 512

/* A part of a row of several frames, to be averaged with weights by their differences from one of them (plan.h). */
typedef struct {
  int n, center; /* number of frames, and the frame that all others are compared with */
  int channels;
  float weight[CNV_MAX_TEMPORAL_TAPS];
  const float *value[CNV_MAX_TEMPORAL_TAPS];
  const float *column[CNV_MAX_TEMPORAL_TAPS]; /* sums over three rows, from one pixel before the first on */
  const float *scale;                         /* of each sample: 1 / threshold, for the difference of two sums over
                                                 3x3 */
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
  gsize frame, next; /* distances, in numbers, to the sums of the next frame, and of the next three rows */
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

/* The loops of one instruction set. n counts samples. row, column, dense and steps round n up to CNV_CPU_BLOCK. All
 * others accept any n. No array needs to be aligned. */
typedef struct {
  const char *name; /* "avx2" */
  void (*load)(float *to, const void *from, int n, const CpuSamples *samples);
  /* Loads samples times their weights. */
  void (*load_weighed)(float *to, const void *from, const guint8 *weights, int n, const CpuSamples *samples);
  void (*store)(void *to, const float *acc, int n, const CpuSamples *samples);
  /* Composites over the input by the weight of each sample, 0..CNV_WEIGHT_ONE. */
  void (*composite)(void *to, const float *acc, const guint8 *weight, const void *from, int n,
                    const CpuSamples *samples);
  /* Copies the bits of `from` for which the bits of mask are 0, in n bytes. */
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
  /* Compute the next row of prefix sums: to = above + row. `to` may equal `above`. */
  void (*accumulate)(float *to, const float *above, const float *row, int n);
  void (*accumulate_double)(double *to, const double *above, const float *row, int n);
  /* Compute CNV_CPU_ROWS output rows, stride floats apart, from height + CNV_CPU_ROWS - 1 input rows. */
  void (*column)(float *to, gsize stride, const float *const *rows, int n, const CpuTaps *taps);
  void (*dense)(float *to, gsize stride, const float *const *rows, int n, const CpuTaps *taps);
  /* Compute one output row from the steps of the taps. rows: prefix sums, beginning with the row above the first
   * tap. */
  void (*steps)(float *to, const float *const *rows, int n, const CpuStep *steps, int n_steps);
  void (*steps_double)(float *to, const double *const *rows, int n, const CpuStep *steps, int n_steps);
  const CpuSimdWide *wide;
  const CpuSimdFixed *fixed;
  const CpuSimdTransform *transform;
  const CpuSimdTime *time;
} CpuSimd;

extern const CpuSimd cnv_cpu_simd_plain;  /* for any machine of the architecture */
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
