/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gpu/bands.h"

#include <math.h>
#include <string.h>

#include "gpu/half.h"
#include "gpu/kernels/arguments.h"

#define PLAIN(k_x, k_y, groups, blocks) {{"tensor", #k_x "x" #k_y}, k_x, k_y, groups, CNV_TENSOR_PLAIN, FALSE},
#define EXACT(k_x, k_y, groups, blocks) {{"tensor_exact", #k_x "x" #k_y}, k_x, k_y, groups, CNV_TENSOR_SPLIT, FALSE},
#define TIME(k_x, k_y, groups, blocks) {{"tensor_time", #k_x "x" #k_y}, k_x, k_y, groups, CNV_TENSOR_TIME, FALSE},
#define RING(k_x, groups, blocks) {{"tensor_ring", #k_x}, k_x, CNV_RING_K_Y, groups, CNV_TENSOR_PLAIN, TRUE},
#define RING_EXACT(k_x, groups, blocks)                                                                                \
  {{"tensor_ring_exact", #k_x}, k_x, CNV_RING_EXACT_K_Y, groups, CNV_TENSOR_SPLIT, TRUE},
const CnvTensorVariant cnv_tensor_variants[] = {
    CNV_TENSOR_VARIANTS(PLAIN) CNV_TENSOR_RING_VARIANTS(RING) CNV_TENSOR_EXACT_VARIANTS(EXACT)
        CNV_TENSOR_RING_EXACT_VARIANTS(RING_EXACT)
            CNV_TENSOR_TIME_VARIANTS(TIME){{NULL, NULL}, 0, 0, 0, CNV_TENSOR_PLAIN, FALSE},
};

/* Scaled taps of an axis add up, without their signs, to this at most: row sums of 12 bits less mid then stay below
 * 2048 * 31, in f16's range. */
#define SCALED_SUM 31.0

/* Of the weights of frames: 31 * 128 * 16 is below 65504. */
#define WEIGHTS_MAX 16.0

/* Integers that the smallest tap may become. */
#define SCALE_TRIALS 8

/* Mean error of rounding to f16, relative to the deviation of what is rounded: 2^-12 at most, three quarters of the
 * binade in the mean. */
#define HALF_ERROR 1.9e-4

/* Sum of what rounding to f16 takes from taps or adds. */
static double
rounding_error(const float *taps, int n, double scale)
{
  double sum = 0;

  for (int i = 0; i < n; i++)
    sum += fabs(cnv_half_value(taps[i] * scale, 1) / scale - taps[i]);
  return sum;
}

/* What an axis' taps are multiplied by: of a power of two, of what makes the largest tap one, and of what makes the
 * smallest a small integer, that which f16 rounds least. */
static double
scale_of(const float *taps, int n)
{
  double sum = cnv_fit_magnitude(taps, n), largest = 0, smallest = sum, scale, error;

  if (sum == 0)
    return 1;
  for (int i = 0; i < n; i++) {
    largest = MAX(largest, fabs(taps[i]));
    smallest = taps[i] != 0 ? MIN(smallest, fabs(taps[i])) : smallest;
  }
  scale = ldexp(1, (int)floor(log2(SCALED_SUM * largest / sum))) / largest;
  error = rounding_error(taps, n, scale);
  for (int i = 0; i <= SCALE_TRIALS && error > 0; i++) {
    double trial = i > 0 ? i / smallest : ldexp(1, (int)floor(log2(SCALED_SUM / sum)));

    if (trial * sum <= SCALED_SUM && rounding_error(taps, n, trial) < error) {
      scale = trial;
      error = rounding_error(taps, n, trial);
    }
  }
  return scale;
}

/* Root of the sum of squares, and of those of the errors by rounding. */
static void
deviations(const float *taps, int n, double *of_taps, double *of_errors)
{
  double scale = scale_of(taps, n);
  double taps2 = 0, errors2 = 0, sum = 0, rounded = 0;

  for (int i = 0; i < n; i++) {
    sum += taps[i];
    rounded += cnv_half_value(taps[i] * scale, 1) / scale;
  }
  for (int i = 0; i < n; i++) {
    double half = cnv_half_value(taps[i] * scale, 1) / scale;
    double error = half * (rounded != 0 ? sum / rounded : 1) - taps[i];

    taps2 += (double)taps[i] * taps[i];
    errors2 += error * error;
  }
  *of_taps = sqrt(taps2);
  *of_errors = sqrt(errors2);
}

static gboolean
is_signed(const float *taps, int n)
{
  for (int i = 0; i < n; i++)
    if (taps[i] < 0)
      return TRUE;
  return FALSE;
}

/* Whether single f16 numbers would break the contract on noise. */
static gboolean
needs_exact(const CnvPlan *plan, const CnvPlanPlane *plane, int component)
{
  const CnvPlanTerm *set = &plane->term[0];
  double taps[CNV_N_AXES], errors[CNV_N_AXES], error;

  for (int axis = 0; axis < CNV_N_AXES; axis++) {
    const float *from = cnv_fit_axis(plan, plane, axis);

    if (is_signed(from, set->n[axis]))
      return TRUE;
    deviations(from, set->n[axis], &taps[axis], &errors[axis]);
  }
  /* The mean of a normal distribution's magnitude is 0.8 of its deviation. */
  error = hypot(errors[CNV_X] * taps[CNV_Y], taps[CNV_X] * errors[CNV_Y]);
  error = hypot(error, set->n[CNV_X] > 1 ? HALF_ERROR * taps[CNV_X] * taps[CNV_Y] : 0);
  error *= 0.8 * CNV_NOISE_DEVIATION * plane->full[component] * fabs(plane->gain[component]) *
           MAX(plan->temporal_magnitude, 1);
  return plane->component[0].bytes > 1 || plane->combine != CNV_COMBINE_SUM || error > CNV_MEAN_ERROR_MAX;
}

static const char *
why_unsupported(const CnvPlan *plan, const CnvPlanPlane *plane)
{
  const CnvPlanTerm *set = &plane->term[0];
  const char *reason = cnv_fit_lanes(plane);

  if (!reason)
    reason = cnv_fit_half(plane);
  if (!reason)
    reason = cnv_fit_one_term(plan, plane);
  if (!reason && plan->filter.border == CNV_BORDER_WRAP)
    reason = "it takes no border-mode=wrap";
  return reason ? reason
                : cnv_fit_levels(plane, cnv_fit_magnitude(cnv_fit_axis(plan, plane, CNV_X), set->n[CNV_X]) *
                                            cnv_fit_magnitude(cnv_fit_axis(plan, plane, CNV_Y), set->n[CNV_Y]) *
                                            MAX(plan->temporal_magnitude, 1));
}

CnvBands
cnv_bands_join(CnvBands a, CnvBands b)
{
  return (CnvBands){.k_x = MAX(a.k_x, b.k_x), .k_y = MAX(a.k_y, b.k_y), .mode = MAX(a.mode, b.mode)};
}

const CnvTensorVariant *
cnv_bands_variant(const CnvBands *bands)
{
  for (const CnvTensorVariant *v = cnv_tensor_variants; v->name.suffix; v++)
    if (v->k_x >= bands->k_x && v->k_y >= bands->k_y && v->mode == bands->mode)
      return v;
  return NULL;
}

/* Taps of 16 outputs over the samples that they reach, for a group of the plane, or INNER. */
#define INNER -1
#define K_MAX 17
typedef struct {
  double tap[CNV_TENSOR_STEP][K_MAX * CNV_TENSOR_STEP];
} Band;

/* Whether missing samples have values of their own, rather than those of others. */
static gboolean
fills(const CnvPlan *plan)
{
  return plan->filter.border == CNV_BORDER_CONSTANT || plan->filter.border == CNV_BORDER_RENORMALIZE;
}

/* Where missing samples stand for others, these get the taps. Returns FALSE where one of them is out of reach. */
static gboolean
make_band(const CnvPlan *plan, const CnvPlanPlane *plane, int group, int k_x, int lead, Band *band)
{
  const CnvPlanTerm *set = &plane->term[0];
  const float *taps = cnv_fit_axis(plan, plane, CNV_X);
  int C = plane->channels, first = group * CNV_TENSOR_STEP, n = k_x * CNV_TENSOR_STEP;

  memset(band, 0, sizeof(*band));
  for (int out = 0; out < CNV_TENSOR_STEP; out++)
    for (int i = 0; i < set->n[CNV_X]; i++) {
      int at = out + (i - set->anchor[CNV_X]) * C, pixel = (first + out) / C;

      if (group != INNER && pixel < plane->width)
        at = cnv_border_index(plan->filter.border, pixel + i - set->anchor[CNV_X], plane->width) * C +
             (first + out) % C - first;
      else if (group != INNER)
        continue; /* no output */
      if (at + lead < 0 || at + lead >= n)
        return FALSE;
      band->tap[out][at + lead] += taps[i];
    }
  return TRUE;
}

/* Which groups of 16 samples have taps that miss some. */
static void
find_edges(const CnvPlan *plan, const CnvPlanPlane *plane, CnvBands *bands)
{
  const CnvPlanTerm *set = &plane->term[0];
  int width = plane->width * plane->channels, right = set->n[CNV_X] - 1 - set->anchor[CNV_X];
  int inner = width - 15 - right * plane->channels; /* groups that begin before it find all on their right */

  bands->n_groups = (width + CNV_TENSOR_STEP - 1) / CNV_TENSOR_STEP;
  bands->left_groups = MIN((bands->lead + CNV_TENSOR_STEP - 1) / CNV_TENSOR_STEP, bands->n_groups);
  bands->right_group = CLAMP((inner + CNV_TENSOR_STEP - 1) / CNV_TENSOR_STEP, bands->left_groups, bands->n_groups);
  if (inner <= 0)
    bands->right_group = bands->left_groups;
  if (fills(plan)) {
    bands->left_groups = 0;
    bands->right_group = bands->n_groups;
  }
}

static gboolean
edges_fit(const CnvPlan *plan, const CnvPlanPlane *plane, const CnvBands *bands)
{
  Band band;

  for (int g = 0; g < bands->n_groups; g = g + 1 == bands->left_groups ? bands->right_group : g + 1)
    if ((g < bands->left_groups || g >= bands->right_group) &&
        !make_band(plan, plane, g, bands->k_x, bands->lead, &band))
      return FALSE;
  return TRUE;
}

/* What the halves of all taps add up to, unscaled. */
static double
sum_of_halves(const float *taps, int n, double scale, int parts)
{
  double sum = 0;

  for (int i = 0; i < n; i++)
    sum += cnv_half_value(taps[i] * scale, parts);
  return sum / scale;
}

/* Whether sums over frames stay in the range of f16, also where frames are missing and the others' weights are scaled.
 */
static gboolean
weights_fit(const CnvPlan *plan)
{
  for (int i = 0; i < plan->n_temporal_taps; i++)
    if (plan->weight[i] < 0)
      return FALSE;
  return plan->temporal_magnitude <= WEIGHTS_MAX && plan->temporal_magnitude >= 1 / WEIGHTS_MAX;
}

gboolean
cnv_bands_fit(const CnvPlan *plan, const CnvPlanPlane *plane, CnvBands *bands, GError **error)
{
  const CnvPlanTerm *set = &plane->term[0];
  const char *reason = why_unsupported(plan, plane);
  gboolean exact, over_time;
  int span;

  if (reason) {
    g_set_error_literal(error, CNV_ERROR, CNV_ERROR_UNSUPPORTED, reason);
    return FALSE;
  }
  /* As long as either side of the taps: what stands for a missing sample is then among those loaded. */
  bands->lead = (MAX(set->anchor[CNV_X], set->n[CNV_X] - 1 - set->anchor[CNV_X]) * plane->channels + 7) / 8 * 8;
  span = bands->lead + (set->n[CNV_X] - 1 - set->anchor[CNV_X]) * plane->channels;
  bands->k_x = (span + 15) / CNV_TENSOR_STEP + 1;
  bands->k_y = (set->n[CNV_Y] + CNV_TENSOR_ROWS - 2) / CNV_TENSOR_STEP + 1;
  exact = needs_exact(plan, plane, cnv_fit_first_lane(plane));
  bands->mode = plan->n_temporal_taps > 1 ? CNV_TENSOR_TIME : exact ? CNV_TENSOR_SPLIT : CNV_TENSOR_PLAIN;
  find_edges(plan, plane, bands);
  over_time = plan->n_temporal_taps == 1 || (!exact && weights_fit(plan));
  if (over_time && cnv_bands_variant(bands) && edges_fit(plan, plane, bands))
    return TRUE;
  if (!over_time)
    g_set_error(error, CNV_ERROR, CNV_ERROR_UNSUPPORTED,
                "over time it takes 8 bits, taps that are not negative and weights of frames that add up to 1/%g to %g",
                WEIGHTS_MAX, WEIGHTS_MAX);
  else
    g_set_error(error, CNV_ERROR, CNV_ERROR_UNSUPPORTED,
                "%d taps along x, %d along y and %d channels are more than its bands reach over", set->n[CNV_X],
                set->n[CNV_Y], plane->channels);
  return FALSE;
}

static void
append_pair(GArray *words, guint32 low, guint32 high)
{
  guint32 word = low | high << 16;

  g_array_append_val(words, word);
}

/* A of the row pass, k step after k step: rows g and g + 8 are the outputs 2g and 2g + 1; pairs of k are samples 4t and
 * 4t + 1, then 4t + 2 and 4t + 3. */
static void
append_x(GArray *words, const Band *band, double scale, int parts, int k_x)
{
  for (int part = 0; part < parts; part++)
    for (int i = 0; i < k_x * 32 * 4; i++) {
      int k = i / 128, component = i / 4 % 32, reg = i % 4;
      const double *tap =
          &band->tap[component / 4 * 2 + reg % 2][CNV_TENSOR_STEP * k + component % 4 * 4 + reg / 2 * 2];

      append_pair(words, cnv_half_part(tap[0] * scale, part), cnv_half_part(tap[1] * scale, part));
    }
}

/* The tap of an axis that row `at` of the band has for output row 0, in halves. */
static void
append_taps(GArray *words, const float *taps, int n, int at, double scale, int part)
{
  guint16 half[2];

  for (int j = 0; j < 2; j++)
    half[j] = at + j >= 0 && at + j < n ? cnv_half_part(taps[at + j] * scale, part) : 0;
  append_pair(words, half[0], half[1]);
}

/* B of the column pass: pairs of k are rows 2t and 2t + 1, then 2t + 8 and 2t + 9; column g is output row g. */
static void
append_y(GArray *words, const float *taps, int n, double scale, int parts, int k_y)
{
  for (int part = 0; part < parts; part++)
    for (int i = 0; i < k_y * 32 * 2; i++) {
      int k = i / 64, component = i / 2 % 32;

      append_taps(words, taps, n, CNV_TENSOR_STEP * k + component % 4 * 2 + i % 2 * 8 - component / 4, scale, part);
    }
}

/* The same of 16 rows of outputs: a component has its pairs of the first eight, then those of the others. */
static void
append_y_ring(GArray *words, const float *taps, int n, double scale, int parts)
{
  for (int part = 0; part < parts; part++)
    for (int i = 0; i < CNV_RING_STEPS(n) * 32 * 4; i++) {
      int k = i / 128, component = i / 4 % 32, row = component / 4 + i % 4 / 2 * 8;

      append_taps(words, taps, n, CNV_TENSOR_STEP * k + component % 4 * 2 + i % 2 * 8 - row, scale, part);
    }
}

guint
cnv_bands_shared_bytes(const CnvTensorVariant *variant, const CnvBands *bands)
{
  int rows = CNV_TENSOR_STEP * bands->k_y - CNV_TENSOR_ROWS + 1, parts = variant->mode == CNV_TENSOR_SPLIT ? 2 : 1;

  return variant->ring ? CNV_RING_SHARED(variant->k_x, CNV_RING_STEPS(rows), variant->groups, parts) : 0;
}

guint
cnv_bands_append(GArray *words, const CnvPlan *plan, const CnvPlanPlane *plane, const CnvTensorVariant *variant,
                 const CnvBands *bands, float *gain)
{
  const CnvPlanTerm *set = &plane->term[0];
  const float *taps[] = {cnv_fit_axis(plan, plane, CNV_X), cnv_fit_axis(plan, plane, CNV_Y)};
  double factor = plane->gain[cnv_fit_first_lane(plane)], scale[CNV_N_AXES];
  int parts = variant->mode == CNV_TENSOR_SPLIT ? 2 : 1;
  guint first = words->len;
  Band band;

  for (int axis = 0; axis < CNV_N_AXES; axis++) {
    double sum = 0, halves;

    scale[axis] = scale_of(taps[axis], set->n[axis]);
    halves = sum_of_halves(taps[axis], set->n[axis], scale[axis], parts);
    for (int i = 0; i < set->n[axis]; i++)
      sum += taps[axis][i];
    factor /= scale[axis];
    if (!is_signed(taps[axis], set->n[axis]) && halves != 0)
      factor *= sum / halves;
  }
  *gain = (float)factor;
  make_band(plan, plane, INNER, variant->k_x, bands->lead, &band);
  append_x(words, &band, scale[CNV_X], parts, variant->k_x);
  if (variant->ring)
    append_y_ring(words, taps[CNV_Y], set->n[CNV_Y], scale[CNV_Y], parts);
  else
    append_y(words, taps[CNV_Y], set->n[CNV_Y], scale[CNV_Y], parts, variant->k_y);
  for (int g = 0; g < bands->n_groups; g++)
    if (g < bands->left_groups || g >= bands->right_group) {
      make_band(plan, plane, g, variant->k_x, bands->lead, &band);
      append_x(words, &band, scale[CNV_X], parts, variant->k_x);
    }
  return first;
}
