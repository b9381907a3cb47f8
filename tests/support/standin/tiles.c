/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Kernels that work on tile jobs: a launch's blocks, or warps, each make a tile. Taps of fused are numbers in constant
 * memory; those of tensor and dense are rebuilt from their bands, by the layout that the PTX manual gives for the
 * fragments of mma.m16n8k16.
 */
#include <math.h>
#include <string.h>

#include "kernels_of.h"

typedef struct {
  Job job;
  CnvBlock block;
  const CnvTileJob *tiles;
  const guint32 *bands;        /* the tiles's */
  int n_sources, first_source; /* as samples_pad takes them */
} Tiles;

/* ---- tiles ---- */

static int
tile_width(const Variant *v, const CnvTileJob *s)
{
  if (v->terms)
    return CNV_DENSE_WIDTH;
  if (v->groups)
    return CNV_TENSOR_K * v->groups;
  return v->reach ? CNV_FUSED_WIDTH(v->reach, s->channels)
                  : CNV_FUSED_ANY_WIDTH(s->term.n[CNV_X], s->term.anchor[CNV_X], s->channels);
}

/* First sample and samples of tile `number`, and its row of tiles. */
static void
find_tile(const Variant *v, const CnvTileJob *s, int number, int *x, int *width, int *row)
{
  int columns = s->columns - s->left_columns - s->right_columns, tile = tile_width(v, s);
  int tile_rows = (s->job.height + s->rows - 1) / s->rows, inner = columns * tile_rows, across, at;

  if (number < inner) {
    *row = number / columns;
    *x = s->origin + (s->left_columns + number % columns) * tile;
    *width = tile;
    return;
  }
  across = (s->left_columns + s->right_columns) * v->groups;
  *row = (number - inner) / across;
  at = (number - inner) % across;
  *x = s->origin + (at < s->left_columns * v->groups ? at : at + columns * v->groups) * CNV_TENSOR_K;
  *width = CNV_TENSOR_K;
}

/* Counts how often tiles make each sample of a tiles. */
static void
check_tiles(const KernelRun *run, const CnvTileJob *s, int n_tiles)
{
  int first = s->job.x * s->channels, width = s->job.width * s->channels, height = s->job.height;
  g_autofree guint8 *made = g_malloc0((gsize)width * height);

  for (int number = 0; number < MIN(n_tiles, s->n_tiles); number++) {
    int x, tile, row;

    find_tile(&run->variant, s, number, &x, &tile, &row);
    for (int y = row * s->rows; y < MIN((row + 1) * s->rows, height); y++)
      for (int i = MAX(x, first); i < MIN(x + tile, first + width); i++)
        made[(gsize)y * width + i - first]++;
  }
  for (gsize i = 0; i < (gsize)width * height; i++)
    if (made[i] != 1) {
      standin_report("%s makes sample %d of row %d of a tiles %d times", run->name, (int)(i % width), (int)(i / width),
                     made[i]);
      return;
    }
}

/* ---- jobs ---- */

static void
open_tiles(const KernelRun *run, const CnvTileJob *s, Tiles *tiles)
{
  const CnvTileArgs *l = run->args;
  CnvPlane *a = &tiles->block.a;
  int p = s->pointers;

  *tiles = (Tiles){.tiles = s, .n_sources = l->sources.n, .first_source = l->sources.n ? 0 : -1};
  a->channels = s->channels;
  a->border = s->border;
  a->combine = s->absolute ? 1 : 0;
  a->filtered = s->filtered;
  a->copied = s->copied;
  a->component[0].shift = s->shift;
  a->component[0].bits = g_bit_storage(s->full_bits);
  for (int c = 0; c < s->channels; c++) {
    a->mid[c] = s->mid;
    a->gain[c] = s->gain;
    a->mid_bias[c] = s->mid_bias;
    a->base[c] = s->base;
    a->fraction[c] = s->fraction;
    a->lowest[c] = -s->base;
    a->highest[c] = s->full_bits - s->base;
    a->border_value[c] = s->border_value[c];
  }
  tiles->block.job = s->job;
  tiles->block.sources = l->sources;
  cnv_block_locate(&tiles->block, l->in[p], l->in_stride[p], l->out[p], l->out_stride[p], run->variant.bytes);
  tiles->job = (Job){run->op, &tiles->block, run->variant.bytes, NULL, run->taps};
}

static void
run_tiles(const KernelRun *run, void (*func)(const KernelRun *run, Tiles *tiles))
{
  const CnvTileArgs *l = run->args;
  const CnvTileJob *jobs = l->job;
  int tiles_a_block = run->variant.groups && !run->variant.ring ? CNV_TILE_WARPS : 1;

  if (l->n_jobs > CNV_TILE_JOBS_INLINE)
    jobs = (const CnvTileJob *)standin_access(run->op, l->jobs, l->n_jobs * sizeof(CnvTileJob), FALSE, run->name);
  for (int i = 0; jobs && i < l->n_jobs; i++) {
    const CnvTileJob *s = &jobs[i];
    int end = i + 1 < l->n_jobs ? jobs[i + 1].first_block : (int)run->size->grid[0];
    Tiles tiles;

    if (i == 0 && s->first_block != 0)
      standin_report("%s: the first tiles begins with block %d", run->name, s->first_block);
    check_tiles(run, s, (end - s->first_block) * tiles_a_block);
    open_tiles(run, s, &tiles);
    func(run, &tiles);
  }
}

static int
samples_of(const Tiles *tiles)
{
  return tiles->tiles->job.width * tiles->tiles->channels;
}

static Padded
pad(const Tiles *tiles, Reach reach, int source, Outside outside)
{
  int first = source < 0 ? tiles->first_source : source, last = source < 0 ? tiles->n_sources : source + 1;

  return samples_pad(&tiles->job, reach, first, last, outside);
}

/* What renormalize makes of the sums, by the plane's taps in constant memory. */
static void
restore_sums(const Tiles *tiles, double *acc)
{
  const CnvTileJob *s = tiles->tiles;
  const CnvTerm term = s->term;

  if (!cnv_border_renormalizes(s->border))
    return;
  for (int y = 0; y < s->job.height; y++) {
    double factor = samples_y_factor(&tiles->job, &term, tiles->block.y + y);

    for (int i = 0; i < samples_of(tiles); i++)
      acc[(gsize)y * samples_of(tiles) + i] *=
          factor * samples_x_factor(&tiles->job, &term, tiles->block.x + i / s->channels);
  }
}

/* ---- fused ---- */

static void
fused_tiles(const KernelRun *run, Tiles *tiles)
{
  const CnvTileJob *s = tiles->tiles;
  CnvTerm term = s->term;
  g_autofree double *acc = g_new0(double, (gsize)samples_of(tiles) * s->job.height);

  if (run->variant.reach && MAX(cnv_fused_reach(s->term.n[CNV_X], s->term.anchor[CNV_X]),
                                cnv_fused_reach(s->term.n[CNV_Y], s->term.anchor[CNV_Y])) > run->variant.reach)
    standin_report("%s: taps reach farther", run->name);
  samples_add_term(&tiles->job, &term, acc);
  restore_sums(tiles, acc);
  samples_store(&tiles->job, acc);
}

/* ---- bands ---- */

static double
from_half(guint half)
{
  int exponent = half >> 10 & 31, mantissa = half & 1023;
  double magnitude = exponent ? ldexp(1024 + mantissa, exponent - 25) : ldexp(mantissa, -24);

  return half & 0x8000 ? -magnitude : magnitude;
}

static double
half_of(guint32 word, int which)
{
  return from_half(word >> (16 * which) & 0xffff);
}

/* Element of a 16 x 16 A of which each lane has four words. */
static double
a_at(const guint32 *words, int row, int k)
{
  return half_of(words[(row % 8 * 4 + k % 8 / 2) * 4 + row / 8 + k / 8 * 2], k % 2);
}

/* Element of a 16 x 8 B, or of `eights` of them whose words a lane has side by side. */
static double
b_at(const guint32 *words, int k, int column, int eights)
{
  return half_of(words[((column % 8 * 4 + k % 8 / 2) * eights + column / 8) * 2 + k / 8], k % 2);
}

static gboolean
open_bands(const KernelRun *run, Tiles *tiles, gsize words)
{
  const CnvTileArgs *l = run->args;

  tiles->bands =
      (const guint32 *)standin_access(run->op, l->bands + tiles->tiles->bands * 4, words * 4, FALSE, run->name);
  return tiles->bands != NULL;
}

/* ---- tensor ---- */

/* k of 16 at which the row pass takes sample number i: a lane loads four that are its two pairs. */
static int
k_of_sample(int i)
{
  return i / 4 * 2 + i % 4 / 2 * 8 + i % 2;
}

/* The tap of band `band` for output `out` of 16 on sample `at` from lead before the first. */
static double
tap_x(const Variant *v, const Tiles *tiles, int band, gsize words_y, int out, int at)
{
  const guint32 *words = tiles->bands;
  double tap = 0;

  if (band > 0)
    words += v->parts * ((gsize)band * v->k_x * 128 + words_y);
  for (int part = 0; part < v->parts; part++)
    tap += a_at(words + (part * v->k_x + at / 16) * 128, out % 2 * 8 + out / 2, k_of_sample(at % 16));
  return tap;
}

static double
tap_y(const Variant *v, const Tiles *tiles, gsize words_y, int eights, int out, int at)
{
  const guint32 *words = tiles->bands + (gsize)v->k_x * v->parts * 128;
  double tap = 0;

  for (int part = 0; part < v->parts; part++)
    tap += b_at(words + part * words_y + at / 16 * eights * 64, at % 16, out, eights);
  return tap;
}

/* Number of the band for a group of 16 samples; 0: the one whose taps all find samples. */
static int
band_of(const CnvTileJob *s, int group)
{
  int at = MIN(group, s->n_groups - 1);

  return at < s->left_groups ? 1 + at : at >= s->right_group ? 1 + s->left_groups + at - s->right_group : 0;
}

static int
bands_of(const CnvTileJob *s)
{
  return 1 + s->left_groups + MAX(s->n_groups - s->right_group, 0);
}

/* A tap that is not 0: what it is multiplied with, counted from a group's first sample, and on which row of taps. */
typedef struct {
  int at, row;
  double tap;
} Tap;

static double
sum_of_taps(const GArray *taps, const double *from, int stride)
{
  const Tap *tap = (const Tap *)taps->data;
  double sum = 0;

  for (guint i = 0; i < taps->len; i++)
    sum += tap[i].tap * from[(gint64)tap[i].row * stride + tap[i].at];
  return sum;
}

/* The taps of each of a band's 16 outputs. */
static void
find_taps_x(const Variant *v, const Tiles *tiles, int band, gsize words_y, GArray *taps[16])
{
  for (int out = 0; out < 16; out++) {
    taps[out] = g_array_new(FALSE, FALSE, sizeof(Tap));
    for (int at = 0; at < 16 * v->k_x; at++) {
      Tap tap = {at, 0, tap_x(v, tiles, band, words_y, out, at)};

      if (tap.tap != 0)
        g_array_append_val(taps[out], tap);
    }
  }
}

static void
free_taps(GArray **taps, int n)
{
  for (int i = 0; i < n; i++)
    g_array_unref(taps[i]);
}

/* Row sums of all rows of a padded tiles, by group; before: samples that it has before the tiles's first. */
static void
add_rows(const Variant *v, const Tiles *tiles, const Padded *from, int before, gsize words_y, double *sums)
{
  const CnvTileJob *s = tiles->tiles;
  int first = s->job.x * s->channels, width = samples_of(tiles), n_bands = bands_of(s);
  g_autofree GArray **taps = g_new(GArray *, 16 * n_bands);

  for (int band = 0; band < n_bands; band++)
    find_taps_x(v, tiles, band, words_y, taps + 16 * band);
  for (int j = 0; j < from->rows; j++)
    for (int i = 0; i < width; i++) {
      int sample = first + i, group = sample / 16, at = before + 16 * group - s->apron_left - first;

      sums[(gsize)j * width + i] =
          sum_of_taps(taps[16 * band_of(s, group) + sample % 16], from->value + (gsize)j * from->width + at, 0);
    }
  free_taps(taps, 16 * n_bands);
}

static void
tensor_tiles(const KernelRun *run, Tiles *tiles)
{
  const Variant *v = &run->variant;
  const CnvTileJob *s = tiles->tiles;
  int C = s->channels, eights = v->ring ? 2 : 1, steps = v->ring ? CNV_RING_STEPS(s->term.n[CNV_Y]) : v->k_y;
  int beside = (16 * v->k_x + 32 + C - 1) / C, width = samples_of(tiles), height = s->job.height;
  gsize words_y = (gsize)steps * eights * 64;
  Reach reach = {beside, s->term.anchor[CNV_Y], 2 * beside, s->term.n[CNV_Y] - 1};
  g_autofree double *acc = g_new0(double, (gsize)width *height), *sums = NULL;
  Padded from;

  if (!open_bands(run, tiles, v->parts * (bands_of(s) * v->k_x * 128 + words_y)))
    return;
  from = pad(tiles, reach, -1, OUTSIDE_NOTHING);
  sums = g_new0(double, (gsize)from.rows *width);
  add_rows(v, tiles, &from, beside * C, words_y, sums);
  for (int y = 0; y < height; y++) {
    int out = y % s->rows % (8 * eights);

    for (int at = 0; at < 16 * steps; at++) {
      double tap = tap_y(v, tiles, words_y, eights, out, at);
      int row = y - out + at;

      if (tap != 0 && (row < 0 || row >= from.rows))
        standin_report("%s: a tap lies on row %d of %d", run->name, row, from.rows);
      else if (tap != 0)
        for (int i = 0; i < width; i++)
          acc[(gsize)y * width + i] += tap * sums[(gsize)row * width + i];
    }
  }
  restore_sums(tiles, acc);
  samples_store(&tiles->job, acc);
  g_free(from.value);
}

/* ---- dense ---- */

/* The taps of each of 16 outputs, of all rows of taps. */
static void
find_dense_taps(const Variant *v, const CnvTileJob *s, int term, const guint32 *bands, GArray *taps[16])
{
  for (int row = 0; row < 16; row++) {
    GArray *of_output = g_array_new(FALSE, FALSE, sizeof(Tap));

    for (int j = 0; j < s->term.n[CNV_Y]; j++)
      for (int at = 0; at < 16 * v->k_x; at++) {
        const guint32 *words = bands + ((gsize)j * v->terms + term) * v->k_x * v->parts * 128;
        Tap tap = {at, j, 0};

        for (int part = 0; part < v->parts; part++)
          tap.tap += a_at(words + (part * v->k_x + at / 16) * 128, row, at % 16);
        if (tap.tap != 0)
          g_array_append_val(of_output, tap);
      }
    taps[v->bytes == 1 ? row % 8 * 2 + row / 8 : row] = of_output;
  }
}

/* Adds what one frame, or the sum of all (source -1), gives to a term's sums. */
static void
add_frame(const Variant *v, const Tiles *tiles, int source, int term, const guint32 *bands, double *acc)
{
  const CnvTileJob *s = tiles->tiles;
  int C = s->channels, beside = (16 * v->k_x + 32 + C - 1) / C, width = samples_of(tiles), first = s->job.x * C;
  Padded from =
      pad(tiles, (Reach){beside, s->term.anchor[CNV_Y], 2 * beside, s->term.n[CNV_Y] - 1}, source, OUTSIDE_BORDER);
  GArray *taps[16];

  find_dense_taps(v, s, term, bands, taps);
  for (int y = 0; y < s->job.height; y++)
    for (int i = 0; i < width; i++) {
      int out = (first + i) % 16, at = beside * C + i - out - s->apron_left;

      acc[(gsize)y * width + i] += sum_of_taps(taps[out], from.value + (gsize)y * from.width + at, from.width);
    }
  free_taps(taps, 16);
  g_free(from.value);
}

static void
dense_tiles(const KernelRun *run, Tiles *tiles)
{
  const Variant *v = &run->variant;
  const CnvTileJob *s = tiles->tiles;
  gsize n = (gsize)samples_of(tiles) * s->job.height,
        words = (gsize)v->terms * s->term.n[CNV_Y] * v->k_x * v->parts * 128;
  int frames = s->term.taps[CNV_X] ? MAX(tiles->n_sources, 1) : 1; /* with taps of their own */
  g_autofree double *acc = g_new0(double, n), *other = g_new0(double, n);

  if (s->term.taps[CNV_X] && s->term.taps[CNV_X] != words)
    standin_report("%s: bands of a frame take %u words, not %u", run->name, (guint)words, s->term.taps[CNV_X]);
  if (!open_bands(run, tiles, words * frames))
    return;
  for (int frame = 0; frame < frames; frame++) {
    int source = s->term.taps[CNV_X] && tiles->n_sources ? frame : -1;

    add_frame(v, tiles, source, 0, tiles->bands + frame * words, acc);
    if (v->terms == 2)
      add_frame(v, tiles, source, 1, tiles->bands + frame * words, other);
  }
  for (gsize i = 0; i < n && v->terms == 2; i++)
    acc[i] = sqrt(acc[i] * acc[i] + other[i] * other[i]);
  samples_store(&tiles->job, acc);
}

void
tiles_fused(const KernelRun *run)
{
  run_tiles(run, fused_tiles);
}

void
tiles_tensor(const KernelRun *run)
{
  run_tiles(run, tensor_tiles);
}

void
tiles_dense(const KernelRun *run)
{
  run_tiles(run, dense_tiles);
}
