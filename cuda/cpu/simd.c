/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The vector loops, compiled once for each instruction set with CNV_SIMD set to its name. Filters use the compilers'
 * vector types, to control which sums stay in registers. Conversions between samples and floats are plain loops that
 * end with the row. Compilers vectorise those by themselves.
 */
#include <math.h>
#include <string.h>

#include "cpu/simd.h"
#include "cpu/vector.h"

/* Sums in registers: enough for two multiply-adds per cycle with a latency of four. */
#define VECTORS 8
#define COLUMN_VECTORS (VECTOR_BYTES == 64 ? 4 : 2) /* times CNV_CPU_ROWS: 16 of 32 registers, or 8 of 16 */

#define FEW_TAPS 81 /* most dense taps that one float32 sum adds up with enough precision */

typedef guint16 LooseSample __attribute__((aligned(1), may_alias)); /* strides of 16-bit planes may be odd */

G_STATIC_ASSERT(LANES <= CNV_CPU_SLACK);
G_STATIC_ASSERT(CNV_CPU_BLOCK % (LANES * VECTORS) == 0);

/* The next two functions are for samples of 1 byte, all bits of which are the value, or of 2 bytes. Compilers make a
 * loop for each size. */
static inline float
value_of(const void *from, int i, const CpuSamples *samples)
{
  const guint8 *narrow = from;
  const LooseSample *wide = from;

  return (float)(samples->bytes == 1 ? narrow[i] : (GUINT16_FROM_LE(wide[i]) >> samples->shift) & samples->full);
}

static inline void
put_value(void *to, int i, guint32 bits, const CpuSamples *samples)
{
  guint8 *narrow = to;
  LooseSample *wide = to;

  if (samples->bytes == 1)
    narrow[i] = (guint8)bits;
  else
    wide[i] = GUINT16_TO_LE((guint16)(bits << samples->shift));
}

static void
load(float *restrict to, const void *restrict from, int n, const CpuSamples *given)
{
  const CpuSamples samples = *given; /* a copy, because the compiler must assume that `to` may overlap the original */

  for (int i = 0; i < n; i++)
    to[i] = value_of(from, i, &samples) - samples.mid;
}

ALWAYS_INLINE void
load_values_weighed(float *restrict to, const void *restrict from, const guint8 *restrict weights, int n,
                    const CpuSamples samples)
{
  for (int i = 0; i < n; i++)
    to[i] = (value_of(from, i, &samples) - samples.mid) * weights[i];
}

static void
load_weighed(float *to, const void *from, const guint8 *weights, int n, const CpuSamples *samples)
{
  CpuSamples sized = *samples;

  if (samples->bytes == 1) {
    sized.bytes = 1;
    load_values_weighed(to, from, weights, n, sized);
  } else {
    sized.bytes = 2;
    load_values_weighed(to, from, weights, n, sized);
  }
}

/* Rounds a sum to a sample. Clamping after rounding keeps the limits constant for any base, and the result cannot wrap.
 * In CNV_CPU_ROUND plus an integer, the lowest bits of the float are the integer. The lowest 16 bits of the result are
 * the sample; ignore all others. */
static inline guint32
round_sample(float acc, float gain, float fraction, float rounder, float top)
{
  float sum = acc * gain + fraction + rounder;
  guint32 bits;

  sum = sum > CNV_CPU_ROUND ? sum : CNV_CPU_ROUND;
  sum = sum < top ? sum : top;
  memcpy(&bits, &sum, sizeof(bits));
  return bits;
}

static void
store(void *restrict to, const float *restrict acc, int n, const CpuSamples *given)
{
  const CpuSamples samples = *given;
  const float *gain = samples.gain, *fraction = samples.fraction, *rounder = samples.round;
  float top = CNV_CPU_ROUND + (float)samples.full;

  for (int i = 0; i < n; i++)
    put_value(to, i, round_sample(acc[i], gain[i], fraction[i], rounder[i], top), &samples);
}

/* Rounds a sum v like round_sample, but composites it over the input first. v already includes gain and fraction. rest:
 * the input's weight. */
static inline guint32
composite_sample(float v, float rest, float in, float rounder, float top)
{
  float base = rounder - CNV_CPU_ROUND, low = -base, high = top - rounder;

  v = v > low ? v : low;
  v = v < high ? v : high;
  return round_sample(v + rest * (in - base - v), 1, 0, rounder, top);
}

ALWAYS_INLINE void
composite_values(void *restrict to, const float *restrict acc, const guint8 *restrict weight, const void *restrict from,
                 int n, const CpuSamples samples)
{
  const float *gain = samples.gain, *fraction = samples.fraction, *rounder = samples.round;
  float top = CNV_CPU_ROUND + (float)samples.full;

  for (int i = 0; i < n; i++) {
    float v = acc[i] * gain[i] + fraction[i], in = value_of(from, i, &samples);

    float rest = (float)(CNV_WEIGHT_ONE - weight[i]) * (1.0f / CNV_WEIGHT_ONE); /* exactly 0 or 1 at the ends */

    put_value(to, i, composite_sample(v, rest, in, rounder[i], top), &samples);
  }
}

/* Has a call for each size of samples, because compilers do not split such a long loop by themselves. */
static void
composite(void *to, const float *acc, const guint8 *weight, const void *from, int n, const CpuSamples *samples)
{
  CpuSamples sized = *samples;

  if (samples->bytes == 1) {
    sized.bytes = 1;
    composite_values(to, acc, weight, from, n, sized);
  } else {
    sized.bytes = 2;
    composite_values(to, acc, weight, from, n, sized);
  }
}

static void
merge(void *restrict to, const void *restrict from, const void *restrict mask, int n)
{
  guint8 *out = to;
  const guint8 *in = from, *bits = mask;

  for (int i = 0; i < n; i++)
    out[i] = (guint8)((out[i] & bits[i]) | (in[i] & ~bits[i]));
}

static void
add_scaled(float *restrict acc, const float *restrict more, float factor, int n)
{
  for (int i = 0; i < n; i++)
    acc[i] += factor * more[i];
}

static void
scale(float *acc, float factor, int n)
{
  for (int i = 0; i < n; i++)
    acc[i] *= factor;
}

static void
multiply(float *restrict acc, const float *restrict factor, int n)
{
  for (int i = 0; i < n; i++)
    acc[i] *= factor[i];
}

static void
absolute(float *restrict acc, const float *restrict mid_bias, int n)
{
  for (int i = 0; i < n; i++)
    acc[i] = fabsf(acc[i] + mid_bias[i]);
}

static void
magnitude(float *restrict acc, const float *restrict other, int n)
{
  for (int i = 0; i < n; i++)
    acc[i] = sqrtf(acc[i] * acc[i] + other[i] * other[i]);
}

static void
norms(float *restrict to, const float *restrict from, int n, float norm, float least)
{
  for (int i = 0; i < n; i++)
    to[i] = fabsf(from[i]) <= least ? 0 : norm / from[i];
}

ALWAYS_INLINE gboolean
divide_pixels(float *restrict acc, const float *restrict norms, int n, const int channels)
{
  gint32 any = 0;

  for (int i = 0; i < n; i++) {
    float norm = norms[i];

    any |= norm == 0;
    for (int c = 0; c < channels; c++)
      acc[i * channels + c] *= norm;
  }
  return any;
}

static gboolean
divide(float *acc, const float *norms, int n, int channels)
{
  if (channels == 1)
    return divide_pixels(acc, norms, n, 1);
  if (channels == 2)
    return divide_pixels(acc, norms, n, 2);
  if (channels == 3)
    return divide_pixels(acc, norms, n, 3);
  return divide_pixels(acc, norms, n, 4);
}

static void
multiply_row(float *restrict to, const float *restrict from, int n, const CpuTaps *taps)
{
  const float *restrict tap = taps->tap;
  int n_taps = taps->width, channels = taps->channels;

  for (int x = 0; x < n; x += VECTORS * LANES) {
    Vector acc[VECTORS] = {{0}};
    const float *at = from + x;

    for (int t = 0; t < n_taps; t++, at += channels)
      for (int v = 0; v < VECTORS; v++)
        acc[v] += tap[t] * load_vector(at + v * LANES);
    for (int v = 0; v < VECTORS; v++)
      store_vector(to + x + v * LANES, acc[v]);
  }
}

/* Adds from[i + distance] to from[i] for all i below n, in ascending order, so that only original values are read. */
static void
add_shifted(float *from, int n, int distance)
{
  for (int i = 0; i < n; i += LANES)
    store_vector(from + i, load_vector(from + i) + load_vector(from + i + distance));
}

/* Adds up the samples of equal taps by doubling: at each power of two `size`, from[i] is the sum of `size` samples from
 * i on. The sums whose sizes add up to the number of equal taps are added to `to`. */
static void
sum_row(float *restrict to, float *restrict from, int n, const CpuTaps *taps)
{
  int n_equal = taps->equal.n, at = taps->equal.first, channels = taps->channels;
  const float *tap = taps->tap;

  memset(to, 0, n * sizeof(float));
  for (int t = 0; t < taps->width; t++)
    if (t < at || t >= at + n_equal)
      add_scaled(to, from + t * channels, tap[t], n);
  /* Vectors read and write beyond the row. Clear that part, so that its values do not grow from row to row. */
  memset(from + n + (taps->width - 1) * channels, 0, CNV_CPU_SLACK * sizeof(float));
  for (int size = 1; size <= n_equal; size *= 2) {
    if (n_equal & size) {
      add_scaled(to, from + at * channels, tap[taps->equal.first], n);
      at += size;
    }
    if (2 * size <= n_equal)
      add_shifted(from, n + (taps->width - 2 * size) * channels, size * channels);
  }
}

static void
filter_row(float *to, float *from, int n, const CpuTaps *taps)
{
  if (taps->equal.n)
    sum_row(to, from, n, taps);
  else
    multiply_row(to, from, n, taps);
}

static void
accumulate(float *to, const float *above, const float *row, int n)
{
  for (int i = 0; i < n; i++)
    to[i] = above[i] + row[i];
}

static void
accumulate_double(double *to, const double *above, const float *row, int n)
{
  for (int i = 0; i < n; i++)
    to[i] = above[i] + row[i];
}

/* Adds input row y to output rows first to last - 1. Output row i uses row y - i of the taps. */
ALWAYS_INLINE void
add_row(Vector acc[CNV_CPU_ROWS][COLUMN_VECTORS], const float *restrict from, int y, const CpuTaps *taps,
        const int first, const int last)
{
  int width = taps->width, channels = taps->channels;
  const float *restrict tap = taps->tap + (gsize)y * width;

  for (int t = 0; t < width; t++, from += channels, tap++)
    for (int v = 0; v < COLUMN_VECTORS; v++) {
      Vector in = load_vector(from + v * LANES);

      for (int i = first; i < last; i++)
        acc[i][v] += *(tap - i * width) * in;
    }
}

static inline void
store_rows(float *restrict to, gsize stride, Vector acc[CNV_CPU_ROWS][COLUMN_VECTORS])
{
  for (int i = 0; i < CNV_CPU_ROWS; i++)
    for (int v = 0; v < COLUMN_VECTORS; v++)
      store_vector(to + i * stride + v * LANES, acc[i][v]);
}

/* Keeps sums in registers. The first and last input rows contribute to only some of the output rows. */
ALWAYS_INLINE void
filter_rows(float *restrict to, gsize stride, const float *const *rows, int n, const CpuTaps *taps)
{
  int height = taps->height;

  for (int x = 0; x < n; x += COLUMN_VECTORS * LANES) {
    Vector acc[CNV_CPU_ROWS][COLUMN_VECTORS] = {{{0}}};

    if (height > 2) {
      add_row(acc, rows[0] + x, 0, taps, 0, 1);
      add_row(acc, rows[1] + x, 1, taps, 0, 2);
      add_row(acc, rows[2] + x, 2, taps, 0, 3);
    }
    for (int y = height > 2 ? 3 : 0; y < (height > 2 ? height : height + 3); y++)
      add_row(acc, rows[y] + x, y, taps, 0, 4);
    if (height > 2) {
      add_row(acc, rows[height] + x, height, taps, 1, 4);
      add_row(acc, rows[height + 1] + x, height + 1, taps, 2, 4);
      add_row(acc, rows[height + 2] + x, height + 2, taps, 3, 4);
    }
    store_rows(to + x, stride, acc);
  }
}
G_STATIC_ASSERT(CNV_CPU_ROWS == 4);

static void
filter_column(float *to, gsize stride, const float *const *rows, int n, const CpuTaps *taps)
{
  const CpuTaps column = {.tap = taps->tap, .width = 1, .height = taps->height}; /* a constant width of 1, for which
                                                                                    compilers make a loop of its own */

  filter_rows(to, stride, rows, n, &column);
}

/* Adds up each row of taps separately, which keeps float32 exact over many thousand taps. */
static void
add_row_by_itself(float *restrict to, gsize stride, const float *restrict from, int y, const CpuTaps *taps)
{
  Vector acc[CNV_CPU_ROWS][COLUMN_VECTORS] = {{{0}}};

  add_row(acc, from, y, taps, 0, CNV_CPU_ROWS);
  for (int i = 0; i < CNV_CPU_ROWS; i++)
    for (int v = 0; v < COLUMN_VECTORS; v++)
      acc[i][v] += load_vector(to + i * stride + v * LANES);
  store_rows(to, stride, acc);
}

static void
filter_dense(float *restrict to, gsize stride, const float *const *rows, int n, const CpuTaps *taps)
{
  if (taps->width == 3 && taps->height == 3) {
    const CpuTaps nine = {.tap = taps->tap, .width = 3, .height = 3, .channels = taps->channels}; /* to unroll */

    filter_rows(to, stride, rows, n, &nine);
    return;
  }
  if (taps->width * taps->height <= FEW_TAPS) {
    filter_rows(to, stride, rows, n, taps);
    return;
  }
  for (int x = 0; x < n; x += COLUMN_VECTORS * LANES) {
    for (int i = 0; i < CNV_CPU_ROWS; i++)
      memset(to + i * stride + x, 0, COLUMN_VECTORS * VECTOR_BYTES);
    for (int y = 0; y < taps->height + CNV_CPU_ROWS - 1; y++)
      add_row_by_itself(to + x, stride, rows[y] + x, y, taps);
  }
}

static void
filter_steps(float *restrict to, const float *const *rows, int n, const CpuStep *steps, int n_steps)
{
  for (int x = 0; x < n; x += VECTORS * LANES) {
    Vector acc[VECTORS] = {{0}};

    for (const CpuStep *step = steps; step < steps + n_steps; step++) {
      const float *from = rows[step->row] + step->at + x;

      for (int v = 0; v < VECTORS; v++)
        acc[v] += step->weight * load_vector(from + v * LANES);
    }
    for (int v = 0; v < VECTORS; v++)
      store_vector(to + x + v * LANES, acc[v]);
  }
}

static void
filter_steps_double(float *restrict to, const double *const *rows, int n, const CpuStep *steps, int n_steps)
{
  for (int x = 0; x < n; x += VECTORS * LANES / 2) {
    Doubles acc[VECTORS] = {{0}};

    for (const CpuStep *step = steps; step < steps + n_steps; step++) {
      const LooseDoubles *from = (const LooseDoubles *)(rows[step->row] + step->at + x);

      for (int v = 0; v < VECTORS; v++)
        acc[v] += (double)step->weight * from[v];
    }
    for (int v = 0; v < VECTORS; v++)
      ((LooseHalf *)(to + x))[v] = __builtin_convertvector(acc[v], LooseHalf);
  }
}

const CpuSimd G_PASTE(cnv_cpu_simd_, CNV_SIMD) = {
    .name = G_STRINGIFY(CNV_SIMD),
    .load = load,
    .load_weighed = load_weighed,
    .store = store,
    .composite = composite,
    .merge = merge,
    .norms = norms,
    .divide = divide,
    .add_scaled = add_scaled,
    .scale = scale,
    .multiply = multiply,
    .absolute = absolute,
    .magnitude = magnitude,
    .row = filter_row,
    .accumulate = accumulate,
    .accumulate_double = accumulate_double,
    .column = filter_column,
    .dense = filter_dense,
    .steps = filter_steps,
    .steps_double = filter_steps_double,
    .wide = &G_PASTE(cnv_cpu_wide_, CNV_SIMD),
    .fixed = &G_PASTE(cnv_cpu_fixed_, CNV_SIMD),
    .transform = &G_PASTE(cnv_cpu_transform_, CNV_SIMD),
    .time = &G_PASTE(cnv_cpu_time_, CNV_SIMD),
};
