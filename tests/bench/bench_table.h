/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Shared by the benchmarks: a table in files for programs, and a line of progress for people. One table per process;
 * one thread.
 */
#pragma once

#include <glib.h>

typedef struct {
  const char *name;
  gboolean text; /* FALSE: a number, or nothing */
} BenchColumn;

/* Opens the files, by their suffix .csv or .json. files: NULL: none. columns: in order; they must outlive the table.
 * Returns FALSE with the reason. */
gboolean bench_table_open(char *const *files, const BenchColumn *columns, guint n_columns, GError **error);

/* Writes a row with a value for each column; "" for a number that does not exist. Rows are written at once, so that a
 * run that is stopped keeps its rows. */
void bench_table_row(char *const *values);

/* Closes the files. Returns FALSE if something could not be written. */
gboolean bench_table_close(GError **error);

/* Returns a number with that many decimal places, whatever the locale; "" for NAN. Free with g_free. */
char *bench_number(double value, int digits);

/* Shows a line below the table on a terminal, rewritten in place; nothing elsewhere. Clear it before other output. */
void bench_progress(const char *format, ...) G_GNUC_PRINTF(1, 2);
void bench_progress_clear(void);
