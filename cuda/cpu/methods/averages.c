/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Averages over time with a threshold, without a filter in the picture, of samples of up to 10 bits. In 16-bit
 * arithmetic a vector has twice as many numbers as in float32, and results are stored without another pass.
 */
#include "cpu/cpu.h"

#include <math.h>
#include <string.h>

#include "plan/arith.h"
#include "plan/component.h"

#define SLACK 1e-5  /* of gains that are 1 */
#define ONE 32768.0 /* of 16-bit numbers */
#define AHEAD 6     /* rows from the one that is averaged to the one that is fetched into cache */
#define BLOCK 64    /* samples that loops add up at once */

/* Numbers of each half of a row of sums, with what vectors write and read beyond it. */
#define HALF (CNV_CPU_NARROW_AVERAGE / 2 + 2 * CNV_CPU_ALIGNMENT)
#define ROW (2 * HALF)
#define FRAME (2 * ROW) /* two rows at a time share sums of two */

G_STATIC_ASSERT(HALF * sizeof(gint16) % CNV_CPU_ALIGNMENT == 0);

static gboolean
fits(CpuPlane *plane)
{
  const CnvPlan *plan = plane->plan;
  const CnvPlane *from = plane->from;
  const CnvTerm *term = &from->term[0];
  double sum = term->sum[CNV_X] * term->sum[CNV_Y], weights = 0;

  if (!plane->simd->time->columns || plan->threshold == 0 || plan->requested != CNV_ALGORITHM_AUTO ||
      from->n_terms > 1 || term->n[CNV_X] * term->n[CNV_Y] > 1 || term->anchor[CNV_X] || term->anchor[CNV_Y])
    return FALSE;
  if (!from->plain || plane->weighed || plane->of_weights || from->component[0].bytes > 2 ||
      from->full[0] > CNV_CPU_NARROW_FULL || from->combine != CNV_COMBINE_SUM || cnv_border_renormalizes(from->border))
    return FALSE;
  for (int i = 0; i < plan->n_temporal_taps; i++)
    weights += plan->weight[i];
  for (int c = 0; c < from->channels; c++)
    if (from->filtered >> c & 1 && (fabs(from->gain[c] * sum * weights - 1) > SLACK ||
                                    fabs(from->base[c] + from->fraction[c] - from->mid[c]) > SLACK))
      return FALSE;
  return TRUE;
}

static void
lay_out(CpuWorker *worker, const CpuPlane *plane, CpuArena *arena)
{
  worker->shorts = cnv_cpu_take(arena, (gsize)(plane->plan->n_temporal_taps + 1) * FRAME, sizeof(gint16));
}

/* ---- the formula in 16 bits ---- */

/* Sets the numbers of the threshold, of sums over 3x3 samples. */
static void
set_threshold(CpuNarrowAverage *average, double threshold)
{
  const double scaled = MAX(9 * threshold, 0.5); /* below 2/3 frames count only where they do not differ */

  average->step = (guint16)floor((ONE - 1) / scaled);
  average->most = (guint16)(G_MAXUINT16 / average->step);
  average->half = (guint16)rint(0.5 * scaled * average->step);
  average->fall = (guint16)rint(1.5 * scaled * average->step);
}

/* Sets the weights of frames: as large as 16 bits permit. */
static void
set_weights(CpuNarrowAverage *average, const float *weight)
{
  const double near = average->fall - average->half;
  const double factor = near * near * average->half / (2 * ONE * ONE * ONE); /* of a frame that does not differ */
  double sum = weight[0], most = 0, unit;

  for (int k = 1; k <= average->n; k++) {
    sum += weight[k];
    most = MAX(most, weight[k]);
  }
  unit = MIN((G_MAXUINT16 - 2.0 * average->n) / sum, (ONE - 1) / weight[0]);
  if (most > 0) /* a * weight / 2^16 is below 2^15 */
    unit = MIN(unit, (ONE - 1) * 2 * ONE / average->fall * factor / most);
  average->weight[0] = (guint16)rint(unit * weight[0]);
  for (int k = 1; k <= average->n; k++)
    average->weight[k] = (guint16)rint(unit * weight[k] / factor);
}

/* ---- tiles ---- */

static gint16 *
place_of(gint16 *sums, int i, int bytes)
{
  return bytes == 1 ? sums + i % 2 * HALF + i / 2 : sums + i;
}

/* Sums pixels first to last - 1 one by one, as pixels first + 1 and following of the sums. Beyond the `end` pixels they
 * are those at the edge. */
static void
sum_pixels(gint16 *to, const CpuColumnSums *sums, int first, int last, int end, const CpuPlane *plane)
{
  const CnvComponent *component = &plane->from->component[0];
  const int channels = plane->from->channels, bytes = sums->bytes;

  for (int i = first * channels; i < last * channels; i++) {
    const int c = (i + channels) % channels, x = CLAMP((i - c) / channels, 0, end - 1);

    for (int k = 0; k < sums->n; k++) {
      gint16 *sum = place_of(to + k * sums->frame, i + channels, bytes);
      int value[4];

      for (int row = 0; row < 4; row++)
        value[row] = cnv_component_get(sums->row[k][row] + (gssize)(x * channels + c) * bytes, component, bytes);
      sum[0] = (gint16)(value[0] + value[1] + value[2]);
      sum[ROW] = (gint16)(value[1] + value[2] + value[3]);
    }
  }
}

/* Sums row y and its neighbours, and the row after it, in all frames, from one pixel before the part to one pixel after
 * it. Pixels and rows beyond the window are those at its edge. Returns the sums. */
static const gint16 *
sum_rows(const CpuWorker *worker, const CpuTile *part, int y, const CpuNarrowAverage *average,
         const CnvFrame *const *source)
{
  const CpuPlane *plane = part->plane;
  const CnvJob *job = part->job;
  const int channels = plane->from->channels, bytes = average->bytes;
  const int width = part->last - part->first, end = job->window_x + job->window_width - part->first;
  const int first = part->first > job->window_x ? -1 : channels % 2; /* vectors begin with an even number */
  const int whole = (end - first) * channels / 2 * 2;
  const int last = CLAMP(first + whole / channels, first, width + 1);
  const int skipped = (first + 1) * channels;
  gint16 *to =
      worker->shorts + CNV_CPU_ALIGNMENT / sizeof(gint16) - skipped / (bytes == 1 ? 2 : 1); /* aligned stores */
  CpuColumnSums sums = {.n = average->n + 1,
                        .bytes = bytes,
                        .shift = average->shift,
                        .full = average->full,
                        .frame = FRAME,
                        .next = ROW,
                        .odd = HALF};

  for (int k = 0; k < sums.n; k++)
    for (int i = 0; i < 4; i++) {
      int row = CLAMP(y + i - 1, job->window_y, job->window_y + job->window_height - 1);

      sums.row[k][i] = cnv_component_at(source[k], &plane->from->component[0], job, part->first, row);
    }
  part->frame->simd->time->columns(place_of(to, skipped, bytes), &sums, first * channels,
                                   MIN(cnv_divide_up((last - first) * channels, BLOCK) * BLOCK, whole));
  sum_pixels(to, &sums, -1, first, end, plane);
  sum_pixels(to, &sums, last, width + 1, end, plane);
  return to;
}

/* Starts the averages of a tile: the frames that count, that of the output first. Sets their sources. */
static CpuNarrowAverage
start(const CpuWorker *worker, const CpuTile *tile, const CnvFrame *source[CNV_MAX_TEMPORAL_TAPS + 1])
{
  const CpuFrame *frame = tile->frame;
  const CpuPlane *plane = tile->plane;
  const double full = plane->from->full[0];
  CpuNarrowAverage average = {.channels = plane->from->channels,
                              .bytes = plane->samples.bytes,
                              .shift = plane->samples.shift,
                              .full = plane->samples.full,
                              .odd = HALF};
  float weight[CNV_MAX_TEMPORAL_TAPS + 1] = {frame->weight[frame->center]};

  source[0] = &frame->source[frame->center];
  for (int i = 0; i < frame->n_sources; i++)
    if (i != frame->center && frame->weight[i] != 0) {
      weight[++average.n] = frame->weight[i];
      source[average.n] = &frame->source[i];
    }
  if (average.n % 2)
    source[++average.n] = source[0];
  set_threshold(&average, full * frame->threshold[plane->from->format_plane]);
  set_weights(&average, weight);
  return average;
}

/* Averages row y of a part, and the row after it if `rows` is 2. */
static void
average_part(const CpuWorker *worker, const CpuTile *part, int y, int rows, CpuNarrowAverage *average,
             const CnvFrame *const *source)
{
  const CpuPlane *plane = part->plane;
  const CpuSimd *simd = part->frame->simd;
  const CnvComponent *component = &plane->from->component[0];
  const CnvJob *job = part->job;
  const int n = cnv_cpu_samples(part), x = part->first + job->move_x;
  const gint16 *columns = sum_rows(worker, part, y, average, source);

  average->ahead = (gssize)AHEAD * job->fields * source[0]->stride[component->plane];
  for (int row = 0; row < rows; row++) {
    guint8 *to = cnv_component_at(&part->frame->out, component, job, x, y + row + job->move_y);

    for (int k = 0; k <= average->n; k++) {
      average->value[k] = cnv_component_at(source[k], component, job, part->first, y + row);
      average->column[k] = columns + (gsize)k * FRAME + row * ROW;
    }
    simd->time->average_narrow(to, average, n);
    if (plane->mask)
      simd->merge(to, cnv_component_at(&part->frame->in, component, job, x, y + row + job->move_y), plane->mask,
                  n * component->bytes);
  }
}

static void
run(CpuWorker *worker, const CpuTile *tile)
{
  const int most = CNV_CPU_NARROW_AVERAGE / tile->plane->from->channels;
  const CnvFrame *source[CNV_MAX_TEMPORAL_TAPS + 1];
  CpuNarrowAverage average;
  CpuTile part = *tile;

  if (tile->job->coverage_pitch > 0) { /* composites before samples are rounded */
    cnv_cpu_rows.run(worker, tile);
    return;
  }
  average = start(worker, tile, source);
  for (int y = tile->top; y < tile->bottom; y += 2)
    for (part.first = tile->first; part.first < tile->last; part.first = part.last) {
      part.last = MIN(part.first + most, tile->last);
      average_part(worker, &part, y, MIN(tile->bottom - y, 2), &average, source);
    }
}

const CpuMethod cnv_cpu_averages = {
    .name = "averages",
    .algorithms = 1 << CNV_ALGORITHM_SEPARABLE,
    .unit = 0.5,
    .fits = fits,
    .shape = cnv_cpu_shape_rings,
    .lay_out = lay_out,
    .run = run,
};
