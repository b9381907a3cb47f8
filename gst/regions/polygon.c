/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Computes exact areas. Each row of pixels is cut into slabs at the heights where edges end or cross, so that the
 * edges of a slab are ordered from left to right. By the even-odd rule, the first edge begins the inside, the second
 * ends it, and so on. So the areas to the right of the edges are added and subtracted in turn.
 */
#include "regions/polygon.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define CLOSE 1e-9       /* pixels: edges of less height, and crossings of edges that overlap by less, are ignored */
#define MAX_SPLITS 16384 /* most cuts at crossings; limits the time, and further crossings are not exact */
#define MAX_DEPTH 32     /* most nested cuts, which also limits the time */
#define ELLIPSE_POINTS 64

typedef struct {
  double top, bottom;  /* top < bottom */
  double x, slope;     /* at the top; pixels per row */
  double upper, lower; /* x at the top and at the bottom of the slab */
} Edge;

typedef struct {
  Edge *edge; /* sorted from top to bottom */
  guint n_edges, next;
  Edge **active; /* edges in the slab, from left to right */
  guint n_active;
  double *area;     /* for each pixel of the row: the area to the right of the edges through it, */
  double *cover;    /* and the height of the edges in the pixel before it, which cover this pixel and all after it */
  int width, first; /* width of the row in pixels, and its first pixel with an edge */
  guint splits;
} Pen;

/* ---- edges ---- */

static int
compare_tops(const void *a, const void *b)
{
  const Edge *one = a, *other = b;

  return (one->top > other->top) - (one->top < other->top);
}

static void
make_edges(Pen *pen, const GArray *points, const CnvRect *rect)
{
  const double *point = (const double *)points->data;
  guint n = points->len / 2;

  for (guint i = 0; i < n; i++) {
    const double *from = point + 2 * i, *to = point + 2 * ((i + 1) % n);
    const double *top = from[1] < to[1] ? from : to, *bottom = top == from ? to : from;
    Edge edge = {.top = top[1] - rect->y, .bottom = bottom[1] - rect->y, .x = top[0] - rect->x};

    if (edge.bottom - edge.top < CLOSE || edge.bottom <= 0 || edge.top >= rect->height)
      continue;
    edge.slope = (bottom[0] - top[0]) / (edge.bottom - edge.top);
    pen->edge[pen->n_edges++] = edge;
  }
  qsort(pen->edge, pen->n_edges, sizeof(Edge), compare_tops);
}

static gboolean
pen_init(Pen *pen, const GArray *points, const CnvRect *rect)
{
  gsize n = points->len / 2, width = (gsize)rect->width;

  *pen = (Pen){.width = rect->width, .first = rect->width};
  pen->edge = g_try_new(Edge, n);
  pen->active = g_try_new(Edge *, n);
  pen->area = g_try_new0(double, width + 1);
  pen->cover = g_try_new0(double, width + 1);
  if (!pen->edge || !pen->active || !pen->area || !pen->cover)
    return FALSE;
  make_edges(pen, points, rect);
  return TRUE;
}

static void
pen_clear(Pen *pen)
{
  g_free(pen->edge);
  g_free(pen->active);
  g_free(pen->area);
  g_free(pen->cover);
}

/* ---- slabs ---- */

/* Returns the area of a pixel to the right of an edge that runs straight through it from x0 to x1. */
static double
area_beside(double x0, double x1, int pixel)
{
  double from = MAX(x0, pixel), to = MIN(x1, pixel + 1);

  if (x0 >= pixel && x1 <= pixel + 1)
    return pixel + 1 - (x0 + x1) / 2;
  return (from - x0 + (to - from) * (pixel + 1 - (from + to) / 2)) / (x1 - x0);
}

/* Adds the area of an edge. height: of the slab; negative for an edge that ends the inside. */
static void
add_edge(Pen *pen, const Edge *edge, double height)
{
  double x0 = MIN(edge->upper, edge->lower), x1 = MAX(edge->upper, edge->lower);
  int from = (int)MAX(floor(MIN(x0, pen->width)), 0), to = (int)floor(CLAMP(x1, -1, pen->width - 1));
  int beside = x1 < pen->width ? to + 1 : pen->width;

  if (from >= pen->width)
    return;
  for (int pixel = from; pixel <= to; pixel++)
    pen->area[pixel] += height * area_beside(x0, x1, pixel);
  pen->cover[beside] += height;
  pen->first = MIN(pen->first, MIN(from, beside));
}

/* Sorts by insertion: few edges change places from one slab to the next. */
static void
sort_active(Pen *pen)
{
  for (guint i = 1; i < pen->n_active; i++) {
    Edge *edge = pen->active[i];
    double middle = edge->upper + edge->lower;
    guint at = i;

    for (; at > 0 && pen->active[at - 1]->upper + pen->active[at - 1]->lower > middle; at--)
      pen->active[at] = pen->active[at - 1];
    pen->active[at] = edge;
  }
}

/* Finds neighbouring edges that cross within the slab. Returns the fraction of the height of the slab above the
 * crossing, or 0 if none cross. */
static double
find_crossing(const Pen *pen)
{
  for (guint i = 1; i < pen->n_active; i++) {
    double upper = pen->active[i]->upper - pen->active[i - 1]->upper;
    double lower = pen->active[i]->lower - pen->active[i - 1]->lower;

    if (MIN(upper, lower) < -CLOSE && MAX(upper, lower) > CLOSE)
      return upper / (upper - lower);
  }
  return 0;
}

static void
draw_slab(Pen *pen, double from, double to, int depth)
{
  double crossing;

  for (guint i = 0; i < pen->n_active; i++) {
    Edge *edge = pen->active[i];

    edge->upper = edge->x + (from - edge->top) * edge->slope;
    edge->lower = edge->x + (to - edge->top) * edge->slope;
  }
  sort_active(pen);
  crossing = depth < MAX_DEPTH && pen->splits < MAX_SPLITS ? from + find_crossing(pen) * (to - from) : from;
  if (crossing > from && crossing < to) {
    pen->splits++;
    draw_slab(pen, from, crossing, depth + 1);
    draw_slab(pen, crossing, to, depth + 1);
    return;
  }
  for (guint i = 0; i < pen->n_active; i++)
    add_edge(pen, pen->active[i], i % 2 ? from - to : to - from);
}

/* ---- rows ---- */

/* Updates the active edges at a height, and returns the next height where they change. */
static double
update_active(Pen *pen, double at)
{
  double next = G_MAXDOUBLE;
  guint n = 0;

  for (guint i = 0; i < pen->n_active; i++)
    if (pen->active[i]->bottom > at)
      pen->active[n++] = pen->active[i];
  for (; pen->next < pen->n_edges && pen->edge[pen->next].top <= at; pen->next++)
    if (pen->edge[pen->next].bottom > at)
      pen->active[n++] = &pen->edge[pen->next];
  pen->n_active = n;
  for (guint i = 0; i < n; i++)
    next = MIN(next, pen->active[i]->bottom);
  return pen->next < pen->n_edges ? MIN(next, pen->edge[pen->next].top) : next;
}

static void
draw_row(Pen *pen, int row)
{
  for (double at = row, next; at < row + 1; at = next) {
    next = MIN(update_active(pen, at), row + 1);
    draw_slab(pen, at, next, 0);
  }
}

static guint8
weight_of(double area)
{
  return (guint8)(CLAMP(area, 0, 1) * 255 + 0.5);
}

/* Writes the weights of a row, and clears the pen for the next. Returns TRUE if a weight is above 0. */
static gboolean
finish_row(Pen *pen, guint8 *weights)
{
  guint8 inside = 0, most = 0; /* inside: weight between edges */
  double cover = 0;

  memset(weights, 0, (gsize)MIN(pen->first, pen->width));
  for (int x = pen->first; x < pen->width; x++) {
    weights[x] = inside;
    if (pen->area[x] != 0 || pen->cover[x] != 0) {
      cover += pen->cover[x];
      inside = weight_of(cover);
      weights[x] = weight_of(cover + pen->area[x]);
      pen->cover[x] = pen->area[x] = 0;
    }
    most = MAX(most, weights[x]);
  }
  pen->cover[pen->width] = 0;
  pen->first = pen->width;
  return most > 0;
}

gboolean
gst_cuda_convolve_polygon_draw(const GArray *points, const CnvRect *rect, guint8 *weights, gboolean *shows)
{
  g_autofree guint8 *only_row = weights ? NULL : g_try_malloc((gsize)rect->width);
  gboolean ok;
  Pen pen;

  *shows = FALSE;
  ok = pen_init(&pen, points, rect) && (weights || only_row);
  for (int row = 0; ok && row < rect->height && (weights || !*shows); row++) {
    draw_row(&pen, row);
    *shows = finish_row(&pen, weights ? weights + (gsize)row * (gsize)rect->width : only_row) || *shows;
  }
  pen_clear(&pen);
  return ok;
}

/* ---- places ---- */

void
gst_cuda_convolve_polygon_bounds(const GArray *points, double bounds[4])
{
  const double *point = (const double *)points->data;

  for (guint axis = 0; axis < 2; axis++) {
    double least = point[axis], most = point[axis];

    for (guint i = axis; i < points->len; i += 2) {
      least = MIN(least, point[i]);
      most = MAX(most, point[i]);
    }
    bounds[axis] = least;
    bounds[2 + axis] = most - least;
  }
}

CnvRect
gst_cuda_convolve_polygon_rect(const GArray *points, double reach, const CnvImage *image)
{
  double bounds[4], left, top, right, bottom;

  gst_cuda_convolve_polygon_bounds(points, bounds);
  reach = ceil(reach);
  left = floor(MAX(bounds[0], -reach));
  top = floor(MAX(bounds[1], -reach));
  right = ceil(MIN(bounds[0] + bounds[2], image->width + reach));
  bottom = ceil(MIN(bounds[1] + bounds[3], image->height + reach));
  if (right <= left || bottom <= top)
    return (CnvRect){0};
  return (CnvRect){(int)left, (int)top, (int)(right - left), (int)(bottom - top)};
}

GArray *
gst_cuda_convolve_polygon_of_box(const double box[4], double angle, CnvShape shape)
{
  static const double corners[] = {-1, -1, 1, -1, 1, 1, -1, 1};
  guint n = shape == CNV_SHAPE_ELLIPSE ? ELLIPSE_POINTS : G_N_ELEMENTS(corners) / 2;
  GArray *points = g_array_sized_new(FALSE, FALSE, sizeof(double), 2 * n);
  double c = cos(angle), s = sin(angle), half_width = box[2] / 2, half_height = box[3] / 2;

  for (guint i = 0; i < n; i++) {
    double at = 2 * G_PI * i / n, beyond = 1 / cos(G_PI / n); /* so that the sides touch the ellipse */
    double x = (n == ELLIPSE_POINTS ? cos(at) * beyond : corners[2 * i]) * half_width;
    double y = (n == ELLIPSE_POINTS ? sin(at) * beyond : corners[2 * i + 1]) * half_height;
    double point[] = {box[0] + half_width + x * c - y * s, box[1] + half_height + x * s + y * c};

    g_array_append_vals(points, point, 2);
  }
  return points;
}
