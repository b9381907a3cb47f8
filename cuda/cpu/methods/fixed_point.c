/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Filters samples of 8 bits with narrow gaussians in 16-bit arithmetic, with twice as many numbers per vector as
 * float32. Products are rounded to 1/124 of a level along rows, and to 1/256 down columns, so that few samples are one
 * off.
 */
#include "cpu/cpu.h"

#include <math.h>
#include <string.h>

#include "plan/arith.h"
#include "plan/component.h"

#define ALONG 124.0 /* units per level of sums along rows: twice a sum, and a rounding, fit in 16 bits */
#define LOADED 64.0 /* units per level of loaded samples */
#define DOWN 256.0  /* units per level of sums down columns */
#define SLACK 1e-5  /* tolerance for gains of 1 */

/* Speed relative to float32: twice as many numbers per vector, samples of equal taps added first, two products at
 * once. */
#define FASTER 8.0

#define WIDTH_MAX 4096 /* most samples in a row of a tile */

#define MOST_SLOTS (2 * CNV_CPU_FIXED_RADIUS + CNV_CPU_ROWS)

/* ---- taps ---- */

static gboolean
find_axis(CpuFixed *fixed, const CpuPlane *plane, int axis, double gain)
{
  const CnvTerm *term = &plane->from->term[0];
  const float *taps = plane->plan->taps + term->taps[axis];
  int n = term->n[axis];
  double sum = 0, rest = gain / 2;

  fixed->radius = n / 2;
  fixed->channels = plane->from->channels;
  if (n % 2 == 0 || term->anchor[axis] != n / 2 || fixed->radius > CNV_CPU_FIXED_RADIUS)
    return FALSE;
  for (int i = 0; i < n; i++) {
    if (taps[i] != taps[n - 1 - i] || taps[i] < 0)
      return FALSE;
    sum += taps[i];
  }
  for (int k = 1; k <= fixed->radius; k++) {
    double tap = rint(taps[n / 2 + k] / sum * gain);

    if (tap > G_MAXINT16)
      return FALSE;
    fixed->tap[k] = (gint16)tap;
    rest -= tap;
  }
  fixed->tap[0] = (gint16)rint(rest); /* for twice the sample; rounded last, so that the taps add up to the gain */
  return rest <= G_MAXINT16;          /* FALSE for a single tap, whose gain is too large */
}

/* Accepts only gaussians. Sums of other taps, such as binomial ones, are often halfway between two levels. The small
 * errors of this method would then put many samples one off. */
static gboolean
fits(CpuPlane *plane)
{
  const CnvPlan *plan = plane->plan;
  const CnvPlane *from = plane->from;
  const CnvTerm *term = &from->term[0];
  const double one = 32768;

  if (!plane->simd->fixed->load || plan->requested != CNV_ALGORITHM_AUTO || plan->filter.type != CNV_FILTER_GAUSSIAN ||
      plan->n_temporal_taps > 1 || from->n_terms > 1 || !from->plain || plane->weighed ||
      from->component[0].bytes > 1 || from->full[0] != 255 || from->combine != CNV_COMBINE_SUM ||
      cnv_border_renormalizes(from->border))
    return FALSE;
  for (int c = 0; c < from->channels; c++)
    if (from->filtered >> c & 1 && (fabs(from->gain[c] * term->sum[CNV_X] * term->sum[CNV_Y] - 1) > SLACK ||
                                    fabs(from->base[c] + from->fraction[c] - from->mid[c]) > SLACK))
      return FALSE;
  return find_axis(&plane->fixed[CNV_X], plane, CNV_X, ALONG / LOADED * one) &&
         find_axis(&plane->fixed[CNV_Y], plane, CNV_Y, DOWN / ALONG * one);
}

/* ---- tiles ---- */

static void
shape(CpuPlane *plane)
{
  int slack = CNV_CPU_FIXED_BLOCK, apron = (plane->fixed[CNV_X].radius + 1) * plane->from->channels;

  plane->slots = plane->from->term[0].n[CNV_Y] - 1 + CNV_CPU_ROWS;
  plane->term[0].slots = 0; /* the ring is among the worker's shorts */
  cnv_cpu_shape_width(plane, WIDTH_MAX);
  plane->short_odd = (gsize)cnv_divide_up(plane->widest / 2 + apron, slack) * slack + slack;
  /* An odd number of cache lines and a half: the rows of a column share neither cache sets nor banks. */
  plane->short_stride = 2 * plane->short_odd + CNV_CPU_ALIGNMENT / sizeof(gint16) * 3 / 2;
}

static void
lay_out(CpuWorker *worker, const CpuPlane *plane, CpuArena *arena)
{
  gsize numbers = (1 + plane->slots + CNV_CPU_ROWS) * plane->short_stride + 2 * CNV_CPU_FIXED_BLOCK;

  worker->shorts = cnv_cpu_take(arena, numbers, sizeof(gint16));
  worker->sources = cnv_cpu_take(arena, plane->widest / plane->from->channels + 2 * CNV_CPU_FIXED_RADIUS, sizeof(int));
}

/* Returns the columns of a loaded row, which begin an even number of samples before the tile. */
static CpuColumns
find_columns(CpuWorker *worker, const CpuTile *tile)
{
  int reach = tile->plane->fixed[CNV_X].radius;
  CpuColumns columns = cnv_cpu_columns(worker, tile, tile->first - (reach + 1) / 2 * 2, tile->last + reach);

  for (int x = columns.first; x < columns.last; x++)
    worker->sources[x - columns.first] = cnv_cpu_source(tile, CNV_X, x);
  return columns;
}

/* Returns the address of the loaded row. */
static gint16 *
line_of(const CpuWorker *worker)
{
  return worker->shorts + CNV_CPU_FIXED_BLOCK;
}

/* Loads pixels first to last - 1, one by one. row NULL: they are missing. */
static void
load_pixels(const CpuColumns *columns, int first, int last, const guint8 *row)
{
  const CnvPlane *plane = columns->tile->plane->from;
  gint16 *to = line_of(columns->worker);
  int channels = plane->channels, i = (first - columns->first) * channels;

  for (int x = first; x < last; x++) {
    int source = row ? columns->worker->sources[x - columns->first] : -1;

    for (int c = 0; c < channels; c++, i++)
      to[i % 2 * columns->tile->plane->short_odd + i / 2] =
          (gint16)CNV_CPU_FIXED_OF(source < 0 ? plane->border_value[c] + plane->mid[c] : row[source * channels + c]);
  }
}

/* Loads row y of the field. y: -1 for a missing row. */
static void
load_row(const CpuColumns *columns, int y)
{
  const CpuTile *tile = columns->tile;
  const CpuPlane *plane = tile->plane;
  const guint8 *row = cnv_component_at(&tile->frame->source[0], &plane->from->component[0], tile->job, 0, MAX(y, 0));
  int channels = plane->from->channels, inside = columns->inside;

  if (y < 0) {
    load_pixels(columns, columns->first, columns->last, NULL);
    return;
  }
  cnv_cpu_prefetch(tile, columns->inside, columns->end, y + CNV_CPU_AHEAD);
  inside += (inside - columns->first) * channels % 2 && inside < columns->end; /* its first sample must be an even
                                                                                  one */
  load_pixels(columns, columns->first, inside, row);
  tile->frame->simd->fixed->load(line_of(columns->worker) + (inside - columns->first) * channels / 2, plane->short_odd,
                                 row + inside * channels, (columns->end - inside) * channels);
  load_pixels(columns, columns->end, columns->last, row);
}

/* Returns the tile's part of row y of a frame. */
static guint8 *
row_of(const CpuTile *tile, const CnvFrame *frame, int y)
{
  const CnvJob *job = tile->job;

  return cnv_component_at(frame, &tile->plane->from->component[0], job, tile->first + job->move_x, y + job->move_y);
}

/* Stores CNV_CPU_ROWS rows of output, or fewer at the end of the tile. */
static void
fill_rows(CpuWorker *worker, const CpuTile *tile, int y, const gint16 *const *rows)
{
  const CpuPlane *plane = tile->plane;
  const CpuSimd *simd = tile->frame->simd;
  int n = cnv_cpu_samples(tile), n_rows = MIN(tile->bottom - y, CNV_CPU_ROWS);
  guint8 *to[CNV_CPU_ROWS];

  for (int i = 0; i < CNV_CPU_ROWS; i++)
    to[i] = i < n_rows ? row_of(tile, &tile->frame->out, y + i) : (guint8 *)worker->scratch;
  simd->fixed->column_to_bytes(to, rows, plane->short_odd, n, &plane->fixed[CNV_Y]);
  for (int i = 0; i < n_rows && plane->mask; i++)
    simd->merge(to[i], row_of(tile, &tile->frame->in, y + i), plane->mask, n);
}

/* Returns the weight of each sample of a row, 255 for 1. */
static const guint8 *
weights_of(CpuWorker *worker, const CpuTile *tile, int y)
{
  const guint8 *weights = cnv_job_weights(tile->job, tile->frame->coverage, tile->first, y);

  return cnv_cpu_spread((guint8 *)worker->scratch, weights, tile->last - tile->first, tile->plane->from->channels);
}

/* Composites the sums of a row over the input. */
static void
composite_row(CpuWorker *worker, const CpuTile *tile, int y, const gint16 *sums)
{
  const CpuPlane *plane = tile->plane;
  const CpuSimd *simd = tile->frame->simd;
  int n = cnv_cpu_samples(tile);
  guint8 *to = row_of(tile, &tile->frame->out, y);
  const guint8 *in = row_of(tile, &tile->frame->in, y);

  simd->fixed->composite(to, sums, plane->short_odd, weights_of(worker, tile, y), in, n);
  if (plane->mask)
    simd->merge(to, in, plane->mask, n);
}

/* Composites the sums of a row if other jobs may write samples of weight 0. */
static void
composite_shared_row(CpuWorker *worker, const CpuTile *tile, int y, const gint16 *sums)
{
  const CpuPlane *plane = tile->plane;
  float *acc = worker->term[0].acc;

  for (int i = 0; i < cnv_cpu_samples(tile); i += 2) /* 0.25: rounds ties up, because cnv_cpu_store_row rounds them to
                                                        even */
    for (int half = 0; half < 2; half++)
      acc[i + half] = ((sums[half * plane->short_odd + i / 2] + 0.25f) / (float)DOWN + 127.5f - plane->from->mid[0]) /
                      plane->samples.gain[i + half];
  cnv_cpu_store_row(worker, tile, y, acc);
}

/* Composites CNV_CPU_ROWS rows of output of a job with coverage, or fewer at the end of the tile. */
static void
composite_rows(CpuWorker *worker, const CpuTile *tile, int y, const gint16 *const *rows)
{
  const CpuPlane *plane = tile->plane;
  const CpuSimdFixed *simd = tile->frame->simd->fixed;
  int n = cnv_cpu_samples(tile);
  gint16 *sums = worker->shorts + (1 + plane->slots) * plane->short_stride + CNV_CPU_FIXED_BLOCK;

  simd->column(sums, plane->short_stride, rows, 0, (n + 1) / 2, &plane->fixed[CNV_Y]);
  simd->column(sums, plane->short_stride, rows, plane->short_odd, n / 2, &plane->fixed[CNV_Y]);
  for (int end = MIN(y + CNV_CPU_ROWS, tile->bottom); y < end; y++, sums += plane->short_stride)
    (tile->job->shared ? composite_shared_row : composite_row)(worker, tile, y, sums);
}

static void
repeat_row(gint16 *to, const gint16 *from, gsize odd, int n)
{
  memcpy(to, from, (n + 1) / 2 * sizeof(gint16));
  memcpy(to + odd, from + odd, n / 2 * sizeof(gint16));
}

static void
run(CpuWorker *worker, const CpuTile *tile)
{
  const CpuPlane *plane = tile->plane;
  const CpuFixed *along = &plane->fixed[CNV_X], *down = &plane->fixed[CNV_Y];
  const CpuColumns columns = find_columns(worker, tile);
  int n = cnv_cpu_samples(tile), slots = plane->slots, filled = 0, previous = 0;
  const gint16 *rows[2 * MOST_SLOTS]; /* of the ring, stored twice */
  gint16 *ring = worker->shorts + plane->short_stride + CNV_CPU_FIXED_BLOCK;
  const gint16 *middle = line_of(worker) + (tile->first - columns.first) * along->channels / 2;

  for (int slot = 0; slot < slots; slot++)
    rows[slot] = rows[slot + slots] = ring + slot * plane->short_stride;
  for (int y = tile->top; y < tile->bottom; y += CNV_CPU_ROWS) {
    const gint16 *const *first = rows + (y - tile->top) % slots;

    for (; filled < MIN(y + slots, tile->bottom + 2 * down->radius) - tile->top; filled++) {
      int source = cnv_cpu_source(tile, CNV_Y, tile->top - down->radius + filled);
      gint16 *to = ring + filled % slots * plane->short_stride;

      if (filled > 0 && source == previous) { /* as in tile.c */
        repeat_row(to, rows[slots + filled % slots - 1], plane->short_odd, n);
        continue;
      }
      previous = source;
      load_row(&columns, source);
      tile->frame->simd->fixed->row(to, middle, plane->short_odd, n, along);
    }
    if (tile->job->coverage_pitch == 0)
      fill_rows(worker, tile, y, first);
    else
      composite_rows(worker, tile, y, first);
  }
}

const CpuMethod cnv_cpu_fixed_point = {
    .name = "fixed-point",
    .algorithms = 1 << CNV_ALGORITHM_SEPARABLE,
    .unit = 1 / FASTER,
    .cost = cnv_cpu_cost_of_taps,
    .fits = fits,
    .shape = shape,
    .lay_out = lay_out,
    .run = run,
};
