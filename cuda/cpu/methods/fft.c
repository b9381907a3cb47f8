/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Filters with dense taps by Fourier transforms of tiles with their aprons (overlap-save). Only results that the tile's
 * edges do not reach are correct. Taps are real numbers, so the upper half of a tile becomes the real parts and its
 * lower half the imaginary parts, and their sums stay separate. The channels of a row stay interleaved, and taps are
 * that many samples apart.
 *
 * Transforms run in bands of CNV_CPU_BAND rows or columns side by side (simd.h). Rows are transposed into bands as they
 * are loaded, and transformed. Then each strip of columns, which stays in cache, is transformed, multiplied and
 * transformed back. Then the rows with correct results are transformed back and stored. Tiles have fixed places in a
 * job, so that results are the same for any number of threads.
 */
#include "cpu/cpu.h"

#include <math.h>

#include "plan/arith.h"

#define PAD 16            /* floats between lines, so that lines do not share cache sets */
#define LINE_NUMBERS 16   /* fixed cost of loading and storing a line, in numbers */
#define LARGE (64 * 1024) /* numbers of a tile so large that many threads wait for the last tiles */
#define WAITING 4         /* number of tiles for which they wait */

/* Root mean square error of samples, as a fraction of mid. Samples are 0 or full, the squares of the taps add up to 1,
 * and the gain is 1. ERROR_MOST: largest error allowed, in levels. */
#define ERROR 3e-7
#define ERROR_MOST 6e-5 /* up to 12 bits: no more samples are then one off than float32 algorithms may have */
#define ERROR_MOST_OF_16_BITS 0.03 /* the largest of a few million errors is 6 times that */

/* ---- when plans change ---- */

/* Returns the time for rows of samples and for `waiting` more tiles, in numbers of a tile. Of the four steps, along
 * rows and columns and back, only the last is not repeated for every term. */
static double
cost_of(const CpuFft *fft, int n_terms, int samples, int rows, int waiting)
{
  int tiles = cnv_divide_up(samples, fft->width) * cnv_divide_up(rows, fft->height) + waiting;

  return (double)(fft->columns + LINE_NUMBERS) * fft->rows * tiles * (3 * n_terms + 1) / 4.0;
}

static double
cost(const CpuPlane *plane, int samples, int rows)
{
  return plane->fft.columns ? cost_of(&plane->fft, plane->from->n_terms, samples, rows, 0) : 0;
}

/* Returns the time for a frame, to compare tile sizes. It does not depend on the number of threads. */
static double
cost_of_frame(const CpuFft *fft, const CnvPlane *from)
{
  int waiting = fft->columns * fft->rows > LARGE ? WAITING : 0;

  return cost_of(fft, from->n_terms, from->width * from->channels, from->height, waiting);
}

/* Returns TRUE if errors are small enough. A sample's error depends on all samples of its tile, however small the
 * sample is. */
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

/* Rejects sums that are divided by weights: in the frequency domain, a small sum has the same error as a large one. */
static gboolean
fits(CpuPlane *plane)
{
  const CnvPlane *from = plane->from;
  int channels = from->channels, apron[CNV_N_AXES] = {0, 0};
  CpuFft best = {0};

  if (cnv_cpu_divides(plane) || from->combine == CNV_COMBINE_MAGNITUDE || !is_exact(plane))
    return FALSE;
  for (int t = 0; t < from->n_terms; t++) {
    apron[CNV_X] = MAX(apron[CNV_X], (from->term[t].n[CNV_X] - 1) * channels);
    apron[CNV_Y] = MAX(apron[CNV_Y], from->term[t].n[CNV_Y] - 1);
  }
  for (int columns = CNV_CPU_FFT_SHORTEST; columns <= CNV_CPU_FFT_LONGEST; columns *= 2)
    for (int rows = CNV_CPU_FFT_SHORTEST; rows <= CNV_CPU_FFT_LONGEST / 4; rows *= 2) {
      CpuFft fft = {columns, rows, (columns - apron[CNV_X]) / channels * channels, 2 * (rows - apron[CNV_Y])};

      if (fft.width > 0 && fft.height > 0 && (!best.columns || cost_of_frame(&fft, from) < cost_of_frame(&best, from)))
        best = fft;
    }
  best.line = best.columns + PAD;
  plane->fft = best;
  return best.columns > 0;
}

static void
shape(CpuPlane *plane)
{
  plane->widest = MAX(plane->widest, plane->fft.width);
}

static void
size_tiles(const CpuPlane *plane, const CnvJob *job, int threads, int size[CNV_N_AXES])
{
  size[CNV_X] = plane->fft.width / plane->from->channels;
  size[CNV_Y] = plane->fft.height;
}

static void
lay_out(CpuWorker *worker, const CpuPlane *plane, CpuArena *arena)
{
  const CpuFft *fft = &plane->fft;
  gsize floats = 2 * (gsize)fft->columns * fft->rows;

  worker->tile = cnv_cpu_take(arena, floats, sizeof(float));
  worker->strip = cnv_cpu_take(arena, 2 * CNV_CPU_BAND * (gsize)fft->rows, sizeof(float));
  worker->lines = cnv_cpu_take(arena, 2 * CNV_CPU_BAND * fft->line, sizeof(float));
  worker->sums_of_terms = cnv_cpu_take(arena, plane->from->n_terms > 1 ? floats : 0, sizeof(float));
}

static void
fill(CpuPlane *plane, CpuArena *arena)
{
  CpuFft *fft = &plane->fft;

  fft->table[CNV_X] = cnv_cpu_take(arena, CNV_CPU_FFT_TABLE(fft->columns), sizeof(float));
  fft->table[CNV_Y] = cnv_cpu_take(arena, CNV_CPU_FFT_TABLE(fft->rows), sizeof(float));
  for (int t = 0; t < plane->from->n_terms; t++)
    plane->term[t].spectrum = cnv_cpu_take(arena, 2 * (gsize)fft->columns * fft->rows, sizeof(float));
}

/* ---- bands: number i of CNV_CPU_BAND rows or columns side by side (CpuSimdTransform) ---- */

#define NUMBER (2 * CNV_CPU_BAND)               /* floats from number to number */
#define BLOCK (CNV_CPU_BAND * NUMBER)           /* floats of CNV_CPU_BAND numbers */
#define LOWER(fft) (CNV_CPU_BAND * (fft)->line) /* floats from a line of the upper half to that of the lower half */

/* Transposes lines into a band of n numbers, or back. */
static void
turn_lines(const CpuFft *fft, const CpuSimd *simd, float *lines, float *band, int n, gboolean back)
{
  for (int x = 0; x < n; x += CNV_CPU_BAND)
    for (int half = 0; half < 2; half++) {
      float *line = lines + half * LOWER(fft) + x, *numbers = band + x * NUMBER + half * CNV_CPU_BAND;

      if (back)
        simd->wide->transpose(line, fft->line, numbers, NUMBER);
      else
        simd->wide->transpose(numbers, NUMBER, line, fft->line);
    }
}

/* Transposes CNV_CPU_BAND columns of the tile into a strip, or back. */
static void
turn_strip(const CpuFft *fft, const CpuSimd *simd, float *tile, float *strip, gboolean back)
{
  for (int y = 0; y < fft->rows; y += CNV_CPU_BAND, tile += fft->columns * NUMBER, strip += BLOCK)
    for (int part = 0; part < NUMBER; part += CNV_CPU_BAND)
      if (back)
        simd->wide->transpose(tile + part, NUMBER, strip + part, NUMBER);
      else
        simd->wide->transpose(strip + part, NUMBER, tile + part, NUMBER);
}

static void
transform_band(const CpuFft *fft, const CpuSimd *simd, float *lines, float *band)
{
  turn_lines(fft, simd, lines, band, fft->columns, FALSE);
  simd->transform->forward(band, NULL, fft->columns, fft->table[CNV_X]);
}

/* ---- when plans change ---- */

void
cnv_cpu_fft_table(float *table, int n)
{
  for (; n > 8; n /= CNV_CPU_RADIX(n))
    for (int j = 0; j < n / CNV_CPU_RADIX(n); j++)
      for (int k = 1; k < CNV_CPU_RADIX(n); k++) {
        double angle = -2 * G_PI * j * k / n;

        *table++ = (float)cos(angle);
        *table++ = (float)sin(angle);
      }
}

/* Fills line y of a band with a row of a term's taps, or with zeros after the last row. */
static void
fill_line(const CpuPlane *plane, const CpuTerm *term, float *line, int y)
{
  double scale = 1.0 / ((double)plane->fft.columns * plane->fft.rows); /* the two transforms multiply by the inverse */

  memset(line, 0, plane->fft.columns * sizeof(float));
  for (int x = 0; y < term->from->n[CNV_Y] && x < term->from->n[CNV_X]; x++)
    line[x * plane->from->channels] = (float)(scale * cnv_plan_tap(plane->plan, term->from, x, y));
}

/* Computes the conjugate of the transform of a term's taps, because a correlation does not mirror the taps. */
static void
fill_spectrum(const CpuPlane *plane, CpuTerm *term, CpuWorker *worker, const CpuSimd *simd)
{
  const CpuFft *fft = &plane->fft;
  float *to = term->spectrum;

  memset(worker->lines, 0, 2 * LOWER(fft) * sizeof(float));
  for (int y = 0; y < fft->rows; y += CNV_CPU_BAND) {
    for (int i = 0; i < CNV_CPU_BAND; i++)
      fill_line(plane, term, worker->lines + i * fft->line, y + i);
    transform_band(fft, simd, worker->lines, worker->tile + (gsize)y * fft->columns * 2);
  }
  for (int x = 0; x < fft->columns; x += CNV_CPU_BAND, to += fft->rows * NUMBER) {
    turn_strip(fft, simd, worker->tile + x * NUMBER, to, FALSE);
    simd->transform->forward(to, NULL, fft->rows, fft->table[CNV_Y]);
    for (int i = 0; i < fft->rows * NUMBER; i++)
      to[i] = i & CNV_CPU_BAND ? -to[i] : to[i];
  }
}

static void
start(CpuPlane *plane, CpuWorker *worker)
{
  cnv_cpu_fft_table(plane->fft.table[CNV_X], plane->fft.columns);
  cnv_cpu_fft_table(plane->fft.table[CNV_Y], plane->fft.rows);
  for (int t = 0; t < plane->from->n_terms; t++)
    fill_spectrum(plane, &plane->term[t], worker, plane->simd);
}

/* ---- a tile ---- */

/* Returns the number of rows in the upper half. The lower half may have one row less. */
static int
rows_of_half(const CpuTile *tile)
{
  return (tile->bottom - tile->top + 1) / 2;
}

/* Loads a row of a half for term t, and zeros after it. is_row: FALSE for zeros only, which overwrite values of another
 * tile. */
static void
load_line(CpuWorker *worker, const CpuTile *tile, int t, int y, gboolean is_row, float *line)
{
  const CpuFft *fft = &tile->plane->fft;
  int n = is_row ? cnv_cpu_line_samples(tile, t) : 0;

  if (is_row)
    cnv_cpu_load_row(worker, tile, t, cnv_cpu_source(tile, CNV_Y, y), line);
  memset(line + n, 0, (fft->columns - n) * sizeof(float));
}

/* Loads a term's rows of both halves, and transforms them. */
static void
transform_rows(CpuWorker *worker, const CpuTile *tile, int t)
{
  const CpuFft *fft = &tile->plane->fft;
  const CnvTerm *term = tile->plane->term[t].from;
  int rows = rows_of_half(tile), above = tile->top - term->anchor[CNV_Y], loaded = rows + term->n[CNV_Y] - 1;
  float *band = worker->tile;

  for (int y = 0; y < fft->rows; y += CNV_CPU_BAND, band += fft->columns * NUMBER) {
    if (y >= loaded) {
      memset(band, 0, fft->columns * NUMBER * sizeof(float));
      continue;
    }
    for (int i = 0; i < CNV_CPU_BAND; i++) {
      float *line = worker->lines + i * fft->line;

      load_line(worker, tile, t, above + y + i, y + i < loaded, line);
      load_line(worker, tile, t, above + y + i + rows, y + i < loaded, line + LOWER(fft));
    }
    transform_band(fft, tile->frame->simd, worker->lines, band);
  }
}

/* Transforms a term's columns, multiplies them by its spectrum, and transforms them back. Adds up the results of all
 * terms. */
static void
transform_columns(CpuWorker *worker, const CpuTile *tile, int t)
{
  const CpuSimd *simd = tile->frame->simd;
  const CpuSimdTransform *transform = simd->transform;
  const CpuFft *fft = &tile->plane->fft;
  const float *table = fft->table[CNV_Y];
  int n = fft->rows * NUMBER;

  for (int x = 0; x < fft->columns; x += CNV_CPU_BAND) {
    float *at = worker->tile + x * NUMBER, *sums = worker->sums_of_terms + (gsize)x / CNV_CPU_BAND * n;

    turn_strip(fft, simd, at, worker->strip, FALSE);
    transform->convolve(worker->strip, tile->plane->term[t].spectrum + (gsize)x / CNV_CPU_BAND * n, fft->rows, table);
    if (t > 0)
      simd->add_scaled(worker->strip, sums, 1, n);
    if (t < tile->plane->from->n_terms - 1) {
      memcpy(sums, worker->strip, n * sizeof(float));
    } else {
      turn_strip(fft, simd, at, worker->strip, TRUE);
    }
  }
}

/* Transforms rows back and stores them: real parts are sums of the upper half, imaginary ones of the lower half. */
static void
store_rows(CpuWorker *worker, const CpuTile *tile)
{
  const CpuFft *fft = &tile->plane->fft;
  const CpuSimd *simd = tile->frame->simd;
  float *band = worker->tile;
  int rows = rows_of_half(tile);

  for (int y = 0; y < rows; y += CNV_CPU_BAND, band += fft->columns * NUMBER) {
    simd->transform->backward(band, NULL, fft->columns, fft->table[CNV_X]);
    turn_lines(fft, simd, worker->lines, band, cnv_cpu_samples(tile), TRUE);
    for (int i = 0; i < 2 * MIN(rows - y, CNV_CPU_BAND); i++) {
      int row = tile->top + y + i / 2 + i % 2 * rows;

      worker->term[0].acc = worker->lines + i / 2 * fft->line + i % 2 * LOWER(fft);
      if (row < tile->bottom)
        cnv_cpu_store_row(worker, tile, row, cnv_cpu_combine(worker, tile, row, 0));
    }
  }
}

static void
run(CpuWorker *worker, const CpuTile *tile)
{
  worker->n_sums = 1; /* terms are added up here */
  for (int t = 0; t < tile->plane->from->n_terms; t++) {
    transform_rows(worker, tile, t);
    transform_columns(worker, tile, t);
  }
  store_rows(worker, tile);
}

const CpuMethod cnv_cpu_fft = {
    .name = "fft",
    .algorithms = 1 << CNV_ALGORITHM_TILED,
    .by_job = TRUE,
    .unit = 130,
    .cost = cost,
    .fits = fits,
    .shape = shape,
    .size = size_tiles,
    .fill = fill,
    .start = start,
    .lay_out = lay_out,
    .run = run,
};
