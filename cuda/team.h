/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Threads that do a job together, the calling one among them; and copies by them.
 */
#pragma once

#include <glib.h>

typedef struct CnvTeam CnvTeam;

/* n_threads: at least 1. Starts all but the calling one, so that none is started while a frame waits. Returns NULL
 * with GLib's error where they cannot be started. */
CnvTeam *cnv_team_new(guint n_threads, GError **error);
void cnv_team_free(CnvTeam *team); /* NULL is allowed */

/* Returns when parts 0 to n_parts - 1 of a job are done, each once, by at most so many threads. run: does one of them;
 * thread: 0..n_threads-1, another one for each thread at work, 0 for the caller. Any thread, but not from within a
 * part: jobs of several callers are done one after the other. */
void cnv_team_run(CnvTeam *team, guint n_threads, guint n_parts, void (*run)(gpointer job, guint part, guint thread),
                  gpointer job);

/* Rows of `row` bytes each. Source and target do not overlap. */
typedef struct {
  guint8 *to;
  const guint8 *from;
  gsize to_stride, from_stride;
  gsize row;
  int rows; /* 0 or more */
} CnvRowsCopy;

/* Copies rows of host memory by several threads: one alone is slower than the bus. Returns when n copies are done. */
void cnv_copy_rows(CnvTeam *team, const CnvRowsCopy *copies, int n);
