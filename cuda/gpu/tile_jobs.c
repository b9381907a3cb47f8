/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gpu/decimated.h"
#include "gpu/rectangles.h"
#include "gpu/tile_jobs.h"
#include "gpu/variants.h"
#include "plan/arith.h"

#include <string.h>

G_STATIC_ASSERT(G_STRUCT_OFFSET(CnvTileJob, job) == CNV_TILE_JOB_HEAD * sizeof(guint32));
G_STATIC_ASSERT(sizeof(CnvTileArgs) <= 4096); /* the size of arguments that every driver supports */

/* Returns TRUE if the job blends with samples of its own tile, as tile jobs must. */
static gboolean
can_blend(const CnvJob *job)
{
  return job->move_x == 0 && job->move_y == 0 && job->x >= job->window_x && job->y >= job->window_y &&
         job->x + job->width <= job->window_x + job->window_width &&
         job->y + job->height <= job->window_y + job->window_height;
}

gboolean
cnv_tile_jobs_take(const CnvSchedule *schedule, const CnvJob *job)
{
  const CnvPlaneKernel *plane_kernel = cnv_schedule_plane_kernel(schedule, job);

  return plane_kernel->kernel != CNV_N_KERNELS && (job->coverage_pitch == 0 || can_blend(job)) &&
         (!plane_kernel->plan->is_weighed || job->whole);
}

gboolean
cnv_tile_jobs_are_staged(const CnvSchedule *schedule, const CnvJob *job)
{
  const CnvPlaneKernel *plane_kernel = cnv_schedule_plane_kernel(schedule, job);

  return !plane_kernel->plane->plain || (plane_kernel->plan->threshold != 0 && !cnv_tile_jobs_take(schedule, job));
}

/* Finds the bits that are copied from the input. bytes: of a sample. */
static void
find_copied_bits(const CnvPlane *plane, guint32 bits[2])
{
  int bytes = plane->component[0].bytes;

  for (int i = 0; i < 4; i++)
    if (plane->copied >> (i % plane->channels) & 1)
      bits[i * bytes / 4] |= (bytes == 1 ? 0xffu : 0xffffu) << (i * bytes % 4 * 8);
}

/* Returns a tile job with the numbers that all kinds need. c: a filtered channel. */
static CnvTileJob
make_job(const CnvPlane *plane, int c)
{
  CnvTileJob job = {.pointers = plane->component[0].plane,
                    .channels = plane->channels,
                    .border = plane->border,
                    .renormalizes = cnv_border_renormalizes((CnvBorder)plane->border),
                    .filtered = plane->filtered,
                    .copied = plane->copied,
                    .shift = plane->component[0].shift,
                    .full_bits = (int)plane->full[0],
                    .combine = plane->combine,
                    .term = plane->term[0],
                    .mid = plane->mid[c],
                    .mid_bias = plane->mid_bias[c],
                    .gain = plane->gain[c],
                    .fraction = plane->fraction[c],
                    .base = plane->base[c]};

  find_copied_bits(plane, job.copied_bits);
  memcpy(job.border_value, plane->border_value, sizeof(job.border_value));
  return job;
}

/* Returns the joined needs of one plane of all plans. */
static CnvNeeds
needs_of_plane(const CnvSchedule *schedule, CnvKernelId kernel, guint p)
{
  CnvNeeds needs = {.terms = 0};

  for (guint i = p % CNV_MAX_PLANES; i < schedule->plane_kernels->len; i += CNV_MAX_PLANES) {
    const CnvPlaneKernel *plane_kernel = &g_array_index(schedule->plane_kernels, CnvPlaneKernel, i);

    if (plane_kernel->kernel == kernel)
      needs = cnv_needs_join(&needs, &plane_kernel->needs);
  }
  return needs;
}

void
cnv_tile_job_prepare(CnvSchedule *schedule, guint index)
{
  CnvPlaneKernel *plane_kernel = &g_array_index(schedule->plane_kernels, CnvPlaneKernel, index);
  CnvPlane samples;
  const CnvPlane *plane;

  if (plane_kernel->kernel == CNV_N_KERNELS)
    return;
  plane_kernel->shared = needs_of_plane(schedule, plane_kernel->kernel, index);
  plane_kernel->variant = schedule->variant[plane_kernel->kernel];
  plane = cnv_fit_plane(plane_kernel->plan, &g_array_index(schedule->planes, CnvPlane, index), &samples);
  plane_kernel->tile_job = make_job(plane, cnv_fit_first_channel(plane));
  plane_kernel->tile_job.bands = schedule->words->len;
  cnv_kernel_kind(plane_kernel->kernel)
      ->set_job(plane_kernel, schedule->words,
                schedule->sources.n ? schedule->sources.weight : plane_kernel->plan->weight);
}

void
cnv_tile_jobs_add(CnvSchedule *schedule, const CnvJob *from)
{
  CnvTileJob job = cnv_schedule_plane_kernel(schedule, from)->tile_job;
  int first = from->x * job.channels;

  job.job = *from;
  job.blends = from->coverage_pitch > 0;
  job.origin = first - first % CNV_TILE_STEP;
  g_array_append_val(schedule->tile_jobs, job);
}

/* Finds the job's inner tiles. A job has none if it is moved, if it copies channels while several frames are added up,
 * or if other jobs may write pixels in its rectangle. */
static void
find_inner(CnvTileJob *job, const CnvVariant *variant, const CnvNeeds *needs)
{
  const CnvJob *rect = &job->job;
  int lead = CNV_TILE_APRON(variant->reach * needs->bytes) / needs->bytes, channels = job->channels;

  job->inner_x0 = MAX(rect->x * channels, rect->window_x * channels + lead);
  job->inner_x1 = MIN((rect->x + rect->width) * channels, (rect->window_x + rect->window_width) * channels - lead) -
                  variant->width + 1;
  job->inner_y0 = MAX(rect->y, rect->window_y + job->top);
  job->inner_y1 =
      MIN(rect->y + rect->height - job->rows, rect->window_y + rect->window_height + job->top - job->box_rows) + 1;
  if ((job->copied && needs->n_frames > 1) || rect->move_x != 0 || rect->move_y != 0 || rect->shared)
    job->inner_x1 = job->inner_x0;
}

static int
count_tiles(const CnvTileJob *job)
{
  return job->columns * (job->last_row + 1);
}

/* Assigns blocks to the tiles of all jobs. Each job that is read from memory has consecutive blocks. */
static void
number_blocks(CnvSchedule *schedule, CnvLaunch *launch)
{
  CnvTileJob *jobs = &g_array_index(schedule->tile_jobs, CnvTileJob, launch->first);
  gboolean all_edges_first = launch->n <= CNV_TILE_JOBS_INLINE;
  int block = 0;

  for (guint i = 0; i < launch->n; i++) {
    jobs[i].first_block = block;
    block += cnv_tile_edges(&jobs[i]);
    jobs[i].inner_block = block;
    if (!all_edges_first)
      block += count_tiles(&jobs[i]) - cnv_tile_edges(&jobs[i]);
  }
  for (guint i = 0; i < launch->n && all_edges_first; i++) {
    jobs[i].inner_block = block;
    block += count_tiles(&jobs[i]) - cnv_tile_edges(&jobs[i]);
  }
  launch->blocks_x = (guint)block;
}

/* Cuts the launch's jobs into tiles with this number of rows. */
static void
cut_jobs(CnvSchedule *schedule, CnvLaunch *launch, int rows)
{
  const CnvKernelKind *kind = cnv_kernel_kind(launch->kernel);
  const CnvVariant *variant = schedule->variant[launch->kernel];

  for (guint i = launch->first; i < launch->first + launch->n; i++) {
    CnvTileJob *job = &g_array_index(schedule->tile_jobs, CnvTileJob, i);
    const CnvNeeds *needs = &cnv_schedule_plane_kernel(schedule, &job->job)->shared;
    int last = (job->job.x + job->job.width) * job->channels;
    int width = variant->width ? variant->width : variant->pitch / variant->bytes - 2 * job->lead;

    job->rows = rows;
    job->box_rows = kind->box_rows(variant, needs, rows);
    job->columns = cnv_divide_up(last - job->origin, width);
    job->inner_inverse = job->columns > 3 ? (guint32)(G_MAXUINT32 / (guint)(job->columns - 2) + 1) : 0;
    job->last_row = cnv_divide_up(job->job.height, rows) - 1;
    find_inner(job, variant, needs);
  }
  number_blocks(schedule, launch);
  launch->shared_bytes = cnv_kernel_shared_bytes(kind, variant, &schedule->needs[launch->kernel], rows);
}

/* Tiles of more rows than this become lower if there are fewer than 11 blocks for every 10 that fit the GPU at once, so
 * that the last blocks still run beside others. Tiles become even lower only if some multiprocessors would have no
 * block. 4K of one plane, r=8: 64 rows, 1.10 times as many blocks as fit, 9.4 us; 80 rows, 0.88 times, 10.2. NV12: 64
 * rows 12.9; 80 rows, 1.33 times, 12.2. */
#define LOW_TILE 64

static guint
least_blocks(const CnvSchedule *schedule, const CnvVariant *variant, int rows)
{
  return rows > LOW_TILE ? schedule->n_processors * (guint)variant->blocks * 11 / 10 : schedule->n_processors;
}

/* Cuts the launch into tiles. These have fewer rows than the variant's if shared memory is too small, or if there would
 * be too few tiles. */
static void
cut_tiles(CnvSchedule *schedule, CnvLaunch *launch)
{
  const CnvVariant *variant = schedule->variant[launch->kernel];
  const CnvKernelKind *kind = cnv_kernel_kind(launch->kernel);
  guint most = schedule->needs[launch->kernel].n_frames > 1 ? kind->shared_over_time : kind->shared_max;
  int rows = variant->tile_rows;

  cut_jobs(schedule, launch, rows);
  while (rows > CNV_TILE_STEP &&
         (launch->shared_bytes > most || launch->blocks_x < least_blocks(schedule, variant, rows))) {
    rows -= CNV_TILE_STEP;
    cut_jobs(schedule, launch, rows);
  }
}

/* Chooses the height of a ring's strips so that the GPU finishes first. All blocks that fit run at once and filter one
 * strip after the other; each strip computes row sums before its first results. */
static void
cut_strips(CnvSchedule *schedule, CnvLaunch *launch)
{
  const CnvVariant *variant = schedule->variant[launch->kernel];
  guint fitting = schedule->n_processors * (guint)variant->blocks, least = G_MAXUINT;
  int round = variant->ring * CNV_TILE_STEP, steps = cnv_ring_steps(&schedule->needs[launch->kernel]), best = round;

  for (int rows = round; rows <= variant->tile_rows; rows += round) {
    guint cost;

    cut_jobs(schedule, launch, rows);
    cost = (launch->blocks_x + fitting - 1) / fitting * (guint)(rows + steps * CNV_TILE_STEP);
    if (cost < least) {
      least = cost;
      best = rows;
    }
  }
  cut_jobs(schedule, launch, best);
}

/* Appends the numbers of the blocks' jobs (CnvTileArgs.jobs) after the jobs, in elements of their array. */
static void
add_block_numbers(CnvSchedule *schedule, const CnvLaunch *launch)
{
  guint size = (guint)sizeof(CnvTileJob), at = schedule->tile_jobs->len;
  guint32 *number;

  g_array_set_size(schedule->tile_jobs, at + (launch->blocks_x * (guint)sizeof(guint32) + size - 1) / size);
  number = (guint32 *)(void *)&g_array_index(schedule->tile_jobs, CnvTileJob, at);
  for (guint i = 0; i < launch->n; i++) {
    const CnvTileJob *job = &g_array_index(schedule->tile_jobs, CnvTileJob, launch->first + i);

    for (int tile = 0; tile < count_tiles(job); tile++)
      number[job->first_block + tile] = i;
  }
}

/* ---- jobs that are whole ---- */

/* Returns the tile at a column and row, in pixels, clipped to the job. */
static CnvRect
tile_rect(const CnvTileJob *job, int width, int column, int row)
{
  const CnvJob *base = &job->job;
  int first = job->origin + column * width, x = MAX(first / job->channels, base->x);
  int end = MIN(cnv_divide_up(first + width, job->channels), base->x + base->width), y = base->y + row * job->rows;

  return (CnvRect){x, y, end - x, MIN(job->rows, base->y + base->height - y)};
}

/* Returns a tile's kind from the cells that it meets. */
static CnvTileKind
kind_of_tile(const CnvJobs *work, const CnvJob *job, const CnvRect *tile)
{
  const CnvGrid *grid = &g_array_index(work->grids, CnvGrid, job->grid);
  gboolean none = TRUE, all = TRUE;

  for (int row = tile->y / CNV_CELL_HEIGHT; row * CNV_CELL_HEIGHT < tile->y + tile->height; row++)
    for (int column = tile->x / CNV_CELL_WIDTH; column * CNV_CELL_WIDTH < tile->x + tile->width; column++) {
      int weight = g_array_index(work->cells, CnvCell, grid->first_cell + (guint)(row * grid->columns + column)).weight;

      none &= weight == 0;
      all &= weight == CNV_WEIGHT_ONE;
    }
  return none ? CNV_TILE_KEPT : all ? CNV_TILE_FILTERED : CNV_TILE_BLENDED;
}

/* Returns a tile's kind if the filter weighs samples: its apron counts too, and so do samples that the border mode
 * replaces or takes from the opposite side. If all weights around a tile are 1, it is filtered as without weights. */
static CnvTileKind
kind_of_weighed_tile(const CnvJobs *work, const CnvTileJob *job, int reach, const CnvRect *tile)
{
  const CnvJob *base = &job->job;
  int across = cnv_divide_up(reach, job->channels), x = tile->x - across, y = tile->y - job->top;
  int end_x = tile->x + tile->width + across, end_y = tile->y + tile->height + job->top;
  gboolean inside = x >= 0 && y >= 0 && end_x <= base->width && end_y <= base->height;
  CnvBorder border = (CnvBorder)job->border;
  gboolean near = !cnv_border_reads_far(border) && !cnv_border_renormalizes(border);
  CnvRect read = {.x = MAX(x, 0), .y = MAX(y, 0)};

  read.width = MIN(end_x, base->width) - read.x;
  read.height = MIN(end_y, base->height) - read.y;
  if (kind_of_tile(work, base, tile) == CNV_TILE_KEPT)
    return CNV_TILE_KEPT;
  return (inside || near) && kind_of_tile(work, base, &read) == CNV_TILE_FILTERED ? CNV_TILE_FILTERED
                                                                                  : CNV_TILE_BLENDED;
}

/* Adds the coverage of tiles first to last - 1 of a row. Tiles that share a pixel share bytes of coverage. */
static void
cover_tiles(CnvSchedule *schedule, const CnvTileJob *job, int width, int first, int last, int row)
{
  const CnvJob *base = &job->job;
  CnvRect from = tile_rect(job, width, first, row), to = tile_rect(job, width, last - 1, row);
  int x = from.x - from.x % CNV_COVERAGE_ALIGNMENT;
  int end = cnv_divide_up(to.x + to.width, CNV_COVERAGE_ALIGNMENT) * CNV_COVERAGE_ALIGNMENT;

  x = MAX(x, job->job.x);
  end = MIN(end, job->job.x + job->job.width);
  if (base->weights > 0)
    base = &g_array_index(schedule->work.weights, CnvJob, base->weights - 1);
  cnv_schedule_cover(schedule, base, x, from.y, end - x, from.height);
}

/* Adds the copies of tiles first to last - 1 of a row back into the frame, for work in place. */
static void
copy_tiles(CnvSchedule *schedule, const CnvTileJob *job, int width, int first, int last, int row)
{
  CnvRect from = tile_rect(job, width, first, row), to = tile_rect(job, width, last - 1, row);

  cnv_schedule_copy(schedule, &job->job, from.x, from.y, to.x + to.width - from.x, from.height);
}

/* Calls add for each run of tiles of a row whose kinds are from `least` to `most`. */
static void
add_runs(CnvSchedule *schedule, const CnvTileJob *job, int width, int row, const guint8 *kinds, guint8 least,
         guint8 most, void (*add)(CnvSchedule *, const CnvTileJob *, int width, int first, int last, int row))
{
  for (int first = 0, end; first < job->columns; first = end) {
    for (end = first; end < job->columns && kinds[end] >= least && kinds[end] <= most;)
      end++;
    if (end > first)
      add(schedule, job, width, first, end, row);
    else
      end++;
  }
}

/* Returns TRUE if a blended tile reads weights of this one, or may do so. down: rows of tiles that taps reach. */
static gboolean
is_read(const CnvTileJob *job, const guint8 *kinds, int down, int column, int row)
{
  for (int y = MAX(row - down, 0); y <= MIN(row + down, job->last_row); y++)
    for (int x = MAX(column - 1, 0); x <= MIN(column + 1, job->columns - 1); x++)
      if (kinds[y * job->columns + x] == CNV_TILE_BLENDED)
        return TRUE;
  return cnv_border_reads_far((CnvBorder)job->border);
}

/* Adds the coverage that the filter of a job reads to weigh samples. */
static void
cover_read_tiles(CnvSchedule *schedule, const CnvTileJob *job, int width, const guint8 *kinds)
{
  int down = cnv_divide_up(job->top, job->rows);
  g_autofree guint8 *read = g_malloc((gsize)job->columns);

  for (int row = 0; row <= job->last_row; row++) {
    for (int column = 0; column < job->columns; column++)
      read[column] = is_read(job, kinds, down, column, row) ? 1 : 0;
    add_runs(schedule, job, width, row, read, 1, 1, cover_tiles);
  }
}

/* Finds the kinds of a job's tiles, and adds their coverage and copies. Returns the index of the kinds. */
static guint
find_kinds(CnvSchedule *schedule, const CnvTileJob *job, int width)
{
  const CnvPlaneKernel *plane_kernel = cnv_schedule_plane_kernel(schedule, &job->job);
  guint first = schedule->tile_kinds->len, n_kept = 0;
  int bytes = plane_kernel->plane->component[0].bytes;

  g_byte_array_set_size(schedule->tile_kinds, first + (guint)count_tiles(job));
  for (int row = 0; row <= job->last_row; row++) {
    guint8 *kinds = schedule->tile_kinds->data + first + row * job->columns;

    for (int column = 0; column < job->columns; column++) {
      CnvRect tile = tile_rect(job, width, column, row);

      kinds[column] = (guint8)(plane_kernel->plan->is_weighed
                                   ? kind_of_weighed_tile(&schedule->work, job, plane_kernel->variant->reach, &tile)
                                   : kind_of_tile(&schedule->work, &job->job, &tile));
      n_kept += kinds[column] == CNV_TILE_KEPT;
    }
    if (!plane_kernel->plan->is_weighed)
      add_runs(schedule, job, width, row, kinds, CNV_TILE_BLENDED, CNV_TILE_BLENDED, cover_tiles);
    if (schedule->in_place)
      add_runs(schedule, job, width, row, kinds, CNV_TILE_BLENDED, CNV_TILE_FILTERED, copy_tiles);
  }
  if (plane_kernel->plan->is_weighed)
    cover_read_tiles(schedule, job, width, schedule->tile_kinds->data + first);
  schedule->kept[job->pointers].kinds = (int)first;
  schedule->kept[job->pointers].tile_inverse[CNV_X] = G_MAXUINT32 / (guint)(width * bytes) + 1;
  schedule->kept[job->pointers].tile_inverse[CNV_Y] = G_MAXUINT32 / (guint)job->rows + 1;
  schedule->kept[job->pointers].columns = job->columns;
  if (n_kept == 0)
    schedule->written |= 1u << job->pointers;
  return first;
}

/* Adds a job's tiles of one kind to the launch's list. kinds: NULL if all are of the kind UNKNOWN. */
static void
list_tiles(CnvSchedule *schedule, const CnvTileJob *job, guint number, const guint8 *kinds, CnvTileKind wanted)
{
  for (int i = 0; i < count_tiles(job); i++) {
    CnvTileKind kind = kinds ? (CnvTileKind)kinds[i] : CNV_TILE_UNKNOWN;
    CnvTilePlace place = {number, kind, (guint16)(i % job->columns), (guint16)(i / job->columns)};

    if (kind == wanted)
      g_array_append_val(schedule->tile_places, place);
  }
}

/* Returns the samples of a job, over all channels, whose weights are not known to be 0. */
static double
samples_of(const CnvJobs *work, const CnvTileJob *job)
{
  const CnvGrid *grid = &g_array_index(work->grids, CnvGrid, job->job.grid);
  const CnvCell *cell = &g_array_index(work->cells, CnvCell, grid->first_cell);
  double all = (double)job->job.width * job->job.height * job->channels;
  int n = grid->columns * cnv_divide_up(job->job.height, CNV_CELL_HEIGHT), used = 0;

  for (int i = 0; i < n && job->job.whole; i++)
    used += cell[i].weight != 0;
  return job->job.whole ? all * used / n : all;
}

/* If there are at most this number of tiles per multiprocessor, and a copy runs beside them, tiles become lower: so few
 * tiles take as long as one. 4K NV12, r=8, in place, 64 ellipses of 60x60: 80 rows 16.1 us, fewer rows 13.3; a mask
 * over 30 %, 467 tiles of 80 rows: 11.5 us, 48 rows 12.3. */
#define FEW_TILES 4

/* Makes the launch's tiles lower if only few of them are filtered (FEW_TILES). */
static void
choose_rows(CnvSchedule *schedule, CnvLaunch *launch)
{
  const CnvVariant *variant = schedule->variant[launch->kernel];
  int rows = g_array_index(schedule->tile_jobs, CnvTileJob, launch->first).rows, most = rows;
  int threshold = schedule->in_place ? MAX(variant->blocks, FEW_TILES) : FEW_TILES;
  double samples = 0;

  for (guint i = 0; i < launch->n; i++)
    samples += samples_of(&schedule->work, &g_array_index(schedule->tile_jobs, CnvTileJob, launch->first + i));
  while (rows > CNV_TILE_STEP &&
         samples / ((double)variant->width * (rows - CNV_TILE_STEP)) <= schedule->n_processors * (double)threshold)
    rows -= CNV_TILE_STEP;
  if (rows < most)
    cut_jobs(schedule, launch, rows);
}

/* Makes the tile list of a launch with whole jobs. Blended tiles come first, since they take longest; kept tiles are
 * left out. */
static void
list_launch(CnvSchedule *schedule, CnvLaunch *launch)
{
  int width = schedule->variant[launch->kernel]->width;
  g_autofree int *kinds = g_new(int, launch->n);

  launch->tiles = (int)schedule->tile_places->len;
  for (guint i = 0; i < launch->n; i++) {
    const CnvTileJob *job = &g_array_index(schedule->tile_jobs, CnvTileJob, launch->first + i);

    kinds[i] = job->job.whole ? (int)find_kinds(schedule, job, width) : -1;
  }
  for (CnvTileKind kind = CNV_TILE_BLENDED; kind <= CNV_TILE_UNKNOWN; kind++)
    for (guint i = 0; i < launch->n; i++)
      list_tiles(schedule, &g_array_index(schedule->tile_jobs, CnvTileJob, launch->first + i), i,
                 kinds[i] < 0 ? NULL : schedule->tile_kinds->data + kinds[i], kind);
  launch->blocks_x = schedule->tile_places->len - (guint)launch->tiles;
}

gboolean
cnv_tile_jobs_have_kinds(const CnvSchedule *schedule, CnvKernelId kernel)
{
  const CnvVariant *variant = schedule->variant[kernel];

  return cnv_kernel_kind(kernel)->lists_tiles && !variant->ring;
}

void
cnv_tile_jobs_cut(CnvSchedule *schedule, CnvLaunch *launch)
{
  gboolean whole = FALSE, decimated = cnv_kernel_takes_part(CNV_KERNEL_INTERPOLATE, launch->kernel);

  launch->tiles = -1;
  launch->plain = TRUE;
  if (decimated) {
    cnv_decimated_cut(schedule, launch);
    number_blocks(schedule, launch);
  } else {
    (schedule->variant[launch->kernel]->ring ? cut_strips : cut_tiles)(schedule, launch);
  }
  for (guint i = 0; i < launch->n; i++) {
    const CnvTileJob *job = &g_array_index(schedule->tile_jobs, CnvTileJob, launch->first + i);

    whole |= job->job.whole;
    launch->plain &= !job->blends && !job->renormalizes;
  }
  if (whole && (!decimated || launch->kernel == CNV_KERNEL_INTERPOLATE)) {
    if (!decimated)
      choose_rows(schedule, launch);
    list_launch(schedule, launch);
  } else if (launch->n > CNV_TILE_JOBS_INLINE)
    add_block_numbers(schedule, launch);
}
