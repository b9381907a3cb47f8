/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Mosaic: means of cells, row of cells after row of cells. Columns of a row of cells are added up first, by vector
 * code, then the columns of each cell.
 */
#include "cpu/cpu.h"

#include <string.h>

#define ROWS_MAX 16 /* added up in float32, which holds so many samples of 16 bits exactly; sums go on in double */

/* A row of cells, as far as a tile needs it. */
typedef struct {
  int first, end;  /* cells */
  int top, bottom; /* rows of the field */
} Cells;

int
cnv_cpu_mosaic_end(const CnvPlane *plane, const CnvRectJob *job, int end)
{
  int bottom = job->y + job->height, cut;

  if (!plane->cell[CNV_Y])
    return end;
  cut = cnv_cell_edge(plane, job, CNV_Y, cnv_cell_of(plane, job, CNV_Y, end - 1) + 1);
  return end < cut ? MIN(cut, bottom) : end;
}

/* Adds up the columns of a part of a tile. */
static void
sum_columns(const CpuWorker *worker, const CpuTile *part, const Cells *cells)
{
  int n = (part->last - part->first) * part->plane->from->channels;
  float *acc = worker->term[0].acc;
  double *sums = worker->columns;

  memset(sums, 0, n * sizeof(double));
  for (int top = cells->top; top < cells->bottom; top += ROWS_MAX) {
    cnv_cpu_load_row(worker, part, 0, top, acc);
    for (int y = top + 1; y < MIN(top + ROWS_MAX, cells->bottom); y++) {
      cnv_cpu_load_row(worker, part, 0, y, worker->line);
      part->frame->simd->add_scaled(acc, worker->line, 1, n);
    }
    for (int i = 0; i < n; i++)
      sums[i] += acc[i];
  }
}

/* Adds the columns of a part of a tile to the sums of their cells. */
static void
add_columns(const CpuWorker *worker, const CpuTile *part, const Cells *cells)
{
  const CnvPlane *plane = part->plane->from;
  const double *sums = worker->columns;
  int channels = plane->channels;

  for (int k = cnv_cell_of(plane, part->job, CNV_X, part->first), x = part->first; x < part->last; k++) {
    int end = MIN(cnv_cell_edge(plane, part->job, CNV_X, k + 1), part->last);
    double *cell = worker->cells + (k - cells->first) * channels;

    for (; x < end; x++)
      for (int c = 0; c < channels; c++)
        cell[c] += *sums++;
  }
}

static void
sum_cells(const CpuWorker *worker, const CpuTile *tile, const Cells *cells)
{
  const CnvPlane *plane = tile->plane->from;
  int right = cnv_cell_edge(plane, tile->job, CNV_X, cells->end), width = tile->plane->widest / plane->channels;
  CpuTile part = *tile;

  memset(worker->cells, 0, (cells->end - cells->first) * plane->channels * sizeof(double));
  for (int x = cnv_cell_edge(plane, tile->job, CNV_X, cells->first); x < right; x += width) {
    part.first = x;
    part.last = MIN(x + width, right);
    sum_columns(worker, &part, cells);
    add_columns(worker, &part, cells);
  }
}

/* Gives each pixel of a row the mean of its cell. */
static void
spread(const CpuWorker *worker, const CpuTile *tile, const Cells *cells)
{
  const CnvPlane *plane = tile->plane->from;
  int channels = plane->channels;
  float *to = worker->term[0].acc;

  for (int k = cells->first, x = tile->first; k < cells->end; k++) {
    int from = cnv_cell_edge(plane, tile->job, CNV_X, k), edge = cnv_cell_edge(plane, tile->job, CNV_X, k + 1);
    int end = k + 1 == cells->end ? tile->last : edge;
    double *cell = worker->cells + (k - cells->first) * channels;

    for (int c = 0; c < channels; c++)
      cell[c] /= (double)(edge - from) * (cells->bottom - cells->top);
    for (; x < end; x++)
      for (int c = 0; c < channels; c++)
        *to++ = (float)cell[c];
  }
}

int
cnv_cpu_mosaic_means(const CpuWorker *worker, const CpuTile *tile, int y)
{
  const CnvPlane *plane = tile->plane->from;
  const CnvRectJob *job = tile->job;
  int row = cnv_cell_of(plane, job, CNV_Y, y);
  Cells cells = {cnv_cell_of(plane, job, CNV_X, tile->first), cnv_cell_of(plane, job, CNV_X, tile->last - 1) + 1,
                 cnv_cell_edge(plane, job, CNV_Y, row), cnv_cell_edge(plane, job, CNV_Y, row + 1)};

  if (cnv_cells_have_means(plane))
    sum_cells(worker, tile, &cells);
  else
    memset(worker->cells, 0, (cells.end - cells.first) * plane->channels * sizeof(double));
  spread(worker, tile, &cells);
  return cells.bottom < job->window_y + job->window_height ? MIN(cells.bottom, tile->bottom) : tile->bottom;
}
