/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The benchmark's table: on the terminal for people, in files for programs. Rows are written as they come, so that a
 * run that is stopped leaves what it has.
 */
#include "bench.h"

#include <errno.h>
#include <stdio.h>

#define MAX_FILES 8

/* The columns of the files, in order. */
static const struct {
  const char *name;
  gboolean text; /* else a number, or nothing */
} columns[] = {
    {"backend", TRUE}, {"device", TRUE}, {"algorithm", TRUE}, {"format", TRUE}, {"width"},     {"height"},
    {"filter", TRUE},  {"radius"},       {"region"},          {"frames"},       {"us_median"}, {"us_min"},
    {"us_max"},        {"bytes"},        {"gb_per_s"},        {"times_copy"},   {"repeats"},   {"samples_off"},
};

#define N_COLUMNS G_N_ELEMENTS(columns)

typedef struct {
  const char *name;
  FILE *stream;
  gboolean json;
  guint rows;
} Output;

static Output outputs[MAX_FILES];
static guint n_outputs;

static void
print_heads(void)
{
  printf("%-4s %-16s %-9s %-9s %-11s %3s %6s %6s %10s %10s %10s %7s %7s %3s %s\n", "on", "way", "format", "size",
         "filter", "r", "region", "frames", "us median", "min", "max", "GB/s", "x copy", "n", "off");
  fflush(stdout);
}

static void
write_csv_heads(FILE *stream)
{
  for (guint i = 0; i < N_COLUMNS; i++)
    fprintf(stream, "%s%s", i ? "," : "", columns[i].name);
  fputc('\n', stream);
}

gboolean
bench_report_open(char *const *files, GError **error)
{
  for (; files && *files; files++) {
    Output *o = &outputs[n_outputs];

    *o = (Output){.name = *files, .json = g_str_has_suffix(*files, ".json")};
    if (n_outputs == MAX_FILES || !(o->json || g_str_has_suffix(*files, ".csv"))) {
      g_set_error(error, G_FILE_ERROR, G_FILE_ERROR_INVAL, "%s: at most %d files, that end in .csv or .json", *files,
                  MAX_FILES);
      return FALSE;
    }
    o->stream = fopen(*files, "w");
    if (!o->stream) {
      g_set_error(error, G_FILE_ERROR, g_file_error_from_errno(errno), "%s: %s", *files, g_strerror(errno));
      return FALSE;
    }
    n_outputs++;
    if (o->json)
      fputc('[', o->stream);
    else
      write_csv_heads(o->stream);
  }
  print_heads();
  return TRUE;
}

static void
print_row(const BenchRow *r, const char *off)
{
  const BenchCase *c = r->of;

  printf("%-4s %-16s %-9s %4dx%-4d %-11s %3d %6d %6d %10.1f %10.1f %10.1f %7.1f %7.2f %3d %s\n", r->backend, r->name,
         c->format, r->width, r->height, c->filter, c->radius, r->region, bench_case_frames(c), r->time.median,
         r->time.min, r->time.max, r->bytes / r->time.median / 1e3, r->time.median / r->copy_us, r->time.repeats, off);
  fflush(stdout);
}

/* Text stands between quotes, in which both kinds of file have those of its own marked, each in its way. */
static void
write_text(const Output *o, const char *text)
{
  fputc('"', o->stream);
  for (; *text; text++) {
    if (*text == '"' || (o->json && *text == '\\'))
      fputc(o->json ? '\\' : '"', o->stream);
    fputc(*text, o->stream);
  }
  fputc('"', o->stream);
}

static void
write_row(Output *o, char *const *value)
{
  if (o->json)
    fputs(o->rows ? ",\n {" : "\n {", o->stream);
  for (guint i = 0; i < N_COLUMNS; i++) {
    const char *comma = i ? "," : "";

    if (o->json)
      fprintf(o->stream, "%s\"%s\":", comma, columns[i].name);
    else
      fputs(comma, o->stream);
    if (columns[i].text)
      write_text(o, value[i]);
    else
      fputs(o->json && !*value[i] ? "null" : value[i], o->stream);
  }
  fputs(o->json ? "}" : "\n", o->stream);
  fflush(o->stream);
  o->rows++;
}

static char *
number(double value, int digits)
{
  char form[8], text[G_ASCII_DTOSTR_BUF_SIZE];

  g_snprintf(form, sizeof form, "%%.%df", digits);
  return g_strdup(g_ascii_formatd(text, sizeof text, form, value)); /* no locale's comma */
}

void
bench_report_row(const BenchRow *r)
{
  const BenchCase *c = r->of;
  char *off = r->off < 0 ? g_strdup("") : g_strdup_printf("%" G_GINT64_FORMAT, r->off);
  char *value[N_COLUMNS + 1] = {
      g_strdup(r->backend),
      g_strdup(r->device),
      g_strdup(r->name),
      g_strdup(c->format),
      number(r->width, 0),
      number(r->height, 0),
      g_strdup(c->filter),
      number(c->radius, 0),
      number(r->region, 0),
      number(bench_case_frames(c), 0),
      number(r->time.median, 2),
      number(r->time.min, 2),
      number(r->time.max, 2),
      number(r->bytes, 0),
      number(r->bytes / r->time.median / 1e3, 1),
      number(r->time.median / r->copy_us, 3),
      number(r->time.repeats, 0),
      off,
  };

  print_row(r, r->off < 0 ? "-" : off);
  for (guint i = 0; i < n_outputs; i++)
    write_row(&outputs[i], value);
  for (guint i = 0; i < N_COLUMNS; i++)
    g_free(value[i]);
}

gboolean
bench_report_close(GError **error)
{
  gboolean right = TRUE;

  for (guint i = 0; i < n_outputs; i++) {
    const Output *o = &outputs[i];

    if (o->json)
      fputs("\n]\n", o->stream);
    if ((ferror(o->stream) | fclose(o->stream)) && right) {
      g_set_error(error, G_FILE_ERROR, G_FILE_ERROR_IO, "%s: not all of it could be written", o->name);
      right = FALSE;
    }
  }
  n_outputs = 0;
  return right;
}
