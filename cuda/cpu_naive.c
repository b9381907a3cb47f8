/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The reference that every faster engine is checked against: each output sample by itself, straight from the
 * definitions in plan.h and border.h, in double. It is meant to be read; the fast path shares no more of it than the
 * factor of renormalize along an axis.
 */
#include <math.h>

#include "cpu.h"

double
cnv_cpu_renormalize(const float *taps, int width, int height, CnvCpuSpan x, CnvCpuSpan y, float least)
{
  double all = 0, present = 0;

  if (x.first == 0 && x.last == width && y.first == 0 && y.last == height)
    return 1;
  for (int ky = 0; ky < height; ky++)
    for (int kx = 0; kx < width; kx++) {
      double tap = taps[(gsize)ky * width + kx];

      all += tap;
      if (kx >= x.first && kx < x.last && ky >= y.first && ky < y.last)
        present += tap;
    }
  return fabs(present) > least ? all / present : 0;
}

double
cnv_cpu_axis_factor(const CnvPlan *plan, const CnvPlanePlan *plane, CnvAxis axis, int at)
{
  const CnvTapSet *set = &plane->taps;
  int size = axis == CNV_X ? plane->width : plane->height;

  return cnv_cpu_renormalize(plan->taps + set->axis[axis], set->n[axis], 1,
                             cnv_cpu_span(at, size, set->n[axis], set->anchor[axis]), (CnvCpuSpan){0, 1},
                             set->least[axis]);
}

/* The factor of renormalize at one output sample. */
static double
renormalize(const CnvPlan *plan, const CnvPlanePlan *plane, int x, int y)
{
  const CnvTapSet *set = &plane->taps;

  if (!set->separable)
    return cnv_cpu_renormalize(plan->taps + set->dense, set->n[CNV_X], set->n[CNV_Y],
                               cnv_cpu_span(x, plane->width, set->n[CNV_X], set->anchor[CNV_X]),
                               cnv_cpu_span(y, plane->height, set->n[CNV_Y], set->anchor[CNV_Y]), set->least[0]);
  return cnv_cpu_axis_factor(plan, plane, CNV_X, x) * cnv_cpu_axis_factor(plan, plane, CNV_Y, y);
}

static double
tap_at(const CnvPlan *plan, const CnvTapSet *set, int kx, int ky)
{
  if (set->separable)
    return (double)plan->taps[set->axis[CNV_X] + kx] * plan->taps[set->axis[CNV_Y] + ky];
  return plan->taps[set->dense + (gsize)ky * set->n[CNV_X] + kx];
}

/* Sum of tap * (value - mid) for channel c of the pixel at x, y. */
static double
convolve(const CnvPlan *plan, const CnvPlanePlan *plane, const guint8 *in, int stride, int x, int y, int c)
{
  const CnvTapSet *set = &plane->taps;
  CnvBorder border = plan->filter.border;
  double missing = border == CNV_BORDER_CONSTANT ? plane->border[c] : 0, sum = 0;

  for (int ky = 0; ky < set->n[CNV_Y]; ky++) {
    int from_y = cnv_border_index(border, y + ky - set->anchor[CNV_Y], plane->height);

    for (int kx = 0; kx < set->n[CNV_X]; kx++) {
      int from_x = cnv_border_index(border, x + kx - set->anchor[CNV_X], plane->width);
      double value = missing;

      if (from_x >= 0 && from_y >= 0)
        value = cnv_cpu_sample(in + (gssize)from_y * stride, from_x * plane->channels + c, plan->image.format) -
                (double)plan->mid;
      sum += tap_at(plan, set, kx, ky) * value;
    }
  }
  return border == CNV_BORDER_RENORMALIZE ? sum * renormalize(plan, plane, x, y) : sum;
}

static guint16
filtered_sample(const CnvPlan *plan, const CnvPlanePlan *plane, const guint8 *in, int stride, int x, int y, int c)
{
  double sum = convolve(plan, plane, in, stride, x, y, c);
  double value = plane->base[c] + rint(plane->gain * sum + plane->fraction[c]);

  return (guint16)((int)CLAMP(value, 0, plan->full) << plan->image.format->shift);
}

void
cnv_cpu_naive(const CnvPlan *plan, int p, const CnvFrame *in, const CnvFrame *out, int first, int last)
{
  const CnvPlanePlan *plane = &plan->plane[p];
  gsize bytes = plan->image.format->sample_bytes;

  for (int y = first; y < last; y++) {
    const guint8 *from = (const guint8 *)in->data[p] + (gssize)y * in->stride[p];
    guint8 *to = (guint8 *)out->data[p] + (gssize)y * out->stride[p];

    for (int i = 0; i < plane->width * plane->channels; i++, from += bytes, to += bytes) {
      int x = i / plane->channels, c = i % plane->channels;
      guint16 sample;

      if (!(plane->filtered >> c & 1)) {
        memcpy(to, from, bytes);
        continue;
      }
      sample = GUINT16_TO_LE(filtered_sample(plan, plane, in->data[p], in->stride[p], x, y, c));
      memcpy(to, &sample, bytes);
    }
  }
}
