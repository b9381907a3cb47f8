/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "team.h"

struct CnvTeam {
  guint n_threads;
  GThreadPool *pool; /* NULL: the calling thread alone */
  GMutex turn;       /* of callers, held for a whole job */

  /* While a job runs. */
  CnvTeamPart run;
  gpointer job;
  guint n_parts;
  gint next; /* part, atomic */
  GMutex lock;
  GCond done;
  guint pending; /* threads at work besides the caller's, under lock */
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
cnv_team_run(CnvTeam *team, guint n_parts, CnvTeamPart run, gpointer job)
{
  if (n_parts == 0)
    return;
  g_mutex_lock(&team->turn);
  team->run = run;
  team->job = job;
  team->n_parts = n_parts;
  g_atomic_int_set(&team->next, 0);
  team->pending = MIN(team->n_threads, n_parts) - 1;
  for (guint thread = team->pending; thread > 0; thread--)
    g_thread_pool_push(team->pool, GUINT_TO_POINTER(thread), NULL);
  run_parts(team, 0);
  g_mutex_lock(&team->lock);
  while (team->pending > 0)
    g_cond_wait(&team->done, &team->lock);
  g_mutex_unlock(&team->lock);
  g_mutex_unlock(&team->turn);
}
