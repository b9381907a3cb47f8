/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "cpu/cpu.h"

#include "plan/arith.h"

/* Bytes of a plane's rings: within the second-level cache, where CNV_CPU_ROWS rows of output at a time are as fast as
 * in the first, and tiles wide enough that their aprons count little. */
#define RING_BYTES (128 * 1024)
#define RUN_RING 32   /* the ring of a run down the rows may be so many times as large: few rows of it are read */
#define RUN_LEAST 16  /* taps of a run; below it multiplying each is as fast */
#define RUN_OUTSIDE 2 /* taps at most outside it, each of which is multiplied */
#define TILE_MIN 256  /* samples */
#define TILE_MAX 2048
#define PRODUCTS_ANYWAY 10  /* as long as so many products of a sample take loading and storing it */
#define PRODUCTS_SLIDING 40 /* and sums that slide */
#define PRODUCTS_NAIVE 1000 /* and one product of the reference */
#define PRODUCTS_COARSE 12  /* and few taps for wide ones */
#define COARSE_MAX 4096     /* as TILE_MAX where few taps stand for wide ones: aprons are wide, too */
#define SLIDING_REGIONS 8   /* regions up to which tiles are large enough for sums to slide */
#define SLIDING_MAX 8192    /* as TILE_MAX where sums slide: only a band of rows stays in cache */

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

/* ---- shapes ---- */

int
cnv_cpu_tile_samples(const CpuPlane *plane, int samples)
{
  int block = plane->from->channels == 3 ? 3 * CNV_CPU_BLOCK : CNV_CPU_BLOCK;

  return cnv_divide_up(cnv_divide_up(samples, cnv_divide_up(samples, plane->max_samples)), block) * block;
}

CpuTapRange
cnv_cpu_run_of(const float *taps, int n)
{
  CpuTapRange longest = {0, 0};

  for (int first = 0, end; first < n; first = end) {
    end = first + 1;
    while (end < n && taps[end] == taps[first])
      end++;
    if (end - first > longest.n)
      longest = (CpuTapRange){first, end - first};
  }
  return longest.n >= RUN_LEAST && n - longest.n <= RUN_OUTSIDE ? longest : (CpuTapRange){0, 0};
}

/* Returns how many of the ring's rows should fit into RING_BYTES. */
static int
shape_ring(CpuPlane *plane, int t)
{
  CpuTerm *term = &plane->term[t];
  const CnvTerm *from = &plane->from->term[t];

  term->from = from;
  term->slots = from->n[CNV_Y] + CNV_CPU_ROWS - 1;
  plane->slots += term->slots;
  for (int axis = 0; axis < CNV_N_AXES; axis++)
    term->taps[axis] =
        (CpuTaps){.tap = plane->plan->taps + from->taps[axis],
                  .width = from->n[CNV_X],
                  .height = from->n[CNV_Y],
                  .channels = plane->from->channels,
                  .run = plane->dense ? (CpuTapRange){0, 0}
                                      : cnv_cpu_run_of(plane->plan->taps + from->taps[axis], from->n[axis])};
  return term->taps[CNV_Y].run.n ? MAX(2 * CNV_CPU_ROWS, term->slots / RUN_RING) : term->slots;
}

static double
count_products(const CpuPlane *plane)
{
  const CnvPlane *from = plane->from;
  gboolean naive = from->algorithm == CNV_ALGORITHM_NAIVE;
  double products = PRODUCTS_ANYWAY;

  for (int t = 0; t < from->n_terms; t++) {
    const int *n = from->term[t].n;

    if (naive || plane->dense)
      products += plane->summed ? CNV_CPU_STEP_PRODUCTS * plane->term[t].n_steps
                                : (double)n[CNV_X] * n[CNV_Y] * (naive ? PRODUCTS_NAIVE : 1);
    else
      products += plane->coarse    ? PRODUCTS_COARSE
                  : plane->sliding ? PRODUCTS_SLIDING
                                   : (n[CNV_X] + n[CNV_Y]) / (plane->in_16_bits ? 2.0 : 1.0);
  }
  return products * from->channels;
}

static void
shape_rows(CpuPlane *plane)
{
  plane->acc_stride = cnv_divide_up(plane->widest, CNV_CPU_BLOCK) * CNV_CPU_BLOCK;
  for (int t = 0; t < plane->from->n_terms; t++) {
    CpuTerm *term = &plane->term[t];
    gsize apron = (term->from->n[CNV_X] - 1) * plane->from->channels;
    gsize row = plane->coarse ? plane->blended_stride : plane->acc_stride + (plane->dense ? apron : 0);

    plane->line_length = MAX(plane->line_length, plane->acc_stride + apron + CNV_CPU_SLACK);
    /* One cache line more, so that the rows of a column do not share cache sets. */
    term->ring_stride = (row + CNV_CPU_ALIGNMENT - 1) / CNV_CPU_ALIGNMENT * CNV_CPU_ALIGNMENT + CNV_CPU_ALIGNMENT +
                        CNV_CPU_ALIGNMENT / sizeof(float);
  }
}

/* Samples of the widest tile where sums slide: from one place where they begin anew to another. */
static int
widest_sliding(const CpuPlane *plane)
{
  int unit = plane->restart[CNV_X] * plane->from->channels;

  return CLAMP(SLIDING_MAX / unit, 1, cnv_divide_up(plane->from->width * plane->from->channels, unit)) * unit;
}

/* The rows of tiles of a plane with few taps for wide ones: up to a blended pixel more at either end, what their apron
 * takes, and a block that is filtered beyond. */
static void
shape_coarse(CpuPlane *plane)
{
  const CpuCoarse *x = &plane->few[CNV_X];
  int channels = plane->from->channels, blended = plane->widest / channels / x->step + 2 * x->radius + 10;

  plane->blended_stride = (gsize)cnv_divide_up(blended * channels, CNV_CPU_BLOCK) * CNV_CPU_BLOCK + CNV_CPU_BLOCK;
  plane->coarse_stride = (gsize)blended * channels * x->step + 2 * CNV_CPU_BLOCK;
  plane->small_width = plane->widest / channels;
  plane->small_rows = cnv_cpu_small_rows(&plane->few[CNV_Y], plane->from->height);
}

/* Finds whether the samples of a plane weighed by coverage are an array of one, two or three of a pixel, or three of
 * four. */
static void
find_flat(CpuPlane *plane)
{
  const CnvPlane *from = plane->from;
  const CnvComponent *first = &from->component[0];
  int n = from->channels - 1;

  plane->stored = from->channels;
  if (!from->covered || from->component[from->weight].bytes > 0 || first->bytes > 2)
    return;
  plane->stored = first->step / first->bytes;
  plane->first_stored = first->offset / first->bytes;
  plane->flat = plane->stored == n || (plane->stored == 4 && n == 3);
  for (int c = 0; c < n; c++)
    plane->flat &= from->component[c].offset == first->offset + c * first->bytes;
  plane->flat &= plane->first_stored + n <= plane->stored;
  for (int p = 0; p < plane->plan->n_planes && plane->stored == 4; p++) { /* the fourth is not to be copied back */
    const CnvPlane *other = &plane->plan->plane[p];

    plane->flat &= other == from || !other->filtered || other->component[0].plane != first->plane;
  }
  if (!plane->flat)
    plane->stored = from->channels;
}

/* Makes a flat plane a plain one, all samples of a pixel being its channels, whose samples are weighed as they are
 * loaded. A mosaic and filters over time keep the weight as a channel. */
static void
weigh_apart(CpuPlane *plane)
{
  const CnvPlane *from = plane->from;
  CnvPlane *own = &plane->own;
  int skipped = plane->first_stored;

  if (!plane->flat || from->cell[CNV_X] || plane->plan->n_temporal_taps > 1)
    return;
  *own = *from;
  own->plain = TRUE;
  own->covered = own->filtered = own->copied = 0;
  own->weight = -1;
  own->channels = plane->stored;
  for (int c = 0; c < plane->stored; c++) {
    gboolean filtered = c >= skipped && c < skipped + from->channels - 1;
    int of = filtered ? c - skipped : 0;

    *(filtered ? &own->filtered : &own->copied) |= 1u << c;
    own->component[c] = from->component[of];
    own->component[c].offset = (guint16)(from->component[0].offset + (c - skipped) * from->component[0].bytes);
    own->mid[c] = from->mid[of];
    own->full[c] = from->full[of];
    own->gain[c] = from->gain[of];
    own->fraction[c] = from->fraction[of];
    own->base[c] = from->base[of];
    own->lowest[c] = from->lowest[of];
    own->highest[c] = from->highest[of];
    own->mid_bias[c] = from->mid_bias[of];
    own->border_value[c] = from->border_value[of];
  }
  plane->from = own;
  plane->weighed = TRUE;
  plane->flat = FALSE;
  plane->first_stored = 0;
}

/* The weights of a weighed plane, as a plane of one channel. */
static void
make_weights(CpuPlane *plane)
{
  const CnvPlane *given = plane->given;
  CnvPlane *own = &plane->own;

  *own = *given;
  own->plain = FALSE;
  own->covered = 0;
  own->weight = -1;
  own->channels = own->filtered = 1;
  own->copied = 0;
  own->combine = CNV_COMBINE_SUM;
  own->component[0] = (CnvComponent){.bytes = 1, .bits = 8, .step = 1};
  own->mid[0] = 0;
  own->border_value[0] = given->border_value[given->weight];
  plane->from = own;
  plane->stored = 1;
}

static void
shape_plane(CpuPlane *plane, const CnvPlan *plan, const CnvPlane *from, gboolean slides, gboolean fixed)
{
  int samples = from->width * from->channels, near = 0;

  plane->given = from;
  plane->max_samples = samples;
  plane->plan = plan;
  plane->from = from;
  if (from->algorithm == CNV_ALGORITHM_NAIVE)
    plane->products = count_products(plane);
  if (!from->filtered || from->algorithm == CNV_ALGORITHM_NAIVE)
    return;
  plane->dense = from->algorithm == CNV_ALGORITHM_TILED;
  if (plane->of_weights) {
    make_weights(plane);
  } else {
    find_flat(plane);
    weigh_apart(plane);
    plane->weighed &= !plane->unweighed;
  }
  from = plane->from;
  samples = from->width * from->channels;
  for (int t = 0; t < from->n_terms; t++)
    near += shape_ring(plane, t);
  plane->summed = cnv_cpu_find_steps(plane);
  for (int t = 0; t < from->n_terms && plane->summed; t++)
    plane->term[t].slots++;
  plane->in_16_bits = fixed && cnv_cpu_find_fixed(plane);
  plane->coarse = slides && !plane->in_16_bits && cnv_cpu_find_coarse(plane);
  plane->sliding = slides && !plane->in_16_bits && !plane->coarse && cnv_cpu_find_cosines(plane);
  if (plane->coarse) {
    plane->term[0].slots = 2 * plane->few[CNV_Y].radius + CNV_CPU_ROWS;
    plane->slots = plane->term[0].slots * plane->few[CNV_Y].step;
  }
  if (plane->in_16_bits) {
    plane->slots = from->term[0].n[CNV_Y] - 1 + CNV_CPU_ROWS;
    plane->term[0].slots = 0;
    near = cnv_divide_up(plane->slots, sizeof(float) / sizeof(gint16));
  }
  if (!cnv_cpu_divides(plane)) /* in the frequency domain a small sum is as inexact as a large one */
    cnv_cpu_fft_shape(plane);
  if (plane->sliding) {
    plane->term[0].slots = 0;
    plane->widest = widest_sliding(plane);
  } else {
    plane->max_samples = plane->coarse ? COARSE_MAX : CLAMP(RING_BYTES / (int)sizeof(float) / near, TILE_MIN, TILE_MAX);
    plane->widest = cnv_cpu_tile_samples(plane, MIN(samples, plane->max_samples));
  }
  plane->products = count_products(plane);
  plane->widest = MAX(plane->widest, plane->fft.width);
  if (plane->coarse)
    shape_coarse(plane);
  if (plane->in_16_bits)
    cnv_cpu_fixed_shape(plane);
  shape_rows(plane);
}

/* Shapes a plane and, if it is weighed, that of its weights and the plane without weights. */
static void
shape_planes(const CpuPrepared *self, CpuPlane *plane, const CnvPlan *plan, int p)
{
  gboolean fixed = self->simd->fixed->load != NULL;

  shape_plane(plane, plan, &plan->plane[p], !self->small_tiles, fixed);
  if (!plane->weighed)
    return;
  plane[CNV_MAX_PLANES].of_weights = TRUE;
  plane[2 * CNV_MAX_PLANES].unweighed = TRUE;
  for (int i = 1; i <= 2; i++)
    shape_plane(&plane[i * CNV_MAX_PLANES], plan, &plan->plane[p], !self->small_tiles, fixed);
}

/* ---- arrays of planes ---- */

/* The taps down a column or, dense, all, with rows of zeros around them. */
static void
fill_taps(CpuPlane *plane, CpuTerm *term, Arena *arena)
{
  const CnvTerm *from = term->from;
  int width = plane->dense ? from->n[CNV_X] : 1, zeros = CNV_CPU_ROWS - 1;
  float *to = take(arena, (gsize)width * (from->n[CNV_Y] + 2 * zeros), sizeof(float));

  term->spectrum = take(arena, 2 * (gsize)plane->fft.columns * plane->fft.rows, sizeof(float));
  if (plane->summed)
    term->steps = take(arena, term->n_steps, sizeof(CpuStep));
  for (int axis = 0; axis < CNV_N_AXES && plane->sliding; axis++) {
    CpuCosines *cosines = &term->cosines[axis];
    float *start = take(arena, (gsize)(2 * cosines->radius + 1) * 2 * CNV_CPU_COSINES, sizeof(float));

    if (start)
      cnv_cpu_cosines_fill(cosines, start);
  }
  if (!to)
    return;
  if (plane->summed)
    cnv_cpu_steps_of(plane->plan, from, plane->from->channels, term->steps);
  to += zeros * width;
  term->taps[CNV_Y].tap = to;
  for (int y = 0; y < from->n[CNV_Y]; y++)
    for (int x = 0; x < width; x++)
      *to++ = plane->dense ? (float)cnv_plan_tap(plane->plan, from, x, y) : plane->plan->taps[from->taps[CNV_Y] + y];
}

static void
fill_samples(CpuPlane *plane)
{
  const CnvPlane *from = plane->from;
  const CnvComponent *component = &from->component[0];

  for (int i = 0; i < plane->widest; i++) {
    int c = i % plane->stored - (plane->flat ? plane->first_stored : 0);
    gboolean filtered = c >= 0 && from->filtered >> c & 1;

    c = CLAMP(c, 0, from->channels - 1);
    plane->samples.gain[i] = from->gain[c];
    plane->samples.fraction[i] = from->fraction[c];
    plane->samples.round[i] = CNV_CPU_ROUND + from->base[c];
    plane->mid_bias[i] = from->mid_bias[c];
    if (plane->mask)
      memset(plane->mask + i * component->bytes, filtered ? 255 : 0, component->bytes);
  }
}

static void
fill_small(CpuPlane *plane, Arena *arena)
{
  gsize rows = (gsize)plane->small_rows * cnv_divide_up(plane->from->width, plane->small_width);
  float *block = take(arena, rows * plane->term[0].ring_stride, sizeof(float));

  plane->small = take(arena, rows, sizeof(float *));
  for (gsize i = 0; i < rows && arena->block; i++)
    plane->small[i] = block + i * plane->term[0].ring_stride;
}

static void
fill_plane(CpuPlane *plane, Arena *arena)
{
  const CnvPlane *from = plane->from;
  const CnvComponent *component = &from->component[0];
  gsize n = plane->widest;

  for (int t = 0; t < from->n_terms; t++)
    fill_taps(plane, &plane->term[t], arena);
  plane->fft.table[CNV_X] = take(arena, CNV_CPU_FFT_TABLE(plane->fft.columns), sizeof(float));
  plane->fft.table[CNV_Y] = take(arena, CNV_CPU_FFT_TABLE(plane->fft.rows), sizeof(float));
  plane->samples = (CpuSamples){component->bytes, component->shift, (1 << component->bits) - 1, from->mid[0]};
  plane->samples.gain = take(arena, n, sizeof(float));
  plane->samples.fraction = take(arena, n, sizeof(float));
  plane->samples.round = take(arena, n, sizeof(float));
  plane->mid_bias = take(arena, n, sizeof(float));
  if ((from->plain && from->filtered != (1u << from->channels) - 1) || (plane->flat && plane->stored == 4))
    plane->mask = take(arena, n, component->bytes);
  if (plane->coarse)
    fill_small(plane, arena);
  if (arena->block)
    fill_samples(plane);
}

/* ---- workers ---- */

/* The memory of a plane whose sums slide. A few columns beyond the apron are read, and do not count. */
static void
lay_out_sliding(CpuWorker *worker, const CpuPlane *plane, Arena *arena)
{
  const CpuTerm *term = &plane->term[0];
  gsize channels = plane->from->channels;
  gsize columns = plane->acc_stride + (plane->restart[CNV_X] + term->from->n[CNV_X] + 2 * CNV_CPU_BAND) * channels;

  worker->enter = take(arena, CNV_CPU_BAND * CNV_CPU_CHUNK, sizeof(float));
  worker->leave = take(arena, CNV_CPU_BAND * CNV_CPU_CHUNK, sizeof(float));
  worker->down = take(arena, columns / CNV_CPU_BAND * CNV_CPU_COSINES_STATE, sizeof(float));
  worker->along = take(arena, channels * CNV_CPU_COSINES_STATE, sizeof(float));
  worker->turned = take(arena, columns * CNV_CPU_BAND, sizeof(float));
  worker->squares = take(arena, CNV_CPU_CHUNK * CNV_CPU_BAND, sizeof(float));
}

static void
lay_out_coarse(CpuWorker *worker, const CpuPlane *plane, Arena *arena)
{
  worker->enter = take(arena, CNV_CPU_BAND * CNV_CPU_CHUNK, sizeof(float));
  worker->blended = take(arena, CNV_CPU_BLENDED * plane->coarse_stride, sizeof(float));
  worker->results = take(arena, 2 * CNV_CPU_ROWS * plane->coarse_stride, sizeof(float));
  worker->turned = take(arena, plane->few[CNV_X].step * plane->blended_stride, sizeof(float));
  worker->along = take(arena, plane->blended_stride, sizeof(float));
  worker->squares = take(arena, CNV_CPU_ROWS * plane->blended_stride, sizeof(float));
}

static void
lay_out_fft(CpuWorker *worker, const CpuPlane *plane, Arena *arena)
{
  const CpuFft *fft = &plane->fft;
  gsize floats = 2 * (gsize)fft->columns * fft->rows;

  worker->tile = take(arena, floats, sizeof(float));
  worker->strip = take(arena, 2 * CNV_CPU_BAND * (gsize)fft->rows, sizeof(float));
  worker->lines = take(arena, 2 * CNV_CPU_BAND * fft->line, sizeof(float));
  worker->sums_of_terms = take(arena, plane->from->n_terms > 1 ? floats : 0, sizeof(float));
}

gsize
cnv_cpu_worker_lay_out(CpuWorker *worker, const CpuPlane *plane)
{
  Arena arena = {worker->block, 0};
  gsize samples = plane->widest;

  worker->line = take(&arena, plane->line_length, sizeof(float));
  worker->scratch = take(&arena, plane->line_length, sizeof(float));
  if (plane->flat || plane->weighed || plane->of_weights) {
    worker->bytes = take(&arena, MAX(plane->line_length, CNV_CPU_CHUNK), 1);
    worker->spread = take(&arena, MAX(plane->line_length, CNV_CPU_CHUNK), 1);
  }
  if (plane->flat) {
    gsize n = MAX(plane->line_length, CNV_CPU_CHUNK);

    worker->flat = take(&arena, n, sizeof(float));
    worker->means = take(&arena, plane->acc_stride + plane->first_stored, sizeof(float));
  }
  worker->unfiltered = take(&arena, samples, 1);
  worker->columns = take(&arena, plane->from->cell[CNV_X] ? samples : 0, sizeof(double));
  worker->cells = take(&arena, plane->from->cell[CNV_X] ? samples : 0, sizeof(double));
  for (int t = 0; t < plane->from->n_terms; t++) {
    const CpuTerm *term = &plane->term[t];
    CpuTermState *state = &worker->term[t];

    state->ring = take(&arena, term->slots * term->ring_stride, sizeof(float));
    state->rows = take(&arena, 2 * term->slots, sizeof(float *));
    state->acc = take(&arena, (plane->sliding ? CNV_CPU_BAND : CNV_CPU_ROWS) * plane->acc_stride, sizeof(float));
    state->factor = take(&arena, samples, sizeof(float));
    state->sums = take(&arena, term->from->n[CNV_X] + 1, sizeof(double));
    state->sliding = take(&arena, term->taps[CNV_Y].run.n ? samples : 0, sizeof(double));
  }
  if (plane->sliding)
    lay_out_sliding(worker, plane, &arena);
  if (plane->coarse)
    lay_out_coarse(worker, plane, &arena);
  if (plane->in_16_bits) {
    worker->shorts = take(&arena, cnv_cpu_fixed_numbers(plane), sizeof(gint16));
    worker->sources = take(&arena, plane->widest / plane->from->channels + 2 * CNV_CPU_FIXED_RADIUS, sizeof(int));
  }
  if (plane->fft.columns)
    lay_out_fft(worker, plane, &arena);
  return arena.used;
}

/* ---- all of it ---- */

/* Lays out a block, or returns how large it has to be. */
static gsize
fill(CpuPrepared *self, guint n_threads, guint8 *block)
{
  Arena arena = {block, 0};
  gsize most = 0;

  for (guint p = 0; p < self->n_plans * CNV_CPU_PLANES; p++)
    if (self->plane[p].widest > 0) {
      gsize bytes = cnv_cpu_worker_lay_out(&(CpuWorker){0}, &self->plane[p]);

      fill_plane(&self->plane[p], &arena);
      most = MAX(most, bytes);
    }
  for (guint i = 0; i < n_threads; i++)
    self->worker[i].block = take(&arena, most, 1);
  return arena.used;
}

static gboolean
allocate(CpuPrepared *self, guint n_threads, GError **error)
{
  gsize bytes = fill(self, n_threads, NULL) + CNV_CPU_ALIGNMENT;

  if (bytes > self->block_size) {
    g_free(self->block);
    self->block = g_try_malloc(bytes);
    self->block_size = self->block ? bytes : 0;
  }
  if (!self->block) {
    g_set_error(error, CNV_ERROR, CNV_ERROR_MEMORY,
                "no memory for %" G_GSIZE_FORMAT
                " bytes of rows for %u threads: set fewer with n-threads, or a smaller radius",
                bytes, n_threads);
    return FALSE;
  }
  /* Rows are filtered up to a whole block: memory beyond their samples is read, and counts for nothing. */
  memset(self->block, 0, bytes);
  fill(self, n_threads, cnv_cpu_aligned(self->block));
  return TRUE;
}

static void
forget_plans(CpuPrepared *self)
{
  for (guint i = 0; i < self->n_plans; i++)
    cnv_plan_unref(self->plan[i]);
  self->n_plans = 0;
}

/* TRUE if the work has many jobs: their tiles are too small for sliding sums. */
static gboolean
has_small_tiles(const CnvWork *work)
{
  return !work->everything && work->n_regions > SLIDING_REGIONS;
}

gboolean
cnv_cpu_is_prepared(const CpuPrepared *self, const CnvWork *work)
{
  return self->n_plans == work->n_plans && memcmp(self->plan, work->plan, work->n_plans * sizeof(CnvPlan *)) == 0 &&
         self->small_tiles == has_small_tiles(work);
}

gboolean
cnv_cpu_prepare(CpuPrepared *self, const CnvWork *work, guint n_threads, GError **error)
{
  for (guint i = 0; i < work->n_plans; i++)
    cnv_plan_ref(work->plan[i]);
  forget_plans(self);
  self->n_plans = work->n_plans;
  self->small_tiles = has_small_tiles(work);
  memcpy(self->plan, work->plan, work->n_plans * sizeof(CnvPlan *));
  g_free(self->plane);
  self->plane = g_new0(CpuPlane, self->n_plans * CNV_CPU_PLANES);
  if (!self->worker)
    self->worker = g_new0(CpuWorker, n_threads);
  for (guint i = 0; i < self->n_plans; i++)
    for (int p = 0; p < self->plan[i]->n_planes; p++)
      shape_planes(self, &self->plane[i * CNV_CPU_PLANES + p], self->plan[i], p);
  if (!allocate(self, n_threads, error)) {
    forget_plans(self);
    return FALSE;
  }
  for (guint p = 0; p < self->n_plans * CNV_CPU_PLANES; p++)
    if (self->plane[p].fft.columns) {
      cnv_cpu_worker_lay_out(&self->worker[0], &self->plane[p]);
      cnv_cpu_fft_start(&self->plane[p], &self->worker[0], self->simd);
    }
  return TRUE;
}

void
cnv_cpu_prepared_clear(CpuPrepared *self)
{
  forget_plans(self);
  g_free(self->block);
  g_free(self->plane);
  g_free(self->worker);
}
