/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * What a thread of the CPU engine does with one tile: a ring of rows runs down it, of row-filtered ones for separable
 * taps, of loaded ones for dense taps.
 */
#include <math.h>

#include "cpu_tile.h"

static guint8 *
row_at(const CnvFrame *frame, int plane, int y)
{
  return (guint8 *)frame->data[plane] + (gssize)y * frame->stride[plane];
}

void
cnv_cpu_copy_tile(CpuSession *self, CpuWorker *worker, const CpuTile *tile)
{
  gsize bytes = (gsize)tile->plane->samples * self->plan->image.format->sample_bytes;

  for (int y = tile->top; y < tile->bottom; y++)
    memcpy(row_at(&self->out, tile->index, y), row_at(&self->in, tile->index, y), bytes);
}

void
cnv_cpu_naive_tile(CpuSession *self, CpuWorker *worker, const CpuTile *tile)
{
  cnv_cpu_naive(self->plan, tile->index, &self->in, &self->out, tile->top, tile->bottom);
}

static float
missing_sample(const CnvPlan *plan, const CnvPlanePlan *plane, int channel)
{
  return plan->filter.border == CNV_BORDER_CONSTANT ? plane->border[channel] : 0;
}

/* Loads pixels first to last - 1, which lie outside the row. */
static void
load_outside(const CpuSession *self, const CpuPlane *plane, const guint8 *row, int first, int last, float *to)
{
  const CnvPlanePlan *plan = plane->plan;
  int channels = plan->channels;
  const int *column = plane->column + plan->taps.anchor[CNV_X];

  for (int x = first; x < last; x++)
    for (int c = 0; c < channels; c++)
      *to++ = column[x] < 0
                  ? missing_sample(self->plan, plan, c)
                  : (float)cnv_cpu_sample(row, column[x] * channels + c, self->plan->image.format) - self->format.mid;
}

/* Loads a tile's part of row y (or of a missing one, -1) with the apron, as values minus mid. */
static void
load_line(const CpuSession *self, const CpuTile *tile, int y, float *to)
{
  const CpuPlane *plane = tile->plane;
  const CnvTapSet *set = &plane->plan->taps;
  int channels = plane->plan->channels, width = plane->plan->width;
  int first = tile->first / channels - set->anchor[CNV_X];
  int last = tile->last / channels + set->n[CNV_X] - 1 - set->anchor[CNV_X];
  int from = MAX(first, 0), end = MIN(last, width), bytes = self->plan->image.format->sample_bytes;
  const guint8 *row;

  if (y < 0) {
    for (int i = 0; i < (last - first) * channels; i++)
      to[i] = missing_sample(self->plan, plane->plan, i % channels);
    return;
  }
  row = row_at(&self->in, tile->index, y);
  load_outside(self, plane, row, first, from, to);
  self->simd->load[bytes - 1](to + (from - first) * channels, row + (gsize)from * channels * bytes,
                              (end - from) * channels, &self->format);
  load_outside(self, plane, row, end, last, to + (end - first) * channels);
}

/* Fills the ring with row number k of those the tile needs. previous: the row of the plane that number k - 1 was. Below
 * and above a plane the same row often comes again, and is then not filtered again. */
static void
fill_ring(const CpuSession *self, CpuWorker *worker, const CpuTile *tile, int k, int *previous)
{
  const CpuPlane *plane = tile->plane;
  const CnvTapSet *set = &plane->plan->taps;
  int y = cnv_border_index(self->plan->filter.border, tile->top - set->anchor[CNV_Y] + k, plane->plan->height);
  float *to = worker->ring + k % plane->slots * plane->ring_stride;

  if (k > 0 && y == *previous) {
    memcpy(to, worker->ring + (k - 1) % plane->slots * plane->ring_stride, plane->ring_stride * sizeof(float));
  } else if (plane->dense) {
    load_line(self, tile, y, to);
  } else {
    load_line(self, tile, y, worker->line);
    self->simd->row(to, worker->line, tile->last - tile->first, self->plan->taps + set->axis[CNV_X], set->n[CNV_X],
                    plane->plan->channels);
  }
  *previous = y;
}

/* Prefix sums over the columns of dense taps, of those within rows. */
static void
sum_columns(const CpuPlane *plane, CnvCpuSpan rows, double *sums)
{
  int width = plane->plan->taps.n[CNV_X];
  const float *taps = plane->dense + (CNV_CPU_DENSE_ROWS - 1) * width;

  sums[0] = 0;
  for (int kx = 0; kx < width; kx++) {
    sums[kx + 1] = sums[kx];
    for (int ky = rows.first; ky < rows.last; ky++)
      sums[kx + 1] += taps[(gsize)ky * width + kx];
  }
}

/* Dense taps that find no sample are left out: gains of the samples of a tile's row y, by the tap rows and columns that
 * find one. All rows between the borders have the same, so that they are seldom made. */
static void
renormalize_row(CpuWorker *worker, const CpuTile *tile, int y)
{
  const CpuPlane *plane = tile->plane;
  const CnvPlanePlan *plan = plane->plan;
  const CnvTapSet *set = &plan->taps;
  int width = set->n[CNV_X], height = set->n[CNV_Y];
  CnvCpuSpan rows = cnv_cpu_span(y, plan->height, height, set->anchor[CNV_Y]);

  if (rows.first == worker->span.first && rows.last == worker->span.last)
    return;
  worker->span = rows;
  sum_columns(plane, rows, worker->sums);
  for (int i = tile->first; i < tile->last; i++) {
    CnvCpuSpan columns = cnv_cpu_span(i / plan->channels, plan->width, width, set->anchor[CNV_X]);
    gboolean all = columns.last - columns.first == width && rows.last - rows.first == height;
    double present = worker->sums[columns.last] - worker->sums[columns.first];
    double factor = all ? 1 : fabs(present) > set->least[0] ? plane->dense_sum / present : 0;

    worker->gain[i - tile->first] = (float)(plan->gain * factor);
  }
}

static void
store_row(const CpuSession *self, CpuWorker *worker, const CpuTile *tile, int y, const float *acc)
{
  const CpuPlane *plane = tile->plane;
  int bytes = self->plan->image.format->sample_bytes, n = tile->last - tile->first;
  gsize offset = (gsize)tile->first * bytes;
  guint8 *to = row_at(&self->out, tile->index, y) + offset;
  CnvCpuOutput output = {plane->gain + tile->first, plane->fraction + tile->first, plane->round + tile->first,
                         plane->row_gain[y]};

  if (!plane->plan->taps.separable && self->plan->filter.border == CNV_BORDER_RENORMALIZE) {
    renormalize_row(worker, tile, y);
    output.gain = worker->gain;
  }
  self->simd->store[bytes - 1](to, acc, n, &self->format, &output);
  if (plane->mask)
    self->simd->merge[bytes - 1](to, row_at(&self->in, tile->index, y) + offset, plane->mask + offset, n);
}

void
cnv_cpu_filter_tile(CpuSession *self, CpuWorker *worker, const CpuTile *tile)
{
  const CpuPlane *plane = tile->plane;
  const CnvTapSet *set = &plane->plan->taps;
  int n = tile->last - tile->first, filled = 0, previous = -1;

  for (int slot = 0; slot < 2 * plane->slots; slot++)
    worker->rows[slot] = worker->ring + slot % plane->slots * plane->ring_stride;
  worker->span = (CnvCpuSpan){-1, -1};
  for (int y = tile->top; y < tile->bottom; y += plane->rows) {
    const float *const *rows = worker->rows + (y - tile->top) % plane->slots;

    for (; filled < y - tile->top + plane->slots; filled++)
      fill_ring(self, worker, tile, filled, &previous);
    if (plane->dense)
      self->simd->dense(worker->acc, plane->acc_stride, rows, n, plane->dense, set->n[CNV_X], set->n[CNV_Y],
                        plane->plan->channels);
    else
      self->simd->column(worker->acc, rows, n, self->plan->taps + set->axis[CNV_Y], set->n[CNV_Y]);
    for (int i = 0; i < plane->rows && y + i < tile->bottom; i++)
      store_row(self, worker, tile, y + i, worker->acc + i * plane->acc_stride);
  }
}
