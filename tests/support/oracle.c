/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The oracle: slow and plain on purpose, so that it can be read beside the specification. Samples are distances from
 * mid = 2^(depth-1): whole numbers, which suit float64 well, as do their products.
 */
#include "support/oracle_channel.h"

#include <math.h>
#include <string.h>

/* Least sum of tap * alpha, as a part of sum|t| * full, at which a mean weighted by alpha is compared. With taps of
 * both signs, what remains of a smaller sum is error. With other taps, engines keep the sample. */
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

OracleComponent
oracle_component(const CnvFormat *format, int plane, int channel)
{
  const CnvPlaneFormat *p = &format->plane[plane];
  const int bytes = format->sample_bytes;

  if (bytes == 4)
    return (OracleComponent){0, 0, 4, 4, p->offset[channel], p->role[channel] == CNV_ROLE_A ? 2 : format->depth};
  if (p->step)
    return (OracleComponent){0, p->offset[channel], p->step, bytes, format->shift, format->depth};
  return (OracleComponent){plane, channel * bytes, p->channels * bytes, bytes, format->shift, format->depth};
}

int
oracle_n_frame_planes(const CnvFormat *format)
{
  int last = 0;

  for (int p = 0; p < format->n_planes; p++)
    last = MAX(last, oracle_component(format, p, 0).plane);
  return last + 1;
}

int
oracle_row_bytes(const CnvFormat *format, int memory, int width)
{
  int end = 0;

  for (int p = 0; p < format->n_planes; p++)
    for (int c = 0; c < format->plane[p].channels; c++) {
      OracleComponent component = oracle_component(format, p, c);

      if (component.plane == memory)
        end =
            MAX(end, (oracle_plane_width(format, p, width) - 1) * component.step + component.offset + component.bytes);
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
oracle_raw(const OracleComponent *component, const guint8 *row, int x)
{
  guint raw = 0;

  for (int i = 0; i < component->bytes; i++)
    raw |= (guint)row[x * component->step + component->offset + i] << 8 * i;
  return raw;
}

int
oracle_value(const OracleComponent *component, const guint8 *row, int x)
{
  return (oracle_raw(component, row, x) >> component->shift) & ((1 << component->depth) - 1);
}

int
oracle_round(double value, int full)
{
  double below = floor(value), part = value - below;
  double nearest = part < 0.5 || (part == 0.5 && fmod(below, 2) == 0) ? below : below + 1;

  return nearest < 0 ? 0 : nearest > full ? full : (int)nearest;
}

/* Walks reflections and turns one by one: there is no modulo to get wrong. */
int
oracle_border_index(CnvBorder border, int i, int n)
{
  while (i < 0 || i >= n) {
    gboolean before = i < 0;

    switch (border) {
    case CNV_BORDER_CONSTANT:
    case CNV_BORDER_RENORMALIZE:
      return -1;
    case CNV_BORDER_REPLICATE:
      i = before ? 0 : n - 1;
      break;
    case CNV_BORDER_REFLECT:
      i = before ? -1 - i : 2 * n - 1 - i;
      break;
    case CNV_BORDER_REFLECT_101:
      i = n == 1 ? 0 : before ? -i : 2 * (n - 1) - i;
      break;
    case CNV_BORDER_WRAP:
      i = before ? i + n : i - n;
      break;
    }
  }
  return i;
}

/* The samples outside a window. */
typedef struct {
  CnvBorder border;
  gboolean rescale; /* TRUE: apply renormalize's factor; FALSE: missing samples are only left out */
  double missing;   /* value of a missing sample */
} Outside;

/* Returns where the samples under n taps are found, for outputs first to first + count - 1: indices in the window, or
 * -1. anchor: index of the tap on the output. */
static int *
border_map(CnvBorder border, int first, int count, int n, int anchor, int window)
{
  int *map = g_new(int, count + n - 1);

  for (int i = 0; i < count + n - 1; i++)
    map[i] = oracle_border_index(border, first + i - anchor, window);
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

/* Filters the samples of area, which may reach beyond the window. in: the samples of the window. */
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

/* Finds the samples of the window along an axis whose centre is in the same cell of a mosaic as the centre of a sample,
 * or of the sample of the window nearest to it. cell: the first of them, and their number. */
static void
find_cell(const OracleChannel *c, int axis, int at, int from, int size, int cell[2])
{
  const OracleKernel *k = &c->slice[0].kernel;
  const double step = k->step[axis], width = k->cell[axis];
  const int inside = CLAMP(at, from, from + size - 1);
  const double number = floor((inside - c->corner[axis] + 0.5) * step / width);

  cell[0] = cell[1] = 0;
  for (int i = from; i < from + size; i++)
    if (floor((i - c->corner[axis] + 0.5) * step / width) == number) {
      cell[0] = cell[1] == 0 ? i - from : cell[0];
      cell[1]++;
    }
}

/* Returns the means of cells. Each mean is computed for the first row and column of its cell. */
static double *
mosaic(const OracleChannel *c, const double *in, CnvRect window, CnvRect area)
{
  double *out = g_new(double, (gsize)area.width *area.height);
  int(*column)[2] = g_malloc_n(area.width, sizeof *column), row[2], above[2] = {-1, -1};

  for (int x = 0; x < area.width; x++)
    find_cell(c, CNV_X, area.x + x, window.x, window.width, column[x]);
  for (int y = 0; y < area.height; y++) {
    double *line = out + (gsize)y * area.width;

    find_cell(c, CNV_Y, area.y + y, window.y, window.height, row);
    if (memcmp(row, above, sizeof row) == 0) {
      memcpy(line, line - area.width, area.width * sizeof *line);
      continue;
    }
    memcpy(above, row, sizeof row);
    for (int x = 0; x < area.width; x++) {
      double sum = 0;

      if (x > 0 && memcmp(column[x], column[x - 1], sizeof *column) == 0) {
        line[x] = line[x - 1];
        continue;
      }
      for (int i = 0; i < row[1] * column[x][1]; i++)
        sum += in[(gsize)(row[0] + i / column[x][1]) * window.width + column[x][0] + i % column[x][1]];
      line[x] = sum / (row[1] * column[x][1]);
    }
  }
  g_free(column);
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

/* Returns the component of a colour for a role, as a whole sample value. */
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

static double *
read_frame(const CnvImage *image, const CnvFrame *frame, OracleField field, int plane, int channel)
{
  const CnvFormat *format = image->format;
  const OracleComponent component = oracle_component(format, plane, channel);
  const int width = oracle_plane_width(format, plane, image->width);
  const int height = oracle_field_rows(field, oracle_plane_height(format, plane, image->height));
  const int stride = frame->stride[component.plane];
  double *values = g_new(double, (gsize)width *height);

  for (int y = 0; y < height; y++)
    for (int x = 0; x < width; x++)
      values[(gsize)y * width + x] = oracle_value(
          &component, (const guint8 *)frame->data[component.plane] + (gssize)(field.first + y * field.step) * stride,
          x);
  return values;
}

double *
oracle_read(const OracleWork *work, OracleField field, int plane, int channel)
{
  return read_frame(work->image, work->in, field, plane, channel);
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

/* Returns, for each sample of a plane, the mean of the alpha samples that it covers within the field. */
static double *
read_alpha(const CnvImage *image, const CnvFrame *frame, OracleField field, int alpha_plane, int alpha_channel,
           int plane)
{
  const CnvFormat *format = image->format;
  const CnvPlaneFormat *p = &format->plane[plane];
  const int width = oracle_plane_width(format, plane, image->width);
  const int height = oracle_field_rows(field, oracle_plane_height(format, plane, image->height));
  const int from_width = image->width, from_height = oracle_field_rows(field, image->height);
  double *from = read_frame(image, frame, field, alpha_plane, alpha_channel);
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

/* Returns the taps for a plane and a tap in time, with chroma's own settings. */
static OracleKernel
plane_kernel(const CnvFilter *filter, const OracleTime *time, int tap, const CnvPlaneFormat *p)
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
    if (set || filter->chroma_same)
      subsample[CNV_X] = subsample[CNV_Y] = 1;
  }
  return oracle_time_kernel(time, &own, tap, subsample);
}

/* Adds up the taps of the whole kernel, over time, too. */
static void
sum_taps(OracleChannel *c, const OracleTime *time)
{
  double weights = 0, magnitudes = 0;

  c->sum = c->magnitudes = 0;
  for (int s = 0; s < c->n_slices; s++) {
    const OracleConvolution *first = &c->slice[s].kernel.part[0];
    double sum = c->slice[s].kernel.n_parts == 1, magnitude = 1;

    for (int i = 0; i < first->n_passes; i++) {
      sum *= oracle_array_sum(&first->pass[i], FALSE);
      magnitude *= oracle_array_sum(&first->pass[i], TRUE);
    }
    c->sum += sum;
    c->magnitudes += magnitude;
  }
  for (int k = 0; k < time->n && !time->not_time_separable; k++) {
    weights += time->weight[k];
    magnitudes += fabs(time->weight[k]);
  }
  c->sum *= time->not_time_separable ? 1 : weights;
  c->magnitudes *= time->not_time_separable ? 1 : magnitudes;
}

/* What weighs samples: alpha weighs colours, inside weighs every channel. */
typedef struct {
  gboolean weighs;
  int plane, channel;
  const double *inside; /* one per sample, or NULL */
} Alpha;

/* Adds one frame to a slice. */
static void
slice_add(OracleSlice *slice, const OracleChannel *c, const double *in, const double *alpha, double weight)
{
  slice->weight += weight;
  for (int i = 0; i < c->width * c->height; i++) {
    slice->in[i] += weight * (in[i] - c->mid);
    if (!alpha)
      continue;
    slice->alpha[i] += weight * alpha[i];
    slice->product[i] += weight * (in[i] - c->mid) * alpha[i];
  }
}

/* Returns the weights of a frame's samples, or NULL if they have none. */
static double *
read_weights(const OracleChannel *c, const CnvImage *image, const CnvFrame *frame, OracleField field, int plane,
             Alpha alpha)
{
  double *weights = alpha.weighs ? read_alpha(image, frame, field, alpha.plane, alpha.channel, plane) : NULL;

  if (!weights && alpha.inside)
    weights = g_memdup2(alpha.inside, (gsize)c->width * c->height * sizeof(double));
  for (int i = 0; i < c->width * c->height && alpha.weighs && alpha.inside; i++)
    weights[i] *= alpha.inside[i];
  return weights;
}

/* Keeps the values of tap k's frame, if its weights depend on them. */
static void
keep_frame(OracleChannel *c, const OracleTime *time, int k, double weight, const double *in)
{
  if (c->filter->temporal_threshold == 0 || time->n == 1)
    return;
  if (k == time->anchor)
    c->own = c->n_frames;
  c->frame_weight[c->n_frames] = weight;
  c->frame[c->n_frames++] = g_memdup2(in, (gsize)c->width * c->height * sizeof *in);
}

static void
read_slices(OracleChannel *c, const OracleWork *work, const OracleTime *time, OracleField field, int plane, int channel,
            Alpha alpha)
{
  const gsize count = (gsize)c->width * c->height;
  int number[CNV_MAX_TEMPORAL_TAPS];
  double weight[CNV_MAX_TEMPORAL_TAPS];

  oracle_time_place(time, work->clip, c->filter->causal, number, weight);
  for (int s = 0; s < c->n_slices; s++) {
    c->slice[s].in = g_new0(double, count);
    c->slice[s].alpha = alpha.weighs || alpha.inside ? g_new0(double, count) : NULL;
    c->slice[s].product = alpha.weighs || alpha.inside ? g_new0(double, count) : NULL;
  }
  for (int k = 0; k < time->n; k++) {
    const CnvFrame *frame = number[k] < 0 ? NULL : work->clip ? &work->clip->frame[number[k]] : work->in;
    double *in, *weights;

    if (!frame)
      continue;
    in = read_frame(work->image, frame, field, plane, channel);
    weights = read_weights(c, work->image, frame, field, plane, alpha);
    slice_add(&c->slice[time->not_time_separable ? k : 0], c, in, weights, weight[k]);
    keep_frame(c, time, k, weight[k], in);
    g_free(in);
    g_free(weights);
  }
}

static void
find_missing(OracleChannel *c, const CnvImage *image, const OracleComponent *component, Alpha alpha)
{
  int depth;

  c->alpha_full = c->missing_alpha = alpha.inside ? 1 : 0; /* samples outside the frame have full weight */
  if (alpha.weighs) {
    depth = oracle_component(image->format, alpha.plane, alpha.channel).depth;
    c->alpha_full = (1 << depth) - 1;
    c->missing_alpha = border_value(c->filter->border_color, image, CNV_ROLE_A, depth);
  }
  c->missing = border_value(c->filter->border_color, image, c->role, component->depth) - c->mid;
  if (c->filter->border != CNV_BORDER_CONSTANT)
    c->missing = c->missing_alpha = 0;
}

OracleChannel
oracle_channel_new(const OracleWork *work, const CnvFilter *filter, OracleField field, int plane, int channel,
                   OracleInside inside)
{
  const CnvFormat *format = work->image->format;
  const CnvPlaneFormat *p = &format->plane[plane];
  const guint role = p->role[channel];
  const OracleComponent component = oracle_component(format, plane, channel);
  const OracleTime time = oracle_time(filter);
  OracleChannel c = {filter, role};
  CnvPlaneFormat alone = {1, p->sub_x, p->sub_y, {role}};
  Alpha alpha = {.inside = inside.part};

  c.width = oracle_plane_width(format, plane, work->image->width);
  c.height = oracle_field_rows(field, oracle_plane_height(format, plane, work->image->height));
  c.full = (1 << component.depth) - 1;
  c.mid = 1 << (component.depth - 1);
  c.doubt = inside.doubt;
  c.now = oracle_read(work, field, plane, channel);
  c.neutral = is_chroma(role) && (filter->type == CNV_FILTER_SOBEL || filter->type == CNV_FILTER_SCHARR ||
                                  filter->type == CNV_FILTER_PREWITT);
  if (c.neutral)
    return c;
  c.n_slices = time.not_time_separable ? time.n : 1;
  for (int s = 0; s < c.n_slices; s++)
    c.slice[s].kernel = plane_kernel(filter, &time, s, &alone);
  sum_taps(&c, &time);
  alpha.weighs = filter->alpha_mode == CNV_ALPHA_PREMULTIPLY && role != CNV_ROLE_A &&
                 find_alpha(format, &alpha.plane, &alpha.channel);
  find_missing(&c, work->image, &component, alpha);
  c.color = border_value(filter->fill_color, work->image, role, component.depth);
  read_slices(&c, work, &time, field, plane, channel, alpha);
  return c;
}

void
oracle_channel_clear(OracleChannel *c)
{
  for (int s = 0; s < c->n_slices; s++) {
    oracle_kernel_clear(&c->slice[s].kernel);
    g_free(c->slice[s].in);
    g_free(c->slice[s].alpha);
    g_free(c->slice[s].product);
  }
  for (int k = 0; k < c->n_frames; k++)
    g_free(c->frame[k]);
  g_free(c->now);
}

/* Returns the result for a sum of tap * distance from mid. */
static double
finish(const OracleChannel *c, double acc)
{
  const CnvFilter *f = c->filter;
  const double divisor = f->normalize && fabs(c->sum) > 1e-9 * c->magnitudes ? c->sum : 1;
  /* A division instead of a multiplication by a reciprocal keeps a tie a tie. */
  double result = (is_chroma(c->role) ? acc : acc + c->mid * c->sum) / divisor;

  if (f->absolute)
    result = fabs(result);
  if (c->role == CNV_ROLE_A)
    return result;
  return is_chroma(c->role) ? c->mid + f->scale * result : f->scale * result + f->bias * c->full;
}

/* Returns the sample itself, for a place that cannot be filtered. */
static OracleSample
kept(const OracleChannel *c, CnvRect area, gsize i)
{
  const gsize x = area.x + i % area.width, y = area.y + i / area.width;

  return (OracleSample){c->now[y * c->width + x], ORACLE_COPIED};
}

static double *
crop(const double *in, int width, CnvRect window)
{
  double *out = g_new(double, (gsize)window.width *window.height);

  for (int y = 0; y < window.height; y++)
    memcpy(out + (gsize)y * window.width, in + (gsize)(window.y + y) * width + window.x, window.width * sizeof *out);
  return out;
}

typedef enum { IN, ALPHA, PRODUCT } What;

/* Returns the sums over the slices. outside.missing is for one frame. */
static double *
convolve_slices(const OracleChannel *c, int part, What what, Outside outside, CnvRect window, CnvRect area)
{
  const gsize count = (gsize)area.width * area.height;
  const double missing = outside.missing;
  double *sum = g_new0(double, count);

  for (int s = 0; s < c->n_slices; s++) {
    const OracleSlice *slice = &c->slice[s];
    double *in = crop(what == IN ? slice->in : what == ALPHA ? slice->alpha : slice->product, c->width, window), *out;

    outside.missing = missing * slice->weight;
    out = slice->kernel.cell[CNV_X] > 0 ? mosaic(c, in, window, area)
                                        : convolve(&slice->kernel.part[part], outside, in, window, area);
    for (gsize i = 0; i < count; i++)
      sum[i] += out[i];
    g_free(in);
    g_free(out);
  }
  return sum;
}

#define DOUBT_MOST 0.02 /* most levels by which float32's weights may change a result that is tested */

/* Returns an upper bound of the taps, over all slices. reach: samples along each axis on which a result depends. */
static double
measure_taps(const OracleChannel *c, int reach[CNV_N_AXES])
{
  double most = 0;

  reach[CNV_X] = reach[CNV_Y] = 1;
  for (int s = 0; s < c->n_slices; s++) {
    const OracleKernel *k = &c->slice[s].kernel;
    double product = 1;

    for (int pass = 0; pass < k->part[0].n_passes && k->cell[CNV_X] == 0; pass++) {
      const OracleArray *a = &k->part[0].pass[pass];
      double largest = 0;

      for (int i = 0; i < a->n[CNV_X] * a->n[CNV_Y]; i++)
        largest = MAX(largest, fabs(a->v[i]));
      product *= largest;
      for (int axis = 0; axis < CNV_N_AXES; axis++)
        reach[axis] = MAX(reach[axis], a->n[axis]);
    }
    for (int axis = 0; axis < CNV_N_AXES && k->cell[CNV_X] > 0; axis++)
      reach[axis] = MAX(reach[axis], (int)k->cell[axis] + 1);
    most = MAX(most, product);
  }
  return most * c->n_slices;
}

/* Returns the distance of two samples, the shorter way if the border wraps. */
static int
apart(const OracleChannel *c, int a, int b, int size)
{
  const int straight = abs(a - b);

  return c->filter->border == CNV_BORDER_WRAP ? MIN(straight, size - straight) : straight;
}

/* Leaves a result open if weights in doubt change it. weight: one per result. */
static void
leave_open(const OracleChannel *c, CnvRect area, const double *weight, OracleSample *out)
{
  const double scale = c->full * MAX(1, fabs(c->filter->scale));
  int reach[CNV_N_AXES];
  const double tap = measure_taps(c, reach) * scale * c->alpha_full;
  double *off = g_new0(double, (gsize)area.width *area.height);

  for (int from = 0; from < c->width * c->height; from++)
    for (int i = 0; i < area.width * area.height && c->doubt[from] > 0; i++)
      if (apart(c, area.x + i % area.width, from % c->width, c->width) < reach[CNV_X] &&
          apart(c, area.y + i / area.width, from / c->width, c->height) < reach[CNV_Y])
        off[i] += tap * c->doubt[from];
  for (int i = 0; i < area.width * area.height; i++)
    if (off[i] > DOUBT_MOST * fabs(weight[i]))
      out[i].rule = ORACLE_OPEN;
  g_free(off);
}

/* Computes samples as means weighted by alpha, or by the part of them that may be read. */
static void
weigh(const OracleChannel *c, CnvRect window, CnvRect area, OracleSample *out)
{
  const CnvBorder border = c->filter->border;
  const double largest = c->magnitudes * c->alpha_full;
  const double least = largest * (c->sum < c->magnitudes * (1 - 1e-9) ? WEIGHT_MIN : WEIGHT_MIN_POSITIVE);
  const Outside no_product = {border, FALSE, c->missing * c->missing_alpha},
                no_alpha = {border, FALSE, c->missing_alpha};
  double *colour = convolve_slices(c, 0, PRODUCT, no_product, window, area);
  double *weight = convolve_slices(c, 0, ALPHA, no_alpha, window, area);

  for (gsize i = 0; i < (gsize)area.width * area.height; i++)
    if (fabs(weight[i]) < 1e-9 * largest)
      out[i] = kept(c, area, i);
    else
      out[i] = (OracleSample){finish(c, colour[i] / weight[i] * c->sum),
                              fabs(weight[i]) < least ? ORACLE_OPEN : ORACLE_FILTERED};
  if (c->doubt)
    leave_open(c, area, weight, out);
  g_free(colour);
  g_free(weight);
}

/* Returns the sum of the taps of an array that meet a sample of the window. all: becomes FALSE if a tap meets none. */
static double
present_taps(const OracleArray *a, int x, int y, CnvRect window, gboolean *all)
{
  double sum = 0;

  for (int j = 0; j < a->n[CNV_Y]; j++)
    for (int i = 0; i < a->n[CNV_X]; i++) {
      const int at_x = x + i - a->anchor[CNV_X] - window.x, at_y = y + j - a->anchor[CNV_Y] - window.y;

      if (at_x >= 0 && at_y >= 0 && at_x < window.width && at_y < window.height)
        sum += a->v[j * a->n[CNV_X] + i];
      else
        *all = FALSE;
    }
  return sum;
}

/* Renormalizes a kernel that is not time-separable, which is scaled as one array of three dimensions. Slices that are a
 * row and a column have the products as taps. */
static void
rescale_solid(const OracleChannel *c, CnvRect window, CnvRect area, double *acc)
{
  for (gsize i = 0; i < (gsize)area.width * area.height; i++) {
    const int x = area.x + (int)(i % area.width), y = area.y + (int)(i / area.width);
    gboolean all = TRUE;
    double present = 0;

    for (int s = 0; s < c->n_slices; s++) {
      const OracleConvolution *k = &c->slice[s].kernel.part[0];
      double taps = c->slice[s].weight;

      for (int pass = 0; pass < k->n_passes; pass++)
        taps *= present_taps(&k->pass[pass], x, y, window, &all);
      present += taps;
    }
    if (!all)
      acc[i] *= fabs(present) <= 1e-6 * c->magnitudes ? 0 : c->sum / present;
  }
}

OracleSample *
oracle_filter_area(const OracleChannel *c, CnvRect window, CnvRect area)
{
  const CnvBorder border = c->filter->border;
  const gboolean not_time_separable = c->n_slices > 1, renormalize = border == CNV_BORDER_RENORMALIZE;
  const Outside outside = {border, renormalize && !not_time_separable, c->missing};
  const gsize count = (gsize)area.width * area.height;
  const int n_parts = c->neutral ? 0 : c->slice[0].kernel.n_parts;
  OracleSample *out = g_new0(OracleSample, count);
  double *part[2] = {NULL, NULL};

  if (c->n_frames > 0)
    oracle_average(c, window);
  for (gsize i = 0; i < count && c->filter->type == CNV_FILTER_FILL; i++)
    out[i].value = c->color;
  if (c->filter->type == CNV_FILTER_FILL)
    return out;
  if (!c->neutral && c->slice[0].alpha) {
    weigh(c, window, area, out);
    return out;
  }
  for (int i = 0; i < n_parts; i++)
    part[i] = convolve_slices(c, i, IN, outside, window, area);
  if (renormalize && not_time_separable)
    rescale_solid(c, window, area, part[0]);
  for (gsize i = 0; i < count; i++)
    out[i].value = c->neutral ? c->mid : finish(c, part[1] ? hypot(part[0][i], part[1][i]) : part[0][i]);
  g_free(part[0]);
  g_free(part[1]);
  return out;
}
