/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Checks of jobs, for the files of the test program jobs.
 */
#pragma once

#include <gst/check/gstcheck.h>

#include "plan/plan.h"
#include "plan/regions/jobs.h"

/* Weights are rounded, and masks are interpolated in 4096 steps from cell to cell. */
#define WEIGHT_SLACK (0.5 / 255 + 1e-3)

/* Returns the weight of a region at a sample, 0 to 1, by the definition in work.h. A mask must be that of
 * test_mask_new. */
double region_weight(const CnvWork *work, const CnvPlane *plane, const CnvRegion *region, int x, int y, int field,
                     int fields);

/* Checks that a sample has the largest weight of the regions, or with invert 1 minus that. */
void check_sample(const CnvWork *work, const CnvJobs *c, int plane, int field, int x, int y);

/* Checks that each job has a sample, and that all that it reads and writes lies in its plane and field. */
void check_jobs(const CnvWork *work, const CnvJobs *c);

/* Checks that no two jobs of a layer overlap. what: begins the message. */
void check_disjoint(const CnvJobs *c, const char *what);

/* Checks that a job's coverage by rows is the coverage sample by sample, and 0 beside the job. */
void check_coverage(const CnvJobs *c, const CnvJob *job);

/* Returns the number of samples that all jobs filter. */
double pixels_of(const CnvJobs *c);

/* The tests of jobs_crowds.c. */
void add_crowd_tests(TCase *tcase);
