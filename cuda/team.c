/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "team.h"

#include <string.h>

#include "plan/arith.h"

struct CnvTeam {
  guint n_threads;
  GThreadPool *pool; /* NULL: only the calling thread works */
  GMutex turn;       /* held by the caller whose job runs */

  /* Valid while a job runs: */
  void (*run)(gpointer job, guint part, guint thread);
  gpointer job;
  guint n_parts;
  gint next; /* index of the next part, atomic */
  GMutex lock;
  GCond done;
  guint pending; /* threads at work besides the caller, protected by lock */
};

static void
run_parts(CnvTeam *team, guint thread)
{
  for (;;) {
    guint part = (guint)g_atomic_int_add(&team->next, 1);

    if (part >= team->n_parts)
      return;
    team->run(team->job, part, thread);
  }
}

static void
help(gpointer thread, gpointer user_data)
{
  CnvTeam *team = user_data;

  run_parts(team, GPOINTER_TO_UINT(thread));
  g_mutex_lock(&team->lock);
  if (--team->pending == 0)
    g_cond_signal(&team->done);
  g_mutex_unlock(&team->lock);
}

CnvTeam *
cnv_team_new(guint n_threads, GError **error)
{
  CnvTeam *team = g_new0(CnvTeam, 1);
  GError *cause = NULL;

  team->n_threads = n_threads;
  g_mutex_init(&team->turn);
  g_mutex_init(&team->lock);
  g_cond_init(&team->done);
  if (n_threads > 1)
    team->pool = g_thread_pool_new(help, team, (int)n_threads - 1, TRUE, &cause);
  if (cause) {
    g_propagate_error(error, cause);
    g_clear_pointer(&team, cnv_team_free);
  }
  return team;
}

void
cnv_team_free(CnvTeam *team)
{
  if (!team)
    return;
  if (team->pool)
    g_thread_pool_free(team->pool, FALSE, TRUE);
  g_mutex_clear(&team->turn);
  g_mutex_clear(&team->lock);
  g_cond_clear(&team->done);
  g_free(team);
}

void
cnv_team_run(CnvTeam *team, guint n_threads, guint n_parts, void (*run)(gpointer job, guint part, guint thread),
             gpointer job)
{
  if (n_parts == 0)
    return;
  g_mutex_lock(&team->turn);
  team->run = run;
  team->job = job;
  team->n_parts = n_parts;
  g_atomic_int_set(&team->next, 0);
  team->pending = MIN(MIN(team->n_threads, n_threads), n_parts) - 1;
  for (guint thread = team->pending; thread > 0; thread--)
    g_thread_pool_push(team->pool, GUINT_TO_POINTER(thread), NULL);
  run_parts(team, 0);
  g_mutex_lock(&team->lock);
  while (team->pending > 0)
    g_cond_wait(&team->done, &team->lock);
  g_mutex_unlock(&team->lock);
  g_mutex_unlock(&team->turn);
}

/* ---- copies ---- */

/* Least bytes in a part. With fewer, waking other threads takes longer than the copy. */
#define PART_BYTES (128 * 1024)
#define PARTS_ALONE 4 /* most parts, of all copies together, that the caller copies without other threads */

static int
rows_of_part(const CnvRowsCopy *copy)
{
  return (int)MAX(PART_BYTES / MAX(copy->row, 1), 1);
}

static guint
count_parts(const CnvRowsCopy *copy)
{
  return (guint)cnv_divide_up(copy->rows, rows_of_part(copy));
}

static void
copy_part(gpointer copies, guint part, guint thread)
{
  const CnvRowsCopy *copy = copies;
  guint8 *to;
  const guint8 *from;
  int rows;

  for (; part >= count_parts(copy); copy++)
    part -= count_parts(copy);
  rows = rows_of_part(copy);
  to = copy->to + part * rows * copy->to_stride;
  from = copy->from + part * rows * copy->from_stride;
  rows = MIN(rows, copy->rows - (int)part * rows);
  if (copy->to_stride == copy->row && copy->from_stride == copy->row) {
    memcpy(to, from, rows * copy->row);
    return;
  }
  for (int y = 0; y < rows; y++, to += copy->to_stride, from += copy->from_stride)
    memcpy(to, from, copy->row);
}

void
cnv_copy_rows(CnvTeam *team, const CnvRowsCopy *copies, int n)
{
  guint n_parts = 0;

  for (int i = 0; i < n; i++)
    n_parts += count_parts(&copies[i]);
  cnv_team_run(team, n_parts <= PARTS_ALONE ? 1 : G_MAXUINT, n_parts, copy_part, (gpointer)copies);
}
