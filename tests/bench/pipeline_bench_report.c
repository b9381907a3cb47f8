/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The table: on the terminal for people, in files for programs.
 */
#include "bench/bench_table.h"
#include "bench/pipeline_bench.h"

#include <math.h>
#include <stdio.h>

/* head, width: on the terminal; NULL: the column is only in files. A width below zero aligns to the left. */
static const struct {
  BenchColumn file;
  const char *head;
  int width;
} table[] = {
    {{"path", TRUE}, "path", -16},
    {{"format", TRUE}, "format", -9},
    {{"width"}, "width", 5},
    {{"height"}, "height", 6},
    {{"filter", TRUE}},
    {{"backend", TRUE}, "on", 4},
    {{"device", TRUE}},
    {{"source_per_s"}, "source/s", 10},
    {{"source_per_s_min"}},
    {{"source_per_s_max"}},
    {{"identity_per_s"}, "identity/s", 10},
    {{"identity_per_s_min"}},
    {{"identity_per_s_max"}},
    {{"filter_per_s"}, "filter/s", 8},
    {{"filter_per_s_min"}},
    {{"filter_per_s_max"}},
    {{"spread_percent"}, "+-%", 5},
    {{"frames"}},
    {{"added_us"}, "added us", 9},
    {{"outside_us"}, "outside", 8},
    {{"compute_us"}, "compute", 8},
    {{"upload_us"}, "up us", 7},
    {{"download_us"}, "down us", 7},
    {{"bytes_up"}, "bytes up", 9},
    {{"bytes_down"}, "down", 9},
    {{"source_cpu_us"}},
    {{"identity_cpu_us"}},
    {{"filter_cpu_us"}, "cpu us", 8},
    {{"duplex_per_s"}, "duplex/s", 8},
    {{"of_duplex"}, "of it", 5},
    {{"goal_per_s"}, "goal/s", 7},
    {{"of_goal"}, "of it", 5},
};

#define N_COLUMNS G_N_ELEMENTS(table)

static BenchColumn columns[N_COLUMNS];

gboolean
pipeline_report_open(char *const *files, GError **error)
{
  for (gsize i = 0; i < N_COLUMNS; i++)
    columns[i] = table[i].file;
  if (!bench_table_open(files, columns, N_COLUMNS, error))
    return FALSE;
  for (gsize i = 0; i < N_COLUMNS; i++)
    if (table[i].head)
      printf("%*s ", table[i].width, table[i].head);
  putchar('\n');
  fflush(stdout);
  return TRUE;
}

static void
print_row(char *const *value)
{
  for (gsize i = 0; i < N_COLUMNS; i++)
    if (table[i].head)
      printf("%*s ", table[i].width, *value[i] ? value[i] : "-");
  putchar('\n');
  fflush(stdout);
}

/* Returns a time from the statistics, or NAN if they have no such field. */
static double
stat_us(const PipelineRow *row, const char *field)
{
  double value;

  return gst_structure_get_double(row->stats, field, &value) ? value : NAN;
}

/* Returns bytes per frame, over all frames. */
static double
stat_bytes(const PipelineRow *row, const char *field)
{
  guint64 frames, bytes;

  return gst_structure_get_uint64(row->stats, "frames", &frames) && frames > 0 &&
                 gst_structure_get_uint64(row->stats, field, &bytes)
             ? bytes / (double)frames
             : NAN;
}

static const char *
stat_text(const PipelineRow *row, const char *field)
{
  const char *text = gst_structure_get_string(row->stats, field);

  return text ? text : "";
}

/* Returns the goal in frames/s, or NAN if there is none. All goals are for a GPU. */
static double
goal(const PipelineRow *row)
{
  const PipelineCase *c = row->timed_case;
  const PipelineGoal *goals = &c->path->goal;
  double nv12 = c->height == 1080 ? goals->nv12[0] : c->height == 2160 ? goals->nv12[1] : 0;

  if (!g_str_equal(stat_text(row, "backend"), "cuda"))
    return NAN;
  if (goals->of_duplex > 0)
    return goals->of_duplex * row->duplex_per_s;
  if (goals->of_source > 0)
    return goals->of_source * row->way[SOURCE_ONLY].per_s.median;
  return nv12 > 0 && g_str_equal(c->format, "NV12") ? nv12 : NAN;
}

void
pipeline_report_row(const PipelineRow *row)
{
  const PipelineCase *c = row->timed_case;
  const PipelineResult *source = &row->way[SOURCE_ONLY], *identity = &row->way[IDENTITY], *filter = &row->way[CONVOLVE];
  const double added = 1e6 / filter->per_s.median - 1e6 / identity->per_s.median;
  const double compute = stat_us(row, "compute-time-us"), duplex = row->duplex_per_s, wanted = goal(row);
  char *value[N_COLUMNS] = {
      g_strdup(c->path->name),
      g_strdup(c->format),
      bench_number(c->width, 0),
      bench_number(c->height, 0),
      g_strdup(row->filter),
      g_strdup(stat_text(row, "backend")),
      g_strdup(stat_text(row, "device")),
      bench_number(source->per_s.median, 1),
      bench_number(source->per_s.min, 1),
      bench_number(source->per_s.max, 1),
      bench_number(identity->per_s.median, 1),
      bench_number(identity->per_s.min, 1),
      bench_number(identity->per_s.max, 1),
      bench_number(filter->per_s.median, 1),
      bench_number(filter->per_s.min, 1),
      bench_number(filter->per_s.max, 1),
      bench_number(50 * (filter->per_s.max - filter->per_s.min) / filter->per_s.median, 1),
      bench_number(row->frames, 0),
      bench_number(added, 1),
      bench_number(added - compute, 1),
      bench_number(compute, 1),
      bench_number(stat_us(row, "upload-time-us"), 1),
      bench_number(stat_us(row, "download-time-us"), 1),
      bench_number(stat_bytes(row, "bytes-uploaded"), 0),
      bench_number(stat_bytes(row, "bytes-downloaded"), 0),
      bench_number(source->cpu_us, 1),
      bench_number(identity->cpu_us, 1),
      bench_number(filter->cpu_us, 1),
      bench_number(duplex, 1),
      bench_number(filter->per_s.median / duplex, 3),
      bench_number(wanted, 0),
      bench_number(filter->per_s.median / wanted, 3),
  };

  print_row(value);
  bench_table_row(value);
  for (gsize i = 0; i < N_COLUMNS; i++)
    g_free(value[i]);
}
