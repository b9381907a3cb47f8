/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Averages frames over time with weights by their differences from the output's frame, as plan.h defines them. Rows are
 * averaged in parts for which the rows of all frames stay in cache.
 */
#include "cpu/cpu.h"

G_STATIC_ASSERT(CNV_CPU_AVERAGE_STRIDE % CNV_CPU_SLACK == 0);

/* Returns row y of the window, or the nearest one. */
static int
clamp_row(const CpuTile *tile, int y)
{
  const CnvJob *job = tile->job;

  return CLAMP(y, job->window_y, job->window_y + job->window_height - 1);
}

/* Repeats the window's first and last pixel if `row`, which has one more pixel on each side of the part, lacks them. */
static void
repeat_edges(const CpuTile *part, float *row)
{
  const CnvJob *job = part->job;
  const int channels = part->plane->from->channels, n = cnv_cpu_samples(part);

  for (int c = 0; c < channels; c++) {
    if (part->first == job->window_x)
      row[c] = row[channels + c];
    if (part->last == job->window_x + job->window_width)
      row[n + channels + c] = row[n + c];
  }
}

/* Loads row y of a frame, and the sums over it and the rows above and below, from one pixel before the part to one pixel
 * after it. */
static void
load_rows(const CpuWorker *worker, const CpuTile *part, const CnvFrame *frame, int y, float *row, float *columns,
          float *scratch)
{
  const CpuSimd *simd = part->frame->simd;
  const CnvJob *job = part->job;
  CpuTile wide = *part;
  int at, n;

  wide.first = MAX(part->first - 1, job->window_x);
  wide.last = MIN(part->last + 1, job->window_x + job->window_width);
  at = (wide.first - (part->first - 1)) * part->plane->from->channels;
  n = cnv_cpu_samples(&wide);
  cnv_cpu_load_frame(worker, &wide, frame, y, row + at);
  cnv_cpu_load_frame(worker, &wide, frame, clamp_row(part, y - 1), columns + at);
  cnv_cpu_load_frame(worker, &wide, frame, clamp_row(part, y + 1), scratch);
  simd->add_scaled(columns + at, row + at, 1, n);
  simd->add_scaled(columns + at, scratch, 1, n);
  repeat_edges(part, columns);
}

/* Computes the factors of differences of sums over 3x3 samples. */
static void
fill_scale(const CpuTile *part, int y, float *scale)
{
  const CpuPlane *plane = part->plane;
  const CnvPlane *from = plane->from;
  const CnvJob *job = part->job, *weights = cnv_cpu_weights(part);
  const float fraction = part->frame->threshold[plane->from->format_plane];
  const gboolean covered = plane->weighed || from->covered;

  for (int x = part->first; x < part->last; x++, scale += from->channels) {
    int sum = covered ? 0 : 9;

    for (int i = 0; i < 9 && covered; i++)
      sum +=
          cnv_cpu_weight_at(part, weights, CLAMP(x + i % 3 - 1, job->window_x, job->window_x + job->window_width - 1),
                            clamp_row(part, y + i / 3 - 1));
    for (int c = 0; c < from->channels; c++)
      scale[c] = 1 / (MAX(fraction * from->full[c], (float)CNV_THRESHOLD_LEAST) * (float)MAX(sum, 1));
  }
}

static void
average_part(const CpuWorker *worker, const CpuTile *part, int y, float *to)
{
  const CpuFrame *frame = part->frame;
  const int channels = part->plane->from->channels;
  float *averages = worker->averages, *scratch = averages, *scale = scratch + CNV_CPU_AVERAGE_STRIDE;
  float *rows = scale + CNV_CPU_AVERAGE_STRIDE;
  CpuAverage average = {.channels = channels, .scale = scale};

  fill_scale(part, y, scale);
  for (int i = 0; i < frame->n_sources; i++) {
    float *columns = rows + CNV_CPU_AVERAGE_STRIDE;

    if (frame->weight[i] == 0)
      continue;
    if (i == frame->center)
      average.center = average.n;
    load_rows(worker, part, &frame->source[i], y, rows, columns, scratch);
    average.weight[average.n] = frame->weight[i];
    average.value[average.n] = rows + channels;
    average.column[average.n++] = columns;
    rows += 2 * CNV_CPU_AVERAGE_STRIDE;
  }
  frame->simd->time->average(scratch, &average, cnv_cpu_samples(part));
  memcpy(to, scratch, cnv_cpu_samples(part) * sizeof(float));
}

void
cnv_cpu_average_row(const CpuWorker *worker, const CpuTile *tile, int y, float *to)
{
  const int channels = tile->plane->from->channels, most = CNV_CPU_AVERAGE / channels;
  CpuTile part = *tile;

  for (; part.first < tile->last; part.first = part.last) {
    part.last = MIN(part.first + most, tile->last);
    average_part(worker, &part, y, to);
    to += cnv_cpu_samples(&part);
  }
}
