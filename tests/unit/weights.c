/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Taps as fragments for tensor cores. Each tap is rebuilt from the words of a warp's lanes, in the layouts that the PTX
 * manual gives for mma.m16n8k16 and mma.m16n8k32, and compared with the plan's. Also compares the levels that a job's
 * numbers give flat frames. Runs on the CPU, with plans for the CPU backend.
 */
#include <math.h>
#include <string.h>

#include "plan/plan.h"

#include "gpu/half.h"
#include "gpu/variants.h"
#include "support/filter.h"
#include "support/suite.h"

/* Largest errors of the product of two axes' taps, relative to the largest product. With one f16 number per tap, some
 * are not the nearest, so that their sum is right; and with two f16 numbers per tap. */
#define HALF_ERROR 2e-3
#define EXACT_ERROR 1e-6
/* Half of the smallest positive f16 number. */
#define LEAST_ERROR ldexp(1, -25)
/* Largest difference of an integer from its scaled tap: 0.5 for rounding, the rest for dividing out the sum. And
 * the relative error of the scale, which is computed from a gain in float32. */
#define INTEGER_ERROR 0.75
#define SCALE_ERROR 1.2e-7
/* Largest errors of the level of a flat frame: with positive taps, and with taps of both signs. */
#define LEVEL_ERROR 0.05
#define LEVEL_ERROR_SIGNED 0.1
/* Likewise, for samples of more than 10 bits. */
#define LEVEL_ERROR_DEEP 0.004
/* The largest tap compensates for the rounding of the others. It is above LARGE_INTEGER, and may be this far off. */
#define LARGE_INTEGER 4096
#define LARGEST_ERROR 64

#define MAX_VARIANTS 32

typedef struct {
  const char *name;
  CnvFilterType type;
  int radius;
  int width, height, depth, anchor_x; /* custom: random taps; anchor_x -1: the middle */
  gboolean is_signed;
  int temporal_radius;
  gboolean absolute;
  double scale; /* 0: 1 */
} Row;

static const Row rows[] = {
    {"gaussian 1", CNV_FILTER_GAUSSIAN, 1},
    {"gaussian 3", CNV_FILTER_GAUSSIAN, 3},
    {"gaussian 8", CNV_FILTER_GAUSSIAN, 8},
    {"gaussian 20", CNV_FILTER_GAUSSIAN, 20},
    {"gaussian 60", CNV_FILTER_GAUSSIAN, 60},
    {"box 5", CNV_FILTER_BOX, 5},
    {"box 15", CNV_FILTER_BOX, 15},
    {"row", CNV_FILTER_CUSTOM, -1, 7, 1, 1, 0},
    {"wide row", CNV_FILTER_CUSTOM, -1, 51, 1, 1, -1},
    {"wider row", CNV_FILTER_CUSTOM, -1, 111, 1, 1, -1},
    {"column", CNV_FILTER_CUSTOM, -1, 1, 6, 1, -1},
    {"tall", CNV_FILTER_CUSTOM, -1, 1, 101, 1, -1},
    {"signed row", CNV_FILTER_CUSTOM, -1, 5, 1, 1, 4, TRUE},
    {"signed and tall", CNV_FILTER_CUSTOM, -1, 1, 90, 1, 0, TRUE},
    {"gaussian 3 over time", CNV_FILTER_GAUSSIAN, 3, .temporal_radius = 1},
    {"gaussian 10 over time", CNV_FILTER_GAUSSIAN, 10, .temporal_radius = 1},
    {"gaussian 20 over time", CNV_FILTER_GAUSSIAN, 20, .temporal_radius = 1},
    {"3x3", CNV_FILTER_CUSTOM, -1, 3, 3, 1, -1},
    {"3x3 scaled", CNV_FILTER_CUSTOM, -1, 3, 3, 1, -1, .scale = 64},
    {"5x4 signed", CNV_FILTER_CUSTOM, -1, 5, 4, 1, 1, TRUE},
    {"5x4 signed, absolute", CNV_FILTER_CUSTOM, -1, 5, 4, 1, 1, TRUE, .absolute = TRUE},
    {"13x29", CNV_FILTER_CUSTOM, -1, 13, 29, 1, -1},
    {"29x13", CNV_FILTER_CUSTOM, -1, 29, 13, 1, -1},
    {"2x3, first", CNV_FILTER_CUSTOM, -1, 2, 3, 1, 0},
    {"3x3 over time", CNV_FILTER_CUSTOM, -1, 3, 3, 1, -1, .temporal_radius = 1},
    {"3x3x3", CNV_FILTER_CUSTOM, -1, 3, 3, 3, -1},
    {"5x4x2 signed", CNV_FILTER_CUSTOM, -1, 5, 4, 2, 1, TRUE},
    {"sharpen", CNV_FILTER_SHARPEN, 2},
    {"unsharp 4", CNV_FILTER_UNSHARP, 4},
    {"unsharp 12", CNV_FILTER_UNSHARP, 12},
    {"sobel", CNV_FILTER_SOBEL, 1},
    {"sobel 3", CNV_FILTER_SOBEL, 3, .scale = 1.0 / 32},
    {"scharr", CNV_FILTER_SCHARR, 1},
    {"laplacian", CNV_FILTER_LAPLACIAN, 1},
    {"disk", CNV_FILTER_DISK, 3},
    {"disk over time", CNV_FILTER_DISK, 3, .temporal_radius = 1},
    {"log", CNV_FILTER_LOG, 3},
};

static guint32 state;

static double
random_tap(gboolean is_signed)
{
  state = state * 1664525u + 1013904223u;
  return (state >> 8) % 1000 / 999.0 + 0.001 - (is_signed ? 0.4 : 0);
}

static CnvPlan *
plan_of(const Row *row, const char *format)
{
  const CnvImage image = {cnv_format_find(format), 343, 321, 0.2126, 0.0722, FALSE};
  int n = row->width * row->height * row->depth;
  g_autofree double *taps = g_new(double, MAX(n, 1));
  CnvFilter filter;
  CnvPlan *plan;

  state = 7;
  test_filter_init(&filter);
  filter.type = row->type;
  filter.radius = row->radius;
  filter.temporal_radius = row->temporal_radius;
  filter.absolute = row->absolute;
  filter.scale = row->scale ? row->scale : 1;
  if (n) {
    for (int i = 0; i < n; i++)
      taps[i] = random_tap(row->is_signed);
    filter.kernel = cnv_taps_new_volume(row->width, row->height, row->depth, taps);
    filter.anchor[CNV_X] = row->anchor_x;
  }
  plan = cnv_plan_new(&filter, &image, CNV_ALGORITHM_AUTO, cnv_backend_find("cpu"), NULL);
  ck_assert_msg(plan != NULL, "%s", row->name);
  cnv_filter_clear(&filter);
  return plan;
}

/* ---- the plan's taps ---- */

/* A plane with the job and the words that a kind makes for it. */
typedef struct {
  const char *name;
  const CnvPlan *plan;
  const CnvPlane *plane;
  int channel; /* the first that is filtered */
  const CnvKernelKind *kind;
  const CnvVariant *variant;
  CnvNeeds needs;
  CnvTileJob job;
  const guint32 *words;
  const float *weight; /* of each frame */
} Fixture;

static gboolean
keeps_apart(const Fixture *f)
{
  return f->plane->combine == CNV_COMBINE_MAGNITUDE;
}

/* Returns the plan's tap at (x, y) from the anchor, for one frame, without its weight. term: only for a magnitude,
 * which has two sums. */
static double
expected_tap(const Fixture *f, int frame, int term, int x, int y)
{
  double sum = 0;

  for (int t = 0; t < f->plane->n_terms; t++) {
    const CnvTerm *added = &f->plane->term[t];
    int kx = x + added->anchor[CNV_X], ky = y + added->anchor[CNV_Y];

    if (kx < 0 || ky < 0 || kx >= added->n[CNV_X] || ky >= added->n[CNV_Y] ||
        (f->plan->not_time_separable && added->temporal_tap != frame) || (keeps_apart(f) && t != term))
      continue;
    sum += added->separable ? (double)f->plan->taps[added->taps[CNV_X] + kx] * f->plan->taps[added->taps[CNV_Y] + ky]
                            : f->plan->taps[added->taps[0] + ky * added->n[CNV_X] + kx];
  }
  return sum;
}

static double
sum_of_taps(const Fixture *f, int frame, int term)
{
  double sum = 0;

  for (int y = -128; y <= 128; y++)
    for (int x = -128; x <= 128; x++)
      sum += expected_tap(f, frame, term, x, y);
  return sum;
}

/* Likewise, the sum over all frames, times their weights. */
static double
weighted_sum(const Fixture *f, int term)
{
  double sum = 0;

  for (int frame = 0; frame < f->needs.n_frames; frame++)
    sum += (f->needs.n_frames > 1 ? f->weight[frame] : 1) * sum_of_taps(f, frame, term);
  return sum;
}

static gboolean
is_signed(const Fixture *f)
{
  for (int t = 0; t < f->plane->n_terms; t++)
    for (int y = 0; y < f->plane->term[t].n[CNV_Y]; y++)
      for (int x = 0; x < f->plane->term[t].n[CNV_X]; x++)
        if (cnv_plan_tap(f->plan, &f->plane->term[t], x, y) < 0)
          return TRUE;
  return FALSE;
}

/* Returns the level of a flat frame, as plan.h defines it. */
static double
expected_level(const Fixture *f, double value)
{
  int c = f->channel;
  double x = value - f->plane->mid[c], sum = weighted_sum(f, 0) * x;

  if (keeps_apart(f))
    sum = hypot(sum, weighted_sum(f, 1) * x);
  else if (f->plane->combine == CNV_COMBINE_ABSOLUTE)
    sum = fabs(sum + f->plane->mid_bias[c]);
  return f->plane->gain[c] * sum + f->plane->fraction[c] + f->plane->base[c];
}

static void
check_level(const Fixture *f, double value, double got)
{
  double expected = expected_level(f, value);

  ck_assert_msg(fabs(got - expected) <= (is_signed(f) ? LEVEL_ERROR_SIGNED : LEVEL_ERROR),
                "%s: a frame of %g becomes %g, not %g", f->name, value, got, expected);
}

/* ---- blur ---- */

/* Returns the element of operand A at row `row` and column k, both below 16. */
static double
a_at(const guint32 *words, int row, int k)
{
  int lane = row % 8 * 4 + k % 8 / 2, word = row / 8 + k / 8 * 2;

  return cnv_from_half((guint16)(words[lane * 4 + word] >> (k % 2 * 16)));
}

/* Returns the index in the operand of sample i of 16. A lane has two pairs, and its four samples are neighbours along
 * x. */
static int
neighbour_at(int i)
{
  return i / 4 * 2 + i % 4 / 2 * 8 + i % 2;
}

/* Likewise for 16 rows of pixels of 8 bits. In each half, rows that are four apart are next to each other, for one
 * lane. */
static int
row_of_pixels_at(int i)
{
  return i / 8 * 8 + i % 4 * 2 + i % 8 / 4;
}

/* Returns the row or column of A for output or sample i of 16. */
static int
place_at(const Fixture *f, int axis, int i)
{
  if (axis == CNV_X)
    return neighbour_at(i);
  return f->variant->pixels && !f->variant->deep ? row_of_pixels_at(i) : i;
}

/* Returns the factor by which a part's numbers are multiplied. */
static double
unit_of(const Fixture *f, int axis, int part)
{
  if (!f->variant->deep || part == 0)
    return 1;
  return axis == CNV_X ? CNV_DEEP_UNIT : CNV_DEEP_ROW_UNIT;
}

/* Stores the taps by distance from the output, -lead to lead, and checks that every output has these taps and no
 * others. */
static void
rebuild_band(const Fixture *f, const guint32 *words, int axis, double *taps)
{
  int steps = axis == CNV_X ? f->variant->k_x : f->job.steps_y, lead = CNV_BLUR_LEAD(steps);

  memset(taps, 0, (gsize)(2 * lead + 1) * sizeof(double));
  for (int out = 0; out < 16; out++)
    for (int at = 0; at < 16 * steps; at++) {
      int row = place_at(f, axis, out), k = place_at(f, axis, at % 16);
      int away = at - lead - out;
      double got = 0;

      for (int part = 0; part < f->variant->digits; part++)
        got += a_at(words + (part * steps + at / 16) * 128, row, k) / unit_of(f, axis, part);
      if (ABS(away) <= lead && out == 0)
        taps[lead + away] = got;
      /* Output 0 comes first, and sets all taps. The others must have equal ones, and 0 elsewhere. */
      ck_assert_msg(ABS(away) <= lead ? got == taps[lead + away] : got == 0, "%s: output %d has %g on %d", f->name, out,
                    got, at);
    }
}

static double
sum_of(const double *taps, int lead)
{
  double sum = 0;

  for (int i = 0; i <= 2 * lead; i++)
    sum += taps[i];
  return sum;
}

static double
largest_of(const double *taps, int lead)
{
  double largest = 0;

  for (int i = 0; i <= 2 * lead; i++)
    largest = MAX(largest, fabs(taps[i]));
  return largest;
}

/* Returns the distance from the smallest tap, as f16, to the next f16 number. */
static double
least_spacing(const double *taps, int lead)
{
  double least = 1;

  for (int i = 0; i <= 2 * lead; i++)
    if (taps[i] != 0)
      least = MIN(least, ldexp(1, MAX(ilogb(taps[i]), -14) - 10));
  return least;
}

/* Checks that taps of one f16 number each have the right sum, to within one step of the smallest tap of the column.
 * sum_x: sum of the row's taps, times the weights of all frames. */
static void
check_sums(const Fixture *f, double sum_x, const double *y, int lead_y)
{
  double expected = f->plane->gain[f->channel] * weighted_sum(f, 0) - f->job.center, got = sum_x * sum_of(y, lead_y);

  ck_assert_msg(fabs(sum_x) <= 2, "%s: a row's taps add up to %g", f->name, sum_x);
  ck_assert_msg(fabs(got - expected) <= least_spacing(y, lead_y) * fabs(sum_x) + LEAST_ERROR,
                "%s: taps add up to %g, not %g", f->name, got, expected);
}

/* Checks that the row times the column of taps gives the plane's taps. Returns the sum of the row. */
static double
check_row_of_blur(const Fixture *f, const double *y, int lead_y)
{
  int digits = f->variant->digits, steps = f->variant->k_x, lead = CNV_BLUR_LEAD(steps);
  int C = f->variant->pixels ? 1 : f->plane->channels;
  double *x = g_new(double, 2 * lead + 1), tolerance, sum;

  rebuild_band(f, f->words + digits * f->job.steps_y * 128, CNV_X, x);
  tolerance = (digits == 2 ? EXACT_ERROR : HALF_ERROR) * largest_of(x, lead) * largest_of(y, lead_y) +
              LEAST_ERROR * (largest_of(x, lead) + largest_of(y, lead_y));
  for (int j = -lead_y; j <= lead_y; j++)
    for (int i = -lead; i <= lead; i++) {
      double got = x[lead + i] * y[lead_y + j] + (i == 0 && j == 0 ? f->job.center : 0), expected = 0;

      if (i % C == 0)
        expected = f->plane->gain[f->channel] * expected_tap(f, 0, 0, i / C, j);
      ck_assert_msg(fabs(got - expected) <= tolerance, "%s: tap on sample %d, row %d: %g, not %g", f->name, i, j, got,
                    expected);
    }
  sum = sum_of(x, lead);
  g_free(x);
  return sum;
}

/* Returns the sum of a part's numbers, for the row of taps. */
static double
sum_of_part(const Fixture *f, int part)
{
  const guint32 *words = f->words + (2 * f->job.steps_y + part * f->variant->k_x) * 128;
  double sum = 0;

  for (int k = 0; k < 16 * f->variant->k_x; k++)
    sum += a_at(words + k / 16 * 128, 0, k % 16);
  return sum;
}

/* Returns the row sum of a flat frame with samples of more than 10 bits. */
static double
deep_row_sum(const Fixture *f, int value)
{
  int high = 1024 + value / CNV_DEEP_UNIT, low = 1024 + value % CNV_DEEP_UNIT;
  double main = sum_of_part(f, 0) * high + f->job.first_sum[0];

  /* Must be exact in float32, in whatever order the products are added. */
  ck_assert_msg((float)main == main && fabs(main) < 2048, "%s: %d makes %.17g", f->name, value, main);
  return CNV_DEEP_UNIT * main + sum_of_part(f, 0) * low + sum_of_part(f, 1) * high + f->job.first_level[0];
}

static void
check_deep_levels(const Fixture *f, const double *y, int lead_y)
{
  int full = (int)f->plane->full[f->channel];

  for (int i = 0; i <= 64; i++) {
    int value = full / 64 * i + full % 64 * i / 64;
    double got = sum_of(y, lead_y) * deep_row_sum(f, value) + f->job.offset - 1024, expected = expected_level(f, value);

    ck_assert_msg(fabs(got - expected) <= LEVEL_ERROR_DEEP, "%s: a frame of %d becomes %g, not %g", f->name, value, got,
                  expected);
  }
}

static void
check_blur(const Fixture *f, guint n_words)
{
  int steps_y = f->job.steps_y, lead_y = CNV_BLUR_LEAD(steps_y), n_frames = f->needs.n_frames;
  g_autofree double *y = g_new(double, 2 * lead_y + 1);
  double sum_x, weight = 0, mid = f->plane->mid[f->channel];

  for (int frame = 0; frame < n_frames; frame++)
    weight += n_frames > 1 ? f->weight[frame] : 1;
  ck_assert_int_eq(f->variant->frames, MIN(n_frames, 2));
  ck_assert_uint_eq(n_words, (guint)(f->variant->digits * (f->variant->k_x + steps_y) * 128));
  ck_assert(f->variant->ring ? steps_y >= 2 && steps_y <= CNV_RING_STEPS : steps_y == f->variant->k_y);
  rebuild_band(f, f->words, CNV_Y, y);
  sum_x = check_row_of_blur(f, y, lead_y);
  if (f->variant->digits == 1)
    check_sums(f, weight * sum_x, y, lead_y);
  ck_assert_int_eq(f->variant->deep, f->plane->full[f->channel] > 1023);
  if (f->variant->deep)
    check_deep_levels(f, y, lead_y);
  for (int i = 0; i <= 2 && !f->variant->deep; i++) {
    double value = rint(f->plane->full[f->channel] * i / 2);
    /* With several frames, samples are already relative to mid. */
    double row = sum_x * (n_frames > 1 ? weight * (value - mid) : 1024 + value) + f->job.first_sum[0];

    check_level(f, value, sum_of(y, lead_y) * row + f->job.center * (value - mid) + f->job.offset - 1024);
  }
}

/* ---- dense ---- */

/* Returns the number of products that share a window. */
static int
n_products(const Fixture *f)
{
  return CNV_DENSE_PRODUCTS(f->variant->bytes, f->variant->k_x);
}

/* Returns byte k of 32 for output `out` of a window, in operand B of one of the window's products. */
static int
b_at(const Fixture *f, const guint32 *words, int k, int out)
{
  int n = 2 * n_products(f), product = out % n / 2, lane = (out / n * 2 + out % 2) * 4 + k % 16 / 4;

  return (gint8)(words[product * 64 + lane * 2 + k / 16] >> (k % 4 * 8));
}

/* Returns the integer by which a byte of one of two rows of samples is multiplied. */
static double
integer_at(const Fixture *f, const guint32 *words, int term, int out, int row, int byte)
{
  const CnvVariant *v = f->variant;
  int k = row * CNV_DENSE_K * v->k_x + byte, before = (k / 32 * v->terms + term) * v->digits;
  double integer = 0;

  for (int d = 0; d < v->digits; d++)
    integer = integer * 256 + b_at(f, words + (before + d) * n_products(f) * 64, k % 32, out);
  return integer;
}

/* Checks row i of the taps of all frames, for one term. With pairs of frames, the first rows of all frames come before
 * the second rows. words: of the two rows with i. Returns the sum of the row's integers. */
static double
check_row(const Fixture *f, const guint32 *words, int n_rows, int i, int term, double *magnitude)
{
  int n_frames = 2 * f->variant->pairs, frame = n_frames ? i % n_frames : i / n_rows;
  int j = n_frames ? i / n_frames : i % n_rows;
  int C = f->plane->channels, bytes = f->variant->bytes, lead = CNV_DENSE_LEAD(bytes, f->variant->k_x);
  double gain = f->plane->gain[f->channel], sum = 0;
  double unit = gain == 0 ? 0 : f->job.gain * ldexp(1, f->job.shift) / gain;
  double weight = f->needs.n_frames > 1 ? frame < f->needs.n_frames ? f->weight[frame] : 0 : 1;

  for (int out = 0; out < 8 * n_products(f); out++)
    for (int at = 0; at < CNV_DENSE_K * f->variant->k_x / bytes; at++) {
      double got = integer_at(f, words, term, out, i % 2, at * bytes), expected = 0;
      int away = at - lead - out;

      if (away % C == 0)
        expected = weight * expected_tap(f, frame, term, away / C, j - f->job.term.anchor[CNV_Y]);
      /* If the gain is 0, as for chroma that becomes neutral, any taps are right. */
      ck_assert_msg(unit == 0 ||
                        fabs(got - expected / unit) <= (expected == 0 ? 0 : INTEGER_ERROR + SCALE_ERROR * fabs(got)) +
                                                           (fabs(got) > LARGE_INTEGER ? LARGEST_ERROR : 0),
                    "%s: frame %d, term %d, row %d, output %d, sample %d: %g, not %g", f->name, frame, term, j, out, at,
                    got, expected / unit);
      ck_assert_msg(bytes == 1 || integer_at(f, words, term, out, i % 2, at * 2 + 1) == 256 * got,
                    "%s: bytes of a sample", f->name);
      sum += out == 0 ? got : 0;
      *magnitude += out == 0 ? fabs(got) : 0;
    }
  return sum;
}

static void
check_dense(const Fixture *f, guint n_words)
{
  const CnvVariant *v = f->variant;
  int n_rows = v->kept_rows ? v->kept_rows : n_products(f) == 1 ? f->needs.rows : (f->needs.rows + 1) / 2 * 2;
  int words_of_two = CNV_DENSE_FRAGMENTS(v->bytes, v->k_x, v->terms, v->digits) * 64;
  int n_all = (v->pairs ? 2 * v->pairs : f->needs.n_frames) * n_rows;
  double sum[2] = {0, 0}, magnitude = 0;

  ck_assert_uint_eq(n_words, (guint)((n_all + 1) / 2 * words_of_two));
  /* If the gain is 0, no rows are read. */
  ck_assert_int_eq(f->job.term.n[CNV_Y], f->plane->gain[f->channel] == 0 ? 0 : n_rows);
  for (int i = 0; i < n_all; i++)
    for (int t = 0; t < v->terms; t++)
      sum[t] += check_row(f, f->words + i / 2 * words_of_two, n_rows, i, t, &magnitude);
  ck_assert_msg(ldexp(magnitude * f->plane->full[f->channel], f->job.shift) < ldexp(1, v->digits > 2 ? 39 : 31),
                "%s: sums of up to %g", f->name, magnitude * f->plane->full[f->channel]);
  for (int i = 0; i <= 2; i++) {
    double value = rint(f->plane->full[f->channel] * i / 2), in_memory = ldexp(value, f->job.shift);
    double first = sum[0] * in_memory + f->job.bias[0];

    if (keeps_apart(f))
      first = hypot(first, sum[1] * in_memory + f->job.bias[1]);
    else if (f->plane->combine == CNV_COMBINE_ABSOLUTE)
      first = fabs(first);
    else
      first = sum[0] * in_memory;
    check_level(f, value, first * f->job.gain + f->job.offset);
  }
}

/* ---- all kinds ---- */

static gboolean used[2][MAX_VARIANTS]; /* of blur and dense */

/* Returns TRUE if the kind supports the plane, whose job and words are then checked. */
static gboolean
check_kind(Fixture *f, gboolean is_dense)
{
  static const float over_time[] = {0.25f, 0.5f, 0.125f};
  GArray *words = g_array_new(FALSE, FALSE, sizeof(guint32));
  CnvPlane samples;
  gboolean fits;

  f->kind = is_dense ? &cnv_kind_dense : &cnv_kind_blur;
  f->weight = f->plan->n_temporal_taps > 1 ? over_time : f->plan->weight;
  fits = f->kind->fits(f->plan, f->plane, &f->needs, NULL);
  if (fits) {
    CnvPlaneKernel plane_kernel = {.plan = f->plan,
                                   .plane = f->plane,
                                   .needs = f->needs,
                                   .shared = f->needs,
                                   .variant = f->variant = cnv_variant_find(f->kind, &f->needs),
                                   .tile_job.shift = f->plane->component[0].shift};

    used[is_dense][f->variant - f->kind->variants] = TRUE;
    f->kind->set_job(&plane_kernel, words, f->weight);
    f->job = plane_kernel.tile_job;
    f->words = (const guint32 *)words->data;
    f->plane = cnv_fit_plane(f->plan, f->plane, &samples);
    (is_dense ? check_dense : check_blur)(f, words->len);
  }
  g_array_free(words, TRUE);
  return fits;
}

/* Checks the planes whose samples are weighed. Only blur supports these, and not all of them. */
static void
check_weighed(const CnvPlan *plan, const char *name)
{
  CnvPlan *weighed = cnv_plan_weighed(plan, NULL);

  for (int p = 0; weighed && p < weighed->n_planes; p++) {
    Fixture f = {.name = name, .plan = weighed, .plane = &weighed->plane[p]};

    if (f.plane->filtered)
      check_kind(&f, FALSE);
  }
}

static void
check_plan(const Row *row, const char *format)
{
  CnvPlan *plan = plan_of(row, format);

  check_weighed(plan, row->name);
  for (int p = 0; p < plan->n_planes; p++) {
    const CnvPlane *plane = &plan->plane[p];
    g_autofree char *name = g_strdup_printf("%s, %s, plane %d", row->name, format, p);
    Fixture f = {.name = name, .plan = plan, .plane = plane};
    gboolean fits;

    if (!plane->filtered)
      continue;
    while (!(plane->filtered >> f.channel & 1))
      f.channel++;
    fits = check_kind(&f, FALSE);
    fits |= check_kind(&f, TRUE);
    /* For more than 10 bits, tests/unit/algorithms.c checks what must fit. */
    ck_assert_msg(fits || plane->channels > 2 || (row->scale > 1 && plane->component[0].bytes > 1) ||
                      plane->full[f.channel] > 1023,
                  "%s is refused", name);
  }
  cnv_plan_unref(plan);
}

/* Checks all plans, and that every variant is used by some plane. */
START_TEST(test_words)
{
  static const char *const formats[] = {"GRAY8",     "NV12",      "BGR",     "RGBx",      "P010_10LE",
                                        "I420_10LE", "GRAY16_LE", "P016_LE", "RGBA64_LE", "I420_12LE"};

  for (guint r = 0; r < G_N_ELEMENTS(rows); r++)
    for (guint f = 0; f < G_N_ELEMENTS(formats); f++)
      check_plan(&rows[r], formats[f]);
  for (int is_dense = 0; is_dense < 2; is_dense++) {
    const CnvVariant *all = (is_dense ? &cnv_kind_dense : &cnv_kind_blur)->variants;

    for (int i = 0; all[i].name; i++)
      ck_assert_msg(used[is_dense][i], "no plane is done by %s", all[i].name);
  }
}
END_TEST

/* Digits per integer in dense. Samples of one byte: one digit if taps are small integers, signed or not, else two.
 * Samples of two bytes: three. */
START_TEST(test_digits)
{
  static const struct {
    Row row;
    const char *format;
    int digits;
  } cases[] = {
      {{"laplacian", CNV_FILTER_LAPLACIAN, 1}, "GRAY8", 1},
      {{"sobel", CNV_FILTER_SOBEL, 1}, "GRAY8", 1},
      {{"sobel", CNV_FILTER_SOBEL, 1}, "P010_10LE", 3},
      {{"3x3", CNV_FILTER_CUSTOM, -1, 3, 3, 1, -1}, "GRAY8", 2},
      {{"3x3", CNV_FILTER_CUSTOM, -1, 3, 3, 1, -1}, "P010_10LE", 3},
      {{"3x3 signed", CNV_FILTER_CUSTOM, -1, 3, 3, 1, -1, TRUE}, "GRAY8", 2},
  };

  for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
    CnvPlan *plan = plan_of(&cases[i].row, cases[i].format);
    CnvNeeds needs;

    ck_assert(cnv_kind_dense.fits(plan, &plan->plane[0], &needs, NULL));
    ck_assert_msg(needs.digits == cases[i].digits, "%s, %s: %d", cases[i].row.name, cases[i].format, needs.digits);
    cnv_plan_unref(plan);
  }
}
END_TEST

START_TEST(test_halves)
{
  for (guint i = 0; i < 0x7c00; i++)
    ck_assert_uint_eq(cnv_to_half(cnv_from_half((guint16)i)), i);
  ck_assert_uint_eq(cnv_to_half(-1), 0xbc00);
  ck_assert_uint_eq(cnv_to_half(1 + 1 / 2048.0), 0x3c00); /* ties to even */
  ck_assert_uint_eq(cnv_to_half(1 + 3 / 2048.0), 0x3c02);
  ck_assert_uint_eq(cnv_to_half(2047.9 / 2048), 0x3c00);
}
END_TEST

static void
add_tests(TCase *tcase)
{
  tcase_add_test(tcase, test_halves);
  tcase_add_test(tcase, test_words);
  tcase_add_test(tcase, test_digits);
}

int
main(void)
{
  return test_main("weights", add_tests);
}
