/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Kernels of wide gaussians: decimate, decimate_again and interpolate. Taps are rebuilt from their words, by the
 * layouts that the PTX manual gives for the fragments of mma.m16n8k16 and mma.m16n8k32. The sums are those of exact
 * arithmetic, rounded where the kernels store numbers.
 */
#include <math.h>
#include <string.h>

#include "tiles.h"

/* ---- lattices ---- */

static int
size_of(const CnvLattice *lattice, int axis)
{
  return lattice->last[axis] - lattice->first[axis] + 1;
}

static guint16 *
open_lattice(const KernelRun *run, const CnvLattice *lattice, int channel, gboolean writes)
{
  const CnvTileArgs *l = run->args;
  guint64 at = l->decimated + (lattice->at + (guint64)channel * (guint64)lattice->plane) * sizeof(guint16);

  if (lattice->pitch % 8 || lattice->at % 8 || lattice->plane != lattice->pitch * size_of(lattice, CNV_Y) ||
      lattice->pitch < CNV_DECIMATED_MARGIN + size_of(lattice, CNV_X) + CNV_DECIMATED_BEYOND)
    standin_report("%s: a lattice of %d x %d samples has rows of %d numbers, %d in all", run->name,
                   size_of(lattice, CNV_X), size_of(lattice, CNV_Y), lattice->pitch, lattice->plane);
  return (guint16 *)(void *)standin_access(run->op, at, (gsize)lattice->plane * sizeof(guint16), writes, run->name);
}

/* Stores a lattice's samples, as numbers, with the margins of rows. */
static void
store_lattice(const KernelRun *run, const CnvLattice *to, int channel, const double *numbers)
{
  guint16 *at = open_lattice(run, to, channel, TRUE);
  int width = size_of(to, CNV_X);

  for (int i = 0; at && i < to->plane; i++) {
    int x = CLAMP(i % to->pitch - CNV_DECIMATED_MARGIN, 0, width - 1);

    at[i] = (guint16)CLAMP(rint(numbers[i / to->pitch * width + x]), 0, G_MAXUINT16);
  }
}

/* ---- decimate ---- */

/* Taps of 16 samples of a row, on pixels from CNV_DECIMATE_APRON before the first one's own; or of 8 of a column, on
 * rows from the first that it takes. */
typedef struct {
  int n;
  double *tap; /* n for each sample; g_free */
} SplineTaps;

static SplineTaps
taps_along(const guint32 *words, int bytes, int step)
{
  int unit = CNV_DECIMATE_UNIT(bytes), per_word = 4 / bytes, n = CNV_DECIMATE_STEPS_X(bytes, step) * unit;
  SplineTaps taps = {n, g_new0(double, 16 * n)};

  for (int m = 0; m < 16; m++)
    for (int at = 0; at < n; at++) {
      /* A lane has neighbours: words 0 and 1 of the fragment the first, 2 and 3 those after them. */
      int lane = m % 8 * 4 + at % unit / (2 * per_word), part = at / per_word % 2, j = at % per_word;
      guint32 word = words[at / unit * 128 + lane * 4 + m / 8 + 2 * part];

      taps.tap[m * n + at] = bytes == 1 ? word >> (8 * j) & 0xff : tiles_from_half(word >> (16 * j) & 0xffff);
    }
  return taps;
}

static SplineTaps
taps_down(const guint32 *words, int step)
{
  int n = CNV_DECIMATE_STEPS_Y(step) * 16;
  SplineTaps taps = {n, g_new0(double, 8 * n)};

  for (int m = 0; m < 8; m++)
    for (int at = 0; at < n; at++) {
      int k = at % 16;
      guint32 word = words[at / 16 * 64 + (m * 4 + k % 8 / 2) * 2 + k / 8];

      taps.tap[m * n + at] = tiles_from_half(word >> (k % 2 * 16) & 0xffff);
    }
  return taps;
}

/* Reports taps that do not make flat content of itself. */
static void
check_sums(const KernelRun *run, const SplineTaps *taps, int n, double sum)
{
  for (int m = 0; m < n; m++) {
    double found = 0;

    for (int i = 0; i < taps->n; i++)
      found += taps->tap[m * taps->n + i];
    if (found != sum)
      standin_report("%s: the taps of sample %d add up to %g, not to %g", run->name, m, found, sum);
  }
}

static void
check_decimate(const KernelRun *run, const CnvTileJob *s)
{
  const CnvDecimation *d = &s->decimation;
  int bytes = run->variant.bytes, step_x = 1 << d->to.shift[CNV_X], step_y = 1 << d->to.shift[CNV_Y];
  int used = (step_x * 16 * (d->groups - 1) + CNV_DECIMATE_UNIT(bytes) * CNV_DECIMATE_STEPS_X(bytes, step_x)) *
             s->channels * bytes;
  int bands = CNV_DECIMATE_STEPS_X(bytes, step_x) * 512 + CNV_DECIMATE_STEPS_Y(step_y) * 256;
  int sums = CNV_TILE_WARPS / d->groups * s->channels * CNV_DECIMATE_ROWS * (16 * d->groups + 4) * 4;
  int rows = (s->box_rows + 15) / 16 * 16;

  if (s->channels > run->variant.channels || d->pitch < used || d->pitch % 16 || d->anchor % 16 ||
      d->bands_begin < d->pitch * rows || s->box_rows < s->rows + 2 * step_y - 2 ||
      s->rows > CNV_DECIMATE_ROWS * step_y)
    standin_report("%s: tiles of %d x %d bytes and %d rows, bands at %d, of %d channels", run->name, d->pitch,
                   s->box_rows, s->rows, d->bands_begin, s->channels);
  if (run->size->shared_bytes < (guint)MAX(d->bands_begin + bands, sums))
    standin_report("%s takes %d bytes of shared memory of %u", run->name, MAX(d->bands_begin + bands, sums),
                   run->size->shared_bytes);
  tiles_check_plane(run, s);
}

static double
sum_along(const SplineTaps *taps, int m, const double *from, int apart)
{
  double sum = 0;

  for (int i = 0; i < taps->n; i++)
    sum += taps->tap[m * taps->n + i] != 0 ? taps->tap[m * taps->n + i] * from[(gsize)i * apart] : 0;
  return sum;
}

static void
decimate(const KernelRun *run, Tiles *tiles)
{
  const CnvTileJob *s = tiles->tiles;
  const CnvLattice *to = &s->decimation.to;
  int bytes = run->variant.bytes, C = s->channels, step[] = {1 << to->shift[CNV_X], 1 << to->shift[CNV_Y]};
  int width = size_of(to, CNV_X), height = size_of(to, CNV_Y), per_tile = 16 * s->decimation.groups;
  gsize n_x = (gsize)CNV_DECIMATE_STEPS_X(bytes, step[CNV_X]) * 128;
  gsize n_y = (gsize)CNV_DECIMATE_STEPS_Y(step[CNV_Y]) * 64;
  const guint32 *words = tiles_words(run, s, 0, n_x + n_y);
  double unit = pow(step[CNV_X], 3);

  check_decimate(run, s);
  if (!words)
    return;
  SplineTaps x = taps_along(words, bytes, step[CNV_X]), y = taps_down(words + n_x, step[CNV_Y]);
  int left = s->job.x - (s->decimation.anchor + to->first[CNV_X] * step[CNV_X] - CNV_DECIMATE_APRON);
  int above = step[CNV_Y] - 1 - to->first[CNV_Y] * step[CNV_Y];
  Padded from = samples_pad(
      &tiles->job, (Reach){left, above, (width + per_tile) * step[CNV_X] + x.n, height * step[CNV_Y] + y.n}, -1, 0);
  g_autofree double *rows = g_new(double, (gsize)width *from.rows), *numbers = g_new(double, (gsize)width *height);

  check_sums(run, &x, 16, unit);
  check_sums(run, &y, 8, 1);
  for (int c = 0; c < C; c++) {
    if (!(s->filtered >> c & 1))
      continue;
    for (int j = 0; j < from.rows; j++)
      for (int i = 0; i < width; i++)
        rows[j * width + i] =
            sum_along(&x, i % 16, from.value + (gsize)j * from.width + (i - i % 16) * step[CNV_X] * C + c, C) / unit;
    for (int j = 0; j < height; j++)
      for (int i = 0; i < width; i++)
        numbers[j * width + i] = (s->mid + sum_along(&y, j % 8, rows + (j - j % 8) * step[CNV_Y] * width + i, width)) *
                                 (1 << CNV_DECIMATED_BITS(bytes));
    store_lattice(run, to, c, numbers);
  }
  g_free(from.value);
  g_free(x.tap);
  g_free(y.tap);
}

/* ---- decimate_again ---- */

static void
decimate_again(const KernelRun *run, Tiles *tiles)
{
  const CnvTileJob *s = tiles->tiles;
  const CnvLattice *from = &s->decimation.from, *to = &s->decimation.to;
  int times[CNV_N_AXES], n[CNV_N_AXES], width = size_of(to, CNV_X), height = size_of(to, CNV_Y);
  g_autofree double *numbers = g_new(double, (gsize)width *height);
  const float *taps;

  for (int axis = 0; axis < CNV_N_AXES; axis++) {
    times[axis] = 1 << (to->shift[axis] - from->shift[axis]);
    n[axis] = 3 * times[axis] - 2;
  }
  taps = (const float *)(const void *)tiles_words(run, s, 0, (gsize)(n[CNV_X] + n[CNV_Y]));
  for (int c = 0; c < s->channels && taps; c++) {
    const guint16 *plane = s->filtered >> c & 1 ? open_lattice(run, from, c, FALSE) : NULL;

    for (int i = 0; i < width * height && plane; i++) {
      int x = (to->first[CNV_X] + i % width) * times[CNV_X] - times[CNV_X] + 1;
      int y = (to->first[CNV_Y] + i / width) * times[CNV_Y] - times[CNV_Y] + 1;

      numbers[i] = 0;
      for (int j = 0; j < n[CNV_Y]; j++)
        for (int k = 0; k < n[CNV_X]; k++)
          numbers[i] +=
              (double)taps[n[CNV_X] + j] * (double)taps[k] *
              plane[(CLAMP(y + j, from->first[CNV_Y], from->last[CNV_Y]) - from->first[CNV_Y]) * from->pitch +
                    CNV_DECIMATED_MARGIN + CLAMP(x + k, from->first[CNV_X], from->last[CNV_X]) - from->first[CNV_X]];
    }
    if (plane)
      store_lattice(run, to, c, numbers);
  }
}

/* ---- interpolate ---- */

/* Element of a band of so many fragments for each part. */
static double
tap_of(const guint32 *words, int parts, int steps, int m, int k)
{
  double tap = 0;

  for (int part = 0; part < parts; part++) {
    guint32 word = words[(part * steps + k / 16) * 128 + (m % 8 * 4 + k % 8 / 2) * 4 + m / 8 + k % 16 / 8 * 2];

    tap += tiles_from_half(word >> (k % 2 * 16) & 0xffff);
  }
  return tap;
}

/* Taps of an output, from number `first` of an axis of the lattice on. */
typedef struct {
  int first;
  double tap[CNV_INTERPOLATE_WINDOW(2)], sum;
} OutputTaps;

static OutputTaps
find_taps(const guint32 *words, int bytes, int m, int first)
{
  OutputTaps taps = {.first = first};

  for (int k = 0; k < CNV_INTERPOLATE_WINDOW(bytes); k++) {
    taps.tap[k] = tap_of(words, bytes, CNV_INTERPOLATE_WINDOW(bytes) / 16, m, k);
    taps.sum += taps.tap[k];
  }
  return taps;
}

/* The taps of an output by its row of the job, and by its pixel from the anchor on; numbers of rows, and of a row with
 * its margin. */
static OutputTaps
taps_of_row(const guint32 *words, const CnvTileJob *s, int bytes, int row)
{
  const CnvDecimation *d = &s->decimation;
  int shift = d->from.shift[CNV_Y], top = row / s->rows * s->rows, block = (row - top) / 16;
  int places = cnv_interpolate_places(shift, s->rows), fragment = CNV_INTERPOLATE_WINDOW(bytes) / 16 * bytes * 128;

  return find_taps(words + block % places * fragment, bytes, row % 16,
                   (top >> shift) + d->lead[CNV_Y] + block / places * 8 - d->from.first[CNV_Y]);
}

static OutputTaps
taps_of_pixel(const guint32 *words, const CnvTileJob *s, int bytes, int pixel)
{
  const CnvDecimation *d = &s->decimation;
  int shift = d->from.shift[CNV_X], across = CNV_INTERPOLATE_PIXELS(s->channels), left = pixel / across * across;
  int group = (pixel - left) / 16, i = pixel % 16, m = i / 4 * 2 + i % 2 + i % 4 / 2 * 8;
  int at = (left >> shift) + d->lead[CNV_X] - d->from.first[CNV_X] + CNV_DECIMATED_MARGIN;
  int places = CNV_INTERPOLATE_PLACES_X(shift), fragment = CNV_INTERPOLATE_WINDOW(bytes) / 16 * bytes * 128;

  return find_taps(words + ((at & 1) * places + (group & (places - 1))) * fragment, bytes, m,
                   (at & ~1) + ((16 * group) >> shift & ~1));
}

static void
check_interpolate(const KernelRun *run, const CnvTileJob *s)
{
  const CnvDecimation *d = &s->decimation;
  int bytes = run->variant.bytes, shift_x = d->from.shift[CNV_X];
  int pitch = cnv_interpolate_pitch(s->channels, bytes, shift_x);
  int places = CNV_INTERPOLATE_PLACES_X(shift_x) + cnv_interpolate_places(d->from.shift[CNV_Y], s->rows);
  guint needed = (guint)(CNV_INTERPOLATE_WIDTH(s->channels) * bytes * s->rows +
                         places * CNV_INTERPOLATE_WINDOW(bytes) / 16 * bytes * 512 +
                         s->channels * bytes * cnv_interpolate_rows(d, s->rows) * pitch * 2);

  if (s->channels > run->variant.channels || s->renormalizes || s->center != 0 ||
      s->origin != d->anchor * s->channels || s->rows % 16 || s->rows > CNV_INTERPOLATE_MORE_ROWS)
    standin_report("%s: %d channels, tiles of %d rows from sample %d on", run->name, s->channels, s->rows, s->origin);
  if (run->size->shared_bytes < needed)
    standin_report("%s takes %u bytes of shared memory of %u", run->name, needed, run->size->shared_bytes);
}

/* Row sums of all of a lattice's rows, for each pixel of the job. */
static void
sum_rows(double *to, const KernelRun *run, const CnvTileJob *s, const guint32 *words, const guint16 *plane)
{
  const CnvLattice *from = &s->decimation.from;
  int bytes = run->variant.bytes, width = s->job.width, height = size_of(from, CNV_Y);
  double unit = 1.0 / (1 << CNV_DECIMATED_BITS(bytes));

  for (int x = 0; x < width; x++) {
    OutputTaps taps = taps_of_pixel(words, s, bytes, s->job.x + x - s->decimation.anchor);

    if (fabs(taps.sum - 1) > 1e-5)
      standin_report("%s: taps of a row add up to %.9g", run->name, taps.sum);
    for (int y = 0; y < height; y++) {
      double sum = 0;

      for (int k = 0; k < CNV_INTERPOLATE_WINDOW(bytes); k++)
        if (taps.tap[k] != 0)
          sum += taps.tap[k] * (plane[y * from->pitch + CLAMP(taps.first + k, 0, from->pitch - 1)] * unit - s->mid);
      to[y * width + x] = sum;
    }
  }
}

static void
interpolate(const KernelRun *run, Tiles *tiles)
{
  const CnvTileJob *s = tiles->tiles;
  const CnvLattice *from = &s->decimation.from;
  int bytes = run->variant.bytes, C = s->channels, width = s->job.width;
  gsize fragment = (gsize)(CNV_INTERPOLATE_WINDOW(bytes) / 16 * bytes * 128);
  gsize n_y = (gsize)CNV_INTERPOLATE_PLACES_Y(from->shift[CNV_Y]) * fragment;
  gsize n_x = 2 * (gsize)CNV_INTERPOLATE_PLACES_X(from->shift[CNV_X]) * fragment;
  const guint32 *words = tiles_words(run, s, 0, n_x + n_y);
  g_autofree double *acc = g_new0(double, (gsize)width *C * s->job.height);
  g_autofree double *rows = g_new(double, (gsize)width *size_of(from, CNV_Y));

  tiles_open_levels(run, tiles);
  check_interpolate(run, s);
  for (int c = 0; c < C && words; c++) {
    const guint16 *plane = s->filtered >> c & 1 ? open_lattice(run, from, c, FALSE) : NULL;

    if (!plane)
      continue;
    sum_rows(rows, run, s, words + n_y, plane);
    for (int y = 0; y < s->job.height; y++) {
      OutputTaps taps = taps_of_row(words, s, bytes, y);

      if (fabs(taps.sum - (double)s->decimation.gain) > 1e-5 * MAX(1, fabs((double)s->decimation.gain)))
        standin_report("%s: taps of a column add up to %.9g, not to %.9g", run->name, taps.sum,
                       (double)s->decimation.gain);
      for (int k = 0; k < CNV_INTERPOLATE_WINDOW(bytes); k++)
        for (int x = 0; x < width && taps.tap[k] != 0; x++)
          acc[((gsize)y * width + x) * C + c] +=
              taps.tap[k] * rows[CLAMP(taps.first + k, 0, size_of(from, CNV_Y) - 1) * width + x];
      for (int x = 0; x < width; x++)
        acc[((gsize)y * width + x) * C + c] += s->offset - 1024;
    }
  }
  if (C == 1)
    tiles_check_levels(run, tiles, acc);
  samples_store(&tiles->job, acc);
}

void
tiles_decimate(const KernelRun *run)
{
  tiles_run(run, decimate);
}

void
tiles_decimate_again(const KernelRun *run)
{
  tiles_run(run, decimate_again);
}

void
tiles_interpolate(const KernelRun *run)
{
  tiles_run(run, interpolate);
}
