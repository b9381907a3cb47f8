/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The CPU engine. The work on a frame is a list of jobs (jobs.h). Each job is cut into tiles: columns so narrow that
 * the rows that a filter needs stay in cache. Threads filter tile after tile (tile.c). The rest of the frame is copied
 * first. Jobs, tiles, coverage and norms are kept while the work stays the same.
 */
#include "cpu/cpu.h"
#include "plan/arith.h"
#include "plan/noise.h"
#include "plan/regions/jobs.h"
#include "plan/scene.h"
#include "team.h"

extern const CnvBackend cnv_backend_cpu;

#define THREADS_MAX 1024
#define SHARED_A_THREAD 2  /* tiles per thread of a decimated picture that threads make together */
#define ALONE_US 50        /* shorter frames are filtered by the calling thread: waking others takes as long */
#define PRODUCTS_A_US 50e3 /* products of a sample and a tap per microsecond, about, with AVX2 */
/* Bytes between the frames of a history, so that their rows do not share cache sets. */
#define SLOT_GAP (9 * CNV_CPU_ALIGNMENT)

/* Memory that only grows. */
typedef struct {
  gpointer data;
  gsize size; /* bytes */
} CpuBlock;

typedef struct {
  CnvSession base;
  guint n_threads; /* including the calling thread */
  CnvTeam *team;
  CpuPrepared prepared;
  guint8 *history; /* slots, each laid out as the scene says */
  CpuFrame frame;
  CnvNoise noise; /* of the frames of the history, for automatic thresholds */

  CnvJobs work;
  CpuBlock coverage; /* of these jobs */
  CpuBlock norms;    /* of the jobs of weighed planes: float */
  GArray *to_cover;  /* CoverPart: parts of the coverage that are still to be computed */
  GArray *tiles;     /* CpuTile, of these jobs */
  guint n_norms;     /* number of tiles at the start that compute norms; skipped if has_norms is TRUE */
  gboolean has_norms;
  float norms_weight[CNV_MAX_TEMPORAL_TAPS]; /* weights of the frames for which norms were computed */
  guint n_first; /* number of tiles after these that run before all later ones: later tiles read their results, or write
                    other bits of the same words */
  guint first_tile; /* of the tiles that are running */
  guint copied;     /* bits: planes of the frame to be copied */
} CpuSession;

/* Rows top to bottom - 1 of a job's coverage. */
typedef struct {
  const CnvJob *job;
  int top, bottom;
} CoverPart;

#define COVER_ROWS 32 /* of a part */

/* ---- cutting a frame's work ---- */

/* Returns TRUE if a copy of the frame has the same result: the plan is an identity, and samples have no padding
 * bits. */
static gboolean
is_copy(const CnvPlan *plan)
{
  return plan->requested != CNV_ALGORITHM_NAIVE && plan->image.format->depth == 8 * plan->image.format->sample_bytes &&
         cnv_plan_is_identity(plan);
}

/* Returns the end of a tile of that size that begins at `at`: at most the next place where running sums restart. */
static int
cut_at(int at, int size, int restart)
{
  return restart > 0 ? MIN(at + size, at - at % restart + MAX(size, restart)) : at + size;
}

/* Returns TRUE if threads first compute the decimated picture of the whole frame together, and then filter tiles from
 * it. */
static gboolean
is_shared(const CpuSession *self, const CnvJob *job, const CpuPlane *plane)
{
  const CnvPlane *from = plane->from;

  return plane->decimated && self->base.stats.threads > 1 && job->fields == 1 && job->coverage_pitch == 0 &&
         job->window_width == job->width && job->window_height == job->height && job->width == from->width &&
         job->height == from->height;
}

/* Cuts the decimated picture of a plane into tiles. Their top and bottom are rows of the decimated picture. */
static void
cut_decimated(CpuSession *self, const CnvJob *job, const CpuPlane *plane)
{
  int rows = cnv_divide_up(plane->decimated_rows, (int)self->base.stats.threads * SHARED_A_THREAD);

  for (int column = 0; column * plane->decimated_width < job->width; column++)
    for (int top = 0; top < plane->decimated_rows; top += rows) {
      CpuTile tile = {.frame = &self->frame, .plane = plane, .method = plane->method, .job = job, .top = top};

      tile.first = column * plane->decimated_width;
      tile.last = MIN(tile.first + plane->decimated_width, job->width);
      tile.bottom = MIN(top + rows, plane->decimated_rows);
      tile.decimates = plane->decimated + column * plane->decimated_rows;
      g_array_append_val(self->tiles, tile);
    }
}

/* Returns `end`, moved down to the end of the cells of a mosaic if it would cut them. */
static int
end_of_cells(const CnvPlane *plane, const CnvJob *job, int end)
{
  int bottom = job->y + job->height, cut;

  if (!plane->cell[CNV_Y])
    return end;
  cut = cnv_cell_edge(plane, job, CNV_Y, cnv_cell_of(plane, job, CNV_Y, end - 1) + 1);
  return end < cut ? MIN(cut, bottom) : end;
}

static void
cut_job(CpuSession *self, const CnvJob *job, const CpuPlane *plane, gboolean shared, float *norms)
{
  const CpuMethod *method = cnv_cpu_method_of(plane, job->width * plane->from->channels, job->height);
  const int *restart = method == plane->method ? plane->restart : (int[CNV_N_AXES]){0};
  int right = job->x + job->width, bottom = job->y + job->height, size[CNV_N_AXES];

  (method->size ? method->size : cnv_cpu_size_tiles)(plane, job, (int)self->base.stats.threads, size);
  if (shared) {
    size[CNV_X] = plane->decimated_width;
    size[CNV_Y] = cnv_divide_up(job->height, (int)self->base.stats.threads * SHARED_A_THREAD);
  }
  for (int top = job->y, end; top < bottom; top = end) {
    end = end_of_cells(plane->from, job, MIN(cut_at(top, size[CNV_Y], restart[CNV_Y]), bottom));
    for (int first = job->x, last; first < right; first = last) {
      CpuTile tile = {.frame = &self->frame, .plane = plane, .method = method, .job = job, .first = first, .top = top};

      last = right - first > size[CNV_X] ? cut_at(first, size[CNV_X], restart[CNV_X]) : right;
      tile.last = last;
      tile.bottom = end;
      tile.norms = norms;
      if (shared)
        tile.decimated =
            (const float *const *)plane->decimated + first / plane->decimated_width * plane->decimated_rows;
      g_array_append_val(self->tiles, tile);
    }
  }
}

/* Returns the plane of a job; NULL if its plan copies that plane. */
static const CpuPlane *
plane_of(const CpuSession *self, const CnvJob *job)
{
  const CpuPlane *plane = &self->prepared.plane[job->plan * CNV_CPU_PLANES + job->plane];

  return plane->from && plane->from->filtered ? plane : NULL;
}

/* Returns TRUE if a plane's samples are bits of words that an earlier plane also writes. */
static gboolean
shares_words(const CnvPlan *plan, int p)
{
  const CnvComponent *own = &plan->plane[p].component[0];

  for (int i = 0; i < p; i++)
    if (plan->plane[i].filtered && plan->plane[i].component[0].plane == own->plane && own->bytes == 4)
      return TRUE;
  return FALSE;
}

/* Returns the number of threads for the jobs. */
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

/* Returns the number of norms of a job. */
static gsize
count_norms(const CpuSession *self, const CnvJob *job)
{
  const CpuPlane *plane = plane_of(self, job);

  return plane && plane->weighed ? (gsize)job->width * job->height : 0;
}

/* Cuts the tiles that compute the norms of all jobs. */
static void
cut_norms(CpuSession *self)
{
  float *norms = self->norms.data;

  for (guint i = 0; i < self->work.jobs->len; i++) {
    const CnvJob *job = &g_array_index(self->work.jobs, CnvJob, i);
    gsize n = count_norms(self, job);

    if (n > 0)
      cut_job(self, job, plane_of(self, job) + CNV_MAX_PLANES, FALSE, norms);
    norms += n;
  }
  self->n_norms = self->tiles->len;
}

/* Cuts all jobs. Decimated pictures come first. If planes share words, the planes that share none with an earlier plane
 * come first instead. */
static void
cut_jobs(CpuSession *self, const CnvPlan *plan)
{
  gboolean words = FALSE;
  guint first_of_words = G_MAXUINT;
  int largest[CNV_MAX_PLANES] = {0};
  float *norms = self->norms.data;

  for (int p = 0; p < plan->n_planes; p++)
    words |= shares_words(plan, p);
  cut_norms(self);
  for (guint i = 0; i < self->work.jobs->len && !words; i++) {
    const CnvJob *job = &g_array_index(self->work.jobs, CnvJob, i);
    const CpuPlane *plane = plane_of(self, job);

    if (plane && is_shared(self, job, plane))
      cut_decimated(self, job, plane);
  }
  self->n_first = self->tiles->len - self->n_norms;
  for (guint i = 0; i < self->work.jobs->len; i++) {
    const CnvJob *job = &g_array_index(self->work.jobs, CnvJob, i);
    const CpuPlane *plane = plane_of(self, job);

    if (plane && shares_words(plan, job->plane))
      first_of_words = MIN(first_of_words, self->tiles->len);
    if (plane) {
      cut_job(self, job, plane, !words && is_shared(self, job, plane), norms);
      if (job->width * job->height > largest[job->plane])
        self->base.stats.method[job->plane] = g_array_index(self->tiles, CpuTile, self->tiles->len - 1).method->name;
      largest[job->plane] = MAX(largest[job->plane], job->width * job->height);
    }
    norms += count_norms(self, job);
  }
  if (words)
    self->n_first = MIN(first_of_words, self->tiles->len) - self->n_norms;
}

/* Lists the parts of the coverage of some jobs that are still to be computed. */
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

/* Makes sure that a block has at least `size` bytes. If it must grow, its contents are lost. Returns FALSE with
 * CNV_ERROR_MEMORY. */
static gboolean
ensure_size(CpuBlock *block, gsize size, GError **error)
{
  if (size <= block->size)
    return TRUE;
  g_free(block->data);
  block->data = g_try_malloc(size);
  block->size = block->data ? size : 0;
  if (!block->data)
    g_set_error(error, CNV_ERROR, CNV_ERROR_MEMORY,
                "no memory for %" G_GSIZE_FORMAT " bytes of weights of regions: use fewer or smaller regions", size);
  return block->data != NULL;
}

/* Allocates the norms of the jobs. */
static gboolean
start_norms(CpuSession *self, GError **error)
{
  gsize n = 0;

  for (guint i = 0; i < self->work.jobs->len; i++)
    n += count_norms(self, &g_array_index(self->work.jobs, CnvJob, i));
  return ensure_size(&self->norms, n * sizeof(float), error);
}

/* Allocates the coverage of the jobs, and lists its parts. */
static gboolean
start_coverage(CpuSession *self, GError **error)
{
  g_array_set_size(self->to_cover, 0);
  if (!ensure_size(&self->coverage, self->work.coverage_size, error))
    return FALSE;
  self->frame.coverage = self->coverage.data;
  self->frame.weights = (const CnvJob *)self->work.weights->data;
  list_coverage(self, self->work.weights);
  list_coverage(self, self->work.jobs);
  return TRUE;
}

static gboolean
cut(CpuSession *self, const CnvWork *work, GError **error)
{
  const CnvPlan *plan = work->plan[0];
  gboolean copy = work->whole_frame && is_copy(plan);

  self->copied = ~0u;
  for (int p = 0; p < plan->n_planes && work->whole_frame && !copy; p++)
    if (plan->plane[p].plain && plan->plane[p].filtered && plan->plane[p].algorithm != CNV_ALGORITHM_NAIVE)
      self->copied &= ~(1u << plan->plane[p].component[0].plane); /* its tiles write all of it */
  g_array_set_size(self->tiles, 0);
  self->n_first = self->n_norms = 0;
  self->has_norms = FALSE;
  cnv_jobs_make(&self->work, work, 0, 0);
  self->base.stats.planned++;
  memset(self->base.stats.method, 0, sizeof self->base.stats.method);
  self->base.stats.crowd = MAX(self->base.stats.crowd, self->work.crowd);
  self->base.stats.threads = count_threads(self);
  if (!start_coverage(self, error) || !start_norms(self, error)) {
    self->work.work.n_plans = 0; /* matches no work, so the next frame tries again */
    return FALSE;
  }
  if (!copy)
    cut_jobs(self, plan);
  return TRUE;
}

/* Prepares planes and tiles if the work changed. */
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

  return cnv_layout_frame(layout, CNV_MEMORY_HOST,
                          (guintptr)cnv_cpu_aligned(self->history) + slot * (layout->size + SLOT_GAP));
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
  frame->center = 0;
  for (guint i = 0; i < work->n_temporal_taps; i++) {
    const CnvTemporalTap *tap = &work->temporal_tap[i];

    if (tap->slot == in->slot)
      frame->center = (int)i;
    frame->weight[i] = tap->slot >= 0 ? tap->weight : 0;
    if (frame->weight[i] != 0)
      frame->source[i] = slot_frame(self, tap->slot);
  }
}

/* Measures the noise from the output's frame and the frame before it, or else after it. Beyond a cut there is no such
 * frame. */
static void
measure_noise(CpuSession *self)
{
  const CpuFrame *frame = &self->frame;
  int other = frame->center + (frame->center > 0 ? -1 : 1);

  if (frame->n_sources > 1 && frame->weight[other] != 0)
    cnv_noise_measure(&self->noise, &self->base.scene->image, &frame->source[frame->center], &frame->source[other]);
}

/* Sets the threshold of each plane. */
static void
set_thresholds(CpuSession *self, const CnvPlan *plan)
{
  CpuFrame *frame = &self->frame;

  if (plan->threshold < 0)
    measure_noise(self);
  for (int p = 0; p < CNV_MAX_PLANES; p++) {
    double threshold = plan->threshold < 0 ? CNV_NOISE_THRESHOLD * cnv_noise_sigma(&self->noise, p) : plan->threshold;

    frame->threshold[p] = self->base.stats.threshold[p] = (float)threshold;
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
                     (guint8 *)self->coverage.data + p->job->coverage - (guint)p->job->x % CNV_COVERAGE_ALIGNMENT +
                         (gsize)(y - p->job->y) * p->job->coverage_pitch);
}

/* Computes the norms, unless the previous frame's are still valid. */
static void
make_norms(CpuSession *self)
{
  const CpuFrame *frame = &self->frame;
  gsize bytes = frame->n_sources * sizeof(float);

  if (self->has_norms && memcmp(self->norms_weight, frame->weight, bytes) == 0)
    return;
  run_tiles(self, 0, self->n_norms);
  memcpy(self->norms_weight, frame->weight, bytes);
  self->has_norms = TRUE;
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
  set_thresholds(self, work->plan[0]);
  copy(self, &work->plan[0]->layout, self->copied, &self->frame.in, out);
  cnv_team_run(self->team, stats->threads, self->to_cover->len, cover_part, self);
  g_array_set_size(self->to_cover, 0);
  make_norms(self);
  run_tiles(self, self->n_norms, self->n_first);
  run_tiles(self, self->n_norms + self->n_first, self->tiles->len - self->n_norms - self->n_first);

  stats->frames++;
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
  self->noise.n = 0;
  if (n_slots == 0)
    return TRUE;
  image = &base->scene->image;
  bytes = n_slots * (base->scene->layout.size + SLOT_GAP) + CNV_CPU_ALIGNMENT;
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

/* Frames are finished when submit returns. */
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
  g_free(self->coverage.data);
  g_free(self->norms.data);
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
    .blurb = "The CPU, with several threads and SIMD instructions",
    .takes_device_memory = FALSE,
    .max_in_flight = 1, /* nothing would overlap */
    .dense_taps = 0,
    .probe = cpu_probe,
    .can = cpu_can,
    .choose = cpu_choose,
    .open = cpu_open,
};
