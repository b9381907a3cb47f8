/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The filters that the tests run, and the frames on which they are timed. There is one of each kind that the engine
 * treats differently, with random taps if it needs taps; and the case from which others are made.
 */
#include "support/cases.h"
#include "support/filter.h"

#include <math.h>
#include <string.h>

static const double pair[] = {1, 1}, binomial[] = {1, 2, 1};
static const double binomial_square[] = {1, 2, 1, 2, 4, 2, 1, 2, 1};
static const double laplacian[] = {0, 1, 0, 1, -4, 1, 0, 1, 0};
static const double sobel[] = {-1, 0, 1, -2, 0, 2, -1, 0, 1};
static const double laplacian_5[] = {-2, -4, -4, -4, -2, -4, 0,  8,  0,  -4, -4, 8, 24,
                                     8,  -4, -4, 0,  8,  0,  -4, -2, -4, -4, -4, -2};
static const double negative[] = {-1, -2, -1}, zero_sum[] = {0.1, 0.2, -0.3};

/* The radii are those of the figures in cuda/README.md and of its drawing. */
#define UHD 3840, 2160

static const TestTiming gaussian_timed[] = {
    {"NV12", UHD, {1, 2, 4, 8, 16, 32, 48, 64, 96, 128, 192, 256, 384, 512}},
    {"GRAY8", UHD, {1, 2, 4, 8, 16, 32, 64, 128, 256, 512}},
    {"GRAY16_LE", UHD, {2, 8, 16, 32, 48, 128, 512}},
    {"RGBA", UHD, {1, 2, 4, 8, 16, 32, 64, 128, 256, 512}},
    {"P010_10LE", UHD, {2, 8, 16, 32, 64, 128, 256, 512}},
    {"RGB", UHD, {8, 16}},
    {"P016_LE", UHD, {8, 16, 32}},
    {"ARGB64", UHD, {8, 16}},
    {"GRAY8", 1920, 1080, {8}},
    {"NV12", 640, 360, {8}},
    {"NV12", UHD, {8}, .square = 200},
    {"NV12", UHD, {8}, .square = 400, .shape = CNV_SHAPE_ELLIPSE},
    {"NV12", UHD, {8}, .square = 1780, .shape = CNV_SHAPE_MASK}, /* a disc, 30 % of the frame */
    {"NV12", UHD, {8}, .square = 3840, .shape = CNV_SHAPE_MASK, .noise = TRUE},
    {"NV12", UHD, {8, 16, 32, 48}, .square = 3840, .shape = CNV_SHAPE_MASK, .noise = TRUE, .isolated = TRUE},
    {"NV12", UHD, {8, 16, 32, 48}, .square = 1780, .shape = CNV_SHAPE_MASK, .isolated = TRUE, .invert = TRUE},
    {"NV12", UHD, {8}, .square = 200, .feather = 20},
    {"NV12", UHD, {8}, .square = 60, .shape = CNV_SHAPE_ELLIPSE, .count = 64},
    {"NV12", UHD, {8}, .square = 60, .feather = 20, .count = 1024},
    {"NV12", UHD, {2}, .temporal_radius = 2},
    {NULL},
};
static const TestTiming dense_timed[] = {{"NV12", UHD}, {"GRAY8", UHD}, {NULL}};
static const TestTiming dense_3_timed[] = {{"NV12", UHD}, {"GRAY8", UHD}, {"NV12", UHD, .depth = 3}, {NULL}};
static const TestTiming dense_5_timed[] = {{"NV12", UHD}, {"GRAY8", UHD}, {"NV12", UHD, .depth = 5}, {NULL}};
static const TestTiming identity_timed[] = {
    {"NV12", UHD, .temporal_radius = 1}, {"NV12", UHD, .temporal_radius = 2}, {NULL}};
static const TestTiming close_timed[] = {{"NV12", UHD, .temporal_radius = 1},
                                         {"NV12", UHD, .temporal_radius = 2},
                                         {"NV12", UHD, .temporal_radius = 3},
                                         {"P010_10LE", UHD, .temporal_radius = 1},
                                         {NULL}};
static const TestTiming mosaic_timed[] = {
    {"NV12", UHD, {1, 2, 8, 64}},
    {"NV12", UHD, {512}},
    {"RGBA", UHD, {8}},
    {"P010_10LE", UHD, {8}},
    {"NV12", UHD, {8}, .square = 400},
    {"NV12", UHD, {8}, .square = 400, .shape = CNV_SHAPE_ELLIPSE},
    {NULL},
};
static const TestTiming sharpen_timed[] = {{"NV12", UHD}, {NULL}};
static const TestTiming unsharp_timed[] = {{"NV12", UHD, {2, 8}}, {NULL}};
static const TestTiming sobel_timed[] = {{"NV12", UHD, {1}}, {NULL}};

#define GENERATED(type, rx, ry) CNV_FILTER_##type, TAPS_NONE, 0, 0, FALSE, rx, ry
#define CUSTOM(taps, width, height) CNV_FILTER_CUSTOM, TAPS_##taps, width, height, FALSE, -1, -1
#define AXES(taps, width, height) CNV_FILTER_CUSTOM, TAPS_##taps, width, height, TRUE, -1, -1

#define DIRECTION(degrees) .gradient = CNV_GRADIENT_DIRECTIONAL, .angle = degrees

const TestFilter test_filters[] = {
    /* name, type and taps, sigma, scale, bias, raw, exact, fixed taps */
    {"gaussian", GENERATED(GAUSSIAN, -1, -1), 0, 1, 0, .timed = gaussian_timed},
    {"box", GENERATED(BOX, -1, -1), 0, 1, 0},
    {"identity", GENERATED(IDENTITY, -1, -1), 0, 1, 0, FALSE, TRUE, .timed = identity_timed},
    {"close frames", GENERATED(IDENTITY, -1, -1), 0, 1, 0, FALSE, FALSE, .timed = close_timed, .threshold = 0.1},
    {"half", GENERATED(IDENTITY, -1, -1), 0, 0.5, 0, FALSE, TRUE},
    {"gaussian-5x1", GENERATED(GAUSSIAN, 5, 1), 0, 1, 0},
    {"gaussian-0x4", GENERATED(GAUSSIAN, 0, 4), 0, 1, 0},
    {"gaussian-sigma", GENERATED(GAUSSIAN, -1, -1), 1.7, 1, 0},
    {"gaussian-contrast", GENERATED(GAUSSIAN, -1, -1), 0, 2, -0.5},
    {"box-1x6", GENERATED(BOX, 1, 6), 0, 1, 0},
    {"box-3x0", GENERATED(BOX, 3, 0), 0, 0.75, 0.125},
    {"row-2", CUSTOM(FIXED, 2, 1), 0, 1, 0, FALSE, TRUE, pair},
    {"row-binomial", CUSTOM(FIXED, 3, 1), 0, 1, 0, FALSE, TRUE, binomial},
    {"row-7", CUSTOM(POSITIVE, 7, 1), 0, 1, 0},
    {"column-6", CUSTOM(POSITIVE, 1, 6), 0, 1, 0},
    {"rank-1", CUSTOM(FIXED, 3, 3), 0, 1, 0, FALSE, FALSE, binomial_square},
    {"dense-2x3", CUSTOM(POSITIVE, 2, 3), 0, 1, 0},
    {"dense-3x3", CUSTOM(POSITIVE, 3, 3), 0, 1, 0, .timed = dense_3_timed},
    {"dense-5x5", CUSTOM(POSITIVE, 5, 5), 0, 1, 0, .timed = dense_5_timed},
    {"dense-7x7", CUSTOM(POSITIVE, 7, 7), 0, 1, 0, .timed = dense_timed},
    {"dense-17x17", CUSTOM(POSITIVE, 17, 17), 0, 1, 0, .timed = dense_timed},
    {"dense-31x31", CUSTOM(POSITIVE, 31, 31), 0, 1, 0, .timed = dense_timed},
    {"dense-signed", CUSTOM(SIGNED, 5, 4), 0, 1, 0},
    {"dense-signed-raw", CUSTOM(SIGNED, 9, 3), 0, 0.05, 0.25, TRUE},
    {"dense-derivative", CUSTOM(ZERO_SUM, 5, 5), 0, 0.5, 0},
    {"dense-derivative-17", CUSTOM(ZERO_SUM, 17, 17), 0, -0.125, 0.5},
    {"laplacian", CUSTOM(FIXED, 3, 3), 0, 1, 0, TRUE, FALSE, laplacian},
    {"axes-5x4", AXES(POSITIVE, 5, 4), 0, 1, 0},
    {"axes-9x0", AXES(POSITIVE, 9, 0), 0, 1, 0},
    {"axes-0x33", AXES(POSITIVE, 0, 33), 0, 1, 0},
    {"axes-signed", AXES(SIGNED, 3, 5), 0, 0.5, 0.5},
    {"row-negative", CUSTOM(FIXED, 3, 1), 0, 1, 0, FALSE, TRUE, negative},
    {"row-zero-sum", CUSTOM(FIXED, 3, 1), 0, 2, 0.25, FALSE, FALSE, zero_sum},
    {"rank-1-zero-sum", CUSTOM(FIXED, 3, 3), 0, 1, 0.5, FALSE, FALSE, sobel},
    {"rank-2-zero-sum", CUSTOM(FIXED, 5, 5), 0, 0.125, 0.25, FALSE, FALSE, laplacian_5, .terms = 2},
    {"rank-2", CUSTOM(RANK, 7, 7), 0, 1, 0, .rank = 2, .terms = 2},
    {"rank-2-even", CUSTOM(RANK, 8, 6), 0, 1, 0, .rank = 2, .terms = 2},
    {"rank-3", CUSTOM(RANK, 9, 9), 0, 1, 0, .rank = 3, .terms = 3},
    {"rank-4", CUSTOM(RANK, 15, 11), 0, 1, 0, .rank = 4, .terms = 4},
    {"rank-2-anchor", CUSTOM(RANK, 7, 6), 0, 1, 0, .rank = 2, .terms = 2, .anchor_x = 7, .anchor_y = 2},
    {"row-anchor-first", CUSTOM(POSITIVE, 7, 1), 0, 1, 0, .anchor_x = 1},
    {"column-anchor-last", CUSTOM(POSITIVE, 1, 6), 0, 1, 0, .anchor_y = 6},
    {"dense-anchor", CUSTOM(POSITIVE, 5, 4), 0, 1, 0, .anchor_x = 5, .anchor_y = 1},
    {"dense-flip", CUSTOM(POSITIVE, 4, 3), 0, 1, 0, .flip = TRUE},
    {"dense-flip-anchor", CUSTOM(SIGNED, 5, 4), 0, 1, 0, .anchor_x = 2, .anchor_y = 4, .flip = TRUE},
    {"axes-flip-anchor", AXES(POSITIVE, 6, 3), 0, 1, 0, .anchor_x = 5, .anchor_y = 1, .flip = TRUE},
    {"disk", GENERATED(DISK, -1, -1), 0, 1, 0, .terms = -1},
    {"disk-6x2", GENERATED(DISK, 6, 2), 0, 1, 0, .terms = -1},
    {"disk-0x4", GENERATED(DISK, 0, 4), 0, 1, 0},
    {"motion", GENERATED(MOTION, -1, -1), 0, 1, 0},
    {"motion-90", GENERATED(MOTION, -1, -1), 0, 1, 0, .angle = -270},
    {"motion-45", GENERATED(MOTION, -1, -1), 0, 1, 0, .terms = -1, .angle = 45},
    {"motion-30", GENERATED(MOTION, -1, -1), 0, 1, 0, .terms = -1, .radius = 7, .angle = 390},
    {"motion-158", GENERATED(MOTION, -1, -1), 0, 1, 0, .terms = -1, .radius = 5, .angle = 157.5},
    {"sharpen", GENERATED(SHARPEN, -1, -1), 0, 1, 0, .terms = 2, .timed = sharpen_timed},
    {"sharpen-2.5", GENERATED(SHARPEN, -1, -1), 0, 1, 0, .terms = 2, .amount = 2.5},
    {"unsharp", GENERATED(UNSHARP, -1, -1), 0, 1, 0, .terms = 2, .timed = unsharp_timed},
    {"unsharp-sigma", GENERATED(UNSHARP, -1, -1), 1.3, 1, 0, .terms = 2, .amount = 2},
    {"unsharp-5x0", GENERATED(UNSHARP, 5, 0), 0, 1, 0, .terms = 2, .amount = 0.5},
    {"sobel", GENERATED(SOBEL, -1, -1), 0, 1, 0, .terms = 2, .radius = 1, .timed = sobel_timed},
    {"sobel-5", GENERATED(SOBEL, -1, -1), 0, 0.125, 0.125, .terms = 2, .radius = 2},
    {"sobel-7", GENERATED(SOBEL, -1, -1), 0, 1 / 64.0, 0, .terms = 2, .radius = 3},
    {"sobel-x", GENERATED(SOBEL, -1, -1), 0, 1, 0.5, .radius = 1, .gradient = CNV_GRADIENT_X},
    {"sobel-y", GENERATED(SOBEL, -1, -1), 0, -0.5, 0, .radius = 2, .gradient = CNV_GRADIENT_Y},
    {"sobel-30", GENERATED(SOBEL, -1, -1), 0, 1, 0.25, .terms = 2, .radius = 1, DIRECTION(30)},
    {"sobel-90", GENERATED(SOBEL, -1, -1), 0, 1, 0, .radius = 1, DIRECTION(90)},
    {"scharr", GENERATED(SCHARR, -1, -1), 0, 0.25, 0, .terms = 2, .radius = 1},
    {"scharr-x", GENERATED(SCHARR, 1, 1), 0, 0.25, 0.5, .gradient = CNV_GRADIENT_X},
    {"prewitt", GENERATED(PREWITT, -1, -1), 0, 1, 0, .terms = 2, .radius = 1},
    {"prewitt-y", GENERATED(PREWITT, -1, -1), 0, 0.1, 0.5, .radius = 3, .gradient = CNV_GRADIENT_Y},
    {"prewitt-225", GENERATED(PREWITT, -1, -1), 0, 0.2, 0.5, .terms = 2, .radius = 2, DIRECTION(225)},
    {"laplacian-3", GENERATED(LAPLACIAN, -1, -1), 0, 1, 0, .terms = 2, .radius = 1},
    {"laplacian-5", GENERATED(LAPLACIAN, -1, -1), 0, 0.25, 0.5, .terms = 2, .radius = 2},
    {"laplacian-7", GENERATED(LAPLACIAN, -1, -1), 0, -1 / 64.0, 0.25, .terms = 2, .radius = 3},
    {"log", GENERATED(LOG, -1, -1), 0, 8, 0.5, .terms = 2},
    {"log-sigma", GENERATED(LOG, -1, -1), 1.2, 1, 0, .terms = 2},
    {"emboss", GENERATED(EMBOSS, -1, -1), 0, 1, 0, .terms = 2, .radius = 1},
    {"emboss-120", GENERATED(EMBOSS, -1, -1), 0, 1, 0, .terms = 3, .amount = 2, .angle = 120},
    {"mosaic", GENERATED(MOSAIC, -1, -1), 0, 1, 0, .timed = mosaic_timed},
    {"mosaic-5x1", GENERATED(MOSAIC, 5, 1), 0, 1, 0},
    {"mosaic-0x4", GENERATED(MOSAIC, 0, 4), 0, 1, 0},
    {"mosaic-contrast", GENERATED(MOSAIC, -1, -1), 0, 2, -0.5},
    {"fill", GENERATED(FILL, -1, -1), 0, 1, 0},
    {NULL},
};

const TestFilter *
test_filter_find(const char *name)
{
  for (const TestFilter *row = test_filters; row->name; row++)
    if (strcmp(row->name, name) == 0)
      return row;
  g_error("no test filter %s", name);
}

static double
random_positive(guint32 *state)
{
  return ((test_random(state) >> 8) % 1000 + 1) / 997.0;
}

static CnvTaps *
ranked_taps(int rank, int width, int height, guint32 *state)
{
  CnvTaps *taps = cnv_taps_new(width, height, NULL);
  double row[64];

  for (int k = 0; k < rank; k++) {
    for (int i = 0; i < width; i++)
      row[i] = random_positive(state);
    for (int j = 0; j < height; j++) {
      double factor = random_positive(state);

      for (int i = 0; i < width; i++)
        taps->value[j * width + i] += factor * row[i];
    }
  }
  return taps;
}

/* Returns random taps. Signed taps are small whole numbers, so that sums that cancel are 0 in any arithmetic. */
static CnvTaps *
random_taps(const TestFilter *row, int width, int height, guint32 *state)
{
  const int depth = MAX(1, row->depth), n = width * height * depth;
  CnvTaps *taps;
  double sum = 0;

  if (row->taps == TAPS_RANK)
    return ranked_taps(row->rank, width, height, state);
  taps = cnv_taps_new_volume(width, height, depth, row->taps == TAPS_FIXED ? row->fixed : NULL);
  if (row->taps == TAPS_FIXED)
    return taps;
  for (int i = 0; i < n; i++) {
    taps->value[i] = row->taps == TAPS_POSITIVE ? random_positive(state) : (int)((test_random(state) >> 8) % 9) - 4;
    sum += taps->value[i];
  }
  if (row->taps == TAPS_ZERO_SUM)
    taps->value[n / 2] -= sum;
  else if (row->taps == TAPS_SIGNED)
    taps->value[n / 2] += 16 - sum;
  return taps;
}

void
test_filter_make(const TestFilter *row, int radius, guint32 seed, CnvFilter *filter)
{
  guint32 state = seed * 2246822519u | 1;

  test_filter_init(filter);
  filter->type = row->type;
  filter->radius = row->sigma > 0 ? -1 : row->radius > 0 ? row->radius : radius;
  filter->radius_axis[CNV_X] = row->radius_x;
  filter->radius_axis[CNV_Y] = row->radius_y;
  filter->sigma = row->sigma;
  filter->scale = row->scale;
  filter->bias = row->bias;
  filter->normalize = !row->raw;
  filter->gradient = row->gradient;
  filter->angle = row->angle;
  filter->amount = row->amount > 0 ? row->amount : 1;
  filter->anchor[CNV_X] = row->anchor_x - 1;
  filter->anchor[CNV_Y] = row->anchor_y - 1;
  filter->flip = row->flip;
  if (row->taps != TAPS_NONE && !row->axes)
    filter->kernel = random_taps(row, row->width, row->height, &state);
  if (row->axes && row->width)
    filter->kernel_axis[CNV_X] = random_taps(row, row->width, 1, &state);
  if (row->axes && row->height)
    filter->kernel_axis[CNV_Y] = random_taps(row, row->height, 1, &state);
}

gboolean
test_filter_is_positive(const TestFilter *row)
{
  if (row->taps == TAPS_NONE)
    return cnv_filter_info(row->type)->is_positive;
  return row->taps == TAPS_POSITIVE || row->taps == TAPS_RANK;
}

gboolean
test_filter_keeps_flat(const TestFilter *row)
{
  const gboolean derivative = cnv_filter_info(row->type)->sums_to_0;
  double sum = 0, magnitudes = 0;

  for (int i = 0; row->taps == TAPS_FIXED && i < row->width * row->height; i++) {
    sum += row->fixed[i];
    magnitudes += fabs(row->fixed[i]);
  }
  if (fabs(sum) < 1e-9 * magnitudes)
    return FALSE;

  return !derivative && row->type != CNV_FILTER_FILL && row->taps != TAPS_ZERO_SUM && !row->raw && row->scale == 1 &&
         row->bias == 0;
}

void
test_image_make(const TestCase *c, CnvImage *image)
{
  const CnvFormat *format = cnv_format_find(c->format);

  if (!format)
    g_error("no format %s", c->format);
  *image = (CnvImage){format, c->width, c->height, 0.2126, 0.0722, c->full_range};
}

/* Returns an odd address and stride that differ from case to case. */
static TestLayout
some_layout(int guard)
{
  static guint count;
  static const int pads[] = {0, 1, 5, 16, 27}, offsets[] = {0, 3, 16, 1, 8, 2, 5};
  guint i = count++;

  return (TestLayout){guard, offsets[i % G_N_ELEMENTS(offsets)], pads[i % G_N_ELEMENTS(pads)]};
}

TestCase
test_case_base(const char *filter, const char *format, int width, int height)
{
  return (TestCase){.filter = test_filter_find(filter),
                    .radius = 3,
                    .format = format,
                    .width = width,
                    .height = height,
                    .border = CNV_BORDER_REFLECT_101,
                    .pattern = TEST_NOISE,
                    .in = some_layout(0),
                    .out = some_layout(64)};
}

static TestCase
timed_case(const TestFilter *row, const TestTiming *timing, int radius)
{
  return (TestCase){.filter = row,
                    .radius = radius,
                    .format = timing->format,
                    .width = timing->width,
                    .height = timing->height,
                    .border = CNV_BORDER_REPLICATE,
                    .pattern = TEST_NOISE,
                    .out = {.guard = 64},
                    .square = timing->square,
                    .shape = timing->shape,
                    .feather = timing->feather,
                    .count = timing->count,
                    .noise = timing->noise,
                    .isolated = timing->isolated,
                    .invert = timing->invert,
                    .temporal_radius = timing->temporal_radius,
                    .depth = timing->depth};
}

GArray *
test_timed_cases(void)
{
  GArray *cases = g_array_new(FALSE, FALSE, sizeof(TestCase));

  for (const TestFilter *row = test_filters; row->name; row++)
    for (const TestTiming *timing = row->timed; timing && timing->format; timing++)
      for (guint r = 0; r == 0 || timing->radii[r] > 0; r++) {
        TestCase c = timed_case(row, timing, timing->radii[r]);

        g_array_append_val(cases, c);
      }
  return cases;
}
