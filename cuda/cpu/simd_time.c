/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Averages over time (simd.h), compiled once for each instruction set, like simd.c.
 */
#include "cpu/simd.h"

#include "cpu/vector.h"

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

const CpuSimdTime G_PASTE(cnv_cpu_time_, CNV_SIMD) = {.average = average};
