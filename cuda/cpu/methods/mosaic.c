/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Computes the means of a mosaic's cells, one row of cells after another. Vector code adds up each column of samples in
 * a row of cells. Then the sums of each cell's columns are added.
 */
#include "cpu/cpu.h"

#include <string.h>

/* Rows added up in float32, which is exact for this number of 16-bit samples. Their sums are added in double. */
#define ROWS_MAX 16

static void
lay_out(CpuWorker *worker, const CpuPlane *plane, CpuArena *arena)
{
  worker->columns = cnv_cpu_take(arena, plane->widest, sizeof(double));
  worker->cells = cnv_cpu_take(arena, plane->widest, sizeof(double));
}

/* Adds up the columns of a part of a row of cells. */
static void
sum_columns(CpuWorker *worker, const CpuTile *part)
{
  int n = cnv_cpu_samples(part);
  float *acc = worker->term[0].acc;
  double *sums = worker->columns;

  memset(sums, 0, n * sizeof(double));
  for (int top = part->top; top < part->bottom; top += ROWS_MAX) {
    cnv_cpu_load_row(worker, part, 0, top, acc);
    for (int y = top + 1; y < MIN(top + ROWS_MAX, part->bottom); y++) {
      cnv_cpu_load_row(worker, part, 0, y, worker->line);
      part->frame->simd->add_scaled(acc, worker->line, 1, n);
    }
    for (int i = 0; i < n; i++)
      sums[i] += acc[i];
  }
}

/* Adds the columns of a part to the sums of their cells. first: number of the first cell. */
static void
add_columns(const CpuWorker *worker, const CpuTile *part, int first)
{
  const CnvPlane *plane = part->plane->from;
  const double *sums = worker->columns;
  int channels = plane->channels;

  for (int k = cnv_cell_of(plane, part->job, CNV_X, part->first), x = part->first; x < part->last; k++) {
    int end = MIN(cnv_cell_edge(plane, part->job, CNV_X, k + 1), part->last);
    double *cell = worker->cells + (k - first) * channels;

    for (; x < end; x++)
      for (int c = 0; c < channels; c++)
        cell[c] += *sums++;
  }
}

static void
sum_cells(CpuWorker *worker, const CpuTile *cells)
{
  const CnvPlane *plane = cells->plane->from;
  int width = cells->plane->widest / plane->channels;
  CpuTile part = *cells;

  for (; part.first < cells->last; part.first = part.last) {
    part.last = MIN(part.first + width, cells->last);
    sum_columns(worker, &part);
    add_columns(worker, &part, cnv_cell_of(plane, cells->job, CNV_X, cells->first));
  }
}

/* Fills each pixel of a tile's row with the mean of its cell. rows: of the cell. */
static void
spread(const CpuWorker *worker, const CpuTile *tile, int rows)
{
  const CnvPlane *plane = tile->plane->from;
  int channels = plane->channels, last = cnv_cell_of(plane, tile->job, CNV_X, tile->last - 1);
  double *cell = worker->cells;
  float *to = worker->term[0].acc;

  for (int k = cnv_cell_of(plane, tile->job, CNV_X, tile->first), x = tile->first; k <= last; k++, cell += channels) {
    int from = cnv_cell_edge(plane, tile->job, CNV_X, k), edge = cnv_cell_edge(plane, tile->job, CNV_X, k + 1);
    int end = k == last ? tile->last : edge;

    for (int c = 0; c < channels; c++)
      cell[c] /= (double)(edge - from) * rows;
    for (; x < end; x++)
      for (int c = 0; c < channels; c++)
        *to++ = (float)cell[c];
  }
}

/* Computes the means of the cells of row y of a tile, in acc of its term. Returns the first row of the tile below these
 * cells. */
static int
make_means(CpuWorker *worker, const CpuTile *tile, int y)
{
  const CnvPlane *plane = tile->plane->from;
  const CnvJob *job = tile->job;
  int first = cnv_cell_of(plane, job, CNV_X, tile->first), end = cnv_cell_of(plane, job, CNV_X, tile->last - 1) + 1;
  int row = cnv_cell_of(plane, job, CNV_Y, y);
  CpuTile cells = *tile; /* the cells that the tile meets, not cut off */

  cells.first = cnv_cell_edge(plane, job, CNV_X, first);
  cells.last = cnv_cell_edge(plane, job, CNV_X, end);
  cells.top = cnv_cell_edge(plane, job, CNV_Y, row);
  cells.bottom = cnv_cell_edge(plane, job, CNV_Y, row + 1);
  memset(worker->cells, 0, (end - first) * plane->channels * sizeof(double));
  if (cnv_cells_have_means(plane))
    sum_cells(worker, &cells);
  spread(worker, tile, cells.bottom - cells.top);
  return cells.bottom < job->window_y + job->window_height ? MIN(cells.bottom, tile->bottom) : tile->bottom;
}

static void
run(CpuWorker *worker, const CpuTile *tile)
{
  for (int y = tile->top; y < tile->bottom;) {
    int end = make_means(worker, tile, y);
    const float *acc = cnv_cpu_combine(worker, tile, y, 0);

    for (; y < end; y++)
      cnv_cpu_store_row(worker, tile, y, acc);
  }
}

const CpuMethod cnv_cpu_mosaic = {
    .name = "mosaic",
    .algorithms = 1 << CNV_ALGORITHM_MOSAIC,
    .unit = 2,
    .shape = cnv_cpu_shape_rings,
    .lay_out = lay_out,
    .run = run,
};
