/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Samples of the CPU engine have the same bits however its work is cut: by any number of threads, as a whole frame or
 * as regions of it. Sums that run along an axis could show where the cuts are.
 */
#include <gst/check/gstcheck.h>

#include <string.h>

#include "plan/plan.h"
#include "support/cases.h"

static const TestLayout in_layout = {0, 0, 5}, out_layout = {64, 1, 8};

/* Frames of odd sizes, large enough that several threads are used. */
static const struct {
  const char *format;
  CnvFilterType type;
  int radius, width, height;
  double scale;
  gboolean whole_alone, interlaced; /* whole_alone: without regions */
} rows[] = {
    {"GRAY8", CNV_FILTER_GAUSSIAN, 15, 1201, 877, 1},
    {"GRAY8", CNV_FILTER_GAUSSIAN, 15, 1201, 877, 1.3},
    {"GRAY8", CNV_FILTER_GAUSSIAN, 60, 1201, 877, 1},
    {"GRAY8", CNV_FILTER_GAUSSIAN, 240, 901, 777, 1},
    {"RGB", CNV_FILTER_GAUSSIAN, 30, 801, 577, 1},
    {"RGB", CNV_FILTER_GAUSSIAN, 30, 1801, 301, 1},
    {"RGBA", CNV_FILTER_GAUSSIAN, 14, 2301, 301, 1},
    {"GRAY16_LE", CNV_FILTER_GAUSSIAN, 20, 801, 577, 1},
    {"GRAY16_LE", CNV_FILTER_GAUSSIAN, 100, 801, 577, 1},
    {"NV12", CNV_FILTER_GAUSSIAN, 40, 901, 777, 1, .whole_alone = TRUE},
    {"P010_10LE", CNV_FILTER_GAUSSIAN, 40, 901, 777, 1, .whole_alone = TRUE},
    {"I420", CNV_FILTER_GAUSSIAN, 40, 901, 777, 1, .whole_alone = TRUE, .interlaced = TRUE},
    {"UYVY", CNV_FILTER_GAUSSIAN, 33, 901, 777, 1, .whole_alone = TRUE},
    {"GRAY8", CNV_FILTER_GAUSSIAN, 6, 801, 577, 1.3},
    {"GRAY8", CNV_FILTER_GAUSSIAN, 8, 801, 577, 1},
    {"RGB", CNV_FILTER_GAUSSIAN, 3, 801, 577, 1},
    {"RGBA", CNV_FILTER_GAUSSIAN, 5, 801, 577, 1},
    {"NV12", CNV_FILTER_GAUSSIAN, 12, 801, 577, 1, .whole_alone = TRUE},
    {"GRAY8", CNV_FILTER_DISK, 9, 601, 477, 1},
    {"GRAY8", CNV_FILTER_DISK, 31, 601, 477, 1},
    {"RGB", CNV_FILTER_DISK, 12, 401, 377, 1},
    {"I420_10LE", CNV_FILTER_DISK, 13, 601, 477, 1, .whole_alone = TRUE},
    {"I420_12LE", CNV_FILTER_DISK, 13, 601, 477, 1, .whole_alone = TRUE},
    {"GRAY16_LE", CNV_FILTER_DISK, 9, 401, 277, 1},
    {"NV12", CNV_FILTER_DISK, 15, 601, 477, 1, .whole_alone = TRUE, .interlaced = TRUE},
    {"GRAY8", CNV_FILTER_BOX, 20, 1201, 877, 1},
    {"GRAY8", CNV_FILTER_BOX, 200, 801, 677, 1.3},
    {"GRAY16_LE", CNV_FILTER_BOX, 50, 801, 677, 1},
    {"GRAY16_LE", CNV_FILTER_BOX, 110, 801, 677, 1},
    {"GRAY16_LE", CNV_FILTER_BOX, 150, 801, 677, 1},
    {"P010_10LE", CNV_FILTER_BOX, 41, 801, 677, 1, .whole_alone = TRUE},
    {"RGB", CNV_FILTER_MOTION, 20, 401, 377, 1},
    {"GRAY8", CNV_FILTER_MOSAIC, 20, 1601, 1277, 1, .whole_alone = TRUE},
    {"GRAY8", CNV_FILTER_UNSHARP, 20, 801, 577, 1},
    {"GRAY8", CNV_FILTER_SOBEL, 3, 801, 577, 1},
};

static const guint threads[] = {1, 2, 3, 5, 16};

/* Regions that intersect, in luma pixels. */
static CnvRegion regions[] = {
    {{31, 45, 360, 251}, 0}, {{250, 100, 131, 333}, 0}, {{300, 301, 377, 255}, 0}, {{0, 440, 9999, 20}, 0}};

static gboolean
is_in_region(int x, int y)
{
  for (guint i = 0; i < G_N_ELEMENTS(regions); i++) {
    const CnvRect *r = &regions[i].rect;

    if (x >= r->x && x < r->x + r->width && y >= r->y && y < r->y + r->height)
      return TRUE;
  }
  return FALSE;
}

static CnvPlan *
make_plan(guint row, CnvAlgorithm algorithm)
{
  const CnvImage image = {cnv_format_find(rows[row].format), rows[row].width, rows[row].height, 0.2126, 0.0722, FALSE};
  const TestFilter filter = {.name = "cut",
                             .type = rows[row].type,
                             .radius_x = -1,
                             .radius_y = -1,
                             .scale = rows[row].scale,
                             .angle = rows[row].type == CNV_FILTER_MOTION ? 30 : 0};
  CnvFilter resolved;
  CnvPlan *plan;
  GError *error = NULL;

  test_filter_make(&filter, rows[row].radius, test_options.seed, &resolved);
  plan = cnv_plan_new(&resolved, &image, algorithm, cnv_backend_find("cpu"), &error);
  ck_assert_msg(plan != NULL, "row %u: %s", row, error ? error->message : "no plan");
  cnv_filter_clear(&resolved);
  return plan;
}

/* Filters a frame with n_threads threads. Returns TRUE if Fourier transforms filtered a plane of it. */
static gboolean
make(CnvPlan *plan, guint row, gboolean whole, guint n_threads, const TestFrame *in, TestFrame *out)
{
  const CnvSessionOptions options = {.device = -1, .n_threads = n_threads, .simd = test_options.simd};
  CnvSession *session = cnv_backend_find("cpu")->open(&options, NULL);
  CnvWork work = CNV_WORK_ALL(&plan);
  TestRun run;
  gboolean transformed;

  work.interlaced = rows[row].interlaced;
  work.whole_frame = whole;
  work.region = regions;
  work.n_regions = whole ? 0 : G_N_ELEMENTS(regions);
  ck_assert(session != NULL);
  test_frame_init(out, in->format, in->width, in->height, out_layout);
  test_run_init(&run, CNV_MEMORY_HOST, in, out);
  ck_assert(cnv_session_submit(session, &work, &run.from, &run.to, NULL) && cnv_session_wait(session, NULL));
  ck_assert_msg(session->stats.threads == n_threads, "row %u: %u threads were not worth it", row, n_threads);
  transformed = test_has_method(session->stats.method, "fft");
  test_run_finish(&run);
  cnv_session_close(session);
  return transformed;
}

/* Returns the first row of a plane in which two frames differ, or -1. from: the input, whose pixels the first frame
 * must have outside the regions. NULL: all pixels are compared. */
static int
first_difference(const TestFrame *a, const TestFrame *b, const TestFrame *from, int p)
{
  const TestPlane *plane = &a->plane[p], *other = &b->plane[p];
  int bytes = plane->row_bytes / a->width;

  for (int y = 0; y < plane->rows; y++) {
    const guint8 *row = plane->block + plane->start + (gsize)y * plane->stride;
    const guint8 *expected = other->block + other->start + (gsize)y * other->stride;

    if (!from && memcmp(row, expected, plane->row_bytes) != 0)
      return y;
    for (int x = 0; from && x < a->width; x++) {
      const guint8 *input = from->plane[p].block + from->plane[p].start + (gsize)y * from->plane[p].stride;

      if (memcmp(row + x * bytes, (is_in_region(x, y) ? expected : input) + x * bytes, bytes) != 0)
        return y;
    }
  }
  return -1;
}

static void
compare(guint row, guint n_threads, const TestFrame *out, const TestFrame *expected, const TestFrame *in)
{
  for (int p = 0; p < CNV_MAX_PLANES && out->plane[p].block; p++) {
    int y = first_difference(out, expected, in, p);

    if (y >= 0)
      test_fail("row %u, %s of %s, radius %d: with %u threads %s differ in plane %d, row %d", row,
                cnv_filter_info(rows[row].type)->nick.nick, rows[row].format, rows[row].radius, n_threads,
                in ? "regions and the whole frame" : "the frame and that of one thread", p, y);
  }
}

static void
run_row(guint row, CnvAlgorithm algorithm)
{
  CnvPlan *plan = make_plan(row, algorithm);
  TestFrame in, first, out;
  gboolean transformed;

  test_frame_init(&in, plan->image.format, plan->image.width, plan->image.height, in_layout);
  test_frame_fill(&in, TEST_NOISE, test_options.seed);
  transformed = make(plan, row, TRUE, 1, &in, &first);
  for (guint i = 1; i < 2 * G_N_ELEMENTS(threads); i++) {
    gboolean whole = i < G_N_ELEMENTS(threads);
    guint n_threads = threads[i % G_N_ELEMENTS(threads)];

    if (test_options.extent == TEST_QUICK && i % (G_N_ELEMENTS(threads) - 1) != row % (G_N_ELEMENTS(threads) - 1))
      continue; /* one or two numbers of threads per row, in turn */
    /* A transform rounds each sample of its tile by all others, and regions change where tiles begin. */
    if (!whole && (rows[row].whole_alone || transformed))
      continue;
    make(plan, row, whole, n_threads, &in, &out);
    compare(row, n_threads, &out, &first, whole ? NULL : &in);
    test_frame_clear(&out);
  }
  test_frame_clear(&in);
  test_frame_clear(&first);
  cnv_plan_unref(plan);
}

/* Wide gaussians of 8 bits use decimated samples with auto, and running sums with separable. */
START_TEST(test_cuts)
{
  if (!test_options.backend || strcmp(test_options.backend, "cpu") == 0)
    for (guint row = 0; row < G_N_ELEMENTS(rows); row++) {
      run_row(row, CNV_ALGORITHM_AUTO);
      if (rows[row].type == CNV_FILTER_GAUSSIAN)
        run_row(row, CNV_ALGORITHM_SEPARABLE);
    }
  test_set_finish("cuts of the CPU engine's work");
}
END_TEST

TCase *
test_cuts_tcase(void)
{
  TCase *tcase = tcase_create("cuts");

  tcase_add_test(tcase, test_cuts);
  return tcase;
}
