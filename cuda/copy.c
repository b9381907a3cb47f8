/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "copy.h"

#include <string.h>

#include "plan/arith.h"

/* Bytes of a part. With fewer of them waking the other threads takes longer than the copy. */
#define PART_BYTES (128 * 1024)

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
  cnv_team_run(team, n_parts, copy_part, (gpointer)copies);
}
