/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The CPU engine. A frame's work is jobs (rect_jobs.h); each is cut into tiles, columns narrow enough that the rows
 * a filter needs stay in cache as float32; threads take tile after tile (tile.c). What the jobs do not write is
 * copied first. Borders are resolved while a row is loaded, so that the vector loops (simd.c) never meet one. All
 * memory is allocated when the plans change; of a frame with the plans of the last one only jobs and tiles are made
 * again, and not even these where both frames are filtered whole. Frames of the history are history.c's.
 */
#include "cpu/tile.h"

#define THREADS_MAX 1024

/* Bytes of a ring: within the second-level cache, where CNV_CPU_ROWS rows of output at a time are as fast as in the
 * first, and tiles wide enough that their aprons count little. */
#define RING_BYTES (128 * 1024)
#define RUN_RING 32  /* the ring of a run down the rows may be so many times as large: few rows of it are read */
#define TILE_MIN 256 /* samples */
#define TILE_MAX 2048

/* Hands out parts of one block; without a block it only counts. */
typedef struct {
  guint8 *block;
  gsize used;
} Arena;

static void *
take(Arena *arena, gsize n, gsize size)
{
  void *part = arena->block ? arena->block + arena->used : NULL;

  arena->used += (n * size + CNV_CPU_ALIGNMENT - 1) / CNV_CPU_ALIGNMENT * CNV_CPU_ALIGNMENT;
  return part;
}

static void
run_tile(gpointer data, guint part, guint thread)
{
  CpuSession *self = data;
  const CpuTile *tile = &g_array_index(self->running, CpuTile, self->first + part);

  tile->run(self, &self->worker[thread], tile);
}

void
cnv_cpu_run(CpuSession *self, const GArray *tiles, guint first, guint end)
{
  self->running = tiles;
  self->first = first;
  cnv_team_run(self->team, end - first, run_tile, self);
}

/* Making plans ready. */

/* A tile's row has near the samples that the rings have room for, all tiles of a job alike. */
static int
tile_samples(const CpuPlane *plane, int samples)
{
  int block = plane->from->channels == 3 ? 3 * CNV_CPU_BLOCK : CNV_CPU_BLOCK;

  return cnv_cpu_divide_up(cnv_cpu_divide_up(samples, cnv_cpu_divide_up(samples, plane->room)), block) * block;
}

static void
shape_terms(CpuPlane *plane)
{
  int channels = plane->from->channels, padded = cnv_cpu_divide_up(plane->widest, CNV_CPU_BLOCK) * CNV_CPU_BLOCK;

  plane->acc_stride = padded;
  for (int t = 0; t < plane->from->n_terms; t++) {
    CpuTerm *term = &plane->term[t];
    int apron = (term->set->n[CNV_X] - 1) * channels;

    plane->line_length = MAX(plane->line_length, (gsize)padded + apron + CNV_CPU_SLACK);
    /* One cache line more, so that the rows of a column do not share cache sets. */
    term->ring_stride =
        (cnv_cpu_divide_up(padded + (plane->dense ? apron : 0), CNV_CPU_ALIGNMENT) + 1) * CNV_CPU_ALIGNMENT +
        CNV_CPU_ALIGNMENT / sizeof(float);
  }
}

/* Returns how many of a ring's rows should fit into RING_BYTES. */
static int
shape_ring(CpuPlane *plane, int t)
{
  CpuTerm *term = &plane->term[t];
  const CnvPlanTerm *set = &plane->from->term[t];

  term->set = set;
  term->slots = set->n[CNV_Y] + plane->rows - 1;
  plane->slots += term->slots;
  for (int axis = 0; axis < CNV_N_AXES && !plane->dense; axis++)
    term->run[axis] = cnv_cpu_run_of(plane->plan->taps + set->axis[axis], set->n[axis]);
  return term->run[CNV_Y].n ? MAX(2 * plane->rows, term->slots / RUN_RING) : term->slots;
}

static void
shape_plane(CpuPlane *plane, const CnvPlan *plan, const CnvPlanPlane *from)
{
  int samples = from->width * from->channels, near = 0;

  plane->plan = plan;
  plane->from = from;
  plane->run = from->algorithm == CNV_ALGORITHM_NAIVE ? cnv_cpu_naive_tile : cnv_cpu_filter_tile;
  plane->room = samples;
  if (!from->filtered || from->algorithm == CNV_ALGORITHM_NAIVE)
    return;
  plane->dense = from->algorithm == CNV_ALGORITHM_TILED;
  plane->rows = CNV_CPU_ROWS;
  for (int t = 0; t < from->n_terms; t++)
    near += shape_ring(plane, t);
  plane->room = CLAMP(RING_BYTES / (int)sizeof(float) / near, TILE_MIN, TILE_MAX);
  plane->widest = tile_samples(plane, MIN(samples, plane->room));
  shape_terms(plane);
}

static void
place_term(CpuTerm *term, gboolean dense, Arena *arena)
{
  const int *n = term->set->n;

  for (int axis = 0; axis < CNV_N_AXES && term->set->separable; axis++)
    term->sums[axis] = take(arena, n[axis] + 1, sizeof(double));
  if (dense)
    term->dense = take(arena, (gsize)n[CNV_X] * (n[CNV_Y] + 2 * (CNV_CPU_ROWS - 1)), sizeof(float));
  else
    term->column = take(arena, n[CNV_Y] + CNV_CPU_ROWS - 1, sizeof(float));
}

static void
place_plane(CpuPlane *plane, Arena *arena)
{
  const CnvPlanPlane *from = plane->from;
  gsize n = plane->widest;

  for (int t = 0; t < from->n_terms; t++)
    place_term(&plane->term[t], plane->dense, arena);
  plane->gain = take(arena, n, sizeof(float));
  plane->fraction = take(arena, n, sizeof(float));
  plane->round = take(arena, n, sizeof(float));
  plane->mid_bias = take(arena, n, sizeof(float));
  if (from->plain && from->filtered != (1 << from->channels) - 1)
    plane->mask = take(arena, n, from->component[0].bytes);
}

/* Planes that are filtered by anything but the reference. */
static gboolean
is_shaped(const CpuPlane *plane)
{
  return plane->rows > 0;
}

/* What the most demanding planes ask of a worker, in elements. */
typedef struct {
  gsize line, samples;
  gsize ring[CNV_MAX_TERMS], slots[CNV_MAX_TERMS], acc[CNV_MAX_TERMS], factors[CNV_MAX_TERMS], taps[CNV_MAX_TERMS],
      sliding[CNV_MAX_TERMS];
} Demand;

static Demand
demand_of(const CpuSession *self)
{
  Demand most = {0};

  for (guint p = 0; p < self->n_plans * CNV_MAX_PLANES; p++) {
    const CpuPlane *plane = &self->plane[p];

    most.line = MAX(most.line, plane->line_length);
    most.samples = MAX(most.samples, (gsize)plane->widest);
    for (int t = 0; is_shaped(plane) && t < plane->from->n_terms; t++) {
      const CpuTerm *term = &plane->term[t];

      most.ring[t] = MAX(most.ring[t], term->slots * term->ring_stride);
      most.slots[t] = MAX(most.slots[t], (gsize)term->slots);
      most.acc[t] = MAX(most.acc[t], plane->rows * plane->acc_stride);
      most.factors[t] = MAX(most.factors[t], (gsize)plane->widest);
      if (term->run[CNV_Y].n)
        most.sliding[t] = MAX(most.sliding[t], (gsize)plane->widest);
      most.taps[t] = MAX(most.taps[t], (gsize)term->set->n[CNV_X] + 1);
    }
  }
  return most;
}

static void
place_worker(CpuWorker *worker, const Demand *most, Arena *arena)
{
  worker->line = take(arena, most->line, sizeof(float));
  worker->frame = take(arena, most->line, sizeof(float));
  worker->weight = take(arena, most->samples, sizeof(float));
  worker->owned_by_other = take(arena, most->samples, sizeof(gint32));
  worker->kept = take(arena, most->samples, 1);
  for (int t = 0; t < CNV_MAX_TERMS; t++) {
    CpuStream *stream = &worker->term[t];

    stream->ring = take(arena, most->ring[t], sizeof(float));
    stream->rows = take(arena, 2 * most->slots[t], sizeof(float *));
    stream->acc = take(arena, most->acc[t], sizeof(float));
    stream->factor = take(arena, most->factors[t], sizeof(float));
    stream->sums = take(arena, most->taps[t], sizeof(double));
    stream->sliding = take(arena, most->sliding[t], sizeof(double));
  }
}

static gsize
place(CpuSession *self, guint8 *block)
{
  Demand most = demand_of(self);
  Arena arena = {block, 0};

  for (guint p = 0; p < self->n_plans * CNV_MAX_PLANES; p++)
    if (is_shaped(&self->plane[p]))
      place_plane(&self->plane[p], &arena);
  for (guint i = 0; i < self->n_threads; i++)
    place_worker(&self->worker[i], &most, &arena);
  return arena.used;
}

static gboolean
allocate(CpuSession *self, GError **error)
{
  gsize bytes = place(self, NULL) + CNV_CPU_ALIGNMENT;

  if (bytes > self->memory_size) {
    g_free(self->memory);
    self->memory = g_try_malloc(bytes);
    self->memory_size = self->memory ? bytes : 0;
  }
  if (!self->memory) {
    g_set_error(error, CNV_ERROR, CNV_ERROR_MEMORY,
                "no memory for %" G_GSIZE_FORMAT
                " bytes of rows for %u threads: set fewer with n-threads, or a smaller "
                "radius",
                bytes, self->n_threads);
    return FALSE;
  }
  /* Rows are filtered up to a whole block: what lies beyond their samples counts for nothing but must be numbers. */
  memset(self->memory, 0, bytes);
  place(self, self->memory + (CNV_CPU_ALIGNMENT - (guintptr)self->memory % CNV_CPU_ALIGNMENT) % CNV_CPU_ALIGNMENT);
  return TRUE;
}

static void
fill_dense(CpuTerm *term, const float *taps)
{
  const CnvPlanTerm *set = term->set;
  int width = set->n[CNV_X];
  float *to = term->dense + (CNV_CPU_ROWS - 1) * width;

  for (int ky = 0; ky < set->n[CNV_Y]; ky++)
    for (int kx = 0; kx < width; kx++)
      *to++ = set->separable ? taps[set->axis[CNV_X] + kx] * taps[set->axis[CNV_Y] + ky]
                             : taps[set->dense + (gsize)ky * width + kx];
}

static void
fill_term(CpuTerm *term, const float *taps)
{
  const CnvPlanTerm *set = term->set;

  if (term->dense)
    fill_dense(term, taps);
  else
    memcpy(term->column, taps + set->axis[CNV_Y], set->n[CNV_Y] * sizeof(float));
  term->sum = set->separable;
  for (int i = 0; !set->separable && i < set->n[CNV_X] * set->n[CNV_Y]; i++)
    term->sum += taps[set->dense + i];
  for (int axis = 0; axis < CNV_N_AXES && set->separable; axis++) {
    for (int i = 0; i < set->n[axis]; i++)
      term->sums[axis][i + 1] = term->sums[axis][i] + taps[set->axis[axis] + i];
    term->sum *= term->sums[axis][set->n[axis]];
  }
}

static void
fill_plane(CpuPlane *plane)
{
  const CnvPlanPlane *from = plane->from;
  const CnvComponent *component = &from->component[0];

  plane->samples = (CnvCpuSamples){component->shift, (1 << component->bits) - 1, from->mid[0]};
  for (int t = 0; t < from->n_terms; t++)
    fill_term(&plane->term[t], plane->plan->taps);
  for (int i = 0; i < plane->widest; i++) {
    int c = i % from->channels;

    plane->gain[i] = from->gain[c];
    plane->fraction[i] = from->fraction[c];
    plane->round[i] = CNV_CPU_ROUND + from->base[c];
    plane->mid_bias[i] = from->mid_bias[c];
    if (plane->mask)
      memset(plane->mask + i * component->bytes, from->filtered >> c & 1 ? 255 : 0, component->bytes);
  }
}

static void
forget_plans(CpuSession *self)
{
  for (guint i = 0; i < self->n_plans; i++)
    cnv_plan_unref(self->plan[i]);
  self->n_plans = 0;
}

static gboolean
adopt_plans(CpuSession *self, const CnvWork *work, GError **error)
{
  for (guint i = 0; i < work->n_plans; i++)
    cnv_plan_ref(work->plan[i]);
  forget_plans(self);
  self->n_plans = work->n_plans;
  memcpy(self->plan, work->plan, work->n_plans * sizeof(CnvPlan *));
  self->plane = g_renew(CpuPlane, self->plane, self->n_plans * CNV_MAX_PLANES);
  memset(self->plane, 0, self->n_plans * CNV_MAX_PLANES * sizeof(CpuPlane));
  for (guint i = 0; i < self->n_plans; i++)
    for (int p = 0; p < self->plan[i]->n_planes; p++)
      shape_plane(&self->plane[i * CNV_MAX_PLANES + p], self->plan[i], &self->plan[i]->plane[p]);
  if (!allocate(self, error)) {
    forget_plans(self);
    return FALSE;
  }
  for (guint p = 0; p < self->n_plans * CNV_MAX_PLANES; p++)
    if (is_shaped(&self->plane[p]))
      fill_plane(&self->plane[p]);
  return TRUE;
}

/* Cutting a frame's work. */

/* An identity of samples without padding bits needs no arithmetic. */
static gboolean
is_copy(const CnvPlan *plan)
{
  return plan->requested != CNV_ALGORITHM_NAIVE && plan->image.format->depth == 8 * plan->image.format->sample_bytes &&
         cnv_plan_is_identity(plan);
}

/* Whether the jobs of a whole frame leave something of a plane of memory unwritten. */
static gboolean
is_copied(const CnvPlan *plan, int memory)
{
  gboolean written = FALSE;

  for (int p = 0; p < plan->n_planes; p++) {
    const CnvPlanPlane *plane = &plan->plane[p];

    for (int c = 0; c < plane->channels; c++) {
      if (c == plane->weight || plane->component[c].plane != memory)
        continue;
      if (!plane->plain || !plane->filtered || plane->algorithm == CNV_ALGORITHM_NAIVE)
        return TRUE;
      written = TRUE;
    }
  }
  return !written;
}

/* Cuts a job into enough tiles to keep all threads at work, yet not so low ones that filling the rings costs more
 * than running them. */
static void
cut_job(CpuSession *self, const CnvRectJob *job, const CpuPlane *plane)
{
  int threads = (int)self->n_threads, channels = plane->from->channels;
  int width = tile_samples(plane, job->width * channels) / channels;
  int columns = cnv_cpu_divide_up(job->width, width);
  int right = job->x + job->width, bottom = job->y + job->height;
  int few = cnv_cpu_divide_up(job->height * columns, threads);
  int many = cnv_cpu_divide_up(job->height * columns, threads * CNV_CPU_TILES_A_THREAD);
  int rows = CLAMP(MAX(many, MIN(few, 4 * plane->slots)), 1, job->height);

  for (int top = job->y; top < bottom; top += rows)
    for (int first = job->x; first < right; first += width) {
      CpuTile tile = {.run = plane->run,
                      .plane = plane,
                      .job = job,
                      .first = first,
                      .last = MIN(first + width, right),
                      .top = top,
                      .bottom = MIN(top + rows, bottom)};

      g_array_append_val(self->tiles, tile);
    }
}

static void
cut(CpuSession *self, const CnvWork *work)
{
  const CnvPlan *plan = work->plan[0];
  gboolean copy = work->everything && is_copy(plan);

  g_array_set_size(self->tiles, 0);
  for (int m = 0; m < cnv_format_n_frame_planes(plan->image.format); m++)
    if (copy || !work->everything || is_copied(plan, m))
      cnv_cpu_cut_copy(self, self->tiles, &plan->image, m);
  self->n_copies = self->tiles->len;
  self->base.stats.crowd = MAX(self->base.stats.crowd, cnv_rect_jobs_make(work, self->jobs, self->spots));
  for (guint i = 0; i < self->jobs->len && !copy; i++) {
    const CnvRectJob *job = &g_array_index(self->jobs, CnvRectJob, i);
    const CpuPlane *plane = &self->plane[job->plan * CNV_MAX_PLANES + job->plane];

    if (plane->from && plane->from->filtered) /* plans may differ in that; what is not filtered has been copied */
      cut_job(self, job, plane);
  }
  cnv_rect_jobs_set_of(&self->of, work);
}

/* Brings planes and tiles in line with the work. */
static gboolean
follow(CpuSession *self, const CnvWork *work, GError **error)
{
  gboolean same = self->n_plans == work->n_plans;

  for (guint i = 0; same && i < work->n_plans; i++)
    same = self->plan[i] == work->plan[i];
  if (!same && !adopt_plans(self, work, error))
    return FALSE;
  if (!same || !cnv_rect_jobs_match(&self->of, work))
    cut(self, work);
  return TRUE;
}

/* The session. */

static gboolean
cpu_submit(CnvSession *base, const CnvWork *work, const CnvFrame *in, const CnvFrame *out, GError **error)
{
  CpuSession *self = (CpuSession *)base;
  CnvSessionStats *stats = &base->stats;
  gint64 start = g_get_monotonic_time();

  if (!follow(self, work, error))
    return FALSE;
  cnv_cpu_follow_history(self, work, in);
  self->out = *out;
  cnv_cpu_run(self, self->tiles, 0, self->n_copies);
  cnv_cpu_run(self, self->tiles, self->n_copies, self->tiles->len);

  stats->frames++;
  stats->compute_us += ((double)(g_get_monotonic_time() - start) - stats->compute_us) / (double)stats->frames;
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
  forget_plans(self);
  cnv_cpu_forget_history(self);
  g_array_unref(self->keeps);
  g_array_unref(self->tiles);
  g_array_unref(self->jobs);
  cnv_rect_jobs_clear_of(&self->of);
  g_array_unref(self->spots);
  g_free(self->memory);
  g_free(self->plane);
  g_free(self->worker);
  g_free(base->device_name);
  g_free(self);
}

/* Best first. */
static const CnvCpuSimd *const simds[] = {
#ifdef __x86_64__
    &cnv_cpu_simd_avx512,
    &cnv_cpu_simd_avx2,
#endif
#ifdef __aarch64__
    &cnv_cpu_simd_neon,
#else
    &cnv_cpu_simd_plain,
#endif
};

static gboolean
machine_has(const CnvCpuSimd *simd)
{
#ifdef __x86_64__
  if (simd == &cnv_cpu_simd_avx512)
    return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
           __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("fma");
  if (simd == &cnv_cpu_simd_avx2)
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
#endif
  return TRUE;
}

/* CNV_CPU_SIMD names another than the best, for tests. */
static const CnvCpuSimd *
choose_simd(void)
{
  const char *wanted = g_getenv("CNV_CPU_SIMD");
  const CnvCpuSimd *best = NULL;

  for (gsize i = 0; i < G_N_ELEMENTS(simds); i++) {
    if (!machine_has(simds[i]))
      continue;
    if (wanted && strcmp(wanted, simds[i]->name) == 0)
      return simds[i];
    if (!best)
      best = simds[i];
  }
  return best;
}

static gboolean
start_threads(CpuSession *self, GError **error)
{
  GError *cause = NULL;

  self->team = cnv_team_new(self->n_threads, &cause);
  if (cause) {
    g_set_error(error, CNV_ERROR, CNV_ERROR_MEMORY, "cannot start %u threads: %s; set fewer with n-threads",
                self->n_threads, cause->message);
    g_error_free(cause);
    return FALSE;
  }
  return TRUE;
}

static CnvSession *
cpu_open(const CnvSessionOptions *options, GError **error)
{
  guint n_threads = options->n_threads ? options->n_threads : g_get_num_processors();
  CpuSession *self = g_new0(CpuSession, 1);

  self->base.backend = &cnv_backend_cpu;
  self->base.submit = cpu_submit;
  self->base.reserve = cnv_cpu_reserve;
  self->base.keep = cnv_cpu_keep;
  self->base.wait = cpu_wait;
  self->base.close = cpu_close;
  self->simd = choose_simd();
  self->n_threads = MIN(n_threads, THREADS_MAX);
  self->worker = g_new0(CpuWorker, self->n_threads);
  self->keeps = g_array_new(FALSE, FALSE, sizeof(CpuTile));
  self->tiles = g_array_new(FALSE, FALSE, sizeof(CpuTile));
  self->jobs = g_array_new(FALSE, FALSE, sizeof(CnvRectJob));
  self->spots = g_array_new(FALSE, FALSE, sizeof(CnvMaskRect));
  self->base.device_name =
      g_strdup_printf("CPU, %u %s, %s", self->n_threads, self->n_threads == 1 ? "thread" : "threads", self->simd->name);
  if (!start_threads(self, error)) {
    cpu_close(&self->base);
    return NULL;
  }
  return &self->base;
}

/* The engine. */

static gboolean
cpu_probe(int device, GError **error)
{
  return TRUE;
}

/* What the CPU has none of. */
static const char *
missing_for(CnvAlgorithm algorithm)
{
  switch (algorithm) {
  case CNV_ALGORITHM_TEXTURE:
    return "texture unit";
  case CNV_ALGORITHM_FUSED:
    return "launches to fuse: its row sums stay in cache anyway";
  case CNV_ALGORITHM_TENSOR:
    return "tensor cores";
  default:
    return NULL;
  }
}

static gboolean
cpu_can(CnvAlgorithm algorithm, const CnvPlan *plan, const CnvPlanPlane *plane, GError **error)
{
  const char *missing = missing_for(algorithm);

  if (missing)
    g_set_error(error, CNV_ERROR, CNV_ERROR_UNSUPPORTED, "the CPU has no %s", missing);
  return !missing;
}

static CnvAlgorithm
cpu_choose(const CnvPlan *plan, const CnvPlanPlane *plane)
{
  return cnv_plane_is_separable(plane) ? CNV_ALGORITHM_SEPARABLE : CNV_ALGORITHM_TILED;
}

/* Nothing would overlap. A test of the element has more. */
#ifndef CNV_CPU_FLIGHTS
#define CNV_CPU_FLIGHTS 1
#endif

const CnvBackend cnv_backend_cpu = {
    .name = "cpu",
    .blurb = "The processors, by vector code",
    .takes_device_memory = FALSE,
    .flights = CNV_CPU_FLIGHTS,
    .dense_taps = 0,
    .probe = cpu_probe,
    .can = cpu_can,
    .choose = cpu_choose,
    .open = cpu_open,
};
