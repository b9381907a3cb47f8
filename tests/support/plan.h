/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Plans for the CPU engine.
 */
#pragma once

#include "plan/plan.h"

#include "support/filter.h"
#include "support/suite.h"

/* Returns the plan of a filter that must be valid. */
static inline CnvPlan *
test_plan_new(const CnvFilter *filter, CnvAlgorithm algorithm, const char *format, int width, int height)
{
  const CnvImage image = {cnv_format_find(format), width, height, 0.2126, 0.0722, FALSE};
  CnvPlan *plan = cnv_plan_new(filter, &image, algorithm, cnv_backend_find("cpu"), NULL);

  ck_assert(plan != NULL);
  return plan;
}

/* Returns the plan of the default filter, for tests whose filter does not matter. */
static inline CnvPlan *
test_plan_default(const char *format, int width, int height)
{
  CnvFilter filter;

  test_filter_init(&filter);
  return test_plan_new(&filter, CNV_ALGORITHM_NAIVE, format, width, height);
}
