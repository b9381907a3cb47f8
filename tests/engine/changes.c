/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The difference of a frame of the history from the frame pushed before it, compared with a mean computed here in
 * float64.
 */
#include <gst/check/gstcheck.h>

#include <math.h>

#include "support/cases.h"

#define N_FRAMES 6
#define N_SLOTS 3

/* Which frames are measured, and whose changes are read after which push: at once, one or two pushes later, or
 * twice. */
static const struct {
  gboolean measured;
  const char *asked; /* numbers of frames */
} steps[N_FRAMES] = {{TRUE, "0"}, {TRUE, ""}, {TRUE, "12"}, {FALSE, "1233"}, {TRUE, ""}, {TRUE, "453"}};

static const TestLayout layout = {0, 8, 4};

static double
luma_weight(const CnvImage *image, guint role)
{
  return role == CNV_ROLE_Y   ? 1
         : role == CNV_ROLE_R ? image->kr
         : role == CNV_ROLE_B ? image->kb
         : role == CNV_ROLE_G ? 1 - image->kr - image->kb
                              : 0;
}

static double
luma_of(const CnvImage *image, const TestFrame *frame, int x, int y)
{
  const CnvFormat *format = image->format;
  double luma = 0;

  for (int p = 0; p < format->n_planes; p++)
    for (int c = 0; c < format->plane[p].channels; c++) {
      double weight = luma_weight(image, format->plane[p].role[c]);

      if (weight > 0)
        luma += weight * test_frame_get(frame, p, c, x, y) / ((1 << oracle_component(format, p, c).depth) - 1);
    }
  return luma;
}

/* Returns the mean over every fourth column and row. In large frames the steps are larger, so that there are at most
 * 256. */
static double
expected_change(const CnvImage *image, const TestFrame *before, const TestFrame *frame)
{
  int step_x = MAX(4, (int)ceil(image->width / 256.0)), step_y = MAX(4, (int)ceil(image->height / 256.0)), n = 0;
  double sum = 0;

  for (int y = 0; y < image->height; y += step_y)
    for (int x = 0; x < image->width; x += step_x, n++)
      sum += fabs(luma_of(image, frame, x, y) - luma_of(image, before, x, y));
  return sum / n;
}

/* Checks the change of frame k. The engine keeps luma in float32. */
static void
check_change(const TestVariant *v, const CnvImage *image, const TestFrame *frames, int k)
{
  gboolean both = k > 0 && steps[k].measured && steps[k - 1].measured;
  double expected = both ? expected_change(image, &frames[k - 1], &frames[k]) : 0, change = -1;
  GError *error = NULL;

  if (!cnv_session_history_change(v->session, k % N_SLOTS, &change, &error) || !(fabs(change - expected) < 1e-7))
    test_fail("%s memory %d, %dx%d %s: frame %d changes by %.9f, expected %.9f%s%s", v->backend->name, v->memory,
              image->width, image->height, image->format->name, k, change, expected, error ? ": " : "",
              error ? error->message : "");
  g_clear_error(&error);
}

static void
push_frame(const TestVariant *v, const TestFrame *frame, TestDeviceFrame *device, int k)
{
  GError *error = NULL;
  CnvFrame view;

  test_frame_view(frame, &view);
  if (v->memory == CNV_MEMORY_DEVICE) {
    test_device_frame_init(device, frame);
    test_device_frame_view(device, frame, &view);
  }
  if (!cnv_session_history_push(v->session, k % N_SLOTS, &view, steps[k].measured, NULL, &error))
    test_fail("%s, %s: %s", v->backend->name, frame->format->name, error->message);
  g_clear_error(&error);
}

static void
check_format(const TestVariant *v, const TestCase *c)
{
  TestDeviceFrame device[N_FRAMES] = {{{NULL}}};
  TestFrame frames[N_FRAMES];
  CnvImage image;

  test_image_make(c, &image);
  ck_assert(cnv_session_history_alloc(v->session, &image, N_SLOTS, NULL));
  for (int k = 0; k < N_FRAMES; k++) {
    test_frame_init(&frames[k], image.format, image.width, image.height, layout);
    test_frame_fill(&frames[k], k == 3 ? TEST_NEAR_FULL : TEST_NOISE, test_options.seed + k);
    push_frame(v, &frames[k], &device[k], k);
    for (const char *asked = steps[k].asked; *asked; asked++)
      check_change(v, &image, frames, *asked - '0');
  }
  ck_assert(cnv_session_wait(v->session, NULL));
  ck_assert(cnv_session_history_alloc(v->session, &image, 0, NULL));
  for (int k = 0; k < N_FRAMES; k++) {
    test_frame_clear(&frames[k]);
    if (v->memory == CNV_MEMORY_DEVICE)
      test_device_frame_clear(&device[k]);
  }
}

/* Only luma and luma of colours, planar and packed, of 8 bits and more; sizes that the grid's steps do not divide. */
START_TEST(test_changes)
{
  static const TestCase cases[] = {
      {.format = "NV12", .width = 61, .height = 47},       {.format = "I420_10LE", .width = 33, .height = 1},
      {.format = "P010_10LE", .width = 1027, .height = 5}, {.format = "YUY2", .width = 21, .height = 10},
      {.format = "UYVY", .width = 5, .height = 1031},      {.format = "RGB", .width = 31, .height = 9},
      {.format = "BGRx", .width = 1, .height = 1},         {.format = "ARGB", .width = 64, .height = 36},
      {.format = "GRAY16_LE", .width = 1300, .height = 6}, {.format = "BGR10A2_LE", .width = 19, .height = 13},
      {.format = "Y444_16LE", .width = 40, .height = 24},  {.format = "GBR", .width = 23, .height = 1100},
  };

  for (guint i = 0; i < test_variants->len; i++) {
    const TestVariant *v = &g_array_index(test_variants, TestVariant, i);

    for (gsize c = 0; c < G_N_ELEMENTS(cases) && v->algorithm == CNV_ALGORITHM_NAIVE; c++)
      check_format(v, &cases[c]);
  }
  test_set_finish("changes between frames");
}
END_TEST

TCase *
test_changes_tcase(void)
{
  TCase *tcase = tcase_create("changes");

  tcase_add_test(tcase, test_changes);
  return tcase;
}
