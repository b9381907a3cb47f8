/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Rows of a tile with their aprons as float32. Borders are resolved here, so that the vector loops never meet one.
 */
#pragma once

#include "cpu/types.h"

G_BEGIN_DECLS

/* The row of the field that the ring of term t has at number k, counted from the first that the tile needs; -1 for a
 * missing one. */
int cnv_cpu_source_row(const CpuTile *tile, int t, int k);

/* Loads row y of the field with the apron of term t, its frames added up; y: -1 for a missing one. */
void cnv_cpu_load_row(const CpuWorker *worker, const CpuTile *tile, int t, int y, float *row);

G_END_DECLS
