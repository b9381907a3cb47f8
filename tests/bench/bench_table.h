/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * What the benchmarks share: a table in files for programs, and a line of progress for people. One table a process;
 * one thread.
 */
#pragma once

#include <glib.h>

typedef struct {
  const char *name;
  gboolean text; /* else a number, or nothing */
} BenchColumn;

/* Opens the files, by their endings: .csv or .json; NULL: none. The columns are in order and outlive the table. FALSE
 * with the reason. */
gboolean bench_table_open(char *const *files, const BenchColumn *columns, guint n_columns, GError **error);

/* A value for each column; "" is a number that there is none of. Rows are written as they come, so that a run that is
 * stopped leaves what it has. */
void bench_table_row(char *const *values);

/* FALSE where something could not be written. */
gboolean bench_table_close(GError **error);

/* With so many digits behind the point, whatever the locale; "" for NAN. g_free. */
char *bench_number(double value, int digits);

/* On a terminal one line below the table, rewritten in place; else nothing. To be cleared before other output. */
void bench_progress(const char *format, ...) G_GNUC_PRINTF(1, 2);
void bench_progress_clear(void);
