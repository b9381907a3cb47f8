/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Kernels that work on tile jobs: each of a launch's blocks makes a tile. Taps of fused are numbers in constant memory;
 * those of blur and dense are rebuilt from their words, by the layouts that the PTX manual gives for the fragments of
 * mma.m16n8k16 and mma.m16n8k32. The sums are those of exact arithmetic.
 */
#include <math.h>
#include <string.h>

#include "tiles.h"

/* ---- tiles ---- */

static int
tile_width(const Variant *v, const CnvTileJob *s)
{
  if (v->is_one_tap)
    return CNV_ONE_TAP_BYTES / v->bytes;
  if (v->digits)
    return CNV_TILE_WIDTH;
  if (v->decimation == INTERPOLATES)
    return CNV_INTERPOLATE_WIDTH(s->channels);
  if (v->ring)
    return CNV_RING_WIDTH;
  if (v->groups)
    return 16 * CNV_TILE_WARPS * v->groups;
  return CNV_FUSED_LOADED - 2 * s->lead;
}

/* What a job's tiles divide: samples from `first` on, in tiles from `origin` on. */
typedef struct {
  int first, origin, width, height, tile, rows;
} Grid;

static Grid
grid_of(const Variant *v, const CnvTileJob *s)
{
  const CnvLattice *to = &s->decimation.to;
  int width = to->last[CNV_X] - to->first[CNV_X] + 1, height = to->last[CNV_Y] - to->first[CNV_Y] + 1;

  if (v->decimation == DECIMATES)
    return (Grid){0, 0, width, height, 16 * s->decimation.groups, s->rows >> to->shift[CNV_Y]};
  if (v->decimation == DECIMATES_AGAIN)
    return (Grid){0,
                  0,
                  to->plane * s->channels,
                  1,
                  32 * CNV_TILE_WARPS / CNV_DECIMATE_AGAIN_LANES(to->shift[CNV_Y] - s->decimation.from.shift[CNV_Y]),
                  1};
  return (Grid){s->job.x * s->channels, s->origin,        s->job.width * s->channels,
                s->job.height,          tile_width(v, s), s->rows};
}

/* Counts how often tiles make each sample of a job, and marks their blocks as used. numbers: of the blocks' jobs; NULL:
 * the kernel finds them without. */
static void
check_tiles(const KernelRun *run, const CnvTileJob *s, guint8 *used, const guint32 *numbers, guint32 job)
{
  Grid grid = grid_of(&run->variant, s);
  int first = grid.first, width = grid.width, height = grid.height, tile = grid.tile;
  int n_blocks = (int)run->size->grid[0], edges = cnv_tile_edges(s);
  g_autofree guint8 *made = g_malloc0((gsize)width * height);

  for (int number = 0; number < s->columns * (s->last_row + 1); number++) {
    int column, row, x, block = number < edges ? s->first_block + number : s->inner_block + number - edges;

    if (block < 0 || block >= n_blocks || used[block]++) {
      standin_report("%s has tile %d in block %d of %d, which is not free", run->name, number, block, n_blocks);
      return;
    }
    if (numbers && numbers[block] != job) {
      standin_report("%s has block %d of job %u numbered %u", run->name, block, job, numbers[block]);
      return;
    }
    cnv_tile_place(s, block, &column, &row);
    x = grid.origin + column * tile;
    if (row < 0 || row > s->last_row || column < 0 || column >= s->columns) {
      standin_report("%s has tile %d in row %d of %d, column %d of %d", run->name, number, row, s->last_row + 1, column,
                     s->columns);
      return;
    }
    for (int y = row * grid.rows; y < MIN((row + 1) * grid.rows, height); y++)
      for (int i = MAX(x, first); i < MIN(x + tile, first + width); i++)
        made[(gsize)y * width + i - first]++;
  }
  for (gsize i = 0; i < (gsize)width * height; i++)
    if (made[i] != 1) {
      standin_report("%s makes sample %d of row %d of a job %d times", run->name, (int)(i % width), (int)(i / width),
                     made[i]);
      return;
    }
}

/* The kinds of a job's tiles from the launch's list; those that are not in it are kept. Of a job that is not whole all
 * are in it. */
static guint8 *
listed_kinds(const KernelRun *run, const CnvTileJob *s, int number, guint8 *used)
{
  const CnvTileArgs *l = run->args;
  int n_blocks = (int)run->size->grid[0], n = s->columns * (s->last_row + 1), found = 0;
  const CnvTilePlace *places =
      (const CnvTilePlace *)standin_access(run->op, l->tiles, n_blocks * sizeof(CnvTilePlace), FALSE, run->name);
  guint8 *kinds = g_malloc0(n);

  for (int i = 0; places && i < n_blocks; i++) {
    int at = places[i].row * s->columns + places[i].column;

    if ((int)places[i].job != number)
      continue;
    if (used[i]++ || places[i].column >= s->columns || places[i].row > s->last_row || kinds[at] != CNV_TILE_KEPT ||
        places[i].kind == CNV_TILE_KEPT)
      standin_report("%s: block %d makes tile %d, %d of job %d", run->name, i, places[i].column, places[i].row, number);
    else
      kinds[at] = places[i].kind;
    found++;
  }
  if (!s->job.whole && found != n)
    standin_report("%s: a list has %d of the %d tiles of job %d", run->name, found, n, number);
  return kinds;
}

/* ---- jobs ---- */

/* The coverage of a job that is whole, for whose tiles of one weight there is none. */
static const guint8 *
coverage_by_kinds(const KernelRun *run, const CnvTileJob *s, Tiles *tiles, const guint8 *rows)
{
  int width = tile_width(&run->variant, s);

  tiles->coverage = g_malloc((gsize)s->job.coverage_pitch * s->job.height);
  for (int y = 0; y < s->job.height; y++)
    for (int x = 0; x < s->job.width; x++) {
      int first = (x * s->channels - s->origin) / width, last = ((x + 1) * s->channels - 1 - s->origin) / width;
      gsize at = (gsize)y * s->job.coverage_pitch + x;
      guint8 kind = tiles->kinds[y / s->rows * s->columns + first],
             other = tiles->kinds[y / s->rows * s->columns + last];

      /* A pixel of three channels may lie in two tiles. */
      tiles->coverage[at] = kind == CNV_TILE_BLENDED || other == CNV_TILE_BLENDED ? rows[at]
                            : kind == CNV_TILE_FILTERED                           ? 255
                                                                                  : 0;
    }
  return tiles->coverage;
}

/* Opens the coverage of a job that has some, up to the aligned ends of its rows. */
static void
open_coverage(const KernelRun *run, const CnvTileJob *s, Tiles *tiles)
{
  const CnvTileArgs *l = run->args;
  const CnvJob *j = &s->job;
  int before = j->x % CNV_COVERAGE_ALIGNMENT, alignment = CNV_COVERAGE_ALIGNMENT;
  int bytes = (before + j->width + alignment - 1) / alignment * alignment;
  const guint8 *rows;

  if (!s->blends != (j->coverage_pitch == 0) || (j->shared && (!s->blends || s->inner_x0 < s->inner_x1)))
    standin_report("%s: blends %d, coverage_pitch %d, shared %d, inner tiles from %d to %d", run->name, s->blends,
                   j->coverage_pitch, j->shared, s->inner_x0, s->inner_x1);
  if (run->variant.is_plain && (s->blends || l->tiles))
    standin_report("%s has coverage or a list of tiles", run->name);
  if (j->coverage_pitch == 0)
    return;
  if (l->coverage % alignment || j->coverage % alignment != (guint64)before || j->coverage_pitch % alignment ||
      j->move_x != 0 || j->move_y != 0)
    standin_report("%s: coverage at byte %" G_GUINT64_FORMAT ", pitch %d, of a job at column %d, moved by (%d, %d)",
                   run->name, l->coverage + j->coverage, j->coverage_pitch, j->x, j->move_x, j->move_y);
  rows = standin_access_rows(run->op, l->coverage + j->coverage - (guint64)before, j->coverage_pitch, (gsize)bytes,
                             (gsize)j->height, FALSE, run->name);
  for (gint64 i = 0; rows && !j->whole && i < (gint64)bytes * j->height; i++)
    if ((i % bytes < before || i % bytes >= before + j->width) && rows[i / bytes * j->coverage_pitch + i % bytes])
      standin_report("%s: coverage of %d beside a job", run->name, rows[i / bytes * j->coverage_pitch + i % bytes]);
  tiles->weights = rows ? rows + before : NULL;
  if (rows && tiles->kinds)
    rows = coverage_by_kinds(run, s, tiles, rows);
  if (rows)
    tiles->job.coverage = rows + before - j->coverage;
}

static void
open_tiles(const KernelRun *run, const CnvTileJob *s, const guint8 *kinds, Tiles *tiles)
{
  const CnvTileArgs *l = run->args;
  CnvPlane *a = &tiles->block.a;
  int p = s->pointers;

  *tiles = (Tiles){.tiles = s, .kinds = kinds, .n_sources = l->sources.n, .first_source = l->sources.n ? 0 : -1};
  a->channels = s->channels;
  a->border = s->border;
  a->combine = s->combine;
  a->filtered = s->filtered;
  a->copied = s->copied;
  a->plain = TRUE;
  a->component[0].bytes = (guint8)run->variant.bytes;
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
  cnv_block_locate(&tiles->block, &l->in, &l->out, p);
  tiles->job = (Job){.op = run->op, .block = &tiles->block, .bytes = run->variant.bytes, .taps = run->taps};
  open_coverage(run, s, tiles);
}

/* Counts the launch's blocks as the kernel does. */
static void
count_readers(const KernelRun *run)
{
  const CnvTileArgs *l = run->args;
  static guint64 counted_before;
  Allocation *before;
  guint32 *readers = (guint32 *)(void *)standin_access(run->op, l->readers, sizeof(guint32), TRUE, run->name);

  if (!readers)
    return;
  before = standin_find(counted_before);
  if (before && counted_before != l->readers)
    before->is_left = TRUE; /* its session may be lost, which frees nothing */
  counted_before = l->readers;
  if (standin_find(l->readers)->is_left)
    standin_report("%s: two sessions have blocks that wait for each other", run->name);
  if (run->size->grid[0] > STANDIN_PROCESSORS * STANDIN_FITTING)
    standin_report("%s: %u blocks wait for each other, which do not fit", run->name, run->size->grid[0]);
  *readers += run->size->grid[0];
  if (*readers != l->all_readers)
    standin_report("%s: %u blocks have read, the launch waits for %u", run->name, *readers, l->all_readers);
  for (int p = 0; p < CNV_MAX_PLANES; p++)
    if (l->in.address[p] != l->out.address[p])
      standin_report("%s: plane %d is not in place", run->name, p);
}

void
tiles_run(const KernelRun *launched, void (*func)(const KernelRun *run, Tiles *tiles))
{
  CnvTileArgs args; /* where its alignment wants it */
  KernelRun with_args = *launched;
  const KernelRun *run = &with_args;
  const CnvTileArgs *l = &args;
  const CnvTileJob *jobs = l->job;
  const guint32 *numbers = NULL;
  g_autofree guint8 *used = NULL;

  memcpy(&args, launched->args, sizeof(args));
  with_args.args = &args;

  if (l->n_jobs > CNV_TILE_JOBS_INLINE) {
    gsize size = l->n_jobs * sizeof(CnvTileJob);

    gsize table = l->tiles ? 0 : run->size->grid[0] * sizeof(guint32);

    jobs = (const CnvTileJob *)standin_access(run->op, l->jobs, size + table, FALSE, run->name);
    numbers = jobs && table ? (const guint32 *)(const void *)(jobs + l->n_jobs) : NULL;
  }
  used = g_malloc0(run->size->grid[0]);
  if (l->readers) {
    count_readers(run);
    samples_keep();
  }
  for (int i = 0; jobs && i < l->n_jobs; i++) {
    const CnvTileJob *s = &jobs[i];
    Tiles tiles;

    g_autofree guint8 *kinds = l->tiles ? listed_kinds(run, s, i, used) : NULL;

    if (!l->tiles)
      check_tiles(run, s, used, numbers, (guint32)i);
    open_tiles(run, s, s->job.whole ? kinds : NULL, &tiles);
    func(run, &tiles);
    g_free(tiles.coverage);
  }
  if (l->readers)
    samples_put_kept();
  if (jobs && memchr(used, 0, run->size->grid[0]))
    standin_report("%s has a block without a tile", run->name);
}

static int
samples_of(const Tiles *tiles)
{
  return tiles->tiles->job.width * tiles->tiles->channels;
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

/* ---- tiles in shared memory ---- */

/* A tile as the kernel indexes it: samples and rows that outputs reach over. */
typedef struct {
  int lead, top; /* before the first output */
  int below;     /* rows after the last one */
  int pitch;     /* bytes */
} Reached;

static Reached
reached_by(const Variant *v, const CnvTileJob *s)
{
  int bytes = v->bytes, width = tile_width(v, s) * bytes;
  int lead = v->digits ? CNV_DENSE_LEAD(bytes, v->k_x) : CNV_BLUR_LEAD(v->k_x) * (v->pixels ? 4 : 1);
  int top = s->term.anchor[CNV_Y];
  int n_rows = v->rows ? v->rows : s->term.n[CNV_Y];

  if (v->decimation)
    return (Reached){.pitch = s->decimation.pitch};
  if (v->is_fused)
    return (Reached){s->lead, top, 8 * CNV_FUSED_GROUPS(n_rows) - top, CNV_FUSED_LOADED * bytes};
  if (v->digits)
    return (Reached){lead, top, MAX(n_rows, 1) - 1 - top,
                     v->pairs ? CNV_DENSE_PITCH_OVER_TIME : CNV_TILE_PITCH(16, width, lead * bytes)};
  top = v->ring ? CNV_BLUR_LEAD(s->steps_y) : s->top;
  return (Reached){lead, top, top, CNV_TILE_PITCH(16 * bytes, width, lead * bytes)};
}

/* Reports shared memory that is less than the kernel indexes, and tiles that the copy engine cannot bring. */
static void
check_shared(const KernelRun *run, const CnvTileJob *s)
{
  const CnvTileArgs *l = run->args;
  const Variant *v = &run->variant;
  Reached r = reached_by(v, s);
  int rows = v->ring ? 16 * v->ring : s->rows + r.top + r.below, frames = MAX(l->sources.n, 1);
  guint tiles = (guint)(frames + (v->weighed ? 1 : 0)) * CNV_TILE_BYTES((guint)r.pitch, (guint)s->box_rows);
  guint needed = v->is_one_tap ? 0 : tiles + (v->is_fused ? 0 : (guint)(s->rows * tile_width(v, s) * v->bytes));

  if (v->ring)
    needed = (guint)cnv_ring_bytes(v->bytes, r.pitch, v->k_x, s->steps_y, v->ring, v->parts);
  if (v->groups && (s->top > CNV_BLUR_LEAD(v->k_y) || (s->top < CNV_BLUR_LEAD(v->k_y) && !v->is_over_time)))
    standin_report("%s has %d rows above a tile", run->name, s->top);
  if (run->size->block[0] != 32u * (v->is_one_tap ? CNV_ONE_TAP_WARPS : CNV_TILE_WARPS) || run->size->block[1] != 1)
    standin_report("%s has blocks of %u x %u threads", run->name, run->size->block[0], run->size->block[1]);
  if (s->rows % 16 || s->origin % 16 || s->bands % 4)
    standin_report("%s: tiles of %d rows from sample %d, words from %u on", run->name, s->rows, s->origin, s->bands);
  if ((s->box_rows < rows && !v->is_one_tap) ||
      (v->ring && (s->box_rows > rows || frames > 1 || s->rows > CNV_RING_ROWS)))
    standin_report("%s takes %d rows of %d", run->name, rows, s->box_rows);
  if ((v->groups || v->ring) && (v->ring ? s->steps_y < 2 || s->steps_y > CNV_RING_STEPS : s->steps_y != v->k_y))
    standin_report("%s has %d steps along y", run->name, s->steps_y);
  if (run->size->shared_bytes < needed)
    standin_report("%s takes %u bytes of shared memory of %u", run->name, needed, run->size->shared_bytes);
}

/* ---- tensor maps ---- */

static gboolean
is_of_plane(const StandinMap *map, const CnvTileArgs *l, const CnvTileJob *s)
{
  int p = s->pointers;
  guint64 stride = (guint64)l->in.stride[p], fields = (guint64)s->job.fields;

  if (map->stride[0] != stride || map->stride[1] != stride * fields || map->dim[1] != fields)
    return FALSE;
  if (l->sources.n == 0)
    return map->address == l->in.address[p];
  for (int i = 0; i < l->sources.n; i++) {
    gint64 from = l->sources.delta[i] - l->sources.first;

    if (from < 0 || from % CNV_SOURCE_STEP || (guint64)from / CNV_SOURCE_STEP >= map->dim[3])
      return FALSE;
  }
  return map->stride[2] == CNV_SOURCE_STEP && map->address == l->in.address[p] + (guint64)l->sources.first;
}

/* TRUE where a frame's rows, so many bytes from the map's first byte, end in the memory that they begin in. */
static gboolean
has_memory(const StandinMap *map, guint64 from)
{
  guint64 address = map->address + from;
  guint64 end = address + (map->dim[2] - 1) * map->stride[1] + (map->dim[1] - 1) * map->stride[0] + map->dim[0] * 4;
  const Allocation *a = standin_find(address);

  return a && end <= a->address + (a->size + 3) / 4 * 4;
}

/* Reports a map that lacks samples of the job's window, or that reaches beyond the memory. */
static void
check_map(const KernelRun *run, const CnvTileJob *s)
{
  const CnvTileArgs *l = run->args;
  const CnvJob *j = &s->job;
  int bytes = run->variant.bytes, row = (j->window_x + j->window_width) * s->channels * bytes;
  gboolean is_inside = TRUE;
  StandinMap map;

  memcpy(&map, &l->map[s->pointers], sizeof(map));
  if (!is_of_plane(&map, l, s)) {
    standin_report("%s: the map is not of plane %d", run->name, s->pointers);
    return;
  }
  if (map.dim[0] * 4 < (guint64)row || map.dim[2] < (guint64)(j->window_y + j->window_height))
    standin_report("%s: the map has %u x %u words of a window of %d bytes x %d", run->name, (guint)map.dim[0],
                   (guint)map.dim[2], row, j->window_y + j->window_height);
  for (int i = 0; i < MAX(l->sources.n, 1); i++)
    is_inside &= has_memory(&map, l->sources.n ? (guint64)(l->sources.delta[i] - l->sources.first) : 0);
  if (!is_inside)
    standin_report("%s: the map reaches beyond the plane's memory", run->name);
  if (map.box[0] * 4 != (guint)reached_by(&run->variant, s).pitch || map.box[1] != 1 || map.box[3] != 1 ||
      map.box[2] != (guint)s->box_rows || s->box_rows > CNV_TILE_MAP_ROWS)
    standin_report("%s: the map's box has %u words of %u rows", run->name, map.box[0], map.box[2]);
}

void
tiles_check_plane(const KernelRun *run, const CnvTileJob *s)
{
  const CnvTileArgs *l = run->args;
  guint64 bits = l->in.address[s->pointers] | (guint64)l->in.stride[s->pointers];

  if (!(l->maps >> s->pointers & 1))
    return;
  for (int i = 0; i < l->sources.n; i++)
    bits |= (guint64)l->sources.delta[i];
  if (bits % 16)
    standin_report("%s: plane %d does not lie on multiples of 16 bytes", run->name, s->pointers);
  else if (standin_capability() >= 90 && !run->variant.is_one_tap)
    check_map(run, s);
}

/* ---- fused ---- */

static void
fused_tiles(const KernelRun *run, Tiles *tiles)
{
  const CnvTileJob *s = tiles->tiles;
  CnvTerm term = s->term;
  int reach = MAX(term.anchor[CNV_X], term.n[CNV_X] - 1 - term.anchor[CNV_X]) * s->channels;
  g_autofree double *acc = g_new0(double, (gsize)samples_of(tiles) * s->job.height);

  if (s->lead < reach || s->lead * run->variant.bytes % 16 || tile_width(&run->variant, s) <= 0 ||
      MAX(term.n[CNV_X], term.n[CNV_Y]) > CNV_FUSED_MAX_TAPS || s->rows > CNV_FUSED_TILE_ROWS)
    standin_report("%s: %dx%d taps, %d samples before tiles of %d rows", run->name, term.n[CNV_X], term.n[CNV_Y],
                   s->lead, s->rows);
  check_shared(run, s);
  tiles_check_plane(run, s);
  samples_add_term(&tiles->job, &term, acc);
  restore_sums(tiles, acc);
  samples_store(&tiles->job, acc);
}

/* ---- taps ---- */

/* The taps of a band, by how many samples or rows they lie behind the output: tap[lead] is that of the output's own. */
typedef struct {
  int lead;
  double *tap; /* 2 lead + 1 */
} Band;

const guint32 *
tiles_words(const KernelRun *run, const CnvTileJob *s, gsize first, gsize n)
{
  const CnvTileArgs *l = run->args;

  return (const guint32 *)standin_access(run->op, l->bands + (s->bands + first) * 4, n * 4, FALSE, run->name);
}

/* Fragments of the words of a band: k steps of one part after the other, or of two rows, terms and digits side by side.
 */
typedef struct {
  const guint32 *words;
  const Variant *v;
  int steps, outputs, term, row;
  gboolean along_x;
} Fragments;

typedef double (*TapAt)(const Fragments *from, int out, int at);

/* The outputs' taps on n samples, or rows, from `lead` before the first output on; they are to be the same for each
 * output, and `apart` from each other. */
static Band
find_band(const KernelRun *run, const Fragments *from, TapAt tap_at, int lead, int n, int apart)
{
  Band band = {lead, g_new0(double, 2 * lead + 1)};
  gboolean alike = TRUE;

  for (int out = 0; out < from->outputs; out++)
    for (int at = 0; at < n; at++) {
      int away = at - lead - out;
      double tap = tap_at(from, out, at);

      if (ABS(away) > lead || away % apart)
        alike &= tap == 0;
      else if (out == 0)
        band.tap[lead + away] = tap;
      else
        alike &= tap == band.tap[lead + away];
    }
  if (!alike)
    standin_report("%s: outputs of a band have different taps", run->name);
  return band;
}

/* Widens a range, samples or rows before and behind an output, to the taps that are not 0. */
static void
widen(const Band *band, int *before, int *behind)
{
  for (int i = 0; i <= 2 * band->lead; i++)
    if (band->tap[i] != 0) {
      *before = MAX(*before, band->lead - i);
      *behind = MAX(*behind, i - band->lead);
    }
}

/* Samples around a job, before and behind each. */
typedef struct {
  int left, right, above, below;
} Around;

/* Values (without mid) of one source, or of `in` (-1), with what lies around: whole pixels. */
static Padded
pad(const Tiles *tiles, const Around *a, int source)
{
  int C = tiles->tiles->channels, left = a->left / C, right = a->right / C;

  return samples_pad(&tiles->job, (Reach){left, a->above, left + right, a->above + a->below}, source, source + 1);
}

/* Adds the products of a band's taps with each sample of a row of a padded job. */
static void
add_row(double *to, int width, const Band *band, const Around *around, const double *from, double plus)
{
  for (int at = -around->left; at <= around->right; at++) {
    double tap = ABS(at) <= band->lead ? band->tap[band->lead + at] : 0;

    for (int i = 0; i < width && tap != 0; i++)
      to[i] += tap * (plus + from[around->left + at + i]);
  }
}

void
tiles_open_levels(const KernelRun *run, Tiles *tiles)
{
  CnvPlane *a = &tiles->block.a;

  a->combine = CNV_COMBINE_SUM;
  for (int c = 0; c < a->channels; c++) {
    double missing = a->border_value[c] + a->mid[c];

    if (cnv_border_has_value(a->border) && (missing != rint(missing) || missing < 0))
      standin_report("%s: border value %g is no level", run->name, missing);
    a->gain[c] = 1;
    a->fraction[c] = a->mid_bias[c] = 0;
    a->base[c] = a->lowest[c] = 0;
    a->highest[c] = tiles->tiles->full_bits;
  }
  for (int i = 0; i < tiles->n_sources; i++)
    tiles->block.sources.weight[i] = 1;
  if (run->variant.bytes == 1 && tiles->tiles->full_bits != 255)
    standin_report("%s: levels up to %d", run->name, tiles->tiles->full_bits);
  if (run->variant.decimation)
    return;
  check_shared(run, tiles->tiles);
  tiles_check_plane(run, tiles->tiles);
}

/* ---- blur ---- */

double
tiles_from_half(guint half)
{
  int exponent = half >> 10 & 31, mantissa = half & 1023;
  double magnitude = exponent ? ldexp(1024 + mantissa, exponent - 25) : ldexp(mantissa, -24);

  return half & 0x8000 ? -magnitude : magnitude;
}

/* Element of a 16 x 16 A of which each lane has four words. */
static double
a_at(const guint32 *words, int row, int k)
{
  guint32 word = words[(row % 8 * 4 + k % 8 / 2) * 4 + row / 8 + k / 8 * 2];

  return tiles_from_half(word >> (k % 2 * 16) & 0xffff);
}

/* Where a lane's four neighbours are among 16: they are its two pairs. */
static int
pair_of(int i)
{
  return i / 4 * 2 + i % 4 / 2 * 8 + i % 2;
}

/* Where rows of pixels are among 16: a lane's number g has rows 0, 4, 1, 5, 2, 6, 3 and 7 of each eight. */
static int
row_of_pixels(int i)
{
  return i / 8 * 8 + i % 4 * 2 + i % 8 / 4;
}

static int
place_of(const Fragments *from, int i)
{
  return from->along_x ? pair_of(i) : from->v->pixels ? row_of_pixels(i) : i;
}

static double
blur_tap(const Fragments *from, int out, int at)
{
  int row = place_of(from, out), k = place_of(from, at % 16);
  double tap = 0;

  for (int part = 0; part < from->v->parts; part++)
    tap += a_at(from->words + (part * from->steps + at / 16) * 128, row, k);
  return tap;
}

/* The weight of a frame, -1: of the only one; over time as the kernel has it, in integers. */
static double
blur_weight(const KernelRun *run, int frame)
{
  const CnvSources *sources = &((const CnvTileArgs *)run->args)->sources;

  if (!run->variant.is_over_time)
    return 1;
  return (sources->integer[frame / 2] >> (frame % 2 * 16) & 0xffff) * (double)sources->unit;
}

/* Row sums of all rows that the column reaches over, of all frames. */
static double *
blur_rows(const KernelRun *run, const Tiles *tiles, const Band *x, const Around *around)
{
  const CnvTileJob *s = tiles->tiles;
  int width = samples_of(tiles), rows = s->job.height + around->above + around->below;
  double *sums = g_new(double, (gsize)rows *width);

  for (gsize i = 0; i < (gsize)rows * width; i++)
    sums[i] = s->first_sum[0];
  for (int f = tiles->first_source; f < tiles->n_sources; f++) {
    Padded from = pad(tiles, around, f);

    for (gsize i = 0; i < (gsize)from.width * rows; i++)
      from.value[i] *= blur_weight(run, f);
    for (int y = 0; y < rows; y++)
      add_row(sums + (gsize)y * width, width, x, around, from.value + (gsize)y * from.width,
              run->variant.is_over_time ? 0 : 1024 + (double)s->mid);
    g_free(from.value);
  }
  return sums;
}

static void
add_center(const Tiles *tiles, double *acc)
{
  const CnvTileJob *s = tiles->tiles;
  int width = samples_of(tiles);
  Padded from;

  if (s->center == 0)
    return;
  from = pad(tiles, &(Around){0}, -1);
  for (gsize i = 0; i < (gsize)width * s->job.height; i++)
    acc[i] += s->center * from.value[i];
  g_free(from.value);
}

/* Levels come out of f16 numbers from 1024 on, of which those that are not clamped must not round to others. */
void
tiles_check_levels(const KernelRun *run, const Tiles *tiles, const double *acc)
{
  const CnvTileJob *s = tiles->tiles;

  for (gsize i = 0; i < (gsize)samples_of(tiles) * s->job.height && !s->clamps; i++)
    if (acc[i] < -0.25 || acc[i] >= s->full_bits + 0.5) {
      standin_report("%s does not clamp %g", run->name, acc[i]);
      return;
    }
}

/* The band of a row of samples: of words of pixels, taps of pixels are made those of samples. */
static Band
blur_row(const KernelRun *run, const Fragments *from, int channels)
{
  const Variant *v = &run->variant;
  int lead = CNV_BLUR_LEAD(v->k_x);
  Band pixels, band;

  if (!v->pixels)
    return find_band(run, from, blur_tap, lead, 16 * v->k_x, channels);
  pixels = find_band(run, from, blur_tap, lead, 16 * v->k_x, 1);
  band = (Band){lead * channels, g_new0(double, 2 * lead * channels + 1)};
  for (int i = 0; i <= 2 * lead; i++)
    band.tap[i * channels] = pixels.tap[i];
  g_free(pixels.tap);
  return band;
}

/* Reports a job that a kernel of pixels does otherwise than asked for. */
static void
check_pixels(const KernelRun *run, const CnvTileJob *s)
{
  guint copied = s->copied_bits[0];

  if (s->channels != 4 || s->clamps || s->renormalizes || s->center != 0 ||
      (copied != 0xff && copied != 0xff00 && copied != 0xff0000 && copied != 0xff000000))
    standin_report("%s takes words with one copied channel and plain levels, not %d channels, copied %08x", run->name,
                   s->channels, copied);
}

/* Returns the weights of a row of samples around a job, each with those to its left and right: what the border mode
 * finds, 1 for the border colour, 0 for what is missing. */
static double *
weights_around(const Tiles *tiles, const Around *around, int y)
{
  const CnvTileJob *s = tiles->tiles;
  int C = s->channels, n = samples_of(tiles) + around->left + around->right;
  int row = cnv_border_index((CnvBorder)s->border, y, s->job.height);
  double *weights = g_new(double, n), missing = cnv_border_has_value((CnvBorder)s->border) ? CNV_WEIGHT_ONE : 0;

  for (int i = 0; i < n; i++) {
    int pixel = (int)floor((double)(i - around->left) / C);
    int column = cnv_border_index((CnvBorder)s->border, pixel, s->job.width);

    weights[i] = row < 0 || column < 0 ? missing : tiles->weights[(gsize)row * s->job.coverage_pitch + column];
  }
  return weights;
}

/* Adds row y of samples times weights, of a job with what lies around it, to the sums of all rows of outputs. */
static void
add_weighed_row(const Tiles *tiles, const Band *x, const Band *y, const Around *around, const double *value, int row,
                double *sums[2])
{
  const CnvTileJob *s = tiles->tiles;
  int width = samples_of(tiles), n = width + around->left + around->right;
  g_autofree double *weight = weights_around(tiles, around, row), *product = g_new(double, n);
  g_autofree double *row_sums = g_new0(double, 2 * width);

  for (int i = 0; i < n; i++)
    product[i] = value[i] * weight[i];
  add_row(row_sums, width, x, around, product, 0);
  add_row(row_sums + width, width, x, around, weight, 0);
  for (int out = MAX(row - around->below, 0); out <= MIN(row + around->above, s->job.height - 1); out++)
    for (int i = 0; i < 2 * width; i++)
      sums[i / width][(gsize)out * width + i % width] += y->tap[y->lead + row - out] * row_sums[i];
}

/* Replaces the levels of blended tiles by those of samples times weights. Where all weights are 0 any level does. */
static void
weigh_levels(const KernelRun *run, const Tiles *tiles, const Band *x, const Band *y, const Around *around, double *acc)
{
  const CnvTileJob *s = tiles->tiles;
  int width = samples_of(tiles), columns = tile_width(&run->variant, s);
  gsize n = (gsize)width * s->job.height;
  g_autofree double *products = g_new0(double, n), *weights = g_new0(double, n);
  Padded from = pad(tiles, around, -1);

  if (!s->job.whole || !tiles->kinds || !tiles->weights || s->job.x || s->job.y || s->renormalizes) {
    standin_report("%s: a job is not whole", run->name);
    g_free(from.value);
    return;
  }
  for (int i = 0; i < from.rows; i++)
    add_weighed_row(tiles, x, y, around, from.value + (gsize)i * from.width, i - around->above,
                    (double *[]){products, weights});
  for (gsize i = 0; i < n; i++)
    if (tiles->kinds[i / width / s->rows * s->columns + i % width / columns] != CNV_TILE_FILTERED)
      acc[i] = weights[i] == 0 ? 0 : 255 * (products[i] / weights[i] * (s->gain / CNV_WEIGHED_UNIT) + s->fraction);
  g_free(from.value);
}

/* The kernel of weighed samples that takes 3 steps does jobs of 2 as well. */
static KernelRun
run_of_steps(const KernelRun *launched, const CnvTileJob *s)
{
  KernelRun run = *launched;

  if (run.variant.weighed && run.variant.k_x == 3 && s->steps_y == 2)
    run.variant.k_x = run.variant.k_y = 2;
  return run;
}

static void
blur_tiles(const KernelRun *launched, Tiles *tiles)
{
  const KernelRun of_steps = run_of_steps(launched, tiles->tiles), *run = &of_steps;
  const Variant *v = &run->variant;
  const CnvTileJob *s = tiles->tiles;
  int of_y_words = v->parts * s->steps_y * 128, width = samples_of(tiles);
  const guint32 *words = tiles_words(run, s, 0, (gsize)(v->parts * v->k_x * 128 + of_y_words));
  const Fragments of_y = {words, v, s->steps_y, 16}, of_x = {words + of_y_words, v, v->k_x, 16, .along_x = TRUE};
  g_autofree double *acc = g_new0(double, (gsize)width * s->job.height), *sums = NULL;
  Around around = {0};
  Band x, y;

  tiles_open_levels(run, tiles);
  if (!words)
    return;
  for (int i = 0; i < 4; i++)
    if (s->first_sum[i] != s->first_sum[0] || s->first_level[i] != (s->renormalizes ? 0 : s->offset))
      standin_report("%s: sums begin with %g, levels with %g", run->name, s->first_sum[i], s->first_level[i]);
  if (v->is_over_time ? tiles->n_sources == 0 : tiles->n_sources > 1)
    standin_report("%s: %d frames", run->name, tiles->n_sources);
  if (v->pixels)
    check_pixels(run, s);
  x = blur_row(run, &of_x, s->channels);
  widen(&x, &around.left, &around.right);
  y = find_band(run, &of_y, blur_tap, CNV_BLUR_LEAD(s->steps_y), 16 * s->steps_y, 1);
  widen(&y, &around.above, &around.below);
  if (!v->ring && MAX(around.above, around.below) > s->top)
    standin_report("%s: taps reach %d rows up and %d down, the tile has %d", run->name, around.above, around.below,
                   s->top);
  sums = blur_rows(run, tiles, &x, &around);
  for (int i = 0; i < s->job.height; i++)
    for (int j = -around.above; j <= around.below; j++)
      for (int k = 0; k < width; k++)
        acc[(gsize)i * width + k] += y.tap[y.lead + j] * sums[(gsize)(i + around.above + j) * width + k];
  add_center(tiles, acc);
  restore_sums(tiles, acc);
  for (gsize i = 0; i < (gsize)width * s->job.height; i++)
    acc[i] += s->offset - 1024;
  if (v->weighed)
    weigh_levels(run, tiles, &x, &y, &around, acc);
  tiles_check_levels(run, tiles, acc);
  samples_store(&tiles->job, acc);
  g_free(x.tap);
  g_free(y.tap);
}

/* ---- dense ---- */

/* Byte `k` of 32 of output `out` of the window that products share, of which each has an operand B. */
static int
digit_at(const guint32 *words, int k, int out, int products)
{
  int product = out % (2 * products) / 2, column = out / (2 * products) * 2 + out % 2;
  int lane = column * 4 + k % 16 / 4;

  return (gint8)(words[product * 64 + lane * 2 + k / 16] >> (k % 4 * 8));
}

/* What a byte of a sample is multiplied with. */
static double
dense_byte(const Fragments *from, int out, int byte)
{
  const Variant *v = from->v;
  int products = CNV_DENSE_PRODUCTS(v->bytes, v->k_x), k = from->row * CNV_DENSE_K * v->k_x + byte;
  double tap = 0;

  for (int d = 0; d < v->digits; d++) {
    const guint32 *words = from->words + ((k / 32 * v->terms + from->term) * v->digits + d) * products * 64;

    tap = tap * 256 + digit_at(words, k % 32, out, products);
  }
  return tap;
}

/* NaN where the two bytes of a sample do not have the same tap. */
static double
dense_tap(const Fragments *from, int out, int at)
{
  double low = dense_byte(from, out, at * from->v->bytes);

  return from->v->bytes == 1 || dense_byte(from, out, at * 2 + 1) == 256 * low ? low : NAN;
}

/* Words of two rows of taps. */
static gsize
dense_words(const Variant *v)
{
  return (gsize)CNV_DENSE_FRAGMENTS(v->bytes, v->k_x, v->terms, v->digits) * 64;
}

/* Place of a row of taps among those of all frames: in pairs of frames these lie side by side. */
static int
row_place(const Variant *v, int frame, int row, int n_rows)
{
  return v->pairs ? row * 2 * v->pairs + frame : frame * n_rows + row;
}

/* The bands of all rows of taps: [frame][row][term]. */
static Band *
find_bands(const KernelRun *run, const CnvTileJob *s, int frames, int n_rows, const guint32 *words, Around *around)
{
  const Variant *v = &run->variant;
  int lead = CNV_DENSE_LEAD(v->bytes, v->k_x), n = CNV_DENSE_K * v->k_x / v->bytes;
  Band *bands = g_new(Band, frames * n_rows * v->terms);

  for (int i = 0; i < frames * n_rows * v->terms; i++) {
    int place = row_place(v, i / v->terms / n_rows, i / v->terms % n_rows, n_rows);
    const Fragments from = {words + (gsize)(place / 2) * dense_words(v),
                            v,
                            v->k_x,
                            8 * CNV_DENSE_PRODUCTS(v->bytes, v->k_x),
                            i % v->terms,
                            place % 2,
                            TRUE};
    int above = 0, below = 0, row = i / v->terms % n_rows - s->term.anchor[CNV_Y];

    bands[i] = find_band(run, &from, dense_tap, lead, n, s->channels);
    widen(&bands[i], &above, &below);
    if (above || below || bands[i].tap[lead] != 0) {
      around->left = MAX(around->left, above);
      around->right = MAX(around->right, below);
      around->above = MAX(around->above, -row);
      around->below = MAX(around->below, row);
    }
  }
  return bands;
}

/* Adds up one frame's samples as they are in memory, to a term's sums. */
static void
add_frame(const Tiles *tiles, const Band *bands, int n_rows, int terms, const Around *around, const Padded *from,
          double *acc)
{
  const CnvTileJob *s = tiles->tiles;
  int width = samples_of(tiles);

  for (int y = 0; y < s->job.height; y++)
    for (int j = 0; j < n_rows; j++) {
      int row = y + around->above + j - s->term.anchor[CNV_Y];

      if (row >= 0 && row < from->rows)
        add_row(acc + (gsize)y * width, width, &bands[j * terms], around, from->value + (gsize)row * from->width,
                s->mid);
    }
}

/* The level of a term's sum, or of two: in float32, which decides ties. */
static double
dense_level(const KernelRun *run, const CnvTileJob *s, const double *sum)
{
  const Variant *v = &run->variant;
  double unit = ldexp(1, s->shift), most = ldexp(1, v->digits > 2 ? 39 : 31);
  float first = (float)(sum[0] * unit), second = (float)(sum[1] * unit);

  if (fabs(first) >= most || fabs(second) >= most)
    standin_report("%s: a sum of %g, %g", run->name, first, second);
  if (v->terms == 2)
    first = hypotf(first + s->bias[0], second + s->bias[1]);
  else if (s->combine == CNV_COMBINE_ABSOLUTE)
    first = fabsf(first + s->bias[0]);
  return fmaf(first, s->gain, s->offset);
}

static void
dense_tiles(const KernelRun *run, Tiles *tiles)
{
  const Variant *v = &run->variant;
  const CnvTileJob *s = tiles->tiles;
  int n_rows = v->rows ? v->rows : s->term.n[CNV_Y], frames = MAX(tiles->n_sources, 1);
  gsize n = (gsize)samples_of(tiles) * s->job.height, n_words = dense_words(v);
  int places = (v->pairs ? 2 * v->pairs : frames) * n_rows;
  const guint32 *words = tiles_words(run, s, 0, n_words * (gsize)MAX((places + 1) / 2, 1));
  g_autofree double *first = g_new0(double, n), *second = g_new0(double, n);
  double *acc[] = {first, second};
  Around around = {0};
  Band *bands;

  tiles_open_levels(run, tiles);
  if (v->rows && frames > MAX(2 * v->pairs, 1))
    standin_report("%s has taps for other frames than %d", run->name, frames);
  if (!words)
    return;
  bands = find_bands(run, s, frames, n_rows, words, &around);
  for (int f = 0; f < frames; f++) {
    Padded from = pad(tiles, &around, tiles->n_sources ? f : -1);

    for (int t = 0; t < v->terms; t++)
      add_frame(tiles, bands + f * n_rows * v->terms + t, n_rows, v->terms, &around, &from, acc[t]);
    g_free(from.value);
  }
  for (gsize i = 0; i < n; i++)
    acc[0][i] = dense_level(run, s, (double[]){acc[0][i], acc[1][i]});
  samples_store(&tiles->job, acc[0]);
  for (int i = 0; i < frames * n_rows * v->terms; i++)
    g_free(bands[i].tap);
  g_free(bands);
}

/* ---- one_tap ---- */

/* In float32, in which the kernel counts. */
static void
add_source(const Tiles *tiles, int source, float weight, float *acc)
{
  const CnvTileJob *s = tiles->tiles;
  Padded from = samples_pad(&tiles->job, (Reach){0}, source, source + 1);

  for (gsize i = 0; i < (gsize)from.width * from.rows; i++)
    acc[i] = fmaf(ldexpf(from.value[i] + s->mid, s->shift), weight, acc[i]);
  g_free(from.value);
}

static void
one_tap_tiles(const KernelRun *run, Tiles *tiles)
{
  const CnvTileJob *s = tiles->tiles;
  gsize n = (gsize)samples_of(tiles) * s->job.height;
  g_autofree float *acc = g_new0(float, n);
  g_autofree double *level = g_new0(double, n);
  float weight[CNV_ARGS_SOURCES] = {1};

  if (tiles->n_sources)
    memcpy(weight, tiles->block.sources.weight, sizeof(weight));
  tiles_open_levels(run, tiles);
  for (int f = 0; f < MAX(tiles->n_sources, 1); f++)
    add_source(tiles, tiles->n_sources ? f : -1, s->center * weight[f], acc);
  for (gsize i = 0; i < n; i++) {
    float sum = acc[i] + s->bias[0];

    level[i] = fmaf(s->combine == CNV_COMBINE_ABSOLUTE ? fabsf(sum) : sum, s->gain, s->offset);
  }
  samples_store(&tiles->job, level);
}

void
tiles_fused(const KernelRun *run)
{
  tiles_run(run, fused_tiles);
}

void
tiles_one_tap(const KernelRun *run)
{
  tiles_run(run, one_tap_tiles);
}

void
tiles_blur(const KernelRun *run)
{
  tiles_run(run, blur_tiles);
}

void
tiles_dense(const KernelRun *run)
{
  tiles_run(run, dense_tiles);
}
