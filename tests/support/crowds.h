/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The largest number of regions, in arrangements that are hard to cut.
 */
#pragma once

#include <convolve/work.h>

G_BEGIN_DECLS

#define CROWD_PLANS 24 /* plans of relative strength */

typedef enum {
  CROWD_RANDOM,
  CROWD_NESTED,
  CROWD_NESTED_OUT,
  CROWD_STAIRS,
  CROWD_CROSSES,
  CROWD_SAME,
  CROWD_DOTS,
  CROWD_COLUMNS,
  CROWD_ROWS,
  CROWD_TOUCHING,
  CROWD_ONE_CORNER,
  N_CROWDS
} CrowdShape;

extern const char *const crowd_names[N_CROWDS];

/* Stores n regions, of n_plans plans, for a frame of that size. */
void crowd_make(CnvRegion *region, int n, CrowdShape shape, guint n_plans, int width, int height);

G_END_DECLS
