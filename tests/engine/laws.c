/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Laws of every convolution, whoever computes it: a broken one shows without a reference. Each is checked on every
 * available backend and algorithm that supports it, over the test filters.
 *
 *   impulse    a single sample gives the taps, at the places that follow from anchor, flip and border
 *   shift      a picture that is moved gives the result moved, away from the edges
 *   sum        two pictures filtered and added are their sum filtered, unless something is clamped
 *   flat       a flat frame stays flat, bit for bit, in every format, with every border except constant
 *   mirror     symmetric taps give the mirrored result of a mirrored picture, also at the edges
 *   transpose  exchanging rows and columns of picture and taps exchanges them in the result
 *   outer      taps as a row and a column give the result of their outer product, by every algorithm
 *   cells      a mosaic of a mosaic is equal to the mosaic
 *   still      a mean over time does not change frames that are all equal
 *
 * CNV_SEED and CNV_CASE in the environment: see cases.h.
 */
#include <gst/check/gstcheck.h>

#include <math.h>
#include <stdio.h>

#include "plan/plan.h"
#include "support/oracle.h"
#include "support/suite.h"
#include "engine/trial.h"

static const char *const formats[] = {"GRAY8", "NV12", "RGBA", "P010_10LE", "YUY2", "RGB", "I420_10LE", "GRAY16_LE"};

/* Returns a border mode by number. Taps of both signs get no renormalize: if the taps that meet a sample add up to 0,
 * it gives mid-grey (border.h). */
static CnvBorder
some_border(const TestFilter *row, guint n)
{
  const gboolean all = test_filter_is_positive(row);
  const guint border = n % (all ? CNV_N_BORDERS : CNV_N_BORDERS - 1);

  return !all && border >= CNV_BORDER_RENORMALIZE ? border + 1 : border;
}

static guint
plain_noise(const Trial *t, const TrialSample *s, int which)
{
  return trial_noise(t, s, s->x, s->y, 0);
}

/* ---- impulse ---- */

static guint
impulse(const Trial *t, const TrialSample *s, int which)
{
  return s->x == t->at[0] && s->y == t->at[1] ? s->full : s->zero;
}

/* Returns the sum of the taps that meet the impulse, as a sample. */
static double
response(const Trial *t, const TrialSample *s)
{
  const CnvFilter *f = &t->filter;
  const CnvTaps *k = f->kernel, *kx = f->kernel_axis[CNV_X], *ky = f->kernel_axis[CNV_Y];
  const int width = k ? k->width : kx->width, height = k ? k->height : ky->width;
  const int ax = f->anchor[CNV_X] < 0 ? (width - 1) / 2 : f->anchor[CNV_X];
  const int ay = f->anchor[CNV_Y] < 0 ? (height - 1) / 2 : f->anchor[CNV_Y];
  double hit = 0, present = 0, all = 0;

  for (int j = 0; j < height; j++)
    for (int i = 0; i < width; i++) {
      const double tap = k ? k->value[j * width + i] : kx->value[i] * ky->value[j];
      const int x = oracle_border_index(f->border, s->x + (f->flip ? ax - i : i - ax), s->width);
      const int y = oracle_border_index(f->border, s->y + (f->flip ? ay - j : j - ay), s->height);

      all += tap;
      present += x >= 0 && y >= 0 ? tap : 0;
      hit += x == t->at[0] && y == t->at[1] ? tap : 0;
    }
  if (f->border == CNV_BORDER_RENORMALIZE)
    hit *= all / present;
  return MIN(hit, 1) * s->full;
}

/* Returns the error of float32 sums if taps that are not normalised make them large: some 2^-22 of the sum. */
static double
error_of_sums(const Trial *t)
{
  const CnvTaps *k = t->filter.kernel;
  double sum = 1;

  for (int i = 0; k && i < k->width * k->height; i++)
    sum += fabs(k->value[i]);
  return sum * ((1 << t->image.format->depth) - 1) / (1 << 22);
}

static void
check_impulse(Trial *t)
{
  trial_check(t, &t->out[0], response, trial_rounding(t) + error_of_sums(t), FALSE);
}

static void
try_impulse(const char *filter, const char *format, const int size[2], const int at[2], CnvBorder border)
{
  Trial t;

  if (!trial_init(&t, "impulse", test_filter_find(filter), format, size[0], size[1], border))
    return;
  t.filter.normalize = FALSE;
  t.at[0] = at[0];
  t.at[1] = at[1];
  trial_fill(&t, 0, size[0], size[1], impulse);
  trial_run_all(&t, 1, check_impulse);
  trial_clear(&t);
}

START_TEST(test_impulse)
{
  static const char *const filters[] = {"dense-2x3", "dense-5x5",        "dense-anchor", "dense-flip",
                                        "axes-5x4",  "axes-flip-anchor", "dense-17x17"};
  static const char *const grey[] = {"GRAY8", "RGBA", "GRAY16_LE"};
  static const int sizes[][2] = {{37, 29}, {5, 3}, {1, 2}};

  for (guint f = 0; f < G_N_ELEMENTS(filters); f++)
    for (guint s = 0; s < G_N_ELEMENTS(sizes); s++)
      for (int border = 0; border < CNV_N_BORDERS; border++)
        for (int place = 0; place < 9; place++) { /* corners, middles of the edges, and the middle */
          const int at[2] = {place % 3 * (sizes[s][0] - 1) / 2, place / 3 * (sizes[s][1] - 1) / 2};

          try_impulse(filters[f], grey[(f + border + place) % G_N_ELEMENTS(grey)], sizes[s], at, border);
        }
  ck_assert_uint_eq(test_cases_finish("impulse"), 0);
}
END_TEST

/* ---- shift ---- */

#define SHIFT_X 6 /* luma pixels, and a multiple of any subsampling */
#define SHIFT_Y 4
#define REACH 18 /* at least the reach of any test filter with radius 3 */

/* Returns noise. The second frame shows the same picture from a place further to the right and below. */
static guint
moved_noise(const Trial *t, const TrialSample *s, int which)
{
  const CnvPlaneFormat *p = &t->image.format->plane[s->plane];

  return trial_noise(t, s, s->x + which * (SHIFT_X >> p->sub_x), s->y + which * (SHIFT_Y >> p->sub_y), 0);
}

static double
moved(const Trial *t, const TrialSample *s)
{
  const CnvPlaneFormat *p = &t->image.format->plane[s->plane];
  const int x = s->x + (SHIFT_X >> p->sub_x), y = s->y + (SHIFT_Y >> p->sub_y);
  const int reach_x = REACH >> p->sub_x, reach_y = REACH >> p->sub_y;

  if (s->x < reach_x || s->y < reach_y || x >= s->width - reach_x || y >= s->height - reach_y)
    return NAN;
  return trial_value(&t->out[0], s, x, y);
}

static void
check_shift(Trial *t)
{
  trial_check(t, &t->out[1], moved, 2 * trial_rounding(t), TRUE);
}

/* Returns TRUE if the filter has cells, which do not move with the picture. */
static gboolean
has_cells(const TestFilter *row)
{
  return row->type == CNV_FILTER_MOSAIC || row->type == CNV_FILTER_FILL;
}

START_TEST(test_shift)
{
  guint n = 0;

  for (const TestFilter *row = test_filters; row->name; row++)
    for (int i = 0; i < 3; i++, n++) {
      Trial t;

      if (has_cells(row) ||
          !trial_init(&t, "shift", row, formats[n % G_N_ELEMENTS(formats)], 60, 52, n % CNV_N_BORDERS))
        continue;
      for (int f = 0; f < 2; f++)
        trial_fill(&t, f, 60, 52, moved_noise);
      trial_run_all(&t, 2, check_shift);
      trial_clear(&t);
    }
  ck_assert_uint_eq(test_cases_finish("shift"), 0);
}
END_TEST

/* ---- sum ---- */

static guint
part_or_sum(const Trial *t, const TrialSample *s, int which)
{
  const int low = s->zero / 2, a = low + trial_noise(t, s, s->x, s->y, 1) / 2,
            b = low + trial_noise(t, s, s->x, s->y, 2) / 2;

  return which == 0 ? a : which == 1 ? b : a + b - s->zero;
}

static gboolean
is_clamped(int value, const TrialSample *s)
{
  return value == 0 || value == s->full;
}

/* Returns the expected sum. Bias is in all three results. Chroma has no bias, but its neutral value is in all three. */
static double
sum_of_parts(const Trial *t, const TrialSample *s)
{
  const int a = trial_value(&t->out[0], s, s->x, s->y), b = trial_value(&t->out[1], s, s->x, s->y);

  if (is_clamped(a, s) || is_clamped(b, s) || is_clamped(trial_value(&t->out[2], s, s->x, s->y), s))
    return NAN;
  return a + b - (s->zero ? s->zero : t->filter.bias * s->full);
}

static void
check_sum(Trial *t)
{
  trial_check(t, &t->out[2], sum_of_parts, 3 * trial_rounding(t), FALSE);
}

/* Returns TRUE if the result is the root of a sum of squares, which is not additive. */
static gboolean
is_magnitude(const TestFilter *row)
{
  return cnv_filter_info(row->type)->is_gradient && row->gradient == CNV_GRADIENT_MAGNITUDE;
}

START_TEST(test_sum)
{
  guint n = 0;

  for (const TestFilter *row = test_filters; row->name; row++)
    for (int i = 0; i < 3; i++, n++) {
      Trial t;

      if (is_magnitude(row) || row->type == CNV_FILTER_FILL ||
          !trial_init(&t, "sum", row, formats[n % G_N_ELEMENTS(formats)], 45, 31, some_border(row, n / 3 + i)))
        continue;
      for (int f = 0; f < 3; f++)
        trial_fill(&t, f, 45, 31, part_or_sum);
      trial_run_all(&t, 3, check_sum);
      trial_clear(&t);
    }
  ck_assert_uint_eq(test_cases_finish("sum"), 0);
}
END_TEST

/* ---- flat ---- */

static guint
flat_value(const Trial *t, const TrialSample *s, int which)
{
  const guint random = trial_noise(t, s, 0, 0, 0), choice = trial_noise(t, s, 1, 0, 0) % 4;

  return choice == 0 ? 0 : choice == 1 ? (guint)s->full : random;
}

static double
as_it_was(const Trial *t, const TrialSample *s)
{
  return trial_value(&t->in[0], s, s->x, s->y);
}

static void
check_same(Trial *t)
{
  trial_check(t, &t->out[0], as_it_was, 0, FALSE);
}

static void
try_flat(const TestFilter *row, const char *format, guint n)
{
  static const int sizes[][2] = {{1, 1}, {3, 2}, {37, 23}, {40, 33}};
  const int *size = sizes[n / 5 % G_N_ELEMENTS(sizes)];
  CnvBorder border = some_border(row, n);
  Trial t;

  if (border == CNV_BORDER_CONSTANT)
    border = CNV_BORDER_REPLICATE;
  if (!trial_init(&t, "flat", row, format, size[0], size[1], border))
    return;
  t.filter.alpha_mode = t.seed % (CNV_ALPHA_PREMULTIPLY + 1);
  if (t.filter.alpha_mode == CNV_ALPHA_PREMULTIPLY && !test_filter_is_positive(row))
    t.filter.alpha_mode = CNV_ALPHA_FILTER;
  trial_fill(&t, 0, size[0], size[1], flat_value);
  trial_run_all(&t, 1, check_same);
  trial_clear(&t);
}

START_TEST(test_flat)
{
  const TestFilter *row = test_filters;
  guint n = 0;

  for (const CnvFormat *format = cnv_formats; format->name; format++)
    for (int i = 0; i < 20; n++) {
      if (test_filter_keeps_flat(row))
        try_flat(row, format->name, i++);
      row = row[1].name ? row + 1 : test_filters;
    }
  for (row = test_filters; row->name; row++)
    for (guint i = 0; i < 20 && test_filter_keeps_flat(row); i++)
      try_flat(row, formats[(i + i / 8) % G_N_ELEMENTS(formats)], i);
  ck_assert_uint_eq(test_cases_finish("flat"), 0);
}
END_TEST

/* ---- mirror ---- */

static double
mirrored(const Trial *t, const TrialSample *s)
{
  return trial_value(&t->out[0], s, s->width - 1 - s->x, s->height - 1 - s->y);
}

static guint
mirrored_noise(const Trial *t, const TrialSample *s, int which)
{
  return which ? trial_noise(t, s, s->width - 1 - s->x, s->height - 1 - s->y, 0) : trial_noise(t, s, s->x, s->y, 0);
}

static void
check_mirror(Trial *t)
{
  trial_check(t, &t->out[1], mirrored, 2 * trial_rounding(t), TRUE);
}

START_TEST(test_mirror)
{
  static const char *const names[] = {
      "gaussian",     "box",     "identity",          "half",        "gaussian-5x1", "box-1x6",
      "row-binomial", "rank-1",  "laplacian",         "disk",        "disk-6x2",     "motion",
      "motion-30",    "sharpen", "unsharp",           "sobel",       "scharr",       "prewitt",
      "sobel-7",      "log",     "gaussian-contrast", "laplacian-5", "row-negative", "rank-2-zero-sum"};

  for (guint i = 0; i < G_N_ELEMENTS(names); i++)
    for (int border = 0; border < CNV_N_BORDERS; border++) {
      const int wide = (i + border) % 2, width = wide ? 620 : 48, height = wide ? 9 : 34; /* wide: several tiles */
      Trial t;

      if (!trial_init(&t, "mirror", test_filter_find(names[i]), formats[(i + border) % G_N_ELEMENTS(formats)], width,
                      height, border))
        continue;
      for (int f = 0; f < 2; f++)
        trial_fill(&t, f, width, height, mirrored_noise);
      trial_run_all(&t, 2, check_mirror);
      trial_clear(&t);
    }
  ck_assert_uint_eq(test_cases_finish("mirror"), 0);
}
END_TEST

/* ---- transpose ---- */

#define SWAP(type, a)                                                                                                  \
  do {                                                                                                                 \
    type kept = (a)[CNV_X];                                                                                            \
    (a)[CNV_X] = (a)[CNV_Y];                                                                                           \
    (a)[CNV_Y] = kept;                                                                                                 \
  } while (0)

static void
transpose_filter(CnvFilter *f)
{
  const CnvTaps *from = f->kernel;

  SWAP(int, f->radius_axis);
  SWAP(double, f->sigma_axis);
  SWAP(int, f->anchor);
  SWAP(CnvTaps *, f->kernel_axis);
  if (f->gradient == CNV_GRADIENT_X || f->gradient == CNV_GRADIENT_Y)
    f->gradient = f->gradient == CNV_GRADIENT_X ? CNV_GRADIENT_Y : CNV_GRADIENT_X;
  if (!from)
    return;
  f->kernel = cnv_taps_new(from->height, from->width, NULL);
  for (int y = 0; y < from->height; y++)
    for (int x = 0; x < from->width; x++)
      f->kernel->value[x * from->height + y] = from->value[y * from->width + x];
  cnv_taps_unref((CnvTaps *)from);
}

static guint
transposed_noise(const Trial *t, const TrialSample *s, int which)
{
  return which ? trial_noise(t, s, s->y, s->x, 0) : trial_noise(t, s, s->x, s->y, 0);
}

static double
transposed(const Trial *t, const TrialSample *s)
{
  return trial_value(&t->out[0], s, s->y, s->x);
}

static void
check_transpose(Trial *t)
{
  trial_check(t, &t->out[1], transposed, 2 * trial_rounding(t), TRUE);
}

static gboolean
has_angle(const TestFilter *row)
{
  return cnv_filter_uses(row->type, "angle") &&
         (!cnv_filter_info(row->type)->is_gradient || row->gradient == CNV_GRADIENT_DIRECTIONAL);
}

START_TEST(test_transpose)
{
  static const char *const square[] = {"GRAY8", "NV12", "RGBA", "I420_10LE", "GRAY16_LE", "RGB"};
  guint n = 0;

  for (const TestFilter *row = test_filters; row->name; row++)
    for (int i = 0; i < 3 && !has_angle(row); i++, n++) {
      Trial t;

      if (!trial_init(&t, "transpose", row, square[n % G_N_ELEMENTS(square)], 47, 34, (n / 2 + i) % CNV_N_BORDERS))
        continue;
      transpose_filter(&t.other);
      trial_fill(&t, 0, 47, 34, transposed_noise);
      trial_fill(&t, 1, 34, 47, transposed_noise);
      trial_run_all(&t, 2, check_transpose);
      trial_clear(&t);
    }
  ck_assert_uint_eq(test_cases_finish("transpose"), 0);
}
END_TEST

/* ---- outer ---- */

static CnvTaps *
multiplied_out(const CnvTaps *row, const CnvTaps *column)
{
  CnvTaps *taps = cnv_taps_new(row->width, column->width, NULL);

  for (int y = 0; y < column->width; y++)
    for (int x = 0; x < row->width; x++)
      taps->value[y * row->width + x] = row->value[x] * column->value[y];
  return taps;
}

static double
as_the_first(const Trial *t, const TrialSample *s)
{
  return trial_value(t->kept, s, s->x, s->y);
}

/* Compares both outputs with the result of the first variant, which is naive. */
static void
check_outer(Trial *t)
{
  if (!t->kept) {
    t->kept = g_new0(TestFrame, 1);
    test_frame_init(t->kept, t->image.format, t->image.width, t->image.height, (TestLayout){0, 0, 0});
    for (TrialSample s = {0}; trial_next_sample(t->kept, &s);)
      test_frame_put(t->kept, s.plane, s.channel, s.x, s.y, trial_value(&t->out[0], &s, s.x, s.y));
  }
  trial_check(t, &t->out[0], as_the_first, 2 * trial_rounding(t), TRUE);
  trial_check(t, &t->out[1], as_the_first, 2 * trial_rounding(t), TRUE);
}

START_TEST(test_outer)
{
  static const char *const names[] = {"axes-5x4", "axes-signed", "axes-flip-anchor"};

  for (guint i = 0; i < G_N_ELEMENTS(names); i++)
    for (guint f = 0; f < G_N_ELEMENTS(formats); f++)
      for (int border = 0; border < CNV_N_BORDERS; border++) {
        CnvTaps **axis;
        Trial t;

        if (!trial_init(&t, "outer", test_filter_find(names[i]), formats[f], 41, 30, border))
          continue;
        axis = t.other.kernel_axis;
        t.other.kernel = multiplied_out(axis[CNV_X], axis[CNV_Y]);
        g_clear_pointer(&axis[CNV_X], cnv_taps_unref);
        g_clear_pointer(&axis[CNV_Y], cnv_taps_unref);
        for (int k = 0; k < 2; k++)
          trial_fill(&t, k, 41, 30, plain_noise);
        trial_run_all(&t, 2, check_outer);
        test_frame_clear(t.kept);
        g_free(t.kept);
        trial_clear(&t);
      }
  ck_assert_uint_eq(test_cases_finish("outer"), 0);
}
END_TEST

/* ---- cells ---- */

static double
as_filtered_once(const Trial *t, const TrialSample *s)
{
  return trial_value(&t->in[1], s, s->x, s->y);
}

static void
check_cells(Trial *t)
{
  for (TrialSample s = {0}; trial_next_sample(&t->in[1], &s);)
    test_frame_put(&t->in[1], s.plane, s.channel, s.x, s.y, (guint)trial_value(&t->out[0], &s, s.x, s.y));
  if (trial_run(t, &t->other, 1))
    trial_check(t, &t->out[1], as_filtered_once, 0, FALSE);
  test_frame_clear(&t->out[1]);
}

START_TEST(test_cells)
{
  static const char *const names[] = {"mosaic", "mosaic-5x1", "mosaic-0x4", "fill"};

  for (const CnvFormat *format = cnv_formats; format->name; format++)
    for (guint i = 0; i < G_N_ELEMENTS(names); i++) {
      Trial t;

      if (!trial_init(&t, "cells", test_filter_find(names[i]), format->name, 53, 38, i % CNV_N_BORDERS))
        continue;
      t.filter.alpha_mode = t.other.alpha_mode = t.seed % CNV_ALPHA_PREMULTIPLY;
      t.filter.fill_color = t.other.fill_color = 0x80a01040;
      for (int f = 0; f < 2; f++)
        trial_fill(&t, f, 53, 38, plain_noise);
      trial_run_all(&t, 1, check_cells);
      trial_clear(&t);
    }
  ck_assert_uint_eq(test_cases_finish("cells"), 0);
}
END_TEST

/* ---- still ---- */

/* Submits a frame of a clip in which all frames are equal. The history has one slot per tap in time, and only some of
 * the frames exist. The seed selects them. */
static gboolean
start_still(Trial *t, CnvPlan *plan, TestRun *run, GError **error)
{
  const int n = plan->n_temporal_taps, seen = 1 + t->seed % n; /* number of frames that exist */
  const int first = MAX(0, plan->center - (int)(t->seed / 64 % seen));
  const CnvFrame in = {.memory = CNV_MEMORY_HISTORY, .slot = plan->center};
  CnvWork work = CNV_WORK_ALL(&plan);
  CnvTemporalTap temporal_tap[CNV_MAX_TEMPORAL_TAPS];
  int slot[CNV_MAX_TEMPORAL_TAPS];

  if (!cnv_session_history_alloc(t->v->session, &t->image, n, error))
    return FALSE;
  for (int k = 0; k < n; k++) {
    slot[k] = k >= first && (k < first + seen || k <= plan->center) ? k : -1;
    if (slot[k] >= 0 && !cnv_session_history_push(t->v->session, k, &run->from, FALSE, NULL, error))
      return FALSE;
  }
  work.temporal_tap = temporal_tap;
  work.n_temporal_taps = cnv_temporal_taps_make(plan, slot, t->seed / 8 % (CNV_TEMPORAL_REFLECT + 1), temporal_tap);
  return cnv_session_submit(t->v->session, &work, &in, &run->to, error);
}

static double
as_alone(const Trial *t, const TrialSample *s)
{
  return trial_value(&t->out[1], s, s->x, s->y);
}

static void
check_still(Trial *t)
{
  CnvPlan *plan = trial_plan(t, &t->filter, &t->in[0]);

  if (!plan)
    return;
  trial_submit(t, plan, 0, start_still);
  cnv_plan_unref(plan);
  if (t->filter.type == CNV_FILTER_IDENTITY)
    check_same(t);
  else if (trial_run(t, &t->other, 1))
    trial_check(t, &t->out[0], as_alone, 2 * trial_rounding(t), TRUE);
  for (int i = 0; i < 2; i++)
    test_frame_clear(&t->out[i]);
}

START_TEST(test_still)
{
  static const char *const names[] = {"identity", "gaussian", "box", "dense-3x3", "sharpen"};
  static const double taps[] = {1, 2, 3, 5};

  for (const CnvFormat *format = cnv_formats; format->name; format++)
    for (guint i = 0; i < 2 * G_N_ELEMENTS(names); i++) {
      Trial t;

      if (!trial_init(&t, "still", test_filter_find(names[i / 2]), format->name, 31, 22, i % CNV_N_BORDERS))
        continue;
      t.filter.causal = t.seed % 2;
      t.filter.temporal_radius = i % 2 ? 0 : 1 + t.seed % 5;
      t.filter.kernel_t = i % 2 ? cnv_taps_new(G_N_ELEMENTS(taps), 1, taps) : NULL;
      for (int k = 0; k < 2; k++)
        trial_fill(&t, k, 31, 22, plain_noise);
      trial_run_all(&t, 0, check_still);
      trial_clear(&t);
    }
  ck_assert_uint_eq(test_cases_finish("still"), 0);
}
END_TEST

static void
add_tests(TCase *tcase)
{
  tcase_set_timeout(tcase, 300);
  tcase_add_test(tcase, test_impulse);
  tcase_add_test(tcase, test_shift);
  tcase_add_test(tcase, test_sum);
  tcase_add_test(tcase, test_flat);
  tcase_add_test(tcase, test_mirror);
  tcase_add_test(tcase, test_transpose);
  tcase_add_test(tcase, test_outer);
  tcase_add_test(tcase, test_cells);
  tcase_add_test(tcase, test_still);
}

int
main(void)
{
  const CnvBackend *cuda = cnv_backend_find("cuda");
  int status;

  test_options.extent = TEST_NORMAL;
  test_options_read();
  printf("CNV_SEED=%u\n", test_options.seed);
  if (!cuda || !cuda->probe(-1, NULL))
    puts("SKIPPED on a GPU: there is none, or this build has no CUDA; the same runs on the CPU");
  if (!test_variants_open())
    return 77;
  status = test_main("laws", add_tests);
  test_variants_close();
  return status;
}
