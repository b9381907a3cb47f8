/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The oracle: slow and plain on purpose, so that it can be read beside the specification.
 * Samples are taken as distances from mid = 2^(depth-1); whole numbers, so float64 holds them and their products well.
 */
#include "oracle_channel.h"

#include <math.h>
#include <string.h>

/* Of sum|t| * full: where the sum of tap * alpha is smaller, a mean weighted by it is no number to compare; for taps of
 * both signs because what is left of the sum is error, for others because engines then keep the sample. */
#define WEIGHT_MIN 1e-3
#define WEIGHT_MIN_POSITIVE 2e-6

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

OracleLane
oracle_lane(const CnvFormat *format, int plane, int channel)
{
  const CnvPlaneFormat *p = &format->plane[plane];
  const int bytes = format->sample_bytes;

  if (bytes == 4)
    return (OracleLane){0, 0, 4, 4, p->offset[channel], p->role[channel] == CNV_ROLE_A ? 2 : format->depth};
  if (p->step)
    return (OracleLane){0, p->offset[channel], p->step, bytes, format->shift, format->depth};
  return (OracleLane){plane, channel * bytes, p->channels * bytes, bytes, format->shift, format->depth};
}

int
oracle_n_memories(const CnvFormat *format)
{
  int last = 0;

  for (int p = 0; p < format->n_planes; p++)
    last = MAX(last, oracle_lane(format, p, 0).memory);
  return last + 1;
}

int
oracle_row_bytes(const CnvFormat *format, int memory, int width)
{
  int end = 0;

  for (int p = 0; p < format->n_planes; p++)
    for (int c = 0; c < format->plane[p].channels; c++) {
      OracleLane lane = oracle_lane(format, p, c);

      if (lane.memory == memory)
        end = MAX(end, (oracle_plane_width(format, p, width) - 1) * lane.step + lane.offset + lane.bytes);
    }
  return end;
}

int
oracle_rows(const CnvFormat *format, int memory, int height)
{
  return oracle_plane_height(format, memory, height);
}

static gboolean
is_chroma(guint role)
{
  return role == CNV_ROLE_U || role == CNV_ROLE_V;
}

gboolean
oracle_filters(const CnvFilter *filter, const CnvFormat *format, int plane, int channel)
{
  static const guint flag[] = {
      [CNV_ROLE_Y] = CNV_PLANES_LUMA,  [CNV_ROLE_U] = CNV_PLANES_CHROMA, [CNV_ROLE_V] = CNV_PLANES_CHROMA,
      [CNV_ROLE_A] = CNV_PLANES_ALPHA, [CNV_ROLE_R] = CNV_PLANES_RED,    [CNV_ROLE_G] = CNV_PLANES_GREEN,
      [CNV_ROLE_B] = CNV_PLANES_BLUE,
  };
  const guint role = format->plane[plane].role[channel];

  return filter->planes & flag[role] || (role == CNV_ROLE_A && filter->alpha_mode != CNV_ALPHA_COPY);
}

guint
oracle_raw(const OracleLane *lane, const guint8 *row, int x)
{
  guint raw = 0;

  for (int i = 0; i < lane->bytes; i++)
    raw |= (guint)row[x * lane->step + lane->offset + i] << 8 * i;
  return raw;
}

int
oracle_value(const OracleLane *lane, const guint8 *row, int x)
{
  return (oracle_raw(lane, row, x) >> lane->shift) & ((1 << lane->depth) - 1);
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

/* What is outside of a window, and in it. */
typedef struct {
  CnvBorder border;
  gboolean rescale; /* renormalize's factor; without it missing samples are just left out */
  double missing;   /* value of one */
} Outside;

/* Positions first, first + 1, ... under n taps, of which the one at the anchor is at the sample: where each is found,
 * counted from the window's start. */
static int *
border_map(CnvBorder border, int first, int count, int n, int anchor, int window)
{
  int *map = g_new(int, count + n - 1);

  for (int i = 0; i < count + n - 1; i++)
    map[i] = border_walk(border, first + i - anchor, window);
  return map;
}

static double
sample_sum(const OracleArray *a, const Outside *outside, const double *in, int width, const int *mx, const int *my)
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
        acc += tap * outside->missing;
        all = FALSE;
      }
    }
  if (!outside->rescale || all)
    return acc;
  return fabs(present) <= 1e-6 * oracle_array_sum(a, TRUE) ? 0 : acc * oracle_array_sum(a, FALSE) / present;
}

/* in: the samples of window. Returns those of area, which may reach out of it. */
static double *
run_pass(const OracleArray *a, const Outside *outside, const double *in, CnvRect window, CnvRect area)
{
  double *out = g_new(double, (gsize)area.width *area.height);
  int *mx = border_map(outside->border, area.x - window.x, area.width, a->n[CNV_X], a->anchor[CNV_X], window.width);
  int *my = border_map(outside->border, area.y - window.y, area.height, a->n[CNV_Y], a->anchor[CNV_Y], window.height);

  for (int y = 0; y < area.height; y++)
    for (int x = 0; x < area.width; x++)
      out[(gsize)y * area.width + x] = sample_sum(a, outside, in, window.width, mx + x, my + y);
  g_free(mx);
  g_free(my);
  return out;
}

static double *
convolve(const OracleConvolution *c, Outside outside, const double *in, CnvRect window, CnvRect area)
{
  const CnvRect rows = {area.x, window.y, area.width, window.height};
  double *between, *out;

  if (c->n_passes == 1)
    return run_pass(&c->pass[0], &outside, in, window, area);
  between = run_pass(&c->pass[0], &outside, in, window, rows);
  outside.missing *= oracle_array_sum(&c->pass[0], FALSE);
  out = run_pass(&c->pass[1], &outside, between, rows, area);
  g_free(between);
  return out;
}

/* The border colour's component for a role, as a whole sample value. */
static int
border_value(guint32 color, const CnvImage *image, guint role, int depth)
{
  const double r = (color >> 16 & 255) / 255.0, g = (color >> 8 & 255) / 255.0, b = (color & 255) / 255.0;
  const double luma = image->kr * r + (1 - image->kr - image->kb) * g + image->kb * b;
  const int full = (1 << depth) - 1;
  const double unit = ldexp(1, depth - 8);

  switch (role) {
  case CNV_ROLE_R:
    return oracle_round(r * full, full);
  case CNV_ROLE_G:
    return oracle_round(g * full, full);
  case CNV_ROLE_B:
    return oracle_round(b * full, full);
  case CNV_ROLE_A:
    return oracle_round((color >> 24) / 255.0 * full, full);
  case CNV_ROLE_Y:
    return oracle_round(image->full_range ? luma * full : (16 + 219 * luma) * unit, full);
  default: {
    double c = role == CNV_ROLE_U ? (b - luma) / (2 * (1 - image->kb)) : (r - luma) / (2 * (1 - image->kr));

    return oracle_round(128 * unit + c * (image->full_range ? full : 224 * unit), full);
  }
  }
}

int
oracle_field_rows(OracleField field, int rows)
{
  return MAX(0, (rows - field.first + field.step - 1) / field.step);
}

double *
oracle_read(const OracleWork *work, OracleField field, int plane, int channel)
{
  const CnvFormat *format = work->image->format;
  const OracleLane lane = oracle_lane(format, plane, channel);
  const int width = oracle_plane_width(format, plane, work->image->width);
  const int height = oracle_field_rows(field, oracle_plane_height(format, plane, work->image->height));
  const int stride = work->in->stride[lane.memory];
  double *values = g_new(double, (gsize)width *height);

  for (int y = 0; y < height; y++)
    for (int x = 0; x < width; x++)
      values[(gsize)y * width + x] = oracle_value(
          &lane, (const guint8 *)work->in->data[lane.memory] + (gssize)(field.first + y * field.step) * stride, x);
  return values;
}

static gboolean
find_alpha(const CnvFormat *format, int *plane, int *channel)
{
  for (*plane = 0; *plane < format->n_planes; ++*plane)
    for (*channel = 0; *channel < format->plane[*plane].channels; ++*channel)
      if (format->plane[*plane].role[*channel] == CNV_ROLE_A)
        return TRUE;
  return FALSE;
}

/* The mean of the alpha samples that a sample of the plane covers, within the field. */
static double *
read_alpha(const OracleWork *work, OracleField field, int alpha_plane, int alpha_channel, int plane)
{
  const CnvFormat *format = work->image->format;
  const CnvPlaneFormat *p = &format->plane[plane];
  const int width = oracle_plane_width(format, plane, work->image->width);
  const int height = oracle_field_rows(field, oracle_plane_height(format, plane, work->image->height));
  const int from_width = work->image->width, from_height = oracle_field_rows(field, work->image->height);
  double *from = oracle_read(work, field, alpha_plane, alpha_channel);
  double *mean = g_new0(double, (gsize)width *height);

  for (int i = 0; i < width * height; i++) {
    const int x0 = i % width << p->sub_x, y0 = i / width << p->sub_y;
    const int x1 = MIN(x0 + (1 << p->sub_x), from_width), y1 = MIN(y0 + (1 << p->sub_y), from_height);

    for (int y = y0; y < y1; y++)
      for (int x = x0; x < x1; x++)
        mean[i] += from[(gsize)y * from_width + x] / ((x1 - x0) * (y1 - y0));
  }
  g_free(from);
  return mean;
}

/* The taps for a plane, with chroma's own settings. */
static OracleKernel
plane_kernel(const CnvFilter *filter, const CnvPlaneFormat *p)
{
  int subsample[CNV_N_AXES] = {1 << p->sub_x, 1 << p->sub_y};
  CnvFilter own = *filter;

  if (is_chroma(p->role[0]) || is_chroma(p->role[p->channels - 1])) {
    gboolean set = filter->chroma_radius >= 0 || filter->chroma_sigma > 0;

    if (set) {
      own.radius = filter->chroma_radius;
      own.sigma = filter->chroma_sigma;
      own.radius_axis[CNV_X] = own.radius_axis[CNV_Y] = -1;
      own.sigma_axis[CNV_X] = own.sigma_axis[CNV_Y] = 0;
    }
    if (set || filter->chroma_mode == CNV_CHROMA_SAME)
      subsample[CNV_X] = subsample[CNV_Y] = 1;
  }
  return oracle_kernel(&own, subsample);
}

static void
sum_taps(OracleChannel *c)
{
  c->sum = c->kernel.n_parts == 1;
  c->magnitudes = 1;
  for (int i = 0; i < c->kernel.part[0].n_passes; i++) {
    c->sum *= oracle_array_sum(&c->kernel.part[0].pass[i], FALSE);
    c->magnitudes *= oracle_array_sum(&c->kernel.part[0].pass[i], TRUE);
  }
}

OracleChannel
oracle_channel_new(const OracleWork *work, const CnvFilter *filter, OracleField field, int plane, int channel)
{
  const CnvFormat *format = work->image->format;
  const CnvPlaneFormat *p = &format->plane[plane];
  const guint role = p->role[channel];
  const int depth = oracle_lane(format, plane, channel).depth;
  OracleChannel c = {filter, role};
  CnvPlaneFormat alone = {1, p->sub_x, p->sub_y, {role}};
  int alpha_plane, alpha_channel, alpha_depth;

  c.width = oracle_plane_width(format, plane, work->image->width);
  c.height = oracle_field_rows(field, oracle_plane_height(format, plane, work->image->height));
  c.full = (1 << depth) - 1;
  c.mid = 1 << (depth - 1);
  c.in = oracle_read(work, field, plane, channel);
  for (int i = 0; i < c.width * c.height; i++)
    c.in[i] -= c.mid;
  c.neutral = is_chroma(role) && filter->type >= CNV_FILTER_SOBEL && filter->type <= CNV_FILTER_PREWITT;
  if (c.neutral)
    return c;
  c.kernel = plane_kernel(filter, &alone);
  sum_taps(&c);
  if (filter->border == CNV_BORDER_CONSTANT)
    c.missing = border_value(filter->border_color, work->image, role, depth) - c.mid;
  if (filter->alpha_mode != CNV_ALPHA_PREMULTIPLY || role == CNV_ROLE_A ||
      !find_alpha(format, &alpha_plane, &alpha_channel))
    return c;
  c.alpha = read_alpha(work, field, alpha_plane, alpha_channel, plane);
  alpha_depth = oracle_lane(format, alpha_plane, alpha_channel).depth;
  c.alpha_full = (1 << alpha_depth) - 1;
  if (filter->border == CNV_BORDER_CONSTANT)
    c.missing_alpha = border_value(filter->border_color, work->image, CNV_ROLE_A, alpha_depth);
  return c;
}

void
oracle_channel_clear(OracleChannel *c)
{
  oracle_kernel_clear(&c->kernel);
  g_free(c->in);
  g_free(c->alpha);
}

/* From a sum of tap * distance from mid to the result. */
static double
finish(const OracleChannel *c, double acc)
{
  const CnvFilter *f = c->filter;
  const double divisor = f->normalize && fabs(c->sum) > 1e-9 * c->magnitudes ? c->sum : 1;
  /* Divided, not multiplied by a reciprocal: a tie stays one. */
  double result = (is_chroma(c->role) ? acc : acc + c->mid * c->sum) / divisor;

  if (f->absolute)
    result = fabs(result);
  if (c->role == CNV_ROLE_A)
    return result;
  return is_chroma(c->role) ? c->mid + f->scale * result : f->scale * result + f->bias * c->full;
}

/* The sample itself: what is left where it cannot be filtered. */
static OracleSample
kept(const OracleChannel *c, CnvRect area, gsize i)
{
  const gsize x = area.x + i % area.width, y = area.y + i / area.width;

  return (OracleSample){c->in[y * c->width + x] + c->mid, ORACLE_COPIED};
}

/* Colours as means weighted by alpha. */
static void
weigh(const OracleChannel *c, Outside outside, CnvRect window, const double *in, const double *alpha, CnvRect area,
      OracleSample *out)
{
  const gsize count = (gsize)window.width * window.height;
  const double largest = c->magnitudes * c->alpha_full;
  const double least = largest * (c->sum < c->magnitudes * (1 - 1e-9) ? WEIGHT_MIN : WEIGHT_MIN_POSITIVE);
  double *product = g_new(double, count), *colour, *weight;

  for (gsize i = 0; i < count; i++)
    product[i] = in[i] * alpha[i];
  outside.rescale = FALSE;
  outside.missing = c->missing * c->missing_alpha;
  colour = convolve(&c->kernel.part[0], outside, product, window, area);
  outside.missing = c->missing_alpha;
  weight = convolve(&c->kernel.part[0], outside, alpha, window, area);
  for (gsize i = 0; i < (gsize)area.width * area.height; i++)
    if (fabs(weight[i]) < 1e-9 * largest)
      out[i] = kept(c, area, i);
    else
      out[i] = (OracleSample){finish(c, colour[i] / weight[i] * c->sum),
                              fabs(weight[i]) < least ? ORACLE_OPEN : ORACLE_FILTERED};
  g_free(product);
  g_free(colour);
  g_free(weight);
}

static double *
crop(const double *in, int width, CnvRect window)
{
  double *out = g_new(double, (gsize)window.width *window.height);

  for (int y = 0; y < window.height; y++)
    memcpy(out + (gsize)y * window.width, in + (gsize)(window.y + y) * width + window.x, window.width * sizeof *out);
  return out;
}

OracleSample *
oracle_filter_area(const OracleChannel *c, CnvRect window, CnvRect area)
{
  const CnvBorder border = c->filter->border;
  const Outside outside = {border, border == CNV_BORDER_RENORMALIZE, c->missing};
  const gsize count = (gsize)area.width * area.height;
  OracleSample *out = g_new0(OracleSample, count);
  double *in = crop(c->in, c->width, window), *alpha = c->alpha ? crop(c->alpha, c->width, window) : NULL;
  double *part[2] = {NULL, NULL};

  if (alpha)
    weigh(c, outside, window, in, alpha, area, out);
  for (int i = 0; i < c->kernel.n_parts && !alpha; i++)
    part[i] = convolve(&c->kernel.part[i], outside, in, window, area);
  for (gsize i = 0; i < count && !alpha; i++)
    out[i].value = c->neutral ? c->mid : finish(c, part[1] ? hypot(part[0][i], part[1][i]) : part[0][i]);
  g_free(part[0]);
  g_free(part[1]);
  g_free(in);
  g_free(alpha);
  return out;
}
