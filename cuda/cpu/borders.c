/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Rows of a tile with their aprons as float32. Borders are resolved here, so that the vector loops never meet one.
 */
#include "cpu/cpu.h"

#include "plan/component.h"

/* Row y of the field, as a term loads it: pixels first to last - 1, inside to inside_end - 1 of them in the window. */
typedef struct {
  const CpuWorker *worker;
  const CpuTile *tile;
  const CpuTermState *term;
  int y, first, last, inside, inside_end;
  float *samples;
} Row;

/* ---- pixels of one frame ---- */

static inline void
load_component(float *to, const guint8 *from, int n, const CnvPlane *plane, int c, int bytes)
{
  const CnvComponent component = plane->component[c]; /* a copy: bytes that are written could be its own */
  int channels = plane->channels;
  float mid = plane->mid[c];

  for (int i = 0; i < n; i++, from += component.step)
    to[i * channels] = (float)cnv_component_get(from, &component, bytes) - mid;
}

static void
load_means(const Row *row, const CnvFrame *frame, int c, int x, int n, float *to)
{
  const CnvPlane *plane = row->tile->plane->from;

  for (int i = 0; i < n; i++)
    to[i * plane->channels] = (float)cnv_component_value(frame, plane, c, row->tile->job, x + i, row->y);
}

static void
multiply_by_alpha(float *pixel, int n, int channels, int weight)
{
  for (int i = 0; i < n; i++, pixel += channels) {
    float alpha = pixel[weight];

    for (int c = 0; c < channels; c++)
      pixel[c] *= alpha;
    pixel[weight] = alpha;
  }
}

static void
load_components(const Row *row, const CnvFrame *frame, int x, int n, float *to)
{
  const CnvPlane *plane = row->tile->plane->from;

  for (int c = 0; c < plane->channels; c++) {
    const CnvComponent *component = &plane->component[c];
    const guint8 *from = cnv_component_at(frame, component, row->tile->job, x, row->y);

    if (component->sub_x || component->sub_y)
      load_means(row, frame, c, x, n, to + c);
    else if (component->bytes == 1)
      load_component(to + c, from, n, plane, c, 1);
    else if (component->bytes == 2)
      load_component(to + c, from, n, plane, c, 2);
    else
      load_component(to + c, from, n, plane, c, 4);
  }
  if (plane->weight >= 0)
    multiply_by_alpha(to, n, plane->channels, plane->weight);
}

static void
load_frame(const Row *row, const CnvFrame *frame, int x, int n, float *to)
{
  const CpuTile *tile = row->tile;
  const CnvPlane *plane = tile->plane->from;
  const CnvComponent *component = &plane->component[0];

  if (plane->plain)
    tile->frame->simd->load(to, cnv_component_at(frame, component, tile->job, x, row->y), n * plane->channels,
                            &tile->plane->samples);
  else
    load_components(row, frame, x, n, to);
}

/* ---- pixels of a row ---- */

/* Loads n pixels within the window: the frames that count, added up while the row is in cache, so that whatever follows
 * costs the same for any number of them. */
static void
load_inside(const Row *row, int x, int n, float *to)
{
  const CpuFrame *frame = row->tile->frame;
  CpuTapRange taps = row->term->temporal_taps;
  float *scratch = row->worker->scratch;
  int samples = n * row->tile->plane->from->channels;
  gboolean begun = FALSE;

  for (int i = taps.first; i < taps.first + taps.n; i++) {
    if (frame->weight[i] == 0)
      continue;
    load_frame(row, &frame->source[i], x, n, begun ? scratch : to);
    if (begun)
      frame->simd->add_scaled(to, scratch, frame->weight[i], samples);
    else if (frame->weight[i] != 1)
      frame->simd->scale(to, frame->weight[i], samples);
    begun = TRUE;
  }
  if (!begun)
    memset(to, 0, samples * sizeof(float));
}

/* n pixels that are missing. */
static void
load_missing(const Row *row, int n, float *to)
{
  const CpuPlane *plane = row->tile->plane;
  float share = cnv_border_has_value(plane->from->border) ? row->term->temporal_sum : 0;

  for (int i = 0; i < n; i++)
    for (int c = 0; c < plane->from->channels; c++)
      *to++ = plane->from->border_value[c] * share;
}

/* ---- a row with its apron ---- */

/* Loads pixels x to last - 1, which lie outside the window, once the others are in the line. One with the source of the
 * pixel before it is a copy of that. */
static void
load_outside(const Row *row, int x, int last)
{
  int channels = row->tile->plane->from->channels, previous = G_MAXINT;
  float *to = row->samples + (x - row->first) * channels;

  for (; x < last; x++, to += channels) {
    int source = cnv_cpu_source(row->tile, CNV_X, x);
    const float *from = source == previous ? to - channels : row->samples + (source - row->first) * channels;

    if (source == previous || (source >= row->inside && source < row->inside_end))
      for (int c = 0; c < channels; c++)
        to[c] = from[c];
    else if (source < 0)
      load_missing(row, 1, to);
    else
      load_inside(row, source, 1, to);
    previous = source;
  }
}

void
cnv_cpu_load_row(const CpuWorker *worker, const CpuTile *tile, int t, int y, float *to)
{
  const CnvPlane *plane = tile->plane->from;
  const CnvTerm *term = &plane->term[t];
  const CnvRectJob *job = tile->job;
  Row row = {worker, tile, &worker->term[t], y, .samples = to};

  row.first = tile->first - term->anchor[CNV_X];
  row.last = tile->last + term->n[CNV_X] - 1 - term->anchor[CNV_X];
  row.inside = CLAMP(job->window_x, row.first, row.last);
  row.inside_end = CLAMP(job->window_x + job->window_width, row.inside, row.last);
  if (y < 0) {
    load_missing(&row, row.last - row.first, to);
    return;
  }
  if (row.inside < row.inside_end)
    load_inside(&row, row.inside, row.inside_end - row.inside, to + (row.inside - row.first) * plane->channels);
  load_outside(&row, row.first, row.inside);
  load_outside(&row, row.inside_end, row.last);
}

/* ---- columns ---- */

/* Column whose samples a column has. */
static int
source_column(const CpuColumns *columns, int column)
{
  return cnv_cpu_source(columns->tile, CNV_X, columns->left + column) - columns->left;
}

void
cnv_cpu_columns_choose(CpuColumns *columns)
{
  const CnvRectJob *job = columns->tile->job;

  columns->first = CLAMP(job->window_x - columns->left, 0, columns->n);
  columns->last = CLAMP(job->window_x + job->window_width - columns->left, columns->first, columns->n);
  for (int x = 0; x < columns->n; x++) {
    int source = source_column(columns, x);

    if (source < columns->first || source >= columns->last) {
      columns->first = 0;
      columns->last = columns->n;
      return;
    }
    if (x == columns->first)
      x = columns->last - 1;
  }
}

void
cnv_cpu_columns_load(const CpuColumns *columns, float *to, int y, int n, int x, int last)
{
  const CnvTerm *term = &columns->tile->plane->from->term[0];
  CpuTile part = *columns->tile;

  /* The tile whose apron begins and ends there. */
  part.first = columns->left + term->anchor[CNV_X] + x;
  part.last = columns->left + term->anchor[CNV_X] + last - (term->n[CNV_X] - 1);
  for (int i = 0; i < n; i++, to += CNV_CPU_CHUNK)
    cnv_cpu_load_row(columns->worker, &part, 0, cnv_cpu_source(columns->tile, CNV_Y, y + i), to);
}

void
cnv_cpu_columns_repeat(const CpuColumns *columns, float *values, gsize size)
{
  for (int x = columns->first > 0 ? 0 : columns->last; x < columns->n;
       x = x + 1 == columns->first ? columns->last : x + 1) {
    const float *from = values + source_column(columns, x) * size;

    for (gsize i = 0; i < size; i++)
      values[x * size + i] = from[i];
  }
}
