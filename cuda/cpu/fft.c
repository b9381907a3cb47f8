/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Dense taps by Fourier transforms of tiles with their aprons: of what comes back, that is right which the tile's edges
 * do not reach (overlap-save). Taps are real numbers, so that a tile's upper half is transformed as real parts and its
 * lower half as imaginary ones, and neither enters the other's sums. A row is transformed as it stands, its channels
 * side by side, by taps so many samples apart.
 *
 * Rows are transformed as they are loaded; then a few columns at a time, which stay in cache, to and fro with the
 * product between; then rows again as they are stored. Tiles have their places in the job, whoever does them, so that
 * results are the same for any number of threads.
 */
#include "cpu/cpu.h"

#include <fftw3.h>
#include <math.h>

#include "plan/arith.h"

#define COLUMNS CNV_CPU_FFT_COLUMNS
#define PAD 8 /* numbers more from row to row, so that rows do not share cache sets */
#define SMALLEST 32
#define LARGEST 2048
#define TILE_PRODUCTS 16.0 /* that take as long as a number of a tile for each halving of the tile, in cache */
#define FAST_ROWS 128      /* whose strips of columns stay in the first-level cache */
#define SLOW 1.3           /* the time of twice as many */
#define VERY_SLOW 1.8      /* and of more */
#define LARGE (128 * 1024) /* numbers of a tile: larger ones are so few that many threads would wait for each other */
#define LOSS 1.1           /* for which smaller ones may be slower */

/* Root of the mean square of errors in samples, for samples that are 0 or full, taps whose squares add up to 1, and
 * gain 1, in parts of mid; and what they may be. */
#define ERROR 3e-7
#define ERROR_MOST 6e-5 /* up to 12 bits: as many samples then differ by one as the float32 algorithms may have */
#define ERROR_MOST_OF_16_BITS 0.03 /* the largest of some millions is 6 times that */

enum { ROW, COLUMN, COLUMN_BACK, ROW_BACK };

/* ---- when plans change ---- */

/* In products. */
static double
cost_of(const CpuFft *fft, int samples, int rows)
{
  double numbers = (double)fft->columns * fft->rows;
  double slow = fft->rows > 2 * FAST_ROWS ? VERY_SLOW : fft->rows > FAST_ROWS ? SLOW : 1;
  double loss = numbers > LARGE ? LOSS : 1;
  int tiles = cnv_divide_up(samples, fft->width) * cnv_divide_up(rows, fft->height);

  return TILE_PRODUCTS * numbers * log2(numbers) * slow * loss * tiles;
}

/* Products of a sample by the other ways, by those of transforms for a single term: others are transformed to and not
 * back. */
static double
products_without(const CpuPlane *plane)
{
  int n_terms = plane->from->n_terms;
  double products = 0;

  for (int t = 0; t < n_terms; t++) {
    const int *n = plane->from->term[t].n;

    products += plane->summed ? CNV_CPU_STEP_PRODUCTS * plane->term[t].n_steps : (double)n[CNV_X] * n[CNV_Y];
  }
  return products / ((n_terms + 1) / 2.0);
}

/* A sample's error is that of all in its tile, however small it is itself. */
static gboolean
is_exact(const CpuPlane *plane)
{
  const CnvPlane *from = plane->from;
  const CnvPlan *plan = plane->plan;
  double squares = 0, gain = 0, frames = plan->not_time_separable ? 1 : 0;

  for (int t = 0; t < from->n_terms; t++)
    for (int y = 0; y < from->term[t].n[CNV_Y]; y++)
      for (int x = 0; x < from->term[t].n[CNV_X]; x++)
        squares += pow(cnv_plan_tap(plan, &from->term[t], x, y), 2);
  for (int c = 0; c < from->channels; c++)
    gain = MAX(gain, fabs(from->gain[c]));
  for (int i = 0; i < plan->n_temporal_taps && !plan->not_time_separable; i++)
    frames += fabs(plan->weight[i]);
  return ERROR * from->full[0] / 2 * gain * sqrt(squares) * frames <=
         (from->full[0] > 4095 ? ERROR_MOST_OF_16_BITS : ERROR_MOST);
}

void
cnv_cpu_fft_shape(CpuPlane *plane)
{
  const CnvPlane *from = plane->from;
  int channels = from->channels, samples = from->width * channels, apron[CNV_N_AXES] = {0, 0};
  CpuFft best = {0};

  if (!plane->dense || from->weight >= 0 || from->combine == CNV_COMBINE_MAGNITUDE || !is_exact(plane))
    return;
  for (int t = 0; t < from->n_terms; t++) {
    apron[CNV_X] = MAX(apron[CNV_X], (from->term[t].n[CNV_X] - 1) * channels);
    apron[CNV_Y] = MAX(apron[CNV_Y], from->term[t].n[CNV_Y] - 1);
  }
  for (int columns = SMALLEST; columns <= LARGEST; columns *= 2)
    for (int rows = SMALLEST; rows <= LARGEST / 4; rows *= 2) {
      CpuFft fft = {columns, rows, (columns - apron[CNV_X]) / channels * channels, 2 * (rows - apron[CNV_Y])};

      if (fft.width > 0 && fft.height > 0 &&
          (!best.columns || cost_of(&fft, samples, from->height) < cost_of(&best, samples, from->height)))
        best = fft;
    }
  best.products = products_without(plane);
  best.stride = 2 * (gsize)(best.columns + PAD);
  if (cnv_cpu_fft_suits(&best, samples, from->height))
    plane->fft = best;
}

gboolean
cnv_cpu_fft_suits(const CpuFft *fft, int samples, int rows)
{
  return fft->columns && cost_of(fft, samples, rows) < fft->products * samples * rows;
}

static void
execute(const CpuFft *fft, int which, float *from, float *to)
{
  fftwf_execute_dft(fft->transform[which], (fftwf_complex *)from, (fftwf_complex *)to);
}

/* The transform of a term's taps, mirrored, and divided by what two transforms multiply by. */
static void
fill_spectrum(const CpuPlane *plane, CpuTerm *term, CpuWorker *worker)
{
  const CpuFft *fft = &plane->fft;
  double scale = 1.0 / ((double)fft->columns * fft->rows);
  float *to = term->spectrum;

  memset(worker->tile, 0, fft->stride * fft->rows * sizeof(float));
  memset(worker->numbers, 0, 2 * fft->columns * sizeof(float));
  for (int y = 0; y < term->from->n[CNV_Y]; y++) {
    for (int x = 0; x < term->from->n[CNV_X]; x++)
      worker->numbers[2 * x * plane->from->channels] = (float)(scale * cnv_plan_tap(plane->plan, term->from, x, y));
    execute(fft, ROW, worker->numbers, worker->tile + y * fft->stride);
  }
  for (int x = 0; x < fft->columns; x += COLUMNS, to += 2 * COLUMNS * fft->rows) {
    execute(fft, COLUMN, worker->tile + 2 * x, to);
    for (int i = 1; i < 2 * COLUMNS * fft->rows; i += 2)
      to[i] = -to[i];
  }
}

/* FFTW is to estimate what is fast, since what it measures differs from run to run and with it the last bit. */
void
cnv_cpu_fft_start(CpuPlane *plane, CpuWorker *worker)
{
  static gsize once;
  CpuFft *fft = &plane->fft;
  int stride = (int)fft->stride / 2;
  fftwf_complex *tile, *strip, *numbers;

  if (g_once_init_enter(&once)) {
    fftwf_make_planner_thread_safe();
    g_once_init_leave(&once, 1);
  }
  tile = (fftwf_complex *)worker->tile;
  strip = (fftwf_complex *)worker->strip;
  numbers = (fftwf_complex *)worker->numbers;
  fft->transform[ROW] =
      fftwf_plan_many_dft(1, &fft->columns, 1, numbers, NULL, 1, 0, tile, NULL, 1, 0, FFTW_FORWARD, FFTW_ESTIMATE);
  fft->transform[ROW_BACK] =
      fftwf_plan_many_dft(1, &fft->columns, 1, tile, NULL, 1, 0, numbers, NULL, 1, 0, FFTW_BACKWARD, FFTW_ESTIMATE);
  fft->transform[COLUMN] = fftwf_plan_many_dft(1, &fft->rows, COLUMNS, tile, NULL, stride, 1, strip, NULL, COLUMNS, 1,
                                               FFTW_FORWARD, FFTW_ESTIMATE);
  fft->transform[COLUMN_BACK] = fftwf_plan_many_dft(1, &fft->rows, COLUMNS, strip, NULL, COLUMNS, 1, tile, NULL, stride,
                                                    1, FFTW_BACKWARD, FFTW_ESTIMATE);
  for (int t = 0; t < plane->from->n_terms; t++)
    fill_spectrum(plane, &plane->term[t], worker);
}

void
cnv_cpu_fft_clear(CpuFft *fft)
{
  for (guint i = 0; i < G_N_ELEMENTS(fft->transform); i++)
    g_clear_pointer((fftwf_plan *)&fft->transform[i], fftwf_destroy_plan);
}

/* ---- a tile ---- */

/* Loads a term's rows of both halves, and transforms them. Beyond them is nothing, so that nothing is left of another
 * tile. */
static void
transform_rows(CpuWorker *worker, const CpuTile *tile, int t)
{
  const CpuFft *fft = &tile->plane->fft;
  const CnvTerm *term = tile->plane->term[t].from;
  int rows = tile->middle - tile->top, above = tile->top - term->anchor[CNV_Y], loaded = rows + term->n[CNV_Y] - 1;
  int n = cnv_cpu_samples(tile) + (term->n[CNV_X] - 1) * tile->plane->from->channels;
  gsize stride = tile->plane->line_length;
  float *row = worker->tile;

  for (int y = above; y < above + loaded; y++, row += fft->stride) {
    cnv_cpu_load_row(worker, tile, t, cnv_cpu_source(tile, CNV_Y, y), worker->halves);
    cnv_cpu_load_row(worker, tile, t, cnv_cpu_source(tile, CNV_Y, y + rows), worker->halves + stride);
    tile->frame->simd->wide->join(worker->numbers, worker->halves, stride, n, 2, 1);
    memset(worker->numbers + 2 * n, 0, 2 * (fft->columns - n) * sizeof(float));
    execute(fft, ROW, worker->numbers, row);
  }
  memset(row, 0, (fft->rows - loaded) * fft->stride * sizeof(float));
}

/* Columns of a term to products; those of all terms are added up, and become columns of the tile again. */
static void
transform_columns(CpuWorker *worker, const CpuTile *tile, int t)
{
  const CpuSimd *simd = tile->frame->simd;
  const CpuFft *fft = &tile->plane->fft;
  int n = 2 * COLUMNS * fft->rows;

  for (int i = 0; i < fft->columns / COLUMNS; i++) {
    float *at = worker->tile + 2 * COLUMNS * i, *sums = worker->sums_of_terms + (gsize)i * n;

    execute(fft, COLUMN, at, worker->strip);
    simd->wide->multiply(worker->strip, tile->plane->term[t].spectrum + (gsize)i * n, n / 2);
    if (t > 0)
      simd->add_scaled(worker->strip, sums, 1, n);
    if (t < tile->plane->from->n_terms - 1)
      memcpy(sums, worker->strip, n * sizeof(float));
    else
      execute(fft, COLUMN_BACK, worker->strip, at);
  }
}

/* Transforms rows back and stores them: real parts are sums of the upper half, imaginary ones of the lower. */
static void
store_rows(CpuWorker *worker, const CpuTile *tile)
{
  const CpuFft *fft = &tile->plane->fft;
  float *acc = worker->term[0].acc, *row = worker->tile;
  int rows = tile->middle - tile->top;

  for (int y = tile->top; y < tile->middle; y++, row += fft->stride) {
    execute(fft, ROW_BACK, row, worker->numbers);
    tile->frame->simd->wide->split(acc, tile->plane->acc_stride, worker->numbers, cnv_cpu_samples(tile), 2, 1);
    for (int half = 0; half < 2 && y + half * rows < tile->bottom; half++)
      cnv_cpu_store_row(worker, tile, y + half * rows, cnv_cpu_combine(worker, tile, y + half * rows, half));
  }
}

void
cnv_cpu_fft_run(CpuWorker *worker, const CpuTile *tile)
{
  for (int t = 0; t < tile->plane->from->n_terms; t++) {
    transform_rows(worker, tile, t);
    transform_columns(worker, tile, t);
  }
  store_rows(worker, tile);
}
