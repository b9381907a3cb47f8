/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The kind dense (dense.cuh): filters with taps of any rank, as integers whose digits tensor cores multiply. Each pair
 * of rows of taps is one matrix.
 *
 * The terms of a sum are added up to one kernel, with their anchors aligned; the two terms of a magnitude stay
 * separate. Each frame over time has its own taps, multiplied by its weight.
 */
#include <math.h>

#include "gpu/half.h"
#include "gpu/variants.h"

#define VARIANT(called, size, k, n, numbers, height, ...)                                                              \
  {called,                                                                                                             \
   .bytes = size,                                                                                                      \
   .reach = CNV_DENSE_LEAD(size, k),                                                                                   \
   .k_x = k,                                                                                                           \
   .rows = (height) ? (height) : G_MAXINT,                                                                             \
   .terms = n,                                                                                                         \
   .digits = numbers,                                                                                                  \
   .kept_rows = height,                                                                                                \
   .width = CNV_TILE_WIDTH,                                                                                            \
   __VA_ARGS__},
#define DENSE_NAME(bits, k, n, numbers, height) "dense_u" #bits "_" #k "_" #n "_" #numbers "_" #height
#define DENSE(bits, k, n, numbers, height, columns, fitting, plain)                                                    \
  VARIANT(DENSE_NAME(bits, k, n, numbers, height), (bits) / 8, k, n, numbers, height, .frames = (height) ? 1 : 0,      \
          .tile_rows = CNV_DENSE_ROWS, .blocks = fitting,                                                              \
          .pitch = CNV_TILE_PITCH(16, CNV_TILE_WIDTH * (bits) / 8, CNV_DENSE_LEAD((bits) / 8, k) * (bits) / 8))
#define OVER_TIME(height, n, fitting, plain)                                                                           \
  VARIANT("dense_over_time_u8_" #height "_" #n, 1, 1, 1, 2, height, .frames = 2, .pairs = n,                           \
          .tile_rows = CNV_DENSE_ROWS_OVER_TIME, .blocks = fitting, .pitch = CNV_DENSE_PITCH_OVER_TIME)
static const CnvVariant variants[] = {CNV_DENSE_OVER_TIME_VARIANTS(OVER_TIME) CNV_DENSE_VARIANTS(DENSE){NULL}};

/* Digits of a tap: the kernel's digits, less one for samples of two bytes, which are two digits themselves. */
#define TAP_DIGITS(needs) ((needs)->digits - ((needs)->bytes - 1))

/* Largest sum of a variant's upper two numbers, in units of the lowest of them: it stays in 32 bits. */
#define SUM_MAX 2.0e9

/* Reserve of the largest tap, which compensates for the rounding of all other taps: half a unit each. */
#define ROOM (needs->digits > 1 ? 2048 : 0)

/* Returns the largest number that fits into n digits. */
static double
largest_of(int digits)
{
  return (exp2(8 * digits) - 1) * 127 / 255;
}

/* Returns the number of terms that have an effect: 0 if all samples become one level, as a gradient's chroma does. */
static int
n_terms_of(const CnvPlane *plane)
{
  return plane->gain[cnv_fit_first_channel(plane)] == 0 ? 0 : plane->n_terms;
}

/* Returns the number of terms that the plan's planes keep separate. */
static int
terms_apart(const CnvPlan *plan)
{
  int n = 1;

  for (int p = 0; p < plan->n_planes; p++)
    if (plan->plane[p].filtered && plan->plane[p].combine == CNV_COMBINE_MAGNITUDE)
      n = MAX(n, n_terms_of(&plan->plane[p]));
  return n;
}

/* Returns the needs of the plane, with the anchors of its terms aligned. */
static CnvNeeds
measure(const CnvPlan *plan, const CnvPlane *plane)
{
  CnvNeeds needs = {.terms = terms_apart(plan), .bytes = plane->component[0].bytes, .n_frames = plan->n_temporal_taps};
  int after_x = 0, after_y = 0;

  for (int t = 0; t < n_terms_of(plane); t++) {
    const CnvTerm *term = &plane->term[t];

    needs.anchor_x = MAX(needs.anchor_x, term->anchor[CNV_X]);
    needs.anchor_y = MAX(needs.anchor_y, term->anchor[CNV_Y]);
    after_x = MAX(after_x, term->n[CNV_X] - 1 - term->anchor[CNV_X]);
    after_y = MAX(after_y, term->n[CNV_Y] - 1 - term->anchor[CNV_Y]);
  }
  needs.n_x = needs.anchor_x + after_x + 1;
  needs.rows = needs.anchor_y + after_y + 1;
  needs.reach = MAX(needs.anchor_x, after_x) * plane->channels;
  return needs;
}

static void
add_term(double *to, const CnvPlan *plan, const CnvTerm *term, const CnvNeeds *needs, double weight)
{
  int x0 = needs->anchor_x - term->anchor[CNV_X], y0 = needs->anchor_y - term->anchor[CNV_Y];

  for (int y = 0; y < term->n[CNV_Y]; y++)
    for (int x = 0; x < term->n[CNV_X]; x++)
      to[(y0 + y) * needs->n_x + x0 + x] += weight * cnv_plan_tap(plan, term, x, y);
}

/* Returns the taps of the plane: [frame][term][row][column]. weight: of each frame. */
static CnvTapList
all_taps(const CnvPlan *plan, const CnvPlane *plane, const CnvNeeds *needs, const float *weight)
{
  int size = needs->n_x * needs->rows, n_terms = needs->terms;
  guint n = (guint)(plan->n_temporal_taps * n_terms * size);
  double *value = g_new0(double, n);
  CnvTapList taps;

  for (int frame = 0; frame < plan->n_temporal_taps; frame++)
    for (int t = 0; t < n_terms_of(plane); t++) {
      const CnvTerm *term = &plane->term[t];

      if (plan->not_time_separable && term->temporal_tap >= 0 && term->temporal_tap != frame)
        continue;
      add_term(value + (frame * n_terms + (n_terms > 1 ? t : 0)) * size, plan, term, needs, weight[frame]);
    }
  cnv_tap_list_init(&taps, value, n);
  return taps;
}

/* Returns the scale of taps of n digits whose sums stay in range. */
static double
scale_of(const CnvTapList *taps, const CnvNeeds *needs, const CnvPlane *plane, double *error)
{
  double full = ldexp(plane->full[cnv_fit_first_channel(plane)], plane->component[0].shift); /* in memory */
  double largest = largest_of(TAP_DIGITS(needs)) - ROOM, upper = needs->digits > 2 ? 256 : 1;

  if (taps->magnitude > 0)
    largest = MIN(largest, floor(SUM_MAX * upper / full / taps->magnitude * taps->largest));
  return cnv_tap_list_integer_scale(taps, largest, error);
}

/* Chooses the digits per tap. One is enough for small integers, two for nearly everything. */
static gboolean
choose_digits(const CnvPlane *plane, const CnvTapList *taps, CnvNeeds *needs)
{
  int first = needs->bytes > 1 ? 3 : needs->n_frames > 1 ? 2 : 1;

  for (needs->digits = first; needs->digits <= 3; needs->digits++) {
    double error;

    scale_of(taps, needs, plane, &error);
    if (error == 0 ||
        (needs->digits > 1 && cnv_fit_error(plane, error * plane->gain[cnv_fit_first_channel(plane)], taps->is_signed)))
      return TRUE;
  }
  needs->digits = 3;
  return FALSE;
}

static gboolean
fits(const CnvPlan *plan, const CnvPlane *plane, CnvNeeds *needs, GError **error)
{
  g_auto(CnvTapList) taps = {NULL};

  if (!cnv_fit_samples(plane, error))
    return FALSE;
  if (plane->full[cnv_fit_first_channel(plane)] > 4095)
    return cnv_unsupported(error, "it needs samples of up to 12 bits");
  if (plan->n_temporal_taps > 1 && plane->full[cnv_fit_first_channel(plane)] > 1023)
    return cnv_unsupported(error, "over time it needs samples of up to 10 bits");
  if (cnv_border_renormalizes(plan->filter.border))
    return cnv_unsupported(error, "it supports border-mode=renormalize only for taps that are a row times a column");
  *needs = measure(plan, plane);
  taps = all_taps(plan, plane, needs, plan->weight);
  if (!cnv_fit_levels(plane, taps.magnitude, error))
    return FALSE;
  if (!choose_digits(plane, &taps, needs))
    return cnv_unsupported(error, "its integers would round these taps too much");
  return cnv_variant_find(&cnv_kind_dense, needs) ||
         cnv_unsupported(error, "%dx%d taps%s, %d channels and %d frames are more than its tiles hold", needs->n_x,
                         needs->rows, needs->terms > 1 ? " of two gradients" : "", plane->channels, needs->n_frames);
}

/* Returns digit number d of a tap on a byte, the highest first. high: the byte is the upper one of a sample. */
static guint8
digit_of(double tap, int d, const CnvNeeds *needs, gboolean high)
{
  int value = (int)rint(tap), power = needs->digits - 1 - d - high;

  if (power < 0 || power >= TAP_DIGITS(needs))
    return 0;
  for (int i = 0; i < power; i++)
    value = (value - (gint8)(value & 255)) / 256;
  return (guint8)(power == TAP_DIGITS(needs) - 1 ? value : value & 255);
}

/* Returns the number of rows of taps that the variant multiplies for each frame, in pairs if a window serves two
 * products. */
static int
rows_of(const CnvVariant *variant, const CnvNeeds *needs)
{
  if (variant->kept_rows)
    return variant->kept_rows;
  return CNV_DENSE_PRODUCTS(needs->bytes, variant->k_x) == 1 ? needs->rows : (needs->rows + 1) / 2 * 2;
}

/* Returns a cost by the number of products of a row of taps, 16 bytes of its window and a digit. 4K NV12: 4 products
 * take 11.2 us (sharpen), 8 12.1 (3x3), 12 14.1, 16 15.7, 72 37.8 (17x17), 192 81.8 (31x31). Over time, 3x3x3 32.2 us,
 * 5x5x5 55.6; with pairs of frames 22.6 and 40.4. Samples of 16 bits have not been timed; their cost is that of their
 * bytes, times 1.5. */
static double
cost(const CnvPlan *plan, const CnvPlane *plane, const CnvNeeds *needs, const CnvVariant *variant)
{
  if (variant->pairs)
    return variant->pairs > 2 ? 2.94 : 1.51;
  return 0.49 + 0.8 * (needs->bytes - 1) + 0.5 * needs->bytes * (needs->n_frames - 1) +
         0.03 * needs->n_frames * rows_of(variant, needs) * variant->k_x * variant->terms * variant->digits;
}

/* Returns a digit of a row's scaled taps for four bytes of its window, the first of which is `away` samples after the
 * output. */
static guint32
word_of(const double *taps, int away, int digit, int channels, const CnvNeeds *needs)
{
  guint32 word = 0;

  for (int e = 0; e < 4; e++) {
    int at = away + e / needs->bytes, tap = at / channels + needs->anchor_x;

    if (at % channels == 0 && tap >= 0 && tap < needs->n_x)
      word |= (guint32)digit_of(taps[tap], digit, needs, e % needs->bytes) << (8 * e);
  }
  return word;
}

/* Appends the fragments of two rows of scaled taps: row `first`, counted over all frames, and the next one. Rows of a
 * frame follow each other; in pairs of frames, the same row of both. For each two of their steps, each term and each
 * digit, the fragments are the operands B of the products (mma.m16n8k32): lane 4g + t has bytes 4t to 4t + 3 of both
 * steps for output g. If there are two products, their outputs are ordered so that a lane has four neighbours. */
static void
append_rows(GArray *words, const double *taps, int first, const CnvPlane *plane, const CnvVariant *variant,
            const CnvNeeds *needs)
{
  int products = CNV_DENSE_PRODUCTS(needs->bytes, variant->k_x), n_rows = rows_of(variant, needs);
  int n_frames = 2 * variant->pairs;
  int n = CNV_DENSE_FRAGMENTS(needs->bytes, variant->k_x, variant->terms, variant->digits);

  for (int i = 0; i < n * 64; i++) {
    int fragment = i / 64, lane = i / 2 % 32, product = fragment % products;
    int digit = fragment / products % variant->digits, term = fragment / products / variant->digits % variant->terms;
    int step = fragment / products / variant->digits / variant->terms * 2 + i % 2;
    int number = first + step / variant->k_x;
    int frame = n_frames ? number % n_frames : number / n_rows, row = n_frames ? number / n_frames : number % n_rows;
    int output = lane / 8 * 2 * products + 2 * product + lane / 4 % 2;
    int away = (CNV_DENSE_K * (step % variant->k_x) + lane % 4 * 4) / needs->bytes - variant->reach - output;
    guint32 word = 0;

    if (row < needs->rows && frame < needs->n_frames)
      word = word_of(taps + ((frame * needs->terms + term) * needs->rows + row) * needs->n_x, away, digit,
                     plane->channels, needs);
    g_array_append_val(words, word);
  }
}

/* Rounds a term's scaled taps to integers and returns their sum. The largest tap is changed so that this sum is as near
 * to that of the taps as possible. */
static double
round_term(CnvTapList *taps, const CnvNeeds *needs, int term, double scale)
{
  guint size = (guint)(needs->n_x * needs->rows), largest = (guint)term * size;
  double sum = 0, rounded = 0;

  for (guint i = 0; i < taps->n; i++) {
    if ((int)(i / size) % needs->terms != term)
      continue;
    sum += taps->value[i] * scale;
    taps->value[i] = rint(taps->value[i] * scale);
    rounded += taps->value[i];
    largest = fabs(taps->value[i]) > fabs(taps->value[largest]) ? i : largest;
  }
  taps->value[largest] += rint(sum) - rounded;
  return rint(sum);
}

static void
set_job(CnvPlaneKernel *plane_kernel, GArray *words, const float *weight)
{
  CnvTileJob *job = &plane_kernel->tile_job;
  const CnvPlane *plane = plane_kernel->plane;
  CnvNeeds needs = plane_kernel->needs;
  int c = cnv_fit_first_channel(plane), rows = rows_of(plane_kernel->variant, &needs);
  int n_frames =
      plane_kernel->variant->pairs ? 2 * plane_kernel->variant->pairs : needs.n_frames; /* frames with room for taps */
  g_auto(CnvTapList) taps = all_taps(plane_kernel->plan, plane, &needs, weight);
  double scale, error, factor, sum[2] = {0, 0};

  needs.digits = plane_kernel->variant->digits;
  scale = scale_of(&taps, &needs, plane, &error);
  for (int t = 0; t < needs.terms; t++)
    sum[t] = round_term(&taps, &needs, t, scale);
  for (int i = 0; i < n_frames * rows; i += 2)
    append_rows(words, taps.value, i, plane, plane_kernel->variant, &needs);
  job->term = (CnvTerm){.n = {needs.n_x, taps.magnitude > 0 ? rows : 0}, .anchor = {needs.anchor_x, needs.anchor_y}};
  job->top = needs.anchor_y;
  /* The gain divides by the sum of the rounded taps, if that is not near 0, so that a flat frame stays flat. */
  factor = needs.terms == 1 && fabs(taps.sum) > 0.05 * taps.magnitude ? sum[0] / taps.sum : scale;
  factor *= exp2(plane->component[0].shift);
  job->gain = (float)(plane->gain[c] / factor);
  for (int t = 0; t < needs.terms; t++)
    job->bias[t] = (float)(-sum[t] * ldexp(plane->mid[c], plane->component[0].shift));
  if (plane->combine == CNV_COMBINE_ABSOLUTE)
    job->bias[0] += (float)(plane->mid_bias[c] * factor);
  job->offset = (float)(plane->fraction[c] + plane->base[c] -
                        (plane->combine == CNV_COMBINE_SUM ? (double)plane->gain[c] * taps.sum * plane->mid[c] : 0));
}

static int
box_rows(const CnvVariant *variant, const CnvNeeds *needs, int rows)
{
  return rows + rows_of(variant, needs) - 1;
}

const CnvKernelKind cnv_kind_dense = {"dense",
                                      CNV_ALGORITHM_TENSOR,
                                      32 * CNV_TILE_WARPS,
                                      1,
                                      .capability = 80,
                                      .fits = fits,
                                      .cost = cost,
                                      .shared_max = CNV_SHARED_MAX,
                                      .shared_over_time = 40 * 1024,
                                      .variants = variants,
                                      .lists_tiles = TRUE,
                                      .set_job = set_job,
                                      .box_rows = box_rows};
