/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The CPU engine. A frame's work is jobs (jobs.h); each is cut into tiles, columns narrow enough that the rows
 * a filter needs stay in cache as float32; threads take tile after tile (tile.c). The rest of the frame is copied
 * first. Jobs, tiles, coverage and norms stay for the next frame if its work is the same.
 */
#include "cpu/cpu.h"
#include "plan/arith.h"
#include "plan/regions/jobs.h"
#include "plan/scene.h"
#include "team.h"

extern const CnvBackend cnv_backend_cpu;

#define THREADS_MAX 1024
#define TILES_A_THREAD 4   /* so that a thread that is held up does not hold up the frame */
#define SHARED_A_THREAD 2  /* the same of tiles whose aprons several threads make for all */
#define ALONE_US 50        /* a frame of less is done by the calling thread: waking others would take as long */
#define PRODUCTS_A_US 50e3 /* some, with AVX2 */

typedef struct {
  CnvSession base;
  guint n_threads; /* with the caller's */
  CnvTeam *team;
  CpuPrepared prepared;
  guint8 *history; /* slots, each laid out as the scene says */
  CpuFrame frame;

  CnvJobs work;
  guint8 *coverage; /* of these jobs, with room for coverage_room bytes */
  gsize coverage_room;
  float *norms; /* of the jobs of weighed planes, with room for norms_room bytes */
  gsize norms_room;
  GArray *to_cover; /* CoverPart: what of the coverage is still to be made */
  GArray *tiles;    /* CpuTile, of these jobs */
  guint n_norms;    /* tiles that make norms, the first; once they have, they are left out */
  gboolean has_norms;
  guint n_first; /* tiles after these that are done before the others, which need them or change other bits of the same
                    words */
  guint first_tile; /* of those under way */
  guint copied;     /* bits: planes of the frame to be copied */
} CpuSession;

/* Rows of a job's coverage, from top up to but without bottom. */
typedef struct {
  const CnvJob *job;
  int top, bottom;
} CoverPart;

#define COVER_ROWS 32 /* that a thread makes at a time */

/* ---- cutting a frame's work ---- */

/* An identity of samples without padding bits needs no arithmetic. */
static gboolean
is_copy(const CnvPlan *plan)
{
  return plan->requested != CNV_ALGORITHM_NAIVE && plan->image.format->depth == 8 * plan->image.format->sample_bytes &&
         cnv_plan_is_identity(plan);
}

/* Pixels and rows of a job's tiles: enough tiles to keep all threads at work, yet not so low ones that filling the
 * rings costs more than running them. */
static void
size_tiles(int threads, const CnvJob *job, const CpuPlane *plane, int size[CNV_N_AXES])
{
  int channels = plane->from->channels;
  gboolean fft = cnv_cpu_fft_suits(&plane->fft, job->width * channels, job->height);
  int width = (fft ? plane->fft.width : cnv_cpu_tile_samples(plane, job->width * channels)) / channels;
  int total = job->height * cnv_divide_up(job->width, width); /* rows of all columns of tiles */
  int least = cnv_divide_up(total, threads > 1 ? threads * TILES_A_THREAD : 1), most = cnv_divide_up(total, threads);
  int parts = MAX(total / MAX(least, MIN(most, 4 * plane->slots)), 1); /* in turn by all threads, where they suffice */

  size[CNV_X] = width;
  size[CNV_Y] = cnv_divide_up(total, parts < threads ? parts : parts - parts % threads);
  if (fft)
    size[CNV_Y] = plane->fft.height;
  else if (plane->summed) /* parts of what is between two starts */
    size[CNV_Y] = plane->restart[CNV_Y] / cnv_divide_up(plane->restart[CNV_Y], size[CNV_Y]);
}

/* The same where sums slide. Tiles are as high as sums go down without a new start; there are more than one for each
 * thread where taps are few beside a tile's width. */
static void
size_sliding_tiles(int threads, const CnvJob *job, const CpuPlane *plane, int size[CNV_N_AXES])
{
  int unit = plane->restart[CNV_X], units = cnv_divide_up(job->width, unit), taps = plane->from->term[0].n[CNV_X];
  int down = cnv_divide_up(job->height, plane->restart[CNV_Y]), few = cnv_divide_up(threads, down);
  int many = threads > 1 ? cnv_divide_up(threads * TILES_A_THREAD, down) : 1;
  int across = MAX(CLAMP(job->width / (4 * taps), few, many),
                   cnv_divide_up(units * unit, plane->widest / plane->from->channels));

  size[CNV_X] = cnv_divide_up(units, MIN(across, units)) * unit;
  size[CNV_Y] = plane->restart[CNV_Y];
}

/* The end of a tile of that size that begins at `at`. Tiles begin where sums do, as far as they can, and no sums go on
 * beyond. */
static int
cut_at(int at, int size, int restart)
{
  return restart > 0 ? MIN(at + size, at - at % restart + MAX(size, restart)) : at + size;
}

/* TRUE where threads make a small picture together first (cpu.h), and then each its part of the frame from that. */
static gboolean
is_shared(const CpuSession *self, const CnvJob *job, const CpuPlane *plane)
{
  const CnvPlane *from = plane->from;

  return plane->coarse && self->base.stats.threads > 1 && job->fields == 1 && job->coverage_pitch == 0 &&
         job->window_width == job->width && job->window_height == job->height && job->width == from->width &&
         job->height == from->height;
}

/* Tiles of the small picture of a plane, rows being its rows. */
static void
cut_small_picture(CpuSession *self, const CnvJob *job, const CpuPlane *plane)
{
  int rows = cnv_divide_up(plane->small_rows, (int)self->base.stats.threads * SHARED_A_THREAD);

  for (int column = 0; column * plane->small_width < job->width; column++)
    for (int top = 0; top < plane->small_rows; top += rows) {
      CpuTile tile = {.frame = &self->frame, .plane = plane, .job = job, .top = top};

      tile.first = column * plane->small_width;
      tile.last = MIN(tile.first + plane->small_width, job->width);
      tile.bottom = MIN(top + rows, plane->small_rows);
      tile.made = plane->small + column * plane->small_rows;
      g_array_append_val(self->tiles, tile);
    }
}

static void
cut_job(CpuSession *self, const CnvJob *job, const CpuPlane *plane, gboolean small, float *norms)
{
  int right = job->x + job->width, bottom = job->y + job->height, size[CNV_N_AXES];
  gboolean fft = cnv_cpu_fft_suits(&plane->fft, job->width * plane->from->channels, job->height);

  (plane->sliding ? size_sliding_tiles : size_tiles)((int)self->base.stats.threads, job, plane, size);
  if (small) {
    size[CNV_X] = plane->small_width;
    size[CNV_Y] = cnv_divide_up(job->height, (int)self->base.stats.threads * SHARED_A_THREAD);
  }
  for (int top = job->y, end; top < bottom; top = end) {
    end = fft ? top + size[CNV_Y] : cut_at(top, size[CNV_Y], plane->restart[CNV_Y]);
    end = cnv_cpu_mosaic_end(plane->from, job, MIN(end, bottom));
    for (int first = job->x, last; first < right; first = last) {
      CpuTile tile = {.frame = &self->frame, .plane = plane, .job = job, .first = first, .top = top, .bottom = end};

      last = right - first > size[CNV_X] ? cut_at(first, size[CNV_X], plane->restart[CNV_X]) : right;
      tile.last = last;
      tile.norms = norms;
      tile.middle = fft ? (top + end + 1) / 2 : 0;
      if (small)
        tile.small = (const float *const *)plane->small + first / plane->small_width * plane->small_rows;
      g_array_append_val(self->tiles, tile);
    }
  }
}

/* The plane that a job is for; NULL: it is copied. Plans may differ in that. */
static const CpuPlane *
plane_of(const CpuSession *self, const CnvJob *job)
{
  const CpuPlane *plane = &self->prepared.plane[job->plan * CNV_CPU_PLANES + job->plane];

  return plane->from && plane->from->filtered ? plane : NULL;
}

/* TRUE where a plane's samples are bits of words that an earlier plane changes, too. */
static gboolean
shares_words(const CnvPlan *plan, int p)
{
  const CnvComponent *own = &plan->plane[p].component[0];

  for (int i = 0; i < p; i++)
    if (plan->plane[i].filtered && plan->plane[i].component[0].plane == own->plane && own->bytes == 4)
      return TRUE;
  return FALSE;
}

/* Threads that are worth waking for the jobs. */
static guint
count_threads(const CpuSession *self)
{
  double products = 0;

  for (guint i = 0; i < self->work.jobs->len; i++) {
    const CnvJob *job = &g_array_index(self->work.jobs, CnvJob, i);
    const CpuPlane *plane = plane_of(self, job);

    if (plane)
      products += (double)job->width * job->height * plane->products;
    if (plane && plane->weighed)
      products += (double)job->width * job->height * plane[CNV_MAX_PLANES].products;
  }
  return products < ALONE_US * PRODUCTS_A_US ? 1 : self->n_threads;
}

/* Floats of the norms of a job. */
static gsize
count_norms(const CpuSession *self, const CnvJob *job)
{
  const CpuPlane *plane = plane_of(self, job);

  return plane && plane->weighed ? (gsize)job->width * job->height : 0;
}

/* The tiles that make the norms of all jobs. */
static void
cut_norms(CpuSession *self)
{
  float *norms = self->norms;

  for (guint i = 0; i < self->work.jobs->len; i++) {
    const CnvJob *job = &g_array_index(self->work.jobs, CnvJob, i);
    gsize n = count_norms(self, job);

    if (n > 0)
      cut_job(self, job, plane_of(self, job) + CNV_MAX_PLANES, FALSE, norms);
    norms += n;
  }
  self->n_norms = self->tiles->len;
}

/* Small pictures come first, or else the planes that share no words with those before them. */
static void
cut_jobs(CpuSession *self, const CnvPlan *plan)
{
  gboolean words = FALSE;
  guint first_of_words = G_MAXUINT;
  float *norms = self->norms;

  for (int p = 0; p < plan->n_planes; p++)
    words |= shares_words(plan, p);
  cut_norms(self);
  for (guint i = 0; i < self->work.jobs->len && !words; i++) {
    const CnvJob *job = &g_array_index(self->work.jobs, CnvJob, i);
    const CpuPlane *plane = plane_of(self, job);

    if (plane && is_shared(self, job, plane))
      cut_small_picture(self, job, plane);
  }
  self->n_first = self->tiles->len - self->n_norms;
  for (guint i = 0; i < self->work.jobs->len; i++) {
    const CnvJob *job = &g_array_index(self->work.jobs, CnvJob, i);
    const CpuPlane *plane = plane_of(self, job);

    if (plane && shares_words(plan, job->plane))
      first_of_words = MIN(first_of_words, self->tiles->len);
    if (plane)
      cut_job(self, job, plane, !words && is_shared(self, job, plane), norms);
    norms += count_norms(self, job);
  }
  if (words)
    self->n_first = MIN(first_of_words, self->tiles->len) - self->n_norms;
}

/* Lists what of the coverage of some jobs threads are to make. */
static void
list_coverage(CpuSession *self, const GArray *jobs)
{
  for (guint i = 0; i < jobs->len; i++) {
    const CnvJob *job = &g_array_index(jobs, CnvJob, i);

    if (job->coverage_pitch == 0 || job->cover == CNV_COVER_MADE)
      continue;
    for (int y = job->y; y < job->y + job->height; y += COVER_ROWS) {
      CoverPart part = {job, y, MIN(y + COVER_ROWS, job->y + job->height)};

      g_array_append_val(self->to_cover, part);
    }
  }
}

/* Makes room of `size` bytes in a block, whose contents are lost if it has less. FALSE with CNV_ERROR_MEMORY. */
static gboolean
make_room(gpointer *block, gsize *room, gsize size, GError **error)
{
  if (size <= *room)
    return TRUE;
  g_free(*block);
  *block = g_try_malloc(size);
  *room = *block ? size : 0;
  if (!*block)
    g_set_error(error, CNV_ERROR, CNV_ERROR_MEMORY,
                "no memory for %" G_GSIZE_FORMAT " bytes of weights of regions: use fewer or smaller regions", size);
  return *block != NULL;
}

/* Makes room for the norms of the jobs. */
static gboolean
start_norms(CpuSession *self, GError **error)
{
  gpointer block = self->norms;
  gsize n = 0;
  gboolean ok;

  for (guint i = 0; i < self->work.jobs->len; i++)
    n += count_norms(self, &g_array_index(self->work.jobs, CnvJob, i));
  ok = make_room(&block, &self->norms_room, n * sizeof(float), error);
  self->norms = block;
  return ok;
}

/* Makes room for the coverage of the jobs, and a list of what threads are to make of it. */
static gboolean
start_coverage(CpuSession *self, GError **error)
{
  gpointer block = self->coverage;
  gboolean ok = make_room(&block, &self->coverage_room, self->work.coverage_size, error);

  self->coverage = block;
  g_array_set_size(self->to_cover, 0);
  if (!ok)
    return FALSE;
  self->frame.coverage = self->coverage;
  self->frame.weights = (const CnvJob *)self->work.weights->data;
  list_coverage(self, self->work.weights);
  list_coverage(self, self->work.jobs);
  return TRUE;
}

static gboolean
cut(CpuSession *self, const CnvWork *work, GError **error)
{
  const CnvPlan *plan = work->plan[0];
  gboolean copy = work->everything && is_copy(plan);

  self->copied = ~0u;
  for (int p = 0; p < plan->n_planes && work->everything && !copy; p++)
    if (plan->plane[p].plain && plan->plane[p].filtered && plan->plane[p].algorithm != CNV_ALGORITHM_NAIVE)
      self->copied &= ~(1u << plan->plane[p].component[0].plane); /* its tiles write all of it */
  g_array_set_size(self->tiles, 0);
  self->n_first = self->n_norms = 0;
  self->has_norms = FALSE;
  cnv_jobs_make(&self->work, work, 0, 0);
  self->base.stats.planned++;
  self->base.stats.crowd = MAX(self->base.stats.crowd, self->work.crowd);
  self->base.stats.threads = count_threads(self);
  if (!start_coverage(self, error) || !start_norms(self, error)) {
    self->work.work.n_plans = 0; /* nothing matches it */
    return FALSE;
  }
  if (!copy)
    cut_jobs(self, plan);
  return TRUE;
}

/* Brings planes and tiles in line with the work. */
static gboolean
prepare(CpuSession *self, const CnvWork *work, GError **error)
{
  gboolean same = cnv_cpu_is_prepared(&self->prepared, work);

  if (!same && !cnv_cpu_prepare(&self->prepared, work, self->n_threads, error))
    return FALSE;
  return (same && cnv_jobs_match(&self->work, work)) || cut(self, work, error);
}

/* ---- the session ---- */

/* Copies planes of a frame. */
static void
copy(CpuSession *self, const CnvLayout *layout, guint planes, const CnvFrame *from, const CnvFrame *to)
{
  CnvRowsCopy copies[CNV_MAX_PLANES];
  int n = 0;

  for (int m = 0; m < layout->n_planes; m++)
    if (planes >> m & 1)
      copies[n++] = (CnvRowsCopy){.to = to->data[m],
                                  .from = from->data[m],
                                  .to_stride = to->stride[m],
                                  .from_stride = from->stride[m],
                                  .row = layout->row_bytes[m],
                                  .rows = layout->rows[m]};
  cnv_copy_rows(self->team, copies, n);
}

static CnvFrame
slot_frame(const CpuSession *self, int slot)
{
  const CnvLayout *layout = &self->base.scene->layout;

  return cnv_layout_frame(layout, CNV_MEMORY_HOST, (guintptr)cnv_cpu_aligned(self->history) + slot * layout->size);
}

static void
set_frame(CpuSession *self, const CnvWork *work, const CnvFrame *in, const CnvFrame *out)
{
  CpuFrame *frame = &self->frame;

  frame->in = in->memory == CNV_MEMORY_HISTORY ? slot_frame(self, in->slot) : *in;
  frame->out = *out;
  frame->n_sources = MAX((int)work->n_temporal_taps, 1);
  frame->source[0] = frame->in;
  frame->weight[0] = 1;
  for (guint i = 0; i < work->n_temporal_taps; i++) {
    const CnvTemporalTap *tap = &work->temporal_tap[i];

    frame->weight[i] = tap->slot >= 0 ? tap->weight : 0;
    if (frame->weight[i] != 0)
      frame->source[i] = slot_frame(self, tap->slot);
  }
}

static void
run_tile(gpointer data, guint part, guint thread)
{
  CpuSession *self = data;

  const CpuTile *tile = &g_array_index(self->tiles, CpuTile, self->first_tile + part);

  (cnv_cpu_weighed_has_blocks(tile) ? cnv_cpu_weighed_run : cnv_cpu_tile_run)(&self->prepared.worker[thread], tile);
}

static void
run_tiles(CpuSession *self, guint first, guint n)
{
  self->first_tile = first;
  cnv_team_run(self->team, self->base.stats.threads, n, run_tile, self);
}

static void
cover_part(gpointer data, guint part, guint thread)
{
  CpuSession *self = data;
  const CoverPart *p = &g_array_index(self->to_cover, CoverPart, part);
  const CnvCover cover = cnv_jobs_cover(&self->work);

  for (int y = p->top; y < p->bottom; y++)
    cnv_coverage_row(&cover, p->job, y,
                     self->coverage + p->job->coverage - (guint)p->job->x % CNV_COVERAGE_ALIGNMENT +
                         (gsize)(y - p->job->y) * p->job->coverage_pitch);
}

static void
count_tiles(const CpuSession *self, CnvSessionStats *stats)
{
  for (guint i = self->n_norms; i < self->tiles->len; i++) {
    const CpuTile *tile = &g_array_index(self->tiles, CpuTile, i);

    stats->sliding += tile->plane->sliding;
    stats->summed += tile->plane->summed && !tile->middle;
    stats->coarse += tile->plane->coarse && !tile->made;
    stats->fixed += tile->plane->in_16_bits;
    stats->fft += tile->middle > 0;
  }
}

static gboolean
cpu_submit(CnvSession *base, const CnvWork *work, const CnvFrame *in, const CnvFrame *out, GError **error)
{
  CpuSession *self = (CpuSession *)base;
  CnvSessionStats *stats = &base->stats;
  gint64 start = g_get_monotonic_time();

  if (!prepare(self, work, error))
    return FALSE;
  set_frame(self, work, in, out);
  copy(self, &work->plan[0]->layout, self->copied, &self->frame.in, out);
  cnv_team_run(self->team, stats->threads, self->to_cover->len, cover_part, self);
  g_array_set_size(self->to_cover, 0);
  if (!self->has_norms)
    run_tiles(self, 0, self->n_norms);
  self->has_norms = TRUE;
  run_tiles(self, self->n_norms, self->n_first);
  run_tiles(self, self->n_norms + self->n_first, self->tiles->len - self->n_norms - self->n_first);

  stats->frames++;
  count_tiles(self, stats);
  stats->compute_us += ((double)(g_get_monotonic_time() - start) - stats->compute_us) / (double)stats->frames;
  return TRUE;
}

static gboolean
cpu_history_alloc(CnvSession *base, guint n_slots, GError **error)
{
  CpuSession *self = (CpuSession *)base;
  const CnvImage *image;
  gsize bytes;

  g_clear_pointer(&self->history, g_free);
  if (n_slots == 0)
    return TRUE;
  image = &base->scene->image;
  bytes = n_slots * base->scene->layout.size + CNV_CPU_ALIGNMENT;
  self->history = g_try_malloc0(bytes);
  if (!self->history)
    g_set_error(error, CNV_ERROR, CNV_ERROR_MEMORY,
                "no memory for %" G_GSIZE_FORMAT
                " bytes of history, %u frames of %dx%d %s: set a smaller temporal-radius or fewer taps in time",
                bytes, n_slots, image->width, image->height, image->format->name);
  return self->history != NULL;
}

static gboolean
cpu_history_push(CnvSession *base, guint slot, const CnvFrame *frame, gboolean fetch_rows, gboolean *kept,
                 GError **error)
{
  CpuSession *self = (CpuSession *)base;
  CnvFrame to = slot_frame(self, (int)slot);

  copy(self, &base->scene->layout, ~0u, frame, &to);
  return TRUE;
}

/* Frames are done when they are submitted. */
static gboolean
cpu_wait(CnvSession *base, GError **error)
{
  return TRUE;
}

static void
cpu_close(CnvSession *base)
{
  CpuSession *self = (CpuSession *)base;

  cnv_team_free(self->team);
  cnv_cpu_prepared_clear(&self->prepared);
  g_free(self->history);
  g_array_unref(self->tiles);
  g_array_unref(self->to_cover);
  g_free(self->coverage);
  g_free(self->norms);
  cnv_jobs_clear(&self->work);
  g_free(base->device_name);
  g_free(self);
}

static CnvSession *
cpu_open(const CnvSessionOptions *options, GError **error)
{
  guint n_threads = MIN(options->n_threads ? options->n_threads : g_get_num_processors(), THREADS_MAX);
  CpuSession *self = g_new0(CpuSession, 1);
  GError *cause = NULL;

  self->base.backend = &cnv_backend_cpu;
  self->base.submit = cpu_submit;
  self->base.history_alloc = cpu_history_alloc;
  self->base.history_push = cpu_history_push;
  self->base.wait = cpu_wait;
  self->base.close = cpu_close;
  self->frame.simd = self->prepared.simd = cnv_cpu_choose_simd(options->simd);
  self->n_threads = n_threads;
  self->team = cnv_team_new(n_threads, &cause);
  self->tiles = g_array_new(FALSE, FALSE, sizeof(CpuTile));
  self->to_cover = g_array_new(FALSE, FALSE, sizeof(CoverPart));
  cnv_jobs_init(&self->work);
  self->base.device_name =
      g_strdup_printf("CPU, %u %s, %s", n_threads, n_threads == 1 ? "thread" : "threads", self->frame.simd->name);
  if (!self->team) {
    g_set_error(error, CNV_ERROR, CNV_ERROR_MEMORY, "cannot start %u threads: %s; set fewer with n-threads", n_threads,
                cause->message);
    g_error_free(cause);
    cpu_close(&self->base);
    return NULL;
  }
  return &self->base;
}

/* ---- the engine ---- */

static gboolean
cpu_probe(int device, GError **error)
{
  return TRUE;
}

static gboolean
cpu_can(CnvAlgorithm algorithm, const CnvPlan *plan, const CnvPlane *plane, GError **error)
{
  static const char *const missing[] = {[CNV_ALGORITHM_TEXTURE] = "texture unit",
                                        [CNV_ALGORITHM_FUSED] = "launches to fuse: its row sums stay in cache anyway",
                                        [CNV_ALGORITHM_TENSOR] = "tensor cores",
                                        [CNV_ALGORITHM_MOSAIC] = NULL};

  return !missing[algorithm] || cnv_unsupported(error, "the CPU has no %s", missing[algorithm]);
}

static CnvAlgorithm
cpu_choose(const CnvPlan *plan, const CnvPlane *plane)
{
  if (plane->cell[CNV_X])
    return CNV_ALGORITHM_MOSAIC;
  return cnv_plane_is_separable(plane) ? CNV_ALGORITHM_SEPARABLE : CNV_ALGORITHM_TILED;
}

const CnvBackend cnv_backend_cpu = {
    .name = "cpu",
    .blurb = "The processors, by vector code",
    .takes_device_memory = FALSE,
    .max_in_flight = 1, /* nothing would overlap */
    .dense_taps = 0,
    .probe = cpu_probe,
    .can = cpu_can,
    .choose = cpu_choose,
    .open = cpu_open,
};
