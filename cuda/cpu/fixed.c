/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Tiles of a narrow gaussian of 8-bit samples in 16 bits, which hold twice as many numbers as float32 does: products
 * are rounded to 124ths of a level along rows, and to 256ths down columns, so that few samples are one off.
 */
#include "cpu/cpu.h"

#include <math.h>

#include "plan/component.h"

#define ALONG 124.0 /* units of a level of sums along rows: twice as much, and a rounding, is within 16 bits */
#define LOADED 64.0 /* and of what is loaded */
#define DOWN 256.0  /* and of sums down columns */
#define SLACK 1e-5  /* of gains that are 1 */

/* ---- taps ---- */

static gboolean
find_axis(CpuFixed *fixed, const CpuPlane *plane, int axis, double gain)
{
  const CnvTerm *term = &plane->from->term[0];
  const float *taps = plane->plan->taps + term->taps[axis];
  int n = term->n[axis];
  double sum = 0, rest = gain / 2;

  fixed->radius = n / 2;
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
  fixed->tap[0] = (gint16)rint(rest); /* for twice the sample, so that all have their sum */
  return rest <= G_MAXINT16;          /* one tap alone has too large a gain */
}

/* Sums of binomial taps often lie in the middle between two levels: only gaussians' never do. */
gboolean
cnv_cpu_find_fixed(CpuPlane *plane)
{
  const CnvPlan *plan = plane->plan;
  const CnvPlane *from = plane->from;
  const CnvTerm *term = &from->term[0];
  const double one = 32768;

  if (plan->requested != CNV_ALGORITHM_AUTO || plan->filter.type != CNV_FILTER_GAUSSIAN || plan->n_temporal_taps > 1 ||
      plane->dense || from->n_terms > 1 || !from->plain || from->component[0].bytes > 1 || from->full[0] != 255 ||
      from->combine != CNV_COMBINE_SUM || cnv_border_renormalizes(from->border))
    return FALSE;
  for (int c = 0; c < from->channels; c++)
    if (from->filtered >> c & 1 && (fabs(from->gain[c] * term->sum[CNV_X] * term->sum[CNV_Y] - 1) > SLACK ||
                                    fabs(from->base[c] + from->fraction[c] - from->mid[c]) > SLACK))
      return FALSE;
  return find_axis(&plane->fixed[CNV_X], plane, CNV_X, ALONG / LOADED * one) &&
         find_axis(&plane->fixed[CNV_Y], plane, CNV_Y, DOWN / ALONG * one);
}

/* ---- tiles ---- */

/* Loads pixels first to last - 1 of row y of the field, -1 for a missing one. */
static void
load_row(const CpuWorker *worker, const CpuTile *tile, int y)
{
  const CnvPlane *plane = tile->plane->from;
  const CnvRectJob *job = tile->job;
  int channels = plane->channels, reach = tile->plane->fixed[CNV_X].radius;
  int first = tile->first - reach, last = tile->last + reach;
  int inside = CLAMP(job->window_x, first, last), end = CLAMP(job->window_x + job->window_width, inside, last);
  gint16 *line = worker->shorts;
  const guint8 *row = cnv_component_at(&tile->frame->source[0], &plane->component[0], job, 0, MAX(y, 0));

  if (y < 0)
    inside = end = first;
  tile->frame->simd->fixed->load(line + (inside - first) * channels, row + inside * channels,
                                 (end - inside) * channels);
  for (int x = inside > first ? first : end; x < last; x = x + 1 == inside ? end : x + 1) {
    int source = y < 0 ? -1 : cnv_cpu_source(tile, CNV_X, x);

    for (int c = 0; c < channels; c++)
      line[(x - first) * channels + c] =
          (gint16)CNV_CPU_FIXED_OF(source < 0 ? plane->border_value[c] + plane->mid[c] : row[source * channels + c]);
  }
}

static void
store_row(CpuWorker *worker, const CpuTile *tile, int y, const gint16 *sums)
{
  const CnvPlane *plane = tile->plane->from;
  const CnvRectJob *job = tile->job;
  float *acc = worker->term[0].acc;
  int n = cnv_cpu_samples(tile), x = tile->first + job->move_x, to_y = y + job->move_y;

  if (job->n_mask_rects == 0) {
    guint8 *to = cnv_component_at(&tile->frame->out, &plane->component[0], job, x, to_y);

    tile->frame->simd->fixed->store(to, sums, n);
    if (tile->plane->mask)
      tile->frame->simd->merge(to, cnv_component_at(&tile->frame->in, &plane->component[0], job, x, to_y),
                               tile->plane->mask, n);
    return;
  }
  for (int i = 0; i < n; i++) /* 0.25: the other way rounds to even */
    acc[i] = ((sums[i] + 0.25f) / (float)DOWN + 127.5f - plane->mid[0]) / plane->gain[i % plane->channels];
  cnv_cpu_store_row(worker, tile, y, acc);
}

void
cnv_cpu_fix(CpuWorker *worker, const CpuTile *tile)
{
  const CpuPlane *plane = tile->plane;
  const CpuSimdFixed *simd = tile->frame->simd->fixed;
  const CpuFixed *x = &plane->fixed[CNV_X], *down = &plane->fixed[CNV_Y];
  int n = cnv_cpu_samples(tile), slots = plane->slots, filled = 0;
  const gint16 *rows[2 * CNV_CPU_FIXED_RADIUS + 2];
  gint16 *ring = worker->shorts + plane->short_line, *sums = ring + slots * plane->short_stride;

  for (int y = tile->top; y < tile->bottom; y += 2) {
    for (; filled < y - tile->top + slots; filled++) {
      load_row(worker, tile, cnv_cpu_source(tile, CNV_Y, tile->top - down->radius + filled));
      simd->row(ring + filled % slots * plane->short_stride, worker->shorts, n, x, plane->from->channels);
    }
    for (int k = 0; k < slots; k++)
      rows[k] = ring + (y - tile->top + k) % slots * plane->short_stride;
    simd->column(sums, plane->short_stride, rows, n, down);
    for (int i = 0; i < 2 && y + i < tile->bottom; i++)
      store_row(worker, tile, y + i, sums + i * plane->short_stride);
  }
}
