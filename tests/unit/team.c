/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * A team of threads does each part of a job once, also for several callers; and copies of rows.
 */
#include <string.h>

#include "support/suite.h"
#include "team.h"

#define PARTS 1000
#define THREADS 4

typedef struct {
  CnvTeam *team;
  int done[PARTS];
  int at_work[THREADS]; /* parts on which each thread works */
} Job;

static void
do_part(gpointer data, guint part, guint thread)
{
  Job *job = data;

  g_assert_cmpuint(thread, <, THREADS);
  g_assert_cmpint(g_atomic_int_add(&job->at_work[thread], 1), ==, 0);
  g_atomic_int_inc(&job->done[part]);
  g_atomic_int_add(&job->at_work[thread], -1);
}

static gpointer
run_jobs(gpointer data)
{
  Job *job = data;

  for (int repeat = 1; repeat <= 200; repeat++) {
    guint n_parts = repeat % 2 ? PARTS : 1 + repeat % 7;

    memset(job->done, 0, sizeof(job->done));
    cnv_team_run(job->team, 1 + (guint)repeat % THREADS, n_parts, do_part, job);
    for (guint part = 0; part < PARTS; part++)
      ck_assert_int_eq(job->done[part], part < n_parts);
  }
  return NULL;
}

START_TEST(test_callers)
{
  CnvTeam *team = cnv_team_new(THREADS, NULL);
  static Job jobs[3];
  GThread *callers[G_N_ELEMENTS(jobs)];

  for (guint i = 0; i < G_N_ELEMENTS(jobs); i++) {
    jobs[i].team = team;
    callers[i] = g_thread_new("caller", run_jobs, &jobs[i]);
  }
  for (guint i = 0; i < G_N_ELEMENTS(jobs); i++)
    g_thread_join(callers[i]);
  cnv_team_free(team);
}
END_TEST

/* Rows are copied to their place, and nothing else is written, for any number of threads, copies and rows. */
START_TEST(test_copies)
{
  static const struct {
    int row, rows, to_pad, from_pad;
  } sizes[] = {{3840, 270, 0, 0}, {1921, 700, 7, 0}, {1, 5, 0, 3}, {1000, 0, 0, 0}, {500000, 3, 12, 1}};
  static const guint threads[] = {1, 2, 5};

  for (guint t = 0; t < G_N_ELEMENTS(threads); t++) {
    CnvTeam *team = cnv_team_new(threads[t], NULL);

    for (int repeat = 0; repeat < 20; repeat++) {
      CnvRowsCopy copies[G_N_ELEMENTS(sizes)];

      for (guint i = 0; i < G_N_ELEMENTS(sizes); i++) {
        gsize to_stride = sizes[i].row + sizes[i].to_pad, from_stride = sizes[i].row + sizes[i].from_pad;
        guint8 *to = g_malloc(to_stride * sizes[i].rows + 1), *from = g_malloc(from_stride * sizes[i].rows + 1);

        memset(to, 0xa5, to_stride * sizes[i].rows);
        for (gsize b = 0; b < from_stride * sizes[i].rows; b++)
          from[b] = (guint8)(b * 31 + b / 977 + i + repeat);
        copies[i] = (CnvRowsCopy){to, from, to_stride, from_stride, sizes[i].row, sizes[i].rows};
      }
      cnv_copy_rows(team, copies, G_N_ELEMENTS(sizes));
      for (guint i = 0; i < G_N_ELEMENTS(sizes); i++) {
        const CnvRowsCopy *c = &copies[i];

        for (int y = 0; y < c->rows; y++) {
          ck_assert(memcmp(c->to + y * c->to_stride, c->from + y * c->from_stride, c->row) == 0);
          for (gsize b = c->row; b < c->to_stride; b++)
            ck_assert_uint_eq(c->to[y * c->to_stride + b], 0xa5);
        }
        g_free(c->to);
        g_free((gpointer)c->from);
      }
    }
    cnv_copy_rows(team, NULL, 0);
    cnv_team_free(team);
  }
  cnv_team_free(NULL);
}
END_TEST

static void
add_tests(TCase *tcase)
{
  tcase_add_test(tcase, test_callers);
  tcase_add_test(tcase, test_copies);
}

int
main(void)
{
  return test_main("team", add_tests);
}
