/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Loads pixels of a tile's row from one frame as float32, without an apron.
 */
#include "cpu/cpu.h"

#include "plan/component.h"

static inline void
load_component(float *to, const guint8 *from, int n, const CnvPlane *plane, int c, int bytes)
{
  const CnvComponent component = plane->component[c]; /* a copy, because the compiler must assume that `to` may overlap
                                                         the original */
  int channels = plane->channels;
  float mid = plane->mid[c];

  for (int i = 0; i < n; i++, from += component.step)
    to[i * channels] = (float)cnv_component_get(from, &component, bytes) - mid;
}

static void
load_means(const CpuTile *tile, const CnvFrame *frame, int c, int y, float *to)
{
  const CnvPlane *plane = tile->plane->from;

  for (int x = tile->first; x < tile->last; x++, to += plane->channels)
    *to = (float)cnv_component_value(frame, plane, c, tile->job, x, y);
}

static void
multiply_by_weight(float *pixel, int n, int channels, int weight)
{
  for (int i = 0; i < n; i++, pixel += channels) {
    float factor = pixel[weight];

    for (int c = 0; c < channels; c++)
      pixel[c] *= factor;
    pixel[weight] = factor;
  }
}

/* Stores coverage as the weight of a row's pixels, or multiplies their alpha by it. */
static void
load_coverage(const CpuTile *tile, int y, float *to)
{
  const CnvPlane *plane = tile->plane->from;
  const CnvJob *weights = cnv_cpu_weights(tile);
  gboolean alpha = plane->component[plane->weight].bytes > 0;

  for (int x = tile->first; x < tile->last; x++, to += plane->channels) {
    int weight = cnv_cpu_weight_at(tile, weights, x, y);

    *to = (float)weight * (alpha ? *to : 1);
  }
}

static void
load_components(const CpuTile *tile, const CnvFrame *frame, int y, float *to)
{
  const CnvPlane *plane = tile->plane->from;
  int n = tile->last - tile->first;

  for (int c = 0; c < plane->channels; c++) {
    const CnvComponent *component = &plane->component[c];
    const guint8 *from = cnv_component_at(frame, component, tile->job, tile->first, y);

    if (component->bytes == 0)
      continue;
    if (component->sub_x || component->sub_y)
      load_means(tile, frame, c, y, to + c);
    else if (component->bytes == 1)
      load_component(to + c, from, n, plane, c, 1);
    else if (component->bytes == 2)
      load_component(to + c, from, n, plane, c, 2);
    else
      load_component(to + c, from, n, plane, c, 4);
  }
  if (plane->covered)
    load_coverage(tile, y, to + plane->weight);
  if (plane->weight >= 0)
    multiply_by_weight(to, n, plane->channels, plane->weight);
}

/* Returns the weights of a row's pixels: the coverage itself, or a copy to which weights that are not stored are
 * added. */
static const guint8 *
find_weights(const CpuWorker *worker, const CpuTile *tile, int y)
{
  const CnvJob *weights = cnv_cpu_weights(tile);
  int n = tile->last - tile->first, first, last;

  if (weights && weights->coverage_pitch > 0 && tile->first >= weights->x &&
      tile->last <= weights->x + weights->width && y >= weights->y && y < weights->y + weights->height)
    return cnv_job_weights(weights, tile->frame->coverage, tile->first, y);
  if (!weights || weights->coverage_pitch == 0) {
    memset(worker->bytes, CNV_WEIGHT_ONE, n);
    return worker->bytes;
  }
  memset(worker->bytes, 0, n);
  first = CLAMP(weights->x, tile->first, tile->last);
  last = CLAMP(weights->x + weights->width, first, tile->last);
  if (first < last && y >= weights->y && y < weights->y + weights->height)
    memcpy(worker->bytes + (first - tile->first), cnv_job_weights(weights, tile->frame->coverage, first, y),
           last - first);
  return worker->bytes;
}

static void
load_weighed(const CpuWorker *worker, const CpuTile *tile, const CnvFrame *frame, int y, float *to)
{
  const CpuPlane *plane = tile->plane;
  const guint8 *weights =
      cnv_cpu_spread(worker->spread, find_weights(worker, tile, y), tile->last - tile->first, plane->from->channels);

  tile->frame->simd->load_weighed(to, cnv_component_at(frame, &plane->from->component[0], tile->job, tile->first, y),
                                  weights, cnv_cpu_samples(tile), &plane->samples);
}

void
cnv_cpu_load_frame(const CpuWorker *worker, const CpuTile *tile, const CnvFrame *frame, int y, float *to)
{
  const CnvPlane *plane = tile->plane->from;

  if (tile->plane->of_weights)
    tile->frame->simd->load(to, find_weights(worker, tile, y), cnv_cpu_samples(tile), &tile->plane->samples);
  else if (tile->plane->weighed)
    load_weighed(worker, tile, frame, y, to);
  else if (plane->plain)
    tile->frame->simd->load(to, cnv_component_at(frame, &plane->component[0], tile->job, tile->first, y),
                            cnv_cpu_samples(tile), &tile->plane->samples);
  else
    load_components(tile, frame, y, to);
}
