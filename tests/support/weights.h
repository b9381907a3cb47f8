/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The weights that jobs give samples.
 */
#pragma once

#include "plan/regions/jobs.h"

G_BEGIN_DECLS

static inline gboolean
test_job_contains(const CnvJob *job, int x, int y)
{
  return x >= job->x && y >= job->y && x < job->x + job->width && y < job->y + job->height;
}

/* Of a sample inside the job, of 255. */
static inline int
test_job_weight(const CnvJobs *jobs, const CnvJob *job, int x, int y)
{
  const CnvCover cover = cnv_jobs_cover(jobs);

  return job->coverage_pitch == 0 ? 255 : cnv_cover_weight(&cover, job, x, y);
}

G_END_DECLS
