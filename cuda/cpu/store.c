/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Combines the sums of a row, rounds them to samples, and stores the samples: rows of plain planes with vector code,
 * rows of other planes component by component.
 */
#include "cpu/cpu.h"

#include <math.h>
#include <string.h>

#include "plan/component.h"

/* Divides colours by the sum of alpha. Marks pixels whose sum is 0. */
static void
divide_by_weight(CpuWorker *worker, const CpuTile *tile, float *acc)
{
  const CnvPlane *plane = tile->plane->from;
  int channels = plane->channels, w = plane->weight;
  float epsilon = plane->alpha_epsilon * plane->full[w], norm = plane->alpha_norm;
  guint8 *unfiltered = worker->unfiltered;

  for (int i = 0; i < tile->last - tile->first; i++, acc += channels) {
    float weight = acc[w], factor = norm / weight;

    unfiltered[i] = fabsf(weight) <= epsilon;
    if (unfiltered[i])
      continue;
    for (int c = 0; c < channels; c++)
      acc[c] *= factor;
    acc[w] = weight;
  }
}

/* Marks the pixels whose sum of weights is 0. */
static void
mark_unfiltered(CpuWorker *worker, const CpuTile *tile, int y)
{
  const float *norms = cnv_cpu_norms(tile, y);

  for (int i = 0; i < tile->last - tile->first; i++)
    worker->unfiltered[i] = norms[i] == 0;
}

const float *
cnv_cpu_combine(CpuWorker *worker, const CpuTile *tile, int y, int i)
{
  const CpuPlane *plane = tile->plane;
  const CpuSimd *simd = tile->frame->simd;
  gboolean magnitude = plane->from->combine == CNV_COMBINE_MAGNITUDE;
  int pixels = tile->last - tile->first;
  gsize row = i * plane->acc_stride;
  float *acc = worker->term[0].acc + row;
  int n = cnv_cpu_samples(tile), n_sums = worker->n_sums;

  if (cnv_border_renormalizes(plane->from->border) && !plane->weighed && !plane->of_weights)
    cnv_cpu_renormalize(worker, tile, y);
  for (int t = 1; t < n_sums && !magnitude; t++)
    simd->add_scaled(acc, worker->term[t].acc + row, 1, n);
  if (plane->weighed) { /* renormalize's factor cancels */
    const float *ahead = cnv_cpu_norms(tile, MIN(y + 2, tile->bottom - 1));

    for (int x = 0; x < pixels; x += 16)
      __builtin_prefetch(ahead + x);

    worker->has_unfiltered = simd->divide(acc, cnv_cpu_norms(tile, y), pixels, plane->from->channels);
    if (worker->has_unfiltered)
      mark_unfiltered(worker, tile, y);
  }
  if (plane->from->weight >= 0 && !magnitude)
    divide_by_weight(worker, tile, acc);
  for (int t = 0; worker->scaled && t < (magnitude ? 2 : 1); t++)
    simd->multiply(worker->term[t].acc + row, worker->term[t].factor, n);
  if (magnitude)
    simd->magnitude(acc, worker->term[1].acc + row, n);
  if (plane->from->combine == CNV_COMBINE_ABSOLUTE)
    simd->absolute(acc, plane->mid_bias, n);
  return acc;
}

/* ---- samples ---- */

/* Stores a component of a part of row `top` of a tile. acc: its sum for the first pixel; weight: of each pixel, NULL if
 * all are 1; unfiltered: pixels that keep the input; bytes: of the component. */
ALWAYS_INLINE void
store_component(const CpuTile *part, const float *acc, const guint8 *weight, const guint8 *unfiltered, int c, int bytes)
{
  const CnvPlane *plane = part->plane->from;
  const CnvJob *job = part->job;
  const CnvComponent component = plane->component[c]; /* a copy, because the compiler must assume that `out` may overlap
                                                         the original */
  int step = component.step, sums = plane->channels;
  int x = part->first, n = part->last - x, to_x = x + job->move_x, to_y = part->top + job->move_y;
  float base = plane->base[c], low = plane->lowest[c], high = plane->highest[c];
  float gain = plane->gain[c], fraction = plane->fraction[c];
  const guint8 *source = cnv_component_at(&part->frame->in, &component, job, x, part->top);
  const guint8 *in = cnv_component_at(&part->frame->in, &component, job, to_x, to_y);
  guint8 *out = cnv_component_at(&part->frame->out, &component, job, to_x, to_y);

  if (!cnv_cpu_divides(part->plane) || c == plane->weight)
    unfiltered = NULL;
  for (int i = 0; i < n; i++) {
    float v = gain * acc[i * sums] + fraction;

    v = v > low ? v : low;
    v = v < high ? v : high;
    if (unfiltered && unfiltered[i])
      v = (float)cnv_component_get(source + i * step, &component, bytes) - base;
    if (weight)
      v += (1 - (float)weight[i] / CNV_WEIGHT_ONE) *
           ((float)cnv_component_get(in + i * step, &component, bytes) - base - v);
    cnv_component_put(out + i * step, &component, bytes, (int)(v + (CNV_CPU_ROUND + base) - CNV_CPU_ROUND));
  }
}

static void
store_components(const CpuTile *part, const float *acc, const guint8 *weight, const guint8 *unfiltered)
{
  const CnvPlane *plane = part->plane->from;

  for (int c = 0; c < plane->channels; c++, acc++) {
    if (!(plane->filtered >> c & 1))
      continue;
    if (plane->component[c].bytes == 1)
      store_component(part, acc, weight, unfiltered, c, 1);
    else if (plane->component[c].bytes == 2)
      store_component(part, acc, weight, unfiltered, c, 2);
    else
      store_component(part, acc, weight, unfiltered, c, 4);
  }
}

/* Stores a part of a row of a plain plane. weights: of each pixel; NULL if all are 1. */
static void
store_plain(const CpuWorker *worker, const CpuTile *part, const float *acc, const guint8 *weights)
{
  const CpuSimd *simd = part->frame->simd;
  const CpuPlane *plane = part->plane;
  const CnvComponent *component = &plane->from->component[0];
  const CnvJob *job = part->job;
  int n = (part->last - part->first) * plane->from->channels, x = part->first + job->move_x,
      y = part->top + job->move_y;
  const guint8 *in = cnv_component_at(&part->frame->in, component, job, x, y);
  guint8 *to = cnv_component_at(&part->frame->out, component, job, x, y);

  if (weights) {
    weights = cnv_cpu_spread((guint8 *)worker->scratch, weights, part->last - part->first, plane->from->channels);
    simd->composite(to, acc, weights, in, n, &plane->samples);
  } else {
    simd->store(to, acc, n, &plane->samples);
  }
  if (plane->mask)
    simd->merge(to, in, plane->mask, n * component->bytes);
}

void
cnv_cpu_store_part(CpuWorker *worker, const CpuTile *part, int from, const float *acc, const guint8 *weights)
{
  const CpuPlane *plane = part->plane;
  int n = part->last - part->first;

  if (plane->from->plain && !(plane->weighed && worker->has_unfiltered && memchr(worker->unfiltered + from, TRUE, n))) {
    store_plain(worker, part, acc, weights);
    return;
  }
  store_components(part, acc, weights, worker->unfiltered + from);
}
