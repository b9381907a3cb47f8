/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * How frames in host memory are cut into slices, without a GPU. What launches make of the slices the stand-in driver
 * sees (standin/).
 */
#include <string.h>

#include "gpu/slices.h"
#include "support/plan.h"
#include "support/suite.h"

static CnvPlan *
plan_of_type(CnvFilterType type, const char *format, int width, int height, int radius, CnvBorder border)
{
  CnvFilter filter;
  CnvPlan *plan;

  test_filter_init(&filter);
  filter.type = type;
  filter.radius = radius;
  filter.border = border;
  plan = test_plan_new(&filter, CNV_ALGORITHM_AUTO, format, width, height);
  cnv_filter_clear(&filter);
  return plan;
}

static CnvPlan *
plan_of(const char *format, int width, int height, int radius, CnvBorder border, CnvAlgorithm algorithm)
{
  CnvPlan *plan = plan_of_type(CNV_FILTER_GAUSSIAN, format, width, height, radius, border);

  for (int p = 0; p < plan->n_planes; p++)
    if (plan->plane[p].filtered)
      plan->plane[p].algorithm = algorithm;
  return plan;
}

/* The lowest row that is read for the rows from 0 up to `end`, taps and border taken one by one. */
static int
last_row_read(const CnvPlan *plan, const CnvPlane *plane, int end)
{
  const CnvJob all = {.window_width = plane->width, .window_height = plane->height};
  int last = 0;

  if (plane->cell[CNV_Y])
    return cnv_cell_edge(plane, &all, CNV_Y, cnv_cell_of(plane, &all, CNV_Y, end - 1) + 1) - 1;
  for (int t = 0; t < plane->n_terms; t++)
    for (int y = 0; y < end; y++)
      for (int k = 0; k < plane->term[t].n[CNV_Y]; k++) {
        int row = cnv_border_index(plan->filter.border, y + k - plane->term[t].anchor[CNV_Y], plane->height);

        last = MAX(last, row);
      }
  return last;
}

static void
check_cut(const CnvPlan *plan, const CnvSlices *s)
{
  int height = plan->image.height;

  ck_assert_int_eq(s->end[s->n - 1], height);
  ck_assert_int_eq(s->rows_uploaded[s->n - 1], height);
  if (s->n > 1) {
    ck_assert_int_le(s->end[0], 2 * CNV_SLICE_ROWS);
    ck_assert_int_le(height - s->end[s->n - 2], 2 * CNV_SLICE_ROWS);
  }
  for (int k = 0; k < s->n; k++) {
    ck_assert_int_gt(s->end[k], k > 0 ? s->end[k - 1] : 0);
    ck_assert_int_ge(s->rows_uploaded[k], MAX(s->end[k], k > 0 ? s->rows_uploaded[k - 1] : 0));
    for (int p = 0; p < plan->n_planes; p++) {
      const CnvPlane *plane = &plan->plane[p];
      int end = cnv_slice_rows(s->end[k], plane->sub_y), there = cnv_slice_rows(s->rows_uploaded[k], plane->sub_y);

      ck_assert(end % CNV_SLICE_ROWS == 0 || end == plane->height);
      ck_assert_msg(s->single_launch || last_row_read(plan, plane, end) < there,
                    "plane %d: rows to %d read row %d of %d", p, end, last_row_read(plan, plane, end), there);
    }
  }
}

START_TEST(test_cuts)
{
  static const struct {
    const char *format;
    int width, height, radius;
    CnvBorder border;
    int n;
    gboolean single_launch;
  } rows[] = {
      {"NV12", 3840, 2160, 8, CNV_BORDER_REPLICATE, 8, FALSE},
      {"NV12", 1920, 1080, 8, CNV_BORDER_REFLECT, 5, FALSE},
      {"NV12", 1920, 1080, 400, CNV_BORDER_REFLECT_101, 5, FALSE},
      {"I420", 2047, 1535, 3, CNV_BORDER_RENORMALIZE, 8, FALSE},
      {"Y42B", 1921, 1079, 3, CNV_BORDER_CONSTANT, 7, FALSE},
      {"RGBA", 16384, 65, 8, CNV_BORDER_REPLICATE, 2, FALSE},
      {"P010_10LE", 1920, 1080, 1, CNV_BORDER_REPLICATE, 8, FALSE},
      {"GRAY8", 2048, 1024, 1, CNV_BORDER_REPLICATE, 4, FALSE}, /* 2 MiB */
      {"GRAY8", 2048, 1023, 1, CNV_BORDER_REPLICATE, 1, TRUE},
      {"GRAY8", 32768, 64, 1, CNV_BORDER_REPLICATE, 1, TRUE},
      {"NV12", 1920, 1080, 8, CNV_BORDER_WRAP, 5, TRUE},
      {"YUY2", 1920, 1080, 8, CNV_BORDER_REPLICATE, 7, TRUE},
      {"NV12", 1, 1, 8, CNV_BORDER_REPLICATE, 1, TRUE},
  };

  for (guint i = 0; i < G_N_ELEMENTS(rows); i++) {
    CnvPlan *plan =
        plan_of(rows[i].format, rows[i].width, rows[i].height, rows[i].radius, rows[i].border, CNV_ALGORITHM_SEPARABLE);
    CnvSlices slices = cnv_slices_of_work(&CNV_WORK_ALL(&plan)), copies = cnv_slices_of_image(&plan->image);

    ck_assert_msg(slices.n == rows[i].n && !slices.single_launch == !rows[i].single_launch,
                  "row %u: %d slices, whole %d", i, slices.n, slices.single_launch);
    check_cut(plan, &slices);
    ck_assert(copies.n == slices.n && copies.single_launch);
    ck_assert(memcmp(copies.end, slices.end, sizeof(copies.end)) == 0);
    ck_assert(memcmp(copies.rows_uploaded, copies.end, sizeof(copies.end)) == 0);
    cnv_plan_unref(plan);
  }
}
END_TEST

/* Cells are read as they are, whatever part of them a slice has. */
START_TEST(test_cells)
{
  static const int radii[] = {0, 1, 8, 63, 200, 512};

  for (guint i = 0; i < G_N_ELEMENTS(radii); i++)
    for (int of_chroma = 0; of_chroma < 2; of_chroma++) {
      CnvPlan *plan =
          plan_of_type(CNV_FILTER_MOSAIC, of_chroma ? "NV12" : "RGBA", 1920, 1079, radii[i], CNV_BORDER_REPLICATE);
      CnvSlices slices = cnv_slices_of_work(&CNV_WORK_ALL(&plan));

      ck_assert(!slices.single_launch && slices.n > 1);
      check_cut(plan, &slices);
      cnv_plan_unref(plan);
    }
}
END_TEST

/* Other work than a whole frame stays in one piece; a frame that overlaps with others is copied in one, too. */
START_TEST(test_other_work)
{
  static const CnvRegion region = {{0, 0, 1000, 1000}, 0};
  static const CnvTemporalTap temporal_tap = {0, 1};
  CnvPlan *plan = plan_of("NV12", 1920, 1080, 8, CNV_BORDER_REPLICATE, CNV_ALGORITHM_SEPARABLE);
  CnvWork fields = CNV_WORK_ALL(&plan), regions = CNV_WORK_ALL(&plan), time = CNV_WORK_ALL(&plan);
  CnvWork overlaps = CNV_WORK_ALL(&plan);
  CnvSlices one;

  fields.interlaced = TRUE;
  regions.everything = FALSE;
  regions.region = &region;
  regions.n_regions = 1;
  time.temporal_tap = &temporal_tap;
  time.n_temporal_taps = 1;
  ck_assert(cnv_slices_of_work(&fields).single_launch);
  ck_assert(cnv_slices_of_work(&regions).single_launch);
  ck_assert(cnv_slices_of_work(&time).single_launch);
  overlaps.overlaps = TRUE;
  one = cnv_slices_of_work(&overlaps);
  ck_assert(one.single_launch && one.n == 1);
  check_cut(plan, &one);
  cnv_plan_unref(plan);
}
END_TEST

static void
add_tests(TCase *tcase)
{
  tcase_add_test(tcase, test_cuts);
  tcase_add_test(tcase, test_cells);
  tcase_add_test(tcase, test_other_work);
}

int
main(void)
{
  return test_main("slices", add_tests);
}
