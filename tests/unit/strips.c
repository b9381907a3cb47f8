/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Which kernels a frame's jobs go to: the CUDA engine's table, without a GPU. How strips are cut into tiles the
 * stand-in driver sees (standin/).
 * Plans are made for the CPU and their planes then given the rung that a GPU would.
 */
#include "plan/plan.h"

#include "gpu/strips.h"
#include "support/suite.h"

#define WIDTH 200
#define HEIGHT 121

typedef struct {
  CnvFilterType type;
  int radius;
  int width, height; /* custom: taps that rise, so that they are of full rank, signed where `step` is below 0 */
  double step;
} Taps;

static CnvPlan *
plan_of(const Taps *t, const char *format, CnvBorder border, CnvAlgorithm rung)
{
  const CnvImage image = {cnv_format_find(format), WIDTH, HEIGHT, 0.2126, 0.0722, FALSE};
  double taps[49];
  CnvFilter filter;
  CnvPlan *plan;

  cnv_filter_init(&filter);
  filter.type = t->type;
  filter.radius = t->radius;
  filter.border = border;
  for (int i = 0; i < t->width * t->height; i++)
    taps[i] = 1 + t->step * (i * i % 7) + 0.01 * i;
  if (t->width)
    filter.kernel = cnv_taps_new(t->width, t->height, taps);
  plan = cnv_plan_new(&filter, &image, CNV_ALGORITHM_AUTO, cnv_backend_find("cpu"), NULL);
  ck_assert(plan != NULL);
  for (int p = 0; p < plan->n_planes; p++)
    if (plan->plane[p].filtered)
      plan->plane[p].algorithm = rung;
  cnv_filter_clear(&filter);
  return plan;
}

static guint
count_launches(const CnvSchedule *table, CnvKernelKind kind)
{
  guint n = 0;

  for (guint i = 0; i < table->launches->len; i++)
    n += g_array_index(table->launches, CnvLaunch, i).kind == kind;
  return n;
}

/* Jobs that a kind of kernel does. */
static guint
count_jobs(const CnvSchedule *table, CnvKernelKind kind)
{
  guint n = 0;

  for (guint i = 0; i < table->launches->len; i++) {
    const CnvLaunch *l = &g_array_index(table->launches, CnvLaunch, i);

    n += l->kind == kind ? l->n_units + l->n_strips : 0;
  }
  return n;
}

static void
set_work(CnvSchedule *table, const CnvWork *work)
{
  static const CnvKernelKind last[] = {CNV_KERNEL_NAIVE, CNV_KERNEL_TILED,  CNV_KERNEL_COLUMNS,
                                       CNV_KERNEL_FUSED, CNV_KERNEL_TENSOR, CNV_KERNEL_DENSE};
  guint done = 0;

  cnv_schedule_init(table);
  cnv_table_set_plans(table, work);
  table->n_blocks = 16;
  ck_assert(cnv_table_set_work(table, work, FALSE));
  for (guint i = 0; i < G_N_ELEMENTS(last); i++)
    done += count_jobs(table, last[i]);
  ck_assert_uint_eq(done, table->jobs->len);
}

static const Taps blur = {CNV_FILTER_GAUSSIAN, 3}, wide = {CNV_FILTER_GAUSSIAN, 12}, wider = {CNV_FILTER_GAUSSIAN, 20},
                  widest = {CNV_FILTER_GAUSSIAN, 44}, full_rank = {CNV_FILTER_CUSTOM, -1, 5, 5, 0.3},
                  sharpen = {CNV_FILTER_SHARPEN, 1}, signed_row = {CNV_FILTER_CUSTOM, -1, 3, 1, -0.9},
                  gradient = {CNV_FILTER_SOBEL, 1};

/* All planes of a frame share a launch of the kind that their taps are for. */
START_TEST(test_whole_frames)
{
  static const struct {
    const Taps *taps;
    CnvAlgorithm rung;
    CnvKernelKind kind;
    const char *kernel, *suffix;
  } rows[] = {
      {&blur, CNV_ALGORITHM_TENSOR, CNV_KERNEL_TENSOR, "tensor", "2x1"},
      {&wide, CNV_ALGORITHM_TENSOR, CNV_KERNEL_TENSOR, "tensor_ring", "3"},
      {&widest, CNV_ALGORITHM_TENSOR, CNV_KERNEL_TENSOR, "tensor_ring", "9"},
      {&signed_row, CNV_ALGORITHM_TENSOR, CNV_KERNEL_TENSOR, "tensor_exact", "2x1"},
      {&blur, CNV_ALGORITHM_FUSED, CNV_KERNEL_FUSED, "fused", "4"},
      {&wide, CNV_ALGORITHM_FUSED, CNV_KERNEL_FUSED, "fused", "any"},
      {&signed_row, CNV_ALGORITHM_FUSED, CNV_KERNEL_FUSED, "fused", "1"},
      {&full_rank, CNV_ALGORITHM_TENSOR, CNV_KERNEL_DENSE, "dense", "2_2_1_0"},
  };

  for (guint i = 0; i < G_N_ELEMENTS(rows); i++) {
    CnvPlan *plan = plan_of(rows[i].taps, "NV12", CNV_BORDER_REPLICATE, rows[i].rung);
    const CnvKernelName *name;
    CnvSchedule table;

    set_work(&table, &CNV_WORK_ALL(&plan));
    ck_assert_uint_eq(table.launches->len, 1);
    ck_assert_uint_eq(count_jobs(&table, rows[i].kind), 2);
    name = cnv_strips_kernel(&table, rows[i].kind);
    ck_assert_str_eq(name->kernel, rows[i].kernel);
    ck_assert_msg(g_str_equal(name->suffix, rows[i].suffix), "row %u: %s", i, name->suffix);
    cnv_schedule_clear(&table);
    cnv_plan_unref(plan);
  }
}
END_TEST

/* Two sums of a magnitude; chroma, which becomes neutral, is one row times one column. */
START_TEST(test_gradient)
{
  CnvPlan *plan = plan_of(&gradient, "NV12", CNV_BORDER_CONSTANT, CNV_ALGORITHM_TENSOR);
  CnvSchedule table;

  set_work(&table, &CNV_WORK_ALL(&plan));
  ck_assert_uint_eq(count_jobs(&table, CNV_KERNEL_DENSE), 1);
  ck_assert_uint_eq(count_jobs(&table, CNV_KERNEL_TENSOR), 1);
  ck_assert_str_eq(table.dense->name.suffix, "2_2_2_0");
  cnv_schedule_clear(&table);
  cnv_plan_unref(plan);
}
END_TEST

static const CnvRegion two_regions[] = {{{13, 10, 60, 50}, 0}, {{90, 40, 70, 61}, 1}};

/* What strips do not know goes to other rungs: weights, and for bands also borders inside the plane. */
START_TEST(test_regions)
{
  static const struct {
    const Taps *taps;
    CnvAlgorithm rung;
    double feather;
    gboolean isolated;
    CnvKernelKind kind;
  } rows[] = {
      {&blur, CNV_ALGORITHM_TENSOR, 0, FALSE, CNV_KERNEL_TENSOR},
      {&blur, CNV_ALGORITHM_TENSOR, 0, TRUE, CNV_KERNEL_COLUMNS},
      {&blur, CNV_ALGORITHM_TENSOR, 5, FALSE, CNV_KERNEL_COLUMNS},
      {&blur, CNV_ALGORITHM_FUSED, 0, TRUE, CNV_KERNEL_FUSED},
      {&blur, CNV_ALGORITHM_FUSED, 5, FALSE, CNV_KERNEL_COLUMNS},
      {&full_rank, CNV_ALGORITHM_TENSOR, 0, TRUE, CNV_KERNEL_DENSE},
      {&full_rank, CNV_ALGORITHM_TENSOR, 5, FALSE, CNV_KERNEL_TILED},
      {&sharpen, CNV_ALGORITHM_TENSOR, 0, FALSE, CNV_KERNEL_DENSE},
      {&sharpen, CNV_ALGORITHM_TENSOR, 5, FALSE, CNV_KERNEL_COLUMNS},
  };

  for (guint i = 0; i < G_N_ELEMENTS(rows); i++) {
    CnvPlan *plan = plan_of(rows[i].taps, "GRAY8", CNV_BORDER_REFLECT, rows[i].rung);
    const CnvWork work = {.plan = &plan,
                          .n_plans = 1,
                          .region = two_regions,
                          .n_regions = 1,
                          .feather = rows[i].feather,
                          .isolated = rows[i].isolated};
    CnvSchedule table;

    set_work(&table, &work);
    ck_assert_msg(count_launches(&table, rows[i].kind) > 0, "row %u", i);
    if (rows[i].feather == 0)
      ck_assert_msg(count_jobs(&table, rows[i].kind) == table.jobs->len, "row %u", i);
    cnv_schedule_clear(&table);
    cnv_plan_unref(plan);
  }
}
END_TEST

/* Plans of one work share a variant, or are done by two kinds, or where there is no such variant one gives way. */
START_TEST(test_plans_together)
{
  static const struct {
    const Taps *taps[2];
    const char *format;
    CnvKernelKind kind[2];
  } rows[] = {
      {{&blur, &wide}, "RGBA", {CNV_KERNEL_TENSOR, CNV_KERNEL_TENSOR}},
      {{&signed_row, &wide}, "RGBA", {CNV_KERNEL_TENSOR, CNV_KERNEL_TENSOR}},
      {{&signed_row, &wider}, "RGBA", {CNV_KERNEL_TENSOR, CNV_KERNEL_COLUMNS}},
      {{&full_rank, &wide}, "GRAY8", {CNV_KERNEL_DENSE, CNV_KERNEL_TENSOR}},
      {{&sharpen, &full_rank}, "GRAY8", {CNV_KERNEL_DENSE, CNV_KERNEL_DENSE}},
      {{&gradient, &full_rank}, "GRAY8", {CNV_KERNEL_DENSE, CNV_KERNEL_TILED}},
  };

  for (guint i = 0; i < G_N_ELEMENTS(rows); i++) {
    CnvPlan *plans[2];
    const CnvWork work = {.plan = plans, .n_plans = 2, .region = two_regions, .n_regions = 2};
    CnvSchedule table;

    for (int p = 0; p < 2; p++)
      plans[p] = plan_of(rows[i].taps[p], rows[i].format, CNV_BORDER_REPLICATE, CNV_ALGORITHM_TENSOR);
    set_work(&table, &work);
    for (int p = 0; p < 2; p++)
      ck_assert_msg(count_launches(&table, rows[i].kind[p]) > 0, "row %u, plan %d", i, p);
    cnv_schedule_clear(&table);
    for (int p = 0; p < 2; p++)
      cnv_plan_unref(plans[p]);
  }
}
END_TEST

START_TEST(test_refusals)
{
  static const struct {
    const Taps *taps;
    CnvAlgorithm rung;
    const char *format;
    CnvBorder border;
    const char *says;
  } rows[] = {
      {&full_rank, CNV_ALGORITHM_FUSED, "GRAY8", CNV_BORDER_REPLICATE, "one row times one column"},
      {&blur, CNV_ALGORITHM_FUSED, "YUY2", CNV_BORDER_REPLICATE, "arrays of samples"},
      {&blur, CNV_ALGORITHM_TENSOR, "GRAY16_LE", CNV_BORDER_REPLICATE, "12 bits"},
      {&full_rank, CNV_ALGORITHM_TENSOR, "GRAY16_LE", CNV_BORDER_REPLICATE, "12 bits"},
      {&blur, CNV_ALGORITHM_TENSOR, "GRAY8", CNV_BORDER_WRAP, "wrap"},
      {&full_rank, CNV_ALGORITHM_TENSOR, "GRAY8", CNV_BORDER_RENORMALIZE, "renormalize"},
      {&full_rank, CNV_ALGORITHM_TENSOR, "GRAY8", CNV_BORDER_WRAP, NULL},
      {&blur, CNV_ALGORITHM_FUSED, "GRAY16_LE", CNV_BORDER_WRAP, NULL},
  };

  for (guint i = 0; i < G_N_ELEMENTS(rows); i++) {
    CnvPlan *plan = plan_of(rows[i].taps, rows[i].format, rows[i].border, rows[i].rung);
    GError *error = NULL;
    gboolean fits = cnv_strips_fit(rows[i].rung, plan, &plan->plane[0], &error);

    ck_assert_msg(!fits == (rows[i].says != NULL), "row %u", i);
    ck_assert_msg(fits || (error->code == CNV_ERROR_UNSUPPORTED && strstr(error->message, rows[i].says)), "row %u: %s",
                  i, fits ? "" : error->message);
    g_clear_error(&error);
    cnv_plan_unref(plan);
  }
}
END_TEST

int
main(void)
{
  Suite *suite = suite_create("strips");
  TCase *tcase = tcase_create("strips");

  suite_add_tcase(suite, tcase);
  tcase_add_test(tcase, test_whole_frames);
  tcase_add_test(tcase, test_gradient);
  tcase_add_test(tcase, test_regions);
  tcase_add_test(tcase, test_plans_together);
  tcase_add_test(tcase, test_refusals);
  return test_suite_run(suite);
}
