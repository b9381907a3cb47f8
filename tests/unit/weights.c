/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Taps as fragments for tensor cores: each tap is rebuilt from what the lanes of a warp hold, by the layout that the
 * PTX manual gives for mma.m16n8k16, and compared with the plan's. On the CPU, of plans for the CPU backend.
 */
#include <math.h>
#include <string.h>

#include "plan/plan.h"

#include "gpu/half.h"
#include "gpu/kinds.h"
#include "support/suite.h"

/* Relative to the largest tap: what f16 and what two f16 may take off, with room for the products of two axes. */
#define HALF_ERROR 1.1e-3
#define EXACT_ERROR 1e-6

typedef struct {
  const char *name;
  CnvFilterType type;
  int radius;
  int width, height, anchor_x; /* custom: random taps; anchor_x -1: the middle */
  gboolean is_signed;
} Row;

static const Row rows_of_one_term[] = {
    {"gaussian 1", CNV_FILTER_GAUSSIAN, 1},
    {"gaussian 3", CNV_FILTER_GAUSSIAN, 3},
    {"gaussian 8", CNV_FILTER_GAUSSIAN, 8},
    {"box 15", CNV_FILTER_BOX, 15},
    {"box 5", CNV_FILTER_BOX, 5},
    {"row", CNV_FILTER_CUSTOM, -1, 7, 1, 0},
    {"column", CNV_FILTER_CUSTOM, -1, 1, 6, -1},
    {"signed row", CNV_FILTER_CUSTOM, -1, 5, 1, 4, TRUE},
    {"tall", CNV_FILTER_CUSTOM, -1, 1, 101, -1},
    {"tallest", CNV_FILTER_CUSTOM, -1, 1, 16 * CNV_RING_K_Y - 7, -1},
    {"signed and tall", CNV_FILTER_CUSTOM, -1, 1, 90, 0, TRUE},
};

static const Row dense_rows[] = {
    {"3x3", CNV_FILTER_CUSTOM, -1, 3, 3, -1},
    {"5x4 signed", CNV_FILTER_CUSTOM, -1, 5, 4, 1, TRUE},
    {"13x29", CNV_FILTER_CUSTOM, -1, 13, 29, -1},
    {"2x3, first", CNV_FILTER_CUSTOM, -1, 2, 3, 0},
    {"sharpen", CNV_FILTER_SHARPEN, 2},
    {"unsharp", CNV_FILTER_UNSHARP, 4},
    {"sobel", CNV_FILTER_SOBEL, 1},
    {"laplacian", CNV_FILTER_LAPLACIAN, 1},
    {"disk", CNV_FILTER_DISK, 3},
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
plan_of(const Row *row, const char *format, CnvBorder border, CnvAlgorithm algorithm, int depth)
{
  const CnvImage image = {cnv_format_find(format), 43, 21, 0.2126, 0.0722, FALSE};
  g_autofree double *taps = g_new(double, MAX(row->width * row->height * depth, 1));
  CnvFilter filter;
  CnvPlan *plan;

  state = 7;
  cnv_filter_init(&filter);
  filter.type = row->type;
  filter.radius = row->radius;
  filter.border = border;
  if (row->width) {
    for (int i = 0; i < row->width * row->height * depth; i++)
      taps[i] = random_tap(row->is_signed);
    filter.kernel = cnv_taps_new_volume(row->width, row->height, depth, taps);
    filter.anchor[CNV_X] = row->anchor_x;
  }
  plan = cnv_plan_new(&filter, &image, algorithm, cnv_backend_find("cpu"), NULL);
  ck_assert_msg(plan != NULL, "%s", row->name);
  cnv_filter_clear(&filter);
  return plan;
}

/* ---- fragments ---- */

/* Element of A at a row and column of 16, from words that lie component by component. */
static double
a_at(const guint32 *words, int row, int k)
{
  int component = row % 8 * 4 + k % 8 / 2, word = row / 8 + k / 8 * 2;

  return cnv_from_half((guint16)(words[component * 4 + word] >> (k % 2 * 16)));
}

/* Element of B at a row of 16 and a column of 8; or, where lanes have several B side by side, of 16 or more. */
static double
b_at(const guint32 *words, int k, int column, int n)
{
  int component = column % 8 * 4 + k % 8 / 2, word = (component * n + column / 8) * 2 + k / 8;

  return cnv_from_half((guint16)(words[word] >> (k % 2 * 16)));
}

/* Which of 16 samples the row pass takes as that k: a component loads four that are its two pairs. */
static int
sample_of_k(int k)
{
  return k % 8 / 2 * 4 + k / 8 * 2 + k % 2;
}

/* ---- one row times one column ---- */

typedef struct {
  const CnvPlan *plan;
  const CnvPlane *plane;
  CnvNeeds needs;
  const CnvVariant *variant;
  const guint32 *words;
  double gain, error;
  const char *name;
} Fixture;

static int
parts_of(const Fixture *f)
{
  return 1 + f->variant->split;
}

static gboolean
has_ring(const Fixture *f)
{
  return g_str_has_prefix(f->variant->name, "tensor_ring");
}

/* Rows of outputs that a band along y is for, by eight, and its k steps. */
static int
eights_of(const Fixture *f)
{
  return has_ring(f) ? 2 : 1;
}

static int
steps_of(const Fixture *f)
{
  int rows = f->plane->term[0].n[CNV_Y];

  return has_ring(f) ? CNV_RING_STEPS(rows) : (f->variant->rows + CNV_TENSOR_ROWS) / CNV_TENSOR_K;
}

static int
words_of_y(const Fixture *f)
{
  return steps_of(f) * eights_of(f) * 64;
}

/* The tap along y on row `at` for output row `out`. */
static double
rebuilt_y(const Fixture *f, int out, int at)
{
  const guint32 *words = f->words + f->variant->reach * parts_of(f) * 128;
  double sum = 0;

  for (int part = 0; part < parts_of(f); part++)
    sum += b_at(words + part * words_of_y(f) + at / 16 * eights_of(f) * 64, at % 16, out, eights_of(f));
  return sum;
}

/* The tap along x of band number `band` for output `out` on sample `at` from lead before the group's first. */
static double
rebuilt_x(const Fixture *f, int band, int out, int at)
{
  const guint32 *words = f->words;
  double sum = 0;

  if (band > 0)
    words += parts_of(f) * (band * f->variant->reach * 128 + words_of_y(f));
  for (int k = 0; k < 16; k++)
    for (int part = 0; part < parts_of(f) && sample_of_k(k) == at % 16; part++)
      sum += a_at(words + (part * f->variant->reach + at / 16) * 128, out % 2 * 8 + out / 2, k);
  return sum;
}

/* The plan's tap for output `out` of a group on sample `at`, both counted from the group's first sample; group -1: one
 * that misses none. */
static double
expected_x(const Fixture *f, int group, int out, int at)
{
  const CnvTerm *set = &f->plane->term[0];
  int C = f->plane->channels, first = MAX(group, 0) * 16, pixel = (first + out) / C;
  gboolean folds = f->plan->filter.border != CNV_BORDER_CONSTANT && f->plan->filter.border != CNV_BORDER_RENORMALIZE;
  double sum = 0;

  for (int i = 0; i < set->n[CNV_X]; i++) {
    int on = out + (i - set->anchor[CNV_X]) * C;

    if (group >= 0 && pixel >= f->plane->width)
      continue;
    if (group >= 0 && folds)
      on = cnv_border_index(f->plan->filter.border, pixel + i - set->anchor[CNV_X], f->plane->width) * C +
           (first + out) % C - first;
    sum += on == at ? f->plan->taps[set->taps[CNV_X] + i] : 0;
  }
  return sum;
}

static double
largest_of(const float *taps, int n, int *where)
{
  double largest = 0;

  for (int i = 0; i < n; i++)
    if (fabs(taps[i]) > largest) {
      largest = fabs(taps[i]);
      *where = i;
    }
  return largest;
}

static void
check_band(const Fixture *f, int band, int group)
{
  const CnvTerm *set = &f->plane->term[0];
  int where_x = 0, where_y = 0;
  double gain = f->plane->gain[0], x = largest_of(f->plan->taps + set->taps[CNV_X], set->n[CNV_X], &where_x);
  double y = largest_of(f->plan->taps + set->taps[CNV_Y], set->n[CNV_Y], &where_y);

  for (int out = 0; out < 16; out++)
    for (int at = 0; at < f->variant->reach * 16; at++) {
      double got = f->gain * rebuilt_x(f, band, out, at) * rebuilt_y(f, 3, 3 + where_y);
      double expected =
          gain * expected_x(f, group, out, at - f->needs.apron_left) * f->plan->taps[set->taps[CNV_Y] + where_y];

      /* Several taps may meet on a sample. */
      ck_assert_msg(fabs(got - expected) <= f->error * (fabs(gain) * x * y + fabs(expected)),
                    "%s: band %d, output %d, sample %d: %g, not %g", f->name, band, out, at, got, expected);
    }
}

static void
check_columns(const Fixture *f)
{
  const CnvTerm *set = &f->plane->term[0];
  int where_x = 0, where_y = 0, on;
  double gain = f->plane->gain[0], x = largest_of(f->plan->taps + set->taps[CNV_X], set->n[CNV_X], &where_x);
  double y = largest_of(f->plan->taps + set->taps[CNV_Y], set->n[CNV_Y], &where_y);

  on = f->needs.apron_left + (where_x - set->anchor[CNV_X]) * f->plane->channels;
  for (int out = 0; out < 8 * eights_of(f); out++)
    for (int at = 0; at < steps_of(f) * 16; at++) {
      int i = at - out;
      double tap = i >= 0 && i < set->n[CNV_Y] ? f->plan->taps[set->taps[CNV_Y] + i] : 0;
      double got = f->gain * rebuilt_x(f, 0, 0, on) * rebuilt_y(f, out, at);
      double expected = gain * f->plan->taps[set->taps[CNV_X] + where_x] * tap;

      ck_assert_msg(fabs(got - expected) <= f->error * fabs(gain) * x * y, "%s: row %d, tap %d: %g, not %g", f->name,
                    out, at, got, expected);
    }
}

static void
check_bands(const Row *row, const char *format, CnvBorder border)
{
  CnvPlan *plan = plan_of(row, format, border, CNV_ALGORITHM_SEPARABLE, 1);
  GArray *words = g_array_new(FALSE, FALSE, sizeof(guint32));
  g_autofree char *name = g_strdup_printf("%s, %s, border %d", row->name, format, border);
  Fixture f = {.plan = plan, .plane = &plan->plane[plan->n_planes - 1], .name = name};
  int band = 1;

  if (cnv_kind_tensor.fits(plan, f.plane, &f.needs, NULL)) {
    f.variant = cnv_variant_find(cnv_kind_tensor.variants, &f.needs);
    f.gain = cnv_kind_tensor.append_weights(words, plan, f.plane, f.variant, &f.needs);
    f.words = (const guint32 *)words->data;
    f.error = parts_of(&f) == 2 ? EXACT_ERROR : HALF_ERROR;
    check_band(&f, 0, -1);
    check_columns(&f);
    for (int g = 0; g < f.needs.n_groups; g++)
      if (g < f.needs.left_groups || g >= f.needs.right_group)
        check_band(&f, band++, g);
    ck_assert_uint_eq(words->len, (guint)parts_of(&f) * (band * f.variant->reach * 128 + words_of_y(&f)));
    ck_assert(has_ring(&f) == (f.needs.reach > 2 || f.needs.rows > 2 * CNV_TENSOR_K - CNV_TENSOR_ROWS + 1));
  } else {
    ck_assert_msg(border == CNV_BORDER_WRAP || f.plane->channels > 2, "%s is refused", name);
  }
  g_array_free(words, TRUE);
  cnv_plan_unref(plan);
}

static const char *const formats[] = {"GRAY8", "NV12", "BGR", "RGBx", "P010_10LE"};

START_TEST(test_bands)
{
  for (guint r = 0; r < G_N_ELEMENTS(rows_of_one_term); r++)
    for (guint f = 0; f < G_N_ELEMENTS(formats); f++)
      for (int border = 0; border <= CNV_BORDER_RENORMALIZE; border++)
        check_bands(&rows_of_one_term[r], formats[f], border);
}
END_TEST

/* ---- all others ---- */

/* The plan's tap at (x, y) from the anchor, of one frame and term of a magnitude. */
static double
expected_tap(const CnvPlan *plan, const CnvPlane *plane, int frame, int term, int x, int y)
{
  double sum = 0;

  for (int t = 0; t < plane->n_terms; t++) {
    const CnvTerm *set = &plane->term[t];
    int kx = x + set->anchor[CNV_X], ky = y + set->anchor[CNV_Y];

    if (kx < 0 || ky < 0 || kx >= set->n[CNV_X] || ky >= set->n[CNV_Y] ||
        (plan->not_time_separable && set->temporal_tap != frame) ||
        (plane->combine == CNV_COMBINE_MAGNITUDE && t != term))
      continue;
    sum += set->separable ? (double)plan->taps[set->taps[CNV_X] + kx] * plan->taps[set->taps[CNV_Y] + ky]
                          : plan->taps[set->taps[0] + ky * set->n[CNV_X] + kx];
  }
  return sum;
}

/* One row of taps of one frame and term, of which so many words are the bands. */
static void
check_row(const char *name, const CnvPlan *plan, const CnvPlane *plane, const CnvNeeds *needs, const CnvVariant *v,
          const guint32 *words, int frame, int term, int j, double gain, double largest)
{
  int C = plane->channels, parts = 1 + v->split;

  for (int row = 0; row < 16; row++)
    for (int at = 0; at < 16 * v->reach; at++) {
      int out = plane->component[0].bytes == 1 ? row % 8 * 2 + row / 8 : row, away = at - needs->apron_left - out;
      double got = 0, expected = 0;

      for (int part = 0; part < parts; part++)
        got += gain * a_at(words + (part * v->reach + at / 16) * 128, row, at % 16);
      if (away % C == 0)
        expected = plane->gain[0] * expected_tap(plan, plane, frame, term, away / C, j - needs->anchor_y);
      ck_assert_msg(fabs(got - expected) <= (v->split ? EXACT_ERROR : HALF_ERROR) * largest,
                    "%s: frame %d, term %d, row %d, output %d, sample %d: %g, not %g", name, frame, term, j, out, at,
                    got, expected);
    }
}

/* The largest of a plane's taps, as they are merged. */
static double
largest_tap(const CnvPlan *plan, const CnvPlane *plane, const CnvNeeds *needs, int frames)
{
  double largest = 0;

  for (int i = 0; i < frames * needs->terms * needs->rows * needs->n_x; i++) {
    int x = i % needs->n_x - needs->anchor_x, y = i / needs->n_x % needs->rows - needs->anchor_y;
    int term = i / needs->n_x / needs->rows % needs->terms, frame = i / needs->n_x / needs->rows / needs->terms;

    largest = MAX(largest, fabs(expected_tap(plan, plane, frame, term, x, y)));
  }
  return largest;
}

static void
check_dense(const Row *row, const char *format, CnvAlgorithm algorithm, int depth)
{
  CnvPlan *plan = plan_of(row, format, CNV_BORDER_REFLECT, algorithm, depth);
  const CnvPlane *plane = &plan->plane[0];
  GArray *words = g_array_new(FALSE, FALSE, sizeof(guint32));
  g_autofree char *name = g_strdup_printf("%s, %s, %d frames, terms %d", row->name, format, depth, plane->n_terms);
  int frames = plan->not_time_separable ? plan->n_temporal_taps : 1;
  CnvNeeds needs;

  ck_assert_msg(cnv_kernel_with_tiles(CNV_ALGORITHM_TENSOR, plan, plane) == CNV_KERNEL_DENSE, "%s", name);
  if (cnv_kind_dense.fits(plan, plane, &needs, NULL)) {
    const CnvVariant *v = cnv_variant_find(cnv_kind_dense.variants, &needs);
    int rows = CNV_DENSE_ROWS(v->reach, v->eights, v->split, needs.rows), words_a_row = v->reach * (1 + v->split) * 128;
    double gain = cnv_kind_dense.append_weights(words, plan, plane, v, &needs);
    double largest = fabs(plane->gain[0]) * largest_tap(plan, plane, &needs, frames);
    const guint32 *at = (const guint32 *)words->data;

    ck_assert_uint_eq(words->len, (guint)(frames * rows * needs.terms * words_a_row));
    ck_assert(needs.apron_left % 8 == 0 && needs.apron_left >= needs.anchor_x * plane->channels &&
              needs.apron_left <= 16 * (v->reach - 1));
    for (int frame = 0; frame < frames; frame++)
      for (int j = 0; j < rows; j++)
        for (int term = 0; term < v->terms; term++, at += words_a_row)
          check_row(name, plan, plane, &needs, v, at, frame, term, j, gain, largest);
  } else {
    ck_assert_msg(plane->channels > 2, "%s is refused", name);
  }
  g_array_free(words, TRUE);
  cnv_plan_unref(plan);
}

/* Terms as they are, and merged as naive has them. */
START_TEST(test_dense)
{
  for (guint r = 0; r < G_N_ELEMENTS(dense_rows); r++)
    for (guint f = 0; f < G_N_ELEMENTS(formats); f++) {
      check_dense(&dense_rows[r], formats[f], CNV_ALGORITHM_AUTO, 1);
      check_dense(&dense_rows[r], formats[f], CNV_ALGORITHM_NAIVE, 1);
    }
}
END_TEST

/* A 3D kernel has bands for each frame. */
START_TEST(test_dense_over_time)
{
  for (guint f = 0; f < G_N_ELEMENTS(formats); f++) {
    check_dense(&dense_rows[0], formats[f], CNV_ALGORITHM_AUTO, 3);
    check_dense(&dense_rows[1], formats[f], CNV_ALGORITHM_AUTO, 2);
  }
}
END_TEST

/* Taps that f16 holds as they are need but one number, signed or not; others do where errors would show. */
START_TEST(test_split)
{
  static const struct {
    Row row;
    const char *format;
    gboolean split;
  } rows[] = {
      {{"laplacian", CNV_FILTER_LAPLACIAN, 1}, "GRAY8", 0},
      {{"sobel", CNV_FILTER_SOBEL, 1}, "P010_10LE", 0},
      {{"3x3", CNV_FILTER_CUSTOM, -1, 3, 3, -1}, "GRAY8", 0},
      {{"3x3", CNV_FILTER_CUSTOM, -1, 3, 3, -1}, "P010_10LE", 1},
      {{"3x3 signed", CNV_FILTER_CUSTOM, -1, 3, 3, -1, TRUE}, "GRAY8", 1},
  };

  for (guint i = 0; i < G_N_ELEMENTS(rows); i++) {
    CnvPlan *plan = plan_of(&rows[i].row, rows[i].format, CNV_BORDER_REPLICATE, CNV_ALGORITHM_NAIVE, 1);
    CnvNeeds needs;

    ck_assert(cnv_kind_dense.fits(plan, &plan->plane[0], &needs, NULL));
    ck_assert_msg(needs.split == rows[i].split, "%s, %s", rows[i].row.name, rows[i].format);
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
  tcase_add_test(tcase, test_bands);
  tcase_add_test(tcase, test_dense);
  tcase_add_test(tcase, test_dense_over_time);
  tcase_add_test(tcase, test_split);
}

int
main(void)
{
  return test_main("weights", add_tests);
}
