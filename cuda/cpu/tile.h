/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The work of one thread on one tile. For each term a ring of rows runs down it, of row-filtered ones for separable
 * taps, of loaded ones for dense taps; then the terms' sums become one, and that becomes samples. Rows of plain planes
 * are read and written by vector code, others component by component.
 */
#pragma once

#include "cpu/types.h"

G_BEGIN_DECLS

/* Filters a tile by the algorithm of its plane. */
void cnv_cpu_tile_run(CpuWorker *worker, const CpuTile *tile);

G_END_DECLS
