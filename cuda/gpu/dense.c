/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gpu/dense.h"

#include "gpu/half.h"
#include "gpu/kernels/arguments.h"

#define DENSE(k, r, terms, exact, blocks_u8, blocks_u16)                                                               \
  {{"dense", #k "_" #r "_" #terms "_" #exact}, k, r, terms, exact},
const CnvDenseVariant cnv_dense_variants[] = {CNV_DENSE_VARIANTS(DENSE){{NULL, NULL}, 0, 0, 0, 0}};

/* Up to so many rows of taps a kernel waits for memory, and the variant with few rows a warp is faster. */
#define FEW_ROWS 9

/* What a block may ask for on every GPU that has these instructions, beside what it has anyway: 99 KiB in all. */
#define SHARED_MAX (90 * 1024)

/* The largest tap becomes as much, or up to twice that: f16 then rounds those down to a thousandth of it as well as it
 * does the largest. */
#define SCALED_TAP 1024.0

/* Scales that are tried, as powers and as multiples of the smallest tap. Taps below a part of the largest count as 0
 * there. */
#define TRIALS 64
#define SMALLEST_PART 1e-4

/* Errors up to this, relative to the taps, are those of float32. */
#define FLOAT_ERROR 2.4e-7

/* Sums begin with what a level begins with, over the first frame's weight: it must not leave float32. */
#define WEIGHTS_RATIO 1e12

gboolean
cnv_dense_is_for(const CnvPlan *plan, const CnvPlanPlane *plane)
{
  return plan->not_time_separable || plane->n_terms > 1 || !plane->term[0].separable;
}

static int
n_frames_of(const CnvPlan *plan)
{
  return plan->not_time_separable ? plan->n_temporal_taps : 1;
}

static guint
n_taps_of(const CnvPlan *plan, const CnvDense *dense)
{
  return (guint)(n_frames_of(plan) * dense->terms * dense->n_y * dense->n_x);
}

/* Lines the terms' anchors up; 16 * k - 15 samples are what k steps reach over. */
static void
measure(const CnvPlanPlane *plane, CnvDense *dense)
{
  int after_x = 0, after_y = 0, span;

  *dense = (CnvDense){.terms = plane->combine == CNV_COMBINE_MAGNITUDE ? plane->n_terms : 1};
  for (int t = 0; t < plane->n_terms; t++) {
    const CnvPlanTerm *set = &plane->term[t];

    dense->anchor_x = MAX(dense->anchor_x, set->anchor[CNV_X]);
    dense->anchor_y = MAX(dense->anchor_y, set->anchor[CNV_Y]);
    after_x = MAX(after_x, set->n[CNV_X] - 1 - set->anchor[CNV_X]);
    after_y = MAX(after_y, set->n[CNV_Y] - 1 - set->anchor[CNV_Y]);
  }
  dense->n_x = dense->anchor_x + after_x + 1;
  dense->n_y = dense->anchor_y + after_y + 1;
  dense->lead = (dense->anchor_x * plane->channels + 7) / 8 * 8;
  span = dense->lead + after_x * plane->channels + 1;
  dense->k = (span + 14) / CNV_TENSOR_STEP + 1;
}

static double
tap_at(const CnvPlan *plan, const CnvPlanTerm *set, int x, int y)
{
  if (!set->separable)
    return plan->taps[set->dense + y * set->n[CNV_X] + x];
  return (double)plan->taps[set->axis[CNV_X] + x] * plan->taps[set->axis[CNV_Y] + y];
}

static void
add_term(double *to, const CnvPlan *plan, const CnvPlanTerm *set, const CnvDense *dense)
{
  int x0 = dense->anchor_x - set->anchor[CNV_X], y0 = dense->anchor_y - set->anchor[CNV_Y];

  for (int y = 0; y < set->n[CNV_Y]; y++)
    for (int x = 0; x < set->n[CNV_X]; x++)
      to[(y0 + y) * dense->n_x + x0 + x] += tap_at(plan, set, x, y);
}

double *
cnv_dense_taps(const CnvPlan *plan, const CnvPlanPlane *plane, const CnvDense *dense)
{
  double *taps = g_new0(double, n_taps_of(plan, dense));
  int size = dense->n_x * dense->n_y;

  for (int frame = 0; frame < n_frames_of(plan); frame++)
    for (int t = 0; t < plane->n_terms; t++) {
      const CnvPlanTerm *set = &plane->term[t];

      if (!plan->not_time_separable || set->temporal_tap < 0 || set->temporal_tap == frame)
        add_term(taps + (frame * dense->terms + (dense->terms > 1 ? t : 0)) * size, plan, set, dense);
    }
  return taps;
}

/* What is to be known of taps. */
typedef struct {
  double sum, magnitude, squares, largest, smallest;
  gboolean is_signed;
} TapStats;

static TapStats
analyze_taps(const double *taps, guint n)
{
  TapStats f = {0};

  for (guint i = 0; i < n; i++) {
    f.sum += taps[i];
    f.magnitude += fabs(taps[i]);
    f.squares += taps[i] * taps[i];
    f.largest = MAX(f.largest, fabs(taps[i]));
    f.is_signed |= taps[i] < 0;
  }
  f.smallest = f.largest;
  for (guint i = 0; i < n; i++)
    if (fabs(taps[i]) > f.largest * SMALLEST_PART)
      f.smallest = MIN(f.smallest, fabs(taps[i]));
  return f;
}

/* Whether sums are divided by what the rounded taps add up to, which keeps a flat frame flat. */
static gboolean
divides(const CnvDense *dense, const TapStats *f)
{
  return dense->terms == 1 && fabs(f->sum) > 0.5 * f->magnitude;
}

/* What halves add up to once they are scaled back. */
static double
factor_of(const double *taps, guint n, const CnvDense *dense, const TapStats *f, double scale, int parts)
{
  double rounded = 0;

  if (!divides(dense, f))
    return 1 / scale;
  for (guint i = 0; i < n; i++)
    rounded += cnv_half_value(taps[i] * scale, parts);
  return f->sum / rounded;
}

/* Sum of the squares of what rounding to f16 does to taps. */
static double
rounding_error(const double *taps, guint n, const CnvDense *dense, const TapStats *f, double scale)
{
  double factor = factor_of(taps, n, dense, f, scale, 1), sum = 0;

  for (guint i = 0; i < n; i++) {
    double error = cnv_half_value(taps[i] * scale, 1) * factor - taps[i];

    sum += error * error;
  }
  return sum;
}

/* What taps are multiplied by: of the scales that are tried the one whose rounding is least, so that taps which are
 * multiples of one number stay exact. */
static double
choose_scale(const double *taps, guint n, const CnvDense *dense, const TapStats *f, double *error)
{
  double base = f->largest > 0 ? exp2(floor(log2(SCALED_TAP / f->largest))) : 1, scale = base;

  *error = rounding_error(taps, n, dense, f, base);
  for (int i = 1; i <= 2 * TRIALS && *error > FLOAT_ERROR * FLOAT_ERROR * f->squares; i++) {
    double trial = i <= TRIALS ? i / f->smallest : base * exp2((i - TRIALS - 1) / (double)TRIALS), found;

    if (trial * f->largest > 2 * SCALED_TAP)
      continue;
    found = rounding_error(taps, n, dense, f, trial);
    if (found < *error) {
      *error = found;
      scale = trial;
    }
  }
  return scale;
}

/* Root of the sum of squares of the weights that samples get beside their taps. */
static double
deviation_over_time(const CnvPlan *plan)
{
  double sum = 0;

  for (int i = 0; i < plan->n_temporal_taps && !plan->not_time_separable; i++)
    sum += (double)plan->weight[i] * plan->weight[i];
  return plan->not_time_separable ? 1 : sqrt(sum);
}

/* Whether single f16 numbers would break the contract on noise: fewer than one sample in a hundred off by one of means,
 * and for all others float32's own errors alone. error: of choose_scale. */
static gboolean
needs_exact(const CnvPlan *plan, const CnvPlanPlane *plane, const TapStats *f, double error)
{
  int component = cnv_fit_first_lane(plane);
  /* The mean of a normal distribution's magnitude is 0.8 of its deviation. */
  double mean = 0.8 * CNV_NOISE_DEVIATION * sqrt(error) * deviation_over_time(plan) * plane->full[component] *
                fabs(plane->gain[component]);

  if (error <= FLOAT_ERROR * FLOAT_ERROR * f->squares)
    return FALSE;
  return f->is_signed || plane->component[0].bytes > 1 || plane->combine != CNV_COMBINE_SUM ||
         mean > CNV_MEAN_ERROR_MAX;
}

/* Of the plane's samples and frames, before its taps are looked at. */
static const char *
why_unsupported(const CnvPlan *plan, const CnvPlanPlane *plane)
{
  const char *reason = cnv_fit_lanes(plane);
  double largest = 0;

  if (!reason)
    reason = cnv_fit_half(plane);
  if (!reason && plan->filter.border == CNV_BORDER_RENORMALIZE)
    reason = "of taps that are no row times a column it takes no border-mode=renormalize";
  for (int i = 0; i < plan->n_temporal_taps && !plan->not_time_separable; i++)
    largest = MAX(largest, fabs(plan->weight[i]));
  for (int i = 0; i < plan->n_temporal_taps && !plan->not_time_separable && !reason; i++)
    if (plan->weight[i] != 0 && fabs(plan->weight[i]) * WEIGHTS_RATIO < largest)
      reason = "the taps in time differ too much for it";
  return reason;
}

static gboolean
refuse_size(const CnvPlanPlane *plane, const CnvDense *dense, GError **error)
{
  g_set_error(error, CNV_ERROR, CNV_ERROR_UNSUPPORTED,
              "%dx%d taps%s and %d channels are more than its bands reach over", dense->n_x, dense->n_y,
              dense->terms > 1 ? " of two gradients" : "", plane->channels);
  return FALSE;
}

gboolean
cnv_dense_fit(const CnvPlan *plan, const CnvPlanPlane *plane, CnvDense *dense, GError **error)
{
  const CnvDenseVariant *variant;
  const char *reason = why_unsupported(plan, plane);
  g_autofree double *taps = NULL;
  double error2;
  TapStats f;

  if (reason) {
    g_set_error_literal(error, CNV_ERROR, CNV_ERROR_UNSUPPORTED, reason);
    return FALSE;
  }
  measure(plane, dense);
  /* Any variant of these terms may be the one, where other planes ask for it. */
  variant = cnv_dense_variant(dense);
  if (!variant ||
      cnv_dense_shared_bytes(&(CnvDenseVariant){.k = 5, .r = 4}, dense->n_y + 15, CNV_DENSE_CHUNK(4)) > SHARED_MAX)
    return refuse_size(plane, dense, error);
  taps = cnv_dense_taps(plan, plane, dense);
  f = analyze_taps(taps, n_taps_of(plan, dense));
  reason = cnv_fit_levels(plane, f.magnitude * (plan->not_time_separable ? 1 : MAX(plan->temporal_magnitude, 1)));
  if (reason) {
    g_set_error_literal(error, CNV_ERROR, CNV_ERROR_UNSUPPORTED, reason);
    return FALSE;
  }
  choose_scale(taps, n_taps_of(plan, dense), dense, &f, &error2);
  dense->exact = needs_exact(plan, plane, &f, error2);
  if (!cnv_dense_variant(dense))
    return refuse_size(plane, dense, error);
  return TRUE;
}

CnvDense
cnv_dense_join(CnvDense a, CnvDense b)
{
  return (CnvDense){.n_y = MAX(a.n_y, b.n_y),
                    .k = MAX(a.k, b.k),
                    .terms = a.terms == b.terms ? a.terms : 0,
                    .exact = MAX(a.exact, b.exact)};
}

const CnvDenseVariant *
cnv_dense_variant(const CnvDense *dense)
{
  for (const CnvDenseVariant *v = cnv_dense_variants; v->name.suffix; v++) {
    gboolean many = v->k == 2 && !v->exact && v->terms == 1 && dense->n_y > FEW_ROWS; /* for which there is another */

    if (v->k >= dense->k && v->terms == dense->terms && v->exact == dense->exact && !(many && v->r == 2))
      return v;
  }
  return NULL;
}

int
cnv_dense_rows(const CnvDenseVariant *variant, const CnvDense *dense)
{
  return CNV_DENSE_ROWS(variant->k, variant->r, variant->exact, dense->n_y);
}

guint
cnv_dense_words(const CnvDenseVariant *variant, const CnvDense *dense)
{
  return (guint)(cnv_dense_rows(variant, dense) * dense->terms * (1 + variant->exact) * variant->k * 32 * 4);
}

guint
cnv_dense_shared_bytes(const CnvDenseVariant *variant, int n_y, int rows)
{
  return (guint)CNV_DENSE_SHARED(variant->k, variant->r, n_y, rows);
}

/* A row of taps and which samples it takes. */
typedef struct {
  const double *tap; /* NULL: there are none */
  int n, channels;
  int before;     /* samples from the first that the bands take to the group's first, less the anchor's */
  gboolean pairs; /* rows g and g + 8 are neighbours, as for 8-bit samples */
  double scale;
} BandRow;

/* A[row][k], as part 0 or 1 of a f16 number. */
static guint16
band_at(const BandRow *b, int row, int k, int part)
{
  int output = b->pairs ? row % 8 * 2 + row / 8 : row, away = k - b->before - output;

  if (!b->tap || away < 0 || away % b->channels != 0 || away / b->channels >= b->n)
    return 0;
  return cnv_half_part(b->tap[away / b->channels] * b->scale, part);
}

/* The fragments of one row of taps. */
static void
append_row(GArray *words, const BandRow *b, int steps, int parts)
{
  for (int part = 0; part < parts; part++)
    for (int i = 0; i < steps * 32 * 4; i++) {
      int component = i / 4 % 32, row = component / 4 + i % 2 * 8,
          k = CNV_TENSOR_STEP * (i / 128) + component % 4 * 2 + i % 4 / 2 * 8;
      guint32 word = band_at(b, row, k, part) | (guint32)band_at(b, row, k + 1, part) << 16;

      g_array_append_val(words, word);
    }
}

guint
cnv_dense_append(GArray *words, const CnvPlan *plan, const CnvPlanPlane *plane, const CnvDenseVariant *variant,
                 const CnvDense *dense, float *gain)
{
  g_autofree double *taps = cnv_dense_taps(plan, plane, dense);
  guint n = n_taps_of(plan, dense), first = words->len;
  int C = plane->channels, rows = cnv_dense_rows(variant, dense), parts = 1 + variant->exact;
  TapStats f = analyze_taps(taps, n);
  double error, scale = choose_scale(taps, n, dense, &f, &error);

  for (int frame = 0; frame < n_frames_of(plan); frame++)
    for (int j = 0; j < rows; j++)
      for (int term = 0; term < dense->terms; term++) {
        const double *tap = taps + ((frame * dense->terms + term) * dense->n_y + j) * dense->n_x;
        const BandRow row = {.tap = j < dense->n_y ? tap : NULL,
                             .n = dense->n_x,
                             .channels = C,
                             .before = dense->lead - dense->anchor_x * C,
                             .pairs = plane->component[0].bytes == 1,
                             .scale = scale};

        append_row(words, &row, variant->k, parts);
      }
  *gain = (float)(plane->gain[cnv_fit_first_lane(plane)] * factor_of(taps, n, dense, &f, scale, parts));
  return first;
}
