/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Tile jobs as the schedule makes them, without a GPU: shared memory is large enough for what a kernel indexes, tiles
 * have all samples that taps reach, and a job's numbers give the plan's levels. For wide gaussians, decimate,
 * decimate_again and interpolate together, with their words of taps and lattices, filter a row or a column like the
 * plan's taps.
 */
#include <math.h>
#include <string.h>

#include "plan/plan.h"

#include "gpu/half.h"
#include "gpu/scheduler.h"
#include "support/plan.h"
#include "support/suite.h"

#define PROCESSORS 16
#define TAPS_ERROR 0.0035 /* largest sum of the errors of an output's taps: 0.9 of 255 levels */
#define LEVEL_ERROR 0.01

/* A plan's filter and frame, and how much of the frame is filtered. */
typedef struct {
  const char *format;
  int width, height;
  CnvFilterType type;
  int radius;
  int columns, rows; /* custom: random taps */
  gboolean is_signed;
  int temporal_radius;
  double scale, bias; /* scale 0: 1 */
  double threshold;   /* over time */
  gboolean absolute;
  CnvBorder border;
  CnvAlgorithm algorithm;
  int region; /* index in regions; 0: the whole frame */
  gboolean interlaced, weighed, in_place;
} Row;

static const CnvRegion regions[] = {
    {{0}}, {{37, 21, 150, 90}, 0}, {{37, 21, 150, 90}, 0, CNV_SHAPE_ELLIPSE}, {{0, 0, 61, 40}, 0}};

#define TENSOR .algorithm = CNV_ALGORITHM_TENSOR
#define FUSED .algorithm = CNV_ALGORITHM_FUSED
static const Row rows[] = {
    {"NV12", 640, 360, CNV_FILTER_GAUSSIAN, 8, TENSOR},
    {"NV12", 640, 360, CNV_FILTER_GAUSSIAN, 16, TENSOR, .border = CNV_BORDER_REFLECT},
    {"NV12", 641, 359, CNV_FILTER_GAUSSIAN, 30, TENSOR, .region = 1},
    {"GRAY8", 400, 301, CNV_FILTER_GAUSSIAN, 60, TENSOR, .interlaced = TRUE},
    {"RGBA", 320, 200, CNV_FILTER_GAUSSIAN, 8, TENSOR, .border = CNV_BORDER_WRAP},
    {"RGBA", 320, 200, CNV_FILTER_GAUSSIAN, 20, TENSOR, .region = 2},
    {"P010_10LE", 320, 200, CNV_FILTER_GAUSSIAN, 12, TENSOR, .border = CNV_BORDER_RENORMALIZE},
    {"GRAY8", 320, 200, CNV_FILTER_CUSTOM, -1, 9, 1, TRUE, TENSOR},
    {"GRAY8", 320, 200, CNV_FILTER_CUSTOM, -1, 60, 1, TRUE, TENSOR},
    {"GRAY8", 320, 200, CNV_FILTER_CUSTOM, -1, 3, 3, TENSOR, .border = CNV_BORDER_CONSTANT},
    {"GRAY8", 320, 200, CNV_FILTER_CUSTOM, -1, 5, 6, TRUE, TENSOR, .region = 3},
    {"RGB", 320, 200, CNV_FILTER_CUSTOM, -1, 9, 17, TENSOR},
    {"GRAY8", 320, 200, CNV_FILTER_CUSTOM, -1, 41, 60, TENSOR},
    {"P010_10LE", 320, 200, CNV_FILTER_CUSTOM, -1, 7, 7, TENSOR, .region = 2},
    {"NV12", 640, 360, CNV_FILTER_GAUSSIAN, 4, TENSOR, .region = 2, .weighed = TRUE},
    {"NV12", 640, 360, CNV_FILTER_GAUSSIAN, 28, TENSOR, .region = 2, .weighed = TRUE},
    {"NV12", 640, 360, CNV_FILTER_GAUSSIAN, 48, TENSOR, .region = 2, .weighed = TRUE},
    {"GRAY8", 320, 200, CNV_FILTER_SOBEL, 1, TENSOR},
    {"P010_10LE", 320, 200, CNV_FILTER_SOBEL, 3, TENSOR},
    {"NV12", 320, 200, CNV_FILTER_UNSHARP, 8, TENSOR},
    {"NV12", 320, 200, CNV_FILTER_GAUSSIAN, 5, .temporal_radius = 1, TENSOR},
    {"NV12", 320, 200, CNV_FILTER_GAUSSIAN, 2, .temporal_radius = 2, TENSOR},
    {"P010_10LE", 320, 200, CNV_FILTER_GAUSSIAN, 9, .temporal_radius = 3, TENSOR},
    {"GRAY8", 320, 200, CNV_FILTER_CUSTOM, -1, 3, 3, .temporal_radius = 1, TENSOR},
    {"NV12", 320, 200, CNV_FILTER_IDENTITY, 0, .temporal_radius = 2, TENSOR},
    {"GRAY8", 320, 200, CNV_FILTER_IDENTITY, 0, .temporal_radius = 1, .threshold = 0.1, TENSOR},
    {"NV12", 320, 200, CNV_FILTER_IDENTITY, 0, .temporal_radius = 3, .threshold = -1, TENSOR,
     .border = CNV_BORDER_WRAP},
    {"RGB", 320, 200, CNV_FILTER_IDENTITY, 0, .temporal_radius = 15, .threshold = 1, TENSOR, .interlaced = TRUE},
    {"RGBA", 321, 200, CNV_FILTER_IDENTITY, 0, .temporal_radius = 2, .threshold = 0.5, TENSOR, .region = 1},
    {"P010_10LE", 320, 200, CNV_FILTER_IDENTITY, 0, .temporal_radius = 1, .threshold = 0.1, TENSOR},
    {"GRAY16_LE", 320, 200, CNV_FILTER_IDENTITY, 0, .scale = 1.5, .bias = -0.1, TENSOR},
    {"P010_10LE", 320, 200, CNV_FILTER_IDENTITY, 0, .scale = -0.5, .bias = 0.2, .absolute = TRUE, TENSOR},
    {"GRAY8", 320, 200, CNV_FILTER_GAUSSIAN, 4, .scale = 2, .bias = -0.5, TENSOR},
    {"NV12", 320, 200, CNV_FILTER_GAUSSIAN, 8, FUSED, .region = 1},
    {"GRAY8", 320, 200, CNV_FILTER_BOX, 1, FUSED},
    {"RGB", 321, 199, CNV_FILTER_GAUSSIAN, 30, FUSED},
    {"GRAY16_LE", 320, 200, CNV_FILTER_GAUSSIAN, 32, FUSED},
    {"GRAY8", 320, 200, CNV_FILTER_BOX, 2, .temporal_radius = 2, FUSED},
    {"GRAY8", 960, 540, CNV_FILTER_GAUSSIAN, 44, TENSOR},
    {"GRAY8", 960, 540, CNV_FILTER_GAUSSIAN, 64, TENSOR, .border = CNV_BORDER_REFLECT, .region = 1},
    {"GRAY8", 960, 540, CNV_FILTER_GAUSSIAN, 50, TENSOR, .region = 1, .in_place = TRUE},
    {"RGBA", 1500, 1100, CNV_FILTER_GAUSSIAN, 150, TENSOR, .region = 1, .in_place = TRUE},
    {"NV12", 1280, 720, CNV_FILTER_GAUSSIAN, 90, TENSOR, .border = CNV_BORDER_CONSTANT},
    {"GRAY8", 1500, 1100, CNV_FILTER_GAUSSIAN, 180, TENSOR, .border = CNV_BORDER_REFLECT_101, .region = 2},
    {"RGBA", 1500, 1100, CNV_FILTER_GAUSSIAN, 128, TENSOR, .border = CNV_BORDER_WRAP},
    {"RGB", 640, 480, CNV_FILTER_GAUSSIAN, 48, TENSOR, .scale = 1.5},
    {"P010_10LE", 1280, 1000, CNV_FILTER_GAUSSIAN, 128, TENSOR, .region = 3},
};

static guint n_decimated; /* jobs whose taps were compared */

static guint32
next_random(guint32 *state)
{
  return *state = *state * 1664525u + 1013904223u;
}

static CnvPlan *
plan_of(const Row *row)
{
  const CnvImage image = {cnv_format_find(row->format), row->width, row->height, 0.2126, 0.0722, FALSE};
  double taps[41 * 60];
  guint32 state = 5;
  CnvFilter filter;
  CnvPlan *plan;

  test_filter_init(&filter);
  filter.type = row->type;
  filter.radius = row->radius;
  filter.temporal_radius = row->temporal_radius;
  filter.scale = row->scale != 0 ? row->scale : 1;
  filter.bias = row->bias;
  filter.absolute = row->absolute;
  filter.temporal_threshold = row->threshold;
  filter.border = row->border ? row->border : CNV_BORDER_REPLICATE;
  for (int i = 0; i < row->columns * row->rows; i++)
    taps[i] = (next_random(&state) >> 8) % 1000 / 999.0 + 0.001 - (row->is_signed ? 0.4 : 0);
  if (row->columns)
    filter.kernel = cnv_taps_new(row->columns, row->rows, taps);
  plan = cnv_plan_new(&filter, &image, CNV_ALGORITHM_AUTO, cnv_backend_find("cpu"), NULL);
  ck_assert(plan != NULL);
  cnv_filter_clear(&filter);
  return plan;
}

/* Gives the planes of a plan for the CPU an algorithm of the GPU. */
static void
set_algorithm(CnvPlan *plan, CnvAlgorithm algorithm)
{
  plan->requested = algorithm;
  for (int p = 0; p < plan->n_planes; p++)
    if (plan->plane[p].filtered)
      plan->plane[p].algorithm = algorithm;
}

/* The job to check. */
typedef struct {
  guint row;
  const CnvSchedule *schedule;
  const CnvLaunch *launch;
  const CnvTileJob *job;
  const CnvPlaneKernel *plane_kernel;
  const CnvVariant *variant;
} Subject;

#define CHECK(s, what) ck_assert_msg(what, "row %u, %s: " #what, (s)->row, (s)->variant->name)

static const CnvPlane *
plane_of(const Subject *s)
{
  return s->plane_kernel->plane;
}

/* ---- shared memory, and what tiles hold ---- */

/* Reach of the kernel's products: rows above and below a tile's outputs, and samples to each side. */
typedef struct {
  int above, below, lead;
} Reached;

static Reached
reached_by(const Subject *s)
{
  const CnvVariant *v = s->variant;
  const CnvTileJob *j = s->job;
  int n_rows = v->kept_rows ? v->kept_rows : j->term.n[CNV_Y];

  if (s->launch->kernel == CNV_KERNEL_FUSED)
    return (Reached){j->term.anchor[CNV_Y], 8 * CNV_FUSED_GROUPS(n_rows) - j->term.anchor[CNV_Y], j->lead};
  if (s->launch->kernel == CNV_KERNEL_DENSE)
    return (Reached){j->term.anchor[CNV_Y], MAX(n_rows, 1) - 1 - j->term.anchor[CNV_Y],
                     CNV_DENSE_LEAD(v->bytes, v->k_x)};
  if (s->launch->kernel == CNV_KERNEL_AVERAGE)
    return v->bytes > 1 ? (Reached){0} : (Reached){1, 1, CNV_AVERAGE_SAMPLES};
  if (s->launch->kernel == CNV_KERNEL_BLUR)
    return (Reached){j->top, j->top, CNV_BLUR_LEAD(v->k_x) * (v->pixels ? 4 : 1)};
  return (Reached){0, 0, 0};
}

/* Checks that the plane's taps reach no farther than the kernel's products. */
static void
check_reach(const Subject *s)
{
  const CnvPlane *plane = plane_of(s);
  Reached r = reached_by(s);
  int above = s->variant->ring ? CNV_BLUR_LEAD(s->job->steps_y) : r.above;
  int below = s->variant->ring ? above : r.below;

  if (plane->gain[0] == 0 || s->plane_kernel->plan->is_weighed)
    return;
  for (int t = 0; t < plane->n_terms; t++) {
    const CnvTerm *term = &plane->term[t];

    CHECK(s, term->anchor[CNV_Y] <= above && term->n[CNV_Y] - 1 - term->anchor[CNV_Y] <= below);
    CHECK(s, MAX(term->anchor[CNV_X], term->n[CNV_X] - 1 - term->anchor[CNV_X]) * plane->channels <= r.lead);
  }
}

static void
check_shared(const Subject *s)
{
  const CnvVariant *v = s->variant;
  const CnvTileJob *j = s->job;
  Reached r = reached_by(s);
  int frames = MAX(s->schedule->sources.n, 1), taken = v->ring ? 16 * v->ring : j->rows + r.above + r.below;
  int unit = s->launch->kernel == CNV_KERNEL_BLUR && !v->pixels ? 16 * v->bytes : 16,
      pitch = CNV_FUSED_LOADED * v->bytes, needed;

  if (s->launch->kernel == CNV_KERNEL_AVERAGE)
    pitch = CNV_AVERAGE_PITCH;
  else if (v->pairs)
    pitch = CNV_DENSE_PITCH_OVER_TIME;
  else if (v->width)
    pitch = CNV_TILE_PITCH(unit, v->width * v->bytes, r.lead * v->bytes);
  needed = (frames + (v->weighed ? 1 : 0)) * CNV_TILE_BYTES(pitch, j->box_rows) + j->rows * v->width * v->bytes;
  if (v->ring)
    needed = cnv_ring_bytes(v->bytes, pitch, v->k_x, j->steps_y, v->ring, v->digits);
  CHECK(s, v->pitch == pitch);
  CHECK(s, j->box_rows >= taken && (!v->ring || j->box_rows == taken) && j->box_rows <= CNV_TILE_MAP_ROWS);
  CHECK(s, (int)s->launch->shared_bytes >= needed);
  CHECK(s, s->launch->shared_bytes <= cnv_kernel_kind(s->launch->kernel)->shared_max);
  CHECK(s, j->rows % 16 == 0 && j->origin % 16 == 0 && j->bands % 4 == 0);
  CHECK(s, v->frames == 0 || v->frames == MIN(frames, 2));
  CHECK(s, !v->pairs || frames <= 2 * v->pairs);
}

/* Returns TRUE if copied_bits, a mask of four samples, has the bits of exactly one of them. */
static gboolean
copies_one_sample(int bytes, const guint32 *copied_bits)
{
  guint64 all = bytes == 1 ? copied_bits[0] : (guint64)copied_bits[1] << 32 | copied_bits[0],
          sample = bytes == 1 ? 0xff : 0xffff;

  for (int i = 0; i < 4; i++)
    if (all == sample << (8 * bytes * i))
      return TRUE;
  return FALSE;
}

static void
check_blur(const Subject *s)
{
  const CnvVariant *v = s->variant;
  const CnvTileJob *j = s->job;

  CHECK(s,
        v->ring ? j->steps_y >= 2 && j->steps_y <= CNV_RING_STEPS && j->rows <= CNV_RING_ROWS : j->steps_y == v->k_y);
  CHECK(s, v->ring || (j->top <= CNV_BLUR_LEAD(v->k_y) && (v->frames > 1 || j->top == CNV_BLUR_LEAD(v->k_y))));
  for (int i = 0; i < 4; i++)
    CHECK(s, j->first_sum[i] == j->first_sum[0] && j->first_level[i] == (v->deep           ? j->first_level[0]
                                                                         : j->renormalizes ? 0
                                                                                           : j->offset));
  CHECK(s, !v->deep == (plane_of(s)->full[0] <= 1023));
  if (v->deep)
    CHECK(s, v->digits == 2 && !j->clamps && !j->renormalizes && j->center == 0);
  if (v->pixels) {
    CHECK(s, j->channels == 4 && !j->clamps && !j->renormalizes && j->center == 0);
    CHECK(s, copies_one_sample(v->bytes, j->copied_bits));
  }
}

static void
check_fused(const Subject *s)
{
  const CnvTileJob *j = s->job;

  CHECK(s, j->lead * s->variant->bytes % 16 == 0 && s->variant->pitch / s->variant->bytes - 2 * j->lead > 0);
  CHECK(s, MAX(j->term.n[CNV_X], j->term.n[CNV_Y]) <= CNV_FUSED_MAX_TAPS && j->rows <= CNV_FUSED_TILE_ROWS);
  CHECK(s, memcmp(&j->term, &g_array_index(s->schedule->planes, CnvPlane, s->job->job.plane).term[0],
                  sizeof(j->term)) == 0);
  for (int c = 0; c < j->channels; c++)
    if (j->filtered >> c & 1)
      CHECK(s, j->gain == plane_of(s)->gain[c] && j->fraction == plane_of(s)->fraction[c] &&
                   j->mid_bias == plane_of(s)->mid_bias[c]);
}

/* Checks the levels of flat frames, computed with the job's numbers for one_tap. */
static void
check_one_tap(const Subject *s)
{
  const CnvPlane *plane = plane_of(s);
  const CnvTileJob *j = s->job;
  const float *weight = s->schedule->sources.n ? s->schedule->sources.weight : s->plane_kernel->plan->weight;
  double tap = cnv_plan_tap(s->plane_kernel->plan, &plane->term[0], 0, 0), sum = 0;

  for (int i = 0; i < s->plane_kernel->plan->n_temporal_taps; i++)
    sum += (double)weight[i];
  CHECK(s, !j->renormalizes);
  for (int i = 0; i <= 2; i++) {
    double value = rint(plane->full[0] * i / 2), x = value - plane->mid[0], acc = tap * sum * x, got;

    got = ldexp(value, j->shift) * (double)j->center * sum + (double)j->bias[0];
    if (plane->combine == CNV_COMBINE_ABSOLUTE) {
      acc = fabs(acc + (double)plane->mid_bias[0]);
      got = fabs(got);
    }
    got = got * (double)j->gain + (double)j->offset;
    acc = (double)plane->gain[0] * acc + (double)plane->fraction[0] + plane->base[0];
    ck_assert_msg(fabs(got - acc) < LEVEL_ERROR * plane->full[0] / 255, "row %u: a frame of %g becomes %g, not %g",
                  s->row, value, got, acc);
  }
}

/* Bytes of a tile of average, of one segment of 16 bytes with the words beside it. */
typedef guint8 Nearby[6][4 + 16 + 4];

/* Sixteen bytes of operand A: of the segment in a row, or of the words beside it in that row and the next. */
typedef struct {
  int row;
  gboolean beside;
} Half;

static int
nearby_byte(const Nearby bytes, Half half, int k)
{
  int lane = k / 4;

  return half.beside ? bytes[half.row + lane / 2][(lane % 2 ? 20 : 0) + k % 4] : bytes[half.row][4 + k];
}

/* Returns the product of sixteen bytes with word `nth` of the lanes' operands, for one of eight columns. */
static int
nearby_product(const guint32 *words, int nth, int column, const Nearby bytes, Half half)
{
  int sum = 0;

  for (int k = 0; k < 16; k++)
    sum += (int)(gint8)(words[(column * 4 + k / 4) * 4 + nth] >> (k % 4 * 8)) * nearby_byte(bytes, half, k);
  return sum;
}

/* Checks that the operands of average's products sum up the 3x3 samples around each sample of a segment. */
static void
check_nearby(const Subject *s)
{
  const guint32 *all = &g_array_index(s->schedule->words, guint32, s->job->bands);
  int C = s->job->channels;
  guint32 state = s->row;
  Nearby bytes;

  for (gsize i = 0; i < sizeof(bytes); i++)
    bytes[i / 24][i % 24] = (guint8)(next_random(&state) >> 24);
  for (int i = 0; i < 4 * 16; i++) {
    int y = i / 16, x = i % 16, column = x / 4 * 2 + x % 2, expected = 0, sum = 0;
    /* gpu/average.c: words of `rows` and `first`, then of `both` and `second`. average_bytes.cuh: add_nearby. */
    const guint32 *words = all + x % 4 / 2 * 256 + y % 2 * 128, *both = all + x % 4 / 2 * 256 + 128;
    const Half even[] = {{y, FALSE}, {y + 1, FALSE}, {y + 2, FALSE}, {y + 2, TRUE}};
    const Half odd[] = {{y + 1, FALSE}, {y + 1, TRUE}, {y + 2, FALSE}, {y - 1, TRUE}};

    for (int k = 0; k < 9; k++)
      expected += bytes[y + k / 3][4 + x + (k % 3 - 1) * C];
    for (int k = 0; k < 4; k++)
      sum += nearby_product(words, k, column, bytes, y % 2 ? odd[k] : even[k]);
    sum += nearby_product(both, y % 2 ? 0 : 1, column, bytes, (Half){y, y % 2 == 0});
    ck_assert_msg(sum == expected, "row %u: the samples near %d, %d sum up to %d, not %d", s->row, x, y, expected, sum);
  }
}

/* Checks that levels are clamped if they may be below 0 or above full. */
static void
check_clamps(const Subject *s)
{
  const CnvPlane *plane = plane_of(s);
  double low = 0, high = 0, at[2];

  if (plane->combine != CNV_COMBINE_SUM || s->plane_kernel->plan->is_weighed)
    return;
  for (int t = 0; t < plane->n_terms; t++)
    for (int y = 0; y < plane->term[t].n[CNV_Y]; y++)
      for (int x = 0; x < plane->term[t].n[CNV_X]; x++) {
        double tap = cnv_plan_tap(s->plane_kernel->plan, &plane->term[t], x, y) *
                     s->plane_kernel->plan->temporal_magnitude * plane->gain[0];

        low += tap < 0 ? tap * (plane->full[0] - plane->mid[0]) : tap * -plane->mid[0];
        high += tap < 0 ? tap * -plane->mid[0] : tap * (plane->full[0] - plane->mid[0]);
      }
  at[0] = low + plane->fraction[0] + plane->base[0];
  at[1] = high + plane->fraction[0] + plane->base[0];
  CHECK(s, s->job->clamps || (at[0] >= -0.25 && at[1] < plane->full[0] + 0.5));
}

/* ---- wide gaussians ---- */

static int
size_of(const CnvLattice *lattice, int axis)
{
  return lattice->last[axis] - lattice->first[axis] + 1;
}

static void
check_lattice(const Subject *s, const CnvLattice *lattice)
{
  CHECK(s, lattice->pitch % 8 == 0 && lattice->at % 8 == 0);
  CHECK(s, lattice->plane == lattice->pitch * size_of(lattice, CNV_Y));
  CHECK(s, lattice->pitch >= CNV_DECIMATED_MARGIN + size_of(lattice, CNV_X) + CNV_DECIMATED_BEYOND);
}

static void
check_decimate(const Subject *s)
{
  const CnvTileJob *j = s->job;
  const CnvDecimation *d = &j->decimation;
  int bytes = s->variant->bytes, step_x = 1 << d->to.shift[CNV_X], step_y = 1 << d->to.shift[CNV_Y];
  int unit = CNV_DECIMATE_UNIT(bytes) * CNV_DECIMATE_STEPS_X(bytes, step_x);
  int bands = CNV_DECIMATE_STEPS_X(bytes, step_x) * 512 + CNV_DECIMATE_STEPS_Y(step_y) * 256;
  int sums = CNV_TILE_WARPS / d->groups * j->channels * CNV_DECIMATE_ROWS * (16 * d->groups + 4) * 4;

  CHECK(s, j->channels <= s->variant->channels && d->pitch % 16 == 0 && d->anchor % 16 == 0);
  CHECK(s, d->pitch >= (step_x * 16 * (d->groups - 1) + unit) * j->channels * bytes);
  CHECK(s, d->bands_begin >= d->pitch * ((j->box_rows + 15) / 16 * 16));
  CHECK(s, j->box_rows >= j->rows + 2 * step_y - 2 && j->rows <= CNV_DECIMATE_ROWS * step_y);
  CHECK(s, (int)s->launch->shared_bytes >= MAX(d->bands_begin + bands, sums));
}

static void
check_interpolate(const Subject *s)
{
  const CnvTileJob *j = s->job;
  const CnvDecimation *d = &j->decimation;
  int bytes = s->variant->bytes, shift_x = d->from.shift[CNV_X];
  int places = CNV_INTERPOLATE_PLACES_X(shift_x) + cnv_interpolate_places(d->from.shift[CNV_Y], j->rows);
  int needed =
      CNV_INTERPOLATE_WIDTH(j->channels) * bytes * j->rows + places * CNV_INTERPOLATE_WINDOW(bytes) / 16 * bytes * 512 +
      j->channels * bytes * cnv_interpolate_rows(d, j->rows) * cnv_interpolate_pitch(j->channels, bytes, shift_x) * 2;

  CHECK(s, j->channels <= s->variant->channels && s->variant->width == CNV_INTERPOLATE_WIDTH(j->channels));
  CHECK(s, !j->renormalizes && j->center == 0 && j->origin == d->anchor * j->channels);
  CHECK(s, j->rows % 16 == 0 && j->rows <= CNV_INTERPOLATE_MORE_ROWS);
  CHECK(s, (int)s->launch->shared_bytes >= needed);
  for (int i = 0; i < 4; i++)
    CHECK(s, j->first_level[i] == j->offset);
}

/* Returns element (m, k) of a fragment of f16: operand A of mma.m16n8k16, of which each lane has four words. */
static double
a_at(const guint32 *words, int m, int k)
{
  return cnv_from_half((guint16)(words[(m % 8 * 4 + k % 8 / 2) * 4 + m / 8 + k / 8 * 2] >> (k % 2 * 16)));
}

/* Return a tap of decimate on pixel or row `at` of the window: along_x for sample m of 16 of a row, along_y for sample
 * m of 8 of a column. */
static double
along_x(const guint32 *words, int bytes, int m, int at)
{
  int unit = CNV_DECIMATE_UNIT(bytes), per_word = 4 / bytes;
  int lane = m % 8 * 4 + at % unit / (2 * per_word), part = at / per_word % 2, j = at % per_word;
  guint32 word = words[at / unit * 128 + lane * 4 + m / 8 + 2 * part];

  return bytes == 1 ? word >> (8 * j) & 0xff : cnv_from_half((guint16)(word >> (16 * j)));
}

static double
along_y(const guint32 *words, int m, int at)
{
  int k = at % 16;

  return cnv_from_half((guint16)(words[at / 16 * 64 + (m * 4 + k % 8 / 2) * 2 + k / 8] >> (k % 2 * 16)));
}

/* An axis of a job of interpolate, with the jobs of the launches before it. again: may be NULL. */
typedef struct {
  const Subject *subject;
  const CnvTileJob *decimate, *again;
  int axis, size; /* of the window */
  double *folded; /* by pixel of the window */
} Axis;

static const guint32 *
words_of(const Subject *s, const CnvTileJob *job)
{
  return &g_array_index(s->schedule->words, guint32, job->bands);
}

/* Converts pixels counted from the job's anchor, or rows counted from its first, to those of the window. */
static int
window_at(const Axis *a, int pixel)
{
  const CnvJob *job = &a->subject->job->job;

  return a->axis == CNV_X ? a->subject->job->decimation.anchor + pixel - job->window_x : job->y + pixel - job->window_y;
}

static void
fold(const Axis *a, int pixel, double tap)
{
  int at = cnv_border_index((CnvBorder)a->subject->job->border, window_at(a, pixel), a->size);

  if (at >= 0)
    a->folded[at] += tap;
}

/* Returns the nearest sample of the lattice. If it is another one, checks that it reads only samples outside the
 * window, on that side: these are all equal. */
static int
find_sample(const Axis *a, const CnvLattice *lattice, int sample)
{
  int found = CLAMP(sample, lattice->first[a->axis], lattice->last[a->axis]), step = 1 << lattice->shift[a->axis];

  if (found > sample)
    CHECK(a->subject, window_at(a, step * found + 2 * step - 2) < 0);
  else if (found < sample)
    CHECK(a->subject, window_at(a, step * found - step + 1) >= a->size);
  return found;
}

/* Adds the taps of a sample that decimate makes, times `times`. */
static void
add_first(const Axis *a, int sample, double times)
{
  const CnvTileJob *j = a->decimate;
  const CnvLattice *to = &j->decimation.to;
  const guint32 *words = words_of(a->subject, j);
  int axis = a->axis, bytes = a->subject->variant->bytes, step = 1 << to->shift[axis], m, n, first;

  sample = find_sample(a, to, sample) - to->first[axis];
  m = sample % (axis == CNV_X ? 16 : 8);
  first = (sample - m + to->first[axis]) * step - (axis == CNV_X ? CNV_DECIMATE_APRON : step - 1);
  n = axis == CNV_X ? CNV_DECIMATE_STEPS_X(bytes, step) * CNV_DECIMATE_UNIT(bytes) : CNV_DECIMATE_STEPS_Y(step) * 16;
  for (int i = 0; i < n; i++)
    fold(a, first + i,
         times * (axis == CNV_X ? along_x(words, bytes, m, i) / pow(step, 3)
                                : along_y(words + CNV_DECIMATE_STEPS_X(bytes, 1 << to->shift[CNV_X]) * 128, m, i)));
}

/* Adds the taps of a sample that interpolate reads, times `times`. */
static void
add_sample(const Axis *a, int sample, double times)
{
  const CnvLattice *from, *to;
  int axis = a->axis, n_x, by, n;
  const float *taps;

  if (!a->again) {
    add_first(a, sample, times);
    return;
  }
  from = &a->again->decimation.from;
  to = &a->again->decimation.to;
  n_x = 3 * (1 << (to->shift[CNV_X] - from->shift[CNV_X])) - 2;
  by = 1 << (to->shift[axis] - from->shift[axis]);
  n = 3 * by - 2;
  taps = (const float *)words_of(a->subject, a->again) + (axis == CNV_X ? 0 : n_x);
  sample = find_sample(a, to, sample);
  for (int i = 0; i < n; i++)
    add_first(a, sample * by - by + 1 + i, times * (double)taps[i]);
}

/* Adds the effective taps of an output: the pixel counted from the anchor, or the row from the first. Returns the sum
 * of interpolate's taps. */
static double
add_output(const Axis *a, int output)
{
  const CnvTileJob *j = a->subject->job;
  const CnvDecimation *d = &j->decimation;
  const guint32 *words = words_of(a->subject, j);
  int bytes = a->subject->variant->bytes, steps = CNV_INTERPOLATE_WINDOW(bytes) / 16, shift = d->from.shift[a->axis];
  int fragment = steps * bytes * 128, m, first;
  double sum = 0;

  if (a->axis == CNV_Y) {
    int top = output / j->rows * j->rows, block = (output - top) / 16, places = cnv_interpolate_places(shift, j->rows);

    words += block % places * fragment;
    m = output % 16;
    first = (top >> shift) + d->lead[CNV_Y] + block / places * 8;
  } else {
    int across = CNV_INTERPOLATE_PIXELS(j->channels), left = output / across * across, group = (output - left) / 16;
    int places = CNV_INTERPOLATE_PLACES_X(shift), at = (left >> shift) + d->lead[CNV_X] - d->from.first[CNV_X];

    /* The margin of rows is even, so it does not affect where a window begins. */
    words += CNV_INTERPOLATE_PLACES_Y(d->from.shift[CNV_Y]) * fragment;
    words += ((at & 1) * places + (group & (places - 1))) * fragment;
    m = output % 16 / 4 * 2 + output % 2 + output % 4 / 2 * 8;
    first = (at & ~1) + ((16 * group) >> shift & ~1) + d->from.first[CNV_X];
  }
  for (int k = 0; k < CNV_INTERPOLATE_WINDOW(bytes); k++) {
    double tap = 0;

    for (int part = 0; part < bytes; part++)
      tap += a_at(words + (part * steps + k / 16) * 128, m, k % 16);
    sum += tap;
    if (tap != 0)
      add_sample(a, first + k, tap);
  }
  return sum;
}

/* Compares the effective taps of an output, on samples of the window, with the plan's. */
static void
check_output(const Axis *a, int output)
{
  const CnvPlane *plane = plane_of(a->subject);
  const CnvTerm *term = &plane->term[0];
  const float *taps = a->subject->plane_kernel->plan->taps + term->taps[a->axis];
  double sum, of_plan = 0, error = 0;

  memset(a->folded, 0, (gsize)a->size * sizeof(double));
  sum = add_output(a, output);
  for (int i = 0; i < term->n[a->axis]; i++)
    of_plan += (double)taps[i];
  for (int i = 0; i < term->n[a->axis]; i++)
    fold(a, output + i - term->anchor[a->axis], -sum * (double)taps[i] / of_plan);
  for (int i = 0; i < a->size; i++)
    error += fabs(a->folded[i]);
  ck_assert_msg(error < TAPS_ERROR * fabs(sum), "row %u, %s: axis %d, output %d: taps are %g away of %g",
                a->subject->row, a->subject->variant->name, a->axis, output, error, sum);
}

/* Returns the job of a kernel for the same pixels, or NULL. */
static const CnvTileJob *
find_job(const Subject *s, CnvKernelId kernel)
{
  for (guint i = 0; i < s->schedule->launches->len; i++) {
    const CnvLaunch *l = &g_array_index(s->schedule->launches, CnvLaunch, i);

    for (guint k = l->first; l->kernel == kernel && k < l->first + l->n; k++) {
      const CnvTileJob *job = &g_array_index(s->schedule->tile_jobs, CnvTileJob, k);

      if (memcmp(&job->job, &s->job->job, sizeof(job->job)) == 0)
        return job;
    }
  }
  return NULL;
}

static void
check_outputs(const Subject *s)
{
  const CnvJob *job = &s->job->job;
  Axis a = {
      .subject = s, .decimate = find_job(s, CNV_KERNEL_DECIMATE), .again = find_job(s, CNV_KERNEL_DECIMATE_AGAIN)};
  int first[] = {job->x - s->job->decimation.anchor, 0}, n[] = {job->width, job->height};
  int size[] = {job->window_width, job->window_height};

  CHECK(s, a.decimate != NULL);
  check_lattice(s, &a.decimate->decimation.to);
  check_lattice(s, &s->job->decimation.from);
  CHECK(s, memcmp(&s->job->decimation.from, a.again ? &a.again->decimation.to : &a.decimate->decimation.to,
                  sizeof(CnvLattice)) == 0);
  CHECK(s, !a.again || memcmp(&a.again->decimation.from, &a.decimate->decimation.to, sizeof(CnvLattice)) == 0);
  for (a.axis = 0; a.axis < CNV_N_AXES; a.axis++) {
    a.size = size[a.axis];
    a.folded = g_new(double, a.size);
    for (int i = 0; i < n[a.axis]; i += i < 40 || i > n[a.axis] - 40 ? 1 : 13)
      check_output(&a, first[a.axis] + i);
    g_free(a.folded);
  }
  n_decimated++;
}

/* ---- all of them ---- */

static void
check_job(const Subject *s)
{
  switch (s->launch->kernel) {
  case CNV_KERNEL_ONE_TAP:
    check_one_tap(s);
    return;
  case CNV_KERNEL_AVERAGE:
    check_one_tap(s);
    CHECK(s, s->job->format_plane == plane_of(s)->format_plane);
    if (s->variant->bytes > 1)
      return;
    check_nearby(s);
    break;
  case CNV_KERNEL_DECIMATE:
    check_decimate(s);
    return;
  case CNV_KERNEL_DECIMATE_AGAIN:
    return;
  case CNV_KERNEL_INTERPOLATE:
    check_interpolate(s);
    check_clamps(s);
    check_outputs(s);
    return;
  case CNV_KERNEL_FUSED:
    check_fused(s);
    break;
  case CNV_KERNEL_BLUR:
    check_blur(s);
    check_clamps(s);
    break;
  default:
    break;
  }
  check_reach(s);
  check_shared(s);
}

static void
check_launches(guint row, const CnvSchedule *schedule)
{
  guint n = 0;

  for (guint i = 0; i < schedule->launches->len; i++) {
    const CnvLaunch *l = &g_array_index(schedule->launches, CnvLaunch, i);

    for (guint k = l->first; cnv_kernel_kind(l->kernel)->variants && k < l->first + l->n; k++, n++) {
      const CnvTileJob *job = &g_array_index(schedule->tile_jobs, CnvTileJob, k);

      check_job(&(Subject){row, schedule, l, job, cnv_schedule_plane_kernel(schedule, &job->job),
                           schedule->variant[l->kernel]});
    }
  }
  ck_assert_msg(n > 0, "row %u has no tile jobs", row);
}

START_TEST(test_jobs)
{
  for (guint i = 0; i < G_N_ELEMENTS(rows); i++) {
    CnvPlan *plan = plan_of(&rows[i]), *used = rows[i].weighed ? cnv_plan_weighed(plan, NULL) : plan;
    CnvTemporalTap frames[CNV_MAX_TEMPORAL_TAPS];
    CnvWork work = CNV_WORK_ALL(&used);
    CnvSchedule schedule;

    set_algorithm(used, rows[i].algorithm);
    for (int k = 0; k < plan->n_temporal_taps; k++)
      frames[k] = (CnvTemporalTap){0, 0.75f * plan->weight[k]}; /* too small, as if frames were missing */
    work.whole_frame = rows[i].region == 0;
    work.region = &regions[rows[i].region];
    work.n_regions = rows[i].region ? 1 : 0;
    work.interlaced = rows[i].interlaced;
    work.isolated = rows[i].weighed;
    work.temporal_tap = frames;
    work.n_temporal_taps = plan->n_temporal_taps > 1 ? (guint)plan->n_temporal_taps : 0;
    cnv_schedule_init(&schedule);
    schedule.n_processors = PROCESSORS;
    cnv_schedule_set_work(&schedule, &work, rows[i].in_place);
    check_launches(i, &schedule);
    cnv_schedule_clear(&schedule);
    cnv_plan_unref(plan);
  }
  ck_assert_uint_ge(n_decimated, 8);
}
END_TEST

static void
add_tests(TCase *tcase)
{
  tcase_add_test(tcase, test_jobs);
}

int
main(void)
{
  return test_main("tile_jobs", add_tests);
}
