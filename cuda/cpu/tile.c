/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * What a thread of the CPU engine does with one tile. For each term a ring of rows runs down it, of row-filtered ones
 * for separable taps, of loaded ones for dense taps; then the terms' sums become one, and that becomes samples. Rows of
 * plain planes are read and written by vector code, others component by component.
 */
#include <math.h>

#include "cpu/tile.h"

void
cnv_cpu_copy_tile(CpuSession *self, CpuWorker *worker, const CpuTile *tile)
{
  const guint8 *from = self->in.data[tile->memory];
  guint8 *to = self->out.data[tile->memory];
  gssize from_stride = self->in.stride[tile->memory], to_stride = self->out.stride[tile->memory];

  for (int y = tile->top; y < tile->bottom; y++)
    memcpy(to + y * to_stride + tile->first, from + y * from_stride + tile->first, tile->last - tile->first);
}

void
cnv_cpu_naive_tile(CpuSession *self, CpuWorker *worker, const CpuTile *tile)
{
  CnvCpuArea area = {.plan = tile->plane->plan,
                     .plane = tile->plane->from,
                     .job = tile->job,
                     .spots = (const CnvMaskRect *)self->spots->data,
                     .temporal_taps = {self->temporal_tap, self->n_temporal_taps},
                     .in = &self->in,
                     .out = &self->out,
                     .first = tile->first,
                     .last = tile->last,
                     .top = tile->top,
                     .bottom = tile->bottom};

  cnv_cpu_naive(&area);
}

/* Loading. */

/* The component comes by value: bytes that are written could be its own. */
static inline void
load_lane(float *to, int channels, const guint8 *from, int n, const CnvComponent component, float mid, int bytes)
{
  for (int i = 0; i < n; i++, from += component.step)
    to[i * channels] = (float)cnv_lane_get(from, &component, bytes) - mid;
}

static void
load_means(const CnvFrame *frame, const CpuTile *tile, const CnvComponent *component, int x, int y, int n, float *to)
{
  for (int i = 0; i < n; i++)
    to[i * tile->plane->from->channels] =
        (float)cnv_lane_value(frame, &tile->plane->plan->image, component, tile->job, x + i, y);
}

static void
load_lanes(const CnvFrame *frame, const CpuTile *tile, int x, int y, int n, float *to)
{
  const CnvPlanPlane *plane = tile->plane->from;
  int channels = plane->channels, weight = plane->weight;

  for (int c = 0; c < channels; c++) {
    const CnvComponent *component = &plane->component[c];
    const guint8 *from;

    if (component->sub_x || component->sub_y) {
      load_means(frame, tile, component, x, y, n, to + c);
      continue;
    }
    from = cnv_lane_at(frame, component, tile->job, x, y);
    if (component->bytes == 1)
      load_lane(to + c, channels, from, n, *component, plane->mid[c], 1);
    else if (component->bytes == 2)
      load_lane(to + c, channels, from, n, *component, plane->mid[c], 2);
    else
      load_lane(to + c, channels, from, n, *component, plane->mid[c], 4);
  }
  for (int i = 0; weight >= 0 && i < n; i++, to += channels) {
    float share = to[weight];

    for (int c = 0; c < channels; c++)
      to[c] *= share;
    to[weight] = share;
  }
}

/* What a term's rows of a tile are loaded by. */
typedef struct {
  const CnvCpuSimd *simd;
  const CpuTile *tile;
  const CpuStream *stream; /* its temporal taps */
  float *frame;            /* room for a row of one of them */
} Loader;

static void
load_frame(const Loader *loader, const CnvFrame *frame, int x, int y, int n, float *to)
{
  const CpuTile *tile = loader->tile;
  const CnvPlanPlane *plane = tile->plane->from;

  if (plane->plain)
    loader->simd->load[plane->component[0].bytes - 1](to, cnv_lane_at(frame, &plane->component[0], tile->job, x, y),
                                                      n * plane->channels, &tile->plane->samples);
  else
    load_lanes(frame, tile, x, y, n, to);
}

/* Loads n pixels from (x, y) on, within the window: the frames that count, added up while the row is in cache, so that
 * whatever follows costs the same for any number of them. */
static void
load_inside(const Loader *loader, int x, int y, int n, float *to)
{
  const CpuTemporalTaps *temporal_taps = &loader->stream->temporal_taps;
  int samples = n * loader->tile->plane->from->channels;
  gboolean begun = FALSE;

  for (guint i = 0; i < temporal_taps->n; i++) {
    const CpuTemporalTap *temporal_tap = &temporal_taps->temporal_tap[i];

    if (!temporal_tap->frame)
      continue;
    load_frame(loader, temporal_tap->frame, x, y, n, begun ? loader->frame : to);
    if (begun)
      loader->simd->add_weighed(to, loader->frame, temporal_tap->weight, samples);
    else if (temporal_tap->weight != 1)
      loader->simd->weigh(to, temporal_tap->weight, samples);
    begun = TRUE;
  }
  if (!begun)
    memset(to, 0, samples * sizeof(float));
}

/* n pixels that are not there. */
static void
load_missing(const Loader *loader, int n, float *to)
{
  const CpuPlane *plane = loader->tile->plane;
  float share = cnv_border_has_value(plane->plan->filter.border) ? loader->stream->share : 0;

  for (int i = 0; i < n; i++)
    for (int c = 0; c < plane->from->channels; c++)
      *to++ = plane->from->border[c] * share;
}

/* The line's first pixel, and those of it that lie within the window: from to end - 1. */
typedef struct {
  int first, from, end;
} Extent;

/* TRUE where all pixels outside on one side of the window are the same. */
static gboolean
is_uniform(CnvBorder border)
{
  return cnv_border_index(border, -1, 4) == cnv_border_index(border, -3, 4);
}

/* Fills n pixels with the first of them. */
static void
repeat_pixel(float *to, int channels, int n)
{
  float pixel[CNV_MAX_CHANNELS];

  memcpy(pixel, to, channels * sizeof(float));
  for (int i = 0; i < n; i++, to += channels)
    for (int c = 0; c < channels; c++)
      to[c] = pixel[c];
}

/* Loads pixels x to last - 1 of row y, which lie outside the window, once the others are in the line. */
static void
load_outside(const Loader *loader, const Extent *extent, int x, int last, int y, float *line)
{
  const CnvRectJob *job = loader->tile->job;
  CnvBorder border = loader->tile->plane->plan->filter.border;
  int channels = loader->tile->plane->from->channels;
  float *to = line + (x - extent->first) * channels;

  for (; x < last; x++, to += channels) {
    int index = cnv_border_index(border, x - job->window_x, job->window_width);
    int source = index + job->window_x;

    if (index < 0)
      load_missing(loader, 1, to);
    else if (source < extent->from || source >= extent->end)
      load_inside(loader, source, y, 1, to);
    else
      for (int c = 0; c < channels; c++)
        to[c] = line[(source - extent->first) * channels + c];
    if (is_uniform(border)) {
      repeat_pixel(to, channels, last - x);
      return;
    }
  }
}

/* Loads a tile's part of row y (or of a missing one, -1) with the apron of a term. */
static void
load_line(const Loader *loader, const CnvPlanTerm *set, int y, float *line)
{
  const CpuTile *tile = loader->tile;
  const CnvRectJob *job = tile->job;
  int channels = tile->plane->from->channels;
  int first = tile->first - set->anchor[CNV_X], last = tile->last + set->n[CNV_X] - 1 - set->anchor[CNV_X];
  int from = CLAMP(job->window_x, first, last), end = CLAMP(job->window_x + job->window_width, from, last);
  Extent extent = {first, from, end};

  if (y < 0) {
    load_missing(loader, last - first, line);
    return;
  }
  if (from < end)
    load_inside(loader, from, y, end - from, line + (from - first) * channels);
  load_outside(loader, &extent, first, from, y, line);
  load_outside(loader, &extent, end, last, y, line);
}

/* The row of the field that a term's ring has at number k, -1 for a missing one. */
static int
row_of(const CpuTile *tile, const CnvPlanTerm *set, int k)
{
  const CnvRectJob *job = tile->job;
  int y = cnv_border_index(tile->plane->plan->filter.border, tile->top - set->anchor[CNV_Y] + k - job->window_y,
                           job->window_height);

  return y < 0 ? -1 : y + job->window_y;
}

/* Filters a loaded row, which may be spoilt. */
static void
filter_line(const CnvCpuSimd *simd, float *line, const CpuTile *tile, const CpuTerm *term, float *to)
{
  const CnvPlanTerm *set = term->set;
  const float *taps = tile->plane->plan->taps + set->axis[CNV_X];
  int channels = tile->plane->from->channels, n = (tile->last - tile->first) * channels;

  if (term->run[CNV_X].n)
    simd->row_by_sums(to, line, n, taps, set->n[CNV_X], &term->run[CNV_X], channels);
  else
    simd->row(to, line, n, taps, set->n[CNV_X], channels);
}

/* Fills the ring with its next row. Below and above a plane the same row often comes again, and is then not filtered
 * again. */
static void
fill_ring(const CpuSession *self, CpuWorker *worker, const CpuTile *tile, int t)
{
  const CpuPlane *plane = tile->plane;
  const CpuTerm *term = &plane->term[t];
  const CnvPlanTerm *set = term->set;
  CpuStream *stream = &worker->term[t];
  Loader loader = {self->simd, tile, stream, worker->frame};
  int k = stream->filled++, y = row_of(tile, set, k);
  float *to = stream->ring + k % term->slots * term->ring_stride;

  if (k > 0 && y == stream->previous) {
    memcpy(to, stream->ring + (k - 1) % term->slots * term->ring_stride, term->ring_stride * sizeof(float));
  } else if (plane->dense) {
    load_line(&loader, set, y, to);
  } else {
    load_line(&loader, set, y, worker->line);
    filter_line(self->simd, worker->line, tile, term, to);
  }
  stream->previous = y;
}

/* Sums of term t for the next plane->rows rows of output. */
static void
filter_term(const CpuSession *self, CpuWorker *worker, const CpuTile *tile, int t, int y)
{
  const CpuPlane *plane = tile->plane;
  const CpuTerm *term = &plane->term[t];
  const CnvPlanTerm *set = term->set;
  CpuStream *stream = &worker->term[t];
  const float *const *rows = stream->rows + (y - tile->top) % term->slots;
  int channels = plane->from->channels, n = (tile->last - tile->first) * channels;

  while (stream->filled < y - tile->top + term->slots)
    fill_ring(self, worker, tile, t);
  if (plane->dense)
    self->simd->dense(stream->acc, plane->acc_stride, rows, n, term->dense, set->n[CNV_X], set->n[CNV_Y], channels);
  else if (term->run[CNV_Y].n)
    cnv_cpu_slide(self->simd, plane, term, stream, rows, y - tile->top, n);
  else
    self->simd->column(stream->acc, plane->acc_stride, rows, n, term->column, set->n[CNV_Y]);
}

/* Renormalize: taps that find no sample are left out. */

static double
ratio(double sum, double present, gboolean all, float epsilon)
{
  return all ? 1 : fabs(present) > epsilon ? sum / present : 0;
}

/* Prefix sums over the columns of a term's taps, of those within the rows of its span. */
static void
sum_columns(const CpuPlane *plane, const CpuTerm *term, CpuStream *stream)
{
  const CnvPlanTerm *set = term->set;
  const float *taps = plane->plan->taps + set->dense;
  const double *x = term->sums[CNV_X], *y = term->sums[CNV_Y];
  int width = set->n[CNV_X];

  stream->sums[0] = 0;
  for (int kx = 0; kx < width; kx++) {
    stream->sums[kx + 1] = stream->sums[kx];
    if (set->separable)
      stream->sums[kx + 1] += (x[kx + 1] - x[kx]) * (y[stream->span.last] - y[stream->span.first]);
    for (int ky = stream->span.first; !set->separable && ky < stream->span.last; ky++)
      stream->sums[kx + 1] += taps[(gsize)ky * width + kx];
  }
}

/* What a term counts among those that are added up: where terms have frames of their own, as much as its frame. */
static double
share_of(const CpuPlane *plane, const CpuWorker *worker, int t, gboolean one)
{
  return plane->plan->not_time_separable && !one ? worker->term[t].share : 1;
}

/* S/P of border.h at column x for terms first to last - 1 added up. */
static double
factor_at(const CpuPlane *plane, const CpuWorker *worker, const CnvRectJob *job, int first, int last, int x)
{
  const CpuTerm *term = &plane->term[first];
  CnvCpuSpan rows = worker->term[first].span, columns = {0, 0};
  gboolean all = TRUE, one = last - first == 1;
  double sum = 0, present = 0;

  for (int t = first; t < last; t++) {
    const CnvPlanTerm *set = plane->term[t].set;
    const double *sums = worker->term[t].sums;
    CnvCpuSpan span = worker->term[t].span;
    double share = share_of(plane, worker, t, one);

    columns = cnv_cpu_span(x - job->window_x, job->window_width, set->n[CNV_X], set->anchor[CNV_X]);
    all &= share == 0 || (columns.last - columns.first == set->n[CNV_X] && span.last - span.first == set->n[CNV_Y]);
    sum += share * plane->term[t].sum;
    present += share * (sums[columns.last] - sums[columns.first]);
  }
  if (one && term->set->separable) {
    const CnvPlanTerm *set = term->set;
    const double *along = term->sums[CNV_X], *down = term->sums[CNV_Y];

    return ratio(along[set->n[CNV_X]], along[columns.last] - along[columns.first],
                 columns.last - columns.first == set->n[CNV_X], set->epsilon[CNV_X]) *
           ratio(down[set->n[CNV_Y]], down[rows.last] - down[rows.first], rows.last - rows.first == set->n[CNV_Y],
                 set->epsilon[CNV_Y]);
  }
  return ratio(sum, present, all, one ? term->set->epsilon[0] : plane->from->epsilon);
}

/* The factors of a tile's row for terms first to last - 1 added up. What is divided by the weight has none. */
static void
make_factors(CpuWorker *worker, const CpuTile *tile, int first, int last)
{
  const CnvPlanPlane *plane = tile->plane->from;
  const CnvRectJob *job = tile->job;
  float *to = worker->term[first].factor;
  int inner = job->window_x, end = job->window_x + job->window_width; /* columns where no tap is missing */
  double factor = 1;

  for (int t = first; t < last; t++) {
    const CnvPlanTerm *set = &plane->term[t];

    inner = MAX(inner, job->window_x + set->anchor[CNV_X]);
    end = MIN(end, job->window_x + job->window_width - (set->n[CNV_X] - 1 - set->anchor[CNV_X]));
  }
  for (int x = tile->first; x < tile->last; x++) {
    if (x == tile->first || x <= inner || x >= end)
      factor = factor_at(tile->plane, worker, job, first, last, x);
    worker->scaled |= factor != 1;
    for (int c = 0; c < plane->channels; c++)
      *to++ = plane->weight < 0 || c == plane->weight ? (float)factor : 1;
  }
}

/* Makes the factors for row y. All rows between the borders have the same, so that they are seldom made. */
static void
renormalize(CpuWorker *worker, const CpuTile *tile, int y)
{
  const CnvPlanPlane *plane = tile->plane->from;
  const CnvRectJob *job = tile->job;
  gboolean same = TRUE;

  for (int t = 0; t < plane->n_terms; t++) {
    const CnvPlanTerm *set = &plane->term[t];
    CnvCpuSpan *span = &worker->term[t].span, now;

    now = cnv_cpu_span(y - job->window_y, job->window_height, set->n[CNV_Y], set->anchor[CNV_Y]);
    if (now.first == span->first && now.last == span->last)
      continue;
    same = FALSE;
    *span = now;
    sum_columns(tile->plane, &tile->plane->term[t], &worker->term[t]);
  }
  if (same)
    return;
  worker->scaled = FALSE;
  if (plane->combine != CNV_COMBINE_MAGNITUDE) {
    make_factors(worker, tile, 0, plane->n_terms);
    return;
  }
  make_factors(worker, tile, 0, 1);
  make_factors(worker, tile, 1, 2);
}

/* From sums to samples. */

/* Colours become means weighted by alpha; where there is none, the pixel is marked. */
static void
divide_by_weight(CpuWorker *worker, const CpuTile *tile, float *acc)
{
  const CnvPlanPlane *plane = tile->plane->from;
  int channels = plane->channels, w = plane->weight;
  float epsilon = plane->alpha_epsilon * plane->full[w], norm = plane->alpha_norm;
  guint8 *kept = worker->kept;

  for (int i = 0; i < tile->last - tile->first; i++, acc += channels) {
    float weight = acc[w], share = norm / weight;

    kept[i] = fabsf(weight) <= epsilon;
    if (kept[i])
      continue;
    for (int c = 0; c < channels; c++)
      acc[c] *= share;
    acc[w] = weight;
  }
}

/* a of plan.h for row number i of those that filter_term made. */
static const float *
combine(const CpuSession *self, CpuWorker *worker, const CpuTile *tile, int y, int i)
{
  const CpuPlane *plane = tile->plane;
  const CnvCpuSimd *simd = self->simd;
  int n = (tile->last - tile->first) * plane->from->channels;
  float *acc = worker->term[0].acc + i * plane->acc_stride;

  if (cnv_border_renormalizes(plane->plan->filter.border))
    renormalize(worker, tile, y);
  if (plane->from->combine == CNV_COMBINE_MAGNITUDE) {
    float *other = worker->term[1].acc + i * plane->acc_stride;

    if (worker->scaled) {
      simd->scale(acc, worker->term[0].factor, n);
      simd->scale(other, worker->term[1].factor, n);
    }
    simd->magnitude(acc, other, n);
    return acc;
  }
  for (int t = 1; t < plane->from->n_terms; t++)
    simd->add(acc, worker->term[t].acc + i * plane->acc_stride, n);
  if (plane->from->weight >= 0)
    divide_by_weight(worker, tile, acc);
  if (worker->scaled)
    simd->scale(acc, worker->term[0].factor, n);
  if (plane->from->combine == CNV_COMBINE_ABSOLUTE)
    simd->absolute(acc, plane->mid_bias, n);
  return acc;
}

/* Pixels of one component to be written. */
typedef struct {
  const float *acc;     /* of this component of each pixel */
  const float *weight;  /* of each pixel; NULL: all 1 */
  const guint8 *kept;   /* pixels whose input stands; NULL: none */
  const guint8 *source; /* input at the place filtered */
  const guint8 *in;     /* input at the place written */
  guint8 *out;
  int n;
} LaneRun;

static inline void
finish_lane(const LaneRun run, const CnvPlanPlane *plane, int c, int bytes)
{
  const CnvComponent component = plane->component[c];
  int channels = plane->channels, step = component.step;
  float base = plane->base[c], low = -base, high = plane->full[c] - base;
  float gain = plane->gain[c], fraction = plane->fraction[c];

  for (int i = 0; i < run.n; i++) {
    float v = gain * run.acc[i * channels] + fraction;

    v = v > low ? v : low;
    v = v < high ? v : high;
    if (run.kept && run.kept[i])
      v = (float)cnv_lane_get(run.source + i * step, &component, bytes) - base;
    if (run.weight)
      v += (1 - run.weight[i]) * ((float)cnv_lane_get(run.in + i * step, &component, bytes) - base - v);
    cnv_lane_put(run.out + i * step, &component, bytes, (int)(v + (CNV_CPU_ROUND + base) - CNV_CPU_ROUND));
  }
}

/* Writes n pixels of row y from number `from` of the tile on, component by component. */
static void
finish_lanes(const CpuSession *self, const CpuWorker *worker, const CpuTile *tile, int y, const float *acc, int from,
             int n, gboolean blended)
{
  const CnvPlanPlane *plane = tile->plane->from;
  const CnvRectJob *job = tile->job;
  int x = tile->first + from, to_x = x + job->move_x, to_y = y + job->move_y;

  for (int c = 0; c < plane->channels; c++) {
    const CnvComponent *component = &plane->component[c];
    LaneRun run = {acc + from * plane->channels + c, blended ? worker->weight + from : NULL};

    if (!(plane->filtered >> c & 1))
      continue;
    if (plane->weight >= 0 && c != plane->weight)
      run.kept = worker->kept + from;
    run.source = cnv_lane_at(&self->in, component, job, x, y);
    run.in = cnv_lane_at(&self->in, component, job, to_x, to_y);
    run.out = cnv_lane_at(&self->out, component, job, to_x, to_y);
    run.n = n;
    if (component->bytes == 1)
      finish_lane(run, plane, c, 1);
    else if (component->bytes == 2)
      finish_lane(run, plane, c, 2);
    else
      finish_lane(run, plane, c, 4);
  }
}

/* The weight of each sample of n pixels. */
static const float *
sample_weights(CpuWorker *worker, int from, int n, int channels)
{
  const float *weight = worker->weight + from;
  float *to = worker->frame;

  if (channels == 1)
    return weight;
  for (int i = 0; i < n; i++)
    for (int c = 0; c < channels; c++)
      *to++ = weight[i];
  return worker->frame;
}

/* The same for a plain plane. */
static void
finish_plain(const CpuSession *self, CpuWorker *worker, const CpuTile *tile, int y, const float *acc, int from, int n,
             gboolean blended)
{
  const CpuPlane *plane = tile->plane;
  const CnvComponent *component = &plane->from->component[0];
  const CnvRectJob *job = tile->job;
  int channels = plane->from->channels, bytes = component->bytes;
  int x = tile->first + from + job->move_x;
  const guint8 *in = cnv_lane_at(&self->in, component, job, x, y + job->move_y);
  guint8 *to = cnv_lane_at(&self->out, component, job, x, y + job->move_y);
  CnvCpuOutput output = {plane->gain, plane->fraction, plane->round};

  acc += from * channels;
  if (blended)
    self->simd->blend[bytes - 1](to, acc, sample_weights(worker, from, n, channels), in, n * channels, &plane->samples,
                                 &output);
  else
    self->simd->store[bytes - 1](to, acc, n * channels, &plane->samples, &output);
  if (plane->mask)
    self->simd->merge[bytes - 1](to, in, plane->mask, n * channels);
}

/* Writes a row: runs of pixels that weigh 1, 0 or something between; or, where nobody else writes what weighs 0, all as
 * if it weighed something between. */
static void
store_row(const CpuSession *self, CpuWorker *worker, const CpuTile *tile, int y, const float *acc)
{
  const CnvRectJob *job = tile->job;
  gboolean plain = tile->plane->from->plain, weighed = job->n_mask_rects > 0, shared = FALSE;
  int n = tile->last - tile->first;

  if (weighed)
    shared = self->simd->weigh_row(worker->weight, worker->owned_by_other, n, tile->first, y, job,
                                   (const CnvMaskRect *)self->spots->data);
  if (plain && !shared) {
    finish_plain(self, worker, tile, y, acc, 0, n, weighed);
    return;
  }
  for (int from = 0, end; from < n; from = end) {
    float weight = weighed ? worker->weight[from] : 1;

    end = weighed ? from + 1 : n;
    while (end < n && (weight < 1 && weight > 0 ? worker->weight[end] < 1 && worker->weight[end] > 0
                                                : worker->weight[end] == weight))
      end++;
    if (weight <= 0)
      continue;
    if (plain)
      finish_plain(self, worker, tile, y, acc, from, end - from, weight < 1);
    else
      finish_lanes(self, worker, tile, y, acc, from, end - from, weight < 1);
  }
}

static void
start_streams(const CpuSession *self, CpuWorker *worker, const CpuPlane *plane)
{
  CpuTemporalTaps all = {self->temporal_tap, self->n_temporal_taps};

  worker->scaled = FALSE;
  for (int t = 0; t < plane->from->n_terms; t++) {
    CpuStream *stream = &worker->term[t];
    int slots = plane->term[t].slots;

    stream->temporal_taps = cnv_cpu_moments_of(all, plane->plan, &plane->from->term[t]);
    stream->share = (float)cnv_cpu_moments_weight(stream->temporal_taps);
    stream->filled = 0;
    stream->previous = -1;
    stream->span = (CnvCpuSpan){-1, -1};
    for (int slot = 0; slot < 2 * slots; slot++)
      stream->rows[slot] = stream->ring + slot % slots * plane->term[t].ring_stride;
  }
}

void
cnv_cpu_filter_tile(CpuSession *self, CpuWorker *worker, const CpuTile *tile)
{
  const CpuPlane *plane = tile->plane;

  start_streams(self, worker, plane);
  for (int y = tile->top; y < tile->bottom; y += plane->rows) {
    for (int t = 0; t < plane->from->n_terms; t++)
      filter_term(self, worker, tile, t, y);
    for (int i = 0; i < plane->rows && y + i < tile->bottom; i++)
      store_row(self, worker, tile, y + i, combine(self, worker, tile, y + i, i));
  }
}
