/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Copies of rows in host memory by several threads: one alone is slower than the bus.
 */
#pragma once

#include "team.h"

G_BEGIN_DECLS

/* Rows of `row` bytes each. Source and target do not overlap. */
typedef struct {
  guint8 *to;
  const guint8 *from;
  gsize to_stride, from_stride;
  gsize row;
  int rows; /* 0 or more */
} CnvRowsCopy;

/* Returns when n copies are done. */
void cnv_copy_rows(CnvTeam *team, const CnvRowsCopy *copies, int n);

G_END_DECLS
