/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The oracle: slow and plain on purpose, so that it can be read beside the specification.
 * Samples are taken as distances from mid = 2^(depth-1); whole numbers, so float64 holds them and their products well.
 */
#include "oracle.h"

#include <math.h>
#include <string.h>

/* An array of taps; along one axis when the other size is 1. A filter is one array, or a row and then a column. */
typedef struct {
  int n[CNV_N_AXES];
  double *v;
} Array;

typedef struct {
  int count;
  Array array[2];
} Passes;

static int
ceil_shift(int n, int shift)
{
  return (n + (1 << shift) - 1) >> shift;
}

int
oracle_plane_width(const CnvFormat *format, int plane, int width)
{
  return ceil_shift(width, format->plane[plane].sub_x);
}

int
oracle_plane_height(const CnvFormat *format, int plane, int height)
{
  return ceil_shift(height, format->plane[plane].sub_y);
}

int
oracle_row_bytes(const CnvFormat *format, int plane, int width)
{
  return oracle_plane_width(format, plane, width) * format->plane[plane].channels * format->sample_bytes;
}

static gboolean
is_chroma(guint role)
{
  return role == CNV_ROLE_U || role == CNV_ROLE_V;
}

guint
oracle_filtered(const CnvFormat *format, int plane)
{
  const CnvPlaneFormat *p = &format->plane[plane];
  guint mask = 0;

  for (int c = 0; c < p->channels; c++)
    if (p->role[c] != CNV_ROLE_PADDING && p->role[c] != CNV_ROLE_A)
      mask |= 1u << c;
  return mask;
}

guint
oracle_raw(const CnvFormat *format, const guint8 *row, int i)
{
  return format->sample_bytes == 1 ? row[i] : row[2 * i] | (guint)row[2 * i + 1] << 8;
}

int
oracle_value(const CnvFormat *format, const guint8 *row, int i)
{
  return (oracle_raw(format, row, i) >> format->shift) & ((1 << format->depth) - 1);
}

int
oracle_round(double value, int full)
{
  double below = floor(value), part = value - below;
  double nearest = part < 0.5 || (part == 0.5 && fmod(below, 2) == 0) ? below : below + 1;

  return nearest < 0 ? 0 : nearest > full ? full : (int)nearest;
}

/* Reflections and turns are walked one by one: no modulo to get wrong. */
static int
border_walk(CnvBorder border, int i, int n)
{
  if (border == CNV_BORDER_CONSTANT || border == CNV_BORDER_RENORMALIZE)
    return i < 0 || i >= n ? -1 : i;
  if (border == CNV_BORDER_REFLECT_101 && n == 1)
    return 0;
  while (i < 0 || i >= n) {
    gboolean before = i < 0;

    if (border == CNV_BORDER_REPLICATE)
      i = before ? 0 : n - 1;
    else if (border == CNV_BORDER_REFLECT)
      i = before ? -1 - i : 2 * n - 1 - i;
    else if (border == CNV_BORDER_REFLECT_101)
      i = before ? -i : 2 * (n - 1) - i;
    else
      i = before ? i + n : i - n;
  }
  return i;
}

static Array
array_new(int nx, int ny)
{
  return (Array){{nx, ny}, g_new0(double, (gsize)nx *ny)};
}

static Array
array_along(CnvAxis axis, int n)
{
  return axis == CNV_X ? array_new(n, 1) : array_new(1, n);
}

static int
resolved_radius(const CnvFilter *f, CnvAxis axis, double sigma)
{
  if (f->radius_axis[axis] >= 0)
    return f->radius_axis[axis];
  if (f->radius >= 0)
    return f->radius;
  return sigma > 0 ? (int)ceil(f->truncate * sigma) : 8;
}

static Array
gaussian(const CnvFilter *f, CnvAxis axis, int subsample)
{
  double sigma = f->sigma_axis[axis] > 0 ? f->sigma_axis[axis] : f->sigma;
  int luma_radius = resolved_radius(f, axis, sigma), radius = (luma_radius + subsample - 1) / subsample;
  Array a = array_along(axis, 2 * radius + 1);

  if (sigma <= 0)
    sigma = 0.3 * (luma_radius - 1) + 0.8;
  sigma /= subsample;
  for (int i = -radius; i <= radius; i++)
    a.v[i + radius] = exp(-(double)i * i / (2 * sigma * sigma));
  return a;
}

/* A box is an interval of (2r+1)/s samples about the centre; a tap is the part of its sample inside the interval. */
static Array
box(const CnvFilter *f, CnvAxis axis, int subsample)
{
  double sigma = f->sigma_axis[axis] > 0 ? f->sigma_axis[axis] : f->sigma;
  double half = (2 * resolved_radius(f, axis, sigma) + 1) / 2.0 / subsample;
  int radius = (int)ceil(half - 0.5);
  Array a;

  radius = MAX(radius, 0);
  a = array_along(axis, 2 * radius + 1);
  for (int i = -radius; i <= radius; i++)
    a.v[i + radius] = radius == 0 ? 1 : MIN(1, half - (abs(i) - 0.5));
  return a;
}

/* Moves taps onto a grid s times coarser along one axis, each split between its two neighbours there. */
static Array
gather(Array a, CnvAxis axis, int s)
{
  int n = a.n[axis], anchor = (n - 1) / 2, other = a.n[!axis];
  int radius = MAX((anchor + s - 1) / s, (n - 1 - anchor + s - 1) / s), wide = 2 * radius + 1;
  Array out = axis == CNV_X ? array_new(wide, other) : array_new(other, wide);

  for (int j = 0; j < other; j++)
    for (int i = 0; i < n; i++) {
      double at = (double)(i - anchor) / s, below = floor(at), part = at - below;
      double tap = axis == CNV_X ? a.v[j * n + i] : a.v[i * other + j];
      int to = (int)below + radius;

      out.v[axis == CNV_X ? j * wide + to : to * other + j] += tap * (1 - part);
      if (part > 0)
        out.v[axis == CNV_X ? j * wide + to + 1 : (to + 1) * other + j] += tap * part;
    }
  g_free(a.v);
  return out;
}

static Array
custom(const CnvTaps *taps, int width, int height, const int subsample[CNV_N_AXES])
{
  Array a = array_new(width, height);

  for (int i = 0; i < width * height; i++)
    a.v[i] = taps ? taps->value[i] : 1;
  for (int axis = 0; axis < CNV_N_AXES; axis++)
    if (subsample[axis] > 1)
      a = gather(a, axis, subsample[axis]);
  return a;
}

static Array
axis_taps(const CnvFilter *f, CnvAxis axis, const int subsample[CNV_N_AXES])
{
  int only[CNV_N_AXES] = {1, 1}, n;
  Array a;

  switch (f->type) {
  case CNV_FILTER_GAUSSIAN:
    return gaussian(f, axis, subsample[axis]);
  case CNV_FILTER_BOX:
    return box(f, axis, subsample[axis]);
  case CNV_FILTER_CUSTOM:
    only[axis] = subsample[axis];
    n = f->kernel_axis[axis] ? f->kernel_axis[axis]->width * f->kernel_axis[axis]->height : 1;
    return custom(f->kernel_axis[axis], axis == CNV_X ? n : 1, axis == CNV_X ? 1 : n, only);
  default:
    a = array_new(1, 1);
    a.v[0] = 1;
    return a;
  }
}

static Passes
filter_passes(const CnvFilter *f, const CnvPlaneFormat *p)
{
  int subsample[CNV_N_AXES] = {1 << p->sub_x, 1 << p->sub_y};

  if (f->type == CNV_FILTER_CUSTOM && f->kernel)
    return (Passes){1, {custom(f->kernel, f->kernel->width, f->kernel->height, subsample)}};
  return (Passes){2, {axis_taps(f, CNV_X, subsample), axis_taps(f, CNV_Y, subsample)}};
}

static double
array_sum(const Array *a, gboolean absolute)
{
  double sum = 0;

  for (int i = 0; i < a->n[CNV_X] * a->n[CNV_Y]; i++)
    sum += absolute ? fabs(a->v[i]) : a->v[i];
  return sum;
}

/* For each of the positions from -anchor on that n samples under these taps can ask for: where it is found. */
static int *
border_map(CnvBorder border, int n, int taps)
{
  int *map = g_new(int, n + taps - 1);

  for (int i = 0; i < n + taps - 1; i++)
    map[i] = border_walk(border, i - (taps - 1) / 2, n);
  return map;
}

static double
sample_sum(const Array *a, CnvBorder border, double missing, const double *in, int width, const int *mx, const int *my)
{
  double acc = 0, present = 0;
  gboolean all = TRUE;

  for (int j = 0; j < a->n[CNV_Y]; j++)
    for (int i = 0; i < a->n[CNV_X]; i++) {
      double tap = a->v[j * a->n[CNV_X] + i];

      if (mx[i] >= 0 && my[j] >= 0) {
        acc += tap * in[(gsize)my[j] * width + mx[i]];
        present += tap;
      } else {
        acc += tap * missing;
        all = FALSE;
      }
    }
  if (border != CNV_BORDER_RENORMALIZE || all)
    return acc;
  return fabs(present) <= 1e-6 * array_sum(a, TRUE) ? 0 : acc * array_sum(a, FALSE) / present;
}

static double *
run_pass(const Array *a, CnvBorder border, double missing, double *in, int width, int height)
{
  double *out = g_new(double, (gsize)width *height);
  int *mx = border_map(border, width, a->n[CNV_X]), *my = border_map(border, height, a->n[CNV_Y]);

  for (int y = 0; y < height; y++)
    for (int x = 0; x < width; x++)
      out[(gsize)y * width + x] = sample_sum(a, border, missing, in, width, mx + x, my + y);
  g_free(mx);
  g_free(my);
  g_free(in);
  return out;
}

/* The border colour's component for a role, as an integer sample value. */
static int
border_value(guint32 color, const CnvImage *image, guint role)
{
  const double r = (color >> 16 & 255) / 255.0, g = (color >> 8 & 255) / 255.0, b = (color & 255) / 255.0;
  const double luma = image->kr * r + (1 - image->kr - image->kb) * g + image->kb * b;
  const int full = (1 << image->format->depth) - 1;
  const double unit = 1 << (image->format->depth - 8);

  switch (role) {
  case CNV_ROLE_R:
    return oracle_round(r * full, full);
  case CNV_ROLE_G:
    return oracle_round(g * full, full);
  case CNV_ROLE_B:
    return oracle_round(b * full, full);
  case CNV_ROLE_Y:
    return oracle_round(image->full_range ? luma * full : (16 + 219 * luma) * unit, full);
  default: {
    double c = role == CNV_ROLE_U ? (b - luma) / (2 * (1 - image->kb)) : (r - luma) / (2 * (1 - image->kr));

    return oracle_round(128 * unit + c * (image->full_range ? full : 224 * unit), full);
  }
  }
}

static void
filter_channel(const CnvFilter *f, const CnvImage *image, int plane, int channel, double *values, int width, int height)
{
  const CnvPlaneFormat *p = &image->format->plane[plane];
  const guint role = p->role[channel];
  const double mid = 1 << (image->format->depth - 1), full = (1 << image->format->depth) - 1;
  const gsize count = (gsize)width * height;
  double missing = f->border == CNV_BORDER_CONSTANT ? border_value(f->border_color, image, role) - mid : 0;
  double sum = 1, absolute = 1, gain, *acc = g_new(double, count);
  Passes passes = filter_passes(f, p);

  for (gsize i = 0; i < count; i++)
    acc[i] = values[i * p->channels + channel] - mid;
  for (int i = 0; i < passes.count; i++) {
    acc = run_pass(&passes.array[i], f->border, missing, acc, width, height);
    missing *= array_sum(&passes.array[i], FALSE);
    sum *= array_sum(&passes.array[i], FALSE);
    absolute *= array_sum(&passes.array[i], TRUE);
    g_free(passes.array[i].v);
  }
  /* Divided, not multiplied by a reciprocal: a tie stays one. */
  gain = f->normalize && fabs(sum) > 1e-9 * absolute ? sum : 1;
  for (gsize i = 0; i < count; i++)
    values[i * p->channels + channel] =
        is_chroma(role) ? mid + f->scale * acc[i] / gain : f->scale * (acc[i] + mid * sum) / gain + f->bias * full;
  g_free(acc);
}

double *
oracle_plane(const CnvFilter *filter, const CnvImage *image, int plane, const guint8 *data, int stride)
{
  const CnvFormat *format = image->format;
  const int width = oracle_plane_width(format, plane, image->width);
  const int height = oracle_plane_height(format, plane, image->height);
  const int samples = width * format->plane[plane].channels;
  double *values = g_new(double, (gsize)samples *height);

  for (int y = 0; y < height; y++)
    for (int i = 0; i < samples; i++)
      values[(gsize)y * samples + i] = oracle_value(format, data + (gssize)y * stride, i);
  for (int c = 0; c < format->plane[plane].channels; c++)
    if (oracle_filtered(format, plane) & 1u << c)
      filter_channel(filter, image, plane, c, values, width, height);
  return values;
}
