/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "bench/bench_table.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <unistd.h>

#define MAX_FILES 8

typedef struct {
  const char *name;
  FILE *stream;
  gboolean json;
  guint rows;
} Output;

static Output outputs[MAX_FILES];
static guint n_outputs;

static const BenchColumn *columns;
static guint n_columns;

static void
write_csv_heads(FILE *stream)
{
  for (guint i = 0; i < n_columns; i++)
    fprintf(stream, "%s%s", i ? "," : "", columns[i].name);
  fputc('\n', stream);
}

gboolean
bench_table_open(char *const *files, const BenchColumn *table_columns, guint n, GError **error)
{
  columns = table_columns;
  n_columns = n;
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
  return TRUE;
}

/* Writes text between quotes, and escapes quotes inside it as the kind of file requires. */
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
  for (guint i = 0; i < n_columns; i++) {
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

void
bench_table_row(char *const *values)
{
  for (guint i = 0; i < n_outputs; i++)
    write_row(&outputs[i], values);
}

gboolean
bench_table_close(GError **error)
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

char *
bench_number(double value, int digits)
{
  char form[8], text[G_ASCII_DTOSTR_BUF_SIZE];

  if (isnan(value))
    return g_strdup("");
  g_snprintf(form, sizeof form, "%%.%df", digits);
  return g_strdup(g_ascii_formatd(text, sizeof text, form, value)); /* no locale's comma */
}

void
bench_progress(const char *format, ...)
{
  va_list arguments;

  if (!isatty(STDERR_FILENO))
    return;
  fputs("\r\033[K", stderr);
  va_start(arguments, format);
  vfprintf(stderr, format, arguments);
  va_end(arguments);
  fputc(' ', stderr);
}

void
bench_progress_clear(void)
{
  if (isatty(STDERR_FILENO))
    fputs("\r\033[K", stderr);
}
