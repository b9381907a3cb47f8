/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Filters with taps that are sums of cosines along both axes, by running sums, so that the time hardly depends on the
 * number of taps. A tile is filtered in bands of CNV_CPU_BAND rows: first down many adjacent columns at once, then
 * along all rows of the band at once. Rows are loaded twice, when they enter the sums and when they leave them.
 */
#include "cpu/cpu.h"

#include "plan/arith.h"

#define WIDTH_MAX 8192 /* most samples in a row of a tile */

/* Least distance between restarts of sums. A smaller one makes more tiles for many threads and less work beside a
 * region, but more restarts. RESTART is raised to the number of taps. Along rows of more than 8 bits, sums over a
 * distance above RESTART_DEEP would not be exact enough. */
#define RESTART 256
#define RESTART_DEEP 128

/* ---- columns ---- */

/* Returns the number of columns that are loaded at a time: whole blocks of samples. */
static int
chunk_of(const CpuTile *tile)
{
  return (CNV_CPU_CHUNK - CNV_CPU_BAND) / tile->plane->from->channels / CNV_CPU_BAND * CNV_CPU_BAND;
}

static int
blocks_of(const CpuTile *tile, int columns)
{
  return cnv_divide_up(columns * tile->plane->from->channels, CNV_CPU_BAND);
}

static float *
state_of(const CpuColumns *columns, int x)
{
  int block = (x - columns->inside) * columns->tile->plane->from->channels / CNV_CPU_BAND;

  return columns->worker->down + (gsize)block * CNV_CPU_COSINES_STATE;
}

/* Starts the sums of columns x to last - 1, for row y. slide: of these columns. */
static void
start_columns(const CpuColumns *columns, int y, int x, int last, CpuSlide slide)
{
  const CpuTerm *term = &columns->tile->plane->term[0];
  const CpuCosines *cosines = &term->cosines[CNV_Y];
  int top = y - term->from->anchor[CNV_Y], n_rows = 2 * cosines->radius + 1;

  memset(state_of(columns, x), 0, slide.n_blocks * CNV_CPU_COSINES_STATE * sizeof(float));
  for (int at = 0; at < n_rows; at += CNV_CPU_BAND) {
    slide.n = MIN(CNV_CPU_BAND, n_rows - at);
    cnv_cpu_columns_load(columns, columns->worker->enter, top + at, slide.n, x, last);
    columns->tile->frame->simd->wide->start(state_of(columns, x), &slide, at, cosines);
  }
}

/* Computes sums down the columns for rows y to end - 1. The sums of a column are stored side by side. */
static void
slide_down(const CpuColumns *columns, int y, int end)
{
  const CpuTile *tile = columns->tile;
  const CpuSimdWide *simd = tile->frame->simd->wide;
  const CpuTerm *term = &tile->plane->term[0];
  const CpuCosines *cosines = &term->cosines[CNV_Y];
  CpuWorker *worker = columns->worker;
  CpuSlide slide = {.to = worker->squares,
                    .to_stride = CNV_CPU_BAND,
                    .to_block = CNV_CPU_SQUARE,
                    .enter = worker->enter,
                    .leave = worker->leave,
                    .stride = CNV_CPU_CHUNK,
                    .n = end - y};
  gsize pixel = (gsize)tile->plane->from->channels * CNV_CPU_BAND;
  int above = y - term->from->anchor[CNV_Y];

  for (int x = columns->inside, chunk = chunk_of(tile); x < columns->end; x += chunk) {
    int last = MIN(x + chunk, columns->end);
    float *to = worker->turned + (x - columns->first) * pixel;

    slide.n_blocks = blocks_of(tile, last - x);
    if (y == cnv_cpu_origin(tile, CNV_Y))
      start_columns(columns, y, x, last, slide);
    cnv_cpu_columns_load(columns, worker->enter, above + 2 * cosines->radius + 1, slide.n, x, last);
    cnv_cpu_columns_load(columns, worker->leave, above, slide.n, x, last);
    simd->slide(state_of(columns, x), &slide, cosines);
    for (int b = 0; b < slide.n_blocks; b++, to += CNV_CPU_SQUARE)
      simd->transpose(to, CNV_CPU_BAND, worker->squares + b * CNV_CPU_SQUARE, CNV_CPU_BAND);
  }
  cnv_cpu_columns_repeat(columns, worker->turned, pixel);
}

/* ---- rows ---- */

/* Computes sums along the rows of a band, and stores them in the term's sums from the tile's first pixel on. Columns
 * are counted from the start of the sums. */
static void
slide_along(CpuWorker *worker, const CpuTile *tile)
{
  const CpuSimdWide *simd = tile->frame->simd->wide;
  const CpuCosines *cosines = &tile->plane->term[0].cosines[CNV_X];
  int channels = tile->plane->from->channels, origin = cnv_cpu_origin(tile, CNV_X);
  gsize pixel = (gsize)channels * CNV_CPU_BAND, stride = tile->plane->acc_stride;
  int n_taps = 2 * cosines->radius + 1, chunk = chunk_of(tile), restart = tile->plane->restart[CNV_X];
  int first = tile->first - origin, last = tile->last - origin;

  for (int x = 0, end; x < last; x = end) {
    const float *taps = worker->turned + x * pixel;
    CpuSlide slide = {.to = worker->squares,
                      .to_stride = pixel,
                      .to_block = CNV_CPU_BAND,
                      .enter = taps,
                      .leave = taps,
                      .stride = pixel,
                      .n = n_taps,
                      .n_blocks = channels};
    float *acc = worker->term[0].acc + (gsize)MAX(x - first, 0) * channels;

    if (x % restart == 0) {
      memset(worker->along, 0, channels * CNV_CPU_COSINES_STATE * sizeof(float));
      simd->start(worker->along, &slide, 0, cosines);
    }
    end = MIN(MIN(x + chunk, x < first ? first : last), x - x % restart + restart);
    slide.enter += n_taps * pixel;
    slide.n = end - x;
    simd->slide(worker->along, &slide, cosines);
    for (int i = 0; x >= first && i < blocks_of(tile, end - x); i++, acc += CNV_CPU_BAND)
      simd->transpose(acc, stride, worker->squares + i * CNV_CPU_SQUARE, CNV_CPU_BAND);
  }
}

/* Returns a distance between restarts, in whole bands, that divides the size into nearly equal parts. */
static int
restart_after(int size, int least)
{
  return cnv_divide_up(cnv_divide_up(size, MAX(size / least, 1)), CNV_CPU_BAND) * CNV_CPU_BAND;
}

/* Tiles are as wide as the cache permits for a band of rows. They end where sums restart. */
static void
shape(CpuPlane *plane)
{
  const CnvPlane *from = plane->from;
  const int *n = from->term[0].n;
  int unit;

  plane->restart[CNV_X] = restart_after(from->width, from->full[0] > 255 ? RESTART_DEEP : MAX(RESTART, n[CNV_X]));
  plane->restart[CNV_Y] = restart_after(from->height, MAX(RESTART, n[CNV_Y]));
  unit = plane->restart[CNV_X] * from->channels;
  plane->widest = CLAMP(WIDTH_MAX / unit, 1, cnv_divide_up(from->width * from->channels, unit)) * unit;
  plane->acc_rows = CNV_CPU_BAND;
  plane->term[0].slots = 0; /* there is no ring */
}

/* Tiles are as high as the distance between restarts. Each thread has several if the taps are short relative to a
 * tile's width. */
static void
size_tiles(const CpuPlane *plane, const CnvJob *job, int threads, int size[CNV_N_AXES])
{
  int unit = plane->restart[CNV_X], units = cnv_divide_up(job->width, unit), taps = plane->from->term[0].n[CNV_X];
  int down = cnv_divide_up(job->height, plane->restart[CNV_Y]), least = cnv_divide_up(threads, down);
  int many = threads > 1 ? cnv_divide_up(threads * CNV_CPU_TILES_A_THREAD, down) : 1;
  int across = MAX(CLAMP(job->width / (4 * taps), least, many),
                   cnv_divide_up(units * unit, plane->widest / plane->from->channels));

  size[CNV_X] = cnv_divide_up(units, MIN(across, units)) * unit;
  size[CNV_Y] = plane->restart[CNV_Y];
}

static void
fill(CpuPlane *plane, CpuArena *arena)
{
  for (int axis = 0; axis < CNV_N_AXES; axis++) {
    CpuCosines *cosines = &plane->term[0].cosines[axis];
    float *start = cnv_cpu_take(arena, (gsize)(2 * cosines->radius + 1) * 2 * CNV_CPU_COSINES, sizeof(float));

    if (start)
      cnv_cpu_cosines_fill(cosines, start);
  }
}

/* Includes a few columns beyond the apron, which are read without effect. */
static void
lay_out(CpuWorker *worker, const CpuPlane *plane, CpuArena *arena)
{
  gsize channels = plane->from->channels;
  gsize columns =
      plane->acc_stride + (plane->restart[CNV_X] + plane->from->term[0].n[CNV_X] + 2 * CNV_CPU_BAND) * channels;

  worker->enter = cnv_cpu_take(arena, CNV_CPU_BAND * CNV_CPU_CHUNK, sizeof(float));
  worker->leave = cnv_cpu_take(arena, CNV_CPU_BAND * CNV_CPU_CHUNK, sizeof(float));
  worker->down = cnv_cpu_take(arena, columns / CNV_CPU_BAND * CNV_CPU_COSINES_STATE, sizeof(float));
  worker->along = cnv_cpu_take(arena, channels * CNV_CPU_COSINES_STATE, sizeof(float));
  worker->turned = cnv_cpu_take(arena, columns * CNV_CPU_BAND, sizeof(float));
  worker->squares = cnv_cpu_take(arena, CNV_CPU_CHUNK * CNV_CPU_BAND, sizeof(float));
}

static void
run(CpuWorker *worker, const CpuTile *tile)
{
  const CnvTerm *term = tile->plane->term[0].from;
  int left = cnv_cpu_origin(tile, CNV_X) - term->anchor[CNV_X], y = cnv_cpu_origin(tile, CNV_Y);
  CpuColumns columns = cnv_cpu_columns(worker, tile, left, tile->last + term->n[CNV_X] - 1 - term->anchor[CNV_X]);

  cnv_cpu_columns_choose(&columns);
  for (int end; y < tile->bottom; y = end) {
    end = MIN(y + CNV_CPU_BAND, y < tile->top ? tile->top : tile->bottom);
    slide_down(&columns, y, end);
    if (y < tile->top)
      continue;
    slide_along(worker, tile);
    for (int i = 0; y + i < end; i++)
      cnv_cpu_store_row(worker, tile, y + i, cnv_cpu_combine(worker, tile, y + i, i));
  }
}

const CpuMethod cnv_cpu_running_sum = {
    .name = "running-sum",
    .algorithms = 1 << CNV_ALGORITHM_SEPARABLE,
    .wide_tiles = TRUE,
    .unit = 40,
    .fits = cnv_cpu_find_cosines,
    .shape = shape,
    .size = size_tiles,
    .fill = fill,
    .lay_out = lay_out,
    .run = run,
};
