/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Tiles of a term whose taps are sums of cosines on both axes: their time hardly depends on the number of taps. A tile
 * is done in bands of CNV_CPU_BAND rows: sums slide down its columns, many side by side, then along its rows, all of
 * the band side by side. Rows are loaded twice, where they enter the sums and where they leave them.
 */
#include "cpu/cpu.h"

#include "plan/arith.h"

/* A tile on its way, from the column on where its sums begin anew. Columns are pixels with the apron, counted from the
 * first of these. */
typedef struct {
  CpuWorker *worker;
  const CpuTile *tile;
  const CpuTerm *term;
  int channels;
  int origin; /* the tile's first pixel, with those that sums pass on their way to it */
  CpuColumns columns;
} Slide;

/* ---- columns ---- */

/* Columns that are loaded at a time: whole blocks of samples. */
static int
chunk_of(const Slide *slide)
{
  return (CNV_CPU_CHUNK - CNV_CPU_BAND) / slide->channels / CNV_CPU_BAND * CNV_CPU_BAND;
}

static int
blocks_of(const Slide *slide, int columns)
{
  return cnv_divide_up(columns * slide->channels, CNV_CPU_BAND);
}

static float *
state_of(const Slide *slide, int x)
{
  int block = (x - slide->columns.first) * slide->channels / CNV_CPU_BAND;

  return slide->worker->down + (gsize)block * CNV_CPU_COSINES_STATE;
}

/* Sums of all columns, for row y. */
static void
start_columns(const Slide *slide, int y)
{
  const CpuSimdCosines *simd = slide->tile->frame->simd->cosines;
  const CpuCosines *cosines = &slide->term->cosines[CNV_Y];
  int top = y - slide->term->from->anchor[CNV_Y], n_rows = 2 * cosines->radius + 1;

  for (int x = slide->columns.first, chunk = chunk_of(slide); x < slide->columns.last; x += chunk) {
    int last = MIN(x + chunk, slide->columns.last);
    CpuSteps rows = {slide->worker->enter, CNV_CPU_CHUNK, CNV_CPU_BAND, 0, blocks_of(slide, last - x)};

    memset(state_of(slide, x), 0, rows.n_blocks * CNV_CPU_COSINES_STATE * sizeof(float));
    for (int at = 0; at < n_rows; at += CNV_CPU_BAND) {
      rows.n = MIN(CNV_CPU_BAND, n_rows - at);
      cnv_cpu_columns_load(&slide->columns, slide->worker->enter, top + at, rows.n, x, last);
      simd->start(state_of(slide, x), &rows, at, cosines);
    }
  }
}

/* Sums down the columns for a band of rows, y to end - 1, those of a column side by side. */
static void
slide_down(const Slide *slide, int y, int end)
{
  const CpuSimdCosines *simd = slide->tile->frame->simd->cosines;
  const CpuCosines *cosines = &slide->term->cosines[CNV_Y];
  CpuWorker *worker = slide->worker;
  gsize pixel = (gsize)slide->channels * CNV_CPU_BAND;
  int above = y - slide->term->from->anchor[CNV_Y], rows = end - y;

  for (int x = slide->columns.first, chunk = chunk_of(slide); x < slide->columns.last; x += chunk) {
    int last = MIN(x + chunk, slide->columns.last), blocks = blocks_of(slide, last - x);
    CpuSteps enter = {worker->enter, CNV_CPU_CHUNK, CNV_CPU_BAND, rows, blocks};
    CpuRun run = {worker->squares, CNV_CPU_BAND, CNV_CPU_SQUARE, enter, worker->leave};
    float *to = worker->turned + x * pixel;

    cnv_cpu_columns_load(&slide->columns, worker->enter, above + 2 * cosines->radius + 1, rows, x, last);
    cnv_cpu_columns_load(&slide->columns, worker->leave, above, rows, x, last);
    simd->run(state_of(slide, x), &run, cosines);
    for (int b = 0; b < blocks; b++, to += CNV_CPU_SQUARE)
      simd->transpose(to, CNV_CPU_BAND, worker->squares + b * CNV_CPU_SQUARE, CNV_CPU_BAND);
  }
  cnv_cpu_columns_repeat(&slide->columns, worker->turned, pixel);
}

/* ---- rows ---- */

/* Sums along the rows of a band, which become rows of the term's sums from the tile's first pixel on. */
static void
slide_along(const Slide *slide)
{
  const CpuSimdCosines *simd = slide->tile->frame->simd->cosines;
  const CpuCosines *cosines = &slide->term->cosines[CNV_X];
  CpuWorker *worker = slide->worker;
  gsize pixel = (gsize)slide->channels * CNV_CPU_BAND, stride = slide->tile->plane->acc_stride;
  int n_taps = 2 * cosines->radius + 1, chunk = chunk_of(slide), restart = slide->tile->plane->restart[CNV_X];
  int first = slide->tile->first - slide->origin, last = slide->tile->last - slide->origin;

  for (int x = 0, end; x < last; x = end) {
    CpuSteps taps = {worker->turned + x * pixel, pixel, CNV_CPU_BAND, n_taps, slide->channels};
    CpuRun run = {worker->squares, pixel, CNV_CPU_BAND, taps, taps.from};
    float *acc = worker->term[0].acc + (gsize)MAX(x - first, 0) * slide->channels;

    if (x % restart == 0) {
      memset(worker->along, 0, slide->channels * CNV_CPU_COSINES_STATE * sizeof(float));
      simd->start(worker->along, &taps, 0, cosines);
    }
    end = MIN(MIN(x + chunk, x < first ? first : last), x - x % restart + restart);
    run.enter.from += n_taps * pixel;
    run.enter.n = end - x;
    simd->run(worker->along, &run, cosines);
    for (int i = 0; x >= first && i < blocks_of(slide, end - x); i++, acc += CNV_CPU_BAND)
      simd->transpose(acc, stride, worker->squares + i * CNV_CPU_SQUARE, CNV_CPU_BAND);
  }
}

void
cnv_cpu_slide(CpuWorker *worker, const CpuTile *tile)
{
  const CpuTerm *term = &tile->plane->term[0];
  int x = cnv_cpu_origin(tile, CNV_X), y = cnv_cpu_origin(tile, CNV_Y);
  CpuColumns columns = {worker, tile, x - term->from->anchor[CNV_X], tile->last - x + term->from->n[CNV_X] - 1};
  Slide slide = {worker, tile, term, tile->plane->from->channels, x, columns};

  cnv_cpu_columns_choose(&slide.columns);
  start_columns(&slide, y);
  for (int end; y < tile->bottom; y = end) {
    end = MIN(y + CNV_CPU_BAND, y < tile->top ? tile->top : tile->bottom);
    slide_down(&slide, y, end);
    if (y < tile->top)
      continue;
    slide_along(&slide);
    for (int i = 0; y + i < end; i++)
      cnv_cpu_store_row(worker, tile, y + i, cnv_cpu_combine(worker, tile, y + i, i));
  }
}
