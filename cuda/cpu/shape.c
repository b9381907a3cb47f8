/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Sizes of rings and tiles that methods share.
 */
#include "cpu/cpu.h"

#include "plan/arith.h"

/* Bytes of a plane's rings. They fit in the second-level cache. For CNV_CPU_ROWS rows of output at a time it is as fast
 * as the first-level cache, and tiles can be so wide that their aprons cost little. */
#define RING_BYTES (128 * 1024)
#define EQUAL_LEAST 16 /* least taps of a run: with fewer, multiplying by each tap is as fast */
#define OTHERS_MOST 2  /* most taps outside the run, which are multiplied one by one */
#define TILE_MIN 256   /* samples */
#define TILE_MAX 2048

void *
cnv_cpu_take(CpuArena *arena, gsize n, gsize size)
{
  void *part = arena->block ? arena->block + arena->used : NULL;

  arena->used += (n * size + CNV_CPU_ALIGNMENT - 1) / CNV_CPU_ALIGNMENT * CNV_CPU_ALIGNMENT;
  return part;
}

double
cnv_cpu_cost(const CpuMethod *method, const CpuPlane *plane, int samples, int rows)
{
  return method->unit * (method->cost ? method->cost(plane, samples, rows) : (double)samples * rows);
}

double
cnv_cpu_cost_of_taps(const CpuPlane *plane, int samples, int rows)
{
  gboolean separable = plane->from->algorithm == CNV_ALGORITHM_SEPARABLE;
  double taps = 0;

  for (const CnvTerm *term = plane->from->term; term < plane->from->term + plane->from->n_terms; term++)
    taps += separable ? term->n[CNV_X] + term->n[CNV_Y] : (double)term->n[CNV_X] * term->n[CNV_Y];
  return taps * samples * rows;
}

const CpuMethod *
cnv_cpu_method_of(const CpuPlane *plane, int samples, int rows)
{
  const CpuMethod *large = plane->large, *any = plane->method;

  return large && cnv_cpu_cost(large, plane, samples, rows) < cnv_cpu_cost(any, plane, samples, rows) ? large : any;
}

CpuTapRange
cnv_cpu_equal_taps(const float *taps, int n)
{
  CpuTapRange longest = {0, 0};

  for (int first = 0, end; first < n; first = end) {
    end = first + 1;
    while (end < n && taps[end] == taps[first])
      end++;
    if (end - first > longest.n)
      longest = (CpuTapRange){first, end - first};
  }
  return longest.n >= EQUAL_LEAST && n - longest.n <= OTHERS_MOST ? longest : (CpuTapRange){0, 0};
}

void
cnv_cpu_shape_term(CpuPlane *plane, int t)
{
  CpuTerm *term = &plane->term[t];
  const CnvTerm *from = &plane->from->term[t];

  term->from = from;
  term->slots = from->n[CNV_Y] + CNV_CPU_ROWS - 1;
  plane->slots += term->slots;
  for (int axis = 0; axis < CNV_N_AXES; axis++)
    term->taps[axis] =
        (CpuTaps){.tap = plane->plan->taps + from->taps[axis],
                  .width = from->n[CNV_X],
                  .height = from->n[CNV_Y],
                  .channels = plane->from->channels,
                  .equal = plane->dense ? (CpuTapRange){0, 0}
                                        : cnv_cpu_equal_taps(plane->plan->taps + from->taps[axis], from->n[axis])};
}

/* Returns the samples of a tile's row: near max_samples, and nearly equal for all tiles. */
static int
tile_samples(const CpuPlane *plane, int samples)
{
  int block = plane->from->channels == 3 ? 3 * CNV_CPU_BLOCK : CNV_CPU_BLOCK;

  return cnv_divide_up(cnv_divide_up(samples, cnv_divide_up(samples, plane->max_samples)), block) * block;
}

void
cnv_cpu_shape_width(CpuPlane *plane, int max_samples)
{
  plane->max_samples = max_samples;
  plane->widest = tile_samples(plane, MIN(plane->from->width * plane->from->channels, max_samples));
}

void
cnv_cpu_shape_near(CpuPlane *plane, int near)
{
  cnv_cpu_shape_width(plane, CLAMP(RING_BYTES / (int)sizeof(float) / near, TILE_MIN, TILE_MAX));
}

void
cnv_cpu_shape_rings(CpuPlane *plane)
{
  int near = 0;

  for (int t = 0; t < plane->from->n_terms; t++)
    near += plane->term[t].slots;
  cnv_cpu_shape_near(plane, near);
}

/* Tiles are high enough that filling the rings costs less than filtering. */
void
cnv_cpu_size_tiles(const CpuPlane *plane, const CnvJob *job, int threads, int size[CNV_N_AXES])
{
  int channels = plane->from->channels, width = tile_samples(plane, job->width * channels) / channels;
  int total = job->height * cnv_divide_up(job->width, width); /* rows of all columns of tiles */
  int least = cnv_divide_up(total, threads > 1 ? threads * CNV_CPU_TILES_A_THREAD : 1),
      most = cnv_divide_up(total, threads);
  int parts =
      MAX(total / MAX(least, MIN(most, 4 * plane->slots)), 1); /* a multiple of the threads, if there are enough */

  size[CNV_X] = width;
  size[CNV_Y] = cnv_divide_up(total, parts < threads ? parts : parts - parts % threads);
}
