/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Regions over time (gst/regions/tracks.c), without a pipeline: if a detector misses something that moves on as before,
 * it stays covered.
 */
#include <string.h>

#include "regions/mask.h"
#include "regions/tracks.h"
#include "support/suite.h"

#define N_FRAMES 60

/* ---- a detector ---- */

typedef struct {
  GArray *tracks, *region;
} Smoother;

static Smoother
smoother_new(void)
{
  return (Smoother){gst_cuda_convolve_tracks_new(), g_array_new(FALSE, FALSE, sizeof(CnvRegion))};
}

static void
smoother_free(Smoother *s)
{
  g_array_unref(s->tracks);
  g_array_unref(s->region);
}

/* Drops the regions of the previous frame. */
static void
next_frame(Smoother *s)
{
  g_array_set_size(s->region, 0);
}

static void
detect(Smoother *s, CnvRect rect, CnvShape shape, CnvMask *mask)
{
  g_array_append_val(s->region, ((CnvRegion){.rect = rect, .shape = shape, .mask = mask}));
}

static void
follow(Smoother *s, guint n_frames)
{
  gst_cuda_convolve_tracks_follow(s->tracks, s->region, n_frames);
  gst_cuda_convolve_tracks_append(s->tracks, s->region, TRUE);
}

static const CnvRegion *
region_at(const Smoother *s, guint i)
{
  ck_assert_uint_lt(i, s->region->len);
  return &g_array_index(s->region, CnvRegion, i);
}

static gboolean
holds(const CnvRect *outer, const CnvRect *inner)
{
  return outer->x <= inner->x && outer->y <= inner->y && outer->x + outer->width >= inner->x + inner->width &&
         outer->y + outer->height >= inner->y + inner->height;
}

static gboolean
is_covered(const Smoother *s, const CnvRect *rect)
{
  gboolean covered = FALSE;

  for (guint i = 0; i < s->region->len; i++)
    covered = covered || holds(&region_at(s, i)->rect, rect);
  return covered;
}

/* ---- motion ---- */

/* A rectangle whose position and size change by fractions of a pixel per frame, which detectors round. */
typedef struct {
  double x, y, width, height;
  double by_x, by_y, by_width, by_height;
} Mover;

static CnvRect
place(const Mover *m, int frame)
{
  return (CnvRect){(int)(m->x + m->by_x * frame), (int)(m->y + m->by_y * frame), (int)(m->width + m->by_width * frame),
                   (int)(m->height + m->by_height * frame)};
}

static const Mover movers[] = {
    {700, 500, 40, 50},
    {100, 100, 40, 50, 3, 0},
    {600, 100, 40, 50, -7.3, 2.6},
    {10, 10, 8, 8, 11.5, 9.5},
    {500, 300, 20, 20, -2.5, -2.5, 5, 5},   /* approaches */
    {300, 200, 300, 280, 2.5, 2.5, -5, -4}, /* recedes */
    {0, 0, 5, 5, 0.4, 0.3},
};

/* The detector misses every third frame, of all movers at once or in turn. It has seen the two positions that define
 * the speed. */
GST_START_TEST(test_every_third_missed)
{
  for (int alike = 0; alike < 2; alike++) {
    Smoother s = smoother_new();

    for (int frame = 0; frame < N_FRAMES; frame++) {
      next_frame(&s);
      for (gsize i = 0; i < G_N_ELEMENTS(movers); i++)
        if ((frame + (alike ? 0 : i)) % 3 != 2 || frame < 2)
          detect(&s, place(&movers[i], frame), CNV_SHAPE_RECTANGLE, NULL);
      follow(&s, 5);
      for (gsize i = 0; i < G_N_ELEMENTS(movers); i++) {
        CnvRect rect = place(&movers[i], frame);

        ck_assert_msg(is_covered(&s, &rect), "mover %d at frame %d", (int)i, frame);
      }
      ck_assert_uint_eq(s.region->len, G_N_ELEMENTS(movers));
    }
    smoother_free(&s);
  }
}
GST_END_TEST;

/* Kept for the requested number of frames, and grown by the speed and one pixel for rounding per frame. */
GST_START_TEST(test_length_and_growth)
{
  for (guint n = 0; n < 5; n++) {
    Smoother s = smoother_new();

    for (int frame = 0; frame < 2; frame++) {
      next_frame(&s);
      detect(&s, (CnvRect){100 + 10 * frame, 50 - 4 * frame, 30, 20}, CNV_SHAPE_RECTANGLE, NULL);
      follow(&s, n);
      ck_assert_uint_eq(s.region->len, 1);
    }
    for (guint missed = 1; missed <= n + 2; missed++) {
      int x = 11 * (int)missed, y = 5 * (int)missed;
      const CnvRect expected = {110 - x, 46 - y, 30 + 2 * x, 20 + 2 * y};

      next_frame(&s);
      follow(&s, n);
      ck_assert_uint_eq(s.region->len, missed <= n);
      ck_assert(missed > n || memcmp(&region_at(&s, 0)->rect, &expected, sizeof(CnvRect)) == 0);
    }
    smoother_free(&s);
  }
}
GST_END_TEST;

/* The same frame again has the same regions. */
GST_START_TEST(test_again)
{
  Smoother s = smoother_new();
  CnvRegion first;

  for (int frame = 0; frame < 3; frame++) {
    next_frame(&s);
    if (frame < 2)
      detect(&s, (CnvRect){10 + frame, 10, 5, 5}, CNV_SHAPE_RECTANGLE, NULL);
    follow(&s, 3);
  }
  first = *region_at(&s, 0);
  for (int again = 0; again < 3; again++) {
    next_frame(&s);
    gst_cuda_convolve_tracks_append(s.tracks, s.region, TRUE);
    ck_assert_uint_eq(s.region->len, 1);
    ck_assert(memcmp(&first, region_at(&s, 0), sizeof(first)) == 0);
  }
  smoother_free(&s);
}
GST_END_TEST;

/* A region that does not move keeps its shape, a mask also its size. A region that moves becomes a rectangle. A region
 * that may not grow is unchanged. */
GST_START_TEST(test_shapes)
{
  static const guint8 weights[4] = {255, 0, 0, 255};
  const CnvShape shapes[] = {CNV_SHAPE_ELLIPSE, CNV_SHAPE_MASK};

  for (gsize i = 0; i < G_N_ELEMENTS(shapes); i++)
    for (int moves = 0; moves < 2; moves++) {
      Smoother s = smoother_new();
      g_autoptr(CnvMask) mask = shapes[i] == CNV_SHAPE_MASK ? cnv_mask_new(2, 2, 2, weights) : NULL;

      for (int frame = 0; frame < 3; frame++) {
        next_frame(&s);
        if (frame < 2)
          detect(&s, (CnvRect){10 + moves * frame, 10, 5, 5}, shapes[i], mask);
        follow(&s, 3);
      }
      ck_assert_int_eq(region_at(&s, 0)->shape, moves ? CNV_SHAPE_RECTANGLE : shapes[i]);
      ck_assert(region_at(&s, 0)->mask == (moves ? NULL : mask));
      ck_assert_int_eq(region_at(&s, 0)->rect.width, moves ? 9 : shapes[i] == CNV_SHAPE_MASK ? 5 : 7);
      next_frame(&s);
      gst_cuda_convolve_tracks_append(s.tracks, s.region, FALSE);
      ck_assert_int_eq(region_at(&s, 0)->shape, shapes[i]);
      ck_assert_int_eq(region_at(&s, 0)->rect.width, 5);
      smoother_free(&s);
    }
}
GST_END_TEST;

/* Two regions that pass each other keep their own speeds, and a new one next to them does not continue either. */
GST_START_TEST(test_two_that_meet)
{
  Smoother s = smoother_new();

  for (int frame = 0; frame < 40; frame++) {
    const CnvRect a = {5 * frame, 100, 20, 20}, b = {200 - 5 * frame, 110, 20, 20};

    next_frame(&s);
    if (frame % 3 != 2)
      detect(&s, a, CNV_SHAPE_RECTANGLE, NULL);
    detect(&s, b, CNV_SHAPE_RECTANGLE, NULL);
    if (frame == 30)
      detect(&s, (CnvRect){900, 900, 10, 10}, CNV_SHAPE_RECTANGLE, NULL);
    follow(&s, 2);
    ck_assert_msg(is_covered(&s, &b), "frame %d", frame);
    ck_assert_msg(is_covered(&s, &a), "frame %d", frame);
  }
  smoother_free(&s);
}
GST_END_TEST;

/* More regions than can be followed, in new places in each frame, some at the limits of integers: all stay covered, the
 * number of tracks is limited, and so is the time. */
GST_START_TEST(test_crowd)
{
  Smoother s = smoother_new();

  for (int frame = 0; frame < 12; frame++) {
    next_frame(&s);
    for (int i = 0; i < CNV_MAX_REGIONS; i++)
      detect(&s, (CnvRect){(i % 32) * 1000 + 500 * (frame % 2) - (1 << 19), (i / 32) * 1000 + 97 * frame, 1 + i, 3},
             CNV_SHAPE_RECTANGLE, NULL);
    follow(&s, 300);
    ck_assert_uint_le(s.tracks->len, 2 * CNV_MAX_REGIONS);
    ck_assert_uint_le(s.region->len, 3 * CNV_MAX_REGIONS);
  }
  next_frame(&s);
  detect(&s, (CnvRect){-(1 << 20), -(1 << 20), 1 << 21, 1 << 21}, CNV_SHAPE_RECTANGLE, NULL);
  follow(&s, 300);
  for (int frame = 0; frame < 300; frame++) {
    next_frame(&s);
    follow(&s, 300);
    for (guint i = 0; i < s.region->len; i++)
      ck_assert_int_gt(region_at(&s, i)->rect.width, 0);
  }
  smoother_free(&s);
}
GST_END_TEST;

/* Missed masks are kept up to a number of samples. Beyond it their boxes are covered. With roi-invert, for which a box
 * would hide less, they are dropped. */
GST_START_TEST(test_large_masks)
{
  const int size = 4096, n = 2 * GST_CUDA_CONVOLVE_MASK_CELLS / (size * size);
  g_autofree guint8 *row = g_malloc(size);
  Smoother s = smoother_new();
  gsize n_cells = 0;
  int n_boxes = 0;

  memset(row, 255, size);
  for (int frame = 0; frame <= n; frame++) {
    g_autoptr(CnvMask) mask = cnv_mask_new(size, size, 0, row);

    next_frame(&s);
    if (frame < n)
      detect(&s, (CnvRect){100 * frame, 0, 10, 10}, CNV_SHAPE_MASK, mask);
    follow(&s, 300);
  }
  ck_assert_uint_eq(s.region->len, n);
  for (int i = 0; i < n; i++) {
    ck_assert(is_covered(&s, &(CnvRect){100 * i, 0, 10, 10}));
    n_cells += region_at(&s, i)->mask ? cnv_mask_n_cells(region_at(&s, i)->mask) : 0;
    n_boxes += region_at(&s, i)->mask == NULL;
  }
  ck_assert_uint_le(n_cells, GST_CUDA_CONVOLVE_MASK_CELLS);
  ck_assert_int_eq(n_boxes, n / 2);
  next_frame(&s);
  gst_cuda_convolve_tracks_append(s.tracks, s.region, FALSE);
  ck_assert_uint_eq(s.region->len, n / 2);
  for (int i = 0; i < n / 2; i++)
    ck_assert(region_at(&s, i)->mask != NULL);
  smoother_free(&s);
}
GST_END_TEST;

static void
add_tests(TCase *tcase)
{
  tcase_add_test(tcase, test_every_third_missed);
  tcase_add_test(tcase, test_length_and_growth);
  tcase_add_test(tcase, test_again);
  tcase_add_test(tcase, test_shapes);
  tcase_add_test(tcase, test_two_that_meet);
  tcase_add_test(tcase, test_crowd);
  tcase_add_test(tcase, test_large_masks);
}

int
main(void)
{
  return test_main("smooth", add_tests);
}
