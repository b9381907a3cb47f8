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

#define NEAR_CACHE 2 /* for __builtin_prefetch: the second level */

/* Loads 2 * SHORTS samples. Of two bytes in a number the even sample is the lower one. */
ALWAYS_INLINE void
load_pair(Shorts to[2], const guint8 *from, const int bytes, int shift, guint16 full)
{
  Shorts first = load_shorts(from);

  if (bytes == 1) {
    to[0] = first & 255;
    to[1] = first >> 8;
  } else {
    to[0] = first >> shift & full;
    to[1] = load_shorts(from + VECTOR_BYTES) >> shift & full;
  }
}

ALWAYS_INLINE void
store_pair(guint8 *to, const Shorts from[2], const int bytes, int shift)
{
  store_shorts(to, bytes == 1 ? from[0] | from[1] << 8 : from[0] << shift);
  if (bytes == 2)
    store_shorts(to + VECTOR_BYTES, from[1] << shift);
}

/* Returns the place of the number that is `offset` after number `half` of a pair that begins at x. */
ALWAYS_INLINE gsize
place_of(gsize odd, int x, int half, int offset, const int bytes)
{
  return bytes == 1 ? (half + offset) % 2 * odd + (x + half + offset) / 2 : (gsize)(x + half * SHORTS + offset);
}

/* Sums the first three of four rows, and the last three. */
ALWAYS_INLINE void
add_rows(gint16 *restrict to, const CpuColumnSums *c, int x, const guint8 *const rows[4], gsize at, const int bytes)
{
  const int shift = c->shift;
  const gsize next = c->next, odd = c->odd;
  const guint16 full = (guint16)c->full;
  Shorts row[4][2];

  for (int i = 0; i < 4; i++)
    load_pair(row[i], rows[i] + at, bytes, shift, full);
  for (int half = 0; half < 2; half++) {
    gint16 *sums = to + place_of(odd, x, half, 0, bytes);
    Shorts both = row[1][half] + row[2][half];

    store_shorts(sums, row[0][half] + both);
    store_shorts(sums + next, both + row[3][half]);
  }
}

ALWAYS_INLINE void
sum_columns(gint16 *restrict to, const CpuColumnSums *restrict c, int from, int n, const int bytes)
{
  const gssize at = (gssize)from * bytes;

  for (int k = 0; k < c->n; k++, to += c->frame) {
    const guint8 *const rows[] = {c->row[k][0] + at, c->row[k][1] + at, c->row[k][2] + at, c->row[k][3] + at};
    int x = 0;

    for (; x + 2 * SHORTS <= n; x += 2 * SHORTS)
      add_rows(to, c, x, rows, (gsize)x * bytes, bytes);
    if (x < n && n >= 2 * SHORTS) { /* some of them once more */
      x = n - 2 * SHORTS;
      add_rows(to, c, x, rows, (gsize)x * bytes, bytes);
    } else if (x < n) {
      guint8 few[4][2 * VECTOR_BYTES] = {{0}};

      for (int i = 0; i < 4; i++)
        memcpy(few[i], rows[i], (gsize)n * bytes);
      add_rows(to, c, 0, (const guint8 *const[]){few[0], few[1], few[2], few[3]}, 0, bytes);
    }
  }
}

static void
columns(gint16 *to, const CpuColumnSums *sums, int from, int n)
{
  if (sums->bytes == 1)
    sum_columns(to, sums, from, n, 1);
  else
    sum_columns(to, sums, from, n, 2);
}

/* Sums 3x3 samples by sums over three rows. */
ALWAYS_INLINE void
sum_squares(Shorts to[2], const gint16 *column, gsize odd, int x, const int channels, const int bytes)
{
  if (bytes == 1 && channels == 1) {
    const gint16 *even = column + x / 2;
    Shorts both = load_shorts(even + odd) + load_shorts(even + 1);

    to[0] = load_shorts(even) + both;
    to[1] = both + load_shorts(even + odd + 1);
    return;
  }
  for (int half = 0; half < 2; half++)
    to[half] = load_shorts(column + place_of(odd, x, half, 0, bytes)) +
               load_shorts(column + place_of(odd, x, half, channels, bytes)) +
               load_shorts(column + place_of(odd, x, half, 2 * channels, bytes));
}

/* A threshold in all numbers of vectors. */
typedef struct {
  Shorts half, fall, step, most;
} Threshold;

/* Returns the weights of a frame, by how its sums over 3x3 differ from frame 0's. */
static inline Shorts
weigh_frame(Shorts difference, const Threshold *t, Shorts weight)
{
  Shorts amount = larger_of(smaller_of(magnitude_of(difference), t->most) * t->step, t->half);
  Shorts p = subtract_to_zero(t->fall, amount);

  return upper_half(upper_half(p, p), upper_half_unsigned(amount, weight));
}

/* Loads 2 * SHORTS samples of two frames. */
ALWAYS_INLINE void
load_pairs(Pairs to[2], const guint8 *a, const guint8 *b, const int bytes, int shift, guint16 full)
{
  if (bytes == 1) {
    Pairs both = pairs_of(load_shorts(a), load_shorts(b));

    to[0] = (Pairs){{both.part[0] & 255, both.part[1] & 255}};
    to[1] = (Pairs){{both.part[0] >> 8, both.part[1] >> 8}};
  } else {
    Shorts value[2][2];

    load_pair(value[0], a, bytes, shift, full);
    load_pair(value[1], b, bytes, shift, full);
    for (int half = 0; half < 2; half++)
      to[half] = pairs_of(value[0][half], value[1][half]);
  }
}

/* Returns the quotients of sums, rounded. */
static inline Shorts
divide(const Numbers sum[2], Shorts weights)
{
  Numbers parts[2];

  split_shorts(parts, weights);
  for (int i = 0; i < 2; i++)
    parts[i] = round_vector(__builtin_convertvector(sum[i], Vector) / __builtin_convertvector(parts[i], Vector));
  return join_shorts(parts);
}

/* Averages 2 * SHORTS samples from number x on. weight: of each frame, in all numbers. */
ALWAYS_INLINE void
average_pair(Shorts to[2], const CpuNarrowAverage *restrict a, const Threshold *t, const Shorts *restrict weight, int x,
             const int channels, const int bytes)
{
  const gsize at = (gsize)x * bytes;
  Shorts value[2], own[2], square[2][2], weights[2];
  Numbers sum[2][2] = {{{0}}};
  Pairs pairs[2];

  __builtin_prefetch(a->value[0] + at + a->ahead, 0, NEAR_CACHE);
  load_pair(value, a->value[0] + at, bytes, a->shift, (guint16)a->full);
  sum_squares(own, a->column[0], a->odd, x, channels, bytes);
  for (int half = 0; half < 2; half++) {
    weights[half] = weight[0];
    sum_products(sum[half], pairs_of(value[half], (Shorts){0}), pairs_of(weight[0], (Shorts){0}));
  }
  for (int k = 1; k < a->n; k += 2) {
    __builtin_prefetch(a->value[k] + at + a->ahead, 0, NEAR_CACHE);
    __builtin_prefetch(a->value[k + 1] + at + a->ahead, 0, NEAR_CACHE);
    load_pairs(pairs, a->value[k] + at, a->value[k + 1] + at, bytes, a->shift, (guint16)a->full);
    sum_squares(square[0], a->column[k], a->odd, x, channels, bytes);
    sum_squares(square[1], a->column[k + 1], a->odd, x, channels, bytes);
    for (int half = 0; half < 2; half++) {
      Shorts first = weigh_frame(square[0][half] - own[half], t, weight[k]);
      Shorts second = weigh_frame(square[1][half] - own[half], t, weight[k + 1]);

      weights[half] += first + second;
      sum_products(sum[half], pairs[half], pairs_of(first, second));
    }
  }
  for (int half = 0; half < 2; half++)
    to[half] = divide(sum[half], weights[half]);
}

ALWAYS_INLINE void
average_samples(guint8 *restrict to, const CpuNarrowAverage *restrict a, int n, const int channels, const int bytes)
{
  const Shorts zero = {0};
  const Threshold t = {a->half + zero, a->fall + zero, a->step + zero, a->most + zero};
  const int whole = n / (2 * SHORTS) * (2 * SHORTS);
  guint8 rest[CNV_MAX_TEMPORAL_TAPS + 1][2 * VECTOR_BYTES];
  Shorts weight[CNV_MAX_TEMPORAL_TAPS + 1], average[2];
  CpuNarrowAverage last;

  for (int k = 0; k <= a->n; k++)
    weight[k] = a->weight[k] + zero;
  for (int x = 0; x < whole; x += 2 * SHORTS) {
    average_pair(average, a, &t, weight, x, channels, bytes);
    store_pair(to + (gsize)x * bytes, average, bytes, a->shift);
  }
  if (whole == n)
    return;
  last = *a;
  for (int k = 0; k <= a->n; k++) {
    memset(rest[k], 0, sizeof rest[k]);
    memcpy(rest[k], a->value[k] + (gsize)whole * bytes, (gsize)(n - whole) * bytes);
    last.value[k] = rest[k] - (gsize)whole * bytes;
  }
  average_pair(average, &last, &t, weight, whole, channels, bytes);
  store_pair(rest[0], average, bytes, a->shift);
  memcpy(to + (gsize)whole * bytes, rest[0], (gsize)(n - whole) * bytes);
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
