/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "samples.h"

#include <math.h>
#include <string.h>

/* ---- reading ---- */

static double
weight_of(const CnvBlock *b, int source)
{
  return source < 0 ? 1 : b->sources.weight[source];
}

static double
missing_value(const CnvBlock *b, int first, int last, int channel)
{
  double weight = 0;

  if (!cnv_border_has_value(b->a.border))
    return 0;
  for (int i = first; i < last; i++)
    weight += weight_of(b, i);
  return weight * b->a.border_value[channel];
}

static double
read_sample(const Job *job, const guint8 *at)
{
  const CnvPlane *a = &job->block->a;
  guint16 half;
  float number;

  if (job->bytes == 1)
    return *at - (double)a->mid[0];
  if (job->bytes == 2) {
    memcpy(&half, at, 2);
    return (half >> a->component[0].shift & ((1 << a->component[0].bits) - 1)) - (double)a->mid[0];
  }
  memcpy(&number, at, 4);
  return number;
}

/* Maps n indices from `first` on to the samples that replace them, -1 for none. range: the least and the largest of
 * them. Returns FALSE if there is none. */
static gboolean
map_border(const CnvBlock *b, int first, int n, int size, int *index, int range[2])
{
  range[0] = size;
  range[1] = -1;
  for (int i = 0; i < n; i++) {
    index[i] = cnv_border_index((CnvBorder)b->a.border, first + i, size);
    if (index[i] < 0)
      continue;
    range[0] = MIN(range[0], index[i]);
    range[1] = MAX(range[1], index[i]);
  }
  return range[0] <= range[1];
}

/* Accesses the needed part of a source's window. Returns a pointer to sample 0 of row 0, which need not be readable, or
 * NULL. */
static const guint8 *
open_window(const Job *job, int source, const int columns[2], const int rows[2])
{
  const CnvBlock *b = job->block;
  gsize pixel = (gsize)b->a.channels * job->bytes;
  gint64 at = rows[0] * (gint64)b->in_stride + columns[0] * (gint64)pixel;
  guint64 from = b->in + (source < 0 ? 0 : b->sources.delta[source]);
  const guint8 *memory = standin_access_rows(job->op, from + at, b->in_stride, (columns[1] - columns[0] + 1) * pixel,
                                             rows[1] - rows[0] + 1, FALSE, "a kernel");

  return memory ? memory - at : NULL;
}

static gboolean
is_in(const int range[2], int i)
{
  return i >= range[0] && i <= range[1];
}

static void
add_row(const Job *job, Padded *to, int j, const guint8 *row, double weight, const int *columns)
{
  int C = job->block->a.channels;
  double *line = to->value + (gsize)j * to->width;

  for (int i = 0; i < to->width / C; i++)
    for (int c = 0; c < C && columns[i] >= 0; c++)
      line[i * C + c] += weight * read_sample(job, row + ((gsize)columns[i] * C + c) * job->bytes);
}

/* Fills in samples of row j that no source has: all of the row, or those beside the window. */
static void
fill_missing(const Job *job, Padded *to, int j, gboolean row_is_missing, const int *columns, int first, int last)
{
  const CnvBlock *b = job->block;
  int C = b->a.channels;

  for (int i = 0; i < to->width / C; i++)
    for (int c = 0; c < C; c++)
      if (row_is_missing || columns[i] < 0)
        to->value[(gsize)j * to->width + i * C + c] = missing_value(b, first, last, c);
}

Padded
samples_pad(const Job *job, Reach reach, int first, int last)
{
  const CnvBlock *b = job->block;
  int pixels = b->job.width + reach.columns, x = b->x - reach.left, y = b->y - reach.above;
  Padded to = {b->job.height + reach.rows, pixels * b->a.channels, NULL};
  g_autofree int *columns = g_new(int, pixels), *rows = g_new(int, to.rows);
  int across[2], down[2];

  to.value = g_new0(double, (gsize)to.rows *to.width);
  map_border(b, x, pixels, b->width, columns, across);
  map_border(b, y, to.rows, b->height, rows, down);
  for (int source = first; source < last && across[1] >= 0 && down[1] >= 0; source++) {
    const guint8 *window = open_window(job, source, across, down);

    for (int j = 0; j < to.rows && window; j++)
      if (is_in(down, rows[j]))
        add_row(job, &to, j, window + (gint64)rows[j] * b->in_stride, weight_of(b, source), columns);
  }
  for (int j = 0; j < to.rows; j++)
    fill_missing(job, &to, j, rows[j] < 0, columns, first, last);
  return to;
}

/* ---- averages over time ---- */

float *
samples_thresholds(const Op *op, const CnvThresholds *thresholds)
{
  const void *from = thresholds->given;

  if (thresholds->measured)
    from = standin_access(op, thresholds->measured, sizeof(thresholds->given), FALSE, "a kernel");
  return from ? g_memdup2(from, sizeof(thresholds->given)) : NULL;
}

double
samples_closeness(double difference, double weights, double threshold)
{
  double s = 1.5;

  if (weights > 0)
    s -= fabs(difference) / weights / MAX(threshold, CNV_THRESHOLD_LEAST);
  s = CLAMP(s, 0, 1);
  return s * s * (3 - 2 * s);
}

/* Returns the sum over 3x3 samples of frame k. window: its sample 0 of row 0. */
static double
sum_around(const Job *job, const guint8 *window, int channel, int x, int y)
{
  const CnvBlock *b = job->block;
  double sum = 0;

  for (int i = 0; i < 9; i++) {
    int column = CLAMP(x + i % 3 - 1, 0, b->width - 1), row = CLAMP(y + i / 3 - 1, 0, b->height - 1);

    sum += read_sample(job, window + row * (gint64)b->in_stride + (column * b->a.channels + channel) * job->bytes);
  }
  return sum;
}

void
samples_average(const Job *job, double threshold, double *acc)
{
  const CnvBlock *b = job->block;
  const CnvSources *sources = &b->sources;
  const int columns[2] = {0, b->width - 1}, rows[2] = {0, b->height - 1}, C = b->a.channels;
  const guint8 *window[CNV_ARGS_SOURCES];
  double all = 0;

  if (sources->delta[sources->center] != 0)
    standin_report("a kernel: frame %d of a history is not the output's", sources->center);
  for (int k = 0; k < sources->n; k++) {
    all += sources->weight[k];
    window[k] = open_window(job, k, columns, rows);
    if (!window[k])
      return;
  }
  for (int i = 0; i < b->job.width * C * b->job.height; i++) {
    int channel = i % C, x = b->x + i / C % b->job.width, y = b->y + i / (b->job.width * C);
    gint64 at = y * (gint64)b->in_stride + (x * C + channel) * job->bytes;
    double own = sum_around(job, window[sources->center], channel, x, y), sum = 0, found = 0;

    for (int k = 0; k < sources->n; k++) {
      double weight = sources->weight[k] * samples_closeness(sum_around(job, window[k], channel, x, y) - own, 9,
                                                             threshold * b->a.full[channel]);

      sum += weight * read_sample(job, window[k] + at);
      found += weight;
    }
    acc[i] = sum / found * all;
  }
}

/* ---- sums ---- */

static void
sources_of(const CnvBlock *b, const CnvTerm *t, int *first, int *last)
{
  gboolean one = b->sources.n > 0 && t->temporal_tap >= 0;

  *first = b->sources.n == 0 ? -1 : one ? t->temporal_tap : 0;
  *last = b->sources.n == 0 ? 0 : one ? t->temporal_tap + 1 : b->sources.n;
}

static void
multiply_add(double *to, const double *from, double tap, int n)
{
  for (int i = 0; i < n; i++)
    to[i] += tap * from[i];
}

static Padded
pad_for_term(const Job *job, const CnvTerm *t)
{
  int first, last;

  sources_of(job->block, t, &first, &last);
  return samples_pad(job, (Reach){t->anchor[CNV_X], t->anchor[CNV_Y], t->n[CNV_X] - 1, t->n[CNV_Y] - 1}, first, last);
}

double *
samples_row_sums(const Job *job, const CnvTerm *t, int *rows)
{
  int C = job->block->a.channels, width = job->block->job.width * C;
  Padded from = pad_for_term(job, t);
  double *sums = g_new0(double, (gsize)from.rows *width);

  for (int j = 0; j < from.rows; j++)
    for (int i = 0; i < t->n[CNV_X]; i++)
      multiply_add(sums + (gsize)j * width, from.value + (gsize)j * from.width + i * C, job->taps[t->taps[CNV_X] + i],
                   width);
  *rows = from.rows;
  g_free(from.value);
  return sums;
}

static void
add_dense_term(const Job *job, const CnvTerm *t, double *acc)
{
  int C = job->block->a.channels, width = job->block->job.width * C;
  Padded from = pad_for_term(job, t);

  for (int y = 0; y < job->block->job.height; y++)
    for (int j = 0; j < t->n[CNV_Y]; j++)
      for (int i = 0; i < t->n[CNV_X]; i++)
        multiply_add(acc + (gsize)y * width, from.value + (gsize)(y + j) * from.width + i * C,
                     job->taps[t->taps[CNV_X] + i * t->n[CNV_Y] + j], width);
  g_free(from.value);
}

void
samples_add_term(const Job *job, const CnvTerm *t, double *acc)
{
  int width = job->block->job.width * job->block->a.channels, rows;
  g_autofree double *sums = NULL;

  if (!t->separable) {
    add_dense_term(job, t, acc);
    return;
  }
  sums = samples_row_sums(job, t, &rows);
  for (int y = 0; y < job->block->job.height; y++)
    for (int j = 0; j < t->n[CNV_Y]; j++)
      multiply_add(acc + (gsize)y * width, sums + (gsize)(y + j) * width, job->taps[t->taps[CNV_Y] + j], width);
}

/* ---- renormalize ---- */

static double
restore_sum(double sum, double found, double least)
{
  return fabs(found) > least ? sum / found : 0;
}

static double
axis_found(const Job *job, guint taps, int n, int first, int size)
{
  double found = 0;

  for (int i = 0; i < n; i++)
    if (first + i >= 0 && first + i < size)
      found += job->taps[taps + i];
  return found;
}

static gboolean
inside(int first, int n, int size)
{
  return first >= 0 && first + n <= size;
}

double
samples_x_factor(const Job *job, const CnvTerm *t, int x)
{
  int size = job->block->width;

  if (inside(x - t->anchor[CNV_X], t->n[CNV_X], size))
    return 1;
  return restore_sum(t->sum[CNV_X], axis_found(job, t->taps[CNV_X], t->n[CNV_X], x - t->anchor[CNV_X], size),
                     t->epsilon[CNV_X]);
}

double
samples_y_factor(const Job *job, const CnvTerm *t, int y)
{
  int size = job->block->height;

  if (inside(y - t->anchor[CNV_Y], t->n[CNV_Y], size))
    return 1;
  return restore_sum(t->sum[CNV_Y], axis_found(job, t->taps[CNV_Y], t->n[CNV_Y], y - t->anchor[CNV_Y], size),
                     t->epsilon[CNV_Y]);
}

static double
term_found(const Job *job, const CnvTerm *t, int x, int y)
{
  const CnvBlock *b = job->block;
  double found = 0;

  if (t->separable)
    return axis_found(job, t->taps[CNV_X], t->n[CNV_X], x - t->anchor[CNV_X], b->width) *
           axis_found(job, t->taps[CNV_Y], t->n[CNV_Y], y - t->anchor[CNV_Y], b->height);
  for (int i = 0; i < t->n[CNV_X]; i++)
    if (inside(x - t->anchor[CNV_X] + i, 1, b->width))
      found += axis_found(job, t->taps[CNV_X] + i * t->n[CNV_Y], t->n[CNV_Y], y - t->anchor[CNV_Y], b->height);
  return found;
}

static gboolean
finds_all(const CnvBlock *b, const CnvTerm *t, int x, int y)
{
  return inside(x - t->anchor[CNV_X], t->n[CNV_X], b->width) && inside(y - t->anchor[CNV_Y], t->n[CNV_Y], b->height);
}

static double
term_factor(const Job *job, const CnvTerm *t, int x, int y)
{
  if (finds_all(job->block, t, x, y))
    return 1;
  return t->separable ? samples_x_factor(job, t, x) * samples_y_factor(job, t, y)
                      : restore_sum(t->sum[CNV_X], term_found(job, t, x, y), t->epsilon[CNV_X]);
}

static double
joint_factor(const Job *job, int x, int y)
{
  const CnvBlock *b = job->block;
  gboolean all = TRUE, over_time = b->a.term[0].temporal_tap >= 0;
  double found = 0, sum = 0;

  for (int i = 0; i < b->a.n_terms; i++) {
    const CnvTerm *t = &b->a.term[i];
    double weight = t->temporal_tap < 0 || b->sources.n == 0 ? 1 : b->sources.weight[t->temporal_tap];

    if (weight == 0)
      continue;
    all &= finds_all(b, t, x, y);
    found += weight * term_found(job, t, x, y);
    sum += weight * (t->separable ? (double)t->sum[CNV_X] * t->sum[CNV_Y] : t->sum[CNV_X]);
  }
  return all ? 1 : restore_sum(over_time ? sum : b->a.sum, found, b->a.epsilon);
}

/* ---- storing ---- */

double
samples_finish(const CnvPlane *a, int channel, double acc)
{
  double sum = a->combine == CNV_COMBINE_ABSOLUTE ? fabs(acc + a->mid_bias[channel]) : acc;

  return CLAMP(sum * a->gain[channel] + a->fraction[channel], a->lowest[channel], a->highest[channel]);
}

guint
samples_level(const CnvPlane *a, int channel, double value)
{
  return (guint)((int)rint(value) + a->base[channel]);
}

static float
weight_at(const Job *job, int px, int py)
{
  const CnvJob *rect = &job->block->job;

  return job->coverage ? *cnv_job_weights(rect, job->coverage, rect->x + px, rect->y + py) / 255.0f : 1.0f;
}

/* Pointers to the output's first sample, the counts of writes of its bytes, and the input's sample at that place. */
typedef struct {
  guint8 *to, *written;
  const guint8 *back;
} Place;

static Place
open_output(const Job *job)
{
  const CnvBlock *b = job->block;
  gsize row = (gsize)b->job.width * b->a.channels * job->bytes;
  Place place = {.to = standin_access_rows(job->op, b->out, b->out_stride, row, b->job.height, TRUE, "a kernel")};

  if (place.to)
    place.written = standin_written(b->out);
  if (place.to && job->bytes < 4 && (b->job.coverage_pitch > 0 || b->a.copied))
    place.back = standin_access_rows(job->op, b->back, b->in_stride, row, b->job.height, FALSE, "a kernel");
  return place;
}

static Place
row_of(const Job *job, const Place *place, int y)
{
  const CnvBlock *b = job->block;

  return (Place){place->to + (gint64)y * b->out_stride, place->written + (gint64)y * b->out_stride,
                 place->back ? place->back + (gint64)y * b->in_stride : NULL};
}

/* A sample of a launch in place, kept until all jobs have read. */
typedef struct {
  guint8 *to;
  guint16 value;
  int bytes;
} LateSample;

static GArray *late;

static void
put_number(guint8 *to, int bytes, guint value)
{
  LateSample sample = {to, (guint16)value, bytes};

  if (late)
    g_array_append_val(late, sample);
  else if (bytes == 1)
    *to = (guint8)value;
  else
    memcpy(to, &sample.value, 2);
}

void
samples_keep(void)
{
  late = g_array_new(FALSE, FALSE, sizeof(LateSample));
}

void
samples_put_kept(void)
{
  GArray *kept = g_steal_pointer(&late);

  for (guint i = 0; i < kept->len; i++) {
    const LateSample *sample = &g_array_index(kept, LateSample, i);

    put_number(sample->to, sample->bytes, sample->value);
  }
  g_array_unref(kept);
}

static void
store_sample(const Job *job, const Place *row, int s, int px, int y, double acc)
{
  const CnvPlane *a = &job->block->a;
  int channel = s % a->channels;
  float weight = weight_at(job, px, y), number = (float)acc;
  gsize at = (gsize)s * job->bytes;
  double value;

  /* Without other jobs, coverage of 0 leaves the input's sample. */
  if (weight == 0 && (!job->coverage || job->block->job.shared))
    return;
  if (row->written[at]++)
    standin_report("a launch writes sample %d of row %d of a job of plane %d twice", s, y, job->block->job.plane);
  if (job->bytes == 4) {
    memcpy(row->to + at, &number, 4);
    return;
  }
  if (weight == 0 || !(a->filtered >> channel & 1)) { /* copied, including the bits that carry no value */
    if (row->back && row->back != row->to)
      memcpy(row->to + at, row->back + at, job->bytes);
    return;
  }
  value = samples_finish(a, channel, acc);
  if (weight < 1 && row->back)
    value += (1 - (double)weight) * (read_sample(job, row->back + at) + a->mid[0] - a->base[channel] - value);
  put_number(row->to + at, job->bytes,
             samples_level(a, channel, value) << (job->bytes == 2 ? a->component[0].shift : 0));
}

void
samples_store(const Job *job, const double *acc)
{
  const CnvJob *rect = &job->block->job;
  int C = job->block->a.channels, width = rect->width * C;

  Place place = open_output(job);

  for (int y = 0; y < rect->height && place.to; y++) {
    Place row = row_of(job, &place, y);

    for (int s = 0; s < width; s++)
      store_sample(job, &row, s, s / C, y, acc[(gsize)y * width + s]);
  }
}

static double
joined(const Job *job, double *const *term_sums, gsize at, int px, int y)
{
  const CnvBlock *b = job->block;
  gboolean renormalizes = cnv_border_renormalizes(b->a.border), squares = b->a.combine == CNV_COMBINE_MAGNITUDE;
  double total = 0;

  for (int i = 0; i < b->a.n_terms; i++) {
    double acc = term_sums[i][at];

    if (renormalizes && !b->a.joint)
      acc *= term_factor(job, &b->a.term[i], b->x + px, b->y + y);
    total += squares ? acc * acc : acc;
  }
  if (renormalizes && b->a.joint)
    total *= joint_factor(job, b->x + px, b->y + y);
  return squares ? sqrt(total) : total;
}

void
samples_store_terms(const Job *job, double *const *term_sums)
{
  const CnvJob *rect = &job->block->job;
  int C = job->block->a.channels, width = rect->width * C;
  g_autofree double *acc = g_new(double, (gsize)width * rect->height);

  for (int y = 0; y < rect->height; y++)
    for (int s = 0; s < width; s++)
      acc[(gsize)y * width + s] = joined(job, term_sums, (gsize)y * width + s, s / C, y);
  samples_store(job, acc);
}
