/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The vector loops of the CPU engine, as one table of functions for each instruction set. Between load and store a row
 * is a flat array of float32 samples; a pixel's channels are told apart only by the distance between taps, so that one
 * loop serves every format.
 */
#pragma once

#include <glib.h>

#include "plan/job.h"

/* The filters work on rows padded to a multiple of this many floats: what one pass holds in registers at the widest
 * vectors. Buffers are padded to it; samples of a frame are never touched beyond their row. */
#define CNV_CPU_BLOCK 128

/* Output rows of one call of the column or the dense filter: each input vector loaded serves so many. */
#define CNV_CPU_ROWS 4

/* Floats beyond a loaded row that a function may read: a vector. */
#define CNV_CPU_SLACK 16

/* Numbers that slide together: rows of a band, each with its own sums. The widest vector. */
#define CNV_CPU_BAND 16
#define CNV_CPU_SQUARE (CNV_CPU_BAND * CNV_CPU_BAND)

/* Cosines that taps may be made of, beside a constant. */
#define CNV_CPU_COSINES 5
#define CNV_CPU_COSINES_STATE ((2 * CNV_CPU_COSINES + 3) * CNV_CPU_BAND)

/* Rounds to an integer, ties to even, when added to a float32 below 2^22: 1.5 * 2^23. */
#define CNV_CPU_ROUND 12582912.0f

/* Of functions whose constant arguments make them a loop each: compilers leave large ones alone otherwise. */
#define ALWAYS_INLINE static inline __attribute__((always_inline))

/* Samples become numbers, value - mid, and sums become samples, clamp(rint(gain * acc + fraction) + base), round
 * being CNV_CPU_ROUND + base. A base is even, so that ties still go to even. The arrays have a number for each sample
 * of a row. */
typedef struct {
  int bytes, shift, full; /* 1 or 2; of the value in a sample, and 2^depth - 1 */
  float mid;
  float *gain, *fraction, *round;
} CpuSamples;

/* Taps first to first + n - 1 of an axis. */
typedef struct {
  int first, n;
} CpuTapRange;

/* Taps of an axis, or of a dense kernel. */
typedef struct {
  const float *tap; /* dense: height rows of width; these and a column with CNV_CPU_ROWS - 1 rows of zeros before and
                       after them */
  int width, height;
  int channels;    /* floats from tap to tap along a row */
  CpuTapRange run; /* of an axis: all alike, to be summed rather than multiplied tap by tap; n 0: none */
} CpuTaps;

/* Where a tap and the one below it differ: of the sum of all samples of a column down to a row, so much counts. */
typedef struct {
  int row, at; /* floats from the row's first */
  float weight;
} CpuStep;

/* The most samples that are blended to one, the samples that each counts for, and taps for blended ones. */
#define CNV_CPU_COARSEST 16
#define CNV_CPU_BLENDED 4
#define CNV_CPU_BLENDED_BLOCK 64 /* floats that are blended at once */
#define CNV_CPU_COARSE_TAPS 81

/* Taps of an axis as few taps for blended samples. Blended sample q lies on sample step * q. */
typedef struct {
  int step;                                                /* 0: there are no such taps */
  int radius;                                              /* of the few */
  float tap[CNV_CPU_COARSE_TAPS + 2 * (CNV_CPU_ROWS - 1)]; /* with zeros before and after them */
  /* Weight of sample step * q + i in blended sample q - 1 + m; times step: of that one's result in the sample's. */
  float blend[CNV_CPU_COARSEST][CNV_CPU_BLENDED];
} CpuCoarse;

/* Symmetric taps as a constant and cosines. With f the samples and R the radius, the weighted sum
 * C(x) = sum of w * cos(omega * k) * f(x + k) over |k| <= R slides by
 *
 *     D(x + 1) = D(x) - kappa * C(x) + alpha * ((f(x+R+1) - f(x+R)) - (f(x-R) - f(x-R-1))) + gamma * (f(x+R) + f(x-R))
 *     C(x + 1) = C(x) + D(x + 1)
 *
 * kappa = 2 - 2 cos omega and gamma are small, and by themselves exact to float32, so that errors do not grow faster
 * than those of a sum. */
typedef struct {
  int radius;                                /* of the taps */
  double omega, weight[CNV_CPU_COSINES + 1]; /* of the constant, and of cosines of omega, 2 omega and so on */
  float constant;                            /* these make the rest */
  float kappa[CNV_CPU_COSINES], alpha[CNV_CPU_COSINES], gamma[CNV_CPU_COSINES];
  const float *start; /* of each of the 2 * radius + 1 samples its weight in each C and then in each D */
} CpuCosines;

/* Sums that slide over samples: n steps down rows or along columns, of n_blocks blocks. CNV_CPU_BAND numbers of one
 * step stand side by side, and so do the blocks of samples. */
typedef struct {
  float *to;                 /* of the first step */
  gsize to_stride, to_block; /* floats from step to step, and from block to block */
  const float *enter;        /* R + 1 beyond each sum; the samples of sums that are to be started */
  const float *leave;        /* R before it */
  gsize stride;              /* of these two */
  int n, n_blocks;
} CpuRun;

/* The loops of wide taps. A block's state is CNV_CPU_COSINES_STATE floats, 0 at first. */
typedef struct {
  /* Takes the samples that enter into sums that are to be started, the first of them number `first` of all. */
  void (*start)(float *state, const CpuRun *run, int first, const CpuCosines *cosines);
  /* Makes sums, the first where the state stands, and slides. */
  void (*run)(float *state, const CpuRun *run, const CpuCosines *cosines);
  /* CNV_CPU_BAND rows of as many floats become columns. */
  void (*transpose)(float *to, gsize to_stride, const float *from, gsize from_stride);

  /* Blends `step` rows, stride floats apart, into the sums of CNV_CPU_BLENDED rows; the last of these begins with
   * them. n is rounded up to CNV_CPU_BLENDED_BLOCK. */
  void (*blend)(float *const *to, const float *from, gsize stride, int n, const CpuCoarse *coarse);
  /* Tells n * step pixels apart by their place among `step`: rows of n, stride floats apart. And back. */
  void (*split)(float *to, gsize stride, const float *from, int n, int step, int channels);
  void (*join)(float *to, const float *from, gsize stride, int n, int step, int channels);
} CpuSimdWide;

/* Parts that a transform of length n, a power of two, cuts it into: 8 if that leaves 8 * 4^i. */
#define CNV_CPU_RADIX(n) ((n)&0x55555555 ? 8 : 4)

/* Fourier transforms of CNV_CPU_BAND rows or columns side by side, in place. Number i of all of them is CNV_CPU_BAND
 * real parts, from 2 * CNV_CPU_BAND * i on, followed by the imaginary parts. n is a power of two, 32 or more; table is
 * cnv_cpu_fft_table's for n. */
typedef struct {
  /* Computes for each k the sum of z[i] * exp(-2 pi i k / n). It stands at place(k, n), which is k if n is 8, else
   * k % radix * (n / radix) + place(k / radix, n / radix). factor is not read. */
  void (*forward)(float *numbers, const float *factor, int n, const float *table);
  /* Takes numbers in that order. Of what forward computes it gives n times the numbers that forward was given. */
  void (*backward)(float *numbers, const float *factor, int n, const float *table);
  /* Does both, and multiplies by n factors of each transform between them, which are in the same order. */
  void (*convolve)(float *numbers, const float *factor, int n, const float *table);
} CpuSimdTransform;

/* Symmetric taps, from the middle on, in 16 bits: of the middle one's tap half. */
#define CNV_CPU_FIXED_RADIUS 20 /* up to here they are faster than few taps */
typedef struct {
  int radius, channels; /* channels: samples from tap to tap along a row */
  gint16 tap[CNV_CPU_FIXED_RADIUS + 1];
} CpuFixed;

/* A sample of 0..255 in 16 bits: 64 units a level, about the middle, so that 256 a level have room. */
#define CNV_CPU_FIXED_MIDDLE (255 * 32)
#define CNV_CPU_FIXED_OF(value) ((value)*64 - CNV_CPU_FIXED_MIDDLE)

/* The even samples of a row stand apart from the odd ones, `odd` numbers before them, so that loading and storing bytes
 * takes no shuffle, and a loaded vector serves two outputs. Along a row as many numbers may be read and written before
 * each half and behind it. */
#define CNV_CPU_FIXED_BLOCK 128

/* n counts samples; for column, numbers of one half, rounded up to a vector. load NULL: there are none. */
typedef struct {
  void (*load)(gint16 *to, gsize odd, const guint8 *from, int n);
  /* from: the first output's sample, an even one. */
  void (*row)(gint16 *to, const gint16 *from, gsize odd, int n, const CpuFixed *taps);
  /* CNV_CPU_ROWS rows of output from 2 * radius more, 256 units a level: numbers first on, stride apart. */
  void (*column)(gint16 *to, gsize stride, const gint16 *const *rows, gsize first, int n, const CpuFixed *taps);
  /* The same of both halves, rounded; some of the rows of output may be one. */
  void (*column_to_bytes)(guint8 *const *to, const gint16 *const *rows, gsize odd, int n, const CpuFixed *taps);
  /* Blends a row that column has made with the input, rounded. weight: of each sample, of 255. */
  void (*blend)(guint8 *to, const gint16 *sums, gsize odd, const guint8 *weight, const guint8 *from, int n);
} CpuSimdFixed;

/* n counts samples. row, column, dense and steps round n up to CNV_CPU_BLOCK, the others take any n; none asks for an
 * alignment. */
typedef struct {
  const char *name; /* "avx2" */
  void (*load)(float *to, const void *from, int n, const CpuSamples *samples);
  /* The same times a weight for each sample. */
  void (*load_weighed)(float *to, const void *from, const guint8 *weights, int n, const CpuSamples *samples);
  void (*store)(void *to, const float *acc, int n, const CpuSamples *samples);
  /* The same blended with the input, each sample having its weight, of CNV_WEIGHT_ONE. */
  void (*blend)(void *to, const float *acc, const guint8 *weight, const void *from, int n, const CpuSamples *samples);
  /* Takes the bits of from where those of mask are 0, in n bytes. */
  void (*merge)(void *to, const void *from, const void *mask, int n);

  /* Normalised convolution, of n pixels. weigh: the next channels - 1 of `stored` samples times the pixel's weight, and
   * the weight. unweigh: sums become means, times norm; the other ones of `stored` become 0. Where the sum of weights
   * is at most `least`, none[i] is TRUE and the mean is no number to use. Returns TRUE if one is. */
  void (*weigh)(float *to, const float *from, const guint8 *weights, int n, int stored, int channels);
  gboolean (*unweigh)(float *to, guint8 *none, const float *from, int n, int stored, int channels, float norm,
                      float least);

  /* The same with the weight apart. norms: norm divided by each sum of weights, or 0 where that is at most `least`.
   * divide: multiplies n pixels by their norms and a factor. Returns TRUE if one is 0. */
  void (*norms)(float *to, const float *from, int n, float norm, float least);
  gboolean (*divide)(float *acc, const float *norms, float factor, int n, int channels);

  void (*add_scaled)(float *acc, const float *more, float factor, int n);
  void (*scale)(float *acc, float factor, int n);
  void (*multiply)(float *acc, const float *factor, int n);
  void (*absolute)(float *acc, const float *mid_bias, int n); /* |acc + mid_bias| */
  void (*magnitude)(float *acc, const float *other, int n);   /* root of the sum of squares */

  /* Filters along a row. Taps of a run are added up as sums of 1, 2, 4... samples: the time grows with the logarithm of
   * their number. from holds n + (width - 1) * channels samples and CNV_CPU_SLACK numbers more, and is then spoilt. */
  void (*row)(float *to, float *from, int n, const CpuTaps *taps);
  /* The next row of prefix sums: to = above + row. to may be above. */
  void (*accumulate)(float *to, const float *above, const float *row, int n);
  void (*accumulate_double)(double *to, const double *above, const float *row, int n);
  /* CNV_CPU_ROWS rows of output, stride floats apart, from height + CNV_CPU_ROWS - 1 rows. */
  void (*column)(float *to, gsize stride, const float *const *rows, int n, const CpuTaps *taps);
  void (*dense)(float *to, gsize stride, const float *const *rows, int n, const CpuTaps *taps);
  /* One row of output of dense taps as steps: rows of sums, that above the first tap's row first. */
  void (*steps)(float *to, const float *const *rows, int n, const CpuStep *steps, int n_steps);
  void (*steps_double)(float *to, const double *const *rows, int n, const CpuStep *steps, int n_steps);
  const CpuSimdWide *wide;
  const CpuSimdFixed *fixed;
  const CpuSimdTransform *transform;
} CpuSimd;

extern const CpuSimd cnv_cpu_simd_plain;  /* for any machine of the family */
extern const CpuSimd cnv_cpu_simd_neon;   /* the same on 64-bit ARM, whose machines all have NEON */
extern const CpuSimd cnv_cpu_simd_avx2;   /* x86-64 alone */
extern const CpuSimd cnv_cpu_simd_avx512; /* x86-64 alone */

/* Returns the set of that name if the machine has it, else the best one. */
const CpuSimd *cnv_cpu_choose_simd(const char *wanted);

extern const CpuSimdWide cnv_cpu_wide_plain, cnv_cpu_wide_neon, cnv_cpu_wide_avx2, cnv_cpu_wide_avx512;
extern const CpuSimdFixed cnv_cpu_fixed_plain, cnv_cpu_fixed_neon, cnv_cpu_fixed_avx2, cnv_cpu_fixed_avx512;
extern const CpuSimdTransform cnv_cpu_transform_plain, cnv_cpu_transform_neon, cnv_cpu_transform_avx2,
    cnv_cpu_transform_avx512;
