/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Copies of rows in host memory by several threads: one alone is slower than the bus.
 */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

typedef struct CnvCopier CnvCopier;

/* Rows of so many bytes that lie so far apart. Source and target do not overlap. */
typedef struct {
  guint8 *to;
  const guint8 *from;
  gsize to_stride, from_stride;
  gsize row;
  int rows; /* 0 or more */
} CnvRowsCopy;

/* n_threads: at least 1, the calling one among them; where the others cannot be started it is alone. */
CnvCopier *cnv_copier_new(guint n_threads);
void cnv_copier_free(CnvCopier *copier); /* NULL is allowed */

/* Returns when n copies are done. One caller at a time. */
void cnv_copier_run(CnvCopier *copier, const CnvRowsCopy *copies, int n);

G_END_DECLS
