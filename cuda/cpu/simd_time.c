/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Averages over time (simd.h), compiled once for each instruction set, like simd.c.
 */
#include "cpu/simd.h"

#include <string.h>

#include "cpu/shorts.h"

/* ---- float32 ---- */

static inline Vector
and_mask(Vector vector, Numbers mask)
{
  return (Vector)((Numbers)vector & mask);
}

/* s^2 * (3 - 2 s) with s = 1.5 - |difference| * scale, clamped to 0..1. */
static inline Vector
closeness(Vector difference, Vector scale)
{
  Vector magnitude = and_mask(difference, (Numbers){0} + G_MAXINT32);
  Vector rest = magnitude * scale - 0.5f; /* 1 - s */
  Vector s;

  rest = and_mask(rest, rest > 0);
  s = 1 - rest;
  s = and_mask(s, s > 0);
  return s * s * (3 - 2 * s);
}

static inline Vector
sum_of_three(const float *column, int channels)
{
  return load_vector(column) + load_vector(column + channels) + load_vector(column + 2 * channels);
}

static void
average(float *to, const CpuAverage *a, int n)
{
  const int channels = a->channels, center = a->center;
  float sum = 0;

  for (int k = 0; k < a->n; k++)
    sum += a->weight[k];
  for (int i = 0; i < n; i += LANES) {
    Vector own = sum_of_three(a->column[center] + i, channels), scale = load_vector(a->scale + i);
    Vector weights = (Vector){0} + a->weight[center], acc = load_vector(a->value[center] + i) * a->weight[center];

    for (int k = 0; k < a->n; k++) {
      Vector weight;

      if (k == center)
        continue;
      weight = closeness(sum_of_three(a->column[k] + i, channels) - own, scale) * a->weight[k];
      acc += weight * load_vector(a->value[k] + i);
      weights += weight;
    }
    store_vector(to + i, acc * sum / weights);
  }
}

#ifdef HAVE_UPPER_HALF

/* ---- samples in 16 bits ---- */

/* Loads the first n bytes of a vector at most. */
static inline Shorts
load_part(const guint8 *from, int n)
{
  Shorts part = {0};

  if (n >= VECTOR_BYTES)
    return load_shorts(from);
  if (n > 0)
    memcpy(&part, from, n);
  return part;
}

/* Loads 2 * SHORTS samples, of which n exist. Of two bytes in a number the even sample is the lower one. */
ALWAYS_INLINE void
load_pair(Shorts to[2], const guint8 *from, int n, const int bytes, int shift, guint16 full)
{
  if (bytes == 1) {
    Shorts both = load_part(from, n);

    to[0] = both & 255;
    to[1] = both >> 8;
  } else {
    to[0] = load_part(from, 2 * n) >> shift & full;
    to[1] = load_part(from + VECTOR_BYTES, 2 * n - VECTOR_BYTES) >> shift & full;
  }
}

ALWAYS_INLINE void
store_pair(guint8 *to, const Shorts from[2], int n, const int bytes, int shift)
{
  Shorts bits[2];

  bits[0] = bytes == 1 ? from[0] | from[1] << 8 : from[0] << shift;
  bits[1] = from[1] << shift;
  if (n >= 2 * SHORTS) {
    store_shorts(to, bits[0]);
    if (bytes == 2)
      store_shorts(to + VECTOR_BYTES, bits[1]);
  } else {
    memcpy(to, bits, (gsize)n * bytes);
  }
}

/* Returns the place of the number that is `offset` after number `half` of a pair that begins at x. */
ALWAYS_INLINE gsize
place_of(gsize odd, int x, int half, int offset, const int bytes)
{
  return bytes == 1 ? (half + offset) % 2 * odd + (x + half + offset) / 2 : (gsize)(x + half * SHORTS + offset);
}

ALWAYS_INLINE void
sum_columns(gint16 *restrict to, gsize odd, const guint8 *const rows[3], int n, const int bytes, int shift, int full)
{
  for (int x = 0; x < n; x += 2 * SHORTS) {
    Shorts sum[2] = {{0}}, row[2];

    for (int i = 0; i < 3; i++) {
      load_pair(row, rows[i] + (gsize)x * bytes, n - x, bytes, shift, (guint16)full);
      sum[0] += row[0];
      sum[1] += row[1];
    }
    store_shorts(to + place_of(odd, x, 0, 0, bytes), sum[0]);
    store_shorts(to + place_of(odd, x, 1, 0, bytes), sum[1]);
  }
}

static void
columns(gint16 *to, gsize odd, const guint8 *const rows[3], int n, const CpuSamples *samples)
{
  if (samples->bytes == 1)
    sum_columns(to, odd, rows, n, 1, 0, 255);
  else
    sum_columns(to, odd, rows, n, 2, samples->shift, samples->full);
}

ALWAYS_INLINE Shorts
sum_of_columns(const CpuNarrowAverage *a, int k, int x, int half, const int channels, const int bytes)
{
  const gint16 *column = a->column[k];

  return load_shorts(column + place_of(a->odd, x, half, 0, bytes)) +
         load_shorts(column + place_of(a->odd, x, half, channels, bytes)) +
         load_shorts(column + place_of(a->odd, x, half, 2 * channels, bytes));
}

/* Returns the weights of frame k, whose sums over 3x3 differ by a number from those of frame 0. */
static inline Shorts
weigh_frame(const CpuNarrowAverage *a, int k, Shorts difference)
{
  Shorts zero = {0}, amount = smaller_of(magnitude_of(difference), a->most + zero) * a->step;
  Shorts p = smaller_of(subtract_to_zero(a->fall + zero, amount), a->near + zero);

  return upper_half(upper_half(p, p), upper_half_unsigned(a->fall - p, a->weight[k] + zero));
}

/* Returns the quotients of sums, rounded. */
static inline Shorts
divide(const Numbers sum[2], Shorts weights)
{
  Numbers parts[2];

  split_shorts(parts, weights);
  for (int i = 0; i < 2; i++) {
    Vector quotient = __builtin_convertvector(sum[i], Vector) / __builtin_convertvector(parts[i], Vector);

    parts[i] = (Numbers)(quotient + CNV_CPU_ROUND) & 0x7fff;
  }
  return join_shorts(parts);
}

ALWAYS_INLINE void
average_samples(guint8 *restrict to, const CpuNarrowAverage *restrict a, int n, const int channels, const int bytes)
{
  for (int x = 0; x < n; x += 2 * SHORTS) {
    Shorts zero = {0}, value[2][2], own[2], weights[2];
    Numbers sum[2][2] = {{{0}}};

    load_pair(value[0], a->value[0] + (gsize)x * bytes, n - x, bytes, a->shift, (guint16)a->full);
    for (int half = 0; half < 2; half++) {
      own[half] = sum_of_columns(a, 0, x, half, channels, bytes);
      weights[half] = a->own + zero;
      add_products(sum[half], value[0][half], weights[half], zero, zero);
    }
    for (int k = 1; k < a->n; k += 2) {
      load_pair(value[0], a->value[k] + (gsize)x * bytes, n - x, bytes, a->shift, (guint16)a->full);
      load_pair(value[1], a->value[k + 1] + (gsize)x * bytes, n - x, bytes, a->shift, (guint16)a->full);
      for (int half = 0; half < 2; half++) {
        Shorts first = weigh_frame(a, k, sum_of_columns(a, k, x, half, channels, bytes) - own[half]);
        Shorts second = weigh_frame(a, k + 1, sum_of_columns(a, k + 1, x, half, channels, bytes) - own[half]);

        weights[half] += first + second;
        add_products(sum[half], value[0][half], first, value[1][half], second);
      }
    }
    for (int half = 0; half < 2; half++)
      value[0][half] = divide(sum[half], weights[half]);
    store_pair(to + (gsize)x * bytes, value[0], n - x, bytes, a->shift);
  }
}

static void
average_narrow(guint8 *to, const CpuNarrowAverage *a, int n)
{
  if (a->bytes == 1 && a->channels == 1)
    average_samples(to, a, n, 1, 1);
  else if (a->bytes == 1)
    average_samples(to, a, n, a->channels, 1);
  else
    average_samples(to, a, n, a->channels, 2);
}

const CpuSimdTime G_PASTE(cnv_cpu_time_,
                          CNV_SIMD) = {.average = average, .columns = columns, .average_narrow = average_narrow};

#else

const CpuSimdTime G_PASTE(cnv_cpu_time_, CNV_SIMD) = {.average = average};

#endif
