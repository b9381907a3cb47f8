/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Loads rows of a tile with their aprons as float32. Borders are resolved here, so vector loops never meet one.
 */
#include "cpu/cpu.h"

#include "plan/component.h"

/* Prefetches in software: hardware prefetches along a row, but rarely beyond a page, and each row of a narrow tile is
 * in another page. */
void
cnv_cpu_prefetch(const CpuTile *tile, int first, int last, int y)
{
  const CnvJob *job = tile->job;
  const CnvComponent *component = &tile->plane->from->component[0];
  const guint8 *from, *to;

  if (last - first >= job->window_width || y < job->window_y || y >= job->window_y + job->window_height)
    return;
  from = cnv_component_at(&tile->frame->source[0], component, job, first, y);
  to = cnv_component_at(&tile->frame->source[0], component, job, last, y);
  for (; from < to; from += CNV_CPU_ALIGNMENT)
    __builtin_prefetch(from);
}

/* ---- pixels of a row ---- */

/* Loads the pixels of a part of a tile that is inside the window, and adds up the frames of term t. */
static void
load_inside(const CpuWorker *worker, const CpuTile *part, int t, int y, float *to)
{
  const CpuFrame *frame = part->frame;
  CpuTapRange taps = cnv_cpu_temporal_taps(part, &part->plane->from->term[t]);
  int samples = cnv_cpu_samples(part);
  gboolean begun = FALSE;

  if (part->plane->of_weights) {
    cnv_cpu_load_frame(worker, part, &frame->source[0], y, to);
    if (worker->term[t].temporal_sum != 1)
      frame->simd->scale(to, worker->term[t].temporal_sum, samples);
    return;
  }
  if (part->plane->plan->threshold != 0 && frame->n_sources > 1) {
    cnv_cpu_average_row(worker, part, y, to);
    return;
  }
  for (int i = taps.first; i < taps.first + taps.n; i++) {
    if (frame->weight[i] == 0)
      continue;
    cnv_cpu_load_frame(worker, part, &frame->source[i], y, begun ? worker->scratch : to);
    if (begun)
      frame->simd->add_scaled(to, worker->scratch, frame->weight[i], samples);
    else if (frame->weight[i] != 1)
      frame->simd->scale(to, frame->weight[i], samples);
    begun = TRUE;
  }
  if (!begun)
    memset(to, 0, samples * sizeof(float));
}

/* Fills in n missing pixels. */
static void
load_missing(const CpuColumns *columns, int t, int n, float *to)
{
  const CnvPlane *plane = columns->tile->plane->from;
  float share = cnv_border_has_value(plane->border) ? columns->worker->term[t].temporal_sum : 0;

  for (int i = 0; i < n; i++)
    for (int c = 0; c < plane->channels; c++)
      *to++ = plane->border_value[c] * share;
}

/* ---- a row with its apron ---- */

CpuColumns
cnv_cpu_columns(CpuWorker *worker, const CpuTile *tile, int first, int last)
{
  int inside = CLAMP(tile->job->window_x, first, last);

  return (CpuColumns){worker, tile,   first,
                      last,   inside, CLAMP(tile->job->window_x + tile->job->window_width, inside, last)};
}

/* Loads pixels x to last - 1, which are outside the window. Those inside are already loaded, so pixels whose source is
 * in the line are copied. */
static void
load_outside(const CpuColumns *columns, int t, int y, float *line, int x, int last)
{
  CpuTile pixel = *columns->tile;
  int channels = pixel.plane->from->channels, previous = G_MAXINT;
  float *to = line + (x - columns->first) * channels;

  for (; x < last; x++, to += channels) {
    int source = cnv_cpu_source(columns->tile, CNV_X, x);
    const float *from = source == previous ? to - channels : line + (source - columns->first) * channels;

    pixel.first = source;
    pixel.last = source + 1;
    if (source == previous || (source >= columns->inside && source < columns->end))
      for (int c = 0; c < channels; c++)
        to[c] = from[c];
    else if (source < 0)
      load_missing(columns, t, 1, to);
    else
      load_inside(columns->worker, &pixel, t, y, to);
    previous = source;
  }
}

/* Loads row y of the field for term t. */
static void
load_columns(const CpuColumns *columns, int t, int y, float *to)
{
  CpuTile inside = *columns->tile;

  if (y < 0) {
    load_missing(columns, t, columns->last - columns->first, to);
    return;
  }
  inside.first = columns->inside;
  inside.last = columns->end;
  if (inside.first < inside.last)
    load_inside(columns->worker, &inside, t, y, to + (inside.first - columns->first) * inside.plane->from->channels);
  load_outside(columns, t, y, to, columns->first, columns->inside);
  load_outside(columns, t, y, to, columns->end, columns->last);
}

void
cnv_cpu_load_row(CpuWorker *worker, const CpuTile *tile, int t, int y, float *to)
{
  const CnvTerm *term = &tile->plane->from->term[t];
  int left = term->anchor[CNV_X], right = term->n[CNV_X] - 1 - left;
  CpuColumns columns = cnv_cpu_columns(worker, tile, tile->first - left, tile->last + right);

  if (y >= 0)
    cnv_cpu_prefetch(tile, columns.inside, columns.end, y + CNV_CPU_AHEAD);
  load_columns(&columns, t, y, to);
}

/* ---- columns ---- */

void
cnv_cpu_columns_choose(CpuColumns *columns)
{
  for (int x = columns->first; x < columns->last; x++) {
    int source = cnv_cpu_source(columns->tile, CNV_X, x);

    if (source < columns->inside || source >= columns->end) {
      columns->inside = columns->first;
      columns->end = columns->last;
      return;
    }
    if (x == columns->inside)
      x = columns->end - 1;
  }
}

void
cnv_cpu_columns_load(const CpuColumns *columns, float *to, int y, int n, int x, int last)
{
  CpuColumns part = cnv_cpu_columns(columns->worker, columns->tile, x, last);

  for (int i = 0; i < n; i++, to += CNV_CPU_CHUNK) {
    cnv_cpu_prefetch(columns->tile, part.inside, part.end, y + i + n);
    load_columns(&part, 0, cnv_cpu_source(columns->tile, CNV_Y, y + i), to);
  }
}

void
cnv_cpu_columns_repeat(const CpuColumns *columns, float *values, gsize size)
{
  for (int x = columns->first; x < columns->last; x++)
    if (x == columns->inside)
      x = columns->end - 1;
    else
      memcpy(values + (x - columns->first) * size,
             values + (cnv_cpu_source(columns->tile, CNV_X, x) - columns->first) * size, size * sizeof(float));
}
