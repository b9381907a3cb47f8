/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Dense taps as steps: down a column of a disk's taps most are alike, so that with sums of all rows of samples so far
 * at hand only those count that differ from the tap above them.
 */
#include "cpu/cpu.h"

#include "plan/arith.h"

#define SUM_MOST 524288  /* of a column, twice: 64 times as much is exact in float32 */
#define SUMMED_LEAST 100 /* dense taps */
#define RESTART 128      /* rows: few beside those that a tile makes, many beside those of the taps */

/* Finds the steps of dense taps of `channels` floats each, by the column, so that sums stay small. steps NULL: counts
 * them. */
static int
steps_of(const CnvPlan *plan, const CnvTerm *term, int channels, CpuStep *steps)
{
  int n = 0, height = term->n[CNV_Y];

  for (int x = 0; x < term->n[CNV_X]; x++)
    for (int y = 0; y <= height; y++) {
      double above = y > 0 ? cnv_plan_tap(plan, term, x, y - 1) : 0,
             here = y < height ? cnv_plan_tap(plan, term, x, y) : 0;

      if (above == here)
        continue;
      if (steps)
        steps[n] = (CpuStep){y, x * channels, (float)(above - here)};
      n++;
    }
  return n;
}

/* Rows whose sums float32 holds exactly enough. */
static int
most_rows(const CpuPlane *plane)
{
  return (int)(SUM_MOST / (plane->from->full[0] + 1));
}

static double
cost(const CpuPlane *plane, int samples, int rows)
{
  int n_steps = 0;

  for (int t = 0; t < plane->from->n_terms; t++)
    n_steps += plane->term[t].n_steps;
  return (double)n_steps * samples * rows;
}

static gboolean
fits(CpuPlane *plane)
{
  const CnvPlane *from = plane->from;

  if (cnv_cpu_divides(plane) || plane->plan->n_temporal_taps > 1)
    return FALSE;
  for (int t = 0; t < from->n_terms; t++) {
    CpuTerm *term = &plane->term[t];

    term->n_steps = steps_of(plane->plan, term->from, from->channels, NULL);
    if (from->term[t].n[CNV_X] * from->term[t].n[CNV_Y] < SUMMED_LEAST || 3 * term->slots > most_rows(plane))
      return FALSE;
  }
  return plane->slots < most_rows(plane);
}

static void
shape(CpuPlane *plane)
{
  cnv_cpu_shape_rings(plane);
  for (int t = 0; t < plane->from->n_terms; t++)
    plane->term[t].slots++; /* for the sums above the first row */
  for (plane->restart[CNV_Y] = RESTART; plane->restart[CNV_Y] > most_rows(plane) - plane->slots;)
    plane->restart[CNV_Y] /= 2;
}

/* Tiles are parts of what is between two starts. */
static void
size_tiles(const CpuPlane *plane, const CnvJob *job, int threads, int size[CNV_N_AXES])
{
  cnv_cpu_size_tiles(plane, job, threads, size);
  size[CNV_Y] = plane->restart[CNV_Y] / cnv_divide_up(plane->restart[CNV_Y], size[CNV_Y]);
}

static void
fill(CpuPlane *plane, CpuArena *arena)
{
  for (int t = 0; t < plane->from->n_terms; t++) {
    CpuTerm *term = &plane->term[t];

    term->steps = cnv_cpu_take(arena, term->n_steps, sizeof(CpuStep));
    if (term->steps)
      steps_of(plane->plan, term->from, plane->from->channels, term->steps);
  }
}

/* The sums above a tile's first row of taps. */
static void
start_sums(CpuWorker *worker, const CpuTile *tile, int t, float *to)
{
  const CnvTerm *term = tile->plane->term[t].from;
  int n = cnv_cpu_samples(tile) + (term->n[CNV_X] - 1) * tile->plane->from->channels;

  memset(to, 0, tile->plane->term[t].ring_stride * sizeof(float));
  for (int y = cnv_cpu_origin(tile, CNV_Y); y < tile->top; y++) {
    cnv_cpu_load_row(worker, tile, t, cnv_cpu_source(tile, CNV_Y, y - term->anchor[CNV_Y]), worker->line);
    tile->frame->simd->add_scaled(to, worker->line, 1, n);
  }
}

/* The next row of a ring of sums: those of the row before and one more row. */
static void
enter(CpuWorker *worker, const CpuTile *tile, int t, int k, int y, float *to)
{
  const CpuTerm *term = &tile->plane->term[t];
  const float *before = worker->term[t].ring + (k + term->slots - 1) % term->slots * term->ring_stride;

  if (k == 0) {
    start_sums(worker, tile, t, to);
    return;
  }
  cnv_cpu_load_row(worker, tile, t, cnv_cpu_source(tile, CNV_Y, tile->top - term->from->anchor[CNV_Y] + k - 1), to);
  tile->frame->simd->add_scaled(to, before, 1, (int)term->ring_stride);
}

static void
sum(CpuWorker *worker, const CpuTile *tile, int t, int y, const float *const *rows)
{
  const CpuPlane *plane = tile->plane;
  const CpuTerm *term = &plane->term[t];
  float *acc = worker->term[t].acc;

  for (int i = 0; i < CNV_CPU_ROWS; i++)
    tile->frame->simd->steps(acc + i * plane->acc_stride, rows + i, cnv_cpu_samples(tile), term->steps, term->n_steps);
}

static void
run(CpuWorker *worker, const CpuTile *tile)
{
  static const CpuRing ring = {.enter = enter, .sum = sum};

  cnv_cpu_ring_run(worker, tile, &ring);
}

const CpuMethod cnv_cpu_prefix_sum = {
    .name = "prefix-sum",
    .algorithm = CNV_ALGORITHM_TILED,
    .unit = 2.5,
    .cost = cost,
    .fits = fits,
    .shape = shape,
    .size = size_tiles,
    .fill = fill,
    .run = run,
};
