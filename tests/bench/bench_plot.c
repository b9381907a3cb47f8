/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The figure: microseconds a frame against radius, both in logarithms, two panels side by side. The copy's line, grey
 * and dashed, is the floor.
 */
#include "bench/bench.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* In pixels of SVG. */
#define PANEL_WIDTH 800
#define PANEL_HEIGHT 500
#define LEFT 100 /* of the axes, in a panel */
#define RIGHT 550
#define TOP 50
#define BOTTOM 430
#define LEGEND 570
#define LEGEND_ROW 22
#define HEAD 40 /* above the panels */

#define RADII_MIN 3 /* fewer are no figure */
#define MAX_RADII 32
#define MAX_LINES 32
#define MAX_POINTS 256

/* The first ones are told apart by eyes that miss a colour, and neighbours have other markers, too. */
static const char *const colors[] = {"#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9",
                                     "#000000", "#8c564b", "#7b3fe4", "#808000", "#d4002a", "#005f5f"};

typedef struct {
  const BenchRow *all;             /* the whole table */
  const BenchRow *of;              /* one of them, for its format, size and filter */
  const BenchRow *row[MAX_POINTS]; /* in order of the table, where radii grow */
  guint n_rows;
  const BenchRow *line[MAX_LINES]; /* the first of each */
  guint n_lines;
  int radius[MAX_RADII];
  guint n_radii;
  double least, most; /* of the vertical axis, microseconds */
  double x, y;        /* of its corner */
} Panel;

static gboolean
belongs(const Panel *p, const BenchRow *r)
{
  const BenchCase *a = p->of->of, *b = r->of;

  return b->radius > 0 && b->region == 0 && bench_case_frames(b) == 1 && strcmp(a->format, b->format) == 0 &&
         strcmp(a->filter, b->filter) == 0 && p->of->width == r->width && p->of->height == r->height;
}

static gboolean
same_line(const BenchRow *a, const BenchRow *b)
{
  return strcmp(a->backend, b->backend) == 0 && strcmp(a->name, b->name) == 0;
}

static void
add_row(Panel *p, const BenchRow *r)
{
  guint line = 0, radius = 0;

  while (line < p->n_lines && !same_line(p->line[line], r))
    line++;
  while (radius < p->n_radii && p->radius[radius] != r->of->radius)
    radius++;
  if (line == MAX_LINES || radius == MAX_RADII || p->n_rows == MAX_POINTS)
    return;
  if (line == p->n_lines)
    p->line[p->n_lines++] = r;
  p->row[p->n_rows++] = r;
  p->radius[radius] = r->of->radius;
  p->n_radii = MAX(p->n_radii, radius + 1);
  p->least = MIN(p->least, r->time.median);
  p->most = MAX(p->most, r->time.median);
}

/* FALSE where there is too little to show, or where an earlier row made the same panel. */
static gboolean
make_panel(Panel *p, const BenchRow *rows, guint n_rows, guint first)
{
  *p = (Panel){.all = rows, .of = &rows[first], .least = G_MAXDOUBLE};
  for (guint i = 0; i < n_rows; i++) {
    if (!belongs(p, &rows[i]))
      continue;
    if (i < first)
      return FALSE;
    add_row(p, &rows[i]);
  }
  p->least = pow(10, floor(log10(MAX(p->least, 1e-3)) * 4) / 4);
  p->most = pow(10, ceil(log10(MAX(p->most, 2e-3)) * 4 + 0.01) / 4);
  return p->n_radii >= RADII_MIN;
}

static double
x_at(const Panel *p, double radius)
{
  const double from = log(p->radius[0]), to = log(p->radius[p->n_radii - 1]), inner = RIGHT - LEFT - 40;

  return p->x + LEFT + 20 + inner * (log(radius) - from) / (to - from);
}

static double
y_at(const Panel *p, double us)
{
  return p->y + BOTTOM - (BOTTOM - TOP) * log(us / p->least) / log(p->most / p->least);
}

/* Numbers in files have no locale's comma, so coordinates are whole tenths. */
static void
add_at(GString *svg, const char *name, double value)
{
  const int tenths = (int)lrint(value * 10);

  g_string_append_printf(svg, " %s=\"%d.%d\"", name, tenths / 10, tenths % 10);
}

static void
add_line(GString *svg, double x1, double y1, double x2, double y2, const char *style)
{
  g_string_append(svg, "<line");
  add_at(svg, "x1", x1);
  add_at(svg, "y1", y1);
  add_at(svg, "x2", x2);
  add_at(svg, "y2", y2);
  g_string_append_printf(svg, " %s/>\n", style);
}

static void
add_text(GString *svg, double x, double y, const char *style, const char *text)
{
  char *escaped = g_markup_escape_text(text, -1);

  g_string_append(svg, "<text");
  add_at(svg, "x", x);
  add_at(svg, "y", y);
  g_string_append_printf(svg, " %s>%s</text>\n", style, escaped);
  g_free(escaped);
}

static gboolean
is_copy(const BenchRow *r)
{
  return strcmp(r->name, "copy") == 0;
}

/* The same way has the same number in all panels: of those that are no copy, in order of the table. */
static guint
number_of(const Panel *p, guint line)
{
  guint number = 0;

  for (const BenchRow *r = p->all; !same_line(r, p->line[line]); r++) {
    gboolean counted = is_copy(r);

    for (const BenchRow *before = p->all; before < r && !counted; before++)
      counted = same_line(before, r);
    number += !counted;
  }
  return number;
}

/* A circle, a square, a diamond or a triangle. */
static void
add_marker(GString *svg, double x, double y, guint number, const char *color)
{
  static const char *const paths[] = {"m-4,0a4,4 0 1 0 8,0a4,4 0 1 0 -8,0z", "m-4,-4h8v8h-8z", "m0,-5l5,5l-5,5l-5,-5z",
                                      "m0,-5l5,9h-10z"};
  const int tx = (int)lrint(x * 10), ty = (int)lrint(y * 10);

  g_string_append_printf(svg, "<path d=\"M%d.%d,%d.%d%s\" fill=\"%s\"/>\n", tx / 10, tx % 10, ty / 10, ty % 10,
                         paths[number % G_N_ELEMENTS(paths)], color);
}

static void
add_horizontal_grid(GString *svg, const Panel *p)
{
  static const int steps[] = {1, 2, 5};
  const gboolean crowded = p->most / p->least > 2e3; /* then decades alone are labelled */

  for (double decade = 1e-3; decade < p->most; decade *= 10)
    for (guint i = 0; i < G_N_ELEMENTS(steps); i++) {
      const double us = steps[i] * decade;
      char text[32];

      if (us < p->least * 0.999 || us > p->most * 1.001)
        continue;
      g_snprintf(text, sizeof text, us < 1 ? "%g" : "%.0f", us);
      add_line(svg, p->x + LEFT, y_at(p, us), p->x + RIGHT, y_at(p, us),
               i == 0 ? "stroke=\"#cccccc\"" : "stroke=\"#eeeeee\"");
      if (i == 0 || !crowded)
        add_text(svg, p->x + LEFT - 8, y_at(p, us) + 4, "text-anchor=\"end\"", text);
    }
}

/* Radii that stand too near to the one before have a mark and no number. */
static void
add_vertical_grid(GString *svg, const Panel *p)
{
  double last = -100;

  for (guint i = 0; i < p->n_radii; i++) {
    const double x = x_at(p, p->radius[i]);
    char text[16];

    g_snprintf(text, sizeof text, "%d", p->radius[i]);
    add_line(svg, x, p->y + TOP, x, p->y + BOTTOM, "stroke=\"#eeeeee\"");
    add_line(svg, x, p->y + BOTTOM, x, p->y + BOTTOM + 5, "stroke=\"#333333\"");
    if (x - last > 18) {
      add_text(svg, x, p->y + BOTTOM + 20, "text-anchor=\"middle\"", text);
      last = x;
    }
  }
}

static void
add_axes(GString *svg, const Panel *p)
{
  const BenchRow *r = p->of;
  const double middle = p->y + (TOP + BOTTOM) / 2.0;
  char *title = g_strdup_printf("%s, %s %dx%d", r->of->filter, r->of->format, r->width, r->height);
  char *turned =
      g_strdup_printf("text-anchor=\"middle\" transform=\"rotate(-90 %d %d)\"", (int)(p->x + 22), (int)middle);

  add_horizontal_grid(svg, p);
  add_vertical_grid(svg, p);
  add_line(svg, p->x + LEFT, p->y + TOP, p->x + LEFT, p->y + BOTTOM, "stroke=\"#333333\"");
  add_line(svg, p->x + LEFT, p->y + BOTTOM, p->x + RIGHT, p->y + BOTTOM, "stroke=\"#333333\"");
  add_text(svg, p->x + (LEFT + RIGHT) / 2.0, p->y + TOP - 16, "text-anchor=\"middle\" font-size=\"16\"", title);
  add_text(svg, p->x + (LEFT + RIGHT) / 2.0, p->y + BOTTOM + 45, "text-anchor=\"middle\"", "radius (samples of luma)");
  add_text(svg, (int)(p->x + 22), (int)middle, turned, "time for a frame (microseconds)");
  g_free(turned);
  g_free(title);
}

static void
add_curve(GString *svg, const Panel *p, guint line)
{
  const gboolean copy = is_copy(p->line[line]);
  const guint number = number_of(p, line);
  const char *color = copy ? "#777777" : colors[number % G_N_ELEMENTS(colors)];
  const char *dash = copy ? " stroke-dasharray=\"6 4\"" : "";
  char *style = g_strdup_printf("stroke=\"%s\" stroke-width=\"2\"%s", color, dash);
  const BenchRow *last = NULL;
  const double at = p->y + TOP + 10 + line * LEGEND_ROW;
  char *label = g_strdup_printf("%s %s", p->line[line]->backend, p->line[line]->name);

  for (guint i = 0; i < p->n_rows; i++) {
    const BenchRow *r = p->row[i];

    if (!same_line(r, p->line[line]))
      continue;
    if (last)
      add_line(svg, x_at(p, last->of->radius), y_at(p, last->time.median), x_at(p, r->of->radius),
               y_at(p, r->time.median), style);
    if (!copy)
      add_marker(svg, x_at(p, r->of->radius), y_at(p, r->time.median), number, color);
    last = r;
  }
  add_line(svg, p->x + LEGEND, at, p->x + LEGEND + 26, at, style);
  if (!copy)
    add_marker(svg, p->x + LEGEND + 13, at, number, color);
  add_text(svg, p->x + LEGEND + 34, at + 4, "", label);
  g_free(label);
  g_free(style);
}

/* What ran, from the rows: each backend's device once. */
static char *
make_title(const BenchRow *rows, guint n_rows)
{
  GString *title = g_string_new("cudaconvolve: ");
  const char *last = NULL;

  for (guint i = 0; i < n_rows; i++)
    if (!strstr(title->str, rows[i].device)) {
      g_string_append_printf(title, "%s%s", last ? "; " : "", rows[i].device);
      last = rows[i].device;
    }
  return g_string_free(title, FALSE);
}

static GString *
make_svg(const BenchRow *rows, guint n_rows, const Panel *panels, guint n)
{
  const int width = n > 1 ? 2 * PANEL_WIDTH : PANEL_WIDTH, height = HEAD + (int)(n + 1) / 2 * PANEL_HEIGHT;
  GString *svg = g_string_new("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
  char *title = make_title(rows, n_rows);

  g_string_append_printf(svg,
                         "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" viewBox=\"0 0 %d %d\" "
                         "font-family=\"sans-serif\" font-size=\"13\" fill=\"#222222\">\n"
                         "<rect width=\"%d\" height=\"%d\" fill=\"#ffffff\"/>\n",
                         width, height, width, height, width, height);
  add_text(svg, LEFT, 28, "font-size=\"18\" font-weight=\"bold\"", title);
  for (guint i = 0; i < n; i++) {
    add_axes(svg, &panels[i]);
    for (guint line = 0; line < panels[i].n_lines; line++)
      add_curve(svg, &panels[i], line);
  }
  g_string_append(svg, "</svg>\n");
  g_free(title);
  return svg;
}

gboolean
bench_plot(const char *file, const BenchRow *rows, guint n_rows, GError **error)
{
  GArray *panels = g_array_new(FALSE, FALSE, sizeof(Panel));
  GString *svg;
  gboolean right = FALSE;

  for (guint i = 0; i < n_rows; i++) {
    Panel p;

    if (!make_panel(&p, rows, n_rows, i))
      continue;
    p.x = panels->len % 2 * PANEL_WIDTH;
    p.y = HEAD + panels->len / 2 * PANEL_HEIGHT;
    g_array_append_val(panels, p);
  }
  if (panels->len > 0) {
    svg = make_svg(rows, n_rows, (const Panel *)panels->data, panels->len);
    right = g_file_set_contents(file, svg->str, svg->len, error);
    g_string_free(svg, TRUE);
  } else {
    g_set_error(error, G_FILE_ERROR, G_FILE_ERROR_INVAL,
                "%s: a figure needs a format and filter of %d radii or more, and none was picked", file, RADII_MIN);
  }
  g_array_free(panels, TRUE);
  return right;
}
