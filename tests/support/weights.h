/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Jobs, and the weights of their samples.
 */
#pragma once

#include "plan/regions/jobs.h"

#include "support/suite.h"

G_BEGIN_DECLS

static inline gboolean
test_job_contains(const CnvJob *job, int x, int y)
{
  return x >= job->x && y >= job->y && x < job->x + job->width && y < job->y + job->height;
}

/* Returns the weight of a sample inside the job, 0..255. */
static inline int
test_job_weight(const CnvJobs *jobs, const CnvJob *job, int x, int y)
{
  const CnvCover cover = cnv_jobs_cover(jobs);

  return job->coverage_pitch == 0 ? 255 : cnv_cover_weight(&cover, job, x, y);
}

/* Returns the job that writes a sample, and stores its weight there, 0..255. Returns NULL and stores 0 if no job does.
 * Fails the test if two do. */
static inline const CnvJob *
test_job_at(const CnvJobs *jobs, int plane, int field, int x, int y, int *weight)
{
  const CnvJob *found = NULL;

  *weight = 0;
  for (guint i = 0; i < jobs->jobs->len; i++) {
    const CnvJob *job = &g_array_index(jobs->jobs, CnvJob, i);
    int here;

    if (job->plane != plane || job->field != field || !test_job_contains(job, x, y))
      continue;
    here = test_job_weight(jobs, job, x, y);
    if (here > 0 && found)
      ck_abort_msg("plane %d field %d: two jobs write %d, %d", plane, field, x, y);
    if (here > 0) {
      found = job;
      *weight = here;
    }
  }
  return found;
}

/* Returns the jobs of work, to be cleared with cnv_jobs_clear. */
static inline CnvJobs
test_cut(const CnvWork *work)
{
  CnvJobs jobs;

  cnv_jobs_init(&jobs);
  cnv_jobs_make(&jobs, work, 0, 0);
  return jobs;
}

G_END_DECLS
