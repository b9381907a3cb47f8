/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The engine's masks (cuda/plan/regions/mask.c) if there is no memory for them: no sample is filtered less than
 * requested.
 */
#include "support/memory.h"
#include "support/plan.h"
#include "support/suite.h"
#include "support/weights.h"

#define SIZE 64    /* width and height of the frame */
#define CELLS 6000 /* columns and rows of a mask */
#define MEMORY (20 << 20)

/* Returns a mask whose left half is white. */
static CnvMask *
half_mask(void)
{
  g_autofree guint8 *weights = g_malloc0((gsize)CELLS * CELLS);
  CnvMask *mask;

  for (gsize i = 0; i < (gsize)CELLS * CELLS; i++)
    weights[i] = i % CELLS < CELLS / 2 ? 255 : 0;
  mask = cnv_mask_new(CELLS, CELLS, CELLS, weights);
  ck_assert(mask != NULL);
  return mask;
}

static void
check_weights(const CnvWork *work, gboolean has_memory)
{
  CnvJobs jobs;

  cnv_jobs_init(&jobs);
  ck_assert(limit_memory(has_memory ? ALL_MEMORY : MEMORY));
  cnv_jobs_make(&jobs, work, 0, 0);
  ck_assert(limit_memory(ALL_MEMORY));
  for (int y = 0; y < SIZE; y++)
    for (int x = 0; x < SIZE; x++) {
      gboolean inside = x >= 10 && y >= 10 && x < 30 && y < 30;
      gboolean white = inside && (x < 20 || !has_memory);
      gboolean filtered = work->invert ? !has_memory || !white : white;
      int weight;

      test_job_at(&jobs, 0, 0, x, y, &weight);
      ck_assert_msg((weight > 127) == filtered, "%d/255 at (%d, %d), invert %d, memory %d", weight, x, y, work->invert,
                    has_memory);
    }
  cnv_jobs_clear(&jobs);
}

/* The whole rectangle is filtered instead of the mask, and with invert the whole frame. */
GST_START_TEST(test_no_memory)
{
  g_autoptr(CnvMask) mask = half_mask();
  static const guint8 row[CELLS];
  CnvPlan *plan = test_plan_default("GRAY8", SIZE, SIZE);
  const CnvRegion region = {.rect = {10, 10, 20, 20}, .shape = CNV_SHAPE_MASK, .mask = mask};
  CnvWork work = {.plan = &plan, .n_plans = 1, .region = &region, .n_regions = 1};

  ck_assert_uint_eq(cnv_mask_n_cells(mask), (guint64)CELLS * CELLS);
  for (int has_memory = 1; has_memory >= 0; has_memory--)
    for (work.invert = FALSE; work.invert <= TRUE; work.invert++)
      check_weights(&work, has_memory);
  ck_assert(limit_memory(MEMORY));
  ck_assert(cnv_mask_new(CELLS, CELLS, 0, row) == NULL);
  ck_assert(limit_memory(ALL_MEMORY));
  cnv_plan_unref(plan);
}
GST_END_TEST;

static void
add_tests(TCase *tcase)
{
#ifdef CAN_LIMIT_MEMORY
  tcase_add_test(tcase, test_no_memory);
#else
  (void)test_no_memory;
#endif
}

int
main(void)
{
  return test_main("mask", add_tests);
}
