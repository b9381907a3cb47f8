/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Kernels with tile jobs: each block of a launch makes a tile. Outputs are computed from the jobs' planes, which are
 * stored before the words of taps in the session's memory (gpu/schedule.h). unit/weights.c checks the words.
 */
#include <math.h>
#include <string.h>

#include "launch.h"

typedef struct {
  Job job;
  CnvBlock block;
  const CnvTileJob *tiles;
  const CnvVariant *variant;
  const CnvPlane *plane; /* the job's, with the places of its taps in constant memory */
  guint8 *coverage;      /* made by coverage_by_kinds; NULL otherwise */
  const guint8 *weights; /* coverage of the job's first pixel, as it is in memory */
  const guint8 *kinds;   /* CnvTileKind per tile, of a job that is whole; else NULL */
} Tiles;

/* ---- tiles ---- */

/* Returns the variant for a job, of the variants with the kernel's name. */
static const CnvVariant *
variant_of(const KernelRun *run, const CnvTileJob *s)
{
  const CnvVariant *v = run->variant;

  for (; v[1].name && strcmp(v[1].name, v->name) == 0; v++)
    if (v->bytes == (s->full_bits > 255 ? 2 : 1) && (!v->channels || v->channels >= s->channels) &&
        (!v->weighed || v->k_y == s->steps_y))
      break;
  return v;
}

static int
tile_width(const CnvVariant *v, const CnvTileJob *s)
{
  return v->width ? v->width : v->pitch / v->bytes - 2 * s->lead;
}

/* How tiles divide a job: tiles begin at `origin`, and make samples from `first` on. */
typedef struct {
  int first, origin, width, height, tile, rows;
} Grid;

static Grid
grid_of(const KernelRun *run, const CnvTileJob *s)
{
  const CnvLattice *to = &s->decimation.to;
  int width = to->last[CNV_X] - to->first[CNV_X] + 1, height = to->last[CNV_Y] - to->first[CNV_Y] + 1;

  if (run->id == CNV_KERNEL_DECIMATE)
    return (Grid){0, 0, width, height, 16 * s->decimation.groups, s->rows >> to->shift[CNV_Y]};
  if (run->id == CNV_KERNEL_DECIMATE_AGAIN)
    return (Grid){0,
                  0,
                  to->plane * s->channels,
                  1,
                  32 * CNV_TILE_WARPS / CNV_DECIMATE_AGAIN_LANES(to->shift[CNV_Y] - s->decimation.from.shift[CNV_Y]),
                  1};
  return (Grid){s->job.x * s->channels,
                s->origin,
                s->job.width * s->channels,
                s->job.height,
                tile_width(variant_of(run, s), s),
                s->rows};
}

/* Checks that tiles make each sample of a job once, and marks their blocks as used. numbers: the job of each block;
 * NULL: the kernel needs no such list. */
static void
check_tiles(const KernelRun *run, const CnvTileJob *s, guint8 *used, const guint32 *numbers, guint32 job)
{
  Grid grid = grid_of(run, s);
  int first = grid.first, width = grid.width, height = grid.height, tile = grid.tile;
  int n_blocks = (int)run->size->grid[0], edges = cnv_tile_edges(s);
  g_autofree guint8 *writes = g_malloc0((gsize)width * height);

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
        writes[(gsize)y * width + i - first]++;
  }
  for (gsize i = 0; i < (gsize)width * height; i++)
    if (writes[i] != 1) {
      standin_report("%s makes sample %d of row %d of a job %d times", run->name, (int)(i % width), (int)(i / width),
                     writes[i]);
      return;
    }
}

/* Returns the kinds of a job's tiles from the launch's list. Tiles that are not in it are kept. It must contain all
 * tiles of a job that is not whole. Free with g_free. */
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

/* Makes the coverage of a job that is whole, because memory only has that of blended tiles. */
static const guint8 *
coverage_by_kinds(const KernelRun *run, const CnvTileJob *s, Tiles *tiles, const guint8 *rows)
{
  int width = tile_width(tiles->variant, s);

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

/* Checks and accesses a job's coverage, if it has any, up to the aligned ends of its rows. */
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
  if (l->plain && (s->blends || s->renormalizes || l->tiles || l->readers))
    standin_report("%s: a plain launch has coverage, a list of tiles or readers, or renormalizes", run->name);
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

/* Returns the job's plane, or NULL. All planes are the first of the arrays that are uploaded with the words. */
static const CnvPlane *
find_plane(const KernelRun *run, const CnvJob *job)
{
  const Allocation *arrays = standin_find(((const CnvTileArgs *)run->args)->bands - 1); /* there may be no words */
  gsize index = (gsize)job->plan * CNV_MAX_PLANES + (gsize)job->plane;

  if (!arrays)
    standin_report("%s: the words of taps are not in memory", run->name);
  return arrays ? (const CnvPlane *)(const void *)standin_access(run->op, arrays->address + index * sizeof(CnvPlane),
                                                                 sizeof(CnvPlane), FALSE, run->name)
                : NULL;
}

/* Reports a job whose numbers differ from its plane's. Not for weighed samples, whose plane has another form. */
static void
check_numbers(const KernelRun *run, const CnvTileJob *s, const CnvPlane *a)
{
  int bytes = a->component[0].bytes, c = 0;
  /* Averages of bytes repeat the window's edge with every border-mode. */
  int border = cnv_kernel_kind(run->id)->averages && bytes == 1 ? CNV_BORDER_REPLICATE : a->border;
  guint32 bits[2] = {0, 0};

  while (!(a->filtered >> c & 1))
    c++;
  for (int i = 0; i < 4; i++)
    if (a->copied >> (i % a->channels) & 1)
      bits[i * bytes / 4] |= (bytes == 1 ? 0xffu : 0xffffu) << (i * bytes % 4 * 8);
  if (a->weight < 0 &&
      (s->channels != a->channels || s->border != border || s->filtered != a->filtered || s->copied != a->copied ||
       s->shift != a->component[0].shift || s->full_bits != (int)a->full[c] || s->combine != a->combine ||
       s->mid != a->mid[c] || s->base != a->base[c] || s->pointers != a->component[0].plane ||
       memcmp(s->copied_bits, bits, sizeof(bits)) != 0 ||
       memcmp(s->border_value, a->border_value, sizeof(s->border_value)) != 0))
    standin_report("%s: the numbers of a job of plane %d are not the plane's", run->name, s->job.plane);
}

/* Changes the block's plane to that of weighed samples: as they are in memory, with all channels alike. */
static void
open_weighed(Tiles *tiles)
{
  const CnvTileJob *s = tiles->tiles;
  CnvPlane *a = &tiles->block.a;

  a->channels = s->channels;
  a->filtered = s->filtered;
  a->copied = s->copied;
  a->plain = TRUE;
  a->component[0].bytes = 1;
  a->component[0].shift = 0;
  a->component[0].bits = 8;
  for (int c = 0; c < s->channels; c++) {
    a->mid[c] = tiles->plane->mid[0];
    a->border_value[c] = s->border_value[c];
    a->gain[c] = 1;
    a->fraction[c] = a->lowest[c] = 0;
    a->base[c] = 0;
    a->highest[c] = 255;
  }
}

static gboolean
open_tiles(const KernelRun *run, const CnvTileJob *s, const guint8 *kinds, Tiles *tiles)
{
  const CnvTileArgs *l = run->args;

  *tiles = (Tiles){.tiles = s, .kinds = kinds, .variant = variant_of(run, s), .plane = find_plane(run, &s->job)};
  if (!tiles->plane)
    return FALSE;
  check_numbers(run, s, tiles->plane);
  tiles->block.a = *tiles->plane;
  if (tiles->plane->weight >= 0)
    open_weighed(tiles);
  tiles->block.a.plain = TRUE; /* of a plane whose block jobs are staged, memory says that it is not */
  tiles->block.job = s->job;
  tiles->block.sources = l->sources;
  cnv_block_locate(&tiles->block, &l->in, &l->out, s->pointers);
  tiles->job =
      (Job){.op = run->op, .block = &tiles->block, .bytes = tiles->block.a.component[0].bytes, .taps = run->taps};
  open_coverage(run, s, tiles);
  return TRUE;
}

/* Reports integers that differ from the weights of frames, if no weight is negative. An integer may be off by half a
 * unit for its own rounding. The unit also makes up for the sum of all roundings, which scales every integer. */
static void
check_sources(const KernelRun *run, const CnvSources *sources)
{
  guint32 sum = 0;

  for (int i = 0; i < sources->n; i++)
    if (sources->weight[i] < 0)
      return;
  for (int i = 0; i < sources->n; i++) {
    guint32 integer = sources->integer[i / 2] >> (i % 2 * 16) & 0xffff;

    sum += integer;
    if (fabs(integer * (double)sources->unit - (double)sources->weight[i]) >
        (0.51 + 0.5 * sources->n * integer / sources->integer_sum) * (double)sources->unit)
      standin_report("%s: frame %d has weight %g, as an integer %u", run->name, i, sources->weight[i], integer);
  }
  if (sources->n && sum != sources->integer_sum)
    standin_report("%s: integers of weights add up to %u, not %u", run->name, sum, sources->integer_sum);
}

/* Counts the launch's blocks as the kernel does, for blocks that wait until all have read. */
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

/* Returns TRUE if a frame's rows, which begin `from` bytes after the map's address, end in the same allocation. */
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
  const CnvVariant *v = variant_of(run, s);
  int pitch = v->pitch ? v->pitch : s->decimation.pitch, bytes = v->bytes,
      row = (j->window_x + j->window_width) * s->channels * bytes;
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
  if (map.box[0] * 4 != (guint)pitch || map.box[1] != 1 || map.box[3] != 1 || map.box[2] != (guint)s->box_rows ||
      s->box_rows > CNV_TILE_MAP_ROWS)
    standin_report("%s: the map's box has %u words of %u rows", run->name, map.box[0], map.box[2]);
}

/* Reports a map for results whose boxes are not the job's tiles. */
static void
check_out_map(const KernelRun *run, const CnvTileJob *s)
{
  const CnvTileArgs *l = run->args;
  const CnvVariant *v = variant_of(run, s);
  StandinMap map;

  memcpy(&map, &l->out_map[s->pointers], sizeof(map));
  if (map.address != l->out.address[s->pointers] || map.box[0] * 4 != (guint)CNV_TILE_OUT_BOX(v->width * v->bytes) ||
      map.box[2] != (guint)s->rows)
    standin_report("%s: the map for results of plane %d has boxes of %u words and %u rows, tiles have %d rows",
                   run->name, s->pointers, map.box[0], map.box[2], s->rows);
}

/* Reports planes that are not aligned to 16 bytes, and wrong maps of kernels with tiles in shared memory. */
static void
check_plane(const KernelRun *run, const CnvTileJob *s)
{
  const CnvTileArgs *l = run->args;
  guint64 bits = l->in.address[s->pointers] | (guint64)l->in.stride[s->pointers];
  gboolean has_tiles = variant_of(run, s)->pitch || run->id == CNV_KERNEL_DECIMATE;

  if (l->out_maps >> s->pointers & 1)
    check_out_map(run, s);
  if (!(l->maps >> s->pointers & 1))
    return;
  for (int i = 0; i < l->sources.n; i++)
    bits |= (guint64)l->sources.delta[i];
  if (bits % 16)
    standin_report("%s: plane %d does not lie on multiples of 16 bytes", run->name, s->pointers);
  else if (standin_capability() >= 90 && has_tiles)
    check_map(run, s);
}

/* ---- decimated samples ---- */

/* Marks the decimated samples that a launch makes, and looks for those that it reads. Returns TRUE if it makes no other
 * samples. */
static gboolean
only_decimates(const KernelRun *run, const CnvTileJob *s)
{
  const CnvLattice *from = &s->decimation.from, *to = &s->decimation.to;
  guint64 decimated = ((const CnvTileArgs *)run->args)->decimated;
  gboolean reads = run->id == CNV_KERNEL_DECIMATE_AGAIN || run->id == CNV_KERNEL_INTERPOLATE;
  gboolean writes = run->id == CNV_KERNEL_DECIMATE || run->id == CNV_KERNEL_DECIMATE_AGAIN;

  for (int c = 0; c < s->channels; c++) {
    if (reads)
      launch_mark(run, decimated + (from->at + (guint64)c * (guint64)from->plane) * sizeof(guint16), (gsize)from->plane,
                  sizeof(guint16), &s->job, c + 4 * from->shift[CNV_X] + 64 * from->shift[CNV_Y], FALSE,
                  "decimated sample");
    if (writes)
      launch_mark(run, decimated + (to->at + (guint64)c * (guint64)to->plane) * sizeof(guint16), (gsize)to->plane,
                  sizeof(guint16), &s->job, c + 4 * to->shift[CNV_X] + 64 * to->shift[CNV_Y], TRUE, "decimated sample");
  }
  return writes;
}

/* ---- weighed samples ---- */

/* Returns the pixels and rows around a job that the taps reach. */
static Reach
reach_of(const CnvTerm *t)
{
  return (Reach){t->anchor[CNV_X], t->anchor[CNV_Y], t->n[CNV_X] - 1, t->n[CNV_Y] - 1};
}

/* Adds taps times a row of pixels to a row of sums. */
static void
add_row(const Tiles *tiles, double *to, const double *from)
{
  const CnvTerm *t = &tiles->plane->term[0];
  int C = tiles->tiles->channels, width = tiles->tiles->job.width * C;

  for (int i = 0; i < t->n[CNV_X]; i++)
    for (int k = 0; k < width; k++)
      to[k] += (double)tiles->job.taps[t->taps[CNV_X] + (guint)i] * from[i * C + k];
}

/* Returns the weights of row y, for the job's samples and those beside it that taps reach, with the border mode
 * applied. The border colour has the weight 1, and missing samples 0. Free with g_free. */
static double *
weights_around(const Tiles *tiles, int y)
{
  const CnvTileJob *s = tiles->tiles;
  const CnvTerm *t = &tiles->plane->term[0];
  int C = s->channels, n = (s->job.width + t->n[CNV_X] - 1) * C;
  int row = cnv_border_index((CnvBorder)s->border, y, s->job.height);
  double *weights = g_new(double, n), missing = cnv_border_has_value((CnvBorder)s->border) ? CNV_WEIGHT_ONE : 0;

  for (int i = 0; i < n; i++) {
    int column = cnv_border_index((CnvBorder)s->border, i / C - t->anchor[CNV_X], s->job.width);

    weights[i] = row < 0 || column < 0 ? missing : tiles->weights[(gsize)row * s->job.coverage_pitch + column];
  }
  return weights;
}

/* Adds row `row` to the sums of all output rows that it reaches: samples times weights, and the weights. */
static void
add_weighed_row(const Tiles *tiles, const double *value, int row, double *products, double *weights)
{
  const CnvTileJob *s = tiles->tiles;
  const CnvTerm *t = &tiles->plane->term[0];
  int width = s->job.width * s->channels, n = (s->job.width + t->n[CNV_X] - 1) * s->channels;
  g_autofree double *weight = weights_around(tiles, row), *product = g_new(double, n);
  g_autofree double *of_products = g_new0(double, width), *of_weights = g_new0(double, width);

  for (int i = 0; i < n; i++)
    product[i] = value[i] * weight[i];
  add_row(tiles, of_products, product);
  add_row(tiles, of_weights, weight);
  for (int j = 0; j < t->n[CNV_Y]; j++) {
    int out = row + t->anchor[CNV_Y] - j;
    double tap = tiles->job.taps[t->taps[CNV_Y] + (guint)j];

    for (int k = 0; k < width && out >= 0 && out < s->job.height; k++) {
      products[(gsize)out * width + k] += tap * of_products[k];
      weights[(gsize)out * width + k] += tap * of_weights[k];
    }
  }
}

/* Stores the sums of samples times weights, divided by the sums of weights. All weights of filtered tiles count as 1.
 * If the sum of weights is 0, any level is right. */
static void
store_weighed(const KernelRun *run, Tiles *tiles)
{
  const CnvTileJob *s = tiles->tiles;
  const CnvPlane *a = tiles->plane;
  const CnvTerm *t = &a->term[0];
  int width = s->job.width * s->channels, columns = tile_width(tiles->variant, s);
  gsize n = (gsize)width * s->job.height;
  double unit = (double)a->alpha_norm * a->gain[0], one = (double)t->sum[CNV_X] * t->sum[CNV_Y] * CNV_WEIGHT_ONE;
  g_autofree double *acc = g_new0(double, n), *products = g_new0(double, n), *weights = g_new0(double, n);
  Padded from;

  if (!s->job.whole || !tiles->kinds || !tiles->weights || s->job.x || s->job.y || a->n_terms != 1) {
    standin_report("%s: a job is not whole", run->name);
    return;
  }
  samples_add_term(&tiles->job, t, acc);
  from = samples_pad(&tiles->job, reach_of(t), -1, 0);
  for (int i = 0; i < from.rows; i++)
    add_weighed_row(tiles, from.value + (gsize)i * from.width, i - t->anchor[CNV_Y], products, weights);
  g_free(from.value);
  for (gsize i = 0; i < n; i++) {
    gboolean filtered = tiles->kinds[i / width / s->rows * s->columns + i % width / columns] == CNV_TILE_FILTERED;
    double sum = filtered ? acc[i] * CNV_WEIGHT_ONE : products[i], weight = filtered ? one : weights[i];

    acc[i] = (weight == 0 ? 0 : sum / weight * unit) + a->fraction[0] + a->base[0];
  }
  samples_store(&tiles->job, acc);
}

/* ---- jobs ---- */

static void
store_sums(const Tiles *tiles)
{
  const CnvBlock *b = &tiles->block;
  gsize n = (gsize)b->job.width * b->a.channels * b->job.height;
  double *sums[CNV_MAX_TERMS];

  for (int t = 0; t < b->a.n_terms; t++) {
    sums[t] = g_new0(double, n);
    samples_add_term(&tiles->job, &b->a.term[t], sums[t]);
  }
  samples_store_terms(&tiles->job, sums);
  for (int t = 0; t < b->a.n_terms; t++)
    g_free(sums[t]);
}

/* Stores averages over time, times the only tap. */
static void
store_averages(const KernelRun *run, const Tiles *tiles)
{
  const CnvTileArgs *l = run->args;
  const CnvBlock *b = &tiles->block;
  const CnvTerm *t = &b->a.term[0];
  gsize n = (gsize)b->job.width * b->a.channels * b->job.height;
  g_autofree float *thresholds = samples_thresholds(run->op, &l->thresholds);
  double *acc = g_new0(double, n), tap = tiles->job.taps[t->taps[CNV_X]];

  if (t->separable)
    tap *= tiles->job.taps[t->taps[CNV_Y]];
  if (tiles->tiles->format_plane != b->a.format_plane)
    standin_report("%s: a job of plane %d has the threshold of plane %d", run->name, b->a.format_plane,
                   tiles->tiles->format_plane);
  if (thresholds)
    samples_average(&tiles->job, thresholds[b->a.format_plane], acc);
  for (gsize i = 0; i < n; i++)
    acc[i] *= tap;
  samples_store_terms(&tiles->job, &acc);
  g_free(acc);
}

static void
run_job(const KernelRun *run, Tiles *tiles)
{
  const CnvTileJob *s = tiles->tiles;
  const CnvKernelKind *kind = cnv_kernel_kind(run->id);

  if (run->size->block[0] != kind->threads_x || run->size->block[1] != kind->threads_y ||
      run->size->shared_bytes > kind->shared_max)
    standin_report("%s has blocks of %u x %u threads and %u bytes", run->name, run->size->block[0], run->size->block[1],
                   run->size->shared_bytes);
  if (s->rows % 16 || s->origin % 16 || s->bands % 4)
    standin_report("%s: tiles of %d rows from sample %d, words from %u on", run->name, s->rows, s->origin, s->bands);
  check_plane(run, s);
  if (only_decimates(run, s))
    return;
  if (kind->averages)
    store_averages(run, tiles);
  else if (tiles->plane->weight >= 0)
    store_weighed(run, tiles);
  else
    store_sums(tiles);
}

void
tiles_run(const KernelRun *launched)
{
  CnvTileArgs args; /* a copy with the alignment that the structure needs */
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
  check_sources(run, &l->sources);
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
    if (open_tiles(run, s, s->job.whole ? kinds : NULL, &tiles)) {
      run_job(run, &tiles);
      g_free(tiles.coverage);
    }
  }
  if (l->readers)
    samples_put_kept();
  if (jobs && memchr(used, 0, run->size->grid[0]))
    standin_report("%s has a block without a tile", run->name);
}
