/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Which algorithms run and which are rejected, and what auto chooses: properties that hold for each filter, format,
 * alpha mode and border, and expectations by name. Needs no GPU: plans are made for GPUs of a given compute capability.
 */
#include "config.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "plan/plan.h"
#include "support/cases.h"
#ifdef HAVE_CUDA
#include "gpu/choice.h"
#endif
#include "support/suite.h"

#define WIDTH 600
#define HEIGHT 24
#define SEED 20240607
#define TENSOR_CAPABILITY 80
#define CAPABILITIES 90, 80, 75, 61

/* Limits in cuda/README.md. fused: taps along an axis, taps along y for samples of two bytes, and reach in samples.
 * tensor: reach of a row times a column of positive taps, for samples of 8 bits, of two bytes and of more than 10 bits;
 * and reach of other taps for samples of two bytes. */
#define FUSED_TAPS 97
#define FUSED_TAPS_Y_16 65
#define FUSED_REACH 96
#define TENSOR_REACH 128
#define TENSOR_REACH_WIDE 64
#define TENSOR_REACH_DEEP 32        /* of more than 10 bits */
#define TENSOR_REACH_DEEP_PIXELS 16 /* in pixels, of four channels of which one is copied */
#define TENSOR_REACH_WIDE_DENSE 16

TestOptions test_options;

#define WIDE 64 /* least radius at which not every format is checked, because such plans take long to make */
#define WIDE_TURNS 6

static const int radii[] = {1, 3, 8, 16, 32, 64, 128, 512};
static int capability; /* 0: the CPU */
static guint turn;     /* selects border and capability */
static gboolean all;

#ifdef HAVE_CUDA
static gboolean
can(CnvAlgorithm algorithm, const CnvPlan *plan, const CnvPlane *plane, GError **error)
{
  return cnv_cuda_can_at(capability, algorithm, plan, plane, error);
}

static CnvAlgorithm
choose(const CnvPlan *plan, const CnvPlane *plane)
{
  return cnv_cuda_choose_at(capability, plan, plane);
}
#endif

/* Returns a backend that makes plans for GPUs of `capability`, or for the CPU. */
static const CnvBackend *
backend(void)
{
#ifdef HAVE_CUDA
  static CnvBackend gpu;

  gpu = *cnv_backend_find("cuda");
  gpu.can = can;
  gpu.choose = choose;
  if (capability > 0)
    return &gpu;
#endif
  return cnv_backend_find("cpu");
}

/* ---- one case ---- */

typedef struct {
  char *name; /* for messages */
  CnvFilter filter;
  CnvImage image;
  CnvPlan *plan[CNV_ALGORITHM_MOSAIC + 1]; /* by requested algorithm; NULL: rejected */
  gboolean is_valid;                       /* FALSE: the filter's settings are rejected */
} Case;

/* Makes a plan for each algorithm. alpha: has an effect on formats with alpha. */
static void
case_init(Case *c, const TestFilter *row, int radius, const CnvFormat *format, CnvAlphaMode alpha, CnvBorder border)
{
  const TestCase frame = {.format = format->name, .width = WIDTH, .height = HEIGHT};

  *c = (Case){.is_valid = TRUE};
  c->name = g_strdup_printf("%s radius %d, %s alpha %s, border %s, capability %d", row->name, radius, format->name,
                            cnv_alpha_mode_nicks[alpha].nick, cnv_border_nicks[border].nick, capability);
  test_image_make(&frame, &c->image);
  test_filter_make(row, radius, SEED, &c->filter);
  c->filter.alpha_mode = alpha;
  c->filter.border = border;
  for (CnvAlgorithm a = CNV_ALGORITHM_AUTO; a <= CNV_ALGORITHM_MOSAIC; a++) {
    GError *error = NULL;

    c->plan[a] = cnv_plan_new(&c->filter, &c->image, a, backend(), &error);
    ck_assert_msg(c->plan[a] || error->code == CNV_ERROR_UNSUPPORTED || error->code == CNV_ERROR_SETTINGS, "%s: %s",
                  c->name, error ? error->message : "");
    c->is_valid &= c->plan[a] || error->code != CNV_ERROR_SETTINGS;
    g_clear_error(&error);
  }
}

static void
case_clear(Case *c)
{
  for (CnvAlgorithm a = CNV_ALGORITHM_AUTO; a <= CNV_ALGORITHM_MOSAIC; a++)
    cnv_plan_unref(c->plan[a]);
  cnv_filter_clear(&c->filter);
  g_free(c->name);
}

/* Returns TRUE if `is` holds for all filtered planes of a plan. */
static gboolean
all_planes(const CnvPlan *plan, gboolean (*is)(const CnvPlan *plan, const CnvPlane *plane))
{
  for (int p = 0; p < plan->n_planes; p++)
    if (plan->plane[p].filtered && !is(plan, &plan->plane[p]))
      return FALSE;
  return TRUE;
}

static gboolean
has_cells(const CnvPlan *plan, const CnvPlane *plane)
{
  return plane->cell[CNV_X] > 0;
}

/* Returns TRUE for one row times one column, on an array of samples whose channels turn sums into levels alike. */
static gboolean
is_simple(const CnvPlan *plan, const CnvPlane *plane)
{
  int first = -1;

  if (!plane->plain || plane->n_terms > 1 || !cnv_plane_is_separable(plane) || plane->combine == CNV_COMBINE_MAGNITUDE)
    return FALSE;
  for (int c = 0; c < plane->channels; c++) {
    if (!(plane->filtered >> c & 1))
      continue;
    first = first < 0 ? c : first;
    if (plane->gain[c] != plane->gain[first] || plane->fraction[c] != plane->fraction[first] ||
        plane->base[c] != plane->base[first] || plane->mid_bias[c] != plane->mid_bias[first])
      return FALSE;
  }
  return plane->channels != 3 || plane->copied == 0;
}

/* Returns the reach of the taps: samples along x, rows along y. */
static int
reach_of(const CnvPlane *plane, int axis)
{
  int reach = 0;

  for (int i = 0; i < plane->n_terms; i++) {
    const CnvTerm *t = &plane->term[i];

    reach = MAX(reach, MAX(t->anchor[axis], t->n[axis] - 1 - t->anchor[axis]));
  }
  return reach * (axis == CNV_X ? plane->channels : 1);
}

static gboolean
suits_fused(const CnvPlan *plan, const CnvPlane *plane)
{
  const CnvTerm *t = &plane->term[0];

  return is_simple(plan, plane) && t->n[CNV_X] <= FUSED_TAPS && reach_of(plane, CNV_X) <= FUSED_REACH &&
         t->n[CNV_Y] <= (plane->component[0].bytes > 1 ? FUSED_TAPS_Y_16 : FUSED_TAPS);
}

/* Returns TRUE if levels are the middle level plus a sum of products, and taps times gain add up to at most 1. */
static gboolean
has_plain_levels(const CnvPlan *plan, const CnvPlane *plane)
{
  const CnvTerm *t = &plane->term[0];
  double sum[CNV_N_AXES] = {0, 0};
  int c = 0;

  while (!(plane->filtered >> c & 1))
    c++;
  for (int axis = 0; axis < CNV_N_AXES; axis++)
    for (int i = 0; i < t->n[axis]; i++)
      sum[axis] += plan->taps[t->taps[axis] + i];
  return plane->gain[c] * sum[CNV_X] * sum[CNV_Y] <= 1 && plane->fraction[c] + plane->base[c] == plane->mid[c] &&
         plan->n_temporal_taps == 1 && !cnv_border_renormalizes((CnvBorder)plane->border);
}

/* Returns TRUE if taps reach no farther than tensor supports. */
static gboolean
is_within_reach(const CnvPlane *plane)
{
  gboolean deep = plane->full[0] > 1023, one_copied = plane->copied && !(plane->copied & (plane->copied - 1));
  int most = deep ? TENSOR_REACH_DEEP : plane->component[0].bytes > 1 ? TENSOR_REACH_WIDE : TENSOR_REACH;
  int x = reach_of(plane, CNV_X), y = reach_of(plane, CNV_Y);

  return MAX(x, y) <= most || (deep && plane->channels == 4 && one_copied && MAX(x / 4, y) <= TENSOR_REACH_DEEP_PIXELS);
}

/* Returns TRUE for positive taps within tensor's reach. Samples of more than 10 bits also need plain levels. */
static gboolean
suits_tensor(const CnvPlan *plan, const CnvPlane *plane)
{
  const CnvTerm *t = &plane->term[0];
  gboolean deep = plane->full[0] > 1023;

  if (!is_simple(plan, plane) || (deep && !has_plain_levels(plan, plane)) || plane->combine != CNV_COMBINE_SUM ||
      !is_within_reach(plane))
    return FALSE;
  for (int i = 0; i < t->n[CNV_X] + t->n[CNV_Y]; i++)
    if (plan->taps[i < t->n[CNV_X] ? t->taps[CNV_X] + i : t->taps[CNV_Y] + i - t->n[CNV_X]] < 0)
      return FALSE;
  return TRUE;
}

static gboolean
runs(const Case *c, CnvAlgorithm algorithm)
{
  return c->plan[algorithm] != NULL;
}

/* ---- properties ---- */

static gboolean
is_not_wide(const CnvPlan *plan, const CnvPlane *plane)
{
  return MAX(reach_of(plane, CNV_X), reach_of(plane, CNV_Y)) < FUSED_TAPS;
}

/* auto supports everything, with algorithms that can run on the planes that they are chosen for. If tensor or fused can
 * filter the whole frame, auto chooses nothing slower, except for taps so wide that tensor runs them as dense ones. */
static void
check_auto(const Case *c)
{
  const CnvPlan *plan = c->plan[CNV_ALGORITHM_AUTO];
  gboolean fast;

  ck_assert_msg(plan != NULL, "%s: auto", c->name);
  fast = (runs(c, CNV_ALGORITHM_TENSOR) || runs(c, CNV_ALGORITHM_FUSED)) && all_planes(plan, is_not_wide);
  for (int p = 0; p < plan->n_planes; p++) {
    const CnvPlane *plane = &plan->plane[p];

    if (!plane->filtered)
      continue;
    ck_assert_msg(plane->algorithm != CNV_ALGORITHM_AUTO && plane->algorithm != CNV_ALGORITHM_TEXTURE &&
                      plan->backend->can(plane->algorithm, plan, plane, NULL),
                  "%s: plane %d by %s", c->name, p, cnv_algorithm_nicks[plane->algorithm].nick);
    ck_assert_msg(!fast || plane->algorithm == CNV_ALGORITHM_TENSOR || plane->algorithm == CNV_ALGORITHM_FUSED,
                  "%s: plane %d by %s", c->name, p, cnv_algorithm_nicks[plane->algorithm].nick);
  }
}

/* Algorithms in float32 reject nothing that they are documented to run. */
static void
check_float32(const Case *c)
{
  const CnvPlan *passes = c->plan[CNV_ALGORITHM_SEPARABLE];
  gboolean cells = all_planes(c->plan[CNV_ALGORITHM_AUTO], has_cells);

  ck_assert_msg(runs(c, CNV_ALGORITHM_NAIVE), "%s: naive", c->name);
  ck_assert_msg(runs(c, CNV_ALGORITHM_MOSAIC) == cells, "%s: mosaic", c->name);
  ck_assert_msg(runs(c, CNV_ALGORITHM_TILED) == !cells, "%s: tiled", c->name);
  ck_assert_msg(!cells || !passes, "%s: separable", c->name);
  ck_assert_msg(runs(c, CNV_ALGORITHM_TEXTURE) == (passes && capability > 0), "%s: texture", c->name);
  ck_assert_msg(runs(c, CNV_ALGORITHM_FUSED) == (passes && capability >= 70 && all_planes(passes, suits_fused)),
                "%s: fused", c->name);
}

static void
check_tensor(const Case *c)
{
  const CnvPlan *passes = c->plan[CNV_ALGORITHM_SEPARABLE];

  if (capability < TENSOR_CAPABILITY)
    ck_assert_msg(!runs(c, CNV_ALGORITHM_TENSOR), "%s: tensor", c->name);
  else if (passes && all_planes(passes, suits_tensor))
    ck_assert_msg(runs(c, CNV_ALGORITHM_TENSOR), "%s: tensor", c->name);
}

/* Returns TRUE for rows of test_filters that use the radius of the case. */
static gboolean
takes_radius(const TestFilter *row)
{
  return row->type != CNV_FILTER_CUSTOM && row->sigma == 0 && row->radius == 0 && row->radius_x < 0;
}

static gboolean
has_alpha(const CnvFormat *format)
{
  for (int p = 0; p < format->n_planes; p++)
    for (int c = 0; c < format->plane[p].channels; c++)
      if (format->plane[p].role[c] == CNV_ROLE_A)
        return TRUE;
  return FALSE;
}

static void
check_format(const TestFilter *row, int radius, const CnvFormat *format, CnvAlphaMode alpha)
{
  guint n_borders = 0;

  while (cnv_border_nicks[n_borders].nick)
    n_borders++;
  for (guint i = 0; i < n_borders; i++) {
    Case c;

    if (!all && (i + turn / 5) % n_borders != 0)
      continue;
    case_init(&c, row, radius, format, alpha, (CnvBorder)cnv_border_nicks[i].value);
    if (c.is_valid) {
      check_auto(&c);
      check_float32(&c);
      check_tensor(&c);
    }
    case_clear(&c);
  }
}

static const int capabilities[] = {
#ifdef HAVE_CUDA
    CAPABILITIES,
#endif
    0};

/* Each filter, radius, format and alpha mode. Without --all, capabilities and borders alternate. */
START_TEST(test_properties)
{
  const TestFilter *row = &test_filters[_i];

  turn = (guint)_i;
  for (guint r = 0; r < (takes_radius(row) ? G_N_ELEMENTS(radii) : 1); r++)
    for (const CnvFormat *format = cnv_formats; format->name; format++)
      for (CnvAlphaMode alpha = CNV_ALPHA_COPY; alpha <= (has_alpha(format) ? CNV_ALPHA_PREMULTIPLY : CNV_ALPHA_COPY);
           alpha++, turn++)
        for (guint i = 0; i < G_N_ELEMENTS(capabilities); i++) {
          capability = capabilities[i];
          if (all || (turn % G_N_ELEMENTS(capabilities) == i && (radii[r] < WIDE || turn % WIDE_TURNS == 0)))
            check_format(row, radii[r], format, alpha);
        }
}
END_TEST

#ifdef HAVE_CUDA
/* Filters that tensor supports at 8 bits but not at 10, because rounding to integers changes their taps too much. */
static const struct {
  const char *filter;
  int radius;
} only_8_bits[] = {{"log", 1}};

static gboolean
is_only_8_bits(const TestFilter *row, int radius)
{
  for (guint i = 0; i < G_N_ELEMENTS(only_8_bits); i++)
    if (g_str_equal(only_8_bits[i].filter, row->name) && radius == only_8_bits[i].radius)
      return TRUE;
  return FALSE;
}

/* Returns TRUE for one row times one column, or for that plus a tap on the sample itself. */
static gboolean
is_a_blur(const CnvPlan *plan, const CnvPlane *plane)
{
  return plane->n_terms <= 1 || (plane->n_terms == 2 && plane->term[0].n[CNV_X] * plane->term[0].n[CNV_Y] == 1 &&
                                 plane->combine == CNV_COMBINE_SUM);
}

static gboolean
is_near_blur(const CnvPlan *plan, const CnvPlane *plane)
{
  return reach_of(plane, CNV_X) <= TENSOR_REACH_WIDE;
}

static gboolean
is_near_dense(const CnvPlan *plan, const CnvPlane *plane)
{
  return reach_of(plane, CNV_X) <= TENSOR_REACH_WIDE_DENSE;
}

/* Returns TRUE if the taps reach no farther than tensor's kernels for more than 8 bits. */
static gboolean
is_near(const Case *wide)
{
  const CnvPlan *passes = wide->plan[CNV_ALGORITHM_SEPARABLE];

  return all_planes(wide->plan[CNV_ALGORITHM_NAIVE],
                    passes && all_planes(passes, is_a_blur) ? is_near_blur : is_near_dense);
}

/* Within its reach, tensor supports at 10 bits what it supports at 8. */
START_TEST(test_10_bits)
{
  static const char *const twins[][2] = {
      {"NV12", "P010_10LE"}, {"I420", "I420_10LE"}, {"Y42B", "I422_10LE"}, {"Y444", "Y444_10LE"}, {"GBR", "GBR_10LE"}};
  const TestFilter *row = &test_filters[_i];

  capability = TENSOR_CAPABILITY;
  for (guint r = 0; r < (takes_radius(row) ? G_N_ELEMENTS(radii) : 1); r++)
    for (guint i = 0; i < G_N_ELEMENTS(twins); i++) {
      Case narrow, wide;

      case_init(&narrow, row, radii[r], cnv_format_find(twins[i][0]), CNV_ALPHA_COPY, CNV_BORDER_REPLICATE);
      case_init(&wide, row, radii[r], cnv_format_find(twins[i][1]), CNV_ALPHA_COPY, CNV_BORDER_REPLICATE);
      ck_assert_msg(!runs(&narrow, CNV_ALGORITHM_TENSOR) || runs(&wide, CNV_ALGORITHM_TENSOR) ||
                        is_only_8_bits(row, radii[r]) || !is_near(&wide),
                    "%s: not tensor, as for %s", wide.name, twins[i][0]);
      case_clear(&narrow);
      case_clear(&wide);
    }
}
END_TEST
#endif

/* ---- by name ---- */

START_TEST(test_named)
{
  static const struct {
    int capability;
    const char *filter;
    int radius;
    const char *format;
    CnvBorder border;
    const char *algorithms; /* of the planes */
  } rows[] = {
      {0, "gaussian", 8, "NV12", CNV_BORDER_REPLICATE, "separable,separable"},
      {0, "dense-5x5", 0, "GRAY8", CNV_BORDER_REPLICATE, "tiled"},
      {0, "mosaic", 8, "GRAY8", CNV_BORDER_REPLICATE, "mosaic"},
#ifdef HAVE_CUDA
      {90, "gaussian", 8, "NV12", CNV_BORDER_REPLICATE, "tensor,tensor"},
      {80, "gaussian", 128, "NV12", CNV_BORDER_REFLECT, "tensor,tensor"},
      {80, "gaussian", 8, "RGBA", CNV_BORDER_WRAP, "tensor"},
      {80, "gaussian", 8, "P010_10LE", CNV_BORDER_RENORMALIZE, "tensor,tensor"},
      {80, "gaussian", 8, "GRAY16_LE", CNV_BORDER_REPLICATE, "tensor"},
      {80, "gaussian", 8, "P016_LE", CNV_BORDER_REPLICATE, "tensor,tensor"},
      {80, "gaussian", 8, "RGBA64_LE", CNV_BORDER_REPLICATE, "tensor"},
      {80, "gaussian", 8, "GRAY16_LE", CNV_BORDER_RENORMALIZE, "fused"},
      {75, "gaussian", 8, "GRAY16_LE", CNV_BORDER_REPLICATE, "fused"},
      {80, "gaussian", 8, "YUY2", CNV_BORDER_REPLICATE, "separable,separable"},
      {80, "dense-3x3", 0, "GRAY8", CNV_BORDER_CONSTANT, "tensor"},
      {80, "dense-3x3", 0, "GRAY8", CNV_BORDER_RENORMALIZE, "tiled"},
      {80, "dense-3x3", 0, "GRAY16_LE", CNV_BORDER_CONSTANT, "tiled"},
      {80, "sobel", 0, "NV12", CNV_BORDER_REPLICATE, "tensor,tensor"},
      {80, "unsharp", 8, "GRAY16_LE", CNV_BORDER_REPLICATE, "separable"},
      {80, "identity", 1, "YUY2", CNV_BORDER_REPLICATE, "naive,naive"},
      {80, "mosaic", 8, "NV12", CNV_BORDER_REPLICATE, "mosaic,mosaic"},
      {80, "gaussian", 2, "GBR_12LE", CNV_BORDER_REPLICATE, "tensor,tensor,tensor"},
      {80, "gaussian", 8, "GBR_12LE", CNV_BORDER_REPLICATE, "tensor,tensor,tensor"},
      {75, "gaussian", 8, "NV12", CNV_BORDER_REPLICATE, "fused,fused"},
      {75, "dense-5x5", 0, "GRAY8", CNV_BORDER_REPLICATE, "tiled"},
      {61, "gaussian", 8, "NV12", CNV_BORDER_REPLICATE, "separable,separable"},
#endif
  };

  for (guint i = 0; i < G_N_ELEMENTS(rows); i++) {
    g_autoptr(GString) algorithms = g_string_new(NULL), taps = g_string_new(NULL), terms = g_string_new(NULL);
    Case c;

    capability = rows[i].capability;
    case_init(&c, test_filter_find(rows[i].filter), rows[i].radius, cnv_format_find(rows[i].format), CNV_ALPHA_COPY,
              rows[i].border);
    cnv_plan_describe(c.plan[CNV_ALGORITHM_AUTO], algorithms, taps, terms);
    ck_assert_msg(g_str_equal(algorithms->str, rows[i].algorithms), "%s: %s, not %s", c.name, algorithms->str,
                  rows[i].algorithms);
    case_clear(&c);
  }
}
END_TEST

static void
add_tests(TCase *tcase)
{
  int n = 0;

  while (test_filters[n].name)
    n++;
  tcase_add_test(tcase, test_named);
  tcase_add_loop_test(tcase, test_properties, 0, n);
#ifdef HAVE_CUDA
  tcase_add_loop_test(tcase, test_10_bits, 0, n);
#endif
}

/* --all: check every border on every machine. */
int
main(int argc, char **argv)
{
  all = argc > 1 && g_str_equal(argv[1], "--all");
  return test_main("algorithms", add_tests);
}
