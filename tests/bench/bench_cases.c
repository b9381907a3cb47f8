/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * A timed case: its name, its plan, and its check.
 */
#include "bench/bench.h"

#include "plan/plan.h"

#define WIDTH 264 /* of the frames that are checked */
#define HEIGHT 72
#define SQUARE 20

int
bench_case_frames(const TestCase *c)
{
  return MAX(c->depth, 2 * c->temporal_radius + 1);
}

char *
bench_case_region(const TestCase *c)
{
  GString *name = g_string_new(NULL);

  if (c->count > 1)
    g_string_append_printf(name, "%d x ", c->count);
  g_string_append_printf(name, "%s%d", c->noise ? "noise " : "", c->square);
  if (c->feather > 0)
    g_string_append_printf(name, " + %d", c->feather);
  g_string_append_printf(name, "%s%s", c->isolated ? " isolated" : "", c->invert ? " inverted" : "");
  return g_string_free(name, FALSE);
}

char *
bench_case_name(const TestCase *c)
{
  static const char *const shapes[] = {"region", "ellipse", "mask"};
  GString *name = g_string_new(NULL);

  g_string_printf(name, "%s %dx%d %s", c->format, c->width, c->height, c->filter->name);
  if (c->radius > 0)
    g_string_append_printf(name, " r=%d", c->radius);
  if (c->square > 0) {
    g_autofree char *region = bench_case_region(c);

    g_string_append_printf(name, ", %s %s", shapes[c->shape], region);
  }
  if (bench_case_frames(c) > 1)
    g_string_append_printf(name, ", %d frames", bench_case_frames(c));
  return g_string_free(name, FALSE);
}

CnvPlan *
bench_case_plan(const TestCase *c, const CnvBackend *backend, CnvAlgorithm algorithm, double max_products)
{
  CnvFilter filter;
  CnvImage image;
  CnvPlan *plan;

  test_image_make(c, &image);
  test_case_filter(c, 0, test_options.seed, &filter);
  plan = cnv_plan_new(&filter, &image, algorithm, backend, NULL);
  cnv_filter_clear(&filter);
  if (plan && (!c->square || c->square >= c->width || c->invert) &&
      test_plan_products(plan) * (c->depth > 0 ? 1 : plan->n_temporal_taps) > max_products)
    g_clear_pointer(&plan, cnv_plan_unref);
  return plan;
}

guint
bench_case_check(const TestCase *c)
{
  g_autofree char *name = bench_case_name(c);
  TestCase reduced = *c;

  reduced.width = WIDTH;
  reduced.height = HEIGHT;
  reduced.square = MIN(c->square, SQUARE);
  test_case_run(&reduced);
  return test_cases_finish(name);
}
