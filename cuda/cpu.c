/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The CPU engine. A plane is cut into tiles, columns narrow enough that the rows a filter needs stay in cache as
 * float32; threads take tile after tile. Down a tile runs a ring of rows: of row-filtered ones for separable taps,
 * which then only need the column sum, of loaded ones for dense taps. Borders are resolved while a row is loaded, so
 * that the vector loops (cpu_simd.c) never meet one. All memory is allocated when the plan changes.
 */
#include "cpu_tile.h"

#define THREADS_MAX 1024
#define TILES_A_THREAD 4 /* so that a thread that is held up does not hold up the frame */

/* Bytes of a ring: within the first-level cache where the filter is low, and never narrower than a few cache lines of
 * 8-bit samples, where rings of tall filters lie in the second level. */
#define RING_BYTES (32 * 1024)
#define TILE_MIN 256 /* samples */
#define TILE_MAX 2048

#define ALIGNMENT 64 /* a cache line, and the widest vector */

/* Hands out parts of one block; without a block it only counts. */
typedef struct {
  guint8 *block;
  gsize used;
} Arena;

static void *
take(Arena *arena, gsize n, gsize size)
{
  void *part = arena->block ? arena->block + arena->used : NULL;

  arena->used += (n * size + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
  return part;
}

static int
divide_up(int a, int b)
{
  return (a + b - 1) / b;
}

static void
run_tiles(CpuSession *self, CpuWorker *worker)
{
  for (;;) {
    guint next = (guint)g_atomic_int_add(&self->next, 1);
    const CpuTile *tile;

    if (next >= self->tiles->len)
      return;
    tile = &g_array_index(self->tiles, CpuTile, next);
    tile->plane->run(self, worker, tile);
  }
}

static void
work(gpointer data, gpointer user_data)
{
  CpuSession *self = user_data;

  run_tiles(self, data);
  g_mutex_lock(&self->lock);
  if (--self->pending == 0)
    g_cond_signal(&self->done);
  g_mutex_unlock(&self->lock);
}

/* Making a plan ready. */

/* An identity of samples without padding bits needs no arithmetic. */
static gboolean
is_copy(const CnvPlan *plan, const CnvPlanePlan *plane)
{
  if (!plane->filtered)
    return TRUE;
  return plane->algorithm != CNV_ALGORITHM_NAIVE && plan->image.format->depth == 8 * plan->image.format->sample_bytes &&
         cnv_plan_is_identity(plan);
}

static gboolean
is_dense(const CnvPlanePlan *plane)
{
  return plane->algorithm == CNV_ALGORITHM_TILED;
}

/* The samples of a tile's row: near what the ring has room for, all tiles alike. */
static int
tile_samples(int samples, int channels, int slots)
{
  int block = channels == 3 ? 3 * CNV_CPU_BLOCK : CNV_CPU_BLOCK;
  int room = CLAMP(RING_BYTES / (int)sizeof(float) / slots, TILE_MIN, TILE_MAX);

  return divide_up(divide_up(samples, divide_up(samples, room)), block) * block;
}

static void
shape_plane(CpuPlane *plane, const CnvPlan *plan, const CnvPlanePlan *from)
{
  const CnvTapSet *set = &from->taps;
  int apron = (set->n[CNV_X] - 1) * from->channels, padded;

  plane->plan = from;
  plane->samples = from->width * from->channels;
  plane->tile = plane->samples;
  plane->run = is_copy(plan, from)                      ? cnv_cpu_copy_tile
               : from->algorithm == CNV_ALGORITHM_NAIVE ? cnv_cpu_naive_tile
                                                        : cnv_cpu_filter_tile;
  if (plane->run != cnv_cpu_filter_tile)
    return;
  plane->rows = is_dense(from) ? CNV_CPU_DENSE_ROWS : 1;
  plane->slots = set->n[CNV_Y] + plane->rows - 1;
  plane->tile = tile_samples(plane->samples, from->channels, plane->slots);
  padded = divide_up(plane->tile, CNV_CPU_BLOCK) * CNV_CPU_BLOCK;
  plane->acc_stride = padded;
  plane->line_length = padded + apron;
  /* One cache line more, so that the rows of a column do not share cache sets. */
  plane->ring_stride =
      (divide_up(padded + (is_dense(from) ? apron : 0), ALIGNMENT) + 1) * ALIGNMENT + ALIGNMENT / sizeof(float);
}

static void
place_plane(CpuPlane *plane, Arena *arena, int sample_bytes)
{
  const CnvPlanePlan *from = plane->plan;
  const int *n = from->taps.n;
  guint8 all = (1 << from->channels) - 1;

  if (plane->run != cnv_cpu_filter_tile)
    return;
  plane->column = take(arena, from->width + n[CNV_X] - 1, sizeof(int));
  plane->gain = take(arena, plane->samples, sizeof(float));
  plane->fraction = take(arena, plane->samples, sizeof(float));
  plane->round = take(arena, plane->samples, sizeof(float));
  plane->row_gain = take(arena, from->height, sizeof(float));
  if (is_dense(from))
    plane->dense = take(arena, (gsize)n[CNV_X] * (n[CNV_Y] + 2 * (CNV_CPU_DENSE_ROWS - 1)), sizeof(float));
  if (from->filtered != all)
    plane->mask = take(arena, plane->samples, sample_bytes);
}

/* A worker's arrays are as large as the most demanding plane asks. */
static void
place_worker(const CpuSession *self, CpuWorker *worker, Arena *arena)
{
  gsize line = 0, ring = 0, slots = 0, acc = 0, taps = 0;

  for (int p = 0; p < self->plan->image.format->n_planes; p++) {
    const CpuPlane *plane = &self->plane[p];

    line = MAX(line, plane->line_length);
    ring = MAX(ring, plane->slots * plane->ring_stride);
    slots = MAX(slots, (gsize)plane->slots);
    acc = MAX(acc, plane->rows * plane->acc_stride);
    taps = MAX(taps, (gsize)plane->plan->taps.n[CNV_X]);
  }
  worker->line = take(arena, line, sizeof(float));
  worker->ring = take(arena, ring, sizeof(float));
  worker->rows = take(arena, 2 * slots, sizeof(float *));
  worker->acc = take(arena, acc, sizeof(float));
  worker->gain = take(arena, acc, sizeof(float));
  worker->sums = take(arena, taps + 1, sizeof(double));
}

static gsize
place(CpuSession *self, guint8 *block)
{
  Arena arena = {block, 0};

  for (int p = 0; p < self->plan->image.format->n_planes; p++)
    place_plane(&self->plane[p], &arena, self->plan->image.format->sample_bytes);
  for (guint i = 0; i < self->n_threads; i++)
    place_worker(self, &self->worker[i], &arena);
  return arena.used;
}

static gboolean
allocate(CpuSession *self, GError **error)
{
  gsize bytes = place(self, NULL) + ALIGNMENT;

  self->memory = g_try_malloc0(bytes);
  if (!self->memory) {
    g_set_error(error, CNV_ERROR, CNV_ERROR_MEMORY,
                "no memory for %" G_GSIZE_FORMAT
                " bytes of rows for %u threads: set fewer with n-threads, or a smaller "
                "radius",
                bytes, self->n_threads);
    return FALSE;
  }
  place(self, self->memory + (ALIGNMENT - (guintptr)self->memory % ALIGNMENT) % ALIGNMENT);
  return TRUE;
}

static void
fill_dense(CpuPlane *plane, const CnvPlan *plan)
{
  const CnvTapSet *set = &plane->plan->taps;
  int width = set->n[CNV_X];
  float *to = plane->dense + (CNV_CPU_DENSE_ROWS - 1) * width;

  plane->dense_sum = 0;
  for (int ky = 0; ky < set->n[CNV_Y]; ky++)
    for (int kx = 0; kx < width; kx++, to++) {
      *to = set->separable ? plan->taps[set->axis[CNV_X] + kx] * plan->taps[set->axis[CNV_Y] + ky]
                           : plan->taps[set->dense + (gsize)ky * width + kx];
      plane->dense_sum += *to;
    }
}

/* What renormalize multiplies by along one axis at position at; 1 where nothing is to be done there. */
static double
axis_factor(const CnvPlan *plan, const CnvPlanePlan *plane, CnvAxis axis, int at)
{
  if (!plane->taps.separable || plan->filter.border != CNV_BORDER_RENORMALIZE)
    return 1;
  return cnv_cpu_axis_factor(plan, plane, axis, at);
}

static void
fill_output(CpuPlane *plane, const CnvPlan *plan)
{
  const CnvPlanePlan *from = plane->plan;
  gsize bytes = plan->image.format->sample_bytes;

  for (int x = 0; x < from->width; x++) {
    float gain = (float)(from->gain * axis_factor(plan, from, CNV_X, x));

    for (int c = 0; c < from->channels; c++) {
      int i = x * from->channels + c;

      plane->gain[i] = gain;
      plane->fraction[i] = from->fraction[c];
      plane->round[i] = CNV_CPU_ROUND + from->base[c];
      if (plane->mask)
        memset(plane->mask + i * bytes, from->filtered >> c & 1 ? 255 : 0, bytes);
    }
  }
  for (int y = 0; y < from->height; y++)
    plane->row_gain[y] = (float)axis_factor(plan, from, CNV_Y, y);
}

static void
fill_plane(CpuPlane *plane, const CnvPlan *plan)
{
  const CnvPlanePlan *from = plane->plan;
  const CnvTapSet *set = &from->taps;

  if (plane->run != cnv_cpu_filter_tile)
    return;
  for (int i = 0; i < from->width + set->n[CNV_X] - 1; i++)
    plane->column[i] = cnv_border_index(plan->filter.border, i - set->anchor[CNV_X], from->width);
  if (plane->dense)
    fill_dense(plane, plan);
  fill_output(plane, plan);
}

/* Cuts a plane into enough tiles to keep all threads at work, yet not so low ones that filling the ring costs more than
 * running it. */
static void
cut_plane(CpuSession *self, int index)
{
  const CpuPlane *plane = &self->plane[index];
  int height = plane->plan->height, threads = (int)self->n_threads;
  int columns = divide_up(plane->samples, plane->tile);
  int few = divide_up(height * columns, threads), many = divide_up(height * columns, threads * TILES_A_THREAD);
  int rows = CLAMP(MAX(many, MIN(few, 4 * plane->slots)), 1, height);

  for (int top = 0; top < height; top += rows)
    for (int first = 0; first < plane->samples; first += plane->tile) {
      CpuTile tile = {plane, index, first, MIN(first + plane->tile, plane->samples), top, MIN(top + rows, height)};

      g_array_append_val(self->tiles, tile);
    }
}

static void
forget_plan(CpuSession *self)
{
  g_clear_pointer(&self->plan, cnv_plan_unref);
  g_clear_pointer(&self->memory, g_free);
  g_array_set_size(self->tiles, 0);
  memset(self->plane, 0, sizeof(self->plane));
}

static gboolean
prepare(CpuSession *self, CnvPlan *plan, GError **error)
{
  const CnvFormat *format = plan->image.format;

  forget_plan(self);
  self->plan = cnv_plan_ref(plan);
  self->format = (CnvCpuSamples){format->shift, (1 << format->depth) - 1, plan->mid};
  for (int p = 0; p < format->n_planes; p++)
    shape_plane(&self->plane[p], plan, &plan->plane[p]);
  if (!allocate(self, error)) {
    forget_plan(self);
    return FALSE;
  }
  for (int p = 0; p < format->n_planes; p++) {
    fill_plane(&self->plane[p], plan);
    cut_plane(self, p);
  }
  return TRUE;
}

/* The session. */

static gboolean
cpu_submit(CnvSession *base, CnvPlan *plan, const CnvFrame *in, const CnvFrame *out, GError **error)
{
  CpuSession *self = (CpuSession *)base;
  CnvSessionStats *stats = &base->stats;
  gint64 start;

  if (plan != self->plan && !prepare(self, plan, error))
    return FALSE;
  start = g_get_monotonic_time();
  self->in = *in;
  self->out = *out;
  g_atomic_int_set(&self->next, 0);
  self->pending = MIN(self->n_threads, self->tiles->len) - 1;
  for (guint i = self->pending; i > 0; i--)
    g_thread_pool_push(self->pool, &self->worker[i], NULL);
  run_tiles(self, &self->worker[0]);
  g_mutex_lock(&self->lock);
  while (self->pending > 0)
    g_cond_wait(&self->done, &self->lock);
  g_mutex_unlock(&self->lock);

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

  if (self->pool)
    g_thread_pool_free(self->pool, FALSE, TRUE);
  forget_plan(self);
  g_array_unref(self->tiles);
  g_mutex_clear(&self->lock);
  g_cond_clear(&self->done);
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
    &cnv_cpu_simd_plain,
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

/* The calling thread is one of the threads. */
static gboolean
start_threads(CpuSession *self, GError **error)
{
  GError *cause = NULL;

  if (self->n_threads > 1)
    self->pool = g_thread_pool_new(work, self, (int)self->n_threads - 1, TRUE, &cause);
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
  self->base.wait = cpu_wait;
  self->base.close = cpu_close;
  self->simd = choose_simd();
  self->n_threads = MIN(n_threads, THREADS_MAX);
  self->worker = g_new0(CpuWorker, self->n_threads);
  self->tiles = g_array_new(FALSE, FALSE, sizeof(CpuTile));
  g_mutex_init(&self->lock);
  g_cond_init(&self->done);
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

static gboolean
cpu_can(CnvAlgorithm algorithm, const CnvPlan *plan, const CnvPlanePlan *plane, GError **error)
{
  const CnvTapSet *set = &plane->taps;

  if (algorithm != CNV_ALGORITHM_SEPARABLE || set->separable)
    return TRUE;
  g_set_error(error, CNV_ERROR, CNV_ERROR_UNSUPPORTED, "the %dx%d taps are not a row times a column", set->n[CNV_X],
              set->n[CNV_Y]);
  return FALSE;
}

static CnvAlgorithm
cpu_choose(const CnvPlan *plan, const CnvPlanePlan *plane)
{
  return plane->taps.separable ? CNV_ALGORITHM_SEPARABLE : CNV_ALGORITHM_TILED;
}

const CnvBackend cnv_backend_cpu = {
    .name = "cpu",
    .blurb = "The processors, by vector code",
    .takes_device_memory = FALSE,
    .probe = cpu_probe,
    .can = cpu_can,
    .choose = cpu_choose,
    .open = cpu_open,
};
