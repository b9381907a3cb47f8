/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The filters that the tests run: every kind the engine treats apart, with random taps where taps are given.
 */
#include "cases.h"

#include <math.h>
#include <string.h>

static const double pair[] = {1, 1}, binomial[] = {1, 2, 1};
static const double binomial_square[] = {1, 2, 1, 2, 4, 2, 1, 2, 1};
static const double laplacian[] = {0, 1, 0, 1, -4, 1, 0, 1, 0};

#define GENERATED(type, rx, ry) CNV_FILTER_##type, TAPS_NONE, 0, 0, FALSE, rx, ry
#define CUSTOM(taps, width, height) CNV_FILTER_CUSTOM, TAPS_##taps, width, height, FALSE, -1, -1
#define AXES(taps, width, height) CNV_FILTER_CUSTOM, TAPS_##taps, width, height, TRUE, -1, -1

const TestFilter test_filters[] = {
    /* name, type and taps, sigma, scale, bias, raw, exact, fixed taps */
    {"gaussian", GENERATED(GAUSSIAN, -1, -1), 0, 1, 0},
    {"box", GENERATED(BOX, -1, -1), 0, 1, 0},
    {"identity", GENERATED(IDENTITY, -1, -1), 0, 1, 0, FALSE, TRUE},
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
    {"dense-3x3", CUSTOM(POSITIVE, 3, 3), 0, 1, 0},
    {"dense-5x5", CUSTOM(POSITIVE, 5, 5), 0, 1, 0},
    {"dense-7x7", CUSTOM(POSITIVE, 7, 7), 0, 1, 0},
    {"dense-17x17", CUSTOM(POSITIVE, 17, 17), 0, 1, 0},
    {"dense-31x31", CUSTOM(POSITIVE, 31, 31), 0, 1, 0},
    {"dense-signed", CUSTOM(SIGNED, 5, 4), 0, 1, 0},
    {"dense-signed-raw", CUSTOM(SIGNED, 9, 3), 0, 0.05, 0.25, TRUE},
    {"dense-derivative", CUSTOM(ZERO_SUM, 5, 5), 0, 0.5, 0},
    {"dense-derivative-17", CUSTOM(ZERO_SUM, 17, 17), 0, -0.125, 0.5},
    {"laplacian", CUSTOM(FIXED, 3, 3), 0, 1, 0, TRUE, FALSE, laplacian},
    {"axes-5x4", AXES(POSITIVE, 5, 4), 0, 1, 0},
    {"axes-9x0", AXES(POSITIVE, 9, 0), 0, 1, 0},
    {"axes-0x33", AXES(POSITIVE, 0, 33), 0, 1, 0},
    {"axes-signed", AXES(SIGNED, 3, 5), 0, 0.5, 0.5},
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

/* Signed taps are small whole numbers, so that sums that cancel do so in every arithmetic. */
static CnvTaps *
random_taps(const TestFilter *row, int width, int height, guint32 *state)
{
  const int n = width * height;
  CnvTaps *taps = cnv_taps_new(width, height, row->taps == TAPS_FIXED ? row->fixed : NULL);
  double sum = 0;

  if (row->taps == TAPS_FIXED)
    return taps;
  for (int i = 0; i < n; i++) {
    guint32 random = test_random(state) >> 8;

    taps->value[i] = row->taps == TAPS_POSITIVE ? (random % 1000 + 1) / 997.0 : (int)(random % 9) - 4;
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

  cnv_filter_init(filter);
  filter->type = row->type;
  filter->radius = row->sigma > 0 ? -1 : radius;
  filter->radius_axis[CNV_X] = row->radius_x;
  filter->radius_axis[CNV_Y] = row->radius_y;
  filter->sigma = row->sigma;
  filter->scale = row->scale;
  filter->bias = row->bias;
  filter->normalize = !row->raw;
  if (row->taps != TAPS_NONE && !row->axes)
    filter->kernel = random_taps(row, row->width, row->height, &state);
  if (row->axes && row->width)
    filter->kernel_axis[CNV_X] = random_taps(row, row->width, 1, &state);
  if (row->axes && row->height)
    filter->kernel_axis[CNV_Y] = random_taps(row, row->height, 1, &state);
}

void
test_image_make(const TestCase *c, CnvImage *image)
{
  const CnvFormat *format = cnv_format_find(c->format);

  if (!format)
    g_error("no format %s", c->format);
  *image = (CnvImage){format, c->width, c->height, 0.2126, 0.0722, c->full_range};
}
