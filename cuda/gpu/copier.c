/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gpu/copier.h"

#include <string.h>

/* What a thread takes at a time. Less, and waking the others takes longer than the copy. */
#define PART_BYTES (128 * 1024)

struct CnvCopier {
  GThreadPool *pool; /* NULL: the calling thread alone */
  guint n_threads;

  /* While it runs. */
  const CnvRowsCopy *copies;
  int n_parts;
  gint next; /* part; atomic */
  GMutex lock;
  GCond done;
  guint pending; /* threads besides the caller's; under the lock */
};

static int
rows_of_part(const CnvRowsCopy *copy)
{
  return (int)MAX(PART_BYTES / MAX(copy->row, 1), 1);
}

static int
parts_of(const CnvRowsCopy *copy)
{
  int rows = rows_of_part(copy);

  return (copy->rows + rows - 1) / rows;
}

static void
copy_rows(const CnvRowsCopy *copy, int first, int last)
{
  guint8 *to = copy->to + first * copy->to_stride;
  const guint8 *from = copy->from + first * copy->from_stride;

  if (copy->to_stride == copy->row && copy->from_stride == copy->row) {
    memcpy(to, from, (last - first) * copy->row);
    return;
  }
  for (int y = first; y < last; y++, to += copy->to_stride, from += copy->from_stride)
    memcpy(to, from, copy->row);
}

static void
run_part(const CnvCopier *copier, int part)
{
  const CnvRowsCopy *copy = copier->copies;
  int rows;

  for (; part >= parts_of(copy); copy++)
    part -= parts_of(copy);
  rows = rows_of_part(copy);
  copy_rows(copy, part * rows, MIN((part + 1) * rows, copy->rows));
}

static void
run_parts(CnvCopier *copier)
{
  for (;;) {
    int part = g_atomic_int_add(&copier->next, 1);

    if (part >= copier->n_parts)
      return;
    run_part(copier, part);
  }
}

static void
help(gpointer data, gpointer user_data)
{
  CnvCopier *copier = user_data;

  run_parts(copier);
  g_mutex_lock(&copier->lock);
  if (--copier->pending == 0)
    g_cond_signal(&copier->done);
  g_mutex_unlock(&copier->lock);
}

CnvCopier *
cnv_copier_new(guint n_threads)
{
  CnvCopier *copier = g_new0(CnvCopier, 1);
  GError *error = NULL;

  copier->n_threads = n_threads;
  g_mutex_init(&copier->lock);
  g_cond_init(&copier->done);
  /* Threads that are there beforehand: none is started while a frame waits. */
  if (n_threads > 1)
    copier->pool = g_thread_pool_new(help, copier, (int)n_threads - 1, TRUE, &error);
  if (error) {
    g_thread_pool_free(g_steal_pointer(&copier->pool), FALSE, TRUE);
    g_error_free(error);
  }
  return copier;
}

void
cnv_copier_free(CnvCopier *copier)
{
  if (!copier)
    return;
  if (copier->pool)
    g_thread_pool_free(copier->pool, FALSE, TRUE);
  g_mutex_clear(&copier->lock);
  g_cond_clear(&copier->done);
  g_free(copier);
}

void
cnv_copier_run(CnvCopier *copier, const CnvRowsCopy *copies, int n)
{
  copier->copies = copies;
  copier->n_parts = 0;
  for (int i = 0; i < n; i++)
    copier->n_parts += parts_of(&copies[i]);
  if (copier->n_parts == 0)
    return;
  g_atomic_int_set(&copier->next, 0);
  copier->pending = copier->pool ? MIN(copier->n_threads, (guint)copier->n_parts) - 1 : 0;
  for (guint i = copier->pending; i > 0; i--)
    g_thread_pool_push(copier->pool, copier, NULL);
  run_parts(copier);
  g_mutex_lock(&copier->lock);
  while (copier->pending > 0)
    g_cond_wait(&copier->done, &copier->lock);
  g_mutex_unlock(&copier->lock);
}
