/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Polygons to weights (gst/regions/polygon.c). A simple polygon is compared with the area of its part in each pixel,
 * clipped to the four sides of the pixel in turn. A polygon that crosses itself is compared with 64 x 64 points per
 * pixel.
 */
#include <math.h>
#include <string.h>

#include "regions/mask.h"
#include "regions/polygon.h"
#include "support/inside.h"
#include "support/suite.h"

#define SIZE 24 /* pixels of most rectangles, along x and y */
#define MAX_POINTS 64
#define SAMPLES 64

static const CnvRect square = {0, 0, SIZE, SIZE};

typedef struct {
  double x, y;
} Point;

/* ---- oracles ---- */

/* Keeps the part of a polygon where sign * (coordinate - limit) >= 0 (Sutherland and Hodgman). Returns its points. */
static int
clip(Point *to, const Point *from, int n, gboolean is_y, double limit, int sign)
{
  int kept = 0;

  for (int i = 0; i < n; i++) {
    const Point *a = &from[i], *b = &from[(i + 1) % n];
    double away_a = sign * ((is_y ? a->y : a->x) - limit), away_b = sign * ((is_y ? b->y : b->x) - limit);

    if (away_a >= 0)
      to[kept++] = *a;
    if ((away_a >= 0) != (away_b >= 0)) {
      double part = away_a / (away_a - away_b);

      to[kept++] = (Point){a->x + part * (b->x - a->x), a->y + part * (b->y - a->y)};
    }
  }
  return kept;
}

/* Returns the area of a simple polygon in a pixel. */
static double
area_in_pixel(const Point *polygon, int n, int x, int y)
{
  Point one[2 * MAX_POINTS], other[2 * MAX_POINTS];
  double twice = 0;

  n = clip(one, polygon, n, FALSE, x, 1);
  n = clip(other, one, n, FALSE, x + 1, -1);
  n = clip(one, other, n, TRUE, y, 1);
  n = clip(other, one, n, TRUE, y + 1, -1);
  for (int i = 0; i < n; i++) {
    const Point *a = &other[i], *b = &other[(i + 1) % n];

    twice += (a->x - x) * (b->y - y) - (b->x - x) * (a->y - y);
  }
  return fabs(twice) / 2;
}

static double
sampled_area(const Point *polygon, int n, int x, int y)
{
  return inside_part(&polygon->x, n, x, y, SAMPLES);
}

/* ---- helpers ---- */

static GArray *
points_of(const Point *polygon, int n)
{
  GArray *points = g_array_new(FALSE, FALSE, sizeof(double));

  for (int i = 0; i < n; i++) {
    g_array_append_val(points, polygon[i].x);
    g_array_append_val(points, polygon[i].y);
  }
  return points;
}

/* Returns weights, to be freed. Checks that the calls with and without weights agree on whether there are any. */
static guint8 *
draw(const Point *polygon, int n, CnvRect rect)
{
  g_autoptr(GArray) points = points_of(polygon, n);
  gsize size = (gsize)rect.width * (gsize)rect.height;
  guint8 *weights = g_malloc(size), most = 0;
  gboolean shows, looks;

  memset(weights, 77, size);
  ck_assert(gst_cuda_convolve_polygon_draw(points, &rect, weights, &shows));
  ck_assert(gst_cuda_convolve_polygon_draw(points, &rect, NULL, &looks));
  for (gsize i = 0; i < size; i++)
    most = MAX(most, weights[i]);
  ck_assert_int_eq(shows, most > 0);
  ck_assert_int_eq(looks, most > 0);
  return weights;
}

/* Makes a polygon around a centre without crossings: corners are in the order of their angles. */
static int
make_simple(GRand *rand, Point *polygon, Point center, double radius)
{
  int n = g_rand_int_range(rand, 3, 12);

  for (int i = 0; i < n; i++) {
    double angle = 2 * G_PI * (i + g_rand_double_range(rand, 0.05, 0.95)) / n;
    double away = radius * g_rand_double_range(rand, 0.1, 1);

    polygon[i] = (Point){center.x + away * cos(angle), center.y + away * sin(angle)};
  }
  return n;
}

/* ---- tests ---- */

/* Any size and place: from fractions of a pixel to a million pixels, within the rectangle and around it. */
GST_START_TEST(test_simple_polygons)
{
  static const double radii[] = {0.05, 0.7, 3, 11, 40, 3000, 1048576};
  g_autoptr(GRand) rand = g_rand_new_with_seed(1);

  for (int i = 0; i < 1400; i++) {
    double radius = radii[i % G_N_ELEMENTS(radii)], far = MIN(radius, 5000);
    Point center = {g_rand_double_range(rand, -far, SIZE + far), g_rand_double_range(rand, -far, SIZE + far)};
    Point polygon[MAX_POINTS];
    int n;
    g_autofree guint8 *weights = NULL;

    if (i % 5 == 0)
      center = (Point){g_rand_int_range(rand, 0, SIZE), g_rand_int_range(rand, 0, SIZE)};
    n = make_simple(rand, polygon, center, radius);
    for (int p = 0; p < n && i % 3 == 0; p++) /* corners and sides on those of pixels */
      polygon[p] = (Point){round(polygon[p].x), round(polygon[p].y)};
    if (i % 3 == 0 && radius < 3000)
      n = 3; /* rounding could make sides of more corners cross */
    weights = draw(polygon, n, square);
    for (int y = 0; y < SIZE; y++)
      for (int x = 0; x < SIZE; x++) {
        double expected = 255 * area_in_pixel(polygon, n, x, y);

        ck_assert_msg(fabs(weights[y * SIZE + x] - expected) < 0.5 + 1e-4, "polygon %d: %d at (%d, %d) and not %g", i,
                      weights[y * SIZE + x], x, y, expected);
      }
  }
}
GST_END_TEST;

/* Sides that cross, several in a pixel, and parts that are surrounded twice. */
GST_START_TEST(test_crossing_polygons)
{
  g_autoptr(GRand) rand = g_rand_new_with_seed(2);

  for (int i = 0; i < 24; i++) {
    Point polygon[MAX_POINTS];
    int n = i < 12 ? 4 + i % 4 : 10 + i;
    double error = 0;
    g_autofree guint8 *weights = NULL;

    for (int p = 0; p < n; p++)
      polygon[p] = (Point){g_rand_double_range(rand, -4, SIZE + 4), g_rand_double_range(rand, -4, SIZE + 4)};
    weights = draw(polygon, n, square);
    for (int y = 0; y < SIZE; y++)
      for (int x = 0; x < SIZE; x++) {
        double expected = 255 * sampled_area(polygon, n, x, y), off = weights[y * SIZE + x] - expected;

        ck_assert_msg(fabs(off) < 8, "polygon %d: %d at (%d, %d) and not %g", i, weights[y * SIZE + x], x, y, expected);
        error += off;
      }
    ck_assert_msg(fabs(error) / (SIZE * SIZE) < 0.1, "polygon %d: off by %g on average", i, error / (SIZE * SIZE));
  }
}
GST_END_TEST;

/* Parts with opposite directions and a common side have no seam between them. */
GST_START_TEST(test_no_seam)
{
  static const Point both[] = {{2, 2}, {10.5, 2}, {10.5, 20}, {19, 20}, {19, 2}, {10.5, 2}, {10.5, 20}, {2, 20}};
  g_autofree guint8 *weights = draw(both, G_N_ELEMENTS(both), square);

  for (int y = 0; y < SIZE; y++)
    for (int x = 0; x < SIZE; x++)
      ck_assert_int_eq(weights[y * SIZE + x], x >= 2 && x < 19 && y >= 2 && y < 20 ? 255 : 0);
}
GST_END_TEST;

/* Parts outside the rectangle do not change the weights inside. */
GST_START_TEST(test_parts)
{
  g_autoptr(GRand) rand = g_rand_new_with_seed(3);

  for (int i = 0; i < 200; i++) {
    const CnvRect part = {g_rand_int_range(rand, 0, SIZE - 1), g_rand_int_range(rand, 0, SIZE - 1), 1, 1};
    CnvRect larger = {part.x, part.y, g_rand_int_range(rand, 1, SIZE - part.x + 1),
                      g_rand_int_range(rand, 1, SIZE - part.y + 1)};
    Point polygon[MAX_POINTS];
    int n = g_rand_int_range(rand, 3, 9);
    g_autofree guint8 *all = NULL, *some = NULL;

    for (int p = 0; p < n; p++)
      polygon[p] = (Point){g_rand_double_range(rand, -30, 60), g_rand_double_range(rand, -30, 60)};
    all = draw(polygon, n, square);
    some = draw(polygon, n, larger);
    for (int y = 0; y < larger.height; y++)
      for (int x = 0; x < larger.width; x++)
        ck_assert_int_le(abs(some[y * larger.width + x] - all[(larger.y + y) * SIZE + larger.x + x]), 1);
  }
}
GST_END_TEST;

/* Polygons without area, and the largest and smallest doubles. */
GST_START_TEST(test_degenerate_polygons)
{
  static const Point rows[][4] = {
      {{3, 3}, {3, 3}, {3, 3}, {3, 3}},
      {{1, 1}, {20, 20}, {5, 5}, {12, 12}},
      {{1, 7.5}, {20, 7.5}, {3, 7.5}, {9, 7.5}},
      {{7.5, 1}, {7.5, 20}, {7.5, 3}, {7.5, 9}},
      {{1, 1}, {20, 3}, {20, 15}, {20, 3}},
      {{-1e6, -1e6}, {1e6, 1e6}, {1e6, 1e6}, {-1e6, -1e6}},
      {{-9, 0}, {0, 0}, {0, 9}, {-9, 9}},
      {{SIZE, 0}, {SIZE + 9, 0}, {SIZE + 9, 9}, {SIZE, 9}},
      {{0, -9}, {9, -9}, {9, 0}, {0, 0}},
      {{0, 0}, {1e6, 1e-310}, {0, 5e-324}, {-1e6, 1e-300}},
      {{0, 0}, {20, 1e-10}, {20, 2e-10}, {0, 1e-10}},
  };
  static const Point all[] = {{-1e9, -1e9}, {3e9, 0}, {-1e9, 3e9}};

  for (guint i = 0; i < G_N_ELEMENTS(rows); i++) {
    g_autofree guint8 *weights = draw(rows[i], 4, square);

    for (int at = 0; at < SIZE * SIZE; at++)
      ck_assert_msg(weights[at] == 0, "row %u: %d", i, weights[at]);
  }
  for (int i = 0; i < 2; i++) {
    g_autofree guint8 *weights = draw(all, 3, square);

    for (int at = 0; at < SIZE * SIZE; at++)
      ck_assert_int_eq(weights[at], 255);
  }
}
GST_END_TEST;

/* The largest number of crossings: the time is bounded, and only a few pixels are inexact. */
GST_START_TEST(test_most_crossings)
{
  enum { N = GST_CUDA_CONVOLVE_POLYGON_POINTS, WIDE = 600 };
  static Point polygon[N];
  g_autoptr(GRand) rand = g_rand_new_with_seed(4);
  int off = 0;

  for (int kind = 0; kind < 2; kind++) {
    gint64 begin = g_get_monotonic_time();
    g_autofree guint8 *weights = NULL;

    for (int p = 0; p < N; p++) /* a star, whose sides meet in the middle, and random points */
      polygon[p] = kind == 0 ? (Point){WIDE / 2 + WIDE * cos(p * 3.1), WIDE / 2 + WIDE * sin(p * 3.1)}
                             : (Point){g_rand_double_range(rand, 0, WIDE), g_rand_double_range(rand, 0, WIDE)};
    weights = draw(polygon, N, (CnvRect){0, 0, WIDE, WIDE});
    ck_assert_int_lt(g_get_monotonic_time() - begin, 20 * G_USEC_PER_SEC);
    for (int i = 0; i < 40; i++) {
      int x = g_rand_int_range(rand, 0, WIDE), y = g_rand_int_range(rand, 0, WIDE);

      off += fabs(weights[y * WIDE + x] - 255 * sampled_area(polygon, N, x, y)) > 16;
    }
  }
  ck_assert_int_le(off, 10);
}
GST_END_TEST;

/* A box of 12 x 5 turned clockwise, or the ellipse in it. */
GST_START_TEST(test_boxes)
{
  static const double box[] = {6, 9, 12, 5};

  for (int i = 0; i < 40; i++) {
    double angle = i * 0.37 - 5, c = cos(angle), s = sin(angle), areas[2] = {0};

    for (int shape = 0; shape < 2; shape++) {
      g_autoptr(GArray) points =
          gst_cuda_convolve_polygon_of_box(box, angle, shape ? CNV_SHAPE_ELLIPSE : CNV_SHAPE_RECTANGLE);
      const Point *polygon = (const Point *)points->data;
      g_autofree guint8 *weights = draw(polygon, (int)points->len / 2, square);

      for (int y = 0; y < SIZE; y++)
        for (int x = 0; x < SIZE; x++) {
          double dx = x + 0.5 - 12, dy = y + 0.5 - 11.5, along = dx * c + dy * s, across = dy * c - dx * s;
          double away = shape ? hypot(along / 6, across / 2.5) : MAX(fabs(along) / 6, fabs(across) / 2.5);

          areas[shape] += weights[y * SIZE + x] / 255.0;
          if (away < 0.7)
            ck_assert_int_eq(weights[y * SIZE + x], 255);
          if (away > 1.4)
            ck_assert_int_eq(weights[y * SIZE + x], 0);
        }
    }
    ck_assert_msg(fabs(areas[0] - 12 * 5) < 0.1, "%g", areas[0]);
    ck_assert_msg(fabs(areas[1] - 12 * 5 * G_PI / 4) < 0.2, "%g", areas[1]);
  }
}
GST_END_TEST;

GST_START_TEST(test_rects)
{
  static const CnvImage image = {.width = 100, .height = 50};
  static const struct {
    Point polygon[3];
    double reach;
    CnvRect rect;
  } rows[] = {
      {{{10, 10}, {20, 12}, {15, 20}}, 0, {10, 10, 10, 10}},
      {{{10.1, 10.9}, {20.1, 12}, {15, 19.9}}, 5, {10, 10, 11, 10}},
      {{{-10, -10}, {200, 12}, {15, 70}}, 0, {0, 0, 100, 50}},
      {{{-10, -10}, {200, 12}, {15, 70}}, 3.5, {-4, -4, 108, 58}},
      {{{-10, -10}, {0, 12}, {-5, 70}}, 0, {0, 0, 0, 0}},
      {{{-10, -10}, {0, 12}, {-5, 70}}, 1, {-1, -1, 1, 52}},
      {{{-1e9, -1e9}, {1e9, 0}, {0, 1e9}}, 0, {0, 0, 100, 50}},
      {{{101, 0}, {1e9, 0}, {101, 1e9}}, 0.5, {0, 0, 0, 0}},
      {{{5, 5}, {9, 5}, {7, 5}}, 0, {0, 0, 0, 0}},
  };

  for (guint i = 0; i < G_N_ELEMENTS(rows); i++) {
    g_autoptr(GArray) points = points_of(rows[i].polygon, 3);
    CnvRect rect = gst_cuda_convolve_polygon_rect(points, rows[i].reach, &image);

    ck_assert_msg(memcmp(&rect, &rows[i].rect, sizeof(rect)) == 0, "row %u: %d %d %dx%d", i, rect.x, rect.y, rect.width,
                  rect.height);
  }
}
GST_END_TEST;

/* ---- polygons as masks ---- */

static gboolean
get(GArray *masks, const Point *polygon, int n, CnvRect rect, GstCudaConvolveMask *mask, guint64 *n_cells,
    GError **error)
{
  g_autoptr(GArray) points = points_of(polygon, n);

  *mask = (GstCudaConvolveMask){.polygon = points, .rect = rect, .frame_width = 8192, .frame_height = 8192};
  return gst_cuda_convolve_masks_get(masks, mask, n_cells, error);
}

/* The same points in the next frame are the same mask, which is not uploaded again. Other points are a different mask.
 */
GST_START_TEST(test_kept_masks)
{
  static const Point one[] = {{1, 1}, {9, 2}, {4, 11}}, other[] = {{1, 1}, {9, 2}, {4, 11.5}};
  static const CnvRect rect = {1, 1, 8, 11};
  g_autoptr(GArray) masks = gst_cuda_convolve_masks_new();
  GstCudaConvolveMask first, second, third;

  for (int frame = 0; frame < 3; frame++) {
    guint64 n_cells = 0;

    gst_cuda_convolve_masks_next(masks);
    ck_assert(get(masks, one, 3, rect, frame > 0 ? &second : &first, &n_cells, NULL));
    ck_assert(frame == 0 || second.region.mask == first.region.mask);
    ck_assert(get(masks, other, 3, rect, &third, &n_cells, NULL));
    ck_assert(third.region.mask != first.region.mask);
    ck_assert_uint_eq(n_cells, 2 * 8 * 11);
    ck_assert_uint_eq(masks->len, 2);
  }
  gst_cuda_convolve_masks_next(masks);
  gst_cuda_convolve_masks_next(masks);
  ck_assert_uint_eq(masks->len, 0);
}
GST_END_TEST;

/* Pixels count as samples of masks. */
GST_START_TEST(test_limit_of_pixels)
{
  static const Point all[] = {{0, 0}, {8192, 0}, {8192, 8192}, {0, 8192}};
  g_autoptr(GArray) masks = gst_cuda_convolve_masks_new();
  g_autoptr(GError) error = NULL;
  GstCudaConvolveMask mask;
  guint64 n_cells = 0;

  ck_assert(get(masks, all, 4, (CnvRect){0, 0, 8192, 8191}, &mask, &n_cells, &error));
  ck_assert(get(masks, all, 4, (CnvRect){0, 0, 8192, 1}, &mask, &n_cells, &error));
  ck_assert(!get(masks, all, 4, (CnvRect){0, 0, 1, 1}, &mask, &n_cells, &error));
  ck_assert_msg(g_str_has_prefix(error->message, "the masks of a frame have 67108865 samples"), "%s", error->message);
  g_clear_error(&error);
  n_cells = 0;
  ck_assert(!get(masks, all, 4, (CnvRect){0, 0, 32769, 1}, &mask, &n_cells, &error));
}
GST_END_TEST;

static void
add_tests(TCase *tcase)
{
  tcase_add_test(tcase, test_simple_polygons);
  tcase_add_test(tcase, test_crossing_polygons);
  tcase_add_test(tcase, test_no_seam);
  tcase_add_test(tcase, test_parts);
  tcase_add_test(tcase, test_degenerate_polygons);
  tcase_add_test(tcase, test_most_crossings);
  tcase_add_test(tcase, test_boxes);
  tcase_add_test(tcase, test_rects);
  tcase_add_test(tcase, test_kept_masks);
  tcase_add_test(tcase, test_limit_of_pixels);
}

int
main(void)
{
  return test_main("polygon", add_tests);
}
