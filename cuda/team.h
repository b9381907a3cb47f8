/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * A team of threads, including the calling thread, that share the parts of a job; and copies by such a team.
 */
#pragma once

#include <glib.h>

typedef struct CnvTeam CnvTeam;

/* Returns a new team, to be freed with cnv_team_free. n_threads: at least 1, including the calling thread. All others
 * start now, so that no frame waits for a start. Returns NULL with GLib's error if they cannot be started. */
CnvTeam *cnv_team_new(guint n_threads, GError **error);
void cnv_team_free(CnvTeam *team); /* NULL is allowed */

/* Runs parts 0 to n_parts - 1 of a job, each once, on at most n_threads threads. Returns when all are done. run: does
 * one part. thread: 0..n_threads-1, different for each thread at work; 0 is the caller. Any thread may call this, but
 * not from within a part. Jobs of several callers run one after the other. */
void cnv_team_run(CnvTeam *team, guint n_threads, guint n_parts, void (*run)(gpointer job, guint part, guint thread),
                  gpointer job);

/* A copy of rows of `row` bytes each. Source and target must not overlap. */
typedef struct {
  guint8 *to;
  const guint8 *from;
  gsize to_stride, from_stride;
  gsize row;
  int rows; /* 0 or more */
} CnvRowsCopy;

/* Copies rows of host memory on several threads, because one thread is slower than the bus. Returns when all n copies
 * are done. */
void cnv_copy_rows(CnvTeam *team, const CnvRowsCopy *copies, int n);
