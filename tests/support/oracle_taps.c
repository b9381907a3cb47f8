/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The filters' taps for the oracle. A function that gets arrays by value takes ownership of them.
 */
#include "support/oracle_taps.h"

#include <math.h>
#include <string.h>

#define DISK_POINTS 8 /* points along each axis of a sample's cell */

static const int default_radius[] = {
    [CNV_FILTER_BOX] = 8,       [CNV_FILTER_GAUSSIAN] = 8, [CNV_FILTER_DISK] = 8,   [CNV_FILTER_MOTION] = 8,
    [CNV_FILTER_UNSHARP] = 8,   [CNV_FILTER_SOBEL] = 1,    [CNV_FILTER_SCHARR] = 1, [CNV_FILTER_PREWITT] = 1,
    [CNV_FILTER_LAPLACIAN] = 1, [CNV_FILTER_LOG] = 8,      [CNV_FILTER_EMBOSS] = 1, [CNV_FILTER_MOSAIC] = 8,
    [CNV_FILTER_CUSTOM] = 0,
};

static OracleArray
array_new(int nx, int ny)
{
  return (OracleArray){{nx, ny}, {(nx - 1) / 2, (ny - 1) / 2}, g_new0(double, (gsize)nx *ny)};
}

static OracleArray
row_of(int n, const double *values)
{
  OracleArray a = array_new(n, 1);

  memcpy(a.v, values, sizeof *values * n);
  return a;
}

static OracleArray
one(void)
{
  return row_of(1, (const double[]){1});
}

double
oracle_array_sum(const OracleArray *a, gboolean magnitudes)
{
  double sum = 0;

  for (int i = 0; i < a->n[CNV_X] * a->n[CNV_Y]; i++)
    sum += magnitudes ? fabs(a->v[i]) : a->v[i];
  return sum;
}

static OracleArray
times(OracleArray a, double factor)
{
  for (int i = 0; i < a.n[CNV_X] * a.n[CNV_Y]; i++)
    a.v[i] *= factor;
  return a;
}

static OracleArray
unit(OracleArray a)
{
  return times(a, 1 / oracle_array_sum(&a, FALSE));
}

static OracleArray
transposed(OracleArray a)
{
  OracleArray t = array_new(a.n[CNV_Y], a.n[CNV_X]);

  for (int j = 0; j < a.n[CNV_Y]; j++)
    for (int i = 0; i < a.n[CNV_X]; i++)
      t.v[i * t.n[CNV_X] + j] = a.v[j * a.n[CNV_X] + i];
  t.anchor[CNV_X] = a.anchor[CNV_Y];
  t.anchor[CNV_Y] = a.anchor[CNV_X];
  g_free(a.v);
  return t;
}

/* Adds taps, anchor on anchor. Only taps that are not 0 need a place in the sum. */
static void
add_at(OracleArray *to, const OracleArray *from)
{
  const int dx = to->anchor[CNV_X] - from->anchor[CNV_X], dy = to->anchor[CNV_Y] - from->anchor[CNV_Y];

  for (int j = 0; j < from->n[CNV_Y]; j++)
    for (int i = 0; i < from->n[CNV_X]; i++) {
      double tap = from->v[j * from->n[CNV_X] + i];

      if (tap != 0)
        to->v[(j + dy) * to->n[CNV_X] + i + dx] += tap;
    }
}

static OracleArray
plus(OracleArray a, OracleArray b)
{
  int before[CNV_N_AXES], n[CNV_N_AXES];
  OracleArray sum;

  for (int axis = 0; axis < CNV_N_AXES; axis++) {
    before[axis] = MAX(a.anchor[axis], b.anchor[axis]);
    n[axis] = before[axis] + MAX(a.n[axis] - a.anchor[axis], b.n[axis] - b.anchor[axis]);
  }
  sum = array_new(n[CNV_X], n[CNV_Y]);
  memcpy(sum.anchor, before, sizeof before);
  add_at(&sum, &a);
  add_at(&sum, &b);
  g_free(a.v);
  g_free(b.v);
  return sum;
}

/* Returns the outer product of two rows; the second becomes a column. */
static OracleArray
outer(OracleArray x, OracleArray y)
{
  OracleArray a = array_new(x.n[CNV_X], y.n[CNV_X]);

  for (int j = 0; j < y.n[CNV_X]; j++)
    for (int i = 0; i < x.n[CNV_X]; i++)
      a.v[j * x.n[CNV_X] + i] = x.v[i] * y.v[j];
  a.anchor[CNV_X] = x.anchor[CNV_X];
  a.anchor[CNV_Y] = y.anchor[CNV_X];
  g_free(x.v);
  g_free(y.v);
  return a;
}

/* Moves taps onto a grid that is s times coarser along x. Each tap is split between its two neighbours there. */
static OracleArray
gather(OracleArray a, int s)
{
  int n = a.n[CNV_X], anchor = a.anchor[CNV_X];
  int reach = (MAX(anchor, n - 1 - anchor) + s - 1) / s, wide = 2 * reach + 1;
  OracleArray out;

  if (s == 1)
    return a;
  out = array_new(wide, a.n[CNV_Y]);
  out.anchor[CNV_Y] = a.anchor[CNV_Y];
  for (int j = 0; j < a.n[CNV_Y]; j++)
    for (int i = 0; i < n; i++) {
      double at = (double)(i - anchor) / s, part = at - floor(at);
      double *to = out.v + j * wide + (int)floor(at) + reach;

      to[0] += a.v[j * n + i] * (1 - part);
      if (part > 0)
        to[1] += a.v[j * n + i] * part;
    }
  g_free(a.v);
  return out;
}

/* Returns the row of Pascal's triangle that has n numbers. */
static OracleArray
binomial(int n)
{
  OracleArray a = array_new(n, 1);

  a.v[0] = 1;
  for (int i = 1; i < n; i++)
    for (int k = i; k > 0; k--)
      a.v[k] += a.v[k - 1];
  return a;
}

static OracleArray
convolved(OracleArray a, const double with[3])
{
  OracleArray out = array_new(a.n[CNV_X] + 2, 1);

  for (int i = 0; i < a.n[CNV_X]; i++)
    for (int k = 0; k < 3; k++)
      out.v[i + k] += a.v[i] * with[k];
  g_free(a.v);
  return out;
}

static double
set_sigma(const CnvFilter *f, int axis)
{
  return f->sigma_axis[axis] > 0 ? f->sigma_axis[axis] : f->sigma;
}

static int
luma_radius(const CnvFilter *f, int axis)
{
  if (f->radius_axis[axis] >= 0)
    return f->radius_axis[axis];
  if (f->radius >= 0)
    return f->radius;
  return set_sigma(f, axis) > 0 ? (int)ceil(f->truncate * set_sigma(f, axis)) : default_radius[f->type];
}

static double
luma_sigma(const CnvFilter *f, int axis)
{
  return set_sigma(f, axis) > 0 ? set_sigma(f, axis) : 0.3 * (luma_radius(f, axis) - 1) + 0.8;
}

static OracleArray
gaussian(const CnvFilter *f, int axis, int s)
{
  double sigma = luma_sigma(f, axis) / s;
  int radius = (luma_radius(f, axis) + s - 1) / s;
  OracleArray a = array_new(2 * radius + 1, 1);

  for (int i = -radius; i <= radius; i++)
    a.v[i + radius] = exp(-(double)i * i / (2 * sigma * sigma));
  return a;
}

/* Returns a box: an interval of (2r+1)/s samples about the centre. A tap is the part of its sample inside the
 * interval. */
static OracleArray
box(const CnvFilter *f, int axis, int s)
{
  double half = (2 * luma_radius(f, axis) + 1) / 2.0 / s;
  int radius = MAX((int)ceil(half - 0.5), 0);
  OracleArray a = array_new(2 * radius + 1, 1);

  for (int i = -radius; i <= radius; i++)
    a.v[i + radius] = radius == 0 ? 1 : MIN(1, half - (abs(i) - 0.5));
  return a;
}

/* Returns the place of point k of cell i, as a part of the half axis. */
static double
disk_point(int i, int k, int s, int radius)
{
  return radius == 0 ? 0 : (i + (k + 0.5) / DISK_POINTS - 0.5) * s / (radius + 0.5);
}

static OracleArray
disk(const CnvFilter *f, const int s[CNV_N_AXES])
{
  const int rx = luma_radius(f, CNV_X), ry = luma_radius(f, CNV_Y);
  const int nx = rx == 0 ? 0 : (rx + s[CNV_X]) / s[CNV_X], ny = ry == 0 ? 0 : (ry + s[CNV_Y]) / s[CNV_Y];
  OracleArray a = array_new(2 * nx + 1, 2 * ny + 1);

  for (int j = -ny; j <= ny; j++)
    for (int i = -nx; i <= nx; i++)
      for (int point = 0; point < DISK_POINTS * DISK_POINTS; point++) {
        double x = disk_point(i, point % DISK_POINTS, s[CNV_X], rx);
        double y = disk_point(j, point / DISK_POINTS, s[CNV_Y], ry);

        if (x * x + y * y < 1)
          a.v[(j + ny) * a.n[CNV_X] + i + nx] += 1.0 / (DISK_POINTS * DISK_POINTS);
      }
  return a;
}

/* Computes the cosine and sine of the angle. Right angles are exact. */
static void
direction(const CnvFilter *f, double to[CNV_N_AXES])
{
  to[CNV_X] = cos(f->angle * G_PI / 180);
  to[CNV_Y] = sin(f->angle * G_PI / 180);
  for (int axis = 0; axis < CNV_N_AXES; axis++)
    if (fabs(to[axis]) < 1e-9)
      to[axis] = 0;
}

static OracleArray
point_at(double x, double y)
{
  const double left = floor(x), top = floor(y);
  OracleArray a =
      outer(row_of(2, (const double[]){1 - (x - left), x - left}), row_of(2, (const double[]){1 - (y - top), y - top}));

  a.anchor[CNV_X] = -(int)left;
  a.anchor[CNV_Y] = -(int)top;
  return a;
}

static OracleArray
motion(const CnvFilter *f, const int s[CNV_N_AXES])
{
  const int radius = f->radius >= 0 ? f->radius : 8;
  double to[CNV_N_AXES];
  OracleArray a;

  direction(f, to);
  a = array_new(to[CNV_X] == 0 ? 1 : 2 * radius + 3, to[CNV_Y] == 0 ? 1 : 2 * radius + 3);
  for (int t = -radius; t <= radius; t++) {
    OracleArray point = point_at(t * to[CNV_X] / s[CNV_X], t * to[CNV_Y] / s[CNV_Y]);

    add_at(&a, &point);
    g_free(point.v);
  }
  return a;
}

/* Returns delta - amount * (L x delta + delta x L), with L the second difference. */
static OracleArray
sharpen(const CnvFilter *f, const int s[CNV_N_AXES])
{
  static const double second[] = {1, -2, 1};
  OracleArray x = outer(gather(row_of(3, second), s[CNV_X]), one());
  OracleArray y = outer(one(), gather(row_of(3, second), s[CNV_Y]));

  return plus(outer(one(), one()), times(plus(x, y), -f->amount));
}

static OracleArray
unsharp(const CnvFilter *f, const int s[CNV_N_AXES])
{
  OracleArray blur = unit(outer(gaussian(f, CNV_X, s[CNV_X]), gaussian(f, CNV_Y, s[CNV_Y])));

  return plus(times(outer(one(), one()), 1 + f->amount), times(blur, -f->amount));
}

/* Returns the second derivative of a gaussian, minus a multiple of the gaussian that makes the sum 0. */
static OracleArray
second_of_gaussian(const CnvFilter *f, int axis, int s)
{
  const double sigma = luma_sigma(f, axis);
  OracleArray g = unit(gaussian(f, axis, s)), h = unit(gaussian(f, axis, s));
  double sum;

  for (int i = 0; i < h.n[CNV_X]; i++) {
    double x = (double)(i - h.anchor[CNV_X]) * s;

    h.v[i] *= x * x / pow(sigma, 4) - 1 / (sigma * sigma);
  }
  sum = oracle_array_sum(&h, FALSE);
  return plus(h, times(g, -sum));
}

static OracleArray
laplacian_of_gaussian(const CnvFilter *f, const int s[CNV_N_AXES])
{
  return plus(outer(second_of_gaussian(f, CNV_X, s[CNV_X]), unit(gaussian(f, CNV_Y, s[CNV_Y]))),
              outer(unit(gaussian(f, CNV_X, s[CNV_X])), second_of_gaussian(f, CNV_Y, s[CNV_Y])));
}

static OracleArray
laplacian_row(int radius, gboolean derivative, int s)
{
  static const double second[] = {1, -2, 1};

  if (derivative)
    return gather(convolved(binomial(2 * radius - 1), second), s);
  return radius == 1 ? one() : gather(binomial(2 * radius + 1), s);
}

static OracleArray
laplacian(const CnvFilter *f, const int s[CNV_N_AXES])
{
  const int r = luma_radius(f, CNV_X);

  return plus(outer(laplacian_row(r, TRUE, s[CNV_X]), laplacian_row(r, FALSE, s[CNV_Y])),
              outer(laplacian_row(r, FALSE, s[CNV_X]), laplacian_row(r, TRUE, s[CNV_Y])));
}

static OracleArray
smooth_row(const CnvFilter *f)
{
  const int r = luma_radius(f, CNV_X);
  OracleArray a = binomial(2 * r + 1);

  if (f->type == CNV_FILTER_SCHARR)
    memcpy(a.v, (const double[]){3, 10, 3}, 3 * sizeof *a.v);
  for (int i = 0; i <= 2 * r && f->type != CNV_FILTER_SCHARR && f->type != CNV_FILTER_SOBEL; i++)
    a.v[i] = 1;
  return a;
}

static OracleArray
derivative_row(const CnvFilter *f)
{
  static const double first[] = {-1, 0, 1};
  const int r = luma_radius(f, CNV_X);
  OracleArray a;

  if (f->type == CNV_FILTER_SOBEL)
    return convolved(binomial(2 * r - 1), first);
  a = array_new(2 * r + 1, 1);
  for (int i = -r; i <= r; i++)
    a.v[i + r] = i;
  return a;
}

static OracleArray
emboss(const CnvFilter *f, const int s[CNV_N_AXES])
{
  const int r = luma_radius(f, CNV_X);
  OracleArray a = outer(one(), one());
  double to[CNV_N_AXES];

  direction(f, to);
  for (int axis = 0; axis < CNV_N_AXES; axis++) {
    OracleArray d = gather(times(derivative_row(f), 2.0 / (r * (r + 1))), s[axis]);
    OracleArray smooth = gather(unit(smooth_row(f)), s[!axis]);

    a = plus(a, times(axis == CNV_X ? outer(d, smooth) : outer(smooth, d), f->amount * to[axis]));
  }
  return a;
}

static OracleConvolution
dense(OracleArray a)
{
  return (OracleConvolution){1, {a}};
}

static OracleConvolution
axes(OracleArray x, OracleArray y)
{
  return (OracleConvolution){2, {x, transposed(y)}};
}

static OracleKernel
gradient(const CnvFilter *f)
{
  double to[CNV_N_AXES];

  direction(f, to);
  if (f->gradient == CNV_GRADIENT_MAGNITUDE)
    return (OracleKernel){2, {axes(derivative_row(f), smooth_row(f)), axes(smooth_row(f), derivative_row(f))}};
  if (f->gradient == CNV_GRADIENT_X || (f->gradient == CNV_GRADIENT_DIRECTIONAL && to[CNV_Y] == 0))
    return (OracleKernel){
        1, {axes(times(derivative_row(f), f->gradient == CNV_GRADIENT_X ? 1 : to[CNV_X]), smooth_row(f))}};
  if (f->gradient == CNV_GRADIENT_Y || to[CNV_X] == 0)
    return (OracleKernel){
        1, {axes(smooth_row(f), times(derivative_row(f), f->gradient == CNV_GRADIENT_Y ? 1 : to[CNV_Y]))}};
  return (OracleKernel){1,
                        {dense(plus(times(outer(derivative_row(f), smooth_row(f)), to[CNV_X]),
                                    times(outer(smooth_row(f), derivative_row(f)), to[CNV_Y])))}};
}

/* Returns custom taps on the plane's grid, with their anchor, mirrored if the filter says so. */
static OracleArray
custom(const CnvFilter *f, const CnvTaps *taps, int nx, int ny, const int s[CNV_N_AXES])
{
  OracleArray a = array_new(nx, ny);
  const int n = nx * ny;

  for (int i = 0; i < n; i++)
    a.v[f->flip ? n - 1 - i : i] = taps ? taps->value[i] : 1;
  for (int axis = 0; axis < CNV_N_AXES; axis++) {
    if (f->anchor[axis] >= 0 && f->anchor[axis] < a.n[axis]) /* an axis that is not given has one tap */
      a.anchor[axis] = f->anchor[axis];
    if (f->flip)
      a.anchor[axis] = a.n[axis] - 1 - a.anchor[axis];
  }
  return transposed(gather(transposed(gather(a, s[CNV_X])), s[CNV_Y]));
}

/* Returns a row times a column if the taps are one. Borders then treat each axis separately, which makes a difference
 * if taps add up to 0. */
static OracleConvolution
custom_dense(OracleArray a)
{
  const int w = a.n[CNV_X], h = a.n[CNV_Y];
  int pivot = 0;
  OracleArray x = array_new(w, 1), y = array_new(1, h);

  for (int i = 1; i < w * h; i++)
    pivot = fabs(a.v[i]) > fabs(a.v[pivot]) ? i : pivot;
  for (int i = 0; i < w; i++)
    x.v[i] = a.v[pivot / w * w + i];
  for (int j = 0; j < h; j++)
    y.v[j] = a.v[pivot] == 0 ? 0 : a.v[j * w + pivot % w] / a.v[pivot];
  x.anchor[CNV_X] = a.anchor[CNV_X];
  y.anchor[CNV_Y] = a.anchor[CNV_Y];
  for (int i = 0; i < w * h; i++)
    if (fabs(a.v[i] - x.v[i % w] * y.v[i / w]) > 1e-9 * fabs(a.v[pivot])) {
      g_free(x.v);
      g_free(y.v);
      return dense(a);
    }
  g_free(a.v);
  return (OracleConvolution){2, {x, y}};
}

static OracleConvolution
custom_kernel(const CnvFilter *f, const int s[CNV_N_AXES])
{
  int n[CNV_N_AXES];

  if (f->kernel)
    return custom_dense(custom(f, f->kernel, f->kernel->width, f->kernel->height, s));
  for (int axis = 0; axis < CNV_N_AXES; axis++)
    n[axis] = f->kernel_axis[axis] ? f->kernel_axis[axis]->width * f->kernel_axis[axis]->height : 1;
  return (OracleConvolution){2,
                             {custom(f, f->kernel_axis[CNV_X], n[CNV_X], 1, (const int[]){s[CNV_X], 1}),
                              custom(f, f->kernel_axis[CNV_Y], 1, n[CNV_Y], (const int[]){1, s[CNV_Y]})}};
}

OracleKernel
oracle_kernel(const CnvFilter *f, const int s[CNV_N_AXES])
{
  switch (f->type) {
  case CNV_FILTER_IDENTITY:
  case CNV_FILTER_FILL:
    return (OracleKernel){1, {axes(one(), one())}};
  case CNV_FILTER_MOSAIC:
    return (OracleKernel){1,
                          {axes(one(), one())},
                          {2.0 * luma_radius(f, CNV_X) + 1, 2.0 * luma_radius(f, CNV_Y) + 1},
                          {s[CNV_X], s[CNV_Y]}};
  case CNV_FILTER_BOX:
    return (OracleKernel){1, {axes(box(f, CNV_X, s[CNV_X]), box(f, CNV_Y, s[CNV_Y]))}};
  case CNV_FILTER_GAUSSIAN:
    return (OracleKernel){1, {axes(gaussian(f, CNV_X, s[CNV_X]), gaussian(f, CNV_Y, s[CNV_Y]))}};
  case CNV_FILTER_DISK:
    return (OracleKernel){1, {dense(disk(f, s))}};
  case CNV_FILTER_MOTION:
    return (OracleKernel){1, {dense(motion(f, s))}};
  case CNV_FILTER_SHARPEN:
    return (OracleKernel){1, {dense(sharpen(f, s))}};
  case CNV_FILTER_UNSHARP:
    return (OracleKernel){1, {dense(unsharp(f, s))}};
  case CNV_FILTER_SOBEL:
  case CNV_FILTER_SCHARR:
  case CNV_FILTER_PREWITT:
    return gradient(f);
  case CNV_FILTER_LAPLACIAN:
    return (OracleKernel){1, {dense(laplacian(f, s))}};
  case CNV_FILTER_LOG:
    return (OracleKernel){1, {dense(laplacian_of_gaussian(f, s))}};
  case CNV_FILTER_EMBOSS:
    return (OracleKernel){1, {dense(emboss(f, s))}};
  case CNV_FILTER_CUSTOM:
    return (OracleKernel){1, {custom_kernel(f, s)}};
  }
  g_error("The oracle knows no filter %d.", f->type);
}

void
oracle_kernel_clear(OracleKernel *kernel)
{
  for (int part = 0; part < kernel->n_parts; part++)
    for (int pass = 0; pass < kernel->part[part].n_passes; pass++)
      g_free(kernel->part[part].pass[pass].v);
}
