/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Taps of known shapes.
 */
#include "plan/taps.h"

#include <math.h>

CnvTaps *
cnv_taps_single(double value)
{
  return cnv_taps_new(1, 1, &value);
}

CnvTaps *
cnv_taps_regrid(CnvTaps *taps, int step)
{
  int anchor[CNV_N_AXES] = {(taps->width - 1) / 2, 0};
  CnvTaps *out = cnv_taps_gather(taps, (const int[]){step, 1}, FALSE, anchor);

  cnv_taps_unref(taps);
  return out;
}

/* Taps to each side of a box in a plane whose samples are step luma samples apart. */
static int
box_reach(int radius, int step)
{
  return (int)ceil(((2.0 * radius + 1) / step - 1) / 2);
}

CnvTaps *
cnv_taps_box(int radius, int step)
{
  const int reach = box_reach(radius, step);
  CnvTaps *taps = cnv_taps_new(2 * reach + 1, 1, NULL);

  for (int i = 0; i <= 2 * reach; i++)
    taps->value[i] = 1;
  if (reach > 0)
    taps->value[0] = taps->value[2 * reach] = ((2.0 * radius + 1) / step - (2 * reach - 1)) / 2;
  return taps;
}

CnvTaps *
cnv_taps_gaussian(int radius, double sigma, int step)
{
  const int reach = (radius + step - 1) / step;
  CnvTaps *taps = cnv_taps_new(2 * reach + 1, 1, NULL);

  for (int i = -reach; i <= reach; i++)
    taps->value[i + reach] = exp(-0.5 * (i * step / sigma) * (i * step / sigma));
  return taps;
}

/* Points to a side of the grid on which the share of a sample's cell that lies in a disk is counted. */
#define DISK_GRID 8

CnvTaps *
cnv_taps_disk(const int radius[CNV_N_AXES], const int step[CNV_N_AXES])
{
  const int reach = box_reach(radius[CNV_X], step[CNV_X]);
  CnvTaps *taps = cnv_taps_new(2 * reach + 1, 2 * box_reach(radius[CNV_Y], step[CNV_Y]) + 1, NULL);

  for (int line = 0; line < taps->height * DISK_GRID; line++) {
    const double y = ((line + 0.5) / DISK_GRID - taps->height / 2.0) * step[CNV_Y] / (radius[CNV_Y] + 0.5);
    const double x = (radius[CNV_X] + 0.5) / step[CNV_X] * sqrt(fmax(1 - y * y, 0));
    const int half = (int)ceil(x * DISK_GRID - 0.5);

    for (int i = 0; i < taps->width; i++) {
      const int first = (i - reach) * DISK_GRID - DISK_GRID / 2;
      const int inside = MIN(first + DISK_GRID, half) - MAX(first, -half);

      taps->value[line / DISK_GRID * taps->width + i] += MAX(inside, 0) / (double)(DISK_GRID * DISK_GRID);
    }
  }
  return taps;
}

CnvTaps *
cnv_taps_line(int radius, const double step[CNV_N_AXES], const int reach[CNV_N_AXES])
{
  CnvTaps *taps = cnv_taps_new(2 * reach[CNV_X] + 1, 2 * reach[CNV_Y] + 1, NULL);

  for (int t = -radius; t <= radius; t++)
    cnv_taps_add_point(taps, t * step[CNV_X] + reach[CNV_X], t * step[CNV_Y] + reach[CNV_Y], 1);
  return taps;
}

/* Convolved with three taps. Takes them over. */
static CnvTaps *
convolved(CnvTaps *taps, double a, double b, double c)
{
  const double by[] = {a, b, c};
  CnvTaps *out = cnv_taps_new(taps->width + 2, 1, NULL);

  for (int i = 0; i < taps->width; i++)
    for (int k = 0; k < 3; k++)
      out->value[i + k] += taps->value[i] * by[k];
  cnv_taps_unref(taps);
  return out;
}

CnvTaps *
cnv_taps_binomial(int radius)
{
  CnvTaps *taps = cnv_taps_single(1);

  for (int i = 0; i < radius; i++)
    taps = convolved(taps, 1, 2, 1);
  return taps;
}

CnvTaps *
cnv_taps_sobel(int radius)
{
  return convolved(cnv_taps_binomial(radius - 1), -1, 0, 1);
}

CnvTaps *
cnv_taps_prewitt(int radius)
{
  CnvTaps *taps = cnv_taps_new(2 * radius + 1, 1, NULL);

  for (int i = -radius; i <= radius; i++)
    taps->value[i + radius] = i;
  return taps;
}

CnvTaps *
cnv_taps_laplacian(int radius)
{
  return convolved(cnv_taps_binomial(radius - 1), 1, -2, 1);
}

CnvTaps *
cnv_taps_second_derivative(const CnvTaps *gaussian, double sigma, int step)
{
  const int reach = (gaussian->width - 1) / 2;
  CnvTaps *taps = cnv_taps_new(gaussian->width, 1, NULL);
  double sum;

  for (int i = -reach; i <= reach; i++) {
    const double x = i * step / sigma;

    taps->value[i + reach] = (x * x - 1) / (sigma * sigma) * gaussian->value[i + reach];
  }
  sum = cnv_taps_sum(taps);
  for (int i = 0; i < taps->width; i++)
    taps->value[i] -= sum * gaussian->value[i];
  return taps;
}
