/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The kind blur (blur.cuh, blur_pixels.cuh, blur_deep.cuh, blur_deep_pixels.cuh, ring.cuh): filters with a row times a
 * column of taps, as banded matrices of f16 for tensor cores. A tap on the sample itself may be added to these, for
 * example to sharpen.
 */
#include <math.h>

#include "gpu/half.h"
#include "gpu/variants.h"

/* Rows are an odd multiple of 16 samples apart, those of pixels an odd multiple of 16 bytes, so that lanes read from
 * different banks. */
#define VARIANT(called, bits, x, y, apart, numbers, across, height, fitting, ...)                                      \
  {called,                                                                                                             \
   .bytes = (bits) / 8,                                                                                                \
   .reach = (apart)*CNV_BLUR_LEAD(x),                                                                                  \
   .rows = CNV_BLUR_LEAD(y),                                                                                           \
   .terms = 1,                                                                                                         \
   .digits = numbers,                                                                                                  \
   .k_x = x,                                                                                                           \
   .k_y = y,                                                                                                           \
   .width = across,                                                                                                    \
   .pitch =                                                                                                            \
       CNV_TILE_PITCH((apart) > 1 ? 16 : 2 * (bits), (across) * (bits) / 8, (apart)*CNV_BLUR_LEAD(x) * (bits) / 8),    \
   .tile_rows = height,                                                                                                \
   .blocks = fitting,                                                                                                  \
   __VA_ARGS__},
#define PIXELS(x, y, height, blocks, plain)                                                                            \
  VARIANT("blur_pixels_u8_" #x "x" #y, 8, x, y, 4, 1, CNV_PIXEL_WIDTH, height, blocks, .frames = 1, .pixels = TRUE)
#define BLUR(name, bits, x, y, m, numbers, n, height, blocks, plain)                                                   \
  VARIANT(#name "_u" #bits "_" #x "x" #y, bits, x, y, 1, numbers, 16 * CNV_TILE_WARPS * (m), height, blocks,           \
          .frames = n)
#define DEEP(x, y, m, height, blocks)                                                                                  \
  VARIANT("blur_deep_u16_" #x "x" #y, 16, x, y, 1, 2, 16 * CNV_TILE_WARPS * (m), height, blocks, .frames = 1,          \
          .deep = TRUE)
#define DEEP_PIXELS(x, y, height, blocks)                                                                              \
  VARIANT("blur_deep_pixels_u16_" #x "x" #y, 16, x, y, 4, 2, CNV_PIXEL_WIDTH, height, blocks, .frames = 1,             \
          .deep = TRUE, .pixels = TRUE)
#define WEIGHED(k, of_kernel, height, blocks)                                                                          \
  VARIANT("blur_weighed_u8_" #of_kernel, 8, k, k, 1, 1, CNV_WEIGHED_WIDTH, height, blocks, .frames = 1, .weighed = TRUE)
#define RING(name, bits, x, numbers, n, blocks)                                                                        \
  VARIANT(#name "_u" #bits "_" #x, bits, x, CNV_RING_STEPS, 1, numbers, CNV_RING_WIDTH, CNV_RING_ROWS, blocks,         \
          .frames = 1, .ring = n)
static const CnvVariant variants[] = {CNV_BLUR_PIXELS_VARIANTS(PIXELS) CNV_BLUR_DEEP_PIXELS_VARIANTS(DEEP_PIXELS)
                                          CNV_BLUR_DEEP_VARIANTS(DEEP) CNV_BLUR_WEIGHED_VARIANTS(WEIGHED)
                                              CNV_BLUR_VARIANTS(BLUR) CNV_RING_VARIANTS(RING){NULL}};

/* blur_deep splits taps into multiples of deep_grid, and rests, which are multiplied by deep_unit (cnv_tap_list_split).
 * The grid is finer along y, because row sums about 0 have smaller magnitudes than samples from 0 on. */
static const double deep_grid[CNV_N_AXES] = {[CNV_X] = 1.0 / 8192, [CNV_Y] = 1.0 / 16384};
static const double deep_unit[CNV_N_AXES] = {[CNV_X] = CNV_DEEP_UNIT, [CNV_Y] = CNV_DEEP_ROW_UNIT};

/* The largest level that one f16 number represents exactly as 1024 + level. */
#define HALF_FULL 1023

/* Mean error of rounding to f16, relative to the standard deviation of the rounded numbers: at most 2^-12, times about
 * three quarters, the mean over a binade. */
#define HALF_ERROR 1.9e-4

/* Largest sum of the weights of frames, so that row sums stay in the range of f16. */
#define WEIGHTS_MAX 16.0

/* Largest sum of the magnitudes of the taps along y, including the gain, so that they stay in the range of f16. */
#define COLUMN_MAX 4096.0

/* Most rows that taps may reach above and below if the frame is smaller than the taps: sums are still exact enough. */
#define SMALL_ROWS 32

/* Returns the term that is a row times a column. center: the tap of a second term, which has only a tap on the sample
 * itself; else 0. Returns NULL if the plane has other terms. */
static const CnvTerm *
find_terms(const CnvPlan *plan, const CnvPlane *plane, double *center)
{
  const CnvTerm *found = NULL;

  *center = 0;
  for (int t = 0; t < plane->n_terms; t++) {
    const CnvTerm *term = &plane->term[t];

    if (term->n[CNV_X] == 1 && term->n[CNV_Y] == 1 && plane->n_terms == 2 && t == 0)
      *center = cnv_plan_tap(plan, term, 0, 0);
    else if (found || !term->separable)
      return NULL;
    else
      found = term;
  }
  return found;
}

/* Lists the taps of both axes of the term. The row is scaled: the magnitudes of its taps add up to 1, and the taps to 0
 * or more. The column compensates for that, and includes the gain. */
static void
both_axes(const CnvPlan *plan, const CnvPlane *plane, const CnvTerm *term, CnvTapList taps[CNV_N_AXES])
{
  double magnitude = 0, sum = 0, gain = plane->gain[cnv_fit_first_channel(plane)];

  for (int i = 0; i < term->n[CNV_X]; i++) {
    sum += plan->taps[term->taps[CNV_X] + i];
    magnitude += fabs(plan->taps[term->taps[CNV_X] + i]);
  }
  if (magnitude == 0)
    magnitude = 1;
  if (sum < 0)
    magnitude = -magnitude;
  for (int axis = 0; axis < CNV_N_AXES; axis++) {
    guint n = (guint)term->n[axis];
    double *value = g_new(double, n);

    for (guint i = 0; i < n; i++)
      value[i] = plan->taps[term->taps[axis] + (int)i] * (axis == CNV_X ? 1 / magnitude : magnitude * gain);
    cnv_tap_list_init(&taps[axis], value, n);
  }
}

static void
clear_axes(CnvTapList taps[CNV_N_AXES])
{
  for (int axis = 0; axis < CNV_N_AXES; axis++)
    cnv_tap_list_clear(&taps[axis]);
}

static double
sum_of(const CnvTapList *taps)
{
  double sum = 0;

  for (guint i = 0; i < taps->n; i++)
    sum += taps->value[i];
  return sum;
}

/* Number of factors, from 1 to below 2, that round_axes tries on a row of taps. */
#define TRIALS 16

/* Rounds the row, times a factor, and the column, so that the sum of all taps does not change. If the column is one
 * tap, it cannot correct the sum of the row, so the row keeps its sum. Returns the error of a sum as root mean square,
 * for samples of standard deviation 1. */
static double
round_by(CnvTapList taps[CNV_N_AXES], double factor)
{
  CnvTapList *x = &taps[CNV_X], *y = &taps[CNV_Y];
  double norm_x = x->norm, norm_y = y->norm, sum = x->sum, of_x, of_y, back;

  of_x = y->n == 1 ? cnv_tap_list_round_to_half(x) : cnv_tap_list_scale_to_half(x, factor);
  back = sum_of(x) != 0 && sum != 0 ? sum / sum_of(x) : 1 / factor;
  for (guint i = 0; i < y->n; i++)
    y->value[i] *= back;
  y->sum *= back;
  of_y = cnv_tap_list_round_to_half(y) / fabs(back);
  return hypot(hypot(of_x * norm_y, norm_x * of_y), x->n > 1 ? HALF_ERROR * norm_x * norm_y : 0);
}

/* Errors up to this multiple of the least error count as equal. */
#define NEARLY_LEAST 1.25

/* Returns the error of rounding a row and a column by a factor (round_by). Does not change the taps. */
static double
error_by(const CnvTapList taps[CNV_N_AXES], double factor)
{
  CnvTapList copy[CNV_N_AXES];
  double error;

  for (int axis = 0; axis < CNV_N_AXES; axis++)
    cnv_tap_list_init(&copy[axis], g_memdup2(taps[axis].value, taps[axis].n * sizeof(double)), taps[axis].n);
  error = round_by(copy, factor);
  clear_axes(copy);
  return error;
}

/* Rounds both axes to one f16 number per tap, and returns the error on noise, which is nearly the least possible. Among
 * factors with such an error, 1 is preferred, then the largest: row sums of black and white are 128 times the factor,
 * and above 128 the numbers of f16 are twice as far apart. */
static double
round_axes(CnvTapList taps[CNV_N_AXES])
{
  int trials = taps[CNV_Y].n == 1 ? 1 : TRIALS, best = 0;
  double error[TRIALS], least = G_MAXDOUBLE;

  for (int i = 0; i < trials; i++) {
    error[i] = error_by(taps, 1 + (double)i / trials);
    least = MIN(least, error[i]);
  }
  for (int i = trials - 1; error[best] > NEARLY_LEAST * least; i--)
    best = i;
  return round_by(taps, 1 + (double)best / trials);
}

/* Returns TRUE if sums over frames stay in the range of f16, even if frames are missing and the remaining weights are
 * scaled. */
static gboolean
weights_fit(const CnvPlan *plan)
{
  for (int i = 0; i < plan->n_temporal_taps; i++)
    if (plan->weight[i] < 0)
      return FALSE;
  return plan->temporal_magnitude <= WEIGHTS_MAX && plan->temporal_magnitude >= 1 / WEIGHTS_MAX;
}

/* Returns TRUE if levels may be below 0 or above full. */
static gboolean
levels_clamp(const CnvPlan *plan, const CnvPlane *plane, const CnvTapList taps[CNV_N_AXES], double center)
{
  int c = cnv_fit_first_channel(plane);

  return taps[CNV_X].is_signed || taps[CNV_Y].is_signed || center != 0 || !(taps[CNV_Y].sum <= 1.000001) ||
         plane->fraction[c] + plane->base[c] != plane->mid[c] ||
         (plan->n_temporal_taps > 1 && !(plan->temporal_magnitude <= 1.000001));
}

/* Returns TRUE for pixels of four channels, one of which is copied, of 8 bits or more than 10. */
static gboolean
is_of_pixels(const CnvPlane *plane, const CnvNeeds *needs)
{
  return plane->channels == 4 && (needs->bytes == 1 || needs->deep) && (plane->filtered | plane->copied) == 15 &&
         plane->copied != 0 && (plane->copied & (plane->copied - 1)) == 0;
}

static gboolean
terms_fit(const CnvPlan *plan, const CnvPlane *plane, const CnvTerm *term, GError **error)
{
  if (!term || plan->not_time_separable || plane->combine != CNV_COMBINE_SUM)
    return cnv_unsupported(error, "it needs taps that are one row times one column");
  if (plane->n_terms > 1 && (plan->n_temporal_taps > 1 || cnv_border_renormalizes(plan->filter.border)))
    return cnv_unsupported(
        error, "over time and with border-mode=renormalize it needs taps that are one row times one column");
  return TRUE;
}

/* Returns TRUE if blur_deep can filter samples of more than 10 bits with these taps. */
static gboolean
deep_fits(const CnvPlan *plan, const CnvPlane *plane, const CnvTapList taps[CNV_N_AXES], gboolean clamps,
          GError **error)
{
  return (plan->n_temporal_taps == 1 && plane->n_terms == 1 && !plan->is_weighed && !clamps &&
          !cnv_border_renormalizes((CnvBorder)plane->border) && taps[CNV_Y].magnitude <= 1.000001) ||
         cnv_unsupported(error,
                         "for samples of more than 10 bits it needs one frame, positive taps without scale above "
                         "1 or bias, no isolated regions except rectangles, and no border-mode=renormalize");
}

/* Returns TRUE if sums over time are exact enough. For samples of 8 bits a sum over time is rounded to one f16
 * number. */
static gboolean
sums_suffice(const CnvPlane *plane, const CnvNeeds *needs, const CnvTapList taps[CNV_N_AXES])
{
  const CnvTapList *x = &taps[CNV_X], *y = &taps[CNV_Y];

  return needs->n_frames == 1 || needs->bytes > 1 ||
         cnv_fit_error(plane, HALF_ERROR * x->norm * y->norm, x->is_signed || y->is_signed);
}

/* Returns TRUE if one f16 number per tap and row sum is exact enough. Rounds the taps. center: the tap on the sample
 * itself. */
static gboolean
halves_suffice(const CnvPlane *plane, const CnvNeeds *needs, CnvTapList taps[CNV_N_AXES], double center)
{
  const CnvTapList *x = &taps[CNV_X], *y = &taps[CNV_Y];

  if (needs->n_frames > 1 || needs->bytes > 1 || x->is_signed || (y->is_signed && y->sum > -0.999999 * y->magnitude))
    return FALSE;
  return cnv_fit_error(plane, round_axes(taps), center != 0);
}

/* Least share of the tap on the sample itself in the sum of all taps. Most samples of weight above 0 then have a sum of
 * weights above 1e-6 of the largest possible sum (convolve/work.h). All others have the weight 1/255 and change by at
 * most one level. */
#define WEIGHED_CENTER_MIN 1.3e-4

/* Returns TRUE if blur_weighed can filter the plane: samples of 8 bits, positive taps, and levels that need no
 * clamping. */
static gboolean
weighs(const CnvPlane *plane, const CnvNeeds *needs, const CnvTapList taps[CNV_N_AXES], gboolean clamps, GError **error)
{
  double share = 1;

  for (int axis = 0; axis < CNV_N_AXES; axis++)
    share *= taps[axis].value[plane->term[0].anchor[axis]] / taps[axis].sum;
  return (needs->bytes == 1 && needs->n_frames == 1 && needs->digits == 1 && plane->n_terms == 1 && !clamps &&
          share >= WEIGHED_CENTER_MIN) ||
         cnv_unsupported(error,
                         "for isolated regions that are not rectangles it needs samples of 8 bits, one frame, and "
                         "positive taps without scale above 1 or bias");
}

static gboolean
fits(const CnvPlan *plan, const CnvPlane *of, CnvNeeds *needs, GError **error)
{
  double center;
  CnvPlane samples;
  const CnvPlane *plane = cnv_fit_plane(plan, of, &samples);
  const CnvTerm *term = find_terms(plan, plane, &center);
  CnvTapList taps[CNV_N_AXES];
  gboolean is_large, is_small, is_rough, is_fit, clamps;

  if (!cnv_fit_samples(plane, error) || !terms_fit(plan, plane, term, error))
    return FALSE;
  *needs = (CnvNeeds){.terms = 1,
                      .digits = 2,
                      .bytes = plane->component[0].bytes,
                      .n_frames = plan->n_temporal_taps,
                      .deep = plane->full[cnv_fit_first_channel(plane)] > HALF_FULL,
                      .weighed = plan->is_weighed,
                      .reach = cnv_fit_reach(term, CNV_X) * plane->channels,
                      .rows = cnv_fit_reach(term, CNV_Y)};
  both_axes(plan, plane, term, taps);
  clamps = levels_clamp(plan, plane, taps, center);
  needs->pixels = is_of_pixels(plane, needs) && !cnv_border_renormalizes((CnvBorder)plane->border) && !clamps;
  is_rough = !sums_suffice(plane, needs, taps);
  is_large = !(taps[CNV_Y].magnitude <= COLUMN_MAX);
  /* If a frame is smaller than the taps, all row sums are nearly equal, and so are their errors. */
  is_small = plane->width < term->n[CNV_X] && plane->height < term->n[CNV_Y];
  if (!is_large && !(is_small && cnv_variant_find(&cnv_kind_blur, needs)) && halves_suffice(plane, needs, taps, center))
    needs->digits = 1;
  is_fit = (!needs->deep || deep_fits(plan, plane, taps, clamps, error)) &&
           (!plan->is_weighed || weighs(plane, needs, taps, clamps, error));
  clear_axes(taps);
  if (!is_fit)
    return FALSE;
  if (is_large)
    return cnv_unsupported(error, "the filter's sums are too large for it");
  if (is_rough)
    return cnv_unsupported(error, "over time, rounding to f16 would be too coarse for so few taps");
  if (needs->n_frames > 1 && !weights_fit(plan))
    return cnv_unsupported(error, "over time it needs weights of frames that are not negative and add up to 1/%g to %g",
                           WEIGHTS_MAX, WEIGHTS_MAX);
  if (is_small && needs->rows > SMALL_ROWS)
    return cnv_unsupported(error,
                           "the frame is smaller than the taps, so all levels, and all errors, would be nearly equal");
  return cnv_variant_find(&cnv_kind_blur, needs) ||
         cnv_unsupported(error, "%d taps along x, %d along y, %d channels and %d frames are more than its tiles hold",
                         term->n[CNV_X], term->n[CNV_Y], plane->channels, needs->n_frames);
}

/* Returns a cost fitted to these times in microseconds, by the steps along both axes together:
 * - 4K NV12: 4 steps 11.0, 6 14.1, 10 18.8; numbers split in two, 4K P010: 4 steps 21.4, 6 26.7.
 * - Over time, 5 frames: 4 steps 43.7. This is a single figure, so the growth with frames is an estimate.
 * - A ring of 9 steps along x: 36 at r=44, 37.8 at r=64 (RGBA, r=16: 62.8); of 17 steps: 72.9 at r=128 (RGBA, r=32:
 *   100). P010, r=64: 83.7.
 * - 16 bits, 4K GRAY16: 4 steps 19.2, 6 24.8, 10 40.5; P016: 4 steps 26.3, 10 55.5. ARGB64, alpha copied: 4 steps
 *   57.6, 6 89. */
static double
cost(const CnvPlan *plan, const CnvPlane *plane, const CnvNeeds *needs, const CnvVariant *variant)
{
  double memory = 0.4 * (needs->bytes - 1);

  if (variant->deep && variant->pixels)
    return 0.475 * (variant->k_x + variant->k_y) - 0.26;
  if (variant->deep)
    return 0.3 + 0.39 * (variant->k_x + variant->k_y);
  if (variant->ring)
    return memory + (0.107 * variant->k_x + 0.25 * cnv_ring_steps(needs)) * variant->digits;
  if (needs->n_frames > 1)
    return memory + 0.35 + 0.57 * needs->n_frames + 0.108 * (variant->k_x + variant->k_y - 4) * variant->digits;
  return memory + 0.16 + 0.108 * (variant->k_x + variant->k_y) * variant->digits;
}

/* Return the place of output i, which is row i of a fragment, and of sample or row of samples i, which is column i.
 * Along x a lane's four results are neighbours, and so are its four samples. */
static int
along_x(int i)
{
  return 4 * (i % 8 / 2) + i % 2 + i / 8 * 2;
}

static int
along_y(int i)
{
  return i;
}

static int
along_y_of_pixels(int i)
{
  return i / 8 * 8 + i % 8 / 2 + i % 2 * 4;
}

/* Taps along an axis. */
typedef struct {
  guint16 *part[2];     /* f16 numbers: a tap is one of part 0, or the sum of one of each part */
  int n, anchor, apart; /* apart: samples or rows from a tap to the next */
  int (*place)(int i);  /* along_x and so on */
} Line;

/* Splits the taps into f16 numbers. */
static void
line_init(Line *line, const CnvVariant *variant, const CnvTapList *taps, int axis)
{
  line->n = (int)taps->n;
  for (int part = 0; part < 2; part++)
    line->part[part] = g_new(guint16, taps->n);
  if (variant->deep)
    cnv_tap_list_split(taps, deep_grid[axis], deep_unit[axis], line->part[0], line->part[1]);
  else
    for (guint i = 0; i < taps->n; i++) {
      line->part[0][i] = cnv_half_part(taps->value[i], 0);
      line->part[1][i] = cnv_half_part(taps->value[i], 1);
    }
}

static void
line_clear(Line *line)
{
  g_free(line->part[0]);
  g_free(line->part[1]);
}

static double
sum_of_part(const Line *line, int part)
{
  double sum = 0;

  for (int i = 0; i < line->n; i++)
    sum += cnv_from_half(line->part[part][i]);
  return sum;
}

/* Appends a fragment of a band: operand A of mma.m16n8k16, four words per lane. Lane 4g + t has rows g and g + 8, and
 * columns 2t, 2t + 1, 2t + 8 and 2t + 9. first: place of the fragment's column 0, relative to output 0. */
static void
append_fragment(GArray *words, const Line *taps, int first, int part)
{
  for (int i = 0; i < 32 * 4; i++) {
    guint32 word = 0;

    for (int j = 0; j < 2; j++) {
      int m = i / 16 + i % 2 * 8, k = i / 4 % 4 * 2 + j + i % 4 / 2 * 8;
      int away = first + taps->place(k) - taps->place(m), tap = away / taps->apart + taps->anchor;

      if (away % taps->apart == 0 && tap >= 0 && tap < taps->n)
        word |= (guint32)taps->part[part][tap] << (16 * j);
    }
    g_array_append_val(words, word);
  }
}

static void
append_band(GArray *words, const Line *taps, int steps, int parts)
{
  for (int part = 0; part < parts; part++)
    for (int k = 0; k < steps; k++)
      append_fragment(words, taps, 16 * k - CNV_BLUR_LEAD(steps), part);
}

/* Returns the rows of a tile above its outputs; as many are below them. Over time these are only the rows that taps
 * reach, so that tiles have more rows of outputs. */
static int
rows_above(const CnvVariant *variant, const CnvNeeds *needs)
{
  return variant->frames > 1 ? needs->rows : variant->rows;
}

/* Appends the bands of both axes, and sets the start values of sums. */
static void
set_bands(CnvTileJob *job, GArray *words, const CnvPlane *plane, const CnvVariant *variant, const CnvTerm *term,
          const CnvTapList taps[CNV_N_AXES])
{
  const int c = cnv_fit_first_channel(plane);
  const double mid = plane->mid[c];
  Line x = {.anchor = term->anchor[CNV_X], .apart = variant->pixels ? 1 : plane->channels, .place = along_x};
  Line y = {.anchor = term->anchor[CNV_Y],
            .apart = 1,
            .place = variant->pixels && !variant->deep ? along_y_of_pixels : along_y};
  double sum, sum_of_rests, first_sum, first_level;

  line_init(&x, variant, &taps[CNV_X], CNV_X);
  line_init(&y, variant, &taps[CNV_Y], CNV_Y);
  append_band(words, &y, job->steps_y, variant->digits);
  append_band(words, &x, variant->k_x, variant->digits);
  sum = sum_of_part(&x, 0);
  sum_of_rests = variant->digits > 1 ? sum_of_part(&x, 1) : 0;
  if (variant->deep) {
    /* first_level is for the sum of rests. Lower bits are not multiplied by rests, so they count as the middle of their
     * range there. */
    first_sum = -(1024 + mid / CNV_DEEP_UNIT) * sum;
    first_level = -1024 * sum - (1024 + mid / CNV_DEEP_UNIT - 0.5 * (CNV_DEEP_UNIT - 1) / CNV_DEEP_UNIT) * sum_of_rests;
  } else {
    first_sum = variant->frames > 1 ? 0 : -(1024 + mid) * (sum + sum_of_rests);
    first_level = job->renormalizes ? 0 : job->offset;
  }
  for (int i = 0; i < 4; i++) {
    job->first_sum[i] = (float)first_sum;
    job->first_level[i] = (float)first_level;
  }
  line_clear(&x);
  line_clear(&y);
}

static void
set_job(CnvPlaneKernel *of, GArray *words, const float *weight)
{
  CnvTileJob *job = &of->tile_job;
  const CnvPlan *plan = of->plan;
  CnvPlane samples;
  const CnvPlane *plane = cnv_fit_plane(plan, of->plane, &samples);
  const CnvVariant *variant = of->variant;
  double center;
  const CnvTerm *term = find_terms(plan, plane, &center);
  const int c = cnv_fit_first_channel(plane);
  CnvTapList taps[CNV_N_AXES];

  both_axes(plan, plane, term, taps);
  job->clamps = levels_clamp(plan, plane, taps, center);
  if (variant->digits == 1)
    round_axes(taps);
  job->top = rows_above(variant, &of->shared);
  job->renormalizes = job->renormalizes && !variant->weighed; /* missing samples have no weight */
  job->steps_y = variant->ring ? cnv_ring_steps(&of->needs) : variant->k_y;
  job->offset = (float)(1024.0 + plane->fraction[c] + plane->base[c]);
  set_bands(job, words, plane, variant, term, taps);
  job->center = (float)(center * plane->gain[c]);
  if (variant->weighed) {
    job->gain = (float)(plane->gain[c] * (double)plane->alpha_norm * CNV_WEIGHED_UNIT / plane->full[c]);
    job->fraction = (float)((plane->fraction[c] + plane->base[c]) / (double)plane->full[c]);
  }
  clear_axes(taps);
}

/* Returns the rows of a tile with its apron; of a ring, the rows that a round loads. */
static int
box_rows(const CnvVariant *variant, const CnvNeeds *needs, int rows)
{
  return variant->ring ? CNV_TILE_STEP * variant->ring : rows + 2 * rows_above(variant, needs);
}

const CnvKernelKind cnv_kind_blur = {"blur",
                                     CNV_ALGORITHM_TENSOR,
                                     32 * CNV_TILE_WARPS,
                                     1,
                                     .capability = 80,
                                     .fits = fits,
                                     .cost = cost,
                                     .shared_max = CNV_SHARED_MAX,
                                     .shared_over_time = 56 * 1024,
                                     .variants = variants,
                                     .lists_tiles = TRUE,
                                     .set_job = set_job,
                                     .box_rows = box_rows};
