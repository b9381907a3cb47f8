/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The benchmark's table: on the terminal for people, in files for programs.
 */
#include "bench/bench.h"
#include "bench/bench_table.h"

#include <stdio.h>

/* The columns of the files, in order. */
static const BenchColumn columns[] = {
    {"backend", TRUE}, {"device", TRUE}, {"algorithm", TRUE}, {"format", TRUE}, {"width"},     {"height"},
    {"filter", TRUE},  {"radius"},       {"region", TRUE},    {"frames"},       {"us_median"}, {"us_min"},
    {"us_max"},        {"bytes"},        {"gb_per_s"},        {"times_copy"},   {"repeats"},   {"samples_off"},
};

#define N_COLUMNS G_N_ELEMENTS(columns)

static void
print_heads(void)
{
  printf("%-4s %-16s %-9s %-9s %-11s %3s %12s %6s %10s %10s %10s %7s %7s %3s %s\n", "on", "way", "format", "size",
         "filter", "r", "region", "frames", "us median", "min", "max", "GB/s", "x copy", "n", "off");
  fflush(stdout);
}

gboolean
bench_report_open(char *const *files, GError **error)
{
  if (!bench_table_open(files, columns, N_COLUMNS, error))
    return FALSE;
  print_heads();
  return TRUE;
}

static void
print_row(const BenchRow *r, const char *off)
{
  const TestCase *c = r->timed_case;

  printf("%-4s %-16s %-9s %4dx%-4d %-11s %3d %12s %6d %10.1f %10.1f %10.1f %7.1f %7.2f %3d %s\n", r->backend, r->name,
         c->format, r->width, r->height, c->filter->name, c->radius, r->region, bench_case_frames(c), r->time.median,
         r->time.min, r->time.max, r->bytes / r->time.median / 1e3, r->time.median / r->copy_us, r->time.repeats, off);
  fflush(stdout);
}

void
bench_report_row(const BenchRow *r)
{
  const TestCase *c = r->timed_case;
  char *off = r->off < 0 ? g_strdup("") : g_strdup_printf("%" G_GINT64_FORMAT, r->off);
  char *value[N_COLUMNS + 1] = {
      g_strdup(r->backend),
      g_strdup(r->device),
      g_strdup(r->name),
      g_strdup(c->format),
      bench_number(r->width, 0),
      bench_number(r->height, 0),
      g_strdup(c->filter->name),
      bench_number(c->radius, 0),
      g_strdup(r->region),
      bench_number(bench_case_frames(c), 0),
      bench_number(r->time.median, 2),
      bench_number(r->time.min, 2),
      bench_number(r->time.max, 2),
      bench_number(r->bytes, 0),
      bench_number(r->bytes / r->time.median / 1e3, 1),
      bench_number(r->time.median / r->copy_us, 3),
      bench_number(r->time.repeats, 0),
      off,
  };

  print_row(r, r->off < 0 ? "-" : off);
  bench_table_row(value);
  for (guint i = 0; i < N_COLUMNS; i++)
    g_free(value[i]);
}
